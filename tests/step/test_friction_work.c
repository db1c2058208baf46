/* The work of friction in st_StepInfo.friction: force times displacement, of contacts and of joints, without the
 * work of drives. */
#include "machine.h"
#include "step/scene_run.h"

static void add_floor(Machine *m, double mu)
{
    st_ShapeDef plane = st_plane_def();
    plane.mu = mu;
    check_ok(st_scene_add_shape(m->scene, ST_GROUND, &plane, NULL, &m->err), m->err);
}

/* A point mass that does not turn. */
static st_BodyId add_point(Machine *m, double mass, st_Vec3 at, st_Vec3 velocity, double mu)
{
    st_BodyDef def = st_body_def();
    st_ShapeDef point = st_point_def();
    st_BodyId id;
    def.mass = mass, def.pose.p = at, def.velocity = velocity, def.locks = ST_LOCK_ROTATION;
    point.mu = mu;
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    check_ok(st_scene_add_shape(m->scene, id, &point, NULL, &m->err), m->err);
    return id;
}

static double x_of(const Machine *m, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(m->system, id, &pose), ST_OK);
    return pose.p.x;
}

/* mu m g over the way it slid, whatever that is: Euler's step moves by h times the velocity that the work is done at,
 * so that the two agree but for the gap below which the floor does not push (1e-9).                   */
static void sliding_takes_force_times_way(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -9.81);
    add_floor(&m, 0.3);
    st_BodyId id = add_point(&m, 2, vec3(0, 0, 0), vec3(1, 0, 0), 0.3);
    run(&m, 0.2);
    assert_true(x_of(&m, id) > 0.1);
    check_close(m.info.friction, -0.3 * 2 * 9.81 * x_of(&m, id), 1e-9);
    end(&m);
}

/* Sliding along an axis and pushed on by a position motor at its limit: of the two bounded rows friction alone counts.
 * The force is constant, so that its work is force times way whatever the integrator, to the solver's tolerance.  */
static void a_joint_loses_its_friction(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyDef body = st_body_def();
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        st_BodyId id;
        body.mass = 2, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}, body.velocity = vec3(1, 0, 0);
        check_ok(st_scene_add_body(m.scene, &body, &id, &m.err), m.err);
        joint.b = id, joint.axis = vec3(1, 0, 0), joint.friction = 3;
        joint.motor = (st_MotorDef){.type = ST_MOTOR_POSITION, .target = 0.5, .stiffness = 8, .max_force = 1};
        add_joint(&m, &joint);
        run(&m, 0.2);
        assert_true(x_of(&m, id) > 0.1);
        check_close(m.info.friction, -3 * x_of(&m, id), 1e-8);
        end(&m);
    }
}

/* An oblique impact: r_n = m v_n, r_t = mu r_n at most, and its work is the loss of sliding energy. Without gravity
 * there are no forces before and after. */
static void an_impact_takes_the_energy_of_sliding(void **state)
{
    (void)state;
    const double mu = 0.3, fast = 2, down = 1, after = fast - mu * down, m_body = 2;
    Machine m;
    begin(&m);
    add_floor(&m, mu);
    st_BodyId id = add_point(&m, m_body, vec3(0, 0, 0.01), vec3(fast, 0, -down), mu);
    st_Vec3 v;
    run(&m, 0.05);
    assert_int_equal(st_system_velocity(m.system, id, &v, NULL), ST_OK);
    check_close(v.x, after, 1e-9);
    check_close(m.info.friction, 0.5 * m_body * (after * after - fast * fast), 1e-9);
    end(&m);
}

/* A located collision ends its step early, and friction has worked as far as that. Euler's step moves by h v+. */
static void a_collision_ends_the_work(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.events = ST_EVENTS_COLLISIONS, m.def.drift = ST_DRIFT_VELOCITY;
    m.def.gravity = vec3(0, 0, -9.81);
    m.def.h = 0.02;
    add_floor(&m, 0.3);
    st_ShapeDef wall = st_plane_def();
    wall.pose.p = vec3(0.1, 0, 0), wall.pose.q = st_quat_from_z((st_Vec3){-1, 0, 0}), wall.mu = 0;
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &wall, NULL, &m.err), m.err);
    st_BodyId id = add_point(&m, 2, vec3(0, 0, 0), vec3(1, 0, 0), 0.3);
    run(&m, 0.3);
    check_close(x_of(&m, id), 0.1, 1e-9); /* it rests at the wall */
    check_close(m.info.friction, -0.3 * 2 * 9.81 * 0.1, 1e-8);
    end(&m);
}

/* A block that slides under a slanted pull, and a rod that swings on a hinge with friction: energy at the end is energy
 * at the start and the work of friction, to the accuracy of the integrator, which is of order two.          */
static double lost_energy(st_Integrator integrator, double h, bool swinging)
{
    Machine m;
    begin(&m);
    m.def.integrator = integrator;
    m.def.drift = ST_DRIFT_GAP;
    m.def.h = h;
    m.def.gravity = swinging ? vec3(0, 0, -9.81) : vec3(3, 0, -9.81);
    if (swinging) {
        st_BodyDef body = st_body_def();
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        body.mass = 2, body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}}, body.pose.p = vec3(1, 0, 0);
        check_ok(st_scene_add_body(m.scene, &body, &joint.b, &m.err), m.err);
        joint.axis = vec3(0, 1, 0), joint.friction = 3;
        add_joint(&m, &joint);
    } else {
        add_floor(&m, 0.5);
        add_point(&m, 2, vec3(0, 0, 0), vec3(2, 0.5, 0), 0.5);
    }
    run(&m, h);
    const double start = m.info.kinetic + m.info.potential - m.info.friction;
    run(&m, 0.512);
    const double left = m.info.kinetic + m.info.potential - m.info.friction - start;
    assert_true(m.info.friction < -0.5);
    end(&m);
    return fabs(left);
}

static void the_balance_closes(void **state)
{
    (void)state;
    static const st_Integrator integrators[] = {ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (int k = 0; k < 4; k++) {
        const double coarse = lost_energy(integrators[k % 2], 8e-3, k / 2),
                     fine = lost_energy(integrators[k % 2], 2e-3, k / 2);
        assert_true(coarse < 1e-7 ||
                    coarse > 12 * fine); /* 16 of order two, 4 of order one; or the solver's tolerance */
    }
}

/* A rod lands on one end, tilted and sliding: where its slip turns round within the impact, one impulse times the mean
 * velocity was positive. Friction never gives energy, under any law of impact. */
static void friction_takes_in_impacts(void **state)
{
    (void)state;
    static const char *const presets[] = {"accurate", "potra-2006", "anitescu-potra-2002", "default"};
    for (int k = 0; k < 4 * 5 * 6; k++) {
        const double tilt = 0.3 + 0.2 * (k / 4 % 5), slide = 0.6 * (k / 20 - 2.5);
        Run run;
        char text[900];
        snprintf(
            text, sizeof text,
            "{\"simulation\": {\"preset\": \"%s\", \"h\": 1e-3, \"end\": 0.02}, \"ground\": [{\"type\": \"plane\", "
            "\"friction\": 0.3}], \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": [0.001, 0.02, 0.02], "
            "\"position\": [0, 0, %.17g], \"orientation\": {\"axis\": [0, 1, 0], \"angle\": %.17g}, \"velocity\": "
            "[%.17g, 0, -2], \"shapes\": [{\"type\": \"capsule\", \"radius\": 0.01, \"length\": 0.5, "
            "\"orientation\": {\"axis\": [0, 1, 0], \"angle\": 1.5707963267948966}, \"friction\": 0.3}]}]}",
            presets[k % 4], 0.25 * sin(tilt) + 0.015, tilt, slide);
        run_parse(&run, text);
        double before = 0, taken = 0;
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.friction - before, 1e-12);
            before = run.info.friction;
            taken = run.info.impacts;
        }
        check_below(taken, -0.01); /* it landed */
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_takes_force_times_way),
        cmocka_unit_test(a_joint_loses_its_friction),
        cmocka_unit_test(an_impact_takes_the_energy_of_sliding),
        cmocka_unit_test(a_collision_ends_the_work),
        cmocka_unit_test(the_balance_closes),
        cmocka_unit_test(friction_takes_in_impacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
