/* hyperstatic.c -- which contact impulses a problem determines, and the least of those it does not.
 *
 * A solution has a velocity u and impulses r. Where contacts are redundant, u is unique and r is not: with the
 * active directions of the contacts as the columns of B,
 *
 *     sticks   all of (r_n, r_T)       slides   (1, -mu u_T/|u_T|) r_n       open   nothing
 *
 * every r = B z with W B z = u - q and r in the cones is a solution. The columns of W B by QR with column
 * pivoting (Golub & Van Loan 2013, section 5.4) give the rank, and N with W B N = 0; a component is determined
 * where its row of B N is 0. Cones may determine more: a foot that can only push, at zero.
 *
 * Rigid bodies are the limit of stiff ones: contacts with compliance s C, s -> 0, take the member of least r'C r
 * (Preclik, Popa & Ruede 2011). It is found as  min z'D z,  z = z0 + N y,  B z in the cones,  by the alternating
 * direction method: the quadratic on the affine set and the projection on the cones take turns.
 */
#include "solve/friction.h"
#include "solve/law.h"

enum { MOST_DIRECTIONS = 6000, MOST_ROUNDS = 50000 };
/* Rank: a column this small against the largest depends on others (files hold six digits, scenes sixteen). */
static const double default_tolerance = 1e-9;
/* Velocities below this, against the largest of u and q, are zero: the contact touches, or sticks. */
static const double still = 1e-6;

/* Directions first[c] .. first[c+1]-1 belong to contact c: its normal (with what slides along), then free
 * tangents, each a unit vector at row `unit`.                                                      */
typedef struct Active {
    st_Allocator allocator;
    const st_Friction *friction;
    int n; /* directions */
    int *first, *unit;
    double *along; /* n_r: the normal direction of each contact                                    */
    double *z0, *d;
    double *A; /* W B: n columns of n_r, then R                                                    */
    double *tau;
    int *order, rank;
    double *N; /* (n - rank) columns of n                                                          */
    double *factor, *x, *k, *l, *side;
} Active;

static double norm(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* ------------------------------------------------------------------ active directions */

/* One group of a contact whose normal is at `row`. Slides: part of the normal's direction; else free directions
 * of its own.                                                                                     */
static void add_group(Active *a, int row, const sti_Group *group, const double *u, double zero)
{
    const double speed = norm(u + row + group->first, group->count);
    for (int k = row + group->first; k < row + group->first + group->count; k++)
        if (speed > zero)
            a->along[k] = -group->mu * u[k] / speed;
        else if (group->mu > 0.0)
            a->unit[a->n++] = k;
}

static void find_directions(Active *a, const double *u, double zero)
{
    const st_FrictionProblem *p = a->friction->problem;
    for (int c = 0; c < p->n_contacts; c++) {
        sti_Group group[STI_MAX_GROUPS];
        const int row = c * p->dim, n = sti_law_groups(&a->friction->contact[c], group);
        a->first[c] = a->n;
        if (fabs(u[row]) > zero) continue;
        a->along[row] = 1.0;
        a->unit[a->n++] = -1;
        for (int g = 0; g < n; g++)
            add_group(a, row, &group[g], u, zero);
    }
    a->first[p->n_contacts] = a->n;
}

/* r += B z of contact c. */
static void add_directions(const Active *a, int c, const double *z, double *r)
{
    const int dim = a->friction->problem->dim;
    for (int j = a->first[c]; j < a->first[c + 1]; j++) {
        if (a->unit[j] >= 0)
            r[a->unit[j]] += z[j];
        else
            for (int k = 0; k < dim; k++)
                r[c * dim + k] += a->along[c * dim + k] * z[j];
    }
}

/* z0 nearest to r, and D = B' diag(weight) B, which is diagonal. */
static void start(Active *a, const double *r, const double *weight)
{
    const st_FrictionProblem *p = a->friction->problem;
    for (int c = 0; c < p->n_contacts; c++)
        for (int j = a->first[c]; j < a->first[c + 1]; j++) {
            const double w = weight != NULL ? weight[c] : 1.0;
            if (a->unit[j] >= 0) {
                a->z0[j] = r[a->unit[j]];
                a->d[j] = w;
                continue;
            }
            const double *d = a->along + (int64_t)c * p->dim;
            double square = 0.0, dot = 0.0;
            for (int k = 0; k < p->dim; k++) {
                square += d[k] * d[k];
                dot += d[k] * r[c * p->dim + k];
            }
            a->z0[j] = dot / square;
            a->d[j] = w * square;
        }
}

/* ------------------------------------------------------------------ rank and null space */

static void form_columns(Active *a, double *unit)
{
    const st_Friction *f = a->friction;
    for (int c = 0; c < f->problem->n_contacts; c++)
        for (int j = a->first[c]; j < a->first[c + 1]; j++) {
            double z = 1.0;
            memset(unit, 0, (size_t)f->n_r * sizeof *unit);
            if (a->unit[j] >= 0)
                unit[a->unit[j]] = z;
            else
                memcpy(unit + (int64_t)c * f->problem->dim, a->along + (int64_t)c * f->problem->dim,
                       (size_t)f->problem->dim * sizeof *unit);
            sti_friction_map_apply(f->map, unit, true, NULL, NULL, a->A + (int64_t)j * f->n_r);
        }
}

/* Householder's reflection that leaves x[0] alone of x: x becomes its vector (x[0] = 1 implied), tau its factor. */
static double reflector(double *x, int n, double *tau)
{
    const double length = norm(x, n), head = x[0];
    *tau = 0.0;
    if (!(length > 0.0)) return 0.0;
    const double beta = head > 0.0 ? -length : length;
    for (int i = 1; i < n; i++)
        x[i] /= head - beta;
    *tau = (beta - head) / beta;
    return beta;
}

static void qr_with_pivots(Active *a, double tolerance)
{
    const int m = a->friction->n_r;
    double largest = 0.0;
    for (int j = 0; j < a->n; j++)
        a->order[j] = j;
    for (int k = 0; k < a->n && k < m; k++) {
        int best = k;
        double best_norm = -1.0;
        for (int j = k; j < a->n; j++) {
            const double size = norm(a->A + (int64_t)a->order[j] * m + k, m - k);
            if (size > best_norm) best = j, best_norm = size;
        }
        if (k == 0) largest = best_norm;
        if (!(best_norm > tolerance * largest)) break;
        const int chosen = a->order[best];
        a->order[best] = a->order[k];
        a->order[k] = chosen;
        double *x = a->A + (int64_t)chosen * m + k;
        const double beta = reflector(x, m - k, &a->tau[k]);
        x[0] = 1.0;
        for (int j = k + 1; j < a->n; j++) {
            double *y = a->A + (int64_t)a->order[j] * m + k, dot = 0.0;
            for (int i = 0; i < m - k; i++)
                dot += x[i] * y[i];
            for (int i = 0; i < m - k; i++)
                y[i] -= a->tau[k] * dot * x[i];
        }
        x[0] = beta;
        a->rank = k + 1;
    }
}

/* R11 n1 = -R12 e_j for every dependent column j. */
static void null_space(Active *a)
{
    const int64_t m = a->friction->n_r;
    for (int j = a->rank; j < a->n; j++) {
        double *N = a->N + (int64_t)(j - a->rank) * a->n;
        const double *column = a->A + a->order[j] * m;
        N[a->order[j]] = 1.0;
        for (int i = a->rank - 1; i >= 0; i--) {
            double sum = -column[i];
            for (int k = i + 1; k < a->rank; k++)
                sum -= a->A[a->order[k] * m + i] * N[a->order[k]];
            N[a->order[i]] = sum / a->A[a->order[i] * m + i];
        }
    }
}

static void find_determined(const Active *a, bool *determined, double *row, st_Determined *out)
{
    const st_FrictionProblem *p = a->friction->problem;
    const int n_null = a->n - a->rank;
    *out = (st_Determined){.active_rows = a->n, .rank = a->rank};
    for (int c = 0; c < p->n_contacts; c++) {
        double most[ST_MAX_DIM] = {0};
        bool all = true;
        for (int t = 0; t < n_null; t++) {
            memset(row + (int64_t)c * p->dim, 0, (size_t)p->dim * sizeof *row);
            add_directions(a, c, a->N + (int64_t)t * a->n, row);
            const double size = norm(a->N + (int64_t)t * a->n, a->n);
            for (int k = 0; k < p->dim; k++)
                most[k] = fmax(most[k], fabs(row[c * p->dim + k]) / size);
        }
        for (int k = 0; k < p->dim; k++) {
            const bool same = most[k] < still;
            if (determined != NULL) determined[c * p->dim + k] = same;
            all = all && same;
        }
        if (!all) out->undetermined_contacts++;
    }
}

/* ------------------------------------------------------------------ the least */

/* Projection of the directions of contact c on its cone: normal z_n >= 0, each group of free tangents at most
 * mu z_n. Tangents that slide go with the normal and have no length of their own.                  */
static void project_contact(const Active *a, int c, double *z)
{
    const int n = a->first[c], end = a->first[c + 1], row = c * a->friction->problem->dim;
    double x[ST_MAX_DIM] = {0};
    if (n == end) return;
    x[0] = z[n];
    for (int j = n + 1; j < end; j++)
        x[a->unit[j] - row] = z[j];
    sti_law_project(&a->friction->contact[c], x);
    z[n] = x[0];
    for (int j = n + 1; j < end; j++)
        z[j] = x[a->unit[j] - row];
}

/* L L' = N' (D + sigma) N, lower triangle in `factor`. */
static void factor_reduced(Active *a, double sigma)
{
    const int k = a->n - a->rank;
    for (int i = 0; i < k; i++)
        for (int j = 0; j <= i; j++) {
            const double *x = a->N + (int64_t)i * a->n, *y = a->N + (int64_t)j * a->n;
            double sum = 0.0;
            for (int t = 0; t < a->n; t++)
                sum += x[t] * (a->d[t] + sigma) * y[t];
            for (int t = 0; t < j; t++)
                sum -= a->factor[(int64_t)i * k + t] * a->factor[(int64_t)j * k + t];
            a->factor[(int64_t)i * k + j] = i == j ? sqrt(sum) : sum / a->factor[(int64_t)j * k + j];
        }
}

/* x = z0 + N y with the least (x, D x)/2 + sigma/2 |x - target|^2. */
static void quadratic_step(Active *a, double sigma, const double *target)
{
    const int k = a->n - a->rank;
    double *y = a->side;
    for (int j = 0; j < k; j++) {
        const double *N = a->N + (int64_t)j * a->n;
        double sum = 0.0;
        for (int t = 0; t < a->n; t++)
            sum += N[t] * (sigma * target[t] - (a->d[t] + sigma) * a->z0[t]);
        for (int t = 0; t < j; t++)
            sum -= a->factor[(int64_t)j * k + t] * y[t];
        y[j] = sum / a->factor[(int64_t)j * k + j];
    }
    for (int j = k - 1; j >= 0; j--) {
        for (int t = j + 1; t < k; t++)
            y[j] -= a->factor[(int64_t)t * k + j] * y[t];
        y[j] /= a->factor[(int64_t)j * k + j];
    }
    memcpy(a->x, a->z0, (size_t)a->n * sizeof *a->x);
    for (int j = 0; j < k; j++)
        for (int t = 0; t < a->n; t++)
            a->x[t] += a->N[(int64_t)j * a->n + t] * y[j];
}

static void find_least(Active *a)
{
    const int n_contacts = a->friction->problem->n_contacts;
    double sigma = 0.0, scale = norm(a->z0, a->n);
    for (int j = 0; j < a->n; j++)
        sigma += a->d[j] / a->n;
    factor_reduced(a, sigma);
    memcpy(a->k, a->z0, (size_t)a->n * sizeof *a->k);
    double *target = a->side + a->n;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        double apart = 0.0, moved = 0.0;
        for (int j = 0; j < a->n; j++)
            target[j] = a->k[j] - a->l[j];
        quadratic_step(a, sigma, target);
        for (int j = 0; j < a->n; j++) {
            target[j] = a->k[j];
            a->k[j] = a->x[j] + a->l[j];
        }
        for (int c = 0; c < n_contacts; c++)
            project_contact(a, c, a->k);
        for (int j = 0; j < a->n; j++) {
            a->l[j] += a->x[j] - a->k[j];
            apart = fmax(apart, fabs(a->x[j] - a->k[j]));
            moved = fmax(moved, fabs(a->k[j] - target[j]));
        }
        if (apart <= 1e-14 * scale && moved <= 1e-14 * scale) break;
    }
}

/* ------------------------------------------------------------------ all of it */

static void release(Active *a, int64_t n_r, int64_t n)
{
    const st_Allocator *m = &a->allocator;
    const int64_t k = n - a->rank;
    sti_free(m, a->first, a->friction->problem->n_contacts + 1, sizeof *a->first);
    sti_free(m, a->unit, n_r, sizeof *a->unit);
    sti_free(m, a->along, n_r, sizeof *a->along);
    sti_free(m, a->A, n * n_r + 1, sizeof *a->A);
    sti_free(m, a->z0, 7 * n + 1, sizeof *a->z0);
    sti_free(m, a->tau, n + 1, sizeof *a->tau);
    sti_free(m, a->order, n + 1, sizeof *a->order);
    sti_free(m, a->N, k * n + 1, sizeof *a->N);
    sti_free(m, a->factor, k * k + 1, sizeof *a->factor);
}

static st_Status reserve(Active *a, int64_t n_r, st_Error *err)
{
    const st_Allocator *m = &a->allocator;
    const int64_t n = a->n;
    if (n > MOST_DIRECTIONS)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "%d active directions are too many to find their rank, at most %d",
                        a->n, (int)MOST_DIRECTIONS);
    a->A = sti_alloc(m, n * n_r + 1, sizeof *a->A);
    a->z0 = sti_alloc(m, 7 * n + 1, sizeof *a->z0);
    a->tau = sti_alloc(m, n + 1, sizeof *a->tau);
    a->order = sti_alloc(m, n + 1, sizeof *a->order);
    if (a->A == NULL || a->z0 == NULL || a->tau == NULL || a->order == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld active directions", (long long)n);
    a->d = a->z0 + n;
    a->x = a->d + n;
    a->k = a->x + n;
    a->l = a->k + n;
    a->side = a->l + n;
    return ST_OK;
}

static st_Status determine(Active *a, const double *r, const double *weight, double tolerance, double *work,
                           bool *determined, double *least, st_Determined *out, st_Error *err)
{
    const st_Friction *f = a->friction;
    sti_friction_map_apply(f->map, r, false, NULL, NULL, work);
    double scale = 0.0;
    for (int k = 0; k < f->n_r; k++)
        scale = fmax(scale, fmax(fabs(work[k]), fabs(f->q[k])));
    find_directions(a, work, still * scale);
    STI_TRY(reserve(a, f->n_r, err));
    start(a, r, weight);
    form_columns(a, work);
    qr_with_pivots(a, tolerance > 0.0 ? tolerance : default_tolerance);
    const int64_t n = a->n, n_null = n - a->rank;
    a->N = sti_alloc(&a->allocator, n_null * n + 1, sizeof *a->N);
    a->factor = sti_alloc(&a->allocator, n_null * n_null + 1, sizeof *a->factor);
    if (a->N == NULL || a->factor == NULL) {
        sti_free(&a->allocator, a->N, n_null * n + 1, sizeof *a->N);
        a->N = NULL;
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld active directions", (long long)n);
    }
    null_space(a);
    st_Determined found;
    find_determined(a, determined, work, &found);
    if (out != NULL) *out = found;
    if (least == NULL) return ST_OK;
    memcpy(a->k, a->z0, (size_t)n * sizeof *a->k);
    if (n_null > 0) find_least(a);
    memset(least, 0, (size_t)f->n_r * sizeof *least);
    for (int c = 0; c < f->problem->n_contacts; c++)
        add_directions(a, c, a->k, least);
    return ST_OK;
}

st_Status st_friction_determined(st_Friction *friction, const double *r, const double *weight, double tolerance,
                                 bool *determined, double *least, st_Determined *out, st_Error *err)
{
    if (friction == NULL || r == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the problem or r is NULL");
    for (int c = 0; weight != NULL && c < friction->problem->n_contacts; c++)
        if (!(weight[c] > 0.0) || !isfinite(weight[c]))
            return sti_fail(err, ST_ERR_ARGUMENT, "weight[%d] is %g, must be > 0", c, weight[c]);
    for (int k = 0; k < friction->n_r; k++)
        if (!isfinite(r[k])) return sti_fail(err, ST_ERR_ARGUMENT, "r[%d] is %g, must be finite", k, r[k]);
    STI_TRY(sti_friction_ready(friction, err));
    const int64_t n_r = friction->n_r;
    Active a = {.allocator = friction->allocator, .friction = friction};
    double *work = sti_alloc(&a.allocator, n_r, sizeof *work);
    a.first = sti_alloc(&a.allocator, friction->problem->n_contacts + 1, sizeof *a.first);
    a.unit = sti_alloc(&a.allocator, n_r, sizeof *a.unit);
    a.along = sti_alloc(&a.allocator, n_r, sizeof *a.along);
    st_Status status = ST_OK;
    if (work == NULL || a.first == NULL || a.unit == NULL || a.along == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld rows", (long long)n_r);
    else
        status = determine(&a, r, weight, tolerance, work, determined, least, out, err);
    release(&a, n_r, a.n);
    sti_free(&a.allocator, work, n_r, sizeof *work);
    return status;
}
