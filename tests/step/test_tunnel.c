/* Fast or thin bodies with located events: they stop at the first obstacle, at the right time. All motions here are
 * without forces, so that every integrator is exact. */
#include "check.h"

#include <stiction/stiction.h>

static const double h = 1e-3;

static const char *const presets[] = {"accurate", "potra-2006", "anitescu-potra-2002"};
enum { N_PRESETS = 3 };

static st_Scene *new_scene(void)
{
    st_Error err = {0};
    st_Scene *scene;
    check_ok(st_scene_create(&scene, &err), err);
    return scene;
}

static void add_ground(st_Scene *scene, st_ShapeDef shape, st_Vec3 at)
{
    st_Error err = {0};
    shape.pose.p = at;
    check_ok(st_scene_add_shape(scene, (st_BodyId){0}, &shape, NULL, &err), err);
}

static st_BodyId add_body(st_Scene *scene, st_ShapeDef shape, st_Vec3 at, st_Vec3 velocity, st_Vec3 spin)
{
    st_Error err = {0};
    st_BodyId id;
    st_BodyDef body = st_body_def();
    body.mass = 1;
    body.inertia.m[0] = body.inertia.m[4] = body.inertia.m[8] = 0.1;
    body.pose.p = at;
    body.velocity = velocity;
    body.spin = spin;
    check_ok(st_scene_add_body(scene, &body, &id, &err), err);
    check_ok(st_scene_add_shape(scene, id, &shape, NULL, &err), err);
    return id;
}

static st_System *new_system(const st_Scene *scene, const char *preset)
{
    st_Error err = {0};
    st_System *system;
    st_SystemDef def = st_system_def();
    check_ok(st_preset_apply(&def, preset, &err), err);
    def.gravity = (st_Vec3){0, 0, 0};
    check_ok(st_system_create(scene, &def, &system, &err), err);
    return system;
}

/* The first collision within n steps; INFINITY: none. */
static double first_collision(const st_Scene *scene, const char *preset, int n)
{
    st_Error err = {0};
    st_System *system = new_system(scene, preset);
    double at = INFINITY;
    while (st_system_time(system) < (n - 0.5) * h && isinf(at)) {
        check_ok(st_system_step(system, h, NULL, &err), err);
        for (int k = 0; k < st_system_event_count(system) && isinf(at); k++) {
            st_EventReport event;
            assert_int_equal(st_system_event(system, k, &event), ST_OK);
            if (event.kind == ST_EVENT_COLLISION) at = event.time;
        }
    }
    st_system_destroy(system);
    return at;
}

/* Times are those of gaps of 1e-14 m at 50 m/s and more, beside the rounding of 20 steps of 1e-3 s; bars come to 1e-14
 * m through a sine and a quaternion, at rates of 100 m/s.                                          */
static void expect_collision(st_Scene *scene, double t)
{
    for (int p = 0; p < N_PRESETS; p++) {
        double found = first_collision(scene, presets[p], 20);
        if (!(fabs(found - t) < 1e-12)) print_error("%s: at %.15g, should be at %.15g\n", presets[p], found, t);
        check_close(found, t, 1e-12);
    }
    st_scene_destroy(scene);
}

static void expect_nothing(st_Scene *scene)
{
    for (int p = 0; p < N_PRESETS; p++)
        assert_true(isinf(first_collision(scene, presets[p], 20)));
    st_scene_destroy(scene);
}

static st_ShapeDef hull_plate(st_Vec3 corner[8], double half_x, double half_yz, double tilt)
{
    for (int k = 0; k < 8; k++) {
        const double x = (k & 1) != 0 ? half_x : -half_x, y = (k & 2) != 0 ? half_yz : -half_yz;
        corner[k] =
            (st_Vec3){cos(tilt) * x - sin(tilt) * y, sin(tilt) * x + cos(tilt) * y, (k & 4) != 0 ? half_yz : -half_yz};
    }
    st_ShapeDef shape = st_hull_def(corner, 8);
    return shape;
}

/* 100 m/s are 10 cm per step, the wall is 2 cm thick, the bullet too; and a foil of a tenth of a millimetre. */
static void a_bullet_meets_a_wall(void **state)
{
    (void)state;
    const double start = 0.4763, thick[] = {0.02, 1e-4};
    st_Vec3 corner[8];
    for (int k = 0; k < 2; k++) {
        const st_Vec3 v = {100, 0, 0}, half = {0.5 * thick[k], 1, 1}, o = {0, 0, 0}, none = {0, 0, 0};
        const double face = start - half.x;
        const st_ShapeDef bullets[] = {st_sphere_def(0.01), st_box_def(0.01, 0.01, 0.01), st_capsule_def(0.01, 0.02),
                                       st_cylinder_def(0.01, 0.02), st_ellipsoid_def(0.01, 0.02, 0.03)};
        for (int b = 0; b < 5; b++) {
            st_Scene *scene = new_scene();
            add_ground(scene, st_box_def(half.x, half.y, half.z), (st_Vec3){start, 0, 0});
            add_body(scene, bullets[b], o, v, none);
            expect_collision(scene, (face - 0.01) / 100);
        }
        st_Scene *scene = new_scene();
        add_ground(scene, hull_plate(corner, half.x, 1, 0), (st_Vec3){start, 0, 0});
        add_body(scene, st_sphere_def(0.01), o, v, none);
        expect_collision(scene, (face - 0.01) / 100);
    }
}

/* Two walls, so that a step leads through the first and ends in the second. */
static void the_first_of_two_walls(void **state)
{
    (void)state;
    st_Scene *scene = new_scene();
    add_ground(scene, st_box_def(0.001, 1, 1), (st_Vec3){0.03, 0, 0});
    add_ground(scene, st_box_def(0.01, 1, 1), (st_Vec3){0.105, 0, 0});
    add_body(scene, st_sphere_def(0.01), (st_Vec3){0, 0, 0}, (st_Vec3){100, 0, 0}, (st_Vec3){0, 0, 0});
    expect_collision(scene, (0.03 - 0.001 - 0.01) / 100);
}

/* Two plates of 1 m and 0.2 mm, face to face; and as hulls with rotated axes. */
static void plates_meet(void **state)
{
    (void)state;
    const st_Vec3 half = {1e-4, 0.5, 0.5}, o = {0, 0, 0};
    st_Scene *scene = new_scene();
    add_body(scene, st_box_def(half.x, half.y, half.z), (st_Vec3){-0.52, 0, 0}, (st_Vec3){50, 0, 0}, o);
    add_body(scene, st_box_def(half.x, half.y, half.z), (st_Vec3){0.5, 0, 0}, (st_Vec3){-40, 0, 0}, o);
    expect_collision(scene, (1.02 - 2e-4) / 90);

    st_Vec3 corner[8];
    const double tilt = 0.5, along = 50 * cos(tilt);
    scene = new_scene();
    add_ground(scene, hull_plate(corner, half.x, 0.5, tilt), (st_Vec3){0.5, 0, 0});
    add_body(scene, hull_plate(corner, half.x, 0.5, tilt), o, (st_Vec3){50, 0, 0}, o);
    expect_collision(scene, (0.5 * cos(tilt) - 2e-4) / along);
}

/* Two bullets head on, 20 cm per step closer. */
static void bullets_meet(void **state)
{
    (void)state;
    st_Scene *scene = new_scene();
    add_body(scene, st_sphere_def(0.01), (st_Vec3){-0.5, 0, 0}, (st_Vec3){100, 0, 0}, (st_Vec3){0, 0, 0});
    add_body(scene, st_sphere_def(0.005), (st_Vec3){0.553, 0, 0}, (st_Vec3){-100, 0, 0}, (st_Vec3){0, 0, 0});
    expect_collision(scene, (1.053 - 0.015) / 200);
}

/* A bar of 1 m and 2 cm turns by half a radian a step, its tips at 250 m/s; at r = 0.4 m stands a ball of 2 cm radius.
 * Its face is at the ball where r sin(rest of the angle) is both half thicknesses.              */
static void a_bar_turns_into_a_ball(void **state)
{
    (void)state;
    const double spin = 500, r = 0.4, angle = 2.45;
    st_Scene *scene = new_scene();
    add_ground(scene, st_sphere_def(0.02), (st_Vec3){r * cos(angle), r * sin(angle), 0});
    add_body(scene, st_box_def(0.5, 0.01, 0.01), (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 0},
             (st_Vec3){0, 0, -spin}); /* so that its other end comes first: pi - angle to go */
    expect_collision(scene, (3.14159265358979323846 - angle - asin(0.03 / r)) / spin);
}

/* A point, and a bar without thickness, through a thin plate. */
static void points_and_bars(void **state)
{
    (void)state;
    const st_Vec3 half = {0.005, 1, 1}, o = {0, 0, 0};
    st_Scene *scene = new_scene();
    add_ground(scene, st_box_def(half.x, half.y, half.z), (st_Vec3){0.55, 0, 0});
    add_body(scene, st_point_def(), o, (st_Vec3){70, 0, 0}, o);
    expect_collision(scene, 0.545 / 70);
}

/* Past it, 0.1 mm beside: nothing happens, whatever is fast. */
static void a_near_miss(void **state)
{
    (void)state;
    const st_Vec3 o = {0, 0, 0}, v = {100, 0, 0};
    st_Scene *scene = new_scene();
    add_ground(scene, st_box_def(0.02, 1, 1), (st_Vec3){0.5, 1.0101, 0});
    add_ground(scene, st_sphere_def(0.2), (st_Vec3){0.9, -0.2101, 0});
    add_body(scene, st_sphere_def(0.01), o, v, o);
    expect_nothing(scene);
}

/* ---- a user's model: a gap that closes and opens within one step ---------------------------------- */

static st_Status unit_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = 1;
    return ST_OK;
}

static st_Status upwards(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)t, (void)q, (void)v, (void)err;
    k[0] = *(const double *)ctx;
    return ST_OK;
}

static st_Status over_the_floor(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    (void)ctx, (void)t;
    const int index = 0;
    const double gradient = 1;
    st_ContactRow row = {.id = 7, .gap = q[0], .dim = 1, .count = 1, .index = &index, .gradient = &gradient};
    return q[0] < margin ? st_push_contact(sink, &row, err) : ST_OK;
}

/* q = 1 - 5 t + 5 t^2 is below 0 from (5 - sqrt 5)/10 on, and at 1 again after one step of 1 s; q = 1 - 3 t + 3 t^2 has
 * its minimum of 1/4 in the middle, and no root. */
static void a_gap_that_opens_again(void **state)
{
    (void)state;
    for (int touches = 0; touches < 2; touches++) {
        st_Error err = {0};
        st_System *system;
        st_SystemDef def = st_system_def();
        st_Model model = st_model_def();
        double v = touches ? -5 : -3, force = -2 * v, q = 1;
        check_ok(st_preset_apply(&def, "potra-2006", &err), err);
        model.n_q = model.n_v = 1;
        model.ctx = &force;
        model.mass = unit_mass;
        model.force = upwards;
        model.contacts = over_the_floor;
        check_ok(st_system_create_model(&model, &q, &v, &def, &system, &err), err);
        check_ok(st_system_step(system, 1, NULL, &err), err);
        assert_int_equal(st_system_event_count(system) > 0, touches);
        if (touches) {
            st_EventReport event;
            assert_int_equal(st_system_event(system, 0, &event), ST_OK);
            assert_int_equal(event.kind, ST_EVENT_COLLISION);
            check_close(event.time, (5 - sqrt(5)) / 10, 1e-13);
            check_close(event.before, -sqrt(5), 1e-12); /* -5 + 10 t */
        }
        st_system_destroy(system);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bullet_meets_a_wall),
        cmocka_unit_test(the_first_of_two_walls),
        cmocka_unit_test(plates_meet),
        cmocka_unit_test(bullets_meet),
        cmocka_unit_test(a_bar_turns_into_a_ball),
        cmocka_unit_test(points_and_bars),
        cmocka_unit_test(a_near_miss),
        cmocka_unit_test(a_gap_that_opens_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
