/* bench/peers/make.h -- building blocks for the generators of scenes. Returned pointers are valid until the next
 * object of the same kind is added. */
#ifndef BENCH_MAKE_H
#define BENCH_MAKE_H

#include "math/quat.h"
#include "scene.h"

Body *add_body(Scene *scene, st_Vec3 at);
Body *add_sphere(Scene *scene, st_Vec3 at, double radius, double mass);
Body *add_box(Scene *scene, st_Vec3 at, st_Vec3 half, double mass);
Body *add_capsule(Scene *scene, st_Vec3 at, double r, double half);
Body *add_cylinder(Scene *scene, st_Vec3 at, double r, double half);
void add_plane(Scene *scene, st_Vec3 normal, double distance);
void add_container(Scene *scene, double width);
Joint *add_joint(Scene *scene, JointType type, int a, int b, st_Vec3 point, st_Vec3 axis);
Hull *add_hull(Scene *scene);
st_Quat quat_from_z(st_Vec3 n); /* the shortest rotation that takes z to the unit vector n */
double random_number(uint64_t *state);

#define DENSITY 1000.0 /* [kg/m^3] */

/* hulls.c */
void make_hulls(Scene *scene, double number);

/* bodies.c */
void make_dominoes(Scene *scene, double number);
void make_bowling(Scene *scene, double speed);
void make_incline(Scene *scene, double part);
void make_push(Scene *scene, double degrees);
void make_bounce(Scene *scene, double e);

/* piles.c */
void make_boxes(Scene *scene, double number);
void make_rods(Scene *scene, double number);
void make_pyramid(Scene *scene, double number);
void make_smash(Scene *scene, double number);
void make_pair(Scene *scene, double ratio);
void make_slope(Scene *scene, double number);
void make_ragdolls(Scene *scene, double number);
void make_springrow(Scene *scene, double number);
void make_hopper(Scene *scene, double number);

/* mechanisms.c */
void make_gripper(Scene *scene, double part);
void make_chain(Scene *scene, double links);
void make_whip(Scene *scene, double links);
void make_springs(Scene *scene, double stiffness);
void make_ring(Scene *scene, double stiffness);
void make_slider(Scene *scene, double turns);
void make_quadruped(Scene *scene, double speed);

#endif
