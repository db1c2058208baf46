/* graph.c -- see graph.h: which contacts fit, their colours, their numbers in lanes. */
#include "solve/graph.h"
#include "math/block_diag.h"

#include "base/tolerance.h"

#include <stddef.h>

#define GROW(name, n) STI_TRY(STI_GROW(&graph->allocator, graph->name, graph->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&graph->allocator, graph->name, graph->name##_size)

/* Colours are bits of a word. A contact that finds none free, on a body with very many contacts, is put behind
 * all colours, alone in its batch.                                                                 */
enum { MAX_COLOURS = 64, LATE = MAX_COLOURS };

/* Batches that are summed up together; contacts that are worth a thread. */
enum { CHUNK = 8, LEAST = 256 };
/* Contacts from which on a sweep, with a wait behind every colour, is. */
enum { TEAM = 1024 };

void sti_graph_release(sti_Graph *graph)
{
    RELEASE(batch);
    RELEASE(v);
    RELEASE(v_free);
    RELEASE(r);
    RELEASE(weight);
    RELEASE(judged);
    RELEASE(v_judged);
    RELEASE(scale);
    RELEASE(root);
    RELEASE(diagonal);
    RELEASE(legs);
    RELEASE(whole);
    RELEASE(taken);
    RELEASE(colour);
    RELEASE(place);
    RELEASE(part);
}

/* ------------------------------------------------------------------ who fits */

static bool law_fits(const st_ContactLaw *contact)
{
    if (contact->law == ST_LAW_FRICTIONLESS) return contact->dim == 1;
    return contact->law == ST_LAW_COULOMB && contact->dim <= 3;
}

/* Every block of C is diagonal. */
static bool compliance_fits(const st_BlockDiag *C)
{
    const double *x = C->x;
    for (int k = 0; k < C->n_blocks; k++) {
        const int size = C->first[k + 1] - C->first[k];
        for (int i = 0; i < size; i++, x += size)
            for (int j = 0; j < size; j++)
                if (i != j && x[j] != 0.0) return false;
    }
    return true;
}

/* The nodes that row j of H' touches; false where there are more than two. */
static bool note_legs(const st_Problem *p, const sti_Net *net, int j, int32_t ground, int32_t legs[2])
{
    for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++) {
        const int node = net->block_of[p->H.i[e]];
        if (node == legs[0] || node == legs[1]) continue;
        if (legs[0] == ground)
            legs[0] = node;
        else if (legs[1] == ground)
            legs[1] = node;
        else
            return false;
    }
    return true;
}

/* Rows of a contact mostly touch the very same velocities. */
static bool same_row(const st_Sparse *H, int i, int j)
{
    const int64_t count = H->p[i + 1] - H->p[i];
    return H->p[j + 1] - H->p[j] == count && memcmp(H->i + H->p[i], H->i + H->p[j], (size_t)count * sizeof *H->i) == 0;
}

/* The six velocities of a body, in order? */
static bool is_body(const st_Problem *p, int node, const int *index)
{
    const int first = p->A.first[node];
    bool all = p->A.first[node + 1] - first == 6;
    for (int k = 0; k < 6; k++)
        all = all && index[k] == first + k;
    return all;
}

/* All rows of a contact on the six velocities of one body or of two: their nodes, and how many numbers a row has; 0:
 * not of this sort.                                                                               */
static int whole_bodies(const st_Problem *p, const sti_Net *net, const st_ContactLaw *contact, int32_t ground,
                        int32_t legs[2])
{
    const int64_t begin = p->H.p[contact->first], count = p->H.p[contact->first + 1] - begin;
    const int *index = p->H.i + begin;
    if (count != 6 && count != 12) return 0;
    legs[0] = net->block_of[index[0]];
    legs[1] = count == 12 ? net->block_of[index[6]] : ground;
    if (!is_body(p, legs[0], index) || legs[0] == legs[1]) return 0;
    if (count == 12 && !is_body(p, legs[1], index + 6)) return 0;
    for (int d = 1; d < contact->dim; d++)
        if (!same_row(&p->H, contact->first, contact->first + d)) return 0;
    return (int)count;
}

/* Of rows that wait, their source knows. */
static void ask_legs(const st_Problem *p, const sti_Net *net, int c, int32_t ground, int32_t legs[2])
{
    int first[2];
    p->later->legs(p->later->ctx, c, first);
    for (int side = 0; side < 2; side++)
        legs[side] = first[side] >= 0 ? net->block_of[first[side]] : ground;
}

static bool find_legs(sti_Graph *graph, const sti_Net *net)
{
    const st_Problem *p = graph->problem;
    const int32_t ground = graph->n_nodes;
    for (int k = 0; k < p->A.n_blocks; k++)
        if (p->A.first[k + 1] - p->A.first[k] > 6) return false;
    for (int c = 0; c < p->n_contacts; c++) {
        const int first = p->contact[c].first;
        int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
        if (!law_fits(&p->contact[c])) return false;
        if (sti_rows_wait(p)) {
            ask_legs(p, net, c, ground, legs);
            continue;
        }
        graph->whole[c] = (uint8_t)whole_bodies(p, net, &p->contact[c], ground, legs);
        if (graph->whole[c] > 0) continue;
        legs[0] = legs[1] = ground;
        for (int d = 0; d < p->contact[c].dim; d++)
            if (!note_legs(p, net, first + d, ground, legs)) return false;
    }
    return true;
}

/* ------------------------------------------------------------------ colours */

static int lowest_free(uint64_t taken)
{
    return ~taken != 0 ? __builtin_ctzll(~taken) : LATE;
}

/* Each contact takes the first colour that is free at both its bodies. */
static void choose_colours(sti_Graph *graph, int count[MAX_COLOURS + 1])
{
    memset(graph->taken, 0, (size_t)(graph->n_nodes + 1) * sizeof *graph->taken);
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const int32_t *legs = graph->legs + 2 * (ptrdiff_t)c;
        const int colour = lowest_free(graph->taken[legs[0]] | graph->taken[legs[1]]);
        graph->colour[c] = (uint8_t)colour;
        count[colour]++;
        for (int side = 0; side < 2 && colour < LATE; side++)
            if (legs[side] != graph->n_nodes) graph->taken[legs[side]] |= (uint64_t)1 << colour;
    }
}

/* Batches of each colour, and the place of every contact in them. */
static void place_contacts(sti_Graph *graph, const int count[MAX_COLOURS + 1])
{
    int next[MAX_COLOURS + 1], end = 0; /* the next free lane of each colour */
    for (int k = 0; k < MAX_COLOURS; k++) {
        graph->colour_first[k] = end;
        next[k] = STI_LANES * end;
        end += (count[k] + STI_LANES - 1) / STI_LANES;
    }
    graph->colour_first[MAX_COLOURS] = end;
    next[LATE] = STI_LANES * end;
    graph->n_batches = end + count[LATE];
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const int colour = graph->colour[c];
        graph->place[c] = next[colour];
        next[colour] += colour == LATE ? STI_LANES : 1;
    }
}

/* ------------------------------------------------------------------ numbers */

static bool is_diagonal(int n, const double *A)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (A[i * n + j] != 0.0) return false;
    return true;
}

/* inv(L) of A_k = L L' where A_k is diagonal. False where it is not positive definite: who factorises it elsewhere
 * says so.                                                                                        */
static bool invert_diagonal(int n, const double *A, int64_t apart, double *scale)
{
    for (int i = 0; i < n; i++) {
        if (!(A[i * apart] > 0.0)) return false;
        scale[i] = 1.0 / sqrt(A[i * apart]);
    }
    return true;
}

/* The same for any A_k, row-major 6 x 6. */
static bool invert_root(int n, const double *A, double inverse[36])
{
    double L[6][6];
    memset(inverse, 0, 36 * sizeof *inverse);
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0.0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = j; k < i; k++)
                sum -= L[i][k] * inverse[6 * k + j];
            inverse[6 * i + j] = sum / L[i][i];
        }
    return true;
}

/* h <- inv(L) h of a body whose L is not diagonal. */
static void scale_row(const sti_Graph *graph, int node, double h[6])
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node;
    for (int i = 5; i >= 0; i--) {
        h[i] *= inverse[7 * i];
        for (int j = 0; j < i; j++)
            h[i] += inverse[6 * i + j] * h[j];
    }
}

/* v~ = L'v: the transposed of inv(L), solved backwards. */
static void scale_velocity(const sti_Graph *graph, int node, int n, const double *v, double *out)
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node, *scale = graph->scale + STI_NODE * (ptrdiff_t)node;
    for (int i = n - 1; i >= 0; i--) {
        double sum = v[i];
        for (int k = i + 1; k < n && !graph->diagonal[node]; k++)
            sum -= inverse[6 * k + i] * out[k];
        out[i] = sum / (graph->diagonal[node] ? scale[i] : inverse[7 * i]);
    }
}

/* v = inv(L)'v~. */
static void unscale_velocity(const sti_Graph *graph, int node, int n, const double *v, double *out)
{
    const double *inverse = graph->root + 36 * (ptrdiff_t)node, *scale = graph->scale + STI_NODE * (ptrdiff_t)node;
    for (int i = 0; i < n; i++) {
        out[i] = (graph->diagonal[node] ? scale[i] : inverse[7 * i]) * v[i];
        for (int k = i + 1; k < n && !graph->diagonal[node]; k++)
            out[i] += inverse[6 * k + i] * v[k];
    }
}

/* Which bodies have diagonal masses; where there are others, room for their inv(L). */
static st_Status look_at_masses(sti_Graph *graph, st_Error *err)
{
    const st_BlockDiag *A = &graph->problem->A;
    const double *x = A->x;
    bool all = true;
    for (int k = 0; k < graph->n_nodes; k++) {
        const int n = A->first[k + 1] - A->first[k];
        graph->diagonal[k] = sti_block_marked(A, k) || is_diagonal(n, x);
        all = all && graph->diagonal[k];
        x += sti_block_numbers(A, k);
    }
    graph->diagonal[graph->n_nodes] = true;
    if (!all) GROW(root, 36 * ((int64_t)graph->n_nodes + 1));
    return ST_OK;
}

static bool prepare_nodes(sti_Graph *graph, const double *v_free)
{
    const st_Problem *p = graph->problem;
    const double *A = p->A.x;
    const size_t bytes = (size_t)STI_NODE * (size_t)(graph->n_nodes + 1) * sizeof(double);
    memset(graph->v_free, 0, bytes);
    memset(graph->scale, 0, bytes);
    for (int k = 0; k < graph->n_nodes; k++) {
        const int first = p->A.first[k], n = p->A.first[k + 1] - first;
        const bool good = graph->diagonal[k] ? invert_diagonal(n, A, sti_block_stride(&p->A, k),
                                                               graph->scale + STI_NODE * (ptrdiff_t)k)
                                             : invert_root(n, A, graph->root + 36 * (ptrdiff_t)k);
        if (!good) return false;
        scale_velocity(graph, k, n, v_free + first, graph->v_free + STI_NODE * (ptrdiff_t)k);
        A += sti_block_numbers(&p->A, k);
    }
    return true;
}

/* Rows of H as it stands. Those on whole bodies, as nearly all are, have their numbers in order. */
static void copy_rows(const sti_Graph *graph, const sti_Net *net, int c, double row[3][2][STI_NODE])
{
    const st_Problem *p = graph->problem;
    for (int d = 0; d < p->contact[c].dim; d++) {
        const int64_t begin = p->H.p[p->contact[c].first + d], end = p->H.p[p->contact[c].first + d + 1];
        const double *h = p->H.x + begin;
        if (graph->whole[c] > 0) {
            memcpy(row[d][0], h, 6 * sizeof *h);
            if (graph->whole[c] == 12) memcpy(row[d][1], h + 6, 6 * sizeof *h);
            continue;
        }
        for (int64_t e = begin; e < end; e++) {
            const int node = net->block_of[p->H.i[e]];
            row[d][node == graph->legs[2 * (ptrdiff_t)c] ? 0 : 1][p->H.i[e] - p->A.first[node]] = p->H.x[e];
        }
    }
}

/* The rows of a batch. Where L is not diagonal they are scaled here, else in their lanes. */
static void fill_batch(const sti_Graph *graph, const sti_Net *net, sti_Batch *batch)
{
    static const _Alignas(STI_ALIGN) double one[STI_NODE] = {1, 1, 1, 1, 1, 1, 1, 1};
    const st_Problem *p = graph->problem;
    sti_LaneRows rows;
    for (int l = 0; l < STI_LANES; l++) {
        const int c = batch->contact[l];
        memset(rows.h[l], 0, sizeof rows.h[l]);
        if (c >= 0 && sti_rows_wait(p))
            p->later->put(p->later->ctx, c, p->contact[c].dim, rows.h[l]);
        else if (c >= 0)
            copy_rows(graph, net, c, rows.h[l]);
        for (int side = 0; side < 2; side++) {
            const int32_t node = batch->body[side][l];
            rows.scale[side][l] = graph->diagonal[node] ? graph->scale + STI_NODE * (ptrdiff_t)node : one;
            for (int d = 0; d < 3 && !graph->diagonal[node]; d++)
                scale_row(graph, node, rows.h[l][d][side]);
        }
    }
    graph->code->fill(batch, &rows);
}

/* All but the rows, of lanes without a contact and of contacts in their lanes. */
static void empty_batch(sti_Batch *batch, int32_t ground)
{
    memset(batch->w, 0, sizeof *batch - offsetof(sti_Batch, w));
    for (int l = 0; l < STI_LANES; l++) {
        batch->body[0][l] = batch->body[1][l] = ground;
        batch->contact[l] = -1;
    }
}

static void put_contact(const sti_Graph *graph, int c)
{
    const st_ContactLaw *contact = &graph->problem->contact[c];
    const int lane = graph->place[c] % STI_LANES;
    sti_Batch *batch = &graph->batch[graph->place[c] / STI_LANES];
    batch->contact[lane] = c;
    batch->dim[lane] = contact->dim;
    batch->mu[lane] = contact->mu;
    batch->body[0][lane] = graph->legs[2 * (ptrdiff_t)c];
    batch->body[1][lane] = graph->legs[2 * (ptrdiff_t)c + 1];
    for (int d = 0; d < contact->dim; d++)
        batch->w[d][lane] = graph->problem->w[contact->first + d];
}

static void empty_batches(void *ctx, int64_t first, int64_t end)
{
    const sti_Graph *graph = ctx;
    for (int64_t k = first; k < end; k++)
        empty_batch(&graph->batch[k], graph->n_nodes);
}

static void put_contacts(void *ctx, int64_t first, int64_t end)
{
    for (int c = (int)first; c < (int)end; c++)
        put_contact(ctx, c);
}

/* Diagonal of C by rows, 0 where it has none. */
static void spread_compliance(sti_Graph *graph)
{
    const st_Problem *p = graph->problem;
    const double *x = p->C.x;
    for (int k = 0, c = 0; k < p->C.n_blocks; k++) {
        const int size = p->C.first[k + 1] - p->C.first[k];
        for (int i = 0; i < size; i++) {
            const int row = p->C.first[k] + i;
            while (row >= p->contact[c].first + p->contact[c].dim)
                c++;
            sti_Batch *batch = &graph->batch[graph->place[c] / STI_LANES];
            batch->C[row - p->contact[c].first][graph->place[c] % STI_LANES] = x[(ptrdiff_t)i * (size + 1)];
        }
        x += (ptrdiff_t)size * size;
    }
}

/* The numbers of a contact in an array by batch, direction and lane. */
static ptrdiff_t lane_of(const sti_Graph *graph, int c)
{
    return 3 * STI_LANES * (ptrdiff_t)(graph->place[c] / STI_LANES) + graph->place[c] % STI_LANES;
}

/* What a team works on: an array by lanes and one in the problem's order. */
typedef struct Order {
    const sti_Graph *graph;
    double *lanes, *rows;
    const double *from;
} Order;

static void give_range(void *ctx, int64_t first, int64_t end)
{
    const Order *order = ctx;
    const st_ContactLaw *contact = order->graph->problem->contact;
    for (int c = (int)first; c < (int)end; c++)
        for (int d = 0; d < contact[c].dim; d++)
            order->rows[contact[c].first + d] = order->from[lane_of(order->graph, c) + (ptrdiff_t)STI_LANES * d];
}

static void give(const sti_Graph *graph, const double *lanes, double *out)
{
    Order order = {.graph = graph, .from = lanes, .rows = out};
    sti_team_for(graph->threads, graph->problem->n_contacts, LEAST, give_range, &order);
}

/* Batch by batch: lanes without a contact, and directions it does not have, are 0. */
static void take_range(void *ctx, int64_t first, int64_t end)
{
    const Order *order = ctx;
    const sti_Graph *graph = order->graph;
    memset(order->lanes + 3 * STI_LANES * first, 0, 3 * STI_LANES * (size_t)(end - first) * sizeof *order->lanes);
    for (int64_t k = first; k < end; k++)
        for (int l = 0; l < STI_LANES; l++) {
            const int c = graph->batch[k].contact[l];
            for (int d = 0; c >= 0 && d < graph->problem->contact[c].dim; d++)
                order->lanes[3 * STI_LANES * k + STI_LANES * d + l] = order->from[graph->problem->contact[c].first + d];
        }
}

static void take(const sti_Graph *graph, const double *from, double *lanes)
{
    Order order = {.graph = graph, .from = from, .lanes = lanes};
    sti_team_for(graph->threads, graph->n_batches, LEAST / STI_LANES, take_range, &order);
}

/* rho in the order of contacts. False where a contact's normal moves nothing. */
static bool give_rho(const sti_Graph *graph, double *rho)
{
    for (int c = 0; c < graph->problem->n_contacts; c++) {
        const double mean = graph->weight[lane_of(graph, c)];
        rho[c] = 1.0 / mean;
        if (!(graph->batch[graph->place[c] / STI_LANES].inverse_n[graph->place[c] % STI_LANES] > 0.0) ||
            !isfinite(mean))
            return false;
    }
    return true;
}

static st_Status make_room(sti_Graph *graph, st_Error *err)
{
    GROW(legs, 2 * (int64_t)graph->problem->n_contacts);
    GROW(whole, graph->problem->n_contacts);
    GROW(colour, graph->problem->n_contacts);
    GROW(place, graph->problem->n_contacts);
    GROW(taken, (int64_t)graph->n_nodes + 1);
    GROW(diagonal, (int64_t)graph->n_nodes + 1);
    GROW(scale, STI_NODE * ((int64_t)graph->n_nodes + 1));
    GROW(v_judged, STI_NODE * ((int64_t)graph->n_nodes + 1));
    GROW(v, STI_NODE * ((int64_t)graph->n_nodes + 1));
    GROW(v_free, STI_NODE * ((int64_t)graph->n_nodes + 1));
    return ST_OK;
}

static int chunks_of(int n_batches)
{
    return (n_batches + CHUNK - 1) / CHUNK;
}

/* Chunks do not cross colours. */
static int count_chunks(const sti_Graph *graph)
{
    int n = chunks_of(graph->n_batches); /* where colours do not matter */
    int by_colour = 1;                   /* those without one */
    for (int k = 0; k < MAX_COLOURS; k++)
        by_colour += chunks_of(graph->colour_first[k + 1] - graph->colour_first[k]);
    return n > by_colour ? n : by_colour;
}

static st_Status make_batches(sti_Graph *graph, st_Error *err)
{
    int count[MAX_COLOURS + 1] = {0};
    choose_colours(graph, count);
    place_contacts(graph, count);
    GROW(batch, graph->n_batches);
    GROW(r, 3 * STI_LANES * (int64_t)graph->n_batches);
    GROW(weight, 3 * STI_LANES * (int64_t)graph->n_batches);
    GROW(judged, 3 * STI_LANES * (int64_t)graph->n_batches);
    GROW(part, count_chunks(graph));
    sti_team_for(graph->threads, graph->n_batches, LEAST / STI_LANES, empty_batches, graph);
    sti_team_for(graph->threads, graph->problem->n_contacts, LEAST, put_contacts, graph);
    return ST_OK;
}

/* | rho b |, or 0 where b is rounding, but not below | rho u_scale |: residual.c. */
static double residual_scale(const st_Problem *p, const double sum[3])
{
    const double least = sum[2] * p->u_scale * p->u_scale;
    return sqrt(fmax(least, sqrt(sum[0]) > STI_NOISE * sqrt(sum[1]) ? sum[0] : 0.0));
}

typedef struct Preparation {
    sti_Graph *graph;
    const sti_Net *net;
} Preparation;

static void prepare_chunks(void *ctx, int64_t first, int64_t end)
{
    const Preparation *of = ctx;
    sti_Graph *graph = of->graph;
    for (int64_t chunk = first; chunk < end; chunk++) {
        double *sum = graph->part[chunk].sum;
        sum[0] = sum[1] = sum[2] = 0.0;
        for (ptrdiff_t k = chunk * CHUNK; k < (chunk + 1) * CHUNK && k < graph->n_batches; k++) {
            const ptrdiff_t at = 3 * STI_LANES * k;
            fill_batch(graph, of->net, &graph->batch[k]);
            graph->code->prepare(&graph->batch[k], graph->v_free, graph->judged + at, graph->weight + at, sum);
        }
    }
}

st_Status sti_graph_build(sti_Graph *graph, const st_Problem *problem, const sti_Net *net, const double *v_free,
                          double *b, double *rho, double *scale, bool *fits, st_Error *err)
{
    *fits = false;
    if (problem->n_l > 0 || !problem->symmetric || problem->n_contacts == 0) return ST_OK;
    graph->problem = problem;
    graph->n_nodes = problem->A.n_blocks;
    graph->code = sti_graph_code();
    STI_TRY(make_room(graph, err));
    if (!compliance_fits(&problem->C) || !find_legs(graph, net)) return ST_OK;
    STI_TRY(look_at_masses(graph, err));
    if (!prepare_nodes(graph, v_free)) return ST_OK;
    STI_TRY(make_batches(graph, err));
    spread_compliance(graph);
    Preparation preparation = {graph, net};
    double sum[3] = {0};
    const int n = chunks_of(graph->n_batches);
    sti_team_for(graph->threads, n, LEAST / (CHUNK * STI_LANES), prepare_chunks, &preparation);
    for (int k = 0; k < n; k++)
        for (int e = 0; e < 3; e++)
            sum[e] += graph->part[k].sum[e];
    give(graph, graph->judged, b);
    *fits = give_rho(graph, rho);
    *scale = residual_scale(problem, sum);
    return ST_OK;
}

/* ------------------------------------------------------------------ use */

void sti_graph_take(sti_Graph *graph, const double *r)
{
    take(graph, r, graph->r);
}

void sti_graph_give(const sti_Graph *graph, double *r)
{
    give(graph, graph->r, r);
}

void sti_graph_rows(const sti_Graph *graph, int c, double rows[2][3][6])
{
    const sti_Batch *batch = &graph->batch[graph->place[c] / STI_LANES];
    const int lane = graph->place[c] % STI_LANES;
    for (int side = 0; side < 2; side++)
        for (int d = 0; d < 3; d++)
            for (int k = 0; k < 6; k++)
                rows[side][d][k] = batch->H[side][k][d][lane];
}

double sti_graph_compliance(const sti_Graph *graph, int c, int direction)
{
    return graph->batch[graph->place[c] / STI_LANES].C[direction][graph->place[c] % STI_LANES];
}

/* The widest vectors that this processor has; the bits are the same with all of them. */
const sti_GraphCode *sti_graph_code(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return &sti_graph_avx512;
    if (__builtin_cpu_supports("avx2")) return &sti_graph_avx2;
#endif
    return &sti_graph_plain;
}

/* One pass over all batches, colour after colour. */
typedef struct Pass {
    sti_Graph *graph;
    double *r, *v;
    sti_Pass which;
} Pass;

/* Batches first .. end - 1, of one colour, by a team: chunk by chunk, so that sums do not depend on it. */
static void pass_colour(const Pass *pass, int first, int end, int chunk, int thread, int n_threads)
{
    sti_Graph *graph = pass->graph;
    const int n = chunks_of(end - first);
    const int from = (int)sti_share(n, thread, n_threads), to = (int)sti_share(n, thread + 1, n_threads);
    for (int k = from; k < to; k++) {
        const int begin = first + k * CHUNK, count = end - begin < CHUNK ? end - begin : CHUNK;
        graph->part[chunk + k].moved =
            graph->code->pass(graph->batch + begin, pass->r + 3 * STI_LANES * (ptrdiff_t)begin, pass->v, graph->n_nodes,
                              count, pass->which);
    }
}

static void pass_colours(void *ctx, int thread, int n_threads)
{
    const Pass *pass = ctx;
    const sti_Graph *graph = pass->graph;
    int chunk = 0;
    for (int k = 0; k < MAX_COLOURS; k++) {
        const int first = graph->colour_first[k], end = graph->colour_first[k + 1];
        if (first == end) continue;
        pass_colour(pass, first, end, chunk, thread, n_threads);
        chunk += chunks_of(end - first);
        sti_team_wait(n_threads);
    }
    if (thread > 0) return;
    const int late = graph->colour_first[MAX_COLOURS]; /* one after another: they share bodies */
    graph->part[chunk].moved = graph->code->pass(graph->batch + late, pass->r + 3 * STI_LANES * (ptrdiff_t)late,
                                                 pass->v, graph->n_nodes, graph->n_batches - late, pass->which);
}

/* Returns | change of r |^2. */
static double pass_over(sti_Graph *graph, double *r, double *v, sti_Pass which)
{
    Pass pass = {graph, r, v, which};
    int n_chunks = 1;
    double moved = 0.0;
    sti_team_run(graph->n_batches * STI_LANES >= TEAM ? graph->threads : 1, pass_colours, &pass);
    for (int k = 0; k < MAX_COLOURS; k++)
        n_chunks += chunks_of(graph->colour_first[k + 1] - graph->colour_first[k]);
    for (int k = 0; k < n_chunks; k++)
        moved += graph->part[k].moved;
    return moved;
}

/* v~ without impulses. */
static void start_velocities(const sti_Graph *graph, double *v)
{
    sti_team_copy(graph->threads, v, graph->v_free, STI_NODE * ((int64_t)graph->n_nodes + 1));
}

void sti_graph_restore(sti_Graph *graph)
{
    start_velocities(graph, graph->v);
    pass_over(graph, graph->r, graph->v, STI_RESTORE);
}

double sti_graph_sweep(sti_Graph *graph)
{
    return sqrt(pass_over(graph, graph->r, graph->v, STI_SWEEP));
}

static void judge_chunks(void *ctx, int64_t first, int64_t end)
{
    sti_Graph *graph = ctx;
    for (int64_t chunk = first; chunk < end; chunk++) {
        const int begin = (int)chunk * CHUNK, left = graph->n_batches - begin, count = left < CHUNK ? left : CHUNK;
        const ptrdiff_t at = 3 * STI_LANES * (ptrdiff_t)begin;
        graph->part[chunk].judged = (sti_LaneJudgement){.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
        graph->code->judge(graph->batch + begin, count, graph->weight + at, graph->v_judged, graph->judged + at,
                           &graph->part[chunk].judged);
    }
}

/* NaN is the worst of all. */
static void add_judgement(sti_LaneJudgement *to, const sti_LaneJudgement *from)
{
    for (int l = 0; l < STI_LANES; l++) {
        to->error[l] += from->error[l];
        to->power[l] += from->power[l];
        to->outside[l] = fmax(to->outside[l], from->outside[l]);
        if (from->contact[l] < 0 || from->worst[l] <= to->worst[l]) continue;
        to->worst[l] = from->worst[l];
        to->contact[l] = from->contact[l];
    }
}

static void give_velocities(void *ctx, int64_t first, int64_t end)
{
    const Order *order = ctx;
    const sti_Graph *graph = order->graph;
    const int *block = graph->problem->A.first;
    for (int k = (int)first; k < (int)end; k++)
        unscale_velocity(graph, k, block[k + 1] - block[k], graph->v_judged + STI_NODE * (ptrdiff_t)k,
                         order->rows + block[k]);
}

void sti_graph_judge(sti_Graph *graph, const double *r, double scale, double *v, double *u, st_Residual *out)
{
    const int n = chunks_of(graph->n_batches);
    sti_LaneJudgement found = {.contact = {-1, -1, -1, -1, -1, -1, -1, -1}};
    double error = 0.0, worst = 0.0;
    take(graph, r, graph->judged);
    start_velocities(graph, graph->v_judged);
    pass_over(graph, graph->judged, graph->v_judged, STI_APPLY);
    sti_team_for(graph->threads, n, LEAST / (CHUNK * STI_LANES), judge_chunks, graph);
    for (int k = 0; k < n; k++)
        add_judgement(&found, &graph->part[k].judged);
    give(graph, graph->judged, u);
    Order order = {.graph = graph, .rows = v};
    sti_team_for(graph->threads, graph->n_nodes, LEAST, give_velocities, &order);
    *out = (st_Residual){.worst_contact = -1};
    for (int l = 0; l < STI_LANES; l++) {
        error += found.error[l];
        out->complementarity += found.power[l];
        out->cone_violation = fmax(out->cone_violation, found.outside[l]);
        if (found.contact[l] >= 0 && (found.worst[l] > worst || !(found.worst[l] >= 0.0))) {
            worst = found.worst[l];
            out->worst_contact = found.contact[l];
        }
    }
    out->natural = scale > 0.0 ? sqrt(error) / scale : sqrt(error);
}
