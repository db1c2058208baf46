#include "device/partition.h"

#include "base/base.h"

#include <stdlib.h>

typedef struct Place {
    double along;
    int body;
} Place;

static int compare_places(const void *a, const void *b)
{
    const Place *one = a, *other = b;
    if (one->along != other->along) return one->along < other->along ? -1 : 1;
    return one->body < other->body ? -1 : one->body > other->body;
}

static double weight_of(const int *weight, int body)
{
    return weight != NULL ? weight[body] : 1;
}

/* place[0 .. n-1] among the ranks first_rank .. first_rank + n_ranks - 1. */
static void bisect(const double *q, const int *weight, Place *place, int n, int first_rank, int n_ranks, int *owner)
{
    if (n_ranks == 1 || n == 0) {
        for (int i = 0; i < n; i++)
            owner[place[i].body] = first_rank;
        return;
    }
    double lo[3], hi[3], total = 0, sum = 0;
    for (int k = 0; k < 3; k++)
        lo[k] = hi[k] = q[(int64_t)7 * place[0].body + k];
    for (int i = 0; i < n; i++) {
        const double *x = q + (int64_t)7 * place[i].body;
        for (int k = 0; k < 3; k++) {
            if (x[k] < lo[k]) lo[k] = x[k];
            if (x[k] > hi[k]) hi[k] = x[k];
        }
        total += weight_of(weight, place[i].body);
    }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (hi[k] - lo[k] > hi[axis] - lo[axis]) axis = k;
    for (int i = 0; i < n; i++)
        place[i].along = q[(int64_t)7 * place[i].body + axis];
    qsort(place, (size_t)n, sizeof *place, compare_places);
    const int half = n_ranks / 2;
    const double share = total * half / n_ranks;
    int cut = 0;
    while (cut < n && sum + 0.5 * weight_of(weight, place[cut].body) < share)
        sum += weight_of(weight, place[cut++].body);
    bisect(q, weight, place, cut, first_rank, half, owner);
    bisect(q, weight, place + cut, n - cut, first_rank + half, n_ranks - half, owner);
}

st_Status sti_partition(const double *q, const int *weight, int n, int n_ranks, int *owner,
                        const st_Allocator *allocator, st_Error *err)
{
    Place *place = sti_alloc(allocator, (int64_t)n + 1, sizeof *place);
    if (place == NULL) return sti_fail(err, ST_ERR_MEMORY, "no memory to share out %d bodies among ranks", n);
    for (int i = 0; i < n; i++)
        place[i].body = i;
    bisect(q, weight, place, n, 0, n_ranks, owner);
    sti_free(allocator, place, (int64_t)n + 1, sizeof *place);
    return ST_OK;
}
