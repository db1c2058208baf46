/* newton_small.c -- the method of newton.c for a few free bodies, with the kernels of pile/small_island.h. A proximal
 * point method around a semismooth Newton method; newton.c has the reasons. A falling bin or heap of rubble consists
 * mostly of islands with about ten contacts. There the time of newton.c went into memory, lists and calls: 11 us per
 * step of 12 contacts. With more rows than STI_EVEN_ROWS, two sweeps first find most of the contacts that open and
 * slide. */
#include "pile/small_island.h"
#include "reduce/residual.h"
#include "solve/solver.h"

#include <float.h>

/* newton.c has the same. */
static const double alpha_least = 1e-11, alpha_most = 1e2, inner_fall = 1e-1, near = 1e-3;
static const double alpha_start[] = {1e-4, 1e-3, 1e-2, 1e-5};
static const double linear_alpha = 1e-5, nearly = 0.1;
/* Sweeps before the first step. */
enum { SWEEPS = 2 };
enum { INNER_STEPS = 12, LINE_STEPS = 8, MEMORY = 4, WATCHED = 4, PATIENCE = 30 };

typedef struct Run {
    sti_Small *small;
    sti_Task *task;
    double scale;   /* of the residual                                                              */
    double least;   /* residual of small->best                                                      */
    double measure; /* of the r judged last                                                         */
    bool done;
} Run;

/* u and the residual of small->r; the best one is kept. */
static void judge_small(Run *run)
{
    sti_Small *s = run->small;
    const sti_Task *task = run->task;
    const double error = sqrt(s->code->small->judge(s, s->r, s->u)),
                 measure = run->scale > 0.0 ? error / run->scale : error;
    const bool gained = measure < 0.1 * run->measure;
    sti_work_visits(task->work, s->n);
    if (measure < run->least) {
        run->least = measure;
        memcpy(s->best, s->r, (size_t)s->n_packs * sizeof *s->r);
    }
    run->done = run->least <= (gained && task->polish < task->tolerance ? task->polish : task->tolerance);
    run->measure = measure;
}

/* One proximal problem from where r is. Returns whether F fell far enough. */
static bool solve_small_proximal(Run *run)
{
    sti_Small *s = run->small;
    sti_Task *task = run->task;
    double history[MEMORY], first = 0.0;
    const int watched = run->measure < near ? WATCHED : 0;
    int rounded = 0;
    for (int k = 0; k < INNER_STEPS && task->iterations < task->max_iterations && !sti_work_ends(task->work); k++) {
        double merit = s->code->small->law(s, s->r, s->u, true);
        const double last = run->measure;
        if (k == 0) first = merit;
        if (k > 0 && merit <= inner_fall * inner_fall * first) return true;
        if (k == watched && k > 0 && merit > 0.5 * first) { /* steps on trust did not help: back */
            memcpy(s->r, s->center, (size_t)s->n_packs * sizeof *s->r);
            judge_small(run);
            merit = s->code->small->law(s, s->r, s->u, true);
        }
        history[k % MEMORY] = merit;
        double bound = 0.0;
        for (int i = 0; i < MEMORY && i <= k; i++)
            bound = fmax(bound, history[i]);
        sti_work_visits(task->work, 3.0 * s->n);
        sti_work_products(task->work, 36.0 * STI_NODE * s->price);
        task->iterations++;
        if (!s->code->small->solve(s)) return false;
        s->code->small->step(s);

        /* Line search: the longest of r + t d, t = 1, 1/2, 1/4 ... with a merit below the bound; else the best. */
        const int n = 3 * STI_LANES * s->n_packs;
        const double *d = s->step->x[0], *Wd = s->step_u->x[0], *u = s->u->x[0];
        double *r = s->r->x[0], *trial = s->trial->x[0], *trial_u = s->trial_u->x[0];
        double least = INFINITY, length = 0.0, t = 1.0;
        for (int tries = k < watched ? 1 : LINE_STEPS; tries > 0; tries--, t *= 0.5) {
            for (int i = 0; i < n; i++) {
                trial[i] = r[i] + t * d[i];
                trial_u[i] = u[i] + t * Wd[i];
            }
            const double found = s->code->small->law(s, s->trial, s->trial_u, false);
            sti_work_visits(task->work, s->n);
            if (found < least) {
                least = found;
                length = t;
            }
            if (found <= (1.0 - 1e-4 * t) * bound) break;
        }
        if (!isfinite(least)) return false;
        for (int i = 0; i < n; i++)
            r[i] += length * d[i];
        judge_small(run);
        if (run->done) return true;
        /* if the rest of the error is rounding: an alpha whose rounding error is below the tolerance */
        rounded =
            length > 0.2 && run->measure > 0.5 * last && run->measure < 4.0 * DBL_EPSILON / s->alpha ? rounded + 1 : 0;
        if (rounded == 2) {
            s->alpha = fmax(s->alpha, 0.1 * DBL_EPSILON / task->tolerance);
            return false;
        }
    }
    return s->code->small->law(s, s->r, s->u, false) <= inner_fall * inner_fall * first;
}

/* From no impulses at all: one linear solve in which all contacts that touch stick, and another one without those that
 * pull (newton.c: start_linear). From others that are far from an answer, a few sweeps where loads
 * need not be even.                                                                                */
static void begin_small(Run *run)
{
    sti_Small *s = run->small;
    bool cold = true, pulls = false;
    double fastest = 0.0;
    for (int c = 0; c < s->n; c++) {
        const int k = c / STI_LANES, l = c % STI_LANES;
        cold = cold && s->r[k].x[0][l] == 0.0 && s->r[k].x[1][l] == 0.0 && s->r[k].x[2][l] == 0.0;
        fastest = fmax(fastest, -s->u[k].x[0][l]);
    }
    if (!cold) {
        if (run->measure < near || run->task->problem->n_r <= STI_EVEN_ROWS) return;
        for (int k = 0; k < SWEEPS; k++)
            s->code->small->sweep(s, s->r);
        sti_work_visits(run->task->work, SWEEPS * s->n);
        judge_small(run);
        return;
    }
    s->alpha = linear_alpha;
    for (int pass = 0; pass < 2 && (pass == 0 || pulls); pass++) {
        int touching = 0;
        memset(s->K, 0, (size_t)s->n_packs * sizeof *s->K);
        memset(s->g, 0, (size_t)s->n_packs * sizeof *s->g);
        for (int c = 0; c < s->n; c++) {
            const int k = c / STI_LANES, l = c % STI_LANES;
            const sti_SmallPack *pack = &s->pack[k];
            if (s->u[k].x[0][l] > nearly * fastest || (pass > 0 && !(s->step[k].x[0][l] > 0.0))) continue;
            const double k_n = 1.0 / (s->alpha / pack->rho_n[l] + pack->C[0][l]),
                         k_t = 1.0 / (s->alpha / pack->rho_t[l] + pack->C[1][l]);
            s->K[k].x[0][l] = k_n;
            s->K[k].x[3][l] = s->K[k].x[5][l] = k_t;
            s->g[k].x[0][l] = k_n * s->u[k].x[0][l];
            s->g[k].x[1][l] = k_t * s->u[k].x[1][l];
            s->g[k].x[2][l] = k_t * s->u[k].x[2][l];
            touching++;
        }
        if (touching == 0 || !s->code->small->solve(s)) return;
        s->code->small->step(s);
        run->task->iterations++;
        for (int c = 0; c < s->n; c++)
            pulls = pulls || s->step[c / STI_LANES].x[0][c % STI_LANES] < 0.0;
    }
    for (int c = 0; c < s->n; c++) { /* moved into the cone as sweeps do it */
        const int k = c / STI_LANES, l = c % STI_LANES;
        const double n = fmax(0.0, s->step[k].x[0][l]), t = s->step[k].x[1][l], o = s->step[k].x[2][l],
                     limit = s->pack[k].mu[l] * n, size = sqrt(t * t + o * o), part = size > limit ? limit / size : 1.0;
        s->r[k].x[0][l] = n;
        s->r[k].x[1][l] = part * t;
        s->r[k].x[2][l] = part * o;
    }
    judge_small(run);
}

static st_Status newton_small_solve(void *workspace, sti_Task *task, st_Error *err)
{
    sti_Small *s = workspace;
    Run run = {
        .small = s, .task = task, .scale = sti_residual_scale(task->reduction), .least = INFINITY, .measure = INFINITY};
    task->iterations = 0;
    STI_TRY(sti_small_take(s, task->reduction->graph, err));
    sti_small_set(s, task->problem, task->r, s->r);
    judge_small(&run);
    if (task->attempt == 0 && task->max_iterations > 0 && !run.done) begin_small(&run);
    s->alpha = alpha_start[task->attempt % 4];
    for (int failures = 0;
         !run.done && task->iterations < task->max_iterations && failures < PATIENCE && !sti_work_ends(task->work);) {
        const double before = run.least;
        const int start = task->iterations;
        memcpy(s->center, s->r, (size_t)s->n_packs * sizeof *s->r);
        const bool solved = solve_small_proximal(&run);
        failures = solved && run.least < 0.9 * before ? 0 : failures + 1;
        if (solved) { /* the easier it was, the bolder the next one */
            const int steps = task->iterations - start;
            if (!(run.least < 1e-3 * before))
                s->alpha = fmax(alpha_least, (steps <= 2 ? 0.1 : steps <= 5 ? 0.3 : 0.6) * s->alpha);
        } else {
            s->alpha = fmin(alpha_most, 4.0 * s->alpha);
            memcpy(s->r, s->best, (size_t)s->n_packs * sizeof *s->r);
            judge_small(&run);
        }
    }
    sti_small_get(s, task->problem, s->best, task->r);
    return ST_OK;
}

static st_Status newton_small_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    sti_Small *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver newton for small islands");
    s->allocator = *allocator;
    *workspace = s;
    return ST_OK;
}

static void newton_small_destroy(void *workspace)
{
    sti_Small *s = workspace;
    if (s == NULL) return;
    const st_Allocator allocator = s->allocator;
    sti_small_release(s);
    sti_free(&allocator, s, 1, sizeof *s);
}

const sti_SolverKind sti_newton_small = {
    .name = "newton",
    .help = "newton for a few free bodies",
    .property = STI_LAW_ANY,
    .create = newton_small_create,
    .destroy = newton_small_destroy,
    .solve = newton_small_solve,
};
