/* device/partition.h -- which rank owns which body: recursive bisection by coordinates. */
#ifndef STI_DEVICE_PARTITION_H
#define STI_DEVICE_PARTITION_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bodies at q[7 i .. 7 i + 2] among n_ranks, so that the sums of their weights (NULL: 1 each) are nearly equal. Halves
 * of the ranks get the two sides of a plane across the longest extent, again and again. The same input gives the same
 * answer everywhere; bodies at the same place go by their numbers.                                       */
st_Status sti_partition(const double *q, const int *weight, int n, int n_ranks, int *owner,
                        const st_Allocator *allocator, st_Error *err);

#ifdef __cplusplus
}
#endif

#endif
