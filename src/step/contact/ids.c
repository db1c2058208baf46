/* step/contact/ids.c -- sets of contact ids, sorted. */
#include "step/step.h"

int sti_ids_lower(const sti_IdSet *set, uint64_t id)
{
    int lo = 0, hi = set->n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (set->id[middle] < id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

bool sti_ids_contain(const sti_IdSet *set, uint64_t id)
{
    const int at = sti_ids_lower(set, id);
    return at < set->n && set->id[at] == id;
}

st_Status sti_ids_add(const st_Allocator *allocator, sti_IdSet *set, uint64_t id, st_Error *err)
{
    bool last = set->n == 0 || set->id[set->n - 1] < id; /* mostly they come in order */
    if (!last && sti_ids_contain(set, id)) return ST_OK;
    if (set->n == set->capacity) STI_TRY(STI_GROW(allocator, set->id, set->capacity, set->n + 1, err));
    int k = set->n++;
    for (; k > 0 && set->id[k - 1] > id; k--)
        set->id[k] = set->id[k - 1];
    set->id[k] = id;
    return ST_OK;
}

st_Status sti_ids_copy(const st_Allocator *allocator, sti_IdSet *to, const sti_IdSet *from, st_Error *err)
{
    STI_TRY(STI_GROW(allocator, to->id, to->capacity, from->n, err));
    if (from->n > 0) memcpy(to->id, from->id, (size_t)from->n * sizeof *to->id);
    to->n = from->n;
    return ST_OK;
}
