/* Contact models beside the plain rigid one: the cone law's artefact, rolling friction, regularized contacts and
 * their rigid limit. Numbers from closed forms and from tests/reference/cone. */
#include "check.h"
#include "math/quat.h"

#include <stiction/io.h>
#include <string.h>

#define G 9.81

typedef struct Bench {
    st_Scene *scene;
    st_SystemDef def;
    st_System *sys;
    st_Error err;
} Bench;

static void load(Bench *b, const char *example, const char *const *sets, int n_sets)
{
    char path[512];
    memset(b, 0, sizeof *b);
    snprintf(path, sizeof path, "examples/%s.json", example);
    check_ok(st_scene_read(path, sets, n_sets, &b->scene, &b->def, &b->err), b->err);
    check_ok(st_system_create(b->scene, &b->def, &b->sys, &b->err), b->err);
}

static void end(Bench *b)
{
    st_system_destroy(b->sys);
    st_scene_destroy(b->scene);
}

static void step(Bench *b)
{
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(b->sys, b->def.h, &info, &b->err), b->err);
    assert_true(info.solve.converged);
}

typedef struct Motion {
    st_Pose pose;
    st_Vec3 v, w;
} Motion;

static Motion motion(const Bench *b, const char *body)
{
    Motion m;
    st_BodyId id = st_scene_find_body(b->scene, body);
    assert_int_equal(st_system_pose(b->sys, id, &m.pose), ST_OK);
    assert_int_equal(st_system_velocity(b->sys, id, &m.v, &m.w), ST_OK);
    return m;
}

/* ---- the cone law ------------------------------------------------------------------------------ */

/* Slip velocity at the lane; the ball turns about y only, where body and world axes agree. */
static double slip(const Motion *m)
{
    return m->v.x - 0.1 * m->w.y;
}

static double first_rolling_step(Bench *b, double *ride_error, double *height)
{
    double rolls = -1;
    *ride_error = *height = 0;
    for (int k = 1; k <= 500; k++) {
        step(b);
        Motion m = motion(b, "ball");
        double gap = m.pose.p.z - 0.1, ride = 0.3 * b->def.h * slip(&m);
        if (rolls < 0 && fabs(slip(&m)) < 1e-9) rolls = k * b->def.h;
        if (k > 100 && k < 380) {
            *ride_error = fmax(*ride_error, fabs(gap - ride) / ride);
            *height = fmax(*height, fabs(gap));
        }
        if (k == 100 && b->def.law == ST_LAW_CONE) check_close(gap, 8.919584e-4, 5e-11); /* printed digits */
    }
    return rolls;
}

/* 5/7 v0 from t = 2 v0/(7 mu g) on, for every law, by momentum and spin. The cone law rides at mu h v_T. */
static void bowling_ball(void **state)
{
    (void)state;
    const char *laws[] = {"simulation/law=cone", "simulation/law=coulomb"};
    for (int k = 0; k < 2; k++) {
        Bench b;
        double ride_error, height;
        load(&b, "negrut-2017/bowling", &laws[k], 1);
        double rolls = first_rolling_step(&b, &ride_error, &height), exact = 2 * 4.0 / (7 * 0.3 * G);
        assert_true(rolls >= exact && rolls < exact + b.def.h * (1 + 1e-9));
        check_close(motion(&b, "ball").v.x, 5.0 / 7 * 4, 1e-10);
        if (k == 0)
            check_below(ride_error, 1e-9);
        else
            check_below(height, 1e-10);
        end(&b);
    }
}

/* The scene with gravity along a slope of tangent `tan`. */
static void load_incline(Bench *b, double tan, const char *law, const char *velocity)
{
    char gravity[128];
    double c = 1 / sqrt(1 + tan * tan), s = tan * c;
    snprintf(gravity, sizeof gravity, "simulation/gravity=[%.17g,0,%.17g]", G * s, -G * c);
    const char *sets[] = {gravity, law, velocity};
    load(b, "negrut-2017/incline", sets, 3);
}

/* Sticks below tan = mu with no motion; slides with g (sin - mu cos) above. An hour takes 360000 steps: the full
 * tests wait for it, the plain ones a minute. */
static void box_on_incline(void **state)
{
    (void)state;
    const bool full = getenv("ST_TEST_FULL") != NULL;
    int minute = full ? 360000 : 6000;
    const double slopes[] = {0.3, 0.4, 0.49, 0.499, 0.501, 0.51, 0.6, 0.7, 0.8};
    for (int k = 0; k < 9; k++) {
        Bench b;
        double tan = slopes[k], c = 1 / sqrt(1 + tan * tan), s = tan * c;
        load_incline(&b, tan, "simulation/law=cone", "bodies/box/velocity=[0,0,0]");
        if (tan < 0.5) {
            for (int n = 0; n < minute; n++)
                step(&b);
            /* residual 1e-12 of the velocities g h = 0.1 m/s, over the time */
            if (full) print_message("tan %g: moved %.2g m in an hour\n", tan, motion(&b, "box").pose.p.x);
            check_close(motion(&b, "box").pose.p.x, 0, 1e-13 * b.def.h * minute);
        } else {
            for (int n = 0; n < 100; n++)
                step(&b);
            double v = motion(&b, "box").v.x;
            for (int n = 0; n < 100; n++)
                step(&b);
            check_close((motion(&b, "box").v.x - v) / (100 * b.def.h), G * (s - 0.5 * c), 1e-6);
        }
        end(&b);
    }
}

/* tan = mu exactly: friction balances the weight at its limit, so that nothing accelerates the box, neither at rest nor
 * while it slides. The solver's 1e-12 decides which side of the limit a step is on; up to 1.2e-12 m/s a step were seen,
 * mostly 1e-14. */
static void box_on_the_border(void **state)
{
    (void)state;
    const char *laws[] = {"simulation/law=cone", "simulation/law=coulomb"};
    for (int k = 0; k < 2; k++) {
        Bench b;
        load_incline(&b, 0.5, laws[k], "bodies/box/velocity=[0,0,0]");
        for (int n = 0; n < 6000; n++)
            step(&b);
        check_close(motion(&b, "box").v.x, 0, 6000 * 1e-11);
        check_close(motion(&b, "box").pose.p.x, 0, 6000 * 1e-11 * 60);
        end(&b);
    }
    Bench b;
    load_incline(&b, 0.5, laws[1], "bodies/box/velocity=[1,0,0]");
    for (int n = 0; n < 1000; n++)
        step(&b);
    check_close(motion(&b, "box").v.x, 1, 1000 * 1e-11);
    end(&b);
}

/* Five cubes: nothing drifts, and every interface carries the weight above it. */
static void stack_stands(void **state)
{
    (void)state;
    Bench b;
    double start[5], above[6] = {0};
    load(&b, "negrut-2017/stack", NULL, 0);
    for (int k = 4; k >= 0; k--) {
        const char name[] = {'b', 'o', 'x', (char)('1' + k), '\0'};
        start[k] = motion(&b, name).pose.p.z;
        above[k] = above[k + 1] + 1000 * pow(0.2 * pow(0.95, k), 3) * G;
    }
    for (int k = 0; k < 1000; k++)
        step(&b);
    double carried[5] = {0};
    for (int c = 0; c < st_system_contact_count(b.sys); c++) {
        st_ContactReport r;
        st_system_contact(b.sys, c, &r);
        carried[(r.a.index1 > r.b.index1 ? r.a.index1 : r.b.index1) - 1] += r.impulse[0] / b.def.h;
    }
    for (int k = 0; k < 5; k++) {
        const char name[] = {'b', 'o', 'x', (char)('1' + k), '\0'};
        st_Vec3 p = motion(&b, name).pose.p;
        check_below(hypot(p.x, p.y), 1e-8);
        check_close(p.z, start[k], 1e-8);
        check_close(carried[k], above[k], 1e-6 * above[k]);
    }
    end(&b);
}

/* ---- rolling friction -------------------------------------------------------------------------- */

static const char rolling_scene[] =
    "{ \"simulation\": { \"preset\": \"%s\", \"h\": 0.001, \"end\": 1, \"tolerance\": 1e-12 },"
    "  \"ground\": [ { \"type\": \"plane\", \"friction\": 0.6 } ],"
    "  \"bodies\": [ { \"name\": \"ball\", \"mass\": 2, \"inertia\": 0.008, \"position\": [0, 0, 0.1], %s"
    "    \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 10, 0],"
    "    \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1, \"friction\": 0.6, \"rolling_friction\": 0.002 } ] } ] "
    "}";

static void parse_rolling(Bench *b, const char *preset, const char *locks)
{
    char text[1024];
    memset(b, 0, sizeof *b);
    snprintf(text, sizeof text, rolling_scene, preset, locks);
    check_ok(st_scene_parse(text, strlen(text), "rolling", NULL, 0, &b->scene, &b->def, &b->err), b->err);
}

/* A rolling ball under a torque mu_r N slows at (5/7) (mu_r/R) g and stops; then it stays. In space and in the
 * plane. The cone law differs: it throws bodies that roll with resistance up a little, mu_r |w|. */
static void rolling_friction_stops_a_ball(void **state)
{
    (void)state;
    const char *locks[] = {"", "\"locks\": \"planar-xz\","};
    for (int k = 0; k < 2; k++) {
        Bench b;
        parse_rolling(&b, "default", locks[k]);
        check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
        double a = 5.0 / 7 * 0.002 / 0.1 * G;
        for (int n = 0; n < 1000; n++)
            step(&b);
        check_close(motion(&b, "ball").v.x, 1 - a, 1e-9); /* constant deceleration: exact but for the solver */
        check_close(motion(&b, "ball").w.y, 10 * (1 - a), 1e-8);
        for (int n = 0; n < (int)(1e3 / a); n++)
            step(&b);
        Motion m = motion(&b, "ball");
        check_close(m.v.x, 0, 1e-10);
        check_close(m.pose.p.x, 1 / (2 * a), 1e-3); /* h v0/2 = 5e-4 of a first-order scheme */
        end(&b);
    }
}

static void rolling_friction_needs_a_law(void **state)
{
    (void)state;
    Bench b;
    parse_rolling(&b, "anitescu-potra-1997", "");
    assert_int_equal(st_system_create(b.scene, &b.def, &b.sys, &b.err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(b.err.message, "pyramid"));
    end(&b);
}

/* ---- regularized ------------------------------------------------------------------------------- */

/* Normal forces of the feet [N] after n steps. */
static void feet(Bench *b, int n, double force[4][3])
{
    for (int k = 0; k < n; k++)
        step(b);
    assert_int_equal(st_system_contact_count(b->sys), 4);
    for (int c = 0; c < 4; c++) {
        st_ContactReport report;
        assert_int_equal(st_system_contact(b->sys, c, &report), ST_OK);
        st_Vec3 t1 = orthogonal(report.normal), t2 = cross(report.normal, t1);
        const double *r = report.impulse;
        force[c][0] = r[0] / b->def.h;
        force[c][1] = (r[1] * t1.x + r[2] * t2.x) / b->def.h; /* along world x and y */
        force[c][2] = (r[1] * t1.y + r[2] * t2.y) / b->def.h;
    }
}

/* Equal springs share like least squares; springs 1 : 2 : 3 : 4 like weighted ones (reference/README). The table
 * tilts on its springs, which moves the load by O(1/k): ten times stiffer, ten times nearer. */
static void table_shares_its_weight(void **state)
{
    (void)state;
    const double equal[4] = {40.46625, 25.75125, 18.39375, 33.10875};
    const double weighted[4] = {28.2528, 37.9647, 6.1803, 45.3222};
    const char *sets[] = {"simulation/law=none",
                          "simulation/rigid_limit=false",
                          "simulation/contact_stiffness=1e9",
                          "bodies/table/shapes/foot1/stiffness=1e9",
                          "bodies/table/shapes/foot2/stiffness=2e9",
                          "bodies/table/shapes/foot3/stiffness=3e9",
                          "bodies/table/shapes/foot4/stiffness=4e9"};
    const int n_sets[] = {3, 7};
    for (int k = 0; k < 2; k++) {
        Bench b;
        double force[4][3];
        load(&b, "preclik-2011/table", sets, n_sets[k]);
        feet(&b, 1000, force);
        for (int c = 0; c < 4; c++) /* 1e-6 relative; the weighted ones are printed to 1e-4 */
            check_close(force[c][0], (k == 0 ? equal : weighted)[c], k == 0 ? 2e-5 : 1e-4);
        end(&b);
    }
    double last = 0;
    for (int k = 0; k < 3; k++) {
        const char *soft[] = {sets[0], sets[1],
                              (const char *[]){"simulation/contact_stiffness=1e5", "simulation/contact_stiffness=1e6",
                                               "simulation/contact_stiffness=1e7"}[k]};
        Bench b;
        double force[4][3];
        load(&b, "preclik-2011/table", soft, 3);
        feet(&b, 3000, force);
        double error = fabs(force[0][0] - equal[0]);
        if (k > 0) check_close(last / error, 10, 0.5); /* O(s) */
        last = error;
        end(&b);
    }
}

/* One step: the least-norm forces inside the friction cones (cone/vectors.json), by continuation to the rigid limit
 * and at once. Gravity is tilted along x; identity weights are equal compliances in normal and tangents: gamma = k h.
 */
static void least_norm_with_friction(void **state)
{
    (void)state;
    const struct {
        double tan, force[4][3];
    } cases[] = {
        {0.0, {{40.46625, 0, 0}, {25.75125, 0, 0}, {18.39375, 0, 0}, {33.10875, 0, 0}}},
        {0.2,
         {{46.41407026764725, -5.993686236236633, 0.33298256867981274},
          {18.517530624916258, -5.993686236236633, -0.33298256867981274},
          {11.30290830352031, -5.549709477996882, -0.33298256867981274},
          {39.1994479462513, -5.549709477996882, 0.33298256867981274}}},
        {0.4,
         {{50.602797858175016, -18.44894720226424, 0.23810065230463706},
          {10.878607420519629, -5.42931295229972, -0.3295234717538058},
          {4.605598353373825, -2.298123073618718, -0.14667783285546837},
          {43.21327241894424, -17.543727192222427, 0.23810065230463706}}},
        {0.45,
         {{51.2114661959785, -21.837535834436732, 0.25493401827587264},
          {9.173696072954094, -4.5709851317553225, -0.3811428013292663},
          {2.9033363808324246, -1.4459496356661936, -0.12872523522247897},
          {44.06290093944849, -20.453659213287832, 0.25493401827587264}}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Bench b;
        char gravity[128];
        double cos = 1 / sqrt(1 + cases[k].tan * cases[k].tan), force[4][3];
        snprintf(gravity, sizeof gravity, "simulation/gravity=[%.17g,0,%.17g]", G * cases[k].tan * cos, -G * cos);
        const char *sets[] = {gravity, "simulation/tolerance=1e-14", "simulation/rigid_limit=false",
                              "simulation/forces=least_norm", "simulation/preset=default"};
        const int n_sets[] = {2, 4, 5};
        /* the limit's error, 1e-8 relative to 50 N, times the table's condition; at once: rounding of the reference */
        const double tolerance[] = {5e-5, 1e-8, 1e-8};
        for (int way = 0; way < 3; way++) {
            load(&b, "preclik-2011/table", sets, n_sets[way]);
            feet(&b, 1, force);
            for (int c = 0; c < 4; c++)
                for (int i = 0; i < 3; i++)
                    check_close(force[c][i], cases[k].force[c][i], tolerance[way]);
            end(&b);
        }
    }
}

/* No friction: the listed forces of equal springs, and of springs 1 : 2 : 3 : 4, which are given to 1e-4; whatever
 * the scale of the springs. The forces stay the same from step to step, and solve the step problem. */
static void least_norm_of_the_table(void **state)
{
    (void)state;
    const double equal[4] = {40.46625, 25.75125, 18.39375, 33.10875};
    const double weighted[4] = {28.2528, 37.9647, 6.1803, 45.3222};
    const char *sets[] = {"simulation/rigid_limit=false",
                          "simulation/forces=least_norm",
                          "simulation/law=none",
                          "bodies/table/shapes/foot1/stiffness=1e3",
                          "bodies/table/shapes/foot2/stiffness=2e3",
                          "bodies/table/shapes/foot3/stiffness=3e3",
                          "bodies/table/shapes/foot4/stiffness=4e3"};
    for (int k = 0; k < 2; k++) {
        Bench b;
        double force[4][3], sum = 0, moment = 0;
        load(&b, "preclik-2011/table", sets, k == 0 ? 3 : 7);
        for (int n = 0; n < 3; n++) {
            feet(&b, n == 0 ? 1 : 20, force);
            for (int c = 0; c < 4; c++)
                check_close(force[c][0], (k == 0 ? equal : weighted)[c], k == 0 ? 1e-9 : 5.1e-5);
        }
        for (int c = 0; c < 4; c++) { /* in each of the two the force over the stiffness is the same plane's height */
            sum += force[c][0];
            moment += (c % 2 == 0 ? 1 : -1) * force[c][0] / (k == 0 ? 1 : c + 1); /* the one mode left open */
        }
        check_close(sum, 12 * G, 1e-9);
        check_close(moment, 0, 1e-9);
        const double *r;
        const st_Problem *problem = st_system_problem(b.sys, &r);
        st_Residual residual;
        check_ok(st_problem_residual(problem, r, &residual, &b.err), b.err);
        check_below(residual.natural, 1e-12);
        end(&b);
    }
}

/* A table that slides, solved loosely: feet that bear a load move within the tolerance, and are not taken for
 * open. The weight is borne, up to the error of the solver: its residual is against the speed of 0.5 m/s of four feet,
 * g h is 0.1 m/s. */
static void least_norm_of_loose_solutions(void **state)
{
    (void)state;
    const char *tolerance[] = {"simulation/tolerance=1e-6", "simulation/tolerance=1e-4", "simulation/tolerance=1e-2"};
    for (int k = 0; k < 3; k++) {
        Bench b;
        double force[4][3], sum = 0;
        const char *sets[] = {"simulation/rigid_limit=false",    "simulation/forces=least_norm",
                              "simulation/preset=default",       "simulation/solver=nsgs",
                              "bodies/table/velocity=[0.5,0,0]", tolerance[k]};
        load(&b, "preclik-2011/table", sets, 6);
        for (int n = 0; n < 10; n++) {
            feet(&b, 1, force);
            sum = 0;
            for (int c = 0; c < 4; c++)
                sum += force[c][0];
            check_close(sum, 12 * G, 12 * G * pow(10, -6 + 2 * k) * 2 * 0.5 / 0.1);
        }
        end(&b);
    }
}

/* Joints share likewise: a beam in three bearings of a frame that cannot move. Equal stiffness: the forces on a rigid
 * beam are those of least squares, F (1/3 - x a/(2 L^2)) at a = -L, 0, L for a load at x. */
static void least_norm_of_joints(void **state)
{
    (void)state;
    const char text[] =
        "{ \"simulation\": { \"h\": 0.01, \"end\": 1, \"forces\": \"least_norm\", \"tolerance\": 1e-12 },"
        "  \"bodies\": [ { \"name\": \"beam\", \"mass\": 6, \"inertia\": 1, \"position\": [0.2, 0, 0] } ],"
        "  \"joints\": [ { \"name\": \"left\", \"type\": \"ball\", \"a\": \"ground\", \"b\": \"beam\", "
        "\"point\": [-1, 0, 0] },"
        "    { \"name\": \"middle\", \"type\": \"ball\", \"a\": \"ground\", \"b\": \"beam\", \"point\": [0, 0, "
        "0] },"
        "    { \"name\": \"right\", \"type\": \"ball\", \"a\": \"ground\", \"b\": \"beam\", \"point\": [1, 0, 0] "
        "} ] }";
    const char *const names[] = {"left", "middle", "right"};
    Bench b = {0};
    check_ok(st_scene_parse(text, strlen(text), "beam", NULL, 0, &b.scene, &b.def, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    for (int n = 0; n < 10; n++)
        step(&b);
    for (int k = 0; k < 3; k++) {
        st_JointReport report;
        check_ok(st_system_joint(b.sys, st_scene_find_joint(b.scene, names[k]), ST_FRAME_WORLD, &report), b.err);
        check_close(report.force.z, 6 * G * (1.0 / 3 + 0.2 * (k - 1) / 2.0), 1e-9);
        check_close(report.force.x, 0, 1e-9);
    }
    end(&b);
}

/* The rigid limit is one of joints, too, whether anything touches or not: a beam on two ball joints. Compliances end at
 * 1e-8 of the mobility 1/m, so that a step with the impulse m g h/2 a joint leaves them open by 1e-8 g h^2/2. With
 * its springs as they are it hangs m g/(2 k) = 5 mm low, and more before it rests. */
static void rigid_limit_of_joints(void **state)
{
    (void)state;
    const char text[] =
        "{ \"simulation\": { \"preset\": \"preclik-2011\", \"h\": 0.01, \"rigid_limit\": true,"
        "    \"joint_stiffness\": 1000 },"
        "  \"bodies\": [ { \"name\": \"beam\", \"mass\": 1, \"inertia\": 1 } ],"
        "  \"joints\": [ { \"name\": \"left\", \"type\": \"ball\", \"b\": \"beam\", \"point\": [-1, 0, 0] },"
        "    { \"name\": \"right\", \"type\": \"ball\", \"b\": \"beam\", \"point\": [1, 0, 0] } ] }";
    Bench b = {0};
    check_ok(st_scene_parse(text, strlen(text), "beam", NULL, 0, &b.scene, &b.def, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    for (int n = 0; n < 50; n++)
        step(&b);
    check_close(motion(&b, "beam").pose.p.z, 0, 10 * 1e-8 * G * 1e-4); /* 10: the mobility is an estimate */
    for (int k = 0; k < 2; k++) {
        st_JointReport report;
        st_JointId id = st_scene_find_joint(b.scene, k == 0 ? "left" : "right");
        check_ok(st_system_joint(b.sys, id, ST_FRAME_WORLD, &report), b.err);
        check_close(report.force.z, G / 2, 1e-6); /* by symmetry */
    }
    end(&b);
}

/* Sticking creeps: at rest on a slope the dampers let the feet go at load/(4 gamma) in the mean. Their middle is
 * (-0.15, -0.05) from the centre of mass. gamma is the simulation's, or that of the one shape that has one, or of two
 * in series: 1/(1/6e4 + 1/3e4) = 2e4.                                                                */
static void dampers_creep(void **state)
{
    (void)state;
    const struct {
        int n_sets;
        double gamma;
    } cases[] = {{2, 1e4}, {6, 6e4}, {7, 2e4}};
    const char *sets[] = {"simulation/gravity=[1.9238443,0,-9.6192216]",
                          "simulation/rigid_limit=false",
                          "bodies/table/shapes/foot1/damping=6e4",
                          "bodies/table/shapes/foot2/damping=6e4",
                          "bodies/table/shapes/foot3/damping=6e4",
                          "bodies/table/shapes/foot4/damping=6e4",
                          "ground/floor/damping=3e4"};
    for (int c = 0; c < 3; c++) {
        Bench b;
        load(&b, "preclik-2011/table", sets, cases[c].n_sets);
        for (int k = 0; k < 200; k++)
            step(&b);
        Motion m = motion(&b, "table");
        check_close(m.v.x + 0.05 * m.w.z - 0.7 * m.w.y, 12 * 1.9238443 / (4 * cases[c].gamma),
                    1e-8); /* the table turns by 1e-4 */
        end(&b);
    }
}

/* A ball dropped on a spring of k h^2/m = 0.01: the energy lost in height and speed is in the spring; the total falls,
 * in contact most (the implicit spring damps), and never rises. */
static void springs_of_contacts_hold_energy(void **state)
{
    (void)state;
    const char text[] = "{ \"simulation\": { \"preset\": \"preclik-2011\", \"h\": 0.001, \"end\": 1, "
                        "\"contact_stiffness\": 2e4, \"tolerance\": 1e-12 },"
                        "  \"ground\": [ { \"type\": \"plane\" } ],"
                        "  \"bodies\": [ { \"name\": \"ball\", \"mass\": 2, \"position\": [0, 0, 0.2],"
                        "    \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1 } ] } ] }";
    Bench b = {0};
    check_ok(st_scene_parse(text, strlen(text), "drop", NULL, 0, &b.scene, &b.def, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    double before = 2 * G * 0.2, deepest = 0, stored = 0;
    for (int k = 0; k < 400; k++) {
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(b.sys, b.def.h, &info, &b.err), b.err);
        double z = motion(&b, "ball").pose.p.z, gap = z - 0.1;
        check_close(info.potential - 2 * G * z, gap < 0 ? 0.5 * 2e4 * gap * gap : 0, 1e-9);
        check_below(info.kinetic + info.potential - before, 1e-9);
        before = info.kinetic + info.potential;
        if (gap < deepest) deepest = gap, stored = info.potential - 2 * G * z;
    }
    assert_true(stored > 1); /* J, of the 1.96 it fell with: the spring took up most of it */
    end(&b);
}

/* A body that slides under the cone law opens at mu |u_T| (above): located events would turn that into flights and
 * collisions. */
static void cone_has_no_events(void **state)
{
    (void)state;
    const char *const events[] = {"simulation/events=collisions", "simulation/events=all"};
    const char *const presets[] = {"simulation/preset=accurate", "simulation/preset=potra-2006",
                                   "simulation/preset=anitescu-potra-2002"};
    for (int k = 0; k < 6; k++) {
        const char *sets[] = {presets[k / 2], "simulation/law=cone", events[k % 2]};
        Bench b = {0};
        check_ok(st_scene_read("examples/potra-2006/sliding-block.json", sets, 3, &b.scene, &b.def, &b.err), b.err);
        assert_int_equal(st_system_create(b.scene, &b.def, &b.sys, &b.err), ST_ERR_UNSUPPORTED);
        assert_non_null(strstr(b.err.message, "\"cone\""));
        assert_non_null(strstr(b.err.message, "events"));
        st_scene_destroy(b.scene);
    }
}

static void bad_numbers_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set, *names[2];
    } cases[] = {
        {"bodies/table/shapes/foot1/stiffness=0", {"stiffness", "0"}},
        {"bodies/table/shapes/foot1/stiffness=-5", {"stiffness", "-5"}},
        {"bodies/table/shapes/foot2/damping=0", {"damping", "0"}},
        {"simulation/contact_stiffness=0", {"contact_stiffness", "0"}},
        {"simulation/contact_damping=-1", {"contact_damping", "-1"}},
        {"bodies/table/shapes/foot1/poisson=0.5", {"poisson", "0.5"}},
        {"bodies/table/shapes/foot1/poisson=-1", {"poisson", "-1"}},
        {"bodies/table/shapes/foot1/rolling_friction=-1", {"rolling_friction", "-1"}},
        {"simulation/events=collisions", {"regularized", "events"}},
        {"simulation/drift=velocity", {"regularized", "drift"}},
        {"simulation/contact=compliant", {"foot1", "point"}},
        {"simulation/forces=least_norm", {"rigid_limit", "least_norm"}},
    };
    const char *path = "examples/preclik-2011/table.json";
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Bench b = {0};
        st_Status status = st_scene_read(path, &cases[k].set, 1, &b.scene, &b.def, &b.err);
        if (status == ST_OK) status = st_system_create(b.scene, &b.def, &b.sys, &b.err);
        assert_int_not_equal(status, ST_OK);
        for (int n = 0; n < 2; n++)
            if (strstr(b.err.message, cases[k].names[n]) == NULL)
                fail_msg("%s: \"%s\" does not say %s", cases[k].set, b.err.message, cases[k].names[n]);
        assert_null(b.sys);
        if (status != ST_OK && b.scene != NULL) st_scene_destroy(b.scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bowling_ball),
        cmocka_unit_test(box_on_incline),
        cmocka_unit_test(box_on_the_border),
        cmocka_unit_test(stack_stands),
        cmocka_unit_test(rolling_friction_stops_a_ball),
        cmocka_unit_test(rolling_friction_needs_a_law),
        cmocka_unit_test(table_shares_its_weight),
        cmocka_unit_test(least_norm_with_friction),
        cmocka_unit_test(least_norm_of_the_table),
        cmocka_unit_test(least_norm_of_loose_solutions),
        cmocka_unit_test(least_norm_of_joints),
        cmocka_unit_test(rigid_limit_of_joints),
        cmocka_unit_test(dampers_creep),
        cmocka_unit_test(springs_of_contacts_hold_energy),
        cmocka_unit_test(cone_has_no_events),
        cmocka_unit_test(bad_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
