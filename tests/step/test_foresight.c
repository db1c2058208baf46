/* Contacts that a step may reach are found before it, by the velocities of the bodies (drift gap, events off). One
 * attempt is then enough in most cases, and expected contacts that do not occur have no effect. */
#include "check.h"

#include <stiction/stiction.h>

enum { HEAP = 60 };

static const double radius = 0.05, h = 1.0 / 240;

static st_BodyId add_ball(st_Scene *scene, st_Vec3 at, st_Vec3 velocity)
{
    st_Error err = {0};
    st_BodyId id;
    st_BodyDef body = st_body_def();
    st_ShapeDef ball = st_sphere_def(radius);
    body.pose.p = at;
    body.velocity = velocity;
    ball.mu = 0.5;
    check_ok(st_scene_add_body(scene, &body, &id, &err), err);
    check_ok(st_scene_add_shape(scene, id, &ball, NULL, &err), err);
    return id;
}

static st_Scene *new_scene(bool floor)
{
    st_Error err = {0};
    st_Scene *scene;
    st_ShapeDef plane = st_plane_def();
    plane.mu = 0.5;
    check_ok(st_scene_create(&scene, &err), err);
    if (floor) check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &plane, NULL, &err), err);
    return scene;
}

static st_System *new_system(const st_Scene *scene, st_Vec3 gravity, int sweeps)
{
    st_Error err = {0};
    st_System *system;
    st_SystemDef def = st_system_def();
    def.gravity = gravity;
    def.margin = 1e-3;
    if (sweeps > 0) {
        def.solver = "nsgs";
        def.max_iterations = sweeps;
    }
    check_ok(st_system_create(scene, &def, &system, &err), err);
    return system;
}

static st_Vec3 place(const st_System *system, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(system, id, &pose), ST_OK);
    return pose.p;
}

/* 20 m/s are 83 mm a step; the floor is 50 mm away, the margin 1 mm. The step ends on the floor. */
static void a_fall_ends_on_the_floor(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = new_scene(true);
    st_BodyId ball = add_ball(scene, (st_Vec3){0, 0, radius + 0.05}, (st_Vec3){0, 0, -20});
    st_System *system = new_system(scene, (st_Vec3){0, 0, 0}, 0);
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(system, h, &info, &err), err);
    assert_int_equal(info.problems, 1);
    check_close(place(system, ball).z, radius, 1e-12); /* the default tolerance of 1e-9 of 20 m/s h, and better */
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A ball is thrown against the second of three at rest, with gaps beyond the margin: the second hits the third only
 * because it was hit. That takes more attempts, and all end without overlap. */
static void what_was_not_foreseen_is_found(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = new_scene(false);
    const double apart = 2 * radius + 0.004;
    st_BodyId ball[3];
    for (int k = 0; k < 3; k++)
        ball[k] = add_ball(scene, (st_Vec3){k * apart, 0, 0}, (st_Vec3){k == 0 ? 10 : 0, 0, 0});
    st_System *system = new_system(scene, (st_Vec3){0, 0, 0}, 0);
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(system, h, &info, &err), err);
    for (int k = 1; k < 3; k++) /* 42 mm were to go, 8 mm to the last: all three touch */
        check_close(place(system, ball[k]).x - place(system, ball[k - 1]).x, 2 * radius, 1e-10);
    assert_in_range(info.problems, 2, 4);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Balls that fly side by side, 3 mm apart and faster than that in a step, are expected to touch, and do not. */
static void in_vain_it_does_nothing(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = new_scene(false);
    st_BodyId a = add_ball(scene, (st_Vec3){0, 0, 0}, (st_Vec3){3, 4, 0});
    st_BodyId b = add_ball(scene, (st_Vec3){0, 0, 2 * radius + 0.003}, (st_Vec3){3, 4, 0});
    st_System *system = new_system(scene, (st_Vec3){0, 0, 0}, 0);
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(system, h, &info, &err), err);
    assert_int_equal(info.contacts, 1);
    const st_Vec3 ends[2] = {place(system, a), place(system, b)};
    for (int k = 0; k < 2; k++) {
        assert_true(ends[k].x == 3 * h);
        assert_true(ends[k].y == 4 * h);
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void add_heap(st_Scene *scene)
{
    uint64_t seed = 7;
    for (int k = 0; k < HEAP; k++) {
        const int row = k / 4 % 4, layer = k / 16;
        double jitter[3];
        for (int d = 0; d < 3; d++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            jitter[d] = 0.01 * ((double)(seed >> 11) / (double)((uint64_t)1 << 53) - 0.5);
        }
        add_ball(scene,
                 (st_Vec3){0.115 * (k % 4) + jitter[0], 0.115 * row + jitter[1], 0.3 + 0.115 * layer + jitter[2]},
                 (st_Vec3){0.5 * jitter[0], 0, -2});
    }
}

static void take_steps(st_System *system, double length, int n, int *problems)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++) {
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(system, length, &info, &err), err);
        if (problems != NULL) *problems += info.problems;
    }
}

/* The expected contacts depend on the state and on the step, not on earlier predictions: a run that continues and
 * one that starts again from saved bytes agree, also when the step becomes longer or shorter. */
static void a_collapse_goes_on_bit_for_bit(void **state)
{
    (void)state;
    static const double lengths[] = {1.0, 0.5, 3.0};
    for (int c = 0; c < 3; c++) {
        st_Error err = {0};
        st_Scene *scene = new_scene(true);
        add_heap(scene);
        st_System *first = new_system(scene, (st_Vec3){0, 0, -9.81}, 8);
        st_System *second = new_system(scene, (st_Vec3){0, 0, -9.81}, 8);
        int problems = 0;
        take_steps(first, h, 40, &problems); /* in the middle of the impact */
        assert_true(problems >= 40);
        size_t size = st_system_save(first, NULL, 0);
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        assert_int_equal(st_system_save(first, bytes, size), size);
        check_ok(st_system_restore(second, bytes, size, &err), err);
        take_steps(first, lengths[c] * h, 40, NULL);
        take_steps(second, lengths[c] * h, 40, NULL);
        assert_true(st_system_hash(first) == st_system_hash(second));
        free(bytes);
        st_system_destroy(second);
        st_system_destroy(first);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fall_ends_on_the_floor),
        cmocka_unit_test(what_was_not_foreseen_is_found),
        cmocka_unit_test(in_vain_it_does_nothing),
        cmocka_unit_test(a_collapse_goes_on_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
