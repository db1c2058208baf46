/* collide/mesh/mesh_pair.c -- triangles against a convex shape, without false forces from the edges between them.
 *
 * An edge of a triangle need not be an edge of the surface. So a direction n is valid at a feature of the mesh only if
 * no part of the mesh around that feature is nearer along it, that is if n is in the polar of the mesh's tangent cone
 * there:
 *
 *     inside a triangle    n = its normal
 *     on an edge           n . (into either triangle) <= 0        none at a concave edge, n at a flat one
 *     at a vertex          n . (every edge from it) <= 0
 *
 * If the shapes are apart, the nearest points must pass this test. If they overlap, every convex edge and corner of
 * the triangle is treated separately, with its own way out of the shape, and must pass the test, too: a segment or a
 * point is never deeper in the shape than the mesh, and its position is known. In addition, every corner of the
 * shape over the triangle is a point with the gap along the triangle's normal, unless a neighbour's plane is nearer
 * to it. At a flat or concave edge between two triangles nothing is clipped. Features are numbered by the shape's
 * corners, so they stay the same when a box slides from triangle to triangle.
 */
#include "collide/mesh/inside.h"
#include "collide/mesh/mesh_overlap.h"
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

/* n may be outside the cone by this much, because of rounding of nearly flat surfaces. */
#define CONE_SLACK 1e-7
#define SAME_PLACE 1e-7

enum { MOST_CORNERS = 32 };

typedef struct Side {
    const sti_Mesh *mesh;
    st_Pose pose; /* relative to the same origin as the core */
    const sti_Core *core;
    double size;
    st_Vec3 origin;
    const sti_Collide *how;
    sti_Points *out;
    int first;
    st_Error *err;
    sti_Distance spare; /* the deepest of the overlapping triangles without a contact point: used if none has one */
    bool solids;        /* the mesh is solid, and the core is a triangle of another solid */
    bool crosses;       /* for solids: triangles touch or cross */
    int n_meetings;     /* number of crossing points */
    st_Vec3 meeting[2]; /* their sum, and one of them */
    st_Vec3 middle;     /* position of the core in the mesh's axes */
    int n_tried;        /* number of mesh corners, at the front, that were already tried for this core */
    int tried[MOST_CORNERS];
} Side;

/* A triangle in the common axes; a sheet seen from its back is turned over. */
typedef struct Face {
    int index;
    const sti_Triangle *triangle;
    sti_Core core;
    st_Vec3 v[3];
    st_Vec3 up; /* normal of the loop of corners */
    st_Vec3 n;  /* towards the shape: -up if turned */
    bool turned;
} Face;

/* ---- the mesh around a feature ------------------------------------------------------------------- */

static sti_Bend bend(const Face *face, int k)
{
    sti_Bend b = face->triangle->bend[k];
    if (!face->turned) return b;
    return b == STI_EDGE_CONVEX ? STI_EDGE_CONCAVE : b == STI_EDGE_CONCAVE ? STI_EDGE_CONVEX : b;
}

static bool edge_allows(const Side *side, const Face *face, int k, st_Vec3 n)
{
    if (bend(face, k) == STI_EDGE_BOUNDARY) return true;

    /* not into the neighbour across edge k, along its plane */
    st_Vec3 way = sub(face->v[(k + 1) % 3], face->v[k]);
    st_Vec3 up = rotate(side->pose.q, side->mesh->triangle[face->triangle->neighbour[k]].normal);
    return dot(n, scale(1 / norm(way), cross(way, up))) <= CONE_SLACK;
}

static bool vertex_allows(const Side *side, const Face *face, int k, st_Vec3 n)
{
    const sti_Mesh *mesh = side->mesh;
    int v = face->triangle->vertex[k];
    st_Vec3 local = rotate_back(side->pose.q, n);
    for (int s = mesh->spoke_first[v]; s < mesh->spoke_first[v + 1]; s++) {
        st_Vec3 way = sub(mesh->vertex[mesh->spoke[s]], mesh->vertex[v]);
        if (dot(local, way) > CONE_SLACK * norm(way)) return false;
    }
    return true;
}

/* ---- points -------------------------------------------------------------------------------------- */

/* p is on the core, and the radius is added. A point found from two triangles is one point. */
static st_Status mesh_pair_add_point(Side *side, double core_gap, st_Vec3 p, st_Vec3 n, uint32_t feature)
{
    double gap = core_gap - side->core->radius;
    st_Vec3 at = add(side->origin, sub(p, scale(side->core->radius, n)));
    if (!(gap < side->how->margin)) return ST_OK;
    for (int k = side->first; k < side->out->n; k++)
        if (norm(sub(side->out->point[k].point, at)) <= SAME_PLACE * side->size &&
            norm(sub(side->out->point[k].normal, n)) <= 1e-6)
            return ST_OK;
    return sti_points_add(side->out, (sti_ContactPoint){gap, at, n, feature}, side->err);
}

/* Is p, below the triangle, nearer to an adjacent surface? Of two planes with a clear angle the one with the least
 * height counts; with a small angle both do. */
static bool is_nearer_beside(const Side *side, const Face *face, st_Vec3 p, double gap)
{
    for (int k = 0; k < 3 && gap < 0; k++) {
        if (bend(face, k) != STI_EDGE_CONVEX) continue;
        const st_Vec3 up = rotate(side->pose.q, side->mesh->triangle[face->triangle->neighbour[k]].normal);
        const st_Vec3 n = face->turned ? scale(-1, up) : up; /* of the neighbour, towards the shape */
        if (dot(n, sub(p, face->v[k])) > 0.98 * gap) return true;
    }
    return false;
}

/* Adds corners of the shape over the triangle, and cuts by edges where the surface ends or falls away. */
static st_Status mesh_pair_add_patch(Side *side, const Face *face, bool inside)
{
    sti_Feature incident, reference = {.n = 3, .normal = face->up};
    sti_core_feature(side->core, scale(-1, face->n), &incident);
    for (int k = 0; k < 3; k++)
        reference.point[k] = face->v[k];
    sti_Clipped clipped;
    const double size = fmax(norm(sub(face->v[1], face->v[0])), norm(sub(face->v[2], face->v[0])));
    sti_clip(&reference, &incident, 1e-12 * size, NULL, &clipped);
    double least = INFINITY;
    for (int k = 0; k < clipped.n; k++) {
        const sti_ClippedPoint *at = &clipped.at[k];
        const int cut = at->cut;
        if (cut >= 0 && (bend(face, cut) == STI_EDGE_FLAT || bend(face, cut) == STI_EDGE_CONCAVE)) continue;
        double gap = dot(face->n, sub(at->point, face->v[0]));
        if (inside && is_nearer_beside(side, face, at->point, gap)) continue;
        uint32_t id = cut < 0 ? at->id : (at->id | ((uint32_t)(face->index * 3 + cut) % 511 + 1));
        STI_TRY(mesh_pair_add_point(side, gap, at->point, face->n, 1u << 18 | id));
        least = fmin(least, gap);
    }
    /* the lowest point of a round shape is no corner; a single corner was not clipped */
    st_Vec3 lowest = sti_support(side->core, scale(-1, face->n));
    double gap = dot(face->n, sub(lowest, face->v[0]));
    bool corner = core_is_polytope(side->core) || (inside && is_nearer_beside(side, face, lowest, gap));
    if (corner || !(gap < least - 1e-10 * side->size)) return ST_OK;
    for (int k = 0; k < 3; k++) { /* over the triangle? */
        st_Vec3 way = sub(face->v[(k + 1) % 3], face->v[k]);
        if (dot(cross(way, face->up), sub(lowest, face->v[k])) > 1e-12 * side->size * norm(way)) return ST_OK;
    }
    return mesh_pair_add_point(side, gap, lowest, face->n, 0);
}

/* ---- apart --------------------------------------------------------------------------------------- */

/* Where on the triangle a point is: -1 inside, 0 .. 2 edge, 3 .. 5 vertex. */
static int region(const Face *face, st_Vec3 p, double slack)
{
    int outside = 0, at = -1;
    for (int k = 0; k < 3; k++)
        if (norm(sub(p, face->v[k])) <= slack) return 3 + k;
    for (int k = 0; k < 3; k++) {
        st_Vec3 way = sub(face->v[(k + 1) % 3], face->v[k]);
        if (dot(cross(way, face->up), sub(p, face->v[k])) >= -slack * norm(way)) at = k, outside++;
    }
    return outside > 0 ? at : -1;
}

static st_Status apart(Side *side, const Face *face, const sti_Distance *d)
{
    int where = region(face, d->a, 1e-10 * side->size);
    double front = dot(d->normal, face->n);
    if (where >= 0 && where < 3 && !edge_allows(side, face, where, d->normal)) return ST_OK;
    if (where >= 3 && !vertex_allows(side, face, where - 3, d->normal)) return ST_OK;
    if (where < 0 || front > 1 - 1e-12) return ST_OK; /* along the normal: the patch includes it */
    return mesh_pair_add_point(side, d->gap, d->b, d->normal, 0);
}

/* ---- overlapping --------------------------------------------------------------------------------- */

/* Treats edge k separately, with its shortest way out of the shape: a contact if the edge allows that direction. Its
 * depth and position are those of the edge in the shape; under a face of the shape, at both ends of the overlapping
 * part. */
static st_Status mesh_pair_try_edge(Side *side, const Face *face, int k)
{
    const st_Vec3 v = face->v[k], w = face->v[(k + 1) % 3], way = sub(w, v);
    const st_Vec3 inward = scale(1 / norm(way), cross(face->up, way));
    const sti_Core edge = sti_core_segment(v, w);
    sti_Distance d;
    sti_core_distance(&edge, side->core, side->how->margin + side->core->radius, NULL, &d);
    if (d.beyond || dot(d.normal, inward) > CONE_SLACK || !edge_allows(side, face, k, d.normal)) return ST_OK;
    const int end = norm(sub(d.a, v)) <= SAME_PLACE * side->size   ? k
                    : norm(sub(d.a, w)) <= SAME_PLACE * side->size ? (k + 1) % 3
                                                                   : -1;
    if (end >= 0 && !vertex_allows(side, face, end, d.normal)) return ST_OK;
    sti_Feature over, under = {.n = 2, .point = {v, w}};
    sti_Clipped clipped;
    clipped.n = 0;
    sti_core_feature(side->core, scale(-1, d.normal), &over);
    if (over.n > 2) sti_clip(&over, &under, 1e-12 * side->core->size, NULL, &clipped);
    for (int i = 0; i < clipped.n; i++) {
        const double gap = dot(over.normal, sub(over.point[0], clipped.at[i].point)) / dot(over.normal, d.normal);
        const st_Vec3 p = add(clipped.at[i].point, scale(fmax(gap, d.gap), d.normal));
        STI_TRY(mesh_pair_add_point(side, fmax(gap, d.gap), p, d.normal, 2u << 18 | (uint32_t)i));
    }
    return mesh_pair_add_point(side, d.gap, d.b, d.normal, 0);
}

/* Is a point so far from the core that its distance is not needed? Uses the direction from the core's middle. */
static bool is_far(const sti_Core *core, st_Vec3 p, double beyond)
{
    const st_Vec3 d = sub(p, core->p);
    const double length = norm(d);
    return length > 0 && core_is_beyond(dot(d, sub(p, sti_support(core, d))) / length, beyond, core->size + length);
}

/* Likewise for corner k. All triangles around it give the same result. */
static st_Status mesh_pair_try_corner(Side *side, const Face *face, int k)
{
    const sti_Core corner = {.kind = STI_CORE_POINT, .p = face->v[k]};
    const double beyond = side->how->margin + side->core->radius;
    sti_Distance d;
    for (int e = 0; e < side->n_tried; e++)
        if (side->tried[e] == face->triangle->vertex[k]) return ST_OK;
    if (side->n_tried < MOST_CORNERS) side->tried[side->n_tried++] = face->triangle->vertex[k];
    if (is_far(side->core, corner.p, beyond)) return ST_OK;
    sti_core_distance(&corner, side->core, beyond, NULL, &d);
    if (d.beyond || !vertex_allows(side, face, k, d.normal)) return ST_OK;
    return mesh_pair_add_point(side, d.gap, d.b, d.normal, 0);
}

/* ---- a triangle ---------------------------------------------------------------------------------- */

/* The points where the edges of one triangle pass through the other: 0, 1 or 2. */
static int pierced(const st_Vec3 v[3], const st_Vec3 w[3], st_Vec3 n, st_Vec3 *sum, st_Vec3 *one)
{
    int count = 0;
    for (int k = 0; k < 3; k++) {
        st_Vec3 p = v[k], q = v[(k + 1) % 3];
        double x = dot(n, sub(p, w[0])), y = dot(n, sub(q, w[0]));
        if (x * y > 0 || x == y) continue;
        st_Vec3 at = add(p, scale(x / (x - y), sub(q, p)));
        bool over = true;
        for (int i = 0; i < 3; i++)
            over = over && dot(cross(n, sub(w[(i + 1) % 3], w[i])), sub(at, w[i])) >= 0;
        if (over) *sum = add(*sum, at), *one = at, count++;
    }
    return count;
}

/* Triangle `index` in the common axes, and the heights above it at which the shape begins and ends. */
static Face place_face(const Side *side, int index, double *lowest, double *highest)
{
    Face face = {.index = index, .triangle = &side->mesh->triangle[index]};
    for (int k = 0; k < 3; k++)
        face.v[k] = pose_point(side->pose, side->mesh->vertex[face.triangle->vertex[k]]);
    face.n = face.up = rotate(side->pose.q, face.triangle->normal);
    face.core = sti_core_triangle(face.v[0], face.v[1], face.v[2]);
    *lowest = dot(face.n, sub(sti_support(side->core, scale(-1, face.n)), face.v[0]));
    *highest = dot(face.n, sub(sti_support(side->core, face.n), face.v[0]));
    if (!side->mesh->solid && *lowest + *highest < 0) { /* a sheet is seen from the side of the shape */
        face.n = scale(-1, face.n);
        face.turned = true;
        double swap = *lowest;
        *lowest = -*highest, *highest = -swap;
    }
    return face;
}

/* *bare: it overlaps the shape but has no contact point. */
static st_Status mesh_pair_try_triangle(Side *side, int index, bool *bare)
{
    const sti_Core *core = side->core;
    double lowest, highest;
    const Face face = place_face(side, index, &lowest, &highest);
    *bare = false;
    if (lowest - core->radius >= side->how->margin || highest + core->radius <= 0) return ST_OK;
    sti_Distance d;
    sti_Simplex simplex;
    const double size = core->size + face.core.size, beyond = fmax(side->how->margin, 0) + core->radius;
    bool overlap = false;
    if (core->kind != STI_CORE_POINT) {
        /* The point of the triangle nearest to the shape's middle usually shows whether they are far apart or
         * overlap. If not, a search does, which is short for a point. */
        const st_Vec3 near = pose_point(side->pose, sti_mesh_nearest(side->mesh, index, side->middle)),
                      way = sub(core->p, near);
        const double length = norm(way);
        if (length > 0 && core_is_beyond(core_separation(&face.core, core, scale(1 / length, way)), beyond, size))
            return ST_OK;
        overlap = core->facets != NULL && sti_core_holds(core, near, -1e-9 * size);
    }
    const bool separate = !overlap && sti_gjk(&face.core, core, 1e-9 * size, beyond, &simplex, &d);
    if (separate && d.gap - core->radius >= side->how->margin) return ST_OK;
    if (separate && dot(d.normal, face.n) < 0 && lowest < 0 && highest <= 0)
        return core->radius > 0 ? mesh_pair_add_patch(side, &face, false)
                                : ST_OK; /* the middle is below the surface, the skin is not */
    if (!separate && side->solids) {     /* mesh_overlap.c */
        const st_Vec3 *w = core->corner;
        side->crosses = true;
        side->n_meetings += pierced(w, face.v, face.up, &side->meeting[0], &side->meeting[1]);
        side->n_meetings +=
            pierced(face.v, w, cross(sub(w[1], w[0]), sub(w[2], w[0])), &side->meeting[0], &side->meeting[1]);
        return ST_OK;
    }
    if (!separate) {
        const int first = side->out->n;
        STI_TRY(mesh_pair_add_patch(side, &face, true));
        for (int k = 0; k < 3; k++) {
            if (bend(&face, k) == STI_EDGE_CONVEX || bend(&face, k) == STI_EDGE_BOUNDARY)
                STI_TRY(mesh_pair_try_edge(side, &face, k));
            STI_TRY(mesh_pair_try_corner(side, &face, k));
        }
        *bare = lowest < 0; /* a triangle that is not below the shape only touches it */
        for (int k = first; k < side->out->n; k++)
            *bare = *bare && !(side->out->point[k].gap < 0);
        return ST_OK;
    }
    STI_TRY(apart(side, &face, &d));
    return lowest >= 0 ? mesh_pair_add_patch(side, &face, false) : ST_OK;
}

/* ---- wholly inside ------------------------------------------------------------------------------- */

/* Farthest point of a convex core or of a mesh along d. */
static st_Vec3 farthest(const sti_Core *core, const sti_Mesh *mesh, st_Pose pose, st_Vec3 d)
{
    if (mesh == NULL) return sti_support(core, d);
    st_Vec3 local = rotate_back(pose.q, d);
    int best = mesh->triangle[0].vertex[0];
    for (int t = 0; t < mesh->n_triangles; t++)
        for (int k = 0; k < 3; k++)
            if (dot(local, sub(mesh->vertex[mesh->triangle[t].vertex[k]], mesh->vertex[best])) > 0)
                best = mesh->triangle[t].vertex[k];
    return pose_point(pose, mesh->vertex[best]);
}

/* A shape that may be wholly inside a solid mesh: a core, or another mesh. */
typedef struct Guest {
    const sti_Shape *shape;
    st_Pose pose, in_solid; /* relative to the origin of the solid; in the solid's axes */
    const sti_Core *core;   /* NULL: a mesh                                                        */
} Guest;

/* A shape that touches no triangle of a solid because it is wholly inside leaves by the surface nearest to its
 * middle, or, if that is in a hole, nearest to one of its corners. The normal points out of the solid. Returns false
 * if it is not inside. */
static bool is_swallowed(const sti_Mesh *solid, st_Pose pose, const Guest *guest, sti_ContactPoint *out)
{
    st_Vec3 p = pose_point(guest->in_solid, guest->shape->middle), on, n, corner;
    if (!solid->solid) return false;
    if (guest->core == NULL) {
        /* A corner of a mesh that touches no triangle of the solid: the mesh is wholly inside or wholly outside. */
        const sti_Mesh *mesh = guest->shape->mesh;
        corner = pose_point(guest->in_solid, mesh->vertex[mesh->triangle[0].vertex[0]]);
        if (!sti_mesh_holds(solid, corner)) return false;
        if (!sti_mesh_way_out(solid, p, &on, &n) && !sti_mesh_way_out(solid, corner, &on, &n)) return false;
    } else if (!sti_mesh_way_out(solid, p, &on, &n)) {
        return false;
    }
    n = rotate(pose.q, n), on = pose_point(pose, on);
    st_Vec3 last = farthest(guest->core, guest->shape->mesh, guest->pose, scale(-1, n));
    double radius = guest->core != NULL ? guest->core->radius : 0;
    *out = (sti_ContactPoint){dot(n, sub(last, on)) - radius, sub(last, scale(radius, n)), n, 0};
    return true;
}

static st_Pose mesh_pair_inverse(st_Pose pose)
{
    st_Quat q = quat_conjugate(pose.q);
    return (st_Pose){scale(-1, rotate(q, pose.p)), q};
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* Checks all triangles near the core; `bounds` is its box in mesh axes. */
static st_Status collide_core(Side *side, const sti_Bounds *bounds)
{
    sti_Points *points = side->out;
    int first = points->n_list;
    side->n_tried = 0;
    side->middle = rotate_back(side->pose.q, sub(side->core->p, side->pose.p));
    st_Status status = sti_mesh_near(side->mesh, bounds, points, side->err);
    int n_bare = first; /* those without a contact point overwrite the ones already checked */
    for (int k = first; k < points->n_list && status == ST_OK; k++) {
        bool bare;
        const int index = points->list[k];
        status = mesh_pair_try_triangle(side, index, &bare);
        if (bare) points->list[n_bare++] = index;
    }
    points->n_list = first;
    for (int k = side->first; k < points->n; k++)
        if (points->point[k].gap < 0) return status;
    for (int k = first; k < n_bare && status == ST_OK; k++) {
        double lowest, highest;
        const Face face = place_face(side, points->list[k], &lowest, &highest);
        sti_Distance d;
        sti_core_distance(&face.core, side->core, INFINITY, NULL, &d);
        if (dot(d.normal, face.n) > 0 && d.gap < side->spare.gap) side->spare = d;
    }
    if (status != ST_OK || !(side->spare.gap < 0)) return status;
    return mesh_pair_add_point(side, side->spare.gap, side->spare.b, side->spare.normal, 0);
}

static st_Status mesh_pair_finish(sti_Points *out, int first, const sti_Collide *how, st_Status status)
{
    if (status != ST_OK) return status;
    if (how->keep != STI_KEEP_ALL) {
        /* keep the few that span each patch: points with the same normal belong together */
        int from = first, kept = first;
        while (from < out->n) {
            const int end = from + sti_group_by_normal(out->point + from, out->n - from, 0.02);
            sti_Points group = {.n = end - from, .point = out->point + from};
            sti_reduce_points(&group, 0, how->keep);
            memmove(out->point + kept, group.point, (size_t)group.n * sizeof *group.point);
            kept += group.n;
            from = end;
        }
        out->n = kept;
    }
    sti_order_features(out, first);
    return ST_OK;
}

st_Status sti_mesh_convex(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                          const sti_Collide *how, sti_Points *out, st_Error *err)
{
    st_Pose in_mesh = pose_product(mesh_pair_inverse(pose_a), pose_b);
    sti_Bounds bounds = bounds_grown(sti_shape_bounds(b, in_mesh), fmax(how->margin, 0));
    st_Vec3 origin = pose_b.p; /* all coordinates are relative to the shape's position */
    pose_a.p = sub(pose_a.p, origin);
    pose_b.p = vec3(0, 0, 0);
    sti_Core core = sti_core(b, pose_b);
    Side side = {.mesh = a->mesh,
                 .pose = pose_a,
                 .core = &core,
                 .size = b->reach > 0 ? b->reach : a->reach,
                 .origin = origin,
                 .how = how,
                 .out = out,
                 .first = out->n,
                 .err = err};
    st_Status status = collide_core(&side, &bounds);
    /* A ball with its middle inside the solid leaves through the nearest face: the others are no contacts. */
    sti_Points *p = side.out;
    double best = -INFINITY, radius = side.core->radius;
    if (side.core->kind == STI_CORE_POINT) {
        for (int k = side.first; k < p->n; k++)
            if (p->point[k].gap < -radius) best = fmax(best, p->point[k].gap);
        int n = side.first;
        for (int k = side.first; k < p->n; k++)
            if (!(p->point[k].gap < -radius) || p->point[k].gap == best) p->point[n++] = p->point[k];
        p->n = n;
    }
    sti_ContactPoint way_out;
    Guest guest = {b, pose_b, in_mesh, &core};
    if (status == ST_OK && out->n == side.first && is_swallowed(a->mesh, pose_a, &guest, &way_out)) {
        way_out.point = add(way_out.point, origin);
        status = sti_points_add(out, way_out, err);
    }
    return mesh_pair_finish(out, side.first, how, status);
}

/* Checks each triangle of b as a thin convex shape against the near triangles of a, searched in a's axes. */
static st_Status collide_plates(Side *side, const sti_Mesh *b, st_Pose pose_b, st_Pose to_a, const sti_Bounds *bounds)
{
    sti_Points *out = side->out;
    double margin = fmax(side->how->margin, 0);
    out->n_list = 0;
    st_Status status = sti_mesh_near(b, bounds, out, side->err);
    int n_triangles = out->n_list;
    for (int k = 0; k < n_triangles && status == ST_OK; k++) {
        const sti_Triangle *t = &b->triangle[out->list[k]];
        st_Vec3 v[3], w[3];
        for (int i = 0; i < 3; i++) {
            v[i] = pose_point(pose_b, b->vertex[t->vertex[i]]);
            w[i] = pose_point(to_a, b->vertex[t->vertex[i]]);
        }
        sti_Core core = sti_core_triangle(v[0], v[1], v[2]);
        sti_Bounds near = bounds_union((sti_Bounds){w[0], w[0]}, (sti_Bounds){w[1], w[1]});
        near = bounds_grown(bounds_union(near, (sti_Bounds){w[2], w[2]}), margin);
        side->core = &core;
        status = collide_core(side, &near);
    }
    out->n_list = 0;
    side->core = NULL;
    return status;
}

/* Apart: triangle by triangle. Solids that touch or cross: mesh_overlap.c. One inside the other: its way out. */
st_Status sti_mesh_mesh(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                        sti_Points *out, st_Error *err)
{
    st_Pose to_b = pose_product(mesh_pair_inverse(pose_b), pose_a),
            to_a = pose_product(mesh_pair_inverse(pose_a), pose_b);
    sti_Bounds bounds = bounds_grown(sti_shape_bounds(a, to_b), fmax(how->margin, 0));
    st_Vec3 origin = pose_b.p;
    pose_a.p = sub(pose_a.p, origin);
    pose_b.p = vec3(0, 0, 0);
    Side side = {.mesh = a->mesh,
                 .pose = pose_a,
                 .size = b->reach,
                 .origin = origin,
                 .how = how,
                 .out = out,
                 .first = out->n,
                 .err = err,
                 .solids = a->mesh->solid && b->mesh->solid};
    STI_TRY(collide_plates(&side, b->mesh, pose_b, to_a, &bounds));
    sti_ContactPoint way_out = {.gap = 0};
    Guest guest_a = {a, pose_a, to_b, NULL}, guest_b = {b, pose_b, to_a, NULL};
    st_Status status = ST_OK;
    if (side.crosses) {
        out->n = side.first;
        side.meeting[0] = scale(1.0 / (side.n_meetings > 0 ? side.n_meetings : 1), side.meeting[0]);
        status = sti_overlap(a->mesh, pose_a, b->mesh, pose_b, side.n_meetings > 0 ? side.meeting : NULL, origin, how,
                             out, err);
        out->n_list = 0;
    } else {
        bool b_inside = is_swallowed(a->mesh, pose_a, &guest_b, &way_out);
        bool a_inside = !b_inside && is_swallowed(b->mesh, pose_b, &guest_a, &way_out);
        if (a_inside) way_out.normal = scale(-1, way_out.normal); /* from a to b; the point is a's */
        way_out.point = add(way_out.point, origin);
        if (a_inside || b_inside) out->n = side.first, status = sti_points_add(out, way_out, err);
    }
    return mesh_pair_finish(out, side.first, how, status);
}
