/* Solid meshes against each other, by brute force over all triangles: the distance apart, the sign, and that no overlap
 * is called deeper than it is. ST_TEST_FULL=1: twenty times as many poses. */
#include "collide/collide.h"
#include "solids.h"

#include <stiction/stiction.h>

static void (*const make[])(Solid *) = {solid_cube, solid_ell, solid_torus, solid_star, solid_needle, solid_slab};
#define N_SOLIDS 6
#define MARGIN   0.3

typedef struct Placed {
    Solid solid; /* in the world */
    sti_Shape shape;
    st_Pose pose;
    double size;
} Placed;

typedef struct Pair {
    Placed a, b;
    sti_Points points;
    double least;
} Pair;

static int poses(int n)
{
    return getenv("ST_TEST_FULL") != NULL ? 20 * n : n;
}

static st_Vec3 random_vec(check_Random *random, double size)
{
    double x = check_random(random, -size, size), y = check_random(random, -size, size);
    return vec3(x, y, check_random(random, -size, size));
}

static void place(Placed *p, int which, double size, st_Pose pose)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    make[which](&p->solid);
    p->size = size, p->pose = pose;
    solid_place(&p->solid, size, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}});
    st_ShapeDef def = st_mesh_def(p->solid.point, p->solid.n_points, p->solid.triangle, p->solid.n_triangles);
    check_ok(sti_shape_compile(&def, &allocator, &p->shape, &err), err);
    assert_true(p->shape.mesh->solid);
    solid_place(&p->solid, 1, pose);
}

static void collide(Pair *pair, double margin)
{
    st_Error err = {0};
    sti_Collide how = {.margin = margin, .planar = -1};
    pair->points.allocator = st_default_allocator();
    pair->points.n = 0;
    check_ok(sti_collide(&pair->a.shape, pair->a.pose, &pair->b.shape, pair->b.pose, &how, &pair->points, &err), err);
    pair->least = INFINITY;
    for (int k = 0; k < pair->points.n; k++)
        pair->least = fmin(pair->least, pair->points.point[k].gap);
}

static void let_go(Pair *pair)
{
    st_Allocator allocator = st_default_allocator();
    sti_points_free(&pair->points);
    sti_shape_free(&allocator, &pair->a.shape);
    sti_shape_free(&allocator, &pair->b.shape);
}

/* ---- the oracle ---------------------------------------------------------------------------------- */

static bool is_deep(const Solid *o, st_Vec3 p, double depth)
{
    return surface_distance(o, p) >= depth && solid_holds(o, p);
}

/* Rings about the place of a triangle's plane nearest to p. */
static bool is_deep_on(const st_Vec3 v[3], const Solid *o, st_Vec3 p, double reach, double depth)
{
    enum { RINGS = 10, ANGLES = 24 };
    st_Vec3 n = cross(sub(v[1], v[0]), sub(v[2], v[0])), x = scale(1 / norm(sub(v[1], v[0])), sub(v[1], v[0]));
    n = scale(1 / norm(n), n);
    st_Vec3 y = cross(n, x), middle = sub(p, scale(dot(n, sub(p, v[0])), n));
    for (int i = 0; i <= RINGS; i++)
        for (int j = 0; j < (i == 0 ? 1 : ANGLES); j++) {
            double r = reach * i / RINGS, angle = 2 * SOLID_PI * j / ANGLES;
            st_Vec3 q = add(middle, add(scale(r * cos(angle), x), scale(r * sin(angle), y)));
            if (norm(sub(q, p)) <= reach * (1 + 1e-9) && triangle_distance(q, v) <= 1e-9 && is_deep(o, q, depth))
                return true;
        }
    return false;
}

/* Is a place of s's surface within `reach` of p inside o, and at least `depth` from its surface? By samples: the
 * corners and edges of every triangle, and rings on it.                                                   */
static bool is_deep_near(const Solid *s, const Solid *o, st_Vec3 p, double reach, double depth)
{
    enum { N = 20 };
    if (is_deep(o, p, depth)) return true;
    for (int t = 0; t < s->n_triangles; t++) {
        st_Vec3 v[3];
        solid_corners(s, t, v);
        if (triangle_distance(p, v) > reach) continue;
        for (int i = 0; i < 3 * N; i++) {
            const int along = i / 3;
            st_Vec3 q = add(v[i % 3], scale((double)along / N, sub(v[(i + 1) % 3], v[i % 3])));
            if (norm(sub(q, p)) <= reach && is_deep(o, q, depth)) return true;
        }
        if (is_deep_on(v, o, p, reach, depth)) return true;
    }
    return false;
}

/* Does the surface of o that is nearest to p lie in a plane through q? Then q is where p leaves it, or on the edge. */
static bool is_own_surface(const Solid *o, st_Vec3 p, st_Vec3 q, double tolerance)
{
    double least = surface_distance(o, p);
    for (int t = 0; t < o->n_triangles; t++) {
        st_Vec3 v[3];
        solid_corners(o, t, v);
        st_Vec3 n = cross(sub(v[1], v[0]), sub(v[2], v[0]));
        if (triangle_distance(p, v) <= least + tolerance && fabs(dot(n, sub(q, v[0]))) <= tolerance * norm(n))
            return true;
    }
    return false;
}

/* The property of an overlapping point in docs/collision.md. */
static bool is_warranted(const Pair *pair, const sti_ContactPoint *c)
{
    const Solid *a = &pair->a.solid, *b = &pair->b.solid;
    double g = -c->gap, slack = 1 - 1e-6;
    st_Vec3 on_b = c->point, on_a = sub(on_b, scale(c->gap, c->normal));
    return is_deep_near(b, a, on_b, 2 * g, 0.5 * g * slack) || is_deep_near(a, b, on_a, 2 * g, 0.5 * g * slack) ||
           (is_own_surface(a, on_b, on_a, 1e-6 * g) && is_own_surface(b, on_a, on_b, 1e-6 * g));
}

/* Both ends of an overlapping point are on their surfaces; where surfaces only cross, one of them. */
static void check_ends(const Pair *pair, const sti_ContactPoint *c)
{
    st_Vec3 on_a = sub(c->point, scale(c->gap, c->normal));
    double off_a = surface_distance(&pair->a.solid, on_a), off_b = surface_distance(&pair->b.solid, c->point);
    check_below(fmin(off_a, off_b), 2e-9);
    check_close(norm(c->normal), 1, 1e-12);
}

/* ---- poses --------------------------------------------------------------------------------------- */

/* Any, with parallel faces, very unequal, nested. */
static void random_pair(check_Random *random, int k, Pair *pair)
{
    bool parallel = k % 4 == 0, unequal = k % 5 == 0, nested = k % 7 == 0;
    double size = nested ? check_random(random, 0.02, 0.1) : unequal ? pow(10, check_random(random, -3, 0)) : 1;
    memset(pair, 0, sizeof *pair);
    for (int i = 0; i < 2; i++) {
        st_Vec3 turn = random_vec(random, parallel ? 0 : 3);
        st_Vec3 at = random_vec(random, i == 0 ? 0 : nested ? 0.3 : check_random(random, 0, 2));
        int which = check_random_int(random, 0, N_SOLIDS - 1);
        place(i == 0 ? &pair->a : &pair->b, which, i == 0 ? 1 : size, (st_Pose){at, quat_exp(turn)});
    }
}

typedef struct Tally {
    int apart, crossing, nested, points;
} Tally;

static void judge(const Pair *pair, int k, Tally *tally)
{
    const Solid *a = &pair->a.solid, *b = &pair->b.solid;
    bool crossing;
    double distance = surfaces_distance(a, b, &crossing);
    bool b_in_a = !crossing && solid_holds(a, b->point[0]), a_in_b = !crossing && solid_holds(b, a->point[0]);
    if (!crossing && !b_in_a && !a_in_b) {
        tally->apart++;
        if (distance < MARGIN) check_close(pair->least, distance, 1e-9);
        if (distance > MARGIN + 1e-9) assert_int_equal(pair->points.n, 0);
        return;
    }
    if (!(pair->least < 0)) fail_msg("pose %d, %s and %s: overlap is not seen", k, a->name, b->name);
    if (!crossing) { /* as a whole, by the surface nearest to its middle */
        double reach = b_in_a ? pair->b.shape.reach : pair->a.shape.reach;
        st_Vec3 middle =
            b_in_a ? pose_point(pair->b.pose, pair->b.shape.middle) : pose_point(pair->a.pose, pair->a.shape.middle);
        tally->nested++;
        assert_int_equal(pair->points.n, 1);
        check_below(-pair->least, surface_distance(b_in_a ? a : b, middle) + 2 * reach);
        return;
    }
    tally->crossing++;
    for (int i = 0; i < pair->points.n; i++) {
        const sti_ContactPoint *c = &pair->points.point[i];
        if (c->gap >= -1e-9) continue;
        tally->points++;
        check_ends(pair, c);
        if (!is_warranted(pair, c))
            fail_msg("pose %d, %s and %s: a point %.3g deep is not warranted", k, a->name, b->name, -c->gap);
    }
}

/* Apart the least gap is the distance to 1e-9; every overlap is seen; none of its points is more than twice as deep as
 * the surface around it, or it is the meeting of two edges.                                       */
static void no_point_is_too_deep(void **state)
{
    (void)state;
    check_Random random = {31};
    Tally tally = {0};
    for (int k = 0; k < poses(300); k++) {
        Pair pair;
        random_pair(&random, k, &pair);
        collide(&pair, MARGIN);
        judge(&pair, k, &tally);
        let_go(&pair);
    }
    print_message("solid meshes: %d poses apart, %d crossing with %d overlapping points, %d nested\n", tally.apart,
                  tally.crossing, tally.points, tally.nested);
    assert_true(tally.apart > 50 && tally.crossing > 100 && tally.nested > 10);
}

/* Closed up to touching along a random way and then pushed on by d: no gap is below -d, and there is one. */
static void gap_is_continuous_through_touching(void **state)
{
    (void)state;
    check_Random random = {32};
    int tried = 0;
    for (int k = 0; k < poses(80); k++) {
        Pair pair;
        random_pair(&random, 7 * k + 1, &pair);
        st_Vec3 way = random_vec(&random, 1);
        way = scale(1 / norm(way), way);
        pair.b.pose.p = scale(-4, way);
        /* no part comes nearer than it moves: steps as long as the gap never pass through */
        for (int step = 0; step < 500; step++) {
            collide(&pair, INFINITY);
            if (!(pair.least > 1e-10) || dot(pair.b.pose.p, way) > 4) break;
            pair.b.pose.p = add(pair.b.pose.p, scale(pair.least, way));
        }
        st_Vec3 touching = pair.b.pose.p;
        for (double d = 1e-7; d < 2e-3 && pair.least <= 1e-10; d *= 10) {
            pair.b.pose.p = add(touching, scale(d, way));
            collide(&pair, 0.01);
            check_below(-pair.least, d * (1 + 1e-6) + 1e-9);
            tried++;
        }
        let_go(&pair);
    }
    assert_true(tried > 200);
}

/* Stars, tori and L's let fall into a heap of three: energy does not rise, and they come to rest above the floor. */
static void solids_fall_on_each_other(void **state)
{
    (void)state;
    for (int which = 1; which < 4; which++) {
        Solid solid;
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_System *system = NULL;
        make[which](&solid);
        st_ShapeDef shape = st_mesh_def(solid.point, solid.n_points, solid.triangle, solid.n_triangles);
        st_ShapeDef ground = st_plane_def();
        shape.density = 100, shape.mu = ground.mu = 0.6;
        check_ok(st_scene_create(&scene, &err), err);
        check_ok(st_scene_add_shape(scene, ST_GROUND, &ground, NULL, &err), err);
        for (int k = 0; k < 3; k++) {
            st_BodyDef def = st_body_def();
            st_BodyId body;
            def.pose = (st_Pose){{0.2 * k, 0.1 * k, 1.6 + 3 * k}, quat_exp(vec3(0.3 * k, 0.2, 0.1))};
            check_ok(st_scene_add_body(scene, &def, &body, &err), err);
            check_ok(st_scene_add_shape(scene, body, &shape, NULL, &err), err);
            check_ok(st_scene_centre_body(scene, body, NULL, &err), err);
        }
        st_SystemDef def = st_system_def();
        check_ok(st_system_create(scene, &def, &system, &err), err);
        double highest = -INFINITY, kinetic, potential;
        check_ok(st_system_energy(system, &kinetic, &potential, &err), err);
        double start = kinetic + potential, energy = start;
        for (int k = 0; k < 400; k++) {
            check_ok(st_system_step(system, 5e-3, NULL, &err), err);
            check_ok(st_system_energy(system, &kinetic, &potential, &err), err);
            highest = fmax(highest, kinetic + potential - energy);
            energy = kinetic + potential;
        }
        print_message("three of %s: largest rise of energy in a step %.2g J of %.3g J\n", solid.name, highest, start);
        /* no explosion; a step's correction lifts three bodies of 270 kg by 5 mm: 40 J */
        check_below(highest, 0.01 * start);
        for (int k = 1; k <= 3; k++) {
            st_Pose pose;
            assert_int_equal(st_system_pose(system, (st_BodyId){k}, &pose), ST_OK);
            assert_true(pose.p.z > 0.2 && pose.p.z < 5 && fabs(pose.p.x) < 6 && fabs(pose.p.y) < 6);
        }
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_point_is_too_deep),
        cmocka_unit_test(gap_is_continuous_through_touching),
        cmocka_unit_test(solids_fall_on_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
