/* fclib_map.c -- velocities that belong to impulses, by the matrices of a problem file alone; fclib.h.
 *
 * M in a file may not be symmetric (one triangle only, or six digits), so no function relies on it. There are two
 * versions of the map. The plain one, for many columns of W, refines the solve with M until the residual of M v = rhs
 * no longer falls. The exact one, for the error of a solution, computes every product and residual in double-double. It
 * stores v and l as double-double and refines them until their corrections no longer fall (extra-precise iterative
 * refinement: Demmel et al. 2006). The last correction, which is not applied, bounds the remaining error.
 */
#include "fclib/fclib.h"
#include "math/sparse_lu.h"

#include <float.h>

enum { REFINEMENTS = 3, EXACT_REFINEMENTS = 12 };
/* A pivot of the equilibrated S below this fraction of the largest marks a row that depends on others. */
static const double dependent = 1e-11;
/* Rounds of equilibration, of rows and columns at once (Ruiz 2001). */
enum { EQUILIBRATIONS = 8 };
/* Masses may differ by any factor, so a pivot of M is called zero only when it is. */
static const double zero_pivot = 1e-300;

/* P D S E Q = L U, in place, with its rank. D and E are powers of two that make all rows and columns about 1 long: a
 * joint of light bodies, or in other units, does not depend on others because its numbers are small. */
typedef struct FullPivot {
    int n, rank;
    double *a; /* n x n, row-major: the matrix, then its factors                                     */
    int *row, *column;
    double *row_scale, *column_scale; /* D, E                                                        */
} FullPivot;

/* The equality rows, each multiplied by a power of two that makes its entries in G, local V, about 1: G'v + b = 0, or
 * V'r + R l + s = 0. Their multipliers are those of the problem divided by it. */
typedef struct EqualityRows {
    st_Sparse J, R;   /* G or V; R                                                              */
    double *x, *R_x;  /* values of J and R                                                      */
    double *constant; /* b or s                                                                 */
    double *scale;    /* the powers of two                                                      */
    int64_t n_x, n_R;
} EqualityRows;

struct sti_FrictionMap {
    st_Allocator allocator;
    const st_FrictionProblem *problem;
    sti_SparseLu *lu;
    /* M by rows, each entry a 1 x 1 block, the diagonal always among them. */
    int *first, *j;
    int64_t *p, *start, n_entries;
    double *x;
    EqualityRows rows;
    FullPivot S;
    double *Y;                            /* n_l columns of inv(M) G                                 */
    double *v, *side, *rest, *l, *side_l; /* work                                                    */
    sti_Dd *rhs, *dd_v, *dd_l, *dd_rest;  /* of the exact map: n_v, n_v, n_l, the longest of all      */
    double *size;                         /* sums of the sizes of terms, likewise                    */
};

void sti_sparse_add(const st_Sparse *A, const double *x, double *y)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++)
            y[A->i[e]] += A->x[e] * x[j];
}

void sti_sparse_add_transposed(const st_Sparse *A, const double *x, double *y)
{
    for (int j = 0; j < A->n_cols; j++) {
        double sum = 0.0;
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++)
            sum += A->x[e] * x[A->i[e]];
        y[j] += sum;
    }
}

/* ------------------------------------------------------------------ scales */

/* The power of two nearest to x > 0, within the range of doubles: products with it are exact. */
static double power_of_two(double x)
{
    return exp2(fmin(fmax(round(log2(x)), -1000.0), 1000.0));
}

double sti_equality_scale(const st_FrictionProblem *p, int j)
{
    const bool global = p->form == ST_FORM_GLOBAL;
    const st_Sparse *J = global ? &p->G : &p->V;
    double most = 0.0;
    for (int64_t e = J->p[j]; e < J->p[j + 1]; e++)
        most = fmax(most, fabs(J->x[e]));
    if (most == 0.0 && global) most = fabs(p->b[j]);
    return most > 0.0 ? power_of_two(1.0 / most) : 1.0;
}

/* ------------------------------------------------------------------ dense, with full pivoting */

static void swap_numbers(double *a, double *b)
{
    const double x = *a;
    *a = *b;
    *b = x;
}

static void full_pivot_factor(FullPivot *f)
{
    const int n = f->n;
    double largest = 0.0;
    f->rank = 0;
    for (int k = 0; k < n; k++) {
        f->row[k] = f->column[k] = k;
        f->row_scale[k] = f->column_scale[k] = 1.0;
    }
    for (int round = 0; round < EQUILIBRATIONS; round++)
        for (int side = 0; side < 2; side++) {
            double *scale = side == 0 ? f->row_scale : f->column_scale;
            for (int k = 0; k < n; k++) {
                double most = 0.0;
                for (int j = 0; j < n; j++)
                    most = fmax(most, fabs(side == 0 ? f->a[k * n + j] : f->a[j * n + k]));
                const double factor = power_of_two(most > 0.0 ? 1.0 / sqrt(most) : 1.0);
                for (int j = 0; j < n; j++)
                    *(side == 0 ? &f->a[k * n + j] : &f->a[j * n + k]) *= factor;
                scale[k] *= factor;
            }
        }
    for (int k = 0; k < n; k++) {
        int pr = k, pc = k;
        for (int i = k; i < n; i++)
            for (int j = k; j < n; j++)
                if (fabs(f->a[i * n + j]) > fabs(f->a[pr * n + pc])) pr = i, pc = j;
        const double pivot = fabs(f->a[pr * n + pc]);
        if (k == 0) largest = pivot;
        if (!(pivot > dependent * largest)) return;
        for (int j = 0; j < n; j++)
            swap_numbers(&f->a[k * n + j], &f->a[pr * n + j]);
        for (int i = 0; i < n; i++)
            swap_numbers(&f->a[i * n + k], &f->a[i * n + pc]);
        const int r = f->row[k], c = f->column[k];
        f->row[k] = f->row[pr], f->row[pr] = r;
        f->column[k] = f->column[pc], f->column[pc] = c;
        for (int i = k + 1; i < n; i++) {
            const double factor = f->a[i * n + k] /= f->a[k * n + k];
            for (int j = k + 1; j < n && factor != 0.0; j++)
                f->a[i * n + j] -= factor * f->a[k * n + j];
        }
        f->rank++;
    }
}

/* x <- a solution of S x = y on the independent rows, 0 for the dependent columns; y is spoilt. */
static void full_pivot_solve(const FullPivot *f, double *y, double *x)
{
    const int n = f->n;
    for (int k = 0; k < n; k++)
        x[k] = f->row_scale[f->row[k]] * y[f->row[k]];
    for (int k = 0; k < f->rank; k++)
        for (int i = k + 1; i < f->rank; i++)
            x[i] -= f->a[i * n + k] * x[k];
    for (int k = f->rank - 1; k >= 0; k--) {
        for (int j = k + 1; j < f->rank; j++)
            x[k] -= f->a[k * n + j] * x[j];
        x[k] /= f->a[k * n + k];
    }
    for (int k = 0; k < n; k++)
        y[f->column[k]] = k < f->rank ? f->column_scale[f->column[k]] * x[k] : 0.0;
    memcpy(x, y, (size_t)n * sizeof *x);
}

/* ------------------------------------------------------------------ create, destroy */

static int64_t count_map_entries(const st_Sparse *M)
{
    int64_t n = M->p[M->n_cols];
    for (int j = 0; j < M->n_cols; j++) {
        bool diagonal = false;
        for (int64_t e = M->p[j]; e < M->p[j + 1]; e++)
            if (M->i[e] == j) diagonal = true;
        if (!diagonal) n++;
    }
    return n;
}

static int64_t vector_size(const st_FrictionProblem *p)
{
    return (int64_t)p->n_v + (int64_t)p->dim * p->n_contacts + p->n_l + 1;
}

st_Status sti_friction_map_create(const st_FrictionProblem *p, sti_FrictionMap **out, st_Error *err)
{
    const st_Allocator a = st_default_allocator();
    const int64_t n_l = p->n_l, n_v = p->n_v, size = vector_size(p);
    sti_FrictionMap *map = sti_alloc(&a, 1, sizeof *map);
    if (map == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a friction problem");
    map->allocator = a;
    map->problem = p;
    map->S.n = p->n_l;
    map->n_entries = p->form == ST_FORM_GLOBAL ? count_map_entries(&p->M) : 0;
    const int64_t n_start = map->n_entries > n_v ? map->n_entries : n_v;
    EqualityRows *rows = &map->rows;
    if (n_l > 0) rows->J = p->form == ST_FORM_GLOBAL ? p->G : p->V;
    if (n_l > 0 && p->form == ST_FORM_LOCAL) rows->R = p->R;
    rows->n_x = n_l > 0 ? rows->J.p[n_l] : 0;
    rows->n_R = rows->R.p != NULL ? rows->R.p[n_l] : 0;
    bool ok = (map->S.a = sti_alloc(&a, n_l * n_l + 1, sizeof *map->S.a)) != NULL;
    ok = ok && (map->S.row = sti_alloc(&a, n_l + 1, sizeof *map->S.row)) != NULL;
    ok = ok && (map->S.column = sti_alloc(&a, n_l + 1, sizeof *map->S.column)) != NULL;
    ok = ok && (map->S.row_scale = sti_alloc(&a, n_l + 1, sizeof *map->S.row_scale)) != NULL;
    ok = ok && (map->S.column_scale = sti_alloc(&a, n_l + 1, sizeof *map->S.column_scale)) != NULL;
    ok = ok && (rows->x = sti_alloc(&a, rows->n_x + 1, sizeof *rows->x)) != NULL;
    ok = ok && (rows->R_x = sti_alloc(&a, rows->n_R + 1, sizeof *rows->R_x)) != NULL;
    ok = ok && (rows->constant = sti_alloc(&a, n_l + 1, sizeof *rows->constant)) != NULL;
    ok = ok && (rows->scale = sti_alloc(&a, n_l + 1, sizeof *rows->scale)) != NULL;
    ok = ok && (map->Y = sti_alloc(&a, n_l * n_v + 1, sizeof *map->Y)) != NULL;
    ok = ok && (map->v = sti_alloc(&a, size, sizeof *map->v)) != NULL;
    ok = ok && (map->side = sti_alloc(&a, size, sizeof *map->side)) != NULL;
    ok = ok && (map->rest = sti_alloc(&a, size, sizeof *map->rest)) != NULL;
    ok = ok && (map->l = sti_alloc(&a, size, sizeof *map->l)) != NULL;
    ok = ok && (map->side_l = sti_alloc(&a, size, sizeof *map->side_l)) != NULL;
    ok = ok && (map->rhs = sti_alloc(&a, size, sizeof *map->rhs)) != NULL;
    ok = ok && (map->dd_v = sti_alloc(&a, size, sizeof *map->dd_v)) != NULL;
    ok = ok && (map->dd_l = sti_alloc(&a, size, sizeof *map->dd_l)) != NULL;
    ok = ok && (map->dd_rest = sti_alloc(&a, size, sizeof *map->dd_rest)) != NULL;
    ok = ok && (map->size = sti_alloc(&a, size, sizeof *map->size)) != NULL;
    ok = ok && (map->first = sti_alloc(&a, n_v + 1, sizeof *map->first)) != NULL;
    ok = ok && (map->p = sti_alloc(&a, n_v + 1, sizeof *map->p)) != NULL;
    ok = ok && (map->j = sti_alloc(&a, map->n_entries + 1, sizeof *map->j)) != NULL;
    ok = ok && (map->start = sti_alloc(&a, n_start + 1, sizeof *map->start)) != NULL;
    ok = ok && (map->x = sti_alloc(&a, map->n_entries + 1, sizeof *map->x)) != NULL;
    st_Status status = ok ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory: a friction problem");
    if (status == ST_OK) {
        const double *constant = p->form == ST_FORM_GLOBAL ? p->b : p->s;
        for (int j = 0; j < p->n_l; j++) {
            rows->scale[j] = sti_equality_scale(p, j);
            for (int64_t e = rows->J.p[j]; e < rows->J.p[j + 1]; e++)
                rows->x[e] = rows->scale[j] * rows->J.x[e];
            rows->constant[j] = rows->scale[j] * constant[j];
        }
        for (int j = 0; j < p->n_l && rows->R.p != NULL; j++)
            for (int64_t e = rows->R.p[j]; e < rows->R.p[j + 1]; e++)
                rows->R_x[e] = rows->scale[rows->R.i[e]] * rows->R.x[e] * rows->scale[j];
        rows->J.x = rows->x;
        rows->R.x = rows->R_x;
    }
    if (status == ST_OK && p->form == ST_FORM_GLOBAL) {
        /* M, which comes by columns, by rows; missing diagonal entries are added as zeros. */
        const st_Sparse *M = &map->problem->M;
        const int n = M->n_rows;
        for (int j = 0; j < n; j++) {
            bool diagonal = false;
            for (int64_t e = M->p[j]; e < M->p[j + 1]; e++) {
                map->p[M->i[e] + 1]++;
                if (M->i[e] == j) diagonal = true;
            }
            if (!diagonal) map->p[j + 1]++;
        }
        for (int i = 0; i < n; i++)
            map->p[i + 1] += map->p[i];
        int64_t *next = map->start; /* for now: where the next entry of row i goes, kept in the first n places */
        memcpy(next, map->p, (size_t)n * sizeof *next);
        for (int j = 0; j < n; j++) {
            bool diagonal = false;
            for (int64_t e = M->p[j]; e < M->p[j + 1]; e++) {
                const int64_t at = next[M->i[e]]++;
                map->j[at] = j;
                map->x[at] = M->x[e];
                if (M->i[e] == j) diagonal = true;
            }
            if (!diagonal) {
                const int64_t at = next[j]++;
                map->j[at] = j;
                map->x[at] = 0.0;
            }
        }
        for (int64_t e = 0; e < map->n_entries; e++)
            map->start[e] = e;
        for (int i = 0; i <= n; i++)
            map->first[i] = i;

        status = sti_sparse_lu_create(&a, NULL, &map->lu, err);
    }
    if (status != ST_OK) {
        sti_friction_map_destroy(map);
        return status;
    }
    *out = map;
    return ST_OK;
}

void sti_friction_map_destroy(sti_FrictionMap *map)
{
    if (map == NULL) return;
    const st_Allocator a = map->allocator;
    const int64_t n_l = map->problem->n_l, n_v = map->problem->n_v, size = vector_size(map->problem);
    const int64_t n_start = map->n_entries > n_v ? map->n_entries : n_v;
    sti_sparse_lu_destroy(map->lu);
    sti_free(&a, map->x, map->n_entries + 1, sizeof *map->x);
    sti_free(&a, map->start, n_start + 1, sizeof *map->start);
    sti_free(&a, map->j, map->n_entries + 1, sizeof *map->j);
    sti_free(&a, map->p, n_v + 1, sizeof *map->p);
    sti_free(&a, map->first, n_v + 1, sizeof *map->first);
    sti_free(&a, map->size, size, sizeof *map->size);
    sti_free(&a, map->dd_rest, size, sizeof *map->dd_rest);
    sti_free(&a, map->dd_l, size, sizeof *map->dd_l);
    sti_free(&a, map->dd_v, size, sizeof *map->dd_v);
    sti_free(&a, map->rhs, size, sizeof *map->rhs);
    sti_free(&a, map->side_l, size, sizeof *map->side_l);
    sti_free(&a, map->l, size, sizeof *map->l);
    sti_free(&a, map->rest, size, sizeof *map->rest);
    sti_free(&a, map->side, size, sizeof *map->side);
    sti_free(&a, map->v, size, sizeof *map->v);
    sti_free(&a, map->Y, n_l * n_v + 1, sizeof *map->Y);
    sti_free(&a, map->rows.scale, n_l + 1, sizeof *map->rows.scale);
    sti_free(&a, map->rows.constant, n_l + 1, sizeof *map->rows.constant);
    sti_free(&a, map->rows.R_x, map->rows.n_R + 1, sizeof *map->rows.R_x);
    sti_free(&a, map->rows.x, map->rows.n_x + 1, sizeof *map->rows.x);
    sti_free(&a, map->S.column_scale, n_l + 1, sizeof *map->S.column_scale);
    sti_free(&a, map->S.row_scale, n_l + 1, sizeof *map->S.row_scale);
    sti_free(&a, map->S.column, n_l + 1, sizeof *map->S.column);
    sti_free(&a, map->S.row, n_l + 1, sizeof *map->S.row);
    sti_free(&a, map->S.a, n_l * n_l + 1, sizeof *map->S.a);
    sti_free(&a, map, 1, sizeof *map);
}

/* ------------------------------------------------------------------ factorise, apply */

static double largest_of(const double *x, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

/* y <- inv(M) y; rest and side are work. */
static void solve_M(sti_FrictionMap *map, double *y)
{
    const int n = map->problem->n_v;
    const size_t bytes = (size_t)n * sizeof *y;
    memcpy(map->rest, y, bytes);
    memcpy(map->side, y, bytes);
    sti_sparse_lu_solve(map->lu, y);
    double before = HUGE_VAL;
    for (int round = 0; round < REFINEMENTS; round++) {
        bool rounding = true; /* is all of the residual within the rounding of its own terms? */
        for (int i = 0; i < n; i++) {
            double sum = map->side[i], size = fabs(sum);
            for (int64_t e = map->p[i]; e < map->p[i + 1]; e++) {
                const double term = map->x[e] * y[map->j[e]];
                sum -= term;
                size += fabs(term);
            }
            map->rest[i] = sum;
            rounding = rounding && fabs(sum) <= DBL_EPSILON * size;
        }
        const double now = largest_of(map->rest, n);
        if (rounding || !(now < 0.5 * before)) return;
        before = now;
        sti_sparse_lu_solve(map->lu, map->rest);
        for (int i = 0; i < n; i++)
            y[i] += map->rest[i];
    }
}

/* S = G' inv(M) G column by column; local: S = -R. */
static void form_S(sti_FrictionMap *map)
{
    const st_FrictionProblem *p = map->problem;
    const int64_t n = p->n_l;
    for (int64_t k = 0; k < n * n; k++)
        map->S.a[k] = 0.0;
    if (p->form == ST_FORM_LOCAL) {
        for (int j = 0; j < n; j++)
            for (int64_t e = map->rows.R.p[j]; e < map->rows.R.p[j + 1]; e++)
                map->S.a[map->rows.R.i[e] * n + j] -= map->rows.R.x[e];
        return;
    }
    for (int j = 0; j < n; j++) {
        double *y = map->Y + (int64_t)j * p->n_v;
        memset(y, 0, (size_t)p->n_v * sizeof *y);
        for (int64_t e = map->rows.J.p[j]; e < map->rows.J.p[j + 1]; e++)
            y[map->rows.J.i[e]] = map->rows.J.x[e];
        solve_M(map, y);
        memset(map->l, 0, (size_t)n * sizeof *map->l);
        sti_sparse_add_transposed(&map->rows.J, y, map->l);
        for (int i = 0; i < n; i++)
            map->S.a[i * n + j] = map->l[i];
    }
}

st_Status sti_friction_map_factor(sti_FrictionMap *map, st_Error *err)
{
    const st_FrictionProblem *p = map->problem;
    if (p->form == ST_FORM_GLOBAL && p->n_v > 0) {
        const sti_BlockRows rows = {p->n_v, map->first, map->p, map->j, map->start};
        int replaced = 0;
        STI_TRY(sti_sparse_lu_factor(map->lu, &rows, map->x, zero_pivot, &replaced, err));
        if (replaced > 0)
            return sti_fail(err, ST_ERR_NUMERIC, "M is singular: %d of its %d pivots vanish", replaced, p->n_v);
    }
    form_S(map);
    full_pivot_factor(&map->S);
    return ST_OK;
}

/* l from S l = -(residual of the equality rows without l), and the change of v or u by l. */
static void add_equalities(sti_FrictionMap *map, const double *r, bool linear, double *v)
{
    const st_FrictionProblem *p = map->problem;
    const int n = p->n_l;
    const bool global = p->form == ST_FORM_GLOBAL;
    const double *constant = linear ? NULL : map->rows.constant;
    for (int k = 0; k < n; k++)
        map->side_l[k] = constant != NULL ? constant[k] : 0.0;
    if (global)
        sti_sparse_add_transposed(&map->rows.J, v, map->side_l);
    else
        sti_sparse_add_transposed(&map->rows.J, r, map->side_l);
    for (int k = 0; k < n && global; k++) /* global: S l = -side;  local: R l = -side, S = -R */
        map->side_l[k] = -map->side_l[k];
    full_pivot_solve(&map->S, map->side_l, map->l);
    for (int k = 0; k < n && global && v != NULL; k++)
        for (int i = 0; i < p->n_v; i++)
            v[i] += map->Y[(int64_t)k * p->n_v + i] * map->l[k];
}

void sti_friction_map_apply(sti_FrictionMap *map, const double *r, bool linear, double *v, double *l, double *u)
{
    const st_FrictionProblem *p = map->problem;
    const int n_r = p->dim * p->n_contacts;
    const bool global = p->form == ST_FORM_GLOBAL;
    const double *constant = linear ? NULL : global ? p->w : p->q;
    for (int k = 0; k < n_r; k++)
        u[k] = constant != NULL ? constant[k] : 0.0;
    if (global) {
        for (int i = 0; i < p->n_v; i++)
            map->v[i] = linear ? 0.0 : p->f[i];
        sti_sparse_add(&p->H, r, map->v);
        solve_M(map, map->v);
        if (p->n_l > 0) add_equalities(map, r, linear, map->v);
        sti_sparse_add_transposed(&p->H, map->v, u);
        if (v != NULL && p->n_v > 0) memcpy(v, map->v, (size_t)p->n_v * sizeof *v);
    } else {
        sti_sparse_add(&p->W, r, u);
        if (p->n_l > 0) {
            add_equalities(map, r, linear, NULL);
            sti_sparse_add(&map->rows.J, map->l, u);
        }
    }
    for (int k = 0; l != NULL && k < p->n_l; k++)
        l[k] = map->rows.scale[k] * map->l[k];
}

/* ------------------------------------------------------------------ trace(W) */

/* trace(X inv(S) X') = trace(inv(S) X'X) with X = H' inv(M) G, local X = V: the part of trace(W) that joints remove. X,
 * n_r x n_l row-major, is work of the caller's.                                                          */
static double trace_of_joints(sti_FrictionMap *map, double *X, double *square)
{
    const st_FrictionProblem *p = map->problem;
    const int64_t n = p->n_l, n_r = (int64_t)p->dim * p->n_contacts;
    double trace = 0.0;
    memset(X, 0, (size_t)(n_r * n) * sizeof *X);
    memset(square, 0, (size_t)(n * n) * sizeof *square);
    for (int64_t k = 0; k < n; k++) {
        if (p->form == ST_FORM_LOCAL) {
            for (int64_t e = map->rows.J.p[k]; e < map->rows.J.p[k + 1]; e++)
                X[map->rows.J.i[e] * n + k] += map->rows.J.x[e];
            continue;
        }
        const double *y = map->Y + k * p->n_v;
        for (int j = 0; j < n_r; j++)
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                X[j * n + k] += p->H.x[e] * y[p->H.i[e]];
    }
    for (int64_t j = 0; j < n_r; j++)
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n && X[j * n + a] != 0.0; b++)
                square[b * n + a] += X[j * n + a] * X[j * n + b];
    for (int64_t k = 0; k < n; k++) {
        memcpy(map->side_l, square + k * n, (size_t)n * sizeof *square); /* symmetric: a row is a column */
        full_pivot_solve(&map->S, map->side_l, map->l);
        trace += map->l[k];
    }
    return trace;
}

st_Status sti_friction_map_trace(sti_FrictionMap *map, double *trace, st_Error *err)
{
    const st_FrictionProblem *p = map->problem;
    const int64_t n_v = p->n_v, n_l = p->n_l, n_x = n_l * p->dim * p->n_contacts;
    int *body = sti_alloc(&map->allocator, 2 * n_v + 1, sizeof *body);
    double *X = sti_alloc(&map->allocator, n_x + n_l * n_l + 1, sizeof *X);
    st_Status status = ST_OK;
    *trace = 0.0;
    if (body == NULL || X == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: the scale of %d contacts", p->n_contacts);
    } else {
        if (p->form == ST_FORM_LOCAL) {
            for (int j = 0; j < p->W.n_cols; j++)
                for (int64_t e = p->W.p[j]; e < p->W.p[j + 1]; e++)
                    if (p->W.i[e] == j) *trace += p->W.x[e];
        } else {
            sti_friction_bodies(&p->M, p->dim, body);
            /* trace(H' inv(M) H). M couples no two bodies, so that the k-th columns of the inverses of all bodies'
             * blocks come from one solve: as many solves as the largest body has velocities, six for rigid bodies. */
            int *place = body + n_v;
            double sum = 0.0;
            int largest = 0;
            int *count = map->first; /* 0, 1, 2 ... again at the end */
            memset(count, 0, (size_t)p->n_v * sizeof *count);
            for (int i = 0; i < p->n_v; i++) {
                place[i] = count[body[i]]++;
                largest = place[i] + 1 > largest ? place[i] + 1 : largest;
            }
            for (int i = 0; i <= p->n_v; i++)
                map->first[i] = i;
            for (int k = 0; k < largest; k++) {
                double *y = map->v;
                for (int i = 0; i < p->n_v; i++)
                    y[i] = place[i] == k ? 1.0 : 0.0;
                solve_M(map, y);
                for (int j = 0; j < p->H.n_cols; j++)
                    for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                        for (int64_t d = p->H.p[j]; place[p->H.i[e]] == k && d < p->H.p[j + 1]; d++)
                            if (body[p->H.i[d]] == body[p->H.i[e]]) sum += p->H.x[e] * p->H.x[d] * y[p->H.i[d]];
            }
            *trace = sum;
        }
        if (n_l > 0) *trace -= (p->form == ST_FORM_LOCAL ? -1.0 : 1.0) * trace_of_joints(map, X, X + n_x);
    }
    sti_free(&map->allocator, X, n_x + n_l * n_l + 1, sizeof *X);
    sti_free(&map->allocator, body, 2 * n_v + 1, sizeof *body);
    return status;
}

/* ------------------------------------------------------------------ in double-double */

/* y += A x and size += |A| |x|, for x of doubles. */
static void dd_add(const st_Sparse *A, const double *x, sti_Dd *y, double *size)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1] && x[j] != 0.0; e++) {
            y[A->i[e]] = sti_dd_add_product(y[A->i[e]], A->x[e], x[j]);
            size[A->i[e]] += fabs(A->x[e] * x[j]);
        }
}

/* y += sign A x. */
static void dd_add_pairs(const st_Sparse *A, double sign, const sti_Dd *x, sti_Dd *y, double *size)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++) {
            const double a = sign * A->x[e];
            y[A->i[e]] = sti_dd_add_product(sti_dd_add_product(y[A->i[e]], a, x[j].hi), a, x[j].lo);
            size[A->i[e]] += fabs(a * x[j].hi);
        }
}

/* y += A'x. */
static void dd_add_transposed(const st_Sparse *A, const sti_Dd *x, sti_Dd *y, double *size)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++) {
            const sti_Dd *at = &x[A->i[e]];
            y[j] = sti_dd_add_product(sti_dd_add_product(y[j], A->x[e], at->hi), A->x[e], at->lo);
            size[j] += fabs(A->x[e] * at->hi);
        }
}

static void dd_begin(const double *constant, int n, sti_Dd *y, double *size)
{
    for (int k = 0; k < n; k++) {
        y[k] = sti_dd(constant[k]);
        size[k] = fabs(constant[k]);
    }
}

/* The residuals of both equations at (v, l): of momentum in map->v, of the equality rows in map->side_l. */
static void exact_map_residuals(sti_FrictionMap *map, const double *r)
{
    const st_FrictionProblem *p = map->problem;
    sti_Dd *rest = map->dd_rest;
    if (p->form == ST_FORM_GLOBAL) {
        memcpy(rest, map->rhs, (size_t)p->n_v * sizeof *rest);
        dd_add_pairs(&p->M, -1.0, map->dd_v, rest, map->size);
        if (p->n_l > 0) dd_add_pairs(&map->rows.J, 1.0, map->dd_l, rest, map->size);
        for (int i = 0; i < p->n_v; i++)
            map->v[i] = sti_dd_value(rest[i]);
    }
    if (p->n_l == 0) return;
    dd_begin(map->rows.constant, p->n_l, rest, map->size);
    if (p->form == ST_FORM_GLOBAL) {
        dd_add_transposed(&map->rows.J, map->dd_v, rest, map->size);
    } else {
        for (int j = 0; j < p->n_l; j++)
            for (int64_t e = map->rows.J.p[j]; e < map->rows.J.p[j + 1]; e++)
                rest[j] = sti_dd_add_product(rest[j], map->rows.J.x[e], r[map->rows.J.i[e]]);
        dd_add_pairs(&map->rows.R, 1.0, map->dd_l, rest, map->size);
    }
    for (int k = 0; k < p->n_l; k++)
        map->side_l[k] = sti_dd_value(rest[k]);
}

/* The corrections of v and l that the residuals in map->v and map->side_l ask for, left in map->v and map->l. */
static double exact_correction(sti_FrictionMap *map)
{
    const st_FrictionProblem *p = map->problem;
    if (p->form == ST_FORM_LOCAL) {
        full_pivot_solve(&map->S, map->side_l, map->l); /* R l = -side, S = -R */
        return largest_of(map->l, p->n_l);
    }
    sti_sparse_lu_solve(map->lu, map->v);
    if (p->n_l > 0) {
        sti_sparse_add_transposed(&map->rows.J, map->v, map->side_l);
        for (int k = 0; k < p->n_l; k++)
            map->side_l[k] = -map->side_l[k];
        full_pivot_solve(&map->S, map->side_l, map->l);
        for (int k = 0; k < p->n_l; k++)
            for (int i = 0; i < p->n_v; i++)
                map->v[i] += map->Y[(int64_t)k * p->n_v + i] * map->l[k];
    }
    return largest_of(map->v, p->n_v);
}

void sti_friction_map_exact(sti_FrictionMap *map, const double *r, sti_Dd *u, double *bound, sti_FrictionExact *out)
{
    const st_FrictionProblem *p = map->problem;
    const int n_r = p->dim * p->n_contacts, n_v = p->n_v, n_l = p->n_l;
    const bool global = p->form == ST_FORM_GLOBAL;
    const double unit = 8.0 * STI_DD_UNIT;
    *out = (sti_FrictionExact){.v = map->dd_v, .l = map->dd_l};
    if (global) {
        dd_begin(p->f, n_v, map->rhs, map->size);
        dd_add(&p->H, r, map->rhs, map->size);
    }
    memset(map->dd_v, 0, (size_t)n_v * sizeof *map->dd_v);
    memset(map->dd_l, 0, (size_t)n_l * sizeof *map->dd_l);
    double before = HUGE_VAL;
    for (int round = 0; (global || n_l > 0) && round < EXACT_REFINEMENTS; round++) {
        exact_map_residuals(map, r);
        const double now = exact_correction(map);
        if (!(now < 0.5 * before)) break;
        for (int i = 0; i < n_v; i++)
            map->dd_v[i] = sti_dd_add(map->dd_v[i], sti_dd(map->v[i]));
        for (int k = 0; k < n_l; k++)
            map->dd_l[k] = sti_dd_add(map->dd_l[k], sti_dd(map->l[k]));
        before = now;
        if (now == 0.0) break;
    }

    double *v_bound = map->rest, *l_bound = map->side; /* free between solves with M */
    for (int i = 0; i < n_v; i++)
        v_bound[i] = 2.0 * fabs(map->v[i]) + unit * fabs(map->dd_v[i].hi);
    for (int k = 0; k < n_l && !global; k++)
        l_bound[k] = 2.0 * fabs(map->l[k]) + unit * fabs(map->dd_l[k].hi);
    if (global) { /* and the possible effect of the rounding of the residual */
        dd_begin(p->f, n_v, map->dd_rest, map->v);
        dd_add(&p->H, r, map->dd_rest, map->v);
        dd_add_pairs(&p->M, 1.0, map->dd_v, map->dd_rest, map->v);
        if (n_l > 0) dd_add_pairs(&map->rows.J, 1.0, map->dd_l, map->dd_rest, map->v);
        for (int k = 0; k < n_l; k++)
            map->side_l[k] = 0.0;
        exact_correction(map);
        for (int i = 0; i < n_v; i++)
            v_bound[i] += 16.0 * unit * fabs(map->v[i]);
    }

    dd_begin(global ? p->w : p->q, n_r, u, bound);
    if (global) {
        dd_add_transposed(&p->H, map->dd_v, u, bound);
    } else {
        dd_add(&p->W, r, u, bound);
        if (n_l > 0) dd_add_pairs(&map->rows.J, 1.0, map->dd_l, u, bound);
    }
    for (int k = 0; k < n_r; k++)
        bound[k] *= unit * ((double)n_r + n_v + n_l); /* no sum has more terms */
    for (int j = 0; j < n_r && global; j++)
        for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
            bound[j] += fabs(p->H.x[e]) * v_bound[p->H.i[e]];
    for (int j = 0; j < n_l && !global; j++)
        for (int64_t e = map->rows.J.p[j]; e < map->rows.J.p[j + 1]; e++)
            bound[map->rows.J.i[e]] += fabs(map->rows.J.x[e]) * l_bound[j];

    double square = 0.0, terms = 0.0;
    if (n_l > 0) {
        dd_begin(map->rows.constant, n_l, map->dd_rest, map->size);
        if (global) {
            dd_add_transposed(&map->rows.J, map->dd_v, map->dd_rest, map->size);
        } else {
            dd_add_pairs(&map->rows.R, 1.0, map->dd_l, map->dd_rest, map->size);
            for (int j = 0; j < n_l; j++)
                for (int64_t e = map->rows.J.p[j]; e < map->rows.J.p[j + 1]; e++) {
                    map->dd_rest[j] = sti_dd_add_product(map->dd_rest[j], map->rows.J.x[e], r[map->rows.J.i[e]]);
                    map->size[j] += fabs(map->rows.J.x[e] * r[map->rows.J.i[e]]);
                }
        }
    }
    for (int k = 0; k < n_l; k++) {
        const double rest = sti_dd_value(map->dd_rest[k]);
        square += rest * rest;
        terms += map->size[k] * map->size[k];
    }
    out->equality = square > 0.0 ? sqrt(square / terms) : 0.0;
    for (int k = 0; k < n_l; k++) {
        map->dd_l[k].hi *= map->rows.scale[k];
        map->dd_l[k].lo *= map->rows.scale[k];
    }
}
