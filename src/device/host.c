/* device/host.c -- the flat pile on the host: kernels as loops of a team of threads. */
#include "base/base.h"
#include "device/flat_memory.h"
#include "math/parallel.h"

#include <stdlib.h>

static const char *const device_name = "host";

struct sti_FlatPile {
    STI_FLAT_COMMON;
    int threads;
};

/* ---- kernels ----------------------------------------------------------------------------------- */

typedef struct Run {
    const sti_Flat *f;
    int first;
} Run;

enum { LEAST = 512 }; /* indices that are worth a thread */

#define RANGE(kernel)                                                                                                  \
    static void kernel##_range(void *ctx, int64_t from, int64_t end)                                                   \
    {                                                                                                                  \
        const Run *run = (const Run *)ctx;                                                                             \
        for (int64_t i = from; i < end; i++)                                                                           \
            kernel(run->first + (int)i, run->f);                                                                       \
    }
RANGE(flat_free)
RANGE(flat_move)
RANGE(flat_kinetic)
RANGE(flat_potential)
RANGE(flat_fastest)
RANGE(flat_sum)
RANGE(flat_largest)
RANGE(flat_sphere)
RANGE(flat_bounds)
RANGE(flat_sphere_key)
RANGE(flat_cell_ends)
RANGE(flat_count)
RANGE(flat_find)
RANGE(flat_touch)
RANGE(flat_write_patch)
RANGE(flat_first_contact)
RANGE(flat_recall)
RANGE(flat_bid)
RANGE(flat_choose)
RANGE(flat_uncoloured)
RANGE(flat_leave)
RANGE(flat_identity)
RANGE(flat_colour_ends)
RANGE(flat_gather)
RANGE(flat_scatter)
RANGE(flat_begin)
RANGE(flat_begin_last)
RANGE(flat_sweep)
RANGE(flat_sweep_round)
RANGE(flat_sweep_round_rolling)
RANGE(flat_sweep_last)
RANGE(flat_judge)
RANGE(flat_overlap)
RANGE(flat_work)
RANGE(flat_work_size)
RANGE(flat_mark)
RANGE(flat_mark_on)
RANGE(flat_limit)
RANGE(flat_friction)
RANGE(flat_given)
RANGE(flat_place_wall)
RANGE(flat_struck)
RANGE(flat_momentum_begin)
RANGE(flat_momentum_begin_bodies)
RANGE(flat_momentum)
RANGE(flat_extrapolate)
RANGE(flat_extrapolate_bodies)
RANGE(flat_own_bounds)
RANGE(flat_hold)
RANGE(flat_strayed)
RANGE(flat_pack)
RANGE(flat_unpack)
RANGE(flat_pack_masks)
RANGE(flat_unpack_masks)

#define RUN(pile, kernel, from, count)                                                                                 \
    do {                                                                                                               \
        Run run_ = {&(pile)->f, from};                                                                                 \
        sti_team_for((pile)->threads, count, LEAST, kernel##_range, &run_);                                            \
    } while (0)

/* ---- memory ------------------------------------------------------------------------------------ */

static void *device_alloc(sti_FlatPile *pile, int64_t count, size_t size)
{
    return sti_alloc(&pile->allocator, count, size);
}

static void device_free(sti_FlatPile *pile, void *at, int64_t count, size_t size)
{
    sti_free(&pile->allocator, at, count, size);
}

static void device_clear(sti_FlatPile *pile, void *at, int64_t bytes)
{
    (void)pile;
    memset(at, 0, (size_t)bytes);
}

static void device_copy(sti_FlatPile *pile, void *to, const void *from, int64_t bytes)
{
    (void)pile;
    if (bytes > 0) memcpy(to, from, (size_t)bytes);
}
#define device_put device_copy
#define device_get device_copy

static st_Status device_fault(sti_FlatPile *pile, st_Error *err)
{
    (void)pile, (void)err;
    return ST_OK;
}

static st_Status device_open(sti_FlatPile *pile, const sti_FlatDef *def, st_Error *err)
{
    (void)err;
    pile->threads = def->threads;
    return ST_OK;
}

static void device_close(sti_FlatPile *pile)
{
    (void)pile;
}

/* ---- sort and scan ------------------------------------------------------------------------------- */

/* By digits of 8 bits, the lowest first. `key` and `item` are used up. */
static void device_sort(sti_FlatPile *pile, uint32_t *key, uint32_t *key_sorted, int *item, int *item_sorted, int n,
                        int bits)
{
    (void)pile;
    uint32_t *from = key, *to = key_sorted;
    int *item_from = item, *item_to = item_sorted;
    for (int shift = 0; shift < bits; shift += 8) {
        int64_t place[257] = {0};
        const uint32_t mask = bits - shift < 8 ? (1u << (bits - shift)) - 1 : 255u;
        for (int i = 0; i < n; i++)
            place[((from[i] >> shift) & mask) + 1]++;
        for (int k = 1; k < 257; k++)
            place[k] += place[k - 1];
        for (int i = 0; i < n; i++) {
            const int64_t at = place[(from[i] >> shift) & mask]++;
            to[at] = from[i];
            item_to[at] = item_from[i];
        }
        STI_EXCHANGE(uint32_t *, from, to);
        STI_EXCHANGE(int *, item_from, item_to);
    }
    if (from == key_sorted) return;
    memcpy(key_sorted, from, (size_t)n * sizeof *from);
    memcpy(item_sorted, item_from, (size_t)n * sizeof *item_from);
}

/* A count that exceeds an int becomes -1. */
static void device_scan(sti_FlatPile *pile, const int *count, int *first, int n)
{
    (void)pile;
    int64_t sum = 0;
    for (int i = 0; i < n; i++) {
        first[i] = (int)(sum <= INT32_MAX ? sum : -1);
        sum += count[i];
    }
    first[n] = (int)(sum <= INT32_MAX ? sum : -1);
}

/* ---- again and again ------------------------------------------------------------------------------ */

static void device_forget(sti_FlatPile *pile)
{
    (void)pile;
}

static void device_repeat(sti_FlatPile *pile, void (*work)(sti_FlatPile *))
{
    work(pile);
}

#include "device/flat_step.h"

const sti_FlatDevice sti_flat_host = {"host",        flat_create,       flat_destroy, flat_put,    flat_get,
                                      flat_present,  flat_before,       flat_drive,   flat_step,   flat_contacts,
                                      flat_impulses, flat_put_impulses, flat_couple,  flat_deepest};
