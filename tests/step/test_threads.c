/* The same bits with any number of threads: piles of spheres, a wall of boxes, mechanisms among them. */
#include "threads.h"

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

/* A pile on two plates: one has a prescribed motion, and a motor of limited force moves the other. */
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
