/* The same bits with any number of threads where there are many islands: stacks, mechanisms, a pile among crumbs;
 * and refused memory in one of them. */
#include "counter.h"
#include "threads.h"

#include <stdatomic.h>

/* The solver as it comes, which goes through all its kinds, to a tolerance that it reaches. */
static void begin_exact(World *w)
{
    begin(w);
    w->def.solver = "auto";
    w->def.tolerance = 1e-9;
    w->def.max_iterations = 10000;
}

/* n boxes on one another, not quite, at a place of their own; the lowest one slides. */
static void add_stack(World *w, check_Random *random, int place, int n)
{
    const int column = place % 10, row = place / 10;
    for (int k = 0; k < n; k++) {
        const double x = 0.5 * column + check_random(random, -0.01, 0.01);
        add(w, st_box_def(0.1, 0.1, 0.05), (st_Vec3){x, 0.5 * row, 0.0499 + 0.0998 * k});
    }
}

/* A chain of n boxes that lies on the floor, with a motor of limited torque in every hinge. */
static void add_chain(World *w, double x, double y, double z, int n, double speed)
{
    st_BodyId last = {0};
    for (int k = 0; k < n; k++) {
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.a = last, joint.b = last = add(w, st_box_def(0.1, 0.05, 0.05), (st_Vec3){x + 0.25 * k, y, z});
        joint.axis = (st_Vec3){0, 1, 0};
        joint.point = (st_Vec3){x + 0.25 * k - 0.125, y, z};
        joint.motor.type = ST_MOTOR_SPEED, joint.motor.target = speed, joint.motor.max_force = 20;
        if (k > 0) check_ok(st_scene_add_joint(w->scene, &joint, NULL, &w->err), w->err);
    }
}

static void add_stacks(World *w)
{
    check_Random random = {3};
    for (int k = 0; k < 40; k++)
        add_stack(w, &random, k, 1 + k % 6);
}

static void build_stacks(World *w)
{
    begin_exact(w);
    add_stacks(w);
}

/* Too few sweeps for most of them. */
static void build_rough_stacks(World *w)
{
    begin(w);
    w->def.tolerance = 1e-12;
    w->def.max_iterations = 3;
    add_stacks(w);
}

/* More mechanisms than any table of them might have room for, of all sizes, and some in the air. */
static void build_chains(World *w)
{
    begin_exact(w);
    for (int k = 0; k < 80; k++) {
        const int column = k % 8, row = k / 8;
        add_chain(w, 2.0 * column, 0.5 * row, k % 10 == 9 ? 1.0 : 0.0499, 2 + k % 4, 0.3 + 0.1 * (k % 5));
    }
}

/* One island that is most of all, and crumbs: spheres alone, a stack, chains. */
static void build_pile_with_crumbs(World *w)
{
    check_Random random = {5};
    begin(w);
    add_pile(w, 8);
    for (int k = 0; k < 30; k++)
        add(w, st_sphere_def(0.05), (st_Vec3){0.3 * k, -1.0, 0.0499});
    for (int k = 0; k < 5; k++)
        add_stack(w, &random, 50 + k, 4);
    for (int k = 0; k < 5; k++)
        add_chain(w, 3.0 + 1.5 * k, -2.0, 0.0499, 3, 0.5);
}

static void stacks_have_the_same_bits(void **state)
{
    (void)state;
    Trace one = check_same(build_stacks, ST_INTEGRATOR_IMPLICIT, 8, 500);
    assert_true(one.islands == 40);
    check_same(build_stacks, ST_INTEGRATOR_SDIRK2, 2, 500);
}

static void islands_that_do_not_converge_have_the_same_bits(void **state)
{
    (void)state;
    Trace one = check_same(build_rough_stacks, ST_INTEGRATOR_IMPLICIT, 8, 500);
    assert_true(one.islands == 40 && one.failures == 8);
}

static void mechanisms_have_the_same_bits(void **state)
{
    (void)state;
    Trace one = check_same(build_chains, ST_INTEGRATOR_IMPLICIT, 6, 300);
    assert_true(one.islands >= 64);
}

static void a_pile_with_crumbs_has_the_same_bits(void **state)
{
    (void)state;
    Trace one = check_same(build_pile_with_crumbs, ST_INTEGRATOR_IMPLICIT, 4, 1024);
    assert_true(one.islands >= 40);
}

/* ---- memory ----------------------------------------------------------------------------------- */

/* Three steps from the start; memory request refuse_at is refused; a step that fails for it leaves the state
 * unchanged, and is repeated. Returns whether one failed. */
static bool make_steps(World *w, Counter *count, long long refuse_at)
{
    st_System *system;
    bool failed = false;
    count->refuse_at = 0;
    check_ok(st_system_create(w->scene, &w->def, &system, &w->err), w->err);
    atomic_store(&count->calls, 0);
    count->refuse_at = refuse_at;
    for (int k = 0; k < 3; k++) {
        const uint64_t before = st_system_hash(system);
        const st_Status status = st_system_step(system, w->def.h, NULL, &w->err);
        if (status == ST_OK) continue;
        assert_false(failed); /* one call is refused, no more */
        failed = true;
        assert_int_equal(status, ST_ERR_MEMORY);
        assert_non_null(strstr(w->err.message, "out of memory"));
        assert_true(st_system_hash(system) == before);
        check_ok(st_system_step(system, w->def.h, NULL, &w->err), w->err);
    }
    st_system_destroy(system);
    return failed;
}

static void build_few(World *w)
{
    check_Random random = {9};
    begin_exact(w);
    for (int k = 0; k < 6; k++)
        add_stack(w, &random, k, 2 + k % 3);
    for (int k = 0; k < 4; k++)
        add_chain(w, 2.0 * k, -1.0, 0.0499, 2 + k, 0.4);
}

/* Any request may be refused, in any island and any thread. (For the following bits see test_islands.) */
static void refused_memory_leaves_the_state(void **state)
{
    (void)state;
    Counter count = {.base = st_default_allocator()};
    const st_Allocator allocator = {counting_alloc, counting_free, &count};
    World w;
    int failures = 0;
    build_few(&w);
    w.def.allocator = allocator;
    assert_false(make_steps(&w, &count, 0));
    const long long calls = atomic_load(&count.calls);
    assert_true(CHECK_ARENAS || calls > 200);
    w.def.threads = 3;
    for (long long k = 1; k <= calls; k += 1 + calls / 100) {
        failures += make_steps(&w, &count, k);
        assert_true(atomic_load(&count.held) == 0);
    }
    assert_true(CHECK_ARENAS || failures > 50); /* other requests were for optional memory */
    st_scene_destroy(w.scene);
}

/* One thread takes no memory in steady steps; several none once each has met the largest island. */
static void steady_steps_take_no_memory(void **state)
{
    (void)state;
    Counter count = {.base = st_default_allocator()};
    const st_Allocator allocator = {counting_alloc, counting_free, &count};
    st_System *system;
    World w;
    build_few(&w);
    w.def.allocator = allocator;
    check_ok(st_system_create(w.scene, &w.def, &system, &w.err), w.err);
    for (int k = 0; k < 60; k++) {
        if (k == 40) atomic_store(&count.calls, 0);
        check_ok(st_system_step(system, w.def.h, NULL, &w.err), w.err);
    }
    assert_true(atomic_load(&count.calls) == 0);
    st_system_destroy(system);
    st_scene_destroy(w.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stacks_have_the_same_bits),
                                       cmocka_unit_test(islands_that_do_not_converge_have_the_same_bits),
                                       cmocka_unit_test(mechanisms_have_the_same_bits),
                                       cmocka_unit_test(a_pile_with_crumbs_has_the_same_bits),
                                       cmocka_unit_test(refused_memory_leaves_the_state),
                                       cmocka_unit_test(steady_steps_take_no_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
