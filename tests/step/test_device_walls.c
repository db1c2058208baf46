/* Walls that move, on flat arrays (setting `device`): belts, and bodies that a motor takes along, against hand
 * calculations, the ordinary step, the balance of momentum and energy, and the bits of other thread counts and ranks.
 */
#include "device_world.h"
#include "thread_ranks.h"

#include <string.h>

static void begin_exact(World *w)
{
    begin(w);
    w->def.tolerance = 1e-8;
    w->def.max_iterations = 2000;
}

static st_BodyId add(World *w, st_ShapeDef shape, st_Vec3 p, double mass)
{
    return add_body(w, shape, p, (st_Vec3){0, 0, 0}, mass);
}

/* A joint to the ground that a motor holds. */
static st_JointId drive(World *w, st_JointType type, st_BodyId body, st_Vec3 point, st_Vec3 axis, st_MotorDef motor,
                        bool ground_last)
{
    st_JointDef joint = st_joint_def(type);
    st_JointId id;
    joint.a = ground_last ? body : ST_GROUND;
    joint.b = ground_last ? ST_GROUND : body;
    joint.point = point;
    joint.axis = axis;
    joint.motor = motor;
    check_ok(st_scene_add_joint(w->scene, &joint, &id, &w->err), w->err);
    return id;
}

static st_MotorDef speed_motor(double target)
{
    st_MotorDef motor = st_joint_def(ST_JOINT_REVOLUTE).motor;
    motor.type = ST_MOTOR_SPEED;
    motor.target = target;
    return motor;
}

/* ---- belts -------------------------------------------------------------------------------------- */

/* A belt of speed s takes a box along at s; a ball on it ends rolling, with its centre at 2/7 s. The belt gives the
 * work mu m g s t while the box slides for t = s/(mu g), of which friction takes one half. */
static void a_belt_carries(void **state)
{
    (void)state;
    World w;
    const double s = 1.4, mu = 0.5, m = 2;
    begin_exact(&w);
    st_ShapeDef belt = st_box_def(20, 5, 0.5), box = st_box_def(0.1, 0.1, 0.1), ball = st_sphere_def(0.1);
    belt.pose.p.z = -0.5;
    belt.surface_velocity.x = s;
    belt.mu = box.mu = ball.mu = mu;
    check_ok(st_scene_add_shape(w.scene, ST_GROUND, &belt, NULL, &w.err), w.err);
    const st_BodyId parcel = add(&w, box, (st_Vec3){0, 0, 0.1}, m);
    start(&w);
    steps(&w, 240);
    check_close(velocity_of(&w, parcel, NULL).x, s, 1e-9);
    check_close(velocity_of(&w, parcel, NULL).y, 0, 1e-9);
    check_close(w.info.friction, -0.5 * m * s * s, 0.02 * m * s * s); /* order one in h */
    check_close(w.info.work, m * s * s, 0.02 * m * s * s);
    st_ContactReport contact;
    assert_true(st_system_contact_count(w.system) > 0);
    assert_int_equal(st_system_contact(w.system, 0, &contact), ST_OK);
    check_close(contact.velocity[1], 0, 1e-9); /* against the belt, not against its shape */
    check_close(contact.velocity[2], 0, 1e-9);
    end(&w);

    begin_exact(&w);
    check_ok(st_scene_add_shape(w.scene, ST_GROUND, &belt, NULL, &w.err), w.err);
    const st_BodyId rolls = add(&w, ball, (st_Vec3){0, 0, 0.1}, m);
    start(&w);
    steps(&w, 480);
    check_close(velocity_of(&w, rolls, NULL).x, 2 * s / 7, 2e-3);
    end(&w);
}

/* On a turntable (a plane with a rotating surface) a box held by friction turns with it: w^2 r < mu g. */
static void a_turntable_turns(void **state)
{
    (void)state;
    World w;
    begin_exact(&w);
    st_ShapeDef table = st_plane_def(), box = st_box_def(0.02, 0.02, 0.02);
    table.surface_spin.z = 2;
    table.mu = box.mu = 0.8;
    check_ok(st_scene_add_shape(w.scene, ST_GROUND, &table, NULL, &w.err), w.err);
    const st_BodyId id = add(&w, box, (st_Vec3){0.5, 0, 0.02}, 1);
    start(&w);
    steps(&w, 120);
    const st_Vec3 x = place_of(&w, id), v = velocity_of(&w, id, NULL);
    check_close(v.x, -2 * x.y, 0.02); /* moves with the surface below it, to order h */
    check_close(v.y, 2 * x.x, 0.02);
    end(&w);
}

/* ---- driven bodies ------------------------------------------------------------------------------ */

/* A tray on a prismatic joint that shakes by A cos(w t) carries a ball: the contact force is m (g + a), the force of
 * the motor (M + m)(g + a), with a the second difference of the motion. The ball stays on it. With the ground as either
 * body of the joint. */
static void a_tray_shakes(void **state)
{
    (void)state;
    const double A = 0.02, omega = 12, M = 3, m = 0.5;
    for (int last = 0; last < 2; last++) {
        World w;
        begin_exact(&w);
        st_MotorDef motor = speed_motor(last == 1 ? -A : A);
        motor.type = ST_MOTOR_MOTION;
        motor.offset = last == 1 ? A : -A;
        motor.profile = (st_Profile){.type = ST_PROFILE_HARMONIC, .frequency = omega};
        st_ShapeDef box = st_box_def(0.5, 0.5, 0.05), ball = st_sphere_def(0.1);
        const st_BodyId tray = add(&w, box, (st_Vec3){0, 0, 1}, M), id = add(&w, ball, (st_Vec3){0.1, 0.2, 1.15}, m);
        const st_JointId joint =
            drive(&w, ST_JOINT_PRISMATIC, tray, (st_Vec3){0, 0, 1}, (st_Vec3){0, 0, 1}, motor, last == 1);
        start(&w);
        double before[2] = {0, 0};
        int checked = 0;
        for (int k = 0; k < 240; k++) {
            steps(&w, 1);
            const double t = st_system_time(w.system), z = place_of(&w, tray).z, h = w.def.h;
            check_close(z, 1 - A + A * cos(omega * t), 1e-12);
            check_close(place_of(&w, tray).x, 0, 1e-14);
            const double a = (z - 2 * before[0] + before[1]) / (h * h);
            before[1] = before[0], before[0] = z;
            st_JointReport report;
            st_BodyLoad load[2];
            assert_int_equal(st_system_joint(w.system, joint, ST_FRAME_WORLD, &report), ST_OK);
            check_close(report.error, 0, 1e-12);
            check_close(report.coordinate, (last == 1 ? -1 : 1) * (z - 1), 1e-12);
            if (k < 60 || report.struck) continue;
            checked++;
            const double force = (M + m) * (9.81 + a);
            check_close((last == 1 ? -1 : 1) * report.force.z, force, 1e-6 * force);
            check_close(report.motor, (last == 1 ? -1 : 1) * force, 1e-6 * force);
            check_ok(st_system_loads(w.system, load, 2, &w.err), w.err);
            check_close(load[0].force[ST_LOAD_JOINT].z, force, 1e-6 * force);
            check_close(load[1].force[ST_LOAD_CONTACT].z, m * (9.81 + a), 1e-6 * force);
        }
        assert_true(checked > 100);
        check_close(place_of(&w, id).z - place_of(&w, tray).z, 0.15, 2e-4);
        end(&w);
    }
}

/* A body whose centre is beside the axis stays on its circle, and whole turns are counted, more than half a turn per
 * step too. With the ground as either body. */
static void a_crank_turns(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        World w;
        begin_exact(&w);
        const double speed = k < 2 ? 5 : 1000;
        const st_BodyId id = add(&w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){0.3, 0, 0}, 1);
        const st_JointId joint =
            drive(&w, ST_JOINT_REVOLUTE, id, (st_Vec3){0, 0, 0}, (st_Vec3){0, 1, 0}, speed_motor(speed), k % 2 == 1);
        start(&w);
        steps(&w, 480);
        const double angle = (k % 2 == 1 ? -1 : 1) * speed * st_system_time(w.system);
        st_JointReport report;
        assert_int_equal(st_system_joint(w.system, joint, ST_FRAME_WORLD, &report), ST_OK);
        check_close(report.coordinate, speed * st_system_time(w.system), 1e-8);
        check_close(place_of(&w, id).x, 0.3 * cos(angle), 1e-9);
        check_close(place_of(&w, id).z, -0.3 * sin(angle), 1e-9);
        check_close(report.error, 0, 1e-10);
        end(&w);
    }
}

/* Grains in a box that turns about a level axis: a mixer, with a mesh and a ball among its walls. */
static st_JointId mixer(World *w, double rolling, bool boxes)
{
    begin(w);
    w->def.tolerance = 1e-5;
    st_BodyDef body = st_body_def();
    st_BodyId id;
    body.mass = 4;
    body.inertia = (st_Mat3){{0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3}};
    check_ok(st_scene_add_body(w->scene, &body, &id, &w->err), w->err);
    for (int k = 0; k < 5; k++) {
        st_ShapeDef wall = k < 2 ? st_box_def(0.05, 0.5, 0.5) : k < 4 ? st_box_def(0.5, 0.5, 0.05) : st_sphere_def(0.1);
        if (k < 2) wall.pose.p.x = k == 0 ? -0.45 : 0.45;
        if (k >= 2 && k < 4) wall.pose.p.z = k == 2 ? -0.45 : 0.45;
        if (k == 4) wall.pose.p.x = 0.2; /* a knob inside */
        wall.mu = 0.6, wall.density = 0, wall.rolling = rolling;
        check_ok(st_scene_add_shape(w->scene, id, &wall, NULL, &w->err), w->err);
    }
    const st_Vec3 corner[4] = {{-0.5, -0.4, -0.5}, {0.5, -0.4, -0.5}, {0.5, -0.4, 0.5}, {-0.5, -0.4, 0.5}};
    const int triangles[6] = {0, 2, 1, 0, 3, 2};
    st_ShapeDef lid = st_mesh_def(corner, 4, triangles, 2);
    lid.mu = 0.1, lid.density = 0;
    check_ok(st_scene_add_shape(w->scene, id, &lid, NULL, &w->err), w->err);
    lid.pose.p.y = 0.8; /* the other end */
    check_ok(st_scene_add_shape(w->scene, id, &lid, NULL, &w->err), w->err);
    for (int i = 0; i < 60; i++) {
        const int x = i % 4, y = i / 4 % 5, z = i / 20;
        st_ShapeDef grain = boxes && i % 2 == 0 ? st_box_def(0.05, 0.04, 0.06) : st_sphere_def(0.05);
        grain.mu = 0.5, grain.rolling = rolling;
        add(w, grain, (st_Vec3){-0.3 + 0.13 * x, -0.3 + 0.14 * y, -0.3 + 0.13 * z}, 0.8);
    }
    return drive(w, ST_JOINT_REVOLUTE, id, (st_Vec3){0, 0, 0}, (st_Vec3){0, 1, 0}, speed_motor(3), false);
}

/* No grain leaves it; in every step the loads on each body add up to the change of its momentum; the work of the
 * motor and of gravity is the energy that friction and impacts take. */
static void a_mixer_balances(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        World w;
        const st_JointId joint = mixer(&w, kind == 0 ? 0.002 : 0, kind == 1);
        start(&w);
        double before[6 * 61], q[7 * 61 + 1], after[6 * 61], motor = 0, worst = 0;
        st_BodyLoad load[61];
        for (int k = 0; k < 240; k++) {
            st_system_state(w.system, q, before);
            steps(&w, 1);
            st_system_state(w.system, q, after);
            if (k % 16 != 0) continue;
            check_ok(st_system_loads(w.system, load, 61, &w.err), w.err);
            for (int b = 0; b < 61; b++) {
                const double mass = b == 0 ? 4 : 0.8;
                st_Vec3 sum = load[b].impulse;
                for (int l = 0; l < ST_N_LOADS; l++) {
                    sum.x += w.def.h * load[b].force[l].x;
                    sum.z += w.def.h * load[b].force[l].z;
                }
                worst = fmax(worst, fabs(sum.x - mass * (after[6 * b] - before[6 * b])));
                worst = fmax(worst, fabs(sum.z - mass * (after[6 * b + 2] - before[6 * b + 2])));
            }
            st_JointReport report;
            assert_int_equal(st_system_joint(w.system, joint, ST_FRAME_WORLD, &report), ST_OK);
            motor += report.angular_impulse.y * 3;
        }
        check_below(worst, 1e-11); /* [N s]: rounding of some hundred sweeps that add to velocities of 1 m/s */
        for (int b = 2; b <= 61; b++) {
            const st_Vec3 x = place_of(&w, (st_BodyId){b});
            assert_true(fabs(x.y) < 0.41 && hypot(x.x, x.z) < 0.6);
        }
        assert_true(motor > 0); /* it lifts */
        assert_true(w.info.work > 0 && w.info.friction < 0);
        assert_true(w.info.unexplained < 0); /* impacts take; nothing is gained */
        end(&w);
    }
}

/* ... and the work that the run reports is the motor's, step by step. */
static void work_is_that_of_the_motor(void **state)
{
    (void)state;
    World w;
    const st_JointId joint = mixer(&w, 0.002, false);
    start(&w);
    steps(&w, 1); /* the jump to its speed */
    double work = w.info.work, sum = 0;
    for (int k = 0; k < 120; k++) {
        steps(&w, 1);
        st_JointReport report;
        assert_int_equal(st_system_joint(w.system, joint, ST_FRAME_WORLD, &report), ST_OK);
        sum += 3 * report.angular_impulse.y;
    }
    check_close(w.info.work - work, sum, 0.02 * fabs(sum)); /* levers turn within a step: order h */
    end(&w);
}

static void same_bits(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int kind = 0; kind < 2; kind++) {
        for (int k = 0; k < 3; k++) {
            World w;
            mixer(&w, kind == 0 ? 0.002 : 0, kind == 1);
            w.def.tolerance =
                st_system_def().tolerance; /* sums of ranks may tip the end of long solves: docs/scaling.md */
            w.def.threads = k == 1 ? 3 : 1;
            Table table;
            Seat seat[MOST_THREAD_RANKS];
            if (k == 2) sit_down(&table, seat, 3, NULL), w.def.ranks = &seat[0].ranks;
            start(&w);
            steps(&w, 30);
            if (k != 2) { /* a restored state continues to the bit */
                const size_t size = st_system_save(w.system, NULL, 0);
                char *bytes = malloc(size);
                assert_non_null(bytes);
                assert_true(st_system_save(w.system, bytes, size) == size);
                steps(&w, 5);
                check_ok(st_system_restore(w.system, bytes, size, &w.err), w.err);
                free(bytes);
            }
            steps(&w, 20);
            hash[k] = st_system_hash(w.system);
            end(&w);
            if (k == 2) stand_up(&table, seat);
        }
        assert_true(hash[0] == hash[1]);
        assert_true(hash[0] == hash[2]);
    }
}

/* The ordinary step goes the same way on a problem with one solution: a ball that a paddle hits. */
static void agrees_with_the_ordinary_step(void **state)
{
    (void)state;
    st_Vec3 x[2];
    for (int k = 0; k < 2; k++) {
        World w;
        begin_exact(&w);
        st_ShapeDef floor = st_plane_def(), blade = st_box_def(0.5, 0.05, 0.2), ball = st_sphere_def(0.1);
        floor.mu = blade.mu = ball.mu = 0.4;
        check_ok(st_scene_add_shape(w.scene, ST_GROUND, &floor, NULL, &w.err), w.err);
        const st_BodyId paddle = add(&w, blade, (st_Vec3){0, 0, 0.25}, 2);
        const st_BodyId id = add(&w, ball, (st_Vec3){0.35, 0.3, 0.1}, 0.5);
        drive(&w, ST_JOINT_REVOLUTE, paddle, (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 1}, speed_motor(2), false);
        w.def.device = k == 0 ? ST_DEVICE_FLAT : ST_DEVICE_NONE;
        w.def.h = 1.0 / 2000;
        w.def.tolerance = 1e-10;
        start(&w);
        steps(&w, 1600);
        x[k] = place_of(&w, id);
        end(&w);
    }
    assert_true(hypot(x[0].x - 0.35, x[0].y - 0.3) > 0.3); /* it was hit */
    check_close(x[0].x, x[1].x, 5e-3);
    check_close(x[0].y, x[1].y, 5e-3);
}

static void refused(World *w, const char *word)
{
    assert_int_equal(st_system_create(w->scene, &w->def, &w->system, &w->err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(w->err.message, word));
    assert_null(w->system);
    end(w);
}

/* Joints that do more than take a body along, and belts on grains. */
/* A motor that does not hold its body, a joint without a motor, one between two bodies, friction: these are mechanisms,
 * and fall and turn as in the ordinary step. */
static void others_are_mechanisms(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++) {
        World w;
        st_System *ordinary;
        begin_exact(&w);
        const st_BodyId id = add(&w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){0, 0, 1}, 1);
        const st_BodyId two = add(&w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){0, 0, 2}, 1);
        st_JointDef joint = st_joint_def(k == 0 ? ST_JOINT_BALL : ST_JOINT_REVOLUTE);
        joint.a = k == 1 ? two : ST_GROUND;
        joint.b = id;
        joint.name = "elbow";
        joint.axis = (st_Vec3){0, 0, 1};
        joint.motor = speed_motor(1);
        if (k == 0 || k == 2) joint.motor.type = ST_MOTOR_NONE;
        if (k == 3) joint.motor.max_force = 5;
        if (k == 4) joint.friction = 1;
        check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
        start(&w);
        w.def.device = ST_DEVICE_NONE;
        check_ok(st_system_create(w.scene, &w.def, &ordinary, &w.err), w.err);
        steps(&w, 60);
        for (int i = 0; i < 60; i++)
            check_ok(st_system_step(ordinary, w.def.h, NULL, &w.err), w.err);
        for (int b = 1; b <= 2; b++) {
            st_Vec3 v, spin, spin_here;
            const st_Vec3 here = velocity_of(&w, (st_BodyId){b}, &spin_here);
            assert_int_equal(st_system_velocity(ordinary, (st_BodyId){b}, &v, &spin), ST_OK);
            check_close(here.x, v.x, 1e-9);
            check_close(here.z, v.z, 1e-9);
            check_close(spin_here.y, spin.y, 1e-9);
            check_close(spin_here.z, spin.z, 1e-9);
        }
        st_system_destroy(ordinary);
        end(&w);
    }
}

static void refuses_by_name(void **state)
{
    (void)state;
    World w;
    begin_exact(&w);
    st_ShapeDef grain = st_box_def(0.1, 0.1, 0.1);
    grain.surface_velocity.x = 1;
    add(&w, grain, (st_Vec3){0, 0, 1}, 1);
    refused(&w, "moving surface");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_belt_carries),
        cmocka_unit_test(a_turntable_turns),
        cmocka_unit_test(a_tray_shakes),
        cmocka_unit_test(a_crank_turns),
        cmocka_unit_test(a_mixer_balances),
        cmocka_unit_test(work_is_that_of_the_motor),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(agrees_with_the_ordinary_step),
        cmocka_unit_test(others_are_mechanisms),
        cmocka_unit_test(refuses_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
