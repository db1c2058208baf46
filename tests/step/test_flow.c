/* Bodies that come and go: inlets add grains when due, at free positions; outlets remove bodies inside; the state is
 * saved, copied and recorded with it; impossible definitions are refused. */
#include "scene/scene_check.h"

#include <stiction/stiction.h>
#include <unistd.h>

#define BALL "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.005, \"density\": 2000}]"
/* A shower of grains into nothing. */
#define SHOWER                                                                                                         \
    "{\"regions\": [{\"name\": \"mouth\", \"type\": \"box\", \"position\": [0, 0, 1], \"size\": [0.2, 0.2, "           \
    "0.001]}],\n"                                                                                                      \
    " \"inlets\": [{\"name\": \"drop\", \"region\": \"mouth\", \"number\": 60, \"rate\": 100, " BALL "}],\n"           \
    " \"outlets\": [{\"region\": {\"type\": \"half-space\", \"position\": [0, 0, 0.8]}}],\n"                           \
    " \"simulation\": {\"h\": 0.001}}"

static int count_present(const st_System *system, const st_Scene *scene)
{
    int n = 0;
    for (int b = 1; b <= st_scene_body_count(scene); b++)
        n += st_system_present(system, (st_BodyId){b});
    return n;
}

static st_StepInfo steps(st_System *system, int n)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, 1e-3, &info, &err), err);
    return info;
}

/* Grain k = 0, 1, ... comes before the step that starts at k/rate, and falls: after n steps of h the implicit Euler
 * scheme has it at z0 - g h^2 n (n + 1)/2. It is gone 0.2 m below, after sqrt(2 0.2/9.81) = 0.2019 s. */
static void test_rate_and_fall(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(SHOWER, NULL, &scene);
    st_Pose pose;
    assert_int_equal(st_scene_body_count(scene), 60);
    assert_int_equal(count_present(system, scene), 0);
    steps(system, 1);
    assert_int_equal(count_present(system, scene), 1);
    assert_int_equal(st_system_pose(system, st_scene_find_body(scene, "drop_0001"), &pose), ST_OK);
    assert_true(fabs(pose.p.x) <= 0.1 && fabs(pose.p.y) <= 0.1);
    const double z0 = pose.p.z + 9.81 * 1e-6;
    assert_true(fabs(z0 - 1) <= 0.0005);
    steps(system, 99); /* at t = 0.1: those due at 0, 0.01, ..., 0.09 */
    assert_int_equal(count_present(system, scene), 10);
    st_system_pose(system, st_scene_find_body(scene, "drop_0001"), &pose);
    check_close(pose.p.z, z0 - 9.81 * 1e-6 * 100 * 101 / 2, 1e-12);
    /* Free fall is the only energy there is: absent bodies have none. */
    st_StepInfo info = steps(system, 50);
    double mass = 2000 * 4.0 / 3 * acos(-1) * pow(0.005, 3), kinetic = 0, potential = 0;
    for (int b = 1; b <= 60; b++) {
        st_Vec3 v;
        if (!st_system_present(system, (st_BodyId){b})) continue;
        st_system_pose(system, (st_BodyId){b}, &pose);
        st_system_velocity(system, (st_BodyId){b}, &v, NULL);
        kinetic += mass * (v.x * v.x + v.y * v.y + v.z * v.z) / 2;
        potential += mass * 9.81 * pose.p.z;
    }
    check_close(info.kinetic, kinetic, 1e-12);
    check_close(info.potential, potential, 1e-12);
    /* All come in 0.6 s; in the end all are gone. */
    steps(system, 450);
    const int now = count_present(system, scene);
    assert_true(now >= 20 && now <= 21); /* 0.2019 s at 100 a second */
    steps(system, 250);
    assert_int_equal(count_present(system, scene), 0);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* By mass: the added mass is the mass due, up to one grain. */
static void test_mass_rate(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(
        "{\"inlets\": [{\"name\": \"drop\", \"region\": {\"type\": \"sphere\", \"position\": [0, 0, 1], \"radius\": "
        "0.1}, \"number\": 1000, \"mass_rate\": 0.5, \"velocity\": [0, 0, -1], \"size\": {\"distribution\": "
        "\"uniform\", "
        "\"min\": 0.004, \"max\": 0.012}, \"start\": 0.05, " BALL "}], \"simulation\": {\"gravity\": [0, 0, 0]}}",
        NULL, &scene);
    double mass = 0, one;
    st_Mat3 inertia;
    steps(system, 250);
    const int n = count_present(system, scene);
    for (int b = 1; b <= n; b++) { /* in their order */
        assert_true(st_system_present(system, (st_BodyId){b}));
        st_scene_body_mass(scene, (st_BodyId){b}, &one, &inertia, NULL);
        mass += one;
    }
    check_close(mass, 0.5 * (0.249 - 0.05), 2000 * 4.0 / 3 * acos(-1) * pow(0.006, 3));
    st_Vec3 v;
    st_system_velocity(system, (st_BodyId){1}, &v, NULL);
    check_close(v.z, -1, 0);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* A tub that fills up: the inlet stops when there is no free place, and nothing is put into something. */
static void test_full(void **state)
{
    (void)state;
    static const char *const sleeps[] = {"simulation/sleep=true", NULL};
    for (int round = 0; round < 2; round++) {
        st_Scene *scene;
        st_System *system = system_of(
            "{\"ground\": [{\"type\": \"plane\"}, {\"type\": \"plane\", \"position\": [0.03, 0, 0], \"normal\": [-1, "
            "0, "
            "0]}, {\"type\": \"plane\", \"position\": [-0.03, 0, 0], \"normal\": [1, 0, 0]}, {\"type\": \"plane\", "
            "\"position\": [0, 0.03, 0], \"normal\": [0, -1, 0]}, {\"type\": \"plane\", \"position\": [0, -0.03, 0], "
            "\"normal\": [0, 1, 0]}], \"inlets\": [{\"region\": {\"type\": \"box\", \"position\": [0, 0, 0.05], "
            "\"size\": [0.045, 0.045, 0.01]}, \"number\": 400, \"rate\": 1000, " BALL "}]}",
            round == 1 ? sleeps : NULL, &scene);
        double deepest = 0;
        for (int k = 0; k < 800; k++)
            deepest = fmax(deepest, steps(system, 1).penetration);
        const int n = count_present(system, scene);
        /* 0.06 x 0.06 x 0.06 m hold 412 of them without gaps; loose packings 0.5 to 0.62 of that */
        assert_true(n > 150 && n < 260);
        steps(system, 100);
        assert_true(count_present(system, scene) - n < 5);
        check_below(deepest, 1e-4); /* a hundredth of a grain */
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
}

/* A silo with an outlet: runs that continue from a saved state, a clone or a changed scene are the same to the last
 * bit. */
static void test_saved_and_cloned(void **state)
{
    (void)state;
    st_Scene *scene, *again;
    st_Error err = {0};
    st_System *a = system_of(SHOWER, NULL, &scene), *b = system_of(SHOWER, NULL, &again), *c = NULL;
    steps(a, 300);
    const size_t size = st_system_save(a, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    st_system_save(a, bytes, size);
    check_ok(st_system_restore(b, bytes, size, &err), err);
    check_ok(st_system_clone(a, &c, &err), err);
    assert_int_equal(count_present(b, scene), count_present(a, scene));
    assert_int_equal(count_present(c, scene), count_present(a, scene));
    steps(a, 200), steps(b, 200), steps(c, 200);
    assert_true(st_system_hash(a) == st_system_hash(b));
    assert_true(st_system_hash(a) == st_system_hash(c));
    const int n = count_present(a, scene);
    check_ok(st_system_change(a, scene, &err), err);
    assert_int_equal(count_present(a, scene), n);
    steps(a, 400);
    assert_int_equal(count_present(a, scene), 0);
    free(bytes);
    st_system_destroy(a), st_system_destroy(b), st_system_destroy(c);
    st_scene_destroy(scene), st_scene_destroy(again);
}

/* Recordings have no place of absent bodies. */
static void test_recorded(void **state)
{
    (void)state;
    char path[] = "/tmp/test_flow_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    st_Scene *scene;
    st_Error err = {0};
    st_SystemDef def;
    st_scene_destroy(scene_of(SHOWER, &def, NULL));
    st_System *system = system_of(SHOWER, NULL, &scene);
    st_RecorderDef how = st_recorder_def();
    st_Recorder *recorder = NULL;
    st_Recording *recording = NULL;
    st_StepInfo info = st_step_info();
    how.text = SHOWER, how.length = strlen(SHOWER), how.rate = 100;
    check_ok(st_recorder_open(path, &how, scene, &def, system, &recorder, &err), err);
    info.time = 0;
    check_ok(st_recorder_add(recorder, system, &info, &err), err);
    for (int k = 0; k < 300; k++) {
        check_ok(st_system_step(system, 1e-3, &info, &err), err);
        check_ok(st_recorder_add(recorder, system, &info, &err), err);
    }
    check_ok(st_recorder_close(recorder, system, "finished", "", &err), err);
    check_ok(st_recording_open(path, &recording, &err), err);
    const st_RecordingInfo *is = st_recording_info(recording);
    st_Vec3 p[60];
    assert_int_equal(is->n_bodies, 60);
    for (int64_t frame = 0; frame < is->n_frames; frame++) {
        int there = 0;
        check_ok(st_recording_bodies(recording, frame, p, NULL, NULL, NULL, &err), err);
        for (int b = 0; b < 60; b++)
            there += !isnan(p[b].x);
        if (frame == 0) assert_int_equal(there, 0);
        if (frame == 10) assert_int_equal(there, 10);
    }
    unsigned char *page = NULL;
    size_t bytes = 0;
    check_ok(st_recording_pack(recording, 0, &page, &bytes, &err), err);
    free(page);
    st_recording_close(recording);
    unlink(path);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Entering bodies bring energy and leaving ones take it: counted as work, it makes the balance complete. */
static void test_energy(void **state)
{
    (void)state;
    st_Scene *scene;
    st_System *system = system_of(SHOWER, NULL, &scene);
    st_Error err = {0};
    double kinetic, potential, mass = 2000 * 4.0 / 3 * 3.14159265358979323846 * 1.25e-7;
    check_ok(st_system_energy(system, &kinetic, &potential, &err), err);
    for (int k = 0; k < 9; k++) { /* the last grain comes at 0.59 s and is gone at 0.79 s */
        const st_StepInfo info = steps(system, 100);
        const double works = info.friction + info.work + info.damping + info.impacts + info.correction + info.scheme;
        check_close(info.kinetic + info.potential - kinetic - potential, works, 1e-9);
        check_close(info.unexplained, 0, 1e-9);
        if (k == 0) check_close(info.work, 10 * mass * 9.81 * 1, 10 * mass * 9.81 * 0.0006); /* ten, at 1 m */
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void test_refusals(void **state)
{
    (void)state;
    check_no_system("{\"ground\": [{\"type\": \"box\", \"size\": [1, 1, 1]}], \"inlets\": [{\"name\": \"tap\", "
                    "\"region\": {\"type\": \"box\", \"size\": [0.5, 0.5, 0.5]}, \"number\": 5, \"rate\": 1, " BALL
                    "}]}",
                    "inlet \"tap\": its region has no place for a grain of 0.01 m: walls");
    check_no_system("{\"bodies\": [{\"name\": \"a1\", \"mass\": 1, \"inertia\": 1}], \"joints\": [{\"type\": \"ball\", "
                    "\"a\": \"a1\", \"b\": \"ground\", \"point\": [0, 0, 0]}], \"outlets\": [{\"name\": \"sink\", "
                    "\"bodies\": \"a*\", "
                    "\"region\": {\"type\": \"half-space\"}}]}",
                    "outlet \"sink\": bodies is \"a*\", but body \"a1\" is fixed, or has joints");
    check_no_system(
        "{\"bodies\": [{\"name\": \"a1\", \"mass\": 1, \"inertia\": 1}], \"outlets\": [{\"name\": \"sink\", "
        "\"bodies\": \"b*\", \"region\": {\"type\": \"half-space\"}}]}",
        "no body has such a name");
    check_no_system("{\"materials\": [{\"name\": \"wet\", \"liquid_volume\": 1e-9}], \"bodies\": [{\"mass\": 1, "
                    "\"inertia\": 1}]}",
                    "material \"wet\": liquid_volume is 1e-09, and no material has a surface_tension");
    check_refused("{\"inlets\": [{\"region\": {\"type\": \"sphere\", \"radius\": 1}, \"number\": 5, " BALL "}]}", 1,
                  "inlets/0: has neither \"rate\" nor \"mass_rate\"");
    check_refused("{\"inlets\": [{\"region\": {\"type\": \"sphere\", \"radius\": 1}, \"rate\": 5, " BALL "}]}", 1,
                  "\"number\" is missing");
    check_refused("{\"inlets\": [{\"region\": {\"type\": \"half-space\"}, \"number\": 5, \"rate\": 5, " BALL "}]}", 1,
                  "half space");
    check_refused("{\"inlets\": [{\"region\": {\"type\": \"sphere\", \"radius\": 1}, \"number\": 5, \"rate\": -5, " BALL
                  "}]}",
                  1, "rate is -5, must be a number > 0");
    check_refused("{\"bodies\": [{\"mass\": 1, \"inertia\": 1}], \"outlets\": [{\"region\": \"sink\"}]}", 1,
                  "there is no region of that name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_and_fall),    cmocka_unit_test(test_mass_rate), cmocka_unit_test(test_full),
        cmocka_unit_test(test_saved_and_cloned), cmocka_unit_test(test_recorded),  cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
