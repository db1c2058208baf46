/* Saved states: a system that goes on from one does so bit for bit; bytes that are no state change nothing. */
#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct Case {
    const char *scene, *set; /* an override, or NULL */
    int before, after;       /* steps                */
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

/* Contacts kept through collisions and projections, joints, friction of motors, compliant rows: whatever the next
 * step depends on must be in the bytes.                                                             */
static void goes_on_bit_for_bit(void **state)
{
    (void)state;
    static const Case cases[] = {{"anitescu-potra-2002/bars_A0_mu0.15_g10", NULL, 75, 200},
                                 {"anitescu-potra-2002/bars_A0_mu0.15_g10", "simulation/preset=potra-2006", 75, 100},
                                 {"anitescu-potra-2002/bars_A0_mu0.15_g10", "simulation/preset=accurate", 75, 100},
                                 {"anitescu-potra-2002/b_g20_implicit", NULL, 20, 100},
                                 {"anitescu-potra-2002/b_g20_implicit", "simulation/integrator=bdf2", 20, 100},
                                 {"mechanisms/door", NULL, 100, 200},
                                 {"mechanisms/slider_crank_clearance", "simulation/integrator=sdirk2", 100, 200},
                                 {"mechanisms/slider_crank_clearance", "simulation/drift=mean", 100, 200},
                                 {"mechanisms/whip", NULL, 50, 50}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        st_Scene *scene;
        st_SystemDef def;
        st_System *first, *second;
        st_Error err = {0};
        size_t size;
        make(cases[c].scene, cases[c].set, &scene, &def, &first);
        take_steps(first, def.h, cases[c].before);
        unsigned char *bytes = save(first, &size);
        take_steps(first, def.h, cases[c].after);
        check_ok(st_system_create(scene, &def, &second, &err), err);
        check_ok(st_system_restore(second, bytes, size, &err), err);
        take_steps(second, def.h, cases[c].after);
        if (st_system_hash(first) != st_system_hash(second))
            fail_msg("%s, %s: went on differently", cases[c].scene, cases[c].set != NULL ? cases[c].set : "as it is");
        free(bytes);
        st_system_destroy(second);
        st_system_destroy(first);
        st_scene_destroy(scene);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on_bit_for_bit),
        cmocka_unit_test(bad_bytes_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
