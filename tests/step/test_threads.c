/* The same bits with any number of threads: piles of spheres, a wall of boxes, mechanisms among them. */
#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct World {
    st_Scene *scene;
    st_SystemDef def;
    st_Error err;
} World;

static void begin_empty(World *w)
{
    *w = (World){.def = st_system_def()};
    w->def.h = 1.0 / 240;
    w->def.solver = "nsgs";
    w->def.tolerance = 1e-3;
    w->def.max_iterations = 20;
    check_ok(st_scene_create(&w->scene, &w->err), w->err);
}

static void begin(World *w)
{
    begin_empty(w);
    st_ShapeDef floor = st_plane_def();
    floor.mu = 0.5;
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &floor, NULL, &w->err), w->err);
}

static st_BodyId add(World *w, st_ShapeDef shape, st_Vec3 at)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.pose.p = at;
    shape.mu = 0.5;
    check_ok(st_scene_add_body(w->scene, &def, &id, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
    return id;
}

/* Spheres that touch one another, not quite in line: nine by nine, in layers. */
static void add_pile(World *w, int layers)
{
    check_Random random = {7};
    for (int k = 0; k < 81 * layers; k++) {
        const int layer = k / 81;
        double x = 0.2 * (k % 9) + check_random(&random, -0.005, 0.005), z = 0.1 + 0.2 * layer;
        double y = 0.2 * (k / 9 % 9) + check_random(&random, -0.005, 0.005);
        add(w, st_sphere_def(0.1), (st_Vec3){x, y, z + check_random(&random, 0, 0.004)});
    }
}

static void build_pile(World *w)
{
    begin(w);
    add_pile(w, 8);
}

/* Enough bodies and contacts that whatever may be shared out is. */
static void build_large_pile(World *w)
{
    begin(w);
    add_pile(w, 30);
}

static void build_wall(World *w)
{
    begin(w);
    w->def.slop = 1e-5;
    for (int row = 0; row < 12; row++)
        for (int k = 0; k < 20; k++)
            add(w, st_box_def(0.1, 0.06, 0.05), (st_Vec3){0.202 * k + 0.101 * (row % 2), 0, 0.05 + 0.1 * row});
    add(w, st_sphere_def(0.2), (st_Vec3){2, -0.27, 0.6});
}

/* Chains of hinged boxes that lie on a pile, and motors in them. */
static void build_mechanisms(World *w)
{
    begin(w);
    add_pile(w, 5);
    for (int chain = 0; chain < 4; chain++) {
        st_BodyId last = {0};
        for (int k = 0; k < 4; k++) {
            st_BodyId link = add(w, st_box_def(0.15, 0.08, 0.05), (st_Vec3){0.2 + 0.4 * k, 0.2 + 0.4 * chain, 1.06});
            st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
            joint.a = last, joint.b = link, joint.axis = (st_Vec3){0, 1, 0};
            joint.point = (st_Vec3){0.4 * k, 0.2 + 0.4 * chain, 1.06};
            joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 1, joint.motor.max_force = 0.5;
            if (k > 0) check_ok(st_scene_add_joint(w->scene, &joint, NULL, &w->err), w->err);
            last = link;
        }
    }
}

/* A pile on two plates, one that goes as it is told and one that a motor of limited force moves. */
static void build_plates(World *w)
{
    begin_empty(w);
    for (int k = 0; k < 2; k++) {
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = add(w, st_box_def(1.1, 0.55, 0.05), (st_Vec3){0.8, 0.25 + 1.105 * k, -0.05});
        joint.axis = (st_Vec3){1, 0, 0};
        joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = 0.2;
        if (k == 1) joint.motor.max_force = 300;
        check_ok(st_scene_add_joint(w->scene, &joint, NULL, &w->err), w->err);
    }
    add_pile(w, 8);
}

/* What a step says beside the state: all of it is made of sums and largest values that a team finds. */
enum { FIGURES = 6 };

typedef struct Trace {
    uint64_t hash[40];
    double figure[40][FIGURES];
    int contacts;
} Trace;

static void run(World *w, int threads, int n, Trace *out)
{
    st_System *system;
    st_StepInfo info = st_step_info();
    w->def.threads = threads;
    check_ok(st_system_create(w->scene, &w->def, &system, &w->err), w->err);
    for (int k = 0; k < n; k++) {
        check_ok(st_system_step(system, w->def.h, &info, &w->err), w->err);
        out->hash[k] = st_system_hash(system);
        const double figure[FIGURES] = {info.solve.residual.natural,
                                        info.penetration,
                                        info.kinetic,
                                        info.potential,
                                        info.friction,
                                        info.overlapping};
        memcpy(out->figure[k], figure, sizeof figure);
        out->contacts = info.contacts > out->contacts ? info.contacts : out->contacts;
    }
    st_system_destroy(system);
}

static void check_same(void (*build)(World *), st_Integrator integrator, int n, int least_contacts)
{
    static const int counts[] = {2, 3, 4};
    World w;
    Trace one = {.contacts = 0};
    build(&w);
    w.def.integrator = integrator;
    run(&w, 1, n, &one);
    assert_true(one.contacts >= least_contacts); /* enough that a team is called for */
    for (size_t t = 0; t < sizeof counts / sizeof counts[0]; t++) {
        Trace many = {.contacts = 0};
        run(&w, counts[t], n, &many);
        for (int k = 0; k < n; k++) {
            assert_true(many.hash[k] == one.hash[k]);
            assert_memory_equal(many.figure[k], one.figure[k], sizeof one.figure[k]);
        }
    }
    st_scene_destroy(w.scene);
}

static void a_pile_has_the_same_bits(void **state)
{
    (void)state;
    check_same(build_pile, ST_INTEGRATOR_IMPLICIT, 8, 1024);
    check_same(build_pile, ST_INTEGRATOR_SDIRK2, 2, 1024);
}

static void a_large_pile_has_the_same_bits(void **state)
{
    (void)state;
    check_same(build_large_pile, ST_INTEGRATOR_IMPLICIT, 3, 4096);
}

static void a_wall_has_the_same_bits(void **state)
{
    (void)state;
    check_same(build_wall, ST_INTEGRATOR_IMPLICIT, 6, 1024);
}

static void mechanisms_have_the_same_bits(void **state)
{
    (void)state;
    check_same(build_mechanisms, ST_INTEGRATOR_IMPLICIT, 5, 512);
    check_same(build_plates, ST_INTEGRATOR_IMPLICIT, 5, 1024);
}

static void threads_are_checked(void **state)
{
    (void)state;
    World w;
    st_System *system;
    begin(&w);
    add(&w, st_sphere_def(0.1), (st_Vec3){0, 0, 0.1});
    w.def.threads = 0;
    assert_int_equal(st_system_create(w.scene, &w.def, &system, &w.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(w.err.message, "threads"));
    st_SolverDef def = st_solver_def();
    st_Solver *solver;
    def.threads = 1000;
    assert_int_equal(st_solver_create(&def, &solver, &w.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(w.err.message, "threads"));
    st_scene_destroy(w.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pile_has_the_same_bits), cmocka_unit_test(a_large_pile_has_the_same_bits),
        cmocka_unit_test(a_wall_has_the_same_bits), cmocka_unit_test(mechanisms_have_the_same_bits),
        cmocka_unit_test(threads_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
