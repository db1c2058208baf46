/* tests/solve/made_problem.h -- small step problems stored densely, returned in the library's layout, and
 * a reference that solves them by plain Gaussian elimination in quadruple precision. (Long double is not
 * enough: at a mass ratio of 1e8 its own answers differ in the tenth digit.)
 */
#ifndef MADE_PROBLEM_H
#define MADE_PROBLEM_H

#include "check.h"

#include <stiction/problem.h>
#include <string.h>

#define MAX_V 64
#define MAX_L 48
#define MAX_R 60

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
typedef long double Quad; /* quadruple on most machines that are not x86 */
#endif

typedef struct Made {
    int n_v, n_l, n_r, n_contacts, n_a, n_cb, n_c;
    double A[MAX_V][MAX_V], G[MAX_V][MAX_L], H[MAX_V][MAX_R], Cb[MAX_L][MAX_L], C[MAX_R][MAX_R];
    int a_first[MAX_V + 1], cb_first[MAX_L + 1], c_first[MAX_R + 1]; /* block borders */
    double f[MAX_V], g[MAX_L], w[MAX_R];
    st_ContactLaw contact[MAX_R];
    bool symmetric;
    /* in the library's layout, by made_problem */
    double a_x[MAX_V * MAX_V], cb_x[MAX_L * MAX_L], c_x[MAX_R * MAX_R], g_x[MAX_V * MAX_L], h_x[MAX_V * MAX_R];
    int g_i[MAX_V * MAX_L], h_i[MAX_V * MAX_R];
    int64_t g_p[MAX_L + 1], h_p[MAX_R + 1];
} Made;

static inline Made *made_new(void)
{
    Made *m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->symmetric = true;
    return m;
}

static inline void made_pack_blocks(const double *x, int stride, int n_blocks, const int *first, double *out)
{
    for (int k = 0; k < n_blocks; k++)
        for (int i = first[k]; i < first[k + 1]; i++)
            for (int j = first[k]; j < first[k + 1]; j++)
                *out++ = x[i * stride + j];
}

static inline void made_pack_columns(const double *x, int stride, int n_rows, int n_cols, int64_t *p, int *rows,
                                     double *out)
{
    p[0] = 0;
    for (int j = 0; j < n_cols; j++) {
        p[j + 1] = p[j];
        for (int i = 0; i < n_rows; i++)
            if (x[i * stride + j] != 0.0) {
                rows[p[j + 1]] = i;
                out[p[j + 1]++] = x[i * stride + j];
            }
    }
}

static inline st_Problem made_problem(Made *m)
{
    made_pack_blocks(&m->A[0][0], MAX_V, m->n_a, m->a_first, m->a_x);
    made_pack_blocks(&m->Cb[0][0], MAX_L, m->n_cb, m->cb_first, m->cb_x);
    made_pack_blocks(&m->C[0][0], MAX_R, m->n_c, m->c_first, m->c_x);
    made_pack_columns(&m->G[0][0], MAX_L, m->n_v, m->n_l, m->g_p, m->g_i, m->g_x);
    made_pack_columns(&m->H[0][0], MAX_R, m->n_v, m->n_r, m->h_p, m->h_i, m->h_x);
    return (st_Problem){.n_v = m->n_v,
                        .n_l = m->n_l,
                        .n_r = m->n_r,
                        .n_contacts = m->n_contacts,
                        .A = {.n_blocks = m->n_a, .first = m->a_first, .x = m->a_x},
                        .symmetric = m->symmetric,
                        .G = {m->n_v, m->n_l, m->g_p, m->g_i, m->g_x},
                        .H = {m->n_v, m->n_r, m->h_p, m->h_i, m->h_x},
                        .Cb = {.n_blocks = m->n_cb, .first = m->cb_first, .x = m->cb_x},
                        .C = {.n_blocks = m->n_c, .first = m->c_first, .x = m->c_x},
                        .f = m->f,
                        .g = m->g,
                        .w = m->w,
                        .contact = m->contact};
}

/* Next block of A: random, symmetric positive definite with eigenvalues of about `mass`. */
static inline void made_add_mass(Made *m, int size, double mass, check_Random *random)
{
    double b[6][6];
    const int at = m->n_v;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            b[i][j] = check_random(random, -1.0, 1.0);
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++) {
            double sum = i == j ? 1.0 : 0.0;
            for (int k = 0; k < size; k++)
                sum += 0.3 * b[i][k] * b[j][k];
            m->A[at + i][at + j] = mass * sum;
        }
    m->n_v += size;
    m->a_first[++m->n_a] = m->n_v;
}

/* Random entries in rows of blocks a and b of A (b < 0: only a). */
static inline void made_fill_column(const Made *m, double *x, int stride, int a, int b, check_Random *random)
{
    for (int row = m->a_first[a]; row < m->a_first[a + 1]; row++)
        x[row * stride] = check_random(random, -1.0, 1.0);
    for (int row = b < 0 ? 0 : m->a_first[b]; b >= 0 && row < m->a_first[b + 1]; row++)
        x[row * stride] = check_random(random, -1.0, 1.0);
}

static inline void made_add_joint(Made *m, int rows, int a, int b, check_Random *random)
{
    for (int k = 0; k < rows; k++, m->n_l++) {
        made_fill_column(m, &m->G[0][m->n_l], MAX_L, a, b, random);
        m->g[m->n_l] = check_random(random, -1.0, 1.0);
    }
}

static inline void made_add_contact(Made *m, st_ContactLaw law, int a, int b, check_Random *random)
{
    law.first = m->n_r;
    m->contact[m->n_contacts++] = law;
    for (int k = 0; k < law.dim; k++, m->n_r++) {
        made_fill_column(m, &m->H[0][m->n_r], MAX_R, a, b, random);
        m->w[m->n_r] = check_random(random, -1.0, 1.0);
    }
}

/* Every row of Cb (or C) a block of its own. */
static inline void made_diagonal_blocks(int n, int *n_blocks, int *first)
{
    *n_blocks = n;
    for (int k = 0; k <= n; k++)
        first[k] = k;
}

static inline Quad made_abs(Quad x)
{
    return x < 0 ? -x : x;
}

/* Solves a x = b by elimination with partial pivoting; the n_sides right-hand sides are stored after a. */
static inline void made_eliminate(Quad *a, int n, int n_sides)
{
    const int w = n + n_sides;
    for (int c = 0; c < n; c++) {
        int best = c;
        for (int i = c + 1; i < n; i++)
            if (made_abs(a[i * w + c]) > made_abs(a[best * w + c])) best = i;
        for (int j = 0; j < w; j++) {
            const Quad keep = a[c * w + j];
            a[c * w + j] = a[best * w + j];
            a[best * w + j] = keep;
        }
        for (int i = 0; i < n; i++) {
            if (i == c || a[i * w + c] == 0) continue;
            const Quad factor = a[i * w + c] / a[c * w + c];
            for (int j = c; j < w; j++)
                a[i * w + j] -= factor * a[c * w + j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = n; j < w; j++)
            a[i * w + j] /= a[i * w + i];
}

/* The reference: Y (n_v x n_r), W, v_free, b of the problem with the first n_l rows of G only. */
typedef struct Reference {
    double Y[MAX_V][MAX_R], W[MAX_R][MAX_R], v_free[MAX_V], b[MAX_R];
    double l_free[MAX_L];
} Reference;

static inline Reference *made_reference(const Made *m, int n_l)
{
    Reference *out = calloc(1, sizeof *out);
    const int n = m->n_v + n_l, w = n + m->n_r + 1;
    Quad *a = calloc((size_t)n * (size_t)w, sizeof *a);
    assert_non_null(out);
    assert_non_null(a);
    for (int i = 0; i < m->n_v; i++) {
        for (int j = 0; j < m->n_v; j++)
            a[i * w + j] = m->A[i][j];
        for (int j = 0; j < n_l; j++) {
            a[i * w + m->n_v + j] = -m->G[i][j];
            a[(m->n_v + j) * w + i] = m->G[i][j];
        }
        for (int j = 0; j < m->n_r; j++)
            a[i * w + n + j] = m->H[i][j];
        a[i * w + n + m->n_r] = m->f[i];
    }
    for (int i = 0; i < n_l; i++) {
        for (int j = 0; j < n_l; j++)
            a[(m->n_v + i) * w + m->n_v + j] = m->Cb[i][j];
        a[(m->n_v + i) * w + n + m->n_r] = -m->g[i];
    }
    made_eliminate(a, n, m->n_r + 1);
    for (int i = 0; i < m->n_v; i++) {
        for (int j = 0; j < m->n_r; j++)
            out->Y[i][j] = (double)a[i * w + n + j];
        out->v_free[i] = (double)a[i * w + n + m->n_r];
    }
    for (int i = 0; i < n_l; i++)
        out->l_free[i] = (double)a[(m->n_v + i) * w + n + m->n_r];
    for (int i = 0; i < m->n_r; i++) {
        Quad sum = m->w[i];
        for (int k = 0; k < m->n_v; k++)
            sum += (Quad)m->H[k][i] * a[k * w + n + m->n_r];
        out->b[i] = (double)sum;
        for (int j = 0; j < m->n_r; j++) {
            sum = m->C[i][j];
            for (int k = 0; k < m->n_v; k++)
                sum += (Quad)m->H[k][i] * a[k * w + n + j];
            out->W[i][j] = (double)sum;
        }
    }
    free(a);
    return out;
}

#endif
