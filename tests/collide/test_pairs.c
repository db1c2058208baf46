/* Every convex pair against an oracle over random, touching, nested, aligned and very unequal poses; gaps that
 * move no faster than the shapes; ids in order. */
#include "shapes.h"

#include <time.h>

static const st_ShapeType convex[] = {ST_SHAPE_POINT,   ST_SHAPE_SPHERE,    ST_SHAPE_BAR,
                                      ST_SHAPE_CAPSULE, ST_SHAPE_BOX,       ST_SHAPE_CYLINDER,
                                      ST_SHAPE_CONE,    ST_SHAPE_ELLIPSOID, ST_SHAPE_HULL};
#define N_CONVEX ((int)(sizeof convex / sizeof convex[0]))

static bool full_size(void)
{
    return getenv("ST_TEST_FULL") != NULL;
}

typedef struct Pair {
    TestShape a, b;
    st_Pose pose_a, pose_b;
    double size; /* of the larger */
    sti_Points points;
} Pair;

static double least_gap(const sti_Points *points)
{
    double gap = INFINITY;
    for (int k = 0; k < points->n; k++)
        gap = fmin(gap, points->point[k].gap);
    return gap;
}

static const sti_ContactPoint *nearest(const sti_Points *points)
{
    const sti_ContactPoint *best = &points->point[0];
    for (int k = 1; k < points->n; k++)
        if (points->point[k].gap < best->gap) best = &points->point[k];
    return best;
}

static double collide(Pair *pair)
{
    st_Error err = {0};
    sti_Collide how = {.margin = INFINITY, .planar = -1, .keep_all = false};
    pair->points.n = 0;
    check_ok(sti_collide(&pair->a.shape, pair->pose_a, &pair->b.shape, pair->pose_b, &how, &pair->points, &err), err);
    assert_true(pair->points.n > 0);
    for (int k = 1; k < pair->points.n; k++)
        assert_true(pair->points.point[k].feature > pair->points.point[k - 1].feature);
    assert_true(pair->points.point[pair->points.n - 1].feature < 1u << STI_FEATURE_BITS);
    return least_gap(&pair->points);
}

/* A pair of shapes and poses of one of six sorts. */
static void make_pair(check_Random *random, st_ShapeType a, st_ShapeType b, int sort, Pair *pair)
{
    double size_a = 1, size_b = sort == 3 ? pow(10, check_random(random, -6, 0)) : check_random(random, 0.3, 1);
    if (sort == 3 && check_random_int(random, 0, 1) == 1) size_a = size_b, size_b = 1;
    random_shape(random, a, size_a, &pair->a);
    random_shape(random, b, size_b, &pair->b);
    pair->size = fmax(pair->a.shape.reach, pair->b.shape.reach) + 1e-3;
    st_Vec3 place = random_vec(random, 1);
    double reach = pair->a.shape.reach + pair->b.shape.reach;
    pair->pose_a = (st_Pose){place, random_quat(random)};
    pair->pose_b =
        (st_Pose){add(place, scale(check_random(random, 0, 1.4) * reach, random_unit(random))), random_quat(random)};
    if (sort == 1) /* nested */
        pair->pose_b.p = add(place, scale(0.1 * reach, random_unit(random)));
    if (sort == 2) { /* aligned: parallel faces, edges, axes */
        pair->pose_a.q = square_quat(random);
        pair->pose_b.q = square_quat(random);
        if (check_random_int(random, 0, 1) == 1) /* moved along one axis only */
            pair->pose_b.p =
                add(place, scale(check_random(random, 0, 1.2) * reach, vec3_axis(check_random_int(random, 0, 2))));
        if (check_random_int(random, 0, 9) == 0) pair->pose_b.p = place; /* concentric */
    }
    if (sort >= 4) { /* touching: closed up along the normal; the last sort tilted by a little afterwards */
        if (sort == 5) pair->pose_a.q = square_quat(random), pair->pose_b.q = square_quat(random);
        double gap = collide(pair);
        pair->pose_b.p = sub(pair->pose_b.p, scale(gap, nearest(&pair->points)->normal));
        double tilt = pow(10, check_random(random, -16, -2));
        if (sort == 5)
            pair->pose_b.q = quat_unit(quat_product(pair->pose_b.q, quat_exp(scale(tilt, random_unit(random)))));
    }
}

static void drop_pair(Pair *pair)
{
    free_shape(&pair->a);
    free_shape(&pair->b);
}

static void report_pair(const Pair *pair, int sort, double got, double expected)
{
    print_error("%s and %s, sort %d: gap %.17g, oracle %.17g, size %g\n", st_shape_type_name(pair->a.def.type),
                st_shape_type_name(pair->b.def.type), sort, got, expected, pair->size);
}

/* Points of the manifold: on both shapes, the gap apart along the normal. */
static void no_phantoms(const Pair *pair, const Poly *a, const Poly *b, double gap)
{
    for (int k = 0; k < pair->points.n; k++) {
        const sti_ContactPoint *p = &pair->points.point[k];
        check_close(norm(p->normal), 1, 1e-12);
        check_below(gap - p->gap, 1e-12 * pair->size);
        double on_b = outside(b, p->point), on_a = outside(a, sub(p->point, scale(p->gap, p->normal)));
        double also_a = outside(a, p->point), also_b = outside(b, add(p->point, scale(p->gap, p->normal)));
        double off = fmin(fmax(on_a, on_b), fmax(also_a, also_b));
        /* deep inside, a gap along a face's normal is raised to the pair's distance: up to 1 - cos(0.2) of it */
        if (!(off <= 2e-9 * pair->size + (p->gap == gap && gap < 0 ? -0.021 * gap : 0))) {
            report_pair(pair, -1, p->gap, gap);
            print_error("n %g %g %g  point %g %g %g\n", p->normal.x, p->normal.y, p->normal.z, p->point.x, p->point.y,
                        p->point.z);
            for (int i = 0; i < a->nv; i++)
                print_error("a %g %g %g\n", a->v[i].x, a->v[i].y, a->v[i].z);
            for (int i = 0; i < b->nv; i++)
                print_error("b %g %g %g\n", b->v[i].x, b->v[i].y, b->v[i].z);
            fail_msg("phantom point %d of %d, feature %x, off by %g", k, pair->points.n, p->feature, off);
        }
    }
}

/* Polytopes and spheres: rounding of coordinates of size 2 through a dozen operations is 1e-14; asked: 1e-9. */
static void polytopes_match_brute_force(void **state)
{
    (void)state;
    check_Random random = {11};
    int rounds = full_size() ? 5000 : 40;
    double worst = 0;
    long poses = 0;
    static Poly poly_a, poly_b;
    Pair pair = {.points.allocator = st_default_allocator()};
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++) {
            if (!sti_collide_supports(convex[i], convex[j])) continue;
            for (int round = 0; round < 6 * rounds; round++) {
                int sort = round % 6;
                make_pair(&random, convex[i], convex[j], sort, &pair);
                if (!poly_of(&pair.a, pair.pose_a, &poly_a) || !poly_of(&pair.b, pair.pose_b, &poly_b)) {
                    drop_pair(&pair);
                    break;
                }
                double gap = collide(&pair), expected = oracle_gap(&poly_a, &poly_b);
                double error = fabs(gap - expected) / pair.size;
                if (!(error <= 1e-9)) {
                    report_pair(&pair, sort, gap, expected);
                    fail();
                }
                worst = fmax(worst, error);
                no_phantoms(&pair, &poly_a, &poly_b, gap);
                poses++;
                drop_pair(&pair);
            }
        }
    print_message("polytopes: %ld poses, largest error %.2g of the size\n", poses, worst);
    sti_points_free(&pair.points);
}

/* Largest separation over directions, from many starts: a lower bound of the signed distance that a wrong
 * answer would fall short of.                                                                     */
static double climb(const Pair *pair, st_Vec3 n, double best)
{
    for (double step = 0.3; step > 1e-9; step *= 0.5)
        for (int improved = 1, tries = 0; improved && tries < 50; tries++) {
            st_Vec3 u = orthogonal(n), w = cross(n, u);
            improved = 0;
            for (int k = 0; k < 8; k++) {
                double angle = 0.78539816339744831 * k;
                st_Vec3 m = add(n, scale(step, add(scale(cos(angle), u), scale(sin(angle), w))));
                m = scale(1 / norm(m), m);
                double value = separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, m);
                if (value > best) best = value, n = m, improved = 1;
            }
        }
    return best;
}

static double best_separation(const Pair *pair, check_Random *random, int starts)
{
    double best = -INFINITY;
    for (int k = 0; k < starts; k++) {
        st_Vec3 n = random_unit(random), chosen = n;
        double value = -INFINITY; /* the best of a handful first: most starts lead to the same places */
        for (int t = 0; t < 8; t++, n = random_unit(random)) {
            double s = separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, n);
            if (s > value) value = s, chosen = n;
        }
        best = fmax(best, climb(pair, chosen, value));
    }
    return best;
}

/* Smooth shapes: the gap is a separation that the shapes really have along the normal, and no direction has a
 * larger one. Bounds: what was measured over 1e5 poses, with a margin of ten.                     */
static void smooth_shapes_match_search(void **state)
{
    (void)state;
    check_Random random = {12};
    int rounds = full_size() ? 400 : 4;
    double worst_over = 0, worst_under = 0;
    long poses = 0;
    Pair pair = {.points.allocator = st_default_allocator()};
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++) {
            if (!sti_collide_supports(convex[i], convex[j])) continue;
            for (int round = 0; round < 6 * rounds; round++) {
                int sort = round % 6;
                static Poly poly_a, poly_b;
                make_pair(&random, convex[i], convex[j], sort, &pair);
                if (poly_of(&pair.a, pair.pose_a, &poly_a) && poly_of(&pair.b, pair.pose_b, &poly_b)) {
                    drop_pair(&pair);
                    break;
                }
                double gap = collide(&pair), expected = best_separation(&pair, &random, 12);
                double own = -INFINITY; /* several points may share the least gap: one has the pair's normal */
                for (int k = 0; k < pair.points.n; k++)
                    if (pair.points.point[k].gap <= gap + 1e-12)
                        own = fmax(own,
                                   separation(&pair.a, pair.pose_a, &pair.b, pair.pose_b, pair.points.point[k].normal));
                double over = (gap - own) / pair.size, under = (expected - gap) / pair.size;
                if (over > 1e-9 || under > 1e-9)
                    print_message("%s %s sort %d over %.2g under %.2g gap %g\n", st_shape_type_name(convex[i]),
                                  st_shape_type_name(convex[j]), sort, over, under, gap);
                if (!(over <= 1) || !(under <= 1)) {
                    report_pair(&pair, sort, gap, expected);
                    fail_msg("over %g, under %g", over, under);
                }
                worst_over = fmax(worst_over, over), worst_under = fmax(worst_under, under);
                poses++;
                drop_pair(&pair);
            }
        }
    print_message("smooth: %ld poses, gap above its own separation by %.2g, below the best found by %.2g\n", poses,
                  worst_over, worst_under);
    sti_points_free(&pair.points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polytopes_match_brute_force),
        cmocka_unit_test(smooth_shapes_match_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
