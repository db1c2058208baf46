/* The judge of the benchmarks against closed forms and brute force: bench/peers/check.c, depth.c and hulls.c. */
#include "../../bench/peers/check.h"
#include "../../bench/peers/make.h"
#include "check.h"

#include <stdlib.h>

#define QUARTER_PI 0.78539816339744831

static const st_Quat unturned = {1, 0, 0, 0};

static st_Vec3 random_direction(uint64_t *seed)
{
    st_Vec3 n;
    do
        n = vec3(random_number(seed), random_number(seed), random_number(seed));
    while (norm(n) > 1 || norm(n) < 0.01);
    return scale(1 / norm(n), n);
}

/* Rounding of sums of a few numbers of order 1. */
#define ROUNDING 1e-14

static void two_boxes_face_to_face(void **state)
{
    (void)state;
    Scene *scene = scene_create("column-1");
    uint64_t seed = 3;
    for (int k = 0; k < 100;
         k++) { /* halves 0.1: overlap by 0.01 along the x axis of a frame that is turned as a whole */
        st_Quat q = quat_exp(scale(2, random_direction(&seed)));
        st_Pose a = {scale(0.3, random_direction(&seed)), q}, b = {add(a.p, rotate(q, vec3(0.19, 0.03, -0.02))), q};
        check_close(depth_pair(scene, 0, a, 1, b), 0.01, ROUNDING);
        check_close(depth_pair(scene, 1, b, 0, a), 0.01, ROUNDING);
    }
    scene_destroy(scene);
}

/* The lower box rests on an edge along x, the upper one on an edge along y: the edges cross. */
static void two_boxes_edge_to_edge(void **state)
{
    (void)state;
    Scene *scene = scene_create("column-1");
    st_Pose lower = {{0, 0, 0}, quat_exp(vec3(QUARTER_PI, 0, 0))};
    st_Pose upper = {{0.01, 0.02, 0.2 * sqrt(2.0) - 0.004}, quat_exp(vec3(0, QUARTER_PI, 0))};
    check_close(depth_pair(scene, 0, lower, 1, upper), 0.004, ROUNDING);
    upper.p.z += 0.005;
    assert_true(depth_pair(scene, 0, lower, 1, upper) <= 0);
    check_close(depth_plane(scene, 0, lower, &(Plane){{0, 0, 1}, -0.1}), 0.1 * sqrt(2.0) - 0.1, ROUNDING);
    scene_destroy(scene);
}

/* No direction parts two hulls by less than their depth, and some direction nearly does. */
static void two_hulls_by_brute_force(void **state)
{
    (void)state;
    Scene *scene = scene_create("hulls-20");
    uint64_t seed = 5;
    for (int k = 0; k + 1 < 20; k += 2) {
        const Hull *hull_a = &scene->hulls[k], *hull_b = &scene->hulls[k + 1];
        st_Pose a = {{0, 0, 0}, quat_exp(scale(2, random_direction(&seed)))};
        st_Pose b = {scale(0.15, random_direction(&seed)), quat_exp(scale(2, random_direction(&seed)))};
        double depth = depth_pair(scene, k, a, k + 1, b), least = INFINITY;
        for (int trial = 0; trial < 20000; trial++) {
            st_Vec3 n = random_direction(&seed);
            double high = -INFINITY, low = INFINITY;
            for (int i = 0; i < hull_a->n_points; i++)
                high = fmax(high, dot(n, pose_point(a, hull_a->points[i])));
            for (int i = 0; i < hull_b->n_points; i++)
                low = fmin(low, dot(n, pose_point(b, hull_b->points[i])));
            least = fmin(least, high - low);
        }
        if (depth <= 0) continue; /* apart: the checker stops at the first direction that shows it */
        assert_true(least >= depth - ROUNDING);
        assert_true(least - depth <
                    0.01); /* 20,000 directions are about 0.02 rad apart, the hulls 0.2 long: a third of that */
    }
    scene_destroy(scene);
}

/* The frame of a hull is at its centre of mass, along its principal axes: by counting points of a grid. */
static void hull_inertia_by_counting(void **state)
{
    (void)state;
    Scene *scene = scene_create("hulls-2");
    const Body *body = &scene->bodies[1];
    const Hull *hull = &scene->hulls[1];
    const double cell = 0.004;
    double mass = 0;
    st_Vec3 first = {0, 0, 0}, inertia = {0, 0, 0}, products = {0, 0, 0};
    for (int k = 0; k < 50 * 50 * 50; k++) {
        int layer = k / 2500;
        st_Vec3 p = scale(cell, vec3(k % 50 - 24.5, k / 50 % 50 - 24.5, layer - 24.5));
        bool inside = true;
        for (int t = 0; t < hull->n_triangles && inside; t++) {
            const int *c = &hull->triangles[3 * t];
            st_Vec3 a = hull->points[c[0]];
            inside = dot(cross(sub(hull->points[c[1]], a), sub(hull->points[c[2]], a)), sub(p, a)) < 0;
        }
        if (!inside) continue;
        double m = DENSITY * cell * cell * cell;
        mass += m;
        first = add(first, scale(m, p));
        inertia = add(inertia, scale(m, vec3(p.y * p.y + p.z * p.z, p.z * p.z + p.x * p.x, p.x * p.x + p.y * p.y)));
        products = add(products, scale(m, vec3(p.y * p.z, p.z * p.x, p.x * p.y)));
    }
    check_close(mass, body->mass, 0.02 * body->mass); /* cells of 1/25 of the radius: a per cent or so at the surface */
    check_close(norm(first) / mass, 0, 0.02 * 0.1);
    check_close(inertia.x, body->inertia.x, 0.04 * body->inertia.x);
    check_close(inertia.y, body->inertia.y, 0.04 * body->inertia.y);
    check_close(inertia.z, body->inertia.z, 0.04 * body->inertia.z);
    check_close(norm(products), 0, 0.04 * body->inertia.x);
    scene_destroy(scene);
}

/* Cylinders and capsules where the answer is known: side by side, end on end, crossed, and a tilted one on a plane. */
static void round_rods(void **state)
{
    (void)state;
    Scene *scene = scene_create("rods-4"); /* capsule, cylinder, capsule, cylinder */
    const Shape *capsule = &scene->bodies[0].shape, *rod = &scene->bodies[1].shape, *other = &scene->bodies[3].shape;
    const st_Quat lying = quat_exp(vec3(0, 2 * QUARTER_PI, 0));
    const double near = 1e-7 * rod->half.x; /* directions to 1e-7, and the overlap is flat where it is least */
    st_Pose a = {{0, 0, 0}, unturned}, b = {{rod->half.x + other->half.x - 0.004, 0, 0.01}, unturned};
    check_close(depth_pair(scene, 1, a, 3, b), 0.004, near);
    b.p = vec3(0.01, 0.02, rod->half.z + other->half.z - 0.003);
    check_close(depth_pair(scene, 1, a, 3, b), 0.003, near);
    b = (st_Pose){{0, rod->half.x + other->half.x - 0.002, 0}, lying}; /* across */
    check_close(depth_pair(scene, 1, a, 3, b), 0.002, near);
    b.p.y += 0.003;
    assert_true(depth_pair(scene, 1, a, 3, b) <= 0);
    const st_Pose c = {{0, capsule->half.x + scene->bodies[2].shape.half.x - 0.002, 0}, lying};
    check_close(depth_pair(scene, 0, a, 2, c), 0.002, ROUNDING);
    const st_Pose tilted = {{0, 0, 0.1}, quat_exp(vec3(0, QUARTER_PI, 0))};
    const double low = (rod->half.x + rod->half.z) * sqrt(0.5);
    check_close(depth_plane(scene, 1, tilted, &(Plane){{0, 0, 1}, 0.0}), low - 0.1, ROUNDING);
    scene_destroy(scene);
}

/* How far a cylinder reaches along n. */
static double reach_of_rod(const Shape *rod, st_Quat q, st_Vec3 n)
{
    const st_Vec3 m = rotate_back(q, n);
    return fabs(m.z) * rod->half.z + rod->half.x * sqrt(m.x * m.x + m.y * m.y);
}

/* Two cylinders at random that overlap a little: any direction whatever is an upper bound of their depth. */
static void rods_by_brute_force(void **state)
{
    (void)state;
    Scene *scene = scene_create("rods-4");
    const Shape *a = &scene->bodies[1].shape, *b = &scene->bodies[3].shape;
    uint64_t seed = 17;
    for (int k = 0; k < 300; k++) {
        st_Pose at_a = {{0, 0, 0}, quat_exp(scale(2, random_direction(&seed)))};
        st_Pose at_b = {{0, 0, 0}, quat_exp(scale(2, random_direction(&seed)))};
        double reach = INFINITY, least = INFINITY;
        const st_Vec3 way = random_direction(&seed);
        for (double far = 0.3; far > 0.05; far -= 0.005) { /* the first place that overlaps by half a per cent */
            at_b.p = scale(far, way);
            reach = depth_pair(scene, 1, at_a, 3, at_b);
            if (reach > 0.0005) break;
        }
        for (int i = 0; i < 4000; i++) {
            const st_Vec3 n = random_direction(&seed);
            least = fmin(least, reach_of_rod(a, at_a.q, n) + reach_of_rod(b, at_b.q, n) - dot(n, at_b.p));
        }
        check_below(reach, least + 1e-9);
    }
    scene_destroy(scene);
}

/* A capsule's mass and inertia by counting points of a grid. */
static void capsule_inertia_by_counting(void **state)
{
    (void)state;
    Scene *scene = scene_create("rods-1");
    const Body *body = &scene->bodies[0];
    const double r = body->shape.half.x, half = body->shape.half.z, cell = 0.0025;
    double mass = 0, along = 0, across = 0;
    for (int k = 0; k < 60 * 60 * 120; k++) {
        const int layer = k / 3600;
        const st_Vec3 p = scale(cell, vec3(k % 60 - 29.5, k / 60 % 60 - 29.5, layer - 59.5));
        const double beyond = fmax(fabs(p.z) - half, 0), square = p.x * p.x + p.y * p.y;
        if (square + beyond * beyond > r * r) continue;
        mass += DENSITY * cell * cell * cell;
        along += DENSITY * cell * cell * cell * square;
        across += DENSITY * cell * cell * cell * (p.y * p.y + p.z * p.z);
    }
    check_close(mass, body->mass, 0.01 * body->mass);
    check_close(along, body->inertia.z, 0.01 * body->inertia.z);
    check_close(across, body->inertia.x, 0.01 * body->inertia.x);
    scene_destroy(scene);
}

/* Rises of the energy are added up and falls are not; kinetic energy counts in the last second. */
static void gain_and_rest(void **state)
{
    (void)state;
    Scene *scene = scene_create("pair"); /* 1 kg each, edges of 0.2 m, 5 s */
    Checker *checker = checker_create(scene);
    BodyState states[2] = {{scene->bodies[0].pose, {0, 0, 0}, {0, 0, 0}},
                           {scene->bodies[1].pose, {0, 0, 0}, {0, 0, 0}}};
    const double heights[] = {0.31, 0.30, 0.33, 0.32}, unit = 2 * 9.81 * 0.2;
    for (int k = 0; k < 4; k++) {
        states[1].pose.p.z = heights[k];
        states[0].velocity.x = k < 3 ? 0.0 : 0.1;
        checker_step(checker, k < 3 ? 1 + k : 4.5, states, k == 3);
    }
    const Accuracy got = checker_result(checker);
    check_close(got.gain, 9.81 * (0.01 + 0.03) / unit, 1e-12); /* the last step loses 0.0981 J and gains 0.005 */
    check_close(got.kinetic, 0.5 * 0.01 / unit, 1e-12);
    checker_destroy(checker);
    scene_destroy(scene);
}

/* A chain whose second link is moved off its joint, and a fall that conserves its energy. */
static void joints_and_energy(void **state)
{
    (void)state;
    Scene *scene = scene_create("chain-2");
    Checker *checker = checker_create(scene);
    BodyState states[2];
    for (int k = 0; k < 2; k++) {
        states[k] = (BodyState){scene->bodies[k].pose, {0, 0, 0}, {0, 0, 0}};
        states[k].pose.p.z -= 0.5 * 9.81 * 0.1 * 0.1; /* 0.1 s of free fall, off the joint at the top */
        states[k].velocity.z = -9.81 * 0.1;
    }
    states[1].pose.p.x += 0.003;
    checker_step(checker, 0.1, states, true);
    Accuracy got = checker_result(checker);
    check_close(got.joint_error, 0.5 * 9.81 * 0.01, ROUNDING);
    check_close(got.energy, 0, ROUNDING);
    assert_int_equal(got.touching, 0);
    checker_destroy(checker);
    scene_destroy(scene);
}

/* The grid finds the same overlaps as comparing all pairs. */
static void overlaps_by_brute_force(void **state)
{
    (void)state;
    Scene *scene = scene_create("spheres-300");
    Checker *checker = checker_create(scene);
    BodyState *states = calloc(300, sizeof *states);
    uint64_t seed = 9;
    int touching = 0;
    double deepest = 0;
    assert_non_null(states);
    for (int k = 0; k < 300; k++) {
        states[k].pose = (st_Pose){
            {0.35 * random_number(&seed), 0.35 * random_number(&seed), 0.4 + 0.3 * random_number(&seed)}, unturned};
        for (int p = 0; p < scene->n_planes; p++) {
            double depth = depth_plane(scene, k, states[k].pose, &scene->planes[p]);
            if (depth > 0) touching++, deepest = fmax(deepest, depth);
        }
        for (int i = 0; i < k; i++) {
            double depth = 0.1 - norm(sub(states[i].pose.p, states[k].pose.p));
            if (depth > 0) touching++, deepest = fmax(deepest, depth);
        }
    }
    checker_step(checker, 2, states, true);
    Accuracy got = checker_result(checker);
    assert_int_equal(got.touching, touching);
    check_close(got.impact, deepest / 0.05, ROUNDING);
    check_close(got.settled, deepest / 0.05, ROUNDING);
    free(states);
    checker_destroy(checker);
    scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_boxes_face_to_face),
        cmocka_unit_test(two_boxes_edge_to_edge),
        cmocka_unit_test(two_hulls_by_brute_force),
        cmocka_unit_test(hull_inertia_by_counting),
        cmocka_unit_test(joints_and_energy),
        cmocka_unit_test(overlaps_by_brute_force),
        cmocka_unit_test(round_rods),
        cmocka_unit_test(rods_by_brute_force),
        cmocka_unit_test(capsule_inertia_by_counting),
        cmocka_unit_test(gain_and_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
