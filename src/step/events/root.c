/* step/events/root.c -- a bracketed root by the ITP method: interpolate, truncate, project (Oliveira & Takahashi 2020).
 *
 * Event functions have kinks and jumps at their roots: the slopes before and after sticking differ, and loads of
 * redundant contacts jump. ITP needs at most one evaluation more than bisection, log2(1/small_s) + 1, and converges
 * superlinearly if F is smooth. Its next point is the false position, moved towards the middle by k1 (hi - lo)^2, and
 * kept so near to the middle that the bound holds. The result is the lower end of the last bracket, before the event.
 */
#include "step/events/events.h"
#include "step/step.h"

#define K1 0.2 /* relative to the first bracket */

/* The next place; `slack`: its largest distance from the middle. */
static double next_place(double lo, double hi, double F_lo, double F_hi, double first, double slack)
{
    double width = hi - lo, middle = 0.5 * (lo + hi), falsi = (lo * F_hi - hi * F_lo) / (F_hi - F_lo);
    if (!(falsi > lo && falsi < hi)) return middle; /* also if values of F are infinite */
    double towards = middle > falsi ? 1.0 : -1.0, truncated = K1 / first * width * width;
    double place = truncated <= fabs(middle - falsi) ? falsi + towards * truncated : middle;
    return fabs(place - middle) <= slack ? place : middle - towards * slack;
}

st_Status sti_find_root(sti_Function *function, void *ctx, double lo, double hi, double F_lo, double F_hi,
                        double small_s, double small_F, double *root, st_Error *err)
{
    const double first = hi - lo;
    const int most = 1 + (int)ceil(log2(fmax(first / small_s, 2.0)));
    double reach = 0.5 * small_s * exp2(most); /* half the widest bracket that bisection could have */
    for (int round = 0; round < 200 && hi - lo > small_s && F_lo > small_F; round++, reach *= 0.5) {
        double place = next_place(lo, hi, F_lo, F_hi, first, fmax(reach - 0.5 * (hi - lo), 0.0)), F;
        if (!(place > lo && place < hi)) place = 0.5 * (lo + hi);
        if (!(place > lo && place < hi)) break; /* neighbours in floating point */
        STI_TRY(function(ctx, place, &F, err));
        if (F >= 0)
            lo = place, F_lo = F;
        else
            hi = place, F_hi = F;
    }
    *root = lo;
    return ST_OK;
}
