/* fclib_step.c -- a global problem of a file as a step problem (problem.h).
 *
 * Files contain M as any sparse matrix. If M has no entry between groups of three velocities in the plane, or six in
 * space, these groups are the bodies; otherwise the connected components of M are. Each body becomes one dense diagonal
 * block, with its velocities renumbered to be consecutive. (A diagonal M has components of one velocity. This is
 * correct, but then contacts touch many of them and are no edges of a graph.) Bodies that no column of H or G touches
 * move independently and are left out. In a file of a whole scene, a pile is often a tenth of the bodies.
 */
#include "base/tolerance.h"
#include "fclib/fclib.h"

/* Bodies larger than this are left to the sparse LU: six velocities are a rigid body, and dense blocks cost
 * the cube.                                                                                        */
enum { LARGEST_BLOCK = 64 };

struct sti_AsStep {
    st_Allocator allocator;
    st_Problem problem;
    int n_v, n_given; /* velocities kept, velocities of the file                                     */
    int *place;       /* n_given: new number of a velocity, -1: left out                             */
    int *first;       /* blocks                                                                      */
    int64_t n_x, nh, ng;
    double *x, *f, *g;
    int64_t *Hp, *Gp;
    int *Hi, *Gi;
    double *Hx, *Gx;
    int n_r, n_l;
};

const st_Problem *sti_as_step_problem(const sti_AsStep *step)
{
    return &step->problem;
}

void sti_as_step_destroy(sti_AsStep *step)
{
    if (step == NULL) return;
    const st_Allocator a = step->allocator;
    sti_free(&a, step->place, step->n_given, sizeof *step->place);
    sti_free(&a, step->first, (int64_t)step->n_given + 1, sizeof *step->first);
    sti_free(&a, step->x, step->n_x + 1, sizeof *step->x);
    sti_free(&a, step->f, step->n_given, sizeof *step->f);
    sti_free(&a, step->g, (int64_t)step->n_l + 1, sizeof *step->g);
    sti_free(&a, step->Hp, (int64_t)step->n_r + 1, sizeof *step->Hp);
    sti_free(&a, step->Hi, step->nh + 1, sizeof *step->Hi);
    sti_free(&a, step->Hx, step->nh + 1, sizeof *step->Hx);
    sti_free(&a, step->Gp, (int64_t)step->n_l + 1, sizeof *step->Gp);
    sti_free(&a, step->Gi, step->ng + 1, sizeof *step->Gi);
    sti_free(&a, step->Gx, step->ng + 1, sizeof *step->Gx);
    sti_free(&a, step, 1, sizeof *step);
}

/* The root of i's component, halving the way to it. */
static int root_of_body(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

static bool stands_by_bodies(const st_Sparse *M, int size)
{
    for (int j = 0; j < M->n_cols; j++)
        for (int64_t e = M->p[j]; e < M->p[j + 1]; e++)
            if (M->i[e] / size != j / size) return false;
    return M->n_cols % size == 0;
}

/* parent: of every velocity the first of its body. */
void sti_friction_bodies(const st_Sparse *M, int dim, int *parent)
{
    const int size = dim == 2 ? 3 : 6;
    const bool rigid = stands_by_bodies(M, size);
    for (int j = 0; j < M->n_cols; j++)
        parent[j] = rigid ? j - j % size : j;
    for (int j = 0; j < M->n_cols && !rigid; j++)
        for (int64_t e = M->p[j]; e < M->p[j + 1]; e++) {
            const int a = root_of_body(parent, M->i[e]), b = root_of_body(parent, j);
            if (a < b) parent[b] = a; /* the root is the first of its component */
            if (b < a) parent[a] = b;
        }
    for (int j = 0; j < M->n_cols; j++)
        parent[j] = root_of_body(parent, j);
}

/* Blocks in the order of their first velocity. count: of each root its velocities, < 0: not touched. False: one
 * block is too large.                                                                              */
static bool number_velocities(sti_AsStep *step, const st_FrictionProblem *p, int *parent, int *count)
{
    const st_Sparse *touching[2] = {&p->H, &p->G};
    for (int i = 0; i < p->n_v; i++)
        count[i] = 0;
    for (int k = 0; k < (p->n_l > 0 ? 2 : 1); k++)
        for (int64_t e = 0; e < touching[k]->p[touching[k]->n_cols]; e++)
            count[root_of_body(parent, touching[k]->i[e])] = 1;
    int n_blocks = 0;
    for (int i = 0; i < p->n_v; i++) { /* of a touched root: its block, plus 1 */
        const int root = root_of_body(parent, i);
        if (root == i && count[i] > 0) count[i] = ++n_blocks;
    }
    for (int i = 0; i < p->n_v; i++)
        if (count[root_of_body(parent, i)] > 0) step->first[count[root_of_body(parent, i)]]++;
    for (int k = 0; k < n_blocks; k++) {
        if (step->first[k + 1] > LARGEST_BLOCK) return false;
        step->n_x += (int64_t)step->first[k + 1] * step->first[k + 1];
        step->first[k + 1] += step->first[k];
    }
    const int total = step->first[n_blocks];
    for (int i = p->n_v - 1; i >= 0; i--) { /* backwards: first[] counts down */
        const int block = count[root_of_body(parent, i)];
        step->place[i] = block > 0 ? --step->first[block] : -1;
    }
    step->problem.A.n_blocks = n_blocks;
    for (int k = 1; k <= n_blocks; k++) /* back: each now holds the start of block k - 1 */
        step->first[k - 1] = step->first[k];
    step->first[n_blocks] = total;
    return true;
}

static bool blocks_are_symmetric(const sti_AsStep *step)
{
    const double *x = step->x;
    for (int k = 0; k < step->problem.A.n_blocks; k++) {
        const int n = step->first[k + 1] - step->first[k];
        for (int a = 0; a < n; a++)
            for (int b = 0; b < a; b++) {
                const double ab = x[a * n + b], ba = x[b * n + a], scale = sqrt(fabs(x[a * n + a] * x[b * n + b]));
                if (fabs(ab - ba) > STI_SYMMETRY_TOLERANCE * fmax(scale, fmax(fabs(ab), fabs(ba)))) return false;
            }
        x += n * n;
    }
    return true;
}

static void renumber(const st_Sparse *A, const int *place, int64_t *p, int *i, double *x)
{
    for (int j = 0; j <= A->n_cols; j++)
        p[j] = A->p[j];
    for (int64_t e = 0; e < A->p[A->n_cols]; e++) {
        i[e] = place[A->i[e]];
        x[e] = A->x[e];
    }
}

/* With room for the bodies found: *fits false means that M is of another make. */
static st_Status build(sti_AsStep *step, const st_FrictionProblem *p, const st_ContactLaw *contact, int *parent,
                       int *count, int64_t *start, bool *fits, st_Error *err)
{
    sti_friction_bodies(&p->M, p->dim, parent);
    *fits = number_velocities(step, p, parent, count);
    if (!*fits) return ST_OK;
    const st_Allocator *a = &step->allocator;
    step->n_r = p->dim * p->n_contacts;
    step->n_l = p->n_l;
    step->nh = p->H.p[step->n_r];
    step->ng = p->n_l > 0 ? p->G.p[p->n_l] : 0;
    bool ok = (step->f = sti_alloc(a, step->n_given, sizeof *step->f)) != NULL;
    ok = ok && (step->x = sti_alloc(a, step->n_x + 1, sizeof *step->x)) != NULL;
    ok = ok && (step->g = sti_alloc(a, (int64_t)step->n_l + 1, sizeof *step->g)) != NULL;
    ok = ok && (step->Hp = sti_alloc(a, (int64_t)step->n_r + 1, sizeof *step->Hp)) != NULL;
    ok = ok && (step->Hi = sti_alloc(a, step->nh + 1, sizeof *step->Hi)) != NULL;
    ok = ok && (step->Hx = sti_alloc(a, step->nh + 1, sizeof *step->Hx)) != NULL;
    ok = ok && (step->Gp = sti_alloc(a, (int64_t)step->n_l + 1, sizeof *step->Gp)) != NULL;
    ok = ok && (step->Gi = sti_alloc(a, step->ng + 1, sizeof *step->Gi)) != NULL;
    ok = ok && (step->Gx = sti_alloc(a, step->ng + 1, sizeof *step->Gx)) != NULL;
    if (!ok) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a problem of %d velocities", p->n_v);

    for (int i = 0; i < p->n_v; i++)
        if (root_of_body(parent, i) != i) count[i] = count[root_of_body(parent, i)];
    for (int i = 0; i < p->n_v; i++)
        count[i]--; /* now the block of every velocity */
    step->n_v = step->first[step->problem.A.n_blocks];
    int64_t at = 0;
    for (int k = 0; k < step->problem.A.n_blocks; k++) {
        start[k] = at;
        at += (int64_t)(step->first[k + 1] - step->first[k]) * (step->first[k + 1] - step->first[k]);
    }
    for (int j = 0; j < p->n_v; j++) {
        const int k = step->place[j] >= 0 ? count[j] : -1;
        if (k < 0) continue;
        const int n = step->first[k + 1] - step->first[k];
        step->f[step->place[j]] = p->f[j];
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++)
            step->x[start[k] + (int64_t)(step->place[p->M.i[e]] - step->first[k]) * n + step->place[j] -
                    step->first[k]] += p->M.x[e];
    }

    *fits = blocks_are_symmetric(step);
    renumber(&p->H, step->place, step->Hp, step->Hi, step->Hx);
    if (p->n_l > 0) renumber(&p->G, step->place, step->Gp, step->Gi, step->Gx);
    for (int j = 0; j < p->n_l; j++) { /* how well joints are met is measured for all rows together */
        const double scale = sti_equality_scale(p, j);
        step->g[j] = scale * p->b[j];
        for (int64_t e = step->Gp[j]; e < step->Gp[j + 1]; e++)
            step->Gx[e] *= scale;
    }
    const int n_blocks = step->problem.A.n_blocks;
    step->problem = (st_Problem){.n_v = step->n_v,
                                 .n_l = p->n_l,
                                 .n_r = step->n_r,
                                 .n_contacts = p->n_contacts,
                                 .A = {.n_blocks = n_blocks, .first = step->first, .x = step->x},
                                 .symmetric = true,
                                 .G = {step->n_v, p->n_l, step->Gp, step->Gi, step->Gx},
                                 .H = {step->n_v, step->n_r, step->Hp, step->Hi, step->Hx},
                                 .f = step->f,
                                 .g = step->g,
                                 .w = p->w,
                                 .contact = contact};
    return ST_OK;
}

st_Status sti_as_step_create(const st_FrictionProblem *p, const st_ContactLaw *contact, sti_AsStep **out, st_Error *err)
{
    const st_Allocator a = st_default_allocator();
    sti_AsStep *step = sti_alloc(&a, 1, sizeof *step);
    int *parent = sti_alloc(&a, p->n_v, sizeof *parent), *count = sti_alloc(&a, p->n_v, sizeof *count);
    int64_t *start = sti_alloc(&a, p->n_v, sizeof *start);
    st_Status status = ST_OK;
    bool fits = false;
    if (step != NULL) {
        step->allocator = a;
        step->n_given = p->n_v;
        step->place = sti_alloc(&a, p->n_v, sizeof *step->place);
        step->first = sti_alloc(&a, (int64_t)p->n_v + 1, sizeof *step->first);
    }
    if (step == NULL || parent == NULL || count == NULL || start == NULL || step->place == NULL || step->first == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: a problem of %d velocities", p->n_v);
    else
        status = build(step, p, contact, parent, count, start, &fits, err);
    sti_free(&a, start, p->n_v, sizeof *start);
    sti_free(&a, count, p->n_v, sizeof *count);
    sti_free(&a, parent, p->n_v, sizeof *parent);
    if (status != ST_OK || !fits) {
        sti_as_step_destroy(step);
        step = NULL;
    }
    *out = step;
    return status;
}
