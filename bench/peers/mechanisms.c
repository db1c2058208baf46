/* bench/peers/mechanisms.c -- scenes with joints: gripper, chains, springs, slider-crank, quadruped. */
#include "make.h"

/* ---- gripper ---------------------------------------------------------------------------------- */

/* Two fingers on slides along z press on a box between them; gravity, along -x, is `part` of the largest friction
 * force. */
void make_gripper(Scene *scene, double part)
{
    const double half = 0.05, mass = 1, mu = 0.5, g = norm(scene->gravity), press = mass * g / (2 * mu * part);
    add_box(scene, vec3(0, 0, 0), vec3(half, half, half), mass);
    for (int side = -1; side <= 1; side += 2) {
        st_Vec3 at = vec3(0, 0, side * (half + 0.02));
        Body *finger = add_box(scene, at, vec3(0.03, 0.03, 0.02), 0.2);
        finger->force = vec3(0, 0, -side * press);
        add_joint(scene, JOINT_PRISMATIC, -1, scene->n_bodies - 1, at, vec3(0, 0, 1));
    }
    scene->gravity = vec3(-g, 0, 0);
    scene->length = half;
    scene->energy = mass * g * half;
    scene->mu = mu;
    scene->end = 5;
    scene->settled = 1;
    scene->measure = MEASURE_CREEP;
}

/* ---- chains ----------------------------------------------------------------------------------- */

/* Straight chain of 0.1 m links on hinges, at an angle from straight down. Energy is relative to that above the
 * hanging state. */
static void hang_chain(Scene *scene, double links, double angle)
{
    const double length = 0.1;
    const st_Vec3 half = {0.01, 0.01, 0.5 * length};
    st_Vec3 along = vec3(sin(angle), 0, -cos(angle));
    double mass = DENSITY * 8 * half.x * half.y * half.z, g = norm(scene->gravity);
    for (int k = 0; k < (int)links; k++) {
        Body *body = add_box(scene, scale((k + 0.5) * length, along), half, mass);
        body->shape = (Shape){.type = SHAPE_NONE};
        body->pose.q = quat_exp(vec3(0, -angle, 0));
        add_joint(scene, JOINT_REVOLUTE, k - 1, k, scale(k * length, along), vec3(0, 1, 0));
        scene->energy += mass * g * (k + 0.5) * length * (1 - cos(angle));
    }
    scene->conserves = true;
    scene->end = scene->settled = 5;
}

void make_chain(Scene *scene, double links)
{
    hang_chain(scene, links, 10 * M_PI / 180);
}

void make_whip(Scene *scene, double links)
{
    hang_chain(scene, links, M_PI / 2);
}

/* ---- springs ---------------------------------------------------------------------------------- */

/* Five masses of 1 kg below one another, with springs at their rest lengths between them, released. */
static void hang_springs(Scene *scene, double stiffness, double damping_ratio)
{
    double g = norm(scene->gravity), carried = 5;
    for (int k = 0; k < 5; k++, carried--) {
        Body *body = add_box(scene, vec3(0, 0, -k - 1.0), vec3(0.1, 0.1, 0.1), 1);
        body->shape = (Shape){.type = SHAPE_NONE};
        Joint *joint = add_joint(scene, JOINT_PRISMATIC, k - 1, k, body->pose.p, vec3(0, 0, -1));
        joint->stiffness = stiffness;
        joint->damping = 2 * damping_ratio * sqrt(stiffness);
        scene->energy += 0.5 * carried * g * carried * g / stiffness; /* stored in each spring at rest */
    }
    scene->h = 0.01;
}

/* Each spring critically damped for one mass: the slowest of the five modes decays as exp(-0.08 sqrt(k) t), which after
 * 40 s leaves 1e-14 of it at k = 100, the softest.                                                                 */
void make_springs(Scene *scene, double stiffness)
{
    hang_springs(scene, stiffness, 1);
    scene->end = scene->settled = 40;
    scene->measure = MEASURE_STRETCH;
}

void make_ring(Scene *scene, double stiffness)
{
    hang_springs(scene, stiffness, 0);
    scene->conserves = true;
    scene->end = scene->settled = 2;
}

/* ---- slider-crank ----------------------------------------------------------------------------- */

/* Flores, Leine & Glocker 2010: crank and rod in the x-z plane, the slider a box with 1 mm above and below it. A turn
 * takes 2 pi/150 s.                                                                                                */
void make_slider(Scene *scene, double turns)
{
    const double crank = 0.153, rod = 0.306, speed = 150;
    const st_Vec3 slider = {0.05, 0.02, 0.025}, y = {0, -1, 0}; /* turning about -y takes x to z */
    struct {
        double mass, inertia, x, spin;
    } bodies[3] = {{0.038, 7.4e-5, crank / 2, speed},
                   {0.038, 5.9e-4, crank + rod / 2, -speed * crank / rod},
                   {0.076, 2.7e-6, crank + rod, 0}};
    for (int k = 0; k < 3; k++) {
        Body *body = add_body(scene, vec3(bodies[k].x, 0, 0));
        body->mass = bodies[k].mass;
        body->inertia = scale(bodies[k].inertia, vec3(1, 1, 1));
        body->spin = scale(bodies[k].spin, y);
        body->velocity = vec3(0, 0, k < 2 ? 0.5 * speed * crank : 0);
        add_joint(scene, JOINT_REVOLUTE, k - 1, k, vec3(k == 0 ? 0 : (k == 1 ? crank : crank + rod), 0, 0), y);
    }
    scene->bodies[2].shape = (Shape){.type = SHAPE_BOX, .half = slider, .radius = norm(slider)};
    add_plane(scene, vec3(0, 0, 1), -slider.z - 0.001);
    add_plane(scene, vec3(0, 0, -1), -slider.z - 0.001);
    scene->mu = 0.01;
    scene->e = 0.4;
    scene->length = 0.001; /* the clearance */
    scene->h = 1e-4;
    scene->end = scene->settled = turns * 2 * M_PI / speed;
}

/* ---- quadruped -------------------------------------------------------------------------------- */

/* A link that hangs from the body `parent` at `top`; returns its index. */
static int add_link(Scene *scene, int parent, st_Vec3 top, st_Vec3 axis, double length, double mass)
{
    Body *body = add_box(scene, add(top, vec3(0, 0, -0.5 * length)), vec3(0.02, 0.02, 0.5 * length), mass);
    body->shape = (Shape){.type = SHAPE_NONE};
    Joint *joint = add_joint(scene, JOINT_REVOLUTE, parent, scene->n_bodies - 1, top, axis);
    joint->stiffness = 300;
    joint->damping = 2;
    return scene->n_bodies - 1;
}

/* A trunk and four legs of hip, thigh and shank with a ball as foot; every joint has a spring that holds its initial
 * angle. Dropped by 5 cm at walking speed. */
void make_quadruped(Scene *scene, double speed)
{
    const double hip = 0.06, thigh = 0.25, shank = 0.25, foot = 0.03, drop = 0.05;
    const double top = hip + thigh + shank + foot + drop;
    add_plane(scene, vec3(0, 0, 1), 0);
    add_box(scene, vec3(0, 0, top), vec3(0.3, 0.12, 0.05), 12);
    for (int leg = 0; leg < 4; leg++) {
        st_Vec3 at = vec3(leg & 1 ? 0.25 : -0.25, leg & 2 ? 0.15 : -0.15, top);
        int upper = add_link(scene, 0, at, vec3(1, 0, 0), hip, 0.6);
        int middle = add_link(scene, upper, add(at, vec3(0, 0, -hip)), vec3(0, 1, 0), thigh, 1);
        int lower = add_link(scene, middle, add(at, vec3(0, 0, -hip - thigh)), vec3(0, 1, 0), shank, 0.3);
        st_Vec3 offset = vec3(0, 0, -0.5 * shank);
        scene->bodies[lower].shape = (Shape){.type = SHAPE_SPHERE, .radius = foot, .offset = offset};
    }
    for (int k = 0; k < scene->n_bodies; k++)
        scene->bodies[k].velocity = vec3(speed, 0, 0);
    scene->length = foot;
    scene->mu = 0.6;
    scene->h = 1.0 / 500;
    scene->end = 3;
    scene->settled = 2.5;
}
