/* newton.c -- proximal point around a semismooth Newton method.
 *
 * W is singular if contacts are redundant, which is nearly always. Therefore a sequence of problems
 *
 *     law( r, W r + b + alpha E (r - c) ),      E = diag(1/rho_i)                                 (1)
 *
 * is solved, where c is the last solution: the proximal point method (Rockafellar 1976; for friction Acary,
 * Bremond & Huber 2018). When c no longer changes, the added term is 0 and r solves the problem itself for any
 * alpha; W + alpha E is never singular. Each law is written as F(r, u) = 0 (alart_curnier.h), and with A = dF/dr,
 * B = dF/du the Newton step for (1) is
 *
 *     (A + B (W + alpha E)) d = -F                                                               (2)
 *
 * Contacts between free bodies are eliminated down to the bodies' velocities (body_space_newton.h), and W is not
 * formed. In other problems, rows of open contacts have B = 0 and A = I: their d is known, and only the others enter
 * the sparse factorisation (math/sparse_lu.h). A step is accepted when it lowers  sum |F_i|^2/rho_i  against the
 * largest of the last few values (Grippo, Lampariello & Lucidi 1986), and is halved otherwise.
 *
 * alpha falls while problems (1) are solved quickly (the method then ends as Newton's on the problem itself) and grows
 * when one cannot be solved: the larger alpha is, the more independent are the contacts in (1). alpha falls
 * slowly if (1) takes many steps. A faster fall is quicker on most problems, but if the solutions form a curved
 * set (W singular, contacts sliding) it leads to ever shorter steps.
 *
 * A start close to the solution is first improved by sweeps over the graph (begin_newton). */
#include "problem/law.h"
#include "reduce/alart_curnier.h"
#include "reduce/residual.h"
#include "solve/factored.h"

#include <float.h>

/* alpha is relative to W's own diagonal. Below the least, (2) is singular to rounding. */
static const double alpha_least = 1e-11, alpha_most = 1e2;
/* Its first value, and the number of steps after which a problem (1) is given up. Another attempt takes another path.
 * The first four are quick. The last two are for starts with a small residual that are far from a solution, as light
 * boxes below a heavy stack that turn a little: with a large alpha, r drifts and the residual stays. A small alpha
 * leads away to where F is large, and many steps lead from there to a solution. */
static const struct {
    double alpha;
    int steps;
} paths[] = {{1e-4, 12}, {1e-3, 12}, {1e-2, 12}, {1e-5, 12}, {1e-10, 40}, {1e-5, 40}};
enum { PATHS = sizeof paths / sizeof paths[0] };
/* A problem (1) counts as solved when F has fallen by this against where it began. */
static const double inner_fall = 1e-1;
enum { LINE_STEPS = 8, MEMORY = 4 };
/* Residual of a start close to the solution. There contacts that barely touch open or close with every step, and the
 * merit rises before it falls. So this many full steps are taken without a line search, and undone if they did not
 * help (a watchdog: Chamberlain et al. 1982). Not for a W of more rows than DEAR: among thousands of contacts some
 * open or close in every step, most of these steps would be undone, and they are expensive. */
static const double near = 1e-3;
enum { WATCHED = 4, DEAR = 3000 };
/* A start whose residual is at most this many times the tolerance is swept first, until r changes by less than this
 * part of the first change. */
static const double sweep_within = 10.0, swept_out = 0.1;
/* Sweeps must reduce the residual to this part. Otherwise the next steps would need sweeps again and again. */
static const double few_left = 0.5;
enum { SWEEPS = 32 };
/* Problems (1) without progress before it is called stalled. */
enum { PATIENCE };
static const st_SolverParameter newton_parameters[] = {
    {"patience", "proximal problems without progress after which the method stops", 30, 1, 1e9},
    {0},
};
enum { BLOCK = ST_MAX_DIM * ST_MAX_DIM };
/* Smallest pivot of (2), whose rows are scaled to about 1. */
static const double tiny_pivot = 1e-15;

typedef struct Newton {
    sti_Factored *base;
    const sti_Delassus *W;
    double *u;               /* W r + b                                                            */
    double *trial, *trial_u; /* r + t d, and its u                                                 */
    double *rho;             /* by row                                                             */
    double *center;          /* c                                                                  */
    double *F, *A, *B;       /* A and B by contact, BLOCK numbers each                             */
    double *step, *step_u;   /* d and W d                                                          */
    int *active, *place;     /* the contacts in (2), and for every contact its place there or -1   */
    int *first, *j;          /* (2) as sti_BlockRows, its values, and its right-hand side          */
    int64_t *p, *start;
    double *x, *side;
    double alpha;
    double measure; /* of the r looked at last                                                     */
    bool done;      /* the best is good enough                                                     */
    int n_active;
    bool by_bodies; /* else by W                                                                    */
} Newton;

/* F of (1) at r with u = W r + b; returns sum |F_i|^2 / rho_i. With `slopes`, A, B and the active set, too. */
static double evaluate_contacts(Newton *s, const sti_Task *task, const double *r, const double *u, bool slopes)
{
    const st_Problem *p = task->problem;
    double merit = 0.0;
    sti_work_visits(task->work, p->n_contacts);
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

/* The step d of (2), and W d, by the bodies' velocities. */
static st_Status find_step_by_bodies(Newton *s, const sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    double soft[ST_MAX_DIM];
    for (int c = 0; c < p->n_contacts; c++) {
        const int first = p->contact[c].first;
        for (int d = 0; d < p->contact[c].dim; d++)
            soft[d] = s->alpha / s->rho[first + d];
        sti_by_bodies_set(&s->base->bodies, c, s->A + BLOCK * (int64_t)c, s->B + BLOCK * (int64_t)c, s->F + first,
                          soft);
    }
    return sti_by_bodies_step(&s->base->bodies, true, s->step, s->step_u, err);
}

/* The same by W. */
static st_Status find_step_by_contacts(Newton *s, const sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    int64_t entry = 0, at = 0;
    int replaced = 0;
    s->first[0] = 0;
    s->p[0] = 0;
    for (int k = 0; k < s->n_active; k++) {
        const int c = s->active[k];
        /* Block row of contact c in (2), and its right-hand side. */
        double *side = s->side + s->first[k];
        const int dim = s->W->first[c + 1] - s->W->first[c];
        const double *A = s->A + BLOCK * (int64_t)c, *B = s->B + BLOCK * (int64_t)c;
        const double *rho = s->rho + s->W->first[c];
        double moved[ST_MAX_DIM] = {0}; /* W_co d_o of the open contacts o */
        for (int64_t e = s->W->p[c]; e < s->W->p[c + 1]; e++) {
            const int o = s->W->j[e], columns = s->W->first[o + 1] - s->W->first[o];
            const double *W = s->W->x + s->W->start[e];
            if (s->place[o] < 0) {
                const double *F = s->F + s->W->first[o];
                for (int i = 0; i < dim; i++)
                    for (int column = 0; column < columns; column++)
                        moved[i] -= W[i * columns + column] * F[column];
                continue;
            }
            double *x = s->x + at;
            sti_slope_multiply(B, W, dim, columns, x);
            for (int i = 0; i < dim * dim && o == c; i++)
                x[i] += A[i] + s->alpha / rho[i % dim] * B[i];
            s->j[entry] = s->place[o];
            s->start[entry++] = at;
            at += dim * columns;
        }
        for (int i = 0; i < dim; i++) {
            side[i] = -s->F[s->W->first[c] + i];
            for (int column = 0; column < dim; column++)
                side[i] -= B[i * dim + column] * moved[column];
        }
        s->first[k + 1] = s->first[k] + p->contact[c].dim;
        s->p[k + 1] = entry;
    }
    const sti_BlockRows rows = {s->n_active, s->first, s->p, s->j, s->start};
    if (s->n_active > 0) {
        STI_TRY(sti_sparse_lu_factor(s->base->lu, &rows, s->x, tiny_pivot, &replaced, err));
        sti_sparse_lu_solve(s->base->lu, s->side);
    }
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++) {
            const int row = p->contact[c].first + d;
            s->step[row] = s->place[c] >= 0 ? s->side[s->first[s->place[c]] + d] : -s->F[row];
        }
    sti_delassus_apply(s->W, s->step, s->step_u);
    for (int row = 0; row < p->n_r; row++)
        s->step_u[row] -= s->W->b[row];
    return ST_OK;
}

/* Is the best r good enough? u is recomputed: along the line search it drifts. */
static void judge_step(Newton *s, const sti_Task *task)
{
    const double measure = sti_factored_judge(s->base, task, task->r);
    const bool gained = measure < 0.1 * s->measure;
    memcpy(s->u, s->base->u, sizeof(double) * (size_t)task->problem->n_r);
    s->done = s->base->least <= (gained && task->polish < task->tolerance ? task->polish : task->tolerance);
    s->measure = measure;
}

/* ------------------------------------------------------------------ cold start */

/* The regularisation of that solve, and the limit for touching contacts: a contact counts as touching if it opens at
 * no more than this part of the speed at which the fastest one closes. At first all boxes of a stack fall with the
 * same speed, and only the lowest contact closes. */
static const double linear_alpha = 1e-5, nearly = 0.1;

/* Without a start, Newton's method finds the loads of a stack course by course: 70 steps for 40 courses, each with a
 * factorisation. One linear solve, in which all touching contacts stick, finds them at once; a second one leaves out
 * contacts that would pull. The result is projected on the sets of the laws. Then 1 to 6 steps remain, even if its
 * residual is above that of zero impulses, as in a wall whose bricks touch side by side (27 steps without it, 8 with
 * it). */
static st_Status start_linear(Newton *s, sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    const size_t bytes = sizeof(double) * (size_t)p->n_r;
    double fastest = 0.0;
    bool touches = false, pulls = false;
    for (int j = 0; j < p->n_r; j++)
        if (task->r[j] != 0.0) return ST_OK;
    for (int c = 0; c < p->n_contacts; c++)
        if (p->contact[c].law != ST_LAW_BOUNDED) fastest = fmax(fastest, -s->u[p->contact[c].first]);
    s->alpha = linear_alpha;
    for (int pass = 0; pass < 2 && (pass == 0 || pulls); pass++) {
        s->n_active = 0;
        for (int c = 0; c < p->n_contacts; c++) {
            const st_ContactLaw *contact = &p->contact[c];
            const double *u = s->u + contact->first;
            const bool sticks = contact->law != ST_LAW_BOUNDED && u[0] <= nearly * fastest &&
                                (pass == 0 || s->step[contact->first] > 0.0);
            double *A = s->A + BLOCK * (int64_t)c, *B = s->B + BLOCK * (int64_t)c;
            for (int i = 0; i < contact->dim; i++) {
                s->F[contact->first + i] = sticks ? u[i] : 0.0;
                for (int k = 0; k < contact->dim; k++) {
                    A[i * contact->dim + k] = i == k && !sticks ? 1.0 : 0.0;
                    B[i * contact->dim + k] = i == k && sticks ? 1.0 : 0.0;
                }
            }
            s->place[c] = sticks ? s->n_active : -1;
            if (sticks) s->active[s->n_active++] = c;
        }
        touches = s->n_active > 0;
        if (!touches) break;
        STI_TRY(s->by_bodies ? find_step_by_bodies(s, task, err) : find_step_by_contacts(s, task, err));
        task->iterations++;
        for (int k = 0; k < s->n_active; k++)
            pulls = pulls || s->step[p->contact[s->active[k]].first] < 0.0;
    }
    if (!touches) return ST_OK;
    memcpy(task->r, s->step, bytes);
    for (int c = 0; c < p->n_contacts; c++)
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
    judge_step(s, task);
    return ST_OK;
}

/* Everything before the first problem (1): sweeps, the matrices or graph, memory, the start. begins: false if r is
 * already a solution, or if W cannot be formed (then r is unchanged, and the residual shows it). */
static st_Status begin_newton(Newton *s, sti_Task *task, bool *begins, st_Error *err)
{
    const st_Problem *p = task->problem;
    const int64_t n = p->n_r, contacts = p->n_contacts;
    *begins = false;
    if (sti_task_is_answered(task) || contacts == 0) return ST_OK;
    /* Bodies at rest creep a little with the impulses of the last step, until the residual exceeds the tolerance. The
     * error is then mostly local: sweeps over the graph remove it at a fraction of the cost of a factorisation. If they
     * do not, r is restored. */
    sti_Graph *graph = task->reduction->graph;
    const bool is_near = task->start >= 0.0 && task->start <= sweep_within * task->tolerance;
    if (graph != NULL && is_near && !(task->max_iterations < SWEEPS)) {
        STI_TRY(sti_factored_room(task->factored, task, NULL, 0, err)); /* the best so far: r */
        sti_graph_take(graph, task->r);
        sti_graph_restore(graph);
        const double first = sti_graph_sweep(graph);
        double change = first;
        for (task->iterations = 1; task->iterations < SWEEPS && change > swept_out * first; task->iterations++)
            change = sti_graph_sweep(graph);
        sti_graph_give(graph, task->r);
        st_Residual residual;
        sti_residual(task->reduction, task->r, NULL, NULL, NULL, &residual);
        const double measure = sti_residual_measure(task->reduction, &residual);
        if (measure <= task->tolerance && measure <= few_left * task->start) return ST_OK;
        memcpy(task->r, task->factored->best, sizeof *task->r * (size_t)n);
    }
    STI_TRY(sti_factored_begin_bodies(s->base, task, begins, err));
    s->by_bodies = s->base->by_bodies;
    if (!*begins) return ST_OK;
    for (int c = 0; c < p->n_contacts; c++)
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
    const int64_t entries = s->by_bodies ? 0 : s->W->n_entries;
    const sti_Room rooms[] = {STI_ROOM(s->u, n),
                              STI_ROOM(s->trial, n),
                              STI_ROOM(s->trial_u, n),
                              STI_ROOM(s->rho, n),
                              STI_ROOM(s->center, n),
                              STI_ROOM(s->F, n),
                              STI_ROOM(s->step, n),
                              STI_ROOM(s->step_u, n),
                              STI_ROOM(s->side, n),
                              STI_ROOM(s->A, BLOCK * contacts),
                              STI_ROOM(s->B, BLOCK * contacts),
                              STI_ROOM(s->active, contacts),
                              STI_ROOM(s->place, contacts),
                              STI_ROOM(s->first, contacts + 1),
                              STI_ROOM(s->p, contacts + 1),
                              STI_ROOM(s->j, entries),
                              STI_ROOM(s->start, entries),
                              STI_ROOM(s->x, s->by_bodies ? 0 : s->W->x_size)};
    STI_TRY(sti_factored_room(s->base, task, rooms, sizeof rooms / sizeof rooms[0], err));
    sti_slope_rho(task->reduction, s->rho);
    judge_step(s, task);
    if (task->effort != ST_EFFORT_THOROUGH && task->max_iterations > 0) STI_TRY(start_linear(s, task, err));
    return ST_OK;
}

static st_Status newton_solve(void *workspace, sti_Task *task, st_Error *err)
{
    (void)workspace;
    Newton newton = {.base = task->factored, .W = &task->factored->W, .measure = INFINITY}, *s = &newton;
    const int n = task->problem->n_r;
    const size_t bytes = sizeof(double) * (size_t)n;
    const double patience = task->parameters[STI_SOLVER_newton][PATIENCE];
    int failures = 0;
    bool begins;
    task->iterations = 0;
    STI_TRY(begin_newton(s, task, &begins, err));
    if (!begins) return ST_OK;
    s->alpha = paths[task->attempt % PATHS].alpha;
    while (!s->done && task->iterations < task->max_iterations && failures < patience && !sti_work_ends(task->work)) {
        /* Problem (1) around c = r. It is solved when F has fallen far enough. */
        const double before = s->base->least;
        const int start = task->iterations, steps = paths[task->attempt % PATHS].steps;
        const bool trusts = s->measure < near && (s->by_bodies || n <= DEAR);
        int rounded = 0, watched = trusts ? WATCHED : 0;
        double history[MEMORY], first = 0.0;
        enum { RUNNING, SOLVED, FAILED } end = RUNNING;
        memcpy(s->center, task->r, bytes);
        for (int k = 0; k < steps && task->iterations < task->max_iterations && !sti_work_ends(task->work); k++) {
            double merit = evaluate_contacts(s, task, task->r, s->u, true), last = s->measure;
            if (k == 0) first = merit;
            if (k > 0 && merit <= inner_fall * inner_fall * first) {
                end = SOLVED;
                break;
            }
            if (k == watched && k > 0 && merit > 0.5 * first) { /* back to where problem (1) began */
                memcpy(task->r, s->center, bytes);
                judge_step(s, task);
                merit = evaluate_contacts(s, task, task->r, s->u, true);
            }
            history[k % MEMORY] = merit;
            double bound = 0.0;
            for (int i = 0; i < MEMORY && i <= k; i++)
                bound = fmax(bound, history[i]);
            STI_TRY(s->by_bodies ? find_step_by_bodies(s, task, err) : find_step_by_contacts(s, task, err));
            task->iterations++;

            /* Line search: the longest of r + t d, t = 1, 1/2, 1/4 ... with a merit below the bound; else the best. */
            double least = INFINITY, length = 0.0, t = 1.0;
            for (int tries = k < watched ? 1 : LINE_STEPS; tries > 0; tries--, t *= 0.5) {
                for (int row = 0; row < n; row++) {
                    s->trial[row] = task->r[row] + t * s->step[row];
                    s->trial_u[row] = s->u[row] + t * s->step_u[row];
                }
                const double found = evaluate_contacts(s, task, s->trial, s->trial_u, false);
                if (found < least) {
                    least = found;
                    length = t;
                }
                if (found <= (1.0 - 1e-4 * t) * bound) break;
            }
            if (!isfinite(least)) {
                end = FAILED;
                break;
            }
            for (int row = 0; row < n && length != t; row++) {
                s->trial[row] = task->r[row] + length * s->step[row];
                s->trial_u[row] = s->u[row] + length * s->step_u[row];
            }
            memcpy(task->r, s->trial, bytes);
            memcpy(s->u, s->trial_u, bytes);
            judge_step(s, task);
            sti_task_report_residual(task, s->measure);
            if (s->done) {
                end = SOLVED;
                break;
            }
            /* Is the rest of the error rounding? (2) is almost singular if alpha is small. If W has a null space, every
             * full step moves r in it by about eps/alpha of its size, and nothing corrects this. */
            rounded =
                length > 0.2 && s->measure > 0.5 * last && s->measure < 4.0 * DBL_EPSILON / s->alpha ? rounded + 1 : 0;
            if (rounded == 2) { /* an alpha whose rounding error is below the tolerance */
                s->alpha = fmax(s->alpha, 0.1 * DBL_EPSILON / task->tolerance);
                end = FAILED;
                break;
            }
        }
        if (end == RUNNING && evaluate_contacts(s, task, task->r, s->u, false) <= inner_fall * inner_fall * first)
            end = SOLVED;

        failures = end == SOLVED && s->base->least < 0.9 * before ? 0 : failures + 1;
        if (end == SOLVED) { /* the fewer steps it took, the faster alpha falls; after a gain of 1000 it stays */
            const int taken = task->iterations - start;
            if (!(s->base->least < 1e-3 * before))
                s->alpha = fmax(alpha_least, (taken <= 2 ? 0.1 : taken <= 5 ? 0.3 : 0.6) * s->alpha);
        } else {
            s->alpha = fmin(alpha_most, 4.0 * s->alpha);
            memcpy(task->r, s->base->best, bytes);
            judge_step(s, task); /* u of it */
        }
    }
    memcpy(task->r, s->base->best, bytes);
    return ST_OK;
}

/* ------------------------------------------------------------------ the row of the solver table */

const sti_SolverKind sti_newton = {
    .name = "newton",
    .parameters = newton_parameters,
    .help =
        "proximal semismooth Newton method with sparse factors; reaches 1e-8 and below, also with redundant contacts",
    .property = STI_LAW_ANY,
    .solve = newton_solve,
};
