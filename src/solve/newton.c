/* newton.c -- proximal point around a semismooth Newton method.
 *
 * W is singular wherever contacts are redundant, which is nearly everywhere. So a sequence of problems
 *
 *     law( r, W r + b + alpha E (r - c) ),      E = diag(1/rho_i)                                 (1)
 *
 * is solved, c being the last solution: the proximal point method (Rockafellar 1976; for friction Acary,
 * Bremond & Huber 2018). Where c stops moving the added term is 0 and r solves the problem itself, whatever
 * alpha was; W + alpha E is never singular. Each law is written as F(r, u) = 0 (slope.h), and with A = dF/dr,
 * B = dF/du the Newton step for (1) is
 *
 *     (A + B (W + alpha E)) d = -F                                                               (2)
 *
 * Rows of contacts that are open have B = 0 and A = I: their d is known, and only the others enter the sparse
 * factorisation (math/sparse_lu.h). A step is accepted when it lowers  sum |F_i|^2/rho_i  against the
 * largest of the last few values (Grippo, Lampariello & Lucidi 1986), and is halved otherwise.
 *
 * alpha falls as long as things go well (the method ends as Newton's on the problem itself) and grows when a
 * problem (1) cannot be solved: the larger it is, the closer (1) is to one contact by itself. It falls
 * gently where (1) takes many steps. Boldly is quicker on most problems, but where the solutions form a curved
 * set (W singular, contacts sliding) it ends in ever shorter steps.
 */
#include "math/sparse_lu.h"
#include "solve/delassus.h"
#include "solve/law.h"
#include "solve/residual.h"
#include "solve/slope.h"
#include "solve/solver.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

/* Blocks of W beyond which it is not formed: 9 numbers each, and the factors are many times larger. */
static const int64_t max_blocks = 1000000;

/* alpha is relative to W's own diagonal. Below the least, (2) is singular to rounding. */
static const double alpha_least = 1e-11, alpha_most = 1e2;
/* Where it starts: small is quickest on most problems; another attempt takes another path. */
static const double alpha_start[] = {1e-4, 1e-3, 1e-2, 1e-5};
/* A problem (1) counts as solved when F has fallen by this against where it began, and is given up after so
 * many steps. */
static const double inner_fall = 1e-1;
enum { INNER_STEPS = 12, LINE_STEPS = 8, MEMORY = 4 };
/* Problems (1) without progress before it is called stalled. */
enum { PATIENCE = 30 };
enum { BLOCK = ST_MAX_DIM * ST_MAX_DIM };
/* Below the tolerance it goes on to this share of it, as long as every step gains tenfold: the start of the next
 * problem is the better for it.                                                                   */
static const double polished = 1e-2;
/* Pivots of (2), whose rows are scaled to about 1. */
static const double tiny_pivot = 1e-15;

typedef struct Newton {
    st_Allocator allocator;
    sti_Delassus W;
    sti_SparseLu *lu;
    STI_ARRAY(double, u);     /* W r + b                                                          */
    STI_ARRAY(double, trial); /* r + t d, and its u                                               */
    STI_ARRAY(double, trial_u);
    STI_ARRAY(double, rho);    /* by row                                                           */
    STI_ARRAY(double, center); /* c                                                               */
    STI_ARRAY(double, best);   /* the r with the smallest residual, and its u                     */
    STI_ARRAY(double, best_u);
    STI_ARRAY(double, F);
    STI_ARRAY(double, step);   /* d                                                                */
    STI_ARRAY(double, step_u); /* W d                                                              */
    STI_ARRAY(double, A);      /* by contact, BLOCK numbers each                                   */
    STI_ARRAY(double, B);
    STI_ARRAY(int, active); /* the contacts in (2), and for every contact its place there or -1 */
    STI_ARRAY(int, place);
    STI_ARRAY(int, first); /* (2) as sti_BlockRows                                             */
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, j);
    STI_ARRAY(int64_t, start);
    STI_ARRAY(double, x);
    STI_ARRAY(double, side); /* right-hand side and solution of (2)                                */
    double alpha, t_;
    double least;   /* measure of best                                                            */
    double measure; /* and of the r looked at last                                                */
    bool done;      /* it is small enough                                                         */
    int n_active;
    int64_t reserved; /* blocks of the largest W seen                                              */
} Newton;

static st_Status make_room(Newton *s, const st_Problem *p, st_Error *err)
{
    const int n = p->n_r, contacts = p->n_contacts;
    GROW(u, n);
    GROW(trial, n);
    GROW(trial_u, n);
    GROW(rho, n);
    GROW(center, n);
    GROW(best, n);
    GROW(best_u, n);
    GROW(F, n);
    GROW(step, n);
    GROW(step_u, n);
    GROW(side, n);
    GROW(A, BLOCK * (int64_t)contacts);
    GROW(B, BLOCK * (int64_t)contacts);
    GROW(active, contacts);
    GROW(place, contacts);
    GROW(first, contacts + 1);
    GROW(p, contacts + 1);
    GROW(j, s->W.n_entries);
    GROW(start, s->W.n_entries);
    GROW(x, s->W.x_size);
    if (s->W.n_entries <= s->reserved) return ST_OK;
    s->reserved = s->W.n_entries; /* room for (2) with all contacts in it, lest it grows when more of them close */
    return sti_sparse_lu_reserve(s->lu, &s->W.rows, err);
}

/* F of (1) at r with u = W r + b; returns sum |F_i|^2 / rho_i. With `slopes`, A, B and the active set, too. */
static double evaluate(Newton *s, const sti_Task *task, const double *r, const double *u, bool slopes)
{
    const st_Problem *p = task->problem;
    double merit = 0.0;
    if (slopes) s->n_active = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int first = contact->first, dim = contact->dim;
        const double *rho = s->rho + first;
        double shifted[ST_MAX_DIM];
        for (int d = 0; d < dim; d++)
            shifted[d] = u[first + d] + s->alpha / rho[d] * (r[first + d] - s->center[first + d]);
        double *F = s->F + first, *A = slopes ? s->A + BLOCK * (int64_t)c : NULL,
               *B = slopes ? s->B + BLOCK * (int64_t)c : NULL;
        const bool active = sti_slope(contact, r + first, shifted, rho, F, A, B);
        for (int d = 0; d < dim; d++)
            merit += F[d] * F[d] / rho[d];
        if (!slopes) continue;
        s->place[c] = active ? s->n_active : -1;
        if (active) s->active[s->n_active++] = c;
    }
    return merit;
}

/* Block row of contact c in (2), and its right-hand side. */
static void assemble_row(Newton *s, int c, int64_t *entry, int64_t *at, double *side)
{
    const int dim = s->W.first[c + 1] - s->W.first[c];
    const double *A = s->A + BLOCK * (int64_t)c, *B = s->B + BLOCK * (int64_t)c;
    const double *rho = s->rho + s->W.first[c];
    double moved[ST_MAX_DIM] = {0}; /* W_co d_o of the open contacts o */
    for (int64_t e = s->W.p[c]; e < s->W.p[c + 1]; e++) {
        const int o = s->W.j[e], columns = s->W.first[o + 1] - s->W.first[o];
        const double *W = s->W.x + s->W.start[e];
        if (s->place[o] < 0) {
            const double *F = s->F + s->W.first[o];
            for (int i = 0; i < dim; i++)
                for (int k = 0; k < columns; k++)
                    moved[i] -= W[i * columns + k] * F[k];
            continue;
        }
        double *x = s->x + *at;
        sti_slope_multiply(B, W, dim, columns, x);
        for (int i = 0; i < dim * dim && o == c; i++)
            x[i] += A[i] + s->alpha / rho[i % dim] * B[i];
        s->j[*entry] = s->place[o];
        s->start[(*entry)++] = *at;
        *at += dim * columns;
    }
    for (int i = 0; i < dim; i++) {
        side[i] = -s->F[s->W.first[c] + i];
        for (int k = 0; k < dim; k++)
            side[i] -= B[i * dim + k] * moved[k];
    }
}

/* The step d of (2), and W d. */
static st_Status find_step(Newton *s, const sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    int64_t entry = 0, at = 0;
    int replaced = 0;
    s->first[0] = 0;
    s->p[0] = 0;
    for (int k = 0; k < s->n_active; k++) {
        const int c = s->active[k];
        assemble_row(s, c, &entry, &at, s->side + s->first[k]);
        s->first[k + 1] = s->first[k] + p->contact[c].dim;
        s->p[k + 1] = entry;
    }
    const sti_BlockRows rows = {s->n_active, s->first, s->p, s->j, s->start};
    if (s->n_active > 0) {
        STI_TRY(sti_sparse_lu_factor(s->lu, &rows, s->x, tiny_pivot, &replaced, err));
        sti_sparse_lu_solve(s->lu, s->side);
    }
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++) {
            const int row = p->contact[c].first + d;
            s->step[row] = s->place[c] >= 0 ? s->side[s->first[s->place[c]] + d] : -s->F[row];
        }
    sti_delassus_apply(&s->W, s->step, s->step_u);
    for (int row = 0; row < p->n_r; row++)
        s->step_u[row] -= s->W.b[row];
    return ST_OK;
}

/* The longest of r + t d, t = 1, 1/2, 1/4 ... whose merit is below `bound`; else the best of them. Returns the
 * merit; r and u are moved. Not finite: INFINITY, and nothing moved.                              */
static double search(Newton *s, const sti_Task *task, double bound)
{
    const int n = task->problem->n_r;
    const size_t bytes = sizeof(double) * (size_t)n;
    double least = INFINITY, t = 1.0, best_t = 0.0;
    for (int k = 0; k < LINE_STEPS; k++, t *= 0.5) {
        for (int row = 0; row < n; row++) {
            s->trial[row] = task->r[row] + t * s->step[row];
            s->trial_u[row] = s->u[row] + t * s->step_u[row];
        }
        const double merit = evaluate(s, task, s->trial, s->trial_u, false);
        if (merit < least) {
            least = merit;
            best_t = t;
        }
        if (merit <= (1.0 - 1e-4 * t) * bound) break;
    }
    if (!isfinite(least)) return INFINITY;
    s->t_=best_t;
    for (int row = 0; row < n && best_t != t; row++) {
        s->trial[row] = task->r[row] + best_t * s->step[row];
        s->trial_u[row] = s->u[row] + best_t * s->step_u[row];
    }
    memcpy(task->r, s->trial, bytes);
    memcpy(s->u, s->trial_u, bytes);
    return least;
}

/* Residual of the present r; the best is kept. u is recomputed: along the line search it drifts. */
static void judge(Newton *s, const sti_Task *task)
{
    const size_t bytes = sizeof(double) * (size_t)task->problem->n_r;
    st_Residual residual;
    sti_delassus_apply(&s->W, task->r, s->u);
    sti_residual_at(task->reduction, task->r, s->u, &residual);
    const double measure = sti_residual_measure(task->reduction, &residual);
    const bool gained = task->polish && measure < 0.1 * s->measure;
    if (measure < s->least) {
        s->least = measure;
        memcpy(s->best, task->r, bytes);
        memcpy(s->best_u, s->u, bytes);
    }
    s->done = s->least <= (gained ? polished : 1.0) * task->tolerance;
    s->measure = measure;
}

/* Problem (1) from where r is. Returns whether F fell far enough. */
static st_Status solve_proximal(Newton *s, sti_Task *task, bool *solved, st_Error *err)
{
    double history[MEMORY], first = 0.0;
    int quiet = 0;
    *solved = false;
    for (int k = 0; k < INNER_STEPS && task->iterations < task->max_iterations && !sti_cancelled(task); k++) {
        const double merit = evaluate(s, task, task->r, s->u, true);
        if (k == 0) first = merit;
        if (k > 0 && merit <= inner_fall * inner_fall * first) {
            *solved = true;
            return ST_OK;
        }
        history[k % MEMORY] = merit;
        double bound = 0.0;
        for (int i = 0; i < MEMORY && i <= k; i++)
            bound = fmax(bound, history[i]);
        STI_TRY(find_step(s, task, err));
        task->iterations++;
        if (!isfinite(search(s, task, bound))) return ST_OK;
        const double last = s->measure;
        judge(s, task);
        if (s->done) {
            *solved = true;
            return ST_OK;
        }
        quiet = s->t_ > 0.2 && s->measure > 0.5 * last && s->measure < 1e-15 / s->alpha ? quiet + 1 : 0;
        if (quiet >= 2) {
            s->alpha = fmax(s->alpha, 1e-16 / task->tolerance / 4.0);
            return ST_OK;
        }
    }
    *solved = evaluate(s, task, task->r, s->u, false) <= inner_fall * inner_fall * first;
    return ST_OK;
}

static st_Status iterate(Newton *s, sti_Task *task, st_Error *err)
{
    const size_t bytes = sizeof(double) * (size_t)task->problem->n_r;
    int failures = 0;
    s->alpha = alpha_start[task->attempt % 4];
    while (!s->done && task->iterations < task->max_iterations && failures < PATIENCE && !sti_cancelled(task)) {
        const double before = s->least;
        const int start = task->iterations;
        bool solved = false;
        memcpy(s->center, task->r, bytes);
        STI_TRY(solve_proximal(s, task, &solved, err));
        if (solved) { /* the easier it was, the bolder the next */
            const int steps = task->iterations - start;
            if (!(s->least < 1e-3 * before))
            s->alpha = fmax(alpha_least, (steps <= 2 ? 0.1 : steps <= 5 ? 0.3 : 0.6) * s->alpha);
            failures = s->least < 0.9 * before ? 0 : failures + 1;
        } else {
            s->alpha = fmin(alpha_most, 4.0 * s->alpha);
            failures++;
            memcpy(task->r, s->best, bytes);
            memcpy(s->u, s->best_u, bytes);
        }
    }
    return ST_OK;
}

static st_Status solve(void *workspace, sti_Task *task, st_Error *err)
{
    Newton *s = workspace;
    const st_Problem *p = task->problem;
    const size_t bytes = sizeof(double) * (size_t)p->n_r;
    bool formed = false;
    task->iterations = 0;
    s->least = s->measure = INFINITY;
    if (p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_delassus_build(&s->W, task->reduction, max_blocks, &formed, err));
    if (!formed) return ST_OK; /* r stays what it was: the residual tells */
    STI_TRY(make_room(s, p, err));
    for (int c = 0; c < p->n_contacts; c++)
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
    sti_slope_rho(task->reduction, s->rho);
    judge(s, task);
    memcpy(s->best, task->r, bytes);
    STI_TRY(iterate(s, task, err));
    memcpy(task->r, s->best, bytes);
    return ST_OK;
}

/* ------------------------------------------------------------------ the row of the solver table */

static bool accepts(st_Law law, int dim, bool symmetric)
{
    return sti_nsgs.accepts(law, dim, symmetric); /* all laws there are */
}

static void destroy(void *workspace)
{
    Newton *s = workspace;
    if (s == NULL) return;
    sti_sparse_lu_destroy(s->lu);
    sti_delassus_release(&s->W);
    RELEASE(u);
    RELEASE(trial);
    RELEASE(trial_u);
    RELEASE(rho);
    RELEASE(center);
    RELEASE(best);
    RELEASE(best_u);
    RELEASE(F);
    RELEASE(step);
    RELEASE(step_u);
    RELEASE(A);
    RELEASE(B);
    RELEASE(active);
    RELEASE(place);
    RELEASE(first);
    RELEASE(p);
    RELEASE(j);
    RELEASE(start);
    RELEASE(x);
    RELEASE(side);
    const st_Allocator allocator = s->allocator;
    sti_free(&allocator, s, 1, sizeof *s);
}

static st_Status create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Newton *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver newton");
    s->allocator = s->W.allocator = *allocator;
    const st_Status status = sti_sparse_lu_create(allocator, &s->lu, err);
    if (status != ST_OK) {
        destroy(s);
        return status;
    }
    *workspace = s;
    return ST_OK;
}

const sti_SolverKind sti_newton = {
    .name = "newton",
    .columns = true,
    .help = "proximal semismooth Newton with sparse factors; to 1e-8 and beyond, redundant contacts included",
    .accepts = accepts,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
