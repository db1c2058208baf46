/* collide/shape.h -- shapes made ready for collision: what a def says, compiled once.
 *
 * Every convex shape is a core and a radius around it (a sphere is a point, a capsule a segment), so that
 * one set of functions serves them all; see support.h. Meshes and height fields are triangles that know their
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
    const int *edge;        /* 4 an edge: from vertex to vertex, the face whose loop runs so, the other one */
    const int *spoke_first; /* hulls, n_vertices + 1: into spoke                                   */
    const int *spoke;       /* the edges at each vertex                                            */
} sti_Facets;

/* Of a face with more corners this many, evenly chosen around it, stand for it where patches are made; distances are of
 * all.                                                                                             */
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
    int neighbour[3]; /* across edge k, from vertex k to vertex k + 1; -1: none                    */
    sti_Bend bend[3];
    st_Vec3 normal; /* unit                                                                        */
} sti_Triangle;

typedef struct sti_Mesh {
    int n_vertices, n_triangles;
    st_Vec3 *vertex;
    sti_Triangle *triangle;
    sti_Tree tree; /* over triangles                                                               */
    bool solid;    /* has an inside: contact from the front only                                   */
    bool field;    /* solid below its triangles, which stand over x and y once, ...                */
    double bottom; /* ... down to this z                                                           */
    /* directions of edges at each vertex, for its normal cone */
    int *spoke_first; /* n_vertices + 1                                                            */
    int *spoke;       /* the vertices at their other ends                                          */
    int64_t n_spokes;
} sti_Mesh;

typedef struct sti_Shape {
    st_ShapeType type;
    double radius, length;
    st_Vec3 half;   /* box, ellipsoid; of the bounds of hulls, meshes and height fields, shape axes   */
    st_Vec3 middle; /* of a ball that holds it, shape axes: the centre of its bounds               */
    double reach;   /* radius of that ball; INFINITY: a plane                                      */
    double thick;   /* its least width; 0: none or not known, as of a plane, a mesh and a height field */
    sti_Hull *hull;
    sti_Mesh *mesh; /* meshes and height fields                                                    */
} sti_Shape;

/* Are all coordinates within the range of lengths? */
st_Status sti_check_points(const st_Vec3 *p, int n, st_Error *err);
/* Checks what can be wrong with a def's geometry; `err` names the value, not the shape. */
st_Status sti_shape_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err);
void sti_shape_free(const st_Allocator *allocator, sti_Shape *shape);
sti_Bounds sti_shape_bounds(const sti_Shape *shape, st_Pose pose);

/* hull.c: by qhull; points inside are dropped, coplanar triangles become one face. */
st_Status sti_hull_create(const st_Vec3 *points, int n, const st_Allocator *allocator, sti_Hull **out, st_Error *err);
void sti_hull_free(const st_Allocator *allocator, sti_Hull *hull);

/* mesh.c */
st_Status sti_mesh_create(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles,
                          const st_Allocator *allocator, sti_Mesh **out, st_Error *err);
st_Status sti_mesh_from_heights(const st_ShapeDef *def, const st_Allocator *allocator, sti_Mesh **out, st_Error *err);
void sti_mesh_free(const st_Allocator *allocator, sti_Mesh *mesh);

/* volume.c: exact integrals over the shape, about its own origin, shape axes. */
typedef struct sti_MassProperties {
    double mass;
    st_Vec3 centre;
    st_Mat3 inertia; /* about the shape's origin                                                   */
} sti_MassProperties;
st_Status sti_shape_mass(const st_ShapeDef *def, const sti_Shape *compiled, sti_MassProperties *out, st_Error *err);

#endif
