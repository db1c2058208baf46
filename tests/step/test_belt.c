/* Surfaces that move in themselves, against closed forms. A parcel placed on a belt of speed s is accelerated at mu
 * g until it moves with it, after s/(mu g); the heat is m s^2/2, as much as its gain of energy.
 */
#include "machine.h"

#include <stiction/io.h>

#define G 9.81

static const double mu = 0.4, mass = 2, fast = 0.5;

static st_ShapeId add_belt(Machine *m, st_Vec3 velocity, st_Vec3 spin, st_Quat turned)
{
    st_ShapeDef plane = st_plane_def();
    st_ShapeId id;
    plane.mu = mu, plane.surface_velocity = velocity, plane.surface_spin = spin, plane.pose.q = turned;
    check_ok(st_scene_add_shape(m->scene, ST_GROUND, &plane, &id, &m->err), m->err);
    return id;
}

static st_BodyId add_solid(Machine *m, st_ShapeDef shape, st_Vec3 at, st_Vec3 velocity, uint32_t locks)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.mass = mass, def.pose.p = at, def.velocity = velocity, def.locks = locks;
    shape.mu = mu;
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    check_ok(st_scene_add_shape(m->scene, id, &shape, NULL, &m->err), m->err);
    return id;
}

/* A point that cannot turn. */
static st_BodyId add_parcel(Machine *m, st_Vec3 at, st_Vec3 velocity)
{
    return add_solid(m, st_point_def(), at, velocity, ST_LOCK_ROTATION);
}

static st_Vec3 velocity_of(const Machine *m, st_BodyId id)
{
    st_Vec3 v;
    assert_int_equal(st_system_velocity(m->system, id, &v, NULL), ST_OK);
    return v;
}

static st_Vec3 place_of(const Machine *m, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(m->system, id, &pose), ST_OK);
    return pose.p;
}

static const st_Quat level = {1, 0, 0, 0};
static const st_Vec3 nothing = {0, 0, 0};

/* Under a constant pull every integrator has the exact velocity, and friction ends at once where the belt's is reached:
 * to the solver's tolerance. Heat is force times the way slid: of order one it is wrong by a step's, mu m g s h. Under
 * the law cone the parcel rides at mu h |u_T|, sinks at mu h mu g, and so presses less by so much momentum. */
static void pulled_along(Machine *m, double still)
{
    const double reached = fast / (mu * G), sinks = m->def.law == ST_LAW_CONE ? mu * mu * m->def.h : 0;
    const double jump = m->def.law == ST_LAW_CONE ? mu * mu * fast : 0;
    m->def.gravity = vec3(0, 0, -G);
    m->def.tolerance = 1e-10;
    add_belt(m, vec3(fast, 0, 0), nothing, level);
    st_BodyId id = add_parcel(m, vec3(0, 0, 0), nothing);
    run(m, 0.1);
    check_close(velocity_of(m, id).x, mu * G * (0.1 - sinks), 1e-7);
    run(m, 2 * reached);
    check_close(velocity_of(m, id).x, fast, still);
    check_close(velocity_of(m, id).y, 0, 1e-9);
    check_close(m->info.friction, -0.5 * mass * fast * fast,
                mu * mass * G * fast * m->def.h + 0.5 * mass * jump * jump);
    check_close(m->info.kinetic, 0.5 * mass * fast * fast, mass * fast * still);
    end(m);
}

static void a_parcel_is_pulled_along(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        pulled_along(&m, 1e-7);
    }
}

/* The presets: pyramids have a facet along x; the regularised parcel creeps by nothing, as nothing loads it any
 * more. The trapezoid's form II holds the mean velocity, and its own flips by the remainder of the event, 1e-6 here. */
static void under_every_preset(void **state)
{
    (void)state;
    for (int k = 0; k < st_preset_count(); k++) {
        Machine m;
        begin(&m);
        check_ok(st_preset_apply(&m.def, st_preset_name(k), &m.err), m.err);
        if (m.def.contact == ST_CONTACT_COMPLIANT) { /* its elements must not be rigid: below */
            end(&m);
            continue;
        }
        pulled_along(&m, m.def.form == ST_FORM_II ? 1e-5 : 1e-6);
    }
}

/* Song's patch: a creeping approach; elements stretch by mu N/k and relax, so that the parcel swings about the speed
 * of the belt until damped. */
static void a_compliant_parcel_too(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    check_ok(st_preset_apply(&m.def, "song-2004", &m.err), m.err);
    m.def.gravity = vec3(0, 0, -G);
    add_belt(&m, vec3(0, fast, 0), nothing, level);
    st_ShapeDef skin = st_sphere_def(0.1);
    skin.young = 1e7;
    st_BodyId id = add_solid(&m, skin, vec3(0, 0, 0.1), nothing, ST_LOCK_ROTATION);
    run(&m, 0.1);
    check_close(velocity_of(&m, id).y, mu * G * 0.1, 1e-3); /* the patch stretches first */
    run(&m, 1);
    check_close(velocity_of(&m, id).y, fast, 1e-4);
    end(&m);
}

/* Up a slope of angle a, mu > tan a: pulled at g (mu cos a - sin a), then carried without slipping. */
static void a_slope_carries_up(void **state)
{
    (void)state;
    const double a = 0.3, pull = G * (mu * cos(a) - sin(a)), reached = fast / pull;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        m.def.gravity = vec3(0, 0, -G);
        m.def.tolerance = 1e-10;
        add_belt(&m, vec3(fast, 0, 0), nothing, (st_Quat){cos(a / 2), 0, -sin(a / 2), 0});
        st_BodyId id = add_parcel(&m, nothing, nothing);
        run(&m, 0.2);
        check_close(norm(velocity_of(&m, id)), 0.2 * pull, 1e-6);
        run(&m, reached + 0.5);
        const st_Vec3 v = velocity_of(&m, id), x = place_of(&m, id);
        check_close(v.x, fast * cos(a), 1e-6);
        check_close(v.z, fast * sin(a), 1e-6);
        /* half of the way until then, and all of it since; of order one h fast/2 apart */
        check_close(x.x / cos(a), 0.5 * fast * reached + 0.5 * fast, m.def.h * fast);
        end(&m);
    }
}

/* A solid ball is pulled until it rolls on the belt: I w = m R v, v + R w = s, so that v = s (2/5)/(7/5). */
static void a_ball_rolls(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        m.def.gravity = vec3(0, 0, -G);
        m.def.tolerance = 1e-10;
        add_belt(&m, vec3(0, fast, 0), nothing, level);
        st_BodyId id = add_solid(&m, st_sphere_def(0.1), vec3(0, 0, 0.1), nothing, 0);
        run(&m, 0.3);
        check_close(velocity_of(&m, id).y, 2 * fast / 7, 1e-6);
        check_close(velocity_of(&m, id).x, 0, 1e-6);
        end(&m);
    }
}

/* A body with a belt as its sole drives on a fixed floor, in the opposite direction; the shape is rotated in the
 * body. */
static void a_track_drives(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    choose(&m, 1);
    m.def.gravity = vec3(0, 0, -G);
    add_belt(&m, nothing, nothing, level);
    st_ShapeDef sole = st_box_def(0.2, 0.2, 0.05);
    sole.pose.q = (st_Quat){sqrt(0.5), 0, 0, sqrt(0.5)}; /* its y is the body's -x */
    sole.surface_velocity = vec3(0, fast, 0);
    st_BodyId id = add_solid(&m, sole, vec3(0, 0, 0.05), nothing, 0);
    run(&m, 0.1);
    check_close(velocity_of(&m, id).x, mu * G * 0.1, 1e-6);
    run(&m, 0.4);
    check_close(velocity_of(&m, id).x, fast, 1e-6);
    check_close(velocity_of(&m, id).y, 0, 1e-6);
    end(&m);
}

/* On a turntable, w^2 r < mu g: a parcel that goes with it stays at its radius. A scheme of order one goes along the
 * tangent and so outwards by (w h)^2/2 of r a step; those of order two by O(h^2).                 */
static void a_turntable_takes_round(void **state)
{
    (void)state;
    const double w = 2, r = 0.5, until = 1;
    const st_Integrator both[] = {ST_INTEGRATOR_IMPLICIT, ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (int k = 0; k < 3; k++) {
        Machine m;
        begin(&m);
        m.def.integrator = both[k], m.def.drift = ST_DRIFT_GAP, m.def.events = ST_EVENTS_OFF;
        m.def.gravity = vec3(0, 0, -G);
        m.def.tolerance = 1e-10, m.def.law = ST_LAW_COULOMB;
        add_belt(&m, nothing, vec3(0, 0, w), level);
        st_BodyId id = add_parcel(&m, vec3(r, 0, 0), vec3(0, w * r, 0));
        run(&m, until);
        const double allowed = k == 0 ? r * w * w * m.def.h * until : 20 * r * w * w * m.def.h * m.def.h;
        check_close(place_of(&m, id).x, r * cos(w * until), allowed);
        check_close(place_of(&m, id).y, r * sin(w * until), allowed);
        end(&m);
    }
}

/* Spinning friction brings a ball on the table's axis to the table's own rate, at mu_s m g/I. */
static void what_spins_goes_with_the_table(void **state)
{
    (void)state;
    const double w = 2, spinning = 0.002, inertia = 0.4 * mass * 0.01, rate = spinning * mass * G / inertia;
    Machine m;
    begin(&m);
    choose(&m, 1);
    m.def.gravity = vec3(0, 0, -G), m.def.law = ST_LAW_COULOMB;
    add_belt(&m, nothing, vec3(0, 0, w), level);
    st_ShapeDef skin = st_sphere_def(0.1);
    skin.spinning = spinning;
    st_BodyId id = add_solid(&m, skin, vec3(0, 0, 0.1), nothing, 0);
    st_Vec3 spin;
    run(&m, 0.1);
    assert_int_equal(st_system_velocity(m.system, id, NULL, &spin), ST_OK);
    check_close(spin.z, 0.1 * rate, 1e-6);
    run(&m, 2 * w / rate);
    assert_int_equal(st_system_velocity(m.system, id, NULL, &spin), ST_OK);
    check_close(spin.z, w, 1e-6);
    end(&m);
}

/* Dropped on a belt, with rebound: the impact's friction takes it along by mu (1 + e) times the speed of its fall; by
 * Poisson's law as Potra et al. have it, whose restitution is a push along the normal alone, by mu times it. That is no
 * gain of the impact law, but the belt's.                                                          */
static void an_impact_is_taken_along(void **state)
{
    (void)state;
    const double down = 0.2, e = 0.5;
    for (int law = ST_IMPACT_POISSON; law <= ST_IMPACT_NEWTON; law++) {
        Machine m;
        begin(&m);
        m.def.integrator = ST_INTEGRATOR_SDIRK2, m.def.events = ST_EVENTS_COLLISIONS, m.def.drift = ST_DRIFT_GAP;
        m.def.impact = (st_Impact)law;
        m.def.restitution_speed = 1e-3;
        add_belt(&m, vec3(2, 0, 0), nothing, level);
        st_ShapeDef point = st_point_def();
        point.restitution = e;
        st_BodyId id = add_solid(&m, point, vec3(0, 0, 0.01), vec3(0, 0, -down), ST_LOCK_ROTATION);
        double gain = 0;
        start(&m);
        for (int k = 0; k < 100; k++) {
            m.info = st_step_info();
            check_ok(st_system_step(m.system, m.def.h, &m.info, &m.err), m.err);
            gain += m.info.impact_gain;
        }
        check_close(velocity_of(&m, id).z, e * down, 1e-9);
        check_close(velocity_of(&m, id).x, mu * (law == ST_IMPACT_NEWTON ? 1 + e : 1) * down, 1e-9);
        check_close(gain, 0, 1e-12);
        end(&m);
    }
}

/* ---- sleep --------------------------------------------------------------------------------------- */

/* A belt slower than sleep_speed still carries; a parcel held by a stop is rubbed forever; only bodies beside the
 * belts sleep. */
static void nobody_sleeps_on_a_belt(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    choose(&m, 1);
    m.def.gravity = vec3(0, 0, -G);
    m.def.sleep = true;
    const double slow = 0.1 * m.def.sleep_speed;
    st_ShapeDef box = st_box_def(1, 1, 0.1);
    box.mu = mu, box.pose.p = vec3(0, 0, -0.1), box.surface_velocity = vec3(slow, 0, 0);
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &box, NULL, &m.err), m.err);
    box.pose.p.y = 3, box.surface_velocity = vec3(fast, 0, 0);
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &box, NULL, &m.err), m.err);
    box.pose.p.y = 6, box.surface_velocity = nothing;
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &box, NULL, &m.err), m.err);
    st_ShapeDef stop = st_box_def(0.1, 1, 1);
    stop.pose.p = vec3(0.2, 3, 0), stop.mu = 0;
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &stop, NULL, &m.err), m.err);
    const st_ShapeDef parcel = st_box_def(0.1, 0.1, 0.1);
    const st_BodyId carried = add_solid(&m, parcel, vec3(0, 0, 0.1), nothing, 0);
    const st_BodyId held = add_solid(&m, parcel, vec3(0, 3, 0.1), nothing, 0);
    const st_BodyId left = add_solid(&m, parcel, vec3(0, 6, 0.1), nothing, 0);
    const double until = 3 * m.def.sleep_time;
    run(&m, until);
    const double heat = m.info.friction;
    assert_true(st_system_asleep(m.system, left));
    assert_false(st_system_asleep(m.system, carried));
    assert_false(st_system_asleep(m.system, held));
    check_close(place_of(&m, carried).x, slow * until, 1e-3 * slow * until);
    check_close(place_of(&m, held).x, 0, 1e-6);
    run(&m, until + 0.1);
    check_close((m.info.friction - heat) / 0.1, -mu * mass * G * fast, 1e-4); /* the belt's power */
    end(&m);
}

/* ---- many ---------------------------------------------------------------------------------------- */

/* Lazy rows, lanes and threads: 400 parcels that each behave like one, and a layer of balls among them. */
enum { N_MANY = 400 };

static void many_at_once(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int threads = 1; threads <= 2; threads++) {
        Machine m;
        begin(&m);
        check_ok(st_preset_apply(&m.def, "default", &m.err), m.err);
        m.def.gravity = vec3(0, 0, -G), m.def.threads = threads, m.def.tolerance = 1e-9;
        m.def.h = 5e-3;
        add_belt(&m, vec3(fast, 0, 0), nothing, level);
        st_BodyId box[N_MANY], ball[N_MANY];
        for (int k = 0; k < N_MANY; k++) {
            const int row = k / 20;
            const double x = k % 20, y = row;
            box[k] = add_solid(&m, st_box_def(0.1, 0.1, 0.1), vec3(x, y, 0.1), nothing, 0);
            ball[k] = add_solid(&m, st_sphere_def(0.1), vec3(x + 0.5, y, 0.1), nothing, 0);
        }
        run(&m, 0.05);
        for (int k = 0; k < N_MANY; k++)
            check_close(velocity_of(&m, box[k]).x, 0.05 * mu * G, 1e-6);
        run(&m, 0.2);
        for (int k = 0; k < N_MANY; k++) {
            check_close(velocity_of(&m, box[k]).x, fast, 1e-6);
            check_close(velocity_of(&m, ball[k]).x, 2 * fast / 7, 1e-6);
        }
        check_close(m.info.friction / N_MANY, -0.5 * mass * fast * fast * (1 + 2.0 / 7), 0.05);
        hash[threads - 1] = st_system_hash(m.system);
        end(&m);
    }
    assert_true(hash[0] == hash[1]);
}

/* ---- a model of the user's ----------------------------------------------------------------------- */

static st_Status unit_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    M[0] = M[3] = 1, M[1] = M[2] = 0;
    return ST_OK;
}

static st_Status weight(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v, (void)err;
    k[0] = 0, k[1] = -G;
    return ST_OK;
}

static st_Status on_a_belt(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    static const int both[] = {0, 1};
    static const double gradient[] = {0, 1, 1, 0};
    (void)t, (void)margin;
    const st_ContactRow row = {.id = 1,
                               .gap = q[1],
                               .mu = mu,
                               .dim = 2,
                               .count = 2,
                               .index = both,
                               .gradient = gradient,
                               .slide = {*(double *)ctx, 0}};
    return st_push_contact(sink, &row, err);
}

static void a_model_has_belts(void **state)
{
    (void)state;
    st_Model model = st_model_def();
    st_System *system = NULL;
    st_Error err = {0};
    st_SystemDef def = st_system_def();
    double slide = -fast, q[2] = {0, 0}, v[2] = {0, 0}; /* of b, the mass, against a, the belt */
    model.n_q = model.n_v = 2, model.ctx = &slide;
    model.mass = unit_mass, model.force = weight, model.contacts = on_a_belt;
    check_ok(st_system_create_model(&model, q, v, &def, &system, &err), err);
    for (int k = 0; k < 200; k++) {
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
        st_system_state(system, q, v);
        if (k == 99) check_close(v[0], mu * G * 0.1, 1e-7);
    }
    check_close(v[0], fast, 1e-7);
    slide = NAN;
    assert_int_equal(st_system_step(system, 1e-3, NULL, &err), ST_ERR_NUMERIC);
    assert_non_null(strstr(err.message, "slides at (nan, 0)"));
    st_system_destroy(system);
}

/* ---- reading back and refusals ---------------------------------------------------------------------- */

static void read_back_and_refused(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_ShapeDef back, plane = st_plane_def();
    st_ShapeId belt = add_belt(&m, vec3(1, 2, 3), vec3(4, 5, 6), level), still = add_belt(&m, nothing, nothing, level);
    check_ok(st_scene_shape(m.scene, belt, &back, NULL), m.err);
    check_close(back.surface_velocity.z, 3, 0);
    check_close(back.surface_spin.z, 6, 0);
    check_ok(st_scene_shape(m.scene, still, &back, NULL), m.err);
    check_close(back.surface_velocity.z, 0, 0); /* another kind of shape */
    plane.surface_velocity.y = NAN;
    refuse(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), &m.err, "surface_velocity");
    plane.surface_velocity.y = 0, plane.surface_spin.x = INFINITY;
    refuse(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), &m.err, "surface_angular_velocity");
    end(&m);
}

/* Contact reports have the velocity relative to the belt; the work of the belt is force times its velocity. */
static void reports_are_relative(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    choose(&m, 1);
    m.def.gravity = vec3(0, 0, -G);
    add_belt(&m, vec3(fast, 0, 0), nothing, level);
    add_parcel(&m, nothing, nothing);
    run(&m, 0.05);
    st_ContactReport contact;
    assert_int_equal(st_system_contact_count(m.system), 1);
    assert_int_equal(st_system_contact(m.system, 0, &contact), ST_OK);
    check_close(hypot(contact.velocity[1], contact.velocity[2]), fast - 0.05 * mu * G, 1e-7);
    check_close(contact.force.x, mu * mass * G, 1e-6);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parcel_is_pulled_along),
        cmocka_unit_test(under_every_preset),
        cmocka_unit_test(a_compliant_parcel_too),
        cmocka_unit_test(a_slope_carries_up),
        cmocka_unit_test(a_ball_rolls),
        cmocka_unit_test(a_track_drives),
        cmocka_unit_test(a_turntable_takes_round),
        cmocka_unit_test(what_spins_goes_with_the_table),
        cmocka_unit_test(an_impact_is_taken_along),
        cmocka_unit_test(nobody_sleeps_on_a_belt),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(a_model_has_belts),
        cmocka_unit_test(read_back_and_refused),
        cmocka_unit_test(reports_are_relative),
    };
    return cmocka_run_group_tests_name("belts", tests, NULL, NULL);
}
