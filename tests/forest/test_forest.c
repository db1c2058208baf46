/* Kinematics and dynamics of trees, against differences of poses and the laws of Newton and Euler body by body. */
#include "check.h"
#include "forest/forest.h"

static st_Allocator allocator;

enum { MOST = 40 };

typedef struct Robot {
    sti_Forest forest;
    sti_ForestState state, near;
    double q[7 * MOST], v[6 * MOST], a[6 * MOST];
} Robot;

static st_Vec3 random_vector(check_Random *random, double size)
{
    return vec3(check_random(random, -size, size), check_random(random, -size, size),
                check_random(random, -size, size));
}

static st_Pose random_pose(check_Random *random)
{
    return (st_Pose){random_vector(random, 1), quat_exp(random_vector(random, 1.5))};
}

static const st_JointType types[] = {ST_JOINT_REVOLUTE,  ST_JOINT_PRISMATIC,   ST_JOINT_BALL,
                                     ST_JOINT_UNIVERSAL, ST_JOINT_CYLINDRICAL, ST_JOINT_PLANAR,
                                     ST_JOINT_SCREW,     ST_JOINT_FIXED,       ST_JOINT_FREE};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* A positive definite inertia that satisfies the triangle inequality: that of three pairs of points, turned. */
static st_Mat3 random_inertia(check_Random *random)
{
    const double x = check_random(random, 0.05, 1), y = check_random(random, 0.05, 1),
                 z = check_random(random, 0.05, 1);
    const st_Mat3 R = quat_matrix(quat_exp(random_vector(random, 2))), back = mat3_transpose(&R),
                  D = {{y + z, 0, 0, 0, x + z, 0, 0, 0, x + y}}, RD = mat3_product(&R, &D);
    return mat3_product(&RD, &back);
}

/* A forest with every type of joint, both ways round, a branch now and then; each with a state. */
static void make_robot(Robot *robot, uint64_t seed, int n_nodes)
{
    check_Random random = {seed};
    sti_Node node[MOST] = {{0}};
    for (int k = 1; k < n_nodes; k++) {
        node[k] = (sti_Node){.parent = k % 11 == 1 ? 0 : check_random_int(&random, k > 3 ? k - 3 : k / 2, k - 1),
                             .type = k <= N_TYPES ? types[k - 1] : types[check_random_int(&random, 0, N_TYPES - 1)],
                             .reversed = check_random_int(&random, 0, 1) == 1,
                             .frame_a = random_pose(&random),
                             .frame_b = random_pose(&random),
                             .lead = 0.2,
                             .locks = k == 9 ? 0x22 : 0,
                             .mass = check_random(&random, 0.2, 3),
                             .inertia = random_inertia(&random)};
    }
    st_Error err = {0};
    *robot = (Robot){0};
    check_ok(sti_forest_create(&allocator, node, n_nodes, &robot->forest, &err), err);
    check_ok(sti_forest_state_create(&robot->forest, &robot->state, &err), err);
    check_ok(sti_forest_state_create(&robot->forest, &robot->near, &err), err);
    sti_forest_neutral(&robot->forest, robot->q);
    for (int i = 0; i < robot->forest.n_v; i++)
        robot->v[i] = check_random(&random, -3, 3);
    sti_forest_move(&robot->forest, robot->q, robot->v, 1, robot->q); /* some angles beyond a turn's half */
    for (int i = 0; i < robot->forest.n_v; i++) {
        robot->v[i] = check_random(&random, -1, 1);
        robot->a[i] = check_random(&random, -1, 1);
    }
    sti_forest_place(&robot->forest, robot->q, &robot->state);
    sti_forest_velocities(&robot->forest, robot->v, &robot->state);
    sti_forest_accelerations(&robot->forest, robot->v, robot->a, &robot->state);
}

static void free_robot(Robot *robot)
{
    sti_forest_state_free(&robot->forest, &robot->state);
    sti_forest_state_free(&robot->forest, &robot->near);
    sti_forest_free(&robot->forest);
}

static void check_vector(st_Vec3 got, st_Vec3 expected, double tolerance)
{
    check_close(got.x, expected.x, tolerance);
    check_close(got.y, expected.y, tolerance);
    check_close(got.z, expected.z, tolerance);
}

/* Velocity of the centre of mass of a node. */
static st_Vec3 centre_velocity(const Robot *robot, const sti_ForestState *state, int node)
{
    return spatial_at(state->velocity[node], sub(state->pose[node].p, sti_forest_origin(&robot->forest, state, node)));
}

/* The classical acceleration of the centre of mass: that of the reference point's field, carried along. */
static st_Vec3 centre_acceleration(const Robot *robot, int node)
{
    const sti_ForestState *state = &robot->state;
    const st_Vec3 arm = sub(state->pose[node].p, sti_forest_origin(&robot->forest, state, node));
    return add(spatial_at(state->rate[node], arm),
               cross(state->velocity[node].angular, centre_velocity(robot, state, node)));
}

/* At q moved by e v, with velocity v + e a. */
static void go(Robot *robot, double e)
{
    double q[7 * MOST], v[6 * MOST], mean[6 * MOST];
    for (int i = 0; i < robot->forest.n_v; i++) {
        v[i] = robot->v[i] + e * robot->a[i];
        mean[i] = robot->v[i] + 0.5 * e * robot->a[i];
    }
    sti_forest_move(&robot->forest, robot->q, mean, e, q);
    sti_forest_place(&robot->forest, q, &robot->near);
    sti_forest_velocities(&robot->forest, v, &robot->near);
}

/* Velocities are the differences of poses, accelerations those of velocities: central, so off by e^2. */
static void test_differences(void **unused)
{
    (void)unused;
    const double e = 1e-5;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Robot robot;
        make_robot(&robot, seed, 10 + 5 * (int)seed);
        const int n = robot.forest.n_nodes;
        st_Pose before[MOST], after[MOST];
        st_Vec3 v_before[MOST], w_before[MOST], v_after[MOST], w_after[MOST];
        go(&robot, -e);
        for (int k = 1; k < n; k++) {
            before[k] = robot.near.pose[k];
            v_before[k] = centre_velocity(&robot, &robot.near, k);
            w_before[k] = robot.near.velocity[k].angular;
        }
        go(&robot, e);
        for (int k = 1; k < n; k++) {
            after[k] = robot.near.pose[k];
            v_after[k] = centre_velocity(&robot, &robot.near, k);
            w_after[k] = robot.near.velocity[k].angular;
        }
        for (int k = 1; k < n; k++) {
            const double scale_k =
                1 + norm(centre_velocity(&robot, &robot.state, k)) + norm(centre_acceleration(&robot, k));
            check_vector(scale(0.5 / e, sub(after[k].p, before[k].p)), centre_velocity(&robot, &robot.state, k),
                         1e-8 * scale_k);
            const st_Quat turned = quat_product(after[k].q, quat_conjugate(before[k].q));
            check_vector(scale(0.5 / e, quat_log(turned)), robot.state.velocity[k].angular, 1e-8 * scale_k);
            check_vector(scale(0.5 / e, sub(v_after[k], v_before[k])), centre_acceleration(&robot, k), 1e-7 * scale_k);
            check_vector(scale(0.5 / e, sub(w_after[k], w_before[k])), robot.state.rate[k].angular, 1e-7 * scale_k);
        }
        free_robot(&robot);
    }
}

/* x' M y is the sum over bodies of m v_x . v_y + w_x . J w_y. */
static void test_mass(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Robot robot;
        double Mv[6 * MOST];
        make_robot(&robot, seed, 35);
        sti_forest_mass(&robot.forest, &robot.state);
        sti_forest_multiply(&robot.forest, robot.state.M, robot.v, Mv);
        sti_forest_place(&robot.forest, robot.q, &robot.near);
        sti_forest_velocities(&robot.forest, robot.a, &robot.near); /* a serves as another velocity */
        double got = 0, expected = 0;
        for (int i = 0; i < robot.forest.n_v; i++)
            got += Mv[i] * robot.a[i];
        for (int k = 1; k < robot.forest.n_nodes; k++) {
            const sti_Node *node = &robot.forest.node[k];
            const st_Vec3 w = rotate_back(robot.state.pose[k].q, robot.state.velocity[k].angular),
                          other = rotate_back(robot.state.pose[k].q, robot.near.velocity[k].angular);
            expected +=
                node->mass * dot(centre_velocity(&robot, &robot.state, k), centre_velocity(&robot, &robot.near, k)) +
                dot(other, mat3_mul(&node->inertia, w));
        }
        check_close(got, expected, 1e-12 * (fabs(expected) + 100));
        free_robot(&robot);
    }
}

/* d'Alembert: the power of the joints' forces along any velocity u is that of  m a - f  and  J dw/dt + w x J w - t. */
static void test_inverse_dynamics(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Robot robot;
        sti_Spatial applied[MOST];
        double tau[6 * MOST], u[6 * MOST], got = 0, expected = 0;
        check_Random random = {seed + 100};
        make_robot(&robot, seed, 35);
        for (int k = 0; k < robot.forest.n_nodes; k++)
            applied[k] = (sti_Spatial){random_vector(&random, 5), random_vector(&random, 5)};
        sti_forest_inverse_dynamics(&robot.forest, robot.a, applied, false, &robot.state, tau);
        for (int i = 0; i < robot.forest.n_v; i++) {
            u[i] = check_random(&random, -1, 1);
            got += tau[i] * u[i];
        }
        sti_forest_place(&robot.forest, robot.q, &robot.near);
        sti_forest_velocities(&robot.forest, u, &robot.near);
        for (int k = 1; k < robot.forest.n_nodes; k++) {
            const sti_Node *node = &robot.forest.node[k];
            const st_Quat q = robot.state.pose[k].q;
            const st_Vec3 w = rotate_back(q, robot.state.velocity[k].angular),
                          w_rate = rotate_back(q, robot.state.rate[k].angular);
            const st_Vec3 torque =
                add(mat3_mul(&node->inertia, w_rate), cross(w, mat3_mul(&node->inertia, w))); /* body axes */
            const st_Vec3 force = scale(node->mass, centre_acceleration(&robot, k));
            expected += dot(sub(force, applied[k].linear), centre_velocity(&robot, &robot.near, k)) +
                        dot(sub(rotate(q, torque), applied[k].angular), robot.near.velocity[k].angular);
        }
        check_close(got, expected, 1e-11 * (fabs(expected) + 100));
        free_robot(&robot);
    }
}

/* Inverse, then forward dynamics returns the acceleration; armatures included. */
static void test_forward_dynamics(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Robot robot;
        double tau[6 * MOST], bias[6 * MOST], x[6 * MOST], y[6 * MOST];
        make_robot(&robot, seed, 35);
        robot.forest.node[1].armature[0] = 0.7;
        robot.forest.node[5].armature[1] = 0.3;
        sti_forest_inverse_dynamics(&robot.forest, robot.a, NULL, false, &robot.state, tau);
        sti_forest_accelerations(&robot.forest, robot.v, NULL, &robot.state);
        sti_forest_inverse_dynamics(&robot.forest, NULL, NULL, false, &robot.state, bias);
        sti_forest_mass(&robot.forest, &robot.state);
        assert_int_equal(sti_forest_factor(&robot.forest, robot.state.M, robot.state.L), -1);
        for (int i = 0; i < robot.forest.n_v; i++)
            x[i] = tau[i] - bias[i];
        sti_forest_solve(&robot.forest, robot.state.L, x);
        for (int i = 0; i < robot.forest.n_v; i++)
            check_close(x[i], robot.a[i], 1e-9);
        sti_forest_multiply(&robot.forest, robot.state.M, x, y);
        for (int i = 0; i < robot.forest.n_v; i++)
            check_close(y[i], tau[i] - bias[i], 1e-9 * (1 + fabs(tau[i])));
        free_robot(&robot);
    }
}

/* Coordinates from poses, whole turns included, and velocities of joints from those of bodies. */
static void test_coordinates(void **unused)
{
    (void)unused;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        Robot robot;
        double q[7 * MOST], v[6 * MOST], d[6 * MOST];
        make_robot(&robot, seed, 35);
        memcpy(q, robot.q, sizeof q);
        for (int i = 0; i < robot.forest.n_v; i++)
            v[i] = 0.4 * robot.a[i];
        sti_forest_move(&robot.forest, q, v, 1, q); /* near enough for its turns to be counted */
        sti_forest_coordinates(&robot.forest, robot.state.pose, q);
        sti_forest_difference(&robot.forest, robot.q, q, d);
        sti_forest_rates(&robot.forest, &robot.state, v);
        for (int i = 0; i < robot.forest.n_v; i++) {
            check_close(d[i], 0, 1e-12);
            check_close(v[i], robot.v[i], 1e-12 * 100);
        }
        sti_forest_move(&robot.forest, robot.q, robot.a, 0.7, q);
        sti_forest_difference(&robot.forest, robot.q, q, d);
        for (int i = 0; i < robot.forest.n_v; i++)
            check_close(d[i], 0.7 * robot.a[i], 1e-12);
        free_robot(&robot);
    }
}

/* Two bars of length 1 and mass 1, hinged about y at their ends: the textbook's matrix, also 10 km from the origin. */
static void test_double_pendulum(void **unused)
{
    (void)unused;
    const double far[] = {0, 1e4};
    for (int f = 0; f < 2; f++) {
        const st_Quat y_up = {sqrt(0.5), -sqrt(0.5), 0, 0}; /* z of the joint along y */
        const st_Mat3 J = {{1.0 / 12, 0, 0, 0, 1.0 / 12, 0, 0, 0, 1.0 / 12}};
        const sti_Node node[3] = {{0},
                                  {.parent = 0,
                                   .type = ST_JOINT_REVOLUTE,
                                   .mass = 1,
                                   .inertia = J,
                                   .frame_a = {{far[f], far[f], 0}, y_up},
                                   .frame_b = {{-0.5, 0, 0}, y_up}},
                                  {.parent = 1,
                                   .type = ST_JOINT_REVOLUTE,
                                   .mass = 1,
                                   .inertia = J,
                                   .frame_a = {{0.5, 0, 0}, y_up},
                                   .frame_b = {{-0.5, 0, 0}, y_up}}};
        const double q[2] = {0.3, 0.8}, v[2] = {1.5, -0.7};
        Robot robot = {0};
        st_Error err = {0};
        check_ok(sti_forest_create(&allocator, node, 3, &robot.forest, &err), err);
        check_ok(sti_forest_state_create(&robot.forest, &robot.state, &err), err);
        sti_forest_place(&robot.forest, q, &robot.state);
        sti_forest_velocities(&robot.forest, v, &robot.state);
        sti_forest_accelerations(&robot.forest, v, NULL, &robot.state);
        sti_forest_mass(&robot.forest, &robot.state);
        const double c = cos(0.8), s = sin(0.8), tolerance = f == 0 ? 1e-15 : 1e-11; /* the pose has 1e-12 m there */
        check_close(robot.state.M[0], 5.0 / 3 + c, 10 * tolerance);
        check_close(robot.state.M[1], 1.0 / 3, 10 * tolerance);
        check_close(robot.state.M[2], 1.0 / 3 + 0.5 * c, 10 * tolerance);
        const sti_Spatial weight[3] = {{.linear = {0, 0, 0}}, {.linear = {0, 0, -9.81}}, {.linear = {0, 0, -9.81}}};
        double tau[2], gravity[2];
        sti_forest_inverse_dynamics(&robot.forest, NULL, NULL, false, &robot.state, tau);
        check_close(tau[0], -0.5 * s * (2 * v[0] * v[1] + v[1] * v[1]), 100 * tolerance);
        check_close(tau[1], 0.5 * s * v[0] * v[0], 100 * tolerance);
        sti_forest_inverse_dynamics(&robot.forest, NULL, weight, true, &robot.state, gravity);
        check_close(gravity[0], -9.81 * (1.5 * cos(0.3) + 0.5 * cos(1.1)), 1000 * tolerance); /* z = -sin q */
        check_close(gravity[1], -9.81 * 0.5 * cos(1.1), 1000 * tolerance);
        free_robot(&robot);
    }
}

/* A body without inertia in a free direction: the factorisation names the velocity. */
static void test_no_inertia(void **unused)
{
    (void)unused;
    const sti_Node node[2] = {
        {0}, {.type = ST_JOINT_REVOLUTE, .frame_a = pose_identity(), .frame_b = pose_identity(), .mass = 1}};
    Robot robot = {0};
    st_Error err = {0};
    const double q = 0;
    check_ok(sti_forest_create(&allocator, node, 2, &robot.forest, &err), err);
    check_ok(sti_forest_state_create(&robot.forest, &robot.state, &err), err);
    sti_forest_place(&robot.forest, &q, &robot.state);
    sti_forest_mass(&robot.forest, &robot.state);
    assert_int_equal(sti_forest_factor(&robot.forest, robot.state.M, robot.state.L), 0);
    free_robot(&robot);
}

int main(void)
{
    allocator = st_default_allocator();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_differences),      cmocka_unit_test(test_mass),
        cmocka_unit_test(test_inverse_dynamics), cmocka_unit_test(test_forward_dynamics),
        cmocka_unit_test(test_coordinates),      cmocka_unit_test(test_double_pendulum),
        cmocka_unit_test(test_no_inertia),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
