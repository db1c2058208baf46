/* Every convex pair, and planes against all, compared with an oracle over random, touching, nested, aligned and very
 * unequal poses; prints the accuracy for each pair (docs/collision.md has the table). */
#include "collide/narrow/narrow.h"
#include "poses.h"

/* ---- one pose ------------------------------------------------------------------------------------ */

/* The results of a sweep for a pair. Errors are relative to the size of the larger shape. */
typedef struct Row {
    double gap;   /* of the least gap                                                              */
    double point; /* how far a contact point is off either shape                                   */
    int rounds;   /* of GJK and the expanding polytope                                             */
    bool polytopes;
} Row;

/* Points of the manifold: on both shapes, the gap apart along the normal. Returns how far the worst is off.
 * Deep inside, a gap along a face's normal is raised to the pair's distance: up to 1 - cos(0.2) of it. */
static double worst_point(const Pair *pair, const Poly *a, const Poly *b, double gap)
{
    double worst = 0;
    for (int k = 0; k < pair->points.n; k++) {
        const sti_ContactPoint *p = &pair->points.point[k];
        st_Vec3 back = sub(p->point, scale(p->gap, p->normal)), forth = add(p->point, scale(p->gap, p->normal));
        double on_b = outside_shape(&pair->b, pair->pose_b, b, p->point);
        double on_a = outside_shape(&pair->a, pair->pose_a, a, back);
        double also_a = outside_shape(&pair->a, pair->pose_a, a, p->point);
        double also_b = outside_shape(&pair->b, pair->pose_b, b, forth);
        double off = fmin(fmax(on_a, on_b), fmax(also_a, also_b)) - (p->gap == gap && gap < 0 ? -0.021 * gap : 0);
        off = fmax(off, gap - p->gap); /* no gap is below the pair's distance */
        worst = fmax(worst, fmax(off / pair->size, fabs(norm(p->normal) - 1)));
    }
    return worst;
}

/* The iterations that the general pair takes here, whether or not it is the one in use. */
static int rounds_of(const Pair *pair)
{
    sti_Collide how = {.margin = INFINITY, .planar = -1};
    sti_Placed placed;
    sti_Distance d = {.rounds = 0};
    if (sti_place_pair(&pair->a.shape, pair->pose_a, &pair->b.shape, pair->pose_b, &how, &placed))
        sti_core_distance(placed.a, placed.b, INFINITY, NULL, &d);
    return d.rounds;
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

/* Smooth shapes: the gap must be a separation that the shapes really have along the normal (not above it), and
 * no direction may have a larger one (not below the best found).                                  */
static double smooth_error(const Pair *pair, check_Random *random, double gap)
{
    double own = -INFINITY, best = best_separation(pair, random, 12);
    for (int k = 0; k < pair->points.n; k++) /* several points may share the least gap: one has the pair's normal */
        if (pair->points.point[k].gap <= gap + 1e-12 * pair->size)
            own = fmax(own, separation(&pair->a, pair->pose_a, &pair->b, pair->pose_b, pair->points.point[k].normal));
    return fmax(gap - own, best - gap) / pair->size;
}

/* Polytopes and spheres: rounding of coordinates of size 2 through a dozen operations is 1e-14; required: 1e-9.
 * Smooth shapes: the reference search ends at steps of 1e-9 on a function that is flat there: 1e-15, and kinked for
 * cylinders and cones: 1e-9. */
#define GAP_BOUND 1e-9
/* Points: of polytopes, twice the gap's. Round shapes also have lines and rims that run beside an edge at an angle t
 * to it: taken as parallel the point is off by t of the length, else by rounding / t, whichever is less: at worst
 * sqrt(2.2e-16) of the length.                                                                    */
#define POINT_BOUND       2e-9
#define ROUND_POINT_BOUND 1.5e-8

static void check_pose(Pair *pair, check_Random *random, long round, Row *row, Tally *tally)
{
    static Poly poly_a, poly_b;
    bool flat_a = poly_of(&pair->a, pair->pose_a, &poly_a), flat_b = poly_of(&pair->b, pair->pose_b, &poly_b);
    double gap = collide(pair), error;
    row->polytopes = flat_a && flat_b;
    error = row->polytopes ? fabs(gap - oracle_gap(&poly_a, &poly_b)) / pair->size : smooth_error(pair, random, gap);
    double point = worst_point(pair, &poly_a, &poly_b, gap);
    int rounds = rounds_of(pair);
    if (!(error <= GAP_BOUND) && note_failure(tally, pair, round))
        print_error("gap %.17g is off by %.3g of the size %g\n", gap, error, pair->size);
    if (!(point <= (row->polytopes ? POINT_BOUND : ROUND_POINT_BOUND)) && note_failure(tally, pair, round))
        print_error("gap %.17g, a point of %d is off by %.3g of the size %g\n", gap, pair->points.n, point, pair->size);
    row->gap = fmax(row->gap, error);
    row->point = fmax(row->point, point);
    row->rounds = rounds > row->rounds ? rounds : row->rounds;
    tally->poses++;
}

/* ---- sweeps -------------------------------------------------------------------------------------- */

/* The brute force over polytopes is quick, the search over directions is not. */
static long rounds_for(const Pair *pair)
{
    static Poly poly;
    bool flat = poly_of(&pair->a, pair->pose_a, &poly) && poly_of(&pair->b, pair->pose_b, &poly);
    bool hulls = pair->a.def.type == ST_SHAPE_HULL && pair->b.def.type == ST_SHAPE_HULL;
    if (!full_size()) return flat ? 40 : 4;
    return flat ? (hulls ? 2000 : 12000) : 500;
}

static void convex_pairs_match_their_oracles(void **state)
{
    (void)state;
    check_Random random = {11};
    Tally tally = {0};
    Pair pair = {.points.allocator = st_default_allocator()};
    print_message("%-22s %8s %9s %9s %7s\n", "pair", "poses", "gap", "point", "rounds");
    for (int i = 0; i < N_CONVEX; i++)
        for (int j = 0; j < N_CONVEX; j++) {
            if (!sti_collide_supports(convex[i], convex[j])) continue;
            Row row = {0};
            long before = tally.poses, rounds = 1;
            tally.failures = 0;
            for (long round = 0; round < N_SORTS * rounds; round++) {
                make_pair(&random, convex[i], convex[j], (int)(round % N_SORTS), &pair);
                rounds = rounds_for(&pair);
                check_pose(&pair, &random, round, &row, &tally);
                drop_pair(&pair);
            }
            char name[32];
            snprintf(name, sizeof name, "%s, %s", st_shape_type_name(convex[i]), st_shape_type_name(convex[j]));
            print_message("%-22s %8ld %9.1e %9.1e %7d%s", name, tally.poses - before, row.gap, row.point, row.rounds,
                          tally.failures == 0 ? "\n" : "");
            if (tally.failures > 0) print_message("   %ld failed\n", tally.failures);
        }
    print_message("%ld poses, %ld failures\n", tally.poses, tally.all_failures);
    sti_points_free(&pair.points);
    assert_int_equal(tally.all_failures, 0);
}

/* ---- planes, meshes, height fields ---------------------------------------------------------------- */

/* A plane's distance is the lowest point's height: exact, whatever the overlap. */
static void planes_match_the_lowest_point(void **state)
{
    (void)state;
    check_Random random = {15};
    Tally tally = {0};
    Pair pair = {.points.allocator = st_default_allocator()};
    double worst = 0;
    for (int i = 0; i < N_CONVEX; i++, tally.failures = 0)
        for (int round = 0; round < (full_size() ? 20000 : 200); round++) {
            double size = pow(10, check_random(&random, -6, 0));
            pair.a.def = st_plane_def();
            compile_shape(&pair.a);
            random_shape(&random, convex[i], size, &pair.b);
            pair.size = pair.b.shape.reach + 1e-3, pair.sort = SORT_UNEQUAL;
            st_Vec3 place = random_vec(&random, 1);
            pair.pose_a = (st_Pose){place, random_quat(&random)};
            st_Vec3 n = rotate(pair.pose_a.q, vec3(0, 0, 1)), beside = random_vec(&random, 2 * size);
            pair.pose_b = (st_Pose){add(place, beside), round % 3 == 0 ? pair.pose_a.q : random_quat(&random)};
            double gap = collide(&pair);
            double expected = dot(n, sub(farthest(&pair.b, pair.pose_b, scale(-1, n)), place));
            double error = fabs(gap - expected) / pair.size;
            if (!(error <= GAP_BOUND) && note_failure(&tally, &pair, round))
                print_error("gap %.17g, expected %.17g\n", gap, expected);
            worst = fmax(worst, error);
            tally.poses++;
            drop_pair(&pair);
        }
    print_message("planes: %ld poses, largest error %.1e, %ld failures\n", tally.poses, worst, tally.all_failures);
    sti_points_free(&pair.points);
    assert_int_equal(tally.all_failures, 0);
}

#define CELLS 5

/* Bumps below 0, and the oracle's triangles of them, two a cell as the mesh has them. */
static void make_bumps(check_Random *random, double *heights, TestShape *out)
{
    for (int k = 0; k < CELLS * CELLS; k++)
        heights[k] = check_random(random, -0.5, 0);
    out->def = st_height_field_def(heights, CELLS, CELLS, 0.3);
    compile_shape(out);
}

/* The closed surface of a random hull. */
static void make_shell(check_Random *random, int *triangles, TestShape *out)
{
    static Poly poly;
    TestShape hull;
    random_shape(random, ST_SHAPE_HULL, 1, &hull);
    (void)poly_of(&hull, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}, &poly);
    memcpy(out->points, poly.v, (size_t)poly.nv * sizeof *poly.v);
    for (int k = 0; k < 3 * poly.nt; k++)
        triangles[k] = poly.t[k / 3][k % 3];
    out->def = st_mesh_def(out->points, poly.nv, triangles, poly.nt);
    compile_shape(out);
    free_shape(&hull);
}

/* The least distance of all its triangles to the other, which is apart from it. */
static double mesh_distance(const TestShape *mesh, st_Pose pose, const Poly *other)
{
    const sti_Mesh *m = mesh->shape.mesh;
    double best = INFINITY;
    for (int t = 0; t < m->n_triangles; t++) {
        Poly triangle = {.nv = 3, .ne = 3, .nt = 1, .e = {{0, 1}, {1, 2}, {2, 0}}, .t = {{0, 1, 2}}};
        for (int k = 0; k < 3; k++)
            triangle.v[k] = pose_point(pose, m->vertex[m->triangle[t].vertex[k]]);
        best = fmin(best, least_distance(&triangle, other));
    }
    return best - other->radius;
}

/* Meshes and height fields, apart: the least gap is the least distance of any triangle, inner edges or not. */
static void meshes_match_brute_force(void **state)
{
    (void)state;
    check_Random random = {16};
    Tally tally = {0};
    Pair pair = {.points.allocator = st_default_allocator()};
    static Poly poly;
    double heights[CELLS * CELLS], worst = 0;
    int triangles[6 * ORACLE_MAX];
    for (int i = 0; i < N_CONVEX; i++, tally.failures = 0)
        for (int round = 0; round < (full_size() ? 4000 : 40); round++) {
            bool bumps = round % 2 == 0;
            if (bumps)
                make_bumps(&random, heights, &pair.a);
            else
                make_shell(&random, triangles, &pair.a);
            random_shape(&random, convex[i], round % 4 < 2 ? 0.3 : pow(10, check_random(&random, -4, 0)), &pair.b);
            pair.size = fmax(pair.a.shape.reach, pair.b.shape.reach), pair.sort = SORT_ANY;
            pair.pose_a = (st_Pose){{0, 0, 0}, {1, 0, 0, 0}};
            pair.pose_b = (st_Pose){random_vec(&random, bumps ? 0.6 : 2), random_quat(&random)};
            /* over the bumps, or so far out that the shell is not met */
            double low = farthest(&pair.b, pair.pose_b, vec3(0, 0, -1)).z, lift = check_random(&random, 1e-6, 0.2);
            if (bumps) pair.pose_b.p.z += lift - low;
            double expected = poly_of(&pair.b, pair.pose_b, &poly) ? mesh_distance(&pair.a, pair.pose_a, &poly) : 0;
            if (expected > 1e-9 && (bumps || norm(pair.pose_b.p) > 1 + pair.b.shape.reach)) {
                double gap = collide(&pair), error = fabs(gap - expected) / pair.size;
                if (!(error <= GAP_BOUND) && note_failure(&tally, &pair, round))
                    print_error("gap %.17g, expected %.17g\n", gap, expected);
                worst = fmax(worst, error);
                tally.poses++;
            }
            drop_pair(&pair);
        }
    print_message("meshes and height fields: %ld poses, largest error %.1e, %ld failures\n", tally.poses, worst,
                  tally.all_failures);
    sti_points_free(&pair.points);
    assert_true(tally.poses > 100);
    assert_int_equal(tally.all_failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convex_pairs_match_their_oracles),
        cmocka_unit_test(planes_match_the_lowest_point),
        cmocka_unit_test(meshes_match_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
