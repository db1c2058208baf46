/* draw/track.h -- a history of rows of numbers in bounded memory.
 *
 * Every stride-th row is kept; when the room is full every second row is removed and the stride doubles. So a run of
 * any length is spread evenly over capacity/2 .. capacity rows. The last row is always the newest.
 */
#ifndef STI_RECORD_TRACK_H
#define STI_RECORD_TRACK_H

#include "base/base.h"

typedef struct sti_Track {
    double *row; /* (capacity + 1) x width: kept rows, then the newest */
    int width;   /* numbers per row; the first is the time [s] */
    int capacity, n;
    int64_t seen, stride;
    bool newest_kept; /* the newest row is also the last kept one      */
} sti_Track;

st_Status sti_track_create(const st_Allocator *allocator, int width, int capacity, sti_Track *track, st_Error *err);
void sti_track_free(const st_Allocator *allocator, sti_Track *track);
void sti_track_add(sti_Track *track, const double *row);

/* Number of rows kept, with the newest, in order of time. */
int sti_track_count(const sti_Track *track);
const double *sti_track_row(const sti_Track *track, int index);
int sti_track_nearest(const sti_Track *track, double time); /* index of the row nearest in time */

#endif
