/* collide/narrow/support.h -- a convex shape placed in space: its core, and the radius around it.
 *
 * Coordinates are in world axes relative to an origin near the pair, so that no digits are lost far from the world's
 * origin.
 */
#ifndef STI_CORE_H
#define STI_CORE_H

#include "base/assert.h"
#include "collide/shape.h"

typedef enum sti_CoreKind {
    STI_CORE_POINT,
    STI_CORE_SEGMENT,
    STI_CORE_TRIANGLE,
    STI_CORE_BOX,
    STI_CORE_HULL,
    STI_CORE_CYLINDER,
    STI_CORE_CONE,
    STI_CORE_ELLIPSOID,
    STI_CORE_SMOOTH /* any other shape without faces and edges: uses the support function of its descriptor */
} sti_CoreKind;

struct sti_Core {
    sti_CoreKind kind;
    st_Vec3 p;         /* position of its origin */
    st_Vec3 axis[3];   /* its x, y, z                                                                */
    st_Vec3 half;      /* box, ellipsoid                                                             */
    int along;         /* segment: which of its axes                                                 */
    double extent;     /* segment: half its length; cylinder, cone: radius                           */
    double lo, hi;     /* cylinder, cone: along z                                                    */
    double radius;     /* around the core                                                            */
    double size;       /* upper bound for the distance of any point of the core from p */
    st_Vec3 corner[3]; /* corners of a triangle or segment */
    const sti_Facets *facets;
    const sti_Shape *shape; /* NULL: made from a triangle or a segment */
};
typedef struct sti_Core sti_Core;

sti_Core sti_core(const sti_Shape *shape, st_Pose pose);
/* Likewise from `known`, the core at the origin; NULL: not known. */
static inline void core_place(const sti_Core *known, const sti_Shape *shape, st_Pose pose, sti_Core *out)
{
    if (known == NULL) {
        *out = sti_core(shape, pose);
        return;
    }
    *out = *known;
    out->p = pose.p;
    for (int k = 0; k < 2 && out->kind == STI_CORE_SEGMENT; k++)
        out->corner[k] = add(pose.p, out->corner[k]);
}
/* A segment from -half to half along an axis of its own; p and axes are set. */
static inline void core_set_segment(sti_Core *core, int along, double half)
{
    core->kind = STI_CORE_SEGMENT;
    core->along = along;
    core->extent = core->size = half;
    core->corner[0] = sub(core->p, scale(half, core->axis[along]));
    core->corner[1] = add(core->p, scale(half, core->axis[along]));
}
sti_Core sti_core_triangle(st_Vec3 a, st_Vec3 b, st_Vec3 c);
sti_Core sti_core_segment(st_Vec3 a, st_Vec3 b);

/* Faces and edges are flat and straight: signed distances are exact. */
static inline bool core_is_polytope(const sti_Core *core)
{
    return core->kind <= STI_CORE_HULL;
}
/* It has neither faces nor edges nor corners. */
static inline bool core_is_smooth(const sti_Core *core)
{
    return core->kind >= STI_CORE_ELLIPSOID;
}
static inline st_Vec3 core_to_world(const sti_Core *core, st_Vec3 a)
{
    return add(scale(a.x, core->axis[0]), add(scale(a.y, core->axis[1]), scale(a.z, core->axis[2])));
}
static inline st_Vec3 core_to_local(const sti_Core *core, st_Vec3 a)
{
    return vec3(dot(core->axis[0], a), dot(core->axis[1], a), dot(core->axis[2], a));
}

/* The unit vector n, turned slightly to be perpendicular to the unit vector e: the cross product of nearly parallel
 * edges is perpendicular to both only up to rounding over their angle, and a long edge magnifies that. */
static inline st_Vec3 sti_across(st_Vec3 n, st_Vec3 e)
{
    n = sub(n, scale(dot(n, e), e));
    return scale(1 / norm(n), n);
}

/* The point of the rim at height z of a cylinder or cone that is farthest along d; any point if d is along the axis. */
static inline st_Vec3 core_rim_point(const sti_Core *core, st_Vec3 d, double z)
{
    double x = dot(core->axis[0], d), y = dot(core->axis[1], d), across = sqrt(x * x + y * y);
    if (!(across > 0)) x = across = 1;
    const double r = core->extent / across;
    return add(core->p, core_to_world(core, vec3(r * x, r * y, z)));
}

/* The point of the core farthest along d (any length, not 0). */
st_Vec3 sti_support(const sti_Core *core, st_Vec3 d);

/* ---- polytopes: points, segments, triangles, boxes, hulls ---------------------------------------- */

int sti_core_vertex_count(const sti_Core *core);
/* The first vertex that is farthest along d, in the axes of the facets. */
int sti_facets_farthest(const sti_Facets *f, st_Vec3 d);
static inline st_Vec3 sti_core_vertex(const sti_Core *core, int k)
{
    if (core->facets == NULL) {
        ST_ASSERT(k >= 0 && k < (core->kind == STI_CORE_POINT ? 1 : core->kind == STI_CORE_SEGMENT ? 2 : 3));
        return core->kind == STI_CORE_POINT ? core->p : core->corner[k];
    }
    ST_ASSERT(k >= 0 && k < core->facets->n_vertices);
    st_Vec3 v = core->facets->vertex[k]; /* of a box in units of half, which is 1 for hulls */
    return add(core->p, core_to_world(core, vec3(core->half.x * v.x, core->half.y * v.y, core->half.z * v.z)));
}
int sti_core_face_count(const sti_Core *core);
/* Outward unit and one vertex of face k. A triangle has two faces. */
void sti_core_face(const sti_Core *core, int k, st_Vec3 *normal, st_Vec3 *on);
int sti_core_edge_count(const sti_Core *core);
/* Ends of edge k; face normals beside it (boxes and hulls). */
void sti_core_edge(const sti_Core *core, int k, st_Vec3 end[2], st_Vec3 beside[2]);

/* ---- distance ------------------------------------------------------------------------------------ */

/* Between two cores: signed, positive apart. */
typedef struct sti_Distance {
    double gap;        /* least distance, or minus the least translation that separates               */
    st_Vec3 normal;    /* unit, from a to b                                                           */
    st_Vec3 a, b;      /* points of the cores that realise it; b - a = gap normal                     */
    double error;      /* error bound: 0 up to rounding for polytopes [m] */
    bool beyond;       /* farther than requested: only an approximate normal is known */
    bool flat;         /* distance of their shadows in a plane: in_plane.c */
    uint32_t features; /* the features of two polytopes that realise it: cached_features.c; 0: not known */
    double room;       /* how far the cores may move while these features stay valid [m]; 0: not known */
    double swing;      /* if there is room: upper bound for the rotation of the normal relative to that of the cores */
    int rounds;        /* iterations of GJK and of the expanding polytope together */
} sti_Distance;

/* gjk.c: returns false if the cores are closer than `touching` or overlap; then `simplex` is the input of epa.c. For
 * cores farther than `beyond` the search ends early. */
typedef struct sti_Simplex {
    int n;
    st_Vec3 a[4], b[4], w[4]; /* w = a - b                                                         */
    double weight[4];
} sti_Simplex;
bool sti_gjk(const sti_Core *a, const sti_Core *b, double touching, double beyond, sti_Simplex *simplex,
             sti_Distance *out);

/* sat.c: the axis of largest separation of two polytopes. A unit `guess` near that axis makes it fast; the result is
 * the same if they overlap or touch, or are apart along the guess. 0: no guess, all axes are checked. */
void sti_sat(const sti_Core *a, const sti_Core *b, st_Vec3 guess, sti_Distance *out);
/* For two hulls: improves the unit n to the nearby axis that separates them most; returns the separation. */
double sti_sat_nearby(const sti_Core *a, const sti_Core *b, st_Vec3 *n);
/* The unit vector perpendicular to two edges; returns the sine of their angle. */
static inline double sti_edges_axis(st_Vec3 way_a, double length_a, st_Vec3 way_b, double length_b, st_Vec3 *n)
{
    *n = cross(way_a, way_b);
    double length = norm(*n);
    if (length > 0) *n = sti_across(scale(1 / length, *n), scale(1 / length_a, way_a));
    return length / (length_a * length_b);
}
/* The nearest points of two lines that are not parallel. */
void sti_nearest_on_lines(const st_Vec3 a[2], const st_Vec3 b[2], st_Vec3 *on_a, st_Vec3 *on_b);

/* epa.c: penetration of any two cores, from a simplex near or around the origin. If it ends before the result is
 * certain, `others` are different directions that may be better. */
#define STI_MAX_DIRECTIONS 8
typedef struct sti_Directions {
    int n;
    st_Vec3 direction[STI_MAX_DIRECTIONS];
} sti_Directions;
void sti_epa(const sti_Core *a, const sti_Core *b, sti_Simplex *simplex, sti_Distance *out, sti_Directions *others);

/* polish.c: improves a direction to the best one, and finds its points. */
void sti_polish(const sti_Core *a, const sti_Core *b, sti_Distance *d);

/* cached_features.c: the features of two polytopes that face along n and against it, as one number that is never 0;
 * 0 if they are not a face and a corner or two edges. */
uint32_t sti_features_along(const sti_Core *a, const sti_Core *b, st_Vec3 n);
/* The distance from these features, if it can be proved that they realise it. `proved`: it was proved before, and the
 * cores have moved within the `room` of that distance. false: no proof, or so close to touching that nothing is
 * certain. */
bool sti_features_distance(const sti_Core *a, const sti_Core *b, uint32_t features, double beyond, bool proved,
                           sti_Distance *out);

/* part_distance.c: likewise if one core is neither box nor hull; called by the functions above. */
uint32_t sti_parts_along(const sti_Core *a, const sti_Core *b, st_Vec3 n);
bool sti_parts_distance(const sti_Core *a, const sti_Core *b, uint32_t parts, double beyond, sti_Distance *out);
/* The edge between two vertices, -1: none; and how far a point of its plane is inside a face, negative: outside. */
int sti_edge_between(const sti_Facets *f, const int end[2]);
double sti_face_clearance(const sti_Core *core, int face, st_Vec3 p);

/* Their axis as a unit vector: a good guess if nothing is certain. */
bool sti_features_axis(const sti_Core *a, const sti_Core *b, uint32_t features, st_Vec3 *n);

/* An estimate of the distance. It only speeds up the computation. */
typedef struct sti_Guess {
    st_Vec3 normal;    /* a unit                                                                   */
    uint32_t features; /* 0: none                                                                  */
} sti_Guess;

/* distance.c: signed distance of any two cores; if it is beyond `beyond`, only that fact and a normal near the
 * separating axis. guess NULL: none. */
void sti_core_distance(const sti_Core *a, const sti_Core *b, double beyond, const sti_Guess *guess, sti_Distance *out);
/* Is p in a box or hull, or at most `slack` outside? */
bool sti_core_holds(const sti_Core *core, st_Vec3 p, double slack);
/* Is the separation so far beyond that no rounding in the distance can bring it back? */
static inline bool core_is_beyond(double separation, double beyond, double size)
{
    return separation > beyond + 1e-12 * size;
}

/* in_plane.c: computes the signed distance for motions across a world axis only, from that in space. */
void sti_distance_in_plane(const sti_Core *a, const sti_Core *b, int axis, double beyond, sti_Distance *d);
/* Is n in the plane, up to rounding? */
static inline bool sti_is_in_plane(st_Vec3 n, int axis)
{
    return fabs(dot(n, vec3_axis(axis))) <= 1e-9;
}

/* Separation of the cores along the unit n: min over b - max over a. A lower bound of the gap. */
static inline double core_separation(const sti_Core *a, const sti_Core *b, st_Vec3 n)
{
    return dot(n, sub(sti_support(b, scale(-1, n)), sti_support(a, n)));
}

#endif
