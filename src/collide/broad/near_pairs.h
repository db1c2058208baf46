/* collide/broad/near_pairs.h -- the broad phase: finds pairs of shapes that are near.
 *
 * Every shape has a fat box: its bounding box, enlarged by a skin and extended along its motion. While the true
 * boxes stay inside the fat ones the list of pairs is valid. A shape that leaves its fat box gets a new one; its old
 * pairs are removed, and new ones are searched in a tree and among the planes. So a step costs a check per shape and
 * work per shape that moved. The list is a superset of the pairs nearer than the margin, in order of (i, j), so the
 * result of the narrow phase does not depend on the past.
 */
#ifndef STI_PAIRS_H
#define STI_PAIRS_H

#include "collide/collide.h"
#include "math/cell.h"
#include "math/quat.h"

/* Shapes, in the order of the dispatch matrix. */
typedef struct sti_Pair {
    int i, j;
} sti_Pair;

/* Data that is kept as long as the pair. */
typedef struct sti_PairMemo {
    sti_Hint hint;  /* of the narrow phase: collide.h */
    double clear;   /* of the contact stage */
    int cache_slot; /* its entry in the contact cache; 0: none */
} sti_PairMemo;

/* May shapes i and j touch? Also puts them in order. */
typedef bool sti_PairFilter(const void *ctx, int i, int j, sti_Pair *out);

/* Properties of a shape that never change. */
typedef enum sti_Extent {
    STI_EXTENT_BOUNDED,
    STI_EXTENT_FIXED, /* and it never moves: no skin                                               */
    STI_EXTENT_PLANE  /* the half space below its pose's z axis                                    */
} sti_Extent;

typedef struct sti_PairPlane {
    int shape;
    st_Vec3 normal, on; /* its position when its pairs were found */
} sti_PairPlane;

typedef struct sti_Pairs {
    st_Allocator allocator;
    int n_shapes, n_planes;
    unsigned char *extent; /* sti_Extent of each shape                                             */
    bool *moved;           /* valid during a call */
    int *mover;            /* the n_movers shapes whose boxes moved */
    int n_movers;
    int *since;           /* number of the call in which its fat box was made */
    sti_PairPlane *plane; /* n_planes                                                              */
    int64_t plane_capacity;
    sti_Tree tree;   /* of fat boxes                                                                 */
    double margin;   /* allowed for in the fat boxes */
    int small_calls; /* number of consecutive calls with a much smaller margin */
    int calls;       /* number of calls since the last rebuild */
    int64_t serial;  /* counts the changes of the list                                             */
    int64_t moves;   /* number of moved boxes since the tree was built */
    bool started;
    const sti_Cell *cell;   /* shapes are near if their images are; NULL: no periodic cell */
    sti_PairFilter *filter; /* may be called by several threads                                     */
    const void *ctx;
    int threads; /* size of a team, set by the owner: the list does not depend on it */
    int64_t n_pairs, n_fresh;
    sti_Pair *pair;
    sti_PairMemo *memo; /* of each pair; NULL: `forgetful` */
    bool forgetful;     /* set by the owner: no pair needs a memo (balls and planes) */
    sti_Pair *fresh;    /* pairs found in a call */
    int64_t pair_capacity, memo_capacity, fresh_capacity;
    struct sti_PairSearch *search; /* of each thread except the first */
    int n_searches;
} sti_Pairs;

st_Status sti_pairs_create(sti_Pairs *pairs, int n_shapes, const unsigned char *extent, sti_PairFilter *filter,
                           const void *ctx, const st_Allocator *allocator, st_Error *err);
void sti_pairs_free(sti_Pairs *pairs);
/* Updates pair[0 .. n_pairs - 1] for the true boxes, and for planes the poses. margin INFINITY: all that may touch.
 * Only the n shapes in `awake` have changed boxes since the last call; NULL: any may have. */
st_Status sti_pairs_update(sti_Pairs *pairs, const sti_Bounds *bounds, const st_Pose *pose, double margin,
                           const int *awake, int n, st_Error *err);

#endif
