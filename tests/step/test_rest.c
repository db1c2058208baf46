/* Bodies at rest: the forces of one step are reused in many later ones, and nothing creeps. A wall of bricks, each
 * on two of the course below and touching its neighbours. */
#include "check.h"

#include <stiction/stiction.h>

enum { WIDTH = 6, COURSES = 6, BRICKS = WIDTH * COURSES, STEPS = 300 };

static const double h = 1.0 / 240;

static void add_wall(st_Scene *scene, double y, int courses, st_BodyId brick[BRICKS])
{
    st_Error err = {0};
    st_ShapeDef box = st_box_def(0.2, 0.1, 0.1);
    box.mu = 0.5;
    for (int k = 0; k < WIDTH * courses; k++) {
        st_BodyDef body = st_body_def();
        const int course = k / WIDTH;
        body.pose.p = (st_Vec3){0.4 * (k % WIDTH + 0.25 * (course % 2)), y, 0.2 * course + 0.1};
        check_ok(st_scene_add_body(scene, &body, &brick[k], &err), err);
        check_ok(st_scene_add_shape(scene, brick[k], &box, NULL, &err), err);
    }
}

static st_Scene *new_wall(st_BodyId brick[BRICKS])
{
    st_Error err = {0};
    st_Scene *scene;
    st_ShapeDef plane = st_plane_def();
    plane.mu = 0.5;
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &plane, NULL, &err), err);
    add_wall(scene, 0, COURSES, brick);
    return scene;
}

static st_System *new_system(const st_Scene *scene, double tolerance)
{
    st_Error err = {0};
    st_System *system;
    st_SystemDef def = st_system_def();
    def.solver = "newton";
    def.tolerance = tolerance;
    def.slop = 1e-6;
    check_ok(st_system_create(scene, &def, &system, &err), err);
    return system;
}

/* A step may leave a velocity of tolerance g h; the wall is stopped again and again, and does not keep that
 * velocity. */
static void check_rest(const st_System *system, const st_System *start, const st_BodyId brick[BRICKS], double tolerance)
{
    for (int k = 0; k < BRICKS; k++) {
        st_Pose pose, first;
        assert_int_equal(st_system_pose(system, brick[k], &pose), ST_OK);
        assert_int_equal(st_system_pose(start, brick[k], &first), ST_OK);
        const double most = tolerance * 9.81 * h * STEPS * h;
        check_close(pose.p.x, first.p.x, most);
        check_close(pose.p.y, first.p.y, most);
        check_close(pose.p.z, first.p.z, most);
    }
}

/* The forces found in a step hold the wall in the following steps. If the impulse that stopped a creeping motion
 * were taken for a permanent force, every second step would have to be solved. */
static void a_wall_is_solved_now_and_then(void **state)
{
    (void)state;
    st_Error err = {0};
    st_BodyId brick[BRICKS];
    st_Scene *scene = new_wall(brick);
    const double tolerances[] = {1e-4, 1e-6, 1e-8};
    for (int t = 0; t < 3; t++) {
        st_System *system = new_system(scene, tolerances[t]), *start = new_system(scene, tolerances[t]);
        int solved = 0;
        for (int k = 0; k < STEPS; k++) {
            st_StepInfo info = st_step_info();
            check_ok(st_system_step(system, h, &info, &err), err);
            assert_true(info.solve.converged);
            solved += info.solve.iterations > 0;
        }
        assert_in_range(solved, 1, STEPS / 4);
        check_rest(system, start, brick, tolerances[t]);
        st_system_destroy(system);
        st_system_destroy(start);
    }
    st_scene_destroy(scene);
}

/* A wall is not influenced by another one 50 m away: it keeps impulses by the remainder of its own solve. The other
 * is lower, and at rest with other errors; both fall from rest with g h in the first step, which is all that they
 * have in common. */
static void walls_far_apart_are_strangers(void **state)
{
    (void)state;
    st_Error err = {0};
    st_BodyId brick[BRICKS], other[BRICKS];
    st_Scene *scene = new_wall(brick);
    st_System *alone = new_system(scene, 1e-4), *beside;
    add_wall(scene, 50, 3, other);
    beside = new_system(scene, 1e-4);
    for (int k = 0; k < STEPS; k++) {
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(alone, h, NULL, &err), err);
        check_ok(st_system_step(beside, h, &info, &err), err);
        assert_int_equal(info.islands, 2);
        for (int b = 0; b < BRICKS; b++) {
            st_Pose one, same;
            assert_int_equal(st_system_pose(alone, brick[b], &one), ST_OK);
            assert_int_equal(st_system_pose(beside, brick[b], &same), ST_OK);
            assert_memory_equal(&one, &same, sizeof one);
        }
    }
    st_system_destroy(alone);
    st_system_destroy(beside);
    st_scene_destroy(scene);
}

/* Data of the last solve is part of the state. */
static void a_saved_wall_goes_on_the_same(void **state)
{
    (void)state;
    st_Error err = {0};
    st_BodyId brick[BRICKS];
    st_Scene *scene = new_wall(brick);
    st_System *one = new_system(scene, 1e-4), *other = new_system(scene, 1e-4);
    for (int k = 0; k < 150; k++) {
        const size_t size = st_system_save(one, NULL, 0);
        void *saved = malloc(size);
        assert_non_null(saved);
        assert_int_equal(st_system_save(one, saved, size), size);
        check_ok(st_system_restore(other, saved, size, &err), err);
        for (int step = 0; step < 2; step++) { /* the second with the cache of the first */
            check_ok(st_system_step(one, h, NULL, &err), err);
            check_ok(st_system_step(other, h, NULL, &err), err);
        }
        assert_true(st_system_hash(one) == st_system_hash(other));
        free(saved);
    }
    st_system_destroy(one);
    st_system_destroy(other);
    st_scene_destroy(scene);
}

/* A box of 1 m between a floor and a ceiling that are 1 m - 2 overlap apart. */
static int overlapping(double overlap, double slop)
{
    st_Error err = {0};
    st_Scene *scene;
    st_BodyId id;
    st_BodyDef body = st_body_def();
    st_ShapeDef floor = st_plane_def(), ceiling = st_plane_def(), box = st_box_def(0.5, 0.5, 0.5);
    st_SystemDef def = st_system_def();
    st_System *system;
    st_StepInfo info = st_step_info();
    def.slop = slop;
    body.pose.p.z = 0.5 - overlap;
    ceiling.pose = (st_Pose){.p = {0, 0, 1 - 2 * overlap}, .q = {0, 1, 0, 0}}; /* upside down */
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &floor, NULL, &err), err);
    check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &ceiling, NULL, &err), err);
    check_ok(st_scene_add_body(scene, &body, &id, &err), err);
    check_ok(st_scene_add_shape(scene, id, &box, NULL, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    check_ok(st_system_step(system, h, &info, &err), err);
    assert_true(info.solve.converged);
    assert_int_equal(info.contacts, 8);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return info.overlapping;
}

/* An overlap that is not corrected is not pinched, and needs no compliance, which would shift loads to contacts
 * without any. */
static void overlaps_within_the_slop_are_rigid(void **state)
{
    (void)state;
    assert_int_equal(overlapping(5e-7, 0), 8);
    assert_int_equal(overlapping(5e-7, 1e-6), 0);
    assert_int_equal(overlapping(2e-6, 1e-6), 8);
}

/* The lowest that a box comes in half a second that slides over a floor and then stands. */
static double lowest(double mu, st_Law law, double tolerance)
{
    st_Error err = {0};
    st_Scene *scene;
    st_BodyDef body = st_body_def();
    st_BodyId id;
    st_ShapeDef floor = st_plane_def(), box = st_box_def(0.5, 0.5, 0.1);
    st_SystemDef def = st_system_def();
    st_System *system;
    st_Pose pose;
    double least = INFINITY;
    floor.mu = box.mu = mu;
    def.law = law;
    def.tolerance = tolerance;
    body.pose.p.z = 0.1;
    body.velocity = (st_Vec3){1, 0.5, 0};
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &floor, NULL, &err), err);
    check_ok(st_scene_add_body(scene, &body, &id, &err), err);
    check_ok(st_scene_add_shape(scene, id, &box, NULL, &err), err);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    while (st_system_time(system) < 0.5) {
        check_ok(st_system_step(system, h, NULL, &err), err);
        assert_int_equal(st_system_pose(system, id, &pose), ST_OK);
        least = fmin(least, pose.p.z);
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
    return least;
}

/* However rough a floor is it carries. A step that counts as solved leaves tolerance times the velocity of the four
 * contacts together, at most 2 times 1.12 m/s, which the next one takes back. */
static void rough_floors_carry(void **state)
{
    (void)state;
    const double mu[4] = {0.5, 2, 100, 1e9}, tolerance[3] = {1e-9, 1e-3, 1e-2};
    for (int k = 0; k < 12; k++)
        for (int law = 0; law < 2; law++)
            check_below(0.1 - lowest(mu[k % 4], law ? ST_LAW_PYRAMID : ST_LAW_COULOMB, tolerance[k / 4]),
                        tolerance[k / 4] * 2 * 1.12 * h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wall_is_solved_now_and_then),
        cmocka_unit_test(walls_far_apart_are_strangers),
        cmocka_unit_test(a_saved_wall_goes_on_the_same),
        cmocka_unit_test(overlaps_within_the_slop_are_rigid),
        cmocka_unit_test(rough_floors_carry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
