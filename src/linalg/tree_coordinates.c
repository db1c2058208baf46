/* linalg/tree_coordinates.c -- joints eliminated along trees (docs/methods.md 14).
 *
 * The rows of a link, R_b v_b + R_a v_a + g = 0 with its parent a, leave the velocities
 *
 *     v_b = X v_a + d + N y,     R_b = L Q_1',   N = Q_2,   X = -Q_1 inv(L) R_a,   d = -Q_1 inv(L) g
 *
 * by Householder reflections (Q_1 Q_2) from the right, in units of velocity that follow the inertia of b, and the
 * independent rows chosen by pivoting. N times any row may
 * be added to X (adopt_rows). For a hinge it is added so that X moves b along with a, and can be inverted; for a ball
 * joint w_b = w_a + y. Then both share a frame: velocities V with v = P V,
 *
 *     P_b = X P_a,     v_b = P_b V_b,     V_b = V_a + S y + c,     S = inv(P_b) N,   c = inv(P_b) d
 *
 * where nothing changes between the two but by their own joint. A link of another kind begins a frame, P = 1 and S = N,
 * and X leads to it from the frame of its parent. From the leaves to the root, with P'A P and P'f of all that a link
 * carries,
 *
 *     A_c += X'A_c X,     f_c += X'f_c,     (T'AT)_ij = S_i' (A_c S_j carried up by X'),     X = 1 within a frame
 *
 * and the impulses of its rows are those that its momentum lacks:  L' l = Q_1' (A v - f - H r - G l of the others).
 *
 * Without contacts and loops y needs no matrix T'AT: the coordinates of a link are eliminated with its mass
 * (articulated bodies, Featherstone 1983), from the leaves to the root, at a cost that is linear in the number of
 * links:
 *
 *     D = S'A_c S + E,   y = inv(D) (u - S'A_c X V_a),   A_c -= A_c S inv(D) S'A_c,   f_c -= A_c S inv(D) u,
 *
 * where u = S'f_c + the forces on y, and E is the stiffness of soft rows on y and the inertia of rotors.
 */
#include "linalg/tree_coordinates.h"

#include "base/tolerance.h"
#include "math/block_diag.h"
#include "math/wide3.h"

enum { MOST = 6, MOST_ROWS = 8 };
/* Links of one frame. A longer chain begins another frame: far from its frame a small inertia is lost in rounding. */
enum { MOST_DEPTH = 24 };

/* Six numbers at a time: blocks with fewer velocities are padded with zeros, so that loops have a constant length. */
typedef double Six[MOST];
/* A row of a 6 x 6 matrix, in two fours: the numbers after the sixth are 0. */
typedef double Row6[2 * STI_WIDTH];

/* In pairs, which do not wait for each other: along a chain each link waits for the one before. */
STI_INLINE double dot6(const double *x, const double *y)
{
    return ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3])) + (x[4] * y[4] + x[5] * y[5]);
}

/* x'A for four columns of A, likewise. */
STI_INLINE sti_Wide row_times6(const double *x, const double *A)
{
    enum { ROW = 2 * STI_WIDTH };
    return ((x[0] * load4(A) + x[1] * load4(A + ROW)) + (x[2] * load4(A + 2 * ROW) + x[3] * load4(A + 3 * ROW))) +
           (x[4] * load4(A + 4 * ROW) + x[5] * load4(A + 5 * ROW));
}

STI_INLINE void add6(double s, const double *x, double *y)
{
    for (int i = 0; i < MOST; i++)
        y[i] += s * x[i];
}

/* A link at the numbers of a problem. */
typedef struct Link {
    sti_TreeLink of;
    int tree;
    int n, first;     /* velocities of its block                                                   */
    int n_y, first_y; /* its own coordinates                                                       */
    Six Q[MOST];      /* columns of Q_1, then those of Q_2 = N: n of them                          */
    Six L[MOST];      /* rank x rank, lower                                                        */
    int pivot[MOST];  /* rows of the link, in order of L                                           */
    Six R_a[MOST_ROWS];
    Six X[MOST];     /* from the velocities of its parent; from its frame after set_frames            */
    double sign;     /* the first three rows are sign v + B w, the others E w: points that meet; 0: others   */
    Row3 B[3], F[2]; /* rows of F: dual to those of E                                      */
    bool adopted;    /* X was chosen so that a row of its joint is its coordinate                      */
    const double *row_b, *row_a;    /* of a hinge: that row on the link and on its parent,                     */
    double row_x, row_p;            /* its number on the coordinate and its part on p ...                      */
    double row_own;                 /* ... and its square over the diagonals of A                              */
    double row_l;                   /* impulses of all rows with these numbers: expand                         */
    const double *above[5];         /* of a hinge or ball: its rows on the parent                              */
    int64_t at_own[5], at_above[5]; /* ... and where its rows are in G, while the pattern of G stays ...            */
    bool laid_out;                  /* ... and are known to have this form; false: not known                */
    bool turns;                     /* a hinge or ball, with XK and XP                                      */
    bool shares;                    /* the frame of its parent. Then there is no X                          */
    int depth;                      /* links of its frame from the first one to it                         */
    int run;                        /* start of the chain of ancestors in its frame whose coordinates precede its own
                                       without a gap: S_of stores the columns of this chain side by side         */
    Row3 XK[3], XP[3];              /* v = v_a + XK w_a + ..,  w = XP w_a + ..                             */
    bool plain;                     /* S is the unit matrix: a free root                                    */
    bool is_free;                   /* it has no rows, and Q, X and d are already computed                      */
    bool is_body;                   /* its block of A is [m, 0; 0, I]                                       */
    int n_masses;                   /* count of `masses`, its block of A in the last problem: full, or the diagonal   */
    double masses[MOST * MOST];
    Row3 K[3], P[3]; /* velocities of the block from those of the frame: v = V + K W, w = P W          */
    Six S[MOST];     /* columns                                                            */
    Row6 A[MOST];    /* in its frame, of all that it carries                                            */
    Six f;           /* likewise                                                           */
    Six d, p;        /* in its frame: velocity for y = 0, within its joint and altogether              */
    Six own_p;       /* the latter of its block                                            */
    Row6 Z[MOST];    /* articulated: inv(L) S'A_c with D = L diag(pivots) L'                 */
    Six L_D[MOST];   /* L below its diagonal, 1 over the pivots on it                     */
    Six z;           /* inv(L) u                                                        */
    Six V;           /* velocity in its frame: expand                                       */
} Link;

/* A soft row on one coordinate, a spring or damper of a joint: x y + Cb l + g = 0 is a part of T'AT and f. */
typedef struct Folded {
    int row, coordinate;
    int hinge; /* it has the numbers of the row that this hinge adopted; -1: another row                        */
    double x, g, Cb;
} Folded;

/* A follower at the numbers of a problem. */
typedef struct Follower {
    sti_TreeFollower of;
    int hinge;   /* its row is about the coordinate of this hinge alone, x y + p; -1: another row                */
    bool adopts; /* ... and has the numbers of the row that the hinge adopted                                    */
    double x, p;
} Follower;

/* Where a row is that touches a link and its parent alone, a follower aside. */
typedef struct JointRow {
    int link;           /* -1: another row                                                          */
    int64_t own, above; /* where its six numbers on the link and those on its parent are; own < 0: it has fewer     */
} JointRow;

/* Which velocities the rows of G or H touched in the last problem. Mostly it is the same in the next. */
typedef struct Pattern {
    int n;
    STI_ARRAY(int64_t, p);
    STI_ARRAY(int, i);
    STI_ARRAY(JointRow, row);
    int n_tied; /* rows with a link, in order */
    STI_ARRAY(int, tied);
} Pattern;

STI_INLINE const double *column_of_N(const Link *link, int c)
{
    return link->Q[link->of.rank + c];
}

/* P' h: a force on the block as one on the frame. */
STI_INLINE void force_in_frame(const Link *link, const double *h, double *out)
{
    const sti_Wide turning = h[0] * load4(link->K[0]) + h[1] * load4(link->K[1]) + h[2] * load4(link->K[2]) +
                             h[3] * load4(link->P[0]) + h[4] * load4(link->P[1]) + h[5] * load4(link->P[2]);
    for (int j = 0; j < 3; j++)
        out[j] = h[j];
    store3(turning, out + 3);
}

/* P V: the velocity of the block from that of the frame. */
STI_INLINE void velocity_of_frame(const Link *link, const double *V, double *out)
{
    for (int i = 0; i < 3; i++) {
        out[i] = V[i] + link->K[i][0] * V[3] + link->K[i][1] * V[4] + link->K[i][2] * V[5];
        out[3 + i] = link->P[i][0] * V[3] + link->P[i][1] * V[4] + link->P[i][2] * V[5];
    }
}

struct sti_TreeCoordinates {
    st_Allocator allocator;
    int n_links, n_followers, n_blocks, n_trees, n_reduced_blocks, n_y;
    Link *link;
    Follower *follower;
    int *first;         /* n_blocks + 1                                                             */
    int *block_of;      /* by velocity                                                              */
    int *link_of;       /* by block: -1: none                                                       */
    int *reduced_block; /* by block                                                                 */
    int *follows;       /* by block: the follower; -1: none                                         */
    int *tree_first;    /* n_trees + 1: first coordinate of each tree                               */
    int *y_first;       /* by block without a link: its first coordinate                            */
    int *first_reduced; /* n_reduced_blocks + 1                                                     */
    unsigned char *diagonal;
    int64_t *start;   /* n_reduced_blocks + 1: of the numbers of T'AT                             */
    int64_t *numbers; /* by block of the problem: where its numbers start in A                    */
    bool open;        /* for problems without contacts alone: no memory for T'AT                   */
    bool is_sparse; /* blocks of trees in A are nonzero on tree paths only, and every problem sets all these entries */
    double *A, *f, *y;
    double *lightness;          /* n_y: 1 over the diagonal of T'AT                                          */
    double *stiffness;          /* n_y: E, where no matrix is made                                          */
    double *own_lightness;      /* by velocity: 1 over the diagonal of A ...                                 */
    double *own_mass;           /* ... and that diagonal                                                     */
    double *row;                /* n_y: a row being made; 0 between                                         */
    sti_Wide *rows;             /* n_y: four rows being made; 0 between                                     */
    double *S_of;               /* 6 x pitch: S of all coordinates, one row per component                       */
    int pitch;                  /* n_y plus padding, so that four numbers can be read anywhere                */
    int *touched;               /* n_y: where they have numbers                                             */
    int *seen;                  /* by reduced block: the last row that touched it                           */
    int n_seen;                 /* rows so far                                                              */
    STI_ARRAY(int, hinge_of_H); /* by row: the hinge that adopted the numbers of this row; -1: another row     */
    bool all_turn;              /* links with one coordinate are hinges with XK and XP */
    STI_ARRAY(int, row_kind);   /* by row of the problem: its kind */
    int n_kinds;                /* 1 + rows for which they were found; 0: none */
    int n_link_rows;            /* rows of links                                                            */
    Pattern of_G, of_H;
    STI_ARRAY(int, kept); /* rows of the problem that stay                                      */
    STI_ARRAY(int64_t, G_p);
    STI_ARRAY(int, G_i);
    STI_ARRAY(double, G_x);
    STI_ARRAY(int64_t, H_p);
    STI_ARRAY(int, H_i);
    STI_ARRAY(double, H_x);
    STI_ARRAY(int, Cb_first);
    STI_ARRAY(double, Cb);
    STI_ARRAY(double, g);
    STI_ARRAY(double, w);
    STI_ARRAY(double, l);
    STI_ARRAY(double, momentum); /* n_v: the momentum without these forces */
    STI_ARRAY(Folded, folded);
    int n_folded;
    int n_held; /* rows that stay but are held by trees already: left out           */
    st_Problem reduced;
    const st_Problem *problem;
};

/* ---- layout --------------------------------------------------------------------------------------- */

static st_Status no_memory(st_Error *err)
{
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for tree coordinates");
}

/* Trees come as they first appear among the blocks; blocks without a link stay blocks of their own. */
static void lay_out(sti_TreeCoordinates *t)
{
    for (int b = 0; b < t->n_blocks; b++)
        t->link_of[b] = t->follows[b] = t->reduced_block[b] = -1;
    for (int k = 0; k < t->n_links; k++)
        t->link_of[t->link[k].of.block] = k;
    for (int k = 0; k < t->n_followers; k++)
        t->follows[t->follower[k].of.block] = k;
    for (int k = 0; k < t->n_links; k++)
        t->link[k].tree = t->link[k].of.parent < 0 ? t->n_trees++ : t->link[t->link[k].of.parent].tree;
    int n_reduced = 0, n_y = 0;
    for (int k = 0, tree = -1; k < t->n_links; k++) { /* coordinates of trees first, tree by tree */
        Link *link = &t->link[k];
        if (link->tree != tree) {
            tree = link->tree;
            t->tree_first[tree] = n_y;
            t->first_reduced[n_reduced++] = n_y;
        }
        link->first = t->first[link->of.block];
        link->n = t->first[link->of.block + 1] - link->first;
        link->n_y = link->n - link->of.rank;
        link->first_y = n_y;
        n_y += link->n_y;
        t->reduced_block[link->of.block] = n_reduced - 1;
    }
    t->tree_first[t->n_trees] = n_y;
    for (int b = 0; b < t->n_blocks; b++) {
        const int n = t->first[b + 1] - t->first[b];
        for (int i = t->first[b]; i < t->first[b + 1]; i++)
            t->block_of[i] = b;
        t->y_first[b] = n_y;
        if (t->link_of[b] >= 0 || t->follows[b] >= 0) continue;
        t->reduced_block[b] = n_reduced;
        t->first_reduced[n_reduced++] = n_y;
        n_y += n;
    }
    t->first_reduced[n_reduced] = n_y;
    t->n_reduced_blocks = n_reduced;
    t->n_y = n_y;
}

st_Status sti_tree_coordinates_create(const st_Allocator *allocator, const sti_TreePlan *plan, int n_blocks,
                                      const int *first, bool open, sti_TreeCoordinates **out, st_Error *err)
{
    sti_TreeCoordinates *t = sti_alloc(allocator, 1, sizeof *t);
    *out = NULL;
    if (t == NULL) return no_memory(err);
    const int n_v = first[n_blocks], n = n_blocks + 1;
    t->allocator = *allocator;
    t->open = open;
    t->n_links = plan->n_links, t->n_followers = plan->n_followers, t->n_blocks = n_blocks, t->n_y = n_v;
    t->link = sti_alloc(allocator, plan->n_links + 1, sizeof *t->link);
    t->follower = sti_alloc(allocator, plan->n_followers + 1, sizeof *t->follower);
    int **by_block[] = {&t->first,      &t->link_of, &t->reduced_block, &t->follows,
                        &t->tree_first, &t->y_first, &t->first_reduced, &t->seen};
    bool ok = t->link != NULL && t->follower != NULL;
    for (size_t k = 0; k < sizeof by_block / sizeof by_block[0]; k++) {
        *by_block[k] = sti_alloc(allocator, n + 1, sizeof **by_block[k]);
        ok = ok && *by_block[k] != NULL;
    }
    t->block_of = sti_alloc(allocator, n_v + 1, sizeof *t->block_of);
    t->rows = sti_alloc(allocator, n_v + 1, sizeof *t->rows);
    t->pitch = n_v + STI_WIDTH;
    t->S_of = sti_alloc(allocator, (int64_t)MOST * t->pitch, sizeof *t->S_of);
    t->touched = sti_alloc(allocator, n_v + 1, sizeof *t->touched);
    t->diagonal = sti_alloc(allocator, n + 1, sizeof *t->diagonal);
    t->start = sti_alloc(allocator, n + 1, sizeof *t->start);
    t->numbers = sti_alloc(allocator, n + 1, sizeof *t->numbers);
    double **by_velocity[] = {&t->f, &t->y, &t->row, &t->lightness, &t->own_lightness, &t->own_mass, &t->stiffness};
    for (size_t k = 0; k < sizeof by_velocity / sizeof by_velocity[0]; k++) {
        *by_velocity[k] = sti_alloc(allocator, n_v + 1, sizeof **by_velocity[k]);
        ok = ok && *by_velocity[k] != NULL;
    }
    if (!ok || t->block_of == NULL || t->diagonal == NULL || t->start == NULL || t->numbers == NULL ||
        t->rows == NULL || t->touched == NULL || t->S_of == NULL) {
        sti_tree_coordinates_destroy(t);
        return no_memory(err);
    }
    memcpy(t->first, first, (size_t)n * sizeof *first);
    for (int k = 0; k < plan->n_links; k++) {
        t->link[k].of = plan->link[k];
        t->n_link_rows += plan->link[k].n_rows;
    }
    for (int k = 0; k < plan->n_followers; k++)
        t->follower[k].of = plan->follower[k];
    lay_out(t);
    int64_t most = 0; /* all blocks full */
    for (int b = 0; b < t->n_reduced_blocks && !open; b++) {
        const int64_t size = t->first_reduced[b + 1] - t->first_reduced[b];
        most += size * size;
    }
    t->start[t->n_blocks + 1] = most; /* its room */
    t->A = sti_alloc(allocator, most + 1, sizeof *t->A);
    if (t->A == NULL) {
        sti_tree_coordinates_destroy(t);
        return no_memory(err);
    }
    *out = t;
    return ST_OK;
}

void sti_tree_coordinates_destroy(sti_TreeCoordinates *t)
{
    if (t == NULL) return;
    const st_Allocator a = t->allocator;
    const int n = t->n_blocks + 1, n_v = t->first != NULL ? t->first[t->n_blocks] : 0;
    int *by_block[] = {t->first,      t->link_of, t->reduced_block, t->follows,
                       t->tree_first, t->y_first, t->first_reduced, t->seen};
    double *by_velocity[] = {t->f, t->y, t->row, t->lightness, t->own_lightness, t->own_mass, t->stiffness};
    if (t->A != NULL) sti_free(&a, t->A, t->start[t->n_blocks + 1] + 1, sizeof *t->A);
    for (size_t k = 0; k < sizeof by_velocity / sizeof by_velocity[0]; k++)
        sti_free(&a, by_velocity[k], n_v + 1, sizeof *by_velocity[k]);
    sti_free(&a, t->start, n + 1, sizeof *t->start);
    sti_free(&a, t->numbers, n + 1, sizeof *t->numbers);
    sti_free(&a, t->diagonal, n + 1, sizeof *t->diagonal);
    sti_free(&a, t->block_of, n_v + 1, sizeof *t->block_of);
    sti_free(&a, t->rows, n_v + 1, sizeof *t->rows);
    sti_free(&a, t->touched, n_v + 1, sizeof *t->touched);
    sti_free(&a, t->S_of, (int64_t)MOST * (n_v + STI_WIDTH), sizeof *t->S_of);
    for (size_t k = 0; k < sizeof by_block / sizeof by_block[0]; k++)
        sti_free(&a, by_block[k], n + 1, sizeof *by_block[k]);
    sti_free(&a, t->link, t->n_links + 1, sizeof *t->link);
    sti_free(&a, t->follower, t->n_followers + 1, sizeof *t->follower);
    STI_RELEASE(&a, t->row_kind, t->row_kind_size);
    STI_RELEASE(&a, t->of_G.p, t->of_G.p_size);
    STI_RELEASE(&a, t->of_G.i, t->of_G.i_size);
    STI_RELEASE(&a, t->of_H.p, t->of_H.p_size);
    STI_RELEASE(&a, t->of_H.i, t->of_H.i_size);
    STI_RELEASE(&a, t->of_G.row, t->of_G.row_size);
    STI_RELEASE(&a, t->of_G.tied, t->of_G.tied_size);
    STI_RELEASE(&a, t->of_H.tied, t->of_H.tied_size);
    STI_RELEASE(&a, t->hinge_of_H, t->hinge_of_H_size);
    STI_RELEASE(&a, t->of_H.row, t->of_H.row_size);
    STI_RELEASE(&a, t->kept, t->kept_size);
    STI_RELEASE(&a, t->G_p, t->G_p_size);
    STI_RELEASE(&a, t->G_i, t->G_i_size);
    STI_RELEASE(&a, t->G_x, t->G_x_size);
    STI_RELEASE(&a, t->H_p, t->H_p_size);
    STI_RELEASE(&a, t->H_i, t->H_i_size);
    STI_RELEASE(&a, t->H_x, t->H_x_size);
    STI_RELEASE(&a, t->Cb_first, t->Cb_first_size);
    STI_RELEASE(&a, t->Cb, t->Cb_size);
    STI_RELEASE(&a, t->g, t->g_size);
    STI_RELEASE(&a, t->w, t->w_size);
    STI_RELEASE(&a, t->l, t->l_size);
    STI_RELEASE(&a, t->momentum, t->momentum_size);
    STI_RELEASE(&a, t->folded, t->folded_size);
    sti_free(&a, t, 1, sizeof *t);
}

enum { KEPT = 0, OF_LINK, OF_FOLLOWER }; /* kinds of rows of G */

/* ---- one link ------------------------------------------------------------------------------------- */

/* The power of two next to each velocity's sqrt(mass of the first over its mass): in these units angles and
 * displacements of a link have similar inertia. In SI units the inertia of a body of 1 mm is 1e-7 of its mass, and
 * columns of N that mix both are nearly parallel for A. A power of two changes no digit of a row. */
static void units_of_velocities(const st_BlockDiag *A, int64_t at, int block, int n, Six unit)
{
    const int64_t stride = sti_block_stride(A, block);
    for (int i = 0; i < MOST; i++) {
        int exponent = 0;
        if (i < n) frexp(sqrt(A->x[at] / A->x[at + i * stride]), &exponent);
        unit[i] = ldexp(1, exponent < -100 ? -100 : exponent > 100 ? 100 : exponent);
    }
}

/* R_b U = L Q_1' for the `rank` rows that are most independent, with the units U on the diagonal; then Q = U (Q_1 Q_2).
 * False: the rank is smaller. R_b is overwritten. */
static bool factor_rows(Link *link, Six R[MOST_ROWS], const Six unit)
{
    const int m = link->of.n_rows, n = link->n, rank = link->of.rank;
    double whole[MOST_ROWS]; /* square of a row; 0: it was used */
    memset(link->Q, 0, sizeof link->Q);
    for (int i = 0; i < n; i++)
        link->Q[i][i] = 1;
    for (int r = 0; r < m; r++) {
        for (int j = 0; j < MOST; j++)
            R[r][j] *= unit[j];
        whole[r] = dot6(R[r], R[r]);
    }
    for (int s = 0; s < rank; s++) {
        int best = -1;
        double most = 1e-16, rest = 0; /* share of a row that is independent of the rows before, squared */
        for (int r = 0; r < m; r++) {
            double square = 0;
            for (int j = s; j < MOST; j++)
                square += R[r][j] * R[r][j];
            if (whole[r] > 0 && square > most * whole[r]) best = r, most = square / whole[r], rest = square;
        }
        if (best < 0) return false;
        link->pivot[s] = best;
        /* I - 2 h h'/h'h takes x[s ..] to alpha e_s */
        const double *x = R[best], alpha = x[s] > 0 ? -sqrt(rest) : sqrt(rest);
        Six h = {0}, along = {0};
        for (int j = s; j < MOST; j++)
            h[j] = x[j];
        h[s] -= alpha;
        const double factor = 2 / dot6(h, h); /* not 0: alpha has the other sign */
        for (int r = 0; r < m; r++)
            if (whole[r] > 0) add6(-factor * dot6(R[r], h), h, R[r]);
        whole[best] = 0;
        for (int j = s; j < n; j++)
            add6(h[j], link->Q[j], along);
        for (int j = s; j < n; j++)
            add6(-factor * h[j], along, link->Q[j]);
        for (int j = 0; j <= s; j++)
            link->L[s][j] = R[best][j];
    }
    for (int j = 0; j < n && rank > 0; j++) /* without rows N is the unit matrix */
        for (int i = 0; i < n; i++)
            link->Q[j][i] *= unit[i];
    return true;
}

STI_INLINE void cross3(const double *x, const double *y, double *out)
{
    out[0] = x[1] * y[2] - x[2] * y[1];
    out[1] = x[2] * y[0] - x[0] * y[2];
    out[2] = x[0] * y[1] - x[1] * y[0];
}

STI_INLINE double dot3(const double *x, const double *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/* The same in closed form for the joints of most robots, where two points meet and at most two angles are held
 * (revolute, universal, ball): sign v + B w + .. = 0 and E w + .. = 0 leave
 *
 *     w = -F' (..) + n y,     v = -sign (B w + ..),     E F' = I,   E n = 0
 *
 * False: the link is another one.                                                                    */
static bool factor_meeting(const st_Problem *P, Link *link, Six R[MOST_ROWS])
{
    const int held = link->of.rank - 3, m = link->of.n_rows;
    const double sign = R[0][0], *g = P->g + link->of.first_row;
    link->sign = 0;
    if (link->n != MOST || m != link->of.rank || held < 0 || held > 2 || fabs(sign) != 1) return false;
    for (int r = 0; r < m; r++)
        for (int j = 0; j < 3; j++)
            if (R[r][j] != (r == j ? sign : 0)) return false;
    double n[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double *e = R[3] + 3, *f = R[4] + 3;
    if (held == 2) {
        cross3(e, f, n[0]);
        const double square = dot3(n[0], n[0]);
        if (!(square > 1e-16 * dot3(e, e) * dot3(f, f))) return false;
        cross3(f, n[0], link->F[0]);
        cross3(n[0], e, link->F[1]);
        for (int j = 0; j < 3; j++) {
            link->F[0][j] /= square;
            link->F[1][j] /= square;
            n[0][j] /= sqrt(square);
        }
    } else if (held == 1) {
        const double square = dot3(e, e);
        const int least =
            fabs(e[0]) < fabs(e[1]) ? (fabs(e[0]) < fabs(e[2]) ? 0 : 2) : (fabs(e[1]) < fabs(e[2]) ? 1 : 2);
        if (!(square > 1e-16)) return false;
        const double unit[3] = {least == 0, least == 1, least == 2};
        cross3(e, unit, n[0]);
        cross3(e, n[0], n[1]);
        const double one = sqrt(dot3(n[0], n[0])), two = sqrt(dot3(n[1], n[1]));
        for (int j = 0; j < 3; j++) {
            link->F[0][j] = e[j] / square;
            n[0][j] /= one;
            n[1][j] /= two;
        }
    }
    link->sign = sign;
    for (int i = 0; i < 3; i++) {
        link->pivot[i] = i;
        memcpy(link->B[i], R[i] + 3, sizeof link->B[i]);
    }
    for (int s = 0; s < held; s++) {
        link->pivot[3 + s] = 3 + s;
        for (int i = 0; i < 3; i++) {
            add6(-link->F[s][i], link->R_a[3 + s], link->X[3 + i]);
            link->d[3 + i] -= link->F[s][i] * g[3 + s];
        }
    }
    for (int i = 0; i < 3; i++) {
        add6(-sign, link->R_a[i], link->X[i]);
        link->d[i] = -sign * (g[i] + dot3(link->B[i], link->d + 3));
        for (int j = 0; j < 3; j++)
            add6(-sign * link->B[i][j], link->X[3 + j], link->X[i]);
    }
    for (int c = 0; c < 3 - held; c++) { /* N */
        double *column = link->Q[link->of.rank + c];
        for (int i = 0; i < 3; i++) {
            column[i] = -sign * dot3(link->B[i], n[c]);
            column[3 + i] = n[c][i];
        }
    }
    return true;
}

/* Where a row is that has all six velocities of a link and those of its parent, and nothing else, a follower at its
 * end aside; own < 0: it has other parts. */
static JointRow find_parts(const st_Sparse *from, int row, int index, const Link *link, const Link *parent)
{
    const int64_t e = from->p[row], n = from->p[row + 1] - e;
    const JointRow none = {index, -1, -1};
    if (n < 2 * MOST || n > 2 * MOST + 1 || link->n != MOST || parent->n != MOST) return none;
    const int a = from->i[e], b = from->i[e + MOST];
    if (from->i[e + MOST - 1] != a + MOST - 1 || from->i[e + 2 * MOST - 1] != b + MOST - 1) return none;
    const bool parent_first = a == parent->first && b == link->first;
    if (!parent_first && !(a == link->first && b == parent->first)) return none;
    return parent_first ? (JointRow){index, e + MOST, e} : (JointRow){index, e, e + MOST};
}

/* The rows of a hinge or of a ball joint between two bodies that are free otherwise are
 *
 *     sign (v_b - v_a) + B w_b + B_a w_a + g = 0,     E w_b + E_a w_a + g = 0
 *
 * with two rows of E and E_a, or none. Pointers to their numbers on the link and on its parent. False: others. The
 * form is that of the type of joint: it is checked once for each pattern of G.                          */
STI_INLINE bool parts_of_meeting(const st_Problem *P, Link *link, const Link *parent, const double *own[5],
                                 const double *above[5])
{
    const int m = link->of.n_rows;
    if (link->of.rank != m || (m != 3 && m != 5)) return false;
    if (link->laid_out) {
        for (int r = 0; r < m; r++) {
            own[r] = P->G.x + link->at_own[r];
            link->above[r] = above[r] = P->G.x + link->at_above[r];
        }
        link->sign = own[0][0];
        return true;
    }
    for (int r = 0; r < m; r++) {
        const JointRow at = find_parts(&P->G, link->of.first_row + r, -1, link, parent);
        if (at.own < 0) return false;
        link->at_own[r] = at.own;
        link->at_above[r] = at.above;
        own[r] = P->G.x + at.own;
        link->above[r] = above[r] = P->G.x + at.above;
    }
    const double sign = link->sign = own[0][0];
    if (fabs(sign) != 1) return false;
    for (int r = 0; r < 3; r++)
        for (int j = 0; j < 3; j++)
            if (own[r][j] != (r == j ? sign : 0) || above[r][j] != (r == j ? -sign : 0)) return false;
    for (int r = 3; r < m; r++)
        if (own[r][0] != 0 || own[r][1] != 0 || own[r][2] != 0 || above[r][0] != 0 || above[r][1] != 0 ||
            above[r][2] != 0)
            return false;
    link->laid_out = true;
    return true;
}

/* Such a link in closed form. Seen from a, the axis n_a of a hinge is the product of the rows of E_a as n is that of E.
 * b turns with a about it:
 *
 *     w_b = XP w_a + n y - F' g,     XP = -F' E_a + n n_a',     v_b = v_a + XK w_a + ..,    XK = -sign (B XP + B_a)
 *
 * A ball joint leaves w_b free: XP is the unit matrix, n as well. (Any matrix that can be inverted will do.) False: the
 * link is another one.                                                                               */
STI_INLINE bool factor_turning(const st_Problem *P, Link *link, const Link *parent)
{
    const double *own[5], *above[5], *g = P->g + link->of.first_row;
    sti_Wide d_w = {0};
    if (!parts_of_meeting(P, link, parent, own, above)) return false;
    if (link->of.rank == 5) {
        const sti_Wide e = load3(own[3] + 3), f = load3(own[4] + 3), e_a = load3(above[3] + 3),
                       f_a = load3(above[4] + 3), n = cross4(e, f), n_a = cross4(e_a, f_a);
        const double square = sum3(n * n), over = 1 / sqrt(square);
        if (!(square > 1e-16 * sum3(e * e) * sum3(f * f)) || !(fabs(sum3(n_a * n_a) - square) < 0.1 * square))
            return false;
        const sti_Wide F_0 = cross4(f, n) * (over * over), F_1 = cross4(n, e) * (over * over), unit = n * over;
        store4(F_0, link->F[0]);
        store4(F_1, link->F[1]);
        store3(unit, link->Q[5] + 3);
        d_w = -F_0 * g[3] - F_1 * g[4];
        for (int i = 0; i < 3; i++)
            store4(unit[i] * over * n_a - F_0[i] * e_a - F_1[i] * f_a, link->XP[i]);
    } else {
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                link->XP[i][j] = link->Q[3 + i][3 + j] = i == j;
    }
    for (int i = 0; i < 3; i++) {
        const sti_Wide B = load3(own[i] + 3), B_a = load3(above[i] + 3);
        const double sign = link->sign;
        store4(B, link->B[i]);
        for (int c = link->of.rank; c < MOST; c++)
            link->Q[c][i] = -sign * dot3(link->B[i], link->Q[c] + 3);
        link->d[i] = -sign * (g[i] + sum3(B * d_w));
        link->d[3 + i] = d_w[i];
        store4(-sign * (row_times(link->B[i], link->XP[0]) + B_a), link->XK[i]);
    }
    return true;
}

/* Hinges and ball joints, all links at once. */
STI_CLONES static void factor_turning_links(sti_TreeCoordinates *t)
{
    t->all_turn = true;
    for (int k = 0; k < t->n_links; k++) {
        Link *link = &t->link[k];
        const Link *parent = link->of.parent >= 0 ? &t->link[link->of.parent] : NULL;
        link->adopted = false;
        link->turns = parent != NULL && factor_turning(t->problem, link, parent);
        link->shares = link->turns && parent->depth + 1 < MOST_DEPTH;
        link->depth = link->shares ? parent->depth + 1 : 0;
        t->all_turn = t->all_turn && (link->turns || link->n_y != 1);
    }
}

/* X and d of another link, from its rows. */
static bool factor_link(sti_TreeCoordinates *t, int index)
{
    const st_Problem *P = t->problem;
    Link *link = &t->link[index];
    const Link *parent = link->of.parent >= 0 ? &t->link[link->of.parent] : NULL;
    if (link->is_free) return true; /* as in the last problem */
    Six R[MOST_ROWS] = {{0}}, Z[MOST], unit;
    double z[MOST];
    memset(link->R_a, 0, sizeof link->R_a);
    memset(link->X, 0, sizeof link->X);
    memset(link->d, 0, sizeof link->d);
    for (int r = 0; r < link->of.n_rows; r++) {
        const int row = link->of.first_row + r;
        for (int64_t e = P->G.p[row]; e < P->G.p[row + 1]; e++) {
            const int i = P->G.i[e];
            if (i >= link->first && i < link->first + link->n)
                R[r][i - link->first] = P->G.x[e];
            else if (parent != NULL && i >= parent->first && i < parent->first + parent->n)
                link->R_a[r][i - parent->first] = P->G.x[e];
        }
    }
    if (factor_meeting(P, link, R)) return true;
    units_of_velocities(&P->A, t->numbers[link->of.block], link->of.block, link->n, unit);
    if (!factor_rows(link, R, unit)) return false;
    for (int s = 0; s < link->of.rank; s++) { /* Z = inv(L) R_a, z = inv(L) g; then X = -Q_1 Z, d = -Q_1 z */
        const double over = 1 / link->L[s][s];
        memcpy(Z[s], link->R_a[link->pivot[s]], sizeof Z[s]);
        z[s] = P->g[link->of.first_row + link->pivot[s]];
        for (int j = 0; j < s; j++) {
            add6(-link->L[s][j], Z[j], Z[s]);
            z[s] -= link->L[s][j] * z[j];
        }
        for (int j = 0; j < MOST; j++)
            Z[s][j] *= over;
        z[s] *= over;
        for (int i = 0; i < MOST; i++)
            add6(-link->Q[s][i], Z[s], link->X[i]);
        add6(-z[s], link->Q[s], link->d);
    }
    link->is_free = link->of.n_rows == 0;
    return true;
}

/* Where the numbers of a row on the block of its number e end. Mostly it has one for each velocity, in order. */
static int64_t end_of_block(const sti_TreeCoordinates *t, const st_Sparse *from, int row, int64_t e)
{
    const int block = t->block_of[from->i[e]], first = t->first[block], end = t->first[block + 1];
    const int64_t last = e + end - first, most = from->p[row + 1];
    if (from->i[e] == first && last <= most && from->i[last - 1] == end - 1) return last;
    while (e < most && from->i[e] >= first && from->i[e] < end)
        e++;
    return e;
}

/* The link that a row ties to its parent, and touches nothing else but a follower; -1: none. */
static int link_of_row(const sti_TreeCoordinates *t, const st_Sparse *from, int row)
{
    int a = -1, b = -1;
    for (int64_t e = from->p[row]; e < from->p[row + 1]; e = end_of_block(t, from, row, e)) {
        const int block = t->block_of[from->i[e]], k = t->link_of[block];
        if (t->follows[block] >= 0 || (k >= 0 && (k == a || k == b))) continue;
        if (k < 0 || b >= 0) return -1;
        if (a < 0)
            a = k;
        else
            b = k;
    }
    if (b < 0) return -1;
    return t->link[a].of.parent == b ? a : t->link[b].of.parent == a ? b : -1;
}

/* Links by row, unless the rows touch the same velocities as in the last problem. kind: NULL: all rows are KEPT. */
static st_Status find_joints(sti_TreeCoordinates *t, const st_Sparse *from, const int *kind, Pattern *last, bool *same,
                             st_Error *err)
{
    const int n = from->n_cols;
    const int64_t entries = n > 0 ? from->p[n] : 0;
    *same = last->n == n && (n == 0 || (memcmp(last->p, from->p, (size_t)(n + 1) * sizeof *last->p) == 0 &&
                                        memcmp(last->i, from->i, (size_t)entries * sizeof *last->i) == 0));
    if (*same) return ST_OK;
    last->n = 0;
    STI_TRY(STI_GROW(&t->allocator, last->p, last->p_size, n + 1, err));
    STI_TRY(STI_GROW(&t->allocator, last->i, last->i_size, entries + 1, err));
    STI_TRY(STI_GROW(&t->allocator, last->row, last->row_size, n + 1, err));
    STI_TRY(STI_GROW(&t->allocator, last->tied, last->tied_size, n + 1, err));
    memcpy(last->p, from->p, (size_t)(n + 1) * sizeof *last->p);
    memcpy(last->i, from->i, (size_t)entries * sizeof *last->i);
    last->n = n;
    last->n_tied = 0;
    for (int row = 0; row < n; row++) {
        const int k = kind != NULL && kind[row] == OF_LINK ? -1 : link_of_row(t, from, row);
        last->row[row] =
            k < 0 ? (JointRow){-1, -1, -1} : find_parts(from, row, k, &t->link[k], &t->link[t->link[k].of.parent]);
        if (k >= 0) last->tied[last->n_tied++] = row;
    }
    return ST_OK;
}

/* The parts of a row on a link and on its parent. */
static void split_row(const sti_TreeCoordinates *t, const st_Sparse *from, int row, int index, Six own, Six above)
{
    const Link *link = &t->link[index], *parent = &t->link[link->of.parent];
    memset(own, 0, sizeof(Six));
    memset(above, 0, sizeof(Six));
    for (int64_t e = from->p[row]; e < from->p[row + 1]; e++) {
        const int i = from->i[e];
        if (i >= link->first && i < link->first + link->n)
            own[i - link->first] = from->x[e];
        else if (i >= parent->first && i < parent->first + parent->n)
            above[i - parent->first] = from->x[e];
    }
}

/* Is a row on rotations alone? */
STI_INLINE bool is_angular(const double *on_b, const double *on_a)
{
    return on_b[0] == 0 && on_b[1] == 0 && on_b[2] == 0 && on_a[0] == 0 && on_a[1] == 0 && on_a[2] == 0;
}

/* The part of such a row that the parent of a hinge feels, with b turning along: nothing, if it is about the hinge. */
STI_INLINE sti_Wide rest_of_row(const Link *link, const double *on_b, const double *on_a)
{
    return load3(on_a + 3) + on_b[3] * load4(link->XP[0]) + on_b[4] * load4(link->XP[1]) + on_b[5] * load4(link->XP[2]);
}

STI_INLINE double largest3(sti_Wide x)
{
    const double a = fabs(x[0]), b = fabs(x[1]), c = fabs(x[2]), ab = a > b ? a : b;
    return ab > c ? ab : c;
}

/* X is free in the directions of N. A link with one coordinate takes the first row of its own joint (motor, damper,
 * limit, rotor), so that this row and all that are parallel to it are about its coordinate alone: they are exact where
 * the whole tree moves, and sparse. First the hinges: a row is their own angle, except for the opening of the joint. */
STI_CLONES static void adopt_angles(sti_TreeCoordinates *t, const st_Sparse *from, const Pattern *of)
{
    const JointRow *at = of->row;
    for (int e = 0; e < of->n_tied; e++) {
        const int row = of->tied[e];
        if (at[row].own < 0) continue;
        Link *link = &t->link[at[row].link];
        if (link->n_y != 1 || !link->turns || link->adopted) continue;
        const double *N = column_of_N(link, 0), *on_b = from->x + at[row].own, *on_a = from->x + at[row].above;
        if (!is_angular(on_b, on_a)) continue;
        const double rate = dot3(on_b + 3, N + 3);
        if (!(rate * rate > 0.5 * dot3(on_b + 3, on_b + 3))) continue;
        const sti_Wide rest = rest_of_row(link, on_b, on_a), along = load3(N) / rate, about = load3(N + 3) / rate;
        if (!(largest3(rest) < 0.1 * largest3(load3(on_a + 3)))) continue;
        for (int i = 0; i < 3; i++) {
            store4(load4(link->XP[i]) - about[i] * rest, link->XP[i]);
            store4(load4(link->XK[i]) - along[i] * rest, link->XK[i]);
        }
        link->adopted = true;
        link->row_b = on_b, link->row_a = on_a;
        link->row_x = link->row_own = NAN;
    }
}

/* Other links. */
static void adopt_rows(sti_TreeCoordinates *t, const st_Sparse *from, const Pattern *of)
{
    for (int e = 0; e < of->n_tied; e++) {
        const int row = of->tied[e], k = of->row[row].link;
        if (t->link[k].n_y != 1 || t->link[k].turns || t->link[k].adopted) continue;
        Link *link = &t->link[k];
        const double *N = column_of_N(link, 0);
        Six own, above;
        split_row(t, from, row, k, own, above);
        const double rate = dot6(own, N);
        if (!(rate * rate > 1e-12 * dot6(own, own) * dot6(N, N))) continue;
        for (int i = 0; i < link->n; i++)
            add6(own[i], link->X[i], above);
        for (int i = 0; i < MOST; i++)
            add6(-N[i] / rate, above, link->X[i]);
        link->adopted = true;
    }
}

/* The frame of a link that shares that of its parent: K and P, and S, d and p in this frame. */
STI_INLINE void set_shared_frame(Link *link, const Link *parent)
{
    for (int i = 0; i < 3; i++) {
        const double *K = link->XK[i];
        store4(load4(parent->K[i]) + K[0] * load4(parent->P[0]) + K[1] * load4(parent->P[1]) +
                   K[2] * load4(parent->P[2]),
               link->K[i]);
        store4(row_times(link->XP[i], parent->P[0]), link->P[i]);
    }
    /* columns of inv(P), times the determinant: nearly 1, P is a rotation */
    const sti_Wide P_0 = load4(link->P[0]), P_1 = load4(link->P[1]), P_2 = load4(link->P[2]),
                   column_0 = cross4(P_1, P_2), column_1 = cross4(P_2, P_0), column_2 = cross4(P_0, P_1);
    const double over = 1 / sum3(P_0 * column_0);
    for (int c = 0; c < link->n_y; c++) {
        const double *N = column_of_N(link, c);
        double *S = link->S[c];
        const sti_Wide turning = over * (column_0 * N[3] + column_1 * N[4] + column_2 * N[5]);
        for (int i = 0; i < 3; i++)
            S[i] = N[i] - sum3(load4(link->K[i]) * turning);
        store3(turning, S + 3);
    }
    double *d = link->d;
    const sti_Wide turning = over * (column_0 * d[3] + column_1 * d[4] + column_2 * d[5]);
    for (int i = 0; i < 3; i++)
        d[i] -= sum3(load4(link->K[i]) * turning);
    store3(turning, d + 3);
    for (int i = 0; i < MOST; i++)
        link->p[i] = parent->p[i] + d[i];
    velocity_of_frame(link, link->p, link->own_p);
}

/* Copies S of a link to S_of, and finds its run. */
STI_INLINE void spread_link(sti_TreeCoordinates *t, int k)
{
    Link *link = &t->link[k];
    const Link *parent = link->of.parent >= 0 ? &t->link[link->of.parent] : NULL;
    const bool next =
        parent != NULL && link->shares && !parent->plain && parent->first_y + parent->n_y == link->first_y;
    link->run = next ? parent->run : k;
    for (int c = 0; c < link->n_y; c++)
        for (int i = 0; i < MOST; i++)
            t->S_of[i * t->pitch + link->first_y + c] = link->S[c][i];
}

/* Frames, S, d and p, from the roots to the leaves. Matrices need S of all coordinates side by side. */
STI_CLONES static void set_frames(sti_TreeCoordinates *t, bool with_matrix)
{
    for (int k = 0; k < t->n_links; k++) {
        Link *link = &t->link[k];
        const Link *parent = link->of.parent >= 0 ? &t->link[link->of.parent] : NULL;
        if (parent != NULL && link->shares) {
            set_shared_frame(link, parent);
            if (with_matrix) spread_link(t, k);
            continue;
        }
        for (int i = 0; i < 3; i++) /* a frame of its own */
            for (int j = 0; j < 3; j++) {
                link->K[i][j] = 0;
                link->P[i][j] = i == j;
            }
        link->plain = link->of.rank == 0;
        for (int i = 0; link->turns && i < 3; i++)
            for (int j = 0; j < 3; j++) {
                link->X[i][j] = i == j;
                link->X[3 + i][j] = 0;
                link->X[i][3 + j] = link->XK[i][j];
                link->X[3 + i][3 + j] = link->XP[i][j];
            }
        for (int c = 0; c < link->n_y; c++)
            memcpy(link->S[c], column_of_N(link, c), sizeof(Six));
        memcpy(link->p, link->d, sizeof link->p);
        for (int i = 0; parent != NULL && i < MOST; i++) {
            Six x;
            force_in_frame(parent, link->X[i], x);
            memcpy(link->X[i], x, sizeof x);
            link->p[i] += dot6(x, parent->p);
        }
        memcpy(link->own_p, link->p, sizeof link->p);
        if (with_matrix) spread_link(t, k);
    }
}

/* ---- the problem ---------------------------------------------------------------------------------- */

/* A force h in the frame of a link, up to the root, or until it meets `stop`, which it is added to (-1: none; else
 * `onto`).                                                                                           */
static void carry_up(sti_TreeCoordinates *t, int from, int stop, Six h, double *onto)
{
    for (int k = from; k >= 0; k = t->link[k].of.parent) {
        const Link *link = &t->link[k];
        double *row = t->row + link->first_y;
        if (k == stop) {
            add6(1, h, onto);
            return;
        }
        if (link->plain)
            for (int c = 0; c < link->n_y; c++)
                row[c] += h[c];
        else
            for (int c = 0; c < link->n_y; c++)
                row[c] += dot6(link->S[c], h);
        if (link->shares || link->of.parent < 0) continue;
        Six up = {0};
        for (int i = 0; i < link->n; i++)
            add6(h[i], link->X[i], up);
        memcpy(h, up, sizeof up);
    }
}

/* The link where the paths of two links to the root meet; -1: nowhere. Parents come before their children. */
static int common_link(const sti_TreeCoordinates *t, int a, int b)
{
    while (a != b && a >= 0 && b >= 0) {
        if (a > b)
            a = t->link[a].of.parent;
        else
            b = t->link[b].of.parent;
    }
    return a == b ? a : -1;
}

/* Are these the numbers of the row that a hinge took as its coordinate? Motor, damper, limit and rotor have the same.
 */
STI_INLINE bool is_adopted(const Link *link, const double *on_b, const double *on_a)
{
    return on_b == link->row_b ||
           (sti_same_numbers(on_b, link->row_b, MOST) && sti_same_numbers(on_a, link->row_a, MOST));
}

/* A row about the coordinate of a hinge alone: its number there, and its part on p. False: another row. *same: it has
 * the numbers of the row that the hinge adopted.                                                     */
STI_INLINE bool hinge_row(sti_TreeCoordinates *t, const st_Sparse *from, const JointRow *at, double *x, double *on_p,
                          bool *same)
{
    *same = false;
    if (at->own < 0 || !t->link[at->link].turns || !t->link[at->link].adopted) return false;
    Link *link = &t->link[at->link];
    const double *on_b = from->x + at->own, *on_a = from->x + at->above, *N = column_of_N(link, 0);
    *same = is_adopted(link, on_b, on_a);
    if (*same && !isnan(link->row_x)) {
        *x = link->row_x;
        *on_p = link->row_p;
        return true;
    }
    if (!is_angular(on_b, on_a)) return false;
    if (!(largest3(rest_of_row(link, on_b, on_a)) <= 1e-14 * largest3(load3(on_a + 3)))) return false;
    const Link *parent = &t->link[link->of.parent];
    *x = dot3(on_b + 3, N + 3);
    *on_p = dot3(on_b + 3, link->own_p + 3) + dot3(on_a + 3, parent->own_p + 3);
    if (*same) link->row_x = *x, link->row_p = *on_p;
    return true;
}

/* One row of G or H on y: adds to t->row; the part on p is returned. joint: the link of its joint; -1: another row. */
static double carry_row(sti_TreeCoordinates *t, const st_Sparse *from, int row, int joint)
{
    double on_p = 0;
    if (joint >= 0 && t->link[joint].adopted && !t->link[joint].turns) {
        const Link *link = &t->link[joint], *parent = &t->link[link->of.parent];
        Six own, above, h;
        double size = 0;
        bool none = true;
        split_row(t, from, row, joint, own, above);
        on_p = dot6(own, link->own_p) + dot6(above, parent->own_p);
        t->row[link->first_y] += dot6(own, column_of_N(link, 0));
        force_in_frame(parent, above, h);
        for (int i = 0; i < MOST; i++)
            size = fmax(size, fabs(h[i]));
        for (int i = 0; i < link->n; i++)
            add6(own[i], link->X[i], h);
        for (int i = 0; i < MOST; i++)
            none = none && fabs(h[i]) <= 1e-14 * size;
        if (!none) carry_up(t, link->of.parent, -1, h, NULL);
        return on_p;
    }
    int waiting = -1; /* a link whose force is passed on together with that of the next one, from the link where their
                         paths meet */
    Six waits = {0};
    for (int64_t e = from->p[row]; e < from->p[row + 1];) {
        const int block = t->block_of[from->i[e]], first = t->first[block], end = t->first[block + 1];
        const int index = t->link_of[block];
        Six of_block = {0}, h;
        if (index < 0) { /* a block as it is */
            for (; e < from->p[row + 1] && from->i[e] >= first && from->i[e] < end; e++)
                t->row[t->y_first[block] + from->i[e] - first] += from->x[e];
            continue;
        }
        for (; e < from->p[row + 1] && from->i[e] >= first && from->i[e] < end; e++)
            of_block[from->i[e] - first] += from->x[e];
        force_in_frame(&t->link[index], of_block, h);
        on_p += dot6(of_block, t->link[index].own_p);
        if (waiting < 0) {
            waiting = index;
            memcpy(waits, h, sizeof waits);
            continue;
        }
        const int meet = common_link(t, waiting, index);
        Six both = {0};
        carry_up(t, waiting, meet, waits, both);
        carry_up(t, index, meet, h, both);
        waiting = meet;
        memcpy(waits, both, sizeof waits);
    }
    if (waiting >= 0) carry_up(t, waiting, -1, waits, NULL);
    return on_p;
}

/* Is the block of a mass m and moments of inertia about its centre: [m, 0; 0, I]? */
STI_INLINE bool is_body(const double *numbers, int n, bool diagonal)
{
    if (n != MOST) return false;
    if (diagonal) return numbers[0] == numbers[1] && numbers[0] == numbers[2];
    for (int i = 0; i < 3; i++) { /* rows of 6 x 6 numbers */
        const double *row = numbers + MOST * i, *turning = row + 3 * MOST;
        for (int j = 0; j < 3; j++)
            if (row[j] != (i == j ? numbers[0] : 0) || row[3 + j] != 0 || turning[j] != 0) return false;
    }
    return true;
}

/* P'A P and P'(f - A p) of a link, from the numbers of its block. */
STI_INLINE void set_masses(Link *link, const double *numbers, const double *f, bool diagonal)
{
    const int n = link->n;
    Six rest = {0};
    if (link->shares && link->is_body) {
        /* [m, m K; m K', m K'K + P'I P] */
        const double m = numbers[0], *I = numbers + 3 * MOST + 3;
        Row3 IP[3], mK[3];
        for (int i = 0; i < 3; i++) {
            rest[i] = f[i] - m * link->own_p[i];
            rest[3 + i] = diagonal ? f[3 + i] - numbers[3 + i] * link->own_p[3 + i]
                                   : f[3 + i] - dot3(I + MOST * i, link->own_p + 3);
            store4(m * load4(link->K[i]), mK[i]);
            if (diagonal)
                store4(numbers[3 + i] * load4(link->P[i]), IP[i]);
            else
                store4(row_times(I + MOST * i, link->P[0]), IP[i]);
        }
        force_in_frame(link, rest, link->f);
        for (int i = 0; i < 3; i++) {
            double *A = link->A[i], *turning = link->A[3 + i];
            sti_Wide sum = mK[0][i] * load4(link->K[0]) + link->P[0][i] * load4(IP[0]);
            for (int k = 1; k < 3; k++)
                sum += mK[k][i] * load4(link->K[k]) + link->P[k][i] * load4(IP[k]);
            for (int j = 0; j < 3; j++) {
                A[j] = i == j ? m : 0;
                A[3 + j] = mK[i][j];
                turning[j] = mK[j][i];
                turning[3 + j] = sum[j];
            }
        }
        for (int i = 0; i < 3; i++) /* the same bits on both sides */
            for (int j = 0; j < i; j++)
                link->A[3 + j][3 + i] = link->A[3 + i][3 + j];
        return;
    }
    Six A[MOST] = {{0}}, half[MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            A[i][j] = !diagonal ? numbers[i * n + j] : i == j ? numbers[i] : 0;
    for (int i = 0; i < n; i++)
        rest[i] = f[i] - dot6(A[i], link->own_p);
    force_in_frame(link, rest, link->f);
    if (!link->shares) {
        for (int i = 0; i < MOST; i++)
            memcpy(link->A[i], A[i], sizeof A[i]);
        return;
    }
    for (int i = 0; i < MOST; i++) /* A P, row by row; its columns then go through P' */
        force_in_frame(link, A[i], half[i]);
    for (int j = 0; j < MOST; j++) {
        Six column, out;
        for (int i = 0; i < MOST; i++)
            column[i] = half[i][j];
        force_in_frame(link, column, out);
        for (int i = 0; i <= j; i++)
            link->A[i][j] = link->A[j][i] = out[i];
    }
}

/* A and f of every link; blocks without links are copied. */
STI_CLONES static void carry_masses(sti_TreeCoordinates *t, bool with_matrix)
{
    const st_Problem *P = t->problem;
    int64_t to = 0;
    for (int b = 0; b < t->n_reduced_blocks; b++)
        t->diagonal[b] = 0;
    for (int b = 0; b < t->n_blocks; b++) { /* which of them store a diagonal alone */
        if (t->link_of[b] < 0 && t->follows[b] < 0) t->diagonal[t->reduced_block[b]] = sti_block_marked(&P->A, b);
    }
    for (int b = 0; b < t->n_reduced_blocks; b++) {
        const int64_t n = t->first_reduced[b + 1] - t->first_reduced[b];
        t->start[b] = to;
        to += t->diagonal[b] ? n : n * n;
    }
    const int64_t of_trees = t->n_trees < t->n_reduced_blocks ? t->start[t->n_trees] : to;
    if (with_matrix && !t->is_sparse) memset(t->A, 0, (size_t)of_trees * sizeof *t->A);
    t->is_sparse = t->is_sparse || with_matrix;
    memset(t->f, 0, (size_t)t->n_y * sizeof *t->f);
    for (int b = 0; b < t->n_blocks; b++) {
        const int n = t->first[b + 1] - t->first[b], index = t->link_of[b];
        const double *numbers = P->A.x + t->numbers[b], *f = P->f + t->first[b];
        const int64_t size = sti_block_numbers(&P->A, b);
        const int64_t step = size == n ? 1 : n + 1;
        Link *link = index >= 0 ? &t->link[index] : NULL;
        /* masses rarely change, and divisions take longer */
        const bool same = link != NULL && link->n_masses == size &&
                          memcmp(link->masses, numbers, (size_t)size * sizeof *numbers) == 0;
        if (link != NULL && !same) {
            link->n_masses = (int)size;
            memcpy(link->masses, numbers, (size_t)size * sizeof *numbers);
            link->is_body = is_body(numbers, n, sti_block_marked(&P->A, b));
        }
        for (int i = 0; i < n && !same; i++) {
            double *lightness = &t->own_lightness[t->first[b] + i], *mass = &t->own_mass[t->first[b] + i];
            if (*mass == numbers[i * step]) continue;
            *mass = numbers[i * step];
            *lightness = 1 / *mass;
        }
        if (t->follows[b] >= 0) continue;
        if (index < 0) {
            if (with_matrix) memcpy(t->A + t->start[t->reduced_block[b]], numbers, (size_t)size * sizeof *numbers);
            memcpy(t->f + t->y_first[b], f, (size_t)n * sizeof *f);
            continue;
        }
        set_masses(link, numbers, f, sti_block_marked(&P->A, b));
    }
}

/* Onto the parent: X'A X and X'f. */
STI_INLINE void add_to_parent(const Link *link, Link *parent)
{
    if (link->shares) {
        for (int i = 0; i < MOST; i++) {
            store4(load4(parent->A[i]) + load4(link->A[i]), parent->A[i]);
            store4(load4(parent->A[i] + STI_WIDTH) + load4(link->A[i] + STI_WIDTH), parent->A[i] + STI_WIDTH);
        }
        add6(1, link->f, parent->f);
        return;
    }
    for (int e = 0; e < link->n; e++) { /* X' (A X), row by row of A X */
        Six AX = {0};
        for (int i = 0; i < MOST; i++)
            add6(link->A[e][i], link->X[i], AX);
        for (int i = 0; i < MOST; i++)
            add6(link->X[e][i], AX, parent->A[i]);
        add6(link->f[e], link->X[e], parent->f);
    }
}

/* Four products S'F, starting at a coordinate; summed in the order of dot6. */
STI_INLINE sti_Wide products4(const sti_TreeCoordinates *t, const double *F, int at)
{
    const double *S = t->S_of + at;
    const int64_t pitch = t->pitch;
    return ((F[0] * load4(S) + F[1] * load4(S + pitch)) + (F[2] * load4(S + 2 * pitch) + F[3] * load4(S + 3 * pitch))) +
           (F[4] * load4(S + 4 * pitch) + F[5] * load4(S + 5 * pitch));
}

/* T'AT and T'f of the trees, from the leaves to the roots. A is symmetric. */
STI_CLONES static void join_masses(sti_TreeCoordinates *t)
{
    for (int k = t->n_links - 1; k >= 0; k--) {
        const Link *link = &t->link[k];
        const int first = t->tree_first[link->tree], size = t->tree_first[link->tree + 1] - first;
        double *M = t->A + t->start[t->reduced_block[link->of.block]];
        for (int c = 0; c < link->n_y; c++) {
            const int row = link->first_y + c - first;
            const double *S = link->S[c];
            double *along = M + (int64_t)row * size, *down = M + row;
            Row6 F;
            store4(row_times6(S, link->A[0]), F);
            store4(row_times6(S, link->A[0] + STI_WIDTH), F + STI_WIDTH);
            t->f[link->first_y + c] += dot6(S, link->f);
            for (int a = k; a >= 0;) {
                const Link *of = &t->link[a], *begin = &t->link[of->run];
                const int end = of->first_y + of->n_y - first;
                int y = begin->first_y - first;
                for (int d = 0; of->plain && d < of->n_y; d++, y++)
                    along[y] = down[(int64_t)y * size] = F[d];
                for (; y < end; y += STI_WIDTH) {
                    const sti_Wide products = products4(t, F, first + y);
                    const int n = end - y;
                    double *to = along + y, *other = down + (int64_t)y * size;
                    to[0] = other[0] = products[0]; /* S_of continues with other links: keep only the first */
                    if (n > 1) to[1] = other[size] = products[1];
                    if (n > 2) to[2] = other[2 * size] = products[2];
                    if (n > 3) to[3] = other[3 * size] = products[3];
                }
                a = begin->of.parent;
                if (begin->shares || a < 0) continue;
                Six up = {0};
                for (int i = 0; i < begin->n; i++)
                    add6(F[i], begin->X[i], up);
                memcpy(F, up, sizeof up);
            }
        }
        if (link->of.parent >= 0) add_to_parent(link, &t->link[link->of.parent]);
    }
}

/* ---- rows of contacts ------------------------------------------------------------------------------ */

/* Rows 0 .. n - 1 from `row` on touch the same velocities, and none is about a joint: those of contacts. */
static int count_alike(const st_Sparse *from, const JointRow *at, int row, int most)
{
    const int64_t size = from->p[row + 1] - from->p[row];
    int n = 1;
    while (n < most && row + n < from->n_cols && at[row + n].link < 0 &&
           from->p[row + n + 1] - from->p[row + n] == size &&
           memcmp(from->i + from->p[row + n], from->i + from->p[row], (size_t)size * sizeof *from->i) == 0)
        n++;
    return n;
}

/* Number by number: a compiler makes a string instruction of a loop or of {0}, which takes longer. */
STI_INLINE void clear6(sti_Wide *x)
{
    x[0] = x[1] = x[2] = x[3] = x[4] = x[5] = (sti_Wide){0};
}

/* As carry_up, for four rows side by side. */
STI_INLINE void carry_up_alike(sti_TreeCoordinates *t, int begin, int stop, sti_Wide *h, sti_Wide *onto)
{
    for (int k = begin; k >= 0; k = t->link[k].of.parent) {
        const Link *link = &t->link[k];
        sti_Wide *row = t->rows + link->first_y;
        if (k == stop) {
            for (int i = 0; i < MOST; i++)
                onto[i] += h[i];
            return;
        }
        for (int c = 0; c < link->n_y; c++) {
            if (link->plain) {
                row[c] += h[c];
                continue;
            }
            const double *S = link->S[c];
            sti_Wide sum = S[0] * h[0];
            for (int i = 1; i < MOST; i++)
                sum += S[i] * h[i];
            row[c] += sum;
        }
        if (link->shares || link->of.parent < 0) continue;
        sti_Wide up[MOST];
        clear6(up);
        for (int i = 0; i < link->n; i++)
            for (int j = 0; j < MOST; j++)
                up[j] += h[i] * link->X[i][j];
        memcpy(h, up, sizeof up);
    }
}

/* As carry_row, for four rows side by side, the first n of which count: x their numbers, at their velocities. */
STI_INLINE sti_Wide carry_row_alike(sti_TreeCoordinates *t, const double *const x[STI_WIDTH], const int *at, int64_t n)
{
    int waiting = -1;
    sti_Wide waits[MOST], on_p = {0};
    clear6(waits);
    for (int64_t e = 0; e < n;) {
        const int block = t->block_of[at[e]], first = t->first[block], end = t->first[block + 1];
        const int index = t->link_of[block];
        sti_Wide own[MOST], h[MOST];
        clear6(own);
        for (; e < n && at[e] >= first && at[e] < end; e++) {
            const sti_Wide numbers = {x[0][e], x[1][e], x[2][e], x[3][e]};
            if (index < 0)
                t->rows[t->y_first[block] + at[e] - first] += numbers;
            else
                own[at[e] - first] += numbers;
        }
        if (index < 0) continue;
        const Link *link = &t->link[index];
        for (int j = 0; j < 3; j++) {
            h[j] = own[j];
            h[3 + j] = own[0] * link->K[0][j];
            for (int i = 1; i < 3; i++)
                h[3 + j] += own[i] * link->K[i][j];
            for (int i = 0; i < 3; i++)
                h[3 + j] += own[3 + i] * link->P[i][j];
        }
        for (int i = 0; i < MOST; i++)
            on_p += own[i] * link->own_p[i];
        if (waiting < 0) {
            waiting = index;
            memcpy(waits, h, sizeof waits);
            continue;
        }
        int a = waiting, b = index; /* as common_link */
        while (a != b && a >= 0 && b >= 0) {
            if (a > b)
                a = t->link[a].of.parent;
            else
                b = t->link[b].of.parent;
        }
        const int meet = a == b ? a : -1;
        sti_Wide both[MOST];
        clear6(both);
        carry_up_alike(t, waiting, meet, waits, both);
        carry_up_alike(t, index, meet, h, both);
        waiting = meet;
        memcpy(waits, both, sizeof waits);
    }
    if (waiting >= 0) carry_up_alike(t, waiting, -1, waits, NULL);
    return on_p;
}

/* Rows row .. row + n - 1 of H as rows on y: their numbers from i[at] and x[at] on, which end at p[1 ..]; their parts
 * on p are added to value. A row that the trees hold becomes 0. Returns the end. */
STI_CLONES static int64_t carry_alike(sti_TreeCoordinates *t, const st_Sparse *from, int row, int n, int64_t at,
                                      int64_t *p, int *i, double *x, double *value)
{
    const int *velocity = from->i + from->p[row];
    const int64_t size = from->p[row + 1] - from->p[row];
    const double *numbers[STI_WIDTH];
    sti_Wide own = {0}, carried = {0};
    int n_touched = 0;
    for (int l = 0; l < STI_WIDTH; l++)
        numbers[l] = from->x + from->p[l < n ? row + l : row];
    const sti_Wide on_p = carry_row_alike(t, numbers, velocity, size);
    for (int64_t e = 0; e < size; e++) {
        const sti_Wide of = {numbers[0][e], numbers[1][e], numbers[2][e], numbers[3][e]};
        own += of * of * t->own_lightness[velocity[e]];
    }
    t->n_seen++;
    for (int64_t e = 0; e < size; e++) {
        const int b = t->reduced_block[t->block_of[velocity[e]]];
        if (t->seen[b] == t->n_seen) continue;
        t->seen[b] = t->n_seen;
        for (int j = t->first_reduced[b]; j < t->first_reduced[b + 1]; j++) {
            const sti_Wide of = t->rows[j];
            if (of[0] == 0 && of[1] == 0 && of[2] == 0 && of[3] == 0) continue;
            carried += of * of * t->lightness[j];
            t->touched[n_touched++] = j;
        }
    }
    for (int l = 0; l < n; l++, at += n_touched) { /* with the zeros of single rows: they keep one pattern */
        const bool held = !(carried[l] / own[l] > STI_HELD);
        memcpy(i + at, t->touched, (size_t)n_touched * sizeof *i);
        for (int k = 0; k < n_touched; k++)
            x[at + k] = held ? 0 : ((const double *)&t->rows[t->touched[k]])[l];
        p[l + 1] = at + n_touched;
        value[l] += on_p[l];
    }
    for (int k = 0; k < n_touched; k++)
        t->rows[t->touched[k]] = (sti_Wide){0};
    return at;
}

/* Returns the link if the row has nonzeros at all velocities of one link and at no others; else -1. */
STI_INLINE int only_link(const sti_TreeCoordinates *t, const int *velocity, int64_t size)
{
    if (size != MOST || velocity[0] + MOST - 1 != velocity[MOST - 1]) return -1;
    const int block = t->block_of[velocity[0]];
    return t->first[block] == velocity[0] && t->first[block + 1] == velocity[0] + MOST ? t->link_of[block] : -1;
}

/* Four numbers of four rows as four rows of four numbers. */
STI_INLINE void transpose4(const sti_Wide *x, sti_Wide *out)
{
    const sti_Wide low_a = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6),
                   high_a = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7),
                   low_b = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6),
                   high_b = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
    out[0] = __builtin_shufflevector(low_a, low_b, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(high_a, high_b, 0, 1, 4, 5);
    out[2] = __builtin_shufflevector(low_a, low_b, 2, 3, 6, 7);
    out[3] = __builtin_shufflevector(high_a, high_b, 2, 3, 6, 7);
}

/* Rows row .. row + n - 1 of H, which touch one link alone, four side by side; otherwise as carry_alike. Their numbers
 * on y are those of the path of this link to its root, with zeros.                                  */
STI_CLONES static int64_t carry_from_link(sti_TreeCoordinates *t, const st_Sparse *from, int row, int n, int index,
                                          int64_t at, int64_t *p, int *i, double *x, double *value)
{
    const Link *link = &t->link[index];
    const double *lightness = t->own_lightness + link->first;
    int n_touched = 0;
    for (int k = index; k >= 0; k = t->link[k].of.parent)
        n_touched += t->link[k].n_y;
    for (int first = 0; first < n; first += STI_WIDTH) {
        const int count = n - first < STI_WIDTH ? n - first : STI_WIDTH;
        const double *x_0 = from->x + from->p[row + first], *x_1 = count > 1 ? x_0 + MOST : x_0,
                     *x_2 = count > 2 ? x_0 + 2 * MOST : x_0, *x_3 = count > 3 ? x_0 + 3 * MOST : x_0;
        sti_Wide own[MOST], h[MOST], on_p = {0}, square = {0}, carried = {0};
        for (int e = 0; e < MOST; e++) { /* rows beyond the last one repeat the first */
            const sti_Wide of = {x_0[e], x_1[e], x_2[e], x_3[e]};
            own[e] = of;
            on_p += of * link->own_p[e];
            square += of * of * lightness[e];
        }
        for (int j = 0; j < 3; j++) { /* as force_in_frame */
            h[j] = own[j];
            h[3 + j] = (own[0] * link->K[0][j] + own[1] * link->K[1][j] + own[2] * link->K[2][j]) +
                       (own[3] * link->P[0][j] + own[4] * link->P[1][j] + own[5] * link->P[2][j]);
        }
        int to = n_touched; /* coordinates descend from the link to its root */
        for (int k = index; k >= 0; k = t->link[k].of.parent) {
            const Link *of = &t->link[k];
            to -= of->n_y;
            for (int c = 0; c < of->n_y; c++) {
                sti_Wide sum = h[c];
                if (!of->plain) {
                    const double *S = of->S[c];
                    sum = (S[0] * h[0] + S[1] * h[1] + S[2] * h[2]) + (S[3] * h[3] + S[4] * h[4] + S[5] * h[5]);
                }
                t->rows[to + c] = sum;
                t->touched[to + c] = of->first_y + c;
                carried += sum * sum * t->lightness[of->first_y + c];
            }
            if (of->shares || of->of.parent < 0) continue;
            sti_Wide up[MOST];
            clear6(up);
            for (int e = 0; e < of->n; e++)
                for (int j = 0; j < MOST; j++)
                    up[j] += h[e] * of->X[e][j];
            memcpy(h, up, sizeof up);
        }
        for (int l = 0; l < count; l++) {
            if (!(carried[l] / square[l] > STI_HELD)) /* the trees hold it: 0 */
                for (int k = 0; k < n_touched; k++)
                    t->rows[k][l] = 0;
            memcpy(i + at + (int64_t)l * n_touched, t->touched, (size_t)n_touched * sizeof *i);
            p[first + l + 1] = at + (int64_t)(l + 1) * n_touched;
            value[first + l] += on_p[l];
        }
        int k = 0;
        for (; k + STI_WIDTH <= n_touched; k += STI_WIDTH) {
            sti_Wide of_row[STI_WIDTH];
            transpose4(t->rows + k, of_row);
            for (int l = 0; l < count; l++)
                *(sti_Wide *)(x + at + (int64_t)l * n_touched + k) = of_row[l];
        }
        for (; k < n_touched; k++)
            for (int l = 0; l < count; l++)
                x[at + (int64_t)l * n_touched + k] = t->rows[k][l];
        at += (int64_t)count * n_touched;
    }
    for (int k = 0; k < n_touched; k++)
        t->rows[k] = (sti_Wide){0};
    return at;
}

static bool is_rigid(const st_Problem *problem, int row)
{
    return problem->Cb.n_blocks == 0 || problem->Cb.x[row] == 0;
}

/* The part of a joint row's mobility that counts as zero, as in body coordinates: joints open by 1e-7 m leave 1e-14 of
 * it. With a larger value independent rows are lost; with a smaller one, rows that other joints determine would need
 * velocities of 1e14 m/s, and impulses of 4e11 N s held two parallel joints. Contact rows: STI_HELD, as without trees.
 */
#define HELD STI_REDUNDANT_PIVOT

/* Rows of `from` as rows on y, *n of them: all, or the *n of `kept`, from which rows that the trees hold already are
 * taken; their part on p is added to `value`. A row of `all` that the trees hold becomes 0.            */
static st_Status carry_rows(sti_TreeCoordinates *t, const st_Sparse *from, const JointRow *joint, int *kept,
                            int *n_rows, int64_t **p, int64_t *p_size, int **i, int64_t *i_size, double **x,
                            int64_t *x_size, double *value, st_Error *err)
{
    const int n = *n_rows;
    int64_t most = (int64_t)n * t->n_y, at = 0;
    int m = 0;
    const bool room = most < *i_size && most < *x_size; /* for whatever they touch */
    if (!room) most = 0;
    for (int k = 0; k < n && !room; k++) { /* all of the reduced blocks that a row touches */
        const int row = kept != NULL ? kept[k] : k;
        int last = -1;
        for (int64_t e = from->p[row]; e < from->p[row + 1]; e = end_of_block(t, from, row, e)) {
            const int b = t->reduced_block[t->block_of[from->i[e]]];
            if (b != last) most += t->first_reduced[b + 1] - t->first_reduced[b];
            last = b;
        }
    }
    STI_TRY(sti_grow(&t->allocator, (void **)p, p_size, n + 1, sizeof **p, err));
    STI_TRY(sti_grow(&t->allocator, (void **)i, i_size, most + 1, sizeof **i, err));
    STI_TRY(sti_grow(&t->allocator, (void **)x, x_size, most + 1, sizeof **x, err));
    (*p)[0] = 0;
    for (int k = 0; k < n; k++) {
        const int row = kept != NULL ? kept[k] : k;
        const int64_t before = at;
        double on_p, own = NAN, carried = 0;
        bool same;
        if (kept == NULL && joint[row].link < 0) {
            const int64_t size = from->p[row + 1] - from->p[row];
            const int of_link = only_link(t, from->i + from->p[row], size),
                      alike = count_alike(from, joint, row, of_link >= 0 ? n : STI_WIDTH);
            if (of_link >= 0)
                at = carry_from_link(t, from, row, alike, of_link, at, *p + m, *i, *x, value + m);
            else
                at = carry_alike(t, from, row, alike, at, *p + m, *i, *x, value + m);
            for (int a = 0; a < alike; a++)
                t->hinge_of_H[row + a] = -1;
            m += alike;
            k += alike - 1;
            continue;
        }
        const int link = joint[row].link;
        const bool about_hinge = hinge_row(t, from, &joint[row], *x + at, &on_p, &same);
        if (about_hinge) {
            (*i)[at++] = t->link[link].first_y;
            if (kept == NULL) t->hinge_of_H[row] = same ? link : -1;
        } else {
            if (kept == NULL) t->hinge_of_H[row] = -1;
            on_p = carry_row(t, from, row, link);
            t->n_seen++;
            for (int64_t e = from->p[row]; e < from->p[row + 1]; e = end_of_block(t, from, row, e)) {
                const int b = t->reduced_block[t->block_of[from->i[e]]];
                if (t->seen[b] == t->n_seen) continue;
                t->seen[b] = t->n_seen;
                for (int j = t->first_reduced[b]; j < t->first_reduced[b + 1]; j++) {
                    if (t->row[j] == 0) continue;
                    (*i)[at] = j;
                    (*x)[at++] = t->row[j];
                    t->row[j] = 0;
                }
            }
        }
        /* squares of the row over the diagonals of A, and of the carried one over those of T'AT: 0 or rounding, where
         * the joints of trees hold it already */
        for (int64_t e = before; e < at; e++)
            carried += (*x)[e] * (*x)[e] * t->lightness[(*i)[e]];
        if (same) own = t->link[link].row_own;
        if (isnan(own)) {
            own = 0;
            if (about_hinge) { /* angular numbers alone */
                const double *on_b = from->x + joint[row].own, *on_a = from->x + joint[row].above,
                             *light_b = t->own_lightness + t->link[link].first,
                             *light_a = t->own_lightness + t->link[t->link[link].of.parent].first;
                for (int e = 3; e < MOST; e++)
                    own += on_b[e] * on_b[e] * light_b[e] + on_a[e] * on_a[e] * light_a[e];
            } else {
                for (int64_t e = from->p[row]; e < from->p[row + 1]; e++)
                    own += from->x[e] * from->x[e] * t->own_lightness[from->i[e]];
            }
            if (same) t->link[link].row_own = own;
        }
        const double part = carried / own;
        if (kept != NULL && !(part > HELD) && is_rigid(t->problem, row)) {
            at = before;
            t->n_held++;
            continue;
        }
        if (kept != NULL && at == before + 1 && t->Cb[k] > 0) { /* a soft row on one coordinate */
            const int y = (*i)[before];
            int b = t->reduced_block[t->block_of[from->i[from->p[row]]]];
            if (y < t->first_reduced[b]) b = 0;
            while (y >= t->first_reduced[b + 1])
                b++;
            if (b < t->n_trees && !t->diagonal[b]) { /* it becomes a part of T'AT and f */
                const double a = (*x)[before], g = value[k] + on_p, Cb = t->Cb[k];
                const int size = t->first_reduced[b + 1] - t->first_reduced[b];
                t->A[t->start[b] + (int64_t)(y - t->first_reduced[b]) * (size + 1)] += a * a / Cb;
                t->f[y] -= a * g / Cb;
                t->folded[t->n_folded++] = (Folded){row, y, same ? link : -1, a, g, Cb};
                at = before;
                continue;
            }
        }
        /* Soft rows stay: the force of a stiff spring along a held direction may be large, and its part on y with it.
         */
        if (kept == NULL && !(part > STI_HELD)) memset(*x + before, 0, (size_t)(at - before) * sizeof **x);
        value[m] = value[k] + on_p;
        if (kept != NULL) kept[m] = row, t->Cb[m] = t->Cb[k];
        (*p)[++m] = at;
    }
    *n_rows = m;
    return ST_OK;
}

/* Can every row but those of links be about the coordinate of one hinge, and soft? */
static bool may_fold_rows(const sti_TreeCoordinates *t)
{
    if (t->problem->n_l != t->n_link_rows + t->of_G.n_tied) return false;
    for (int e = 0; e < t->of_G.n_tied; e++) {
        const int row = t->of_G.tied[e], joint = t->of_G.row[row].link;
        if (t->row_kind[row] == KEPT && is_rigid(t->problem, row)) return false;
        if (!t->link[joint].turns || t->link[joint].n_y != 1) return false;
    }
    return true;
}

/* Links, frames and masses. *ok: false: rows of a joint are soft or not independent here, or
 * there are rows that need the matrix. */
static st_Status begin_trees(sti_TreeCoordinates *t, const st_Problem *problem, bool with_matrix, bool *ok,
                             st_Error *err)
{
    *ok = false;
    t->problem = problem;
    for (int k = 0; k < t->n_links; k++)
        for (int r = 0; r < t->link[k].of.n_rows; r++)
            if (!is_rigid(problem, t->link[k].of.first_row + r)) return ST_OK;
    STI_TRY(STI_GROW(&t->allocator, t->row_kind, t->row_kind_size, problem->n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->kept, t->kept_size, problem->n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->folded, t->folded_size, problem->n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->momentum, t->momentum_size, problem->n_v + 1, err));
    if (t->n_kinds != problem->n_l + 1) {
        memset(t->row_kind, 0, (size_t)problem->n_l * sizeof *t->row_kind);
        for (int k = 0; k < t->n_links; k++)
            for (int r = 0; r < t->link[k].of.n_rows; r++)
                t->row_kind[t->link[k].of.first_row + r] = OF_LINK;
        for (int k = 0; k < t->n_followers; k++)
            t->row_kind[t->follower[k].of.row] = OF_FOLLOWER;
        t->n_kinds = problem->n_l + 1;
    }
    bool same;
    STI_TRY(find_joints(t, &problem->H, NULL, &t->of_H, &same, err));
    STI_TRY(find_joints(t, &problem->G, t->row_kind, &t->of_G, &same, err));
    for (int k = 0; k < t->n_links; k++)
        t->link[k].laid_out = t->link[k].laid_out && same;
    factor_turning_links(t);
    if (!with_matrix && !may_fold_rows(t)) return ST_OK;
    int64_t numbers = 0;
    for (int b = 0; b < t->n_blocks; b++) {
        t->numbers[b] = numbers;
        numbers += sti_block_numbers(&problem->A, b);
    }
    for (int k = 0; k < t->n_links; k++)
        if (!t->link[k].turns && !factor_link(t, k)) return ST_OK;
    adopt_angles(t, &problem->G, &t->of_G);
    adopt_angles(t, &problem->H, &t->of_H);
    if (!t->all_turn) {
        adopt_rows(t, &problem->G, &t->of_G);
        adopt_rows(t, &problem->H, &t->of_H);
    }
    set_frames(t, with_matrix);
    carry_masses(t, with_matrix);
    t->n_folded = t->n_held = 0;
    *ok = true;
    return ST_OK;
}

st_Status sti_tree_coordinates_reduce(sti_TreeCoordinates *t, const st_Problem *problem, const st_Problem **reduced,
                                      st_Error *err)
{
    bool ok;
    *reduced = NULL;
    t->n_seen = 0;
    memset(t->seen, 0, (size_t)t->n_reduced_blocks * sizeof *t->seen);
    STI_TRY(begin_trees(t, problem, true, &ok, err));
    if (!ok) return ST_OK;
    join_masses(t);

    /* s = a' v + g: a force on s is one on the links of its row, a mass m adds m a a' to T'AT. */
    const st_Problem *P = t->problem;
    for (int k = 0; k < t->n_followers; k++) {
        const int block = t->follower[k].of.block, row = t->follower[k].of.row, own = t->first[block];
        const double m = P->A.x[t->numbers[block]];
        double s_p = P->g[row], x, on_p;
        int tree_block = -1;
        t->follower[k].hinge = -1;
        const JointRow *at = &t->of_G.row[row];
        if (hinge_row(t, &P->G, at, &x, &on_p, &t->follower[k].adopts)) {
            const Link *link = &t->link[at->link];
            t->follower[k].hinge = at->link;
            t->follower[k].x = x;
            t->follower[k].p = s_p + on_p;
            tree_block = t->reduced_block[block] = t->reduced_block[link->of.block];
            const int first = t->first_reduced[tree_block], n = t->first_reduced[tree_block + 1] - first;
            t->A[t->start[tree_block] + (int64_t)(link->first_y - first) * (n + 1)] += m * x * x;
            t->f[link->first_y] += x * (P->f[own] - m * (s_p + on_p));
            continue;
        }
        for (int64_t e = P->G.p[row]; e < P->G.p[row + 1]; e++) { /* its own velocity is none of a link */
            const int b = t->block_of[P->G.i[e]];
            if (b == block) continue;
            tree_block = t->reduced_block[b];
        }
        s_p += carry_row(t, &P->G, row, at->link);
        t->row[t->y_first[block]] = 0;        /* its own place */
        t->reduced_block[block] = tree_block; /* it sleeps with its tree */
        if (tree_block < 0) continue;
        const int first = t->first_reduced[tree_block], n = t->first_reduced[tree_block + 1] - first;
        double *M = t->A + t->start[tree_block];
        t->is_sparse = false;
        const double force = P->f[own] - m * s_p;
        for (int i = 0; i < n; i++) {
            const double a = t->row[first + i];
            t->f[first + i] += a * force;
            for (int j = 0; a != 0 && j < n; j++)
                M[(int64_t)i * n + j] += m * a * t->row[first + j];
        }
        for (int i = 0; i < n; i++)
            t->row[first + i] = 0;
    }
    for (int b = 0; b < t->n_reduced_blocks; b++) {
        const int n = t->first_reduced[b + 1] - t->first_reduced[b];
        for (int i = 0; i < n; i++)
            t->lightness[t->first_reduced[b] + i] = 1 / t->A[t->start[b] + (t->diagonal[b] ? i : (int64_t)i * n + i)];
    }
    int n_l = 0, n_r = problem->n_r;
    for (int row = 0; row < problem->n_l; row++)
        if (t->row_kind[row] == KEPT) t->kept[n_l++] = row;
    STI_TRY(STI_GROW(&t->allocator, t->g, t->g_size, n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->l, t->l_size, n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->Cb, t->Cb_size, n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->Cb_first, t->Cb_first_size, n_l + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->w, t->w_size, problem->n_r + 1, err));
    STI_TRY(STI_GROW(&t->allocator, t->hinge_of_H, t->hinge_of_H_size, problem->n_r + 1, err));
    for (int k = 0; k < n_l; k++) {
        t->g[k] = problem->g[t->kept[k]];
        t->Cb[k] = problem->Cb.n_blocks > 0 ? problem->Cb.x[t->kept[k]] : 0;
        t->Cb_first[k] = k;
    }
    t->Cb_first[n_l] = n_l;
    if (problem->n_r > 0) memcpy(t->w, problem->w, (size_t)problem->n_r * sizeof *t->w);
    STI_TRY(carry_rows(t, &problem->G, t->of_G.row, t->kept, &n_l, &t->G_p, &t->G_p_size, &t->G_i, &t->G_i_size,
                       &t->G_x, &t->G_x_size, t->g, err));
    STI_TRY(carry_rows(t, &problem->H, t->of_H.row, NULL, &n_r, &t->H_p, &t->H_p_size, &t->H_i, &t->H_i_size, &t->H_x,
                       &t->H_x_size, t->w, err));
    t->reduced = *problem;
    t->reduced.n_v = t->n_y;
    t->reduced.n_l = n_l;
    t->reduced.A = (st_BlockDiag){t->n_reduced_blocks, t->first_reduced, t->A, t->diagonal};
    t->reduced.G = (st_Sparse){t->n_y, n_l, t->G_p, t->G_i, t->G_x};
    t->reduced.H = (st_Sparse){t->n_y, problem->n_r, t->H_p, t->H_i, t->H_x};
    t->reduced.Cb = (st_BlockDiag){.n_blocks = n_l, .first = t->Cb_first, .x = t->Cb};
    t->reduced.f = t->f;
    t->reduced.g = t->g;
    t->reduced.w = t->w;
    *reduced = &t->reduced;
    return ST_OK;
}

/* ---- without contacts ----------------------------------------------------------------------------- */

/* D = L diag(pivots) L' of the coordinates of a link, and its Z and z; A and f without the motion along them. Each link
 * of a chain waits for the one after it: hence no roots. */
STI_INLINE bool eliminate_link(Link *link, const double *stiffness, const double *force)
{
    const int n = link->n_y;
    for (int c = 0; c < n; c++) {
        const double *S = link->S[c];
        double *Z = link->Z[c], *L = link->L_D[c], own[MOST];
        sti_Wide low = row_times6(S, link->A[0]), high = row_times6(S, link->A[0] + STI_WIDTH);
        store4(low, Z);
        store4(high, Z + STI_WIDTH);
        double z = force[c] + dot6(S, link->f), pivot = stiffness[c] + dot6(S, Z);
        const double size = pivot;
        for (int e = 0; e < c; e++) {
            double sum = dot6(link->S[e], Z); /* of S'A S, where Z is not reduced yet */
            for (int j = 0; j < e; j++)
                sum -= own[j] * link->L_D[e][j];
            own[e] = sum;
            L[e] = sum * link->L_D[e][e];
            pivot -= sum * L[e];
            z -= L[e] * link->z[e];
        }
        if (!(pivot > 1e-14 * size)) return false;
        L[c] = 1 / pivot;
        link->z[c] = z;
        for (int e = 0; e < c; e++) {
            low -= L[e] * load4(link->Z[e]);
            high -= L[e] * load4(link->Z[e] + STI_WIDTH);
        }
        if (c == 0) continue;
        store4(low, Z);
        store4(high, Z + STI_WIDTH);
    }
    for (int c = 0; c < n; c++) {
        const double *Z = link->Z[c], over = link->L_D[c][c];
        const sti_Wide low = over * load4(Z), high = over * load4(Z + STI_WIDTH);
        for (int i = 0; i < MOST; i++) {
            store4(load4(link->A[i]) - Z[i] * low, link->A[i]);
            store4(load4(link->A[i] + STI_WIDTH) - Z[i] * high, link->A[i] + STI_WIDTH);
        }
        add6(-link->z[c] * over, Z, link->f);
    }
    return true;
}

/* y of all links; false: a link has no mass in a direction in which it is free. */
STI_CLONES static bool solve_articulated(sti_TreeCoordinates *t)
{
    for (int k = t->n_links - 1; k >= 0; k--) {
        Link *link = &t->link[k];
        if (!eliminate_link(link, t->stiffness + link->first_y, t->f + link->first_y)) return false;
        if (link->of.parent >= 0) add_to_parent(link, &t->link[link->of.parent]);
    }
    for (int k = 0; k < t->n_links; k++) { /* diag(pivots) L' y = z - Z X V_a */
        Link *link = &t->link[k];
        double *y = t->y + link->first_y;
        Six V = {0};
        if (link->of.parent >= 0) {
            const double *above = t->link[link->of.parent].V;
            for (int i = 0; i < MOST; i++)
                V[i] = link->shares ? above[i] : dot6(link->X[i], above);
        }
        for (int c = link->n_y - 1; c >= 0; c--) {
            y[c] = (link->z[c] - dot6(link->Z[c], V)) * link->L_D[c][c];
            for (int e = c + 1; e < link->n_y; e++)
                y[c] -= link->L_D[e][c] * y[e];
        }
        for (int c = 0; c < link->n_y; c++)
            add6(y[c], link->S[c], V);
        memcpy(link->V, V, sizeof V);
    }
    return true;
}

/* Soft rows and rotors as stiffness and force of single coordinates; false: a row is about more than one. */
static bool fold_rows(sti_TreeCoordinates *t)
{
    const st_Problem *P = t->problem;
    bool same;
    memset(t->stiffness, 0, (size_t)t->n_y * sizeof *t->stiffness);
    for (int k = 0; k < t->n_followers; k++) {
        Follower *follower = &t->follower[k];
        const int row = follower->of.row, own = t->first[follower->of.block];
        const double m = P->A.x[t->numbers[follower->of.block]];
        double x, on_p;
        follower->hinge = -1;
        const JointRow *at = &t->of_G.row[row];
        if (!hinge_row(t, &P->G, at, &x, &on_p, &follower->adopts)) return false;
        const Link *link = &t->link[at->link];
        follower->hinge = at->link;
        follower->x = x;
        follower->p = P->g[row] + on_p;
        t->stiffness[link->first_y] += m * x * x;
        t->f[link->first_y] += x * (P->f[own] - m * follower->p);
    }
    for (int e = 0; e < t->of_G.n_tied; e++) { /* all but those of links: may_fold_rows */
        const int row = t->of_G.tied[e];
        double x, on_p;
        if (t->row_kind[row] != KEPT) continue;
        const JointRow *at = &t->of_G.row[row];
        if (is_rigid(P, row) || !hinge_row(t, &P->G, at, &x, &on_p, &same)) return false;
        const double Cb = P->Cb.x[row], g = P->g[row] + on_p;
        const int joint = at->link, y = t->link[joint].first_y;
        t->stiffness[y] += x * x / Cb;
        t->f[y] -= x * g / Cb;
        t->folded[t->n_folded++] = (Folded){row, y, same ? joint : -1, x, g, Cb};
    }
    return true;
}

/* y of the blocks that are no links: bodies of no tree; false: one stores more than a diagonal. */
static bool solve_others(sti_TreeCoordinates *t)
{
    const st_Problem *P = t->problem;
    for (int b = 0; b < t->n_blocks; b++) {
        if (t->link_of[b] >= 0 || t->follows[b] >= 0) continue;
        const int n = t->first[b + 1] - t->first[b];
        if (n > 1 && !sti_block_marked(&P->A, b)) return false;
        for (int i = 0; i < n; i++)
            t->y[t->y_first[b] + i] = P->f[t->first[b] + i] / P->A.x[t->numbers[b] + i];
    }
    return true;
}

/* Velocities that the remainder of momentum would cause, relative to the fastest one. Beyond this the matrix decides.
 */
static const double remainder_most = 1e-10;

st_Status sti_tree_coordinates_solve(sti_TreeCoordinates *t, const st_Problem *problem, double *v, double *l,
                                     bool *done, st_Error *err)
{
    *done = false;
    if (problem->n_r > 0 || !problem->symmetric) return ST_OK;
    bool ok;
    STI_TRY(begin_trees(t, problem, false, &ok, err));
    if (!ok || !fold_rows(t) || !solve_others(t) || !solve_articulated(t)) return ST_OK;
    t->reduced.n_l = 0;
    sti_tree_coordinates_expand(t, NULL, NULL, v, l);
    double fastest = problem->u_scale / STI_IDLE_SPEED, remainder = 0;
    for (int k = 0; k < t->n_links; k++) {
        const Link *link = &t->link[k];
        for (int c = 0; c < link->n_y; c++) {
            const double over = link->L_D[c][c];
            fastest = fmax(fastest, fabs(t->y[link->first_y + c]));
            remainder = fmax(remainder, fabs(dot6(link->Q[link->of.rank + c], t->momentum + link->first)) * over);
        }
    }
    *done = remainder <= remainder_most * fastest; /* false for NaN */
    return ST_OK;
}

void sti_tree_coordinates_solution(sti_TreeCoordinates *t, double **y, double **l)
{
    *y = t->y;
    *l = t->l;
}

int sti_tree_coordinates_massless(const sti_TreeCoordinates *t)
{
    for (int k = 0; k < t->n_links; k++) {
        const Link *link = &t->link[k];
        const int b = t->reduced_block[link->of.block], size = t->first_reduced[b + 1] - t->first_reduced[b];
        for (int c = 0; c < link->n_y; c++) {
            double terms = 0; /* sizes of the terms of S'A S, to detect a sum that is rounding */
            for (int i = 0; i < MOST; i++)
                for (int j = 0; j < MOST; j++)
                    terms += fabs(link->S[c][i] * link->A[i][j] * link->S[c][j]);
            const int64_t at = link->first_y + c - t->first_reduced[b];
            if (!(t->A[t->start[b] + at * (size + 1)] > 1e-14 * terms)) return link->of.first_row;
        }
    }
    return -1;
}

int sti_tree_coordinates_held(const sti_TreeCoordinates *t)
{
    return t->n_held;
}

bool sti_tree_coordinates_are_open(const sti_TreeCoordinates *t)
{
    bool open = t->n_held == 0;
    for (int k = 0; k < t->reduced.n_l && open; k++)
        open = t->Cb[k] > 0;
    return open;
}

int sti_tree_coordinates_block(const sti_TreeCoordinates *t, int block)
{
    return t->reduced_block[block];
}

int sti_tree_coordinates_block_of(const sti_TreeCoordinates *t, int velocity)
{
    return t->reduced_block[t->block_of[velocity]];
}

/* ---- and back ------------------------------------------------------------------------------------- */

/* Does anything that a row touches move? awake: by reduced block, NULL: all are. */
STI_INLINE bool row_is_awake(const sti_TreeCoordinates *t, const unsigned char *awake, const st_Sparse *from, int row)
{
    if (awake == NULL) return true;
    for (int64_t e = from->p[row]; e < from->p[row + 1]; e++)
        if (awake[t->reduced_block[t->block_of[from->i[e]]]]) return true;
    return false;
}

STI_INLINE bool link_is_awake(const sti_TreeCoordinates *t, const unsigned char *awake, const Link *link)
{
    return awake == NULL || awake[t->reduced_block[link->of.block]];
}

STI_INLINE void subtract_row(const st_Sparse *from, int row, double factor, double *momentum)
{
    if (factor == 0) return;
    for (int64_t e = from->p[row], end = from->p[row + 1]; e < end; e++)
        momentum[from->i[e]] -= factor * from->x[e];
}

STI_CLONES static void expand_trees(sti_TreeCoordinates *t, const unsigned char *awake, const double *r, double *v,
                                    double *l)
{
    const st_Problem *P = t->problem;
    double *momentum = t->momentum; /* A v - f - H r - G l of all rows but those of links */
    const st_Sparse *G = &t->problem->G;
    for (int b = 0; b < t->n_blocks; b++) {
        const int n = t->first[b + 1] - t->first[b];
        if (t->link_of[b] >= 0 || t->follows[b] >= 0 || (awake != NULL && !awake[t->reduced_block[b]])) continue;
        memcpy(v + t->first[b], t->y + t->y_first[b], (size_t)n * sizeof *v);
    }
    for (int k = 0; k < t->n_links; k++) { /* V_b = X V_a + d + S y */
        Link *link = &t->link[k];
        const Link *parent = link->of.parent >= 0 ? &t->link[link->of.parent] : NULL;
        Six own;
        if (!link_is_awake(t, awake, link)) continue;
        for (int i = 0; i < MOST; i++)
            link->V[i] = link->d[i] + (parent == NULL ? 0 : link->shares ? parent->V[i] : dot6(link->X[i], parent->V));
        for (int c = 0; c < link->n_y; c++)
            add6(t->y[link->first_y + c], link->S[c], link->V);
        velocity_of_frame(link, link->V, own);
        memcpy(v + link->first, own, (size_t)link->n * sizeof *v);
    }
    for (int k = 0; k < t->n_followers; k++) {
        const Follower *follower = &t->follower[k];
        const int own = t->first[follower->of.block], row = follower->of.row;
        if (follower->hinge >= 0) {
            const Link *link = &t->link[follower->hinge];
            if (link_is_awake(t, awake, link)) v[own] = follower->x * t->y[link->first_y] + follower->p;
            continue;
        }
        double sum = t->problem->g[row];
        for (int64_t e = G->p[row]; e < G->p[row + 1]; e++)
            if (G->i[e] != own) sum += G->x[e] * v[G->i[e]];
        if (row_is_awake(t, awake, G, row)) v[own] = sum;
    }
    for (int k = 0; k < t->n_links; k++) {
        const Link *link = &t->link[k];
        const double *A = P->A.x + t->numbers[link->of.block], *own = v + link->first, *f = P->f + link->first;
        double *lacks = momentum + link->first;
        t->link[k].row_l = 0;
        if (sti_block_marked(&P->A, link->of.block)) {
            for (int i = 0; i < link->n; i++)
                lacks[i] = A[i] * own[i] - f[i];
            continue;
        }
        if (link->is_body) {
            for (int i = 0; i < 3; i++) {
                lacks[i] = A[0] * own[i] - f[i];
                lacks[3 + i] = dot3(A + (3 + i) * MOST + 3, own + 3) - f[3 + i];
            }
            continue;
        }
        for (int i = 0; i < link->n; i++) {
            double sum = -f[i];
            for (int j = 0; j < link->n; j++)
                sum += *A++ * own[j];
            lacks[i] = sum;
        }
    }
    for (int k = 0; k < P->n_r; k++) {
        if (t->hinge_of_H[k] >= 0)
            t->link[t->hinge_of_H[k]].row_l += r[k];
        else
            subtract_row(&P->H, k, r[k], momentum);
    }
    if (awake == NULL && P->n_l > 0) memset(l, 0, (size_t)P->n_l * sizeof *l);
    for (int k = 0; awake != NULL && k < P->n_l; k++) /* of rows that were left out; the others follow */
        if (row_is_awake(t, awake, &P->G, k)) l[k] = 0;
    for (int k = 0; k < t->reduced.n_l; k++) {
        if (!row_is_awake(t, awake, &P->G, t->kept[k])) continue;
        l[t->kept[k]] = t->l[k];
        subtract_row(&P->G, t->kept[k], t->l[k], momentum);
    }
    for (int k = 0; k < t->n_folded; k++) {
        const Folded *of = &t->folded[k];
        if (!row_is_awake(t, awake, &P->G, of->row)) continue;
        l[of->row] = -(of->x * t->y[of->coordinate] + of->g) / of->Cb;
        if (of->hinge >= 0)
            t->link[of->hinge].row_l += l[of->row];
        else
            subtract_row(&P->G, of->row, l[of->row], momentum);
    }
    for (int k = 0; k < t->n_followers; k++) { /* its row has -1 on its own velocity */
        const int block = t->follower[k].of.block, row = t->follower[k].of.row, own = t->first[block];
        if (!row_is_awake(t, awake, &P->G, row)) continue;
        l[row] = -(P->A.x[t->numbers[block]] * v[own] - P->f[own]);
        if (t->follower[k].hinge >= 0 && t->follower[k].adopts)
            t->link[t->follower[k].hinge].row_l += l[row];
        else
            subtract_row(&P->G, row, l[row], momentum);
    }
    for (int k = t->n_links - 1; k >= 0; k--) {
        const Link *link = &t->link[k];
        double c[MOST];
        if (!link_is_awake(t, awake, link)) continue;
        double *lacks = momentum + link->first;
        if (link->row_l != 0) { /* rows about its hinge have angular numbers alone */
            double *above_it = momentum + t->link[link->of.parent].first;
            for (int i = 3; i < MOST; i++) {
                lacks[i] -= link->row_l * link->row_b[i];
                above_it[i] -= link->row_l * link->row_a[i];
            }
        }
        if (link->sign != 0) { /* sign l_p = m_v,  B' l_p + E' l_s = m_w */
            double turning[3];
            for (int i = 0; i < 3; i++)
                c[i] = link->sign * lacks[i];
            for (int j = 0; j < 3; j++)
                turning[j] = lacks[3 + j] - (link->B[0][j] * c[0] + link->B[1][j] * c[1] + link->B[2][j] * c[2]);
            for (int s = 3; s < link->of.rank; s++)
                c[s] = dot3(link->F[s - 3], turning);
            for (int s = 0; s < link->of.rank; s++)
                l[link->of.first_row + s] = c[s];
            if (link->of.parent < 0) continue;
            const Link *parent = &t->link[link->of.parent]; /* its own momentum has all it needs */
            if (link->turns) {
                double *above_it = momentum + parent->first, *turn = above_it + 3;
                for (int s = 0; s < 3; s++) /* points that meet: one linear number each */
                    above_it[s] -= c[s] * link->above[s][s];
                for (int s = 0; s < link->of.rank; s++) {
                    const double *up = link->above[s] + 3;
                    turn[0] -= c[s] * up[0];
                    turn[1] -= c[s] * up[1];
                    turn[2] -= c[s] * up[2];
                }
                continue;
            }
            for (int s = 0; s < link->of.rank; s++)
                for (int64_t e = P->G.p[link->of.first_row + s]; e < P->G.p[link->of.first_row + s + 1]; e++)
                    if (P->G.i[e] >= parent->first && P->G.i[e] < parent->first + parent->n)
                        momentum[P->G.i[e]] -= c[s] * P->G.x[e];
            continue;
        }
        for (int s = 0; s < link->of.rank; s++) {
            c[s] = 0;
            for (int i = 0; i < link->n; i++)
                c[s] += link->Q[s][i] * lacks[i];
        }
        for (int s = link->of.rank - 1; s >= 0; s--) {
            for (int j = s + 1; j < link->of.rank; j++)
                c[s] -= link->L[j][s] * c[j];
            c[s] /= link->L[s][s];
            const int row = link->of.first_row + link->pivot[s];
            l[row] = c[s];
            subtract_row(&P->G, row, c[s], momentum);
        }
    }
}

void sti_tree_coordinates_expand(sti_TreeCoordinates *t, const unsigned char *awake, const double *r, double *v,
                                 double *l)
{
    expand_trees(t, awake, r, v, l);
}
