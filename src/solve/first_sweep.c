/* first_sweep.c -- a few contacts, given as W and b: one or two sweeps before a solver is prepared.
 *
 * If W is nearly block diagonal, one sweep solves the problem. To reduce the problem, choose a solver and prepare its
 * arrays takes several times as long. Therefore a few contacts are swept directly with the columns of W, in arrays on
 * the stack, and residual.h decides whether they are solved. If not, a solver starts from r = 0; little time was lost.
 */
#include "problem/one_contact.h"
#include "reduce/residual.h"
#include "solve/solver.h"

enum { MOST_ROWS = 64, SWEEPS = 2 };

bool sti_first_sweep(const st_LocalProblem *local, const st_SolverDef *def, const st_Solution *solution,
                     st_SolveInfo *info)
{
    const int n = local->n_r, contacts = local->n_contacts;
    const st_Sparse *W = &local->W;
    sti_Local one[MOST_ROWS];
    double diagonal[MOST_ROWS * ST_MAX_DIM], rho[MOST_ROWS], r[MOST_ROWS], u[MOST_ROWS], then[MOST_ROWS], square = 0.0;
    int64_t start[MOST_ROWS + 1];
    if (n == 0 || n > MOST_ROWS || def->warm_start || def->progress != NULL) return false;

    start[0] = 0;
    for (int c = 0; c < contacts; c++) {
        const st_ContactLaw *contact = &local->contact[c];
        const int first = contact->first, dim = contact->dim;
        double *own = diagonal + start[c], trace = 0.0;
        if (sti_local_vertex_count(contact) > 0) return false; /* polygons need memory of their own */
        for (int k = 0; k < dim * dim; k++)
            own[k] = 0.0;
        for (int d = 0; d < dim; d++) {
            for (int64_t e = W->p[first + d]; e < W->p[first + d + 1]; e++)
                if (W->i[e] >= first && W->i[e] < first + dim) own[(W->i[e] - first) * dim + d] = W->x[e];
            trace += own[d * dim + d];
            r[first + d] = 0.0;
            u[first + d] = local->b[first + d];
        }
        rho[c] = dim / trace;
        start[c + 1] = start[c] + (int64_t)dim * dim;
        if (!(trace > 0.0) || !isfinite(rho[c])) return false;
        for (int d = 0; d < dim; d++)
            square += rho[c] * rho[c] * u[first + d] * u[first + d];
        sti_local_prepare(&one[c], contact, own, NULL);
    }
    sti_Judged judged = {.scale = sqrt(square)};

    int sweeps = 0;
    for (bool settled = false; !settled;) {
        double moved = 0.0; /* the change by contacts solved later, as part of the residual: rho |change of u| */
        if (sweeps++ == SWEEPS) return false;
        for (int c = 0; c < contacts; c++) {
            const int first = local->contact[c].first, dim = local->contact[c].dim;
            double b[ST_MAX_DIM], before[ST_MAX_DIM];
            for (int d = 0; d < dim; d++) {
                before[d] = r[first + d];
                b[d] = u[first + d];
                for (int e = 0; e < dim && sweeps > 1; e++)
                    b[d] -= one[c].W[d * dim + e] * r[first + e];
            }
            sti_local_solve(&one[c], b, r + first);
            for (int d = 0; d < dim; d++) {
                const double change = r[first + d] - before[d];
                for (int64_t e = W->p[first + d]; e < W->p[first + d + 1] && change != 0.0; e++)
                    u[W->i[e]] += W->x[e] * change;
            }
            for (int d = 0; d < dim; d++)
                then[first + d] = u[first + d];
        }
        for (int c = 0; c < contacts; c++) {
            const st_ContactLaw *contact = &local->contact[c];
            const bool is_open = contact->law != ST_LAW_BOUNDED && r[contact->first] == 0.0 && u[contact->first] >= 0.0;
            for (int j = contact->first; j < contact->first + contact->dim && !is_open; j++)
                moved += rho[c] * rho[c] * (u[j] - then[j]) * (u[j] - then[j]);
        }
        settled = moved <= def->tolerance * def->tolerance * square;
        if (moved > def->tolerance * square) return false; /* one more would square it: not enough */
    }

    for (int j = 0; j < n && sweeps > 1; j++) /* after one sweep it is the same to the bit */
        u[j] = local->b[j];
    for (int j = 0; j < n && sweeps > 1; j++)
        for (int64_t e = W->p[j]; e < W->p[j + 1]; e++)
            u[W->i[e]] += W->x[e] * r[j];
    const st_Problem problem = {.n_v = n, .n_r = n, .n_contacts = contacts, .contact = local->contact};
    const sti_Reduction reduction = {.problem = &problem,
                                     .all_errors = def->all_errors,
                                     .b = local->b,
                                     .W_diagonal = diagonal,
                                     .W_start = start,
                                     .rho = rho,
                                     .judged = &judged};
    st_Residual residual;
    sti_residual_at(&reduction, r, u, &residual);
    if (!(sti_residual_measure(&reduction, &residual) <= def->tolerance)) return false;
    if (!sti_residual_is_certain(&reduction, r, def->tolerance)) return false;
    memcpy(solution->r, r, (size_t)n * sizeof *r);
    if (solution->u != NULL) memcpy(solution->u, u, (size_t)n * sizeof *u);
    if (info != NULL)
        *info = (st_SolveInfo){.solver = sti_nsgs.name,
                               .converged = true,
                               .iterations = sweeps,
                               .start = -1.0,
                               .work = sweeps + 1.0,
                               .residual = residual};
    return true;
}
