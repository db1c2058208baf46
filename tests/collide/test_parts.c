/* Round shapes, capsules and spheres recognised by the parts that touch (part_distance.c): the distance has the same
 * bits as one that is searched without a cache, and parts that do not touch are rejected. The first follows from the
 * search (the result depends on the poses alone); test_pairs checks that the result is correct. */
#include "collide/narrow/support.h"
#include "poses.h"

static const st_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};

/* The result of the search alone, for all pairs except those of boxes and hulls. */
static bool has_parts(st_ShapeType a, st_ShapeType b)
{
    const bool flat_a = a == ST_SHAPE_BOX || a == ST_SHAPE_HULL, flat_b = b == ST_SHAPE_BOX || b == ST_SHAPE_HULL;
    return a != ST_SHAPE_ELLIPSOID && b != ST_SHAPE_ELLIPSOID && !(flat_a && flat_b);
}

/* b at a gap of either sign along a direction, turned somehow or by quarter turns and a little more. */
static st_Pose place_near(check_Random *random, const sti_Core *a, const sti_Shape *b, double size)
{
    st_Pose pose = origin;
    const bool square = check_random_int(random, 0, 1) == 1;
    pose.q = square ? square_quat(random) : random_quat(random);
    const double tilt = square ? pow(10, check_random(random, -17, -1)) : 0;
    pose.q = quat_unit(quat_product(quat_exp(scale(tilt, random_unit(random))), pose.q));
    sti_Core core = sti_core(b, pose);
    st_Vec3 n = random_unit(random);
    if (square && check_random_int(random, 0, 1) == 1) n = scale(dot(n, vec3(1, 1, 1)) > 0 ? 1 : -1, vec3_axis(2));
    const st_Vec3 beside = random_vec(random, square ? 0.3 * size : 0);
    pose.p = core.p = sub(beside, scale(dot(beside, n), n));
    const double gap = (check_random_int(random, 0, 1) == 0 ? 1 : -1) * size * pow(10, check_random(random, -9, -1));
    pose.p = add(pose.p, scale(gap - core_separation(a, &core, n), n));
    return pose;
}

static bool same(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool same_distance(const sti_Distance *x, const sti_Distance *y)
{
    if (x->beyond || y->beyond) return x->beyond == y->beyond;
    return x->gap == y->gap && same(x->normal, y->normal) && same(x->a, y->a) && same(x->b, y->b);
}

typedef struct Count {
    long all, apart, overlapping, other;
} Count;

/* The points are those of the two shapes (of their cores, which are inside), and the gap apart along the normal. */
static void check_points(const TestShape *a, const TestShape *b, st_Pose pose_b, const sti_Distance *d, double size)
{
    static Poly poly_a, poly_b;
    (void)poly_of(a, origin, &poly_a), (void)poly_of(b, pose_b, &poly_b);
    assert_true(outside_shape(a, origin, &poly_a, d->a) <= 1e-9 * size);
    assert_true(outside_shape(b, pose_b, &poly_b, d->b) <= 1e-9 * size);
    assert_true(norm(sub(sub(d->b, d->a), scale(d->gap, d->normal))) <= 1e-9 * size);
}

static void follow(check_Random *random, const TestShape *shape_a, const TestShape *shape_b, Count *count)
{
    const sti_Shape *a = &shape_a->shape, *b = &shape_b->shape;
    const sti_Core core_a = sti_core(a, origin);
    const double size = core_a.size + a->reach + 0.1, step = pow(10, check_random(random, -16, -2));
    st_Pose pose = place_near(random, &core_a, b, size);
    sti_Guess guess = {{1, 0, 0}, 0};
    for (int k = 0; k < 6; k++) {
        const sti_Core core_b = sti_core(b, pose);
        sti_Distance alone = {0}, guessed = {0}, exact = {0};
        sti_core_distance(&core_a, &core_b, 0.2 * size, NULL, &alone);
        sti_core_distance(&core_a, &core_b, 0.2 * size, k > 0 ? &guess : NULL, &guessed);
        count->all++;
        if (!same_distance(&guessed, &alone) && count->other++ < 5)
            print_error(
                "types %d and %d: gap %.17g guessed by parts %x, %.17g alone by parts %x, normals differ by %g\n",
                (int)a->type, (int)b->type, guessed.gap, guess.features, alone.gap, alone.features,
                norm(sub(guessed.normal, alone.normal)));
        if (sti_features_distance(&core_a, &core_b, guess.features, 0.2 * size, false, &exact)) {
            if (!exact.beyond) check_points(shape_a, shape_b, pose, &exact, size);
            count->apart += exact.gap > 0;
            count->overlapping += exact.gap < 0;
        }
        guess = (sti_Guess){guessed.normal, guessed.features};
        pose.p = add(pose.p, scale(step * size, random_unit(random)));
        pose.q = quat_unit(quat_product(quat_exp(scale(step, random_unit(random))), pose.q));
    }
}

static void parts_change_no_bit(void **state)
{
    (void)state;
    check_Random random = {91};
    Count all = {0};
    const int rounds = full_size() ? 4000 : 60;
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++) {
            Count count = {0};
            for (int round = 0; round < rounds && has_parts(convex[i], convex[j]); round++) {
                TestShape a, b;
                random_shape(&random, convex[i], 1, &a);
                random_shape(&random, convex[j], round % 4 == 0 ? pow(10, check_random(&random, -3, 0)) : 0.7, &b);
                for (int k = 0; k < 4; k++)
                    follow(&random, &a, &b, &count);
                free_shape(&a), free_shape(&b);
            }
            if (full_size())
                print_message("%-10s %-10s %7ld distances, by parts %7ld apart, %7ld overlapping, %ld differ\n",
                              st_shape_type_name(convex[i]), st_shape_type_name(convex[j]), count.all, count.apart,
                              count.overlapping, count.other);
            all.all += count.all, all.apart += count.apart;
            all.overlapping += count.overlapping, all.other += count.other;
        }
    print_message("%ld distances, by parts %ld apart, %ld overlapping\n", all.all, all.apart, all.overlapping);
    assert_int_equal(all.other, 0);
    assert_true(4 * all.apart > all.all && 50 * all.overlapping > all.all); /* else nothing was tested */
}

/* Any two parts out of the blue are refused, or they are those that touch. */
static void wrong_parts_are_not_believed(void **state)
{
    (void)state;
    check_Random random = {92};
    long believed = 0, refused = 0;
    for (int round = 0; round < (full_size() ? 20000 : 400); round++) {
        const st_ShapeType type_a = convex[check_random_int(&random, 0, N_CONVEX - 1)];
        const st_ShapeType type_b = convex[check_random_int(&random, 0, N_CONVEX - 1)];
        if (!has_parts(type_a, type_b)) continue;
        TestShape a, b;
        random_shape(&random, type_a, 1, &a);
        random_shape(&random, type_b, 0.7, &b);
        const sti_Core core_a = sti_core(&a.shape, origin);
        const sti_Core core_b =
            sti_core(&b.shape, place_near(&random, &core_a, &b.shape, core_a.size + a.shape.reach + 0.1));
        sti_Distance alone = {0}, exact = {0};
        sti_core_distance(&core_a, &core_b, INFINITY, NULL, &alone);
        for (int k = 0; k < 40; k++) {
            const st_Vec3 n = k < 20 ? random_unit(&random) : add(alone.normal, scale(0.1, random_unit(&random)));
            const uint32_t parts =
                k == 0 ? alone.features : sti_features_along(&core_a, &core_b, scale(1 / norm(n), n));
            if (sti_features_distance(&core_a, &core_b, parts, INFINITY, false, &exact)) {
                assert_true(same_distance(&exact, &alone));
                believed++;
            } else {
                refused++;
            }
        }
        free_shape(&a), free_shape(&b);
    }
    print_message("%ld believed, %ld refused\n", believed, refused);
    assert_true(believed > 400 && refused > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_change_no_bit),
        cmocka_unit_test(wrong_parts_are_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
