/* Polytopes recognised by their cached features, and patches computed again from the cache: distances and points
 * have the same bits as without a cache. */
#include "check.h"
#include "collide/collide.h"
#include "collide/narrow/support.h"

static st_Vec3 random_unit(check_Random *random)
{
    for (;;) {
        double x = check_random(random, -1, 1), y = check_random(random, -1, 1);
        st_Vec3 d = vec3(x, y, check_random(random, -1, 1));
        double length = norm(d);
        if (length > 0.1 && length < 1) return scale(1 / length, d);
    }
}

static double power_of_ten(check_Random *random, double from, double to)
{
    return pow(10, check_random(random, from, to));
}

/* A box, the hull of a box (faces with four corners), or of points near an ellipsoid. */
static sti_Shape random_shape(check_Random *random)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Shape shape;
    st_Vec3 corner[30], half;
    int kind = check_random_int(random, 0, 3), n = kind == 1 ? 8 : check_random_int(random, 4, 30);
    half.x = power_of_ten(random, -0.5, 0.5);
    half.y = power_of_ten(random, -0.5, 0.5);
    half.z = power_of_ten(random, -0.5, 0.5);
    for (int k = 0; k < n; k++) {
        st_Vec3 d =
            kind == 1 ? vec3(k % 2 == 0 ? -1 : 1, k / 2 % 2 == 0 ? -1 : 1, k / 4 == 0 ? -1 : 1) : random_unit(random);
        corner[k] = vec3(half.x * d.x, half.y * d.y, half.z * d.z);
    }
    st_ShapeDef def = kind == 0 ? st_box_def(half.x, half.y, half.z) : st_hull_def(corner, n);
    check_ok(sti_shape_compile(&def, &allocator, &shape, &err), err);
    return shape;
}

static st_Quat turn_to(st_Vec3 from, st_Vec3 to)
{
    st_Vec3 axis = cross(from, to);
    double sine = norm(axis), angle = atan2(sine, dot(from, to));
    return sine > 0 ? quat_exp(scale(angle / sine, axis)) : (st_Quat){1, 0, 0, 0};
}

/* A face of b turned against a face of a, tilted by nothing at all up to anything, and at a gap of either sign. */
static st_Pose random_pose(check_Random *random, const sti_Core *a, const sti_Shape *b, double size)
{
    st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    sti_Core core = sti_core(b, pose);
    st_Vec3 n, m, unused;
    sti_core_face(a, check_random_int(random, 0, sti_core_face_count(a) - 1), &n, &unused);
    sti_core_face(&core, check_random_int(random, 0, sti_core_face_count(&core) - 1), &m, &unused);
    pose.q = turn_to(m, scale(-1, n));
    pose.q = quat_product(quat_exp(scale(check_random(random, 0, 3), n)), pose.q);
    double tilt = power_of_ten(random, check_random_int(random, 0, 1) == 0 ? -17 : -1.5, 0.5);
    pose.q = quat_product(quat_exp(scale(tilt, random_unit(random))), pose.q);
    core = sti_core(b, pose);
    core.p = scale(0.1 * size, random_unit(random));
    core.p = sub(core.p, scale(dot(core.p, n), n));
    double sign = check_random_int(random, 0, 2) == 0 ? 1 : -1;
    double gap = sign * size * power_of_ten(random, -11, -1.5);
    pose.p = add(core.p, scale(gap - core_separation(a, &core, n), n));
    return pose;
}

static bool same(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static void check_same(const sti_Distance *guessed, const sti_Distance *alone)
{
    assert_int_equal(guessed->beyond, alone->beyond);
    if (alone->beyond) return;
    assert_true(guessed->gap == alone->gap && same(guessed->normal, alone->normal));
    assert_true(same(guessed->a, alone->a) && same(guessed->b, alone->b));
}

/* How often something was remembered, and how often that was certain, apart and overlapping. */
typedef struct Count {
    int remembered, apart, overlapping;
} Count;

/* Small motions, each with the cache of the last one. */
static void follow(check_Random *random, const sti_Shape *a, const sti_Shape *b, Count *count)
{
    st_Pose pose_a = {{0, 0, 0}, quat_exp(scale(3, random_unit(random)))};
    const sti_Core core_a = sti_core(a, pose_a);
    double size = core_a.size, step = power_of_ten(random, -16, -2);
    st_Pose pose = random_pose(random, &core_a, b, size);
    sti_Guess guess = {{1, 0, 0}, 0};
    for (int k = 0; k < 6; k++) {
        sti_Core core_b = sti_core(b, pose);
        sti_Distance alone = {0}, guessed = {0}, exact = {0};
        sti_core_distance(&core_a, &core_b, 0.05 * size, NULL, &alone);
        sti_core_distance(&core_a, &core_b, 0.05 * size, k > 0 ? &guess : NULL, &guessed);
        check_same(&guessed, &alone);
        if (sti_features_distance(&core_a, &core_b, guess.features, 0.05 * size, false, &exact)) {
            count->apart += exact.gap > 0;
            count->overlapping += exact.gap < 0;
        }
        count->remembered += guess.features != 0;
        guess = (sti_Guess){guessed.normal, guessed.features};
        pose.p = add(pose.p, scale(step * size, random_unit(random)));
        pose.q = quat_product(quat_exp(scale(step, random_unit(random))), pose.q);
    }
}

static void what_is_remembered_changes_nothing(void **state)
{
    (void)state;
    check_Random random = {81};
    st_Allocator allocator = st_default_allocator();
    Count count = {0};
    int rounds = getenv("ST_TEST_FULL") != NULL ? 20000 : 500;
    for (int round = 0; round < rounds; round++) {
        sti_Shape a = random_shape(&random), b = random_shape(&random);
        for (int k = 0; k < 40; k++)
            follow(&random, &a, &b, &count);
        sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
    }
    print_message("%d remembered, certain: %d apart, %d overlapping\n", count.remembered, count.apart,
                  count.overlapping);
    assert_true(count.apart > 10 * rounds && count.overlapping > 4 * rounds); /* else nothing was tested */
}

/* Features out of the blue: true of the wrong face, corner or edge, they must not be believed. */
static void wrong_features_are_not_believed(void **state)
{
    (void)state;
    check_Random random = {82};
    st_Allocator allocator = st_default_allocator();
    int believed = 0, refused = 0;
    for (int round = 0; round < 60; round++) {
        sti_Shape a = random_shape(&random), b = random_shape(&random);
        st_Pose pose_a = {{0, 0, 0}, {1, 0, 0, 0}};
        const sti_Core core_a = sti_core(&a, pose_a);
        for (int k = 0; k < 20; k++) {
            st_Pose pose = random_pose(&random, &core_a, &b, core_a.size);
            const sti_Core core_b = sti_core(&b, pose);
            sti_Distance alone = {0}, exact = {0};
            sti_core_distance(&core_a, &core_b, INFINITY, NULL, &alone);
            for (int try = 0; try < 20; try++) {
                uint32_t features = sti_features_along(&core_a, &core_b, random_unit(&random));
                if (try == 0) features = alone.features;
                for (int f = 0; try == 1 && f < sti_core_face_count(&core_a); f++) { /* across each face */
                    st_Vec3 n, on;
                    sti_core_face(&core_a, f, &n, &on);
                    features = sti_features_along(&core_a, &core_b, n);
                    if (sti_features_distance(&core_a, &core_b, features, INFINITY, false, &exact))
                        check_same(&exact, &alone);
                }
                bool certain = sti_features_distance(&core_a, &core_b, features, INFINITY, false, &exact);
                if (certain) check_same(&exact, &alone);
                believed += certain;
                refused += features != 0 && !certain;
            }
        }
        sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
    }
    assert_true(believed > 200 && refused > 200);
}

/* ---- whole patches ------------------------------------------------------------------------------- */

/* No point of a core goes farther. */
static double way_between(st_Pose from, st_Pose to, double size)
{
    const double w = to.q.w - from.q.w, x = to.q.x - from.q.x, y = to.q.y - from.q.y, z = to.q.z - from.q.z;
    return norm(sub(to.p, from.p)) + 2 * size * sqrt(w * w + x * x + y * y + z * z);
}

static void move(check_Random *random, double step, double size, st_Pose *pose)
{
    pose->p = add(pose->p, scale(step * size, random_unit(random)));
    pose->q = quat_product(quat_exp(scale(step, random_unit(random))), pose->q);
    const double length =
        sqrt(pose->q.w * pose->q.w + pose->q.x * pose->q.x + pose->q.y * pose->q.y + pose->q.z * pose->q.z);
    pose->q = (st_Quat){pose->q.w / length, pose->q.x / length, pose->q.y / length, pose->q.z / length};
}

static void check_same_points(const sti_Points *kept, const sti_Points *alone)
{
    assert_int_equal(kept->n, alone->n);
    for (int k = 0; k < alone->n; k++) {
        const sti_ContactPoint *p = &kept->point[k], *q = &alone->point[k];
        assert_int_equal(p->feature, q->feature);
        assert_true(p->gap == q->gap && same(p->normal, q->normal) && same(p->point, q->point));
    }
}

/* How often there was a patch, and how often it was computed from the cache: in all, and by its number of points. */
typedef struct Patches {
    int all, kept, cuts;
} Patches;

/* Both continue to move, and the cache is used until they have moved by its room. */
static void follow_points(check_Random *random, const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                          Patches *count)
{
    const st_Allocator allocator = st_default_allocator();
    const double size_a = sti_core(a, pose_a).size, size_b = sti_core(b, pose_b).size;
    const double size = fmin(size_a, size_b), step = power_of_ten(random, -16, -2);
    const double margin = size * power_of_ten(random, -4, -1);
    sti_Points points[2] = {{.allocator = allocator}, {.allocator = allocator}};
    sti_Hint hint = {0, 0};
    sti_CachedPatch kept = {.room = 0};
    double way = 0;
    st_Error err = {0};
    for (int k = 0; k < 8; k++) {
        const bool has_room = kept.room > 0 && way < kept.room;
        const double room = kept.room;
        if (!has_room) kept.room = way = 0;
        const sti_Collide alone = {.margin = margin, .planar = -1};
        const sti_Collide how = {.margin = margin, .planar = -1, .hint = &hint, .cached = &kept};
        points[0].n = points[1].n = 0;
        check_ok(sti_collide(a, pose_a, b, pose_b, &how, &points[0], &err), err);
        check_ok(sti_collide(a, pose_a, b, pose_b, &alone, &points[1], &err), err);
        check_same_points(&points[0], &points[1]);
        const bool again = has_room && kept.room == room;
        if (!again) way = 0;
        count->all += points[1].n > 0;
        count->kept += again && points[1].n > 0;
        count->cuts += again && points[1].n > 2;
        const st_Pose old_a = pose_a, old_b = pose_b;
        move(random, step, size, &pose_a), move(random, step, size, &pose_b);
        way += way_between(old_a, pose_a, size_a) + way_between(old_b, pose_b, size_b);
    }
    sti_points_free(&points[0]), sti_points_free(&points[1]);
}

static void kept_patches_change_nothing(void **state)
{
    (void)state;
    check_Random random = {83};
    st_Allocator allocator = st_default_allocator();
    Patches count = {0};
    int rounds = getenv("ST_TEST_FULL") != NULL ? 20000 : 250;
    for (int round = 0; round < rounds; round++) {
        sti_Shape a = random_shape(&random), b = random_shape(&random);
        for (int k = 0; k < 40; k++) {
            const st_Pose pose_a = {{0, 0, 0}, quat_exp(scale(3, random_unit(&random)))};
            const sti_Core core_a = sti_core(&a, pose_a);
            follow_points(&random, &a, pose_a, &b, random_pose(&random, &core_a, &b, core_a.size), &count);
        }
        sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
    }
    print_message("%d patches, %d made again, %d of them with three points and more\n", count.all, count.kept,
                  count.cuts);
    assert_true(count.kept > 30 * rounds && count.cuts > 8 * rounds); /* else nothing was tested */
}

/* Bricks of one size laid edge to edge, as in walls: every decision is a tie. */
static void bricks_are_kept(void **state)
{
    (void)state;
    check_Random random = {84};
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    Patches count = {0};
    const st_Vec3 half = {0.2, 0.1, 0.1};
    st_ShapeDef def = st_box_def(half.x, half.y, half.z);
    sti_Shape brick;
    check_ok(sti_shape_compile(&def, &allocator, &brick, &err), err);
    int rounds = getenv("ST_TEST_FULL") != NULL ? 200000 : 5000;
    for (int round = 0; round < rounds; round++) {
        const double shift = 0.1 * check_random_int(&random, -4, 4), tilt = power_of_ten(&random, -17, -8);
        const bool beside = check_random_int(&random, 0, 2) == 0;
        st_Pose pose_a = {{0, 0, 0.1}, {1, 0, 0, 0}},
                pose_b = {{beside ? 0.4 : shift, 0, beside ? 0.1 : 0.3}, {1, 0, 0, 0}};
        pose_b.p = add(pose_b.p, scale(tilt, random_unit(&random)));
        pose_b.q = quat_exp(scale(tilt, random_unit(&random)));
        follow_points(&random, &brick, pose_a, &brick, pose_b, &count);
    }
    sti_shape_free(&allocator, &brick);
    print_message("%d patches of bricks, %d made again\n", count.all, count.kept);
    assert_true(count.kept > rounds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_remembered_changes_nothing),
        cmocka_unit_test(wrong_features_are_not_believed),
        cmocka_unit_test(kept_patches_change_nothing),
        cmocka_unit_test(bricks_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
