/* fclib.c -- solves FCLIB problems with the solvers of the library. A global problem is passed with its M and H if M
 * is symmetric and made of small diagonal blocks (rigid bodies), so that no solver has to form W. Otherwise, and for
 * local problems with equality rows, W = H' inv(M) H is formed here, column by column. A local problem without
 * equality rows is passed unchanged. */
#include "fclib/fclib.h"
#include "problem/law.h"
#include "solve/solver.h"

#include <float.h>

/* W and q where they are formed, W with every entry. */
typedef struct sti_AsLocal {
    st_LocalProblem problem;
    int64_t *p;
    int *i;
    double *x, *b;
} AsLocal;

/* Times the tolerance from which an answer is improved where rounding is in the way, and attempts at it. */
#define WITHIN_REACH 100.0
enum { CERTIFIED_ROUNDS = 7 };

#define BAD(...) sti_fail(err, ST_ERR_ARGUMENT, __VA_ARGS__)

/* ------------------------------------------------------------------ check */

static st_Status fclib_check_vector(const char *name, const double *x, int n, st_Error *err)
{
    if (n > 0 && x == NULL) return BAD("%s is missing, expected %d numbers", name, n);
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return BAD("%s[%d] is %g, must be finite", name, k, x[k]);
    return ST_OK;
}

static st_Status check_coefficients(const char *name, const double *x, int n, st_Error *err)
{
    STI_TRY(fclib_check_vector(name, x, n, err));
    for (int k = 0; k < n; k++)
        if (x[k] < 0.0) return BAD("%s[%d] is %g, must be >= 0", name, k, x[k]);
    return ST_OK;
}

static st_Status fclib_check_matrix(const char *name, const st_Sparse *A, int n_rows, int n_cols, st_Error *err)
{
    if (A->n_rows != n_rows || A->n_cols != n_cols)
        return BAD("%s is %d x %d, must be %d x %d", name, A->n_rows, A->n_cols, n_rows, n_cols);
    if (n_cols == 0) return ST_OK;
    if (A->p == NULL || A->p[0] != 0) return BAD("%s has no column offsets that begin with 0", name);
    for (int j = 0; j < n_cols; j++)
        if (A->p[j + 1] < A->p[j]) return BAD("%s: the offset of column %d is less than the one before", name, j + 1);
    if (A->p[n_cols] > 0 && (A->i == NULL || A->x == NULL)) return BAD("%s has no entries", name);
    for (int j = 0; j < n_cols; j++)
        for (int64_t e = A->p[j]; e < A->p[j + 1]; e++) {
            if (A->i[e] < 0 || A->i[e] >= n_rows)
                return BAD("%s: column %d has row %d, must be 0 to %d", name, j, A->i[e], n_rows - 1);
            if (!isfinite(A->x[e])) return BAD("%s(%d, %d) is %g, must be finite", name, A->i[e], j, A->x[e]);
        }
    return ST_OK;
}

st_Status st_friction_check(const st_FrictionProblem *p, st_Error *err)
{
    if (p == NULL) return BAD("the problem is NULL");
    if (p->dim < 2 || p->dim > ST_MAX_DIM) return BAD("the dimension is %d, must be 2 to %d", p->dim, ST_MAX_DIM);
    if (p->n_contacts < 1) return BAD("the problem has no contacts (%d)", p->n_contacts);
    if (p->n_contacts > INT32_MAX / 8 || p->n_v < 0 || p->n_l < 0)
        return BAD("sizes are out of range: %d contacts, %d velocities, %d equality rows", p->n_contacts, p->n_v,
                   p->n_l);
    const int n_r = p->dim * p->n_contacts;
    STI_TRY(check_coefficients("mu", p->mu, p->n_contacts, err));
    if (p->dim >= 5) STI_TRY(check_coefficients("mu_r", p->mu_roll, p->n_contacts, err));
    if (p->dim == 4 || p->dim == 6) STI_TRY(check_coefficients("mu_s", p->mu_spin, p->n_contacts, err));
    if (p->form == ST_FORM_LOCAL) {
        STI_TRY(fclib_check_matrix("W", &p->W, n_r, n_r, err));
        if (p->n_l > 0) STI_TRY(fclib_check_matrix("V", &p->V, n_r, p->n_l, err));
        if (p->n_l > 0) STI_TRY(fclib_check_matrix("R", &p->R, p->n_l, p->n_l, err));
        STI_TRY(fclib_check_vector("q", p->q, n_r, err));
        return fclib_check_vector("s", p->s, p->n_l, err);
    }
    if (p->n_v < 1) return BAD("the problem has no velocities (%d)", p->n_v);
    STI_TRY(fclib_check_matrix("M", &p->M, p->n_v, p->n_v, err));
    STI_TRY(fclib_check_matrix("H", &p->H, p->n_v, n_r, err));
    if (p->n_l > 0) STI_TRY(fclib_check_matrix("G", &p->G, p->n_v, p->n_l, err));
    STI_TRY(fclib_check_vector("f", p->f, p->n_v, err));
    STI_TRY(fclib_check_vector("w", p->w, n_r, err));
    return fclib_check_vector("b", p->b, p->n_l, err);
}

/* ------------------------------------------------------------------ W formed */

static st_Status local_create(st_Friction *friction, st_Error *err)
{
    const st_Allocator *a = &friction->allocator;
    const int n = friction->n_r;
    const int64_t size = (int64_t)n * n;
    AsLocal *local = friction->local = sti_alloc(a, 1, sizeof *local);
    if (local != NULL) {
        local->p = sti_alloc(a, (int64_t)n + 1, sizeof *local->p);
        local->i = sti_alloc(a, size, sizeof *local->i);
        local->x = sti_alloc(a, size, sizeof *local->x);
        local->b = sti_alloc(a, n, sizeof *local->b);
    }
    if (local == NULL || local->p == NULL || local->i == NULL || local->x == NULL || local->b == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: W of %d x %d entries", n, n);
    for (int j = 0; j < n; j++) {
        local->p[j + 1] = (int64_t)(j + 1) * n;
        for (int i = 0; i < n; i++)
            local->i[(int64_t)j * n + i] = i;
    }
    local->problem = (st_LocalProblem){.n_r = n,
                                       .n_contacts = friction->problem->n_contacts,
                                       .W = {n, n, local->p, local->i, local->x},
                                       .b = local->b,
                                       .contact = friction->contact};
    return ST_OK;
}

/* ------------------------------------------------------------------ create, destroy, solve */

static st_Status make_contacts(st_Friction *friction, st_Error *err)
{
    const st_FrictionProblem *p = friction->problem;
    friction->contact = sti_alloc(&friction->allocator, p->n_contacts, sizeof *friction->contact);
    friction->q = sti_alloc(&friction->allocator, friction->n_r, sizeof *friction->q);
    if (friction->contact == NULL || friction->q == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %d contacts", p->n_contacts);
    for (int c = 0; c < p->n_contacts; c++)
        friction->contact[c] = (st_ContactLaw){.law = ST_LAW_COULOMB,
                                               .dim = p->dim,
                                               .first = p->dim * c,
                                               .mu = p->mu[c],
                                               .mu_roll = p->dim >= 5 ? p->mu_roll[c] : 0.0,
                                               .mu_spin = p->dim % 2 == 0 && p->dim > 2 ? p->mu_spin[c] : 0.0};
    return ST_OK;
}

st_Status st_friction_create(const st_FrictionProblem *problem, st_Friction **out, st_Error *err)
{
    STI_TRY(st_friction_check(problem, err));
    if (out == NULL) return BAD("the destination is NULL");
    const st_Allocator allocator = st_default_allocator();
    st_Friction *friction = sti_alloc(&allocator, 1, sizeof *friction);
    if (friction == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a friction problem");
    friction->allocator = allocator;
    friction->problem = problem;
    friction->n_r = problem->dim * problem->n_contacts;
    st_Status status = make_contacts(friction, err);
    if (status == ST_OK) status = sti_friction_map_create(problem, &friction->map, err);
    if (status == ST_OK && problem->form == ST_FORM_GLOBAL)
        status = sti_as_step_create(problem, friction->contact, &friction->step, err);
    if (status == ST_OK && !(problem->form == ST_FORM_LOCAL && problem->n_l == 0) && friction->step == NULL)
        status = local_create(friction, err);
    if (status != ST_OK) {
        st_friction_destroy(friction);
        return status;
    }
    *out = friction;
    return ST_OK;
}

void st_friction_destroy(st_Friction *friction)
{
    if (friction == NULL) return;
    const st_Allocator a = friction->allocator;
    AsLocal *local = friction->local;
    const int64_t n = friction->n_r;
    if (local != NULL) {
        sti_free(&a, local->p, n + 1, sizeof *local->p);
        sti_free(&a, local->i, n * n, sizeof *local->i);
        sti_free(&a, local->x, n * n, sizeof *local->x);
        sti_free(&a, local->b, n, sizeof *local->b);
        sti_free(&a, local, 1, sizeof *local);
    }
    sti_as_step_destroy(friction->step);
    sti_friction_map_destroy(friction->map);
    sti_free(&a, friction->q, friction->n_r, sizeof *friction->q);
    sti_free(&a, friction->contact, friction->problem->n_contacts, sizeof *friction->contact);
    sti_free(&a, friction, 1, sizeof *friction);
}

bool st_friction_accepts(const st_Friction *friction, const char *solver)
{
    return friction != NULL && st_solver_accepts(solver, ST_LAW_COULOMB, friction->problem->dim, true);
}

static st_Status factor_map(st_Friction *friction, st_Error *err)
{
    if (!friction->factored) STI_TRY(sti_friction_map_factor(friction->map, err));
    friction->factored = true;
    return ST_OK;
}

st_Status sti_friction_ready(st_Friction *friction, st_Error *err)
{
    const int n = friction->n_r;
    if (friction->rho > 0.0) return ST_OK;
    STI_TRY(factor_map(friction, err));
    double trace, *zero = sti_alloc(&friction->allocator, n, sizeof *zero);
    double *bound = sti_alloc(&friction->allocator, n, sizeof *bound);
    sti_Dd *q = sti_alloc(&friction->allocator, n, sizeof *q);
    st_Status status = ST_OK;
    if (zero != NULL && bound != NULL && q != NULL) {
        sti_FrictionExact exact;
        sti_friction_map_exact(friction->map, zero, q, bound, &exact); /* all errors are divided by it */
        for (int k = 0; k < n; k++)
            friction->q[k] = sti_dd_value(q[k]);
    } else {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory: the error of %d rows", n);
    }
    sti_free(&friction->allocator, q, n, sizeof *q);
    sti_free(&friction->allocator, bound, n, sizeof *bound);
    sti_free(&friction->allocator, zero, n, sizeof *zero);
    STI_TRY(status);
    STI_TRY(sti_friction_map_trace(friction->map, &trace, err));
    friction->rho = trace > 0.0 ? n / trace : 1.0;
    return ST_OK;
}

/* Whichever form the solver gets. Problems that are not formed here are checked in the first solve only: for a few
 * contacts the check takes a seventh of the time.                                                  */
static st_Status solve_once(st_Friction *friction, st_Solver *solver, st_Solution *solution, st_SolveInfo *info,
                            st_Error *err)
{
    const st_FrictionProblem *p = friction->problem;
    st_Solution found = {.r = solution->r, .u = solution->u};
    if (solver == NULL) return BAD("the solver is NULL");
    if (friction->step != NULL) {
        const st_Problem *step = sti_as_step_problem(friction->step);
        if (!friction->checked) STI_TRY(st_problem_check(step, err));
        friction->checked = true;
        return sti_solver_solve(solver, step, NULL, &found, info, err);
    }
    if (friction->local != NULL) return st_solver_solve_local(solver, &friction->local->problem, &found, info, err);
    const st_LocalProblem local = {
        .n_r = friction->n_r, .n_contacts = p->n_contacts, .W = p->W, .b = p->q, .contact = friction->contact};
    if (!friction->checked) STI_TRY(st_local_check(&local, err));
    friction->checked = true;
    return sti_solver_solve_local(solver, &local, &found, info, err);
}

st_Status st_friction_solve(st_Friction *friction, st_Solver *solver, st_Solution *solution, st_SolveInfo *info,
                            st_Error *err)
{
    if (friction == NULL || solution == NULL) return BAD("the problem or the solution is NULL");
    st_SolveInfo done = {0};
    double equality;
    if (friction->local != NULL) {
        AsLocal *local = friction->local;
        const int n = friction->n_r;
        double *unit = local->b;
        STI_TRY(sti_friction_map_factor(friction->map, err));
        friction->factored = true;
        memset(unit, 0, (size_t)n * sizeof *unit);
        for (int j = 0; j < n; j++) {
            unit[j] = 1.0;
            sti_friction_map_apply(friction->map, unit, true, NULL, NULL, local->x + (int64_t)j * n);
            unit[j] = 0.0;
        }
        sti_friction_map_apply(friction->map, unit, false, NULL, NULL, friction->q);
        memcpy(local->b, friction->q, (size_t)n * sizeof *unit);
    }
    STI_TRY(solve_once(friction, solver, solution, &done, err));
    if (done.residual.rounding > 0.0 && sti_solver_def(solver).all_errors) {
        /* The residual of the solvers has too few digits to decide whether r is good enough, so the exact error
         * decides. If r misses the tolerance slightly, usually because it is outside its cone by a unit in the last
         * place, it is moved inside; otherwise the problem is solved again with a tolerance that leaves room for
         * rounding. */
        const st_SolverDef def = sti_solver_def(solver);
        st_Status status = ST_OK;
        st_FrictionError judged = {0};
        for (int round = 0; status == ST_OK && round < CERTIFIED_ROUNDS; round++) {
            status = st_friction_error(friction, solution->r, solution->u, NULL, &judged, err);
            if (status != ST_OK || judged.certified <= def.tolerance ||
                !(judged.certified <= WITHIN_REACH * def.tolerance))
                break;
            st_SolveInfo again = {0};
            if (round % 2 == 0) {
                /* r into its cones, friction by a few units in the last place less than the most it may be. */
                for (int c = 0; c < friction->problem->n_contacts; c++) {
                    const st_ContactLaw *contact = &friction->contact[c];
                    sti_law_project(contact, solution->r + contact->first);
                    for (int d = 1; d < contact->dim; d++)
                        solution->r[contact->first + d] *= 1.0 - 2.0 * DBL_EPSILON;
                }
            } else {
                sti_solver_adjust(solver, ldexp(def.tolerance, -round - 1), true);
                status = solve_once(friction, solver, solution, &again, err);
                done.iterations += again.iterations;
            }
        }
        sti_solver_adjust(solver, def.tolerance, def.warm_start);
        done.converged = judged.certified <= def.tolerance;
        done.residual.error = judged.error;
        done.residual.error_rho = judged.error_rho;
        done.residual.rounding = judged.rounding;
        STI_TRY(status);
    }
    /* v and l for a given r: those of the file, not of the step problem, which leaves out bodies without contacts. If W
     * was formed, the residual of the equality rows has not been computed before; *equality returns it. */
    const st_FrictionProblem *p = friction->problem;
    const int64_t n = friction->n_r;
    const bool wanted = (solution->v != NULL && p->n_v > 0) || (solution->l != NULL && p->n_l > 0);
    equality = 0.0;
    if (wanted || (friction->local != NULL && p->n_l > 0)) {
        STI_TRY(factor_map(friction, err));
        sti_Dd *u = sti_alloc(&friction->allocator, n, sizeof *u);
        double *bound = sti_alloc(&friction->allocator, n, sizeof *bound);
        st_Status status = ST_OK;
        if (u != NULL && bound != NULL) {
            sti_FrictionExact exact;
            sti_friction_map_exact(friction->map, solution->r, u, bound, &exact);
            for (int i = 0; solution->v != NULL && i < p->n_v; i++)
                solution->v[i] = sti_dd_value(exact.v[i]);
            for (int k = 0; solution->l != NULL && k < p->n_l; k++)
                solution->l[k] = sti_dd_value(exact.l[k]);
            equality = exact.equality;
        } else {
            status = sti_fail(err, ST_ERR_MEMORY, "out of memory: %d rows", friction->n_r);
        }
        sti_free(&friction->allocator, bound, n, sizeof *bound);
        sti_free(&friction->allocator, u, n, sizeof *u);
        STI_TRY(status);
    }
    if (!(equality <= sti_solver_def(solver).tolerance)) done.converged = false;
    if (info != NULL) *info = done;
    return ST_OK;
}
