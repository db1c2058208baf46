/* The friction problem as a linear complementarity problem, solved by Lemke's method.
 *
 * Anitescu & Potra 2002, section 3.1: velocities and joints are eliminated first (reduce.c),
 * which leaves u = W r + b, and at each contact with a pyramid of facets d_j
 *
 *     r_n = c_n,   r_T = sum_j d_j beta_j
 *     0 <= u_n                _|_  c_n    >= 0
 *     0 <= d_j'u_T + lambda   _|_  beta_j >= 0
 *     0 <= mu c_n - e'beta    _|_  lambda >= 0
 *
 * Ordered (c_n, beta, lambda) over all contacts, with r = r_0 + P z (P holds the 1 of c_n and the d_j):
 *
 *     M = P'W P + E,    q = P'(b + W r_0) + q_E,    E: the couplings by mu and e  (G + N and g of AP eq. 24).
 *
 * M is copositive when A is positive definite, so that Lemke ends in a solution when w >= 0, g = 0
 * (AP Theorems 2.1, 2.2). The other laws in the same form:
 *
 *     frictionless, or mu = 0    c_n alone
 *     coulomb in the plane       a pyramid of two facets
 *     box                        each tangent is a pyramid of two facets with a lambda of its own
 *     bounded, lo finite         r = lo + z;  with hi finite too, 0 <= hi - lo - z _|_ lambda >= 0, w = u + lambda
 *     bounded, only hi finite    r = hi - z,  w = -u
 *     bounded, neither           u = 0 with r free: a free row of the complementarity problem
 *
 * Scaling: S_n = 1/sqrt(W_nn), S_beta = 1/sqrt(mean of diag W_TT), S_lambda = 1/S_beta,
 * rounded to powers of two; one S_beta for all facets of a contact, so that e stays a vector of ones
 * and the ties of sticking contacts stay exact. It makes masses 1 and 1e8 the same problem.
 */
#include "problem/law.h"
#include "reduce/residual.h"
#include "solve/lemke/lcp.h"
#include "solve/solver.h"

/* Dense: beyond this M alone takes more than a gigabyte. */
#define MAX_UNKNOWNS 12000
/* A solution this good (natural residual) is as good as rounding gives; a worse one is tried again. */
#define GOOD_RESIDUAL 1e-11
/* The error of u by rounding r and W to doubles, relative to the terms of its sum. */
#define DOUBLE_ROUNDING 2e-16
#define MAX_CORRECTIONS 2

/* One unknown of the complementarity problem. An impulse adds d[i] z to r[row + i], i < rows. A multiplier
 * (rows = 0) belongs to the impulses `impulse` .. `impulse` + impulses - 1, whose w it is added to:
 *     its own w is   mu z[normal] - sum z[impulse ..] + offset.                                   */
typedef struct Unknown {
    int row, rows;
    double d[2];
    int impulse, impulses, normal; /* normal: -1 for a bound                                       */
    double mu, offset;
    double scale;
} Unknown;

typedef struct Lemke {
    st_Allocator allocator;
    sti_Lcp *lcp;
    int n; /* unknowns */
    Unknown *unknown;
    bool *free;
    double *numbers; /* the arrays below */
    double *W, *M;
    double *q, *z, *scale;      /* n                                                             */
    double *start, *r, *u, *PW; /* n_r: r_0, an answer, its velocity, a row of P'W               */
    double *b;                  /* n_r: the free term, corrected                                 */
    int64_t unknown_capacity, free_capacity, numbers_capacity;
} Lemke;

static void lemke_destroy(void *workspace)
{
    Lemke *lemke = workspace;
    if (lemke == NULL) return;
    st_Allocator allocator = lemke->allocator;
    sti_lcp_destroy(lemke->lcp);
    STI_RELEASE(&allocator, lemke->unknown, lemke->unknown_capacity);
    STI_RELEASE(&allocator, lemke->free, lemke->free_capacity);
    STI_RELEASE(&allocator, lemke->numbers, lemke->numbers_capacity);
    sti_free(&allocator, lemke, 1, sizeof *lemke);
}

static st_Status lemke_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Lemke *lemke = sti_alloc(allocator, 1, sizeof *lemke);
    if (lemke == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the workspace of lemke");
    lemke->allocator = *allocator;
    st_Status status = sti_lcp_create(allocator, &lemke->lcp, err);
    if (status != ST_OK)
        lemke_destroy(lemke);
    else
        *workspace = lemke;
    return status;
}

/* ---- the unknowns ---------------------------------------------------------------------------- */

static bool has_friction(const st_ContactLaw *contact)
{
    return contact->law != ST_LAW_FRICTIONLESS && contact->law != ST_LAW_BOUNDED && contact->mu > 0.0;
}

/* Impulse unknowns along the tangents of one contact, and multipliers that bound them. */
static int facets_of(const st_ContactLaw *contact)
{
    if (!has_friction(contact)) return 0;
    if (contact->law == ST_LAW_BOX) return 2 * (contact->dim - 1);
    return contact->dim == 2 ? 2 : contact->facets;
}

static int multipliers_of(const st_ContactLaw *contact)
{
    if (contact->law == ST_LAW_BOUNDED) return isfinite(contact->lo) && isfinite(contact->hi) ? 1 : 0;
    if (!has_friction(contact)) return 0;
    return contact->law == ST_LAW_BOX ? contact->dim - 1 : 1;
}

static void facet(const st_ContactLaw *contact, int j, double d[2])
{
    if (contact->law == ST_LAW_PYRAMID) {
        sti_law_facet(contact, j, d);
        return;
    }
    d[j / 2] = j % 2 == 0 ? 1.0 : -1.0; /* +t, -t, +o, -o */
    d[1 - j / 2] = 0.0;
}

/* 1/sqrt of the mean of diagonal entries from .. to - 1 of a block of W. If this mean is rounding (a direction that
 * joints hold), the mean of the others is used. */
static double block_scale(const double *block, int dim, int from, int to)
{
    double sum = 0.0, trace = 0.0;
    for (int i = 0; i < dim; i++) {
        trace += block[i * dim + i];
        if (i >= from && i < to) sum += block[i * dim + i];
    }
    double mean = sum / (to - from), all = trace / dim;
    if (!(mean > 1e-14 * all)) mean = all;
    return mean > 0.0 ? sti_lcp_scale(mean) : 1.0;
}

/* First unknown of each kind; each contact advances its own. */
typedef struct Cursor {
    int normal, facet, multiplier;
} Cursor;

static void add_friction(Lemke *lemke, const st_ContactLaw *contact, double scale, Cursor *at)
{
    int facets = facets_of(contact), multipliers = multipliers_of(contact), normal = at->normal - 1;
    for (int m = 0; m < multipliers; m++)
        lemke->unknown[at->multiplier++] = (Unknown){.impulse = at->facet + m * (facets / multipliers),
                                                     .impulses = facets / multipliers,
                                                     .normal = normal,
                                                     .mu = contact->mu,
                                                     .scale = 1.0 / scale};
    for (int j = 0; j < facets; j++) {
        Unknown *beta = &lemke->unknown[at->facet++];
        *beta = (Unknown){.row = contact->first + 1, .rows = contact->dim - 1, .scale = scale};
        facet(contact, j, beta->d);
    }
}

/* ---- the complementarity problem ------------------------------------------------------------- */

/* P'x for one unknown. */
static double unknown_along(const Unknown *unknown, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < unknown->rows; i++)
        sum += unknown->d[i] * x[unknown->row + i];
    return sum;
}

/* u = W r + b */
static void lemke_velocity(const Lemke *lemke, const sti_Task *task, const double *r, double *u)
{
    int n_r = task->problem->n_r;
    for (int64_t i = 0; i < n_r; i++) {
        double sum = 0.0;
        for (int j = 0; j < n_r; j++)
            sum += lemke->W[i * n_r + j] * r[j];
        u[i] = sum + lemke->b[i];
    }
}

/* Sum of |W_ij r_j| and |b_i|: the terms of u_i. */
static double magnitude(const Lemke *lemke, const sti_Task *task, int64_t i, const double *r)
{
    int n_r = task->problem->n_r;
    double sum = fabs(lemke->b[i]);
    for (int j = 0; j < n_r; j++)
        sum += fabs(lemke->W[i * n_r + j] * r[j]);
    return sum;
}

/* q = P'(b + W r_0) + q_E. */
static void form_q(Lemke *lemke, const sti_Task *task)
{
    lemke_velocity(lemke, task, lemke->start, lemke->u);
    for (int i = 0; i < lemke->n; i++) {
        const Unknown *unknown = &lemke->unknown[i];
        lemke->q[i] = unknown_along(unknown, lemke->u) + unknown->offset;
        lemke->scale[i] = unknown->scale;
    }
}

/* The natural residual of docs/methods.md 12 with the W and b at hand. */
static double residual_by_W(Lemke *lemke, const sti_Task *task, double reference)
{
    double sum = 0.0;
    lemke_velocity(lemke, task, lemke->r, lemke->u);
    for (int c = 0; c < task->problem->n_contacts; c++) {
        const st_ContactLaw *contact = &task->problem->contact[c];
        double out[ST_MAX_DIM];
        sti_law_natural(contact, lemke->r + contact->first, lemke->u + contact->first, task->reduction->rho[c], out);
        for (int i = 0; i < contact->dim; i++)
            sum += out[i] * out[i];
    }
    return sqrt(sum) / reference;
}

/* The residual that r as doubles leaves undecided, rho |W||r| 1e-16: a light body between heavy ones may carry impulses
 * 1e8 times those that would stop it alone, and no r can do better.                                */
static double undecided(const Lemke *lemke, const sti_Task *task, double reference)
{
    double sum = 0.0;
    for (int c = 0; c < task->problem->n_contacts; c++)
        for (int i = 0; i < task->problem->contact[c].dim; i++) {
            double terms =
                task->reduction->rho[c] * magnitude(lemke, task, task->problem->contact[c].first + i, lemke->r);
            sum += terms * terms;
        }
    return DOUBLE_ROUNDING * sqrt(sum) / reference;
}

static st_Status lemke_prepare(Lemke *lemke, const sti_Task *task, st_Error *err)
{
    const st_Problem *problem = task->problem;
    int64_t normals = problem->n_contacts, facets = 0, multipliers = 0, n_r = problem->n_r;
    for (int c = 0; c < problem->n_contacts; c++) {
        facets += facets_of(&problem->contact[c]);
        multipliers += multipliers_of(&problem->contact[c]);
    }
    int64_t n = normals + facets + multipliers;
    if (n > MAX_UNKNOWNS)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "solver \"lemke\" is dense: %d contacts make %lld unknowns, it takes at most %d",
                        problem->n_contacts, (long long)n, MAX_UNKNOWNS);
    STI_TRY(sti_reduction_columns(task->reduction, err));
    STI_TRY(STI_GROW(&lemke->allocator, lemke->unknown, lemke->unknown_capacity, n, err));
    STI_TRY(STI_GROW(&lemke->allocator, lemke->free, lemke->free_capacity, n, err));
    STI_TRY(
        STI_GROW(&lemke->allocator, lemke->numbers, lemke->numbers_capacity, n_r * n_r + n * n + 3 * n + 5 * n_r, err));
    lemke->n = (int)n;
    lemke->W = lemke->numbers;
    lemke->M = lemke->W + n_r * n_r;
    lemke->q = lemke->M + n * n;
    lemke->z = lemke->q + n;
    lemke->scale = lemke->z + n;
    lemke->start = lemke->scale + n;
    lemke->r = lemke->start + n_r;
    lemke->u = lemke->r + n_r;
    lemke->PW = lemke->u + n_r;
    lemke->b = lemke->PW + n_r;
    memcpy(lemke->b, task->reduction->b, (size_t)n_r * sizeof *lemke->b);
    memset(lemke->free, 0, (size_t)n * sizeof *lemke->free);
    sti_reduction_form_W(task->reduction, lemke->W);
    Cursor at = (Cursor){.facet = (int)normals, .multiplier = (int)(normals + facets)};
    memset(lemke->start, 0, (size_t)task->problem->n_r * sizeof *lemke->start);
    for (int c = 0; c < task->problem->n_contacts; c++) {
        const st_ContactLaw *contact = &task->problem->contact[c];
        const double *block = task->reduction->W_diagonal + task->reduction->W_start[c];
        double scale = block_scale(block, contact->dim, 0, 1);
        lemke->free[at.normal] = false;
        if (contact->law == ST_LAW_BOUNDED) {
            bool below = isfinite(contact->lo), above = isfinite(contact->hi);
            lemke->start[contact->first] = below ? contact->lo : above ? contact->hi : 0.0;
            lemke->free[at.normal] = !below && !above;
            lemke->unknown[at.normal] =
                (Unknown){.row = contact->first, .rows = 1, .d = {!below && above ? -1.0 : 1.0, 0.0}, .scale = scale};
            if (below && above)
                lemke->unknown[at.multiplier++] = (Unknown){.impulse = at.normal,
                                                            .impulses = 1,
                                                            .normal = -1,
                                                            .offset = contact->hi - contact->lo,
                                                            .scale = 1.0 / scale};
            at.normal++;

            continue;
        }
        lemke->unknown[at.normal++] = (Unknown){.row = contact->first, .rows = 1, .d = {1.0, 0.0}, .scale = scale};
        if (has_friction(contact)) add_friction(lemke, contact, block_scale(block, contact->dim, 1, contact->dim), &at);
    }

    /* M, row by row. */
    for (int64_t i = 0; i < lemke->n; i++) {
        const Unknown *unknown = &lemke->unknown[i];
        double *PW = lemke->PW, *row = lemke->M + i * lemke->n;
        memset(PW, 0, (size_t)problem->n_r * sizeof *PW);
        for (int k = 0; k < unknown->rows; k++)
            for (int j = 0; j < problem->n_r; j++)
                PW[j] += unknown->d[k] * lemke->W[(int64_t)(unknown->row + k) * problem->n_r + j];
        for (int64_t j = 0; j < lemke->n; j++)
            row[j] = unknown_along(&lemke->unknown[j], PW);
    }
    for (int64_t i = 0; i < lemke->n; i++) {
        const Unknown *unknown = &lemke->unknown[i];
        if (unknown->rows > 0) continue;
        if (unknown->normal >= 0) lemke->M[i * lemke->n + unknown->normal] = unknown->mu;
        for (int64_t j = unknown->impulse; j < unknown->impulse + unknown->impulses; j++) {
            lemke->M[i * lemke->n + j] = -1.0;
            lemke->M[j * lemke->n + i] = 1.0;
        }
    }
    form_q(lemke, task);
    return ST_OK;
}

/* Called before every pivot, which has as many products as M has entries. */
typedef struct Pivoting {
    sti_Work *work;
    double products;
} Pivoting;

static bool pivoting_ends(void *ctx)
{
    const Pivoting *pivoting = ctx;
    sti_work_products(pivoting->work, pivoting->products);
    return sti_work_ends(pivoting->work);
}

static st_Status lemke_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Lemke *lemke = workspace;
    size_t bytes = (size_t)task->problem->n_r * sizeof *task->r;
    task->iterations = 0;
    if (task->problem->n_contacts == 0) return ST_OK;
    STI_TRY(lemke_prepare(lemke, task, err));
    Pivoting pivoting = {task->work, (double)lemke->n * lemke->n};
    const sti_LcpProblem problem = {.n = lemke->n,
                                    .M = lemke->M,
                                    .q = lemke->q,
                                    .free = lemke->free,
                                    .scale = lemke->scale,
                                    .cancel = pivoting_ends,
                                    .cancel_ctx = &pivoting};

    /* | rho b |, or 1. */
    double sum = 0.0;
    for (int c = 0; c < task->problem->n_contacts; c++)
        for (int i = 0; i < task->problem->contact[c].dim; i++) {
            double b = task->reduction->rho[c] * task->reduction->b[task->problem->contact[c].first + i];
            sum += b * b;
        }
    double best = INFINITY, reference = sum > 0.0 ? sqrt(sum) : 1.0, good = fmin(GOOD_RESIDUAL, task->tolerance);

    for (int attempt = 0, corrections = 0; attempt < STI_LCP_ATTEMPTS && !sti_work_ends(task->work);) {
        sti_LcpInfo info;
        st_Residual judged;
        STI_TRY(sti_lcp_solve(lemke->lcp, &problem, attempt, attempt, lemke->z, &info, err));
        task->iterations += info.pivots;

        /* r = r_0 + P z */
        memcpy(lemke->r, lemke->start, (size_t)task->problem->n_r * sizeof *lemke->r);
        for (int i = 0; i < lemke->n; i++)
            for (int k = 0; k < lemke->unknown[i].rows; k++)
                lemke->r[lemke->unknown[i].row + k] += lemke->unknown[i].d[k] * lemke->z[i];

        bool by_W = residual_by_W(lemke, task, reference) <= good;
        sti_residual(task->reduction, lemke->r, NULL, NULL, lemke->u, &judged);
        sti_task_report(task, lemke->r);
        if (judged.natural < best) {
            best = judged.natural;
            memcpy(task->r, lemke->r, bytes);
        }
        if (judged.natural <= good + undecided(lemke, task, reference)) break;
        if (by_W && corrections++ < MAX_CORRECTIONS) {
            /* W is summed from terms that may cancel (a contact close to a pin), u of the unreduced equations less so:
             * adds the difference of both at r to b. */
            memcpy(lemke->PW, lemke->u, (size_t)task->problem->n_r * sizeof *lemke->u);
            lemke_velocity(lemke, task, lemke->r, lemke->u);
            for (int i = 0; i < task->problem->n_r; i++)
                lemke->b[i] += lemke->PW[i] - lemke->u[i];
            form_q(lemke, task);
        } else
            attempt++;
    }
    return ST_OK;
}

const sti_SolverKind sti_lemke = {
    .name = "lemke",
    .help = "Lemke's method: exact, for small problems with the laws pyramid, box, bounded and frictionless, and "
            "coulomb in "
            "the plane; any positive definite A",
    .property = STI_LAW_LINEAR,
    .create = lemke_create,
    .solve = lemke_solve,
    .destroy = lemke_destroy,
};
