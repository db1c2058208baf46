/* bench/peers/piles.c -- bins of boxes and of round rods, pyramids, a wall that is hit, bodies on a slope, ragdolls
 * on stairs, a pair of boxes. Sizes and positions come from a seeded generator.
 */
#include "make.h"

/* ---- bins -------------------------------------------------------------------------------------- */

static st_Quat random_turn(uint64_t *seed)
{
    st_Quat q = {random_number(seed), random_number(seed), random_number(seed), random_number(seed)};
    return quat_unit(q);
}

/* Position k of n on a loose lattice over a square floor, three times as high as wide for few. */
static st_Vec3 lattice(int k, int n, double spacing, uint64_t *seed)
{
    int side = (int)ceil(cbrt(n / 2.0)), i = k % side, j = k / side % side, l = k / (side * side);
    st_Vec3 jitter = {random_number(seed), random_number(seed), random_number(seed)};
    st_Vec3 at = vec3((i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing, (l + 1) * spacing);
    return add(at, scale(0.05 * spacing, jitter));
}

static double bin_width(int n, double spacing)
{
    return ceil(cbrt(n / 2.0)) * spacing * 1.1;
}

static void settle_in_bin(Scene *scene, double length)
{
    scene->length = length;
    scene->mu = 0.5;
    scene->end = 4;
    scene->settled = 3;
}

/* Boxes with edges from 10 to 20 cm, at random orientations, dropped into a bin. Overlap is relative to the shortest
 * edge. */
void make_boxes(Scene *scene, double number)
{
    const int n = (int)number;
    const double spacing = 0.32;
    uint64_t seed = 3;
    add_container(scene, bin_width(n, spacing));
    for (int k = 0; k < n; k++) {
        st_Vec3 at = lattice(k, n, spacing, &seed);
        st_Vec3 half = {0.075 + 0.025 * random_number(&seed), 0.075 + 0.025 * random_number(&seed),
                        0.075 + 0.025 * random_number(&seed)};
        add_box(scene, at, half, DENSITY * 8 * half.x * half.y * half.z)->pose.q = random_turn(&seed);
    }
    settle_in_bin(scene, 0.1);
}

/* Capsules and cylinders alternating, 8 to 12 cm thick, 16 to 24 long. Overlap is relative to the diameter. */
void make_rods(Scene *scene, double number)
{
    const int n = (int)number;
    const double spacing = 0.3;
    uint64_t seed = 4;
    add_container(scene, bin_width(n, spacing));
    for (int k = 0; k < n; k++) {
        st_Vec3 at = lattice(k, n, spacing, &seed);
        double r = 0.05 + 0.01 * random_number(&seed), length = 0.2 + 0.04 * random_number(&seed);
        Body *body =
            k % 2 == 0 ? add_capsule(scene, at, r, 0.5 * length - r) : add_cylinder(scene, at, r, 0.5 * length);
        body->pose.q = random_turn(&seed);
    }
    settle_in_bin(scene, 0.1);
}

/* ---- stacks ------------------------------------------------------------------------------------ */

/* Cubes in courses, each course one shorter than that below: the number is the nearest that a triangle allows. */
void make_pyramid(Scene *scene, double number)
{
    const double half = 0.25;
    const int base = (int)lround(0.5 * (sqrt(8 * number + 1) - 1));
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int course = 0; course < base; course++)
        for (int i = 0; i < base - course; i++)
            add_box(scene, vec3((2.1 * i + 1.05 * course - 1.05 * base) * half, 0, (2 * course + 1) * half),
                    vec3(half, half, half), DENSITY * 8 * half * half * half);
    scene->length = 2 * half;
    scene->mu = 0.6;
    scene->end = 2;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* A wall, courses of forty, and a ball of 50 bricks' mass that hits it in the middle at 10 m/s. */
void make_smash(Scene *scene, double number)
{
    const st_Vec3 half = {0.2, 0.1, 0.1};
    const double mass = DENSITY * 8 * half.x * half.y * half.z, r = 0.4;
    const int n = (int)number, courses = (n + 39) / 40;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < n; k++) {
        int i = k % 40, course = k / 40;
        double x = (i - 19.5 + (course % 2 == 1 ? 0.25 : 0)) * 2 * half.x;
        add_box(scene, vec3(x, 0, (2 * course + 1) * half.z), half, mass);
    }
    add_sphere(scene, vec3(0.1, -2, fmax(r, courses * half.z)), r, 50 * mass)->velocity = vec3(0, 10, 0);
    scene->length = 2 * half.z;
    scene->mu = 0.5;
    scene->end = 2;
    scene->settled = 1.75;
}

/* Two boxes, one on the other. */
void make_pair(Scene *scene, double ratio)
{
    const double half = 0.1;
    add_plane(scene, vec3(0, 0, 1), 0);
    add_box(scene, vec3(0, 0, half), vec3(half, half, half), 1);
    add_box(scene, vec3(0, 0, 3 * half), vec3(half, half, half), ratio);
    scene->length = 2 * half;
    scene->mu = 0.5;
    scene->end = 5;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* n separate boxes on a plane at 0.95 of the friction angle: measures the largest creep. */
void make_slope(Scene *scene, double number)
{
    const int n = (int)number, side = (int)ceil(sqrt(number));
    uint64_t seed = 5;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < n; k++) {
        st_Vec3 half = {0.1 + 0.03 * random_number(&seed), 0.1 + 0.03 * random_number(&seed), 0.05};
        Body *body = add_box(scene, vec3(0.5 * (k % side), 0.5 * (k / side), half.z), half,
                             DENSITY * 8 * half.x * half.y * half.z);
        body->pose.q = quat_exp(vec3(0, 0, 3 * random_number(&seed)));
    }
    scene->length = 0.1;
    scene->mu = 0.5;
    const double angle = atan(0.95 * scene->mu);
    scene->gravity = scale(9.81, vec3(sin(angle), 0, -cos(angle)));
    scene->end = 4;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* ---- ragdolls ---------------------------------------------------------------------------------- */

static int add_limb(Scene *scene, int parent, st_Vec3 from, st_Vec3 to, double r)
{
    st_Vec3 along = sub(to, from), middle = scale(0.5, add(from, to));
    const double length = norm(along);
    Body *body = add_capsule(scene, middle, r, 0.5 * length - r);
    body->pose.q = quat_from_z(scale(1 / length, along));
    if (parent >= 0) add_joint(scene, JOINT_BALL, parent, scene->n_bodies - 1, from, vec3(0, 0, 1));
    return scene->n_bodies - 1;
}

/* Trunk, head, and limbs of two links each, on ball joints. */
static void add_ragdoll(Scene *scene, st_Vec3 at)
{
    const int trunk = add_limb(scene, -1, add(at, vec3(0, 0, 0)), add(at, vec3(0, 0, 0.6)), 0.12);
    add_limb(scene, trunk, add(at, vec3(0, 0, 0.65)), add(at, vec3(0, 0, 0.92)), 0.1);
    for (int side = -1; side <= 1; side += 2) {
        const st_Vec3 shoulder = add(at, vec3(0, 0.2 * side, 0.55)), hip = add(at, vec3(0, 0.1 * side, -0.05));
        const st_Vec3 elbow = add(shoulder, vec3(0, 0.3 * side, 0)), knee = add(hip, vec3(0, 0, -0.4));
        const int arm = add_limb(scene, trunk, shoulder, elbow, 0.05), leg = add_limb(scene, trunk, hip, knee, 0.07);
        add_limb(scene, arm, elbow, add(elbow, vec3(0, 0.3 * side, 0)), 0.04);
        add_limb(scene, leg, knee, add(knee, vec3(0, 0, -0.42)), 0.06);
    }
}

/* n of them fall on stairs of eight fixed steps. */
void make_ragdolls(Scene *scene, double number)
{
    const int n = (int)number;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < 8; k++)
        add_box(scene, vec3(0.4 * k + 0.2, 0, 0.1 * (8 - k)), vec3(0.2, 0.8 * n + 1, 0.1 * (8 - k)), 0);
    for (int k = 0; k < n; k++)
        add_ragdoll(scene, vec3(0.6 + 0.13 * (k % 3), 1.5 * (k - 0.5 * (n - 1)), 2.8));
    for (int k = 0; k < scene->n_bodies; k++)
        if (scene->bodies[k].mass > 0) scene->bodies[k].velocity = vec3(1, 0.1, 0);
    scene->length = 0.1;
    scene->mu = 0.6;
    scene->end = 4;
    scene->settled = 3.5;
}

/* n cubes in a row connected by springs along it, released above the floor: they land and slide to rest. */
void make_springrow(Scene *scene, double number)
{
    const double half = 0.1;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < (int)number; k++) {
        const st_Vec3 at = vec3(0.3 * k, 0, half + 0.05);
        add_box(scene, at, vec3(half, half, half), 1)->velocity = vec3(k % 2 == 0 ? 0.5 : -0.5, 0, 0);
        if (k == 0) continue;
        Joint *joint = add_joint(scene, JOINT_PRISMATIC, k - 1, k, at, vec3(1, 0, 0));
        joint->stiffness = 1e3;
        joint->damping = 10;
    }
    scene->length = 2 * half;
    scene->mu = 0.5;
    scene->end = 3;
    scene->settled = 2;
}

/* n spheres in a silo twelve of them wide flow through a square opening of six in its floor, to the ground 20 below. */
void make_hopper(Scene *scene, double number)
{
    const double r = 0.05, d = 2 * r, half = 6 * d, mouth = 3 * d, slab = (half - mouth) / 2, high = 20 * d;
    const double spacing = 1.15 * d, at = mouth + slab;
    const int side = (int)(2 * half / spacing);
    uint64_t seed = 7;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int way = -1; way <= 1; way += 2) {
        add_plane(scene, vec3(way, 0, 0), -half);
        add_plane(scene, vec3(0, way, 0), -half);
        add_box(scene, vec3(way * at, 0, high - r), vec3(slab, half, r), 0);
        add_box(scene, vec3(0, way * at, high - r), vec3(mouth, slab, r), 0);
    }
    for (int k = 0; k < (int)number; k++) {
        const int i = k % side, j = k / side % side, layer = k / (side * side);
        const st_Vec3 place = {(i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing,
                               high + 1.1 * r + layer * spacing};
        const st_Vec3 jitter = {random_number(&seed), random_number(&seed), 0};
        add_sphere(scene, add(place, scale(0.1 * r, jitter)), r, DENSITY * 4.0 / 3 * M_PI * r * r * r);
    }
    scene->length = r;
    scene->mu = 0.5;
    scene->end = 2;
    scene->settled = 2;
}
