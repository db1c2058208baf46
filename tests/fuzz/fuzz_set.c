/* --set PATH=VALUE, one a line, over a scene of every kind of member. */
#include "properties.h"

static const char scene[] = "{\"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"name\": \"a\", \"position\": [0, 0, "
                            "0.1], \"shapes\": [{\"type\": "
                            "\"box\", \"size\": [0.2, 0.2, 0.2], \"friction\": 0.5}]}, {\"name\": \"b\", \"position\": "
                            "[0, 0, 0.5], \"mass\": 1, "
                            "\"inertia\": [1, 1, 1]}], \"joints\": [{\"name\": \"j\", \"type\": \"revolute\", "
                            "\"body\": \"b\", \"point\": [0, 0, 1], "
                            "\"axis\": [0, 1, 0]}], \"simulation\": {\"h\": 0.01}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *sets[8];
    int n = 0;
    char *text = malloc(size + 1);
    MUST(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text; line != NULL && n < 8;) {
        char *next = strchr(line, '\n');
        if (next != NULL) *next++ = '\0';
        sets[n++] = line;
        line = next;
    }
    st_Error err = {0};
    st_Scene *parsed = NULL;
    st_SystemDef def;
    const st_Status status = st_scene_parse(scene, sizeof scene - 1, "fuzz.json", sets, n, &parsed, &def, &err);
    if (status == ST_OK)
        check_scene(parsed, def, hash_of(data, size));
    else
        must_explain(status, &err);
    st_scene_destroy(parsed);
    free(text);
    return 0;
}
