/* fclib_copy.c -- a step problem in the FCLIB layout, for files (fclib.h).
 *
 *     A v = f + H r + G l,   G' v + Cb l + g = 0,   u = H' v + C r + w
 *
 * With C = 0 and Cb = 0 that is FCLIB's global form, A being M and g being b. Compliance has no place there: v and l
 * are then eliminated and the local form holds W = H' Y + C and q (reduce.h).
 */
#include "fclib/fclib.h"
#include "math/block_diag.h"
#include "reduce/reduce.h"

struct st_FrictionCopy {
    st_Allocator allocator;
    st_FrictionProblem problem;
    int64_t n_M, n_H, n_G, n_W; /* entries */
    double *mu, *mu_roll, *mu_spin, *f, *w, *b, *q;
};

static st_Status copy_no_memory(st_Error *err)
{
    return sti_fail(err, ST_ERR_MEMORY, "out of memory: a copy of a step problem");
}

/* ------------------------------------------------------------------ matrices of our own */

static bool matrix_create(const st_Allocator *a, st_Sparse *A, int n_rows, int n_cols, int64_t n)
{
    *A = (st_Sparse){n_rows, n_cols, sti_alloc(a, (int64_t)n_cols + 1, sizeof *A->p), sti_alloc(a, n + 1, sizeof *A->i),
                     sti_alloc(a, n + 1, sizeof *A->x)};
    return A->p != NULL && A->i != NULL && A->x != NULL;
}

static void matrix_destroy(const st_Allocator *a, st_Sparse *A, int64_t n)
{
    sti_free(a, (void *)A->p, (int64_t)A->n_cols + 1, sizeof *A->p);
    sti_free(a, (void *)A->i, n + 1, sizeof *A->i);
    sti_free(a, (void *)A->x, n + 1, sizeof *A->x);
}

/* Columns are filled in order; the struct's pointers are const for everyone else. */
static void matrix_put(st_Sparse *A, int64_t *at, int row, double x)
{
    ((int *)A->i)[*at] = row;
    ((double *)A->x)[(*at)++] = x;
}

static void matrix_end_column(st_Sparse *A, int j, int64_t at)
{
    ((int64_t *)A->p)[j + 1] = at;
}

/* ------------------------------------------------------------------ layout */

static bool blocks_are_zero(const st_BlockDiag *m)
{
    int64_t n = 0;
    for (int k = 0; k < m->n_blocks; k++)
        n += (int64_t)(m->first[k + 1] - m->first[k]) * (m->first[k + 1] - m->first[k]);
    for (int64_t k = 0; k < n; k++)
        if (m->x[k] != 0.0) return false;
    return true;
}

/* Row k of a contact in a file of `dim` rows each, as a row of the contact, which has `has` rows; -1: the contact does
 * not have it. Spinning is last, with or without rolling. */
static int own_row(int has, int k, int dim)
{
    if (k > 2 && k == dim - 1 && dim % 2 == 0) return has == 4 || has == 6 ? has - 1 : -1;
    if (k > 2) return has >= 5 ? k : -1;
    return k < has ? k : -1;
}

static int file_row(int has, int k, int dim)
{
    return k > 2 && k == has - 1 && has % 2 == 0 ? dim - 1 : k;
}

static st_Status copy_coefficients(st_FrictionCopy *copy, const st_Problem *step, st_Error *err)
{
    st_FrictionProblem *p = &copy->problem;
    copy->mu = sti_alloc(&copy->allocator, p->n_contacts, sizeof *copy->mu);
    copy->mu_roll = sti_alloc(&copy->allocator, p->n_contacts, sizeof *copy->mu_roll);
    copy->mu_spin = sti_alloc(&copy->allocator, p->n_contacts, sizeof *copy->mu_spin);
    if (copy->mu == NULL || copy->mu_roll == NULL || copy->mu_spin == NULL) return copy_no_memory(err);
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &step->contact[c];
        copy->mu[c] = contact->dim > 1 ? contact->mu : 0.0;
        copy->mu_roll[c] = contact->dim >= 5 ? contact->mu_roll : 0.0;
        copy->mu_spin[c] = contact->dim == 4 || contact->dim == 6 ? contact->mu_spin : 0.0;
    }
    p->mu = copy->mu;
    p->mu_roll = p->dim >= 5 ? copy->mu_roll : NULL;
    p->mu_spin = p->dim == 4 || p->dim == 6 ? copy->mu_spin : NULL;
    return ST_OK;
}

/* ------------------------------------------------------------------ the two forms */

static st_Status copy_global(st_FrictionCopy *copy, const st_Problem *step, st_Error *err)
{
    st_FrictionProblem *p = &copy->problem;
    const st_Allocator *a = &copy->allocator;
    const int n_r = p->dim * p->n_contacts;
    p->form = ST_FORM_GLOBAL;
    p->n_v = step->n_v;
    p->n_l = step->n_l;
    for (int k = 0; k < step->A.n_blocks; k++)
        copy->n_M += sti_block_numbers(&step->A, k);
    copy->n_H = step->H.p[step->n_r];
    copy->n_G = step->n_l > 0 ? step->G.p[step->n_l] : 0;
    bool ok = matrix_create(a, &p->M, p->n_v, p->n_v, copy->n_M);
    ok = matrix_create(a, &p->H, p->n_v, n_r, copy->n_H) && ok;
    ok = matrix_create(a, &p->G, p->n_v, p->n_l, copy->n_G) && ok;
    ok = (copy->f = sti_alloc(a, (int64_t)p->n_v + 1, sizeof *copy->f)) != NULL && ok;
    ok = (copy->w = sti_alloc(a, (int64_t)n_r + 1, sizeof *copy->w)) != NULL && ok;
    ok = (copy->b = sti_alloc(a, (int64_t)p->n_l + 1, sizeof *copy->b)) != NULL && ok;
    if (!ok) return copy_no_memory(err);
    {
        const st_BlockDiag *A = &step->A;
        int64_t at = 0;
        const double *x = A->x;
        for (int k = 0; k < A->n_blocks; k++) {
            const int first = A->first[k], n = A->first[k + 1] - first;
            const bool marked = sti_block_marked(A, k);
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < n; i++) {
                    const double entry = !marked ? x[i * n + j] : i == j ? x[i] : 0.0;
                    if (entry != 0.0) matrix_put(&copy->problem.M, &at, first + i, entry);
                }
                matrix_end_column(&copy->problem.M, first + j, at);
            }
            x += sti_block_numbers(A, k);
        }
    }
    /* Rows that a contact does not have become columns of zeros. */
    const int dim = copy->problem.dim;
    int64_t next = 0;
    for (int c = 0; c < step->n_contacts; c++)
        for (int k = 0; k < dim; k++) {
            const st_ContactLaw *contact = &step->contact[c];
            const int own = own_row(contact->dim, k, dim), j = contact->first + own;
            for (int64_t e = own >= 0 ? step->H.p[j] : 0; own >= 0 && e < step->H.p[j + 1]; e++)
                matrix_put(&copy->problem.H, &next, step->H.i[e], step->H.x[e]);
            matrix_end_column(&copy->problem.H, c * dim + k, next);
            copy->w[c * dim + k] = own >= 0 ? step->w[j] : 0.0;
        }
    int64_t at = 0;
    for (int j = 0; j < p->n_l; j++) {
        for (int64_t e = step->G.p[j]; e < step->G.p[j + 1]; e++)
            matrix_put(&p->G, &at, step->G.i[e], step->G.x[e]);
        matrix_end_column(&p->G, j, at);
        copy->b[j] = step->g[j];
    }
    for (int i = 0; i < p->n_v; i++)
        copy->f[i] = step->f[i];
    p->f = copy->f;
    p->w = copy->w;
    p->b = copy->b;
    return ST_OK;
}

static st_Status copy_local(st_FrictionCopy *copy, const st_Problem *step, st_Error *err)
{
    st_FrictionProblem *p = &copy->problem;
    const st_Allocator *a = &copy->allocator;
    const int64_t n = step->n_r, n_r = (int64_t)p->dim * p->n_contacts;
    sti_Reduction *reduction = NULL;
    double *W = sti_alloc(a, n * n + 1, sizeof *W);
    p->form = ST_FORM_LOCAL;
    copy->n_W = n * n;
    const bool made = matrix_create(a, &p->W, (int)n_r, (int)n_r, copy->n_W);
    copy->q = sti_alloc(a, n_r + 1, sizeof *copy->q);
    st_Status status = W != NULL && made && copy->q != NULL ? ST_OK : copy_no_memory(err);
    if (status == ST_OK) status = sti_reduction_create(a, &reduction, err);
    if (status == ST_OK) status = sti_reduce(reduction, step, err);
    if (status == ST_OK) status = sti_reduction_columns(reduction, err);
    if (status == ST_OK) {
        sti_reduction_form_W(reduction, W);
        /* W comes dense and by rows, with the rows of the step problem. */
        const int dim = copy->problem.dim;
        const int64_t size = step->n_r;
        int64_t at = 0;
        for (int c = 0; c < step->n_contacts; c++)
            for (int k = 0; k < dim; k++) {
                const int own = own_row(step->contact[c].dim, k, dim), j = step->contact[c].first + own;
                const bool there = own >= 0;
                for (int o = 0; o < step->n_contacts && there; o++)
                    for (int i = 0; i < step->contact[o].dim; i++) {
                        const double x = W[(step->contact[o].first + i) * size + j];
                        if (x != 0.0)
                            matrix_put(&copy->problem.W, &at, o * dim + file_row(step->contact[o].dim, i, dim), x);
                    }
                matrix_end_column(&copy->problem.W, c * dim + k, at);
                copy->q[c * dim + k] = there ? reduction->b[j] : 0.0;
            }
        p->q = copy->q;
    }
    sti_reduction_destroy(reduction);
    sti_free(a, W, n * n + 1, sizeof *W);
    return status;
}

st_Status st_friction_from_step(const st_Problem *step, bool local, st_FrictionCopy **out, st_Error *err)
{
    STI_TRY(st_problem_check(step, err));
    if (out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the destination is NULL");
    if (step->n_contacts == 0) return sti_fail(err, ST_ERR_ARGUMENT, "the step problem has no contacts");
    int dim = 0;

    /* All contacts of a file have the same number of rows: enough for every contact of the problem. */
    bool rolls = false, spins = false;
    dim = 2;
    for (int c = 0; c < step->n_contacts; c++) {
        if (step->contact[c].law == ST_LAW_BOUNDED)
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "contact %d is a row with bounds (a motor or a limit): the FCLIB layout cannot hold it", c);
        rolls = rolls || step->contact[c].dim >= 5;
        spins = spins || step->contact[c].dim == 4 || step->contact[c].dim == 6;
        if (step->contact[c].dim > dim) dim = step->contact[c].dim;
    }
    if (rolls && spins) dim = 6;

    const st_Allocator allocator = st_default_allocator();
    st_FrictionCopy *copy = sti_alloc(&allocator, 1, sizeof *copy);
    if (copy == NULL) return copy_no_memory(err);
    copy->allocator = allocator;
    copy->problem.dim = dim;
    copy->problem.n_contacts = step->n_contacts;
    st_Status status = copy_coefficients(copy, step, err);
    const bool folded = local || !blocks_are_zero(&step->C) || !blocks_are_zero(&step->Cb);
    if (status == ST_OK) status = folded ? copy_local(copy, step, err) : copy_global(copy, step, err);
    if (status != ST_OK) {
        st_friction_copy_destroy(copy);
        return status;
    }
    *out = copy;
    return ST_OK;
}

const st_FrictionProblem *st_friction_copy_problem(const st_FrictionCopy *copy)
{
    return copy != NULL ? &copy->problem : NULL;
}

void st_friction_copy_destroy(st_FrictionCopy *copy)
{
    if (copy == NULL) return;
    const st_Allocator a = copy->allocator;
    st_FrictionProblem *p = &copy->problem;
    const int64_t n_r = (int64_t)p->dim * p->n_contacts;
    matrix_destroy(&a, &p->M, copy->n_M);
    matrix_destroy(&a, &p->H, copy->n_H);
    matrix_destroy(&a, &p->G, copy->n_G);
    matrix_destroy(&a, &p->W, copy->n_W);
    sti_free(&a, copy->mu, p->n_contacts, sizeof *copy->mu);
    sti_free(&a, copy->mu_roll, p->n_contacts, sizeof *copy->mu_roll);
    sti_free(&a, copy->mu_spin, p->n_contacts, sizeof *copy->mu_spin);
    sti_free(&a, copy->f, (int64_t)p->n_v + 1, sizeof *copy->f);
    sti_free(&a, copy->w, n_r + 1, sizeof *copy->w);
    sti_free(&a, copy->b, (int64_t)p->n_l + 1, sizeof *copy->b);
    sti_free(&a, copy->q, n_r + 1, sizeof *copy->q);
    sti_free(&a, copy, 1, sizeof *copy);
}
