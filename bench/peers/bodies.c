/* bench/peers/bodies.c -- scenes of one or a few bodies with a known exact result. */
#include "make.h"

/* A ball that slides, and then rolls at 5/7 of its speed. */
void make_bowling(Scene *scene, double speed)
{
    const double r = 0.1;
    add_plane(scene, vec3(0, 0, 1), 0);
    add_sphere(scene, vec3(0, 0, r), r, 5)->velocity = vec3(speed, 0, 0);
    scene->length = r;
    scene->mu = 0.2;
    scene->end = 2;
    scene->settled = 1;
    scene->measure = MEASURE_SPEED;
    scene->exact = 5.0 / 7 * speed;
}

static void one_box(Scene *scene)
{
    const st_Vec3 half = {0.2, 0.2, 0.1};
    add_plane(scene, vec3(0, 0, 1), 0);
    add_box(scene, vec3(0, 0, half.z), half, DENSITY * 8 * half.x * half.y * half.z);
    scene->length = half.z;
    scene->mu = 0.5;
}

/* Gravity is tilted instead of the plane: the tangent of the angle is `part` times mu, so that the box rests by
 * Coulomb's law. Its direction is 30 degrees from the box's edges. */
void make_incline(Scene *scene, double part)
{
    one_box(scene);
    double angle = atan(part * scene->mu), turn = M_PI / 6;
    scene->gravity = scale(9.81, vec3(sin(angle) * cos(turn), sin(angle) * sin(turn), -cos(angle)));
    scene->end = 10;
    scene->settled = 1;
    scene->measure = MEASURE_CREEP;
}

/* A box slides at 4 m/s and stops after 0.8 s; evaluated after 0.5 s. */
void make_push(Scene *scene, double degrees)
{
    double angle = degrees * M_PI / 180;
    one_box(scene);
    scene->bodies[0].velocity = vec3(4 * cos(angle), 4 * sin(angle), 0);
    scene->end = 0.5;
    scene->measure = MEASURE_MU;
}

/* A ball dropped by 1 m; it touches the floor when its centre is at 0. e = 1: 5 s, in which it bounces five times;
 * less: to the top of the first rebound. The exact energy is e^2 times the one before. */
void make_bounce(Scene *scene, double e)
{
    const double r = 0.1, height = 1, g = norm(scene->gravity);
    add_plane(scene, vec3(0, 0, 1), -r);
    add_sphere(scene, vec3(0, 0, height), r, 1);
    scene->length = r;
    scene->e = e;
    scene->end = e >= 1 ? 5 : (1 + e) * sqrt(2 * height / g);
    scene->settled = scene->end;
    scene->measure = MEASURE_ENERGY;
    scene->exact = e * e * g * height;
}

/* The first one is pushed; each falls on the next. */
void make_dominoes(Scene *scene, double number)
{
    const st_Vec3 half = {0.0375, 0.12, 0.24};
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < (int)number; k++)
        add_box(scene, vec3(0.2 * k, 0, half.z), half, DENSITY * 8 * half.x * half.y * half.z);
    scene->bodies[0].spin = vec3(0, 2, 0);                       /* about the edge on the floor: */
    scene->bodies[0].velocity = vec3(2 * half.z, 0, 2 * half.x); /* omega x (centre - edge) */
    scene->length = half.x;
    scene->mu = 0.3;
    scene->end = 5;
    scene->settled = 4.5;
}
