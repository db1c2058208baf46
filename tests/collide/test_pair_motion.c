/* Along random motions gaps move no faster than the shapes, and at the rates that the contact rows have. */
#include "poses.h"

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
    st_Vec3 v = random_vec(random, 1);
    return (Twist){v, random_vec(random, 1)};
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
    Tally tally = {0};
    Pair pair = {.points.allocator = st_default_allocator()};
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++, tally.failures = 0)
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
                    tally.poses++;
                    if (!(jump <= 1 + 1e-6) && note_failure(&tally, &pair, round))
                        print_error("from gap %.17g to %.17g, %g times the motion\n", before, gap, jump);
                    worst = fmax(worst, jump);
                    before = gap;
                }
                drop_pair(&pair);
            }
    print_message("continuity: %ld steps, largest change of the gap, relative to the motion: %.3f, %ld failures\n",
                  tally.poses, worst, tally.all_failures);
    sti_points_free(&pair.points);
    assert_int_equal(tally.all_failures, 0);
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

/* d gap/dt = n . (v_b - v_a) at the point, by central differences. If features change between the two sides there is
 * no derivative: such points are skipped, and there are few. */
static void gaps_have_the_rates_of_their_rows(void **state)
{
    (void)state;
    check_Random random = {14};
    int rounds = full_size() ? 300 : 10, checked = 0, passed_over = 0;
    Tally tally = {0};
    Pair pair = {.points.allocator = st_default_allocator()};
    sti_Points back = {.allocator = pair.points.allocator}, forth = back;
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++, tally.failures = 0)
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
                    if (!(fabs(measured - rate) <= 1e-5 + second) && note_failure(&tally, &pair, round))
                        print_error("feature %x, gap %g: its rate is %.17g, the row's %.17g\n", p->feature, p->gap,
                                    measured, rate);
                }
                drop_pair(&pair);
            }
    print_message("rates: %d points checked, %d at kinks passed over, %ld failures\n", checked, passed_over,
                  tally.all_failures);
    assert_true(passed_over * 20 < checked);
    assert_int_equal(tally.all_failures, 0);
    sti_points_free(&pair.points);
    sti_points_free(&back);
    sti_points_free(&forth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_are_continuous),
        cmocka_unit_test(gaps_have_the_rates_of_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
