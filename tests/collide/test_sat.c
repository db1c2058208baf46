/* Separating axes: a direction to start from makes them fast and changes nothing; depth against brute force. */
#include "check.h"
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

/* A box, or the hull of points near an ellipsoid that may be thin. */
static sti_Shape random_shape(check_Random *random)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Shape shape;
    st_Vec3 corner[40], half;
    half.x = pow(10, check_random(random, -1.5, 0.5));
    half.y = pow(10, check_random(random, -1.5, 0.5));
    half.z = pow(10, check_random(random, -1.5, 0.5));
    int n = check_random_int(random, 4, 40);
    for (int k = 0; k < n; k++) {
        st_Vec3 d = random_unit(random);
        corner[k] = vec3(half.x * d.x, half.y * d.y, half.z * d.z);
    }
    st_ShapeDef def = check_random_int(random, 0, 3) == 0 ? st_box_def(half.x, half.y, half.z) : st_hull_def(corner, n);
    check_ok(sti_shape_compile(&def, &allocator, &shape, &err), err);
    return shape;
}

static bool same(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Overlaps from grazing to nested. Every guess gives the same bits, and no direction at all has less depth. */
static void guesses_change_nothing(void **state)
{
    (void)state;
    check_Random random = {71};
    st_Allocator allocator = st_default_allocator();
    int tried = 0;
    for (int round = 0; round < 300; round++) {
        sti_Shape a = random_shape(&random), b = random_shape(&random);
        st_Pose pose_a = {{0, 0, 0}, {1, 0, 0, 0}}, pose_b = pose_a;
        pose_b.q = quat_exp(scale(check_random(&random, 0, 3), random_unit(&random)));
        sti_Core core_a = sti_core(&a, pose_a), core_b = sti_core(&b, pose_b);
        st_Vec3 way = random_unit(&random);
        double apart = -core_separation(&core_a, &core_b, way); /* beyond this far along `way` they do not touch */
        core_b.p = scale(check_random(&random, 0, 0.5) * apart, way);
        sti_Distance first = {0}, other = {0};
        sti_sat(&core_a, &core_b, vec3(0, 0, 0), &first); /* all axes */
        if (first.gap < 0) {                              /* out along the axis found, but not quite */
            double rest = pow(10, check_random(&random, -9, 0));
            core_b.p = add(core_b.p, scale(-first.gap * (1 - rest), first.normal));
            sti_sat(&core_a, &core_b, vec3(0, 0, 0), &first);
        }
        if (!(first.gap < 0)) {
            sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
            continue;
        }
        tried++;
        for (int k = 0; k < 6; k++) {
            st_Vec3 guess = k == 0 ? first.normal : k == 1 ? scale(-1, first.normal) : random_unit(&random);
            sti_sat(&core_a, &core_b, guess, &other);
            assert_true(other.gap == first.gap && same(other.normal, first.normal));
            assert_true(same(other.a, first.a) && same(other.b, first.b));
        }
        for (int k = 0; k < 200; k++) /* rounding of a sum of lengths */
            check_below(core_separation(&core_a, &core_b, random_unit(&random)) - first.gap,
                        1e-14 * (core_a.size + core_b.size));
        sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
    }
    assert_true(tried > 150);
}

/* The signed distance, from deep overlap to far apart, with guesses that are good, stale and wrong. */
static void distances_do_not_depend_on_guesses(void **state)
{
    (void)state;
    check_Random random = {72};
    st_Allocator allocator = st_default_allocator();
    int apart = 0, beyond = 0, overlapping = 0;
    int rounds = getenv("ST_TEST_FULL") != NULL ? 20000 : 400;
    for (int round = 0; round < rounds; round++) {
        sti_Shape a = random_shape(&random), b = random_shape(&random);
        st_Pose pose_a = {{0, 0, 0}, {1, 0, 0, 0}}, pose_b = pose_a;
        pose_b.q = quat_exp(scale(check_random(&random, 0, 3), random_unit(&random)));
        sti_Core core_a = sti_core(&a, pose_a), core_b = sti_core(&b, pose_b);
        st_Vec3 way = random_unit(&random), stale = way;
        double reach = -core_separation(&core_a, &core_b, way);
        for (int step = 0; step < 12; step++) { /* on its way out, past touching */
            sti_Distance alone = {0}, guessed = {0};
            double margin = 0.05 * reach;
            core_b.p = scale(reach * 0.1 * (step + check_random(&random, 0, 1)), way);
            sti_core_distance(&core_a, &core_b, margin, NULL, &alone);
            for (int k = 0; k < 3; k++) {
                sti_Guess guess = {k == 0 ? stale : k == 1 ? alone.normal : random_unit(&random), 0};
                sti_core_distance(&core_a, &core_b, margin, &guess, &guessed);
                assert_int_equal(guessed.beyond, alone.beyond);
                if (alone.beyond) continue;
                assert_true(guessed.gap == alone.gap && same(guessed.normal, alone.normal));
                assert_true(same(guessed.a, alone.a) && same(guessed.b, alone.b));
            }
            stale = alone.normal;
            beyond += alone.beyond;
            apart += !alone.beyond && alone.gap > 0;
            overlapping += alone.gap < 0;
        }
        sti_shape_free(&allocator, &a), sti_shape_free(&allocator, &b);
    }
    assert_true(apart > 100 && beyond > 100 && overlapping > 1000);
}

/* The stone of an arch about the y axis; the next one is turned by 0.2 rad. */
static sti_Shape arch_stone(void)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Shape shape;
    st_Vec3 corner[8];
    for (int k = 0; k < 8; k++) {
        double r = k & 1 ? 0.9 : 1.1, a = k & 2 ? 0.1 : -0.1;
        corner[k] = vec3(r * sin(a), k & 4 ? 0.15 : -0.15, r * cos(a));
    }
    st_ShapeDef def = st_hull_def(corner, 8);
    check_ok(sti_shape_compile(&def, &allocator, &shape, &err), err);
    return shape;
}

/* Two equal faces on each other, moved and turned by next to nothing: whichever corners and edges come to be nearest,
 * the normal separates the stones by their distance, and so is that of the faces. */
static void equal_faces_that_touch_have_their_normal(void **state)
{
    (void)state;
    check_Random random = {73};
    st_Allocator allocator = st_default_allocator();
    sti_Shape stone = arch_stone();
    const int rounds = getenv("ST_TEST_FULL") != NULL ? 1000000 : 20000;
    for (int round = 0; round < rounds; round++) {
        const double little = pow(10, check_random(&random, -13, -7));
        const st_Pose place = {random_unit(&random),
                               quat_exp(scale(check_random(&random, 0, 3), random_unit(&random)))};
        const st_Pose next = {scale(little, random_unit(&random)),
                              quat_exp(add(vec3(0, 0.2, 0), scale(little, random_unit(&random))))};
        const sti_Core a = sti_core(&stone, place), b = sti_core(&stone, pose_product(place, next));
        const double size = a.size + b.size;
        sti_Distance d = {0};
        sti_core_distance(&a, &b, 0.01, NULL, &d);
        check_close(core_separation(&a, &b, d.normal), d.gap, d.error + 1e-14 * size);
        check_below(d.error, 1e-10 * size);
        /* faces 0.2 wide separate by at least minus 10 times their motion: the normal is off by no more than this
         * allows, or than its own error when corners are apart by little more than rounding */
        const st_Vec3 face = rotate(place.q, vec3(cos(0.1), 0, -sin(0.1)));
        check_below(norm(cross(d.normal, face)), 100 * little + 1e-5);
    }
    sti_shape_free(&allocator, &stone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(guesses_change_nothing),
        cmocka_unit_test(distances_do_not_depend_on_guesses),
        cmocka_unit_test(equal_faces_that_touch_have_their_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
