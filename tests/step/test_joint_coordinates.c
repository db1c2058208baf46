/* Step problems in joint coordinates have the solution that they have in body coordinates: every mechanism, with every
 * integrator and drift choice, one step from the same state, then many.                              */
#include "math/vec3.h"
#include "scene_run.h"

enum { MOST_V = 400 };

typedef struct Pair {
    Run body, joint;
} Pair;

static void pair_open(Pair *pair, const char *path, const char *const *sets)
{
    const char *all[12];
    int n = 0;
    for (; sets[n] != NULL; n++)
        all[n] = sets[n];
    all[n + 1] = NULL;
    all[n] = "simulation/coordinates=body";
    run_open_changed(&pair->body, path, all);
    all[n] = "simulation/coordinates=joint";
    run_open_changed(&pair->joint, path, all);
}

static void pair_close(Pair *pair)
{
    run_close(&pair->body);
    run_close(&pair->joint);
}

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* Forces are unique where no loop is redundant and contacts do not share them in more than one way. */
typedef enum Unique { ALL, VELOCITIES } Unique;

static const struct {
    const char *path;
    Unique unique;
} cases[] = {
    {"examples/mechanisms/andrews.json", ALL},
    {"examples/mechanisms/bricard.json", VELOCITIES},
    {"examples/mechanisms/cardan.json", VELOCITIES},
    {"examples/mechanisms/crane.json", ALL},
    {"examples/mechanisms/door.json", ALL},
    {"examples/mechanisms/four_bar.json", VELOCITIES},
    {"examples/mechanisms/gear_train.json", ALL},
    {"examples/mechanisms/governor.json", ALL},
    {"examples/mechanisms/joystick.json", ALL},
    {"examples/mechanisms/motor_limit.json", ALL},
    {"examples/mechanisms/screw_press.json", VELOCITIES},
    {"examples/mechanisms/shoulder.json", ALL},
    {"examples/mechanisms/slider_crank.json", VELOCITIES},
    {"examples/robots/arm.urdf", ALL},
    {"examples/robots/hopper.xml", VELOCITIES},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

/* One step of each from the state of the first: velocities and reactions, relative to the largest one and to
 * least_force at least. */
static void compare_step(Pair *pair, Unique unique, double tolerance, double least_force)
{
    double q[7 * MOST_V], v[MOST_V], v_body[MOST_V], v_joint[MOST_V];
    const int n_v = st_system_n_v(pair->body.sys);
    const double t = st_system_time(pair->body.sys);
    assert_true(n_v <= MOST_V);
    st_system_state(pair->body.sys, q, v);
    check_ok(st_system_set_state(pair->body.sys, t, q, v, &pair->body.err), pair->body.err);
    check_ok(st_system_set_state(pair->joint.sys, t, q, v, &pair->joint.err), pair->joint.err);
    run_step(&pair->body);
    run_step(&pair->joint);
    st_system_state(pair->body.sys, NULL, v_body);
    st_system_state(pair->joint.sys, NULL, v_joint);
    const double size = fmax(largest(v_body, n_v), pair->body.def.h * 9.81);
    for (int i = 0; i < n_v; i++)
        check_close(v_joint[i], v_body[i], tolerance * size);
    double force = least_force;
    for (int round = 0; unique == ALL && round < 2; round++) /* the largest, then each against it */
        for (int j = 1; j <= st_scene_joint_count(pair->body.scene); j++) {
            st_JointReport a, b;
            assert_int_equal(st_system_joint(pair->body.sys, (st_JointId){j}, ST_FRAME_WORLD, &a), ST_OK);
            assert_int_equal(st_system_joint(pair->joint.sys, (st_JointId){j}, ST_FRAME_WORLD, &b), ST_OK);
            if (round == 0) force = fmax(force, norm(a.force) + norm(a.torque) + fabs(a.motor));
            if (round == 1) check_below(norm(sub(a.force, b.force)), 10 * tolerance * force);
            if (round == 1) check_below(norm(sub(a.torque, b.torque)), 10 * tolerance * force);
            if (round == 1) check_close(a.motor, b.motor, 10 * tolerance * force);
            if (round == 1) check_close(a.error, b.error, 1e-12);
        }
}

/* Steps a scene, a text with %s for its coordinates, in both. */
static void compare_velocities(const char *text, int steps)
{
    char of_body[4096], of_joint[4096];
    Pair pair;
    assert_true(strlen(text) + 10 < sizeof of_body);
    snprintf(of_body, sizeof of_body, text, "body");
    snprintf(of_joint, sizeof of_joint, text, "joint");
    run_parse(&pair.body, of_body);
    run_parse(&pair.joint, of_joint);
    for (int step = 0; step < steps; step++)
        compare_step(&pair, VELOCITIES, 1e-8, 1e-30);
    pair_close(&pair);
}

static void compare(const char *const *sets, int steps, double tolerance)
{
    for (int c = 0; c < N_CASES; c++) {
        Pair pair;
        pair_open(&pair, cases[c].path, sets);
        for (int k = 0; k < steps; k++)
            compare_step(&pair, cases[c].unique, tolerance, 1e-30);
        pair_close(&pair);
    }
}

static void test_default(void **unused)
{
    (void)unused;
    static const char *const sets[] = {"simulation/preset=default", "simulation/tolerance=1e-12", NULL};
    compare(sets, 30, 1e-8);
}

static void test_integrators(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"simulation/integrator=euler", "simulation/integrator=trapezoid",
                                              "simulation/integrator=sdirk2", "simulation/integrator=bdf2"};
    for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
        const char *const sets[] = {"simulation/preset=default", "simulation/tolerance=1e-12", integrators[k], NULL};
        compare(sets, 5, 1e-8);
    }
}

static void test_drift(void **unused)
{
    (void)unused;
    static const char *const drifts[] = {"simulation/drift=velocity", "simulation/drift=projection"};
    for (size_t k = 0; k < sizeof drifts / sizeof drifts[0]; k++) {
        const char *const sets[] = {"simulation/preset=default", "simulation/tolerance=1e-12", drifts[k], NULL};
        compare(sets, 5, 1e-8);
    }
}

static void test_laws(void **unused)
{
    (void)unused;
    static const char *const laws[] = {"simulation/law=cone", "simulation/law=pyramid", "simulation/law=box"};
    for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++) {
        const char *const sets[] = {"simulation/preset=default", "simulation/tolerance=1e-12", laws[k], NULL};
        compare(sets, 3, 1e-8);
    }
}

/* Robots on a floor over many steps: both walk the same way until rounding grows. Feet do not sink, joints stay closed.
 */
static void test_robots(void **unused)
{
    (void)unused;
    static const char *const paths[] = {"examples/robots/dog-stands.json", "examples/robots/ragdoll.xml",
                                        "examples/toys/walker.json"};
    static const char *const sets[] = {NULL};
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        Pair pair;
        pair_open(&pair, paths[k], sets);
        for (int step = 0; step < 150 && !run_finished(&pair.body); step++) {
            run_step(&pair.body);
            run_step(&pair.joint);
            check_below(pair.joint.info.penetration, fmax(2 * pair.body.info.penetration, 1e-8));
            check_below(pair.joint.info.joint_error, fmax(2 * pair.body.info.joint_error, 1e-8));
        }
        for (int b = 1; b <= st_scene_body_count(pair.body.scene); b++) {
            st_Pose of_body, of_joint;
            assert_int_equal(st_system_pose(pair.body.sys, (st_BodyId){b}, &of_body), ST_OK);
            assert_int_equal(st_system_pose(pair.joint.sys, (st_BodyId){b}, &of_joint), ST_OK);
            check_below(norm(sub(of_body.p, of_joint.p)), 1e-5);
        }
        pair_close(&pair);
    }
}

/* Sleep, save and restore, clone: as in body coordinates, bit for bit with itself. */
static void test_restart(void **unused)
{
    (void)unused;
    Run run, other;
    run_open(&run, "examples/robots/dog-stands.json", "simulation/coordinates=joint", "simulation/sleep=true",
             "simulation/end=4", NULL);
    run_open(&other, "examples/robots/dog-stands.json", "simulation/coordinates=joint", "simulation/sleep=true",
             "simulation/end=4", NULL);
    for (int k = 0; k < 200; k++)
        run_step(&run);
    const size_t size = st_system_save(run.sys, NULL, 0);
    void *bytes = malloc(size);
    assert_int_equal(st_system_save(run.sys, bytes, size), size);
    check_ok(st_system_restore(other.sys, bytes, size, &other.err), other.err);
    st_System *clone;
    check_ok(st_system_clone(run.sys, &clone, &run.err), run.err);
    for (int k = 0; k < 50; k++) {
        run_step(&run);
        run_step(&other);
        check_ok(st_system_step(clone, run.def.h, NULL, &run.err), run.err);
    }
    assert_int_equal(st_system_hash(run.sys), st_system_hash(other.sys));
    assert_int_equal(st_system_hash(run.sys), st_system_hash(clone));
    st_system_destroy(clone);
    free(bytes);
    int asleep = 0;
    while (!run_finished(&run)) {
        run_step(&run);
        asleep = run.info.asleep > asleep ? run.info.asleep : asleep;
    }
    assert_int_equal(asleep, 26); /* both dogs, whole */
    run_close(&run);
    run_close(&other);
}

/* auto is joint, and body where effort is thorough, as under the presets named after papers. */
static void test_auto(void **unused)
{
    (void)unused;
    static const struct {
        const char *preset, *same;
    } cases_of_auto[] = {{"simulation/preset=default", "simulation/coordinates=joint"},
                         {"simulation/preset=exact", "simulation/coordinates=joint"},
                         {"simulation/preset=accurate", "simulation/coordinates=body"},
                         {"simulation/preset=anitescu-potra-2002", "simulation/coordinates=body"}};
    for (size_t k = 0; k < sizeof cases_of_auto / sizeof cases_of_auto[0]; k++) {
        Run run, other;
        run_open(&run, "examples/mechanisms/four_bar.json", cases_of_auto[k].preset, NULL);
        run_open(&other, "examples/mechanisms/four_bar.json", cases_of_auto[k].preset, cases_of_auto[k].same, NULL);
        for (int step = 0; step < 20; step++) {
            run_step(&run);
            run_step(&other);
        }
        assert_int_equal(st_system_hash(run.sys), st_system_hash(other.sys));
        run_close(&run);
        run_close(&other);
    }
}

/* Ball joints, hinges and a universal joint in one free tree that spins: links of balls and hinges share a frame, the
 * others do not. */
static void test_balls(void **unused)
{
    (void)unused;
    static const char *const integrators[] = {"implicit", "trapezoid", "sdirk2"};
    static const char text[] =
        "{\"simulation\": {\"integrator\": \"%s\", \"coordinates\": \"%s\", \"h\": 0.002, \"end\": 1, "
        "\"tolerance\": 1e-12},"
        "\"bodies\": ["
        "{\"name\": \"trunk\", \"mass\": 3, \"inertia\": [0.03, 0.05, 0.04], \"position\": [0, 0, 1], "
        "\"angular_velocity\": [1, 2, "
        "-3]},"
        "{\"name\": \"a\", \"mass\": 1, \"inertia\": [0.01, 0.012, 0.004], \"position\": [0.3, 0, 1],"
        " \"orientation\": [0.8, 0.2, 0.4, 0.4]},"
        "{\"name\": \"b\", \"mass\": 0.5, \"inertia\": [0.004, 0.003, 0.002], \"position\": [0.6, 0, 1]},"
        "{\"name\": \"c\", \"mass\": 0.2, \"inertia\": [0.001, 0.002, 0.002], \"position\": [0.8, 0.1, 1],"
        " \"orientation\": [0.6, 0, 0.8, 0]},"
        "{\"name\": \"d\", \"mass\": 1, \"inertia\": [0.01, 0.012, 0.004], \"position\": [0, 0.3, 1]},"
        "{\"name\": \"e\", \"mass\": 0.4, \"inertia\": [0.003, 0.004, 0.002], \"position\": [0, 0.6, 1]}],"
        "\"joints\": ["
        "{\"name\": \"ta\", \"type\": \"ball\", \"a\": \"trunk\", \"b\": \"a\", \"point\": [0.15, 0, 1]},"
        "{\"name\": \"ab\", \"type\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"point\": [0.45, 0, 1], \"axis\": [0, "
        "1, 0],"
        " \"stiffness\": 2, \"damping\": 0.1, \"armature\": 0.01},"
        "{\"name\": \"bc\", \"type\": \"ball\", \"a\": \"b\", \"b\": \"c\", \"point\": [0.7, 0, 1]},"
        "{\"name\": \"td\", \"type\": \"ball\", \"a\": \"d\", \"b\": \"trunk\", \"point\": [0, 0.15, 1]},"
        "{\"name\": \"de\", \"type\": \"universal\", \"a\": \"d\", \"b\": \"e\", \"point\": [0, 0.45, 1],"
        " \"axis\": [1, 0, 0], \"axis_b\": [0, 0, 1]}]}";
    for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
        char of_body[sizeof text + 40], of_joint[sizeof text + 40];
        Pair pair;
        snprintf(of_body, sizeof of_body, text, integrators[k], "body");
        snprintf(of_joint, sizeof of_joint, text, integrators[k], "joint");
        run_parse(&pair.body, of_body);
        run_parse(&pair.joint, of_joint);
        for (int step = 0; step < 60; step++)
            compare_step(&pair, ALL, 1e-8, 1e-30);
        pair_close(&pair);
    }
}

/* A loop of four bars that fly, with a rotor at every hinge: that of the hinge which closes the loop couples two limbs.
 */
static void test_rotor_of_a_loop(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"simulation\": {\"coordinates\": \"%s\", \"h\": 0.002, \"tolerance\": 1e-12}, \"bodies\": ["
        "{\"name\": \"base\", \"mass\": 1, \"inertia\": [0.1, 0.12, 0.1], \"position\": [0.5, 0, 1]},"
        "{\"name\": \"crank\", \"mass\": 1, \"inertia\": [0.1, 0.12, 0.1], \"position\": [0, 0, 1.25]},"
        "{\"name\": \"rocker\", \"mass\": 1, \"inertia\": [0.1, 0.12, 0.1], \"position\": [1, 0, 1.25]},"
        "{\"name\": \"rod\", \"mass\": 1, \"inertia\": [0.1, 0.12, 0.1], \"position\": [0.5, 0, 1.5],"
        " \"velocity\": [1, 0, 0]}], \"joints\": ["
        "{\"type\": \"revolute\", \"a\": \"base\", \"b\": \"crank\", \"point\": [0, 0, 1], \"axis\": [0, 1, 0],"
        " \"armature\": 0.05},"
        "{\"type\": \"revolute\", \"a\": \"base\", \"b\": \"rocker\", \"point\": [1, 0, 1], \"axis\": [0, 1, 0],"
        " \"armature\": 0.07},"
        "{\"type\": \"revolute\", \"a\": \"crank\", \"b\": \"rod\", \"point\": [0, 0, 1.5], \"axis\": [0, 1, 0],"
        " \"armature\": 0.03},"
        "{\"type\": \"revolute\", \"a\": \"rocker\", \"b\": \"rod\", \"point\": [1, 0, 1.5], \"axis\": [0, 1, 0],"
        " \"armature\": 0.2}]}";
    compare_velocities(text, 40); /* the loop is planar: its reactions are not unique */
}

/* Two links form a loop with a crank, so that their hinges cannot turn: friction there has any value. Rounding leaves
 * 1e-16 of the mobility of its row, which once was the scale of the residual: an arm on the same crank swung without
 * the friction of its own hinge in two steps of five. */
static void test_held_friction(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"simulation\": {\"coordinates\": \"%s\", \"h\": 0.002, \"end\": 1, \"tolerance\": 1e-12}, \"bodies\": ["
        "{\"name\": \"crank\", \"mass\": 2, \"inertia\": [0.02, 0.026, 0.016], \"position\": [0.11, -0.07, 0.05]},"
        "{\"name\": \"side\", \"mass\": 1.5, \"inertia\": [0.015, 0.0195, 0.012], \"position\": [-0.12, 0.16, 0.1]},"
        "{\"name\": \"brace\", \"mass\": 0.7, \"inertia\": [0.007, 0.0091, 0.0056], \"position\": [0.05, 0.21, -0.13]},"
        "{\"name\": \"arm\", \"mass\": 0.9, \"inertia\": [0.009, 0.0117, 0.0072], \"position\": [0.3, -0.2, 0.14]}],"
        "\"joints\": ["
        "{\"name\": \"base\", \"type\": \"revolute\", \"a\": \"ground\", \"b\": \"crank\", \"point\": [0, 0, 0],"
        " \"axis\": [0.8, 0.3, -0.5]},"
        "{\"name\": \"held\", \"type\": \"revolute\", \"a\": \"crank\", \"b\": \"side\", \"point\": [-0.005, 0.045, "
        "0.075],"
        " \"axis\": [0.2, 0.9, 0.4], \"friction\": 0.1},"
        "{\"name\": \"idle\", \"type\": \"revolute\", \"a\": \"side\", \"b\": \"brace\", \"point\": [-0.035, 0.185, "
        "-0.015],"
        " \"axis\": [-0.7, 0.5, 0.3]},"
        "{\"name\": \"loop\", \"type\": \"ball\", \"a\": \"brace\", \"b\": \"crank\", \"point\": [0.08, 0.07, -0.04]},"
        "{\"name\": \"swing\", \"type\": \"revolute\", \"a\": \"crank\", \"b\": \"arm\", \"point\": [0.205, -0.135, "
        "0.095],"
        " \"axis\": [0.5, 0.6, 0.1], \"friction\": 0.1}]}";
    compare_velocities(text, 60);
}

/* ---- trees at random ------------------------------------------------------------------------------ */

static double draw(uint32_t *seed, double from, double to)
{
    *seed = *seed * 1664525u + 1013904223u;
    return from + (to - from) * (*seed >> 8) / 16777216.0;
}

/* A tree of n bodies as text: every type of joint that has coordinates, masses over a factor of 1e4, some joints with a
 * spring, a damper and a rotor; limit: some with limits and servos, which are rows beside the tree.  */
static void write_tree(char *to, size_t size, uint32_t seed, int n, bool chain, bool floats, bool limit,
                       const char *coordinates)
{
    static const char *const types[] = {"revolute", "ball",        "universal", "prismatic",
                                        "screw",    "cylindrical", "planar",    "revolute"};
    size_t at = 0;
    double x[100], y[100], z[100];
#define WRITE(...) at += (size_t)snprintf(to + at, at < size ? size - at : 0, __VA_ARGS__)
    WRITE("{\"simulation\": {\"coordinates\": \"%s\", \"h\": 0.002, \"end\": 1, \"tolerance\": 1e-12}, \"bodies\": [",
          coordinates);
    uint32_t own = seed;
    int parent[100];
    for (int k = 0; k < n; k++) {
        parent[k] = k == 0 ? -1 : chain ? k - 1 : (int)draw(&own, 0, k);
        for (int i = 0; i < 3; i++)
            (i == 0   ? x
             : i == 1 ? y
                      : z)[k] = (parent[k] < 0 ? 0
                                               : (i == 0   ? x
                                                  : i == 1 ? y
                                                           : z)[parent[k]]) +
                                draw(&own, -0.2, 0.3);
        const double m = pow(10, draw(&own, -2, 2)), I = m * draw(&own, 0.002, 0.02);
        WRITE("%s{\"name\": \"b%d\", \"mass\": %.17g, \"inertia\": [%.17g, %.17g, %.17g], \"position\": [%.17g, %.17g, "
              "%.17g], \"orientation\": {\"axis\": [%.17g, 1, %.17g], \"angle\": %.17g}}",
              k > 0 ? ", " : "", k, m, I, 1.2 * I, 0.9 * I, x[k], y[k], z[k], draw(&own, -1, 1), draw(&own, -1, 1),
              draw(&own, -3, 3));
    }
    WRITE("], \"joints\": [");
    for (int k = floats ? 1 : 0, first = 1; k < n; k++, first = 0) {
        const char *type = types[(int)draw(&own, 0, 7.999)];
        char name[20] = "ground";
        const double a[3] = {draw(&own, -1, 1), draw(&own, -1, 1), 1.1};
        if (parent[k] >= 0) snprintf(name, sizeof name, "b%d", parent[k]);
        WRITE("%s{\"name\": \"j%d\", \"type\": \"%s\", \"a\": \"%s\", \"b\": \"b%d\", \"point\": [%.17g, %.17g, %.17g]",
              first ? "" : ", ", k, type, name, k, x[k] + 0.05, y[k], z[k] - 0.1);
        if (strcmp(type, "universal") == 0)
            WRITE(", \"axis\": [0.6, 0.8, 0], \"axis_b\": [-0.8, 0.6, 0]");
        else if (strcmp(type, "ball") != 0)
            WRITE(", \"axis\": [%.17g, %.17g, %.17g]", a[0], a[1], a[2]);
        if (strcmp(type, "screw") == 0) WRITE(", \"pitch\": 0.1");
        if (strcmp(type, "revolute") == 0 && draw(&own, 0, 1) < 0.5)
            WRITE(", \"stiffness\": 5, \"damping\": 0.2, \"armature\": 0.01");
        else if (limit && strcmp(type, "revolute") == 0)
            WRITE(", \"lower\": -0.001, \"upper\": 0.001, \"friction\": 0.1");
        WRITE("}");
    }
    WRITE("]}");
#undef WRITE
    assert_true(at < size);
}

/* Trees of every size: those of more than 64 velocities are solved in joint coordinates as long as nothing but the tree
 * holds them, in body coordinates otherwise. Both ways have the same velocities and reactions.       */
static void test_random_trees(void **unused)
{
    (void)unused;
    enum { TEXT = 60000 };
    char *text = malloc(TEXT);
    assert_non_null(text);
    for (uint32_t seed = 1; seed <= 24; seed++) {
        Pair pair;
        const int n = seed % 4 == 0 ? 45 : 2 + (int)(seed % 9);
        for (int k = 0; k < 2; k++) {
            write_tree(text, TEXT, seed, n, seed % 8 == 0, seed % 3 == 0, seed % 5 == 0, k == 0 ? "body" : "joint");
            run_parse(k == 0 ? &pair.body : &pair.joint, text);
        }
        for (int step = 0; step < 12; step++)
            compare_step(&pair, seed % 5 == 0 ? VELOCITIES : ALL, 1e-8, 0.1); /* the weight of the lightest body */
        pair_close(&pair);
    }
    free(text);
}

/* Drift `mean` solves open trees without contacts in joint coordinates, and has the steps of body coordinates. */
static void test_mean_trees(void **unused)
{
    (void)unused;
    static const char *const scenes[] = {"examples/mechanisms/whip.json", "examples/mechanisms/shoulder.json",
                                         "examples/robots/arm.urdf"};
    static const char *const integrators[] = {"simulation/integrator=trapezoid", "simulation/integrator=implicit"};
    for (size_t s = 0; s < sizeof scenes / sizeof scenes[0]; s++)
        for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
            const char *sets[] = {"simulation/drift=mean", "simulation/tolerance=1e-12", integrators[k],
                                  "simulation/coordinates=body", NULL};
            Pair pair;
            run_open_changed(&pair.body, scenes[s], sets);
            sets[3] = "simulation/coordinates=auto";
            run_open_changed(&pair.joint, scenes[s], sets);
            for (int step = 0; step < 20; step++)
                compare_step(&pair, ALL, 1e-8, 1e-30);
            pair_close(&pair);
        }
}

/* The tension of a long chain turns its upper links faster than rows at the start of a step can follow: 400 links of
 * 0.1 m and 0.1 kg at h = 1/240 opened by 0.1 m in a second. A pendulum with nearly no inertia of its own is resolved
 * and keeps its energy. */
static void test_tension(void **unused)
{
    (void)unused;
    static const struct {
        int links, steps;
        double length, inertia, angle, open, lost; /* the energy that may be lost, relative to m g length */
    } chains[] = {{400, 240, 0.1, 8.6e-5, 0.17, 1e-6, 4}, {2, 2400, 1, 1e-6, 1.5708, 2e-3, 0.03}};
    for (size_t k = 0; k < sizeof chains / sizeof chains[0]; k++)
        for (int body = 0; body < 2; body++) {
            const double s = chains[k].length, x = s * sin(chains[k].angle), z = -s * cos(chains[k].angle);
            const bool bobs = chains[k].links == 2; /* masses at the ends of bars; else bars */
            st_Error err = {0};
            st_Scene *scene;
            st_System *sys;
            st_BodyId last = {0};
            check_ok(st_scene_create(&scene, &err), err);
            for (int i = 0; i < chains[k].links; i++) {
                const double at = bobs ? i + 1 : i + 0.5;
                st_BodyDef def = st_body_def();
                def.pose.p = vec3(at * x, 0, at * z);
                def.mass = bobs ? 1 : 0.1;
                def.inertia = (st_Mat3){{chains[k].inertia, 0, 0, 0, chains[k].inertia, 0, 0, 0, chains[k].inertia}};
                st_BodyId id;
                check_ok(st_scene_add_body(scene, &def, &id, &err), err);
                st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
                joint.a = last, joint.b = id;
                joint.point = vec3(i * x, 0, i * z);
                joint.axis = vec3(0, 1, 0);
                check_ok(st_scene_add_joint(scene, &joint, NULL, &err), err);
                last = id;
            }
            st_SystemDef def = st_system_def();
            def.h = 1.0 / 240;
            def.coordinates = body ? ST_COORDINATES_BODY : ST_COORDINATES_AUTO;
            check_ok(st_system_create(scene, &def, &sys, &err), err);
            double open = 0, kinetic, potential;
            check_ok(st_system_energy(sys, &kinetic, &potential, &err), err);
            for (int step = 0; step < chains[k].steps; step++) {
                st_StepInfo info = st_step_info();
                check_ok(st_system_step(sys, def.h, &info, &err), err);
                open = fmax(open, info.joint_error);
            }
            const double before = kinetic + potential;
            check_ok(st_system_energy(sys, &kinetic, &potential, &err), err);
            const double lost = (before - kinetic - potential) / ((bobs ? 1 : 0.1) * 9.81 * s);
            if (!(open < chains[k].open) || !(fabs(lost) < chains[k].lost))
                fail_msg("%d links: open by %g m, energy %g", chains[k].links, open, lost);
            st_system_destroy(sys);
            st_scene_destroy(scene);
        }
}

static void test_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *set, *says;
    } bad[] = {{"simulation/contact=regularized", "contact \"regularized\""},
               {"simulation/forces=least_norm", "forces \"least_norm\""},
               {"simulation/drift=mean", "drift \"mean\""}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const char *const sets[] = {"simulation/preset=default", "simulation/coordinates=joint", bad[k].set};
        st_Scene *scene;
        st_SystemDef def;
        st_System *sys = NULL;
        st_Error err = {0};
        check_ok(st_scene_read("examples/mechanisms/door.json", sets, 3, &scene, &def, &err), err);
        assert_int_equal(st_system_create(scene, &def, &sys, &err), ST_ERR_UNSUPPORTED);
        if (strstr(err.message, "coordinates \"joint\"") == NULL || strstr(err.message, bad[k].says) == NULL)
            fail_msg("%s", err.message);
        st_scene_destroy(scene);
    }
}

/* A robot that lies with many contacts per link has a singular W: its contacts can share their loads in many ways. A
 * step of Newton's method without regularisation then exchanged them at random, so that each step of the simulation
 * took ten of them although nothing moved: 5.5 on average with the gravity 0.6 m/s^2 along x, and 10 of 500 steps were
 * not solved to their tolerance. It lies otherwise with each gravity; one to three are needed. */
static void test_lies(void **unused)
{
    (void)unused;
    static const char *const gravities[] = {"0.4", "0.5", "0.55", "0.6"};
    for (size_t k = 0; k < sizeof gravities / sizeof gravities[0]; k++) {
        char gravity[80];
        snprintf(gravity, sizeof gravity, "simulation/gravity=[%s, 0, -9.81]", gravities[k]);
        const char *sets[] = {"robots/0/motor={\"type\": \"none\"}", gravity};
        st_Error err = {0};
        st_Scene *scene;
        st_System *sys;
        st_SystemDef def;
        check_ok(st_scene_read("bench/robots/humanoid.xml", sets, 2, &scene, &def, &err), err);
        check_ok(st_system_create(scene, &def, &sys, &err), err);
        double iterations = 0;
        int missed = 0;
        for (int step = 0; step < 2500; step++) {
            st_StepInfo info = st_step_info();
            check_ok(st_system_step(sys, def.h, &info, &err), err);
            if (step < 2000) continue;
            iterations += info.solve.iterations;
            missed += !info.solve.converged;
        }
        if (!(iterations / 500 < 4) || missed > 0)
            fail_msg("gravity %s: %g iterations per step, %d steps missed", gravities[k], iterations / 500, missed);
        st_system_destroy(sys);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default),       cmocka_unit_test(test_integrators),
        cmocka_unit_test(test_drift),         cmocka_unit_test(test_laws),
        cmocka_unit_test(test_robots),        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_auto),          cmocka_unit_test(test_refused),
        cmocka_unit_test(test_balls),         cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_mean_trees),    cmocka_unit_test(test_tension),
        cmocka_unit_test(test_lies),          cmocka_unit_test(test_rotor_of_a_loop),
        cmocka_unit_test(test_held_friction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
