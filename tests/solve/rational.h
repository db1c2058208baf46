/* tests/solve/rational.h -- the error of a friction problem or an LCP, recomputed in rational arithmetic.
 *
 * u = W r + q, or through M, H and G, exactly: every double is a rational number, and systems are solved by Gaussian
 * elimination over the rationals. Only the square roots of the last step are rounded, to 600 bits.
 */
#ifndef RATIONAL_H
#define RATIONAL_H

#include "check.h"

#include <gmp.h>
#include <stiction/friction.h>

enum { RATIONAL_BITS = 600 };

static inline mpq_t *rational_new(int64_t n)
{
    mpq_t *x = malloc((size_t)(n + 1) * sizeof *x);
    assert_non_null(x);
    for (int64_t k = 0; k <= n; k++)
        mpq_init(x[k]);
    return x;
}

static inline void rational_free(mpq_t *x, int64_t n)
{
    for (int64_t k = 0; k <= n; k++)
        mpq_clear(x[k]);
    free(x);
}

/* to += a b, a a double. */
static inline void rational_add_product(mpq_t to, double a, mpq_t b)
{
    mpq_t factor;
    mpq_init(factor);
    mpq_set_d(factor, a);
    mpq_mul(factor, factor, b);
    mpq_add(to, to, factor);
    mpq_clear(factor);
}

/* y += sign A x, or A'x. */
static inline void rational_multiply(const st_Sparse *A, double sign, bool transposed, mpq_t *x, mpq_t *y)
{
    for (int j = 0; j < A->n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++)
            rational_add_product(y[transposed ? j : A->i[e]], sign * A->x[e], x[transposed ? A->i[e] : j]);
}

/* a is n x (n + 1), row-major; the answer replaces its last column, 0 for columns that depend on others. False: the
 * equations contradict each other.                                                                 */
static inline bool rational_solve(mpq_t *a, int n)
{
    const int width = n + 1;
    int rank = 0, *column = calloc((size_t)n + 1, sizeof *column);
    mpq_t factor, product, *x = rational_new(n);
    bool consistent = true;
    mpq_init(factor), mpq_init(product);
    assert_non_null(column);
    for (int k = 0; k < n; k++) {
        int pivot = rank;
        while (pivot < n && mpq_sgn(a[pivot * width + k]) == 0)
            pivot++;
        if (pivot == n) continue;
        for (int j = 0; j < width; j++)
            mpq_swap(a[rank * width + j], a[pivot * width + j]);
        for (int i = 0; i < n; i++) {
            if (i == rank || mpq_sgn(a[i * width + k]) == 0) continue;
            mpq_div(factor, a[i * width + k], a[rank * width + k]);
            for (int j = k; j < width; j++) {
                mpq_mul(product, factor, a[rank * width + j]);
                mpq_sub(a[i * width + j], a[i * width + j], product);
            }
        }
        column[rank++] = k;
    }
    for (int i = rank; i < n; i++)
        consistent = consistent && mpq_sgn(a[i * width + n]) == 0;
    for (int i = 0; i < rank; i++)
        mpq_div(x[column[i]], a[i * width + n], a[i * width + column[i]]);
    for (int i = 0; i < n; i++)
        mpq_set(a[i * width + n], x[i]);
    rational_free(x, n), mpq_clear(product), mpq_clear(factor), free(column);
    return consistent;
}

/* u of r; false: the equality rows contradict each other. */
static inline bool rational_velocity(const st_FrictionProblem *p, mpq_t *r, mpq_t *u)
{
    const int n_r = p->dim * p->n_contacts, n_v = p->form == ST_FORM_GLOBAL ? p->n_v : 0, n = n_v + p->n_l, w = n + 1;
    const bool global = p->form == ST_FORM_GLOBAL;
    mpq_t *a = rational_new((int64_t)n * w), *side = rational_new(n_v + p->n_l), *x = rational_new(n);
    for (int k = 0; k < n_r; k++)
        mpq_set_d(u[k], global ? p->w[k] : p->q[k]);
    const st_Sparse *diagonal = global ? &p->M : &p->R;
    const int first = global ? 0 : n_v;
    for (int j = 0; n > 0 && j < (global ? n_v : p->n_l); j++)
        for (int64_t e = diagonal->p[j]; e < diagonal->p[j + 1]; e++) {
            mpq_t value;
            mpq_init(value);
            mpq_set_d(value, diagonal->x[e]);
            mpq_add(a[(first + diagonal->i[e]) * w + first + j], a[(first + diagonal->i[e]) * w + first + j], value);
            mpq_clear(value);
        }
    for (int j = 0; j < p->n_l && global; j++)
        for (int64_t e = p->G.p[j]; e < p->G.p[j + 1]; e++) {
            mpq_set_d(a[p->G.i[e] * w + n_v + j], -p->G.x[e]);
            mpq_set_d(a[(n_v + j) * w + p->G.i[e]], p->G.x[e]);
        }
    for (int i = 0; i < n_v; i++)
        mpq_set_d(side[i], p->f[i]);
    for (int j = 0; j < p->n_l; j++)
        mpq_set_d(side[n_v + j], global ? -p->b[j] : -p->s[j]);
    if (global) rational_multiply(&p->H, 1.0, false, r, side);
    if (!global && p->n_l > 0) rational_multiply(&p->V, -1.0, true, r, side);
    for (int i = 0; i < n; i++)
        mpq_set(a[i * w + n], side[i]);
    const bool regular = rational_solve(a, n);
    for (int i = 0; i < n; i++)
        mpq_set(x[i], a[i * w + n]);
    if (global)
        rational_multiply(&p->H, 1.0, true, x, u);
    else
        rational_multiply(&p->W, 1.0, false, r, u);
    if (!global && p->n_l > 0) rational_multiply(&p->V, 1.0, false, x, u);
    rational_free(x, n), rational_free(side, n_v + p->n_l), rational_free(a, (int64_t)n * w);
    return regular;
}

/* ------------------------------------------------------------------ the law, in long floating point */

typedef struct RationalContact {
    int dim, n, first[3], count[3];
    double mu[3];
} RationalContact;

static inline void rational_length(mpf_t out, mpf_t *x, int n)
{
    mpf_t square;
    mpf_init2(square, RATIONAL_BITS);
    mpf_set_ui(out, 0);
    for (int k = 0; k < n; k++) {
        mpf_mul(square, x[k], x[k]);
        mpf_add(out, out, square);
    }
    mpf_sqrt(out, out);
    mpf_clear(square);
}

/* x <- x limit/length where length > limit. */
static inline void rational_shorten(mpf_t *x, int n, mpf_t limit)
{
    mpf_t length;
    mpf_init2(length, RATIONAL_BITS);
    rational_length(length, x, n);
    for (int k = 0; mpf_cmp(length, limit) > 0 && k < n; k++) {
        mpf_mul(x[k], x[k], limit);
        mpf_div(x[k], x[k], length);
    }
    mpf_clear(length);
}

/* The projection on the cone by bisection over its normal component a: the derivative of
 * (a - x_n)^2 + sum max(0, |x_g| - mu_g a)^2 grows with a. No case is distinguished: another way than the library's. */
static inline void rational_project(const RationalContact *c, mpf_t *x)
{
    mpf_t lo, hi, a, slope, term, length[3];
    mpf_init2(lo, RATIONAL_BITS), mpf_init2(hi, RATIONAL_BITS), mpf_init2(a, RATIONAL_BITS);
    mpf_init2(slope, RATIONAL_BITS), mpf_init2(term, RATIONAL_BITS);
    mpf_abs(hi, x[0]);
    for (int g = 0; g < c->n; g++) {
        mpf_init2(length[g], RATIONAL_BITS);
        rational_length(length[g], x + c->first[g], c->count[g]);
        mpf_set_d(term, c->mu[g]);
        mpf_mul(term, term, length[g]);
        mpf_add(hi, hi, term);
    }
    for (int round = 0; round < RATIONAL_BITS - 100; round++) {
        mpf_add(a, lo, hi);
        mpf_div_2exp(a, a, 1);
        mpf_sub(slope, a, x[0]);
        for (int g = 0; g < c->n; g++) {
            mpf_t mu;
            mpf_init2(mu, RATIONAL_BITS);
            mpf_set_d(mu, c->mu[g]);
            mpf_mul(term, mu, a);
            mpf_sub(term, length[g], term);
            if (mpf_sgn(term) > 0) {
                mpf_mul(term, term, mu);
                mpf_sub(slope, slope, term);
            }
            mpf_clear(mu);
        }
        mpf_set(mpf_sgn(slope) > 0 ? hi : lo, a);
    }
    mpf_set(x[0], hi);
    for (int g = 0; g < c->n; g++) {
        mpf_set_d(term, c->mu[g]);
        mpf_mul(term, term, x[0]);
        rational_shorten(x + c->first[g], c->count[g], term);
        mpf_clear(length[g]);
    }
    mpf_clear(term), mpf_clear(slope), mpf_clear(a), mpf_clear(hi), mpf_clear(lo);
}

static inline RationalContact rational_contact(const st_FrictionProblem *p, int c)
{
    RationalContact out = {.dim = p->dim, .n = 1, .first = {1}, .count = {p->dim == 2 ? 1 : 2}, .mu = {p->mu[c]}};
    if (p->dim >= 5) out.first[out.n] = 3, out.count[out.n] = 2, out.mu[out.n++] = p->mu_roll[c];
    if (p->dim == 4 || p->dim == 6)
        out.first[out.n] = p->dim - 1, out.count[out.n] = 1, out.mu[out.n++] = p->mu_spin[c];
    return out;
}

/* | residual |^2 of one contact added to sum: r - P(r - rho u^), and with a coefficient above 1 the map that
 * docs/problems.md states.                                                                          */
static inline void rational_natural(const RationalContact *c, mpf_t *r, mpf_t *u, mpf_t rho, mpf_t sum)
{
    mpf_t x[ST_MAX_DIM], term, limit;
    bool steep = false;
    mpf_init2(term, RATIONAL_BITS), mpf_init2(limit, RATIONAL_BITS);
    for (int k = 0; k < c->dim; k++) {
        mpf_init2(x[k], RATIONAL_BITS);
        mpf_set(x[k], u[k]);
    }
    for (int g = 0; g < c->n; g++)
        steep = steep || c->mu[g] > 1.0;
    for (int g = 0; g < c->n && !steep; g++) {
        rational_length(term, u + c->first[g], c->count[g]);
        mpf_set_d(limit, c->mu[g]);
        mpf_mul(term, term, limit);
        mpf_add(x[0], x[0], term);
    }
    for (int k = 0; k < c->dim; k++) {
        mpf_mul(x[k], x[k], rho);
        mpf_sub(x[k], r[k], x[k]);
    }
    if (!steep) rational_project(c, x);
    if (steep && mpf_sgn(x[0]) < 0) mpf_set_ui(x[0], 0);
    for (int g = 0; g < c->n && steep; g++) {
        mpf_set_d(limit, c->mu[g]);
        mpf_mul(limit, limit, r[0]);
        if (mpf_sgn(limit) < 0) mpf_set_ui(limit, 0);
        rational_shorten(x + c->first[g], c->count[g], limit);
    }
    for (int k = 0; k < c->dim; k++) {
        mpf_sub(term, r[k], x[k]);
        mpf_mul(term, term, term);
        mpf_add(sum, sum, term);
        mpf_clear(x[k]);
    }
    mpf_clear(limit), mpf_clear(term);
}

static inline double rational_norm(mpq_t *x, int n)
{
    mpf_t sum, term;
    mpf_init2(sum, RATIONAL_BITS), mpf_init2(term, RATIONAL_BITS);
    for (int k = 0; k < n; k++) {
        mpf_set_q(term, x[k]);
        mpf_mul(term, term, term);
        mpf_add(sum, sum, term);
    }
    mpf_sqrt(sum, sum);
    const double norm = mpf_get_d(sum);
    mpf_clear(term), mpf_clear(sum);
    return norm;
}

typedef struct RationalError {
    bool known; /* the velocities are determined */
    double error, error_rho;
} RationalError;

static inline RationalError rational_error(const st_FrictionProblem *p, const double *r)
{
    const int n = p->dim * p->n_contacts;
    mpq_t *exact_r = rational_new(n), *u = rational_new(n), *q = rational_new(n), *unit = rational_new(n), trace;
    mpf_t rho, one, plain, scaled, rf[ST_MAX_DIM], uf[ST_MAX_DIM];
    mpf_init2(rho, RATIONAL_BITS), mpf_init2(one, RATIONAL_BITS);
    mpf_init2(plain, RATIONAL_BITS), mpf_init2(scaled, RATIONAL_BITS);
    mpq_init(trace);
    RationalError out = {.known = rational_velocity(p, unit, q)};
    for (int k = 0; k < n && out.known; k++) { /* trace(W), column by column */
        mpq_set_ui(unit[k], 1, 1);
        rational_velocity(p, unit, u);
        mpq_set_ui(unit[k], 0, 1);
        mpq_add(trace, trace, u[k]);
        mpq_sub(trace, trace, q[k]);
    }
    for (int k = 0; k < n; k++)
        mpq_set_d(exact_r[k], r[k]);
    out.known = out.known && rational_velocity(p, exact_r, u);
    const double norm = rational_norm(q, n);
    mpf_set_ui(one, 1);
    if (mpq_sgn(trace) > 0) {
        mpf_t count;
        mpf_init2(count, RATIONAL_BITS);
        mpf_set_q(rho, trace);
        mpf_set_ui(count, (unsigned long)n);
        mpf_div(rho, count, rho);
        mpf_clear(count);
    } else {
        mpf_set_ui(rho, 1);
    }
    for (int k = 0; k < p->dim; k++)
        mpf_init2(rf[k], RATIONAL_BITS), mpf_init2(uf[k], RATIONAL_BITS);
    for (int c = 0; c < p->n_contacts && out.known; c++) {
        const RationalContact contact = rational_contact(p, c);
        for (int k = 0; k < p->dim; k++) {
            mpf_set_q(rf[k], exact_r[c * p->dim + k]);
            mpf_set_q(uf[k], u[c * p->dim + k]);
        }
        rational_natural(&contact, rf, uf, one, plain);
        rational_natural(&contact, rf, uf, rho, scaled);
    }
    mpf_sqrt(plain, plain), mpf_sqrt(scaled, scaled);
    mpf_div(scaled, scaled, rho);
    out.error = mpf_get_d(plain) / (norm > 0.0 ? norm : 1.0);
    out.error_rho = mpf_get_d(scaled) / (norm > 0.0 ? norm : 1.0);
    for (int k = 0; k < p->dim; k++)
        mpf_clear(rf[k]), mpf_clear(uf[k]);
    mpq_clear(trace);
    mpf_clear(scaled), mpf_clear(plain), mpf_clear(one), mpf_clear(rho);
    rational_free(unit, n), rational_free(q, n), rational_free(u, n), rational_free(exact_r, n);
    return out;
}

/* | min(z, M z + q) | / | q |, of free rows | M z + q |. */
static inline double rational_lcp_error(const st_LcpProblem *p, const double *z)
{
    mpq_t *w = rational_new(p->n), *exact = rational_new(p->n), *q = rational_new(p->n);
    for (int i = 0; i < p->n; i++) {
        mpq_set_d(w[i], p->q[i]);
        mpq_set_d(q[i], p->q[i]);
        mpq_set_d(exact[i], z[i]);
    }
    rational_multiply(&p->M, 1.0, false, exact, w);
    for (int i = 0; i < p->n; i++)
        if (!(p->free != NULL && p->free[i]) && mpq_cmp(exact[i], w[i]) < 0) mpq_set(w[i], exact[i]);
    const double norm = rational_norm(q, p->n), error = rational_norm(w, p->n) / (norm > 0.0 ? norm : 1.0);
    rational_free(q, p->n), rational_free(exact, p->n), rational_free(w, p->n);
    return error;
}

#endif
