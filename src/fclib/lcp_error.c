/* lcp_error.c -- the independent judge of complementarity problems: how good a z is, from M and q alone. */
#include "fclib/fclib.h"

st_Status st_lcp_error(const st_LcpProblem *p, const double *z, double *w, st_LcpError *out, st_Error *err)
{
    if (p == NULL || z == NULL || out == NULL || p->q == NULL || p->M.n_cols != p->n || p->M.n_rows != p->n)
        return sti_fail(err, ST_ERR_ARGUMENT, "the problem, z or the error's destination is missing");
    const st_Allocator allocator = st_default_allocator();
    double *work = sti_alloc(&allocator, (int64_t)p->n + 1, sizeof *work);
    if (work == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: the error of %d rows", p->n);
    double trace = 0.0, scale = 0.0, plain = 0.0, scaled = 0.0;
    for (int i = 0; i < p->n; i++) {
        work[i] = p->q[i];
        scale += p->q[i] * p->q[i];
    }
    for (int j = 0; j < p->n; j++)
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++) {
            work[p->M.i[e]] += p->M.x[e] * z[j];
            if (p->M.i[e] == j) trace += fabs(p->M.x[e]);
        }
    const double rho = trace > 0.0 ? p->n / trace : 1.0;
    *out = (st_LcpError){0};
    for (int i = 0; i < p->n; i++) {
        const bool is_free = p->free != NULL && p->free[i];
        const double miss = is_free || work[i] < z[i] ? work[i] : z[i];
        const double miss_rho = is_free || rho * work[i] < z[i] ? rho * work[i] : z[i];
        plain += miss * miss;
        scaled += miss_rho * miss_rho;
        if (is_free) continue;
        out->violation = fmax(out->violation, -z[i]);
        out->complementarity += fabs(z[i] * work[i]);
    }
    out->error = sqrt(scale > 0.0 ? plain / scale : plain);
    out->error_rho = sqrt(scale > 0.0 ? scaled / scale : scaled) / rho;
    if (w != NULL) memcpy(w, work, (size_t)p->n * sizeof *w);
    sti_free(&allocator, work, (int64_t)p->n + 1, sizeof *work);
    return ST_OK;
}
