/* Contact patches whole and reduced: the points are the corners that follow from geometry, and the weight is carried
 * to the last digits for any number of points. */
#include "check.h"
#include "collide/narrow/manifold.h"
#include "math/quat.h"

#include <stiction/stiction.h>

#define MAX_POINTS 256

typedef struct Stand {
    st_Scene *scene;
    st_System *system;
    st_BodyId body;
    st_Error err;
} Stand;

/* A shape standing at `pose` on a fixed one, friction in between; with this setting true. */
static void make_stand_with(Stand *stand, st_ShapeDef below, st_ShapeDef above, st_Pose pose, const char *setting)
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
    if (setting != NULL)
        check_ok(st_setting_set(&def, setting, &(st_SettingValue){.number = 1}, &stand->err), stand->err);
    check_ok(st_system_create(stand->scene, &def, &stand->system, &stand->err), stand->err);
}

static void make_stand(Stand *stand, st_ShapeDef below, st_ShapeDef above, st_Pose pose, bool all_points)
{
    make_stand_with(stand, below, above, pose, all_points ? "all_points" : NULL);
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
    check_close(force.z, 3 * 9.81, 1e-8 * 3 * 9.81); /* requirement: 1e-8 relative */
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

/* ---- redundant points ----------------------------------------------------------------------------- */

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

/* The property of the filter: for every small motion of the bodies, the least gap among all points is the least
 * among those that are kept. The motion changes gaps by an affine function of the position across the normal. Also,
 * none of those kept can be left out: without it the least gap of some motion would differ. Points on a grid, many
 * in line; at random, some in one place; with gaps that are alike, at random, or convex (then every one is needed). */
static void least_gaps_stay(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 60; round++) {
        const st_Quat turn = quat_exp(vec3(3 * uniform(&seed), 3 * uniform(&seed), 3 * uniform(&seed)));
        const st_Vec3 n = rotate(turn, vec3(0, 0, 1));
        const int kind = round % 4, m = 40 + round % 5;
        sti_ContactPoint all[64], few[64];
        double x[64], y[64];
        for (int k = 0; k < m; k++) {
            x[k] = kind == 0 || kind == 2 ? 0.1 * (k % 8) : uniform(&seed);
            y[k] = kind == 0 || kind == 2 ? 0.1 * (int)(k / 8) : uniform(&seed);
            if (kind == 1 && k % 7 == 6) x[k] = x[k - 3], y[k] = y[k - 3];
            const double gap = kind == 0   ? 1e-3
                               : kind == 3 ? 1e-2 * (x[k] * x[k] + y[k] * y[k])
                                           : 1e-3 * uniform(&seed);
            all[k] = (sti_ContactPoint){gap, rotate(turn, vec3(x[k], y[k], gap)), n, (uint32_t)k};
        }
        memcpy(few, all, sizeof all);
        const int kept = sti_drop_redundant(few, m);
        assert_in_range(kept, 3, m);
        if (kind == 0)
            assert_int_equal(kept, m % 8 < 2 ? 4 : 5); /* a rectangle; its last row cut short, to one or more */
        if (kind == 3) assert_int_equal(kept, m);
        for (int motion = 0; motion < 400; motion++) {
            const double slope = motion % 2 == 0 ? 1e-3 : 1, a = slope * uniform(&seed), b = slope * uniform(&seed);
            double least = INFINITY, least_kept = INFINITY;
            for (int k = 0; k < m; k++)
                least = fmin(least, all[k].gap + a * x[k] + b * y[k]);
            for (int k = 0; k < kept; k++) {
                const int p = (int)few[k].feature;
                assert_true(few[k].gap == all[p].gap);
                least_kept = fmin(least_kept, few[k].gap + a * x[p] + b * y[p]);
            }
            check_close(least_kept, least, 2e-6); /* of a patch one wide */
        }
    }
}

/* Normals that differ are other constraints: nothing is left out. */
static void other_normals_stay(void **state)
{
    (void)state;
    sti_ContactPoint p[9];
    for (int k = 0; k < 9; k++)
        p[k] = (sti_ContactPoint){0, vec3(k % 3, (int)(k / 3), 0),
                                  rotate(quat_exp(vec3(0.01 * k, 0, 0)), vec3(0, 0, 1)), (uint32_t)k};
    assert_int_equal(sti_drop_redundant(p, 9), 9);
}

/* A plate with faces divided into many triangles, lying on an identical one: every corner of a triangle touches, and
 * those of the common octagon carry the load. Tests the setting by name. */
static void cut_faces_rest_on_their_hull(void **state)
{
    (void)state;
    enum { N = 6 };
    st_Vec3 points[2 * (N + 1) * (N + 1)];
    int triangles[4 * N * N + 8 * N][3], n = 0;
    for (int level = 0; level < 2; level++)
        for (int k = 0; k < (N + 1) * (N + 1); k++)
            points[level * (N + 1) * (N + 1) + k] =
                vec3((double)(k % (N + 1)) / N - 0.5, (double)(int)(k / (N + 1)) / N - 0.5, level == 0 ? -0.1 : 0.1);
    for (int level = 0; level < 2; level++)
        for (int k = 0; k < N * N; k++) {
            const int a = level * (N + 1) * (N + 1) + k / N * (N + 1) + k % N, b = a + 1, c = a + N + 1, d = c + 1;
            const int cut[2][3] = {{a, b, d}, {a, d, c}};
            for (int t = 0; t < 2; t++, n++)
                for (int i = 0; i < 3; i++)
                    triangles[n][i] = cut[t][level == 0 ? 2 - i : i];
        }
    const int up = (N + 1) * (N + 1), side[4][2] = {{0, 1}, {N, N + 1}, {up - 1, -1}, {up - 1 - N, -N - 1}};
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < N; k++) {
            const int a = side[s][0] + k * side[s][1], b = a + side[s][1];
            const int cut[2][3] = {{a, b, b + up}, {a, b + up, a + up}};
            for (int t = 0; t < 2; t++, n++)
                memcpy(triangles[n], cut[t], sizeof cut[t]);
        }
    const st_ShapeDef plate = st_mesh_def(points, 2 * up, &triangles[0][0], n);
    const st_Pose pose = {{0, 0, 0.2}, quat_exp(vec3(0, 0, 0.78539816339744831))};
    int counts[3];
    for (int keep = 0; keep < 3; keep++) {
        Stand stand;
        st_ContactReport report[MAX_POINTS];
        make_stand_with(&stand, plate, plate, pose, keep == 2 ? "all_points" : keep == 1 ? "drop_redundant" : NULL);
        counts[keep] = carried_by(&stand, report);
        end_stand(&stand);
    }
    print_message("octagon of two plates: %d points span it, %d are needed, %d in all\n", counts[0], counts[1],
                  counts[2]);
    assert_int_equal(counts[0], 4);
    assert_int_equal(counts[1], 8);
    assert_true(counts[2] > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turned_squares_meet_in_an_octagon),
        cmocka_unit_test(prisms_stand_on_all_corners),
        cmocka_unit_test(least_gaps_stay),
        cmocka_unit_test(other_normals_stay),
        cmocka_unit_test(cut_faces_rest_on_their_hull),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
