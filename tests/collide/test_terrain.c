/* Convex shapes pushed into a bumpy floor: no point is deeper than the push, and every point is where they meet.
 *
 * A shape is let down until it touches (apart, distances are exact: test_mesh.c), then pushed on by d along -z. The
 * distance of two things changes by no more than they move, so that no gap can be below -d; and a point of contact is
 * within its gap of either.
 */
#include "check.h"
#include "poses.h"

#include <string.h>

#define SIDE 9

static const st_ShapeType kinds[] = {ST_SHAPE_SPHERE, ST_SHAPE_CAPSULE,   ST_SHAPE_BOX, ST_SHAPE_CYLINDER,
                                     ST_SHAPE_CONE,   ST_SHAPE_ELLIPSOID, ST_SHAPE_HULL};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Cells of 0.1 m, up to 0.05 m up and down: edges of every bend. */
static void make_floor(check_Random *random, double heights[SIDE * SIDE], TestShape *out)
{
    for (int k = 0; k < SIDE * SIDE; k++)
        heights[k] = check_random(random, -0.05, 0.05);
    out->def = st_height_field_def(heights, SIDE, SIDE, 0.1);
    compile_shape(out);
}

static void touch(Pair *pair, double margin)
{
    st_Error err = {0};
    sti_Collide how = {.margin = margin, .planar = -1, .keep = STI_KEEP_ALL};
    pair->points.n = 0;
    check_ok(sti_collide(&pair->a.shape, pair->pose_a, &pair->b.shape, pair->pose_b, &how, &pair->points, &err), err);
}

/* Down by the distance there is, again and again. */
static void let_down(Pair *pair)
{
    pair->pose_b.p.z = 0.05 + 2 * pair->b.shape.reach + 0.01; /* a cone's middle is not that of its reach */
    for (int k = 0; k < 200; k++) {
        touch(pair, 1);
        double gap = least_gap(&pair->points);
        if (!(gap > 1e-9)) return;
        pair->pose_b.p.z -= gap;
    }
}

typedef struct Worst {
    double deep, off; /* beyond the possible, relative to d */
    int poses, points, too_deep, too_far, unseen;
} Worst;

static void look(Pair *pair, double d, Worst *worst)
{
    Poly poly;
    poly_of(&pair->b, pair->pose_b, &poly);
    touch(pair, 1e-3);
    worst->poses++;
    worst->unseen += !(least_gap(&pair->points) < 0);
    for (int k = 0; k < pair->points.n; k++) {
        const sti_ContactPoint *p = &pair->points.point[k];
        /* within its gap of the shape; beside the edge of a face that leans by 0.2 at most (feature.c), by that of it
         */
        const double near = p->gap < 0 ? -p->gap : 0.2 * p->gap;
        double deep = -p->gap / d, off = (outside_shape(&pair->b, pair->pose_b, &poly, p->point) - near) / d;
        worst->points++;
        worst->deep = fmax(worst->deep, deep), worst->off = fmax(worst->off, off);
        worst->too_deep += deep > 1 / 0.98; /* planes bent by less count as one (mesh_pair.c) */
        worst->too_far += off > 1e-3 + 1e-7 / d;
    }
}

static void pushed_into_a_bumpy_floor(void **state)
{
    (void)state;
    static double heights[SIDE * SIDE];
    check_Random random = {5};
    const int rounds = full_size() ? 2000 : 40;
    int bad = 0;
    for (int t = 0; t < N_KINDS; t++) {
        Worst worst = {0};
        for (int round = 0; round < rounds; round++) {
            Pair pair = {.pose_a = {.q = {1, 0, 0, 0}}, .points = {.allocator = st_default_allocator()}};
            make_floor(&random, heights, &pair.a);
            random_shape(&random, kinds[t], 0.15, &pair.b);
            pair.pose_b.p = vec3(check_random(&random, -0.15, 0.15), check_random(&random, -0.15, 0.15), 0);
            pair.pose_b.q = round % 3 == 0 ? square_quat(&random) : random_quat(&random);
            let_down(&pair);
            const double touching = pair.pose_b.p.z;
            for (double d = 1e-6; d < 5e-3; d *= 8) {
                pair.pose_b.p.z = touching - d;
                look(&pair, d, &worst);
            }
            free_shape(&pair.a), free_shape(&pair.b), sti_points_free(&pair.points);
        }
        print_message("%-9s %5d poses, %6d points: %d too deep (%.3g d at most), %d off (%.3g d), %d unseen\n",
                      st_shape_type_name(kinds[t]), worst.poses, worst.points, worst.too_deep, worst.deep,
                      worst.too_far, worst.off, worst.unseen);
        bad += worst.too_deep + worst.too_far + worst.unseen;
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pushed_into_a_bumpy_floor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
