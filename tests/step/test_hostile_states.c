/* Saved states that were made to do harm: words of every part set to numbers that no state has, parts that are
 * longer, shorter, missing, doubled or of another name. Each is refused with a message, and the system is unchanged;
 * or it is accepted, and the system can be queried, cloned, saved and stepped. Random bits are tested in test_save
 * and tests/fuzz.
 */
#include "check.h"

#include <math.h>
#include <stiction/io.h>
#include <string.h>

/* Between them they have something in every part of a state; test_save checks that of the same scenes. */
static const struct {
    const char *scene, *set;
    int before; /* steps */
    const char *motor, *varied[3];
} cases[] = {
    {"mechanisms/governor", "simulation/integrator=bdf2", 20, NULL, {"springs/*/stiffness", "bodies/*/mass"}},
    {"mechanisms/slider_crank_clearance", "simulation/drift=mean", 30, NULL, {NULL}},
    {"anitescu-potra-2002/b_g20_implicit", "simulation/integrator=bdf2", 20, NULL, {NULL}},
    {"song-2004/ellipse", NULL, 20, NULL, {NULL}},
    {"world/sleeping", "simulation/sleep_time=0.02", 40, NULL, {"bodies/*/mass", "bodies/*/shapes/*/friction"}},
    {"world/wall", "simulation/device=flat", 3, NULL, {NULL}},
    {"toys/chain-on-peg", "simulation/sleep=true", 30, NULL, {NULL}},
    {"grains/hopper", NULL, 5, NULL, {NULL}},
    {"mechanisms/motor_limit", NULL, 20, "motor", {"joints/motor/motor/max_force"}},
};
enum { N_CASES = sizeof cases / sizeof cases[0], HEAD = 32, TITLE = 24 /* of a part: tag, bytes of one, number */ };

typedef struct Victim {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    unsigned char *good;
    size_t size;
    uint64_t hash;
    int taken, refused;
} Victim;

static unsigned char *save(const st_System *system, size_t *size)
{
    *size = st_system_save(system, NULL, 0);
    unsigned char *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(st_system_save(system, bytes, *size), *size);
    return bytes;
}

static Victim victim_of(int c)
{
    Victim v = {NULL};
    st_Error err = {0};
    char path[256];
    snprintf(path, sizeof path, "examples/%s.json", cases[c].scene);
    check_ok(st_scene_read(path, &cases[c].set, cases[c].set != NULL, &v.scene, &v.def, &err), err);
    check_ok(st_system_create(v.scene, &v.def, &v.system, &err), err);
    for (int k = 0; k < cases[c].before; k++)
        check_ok(st_system_step(v.system, v.def.h, NULL, &err), err);
    if (cases[c].motor != NULL) {
        const st_JointId joint = st_scene_find_joint(v.scene, cases[c].motor);
        st_JointDef def;
        check_ok(st_scene_joint(v.scene, joint, &def), err);
        check_ok(st_system_set_motor(v.system, joint, 0.5, &err), err);
        check_ok(st_system_push(v.system, def.b, &(st_Vec3){0.1, 0.2, 0.3}, NULL, &err), err);
    }
    for (int k = 0; k < 3 && cases[c].varied[k] != NULL; k++) {
        double value;
        check_ok(st_system_parameter(v.system, cases[c].varied[k], &value, &err), err);
        check_ok(st_system_set_parameter(v.system, cases[c].varied[k], 0.75 * value, &err), err);
    }
    v.good = save(v.system, &v.size);
    v.hash = st_system_hash(v.system);
    return v;
}

static void release(Victim *v)
{
    free(v->good);
    st_system_destroy(v->system);
    st_scene_destroy(v->scene);
}

/* The bytes in memory of their own, so that reading past them is seen. */
static void try(Victim *v, int c, const unsigned char *bytes, size_t size, const char *what)
{
    st_Error err = {0};
    unsigned char *own = malloc(size > 0 ? size : 1);
    assert_non_null(own);
    memcpy(own, bytes, size);
    const st_Status status = st_system_restore(v->system, own, size, &err);
    free(own);
    if (status != ST_OK) {
        v->refused++;
        if (err.message[0] == '\0') fail_msg("%s: %s: refused without a message", cases[c].scene, what);
        if (st_system_hash(v->system) != v->hash)
            fail_msg("%s: %s: refused (%s), but the state has changed", cases[c].scene, what, err.message);
        return;
    }
    v->taken++;
    st_System *clone = NULL;
    size_t again;
    double kinetic, potential;
    (void)!st_system_energy(v->system, &kinetic, &potential, &err);
    free(save(v->system, &again));
    if (st_system_clone(v->system, &clone, &err) == ST_OK) {
        if (v->taken % 8 == 0) (void)!st_system_step(clone, v->def.h, NULL, &err);
        st_system_destroy(clone);
    }
    check_ok(st_system_restore(v->system, v->good, v->size, &err), err);
    assert_true(st_system_hash(v->system) == v->hash);
}

/* Whole numbers and doubles that are nowhere in a state of ours. */
static void words_that_no_state_has(void **state)
{
    (void)state;
    const char *full = getenv("ST_TEST_FULL");
    const int most = full != NULL && strcmp(full, "1") == 0 ? 400 : 12;
    const int32_t small[] = {-1, INT32_MAX, INT32_MIN, 1 << 20};
    const int64_t large[] = {-1, INT64_MAX, INT64_MIN};
    const double numbers[] = {NAN, INFINITY, -1e308, -1};
    int taken = 0, refused = 0;
    for (int c = 0; c < N_CASES; c++) {
        Victim v = victim_of(c);
        check_Random random = {(uint64_t)c + 3};
        unsigned char *bytes = malloc(v.size);
        int64_t sizes[2];
        char what[64];
        for (size_t at = HEAD; at < v.size; at += (size_t)(sizes[0] * sizes[1])) {
            snprintf(what, sizeof what, "a word of \"%.8s\"", (const char *)v.good + at);
            memcpy(sizes, v.good + at + 8, sizeof sizes);
            at += TITLE;
            const size_t n = (size_t)(sizes[0] * sizes[1]);
            for (int k = 0; k < most && n >= 4; k++) {
                const uint64_t drawn = check_random_bits(&random) >> 16;
                const size_t place = 4 * (drawn % (n / 4)), kind = (size_t)k % 11;
                memcpy(bytes, v.good, v.size);
                if (kind < 4) {
                    memcpy(bytes + at + place, &small[kind], 4);
                } else if (n >= 8) {
                    const size_t even = place / 8 * 8 + 8 <= n ? place / 8 * 8 : 0;
                    memcpy(bytes + at + even, kind < 7 ? (const void *)&large[kind - 4] : &numbers[kind - 7], 8);
                }
                try(&v, c, bytes, v.size, what);
            }
        }
        taken += v.taken, refused += v.refused;
        free(bytes);
        release(&v);
    }
    assert_true(refused > 100 && taken > 10);
}

/* For every part: its number one more and one less, with and without the bytes, none of it, another size, another
 * name, and the part left out or doubled. */
static void parts_that_do_not_fit(void **state)
{
    (void)state;
    int refused = 0, taken = 0;
    for (int c = 0; c < N_CASES; c++) {
        Victim v = victim_of(c);
        int64_t sizes[2];
        char what[80];
        for (size_t at = HEAD; at < v.size; at += TITLE + (size_t)(sizes[0] * sizes[1])) {
            memcpy(sizes, v.good + at + 8, sizeof sizes);
            const size_t one = (size_t)sizes[0], all = (size_t)(sizes[0] * sizes[1]), end = at + TITLE + all;
            unsigned char *bytes = malloc(v.size + one + TITLE + all);
            assert_non_null(bytes);
            for (int kind = 0; kind < 9; kind++) {
                size_t size = v.size;
                int64_t changed[2] = {sizes[0], sizes[1]};
                memcpy(bytes, v.good, v.size);
                snprintf(what, sizeof what, "part \"%.8s\", change %d", (const char *)v.good + at, kind);
                if (kind == 0) changed[1]++;
                if (kind == 1 || kind == 3) changed[1]--;
                if (kind == 2) { /* one more, and its bytes */
                    changed[1]++;
                    memset(bytes + end, 0, one);
                    memcpy(bytes + end + one, v.good + end, v.size - end);
                    size += one;
                }
                if (kind == 3 && sizes[1] > 0) { /* one less, without its bytes */
                    memmove(bytes + end - one, v.good + end, v.size - end);
                    size -= one;
                }
                if (kind == 4) { /* none of it */
                    changed[1] = 0;
                    memmove(bytes + at + TITLE, v.good + end, v.size - end);
                    size -= all;
                }
                if (kind == 5) changed[0]++;
                if (kind == 6) bytes[at] ^= 1;
                if (kind == 7) { /* left out */
                    memmove(bytes + at, v.good + end, v.size - end);
                    size -= TITLE + all;
                }
                if (kind == 8) { /* twice */
                    memcpy(bytes + end, v.good + at, TITLE + all);
                    memcpy(bytes + end + TITLE + all, v.good + end, v.size - end);
                    size += TITLE + all;
                }
                if (kind != 7) memcpy(bytes + at + 8, changed, sizeof changed);
                const int before = v.refused;
                try(&v, c, bytes, size, what);
                /* lists of contacts may be shorter or longer; all else is no state */
                if (kind != 2 && kind != 3 && kind != 4 && v.refused == before)
                    fail_msg("%s: %s: was taken", cases[c].scene, what);
            }
            free(bytes);
        }
        taken += v.taken, refused += v.refused;
        release(&v);
    }
    assert_true(refused > 2 * taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(words_that_no_state_has),
                                       cmocka_unit_test(parts_that_do_not_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
