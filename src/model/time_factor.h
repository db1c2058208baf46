/* model/time_factor.h -- factors that change with time: of forces, motors, prescribed motions. */
#ifndef STI_MODEL_PROFILE_H
#define STI_MODEL_PROFILE_H

#include "base/base.h"

#include <stiction/scene.h>

double sti_profile_value(const st_Profile *profile, double t);
/* d/dt; of a table to the right of its corners, 0 outside. */
double sti_profile_rate(const st_Profile *profile, double t);

/* The first time after t at which the rate jumps: a corner of a table; INFINITY: it does not. */
double sti_profile_corner(const st_Profile *profile, double t);
/* Give a profile its own copy of its table, and free that; one without a table has none. */
st_Status sti_profile_copy(const st_Allocator *allocator, st_Profile *profile, st_Error *err);
void sti_profile_free(const st_Allocator *allocator, st_Profile *profile);

#endif
