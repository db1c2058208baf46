/* problem.c -- is a step problem well formed? All conditions that solvers rely on are checked here once, at the public
 * functions; no other code checks them again. Messages name the array, the index and the value. Definiteness is not
 * checked entry by entry: the factorisation finds an A that is not positive definite (reduce.c). Errors that are cheap
 * to find are refused here: asymmetry, a diagonal entry that is not positive. */
#include "base/base.h"
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "problem/law.h"

#include <stiction/problem.h>

#define BAD(...) sti_fail(err, ST_ERR_ARGUMENT, __VA_ARGS__)

static st_Status check_problem_vector(const char *name, const double *x, int n, st_Error *err)
{
    if (n > 0 && x == NULL) return BAD("%s is missing: NULL, expected %d numbers", name, n);
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return BAD("%s[%d] is %g, must be finite", name, k, x[k]);
    return ST_OK;
}

static st_Status check_sparse(const char *name, const st_Sparse *s, int n_rows, int n_cols, st_Error *err)
{
    if (n_cols == 0 && s->n_cols == 0 && s->p == NULL) return ST_OK; /* left out altogether */
    if (s->n_rows != n_rows || s->n_cols != n_cols)
        return BAD("%s is %d x %d, must be %d x %d", name, s->n_rows, s->n_cols, n_rows, n_cols);

    /* Offsets first: the entries may only be read once these hold. */
    if (s->p == NULL) return BAD("%s.p is missing: NULL, expected %d column offsets", name, s->n_cols + 1);
    if (s->p[0] != 0) return BAD("%s.p[0] is %lld, must be 0", name, (long long)s->p[0]);
    for (int j = 0; j < s->n_cols; j++)
        if (s->p[j + 1] < s->p[j] || s->p[j + 1] - s->p[j] > s->n_rows)
            return BAD("%s.p[%d] is %lld after %lld: column %d must hold 0 to %d entries", name, j + 1,
                       (long long)s->p[j + 1], (long long)s->p[j], j, s->n_rows);
    if (s->p[s->n_cols] > 0 && (s->i == NULL || s->x == NULL))
        return BAD("%s.%s is missing: NULL, expected %lld entries", name, s->i == NULL ? "i" : "x",
                   (long long)s->p[s->n_cols]);

    for (int j = 0; j < n_cols; j++) {
        int largest = -1;
        bool sorted = true;
        for (int64_t e = s->p[j]; e < s->p[j + 1]; e++) {
            if (s->i[e] < 0 || s->i[e] >= s->n_rows)
                return BAD("%s: entry %lld of column %d has row %d, must be 0 to %d", name, (long long)(e - s->p[j]), j,
                           s->i[e], s->n_rows - 1);
            if (!isfinite(s->x[e])) return BAD("%s(%d, %d) is %g, must be finite", name, s->i[e], j, s->x[e]);
            sorted = sorted && s->i[e] > largest;
            largest = s->i[e] > largest ? s->i[e] : largest;
        }

        /* Did the row of entry e occur before in its column? Columns are short (a contact touches two bodies) and
         * usually sorted, so the column is searched only if the order breaks. */
        largest = -1;
        for (int64_t e = s->p[j]; e < s->p[j + 1] && !sorted; e++) {
            if (s->i[e] > largest) {
                largest = s->i[e];
                continue;
            }
            for (int64_t k = s->p[j]; k < e; k++)
                if (s->i[k] == s->i[e]) return BAD("%s: row %d comes twice in column %d", name, s->i[e], j);
        }
    }
    return ST_OK;
}

/* Conditions on the values of a block. */
typedef struct Kind {
    const char *name;
    bool symmetric;
    bool positive; /* diagonal entries > 0, else >= 0 */
} Kind;

static st_Status check_diagonal(const Kind *kind, const double *x, int k, int64_t size, st_Error *err)
{
    for (int a = 0; a < size; a++)
        if (!isfinite(x[a]) || x[a] < 0.0 || (kind->positive && x[a] <= 0.0))
            return BAD("%s block %d: diagonal entry %d is %g, must be finite and %s 0", kind->name, k, a, x[a],
                       kind->positive ? ">" : ">=");
    return ST_OK;
}

static st_Status check_block(const Kind *kind, const double *x, int k, int64_t size, st_Error *err)
{
    for (int a = 0; a < size; a++) {
        for (int b = 0; b < size; b++)
            if (!isfinite(x[a * size + b]))
                return BAD("%s block %d: entry (%d, %d) is %g, must be finite", kind->name, k, a, b, x[a * size + b]);
        if (x[a * size + a] < 0.0 || (kind->positive && x[a * size + a] <= 0.0))
            return BAD("%s block %d: diagonal entry %d is %g, must be %s 0", kind->name, k, a, x[a * size + a],
                       kind->positive ? ">" : ">=");
    }
    for (int a = 0; a < size && kind->symmetric; a++)
        for (int b = 0; b < a; b++) {
            const double ab = x[a * size + b], ba = x[b * size + a];
            const double scale = sqrt(x[a * size + a] * x[b * size + b]); /* bounds |ab| in a definite block */
            if (fabs(ab - ba) > STI_SYMMETRY_TOLERANCE * fmax(scale, fmax(fabs(ab), fabs(ba))))
                return BAD("%s block %d is not symmetric: entry (%d, %d) is %.17g, entry (%d, %d) is %.17g", kind->name,
                           k, a, b, ab, b, a, ba);
        }
    return ST_OK;
}

static st_Status check_blocks(const Kind *kind, const st_BlockDiag *m, int n, st_Error *err)
{
    if (m->n_blocks < 0) return BAD("%s.n_blocks is %d, must be >= 0", kind->name, m->n_blocks);
    if (m->n_blocks == 0) {
        if (kind->positive && n > 0) return BAD("%s has no blocks, must cover %d rows", kind->name, n);
        return ST_OK;
    }
    if (m->diagonal != NULL && !kind->positive) return BAD("%s.diagonal is given, is for A only", kind->name);
    if (m->first == NULL || m->x == NULL)
        return BAD("%s.%s is missing: NULL, expected %d blocks", kind->name, m->first == NULL ? "first" : "x",
                   m->n_blocks);
    if (m->first[0] != 0) return BAD("%s.first[0] is %d, must be 0", kind->name, m->first[0]);
    for (int k = 0; k < m->n_blocks; k++)
        if (m->first[k + 1] <= m->first[k])
            return BAD("%s.first[%d] is %d after %d: block %d must have at least one row", kind->name, k + 1,
                       m->first[k + 1], m->first[k], k);
    if (m->first[m->n_blocks] != n)
        return BAD("%s: its blocks end at row %d, must end at %d", kind->name, m->first[m->n_blocks], n);
    const double *x = m->x;
    for (int k = 0; k < m->n_blocks; k++) {
        const int64_t size = m->first[k + 1] - m->first[k];
        STI_TRY((sti_block_marked(m, k) ? check_diagonal : check_block)(kind, x, k, size, err));
        x += sti_block_numbers(m, k);
    }
    return ST_OK;
}

static st_Status check_contacts(const st_ContactLaw *contact, int n_contacts, int n_r, st_Error *err)
{
    if (n_contacts > 0 && contact == NULL) return BAD("contact is missing: NULL, expected %d contacts", n_contacts);
    int row = 0;
    for (int k = 0; k < n_contacts; k++) {
        const st_ContactLaw *c = &contact[k];
        if ((int)c->law < 0 || (int)c->law >= ST_N_LAWS)
            return BAD("contact %d: law is %d, must be 0 to %d", k, (int)c->law, ST_N_LAWS - 1);
        if (!sti_law_has_dim(c->law, c->dim, STI_LAW_ANY))
            return BAD("contact %d: law %s has no dimension %d", k, st_law_name(c->law), c->dim);
        if (c->first != row)
            return BAD("contact %d: first row is %d, must be %d (contacts in the order of their rows, no gaps)", k,
                       c->first, row);
        const sti_LawKind *kind = sti_law_of(c);
        if (kind->check != NULL) STI_TRY(kind->check(c, k, err));

        if (contact[k].dim > n_r - row)
            return BAD("contact %d: rows %d to %d go past n_r = %d", k, row, row + contact[k].dim - 1, n_r);
        row += contact[k].dim;
    }
    if (row != n_r) return BAD("n_r is %d, but the contacts have %d rows", n_r, row);
    return ST_OK;
}

static st_Status check_count(const char *name, int n, st_Error *err)
{
    return n < 0 ? BAD("%s is %d, must be >= 0", name, n) : ST_OK;
}

st_Status st_problem_check(const st_Problem *problem, st_Error *err)
{
    if (problem == NULL) return BAD("the problem is NULL");
    const st_Problem *p = problem;
    STI_TRY(check_count("n_v", p->n_v, err));
    STI_TRY(check_count("n_l", p->n_l, err));
    STI_TRY(check_count("n_r", p->n_r, err));
    STI_TRY(check_count("n_contacts", p->n_contacts, err));
    STI_TRY(check_blocks(&(Kind){"A", p->symmetric, true}, &p->A, p->n_v, err));
    STI_TRY(check_sparse("G", &p->G, p->n_v, p->n_l, err));
    STI_TRY(check_sparse("H", &p->H, p->n_v, p->n_r, err));
    STI_TRY(check_blocks(&(Kind){"Cb", true, false}, &p->Cb, p->n_l, err));
    STI_TRY(check_blocks(&(Kind){"C", true, false}, &p->C, p->n_r, err));
    STI_TRY(check_problem_vector("f", p->f, p->n_v, err));
    STI_TRY(check_problem_vector("g", p->g, p->n_l, err));
    STI_TRY(check_problem_vector("w", p->w, p->n_r, err));
    if (!isfinite(p->u_scale) || p->u_scale < 0.0) return BAD("u_scale is %g, must be finite and >= 0", p->u_scale);
    return check_contacts(p->contact, p->n_contacts, p->n_r, err);
}

/* Semi-definiteness is not looked at, but for a diagonal below 0: no law of friction can work against that. Rows on
 * their own are a complementarity problem, which may have solutions with any W.                    */
st_Status st_local_check(const st_LocalProblem *problem, st_Error *err)
{
    if (problem == NULL) return BAD("the problem is NULL");
    const st_LocalProblem *p = problem;
    STI_TRY(check_count("n_r", p->n_r, err));
    STI_TRY(check_count("n_contacts", p->n_contacts, err));
    STI_TRY(check_sparse("W", &p->W, p->n_r, p->n_r, err));
    STI_TRY(check_problem_vector("b", p->b, p->n_r, err));
    STI_TRY(check_contacts(p->contact, p->n_contacts, p->n_r, err));
    for (int c = 0; c < p->n_contacts && p->W.p != NULL; c++)
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim && p->contact[c].dim > 1; j++)
            for (int64_t e = p->W.p[j]; e < p->W.p[j + 1]; e++)
                if (p->W.i[e] == j && p->W.x[e] < 0.0) return BAD("W(%d, %d) is %g, must be >= 0", j, j, p->W.x[e]);
    return ST_OK;
}
