#include "collide/narrow/support.h"

/* ---- placing ------------------------------------------------------------------------------------- */

sti_Core sti_core(const sti_Shape *shape, st_Pose pose)
{
    sti_Core core = {.p = pose.p, .half = vec3(1, 1, 1), .shape = shape};
    core.axis[0] = rotate(pose.q, vec3(1, 0, 0));
    core.axis[1] = rotate(pose.q, vec3(0, 1, 0));
    core.axis[2] = rotate(pose.q, vec3(0, 0, 1));
    if (shape->of->core != NULL) shape->of->core(shape, &core);
    return core;
}

sti_Core sti_core_triangle(st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    sti_Core core = {.kind = STI_CORE_TRIANGLE, .p = a, .corner = {a, b, c}};
    st_Vec3 n = cross(sub(b, a), sub(c, a)), e = sub(b, a);
    core.axis[0] = scale(1 / norm(e), e);
    core.axis[2] = scale(1 / norm(n), n);
    core.axis[1] = cross(core.axis[2], core.axis[0]);
    core.size = fmax(norm(e), norm(sub(c, a)));
    return core;
}

sti_Core sti_core_segment(st_Vec3 a, st_Vec3 b)
{
    st_Vec3 way = sub(b, a);
    sti_Core core = {.kind = STI_CORE_SEGMENT,
                     .p = scale(0.5, add(a, b)),
                     .half = vec3(1, 1, 1),
                     .extent = 0.5 * norm(way),
                     .corner = {a, b}};
    core.axis[0] = scale(1 / norm(way), way);
    core.axis[1] = orthogonal(core.axis[0]);
    core.axis[2] = cross(core.axis[0], core.axis[1]);
    core.size = core.extent;
    return core;
}

/* ---- support ------------------------------------------------------------------------------------- */

int sti_facets_farthest(const sti_Facets *f, st_Vec3 d)
{
    int best = 0;
    double most = dot(f->vertex[0], d);
    for (int k = 1; k < f->n_vertices; k++) {
        double along = dot(f->vertex[k], d);
        if (along > most) most = along, best = k;
    }
    return best;
}

st_Vec3 sti_support(const sti_Core *core, st_Vec3 d)
{
    switch (core->kind) {
    case STI_CORE_POINT:
        return core->p;
    case STI_CORE_SEGMENT:
        return core->corner[dot(d, sub(core->corner[1], core->corner[0])) > 0];
    case STI_CORE_TRIANGLE: {
        double x = dot(d, sub(core->corner[1], core->corner[0])), y = dot(d, sub(core->corner[2], core->corner[0]));
        return core->corner[x > 0 && x >= y ? 1 : y > 0 ? 2 : 0];
    }
    case STI_CORE_BOX: {
        st_Vec3 s = core_to_local(core, d);
        return add(core->p, core_to_world(core, vec3(copysign(core->half.x, s.x), copysign(core->half.y, s.y),
                                                     copysign(core->half.z, s.z))));
    }
    case STI_CORE_HULL:
        return add(core->p, core_to_world(
                                core, core->facets->vertex[sti_facets_farthest(core->facets, core_to_local(core, d))]));
    case STI_CORE_CYLINDER:
        return core_rim_point(core, d, dot(core->axis[2], d) >= 0 ? core->hi : core->lo);
    case STI_CORE_CONE: {
        const st_Vec3 apex = add(core->p, scale(core->hi, core->axis[2])), rim = core_rim_point(core, d, core->lo);
        return dot(d, sub(apex, rim)) > 0 ? apex : rim;
    }
    case STI_CORE_ELLIPSOID: {
        /* max d.x over |x/half| = 1: x = half^2 d / |half d| */
        st_Vec3 s = core_to_local(core, d);
        st_Vec3 h = vec3(core->half.x * s.x, core->half.y * s.y, core->half.z * s.z);
        double length = norm(h);
        if (!(length > 0)) return core->p;
        h = vec3(core->half.x * h.x / length, core->half.y * h.y / length, core->half.z * h.z / length);
        return add(core->p, core_to_world(core, h));
    }
    case STI_CORE_SMOOTH:
        return add(core->p, core_to_world(core, core->shape->of->support(core->shape, core_to_local(core, d))));
    }
    return core->p;
}

/* ---- vertices, faces, edges ---------------------------------------------------------------------- */

int sti_core_vertex_count(const sti_Core *core)
{
    if (core->facets != NULL) return core->facets->n_vertices;
    return core->kind == STI_CORE_POINT ? 1 : core->kind == STI_CORE_SEGMENT ? 2 : 3;
}

int sti_core_face_count(const sti_Core *core)
{
    return core->facets != NULL ? core->facets->n_faces : core->kind == STI_CORE_TRIANGLE ? 2 : 0;
}

void sti_core_face(const sti_Core *core, int k, st_Vec3 *normal, st_Vec3 *on)
{
    ST_ASSERT(k >= 0 && k < sti_core_face_count(core));
    if (core->facets == NULL) {
        *normal = scale(k == 0 ? 1 : -1, core->axis[2]);
        *on = core->corner[0];
        return;
    }
    *normal = core_to_world(core, core->facets->normal[k]);
    *on = sti_core_vertex(core, core->facets->face_vertex[core->facets->face_first[k]]);
}

int sti_core_edge_count(const sti_Core *core)
{
    if (core->facets != NULL) return core->facets->n_edges;
    return core->kind == STI_CORE_TRIANGLE ? 3 : core->kind == STI_CORE_SEGMENT ? 1 : 0;
}

void sti_core_edge(const sti_Core *core, int k, st_Vec3 end[2], st_Vec3 beside[2])
{
    ST_ASSERT(k >= 0 && k < sti_core_edge_count(core));
    if (core->facets == NULL) {
        end[0] = core->corner[k], end[1] = core->corner[(k + 1) % 3];
        if (core->kind == STI_CORE_SEGMENT) end[1] = core->corner[1];
        return;
    }
    const int *edge = core->facets->edge + (ptrdiff_t)4 * k;
    for (int s = 0; s < 2; s++) {
        end[s] = sti_core_vertex(core, edge[s]);
        beside[s] = core_to_world(core, core->facets->normal[edge[2 + s]]);
    }
}
