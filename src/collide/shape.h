/* collide/shape.h -- shapes compiled for collision, and the table of shape types.
 *
 * A shape type is one sti_ShapeDescriptor in a file of its own in collide/shapes/, and a line in
 * collide/shapes/list.h. Scene keys, defaults, collision, mass, rays and drawing all read the descriptor. To add a
 * type, write that file, that line and the value of st_ShapeType in <stiction/scene.h>.
 *
 * Every convex shape is a core and a radius around it (a sphere is a point, a capsule a segment), so that one set of
 * functions handles them all; see narrow/support.h. Meshes and height fields are triangles with pointers to their
 * neighbours.
 */
#ifndef STI_SHAPE_H
#define STI_SHAPE_H

#include "base/base.h"
#include "collide/broad/tree.h"
#include "math/quat.h"

#include <stiction/scene.h>

/* A convex polytope in its shape's axes. Faces are loops, counter-clockwise from outside. */
typedef struct sti_Facets {
    int n_vertices, n_faces, n_edges;
    const st_Vec3 *vertex;
    const int *face_first;  /* n_faces + 1: into face_vertex                                       */
    const int *face_vertex; /* corners of the faces, one loop after another                        */
    const st_Vec3 *normal;  /* outward units                                                       */
    const double *offset;   /* face: normal . x = offset                                           */
    const int *edge; /* 4 per edge: from vertex, to vertex, the face whose loop has this direction, the other face */
    const int *spoke_first; /* hulls, n_vertices + 1: into spoke                                   */
    const int *spoke;       /* the edges at each vertex                                            */
} sti_Facets;

/* A face with more corners is represented by this many, evenly chosen around it, in patches; distances use all. */
#define STI_MAX_CORNERS 64
static inline int sti_face_corners(const sti_Facets *f, int face)
{
    const int n = f->face_first[face + 1] - f->face_first[face];
    return n < STI_MAX_CORNERS ? n : STI_MAX_CORNERS;
}
static inline int sti_face_corner(const sti_Facets *f, int face, int k)
{
    const int first = f->face_first[face], n = f->face_first[face + 1] - first;
    return f->face_vertex[first + (n <= STI_MAX_CORNERS ? k : (int)((int64_t)k * n / STI_MAX_CORNERS))];
}

typedef struct sti_Hull {
    sti_Facets facets;
    void *memory; /* all arrays of facets                                                          */
    int64_t bytes;
} sti_Hull;

/* How the surface bends at an edge, seen from outside. A boundary edge has one triangle. */
typedef enum sti_Bend { STI_EDGE_FLAT, STI_EDGE_CONVEX, STI_EDGE_CONCAVE, STI_EDGE_BOUNDARY } sti_Bend;

typedef struct sti_Triangle {
    int vertex[3];
    int neighbour[3]; /* across the edge from vertex k to vertex k + 1; -1: none */
    sti_Bend bend[3];
    st_Vec3 normal; /* unit                                                                        */
} sti_Triangle;

typedef struct sti_Mesh {
    int n_vertices, n_triangles;
    st_Vec3 *vertex;
    sti_Triangle *triangle;
    sti_Tree tree; /* over triangles                                                               */
    bool solid;    /* has an inside: contact from the front only                                   */
    bool field;    /* solid below its triangles, which cover x and y once, ... */
    double bottom; /* ... down to this z                                                           */
    /* directions of edges at each vertex, for its normal cone */
    int *spoke_first; /* n_vertices + 1                                                            */
    int *spoke;       /* the other end of each */
    int64_t n_spokes;
} sti_Mesh;

typedef struct sti_Shape {
    const struct sti_ShapeDescriptor *of;
    st_ShapeType type;
    double radius, length;
    st_Vec3 half;   /* box, ellipsoid; else of the bounds of hulls, meshes and height fields, shape axes */
    st_Vec3 middle; /* centre of its bounding ball and box, shape axes */
    double reach;   /* radius of that ball; INFINITY: a plane                                      */
    double thick;   /* its least width; 0: none or not known, as for planes, meshes and height fields */
    sti_Hull *hull;
    sti_Mesh *mesh; /* meshes and height fields                                                    */
} sti_Shape;

/* ---- shape types --------------------------------------------------------------------------------- */

/* For constant density, about the shape's origin, in shape axes. */
typedef struct sti_MassProperties {
    double mass;
    st_Vec3 centre;
    st_Mat3 inertia; /* about the shape's origin                                                   */
} sti_MassProperties;

/* Row and column of the dispatch matrix (dispatch.c). */
typedef enum sti_Family {
    STI_FAMILY_PLANES,
    STI_FAMILY_MESHES,
    STI_FAMILY_HEIGHT_FIELDS,
    STI_FAMILY_POINTS,
    STI_FAMILY_SPHERES,
    STI_FAMILY_BARS,
    STI_FAMILY_CAPSULES,
    STI_FAMILY_BOXES,
    STI_FAMILY_CONVEX, /* any other convex shape */
    STI_N_FAMILIES
} sti_Family;

struct sti_Core;           /* narrow/support.h */
struct sti_Ray;            /* ray.h            */
struct sti_SurfaceBuilder; /* surface.h        */

typedef struct sti_ShapeDescriptor {
    const char *word;  /* in scene files and messages                                                */
    uint32_t members;  /* members of st_ShapeDef that it reads: ST_MEMBER_RADIUS | ... */
    double density;    /* default density */
    sti_Family family; /* row of the dispatch matrix */
    bool smooth;       /* no corners or edges: allows contact "compliant" */
    /* Checks the def and sets size, middle, reach and thick of `out`, which is zero otherwise. `err` names the value,
     * not the shape. */
    st_Status (*compile)(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err);
    sti_Bounds (*bounds)(const sti_Shape *shape, st_Pose pose);
    /* NULL: has no volume. */
    st_Status (*mass)(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err);
    /* Convex shapes: sets kind, size, radius and dimensions of a core whose p and axes are set. NULL: a point. */
    void (*core)(const sti_Shape *shape, struct sti_Core *core);
    /* Convex shapes with a core of kind STI_CORE_SMOOTH: the point farthest along d, shape axes. Else NULL. */
    st_Vec3 (*support)(const sti_Shape *shape, st_Vec3 d);
    /* Cuts the ray, in shape axes, to its part inside. NULL: rays pass through. */
    void (*ray)(const sti_Shape *shape, struct sti_Ray *ray);
    /* Triangles for drawing. `size` sets the scale of thin shapes and planes. */
    void (*surface)(const st_ShapeDef *def, double size, struct sti_SurfaceBuilder *out);
} sti_ShapeDescriptor;

#define STI_DECLARE_SHAPE(type, descriptor) extern const sti_ShapeDescriptor descriptor;
#include "collide/shapes/list.h"
STI_SHAPES(STI_DECLARE_SHAPE)
#undef STI_DECLARE_SHAPE
/* NULL: no such type. */
const sti_ShapeDescriptor *sti_shape_descriptor(st_ShapeType type);

st_Status sti_shape_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err);
void sti_shape_free(const st_Allocator *allocator, sti_Shape *shape);
static inline sti_Bounds sti_shape_bounds(const sti_Shape *shape, st_Pose pose)
{
    return shape->of->bounds(shape, pose);
}
/* All 0 if the type has no volume or the density is 0. */
st_Status sti_shape_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err);

/* ---- functions for descriptors (shape.c, volume.c) ------------------------------------------------ */

st_Status sti_check_size(const char *what, double x, st_Error *err);
/* Checks twice each half, as given in scenes. */
st_Status sti_check_half(const st_ShapeDef *def, st_Error *err);
/* Are all coordinates within the range of lengths? */
st_Status sti_check_points(const st_Vec3 *p, int n, st_Error *err);
/* Sets middle, half and reach from a box, and from points. */
void sti_shape_hold_box(const sti_Bounds *b, sti_Shape *out);
void sti_shape_hold_points(const st_Vec3 *p, int n, sti_Shape *out);
/* Bounds of its ball; of the intersection of its ball and its rotated box. */
sti_Bounds sti_ball_bounds(const sti_Shape *shape, st_Pose pose);
sti_Bounds sti_box_and_ball_bounds(const sti_Shape *shape, st_Pose pose);
/* Bounds of a segment of half length `half` along the axis, with the radius around it. */
sti_Bounds sti_segment_bounds(st_Vec3 middle, st_Vec3 axis, double half, double radius);
/* Half the extents of a rotated box, |R| half. */
static inline st_Vec3 sti_turned_half(const st_Mat3 *R, st_Vec3 half)
{
    const double *m = R->m;
    return vec3(fabs(m[0]) * half.x + fabs(m[1]) * half.y + fabs(m[2]) * half.z,
                fabs(m[3]) * half.x + fabs(m[4]) * half.y + fabs(m[5]) * half.z,
                fabs(m[6]) * half.x + fabs(m[7]) * half.y + fabs(m[8]) * half.z);
}
static inline sti_Bounds sti_bounds_around(st_Vec3 middle, st_Vec3 half)
{
    return (sti_Bounds){sub(middle, half), add(middle, half)};
}
/* Mass m and second moments int x^2, y^2, z^2 of a shape that is symmetric in its axes. */
void sti_mass_diagonal(sti_MassProperties *out, double m, double Sx, double Sy, double Sz);
/* Sums over the tetrahedra of the origin and each triangle of a closed surface. */
typedef struct sti_VolumeSum {
    double volume, S[3][3];
    st_Vec3 first;
} sti_VolumeSum;
void sti_volume_add(sti_VolumeSum *sum, st_Vec3 a, st_Vec3 b, st_Vec3 c);
void sti_volume_mass(const sti_VolumeSum *sum, double density, sti_MassProperties *out);

/* ---- hulls and meshes ---------------------------------------------------------------------------- */

/* hull.c: by qhull; points inside are dropped, coplanar triangles become one face. */
st_Status sti_hull_create(const st_Vec3 *points, int n, const st_Allocator *allocator, sti_Hull **out, st_Error *err);
void sti_hull_free(const st_Allocator *allocator, sti_Hull *hull);

/* mesh.c */
st_Status sti_mesh_create(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles,
                          const st_Allocator *allocator, sti_Mesh **out, st_Error *err);
st_Status sti_mesh_from_heights(const st_ShapeDef *def, const st_Allocator *allocator, sti_Mesh **out, st_Error *err);
void sti_mesh_free(const st_Allocator *allocator, sti_Mesh *mesh);

#endif
