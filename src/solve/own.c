/* own.c -- calls a solver of the caller with the reduced problem, st_Reduced. The residual of its result is computed as
 * for our solvers.
 */
#include "problem/law.h"
#include "reduce/residual.h"
#include "solve/factored.h"

typedef struct Own {
    st_Allocator allocator;
    sti_Task *task;
    double least; /* of the residuals that it requested                                             */
    STI_ARRAY(double, best);
    STI_ARRAY(double, v);  /* of st_reduced_apply                                                  */
    STI_ARRAY(int64_t, p); /* W by columns                                                         */
    STI_ARRAY(int, i);
    STI_ARRAY(double, x);
} Own;

#define GROW(name, n) STI_TRY(STI_GROW(&s->allocator, s->name, s->name##_size, (n), err))
#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

void st_reduced_apply(const st_Reduced *problem, const double *r, double *u)
{
    const Own *s = problem->inside;
    sti_reduction_apply(s->task->reduction, r, s->v, u);
    sti_work_visits(s->task->work, s->task->problem->n_contacts);
}

double st_reduced_residual(const st_Reduced *problem, const double *r)
{
    Own *s = problem->inside;
    st_Residual residual;
    sti_residual(s->task->reduction, r, NULL, NULL, NULL, &residual);
    sti_work_visits(s->task->work, s->task->problem->n_contacts);
    const double measure = sti_residual_measure(s->task->reduction, &residual);
    s->task->iterations++;
    sti_task_report_residual(s->task, measure);
    if (measure < s->least) {
        s->least = measure;
        memcpy(s->best, r, sizeof *r * (size_t)problem->n_r);
    }
    return measure;
}

bool st_reduced_ends(const st_Reduced *problem)
{
    const Own *s = problem->inside;
    return sti_work_ends(s->task->work);
}

void st_law_project(const st_ContactLaw *contact, double *x)
{
    if (contact != NULL && x != NULL && sti_law_has_dim(contact->law, contact->dim, STI_LAW_ANY))
        sti_law_project(contact, x);
}

st_Status st_reduced_matrix(const st_Reduced *problem, st_Sparse *out, st_Error *err)
{
    Own *s = problem->inside;
    const sti_Delassus *W = &s->task->factored->W;
    const st_ContactLaw *contact = problem->contact;
    bool formed;
    STI_TRY(sti_factored_begin(s->task->factored, s->task, &formed, err));
    if (!formed) return sti_fail(err, ST_ERR_UNSUPPORTED, "W has too many blocks to be formed");
    GROW(p, (int64_t)problem->n_r + 2);
    GROW(i, W->x_size);
    GROW(x, W->x_size);
    memset(s->p, 0, ((size_t)problem->n_r + 2) * sizeof *s->p);
    for (int a = 0; a < problem->n_contacts; a++) /* the numbers of a column, one place too far on */
        for (int64_t e = W->p[a]; e < W->p[a + 1]; e++)
            for (int d = 0; d < contact[W->j[e]].dim; d++)
                s->p[contact[W->j[e]].first + d + 2] += contact[a].dim;
    for (int j = 0; j < problem->n_r; j++)
        s->p[j + 2] += s->p[j + 1];
    for (int a = 0; a < problem->n_contacts; a++)
        for (int64_t e = W->p[a]; e < W->p[a + 1]; e++) {
            const int rows = contact[a].dim, columns = contact[W->j[e]].dim;
            for (int d = 0; d < columns; d++)
                for (int row = 0; row < rows; row++) {
                    const int64_t at = s->p[contact[W->j[e]].first + d + 1]++;
                    s->i[at] = contact[a].first + row;
                    s->x[at] = W->x[W->start[e] + (int64_t)row * columns + d];
                }
        }
    *out = (st_Sparse){problem->n_r, problem->n_r, s->p, s->i, s->x};
    return ST_OK;
}

static st_Status own_solve(void *workspace, sti_Task *task, st_Error *err)
{
    Own *s = workspace;
    const st_OwnSolver *own = task->def->own;
    const st_Problem *p = task->problem;
    task->iterations = 0;
    if (sti_task_is_answered(task) || p->n_contacts == 0) return ST_OK;
    STI_TRY(sti_reduction_columns(task->reduction, err));
    GROW(best, p->n_r);
    GROW(v, p->n_v);
    s->task = task;
    s->least = INFINITY;
    const st_Reduced problem = {.n_r = p->n_r,
                                .n_contacts = p->n_contacts,
                                .contact = p->contact,
                                .b = task->reduction->b,
                                .diagonal = task->reduction->W_diagonal,
                                .rho = task->reduction->rho,
                                .symmetric = p->symmetric,
                                .tolerance = task->tolerance,
                                .max_iterations = task->max_iterations,
                                .inside = s};
    STI_TRY(own->solve(own->ctx, &problem, task->r, err));
    for (int j = 0; j < p->n_r; j++)
        if (!isfinite(task->r[j]))
            return sti_fail(err, ST_ERR_NUMERIC, "solver \"%.60s\": r[%d] is %g, must be finite", own->name, j,
                            task->r[j]);
    if (s->least < INFINITY) {
        st_Residual residual;
        sti_residual(task->reduction, task->r, NULL, NULL, NULL, &residual);
        if (s->least < sti_residual_measure(task->reduction, &residual))
            memcpy(task->r, s->best, sizeof *task->r * (size_t)p->n_r);
    }
    return ST_OK;
}

static st_Status own_create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Own *s = sti_alloc(allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a solver of one's own");
    s->allocator = *allocator;
    *workspace = s;
    return ST_OK;
}

static void own_destroy(void *workspace)
{
    Own *s = workspace;
    if (s == NULL) return;
    RELEASE(best);
    RELEASE(v);
    RELEASE(p);
    RELEASE(i);
    RELEASE(x);
    const st_Allocator allocator = s->allocator;
    sti_free(&allocator, s, 1, sizeof *s);
}

const sti_SolverKind sti_own = {
    .name = "own",
    .help = "your own solver (st_SolverDef.own)",
    .property = STI_LAW_ANY,
    .create = own_create,
    .solve = own_solve,
    .destroy = own_destroy,
};
