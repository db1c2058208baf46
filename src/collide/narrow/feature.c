/* collide/narrow/feature.c -- the face, edge or corner of a core that faces a direction. */
#include "collide/narrow/manifold.h"

/* A face counts as facing n up to this angle, and an edge as perpendicular to n likewise. With a larger angle more
 * of the points on which a tilted body will land are found; the margin selects among them. */
#define FACING        0.2
#define RIM_POINTS    8
#define FACING_COSINE (1 - 0.5 * FACING * FACING)
#define MOST_ROOM     0.05 /* [rad] */

static void set_point(sti_Feature *out, st_Vec3 p, int id)
{
    out->n = 1;
    out->point[0] = p, out->id[0] = id;
}

static void set_edge(sti_Feature *out, st_Vec3 p, int i, st_Vec3 q, int j)
{
    out->n = 2;
    out->point[0] = p, out->id[0] = i;
    out->point[1] = q, out->id[1] = j;
}

/* How far a direction may turn until a face at the cosine `along` begins or ceases to face it: d cos(t) is sin(t)
 * dt, and sin(t) is below 0.3 around FACING. */
static double feature_room_of_face(double along)
{
    return sti_smaller(fabs(along - FACING_COSINE) / 0.3, MOST_ROOM);
}

static void box_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out, double *room)
{
    const st_Vec3 local = core_to_local(core, n);
    const double c[3] = {local.x, local.y, local.z};
    int most = 0, least = 0, corner = 0;
    for (int e = 0; e < 3; e++) {
        if (fabs(c[e]) > fabs(c[most])) most = e;
        if (fabs(c[e]) < fabs(c[least])) least = e;
        if (c[e] >= 0) corner |= 1 << e;
    }
    const double middle = fabs(c[most != least ? 3 - most - least : (most + 1) % 3]);
    *room = feature_room_of_face(fabs(c[most]));
    if (fabs(c[most]) >= FACING_COSINE) {
        const sti_Facets *f = core->facets;
        out->face = 2 * most + (c[most] > 0);
        out->normal = core_to_world(core, f->normal[out->face]);
        out->n = 4;
        for (int k = 0; k < 4; k++) {
            out->id[k] = f->face_vertex[f->face_first[out->face] + k];
            out->point[k] = sti_core_vertex(core, out->id[k]);
        }
    } else if (fabs(c[least]) <= FACING) {
        int i = corner & ~(1 << least), j = corner | 1 << least;
        set_edge(out, sti_core_vertex(core, i), i, sti_core_vertex(core, j), j);
        *room = sti_smaller(*room, sti_smaller(FACING - fabs(c[least]), 0.5 * (middle - fabs(c[least]))));
    } else {
        set_point(out, sti_core_vertex(core, corner), corner);
        *room = sti_smaller(*room, fabs(c[least]) - FACING);
    }
}

static void set_hull_edge(const sti_Core *core, int edge, sti_Feature *out)
{
    const int i = core->facets->edge[4 * edge], j = core->facets->edge[4 * edge + 1];
    set_edge(out, sti_core_vertex(core, i), i, sti_core_vertex(core, j), j);
}

static void set_hull_face(const sti_Core *core, int face, sti_Feature *out)
{
    const sti_Facets *f = core->facets;
    out->face = face;
    out->normal = core_to_world(core, f->normal[face]);
    out->n = sti_face_corners(f, face);
    for (int k = 0; k < out->n; k++) {
        out->id[k] = sti_face_corner(f, face, k);
        out->point[k] = sti_core_vertex(core, out->id[k]);
    }
}

/* The edge at a vertex that is most nearly perpendicular, if there is one; else the vertex. */
static void hull_edge_feature(const sti_Core *core, st_Vec3 local, int top, sti_Feature *out, double *room)
{
    const sti_Facets *f = core->facets;
    int best = -1;
    double least = INFINITY, second = INFINITY;
    for (int s = f->spoke_first[top]; s < f->spoke_first[top + 1]; s++) {
        const int *edge = f->edge + (ptrdiff_t)4 * f->spoke[s];
        const st_Vec3 way = sub(f->vertex[edge[1]], f->vertex[edge[0]]);
        const double along = dot(way, local), square = along * along / dot(way, way);
        if (square < least)
            second = least, least = square, best = f->spoke[s];
        else
            second = sti_smaller(second, square);
    }
    const double sine = sqrt(least);
    *room = sti_smaller(*room, fabs(FACING - sine));
    if (least < FACING * FACING) {
        set_hull_edge(core, best, out);
        *room = sti_smaller(*room, 0.5 * (sqrt(second) - sine));
    } else {
        set_point(out, sti_core_vertex(core, top), top);
    }
}

/* The feature that faces n is at the vertex that is farthest along it. */
static void hull_feature_around(const sti_Core *core, st_Vec3 local, int top, sti_Feature *out, double *room)
{
    const sti_Facets *f = core->facets;
    int best = -1;
    double most = -1, second = -1;
    for (int s = f->spoke_first[top]; s < f->spoke_first[top + 1]; s++) {
        /* The face around vertex v that belongs to one of its edges: its loop leaves v along that edge. */
        const int *edge = f->edge + (ptrdiff_t)4 * f->spoke[s];
        const int face = edge[0] == top ? edge[2] : edge[3];
        const double along = dot(f->normal[face], local);
        if (along >= most)
            second = most, most = along, best = face;
        else if (along > second)
            second = along;
    }
    *room = feature_room_of_face(most);
    if (!(most >= FACING_COSINE)) {
        hull_edge_feature(core, local, top, out, room);
        return;
    }
    *room = sti_smaller(*room, 0.5 * (most - second));
    set_hull_face(core, best, out);
}

/* The feature around an edge that is farthest along n as a whole. */
static void hull_feature_beside(const sti_Core *core, st_Vec3 local, int edge, sti_Feature *out, double *room)
{
    const sti_Facets *f = core->facets;
    const int *beside = f->edge + (ptrdiff_t)4 * edge + 2;
    const double first = dot(f->normal[beside[0]], local), second = dot(f->normal[beside[1]], local);
    const double most = first >= second ? first : second;
    *room = feature_room_of_face(most);
    if (most >= FACING_COSINE) {
        *room = sti_smaller(*room, 0.5 * fabs(first - second));
        set_hull_face(core, beside[first >= second ? 0 : 1], out);
    } else {
        set_hull_edge(core, edge, out);
    }
}

static void hull_feature(const sti_Core *core, st_Vec3 n, sti_Farthest farthest, sti_Feature *out, double *room)
{
    const st_Vec3 local = core_to_local(core, n);
    switch (farthest.kind) {
    case STI_FARTHEST_UNKNOWN:
        hull_feature_around(core, local, sti_facets_farthest(core->facets, local), out, room);
        *room = 0;
        break;
    case STI_FARTHEST_FACE:
        set_hull_face(core, farthest.index, out);
        *room = MOST_ROOM;
        break;
    case STI_FARTHEST_EDGE:
        hull_feature_beside(core, local, farthest.index, out, room);
        break;
    case STI_FARTHEST_CORNER:
        hull_feature_around(core, local, farthest.index, out, room);
        break;
    }
}

static void triangle_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out)
{
    double facing = dot(n, core->axis[2]), least = FACING;
    if (fabs(facing) >= FACING_COSINE) {
        out->face = facing < 0;
        out->normal = scale(facing < 0 ? -1 : 1, core->axis[2]);
        out->n = 3;
        for (int k = 0; k < 3; k++) {
            int v = facing < 0 ? 2 - k : k; /* counter-clockwise from the visible side */
            out->point[k] = core->corner[v], out->id[k] = v;
        }
        return;
    }
    int top = 0, best = -1;
    for (int k = 1; k < 3; k++)
        if (dot(n, sub(core->corner[k], core->corner[top])) > 0) top = k;
    for (int k = 0; k < 3; k++) {
        st_Vec3 way = sub(core->corner[(k + 1) % 3], core->corner[k]);
        double along = fabs(dot(way, n)) / norm(way);
        if ((k == top || (k + 1) % 3 == top) && along < least) least = along, best = k;
    }
    set_point(out, core->corner[top], top);
    if (best >= 0) set_edge(out, core->corner[best], best, core->corner[(best + 1) % 3], (best + 1) % 3);
}

/* Eight points of a rim, fixed in the shape. */
static void rim_feature(const sti_Core *core, double z, sti_Feature *out)
{
    static const double c[RIM_POINTS] = {1,  0.70710678118654752,  0, -0.70710678118654752,
                                         -1, -0.70710678118654752, 0, 0.70710678118654752};
    out->face = z > 0;
    out->normal = scale(z > 0 ? 1 : -1, core->axis[2]);
    out->n = RIM_POINTS;
    for (int k = 0; k < RIM_POINTS; k++) {
        int v = z > 0 ? k : RIM_POINTS - 1 - k;
        out->id[k] = v;
        out->point[k] =
            add(core->p, core_to_world(core, vec3(core->extent * c[v], core->extent * c[(v + 6) % RIM_POINTS], z)));
    }
}

static void cylinder_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out)
{
    double z = dot(core->axis[2], n);
    st_Vec3 rim = sti_support(core, n);
    if (fabs(z) >= FACING_COSINE)
        rim_feature(core, z > 0 ? core->hi : core->lo, out);
    else if (fabs(z) <= FACING) {
        st_Vec3 other = add(rim, scale(z >= 0 ? core->lo - core->hi : core->hi - core->lo, core->axis[2]));
        if (z >= 0)
            set_edge(out, other, 0, rim, 1);
        else
            set_edge(out, rim, 0, other, 1);
    } else
        set_point(out, rim, z > 0);
}

static void cone_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out)
{
    double z = dot(core->axis[2], n);
    if (-z >= FACING_COSINE) {
        rim_feature(core, core->lo, out);
        return;
    }
    st_Vec3 apex = add(core->p, scale(core->hi, core->axis[2]));
    const st_Vec3 rim = core_rim_point(core, n, core->lo), way = sub(rim, apex);
    if (fabs(dot(way, n)) <= FACING * norm(way))
        set_edge(out, apex, 0, rim, 1);
    else
        set_point(out, sti_support(core, n), 0);
}

void sti_core_feature(const sti_Core *core, st_Vec3 n, sti_Feature *out)
{
    double unused;
    sti_core_feature_at(core, n, (sti_Farthest){STI_FARTHEST_UNKNOWN, 0}, out, &unused);
}

void sti_core_feature_at(const sti_Core *core, st_Vec3 n, sti_Farthest farthest, sti_Feature *out, double *room)
{
    out->face = -1;
    *room = 0;
    switch (core->kind) {
    case STI_CORE_POINT:
    case STI_CORE_ELLIPSOID:
    case STI_CORE_SMOOTH:
        set_point(out, sti_support(core, n), 0);
        break;
    case STI_CORE_SEGMENT:
        set_point(out, sti_support(core, n), dot(core->axis[core->along], n) > 0);
        if (fabs(dot(core->axis[core->along], n)) <= FACING) set_edge(out, core->corner[0], 0, core->corner[1], 1);
        break;
    case STI_CORE_TRIANGLE:
        triangle_feature(core, n, out);
        break;
    case STI_CORE_BOX:
        box_feature(core, n, out, room);
        break;
    case STI_CORE_HULL:
        hull_feature(core, n, farthest, out, room);
        break;
    case STI_CORE_CYLINDER:
        cylinder_feature(core, n, out);
        break;
    case STI_CORE_CONE:
        cone_feature(core, n, out);
        break;
    }
}
