/* record/curves.h -- what of a recording can be drawn over time, by name. */
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
    STI_CURVE_MEASURE /* a: its place among all values */
} sti_CurveKind;

typedef struct sti_Curve {
    const char *name, *unit;
    sti_CurveKind kind;
    int field;     /* of its kind                                                                   */
    int a, b;      /* a body, or a joint from 0; pair: two bodies, of the force that a exerts on b  */
    double *value; /* one a step, else one a frame                                                  */
} sti_Curve;

st_Status sti_curve_find(const st_RecordingInfo *info, const char *name, sti_Curve *out, st_Error *err);
/* Fill the values, and the times of steps and frames. */
st_Status sti_curves_read(st_Recording *recording, const sti_Curve *curves, int n, double *step_time,
                          double *frame_time, st_Error *err);

/* Value number `index` of all measures of a recorded model, one measure after the other; false: past the last. Its
 * texts are the model's, or static.                                                                    */
typedef struct sti_MeasuredName {
    const char *measure, *value, *unit;
} sti_MeasuredName;
bool sti_measured_name(const json_t *model, int index, sti_MeasuredName *out);

#endif
