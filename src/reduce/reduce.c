/* reduce.c -- the step problem with velocities and joints eliminated: u = W r + b.
 *
 * The mixed problem AP eq. 19, AP eq. 20 becomes AP eq. 21, AP eq. 22, AP eq. 23 by elimination of x = v, and then
 * AP eq. 24, AP eq. 25 by that of y = l. The rows are those of H; N of the paper, by which the rows of friction are
 * coupled, is part of the laws (lemke.c), and compliance is added to W.
 *
 *     v_free: the saddle point system with a = f, c = -g (saddle.h), then the contacts: many between free bodies as a
 *             graph, others by columns of H and Y (reduce_columns.c)
 */
#include "problem/law.h"
#include "reduce/reduce_memory.h"

#include <float.h>

#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

st_Status sti_reduction_create(const st_Allocator *allocator, sti_Reduction **out, st_Error *err)
{
    sti_Reduction *reduction = sti_alloc(allocator, 1, sizeof *reduction);
    sti_ReductionMemory *m = sti_alloc(allocator, 1, sizeof *m);
    if (reduction == NULL || m == NULL) {
        sti_free(allocator, reduction, 1, sizeof *reduction);
        sti_free(allocator, m, 1, sizeof *m);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: a reduction");
    }
    m->allocator = m->graph.allocator = m->graph.mobility.allocator = *allocator;
    reduction->memory = m;
    reduction->fewest = STI_FEW_ROWS;
    reduction->judged = &m->judged;
    const st_Status status = sti_saddle_create(allocator, &m->own_saddle, err);
    m->saddle = m->own_saddle;
    if (status != ST_OK) {
        sti_reduction_destroy(reduction);
        return status;
    }
    *out = reduction;
    return ST_OK;
}

void sti_reduction_destroy(sti_Reduction *reduction)
{
    if (reduction == NULL) return;
    sti_ReductionMemory *m = reduction->memory;
    sti_saddle_destroy(m->own_saddle);
    sti_graph_release(&m->graph);
    RELEASE(h_first);
    RELEASE(h_start);
    RELEASE(h_index);
    RELEASE(h_value);
    RELEASE(y_first);
    RELEASE(y_start);
    RELEASE(y_index);
    RELEASE(y_value);
    RELEASE(v_free);
    RELEASE(l_free);
    RELEASE(judged.r);
    RELEASE(judged.v);
    RELEASE(judged.l);
    RELEASE(judged.u);
    RELEASE(w);
    RELEASE(held);
    RELEASE(b);
    RELEASE(W_diagonal);
    RELEASE(W_start);
    RELEASE(rho);
    RELEASE(place);
    RELEASE(block_seen);
    RELEASE(share);
    RELEASE(exact_sum);
    RELEASE(exact);
    RELEASE(side_v);
    RELEASE(side_l);
    RELEASE(wide_side);
    RELEASE(wide_out);
    RELEASE(out_v);
    RELEASE(out_l);
    RELEASE(unit_p);
    RELEASE(unit_i);
    RELEASE(unit_x);
    RELEASE(pile_p);
    RELEASE(pile_i);
    RELEASE(pile_x);
    st_Allocator allocator = m->allocator;
    sti_free(&allocator, m, 1, sizeof *m);
    sti_free(&allocator, reduction, 1, sizeof *reduction);
}

void sti_reduction_lend(sti_Reduction *reduction, sti_Saddle *saddle)
{
    sti_ReductionMemory *m = reduction->memory;
    m->saddle = saddle != NULL ? saddle : m->own_saddle;
}

st_Status sti_reduction_begin(sti_Reduction *reduction, const st_Problem *problem, st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    m->problem = reduction->problem = problem;
    reduction->serial++;
    m->judged.known = m->judged.in_lanes = false;
    m->judged.scale = -1.0;
    GROW(judged.r, problem->n_r);
    GROW(judged.v, problem->n_v);
    GROW(judged.l, problem->n_l);
    GROW(judged.u, problem->n_r);
    return ST_OK;
}

void sti_reduction_publish(sti_Reduction *reduction)
{
    const sti_ReductionMemory *m = reduction->memory;
    reduction->problem = m->problem;
    reduction->is_local = m->local != NULL;
    reduction->h_first = m->h_first;
    reduction->h_start = m->h_start;
    reduction->h_index = m->h_index;
    reduction->h_value = m->h_value;
    reduction->y_first = m->y_first;
    reduction->y_start = m->y_start;
    reduction->y_index = m->y_index;
    reduction->y_value = m->y_value;
    reduction->v_free = m->v_free;
    reduction->w = m->w;
    reduction->b = m->b;
    reduction->W_diagonal = m->W_diagonal;
    reduction->W_start = m->W_start;
    reduction->rho = m->rho;
}

/* Columns of H and Y, and from them W_cc, rho and b. */
static st_Status reduce_by_columns(sti_ReductionMemory *m, st_Error *err)
{
    const int64_t n_r = m->problem->n_r;
    if (m->pile != NULL && m->problem != &m->with_rows) { /* contacts are arrays: a copy of the problem has rows     */
        GROW(pile_p, n_r + 1);
        GROW(pile_i, STI_PILE_ROW * n_r);
        GROW(pile_x, STI_PILE_ROW * n_r);
        m->with_rows = *m->problem;
        m->with_rows.H = sti_pile_matrix(m->pile, m->problem, m->pile_p, m->pile_i, m->pile_x);
        m->problem = &m->with_rows;
    }
    GROW(w, n_r);
    GROW(held, n_r);
    GROW(b, n_r);
    STI_TRY(sti_columns_of_H(m, err));
    STI_TRY(sti_columns_of_Y(m, err));
    STI_TRY(sti_columns_diagonal(m, err));
    sti_columns_b(m);
    m->columns = true;
    return ST_OK;
}

st_Status sti_reduction_columns(sti_Reduction *reduction, st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    if (m->columns) return ST_OK;
    STI_TRY(reduce_by_columns(m, err));
    sti_reduction_publish(reduction);
    return ST_OK;
}

st_Status sti_reduce_joints(sti_Reduction *reduction, const st_Problem *problem, const sti_PileContacts *pile,
                            st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    m->local = NULL;
    m->pile = pile;
    STI_TRY(sti_reduction_begin(reduction, problem, err));
    GROW(l_free, problem->n_l);
    GROW(side_v, problem->n_v);
    GROW(v_free, problem->n_v);
    GROW(side_l, problem->n_l);
    GROW(out_l, problem->n_l);
    m->saddle->rough = reduction->rough;
    STI_TRY(sti_saddle_factor(m->saddle, problem, err));
    reduction->redundant_rows = m->saddle->redundant_rows;
    m->free_known = false;
    m->joint_free = sti_reduction_velocity(reduction, NULL, m->v_free, m->l_free);
    m->free_known = true;
    if (sti_team_within(reduction->threads, m->v_free, problem->n_v, DBL_MAX)) return ST_OK;
    for (int row = 0; row < problem->n_v; row++)
        if (!isfinite(m->v_free[row]))
            return sti_fail(err, ST_ERR_NUMERIC, "velocity %d without contacts is %g", row, m->v_free[row]);
    return ST_OK;
}

/* The square of a larger velocity overflows, and every test of a cone would pass. */
static const double largest_square = 1e150;

bool sti_reduction_is_open(const sti_Reduction *reduction, double *joint)
{
    const st_Problem *p = reduction->problem;
    const sti_PileContacts *pile = reduction->memory->pile;
    double *v = reduction->judged->v;
    const double r[ST_MAX_DIM] = {0};
    double natural[ST_MAX_DIM] = {0}, row[STI_TURNING][2][STI_NODE];
    *joint = sti_reduction_velocity(reduction, NULL, v, reduction->judged->l);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int dim = contact->dim;
        double *u = reduction->judged->u + contact->first; /* w + H'v */
        for (int d = 0; d < dim; d++) {
            u[d] = p->w[contact->first + d];
            for (int64_t e = pile == NULL ? p->H.p[contact->first + d] : 0;
                 pile == NULL && e < p->H.p[contact->first + d + 1]; e++)
                u[d] += p->H.x[e] * v[p->H.i[e]];
        }
        if (pile != NULL) sti_pile_rows(pile, c, dim, row);
        for (int side = 0; side < 2 && pile != NULL; side++) {
            const int32_t body = pile->body[2 * (ptrdiff_t)c + side];
            for (int k = 0; k < 6 && body >= 0; k++)
                for (int d = 0; d < dim; d++)
                    u[d] += row[sti_direction_of(dim, d)][side][k] * v[p->A.first[body] + k];
        }
        sti_law_natural(contact, r, u, 1.0, natural);
        for (int d = 0; d < contact->dim; d++)
            if (natural[d] != 0.0 || !(fabs(u[d]) <= largest_square)) return false;
    }
    return true;
}

static st_Status check_b(const sti_ReductionMemory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    for (int c = 0; c < p->n_contacts; c++)
        for (int row = p->contact[c].first; row < p->contact[c].first + p->contact[c].dim; row++)
            if (!isfinite(m->b[row]))
                return sti_fail(err, ST_ERR_NUMERIC, "contact %d: its free velocity, component %d, is %g", c,
                                row - p->contact[c].first, m->b[row]);
    return ST_OK;
}

st_Status sti_reduce_contacts(sti_Reduction *reduction, st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    const st_Problem *problem = m->problem;
    bool graph = false;
    m->columns = false;
    GROW(rho, problem->n_contacts);
    m->graph.threads = reduction->threads;
    if (problem->n_contacts >= reduction->fewest) /* many contacts between free bodies need no columns */
        STI_TRY(sti_graph_build(&m->graph, problem, m->pile, m->saddle, m->v_free, &m->judged.scale, &graph, err));
    if (!graph) STI_TRY(reduce_by_columns(m, err));
    sti_reduction_publish(reduction);
    reduction->graph = graph ? &m->graph : NULL;
    if (!graph) return check_b(m, err);
    if (!isfinite(m->judged.scale) || reduction->all_errors) {
        GROW(b, problem->n_r);
        reduction->b = m->b;
        sti_graph_give_b(&m->graph, m->b, m->rho);
        STI_TRY(check_b(m, err));
    }
    return ST_OK;
}

st_Status sti_reduce(sti_Reduction *reduction, const st_Problem *problem, st_Error *err)
{
    STI_TRY(sti_reduce_joints(reduction, problem, NULL, err));
    return sti_reduce_contacts(reduction, err);
}

static bool is_zero(const double *r, int n)
{
    for (int j = 0; j < n; j++)
        if (r[j] != 0.0) return false;
    return true;
}

/* Bodies with joints feel the forces f and the impulses of their contacts; others are left as they are. */
double sti_reduction_mechanisms(const sti_Reduction *reduction, const double *r, double *v, double *l)
{
    const sti_ReductionMemory *m = reduction->memory;
    const st_Problem *p = m->problem;
    const sti_Graph *graph = reduction->graph;
    const sti_Net *net = m->saddle->net;
    memcpy(l, m->l_free, (size_t)p->n_l * sizeof *l);
    for (int row = 0; row < p->n_l; row++)
        m->side_l[row] = -p->g[row];
    for (int row = 0; row < p->n_v; row++) {
        m->side_v[row] = p->f[row];
        if (!sti_net_is_free(net, net->block_of[row])) v[row] = m->v_free[row];
    }
    for (int k = 0; k < graph->n_jointed; k++) {
        const st_ContactLaw *contact = &p->contact[graph->jointed[k]];
        for (int j = contact->first; j < contact->first + contact->dim; j++)
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                m->side_v[p->H.i[e]] += p->H.x[e] * r[j];
    }
    for (int k = 0; k < graph->mobility.n; k++)
        sti_saddle_solve(m->saddle, graph->mobility.mechanism[k], m->side_v, m->side_l, v, l);
    return sti_saddle_joint_residual(m->saddle, v, l);
}

double sti_reduction_velocity(const sti_Reduction *reduction, const double *r, double *v, double *l)
{
    const sti_ReductionMemory *m = reduction->memory;
    const st_Problem *p = m->problem;
    if (m->local == NULL && m->free_known && (r == NULL || is_zero(r, p->n_r))) {
        if (p->n_v > 0) memcpy(v, m->v_free, (size_t)p->n_v * sizeof *v);
        if (l != NULL && p->n_l > 0) memcpy(l, m->l_free, (size_t)p->n_l * sizeof *l);
        return m->joint_free;
    }
    if (m->local != NULL) {
        sti_local_velocity(m->local, r, v);
        return 0.0;
    }
    if (p->n_v > 0) memcpy(m->side_v, p->f, (size_t)p->n_v * sizeof *m->side_v);
    for (int row = 0; row < p->n_l; row++)
        m->side_l[row] = -p->g[row];
    for (int j = 0; r != NULL && j < p->n_r; j++)
        for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
            m->side_v[p->H.i[e]] += p->H.x[e] * r[j];
    sti_saddle_solve(m->saddle, STI_WHOLE, m->side_v, m->side_l, v, m->out_l);
    if (l != NULL && p->n_l > 0) memcpy(l, m->out_l, (size_t)p->n_l * sizeof *l);
    return sti_saddle_joint_residual(m->saddle, v, m->out_l);
}
