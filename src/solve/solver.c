/* solver.c -- the public functions of the solvers.
 *
 * A solve checks the problem, reduces it, computes r with the solver, computes the residual of r (residual.c), and
 * reports. The residual decides `converged`, not the solver. The arrays of the caller are written at the
 * end, so a call that fails leaves them unchanged.
 */
#include "solve/solver.h"

#include "math/parallel.h"
#include "problem/law.h"
#include "problem/opposite_rows.h"
#include "reduce/residual.h"
#include "solve/dense_newton.h"
#include "solve/factored.h"

#include <float.h>

#define ADDRESS_OF_SOLVER(name) &sti_##name,
static const sti_SolverKind *const kinds[] = {STI_SOLVERS(ADDRESS_OF_SOLVER)};
/* Contacts from which on lanes are quicker, though most of them stay empty at first, and Newton's steps by the bodies'
 * velocities, which are fewer than the rows. With effort exact there are more of them, and with thorough
 * STI_FEW_ROWS: its results are those of the papers to the bit.                                       */
enum { FEWEST_IN_LANES = 5, FEWEST_OF_EXACT = 16 };
enum { N_KINDS = STI_N_SOLVERS };

struct st_Solver {
    st_SolverDef def;
    const sti_SolverKind *kind;
    void *workspace; /* the kind's own                                                              */
    sti_Reduction *reduction;
    sti_Factored *factored;
    sti_DenseNewton *dense;
    bool tries_dense;  /* sti_solver_equip                                                         */
    sti_Stop own_stop; /* the def's cancel                                                         */
    sti_Work work;     /* of the solve under way                                                   */
    double left;       /* likewise                                                                 */
    double parameter[N_KINDS][STI_MOST_PARAMETERS];
    double *r; /* the answer, until it is copied; its v, l and u are in reduction->judged           */
    int64_t r_size;
};

/* So many iterations that the work, not their number, ends a slow solver. warm_start is off: a caller that does not use
 * it may pass an r that was never set. */
st_SolverDef st_solver_def(void)
{
    return (st_SolverDef){.name = "auto",
                          .tolerance = 1e-9,
                          .max_iterations = 1000000,
                          .warm_start = false,
                          .threads = 1,
                          .max_work = INFINITY,
                          .allocator = st_default_allocator(),
                          .cookie = STI_COOKIE};
}

int st_solver_count(void)
{
    return N_KINDS;
}

const char *st_solver_name(int index)
{
    return index >= 0 && index < N_KINDS ? kinds[index]->name : NULL;
}

static const sti_SolverKind *find_kind(const char *name)
{
    for (int k = 0; name != NULL && k < N_KINDS; k++)
        if (strcmp(kinds[k]->name, name) == 0) return kinds[k];
    return NULL;
}

const char *st_solver_help(const char *name)
{
    const sti_SolverKind *kind = find_kind(name);
    return kind != NULL ? kind->help : NULL;
}

bool st_solver_accepts(const char *name, st_Law law, int dim, bool symmetric)
{
    const sti_SolverKind *kind = find_kind(name);
    (void)symmetric; /* no solver needs it: the local solves take any W with a definite symmetric part */
    return kind != NULL && sti_law_has_dim(law, dim, kind->property);
}

const st_SolverParameter *st_solver_parameter(const char *name, int index)
{
    const sti_SolverKind *kind = find_kind(name);
    if (kind == NULL || kind->parameters == NULL || index < 0) return NULL;
    for (int k = 0; k < index; k++)
        if (kind->parameters[k].name == NULL) return NULL;
    return kind->parameters[index].name != NULL ? &kind->parameters[index] : NULL;
}

void sti_task_report_residual(const sti_Task *task, double residual)
{
    if (task->def->progress == NULL) return;
    const int contacts = task->problem->n_contacts;
    task->def->progress(task->def->progress_ctx,
                        &(st_Progress){.solver = task->solver,
                                       .iteration = task->before + task->iterations,
                                       .residual = residual,
                                       .work = task->work->spent / (contacts > 0 ? contacts : 1)});
}

void sti_task_report(const sti_Task *task, const double *r)
{
    if (task->def->progress == NULL) return;
    st_Residual residual;
    sti_residual(task->reduction, r, NULL, NULL, NULL, &residual);
    sti_task_report_residual(task, sti_residual_measure(task->reduction, &residual));
}

/* Neighbours mostly have the same law: it is looked up once. */
bool sti_solver_takes(const sti_SolverKind *kind, const st_Problem *problem, int *refused)
{
    const st_ContactLaw *contact = problem->contact;
    for (int c = 0; c < problem->n_contacts; c++) {
        if (c > 0 && contact[c].law == contact[c - 1].law && contact[c].dim == contact[c - 1].dim) continue;
        if (sti_law_has_dim(contact[c].law, contact[c].dim, kind->property)) continue;
        *refused = c;
        return false;
    }
    return true;
}

bool sti_task_is_answered(sti_Task *task)
{
    if (task->max_iterations < 1) return false;
    st_Residual residual;
    sti_residual(task->reduction, task->r, NULL, NULL, NULL, &residual);
    task->start = sti_residual_measure(task->reduction, &residual);
    return task->start <= task->tolerance;
}

st_Status sti_task_end(sti_Task *task, st_Status status)
{
    if (status != ST_ERR_CANCELLED) return status;
    if (task->factored->least < INFINITY)
        memcpy(task->r, task->factored->best, sizeof(double) * (size_t)task->problem->n_r);
    return ST_OK;
}

st_Status sti_solver_open(const sti_SolverKind *kind, const st_Allocator *allocator, void **workspace, st_Error *err)
{
    return kind->create != NULL ? kind->create(allocator, workspace, err) : ST_OK;
}

void sti_solver_close(const sti_SolverKind *kind, void *workspace)
{
    if (kind->destroy != NULL) kind->destroy(workspace);
}

/* ------------------------------------------------------------------ create, destroy */

static st_Status check_def(const st_SolverDef *def, st_Error *err)
{
    STI_CHECK_DEF(def, "st_solver_def", err);
    if (def->own != NULL && (def->own->solve == NULL || def->own->name == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "your own solver has no %s",
                        def->own->name == NULL ? "name" : "function `solve`");
    if (def->n_values > 0 && def->values == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "values is NULL, expected %d parameters", def->n_values);
    if (def->own == NULL && find_kind(def->name) == NULL) {
        char names[128] = "";
        for (int k = 0; k < N_KINDS; k++) {
            strncat(names, k > 0 ? ", " : "", sizeof names - strlen(names) - 1);
            strncat(names, kinds[k]->name, sizeof names - strlen(names) - 1);
        }
        return sti_fail(err, ST_ERR_ARGUMENT, "there is no solver \"%.100s\", there are: %s",
                        def->name != NULL ? def->name : "(null)", names);
    }
    if (!(def->tolerance > 0.0) || !isfinite(def->tolerance))
        return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%s\": tolerance is %g, must be > 0", def->name, def->tolerance);
    if (def->max_iterations < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%s\": max_iterations is %d, must be at least 1", def->name,
                        def->max_iterations);
    if (!(def->max_work > 0.0))
        return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%s\": max_work is %g, must be > 0", def->name, def->max_work);
    if (def->threads < 1 || def->threads > 256)
        return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%s\": threads is %d, must be from 1 to 256", def->name,
                        def->threads);
    if (def->allocator.alloc == NULL || def->allocator.free == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%s\": the allocator has no alloc or no free", def->name);
    return ST_OK;
}

/* Stores the value of a parameter: "ipm.border", or "border" of the solver itself. */
static st_Status take_value(st_Solver *solver, const st_SolverValue *value, st_Error *err)
{
    const char *name = value->name != NULL ? value->name : "(null)", *dot = strchr(name, '.');
    const char *part = dot != NULL ? dot + 1 : name;
    bool known = false;
    for (int k = 0; k < N_KINDS; k++) {
        const size_t length = strlen(kinds[k]->name);
        const bool means = dot == NULL ? kinds[k] == solver->kind
                                       : (size_t)(dot - name) == length && strncmp(name, kinds[k]->name, length) == 0;
        if (!means) continue;
        known = true;
        const st_SolverParameter *p;
        for (int i = 0; (p = st_solver_parameter(kinds[k]->name, i)) != NULL; i++) {
            if (strcmp(p->name, part) != 0) continue;
            if (!(value->value >= p->min && value->value <= p->max))
                return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%.60s\" is %g, must be from %g to %g", name,
                                value->value, p->min, p->max);
            solver->parameter[k][i] = value->value;
            return ST_OK;
        }
    }
    return sti_fail(err, ST_ERR_ARGUMENT, "solver \"%.40s\" has no parameter \"%.60s\"",
                    known || solver->def.own == NULL ? solver->def.name : solver->def.own->name, name);
}

st_Status st_solver_create(const st_SolverDef *def, st_Solver **out, st_Error *err)
{
    STI_TRY(check_def(def, err));
    if (out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the solver's destination is NULL");
    st_Solver *solver = sti_alloc(&def->allocator, 1, sizeof *solver);
    if (solver == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver \"%s\"", def->name);
    solver->def = *def;
    solver->kind = def->own != NULL ? &sti_own : find_kind(def->name);
    solver->def.name = def->own != NULL ? def->own->name : solver->kind->name; /* the caller's string may go */
    for (int k = 0; k < N_KINDS; k++)
        for (int i = 0; st_solver_parameter(kinds[k]->name, i) != NULL; i++)
            solver->parameter[k][i] = st_solver_parameter(kinds[k]->name, i)->value;
    solver->work.stop = &solver->own_stop;
    solver->left = INFINITY;
    st_Status status = ST_OK;
    for (int k = 0; k < def->n_values && status == ST_OK; k++)
        status = take_value(solver, &def->values[k], err);
    solver->def.values = NULL;
    solver->def.n_values = 0;
    if (status == ST_OK) status = sti_reduction_create(&def->allocator, &solver->reduction, err);
    if (status == ST_OK) solver->reduction->all_errors = def->all_errors;
    if (status == ST_OK) solver->reduction->threads = def->threads;
    if (status == ST_OK && def->effort != ST_EFFORT_THOROUGH)
        solver->reduction->fewest = def->effort == ST_EFFORT_EXACT ? FEWEST_OF_EXACT : FEWEST_IN_LANES;
    if (status == ST_OK) status = sti_factored_create(&def->allocator, &solver->work, &solver->factored, err);
    if (status == ST_OK) status = sti_dense_newton_create(&def->allocator, &solver->dense, err);
    if (status == ST_OK) status = sti_solver_open(solver->kind, &def->allocator, &solver->workspace, err);
    if (status != ST_OK) {
        st_solver_destroy(solver);
        return status;
    }
    *out = solver;
    return ST_OK;
}

void sti_solver_be_rough(st_Solver *solver)
{
    solver->reduction->rough = true;
}

void sti_solver_equip(st_Solver *solver, sti_Equipment equipment)
{
    const bool fits = (solver->kind == &sti_auto || solver->kind == &sti_newton) && !solver->def.all_errors;
    solver->def.threads = solver->reduction->threads = equipment.threads;
    sti_reduction_lend(solver->reduction, equipment.saddle);
    solver->tries_dense = equipment.dense && fits && solver->def.effort != ST_EFFORT_THOROUGH;
    sti_solver_limit(solver, equipment.max_work, equipment.stop);
    solver->left = equipment.left;
}

void sti_solver_limit(st_Solver *solver, double max_work, sti_Stop *stop)
{
    solver->def.max_work = max_work;
    solver->work.stop = stop;
}

int sti_solver_fewest(const st_Solver *solver)
{
    return solver->reduction->fewest;
}

bool sti_solver_keeps_starts(const st_Solver *solver)
{
    const st_SolverDef *def = &solver->def;
    return solver->kind == &sti_auto && def->warm_start && !def->all_errors &&
           (def->effort == ST_EFFORT_BALANCED || def->effort == ST_EFFORT_REAL_TIME);
}

st_SolverDef sti_solver_def(const st_Solver *solver)
{
    return solver->def;
}

void sti_solver_adjust(st_Solver *solver, double tolerance, bool warm_start)
{
    solver->def.tolerance = tolerance;
    solver->def.warm_start = warm_start;
}

void st_solver_destroy(st_Solver *solver)
{
    if (solver == NULL) return;
    const st_Allocator allocator = solver->def.allocator;
    sti_solver_close(solver->kind, solver->workspace);
    sti_factored_destroy(solver->factored);
    sti_dense_newton_destroy(solver->dense);
    sti_reduction_destroy(solver->reduction);
    STI_RELEASE(&allocator, solver->r, solver->r_size);
    sti_free(&allocator, solver, 1, sizeof *solver);
}

/* ------------------------------------------------------------------ solve */

static st_Status check_call(const st_Solver *solver, const st_Solution *solution, st_Error *err)
{
    if (solver == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the solver is NULL");
    return solution == NULL ? sti_fail(err, ST_ERR_ARGUMENT, "the solution is NULL") : ST_OK;
}

/* Laws that the solver does not take are refused before anything is computed. */
static st_Status check_fit(const st_Solver *solver, const st_Problem *problem, const st_Solution *solution,
                           st_Error *err)
{
    int c = 0;
    bool takes = sti_solver_takes(solver->kind, problem, &c);
    const st_OwnSolver *own = solver->def.own;
    for (int k = 0; takes && own != NULL && own->accepts != NULL && k < problem->n_contacts; k++) {
        takes = own->accepts(own->ctx, problem->contact[k].law, problem->contact[k].dim, problem->symmetric);
        c = k;
    }
    if (!takes)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "solver \"%s\" does not take contact %d: law %s, dim %d, %s A",
                        solver->def.name, c, st_law_name(problem->contact[c].law), problem->contact[c].dim,
                        problem->symmetric ? "symmetric" : "nonsymmetric");
    if (problem->n_r > 0 && solution->r == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "solution.r is NULL, expected room for %d numbers", problem->n_r);
    if (!solver->def.warm_start || sti_team_within(solver->def.threads, solution->r, problem->n_r, DBL_MAX))
        return ST_OK;
    for (int j = 0; j < problem->n_r; j++)
        if (!isfinite(solution->r[j]))
            return sti_fail(err, ST_ERR_ARGUMENT, "warm start: r[%d] is %g, must be finite", j, solution->r[j]);
    return ST_OK;
}

st_Status sti_solver_own_r(st_Solver *solver, int n_r, double **r, st_Error *err)
{
    STI_TRY(STI_GROW(&solver->def.allocator, solver->r, solver->r_size, n_r, err));
    *r = solver->r;
    return ST_OK;
}

const double *sti_solver_own_u(const st_Solver *solver)
{
    return solver->reduction->judged->u;
}

static void copy(const st_Solver *solver, double *to, const double *from, int n)
{
    if (to != NULL && to != from) sti_team_copy(solver->def.threads, to, from, n);
}

/* Copies r, u and their report to the caller, if all numbers are finite. */
static st_Status copy_answer(const st_Solver *solver, const st_SolveInfo *found, st_Solution *solution,
                             st_SolveInfo *info, st_Error *err)
{
    const st_Problem *problem = solver->reduction->problem;
    const sti_Judged *of = solver->reduction->judged;
    const int threads = solver->def.threads;
    const bool finite = sti_team_within(threads, solver->r, problem->n_r, DBL_MAX) &&
                        sti_team_within(threads, of->u, problem->n_r, DBL_MAX) &&
                        (solver->reduction->is_local || /* u again */
                         sti_team_within(threads, of->v, problem->n_v, DBL_MAX));
    for (int j = 0; j < problem->n_r && !finite; j++)
        if (!isfinite(solver->r[j]) || !isfinite(of->u[j]))
            return sti_fail(err, ST_ERR_NUMERIC, "solver \"%s\": row %d came out as impulse %g, velocity %g",
                            solver->def.name, j, solver->r[j], of->u[j]);
    for (int i = 0; i < problem->n_v && !finite; i++)
        if (!isfinite(of->v[i]))
            return sti_fail(err, ST_ERR_NUMERIC, "solver \"%s\": velocity %d came out as %g", solver->def.name, i,
                            of->v[i]);
    copy(solver, solution->r, solver->r, problem->n_r);
    copy(solver, solution->u, of->u, problem->n_r);
    if (info != NULL) *info = *found;
    return ST_OK;
}

/* The task of the reduced problem, with at most max_work visits of each contact. */
static sti_Task begin_task(st_Solver *solver, double max_work, const st_Solution *solution)
{
    const st_Problem *problem = solver->reduction->problem;
    const sti_Task task = {.problem = problem,
                           .reduction = solver->reduction,
                           .factored = solver->factored,
                           .tolerance = solver->def.tolerance,
                           .polish = (solver->def.warm_start ? 1e-2 : 1.0) * solver->def.tolerance,
                           .max_iterations = solver->def.max_iterations,
                           .work = &solver->work,
                           .effort = solver->def.effort,
                           .r = solver->r,
                           .left = solver->left,
                           .aim = solver->def.tolerance,
                           .start = -1.0,
                           .solver = solver->def.name,
                           .def = &solver->def,
                           .parameters = solver->parameter};
    solver->left = INFINITY;
    if (solver->work.stop == &solver->own_stop)
        sti_stop_begin(&solver->own_stop, solver->def.cancel, solver->def.cancel_ctx);
    solver->work.spent = 0.0;
    solver->work.most = max_work * problem->n_contacts;
    if (solver->def.warm_start)
        copy(solver, solver->r, solution->r, problem->n_r);
    else if (problem->n_r > 0)
        memset(solver->r, 0, (size_t)problem->n_r * sizeof *solver->r);
    return task;
}

/* Removes friction that joints hold, if the answer is as good without it: sti_law_drop_held. */
static st_Status drop_held_friction(st_Solver *solver, st_Residual *residual, st_Error *err)
{
    sti_Reduction *reduction = solver->reduction;
    const st_Problem *problem = reduction->problem;
    bool dropped = false;
    if (reduction->graph != NULL || reduction->is_local) return ST_OK;
    STI_TRY(STI_GROW(&solver->def.allocator, solver->r, solver->r_size, 2 * problem->n_r, err));
    double *kept = solver->r + problem->n_r;
    memcpy(kept, solver->r, (size_t)problem->n_r * sizeof *kept);
    for (int c = 0; c < problem->n_contacts; c++) {
        const st_ContactLaw *contact = &problem->contact[c];
        if (sti_law_drop_held(contact, reduction->W_diagonal + reduction->W_start[c], contact->dim,
                              solver->r + contact->first))
            dropped = true;
    }
    if (!dropped) return ST_OK;
    st_Residual without;
    sti_residual(reduction, solver->r, NULL, NULL, NULL, &without);
    if (sti_residual_measure(reduction, &without) <=
        fmax(solver->def.tolerance, sti_residual_measure(reduction, residual))) {
        *residual = without;
        return ST_OK;
    }
    memcpy(solver->r, kept, (size_t)problem->n_r * sizeof *kept);
    sti_residual(reduction, solver->r, NULL, NULL, NULL, residual);
    return ST_OK;
}

/* Computes the residual of the r that was found, and copies it to the caller. */
static st_Status judge_answer(st_Solver *solver, const sti_Task *task, st_Solution *solution, st_SolveInfo *info,
                              st_Error *err)
{
    const st_Problem *problem = task->problem;
    const st_SolverDef *def = &solver->def;
    sti_Reduction *reduction = solver->reduction;
    st_SolveInfo found = {.solver = task->solver,
                          .fallback = task->fallback,
                          .iterations = task->iterations,
                          .start = task->start,
                          .work = solver->work.spent / (problem->n_contacts > 0 ? problem->n_contacts : 1),
                          .redundant_rows = reduction->redundant_rows};
    if (reduction->graph == NULL && !reduction->is_local) sti_release_opposite_rows(problem, solver->r);
    sti_residual(reduction, solver->r, NULL, NULL, NULL, &found.residual);
    STI_TRY(drop_held_friction(solver, &found.residual, err));
    sti_residual_give(reduction);
    const bool exact = sti_residual_measure(reduction, &found.residual) <= def->tolerance;
    STI_TRY(sti_residual_certify(reduction, solver->r, exact ? def->tolerance : task->aim, &found.residual, err));
    const double measure = sti_residual_measure(reduction, &found.residual), rounding = found.residual.rounding,
                 most = def->all_errors ? measure + rounding : fmax(measure, rounding);
    found.converged = most <= task->aim && sti_joints_are_met(problem, reduction->judged->v, found.residual.joint,
                                                              def->tolerance, def->all_errors);
    return copy_answer(solver, &found, solution, info, err);
}

st_Status st_solver_solve(st_Solver *solver, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                          st_Error *err)
{
    STI_TRY(check_call(solver, solution, err));
    STI_TRY(st_problem_check(problem, err));
    return sti_solver_solve(solver, problem, NULL, solution, info, err);
}

/* Visits of each contact that `auto` may use for a small problem that dense factors did not solve. Most of these are
 * jams, which no method solves. With more visits, such a step takes many times as long as others; with fewer, hard
 * problems stay unsolved. */
static const double visits_after_dense = 600;
/* A residual that ends the search with dense factors: further paths cost many times as much as a step, for digits that
 * no motion shows. It is reported as not converged. Neither holds for effort exact.                            */
static const double enough_of_dense = 1e-8;

st_Status sti_solver_solve(st_Solver *solver, const st_Problem *problem, const sti_PileContacts *pile,
                           st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    const st_SolverDef *def = &solver->def;
    sti_Reduction *reduction = solver->reduction;
    double max_work = def->max_work;
    STI_TRY(check_fit(solver, problem, solution, err));
    if (solver->tries_dense && pile == NULL && sti_dense_newton_takes(problem)) {
        bool solved;
        const bool exact = def->effort == ST_EFFORT_EXACT;
        STI_TRY(sti_dense_newton_solve(solver->dense, problem, def->tolerance, exact ? 0 : enough_of_dense,
                                       (def->warm_start ? 1e-2 : 1) * def->tolerance, def->max_iterations,
                                       def->warm_start ? solution->r : NULL, solution, info, &solved, err));
        if (solved) return ST_OK;
        if (solver->kind == &sti_auto && !exact) max_work = fmin(max_work, visits_after_dense);
    }

    /* Joints first. If they leave every contact open, r = 0 is the exact answer. */
    double joint;
    STI_TRY(STI_GROW(&solver->def.allocator, solver->r, solver->r_size, problem->n_r, err));
    STI_TRY(sti_reduce_joints(reduction, problem, pile, err));
    if (sti_reduction_is_open(reduction, &joint)) {
        const bool met = sti_joints_are_met(problem, reduction->judged->v, joint, def->tolerance, def->all_errors);
        const st_SolveInfo found = {.solver = def->name,
                                    .converged = met,
                                    .start = -1.0,
                                    .redundant_rows = reduction->redundant_rows,
                                    .residual = {.joint = joint, .worst_contact = -1}};
        if (problem->n_r > 0) memset(solver->r, 0, (size_t)problem->n_r * sizeof *solver->r);
        STI_TRY(copy_answer(solver, &found, solution, info, err));
    } else {
        STI_TRY(sti_reduce_contacts(reduction, err));
        sti_Task task = begin_task(solver, max_work, solution);
        STI_TRY(sti_task_end(&task, solver->kind->solve(solver->workspace, &task, err)));
        STI_TRY(judge_answer(solver, &task, solution, info, err));
    }
    copy(solver, solution->v, reduction->judged->v, problem->n_v);
    copy(solver, solution->l, reduction->judged->l, problem->n_l);
    return ST_OK;
}

st_Status st_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                st_SolveInfo *info, st_Error *err)
{
    STI_TRY(check_call(solver, solution, err));
    STI_TRY(st_local_check(problem, err));
    return sti_solver_solve_local(solver, problem, solution, info, err);
}

st_Status sti_solver_solve_local(st_Solver *solver, const st_LocalProblem *problem, st_Solution *solution,
                                 st_SolveInfo *info, st_Error *err)
{
    if (solver->kind == &sti_auto && solution->r != NULL && sti_first_sweep(problem, &solver->def, solution, info))
        return ST_OK;
    STI_TRY(sti_reduce_local(solver->reduction, problem, err));
    STI_TRY(check_fit(solver, solver->reduction->problem, solution, err));
    STI_TRY(STI_GROW(&solver->def.allocator, solver->r, solver->r_size, solver->reduction->problem->n_r, err));
    sti_Task task = begin_task(solver, solver->def.max_work, solution);
    STI_TRY(sti_task_end(&task, solver->kind->solve(solver->workspace, &task, err)));
    return judge_answer(solver, &task, solution, info, err);
}
