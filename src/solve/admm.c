/* admm.c -- alternating directions: one factorisation, many cheap iterations.
 *
 * r is split into r = x with x in the laws' sets (z), and y the multiplier of r = z:
 *
 *     (W + beta E) r = -(b + s) + beta E (z - y)         E = diag(1/rho_i); W + beta E factorised once
 *     z = P( r + y ),   y <- y + r - z                   contact by contact; P in the metric of E is the plain one
 *
 * (Boyd et al. 2011; for friction Acary, Bremond & Huber 2018.) s = mu |u_T| e_n is the exact law's shift, kept on
 * open contacts, too (METHODS section 4). Its u_T is that of the multiplier, u^ = -beta E y, and not of W z + b:
 * both are the same in the end, but the second one feeds every rounding of the cone's border back through W, and
 * a third of the problems then never settle. Over-relaxation does the same harm, so there is none. W only
 * needs a positive semi-definite symmetric part: the factorisation is LU.
 *
 * beta balances the two residuals (He, Yang & Wang 2000): where |r - z| is ten times the change of z, beta is
 * raised, and the other way round; each change costs a factorisation, so they become rarer.
 */
#include "math/sparse_lu.h"
#include "solve/delassus.h"
#include "solve/law.h"
#include "solve/residual.h"
#include "solve/solver.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

static const int64_t max_blocks = 1000000;
static const double beta_start = 0.3, tiny_pivot = 1e-300;
/* Residuals are judged, and beta is looked at, every so many iterations. */
enum { JUDGE_EVERY = 5 };

typedef struct Admm {
    st_Allocator allocator;
    sti_Delassus W;
    sti_SparseLu *lu;
    STI_ARRAY(double, z);
    STI_ARRAY(double, z_last);
    STI_ARRAY(double, y);
    STI_ARRAY(double, u);
    STI_ARRAY(double, weight); /* by row: 1/rho                                                    */
    STI_ARRAY(double, best);
    STI_ARRAY(double, x); /* W + beta E in W's pattern                                             */
    double beta;
} Admm;

static st_Status factorise(Admm *s, const st_Problem *p, st_Error *err)
{
    int replaced;
    memcpy(s->x, s->W.x, (size_t)s->W.x_size * sizeof *s->x);
    for (int c = 0; c < p->n_contacts; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            s->x[s->W.start[s->W.diagonal[c]] + (int64_t)d * (p->contact[c].dim + 1)] +=
                s->beta * s->weight[p->contact[c].first + d];
    return sti_sparse_lu_factor(s->lu, &s->W.rows, s->x, tiny_pivot, &replaced, err);
}

/* One iteration; |r - z| and the change of z, in the metric of E. */
static void iterate(Admm *s, sti_Task *task, double *apart, double *moved)
{
    const st_Problem *p = task->problem;
    double *r = task->r, first = 0.0, second = 0.0;
    memcpy(s->z_last, s->z, sizeof *s->z * (size_t)p->n_r);
    for (int c = 0; c < p->n_contacts; c++) {
        const int begin = p->contact[c].first, dim = p->contact[c].dim;
        double u[ST_MAX_DIM] = {0}, shifted[ST_MAX_DIM];
        for (int d = 0; d < dim; d++)
            u[d] = -s->beta * s->weight[begin + d] * s->y[begin + d];
        sti_law_shift(&p->contact[c], u, shifted);
        for (int d = 0; d < dim; d++)
            r[begin + d] = u[d] - s->W.b[begin + d] - (d == 0 ? shifted[0] - u[0] : 0.0) +
                           s->beta * s->weight[begin + d] * s->z[begin + d];
    }
    sti_sparse_lu_solve(s->lu, r);
    for (int c = 0; c < p->n_contacts; c++) {
        const int begin = p->contact[c].first, dim = p->contact[c].dim;
        double x[ST_MAX_DIM] = {0};
        for (int d = 0; d < dim; d++)
            x[d] = r[begin + d] + s->y[begin + d];
        sti_law_project(&p->contact[c], x);
        for (int d = 0; d < dim; d++) {
            const double weight = s->weight[begin + d], gap = r[begin + d] - x[d], step = x[d] - s->z_last[begin + d];
            s->y[begin + d] += gap;
            s->z[begin + d] = x[d];
            first += weight * gap * gap;
            second += weight * step * step;
        }
    }
    *apart = sqrt(first);
    *moved = sqrt(second);
}

/* The residual of z, which is what is returned; the best is kept. */
static double judge(Admm *s, const sti_Task *task, double *least)
{
    st_Residual residual;
    sti_delassus_apply(&s->W, s->z, s->u);
    sti_residual_at(task->reduction, s->z, s->u, &residual);
    const double measure = sti_residual_measure(task->reduction, &residual);
    if (measure < *least) {
        *least = measure;
        memcpy(s->best, s->z, sizeof *s->z * (size_t)task->problem->n_r);
    }
    return measure;
}

static st_Status run(Admm *s, sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    double least = INFINITY, apart = 0.0, moved = 0.0;
    int next_change = 10;
    judge(s, task, &least);
    s->beta = beta_start;
    STI_TRY(factorise(s, p, err));
    while (least > task->tolerance && task->iterations < task->max_iterations && !sti_cancelled(task)) {
        iterate(s, task, &apart, &moved);
        task->iterations++;
        if (task->iterations % JUDGE_EVERY != 0 && task->iterations != task->max_iterations) continue;
        if (!isfinite(judge(s, task, &least))) break;
        if (task->iterations < next_change || (apart <= 5.0 * moved && moved <= 5.0 * apart)) continue;
        const double factor = apart > moved ? 4.0 : 0.25;
        s->beta *= factor;
        for (int row = 0; row < p->n_r; row++)
            s->y[row] /= factor; /* y is the multiplier divided by beta */
        next_change = task->iterations + task->iterations / 2 + 10;
        STI_TRY(factorise(s, p, err));
    }
    return ST_OK;
}

static st_Status solve(void *workspace, sti_Task *task, st_Error *err)
{
    Admm *s = workspace;
    const st_Problem *p = task->problem;
    const int n = p->n_r;
    const size_t bytes = sizeof(double) * (size_t)n;
    bool formed = false;
    task->iterations = 0;
    if (p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_delassus_build(&s->W, task->reduction, max_blocks, &formed, err));
    if (!formed) return ST_OK;
    GROW(z, n);
    GROW(z_last, n);
    GROW(y, n);
    GROW(u, n);
    GROW(weight, n);
    GROW(best, n);
    GROW(x, s->W.x_size);
    for (int c = 0; c < p->n_contacts; c++) {
        sti_law_project(&p->contact[c], task->r + p->contact[c].first);
        for (int d = 0; d < p->contact[c].dim; d++)
            s->weight[p->contact[c].first + d] = 1.0 / task->reduction->rho[c];
    }
    memcpy(s->z, task->r, bytes);
    memcpy(s->best, task->r, bytes);
    memset(s->y, 0, bytes);
    STI_TRY(run(s, task, err));
    memcpy(task->r, s->best, bytes);
    return ST_OK;
}

/* Box is no fixed set to project on; all others are. */
static bool accepts(st_Law law, int dim, bool symmetric)
{
    return law != ST_LAW_BOX && sti_nsgs.accepts(law, dim, symmetric);
}

static void destroy(void *workspace)
{
    Admm *s = workspace;
    if (s == NULL) return;
    sti_sparse_lu_destroy(s->lu);
    sti_delassus_release(&s->W);
    RELEASE(z);
    RELEASE(z_last);
    RELEASE(y);
    RELEASE(u);
    RELEASE(weight);
    RELEASE(best);
    RELEASE(x);
    const st_Allocator allocator = s->allocator;
    sti_free(&allocator, s, 1, sizeof *s);
}

static st_Status create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Admm *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver admm");
    s->allocator = s->W.allocator = *allocator;
    const st_Status status = sti_sparse_lu_create(allocator, &s->lu, err);
    if (status != ST_OK) {
        destroy(s);
        return status;
    }
    *workspace = s;
    return ST_OK;
}

const sti_SolverKind sti_admm = {
    .name = "admm",
    .columns = true,
    .help = "alternating directions: one factorisation reused, adaptive penalty; towers and walls that stick",
    .accepts = accepts,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
