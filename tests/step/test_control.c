/* Controllers: targets of motors and applied forces are set step by step. */
#include "check.h"

#include <stdlib.h>
#include <stiction/stiction.h>
#include <string.h>

/* A wheel of inertia J on a hinge along z, a cart of mass m on a rail along x, a ball of 1 kg that flies; no gravity.
 */
typedef struct Rig {
    st_Scene *scene;
    st_System *sys;
    st_SystemDef def;
    st_Error err;
    st_BodyId wheel, cart, ball;
    st_JointId hinge, rail;
    st_ForceId push;
} Rig;

static const double J = 0.5, m = 2.0;

static void describe(Rig *rig, st_MotorDef hinge_motor, st_MotorDef rail_motor)
{
    memset(rig, 0, sizeof *rig);
    rig->def = st_system_def();
    rig->def.gravity = (st_Vec3){0, 0, 0};
    check_ok(st_scene_create(&rig->scene, &rig->err), rig->err);
    st_BodyDef body = st_body_def();
    body.mass = m;
    body.inertia = (st_Mat3){{J, 0, 0, 0, J, 0, 0, 0, J}};
    check_ok(st_scene_add_body(rig->scene, &body, &rig->wheel, &rig->err), rig->err);
    body.pose.p.y = 5;
    check_ok(st_scene_add_body(rig->scene, &body, &rig->cart, &rig->err), rig->err);
    body.pose.p.y = 10, body.mass = 1;
    check_ok(st_scene_add_body(rig->scene, &body, &rig->ball, &rig->err), rig->err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = rig->wheel, joint.axis = (st_Vec3){0, 0, 1}, joint.motor = hinge_motor, joint.name = "hinge";
    check_ok(st_scene_add_joint(rig->scene, &joint, &rig->hinge, &rig->err), rig->err);
    joint = st_joint_def(ST_JOINT_PRISMATIC);
    joint.b = rig->cart, joint.axis = (st_Vec3){1, 0, 0}, joint.motor = rail_motor, joint.name = "rail";
    check_ok(st_scene_add_joint(rig->scene, &joint, &rig->rail, &rig->err), rig->err);
    st_ForceDef force = st_force_def();
    force.body = rig->ball, force.name = "push";
    check_ok(st_scene_add_force(rig->scene, &force, &rig->push, &rig->err), rig->err);
}

static void start(Rig *rig)
{
    check_ok(st_system_create(rig->scene, &rig->def, &rig->sys, &rig->err), rig->err);
}

static void step(Rig *rig, int n)
{
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(rig->sys, rig->def.h, NULL, &rig->err), rig->err);
}

static void end(Rig *rig)
{
    st_system_destroy(rig->sys);
    st_scene_destroy(rig->scene);
}

static st_MotorDef motor(st_MotorType type, double target)
{
    st_MotorDef out = st_joint_def(ST_JOINT_REVOLUTE).motor;
    out.type = type, out.target = target;
    return out;
}

static st_JointReport report(const Rig *rig, st_JointId joint)
{
    st_JointReport out;
    assert_int_equal(st_system_joint(rig->sys, joint, ST_FRAME_WORLD, &out), ST_OK);
    return out;
}

static double spin(const Rig *rig)
{
    st_Vec3 w;
    st_system_velocity(rig->sys, rig->wheel, NULL, &w);
    return w.z;
}

/* A constant torque: speed tau t / J, to rounding of the sum; the reaction on the ground is the torque. */
static void torque_accelerates(void **state)
{
    (void)state;
    for (int k = 0; k < st_preset_count(); k++) {
        Rig rig;
        describe(&rig, motor(ST_MOTOR_FORCE, 3), motor(ST_MOTOR_FORCE, -4));
        const st_SystemDef plain = rig.def;
        check_ok(st_preset_apply(&rig.def, st_preset_name(k), &rig.err), rig.err);
        rig.def.gravity = plain.gravity;
        start(&rig);
        step(&rig, 100);
        /* preclik-2011 has springs of 1e8 for joints: the free direction is still exact */
        check_close(spin(&rig), 3 * 0.1 / J, 1e-12);
        check_close(report(&rig, rig.hinge).motor, 3, 1e-12);
        check_close(report(&rig, rig.rail).speed, -4 * 0.1 / m, 1e-12);
        check_close(report(&rig, rig.rail).motor, -4, 1e-12);
        end(&rig);
    }
}

/* tau cos(w t): speed tau sin(w t)/(J w), of second order with sdirk2. */
static void torque_follows_its_profile(void **state)
{
    (void)state;
    double error[2];
    for (int k = 0; k < 2; k++) {
        Rig rig;
        st_MotorDef shaking = motor(ST_MOTOR_FORCE, 2);
        shaking.profile.type = ST_PROFILE_HARMONIC, shaking.profile.frequency = 7;
        describe(&rig, shaking, motor(ST_MOTOR_NONE, 0));
        rig.def.integrator = ST_INTEGRATOR_SDIRK2;
        rig.def.h = k == 0 ? 0.01 : 0.005;
        start(&rig);
        step(&rig, k == 0 ? 100 : 200);
        error[k] = fabs(spin(&rig) - 2 * sin(7.0) / (J * 7));
        end(&rig);
    }
    assert_true(error[0] < 1e-3);         /* h^2 w^2/12 of 0.57 */
    assert_true(error[1] < error[0] / 3); /* order two: a quarter */
}

/* max_force also limits values that a controller sets. */
static void torque_is_limited(void **state)
{
    (void)state;
    Rig rig;
    st_MotorDef weak = motor(ST_MOTOR_FORCE, 0);
    weak.max_force = 1.5;
    describe(&rig, weak, motor(ST_MOTOR_NONE, 0));
    start(&rig);
    check_ok(st_system_set_motor(rig.sys, rig.hinge, -100, &rig.err), rig.err);
    step(&rig, 10);
    check_close(spin(&rig), -1.5 * 0.01 / J, 1e-14);
    end(&rig);
}

/* A value takes effect in the very next step, for every kind of motor. */
static void next_step_obeys(void **state)
{
    (void)state;
    Rig rig;
    st_MotorDef limited = motor(ST_MOTOR_SPEED, 1);
    limited.max_force = 8;
    describe(&rig, motor(ST_MOTOR_SPEED, 1), limited); /* the hinge's is a joint row, the rail's a bounded one */
    start(&rig);
    step(&rig, 1000);
    check_close(spin(&rig), 1, 1e-12);
    check_close(report(&rig, rig.rail).speed, 1, 1e-12);
    check_ok(st_system_set_motor(rig.sys, rig.hinge, -3, &rig.err), rig.err);
    check_ok(st_system_set_motor(rig.sys, rig.rail, -3, &rig.err), rig.err);
    step(&rig, 1);
    check_close(spin(&rig), -3, 1e-12);
    check_close(report(&rig, rig.rail).speed, 1 - 8 * rig.def.h / m, 1e-12);   /* as fast as 8 N can */
    check_ok(st_system_set_motor(rig.sys, rig.hinge, NAN, &rig.err), rig.err); /* the scene's again */
    step(&rig, 1);
    check_close(spin(&rig), 1, 1e-12);
    end(&rig);
}

/* A spring and damper to the target position: exp(-2.5 s / 0.1 s) of the distance is left. */
static void position_is_reached(void **state)
{
    (void)state;
    Rig rig;
    st_MotorDef servo = motor(ST_MOTOR_POSITION, 0);
    servo.stiffness = 100 * J, servo.damping = 20 * J; /* critical, 10/s */
    describe(&rig, servo, motor(ST_MOTOR_NONE, 0));
    start(&rig);
    check_ok(st_system_set_motor(rig.sys, rig.hinge, 2.5, &rig.err), rig.err);
    step(&rig, 3000);
    check_close(report(&rig, rig.hinge).coordinate, 2.5, 1e-9);
    end(&rig);
}

/* F t / m, and F r t / J. */
static void force_is_told(void **state)
{
    (void)state;
    Rig rig;
    st_Vec3 force = {3, 0, 0}, torque = {0, 0, 0.25}, v, w;
    describe(&rig, motor(ST_MOTOR_NONE, 0), motor(ST_MOTOR_NONE, 0));
    start(&rig);
    check_ok(st_system_set_force(rig.sys, rig.push, &force, &torque, &rig.err), rig.err);
    step(&rig, 200);
    st_system_velocity(rig.sys, rig.ball, &v, &w);
    check_close(v.x, 3 * 0.2, 1e-12);
    check_close(w.z, 0.25 * 0.2 / J, 1e-12);
    check_ok(st_system_set_force(rig.sys, rig.push, NULL, NULL, &rig.err), rig.err); /* the scene's: none */
    step(&rig, 200);
    st_system_velocity(rig.sys, rig.ball, &v, &w);
    check_close(v.x, 3 * 0.2, 1e-12);
    end(&rig);
}

/* A state with set values continues bit for bit in another system, and one without them resets them. */
static void word_is_saved(void **state)
{
    (void)state;
    Rig rig, other;
    st_Vec3 force = {1, 2, 3};
    st_MotorDef limited = motor(ST_MOTOR_SPEED, 1);
    limited.max_force = 8;
    describe(&rig, motor(ST_MOTOR_FORCE, 1), limited);
    start(&rig);
    describe(&other, motor(ST_MOTOR_FORCE, 1), limited);
    start(&other);
    step(&rig, 20);
    const size_t plain_size = st_system_save(rig.sys, NULL, 0);
    void *plain = malloc(plain_size);
    st_system_save(rig.sys, plain, plain_size);
    check_ok(st_system_set_motor(rig.sys, rig.hinge, 0.1, &rig.err), rig.err);
    check_ok(st_system_set_motor(rig.sys, rig.rail, -0.7, &rig.err), rig.err);
    check_ok(st_system_set_force(rig.sys, rig.push, &force, NULL, &rig.err), rig.err);
    for (int k = 0; k < 2; k++) { /* before the word has had an effect, and after */
        const size_t size = st_system_save(rig.sys, NULL, 0);
        void *bytes = malloc(size);
        st_system_save(rig.sys, bytes, size);
        check_ok(st_system_restore(other.sys, bytes, size, &other.err), other.err);
        free(bytes);
        step(&rig, 50), step(&other, 50);
        assert_true(st_system_hash(rig.sys) == st_system_hash(other.sys));
    }
    check_ok(st_system_restore(other.sys, plain, plain_size, &other.err), other.err);
    check_ok(st_system_restore(rig.sys, plain, plain_size, &rig.err), rig.err);
    free(plain);
    step(&other, 100);
    check_close(spin(&other), 1 * 0.12 / J, 1e-12); /* the scene's torque all the time */
    end(&rig), end(&other);
}

/* Sleeping bodies wake when another value is set, and not when the same one is set again. */
static void word_wakes(void **state)
{
    (void)state;
    Rig rig;
    st_Vec3 none = {0, 0, 0}, force = {1, 0, 0};
    describe(&rig, motor(ST_MOTOR_FORCE, 0), motor(ST_MOTOR_NONE, 0));
    rig.def.sleep = true;
    start(&rig);
    check_ok(st_system_set_force(rig.sys, rig.push, &none, NULL, &rig.err), rig.err);
    step(&rig, 1000);
    assert_true(st_system_asleep(rig.sys, rig.wheel) && st_system_asleep(rig.sys, rig.ball));
    check_ok(st_system_set_force(rig.sys, rig.push, &none, NULL, &rig.err), rig.err);
    step(&rig, 1);
    assert_true(st_system_asleep(rig.sys, rig.wheel) && st_system_asleep(rig.sys, rig.ball));
    check_ok(st_system_set_force(rig.sys, rig.push, &force, NULL, &rig.err), rig.err);
    check_ok(st_system_set_motor(rig.sys, rig.hinge, 2, &rig.err), rig.err);
    step(&rig, 10);
    st_Vec3 v;
    st_system_velocity(rig.sys, rig.ball, &v, NULL);
    check_close(v.x, 0.01, 1e-14);
    check_close(spin(&rig), 2 * 0.01 / J, 1e-14);
    end(&rig);
}

static void bad_words_are_refused(void **state)
{
    (void)state;
    Rig rig;
    st_Vec3 nan = {NAN, 0, 0};
    describe(&rig, motor(ST_MOTOR_MOTION, 0), motor(ST_MOTOR_NONE, 0));
    start(&rig);
    const uint64_t hash = st_system_hash(rig.sys);
    const st_JointId no_joint[] = {{0}, {-1}, {3}, rig.hinge, rig.rail};
    for (int k = 0; k < 5; k++)
        assert_int_equal(st_system_set_motor(rig.sys, no_joint[k], 1, &rig.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(rig.err.message, "rail"));
    assert_int_equal(st_system_set_force(rig.sys, (st_ForceId){2}, &nan, NULL, &rig.err), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_set_force(rig.sys, rig.push, &nan, NULL, &rig.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(rig.err.message, "push"));
    assert_true(hash == st_system_hash(rig.sys));
    assert_int_equal(st_scene_find_force(rig.scene, "push").index1, rig.push.index1);
    assert_int_equal(st_scene_find_force(rig.scene, "pull").index1, 0);
    end(&rig);
}

/* The state at rest, from outside. */
static void stop(Rig *rig)
{
    double q[32], v[32] = {0};
    assert_true(st_system_n_q(rig->sys) <= 32 && st_system_n_v(rig->sys) <= 32);
    st_system_state(rig->sys, q, NULL);
    check_ok(st_system_set_state(rig->sys, st_system_time(rig->sys), q, v, &rig->err), rig->err);
}

/* At rest, and then with a scene in which the target of the rail is half its speed. */
static void slow_down(Rig *rig)
{
    st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
    stop(rig);
    check_ok(st_scene_remove_joints(rig->scene, &rig->rail, 1, &rig->err), rig->err);
    joint.b = rig->cart, joint.axis = (st_Vec3){1, 0, 0}, joint.name = "slow rail";
    joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 1;
    check_ok(st_scene_add_joint(rig->scene, &joint, &rig->rail, &rig->err), rig->err);
    check_ok(st_system_change(rig->sys, rig->scene, &rig->err), rig->err);
}

/* Motors that hold a speed with unlimited force, from rest, stopped from outside, in another scene and with another
 * target: under every integrator the speed is the target after one step and stays there. The trapezoid's form II
 * holds mean velocities and would alternate between 0 and twice the speed; its motor has the speed from the start,
 * so that angles are exact: x = w t, then x += w2 t. */
static void held_speeds_stay(void **state)
{
    (void)state;
    static const st_Integrator integrators[] = {ST_INTEGRATOR_EULER, ST_INTEGRATOR_IMPLICIT, ST_INTEGRATOR_TRAPEZOID,
                                                ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (size_t k = 0; k < sizeof integrators / sizeof integrators[0]; k++) {
        st_MotorDef speed = st_joint_def(ST_JOINT_REVOLUTE).motor;
        st_JointReport r;
        Rig rig;
        speed.type = ST_MOTOR_SPEED, speed.target = 2;
        describe(&rig, speed, speed);
        rig.def.integrator = integrators[k];
        rig.def.drift = ST_DRIFT_VELOCITY;
        start(&rig);
        for (int n = 0; n < 20; n++) {
            if (n == 5) stop(&rig);
            if (n == 10) check_ok(st_system_set_motor(rig.sys, rig.hinge, -3, &rig.err), rig.err);
            if (n == 15) slow_down(&rig);
            step(&rig, 1);
            assert_int_equal(st_system_joint(rig.sys, rig.hinge, ST_FRAME_WORLD, &r), ST_OK);
            check_close(r.speed, n < 10 ? 2 : -3, 1e-9); /* the solver's tolerance */
            assert_int_equal(st_system_joint(rig.sys, rig.rail, ST_FRAME_WORLD, &r), ST_OK);
            check_close(r.speed, n < 15 ? 2 : 1, 1e-9);
        }
        if (integrators[k] == ST_INTEGRATOR_TRAPEZOID) {
            assert_int_equal(st_system_joint(rig.sys, rig.hinge, ST_FRAME_WORLD, &r), ST_OK);
            check_close(r.coordinate, 10 * rig.def.h * (2 - 3), 1e-11);
        }
        end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torque_accelerates),    cmocka_unit_test(torque_follows_its_profile),
        cmocka_unit_test(torque_is_limited),     cmocka_unit_test(next_step_obeys),
        cmocka_unit_test(position_is_reached),   cmocka_unit_test(force_is_told),
        cmocka_unit_test(word_is_saved),         cmocka_unit_test(word_wakes),
        cmocka_unit_test(bad_words_are_refused), cmocka_unit_test(held_speeds_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
