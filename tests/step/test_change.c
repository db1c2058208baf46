/* Scenes that change while they run: objects that stay continue unchanged, new and removed ones follow mechanics. */
#include "check.h"
#include "step/system.h"

#include <stiction/io.h>
#include <stiction/stiction.h>
#include <string.h>

static const double g = 9.81;

typedef struct Run {
    st_Scene *scene;
    st_SystemDef def;
    st_System *sys;
    st_Error err;
} Run;

static void create(Run *run)
{
    memset(run, 0, sizeof *run);
    run->def = st_system_def();
    check_ok(st_scene_create(&run->scene, &run->err), run->err);
}

static void start(Run *run)
{
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

static void load(Run *run, const char *scene, const char *set)
{
    char path[256];
    memset(run, 0, sizeof *run);
    snprintf(path, sizeof path, "examples/%s.json", scene);
    check_ok(st_scene_read(path, &set, set != NULL, &run->scene, &run->def, &run->err), run->err);
    start(run);
}

static void step(Run *run, int n)
{
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(run->sys, run->def.h, NULL, &run->err), run->err);
}

static void change(Run *run)
{
    check_ok(st_system_change(run->sys, run->scene, &run->err), run->err);
}

static void end(Run *run)
{
    st_system_destroy(run->sys);
    st_scene_destroy(run->scene);
}

static st_BodyId add_body(Run *run, const char *name, st_Vec3 at, st_Vec3 velocity)
{
    st_BodyDef body = st_body_def();
    st_BodyId id;
    body.name = name, body.pose.p = at, body.velocity = velocity;
    body.mass = 2, body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.2, 0, 0, 0, 0.25}};
    check_ok(st_scene_add_body(run->scene, &body, &id, &run->err), run->err);
    return id;
}

static void add_shape(Run *run, st_BodyId body, st_ShapeDef shape)
{
    check_ok(st_scene_add_shape(run->scene, body, &shape, NULL, &run->err), run->err);
}

static st_Pose pose_of(const Run *run, const char *name)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(run->sys, st_scene_find_body(run->scene, name), &pose), ST_OK);
    return pose;
}

static st_JointReport joint_of(const Run *run, const char *name)
{
    st_JointReport report;
    assert_int_equal(st_system_joint(run->sys, st_scene_find_joint(run->scene, name), ST_FRAME_WORLD, &report), ST_OK);
    return report;
}

/* ---- nothing changes -------------------------------------------------------------------------- */

static unsigned char *save(const st_System *system, size_t *size)
{
    *size = st_system_save(system, NULL, 0);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    st_system_save(system, bytes, *size);
    return bytes;
}

/* But for the head, which has the number of changes. */
static void same_state(const st_System *a, const st_System *b, const char *what)
{
    const size_t head = 24;
    size_t n_a, n_b;
    unsigned char *x = save(a, &n_a), *y = save(b, &n_b);
    if (n_a != n_b || memcmp(x + head, y + head, n_a - head) != 0) fail_msg("%s: not the same bits", what);
    free(x), free(y);
}

/* Under schemes of one step all that matters is carried over: the saved state after further steps is the same to the
 * last bit, with its forces, contacts, angles and controls.                                        */
static void the_same_scene_changes_no_bit(void **state)
{
    static const struct {
        const char *scene, *set;
    } cases[] = {{"world/wall", NULL},
                 {"world/poured", NULL},
                 {"world/turning", NULL},
                 {"negrut-2017/stack", NULL},
                 {"mechanisms/gear_train", NULL},
                 {"mechanisms/slider_crank", "simulation/preset=default"},
                 {"mechanisms/motor_limit", "simulation/preset=default"},
                 {"mechanisms/door", "simulation/preset=default"},
                 {"mechanisms/shoulder", "simulation/preset=default"},
                 {"mechanisms/bushing", "simulation/preset=default"},
                 {"mechanisms/screw_press", "simulation/preset=default"},
                 {"mechanisms/joystick", "simulation/preset=default"},
                 {"anitescu-potra-2002/bars_A0_mu0.15_g10", NULL},
                 {"preclik-2011/table", NULL}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Run a, b;
        load(&a, cases[k].scene, cases[k].set);
        load(&b, cases[k].scene, cases[k].set);
        step(&a, 20), step(&b, 20);
        change(&b);
        assert_int_equal(st_system_changes(b.sys), 1);
        step(&a, 20), step(&b, 20);
        same_state(a.sys, b.sys, cases[k].scene);
        end(&a), end(&b);
    }
}

static void a_clone_goes_on_alike(void **state)
{
    static const char *const scenes[] = {"world/wall",
                                         "world/sleeping",
                                         "song-2004/ellipse",
                                         "accuracy/landing-box",
                                         "mechanisms/whip",
                                         "potra-2006/two-carts-fig6-d1e2",
                                         "mechanisms/crane",
                                         "toys/woodpecker",
                                         "mechanisms/gear_train",
                                         "accuracy/spatial-linkage"};
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        Run run;
        st_System *clone;
        load(&run, scenes[k], NULL);
        step(&run, 20);
        check_ok(st_system_clone(run.sys, &clone, &run.err), run.err);
        same_state(run.sys, clone, scenes[k]);
        step(&run, 20);
        for (int i = 0; i < 20; i++)
            check_ok(st_system_step(clone, run.def.h, NULL, &run.err), run.err);
        same_state(run.sys, clone, scenes[k]);
        st_system_destroy(clone);
        end(&run);
    }
}

/* Systems of one compiled scene step like a system made alone, each with its own state; they share the scene, also with
 * clones, and need neither the scene nor the caller's reference.                                   */
static void compiled_scenes_are_shared(void **state)
{
    static const char *const scenes[] = {"world/wall", "world/sleeping", "mechanisms/gear_train", "toys/woodpecker"};
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        Run run;
        st_CompiledScene *compiled;
        st_System *other[2], *clone;
        load(&run, scenes[k], NULL);
        check_ok(st_scene_compile(run.scene, &compiled, &run.err), run.err);
        for (int i = 0; i < 2; i++)
            check_ok(st_system_create_from(compiled, &run.def, &other[i], &run.err), run.err);
        st_compiled_release(compiled);
        st_scene_destroy(run.scene);
        run.scene = NULL;
        check_ok(st_system_clone(other[0], &clone, &run.err), run.err);
        assert_ptr_equal(other[0]->model.world->scene, other[1]->model.world->scene);
        assert_ptr_equal(other[0]->model.world->scene, clone->model.world->scene);
        assert_ptr_equal(other[0]->model.world->collider.made, clone->model.world->collider.made);
        step(&run, 20);
        for (int i = 0; i < 20; i++)
            for (int j = 0; j < 2; j++)
                check_ok(st_system_step(other[j], run.def.h, NULL, &run.err), run.err);
        same_state(run.sys, other[0], scenes[k]);
        same_state(run.sys, other[1], scenes[k]);
        st_system_destroy(other[0]);
        for (int i = 0; i < 20; i++)
            check_ok(st_system_step(clone, run.def.h, NULL, &run.err), run.err);
        same_state(run.sys, clone, scenes[k]);
        st_system_destroy(clone);
        step(&run, 5);
        for (int i = 0; i < 5; i++)
            check_ok(st_system_step(other[1], run.def.h, NULL, &run.err), run.err);
        same_state(run.sys, other[1], scenes[k]);
        st_system_destroy(other[1]);
        end(&run);
    }
}

/* A wall stands on; a bystander that was first in the scene, so that all ids move, goes, and one comes at the end. */
static void others_do_not_notice(void **state)
{
    Run run[2];
    (void)state;
    for (int r = 0; r < 2; r++) {
        create(&run[r]);
        add_shape(&run[r], ST_GROUND, st_plane_def());
        add_body(&run[r], "bystander", (st_Vec3){50, 0, 9}, (st_Vec3){0, 0, 0});
        for (int k = 0; k < 12; k++) {
            char name[24];
            snprintf(name, sizeof name, "brick%d", k);
            const int row = k / 4;
            st_BodyId id = add_body(&run[r], name, (st_Vec3){k % 4 * 0.4 + row * 0.2, 0, 0.1 + 0.2 * row},
                                    (st_Vec3){0, 0.3 * row, 0});
            add_shape(&run[r], id, st_box_def(0.2, 0.1, 0.1));
        }
        start(&run[r]);
        step(&run[r], 8);
    }
    const st_BodyId bystander = st_scene_find_body(run[1].scene, "bystander");
    check_ok(st_scene_remove_bodies(run[1].scene, &bystander, 1, &run[1].err), run[1].err);
    add_body(&run[1], "newcomer", (st_Vec3){-50, 0, 9}, (st_Vec3){0, 0, 0});
    change(&run[1]);
    for (int k = 0; k < 8; k++) {
        step(&run[0], 1), step(&run[1], 1);
        for (int b = 0; b < 12; b++) {
            char name[24];
            snprintf(name, sizeof name, "brick%d", b);
            const st_Pose x = pose_of(&run[0], name), y = pose_of(&run[1], name);
            assert_memory_equal(&x, &y, sizeof x);
        }
    }
    assert_int_equal(st_system_n_q(run[1].sys), 13 * 7);
    end(&run[0]), end(&run[1]);
}

/* ---- joints come and go ----------------------------------------------------------------------- */

static void add_hinge(Run *run, const char *name, const char *body, st_Vec3 point, double upper)
{
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = st_scene_find_body(run->scene, body);
    joint.point = point, joint.axis = (st_Vec3){0, 1, 0}, joint.upper = upper, joint.name = name;
    check_ok(st_scene_add_joint(run->scene, &joint, NULL, &run->err), run->err);
}

/* Without its hinge a pendulum flies on: with v += -g h, x += h v its centre is at x + T v, z + T v_z - g h^2 n (n +
 * 1)/2 after n steps, and it turns at the rate it had about its axis.                                   */
static void a_pendulum_is_let_go(void **state)
{
    Run run;
    const int n = 200;
    (void)state;
    create(&run);
    add_body(&run, "bob", (st_Vec3){1, 0, 0}, (st_Vec3){0, 0, 0});
    add_hinge(&run, "hinge", "bob", (st_Vec3){0, 0, 0}, INFINITY);
    start(&run);
    step(&run, 400);
    st_JointId hinge = st_scene_find_joint(run.scene, "hinge");
    check_ok(st_scene_remove_joints(run.scene, &hinge, 1, &run.err), run.err);
    const st_Pose before = pose_of(&run, "bob");
    st_Vec3 v, w, v_end, w_end;
    const st_BodyId bob = st_scene_find_body(run.scene, "bob");
    st_system_velocity(run.sys, bob, &v, &w);
    change(&run);
    assert_true(st_system_time(run.sys) > 0.39);
    step(&run, n);
    st_system_velocity(run.sys, bob, &v_end, &w_end);
    const double h = run.def.h, T = n * h;
    const st_Pose after = pose_of(&run, "bob");
    check_close(after.p.x, before.p.x + T * v.x, 1e-13);
    check_close(after.p.z, before.p.z + T * v.z - g * h * h * n * (n + 1) / 2, 1e-12);
    check_close(w_end.y, w.y, 1e-13);
    assert_true(fabs(v.x) > 0.1 && fabs(w.y) > 0.1);
    end(&run);
}

/* Forces in a joint have no sum; their moment is that of a joint open by h^2 w^2 L, and bodies turn to first order. */
static void check_momentum(st_System *system, st_Vec3 linear, st_Vec3 angular, double h)
{
    st_Vec3 p, L;
    st_system_momentum(system, &p, &L);
    check_close(p.x, linear.x, 1e-12), check_close(p.y, linear.y, 1e-12), check_close(p.z, linear.z, 1e-12);
    check_close(L.x, angular.x, 0.05 * h), check_close(L.y, angular.y, 0.05 * h), check_close(L.z, angular.z, 0.05 * h);
}

/* Two bodies that fly past each other are joined where they are by then: momentum stays, the joint is closed at once
 * and stays so, and its angle counts from there.                                                  */
static void join_in_flight(double h)
{
    Run run;
    st_Vec3 p, L;
    create(&run);
    run.def.gravity = (st_Vec3){0, 0, 0};
    run.def.h = h;
    add_body(&run, "left", (st_Vec3){-1, 0, 0}, (st_Vec3){1, 0, 0.2});
    add_body(&run, "right", (st_Vec3){1, 0.5, 0}, (st_Vec3){-0.4, 1, 0});
    start(&run);
    step(&run, 300);
    st_system_momentum(run.sys, &p, &L);
    const st_Pose left = pose_of(&run, "left"), right = pose_of(&run, "right");
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.a = st_scene_find_body(run.scene, "left"), joint.b = st_scene_find_body(run.scene, "right");
    joint.point = (st_Vec3){(left.p.x + right.p.x) / 2, (left.p.y + right.p.y) / 2, (left.p.z + right.p.z) / 2};
    joint.axis = (st_Vec3){0, 0, 1}, joint.name = "grip";
    check_ok(st_scene_add_joint(run.scene, &joint, NULL, &run.err), run.err);
    change(&run);
    check_close(joint_of(&run, "grip").error, 0, 1e-15);
    check_close(joint_of(&run, "grip").coordinate, 0, 1e-15);
    for (int k = 0; k < 1000; k++) {
        st_StepInfo info = st_step_info();
        check_ok(st_system_step(run.sys, h, &info, &run.err), run.err);
        check_below(info.joint_error, 10 * h * h); /* turning at 2 rad/s, 1 m long; and the rest of the last step */
    }
    check_momentum(run.sys, p, L, h);
    end(&run);
}

static void flying_bodies_are_joined(void **state)
{
    (void)state;
    join_in_flight(1e-3);
    join_in_flight(1e-4);
}

/* Turns are counted on; a limit that comes later is one of the same angle; and the zero stays where it was. */
static void turns_are_counted_on(void **state)
{
    Run run;
    const double turn = 6.283185307179586;
    (void)state;
    create(&run);
    run.def.gravity = (st_Vec3){0, 0, 0};
    const st_BodyId wheel = add_body(&run, "wheel", (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 0});
    add_hinge(&run, "axle", "wheel", (st_Vec3){0, 0, 0}, INFINITY);
    start(&run);
    double q[16], v[6] = {0, 0, 0, 0, 25, 0};
    assert_true(st_system_n_q(run.sys) <= 16);
    st_system_state(run.sys, q, NULL);
    check_ok(st_system_set_state(run.sys, 0, q, v, &run.err), run.err);
    step(&run, 1000);
    check_close(joint_of(&run, "axle").coordinate, 25, 1e-9); /* 3.98 turns */
    st_JointId axle = st_scene_find_joint(run.scene, "axle");
    check_ok(st_scene_remove_joints(run.scene, &axle, 1, &run.err), run.err);
    add_hinge(&run, "axle", "wheel", (st_Vec3){0, 0, 0}, 5 * turn);
    add_body(&run, "other", (st_Vec3){9, 9, 9}, (st_Vec3){0, 0, 0});
    change(&run);
    check_close(joint_of(&run, "axle").coordinate, 25, 1e-9);
    step(&run, 2000);
    check_close(joint_of(&run, "axle").coordinate, 5 * turn, 1e-9); /* stopped there, without rebound */
    st_Vec3 w;
    st_system_velocity(run.sys, wheel, NULL, &w);
    check_close(w.y, 0, 1e-9);
    end(&run);
}

/* A gear that stays keeps its offset, a new one holds the present coordinates. */
static void gears_hold_what_they_held(void **state)
{
    Run run;
    (void)state;
    create(&run);
    run.def.gravity = (st_Vec3){0, 0, 0};
    add_body(&run, "a", (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 0});
    add_body(&run, "b", (st_Vec3){2, 0, 0}, (st_Vec3){0, 0, 0});
    add_hinge(&run, "axle_a", "a", (st_Vec3){0, 0, 0}, INFINITY);
    add_hinge(&run, "axle_b", "b", (st_Vec3){2, 0, 0}, INFINITY);
    start(&run);
    double q[32], v[12] = {0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1, 0};
    st_system_state(run.sys, q, NULL);
    check_ok(st_system_set_state(run.sys, 0, q, v, &run.err), run.err);
    step(&run, 500);
    st_JointDef gear = st_joint_def(ST_JOINT_GEAR);
    gear.joint_a = st_scene_find_joint(run.scene, "axle_a"), gear.joint_b = st_scene_find_joint(run.scene, "axle_b");
    gear.ratio = 2, gear.name = "gear";
    check_ok(st_scene_add_joint(run.scene, &gear, NULL, &run.err), run.err);
    const double held = joint_of(&run, "axle_a").coordinate - 2 * joint_of(&run, "axle_b").coordinate;
    check_close(held, 0.5, 1e-9);
    for (int round = 0; round < 3; round++) {
        change(&run);
        step(&run, 300);
        const double x = joint_of(&run, "axle_a").coordinate - 2 * joint_of(&run, "axle_b").coordinate;
        check_close(x, held, 1e-9);
    }
    /* momentum about the two axes: J (w_a', w_b') = J (3, 1) + (1, -2) l with w_a' = 2 w_b' */
    check_close(joint_of(&run, "axle_b").speed, 1.4, 1e-9);
    check_close(joint_of(&run, "axle_a").speed, 2.8, 1e-9);
    end(&run);
}

static void springs_stay_attached(void **state)
{
    Run run[2];
    (void)state;
    for (int r = 0; r < 2; r++) {
        create(&run[r]);
        add_body(&run[r], "bob", (st_Vec3){0.5, 0, -1}, (st_Vec3){0, 0.5, 0});
        st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
        spring.b = st_scene_find_body(run[r].scene, "bob");
        spring.point_b = (st_Vec3){0.5, 0.1, -0.8}, spring.stiffness = 200, spring.name = "rope";
        check_ok(st_scene_add_spring(run[r].scene, &spring, NULL, &run[r].err), run[r].err);
        start(&run[r]);
        step(&run[r], 100);
    }
    change(&run[1]);
    step(&run[0], 100), step(&run[1], 100);
    same_state(run[0].sys, run[1].sys, "spring");
    end(&run[0]), end(&run[1]);
}

/* Values set by a controller stay set, for a motor and a force that stay. */
static void controllers_are_still_heard(void **state)
{
    Run run;
    (void)state;
    create(&run);
    run.def.gravity = (st_Vec3){0, 0, 0};
    add_body(&run, "first", (st_Vec3){5, 5, 5}, (st_Vec3){0, 0, 0});
    add_body(&run, "wheel", (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 0});
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = st_scene_find_body(run.scene, "wheel"), joint.axis = (st_Vec3){0, 1, 0}, joint.name = "axle";
    joint.motor.type = ST_MOTOR_SPEED, joint.motor.max_force = 1e3;
    check_ok(st_scene_add_joint(run.scene, &joint, NULL, &run.err), run.err);
    start(&run);
    check_ok(st_system_set_motor(run.sys, st_scene_find_joint(run.scene, "axle"), 7, &run.err), run.err);
    step(&run, 10);
    const st_BodyId first = st_scene_find_body(run.scene, "first");
    check_ok(st_scene_remove_bodies(run.scene, &first, 1, &run.err), run.err);
    change(&run);
    step(&run, 10);
    check_close(joint_of(&run, "axle").speed, 7, 1e-9);
    end(&run);
}

/* ---- bodies come and go ----------------------------------------------------------------------- */

/* The middle of a tower is removed: the boxes above fall by its height and come to rest on those below. */
static void a_tower_loses_its_middle(void **state)
{
    /* allowed deviation of a resting box from its position: rounding; its fall in the step in which it landed, 2 m/s
     * h, if nothing corrects that; a spring of 1e6 N/m under 2 kg, four feet each */
    static const struct {
        const char *name;
        double off;
    } presets[] = {{"default", 1e-6},
                   {"negrut-2017", 1e-6},
                   {"anitescu-potra-1997", 2e-3},
                   {"accurate", 1e-6},
                   {"preclik-2011", 5e-5}};
    (void)state;
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++) {
        Run run;
        create(&run);
        check_ok(st_preset_apply(&run.def, presets[p].name, &run.err), run.err);
        add_shape(&run, ST_GROUND, st_plane_def());
        for (int k = 0; k < 3; k++) {
            char name[24];
            snprintf(name, sizeof name, "box%d", k);
            add_shape(&run, add_body(&run, name, (st_Vec3){0, 0, 0.1 + 0.2 * k}, (st_Vec3){0, 0, 0}),
                      st_box_def(0.1, 0.1, 0.1));
        }
        start(&run);
        step(&run, 100);
        const st_BodyId middle = st_scene_find_body(run.scene, "box1");
        check_ok(st_scene_remove_bodies(run.scene, &middle, 1, &run.err), run.err);
        change(&run);
        step(&run, 100);
        /* after 0.1 s of free fall, to the order of h: g T^2/2 = 0.049 m of 0.2 */
        check_close(pose_of(&run, "box2").p.z, 0.5 - g * 0.01 / 2, g * 0.1 * 1e-3);
        step(&run, 400);
        check_close(pose_of(&run, "box2").p.z, 0.3, presets[p].off);
        check_close(pose_of(&run, "box0").p.z, 0.1, presets[p].off);
        end(&run);
    }
}

/* Each has a place of its own to come in. */
static void add_grain(Run *run, check_Random *random, int number)
{
    char name[24];
    snprintf(name, sizeof name, "grain%d", number);
    const st_Vec3 at = {number % 5 * 0.13 - 0.26, number / 5 % 5 * 0.13 - 0.26, 0.8};
    st_BodyId id = add_body(run, name, at, (st_Vec3){check_random(random, -0.2, 0.2), 0, -1});
    add_shape(run, id, number % 3 == 0 ? st_box_def(0.05, 0.04, 0.03) : st_sphere_def(0.05));
}

/* Grains come and go at random: no step fails, nothing sinks, under every kind of scheme.
 */
static void grains_come_and_go(void **state)
{
    static const char *const presets[] = {"default", "accurate", "anitescu-potra-2002", "negrut-2017", "potra-2006"};
    (void)state;
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++) {
        Run run;
        check_Random random = {77 + p};
        int next = 0;
        create(&run);
        check_ok(st_preset_apply(&run.def, presets[p], &run.err), run.err);
        run.def.h = 0.005;
        add_shape(&run, ST_GROUND, st_plane_def());
        for (; next < 4; next++)
            add_grain(&run, &random, next);
        start(&run);
        for (int round = 0; round < 12; round++) {
            for (int k = check_random_int(&random, 0, 2); k > 0; k--)
                add_grain(&run, &random, next++);
            const int n = st_scene_body_count(run.scene);
            const st_BodyId gone[2] = {{check_random_int(&random, 1, n)}, {check_random_int(&random, 1, n)}};
            if (n > 4) check_ok(st_scene_remove_bodies(run.scene, gone, 2, &run.err), run.err);
            change(&run);
            st_StepInfo info = st_step_info();
            for (int k = 0; k < 8; k++)
                check_ok(st_system_step(run.sys, run.def.h, &info, &run.err), run.err);
            check_below(info.penetration, 5 * run.def.h); /* a step at 5 m/s, where nothing looks ahead */
            assert_int_equal(st_system_n_q(run.sys), 7 * st_scene_body_count(run.scene));
        }
        check_close(st_system_time(run.sys), 12 * 8 * 0.005, 0.2); /* schemes of order one end steps at collisions */
        end(&run);
    }
}

/* Sleepers wake: the floor under them may have been removed. */
/* A ball slides down a dome of radius R, without friction: the dome falls away under it by (v h)^2 / 2 R a step, which
 * the next step closes at a speed that its weight explains. That is no landing, not for an integrator of order two that
 * has just started anew either, as long as it is known that the contact carried.                  */
static void what_carries_does_not_land_anew(void **state)
{
    (void)state;
    const st_Integrator of_order_two[] = {ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (int k = 0; k < 2; k++) {
        Run run;
        create(&run);
        run.def.integrator = of_order_two[k];
        run.def.h = 1e-3;
        st_ShapeDef dome = st_sphere_def(1), ball = st_sphere_def(0.1);
        dome.mu = ball.mu = 0;
        add_shape(&run, ST_GROUND, dome);
        add_shape(&run, add_body(&run, "ball", (st_Vec3){0, 0, 1.1}, (st_Vec3){1, 0, 0}), ball);
        start(&run);
        step(&run, 50);
        assert_false(run.sys->work.stages.rough);
        assert_int_equal(run.sys->state.loaded.n, 1);
        change(&run);
        assert_int_equal(run.sys->state.loaded.n, 1);
        step(&run, 1);
        assert_false(run.sys->work.stages.rough);
        end(&run);
    }
}

static void sleepers_wake(void **state)
{
    Run run;
    (void)state;
    create(&run);
    run.def.sleep = true;
    st_BodyDef table = st_body_def();
    st_BodyId id;
    table.fixed = true, table.name = "table";
    check_ok(st_scene_add_body(run.scene, &table, &id, &run.err), run.err);
    add_shape(&run, id, st_box_def(1, 1, 0.1));
    add_shape(&run, add_body(&run, "box", (st_Vec3){0, 0, 0.2}, (st_Vec3){0, 0, 0}), st_box_def(0.1, 0.1, 0.1));
    start(&run);
    step(&run, 1500);
    assert_true(st_system_asleep(run.sys, st_scene_find_body(run.scene, "box")));
    check_ok(st_scene_remove_bodies(run.scene, &id, 1, &run.err), run.err);
    change(&run);
    step(&run, 100);
    check_close(pose_of(&run, "box").p.z, 0.2 - g * 1e-6 * 100 * 101 / 2, 1e-9);
    end(&run);
}

/* The forces under sleepers are carried over, too: the tower that wakes is held by them, and there is nothing to solve.
 */
static void sleepers_keep_their_forces(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    st_StepInfo info = st_step_info();
    Run run;
    (void)state;
    create(&run);
    run.def.sleep = true, run.def.tolerance = 1e-6;
    add_shape(&run, ST_GROUND, st_plane_def());
    for (int k = 0; k < 3; k++)
        add_shape(&run, add_body(&run, names[k], (st_Vec3){0, 0, 0.1 + 0.2 * k}, (st_Vec3){0, 0, 0}),
                  st_box_def(0.1, 0.1, 0.1));
    start(&run);
    step(&run, 1500);
    assert_true(st_system_asleep(run.sys, st_scene_find_body(run.scene, "b")));
    add_body(&run, "bystander", (st_Vec3){5, 0, 0}, (st_Vec3){0, 0, 0});
    change(&run);
    check_ok(st_system_step(run.sys, run.def.h, &info, &run.err), run.err);
    assert_int_equal(info.asleep, 0);
    assert_int_equal(info.contacts, 12);
    assert_int_equal(info.solve.iterations, 0);
    end(&run);
}

/* ---- refusals --------------------------------------------------------------------------------- */

static void refused(Run *run, const st_Scene *scene, const char *part)
{
    const uint64_t hash = st_system_hash(run->sys);
    assert_int_not_equal(st_system_change(run->sys, scene, &run->err), ST_OK);
    if (strstr(run->err.message, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", run->err.message, part);
    assert_int_equal(st_system_hash(run->sys), hash);
    assert_int_equal(st_system_changes(run->sys), 0);
    run->err.status = ST_OK;
}

static void what_cannot_be_changes_nothing(void **state)
{
    Run run, other;
    (void)state;
    create(&run), create(&other);
    add_shape(&run, ST_GROUND, st_plane_def());
    add_shape(&run, add_body(&run, "box", (st_Vec3){0, 0, 0.1}, (st_Vec3){1, 0, 0}), st_box_def(0.1, 0.1, 0.1));
    start(&run);
    step(&run, 10);
    refused(&run, other.scene, "none of them can move");
    refused(&run, NULL, "must be given");
    step(&run, 10);
    size_t size;
    unsigned char *bytes = save(run.sys, &size); /* joints may be elsewhere since: a state of before is refused */
    change(&run);
    assert_int_equal(st_system_restore(run.sys, bytes, size, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "changed 0 times during the run, that of this system 1 times"));
    run.err.status = ST_OK;
    free(bytes);
    end(&run), end(&other);
}

typedef struct Counter {
    st_Allocator base;
    int64_t calls, refuse_at, held;
} Counter;

static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    Counter *c = ctx;
    void *memory = ++c->calls == c->refuse_at ? NULL : c->base.alloc(c->base.ctx, size, align);
    c->held += memory != NULL;
    return memory;
}

static void counting_free(void *ctx, void *memory, size_t size, size_t align)
{
    Counter *c = ctx;
    c->held -= memory != NULL;
    c->base.free(c->base.ctx, memory, size, align);
}

/* Memory may run out at any call: the system is unchanged, and nothing is lost. */
static void no_memory_changes_nothing(void **state)
{
    Counter count = {.base = st_default_allocator()};
    st_Allocator allocator = {counting_alloc, counting_free, &count};
    Run run;
    (void)state;
    memset(&run, 0, sizeof run);
    run.def = st_system_def();
    run.def.allocator = allocator, run.def.sleep = true;
    check_ok(st_scene_create_with(&allocator, &run.scene, &run.err), run.err);
    add_shape(&run, ST_GROUND, st_plane_def());
    add_shape(&run, add_body(&run, "box", (st_Vec3){0, 0, 0.1}, (st_Vec3){1, 0, 0}), st_box_def(0.1, 0.1, 0.1));
    add_body(&run, "bob", (st_Vec3){3, 0, 1}, (st_Vec3){1, 0, 0});
    add_hinge(&run, "hinge", "bob", (st_Vec3){3, 0, 2}, INFINITY);
    start(&run);
    step(&run, 10);
    const st_JointId hinge = st_scene_find_joint(run.scene, "hinge");
    const int64_t held = count.held;
    int refusals = 0;
    for (;;) { /* take the hinge out of the scene, then out of the system */
        count.calls = 0, count.refuse_at = ++refusals;
        if (st_scene_remove_joints(run.scene, &hinge, 1, &run.err) == ST_OK) break;
        assert_int_equal(st_scene_joint_count(run.scene), 1);
        assert_int_equal(count.held, held);
    }
    assert_true(CHECK_ARENAS || refusals > 10);
    const uint64_t hash = st_system_hash(run.sys);
    const int64_t left = count.held;
    for (refusals = 1;; refusals++) {
        count.calls = 0, count.refuse_at = refusals;
        if (st_system_change(run.sys, run.scene, &run.err) == ST_OK) break;
        assert_int_equal(run.err.status, ST_ERR_MEMORY);
        assert_int_equal(st_system_hash(run.sys), hash);
        assert_int_equal(count.held, left);
    }
    assert_true(CHECK_ARENAS || refusals > 50);
    for (refusals = 1;; refusals++) {
        st_System *clone;
        count.calls = 0, count.refuse_at = refusals;
        if (st_system_clone(run.sys, &clone, &run.err) != ST_OK) continue;
        st_system_destroy(clone);
        break;
    }
    for (refusals = 1;; refusals++) {
        st_CompiledScene *compiled;
        count.calls = 0, count.refuse_at = refusals;
        if (st_scene_compile(run.scene, &compiled, &run.err) != ST_OK) continue;
        st_compiled_release(compiled);
        break;
    }
    assert_true(CHECK_ARENAS || refusals > 10);
    run.err.status = ST_OK;
    count.refuse_at = 0;
    step(&run, 10);
    end(&run);
    assert_int_equal(count.held, 0);
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static void what_hangs_on_it_goes_with_it(void **state)
{
    Run run;
    (void)state;
    create(&run);
    const char *names[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        add_shape(&run, add_body(&run, names[k], (st_Vec3){k, 0, 0}, (st_Vec3){0, 0, 0}), st_sphere_def(0.1));
        add_hinge(&run, names[k], names[k], (st_Vec3){k, 0, 0}, INFINITY);
        st_ForceDef force = st_force_def();
        force.body = (st_BodyId){k + 1}, force.name = names[k];
        check_ok(st_scene_add_force(run.scene, &force, NULL, &run.err), run.err);
    }
    st_JointDef gear = st_joint_def(ST_JOINT_GEAR);
    gear.joint_a = (st_JointId){2}, gear.joint_b = (st_JointId){3}, gear.ratio = 3, gear.name = "bc";
    check_ok(st_scene_add_joint(run.scene, &gear, NULL, &run.err), run.err);
    gear.joint_a = (st_JointId){1}, gear.name = "ac";
    check_ok(st_scene_add_joint(run.scene, &gear, NULL, &run.err), run.err);
    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    spring.a = (st_BodyId){1}, spring.b = (st_BodyId){3}, spring.point_b = (st_Vec3){2, 0, 0}, spring.stiffness = 1;
    check_ok(st_scene_add_spring(run.scene, &spring, NULL, &run.err), run.err);

    const st_BodyId wrong[2] = {{1}, {4}}, ground = ST_GROUND, a = {1};
    assert_int_equal(st_scene_remove_bodies(run.scene, wrong, 2, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "body number 4 cannot be removed, there are 3"));
    assert_int_equal(st_scene_remove_bodies(run.scene, &ground, 1, &run.err), ST_ERR_ARGUMENT);
    assert_int_equal(st_scene_body_count(run.scene), 3);
    run.err.status = ST_OK;
    check_ok(st_scene_remove_bodies(run.scene, &a, 1, &run.err), run.err);
    assert_int_equal(st_scene_body_count(run.scene), 2);
    assert_int_equal(st_scene_shape_count(run.scene), 2);
    assert_int_equal(st_scene_joint_count(run.scene), 3); /* of b, of c, and the gear between those */
    assert_int_equal(st_scene_spring_count(run.scene), 0);
    assert_int_equal(st_scene_force_count(run.scene), 2);
    assert_int_equal(st_scene_find_body(run.scene, "a").index1, 0);
    assert_int_equal(st_scene_find_body(run.scene, "c").index1, 2);
    check_ok(st_scene_joint(run.scene, st_scene_find_joint(run.scene, "bc"), &gear), run.err);
    assert_int_equal(gear.joint_a.index1, 1);
    assert_int_equal(gear.joint_b.index1, 2);
    const st_ShapeId shape = {1};
    const st_ForceId force = {2};
    check_ok(st_scene_remove_shapes(run.scene, &shape, 1, &run.err), run.err);
    check_ok(st_scene_remove_forces(run.scene, &force, 1, &run.err), run.err);
    assert_int_equal(st_scene_shape_count(run.scene), 1);
    assert_int_equal(st_scene_find_force(run.scene, "b").index1, 1);
    assert_int_equal(st_scene_find_force(run.scene, "c").index1, 0);
    end(&run);
}

/* Ids stay valid when others are removed, in the scene, in its copies and in the system; the id of a removed object
 * is refused everywhere, even if another object has its number. */
static void ids_of_what_is_gone_are_refused(void **state)
{
    Run run;
    (void)state;
    create(&run);
    st_BodyId id[4];
    st_ShapeId shape[3];
    st_JointId joint[3];
    st_ForceId force[3];
    const char *names[] = {"a", "b", "c"};
    for (int k = 0; k < 3; k++) {
        st_BodyDef body = st_body_def();
        const st_ShapeDef ball = st_sphere_def(0.1);
        st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
        st_ForceDef pull = st_force_def();
        body.name = hinge.name = pull.name = names[k];
        body.pose.p = (st_Vec3){k, 0, 0};
        check_ok(st_scene_add_body(run.scene, &body, &id[k], &run.err), run.err);
        check_ok(st_scene_add_shape(run.scene, id[k], &ball, &shape[k], &run.err), run.err);
        hinge.b = pull.body = id[k];
        hinge.point = (st_Vec3){k, 0, 1};
        hinge.axis = (st_Vec3){0, 1, 0};
        check_ok(st_scene_add_joint(run.scene, &hinge, &joint[k], &run.err), run.err);
        check_ok(st_scene_add_force(run.scene, &pull, &force[k], &run.err), run.err);
    }
    start(&run);
    step(&run, 5);
    check_ok(st_scene_remove_bodies(run.scene, &id[1], 1, &run.err), run.err);
    st_Scene *copy = NULL;
    check_ok(st_scene_copy(run.scene, &copy, &run.err), run.err);
    st_Scene *both[2] = {run.scene, copy};
    for (int k = 0; k < 2; k++) {
        st_BodyDef body;
        st_ShapeDef ball = st_sphere_def(0.1);
        st_JointDef hinge = st_joint_def(ST_JOINT_BALL);
        st_ForceDef pull = st_force_def();
        check_ok(st_scene_body(both[k], id[2], &body), run.err);
        assert_string_equal(body.name, "c");
        check_ok(st_scene_joint(both[k], joint[2], &hinge), run.err);
        assert_string_equal(hinge.name, "c");
        assert_int_equal(hinge.b.index1, 2); /* c is the second body now */
        check_ok(st_scene_force(both[k], force[2], &pull), run.err);
        assert_string_equal(pull.name, "c");
        assert_int_equal(st_scene_find_body(both[k], "c").generation, id[2].generation);
        /* a plain number means the object that has it now */
        check_ok(st_scene_body(both[k], (st_BodyId){2}, &body), run.err);
        assert_string_equal(body.name, "c");
        assert_int_equal(st_scene_body(both[k], id[1], &body), ST_ERR_ARGUMENT);
        assert_int_equal(st_scene_shape(both[k], shape[1], &ball, NULL), ST_ERR_ARGUMENT);
        assert_int_equal(st_scene_joint(both[k], joint[1], &hinge), ST_ERR_ARGUMENT);
        assert_int_equal(st_scene_force(both[k], force[1], &pull), ST_ERR_ARGUMENT);
        ball = st_sphere_def(0.1);
        assert_int_equal(st_scene_add_shape(both[k], id[1], &ball, NULL, &run.err), ST_ERR_ARGUMENT);
        assert_non_null(strstr(run.err.message, "a body that was removed"));
        assert_int_equal(st_scene_remove_bodies(both[k], &id[1], 1, &run.err), ST_ERR_ARGUMENT);
        assert_non_null(strstr(run.err.message, "was removed before"));
    }
    st_scene_destroy(copy);
    run.err.status = ST_OK;
    st_Pose was, now;
    check_ok(st_system_pose(run.sys, id[2], &was), run.err);
    check_ok(st_system_pose(run.sys, id[1], &now), run.err); /* the system still has it */
    st_BodyDef body = st_body_def();
    body.name = "d", body.mass = 1, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    check_ok(st_scene_add_body(run.scene, &body, &id[3], &run.err), run.err);
    change(&run);
    check_ok(st_system_pose(run.sys, id[2], &now), run.err);
    check_close(now.p.x, was.p.x, 0);
    check_ok(st_system_pose(run.sys, id[3], &now), run.err);
    check_close(now.p.x, 0, 0);
    assert_int_equal(st_system_pose(run.sys, id[1], &now), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_wake(run.sys, id[1], &run.err), ST_ERR_ARGUMENT);
    assert_false(st_system_present(run.sys, id[1]));
    assert_int_equal(st_system_push(run.sys, id[1], &(st_Vec3){1, 0, 0}, NULL, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "was removed"));
    st_JointReport report;
    check_ok(st_system_joint(run.sys, joint[2], ST_FRAME_WORLD, &report), run.err);
    assert_int_equal(st_system_joint(run.sys, joint[1], ST_FRAME_WORLD, &report), ST_ERR_ARGUMENT);
    run.err.status = ST_OK;
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_scene_changes_no_bit),
        cmocka_unit_test(a_clone_goes_on_alike),
        cmocka_unit_test(compiled_scenes_are_shared),
        cmocka_unit_test(others_do_not_notice),
        cmocka_unit_test(a_pendulum_is_let_go),
        cmocka_unit_test(flying_bodies_are_joined),
        cmocka_unit_test(turns_are_counted_on),
        cmocka_unit_test(gears_hold_what_they_held),
        cmocka_unit_test(springs_stay_attached),
        cmocka_unit_test(controllers_are_still_heard),
        cmocka_unit_test(a_tower_loses_its_middle),
        cmocka_unit_test(grains_come_and_go),
        cmocka_unit_test(what_carries_does_not_land_anew),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(sleepers_keep_their_forces),
        cmocka_unit_test(what_cannot_be_changes_nothing),
        cmocka_unit_test(no_memory_changes_nothing),
        cmocka_unit_test(what_hangs_on_it_goes_with_it),
        cmocka_unit_test(ids_of_what_is_gone_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
