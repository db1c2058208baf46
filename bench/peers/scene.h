/* bench/peers/scene.h -- a scene as plain data, the same for every engine, and its measures.
 *
 * SI units. Planes and bodies without mass are the ground. A body has one shape, or none, and principal inertia in its
 * own axes; its origin is its centre of mass. Bodies that a joint connects do not touch each other.
 */
#ifndef BENCH_SCENE_H
#define BENCH_SCENE_H

#include <stdbool.h>
#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ShapeType { SHAPE_NONE, SHAPE_SPHERE, SHAPE_BOX, SHAPE_HULL, SHAPE_CAPSULE, SHAPE_CYLINDER } ShapeType;

/* A convex polyhedron with triangles as faces, counter-clockwise from outside. */
typedef struct Hull {
    int n_points, n_triangles;
    st_Vec3 *points;
    int *triangles; /* 3 n_triangles */
} Hull;

typedef struct Shape {
    ShapeType type;
    double radius;  /* of a sphere; for others of the bounding sphere about the origin */
    st_Vec3 half;   /* box; capsule, cylinder: radius, radius, half the length along z (of a capsule: without caps) */
    int hull;       /* index in Scene.hulls */
    st_Vec3 offset; /* of the shape in the body */
} Shape;

typedef struct Body {
    Shape shape;
    st_Pose pose;
    st_Vec3 velocity; /* world axes */
    st_Vec3 spin;     /* body axes */
    double mass;      /* 0: fixed, part of the ground */
    st_Vec3 inertia;  /* principal, along the body's axes */
    st_Vec3 force;    /* constant, at the centre of mass, world axes */
} Body;

typedef struct Plane {
    st_Vec3 normal;  /* unit; solid where normal . x < distance */
    double distance; /* from the origin */
} Plane;

typedef enum JointType { JOINT_BALL, JOINT_REVOLUTE, JOINT_PRISMATIC } JointType;

typedef struct Joint {
    JointType type;
    int a, b;                  /* bodies; a may be -1, the ground. b is a child of a: the joints are a forest */
    st_Vec3 point;             /* in the world, at the initial poses */
    st_Vec3 axis;              /* unit; revolute, prismatic */
    double stiffness, damping; /* on its coordinate, at rest in the initial pose; 0: free */
} Joint;

/* The exact results of scenes; see check.c. */
typedef enum Measure {
    MEASURE_NONE,
    MEASURE_REST,   /* every body stays in place: largest distance [m] */
    MEASURE_CREEP,  /* body 0 stays in place: its distance along the plane [m] */
    MEASURE_SPEED,  /* body 0 ends with `exact`: relative error of its speed */
    MEASURE_MU,     /* body 0 slides to the end: mu from the loss of velocity */
    MEASURE_ENERGY, /* energy at the end is `exact`: relative error */
    MEASURE_STRETCH /* prismatic joints end at their static lengths: largest relative error */
} Measure;

typedef struct Scene {
    char name[64];
    double h, end;  /* step and end time [s] */
    double mu, e;   /* friction and restitution of every pair */
    double length;  /* unit of penetration: r of spheres, R of hulls [m] */
    double energy;  /* unit of energy errors [J]; 0: all energy at the start */
    double settled; /* from this time on everything is nearly at rest [s]; end: never */
    bool conserves; /* no friction, damping or impact: the energy is conserved */
    st_Vec3 gravity;
    Measure measure;
    double exact;
    int n_bodies, n_planes, n_joints, n_hulls;
    Body *bodies;
    Plane *planes;
    Joint *joints;
    Hull *hulls;
} Scene;

/* The kinds of scenes: name, meaning of the number after the dash, help. NULL: no such index. */
typedef struct SceneKind {
    const char *name, *number, *help;
    double usual; /* default number */
    void (*make)(Scene *scene, double number);
} SceneKind;

const SceneKind *scene_kind(int index);
/* "spheres-666"; NULL and a message on stderr if there is no such scene. Free with scene_destroy. */
Scene *scene_create(const char *name);
void scene_destroy(Scene *scene);

#ifdef __cplusplus
}
#endif
#endif
