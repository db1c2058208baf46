/* Batches: the same bits as systems that step alone, worlds that fail, resets, parameters, and refusals. */
#include "check.h"
#include "counter.h"

#include <stiction/io.h>
#include <string.h>

enum { N = 7 };

/* One quadruped that stands on its feet by servos, and a spare spring and force to vary and set. */
static const char dog[] =
    "{\"simulation\": {\"h\": 0.002}, \"materials\": [{\"name\": \"rubber\", \"friction\": 0.9}],"
    "\"ground\": [{\"name\": \"floor\", \"type\": \"plane\", \"material\": \"rubber\"}],"
    "\"robots\": [{\"file\": \"examples/robots/dog.urdf\", \"position\": [0, 0, 0.3], \"material\": \"rubber\","
    "\"positions\": {\"front_left_thigh\": 0.8, \"front_right_thigh\": 0.8, \"rear_left_thigh\": 0.8,"
    "\"rear_right_thigh\": 0.8, \"front_left_knee\": -1.6, \"front_right_knee\": -1.6, \"rear_left_knee\": -1.6,"
    "\"rear_right_knee\": -1.6},"
    "\"motor\": {\"type\": \"position\", \"target\": 0, \"stiffness\": 120, \"damping\": 3}}]}";

/* A box that slides on a floor, pulled by a spring, pushed by a force. */
static const char box[] =
    "{\"simulation\": {\"h\": 0.002}, \"ground\": [{\"name\": \"floor\", \"type\": \"plane\", \"friction\": 0.5}],"
    "\"bodies\": [{\"name\": \"box\", \"mass\": 2, \"inertia\": 0.01, \"position\": [0, 0, 0.1], \"velocity\": [2, 0, "
    "0],"
    "\"shapes\": [{\"name\": \"cube\", \"type\": \"box\", \"size\": [0.2, 0.2, 0.2], \"friction\": 0.5}]}],"
    "\"springs\": [{\"name\": \"spring\", \"type\": \"linear\", \"a\": \"ground\", \"b\": \"box\","
    "\"point_a\": [1, 0, 0.1], \"point_b\": [0, 0, 0.1], \"stiffness\": 5, \"damping\": 1}],"
    "\"forces\": [{\"name\": \"push\", \"body\": \"box\", \"force\": [0, 0, 0]}]}";

static void read_scene(const char *text, const char *const *sets, int n_sets, st_Scene **scene, st_SystemDef *def)
{
    st_Error err = {0};
    check_ok(st_scene_parse(text, strlen(text), "test", sets, n_sets, scene, def, &err), err);
}

static st_Batch *make(const char *text, const st_BatchDef *def)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef system_def;
    st_Batch *batch = NULL;
    read_scene(text, NULL, 0, &scene, &system_def);
    check_ok(st_batch_create(scene, &system_def, def, &batch, &err), err);
    st_scene_destroy(scene);
    return batch;
}

static st_System *make_alone(const char *text, const char *const *sets, int n_sets)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_System *system = NULL;
    read_scene(text, sets, n_sets, &scene, &def);
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_scene_destroy(scene);
    return system;
}

static void step_alone(st_System *system, int steps)
{
    st_Error err = {0};
    for (int k = 0; k < steps; k++)
        check_ok(st_system_step(system, 0.002, NULL, &err), err);
}

static st_BatchDef def_of(int worlds, int threads)
{
    st_BatchDef def = st_batch_def();
    def.worlds = worlds, def.threads = threads;
    return def;
}

static double *row(st_Batch *b, st_BatchArray which, int world)
{
    return st_batch_array(b, which) + (size_t)world * (size_t)st_batch_width(b, which);
}

static void check_same(const st_Batch *b, int world, const st_System *alone)
{
    assert_true(st_system_hash(st_batch_system(b, world)) == st_system_hash(alone));
}

/* Worlds with states and controls of their own, against systems of their own, for several numbers of threads. */
static void worlds_have_the_bits_of_systems_alone(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        st_Error err = {0};
        const st_BatchDef def = def_of(N, threads);
        st_Batch *b = make(dog, &def);
        const int n_q = st_batch_width(b, ST_BATCH_Q), n_v = st_batch_width(b, ST_BATCH_V);
        assert_int_equal(st_batch_width(b, ST_BATCH_CONTROLS), 12);
        for (int k = 0; k < N; k++) {
            row(b, ST_BATCH_Q, k)[2] += 0.01 * k; /* dropped from several heights */
            row(b, ST_BATCH_V, k)[0] = 0.1 * k;
            for (int u = 0; u < 12; u++)
                row(b, ST_BATCH_CONTROLS, k)[u] = u == k ? 0.1 : u == k + 1 ? NAN : 0.0;
        }
        check_ok(st_batch_set_states(b, NULL, NULL, st_batch_array(b, ST_BATCH_Q), st_batch_array(b, ST_BATCH_V), &err),
                 err);
        check_ok(st_batch_step(b, 60, NULL, &err), err);
        assert_int_equal(st_batch_failures(b), 0);
        double *q = calloc((size_t)n_q, sizeof *q), *v = calloc((size_t)n_v, sizeof *v);
        for (int k = 0; k < N; k++) {
            st_System *alone = make_alone(dog, NULL, 0);
            st_system_state(alone, q, v);
            q[2] += 0.01 * k, v[0] = 0.1 * k;
            check_ok(st_system_set_state(alone, 0, q, v, &err), err);
            for (int u = 0, joint = 1; u < 12; joint++) {
                const double wanted = u == k ? 0.1 : u == k + 1 ? NAN : 0.0;
                if (st_system_set_motor(alone, (st_JointId){joint}, wanted, NULL) == ST_OK) u++;
            }
            step_alone(alone, 60);
            check_same(b, k, alone);
            st_system_state(alone, q, v);
            assert_memory_equal(row(b, ST_BATCH_Q, k), q, (size_t)n_q * sizeof *q);
            assert_memory_equal(row(b, ST_BATCH_V, k), v, (size_t)n_v * sizeof *v);
            assert_true(*row(b, ST_BATCH_TIME, k) == st_system_time(alone));
            st_system_destroy(alone);
        }
        free(q), free(v);
        st_batch_destroy(b);
    }
}

static void some_worlds_step_or_each_its_own_number(void **state)
{
    (void)state;
    st_Error err = {0};
    const st_BatchDef def = def_of(4, 2);
    st_Batch *b = make(box, &def);
    check_ok(st_batch_step(b, 3, (const unsigned char[]){1, 0, 1, 0}, &err), err);
    check_ok(st_batch_step_each(b, (const int[]){0, 5, 2, 0}, &err), err);
    const int steps[] = {3, 5, 5, 0};
    for (int k = 0; k < 4; k++) {
        st_System *alone = make_alone(box, NULL, 0);
        step_alone(alone, steps[k]);
        check_same(b, k, alone);
        check_close(*row(b, ST_BATCH_TIME, k), 0.002 * steps[k], 1e-15);
        st_system_destroy(alone);
    }
    st_batch_destroy(b);
}

/* A world put back to the start is a new system; one put to a keyframe continues from there. */
static void resets_lead_to_the_start_and_to_keyframes(void **state)
{
    (void)state;
    st_Error err = {0};
    const st_BatchDef def = def_of(3, 2);
    st_Batch *b = make(dog, &def);
    int kept = -1;
    check_ok(st_batch_step(b, 40, NULL, &err), err);
    check_ok(st_batch_add_keyframe(b, 7, row(b, ST_BATCH_Q, 1), row(b, ST_BATCH_V, 1), &kept, &err), err);
    assert_int_equal(kept, 1);
    check_ok(st_batch_step(b, 20, NULL, &err), err);
    check_ok(st_batch_reset(b, (const unsigned char[]){1, 1, 0}, (const int[]){0, kept, 99}, &err), err);
    assert_true(*row(b, ST_BATCH_TIME, 0) == 0 && *row(b, ST_BATCH_TIME, 1) == 7);
    check_ok(st_batch_step(b, 30, NULL, &err), err);
    st_System *fresh = make_alone(dog, NULL, 0), *long_one = make_alone(dog, NULL, 0), *from = make_alone(dog, NULL, 0);
    step_alone(fresh, 30), step_alone(long_one, 90);
    check_same(b, 0, fresh);
    check_same(b, 2, long_one);
    const int n_q = st_system_n_q(from), n_v = st_system_n_v(from);
    double *q = calloc((size_t)(n_q + n_v), sizeof *q);
    step_alone(from, 40);
    st_system_state(from, q, q + n_q);
    check_ok(st_system_set_state(from, 7, q, q + n_q, &err), err);
    step_alone(from, 30);
    check_same(b, 1, from);
    free(q);
    st_system_destroy(fresh), st_system_destroy(long_one), st_system_destroy(from);
    assert_int_equal(st_batch_reset(b, NULL, (const int[]){0, 2, 0}, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "world 1: keyframe 2"));
    st_batch_destroy(b);
}

/* A step of a world faster than light fails. It is reported by name and number; the others continue. */
static void a_world_that_diverges_leaves_the_others_alone(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        st_Error err = {0};
        st_BatchDef def = def_of(4, 2);
        def.reset_failed = again == 1;
        st_Batch *b = make(box, &def);
        row(b, ST_BATCH_V, 2)[0] = 1e9;
        check_ok(st_batch_set_states(b, (const unsigned char[]){0, 0, 1, 0}, NULL, st_batch_array(b, ST_BATCH_Q),
                                     st_batch_array(b, ST_BATCH_V), &err),
                 err);
        check_ok(st_batch_step(b, 10, NULL, &err), err);
        assert_int_equal(st_batch_failures(b), 1);
        assert_int_equal(st_batch_status(b)[2], ST_ERR_NUMERIC);
        assert_int_equal(st_batch_status(b)[1], ST_OK);
        assert_non_null(strstr(st_batch_message(b, 2), "box"));
        assert_string_equal(st_batch_message(b, 1), "");
        st_System *alone = make_alone(box, NULL, 0);
        if (def.reset_failed) {
            check_same(b, 2, alone);
            check_ok(st_batch_step(b, 10, NULL, &err), err);
            assert_int_equal(st_batch_failures(b), 0);
            step_alone(alone, 10);
            check_same(b, 2, alone);
            step_alone(alone, 10);
        } else {
            assert_true(row(b, ST_BATCH_V, 2)[0] == 1e9); /* as before the step */
            check_ok(st_batch_step(b, 10, NULL, &err), err);
            assert_int_equal(st_batch_status(b)[2], ST_ERR_NUMERIC); /* rests */
            check_ok(st_batch_reset(b, (const unsigned char[]){0, 0, 1, 0}, NULL, &err), err);
            assert_int_equal(st_batch_status(b)[2], ST_OK);
            check_ok(st_batch_step_each(b, (const int[]){0, 0, 20, 0}, &err), err);
            step_alone(alone, 20);
            check_same(b, 2, alone);
        }
        for (int k = 0; k < 4; k++)
            if (k != 2) check_same(b, k, alone);
        st_system_destroy(alone);
        st_batch_destroy(b);
    }
}

/* A world with parameters is the system of a scene file with these values. */
static void parameters_are_those_of_a_scene_with_these_values(void **state)
{
    (void)state;
    const char *const paths[] = {"bodies/box/mass", "ground/floor/friction", "bodies/*/shapes/c*/friction",
                                 "springs/spring/stiffness"};
    const double values[3][4] = {{2, 0.5, 0.5, 5}, {3, 0.1, 0.2, 50}, {0.5, 0, 0.3, 0}};
    st_Error err = {0};
    st_BatchDef def = def_of(3, 2);
    def.parameters = paths, def.n_parameters = 4;
    st_Batch *b = make(box, &def);
    assert_string_equal(st_batch_parameter_name(b, 2), paths[2]);
    assert_null(st_batch_parameter_name(b, 4));
    for (int k = 0; k < 3; k++) {
        assert_memory_equal(row(b, ST_BATCH_PARAMETERS, k), values[0], sizeof values[0]);
        memcpy(row(b, ST_BATCH_PARAMETERS, k), values[k], sizeof values[k]);
    }
    check_ok(st_batch_apply_parameters(b, (const unsigned char[]){0, 1, 1}, &err), err);
    check_ok(st_batch_step(b, 50, NULL, &err), err);
    for (int again = 0; again < 2; again++) { /* after a reset they are still there */
        for (int k = 0; k < 3; k++) {
            char text[5][80];
            const char *sets[5];
            snprintf(text[0], sizeof text[0], "bodies/box/mass=%g", values[k][0]);
            snprintf(text[1], sizeof text[1], "ground/floor/friction=%g", values[k][1]);
            snprintf(text[2], sizeof text[2], "bodies/box/shapes/cube/friction=%g", values[k][2]);
            snprintf(text[3], sizeof text[3], "springs/spring/stiffness=%g", values[k][3]);
            snprintf(text[4], sizeof text[4], "bodies/box/inertia=%.17g", 0.01 * (values[k][0] / 2));
            for (int i = 0; i < 5; i++)
                sets[i] = text[i];
            st_System *alone = make_alone(box, sets, 5);
            step_alone(alone, 50);
            check_same(b, k, alone);
            st_system_destroy(alone);
        }
        check_ok(st_batch_reset(b, NULL, NULL, &err), err);
        check_ok(st_batch_step(b, 50, NULL, &err), err);
    }
    /* One bad value: no world changes. */
    const uint64_t before[2] = {st_system_hash(st_batch_system(b, 0)), st_system_hash(st_batch_system(b, 1))};
    row(b, ST_BATCH_PARAMETERS, 1)[0] = -1;
    assert_int_equal(st_batch_apply_parameters(b, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "world 1: body \"box\": mass is -1, must be from"));
    for (int k = 0; k < 2; k++)
        assert_true(st_system_hash(st_batch_system(b, k)) == before[k]);
    st_batch_destroy(b);
}

/* One more quadruped costs its state, which is its saved bytes and its rows of the arrays, and less than 20 KB in
 * addition: the rows of its joints and contacts, not the work memory of a step. Also with friction in all joints. */
static void check_further_world(const char *const *sets, int n_sets)
{
    long long held[2], of_state = 0;
    for (int k = 0; k < 2; k++) {
        Counter counter = {.base = st_default_allocator()};
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef system_def;
        st_Batch *b = NULL;
        const st_BatchDef def = def_of(k == 0 ? 1 : 17, 1);
        read_scene(dog, sets, n_sets, &scene, &system_def);
        system_def.allocator = (st_Allocator){counting_alloc, counting_free, &counter};
        check_ok(st_batch_create(scene, &system_def, &def, &b, &err), err);
        check_ok(st_batch_step(b, 20, NULL, &err), err);
        held[k] = counter.bytes;
        of_state = (long long)st_system_save(st_batch_system(b, 0), NULL, 0);
        for (int which = 0; which < ST_N_BATCH_ARRAYS; which++)
            of_state += 8LL * st_batch_width(b, (st_BatchArray)which);
        st_batch_destroy(b);
        st_scene_destroy(scene);
        assert_true(counter.bytes == 0);
    }
    assert_true((held[1] - held[0]) / 16 - of_state < 20 * 1024);
}

static void a_further_world_is_small(void **state)
{
    (void)state;
    const char *const friction = "joints/*/friction=0.5";
    check_further_world(NULL, 0);
    check_further_world(&friction, 1);
}

/* Gains and friction of motors and materials in a robot: again as the scene itself. */
static void gains_of_motors_vary(void **state)
{
    (void)state;
    const char *const paths[] = {"joints/*/motor/stiffness", "joints/*/motor/damping", "materials/rubber/friction"};
    const char *const sets[] = {"robots/0/motor/stiffness=80", "robots/0/motor/damping=5",
                                "materials/rubber/friction=0.4"};
    const double values[] = {80, 5, 0.4};
    st_Error err = {0};
    st_BatchDef def = def_of(2, 1);
    def.parameters = paths, def.n_parameters = 3;
    st_Batch *b = make(dog, &def);
    memcpy(row(b, ST_BATCH_PARAMETERS, 1), values, sizeof values);
    check_ok(st_batch_apply_parameters(b, (const unsigned char[]){0, 1}, &err), err);
    check_ok(st_batch_step(b, 40, NULL, &err), err);
    st_System *plain = make_alone(dog, NULL, 0), *other = make_alone(dog, sets, 3);
    step_alone(plain, 40), step_alone(other, 40);
    check_same(b, 0, plain);
    check_same(b, 1, other);
    st_system_destroy(plain), st_system_destroy(other);
    st_batch_destroy(b);
}

/* At rest the contact force of the box is its weight; a set force moves it as F/m. */
static void sensors_and_forces(void **state)
{
    (void)state;
    st_Error err = {0};
    const st_BatchDef def = def_of(2, 1);
    st_Batch *b = make(box, &def);
    assert_string_equal(st_batch_control_name(b, 0), "push.fx");
    assert_string_equal(st_batch_control_name(b, 5), "push.tz");
    assert_null(st_batch_control_name(b, 6));
    assert_string_equal(st_batch_sensor_name(b, 2), "box.contact_fz");
    assert_null(st_batch_sensor_name(b, -1));
    row(b, ST_BATCH_CONTROLS, 1)[2] = 30; /* more than the weight of 19.62 N: it rises */
    check_ok(st_batch_step(b, 10, NULL, &err), err);
    check_ok(st_batch_read_sensors(b, NULL, &err), err);
    /* the spring pulls along the floor but for the friction of the box, which tips on its edge: 0.2 N of slack */
    check_close(row(b, ST_BATCH_SENSORS, 0)[2], 2 * 9.81, 0.2);
    assert_true(row(b, ST_BATCH_SENSORS, 1)[2] == 0);
    st_StepInfo info;
    assert_int_equal(st_batch_info(b, 0, &info), ST_OK);
    assert_true(info.contacts > 0 && info.time == *row(b, ST_BATCH_TIME, 0));
    assert_true(row(b, ST_BATCH_V, 1)[2] > 0);
    st_batch_destroy(b);
}

static void bad_input_is_refused_by_name(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef system_def;
    st_Batch *b = (st_Batch *)(void *)&err; /* must become NULL */
    read_scene(box, NULL, 0, &scene, &system_def);
#define REFUSED(text)                                                                                                  \
    do {                                                                                                               \
        assert_int_equal(st_batch_create(scene, &system_def, &def, &b, &err), ST_ERR_ARGUMENT);                        \
        assert_null(b);                                                                                                \
        if (strstr(err.message, text) == NULL) fail_msg("\"%s\" is not in: %s", text, err.message);                    \
    } while (0)
    st_BatchDef def = def_of(0, 1);
    REFUSED("a batch of 0 worlds, must be 1 to 1000000");
    def = def_of(-1, 1);
    REFUSED("-1 worlds");
    def = def_of(2, 0);
    REFUSED("0 threads");
    def = (st_BatchDef){.worlds = 1, .threads = 1};
    REFUSED("st_batch_def()");
    const char *const wrong[][2] = {{"mass", "must begin with bodies/"},
                                    {"bodies/box", "must be KIND/NAME/KEY"},
                                    {"bodies/box/size", "must be one of mass"},
                                    {"bodies/bix/mass", "nothing in the scene has this path"},
                                    {"bodies/box/shapes/cube/size", "must be one of friction"},
                                    {"joints/knee/friction", "nothing in the scene has this path"},
                                    {"springs/spring", "must be KIND/NAME/KEY"},
                                    {"ground/floor", "ground/NAME/KEY"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        def = def_of(2, 1);
        def.parameters = &wrong[k][0], def.n_parameters = 1;
        REFUSED(wrong[k][1]);
    }
    def = def_of(2, 1);
    def.n_parameters = 1;
    REFUSED("must be given");
    def = def_of(2, 1);
    system_def.h = 0.002;
    check_ok(st_batch_create(scene, &system_def, &def, &b, &err), err);
    assert_int_equal(st_batch_step(b, -1, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_batch_step(NULL, 1, NULL, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_batch_step_each(b, (const int[]){1, -2}, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "world 1: -2 steps"));
    assert_int_equal(st_batch_apply_parameters(b, NULL, &err), ST_ERR_ARGUMENT);
    assert_null(st_batch_array(b, ST_BATCH_PARAMETERS));
    assert_null(st_batch_array(b, (st_BatchArray)17));
    assert_null(st_batch_message(b, 2));
    assert_null(st_batch_system(b, -1));
    assert_int_equal(st_batch_add_keyframe(b, NAN, row(b, ST_BATCH_Q, 0), row(b, ST_BATCH_V, 0), NULL, &err),
                     ST_ERR_ARGUMENT);
    /* A state that is refused: no world has changed. */
    const uint64_t before = st_system_hash(st_batch_system(b, 0));
    row(b, ST_BATCH_Q, 0)[0] = 1, row(b, ST_BATCH_Q, 1)[1] = NAN;
    assert_int_equal(
        st_batch_set_states(b, NULL, NULL, st_batch_array(b, ST_BATCH_Q), st_batch_array(b, ST_BATCH_V), &err),
        ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "world 1: coordinate number 1 is nan"));
    assert_true(st_system_hash(st_batch_system(b, 0)) == before);
    row(b, ST_BATCH_CONTROLS, 0)[0] = INFINITY; /* a control that is refused: its world fails, the other continues */
    check_ok(st_batch_step(b, 1, NULL, &err), err);
    assert_int_equal(st_batch_status(b)[0], ST_ERR_ARGUMENT);
    assert_non_null(strstr(st_batch_message(b, 0), "push"));
    assert_int_equal(st_batch_status(b)[1], ST_OK);
    st_batch_cancel(b);
    assert_int_equal(st_batch_step(b, 1, NULL, &err), ST_ERR_CANCELLED);
    check_ok(st_batch_step(b, 1, NULL, &err), err);
    st_batch_cancel(NULL);
    st_batch_destroy(NULL);
    st_batch_destroy(b);
    st_scene_destroy(scene);
}

/* Each allocation refused in turn: a message, and nothing is lost or half made. */
static void memory_that_is_refused(void **state)
{
    (void)state;
    const char *const paths[] = {"bodies/box/mass", "bodies/box/shapes/cube/friction"};
    st_Scene *scene = NULL;
    st_SystemDef system_def;
    read_scene(box, NULL, 0, &scene, &system_def);
    int refused = 0;
    for (long long at = 1;; at++) {
        Counter counter = {.base = st_default_allocator(), .refuse_at = at};
        system_def.allocator = (st_Allocator){counting_alloc, counting_free, &counter};
        st_BatchDef def = def_of(2, 1);
        def.parameters = paths, def.n_parameters = 2;
        st_Batch *b = NULL;
        st_Error err = {0};
        st_Status status = st_batch_create(scene, &system_def, &def, &b, &err);
        if (status == ST_OK) {
            row(b, ST_BATCH_PARAMETERS, 0)[1] = 0.25;
            status = st_batch_apply_parameters(b, NULL, &err);
            if (status == ST_OK) status = st_batch_step(b, 2, NULL, &err);
            for (int k = 0; status == ST_OK && k < 2; k++)
                status = (st_Status)st_batch_status(b)[k];
        }
        assert_true(status == ST_OK || status == ST_ERR_MEMORY);
        refused += status == ST_ERR_MEMORY;
        st_batch_destroy(b);
        assert_int_equal(counter.held, 0);
        if (counter.calls < at) break;
    }
    assert_true(CHECK_ARENAS || refused > 20);
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_have_the_bits_of_systems_alone),
        cmocka_unit_test(some_worlds_step_or_each_its_own_number),
        cmocka_unit_test(resets_lead_to_the_start_and_to_keyframes),
        cmocka_unit_test(a_world_that_diverges_leaves_the_others_alone),
        cmocka_unit_test(parameters_are_those_of_a_scene_with_these_values),
        cmocka_unit_test(a_further_world_is_small),
        cmocka_unit_test(gains_of_motors_vary),
        cmocka_unit_test(sensors_and_forces),
        cmocka_unit_test(bad_input_is_refused_by_name),
        cmocka_unit_test(memory_that_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
