#include "collide/broad/tree.h"

#define LEAF_ITEMS 4
#define MAX_DEPTH  64 /* median splits halve: 2^31 items need 32 levels */

st_Status sti_tree_reserve(const st_Allocator *allocator, sti_Tree *tree, int n, st_Error *err)
{
    STI_TRY(STI_GROW(allocator, tree->item, tree->item_capacity, n, err));
    STI_TRY(STI_GROW(allocator, tree->leaf, tree->leaf_capacity, n, err));
    STI_TRY(STI_GROW(allocator, tree->bounds, tree->bounds_capacity, n, err));
    /* leaves have at least two items, except for a single one */
    STI_TRY(STI_GROW(allocator, tree->node, tree->node_capacity, (int64_t)n + 1, err));
    tree->n_items = n;
    return ST_OK;
}

void sti_tree_free(const st_Allocator *allocator, sti_Tree *tree)
{
    STI_RELEASE(allocator, tree->item, tree->item_capacity);
    STI_RELEASE(allocator, tree->leaf, tree->leaf_capacity);
    STI_RELEASE(allocator, tree->bounds, tree->bounds_capacity);
    STI_RELEASE(allocator, tree->node, tree->node_capacity);
    tree->n_items = tree->n_nodes = 0;
}

static double centre_along(const sti_Bounds *b, int axis)
{
    return axis == 0 ? b->lo.x + b->hi.x : axis == 1 ? b->lo.y + b->hi.y : b->lo.z + b->hi.z;
}

static st_Vec3 centre2(const sti_Bounds *b) /* twice the centre */
{
    return add(b->lo, b->hi);
}

static sti_Bounds leaf_bounds(const sti_Tree *tree, int first, int count)
{
    sti_Bounds b = tree->bounds[tree->item[first]];
    for (int k = 1; k < count; k++)
        b = bounds_union(b, tree->bounds[tree->item[first + k]]);
    return b;
}

/* Is item a before item b? Ordered by centre, then by number, so that equal centres still split in halves. */
static bool before(const sti_Tree *tree, int axis, int a, int b)
{
    double x = centre_along(&tree->bounds[a], axis), y = centre_along(&tree->bounds[b], axis);
    return x < y || (x == y && a < b);
}

static void exchange(int *item, int a, int b)
{
    int c = item[a];
    item[a] = item[b], item[b] = c;
}

/* Quickselect: the `middle` smallest of items [lo, hi] come first. */
static void select_middle(sti_Tree *tree, int axis, int lo, int hi, int middle)
{
    int *item = tree->item;
    while (lo < hi) { /* every pass fixes at least the pivot */
        int centre = lo + (hi - lo) / 2;
        if (before(tree, axis, item[hi], item[lo])) exchange(item, lo, hi);
        if (before(tree, axis, item[centre], item[lo])) exchange(item, lo, centre);
        if (before(tree, axis, item[hi], item[centre])) exchange(item, centre, hi);
        int pivot = item[centre], i = lo, j = hi;
        while (i <= j) {
            while (before(tree, axis, item[i], pivot))
                i++;
            while (before(tree, axis, pivot, item[j]))
                j--;
            if (i <= j) exchange(item, i++, j--);
        }
        if (middle <= j)
            hi = j;
        else if (middle >= i)
            lo = i;
        else
            return;
    }
}

void sti_tree_build(sti_Tree *tree)
{
    int n = tree->n_items, next = 0;
    tree->n_nodes = 0;
    if (n == 0) return;
    for (int k = 0; k < n; k++)
        tree->item[k] = k;
    tree->node[0] = (sti_TreeNode){.parent = -1, .first = 0, .count = n};
    tree->n_nodes = 1;
    for (; next < tree->n_nodes; next++) { /* breadth first: children come after their parents */
        sti_TreeNode *node = &tree->node[next];
        int first = node->first, count = node->count;
        node->left = -1;
        if (count <= LEAF_ITEMS) {
            for (int k = first; k < first + count; k++)
                tree->leaf[tree->item[k]] = next;
            continue;
        }
        int half = count / 2;

        /* Longest axis of the box around the centres. */
        st_Vec3 c = centre2(&tree->bounds[tree->item[first]]);
        sti_Bounds all = {c, c};
        for (int k = first + 1; k < first + count; k++) {
            c = centre2(&tree->bounds[tree->item[k]]);
            all = bounds_union(all, (sti_Bounds){c, c});
        }
        st_Vec3 side = sub(all.hi, all.lo);
        int best = side.y > side.x ? 1 : 0;
        select_middle(tree, side.z > (best == 1 ? side.y : side.x) ? 2 : best, first, first + count - 1, first + half);

        node->left = tree->n_nodes;
        tree->node[tree->n_nodes++] = (sti_TreeNode){.parent = next, .first = first, .count = half};
        tree->node[tree->n_nodes++] = (sti_TreeNode){.parent = next, .first = first + half, .count = count - half};
    }
    sti_tree_refit(tree);
}

void sti_tree_refit(sti_Tree *tree)
{
    for (int k = tree->n_nodes - 1; k >= 0; k--) {
        sti_TreeNode *node = &tree->node[k];
        node->bounds = node->left < 0 ? leaf_bounds(tree, node->first, node->count)
                                      : bounds_union(tree->node[node->left].bounds, tree->node[node->left + 1].bounds);
    }
}

void sti_tree_move(sti_Tree *tree, int item)
{
    int k = tree->leaf[item];
    tree->node[k].bounds = leaf_bounds(tree, tree->node[k].first, tree->node[k].count);
    for (k = tree->node[k].parent; k >= 0; k = tree->node[k].parent) {
        int left = tree->node[k].left;
        tree->node[k].bounds = bounds_union(tree->node[left].bounds, tree->node[left + 1].bounds);
    }
}

void sti_tree_query(const sti_Tree *tree, const sti_Bounds *bounds, sti_TreeVisit *visit, void *ctx)
{
    int stack[MAX_DEPTH], depth = 0;
    if (tree->n_nodes == 0) return;
    stack[depth++] = 0;
    while (depth > 0) {
        const sti_TreeNode *node = &tree->node[stack[--depth]];
        if (!bounds_overlap(&node->bounds, bounds)) continue;
        if (node->left >= 0) {
            stack[depth++] = node->left + 1;
            stack[depth++] = node->left;
            continue;
        }
        for (int k = node->first; k < node->first + node->count; k++) {
            int item = tree->item[k];
            if (bounds_overlap(&tree->bounds[item], bounds) && !visit(ctx, item)) return;
        }
    }
}

void sti_tree_below(const sti_Tree *tree, st_Vec3 n, double height, sti_TreeVisit *visit, void *ctx)
{
    int stack[MAX_DEPTH], depth = 0;
    if (tree->n_nodes == 0) return;
    stack[depth++] = 0;
    while (depth > 0) {
        const sti_TreeNode *node = &tree->node[stack[--depth]];
        if (!(dot(n, bounds_lowest(&node->bounds, n)) < height)) continue;
        if (node->left >= 0) {
            stack[depth++] = node->left + 1;
            stack[depth++] = node->left;
            continue;
        }
        for (int k = node->first; k < node->first + node->count; k++) {
            const int item = tree->item[k];
            if (dot(n, bounds_lowest(&tree->bounds[item], n)) < height && !visit(ctx, item)) return;
        }
    }
}

/* Square of the distance of two boxes. */
static double apart2(const sti_Bounds *a, const sti_Bounds *b)
{
    double x = fmax(0, fmax(a->lo.x - b->hi.x, b->lo.x - a->hi.x));
    double y = fmax(0, fmax(a->lo.y - b->hi.y, b->lo.y - a->hi.y));
    double z = fmax(0, fmax(a->lo.z - b->hi.z, b->lo.z - a->hi.z));
    return x * x + y * y + z * z;
}

void sti_tree_near(const sti_Tree *tree, const sti_Bounds *bounds, const double *within, sti_TreeVisit *visit,
                   void *ctx)
{
    int stack[MAX_DEPTH], depth = 0;
    if (tree->n_nodes == 0) return;
    stack[depth++] = 0;
    while (depth > 0) {
        const sti_TreeNode *node = &tree->node[stack[--depth]];
        double reach = fmax(*within, 0) * (1 + 1e-12); /* margin for the rounding of squares */
        if (apart2(&node->bounds, bounds) > reach * reach) continue;
        if (node->left >= 0) {
            int left = node->left;
            bool right_first = apart2(&tree->node[left + 1].bounds, bounds) < apart2(&tree->node[left].bounds, bounds);
            stack[depth++] = right_first ? left : left + 1;
            stack[depth++] = right_first ? left + 1 : left;
            continue;
        }
        for (int k = node->first; k < node->first + node->count; k++) {
            int item = tree->item[k];
            reach = fmax(*within, 0) * (1 + 1e-12);
            if (apart2(&tree->bounds[item], bounds) <= reach * reach && !visit(ctx, item)) return;
        }
    }
}

/* Does from + s way, 0 <= s <= limit, intersect the box? Slab by slab. */
static bool ray_meets(const sti_Bounds *b, st_Vec3 from, st_Vec3 way, double limit)
{
    const double p[3] = {from.x, from.y, from.z}, d[3] = {way.x, way.y, way.z};
    const double lo[3] = {b->lo.x, b->lo.y, b->lo.z}, hi[3] = {b->hi.x, b->hi.y, b->hi.z};
    double enter = 0, leave = limit;
    for (int k = 0; k < 3; k++) {
        if (d[k] == 0) {
            if (p[k] < lo[k] || p[k] > hi[k]) return false;
            continue;
        }
        double s = (lo[k] - p[k]) / d[k], t = (hi[k] - p[k]) / d[k];
        enter = fmax(enter, fmin(s, t));
        leave = fmin(leave, fmax(s, t));
    }
    return enter <= leave * (1 + 1e-12) + 1e-300;
}

void sti_tree_ray(const sti_Tree *tree, st_Vec3 from, st_Vec3 way, double *limit, sti_TreeVisit *visit, void *ctx)
{
    int stack[MAX_DEPTH], depth = 0;
    if (tree->n_nodes == 0) return;
    stack[depth++] = 0;
    while (depth > 0) {
        const sti_TreeNode *node = &tree->node[stack[--depth]];
        if (!ray_meets(&node->bounds, from, way, *limit)) continue;
        if (node->left >= 0) {
            stack[depth++] = node->left + 1;
            stack[depth++] = node->left;
            continue;
        }
        for (int k = node->first; k < node->first + node->count; k++) {
            int item = tree->item[k];
            if (ray_meets(&tree->bounds[item], from, way, *limit) && !visit(ctx, item)) return;
        }
    }
}
