/* collide/narrow/plane.c -- a half space against any bounded shape: the heights of corners and of lowest points.
 *
 * The distance of a face to a plane is not smooth in the angle; the heights of its corners are. So each corner is a
 * separate contact, found at any tilt.
 */
#include "collide/narrow/ball.h"
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

#include <stdlib.h>
#include <string.h>

typedef struct Against {
    st_Vec3 n, on; /* the plane */
    const sti_Collide *how;
    sti_Points *out;
    st_Error *err;
} Against;

static st_Status try_point(const Against *plane, st_Vec3 p, uint32_t feature)
{
    double gap = dot(plane->n, sub(p, plane->on));
    if (!(gap < plane->how->margin)) return ST_OK;
    return sti_points_add(plane->out, (sti_ContactPoint){gap, p, plane->n, feature % STI_FEATURES}, plane->err);
}

/* Lists corners of the triangles whose boxes reach below a height along n, in mesh axes, some more than once. */
typedef struct Below {
    const sti_Mesh *mesh;
    sti_Points *out;
    st_Status status;
    st_Error *err;
} Below;

static bool list_corners(void *ctx, int item)
{
    Below *below = ctx;
    sti_Points *out = below->out;
    below->status = STI_GROW(&out->allocator, out->list, out->list_capacity, out->n_list + 3, below->err);
    if (below->status != ST_OK) return false;
    memcpy(out->list + out->n_list, below->mesh->triangle[item].vertex, 3 * sizeof *out->list);
    out->n_list += 3;
    return true;
}

static int plane_by_number(const void *x, const void *y)
{
    const int *a = x, *b = y;
    return *a < *b ? -1 : *a > *b;
}

static st_Status try_mesh(const Against *plane, const sti_Mesh *mesh, st_Pose pose)
{
    sti_Points *out = plane->out;
    const int first = out->n, first_list = out->n_list;
    const double above = dot(plane->n, sub(pose.p, plane->on)); /* the mesh's origin */
    /* a few more than needed, because another order rounds differently */
    const sti_Bounds *b = &mesh->tree.node[0].bounds;
    const double height = plane->how->margin - above + 1e-12 * (fabs(above) + fmax(norm(b->lo), norm(b->hi)));
    Below below = {mesh, out, ST_OK, plane->err};
    sti_tree_below(&mesh->tree, rotate_back(pose.q, plane->n), height, list_corners, &below);
    st_Status status = below.status;
    const int n = out->n_list - first_list;
    int *vertex = out->list + first_list;
    if (n > 0) qsort(vertex, (size_t)n, sizeof *vertex, plane_by_number);
    for (int k = 0; k < n && status == ST_OK; k++)
        if (k == 0 || vertex[k] != vertex[k - 1])
            status = try_point(plane, pose_point(pose, mesh->vertex[vertex[k]]), (uint32_t)vertex[k]);
    out->n_list = first_list;
    STI_TRY(status);
    sti_reduce_points(plane->out, first, plane->how->keep);
    sti_order_features(plane->out, first);
    return ST_OK;
}

st_Status sti_plane_shape(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                          const sti_Collide *how, sti_Points *out, st_Error *err)
{
    (void)a;
    Against plane = {rotate(pose_a.q, vec3(0, 0, 1)), pose_a.p, how, out, err};
    sti_ContactPoint point;
    if (b->of->family == STI_FAMILY_SPHERES)
        return plane_ball(plane.n, plane.on, pose_b.p, b->radius, how, &point) ? sti_points_add(out, point, err)
                                                                               : ST_OK;
    if (b->mesh != NULL) return try_mesh(&plane, b->mesh, pose_b);
    sti_Core core;
    core_place(how->core_b, b, pose_b, &core);
    if (core_is_polytope(&core)) {
        st_Vec3 shift = scale(-core.radius, plane.n);
        int first = plane.out->n;
        for (int k = 0; k < sti_core_vertex_count(&core); k++)
            STI_TRY(try_point(&plane, add(sti_core_vertex(&core, k), shift), (uint32_t)k));
        if (core.kind == STI_CORE_HULL) {
            sti_reduce_points(plane.out, first, plane.how->keep);
            sti_order_features(plane.out, first);
        }
        return ST_OK;
    }
    if (!core_is_smooth(&core)) {
        /* The lowest point of each rim (of the rim and the apex), and, if nearly upright, eight points of the lower
         * rim: a single lowest point would move around under a standing cylinder. */
        st_Vec3 down = scale(-1, plane.n), z = core.axis[2];
        for (int end = 0; end < 2; end++) {
            const bool apex = core.kind == STI_CORE_CONE && end == 1;
            const st_Vec3 p =
                apex ? add(core.p, scale(core.hi, z)) : core_rim_point(&core, down, end == 0 ? core.lo : core.hi);
            STI_TRY(try_point(&plane, p, (uint32_t)end));
        }
        sti_Feature feature;
        sti_core_feature(&core, down, &feature);
        if (feature.n <= 2) return ST_OK;
        int first = plane.out->n;
        for (int k = 0; k < feature.n; k++)
            STI_TRY(try_point(&plane, feature.point[k], (uint32_t)(2 + 8 * (dot(z, down) > 0) + feature.id[k])));
        sti_reduce_points(plane.out, first, plane.how->keep);
        sti_order_features(plane.out, first);
        return ST_OK;
    }
    return try_point(&plane, sti_support(&core, scale(-1, plane.n)), 0);
}
