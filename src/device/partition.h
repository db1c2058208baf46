/* device/partition.h -- which rank owns which place: recursive bisection by coordinates. */
#ifndef STI_DEVICE_PARTITION_H
#define STI_DEVICE_PARTITION_H

#include <stdint.h>
#include <stiction/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plane between two groups of ranks: those below it own the places with dot(along, x) < at. */
typedef struct sti_Cut {
    double along[3], at;
} sti_Cut;

/* Doubles that sti_partition needs as scratch memory, for n points of this rank. */
int64_t sti_partition_room(int n_ranks, int n);

/* Cuts space so that the points of all ranks, 3 coordinates each, have nearly equal weights in all parts. All ranks
 * call this, each with its own points, and get the same cuts: cut[k] is between ranks k - 1 and k, k = 1 .. size - 1.
 * Halves of the ranks get the two sides of a plane across the longest extent, again and again. Planes are tilted by the
 * length `tilt` from one end of the points to the other, so that a plane through a lattice can divide a layer.   */
void sti_partition(const double *x, const double *weight, int n, double tilt, const st_Ranks *ranks, sti_Cut *cut,
                   double *room);

/* The rank that owns the place x. */
int sti_rank_at(const sti_Cut *cut, int n_ranks, const double *x);

#ifdef __cplusplus
}
#endif

#endif
