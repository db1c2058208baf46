#include "device/partition.h"

#include "base/base.h"

/* The place of a cut is found in passes: each divides the interval that holds it into bins, and keeps one. */
enum { BINS = 16, PASSES = 6 };

/* Ranks first .. first + n - 1, which a cut divides. */
typedef struct Group {
    int first, n;
    double along[3], lo, width; /* the cut is in lo .. lo + width      */
    double below, total;        /* weight before lo, and of all points */
} Group;

typedef struct Room {
    Group *group, *next; /* n_ranks each                                                        */
    double *mine, *all;  /* BINS numbers of each group, of one rank and of all                  */
    int64_t *offset;     /* n_ranks + 1                                                         */
    int *where;          /* by point: the place of its group; negative: it belongs to one rank  */
} Room;

static int64_t doubles(int64_t count, size_t size)
{
    return (count * (int64_t)size + (int64_t)sizeof(double) - 1) / (int64_t)sizeof(double);
}

int64_t sti_partition_room(int n_ranks, int n)
{
    return 2 * doubles(n_ranks, sizeof(Group)) + (int64_t)BINS * n_ranks * (1 + (int64_t)n_ranks) +
           doubles((int64_t)n_ranks + 1, sizeof(int64_t)) + doubles(n, sizeof(int));
}

/* Adds n numbers of all ranks in the order of ranks; or keeps the largest. */
static void add_up(const st_Ranks *ranks, const Room *room, int n, bool largest)
{
    for (int k = 0; k <= ranks->size; k++)
        room->offset[k] = (int64_t)k * n * (int64_t)sizeof *room->mine;
    ranks->gather(ranks->ctx, room->mine, room->all, room->offset);
    for (int e = 0; e < n; e++) {
        room->mine[e] = room->all[e];
        for (int k = 1; k < ranks->size; k++) {
            const double other = room->all[(int64_t)k * n + e];
            room->mine[e] = largest ? (other > room->mine[e] ? other : room->mine[e]) : room->mine[e] + other;
        }
    }
}

static double along_of(const double *along, const double *x)
{
    return along[0] * x[0] + along[1] * x[1] + along[2] * x[2];
}

void sti_partition(const double *x, const double *weight, int n, double tilt, const st_Ranks *ranks, sti_Cut *cut,
                   double *memory)
{
    const int size = ranks->size;
    Room room = {.group = (Group *)memory, .next = (Group *)(memory + doubles(size, sizeof(Group)))};
    room.mine = memory + 2 * doubles(size, sizeof(Group));
    room.all = room.mine + (int64_t)BINS * size;
    /* cppcheck-suppress invalidPointerCast ; one block for several arrays */
    room.offset = (int64_t *)(room.all + (int64_t)BINS * size * size);
    room.where = (int *)(room.offset + doubles((int64_t)size + 1, sizeof(int64_t)));
    int groups = size > 1 ? 1 : 0;
    room.group[0] = (Group){.first = 0, .n = size};
    for (int i = 0; i < n; i++)
        room.where[i] = 0;
    while (groups > 0) {
        int n_next = 0;
        /* The direction and the interval of each cut. */
        for (int e = 0; e < 6 * groups; e++)
            room.mine[e] = -1e300;
        for (int i = 0; i < n; i++)
            for (int k = 0; room.where[i] >= 0 && k < 3; k++) {
                double *box = room.mine + (int64_t)6 * room.where[i]; /* -lo and hi: the largest of both */
                const double at = x[(int64_t)3 * i + k];
                if (-at > box[k]) box[k] = -at;
                if (at > box[k + 3]) box[k + 3] = at;
            }
        add_up(ranks, &room, 6 * groups, true);
        for (int g = 0; g < groups; g++) {
            Group *group = &room.group[g];
            const double *box = room.mine + (int64_t)6 * g;
            double extent[3], lo[3], hi = 0;
            int axis = 0;
            for (int k = 0; k < 3; k++) {
                lo[k] = -box[k];
                extent[k] = box[k] + box[k + 3] > 0 ? box[k] + box[k + 3] : 0;
                if (extent[k] > extent[axis]) axis = k;
            }
            for (int k = 1; k < 3; k++) {
                const int across = (axis + k) % 3;
                group->along[across] = extent[across] > 0 ? tilt / (k == 1 ? 1 : BINS) / extent[across] : 0;
            }
            group->along[axis] = 1;
            group->lo = along_of(group->along, lo);
            for (int k = 0; k < 3; k++)
                hi += group->along[k] * (lo[k] + extent[k]);
            group->width = hi > group->lo ? 1.0001 * (hi - group->lo) : 1; /* holds its last point, too */
            group->below = 0;
        }
        for (int pass = 0; pass < PASSES; pass++) {
            /* One pass: the bin in which the weight below reaches the share of the lower half. */
            memset(room.mine, 0, (size_t)(BINS * groups) * sizeof *room.mine);
            for (int i = 0; i < n; i++) {
                if (room.where[i] < 0) continue;
                const Group *group = &room.group[room.where[i]];
                const double bin = (along_of(group->along, x + (int64_t)3 * i) - group->lo) / group->width * BINS;
                if (bin >= 0 && bin < BINS) room.mine[(int64_t)BINS * room.where[i] + (int)bin] += weight[i];
            }
            add_up(ranks, &room, BINS * groups, false);
            for (int g = 0; g < groups; g++) {
                Group *group = &room.group[g];
                const double *bin = room.mine + (int64_t)BINS * g;
                int k = 0;
                for (int e = 0; pass == 0 && e < BINS; e++)
                    group->total = (e > 0 ? group->total : 0) + bin[e];
                const double share = group->total * (group->n / 2) / group->n;
                for (; k < BINS - 1 && group->below + bin[k] <= share; k++)
                    group->below += bin[k];
                group->width /= BINS;
                group->lo += k * group->width;
            }
        }
        for (int i = 0; i < n; i++) {
            if (room.where[i] < 0) continue;
            const Group *group = &room.group[room.where[i]];
            const bool above = !(along_of(group->along, x + (int64_t)3 * i) < group->lo);
            room.where[i] = 2 * room.where[i] + above;
        }
        for (int g = 0; g < groups; g++) {
            const Group *group = &room.group[g];
            sti_Cut *to = &cut[group->first + group->n / 2];
            memcpy(to->along, group->along, sizeof to->along);
            to->at = group->lo;
        }
        /* The halves that have several ranks are the next groups. */
        /* cppcheck-suppress invalidPointerCast ; likewise */
        int *place = (int *)room.mine; /* of half 2 g and 2 g + 1 */
        for (int half = 0; half < 2 * groups; half++) {
            const Group *group = &room.group[half / 2];
            const int below = group->n / 2, of = half % 2 == 0 ? below : group->n - below;
            place[half] = of > 1 ? n_next : -1;
            if (of > 1)
                room.next[n_next++] = (Group){.first = half % 2 == 0 ? group->first : group->first + below, .n = of};
        }
        for (int i = 0; i < n; i++)
            if (room.where[i] >= 0) room.where[i] = place[room.where[i]];
        STI_EXCHANGE(Group *, room.group, room.next);
        groups = n_next;
    }
}

int sti_rank_at(const sti_Cut *cut, int n_ranks, const double *x)
{
    int first = 0, n = n_ranks;
    while (n > 1) {
        const int half = n / 2;
        const sti_Cut *c = &cut[first + half];
        const bool below = along_of(c->along, x) < c->at;
        n = below ? half : n - half;
        first += below ? 0 : half;
    }
    return first;
}
