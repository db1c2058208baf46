/* Saved states: bytes that st_system_restore takes or refuses. */
#include "properties.h"

static const char text[] =
    "{\"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"name\": \"a\", \"position\": [0, 0, 0.1], \"shapes\": "
    "[{\"type\": "
    "\"box\", \"size\": [0.2, 0.2, 0.2], \"friction\": 0.5}]}, {\"name\": \"b\", \"position\": [0, 0, 0.3], "
    "\"shapes\": "
    "[{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}], \"simulation\": {\"h\": 0.01, \"sleep\": true}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static st_Scene *scene;
    static st_System *system;
    static unsigned char *good;
    static size_t n_good;
    static st_SystemDef def;
    st_Error err = {0};
    if (system == NULL) {
        MUST(st_scene_parse(text, sizeof text - 1, "fuzz.json", NULL, 0, &scene, &def, &err) == ST_OK);
        MUST(st_system_create(scene, &def, &system, &err) == ST_OK);
        for (int k = 0; k < 5; k++)
            MUST(st_system_step(system, 0.01, NULL, &err) == ST_OK);
        n_good = st_system_save(system, NULL, 0);
        good = malloc(n_good);
        MUST(good != NULL);
        st_system_save(system, good, n_good);
    }
    /* the fuzzer's bytes unchanged, and as changes of a good state: (position, value) pairs */
    const st_Status status = st_system_restore(system, data, size, &err);
    if (status != ST_OK) must_explain(status, &err);
    if (status == ST_OK) step_checked(&(Checked){scene, &def, NAN, false}, system);
    unsigned char *changed = malloc(n_good);
    MUST(changed != NULL);
    memcpy(changed, good, n_good);
    for (size_t k = 0; k + 3 <= size; k += 3)
        changed[(data[k] | (size_t)data[k + 1] << 8) % n_good] ^= data[k + 2];
    if (st_system_restore(system, changed, n_good, &err) == ST_OK)
        step_checked(&(Checked){scene, &def, NAN, false}, system);
    free(changed);
    return 0;
}
