/* collide/broad/near_pairs.h -- the broad phase: which shapes are near enough to look at.
 *
 * Every shape has a box around it, fattened by a skin and ahead along its way. While the true boxes stay inside the
 * fat ones the list of pairs stands; a shape that leaves gets a new box, its old pairs go and new ones are looked up
 * in a tree, and among the planes. So a step costs a check per shape and work per shape that moved. The list is a
 * superset of the pairs nearer than the margin, in order of (i, j): what the narrow phase makes of it does not
 * depend on the past.
 */
#ifndef STI_PAIRS_H
#define STI_PAIRS_H

#include "collide/collide.h"
#include "math/cell.h"
#include "math/quat.h"

/* Shapes, in the order of the dispatch matrix. */
typedef struct sti_PairKey {
    int i, j;
} sti_PairKey;

typedef struct sti_Pair {
    int i, j;       /* its key                                                                      */
    sti_Hint hint;  /* the narrow phase's own, kept as long as the pair is: collide.h               */
    double clear;   /* likewise the contact stage's                                                 */
    int cache_slot; /* and its place for a patch; 0: none                                           */
} sti_Pair;

/* May shapes i and j touch? Puts them in order. */
typedef bool sti_PairFilter(const void *ctx, int i, int j, sti_PairKey *out);

/* What is known of a shape beforehand. */
typedef enum sti_Extent {
    STI_EXTENT_BOUNDED,
    STI_EXTENT_FIXED, /* and it never moves: no skin                                               */
    STI_EXTENT_PLANE  /* the half space below its pose's z axis                                    */
} sti_Extent;

typedef struct sti_PairPlane {
    int shape;
    st_Vec3 normal, on; /* where it was when its pairs were found                                  */
} sti_PairPlane;

typedef struct sti_Pairs {
    st_Allocator allocator;
    int n_shapes, n_planes;
    unsigned char *extent; /* sti_Extent of each shape                                             */
    bool *moved;           /* during a call                                                        */
    int *mover;            /* the n_movers with boxes that did                                     */
    int n_movers;
    int *since;           /* the call in which its fat box was made                                */
    sti_PairPlane *plane; /* n_planes                                                              */
    int64_t plane_capacity;
    sti_Tree tree;   /* of fat boxes                                                                 */
    double margin;   /* that the fat boxes allow for                                                 */
    int small_calls; /* in a row with a much smaller margin                                        */
    int calls;       /* since everything was made anew                                             */
    int64_t serial;  /* counts the changes of the list                                             */
    int64_t moves;   /* of boxes since the tree was built                                          */
    bool started;
    const sti_Cell *cell;   /* shapes are near if their images are; NULL: space is open                 */
    sti_PairFilter *filter; /* may be called by several threads                                     */
    const void *ctx;
    int threads; /* of a team, set by its owner: the list does not depend on it                    */
    int64_t n_pairs, n_fresh;
    sti_Pair *pair;
    sti_PairKey *fresh; /* found, in a call                                                        */
    int64_t pair_capacity, fresh_capacity;
    struct sti_PairSearch *search; /* of each thread but the first                                  */
    int n_searches;
} sti_Pairs;

st_Status sti_pairs_create(sti_Pairs *pairs, int n_shapes, const unsigned char *extent, sti_PairFilter *filter,
                           const void *ctx, const st_Allocator *allocator, st_Error *err);
void sti_pairs_free(sti_Pairs *pairs);
/* Bring pair[0 .. n_pairs - 1] up to date with the true boxes; of planes, with their poses. margin INFINITY: all
 * that may touch. Only the n shapes in `awake` have other boxes than in the call before; NULL: any may have. */
st_Status sti_pairs_update(sti_Pairs *pairs, const sti_Bounds *bounds, const st_Pose *pose, double margin,
                           const int *awake, int n, st_Error *err);

#endif
