/* Islands at rest sleep without any difference: the same motion, forces and energies, at less cost. They wake on
 * touch, when their support is removed, when a force on them changes, and on request. */
#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct World {
    st_Scene *scene;
    st_SystemDef def;
    st_System *sys;
    st_StepInfo info;
    st_Error err;
} World;

static void begin(World *w)
{
    *w = (World){.def = st_system_def(), .info = st_step_info()};
    w->def.h = 1.0 / 240;
    check_ok(st_scene_create(&w->scene, &w->err), w->err);
    st_ShapeDef floor = st_plane_def();
    floor.mu = 0.5;
    check_ok(st_scene_add_shape(w->scene, (st_BodyId){0}, &floor, NULL, &w->err), w->err);
}

static st_BodyId add(World *w, st_ShapeDef shape, st_Vec3 at, st_Vec3 velocity)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.pose.p = at;
    def.velocity = velocity;
    shape.mu = 0.5;
    check_ok(st_scene_add_body(w->scene, &def, &id, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
    return id;
}

static st_BodyId add_box(World *w, double x, double z)
{
    return add(w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){x, 0, z}, (st_Vec3){0, 0, 0});
}

static void start(World *w, bool sleep)
{
    w->def.sleep = sleep;
    check_ok(st_system_create(w->scene, &w->def, &w->sys, &w->err), w->err);
}

static void step(World *w)
{
    check_ok(st_system_step(w->sys, w->def.h, &w->info, &w->err), w->err);
}

static void run_to(World *w, double t)
{
    while (st_system_time(w->sys) < t - 1e-9)
        step(w);
}

static void end(World *w)
{
    st_system_destroy(w->sys);
    st_scene_destroy(w->scene);
}

static st_Pose pose(const World *w, st_BodyId body)
{
    st_Pose out;
    assert_int_equal(st_system_pose(w->sys, body, &out), ST_OK);
    return out;
}

/* ---- at rest ------------------------------------------------------------------------------------ */

/* Three boxes on each other: they sleep after sleep_time, keep their poses bit for bit, and report their contact
 * forces. */
static void a_stack_sleeps_and_reports(void **state)
{
    (void)state;
    World w;
    st_BodyId box[3];
    double mass = 1000 * 0.2 * 0.2 * 0.2; /* half sides of 0.1, the density of water */
    begin(&w);
    for (int k = 0; k < 3; k++)
        box[k] = add_box(&w, 0, 0.1 + 0.2 * k);
    start(&w, true);
    run_to(&w, 0.4);
    assert_int_equal(w.info.asleep, 0); /* sleep_time is 0.5 s */
    run_to(&w, 0.6);
    assert_int_equal(w.info.asleep, 3);
    assert_int_equal(w.info.contacts, 0);
    assert_int_equal(w.info.islands, 0);
    st_Pose rest[3];
    for (int k = 0; k < 3; k++)
        rest[k] = pose(&w, box[k]);
    double potential = w.info.potential, penetration = w.info.penetration;
    run_to(&w, 2);
    for (int k = 0; k < 3; k++) {
        st_Pose now = pose(&w, box[k]);
        assert_memory_equal(&now, &rest[k], sizeof now);
        assert_true(st_system_asleep(w.sys, box[k]));
        st_Vec3 force, torque;
        assert_int_equal(st_system_contact_force(w.sys, box[k], &force, &torque), ST_OK);
        check_close(force.z, mass * 9.81, 1e-6 * mass * 9.81); /* its own weight; the solver's tolerance is 1e-9 */
        check_close(force.x, 0, 1e-6 * mass * 9.81);
    }
    assert_true(w.info.kinetic == 0 && w.info.potential == potential && w.info.penetration == penetration);
    check_close(potential, 9.81 * mass * (0.1 + 0.3 + 0.5), 1e-6);
    double down = 0; /* contacts with the floor, one by one */
    for (int k = 0; k < st_system_contact_count(w.sys); k++) {
        st_ContactReport contact;
        assert_int_equal(st_system_contact(w.sys, k, &contact), ST_OK);
        assert_true(contact.asleep);
        if (fabs(contact.normal.z) == 1) /* the impulse of a step; 1e-15 is the rounding of 0.02 N s */
            check_close(contact.impulse[0], w.def.h * contact.force.z * contact.normal.z, 1e-15);
        if (contact.a.index1 == 0) down += contact.force.z;
    }
    check_close(down, 3 * mass * 9.81, 3e-6 * mass * 9.81);
    end(&w);
}

/* Off by default, and refused where it cannot work. */
static void sleep_is_a_choice(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId box = add_box(&w, 0, 0.1);
    start(&w, false);
    run_to(&w, 1);
    assert_int_equal(w.info.asleep, 0);
    assert_false(st_system_asleep(w.sys, box));
    check_ok(st_system_wake(w.sys, box, &w.err), w.err);
    assert_int_equal(st_system_wake(w.sys, (st_BodyId){7}, &w.err), ST_ERR_ARGUMENT);
    st_system_destroy(w.sys);
    w.def.sleep = true;
    w.def.events = ST_EVENTS_ALL;
    assert_int_equal(st_system_create(w.scene, &w.def, &w.sys, &w.err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(w.err.message, "events"));
    end(&w);
}

/* sleep_time 0: bodies at rest sleep at once, moving bodies do not. */
static void nobody_sleeps_in_flight(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId box = add_box(&w, 0, 0.1);
    st_BodyId ball = add(&w, st_sphere_def(0.1), (st_Vec3){2, 0, 3}, (st_Vec3){1, 0, 0});
    w.def.sleep_time = 0;
    start(&w, true);
    run_to(&w, 0.5);
    assert_true(st_system_asleep(w.sys, box));
    assert_false(st_system_asleep(w.sys, ball));
    check_close(pose(&w, ball).p.x, 2.5, 1e-9); /* rounding of 120 steps */
    end(&w);
}

/* ---- waking --------------------------------------------------------------------------------------- */

enum { DOMINOES = 10 };

static void build_dominoes(World *w, st_BodyId *domino, st_BodyId *ball)
{
    begin(w);
    for (int k = 0; k < DOMINOES; k++)
        domino[k] = add(w, st_box_def(0.02, 0.1, 0.2), (st_Vec3){0.28 * k, 0, 0.2}, (st_Vec3){0, 0, 0});
    /* Slides, then rolls. The distance matters: 0.2 m apart, some impacts meet dominoes that lie flush on each other,
     * where friction has two answers to 1e-9, 1e-4 m/s apart, and either run may take either. At 0.28 m none of the
     * speeds from 2.15 to 2.5 m/s that were tried did.                                                       */
    *ball = add(w, st_sphere_def(0.1), (st_Vec3){-1.62, 0, 0.1}, (st_Vec3){2.3, 0, 0});
    w->def.end = 3;
    w->def.tolerance = 1e-9; /* two runs that differ by rounding agree no better than their solves */
}

/* A line of dominoes asleep wakes one after the other, and falls as if it had never slept. */
static void dominoes_wake_in_order(void **state)
{
    (void)state;
    World awake, asleep;
    st_BodyId domino[DOMINOES], ball;
    double woke[DOMINOES] = {0};
    build_dominoes(&awake, domino, &ball);
    build_dominoes(&asleep, domino, &ball);
    start(&awake, false);
    start(&asleep, true);
    bool all = false;
    double largest = 0;
    while (st_system_time(awake.sys) < 2.45 - 1e-9) { /* until the last one tips */
        bool was[DOMINOES], every = true;
        for (int k = 0; k < DOMINOES; k++)
            was[k] = st_system_asleep(asleep.sys, domino[k]);
        step(&awake);
        step(&asleep);
        for (int k = 0; k < DOMINOES; k++) {
            bool sleeps = st_system_asleep(asleep.sys, domino[k]);
            every = every && sleeps;
            if (was[k] && !sleeps && woke[k] == 0) woke[k] = st_system_time(asleep.sys);
            st_Pose a = pose(&awake, domino[k]), b = pose(&asleep, domino[k]);
            largest = fmax(largest, fmax(fabs(a.p.x - b.p.x), fabs(a.p.z - b.p.z)));
        }
        all = all || every;
    }
    assert_true(all); /* before the ball came */
    for (int k = 0; k < DOMINOES; k++) {
        assert_true(woke[k] > 0.5);
        assert_true(k == 0 || woke[k] > woke[k - 1]);
    }
    print_message("dominoes: woke from %.3f to %.3f s, poses differ by %.1e m\n", woke[0], woke[DOMINOES - 1], largest);
    check_below(largest, 1e-9); /* the solver's tolerance, on lengths of 1 m; measured 5e-12 */
    run_to(&asleep, 3);
    for (int k = 0; k < DOMINOES; k++)
        assert_true(fabs(pose(&asleep, domino[k]).q.w) < 0.95); /* they did fall */
    end(&awake);
    end(&asleep);
}

/* Faster than the margin per step: bodies that the first attempt hit wake in the same step. */
static void a_bullet_wakes_what_it_hits(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId box = add_box(&w, 0, 0.1);
    st_BodyId bullet = add(&w, st_sphere_def(0.05), (st_Vec3){-100, 0, 0.1}, (st_Vec3){100, 0, 0});
    w.def.gravity = (st_Vec3){0, 0, -1e-3};
    start(&w, true);
    run_to(&w, 0.9);
    assert_true(st_system_asleep(w.sys, box));
    run_to(&w, 1.1);
    assert_false(st_system_asleep(w.sys, box));
    st_Vec3 v, spin;
    assert_int_equal(st_system_velocity(w.sys, box, &v, &spin), ST_OK);
    assert_true(v.x > 1);
    assert_true(pose(&w, bullet).p.x < pose(&w, box).p.x);
    end(&w);
}

/* The lower of two is shot away from under the upper, which lies asleep, too. */
static void what_loses_its_support_falls(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId lower = add_box(&w, 0, 0.1), upper = add_box(&w, 0, 0.3);
    st_BodyId ball = add(&w, st_sphere_def(0.08), (st_Vec3){-40, 0, 0.085}, (st_Vec3){40, 0, 0});
    w.def.gravity = (st_Vec3){0, 0, -9.81};
    (void)ball;
    start(&w, true);
    run_to(&w, 0.9);
    assert_true(st_system_asleep(w.sys, lower) && st_system_asleep(w.sys, upper));
    run_to(&w, 2);
    assert_true(pose(&w, upper).p.z < 0.2); /* down */
    assert_true(fabs(pose(&w, lower).p.x) > 0.2);
    end(&w);
}

/* A push that begins at t = 1 s, a motor that starts then, and a call. */
static void changes_wake(void **state)
{
    (void)state;
    World w;
    const double times[2] = {1, 1.05}, values[2] = {0, 1};
    begin(&w);
    st_BodyId pushed = add_box(&w, 0, 0.1), driven = add_box(&w, 1, 0.1), arm = add_box(&w, 1, 0.5);
    st_BodyId called = add_box(&w, 2, 0.1), other = add_box(&w, 3, 0.1);
    st_ForceDef force = st_force_def();
    force.body = pushed, force.force = (st_Vec3){0, 200, 0};
    force.profile.type = ST_PROFILE_TABLE, force.profile.n_table = 2;
    force.profile.times = times, force.profile.values = values;
    check_ok(st_scene_add_force(w.scene, &force, NULL, &w.err), w.err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.a = driven, joint.b = arm, joint.point = (st_Vec3){1, 0, 0.3}, joint.axis = (st_Vec3){0, 0, 1};
    joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 1, joint.motor.max_force = 1;
    joint.motor.profile = force.profile;
    check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
    start(&w, true);
    run_to(&w, 0.99);
    assert_int_equal(w.info.asleep, 5);
    run_to(&w, 1.03);
    assert_false(st_system_asleep(w.sys, pushed) || st_system_asleep(w.sys, driven) || st_system_asleep(w.sys, arm));
    check_ok(st_system_wake(w.sys, called, &w.err), w.err);
    assert_false(st_system_asleep(w.sys, called));
    step(&w);
    assert_false(st_system_asleep(w.sys, called));
    assert_true(st_system_asleep(w.sys, other));
    run_to(&w, 1.5);
    st_Vec3 v, spin;
    assert_int_equal(st_system_velocity(w.sys, pushed, &v, &spin), ST_OK);
    /* awake from the first step in which the force grows: (F - mu m g)/m from when it passes friction */
    double m = 8, friction = 0.5 * m * 9.81, t0 = 1 + 0.05 * friction / 200, ramp = 200 / 0.05;
    double expected = (0.5 * ramp * (1.05 - t0) * (1.05 - t0) + (200 - friction) * (1.5 - 1.05)) / m;
    check_close(v.y, expected, 2 * w.def.h * (200 - friction) / m); /* within two steps of force */
    assert_int_equal(st_system_velocity(w.sys, arm, &v, &spin), ST_OK);
    assert_true(spin.z > 0.01);
    end(&w);
}

/* A force that was set replaces its profile, which no longer wakes. A motor wakes if its force begins to change, or
 * if it begins to hold a motion. */
static void drives_wake(void **state)
{
    (void)state;
    World w;
    const double times[2][2] = {{1, 1.05}, {0.8, 0.85}}, values[2] = {0, 1};
    begin(&w);
    st_BodyId pushed = add_box(&w, 0, 0.1), arm[2];
    st_ForceDef force = st_force_def();
    st_ForceId told;
    force.body = pushed, force.force = (st_Vec3){0, 1, 0};
    force.profile.type = ST_PROFILE_HARMONIC, force.profile.frequency = 1;
    check_ok(st_scene_add_force(w.scene, &force, &told, &w.err), w.err);
    for (int k = 0; k < 2; k++) {
        st_BodyId post = add_box(&w, 2 + 2 * k, 0.1);
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        arm[k] = add_box(&w, 2 + 2 * k, 0.5);
        joint.a = post, joint.b = arm[k], joint.point = (st_Vec3){2 + 2 * k, 0, 0.3}, joint.axis = (st_Vec3){0, 0, 1};
        joint.motor.type = k == 0 ? ST_MOTOR_FORCE : ST_MOTOR_MOTION, joint.motor.target = 1;
        joint.motor.profile = (st_Profile){.type = ST_PROFILE_TABLE, .n_table = 2, .times = times[k], .values = values};
        check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
    }
    start(&w, true);
    check_ok(st_system_set_force(w.sys, told, &(st_Vec3){0, 1, 0}, NULL, &w.err), w.err);
    run_to(&w, 0.79);
    assert_int_equal(w.info.asleep, 5);
    run_to(&w, 0.83);
    assert_int_equal(w.info.asleep, 3);
    assert_false(st_system_asleep(w.sys, arm[1]));
    run_to(&w, 1.03);
    assert_true(st_system_asleep(w.sys, pushed));
    assert_false(st_system_asleep(w.sys, arm[0]));
    end(&w);
}

/* Forces of joints while asleep: a body hung on a hinge from another one at rest. */
static void joints_report_while_asleep(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId post = add_box(&w, 0, 0.1), arm = add_box(&w, 0, 0.5);
    st_JointId id;
    st_JointDef joint = st_joint_def(ST_JOINT_FIXED);
    joint.a = post, joint.b = arm, joint.point = (st_Vec3){0, 0, 0.3};
    check_ok(st_scene_add_joint(w.scene, &joint, &id, &w.err), w.err);
    start(&w, true);
    run_to(&w, 2);
    assert_int_equal(w.info.asleep, 2);
    st_JointReport report;
    assert_int_equal(st_system_joint(w.sys, id, ST_FRAME_WORLD, &report), ST_OK);
    check_close(report.force.z, 8 * 9.81, 1e-6 * 8 * 9.81); /* the arm's weight */
    end(&w);
}

/* ---- the state ------------------------------------------------------------------------------------ */

/* Rows of joints that sleep are not made again. Mechanisms of all kinds that sleep, are pushed, and sleep again
 * elsewhere, step by step beside a system that was restored a moment ago and so has made all of its rows: the same
 * bits.  */
static void mechanisms_sleep_to_the_bit(void **state)
{
    (void)state;
    static const st_JointType types[] = {ST_JOINT_REVOLUTE,  ST_JOINT_BALL,     ST_JOINT_UNIVERSAL,
                                         ST_JOINT_PRISMATIC, ST_JOINT_DISTANCE, ST_JOINT_CYLINDRICAL};
    enum { N = sizeof types / sizeof types[0] };
    World w;
    st_ForceId push[N];
    begin(&w);
    for (int k = 0; k < N; k++) {
        st_JointDef joint = st_joint_def(types[k]);
        st_SpringDef brake = st_spring_def(ST_SPRING_BUSHING);
        st_ForceDef force = st_force_def();
        joint.b = add_box(&w, 2 * k, 1);
        joint.point = (st_Vec3){2 * k, 0, 1.5}, joint.point_b = (st_Vec3){2 * k, 0, 1.1};
        joint.axis = (st_Vec3){0, 1, 0}, joint.axis_b = (st_Vec3){1, 0, 0};
        check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
        brake.b = joint.b, brake.point_a = (st_Vec3){2 * k, 0, 1};
        brake.stiffness_along = brake.stiffness_about = (st_Vec3){50, 50, 50};
        brake.damping_along = brake.damping_about = (st_Vec3){40, 40, 40};
        check_ok(st_scene_add_spring(w.scene, &brake, NULL, &w.err), w.err);
        force.body = joint.b;
        check_ok(st_scene_add_force(w.scene, &force, &push[k], &w.err), w.err);
    }
    for (int k = 0; k < N; k++) /* they wake some on touch: without a word, and so with the rows that they slept with */
        add(&w, st_sphere_def(0.03), (st_Vec3){2 * k + 0.05, 0, 2 + 1.5 * k}, (st_Vec3){0, 0, 0});
    w.def.sleep_time = 0.05, w.def.sleep_speed = 1e-2;
    w.def.margin = 0.01; /* bodies within this distance wake: the changes counted below */
    start(&w, true);
    int most = 0, changes = 0, before = 0;
    for (int k = 0; k < 900; k++) {
        if (k % 150 == 100) { /* two of them, each time others */
            st_Vec3 force = {5 + 0.01 * k, 1, 2};
            check_ok(st_system_set_force(w.sys, push[k / 150 % N], &force, NULL, &w.err), w.err);
            check_ok(st_system_set_force(w.sys, push[(k / 150 + 2) % N], &force, NULL, &w.err), w.err);
        }
        size_t size = st_system_save(w.sys, NULL, 0);
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        st_system_save(w.sys, bytes, size);
        st_System *other;
        check_ok(st_system_create(w.scene, &w.def, &other, &w.err), w.err);
        check_ok(st_system_restore(other, bytes, size, &w.err), w.err);
        free(bytes);
        step(&w);
        check_ok(st_system_step(other, w.def.h, NULL, &w.err), w.err);
        assert_true(st_system_hash(w.sys) == st_system_hash(other));
        st_system_destroy(other);
        changes += w.info.asleep != before;
        before = w.info.asleep;
        most = w.info.asleep > most ? w.info.asleep : most;
    }
    assert_true(most >= N);
    assert_true(changes > 20);
    end(&w);
}

/* Saved while some sleep, some wake: the same bits in the end. */
static void a_restart_knows_who_sleeps(void **state)
{
    (void)state;
    World w;
    st_BodyId domino[DOMINOES], ball;
    build_dominoes(&w, domino, &ball);
    start(&w, true);
    for (double t = 0.3; t < 2.2; t += 0.38) {
        run_to(&w, t);
        size_t size = st_system_save(w.sys, NULL, 0);
        unsigned char *bytes = malloc(size);
        assert_non_null(bytes);
        st_system_save(w.sys, bytes, size);
        st_System *other;
        st_StepInfo info = st_step_info();
        check_ok(st_system_create(w.scene, &w.def, &other, &w.err), w.err);
        check_ok(st_system_restore(other, bytes, size, &w.err), w.err);
        for (int k = 0; k < 60; k++) {
            step(&w);
            check_ok(st_system_step(other, w.def.h, &info, &w.err), w.err);
            assert_true(st_system_hash(w.sys) == st_system_hash(other));
            assert_int_equal(info.asleep, w.info.asleep);
            assert_int_equal(st_system_contact_count(w.sys), st_system_contact_count(other));
        }
        for (size_t cut = 0; cut < size;
             cut += 1 + size / 40) /* damaged: refused, or restored to something that runs */
            assert_int_not_equal(st_system_restore(other, bytes, cut, &w.err), ST_OK);
        st_system_destroy(other);
        free(bytes);
    }
    end(&w);
}

/* A new state wakes everyone. */
static void a_new_state_wakes(void **state)
{
    (void)state;
    World w;
    begin(&w);
    st_BodyId box = add_box(&w, 0, 0.1);
    start(&w, true);
    run_to(&w, 1);
    assert_true(st_system_asleep(w.sys, box));
    double q[7], v[6] = {0};
    st_system_state(w.sys, q, NULL);
    v[0] = 1;
    check_ok(st_system_set_state(w.sys, 0, q, v, &w.err), w.err);
    assert_false(st_system_asleep(w.sys, box));
    step(&w);
    assert_true(pose(&w, box).p.x > 0.5 * w.def.h);
    end(&w);
}

/* While most bodies sleep and are skipped: rays, reports and refused states leave no trace, whatever they did to
 * shapes and boxes meanwhile. A fixed block is between the bodies. */
static void questions_leave_no_trace(void **state)
{
    (void)state;
    for (int second = 0; second < 2; second++) {
        World w[2];
        st_BodyId domino[DOMINOES], ball;
        for (int k = 0; k < 2; k++) {
            build_dominoes(&w[k], domino, &ball);
            st_BodyDef block = st_body_def();
            st_ShapeDef shape = st_box_def(0.1, 0.1, 0.1);
            st_BodyId id;
            block.fixed = true;
            block.pose.p = (st_Vec3){0, 3, 0.1};
            check_ok(st_scene_add_body(w[k].scene, &block, &id, &w[k].err), w[k].err);
            check_ok(st_scene_add_shape(w[k].scene, id, &shape, NULL, &w[k].err), w[k].err);
            w[k].def.integrator = second ? ST_INTEGRATOR_SDIRK2 : ST_INTEGRATOR_IMPLICIT;
            start(&w[k], true);
        }
        const int n_q = st_system_n_q(w[0].sys);
        double *q = calloc((size_t)n_q, sizeof *q), *v = calloc((size_t)st_system_n_v(w[0].sys), sizeof *v);
        int asleep = 0;
        for (int k = 0; k < 500; k++) {
            step(&w[0]);
            step(&w[1]);
            asleep += w[0].info.asleep > 0;
            assert_true(st_system_hash(w[0].sys) == st_system_hash(w[1].sys));
            assert_true(w[0].info.potential == w[1].info.potential && w[0].info.kinetic == w[1].info.kinetic);
            if (k % 7 == 0) {
                st_RayHit hit;
                st_Vec3 force;
                const st_Vec3 from = {-5, 0, 0.1}, along = {1, 0, 0};
                check_ok(st_system_ray(w[1].sys, from, along, 20, UINT32_MAX, &hit, &w[1].err), w[1].err);
                assert_true(isfinite(hit.distance));
                check_ok(st_system_contact_force(w[1].sys, domino[0], &force, NULL), w[1].err);
            }
            if (k % 11 == 0) { /* all somewhere else, the last that can move below the floor beyond all bounds */
                st_system_state(w[1].sys, q, v);
                for (int i = 0; i < n_q; i += 7)
                    q[i] += 0.5;
                q[n_q - 14 + 2] = -1e200;
                assert_int_equal(st_system_set_state(w[1].sys, 0, q, v, &w[1].err), ST_ERR_NUMERIC);
            }
        }
        assert_true(asleep > 100 && w[0].info.asleep < DOMINOES); /* they slept, and were woken */
        free(q), free(v);
        end(&w[0]);
        end(&w[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_stack_sleeps_and_reports),
                                       cmocka_unit_test(sleep_is_a_choice),
                                       cmocka_unit_test(nobody_sleeps_in_flight),
                                       cmocka_unit_test(dominoes_wake_in_order),
                                       cmocka_unit_test(a_bullet_wakes_what_it_hits),
                                       cmocka_unit_test(what_loses_its_support_falls),
                                       cmocka_unit_test(changes_wake),
                                       cmocka_unit_test(drives_wake),
                                       cmocka_unit_test(mechanisms_sleep_to_the_bit),
                                       cmocka_unit_test(joints_report_while_asleep),
                                       cmocka_unit_test(a_restart_knows_who_sleeps),
                                       cmocka_unit_test(a_new_state_wakes),
                                       cmocka_unit_test(questions_leave_no_trace)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
