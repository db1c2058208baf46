/* bench/peers/make.h -- building blocks that the generators of scenes share. Pointers live until the next of their
 * kind. */
#ifndef BENCH_MAKE_H
#define BENCH_MAKE_H

#include "math/quat.h"
#include "scene.h"

Body *add_body(Scene *scene, st_Vec3 at);
Body *add_sphere(Scene *scene, st_Vec3 at, double radius, double mass);
Body *add_box(Scene *scene, st_Vec3 at, st_Vec3 half, double mass);
void add_plane(Scene *scene, st_Vec3 normal, double distance);
void add_container(Scene *scene, double width);
Joint *add_joint(Scene *scene, JointType type, int a, int b, st_Vec3 point, st_Vec3 axis);
Hull *add_hull(Scene *scene);
double random_number(uint64_t *state);

#endif
