/* step/root.c -- a bracketed root: regula falsi in the Illinois form, with a halving whenever it is slow.
 *
 * Kept instead of Brent's method because both ends of the bracket come out, and an event wants the side on
 * which it has not happened yet. Event functions have kinks at their roots (the slopes before and after sticking
 * have nothing to do with each other): the halving bounds the rounds by 3 log2(1/small_s).
 */
#include "step/system.h"

st_Status sti_find_root(sti_Function *function, void *ctx, double lo, double hi, double F_lo, double F_hi,
                        double small_s, double small_F, double *root, st_Error *err)
{
    int side = 0;
    for (int round = 0; round < 200 && hi - lo > small_s && F_lo > small_F; round++) {
        bool halve = round % 3 == 2;
        double middle = halve ? 0.5 * (lo + hi) : (lo * F_hi - hi * F_lo) / (F_hi - F_lo), F;
        if (!(middle > lo && middle < hi)) middle = 0.5 * (lo + hi);
        if (!(middle > lo && middle < hi)) break; /* neighbours in floating point */
        STI_TRY(function(ctx, middle, &F, err));
        if (F >= 0) {
            lo = middle;
            F_lo = F;
            if (side > 0 && !halve) F_hi *= 0.5;
            side = 1;
        } else {
            hi = middle;
            F_hi = F;
            if (side < 0 && !halve) F_lo *= 0.5;
            side = -1;
        }
    }
    *root = lo;
    return ST_OK;
}
