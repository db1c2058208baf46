/* grains/size.c -- diameters of grains, drawn from a distribution.
 *
 * A sieve curve gives the share p of the mass that passes an opening d. Between two openings a and b mass is spread
 * evenly over d. The mass of a grain is proportional to d^3, so the number of grains is spread as d^-3:
 *
 *     share of the grains in (a, b)  ~  (p_b - p_a)/(b - a) int_a^b d^-3 dd = (p_b - p_a)/(b - a) (a^-2 - b^-2)/2
 *     the u-th part of them is below    d = (a^-2 - u (a^-2 - b^-2))^(-1/2) */
#include "base/range.h"
#include "grains/grains.h"
#include "grains/random.h"

#define DEVIATIONS 3.0 /* normal and log-normal sizes end here if min and max are not given */

static st_Status check_length(const char *owner, const char *what, double x, st_Error *err)
{
    if (sti_between(x, STI_SHORTEST, STI_LONGEST)) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s: %s of its size is %g, must be from %g to %g", owner, what, x,
                    STI_SHORTEST, STI_LONGEST);
}

static double least(const st_SizeDef *size)
{
    if (size->min > 0) return size->min;
    return size->type == ST_SIZE_NORMAL ? size->mean - DEVIATIONS * size->deviation
                                        : size->mean * exp(-DEVIATIONS * size->deviation);
}

double sti_size_largest(const st_SizeDef *size)
{
    switch (size->type) {
    case ST_SIZE_AS_GIVEN:
        return 0;
    case ST_SIZE_FIXED:
        return size->mean;
    case ST_SIZE_UNIFORM:
        return size->max;
    case ST_SIZE_SIEVE:
        return size->openings[size->n_sieves - 1];
    case ST_SIZE_NORMAL:
        return size->max > 0 ? size->max : size->mean + DEVIATIONS * size->deviation;
    case ST_SIZE_LOG_NORMAL:
        return size->max > 0 ? size->max : size->mean * exp(DEVIATIONS * size->deviation);
    }
    return 0;
}

st_Status sti_size_check(const char *owner, const st_SizeDef *size, st_Error *err)
{
    switch (size->type) {
    case ST_SIZE_AS_GIVEN:
        return ST_OK;
    case ST_SIZE_FIXED:
        return check_length(owner, "the diameter", size->mean, err);
    case ST_SIZE_SIEVE: {
        const int n = size->n_sieves;
        if (n < 2 || size->openings == NULL || size->passing == NULL)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: its sieve curve has %d points, must have at least 2", owner, n);
        for (int k = 0; k < n; k++) {
            const double d = size->openings[k], p = size->passing[k];
            STI_TRY(check_length(owner, "an opening", d, err));
            if (k > 0 && !(d > size->openings[k - 1]))
                return sti_fail(err, ST_ERR_ARGUMENT,
                                "%s: opening %d of its sieve curve is %g m, must be > %g, the one "
                                "before it",
                                owner, k, d, size->openings[k - 1]);
            if (!(p >= 0 && p <= 1) || (k > 0 && p < size->passing[k - 1]))
                return sti_fail(err, ST_ERR_ARGUMENT, "%s: share %d of its sieve curve is %g, must be from %g to 1",
                                owner, k, p, k > 0 ? size->passing[k - 1] : 0.0);
        }
        if (size->passing[0] == 0 && size->passing[n - 1] == 1) return ST_OK;
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: its sieve curve is from %g to %g, must begin with 0 and end with 1",
                        owner, size->passing[0], size->passing[n - 1]);
    }
    case ST_SIZE_UNIFORM:
        STI_TRY(check_length(owner, "min", size->min, err));
        break;
    case ST_SIZE_NORMAL:
    case ST_SIZE_LOG_NORMAL:
        STI_TRY(check_length(owner, "the mean or median", size->mean, err));
        if (!(size->deviation >= 0 && size->deviation <= STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: deviation of its size is %g, must be >= 0", owner,
                            size->deviation);
        if (!(least(size) > 0))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "%s: its size is %g, with a deviation of %g: three deviations less are below 0; give min",
                            owner, size->mean, size->deviation);
        if (!(least(size) <= size->mean))
            return sti_fail(err, ST_ERR_ARGUMENT, "%s: min of its size is %g, must be at most %g, the mean or median",
                            owner, size->min, size->mean);
        break;
    default:
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: type of its size is %d, must be 0 to %d", owner, (int)size->type,
                        ST_SIZE_SIEVE);
    }
    const double largest = sti_size_largest(size), floor = size->type == ST_SIZE_UNIFORM ? size->min : size->mean;
    STI_TRY(check_length(owner, "max", largest, err));
    if (largest >= floor) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s: max of its size is %g, must be at least %g", owner, largest, floor);
}

/* Number of grains between openings k - 1 and k, up to a factor common to all k. */
static double grains_between(const st_SizeDef *size, int k)
{
    const double a = size->openings[k - 1], b = size->openings[k];
    return (size->passing[k] - size->passing[k - 1]) / (b - a) * (1 / (a * a) - 1 / (b * b));
}

double sti_size_draw(const st_SizeDef *size, uint64_t *random)
{
    switch (size->type) {
    case ST_SIZE_AS_GIVEN:
        return 0;
    case ST_SIZE_FIXED:
        return size->mean;
    case ST_SIZE_UNIFORM:
        return sti_random_between(random, size->min, size->max);
    case ST_SIZE_SIEVE: {
        double sum = 0;
        for (int k = 1; k < size->n_sieves; k++)
            sum += grains_between(size, k);
        double left = sum * sti_random(random), part = 0;
        int k = 0, last = 1;
        for (k = 1; k < size->n_sieves; k++) {
            if (grains_between(size, k) == 0) continue;
            last = k;
            part = grains_between(size, k);
            if (left < part) break;
            left -= part;
        }
        const double a = size->openings[last - 1], b = size->openings[last];
        const double u = k < size->n_sieves ? left / part : 1; /* rounding may leave a rest after the last interval */
        return 1 / sqrt(1 / (a * a) - u * (1 / (a * a) - 1 / (b * b)));
    }
    case ST_SIZE_NORMAL:
    case ST_SIZE_LOG_NORMAL:
        break;
    }
    /* Sizes outside the limits are drawn again. The mean is inside, so at least half of the draws are on its right
     * side. */
    for (int k = 0; k < 1000; k++) {
        const double z = size->deviation * sti_random_normal(random);
        const double d = size->type == ST_SIZE_NORMAL ? size->mean + z : size->mean * exp(z);
        if (d >= least(size) && d <= sti_size_largest(size)) return d;
    }
    return size->mean;
}
