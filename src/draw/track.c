#include "draw/track.h"

st_Status sti_track_create(const st_Allocator *allocator, int width, int capacity, sti_Track *track, st_Error *err)
{
    *track = (sti_Track){.width = width, .capacity = capacity, .stride = 1};
    track->row = sti_alloc(allocator, (int64_t)width * (capacity + 1), sizeof *track->row);
    if (track->row == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d rows of a picture", capacity);
    return ST_OK;
}

void sti_track_free(const st_Allocator *allocator, sti_Track *track)
{
    sti_free(allocator, track->row, (int64_t)track->width * (track->capacity + 1), sizeof *track->row);
    track->row = NULL;
}

static double *row_at(const sti_Track *track, int index)
{
    return track->row + (size_t)index * (size_t)track->width;
}

void sti_track_add(sti_Track *track, const double *row)
{
    size_t size = (size_t)track->width * sizeof *row;
    track->newest_kept = track->seen % track->stride == 0;
    if (track->newest_kept && track->n == track->capacity) {
        for (int k = 1; 2 * k < track->n; k++)
            memcpy(row_at(track, k), row_at(track, 2 * k), size);
        track->n = (track->n + 1) / 2;
        track->stride *= 2;
        track->newest_kept = track->seen % track->stride == 0;
    }
    if (track->newest_kept) memcpy(row_at(track, track->n++), row, size);
    memcpy(row_at(track, track->capacity), row, size);
    track->seen++;
}

int sti_track_count(const sti_Track *track)
{
    return track->n + (track->seen > 0 && !track->newest_kept ? 1 : 0);
}

const double *sti_track_row(const sti_Track *track, int index)
{
    return row_at(track, index < track->n ? index : track->capacity);
}

int sti_track_nearest(const sti_Track *track, double time)
{
    int lo = 0, hi = sti_track_count(track) - 1;
    while (hi - lo > 1) { /* times never decrease: bisection */
        int middle = lo + (hi - lo) / 2;
        if (sti_track_row(track, middle)[0] <= time)
            lo = middle;
        else
            hi = middle;
    }
    if (hi <= lo) return lo;
    return time - sti_track_row(track, lo)[0] <= sti_track_row(track, hi)[0] - time ? lo : hi;
}
