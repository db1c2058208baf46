/* A step that is cancelled, wherever it happens to be, leaves no trace: the next one has the bits of a run in which
 * nothing was cancelled. Budgets of work repeat, and hold for any number of threads.
 */
#include "check.h"

#include <stiction/stiction.h>
#include <string.h>

typedef struct World {
    st_Scene *scene;
    st_SystemDef def;
    st_Error err;
} World;

static void begin(World *w)
{
    *w = (World){.def = st_system_def()};
    st_ShapeDef floor = st_plane_def();
    floor.mu = 0.5;
    check_ok(st_scene_create(&w->scene, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &floor, NULL, &w->err), w->err);
}

static void put(World *w, st_ShapeDef shape, st_Vec3 at)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.pose.p = at;
    shape.mu = 0.5;
    if (shape.type == ST_SHAPE_SPHERE) shape.young = 1e6;
    check_ok(st_scene_add_body(w->scene, &def, &id, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
}

/* Boxes in one place, as a careless user makes them; and a wall of them, hit by a sphere. */
static void build_coincident(World *w)
{
    begin(w);
    for (int k = 0; k < 6; k++)
        put(w, st_box_def(0.1, 0.1, 0.1), (st_Vec3){0.001 * k, 0, 0.09});
}

static void build_wall(World *w)
{
    begin(w);
    for (int row = 0; row < 4; row++)
        for (int k = 0; k < 5; k++)
            put(w, st_box_def(0.1, 0.06, 0.05), (st_Vec3){0.202 * k + 0.101 * (row % 2), 0, 0.05 + 0.1 * row});
    put(w, st_sphere_def(0.1), (st_Vec3){0.5, -0.161, 0.2});
}

/* Shapes that compliant contact supports. */
static void build_spheres(World *w)
{
    begin(w);
    for (int k = 0; k < 8; k++)
        put(w, st_sphere_def(0.1), (st_Vec3){0.19 * (k % 4), 0.19 * (double)(k / 4), 0.099});
}

typedef void Build(World *w);

static st_System *create(Build *build, const char *preset, int threads)
{
    World w;
    st_System *system = NULL;
    build(&w);
    check_ok(st_preset_apply(&w.def, preset, &w.err), w.err);
    w.def.threads = threads;
    w.def.h = 0.005;
    check_ok(st_system_create(w.scene, &w.def, &system, &w.err), w.err);
    st_scene_destroy(w.scene);
    return system;
}

/* Returns true at the n-th call. */
typedef struct Yes {
    long long asked, at;
} Yes;

static bool yes_at(void *ctx)
{
    Yes *yes = ctx;
    return ++yes->asked == yes->at;
}

/* Step `steps` is cancelled at the first question, the second, ...; `stride` leaves some out. Returns how many. */
static long long cancel_everywhere(Build *build, const char *preset, int steps, int stride)
{
    st_Error err = {0};
    st_System *system = create(build, preset, 1), *plain = create(build, preset, 1);
    const double h = 0.005;
    long long cancelled = 0;
    for (int k = 0; k < steps; k++) {
        check_ok(st_system_step(system, h, NULL, &err), err);
        check_ok(st_system_step(plain, h, NULL, &err), err);
    }
    check_ok(st_system_step(plain, h, NULL, &err), err);
    const uint64_t before = st_system_hash(system);
    for (Yes yes = {.at = 1};; yes.at += stride) {
        yes.asked = 0;
        st_system_cancel_when(system, yes_at, &yes);
        const st_Status status = st_system_step(system, h, NULL, &err);
        if (status == ST_OK) break;
        assert_int_equal(status, ST_ERR_CANCELLED);
        assert_non_null(strstr(err.message, "cancelled"));
        assert_true(st_system_hash(system) == before);
        cancelled++;
    }
    assert_true(st_system_hash(system) == st_system_hash(plain));
    st_system_cancel_when(system, NULL, NULL);
    st_system_destroy(system);
    st_system_destroy(plain);
    return cancelled;
}

static void a_step_cancelled_anywhere_leaves_no_trace(void **state)
{
    (void)state;
    for (int k = 0; k < st_preset_count(); k++) {
        const bool compliant = strcmp(st_preset_name(k), "song-2004") == 0;
        assert_true(cancel_everywhere(compliant ? build_spheres : build_wall, st_preset_name(k), 2, 13) > 0);
    }
    assert_true(cancel_everywhere(build_coincident, "default", 1, 29) > 0);
}

static void a_request_before_a_step_is_for_it_and_for_no_other(void **state)
{
    (void)state;
    st_Error err = {0};
    st_System *system = create(build_wall, "default", 1);
    st_system_cancel(NULL);
    st_system_cancel(system);
    double q[512], v[512];
    assert_true(st_system_n_q(system) <= 512);
    st_system_state(system, q, v);
    check_ok(st_system_set_state(system, 0.5, q, v, &err), err); /* no step: it does not take the request */
    assert_int_equal(st_system_step(system, 0.005, NULL, &err), ST_ERR_CANCELLED);
    assert_non_null(strstr(err.message, "t = 0.5 s"));
    check_ok(st_system_step(system, 0.005, NULL, &err), err);
    st_system_destroy(system);
}

static void a_step_that_takes_too_long_says_that_it_does_not_repeat(void **state)
{
    (void)state;
    World w;
    st_System *system = NULL;
    build_coincident(&w);
    w.def.step_seconds = 1e-9;
    check_ok(st_system_create(w.scene, &w.def, &system, &w.err), w.err);
    const uint64_t before = st_system_hash(system);
    assert_int_equal(st_system_step(system, 0.005, NULL, &w.err), ST_ERR_CANCELLED);
    assert_non_null(strstr(w.err.message, "step_seconds = 1e-09"));
    assert_true(st_system_hash(system) == before);
    st_system_destroy(system);
    st_scene_destroy(w.scene);
}

/* One iteration is begun below the limit and may end above it: a newton step of 6 boxes takes less than 200 visits. */
static void work_stays_within_its_limit_and_repeats(void **state)
{
    (void)state;
    uint64_t hash[2] = {0};
    for (int run = 0; run < 2; run++) {
        World w;
        st_System *system = NULL;
        build_coincident(&w);
        w.def.step_work_limit = 50;
        w.def.threads = run + 1;
        check_ok(st_system_create(w.scene, &w.def, &system, &w.err), w.err);
        for (int k = 0; k < 5; k++) {
            st_StepInfo info = st_step_info();
            check_ok(st_system_step(system, 0.005, &info, &w.err), w.err);
            assert_true(info.solve.work > 0 && info.solve.work < 250);
        }
        hash[run] = st_system_hash(system);
        st_system_destroy(system);
        st_scene_destroy(w.scene);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_cancelled_anywhere_leaves_no_trace),
        cmocka_unit_test(a_request_before_a_step_is_for_it_and_for_no_other),
        cmocka_unit_test(a_step_that_takes_too_long_says_that_it_does_not_repeat),
        cmocka_unit_test(work_stays_within_its_limit_and_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
