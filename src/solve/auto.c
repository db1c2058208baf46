/* auto.c -- the solver that picks a solver.
 *
 * Lemke's method is exact and, by theorem, does not fail on velocity-level problems, but it is dense: where
 * every contact's law is linear and the complementarity problem is small it goes first. Otherwise nsgs.
 * When the first one's answer, as judged by the residual, misses the tolerance, the other one is tried if it
 * takes the problem, and the better of the two answers is kept. The task says which it was.
 */
#include "solve/residual.h"
#include "solve/solver.h"

/* Unknowns of the complementarity problem up to which Lemke goes first, and up to which it is still tried
 * when nsgs has failed: a pivot costs the square, and there are about as many pivots as unknowns. */
enum { LEMKE_FIRST = 600, LEMKE_LAST = 2400 };

typedef struct Auto {
    st_Allocator allocator;
    void *lemke, *nsgs; /* their workspaces */
    double *first_r, *v, *u;
    int64_t first_r_size, v_size, u_size;
} Auto;

/* How many unknowns Lemke would have; law by law as in lemke.c. */
static int64_t lcp_unknowns(const st_Problem *problem)
{
    int64_t n = 0;
    for (int c = 0; c < problem->n_contacts; c++) {
        const st_ContactLaw *contact = &problem->contact[c];
        switch (contact->law) {
        case ST_LAW_FRICTIONLESS:
            n += 1;
            break;
        case ST_LAW_PYRAMID:
            n += (int64_t)contact->facets + 2;
            break;
        default: /* bounded: z and a multiplier; box: a normal and, for each tangent, two facets and a multiplier */
            n += 3 * (int64_t)contact->dim;
            break;
        }
    }
    return n;
}

static double judge(const Auto *a, const sti_Task *task)
{
    st_Residual residual;
    sti_residual(task->reduction, task->r, a->v, a->u, &residual);
    return residual.natural;
}

static st_Status solve(void *workspace, sti_Task *task, st_Error *err)
{
    Auto *a = workspace;
    const st_Problem *problem = task->problem;
    const size_t bytes = sizeof(double) * (size_t)problem->n_r;
    int refused;
    const bool linear = sti_solver_takes(&sti_lemke, problem, &refused);
    const int64_t unknowns = linear ? lcp_unknowns(problem) : 0;
    const bool lemke_first = linear && unknowns <= LEMKE_FIRST;
    const sti_SolverKind *first = lemke_first ? &sti_lemke : &sti_nsgs, *second = lemke_first ? &sti_nsgs : &sti_lemke;
    void *const first_space = lemke_first ? a->lemke : a->nsgs, *const second_space = lemke_first ? a->nsgs : a->lemke;

    task->solver = first->name;
    if (problem->n_contacts == 0) return ST_OK;
    STI_TRY(STI_GROW(&a->allocator, a->first_r, a->first_r_size, problem->n_r, err));
    STI_TRY(STI_GROW(&a->allocator, a->v, a->v_size, problem->n_v, err));
    STI_TRY(STI_GROW(&a->allocator, a->u, a->u_size, problem->n_r, err));
    STI_TRY(first->solve(first_space, task, err));
    const double reached = judge(a, task);
    if (reached <= task->tolerance || !linear || unknowns > LEMKE_LAST) return ST_OK;

    const int iterations = task->iterations;
    memcpy(a->first_r, task->r, bytes);
    STI_TRY(second->solve(second_space, task, err));
    if (judge(a, task) < reached) {
        task->solver = second->name;
        task->fallback = first->name;
    } else {
        memcpy(task->r, a->first_r, bytes);
        task->iterations = iterations;
    }
    return ST_OK;
}

static bool accepts(st_Law law, int dim, bool symmetric)
{
    return sti_nsgs.accepts(law, dim, symmetric) || sti_lemke.accepts(law, dim, symmetric);
}

static void destroy(void *workspace)
{
    Auto *a = workspace;
    if (a == NULL) return;
    sti_lemke.destroy(a->lemke);
    sti_nsgs.destroy(a->nsgs);
    STI_RELEASE(&a->allocator, a->first_r, a->first_r_size);
    STI_RELEASE(&a->allocator, a->v, a->v_size);
    STI_RELEASE(&a->allocator, a->u, a->u_size);
    const st_Allocator allocator = a->allocator;
    sti_free(&allocator, a, 1, sizeof *a);
}

static st_Status create(const st_Allocator *allocator, void **workspace, st_Error *err)
{
    Auto *a = sti_alloc(allocator, 1, sizeof *a);
    if (a == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver auto");
    a->allocator = *allocator;
    st_Status status = sti_lemke.create(allocator, &a->lemke, err);
    if (status == ST_OK) status = sti_nsgs.create(allocator, &a->nsgs, err);
    if (status != ST_OK) {
        destroy(a);
        return status;
    }
    *workspace = a;
    return ST_OK;
}

const sti_SolverKind sti_auto = {
    .name = "auto",
    .help = "picks by law and size: lemke for small linear laws, else nsgs; falls back when one fails, and says so",
    .accepts = accepts,
    .create = create,
    .solve = solve,
    .destroy = destroy,
};
