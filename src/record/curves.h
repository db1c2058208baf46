/* record/curves.h -- curves over time of a recording, by name. */
#ifndef STI_RECORD_CURVES_H
#define STI_RECORD_CURVES_H

#include "base/base.h"

#include <jansson.h>
#include <stiction/io.h>

typedef enum sti_CurveKind {
    STI_CURVE_STEP,
    STI_CURVE_BODY,
    STI_CURVE_PAIR,
    STI_CURVE_JOINT,
    STI_CURVE_SPRING,
    STI_CURVE_MEASURE /* a: its index among all values */
} sti_CurveKind;

typedef struct sti_Curve {
    const char *name, *unit;
    sti_CurveKind kind;
    int field;     /* index of the field of its kind */
    int a, b;      /* a body, or a joint from 0; pair: two bodies, for the force that a exerts on b */
    double *value; /* one per step, else one per frame */
} sti_Curve;

st_Status sti_curve_find(const st_RecordingInfo *info, const char *name, sti_Curve *out, st_Error *err);
/* Reads the values, and the times of steps and frames. */
st_Status sti_curves_read(st_Recording *recording, const sti_Curve *curves, int n, double *step_time,
                          double *frame_time, st_Error *err);

/* Value number `index` over all measures of a recorded model in order; false after the last. Its strings belong to
 * the model or are static. */
typedef struct sti_MeasuredName {
    const char *measure, *value, *unit;
} sti_MeasuredName;
bool sti_measured_name(const json_t *model, int index, sti_MeasuredName *out);

#endif
