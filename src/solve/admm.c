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

typedef struct Admm {
    sti_Factored *base;
    const sti_Delassus *W;
    double *z, *z_last, *y;
    double *weight;         /* by row: 1/rho                                                               */
    double *x;              /* W + beta E in W's pattern                                                   */
    double *before, *point; /* z + y before and after an iteration                                    */
    double beta;
    bool starts; /* from an r that is not 0                                                           */
} Admm;

static st_Status admm_factorise(Admm *s, const st_Problem *p, st_Error *err)
{
    int replaced;
    memcpy(s->x, s->W->x, (size_t)s->W->x_size * sizeof *s->x);
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            s->x[s->W->start[s->W->diagonal[c]] + (int64_t)d * (p->contact[c].dim + 1)] +=
                s->beta * s->weight[p->contact[c].first + d];
    return sti_sparse_lu_factor(s->base->lu, &s->W->rows, s->x, tiny_pivot, &replaced, err);
}

static st_Status admm_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Admm admm = {.base = task->factored, .W = &task->factored->W}, *s = &admm;
    const st_Problem *p = task->problem;
    const int n = p->n_r;
    const size_t bytes = sizeof(double) * (size_t)n;
    bool formed = false;
    task->iterations = 0;
    if (sti_task_is_answered(task) || p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_factored_begin(s->base, task, &formed, err));
    if (!formed) return ST_OK;
    const sti_Room rooms[] = {STI_ROOM(s->z, n),           STI_ROOM(s->z_last, n), STI_ROOM(s->y, n),
                              STI_ROOM(s->weight, n),      STI_ROOM(s->before, n), STI_ROOM(s->point, n),
                              STI_ROOM(s->x, s->W->x_size)};
    STI_TRY(sti_factored_room(s->base, task, rooms, sizeof rooms / sizeof rooms[0], err));
    for (int c = 0; c < p->n_contacts; c++) {
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
        for (int d = 0; d < p->contact[c].dim; d++)
            s->weight[p->contact[c].first + d] = 1.0 / task->reduction->rho[c];
    }
    memcpy(s->z, task->r, bytes);
    memset(s->y, 0, bytes);
    for (int j = 0; j < n && !s->starts; j++)
        s->starts = s->z[j] != 0.0;
    const double *parameter = task->parameters[STI_SOLVER_admm];
    const bool accelerated = parameter[ACCELERATE] >= 0.5;
    double apart = 0.0, moved = 0.0;
    int next_change = 10;
    STI_TRY(sti_anderson_begin(workspace, p->n_r, 0, STI_ANDERSON_WINDOW, s->weight, err));
    sti_factored_judge(s->base, task, s->z); /* z is the result */
    s->beta = parameter[PENALTY];
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
                r[begin + d] = u[d] - s->W->b[begin + d] - (d == 0 ? shifted[0] - u[0] : 0.0) +
                               s->beta * s->weight[begin + d] * s->z[begin + d];
        }
        sti_sparse_lu_solve(s->base->lu, r);
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
            sti_anderson_next(workspace, s->before, s->point, NULL);
            memcpy(s->z, s->point, sizeof *s->z * (size_t)p->n_r);
            for (int c = 0; c < p->n_contacts; c++)
                sti_law_project(&p->contact[c], s->z + p->contact[c].first);
            for (int row = 0; row < p->n_r; row++)
                s->y[row] = s->point[row] - s->z[row];
        }
        if (!looks || task->iterations < next_change || (apart <= 5.0 * moved && moved <= 5.0 * apart)) continue;
        const double factor = apart > moved ? 4.0 : 0.25;
        s->beta *= factor;
        for (int row = 0; row < p->n_r; row++)
            s->y[row] /= factor; /* y is the multiplier divided by beta */
        next_change = task->iterations + task->iterations / 2 + 10;
        STI_TRY(admm_factorise(s, p, err));
        STI_TRY(sti_anderson_begin(workspace, p->n_r, 0, STI_ANDERSON_WINDOW, s->weight, err)); /* another map */
    }
    memcpy(task->r, s->base->best, bytes);
    return ST_OK;
}

static st_Status admm_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    sti_Anderson *anderson = sti_alloc(allocator, 1, sizeof *anderson);
    if (anderson == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver admm");
    anderson->allocator = *allocator;
    *workspace = anderson;
    return ST_OK;
}

static void admm_destroy(void *workspace)
{
    sti_Anderson *anderson = workspace;
    if (anderson == NULL) return;
    const st_Allocator allocator = anderson->allocator;
    sti_anderson_release(anderson);
    sti_free(&allocator, anderson, 1, sizeof *anderson);
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
