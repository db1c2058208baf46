/* import/png.h -- PNG images as grey values, for height fields. */
#ifndef STI_PNG_H
#define STI_PNG_H

#include "base/base.h"

/* width x height values from 0 to 1, the top row first: grey, or the mean of red, green and blue. malloc'd. */
st_Status sti_png_read(const char *path, int *width, int *height, double **out, st_Error *err);

#endif
