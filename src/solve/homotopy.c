/* homotopy.c -- the path of rounded laws, followed to their corners.
 *
 * smoothed_laws.h rounds the laws by nu > 0. With nu go the equations themselves,
 *
 *     F( r, u; nu ) = 0,      u = W r + b + (nu/nu_0)^p m                                          (1)
 *
 * m chosen so that a given r_0, u_0 in the middle of the laws' sets solves (1) at nu_0. Wherever dF/dr is regular the
 * solutions of (1) form one smooth curve, which starts at r_0 and where it reaches nu = 0 ends in a solution of the
 * problem; almost every r_0 will do (Chow, Mallet-Paret & Yorke 1978; for W definite the curve cannot run away,
 * and then it gets there). Friction is not monotone, though, and the curve may turn back to larger nu before it goes
 * on: methods that only ever lower nu, or lower a merit, are stuck at such folds, and it is there that newton and
 * ipm lose their problems. So the curve is followed by its arc length in (r, tau = log nu) (Keller 1977; Allgower &
 * Georg 1990): a step h along the tangent, and Newton's corrections across it,
 *
 *     [ dF/dr  dF/dtau ] [ d     ]     [ F ]
 *     [ t_r'   t_tau   ] [ d_tau ] = - [ 0 ],      dF/dr = A + B W factorised as one sparse LU.    (2)
 *
 * The corners are nu wide: a point counts as on the curve when a correction moves x = r - rho u by less than half of
 * that, and a step is halved when corrections do not shrink (Deuflhard's test: it does not depend on how well
 * (2) is conditioned, as |F| would). The curve ends inside the set of solutions, and at nu^2 from it where no contact
 * is between two states. Where W is singular and friction can jam it may run to infinity: another start, then.
 */
#include "problem/law.h"
#include "problem/smoothed_laws.h"
#include "reduce/alart_curnier.h"
#include "solve/factored.h"

static const double tiny_pivot = 1e-300;
/* A step of 1 in log nu counts as this share of |r| in the arc length. */
static const double tau_weight = 0.3;
static const double least_step = 1e-7;
enum { FIRST_STEP };
static const st_SolverParameter homotopy_parameters[] = {
    {"first_step", "length of the first step along the curve", 0.3, 1e-6, 10},
    {0},
};
/* Of nu: how far a correction may still move x. Of the one before: how far it must have shrunk. */
static const double on_curve = 0.5, shrinks = 0.7;
enum { CORRECTIONS = 8, BLOCK = ST_MAX_DIM * ST_MAX_DIM };
/* |r| has grown by so much: it has run away. nu has fallen by so much: there is nothing left to follow. */
static const double runaway = 1e8, vanished = 1e-16;

/* Where to start: nu_0 against the problem's own size, r_n against sqrt(rho) nu_0, and p. */
typedef struct Start {
    double nu, r, power;
} Start;
static const Start starts[] = {{1.0, 1.0, 2.0}, {0.1, 1.0, 2.0},  {1.0, 0.3, 1.5},
                               {1.0, 1.0, 1.0}, {0.01, 1.0, 2.0}, {0.1, 3.0, 1.5}};
enum { N_STARTS = sizeof starts / sizeof starts[0] };
/* How long a curve is followed: where it is not at its end by the first, another start mostly is; and where none is,
 * the curves are long (some thousand steps where W has a quarter of the rank that it needs).      */
enum { FEW_STEPS = 300, MANY_STEPS = 1500 };

typedef struct Homotopy {
    sti_Factored *base;
    double *rho;                /* by row                                                           */
    double *u, *F, *N;          /* of (1), and dF/dnu                                              */
    double *miss;               /* m                                                                */
    double *A, *B;              /* by contact, BLOCK numbers each                                     */
    double *x;                  /* dF/dr in W's pattern                                             */
    double *step, *by_tau;      /* -inv(dF/dr) F and -inv(dF/dr) dF/dtau                           */
    double *tangent, *old, *at; /* t_r; the last point on the curve; work                           */
    double tau, tau_start, power;
    double tangent_tau;
    double size; /* |r| at the last point: the scale of r */
} Homotopy;

/* ------------------------------------------------------------------ the equations */

static double share_of_miss(const Homotopy *s)
{
    return exp(s->power * (s->tau - s->tau_start));
}

/* u, F and their derivatives at r. */
static void evaluate_rounded(Homotopy *s, const sti_Task *task)
{
    const st_Problem *p = task->problem;
    const double nu = exp(s->tau), share = share_of_miss(s);
    sti_delassus_apply(&s->base->W, task->r, s->u);
    for (int j = 0; j < p->n_r; j++)
        s->u[j] += share * s->miss[j];
    for (int c = 0; c < p->n_contacts; c++) {
        const int f = p->contact[c].first;
        sti_smooth(&p->contact[c], task->r + f, s->u + f, s->rho + f, nu, s->F + f, s->A + BLOCK * (int64_t)c,
                   s->B + BLOCK * (int64_t)c, s->N + f);
    }
}

/* step and by_tau at the point that was evaluated last. */
static st_Status linearise(Homotopy *s, sti_Task *task, st_Error *err)
{
    const st_Problem *p = task->problem;
    const double nu = exp(s->tau), share = s->power * share_of_miss(s);

    /* dF/dr = A + B W. */
    const sti_Delassus *W = &s->base->W;
    int replaced = 0;
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim;
        const double *A = s->A + BLOCK * (int64_t)c, *B = s->B + BLOCK * (int64_t)c;
        for (int64_t e = W->p[c]; e < W->p[c + 1]; e++)
            sti_slope_multiply(B, W->x + W->start[e], dim, p->contact[W->j[e]].dim, s->x + W->start[e]);
        double *diagonal = s->x + W->start[W->diagonal[c]];
        for (int k = 0; k < dim * dim; k++)
            diagonal[k] += A[k];
    }
    STI_TRY(sti_sparse_lu_factor(s->base->lu, &W->rows, s->x, tiny_pivot, &replaced, err));
    task->iterations++;
    for (int c = 0; c < p->n_contacts; c++) {
        const int dim = p->contact[c].dim, f = p->contact[c].first;
        const double *B = s->B + BLOCK * (int64_t)c;
        for (int i = 0; i < dim; i++) {
            s->step[f + i] = -s->F[f + i];
            s->by_tau[f + i] = -nu * s->N[f + i];
            for (int k = 0; k < dim; k++)
                s->by_tau[f + i] -= B[i * dim + k] * share * s->miss[f + k];
        }
    }
    sti_sparse_lu_solve(s->base->lu, s->step);
    sti_sparse_lu_solve(s->base->lu, s->by_tau);
    return ST_OK;
}

/* ------------------------------------------------------------------ along the curve */

/* Of two changes of (r, tau). */
static double product_of(const Homotopy *s, int n, const double *a, double a_tau, const double *b, double b_tau)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += a[j] * b[j] / s->rho[j];
    return sum / (s->size * s->size) + tau_weight * tau_weight * a_tau * b_tau;
}

static double length_of(const Homotopy *s, int n, const double *r)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += r[j] * r[j] / s->rho[j];
    return sqrt(sum);
}

/* A step h along the tangent and back to the curve; *corrections: the number of corrections, 0: the curve was not
 * found. */
static st_Status advance(Homotopy *s, sti_Task *task, double tau, double h, int *corrections, st_Error *err)
{
    const int n = task->problem->n_r;
    double before = INFINITY, moved = 0.0;
    for (int j = 0; j < n; j++)
        task->r[j] = s->old[j] + h * s->tangent[j];
    s->tau = tau + h * s->tangent_tau;
    evaluate_rounded(s, task);
    for (int k = 1; k <= CORRECTIONS; k++) {
        /* One correction (2). Returns how far it moved x, in units of nu. */
        STI_TRY(linearise(s, task, err));
        const double across = product_of(s, n, s->tangent, s->tangent_tau, s->step, 0.0);
        const double along = product_of(s, n, s->tangent, s->tangent_tau, s->by_tau, 1.0);
        const double d_tau = fmax(-1.0, fmin(1.0, -across / along));
        for (int j = 0; j < n; j++) {
            const double d = s->step[j] + d_tau * s->by_tau[j];
            task->r[j] += d;
            s->at[j] = d + s->rho[j] * s->u[j];
        }
        s->tau += d_tau;
        evaluate_rounded(s, task);
        double most = 0.0;
        for (int j = 0; j < n; j++)
            most = fmax(most, fabs(s->at[j] - s->rho[j] * s->u[j]) / sqrt(s->rho[j]));
        moved = fmax(most / exp(s->tau), tau_weight * fabs(d_tau));
        *corrections = k;
        if (moved <= on_curve) return ST_OK;
        if (!(moved < shrinks * before)) break;
        before = moved;
    }
    *corrections = 0;
    return ST_OK;
}

/* From a point on the curve, with by_tau there, to its end or to where it is lost. */
static st_Status follow_curve(Homotopy *s, sti_Task *task, int most_iterations, st_Error *err)
{
    const int n = task->problem->n_r;
    const size_t bytes = sizeof(double) * (size_t)n;
    const double size_first = length_of(s, n, task->r);
    double h = task->parameters[STI_SOLVER_homotopy][FIRST_STEP];
    for (bool is_first = true; h > least_step && task->iterations < most_iterations && !sti_work_ends(task->work);) {
        const double tau = s->tau;
        int corrections = 0;
        s->size = length_of(s, n, task->r);
        if (!(s->size < runaway * size_first) || tau < s->tau_start + log(vanished)) return ST_OK;

        /* The unit tangent from by_tau, onwards: the first time to smaller nu, then not back. */
        const double length = sqrt(product_of(s, n, s->by_tau, 1.0, s->by_tau, 1.0));
        const bool back = is_first || product_of(s, n, s->by_tau, 1.0, s->tangent, s->tangent_tau) < 0.0;
        const double scale = (back ? -1.0 : 1.0) / length;
        for (int j = 0; j < n; j++)
            s->tangent[j] = scale * s->by_tau[j];
        s->tangent_tau = scale;
        is_first = false;
        memcpy(s->old, task->r, bytes);
        while (h > least_step && task->iterations < most_iterations && !sti_work_ends(task->work)) {
            STI_TRY(advance(s, task, tau, h, &corrections, err));
            if (corrections > 0) break;
            h *= 0.4;
        }
        if (corrections == 0) return ST_OK;
        sti_task_report_residual(task, sti_factored_judge_projected(s->base, task, task->r, s->at));
        if (s->base->least <= task->tolerance) return ST_OK;
        h *= corrections <= 2 ? 2.0 : corrections <= 4 ? 1.0 : 0.7;
    }
    return ST_OK;
}

static st_Status homotopy_solve(void *workspace, sti_Task *task, st_Error *err)
{
    (void)workspace;
    Homotopy homotopy = {.base = task->factored}, *s = &homotopy;
    const st_Problem *p = task->problem;
    const int64_t n = p->n_r, blocks = BLOCK * (int64_t)p->n_contacts;
    bool formed = false;
    task->iterations = 0;
    if (sti_task_is_answered(task) || p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_factored_begin(s->base, task, &formed, err));
    if (!formed) return ST_OK;
    const sti_Room rooms[] = {STI_ROOM(s->rho, n),
                              STI_ROOM(s->u, n),
                              STI_ROOM(s->F, n),
                              STI_ROOM(s->N, n),
                              STI_ROOM(s->miss, n),
                              STI_ROOM(s->step, n),
                              STI_ROOM(s->by_tau, n),
                              STI_ROOM(s->tangent, n),
                              STI_ROOM(s->old, n),
                              STI_ROOM(s->at, n),
                              STI_ROOM(s->A, blocks),
                              STI_ROOM(s->B, blocks),
                              STI_ROOM(s->x, s->base->W.x_size)};
    STI_TRY(sti_factored_room(s->base, task, rooms, sizeof rooms / sizeof rooms[0], err));
    sti_slope_rho(task->reduction, s->rho);
    sti_factored_judge_projected(s->base, task, task->r, s->at);
    const int steps = task->attempt < N_STARTS ? FEW_STEPS : MANY_STEPS;
    for (int k = task->attempt; k < task->attempt + N_STARTS && s->base->least > task->tolerance; k++) {
        const int left = task->max_iterations - task->iterations;
        if (left <= 0 || sti_work_ends(task->work)) break;
        const int most = task->iterations + (left < steps ? left : steps);
        const Start *start = &starts[k % N_STARTS];
        double size = 0.0;
        for (int j = 0; j < p->n_r; j++)
            size += s->rho[j] * s->base->W.b[j] * s->base->W.b[j];
        const double nu = start->nu * (size > 0.0 ? sqrt(size / p->n_r) : 1.0);
        s->tau = s->tau_start = log(nu);
        s->power = start->power;
        for (int c = 0; c < p->n_contacts; c++) {
            const int f = p->contact[c].first;
            /* r_0 and u_0 of one contact: where F = 0 at nu. */
            const double *rho = s->rho + f;
            double *r = task->r + f;
            double *u = s->miss + f;
            const double apart = start->r * nu * sqrt(rho[0]), speed = nu / (start->r * sqrt(rho[0]));
            for (int d = 0; d < p->contact[c].dim; d++)
                r[d] = u[d] = 0.0;
            const double lo = sti_law_lowest(&p->contact[c]), hi = sti_law_highest(&p->contact[c]);
            if (isfinite(lo) && isfinite(hi)) {
                r[0] = 0.5 * (lo + hi);
            } else if (isfinite(hi)) {
                r[0] = hi - apart;
                u[0] = -speed;
            } else if (isfinite(lo)) {
                r[0] = lo + apart;
                u[0] = speed;
            }
        }
        sti_delassus_apply(&s->base->W, task->r, s->u);
        for (int j = 0; j < p->n_r; j++)
            s->miss[j] -= s->u[j];
        evaluate_rounded(s, task);
        STI_TRY(linearise(s, task, err));
        STI_TRY(follow_curve(s, task, most, err));
    }
    memcpy(task->r, s->base->best, sizeof(double) * (size_t)n);
    return ST_OK;
}

/* ------------------------------------------------------------------ the row of the solver table */

const sti_SolverKind sti_homotopy = {
    .name = "homotopy",
    .parameters = homotopy_parameters,
    .help = "path following from smoothed laws to the exact ones, around folds; slow, for problems that the others do "
            "not solve",
    .property = STI_LAW_SMOOTH,
    .solve = homotopy_solve,
};
