/* import/xacro.h -- URDF with macros. */
#ifndef STI_XACRO_H
#define STI_XACRO_H

#include "base/base.h"

/* Runs the program xacro on a file and returns its output; malloc'd. */
st_Status sti_xacro_expand(const char *path, char **text, size_t *length, st_Error *err);

#endif
