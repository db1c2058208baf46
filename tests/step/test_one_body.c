/* One body at a time, between two steps: pushed, put somewhere else, thrown. */
#include "machine.h"

#define G 9.81

static st_Vec3 velocity_of(const Machine *m, st_BodyId id)
{
    st_Vec3 v;
    assert_int_equal(st_system_velocity(m->system, id, &v, NULL), ST_OK);
    return v;
}

static st_Vec3 spin_of(const Machine *m, st_BodyId id)
{
    st_Vec3 w;
    assert_int_equal(st_system_velocity(m->system, id, NULL, &w), ST_OK);
    return w;
}

static st_Pose pose_of(const Machine *m, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(m->system, id, &pose), ST_OK);
    return pose;
}

static st_BodyId add_box(Machine *m, st_Vec3 at)
{
    st_BodyDef def = st_body_def();
    st_ShapeDef box = st_box_def(0.1, 0.1, 0.1);
    st_BodyId id;
    def.mass = 2, def.pose.p = at;
    box.mu = 0.5;
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    check_ok(st_scene_add_shape(m->scene, id, &box, NULL, &m->err), m->err);
    return id;
}

static void add_floor(Machine *m)
{
    st_ShapeDef plane = st_plane_def();
    plane.mu = 0.5;
    check_ok(st_scene_add_shape(m->scene, ST_GROUND, &plane, NULL, &m->err), m->err);
    m->def.gravity = vec3(0, 0, -G);
}

/* The largest friction force on a box over its mass. */
static double mu_g(void)
{
    return 0.5 * G;
}

static void put(Machine *m, st_BodyId id, st_Vec3 at)
{
    const st_Pose pose = {at, {1, 0, 0, 0}};
    check_ok(st_system_set_pose(m->system, id, &pose, &m->err), m->err);
}

/* ---- pushes -------------------------------------------------------------------------------------- */

/* A constant force and a torque about a principal axis: v = F t/m, w = T t/I under every integrator, and no more once
 * it is taken away; but that a scheme of two steps goes on for half a step, as with any force that jumps. The body is
 * turned: torque is in world axes.                                                                 */
static void a_push_pushes(void **state)
{
    (void)state;
    const st_Vec3 force = {3, 0, 0}, torque = {0, 0.2, 0};
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        st_BodyDef def = st_body_def();
        st_BodyId id;
        def.mass = 2, def.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.3}};
        def.pose.q = (st_Quat){sqrt(0.5), 0, 0, sqrt(0.5)}; /* its x is the world's y */
        check_ok(st_scene_add_body(m.scene, &def, &id, &m.err), m.err);
        start(&m);
        check_ok(st_system_push(m.system, id, &force, &torque, &m.err), m.err);
        run(&m, 0.1);
        check_close(velocity_of(&m, id).x, 3 * 0.1 / 2, 1e-12);
        check_close(spin_of(&m, id).x, 0.2 * 0.1 / 0.1, 1e-12);
        check_ok(st_system_push(m.system, id, NULL, NULL, &m.err), m.err);
        run(&m, 0.2);
        const double late = ways[way].integrator == ST_INTEGRATOR_BDF2 ? 0.5 * m.def.h * 1.01 : 1e-12;
        check_close(velocity_of(&m, id).x, 3 * 0.1 / 2, late * 3 / 2);
        check_close(spin_of(&m, id).x, 0.2 * 0.1 / 0.1, late * 0.2 / 0.1);
        end(&m);
    }
}

/* A box on the floor, pushed at less than mu m g, stays; with more it goes at F/m - mu g. */
static void a_push_meets_friction(void **state)
{
    (void)state;
    st_Vec3 force = {9.8, 0, 0};
    Machine m;
    begin(&m);
    choose(&m, 1);
    add_floor(&m);
    st_BodyId id = add_box(&m, vec3(0, 0, 0.1));
    start(&m);
    check_ok(st_system_push(m.system, id, &force, NULL, &m.err), m.err);
    run(&m, 0.1);
    check_close(velocity_of(&m, id).x, 0, 1e-7);
    force.x = 12;
    check_ok(st_system_push(m.system, id, &force, NULL, &m.err), m.err);
    run(&m, 0.2);
    check_close(velocity_of(&m, id).x, 0.1 * (12 / 2.0 - 0.5 * G), 1e-6);
    end(&m);
}

/* Pushes are part of the state: a clone and a restored system continue bit for bit; a change keeps them by name. */
static void a_push_is_kept(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    choose(&m, 1);
    add_floor(&m);
    st_BodyId a = add_box(&m, vec3(0, 0, 0.1)), b = add_box(&m, vec3(1, 0, 0.1)), c = add_box(&m, vec3(2, 0, 0.1));
    start(&m);
    const st_Vec3 left = {-15, 0, 0}, right = {15, 0, 0};
    check_ok(st_system_push(m.system, c, &right, NULL, &m.err), m.err);
    check_ok(st_system_push(m.system, a, &left, NULL, &m.err), m.err);
    check_ok(st_system_push(m.system, b, &left, NULL, &m.err), m.err);
    check_ok(st_system_push(m.system, b, NULL, NULL, &m.err), m.err);
    run(&m, 0.01);
    const size_t size = st_system_save(m.system, NULL, 0);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(st_system_save(m.system, bytes, size), size);
    st_System *clone, *fresh;
    check_ok(st_system_clone(m.system, &clone, &m.err), m.err);
    check_ok(st_system_create(m.scene, &m.def, &fresh, &m.err), m.err);
    check_ok(st_system_restore(fresh, bytes, size, &m.err), m.err);
    for (int k = 0; k < 20; k++) {
        check_ok(st_system_step(clone, m.def.h, NULL, &m.err), m.err);
        check_ok(st_system_step(fresh, m.def.h, NULL, &m.err), m.err);
        check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
    }
    assert_true(st_system_hash(clone) == st_system_hash(m.system) && st_system_hash(fresh) == st_system_hash(m.system));
    check_close(velocity_of(&m, c).x, 0.03 * (7.5 - 0.5 * G), 1e-6);
    check_close(velocity_of(&m, b).x, 0, 1e-6);
    st_BodyId gone = a; /* c is the second body then */
    check_ok(st_scene_remove_bodies(m.scene, &gone, 1, &m.err), m.err);
    check_ok(st_system_change(m.system, m.scene, &m.err), m.err);
    run(&m, 0.05);
    check_close(velocity_of(&m, st_scene_find_body(m.scene, "body3")).x, 0.05 * (7.5 - 0.5 * G), 1e-6);
    st_system_destroy(clone);
    st_system_destroy(fresh);
    free(bytes);
    end(&m);
}

/* ---- poses --------------------------------------------------------------------------------------- */

/* A box is moved from under another: that one falls by g t^2/2, and the moved one stays at its new position. */
static void a_box_is_taken_away(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        add_floor(&m);
        st_BodyId low = add_box(&m, vec3(0, 0, 0.1)), high = add_box(&m, vec3(0, 0, 0.3));
        run(&m, 0.02);
        put(&m, low, vec3(1, 0, 0.1));
        assert_int_equal(st_system_contact_count(m.system), 0);
        run(&m, 0.12);
        check_close(pose_of(&m, high).p.z, 0.3 - 0.5 * G * 0.01, 0.5 * G * 0.1 * m.def.h * 1.01 + 1e-6); /* order one */
        check_close(velocity_of(&m, high).z, -G * 0.1, 1e-6);
        check_close(pose_of(&m, low).p.z, 0.1, 1e-6);
        check_close(pose_of(&m, low).p.x, 1, 1e-6);
        end(&m);
    }
}

/* A rod torn from its hinge comes back: at once by projection, at correction_speed at most by gaps. */
static void a_joint_closes_again(void **state)
{
    (void)state;
    for (int k = 1; k < 3; k++) {
        Machine m;
        begin(&m);
        choose(&m, k); /* gap, projection */
        m.def.correction_speed = 1;
        st_BodyId rod = add_body(&m, 1, 0.1, vec3(0.5, 0, 0));
        st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
        hinge.b = rod, hinge.axis = vec3(0, 1, 0);
        st_JointId id = add_joint(&m, &hinge);
        run(&m, 0.01);
        put(&m, rod, vec3(0.5, 0, 0.05));
        assert_true(report(&m, id).error > 0.049);
        run(&m, 0.02);
        if (k == 1) assert_true(report(&m, id).error > 0.03); /* 10 mm at most by then */
        run(&m, 0.2);
        check_close(report(&m, id).error, 0, 1e-6);
        end(&m);
    }
}

/* The angle that a joint counts follows the pose. */
static void an_angle_follows(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    choose(&m, 1);
    st_BodyId wheel = add_body(&m, 1, 0.1, vec3(0, 0, 0));
    st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
    hinge.b = wheel, hinge.axis = vec3(0, 1, 0), hinge.stiffness = 2, hinge.rest = 0;
    st_JointId id = add_joint(&m, &hinge);
    run(&m, 0.001);
    const st_Pose turned = {{0, 0, 0}, {cos(0.25), 0, sin(0.25), 0}};
    check_ok(st_system_set_pose(m.system, wheel, &turned, &m.err), m.err);
    check_close(report(&m, id).coordinate, 0.5, 1e-12);
    run(&m, 0.002);
    check_close(spin_of(&m, wheel).y, -2 * 0.5 / 0.1 * 1e-3, 1e-5); /* k x/I h, implicit: by (w h)^2 less */
    end(&m);
}

/* ---- velocities ---------------------------------------------------------------------------------- */

/* Thrown up from the floor: z = v t - g t^2/2, of order one by g t h/2 lower. */
static void a_box_is_thrown(void **state)
{
    (void)state;
    const st_Vec3 up = {0.3, 0, 2}, spin = {0, 0, 1};
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        add_floor(&m);
        st_BodyId id = add_box(&m, vec3(0, 0, 0.1));
        run(&m, 0.02);
        check_ok(st_system_set_velocity(m.system, id, &up, &spin, &m.err), m.err);
        run(&m, 0.22);
        check_close(velocity_of(&m, id).z, 2 - G * 0.2, 1e-6);
        check_close(velocity_of(&m, id).x, 0.3, 1e-6);
        check_close(spin_of(&m, id).z, 1, 1e-6);
        check_close(pose_of(&m, id).p.z, 0.1 + 0.4 - 0.5 * G * 0.04, 0.5 * G * 0.2 * m.def.h * 1.01);
        check_ok(st_system_set_velocity(m.system, id, NULL, &(st_Vec3){0, 0, 0}, &m.err), m.err);
        check_close(velocity_of(&m, id).x, 0.3, 1e-6); /* unchanged */
        end(&m);
    }
}

/* Mocap: a heavy plate whose velocity is set before each step, A sin(w t) with A w < mu g, carries a box along; the
 * box moves it by the ratio of the masses, 2/2e4 of the step's change of velocity. Steps of bdf2
 * that begin anew are of sdirk2, whose first stage meets the whole jump with friction of 0.29 h alone, mu g 0.29 h =
 * 1.4e-3 of the 2e-3: the box slides, and is within one step's change of velocity behind the second.    */
static void a_plate_is_led(void **state)
{
    (void)state;
    const double A = 0.4, w = 5, mass = 2e4;
    const st_Vec3 lift = {0, 0, mass * G};
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        m.def.gravity = vec3(0, 0, -G);
        st_BodyDef def = st_body_def();
        st_ShapeDef plate = st_box_def(1, 1, 0.1);
        st_BodyId hand, box;
        def.mass = mass, def.pose.p = vec3(0, 0, -0.1);
        plate.mu = 0.5;
        check_ok(st_scene_add_body(m.scene, &def, &hand, &m.err), m.err);
        check_ok(st_scene_add_shape(m.scene, hand, &plate, NULL, &m.err), m.err);
        box = add_box(&m, vec3(0, 0, 0.1));
        start(&m);
        check_ok(st_system_push(m.system, hand, &lift, NULL, &m.err), m.err);
        const double late = ways[way].integrator == ST_INTEGRATOR_BDF2 ? A * w * m.def.h : 1e-6;
        for (int k = 0; k < 60; k++) {
            const st_Vec3 v = {A * sin(w * k * m.def.h), 0, 0};
            check_ok(st_system_set_velocity(m.system, hand, &v, &(st_Vec3){0, 0, 0}, &m.err), m.err);
            check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
            check_close(velocity_of(&m, hand).x, v.x, 1e-4 * mu_g() * m.def.h + 1e-9);
            check_close(velocity_of(&m, box).x, v.x, 1e-4 * mu_g() * m.def.h + late);
        }
        end(&m);
    }
}

/* ---- sleep, and going on ------------------------------------------------------------------------- */

/* Two sleeping stacks: a body that is moved or thrown wakes with its stack, and the other stack sleeps on. */
static void one_stack_wakes(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        Machine m;
        begin(&m);
        choose(&m, 1);
        m.def.sleep = true;
        add_floor(&m);
        st_BodyId box[4];
        for (int k = 0; k < 4; k++)
            box[k] = add_box(&m, vec3(k < 2 ? 0 : 1, 0, 0.1 + 0.2 * (k % 2)));
        run(&m, 2 * m.def.sleep_time);
        assert_int_equal(m.info.asleep, 4);
        const st_Vec3 kick = {0, 3, 0}, force = {0, 40, 0};
        if (how == 0) put(&m, box[0], vec3(0, 0.5, 0.1));
        if (how == 1) check_ok(st_system_set_velocity(m.system, box[0], &kick, NULL, &m.err), m.err);
        if (how == 2) check_ok(st_system_push(m.system, box[0], &force, NULL, &m.err), m.err);
        assert_false(st_system_asleep(m.system, box[0]));
        assert_false(st_system_asleep(m.system, box[1]));
        assert_true(st_system_asleep(m.system, box[2]));
        run(&m, st_system_time(m.system) + 0.05);
        assert_int_equal(m.info.asleep, 2);
        assert_true(pose_of(&m, box[0]).p.y > 0.005); /* the push: (40 - 3 mu m g) t^2/(2 m) = 6.6 mm */
        if (how == 0) check_close(velocity_of(&m, box[1]).z, -G * 0.05, 1e-6);
        check_close(pose_of(&m, box[2]).p.y, 0, 1e-6);
        end(&m);
    }
}

/* Bit for bit: a system restored after the change continues like the one that was changed. */
static void saved_behind_a_change(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin(&m);
        choose(&m, way);
        add_floor(&m);
        st_BodyId a = add_box(&m, vec3(0, 0, 0.1)), b = add_box(&m, vec3(0, 0, 0.3));
        run(&m, 0.02);
        put(&m, b, vec3(0.05, 0, 0.3001));
        check_ok(st_system_set_velocity(m.system, a, &(st_Vec3){0, 0.4, 0}, NULL, &m.err), m.err);
        st_System *clone;
        check_ok(st_system_clone(m.system, &clone, &m.err), m.err);
        for (int k = 0; k < 30; k++) {
            check_ok(st_system_step(clone, m.def.h, NULL, &m.err), m.err);
            check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
        }
        assert_true(st_system_hash(clone) == st_system_hash(m.system));
        st_system_destroy(clone);
        end(&m);
    }
}

/* A fixed body is moved: a box that sleeps on it wakes and stays on it while it is lifted by 0.2 m, bodies that a
 * joint holds to it follow it to the side and turn with it, and when it is removed the box falls to the floor. */
static void a_fixed_body_is_led(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    check_ok(st_preset_apply(&m.def, "default", &m.err), m.err);
    m.def.sleep = true, m.def.h = 2e-3;
    m.def.gravity = vec3(0, 0, -9.81);
    st_ShapeDef plane = st_plane_def(), slab = st_box_def(0.5, 0.5, 0.05), cube = st_box_def(0.1, 0.1, 0.1);
    st_BodyDef def = st_body_def();
    st_BodyId lift, box, hung;
    check_ok(st_scene_add_shape(m.scene, ST_GROUND, &plane, NULL, &m.err), m.err);
    def.fixed = true, def.name = "lift", def.pose.p.z = 0.5;
    check_ok(st_scene_add_body(m.scene, &def, &lift, &m.err), m.err);
    check_ok(st_scene_add_shape(m.scene, lift, &slab, NULL, &m.err), m.err);
    def.fixed = false, def.name = "box", def.pose.p.z = 0.65;
    cube.density = 500;
    check_ok(st_scene_add_body(m.scene, &def, &box, &m.err), m.err);
    check_ok(st_scene_add_shape(m.scene, box, &cube, NULL, &m.err), m.err);
    hung = add_body(&m, 1, 0.1, vec3(3, 0, 2));
    st_JointDef weld = st_joint_def(ST_JOINT_FIXED);
    weld.a = lift, weld.b = hung, weld.point = vec3(3, 0, 2);
    add_joint(&m, &weld);
    start(&m);
    run(&m, 1);
    assert_true(st_system_asleep(m.system, box));
    st_Pose pose = {{0, 0, 0.5}, {1, 0, 0, 0}}, at;
    for (int k = 1; k <= 200; k++) {
        pose.p.z = 0.5 + 1e-3 * k;
        check_ok(st_system_set_pose(m.system, lift, &pose, &m.err), m.err);
        check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
    }
    for (int k = 0; k < 100; k++)
        check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
    st_system_pose(m.system, lift, &at);
    check_close(at.p.z, 0.7, 0);
    st_system_pose(m.system, box, &at);
    check_close(at.p.z, 0.85, 2e-3);
    st_system_pose(m.system, hung, &at);
    check_close(at.p.z, 2.2, 1e-6);
    pose = (st_Pose){{1.5, 0, 0.7}, quat_exp(vec3(0, 0, 0.2))};
    check_ok(st_system_set_pose(m.system, lift, &pose, &m.err), m.err);
    for (int k = 0; k < 1000; k++)
        check_ok(st_system_step(m.system, m.def.h, NULL, &m.err), m.err);
    st_system_pose(m.system, hung, &at); /* 3 m away from it, in the new direction */
    check_close(at.p.x, 1.5 + 3 * cos(0.2), 1e-6);
    check_close(at.p.y, 3 * sin(0.2), 1e-6);
    st_system_pose(m.system, box, &at);
    check_close(at.p.z, 0.1, 1e-3);
    end(&m);
}

/* ---- refusals, names ------------------------------------------------------------------------------ */

static void refusals(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyDef def = st_body_def();
    st_BodyId post, flat;
    def.fixed = true, def.name = "post";
    check_ok(st_scene_add_body(m.scene, &def, &post, &m.err), m.err);
    def.fixed = false, def.name = "flat", def.mass = 1, def.locks = ST_LOCK_Z | ST_LOCK_ROTATION;
    check_ok(st_scene_add_body(m.scene, &def, &flat, &m.err), m.err);
    start(&m);
    const st_Vec3 nan = {0, NAN, 0}, up = {0, 0, 1}, huge = {1e300, 0, 0};
    st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    const uint64_t before = st_system_hash(m.system);
    refuse(st_system_push(m.system, ST_GROUND, &up, NULL, &m.err), &m.err, "no body 0");
    refuse(st_system_push(m.system, (st_BodyId){3}, &up, NULL, &m.err), &m.err, "no body 3");
    refuse(st_system_push(m.system, post, &up, NULL, &m.err), &m.err, "\"post\" is fixed");
    refuse(st_system_push(m.system, flat, &nan, NULL, &m.err), &m.err, "component 1 of its push is nan");
    refuse(st_system_push(m.system, flat, NULL, &huge, &m.err), &m.err, "component 3 of its push is 1e+300");
    refuse(st_system_set_pose(m.system, ST_GROUND, &pose, &m.err), &m.err, "no body 0");
    refuse(st_system_set_velocity(m.system, post, &up, NULL, &m.err), &m.err, "\"post\" is fixed");
    refuse(st_system_set_velocity(m.system, flat, &nan, NULL, &m.err), &m.err, "velocity[1] is nan");
    refuse(st_system_set_velocity(m.system, flat, &up, NULL, &m.err), &m.err, "along z is 1, but that is locked");
    refuse(st_system_set_velocity(m.system, flat, NULL, &up, &m.err), &m.err, "along rz is 1, but that is locked");
    pose.p.x = INFINITY;
    refuse(st_system_set_pose(m.system, flat, &pose, &m.err), &m.err, "position[0] is inf");
    pose.p.x = 0, pose.q.w = 2;
    refuse(st_system_set_pose(m.system, flat, &pose, &m.err), &m.err, "length 2");
    assert_true(st_system_hash(m.system) == before);
    end(&m);
}

static void names_are_found(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_BodyId a = add_box(&m, vec3(0, 0, 0)), b = add_box(&m, vec3(1, 0, 0));
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    st_ShapeDef lid = st_sphere_def(0.1);
    st_ShapeId shape;
    spring.a = a, spring.b = b, spring.point_b = vec3(1, 0, 0), spring.stiffness = 1, spring.name = "soft";
    lid.name = "lid";
    check_ok(st_scene_add_spring(m.scene, &spring, NULL, &m.err), m.err);
    check_ok(st_scene_add_shape(m.scene, b, &lid, &shape, &m.err), m.err);
    assert_int_equal(st_scene_find_spring(m.scene, "soft").index1, 1);
    assert_int_equal(st_scene_find_spring(m.scene, "hard").index1, 0);
    assert_int_equal(st_scene_find_shape(m.scene, b, "lid").index1, shape.index1);
    assert_int_equal(st_scene_find_shape(m.scene, a, "lid").index1, 0);
    assert_int_equal(st_scene_find_shape(m.scene, ST_GROUND, "lid").index1, 0);
    assert_int_equal(st_scene_find_shape(m.scene, (st_BodyId){77}, "lid").index1, 0);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_pushes),        cmocka_unit_test(a_push_meets_friction),
        cmocka_unit_test(a_push_is_kept),       cmocka_unit_test(a_box_is_taken_away),
        cmocka_unit_test(a_joint_closes_again), cmocka_unit_test(an_angle_follows),
        cmocka_unit_test(a_box_is_thrown),      cmocka_unit_test(a_plate_is_led),
        cmocka_unit_test(one_stack_wakes),      cmocka_unit_test(saved_behind_a_change),
        cmocka_unit_test(a_fixed_body_is_led),  cmocka_unit_test(refusals),
        cmocka_unit_test(names_are_found),
    };
    return cmocka_run_group_tests_name("one body", tests, NULL, NULL);
}
