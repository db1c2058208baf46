/* Limits of ball and universal joints: a cone for the swing, stops for twist and angles, against closed forms. */
#include "machine.h"

/* A rod of mass M on a ball joint at the origin, hanging along -z. About the pivot J = I + M L^2. */
#define MASS     2.0
#define INERTIA  0.1
#define LENGTH   0.5
#define AT_PIVOT (INERTIA + MASS * LENGTH * LENGTH)
#define CONE     0.7

/* The rod tilted by `tilt` towards the direction `azimuth`, with the angular velocity w (world axes). */
static st_BodyId add_rod(Machine *m, double tilt, double azimuth, st_Vec3 w)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    st_Vec3 down = vec3(sin(tilt) * cos(azimuth), sin(tilt) * sin(azimuth), -cos(tilt));
    def.mass = MASS, def.inertia = (st_Mat3){{INERTIA, 0, 0, 0, INERTIA, 0, 0, 0, INERTIA}};
    def.pose.p = scale(LENGTH, down);
    def.velocity = cross(w, def.pose.p);
    def.spin = w; /* not turned: world axes are its own */
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    return id;
}

static st_JointDef ball(st_BodyId rod, double tilt, double azimuth)
{
    st_JointDef joint = st_joint_def(ST_JOINT_BALL);
    joint.b = rod, joint.name = "shoulder";
    joint.axis = vec3(0, 0, -1);
    joint.axis_b = vec3(sin(tilt) * cos(azimuth), sin(tilt) * sin(azimuth), -cos(tilt));
    return joint;
}

/* ---- the cone ------------------------------------------------------------------------------------ */

/* Without weight the rod swings at w0 to the cone, at the time CONE/w0, and comes back at e w0: in every scheme, in
 * every direction. Located or not, a step decides: the angle is off by at most one step's way.    */
static void cone_returns_the_rod(void **state)
{
    (void)state;
    const double w0 = 1.4, e = 0.5;
    for (int way = 0; way < N_WAYS; way++)
        for (int k = 0; k < 3; k++) {
            Machine m;
            begin(&m);
            choose(&m, way);
            double azimuth = 2.1 * k;
            st_BodyId rod = add_rod(&m, 0, 0, scale(w0, vec3(sin(azimuth), -cos(azimuth), 0)));
            st_JointDef joint = ball(rod, 0, 0);
            joint.upper = CONE, joint.restitution = e, m.def.impact = ST_IMPACT_POISSON;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 0.4);
            check_close(report(&m, id).coordinate, 0.4 * w0, m.def.h * w0);
            run(&m, 0.8);                                                  /* CONE/w0 = 0.5 s */
            check_close(report(&m, id).speed, -e * w0, m.def.h * w0 * w0); /* first order */
            check_close(report(&m, id).coordinate, CONE - e * w0 * 0.3, m.def.h * w0 * (1 + e));
            end(&m);
        }
}

/* Simpson's rule over the angle: the time from 0 to `angle` of a pendulum with w0 at the bottom. */
static double time_to(double angle, double w0)
{
    const int n = 2000;
    const double k = 2 * MASS * 9.81 * LENGTH / AT_PIVOT;
    double sum = 0;
    for (int i = 0; i <= n; i++) {
        double weight = i == 0 || i == n ? 1 : i % 2 == 1 ? 4 : 2;
        sum += weight / sqrt(w0 * w0 - k * (1 - cos(angle * i / n)));
    }
    return sum * angle / n / 3;
}

/* With weight: w1^2 = w0^2 - 2 m g L (1 - cos CONE)/J at the cone, e w1 after it, and at the bottom again by energy
 * conservation. Second order with located events, so that h = 1e-3 leaves 1e-5. */
static void cone_bounces_a_pendulum(void **state)
{
    (void)state;
    const double w0 = 4, e = 0.8, fall = 2 * MASS * 9.81 * LENGTH * (1 - cos(CONE)) / AT_PIVOT;
    const double w1 = sqrt(w0 * w0 - fall), w2 = sqrt(e * e * w1 * w1 + fall);
    double hit = time_to(CONE, w0), back = hit + time_to(CONE, w2);
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -9.81);
    m.def.integrator = ST_INTEGRATOR_SDIRK2, m.def.events = ST_EVENTS_ALL, m.def.impact = ST_IMPACT_NEWTON;
    st_BodyId rod = add_rod(&m, 0, 0, vec3(0, -w0, 0));
    st_JointDef joint = ball(rod, 0, 0);
    joint.upper = CONE, joint.restitution = e;
    st_JointId id = add_joint(&m, &joint);
    double seen = -1, before = 0, after = 0;
    start(&m);
    while (seen < 0 && st_system_time(m.system) < 1) {
        run(&m, st_system_time(m.system) + m.def.h);
        for (int k = 0; k < st_system_event_count(m.system); k++) {
            st_EventReport event;
            assert_int_equal(st_system_event(m.system, k, &event), ST_OK);
            if (event.kind == ST_EVENT_COLLISION) seen = event.time, before = event.before, after = event.after;
        }
    }
    check_close(seen, hit, 1e-6);
    check_close(before, -w1, 1e-5);
    check_close(after, e * w1, 1e-5);
    run(&m, back);
    check_close(report(&m, id).coordinate, 0, 2e-5); /* at the bottom */
    st_Vec3 v, w;
    assert_int_equal(st_system_velocity(m.system, rod, &v, &w), ST_OK);
    check_close(v.x, w2 * LENGTH * -1, 2e-5);
    end(&m);
}

/* Set off along the cone, the rod stays on it, pressed outward by its own inertia: it goes round at a constant rate,
 * and the limit gives -J rate^2 sin cos (Lagrange's equation for the swing).                          */
static void rod_runs_round_the_cone(void **state)
{
    (void)state;
    const double rate = 3;
    Machine m;
    begin(&m);
    m.def.integrator = ST_INTEGRATOR_SDIRK2, m.def.events = ST_EVENTS_ALL;
    /* w = t x t' with t' = rate z x t: no spin about the rod itself */
    st_Vec3 t = vec3(sin(CONE), 0, -cos(CONE)), w = cross(t, cross(vec3(0, 0, rate), t));
    st_BodyId rod = add_rod(&m, CONE, 0, w);
    st_JointDef joint = ball(rod, CONE, 0);
    joint.upper = CONE;
    st_JointId id = add_joint(&m, &joint);
    for (int k = 1; k <= 20; k++) {
        run(&m, 0.1 * k);
        st_JointReport r = report(&m, id);
        check_close(r.coordinate, CONE, 1e-9);
        /* second order: (h rate)^2 = 1e-5 */
        check_close(r.limit, -AT_PIVOT * rate * rate * sin(CONE) * cos(CONE), 1e-4 * AT_PIVOT * rate * rate);
    }
    st_Pose pose;
    assert_int_equal(st_system_pose(m.system, rod, &pose), ST_OK);
    double turned = atan2(pose.p.y, pose.p.x), expected = remainder(rate * 2.0, 2 * PI);
    check_close(remainder(turned - expected, 2 * PI), 0, 1e-4);
    end(&m);
}

/* ---- twist --------------------------------------------------------------------------------------- */

/* w' = 20 drives the upright body about its axis to either stop, where the limit carries the torque. */
static void twist_stops(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++)
        for (int sign = -1; sign <= 1; sign += 2) {
            Machine m;
            begin(&m);
            choose(&m, way);
            st_BodyId rod = add_rod(&m, 0, 0, vec3(0, 0, 0));
            st_JointDef joint = ball(rod, 0, 0);
            add_force(&m, rod, vec3(0, 0, 0), scale(sign * 20 * INERTIA, joint.axis_b));
            joint.upper = 1.5, joint.other_lower = -1, joint.other_upper = 1;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 0.2); /* twist 20 t^2/2 = 0.4, first order */
            check_close(report(&m, id).other, sign * 0.4, 20 * 0.2 * m.def.h);
            run(&m, 1);
            bool kept = ways[way].drift == ST_DRIFT_VELOCITY; /* where the step found it: up to a step's way beyond */
            check_close(report(&m, id).other, sign, kept ? m.def.h * sqrt(2 * 20.0) : 1e-9);
            check_close(report(&m, id).other_limit, -sign * 20 * INERTIA, 1e-9);
            check_close(report(&m, id).coordinate, 0, 1e-9);
            end(&m);
        }
}

/* Spun about its own axis, which leans: the twist is the angle of that spin and the swing stays, until the stop turns
 * the twist back at e times its rate. Nothing is gained.                                          */
static void leaning_twist_returns(void **state)
{
    (void)state;
    const double w0 = 2, e = 0.5;
    for (int way = 0; way < N_WAYS; way++)
        for (int k = 1; k < 4; k++) {
            Machine m;
            begin(&m);
            choose(&m, way);
            m.def.impact = ST_IMPACT_NEWTON;
            double tilt = 0.6 * k;
            st_JointDef joint = ball(ST_GROUND, tilt, 0.8);
            joint.b = add_rod(&m, tilt, 0.8, scale(w0, joint.axis_b));
            joint.other_upper = 1, joint.restitution = e;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 0.4);
            check_close(report(&m, id).other, 0.4 * w0, 1e-9);
            check_close(report(&m, id).coordinate, tilt, 1e-9);
            double energy = m.info.kinetic;
            run(&m, 0.5 + 2 * m.def.h);                             /* hits at 0.5 s */
            check_close(report(&m, id).other_speed, -e * w0, 1e-2); /* a step or two later: h w^2 */
            check_below(m.info.kinetic, energy);
            end(&m);
        }
}

/* Twist counts whole turns; a motor of limited torque drives it, as any angle. */
static void twist_is_driven(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId rod = add_rod(&m, 0, 0, vec3(0, 0, 0));
    st_JointDef joint = ball(rod, 0, 0);
    joint.coordinate = ST_COORDINATE_TWIST, joint.upper = 15, joint.other_upper = 1;
    joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 3, joint.motor.max_force = 0.2;
    st_JointId id = add_joint(&m, &joint);
    run(&m, 1.0); /* 0.2/0.1 rad/s^2 */
    check_close(report(&m, id).speed, 2, 1e-9);
    check_close(report(&m, id).motor, 0.2, 1e-9);
    run(&m, 8.0); /* 15 rad: 2.4 turns */
    check_close(report(&m, id).coordinate, 15, 1e-9);
    check_close(report(&m, id).limit, -0.2, 1e-8);
    end(&m);
}

/* ---- universal joints ---------------------------------------------------------------------------- */

/* b turned by R(z, alpha) R(x, beta) against a: the two angles, from the pose alone. */
static void angles_of(st_Pose pose, double *alpha, double *beta)
{
    st_Vec3 x = rotate(pose.q, vec3(1, 0, 0)), z = rotate(pose.q, vec3(0, 0, 1));
    *alpha = atan2(x.y, x.x);
    /* z of b is R(z, alpha) (0, -sin beta, cos beta) */
    *beta = atan2(-dot(z, vec3(-sin(*alpha), cos(*alpha), 0)), z.z);
}

/* A body tumbles in the joint: the reported angles are those of the pose, and neither leaves its range, under three
 * presets. */
static void universal_angles_have_stops(void **state)
{
    (void)state;
    const char *const preset[] = {"default", "anitescu-potra-2002", "accurate"};
    for (int p = 0; p < 3; p++)
        for (int k = 0; k < 6; k++) {
            check_Random random = {(uint64_t)(50 + k)};
            Machine m;
            begin(&m);
            check_ok(st_preset_apply(&m.def, preset[p], &m.err), m.err);
            m.def.gravity = vec3(0, 0, 0), m.def.h = 2e-3;
            st_BodyDef body = st_body_def();
            body.mass = 1, body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.15, 0, 0, 0, 0.2}};
            double along_z = check_random(&random, -3, 3), along_x = check_random(&random, -3, 3);
            body.spin = vec3(along_x, 0, along_z);
            st_JointDef joint = st_joint_def(ST_JOINT_UNIVERSAL);
            check_ok(st_scene_add_body(m.scene, &body, &joint.b, &m.err), m.err);
            joint.axis = vec3(0, 0, 2), joint.axis_b = vec3(1, 0, 0);
            joint.lower = -1, joint.upper = 0.7, joint.other_lower = -0.5, joint.other_upper = 1.2;
            joint.restitution = 0.9;
            st_JointId id = add_joint(&m, &joint);
            double least[2] = {0, 0}, most[2] = {0, 0};
            for (int step = 1; step <= 150; step++) {
                run(&m, 0.02 * step);
                double alpha, beta;
                st_Pose pose;
                assert_int_equal(st_system_pose(m.system, joint.b, &pose), ST_OK);
                angles_of(pose, &alpha, &beta);
                st_JointReport r = report(&m, id);
                /* the two readings differ by the joint's own error: drift gap keeps it to h^2 w^2 */
                check_close(r.coordinate, alpha, 1e-4);
                check_close(r.other, beta, 1e-4);
                least[0] = fmin(least[0], alpha), most[0] = fmax(most[0], alpha);
                least[1] = fmin(least[1], beta), most[1] = fmax(most[1], beta);
            }
            /* a step may carry it over by a step's way before the stop answers */
            double over = 4 * 3 * m.def.h;
            assert_true(least[0] >= -1 - over && most[0] <= 0.7 + over);
            assert_true(least[1] >= -0.5 - over && most[1] <= 1.2 + over);
            assert_true(most[0] - least[0] > 0.5 || most[1] - least[1] > 0.5); /* it did move */
            end(&m);
        }
}

/* Spun about one axis alone, each angle stops at its own time and comes back at e times the speed, in every scheme. */
static void universal_angles_return(void **state)
{
    (void)state;
    const double w0 = 2, e = 0.5;
    for (int way = 0; way < N_WAYS; way++)
        for (int other = 0; other < 2; other++) {
            Machine m;
            begin(&m);
            choose(&m, way);
            st_BodyDef body = st_body_def();
            body.mass = 1, body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
            body.spin = other == 1 ? vec3(w0, 0, 0) : vec3(0, 0, w0);
            st_JointDef joint = st_joint_def(ST_JOINT_UNIVERSAL); /* axis z, axis_b x */
            check_ok(st_scene_add_body(m.scene, &body, &joint.b, &m.err), m.err);
            joint.upper = 1, joint.other_upper = 1, joint.restitution = e, m.def.impact = ST_IMPACT_POISSON;
            st_JointId id = add_joint(&m, &joint);
            run(&m, 0.8); /* hits at 0.5 s */
            st_JointReport r = report(&m, id);
            check_close(other == 1 ? r.other : r.coordinate, 1 - e * w0 * 0.3, m.def.h * w0 * (1 + e));
            check_close(other == 1 ? r.other_speed : r.speed, -e * w0, 1e-6);
            check_close(other == 1 ? r.coordinate : r.other, 0, 1e-9);
            end(&m);
        }
}

/* ---- both ends of a cylindrical joint's travel --------------------------------------------------- */

static void cylindrical_joint_has_two_limits(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId body = add_body(&m, 2, 0.1, vec3(0, 0, 0));
    st_JointDef joint = st_joint_def(ST_JOINT_CYLINDRICAL);
    joint.b = body, joint.upper = 1, joint.other_upper = 0.3;
    add_force(&m, body, vec3(0, 0, 4), vec3(0, 0, 0.5));
    st_JointId id = add_joint(&m, &joint);
    run(&m, 3);
    st_JointReport r = report(&m, id);
    check_close(r.coordinate, 1, 1e-9);
    check_close(r.other, 0.3, 1e-9);
    check_close(r.limit, -0.5, 1e-9);
    check_close(r.other_limit, -4, 1e-9);
    end(&m);
}

/* ---- refusals ------------------------------------------------------------------------------------ */

static void bad_limits_are_refused(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId body = add_body(&m, 1, 1, vec3(0, 0, 0));
    const struct {
        st_JointType type;
        double lower, upper, other_lower, other_upper, friction, stiffness;
        const char *part;
    } cases[] = {
        {ST_JOINT_UNIVERSAL, 1, -1, -INFINITY, INFINITY, 0, 0, "lower is 1 and upper -1 (angle)"},
        {ST_JOINT_UNIVERSAL, -1, 1, 2, 1, 0, 0, "other_lower is 2 and other_upper 1 (angle_b)"},
        {ST_JOINT_UNIVERSAL, NAN, INFINITY, -INFINITY, INFINITY, 0, 0, "lower is nan"},
        {ST_JOINT_UNIVERSAL, -INFINITY, INFINITY, 0, NAN, 0, 0, "(angle_b), each must be from"},
        {ST_JOINT_BALL, -INFINITY, 4, -INFINITY, INFINITY, 0, 0, "half angle of 4 rad, must be > 0 and at most pi"},
        {ST_JOINT_BALL, -INFINITY, 0, -INFINITY, INFINITY, 0, 0, "half angle of 0 rad"},
        {ST_JOINT_BALL, -INFINITY, -1, -INFINITY, INFINITY, 0, 0, "half angle of -1 rad"},
        {ST_JOINT_BALL, -INFINITY, NAN, -INFINITY, INFINITY, 0, 0, "lower is -inf and upper nan (swing)"},
        {ST_JOINT_BALL, 0, 1, -INFINITY, INFINITY, 0, 0, "a swing has an upper limit only"},
        {ST_JOINT_BALL, -INFINITY, 1, 1, -1, 0, 0, "other_lower is 1 and other_upper -1 (twist)"},
        {ST_JOINT_BALL, -INFINITY, INFINITY, -INFINITY, INFINITY, 2, 0, "swing has no direction for a friction"},
        {ST_JOINT_BALL, -INFINITY, 1, -INFINITY, INFINITY, 0, 3, "swing has no direction for a spring"},
        {ST_JOINT_REVOLUTE, -INFINITY, INFINITY, -1, 1, 0, 0, "a revolute joint has no other coordinate to limit"},
        {ST_JOINT_FIXED, -INFINITY, INFINITY, -1, 1, 0, 0, "a fixed joint has no angle or displacement for a limit"},
    };
    for (int k = 0; k < (int)(sizeof cases / sizeof cases[0]); k++) {
        st_JointDef def = st_joint_def(cases[k].type);
        def.b = body, def.lower = cases[k].lower, def.upper = cases[k].upper;
        def.other_lower = cases[k].other_lower, def.other_upper = cases[k].other_upper;
        def.friction = cases[k].friction, def.stiffness = cases[k].stiffness;
        refuse(st_scene_add_joint(m.scene, &def, NULL, &m.err), &m.err, cases[k].part);
    }
    st_JointDef def = st_joint_def(ST_JOINT_BALL);
    def.b = body, def.upper = 1, def.axis_b = vec3(NAN, 0, 0);
    refuse(st_scene_add_joint(m.scene, &def, NULL, &m.err), &m.err, "axis_b is (nan, 0, 0)");
    end(&m);
}

/* A limit is reported as a contact of its joint. Its normal is the direction in which it pushes b: back from the
 * limit. */
static void limits_report_their_push(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        Machine m;
        begin(&m);
        m.def.gravity = vec3(side * 9.81, 0, 0);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = add_body(&m, 2, 1, vec3(0, 0, 0)), joint.axis = vec3(1, 0, 0);
        joint.lower = -0.01, joint.upper = 0.01;
        st_JointId id = add_joint(&m, &joint);
        run(&m, 0.3);
        st_ContactReport contact = {0};
        int n = 0;
        for (int c = 0; c < st_system_contact_count(m.system); c++) {
            assert_int_equal(st_system_contact(m.system, c, &contact), ST_OK);
            if (contact.joint.index1 != id.index1 || !(contact.impulse[0] > 0)) continue;
            n++;
            check_close(contact.normal.x, -side, 1e-12);
        }
        assert_int_equal(n, 1);
        check_close(report(&m, id).limit, -side * 2 * 9.81, 1e-5);
        end(&m);
    }
}

/* A state in the middle of a twist of several turns is complete: a copy continues bit for bit. */
static void limits_are_restored(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId rod = add_rod(&m, 0.3, 0, vec3(0, 0, 0));
    st_JointDef joint = ball(rod, 0.3, 0);
    joint.upper = CONE, joint.other_upper = 15;
    st_JointId id = add_joint(&m, &joint);
    add_force(&m, rod, vec3(0, 0, 0), scale(2 * INERTIA, joint.axis_b));
    run(&m, 3.0); /* 9 rad */
    assert_true(report(&m, id).other > 2 * PI);
    size_t size = st_system_save(m.system, NULL, 0);
    void *saved = malloc(size);
    assert_non_null(saved);
    assert_true(st_system_save(m.system, saved, size) == size);
    run(&m, 5.0);
    uint64_t hash = st_system_hash(m.system);
    check_ok(st_system_restore(m.system, saved, size, &m.err), m.err);
    run(&m, 5.0);
    assert_true(st_system_hash(m.system) == hash);
    check_close(report(&m, id).other, 15, 1e-6);
    free(saved);
    end(&m);
}

/* A slider that moves by far more than the margin in a step is stopped at its limit, not beyond it, and is not
 * thrown back: it has no restitution. The same if it is pushed from rest by a force that takes it past the limit
 * within one step. */
static void a_fast_slider_stops_at_its_limit(void **state)
{
    (void)state;
    for (int pushed = 0; pushed < 2; pushed++) {
        Machine m;
        begin(&m);
        m.def.h = 0.01;
        st_BodyDef body = st_body_def();
        st_JointDef rail = st_joint_def(ST_JOINT_PRISMATIC);
        st_ForceDef force = st_force_def();
        body.mass = MASS, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        if (!pushed) body.velocity.x = 50; /* 0.5 m a step, the margin is 0.01 m */
        check_ok(st_scene_add_body(m.scene, &body, &rail.b, &m.err), m.err);
        rail.axis = vec3(1, 0, 0), rail.upper = pushed ? 0.1 : 1.23;
        force.body = rail.b, force.force.x = pushed ? MASS * 2e4 : 0; /* 2 m in the first step */
        check_ok(st_scene_add_force(m.scene, &force, NULL, &m.err), m.err);
        st_JointId id = add_joint(&m, &rail);
        run(&m, 0.2);
        check_close(report(&m, id).coordinate, rail.upper, 1e-9);
        check_close(report(&m, id).speed, 0, 1e-7);
        end(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cone_returns_the_rod),
        cmocka_unit_test(cone_bounces_a_pendulum),
        cmocka_unit_test(rod_runs_round_the_cone),
        cmocka_unit_test(twist_stops),
        cmocka_unit_test(leaning_twist_returns),
        cmocka_unit_test(twist_is_driven),
        cmocka_unit_test(universal_angles_have_stops),
        cmocka_unit_test(universal_angles_return),
        cmocka_unit_test(cylindrical_joint_has_two_limits),
        cmocka_unit_test(bad_limits_are_refused),
        cmocka_unit_test(limits_are_restored),
        cmocka_unit_test(limits_report_their_push),
        cmocka_unit_test(a_fast_slider_stops_at_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
