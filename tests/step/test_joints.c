/* Joints, limits, motors, friction and reactions against closed forms. Steps are first order, so that each
 * expectation is either exact for the scheme (constant forces) or of order h, as stated there. */
#include "machine.h"

/* J w' = T until w reaches the target, then the motor supplies exactly the load. */
static void speed_motor_has_a_limit(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyId rotor = add_body(&m, 1, 2, vec3(0, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.b = rotor;
        joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 3, joint.motor.max_force = 4;
        add_force(&m, rotor, vec3(0, 0, 0), vec3(0, 0, -1));
        st_JointId id = add_joint(&m, &joint);
        run(&m, 1.0); /* (4 - 1)/2 rad/s^2 */
        check_close(report(&m, id).speed, 1.5, 1e-12);
        check_close(report(&m, id).motor, 4, 1e-10);
        run(&m, 3.0);
        check_close(report(&m, id).speed, 3, 1e-12);
        check_close(report(&m, id).motor, 1, 1e-9);
        check_close(report(&m, id).torque.z, 1, 1e-9);
        /* angle at 2 s: 3/2 t^2/2 = 3 (first order: + h/2 w), then 3 rad/s */
        check_close(report(&m, id).coordinate, 3 + 3, 2 * m.def.h);
        end(&m);
    }
}

/* A speed whatever the force has no place to keep: nothing but the speed is held, from the first step on. */
static void speed_without_limit_is_held(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyId rotor = add_body(&m, 1, 2, vec3(0, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.b = rotor;
        joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 3;
        st_JointId id = add_joint(&m, &joint);
        for (int k = 1; k <= 20; k++) {
            run(&m, k * m.def.h);
            check_close(report(&m, id).speed, 3, 1e-8); /* the tolerance; mostly rounding */
        }
        check_close(report(&m, id).coordinate, 20 * m.def.h * 3, 1e-8);
        end(&m);
    }
}

/* A slider falls on its lower stop and stays, whatever the drift and event handling. */
static void limit_stops_a_slider(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        m.def.gravity = vec3(0, 0, -10);
        st_BodyId slider = add_body(&m, 2, 1, vec3(0.3, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = slider, joint.lower = -0.2, joint.upper = 0.1;
        st_JointId id = add_joint(&m, &joint);
        run(&m, 0.5); /* reaches the stop at sqrt(2 0.2/10) = 0.2 s */
        st_JointReport r = report(&m, id);
        /* with velocity-level contacts and no events it stops up to one step late: 2 m/s * h */
        bool late = ways[way].drift == ST_DRIFT_VELOCITY && ways[way].events == ST_EVENTS_OFF;
        check_close(r.coordinate, -0.2, late ? 2.1 * m.def.h : 1e-9);
        check_close(r.speed, 0, 1e-12);
        check_close(r.limit, 20, 1e-8);
        check_close(r.force.z, 20, 1e-8);
        assert_int_equal(st_system_contact_count(m.system), 1);
        st_ContactReport contact;
        assert_int_equal(st_system_contact(m.system, 0, &contact), ST_OK);
        assert_int_equal(contact.joint.index1, id.index1);
        end(&m);
    }
}

/* A slider falls on its stop with restitution e: it comes back up to e^2 of the height (Newton, Poisson alike). */
static void limits_rebound(void **state)
{
    (void)state;
    for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_NEWTON; law++) {
        Machine m;
        begin(&m);
        m.def.impact = (st_Impact)law;
        m.def.gravity = vec3(0, 0, -10);
        st_BodyId slider = add_body(&m, 2, 1, vec3(0, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = slider, joint.lower = -0.2, joint.restitution = 0.5;
        st_JointId id = add_joint(&m, &joint);
        double highest = -1;
        run(&m, 0.25); /* hits after 0.2 s at 2 m/s, comes back at 1 m/s */
        for (int k = 0; k < 200; k++) {
            run(&m, 0.25 + 1e-3 * k);
            highest = fmax(highest, report(&m, id).coordinate);
        }
        check_close(highest, -0.2 + 0.25 * 0.2, 2e-3); /* first order: 2 h v */
        end(&m);
    }
}

/* A door that turns more than a whole turn before its stop: angles count turns. */
static void angle_limit_counts_turns(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId rotor = add_body(&m, 1, 1, vec3(0, 0, 0));
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = rotor, joint.upper = 15; /* 2.4 turns */
    add_force(&m, rotor, vec3(0, 0, 0), vec3(0, 0, 2));
    st_JointId id = add_joint(&m, &joint);
    run(&m, 5.0);
    check_close(report(&m, id).coordinate, 15, 1e-9);
    check_close(report(&m, id).limit, -2, 1e-9);
    assert_true(m.info.collisions == 0);
    end(&m);
}

/* m v0^2/2 = F s: stops after s and stays there under less than F. */
static void joint_friction_stops_and_holds(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyDef body = st_body_def();
        body.mass = 2, body.velocity.x = 3, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        st_BodyId slider;
        check_ok(st_scene_add_body(m.scene, &body, &slider, &m.err), m.err);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = slider, joint.axis = vec3(1, 0, 0), joint.friction = 6;
        st_JointId id = add_joint(&m, &joint);
        add_force(&m, slider, vec3(1.5, 0, 0), vec3(0, 0, 0)); /* a = -(6 - 1.5)/2 */
        run(&m, 2.0);
        double stop = 9 / (2 * 2.25);
        check_close(report(&m, id).coordinate, stop, 2 * m.def.h); /* h v0/2 */
        check_close(report(&m, id).speed, 0, 1e-14);
        check_close(report(&m, id).friction, -1.5, 1e-9);
        /* force times displacement, exactly; bdf2 adds up h u+, which is h v0/2 short */
        double late = ways[way].integrator == ST_INTEGRATOR_BDF2 ? 6 * 3 * 0.51 * m.def.h : 1e-9;
        check_close(m.info.friction, -6 * report(&m, id).coordinate, late);
        double before = report(&m, id).coordinate;
        run(&m, 4.0);
        check_close(report(&m, id).coordinate, before, 1e-14); /* no creep */
        end(&m);
    }
}

/* Held against gravity by k (x - wanted): sags by m g/k; with less force than the weight it falls at g - F/m. */
static void position_motor_is_a_limited_spring(void **state)
{
    (void)state;
    for (int strong = 0; strong < 2; strong++) {
        Machine m;
        begin(&m);
        m.def.gravity = vec3(0, 0, -10);
        st_BodyId slider = add_body(&m, 2, 1, vec3(0, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = slider;
        joint.motor = (st_MotorDef){
            .type = ST_MOTOR_POSITION, .target = 0.5, .max_force = strong ? 1e3 : 15, .stiffness = 1e4, .damping = 300};
        st_JointId id = add_joint(&m, &joint);
        run(&m, 1.0);
        if (strong)
            check_close(report(&m, id).coordinate, 0.5 - 20 / 1e4, 1e-9);
        else
            check_close(report(&m, id).speed, -(10 - 7.5) * 1.0, 1e-9);
        end(&m);
    }
}

/* A position motor with a target that moves at 0.5 m/s: its damper acts on the difference of the speeds, and it does
 * not lag by d v/k = 0.01 m, nor by h v for a row taken at the beginning of the step. */
static void position_motor_keeps_up(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = add_body(&m, 1, 1, vec3(0, 0, 0)), joint.axis = vec3(1, 0, 0);
        joint.motor = (st_MotorDef){.type = ST_MOTOR_POSITION,
                                    .target = 0.5,
                                    .profile = {.type = ST_PROFILE_RAMP},
                                    .max_force = INFINITY,
                                    .stiffness = 1e4,
                                    .damping = 200};
        st_JointId id = add_joint(&m, &joint);
        run(&m, 0.5); /* critically damped: exp(-100 t) of the start is left */
        check_close(report(&m, id).coordinate, 0.5 * 0.5, 1e-8); /* the solver's tolerance of 0.5 m/s, and d/k */
        end(&m);
    }
}

/* A position motor without a binding limit is a spring and damper: the same motion, to rounding, as with a soft
 * row, under every integrator that takes those implicitly. */
static void position_motor_is_a_spring(void **state)
{
    (void)state;
    const struct {
        st_Integrator integrator;
        st_Form form;
    } cases[] = {{ST_INTEGRATOR_IMPLICIT, ST_FORM_I},
                 {ST_INTEGRATOR_TRAPEZOID, ST_FORM_I},
                 {ST_INTEGRATOR_TRAPEZOID, ST_FORM_II},
                 {ST_INTEGRATOR_SDIRK2, ST_FORM_I},
                 {ST_INTEGRATOR_BDF2, ST_FORM_I}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double x[2];
        for (int motor = 0; motor < 2; motor++) {
            Machine m;
            begin(&m);
            m.def.integrator = cases[c].integrator, m.def.form = cases[c].form;
            m.def.gravity = vec3(0, 0, -10);
            st_BodyId slider = add_body(&m, 2, 1, vec3(0, 0, 0));
            st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
            joint.b = slider;
            if (motor)
                joint.motor = (st_MotorDef){
                    .type = ST_MOTOR_POSITION, .target = 0.3, .max_force = 1e6, .stiffness = 2e3, .damping = 10};
            else
                joint.stiffness = 2e3, joint.damping = 10, joint.rest = 0.3;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 0.2);
            x[motor] = report(&m, id).coordinate;
            end(&m);
        }
        check_close(x[1], x[0], 1e-9); /* the solver's tolerance */
        assert_true(fabs(x[0]) > 0.01);
    }
}

/* Rotation x(t) = A cos(w t + p) + B and a ramp, prescribed: the joint follows; torque = J x''. */
static void motion_is_followed(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyId rotor = add_body(&m, 1, 2, vec3(0, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.b = rotor;
        joint.motor.type = ST_MOTOR_MOTION;
        joint.motor.target = 0.5, joint.motor.offset = -0.5;
        joint.motor.profile = (st_Profile){.type = ST_PROFILE_HARMONIC, .frequency = 4};
        st_JointId id = add_joint(&m, &joint);
        run(&m, 1.0);
        bool exact = ways[way].drift == ST_DRIFT_PROJECTION;
        /* without projection the position lags by h/2 times the speed it integrates, 2 rad/s at most */
        check_close(report(&m, id).coordinate, 0.5 * cos(4.0) - 0.5, exact ? 1e-12 : 2 * m.def.h);
        check_close(report(&m, id).motor, -2 * 0.5 * 16 * cos(4.0), 16 * 4 * 2 * m.def.h); /* h times the jerk */
        end(&m);
    }
}

/* A slide that is moved, with drift gap. bdf2 closes the joint at the end of every step: the position is the
 * prescribed one, to the solver's tolerance, after its first step, which is of sdirk2. All follow a ramp without
 * error, and the speed is that of the ramp: the motion is not counted twice. */
static void motion_is_not_counted_twice(void **state)
{
    (void)state;
    const st_Profile profiles[] = {{.type = ST_PROFILE_RAMP}, {.type = ST_PROFILE_HARMONIC, .frequency = 8}};
    for (int i = ST_INTEGRATOR_TRAPEZOID; i <= ST_INTEGRATOR_BDF2; i++)
        for (int k = 0; k < 2; k++) {
            if (k == 1 && i != ST_INTEGRATOR_BDF2) continue;
            Machine m;
            begin(&m);
            m.def.integrator = (st_Integrator)i, m.def.form = ST_FORM_II;
            m.def.drift = ST_DRIFT_GAP, m.def.events = ST_EVENTS_OFF;
            m.def.h = 0.01;
            st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
            joint.b = add_body(&m, 1, 1, vec3(0, 0, 0)), joint.axis = vec3(1, 0, 0);
            joint.motor.type = ST_MOTOR_MOTION, joint.motor.target = 0.3, joint.motor.profile = profiles[k];
            joint.motor.offset = k == 1 ? -0.3 : 0;
            st_JointId id = add_joint(&m, &joint);
            run(&m, m.def.h);
            while (st_system_time(m.system) < 0.5) {
                double t = st_system_time(m.system) + m.def.h;
                run(&m, t);
                double x = k == 0 ? 0.3 * t : 0.3 * cos(8 * t) - 0.3;
                check_close(report(&m, id).coordinate, x, 1e-9); /* the solver's tolerance */
                if (k == 0 && i != ST_INTEGRATOR_TRAPEZOID) check_close(report(&m, id).speed, 0.3, 1e-8);
            }
            end(&m);
        }
}

/* All ways to go through a step: the impulse of a joint is that of the whole step, and its force is the mean over
 * it. 1 kg hung by a fixed joint: m g h, and m g. With a load that grows as f t the integrators of order two have
 * the integral, f t h - f h^2/2, and so the force in the middle of the step. */
static void impulses_of_the_whole_step(void **state)
{
    (void)state;
    const double g = 10, h = 0.01, load = 100;
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_BDF2; i++)
        for (int form = ST_FORM_I; form <= ST_FORM_II; form++)
            for (int ramp = 0; ramp < 2; ramp++) {
                Machine m;
                begin(&m);
                m.def.integrator = (st_Integrator)i, m.def.form = (st_Form)form;
                m.def.drift = ST_DRIFT_GAP, m.def.events = ST_EVENTS_OFF;
                m.def.h = h, m.def.gravity = vec3(0, 0, ramp ? 0 : -g);
                st_JointDef joint = st_joint_def(ST_JOINT_FIXED);
                joint.b = add_body(&m, 1, 1, vec3(0, 0, 0));
                st_JointId id = add_joint(&m, &joint);
                st_ForceDef pull = st_force_def();
                pull.body = joint.b, pull.force = vec3(0, 0, -load), pull.profile.type = ST_PROFILE_RAMP;
                if (ramp) check_ok(st_scene_add_force(m.scene, &pull, NULL, &m.err), m.err);
                run(&m, 5 * h);
                st_JointReport r = report(&m, id);
                if (!ramp) check_close(r.force.z, g, 1e-9);
                if (!ramp) check_close(r.impulse.z, g * h, 1e-11);
                check_close(r.impulse.z, h * r.force.z, 1e-11);
                if (ramp && i >= ST_INTEGRATOR_TRAPEZOID) {
                    const double started = i == ST_INTEGRATOR_BDF2 ? load * h / 100 : 1e-9; /* after 5 steps */
                    check_close(r.force.z, load * 4.5 * h, started);
                    check_close(m.info.force_time, 4.5 * h, 1e-15);
                }
                end(&m);
            }
}

/* The report of a contact has the velocity of b relative to a there, without the changes by drift, impact laws and
 * belts in the step problem: a ball that comes at 1 m/s from 5 mm above a floor, still on its way (its one row of
 * drift 0.005/h would make +4 m/s of it), and one that has bounced at e = 0.5. */
static void contacts_report_velocities(void **state)
{
    (void)state;
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_BDF2; i++)
        for (int bounce = 0; bounce < 2; bounce++) {
            Machine m;
            begin(&m);
            m.def.integrator = (st_Integrator)i;
            m.def.drift = ST_DRIFT_GAP, m.def.events = ST_EVENTS_OFF, m.def.impact = ST_IMPACT_NEWTON;
            st_BodyDef def = st_body_def();
            st_ShapeDef ball = st_sphere_def(0.1), floor = st_plane_def();
            st_BodyId body;
            st_ContactReport contact;
            def.mass = 1, def.velocity = vec3(0.25, 0, -1);
            def.pose.p = vec3(0, 0, bounce ? 0.1 + 0.5 * m.def.h : 0.105);
            ball.restitution = 0.5, ball.mu = floor.mu = 0;
            check_ok(st_scene_add_shape(m.scene, (st_BodyId){0}, &floor, NULL, &m.err), m.err);
            check_ok(st_scene_add_body(m.scene, &def, &body, &m.err), m.err);
            check_ok(st_scene_add_shape(m.scene, body, &ball, NULL, &m.err), m.err);
            run(&m, m.def.h);
            assert_int_equal(st_system_contact_count(m.system), 1);
            assert_int_equal(st_system_contact(m.system, 0, &contact), ST_OK);
            check_close(contact.velocity[0], bounce ? 0.5 : -1.0, 1e-9);
            end(&m);
        }
}

/* T on the screw: (J + m l^2) w' = T, l = pitch/(2 pi); axial force of the thread m l w'. */
static void screw_couples_turn_and_travel(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    double pitch = -0.05, lead = pitch / (2 * PI);
    st_BodyId nut = add_body(&m, 40, 0.1, vec3(0, 0, 0));
    st_JointDef joint = st_joint_def(ST_JOINT_SCREW);
    joint.b = nut, joint.axis = vec3(0, 1, 0), joint.pitch = pitch;
    st_JointId id = add_joint(&m, &joint);
    add_force(&m, nut, vec3(0, 0, 0), vec3(0, 0.7, 0));
    run(&m, 3.0);
    double w = 0.7 * 3.0 / (0.1 + 40 * lead * lead);
    st_JointReport r = report(&m, id);
    check_close(r.speed, w, 1e-10 * w);
    check_close(r.coordinate, 0.5 * 3 * w, 1e-3 * w); /* h w: first order; 4 turns and more */
    st_Pose pose;
    st_system_pose(m.system, nut, &pose);
    check_close(pose.p.y, lead * r.coordinate, 1e-12);
    check_close(r.force.y, 40 * lead * w / 3, 1e-9);
    end(&m);
}

/* x_a = ratio x_b: (J_a + J_b/ratio^2) x_a'' = T; on a turning carrier the wheels' angles are against it. */
static void gear_train_shares_the_torque(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId wheel[3];
    st_JointId axle[3];
    const double inertia[3] = {0.2, 0.5, 3.0}, ratio[2] = {-2, 3};
    for (int k = 0; k < 3; k++) {
        wheel[k] = add_body(&m, 1, inertia[k], vec3(k, 0, 0));
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.b = wheel[k], joint.point = vec3(k, 0, 0);
        axle[k] = add_joint(&m, &joint);
    }
    for (int k = 0; k < 2; k++) {
        st_JointDef gear = st_joint_def(ST_JOINT_GEAR);
        gear.joint_a = axle[k], gear.joint_b = axle[k + 1], gear.ratio = ratio[k];
        add_joint(&m, &gear);
    }
    add_force(&m, wheel[0], vec3(0, 0, 0), vec3(0, 0, 1.3));
    run(&m, 2.0);
    double total = 0.2 + 0.5 / 4 + 3.0 / 36, w = 1.3 / total * 2.0;
    check_close(report(&m, axle[0]).speed, w, 1e-10);
    check_close(report(&m, axle[1]).speed, -w / 2, 1e-10);
    check_close(report(&m, axle[2]).speed, -w / 6, 1e-10);
    st_JointReport gear = report(&m, (st_JointId){4});
    check_close(gear.gear, 0.2 * w / 2.0 - 1.3, 1e-9); /* the effect of the gear contact on wheel a */
    check_below(gear.error, 1e-13);
    end(&m);
}

/* Cardan: tan(out) = cos(bend) tan(in) with both angles from the position where the driving fork's pins
 * are in the plane of the shafts. */
static void universal_joint_is_cardan(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    double bend = 0.6;
    st_Vec3 driven = vec3(cos(bend), sin(bend), 0);
    st_BodyId in = add_body(&m, 1, 0.1, vec3(-1, 0, 0)), out = add_body(&m, 1, 0.1, driven);
    st_JointDef shaft = st_joint_def(ST_JOINT_REVOLUTE);
    shaft.b = in, shaft.axis = vec3(1, 0, 0), shaft.point = vec3(-1, 0, 0);
    shaft.motor.type = ST_MOTOR_MOTION, shaft.motor.target = 5, shaft.motor.profile.type = ST_PROFILE_RAMP;
    st_JointId first = add_joint(&m, &shaft);
    shaft = st_joint_def(ST_JOINT_REVOLUTE);
    shaft.b = out, shaft.axis = driven, shaft.point = driven;
    st_JointId second = add_joint(&m, &shaft);
    st_JointDef cross_joint = st_joint_def(ST_JOINT_UNIVERSAL);
    cross_joint.a = in, cross_joint.b = out;
    cross_joint.axis = vec3(0, 1, 0), cross_joint.axis_b = vec3(0, 0, 1); /* pins: in the plane, across it */
    add_joint(&m, &cross_joint);
    for (int k = 1; k <= 8; k++) {
        run(&m, 0.3 * k);
        double theta = report(&m, first).coordinate, phi = report(&m, second).coordinate;
        check_close(theta, 1.5 * k, 1e-12);
        /* a's pin (0, cos t, sin t) and b's pin stay orthogonal; with n the driven shaft and its pins
         * e = z, f = n x z at the start, b's pin is cos(p) z + sin(p) (n x z) */
        check_close(sin(theta) * cos(phi) - cos(bend) * cos(theta) * sin(phi), 0, 1e-12);
        check_close(phi, theta, PI / 2); /* whole turns together */
    }
    end(&m);
}

/* Each joint to the ground at the centre of mass lets exactly its own velocities pass. */
static void joints_leave_their_freedom(void **state)
{
    (void)state;
    const struct {
        st_JointType type;
        int free[6]; /* of velocity x y z, spin x y z; the joint's axis is z */
    } cases[] = {{ST_JOINT_FIXED, {0, 0, 0, 0, 0, 0}},       {ST_JOINT_BALL, {0, 0, 0, 1, 1, 1}},
                 {ST_JOINT_REVOLUTE, {0, 0, 0, 0, 0, 1}},    {ST_JOINT_PRISMATIC, {0, 0, 1, 0, 0, 0}},
                 {ST_JOINT_CYLINDRICAL, {0, 0, 1, 0, 0, 1}}, {ST_JOINT_UNIVERSAL, {0, 0, 0, 1, 0, 1}},
                 {ST_JOINT_PLANAR, {1, 1, 0, 0, 0, 1}},      {ST_JOINT_POINT_ON_LINE, {0, 0, 1, 1, 1, 1}},
                 {ST_JOINT_FREE, {1, 1, 1, 1, 1, 1}}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        Machine m;
        begin(&m);
        st_BodyDef body = st_body_def();
        body.mass = 1, body.inertia = (st_Mat3){{2, 0, 0, 0, 2, 0, 0, 0, 2}};
        body.velocity = vec3(0.1, 0.2, 0.3), body.spin = vec3(0.4, 0.5, 0.6);
        st_BodyId id;
        check_ok(st_scene_add_body(m.scene, &body, &id, &m.err), m.err);
        st_JointDef joint = st_joint_def(cases[c].type);
        joint.b = id, joint.axis_b = vec3(1, 0, 0), joint.point_b = vec3(0, 0, 0.1);
        if (cases[c].type != ST_JOINT_FREE) joint.point_b = vec3(0, 0, 0);
        add_joint(&m, &joint);
        m.def.h = 1e-9; /* the configuration stays: velocities after one step are those let pass */
        run(&m, 1e-9 + 2e-9);
        st_Vec3 v, w;
        st_system_velocity(m.system, id, &v, &w);
        const double got[6] = {v.x, v.y, v.z, w.x, w.y, w.z}, given[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
        for (int k = 0; k < 6; k++)
            check_close(got[k], cases[c].free[k] ? given[k] : 0.0, 1e-8); /* turned by 1e-9 */
        end(&m);
    }
}

/* A weight on a rope: free fall until it is taut, then it hangs; the rope carries the weight. */
static void rope_goes_taut(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -10);
    st_BodyId weight = add_body(&m, 3, 1, vec3(0, 0, -0.5));
    st_JointDef rope = st_joint_def(ST_JOINT_FREE);
    rope.b = weight, rope.point_b = vec3(0, 0, -0.5), rope.upper = 1.3;
    st_JointId id = add_joint(&m, &rope);
    run(&m, 0.3);
    check_close(report(&m, id).limit, 0, 1e-15);
    check_close(report(&m, id).speed, 3.0, 1e-12);
    run(&m, 1.0);
    check_close(report(&m, id).coordinate, 1.3, 1e-9);
    check_close(report(&m, id).limit, -30, 1e-8);
    check_close(report(&m, id).force.z, 30, 1e-8);
    end(&m);
}

/* A bushing as the only support: sag m g/k along z, tilt T/k about x. */
static void bushing_deflects(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -10);
    st_BodyId body = add_body(&m, 3, 0.4, vec3(0.2, 0, 0));
    st_SpringDef bushing = st_spring_def(ST_SPRING_BUSHING);
    bushing.b = body, bushing.point_a = vec3(0.2, 0, 0);
    bushing.stiffness_along = vec3(1e4, 1e4, 2e3), bushing.damping_along = vec3(200, 200, 100);
    bushing.stiffness_about = vec3(50, 80, 90), bushing.damping_about = vec3(5, 5, 5);
    check_ok(st_scene_add_spring(m.scene, &bushing, NULL, &m.err), m.err);
    add_force(&m, body, vec3(0, 0, 0), vec3(4, 0, 0));
    run(&m, 3.0);
    st_Pose pose;
    st_system_pose(m.system, body, &pose);
    check_close(pose.p.z, -30 / 2e3, 1e-9);
    check_close(2 * atan2(pose.q.x, pose.q.w), 4.0 / 50, 1e-9);
    check_close(m.info.potential, 10 * 3 * pose.p.z + 0.5 * 2e3 * 0.015 * 0.015 + 0.5 * 50 * 0.08 * 0.08, 1e-9);
    end(&m);
}

/* A beam clamped to a turned body: force and torque at the clamp, in the world and in a's axes. */
static void reaction_in_either_frame(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -10);
    st_BodyDef wall = st_body_def();
    wall.fixed = true, wall.pose.q = quat_exp(vec3(0, 0, PI / 2));
    st_BodyId wall_id, beam;
    check_ok(st_scene_add_body(m.scene, &wall, &wall_id, &m.err), m.err);
    beam = add_body(&m, 2, 1, vec3(0.75, 0, 0)); /* weight 20 N at 0.75 m from the clamp */
    st_JointDef clamp = st_joint_def(ST_JOINT_FIXED);
    clamp.a = wall_id, clamp.b = beam;
    st_JointId id = add_joint(&m, &clamp);
    run(&m, 0.01);
    st_JointReport world = report(&m, id), own;
    assert_int_equal(st_system_joint(m.system, id, ST_FRAME_A, &own), ST_OK);
    check_close(world.force.z, 20, 1e-9);
    check_close(world.torque.y, -15, 1e-9); /* (0.75 x) x (-20 z) = +15 y must be balanced */
    check_close(own.torque.x, -15, 1e-9);   /* the world's y is a's x */
    check_close(own.force.z, 20, 1e-9);
    check_close(world.impulse.z, 20 * m.def.h, 1e-12);
    assert_int_equal(st_system_joint(m.system, (st_JointId){2}, ST_FRAME_A, &own), ST_ERR_ARGUMENT);
    end(&m);
}

/* A box on four corners and one on a face pushed sideways below mu: forces sum to the weight and the push. */
static void contact_forces_sum_to_the_weight(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        m.def.gravity = vec3(0, 0, -9.81);
        m.def.law = ST_LAW_PYRAMID, m.def.facets = 8;
        st_ShapeDef plane = st_plane_def(), box = st_box_def(0.1, 0.2, 0.3);
        st_BodyDef body = st_body_def();
        st_BodyId id;
        body.pose.p = vec3(0.4, 0.1, 0.3);
        check_ok(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), m.err);
        check_ok(st_scene_add_body(m.scene, &body, &id, &m.err), m.err);
        check_ok(st_scene_add_shape(m.scene, id, &box, NULL, &m.err), m.err);
        double weight = 1000 * 8 * 0.1 * 0.2 * 0.3 * 9.81;
        add_force(&m, id, vec3(0.1 * weight, 0, 0), vec3(0, 0, 0));
        run(&m, 0.05);
        st_Vec3 force, torque, sum = {0, 0, 0};
        assert_int_equal(st_system_contact_force(m.system, id, &force, &torque), ST_OK);
        check_close(force.z, weight, 1e-8 * weight);
        check_close(force.x, -0.1 * weight, 1e-8 * weight);
        check_close(norm(torque), 0, 1e-8 * weight);
        for (int c = 0; c < st_system_contact_count(m.system); c++) {
            st_ContactReport contact;
            assert_int_equal(st_system_contact(m.system, c, &contact), ST_OK);
            assert_int_equal(contact.shape_a.index1, 1);
            assert_int_equal(contact.shape_b.index1, 2);
            sum = add(sum, contact.force);
        }
        check_close(norm(sub(sum, force)), 0, 1e-12 * weight);
        end(&m);
    }
}

/* Two bodies on a spring, no outer force: momentum stays, about the origin too. */
static void momentum_is_kept(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.drift = ST_DRIFT_VELOCITY;
    st_BodyDef def = st_body_def();
    st_BodyId id[2];
    def.mass = 2, def.inertia = (st_Mat3){{0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2}};
    def.velocity = vec3(1, 0.5, 0), def.spin = vec3(0, 0.3, 1);
    check_ok(st_scene_add_body(m.scene, &def, &id[0], &m.err), m.err);
    def.mass = 3, def.pose.p = vec3(1, 0, 0.2), def.velocity = vec3(0, -1, 0.4);
    check_ok(st_scene_add_body(m.scene, &def, &id[1], &m.err), m.err);
    st_JointDef ball = st_joint_def(ST_JOINT_BALL);
    ball.a = id[0], ball.b = id[1], ball.point = vec3(0.5, 0.1, 0);
    add_joint(&m, &ball);
    start(&m);
    st_Vec3 P0, L0, P, L;
    st_system_momentum(m.system, &P0, &L0);
    run(&m, 0.2);
    st_system_momentum(m.system, &P, &L);
    check_close(norm(sub(P, vec3(2, -2, 1.2))), 0, 1e-12);
    check_close(norm(sub(P, P0)), 0, 1e-12);
    check_close(norm(sub(L, L0)), 0, 20 * m.def.h); /* first order */
    end(&m);
}

/* Restitution of a pair: given, or the larger of the two. Measured after an impact at 3 m/s. */
static void materials_rebound(void **state)
{
    (void)state;
    for (int said = 0; said < 2; said++) {
        Machine m;
        begin(&m);
        m.def.impact = ST_IMPACT_NEWTON;
        st_MaterialDef steel = st_material_def(), cork = st_material_def();
        st_MaterialPairDef pair = st_material_pair_def();
        steel.restitution = 0.8, cork.restitution = 0.2;
        check_ok(st_scene_add_material(m.scene, &steel, &pair.a, &m.err), m.err);
        check_ok(st_scene_add_material(m.scene, &cork, &pair.b, &m.err), m.err);
        refuse(st_scene_add_material_pair(m.scene, &pair, &m.err), &m.err, "has no value");
        pair.restitution = 0.4; /* friction stays the mean */
        if (said) check_ok(st_scene_add_material_pair(m.scene, &pair, &m.err), m.err);
        st_ShapeDef plane = st_plane_def(), point = st_point_def();
        plane.material = pair.a, point.material = pair.b;
        st_BodyDef body = st_body_def();
        body.mass = 1, body.locks = ST_LOCK_ROTATION, body.velocity.z = -3, body.pose.p.z = 0.03;
        st_BodyId id;
        check_ok(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), m.err);
        check_ok(st_scene_add_body(m.scene, &body, &id, &m.err), m.err);
        check_ok(st_scene_add_shape(m.scene, id, &point, NULL, &m.err), m.err);
        run(&m, 0.02);
        st_Vec3 v;
        st_system_velocity(m.system, id, &v, NULL);
        check_close(v.z, said ? 1.2 : 2.4, 1e-9);
        end(&m);
    }
}

/* Refuses the n-th request. */
typedef struct Miser {
    st_Allocator base;
    long calls, refuse_at;
} Miser;

static void *miser_alloc(void *ctx, size_t size, size_t align)
{
    Miser *m = ctx;
    return ++m->calls == m->refuse_at ? NULL : m->base.alloc(m->base.ctx, size, align);
}

static void miser_free(void *ctx, void *memory, size_t size, size_t align)
{
    Miser *m = ctx;
    m->base.free(m->base.ctx, memory, size, align);
}

/* Materials, joints with tables, a bushing: refused memory leaves the scene and its objects unchanged. */
static st_Status build_poorly(const st_Allocator *allocator, st_Scene **scene, st_Error *err)
{
    st_Status status = st_scene_create_with(allocator, scene, err);
    if (status != ST_OK) return status;
    st_BodyDef body = st_body_def();
    st_MaterialDef ice = st_material_def();
    st_MaterialPairDef pair = st_material_pair_def();
    st_JointDef joint = st_joint_def(ST_JOINT_SCREW);
    st_SpringDef bushing = st_spring_def(ST_SPRING_BUSHING);
    body.mass = 1, ice.name = "ice", pair.mu = 0.1;
    joint.pitch = 0.1, joint.motor.type = ST_MOTOR_SPEED;
    joint.motor.profile = (st_Profile){
        .type = ST_PROFILE_TABLE, .n_table = 2, .times = (const double[]){0, 1}, .values = (const double[]){1, 2}};
    bushing.stiffness_along.x = 1;
    status = st_scene_add_material(*scene, &ice, &pair.a, err);
    pair.b = pair.a;
    if (status == ST_OK) status = st_scene_add_material_pair(*scene, &pair, err);
    if (status == ST_OK) status = st_scene_add_body(*scene, &body, &joint.b, err);
    bushing.b = joint.b;
    if (status == ST_OK) status = st_scene_add_spring(*scene, &bushing, NULL, err);
    for (int k = 0; k < 3 && status == ST_OK; k++) {
        int before = st_scene_joint_count(*scene);
        status = st_scene_add_joint(*scene, &joint, NULL, err);
        assert_int_equal(st_scene_joint_count(*scene), status == ST_OK ? before + 1 : before);
        if (status != ST_OK) assert_int_equal(st_scene_find_joint(*scene, k == 0 ? "joint1" : "joint9").index1, 0);
    }
    return status;
}

static void refused_memory_leaves_scenes_whole(void **state)
{
    (void)state;
    bool refused = true;
    for (long n = 1; refused; n++) {
        Miser miser = {.base = st_default_allocator(), .refuse_at = n};
        st_Allocator allocator = {miser_alloc, miser_free, &miser};
        st_Scene *scene = NULL;
        st_Error err = {0};
        st_Status status = build_poorly(&allocator, &scene, &err);
        refused = status != ST_OK;
        if (refused) assert_int_equal(status, ST_ERR_MEMORY);
        st_scene_destroy(scene);
        assert_true(n < 1000);
    }
}

static void bad_joints_are_refused(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyDef arm = st_body_def(), fixed = st_body_def();
    arm.mass = 1, arm.name = "arm", fixed.fixed = true, fixed.name = "wall";
    st_BodyId body, wall;
    check_ok(st_scene_add_body(m.scene, &arm, &body, &m.err), m.err);
    check_ok(st_scene_add_body(m.scene, &fixed, &wall, &m.err), m.err);
    const struct {
        st_JointType type;
        const char *part;
    } cases[] = {
        {ST_JOINT_REVOLUTE, "lower is 1 and upper -1"},
        {ST_JOINT_REVOLUTE, "motor: max_force is -1"},
        {ST_JOINT_BALL, "a ball joint's swing has no direction for a motor"},
        {ST_JOINT_FIXED, "a fixed joint has no angle or displacement for a limit"},
        {ST_JOINT_REVOLUTE, "axis is (0, 0, 0)"},
        {ST_JOINT_UNIVERSAL, "must be 90"},
        {ST_JOINT_SCREW, "pitch is 0"},
        {ST_JOINT_GEAR, "joint_a is joint number 0"},
        {ST_JOINT_DISTANCE, "length is -2"},
        {ST_JOINT_REVOLUTE, "its motion starts at 0.5, but the coordinate of the joint is 0"},
        {ST_JOINT_REVOLUTE, "coordinate is \"distance\", which a revolute joint does not have"},
        {ST_JOINT_FREE, "point and point_b coincide"},
        {ST_JOINT_PRISMATIC, "motor: stiffness is 0"},
        {ST_JOINT_REVOLUTE, "friction is -2"},
        {ST_JOINT_REVOLUTE, "neither of \"wall\" and \"ground\" can move"},
        {ST_JOINT_REVOLUTE, "both ends are at \"arm\""},
        {ST_JOINT_REVOLUTE, "lower is nan and upper inf (angle), each must be from"},
        {ST_JOINT_REVOLUTE, "table"},
    };
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
        st_JointDef def = st_joint_def(cases[k].type);
        def.a = body, def.name = "hinge";
        switch (k) {
        case 0:
            def.lower = 1, def.upper = -1;
            break;
        case 1:
            def.motor.type = ST_MOTOR_SPEED, def.motor.max_force = -1;
            break;
        case 2:
            def.motor.type = ST_MOTOR_SPEED;
            break;
        case 3:
            def.lower = 0;
            break;
        case 4:
            def.axis = vec3(0, 0, 0);
            break;
        case 5:
            def.axis_b = vec3(1, 0, 1);
            break;
        case 8:
            def.point_b = vec3(0, 1, 0), def.length = -2; /* one that does not fit: test_events.c */
            break;
        case 9:
            def.motor.type = ST_MOTOR_MOTION, def.motor.target = 0.5;
            break;
        case 10:
            def.coordinate = ST_COORDINATE_DISTANCE;
            break;
        case 12:
            def.motor.type = ST_MOTOR_POSITION;
            break;
        case 13:
            def.friction = -2;
            break;
        case 14:
            def.a = wall;
            break;
        case 15:
            def.b = body;
            break;
        case 16:
            def.lower = NAN, def.friction = 1;
            break;
        case 17:
            def.motor.type = ST_MOTOR_SPEED, def.motor.profile.type = ST_PROFILE_TABLE;
            break;
        default:
            break;
        }
        refuse(st_scene_add_joint(m.scene, &def, NULL, &m.err), &m.err, cases[k].part);
        assert_non_null(strstr(m.err.message, "joint \"hinge\""));
    }
    assert_int_equal(st_scene_joint_count(m.scene), 0);
    st_SpringDef bushing = st_spring_def(ST_SPRING_BUSHING);
    bushing.b = body;
    refuse(st_scene_add_spring(m.scene, &bushing, NULL, &m.err), &m.err, "all its stiffnesses and dampings are 0");
    bushing.damping_about.y = -1;
    refuse(st_scene_add_spring(m.scene, &bushing, NULL, &m.err), &m.err, "angular_damping is -1");
    end(&m);
}

/* In a plane, a hinge across it: its motor has nothing to turn. */
static void locked_coordinates_are_refused(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyDef body = st_body_def();
    body.mass = 1, body.locks = ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    check_ok(st_scene_add_body(m.scene, &body, &joint.b, &m.err), m.err);
    joint.axis = vec3(1, 0, 0), joint.name = "across";
    joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 1, joint.motor.max_force = 1;
    add_joint(&m, &joint);
    refuse(st_system_create(m.scene, &m.def, &m.system, &m.err), &m.err, "joint \"across\": its angle cannot change");
    end(&m);
}

/* Friction in every joint of a loop with one freedom, and a motor: more bounded rows than freedoms. Their individual
 * forces are not unique, but the motion is: all are at their limits while it turns, and it stops without a motor. */
static void friction_all_around_a_loop(void **state)
{
    (void)state;
    const st_Vec3 corner[4] = {{0, 0, 0}, {0, 1, 0}, {2, 1, 0}, {2, 0, 0}}; /* a parallelogram */
    for (int driven = 0; driven < 2; driven++) {
        Machine m;
        begin(&m);
        st_BodyId bar[5] = {ST_GROUND};
        st_JointId id[4];
        for (int k = 0; k < 3; k++)
            bar[k + 1] = add_body(&m, 1, 0.5, scale(0.5, add(corner[k], corner[k + 1])));
        bar[4] = ST_GROUND;
        for (int k = 0; k < 4; k++) {
            st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
            joint.a = bar[k], joint.b = bar[k + 1], joint.point = corner[k], joint.friction = 0.25;
            if (k == 0 && driven) joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 1, joint.motor.max_force = 2;
            id[k] = add_joint(&m, &joint);
        }
        if (!driven) add_force(&m, bar[1], vec3(0, 0, 0), vec3(0, 0, 0.9)); /* less than 4 times 0.25 */
        run(&m, 0.5);
        if (driven) {
            /* both cranks turn, the coupler moves round: (2 J + 2 m/4 + m) w' = 2 - 4 0.25 */
            double inertia = 2 * (0.5 + 0.25) + 1;
            check_close(report(&m, id[0]).speed, fmin(1, 0.5 * (2 - 1) / inertia), 2e-3); /* first order */
            check_close(report(&m, id[0]).motor, 2, 1e-9);
            for (int k = 0; k < 4; k++)
                check_close(fabs(report(&m, id[k]).friction), 0.25, 1e-9);
        } else {
            check_close(report(&m, id[0]).speed, 0, 1e-9);
            check_close(report(&m, id[0]).coordinate, 0, 1e-9);
        }
        end(&m);
    }
}

/* Friction of two materials: given for the pair, or the geometric mean; measured by the deceleration. */
static void materials_combine(void **state)
{
    (void)state;
    const struct {
        bool pair;
        double mu;
    } cases[] = {{false, 0.3}, {true, 0.1}}; /* sqrt(0.9 0.1) */
    for (int k = 0; k < 2; k++) {
        Machine m;
        begin(&m);
        m.def.gravity = vec3(0, 0, -10);
        st_MaterialDef ice = st_material_def(), rubber = st_material_def();
        st_MaterialPairDef pair = st_material_pair_def();
        ice.name = "ice", ice.mu = 0.1, rubber.name = "rubber", rubber.mu = 0.9;
        check_ok(st_scene_add_material(m.scene, &ice, &pair.a, &m.err), m.err);
        check_ok(st_scene_add_material(m.scene, &rubber, &pair.b, &m.err), m.err);
        pair.mu = 0.1;
        if (cases[k].pair) check_ok(st_scene_add_material_pair(m.scene, &pair, &m.err), m.err);
        if (cases[k].pair) refuse(st_scene_add_material_pair(m.scene, &pair, &m.err), &m.err, "is given twice");
        st_ShapeDef plane = st_plane_def(), ball = st_point_def();
        plane.material = pair.a, ball.material = st_scene_find_material(m.scene, "rubber");
        st_BodyDef body = st_body_def();
        body.mass = 1, body.locks = ST_LOCK_ROTATION, body.velocity.x = 2;
        st_BodyId id;
        check_ok(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), m.err);
        check_ok(st_scene_add_body(m.scene, &body, &id, &m.err), m.err);
        check_ok(st_scene_add_shape(m.scene, id, &ball, NULL, &m.err), m.err);
        run(&m, 0.2);
        st_Vec3 v;
        st_Pose pose;
        st_system_velocity(m.system, id, &v, NULL);
        st_system_pose(m.system, id, &pose);
        check_close(v.x, 2 - cases[k].mu * 10 * 0.2, 1e-9);
        check_close(m.info.friction, -cases[k].mu * 10 * pose.p.x, 1e-9);
        ball.material.index1 = 7;
        refuse(st_scene_add_shape(m.scene, id, &ball, NULL, &m.err), &m.err, "material is number 7");
        end(&m);
    }
}

/* One step of two motors without limits on one axis: is it solved? */
static st_SolveInfo two_motors(double first, double second)
{
    Machine m;
    begin(&m);
    st_BodyId rotor = add_body(&m, 1, 2, vec3(0, 0, 0));
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = rotor;
    joint.motor.type = ST_MOTOR_SPEED;
    joint.motor.target = first, add_joint(&m, &joint);
    joint.motor.target = second, add_joint(&m, &joint);
    start(&m);
    m.info = st_step_info();
    check_ok(st_system_step(m.system, m.def.h, &m.info, &m.err), m.err);
    st_SolveInfo solve = m.info.solve;
    end(&m);
    return solve;
}

/* Redundant is not wrong; but no speed is both 1 and -3, and whichever is taken is off by 2 at least. */
static void motors_that_contradict_are_not_solved(void **state)
{
    (void)state;
    st_SolveInfo agree = two_motors(1, 1), contradict = two_motors(1, -3);
    assert_true(agree.converged);
    check_below(agree.residual.joint, 1e-12);
    assert_false(contradict.converged);
    assert_true(contradict.residual.joint >= 2 - 1e-12);
}

/* A wheel on a fixed axle that overlaps the floor slightly: no force can open this, none is applied, and it turns
 * with its motor. */
static void overlaps_that_joints_hold_are_left(void **state)
{
    (void)state;
    for (double overlap = 1e-9; overlap < 0.01; overlap *= 10) {
        Machine m;
        st_ShapeDef floor = st_plane_def(), tyre = st_sphere_def(0.1);
        begin(&m);
        m.def = st_system_def();
        floor.mu = tyre.mu = 0.5;
        st_BodyId wheel = add_body(&m, 1, 0.004, vec3(0, 0, 0.1 - overlap));
        check_ok(st_scene_add_shape(m.scene, (st_BodyId){0}, &floor, NULL, &m.err), m.err);
        check_ok(st_scene_add_shape(m.scene, wheel, &tyre, NULL, &m.err), m.err);
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.b = wheel;
        joint.point = vec3(0, 0, 0.1 - overlap), joint.axis = vec3(0, 1, 0);
        joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 10, joint.motor.max_force = 0.4;
        st_JointId id = add_joint(&m, &joint);
        run(&m, 0.1); /* 0.4 / 0.004 rad/s^2 for 0.1 s */
        check_close(report(&m, id).speed, 10, 1e-9);
        check_close(report(&m, id).force.z, 9.81, 1e-9);
        end(&m);
    }
}

/* Wheels that turn by 3.5 and 7 rad in every step: whole turns are counted, and a gear between them stays closed. */
static void more_than_half_a_turn_per_step(void **state)
{
    (void)state;
    for (int i = ST_INTEGRATOR_EULER; i <= ST_INTEGRATOR_SDIRK2; i++) {
        Machine m;
        st_JointId axle[2];
        begin(&m);
        m.def.integrator = (st_Integrator)i, m.def.form = ST_FORM_II, m.def.h = 1e-3;
        m.def.events = ST_EVENTS_OFF, m.def.drift = ST_DRIFT_GAP;
        for (int k = 0; k < 2; k++) {
            st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
            joint.b = add_body(&m, 1, 1, vec3(3 * k, 0, 0));
            joint.point = vec3(3 * k, 0, 0);
            axle[k] = add_joint(&m, &joint);
        }
        st_JointDef gear = st_joint_def(ST_JOINT_GEAR);
        gear.joint_a = axle[0], gear.joint_b = axle[1], gear.ratio = 2;
        add_joint(&m, &gear);
        st_Error err = {0};
        run(&m, 1e-3);
        check_ok(st_system_set_velocity(m.system, (st_BodyId){1}, NULL, &(st_Vec3){0, 0, 7000}, &err), err);
        check_ok(st_system_set_velocity(m.system, (st_BodyId){2}, NULL, &(st_Vec3){0, 0, 3500}, &err), err);
        for (int k = 0; k < 50; k++) {
            check_ok(st_system_step(m.system, 1e-3, NULL, &err), err);
            check_close(report(&m, axle[0]).coordinate, 7 * (k + 1), 1e-6);
            check_close(report(&m, axle[1]).coordinate, 3.5 * (k + 1), 1e-6);
            check_below(report(&m, (st_JointId){3}).error, 1e-6);
        }
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speed_motor_has_a_limit),
        cmocka_unit_test(speed_without_limit_is_held),
        cmocka_unit_test(limit_stops_a_slider),
        cmocka_unit_test(limits_rebound),
        cmocka_unit_test(angle_limit_counts_turns),
        cmocka_unit_test(joint_friction_stops_and_holds),
        cmocka_unit_test(position_motor_is_a_limited_spring),
        cmocka_unit_test(position_motor_is_a_spring),
        cmocka_unit_test(motors_that_contradict_are_not_solved),
        cmocka_unit_test(overlaps_that_joints_hold_are_left),
        cmocka_unit_test(motion_is_followed),
        cmocka_unit_test(motion_is_not_counted_twice),
        cmocka_unit_test(impulses_of_the_whole_step),
        cmocka_unit_test(contacts_report_velocities),
        cmocka_unit_test(screw_couples_turn_and_travel),
        cmocka_unit_test(gear_train_shares_the_torque),
        cmocka_unit_test(universal_joint_is_cardan),
        cmocka_unit_test(joints_leave_their_freedom),
        cmocka_unit_test(rope_goes_taut),
        cmocka_unit_test(bushing_deflects),
        cmocka_unit_test(reaction_in_either_frame),
        cmocka_unit_test(contact_forces_sum_to_the_weight),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(materials_combine),
        cmocka_unit_test(materials_rebound),
        cmocka_unit_test(refused_memory_leaves_scenes_whole),
        cmocka_unit_test(friction_all_around_a_loop),
        cmocka_unit_test(locked_coordinates_are_refused),
        cmocka_unit_test(bad_joints_are_refused),
        cmocka_unit_test(more_than_half_a_turn_per_step),
        cmocka_unit_test(position_motor_keeps_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
