/* body_space_newton.c -- see body_space_newton.h. */
#include "solve/body_space_newton.h"

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

enum { SIX = 6 };
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

/* A side of contact c: a body, or n_nodes and more: a mechanism; -1: the ground. */
static int node_at(const sti_ByBodies *s, int c, int side)
{
    const sti_Alone *alone = sti_graph_alone(s->graph, c);
    if (alone != NULL) return alone->node[side];
    const int32_t node = s->graph->legs[2 * (ptrdiff_t)c + side];
    return node != s->graph->n_nodes ? node : -1;
}

static int rows_of(const sti_ByBodies *s, int node)
{
    return s->first[node + 1] - s->first[node];
}

static bool is_cross(const sti_ByBodies *s, int c)
{
    return node_at(s, c, 0) >= 0 && node_at(s, c, 1) >= 0;
}

st_Status sti_by_bodies_begin(sti_ByBodies *s, const sti_Graph *graph, int64_t serial, st_Error *err)
{
    const int64_t contacts = graph->problem->n_contacts;
    const int mechanisms = graph->problem->n_l > 0 ? graph->mobility.n : 0;
    s->graph = graph;
    if (s->serial == serial) return ST_OK;
    s->serial = 0; /* until it is done */
    if (s->lu == NULL) STI_TRY(sti_sparse_lu_create(&s->allocator, s->work, &s->lu, err));

    /* Six unknowns per body, then those of the mechanisms. One that cannot move has one unknown, which is not read. */
    const int n = s->n = graph->n_nodes + mechanisms;
    GROW(first, n + 1);
    for (int k = 0; k <= graph->n_nodes; k++)
        s->first[k] = SIX * k;
    for (int k = 0; k < mechanisms; k++) {
        const int freedoms = sti_mobility_freedoms(&graph->mobility, k), node = graph->n_nodes + k;
        s->first[node + 1] = s->first[node] + (freedoms > 0 ? freedoms : 1);
    }
    GROW(p, s->n + 1);
    GROW(j, s->n + 2 * contacts);
    GROW(start, s->n + 2 * contacts);
    GROW(cross, 2 * contacts);
    s->width = graph->n_dirs;
    GROW(K, (int64_t)s->width * s->width * contacts);
    GROW(g, s->width * contacts);
    GROW(z, s->first[s->n]);
    GROW(end, s->n);

    /* Room in each row for as many entries as its body has contacts, and one for the diagonal. */
    for (int k = 0; k <= n; k++)
        s->p[k] = k;
    for (int c = 0; c < contacts; c++)
        for (int side = 0; side < 2 && is_cross(s, c); side++)
            s->p[node_at(s, c, side) + 1]++; /* the sum of the rows before is formed below */
    int64_t extra = 0;
    for (int k = 0; k <= n; k++) {
        const int64_t own = s->p[k] - k;
        extra += own;
        s->p[k] = k + extra;
    }

    /* The entries: the diagonal first, then those of contacts between two bodies. */
    for (int k = 0; k < n; k++) {
        s->j[s->p[k]] = k;
        s->end[k] = s->p[k] + 1;
    }
    for (int c = 0; c < contacts; c++)
        for (int side = 0; side < 2; side++) {
            s->cross[2 * (ptrdiff_t)c + side] = -1;
            if (!is_cross(s, c)) continue;
            const int row = node_at(s, c, side), column = node_at(s, c, 1 - side);
            int64_t e = s->p[row];
            while (e < s->end[row] && s->j[e] != column)
                e++;
            if (e == s->end[row]) s->j[s->end[row]++] = column;
            s->cross[2 * (ptrdiff_t)c + side] = e;
        }

    /* Gaps between the rows go; `moved` of a row is how far its entries move. */
    int64_t at = 0;
    int64_t *moved = s->start; /* not in use yet, and long enough */
    for (int k = 0; k < n; k++) {
        const int64_t begin = s->p[k], count = s->end[k] - begin;
        memmove(s->j + at, s->j + begin, (size_t)count * sizeof *s->j);
        moved[k] = begin - at;
        s->p[k] = at;
        at += count;
    }
    s->p[n] = at;
    for (int c = 0; c < s->graph->problem->n_contacts; c++)
        for (int side = 0; side < 2 && is_cross(s, c); side++)
            s->cross[2 * (ptrdiff_t)c + side] -= moved[node_at(s, c, side)];
    s->n_x = 0; /* blocks one after another */
    for (int k = 0; k < n; k++)
        for (int64_t e = s->p[k]; e < s->p[k + 1]; e++) {
            s->start[e] = s->n_x;
            s->n_x += (int64_t)rows_of(s, k) * rows_of(s, s->j[e]);
        }
    GROW(x, s->n_x);
    s->rows = (sti_BlockRows){s->n, s->first, s->p, s->j, s->start};
    STI_TRY(sti_sparse_lu_reserve(s->lu, &s->rows, err));
    s->serial = serial;
    return ST_OK;
}

/* ------------------------------------------------------------------ numbers */

/* inv(D) X for D n x n, X n x m, by elimination with row exchanges; overwrites D and X. A zero pivot, which no law has
 * with alpha > 0, gives numbers that are not finite, which the caller detects. */
static void divide_blocks(int n, double D[ST_MAX_DIM][ST_MAX_DIM], int m, double X[ST_MAX_DIM][ST_MAX_DIM + 1])
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

static bool slope_is_diagonal(int n, const double *X)
{
    for (int k = 0; k < n * n; k++)
        if (X[k] != 0.0 && k % (n + 1) != 0) return false;
    return true;
}

void sti_by_bodies_set(sti_ByBodies *s, int c, const double *A, const double *B, const double *F, const double *soft)
{
    const int dim = s->graph->problem->contact[c].dim, width = s->width;
    double D[ST_MAX_DIM][ST_MAX_DIM], X[ST_MAX_DIM][ST_MAX_DIM + 1];
    double *K = s->K + (ptrdiff_t)width * width * c, *g = s->g + (ptrdiff_t)width * c;
    memset(K, 0, (size_t)(width * width) * sizeof *K);
    memset(g, 0, (size_t)width * sizeof *g);
    if (slope_is_diagonal(dim, A) && slope_is_diagonal(dim, B)) { /* open or sticking, as most are */
        for (int i = 0; i < dim; i++) {
            const double b = B[i * (dim + 1)],
                         d = A[i * (dim + 1)] + b * (soft[i] + sti_graph_compliance(s->graph, c, i));
            K[(width + 1) * i] = b / d;
            g[i] = F[i] / d;
        }
        return;
    }
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < dim; k++) {
            D[i][k] = A[i * dim + k] + B[i * dim + k] * (soft[k] + sti_graph_compliance(s->graph, c, k));
            X[i][k] = B[i * dim + k];
        }
        X[i][dim] = F[i];
    }
    divide_blocks(dim, D, dim + 1, X);
    for (int i = 0; i < dim; i++) {
        for (int k = 0; k < dim; k++)
            K[width * i + k] = X[i][k];
        g[i] = X[i][dim];
    }
}

/* X += T'h, summed over the directions: 6 x 6. */
static void add_product(double *restrict X, double T[3][SIX], double h[3][SIX])
{
    for (int k = 0; k < SIX; k++)
        for (int l = 0; l < SIX; l++)
            X[SIX * k + l] += T[0][k] * h[0][l] + T[1][k] * h[1][l] + T[2][k] * h[2][l];
}

void sti_by_bodies_set_side(sti_ByBodies *s, int c, const double *F)
{
    const int dim = s->graph->problem->contact[c].dim, width = s->width;
    for (int i = 0; i < dim; i++)
        s->g[(ptrdiff_t)width * c + i] = s->K[(ptrdiff_t)width * width * c + (width + 1) * i] * F[i];
}

/* Adds contact c, of at most three rows, to the right-hand side of (2), and to its matrix if `factors`. */
static void add_contact(sti_ByBodies *s, int c, bool factors)
{
    const double *K = s->K + 9 * (ptrdiff_t)c, *g = s->g + 3 * (ptrdiff_t)c;
    const int64_t *cross = s->cross + 2 * (ptrdiff_t)c;
    const int32_t *body = s->graph->legs + 2 * (ptrdiff_t)c;
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
        if (open || !factors) continue;
        for (int d = 0; d < 3; d++) /* T = K'h. Sticking contacts, most of them, have a diagonal K. */
            for (int k = 0; k < SIX; k++)
                T[side][d][k] = diagonal ? K[4 * d] * h[side][d][k]
                                         : K[d] * h[side][0][k] + K[3 + d] * h[side][1][k] + K[6 + d] * h[side][2][k];
        add_product(s->x + s->start[s->p[body[side]]], T[side], h[side]);
    }
    if (open || !factors || cross[0] < 0) return;
    if (diagonal) { /* both blocks at once: one is the transpose of the other */
        double *restrict X = s->x + s->start[cross[0]], *restrict Y = s->x + s->start[cross[1]];
        for (int k = 0; k < SIX; k++)
            for (int l = 0; l < SIX; l++) {
                const double x = T[0][0][k] * h[1][0][l] + T[0][1][k] * h[1][1][l] + T[0][2][k] * h[1][2][l];
                X[SIX * k + l] += x;
                Y[SIX * l + k] += x;
            }
        return;
    }
    add_product(s->x + s->start[cross[0]], T[0], h[1]);
    add_product(s->x + s->start[cross[1]], T[1], h[0]);
}

/* Adds T_e K T_f' of two sides of a contact to the block at e. */
static void add_block(const sti_ByBodies *s, int64_t e, const double *K, int dim, const double *row, int n,
                      const double *column, int m)
{
    double *x = s->x + s->start[e];
    for (int i = 0; i < dim; i++)
        for (int k = 0; k < n; k++) {
            double weighed[ST_MAX_DIM];
            for (int d = 0; d < dim; d++)
                weighed[d] = row[i * n + k] * K[s->width * i + d];
            for (int l = 0; l < m; l++)
                for (int d = 0; d < dim; d++)
                    x[k * m + l] += weighed[d] * column[d * m + l];
        }
}

/* A side of a contact: a body or a mechanism (-1: none), the number of its velocities, and dim rows on them. */
typedef struct Side {
    int node, size;
    const double *rows;
} Side;

/* The same as add_contact for any number of rows and velocities. */
static void add_sides(const sti_ByBodies *s, int c, const Side sides[2], bool factors)
{
    const int dim = s->graph->problem->contact[c].dim;
    const double *K = s->K + (ptrdiff_t)s->width * s->width * c, *g = s->g + (ptrdiff_t)s->width * c;
    for (int side = 0; side < 2; side++) {
        const Side own = sides[side], other = sides[1 - side];
        if (own.node < 0) continue;
        for (int d = 0; d < dim; d++)
            for (int k = 0; k < own.size; k++)
                s->z[s->first[own.node] + k] -= own.rows[d * own.size + k] * g[d];
        if (!factors) continue;
        add_block(s, s->p[own.node], K, dim, own.rows, own.size, own.rows, own.size);
        if (other.node >= 0)
            add_block(s, s->cross[2 * (ptrdiff_t)c + side], K, dim, own.rows, own.size, other.rows, other.size);
    }
}

st_Status sti_by_bodies_step(sti_ByBodies *s, bool factors, double *d, double *W_d, st_Error *err)
{
    const st_Problem *p = s->graph->problem;
    int replaced;
    if (factors) memset(s->x, 0, (size_t)s->n_x * sizeof *s->x);
    memset(s->z, 0, (size_t)s->first[s->n] * sizeof *s->z);
    for (int k = 0; k < s->n && factors; k++)
        for (int i = 0; i < rows_of(s, k); i++)
            s->x[s->start[s->p[k]] + (ptrdiff_t)i * (rows_of(s, k) + 1)] = 1.0;

    /* Contacts in the order of their lanes: eight share the cache lines of their rows. */
    for (int k = 0; k < s->graph->n_batches; k++)
        for (int lane = 0; lane < STI_LANES; lane++)
            if (s->graph->batch[k].contact[lane] < 0)
                continue;
            else if (s->graph->turning) {
                /* A contact in a lane, if contacts have rolling or spinning rows. */
                const int c = s->graph->batch[k].contact[lane];
                const int32_t *body = s->graph->legs + 2 * (ptrdiff_t)c;
                double first[2][3][SIX], last[2][3][SIX], rows[2][ST_MAX_DIM][SIX];
                Side sides[2];
                sti_graph_rows(s->graph, c, first);
                sti_graph_turn_rows(s->graph, c, last);
                for (int side = 0; side < 2; side++) {
                    memcpy(rows[side][0], first[side], sizeof first[side]);
                    memcpy(rows[side][3], last[side], sizeof last[side]);
                    sides[side] = (Side){body[side] != s->graph->n_nodes ? body[side] : -1, SIX, rows[side][0]};
                }
                add_sides(s, c, sides, factors);
            } else
                add_contact(s, s->graph->batch[k].contact[lane], factors);
    for (int k = 0; k < s->graph->n_alone; k++) {
        /* A contact that is solved alone. */
        Side sides[2];
        for (int side = 0; side < 2; side++)
            sides[side] = (Side){s->graph->alone[k].node[side], s->graph->alone[k].size[side],
                                 s->graph->alone_rows + s->graph->alone[k].rows[side]};
        add_sides(s, s->graph->alone[k].contact, sides, factors);
    }
    sti_work_visits(s->work, 2.0 * p->n_contacts);
    if (factors) STI_TRY(sti_sparse_lu_factor(s->lu, &s->rows, s->x, tiny_pivot, &replaced, err));
    sti_sparse_lu_solve(s->lu, s->z);
    for (int c = 0; c < p->n_contacts; c++) {
        /* u = H~'z of contact c, by direction */
        const sti_Alone *alone = sti_graph_alone(s->graph, c);
        const int32_t *body = s->graph->legs + 2 * (ptrdiff_t)c;
        const int dim = p->contact[c].dim, at = p->contact[c].first, width = s->width;
        double h[2][3][SIX], u[ST_MAX_DIM] = {0};
        for (int side = 0; side < 2 && alone != NULL; side++)
            for (int i = 0; i < dim && alone->node[side] >= 0; i++)
                for (int k = 0; k < alone->size[side]; k++)
                    u[i] += s->graph->alone_rows[alone->rows[side] + (ptrdiff_t)i * alone->size[side] + k] *
                            s->z[s->first[alone->node[side]] + k];
        for (int first = 0; first < width && alone == NULL; first += 3) {
            (first == 0 ? sti_graph_rows : sti_graph_turn_rows)(s->graph, c, h);
            for (int side = 0; side < 2; side++) {
                const double *z = s->z + SIX * (ptrdiff_t)body[side];
                for (int i = 0; i < 3 && body[side] != s->graph->n_nodes; i++)
                    for (int k = 0; k < SIX; k++)
                        u[first + i] += h[side][i][k] * z[k];
            }
        }
        /* (1), and W d = u + C d */
        const double *K = s->K + (ptrdiff_t)width * width * c, *g = s->g + (ptrdiff_t)width * c;
        for (int i = 0; i < dim; i++) {
            double sum = g[i] + K[width * i] * u[0] + K[width * i + 1] * u[1] + K[width * i + 2] * u[2];
            for (int k = 3; k < width; k++)
                sum += K[width * i + k] * u[k];
            d[at + i] = -sum;
            W_d[at + i] = u[i] + sti_graph_compliance(s->graph, c, i) * d[at + i];
        }
    }
    return ST_OK;
}
