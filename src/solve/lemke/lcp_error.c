/* lcp_error.c -- the independent judge of complementarity problems: the error of z, from M and q alone, in
 * double-double arithmetic with a bound on its rounding (reasons in fclib/fclib_error.c). */
#include "math/double_double.h"
#include "solve/lemke/lcp.h"

#include <float.h>
#include <stiction/friction.h>

double sti_lcp_rho(const st_LcpProblem *p)
{
    double trace = 0.0, largest = 0.0;
    for (int j = 0; j < p->n; j++)
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++) {
            largest = fmax(largest, fabs(p->M.x[e]));
            if (p->M.i[e] == j) trace += fabs(p->M.x[e]);
        }
    return trace > 0.0 ? p->n / trace : largest > 0.0 ? 1.0 / largest : 1.0;
}

st_Status st_lcp_error(const st_LcpProblem *p, const double *z, double *w, st_LcpError *out, st_Error *err)
{
    if (p == NULL || z == NULL || out == NULL || p->q == NULL || p->M.n_cols != p->n || p->M.n_rows != p->n)
        return sti_fail(err, ST_ERR_ARGUMENT, "the problem, z or the error's destination is missing");
    const st_Allocator allocator = st_default_allocator();
    const int64_t n = p->n;
    sti_Dd *exact = sti_alloc(&allocator, n + 1, sizeof *exact);
    double *size = sti_alloc(&allocator, n + 1, sizeof *size);
    if (exact == NULL || size == NULL) {
        sti_free(&allocator, exact, n + 1, sizeof *exact);
        sti_free(&allocator, size, n + 1, sizeof *size);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: the error of %d rows", p->n);
    }
    double square = 0.0, plain = 0.0, scaled = 0.0, off = 0.0, most = 0.0;
    for (int i = 0; i < p->n; i++) {
        exact[i] = sti_dd(p->q[i]);
        size[i] = fabs(p->q[i]);
        square += p->q[i] * p->q[i];
        most = fmax(most, fmax(fabs(p->q[i]), fabs(z[i])));
    }
    for (int j = 0; j < p->n; j++)
        for (int64_t e = p->M.p[j]; e < p->M.p[j + 1]; e++) {
            exact[p->M.i[e]] = sti_dd_add_product(exact[p->M.i[e]], p->M.x[e], z[j]);
            size[p->M.i[e]] += fabs(p->M.x[e] * z[j]);
        }
    const double rho = sti_lcp_rho(p), scale = square > 0.0 ? sqrt(square) : 1.0;
    *out = (st_LcpError){0};
    for (int i = 0; i < p->n; i++) {
        const bool is_free = p->free != NULL && p->free[i];
        const double wi = sti_dd_value(exact[i]), bound = 8.0 * STI_DD_UNIT * (double)n * size[i];
        const double miss = is_free || wi < z[i] ? wi : z[i];
        const double miss_rho = is_free || rho * wi < z[i] ? rho * wi : z[i];
        plain += miss * miss;
        scaled += miss_rho * miss_rho;
        off += bound * bound;
        if (w != NULL) w[i] = wi;
        if (is_free) continue;
        out->violation = fmax(out->violation, -z[i]);
        out->complementarity += fabs(z[i] * wi);
    }
    out->error = sqrt(plain) / scale;
    out->error_rho = sqrt(scaled) / (rho * scale);
    out->rounding = sqrt(off) / scale + 4.0 * DBL_EPSILON * (double)n * fmax(out->error, out->error_rho);
    out->certified = fmax(out->error, out->error_rho) + out->rounding;
    /* Squares, and the lower halves of double-doubles, may be lost outside this range. */
    const bool in_range = scale >= 1e-100 && scale <= 1e100 && rho * scale >= 1e-100 && rho * scale <= 1e100;
    if (!in_range || (square == 0.0 && most > 0.0)) out->rounding = HUGE_VAL;
    if (isinf(out->rounding) || isnan(out->error) || isnan(out->error_rho) || isnan(out->rounding))
        out->certified = HUGE_VAL;
    sti_free(&allocator, exact, n + 1, sizeof *exact);
    sti_free(&allocator, size, n + 1, sizeof *size);
    return ST_OK;
}
