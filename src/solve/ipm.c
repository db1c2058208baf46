/* ipm.c -- an interior point method on second-order cones, for friction without fixed-point rounds.
 *
 * Each contact's set of impulses is the preimage of a product of Lorentz cones L by a linear map, z = G r + g:
 *
 *     coulomb, cone   z = (mu r_n, r_T);  rolling, spinning: more of them (mu_roll r_n, r_R), (mu_spin r_n, r_S)
 *     frictionless    z = r_n             bounded: z = r - lo and z = hi - r
 *
 * and K ∋ r _|_ u^ ∈ K* becomes  u^ = G'y,  L ∋ z _|_ y ∈ L.  With the products kept at  z o y = nu e, nu -> 0,
 * and Nesterov & Todd's scaling T (T y = inv(T) z = s), a Newton step is
 *
 *     (S W + G' inv(T^2) G) dr = -(u^ - G'y) + G' (inv(T) d + inv(T^2) (z - G r - g))             (1)
 *     dz = G dr - (z - G r - g),      dy = inv(T) d - inv(T^2) dz
 *
 * with d = -s for Mehrotra's predictor and d = s \ (sigma nu e - s o s - (inv(T) dz) o (T dy)) for the corrector
 * (Andersen, Roos & Terlaky 2003; Vandenberghe 2010).
 *
 * Where we differ: u^ = u + mu |u_T| e_n of the exact law is part of the equations, not of an outer loop. |u_T| is
 * smoothed by the size of nu, and S = I + mu e_n (u_T/|u_T|)' is its derivative; cone: S = I. (Odd attempts take
 * S = I, which is a fixed point on the shift in step with the path: slower at the end, hardly ever lost.) (1) is not
 * symmetric then, nor is W in many files, so it is factorised by LU (math/sparse_lu.h). The path ends inside the face
 * of solutions, not at its border, which other methods do not achieve if contacts are redundant.
 */
#include "problem/law.h"
#include "solve/factored.h"

static const double tiny_pivot = 1e-300;
enum { BORDER, PATIENCE };
static const st_SolverParameter ipm_parameters[] = {
    {"border", "largest fraction of the way to the border of the cones that a step may go", 0.995, 0.1, 0.999999},
    {"patience", "steps without a better residual after which the method stops", 30, 1, 1e9},
    {0},
};
enum { BLOCK = ST_MAX_DIM * ST_MAX_DIM };
/* Differences between attempts. `start`: size of the first impulses and velocities, relative to those that would stop
 * each contact by itself. Impulses below a heavy load are far larger, and a path that begins with small ones ends at
 * the border. `hold`: nu is held while it is below this many times the energy of the lag u^ - G'y, so that the shift
 * can follow. */
static const struct {
    double start, hold;
} paths[] = {{1.0, 0.0}, {30.0, 0.0}, {30.0, 0.0}, {30.0, 100.0}};
enum { PATHS = sizeof paths / sizeof paths[0] };
/* The cone of mu = 0 has no inside; this one is as good to all digits. */
static const double least_mu = 1e-10;

/* One Lorentz cone of a contact: z = (weight r_n, r[first ..]), or z = offset + sign r where m = 1. */
typedef struct Cone {
    int contact, m;    /* m: its dimension, 1 to 3                                                */
    int first;         /* row of r for z[1]; of z[0] if m = 1 */
    int normal;        /* row of r for z[0], m > 1 */
    double weight;     /* mu; the sign where m = 1                                                */
    double offset;     /* m = 1                                                                   */
    double z[3], y[3]; /* primal and dual                                                         */
    double s[3];       /* T y = inv(T) z                                                          */
    double w[3], eta;  /* T = eta * (the reflection of w), see scale_cone()                            */
    double dz[3], dy[3];
    double miss[3]; /* z - G r - g                                                                 */
} Cone;

typedef struct Ipm {
    sti_Factored *base;
    const sti_Delassus *W;
    Cone *cone;
    double *u;    /* W r + b                                                                       */
    double *rest; /* u^ - G'y                                                                      */
    double *side; /* right-hand side and solution of (1)                                           */
    double *trial;
    double *S; /* by contact, BLOCK: S_c                                                           */
    double *x; /* the matrix of (1), in W's pattern                                                */
    int n_cones;
    int path;   /* of the attempt                                                                  */
    double nu;  /* mean of z'y                                                                     */
    double lag; /* the same of u^ - G'y, as an energy                                              */
} Ipm;

/* ------------------------------------------------------------------ Lorentz cones of dimension 1 to 3 */

static double determinant(const double *x, int m)
{
    if (m == 1) return x[0] * x[0];
    const double t = m == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
    return fmax((x[0] - t) * (x[0] + t), 1e-30 * x[0] * x[0]); /* rounding may put it on the border */
}

/* x o y = (x'y, x0 y1 + y0 x1) */
static void product(const double *x, const double *y, int m, double *out)
{
    double sum = 0.0, result[3] = {0};
    for (int k = 0; k < m; k++)
        sum += x[k] * y[k];
    result[0] = sum;
    for (int k = 1; k < m; k++)
        result[k] = x[0] * y[k] + y[0] * x[k];
    memcpy(out, result, (size_t)m * sizeof *out);
}

/* The y with x o y = c. */
static void divide_cone(const double *x, const double *c, int m, double *out)
{
    double along = 0.0;
    for (int k = 1; k < m; k++)
        along += x[k] * c[k];
    const double first = m == 1 ? c[0] / x[0] : (x[0] * c[0] - along) / determinant(x, m);
    for (int k = 1; k < m; k++)
        out[k] = (c[k] - first * x[k]) / x[0];
    out[0] = first;
}

/* T x, or inv(T) x: eta^(+-1) [ w0  +-w1' ; +-w1  I + w1 w1'/(1 + w0) ]. */
static void apply_scaling(const Cone *c, const double *x, bool inverse, double *out)
{
    const double sign = inverse ? -1.0 : 1.0, factor = inverse ? 1.0 / c->eta : c->eta;
    double along = 0.0, result[3] = {0};
    for (int k = 1; k < c->m; k++)
        along += c->w[k] * x[k];
    result[0] = factor * (c->w[0] * x[0] + sign * along);
    for (int k = 1; k < c->m; k++)
        result[k] = factor * (x[k] + c->w[k] * (sign * x[0] + along / (1.0 + c->w[0])));
    memcpy(out, result, (size_t)c->m * sizeof *out);
}

/* The largest t <= 1 with x + t d in the cone. */
static double longest(const double *x, const double *d, int m, double t)
{
    if (m == 1) return d[0] < 0.0 ? fmin(t, -x[0] / d[0]) : t;
    double dd = d[0] * d[0], xd = x[0] * d[0];
    for (int k = 1; k < m; k++) {
        dd -= d[k] * d[k];
        xd -= x[k] * d[k];
    }
    const double xx = determinant(x, m), disc = xd * xd - dd * xx;
    if (d[0] < 0.0) t = fmin(t, -x[0] / d[0]); /* the axis must stay positive, too */
    if (disc < 0.0) return t;
    const double q = -(xd + (xd >= 0.0 ? 1.0 : -1.0) * sqrt(disc));
    const double roots[2] = {dd != 0.0 ? q / dd : INFINITY, q != 0.0 ? xx / q : INFINITY};
    for (int k = 0; k < 2; k++)
        if (roots[k] > 0.0) t = fmin(t, roots[k]);
    return t;
}

/* ------------------------------------------------------------------ contacts as cones */

static void map_to_cone(const Cone *c, const double *r, double *z)
{
    if (c->m == 1) {
        z[0] = c->weight * r[c->first];
        return;
    }
    z[0] = c->weight * r[c->normal];
    for (int k = 1; k < c->m; k++)
        z[k] = r[c->first + k - 1];
}

/* out += G'y */
static void map_back(const Cone *c, const double *y, double *out)
{
    if (c->m == 1) {
        out[c->first] += c->weight * y[0];
        return;
    }
    out[c->normal] += c->weight * y[0];
    for (int k = 1; k < c->m; k++)
        out[c->first + k - 1] += y[k];
}

static void add_cone(Ipm *s, Cone cone, double size, double speed)
{
    cone.z[0] = cone.m == 1 ? size : fmax(cone.weight, 0.1) * size;
    cone.y[0] = speed;
    s->cone[s->n_cones++] = cone;
}

/* All cones, at their starting points: impulses and velocities of the problem's own size. */
static void make_cones(Ipm *s, const sti_Task *task)
{
    const st_Problem *p = task->problem;
    s->n_cones = 0;
    double square = 0.0, energy = 0.0;
    for (int c = 0; c < p->n_contacts; c++)
        for (int row = p->contact[c].first; row < p->contact[c].first + p->contact[c].dim; row++) {
            square += s->W->b[row] * s->W->b[row];
            energy += task->reduction->rho[c] * s->W->b[row] * s->W->b[row];
        }
    square = square > 0.0 ? sqrt(square / p->n_r) : 1.0;
    energy = paths[s->path].start * (energy > 0.0 ? sqrt(energy / p->n_r) : 1.0);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int f = contact->first;
        /* later attempts begin on the central path, z'y the same for all, however unequal masses are */
        const double rho = task->reduction->rho[c], root = sqrt(rho);
        const bool central = task->attempt > 0;
        const double size = central ? root * energy : rho * square, speed = central ? energy / root : square;
        const double lo = sti_law_lowest(contact), hi = sti_law_highest(contact);
        sti_Group group[STI_MAX_GROUPS];
        const int n = sti_law_of(contact)->discs(contact, group);
        for (int g = 0; g < n; g++)
            add_cone(s,
                     (Cone){.contact = c,
                            .m = 1 + group[g].count,
                            .normal = f,
                            .first = f + group[g].first,
                            .weight = fmax(group[g].mu, least_mu)},
                     size, speed);
        if (n == 0 && isfinite(lo))
            add_cone(s, (Cone){.contact = c, .m = 1, .first = f, .weight = 1.0, .offset = -lo}, size, speed);
        if (n == 0 && isfinite(hi))
            add_cone(s, (Cone){.contact = c, .m = 1, .first = f, .weight = -1.0, .offset = hi}, size, speed);
    }
}

/* ------------------------------------------------------------------ equations */

/* S of one part of the tangential velocity, and the shift it brings: mu |u_T|^2/sqrt(|u_T|^2 + eps^2), which is 0
 * at 0 and off by eps^2/|u_T| where it slides.                                                    */
static double shift_part(const double *u, const sti_Group *group, double eps, double *S)
{
    const int end = group->first + group->count;
    double square = 0.0;
    for (int k = group->first; k < end; k++)
        square += u[k] * u[k];
    const double size = sqrt(square + eps * eps);
    if (!(size > 0.0)) return 0.0;
    for (int k = group->first; k < end; k++)
        S[k] = group->mu * u[k] / size * (1.0 + eps * eps / (size * size));
    return group->mu * square / size;
}

/* rest = u^ - G'y and S by contact, miss by cone, nu and the lag. */
static void evaluate_cones(Ipm *s, const sti_Task *task)
{
    const st_Problem *p = task->problem;
    double sum = 0.0;
    s->nu = 0.0;
    for (int k = 0; k < s->n_cones; k++)
        for (int i = 0; i < s->cone[k].m; i++)
            sum += s->cone[k].z[i] * s->cone[k].y[i];
    s->nu = s->n_cones > 0 ? sum / s->n_cones : 0.0;
    sti_delassus_apply(s->W, task->r, s->u);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        const int dim = contact->dim;
        const double *u = s->u + contact->first;
        double *S = s->S + BLOCK * (int64_t)c, shift = 0.0;
        memset(S, 0, sizeof *S * BLOCK);
        for (int i = 0; i < dim; i++)
            S[i * dim + i] = 1.0;
        if (sti_law_of(contact)->shift != NULL) {
            const double eps = sqrt(s->nu / task->reduction->rho[c]); /* the speed that belongs to z'y = nu */
            sti_Group group[STI_MAX_GROUPS];
            const int n = sti_law_groups(contact, group);
            for (int g = 0; g < n; g++)
                shift += shift_part(u, &group[g], eps, S);
        }
        for (int i = 1; i < dim && task->attempt % 2 == 1; i++)
            S[i] = 0.0;
        for (int i = 0; i < dim; i++)
            s->rest[contact->first + i] = u[i] + (i == 0 ? shift : 0.0);
    }
    for (int k = 0; k < s->n_cones; k++) {
        Cone *c = &s->cone[k];
        double z[3] = {0}, minus[3] = {0};
        map_to_cone(c, task->r, z);
        for (int i = 0; i < c->m; i++) {
            c->miss[i] = c->z[i] - z[i] - (i == 0 ? c->offset : 0.0);
            minus[i] = -c->y[i];
        }
        map_back(c, minus, s->rest);
        /* The scaling point of z and y, and s. */
        const double dz = sqrt(determinant(c->z, c->m)), dy = sqrt(determinant(c->y, c->m));
        double dot = 0.0;
        for (int j = 0; j < c->m; j++)
            dot += c->z[j] * c->y[j];
        const double gamma = sqrt(0.5 * (1.0 + dot / (dz * dy)));
        c->eta = sqrt(dz / dy);
        for (int j = 0; j < c->m; j++)
            c->w[j] = (c->z[j] / dz + (j == 0 ? 1.0 : -1.0) * c->y[j] / dy) / (2.0 * gamma);
        if (c->m == 1) c->w[0] = 1.0;
        apply_scaling(c, c->y, false, c->s);
    }
    s->lag = 0.0;
    for (int c = 0; c < p->n_contacts; c++)
        for (int row = p->contact[c].first; row < p->contact[c].first + p->contact[c].dim; row++)
            s->lag += task->reduction->rho[c] * s->rest[row] * s->rest[row] / p->n_r;
}

/* The step that belongs to d, which each cone holds in its dy beforehand. dr is left in side. */
static void find_cone_step(Ipm *s, const sti_Task *task)
{
    const int n = task->problem->n_r;
    for (int row = 0; row < n; row++)
        s->side[row] = -s->rest[row];
    for (int k = 0; k < s->n_cones; k++) {
        Cone *c = &s->cone[k];
        double t[3] = {0};
        apply_scaling(c, c->miss, true, t);
        for (int i = 0; i < c->m; i++)
            t[i] += c->dy[i];
        apply_scaling(c, t, true, t);
        map_back(c, t, s->side);
    }
    sti_sparse_lu_solve(s->base->lu, s->side);
    for (int k = 0; k < s->n_cones; k++) {
        Cone *c = &s->cone[k];
        double t[3] = {0};
        map_to_cone(c, s->side, c->dz);
        for (int i = 0; i < c->m; i++)
            c->dz[i] -= c->miss[i];
        apply_scaling(c, c->dz, true, t);
        for (int i = 0; i < c->m; i++)
            t[i] = c->dy[i] - t[i];
        apply_scaling(c, t, true, c->dy);
    }
}

static double step_length(const Ipm *s, double share)
{
    double t = 1.0 / share;
    for (int k = 0; k < s->n_cones; k++) {
        t = longest(s->cone[k].z, s->cone[k].dz, s->cone[k].m, t);
        t = longest(s->cone[k].y, s->cone[k].dy, s->cone[k].m, t);
    }
    return fmin(1.0, share * t);
}

/* ------------------------------------------------------------------ the solver */

static st_Status ipm_solve(void *workspace, sti_Task *task, st_Error *err)
{
    (void)workspace;
    Ipm ipm = {.base = task->factored, .W = &task->factored->W}, *s = &ipm;
    const int64_t n = task->problem->n_r, contacts = task->problem->n_contacts;
    const double *parameter = task->parameters[STI_SOLVER_ipm];
    bool formed = false;
    task->iterations = 0;
    if (sti_task_is_answered(task) || contacts == 0) return ST_OK;
    STI_TRY(sti_factored_begin(s->base, task, &formed, err));
    if (!formed) return ST_OK;
    const sti_Room rooms[] = {STI_ROOM(s->u, n),
                              STI_ROOM(s->rest, n),
                              STI_ROOM(s->side, n),
                              STI_ROOM(s->trial, n),
                              STI_ROOM(s->S, BLOCK * contacts),
                              STI_ROOM(s->x, s->W->x_size),
                              STI_ROOM(s->cone, STI_MAX_GROUPS * contacts)};
    STI_TRY(sti_factored_room(s->base, task, rooms, sizeof rooms / sizeof rooms[0], err));
    s->path = task->attempt < PATHS ? task->attempt : PATHS - 1;
    make_cones(s, task);
    int last_better = 0;
    double least_nu = INFINITY;
    sti_factored_judge_projected(s->base, task, task->r, s->trial);
    while (s->base->least > task->tolerance && task->iterations < task->max_iterations && !sti_work_ends(task->work) &&
           task->iterations - last_better < parameter[PATIENCE]) {
        evaluate_cones(s, task);

        /* S W, then G' inv(T^2) G on the diagonal blocks. inv(T^2) = (2 v v' - J)/eta^2, v = (w0, -w1), J = diag(1, -1,
         * -1). */
        const st_Problem *p = task->problem;
        int replaced;
        for (int i = 0; i < p->n_contacts; i++) {
            const int rows = p->contact[i].dim;
            const double *S = s->S + BLOCK * (int64_t)i;
            for (int64_t e = s->W->p[i]; e < s->W->p[i + 1]; e++) {
                const int columns = p->contact[s->W->j[e]].dim;
                const double *W = s->W->x + s->W->start[e];
                double *x = s->x + s->W->start[e];
                memcpy(x, W, (size_t)(rows * columns) * sizeof *x);
                for (int k = 1; k < rows; k++) /* S differs from I in its first row only */
                    for (int c = 0; c < columns && S[k] != 0.0; c++)
                        x[c] += S[k] * W[k * columns + c];
            }
        }
        for (int k = 0; k < s->n_cones; k++) {
            const Cone *c = &s->cone[k];
            const int dim = p->contact[c->contact].dim, base = p->contact[c->contact].first;
            double *x = s->x + s->W->start[s->W->diagonal[c->contact]];
            for (int a = 0; a < c->m; a++)
                for (int b = 0; b < c->m; b++) {
                    const double v = 2.0 * c->w[a] * c->w[b] * ((a == 0) == (b == 0) ? 1.0 : -1.0);
                    const double J = a != b ? 0.0 : a == 0 ? 1.0 : -1.0;
                    const int row = (a == 0 && c->m > 1 ? c->normal : c->first + (c->m > 1 ? a - 1 : 0)) - base;
                    const int column = (b == 0 && c->m > 1 ? c->normal : c->first + (c->m > 1 ? b - 1 : 0)) - base;
                    const double ga = a == 0 ? c->weight : 1.0, gb = b == 0 ? c->weight : 1.0;
                    x[row * dim + column] += ga * gb * (v - J) / (c->eta * c->eta);
                }
        }
        STI_TRY(sti_sparse_lu_factor(s->base->lu, &s->W->rows, s->x, tiny_pivot, &replaced, err));
        task->iterations++;

        /* the predictor, and the factor of nu: the third power of the part that the predictor would leave (Mehrotra) */
        for (int k = 0; k < s->n_cones; k++)
            for (int i = 0; i < s->cone[k].m; i++)
                s->cone[k].dy[i] = -s->cone[k].s[i];
        find_cone_step(s, task);
        const double reach = step_length(s, 1.0);
        double sum = 0.0;
        for (int k = 0; k < s->n_cones; k++)
            for (int i = 0; i < s->cone[k].m; i++) {
                const Cone *c = &s->cone[k];
                sum += (c->z[i] + reach * c->dz[i]) * (c->y[i] + reach * c->dy[i]);
            }
        const double left = s->nu > 0.0 && s->n_cones > 0 ? fmax(0.0, sum / s->n_cones / s->nu) : 0.0;
        const double sigma = s->nu < paths[s->path].hold * s->lag ? 1.0 : fmin(1.0, left * left * left);

        /* the corrector */
        for (int k = 0; k < s->n_cones; k++) {
            Cone *c = &s->cone[k];
            double a[3] = {0}, b[3] = {0}, square[3] = {0};
            apply_scaling(c, c->dz, true, a);
            apply_scaling(c, c->dy, false, b);
            product(a, b, c->m, a);
            product(c->s, c->s, c->m, square);
            for (int i = 0; i < c->m; i++)
                a[i] = (i == 0 ? sigma * s->nu : 0.0) - square[i] - a[i];
            divide_cone(c->s, a, c->m, c->dy);
        }
        find_cone_step(s, task);

        const double t = step_length(s, parameter[BORDER]);
        if (!(t > 1e-12)) break; /* at the border, or not a number */
        for (int row = 0; row < n; row++)
            task->r[row] += t * s->side[row];
        for (int k = 0; k < s->n_cones; k++)
            for (int i = 0; i < s->cone[k].m; i++) {
                s->cone[k].z[i] += t * s->cone[k].dz[i];
                s->cone[k].y[i] += t * s->cone[k].dy[i];
            }
        const double before = s->base->least;
        const double measure = sti_factored_judge_projected(s->base, task, task->r, s->trial);
        sti_task_report_residual(task, measure);
        if (!isfinite(measure)) break;
        if (s->base->least < 0.9 * before || (task->attempt > 0 && s->nu < 0.9 * least_nu))
            last_better = task->iterations;
        least_nu = fmin(least_nu, s->nu);
    }
    memcpy(task->r, s->base->best, sizeof(double) * (size_t)n);
    return ST_OK;
}

const sti_SolverKind sti_ipm = {
    .name = "ipm",
    .parameters = ipm_parameters,
    .help = "interior point method on second-order cones; the most robust one if contacts are redundant",
    .property = STI_LAW_CONIC,
    .solve = ipm_solve,
};
