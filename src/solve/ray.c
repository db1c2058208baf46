/* ray.c -- proofs that a problem has no solution.
 *
 * Every solution of a friction problem satisfies linear conditions: r is in K, normal velocities are >= 0, momentum and
 * equality rows hold. With the unknowns x (r, and where there are any v and l, which are free) they are
 *
 *     (B x + c)_i >= 0 (normals)  or  = 0 (momentum, equality rows),       r in K
 *
 * and cannot all hold if there is a ray d (Farkas' lemma for cones)
 *
 *     d_i >= 0 on the normals,   c . d < 0,   -(B'd) in K* for r,   (B'd)_j = 0 for free x_j:
 *
 * multiply the conditions by d and add them up. The same holds for complementarity problems, where K is z >= 0. The
 * violations d of the x that violates the conditions least are a ray: minimise the sum of squares of d, that is
 *
 *     K ∋ r _|_ -(B'd)_r ∈ K*,   (B'd)_free = 0,      0 <= d_i _|_ d_i + (B x + c)_i >= 0  or  d_i + (B x + c)_i = 0,
 *
 * a monotone cone problem, which our interior point method solves. Its result is then checked separately, in
 * double-double arithmetic. If no ray is found, nothing is proved: some problems without a solution have velocities
 * that all are >= 0.
 */
#include "math/double_double.h"
#include "problem/law.h"
#include "solve/lemke/lcp.h"

#include <stiction/friction.h>

/* How far B'd may be outside, against its own terms, before it is corrected and after that; and how clearly c . d must
 * be negative, against |c||d|.                                                                       */
static const double first_slack = 1e-3, proof_slack = 1e-25, proof_margin = 1e-6;
/* Parts of B'd below this, or below a few times the largest error of a part, are meant to be 0. */
static const double zero_slack = 1e-6, zero_gaps = 10.0;
enum { CORRECTIONS = 4, CORRECTION_STEPS = 300 };
/* The problem is solved by proximal steps (newton.c), with `regular` on the diagonal of x: B'd becomes `regular` times
 * the change of x, which vanishes. `regular` shrinks from step to step: if it were constant, B'd would shrink by a
 * factor that is near 1 where B is badly conditioned.                                                */
static const double first_regular = 1e-2, regular_factor = 0.1, last_regular = 1e-8;
enum { ROUNDS = 12, STEPS = 100 };

typedef struct Conditions {
    st_Allocator allocator;
    int rows, columns, n_contacts; /* contacts: of the columns alone                                  */
    int64_t n, capacity;
    int *i, *j;
    double *x;
    double *c;                 /* rows                                                                   */
    bool *equality;            /* rows                                                                   */
    st_ContactLaw *contact;    /* columns, then rows: the laws of the monotone problem                   */
    double *scale;             /* rows, then columns                                                     */
    bool (*cancel)(void *ctx); /* of the problem                                                      */
    void *cancel_ctx;
} Conditions;

static bool is_cancelled(const Conditions *k)
{
    return k->cancel != NULL && k->cancel(k->cancel_ctx);
}

static void conditions_release(Conditions *k)
{
    const int64_t size = (int64_t)k->rows + k->columns + 1;
    sti_free(&k->allocator, k->i, k->capacity, sizeof *k->i);
    sti_free(&k->allocator, k->j, k->capacity, sizeof *k->j);
    sti_free(&k->allocator, k->x, k->capacity, sizeof *k->x);
    sti_free(&k->allocator, k->c, size, sizeof *k->c);
    sti_free(&k->allocator, k->equality, size, sizeof *k->equality);
    sti_free(&k->allocator, k->contact, size, sizeof *k->contact);
    sti_free(&k->allocator, k->scale, size, sizeof *k->scale);
}

static st_Status conditions_reserve(Conditions *k, int rows, int columns, int64_t entries, st_Error *err)
{
    const int64_t size = (int64_t)rows + columns + 1;
    *k = (Conditions){.allocator = st_default_allocator(), .rows = rows, .columns = columns, .capacity = entries + 1};
    k->i = sti_alloc(&k->allocator, k->capacity, sizeof *k->i);
    k->j = sti_alloc(&k->allocator, k->capacity, sizeof *k->j);
    k->x = sti_alloc(&k->allocator, k->capacity, sizeof *k->x);
    k->c = sti_alloc(&k->allocator, size, sizeof *k->c);
    k->equality = sti_alloc(&k->allocator, size, sizeof *k->equality);
    k->contact = sti_alloc(&k->allocator, size, sizeof *k->contact);
    k->scale = sti_alloc(&k->allocator, size, sizeof *k->scale);
    if (k->i != NULL && k->j != NULL && k->x != NULL && k->c != NULL && k->equality != NULL && k->contact != NULL &&
        k->scale != NULL)
        return ST_OK;
    conditions_release(k);
    return sti_fail(err, ST_ERR_MEMORY, "out of memory: conditions of %d rows", rows);
}

static void put(Conditions *k, int row, int column, double value)
{
    if (value == 0.0) return;
    k->i[k->n] = row;
    k->j[k->n] = column;
    k->x[k->n++] = value;
}

/* A, or its transpose, with its corner at (row, column). */
static void put_matrix(Conditions *k, const st_Sparse *A, bool transposed, double sign, int row, int column)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++)
            put(k, row + (transposed ? j : A->i[e]), column + (transposed ? A->i[e] : j), sign * A->x[e]);
}

static st_ContactLaw free_row(int first)
{
    return (st_ContactLaw){.law = ST_LAW_BOUNDED, .dim = 1, .first = first, .lo = -INFINITY, .hi = INFINITY};
}

/* The power of two nearest to 1/sqrt(x): products with it are exact. */
static double inverse_length(double x)
{
    return x > 0.0 ? exp2(-round(0.5 * log2(x))) : 1.0;
}

/* The distance of -g from K*, for a contact's part g of B'd. */
static double dual_gap(const st_ContactLaw *contact, const double *g)
{
    sti_Group group[STI_MAX_GROUPS];
    double least = g[0];
    if (contact->law == ST_LAW_BOUNDED) return fabs(g[0]);
    const int n = sti_law_groups(contact, group);
    for (int k = 0; k < n; k++)
        least += group[k].mu * sti_group_length(g + group[k].first, group[k].count);
    return fmax(0.0, least);
}

/* A ray to higher precision, hi + lo in scaled rows, and the data for its check. */
typedef struct Ray {
    double *hi, *lo;                  /* rows                                                        */
    sti_Dd *sum;                      /* columns: B'd, of unscaled rows and columns */
    double *size;                     /* columns: the sum of the absolute values of its terms        */
    double *y, *left, *along, *image; /* columns: of the conjugate gradients                         */
    double *step;                     /* rows                                                        */
    bool *held;                       /* columns: B'd is to be 0 there                               */
} Ray;

/* B'd, and the largest of its terms in scaled columns. */
static double multiply_ray(const Conditions *k, Ray *ray)
{
    const double *row = k->scale, *column = k->scale + k->rows;
    double largest = 0.0;
    memset(ray->sum, 0, (size_t)k->columns * sizeof *ray->sum);
    memset(ray->size, 0, (size_t)k->columns * sizeof *ray->size);
    for (int64_t e = 0; e < k->n; e++) {
        const int i = k->i[e], j = k->j[e];
        ray->sum[j] = sti_dd_add_product(ray->sum[j], k->x[e] * row[i], ray->hi[i]);
        ray->sum[j] = sti_dd_add_product(ray->sum[j], k->x[e] * row[i], ray->lo[i]);
        ray->size[j] += fabs(k->x[e] * row[i] * ray->hi[i]);
    }
    for (int j = 0; j < k->columns; j++)
        largest = fmax(largest, column[j] * ray->size[j]);
    return largest;
}

/* image = A A' of `of`, A = the rows of B' that are held, over the conditions that the ray has. */
static void multiply_held(const Conditions *k, Ray *ray, const double *of, double *image)
{
    const double *row = k->scale, *column = k->scale + k->rows;
    memset(ray->step, 0, (size_t)k->rows * sizeof *ray->step);
    memset(image, 0, (size_t)k->columns * sizeof *image);
    for (int64_t e = 0; e < k->n; e++)
        if (ray->held[k->j[e]] && ray->hi[k->i[e]] != 0.0)
            ray->step[k->i[e]] += row[k->i[e]] * k->x[e] * column[k->j[e]] * of[k->j[e]];
    for (int64_t e = 0; e < k->n; e++)
        if (ray->held[k->j[e]]) image[k->j[e]] += row[k->i[e]] * k->x[e] * column[k->j[e]] * ray->step[k->i[e]];
}

static double dot_dd(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int j = 0; j < n; j++)
        sum += a[j] * b[j];
    return sum;
}

/* The part of B'd at contact c, in scaled columns. Returns its largest number. */
static double contact_part(const Conditions *k, const Ray *ray, int c, double *g)
{
    const st_ContactLaw *contact = &k->contact[c];
    double size = 0.0;
    for (int d = 0; d < contact->dim; d++) {
        g[d] = k->scale[k->rows + contact->first + d] * sti_dd_value(ray->sum[contact->first + d]);
        size = fmax(size, fabs(g[d]));
    }
    return size;
}

/* Is d a ray? Returns its margin -c.d/(|c||d|), in scaled rows, or 0. The interior point method finds rays up to about
 * 1e-8. A direction of a problem with solutions 1e8 times larger than its data satisfies this, too: a wedge with nearly
 * parallel sides. So d is corrected in double-double arithmetic until B'd vanishes where it must. If the result is a
 * ray, a solution would have to be larger than proof_slack allows; if there is no ray, the correction removes all of d.
 */
static double check_ray(const Conditions *k, Ray *ray)
{
    const double *row = k->scale;
    double most = 0.0, c_size = 0.0, d_size = 0.0, worst = 0.0;
    for (int i = 0; i < k->rows; i++)
        most = fmax(most, fabs(ray->hi[i]));
    if (!(most > 0.0) || !isfinite(most)) return 0.0;
    for (int i = 0; i < k->rows; i++) {
        if ((!k->equality[i] && ray->hi[i] < 0.0) || fabs(ray->hi[i]) < 1e-9 * most) ray->hi[i] = 0.0; /* rounding */
        ray->hi[i] /= most;
        ray->lo[i] = 0.0;
    }
    double largest = multiply_ray(k, ray), gap = 0.0;
    for (int c = 0; c < k->n_contacts; c++) {
        double g[ST_MAX_DIM] = {0};
        contact_part(k, ray, c, g);
        gap = fmax(gap, dual_gap(&k->contact[c], g));
    }
    if (!(gap <= first_slack * largest)) return 0.0;
    for (int c = 0; c < k->n_contacts; c++) {
        double g[ST_MAX_DIM] = {0};
        const double size = contact_part(k, ray, c, g);
        for (int d = 0; d < k->contact[c].dim; d++)
            ray->held[k->contact[c].first + d] = size <= fmax(zero_slack * largest, zero_gaps * gap);
    }
    for (int round = 0; round < CORRECTIONS; round++) {
        if (is_cancelled(k)) return 0.0;
        /* The shortest change of d that makes B'd vanish where it is held, by conjugate gradients; d is corrected by
         * it. */
        const int n = k->columns;
        memset(ray->y, 0, (size_t)n * sizeof *ray->y);
        for (int j = 0; j < n; j++)
            ray->left[j] = ray->along[j] = ray->held[j] ? -k->scale[k->rows + j] * sti_dd_value(ray->sum[j]) : 0.0;
        double square = dot_dd(ray->left, ray->left, n);
        const double first = square;
        for (int step = 0; step < CORRECTION_STEPS && square > 1e-24 * first && !is_cancelled(k); step++) {
            multiply_held(k, ray, ray->along, ray->image);
            const double curvature = dot_dd(ray->along, ray->image, n);
            if (!(curvature > 0.0)) break;
            const double length = square / curvature;
            for (int j = 0; j < n; j++) {
                ray->y[j] += length * ray->along[j];
                ray->left[j] -= length * ray->image[j];
            }
            const double next = dot_dd(ray->left, ray->left, n);
            for (int j = 0; j < n; j++)
                ray->along[j] = ray->left[j] + next / square * ray->along[j];
            square = next;
        }
        multiply_held(k, ray, ray->y, ray->image); /* step = A'y */
        for (int i = 0; i < k->rows; i++) {
            const sti_Dd d = sti_dd_add(sti_dd_add(sti_dd(ray->hi[i]), sti_dd(ray->lo[i])), sti_dd(ray->step[i]));
            const bool outside = !k->equality[i] && d.hi < 0.0; /* meant to be 0, as it is from now on */
            ray->hi[i] = outside ? 0.0 : d.hi;
            ray->lo[i] = outside ? 0.0 : d.lo;
        }
        largest = multiply_ray(k, ray);
    }
    sti_Dd against = sti_dd(0.0);
    for (int i = 0; i < k->rows; i++) {
        c_size += row[i] * row[i] * k->c[i] * k->c[i];
        d_size += ray->hi[i] * ray->hi[i];
        against = sti_dd_add_product(against, k->c[i] * row[i], ray->hi[i]);
        against = sti_dd_add_product(against, k->c[i] * row[i], ray->lo[i]);
    }
    for (int c = 0; c < k->n_contacts; c++) {
        double g[ST_MAX_DIM] = {0};
        contact_part(k, ray, c, g);
        worst = fmax(worst, dual_gap(&k->contact[c], g));
    }
    const double margin = -sti_dd_value(against) / sqrt(c_size * d_size);
    return d_size > 1e-6 && margin > proof_margin && worst <= proof_slack * margin * largest ? margin : 0.0;
}

/* The monotone problem, by columns: [ regular I, -B' ; B, I ] in scaled rows and columns. */
static st_Status find_ray(Conditions *k, Ray *ray, double *margin, st_Error *err)
{
    const int n = k->columns + k->rows;
    const int64_t entries = 2 * k->n + n;
    const st_Allocator *a = &k->allocator;
    int64_t *p = sti_alloc(a, (int64_t)n + 2, sizeof *p);
    int *i = sti_alloc(a, entries, sizeof *i);
    double *x = sti_alloc(a, entries, sizeof *x), *b = sti_alloc(a, n, sizeof *b), *z = sti_alloc(a, n, sizeof *z);
    st_Status status = ST_OK;
    if (p == NULL || i == NULL || x == NULL || b == NULL || z == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: conditions of %d rows", k->rows);
    if (status == ST_OK) {
        const double *row = k->scale, *column = k->scale + k->rows;
        double size = 0.0, regular = first_regular;
        for (int j = 0; j < n; j++)
            p[j + 2] = 1;
        for (int64_t e = 0; e < k->n; e++) {
            p[k->j[e] + 2]++;
            p[k->columns + k->i[e] + 2]++;
        }
        for (int j = 0; j < n; j++)
            p[j + 2] += p[j + 1];
        for (int j = 0; j < n; j++) {
            i[p[j + 1]] = j;
            x[p[j + 1]++] = j < k->columns ? regular : 1.0;
        }
        for (int64_t e = 0; e < k->n; e++) {
            const double value = row[k->i[e]] * k->x[e] * column[k->j[e]];
            const int at = k->columns + k->i[e];
            i[p[k->j[e] + 1]] = at;
            x[p[k->j[e] + 1]++] = value;
            i[p[at + 1]] = k->j[e];
            x[p[at + 1]++] = -value;
        }
        for (int r = 0; r < k->rows; r++)
            size = fmax(size, fabs(row[r] * k->c[r]));
        for (int r = 0; r < k->rows; r++) {
            b[k->columns + r] = size > 0.0 ? row[r] * k->c[r] / size : 0.0;
            k->contact[k->n_contacts + r] =
                k->equality[r] ? free_row(k->columns + r)
                               : (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = k->columns + r};
        }
        const st_LocalProblem local = {
            .n_r = n, .n_contacts = k->n_contacts + k->rows, .W = {n, n, p, i, x}, .b = b, .contact = k->contact};
        st_SolverDef def = st_solver_def();
        st_Solver *solver = NULL;
        def.name = "ipm";
        def.tolerance = 1e-12;
        def.max_iterations = STEPS;
        def.cancel = k->cancel;
        def.cancel_ctx = k->cancel_ctx;
        status = st_solver_create(&def, &solver, err);
        for (int round = 0; status == ST_OK && round < ROUNDS && !(*margin > 0.0); round++) {
            status = st_solver_solve_local(solver, &local, &(st_Solution){.r = z}, NULL, err);
            if (status != ST_OK || is_cancelled(k)) break;
            regular = fmax(regular_factor * regular, last_regular);
            for (int j = 0; j < k->columns; j++) {
                x[p[j]] = regular; /* the first entry of each column */
                b[j] = -regular * z[j];
            }
            memcpy(ray->hi, z + k->columns, (size_t)k->rows * sizeof *ray->hi);
            *margin = check_ray(k, ray);
        }
        st_solver_destroy(solver);
    }
    sti_free(a, z, n, sizeof *z);
    sti_free(a, b, n, sizeof *b);
    sti_free(a, x, entries, sizeof *x);
    sti_free(a, i, entries, sizeof *i);
    sti_free(a, p, (int64_t)n + 2, sizeof *p);
    return status;
}

/* The conditions are there; they are released. */
static st_Status contradiction(Conditions *k, double *margin, st_Error *err)
{
    const int64_t n = (int64_t)k->rows + k->columns + 1;
    double *numbers = sti_alloc(&k->allocator, 8 * n, sizeof *numbers);
    sti_Dd *sum = sti_alloc(&k->allocator, n, sizeof *sum);
    bool *held = sti_alloc(&k->allocator, n, sizeof *held);
    st_Status status = ST_OK;
    st_Error ignored = {0};
    if (numbers == NULL || sum == NULL || held == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: conditions of %d rows", k->rows);
    } else {
        Ray ray = {.hi = numbers,
                   .lo = numbers + n,
                   .step = numbers + 2 * n,
                   .size = numbers + 3 * n,
                   .y = numbers + 4 * n,
                   .left = numbers + 5 * n,
                   .along = numbers + 6 * n,
                   .image = numbers + 7 * n,
                   .sum = sum,
                   .held = held};

        /* Rows of length 1, then the columns of each contact as long as the longest of them. */
        double *row = k->scale, *column = k->scale + k->rows;
        memset(k->scale, 0, (size_t)(k->rows + k->columns) * sizeof *k->scale);
        for (int64_t e = 0; e < k->n; e++)
            row[k->i[e]] += k->x[e] * k->x[e];
        for (int i = 0; i < k->rows; i++)
            row[i] = inverse_length(row[i]);
        for (int64_t e = 0; e < k->n; e++)
            column[k->j[e]] += k->x[e] * k->x[e] * row[k->i[e]] * row[k->i[e]];
        for (int c = 0; c < k->n_contacts; c++) {
            const st_ContactLaw *contact = &k->contact[c];
            double most = 0.0;
            for (int j = contact->first; j < contact->first + contact->dim; j++)
                most = fmax(most, column[j]);
            for (int j = contact->first; j < contact->first + contact->dim; j++)
                column[j] = inverse_length(most);
        }
        (void)find_ray(k, &ray, margin, &ignored); /* no ray is no proof, and no error */
    }
    sti_free(&k->allocator, held, n, sizeof *held);
    sti_free(&k->allocator, sum, n, sizeof *sum);
    sti_free(&k->allocator, numbers, 8 * n, sizeof *numbers);
    conditions_release(k);
    return status;
}

st_Status st_friction_contradiction(const st_FrictionProblem *problem, double *margin, st_Error *err)
{
    Conditions k;
    STI_TRY(st_friction_check(problem, err));
    if (margin == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the destination is NULL");
    *margin = 0.0;
    /* Rows: normals, then (global: momentum,) equality rows. Columns: r, v, l. */
    const bool global = problem->form == ST_FORM_GLOBAL;
    const int n_c = problem->n_contacts, n_r = problem->dim * n_c, n_v = global ? problem->n_v : 0, dim = problem->dim;
    const st_Sparse *all[] = {&problem->W, &problem->V, &problem->V, &problem->R, &problem->M,
                              &problem->H, &problem->H, &problem->G, &problem->G};
    int64_t entries = 0;
    for (int m = 0; m < 9; m++)
        entries += all[m]->p != NULL ? all[m]->p[all[m]->n_cols] : 0;
    STI_TRY(conditions_reserve(&k, n_c + n_v + problem->n_l, n_r + n_v + problem->n_l, entries, err));
    for (int j = 0; j < (global ? n_r : problem->W.n_cols); j++) { /* normal velocities */
        const st_Sparse *A = global ? &problem->H : &problem->W;
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++) {
            if (global && j % dim == 0) put(&k, j / dim, n_r + A->i[e], A->x[e]);
            if (!global && A->i[e] % dim == 0) put(&k, A->i[e] / dim, j, A->x[e]);
        }
    }
    for (int c = 0; c < n_c; c++) {
        k.c[c] = (global ? problem->w : problem->q)[dim * c];
        k.contact[k.n_contacts++] = (st_ContactLaw){.law = ST_LAW_CONE,
                                                    .dim = dim,
                                                    .first = dim * c,
                                                    .mu = problem->mu[c],
                                                    .mu_roll = dim >= 5 ? problem->mu_roll[c] : 0.0,
                                                    .mu_spin = dim == 4 || dim == 6 ? problem->mu_spin[c] : 0.0};
    }
    for (int j = n_r; j < k.columns; j++)
        k.contact[k.n_contacts++] = free_row(j);
    for (int i = n_c; i < k.rows; i++)
        k.equality[i] = true;
    if (global) {
        put_matrix(&k, &problem->M, false, 1.0, n_c, n_r);
        put_matrix(&k, &problem->H, false, -1.0, n_c, 0);
        for (int i = 0; i < n_v; i++)
            k.c[n_c + i] = -problem->f[i];
    }
    for (int j = 0; j < problem->n_l; j++)
        k.c[n_c + n_v + j] = global ? problem->b[j] : problem->s[j];
    if (problem->n_l > 0 && global) {
        put_matrix(&k, &problem->G, false, -1.0, n_c, n_r + n_v);
        put_matrix(&k, &problem->G, true, 1.0, n_c + n_v, n_r);
    }
    if (problem->n_l > 0 && !global) {
        put_matrix(&k, &problem->V, true, 1.0, n_c, 0);
        put_matrix(&k, &problem->R, false, 1.0, n_c, n_r);
        for (int j = 0; j < problem->n_l; j++)
            for (int64_t e = problem->V.p[j]; e < problem->V.p[j + 1]; e++)
                if (problem->V.i[e] % dim == 0) put(&k, problem->V.i[e] / dim, n_r + j, problem->V.x[e]);
    }
    k.cancel = problem->cancel;
    k.cancel_ctx = problem->cancel_ctx;
    return contradiction(&k, margin, err);
}

st_Status st_lcp_contradiction(const st_LcpProblem *problem, double *margin, st_Error *err)
{
    Conditions k;
    STI_TRY(sti_lcp_check(problem, err));
    if (margin == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the destination is NULL");
    *margin = 0.0;
    if (problem->n == 0) return ST_OK;
    STI_TRY(conditions_reserve(&k, problem->n, problem->n, problem->M.p[problem->n], err));
    put_matrix(&k, &problem->M, false, 1.0, 0, 0);
    for (int i = 0; i < problem->n; i++) {
        k.c[i] = problem->q[i];
        k.equality[i] = problem->free != NULL && problem->free[i];
        k.contact[k.n_contacts++] =
            k.equality[i] ? free_row(i) : (st_ContactLaw){.law = ST_LAW_FRICTIONLESS, .dim = 1, .first = i};
    }

    k.cancel = problem->cancel;
    k.cancel_ctx = problem->cancel_ctx;
    return contradiction(&k, margin, err);
}
