/* Mechanisms beside a pile on flat arrays (setting `device`): trees of joints, springs and forces that touch grains.
 * Against hand calculations, the ordinary step, the balance of momentum and energy, and the bits of other thread
 * counts.
 */
#include "device_world.h"

#include <string.h>

static st_JointId hinge(World *w, st_JointType type, st_BodyId a, st_BodyId b, st_Vec3 point, st_Vec3 axis,
                        const st_MotorDef *motor)
{
    st_JointDef joint = st_joint_def(type);
    st_JointId id;
    joint.a = a;
    joint.b = b;
    joint.point = point;
    joint.axis = axis;
    if (motor != NULL) joint.motor = *motor;
    check_ok(st_scene_add_joint(w->scene, &joint, &id, &w->err), w->err);
    return id;
}

static st_ShapeDef rough(st_ShapeDef shape, double mu)
{
    shape.mu = mu;
    return shape;
}

/* ---- against the ordinary step -------------------------------------------------------------------- */

/* A pendulum without weight swings into a ball at rest: two bodies, a joint and one contact, which the host solves
 * exactly. The ordinary step has the same velocities. */
static void pendulum_hits_a_ball(void **state)
{
    (void)state;
    World w, other;
    begin(&w);
    w.def.gravity = (st_Vec3){0, 0, 0};
    st_BodyDef def = st_body_def();
    const st_ShapeDef box = rough(st_box_def(0.05, 0.05, 0.2), 0.4);
    st_BodyId bob;
    def.pose.p.z = 0.4;
    def.velocity.x = 1.5;
    def.spin.y = -2.5;
    check_ok(st_scene_add_body(w.scene, &def, &bob, &w.err), w.err);
    check_ok(st_scene_add_shape(w.scene, bob, &box, NULL, &w.err), w.err);
    const st_BodyId ball =
        add_body(&w, rough(st_sphere_def(0.1), 0.4), (st_Vec3){0.3, 0.03, 0.42}, (st_Vec3){0, 0, 0}, 0.5);
    hinge(&w, ST_JOINT_REVOLUTE, ST_GROUND, bob, (st_Vec3){0, 0, 1}, (st_Vec3){0, 1, 0}, NULL);
    start(&w);
    other = w;
    other.def.device = ST_DEVICE_NONE;
    start(&other);
    bool hit = false;
    for (int k = 0; k < 200; k++) {
        steps(&w, 1);
        steps(&other, 1);
        hit = hit || velocity_of(&w, ball, NULL).x > 0.1;
        for (int b = 0; b < 2; b++) {
            const st_BodyId id = b == 0 ? bob : ball;
            st_Vec3 spin, spin_there;
            const st_Vec3 v = velocity_of(&w, id, &spin), there = velocity_of(&other, id, &spin_there);
            check_close(v.x, there.x, 1e-8);
            check_close(v.y, there.y, 1e-8);
            check_close(v.z, there.z, 1e-8);
            check_close(spin.x, spin_there.x, 1e-7);
            check_close(spin.y, spin_there.y, 1e-7);
        }
        check_close(w.info.joint_error, other.info.joint_error, 1e-8);
    }
    assert_true(hit);
    st_system_destroy(other.system);
    end(&w);
}

/* ---- forces at rest -------------------------------------------------------------------------------- */

/* A plank of mass M and length L, hinged at one end, lies on a ball at a distance a from the hinge: the ball carries
 * M g L/(2 a), the hinge the rest, and the floor below the ball the load and the ball's weight. */
static void plank_on_a_ball(void **state)
{
    (void)state;
    World w;
    const double M = 6, L = 1.2, a = 0.8, r = 0.1, m = 0.3, g = 9.81;
    begin(&w);
    w.def.tolerance = 1e-8;
    w.def.max_iterations = 2000;
    add_to_ground(&w, rough(st_plane_def(), 0.5));
    const st_BodyId plank = add_body(&w, rough(st_box_def(0.5 * L, 0.1, 0.02), 0.5),
                                     (st_Vec3){0.5 * L, 0, 2 * r + 0.02}, (st_Vec3){0, 0, 0}, M);
    const st_BodyId ball = add_body(&w, rough(st_sphere_def(r), 0.5), (st_Vec3){a, 0, r}, (st_Vec3){0, 0, 0}, m);
    const st_JointId joint =
        hinge(&w, ST_JOINT_REVOLUTE, ST_GROUND, plank, (st_Vec3){0, 0, 2 * r + 0.02}, (st_Vec3){0, 1, 0}, NULL);
    start(&w);
    steps(&w, 60);
    const double load = M * g * L / (2 * a);
    st_JointReport report;
    assert_int_equal(st_system_joint(w.system, joint, ST_FRAME_WORLD, &report), ST_OK);
    check_close(report.force.z, M * g - load, 1e-5 * M * g);
    double on_floor = 0, on_plank = 0;
    for (int k = 0; k < st_system_contact_count(w.system); k++) {
        st_ContactReport c;
        assert_int_equal(st_system_contact(w.system, k, &c), ST_OK);
        const bool floor = c.a.index1 == 0 || c.b.index1 == 0;
        const double sign = c.b.index1 == ball.index1 || c.b.index1 == plank.index1 ? 1 : -1;
        if (floor) on_floor += sign * c.force.z;
        if (!floor) on_plank += (c.b.index1 == plank.index1 ? 1 : -1) * c.force.z;
    }
    check_close(on_plank, load, 1e-5 * M * g);
    check_close(on_floor, load + m * g, 1e-5 * M * g);
    st_BodyLoad loads[2];
    check_ok(st_system_loads(w.system, loads, 2, &w.err), w.err);
    check_close(loads[plank.index1 - 1].force[ST_LOAD_CONTACT].z, load, 1e-5 * M * g);
    check_close(loads[plank.index1 - 1].force[ST_LOAD_JOINT].z, M * g - load, 1e-5 * M * g);
    check_close(loads[ball.index1 - 1].force[ST_LOAD_CONTACT].z, m * g, 1e-5 * M * g);
    end(&w);
}

/* ---- a bed of grains ------------------------------------------------------------------------------- */

enum { ACROSS = 6, LAYERS = 3 };
#define RADIUS 0.05

/* Balls of slightly different sizes in a box with walls of 0.6 m. */
static void add_bed(World *w)
{
    check_Random random = {7};
    const double side = 2.2 * RADIUS * ACROSS;
    add_to_ground(w, rough(st_plane_def(), 0.5));
    for (int k = 0; k < 4; k++) {
        st_ShapeDef wall = rough(st_box_def(k < 2 ? 0.05 : side, k < 2 ? side : 0.05, 0.5), 0.5);
        const double at = (k % 2 == 0 ? 1 : -1) * (0.5 * side + 0.05);
        wall.pose.p = (st_Vec3){k < 2 ? at : 0, k < 2 ? 0 : at, 0.5};
        add_to_ground(w, wall);
    }
    for (int z = 0; z < LAYERS; z++)
        for (int y = 0; y < ACROSS; y++)
            for (int x = 0; x < ACROSS; x++) {
                const double r = RADIUS * check_random(&random, 0.9, 1);
                add_body(w, rough(st_sphere_def(r), 0.5),
                         (st_Vec3){2.2 * RADIUS * (x - 0.5 * (ACROSS - 1)), 2.2 * RADIUS * (y - 0.5 * (ACROSS - 1)),
                                   RADIUS * (1 + 2.05 * z)},
                         (st_Vec3){check_random(&random, -0.1, 0.1), 0, 0}, 0);
            }
}

static double total_mass(const World *w)
{
    double sum = 0;
    for (int b = 1; b <= st_scene_body_count(w->scene); b++) {
        double mass;
        st_Mat3 inertia;
        check_ok(st_scene_body_mass(w->scene, (st_BodyId){b}, &mass, &inertia, NULL), w->err);
        sum += mass;
    }
    return sum;
}

/* The momentum of all bodies changes by weight, contacts with the ground and the joints to it: to rounding, in each
 * step, however many sweeps were made. */
static void check_momentum(const World *w, st_Vec3 before, const st_JointId *joint, int n_joints, double scale)
{
    st_Vec3 P;
    assert_int_equal(st_system_momentum(w->system, &P, NULL), ST_OK);
    double rest[3] = {P.x - before.x, P.y - before.y, P.z - before.z + total_mass(w) * 9.81 * w->def.h};
    for (int k = 0; k < st_system_contact_count(w->system); k++) {
        st_ContactReport c;
        assert_int_equal(st_system_contact(w->system, k, &c), ST_OK);
        if (c.joint.index1 > 0 || (c.a.index1 != 0 && c.b.index1 != 0)) continue;
        const double sign = c.a.index1 == 0 ? 1 : -1;
        const st_Vec3 o = {c.normal.y * c.tangent.z - c.normal.z * c.tangent.y,
                           c.normal.z * c.tangent.x - c.normal.x * c.tangent.z,
                           c.normal.x * c.tangent.y - c.normal.y * c.tangent.x};
        rest[0] -= sign * (c.impulse[0] * c.normal.x + c.impulse[1] * c.tangent.x + c.impulse[2] * o.x);
        rest[1] -= sign * (c.impulse[0] * c.normal.y + c.impulse[1] * c.tangent.y + c.impulse[2] * o.y);
        rest[2] -= sign * (c.impulse[0] * c.normal.z + c.impulse[1] * c.tangent.z + c.impulse[2] * o.z);
    }
    for (int k = 0; k < n_joints; k++) {
        st_JointReport report;
        assert_int_equal(st_system_joint(w->system, joint[k], ST_FRAME_WORLD, &report), ST_OK);
        rest[0] -= report.impulse.x;
        rest[1] -= report.impulse.y;
        rest[2] -= report.impulse.z;
    }
    for (int k = 0; k < 3; k++)
        check_close(rest[k], 0, 1e-12 * scale);
}

/* A blade on a slide, pulled by a motor of limited force, ploughs through the bed. */
static void plough(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        World w;
        begin(&w);
        if (few == 1) w.def.max_iterations = 3;
        add_bed(&w);
        const st_BodyId blade =
            add_body(&w, rough(st_box_def(0.02, 0.15, 0.15), 0.3), (st_Vec3){-0.2, 0, 0.48}, (st_Vec3){0, 0, 0}, 3);
        const st_BodyId carriage =
            add_body(&w, rough(st_box_def(0.05, 0.05, 0.05), 0.3), (st_Vec3){-0.2, 0, 0.9}, (st_Vec3){0, 0, 0}, 1);
        st_MotorDef motor = st_joint_def(ST_JOINT_PRISMATIC).motor;
        motor.type = ST_MOTOR_SPEED;
        motor.target = 0.3;
        motor.max_force = 60;
        const st_JointId slide =
            hinge(&w, ST_JOINT_PRISMATIC, ST_GROUND, carriage, (st_Vec3){-0.2, 0, 0.9}, (st_Vec3){1, 0, 0}, &motor);
        hinge(&w, ST_JOINT_PRISMATIC, carriage, blade, (st_Vec3){-0.2, 0, 0.9}, (st_Vec3){0, 0, 1}, NULL);
        start(&w);
        double worst = 0;
        for (int k = 0; k < 240; k++) {
            st_Vec3 before;
            assert_int_equal(st_system_momentum(w.system, &before, NULL), ST_OK);
            steps(&w, 1);
            check_momentum(&w, before, &slide, 1, total_mass(&w));
            worst = fmax(worst, w.info.penetration);
        }
        check_below(worst, few == 1 ? 0.2 * RADIUS : 0.02 * RADIUS);
        assert_true(place_of(&w, blade).x > -0.1);
        check_below(w.info.joint_error, 1e-4);
        end(&w);
    }
}

/* ---- a robot that stands on grains ----------------------------------------------------------------- */

enum { N_LEGS = 4 };

/* A trunk on four legs of two links, knees bent, each joint held by a spring and a damper. */
static st_BodyId add_quadruped(World *w, double z)
{
    st_MotorDef motor = st_joint_def(ST_JOINT_REVOLUTE).motor;
    motor.type = ST_MOTOR_POSITION;
    motor.stiffness = 300;
    motor.damping = 8;
    motor.max_force = 60;
    const st_BodyId trunk =
        add_body(w, rough(st_box_def(0.2, 0.1, 0.05), 0.6), (st_Vec3){0, 0, z + 0.45}, (st_Vec3){0, 0, 0}, 6);
    for (int k = 0; k < N_LEGS; k++) {
        const double x = k < 2 ? 0.17 : -0.17, y = k % 2 == 0 ? 0.14 : -0.14;
        const st_BodyId thigh =
            add_body(w, rough(st_box_def(0.02, 0.02, 0.09), 0.6), (st_Vec3){x, y, z + 0.35}, (st_Vec3){0, 0, 0}, 0.6);
        const st_BodyId shank =
            add_body(w, rough(st_capsule_def(0.03, 0.2), 0.6), (st_Vec3){x, y, z + 0.14}, (st_Vec3){0, 0, 0}, 0.3);
        hinge(w, ST_JOINT_REVOLUTE, trunk, thigh, (st_Vec3){x, y, z + 0.45}, (st_Vec3){0, 1, 0}, &motor);
        hinge(w, ST_JOINT_REVOLUTE, thigh, shank, (st_Vec3){x, y, z + 0.245}, (st_Vec3){0, 1, 0}, &motor);
    }
    return trunk;
}

/* It comes to rest on the bed, which carries its weight, at the height of the ordinary step (within the radius of a
 * grain: grains land elsewhere). The bits are those of two threads. A copy that is restored half way goes on
 * within the tolerance. */
static void quadruped_stands_on_a_bed(void **state)
{
    (void)state;
    World w, other, host;
    begin(&w);
    add_bed(&w);
    const st_BodyId trunk = add_quadruped(&w, RADIUS * 2.05 * LAYERS + 0.04);
    start(&w);
    other = w;
    other.def.threads = 2;
    start(&other);
    host = w;
    host.def.device = ST_DEVICE_NONE;
    start(&host);
    const double weight = (6 + 4 * 0.9) * 9.81;
    int unsolved = 0;
    double gain = 0, energy = 0;
    for (int k = 0; k < 400; k++) {
        steps(&w, 1);
        if (k < 160) {
            steps(&host, 1);
            check_close(place_of(&w, trunk).z, place_of(&host, trunk).z, RADIUS);
        }
        unsolved += !w.info.solve.converged;
        const double now = w.info.kinetic + w.info.potential;
        if (k > 0) gain = fmax(gain, now - energy);
        energy = now;
        if (k == 59) {
            steps(&other, 60);
            assert_int_equal(st_system_hash(w.system), st_system_hash(other.system));
        }
    }
    double on_feet = 0, square = 0;
    for (int k = 0; k < st_system_contact_count(w.system); k++) {
        st_ContactReport c;
        assert_int_equal(st_system_contact(w.system, k, &c), ST_OK);
        const bool a = c.a.index1 >= trunk.index1, b = c.b.index1 >= trunk.index1;
        if (a != b) on_feet += (b ? 1 : -1) * c.force.z;
    }
    for (int b = trunk.index1; b <= st_scene_body_count(w.scene); b++) { /* grains beside it roll for longer */
        const st_Vec3 v = velocity_of(&w, (st_BodyId){b}, NULL);
        square += (v.x * v.x + v.y * v.y + v.z * v.z) / (st_scene_body_count(w.scene) - trunk.index1 + 1);
    }
    check_below(sqrt(square), 2e-3);
    check_close(on_feet, weight, 0.02 * weight);
    check_below(gain, 1e-4 * weight * 0.45); /* of the height of the trunk */
    check_below(unsolved, 50);

    st_System *copy;
    st_Vec3 v;
    check_ok(st_system_clone(w.system, &copy, &w.err), w.err);
    steps(&w, 5);
    for (int k = 0; k < 5; k++)
        check_ok(st_system_step(copy, w.def.h, NULL, &w.err), w.err);
    assert_int_equal(st_system_velocity(copy, trunk, &v, NULL), ST_OK);
    check_close(v.z, velocity_of(&w, trunk, NULL).z, 1e-2 * 9.81 * w.def.h);
    st_system_destroy(copy);
    st_system_destroy(other.system);
    st_system_destroy(host.system);
    end(&w);
}

/* ---- controllers ----------------------------------------------------------------------------------- */

/* A motor, a force and a push that are set between steps act as in the ordinary step; so do a spring and a gear on a
 * joint that a motor holds. */
static void controllers_reach_mechanisms(void **state)
{
    (void)state;
    World w, other;
    begin(&w);
    w.def.gravity = (st_Vec3){0, 0, 0};
    st_MotorDef motor = st_joint_def(ST_JOINT_REVOLUTE).motor;
    motor.type = ST_MOTOR_FORCE;
    st_BodyId body[4];
    for (int k = 0; k < 4; k++)
        body[k] = add_body(&w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){k, 0, 0}, (st_Vec3){0, 0, 0}, 1);
    const st_BodyId grain = add_body(&w, st_sphere_def(0.1), (st_Vec3){1.25, 0, 0}, (st_Vec3){0, 0, 0}, 1);
    const st_JointId arm =
        hinge(&w, ST_JOINT_REVOLUTE, ST_GROUND, body[0], (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 1}, &motor);
    motor.type = ST_MOTOR_SPEED;
    motor.target = 2;
    const st_JointId held =
        hinge(&w, ST_JOINT_REVOLUTE, ST_GROUND, body[2], (st_Vec3){2, 0, 0}, (st_Vec3){0, 0, 1}, &motor);
    const st_JointId wheel =
        hinge(&w, ST_JOINT_REVOLUTE, ST_GROUND, body[3], (st_Vec3){3, 0, 0}, (st_Vec3){0, 0, 1}, NULL);
    st_JointDef gear = st_joint_def(ST_JOINT_GEAR);
    gear.joint_a = wheel, gear.joint_b = held, gear.ratio = 3;
    check_ok(st_scene_add_joint(w.scene, &gear, NULL, &w.err), w.err);
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    st_SpringId spring_id;
    spring.b = body[1], spring.point_a = (st_Vec3){1, 2, 0}, spring.point_b = (st_Vec3){1, 0, 0};
    spring.stiffness = 40;
    check_ok(st_scene_add_spring(w.scene, &spring, &spring_id, &w.err), w.err);
    st_ForceDef force = st_force_def();
    st_ForceId force_id;
    force.body = body[1];
    check_ok(st_scene_add_force(w.scene, &force, &force_id, &w.err), w.err);
    start(&w);
    other = w;
    other.def.device = ST_DEVICE_NONE;
    start(&other);
    for (int k = 0; k < 2; k++) {
        World *of = k == 0 ? &w : &other;
        steps(of, 3);
        check_ok(st_system_set_motor(of->system, arm, 0.7, &of->err), of->err);
        check_ok(st_system_set_force(of->system, force_id, &(st_Vec3){5, 1, 0}, NULL, &of->err), of->err);
        steps(of, 20);
        check_ok(st_system_push(of->system, body[1], &(st_Vec3){0, 0, 3}, NULL, &of->err), of->err);
        steps(of, 40);
    }
    for (int k = 0; k < 5; k++) {
        const st_BodyId id = k < 4 ? body[k] : grain;
        st_Vec3 spin, spin_there;
        const st_Vec3 v = velocity_of(&w, id, &spin), there = velocity_of(&other, id, &spin_there);
        check_close(v.x, there.x, 1e-7);
        check_close(v.y, there.y, 1e-7);
        check_close(v.z, there.z, 1e-7);
        check_close(spin.z, spin_there.z, 1e-7);
    }
    st_Vec3 spin;
    velocity_of(&w, body[3], &spin);
    check_close(spin.z, 6, 1e-9);
    assert_true(velocity_of(&w, grain, NULL).x > 0.1);
    st_SpringReport report, report_there;
    assert_int_equal(st_system_spring(w.system, spring_id, &report), ST_OK);
    assert_int_equal(st_system_spring(other.system, spring_id, &report_there), ST_OK);
    assert_true(fabs(report.force) > 0);
    check_close(report.force, report_there.force, 1e-5);
    st_JointReport joint, joint_there;
    assert_int_equal(st_system_joint(w.system, wheel, ST_FRAME_WORLD, &joint), ST_OK);
    assert_int_equal(st_system_joint(other.system, wheel, ST_FRAME_WORLD, &joint_there), ST_OK);
    check_close(joint.coordinate, joint_there.coordinate, 1e-9);
    st_system_destroy(other.system);
    end(&w);
}

/* ---- refusals -------------------------------------------------------------------------------------- */

static void refuses_by_name(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        World w;
        begin(&w);
        st_ShapeDef shape = k == 0 ? st_plane_def() : st_box_def(0.1, 0.1, 0.1);
        shape.name = "flap";
        if (k == 1) shape.groups = 1u << 31;
        st_BodyDef def = st_body_def();
        st_BodyId body;
        def.mass = 1;
        def.inertia.m[0] = def.inertia.m[4] = def.inertia.m[8] = 0.01;
        check_ok(st_scene_add_body(w.scene, &def, &body, &w.err), w.err);
        check_ok(st_scene_add_shape(w.scene, body, &shape, NULL, &w.err), w.err);
        const st_BodyId grain = add_body(&w, st_sphere_def(0.1), (st_Vec3){0, 0, 3}, (st_Vec3){0, 0, 0}, 0);
        hinge(&w, ST_JOINT_BALL, ST_GROUND, body, (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 1}, NULL);
        if (k == 2) check_ok(st_scene_exclude(w.scene, body, grain, &w.err), w.err);
        assert_int_equal(st_system_create(w.scene, &w.def, &w.system, &w.err), ST_ERR_UNSUPPORTED);
        assert_non_null(strstr(w.err.message, k == 2 ? "do not touch" : "\"flap\""));
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_hits_a_ball),
        cmocka_unit_test(plank_on_a_ball),
        cmocka_unit_test(plough),
        cmocka_unit_test(quadruped_stands_on_a_bed),
        cmocka_unit_test(controllers_reach_mechanisms),
        cmocka_unit_test(refuses_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
