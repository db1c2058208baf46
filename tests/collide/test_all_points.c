/* Contact patches whole and reduced: the points are the corners that geometry says, and the weight is carried to the
 * last digits whatever their number. */
#include "check.h"
#include "math/quat.h"

#include <stiction/stiction.h>

#define MAX_POINTS 64

typedef struct Stand {
    st_Scene *scene;
    st_System *system;
    st_BodyId body;
    st_Error err;
} Stand;

/* A shape standing at `pose` on a fixed one, friction in between. */
static void make_stand(Stand *stand, st_ShapeDef below, st_ShapeDef above, st_Pose pose, bool all_points)
{
    *stand = (Stand){.scene = NULL};
    st_BodyDef body = st_body_def();
    body.pose = pose;
    body.mass = 3;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    below.mu = above.mu = 0.5;
    check_ok(st_scene_create(&stand->scene, &stand->err), stand->err);
    check_ok(st_scene_add_shape(stand->scene, ST_GROUND, &below, NULL, &stand->err), stand->err);
    check_ok(st_scene_add_body(stand->scene, &body, &stand->body, &stand->err), stand->err);
    check_ok(st_scene_add_shape(stand->scene, stand->body, &above, NULL, &stand->err), stand->err);
    st_SystemDef def = st_system_def();
    st_SettingValue value = {.number = all_points};
    check_ok(st_setting_set(&def, "all_points", &value, &stand->err), stand->err);
    assert_true(def.all_points == all_points);
    check_ok(st_system_create(stand->scene, &def, &stand->system, &stand->err), stand->err);
}

static void end_stand(Stand *stand)
{
    st_system_destroy(stand->system);
    st_scene_destroy(stand->scene);
}

/* Rest for a few steps; returns how many points carry it, and checks that they carry the weight. */
static int carried_by(Stand *stand, st_ContactReport *points)
{
    for (int k = 0; k < 5; k++)
        check_ok(st_system_step(stand->system, 1e-3, NULL, &stand->err), stand->err);
    int n = st_system_contact_count(stand->system);
    assert_in_range(n, 1, MAX_POINTS);
    for (int k = 0; k < n; k++)
        assert_int_equal(st_system_contact(stand->system, k, &points[k]), ST_OK);
    st_Vec3 force, torque;
    assert_int_equal(st_system_contact_force(stand->system, stand->body, &force, &torque), ST_OK);
    check_close(force.z, 3 * 9.81, 1e-8 * 3 * 9.81); /* asked: 1e-8 relative */
    return n;
}

/* A square turned by 45 degrees on a square: their common part is a regular octagon. */
static void turned_squares_meet_in_an_octagon(void **state)
{
    (void)state;
    st_ShapeDef square = st_box_def(0.5, 0.5, 0.1), other = square;
    st_Pose pose = {{0, 0, 0.2}, quat_exp(vec3(0, 0, 0.78539816339744831))};
    for (int all = 0; all < 2; all++) {
        Stand stand;
        st_ContactReport points[MAX_POINTS];
        make_stand(&stand, square, other, pose, all == 1);
        int n = carried_by(&stand, points);
        assert_int_equal(n, all == 1 ? 8 : 4);
        /* corners of the octagon: 0.5 from the middle across a side, 0.5 (sqrt(2) - 1) along it */
        for (int k = 0; k < n; k++) {
            double x = fabs(points[k].point.x), y = fabs(points[k].point.y);
            check_close(hypot(x, y), 0.5 * sqrt(1 + (sqrt(2) - 1) * (sqrt(2) - 1)), 1e-9);
            check_close(fmax(x, y), 0.5, 1e-9);
        }
        end_stand(&stand);
    }
}

/* A prism of twelve sides on a plane: twelve corners, or four of them. */
static void prisms_stand_on_all_corners(void **state)
{
    (void)state;
    st_Vec3 corners[24];
    for (int k = 0; k < 24; k++) {
        double angle = 0.52359877559829887 * (k % 12);
        corners[k] = vec3(0.4 * cos(angle), 0.4 * sin(angle), k < 12 ? -0.3 : 0.3);
    }
    for (int all = 0; all < 2; all++) {
        Stand stand;
        st_ContactReport points[MAX_POINTS];
        make_stand(&stand, st_plane_def(), st_hull_def(corners, 24), (st_Pose){{0, 0, 0.3}, {1, 0, 0, 0}}, all == 1);
        assert_int_equal(carried_by(&stand, points), all == 1 ? 12 : 4);
        end_stand(&stand);
        make_stand(&stand, st_box_def(1, 1, 1), st_hull_def(corners, 24), (st_Pose){{0, 0, 1.3}, {1, 0, 0, 0}},
                   all == 1);
        assert_int_equal(carried_by(&stand, points), all == 1 ? 12 : 4);
        end_stand(&stand);
        make_stand(&stand, st_plane_def(), st_cylinder_def(0.4, 0.6), (st_Pose){{0, 0, 0.3}, {1, 0, 0, 0}}, all == 1);
        /* eight points of the rim, or four, and the lowest one, which is among them */
        assert_int_equal(carried_by(&stand, points), all == 1 ? 9 : 5);
        end_stand(&stand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_squares_meet_in_an_octagon),
        cmocka_unit_test(prisms_stand_on_all_corners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
