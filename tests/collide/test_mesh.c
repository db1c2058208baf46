/* Meshes and height fields: bodies that slide or roll over their inner edges are not disturbed; hollows, ridges,
 * sheets and thin walls touch where they should. */
#include "check.h"
#include "collide/collide.h"
#include "math/quat.h"

#include <stdlib.h>
#include <stiction/stiction.h>
#include <string.h>

#define CELLS 24

/* A flat floor of n x n cells cut alternately along both diagonals, some corners moved within the plane. */
static int flat_floor(check_Random *random, double size, st_Vec3 *points, int *triangles)
{
    int n = 0, count = 0;
    double cell = size / CELLS;
    for (int j = 0; j <= CELLS; j++)
        for (int i = 0; i <= CELLS; i++) {
            bool rim = i == 0 || j == 0 || i == CELLS || j == CELLS;
            double dx = rim ? 0 : check_random(random, -0.3, 0.3), dy = rim ? 0 : check_random(random, -0.3, 0.3);
            points[n++] = vec3((i + dx) * cell - size / 2, (j + dy) * cell - size / 2, 0);
        }
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            int a = j * (CELLS + 1) + i, b = a + 1, c = a + CELLS + 2, d = a + CELLS + 1;
            const int even[6] = {a, b, c, a, c, d}, odd[6] = {a, b, d, b, c, d};
            memcpy(triangles + 3 * count, (i + j) % 2 == 0 ? even : odd, sizeof even);
            count += 2;
        }
    return count;
}

typedef struct Run {
    st_Scene *scene;
    st_System *system;
    st_BodyId body;
    st_Error err;
} Run;

static void make_run(Run *run, const st_ShapeDef *ground, const st_ShapeDef *shape, const st_BodyDef *body, double mu)
{
    memset(run, 0, sizeof *run);
    st_ShapeDef floor_def = *ground, shape_def = *shape;
    floor_def.mu = shape_def.mu = mu;
    check_ok(st_scene_create(&run->scene, &run->err), run->err);
    check_ok(st_scene_add_shape(run->scene, ST_GROUND, &floor_def, NULL, &run->err), run->err);
    check_ok(st_scene_add_body(run->scene, body, &run->body, &run->err), run->err);
    check_ok(st_scene_add_shape(run->scene, run->body, &shape_def, NULL, &run->err), run->err);
    st_SystemDef def = st_system_def();
    check_ok(st_system_create(run->scene, &def, &run->system, &run->err), run->err);
}

static void end_run(Run *run)
{
    st_system_destroy(run->system);
    st_scene_destroy(run->scene);
}

static void step_to(Run *run, double h, int steps, double height, double *lowest, double *highest)
{
    for (int k = 0; k < steps; k++) {
        st_Pose pose;
        check_ok(st_system_step(run->system, h, NULL, &run->err), run->err);
        assert_int_equal(st_system_pose(run->system, run->body, &pose), ST_OK);
        *lowest = fmin(*lowest, pose.p.z - height), *highest = fmax(*highest, pose.p.z - height);
    }
}

/* 10 m without friction: not a micron up or down, not a digit of speed. */
static void box_slides_over_a_triangulated_plane(void **state)
{
    (void)state;
    static st_Vec3 points[(CELLS + 1) * (CELLS + 1)];
    static int triangles[6 * CELLS * CELLS];
    check_Random random = {21};
    int n = flat_floor(&random, 14, points, triangles);
    st_ShapeDef ground = st_mesh_def(points, (CELLS + 1) * (CELLS + 1), triangles, n);
    st_ShapeDef box = st_box_def(0.31, 0.17, 0.1);
    st_BodyDef body = st_body_def();
    body.pose.p = vec3(-5.3, -0.4, 0.1);
    body.velocity = vec3(2, 0.1, 0);
    body.pose.q = quat_exp(vec3(0, 0, 0.3));
    Run run;
    double lowest = 0, highest = 0;
    make_run(&run, &ground, &box, &body, 0);
    step_to(&run, 1e-2, 500, 0.1, &lowest, &highest);
    st_Pose pose;
    st_Vec3 v, w;
    st_system_pose(run.system, run.body, &pose);
    st_system_velocity(run.system, run.body, &v, &w);
    print_message("sliding box: height %+.2g .. %+.2g m, speed changed by %.2g m/s, turned %.2g rad/s, 10 m: x %.9f\n",
                  lowest, highest, norm(sub(v, body.velocity)), norm(w), pose.p.x);
    check_close(lowest, 0, 1e-9);
    check_close(highest, 0, 1e-9);
    check_close(norm(sub(v, body.velocity)), 0, 1e-9);
    check_close(norm(w), 0, 1e-9);
    check_close(pose.p.x, -5.3 + 10, 1e-8);
    end_run(&run);
}

/* With friction the box stops at Coulomb's distance, as on a plane: v0^2 / (2 mu g), up to h v0/2. */
static void box_stops_as_on_a_plane(void **state)
{
    (void)state;
    static st_Vec3 points[(CELLS + 1) * (CELLS + 1)];
    static int triangles[6 * CELLS * CELLS];
    check_Random random = {22};
    int n = flat_floor(&random, 4, points, triangles);
    st_ShapeDef grounds[2] = {st_mesh_def(points, (CELLS + 1) * (CELLS + 1), triangles, n), st_plane_def()};
    st_ShapeDef box = st_box_def(0.31, 0.17, 0.1);
    double x[2];
    for (int k = 0; k < 2; k++) {
        st_BodyDef body = st_body_def();
        body.pose.p = vec3(-1, 0.1, 0.1);
        body.velocity = vec3(2, 0, 0);
        Run run;
        st_Pose pose;
        double lowest = 0, highest = 0;
        make_run(&run, &grounds[k], &box, &body, 0.5);
        step_to(&run, 1e-2, 60, 0.1, &lowest, &highest);
        st_system_pose(run.system, run.body, &pose);
        x[k] = pose.p.x;
        end_run(&run);
    }
    check_close(x[0], x[1], 1e-7); /* the solver's tolerance times the way */
}

/* A ball rolls without slipping over a height field of flat cells: neither height nor speed changes. */
static void ball_rolls_over_flat_cells(void **state)
{
    (void)state;
    static double heights[60 * 9];
    for (int k = 0; k < 60 * 9; k++)
        heights[k] = 0.25;
    st_ShapeDef ground = st_height_field_def(heights, 60, 9, 0.23), ball = st_sphere_def(0.2);
    st_BodyDef body = st_body_def();
    body.pose.p = vec3(-6, 0.05, 0.45);
    body.velocity = vec3(2, 0.11, 0);
    body.spin = vec3(-0.11 / 0.2, 2 / 0.2, 0);
    Run run;
    double lowest = 0, highest = 0;
    make_run(&run, &ground, &ball, &body, 0.5);
    step_to(&run, 1e-2, 500, 0.45, &lowest, &highest);
    st_Vec3 v, w;
    st_Pose pose;
    st_system_velocity(run.system, run.body, &v, &w);
    st_system_pose(run.system, run.body, &pose);
    print_message("rolling ball: height %+.2g .. %+.2g m, speed changed by %.2g m/s after %.3f m\n", lowest, highest,
                  norm(sub(v, body.velocity)), pose.p.x + 6);
    check_close(lowest, 0, 1e-9);
    check_close(highest, 0, 1e-9);
    check_close(norm(sub(v, body.velocity)), 0, 1e-8);
    end_run(&run);
}

/* ---- single pairs -------------------------------------------------------------------------------- */

typedef struct Touch {
    sti_Shape mesh, other;
    sti_Points points;
} Touch;

static void touch(Touch *t, const st_ShapeDef *mesh, const st_ShapeDef *other, st_Pose pose, double margin)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    *t = (Touch){.points.allocator = allocator};
    check_ok(sti_shape_compile(mesh, &allocator, &t->mesh, &err), err);
    check_ok(sti_shape_compile(other, &allocator, &t->other, &err), err);
    st_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    sti_Collide how = {.margin = margin, .planar = -1};
    check_ok(sti_collide(&t->mesh, origin, &t->other, pose, &how, &t->points, &err), err);
}

static void let_go(Touch *t)
{
    st_Allocator allocator = st_default_allocator();
    sti_points_free(&t->points);
    sti_shape_free(&allocator, &t->mesh);
    sti_shape_free(&allocator, &t->other);
}

static const st_Vec3 cube_points[8] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1},
                                       {-1, -1, 1},  {1, -1, 1},  {-1, 1, 1},  {1, 1, 1}};
static const int cube_triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

/* A cube as a mesh and as a box: spheres all around have the same signed distance, outside and slightly in. */
static void mesh_cube_is_a_box(void **state)
{
    (void)state;
    check_Random random = {23};
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12), box = st_box_def(1, 1, 1);
    for (int k = 0; k < 3000; k++) {
        double r = check_random(&random, 0.05, 0.5);
        st_ShapeDef ball = st_sphere_def(r);
        st_Vec3 p =
            vec3(check_random(&random, -1.6, 1.6), check_random(&random, -1.6, 1.6), check_random(&random, -1.6, 1.6));
        if (fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))) < 1 - 0.9 * r) continue; /* deep: a mesh has no middle */
        Touch t;
        touch(&t, &cube, &ball, (st_Pose){p, {1, 0, 0, 0}}, 0.3);
        st_Vec3 q = vec3(fmin(fmax(p.x, -1), 1), fmin(fmax(p.y, -1), 1), fmin(fmax(p.z, -1), 1));
        double in = 1 - fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z)));
        double expected = in > 0 ? -in - r : norm(sub(p, q)) - r, least = INFINITY;
        for (int i = 0; i < t.points.n; i++)
            least = fmin(least, t.points.point[i].gap);
        if (expected < 0.3) check_close(least, expected, 1e-9);
        if (expected > 0.3) assert_int_equal(t.points.n, 0);
        if (in <= 0 && expected < 0.3) assert_int_equal(t.points.n, 1); /* one place, whatever the triangles */
        let_go(&t);
    }
    (void)box;
}

/* A box on the cube, hanging over its edge by various lengths, a hair inside: four points on the common
 * rectangle, all upward; nothing from the side faces.                                             */
static void overhang_has_no_phantoms(void **state)
{
    (void)state;
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12), box = st_box_def(0.5, 0.3, 0.2);
    for (int k = 0; k < 40; k++) {
        double x = 0.6 + 0.02 * k, depth = k % 2 == 0 ? 1e-10 : -1e-10;
        Touch t;
        touch(&t, &cube, &box, (st_Pose){{x, 0.1, 1.2 - depth}, {1, 0, 0, 0}}, 1e-3);
        assert_int_equal(t.points.n, 4);
        double hi = -INFINITY, lo = INFINITY;
        for (int i = 0; i < 4; i++) {
            check_close(t.points.point[i].normal.z, 1, 1e-9);
            check_close(t.points.point[i].gap, -depth, 1e-12);
            hi = fmax(hi, t.points.point[i].point.x), lo = fmin(lo, t.points.point[i].point.x);
        }
        check_close(lo, x - 0.5, 1e-9);
        check_close(hi, fmin(1, x + 0.5), 1e-9);
        let_go(&t);
    }
}

/* A ball in a groove of 90 degrees touches both sides; on a ridge it touches the edge. */
static void grooves_and_ridges(void **state)
{
    (void)state;
    const double groove[6] = {1, 0, 1, 1, 0, 1}, ridge[6] = {0, 1, 0, 0, 1, 0};
    st_ShapeDef ball = st_sphere_def(0.3);
    Touch t;
    st_ShapeDef field = st_height_field_def(groove, 3, 2, 1);
    touch(&t, &field, &ball, (st_Pose){{0, 0, 0.3 * sqrt(2) + 1e-4}, {1, 0, 0, 0}}, 1e-3);
    assert_int_equal(t.points.n, 2);
    for (int k = 0; k < 2; k++) {
        check_close(t.points.point[k].gap, 1e-4 / sqrt(2), 1e-12);
        check_close(t.points.point[k].normal.z, sqrt(0.5), 1e-12);
    }
    check_close(t.points.point[0].normal.x, -t.points.point[1].normal.x, 1e-12);
    let_go(&t);
    field = st_height_field_def(ridge, 3, 2, 1);
    touch(&t, &field, &ball, (st_Pose){{0.1, 0, 1.3}, {1, 0, 0, 0}}, 0.1);
    assert_int_equal(t.points.n, 1);
    check_close(t.points.point[0].gap, hypot(0.1, 0.3) - 0.3, 1e-12);
    let_go(&t);
}

/* An open sheet is touched from both sides. */
static void sheets_have_two_sides(void **state)
{
    (void)state;
    const st_Vec3 points[4] = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}};
    const int triangles[6] = {0, 1, 2, 0, 2, 3};
    st_ShapeDef sheet = st_mesh_def(points, 4, triangles, 2), box = st_box_def(0.2, 0.2, 0.2);
    for (int sign = -1; sign <= 1; sign += 2) {
        Touch t;
        touch(&t, &sheet, &box, (st_Pose){{0.1, 0.05, sign * 0.201}, {1, 0, 0, 0}}, 0.01);
        assert_int_equal(t.points.n, 4);
        for (int k = 0; k < 4; k++) {
            check_close(t.points.point[k].normal.z, sign, 1e-12);
            check_close(t.points.point[k].gap, 0.001, 1e-12);
        }
        let_go(&t);
    }
}

/* A bumpy plate on and over a plane, tilted: the corners below the margin, each once, and no others. */
static void corners_near_a_plane_are_all_found(void **state)
{
    (void)state;
    static st_Vec3 points[(CELLS + 1) * (CELLS + 1)];
    static int triangles[6 * CELLS * CELLS];
    check_Random random = {27};
    st_Allocator allocator = st_default_allocator();
    const int n = flat_floor(&random, 2, points, triangles), n_points = (CELLS + 1) * (CELLS + 1);
    for (int k = 0; k < n_points; k++)
        points[k].z = check_random(&random, -0.05, 0.05);
    const st_ShapeDef plane_def = st_plane_def(), plate_def = st_mesh_def(points, n_points, triangles, n);
    sti_Shape plane, plate;
    st_Error err = {0};
    check_ok(sti_shape_compile(&plane_def, &allocator, &plane, &err), err);
    check_ok(sti_shape_compile(&plate_def, &allocator, &plate, &err), err);
    sti_Points found = {.allocator = allocator};
    int total = 0;
    for (int k = 0; k < 300; k++) {
        const double tilt = k % 3 == 0 ? 0 : k % 3 == 1 ? 0.1 : 3;
        const st_Pose floor = {{5, -3, 2}, quat_exp(vec3(0.2 * k, -0.1 * k, 0.3))};
        const st_Pose pose = {pose_point(floor, vec3(0.3, -1, check_random(&random, -0.1, 0.4))),
                              quat_product(floor.q, quat_exp(vec3(check_random(&random, -tilt, tilt),
                                                                  check_random(&random, -tilt, tilt), 0)))};
        const sti_Collide how = {.margin = k % 10 == 0 ? INFINITY : 0.02, .planar = -1, .keep = STI_KEEP_ALL};
        const st_Vec3 up = rotate(floor.q, vec3(0, 0, 1));
        int expected = 0;
        found.n = 0;
        check_ok(sti_collide(&plane, floor, &plate, pose, &how, &found, &err), err);
        for (int v = 0; v < n_points; v++) {
            const double gap = dot(up, sub(pose_point(pose, points[v]), floor.p));
            if (!(gap < how.margin)) continue;
            assert_true(expected < found.n);
            assert_int_equal(found.point[expected].feature, v);
            check_close(found.point[expected++].gap, gap, 1e-14);
        }
        assert_int_equal(found.n, expected);
        total += expected;
    }
    assert_true(total > 3000);
    sti_points_free(&found);
    sti_shape_free(&allocator, &plate);
}

/* A cube at the end of more points than there are numbers for features, on a plane: each corner has its own. */
static void features_are_small_numbers(void **state)
{
    (void)state;
    enum { BEFORE = 1 << STI_FEATURE_BITS };
    st_Vec3 *points = calloc(BEFORE + 8, sizeof *points);
    int triangles[36];
    assert_non_null(points);
    memcpy(points + BEFORE, cube_points, sizeof cube_points);
    for (int k = 0; k < 36; k++)
        triangles[k] = BEFORE + cube_triangles[k];
    const st_ShapeDef plane = st_plane_def(), cube = st_mesh_def(points, BEFORE + 8, triangles, 12);
    Touch t;
    touch(&t, &plane, &cube, (st_Pose){{0, 0, 1}, {1, 0, 0, 0}}, 1e-3);
    assert_int_equal(t.points.n, 4);
    for (int k = 0; k < t.points.n; k++) {
        assert_true(t.points.point[k].feature < 1u << STI_FEATURE_BITS);
        assert_true(k == 0 || t.points.point[k].feature > t.points.point[k - 1].feature);
    }
    let_go(&t);
    free(points);
}

/* ---- meshes against meshes ------------------------------------------------------------------------ */

/* Two cubes as meshes against two as boxes: apart, the least gap is their distance, whatever the triangles. */
static void mesh_cubes_are_boxes(void **state)
{
    (void)state;
    check_Random random = {24};
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12), box = st_box_def(1, 1, 1);
    int apart = 0, touching = 0;
    for (int k = 0; k < 400; k++) {
        st_Vec3 way = vec3(check_random(&random, -1, 1), check_random(&random, -1, 1), check_random(&random, -1, 1));
        double away = check_random(&random, 1.9, 3.2), turn = check_random(&random, 0, 1);
        st_Vec3 axis = vec3(check_random(&random, -1, 1), check_random(&random, -1, 1), check_random(&random, -1, 1));
        st_Pose pose = {scale(away / norm(way), way), quat_exp(scale(turn, axis))};
        Touch meshes, boxes;
        touch(&boxes, &box, &box, pose, INFINITY);
        double least = INFINITY, expected = INFINITY;
        for (int i = 0; i < boxes.points.n; i++)
            expected = fmin(expected, boxes.points.point[i].gap);
        touch(&meshes, &cube, &cube, pose, 2);
        for (int i = 0; i < meshes.points.n; i++)
            least = fmin(least, meshes.points.point[i].gap);
        if (expected > 0 && expected < 2) check_close(least, expected, 1e-9), apart++;
        /* overlapping: the same up to a hundredth of the size, beyond that at most twice as deep
         * (collide/mesh/mesh_overlap.c: no place of one surface is farther from the other than the least translation
         * that parts them) */
        if (expected < 0) assert_true(least < 0 && least >= 2 * expected), touching++;
        if (expected < 0 && expected > -0.02) check_close(least, expected, 1e-9);
        let_go(&meshes);
        let_go(&boxes);
    }
    print_message("mesh on mesh: %d apart, %d overlapping\n", apart, touching);
    assert_true(apart > 100 && touching > 50);
}

/* A cube as a mesh set down on another: it rests there, the ground carries its weight. */
static void mesh_rests_on_mesh(void **state)
{
    (void)state;
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12);
    st_BodyDef body = st_body_def();
    body.pose.p = vec3(0.3, 0.2, 2);
    body.pose.q = quat_exp(vec3(0, 0, 0.4));
    body.mass = 5;
    Run run;
    double lowest = 0, highest = 0;
    make_run(&run, &cube, &cube, &body, 0.5);
    step_to(&run, 1e-2, 100, 2, &lowest, &highest);
    check_close(lowest, 0, 1e-9);
    check_close(highest, 0, 1e-9);
    st_Vec3 force, torque;
    assert_int_equal(st_system_contact_force(run.system, run.body, &force, &torque), ST_OK);
    check_close(force.z, 5 * 9.81, 1e-8 * 5 * 9.81);
    end_run(&run);
}

/* ---- wholly inside -------------------------------------------------------------------------------- */

enum { N_GUESTS = 9 };
static st_Vec3 small_points[8]; /* of a cube of side 0.2 */

static void make_guests(st_ShapeDef guest[N_GUESTS], double below[N_GUESTS])
{
    for (int k = 0; k < 8; k++)
        small_points[k] = scale(0.1, cube_points[k]);
    const st_ShapeDef all[N_GUESTS] = {st_sphere_def(0.1),
                                       st_box_def(0.1, 0.1, 0.1),
                                       st_capsule_def(0.1, 0.1),
                                       st_cylinder_def(0.1, 0.1),
                                       st_mesh_def(small_points, 8, cube_triangles, 12),
                                       st_hull_def(small_points, 8),
                                       st_ellipsoid_def(0.2, 0.1, 0.07),
                                       st_cone_def(0.1, 0.2),
                                       st_point_def()};
    const double down[N_GUESTS] = {0.1, 0.1, 0.15, 0.05, 0.1, 0.1, 0.07, 0.05, 0}; /* from its origin along -z */
    memcpy(guest, all, sizeof all);
    memcpy(below, down, sizeof down);
}

/* Inside a cube of side 2, touching none of its triangles: the gap along the nearest face, for every shape. */
static void what_is_inside_is_known(void **state)
{
    (void)state;
    check_Random random = {25};
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12), guest[N_GUESTS];
    double below[N_GUESTS];
    make_guests(guest, below);
    for (int k = 0; k < 90 * N_GUESTS; k++) {
        double x = check_random(&random, -0.3, 0.3), y = check_random(&random, -0.3, 0.3);
        double z = check_random(&random, 0.4, 0.7);
        Touch t;
        touch(&t, &cube, &guest[k % N_GUESTS], (st_Pose){{x, y, z}, {1, 0, 0, 0}}, 1e-3);
        assert_int_equal(t.points.n, 1);
        check_close(t.points.point[0].gap, z - below[k % N_GUESTS] - 1, 1e-12);
        check_close(t.points.point[0].normal.z, 1, 1e-12);
        let_go(&t);
    }
}

/* A plate in a slab: its ball does not fit, it does. */
static void a_plate_inside_a_slab_is_known(void **state)
{
    (void)state;
    st_Vec3 slab_points[8], plate_points[8];
    for (int k = 0; k < 8; k++) {
        const st_Vec3 c = cube_points[k];
        slab_points[k] = vec3(c.x, c.y, 0.2 * c.z), plate_points[k] = vec3(0.5 * c.x, 0.5 * c.y, 0.05 * c.z);
    }
    const st_ShapeDef slab = st_mesh_def(slab_points, 8, cube_triangles, 12);
    const st_ShapeDef plate[3] = {st_hull_def(plate_points, 8), st_ellipsoid_def(0.5, 0.5, 0.05),
                                  st_box_def(0.5, 0.5, 0.05)};
    for (int k = 0; k < 3; k++) {
        Touch t;
        touch(&t, &slab, &plate[k], (st_Pose){{0.1, -0.05, 0.01}, {1, 0, 0, 0}}, 1e-3);
        assert_int_equal(t.points.n, 1);
        check_close(t.points.point[0].gap, -0.24, 1e-12);
        check_close(t.points.point[0].normal.z, 1, 1e-12);
        let_go(&t);
    }
}

/* Below a flat field of 2 m by 4 m at a height of 0.3 m it is solid, as deep as its longer side; beside it, above it
 * and deeper nothing is.                                                                           */
static void below_a_height_field_it_is_solid(void **state)
{
    (void)state;
    check_Random random = {26};
    double heights[15], below[N_GUESTS];
    for (int k = 0; k < 15; k++)
        heights[k] = 0.3;
    const st_ShapeDef field = st_height_field_def(heights, 3, 5, 1);
    st_ShapeDef guest[N_GUESTS];
    make_guests(guest, below);
    for (int k = 0; k < 100 * N_GUESTS; k++) {
        const int g = k % N_GUESTS;
        const double x = check_random(&random, -1.5, 1.5), y = check_random(&random, -2.5, 2.5);
        const double z = check_random(&random, -5, 1), deep = fabs(x) > 0.8 || fabs(y) > 1.8 ? NAN : 0.3 - z;
        const bool beside = fabs(x) > 1.3 || fabs(y) > 2.3, inside = deep > 0.2 && deep < 3.8;
        Touch t; /* the mesh comes before the field */
        if (g == 4)
            touch(&t, &guest[g], &field, (st_Pose){{-x, -y, -z}, {1, 0, 0, 0}}, 1e-3);
        else
            touch(&t, &field, &guest[g], (st_Pose){{x, y, z}, {1, 0, 0, 0}}, 1e-3);
        if (beside || deep < -0.2 || deep > 4.2) assert_int_equal(t.points.n, 0);
        if (inside) {
            assert_int_equal(t.points.n, 1);
            check_close(t.points.point[0].gap, -deep - below[g], 1e-12);
            check_close(t.points.point[0].normal.z, g == 4 ? -1 : 1, 1e-12);
        }
        let_go(&t);
    }
}

/* The ball of the flat field: 2 cm under it, it comes up. */
static void what_is_below_a_height_field_comes_up(void **state)
{
    (void)state;
    const double heights[4] = {0, 0, 0, 0};
    const st_ShapeDef field = st_height_field_def(heights, 2, 2, 2), ball = st_sphere_def(0.1);
    for (int k = 0; k < 3; k++) {
        st_BodyDef body = st_body_def();
        body.pose.p = vec3(0.1, 0.2, k == 0 ? -0.12 : k == 1 ? -0.7 : -1.9);
        Run run;
        make_run(&run, &field, &ball, &body, 0.5);
        double lowest = 0, highest = 0;
        step_to(&run, 1e-2, 300, 0, &lowest, &highest);
        st_Pose pose;
        st_system_pose(run.system, run.body, &pose);
        check_close(pose.p.z, 0.1, 1e-3); /* overlap is removed to the gap's tolerance */
        end_run(&run);
    }
}

/* And it comes out: at no more than correction_speed, without an explosion. */
static void what_is_inside_comes_out(void **state)
{
    (void)state;
    st_ShapeDef cube = st_mesh_def(cube_points, 8, cube_triangles, 12), box = st_box_def(0.2, 0.2, 0.2);
    st_BodyDef body = st_body_def();
    body.pose.p = vec3(0.1, 0.05, 0.6);
    Run run;
    make_run(&run, &cube, &box, &body, 0.5);
    double fastest = 0;
    for (int k = 0; k < 200; k++) {
        st_Vec3 v, w;
        check_ok(st_system_step(run.system, 1e-2, NULL, &run.err), run.err);
        st_system_velocity(run.system, run.body, &v, &w);
        fastest = fmax(fastest, norm(v));
    }
    st_Pose pose;
    st_system_pose(run.system, run.body, &pose);
    print_message("from inside: to a height of %.6f m at %.3f m/s at most\n", pose.p.z, fastest);
    check_close(pose.p.z, 1.2, 1e-3);             /* on top of the cube; overlap is removed to the gap's tolerance */
    check_below(fastest, sqrt(9.81 * 0.4) + 0.2); /* correction_speed, plus the effect of gravity in a step or two */
    end_run(&run);
}

/* A room: the same cube with its triangles turned inward is a hollow, and nothing in it is pushed anywhere. */
static void rooms_are_hollow(void **state)
{
    (void)state;
    int inward[36];
    for (int t = 0; t < 12; t++)
        inward[3 * t] = cube_triangles[3 * t], inward[3 * t + 1] = cube_triangles[3 * t + 2],
                   inward[3 * t + 2] = cube_triangles[3 * t + 1];
    st_ShapeDef room = st_mesh_def(cube_points, 8, inward, 12), box = st_box_def(0.2, 0.2, 0.2);
    Touch t;
    touch(&t, &room, &box, (st_Pose){{0.1, 0.05, 0.6}, {1, 0, 0, 0}}, 1e-3);
    assert_int_equal(t.points.n, 0);
    let_go(&t);
    touch(&t, &room, &box, (st_Pose){{0.1, 0.05, 0.8 - 1e-4}, {1, 0, 0, 0}}, 1e-3);
    assert_int_equal(t.points.n, 4);
    for (int k = 0; k < 4; k++) {
        check_close(t.points.point[k].gap, 1e-4, 1e-12);
        check_close(t.points.point[k].normal.z, -1, 1e-12);
    }
    let_go(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mesh_cube_is_a_box),
        cmocka_unit_test(overhang_has_no_phantoms),
        cmocka_unit_test(grooves_and_ridges),
        cmocka_unit_test(sheets_have_two_sides),
        cmocka_unit_test(features_are_small_numbers),
        cmocka_unit_test(corners_near_a_plane_are_all_found),
        cmocka_unit_test(mesh_cubes_are_boxes),
        cmocka_unit_test(mesh_rests_on_mesh),
        cmocka_unit_test(what_is_inside_is_known),
        cmocka_unit_test(what_is_inside_comes_out),
        cmocka_unit_test(a_plate_inside_a_slab_is_known),
        cmocka_unit_test(below_a_height_field_it_is_solid),
        cmocka_unit_test(what_is_below_a_height_field_comes_up),
        cmocka_unit_test(rooms_are_hollow),
        cmocka_unit_test(box_slides_over_a_triangulated_plane),
        cmocka_unit_test(box_stops_as_on_a_plane),
        cmocka_unit_test(ball_rolls_over_flat_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
