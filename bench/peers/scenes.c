/* bench/peers/scenes.c -- the table of scenes, and the generators of piles, stacks and single bodies. All random
 * numbers are seeded: a name gives the same bits everywhere.
 */
#include "make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building blocks -------------------------------------------------------------------------- */

/* Grows an array by one, with a capacity of the next power of two, and clears the new element. */
static void *grow(void *array, int n, size_t size)
{
    if ((n & (n - 1)) == 0) array = realloc(array, (size_t)(n == 0 ? 1 : 2 * n) * size);
    if (array == NULL) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    memset((char *)array + (size_t)n * size, 0, size);
    return array;
}

Body *add_body(Scene *scene, st_Vec3 at)
{
    scene->bodies = grow(scene->bodies, scene->n_bodies, sizeof *scene->bodies);
    Body *body = &scene->bodies[scene->n_bodies++];
    body->pose = (st_Pose){at, {1, 0, 0, 0}};
    return body;
}

Body *add_sphere(Scene *scene, st_Vec3 at, double radius, double mass)
{
    Body *body = add_body(scene, at);
    double i = 0.4 * mass * radius * radius;
    body->shape = (Shape){.type = SHAPE_SPHERE, .radius = radius};
    body->mass = mass;
    body->inertia = vec3(i, i, i);
    return body;
}

Body *add_box(Scene *scene, st_Vec3 at, st_Vec3 half, double mass)
{
    Body *body = add_body(scene, at);
    double x = half.x * half.x, y = half.y * half.y, z = half.z * half.z;
    body->shape = (Shape){.type = SHAPE_BOX, .half = half, .radius = norm(half)};
    body->mass = mass;
    body->inertia = scale(mass / 3, vec3(y + z, z + x, x + y));
    return body;
}

/* Along z; `half` is without the caps. The sum of a cylinder and two half balls. */
Body *add_capsule(Scene *scene, st_Vec3 at, double r, double half)
{
    Body *body = add_body(scene, at);
    const double rod = DENSITY * M_PI * r * r * 2 * half, caps = DENSITY * 4.0 / 3 * M_PI * r * r * r;
    const double across = rod * (r * r / 4 + half * half / 3) + caps * (0.4 * r * r + half * half + 0.75 * r * half);
    body->shape = (Shape){.type = SHAPE_CAPSULE, .half = {r, r, half}, .radius = r + half};
    body->mass = rod + caps;
    body->inertia = vec3(across, across, rod * r * r / 2 + caps * 0.4 * r * r);
    return body;
}

Body *add_cylinder(Scene *scene, st_Vec3 at, double r, double half)
{
    Body *body = add_body(scene, at);
    const double mass = DENSITY * M_PI * r * r * 2 * half, across = mass * (r * r / 4 + half * half / 3);
    body->shape = (Shape){.type = SHAPE_CYLINDER, .half = {r, r, half}, .radius = hypot(r, half)};
    body->mass = mass;
    body->inertia = vec3(across, across, mass * r * r / 2);
    return body;
}

void add_plane(Scene *scene, st_Vec3 normal, double distance)
{
    scene->planes = grow(scene->planes, scene->n_planes, sizeof *scene->planes);
    scene->planes[scene->n_planes++] = (Plane){normal, distance};
}

Joint *add_joint(Scene *scene, JointType type, int a, int b, st_Vec3 point, st_Vec3 axis)
{
    scene->joints = grow(scene->joints, scene->n_joints, sizeof *scene->joints);
    Joint *joint = &scene->joints[scene->n_joints++];
    *joint = (Joint){.type = type, .a = a, .b = b, .point = point, .axis = axis};
    return joint;
}

Hull *add_hull(Scene *scene)
{
    scene->hulls = grow(scene->hulls, scene->n_hulls, sizeof *scene->hulls);
    return &scene->hulls[scene->n_hulls++];
}

double random_number(uint64_t *state) /* splitmix64, in [-1, 1) */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

st_Quat quat_from_z(st_Vec3 n)
{
    if (n.z < -0.999999) return (st_Quat){0, 1, 0, 0};
    return quat_unit((st_Quat){1 + n.z, -n.y, n.x, 0});
}

/* Floor at z = 0 and four walls at x, y = +-width/2. */
void add_container(Scene *scene, double width)
{
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int side = -1; side <= 1; side += 2) {
        add_plane(scene, vec3(side, 0, 0), -width / 2);
        add_plane(scene, vec3(0, side, 0), -width / 2);
    }
}

/* ---- piles ------------------------------------------------------------------------------------ */

/* n spheres on a loose lattice with some disorder, dropped into a box that they fill as high as it is wide. */
static void make_spheres(Scene *scene, double number)
{
    const double r = 0.05, spacing = 2.4 * r;
    int n = (int)number, side = (int)ceil(cbrt(number)), k = 0;
    uint64_t seed = 1;
    add_container(scene, side * spacing);
    for (; k < n; k++) {
        int i = k % side, j = k / side % side, l = k / (side * side);
        st_Vec3 at = vec3((i - (side - 1) / 2.0) * spacing, (j - (side - 1) / 2.0) * spacing, 8 * r + l * spacing);
        st_Vec3 jitter = {random_number(&seed), random_number(&seed), random_number(&seed)};
        add_sphere(scene, add(at, scale(0.15 * r, jitter)), r, DENSITY * 4.0 / 3 * M_PI * r * r * r);
    }
    scene->length = r;
    scene->mu = 0.5;
    scene->end = 2;
    scene->settled = 1.75;
}

/* ---- stacks ----------------------------------------------------------------------------------- */

/* n bricks in courses of ten, each on two of the course below: shifted by a quarter, so that the ends are supported. */
static void make_wall(Scene *scene, double number)
{
    const st_Vec3 half = {0.2, 0.1, 0.1};
    int n = (int)number;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < n; k++) {
        int i = k % 10, course = k / 10;
        double x = (i - 4.5 + (course % 2 == 1 ? 0.25 : 0)) * 2 * half.x;
        add_box(scene, vec3(x, 0, (2 * course + 1) * half.z), half, DENSITY * 8 * half.x * half.y * half.z);
    }
    scene->length = half.z;
    scene->mu = 0.5;
    scene->end = 5;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* Planks in pairs, every pair across the one below. */
static void make_tower(Scene *scene, double number)
{
    int courses = (int)number;
    const double length = 0.3, width = 0.06, height = 0.03; /* half extents */
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < 2 * courses; k++) {
        const int course = k / 2;
        double shift = (k % 2 == 0 ? 1 : -1) * (length - width), z = (2 * course + 1) * height;
        bool along_x = course % 2 == 0;
        add_box(scene, along_x ? vec3(0, shift, z) : vec3(shift, 0, z),
                along_x ? vec3(length, width, height) : vec3(width, length, height),
                DENSITY * 8 * length * width * height);
    }
    scene->length = height;
    scene->mu = 0.5;
    scene->end = 5;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* Twenty cubes on top of one another, the top one `ratio` times heavier. */
static void make_column(Scene *scene, double ratio)
{
    const double half = 0.1;
    add_plane(scene, vec3(0, 0, 1), 0);
    for (int k = 0; k < 20; k++)
        add_box(scene, vec3(0, 0, (2 * k + 1) * half), vec3(half, half, half), k == 19 ? ratio : 1);
    scene->length = half;
    scene->mu = 0.5;
    scene->end = 5;
    scene->settled = 1;
    scene->measure = MEASURE_REST;
}

/* ---- the table -------------------------------------------------------------------------------- */

static const SceneKind kinds[] = {
    {"spheres", "spheres", "falling into a box", 666, make_spheres},
    {"hulls", "hulls", "random convex hulls falling into a box", 200, make_hulls},
    {"wall", "bricks", "courses of ten at rest", 100, make_wall},
    {"tower", "courses", "planks crosswise in pairs, at rest", 20, make_tower},
    {"column", "ratio", "20 cubes at rest, the top one heavier by the ratio", 100, make_column},
    {"dominoes", "dominoes", "a row that topples", 30, make_dominoes},
    {"bowling", "speed", "a ball slides, then rolls", 5, make_bowling},
    {"incline", "part", "a box on a slope, at this part of the friction angle", 0.99, make_incline},
    {"push", "degrees", "a box slides in this direction", 45, make_push},
    {"bounce", "e", "a ball with this restitution", 0.5, make_bounce},
    {"gripper", "part", "two fingers hold a box at this part of what friction can carry", 0.95, make_gripper},
    {"chain", "links", "hanging aslant, let go", 100, make_chain},
    {"whip", "links", "the same chain, let go horizontally", 100, make_whip},
    {"springs", "stiffness", "five masses on springs in a row, damped, come to rest", 1e6, make_springs},
    {"ring", "stiffness", "the same without damping", 1e2, make_ring},
    {"slider", "turns", "slider-crank, its slider with clearance in the guide", 24, make_slider},
    {"boxes", "boxes", "of different sizes falling into a bin", 60, make_boxes},
    {"rods", "rods", "capsules and cylinders falling into a bin", 60, make_rods},
    {"pyramid", "cubes", "a triangle of cubes at rest", 820, make_pyramid},
    {"smash", "bricks", "a wall, courses of forty, hit by a heavy ball", 800, make_smash},
    {"pair", "ratio", "two boxes, the upper one heavier by the ratio", 1, make_pair},
    {"slope", "boxes", "each by itself on a slope at 0.95 of the friction angle", 500, make_slope},
    {"ragdolls", "ragdolls", "ten capsules on ball joints each, falling on stairs", 10, make_ragdolls},
    {"hopper", "spheres", "running out of a silo through an opening six grains wide", 1000, make_hopper},
    {"springrow", "cubes", "on springs in a row, landing on a floor", 5, make_springrow},
    {"quadruped", "speed", "13 bodies, 12 sprung joints, dropped on its feet at this speed", 0.5, make_quadruped},
};
#define N_KINDS ((int)(sizeof kinds / sizeof kinds[0]))

const SceneKind *scene_kind(int index)
{
    return index >= 0 && index < N_KINDS ? &kinds[index] : NULL;
}

/* "wall-100" is kind "wall" with 100; the longest matching kind is used ("chain-whip" before "chain"). */
static const SceneKind *find_kind(const char *name, double *number)
{
    const SceneKind *found = NULL;
    size_t longest = 0;
    for (int k = 0; k < N_KINDS; k++) {
        size_t length = strlen(kinds[k].name);
        double value = kinds[k].usual;
        if (length < longest || strncmp(name, kinds[k].name, length) != 0) continue;
        const char *rest = name + length;
        if (*rest == '-') {
            char *end;
            value = strtod(rest + 1, &end);
            if (end == rest + 1) continue;
            rest = end;
        }
        if (*rest != '\0') continue;
        found = &kinds[k];
        longest = length;
        *number = value;
    }
    return found;
}

Scene *scene_create(const char *name)
{
    double number = 0;
    const SceneKind *kind = find_kind(name, &number);
    Scene *scene = kind != NULL ? calloc(1, sizeof *scene) : NULL;
    if (scene == NULL) {
        fprintf(stderr, "bench: no scene \"%s\"; --list shows them\n", name);
        return NULL;
    }
    snprintf(scene->name, sizeof scene->name, "%s", name);
    scene->h = 1.0 / 240;
    scene->end = scene->settled = 2;
    scene->length = 1;
    scene->gravity = vec3(0, 0, -9.81);
    kind->make(scene, number);
    return scene;
}

void scene_destroy(Scene *scene)
{
    if (scene == NULL) return;
    for (int k = 0; k < scene->n_hulls; k++) {
        free(scene->hulls[k].points);
        free(scene->hulls[k].triangles);
    }
    free(scene->hulls);
    free(scene->joints);
    free(scene->planes);
    free(scene->bodies);
    free(scene);
}
