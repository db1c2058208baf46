/* Free bodies removed from a running system and inserted again, in constant time: bodies that touched them continue
 * as if they had never been there, ids stay, saves and clones keep which bodies are present. */
#include "counter.h"
#include "machine.h"

#define G 9.81

/* Adds a box of 0.2 m at this height. */
static st_BodyId add_box(Machine *m, double x, double z)
{
    st_BodyDef def = st_body_def();
    st_ShapeDef box = st_box_def(0.1, 0.1, 0.1);
    st_BodyId id;
    def.mass = 2, def.pose.p = vec3(x, 0, z);
    box.mu = 0.5;
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    check_ok(st_scene_add_shape(m->scene, id, &box, NULL, &m->err), m->err);
    return id;
}

static void begin_on_floor(Machine *m, int way)
{
    begin(m);
    choose(m, way);
    st_ShapeDef plane = st_plane_def();
    plane.mu = 0.5;
    check_ok(st_scene_add_shape(m->scene, ST_GROUND, &plane, NULL, &m->err), m->err);
    m->def.gravity = vec3(0, 0, -G);
}

static st_Pose pose_of(const st_System *system, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(system, id, &pose), ST_OK);
    return pose;
}

static void take_out(Machine *m, st_BodyId id)
{
    check_ok(st_system_remove_body(m->system, id, &m->err), m->err);
    assert_false(st_system_present(m->system, id));
}

static void steps(st_System *system, int n)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
}

/* After t in free flight from rest: v = -g t in every scheme, z = z0 - g t^2/2; schemes of order one are g h t/2 off.
 */
static void check_fall(const st_System *system, st_BodyId id, double z0, double v0, double t)
{
    st_Vec3 v;
    assert_int_equal(st_system_velocity(system, id, &v, NULL), ST_OK);
    check_close(v.z, v0 - G * t, 1e-6);
    const double z = z0 + v0 * t - 0.5 * G * t * t, late = 0.5 * G * 1e-3 * t;
    check_close(pose_of(system, id).p.z, z, late + 1e-6);
}

static void what_stood_on_it_falls(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        begin_on_floor(&m, way);
        const st_BodyId low = add_box(&m, 0, 0.1), high = add_box(&m, 0, 0.3), beside = add_box(&m, 2, 0.1);
        run(&m, 0.02);
        const double z0 = pose_of(m.system, high).p.z;
        take_out(&m, low);
        run(&m, 0.12);
        check_fall(m.system, high, z0, 0, 0.1);
        assert_true(st_system_present(m.system, high) && st_system_present(m.system, beside));
        check_close(pose_of(m.system, beside).p.z, 0.1, 1e-6);

        /* Thrown in again, higher up. */
        const st_Pose there = {{0, 0, 3}, {1, 0, 0, 0}};
        const st_Vec3 up = {0, 0, 2}, spin = {0, 0, 3};
        check_ok(st_system_insert_body(m.system, low, &there, &up, &spin, &m.err), m.err);
        assert_true(st_system_present(m.system, low));
        check_close(pose_of(m.system, low).p.z, 3, 0);
        run(&m, 0.17);
        check_fall(m.system, low, 3, 2, 0.05);
        st_Vec3 w;
        st_system_velocity(m.system, low, NULL, &w);
        check_close(w.z, 3, 1e-9);
        end(&m);
    }
}

/* A box that slides and stops does so in a scene that never had the other one. */
static void others_do_not_know(void **state)
{
    (void)state;
    st_Pose at[2];
    for (int with = 0; with < 2; with++) {
        Machine m;
        begin_on_floor(&m, 1);
        const st_BodyId id = add_box(&m, 0, 0.1);
        const st_BodyId other = with ? add_box(&m, 0.5, 0.1) : id; /* in its way */
        start(&m);
        check_ok(st_system_set_velocity(m.system, id, &(st_Vec3){3, 0, 0}, NULL, &m.err), m.err);
        if (with) take_out(&m, other);
        steps(m.system, 800);
        at[with] = pose_of(m.system, id);
        end(&m);
    }
    check_close(at[1].p.x, at[0].p.x, 1e-9);
    check_close(at[0].p.x, 9 / (2 * 0.5 * G), 3e-3); /* Coulomb; order one in h */
}

/* Between the call and the next step, and later: a restored system and a clone continue bit for bit. */
static void saves_and_clones_know(void **state)
{
    (void)state;
    for (int way = 0; way < N_WAYS; way++) {
        Machine m;
        st_System *other[3];
        begin_on_floor(&m, way);
        const st_BodyId low = add_box(&m, 0, 0.1), high = add_box(&m, 0, 0.3);
        run(&m, 0.02);
        const size_t all_size = st_system_save(m.system, NULL, 0);
        char *all = malloc(all_size);
        st_system_save(m.system, all, all_size);
        take_out(&m, low);
        const size_t size = st_system_save(m.system, NULL, 0);
        char *bytes = malloc(size);
        st_system_save(m.system, bytes, size);
        check_ok(st_system_clone(m.system, &other[0], &m.err), m.err);
        check_ok(st_system_create(m.scene, &m.def, &other[1], &m.err), m.err);
        check_ok(st_system_restore(other[1], bytes, size, &m.err), m.err);
        steps(m.system, 10);
        check_ok(st_system_clone(m.system, &other[2], &m.err), m.err);
        steps(m.system, 20);
        steps(other[0], 30);
        steps(other[1], 30);
        steps(other[2], 20);
        for (int k = 0; k < 3; k++) {
            assert_true(st_system_hash(m.system) == st_system_hash(other[k]));
            assert_false(st_system_present(other[k], low));
            assert_true(st_system_present(other[k], high));
            st_system_destroy(other[k]);
        }
        check_ok(st_system_restore(m.system, all, all_size, &m.err), m.err); /* all were there */
        assert_true(st_system_present(m.system, low));
        steps(m.system, 20);
        check_close(pose_of(m.system, high).p.z, 0.3, 1e-4);
        free(all);
        free(bytes);
        end(&m);
    }
}

static void sleepers_wake(void **state)
{
    (void)state;
    Machine m;
    begin_on_floor(&m, 1);
    m.def.sleep = true;
    const st_BodyId low = add_box(&m, 0, 0.1), high = add_box(&m, 0, 0.3);
    run(&m, 2);
    assert_true(st_system_asleep(m.system, high));
    const double z0 = pose_of(m.system, high).p.z;
    take_out(&m, low);
    steps(m.system, 100);
    assert_false(st_system_asleep(m.system, high));
    check_fall(m.system, high, z0, 0, 0.1);
    end(&m);
}

/* A changed scene keeps which bodies are present, by name. */
static void a_changed_scene_knows(void **state)
{
    (void)state;
    Machine m;
    begin_on_floor(&m, 1);
    const st_BodyId low = add_box(&m, 0, 0.1), high = add_box(&m, 0, 0.3);
    run(&m, 0.02);
    const double z0 = pose_of(m.system, high).p.z;
    take_out(&m, low);
    add_box(&m, 5, 0.1);
    check_ok(st_system_change(m.system, m.scene, &m.err), m.err);
    assert_false(st_system_present(m.system, low));
    steps(m.system, 100);
    check_fall(m.system, high, z0, 0, 0.1);
    end(&m);
}

/* Constant time: whatever the number of bodies, calls after the first take no memory. */
static void calls_take_no_memory(void **state)
{
    (void)state;
    Machine m;
    Counter counter = {.base = st_default_allocator()};
    st_BodyId id[300];
    begin_on_floor(&m, 1);
    m.def.allocator = (st_Allocator){counting_alloc, counting_free, &counter};
    for (int k = 0; k < 300; k++)
        id[k] = add_box(&m, k, 0.1);
    start(&m);
    take_out(&m, id[0]);
    const long long before = counter.calls;
    for (int k = 1; k < 300; k++)
        take_out(&m, id[k]);
    for (int k = 0; k < 300; k++) {
        const st_Pose pose = {{k, 0, 0.1}, {1, 0, 0, 0}};
        check_ok(st_system_insert_body(m.system, id[k], &pose, NULL, NULL, &m.err), m.err);
    }
    assert_true(counter.calls == before);
    steps(m.system, 1);
    for (int k = 0; k < 300; k++)
        check_close(pose_of(m.system, id[k]).p.z, 0.1, 1e-6);
    end(&m);
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    Machine m;
    begin_on_floor(&m, 1);
    const st_BodyId box = add_box(&m, 0, 0.1), held = add_box(&m, 1, 0.1), tied = add_box(&m, 2, 0.1);
    st_BodyDef post = st_body_def();
    post.fixed = true, post.name = "post";
    st_BodyId fixed;
    check_ok(st_scene_add_body(m.scene, &post, &fixed, &m.err), m.err);
    st_JointDef joint = st_joint_def(ST_JOINT_BALL);
    joint.a = held, joint.b = tied, joint.point = vec3(1.5, 0, 0.1);
    add_joint(&m, &joint);
    start(&m);
    const st_Pose good = {{0, 0, 1}, {1, 0, 0, 0}}, far = {{INFINITY, 0, 0}, {1, 0, 0, 0}},
                  flat = {{0, 0, 1}, {2, 0, 0, 0}};
    st_System *s = m.system;
    refuse(st_system_remove_body(NULL, box, &m.err), &m.err, "system");
    refuse(st_system_remove_body(s, (st_BodyId){99}, &m.err), &m.err, "no body 99");
    refuse(st_system_remove_body(s, ST_GROUND, &m.err), &m.err, "no body 0");
    refuse(st_system_remove_body(s, fixed, &m.err), &m.err, "\"post\" is fixed");
    refuse(st_system_remove_body(s, held, &m.err), &m.err, "has joints, springs or forces");
    refuse(st_system_insert_body(s, box, &good, NULL, NULL, &m.err), &m.err, "is present already");
    check_ok(st_system_remove_body(s, box, &m.err), m.err);
    refuse(st_system_remove_body(s, box, &m.err), &m.err, "is absent already");
    refuse(st_system_insert_body(s, box, NULL, NULL, NULL, &m.err), &m.err, "pose");
    refuse(st_system_insert_body(s, box, &far, NULL, NULL, &m.err), &m.err, "position[0] is inf");
    refuse(st_system_insert_body(s, box, &flat, NULL, NULL, &m.err), &m.err, "length 2");
    refuse(st_system_insert_body(s, box, &good, &(st_Vec3){0, NAN, 0}, NULL, &m.err), &m.err, "velocity[1] is nan");
    assert_false(st_system_present(s, box));
    steps(s, 3);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stood_on_it_falls), cmocka_unit_test(others_do_not_know),
        cmocka_unit_test(saves_and_clones_know),  cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(a_changed_scene_knows),  cmocka_unit_test(calls_take_no_memory),
        cmocka_unit_test(bad_calls_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
