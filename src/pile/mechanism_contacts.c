/* mechanism_contacts.c -- contacts on mechanisms, and rows of motors and joints, after all colours (pile.h).
 *
 * A contact c touches at most two things: free bodies, or mechanisms with the freedom that their joints leave. On a
 * body its rows are inv(L) H as in lanes, on a mechanism R'H (mobility.h). v_free of a mechanism need not be in the
 * range of R (a drum that turns at the speed of its motor); it is part of w. A visit is that of nsgs.c:
 *
 *     u_c = H~_c'v~ + C_c r_c + w_c,    r_c <- the solution of law_c( r_c, W_cc r_c + (u_c - W_cc r_c) ),
 *     v~ <- v~ + H~_c (change of r_c) */
#include "base/tolerance.h"
#include "pile/pile.h"
#include "problem/law.h"

#define GROW(name, n) STI_TRY(STI_GROW(&graph->allocator, graph->name, graph->name##_size, (n), err))

enum { SIX = 6 };

/* ------------------------------------------------------------------ rows */

/* The body or mechanism that a velocity belongs to. */
static int node_of(const sti_Graph *graph, int block)
{
    const int k = graph->problem->n_l > 0 ? graph->mobility.of_block[block] : -1;
    return k >= 0 ? graph->n_nodes + k : block;
}

static int size_of(const sti_Graph *graph, int node)
{
    return node < graph->n_nodes ? SIX : sti_mobility_freedoms(&graph->mobility, node - graph->n_nodes);
}

static ptrdiff_t place_of(const sti_Graph *graph, int node)
{
    if (node < graph->n_nodes) return STI_NODE * (ptrdiff_t)node;
    return STI_NODE * ((ptrdiff_t)graph->n_nodes + 1) + graph->mobility.first[node - graph->n_nodes];
}

/* The side of a node; a new one if it has none yet. -1: there are more than two. 2: the node cannot move and has no
 * side. */
static int find_side(const sti_Graph *graph, sti_Alone *alone, int node)
{
    if (size_of(graph, node) == 0) return 2;
    for (int side = 0; side < 2; side++) {
        if (alone->node[side] == node) return side;
        if (alone->node[side] >= 0) continue;
        alone->node[side] = node;
        alone->size[side] = size_of(graph, node);
        alone->v[side] = place_of(graph, node);
        return side;
    }
    return -1;
}

static bool find_nodes(const sti_Graph *graph, const sti_Net *net, sti_Alone *alone)
{
    const st_Problem *p = graph->problem;
    const st_ContactLaw *contact = &p->contact[alone->contact];
    for (int64_t e = p->H.p[contact->first]; e < p->H.p[contact->first + contact->dim]; e++)
        if (find_side(graph, alone, node_of(graph, net->block_of[p->H.i[e]])) < 0) return false;
    return true;
}

/* One number h of row d, at velocity i. */
static void add_number(const sti_Graph *graph, const sti_Net *net, sti_Alone *alone, int d, int i, double h,
                       const double *v_free)
{
    const int block = net->block_of[i], node = node_of(graph, block), side = find_side(graph, alone, node);
    const int inside = i - graph->problem->A.first[block], size = size_of(graph, node);
    if (node >= graph->n_nodes) alone->w[d] += h * v_free[i];
    if (side > 1) return;
    double *row = graph->alone_rows + alone->rows[side] + (ptrdiff_t)d * size;
    if (node < graph->n_nodes) {
        row[inside] += h;
        return;
    }
    const double *R = graph->mobility.R + graph->mobility.rows[block] + (ptrdiff_t)inside * size;
    for (int k = 0; k < size; k++)
        row[k] += h * R[k];
}

st_Status sti_alone_fill(sti_Graph *graph, const sti_Saddle *saddle, const double *v_free, bool *fits, st_Error *err)
{
    int64_t end = 0;
    GROW(alone, graph->n_alone);
    for (int k = 0; k < graph->n_jointed; k++) {
        const int c = graph->jointed[k];
        sti_Alone *alone = sti_graph_alone(graph, c);
        if (alone == NULL) continue;
        *alone = (sti_Alone){.contact = c, .node = {-1, -1}};
        *fits = *fits && find_nodes(graph, saddle->net, alone);
        for (int side = 0; side < 2; side++) {
            alone->rows[side] = end;
            end += (int64_t)graph->problem->contact[c].dim * alone->size[side];
        }
    }
    if (!*fits) return ST_OK;
    GROW(alone_rows, end);
    if (end > 0) memset(graph->alone_rows, 0, (size_t)end * sizeof *graph->alone_rows);
    for (int k = 0; k < graph->n_alone; k++) {
        sti_Alone *alone = &graph->alone[k];
        const st_Problem *p = graph->problem;
        const st_ContactLaw *contact = &p->contact[alone->contact];
        for (int d = 0; d < contact->dim; d++) {
            const int j = contact->first + d;
            alone->w[d] = p->w[j];
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                add_number(graph, saddle->net, alone, d, p->H.i[e], p->H.x[e], v_free);
            for (int side = 0; side < 2; side++)
                if (alone->node[side] >= 0 && alone->node[side] < graph->n_nodes)
                    sti_graph_scale_row(graph, alone->node[side],
                                        graph->alone_rows + alone->rows[side] + (ptrdiff_t)d * SIX);
            /* Is the velocity along a row held by joints altogether (reduce_columns.c)? Its rows are then left out. */
            const int c = p->contact[alone->contact].first + d;
            double mobility = 0.0, bound = 0.0;
            for (int side = 0; side < 2; side++)
                for (int m = 0; m < alone->size[side]; m++) {
                    const double x = graph->alone_rows[alone->rows[side] + (ptrdiff_t)d * alone->size[side] + m];
                    mobility += x * x;
                }
            for (int64_t e = p->H.p[c]; e < p->H.p[c + 1]; e++)
                bound = fmax(bound, p->H.x[e] * p->H.x[e] / sti_saddle_mass(saddle, p->H.i[e]));
            for (int side = 0; side < 2 && !(mobility > STI_HELD * bound); side++)
                if (alone->size[side] > 0)
                    memset(graph->alone_rows + alone->rows[side] + (ptrdiff_t)d * alone->size[side], 0,
                           (size_t)alone->size[side] * sizeof *graph->alone_rows);
        }
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ W, b, rho */

static void form_W(const sti_Graph *graph, sti_Alone *alone, int dim)
{
    for (int i = 0; i < dim; i++)
        for (int j = 0; j < dim; j++) {
            double sum = i == j ? alone->C[i] : 0.0;
            for (int side = 0; side < 2; side++) {
                const double *rows = graph->alone_rows + alone->rows[side];
                for (int k = 0, n = alone->size[side]; k < n; k++)
                    sum += rows[i * n + k] * rows[j * n + k];
            }
            alone->W[i * dim + j] = sum;
        }
}

void sti_alone_prepare(sti_Graph *graph, const double *v_free, double sum[STI_SUMS])
{
    const ptrdiff_t room = (ptrdiff_t)graph->n_dirs * STI_LANES;
    for (ptrdiff_t k = room * graph->n_batches; k < room * graph->n_rooms; k++)
        graph->weight[k] = graph->judged[k] = 0.0;
    for (int k = 0; k < graph->n_alone; k++) {
        sti_Alone *alone = &graph->alone[k];
        const st_ContactLaw *contact = &graph->problem->contact[alone->contact];
        const int dim = contact->dim;
        const ptrdiff_t at = sti_lane_at(graph, alone->contact);
        double trace = 0.0;
        form_W(graph, alone, dim);
        for (int d = 0; d < dim; d++)
            trace += alone->W[d * (dim + 1)];
        const double rho = trace > 0.0 ? dim / trace : 1.0;
        for (int d = 0; d < dim; d++) {
            double terms;
            /* b of a row, and the size of its terms: residual.c. */
            const st_Problem *p = graph->problem;
            const int row = contact->first + d;
            double b = p->w[row];
            terms = fabs(p->w[row]);
            for (int64_t e = p->H.p[row]; e < p->H.p[row + 1]; e++) {
                b += p->H.x[e] * v_free[p->H.i[e]];
                terms += fabs(p->H.x[e] * v_free[p->H.i[e]]);
            }

            const ptrdiff_t direction = (ptrdiff_t)STI_LANES * sti_direction_of(dim, d);
            graph->judged[at + direction] = b;
            graph->weight[at + direction] = 1.0 / rho;
            sum[0] += rho * rho * b * b;
            sum[1] += rho * rho * terms * terms;
            sum[2] += rho * rho;
        }
        sti_local_prepare(&alone->local, contact, alone->W, NULL);
    }
}

/* ------------------------------------------------------------------ passes */

/* v~ += H~ r. */
static void push(const sti_Graph *graph, const sti_Alone *alone, int dim, const double *r, double *v)
{
    for (int side = 0; side < 2; side++) {
        const double *rows = graph->alone_rows + alone->rows[side];
        for (int d = 0, n = alone->size[side]; d < dim; d++)
            for (int k = 0; k < n; k++)
                v[alone->v[side] + k] += rows[d * n + k] * r[d];
    }
}

/* r of it becomes the next one; returns | change |^2. */
static double visit(const sti_Graph *graph, const sti_Alone *alone, int dim, double *r, double *v)
{
    double b[ST_MAX_DIM], change[ST_MAX_DIM], moved = 0.0;
    for (int d = 0; d < dim; d++) {
        b[d] = alone->w[d] + alone->C[d] * r[d];
        for (int side = 0; side < 2; side++) {
            const double *row = graph->alone_rows + alone->rows[side] + (ptrdiff_t)d * alone->size[side];
            for (int k = 0; k < alone->size[side]; k++)
                b[d] += row[k] * v[alone->v[side] + k];
        }
        for (int e = 0; e < dim; e++)
            b[d] -= alone->W[d * dim + e] * r[e];
        change[d] = -r[d];
    }
    sti_local_solve(&alone->local, b, r);
    for (int d = 0; d < dim; d++) {
        change[d] += r[d];
        moved += change[d] * change[d];
    }
    if (moved != 0.0) push(graph, alone, dim, change, v);
    return moved;
}

double sti_alone_pass(const sti_Graph *graph, double *r, double *v, sti_Pass pass)
{
    double moved = 0.0;
    for (int k = 0; k < graph->n_alone; k++) {
        const sti_Alone *alone = &graph->alone[k];
        const st_ContactLaw *contact = &graph->problem->contact[alone->contact];
        double own[ST_MAX_DIM] = {0}, *lane = r + sti_lane_at(graph, alone->contact);
        for (int d = 0; d < contact->dim; d++)
            own[d] = lane[STI_LANES * sti_direction_of(contact->dim, d)];
        if (pass == STI_RESTORE) sti_law_project(contact, own);
        if (pass == STI_SWEEP)
            moved += visit(graph, alone, contact->dim, own, v);
        else
            push(graph, alone, contact->dim, own, v);
        for (int d = 0; d < contact->dim; d++)
            lane[STI_LANES * sti_direction_of(contact->dim, d)] = own[d];
    }
    return moved;
}
