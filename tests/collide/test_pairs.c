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
    if (pair->points.n == 0 || pair->points.point == NULL) {
        fail_msg("no contact point");
        return NAN; /* for the analyser, which does not know fail_msg */
    }
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
            fail_msg("phantom point %d of %d, feature %x, off by %g", k, pair->points.n, p->feature, off);
        }
    }
}

/* Polytopes and spheres: rounding of coordinates of size 2 through a dozen operations is 1e-14; asked: 1e-9. */
static void polytopes_match_brute_force(void **state)
{
    (void)state;
    check_Random random = {11};
    int rounds = full_size() ? 10000 : 40;
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
 * larger one. Bounds: ten times what was measured over 5e4 poses.                                 */
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
                if (!(over <= 1e-8) || !(under <= 1e-8)) {
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

/* ---- motion -------------------------------------------------------------------------------------- */

typedef struct Twist {
    st_Vec3 v, w; /* world axes */
} Twist;

static st_Pose moved(st_Pose pose, Twist twist, double h)
{
    return (st_Pose){add(pose.p, scale(h, twist.v)), quat_unit(quat_product(quat_exp(scale(h, twist.w)), pose.q))};
}

static Twist random_twist(check_Random *random)
{
    return (Twist){random_vec(random, 1), random_vec(random, 1)};
}

static st_Vec3 velocity_at(st_Pose pose, Twist twist, st_Vec3 p)
{
    return add(twist.v, cross(twist.w, sub(p, pose.p)));
}

/* Along random motions the least gap changes by no more than the shapes move: distances are 1-Lipschitz, and
 * depths too. Through touching, nesting and out again.                                            */
static void gaps_are_continuous(void **state)
{
    (void)state;
    check_Random random = {13};
    int rounds = full_size() ? 200 : 4, steps = 200;
    double worst = 0;
    Pair pair = {.points.allocator = st_default_allocator()};
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++)
            for (int round = 0; round < rounds && sti_collide_supports(convex[i], convex[j]); round++) {
                make_pair(&random, convex[i], convex[j], round % 3, &pair);
                Twist a = random_twist(&random), b = random_twist(&random);
                st_Vec3 d = sub(pair.pose_b.p, pair.pose_a.p);
                b.v = add(b.v, scale(-1, d)); /* through each other */
                double h = 2.0 / steps, before = collide(&pair);
                double reach_a = pair.a.shape.reach + norm(pair.a.shape.middle);
                double reach_b = pair.b.shape.reach + norm(pair.b.shape.middle);
                double most = h * (norm(sub(b.v, a.v)) + norm(a.w) * reach_a + norm(b.w) * reach_b);
                for (int k = 0; k < steps; k++) {
                    pair.pose_a = moved(pair.pose_a, a, h), pair.pose_b = moved(pair.pose_b, b, h);
                    double gap = collide(&pair), jump = fabs(gap - before) / most;
                    if (!(jump <= 1 + 1e-6)) {
                        report_pair(&pair, round % 3, gap, before);
                        fail_msg("jump of %g times the motion", jump);
                    }
                    worst = fmax(worst, jump);
                    before = gap;
                }
                drop_pair(&pair);
            }
    print_message("continuity: largest change of the gap, relative to the motion: %.3f\n", worst);
    sti_points_free(&pair.points);
}

static const sti_ContactPoint *same_feature(const sti_Points *points, const sti_ContactPoint *p)
{
    for (int k = 0; k < points->n; k++)
        if (points->point[k].feature == p->feature && norm(sub(points->point[k].normal, p->normal)) < 1e-3)
            return &points->point[k];
    return NULL;
}

/* Cuts of an edge by a side plane are not material points: their gap slides along the edge. */
static bool is_cut(const sti_ContactPoint *p)
{
    uint32_t kind = p->feature >> 18;
    return kind == 3 || ((kind == 1 || kind == 2) && (p->feature & 511u) != 0);
}

/* d gap/dt = n . (v_b - v_a) at the point, by central differences; where features change between the two
 * sides there is no derivative: such points are passed over, and few.                             */
static void gaps_have_the_rates_of_their_rows(void **state)
{
    (void)state;
    check_Random random = {14};
    int rounds = full_size() ? 300 : 10, checked = 0, passed_over = 0;
    Pair pair = {.points.allocator = st_default_allocator()};
    sti_Points back = {.allocator = pair.points.allocator}, forth = back;
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++)
            for (int round = 0; round < rounds && sti_collide_supports(convex[i], convex[j]); round++) {
                make_pair(&random, convex[i], convex[j], 0, &pair);
                Twist a = random_twist(&random), b = random_twist(&random);
                st_Pose at_a = pair.pose_a, at_b = pair.pose_b;
                const double e = 1e-5;
                sti_Points swap;
                pair.pose_a = moved(at_a, a, e), pair.pose_b = moved(at_b, b, e);
                (void)collide(&pair);
                swap = forth, forth = pair.points, pair.points = swap;
                pair.pose_a = moved(at_a, a, -e), pair.pose_b = moved(at_b, b, -e);
                (void)collide(&pair);
                swap = back, back = pair.points, pair.points = swap;
                pair.pose_a = at_a, pair.pose_b = at_b;
                double least = collide(&pair);
                for (int k = 0; k < pair.points.n; k++) {
                    const sti_ContactPoint *p = &pair.points.point[k];
                    const sti_ContactPoint *x = same_feature(&back, p), *y = same_feature(&forth, p);
                    bool raised = p->gap == least && p->feature != 0; /* to the pair's distance */
                    if (x == NULL || y == NULL || is_cut(p) || raised) continue;
                    st_Vec3 v = sub(velocity_at(at_b, b, p->point), velocity_at(at_a, a, p->point));
                    double rate = dot(p->normal, v), measured = (y->gap - x->gap) / (2 * e);
                    double second = fabs(y->gap - 2 * p->gap + x->gap) / e;
                    if (second > 1e-3) { /* a kink within 1e-5 of the motion */
                        passed_over++;
                        continue;
                    }
                    checked++;
                    /* gaps of round shapes are good to 1e-10, over e; curvature that changes on the way */
                    if (!(fabs(measured - rate) <= 1e-5 + second)) {
                        report_pair(&pair, 0, measured, rate);
                        fail_msg("feature %x, gap %g: rate", p->feature, p->gap);
                    }
                }
                drop_pair(&pair);
            }
    print_message("rates: %d points checked, %d at kinks passed over\n", checked, passed_over);
    assert_true(passed_over * 20 < checked);
    sti_points_free(&pair.points);
    sti_points_free(&back);
    sti_points_free(&forth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polytopes_match_brute_force),
        cmocka_unit_test(smooth_shapes_match_search),
        cmocka_unit_test(gaps_are_continuous),
        cmocka_unit_test(gaps_have_the_rates_of_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
