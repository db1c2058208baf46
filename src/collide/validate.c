#include "collide/validate.h"

bool sti_tree_is_valid(const sti_Tree *tree)
{
    int items = 0;
    for (int k = 0; k < tree->n_nodes; k++) {
        const sti_TreeNode *node = &tree->node[k];
        if (node->parent < -1 || node->parent >= tree->n_nodes) return false;
        if (node->parent >= 0) {
            const sti_TreeNode *parent = &tree->node[node->parent];
            if (parent->left != k && parent->left + 1 != k) return false;
            if (!bounds_hold(&parent->bounds, &node->bounds)) return false;
        }
        if (node->left >= 0) continue;
        if (node->first < 0 || node->first + node->count > tree->n_items) return false;
        for (int e = node->first; e < node->first + node->count; e++, items++) {
            const int item = tree->item[e];
            if (item < 0 || item >= tree->n_items || tree->leaf[item] != k) return false;
            if (!bounds_hold(&node->bounds, &tree->bounds[item])) return false;
        }
    }
    return items == tree->n_items;
}

/* Has the loop of a face this edge, from one vertex to the other? */
static bool loop_has(const sti_Facets *f, int face, int from, int to)
{
    const int first = f->face_first[face], n = f->face_first[face + 1] - first;
    for (int k = 0; k < n; k++)
        if (f->face_vertex[first + k] == from && f->face_vertex[first + (k + 1) % n] == to) return true;
    return false;
}

bool sti_facets_are_valid(const sti_Facets *f)
{
    double size = 0;
    for (int k = 0; k < f->n_vertices; k++)
        size = fmax(size, norm(f->vertex[k]));
    if (f->n_vertices - f->n_edges + f->n_faces != 2 || f->face_first[f->n_faces] != 2 * f->n_edges) return false;
    for (int face = 0; face < f->n_faces; face++) {
        if (!(fabs(norm(f->normal[face]) - 1) <= 1e-12)) return false;
        for (int k = 0; k < f->n_vertices; k++)
            if (!(dot(f->normal[face], f->vertex[k]) <= f->offset[face] + 1e-9 * size)) return false;
    }
    for (int k = 0; k < f->n_edges; k++) {
        const int *edge = f->edge + (ptrdiff_t)4 * k;
        if (!loop_has(f, edge[2], edge[0], edge[1]) || !loop_has(f, edge[3], edge[1], edge[0])) return false;
    }
    return true;
}

bool sti_mesh_is_valid(const sti_Mesh *mesh)
{
    for (int t = 0; t < mesh->n_triangles; t++)
        for (int e = 0; e < 3; e++) {
            const sti_Triangle *own = &mesh->triangle[t];
            if (own->vertex[e] < 0 || own->vertex[e] >= mesh->n_vertices) return false;
            if (own->neighbour[e] < 0) continue;
            const sti_Triangle *other = &mesh->triangle[own->neighbour[e]];
            bool back = false;
            for (int k = 0; k < 3; k++)
                back = back || (other->neighbour[k] == t && other->vertex[k] == own->vertex[(e + 1) % 3] &&
                                other->vertex[(k + 1) % 3] == own->vertex[e]);
            if (!back) return false;
        }
    return sti_tree_is_valid(&mesh->tree);
}

bool sti_points_are_valid(const sti_Points *points, int first)
{
    for (int k = first; k < points->n; k++) {
        const sti_ContactPoint *p = &points->point[k];
        if (!(fabs(dot(p->normal, p->normal) - 1) <= 1e-9)) return false;
        if (k > first && p->feature <= points->point[k - 1].feature) return false;
    }
    return true;
}

bool sti_pairs_are_valid(const sti_Pairs *pairs)
{
    for (int64_t k = 0; k < pairs->n_pairs; k++) {
        const sti_Pair *pair = &pairs->pair[k], *last = pair - 1;
        if (pair->i < 0 || pair->i >= pairs->n_shapes || pair->j < 0 || pair->j >= pairs->n_shapes) return false;
        if (k > 0 && (last->i > pair->i || (last->i == pair->i && last->j >= pair->j))) return false;
    }
    return true;
}
