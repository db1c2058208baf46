/* Fills: sizes follow their distribution, grains are inside and touch nothing, and impossible fills are refused with
 * the numbers. */
#include "scene_check.h"

#include <stiction/grains.h>

#define SCENE(fill)                                                                                                    \
    "{\"regions\": [{\"name\": \"silo\", \"type\": \"cylinder\", \"position\": [1, 2, 3], \"radius\": 0.05,\n"         \
    "  \"length\": 0.2}],\n"                                                                                           \
    " \"fills\": [\n" fill "]}"
#define BALL "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.005, \"density\": 2000}]"
#define CUBE "\"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.1]}"

typedef struct Ball {
    st_Vec3 p;
    double r;
} Ball;

/* The spheres of a scene; free() them. */
static Ball *balls_of(const st_Scene *scene, int *n)
{
    *n = st_scene_shape_count(scene);
    Ball *ball = calloc((size_t)*n, sizeof *ball);
    assert_non_null(ball);
    for (int k = 0; k < *n; k++) {
        st_ShapeDef shape;
        st_BodyDef body;
        st_BodyId id;
        assert_int_equal(st_scene_shape(scene, (st_ShapeId){k + 1}, &shape, &id), ST_OK);
        assert_int_equal(st_scene_body(scene, id, &body), ST_OK);
        ball[k] = (Ball){body.pose.p, shape.radius};
    }
    return ball;
}

static Ball *filled(const char *fill, int *n)
{
    char text[2000];
    st_SystemDef def;
    snprintf(text, sizeof text, SCENE("%s"), fill);
    st_Scene *scene = scene_of(text, &def, NULL);
    Ball *ball = balls_of(scene, n);
    st_scene_destroy(scene);
    return ball;
}

static double distance(Ball a, Ball b)
{
    return hypot(hypot(a.p.x - b.p.x, a.p.y - b.p.y), a.p.z - b.p.z);
}

/* Every pair; rounding apart. */
static void check_apart(const Ball *ball, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (distance(ball[i], ball[j]) < (ball[i].r + ball[j].r) * (1 - 1e-8))
                fail_msg("balls %d and %d overlap by %g", i, j, ball[i].r + ball[j].r - distance(ball[i], ball[j]));
}

/* ---- sizes ------------------------------------------------------------------------------------ */

/* Mean and deviation of the sizes of n draws: each must be within 4.5 standard errors, one failure in 1e5 seeds. */
static void check_sizes(const char *size, double mean, double deviation, double kurtosis)
{
    char fill[800];
    int n;
    snprintf(fill, sizeof fill,
             "{\"region\": {\"type\": \"box\", \"size\": [1, 1, 1]}, \"number\": 20000, \"arrangement\": \"lattice\", "
             "\"size\": %s, " BALL "}",
             size);
    Ball *ball = filled(fill, &n);
    double sum = 0, squares = 0;
    assert_int_equal(n, 20000);
    for (int k = 0; k < n; k++)
        sum += 2 * ball[k].r;
    for (int k = 0; k < n; k++)
        squares += (2 * ball[k].r - sum / n) * (2 * ball[k].r - sum / n);
    check_close(sum / n, mean, 4.5 * deviation / sqrt(n));
    check_close(sqrt(squares / n), deviation, 4.5 * deviation * sqrt((kurtosis - 1) / (4.0 * n)));
    free(ball);
}

static void test_distributions(void **state)
{
    (void)state;
    check_sizes("{\"distribution\": \"uniform\", \"min\": 0.004, \"max\": 0.01}", 0.007, 0.006 / sqrt(12), 1.8);
    /* cut at three deviations, the variance of a normal one is 0.9733 of the whole, its kurtosis 2.77 */
    check_sizes("{\"distribution\": \"normal\", \"mean\": 0.007, \"deviation\": 0.001}", 0.007, 0.001 * sqrt(0.97334),
                2.77);
    /* E = median exp(s^2/2) and so on, cut where it changes nothing that can be seen */
    const double s = 0.2, mean = 0.005 * exp(s * s / 2), deviation = mean * sqrt(expm1(s * s));
    check_sizes("{\"distribution\": \"log-normal\", \"median\": 0.005, \"deviation\": 0.2, \"min\": 1e-9, \"max\": "
                "0.02}",
                mean, deviation, 3.7);
}

/* The mass that passes each opening is the curve's. A share p of n grains has a deviation below sqrt(p/n) times the
 * ratio of the largest mass to the mean one, here at most 0.02. */
static void test_sieve_curve(void **state)
{
    (void)state;
    static const double opening[] = {0.003, 0.005, 0.007, 0.01}, passing[] = {0, 0.2, 0.7, 1};
    int n;
    Ball *ball = filled("{\"region\": {\"type\": \"box\", \"size\": [1, 1, 1]}, \"number\": 20000, \"arrangement\": "
                        "\"lattice\", \"size\": {\"distribution\": \"sieve\", \"curve\": "
                        "[[0.003, 0], [0.005, 0.2], [0.007, 0.7], [0.01, 1]]}, " BALL "}",
                        &n);
    for (int s = 0; s < 4; s++) {
        double below = 0, all = 0, half = 0;
        for (int k = 0; k < n; k++) {
            const double mass = pow(ball[k].r, 3);
            all += mass;
            if (2 * ball[k].r <= opening[s]) below += mass;
            if (s > 0 && 2 * ball[k].r <= (opening[s] + opening[s - 1]) / 2) half += mass;
        }
        check_close(below / all, passing[s], 0.02);
        /* evenly between openings */
        if (s > 0) check_close(half / all, (passing[s] + passing[s - 1]) / 2, 0.02);
    }
    free(ball);
}

/* ---- places ----------------------------------------------------------------------------------- */

static void test_random(void **state)
{
    (void)state;
    int n;
    Ball *ball = filled("{\"region\": \"silo\", \"number\": 800, \"size\": {\"distribution\": \"uniform\", \"min\": "
                        "0.006, \"max\": 0.012}, " BALL "}",
                        &n);
    double mean[3] = {0};
    assert_int_equal(n, 800);
    check_apart(ball, n);
    for (int k = 0; k < n; k++) {
        check_below(hypot(ball[k].p.x - 1, ball[k].p.y - 2) + ball[k].r, 0.05 + 1e-12);
        check_below(fabs(ball[k].p.z - 3) + ball[k].r, 0.1 + 1e-12);
        mean[0] += (ball[k].p.x - 1) / n, mean[1] += (ball[k].p.y - 2) / n, mean[2] += (ball[k].p.z - 3) / n;
    }
    /* evenly: deviations of a coordinate are at most R/2 and L/sqrt(12); 4.5 standard errors */
    check_below(fabs(mean[0]), 4.5 * 0.025 / sqrt(n));
    check_below(fabs(mean[1]), 4.5 * 0.025 / sqrt(n));
    check_below(fabs(mean[2]), 4.5 * 0.2 / sqrt(12) / sqrt(n));
    free(ball);
}

/* By packing fraction: to half a grain. In a ball, too. */
static void test_packing_fraction(void **state)
{
    (void)state;
    int n;
    Ball *ball =
        filled("{\"region\": {\"type\": \"sphere\", \"radius\": 0.05}, \"packing_fraction\": 0.25, " BALL "}", &n);
    assert_int_equal(n, 250); /* 0.25 (0.05/0.005)^3 */
    check_apart(ball, n);
    for (int k = 0; k < n; k++)
        check_below(hypot(hypot(ball[k].p.x, ball[k].p.y), ball[k].p.z), 0.045 + 1e-12);
    free(ball);
}

/* A layer as thick as a grain, ten grains wide: rows of 10 and 9 in turn, sqrt(3)/2 grains apart, so 11 of them in
 * ten widths. And a large box: close packing reaches pi/sqrt(18), walls apart. */
static void test_lattice(void **state)
{
    (void)state;
    int n;
    Ball *ball = filled("{\"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.01]}, \"number\": 105, "
                        "\"arrangement\": \"lattice\", " BALL "}",
                        &n);
    assert_int_equal(n, 105);
    check_apart(ball, n);
    free(ball);
    check_refused(SCENE("{\"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.01]}, \"number\": 106, "
                        "\"arrangement\": \"lattice\", " BALL "}"),
                  4, "fills/0: 105 of 106 grains of 0.01 m fit", "lattice");
    ball = filled(
        "{\"region\": {\"type\": \"box\", \"size\": [0.1, 0.1, 0.01]}, \"arrangement\": \"lattice\", " BALL "}", &n);
    assert_int_equal(n, 105); /* as many as fit */
    free(ball);
    ball = filled("{\"region\": {\"type\": \"box\", \"size\": [0.15, 0.15, 0.15]}, \"packing_fraction\": 0.66, "
                  "\"arrangement\": \"lattice\", " BALL "}",
                  &n);
    check_apart(ball, n);
    free(ball);
}

/* Dropped grains rest on something: the floor, or a grain below its middle. Local minima of height: on three things,
 * most of them. Deposited spheres have a packing fraction between that of loose and of random packings. */
static void test_dropped(void **state)
{
    (void)state;
    int n, touching = 0;
    Ball *ball = filled("{\"region\": \"silo\", \"packing_fraction\": 0.45, \"arrangement\": \"dropped\", \"size\": "
                        "{\"distribution\": \"uniform\", \"min\": 0.008, \"max\": 0.012}, " BALL "}",
                        &n);
    double highest = 0, volume = 0;
    check_apart(ball, n);
    for (int i = 0; i < n; i++) {
        int below = ball[i].p.z - ball[i].r < 2.9 + 1e-9;
        check_below(hypot(ball[i].p.x - 1, ball[i].p.y - 2) + ball[i].r, 0.05 + 1e-12);
        for (int j = 0; j < n; j++)
            if (j != i && ball[j].p.z < ball[i].p.z && distance(ball[i], ball[j]) < (ball[i].r + ball[j].r) + 1e-9)
                below++;
        assert_true(below > 0);
        highest = fmax(highest, ball[i].p.z - 2.9);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) /* within a per cent of the size: the search ends there */
            touching += distance(ball[i], ball[j]) < (ball[i].r + ball[j].r) * 1.01;
        volume += 4.0 / 3 * acos(-1) * pow(ball[i].r, 3);
    }
    assert_true(volume / (acos(-1) * 0.05 * 0.05 * highest) > 0.48);
    assert_true(2.0 * touching / n > 4 && 2.0 * touching / n < 7); /* three below each: about six, walls apart */
    free(ball);

    /* Without a number the silo is filled up: nothing of the size of a grain has room above. */
    double top = 0;
    int more;
    ball = filled("{\"region\": \"silo\", \"arrangement\": \"dropped\", " BALL "}", &more);
    for (int i = 0; i < more; i++)
        top = fmax(top, ball[i].p.z + ball[i].r - 2.9);
    assert_true(more > 1350); /* of 3000 times the packing fraction: above 0.45, walls and the top included */
    check_below(top, 0.2 + 1e-12);
    check_below(0.19, top);
    free(ball);
}

/* A clump about its centre of mass, of the requested size; its mass is proportional to the cube of that. */
static void test_clump(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(
        SCENE("{\"name\": \"pebble\", \"region\": \"silo\", \"number\": 20, \"size\": 0.02, \"seed\": 7, \"shapes\": ["
              "{\"type\": \"sphere\", \"radius\": 1, \"density\": 1000, \"position\": [5, 0, 0]},"
              "{\"type\": \"sphere\", \"radius\": 1, \"density\": 1000, \"position\": [7, 0, 0]}]}"),
        &def, NULL);
    assert_int_equal(st_scene_body_count(scene), 20);
    assert_int_equal(st_scene_shape_count(scene), 40);
    const st_BodyId last = st_scene_find_body(scene, "pebble_0020");
    assert_int_equal(last.index1, 20);
    double mass;
    st_Mat3 inertia;
    st_BodyDef body;
    st_Error err = {0};
    check_ok(st_scene_body_mass(scene, last, &mass, &inertia, &err), err);
    check_close(mass, 2 * 1000 * 4.0 / 3 * acos(-1) * pow(0.005, 3), 1e-12); /* two balls of a quarter of the size */
    assert_int_equal(st_scene_body(scene, last, &body), ST_OK);
    assert_true(fabs(body.pose.q.w) < 0.999); /* turned */
    for (int k = 39; k <= 40; k++) {
        st_ShapeDef shape;
        assert_int_equal(st_scene_shape(scene, (st_ShapeId){k}, &shape, NULL), ST_OK);
        check_close(shape.pose.p.x, k == 39 ? -0.005 : 0.005, 1e-15);
        check_close(shape.radius, 0.005, 1e-15);
    }
    st_scene_destroy(scene);
}

/* The same seed: the same grains; another: others. Grains of a later fill avoid those of an earlier one. */
static void test_seeds_and_mixtures(void **state)
{
    (void)state;
    int n, m;
    Ball *a = filled("{" CUBE ", \"number\": 100, \"seed\": 3, " BALL "}", &n);
    Ball *b = filled("{" CUBE ", \"number\": 100, \"seed\": 3, " BALL "}", &n);
    Ball *c = filled("{" CUBE ", \"number\": 100, \"seed\": 4, " BALL "}", &m);
    assert_memory_equal(a, b, (size_t)n * sizeof *a);
    assert_true(a[0].p.x != c[0].p.x);
    free(a), free(b), free(c);
    a = filled("{" CUBE ", \"number\": 200, " BALL "}, {\"name\": \"small\", " CUBE ", \"size\": 0.004, \"number\": "
               "500, " BALL "}",
               &n);
    assert_int_equal(n, 700);
    check_apart(a, n);
    free(a);
}

/* Planar: in the middle of the region along the locked axis, however thin it is. */
static void test_planar(void **state)
{
    (void)state;
    static const char *const how[] = {"random", "lattice", "dropped"};
    for (int k = 0; k < 3; k++) {
        char fill[400];
        int n;
        snprintf(fill, sizeof fill,
                 "{\"region\": {\"type\": \"box\", \"size\": [0.2, 0.001, 0.1], \"position\": [0, 4, 0]}, \"number\": "
                 "100, \"locks\": \"planar-xz\", \"arrangement\": \"%s\", " BALL "}",
                 how[k]);
        Ball *ball = filled(fill, &n);
        assert_int_equal(n, 100);
        check_apart(ball, n);
        for (int i = 0; i < n; i++)
            check_close(ball[i].p.y, 4, 0);
        free(ball);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    check_refused(SCENE("{\"region\": \"silo\", \"packing_fraction\": 0.5, " BALL "}"), 4,
                  "of 1500 grains of 0.01 m fit into its region, a cylinder of 0.0015708 m^3", "of 0.5", "\"random\"");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 1, \"size\": 0.2, " BALL "}"), 4,
                  "0 of 1 grains of 0.2 m fit");
    check_refused(SCENE("{\"region\": \"sylo\", \"number\": 1, " BALL "}"), 4, "there is no region of that name",
                  "did you mean \"silo\"?");
    check_refused(SCENE("{\"region\": \"silo\", " BALL "}"), 4, "\"random\" needs number or packing_fraction");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"packing_fraction\": 0.1, " BALL "}"), 4, "has both");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2.5, " BALL "}"), 4, "number is 2.5, must be a whole");
    check_refused(SCENE("{\"region\": \"silo\", \"packing_fraction\": 1.5, " BALL "}"), 4,
                  "packing_fraction is 1.5, must be above 0 and below 1");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"shapes\": []}"), 4, "shapes");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"shapes\": [{\"type\": \"plane\"}]}"), 4,
                  "shape 0 of its grains is a plane, must be a sphere, box");
    check_refused(SCENE("{\"region\": {\"type\": \"half-space\"}, \"number\": 2, " BALL "}"), 4, "half space");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"locks\": \"planar-xz\", " BALL "}"), 4,
                  "must be a box along the axes of the world");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"size\": {\"distribution\": \"normal\", \"mean\": 1, "
                        "\"deviation\": 0.5}, " BALL "}"),
                  4, "three deviations less are below 0; give min");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"size\": {\"distribution\": \"uniform\", \"min\": 1, "
                        "\"max\": 0.5}, " BALL "}"),
                  4, "max of its size is 0.5, must be at least 1");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"size\": {\"distribution\": \"sieve\", \"curve\": "
                        "[[1, 0], [0.5, 1]]}, " BALL "}"),
                  4, "opening of curve[1] is 0.5, must be > 1");
    check_refused(SCENE("{\"region\": \"silo\", \"number\": 2, \"size\": {\"distribution\": \"sieve\", \"curve\": "
                        "[[1, 0], [2, 0.9]]}, " BALL "}"),
                  4, "must begin with 0 and end with 1");
    check_refused(SCENE("{\"name\": \"a\", \"region\": \"silo\", \"number\": 2, " BALL "},\n{\"name\": \"a\", "
                        "\"region\": \"silo\", \"number\": 2, " BALL "}"),
                  5, "used twice");
    check_refused("{\"fills\": []}", 1, "\"bodies\" is missing", "\"fills\"");
    check_refused(
        "{\"regions\": [{\"type\": \"box\", \"size\": [1, 1, 1]}], \"bodies\": [{\"mass\": 1, \"inertia\": 1}]}", 1,
        "\"name\" is missing");
}

/* The core's own door, without a file. */
static void test_from_c(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_ShapeDef ball = st_sphere_def(0.1);
    st_FillDef fill = st_fill_def(), raw = {0};
    st_BodyId first;
    int n = 0;
    check_ok(st_scene_create(&scene, &err), err);
    fill.shapes = &ball;
    fill.n_shapes = 1;
    fill.number = 5;
    check_ok(st_scene_fill(scene, &fill, &first, &n, &err), err);
    assert_int_equal(first.index1, 1);
    assert_int_equal(n, 5);
    /* the names are taken: nothing is added */
    assert_int_equal(st_scene_fill(scene, &fill, NULL, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_scene_body_count(scene), 5);
    assert_int_equal(st_scene_fill(scene, &raw, NULL, NULL, &err), ST_ERR_ARGUMENT);
    check_close(st_region_volume(&fill.region), 1, 1e-15);
    assert_true(st_region_holds(&fill.region, (st_Vec3){0.4, 0, 0}));
    assert_false(st_region_holds(&fill.region, (st_Vec3){0.6, 0, 0}));
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions), cmocka_unit_test(test_sieve_curve),
        cmocka_unit_test(test_random),        cmocka_unit_test(test_packing_fraction),
        cmocka_unit_test(test_lattice),       cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_clump),         cmocka_unit_test(test_seeds_and_mixtures),
        cmocka_unit_test(test_planar),        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_from_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
