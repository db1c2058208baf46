/* residual.c -- how far an r is from solving the step problem; docs/methods.md 12.
 *
 *     e = | r - P(r - rho u^) |_2 / max(| rho b |_2, | rho u_scale |_2),     rho_i = dim_i / trace(W_ii)
 *
 * u is recomputed from r through the unreduced equations (momentum and joints, with refinement), so that
 * an error of the reduction counts, too. For many contacts between free bodies, where only masses are eliminated, it is
 * computed in the lanes of their graph, with the same rows and formulas. The result also has the physical figures:
 * penetration, violation of the cone, complementarity.
 */
#include "reduce/residual.h"

#include "base/tolerance.h"
#include "pile/pile.h"
#include "problem/law.h"

static double square_norm(const double *x, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sum;
}

/* | rho b |, or 0 if b is only the rounding of its terms H'v_free and w: rounding is no scale (two bodies that fly side
 * by side). At least | rho u_scale |: the caller may know the size of velocities that matter. */
double sti_residual_scale(const sti_Reduction *reduction)
{
    const st_Problem *p = reduction->problem;
    sti_Judged *judged = reduction->judged;
    double square = 0.0, terms = 0.0, least = 0.0;
    if (judged->scale >= 0.0) return judged->scale;
    for (int c = 0; c < p->n_contacts; c++)
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim; j++) {
            double term = fabs(p->w[j]);
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                term += fabs(p->H.x[e] * reduction->v_free[p->H.i[e]]);
            square += reduction->rho[c] * reduction->rho[c] * reduction->b[j] * reduction->b[j];
            terms += reduction->rho[c] * reduction->rho[c] * term * term;
            least += reduction->rho[c] * reduction->rho[c] * p->u_scale * p->u_scale;
        }
    judged->scale = sqrt(fmax(least, sqrt(square) > STI_NOISE * sqrt(terms) ? square : 0.0));
    return judged->scale;
}

/* The measures of problem files (FCLIB collections) are | r - P(r - rho u^) | / (rho |b|) with rho = 1 and with
 * rho = 1/mean(diag W).                                                                            */
typedef struct Uniform {
    double rho[2], sum[2]; /* sums of squares */
} Uniform;

/* Adds contact c to all of these; uniform may be NULL. */
static inline void judge_contact(const st_Problem *p, int c, const double *r, const double *u, double rho,
                                 sti_GraphError *error, Uniform *uniform, st_Residual *out)
{
    const st_ContactLaw *contact = &p->contact[c];
    const int dim = contact->dim;
    const double *rc = r + contact->first, *uc = u + contact->first;
    const double with[3] = {rho, uniform != NULL ? uniform->rho[0] : 0.0, uniform != NULL ? uniform->rho[1] : 0.0};
    double natural[3 * ST_MAX_DIM];
    sti_law_naturals(contact, rc, uc, with, uniform != NULL ? 3 : 1, natural);
    const double share = square_norm(natural, dim);
    error->sum += share;
    if (share > error->worst || !(share >= 0.0)) { /* NaN is the worst of all */
        error->worst = share;
        out->worst_contact = c;
    }
    for (int k = 0; k < 2 && uniform != NULL; k++)
        uniform->sum[k] += square_norm(natural + (ptrdiff_t)(k + 1) * dim, dim);
    /* | r - P(r) |: box is no fixed set, its projection takes r_n as it is and clips the rest */
    double outside[ST_MAX_DIM] = {0};
    for (int k = 0; k < dim; k++)
        outside[k] = rc[k];
    sti_law_project(contact, outside);
    for (int k = 0; k < dim; k++)
        outside[k] -= rc[k];
    out->cone_violation = sti_larger(sqrt(square_norm(outside, dim)), out->cone_violation);
    out->complementarity += sti_law_undone(contact, rc, uc);
}

void sti_residual_contact(const st_Problem *p, int c, const double *r, const double *u, double rho,
                          sti_GraphError *error, st_Residual *out)
{
    judge_contact(p, c, r, u, rho, error, NULL, out);
}

static Uniform begin_uniform(const sti_Reduction *reduction)
{
    const st_Problem *p = reduction->problem;
    double trace = 0.0;
    for (int c = 0; c < p->n_contacts && reduction->graph != NULL; c++)
        trace += p->contact[c].dim / reduction->rho[c];
    for (int c = 0; c < p->n_contacts && reduction->graph == NULL; c++)
        for (int d = 0; d < p->contact[c].dim; d++)
            trace += reduction->W_diagonal[reduction->W_start[c] + (int64_t)d * (p->contact[c].dim + 1)];
    return (Uniform){.rho = {1.0, trace > 0.0 ? p->n_r / trace : 1.0}};
}

static void close_judgement(const sti_Reduction *reduction, const sti_GraphError *error, const Uniform *uniform,
                            st_Residual *out)
{
    const double scale = sti_residual_scale(reduction);
    out->natural = scale > 0.0 ? sqrt(error->sum) / scale : sqrt(error->sum);
    if (!reduction->all_errors) return; /* a simulation needs none of the others, and they cost as much again */
    const double b = sqrt(square_norm(reduction->b, reduction->problem->n_r)), rho_b = uniform->rho[1] * b;
    out->error = b > 0.0 ? sqrt(uniform->sum[0]) / b : sqrt(uniform->sum[0]);
    out->error_rho = rho_b > 0.0 ? sqrt(uniform->sum[1]) / rho_b : sqrt(uniform->sum[1]);
}

void sti_residual_at(const sti_Reduction *reduction, const double *r, const double *u, st_Residual *out)
{
    sti_GraphError error = {0};
    Uniform uniform = {0};
    if (reduction->all_errors) uniform = begin_uniform(reduction);
    *out = (st_Residual){.worst_contact = -1};
    for (int c = 0; c < reduction->problem->n_contacts; c++)
        judge_contact(reduction->problem, c, r, u, reduction->rho[c], &error, reduction->all_errors ? &uniform : NULL,
                      out);
    close_judgement(reduction, &error, &uniform, out);
}

static void copy_out(double *to, const double *from, int n)
{
    if (to != NULL && n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

void sti_residual_give(const sti_Reduction *reduction)
{
    sti_Judged *judged = reduction->judged;
    if (judged->in_lanes) sti_graph_give_judged(reduction->graph, judged->v, judged->u);
    judged->in_lanes = false;
}

/* First the lanes, then the equations of mechanisms, then single contacts, with the rows of the problem and the
 * velocities that follow from joints and impulses. */
static void judge_lanes(const sti_Reduction *reduction, const double *r, bool of_sweeps)
{
    const st_Problem *p = reduction->problem;
    const sti_Graph *graph = reduction->graph;
    sti_Judged *judged = reduction->judged;
    st_Residual *found = &judged->residual;
    sti_GraphError error = sti_graph_judge(reduction->graph, of_sweeps ? NULL : r, found);
    judged->in_lanes = true;
    if (p->n_l > 0 || graph->n_alone > 0 || reduction->all_errors) sti_residual_give(reduction);
    if (p->n_l > 0) found->joint = sti_reduction_mechanisms(reduction, r, judged->v, judged->l);
    for (int k = 0; k < graph->n_alone; k++) {
        const sti_Alone *alone = &graph->alone[k];
        const st_ContactLaw *contact = &p->contact[alone->contact];
        for (int row = contact->first; row < contact->first + contact->dim; row++) {
            judged->u[row] = p->w[row] + alone->C[row - contact->first] * r[row];
            for (int64_t e = p->H.p[row]; e < p->H.p[row + 1]; e++)
                judged->u[row] += p->H.x[e] * judged->v[p->H.i[e]];
        }
        sti_residual_contact(p, alone->contact, r, judged->u, sti_graph_rho(graph, alone->contact), &error, found);
    }
    Uniform uniform = {0};
    if (reduction->all_errors) uniform = begin_uniform(reduction);
    for (int c = 0; c < p->n_contacts && reduction->all_errors; c++) {
        const int first = p->contact[c].first, dim = p->contact[c].dim;
        double natural[2 * ST_MAX_DIM];
        sti_law_naturals(&p->contact[c], r + first, judged->u + first, uniform.rho, 2, natural);
        for (int k = 0; k < 2; k++)
            uniform.sum[k] += square_norm(natural + (ptrdiff_t)k * dim, dim);
    }
    close_judgement(reduction, &error, &uniform, found);
}

/* The residual of the same r is needed several times: by the solver at its start and end, by `auto`, and by solver.c.
 * The last result is therefore stored. */
static void judge(const sti_Reduction *reduction, const double *r, bool of_sweeps)
{
    const st_Problem *p = reduction->problem;
    sti_Judged *judged = reduction->judged;
    if (judged->known && (p->n_r == 0 || memcmp(judged->r, r, (size_t)p->n_r * sizeof *r) == 0)) return;
    if (reduction->graph != NULL) {
        judge_lanes(reduction, r, of_sweeps);
    } else {
        const double joint = sti_reduction_velocity(reduction, r, judged->v, judged->l);
        const double *x = p->C.x;
        for (int j = 0; j < p->n_r; j++) { /* u = H'v + C r + w, by the problem's own matrices */
            double sum = p->w[j];
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                sum += p->H.x[e] * judged->v[p->H.i[e]];
            judged->u[j] = sum;
        }
        for (int k = 0; k < p->C.n_blocks; k++)
            for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++)
                for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                    judged->u[i] += *x++ * r[j];
        sti_residual_at(reduction, r, judged->u, &judged->residual);
        judged->residual.joint = joint;
    }
    sti_team_copy(reduction->threads, judged->r, r, p->n_r);
    judged->known = true;
}

void sti_residual_of_sweeps(const sti_Reduction *reduction, const double *r, st_Residual *out)
{
    judge(reduction, r, true);
    *out = reduction->judged->residual;
}

void sti_residual(const sti_Reduction *reduction, const double *r, double *v, double *l, double *u, st_Residual *out)
{
    const st_Problem *p = reduction->problem;
    const sti_Judged *judged = reduction->judged;
    judge(reduction, r, false);
    if (v != NULL || u != NULL) sti_residual_give(reduction);
    copy_out(v, judged->v, p->n_v);
    copy_out(l, judged->l, p->n_l);
    copy_out(u, judged->u, p->n_r);
    *out = judged->residual;
}

static double largest(const double *x, int n)
{
    double most = 0.0;
    for (int k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

bool sti_joints_are_met(const st_Problem *problem, const double *v, double joint, double tolerance, bool strict)
{
    if (joint == 0.0) return true;
    const double relative = strict ? tolerance : fmax(tolerance, STI_JOINT_NOISE);
    const double speed = largest(v, problem->n_v) + largest(problem->g, problem->n_l);
    if (joint <= relative * speed) return true;

    /* The largest velocity that the forces would give one coordinate on its own: in a chain that hangs at rest, the
     * speed that its joints cancel. */
    const st_BlockDiag *A = &problem->A;
    const double *a = A->x;
    double cancelled = 0.0;
    for (int k = 0; k < A->n_blocks; k++) {
        const int first = A->first[k], n = A->first[k + 1] - first;
        const bool diagonal = A->diagonal != NULL && A->diagonal[k];
        for (int i = 0; i < n; i++)
            cancelled = fmax(cancelled, fabs(problem->f[first + i] / a[diagonal ? i : i * (n + 1)]));
        a += diagonal ? n : n * n;
    }
    return joint <= relative * (speed + cancelled);
}

/* Reduces the given problem and computes the residual of r. */
static st_Status judge_all(const st_Problem *problem, const st_LocalProblem *local, const double *r, st_Residual *out,
                           st_Error *err)
{
    const st_Allocator allocator = st_default_allocator();
    sti_Reduction *reduction = NULL;
    st_Status status = sti_reduction_create(&allocator, &reduction, err);
    if (status == ST_OK) reduction->all_errors = true;
    if (status == ST_OK && local != NULL) status = sti_reduce_local(reduction, local, err);
    if (status == ST_OK && local == NULL) status = sti_reduce(reduction, problem, err);
    if (status == ST_OK) sti_residual(reduction, r, NULL, NULL, NULL, out);
    if (status == ST_OK) /* at least one digit of it */
        status = sti_residual_certify(reduction, r, sti_residual_measure(reduction, out), out, err);
    sti_reduction_destroy(reduction);
    return status;
}

static st_Status check_r(const double *r, int n_r, const st_Residual *out, st_Error *err)
{
    if (out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the residual's destination is NULL");
    if (r == NULL && n_r > 0) return sti_fail(err, ST_ERR_ARGUMENT, "r is missing: NULL, expected %d numbers", n_r);
    for (int j = 0; j < n_r; j++)
        if (!isfinite(r[j])) return sti_fail(err, ST_ERR_ARGUMENT, "r[%d] is %g, must be finite", j, r[j]);
    return ST_OK;
}

st_Status st_problem_residual(const st_Problem *problem, const double *r, st_Residual *out, st_Error *err)
{
    STI_TRY(st_problem_check(problem, err));
    STI_TRY(check_r(r, problem->n_r, out, err));
    return judge_all(problem, NULL, r, out, err);
}

st_Status st_local_residual(const st_LocalProblem *problem, const double *r, st_Residual *out, st_Error *err)
{
    STI_TRY(st_local_check(problem, err));
    STI_TRY(check_r(r, problem->n_r, out, err));
    return judge_all(NULL, problem, r, out, err);
}
