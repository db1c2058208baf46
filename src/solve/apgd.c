/* apgd.c -- accelerated projected gradient descent, matrix-free.
 *
 *     minimise 1/2 r'W r + (b + s)'r  over the cones
 *
 *     r+ = P( y - t rho o (W y + b + s) )       y = r+ + beta (r+ - r),   Nesterov's beta
 *
 * (Nesterov 1983; Heyn, Mazhar, Pazouki, Melanz, Seidl, Madsen, Bartels, Negrut, Lamb & Tasora 2013 for
 * contact: step length by backtracking on the quadratic bound, restart when the momentum points uphill.) Steps
 * are scaled contact by contact by rho, which keeps the projections exact and evens out masses. W is applied
 * through the reduction and never formed: an iteration costs two passes over H and Y.
 *
 * s = mu |u_T| e_n makes the exact law of the convex one: it is updated in rounds, each as accurate as the shift
 * it started from (docs/methods.md 12; s is kept on open contacts). For the cone law s = 0 and there is one round.
 */
#include "linalg/joint_graph.h"
#include "problem/law.h"
#include "reduce/residual.h"
#include "solve/solver.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

enum { JUDGE_EVERY, LENGTHEN };
static const st_SolverParameter apgd_parameters[] = {
    {"judge_every", "iterations after which the residual is computed and the shift renewed", 10, 1, 1e9},
    {"lengthen", "factor by which the next step may be longer", 1.05, 1, 10},
    {0},
};
/* Backtracking: a step is halved at most so often in one iteration. */
enum { MAX_HALVINGS = 40 };

typedef struct Apgd {
    st_Allocator allocator;
    STI_ARRAY(double, v);
    STI_ARRAY(double, u); /* W y + b                                                        */
    STI_ARRAY(double, y); /* where the gradient is taken                                    */
    STI_ARRAY(double, r_last);
    STI_ARRAY(double, gradient); /* W y + b + s                                                    */
    STI_ARRAY(double, shift);    /* s, by contact                                                  */
    STI_ARRAY(double, step_u);   /* W r+ + b                                                       */
    STI_ARRAY(double, best);
    double length; /* t                                                                            */
} Apgd;

/* s from the velocities u; how much it changed, against its size. */
static double renew_shift(Apgd *s, const st_Problem *p, const double *u)
{
    double change = 0.0, size = 0.0;
    for (int c = 0; c < p->n_contacts; c++) {
        double shifted[ST_MAX_DIM];
        sti_law_shift(&p->contact[c], u + p->contact[c].first, shifted);
        const double now = shifted[0] - u[p->contact[c].first];
        change += (now - s->shift[c]) * (now - s->shift[c]);
        size += now * now;
        s->shift[c] = now;
    }
    return size > 0.0 ? sqrt(change / size) : 0.0;
}

/* r+ from y with the step length t; returns whether the quadratic bound holds:
 *     1/2 d'W d <= 1/2 d' inv(t rho) d,   d = r+ - y                                              */
static bool try_step(Apgd *s, sti_Task *task)
{
    const st_Problem *p = task->problem;
    const sti_Reduction *reduction = task->reduction;
    double bound = 0.0, curve = 0.0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int begin = p->contact[c].first;
        for (int d = 0; d < p->contact[c].dim; d++)
            task->r[begin + d] = s->y[begin + d] - s->length * reduction->rho[c] * s->gradient[begin + d];
        sti_law_project(&p->contact[c], task->r + begin);
    }
    sti_reduction_apply(reduction, task->r, s->v, s->step_u);
    sti_work_visits(task->work, p->n_contacts);
    for (int c = 0; c < p->n_contacts; c++)
        for (int row = p->contact[c].first; row < p->contact[c].first + p->contact[c].dim; row++) {
            const double d = task->r[row] - s->y[row];
            bound += d * d / (s->length * reduction->rho[c]);
            curve += d * (s->step_u[row] - s->u[row]);
        }
    return curve <= bound * (1.0 + 1e-12);
}

static double judge(Apgd *s, const sti_Task *task, double *least)
{
    st_Residual residual;
    sti_residual_at(task->reduction, task->r, s->step_u, &residual);
    const double measure = sti_residual_measure(task->reduction, &residual);
    if (measure < *least) {
        *least = measure;
        memcpy(s->best, task->r, sizeof *s->best * (size_t)task->problem->n_r);
    }
    return measure;
}

/* The momentum after a step, and whether it still helps: gradient'(r+ - r) <= 0. */
static double momentum(const Apgd *s, const sti_Task *task, double *theta)
{
    double uphill = 0.0;
    for (int row = 0; row < task->problem->n_r; row++)
        uphill += s->gradient[row] * (task->r[row] - s->r_last[row]);
    if (uphill > 0.0) {
        *theta = 1.0;
        return 0.0;
    }
    const double square = *theta * *theta, next = 0.5 * (sqrt(square * square + 4.0 * square) - square);
    const double beta = *theta * (1.0 - *theta) / (square + next);
    *theta = next;
    return beta;
}

static void iterate(Apgd *s, sti_Task *task, double *least)
{
    const st_Problem *p = task->problem;
    const size_t bytes = sizeof(double) * (size_t)p->n_r;
    double theta = 1.0;
    memcpy(s->y, task->r, bytes);
    memcpy(s->r_last, task->r, bytes);
    while (*least > task->tolerance && task->iterations < task->max_iterations && !sti_work_ends(task->work)) {
        sti_reduction_apply(task->reduction, s->y, s->v, s->u);
        sti_work_visits(task->work, p->n_contacts);
        memcpy(s->gradient, s->u, bytes);
        for (int c = 0; c < p->n_contacts; c++)
            s->gradient[p->contact[c].first] += s->shift[c];
        for (int k = 0; k < MAX_HALVINGS && !try_step(s, task); k++)
            s->length *= 0.5;
        s->length *= task->parameter[LENGTHEN];
        task->iterations++;
        sti_task_report(task, task->r);
        const double beta = momentum(s, task, &theta);
        for (int row = 0; row < p->n_r; row++)
            s->y[row] = task->r[row] + beta * (task->r[row] - s->r_last[row]);
        memcpy(s->r_last, task->r, bytes);
        if (task->iterations % (int)task->parameter[JUDGE_EVERY] != 0 && task->iterations != task->max_iterations)
            continue;
        if (!isfinite(judge(s, task, least))) break;
        if (renew_shift(s, p, s->step_u) > 1e-3) theta = 1.0; /* another problem: the momentum is of the last */
    }
}

static st_Status solve(void *workspace, sti_Task *task, st_Error *err)
{
    Apgd *s = workspace;
    const st_Problem *p = task->problem;
    const int n = p->n_r;
    double least = INFINITY;
    task->iterations = 0;
    if (p->n_contacts == 0) return ST_OK;
    GROW(v, p->n_v);
    GROW(u, n);
    GROW(y, n);
    GROW(r_last, n);
    GROW(gradient, n);
    GROW(shift, p->n_contacts);
    GROW(step_u, n);
    GROW(best, n);
    for (int c = 0; c < p->n_contacts; c++)
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
    memcpy(s->best, task->r, sizeof *s->best * (size_t)n);
    sti_reduction_apply(task->reduction, task->r, s->v, s->step_u);
    judge(s, task, &least);
    renew_shift(s, p, s->step_u);
    s->length = 1.0;
    iterate(s, task, &least);
    memcpy(task->r, s->best, sizeof *s->best * (size_t)n);
    return ST_OK;
}

/* Minimising needs a symmetric A; box is no fixed set to project on. */
static bool accepts(st_Law law, int dim, bool symmetric)
{
    return symmetric && sti_nsgs.accepts(law, dim, symmetric) && sti_law_kinds[law]->fixed;
}

static st_Status create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Apgd *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver apgd");
    s->allocator = *allocator;
    *workspace = s;
    return ST_OK;
}

static void destroy(void *workspace)
{
    Apgd *s = workspace;
    if (s == NULL) return;
    RELEASE(v);
    RELEASE(u);
    RELEASE(y);
    RELEASE(r_last);
    RELEASE(gradient);
    RELEASE(shift);
    RELEASE(step_u);
    RELEASE(best);
    const st_Allocator allocator = s->allocator;
    sti_free(&allocator, s, 1, sizeof *s);
}

const sti_SolverKind sti_apgd = {
    .name = "apgd",
    .columns = true,
    .parameters = apgd_parameters,
    .help = "accelerated projected gradient, matrix-free; large piles to moderate tolerances",
    .accepts = accepts,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
