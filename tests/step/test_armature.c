/* Armatures: the inertia of a rotor on a joint's coordinate, against closed forms and Lagrange's equations. */
#include "machine.h"

/* Every integrator, with the drifts it supports. */
static const struct {
    st_Integrator integrator;
    st_Form form;
    st_Drift drift;
    st_Events events;
    int order;
} schemes[] = {{ST_INTEGRATOR_EULER, ST_FORM_I, ST_DRIFT_GAP, ST_EVENTS_OFF, 1},
               {ST_INTEGRATOR_IMPLICIT, ST_FORM_I, ST_DRIFT_GAP, ST_EVENTS_OFF, 1},
               {ST_INTEGRATOR_IMPLICIT, ST_FORM_I, ST_DRIFT_VELOCITY, ST_EVENTS_OFF, 1},
               {ST_INTEGRATOR_IMPLICIT, ST_FORM_I, ST_DRIFT_PROJECTION, ST_EVENTS_COLLISIONS, 1},
               {ST_INTEGRATOR_IMPLICIT, ST_FORM_I, ST_DRIFT_MEAN, ST_EVENTS_OFF, 1},
               {ST_INTEGRATOR_SDIRK2, ST_FORM_I, ST_DRIFT_GAP, ST_EVENTS_OFF, 2},
               {ST_INTEGRATOR_SDIRK2, ST_FORM_I, ST_DRIFT_PROJECTION, ST_EVENTS_ALL, 2},
               {ST_INTEGRATOR_BDF2, ST_FORM_I, ST_DRIFT_GAP, ST_EVENTS_OFF, 2},
               {ST_INTEGRATOR_BDF2, ST_FORM_I, ST_DRIFT_PROJECTION, ST_EVENTS_ALL, 2},
               {ST_INTEGRATOR_TRAPEZOID, ST_FORM_I, ST_DRIFT_PROJECTION, ST_EVENTS_OFF, 1}, /* on curved paths */
               {ST_INTEGRATOR_TRAPEZOID, ST_FORM_II, ST_DRIFT_PROJECTION, ST_EVENTS_ALL, 2},
               {ST_INTEGRATOR_TRAPEZOID, ST_FORM_II, ST_DRIFT_MEAN, ST_EVENTS_OFF, 2}};
#define N_SCHEMES ((int)(sizeof schemes / sizeof schemes[0]))

/* Results that are exact for a scheme are so up to rounding; the rounds of drift `mean` end at the tolerance, 1e-8. */
static double exactly(int k)
{
    return schemes[k].drift == ST_DRIFT_MEAN ? 1e-8 : 1e-11;
}

static void choose_scheme(Machine *m, int k)
{
    m->def.integrator = schemes[k].integrator;
    m->def.form = schemes[k].form;
    m->def.drift = schemes[k].drift;
    m->def.events = schemes[k].events;
}

/* A wheel about z with a motor of 3 N m. */
static st_JointId add_wheel(Machine *m, double inertia, double armature)
{
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = add_body(m, 1, inertia, vec3(0, 0, 0));
    joint.motor.type = ST_MOTOR_FORCE, joint.motor.target = 3;
    joint.armature = armature;
    return add_joint(m, &joint);
}

/* alpha = tau/(I + A), exactly: the force is constant. Of the torque I alpha comes through to the wheel. */
static void motor_turns_its_rotor(void **state)
{
    (void)state;
    for (int k = 0; k < N_SCHEMES; k++) {
        Machine m;
        begin(&m);
        choose_scheme(&m, k);
        st_JointId id = add_wheel(&m, 0.5, 1.5);
        run(&m, 0.2);
        check_close(report(&m, id).speed, 0.2 * 3 / 2.0, exactly(k));
        check_close(report(&m, id).torque.z, 0.5 * 3 / 2.0, 10 * exactly(k));
        check_close(report(&m, id).motor, 3, 1e-15);                    /* 3 h/h, rounded twice */
        check_close(m.info.kinetic, 0.5 * 2.0 * 0.3 * 0.3, exactly(k)); /* the rotor's, too */
        end(&m);
    }
}

/* Down a rail at 30 degrees: a = m g sin/(m + A), with the mass alone on the rail: m g cos. */
static void slider_on_a_rail(void **state)
{
    (void)state;
    for (int k = 0; k < N_SCHEMES; k++) {
        Machine m;
        begin(&m);
        choose_scheme(&m, k);
        m.def.gravity = vec3(0, 0, -10);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = add_body(&m, 2, 0.1, vec3(1, 0, 3));
        joint.axis = vec3(sqrt(0.75), 0, -0.5), joint.armature = 3;
        st_JointId id = add_joint(&m, &joint);
        run(&m, 0.3);
        double a = 2 * 10 * 0.5 / (2 + 3);
        check_close(report(&m, id).speed, 0.3 * a, exactly(k));
        /* the rail pushes across, the rotor back along it by A a */
        st_Vec3 f = report(&m, id).force;
        check_close(dot(f, joint.axis), -3 * a, 1e3 * exactly(k)); /* impulses by h */
        check_close(dot(f, vec3(0.5, 0, sqrt(0.75))), 20 * sqrt(0.75), 1e3 * exactly(k));
        end(&m);
    }
}

/* ---- pendulum ------------------------------------------------------------------------------------ */

typedef struct Pendulum {
    double m, l, I, A, g;
} Pendulum;
static const Pendulum swing = {2, 0.5, 0.1, 0.4, 9.81};

static st_JointId add_pendulum(Machine *m, const Pendulum *p, double angle)
{
    m->def.gravity = vec3(0, 0, -p->g);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = add_body(m, p->m, p->I, vec3(-p->l * sin(angle), 0, -p->l * cos(angle)));
    joint.axis = vec3(0, 1, 0), joint.armature = p->A;
    return add_joint(m, &joint);
}

/* T = 2 pi sqrt((I + m l^2 + A)/(m g l)), at 0.01 rad longer by 1/16 of its square. */
static void pendulum_has_its_period(void **state)
{
    (void)state;
    const Pendulum *p = &swing;
    const double J = p->I + p->m * p->l * p->l + p->A, amplitude = 0.01;
    const double period = 2 * PI * sqrt(J / (p->m * p->g * p->l)) * (1 + amplitude * amplitude / 16);
    for (int k = 0; k < N_SCHEMES; k++) {
        Machine m;
        if (schemes[k].order < 2) continue;
        begin(&m);
        choose_scheme(&m, k);
        m.def.h = period / 512;
        st_JointId id = add_pendulum(&m, p, amplitude);
        run(&m, 1.25 * period); /* through the bottom: the angle there gives the time by which it is late */
        double late = (report(&m, id).coordinate - -amplitude) / (2 * PI / period * amplitude);
        /* (h w)^2/12 of 1.25 periods for the trapezoid, sdirk2 less, bdf2 four times that */
        check_below(fabs(late) / period, 1.25 / 3 * pow(2 * PI / 512, 2));
        end(&m);
    }
}

/* The trapezoid with drift `mean` keeps the energy, and it is that of body and rotor. */
static void energy_is_kept(void **state)
{
    (void)state;
    const Pendulum *p = &swing;
    Machine m;
    begin(&m);
    m.def.integrator = ST_INTEGRATOR_TRAPEZOID, m.def.form = ST_FORM_II, m.def.drift = ST_DRIFT_MEAN;
    m.def.events = ST_EVENTS_OFF;
    m.def.h = 0.01;
    st_JointId id = add_pendulum(&m, p, 2.0);
    const double whole = -p->m * p->g * p->l * cos(2.0), J = p->I + p->m * p->l * p->l + p->A;
    for (int k = 1; k <= 100; k++) {
        run(&m, 0.05 * k);
        check_close(m.info.kinetic + m.info.potential, whole, 1e-7); /* to the solver's 1e-8 of 10 J a step */
    }
    double speed = report(&m, id).speed; /* of the rotor the scheme's own, O(h^2) from the joint's */
    check_close(m.info.kinetic, 0.5 * J * speed * speed, 1e-3);
    end(&m);
}

/* ---- a slider on a turning arm ------------------------------------------------------------------- */

/* T = (J + m r^2) phi'^2/2 + (m + A) r'^2/2: the rotor is slid, not thrown outwards, and the row turns. */
static const double arm_J = 0.7 + 0.2 + 0.5, slide_m = 1.5, slide_A = 0.8; /* arm, slider, armature */

static void arm_rates(const double x[4], double out[4])
{
    double r = x[0], dr = x[1], w = x[3];
    out[0] = dr;
    out[1] = slide_m * r * w * w / (slide_m + slide_A);
    out[2] = w;
    out[3] = -2 * slide_m * r * dr * w / (arm_J + slide_m * r * r);
}

static void arm_reference(double x[4], double until, int n)
{
    double h = until / n, k[4][4], y[4];
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1, 2, 2, 1};
    for (int step = 0; step < n; step++) {
        double sum[4] = {0};
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 4; i++)
                y[i] = x[i] + (s > 0 ? at[s] * h * k[s - 1][i] : 0);
            arm_rates(y, k[s]);
            for (int i = 0; i < 4; i++)
                sum[i] += weight[s] * k[s][i];
        }
        for (int i = 0; i < 4; i++)
            x[i] += h / 6 * sum[i];
    }
}

static void add_arm(Machine *m, st_JointId id[2])
{
    st_BodyDef arm = st_body_def(), slider = st_body_def();
    const double J = 0.7, I = 0.2, r = 0.4, w = 2;
    arm.mass = 1, arm.inertia = (st_Mat3){{J, 0, 0, 0, J, 0, 0, 0, J}}, arm.spin = vec3(0, 0, w);
    slider.mass = slide_m, slider.inertia = (st_Mat3){{I, 0, 0, 0, I, 0, 0, 0, I}}, slider.spin = vec3(0, 0, w);
    slider.pose.p = vec3(r, 0, 0), slider.velocity = vec3(0, r * w, 0);
    st_BodyId a, b;
    check_ok(st_scene_add_body(m->scene, &arm, &a, &m->err), m->err);
    check_ok(st_scene_add_body(m->scene, &slider, &b, &m->err), m->err);
    st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE), rail = st_joint_def(ST_JOINT_PRISMATIC);
    hinge.b = a, hinge.armature = 0.5;
    rail.a = a, rail.b = b, rail.axis = vec3(1, 0, 0), rail.armature = slide_A;
    id[0] = add_joint(m, &hinge);
    id[1] = add_joint(m, &rail);
}

static double arm_error(int scheme, int n, const double x[4])
{
    Machine m;
    st_JointId id[2];
    begin(&m);
    choose_scheme(&m, scheme);
    m.def.h = 1.0 / n;
    add_arm(&m, id);
    run(&m, 1.0);
    double error = fabs(report(&m, id[1]).coordinate - (x[0] - 0.4));
    error = fmax(error, fabs(report(&m, id[1]).speed - x[1]));
    error = fmax(error, fabs(report(&m, id[0]).coordinate - x[2]));
    error = fmax(error, fabs(report(&m, id[0]).speed - x[3]));
    end(&m);
    return error;
}

static void order_is_kept(void **state)
{
    (void)state;
    double x[4] = {0.4, 0, 0, 2};
    arm_reference(x, 1.0, 4000); /* 1e-14 */
    for (int k = 0; k < N_SCHEMES; k++) {
        double coarse = arm_error(k, 64, x), fine = arm_error(k, 128, x), order = log2(coarse / fine);
        if (getenv("ST_TEST_FULL") != NULL) print_message("scheme %d: %.3g %.3g %.2f\n", k, coarse, fine, order);
        check_below(schemes[k].order - order, 0.2); /* steps are not yet small */
        check_below(fine, schemes[k].order == 1 ? 0.05 : 1e-3);
    }
}

/* ---- impacts ------------------------------------------------------------------------------------- */

/* A bar turning with w about its end carries a ball at r into another, which is free; with e
 *     w+ = w (J - e m r^2)/(J + m r^2),   v+ = (1 + e) r w J/(J + m r^2),   J = I + M r^2 + A.       */
static void bar_strikes_a_ball(void **state)
{
    (void)state;
    const double I = 0.3, M = 1, r = 0.8, A = 0.9, ball = 0.7, w = 2, radius = 0.1;
    for (int e = 0; e <= 1; e++)
        for (int k = 0; k < N_SCHEMES; k++) {
            Machine m;
            if (schemes[k].integrator == ST_INTEGRATOR_TRAPEZOID && schemes[k].events == ST_EVENTS_OFF)
                continue; /* its impacts are at events */
            begin(&m);
            choose_scheme(&m, k);
            m.def.impact = ST_IMPACT_POISSON;
            if (schemes[k].events == ST_EVENTS_OFF) m.def.impact = e == 0 ? ST_IMPACT_INELASTIC : ST_IMPACT_NEWTON;
            m.def.h = 1e-3;
            st_BodyDef bar = st_body_def(), free_ball = st_body_def();
            st_ShapeDef sphere = st_sphere_def(radius);
            st_BodyId b, f;
            sphere.mu = 0, sphere.restitution = e;
            bar.mass = M, bar.inertia = (st_Mat3){{I, 0, 0, 0, I, 0, 0, 0, I}};
            bar.pose.p = vec3(r, 0, 0), bar.velocity = vec3(0, r * w, 0), bar.spin = vec3(0, 0, w);
            free_ball.mass = ball, free_ball.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
            free_ball.pose.p = vec3(r, 2 * radius + 1e-4, 0);
            check_ok(st_scene_add_body(m.scene, &bar, &b, &m.err), m.err);
            check_ok(st_scene_add_body(m.scene, &free_ball, &f, &m.err), m.err);
            check_ok(st_scene_add_shape(m.scene, b, &sphere, NULL, &m.err), m.err);
            check_ok(st_scene_add_shape(m.scene, f, &sphere, NULL, &m.err), m.err);
            st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
            joint.b = b, joint.armature = A;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 2e-3);
            const double J = I + M * r * r + A, mass = ball * r * r;
            st_Vec3 v;
            assert_int_equal(st_system_velocity(m.system, f, &v, NULL), ST_OK);
            /* struck within h at an angle below h w, so that the line of impact is off by 2e-3, its cosine by 2e-6;
             * touching goes on for a step where they part at 0 m/s */
            check_close(report(&m, id).speed, w * (J - e * mass) / (J + mass), 2e-4);
            check_close(v.y, (1 + e) * r * w * J / (J + mass), 2e-4);
            end(&m);
        }
}

/* ---- state --------------------------------------------------------------------------------------- */

/* Saved, restored, cloned and changed in the middle, it continues bit for bit. */
static void state_goes_on(void **state)
{
    (void)state;
    for (int k = 0; k < N_SCHEMES; k++) {
        Machine m, other;
        st_JointId id[2];
        begin(&m), begin(&other);
        choose_scheme(&m, k), choose_scheme(&other, k);
        add_arm(&m, id), add_arm(&other, id);
        start(&m), start(&other);
        run(&m, 0.05);
        const size_t size = st_system_save(m.system, NULL, 0);
        void *bytes = malloc(size);
        assert_non_null(bytes);
        st_system_save(m.system, bytes, size);
        check_ok(st_system_restore(other.system, bytes, size, &other.err), other.err);
        free(bytes);
        st_System *clone;
        check_ok(st_system_clone(m.system, &clone, &m.err), m.err);
        run(&m, 0.1), run(&other, 0.1);
        assert_true(st_system_hash(m.system) == st_system_hash(other.system));
        st_system_destroy(other.system);
        other.system = clone;
        run(&other, 0.1);
        assert_true(st_system_hash(m.system) == st_system_hash(other.system));
        end(&m), end(&other);
    }
}

/* Another scene while it runs: an armature that is added turns along from then on, kinetic energy and all. */
static void armature_comes_and_goes(void **state)
{
    (void)state;
    Machine m, with;
    begin(&m), begin(&with);
    st_JointId id = add_wheel(&m, 0.5, 0);
    add_wheel(&with, 0.5, 1.5);
    run(&m, 0.1); /* 0.6 rad/s */
    check_ok(st_system_change(m.system, with.scene, &m.err), m.err);
    run(&m, 0.2); /* and 3/2 rad/s^2 from then on */
    check_close(report(&m, id).speed, 0.6 + 0.15, 1e-12);
    check_ok(st_system_change(m.system, m.scene, &m.err), m.err);
    run(&m, 0.3);
    check_close(report(&m, id).speed, 0.6 + 0.15 + 0.6, 1e-12);
    end(&m), end(&with);
}

/* Setting the velocity of a body also sets that of its rotor; momentum is that of the bodies. */
static void rotor_follows_what_is_set(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_JointId id = add_wheel(&m, 0.5, 1.5);
    start(&m);
    const st_Vec3 spin = vec3(0, 0, 4);
    double kinetic;
    check_ok(st_system_set_velocity(m.system, (st_BodyId){1}, NULL, &spin, &m.err), m.err);
    check_ok(st_system_energy(m.system, &kinetic, NULL, &m.err), m.err);
    check_close(kinetic, 0.5 * 2 * 16, 1e-14);
    st_Vec3 L;
    assert_int_equal(st_system_momentum(m.system, NULL, &L), ST_OK);
    check_close(L.z, 0.5 * 4, 1e-15);
    run(&m, 0.1);
    check_close(report(&m, id).speed, 4 + 0.15, 1e-12);
    end(&m);
}

/* Damped to rest it sleeps, rotor and all; a motor wakes it. */
static void rotor_sleeps(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.drift = ST_DRIFT_GAP, m.def.events = ST_EVENTS_OFF, m.def.sleep = true;
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = add_body(&m, 1, 0.5, vec3(0, 0, 0));
    joint.damping = 40, joint.armature = 1.5;
    joint.motor.type = ST_MOTOR_FORCE, joint.motor.target = 0;
    st_JointId id = add_joint(&m, &joint);
    start(&m);
    const st_Vec3 spin = vec3(0, 0, 0.2);
    check_ok(st_system_set_velocity(m.system, joint.b, NULL, &spin, &m.err), m.err);
    run(&m, 3);
    assert_int_equal(m.info.asleep, 1); /* the wheel; rotors are not counted */
    check_ok(st_system_set_motor(m.system, id, 60, &m.err), m.err);
    run(&m, 3 + m.def.h);
    assert_int_equal(m.info.asleep, 0);
    check_close(report(&m, id).speed, m.def.h * 60 / (2 + m.def.h * 40), 1e-12);
    end(&m);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = add_body(&m, 1, 1, vec3(0, 0, 0));
    joint.armature = -1;
    refuse(st_scene_add_joint(m.scene, &joint, NULL, &m.err), &m.err, "armature is -1, must be 0, or from");
    joint.armature = NAN;
    refuse(st_scene_add_joint(m.scene, &joint, NULL, &m.err), &m.err, "armature is nan");
    joint.type = ST_JOINT_FIXED, joint.armature = 1;
    refuse(st_scene_add_joint(m.scene, &joint, NULL, &m.err), &m.err, "no angle or displacement for a armature");
    joint.type = ST_JOINT_BALL;
    refuse(st_scene_add_joint(m.scene, &joint, NULL, &m.err), &m.err, "no direction for a armature");
    joint.type = ST_JOINT_REVOLUTE, joint.name = "elbow";
    add_joint(&m, &joint);
    st_BodyDef body = st_body_def();
    body.mass = 1, body.name = "elbow rotor", body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    check_ok(st_scene_add_body(m.scene, &body, NULL, &m.err), m.err);
    refuse(st_system_create(m.scene, &m.def, &m.system, &m.err), &m.err,
           "joint \"elbow\": its armature needs the body name \"elbow rotor\", which another body has");
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motor_turns_its_rotor),
        cmocka_unit_test(slider_on_a_rail),
        cmocka_unit_test(pendulum_has_its_period),
        cmocka_unit_test(energy_is_kept),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(bar_strikes_a_ball),
        cmocka_unit_test(state_goes_on),
        cmocka_unit_test(armature_comes_and_goes),
        cmocka_unit_test(rotor_follows_what_is_set),
        cmocka_unit_test(rotor_sleeps),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
