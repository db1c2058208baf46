/* Planar scenes: for any two convex shapes the way out lies in the plane, and is the shortest there.
 *
 * The oracle is the definition: the largest separation over directions of the plane, by the supports of the shapes
 * in space (shapes.h), over many angles; the best are refined. */
#include "model/row_buffer.h"
#include "model/world.h"
#include "poses.h"

#include <stiction/stiction.h>

#define ANGLES 720

static st_Vec3 direction_at(int axis, double angle)
{
    return add(scale(cos(angle), vec3_axis((axis + 1) % 3)), scale(sin(angle), vec3_axis((axis + 2) % 3)));
}

static double separation_at(const Pair *pair, int axis, double angle)
{
    return separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, direction_at(axis, angle));
}

/* The separation along an arc without corners of its own has one maximum: by thirds. */
static double refined(const Pair *pair, int axis, double lo, double hi)
{
    for (int k = 0; k < 80; k++) {
        const double third = (hi - lo) / 3;
        if (separation_at(pair, axis, lo + third) < separation_at(pair, axis, hi - third))
            lo += third;
        else
            hi -= third;
    }
    return separation_at(pair, axis, 0.5 * (lo + hi));
}

static double oracle(const Pair *pair, int axis)
{
    const double step = 2 * 3.14159265358979323846 / ANGLES;
    double best = -INFINITY, at[ANGLES];
    for (int k = 0; k < ANGLES; k++)
        at[k] = separation_at(pair, axis, k * step);
    for (int k = 0; k < ANGLES; k++) /* every hill, for the highest may be a narrow one */
        if (at[k] >= at[(k + 1) % ANGLES] && at[k] >= at[(k + ANGLES - 1) % ANGLES])
            best = fmax(best, refined(pair, axis, (k - 1) * step, (k + 1) * step));
    return best;
}

/* Side by side across the plane: b's place in it only, half of them deep in a. */
static void make_planar_pair(check_Random *random, st_ShapeType a, st_ShapeType b, int axis, Pair *pair)
{
    make_pair(random, a, b, check_random_int(random, SORT_ANY, SORT_ALIGNED), pair);
    st_Vec3 d = sub(pair->pose_b.p, pair->pose_a.p);
    d = sub(d, scale(dot(d, vec3_axis(axis)), vec3_axis(axis)));
    pair->pose_b.p = add(pair->pose_a.p, scale(check_random_int(random, 0, 1) == 0 ? 0.1 : 1, d));
}

static void check_pair(Pair *pair, int axis, Tally *tally, long round)
{
    const sti_Collide how = {.margin = INFINITY, .planar = axis};
    st_Error err = {0};
    pair->points.n = 0;
    check_ok(sti_collide(&pair->a.shape, pair->pose_a, &pair->b.shape, pair->pose_b, &how, &pair->points, &err), err);
    const st_Vec3 e = vec3_axis(axis), back = scale(-1, e);
    if (separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, e) > 0 ||
        separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, back) > 0) { /* they pass by each other */
        assert_int_equal(pair->points.n, 0);
        return;
    }
    assert_true(pair->points.n > 0);
    double across = 0, gap = least_gap(&pair->points), expected = oracle(pair, axis);
    for (int k = 0; k < pair->points.n; k++)
        across = fmax(across, fabs(dot(pair->points.point[k].normal, e)));
    tally->poses++;
    /* 1e-9 of the size: the accuracy of the distance in space (docs/collision.md); a normal is in the plane up to
     * the rounding of the rotated faces it comes from */
    if (fabs(gap - expected) <= 1e-9 * pair->size && across <= 1e-9) return;
    if (note_failure(tally, pair, round))
        print_error("gap %.12g, expected %.12g, normal across the plane %g\n", gap, expected, across);
}

static void convex_pairs_part_in_the_plane(void **state)
{
    (void)state;
    check_Random random = {20};
    const long rounds = full_size() ? 1000 : 12;
    long failures = 0;
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = i; j < N_CONVEX; j++) {
            if (!sti_collide_supports(convex[i], convex[j])) continue;
            Tally tally = {0};
            for (long k = 0; k < rounds; k++) {
                Pair pair = {.points = {.allocator = st_default_allocator()}};
                make_planar_pair(&random, convex[i], convex[j], (int)(k % 3), &pair);
                check_pair(&pair, (int)(k % 3), &tally, k);
                sti_points_free(&pair.points);
                drop_pair(&pair);
            }
            failures += tally.all_failures;
        }
    assert_int_equal(failures, 0);
}

/* ---- as scenes ----------------------------------------------------------------------------------- */

/* Two bodies of one shape in x and z without gravity, the second at `place`; returns how far they end from each other
 * in the plane.                                                                                   */
static double apart_after(const st_ShapeDef *shape, st_Vec3 place)
{
    st_Scene *scene;
    st_System *system;
    st_Error err = {0};
    st_BodyId id[2];
    st_Pose pose[2];
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 0; k < 2; k++) {
        st_BodyDef body = st_body_def();
        body.locks = ST_LOCK_Y | ST_LOCK_RX | ST_LOCK_RZ;
        body.mass = 1;
        body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        if (k == 1) body.pose.p = place;
        check_ok(st_scene_add_body(scene, &body, &id[k], &err), err);
        check_ok(st_scene_add_shape(scene, id[k], shape, NULL, &err), err);
    }
    st_SystemDef def = st_system_def();
    def.gravity = vec3(0, 0, 0);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    for (int step = 0; step < 300; step++)
        check_ok(st_system_step(system, 1e-2, NULL, &err), err);
    for (int k = 0; k < 2; k++)
        assert_int_equal(st_system_pose(system, id[k], &pose[k]), ST_OK);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return hypot(pose[1].p.x - pose[0].p.x, pose[1].p.z - pose[0].p.z);
}

/* Plates of 1 m by 1 m, 1 mm thick across the plane, nearly on top of one another. */
static void thin_hulls_part(void **state)
{
    (void)state;
    st_Vec3 corner[8];
    for (int k = 0; k < 8; k++)
        corner[k] = vec3((k & 1) - 0.5, 1e-3 * ((k >> 1 & 1) - 0.5), (k >> 2) - 0.5);
    const st_ShapeDef plate = st_hull_def(corner, 8);
    /* the overlap that a gap of the default tolerance leaves: docs/scene.md, far below a millimetre */
    assert_true(apart_after(&plate, vec3(0.3, 0, 0.1)) > 1 - 1e-3);
}

/* Balls of radius 0.5: concentric, concentric but for rounding across the plane, and beside each other across it by c,
 * where they touch at sqrt(1 - c^2).                                                              */
static void balls_part(void **state)
{
    (void)state;
    const st_ShapeDef ball = st_sphere_def(0.5);
    assert_true(apart_after(&ball, vec3(0, 0, 0)) > 1 - 1e-3);
    assert_true(apart_after(&ball, vec3(0, 1e-17, 0)) > 1 - 1e-3);
    assert_true(apart_after(&ball, vec3(0, 0.6, 0)) > 0.8 - 1e-3);
    assert_true(apart_after(&ball, vec3(0, 0.6, 0.01)) > 0.8 - 1e-3);
    assert_true(apart_after(&ball, vec3(0, 1.1, 0.01)) < 0.011); /* they do not meet */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_pairs_part_in_the_plane),
        cmocka_unit_test(thin_hulls_part),
        cmocka_unit_test(balls_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
