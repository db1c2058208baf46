/* certify.c -- is r a solution, or is its small residual an effect of rounding?
 *
 * If the terms of u = W r + b are 1e16 times larger than b, b is lost in their rounding, and any r of that size seems
 * to solve the problem. In nearly all cases, a bound on |W||r| excludes this with one or two passes over r: W is
 * positive semi-definite, so |W_ij| <= sqrt(W_ii W_jj). Among free bodies W_ij is 0 unless contacts i and j share a
 * body, so the bound is a sum over bodies. If the bound is too large, v and u are computed again: residuals of momentum
 * and joints in double-double, one more solve for the correction of v, and u from the corrected v. Then u has as many
 * digits as a solution of the size of b needs.
 */
#include "reduce/reduce_memory.h"
#include "reduce/residual.h"

#include <float.h>

/* If the rounding of u is below this share of the tolerance, it is not computed again. */
static const double allowed_share = 0.1;

/* Can the squares of impulses and velocities be represented? Below 1e-154 they are 0, and any r seems a solution. */
static bool is_in_range(const sti_Reduction *reduction)
{
    static const double least = 1e-80, largest = 1e80;
    const st_Problem *p = reduction->problem;
    double most = 0.0, impulse = 0.0;                         /* of b, and of rho b */
    if (reduction->graph != NULL && !reduction->all_errors) { /* b is not there */
        impulse = sti_residual_scale(reduction);
        return impulse == 0.0 || (impulse >= least && impulse <= largest);
    }
    for (int c = 0; c < p->n_contacts; c++)
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim; j++) {
            most = sti_larger(fabs(reduction->b[j]), most);
            impulse = sti_larger(reduction->rho[c] * fabs(reduction->b[j]), impulse);
        }
    if (most == 0.0) return true; /* the residual is absolute */
    return most >= least && most <= largest && impulse >= least && impulse <= largest;
}

bool sti_residual_is_certain(const sti_Reduction *reduction, const double *r, double tolerance)
{
    if (!is_in_range(reduction)) return false;
    const st_Problem *p = reduction->problem;
    double push = 0.0, weights = 0.0, inverses = 0.0, b = 0.0, own = 0.0;
    for (int c = 0; c < p->n_contacts; c++) {
        const double rho = reduction->graph != NULL ? sti_graph_rho(reduction->graph, c) : reduction->rho[c];
        double square = 0.0;
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim; j++) {
            square += r[j] * r[j];
            if (reduction->all_errors) b += reduction->b[j] * reduction->b[j];
        }
        push += sqrt(square / rho);
        own += square; /* r - P(r - rho u^) rounds, too */
        weights += p->contact[c].dim * rho;
        inverses += p->contact[c].dim / rho;
    }
    const double scale = sti_residual_scale(reduction);
    const double natural = (sqrt(weights) * push + sqrt(own)) / (scale > 0.0 ? scale : 1.0);
    const double plain = (sqrt(inverses) * push + sqrt(own)) / (b > 0.0 ? sqrt(b) : 1.0);
    const double most = 4.0 * DBL_EPSILON * (reduction->all_errors ? fmax(natural, plain) : natural);
    return most <= allowed_share * tolerance; /* not for NaN */
}

/* The body or mechanism at a side of contact c; -1: the ground. */
static int node_of(const sti_Graph *graph, int c, int side)
{
    const sti_Alone *alone = sti_graph_alone(graph, c);
    if (alone != NULL) return alone->node[side];
    const int32_t node = graph->legs[2 * (ptrdiff_t)c + side];
    return node != graph->n_nodes ? node : -1;
}

/* The same by every velocity of every body, from the rows: sum |h_k| S_k, where S_k is the sum of all |h_k||r| on that
 * velocity. Ten times smaller in a stack, and ten times the time. Not for contacts on mechanisms.           */
static double rounding_by_rows(const sti_Reduction *reduction, const double *r, sti_NodeShare *share)
{
    enum { OWN_TERMS = 16 };
    const st_Problem *p = reduction->problem;
    const sti_Graph *graph = reduction->graph;
    const int32_t ground = (int32_t)graph->n_nodes;
    double square = 0.0, own = 0.0, rows[2][3][6];
    if (graph->n_alone > 0 || graph->turning) return INFINITY;
    for (int k = 0; k < graph->n_nodes; k++) {
        for (int i = 0; i < STI_NODE; i++)
            share[k].sum[i] = fabs(graph->v_free[STI_NODE * (ptrdiff_t)k + i]);
        share[k].terms = OWN_TERMS;
    }
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        sti_graph_rows(graph, c, rows);
        for (int d = 0; d < contact->dim; d++) {
            const double amount = fabs(r[contact->first + d]);
            own += amount * amount;
            for (int side = 0; side < 2 && amount > 0.0; side++) {
                const int32_t node = graph->legs[2 * (ptrdiff_t)c + side];
                if (node == ground) continue;
                share[node].terms++;
                for (int i = 0; i < 6; i++)
                    share[node].sum[i] += fabs(rows[side][d][i]) * amount;
            }
        }
    }
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        double error[3] = {0};
        sti_graph_rows(graph, c, rows);
        for (int side = 0; side < 2; side++) {
            const int32_t node = graph->legs[2 * (ptrdiff_t)c + side];
            for (int d = 0; d < contact->dim && node != ground; d++)
                for (int i = 0; i < 6; i++)
                    error[d] += share[node].terms * fabs(rows[side][d][i]) * share[node].sum[i];
        }
        const double slides = sqrt(error[1] * error[1] + error[2] * error[2]);
        error[0] += contact->mu * slides;
        const double rho = sti_graph_rho(graph, c);
        square += rho * rho * (error[0] * error[0] + slides * slides);
    }
    const double scale = sti_residual_scale(reduction);
    const double most = 0.5 * DBL_EPSILON * (sqrt(square) + 8.0 * sqrt(own)) / (scale > 0.0 ? scale : 1.0);
    return isnan(most) ? INFINITY : most;
}

/* Is r within the tolerance for any effect of rounding? A possible effect above allowed_share of the tolerance is added
 * to the residual. */
static st_Status is_certain(sti_Reduction *reduction, const double *r, double tolerance, bool *certain, st_Error *err)
{
    sti_ReductionMemory *m = reduction->memory;
    st_Residual *judged = &reduction->judged->residual;
    *certain = true;
    if (reduction->graph == NULL || reduction->all_errors) {
        *certain = sti_residual_is_certain(reduction, r, tolerance);
        return ST_OK;
    }
    const sti_Graph *graph = reduction->graph;
    const int n = graph->n_nodes + (reduction->problem->n_l > 0 ? graph->mobility.n : 0);
    GROW(share, n);
    enum { OWN_TERMS = 32 };
    const st_Problem *p = reduction->problem;
    double sum = 0.0, own = 0.0;
    for (int k = 0; k < n; k++) { /* of mechanisms v_free is in w */
        const double *v = graph->v_free + STI_NODE * (ptrdiff_t)k;
        double square = 0.0;
        for (int i = 0; i < STI_NODE && k < graph->n_nodes; i++)
            square += v[i] * v[i];
        m->share[k] = (sti_NodeShare){.push = sqrt(square), .terms = OWN_TERMS};
    }
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        double square = 0.0;
        for (int j = contact->first; j < contact->first + contact->dim; j++)
            square += r[j] * r[j];
        own += square;
        const double push = sqrt(square * contact->dim / sti_graph_rho(graph, c));
        for (int side = 0; side < 2 && square > 0.0; side++) {
            const int node = node_of(graph, c, side);
            if (node < 0) continue;
            m->share[node].push += push;
            m->share[node].terms += contact->dim;
        }
    }
    for (int c = 0; c < p->n_contacts; c++) {
        const st_ContactLaw *contact = &p->contact[c];
        double error = 0.0;
        for (int side = 0; side < 2; side++) {
            const int node = node_of(graph, c, side);
            if (node >= 0) error += m->share[node].terms * m->share[node].push;
        }
        error *= 1.0 + (contact->law == ST_LAW_BOUNDED ? 0.0 : contact->mu + contact->mu_roll + contact->mu_spin);
        sum += contact->dim * sti_graph_rho(graph, c) * error * error;
    }
    const double scale = sti_residual_scale(reduction);
    double most = 0.5 * DBL_EPSILON * (sqrt(sum) + 8.0 * sqrt(own)) / (scale > 0.0 ? scale : 1.0);
    if (isnan(most)) most = INFINITY;
    if (most <= allowed_share * tolerance) return ST_OK;
    if (judged->natural + most > tolerance) most = rounding_by_rows(reduction, r, m->share);
    *certain = judged->natural + most <= tolerance;
    if (*certain) judged->rounding = most;
    return ST_OK;
}

typedef struct Exact {
    sti_Dd *sum;             /* n_v, n_r or n_l: whatever is being added up                            */
    double *rest_v, *rest_l; /* residuals of momentum and of the joints                              */
    double *step_v, *step_l; /* the corrections                                                      */
    double *u;
} Exact;

/* u = H'(v + step) + C r + w, and its uncertainty in the norm of `natural`: a millionth of the
 * correction.                                                                                       */
static double exact_velocity(const sti_Reduction *reduction, const double *r, const double *v, Exact *x)
{
    const st_Problem *p = reduction->problem;
    const double *c = p->C.x;
    double uncertain = 0.0;
    for (int contact = 0; contact < p->n_contacts; contact++)
        for (int d = 0; d < p->contact[contact].dim; d++) {
            const int j = p->contact[contact].first + d;
            double moved = 0.0;
            x->sum[j] = sti_dd(p->w[j]);
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++) {
                const int i = p->H.i[e];
                x->sum[j] = sti_dd_add_product(x->sum[j], p->H.x[e], v[i]);
                x->sum[j] = sti_dd_add_product(x->sum[j], p->H.x[e], x->step_v[i]);
                moved += fabs(p->H.x[e] * x->step_v[i]);
            }
            uncertain += reduction->rho[contact] * reduction->rho[contact] * moved * moved;
        }
    for (int k = 0; k < p->C.n_blocks; k++)
        for (int i = p->C.first[k]; i < p->C.first[k + 1]; i++)
            for (int j = p->C.first[k]; j < p->C.first[k + 1]; j++)
                x->sum[i] = sti_dd_add_product(x->sum[i], *c++, r[j]);
    for (int j = 0; j < p->n_r; j++)
        x->u[j] = sti_dd_value(x->sum[j]);
    return 1e-6 * sqrt(uncertain);
}

st_Status sti_residual_certify(sti_Reduction *reduction, const double *r, double tolerance, st_Residual *residual,
                               st_Error *err)
{
    if (!(sti_residual_measure(reduction, residual) <= tolerance)) return ST_OK; /* nothing is claimed */
    bool certain;
    STI_TRY(is_certain(reduction, r, tolerance, &certain, err));
    *residual = reduction->judged->residual;
    if (certain) return ST_OK;
    STI_TRY(
        sti_reduction_columns(reduction, err)); /* H, rho and b of a graph; a problem with rows if there were none */
    const st_Problem *p = reduction->problem;
    sti_ReductionMemory *m = reduction->memory;
    const int64_t n_v = p->n_v, n_r = p->n_r, n_l = p->n_l;
    GROW(exact_sum, n_v + n_r + n_l);
    GROW(exact, 2 * (n_v + n_l) + n_r);
    Exact x = {.sum = m->exact_sum, .rest_v = m->exact};
    x.step_v = x.rest_v + n_v;
    x.rest_l = x.step_v + n_v;
    x.step_l = x.rest_l + n_l;
    x.u = x.step_l + n_l;
    sti_Judged *judged = reduction->judged;
    double uncertain = 0.0;
    if (m->local != NULL) {
        const st_Sparse *W = &m->local->W;
        for (int j = 0; j < p->n_r; j++)
            x.sum[j] = sti_dd(m->local->b[j]);
        for (int j = 0; j < p->n_r; j++)
            for (int64_t e = W->p[j]; e < W->p[j + 1]; e++)
                x.sum[W->i[e]] = sti_dd_add_product(x.sum[W->i[e]], W->x[e], r[j]);
        for (int j = 0; j < p->n_r; j++)
            x.u[j] = sti_dd_value(x.sum[j]);
    } else {
        /* The residuals of A v - G l = f + H r and G'v + Cb l = -g. */
        sti_Dd *sum = x.sum;
        const double *a = p->A.x;
        for (int i = 0; i < p->n_v; i++)
            sum[i] = sti_dd(p->f[i]);
        for (int j = 0; j < p->n_r; j++)
            for (int64_t e = p->H.p[j]; e < p->H.p[j + 1]; e++)
                sum[p->H.i[e]] = sti_dd_add_product(sum[p->H.i[e]], p->H.x[e], r[j]);
        for (int j = 0; j < p->n_l; j++)
            for (int64_t e = p->G.p[j]; e < p->G.p[j + 1]; e++)
                sum[p->G.i[e]] = sti_dd_add_product(sum[p->G.i[e]], p->G.x[e], judged->l[j]);
        for (int k = 0; k < p->A.n_blocks; k++) {
            const int first = p->A.first[k], end = p->A.first[k + 1];
            const bool diagonal = p->A.diagonal != NULL && p->A.diagonal[k];
            for (int i = first; i < end; i++)
                for (int j = diagonal ? i : first; j < (diagonal ? i + 1 : end); j++)
                    sum[i] = sti_dd_add_product(sum[i], -*a++, judged->v[j]);
        }
        for (int i = 0; i < p->n_v; i++)
            x.rest_v[i] = sti_dd_value(sum[i]);
        for (int j = 0; j < p->n_l; j++) {
            sum[j] = sti_dd(-p->g[j]);
            for (int64_t e = p->G.p[j]; e < p->G.p[j + 1]; e++)
                sum[j] = sti_dd_add_product(sum[j], -p->G.x[e], judged->v[p->G.i[e]]);
        }
        const double *c = p->Cb.x;
        for (int k = 0; k < p->Cb.n_blocks; k++)
            for (int i = p->Cb.first[k]; i < p->Cb.first[k + 1]; i++)
                for (int j = p->Cb.first[k]; j < p->Cb.first[k + 1]; j++)
                    sum[i] = sti_dd_add_product(sum[i], -*c++, judged->l[j]);
        for (int j = 0; j < p->n_l; j++)
            x.rest_l[j] = sti_dd_value(sum[j]);
        sti_saddle_solve(m->saddle, STI_WHOLE, x.rest_v, x.rest_l, x.step_v, x.step_l);
        uncertain = exact_velocity(reduction, r, judged->v, &x);
        for (int i = 0; i < p->n_v; i++)
            judged->v[i] += x.step_v[i];
        for (int j = 0; j < p->n_l; j++)
            judged->l[j] += x.step_l[j];
    }
    const double joint = m->local == NULL ? sti_saddle_joint_residual(m->saddle, judged->v, judged->l) : 0.0;
    const double scale = sti_residual_scale(reduction);
    double push = 0.0, b = 0.0;
    for (int j = 0; j < p->n_r; j++) {
        push += r[j] * r[j];
        b += reduction->b[j] * reduction->b[j];
    }
    push = 2.0 * DBL_EPSILON * sqrt(push); /* the laws' own rounding, of r - P(r - rho u^) */
    sti_residual_at(reduction, r, x.u, &judged->residual);
    judged->residual.rounding = (uncertain + push) / (scale > 0.0 ? scale : 1.0);
    if (reduction->all_errors)
        judged->residual.rounding = fmax(judged->residual.rounding, push / (b > 0.0 ? sqrt(b) : 1.0));
    if (!is_in_range(reduction)) judged->residual.rounding = INFINITY;
    judged->residual.joint = p->n_l > 0 ? joint : 0.0;
    memcpy(judged->u, x.u, (size_t)p->n_r * sizeof *judged->u);
    *residual = judged->residual;
    return ST_OK;
}
