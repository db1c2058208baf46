/* law_rows.c -- laws of one row: contacts without friction, and rows with limits (motors, joint friction, limits). */
#include "problem/law.h"
#include "problem/one_contact.h"

/* P and dP/dx of lo <= x <= hi. */
static void clip_slope(double x, double lo, double hi, double *P, double *D)
{
    *P = sti_law_clip(x, lo, hi);
    *D = x < lo || x > hi ? 0.0 : 1.0;
}

enum { ONE_ROW = 1u << 1 };

static int no_discs(const st_ContactLaw *contact, sti_Group group[STI_MAX_GROUPS])
{
    (void)contact, (void)group;
    return 0;
}

/* ------------------------------------------------------------------ frictionless: 0 <= r _|_ u >= 0 */

static void project_positive(const st_ContactLaw *contact, double *x)
{
    (void)contact;
    x[0] = fmax(0.0, x[0]);
}

static void slope_positive(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    (void)contact;
    clip_slope(x[0], 0.0, HUGE_VAL, P, D);
}

static void prepare_frictionless(sti_Local *local, double mean)
{
    (void)mean;
    local->solve = sti_local_frictionless;
}

const sti_LawKind sti_law_frictionless = {
    .name = "frictionless",
    .dims = {[STI_LAW_ANY] = ONE_ROW,
             [STI_LAW_LINEAR] = ONE_ROW,
             [STI_LAW_CONIC] = ONE_ROW,
             [STI_LAW_FIXED] = ONE_ROW,
             [STI_LAW_SMOOTH] = ONE_ROW},
    .project = project_positive,
    .slope = slope_positive,
    .prepare = prepare_frictionless,
    .discs = no_discs,
};

/* ------------------------------------------------------------------ bounded: lo <= r <= hi */

static st_Status check_limits(const st_ContactLaw *c, int index, st_Error *err)
{
    if (!(c->lo <= c->hi))
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: limits are lo %g, hi %g, must be lo <= hi", index, c->lo,
                        c->hi);
    if (c->lo == HUGE_VAL || c->hi == -HUGE_VAL)
        return sti_fail(err, ST_ERR_ARGUMENT, "contact %d: limits lo %g, hi %g leave no finite impulse", index, c->lo,
                        c->hi);
    return ST_OK;
}

static void project_limits(const st_ContactLaw *contact, double *x)
{
    x[0] = sti_law_clip(x[0], contact->lo, contact->hi);
}

static void slope_limits(const st_ContactLaw *contact, const double *x, double *P, double *D)
{
    clip_slope(x[0], contact->lo, contact->hi, P, D);
}

/* A row does work at its limits: the distance from the limit on the side given by the sign of u counts. */
static double undone_limits(const st_ContactLaw *contact, const double *r, const double *u)
{
    const double limit = u[0] > 0.0 ? contact->lo : contact->hi;
    return u[0] == 0.0 ? 0.0 : isfinite(limit) ? fabs((r[0] - limit) * u[0]) : fabs(r[0] * u[0]);
}

/* As sti_law_naturals, for one row. */
static bool naturals_limits(const st_ContactLaw *contact, const double *r, const double *u, const double *rho, int n,
                            double *out)
{
    for (int j = 0; j < n; j++) {
        const double shifted = rho[j] * u[0], x = r[0] - shifted, P = sti_law_clip(x, contact->lo, contact->hi);
        out[j] = r[0] * r[0] > shifted * shifted ? shifted + (x - P) : r[0] - P;
    }
    return true;
}

static void prepare_bounded(sti_Local *local, double mean)
{
    (void)mean;
    local->solve = sti_local_bounded;
}

const sti_LawKind sti_law_bounded = {
    .name = "bounded",
    .dims = {[STI_LAW_ANY] = ONE_ROW,
             [STI_LAW_LINEAR] = ONE_ROW,
             [STI_LAW_CONIC] = ONE_ROW,
             [STI_LAW_FIXED] = ONE_ROW,
             [STI_LAW_SMOOTH] = ONE_ROW},
    .has_limits = true,
    .check = check_limits,
    .project = project_limits,
    .naturals = naturals_limits,
    .undone = undone_limits,
    .slope = slope_limits,
    .prepare = prepare_bounded,
    .discs = no_discs,
};
