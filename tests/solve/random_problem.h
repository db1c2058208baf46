/* Seeded random friction problems of rigid bodies, and a judge of their solutions that shares nothing with
 * the library: dense, in long double, straight from the formulas of docs/methods.md 12.
 *
 * Bodies have 6 velocities (3 in the plane) and masses log-uniform over a range; contacts are between two bodies or
 * a body and the ground, some of them twice; ball joints likewise; soft rows; all at the velocity level: w_n >= 0, g
 * = 0, so that a solution exists (Anitescu & Potra 2002, Theorem 2.1).
 */
#ifndef STI_RANDOM_PROBLEM_H
#define STI_RANDOM_PROBLEM_H

#include "check.h"

#include <stdbool.h>
#include <stiction/problem.h>
#include <string.h>

typedef enum FreeVelocity { BY_ENERGY, BY_SPEED, BY_IMPULSE } FreeVelocity;

typedef struct CaseDef {
    uint64_t seed;
    int min_contacts, max_contacts;
    double mass_range;   /* heaviest over lightest                                                */
    FreeVelocity motion; /* inv(A) f is about 1/sqrt(m), 1 or 1/m                                 */
} CaseDef;

typedef struct Case {
    st_Problem problem;
    bool plane, nonsymmetric;
    int n_bodies, dofs, redundant_contacts, redundant_joints;
    double *A, *G_x, *H_x, *Cb_x, *C_x, *f, *g, *w, *G, *H; /* G, H also dense, by column         */
    int *A_first, *G_i, *H_i, *Cb_first;
    int64_t *G_p, *H_p;
    double *position; /* of the bodies, 3 each */
    st_ContactLaw *contact;
    void *block[32];
    int n_blocks;
} Case;

static inline void *case_alloc(Case *c, int64_t count, size_t size)
{
    void *memory = calloc((size_t)(count > 0 ? count : 1), size);
    assert_non_null(memory);
    assert_true(c->n_blocks < 32);
    c->block[c->n_blocks++] = memory;
    return memory;
}

static inline void case_free(Case *c)
{
    for (int i = 0; i < c->n_blocks; i++)
        free(c->block[i]);
    *c = (Case){0};
}

static inline void random_unit(check_Random *random, bool plane, double e[3])
{
    double length;
    do {
        for (int i = 0; i < 3; i++)
            e[i] = plane && i == 2 ? 0.0 : check_random(random, -1, 1);
        length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    } while (length < 0.1 || length > 1.0);
    for (int i = 0; i < 3; i++)
        e[i] /= length;
}

static inline void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* column += sign (e, p x e) on a body's velocities: the speed of its point p along e. body < 0: ground. */
static inline void add_body_column(const Case *c, double *column, int body, double sign, const double point[3],
                                   const double e[3])
{
    if (body < 0) return;
    double arm[3], moment[3];
    for (int i = 0; i < 3; i++)
        arm[i] = point[i] - c->position[3 * body + i];
    cross(arm, e, moment);
    double *at = column + body * c->dofs;
    for (int i = 0; i < c->dofs - (c->plane ? 1 : 3); i++)
        at[i] += sign * e[i];
    if (c->plane) at[2] += sign * moment[2];
    for (int i = 0; i < 3 && !c->plane; i++)
        at[3 + i] += sign * moment[i];
}

static inline void make_masses(Case *c, const CaseDef *def, check_Random *random, double *mass)
{
    int d = c->dofs;
    c->A_first = case_alloc(c, c->n_bodies + 1, sizeof *c->A_first);
    c->A = case_alloc(c, (int64_t)c->n_bodies * d * d, sizeof *c->A);
    for (int body = 0; body < c->n_bodies; body++) {
        double *A = c->A + body * d * d, m = exp(check_random(random, 0, log(def->mass_range)));
        c->A_first[body + 1] = (body + 1) * d;
        mass[body] = m;
        int linear = c->plane ? 2 : 3;
        for (int i = 0; i < d; i++)
            A[i * d + i] = i < linear ? m : m * check_random(random, 0.02, 0.4);
        if (!c->plane) /* a full inertia: the diagonal one plus a rank-one part */
            for (int k = 0; k < 1; k++) {
                double e[3];
                random_unit(random, false, e);
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        A[(3 + i) * d + 3 + j] += 0.1 * m * e[i] * e[j];
            }
        if (!c->nonsymmetric) continue;
        for (int i = 0; i < d; i++)
            for (int j = 0; j < i; j++) {
                double skew = check_random(random, -0.3, 0.3) * m;
                A[i * d + j] += skew;
                A[j * d + i] -= skew;
            }
    }
}

/* Two different bodies, the second often the ground (-1). */
static inline void pick_bodies(const Case *c, check_Random *random, int pair[2])
{
    pair[0] = check_random_int(random, 0, c->n_bodies - 1);
    pair[1] = check_random_int(random, -1, c->n_bodies - 1);
    if (pair[1] == pair[0] || check_random(random, 0, 1) < 0.3) pair[1] = -1;
}

static inline void random_point(const Case *c, check_Random *random, int body, double point[3])
{
    for (int i = 0; i < 3; i++)
        point[i] = c->position[3 * body + i] + (c->plane && i == 2 ? 0.0 : check_random(random, -1, 1));
}

static inline void make_joints(Case *c, check_Random *random, int n_joints, int n_soft)
{
    int n_v = c->problem.n_v, rows = c->plane ? 2 : 3;
    c->G = case_alloc(c, (int64_t)n_v * c->problem.n_l, sizeof *c->G);
    c->Cb_x = case_alloc(c, c->problem.n_l, sizeof *c->Cb_x);
    for (int joint = 0; joint < n_joints; joint++) {
        double *G = c->G + (int64_t)joint * rows * n_v;
        if (joint > 0 && check_random(random, 0, 1) < 0.3) { /* the one before again */
            memcpy(G, G - (int64_t)rows * n_v, (size_t)(rows * n_v) * sizeof *G);
            c->redundant_joints++;
            continue;
        }
        int pair[2];
        double point[3];
        pick_bodies(c, random, pair);
        random_point(c, random, pair[0], point);
        for (int i = 0; i < rows; i++) {
            double e[3] = {i == 0, i == 1, i == 2};
            add_body_column(c, G + i * n_v, pair[0], 1.0, point, e);
            add_body_column(c, G + i * n_v, pair[1], -1.0, point, e);
        }
    }
    for (int soft = 0; soft < n_soft; soft++) {
        int row = n_joints * rows + soft, pair[2];
        double point[3], e[3];
        pick_bodies(c, random, pair);
        random_point(c, random, pair[0], point);
        random_unit(random, c->plane, e);
        add_body_column(c, c->G + (int64_t)row * n_v, pair[0], 1.0, point, e);
        add_body_column(c, c->G + (int64_t)row * n_v, pair[1], -1.0, point, e);
        c->Cb_x[row] = exp(check_random(random, log(1e-8), log(10.0)));
    }
}

static inline void make_contact_columns(Case *c, check_Random *random, const st_ContactLaw *contact)
{
    int pair[2], n_v = c->problem.n_v;
    double point[3], e[3][3];
    pick_bodies(c, random, pair);
    random_point(c, random, pair[0], point);
    random_unit(random, c->plane, e[0]);
    if (c->plane) {
        e[1][0] = -e[0][1], e[1][1] = e[0][0], e[1][2] = 0.0;
    } else {
        double other[3], length;
        do {
            random_unit(random, false, other);
            cross(e[0], other, e[1]);
            length = sqrt(e[1][0] * e[1][0] + e[1][1] * e[1][1] + e[1][2] * e[1][2]);
        } while (length < 0.1);
        for (int i = 0; i < 3; i++)
            e[1][i] /= length;
        cross(e[0], e[1], e[2]);
    }
    for (int i = 0; i < contact->dim; i++) {
        double *H = c->H + (int64_t)(contact->first + i) * n_v;
        add_body_column(c, H, pair[0], 1.0, point, e[i]);
        add_body_column(c, H, pair[1], -1.0, point, e[i]);
    }
}

static inline void make_laws(Case *c, check_Random *random, int n_contacts)
{
    double mix = check_random(random, 0, 1);
    c->contact = case_alloc(c, n_contacts, sizeof *c->contact);
    for (int i = 0; i < n_contacts; i++) {
        st_ContactLaw *contact = &c->contact[i];
        contact->law = mix < 0.7 ? ST_LAW_PYRAMID : mix < 0.8 ? ST_LAW_BOX : ST_LAW_PYRAMID;
        double kind = check_random(random, 0, 1);
        if (mix >= 0.8 && kind < 0.5)
            contact->law = kind < 0.15 ? ST_LAW_FRICTIONLESS : kind < 0.3 ? ST_LAW_BOUNDED : ST_LAW_BOX;
        bool scalar = contact->law == ST_LAW_FRICTIONLESS || contact->law == ST_LAW_BOUNDED;
        contact->dim = scalar ? 1 : c->plane ? 2 : 3;
        contact->facets = c->plane ? 2 : 2 * check_random_int(random, 1, 4);
        contact->mu = check_random(random, 0, 1) < 0.1 ? 0.0 : check_random(random, 0, 2);
        contact->first = c->problem.n_r;
        double bounds = check_random(random, 0, 1); /* 0 between them: a motor, a joint's friction, a stop */
        contact->lo = bounds < 0.2 ? -INFINITY : -check_random(random, 0, 2);
        contact->hi = bounds > 0.1 && bounds < 0.4 ? INFINITY : check_random(random, 0, 2);
        c->problem.n_r += contact->dim;
    }
    c->problem.n_contacts = n_contacts;
}

static inline void make_contacts(Case *c, check_Random *random)
{
    int n_v = c->problem.n_v;
    bool with_copies = check_random(random, 0, 1) < 0.3, with_drift = check_random(random, 0, 1) < 0.2;
    c->H = case_alloc(c, (int64_t)n_v * c->problem.n_r, sizeof *c->H);
    c->w = case_alloc(c, c->problem.n_r, sizeof *c->w);
    for (int i = 0; i < c->problem.n_contacts; i++) {
        st_ContactLaw *contact = &c->contact[i];
        int twin = i > 0 ? check_random_int(random, 0, i - 1) : 0;
        if (i > 0 && with_copies && check_random(random, 0, 1) < 0.4 && c->contact[twin].dim == contact->dim) {
            memcpy(c->H + (int64_t)contact->first * n_v, c->H + (int64_t)c->contact[twin].first * n_v,
                   (size_t)(contact->dim * n_v) * sizeof *c->H);
            c->redundant_contacts++;
        } else {
            make_contact_columns(c, random, contact);
        }
        bool one_sided = contact->law != ST_LAW_BOUNDED;
        if (with_drift && one_sided) c->w[contact->first] = check_random(random, 0, 1);
    }
}

/* A dense matrix by column as compressed columns. */
static inline st_Sparse compress(Case *c, const double *dense, int n_rows, int n_cols)
{
    int64_t count = 0;
    int64_t *p = case_alloc(c, n_cols + 1, sizeof *p);
    int *index = case_alloc(c, (int64_t)n_rows * n_cols, sizeof *index);
    double *x = case_alloc(c, (int64_t)n_rows * n_cols, sizeof *x);
    for (int j = 0; j < n_cols; j++) {
        for (int i = 0; i < n_rows; i++) {
            if (dense[(int64_t)j * n_rows + i] == 0.0) continue;
            index[count] = i;
            x[count++] = dense[(int64_t)j * n_rows + i];
        }
        p[j + 1] = count;
    }
    return (st_Sparse){.n_rows = n_rows, .n_cols = n_cols, .p = p, .i = index, .x = x};
}

static inline void make_force(Case *c, const CaseDef *def, check_Random *random, const double *mass)
{
    int d = c->dofs;
    c->f = case_alloc(c, c->problem.n_v, sizeof *c->f);
    for (int body = 0; body < c->n_bodies; body++) {
        const double *A = c->A + body * d * d;
        double v[6], size = def->motion == BY_ENERGY  ? 1 / sqrt(mass[body])
                            : def->motion == BY_SPEED ? 1
                                                      : 1 / mass[body];
        for (int i = 0; i < d; i++)
            v[i] = size * check_random(random, -1, 1);
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                c->f[body * d + i] += A[i * d + j] * v[j];
    }
}

static inline void case_make(Case *c, const CaseDef *def)
{
    check_Random random = {.state = def->seed};
    *c = (Case){0};
    int n_contacts = check_random_int(&random, def->min_contacts, def->max_contacts);
    c->plane = check_random(&random, 0, 1) < 0.3;
    c->nonsymmetric = check_random(&random, 0, 1) < 0.2;
    c->dofs = c->plane ? 3 : 6;
    c->n_bodies = check_random_int(&random, 1, 2 + n_contacts / 2);
    bool jointed = check_random(&random, 0, 1) < 0.4;
    int n_joints = jointed ? check_random_int(&random, 1, 1 + c->n_bodies / 2) : 0;
    int n_soft = check_random(&random, 0, 1) < 0.2 ? check_random_int(&random, 1, 2) : 0;
    st_Problem *problem = &c->problem;
    problem->n_v = c->n_bodies * c->dofs;
    problem->n_l = n_joints * (c->plane ? 2 : 3) + n_soft;
    problem->symmetric = !c->nonsymmetric;
    c->position = case_alloc(c, 3 * (int64_t)c->n_bodies, sizeof *c->position);
    double *mass = case_alloc(c, c->n_bodies, sizeof *mass);
    for (int i = 0; i < 3 * c->n_bodies; i++)
        c->position[i] = c->plane && i % 3 == 2 ? 0.0 : check_random(&random, -1, 1);
    make_masses(c, def, &random, mass);
    make_joints(c, &random, n_joints, n_soft);
    make_laws(c, &random, n_contacts);
    make_contacts(c, &random);
    make_force(c, def, &random, mass);

    c->g = case_alloc(c, problem->n_l, sizeof *c->g);
    c->Cb_first = case_alloc(c, problem->n_l + 1, sizeof *c->Cb_first);
    for (int i = 0; i <= problem->n_l; i++)
        c->Cb_first[i] = i;
    problem->A = (st_BlockDiag){.n_blocks = c->n_bodies, .first = c->A_first, .x = c->A};
    problem->Cb = (st_BlockDiag){.n_blocks = problem->n_l, .first = c->Cb_first, .x = c->Cb_x};
    problem->G = compress(c, c->G, problem->n_v, problem->n_l);
    problem->H = compress(c, c->H, problem->n_v, problem->n_r);
    problem->f = c->f, problem->g = c->g, problem->w = c->w, problem->contact = c->contact;
}

/* ---- the judge ------------------------------------------------------------------------------- */

typedef long double real;

/* u = W r + b, with W and b formed in long double; V = inv(A) [H G f] with joints folded in. */
typedef struct Dense {
    int n_r;
    real *W, *b;
    real *b_terms; /* sum of the magnitudes that b = H'v_free + w is made of */
} Dense;

/* X <- inv(A) X for one column, body by body. */
static inline void dense_apply_inverse_A(const Case *c, real *x)
{
    int d = c->dofs;
    for (int body = 0; body < c->n_bodies; body++) {
        real a[36], *b = x + body * d;
        for (int i = 0; i < d * d; i++)
            a[i] = (real)c->A[body * d * d + i];
        for (int p = 0; p < d; p++) /* symmetric part positive definite: no pivoting needed */
            for (int i = p + 1; i < d; i++) {
                real factor = a[i * d + p] / a[p * d + p];
                for (int j = p; j < d; j++)
                    a[i * d + j] -= factor * a[p * d + j];
                b[i] -= factor * b[p];
            }
        for (int i = d - 1; i >= 0; i--) {
            for (int j = i + 1; j < d; j++)
                b[i] -= a[i * d + j] * b[j];
            b[i] /= a[i * d + i];
        }
    }
}

static inline real dense_dot(int n, const double *a, const real *b)
{
    real sum = 0;
    for (int i = 0; i < n; i++)
        sum += (real)a[i] * b[i];
    return sum;
}

/* inv(S) of S = G'inv(A) G + Cb by elimination with diagonal pivoting, relative to the first diagonal; rows that
 * depend on others show a vanishing pivot and stay out: zero rows and columns.                    */
static inline void dense_invert(int n, real *S)
{
    int width = 2 * n;
    real *T = calloc((size_t)(n * width + 1), sizeof *T), *diagonal = calloc((size_t)n + 1, sizeof *diagonal);
    bool *done = calloc((size_t)n + 1, sizeof *done);
    for (int i = 0; i < n; i++) {
        memcpy(T + i * width, S + i * n, (size_t)n * sizeof *S);
        T[i * width + n + i] = 1;
        diagonal[i] = S[i * n + i];
    }
    for (int rank = 0; rank < n; rank++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!done[i] && (best < 0 || T[i * width + i] / diagonal[i] > T[best * width + best] / diagonal[best]))
                best = i;
        if (!(T[best * width + best] > 1e-15L * diagonal[best])) break;
        done[best] = true;
        for (int i = 0; i < n; i++) {
            real factor = T[i * width + best] / T[best * width + best];
            for (int k = 0; k < width && i != best && factor != 0; k++)
                T[i * width + k] -= factor * T[best * width + k];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            S[i * n + j] = done[i] && done[j] ? T[i * width + n + j] / T[i * width + i] : 0;
    free(T), free(diagonal), free(done);
}

/* Fold the joints into the columns V (n_cols of n_v): V <- V + inv(A) G l with G'V + Cb l = 0. Repeated, because the
 * remainder of V after a stiff row is a small difference of large terms. */
static inline void dense_fold_joints(const Case *c, real *V, int n_cols)
{
    int n_v = c->problem.n_v, n_l = c->problem.n_l;
    real *Y = calloc((size_t)(n_v * n_l + 1), sizeof *Y), *S = calloc((size_t)(n_l * n_l + 1), sizeof *S);
    real *l = calloc((size_t)n_l + 1, sizeof *l), *e = calloc((size_t)n_l + 1, sizeof *e);
    for (int j = 0; j < n_l; j++) {
        for (int i = 0; i < n_v; i++)
            Y[j * n_v + i] = (real)c->G[j * n_v + i];
        dense_apply_inverse_A(c, Y + j * n_v);
    }
    for (int i = 0; i < n_l; i++)
        for (int j = 0; j < n_l; j++)
            S[i * n_l + j] = dense_dot(n_v, c->G + i * n_v, Y + j * n_v) + (i == j ? (real)c->Cb_x[i] : 0);
    dense_invert(n_l, S);
    for (int j = 0; j < n_cols; j++) {
        memset(l, 0, (size_t)n_l * sizeof *l);
        for (int round = 0; round < 4; round++) {
            for (int i = 0; i < n_l; i++)
                e[i] = dense_dot(n_v, c->G + i * n_v, V + j * n_v) + (real)c->Cb_x[i] * l[i];
            for (int i = 0; i < n_l; i++) {
                real change = 0;
                for (int k = 0; k < n_l; k++)
                    change -= S[i * n_l + k] * e[k];
                l[i] += change;
                for (int k = 0; k < n_v; k++)
                    V[j * n_v + k] += Y[i * n_v + k] * change;
            }
        }
    }
    free(Y), free(S), free(l), free(e);
}

static inline void dense_make(Dense *dense, const Case *c)
{
    int n_v = c->problem.n_v, n_r = c->problem.n_r;
    real *V = calloc((size_t)n_v * (size_t)(n_r + 1), sizeof *V);
    *dense = (Dense){.n_r = n_r,
                     .W = calloc((size_t)n_r * (size_t)n_r + 1, sizeof *dense->W),
                     .b = calloc((size_t)n_r + 1, sizeof *dense->b),
                     .b_terms = calloc((size_t)n_r + 1, sizeof *dense->b_terms)};
    for (int i = 0; i < n_v; i++) {
        for (int j = 0; j < n_r; j++)
            V[j * n_v + i] = (real)c->H[j * n_v + i];
        V[n_r * n_v + i] = (real)c->f[i];
    }
    real *unjointed = calloc((size_t)n_r + 1, sizeof *unjointed);
    for (int j = 0; j <= n_r; j++)
        dense_apply_inverse_A(c, V + j * n_v);
    for (int j = 0; j < n_r; j++)
        unjointed[j] = dense_dot(n_v, c->H + j * n_v, V + j * n_v);
    dense_fold_joints(c, V, n_r + 1);
    for (int i = 0; i < n_r; i++) {
        for (int j = 0; j < n_r; j++)
            dense->W[i * n_r + j] = dense_dot(n_v, c->H + i * n_v, V + j * n_v);
        dense->b[i] = dense_dot(n_v, c->H + i * n_v, V + n_r * n_v) + (real)c->w[i];
        for (int k = 0; k < n_v; k++)
            dense->b_terms[i] += fabsl((real)c->H[i * n_v + k] * V[n_r * n_v + k]);
    }
    for (int i = 0; i < n_r; i++) { /* a row that joints hold completely: the rest is rounding */
        if (dense->W[i * n_r + i] > 1e-16L * unjointed[i]) continue;
        for (int j = 0; j < n_r; j++)
            dense->W[i * n_r + j] = dense->W[j * n_r + i] = 0;
        dense->b[i] = (real)c->w[i];
    }
    free(V), free(unjointed);
}

static inline void dense_free(Dense *dense)
{
    free(dense->W), free(dense->b), free(dense->b_terms);
}

/* Directions of the facets, by the definition in problem.h. */
static inline int judge_facets(const st_ContactLaw *contact, real d[][2])
{
    int m = contact->dim == 2 ? 2 : contact->facets;
    for (int j = 0; j < m; j++) {
        d[j][0] = cosl(2 * acosl(-1) * j / m);
        d[j][1] = contact->dim == 2 ? 0 : sinl(2 * acosl(-1) * j / m);
    }
    return m;
}

static inline real distance2(const real a[3], const real b[3])
{
    real sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* Nearest point of the pyramid: the nearest of the points nearest on its apex, rays and faces; x itself inside. */
static inline void judge_project_pyramid(const st_ContactLaw *contact, const real x[3], real out[3])
{
    real d[64][2], mu = (real)contact->mu, best[3] = {0, 0, 0};
    int m = judge_facets(contact, d);
    bool inside = x[0] >= 0 && (m > 2 || contact->dim == 2);
    for (int j = 0; j < m; j++) {
        real a[3] = {1, mu * d[j][0], mu * d[j][1]}, b[3] = {1, mu * d[(j + 1) % m][0], mu * d[(j + 1) % m][1]};
        real aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2], bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
        real ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2], ax = a[0] * x[0] + a[1] * x[1] + a[2] * x[2];
        real bx = b[0] * x[0] + b[1] * x[1] + b[2] * x[2], det = aa * bb - ab * ab;
        if (ax > 0) {
            real ray[3] = {a[0] * ax / aa, a[1] * ax / aa, a[2] * ax / aa};
            if (distance2(ray, x) < distance2(best, x)) memcpy(best, ray, sizeof best);
        }
        real s = det > 0 ? (bb * ax - ab * bx) / det : -1, t = det > 0 ? (aa * bx - ab * ax) / det : -1;
        if (s >= 0 && t >= 0) {
            real face[3] = {s * a[0] + t * b[0], s * a[1] + t * b[1], s * a[2] + t * b[2]};
            if (distance2(face, x) < distance2(best, x)) memcpy(best, face, sizeof best);
        }
        real middle[2] = {d[j][0] + d[(j + 1) % m][0], d[j][1] + d[(j + 1) % m][1]};
        if (m > 2) { /* inside the edge between facets j and j + 1 of the slice at height x[0] */
            real reach = middle[0] * d[j][0] + middle[1] * d[j][1];
            if (middle[0] * x[1] + middle[1] * x[2] > mu * x[0] * reach) inside = false;
        } else if (d[j][0] * x[1] > mu * x[0]) {
            inside = false;
        }
    }
    memcpy(out, inside ? x : best, sizeof best);
}

static inline real clip(real x, real lo, real hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* r - P(r - rho u^) of one contact. */
static inline void judge_natural(const st_ContactLaw *contact, const real *r, const real *u, real rho, real out[3])
{
    real x[3] = {0, 0, 0}, projected[3] = {0, 0, 0}, mu = (real)contact->mu;
    for (int i = 0; i < contact->dim; i++)
        x[i] = r[i] - rho * u[i];
    if (contact->law == ST_LAW_FRICTIONLESS) projected[0] = clip(x[0], 0, INFINITY);
    if (contact->law == ST_LAW_BOUNDED) projected[0] = clip(x[0], (real)contact->lo, (real)contact->hi);
    if (contact->law == ST_LAW_BOX) {
        projected[0] = clip(x[0], 0, INFINITY);
        for (int i = 1; i < contact->dim; i++)
            projected[i] = clip(x[i], -mu * r[0], mu * r[0]);
    }
    if (contact->law == ST_LAW_PYRAMID) {
        real d[64][2], most = -INFINITY;
        int m = judge_facets(contact, d);
        for (int j = 0; j < m; j++) {
            real along = -(d[j][0] * u[1] + (contact->dim == 3 ? d[j][1] * u[2] : 0));
            if (along > most) most = along;
        }
        x[0] -= rho * mu * most;
        judge_project_pyramid(contact, x, projected);
    }
    for (int i = 0; i < contact->dim; i++)
        out[i] = r[i] - projected[i];
}

typedef struct Verdict {
    double natural; /* docs/methods.md 12                                                           */
    double floor;   /* error from rounding r, v_free to doubles alone: |rho (|W||r| + |H'||v_free|) eps| / |rho b| */
} Verdict;

static inline Verdict dense_judge(const Dense *dense, const Case *c, const double *r)
{
    int n_r = dense->n_r;
    real sum = 0, reference = 0, rounding = 0;
    for (int k = 0; k < c->problem.n_contacts; k++) {
        const st_ContactLaw *contact = &c->contact[k];
        real u[3] = {0, 0, 0}, mine[3] = {0, 0, 0}, spread[3] = {0, 0, 0}, out[3], trace = 0;
        for (int i = 0; i < contact->dim; i++) {
            int row = contact->first + i;
            mine[i] = (real)r[row];
            u[i] = dense->b[row];
            spread[i] = dense->b_terms[row];
            for (int j = 0; j < n_r; j++) {
                u[i] += dense->W[row * n_r + j] * (real)r[j];
                spread[i] += fabsl(dense->W[row * n_r + j] * (real)r[j]);
            }
            trace += dense->W[row * n_r + row];
        }
        real rho = trace > 0 ? contact->dim / trace : 1;
        judge_natural(contact, mine, u, rho, out);
        for (int i = 0; i < contact->dim; i++) {
            real b = rho * dense->b[contact->first + i], worst = rho * spread[i] * 0x1p-53L;
            sum += out[i] * out[i];
            reference += b * b;
            rounding += worst * worst;
        }
    }
    if (!(reference > 0)) reference = 1;
    return (Verdict){.natural = (double)sqrtl(sum / reference), .floor = (double)sqrtl(rounding / reference)};
}

#endif
