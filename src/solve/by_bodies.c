/* by_bodies.c -- see by_bodies.h. */
#include "solve/by_bodies.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

enum { SIX = 6, BLOCK = SIX * SIX };
static const double tiny_pivot = 1e-300; /* (2) has none: its symmetric part is I and more, unless friction slides */

void sti_by_bodies_release(sti_ByBodies *s)
{
    sti_sparse_lu_destroy(s->lu);
    s->lu = NULL;
    RELEASE(first);
    RELEASE(p);
    RELEASE(j);
    RELEASE(start);
    RELEASE(x);
    RELEASE(cross);
    RELEASE(K);
    RELEASE(g);
    RELEASE(z);
    RELEASE(end);
}

/* ------------------------------------------------------------------ pattern */

static const int32_t *bodies_of(const sti_ByBodies *s, int c)
{
    return s->graph->legs + 2 * (ptrdiff_t)c;
}

static bool is_cross(const sti_ByBodies *s, int c)
{
    const int32_t *body = bodies_of(s, c);
    return body[0] != s->graph->n_nodes && body[1] != s->graph->n_nodes;
}

/* The entry of row `row` in column `column`; it is added where there is none. */
static int64_t find_entry(sti_ByBodies *s, int64_t *end, int row, int column)
{
    int64_t e = s->p[row];
    while (e < end[row] && s->j[e] != column)
        e++;
    if (e == end[row]) s->j[end[row]++] = column;
    return e;
}

/* Room in each row for as many entries as its body has contacts, and one; then they are moved together. */
static void list_entries(sti_ByBodies *s, int64_t *end)
{
    const int n = s->graph->n_nodes, contacts = s->graph->problem->n_contacts;
    for (int k = 0; k < n; k++) {
        s->j[s->p[k]] = k;
        end[k] = s->p[k] + 1;
    }
    for (int c = 0; c < contacts; c++) {
        const int32_t *body = bodies_of(s, c);
        s->cross[2 * (ptrdiff_t)c] = s->cross[2 * (ptrdiff_t)c + 1] = -1;
        if (!is_cross(s, c)) continue;
        s->cross[2 * (ptrdiff_t)c] = find_entry(s, end, body[0], body[1]);
        s->cross[2 * (ptrdiff_t)c + 1] = find_entry(s, end, body[1], body[0]);
    }
}

static void count_room(sti_ByBodies *s)
{
    const int n = s->graph->n_nodes;
    for (int k = 0; k <= n; k++)
        s->p[k] = k;
    for (int c = 0; c < s->graph->problem->n_contacts; c++) {
        const int32_t *body = bodies_of(s, c);
        for (int side = 0; side < 2 && is_cross(s, c); side++)
            s->p[body[side] + 1]++; /* shifted below to what comes before */
    }
    int64_t extra = 0;
    for (int k = 0; k <= n; k++) {
        const int64_t own = s->p[k] - k;
        extra += own;
        s->p[k] = k + extra;
    }
}

/* Gaps between the rows go; `moved` of a row is how far its entries move. */
static void close_gaps(sti_ByBodies *s, const int64_t *end)
{
    const int n = s->graph->n_nodes;
    int64_t at = 0;
    int64_t *moved = s->start; /* not in use yet, and long enough */
    for (int k = 0; k < n; k++) {
        const int64_t begin = s->p[k], count = end[k] - begin;
        memmove(s->j + at, s->j + begin, (size_t)count * sizeof *s->j);
        moved[k] = begin - at;
        s->p[k] = at;
        at += count;
    }
    s->p[n] = at;
    for (int c = 0; c < s->graph->problem->n_contacts; c++)
        for (int side = 0; side < 2 && is_cross(s, c); side++)
            s->cross[2 * (ptrdiff_t)c + side] -= moved[bodies_of(s, c)[side]];
    for (int64_t e = 0; e < at; e++)
        s->start[e] = BLOCK * e;
}

st_Status sti_by_bodies_begin(sti_ByBodies *s, const sti_Graph *graph, int64_t serial, st_Error *err)
{
    const int64_t n = graph->n_nodes, contacts = graph->problem->n_contacts;
    s->graph = graph;
    if (s->serial == serial) return ST_OK;
    s->serial = 0; /* until it is done */
    if (s->lu == NULL) STI_TRY(sti_sparse_lu_create(&s->allocator, &s->lu, err));
    GROW(first, n + 1);
    GROW(p, n + 1);
    GROW(j, n + 2 * contacts);
    GROW(start, n + 2 * contacts);
    GROW(cross, 2 * contacts);
    GROW(K, 9 * contacts);
    GROW(g, 3 * contacts);
    GROW(z, SIX * n);
    GROW(end, n);
    for (int k = 0; k <= graph->n_nodes; k++)
        s->first[k] = SIX * k;
    count_room(s);
    list_entries(s, s->end);
    close_gaps(s, s->end);
    GROW(x, BLOCK * s->p[n]);
    s->rows = (sti_BlockRows){graph->n_nodes, s->first, s->p, s->j, s->start};
    STI_TRY(sti_sparse_lu_reserve(s->lu, &s->rows, err));
    s->serial = serial;
    return ST_OK;
}

/* ------------------------------------------------------------------ numbers */

/* inv(D) X for D n x n, X n x m, by elimination with exchange of rows; D and X are spent. A pivot of zero, which no
 * law has with alpha > 0, makes what is not finite: the caller looks.                              */
static void divide(int n, double D[3][3], int m, double X[3][4])
{
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(D[i][k]) > fabs(D[best][k])) best = i;
        for (int j = 0; j < n && best != k; j++) {
            const double swap = D[k][j];
            D[k][j] = D[best][j];
            D[best][j] = swap;
        }
        for (int j = 0; j < m && best != k; j++) {
            const double swap = X[k][j];
            X[k][j] = X[best][j];
            X[best][j] = swap;
        }
        const double inverse = 1.0 / D[k][k];
        for (int j = 0; j < m; j++)
            X[k][j] *= inverse;
        for (int j = k; j < n; j++)
            D[k][j] *= inverse;
        for (int i = 0; i < n; i++) {
            const double factor = D[i][k];
            if (i == k || factor == 0.0) continue;
            for (int j = k; j < n; j++)
                D[i][j] -= factor * D[k][j];
            for (int j = 0; j < m; j++)
                X[i][j] -= factor * X[k][j];
        }
    }
}

static bool is_diagonal(int n, const double *X)
{
    for (int k = 0; k < n * n; k++)
        if (X[k] != 0.0 && k % (n + 1) != 0) return false;
    return true;
}

void sti_by_bodies_set(sti_ByBodies *s, int c, const double *A, const double *B, const double *F, const double *soft)
{
    const int dim = s->graph->problem->contact[c].dim;
    double D[3][3], X[3][4] = {{0}}, *K = s->K + 9 * (ptrdiff_t)c, *g = s->g + 3 * (ptrdiff_t)c;
    memset(K, 0, 9 * sizeof *K);
    g[0] = g[1] = g[2] = 0.0;
    if (is_diagonal(dim, A) && is_diagonal(dim, B)) { /* open or sticking, as most are */
        for (int i = 0; i < dim; i++) {
            const double b = B[i * (dim + 1)],
                         d = A[i * (dim + 1)] + b * (soft[i] + sti_graph_compliance(s->graph, c, i));
            K[4 * i] = b / d;
            g[i] = F[i] / d;
        }
        return;
    }
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < dim; k++) {
            D[i][k] = A[i * dim + k] + B[i * dim + k] * (soft[k] + sti_graph_compliance(s->graph, c, k));
            X[i][k] = B[i * dim + k];
        }
        X[i][3] = F[i];
    }
    divide(dim, D, 4, X);
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < dim; k++)
            K[3 * i + k] = X[i][k];
        g[i] = X[i][3];
    }
}

/* X += T'h, summed over the directions: 6 x 6. */
static void add_product(double *restrict X, double T[3][SIX], double h[3][SIX])
{
    for (int k = 0; k < SIX; k++)
        for (int l = 0; l < SIX; l++)
            X[SIX * k + l] += T[0][k] * h[0][l] + T[1][k] * h[1][l] + T[2][k] * h[2][l];
}

/* X and its mirror image: X += T'h, Y += h'T. */
static void add_twice(double *restrict X, double *restrict Y, double T[3][SIX], double h[3][SIX])
{
    for (int k = 0; k < SIX; k++)
        for (int l = 0; l < SIX; l++) {
            const double x = T[0][k] * h[0][l] + T[1][k] * h[1][l] + T[2][k] * h[2][l];
            X[SIX * k + l] += x;
            Y[SIX * l + k] += x;
        }
}

/* T = K'h. Sticking contacts, most of them, have a diagonal K. */
static void weigh_rows(const double *K, bool diagonal, double h[3][SIX], double T[3][SIX])
{
    for (int d = 0; d < 3; d++)
        for (int k = 0; k < SIX; k++)
            T[d][k] = diagonal ? K[4 * d] * h[d][k] : K[d] * h[0][k] + K[3 + d] * h[1][k] + K[6 + d] * h[2][k];
}

/* The matrix and the right-hand side of (2) get what contact c brings. */
static void add_contact(sti_ByBodies *s, int c)
{
    const double *K = s->K + 9 * (ptrdiff_t)c, *g = s->g + 3 * (ptrdiff_t)c;
    const int64_t *cross = s->cross + 2 * (ptrdiff_t)c;
    const int32_t *body = bodies_of(s, c);
    const bool open = K[0] == 0.0,
               diagonal = K[1] == 0.0 && K[2] == 0.0 && K[3] == 0.0 && K[5] == 0.0 && K[6] == 0.0 && K[7] == 0.0;
    double h[2][3][SIX], T[2][3][SIX];
    if (open && g[0] == 0.0 && g[1] == 0.0 && g[2] == 0.0) return;
    sti_graph_rows(s->graph, c, h);
    for (int side = 0; side < 2; side++) {
        if (body[side] == s->graph->n_nodes) continue;
        double *z = s->z + SIX * (ptrdiff_t)body[side];
        for (int k = 0; k < SIX; k++)
            z[k] -= h[side][0][k] * g[0] + h[side][1][k] * g[1] + h[side][2][k] * g[2];
        if (open) continue;
        weigh_rows(K, diagonal, h[side], T[side]);
        add_product(s->x + s->start[s->p[body[side]]], T[side], h[side]);
    }
    if (open || cross[0] < 0) return;
    if (diagonal) {
        add_twice(s->x + s->start[cross[0]], s->x + s->start[cross[1]], T[0], h[1]);
        return;
    }
    add_product(s->x + s->start[cross[0]], T[0], h[1]);
    add_product(s->x + s->start[cross[1]], T[1], h[0]);
}

/* Contacts in the order in which they stand side by side: eight share the lines of memory that their rows are in. */
static void add_contacts(sti_ByBodies *s)
{
    for (int k = 0; k < s->graph->n_batches; k++)
        for (int lane = 0; lane < STI_LANES; lane++)
            if (s->graph->batch[k].contact[lane] >= 0) add_contact(s, s->graph->batch[k].contact[lane]);
}

/* (1), and W d = H~'z + C d. */
static void find_change(const sti_ByBodies *s, int c, double *d, double *W_d)
{
    const double *K = s->K + 9 * (ptrdiff_t)c, *g = s->g + 3 * (ptrdiff_t)c;
    const int32_t *body = bodies_of(s, c);
    const int dim = s->graph->problem->contact[c].dim;
    double h[2][3][SIX], u[3] = {0};
    sti_graph_rows(s->graph, c, h);
    for (int side = 0; side < 2; side++) {
        const double *z = s->z + SIX * (ptrdiff_t)body[side];
        for (int i = 0; i < 3 && body[side] != s->graph->n_nodes; i++)
            for (int k = 0; k < SIX; k++)
                u[i] += h[side][i][k] * z[k];
    }
    for (int i = 0; i < dim; i++) {
        d[i] = -(g[i] + K[3 * i] * u[0] + K[3 * i + 1] * u[1] + K[3 * i + 2] * u[2]);
        W_d[i] = u[i] + sti_graph_compliance(s->graph, c, i) * d[i];
    }
}

st_Status sti_by_bodies_step(sti_ByBodies *s, double *d, double *W_d, st_Error *err)
{
    const st_Problem *p = s->graph->problem;
    const int n = s->graph->n_nodes;
    int replaced;
    memset(s->x, 0, (size_t)(BLOCK * s->p[n]) * sizeof *s->x);
    memset(s->z, 0, (size_t)(SIX * n) * sizeof *s->z);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < SIX; i++)
            s->x[s->start[s->p[k]] + i * (SIX + 1)] = 1.0;
    add_contacts(s);
    STI_TRY(sti_sparse_lu_factor(s->lu, &s->rows, s->x, tiny_pivot, &replaced, err));
    sti_sparse_lu_solve(s->lu, s->z);
    for (int c = 0; c < p->n_contacts; c++)
        find_change(s, c, d + p->contact[c].first, W_d + p->contact[c].first);
    return ST_OK;
}
