/* Collision has no length of its own: with all lengths times 2^10 or 2^-10 every gap, point and bound is the scaled one
 * to the last bit, and normals and features are the same. Powers of two scale exactly, so nothing but an absolute
 * length in a tolerance could make a difference. */
#include "poses.h"

#define PLACES 6

static TestShape scaled_shape(const TestShape *from, double factor, double *heights)
{
    TestShape to = *from;
    to.def.radius *= factor, to.def.length *= factor, to.def.spacing *= factor;
    to.def.half = scale(factor, to.def.half);
    for (int k = 0; k < from->def.n_points; k++)
        to.points[k] = scale(factor, from->def.points[k]);
    for (int k = 0; k < from->def.n_x * from->def.n_y; k++)
        heights[k] = factor * from->def.heights[k];
    return to;
}

/* `to` stays where it is from now on: its def points into it. */
static void compile_scaled(TestShape *to, const double *heights)
{
    if (to->def.n_points > 0) to->def.points = to->points;
    if (to->def.n_x > 0) to->def.heights = heights;
    compile_shape(to);
}

static bool same_scaled(st_Vec3 a, st_Vec3 b, double factor)
{
    return factor * a.x == b.x && factor * a.y == b.y && factor * a.z == b.z;
}

static void collide_at(const TestShape *a, st_Pose pose_a, const TestShape *b, st_Pose pose_b, double margin,
                       sti_Hint *hint, sti_Points *out)
{
    st_Error err = {0};
    const sti_Collide how = {.margin = margin, .planar = -1, .hint = hint};
    out->n = 0;
    check_ok(sti_collide(&a->shape, pose_a, &b->shape, pose_b, &how, out, &err), err);
}

static st_Pose moved_pose(check_Random *random, st_Pose pose, double step)
{
    pose.p = add(pose.p, random_vec(random, step));
    pose.q = quat_unit(quat_product(quat_exp(random_vec(random, step)), pose.q));
    return pose;
}

/* A few steps of a pair, with the cache, in both units. Returns the number of points compared. */
static int check_pair(check_Random *random, const TestShape *a, const TestShape *b, st_Pose pose_a, st_Pose pose_b,
                      double factor)
{
    static double heights[2][64];
    TestShape big_a = scaled_shape(a, factor, heights[0]), big_b = scaled_shape(b, factor, heights[1]);
    compile_scaled(&big_a, heights[0]), compile_scaled(&big_b, heights[1]);
    st_Allocator allocator = st_default_allocator();
    sti_Points small = {.allocator = allocator}, big = {.allocator = allocator};
    sti_Hint hint = {0}, big_hint = {0};
    int n = 0;
    for (int k = 0; k < PLACES; k++) {
        const st_Pose at_a = {scale(factor, pose_a.p), pose_a.q}, at_b = {scale(factor, pose_b.p), pose_b.q};
        const sti_Bounds bounds = sti_shape_bounds(&b->shape, pose_b),
                         big_bounds = sti_shape_bounds(&big_b.shape, at_b);
        assert_true(same_scaled(bounds.lo, big_bounds.lo, factor) && same_scaled(bounds.hi, big_bounds.hi, factor));
        collide_at(a, pose_a, b, pose_b, 0.3, &hint, &small);
        collide_at(&big_a, at_a, &big_b, at_b, 0.3 * factor, &big_hint, &big);
        if (small.n != big.n)
            print_error("%s and %s: %d points, %d scaled\n", st_shape_type_name(a->def.type),
                        st_shape_type_name(b->def.type), small.n, big.n);
        assert_int_equal(small.n, big.n);
        for (int p = 0; p < small.n; p++, n++) {
            const sti_ContactPoint *x = &small.point[p], *y = &big.point[p];
            const bool same = factor * x->gap == y->gap && same_scaled(x->point, y->point, factor) &&
                              same_scaled(x->normal, y->normal, 1) && x->feature == y->feature;
            if (!same)
                print_error("%s and %s: gap %.17g, scaled %.17g, feature %x, scaled %x\n",
                            st_shape_type_name(a->def.type), st_shape_type_name(b->def.type), factor * x->gap, y->gap,
                            x->feature, y->feature);
            assert_true(same);
        }
        assert_int_equal(hint.normal, big_hint.normal);
        assert_int_equal(hint.features, big_hint.features);
        pose_b = moved_pose(random, pose_b, 1e-3);
    }
    sti_points_free(&small), sti_points_free(&big);
    free_shape(&big_a), free_shape(&big_b);
    return n;
}

static void pairs_scale_to_the_last_bit(void **state)
{
    (void)state;
    check_Random random = {95};
    Pair pair = {.points.allocator = st_default_allocator()};
    int n = 0;
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++)
            for (int round = 0; round < (full_size() ? 600 : 18) && sti_collide_supports(convex[i], convex[j]);
                 round++) {
                make_pair(&random, convex[i], convex[j], round % N_SORTS, &pair);
                n += check_pair(&random, &pair.a, &pair.b, pair.pose_a, pair.pose_b, round % 2 == 0 ? 0x1p10 : 0x1p-10);
                drop_pair(&pair);
            }
    sti_points_free(&pair.points);
    print_message("%d points\n", n);
    assert_true(n > 1000);
}

/* Planes, height fields and the closed surface of a box, with everything convex. */
static void surfaces_scale_to_the_last_bit(void **state)
{
    (void)state;
    check_Random random = {96};
    static const int faces[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                  2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    double heights[25];
    int n = 0;
    for (int i = 0; i < N_CONVEX; i++)
        for (int round = 0; round < (full_size() ? 600 : 18); round++) {
            static TestShape ground, other;
            for (int k = 0; k < 25; k++)
                heights[k] = check_random(&random, -0.5, 0);
            for (int k = 0; k < 8; k++)
                ground.points[k] = vec3(k % 2 == 0 ? -0.8 : 0.7, k / 2 % 2 == 0 ? -0.6 : 0.9, k / 4 == 0 ? -1.1 : 0);
            ground.def = round % 3 == 0   ? st_plane_def()
                         : round % 3 == 1 ? st_height_field_def(heights, 5, 5, 0.3)
                                          : st_mesh_def(ground.points, 8, faces, 12);
            compile_shape(&ground);
            random_shape(&random, convex[i], 0.4, &other);
            st_Pose pose = {{check_random(&random, -0.4, 0.4), 0.1, 0}, random_quat(&random)};
            pose.p.z -= farthest(&other, pose, vec3(0, 0, -1)).z - check_random(&random, -0.1, 0.1);
            n += check_pair(&random, &ground, &other, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}, pose,
                            round % 2 == 0 ? 0x1p10 : 0x1p-10);
            free_shape(&ground), free_shape(&other);
        }
    print_message("%d points\n", n);
    assert_true(n > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_scale_to_the_last_bit),
        cmocka_unit_test(surfaces_scale_to_the_last_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
