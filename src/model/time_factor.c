#include "model/time_factor.h"

#define CORNER 1e-14

/* The interval of the table that contains t, times[lo] <= t < times[lo + 1]; -1: t is outside. */
static int table_interval(const st_Profile *profile, double t)
{
    int lo = 0, hi = profile->n_table - 1;
    if (t < profile->times[0] || t >= profile->times[hi]) return -1;
    while (hi - lo > 1) {
        int middle = lo + (hi - lo) / 2;
        if (profile->times[middle] <= t)
            lo = middle;
        else
            hi = middle;
    }
    return lo;
}

double sti_profile_value(const st_Profile *profile, double t)
{
    switch (profile->type) {
    case ST_PROFILE_CONSTANT:
        break;
    case ST_PROFILE_HARMONIC:
        return cos(profile->frequency * t + profile->phase);
    case ST_PROFILE_TABLE: {
        int lo = table_interval(profile, t);
        if (lo < 0) return profile->values[t < profile->times[0] ? 0 : profile->n_table - 1];
        double s = (t - profile->times[lo]) / (profile->times[lo + 1] - profile->times[lo]);
        return (1 - s) * profile->values[lo] + s * profile->values[lo + 1];
    }
    case ST_PROFILE_RAMP:
        return t;
    }
    return 1.0;
}

double sti_profile_rate(const st_Profile *profile, double t)
{
    switch (profile->type) {
    case ST_PROFILE_CONSTANT:
        break;
    case ST_PROFILE_HARMONIC:
        return -profile->frequency * sin(profile->frequency * t + profile->phase);
    case ST_PROFILE_TABLE: {
        /* Steps end at corners of the table up to rounding. */
        int lo = table_interval(profile, t + CORNER * fabs(t));
        if (lo < 0) return 0;
        return (profile->values[lo + 1] - profile->values[lo]) / (profile->times[lo + 1] - profile->times[lo]);
    }
    case ST_PROFILE_RAMP:
        return 1.0;
    }
    return 0.0;
}

double sti_profile_corner(const st_Profile *profile, double t)
{
    const double *times = profile->times, *values = profile->values;
    const int n = profile->type == ST_PROFILE_TABLE ? profile->n_table : 0;
    for (int k = 0; k < n; k++) {
        if (!(times[k] > t)) continue;
        const double before = k > 0 ? (values[k] - values[k - 1]) / (times[k] - times[k - 1]) : 0;
        const double after = k < n - 1 ? (values[k + 1] - values[k]) / (times[k + 1] - times[k]) : 0;
        if (fabs(after - before) > 1e-9 * (fabs(after) + fabs(before))) return times[k];
    }
    return INFINITY;
}

static double *copy_numbers(const st_Allocator *allocator, const double *x, int n)
{
    double *copy = sti_alloc(allocator, n, sizeof *copy);
    if (copy != NULL) memcpy(copy, x, (size_t)n * sizeof *copy);
    return copy;
}

st_Status sti_profile_copy(const st_Allocator *allocator, st_Profile *profile, st_Error *err)
{
    st_Profile copy = *profile;
    if (copy.type != ST_PROFILE_TABLE) copy.n_table = 0, copy.times = copy.values = NULL;
    if (copy.n_table > 0) {
        copy.times = copy_numbers(allocator, profile->times, copy.n_table);
        copy.values = copy_numbers(allocator, profile->values, copy.n_table);
        if (copy.times == NULL || copy.values == NULL) {
            sti_profile_free(allocator, &copy);
            return sti_fail(err, ST_ERR_MEMORY, "out of memory for a table of %d entries", profile->n_table);
        }
    }
    *profile = copy;
    return ST_OK;
}

void sti_profile_free(const st_Allocator *allocator, st_Profile *profile)
{
    sti_free(allocator, (void *)profile->times, profile->n_table, sizeof(double));
    sti_free(allocator, (void *)profile->values, profile->n_table, sizeof(double));
    profile->times = profile->values = NULL;
    profile->n_table = 0;
}
