/* math/double_double.h -- numbers of about 106 bits as the unevaluated sum of two doubles (Dekker 1971; Hida, Li &
 * Bailey 2001). For checks of a solution, which must be more precise than its rounding.
 *
 * Each operation has a relative error of at most a few STI_DD_UNIT. None of them is fast.
 */
#ifndef STI_DOUBLE_DOUBLE_H
#define STI_DOUBLE_DOUBLE_H

#include "base/base.h"

typedef struct sti_Dd {
    double hi, lo; /* |lo| is at most half a unit in the last place of hi */
} sti_Dd;

#define STI_DD_UNIT 0x1p-104

/* a + b exactly, for any a and b (Knuth's two-sum). */
static inline sti_Dd sti_dd_sum(double a, double b)
{
    const double s = a + b, part = s - a;
    return (sti_Dd){s, (a - (s - part)) + (b - part)};
}

/* The same if |a| >= |b|. */
static inline sti_Dd sti_dd_quick(double a, double b)
{
    const double s = a + b;
    return (sti_Dd){s, b - (s - a)};
}

/* a b exactly. */
static inline sti_Dd sti_dd_product(double a, double b)
{
    const double p = a * b;
    return (sti_Dd){p, fma(a, b, -p)};
}

static inline sti_Dd sti_dd(double a)
{
    return (sti_Dd){a, 0.0};
}

static inline double sti_dd_value(sti_Dd a)
{
    return a.hi + a.lo;
}

static inline sti_Dd sti_dd_minus(sti_Dd a)
{
    return (sti_Dd){-a.hi, -a.lo};
}

static inline sti_Dd sti_dd_add(sti_Dd a, sti_Dd b)
{
    sti_Dd s = sti_dd_sum(a.hi, b.hi);
    const sti_Dd t = sti_dd_sum(a.lo, b.lo);
    s = sti_dd_quick(s.hi, s.lo + t.hi);
    return sti_dd_quick(s.hi, s.lo + t.lo);
}

static inline sti_Dd sti_dd_subtract(sti_Dd a, sti_Dd b)
{
    return sti_dd_add(a, sti_dd_minus(b));
}

static inline sti_Dd sti_dd_multiply(sti_Dd a, sti_Dd b)
{
    const sti_Dd p = sti_dd_product(a.hi, b.hi);
    return sti_dd_quick(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* a + x y, the step of a dot product. */
static inline sti_Dd sti_dd_add_product(sti_Dd a, double x, double y)
{
    return sti_dd_add(a, sti_dd_product(x, y));
}

static inline sti_Dd sti_dd_divide(sti_Dd a, sti_Dd b)
{
    const double q1 = a.hi / b.hi;
    sti_Dd rest = sti_dd_subtract(a, sti_dd_multiply(b, sti_dd(q1)));
    const double q2 = rest.hi / b.hi;
    rest = sti_dd_subtract(rest, sti_dd_multiply(b, sti_dd(q2)));
    return sti_dd_add(sti_dd_quick(q1, q2), sti_dd(rest.hi / b.hi));
}

/* sqrt of a >= 0: one Newton step from the double one. */
static inline sti_Dd sti_dd_sqrt(sti_Dd a)
{
    if (!(a.hi > 0.0)) return sti_dd(0.0);
    const double root = sqrt(a.hi);
    const sti_Dd rest = sti_dd_subtract(a, sti_dd_product(root, root));
    return sti_dd_quick(root, rest.hi / (2.0 * root));
}

static inline bool sti_dd_less(sti_Dd a, sti_Dd b)
{
    return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}

#endif
