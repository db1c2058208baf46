/* reduce.c -- the step problem with velocities and joints eliminated: u = W r + b.
 *
 *     Y = dv/dr: column by column the saddle point system with a = column of H, c = 0 (saddle.h)
 *     v_free:    the same with a = f, c = -g
 *     W = H'Y + C, b = H'v_free + w; of W only the diagonal blocks are formed
 *
 * A column of Y reaches the blocks of A that its contact touches, and the whole mechanism of each of
 * them that has joints. Contacts on free bodies so cost the same however large the problem is; a
 * contact on a mechanism of n velocities costs O(n) memory and a solve over that mechanism.
 */
#include "solve/reduce.h"

#include "base/tolerance.h"
#include "solve/graph.h"
#include "solve/law.h"
#include "solve/saddle.h"

#include <float.h>

#define GROW(name, n) STI_TRY(STI_GROW(&m->allocator, m->name, m->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&m->allocator, m->name, m->name##_size)

typedef struct sti_ReductionMemory {
    st_Allocator allocator;
    const st_Problem *problem;
    sti_Saddle *saddle;
    sti_Graph graph;
    bool columns; /* h_ and y_ are those of this problem */
    STI_ARRAY(int64_t, h_first);
    STI_ARRAY(int64_t, h_start);
    STI_ARRAY(int, h_index);
    STI_ARRAY(double, h_value);
    STI_ARRAY(int64_t, y_first);
    STI_ARRAY(int64_t, y_start);
    STI_ARRAY(int, y_index);
    STI_ARRAY(double, y_value);
    STI_ARRAY(double, v_free);
    STI_ARRAY(double, l_free);
    double joint_free; /* largest residual of the joint rows at v_free                           */
    bool free_known;   /* v_free and l_free are those of this problem                            */
    sti_Judged judged;
    STI_ARRAY(double, w);
    STI_ARRAY(bool, held); /* n_r: joints hold the velocity along this row                                     */
    STI_ARRAY(double, b);
    STI_ARRAY(double, W_diagonal);
    STI_ARRAY(int64_t, W_start);
    STI_ARRAY(double, rho);
    STI_ARRAY(int64_t, place);    /* n_v: where a velocity stands in the contact being built, -1 between contacts */
    STI_ARRAY(int, block_seen);   /* by block of A: the last contact that put it into Y, plus 1                   */
    STI_ARRAY(double, side_v);    /* right-hand side over velocities                                              */
    STI_ARRAY(double, side_l);    /* right-hand side over joint rows                                              */
    STI_ARRAY(double, wide_side); /* several right-hand sides and their solutions                                */
    STI_ARRAY(double, wide_out);
    STI_ARRAY(double, out_v);
    STI_ARRAY(double, out_l);
    const st_LocalProblem *local; /* what is reduced came as W and b; NULL: as a step problem                   */
    st_Problem shadow;            /* of the local problem                                                       */
    STI_ARRAY(int64_t, unit_p);   /* its H = I, and w = 0                                                       */
    STI_ARRAY(int, unit_i);
    STI_ARRAY(double, unit_x);
    STI_ARRAY(double, zero);
} Memory;

st_Status sti_reduction_create(const st_Allocator *allocator, sti_Reduction **out, st_Error *err)
{
    sti_Reduction *reduction = sti_alloc(allocator, 1, sizeof *reduction);
    Memory *m = sti_alloc(allocator, 1, sizeof *m);
    if (reduction == NULL || m == NULL) {
        sti_free(allocator, reduction, 1, sizeof *reduction);
        sti_free(allocator, m, 1, sizeof *m);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: a reduction");
    }
    m->allocator = m->graph.allocator = *allocator;
    reduction->memory = m;
    reduction->judged = &m->judged;
    const st_Status status = sti_saddle_create(allocator, &m->saddle, err);
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
    Memory *m = reduction->memory;
    sti_saddle_destroy(m->saddle);
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
    RELEASE(side_v);
    RELEASE(side_l);
    RELEASE(wide_side);
    RELEASE(wide_out);
    RELEASE(out_v);
    RELEASE(out_l);
    RELEASE(unit_p);
    RELEASE(unit_i);
    RELEASE(unit_x);
    RELEASE(zero);
    st_Allocator allocator = m->allocator;
    sti_free(&allocator, m, 1, sizeof *m);
    sti_free(&allocator, reduction, 1, sizeof *reduction);
}

/* A new problem: nothing is judged yet. */
static st_Status forget_judged(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    m->judged.known = false;
    m->judged.scale = -1.0;
    GROW(judged.r, p->n_r);
    GROW(judged.v, p->n_v);
    GROW(judged.l, p->n_l);
    GROW(judged.u, p->n_r);
    return ST_OK;
}

/* ------------------------------------------------------------------ H by contacts */

/* The velocities contact c touches, ascending: the union of its columns, which are nearly the same and
 * nearly sorted, so that the insertion hardly ever moves anything.                                 */
static st_Status collect_rows(Memory *m, const st_ContactLaw *contact, int64_t begin, int64_t *end, st_Error *err)
{
    const st_Sparse *H = &m->problem->H;
    *end = begin;
    GROW(h_index, begin + H->p[contact->first + contact->dim] - H->p[contact->first]);
    for (int64_t e = H->p[contact->first]; e < H->p[contact->first + contact->dim]; e++) {
        if (m->place[H->i[e]] >= 0) continue;
        m->place[H->i[e]] = 0;
        int64_t at = (*end)++;
        for (; at > begin && m->h_index[at - 1] > H->i[e]; at--)
            m->h_index[at] = m->h_index[at - 1];
        m->h_index[at] = H->i[e];
    }
    return ST_OK;
}

static st_Status build_H(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    STI_TRY(sti_rows_make(p, err));
    GROW(h_first, p->n_contacts + 1);
    GROW(h_start, p->n_contacts + 1);
    GROW(place, p->n_v);
    GROW(out_v, p->n_v);
    m->h_first[0] = m->h_start[0] = 0;
    for (int row = 0; row < p->n_v; row++)
        m->place[row] = -1;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int64_t begin = m->h_first[c];
        int64_t end = begin;
        STI_TRY(collect_rows(m, contact, begin, &end, err));
        const int64_t count = end - begin;
        GROW(h_value, m->h_start[c] + contact->dim * count);
        double *value = m->h_value + m->h_start[c];
        memset(value, 0, (size_t)(contact->dim * count) * sizeof *value);
        for (int64_t k = begin; k < end; k++)
            m->place[m->h_index[k]] = k - begin;
        for (int d = 0; d < contact->dim; d++)
            for (int64_t e = p->H.p[contact->first + d]; e < p->H.p[contact->first + d + 1]; e++)
                value[d * count + m->place[p->H.i[e]]] = p->H.x[e];
        for (int64_t k = begin; k < end; k++)
            m->place[m->h_index[k]] = -1;
        m->h_first[c + 1] = end;
        m->h_start[c + 1] = m->h_start[c] + contact->dim * count;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ Y by contacts */

static st_Status reach_block(Memory *m, int block, int c, int64_t *end, st_Error *err)
{
    const int *first = m->problem->A.first;
    if (m->block_seen[block] == c + 1) return ST_OK;
    m->block_seen[block] = c + 1;
    GROW(y_index, *end + first[block + 1] - first[block]);
    for (int row = first[block]; row < first[block + 1]; row++)
        m->y_index[(*end)++] = row;
    return ST_OK;
}

/* The velocities that move when contact c pushes. */
static st_Status reach(Memory *m, int c, int64_t *end, st_Error *err)
{
    const sti_Net *net = m->saddle->net;
    for (int64_t k = m->h_first[c]; k < m->h_first[c + 1]; k++) {
        const int block = net->block_of[m->h_index[k]], mechanism = net->mechanism_of[block];
        if (m->block_seen[block] == c + 1) continue;
        if (sti_net_is_free(net, block)) {
            STI_TRY(reach_block(m, block, c, end, err));
            continue;
        }
        for (int t = net->mechanism_first[mechanism]; t < net->mechanism_first[mechanism + 1]; t++)
            STI_TRY(reach_block(m, net->mechanism_block[t], c, end, err));
    }
    return ST_OK;
}

/* Columns of one mechanism on their way to a solve: H_c's, d-th, whose values go to y_value[to ..]. */
typedef struct Batch {
    int n, mechanism;
    int c[STI_WIDTH], d[STI_WIDTH];
    int64_t to[STI_WIDTH];
} Batch;

/* Solves the columns collected, side by side; wide_side is 0 before and after. */
static void solve_batch(Memory *m, Batch *batch)
{
    const sti_Net *net = m->saddle->net;
    const int *first = m->problem->A.first, *blocks = net->mechanism_first + batch->mechanism;
    double *side = m->wide_side, *out = m->wide_out;
    if (batch->n == 0) return;
    for (int j = 0; j < batch->n; j++) {
        const int64_t begin = m->h_first[batch->c[j]], count = m->h_first[batch->c[j] + 1] - begin;
        const double *h = m->h_value + m->h_start[batch->c[j]] + batch->d[j] * count;
        for (int64_t k = 0; k < count; k++)
            side[(int64_t)STI_WIDTH * m->h_index[begin + k] + j] = h[k];
    }
    sti_saddle_solve_wide(m->saddle, batch->mechanism, (sti_Wide *)side, (sti_Wide *)out);
    int64_t k = 0;
    for (int t = blocks[0]; t < blocks[1]; t++)
        for (int row = first[net->mechanism_block[t]]; row < first[net->mechanism_block[t] + 1]; row++, k++)
            for (int j = 0; j < batch->n; j++)
                m->y_value[batch->to[j] + k] = out[(int64_t)STI_WIDTH * row + j];
    for (int j = 0; j < batch->n; j++)
        for (k = m->h_first[batch->c[j]]; k < m->h_first[batch->c[j] + 1]; k++)
            side[(int64_t)STI_WIDTH * m->h_index[k] + j] = 0.0;
    batch->n = 0;
}

static void put_in_batch(Memory *m, Batch *batch, int mechanism, int c, int d, int64_t to)
{
    if (batch->n == STI_WIDTH || batch->mechanism != mechanism) solve_batch(m, batch);
    batch->mechanism = mechanism;
    batch->c[batch->n] = c;
    batch->d[batch->n] = d;
    batch->to[batch->n++] = to;
}

/* The rows of a free body in the columns of contact c, from place k of its reach on. */
static void solve_free(Memory *m, int c, int block, int64_t k)
{
    const int first = m->problem->A.first[block], size = m->problem->A.first[block + 1] - first;
    const int64_t count = m->y_first[c + 1] - m->y_first[c], h_count = m->h_first[c + 1] - m->h_first[c];
    for (int d = 0; d < m->problem->contact[c].dim; d++) {
        const double *h = m->h_value + m->h_start[c] + d * h_count;
        double *y = m->y_value + m->y_start[c] + d * count + k;
        memset(y, 0, (size_t)size * sizeof *y);
        for (int64_t e = 0; e < h_count; e++) {
            const int row = m->h_index[m->h_first[c] + e] - first;
            if (row >= 0 && row < size) y[row] = h[e];
        }
        sti_saddle_solve_block(m->saddle, block, y);
    }
}

/* The columns of contact c. Its reach is whole mechanisms and free blocks one after another. */
static void solve_columns(Memory *m, int c, Batch *batch)
{
    const sti_Net *net = m->saddle->net;
    const int *first = m->problem->A.first;
    const int64_t count = m->y_first[c + 1] - m->y_first[c];
    for (int64_t k = 0; k < count;) {
        const int block = net->block_of[m->y_index[m->y_first[c] + k]], mechanism = net->mechanism_of[block];
        if (sti_net_is_free(net, block)) {
            solve_free(m, c, block, k);
            k += first[block + 1] - first[block];
            continue;
        }
        for (int d = 0; d < m->problem->contact[c].dim; d++)
            put_in_batch(m, batch, mechanism, c, d, m->y_start[c] + d * count + k);
        for (int t = net->mechanism_first[mechanism]; t < net->mechanism_first[mechanism + 1]; t++)
            k += first[net->mechanism_block[t] + 1] - first[net->mechanism_block[t]];
    }
}

/* Component d of H_c'v. */
static double row_of_H(const Memory *m, int c, int d, const double *v)
{
    const int64_t count = m->h_first[c + 1] - m->h_first[c];
    const int *index = m->h_index + m->h_first[c];
    const double *h = m->h_value + m->h_start[c] + d * count;
    double sum = 0.0;
    for (int64_t k = 0; k < count; k++)
        sum += h[k] * v[index[k]];
    return sum;
}

/* Is the velocity along a row of H held by joints altogether? Then its own entry of W, h'y, is the rounding of a
 * zero. Without joints it would be at least the largest h_k^2/A_kk.                                */
static bool is_held(const Memory *m, int c, const double *h, double mobility)
{
    double bound = 0.0;
    for (int64_t k = 0; k < m->h_first[c + 1] - m->h_first[c]; k++)
        bound = fmax(bound, h[k] * h[k] / sti_saddle_mass(m->saddle, m->h_index[m->h_first[c] + k]));
    return !(mobility > STI_HELD * bound);
}

/* Y_c scattered over the velocities. out_v need not be cleared: H_c reads only what Y_c wrote. */
static void scatter_column(Memory *m, int c, int d)
{
    const int64_t count = m->y_first[c + 1] - m->y_first[c];
    const int *index = m->y_index + m->y_first[c];
    const double *y = m->y_value + m->y_start[c] + d * count;
    for (int64_t k = 0; k < count; k++)
        m->out_v[index[k]] = y[k];
}

/* Rows that joints hold are left out of H and Y. */
static void leave_out_held(Memory *m, int c)
{
    const int64_t count = m->y_first[c + 1] - m->y_first[c], h_count = m->h_first[c + 1] - m->h_first[c];
    for (int d = 0; d < m->problem->contact[c].dim; d++) {
        double *h = m->h_value + m->h_start[c] + d * h_count, *y = m->y_value + m->y_start[c] + d * count;
        scatter_column(m, c, d);
        bool *held = &m->held[m->problem->contact[c].first + d];
        *held = is_held(m, c, h, row_of_H(m, c, d, m->out_v));
        if (!*held) continue;
        memset(h, 0, (size_t)h_count * sizeof *h);
        memset(y, 0, (size_t)count * sizeof *y);
    }
}

static st_Status build_Y(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    Batch batch = {.n = 0};
    GROW(y_first, p->n_contacts + 1);
    GROW(y_start, p->n_contacts + 1);
    GROW(block_seen, p->A.n_blocks);
    if (p->A.n_blocks > 0) memset(m->block_seen, 0, (size_t)p->A.n_blocks * sizeof *m->block_seen);
    if (p->n_l > 0) {
        GROW(wide_out, (int64_t)STI_WIDTH * p->n_v);
        GROW(wide_side, (int64_t)STI_WIDTH * p->n_v);
        memset(m->wide_side, 0, (size_t)STI_WIDTH * (size_t)p->n_v * sizeof *m->wide_side);
    }
    m->y_first[0] = m->y_start[0] = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        int64_t end = m->y_first[c];
        STI_TRY(reach(m, c, &end, err));
        m->y_first[c + 1] = end;
        m->y_start[c + 1] = m->y_start[c] + p->contact[c].dim * (end - m->y_first[c]);
    }
    GROW(y_value, m->y_start[p->n_contacts]);
    for (int c = 0; c < p->n_contacts; c++)
        solve_columns(m, c, &batch);
    solve_batch(m, &batch);
    for (int c = 0; c < p->n_contacts; c++)
        leave_out_held(m, c);
    return ST_OK;
}

/* ------------------------------------------------------------------ W and b */

/* The entries of C that lie in diagonal blocks of W. Blocks of C may join several contacts (a patch), so
 * they are walked row by row beside the contacts.                                                  */
static void add_own_compliance(Memory *m)
{
    const st_Problem *p = m->problem;
    const double *x = p->C.x;
    int c = 0;
    for (int k = 0; k < p->C.n_blocks; k++) {
        const int size = p->C.first[k + 1] - p->C.first[k];
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++, x += size) {
            while (i >= p->contact[c].first + p->contact[c].dim)
                c++;
            const st_ContactLaw *contact = &p->contact[c];
            double *W = m->W_diagonal + m->W_start[c] + (int64_t)(i - contact->first) * contact->dim;
            for (int d = 0; d < contact->dim; d++) {
                const int j = contact->first + d - p->C.first[k];
                if (j >= 0 && j < size) W[d] += x[j];
            }
        }
    }
}

/* rho = dim / trace(W_cc). */
static st_Status build_rho(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        double trace = 0.0;
        for (int d = 0; d < dim; d++)
            trace += m->W_diagonal[m->W_start[c] + (int64_t)d * dim + d];
        m->rho[c] = trace > 0.0 ? dim / trace : 1.0;
        if (!isfinite(trace) || !isfinite(m->rho[c]))
            return sti_fail(err, ST_ERR_NUMERIC, "contact %d: the trace of its block of W is %g", c, trace);
    }
    return ST_OK;
}

static st_Status place_W_diagonal(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    GROW(W_start, p->n_contacts + 1);
    GROW(rho, p->n_contacts);
    m->W_start[0] = 0;
    for (int c = 0; c < p->n_contacts; c++)
        m->W_start[c + 1] = m->W_start[c] + (int64_t)p->contact[c].dim * p->contact[c].dim;
    GROW(W_diagonal, m->W_start[p->n_contacts]);
    return ST_OK;
}

static st_Status build_W_diagonal(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        for (int d = 0; d < dim; d++) {
            scatter_column(m, c, d);
            for (int e = 0; e < dim; e++)
                m->W_diagonal[m->W_start[c] + (int64_t)e * dim + d] = row_of_H(m, c, e, m->out_v);
        }
    }
    add_own_compliance(m);
    return build_rho(m, err);
}

static void export_pointers(sti_Reduction *reduction)
{
    const Memory *m = reduction->memory;
    reduction->h_first = m->h_first;
    reduction->h_start = m->h_start;
    reduction->h_index = m->h_index;
    reduction->h_value = m->h_value;
    reduction->y_first = m->y_first;
    reduction->y_start = m->y_start;
    reduction->y_index = m->y_index;
    reduction->y_value = m->y_value;
    reduction->v_free = m->v_free;
    reduction->w = m->local == NULL ? m->w : m->zero;
    reduction->b = m->b;
    reduction->W_diagonal = m->W_diagonal;
    reduction->W_start = m->W_start;
    reduction->rho = m->rho;
}

/* The velocity that joints impose along a row of H that they hold: 0, not rounding, unless they move in time. */
static double imposed(const st_Problem *p, int row, const double *v_free, double fastest)
{
    double sum = 0.0;
    for (int64_t e = p->H.p[row]; e < p->H.p[row + 1]; e++)
        sum += p->H.x[e] * v_free[p->H.i[e]];
    return fastest > 0.0 && fabs(sum) > STI_NOISE * fastest ? sum : 0.0;
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

/* w as the problem has it, with what joints impose, and b. */
static void build_b(Memory *m)
{
    const st_Problem *p = m->problem;
    const double fastest = largest(p->g, p->n_l);
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++) {
            const int row = p->contact[c].first + d;
            m->w[row] = p->w[row] + (m->held[row] ? imposed(p, row, m->v_free, fastest) : 0.0);
            m->b[row] = row_of_H(m, c, d, m->v_free) + m->w[row];
        }
}

/* Columns of H and Y, and from them W_cc, rho and b. */
static st_Status reduce_by_columns(Memory *m, st_Error *err)
{
    STI_TRY(build_H(m, err));
    STI_TRY(build_Y(m, err));
    STI_TRY(place_W_diagonal(m, err));
    STI_TRY(build_W_diagonal(m, err));
    build_b(m);
    m->columns = true;
    return ST_OK;
}

/* Many contacts between free bodies need no columns; *done tells whether they are such. */
static st_Status reduce_by_graph(Memory *m, bool *done, st_Error *err)
{
    const st_Problem *p = m->problem;
    *done = false;
    if (p->n_contacts < STI_FEW_ROWS) return ST_OK;
    return sti_graph_build(&m->graph, p, m->saddle->net, m->v_free, &m->judged.scale, done, err);
}

st_Status sti_reduction_columns(sti_Reduction *reduction, st_Error *err)
{
    Memory *m = reduction->memory;
    if (m->columns) return ST_OK;
    STI_TRY(reduce_by_columns(m, err));
    export_pointers(reduction);
    return ST_OK;
}

st_Status sti_reduce_joints(sti_Reduction *reduction, const st_Problem *problem, st_Error *err)
{
    Memory *m = reduction->memory;
    m->problem = reduction->problem = problem;
    reduction->serial++;
    m->local = NULL;
    STI_TRY(forget_judged(m, err));
    GROW(l_free, problem->n_l);
    GROW(side_v, problem->n_v);
    GROW(v_free, problem->n_v);
    GROW(side_l, problem->n_l);
    GROW(out_l, problem->n_l);
    GROW(w, problem->n_r);
    GROW(held, problem->n_r);
    GROW(b, problem->n_r);
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

/* w + H'v of contact c. */
static void velocity_at(const Memory *m, int c, const double *v, double *u)
{
    const st_Problem *p = m->problem;
    const st_ContactLaw *contact = &p->contact[c];
    double row[3][2][STI_NODE];
    int first[2];
    for (int d = 0; d < contact->dim; d++)
        u[d] = p->w[contact->first + d];
    for (int j = contact->first; j < contact->first + contact->dim && !sti_rows_wait(p); j++)
        for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
            u[j - contact->first] += p->H.x[e] * v[p->H.i[e]];
    if (!sti_rows_wait(p)) return;
    p->later->legs(p->later->ctx, c, first);
    p->later->put(p->later->ctx, c, contact->dim, row);
    for (int side = 0; side < 2; side++) {
        const int block = first[side] >= 0 ? m->saddle->net->block_of[first[side]] : -1;
        for (int k = 0; block >= 0 && k < p->A.first[block + 1] - p->A.first[block]; k++)
            for (int d = 0; d < contact->dim; d++)
                u[d] += row[d][side][k] * v[first[side] + k];
    }
}

bool sti_reduction_is_open(const sti_Reduction *reduction, double *joint)
{
    const st_Problem *p = reduction->problem;
    double *v = reduction->judged->v, *u = reduction->judged->u;
    const double r[ST_MAX_DIM] = {0};
    double natural[ST_MAX_DIM] = {0};
    *joint = sti_reduction_velocity(reduction, NULL, v, reduction->judged->l);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        velocity_at(reduction->memory, c, v, u + contact->first);
        sti_law_natural(contact, r, u + contact->first, 1.0, natural);
        for (int d = 0; d < contact->dim; d++)
            if (natural[d] != 0.0) return false;
    }
    return true;
}

static st_Status check_b(const Memory *m, st_Error *err)
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
    Memory *m = reduction->memory;
    const st_Problem *problem = m->problem;
    bool graph;
    m->columns = false;
    GROW(rho, problem->n_contacts);
    m->graph.threads = reduction->threads;
    STI_TRY(reduce_by_graph(m, &graph, err));
    if (!graph) STI_TRY(reduce_by_columns(m, err));
    export_pointers(reduction);
    reduction->graph = graph ? &m->graph : NULL;
    if (!graph) return check_b(m, err);
    if (!isfinite(m->judged.scale) || reduction->all_errors) {
        sti_graph_give_b(&m->graph, m->b, m->rho);
        STI_TRY(check_b(m, err));
    }
    return ST_OK;
}

st_Status sti_reduce(sti_Reduction *reduction, const st_Problem *problem, st_Error *err)
{
    STI_TRY(sti_reduce_joints(reduction, problem, err));
    return sti_reduce_contacts(reduction, err);
}

/* ------------------------------------------------------------------ W and b as given */

/* Halves of W that differ by more than this, relative to its largest entry, are meant to. Six-digit files
 * and solvers that stop early leave up to 1e-3; a gyroscopic or a triangular M leaves a tenth.      */
static const double local_symmetry = 1e-2;

/* |(W - W')y| against |W|_F with y of random signs, whose square has the mean |W - W'|_F^2: two passes over
 * W and no transpose of it. work has n.                                                            */
static bool is_symmetric(const st_Sparse *W, double *y, double *work)
{
    uint64_t state = 1;
    double size = 0.0, difference = 0.0;
    for (int j = 0; j < W->n_cols; j++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
        y[j] = state >> 63 != 0 ? 1.0 : -1.0;
        work[j] = 0.0;
    }
    for (int j = 0; j < W->n_cols; j++)
        for (int64_t e = W->p[j]; e < W->p[j + 1]; e++) {
            work[W->i[e]] += W->x[e] * y[j];
            work[j] -= W->x[e] * y[W->i[e]];
            size += W->x[e] * W->x[e];
        }
    for (int j = 0; j < W->n_cols; j++)
        difference += work[j] * work[j];
    return difference <= local_symmetry * local_symmetry * size;
}

static st_Status make_shadow(Memory *m, const st_LocalProblem *local, st_Error *err)
{
    const int n = local->n_r;
    GROW(unit_p, n + 1);
    GROW(unit_i, n);
    GROW(unit_x, n);
    GROW(zero, n);
    GROW(out_v, n);
    GROW(v_free, n);
    m->unit_p[0] = 0;
    for (int j = 0; j < n; j++) {
        m->unit_p[j + 1] = j + 1;
        m->unit_i[j] = j;
        m->unit_x[j] = 1.0;
    }
    m->shadow = (st_Problem){.n_v = n,
                             .n_r = n,
                             .n_contacts = local->n_contacts,
                             .symmetric = n == 0 || is_symmetric(&local->W, m->out_v, m->v_free),
                             .H = {n, n, m->unit_p, m->unit_i, m->unit_x},
                             .w = m->zero,
                             .contact = local->contact};
    return ST_OK;
}

/* Y_c: the columns of W that belong to contact c. */
static st_Status copy_columns(Memory *m, st_Error *err)
{
    const st_Problem *p = m->problem;
    const st_Sparse *W = &m->local->W;
    GROW(y_first, p->n_contacts + 1);
    GROW(y_start, p->n_contacts + 1);
    m->y_first[0] = m->y_start[0] = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int begin = p->contact[c].first, dim = p->contact[c].dim;
        int64_t end = m->y_first[c];
        GROW(y_index, end + dim + W->p[begin + dim] - W->p[begin]);
        for (int d = 0; d < dim; d++) { /* its own rows always: the diagonal block is read from here */
            m->place[begin + d] = d;
            m->y_index[end++] = begin + d;
        }
        for (int64_t e = W->p[begin]; e < W->p[begin + dim]; e++)
            if (m->place[W->i[e]] < 0) {
                m->place[W->i[e]] = end - m->y_first[c];
                m->y_index[end++] = W->i[e];
            }
        const int64_t count = end - m->y_first[c];
        GROW(y_value, m->y_start[c] + dim * count);
        double *y = m->y_value + m->y_start[c];
        if (count > 0) memset(y, 0, (size_t)(dim * count) * sizeof *y);
        for (int d = 0; d < dim; d++)
            for (int64_t e = W->p[begin + d]; e < W->p[begin + d + 1]; e++)
                y[d * count + m->place[W->i[e]]] = W->x[e];
        for (int64_t k = m->y_first[c]; k < end; k++)
            m->place[m->y_index[k]] = -1;
        m->y_first[c + 1] = end;
        m->y_start[c + 1] = m->y_start[c] + dim * count;
    }
    return ST_OK;
}

st_Status sti_reduce_local(sti_Reduction *reduction, const st_LocalProblem *local, st_Error *err)
{
    Memory *m = reduction->memory;
    const int n = local->n_r;
    m->local = local;
    m->problem = reduction->problem = &m->shadow;
    reduction->serial++;
    STI_TRY(make_shadow(m, local, err));
    STI_TRY(forget_judged(m, err));
    GROW(place, n);
    GROW(b, n);
    GROW(w, n);
    if (n > 0) memset(m->w, 0, (size_t)n * sizeof *m->w);
    STI_TRY(build_H(m, err));
    STI_TRY(copy_columns(m, err));
    m->columns = true;
    reduction->graph = NULL;
    reduction->redundant_rows = 0;
    STI_TRY(place_W_diagonal(m, err));
    STI_TRY(build_W_diagonal(m, err));
    if (n > 0) memcpy(m->v_free, local->b, (size_t)n * sizeof *m->v_free);
    if (n > 0) memcpy(m->b, local->b, (size_t)n * sizeof *m->b);
    export_pointers(reduction);
    return ST_OK;
}

/* v = b + W r by the W given. */
static void local_velocity(const st_LocalProblem *local, const double *r, double *v)
{
    if (local->n_r > 0) memcpy(v, local->b, (size_t)local->n_r * sizeof *v);
    for (int j = 0; r != NULL && j < local->n_r; j++)
        for (int64_t e = local->W.p[j]; e < local->W.p[j + 1] && r[j] != 0.0; e++)
            v[local->W.i[e]] += local->W.x[e] * r[j];
}

/* u += C r. */
static void add_compliance(const st_Problem *p, const double *r, double *u)
{
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++)
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                u[i] += *x++ * r[j];
}

void sti_reduction_apply(const sti_Reduction *reduction, const double *r, double *v, double *u)
{
    const Memory *m = reduction->memory;
    const st_Problem *p = m->problem;
    if (p->n_v > 0) memcpy(v, m->v_free, (size_t)p->n_v * sizeof *v);
    for (int c = 0; c < p->n_contacts; c++) {
        const int64_t count = m->y_first[c + 1] - m->y_first[c];
        const int *index = m->y_index + m->y_first[c];
        for (int d = 0; d < p->contact[c].dim; d++) {
            const double amount = r[p->contact[c].first + d], *y = m->y_value + m->y_start[c] + d * count;
            if (amount == 0.0) continue; /* open contacts are many */
            for (int64_t k = 0; k < count; k++)
                v[index[k]] += y[k] * amount;
        }
    }
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            u[p->contact[c].first + d] = row_of_H(m, c, d, v) + m->w[p->contact[c].first + d];
    add_compliance(p, r, u);
}

void sti_reduction_form_W(const sti_Reduction *reduction, double *W)
{
    const Memory *m = reduction->memory;
    const st_Problem *p = m->problem;
    const int64_t n = p->n_r;
    double *v = m->out_v;
    if (p->n_v > 0) memset(v, 0, (size_t)p->n_v * sizeof *v);
    for (int c = 0; c < p->n_contacts; c++) {
        const int64_t count = m->y_first[c + 1] - m->y_first[c];
        const int *index = m->y_index + m->y_first[c];
        for (int d = 0; d < p->contact[c].dim; d++) {
            const double *y = m->y_value + m->y_start[c] + d * count;
            for (int64_t k = 0; k < count; k++)
                v[index[k]] = y[k];
            for (int other = 0; other < p->n_contacts; other++)
                for (int e = 0; e < p->contact[other].dim; e++)
                    W[(p->contact[other].first + e) * n + p->contact[c].first + d] = row_of_H(m, other, e, v);
        }
        for (int64_t k = 0; k < count; k++)
            v[index[k]] = 0.0;
    }
    const double *x = p->C.x;
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int64_t i = p->C.first[k]; i < p->C.first[k + 1]; i++)
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                W[i * n + j] += *x++;
}

static bool is_zero(const double *r, int n)
{
    for (int j = 0; j < n; j++)
        if (r[j] != 0.0) return false;
    return true;
}

double sti_reduction_velocity(const sti_Reduction *reduction, const double *r, double *v, double *l)
{
    const Memory *m = reduction->memory;
    const st_Problem *p = m->problem;
    if (m->local == NULL && m->free_known && (r == NULL || is_zero(r, p->n_r))) {
        if (p->n_v > 0) memcpy(v, m->v_free, (size_t)p->n_v * sizeof *v);
        if (l != NULL && p->n_l > 0) memcpy(l, m->l_free, (size_t)p->n_l * sizeof *l);
        return m->joint_free;
    }
    if (m->local != NULL) {
        local_velocity(m->local, r, v);
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
