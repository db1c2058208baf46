/* math/largest.h -- the largest of many numbers. */
#ifndef STI_LARGEST_H
#define STI_LARGEST_H

/* The largest |x - y| of n numbers; y = NULL: the largest |x|. 0 if there are none; NaN does not count. */
double sti_largest_difference(const double *x, const double *y, int n);

#endif
