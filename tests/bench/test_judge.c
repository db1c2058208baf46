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

/* The lower box stands on an edge along x, the upper one on an edge along y: the edges cross. */
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

/* What the grid finds is what comparing all pairs finds. */
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
        cmocka_unit_test(two_boxes_face_to_face),   cmocka_unit_test(two_boxes_edge_to_edge),
        cmocka_unit_test(two_hulls_by_brute_force), cmocka_unit_test(hull_inertia_by_counting),
        cmocka_unit_test(joints_and_energy),        cmocka_unit_test(overlaps_by_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
