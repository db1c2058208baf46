/* Periodic cells: bodies that cross a border move as if there were none. */
#include "scene/scene_check.h"

#include <math.h>
#include <stdlib.h>
#include <stiction/stiction.h>

static void steps(st_System *system, int n, double h)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, h, NULL, &err), err);
}

static void destroy(st_System *system, st_Scene *scene)
{
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* ---- one body ----------------------------------------------------------------------------------- */

/* It turns, falls along the periodic axis and rolls over a floor: bit by bit as in open space, since positions are not
 * wrapped, and its contact with the floor is the same but for the place.                              */
static void test_free_flight(void **state)
{
    (void)state;
    static const char *const cells[] = {"", "\"periodic\": {\"x\": [-0.2, 0.3], \"y\": [-0.25, 0.25]},"};
    uint64_t hash[2];
    double x[2];
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{%s \"simulation\": {\"gravity\": [2, 1, 0]},\n"
                 " \"bodies\": [{\"name\": \"a\", \"position\": [0, 0, 0.5], \"velocity\": [1, -2, 0],\n"
                 "   \"angular_velocity\": [3, 4, 5],\n"
                 "   \"shapes\": [{\"type\": \"box\", \"size\": [0.05, 0.04, 0.03], \"density\": 1000}]}]}",
                 cells[k]);
        st_Scene *scene;
        st_System *system = system_of(text, NULL, &scene);
        st_Pose pose;
        steps(system, 1000, 1e-3);
        hash[k] = st_system_hash(system);
        assert_int_equal(st_system_pose(system, st_scene_find_body(scene, "a"), &pose), ST_OK);
        x[k] = pose.p.x;
        destroy(system, scene);
    }
    assert_true(x[1] > 1.5); /* three cells away */
    assert_true(hash[0] == hash[1]);
}

/* ---- two bodies --------------------------------------------------------------------------------- */

typedef struct Two {
    st_Vec3 v[2], w[2], gone[2]; /* velocities, and the ways since the start                        */
    int contacts;                /* in all steps                                                    */
} Two;

/* Two bodies that hit each other aside of their centres, `by` from the middle of a cell of 1 m. */
static Two collide(const char *shape, const char *preset, st_Vec3 by)
{
    static const st_Vec3 at[2] = {{-0.1, 0.01, 0.02}, {0.1, -0.015, 0.01}};
    char text[2000];
    snprintf(text, sizeof text,
             "{\"periodic\": {\"x\": [-0.5, 0.5], \"y\": [-0.5, 0.5], \"z\": [-0.5, 0.5]},\n"
             " \"simulation\": {\"preset\": \"%s\", \"h\": 0.001, \"gravity\": [0, 0, 0]},\n"
             " \"bodies\": [\n"
             "  {\"name\": \"a\", \"position\": [%.17g, %.17g, %.17g], \"velocity\": [2, 0.3, 0.2],\n"
             "   \"angular_velocity\": [1, 2, 3], \"shapes\": [%s]},\n"
             "  {\"name\": \"b\", \"position\": [%.17g, %.17g, %.17g], \"velocity\": [-1, 0.1, 0], \"shapes\": [%s]}]}",
             preset, at[0].x + by.x, at[0].y + by.y, at[0].z + by.z, shape, at[1].x + by.x, at[1].y + by.y,
             at[1].z + by.z, shape);
    st_Scene *scene;
    st_System *system = system_of(text, NULL, &scene);
    Two out = {.contacts = 0};
    for (int k = 0; k < 80; k++) {
        steps(system, 1, 1e-3);
        out.contacts += st_system_contact_count(system);
    }
    for (int k = 0; k < 2; k++) {
        const st_BodyId body = st_scene_find_body(scene, k == 0 ? "a" : "b");
        st_Pose pose;
        assert_int_equal(st_system_pose(system, body, &pose), ST_OK);
        assert_int_equal(st_system_velocity(system, body, &out.v[k], &out.w[k]), ST_OK);
        out.gone[k] = (st_Vec3){pose.p.x - at[k].x - by.x, pose.p.y - at[k].y - by.y, pose.p.z - at[k].z - by.z};
    }
    destroy(system, scene);
    return out;
}

static void check_same(st_Vec3 a, st_Vec3 b, double tolerance)
{
    check_close(a.x, b.x, tolerance);
    check_close(a.y, b.y, tolerance);
    check_close(a.z, b.z, tolerance);
}

/* Across one border, an edge and a corner of the cell, and several cells away: the same as in its middle. */
static void test_collision_across(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "{\"type\": \"sphere\", \"radius\": 0.05, \"density\": 1000, \"friction\": 0.4, \"restitution\": 0.6}",
        "{\"type\": \"box\", \"size\": [0.06, 0.07, 0.08], \"density\": 1000, \"friction\": 0.4}",
        "{\"type\": \"capsule\", \"radius\": 0.03, \"length\": 0.06, \"density\": 1000, \"friction\": 0.4, "
        "\"restitution\": 0.3}",
        "{\"type\": \"hull\", \"points\": [[0.05, 0, 0], [-0.05, 0, 0], [0, 0.05, 0], [0, -0.05, 0], [0, 0, 0.06], "
        "[0, 0, -0.06]], \"density\": 1000, \"friction\": 0.4}",
        "{\"type\": \"sphere\", \"radius\": 0.03, \"position\": [0.03, 0, 0], \"density\": 1000, \"friction\": 0.4},"
        "{\"type\": \"sphere\", \"radius\": 0.03, \"position\": [-0.03, 0, 0], \"density\": 1000, \"friction\": 0.4}"};
    static const char *const presets[] = {"default", "accurate", "anitescu-potra-2002", "negrut-2017", "preclik-2011"};
    static const st_Vec3 places[] = {{0.5, 0, 0}, {0.5, 0.5, 0}, {-0.5, 0.49, 0.5}, {0.48, -0.51, 3.5}, {-7.5, 2.5, 0}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++) {
            if (s > 0 && p > 1) continue; /* one shape under all presets, all shapes under two */
            const Two inside = collide(shapes[s], presets[p], (st_Vec3){0, 0, 0});
            assert_true(inside.contacts > 0);
            for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
                const Two across = collide(shapes[s], presets[p], places[k]);
                assert_int_equal(across.contacts, inside.contacts);
                for (int b = 0; b < 2; b++) {
                    check_same(across.v[b], inside.v[b], 1e-10);
                    check_same(across.w[b], inside.w[b], 1e-8);
                    check_same(across.gone[b], inside.gone[b], 1e-11);
                }
            }
        }
}

/* ---- many bodies -------------------------------------------------------------------------------- */

#define GAS                                                                                                            \
    "{\"periodic\": {\"x\": [0, 0.1], \"y\": [0, 0.08], \"z\": [-0.05, 0.05]},\n"                                      \
    " \"simulation\": {\"h\": 0.001, \"gravity\": [0, 0, 0]},\n"                                                       \
    " \"fills\": [{\"name\": \"%s\", \"region\": {\"type\": \"box\", \"position\": [0.05, 0.04, 0], \"size\": [0.1, "  \
    "0.08, 0.1]},\n"                                                                                                   \
    "  \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.006, \"density\": 2000, \"friction\": 0.3, "                  \
    "\"restitution\": 0.9}],\n"                                                                                        \
    "  \"size\": {\"distribution\": \"uniform\", \"min\": 0.008, \"max\": 0.014}, \"number\": 220, \"seed\": 3}]}"

/* A gas with a random velocity each. */
static st_System *gas(const char *const *sets, st_Scene **scene)
{
    char text[2000];
    snprintf(text, sizeof text, GAS, "grain");
    st_System *system = system_of(text, sets, scene);
    uint64_t random = 12345;
    for (int b = 1; b <= st_scene_body_count(*scene); b++) {
        double v[3];
        for (int e = 0; e < 3; e++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            v[e] = (double)(random >> 33) / 2147483648.0 * 4 - 2;
        }
        const st_Vec3 velocity = {v[0], v[1], v[2]};
        st_Error err = {0};
        check_ok(st_system_set_velocity(system, (st_BodyId){b}, &velocity, NULL, &err), err);
    }
    return system;
}

static st_Vec3 momentum(const st_System *system, const st_Scene *scene)
{
    st_Vec3 sum = {0, 0, 0}, v;
    for (int b = 1; b <= st_scene_body_count(scene); b++) {
        st_ShapeDef ball;
        assert_int_equal(st_system_velocity(system, (st_BodyId){b}, &v, NULL), ST_OK);
        assert_int_equal(st_scene_shape(scene, (st_ShapeId){b}, &ball, NULL), ST_OK);
        const double mass = 2000 * 4.0 / 3 * 3.14159265358979323846 * ball.radius * ball.radius * ball.radius;
        sum = (st_Vec3){sum.x + mass * v.x, sum.y + mass * v.y, sum.z + mass * v.z};
    }
    return sum;
}

/* Every two grains, every image: no overlap is deeper than those of the contacts found. */
static double deepest(const st_System *system, const st_Scene *scene)
{
    static const double length[3] = {0.1, 0.08, 0.1};
    double least = INFINITY;
    for (int a = 1; a <= st_scene_body_count(scene); a++)
        for (int b = a + 1; b <= st_scene_body_count(scene); b++) {
            st_Pose p, q;
            st_ShapeDef s, t;
            assert_int_equal(st_system_pose(system, (st_BodyId){a}, &p), ST_OK);
            assert_int_equal(st_system_pose(system, (st_BodyId){b}, &q), ST_OK);
            assert_int_equal(st_scene_shape(scene, (st_ShapeId){a}, &s, NULL), ST_OK);
            assert_int_equal(st_scene_shape(scene, (st_ShapeId){b}, &t, NULL), ST_OK);
            const double d[3] = {remainder(q.p.x - p.p.x, length[0]), remainder(q.p.y - p.p.y, length[1]),
                                 remainder(q.p.z - p.p.z, length[2])};
            least = fmin(least, sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - s.radius - t.radius);
        }
    return least;
}

static void test_gas(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = gas(NULL, &scene);
    const st_Vec3 before = momentum(system, scene);
    st_Error err = {0};
    double energy = 0, rest = 0;
    check_ok(st_system_energy(system, &energy, NULL, &err), err);
    int64_t contacts = 0;
    double gap = INFINITY, away = 0;
    for (int k = 0; k < 200; k++) {
        steps(system, 1, 1e-3);
        contacts += st_system_contact_count(system);
        if (k % 20 == 19) gap = fmin(gap, deepest(system, scene));
    }
    const st_Vec3 after = momentum(system, scene);
    for (int b = 1; b <= st_scene_body_count(scene); b++) {
        st_Pose pose;
        assert_int_equal(st_system_pose(system, (st_BodyId){b}, &pose), ST_OK);
        away = fmax(away, fabs(pose.p.x - 0.05));
    }
    assert_true(contacts > 2000);
    assert_true(away > 0.06); /* out of the cell */
    check_close(after.x, before.x, 1e-12);
    check_close(after.y, before.y, 1e-12);
    check_close(after.z, before.z, 1e-12);
    assert_true(gap > -2e-4);
    check_ok(st_system_energy(system, &rest, NULL, &err), err);
    assert_true(rest < energy && rest > 0.01 * energy); /* a wrong lever gives energy */
    destroy(system, scene);
}

/* Threads, and a state that is saved during the run and continues in another system: the same bits. */
static void test_threads_and_save(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        static const char *const sets[] = {"simulation/threads=4", NULL};
        st_Scene *scene;
        st_System *system = gas(k == 1 ? sets : NULL, &scene);
        steps(system, 40, 1e-3);
        if (k == 2) {
            st_Error err = {0};
            const size_t size = st_system_save(system, NULL, 0);
            void *bytes = malloc(size);
            assert_non_null(bytes);
            assert_int_equal(st_system_save(system, bytes, size), size);
            destroy(system, scene);
            system = gas(NULL, &scene);
            check_ok(st_system_restore(system, bytes, size, &err), err);
            free(bytes);
        }
        steps(system, 40, 1e-3);
        hash[k] = st_system_hash(system);
        destroy(system, scene);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
}

/* ---- walls -------------------------------------------------------------------------------------- */

/* A block slides over a floor that is a box through the whole cell, and under a plate that moves on: as over a plane.
 * Coulomb: it stops after v^2/(2 mu g), many cells away. */
static void test_long_slide(void **state)
{
    (void)state;
    static const char *const floors[] = {"{\"type\": \"plane\", \"friction\": 0.2}",
                                         "{\"type\": \"box\", \"size\": [0.8, 2, 0.2], \"position\": [0.15, 0, -0.1], "
                                         "\"friction\": 0.2}"};
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{\"periodic\": {\"x\": [0, 0.3]}, \"simulation\": {\"h\": 0.0005}, \"ground\": [%s],\n"
                 " \"bodies\": [{\"name\": \"a\", \"position\": [0.1, 0, 0.01], \"velocity\": [2, 0, 0],\n"
                 "   \"shapes\": [{\"type\": \"box\", \"size\": [0.06, 0.05, 0.02], \"density\": 1000, \"friction\": "
                 "0.2}]}]}",
                 floors[k]);
        st_Scene *scene;
        st_System *system = system_of(text, NULL, &scene);
        st_Pose pose;
        steps(system, 2400, 5e-4);
        assert_int_equal(st_system_pose(system, (st_BodyId){1}, &pose), ST_OK);
        const double way = 2.0 * 2.0 / (2 * 0.2 * 9.81);
        assert_true(fabs(pose.p.x - 0.1 - way) < 2 * 5e-4 * 2.0);
        check_close(pose.p.z, 0.01, 1e-4);
        destroy(system, scene);
    }
}

/* A chain of two bodies falls through the cell along z, again and again: its joint does not notice. */
static void test_joint_across(void **state)
{
    (void)state;
    static const char *const cells[] = {"", "\"periodic\": {\"z\": [0, 1]},"};
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "{%s \"simulation\": {\"h\": 0.001},\n"
            " \"bodies\": [{\"name\": \"a\", \"position\": [0, 0, 0.5], \"velocity\": [1, 0, 0], \"shapes\": [%s]},\n"
            "  {\"name\": \"b\", \"position\": [0.2, 0, 0.5], \"shapes\": [%s]}],\n"
            " \"joints\": [{\"type\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"point\": [0.1, 0, 0.5], \"axis\": "
            "[0, 1, 0]}]}",
            cells[k], "{\"type\": \"sphere\", \"radius\": 0.05}", "{\"type\": \"sphere\", \"radius\": 0.05}");
        st_Scene *scene;
        st_System *system = system_of(text, NULL, &scene);
        steps(system, 800, 1e-3);
        hash[k] = st_system_hash(system);
        destroy(system, scene);
    }
    assert_true(hash[0] == hash[1]);
}

/* ---- servo walls -------------------------------------------------------------------------------- */

/* A lid on a rail with a speed motor of limited force: it comes down at that speed, and then presses the grains with
 * that force. The floor carries it and their weight. */
static void test_servo_wall(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(
        "{\"periodic\": {\"x\": [0, 0.02], \"y\": [0, 0.02]}, \"simulation\": {\"h\": 0.001},\n"
        " \"ground\": [{\"type\": \"plane\", \"friction\": 0.5}],\n"
        " \"bodies\": [{\"name\": \"lid\", \"position\": [0.01, 0.01, 0.035], \"mass\": 0.005, \"inertia\": 1e-6, "
        "\"gravity\": 0, \"locks\": [\"x\", \"y\", \"rotation\"],\n"
        "   \"shapes\": [{\"type\": \"box\", \"size\": [0.05, 0.05, 0.01], \"friction\": 0.5}]}],\n"
        " \"joints\": [{\"type\": \"prismatic\", \"b\": \"lid\", \"point\": [0.01, 0.01, 0.03], \"axis\": [0, 0, 1],\n"
        "   \"motor\": {\"type\": \"speed\", \"target\": -0.1, \"max_force\": 2}}],\n"
        " \"fills\": [{\"name\": \"grain\", \"region\": {\"type\": \"box\", \"position\": [0.01, 0.01, 0.01], "
        "\"size\": [0.02, 0.02, 0.02]},\n"
        "   \"number\": 45, \"arrangement\": \"dropped\", \"size\": {\"distribution\": \"uniform\", \"min\": 0.0045, "
        "\"max\": 0.0055},\n"
        "   \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.0025, \"density\": 2500, \"friction\": 0.5}]}],\n"
        " \"measures\": [{\"type\": \"wall\", \"wall\": \"lid\"}, {\"type\": \"wall\"},\n"
        "  {\"type\": \"bulk\", \"region\": {\"type\": \"box\", \"position\": [0.01, 0.01, 0.01], \"size\": [0.02, "
        "0.02, "
        "0.04]}, \"bodies\": \"grain_*\"}]}",
        NULL, &scene);
    st_Error err = {0};
    double values[ST_MEASURE_VALUES], lid = 0, floor = 0;
    st_Vec3 v;
    steps(system, 20, 1e-3);
    assert_int_equal(st_system_velocity(system, st_scene_find_body(scene, "lid"), &v, NULL), ST_OK);
    check_close(v.z, -0.1, 1e-12);
    steps(system, 330, 1e-3);
    for (int k = 0; k < 50; k++) {
        steps(system, 1, 1e-3);
        check_ok(st_system_measure(system, 0, values, NULL, &err), err);
        lid += values[2] / 50;
        check_ok(st_system_measure(system, 1, values, NULL, &err), err);
        floor -= values[2] / 50;
    }
    check_ok(st_system_measure(system, 2, values, NULL, &err), err);
    const double weight = 9.81 * values[1];
    assert_true(values[0] == 45);
    assert_true(fabs(lid - 2) < 0.01 * 2);
    assert_true(fabs(floor - 2 - weight) < 0.01 * 2);
    destroy(system, scene);
}

/* ---- measures ----------------------------------------------------------------------------------- */

/* Four grains go round: how often they cross a plane of the cell, and how many are in half of it. */
static void test_measures(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    double values[ST_MEASURE_VALUES];
    st_System *system = system_of(
        "{\"periodic\": {\"x\": [0, 1]}, \"simulation\": {\"h\": 0.01, \"gravity\": [0, 0, 0]},\n"
        " \"bodies\": [\n"
        "  {\"position\": [0.1, 0, 0], \"velocity\": [1, 0, 0], \"mass\": 2, \"shapes\": [{\"type\": \"sphere\", "
        "\"radius\": 0.01}]},\n"
        "  {\"position\": [0.1, 0.1, 0], \"velocity\": [2, 0, 0], \"mass\": 3, \"shapes\": [{\"type\": \"sphere\", "
        "\"radius\": 0.01}]}],\n"
        " \"measures\": [{\"type\": \"flow\", \"region\": {\"type\": \"half-space\", \"position\": [0.7, 0, 0], "
        "\"normal\": [-1, 0, 0]}},\n"
        "  {\"type\": \"bulk\", \"region\": {\"type\": \"box\", \"position\": [0.25, 0, 0], \"size\": [0.5, 1, 1]}}]}",
        NULL, &scene);
    steps(system, 325, 0.01); /* at 3.35 and 6.6 */
    check_ok(st_system_measure(system, 0, values, NULL, &err), err);
    check_close(values[0], 3 * 2 + 6 * 3, 1e-12); /* at 0.7, 1.7, 2.7; at 0.7 .. 5.7 */
    check_close(values[1], 9, 0);
    check_ok(st_system_measure(system, 1, values, NULL, &err), err);
    check_close(values[0], 1, 0); /* 0.35 is in it, 0.6 is not */
    destroy(system, scene);
}

/* A distance is that of the nearest images; a probe touches images, too. */
static void test_queries(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    st_Closest closest;
    st_ShapeId near[4];
    int n = 0;
    st_System *system = system_of("{\"periodic\": {\"x\": [0, 1]},\n"
                                  " \"bodies\": [{\"position\": [0.1, 0, 0], \"shapes\": [{\"type\": \"sphere\", "
                                  "\"radius\": 0.05}]},\n"
                                  "  {\"position\": [4.8, 0, 0], \"shapes\": [{\"type\": \"sphere\", \"radius\": "
                                  "0.05}]}]}",
                                  NULL, &scene);
    check_ok(st_system_distance(system, (st_ShapeId){1}, (st_ShapeId){2}, &closest, &err), err);
    check_close(closest.gap, 0.2, 1e-12);
    check_close(closest.normal.x, -1, 1e-12);
    const st_ShapeDef ball = st_sphere_def(0.06);
    check_ok(st_system_overlaps(system, &ball, (st_Pose){{-0.1, 0, 0}, {1, 0, 0, 0}}, UINT32_MAX, near, 4, &n, &err),
             err);
    assert_int_equal(n, 1);
    assert_int_equal(near[0].index1, 2);
    destroy(system, scene);
}

/* Rays of a periodic cell hit the same shapes as rays in open space with copies of the cell side by side. */
static void test_rays(void **state)
{
    (void)state;
    enum { COPIES = 4, RAYS = 400 };
    static const double at[4][3] = {{0.05, 0.3, 0.1}, {0.95, 0.55, 0.3}, {0.5, 0.02, 0.2}, {0.45, 0.7, 0.5}};
    static const char *const shape[4] = {
        "{\"type\": \"sphere\", \"radius\": 0.12}", "{\"type\": \"box\", \"size\": [0.3, 0.1, 0.2]}",
        "{\"type\": \"capsule\", \"radius\": 0.05, \"length\": 0.2}", "{\"type\": \"sphere\", \"radius\": 0.08}"};
    char *text = calloc(1, 100000);
    st_Scene *scenes[2];
    st_System *systems[2];
    st_Error err = {0};
    assert_non_null(text);
    for (int open = 0; open < 2; open++) {
        int n = sprintf(text, "{%s \"ground\": [{\"type\": \"plane\"}], \"bodies\": [",
                        open ? "" : "\"periodic\": {\"x\": [0, 1], \"y\": [0, 0.8]},");
        for (int i = open ? -COPIES : 0; i <= (open ? COPIES : 0); i++)
            for (int j = open ? -COPIES : 0; j <= (open ? COPIES : 0); j++)
                for (int k = 0; k < 4; k++)
                    n += sprintf(text + n, "%s{\"position\": [%.17g, %.17g, %.17g], \"shapes\": [%s]}",
                                 text[n - 1] == '[' ? "" : ",", at[k][0] + i + (open ? 0 : 3), at[k][1] + 0.8 * j,
                                 at[k][2], shape[k]);
        sprintf(text + n, "]}");
        systems[open] = system_of(text, NULL, &scenes[open]);
    }
    int hits = 0, beyond = 0;
    uint32_t random = 1;
    for (int k = 0; k < RAYS; k++) {
        double u[6];
        st_RayHit hit[2];
        for (int e = 0; e < 6; e++) {
            random = random * 1664525u + 1013904223u;
            u[e] = random / 4294967296.0;
        }
        const st_Vec3 from = {u[0], 0.8 * u[1], u[2]}, way = {u[3] - 0.5, u[4] - 0.5, 0.2 * (u[5] - 0.5)};
        for (int open = 0; open < 2; open++)
            check_ok(st_system_ray(systems[open], from, way, 2.5, UINT32_MAX, &hit[open], &err), err);
        assert_int_equal(hit[0].shape.index1 != 0, hit[1].shape.index1 != 0);
        if (hit[0].shape.index1 == 0) continue;
        hits++;
        beyond += hit[0].point.x < 0 || hit[0].point.x > 1 || hit[0].point.y < 0 || hit[0].point.y > 0.8;
        check_close(hit[0].distance, hit[1].distance, 1e-9);
        check_close(hit[0].point.x, hit[1].point.x, 1e-9);
        check_close(hit[0].normal.x, hit[1].normal.x, 1e-6);
        check_close(hit[0].normal.z, hit[1].normal.z, 1e-6);
    }
    assert_true(hits > 100 && beyond > 30);
    /* An infinite ray: through the periodic cell to a shape that is before its start, and forever between all
     * shapes. */
    st_RayHit far;
    check_ok(st_system_ray(systems[0], (st_Vec3){0.3, 0.3, 0.1}, (st_Vec3){1, 0, 0}, INFINITY, UINT32_MAX, &far, &err),
             err);
    check_close(far.distance, 1.05 - 0.12 - 0.3, 1e-9);
    check_ok(st_system_ray(systems[0], (st_Vec3){0, 0, 0.9}, (st_Vec3){1, 0.7, 0}, INFINITY, UINT32_MAX, &far, &err),
             err);
    assert_int_equal(far.shape.index1, 0);
    for (int open = 0; open < 2; open++)
        destroy(systems[open], scenes[open]);
    free(text);
}

/* ---- refused ------------------------------------------------------------------------------------ */

static void check_not_made(const char *text, const char *const *parts)
{
    st_Error err = {0};
    st_SystemDef def;
    st_System *system = NULL;
    st_Scene *scene = scene_of(text, &def, NULL);
    assert_int_not_equal(st_system_create(scene, &def, &system, &err), ST_OK);
    for (int k = 0; parts[k] != NULL; k++)
        if (strstr(err.message, parts[k]) == NULL) fail_msg("without \"%s\": %s", parts[k], err.message);
    st_scene_destroy(scene);
}

#define BALL(radius) "{\"name\": \"ball\", \"shapes\": [{\"type\": \"sphere\", \"radius\": " radius "}]}"

static void test_refused(void **state)
{
    (void)state;
    check_not_made("{\"periodic\": {\"x\": [0, 0.19]}, \"bodies\": [" BALL("0.05") "]}",
                   WORDS("\"ball\"", "0.1 m wide", "0.19 m", "0.2 m"));
    check_not_made("{\"periodic\": {\"y\": [0, 1]}, \"ground\": [{\"type\": \"plane\", \"name\": \"wall\", \"normal\": "
                   "[0, 1, 1]}], \"bodies\": [" BALL("0.05") "]}",
                   WORDS("\"wall\"", "plane", "along y from 0 to 1 m"));
    check_not_made("{\"periodic\": {\"x\": [0, 1]}, \"ground\": [{\"type\": \"box\", \"name\": \"step\", \"size\": "
                   "[0.9, 1, 1]}], \"bodies\": [" BALL("0.05") "]}",
                   WORDS("\"step\"", "from -0.45 to 0.45 m along x", "from -0.05 to 1.05 m"));
    check_not_made(
        "{\"periodic\": {\"x\": [0, 1]}, \"simulation\": {\"device\": \"flat\"}, \"bodies\": [" BALL("0.05") "]}",
        WORDS("flat", "a periodic cell"));
    check_refused("{\"periodic\": {\"x\": [1, 0]},\n \"bodies\": [" BALL("0.05") "]}", 1, "periodic", "x is [1, 0]",
                  "the second larger");
    check_refused("{\"periodic\": {\"x\": [0, 1e30]},\n \"bodies\": [" BALL("0.05") "]}", 1, "x is 1e+30");
    check_refused("{\"periodic\": {\"w\": [0, 1]},\n \"bodies\": [" BALL("0.05") "]}", 1, "periodic", "\"w\"");
    check_refused("{\"periodic\": [0, 1],\n \"bodies\": [" BALL("0.05") "]}", 1, "periodic", "an object");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_free_flight), cmocka_unit_test(test_collision_across),
        cmocka_unit_test(test_gas),         cmocka_unit_test(test_threads_and_save),
        cmocka_unit_test(test_long_slide),  cmocka_unit_test(test_joint_across),
        cmocka_unit_test(test_servo_wall),  cmocka_unit_test(test_measures),
        cmocka_unit_test(test_queries),     cmocka_unit_test(test_rays),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
