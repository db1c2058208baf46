/* smoothed_laws.c -- see smoothed_laws.h. P is the rounded projection of x = r - rho u; with D = dP/dx
 *
 *     F = r - P(x),     A = I - D,     B = rho D,     N = -dP/dnu.
 */
#include "problem/smoothed_laws.h"

#include "problem/law.h"

enum { ROOT_STEPS = 60 };

typedef struct Scalar {
    double value, slope, by_radius, by_nu; /* of the proximal map: dP/dx, dP/dR, dP/dnu             */
} Scalar;

/* x >= 0 without its corner. The smaller root would cancel: it comes from the product. */
static Scalar smooth_positive(double x, double nu)
{
    const double root = hypot(x, 2.0 * nu);
    const double value = x >= 0.0 ? 0.5 * (x + root) : 2.0 * nu * nu / (root - x);
    return (Scalar){.value = value, .slope = value / root, .by_nu = 2.0 * nu / root};
}

/* The root of f in (lo, hi), from e: Newton's steps, bisected where they leave the bracket. f rises. */
typedef double (*Equation)(double e, const double *c, double *slope);

static double smoothed_root(Equation f, const double *c, double lo, double hi, double e)
{
    for (int k = 0; k < ROOT_STEPS; k++) {
        double slope = 0.0;
        const double value = f(e, c, &slope);
        if (value > 0.0)
            hi = e;
        else
            lo = e;
        double next = e - value / slope;
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (fabs(next - e) <= 4e-16 * fabs(next)) return next;
        e = next;
    }
    return e;
}

/* c = {s, R, nu}, s >= R: e = R - t with (s - R + e) e (2R - e) = 2 nu^2 (R - e). */
static double from_border(double e, const double *c, double *slope)
{
    const double a = c[0] - c[1] + e, b = e * (2.0 * c[1] - e), g = 2.0 * c[2] * c[2];
    *slope = b + a * (2.0 * c[1] - 2.0 * e) + g;
    return a * b - g * (c[1] - e);
}

/* c = {s, R, nu}, s < R: e = s - t with e (R^2 - (s - e)^2) = 2 nu^2 (s - e). */
static double from_inside(double e, const double *c, double *slope)
{
    const double t = c[0] - e, b = (c[1] - t) * (c[1] + t), g = 2.0 * c[2] * c[2];
    *slope = b + 2.0 * e * t + g;
    return e * b - g * t;
}

/* |q| for |x| = s >= 0 in the disk of radius R > 0. */
static Scalar in_disk(double s, double R, double nu)
{
    const double c[3] = {s, R, nu}, g = 2.0 * nu * nu;
    double t, gap; /* gap = R^2 - t^2 */
    if (!(s > 0.0)) {
        t = 0.0;
        gap = R * R;
    } else if (s >= R) {
        const double e = smoothed_root(from_border, c, 0.0, R, fmin(0.5 * R, g / (2.0 * (s - R) + nu)));
        t = R - e;
        gap = e * (2.0 * R - e);
    } else {
        const double e = smoothed_root(from_inside, c, 0.0, s, g * s / (g + R * R));
        t = s - e;
        gap = (R - t) * (R + t);
    }
    const double slope = 1.0 / (1.0 + g * (R * R + t * t) / (gap * gap));
    return (Scalar){.value = t,
                    .slope = slope,
                    .by_radius = slope * 2.0 * g * t * R / (gap * gap),
                    .by_nu = -slope * 4.0 * nu * t / gap};
}

/* One group of tangential components, |q| <= mu P_n. scale: sqrt(rho). */
static void disk(const double *x, int dim, const sti_Group *group, double nu, double scale, double *P, double *D,
                 double *N)
{
    const double *y = x + group->first, s = sti_group_length(y, group->count), R = group->mu * P[0];
    if (!(R > 0.0)) return;
    const Scalar q = in_disk(s, R, nu * scale);
    const double ratio = s > 0.0 ? q.value / s : q.slope;
    for (int k = 0; k < group->count; k++) {
        const double d = s > 0.0 ? y[k] / s : 0.0;
        const int row = group->first + k;
        P[row] = ratio * y[k];
        D[row * dim] = q.by_radius * d * group->mu * D[0];
        N[row] = -d * (q.by_nu * scale - q.by_radius * group->mu * N[0]);
        for (int l = 0; l < group->count; l++)
            D[row * dim + group->first + l] =
                (k == l ? ratio : 0.0) + (q.slope - ratio) * d * (s > 0.0 ? y[l] / s : 0.0);
    }
}

/* lo <= r <= hi, either of them infinite. */
static Scalar between(double x, double lo, double hi, double nu)
{
    if (isfinite(lo) && isfinite(hi)) {
        const double centre = 0.5 * (lo + hi), half = 0.5 * (hi - lo), side = x < centre ? -1.0 : 1.0;
        if (!(half > 0.0)) return (Scalar){.value = centre};
        Scalar q = in_disk(fabs(x - centre), half, nu);
        q.value = centre + side * q.value;
        q.by_nu *= side;
        return q;
    }
    if (!isfinite(lo) && !isfinite(hi)) return (Scalar){.value = x, .slope = 1.0};
    const double side = isfinite(lo) ? 1.0 : -1.0, limit = isfinite(lo) ? lo : hi;
    Scalar q = smooth_positive(side * (x - limit), nu);
    q.value = limit + side * q.value;
    q.by_nu *= side;
    return q;
}

void sti_smooth(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, double nu, double *F,
                double *A, double *B, double *N)
{
    const int dim = contact->dim;
    const double scale = sqrt(rho[0]);
    double x[ST_MAX_DIM] = {0}, P[ST_MAX_DIM] = {0}, D[ST_MAX_DIM * ST_MAX_DIM] = {0};
    sti_Group group[STI_MAX_GROUPS];
    const int n = sti_law_of(contact)->discs(contact, group);
    for (int k = 0; k < dim; k++) {
        x[k] = r[k] - rho[k] * u[k];
        N[k] = 0.0;
    }
    const Scalar normal = between(x[0], sti_law_lowest(contact), sti_law_highest(contact), nu * scale);
    P[0] = normal.value;
    D[0] = normal.slope;
    N[0] = -normal.by_nu * scale;
    for (int g = 0; g < n; g++)
        disk(x, dim, &group[g], nu, sqrt(rho[group[g].first]), P, D, N);
    for (int k = 0; k < dim; k++)
        F[k] = r[k] - P[k];
    for (int k = 0; k < dim * dim; k++) {
        A[k] = (k % (dim + 1) == 0 ? 1.0 : 0.0) - D[k];
        B[k] = rho[k % dim] * D[k];
    }
}
