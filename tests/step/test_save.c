/* Saved states: a system that continues from one does so bit for bit; bytes that are no state change nothing. */
#include "check.h"
#include "math/vec3.h"

#include <stiction/io.h>
#include <string.h>

typedef struct Case {
    const char *scene, *set; /* an override, or NULL */
    int before, after;       /* steps                */
    const char
        *told; /* a joint with a motor target that is set before it is saved, and whose body is pushed; or NULL */
    const char *varied[4]; /* parameters that change before it is saved                                     */
} Case;

static void make(const char *scene, const char *set, st_Scene **out, st_SystemDef *def, st_System **system)
{
    st_Error err = {0};
    char path[256];
    snprintf(path, sizeof path, "examples/%s.json", scene);
    check_ok(st_scene_read(path, &set, set != NULL, out, def, &err), err);
    check_ok(st_system_create(*out, def, system, &err), err);
}

static void take_steps(st_System *system, double h, int n)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, h, NULL, &err), err);
}

static unsigned char *save(const st_System *system, size_t *size)
{
    *size = st_system_save(system, NULL, 0);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(st_system_save(system, bytes, *size), *size);
    return bytes;
}

/* The parts that a saved state is made of (step/save.c), and whether a case had something in them. */
typedef struct Parts {
    char tag[64][8];
    bool filled[64];
    int n;
} Parts;

static void note_parts(Parts *parts, const unsigned char *bytes, size_t size)
{
    int64_t sizes[2];
    int n = 0;
    for (size_t at = 32; at < size; at += (size_t)(sizes[0] * sizes[1])) {
        memcpy(parts->tag[n], bytes + at, 8);
        memcpy(sizes, bytes + at + 8, sizeof sizes);
        parts->filled[n] = parts->filled[n] || sizes[1] > 0;
        assert_true(++n < 64);
        at += 8 + sizeof sizes;
    }
    parts->n = n;
}

/* Go on from a state at once with the system that was saved and with a fresh one. The fresh one has all that was saved,
 * to the last byte, and so has the other one after the same steps.                                */
static void go_on(const Case *c, Parts *parts)
{
    st_Scene *scene;
    st_SystemDef def;
    st_System *first, *second;
    st_Error err = {0};
    size_t size, again, n_first, n_second;
    make(c->scene, c->set, &scene, &def, &first);
    take_steps(first, def.h, c->before);
    if (c->told != NULL) check_ok(st_system_set_motor(first, st_scene_find_joint(scene, c->told), 0.5, &err), err);
    st_JointDef joint;
    if (c->told != NULL && st_scene_joint(scene, st_scene_find_joint(scene, c->told), &joint) == ST_OK)
        check_ok(st_system_push(first, joint.b, &(st_Vec3){0.1, 0.2, 0.3}, NULL, &err), err);
    for (int k = 0; k < 4 && c->varied[k] != NULL; k++) {
        double value;
        check_ok(st_system_parameter(first, c->varied[k], &value, &err), err);
        check_ok(st_system_set_parameter(first, c->varied[k], 0.75 * value, &err), err);
    }
    unsigned char *bytes = save(first, &size);
    note_parts(parts, bytes, size);
    check_ok(st_system_create(scene, &def, &second, &err), err);
    check_ok(st_system_restore(second, bytes, size, &err), err);
    unsigned char *restored = save(second, &again);
    take_steps(first, def.h, c->after);
    take_steps(second, def.h, c->after);
    unsigned char *end_first = save(first, &n_first), *end_second = save(second, &n_second);
    if (size != again || memcmp(bytes, restored, size) != 0)
        fail_msg("%s, %s: not all came back", c->scene, c->set != NULL ? c->set : "as it is");
    if (st_system_hash(first) != st_system_hash(second) || n_first != n_second ||
        memcmp(end_first, end_second, n_first) != 0)
        fail_msg("%s, %s: went on differently", c->scene, c->set != NULL ? c->set : "as it is");
    free(end_second);
    free(end_first);
    free(restored);
    free(bytes);
    st_system_destroy(second);
    st_system_destroy(first);
    st_scene_destroy(scene);
}

/* Contacts kept through collisions and projections, joints, friction of motors, compliant rows: whatever the next
 * step depends on must be in the bytes.                                                             */
static void goes_on_bit_for_bit(void **state)
{
    (void)state;
    static const Case cases[] = {
        {"anitescu-potra-2002/bars_A0_mu0.15_g10", NULL, 75, 200, NULL, {NULL}},
        {"anitescu-potra-2002/bars_A0_mu0.15_g10", "simulation/preset=potra-2006", 75, 100, NULL, {NULL}},
        {"anitescu-potra-2002/bars_A0_mu0.15_g10", "simulation/preset=accurate", 75, 100, NULL, {NULL}},
        {"anitescu-potra-2002/b_g20_implicit", NULL, 20, 100, NULL, {NULL}},
        {"anitescu-potra-2002/b_g20_implicit", "simulation/integrator=bdf2", 20, 100, NULL, {NULL}},
        {"mechanisms/door", NULL, 100, 200, NULL, {NULL}},
        {"mechanisms/slider_crank_clearance", "simulation/integrator=sdirk2", 100, 200, NULL, {NULL}},
        {"mechanisms/slider_crank_clearance", "simulation/drift=mean", 100, 200, NULL, {NULL}},
        {"mechanisms/slider_crank", "simulation/integrator=bdf2", 20, 20, NULL, {NULL}},
        {"mechanisms/governor", "simulation/integrator=bdf2", 20, 20, NULL, {"springs/*/stiffness"}},
        {"mechanisms/whip", NULL, 50, 50, NULL, {NULL}},
        {"song-2004/ellipse", NULL, 100, 50, NULL, {NULL}},
        {"world/sleeping", NULL, 300, 50, NULL, {NULL}},
        {"world/sleeping", NULL, 300, 50, NULL, {"bodies/*/mass", "bodies/*/shapes/*/friction"}},
        {"world/wall", "simulation/device=flat", 5, 10, NULL, {NULL}},
        {"toys/chain-on-peg", "simulation/sleep=true", 100, 50, NULL, {NULL}},
        {"grains/hopper", NULL, 60, 20, NULL, {NULL}},
        {"mechanisms/motor_limit", NULL, 50, 50, "motor", {"joints/motor/motor/max_force"}}};
    Parts parts = {.n = 0};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        go_on(&cases[c], &parts);
    for (int k = 0; k < parts.n; k++) /* a new part needs a case that has it */
        if (!parts.filled[k]) fail_msg("no case has anything to save as \"%.8s\"", parts.tag[k]);
}

static void bad_bytes_change_nothing(void **state)
{
    (void)state;
    st_Scene *scene, *other_scene;
    st_SystemDef def;
    st_System *system, *other;
    st_Error err = {0};
    size_t size;
    make("anitescu-potra-2002/bars_A0_mu0.15_g10", NULL, &scene, &def, &system);
    take_steps(system, def.h, 80);
    unsigned char *bytes = save(system, &size);
    take_steps(system, def.h, 3);
    uint64_t hash = st_system_hash(system);
    for (size_t n = 0; n < size; n++) {
        unsigned char *cut = malloc(n > 0 ? n : 1); /* its own, so that reading past it is seen */
        memcpy(cut, bytes, n);
        st_Status status = st_system_restore(system, cut, n, &err);
        free(cut);
        assert_int_equal(status, ST_ERR_FORMAT);
        assert_true(st_system_hash(system) == hash);
    }
    bytes[0] ^= 1;
    assert_int_equal(st_system_restore(system, bytes, size, &err), ST_ERR_FORMAT);
    bytes[0] ^= 1;
    const unsigned char version = bytes[8];
    bytes[8] = 99;
    assert_int_equal(st_system_restore(system, bytes, size, &err), ST_ERR_FORMAT);
    assert_non_null(strstr(err.message, "version 99"));
    bytes[8] = version;
    make("anitescu-potra-2002/b_g20_implicit", NULL, &other_scene, &def, &other);
    assert_int_equal(st_system_restore(other, bytes, size, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "not the same scene"));
    assert_int_equal(st_system_restore(NULL, bytes, size, &err), ST_ERR_ARGUMENT);
    check_ok(st_system_restore(system, bytes, size, &err), err);
    free(bytes);
    st_system_destroy(other);
    st_scene_destroy(other_scene);
    st_system_destroy(system);
    st_scene_destroy(scene);
}

/* Contact "compliant" serves smooth shapes only. */
static bool is_supported(const char *name, const char *set)
{
    st_Scene *scene;
    st_SystemDef def;
    st_System *system = NULL;
    st_Error err = {0};
    char path[256];
    snprintf(path, sizeof path, "examples/%s.json", name);
    check_ok(st_scene_read(path, &set, 1, &scene, &def, &err), err);
    const st_Status status = st_system_create(scene, &def, &system, &err);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return status != ST_ERR_UNSUPPORTED;
}

/* A mechanism, a row of bars, a chain and a sphere, under every preset. */
static void goes_on_under_every_preset(void **state)
{
    (void)state;
    static const char *const scenes[] = {"mechanisms/door", "anitescu-potra-2002/bars_A0_mu0.15_g10",
                                         "toys/chain-on-peg", "song-2004/sphere"};
    Parts parts = {.n = 0};
    int n = 0, runs = 0;
    for (; st_preset_name(n) != NULL; n++)
        for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
            char set[80];
            snprintf(set, sizeof set, "simulation/preset=%s", st_preset_name(n));
            if (!is_supported(scenes[k], set)) continue;
            runs++;
            go_on(&(Case){scenes[k], set, 25, 15, NULL}, &parts);
        }
    assert_true(n >= 8 && runs >= 3 * n);
}

/* The numbers fit, the names do not. */
static void states_of_other_scenes_are_refused(void **state)
{
    (void)state;
    st_System *system[2];
    st_Error err = {0};
    size_t size;
    for (int k = 0; k < 2; k++) {
        st_Scene *scene = NULL;
        st_BodyDef body = st_body_def();
        const st_ShapeDef ball = st_sphere_def(0.1);
        const st_SystemDef def = st_system_def();
        st_BodyId id;
        body.name = k == 0 ? "left" : "right";
        check_ok(st_scene_create(&scene, &err), err);
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &ball, NULL, &err), err);
        check_ok(st_system_create(scene, &def, &system[k], &err), err);
        st_scene_destroy(scene);
    }
    unsigned char *bytes = save(system[0], &size);
    assert_int_equal(st_system_restore(system[1], bytes, size, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "other names, shapes, joints"));
    check_ok(st_system_restore(system[0], bytes, size, &err), err);
    free(bytes);
    st_system_destroy(system[0]);
    st_system_destroy(system[1]);
}

/* Bytes with one bit flipped are a state, another one, or refused; no memory error follows: neither in the energy,
 * nor in a clone (which moves every id to its own world), nor in a step. */
static void damaged_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char *const scenes[][2] = {{"song-2004/sphere", NULL},
                                            {"world/sleeping", "simulation/sleep_time=0.02"}};
    static const char *const parts[] = {"active", "impulse", "patch", "loaded", "sleeper", "rings", "modes", "asleep"};
    int taken = 0;
    for (int c = 0; c < 2; c++) {
        check_Random random = {(uint64_t)c + 1};
        st_Scene *scene;
        st_SystemDef def;
        st_System *system, *clone;
        st_Error err = {0};
        size_t size;
        make(scenes[c][0], scenes[c][1], &scene, &def, &system);
        take_steps(system, def.h, 40);
        unsigned char *bytes = save(system, &size);
        int64_t sizes[2];
        for (size_t at = 32; at < size; at += (size_t)(sizes[0] * sizes[1])) {
            bool listed = false;
            for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
                listed = listed || strcmp((const char *)bytes + at, parts[k]) == 0;
            memcpy(sizes, bytes + at + 8, sizeof sizes);
            at += 8 + sizeof sizes;
            const int64_t most = getenv("ST_TEST_FULL") != NULL ? 4000 : 24, n = 8 * sizes[0] * sizes[1];
            for (int64_t k = 0; listed && k < (n < most ? n : most); k++) {
                const uint64_t bit = n <= most ? (uint64_t)k : check_random_bits(&random) % (uint64_t)n;
                unsigned char *byte = bytes + at + bit / 8;
                *byte ^= (unsigned char)(1u << bit % 8);
                if (st_system_restore(system, bytes, size, &err) == ST_OK) {
                    taken++;
                    (void)st_system_energy(system, NULL, NULL, &err);
                    if (st_system_clone(system, &clone, &err) == ST_OK) st_system_destroy(clone);
                    (void)st_system_step(system, def.h, NULL, &err);
                }
                *byte ^= (unsigned char)(1u << bit % 8);
            }
        }
        check_ok(st_system_restore(system, bytes, size, &err), err);
        free(bytes);
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
    assert_true(taken > 100); /* digits of forces and gaps */
}

/* Time is start + k h: k steps of h end at the double nearest to k h, whatever h is, and a restored run is on the same
 * grid. Another h, and a state that is set, begin another one.                                      */
static void time_is_on_a_grid(void **state)
{
    (void)state;
    static const char *const presets[] = {"simulation/preset=default", "simulation/preset=accurate"};
    for (int k = 0; k < 2; k++) {
        st_Scene *scene, *other;
        st_SystemDef def;
        st_System *first, *second;
        st_Error err = {0};
        size_t size;
        make("mechanisms/pendulum", presets[k], &scene, &def, &first);
        make("mechanisms/pendulum", presets[k], &other, &def, &second);
        take_steps(first, 1e-3, 700);
        unsigned char *bytes = save(first, &size);
        check_ok(st_system_restore(second, bytes, size, &err), err);
        take_steps(first, 1e-3, 1300);
        take_steps(second, 1e-3, 1300);
        assert_true(st_system_time(first) == 2.0);
        assert_true(st_system_hash(first) == st_system_hash(second));
        take_steps(first, 0.1, 3);
        assert_true(st_system_time(first) == 2.0 + 3 * 0.1);
        double *q = malloc((size_t)st_system_n_q(first) * sizeof *q),
               *v = malloc((size_t)st_system_n_v(first) * sizeof *v);
        st_system_state(first, q, v);
        check_ok(st_system_set_state(first, 5.0, q, v, &err), err);
        take_steps(first, 0.1, 3);
        assert_true(st_system_time(first) == 5.0 + 3 * 0.1);
        free(q);
        free(v);
        free(bytes);
        st_system_destroy(first);
        st_system_destroy(second);
        st_scene_destroy(scene);
        st_scene_destroy(other);
    }
}

/* Save and restore before every step: the reports after it are those of the system that went on. */
static int compare_reports(st_System *first, st_System *second, int n, double h, int steps)
{
    int struck = 0;
    st_Error err = {0};
    st_BodyLoad *load = calloc(2 * (size_t)n, sizeof *load);
    assert_non_null(load);
    for (int step = 0; step < steps; step++) {
        size_t size;
        unsigned char *bytes = save(first, &size);
        check_ok(st_system_restore(second, bytes, size, &err), err);
        free(bytes);
        take_steps(first, h, 1);
        take_steps(second, h, 1);
        check_ok(st_system_loads(first, load, n, &err), err);
        check_ok(st_system_loads(second, load + n, n, &err), err);
        for (int b = 0; b < n; b++) {
            struck += load[b].struck;
            assert_int_equal(load[b].struck, load[n + b].struck);
            for (int e = 0; e < ST_N_LOADS; e++) /* joint forces are computed again: rounding */
                check_below(norm(sub(load[b].force[e], load[n + b].force[e])), 1e-9);
        }
    }
    free(load);
    return struck;
}

/* Which impulses hold an impact depends on the step before: in mechanisms that are struck or whose drift correction
 * starts, and where a ball lands across two steps, from different heights. */
static void reports_go_on(void **state)
{
    (void)state;
    static const struct {
        const char *scene;
        int steps;
    } cases[] = {{"mechanisms/slider_crank", 20},
                 {"mechanisms/slider_crank_clearance", 200},
                 {"toys/ratchet", 300},
                 {"toys/walker", 200}};
    int struck = 0;
    for (int k = 0; k < 28; k++) {
        st_Scene *scene[2];
        st_SystemDef def;
        st_System *system[2];
        st_Error err = {0};
        for (int s = 0; s < 2; s++) {
            char text[500];
            snprintf(text, sizeof text,
                     "{\"simulation\": {\"h\": %g}, \"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"position\": "
                     "[0, 0, %.17g], \"mass\": 1, \"inertia\": 0.004, \"shapes\": [{\"type\": \"sphere\", \"radius\": "
                     "0.1}]}]}",
                     1e-3 / (1 << k % 3), 0.1 + 1e-5 * pow(1.7, k % 16) + 3.1e-6 * k);
            if (k < 4) {
                make(cases[k].scene, "simulation/preset=default", &scene[s], &def, &system[s]);
            } else {
                check_ok(st_scene_parse(text, strlen(text), "ball", NULL, 0, &scene[s], &def, &err), err);
                check_ok(st_system_create(scene[s], &def, &system[s], &err), err);
            }
        }
        struck +=
            compare_reports(system[0], system[1], st_scene_body_count(scene[0]), def.h, k < 4 ? cases[k].steps : 100);
        for (int s = 0; s < 2; s++) {
            st_system_destroy(system[s]);
            st_scene_destroy(scene[s]);
        }
    }
    assert_true(struck > 40);
}

/* The slider-crank's motion prescribes its angle at each time. A state that is saved after any step goes on as the run
 * does, also if the sum of the steps is not a number of the time grid (1 step in 4 differed in its last digits). */
static void prescribed_motions_go_on(void **state)
{
    (void)state;
    for (int p = 0; p < st_preset_count(); p++) {
        st_Scene *scene;
        st_SystemDef def;
        st_System *system, *other;
        st_Error err = {0};
        char set[64];
        if (strcmp(st_preset_name(p), "song-2004") == 0) continue; /* not for bars */
        snprintf(set, sizeof set, "simulation/preset=%s", st_preset_name(p));
        make("mechanisms/slider_crank", set, &scene, &def, &system);
        for (int k = 0; k < 60; k++) {
            check_ok(st_system_clone(system, &other, &err), err);
            take_steps(system, 0.0050900722939196, 1);
            take_steps(other, 0.0050900722939196, 1);
            assert_true(st_system_hash(system) == st_system_hash(other));
            st_system_destroy(other);
        }
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_go_on),
        cmocka_unit_test(time_is_on_a_grid),
        cmocka_unit_test(goes_on_bit_for_bit),
        cmocka_unit_test(goes_on_under_every_preset),
        cmocka_unit_test(prescribed_motions_go_on),
        cmocka_unit_test(states_of_other_scenes_are_refused),
        cmocka_unit_test(bad_bytes_change_nothing),
        cmocka_unit_test(damaged_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
