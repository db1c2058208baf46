/* admm.c -- alternating directions: one factorisation, many cheap iterations.
 *
 * r is split into r = x with x in the laws' sets (z), and y the multiplier of r = z:
 *
 *     (W + beta E) r = -(b + s) + beta E (z - y)         E = diag(1/rho_i); W + beta E factorised once
 *     z = P( r + y ),   y <- y + r - z                   contact by contact; P in the metric of E is the plain one
 *
 * (Boyd et al. 2011; for friction Acary, Bremond & Huber 2018.) s = mu |u_T| e_n is the exact law's shift, kept on
 * open contacts, too (docs/methods.md 12). Its u_T is that of the multiplier, u^ = -beta E y, and not of W z + b:
 * both are the same in the end, but the second one feeds every rounding of the cone's border back through W, and
 * a third of the problems then never settle. Over-relaxation does the same harm, so there is none. W only
 * needs a positive semi-definite symmetric part: the factorisation is LU.
 *
 * The iteration maps z + y, of which z is the projection; Anderson's acceleration (anderson.h) acts on that vector. Ten
 * boxes whose masses grow to 1e6 take 8,000 iterations to 1e-8 with it and 130,000 without.
 *
 * beta balances the two residuals (He, Yang & Wang 2000): where |r - z| is ten times the change of z, beta is
 * raised, and the other way round; each change costs a factorisation, so they become rarer.
 *
 * Attempt 1 continues where the last turn on the same problem ended: z, y and beta are kept between turns, so that
 * `auto` can try newton in between.
 */
#include "problem/law.h"
#include "solve/anderson.h"
#include "solve/factored.h"

static const double tiny_pivot = 1e-300;
enum { PENALTY, JUDGE_EVERY, ACCELERATE };
static const st_SolverParameter admm_parameters[] = {
    {"penalty", "first value of the penalty beta, which adapts", 0.3, 1e-12, 1e12},
    {"judge_every", "iterations between two computations of the residual and adaptations of beta", 5, 1, 1e9},
    {"accelerate", "1: Anderson acceleration of the iteration; 0: none", 1, 0, 1},
    {0},
};

/* The workspace: where the last turn ended, and the acceleration. */
typedef struct Kept {
    sti_Anderson anderson;
    STI_ARRAY(double, z);
    STI_ARRAY(double, y);
    double beta;
    int n, iterations, next_change; /* n = 0: nothing is kept                                          */
} Kept;

typedef struct Admm {
    sti_Factored *base;
    const sti_Delassus *W;
    double *z, *z_last, *y;
    double *b;              /* u of r = 0                                                                  */
    double *weight;         /* by row: 1/rho                                                               */
    double *x;              /* W + beta E in W's pattern, unless by bodies                                 */
    double *side, *u;       /* by bodies: -r before the solve, and the change of u                         */
    double *before, *point; /* z + y before and after an iteration                                    */
    double beta;
    bool starts;  /* from an r that is not 0                                                           */
    bool factors; /* by bodies: W + beta E is factorised at the next solve                              */
} Admm;

/* W + beta E with the present beta. Contacts between free bodies: by the bodies' velocities, and W is not formed. */
static st_Status admm_factorise(Admm *s, const st_Problem *p, st_Error *err)
{
    int replaced;
    s->factors = s->base->by_bodies;
    for (int c = 0; c < p->n_contacts && s->factors; c++) {
        const int dim = p->contact[c].dim;
        double A[ST_MAX_DIM * ST_MAX_DIM] = {0}, B[ST_MAX_DIM * ST_MAX_DIM] = {0}, soft[ST_MAX_DIM] = {0};
        for (int d = 0; d < dim; d++) {
            B[d * (dim + 1)] = 1.0;
            soft[d] = s->beta * s->weight[p->contact[c].first + d];
        }
        sti_by_bodies_set(&s->base->bodies, c, A, B, soft, soft);
    }
    if (s->factors) return ST_OK;
    memcpy(s->x, s->W->x, (size_t)s->W->x_size * sizeof *s->x);
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            s->x[s->W->start[s->W->diagonal[c]] + (int64_t)d * (p->contact[c].dim + 1)] +=
                s->beta * s->weight[p->contact[c].first + d];
    return sti_sparse_lu_factor(s->base->lu, &s->W->rows, s->x, tiny_pivot, &replaced, err);
}

/* Replaces r by inv(W + beta E) r. */
static st_Status solve_penalised(Admm *s, const st_Problem *p, double *r, st_Error *err)
{
    if (!s->base->by_bodies) {
        sti_sparse_lu_solve(s->base->lu, r);
        return ST_OK;
    }
    for (int row = 0; row < p->n_r; row++)
        s->side[row] = -r[row];
    for (int c = 0; c < p->n_contacts; c++)
        sti_by_bodies_set_side(&s->base->bodies, c, s->side + p->contact[c].first);
    const bool factors = s->factors;
    s->factors = false;
    return sti_by_bodies_step(&s->base->bodies, factors, r, s->u, err);
}

static st_Status admm_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Admm admm = {.base = task->factored, .W = &task->factored->W}, *s = &admm;
    Kept *kept = workspace;
    sti_Anderson *anderson = &kept->anderson;
    const st_Problem *p = task->problem;
    const int n = p->n_r;
    const bool continues = task->attempt > 0 && kept->n == n;
    const int before = continues ? kept->iterations : 0; /* of the turns before */
    const size_t bytes = sizeof(double) * (size_t)n;
    bool formed = false;
    task->iterations = 0;
    if (sti_task_is_answered(task) || p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_factored_begin_bodies(s->base, task, &formed, err));
    if (!formed) return ST_OK;
    const bool by_bodies = s->base->by_bodies;
    const sti_Room rooms[] = {STI_ROOM(s->z, n),      STI_ROOM(s->z_last, n),
                              STI_ROOM(s->y, n),      STI_ROOM(s->b, n),
                              STI_ROOM(s->weight, n), STI_ROOM(s->before, n),
                              STI_ROOM(s->point, n),  STI_ROOM(s->side, n),
                              STI_ROOM(s->u, n),      STI_ROOM(s->x, by_bodies ? 0 : s->W->x_size)};
    STI_TRY(sti_factored_room(s->base, task, rooms, sizeof rooms / sizeof rooms[0], err));
    for (int c = 0; c < p->n_contacts; c++) {
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
        for (int d = 0; d < p->contact[c].dim; d++)
            s->weight[p->contact[c].first + d] =
                1.0 / (by_bodies ? sti_graph_rho(task->reduction->graph, c) : task->reduction->rho[c]);
    }
    memset(s->z, 0, bytes);
    sti_factored_judge(s->base, task, s->z);
    memcpy(s->b, s->base->u, bytes);
    STI_TRY(STI_GROW(&anderson->allocator, kept->z, kept->z_size, n, err));
    STI_TRY(STI_GROW(&anderson->allocator, kept->y, kept->y_size, n, err));
    kept->n = 0;
    memcpy(s->z, continues ? kept->z : task->r, bytes);
    memset(s->y, 0, bytes);
    for (int j = 0; j < n && !s->starts && !continues; j++)
        s->starts = s->z[j] != 0.0;
    const double *parameter = task->parameters[STI_SOLVER_admm];
    const bool accelerated = parameter[ACCELERATE] >= 0.5;
    double apart = 0.0, moved = 0.0;
    int next_change = continues ? kept->next_change : 10;
    STI_TRY(sti_anderson_begin(anderson, p->n_r, 0, STI_ANDERSON_WINDOW, s->weight, err));
    sti_factored_judge(s->base, task, s->z); /* z is the result */
    s->beta = continues ? kept->beta : parameter[PENALTY];
    if (continues) memcpy(s->y, kept->y, bytes);
    for (int c = 0; c < p->n_contacts && s->starts; c++) { /* the multiplier of a solution: u^ = -beta E y */
        const int begin = p->contact[c].first;
        double shifted[ST_MAX_DIM] = {0};
        sti_law_shift(&p->contact[c], s->base->u + begin, shifted);
        for (int d = 0; d < p->contact[c].dim; d++)
            s->y[begin + d] = -shifted[d] / (s->beta * s->weight[begin + d]);
    }
    STI_TRY(admm_factorise(s, p, err));
    while (s->base->least > task->tolerance && task->iterations < task->max_iterations && !sti_work_ends(task->work)) {
        for (int row = 0; row < p->n_r; row++)
            s->before[row] = s->z[row] + s->y[row];

        /* One iteration; |r - z| and the change of z, in the metric of E. */
        double *r = task->r, first = 0.0, second = 0.0;
        memcpy(s->z_last, s->z, sizeof *s->z * (size_t)p->n_r);
        for (int c = 0; c < p->n_contacts; c++) {
            const int begin = p->contact[c].first, dim = p->contact[c].dim;
            double u[ST_MAX_DIM] = {0}, shifted[ST_MAX_DIM];
            for (int d = 0; d < dim; d++)
                u[d] = -s->beta * s->weight[begin + d] * s->y[begin + d];
            sti_law_shift(&p->contact[c], u, shifted);
            for (int d = 0; d < dim; d++)
                r[begin + d] = u[d] - s->b[begin + d] - (d == 0 ? shifted[0] - u[0] : 0.0) +
                               s->beta * s->weight[begin + d] * s->z[begin + d];
        }
        STI_TRY(solve_penalised(s, p, r, err));
        for (int c = 0; c < p->n_contacts; c++) {
            const int begin = p->contact[c].first, dim = p->contact[c].dim;
            double x[ST_MAX_DIM] = {0};
            for (int d = 0; d < dim; d++)
                x[d] = r[begin + d] + s->y[begin + d];
            sti_law_project(&p->contact[c], x);
            for (int d = 0; d < dim; d++) {
                const double weight = s->weight[begin + d], gap = r[begin + d] - x[d],
                             step = x[d] - s->z_last[begin + d];
                s->y[begin + d] += gap;
                s->z[begin + d] = x[d];
                first += weight * gap * gap;
                second += weight * step * step;
            }
        }
        apart = sqrt(first);
        moved = sqrt(second);
        sti_work_visits(task->work, p->n_contacts);
        task->iterations++;
        sti_task_report(task, s->z);
        const bool looks = task->iterations % (int)parameter[JUDGE_EVERY] == 0;
        if (looks || task->iterations == task->max_iterations)
            if (!isfinite(sti_factored_judge(s->base, task, s->z))) break;
        if (accelerated) {
            /* The iteration maps z + y, of which z is the projection. */
            for (int row = 0; row < p->n_r; row++)
                s->point[row] = s->z[row] + s->y[row];
            sti_anderson_next(anderson, s->before, s->point, NULL);
            memcpy(s->z, s->point, sizeof *s->z * (size_t)p->n_r);
            for (int c = 0; c < p->n_contacts; c++)
                sti_law_project(&p->contact[c], s->z + p->contact[c].first);
            for (int row = 0; row < p->n_r; row++)
                s->y[row] = s->point[row] - s->z[row];
        }
        const int done = before + task->iterations;
        if (!looks || done < next_change || (apart <= 5.0 * moved && moved <= 5.0 * apart)) continue;
        const double factor = apart > moved ? 4.0 : 0.25;
        s->beta *= factor;
        for (int row = 0; row < p->n_r; row++)
            s->y[row] /= factor; /* y is the multiplier divided by beta */
        next_change = done + done / 2 + 10;
        STI_TRY(admm_factorise(s, p, err));
        STI_TRY(sti_anderson_begin(anderson, p->n_r, 0, STI_ANDERSON_WINDOW, s->weight, err)); /* another map */
    }
    memcpy(kept->z, s->z, bytes);
    memcpy(kept->y, s->y, bytes);
    kept->beta = s->beta;
    kept->iterations = before + task->iterations;
    kept->next_change = next_change;
    kept->n = n;
    memcpy(task->r, s->base->best, bytes);
    return ST_OK;
}

static st_Status admm_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Kept *kept = sti_alloc(allocator, 1, sizeof *kept);
    if (kept == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver admm");
    kept->anderson.allocator = *allocator;
    *workspace = kept;
    return ST_OK;
}

static void admm_destroy(void *workspace)
{
    Kept *kept = workspace;
    if (kept == NULL) return;
    const st_Allocator allocator = kept->anderson.allocator;
    sti_anderson_release(&kept->anderson);
    STI_RELEASE(&allocator, kept->z, kept->z_size);
    STI_RELEASE(&allocator, kept->y, kept->y_size);
    sti_free(&allocator, kept, 1, sizeof *kept);
}

const sti_SolverKind sti_admm = {
    .name = "admm",
    .parameters = admm_parameters,
    .help = "alternating directions (ADMM) with one factorisation and an adaptive penalty; good for towers and walls "
            "that stick",
    .property = STI_LAW_FIXED,
    .create = admm_create,
    .destroy = admm_destroy,
    .solve = admm_solve,
};
