/* model/time_factor.h -- time-dependent factors of forces, motors and prescribed motions. */
#ifndef STI_MODEL_PROFILE_H
#define STI_MODEL_PROFILE_H

#include "base/base.h"

#include <stiction/scene.h>

double sti_profile_value(const st_Profile *profile, double t);
/* d/dt; for a table the right-hand derivative at its corners, 0 outside. */
double sti_profile_rate(const st_Profile *profile, double t);

/* The first time after t at which the rate jumps, a corner of a table; INFINITY: none. */
double sti_profile_corner(const st_Profile *profile, double t);
/* Gives a profile its own copy of its table; and frees it. A profile without a table needs none. */
st_Status sti_profile_copy(const st_Allocator *allocator, st_Profile *profile, st_Error *err);
void sti_profile_free(const st_Allocator *allocator, st_Profile *profile);

#endif
