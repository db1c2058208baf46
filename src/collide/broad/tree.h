/* collide/broad/tree.h -- axis-aligned boxes, and a binary tree over them.
 *
 * Built by median splits. Boxes may move afterwards: their ancestors are refitted, and after many moves the caller
 * rebuilds the tree (near_pairs.c). The shape of the tree depends on the past, the set of results does not.
 */
#ifndef STI_TREE_H
#define STI_TREE_H

#include "base/base.h"
#include "math/vec3.h"

typedef struct sti_Bounds {
    st_Vec3 lo, hi;
} sti_Bounds;

static inline bool bounds_overlap(const sti_Bounds *a, const sti_Bounds *b)
{
    return a->lo.x <= b->hi.x && b->lo.x <= a->hi.x && a->lo.y <= b->hi.y && b->lo.y <= a->hi.y && a->lo.z <= b->hi.z &&
           b->lo.z <= a->hi.z;
}
static inline bool bounds_hold(const sti_Bounds *outer, const sti_Bounds *inner)
{
    return outer->lo.x <= inner->lo.x && inner->hi.x <= outer->hi.x && outer->lo.y <= inner->lo.y &&
           inner->hi.y <= outer->hi.y && outer->lo.z <= inner->lo.z && inner->hi.z <= outer->hi.z;
}
/* The lowest corner along n. */
static inline st_Vec3 bounds_lowest(const sti_Bounds *b, st_Vec3 n)
{
    return vec3(n.x > 0 ? b->lo.x : b->hi.x, n.y > 0 ? b->lo.y : b->hi.y, n.z > 0 ? b->lo.z : b->hi.z);
}
/* Not fmin and fmax, which are calls and treat NaN: bounds are numbers. */
static inline sti_Bounds bounds_union(sti_Bounds a, sti_Bounds b)
{
    return (sti_Bounds){
        vec3(a.lo.x < b.lo.x ? a.lo.x : b.lo.x, a.lo.y < b.lo.y ? a.lo.y : b.lo.y, a.lo.z < b.lo.z ? a.lo.z : b.lo.z),
        vec3(a.hi.x > b.hi.x ? a.hi.x : b.hi.x, a.hi.y > b.hi.y ? a.hi.y : b.hi.y, a.hi.z > b.hi.z ? a.hi.z : b.hi.z)};
}
static inline sti_Bounds bounds_grown(sti_Bounds b, double by)
{
    return (sti_Bounds){vec3(b.lo.x - by, b.lo.y - by, b.lo.z - by), vec3(b.hi.x + by, b.hi.y + by, b.hi.z + by)};
}

typedef struct sti_TreeNode {
    sti_Bounds bounds;
    int parent;       /* -1: the root                                                              */
    int left;         /* children left and left + 1; -1: a leaf                                    */
    int first, count; /* a leaf's items: item[first .. first + count - 1]                          */
} sti_TreeNode;

typedef struct sti_Tree {
    int n_items, n_nodes;
    sti_TreeNode *node;
    int *item;          /* permutation of 0 .. n_items - 1                                         */
    int *leaf;          /* of each item                                                            */
    sti_Bounds *bounds; /* of each item                                                            */
    int64_t node_capacity, item_capacity, leaf_capacity, bounds_capacity;
} sti_Tree;

/* After sti_tree_reserve() the caller fills tree->bounds[0 .. n - 1]. */
st_Status sti_tree_reserve(const st_Allocator *allocator, sti_Tree *tree, int n, st_Error *err);
void sti_tree_build(sti_Tree *tree);
/* Call the first after tree->bounds[item] has changed, the second after many have. */
void sti_tree_move(sti_Tree *tree, int item);
void sti_tree_refit(sti_Tree *tree);
void sti_tree_free(const st_Allocator *allocator, sti_Tree *tree);

/* Visits every item with overlapping bounds, in any order: `visit` returns false to stop. */
typedef bool sti_TreeVisit(void *ctx, int item);
void sti_tree_query(const sti_Tree *tree, const sti_Bounds *bounds, sti_TreeVisit *visit, void *ctx);
/* Visits every item with bounds that reach below n . x = height. */
void sti_tree_below(const sti_Tree *tree, st_Vec3 n, double height, sti_TreeVisit *visit, void *ctx);
/* Visits items with bounds at most *within away, nearer branches first; visit may lower *within. */
void sti_tree_near(const sti_Tree *tree, const sti_Bounds *bounds, const double *within, sti_TreeVisit *visit,
                   void *ctx);
/* Visits items along a segment from + s way, 0 <= s <= *limit; visit may lower *limit. */
void sti_tree_ray(const sti_Tree *tree, st_Vec3 from, st_Vec3 way, double *limit, sti_TreeVisit *visit, void *ctx);

#endif
