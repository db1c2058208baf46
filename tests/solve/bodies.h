/* tests/solve/bodies.h -- step problems of unit boxes under gravity, of any size: bodies with six velocities
 * each (linear, then angular, world axes), contacts at points with a normal and two tangents.
 */
#ifndef BODIES_H
#define BODIES_H

#include "check.h"

#include <stiction/problem.h>
#include <string.h>

typedef struct Bodies {
    int n_bodies, n_contacts, max_bodies, max_contacts, n_r;
    double *x;    /* centre of each body, 3              */
    double *A;    /* 36 a body                           */
    int *a_first; /* n_bodies + 1                        */
    double *f, *w, *h_x;
    int *h_i;
    int64_t *h_p;
    st_ContactLaw *contact;
    double step; /* h: f = M v + h M g, v = 0            */
} Bodies;

static inline Bodies bodies_new(int max_bodies, int max_contacts)
{
    const size_t nb = (size_t)max_bodies, nc = (size_t)max_contacts;
    Bodies b = {.max_bodies = max_bodies, .max_contacts = max_contacts, .step = 1e-2};
    b.x = calloc(3 * nb, sizeof *b.x);
    b.A = calloc(36 * nb, sizeof *b.A);
    b.a_first = calloc(nb + 1, sizeof *b.a_first);
    b.f = calloc(6 * nb, sizeof *b.f);
    b.w = calloc(5 * nc, sizeof *b.w);
    b.h_x = calloc(60 * nc, sizeof *b.h_x);
    b.h_i = calloc(60 * nc, sizeof *b.h_i);
    b.h_p = calloc(5 * nc + 1, sizeof *b.h_p);
    b.contact = calloc(nc, sizeof *b.contact);
    return b;
}

static inline void bodies_free(Bodies *b)
{
    free(b->x), free(b->A), free(b->a_first), free(b->f), free(b->w);
    free(b->h_x), free(b->h_i), free(b->h_p), free(b->contact);
}

/* A cube of edge 1 at x, pushed by `push` and its weight for one step. */
static inline int bodies_add(Bodies *b, double mass, const double x[3], const double push[3])
{
    const int i = b->n_bodies++;
    assert_true(b->n_bodies <= b->max_bodies);
    for (int k = 0; k < 6; k++)
        b->A[36 * i + 7 * k] = k < 3 ? mass : mass / 6.0;
    for (int k = 0; k < 3; k++) {
        b->x[3 * i + k] = x[k];
        b->f[6 * i + k] = b->step * (push[k] - (k == 2 ? 9.81 * mass : 0.0));
    }
    b->a_first[i + 1] = 6 * (i + 1);
    return i;
}

/* The row of a relative velocity along d at p, body a (or -1: the ground) to b; angular: of the spins. */
static inline void bodies_row(Bodies *b, int from, int to, const double p[3], const double d[3], int angular)
{
    int64_t e = b->h_p[b->n_r];
    for (int side = 0; side < 2; side++) {
        const int body = side == 0 ? from : to;
        const double sign = side == 0 ? -1.0 : 1.0;
        if (body < 0) continue;
        double arm[3], turn[3];
        for (int k = 0; k < 3; k++)
            arm[k] = p[k] - b->x[3 * body + k];
        turn[0] = arm[1] * d[2] - arm[2] * d[1];
        turn[1] = arm[2] * d[0] - arm[0] * d[2];
        turn[2] = arm[0] * d[1] - arm[1] * d[0];
        for (int k = 0; k < 3 && !angular; k++) {
            b->h_i[e] = 6 * body + k;
            b->h_x[e++] = sign * d[k];
        }
        for (int k = 0; k < 3; k++) {
            b->h_i[e] = 6 * body + 3 + k;
            b->h_x[e++] = sign * (angular ? d[k] : turn[k]);
        }
    }
    b->h_p[++b->n_r] = e;
}

/* A contact at p with the normal upwards. */
static inline void bodies_touch(Bodies *b, int from, int to, const double p[3], st_ContactLaw law)
{
    static const double axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    assert_true(b->n_contacts < b->max_contacts);
    law.first = b->n_r;
    b->contact[b->n_contacts++] = law;
    for (int k = 0; k < law.dim && k < 3; k++)
        bodies_row(b, from, to, p, axes[k], 0);
    for (int k = 3; k < 5 && law.dim >= 5; k++) /* rolling */
        bodies_row(b, from, to, p, axes[k - 2], 1);
    if (law.dim == 4 || law.dim == 6) bodies_row(b, from, to, p, axes[0], 1); /* spinning */
}

/* Box `to` is on box `from` (or the ground): a contact under each corner of their overlap. */
static inline void bodies_stand(Bodies *b, int from, int to, st_ContactLaw law)
{
    const double *x = b->x + 3 * to;
    double lo[2], hi[2];
    for (int k = 0; k < 2; k++) {
        lo[k] = fmax(x[k] - 0.5, from < 0 ? -INFINITY : b->x[3 * from + k] - 0.5);
        hi[k] = fmin(x[k] + 0.5, from < 0 ? INFINITY : b->x[3 * from + k] + 0.5);
    }
    for (int k = 0; k < 4; k++) {
        const double p[3] = {k & 1 ? hi[0] : lo[0], k & 2 ? hi[1] : lo[1], x[2] - 0.5};
        bodies_touch(b, from, to, p, law);
    }
}

/* n boxes one on another. */
static inline void bodies_column(Bodies *b, int n, st_ContactLaw law)
{
    for (int k = 0; k < n; k++) {
        const double x[3] = {0.01 * (k % 3), 0.0, 0.5 + k}, none[3] = {0};
        const int body = bodies_add(b, 1.0, x, none);
        bodies_stand(b, body - 1, body, law);
    }
}

/* A wall: n boxes in the bottom row, n - 1 above, ... */
static inline void bodies_wall(Bodies *b, int n, st_ContactLaw law)
{
    const double none[3] = {0};
    for (int row = 0, below = 0; row < n; row++) {
        const int start = b->n_bodies;
        for (int k = 0; k < n - row; k++) {
            const double x[3] = {k + 0.5 * row, 0.0, 0.5 + row};
            const int body = bodies_add(b, 1.0, x, none);
            if (row == 0) bodies_stand(b, -1, body, law);
            for (int j = 0; row > 0 && j < 2; j++)
                bodies_stand(b, below + k + j, body, law);
        }
        below = start;
    }
}

static inline st_Problem bodies_problem(const Bodies *b)
{
    static const int64_t no_columns[1] = {0};
    return (st_Problem){.n_v = 6 * b->n_bodies,
                        .n_r = b->n_r,
                        .n_contacts = b->n_contacts,
                        .A = {.n_blocks = b->n_bodies, .first = b->a_first, .x = b->A},
                        .symmetric = true,
                        .G = {.n_rows = 6 * b->n_bodies, .p = no_columns},
                        .H = {6 * b->n_bodies, b->n_r, b->h_p, b->h_i, b->h_x},
                        .f = b->f,
                        .w = b->w,
                        .contact = b->contact};
}

#endif
