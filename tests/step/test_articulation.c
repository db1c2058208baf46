/* Joint coordinates of systems, against the same systems in body coordinates, differences, and closed forms. */
#include "math/quat.h"
#include "scene_run.h"

#include <stiction/articulation.h>
#include <stiction/grains.h>

static const char *const scenes[] = {
    "examples/mechanisms/andrews.json",
    "examples/mechanisms/bricard.json",
    "examples/mechanisms/cardan.json",
    "examples/mechanisms/crane.json",
    "examples/mechanisms/door.json",
    "examples/mechanisms/four_bar.json",
    "examples/mechanisms/gear_train.json",
    "examples/mechanisms/governor.json",
    "examples/mechanisms/joystick.json",
    "examples/mechanisms/motor_limit.json",
    "examples/mechanisms/pendulum.json",
    "examples/mechanisms/screw_press.json",
    "examples/mechanisms/shoulder.json",
    "examples/mechanisms/slider_crank.json",
    "examples/mechanisms/whip.json",
    "examples/robots/dog-stands.json",
    "examples/robots/ragdoll.xml",
    "examples/robots/hopper.xml",
    "examples/robots/arm.urdf",
};
enum { N_SCENES = sizeof scenes / sizeof scenes[0], MOST_V = 160, MOST_Q = 200 };

typedef struct Robot {
    Run run;
    st_Articulation *of;
    int n_q, n_v;
    double q[MOST_Q], v[MOST_V];
} Robot;

static void robot_state(Robot *robot)
{
    check_ok(st_articulation_state(robot->of, robot->q, robot->n_q, robot->v, robot->n_v, &robot->run.err),
             robot->run.err);
}

/* A scene after some steps, so that everything moves. */
static void robot_open(Robot *robot, const char *path, int steps)
{
    memset(robot, 0, sizeof *robot);
    run_open(&robot->run, path, NULL);
    for (int k = 0; k < steps; k++)
        run_step(&robot->run);
    check_ok(st_articulation_create(robot->run.sys, &robot->of, &robot->run.err), robot->run.err);
    robot->n_q = st_articulation_n_q(robot->of);
    robot->n_v = st_articulation_n_v(robot->of);
    assert_true(robot->n_q <= MOST_Q && robot->n_v <= MOST_V);
    robot_state(robot);
}

static void robot_close(Robot *robot)
{
    st_articulation_destroy(robot->of);
    run_close(&robot->run);
}

static void check_vector(st_Vec3 got, st_Vec3 expected, double tolerance)
{
    check_close(got.x, expected.x, tolerance);
    check_close(got.y, expected.y, tolerance);
    check_close(got.z, expected.z, tolerance);
}

/* Poses of the bodies, which joint coordinates must repeat up to the errors of joints. Once the system has taken the
 * state of the articulation, velocities, energy and momentum too, to rounding.                       */
static void test_same_as_bodies(void **unused)
{
    (void)unused;
    for (int s = 0; s < N_SCENES; s++) {
        Robot robot;
        robot_open(&robot, scenes[s], 50);
        double open = 0; /* the largest error of a joint, by which poses may differ */
        for (int j = 1; j <= st_scene_joint_count(robot.run.scene); j++) {
            st_JointReport report;
            assert_int_equal(st_system_joint(robot.run.sys, (st_JointId){j}, ST_FRAME_WORLD, &report), ST_OK);
            open = fmax(open, fabs(report.error));
        }
        for (int written = 0; written < 2; written++) {
            if (written == 1) check_ok(st_articulation_write(robot.of, &robot.run.err), robot.run.err);
            for (int k = 0; k < st_articulation_link_count(robot.of); k++) {
                st_Link link;
                st_PointMotion motion;
                st_Pose pose;
                st_Vec3 v, w;
                assert_int_equal(st_articulation_link(robot.of, k, &link), ST_OK);
                assert_int_equal(st_system_pose(robot.run.sys, link.body, &pose), ST_OK);
                assert_int_equal(st_system_velocity(robot.run.sys, link.body, &v, &w), ST_OK);
                check_ok(st_articulation_point(robot.of, link.body, vec3(0, 0, 0), NULL, 0, &motion, &robot.run.err),
                         robot.run.err);
                check_vector(motion.position, pose.p, written ? 1e-13 : 1e-12 + 30 * open);
                if (!written) continue;
                check_vector(motion.velocity, v, 1e-12 * (1 + norm(v) + norm(w)));
                check_vector(motion.spin, rotate(pose.q, w), 1e-12 * (1 + norm(w)));
            }
        }
        double M[MOST_V * MOST_V], A[6 * MOST_V], p[6] = {0}, kinetic, twice = 0;
        st_Vec3 linear, angular;
        st_CentreOfMass centre;
        check_ok(st_articulation_mass_matrix(robot.of, M, robot.n_v, &robot.run.err), robot.run.err);
        check_ok(st_system_energy(robot.run.sys, &kinetic, NULL, &robot.run.err), robot.run.err);
        for (int i = 0; i < robot.n_v; i++)
            for (int j = 0; j < robot.n_v; j++)
                twice += robot.v[i] * M[i * robot.n_v + j] * robot.v[j];
        check_close(0.5 * twice, kinetic, 1e-11 * kinetic + 1e-20);
        assert_int_equal(st_system_momentum(robot.run.sys, &linear, &angular), ST_OK);
        check_ok(st_articulation_centre_of_mass(robot.of, (st_BodyId){0}, &centre, A, robot.n_v, &robot.run.err),
                 robot.run.err);
        const double size = 1e-20 + norm(linear) + norm(angular);
        const st_Vec3 about = sub(angular, cross(centre.position, linear)); /* the centre, not the origin */
        for (int r = 0; r < 6; r++)
            for (int i = 0; i < robot.n_v; i++)
                p[r] += A[r * robot.n_v + i] * robot.v[i];
        check_vector(vec3_load(p), linear, 1e-11 * size);
        check_vector(vec3_load(p + 3), about, 1e-10 * size);
        check_vector(scale(centre.mass, centre.velocity), linear, 1e-11 * size);
        check_vector(centre.angular_momentum, about, 1e-10 * size);
        robot_close(&robot);
    }
}

/* Coordinates and speeds are those that st_system_joint reports, signs and whole turns included; written back, the
 * system has them, with joints closed.                                                             */
static void test_write(void **unused)
{
    (void)unused;
    check_Random random = {3};
    for (int s = 0; s < N_SCENES; s++) {
        Robot robot;
        robot_open(&robot, scenes[s], 5);
        double q[MOST_Q], v[MOST_V];
        for (int i = 0; i < robot.n_v; i++) {
            v[i] = check_random(&random, -1, 1);
            robot.v[i] = check_random(&random, -2, 2);
        }
        if (st_articulation_loop_count(robot.of) > 0) memset(v, 0, sizeof v); /* a loop must stay closed */
        check_ok(st_articulation_read(robot.of, &robot.run.err), robot.run.err);
        check_ok(st_articulation_move(robot.of, robot.q, v, 2.2, q, robot.n_q, robot.n_v, &robot.run.err),
                 robot.run.err);
        check_ok(st_articulation_set_state(robot.of, q, robot.n_q, robot.v, robot.n_v, &robot.run.err), robot.run.err);
        const double before = st_system_time(robot.run.sys);
        check_ok(st_articulation_write(robot.of, &robot.run.err), robot.run.err);
        check_close(st_system_time(robot.run.sys), before, 0);
        for (int k = 0; k < st_articulation_link_count(robot.of); k++) {
            st_Link link;
            st_JointDef def;
            st_JointReport report;
            assert_int_equal(st_articulation_link(robot.of, k, &link), ST_OK);
            if (link.joint.index1 == 0) continue;
            assert_int_equal(st_scene_joint(robot.run.scene, link.joint, &def), ST_OK);
            assert_int_equal(st_system_joint(robot.run.sys, link.joint, ST_FRAME_WORLD, &report), ST_OK);
            check_below(report.error, 1e-12);
            const double *own = q + link.first_q, *rate = robot.v + link.first_v;
            if (def.type == ST_JOINT_REVOLUTE || def.type == ST_JOINT_PRISMATIC) {
                check_close(report.coordinate, own[0], 1e-12);
                check_close(report.speed, rate[0], 1e-11);
            } else if (def.type == ST_JOINT_UNIVERSAL) {
                const bool second = def.coordinate == ST_COORDINATE_ANGLE_B;
                check_close(report.coordinate, own[second ? 1 : 0], 1e-12);
                check_close(report.other, own[second ? 0 : 1], 1e-12);
                check_close(report.speed, rate[second ? 1 : 0], 1e-11);
                check_close(report.other_speed, rate[second ? 0 : 1], 1e-11);
            }
        }
        memset(robot.q, 0, sizeof robot.q);
        check_ok(st_articulation_read(robot.of, &robot.run.err), robot.run.err);
        robot_state(&robot);
        double d[MOST_V];
        check_ok(st_articulation_difference(robot.of, robot.q, q, d, robot.n_q, robot.n_v, &robot.run.err),
                 robot.run.err);
        for (int i = 0; i < robot.n_v; i++)
            check_close(d[i], 0, 1e-11);
        robot_close(&robot);
    }
}

/* Acceleration in body coordinates: (v+ - v)/h, extrapolated to h = 0. A step has its rows at its start: v+ is allowed
 * where the step ends after another one of no length.                                               */
static void body_acceleration(st_System *sys, double h, double *out)
{
    double before[6 * MOST_V], after[6 * MOST_V], q[7 * MOST_V], part[2][6 * MOST_V];
    const double t = st_system_time(sys);
    st_Error err = {0};
    st_system_state(sys, q, before);
    for (int k = 0; k < 2; k++) {
        const double length = k == 0 ? h : 0.5 * h;
        check_ok(st_system_set_state(sys, t, q, before, &err), err);
        check_ok(st_system_step(sys, length, NULL, &err), err);
        check_ok(st_system_step(sys, 1e-15, NULL, &err), err);
        st_system_state(sys, NULL, after);
        for (int i = 0; i < st_system_n_v(sys); i++)
            part[k][i] = (after[i] - before[i]) / length;
    }
    check_ok(st_system_set_state(sys, t, q, before, &err), err);
    for (int i = 0; i < st_system_n_v(sys); i++)
        out[i] = 2 * part[1][i] - part[0][i];
}

/* Errors of the difference: h^2 = 1e-10 times the second derivative, 6e-6 of the whip.
 *
 * Forward dynamics against the step problem of the body coordinates, which has all joints as rows: trees, loops, and
 * redundant loops (Bricard). Gravity and joints alone: no motors, springs and applied forces.          */
static void test_forward_dynamics(void **unused)
{
    (void)unused;
    static const char *const own[] = {"examples/mechanisms/bricard.json", "examples/mechanisms/four_bar.json",
                                      "examples/mechanisms/whip.json", "examples/mechanisms/shoulder.json"};
    static const char *const plain[] = {"simulation/preset=default",  "simulation/integrator=euler",
                                        "simulation/drift=velocity",  "simulation/law=none",
                                        "simulation/tolerance=1e-14", NULL};
    for (size_t s = 0; s < sizeof own / sizeof own[0]; s++) {
        Robot robot = {0};
        run_open_changed(&robot.run, own[s], plain);
        for (int j = 1; j <= st_scene_joint_count(robot.run.scene); j++) {
            st_JointDef def;
            assert_int_equal(st_scene_joint(robot.run.scene, (st_JointId){j}, &def), ST_OK);
            assert_true(def.motor.type == ST_MOTOR_NONE && def.stiffness == 0 && def.damping == 0 && def.friction == 0);
        }
        for (int k = 0; k < 100; k++)
            run_step(&robot.run);
        check_ok(st_articulation_create(robot.run.sys, &robot.of, &robot.run.err), robot.run.err);
        robot.n_q = st_articulation_n_q(robot.of);
        robot.n_v = st_articulation_n_v(robot.of);
        robot_state(&robot);
        /* joints that steps of this kind have opened are closed, and velocities are allowed here, not where the last
         * step began */
        st_ReachDef close = st_reach_def();
        close.tolerance = 1e-14;
        check_ok(st_articulation_reach(robot.of, NULL, 0, &close, NULL, &robot.run.err), robot.run.err);
        check_ok(st_articulation_set_state(robot.of, NULL, 0, robot.v, robot.n_v, &robot.run.err), robot.run.err);
        check_ok(st_articulation_write(robot.of, &robot.run.err), robot.run.err);
        check_ok(st_system_step(robot.run.sys, 1e-15, NULL, &robot.run.err), robot.run.err);
        check_ok(st_articulation_read(robot.of, &robot.run.err), robot.run.err);
        double bodies[6 * MOST_V], a[MOST_V];
        body_acceleration(robot.run.sys, 1e-5, bodies);
        check_ok(st_articulation_forward_dynamics(robot.of, NULL, NULL, 0, a, robot.n_v, &robot.run.err),
                 robot.run.err);
        int at = 0;
        for (int b = 1; b <= st_scene_body_count(robot.run.scene); b++) {
            st_PointMotion motion;
            st_BodyDef def;
            double full[6];
            assert_int_equal(st_scene_body(robot.run.scene, (st_BodyId){b}, &def), ST_OK);
            check_ok(
                st_articulation_point(robot.of, (st_BodyId){b}, vec3(0, 0, 0), a, robot.n_v, &motion, &robot.run.err),
                robot.run.err);
            vec3_store(full, motion.acceleration);
            vec3_store(full + 3, rotate_back(motion.orientation, motion.spin_rate)); /* d/dt of spin in body axes */
            for (int d = 0; d < 6; d++)
                if (!def.fixed && (def.locks >> d & 1u) == 0)
                    check_close(bodies[at++], full[d], 1e-5 * (1 + norm(motion.acceleration) + norm(motion.spin_rate)));
        }
        robot_close(&robot);
    }
}

/* A ball joint between two bodies that a fixed joint holds together is a loop that changes nothing, wherever its rows
 * are only rounding: all loops of the first robot are such, and those of the second beside one that is closed. */
static void test_idle_loops(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"simulation\": {\"h\": 0.001, \"end\": 1}, \"bodies\": ["
        "{\"name\": \"a\", \"mass\": 2, \"inertia\": [0.2, 0.3, 0.25], \"position\": [0.3, 0.1, -0.2], "
        "\"orientation\": [0.5, "
        "0.1, 0.7, 0.5]},"
        "{\"name\": \"b\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.15], \"position\": [0.9, -0.2, 0.3]},"
        "{\"name\": \"c\", \"mass\": 1, \"inertia\": [0.1, 0.1, 0.15], \"position\": [0.9, -0.2, 1.3]}], \"joints\": ["
        "{\"name\": \"hip\", \"type\": \"ball\", \"a\": \"ground\", \"b\": \"a\", \"point\": [0, 0.37, 0]},"
        "{\"name\": \"weld\", \"type\": \"fixed\", \"a\": \"a\", \"b\": \"b\", \"point\": [0.7, 0.1, 0.3]},"
        "{\"name\": \"knee\", \"type\": \"ball\", \"a\": \"b\", \"b\": \"c\", \"point\": [0.7, 0.1, 0.8]}%s%s]}";
    static const char idle[] =
        ", {\"name\": \"idle\", \"type\": \"ball\", \"a\": \"a\", \"b\": \"b\", \"point\": [0.13, -0.7, 0.9]}";
    static const char rod[] =
        ", {\"name\": \"rod\", \"type\": \"distance\", \"a\": \"ground\", \"b\": \"c\", \"point\": [2, 0, 1], "
        "\"point_b\": [1, 0, 1]}";
    for (int rods = 0; rods < 2; rods++) {
        double a[2][6];
        for (int k = 0; k < 2; k++) {
            Robot robot = {0};
            char full[sizeof text + sizeof idle + sizeof rod];
            snprintf(full, sizeof full, text, k == 1 ? idle : "", rods == 1 ? rod : "");
            run_parse(&robot.run, full);
            check_ok(st_articulation_create(robot.run.sys, &robot.of, &robot.run.err), robot.run.err);
            assert_int_equal(st_articulation_loop_count(robot.of), k + rods);
            assert_int_equal(st_articulation_n_v(robot.of), 6);
            check_ok(st_articulation_forward_dynamics(robot.of, NULL, NULL, 0, a[k], 6, &robot.run.err), robot.run.err);
            robot_close(&robot);
        }
        for (int i = 0; i < 6; i++)
            check_close(a[1][i], a[0][i], 1e-10 * (1 + fabs(a[0][i])));
    }
}

/* Inverse, then forward dynamics, with forces on bodies, returns the acceleration; M inv(M) = 1; M = L' D L. */
static void test_inverse_dynamics(void **unused)
{
    (void)unused;
    check_Random random = {5};
    for (int s = 0; s < N_SCENES; s++) {
        Robot robot;
        robot_open(&robot, scenes[s], 20);
        double a[MOST_V], tau[MOST_V], back[MOST_V], M[MOST_V * MOST_V], L[MOST_V * MOST_V], D[MOST_V],
            coriolis[MOST_V], gravity[MOST_V], x[MOST_V];
        const st_BodyForce push = {{1}, vec3(0.1, 0.2, 0.3), vec3(1, 2, 3), vec3(0.3, 0.2, 0.1)};
        for (int i = 0; i < robot.n_v; i++)
            a[i] = check_random(&random, -1, 1);
        check_ok(st_articulation_mass_matrix(robot.of, M, robot.n_v, &robot.run.err), robot.run.err);
        check_ok(st_articulation_mass_factor(robot.of, L, D, robot.n_v, &robot.run.err), robot.run.err);
        double largest = 0;
        for (int i = 0; i < robot.n_v * robot.n_v; i++)
            largest = fmax(largest, fabs(M[i]));
        for (int i = 0; i < robot.n_v; i++)
            for (int j = 0; j < robot.n_v; j++) {
                double sum = 0;
                for (int k = 0; k < robot.n_v; k++)
                    sum += L[k * robot.n_v + i] * D[k] * L[k * robot.n_v + j];
                check_close(sum, M[i * robot.n_v + j], 1e-13 * largest);
            }
        check_ok(st_articulation_mass_product(robot.of, a, x, robot.n_v, &robot.run.err), robot.run.err);
        check_ok(st_articulation_bias(robot.of, coriolis, gravity, robot.n_v, &robot.run.err), robot.run.err);
        check_ok(st_articulation_inverse_dynamics(robot.of, a, NULL, 0, tau, robot.n_v, &robot.run.err), robot.run.err);
        for (int i = 0; i < robot.n_v; i++)
            check_close(tau[i], x[i] + coriolis[i] + gravity[i], 1e-9 * (1 + fabs(tau[i]) + fabs(coriolis[i])));
        check_ok(st_articulation_mass_solve(robot.of, x, x, robot.n_v, &robot.run.err), robot.run.err);
        for (int i = 0; i < robot.n_v; i++)
            check_close(x[i], a[i], 1e-8);
        if (st_articulation_loop_count(robot.of) == 0) {
            check_ok(st_articulation_inverse_dynamics(robot.of, a, &push, 1, tau, robot.n_v, &robot.run.err),
                     robot.run.err);
            check_ok(st_articulation_forward_dynamics(robot.of, tau, &push, 1, back, robot.n_v, &robot.run.err),
                     robot.run.err);
            for (int i = 0; i < robot.n_v; i++)
                check_close(back[i], a[i], 1e-7);
        }
        robot_close(&robot);
    }
}

/* Jacobians: J v is the velocity, and dJ/dt is the difference of Jacobians along the motion. */
static void test_jacobians(void **unused)
{
    (void)unused;
    const double e = 1e-5;
    const st_Vec3 point = {0.1, -0.2, 0.3};
    for (int s = 0; s < N_SCENES; s++) {
        Robot robot;
        robot_open(&robot, scenes[s], 20);
        st_Link link;
        assert_int_equal(st_articulation_link(robot.of, st_articulation_link_count(robot.of) - 1, &link), ST_OK);
        double J[6 * MOST_V], rate[6 * MOST_V], near[2][6 * MOST_V], q[MOST_Q], a[MOST_V];
        st_PointMotion motion;
        double largest = 1;
        for (int i = 0; i < robot.n_v; i++)
            a[i] = 0.1 * i;
        check_ok(st_articulation_jacobian(robot.of, link.body, point, J, rate, robot.n_v, &robot.run.err),
                 robot.run.err);
        check_ok(st_articulation_point(robot.of, link.body, point, a, robot.n_v, &motion, &robot.run.err),
                 robot.run.err);
        double velocity[6] = {0}, acceleration[6] = {0};
        for (int r = 0; r < 6; r++)
            for (int i = 0; i < robot.n_v; i++) {
                const int at = r * robot.n_v + i;
                velocity[r] += J[at] * robot.v[i];
                acceleration[r] += J[at] * a[i] + rate[at] * robot.v[i];
                largest = fmax(largest, fabs(robot.v[i]));
            }
        check_vector(vec3_load(velocity), motion.velocity, 1e-12 * largest);
        check_vector(vec3_load(velocity + 3), motion.spin, 1e-12 * largest);
        check_vector(vec3_load(acceleration), motion.acceleration, 1e-11 * largest * largest);
        check_vector(vec3_load(acceleration + 3), motion.spin_rate, 1e-11 * largest * largest);
        for (int side = 0; side < 2; side++) {
            check_ok(st_articulation_move(robot.of, robot.q, robot.v, side == 0 ? -e : e, q, robot.n_q, robot.n_v,
                                          &robot.run.err),
                     robot.run.err);
            check_ok(st_articulation_set_state(robot.of, q, robot.n_q, NULL, 0, &robot.run.err), robot.run.err);
            check_ok(st_articulation_jacobian(robot.of, link.body, point, near[side], NULL, robot.n_v, &robot.run.err),
                     robot.run.err);
        }
        for (int k = 0; k < 6 * robot.n_v; k++)
            check_close(rate[k], (near[1][k] - near[0][k]) / (2 * e), 1e-8 * largest * largest * largest);
        robot_close(&robot);
    }
}

/* ---- inverse kinematics --------------------------------------------------------------------------- */

/* Two bars of length 1 in the plane: the point at distance sqrt(2) has the elbow at a right angle. */
static void bars(Run *run, double upper, double centre, double inertia)
{
    st_SystemDef def = st_system_def();
    st_BodyId id[2];
    memset(run, 0, sizeof *run);
    check_ok(st_scene_create(&run->scene, &run->err), run->err);
    for (int k = 0; k < 2; k++) {
        st_BodyDef body = st_body_def();
        body.mass = 1;
        body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
        body.pose.p = vec3(0.5, 0, 0);
        if (k == 1) body.pose.p.x = centre, body.inertia.m[8] = inertia;
        check_ok(st_scene_add_body(run->scene, &body, &id[k], &run->err), run->err);
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        if (k == 1) joint.a = id[0];
        joint.b = id[k];
        joint.point = vec3(k, 0, 0);
        joint.axis = vec3(0, 0, 1);
        joint.name = k == 0 ? "shoulder" : "elbow";
        if (k == 1 && isfinite(upper)) joint.lower = -upper, joint.upper = upper;
        check_ok(st_scene_add_joint(run->scene, &joint, NULL, &run->err), run->err);
    }
    check_ok(st_system_create(run->scene, &def, &run->sys, &run->err), run->err);
}

static void two_bars(Run *run, double upper)
{
    bars(run, upper, 1.5, 0.1);
}

/* The outermost link has its centre on its hinge and no inertia about it, so the hinge moves no mass. */
static void test_step_of_massless_leaf(void **unused)
{
    (void)unused;
    Robot robot = {0};
    Run *run = &robot.run;
    st_Pose before, after;
    bars(run, INFINITY, 1, 1e-30);
    check_ok(st_system_pose(run->sys, (st_BodyId){2}, &before), run->err);
    assert_int_equal(st_system_step(run->sys, 0.01, NULL, &run->err), ST_ERR_NUMERIC);
    assert_non_null(strstr(run->err.message, "joint \"elbow\": it moves no mass"));
    check_ok(st_system_pose(run->sys, (st_BodyId){2}, &after), run->err);
    assert_memory_equal(&before, &after, sizeof before);
    check_ok(st_articulation_create(run->sys, &robot.of, &run->err), run->err);
    double tau[2] = {0}, acceleration[2];
    assert_int_equal(st_articulation_forward_dynamics(robot.of, tau, NULL, 0, acceleration, 2, &run->err),
                     ST_ERR_NUMERIC);
    assert_non_null(strstr(run->err.message, "joint \"elbow\": no mass moves"));
    robot_close(&robot);
}

/* A frame at the end of a bar of length 1 that turns about z, by its name: a circle with its two accelerations. */
static void test_frame(void **unused)
{
    (void)unused;
    Robot robot = {0};
    Run *run = &robot.run;
    st_SystemDef def = st_system_def();
    st_PointMotion motion;
    check_ok(st_scene_create(&run->scene, &run->err), run->err);
    st_BodyDef body = st_body_def();
    body.mass = 1;
    body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
    body.pose.p = vec3(0.5, 0, 0);
    body.name = "bar";
    st_BodyId bar;
    check_ok(st_scene_add_body(run->scene, &body, &bar, &run->err), run->err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = bar;
    joint.axis = vec3(0, 0, 1);
    joint.lower = 0.1, joint.upper = 0.5; /* it starts at 0 */
    check_ok(st_scene_add_joint(run->scene, &joint, NULL, &run->err), run->err);
    st_MeasureDef tip = st_measure_def(ST_MEASURE_POSITION);
    tip.name = "tip", tip.body = "bar";
    tip.frame = (st_Pose){vec3(0.5, 0, 0), quat_exp(vec3(0, 0, 0.5))};
    check_ok(st_scene_add_measure(run->scene, &tip, &run->err), run->err);
    st_MeasureDef time = st_measure_def(ST_MEASURE_TIME);
    time.name = "clock";
    check_ok(st_scene_add_measure(run->scene, &time, &run->err), run->err);
    check_ok(st_system_create(run->scene, &def, &run->sys, &run->err), run->err);
    st_Flaw flaw[4];
    assert_int_equal(st_system_flaws(run->sys, flaw, 4), 1);
    assert_int_equal(flaw[0].kind, ST_FLAW_LIMIT);
    assert_int_equal(flaw[0].joint.index1, 1);
    check_close(flaw[0].size, 0.1, 1e-12);

    check_ok(st_articulation_create(run->sys, &robot.of, &run->err), run->err);
    const double angle = 0.3, rate = 2, a = 5, c = cos(angle), s = sin(angle);
    check_ok(st_articulation_set_state(robot.of, &angle, 1, &rate, 1, &run->err), run->err);
    check_ok(st_articulation_frame(robot.of, "tip", &a, 1, &motion, &run->err), run->err);
    check_vector(motion.position, vec3(c, s, 0), 1e-14);
    check_vector(motion.velocity, vec3(-rate * s, rate * c, 0), 1e-14);
    check_vector(motion.acceleration, vec3(-a * s - rate * rate * c, a * c - rate * rate * s, 0), 1e-13);
    check_vector(motion.spin_rate, vec3(0, 0, a), 1e-14);
    check_vector(rotate(motion.orientation, vec3(1, 0, 0)), vec3(cos(0.8), sin(0.8), 0), 1e-14);
    assert_int_equal(st_articulation_frame(robot.of, "hand", NULL, 0, &motion, &run->err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run->err.message, "no measure \"hand\""));
    assert_int_equal(st_articulation_frame(robot.of, "clock", NULL, 0, &motion, &run->err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run->err.message, "\"clock\" has no frame"));
    assert_int_equal(st_articulation_frame(robot.of, "tip", &a, 2, &motion, &run->err), ST_ERR_ARGUMENT);
    assert_int_equal(st_articulation_frame(robot.of, NULL, NULL, 0, &motion, &run->err), ST_ERR_ARGUMENT);
    robot_close(&robot);
}

static void test_reach(void **unused)
{
    (void)unused;
    for (int limited = 0; limited < 2; limited++) {
        Robot robot = {0};
        two_bars(&robot.run, limited ? 0.5 : INFINITY);
        check_ok(st_articulation_create(robot.run.sys, &robot.of, &robot.run.err), robot.run.err);
        assert_int_equal(st_articulation_n_v(robot.of), 2);
        robot.n_q = robot.n_v = 2;
        const st_Target target = {.body = {2}, .point = vec3(0.5, 0, 0), .position = vec3(1, 1, 0)};
        st_ReachInfo info;
        const double start[2] = {0.2, 0.3};
        check_ok(st_articulation_set_state(robot.of, start, 2, NULL, 0, &robot.run.err), robot.run.err);
        check_ok(st_articulation_reach(robot.of, &target, 1, NULL, &info, &robot.run.err), robot.run.err);
        robot_state(&robot);
        assert_int_equal(info.reached, !limited);
        if (!limited) check_close(fabs(robot.q[1]), acos(-1) / 2, 1e-8);
        if (limited) { /* as near as the limit lets it: both on the ray to the target */
            check_close(fabs(robot.q[1]), 0.5, 1e-12);
            check_close(robot.q[0] + 0.5 * robot.q[1], acos(-1) / 4, 1e-6);
            check_close(info.error, (2 * cos(0.25) - sqrt(2)) / sqrt(2), 1e-6);
            assert_int_equal(info.at_limits, 1);
        }
        /* out of reach: stretched towards it */
        st_Target far = target;
        far.position = vec3(0, 3, 0);
        check_ok(st_articulation_reach(robot.of, &far, 1, NULL, &info, &robot.run.err), robot.run.err);
        robot_state(&robot);
        assert_false(info.reached);
        check_close(info.error, 1, 1e-4);
        robot_close(&robot);
    }
}

/* A robot arm reaches a pose that one of its configurations has, from another. A loop that is torn is closed. */
static void test_reach_pose(void **unused)
{
    (void)unused;
    Robot robot;
    check_Random random = {11};
    robot_open(&robot, "examples/robots/arm.urdf", 0);
    st_Link link, hand = {.body = {0}};
    int tried = 0;
    for (int trial = 0; trial < 20; trial++) {
        st_PointMotion wanted, got;
        st_ReachInfo info;
        double q[MOST_Q];
        memcpy(q, robot.q, sizeof q);
        for (int k = 0; k < st_articulation_link_count(robot.of); k++) {
            assert_int_equal(st_articulation_link(robot.of, k, &link), ST_OK);
            if (link.type != ST_JOINT_REVOLUTE) continue; /* the fingers keep their positions */
            q[link.first_q] = check_random(&random, -0.5, 0.5);
            hand = link;
        }
        check_ok(st_articulation_set_state(robot.of, q, robot.n_q, NULL, 0, &robot.run.err), robot.run.err);
        if (st_articulation_outside(robot.of, NULL) > 0) continue;
        tried++;
        check_ok(st_articulation_point(robot.of, hand.body, vec3(0, 0, 0.1), NULL, 0, &wanted, &robot.run.err),
                 robot.run.err);
        check_ok(st_articulation_set_state(robot.of, robot.q, robot.n_q, NULL, 0, &robot.run.err), robot.run.err);
        const st_Target target = {hand.body, vec3(0, 0, 0.1), wanted.position, true, wanted.orientation};
        check_ok(st_articulation_reach(robot.of, &target, 1, NULL, &info, &robot.run.err), robot.run.err);
        check_ok(st_articulation_point(robot.of, hand.body, vec3(0, 0, 0.1), NULL, 0, &got, &robot.run.err),
                 robot.run.err);
        assert_true(info.reached);
        check_vector(got.position, wanted.position, 1e-9);
        assert_int_equal(st_articulation_outside(robot.of, NULL), 0);
    }
    assert_true(tried >= 5);
    robot_close(&robot);

    double error;
    st_ReachInfo info;
    robot_open(&robot, "examples/mechanisms/four_bar.json", 0);
    robot.q[0] += 0.1;
    check_ok(st_articulation_set_state(robot.of, robot.q, robot.n_q, NULL, 0, &robot.run.err), robot.run.err);
    check_ok(st_articulation_loop_error(robot.of, &error, NULL, &robot.run.err), robot.run.err);
    assert_true(error > 1e-3);
    assert_int_equal(st_articulation_write(robot.of, &robot.run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(robot.run.err.message, "closes a loop and is open by"));
    check_ok(st_articulation_reach(robot.of, NULL, 0, NULL, &info, &robot.run.err), robot.run.err);
    assert_true(info.reached);
    check_ok(st_articulation_write(robot.of, &robot.run.err), robot.run.err);
    robot_close(&robot);
}

/* ---- bad input ------------------------------------------------------------------------------------ */

static void test_bad_input(void **unused)
{
    (void)unused;
    Robot robot;
    double q[MOST_Q], before[MOST_Q], v[MOST_V] = {0};
    st_Articulation *none = NULL;
    robot_open(&robot, "examples/mechanisms/shoulder.json", 3);
    st_Error *err = &robot.run.err;
    memcpy(before, robot.q, sizeof before);
    memcpy(q, robot.q, sizeof q);
    assert_int_equal(st_articulation_set_state(robot.of, q, robot.n_q - 1, v, robot.n_v, err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err->message, "q has 3 numbers, must have 4"));
    q[1] = 2;
    assert_int_equal(st_articulation_set_state(robot.of, q, robot.n_q, v, robot.n_v, err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err->message, "joint \""));
    assert_non_null(strstr(err->message, "its quaternion has length"));
    v[2] = NAN;
    assert_int_equal(st_articulation_set_state(robot.of, NULL, 0, v, robot.n_v, err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err->message, "its velocity 2 is nan"));
    robot_state(&robot);
    assert_memory_equal(before, robot.q, (size_t)robot.n_q * sizeof *before);
    assert_int_equal(st_articulation_jacobian(robot.of, (st_BodyId){9}, vec3(0, 0, 0), v, NULL, robot.n_v, err),
                     ST_ERR_ARGUMENT);
    assert_int_equal(st_articulation_set_joint(robot.of, (st_JointId){7}, q, 4, NULL, 0, err), ST_ERR_ARGUMENT);
    assert_int_equal(st_articulation_read(NULL, err), ST_ERR_ARGUMENT);
    assert_int_equal(st_articulation_create(NULL, &none, err), ST_ERR_ARGUMENT);
    const st_Target bad = {.body = {1}, .position = {NAN, 0, 0}};
    assert_int_equal(st_articulation_reach(robot.of, &bad, 1, NULL, NULL, err), ST_ERR_ARGUMENT);
    assert_int_equal(st_articulation_reach(robot.of, NULL, 1, NULL, NULL, err), ST_ERR_ARGUMENT);
    /* after a change of the scene it is invalid, and this is reported */
    check_ok(st_system_change(robot.run.sys, robot.run.scene, err), *err);
    assert_int_equal(st_articulation_read(robot.of, err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err->message, "make a new articulation"));
    robot_close(&robot);

    robot_open(&robot, "examples/robots/arm.urdf", 0);
    st_JointId first;
    for (int i = 0; i < robot.n_q; i++)
        robot.q[i] = 40;
    check_ok(st_articulation_set_state(robot.of, robot.q, robot.n_q, NULL, 0, err), *err);
    assert_true(st_articulation_outside(robot.of, &first) > 0);
    assert_true(first.index1 > 0);
    robot_close(&robot);
}

/* Every vector of a wrong length is refused with both lengths, and nothing is written to it. */
static void test_wrong_lengths(void **unused)
{
    (void)unused;
    static double M[MOST_V * MOST_V], out[MOST_V * MOST_V];
    Robot robot;
    robot_open(&robot, "examples/mechanisms/shoulder.json", 3);
    st_Error *err = &robot.run.err;
    const st_Articulation *is = robot.of;
    st_Articulation *of = robot.of;
    const st_BodyId body = {1};
    st_CentreOfMass centre;
    const double *q = robot.q, *v = robot.v;
    for (int wrong = -1; wrong <= 1; wrong += 2) {
        const int n_q = robot.n_q, n_v = robot.n_v, m = n_v + wrong;
        char expected[60];
        snprintf(expected, sizeof expected, "%d numbers, must have %d", m, n_v);
        for (int call = 0; call < 12; call++) {
            st_Status status = ST_OK;
            memset(out, 0, sizeof out);
            memset(err, 0, sizeof *err);
            if (call == 0) status = st_articulation_mass_matrix(of, out, m, err);
            if (call == 1) status = st_articulation_mass_factor(of, out, M, m, err);
            if (call == 2) status = st_articulation_mass_product(of, v, out, m, err);
            if (call == 3) status = st_articulation_mass_solve(of, v, out, m, err);
            if (call == 4) status = st_articulation_bias(of, out, NULL, m, err);
            if (call == 5) status = st_articulation_inverse_dynamics(of, v, NULL, 0, out, m, err);
            if (call == 6) status = st_articulation_forward_dynamics(of, v, NULL, 0, out, m, err);
            if (call == 7) status = st_articulation_move(is, q, v, 0.1, out, n_q, m, err);
            if (call == 8) status = st_articulation_difference(is, q, q, out, n_q, m, err);
            if (call == 9) status = st_articulation_jacobian(of, body, vec3(0, 0, 0), out, NULL, m, err);
            if (call == 10) status = st_articulation_centre_of_mass(of, body, &centre, out, m, err);
            if (call == 11) status = st_articulation_inverse_contacts(of, v, NULL, 0, NULL, out, m, NULL, NULL, err);
            if (status != ST_ERR_ARGUMENT || strstr(err->message, expected) == NULL)
                fail_msg("call %d with %d numbers of %d: status %d, \"%s\"", call, m, n_v, (int)status, err->message);
            for (int i = 0; i < MOST_V; i++)
                assert_true(out[i] == 0);
        }
        assert_int_equal(st_articulation_move(is, q, v, 0.1, out, n_q + wrong, n_v, err), ST_ERR_ARGUMENT);
        assert_int_equal(st_articulation_difference(is, q, q, out, n_q + wrong, n_v, err), ST_ERR_ARGUMENT);
    }
    robot_close(&robot);
}

/* A leaf that can turn and has nothing to turn: refused with the names of the body and of its joint. */
static void test_massless_leaf(void **unused)
{
    (void)unused;
    st_Scene *scene;
    st_SystemDef def = st_system_def();
    st_System *none = NULL;
    st_Error err = {0};
    st_BodyDef body = st_body_def();
    st_BodyId base, tip;
    check_ok(st_scene_create(&scene, &err), err);
    body.name = "base", body.mass = 1, body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
    check_ok(st_scene_add_body(scene, &body, &base, &err), err);
    body.name = "tip", body.inertia = (st_Mat3){{0}};
    check_ok(st_scene_add_body(scene, &body, &tip, &err), err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.a = base, joint.b = tip, joint.axis = vec3(1, 0, 0), joint.name = "wrist";
    check_ok(st_scene_add_joint(scene, &joint, NULL, &err), err);
    assert_int_equal(st_system_create(scene, &def, &none, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "body \"tip\": inertia about its x axis is 0"));
    assert_non_null(strstr(err.message, "by joint \"wrist\""));
    assert_null(none);
    st_scene_destroy(scene);
}

/* A loop that no position closes: no system, and a message with the name of a joint. Refused coordinates of one
 * joint leave the others unchanged. */
static void test_refused_loops_and_joints(void **unused)
{
    (void)unused;
    Run run;
    two_bars(&run, INFINITY);
    st_JointDef far = st_joint_def(ST_JOINT_DISTANCE);
    far.b = (st_BodyId){2}, far.point = vec3(9, 0, 0), far.point_b = vec3(2, 0, 0), far.length = 1, far.name = "far";
    check_ok(st_scene_add_joint(run.scene, &far, NULL, &run.err), run.err);
    st_SystemDef def = st_system_def();
    st_System *none = NULL;
    assert_int_equal(st_system_create(run.scene, &def, &none, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "joint \"far\": length is 1"));
    def.initial = ST_INITIAL_PROJECT;
    assert_int_equal(st_system_create(run.scene, &def, &none, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "cannot be made consistent: joints are open by"));
    assert_non_null(strstr(run.err.message, "(joint \""));
    assert_null(none);

    double q[3], before[2], v[2] = {0.25, 0.5};
    st_Articulation *robot;
    check_ok(st_articulation_create(run.sys, &robot, &run.err), run.err);
    check_ok(st_articulation_state(robot, before, 2, NULL, 0, &run.err), run.err);
    memcpy(q, before, sizeof before);
    assert_int_equal(st_articulation_set_joint(robot, (st_JointId){2}, q, 2, NULL, 0, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "elbow has 2 numbers, must have 1"));
    q[0] = INFINITY;
    assert_int_equal(st_articulation_set_joint(robot, (st_JointId){2}, q, 1, v, 1, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "joint \"elbow\": its coordinate 0 is inf"));
    check_ok(st_articulation_state(robot, q, 2, v, 2, &run.err), run.err);
    assert_memory_equal(q, before, sizeof before);
    check_close(fabs(v[0]) + fabs(v[1]), 0, 0);
    st_articulation_destroy(robot);
    run_close(&run);
}

/* Unknown contact forces: they are within their cones, and with them and tau forward dynamics returns the requested
 * acceleration. A pull that no contact can supply is missing: its weight. */
static void test_unknown_contacts(void **unused)
{
    (void)unused;
    Robot robot;
    robot_open(&robot, "examples/robots/dog-stands.json", 400);
    st_Touch touches[16] = {0};
    int n = 0;
    for (int c = 0; c < st_system_contact_count(robot.run.sys) && n < 16; c++) {
        st_ContactReport contact;
        assert_int_equal(st_system_contact(robot.run.sys, c, &contact), ST_OK);
        if (contact.joint.index1 == 0)
            touches[n++] = (st_Touch){contact.a, contact.b, contact.point, contact.normal, 0.6};
    }
    assert_int_equal(n, 8); /* two dogs */
    double wanted[MOST_V], tau[MOST_V], back[MOST_V], mass = 0;
    st_Vec3 force[16];
    st_BodyForce known[16];
    for (int i = 0; i < robot.n_v; i++)
        wanted[i] = 0.3 * sin(i);
    double missing;
    check_ok(st_articulation_inverse_contacts(robot.of, wanted, touches, n, NULL, tau, robot.n_v, force, &missing,
                                              &robot.run.err),
             robot.run.err);
    check_below(missing, 1e-7);
    for (int k = 0; k < n; k++) {
        const double normal = dot(force[k], touches[k].normal);
        check_below(norm(sub(force[k], scale(normal, touches[k].normal))), 0.6 * normal + 1e-9);
        known[k] = (st_BodyForce){touches[k].b, touches[k].point, force[k], {0, 0, 0}};
    }
    check_ok(st_articulation_forward_dynamics(robot.of, tau, known, n, back, robot.n_v, &robot.run.err), robot.run.err);
    for (int i = 0; i < robot.n_v; i++)
        check_close(back[i], wanted[i], 1e-5);
    for (int k = 0; k < st_articulation_link_count(robot.of); k++) { /* a fall of 2 g */
        st_Link link;
        assert_int_equal(st_articulation_link(robot.of, k, &link), ST_OK);
        for (int i = link.first_v; i < link.first_v + link.n_v; i++)
            wanted[i] = link.joint.index1 == 0 && i == link.first_v + 2 ? -2 * 9.81 : 0;
    }
    st_CentreOfMass whole;
    check_ok(st_articulation_centre_of_mass(robot.of, (st_BodyId){0}, &whole, NULL, 0, &robot.run.err), robot.run.err);
    mass = whole.mass / 2;
    memset(robot.v, 0, sizeof robot.v);
    check_ok(st_articulation_set_state(robot.of, NULL, 0, robot.v, robot.n_v, &robot.run.err), robot.run.err);
    check_ok(st_articulation_inverse_contacts(robot.of, wanted, touches, n, NULL, tau, robot.n_v, force, &missing,
                                              &robot.run.err),
             robot.run.err);
    assert_true(missing > 0.99 * 9.81 * mass);
    for (int k = 0; k < n; k++)
        check_below(norm(force[k]), 1e-6);
    touches[1].normal = vec3(0, 0, 2);
    assert_int_equal(st_articulation_inverse_contacts(robot.of, wanted, touches, n, NULL, tau, robot.n_v, force,
                                                      &missing, &robot.run.err),
                     ST_ERR_ARGUMENT);
    assert_non_null(strstr(robot.run.err.message, "touch 1"));
    robot_close(&robot);
}

/* The control vector: names, values as set, and the motion of st_system_set_motor. */
static void test_controls(void **unused)
{
    (void)unused;
    Run run, other;
    run_open(&run, "examples/robots/hopper.xml", NULL);
    run_open(&other, "examples/robots/hopper.xml", NULL);
    enum { N = 3 };
    static const char *const names[N] = {"hip.motor", "knee.motor", "ankle.motor"};
    const double values[N] = {0.1, NAN, -0.2};
    double got[N];
    char name[100];
    assert_int_equal(st_system_control_count(run.sys), N);
    for (int k = 0; k < N; k++) {
        assert_int_equal(st_system_control_name(run.sys, k, name, sizeof name), ST_OK);
        assert_string_equal(name, names[k]);
    }
    assert_int_equal(st_system_control_name(run.sys, N, name, sizeof name), ST_ERR_ARGUMENT);
    check_ok(st_system_set_controls(run.sys, values, N, &run.err), run.err);
    check_ok(st_system_controls(run.sys, got, N, &run.err), run.err);
    assert_true(got[0] == 0.1 && isnan(got[1]) && got[2] == -0.2);
    for (int j = 1; j <= st_scene_joint_count(other.scene); j++) {
        st_JointDef joint;
        assert_int_equal(st_scene_joint(other.scene, (st_JointId){j}, &joint), ST_OK);
        if (strcmp(joint.name, "hip") == 0)
            check_ok(st_system_set_motor(other.sys, (st_JointId){j}, 0.1, &other.err), other.err);
        if (strcmp(joint.name, "ankle") == 0)
            check_ok(st_system_set_motor(other.sys, (st_JointId){j}, -0.2, &other.err), other.err);
    }
    const double bad[N] = {0.5, 0, INFINITY};
    assert_int_equal(st_system_set_controls(run.sys, bad, N, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "ankle.motor"));
    assert_int_equal(st_system_set_controls(run.sys, values, N - 1, &run.err), ST_ERR_ARGUMENT);
    for (int k = 0; k < 50; k++) {
        run_step(&run);
        run_step(&other);
    }
    assert_int_equal(st_system_hash(run.sys), st_system_hash(other.sys));
    run_close(&run);
    run_close(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_bodies),
        cmocka_unit_test(test_write),
        cmocka_unit_test(test_forward_dynamics),
        cmocka_unit_test(test_idle_loops),
        cmocka_unit_test(test_inverse_dynamics),
        cmocka_unit_test(test_jacobians),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_step_of_massless_leaf),
        cmocka_unit_test(test_reach),
        cmocka_unit_test(test_reach_pose),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_wrong_lengths),
        cmocka_unit_test(test_massless_leaf),
        cmocka_unit_test(test_refused_loops_and_joints),
        cmocka_unit_test(test_unknown_contacts),
        cmocka_unit_test(test_controls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
