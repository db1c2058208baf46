/* tests/solve/backwards.h -- contact problems built backwards from a known solution.
 *
 * Draw r and the shifted velocity u^ first, contact by contact: open (r = 0, u^ in the dual cone), stuck
 * (r in the cone, u = 0) or sliding (r on its border, u_T against r_T, u_n = 0). Then any W, and b = u - W r.
 */
#ifndef BACKWARDS_H
#define BACKWARDS_H

#include "check.h"

#include <stiction/problem.h>
#include <string.h>

typedef struct Backwards {
    int n, n_contacts, dim;
    double *W, *b, *r, *u; /* W row-major, full */
    st_ContactLaw *contact;
    int64_t *p;
    int *i;
    double *x;
} Backwards;

/* How W is made. */
typedef struct BackwardsKind {
    int dim, n_contacts;
    double rank;    /* of W, as a share of its size                                                  */
    bool sparse;    /* contacts between pairs of bodies in a row, instead of any with any           */
    double mu_most; /* mu is drawn from 0.05 to this                                                */
    st_Law law;     /* coulomb or cone                                                              */
} BackwardsKind;

static inline void backwards_free(Backwards *m)
{
    free(m->W), free(m->b), free(m->r), free(m->u), free(m->contact), free(m->p), free(m->i), free(m->x);
}

/* A direction of `count` components. */
static inline void backwards_direction(check_Random *random, int count, double *d)
{
    const double angle = check_random(random, 0.0, 6.283185307179586);
    d[0] = count == 1 ? (angle < 3.14159 ? 1.0 : -1.0) : cos(angle);
    if (count > 1) d[1] = sin(angle);
}

static inline void backwards_contact(const BackwardsKind *kind, st_ContactLaw *c, check_Random *random, double *r,
                                     double *u)
{
    const bool rolls = kind->dim >= 5, spins = kind->dim == 4 || kind->dim == 6;
    const double state = check_random(random, 0.0, 1.0), n = check_random(random, 0.1, 2.0);
    double shift = 0.0;
    c->law = kind->law;
    c->dim = kind->dim;
    c->mu = check_random(random, 0.05, kind->mu_most);
    c->mu_roll = 0.2 * check_random(random, 0.05, kind->mu_most);
    c->mu_spin = 0.7 * c->mu_roll;
    for (int g = 0; g < 3; g++) { /* sliding, rolling, spinning */
        const double mu = g == 0 ? c->mu : g == 1 ? c->mu_roll : c->mu_spin;
        const int count = kind->dim == 2 || g == 2 ? 1 : 2, first = g == 0 ? 1 : g == 1 ? 3 : kind->dim - 1;
        if ((g == 1 && !rolls) || (g == 2 && !spins)) continue;
        double d[2], speed = check_random(random, 0.1, 1.0);
        backwards_direction(random, count, d);
        for (int k = 0; k < count; k++) {
            const int row = first + k;
            if (state < 0.3) { /* open */
                u[row] = speed * d[k];
            } else if (state < 0.7) { /* stuck */
                r[row] = 0.9 * speed * mu * n * d[k];
            } else { /* sliding */
                r[row] = mu * n * d[k];
                u[row] = -speed * d[k];
            }
        }
        if (state < 0.3 || state >= 0.7) shift += mu * speed;
    }
    if (state >= 0.3) r[0] = n;
    if (state < 0.3) u[0] = check_random(random, 0.01, 1.0) + (kind->law == ST_LAW_CONE ? shift : 0.0);
    if (state >= 0.7) u[0] = kind->law == ST_LAW_CONE ? shift : 0.0; /* u^_n = u_n + mu |u_T| for coulomb */
}

static inline void backwards_W(Backwards *m, const BackwardsKind *kind, check_Random *random)
{
    const int n = m->n, rank = (int)fmax(1.0, kind->rank * n);
    double *H = calloc((size_t)n * (size_t)rank, sizeof *H);
    assert_non_null(H);
    for (int row = 0; row < n; row++)
        for (int k = 0; k < rank; k++) {
            const int home = row / m->dim * rank / m->n_contacts; /* sparse: a window of 12 velocities */
            if (kind->sparse && (k < home - 6 || k > home + 6)) continue;
            H[row * rank + k] = check_random(random, -1.0, 1.0);
        }
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++)
                sum += H[a * rank + k] * H[b * rank + k];
            m->W[a * n + b] = m->W[b * n + a] = sum;
        }
    free(H);
}

static inline Backwards backwards_new(const BackwardsKind *kind, check_Random *random)
{
    const int n = kind->dim * kind->n_contacts;
    const size_t square = (size_t)n * (size_t)n, size = sizeof(double);
    Backwards m = {.n = n,
                   .n_contacts = kind->n_contacts,
                   .dim = kind->dim,
                   .W = calloc(square, size),
                   .b = calloc((size_t)n, size),
                   .r = calloc((size_t)n, size),
                   .u = calloc((size_t)n, size),
                   .contact = calloc((size_t)kind->n_contacts, sizeof *m.contact),
                   .p = calloc((size_t)n + 1, sizeof *m.p),
                   .i = calloc(square, sizeof *m.i),
                   .x = calloc(square, size)};
    assert_non_null(m.W);
    assert_non_null(m.b);
    assert_non_null(m.r);
    assert_non_null(m.u);
    assert_non_null(m.contact);
    assert_non_null(m.p);
    assert_non_null(m.i);
    assert_non_null(m.x);
    for (int c = 0; c < kind->n_contacts; c++) {
        m.contact[c].first = kind->dim * c;
        backwards_contact(kind, &m.contact[c], random, m.r + kind->dim * c, m.u + kind->dim * c);
    }
    backwards_W(&m, kind, random);
    for (int a = 0; a < n; a++) {
        m.b[a] = m.u[a];
        for (int c = 0; c < n; c++)
            m.b[a] -= m.W[a * n + c] * m.r[c];
    }
    for (int j = 0; j < n; j++) {
        m.p[j + 1] = m.p[j];
        for (int a = 0; a < n; a++)
            if (m.W[a * n + j] != 0.0) {
                m.i[m.p[j + 1]] = a;
                m.x[m.p[j + 1]++] = m.W[a * n + j];
            }
    }
    return m;
}

static inline st_LocalProblem backwards_problem(const Backwards *m)
{
    return (st_LocalProblem){.n_r = m->n,
                             .n_contacts = m->n_contacts,
                             .W = {m->n, m->n, m->p, m->i, m->x},
                             .b = m->b,
                             .contact = m->contact};
}

#endif
