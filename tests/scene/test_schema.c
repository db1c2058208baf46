/* Compares the schema with the reader, and both documents with those that the library generates.
 *
 * ST_UPDATE_DOCS=1 build/tests/test_schema, from the root of the tree, writes docs/scene.schema.json and the
 * generated part of docs/scene.md anew.
 */
#include "scene_check.h"

#include <jansson.h>

#define SCHEMA_FILE "docs/scene.schema.json"
#define GUIDE_FILE  "docs/scene.md"
#define BEGIN_MARK  "<!-- generated: ST_UPDATE_DOCS=1 build/tests/test_schema -->\n"
#define END_MARK    "<!-- end of generated -->\n"

/* ---- a validator of the part of JSON Schema that our schema uses; an unknown word fails the test ---- */

static bool valid(const json_t *root, json_t *schema, json_t *value);

static bool is_type(const char *type, const json_t *value)
{
    if (strcmp(type, "object") == 0) return json_is_object(value);
    if (strcmp(type, "array") == 0) return json_is_array(value);
    if (strcmp(type, "string") == 0) return json_is_string(value);
    if (strcmp(type, "boolean") == 0) return json_is_boolean(value);
    if (strcmp(type, "number") == 0) return json_is_number(value);
    if (strcmp(type, "integer") == 0)
        return json_is_number(value) && floor(json_number_value(value)) == json_number_value(value);
    fail_msg("schema type %s", type);
    return false;
}

static int count_valid(const json_t *root, json_t *list, json_t *value)
{
    int n = 0;
    size_t i;
    json_t *schema;
    json_array_foreach(list, i, schema) n += valid(root, schema, value);
    return n;
}

static bool in_list(json_t *list, const json_t *value)
{
    size_t i;
    json_t *word;
    json_array_foreach(list, i, word) if (json_equal(word, value)) return true;
    return false;
}

static bool valid_items(const json_t *root, json_t *items, json_t *value)
{
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item) if (!valid(root, items, item)) return false;
    return true;
}

static bool valid_members(const json_t *root, const json_t *schema, json_t *value)
{
    const char *key;
    json_t *member, *properties = json_object_get(schema, "properties");
    json_object_foreach(value, key, member)
    {
        json_t *property = json_object_get(properties, key), *more = json_object_get(schema, "additionalProperties");
        if (property == NULL && json_is_object(more) && !valid(root, more, member)) return false;
        if (property == NULL && json_is_false(json_object_get(schema, "additionalProperties"))) return false;
        if (property != NULL && !valid(root, property, member)) return false;
    }
    return true;
}

static bool has_all(json_t *required, const json_t *value)
{
    size_t i;
    json_t *key;
    json_array_foreach(required, i, key) if (json_object_get(value, json_string_value(key)) == NULL) return false;
    return true;
}

static bool valid_word(const json_t *root, const json_t *schema, const char *word, json_t *rule, json_t *value)
{
    double bound = json_number_value(rule), x = json_number_value(value);
    if (strcmp(word, "type") == 0) return is_type(json_string_value(rule), value);
    if (strcmp(word, "const") == 0) return json_equal(rule, value);
    if (strcmp(word, "enum") == 0) return in_list(rule, value);
    if (strcmp(word, "anyOf") == 0) return count_valid(root, rule, value) >= 1;
    if (strcmp(word, "oneOf") == 0) return count_valid(root, rule, value) == 1;
    if (strcmp(word, "minimum") == 0) return !json_is_number(value) || x >= bound;
    if (strcmp(word, "maximum") == 0) return !json_is_number(value) || x <= bound;
    if (strcmp(word, "exclusiveMinimum") == 0) return !json_is_number(value) || x > bound;
    if (strcmp(word, "minLength") == 0) return !json_is_string(value) || json_string_length(value) >= (size_t)bound;
    if (strcmp(word, "minItems") == 0) return !json_is_array(value) || json_array_size(value) >= (size_t)bound;
    if (strcmp(word, "maxItems") == 0) return !json_is_array(value) || json_array_size(value) <= (size_t)bound;
    if (strcmp(word, "items") == 0) return valid_items(root, rule, value);
    if (strcmp(word, "properties") == 0 ||
        (strcmp(word, "additionalProperties") == 0 && json_object_get(schema, "properties") == NULL))
        return !json_is_object(value) || valid_members(root, schema, value);
    if (strcmp(word, "required") == 0) return !json_is_object(value) || has_all(rule, value);
    if (strcmp(word, "$ref") == 0) {
        assert_memory_equal(json_string_value(rule), "#/$defs/", 8);
        json_t *target = json_object_get(json_object_get(root, "$defs"), json_string_value(rule) + 8);
        assert_non_null(target);
        return valid(root, target, value);
    }
    static const char *const notes[] = {"description", "title", "default", "$schema", "$defs", "additionalProperties"};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (strcmp(word, notes[i]) == 0) return true;
    fail_msg("schema word %s", word);
    return false;
}

static bool valid(const json_t *root, json_t *schema, json_t *value)
{
    const char *word;
    json_t *rule;
    json_object_foreach(schema, word, rule) if (!valid_word(root, schema, word, rule, value)) return false;
    return true;
}

static json_t *load_schema(void)
{
    char *text = st_scene_schema();
    assert_non_null(text);
    json_t *schema = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(schema);
    free(text);
    return schema;
}

/* Reader and schema on one tree: the schema may accept more only if the reader's message is in `beyond`. */
static void compare(const json_t *schema, json_t *tree, const char *what)
{
    static const char *const beyond[] = {
        "no body of that name", /* not expressible in a schema of this kind: references,  */
        "no joint of that name",
        "no material of that name",
        "must couple two joints",
        "to couple",
        "does not have", /* coordinates, */
        "must be 90",    /* numbers that depend on each other, */
        "of either sign",
        "apart at the start",
        "at the start",
        "lower must be below upper",
        "its table has",
        "all its stiffnesses",
        "has no value",
        "twice",
        "two of this name",
        "is reserved",
        "both",
        "unit quaternion", /* norms, */
        "[0, 0, 0], must be",
        "must have a length from",
        "is missing: end", /* the ground's points, */
        "mass is",         /* masses that shapes do or do not give, */
        "inertia",
        "coincide",
        "it has no direction",
        "must be 0:", /* velocities along locks, */
        "the time before it",
        "does not move",
        "origin",
        "but mass is not",
        "control characters",
        "is inf",           /* lengths that overflow, */
        "cannot be opened", /* contents of files */
        "has no such joint",
        "must be from -2 to 2",
    };
    char *text = json_dumps(tree, JSON_REAL_PRECISION(17));
    assert_non_null(text);
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    bool read = st_scene_parse(text, strlen(text), "t", NULL, 0, &scene, &def, &err) == ST_OK;
    bool fits = valid(schema, (json_t *)schema, tree);
    bool excused = false;
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++)
        excused = excused || strstr(err.message, beyond[i]) != NULL;
    st_scene_destroy(scene);
    free(text);
    if (read && !fits) fail_msg("%s: the reader takes it, the schema does not", what);
    if (!read && fits && !excused) fail_msg("%s: the schema takes it, the reader says: %s", what, err.message);
}

/* Visit every member of the tree: put each probe in its place, take it away, add a key beside it. */
static int visit(const json_t *schema, json_t *root, json_t *part, const char *path, json_t *probes)
{
    int n = 0;
    size_t count = json_is_array(part) ? json_array_size(part) : json_object_size(part);
    json_t *keys = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(part, name, value) json_array_append_new(keys, json_string(name));
    for (size_t i = 0; i < count; i++) {
        const char *key = json_string_value(json_array_get(keys, i));
        json_t *old = json_incref(key != NULL ? json_object_get(part, key) : json_array_get(part, i)), *probe;
        char here[200];
        size_t k;
        snprintf(here, sizeof here, "%.150s/%.20s", path, key != NULL ? key : "[]");
        json_array_foreach(probes, k, probe)
        {
            char what[300], *shown = json_dumps(probe, JSON_ENCODE_ANY);
            snprintf(what, sizeof what, "%s = %.60s", here, shown);
            free(shown);
            key != NULL ? json_object_set(part, key, probe) : json_array_set(part, i, probe);
            compare(schema, root, what);
            n++;
        }
        key != NULL ? json_object_set(part, key, old) : json_array_set(part, i, old);
        n += visit(schema, root, old, here, probes);
        if (key != NULL) {
            json_object_del(part, key);
            compare(schema, root, here);
            json_object_set(part, key, old);
        }
        json_decref(old);
    }
    if (json_is_object(part)) {
        json_object_set_new(part, "colour", json_integer(1));
        compare(schema, root, "unknown key");
        json_object_del(part, "colour");
    }
    json_decref(keys);
    return n;
}

static void test_schema_and_reader_agree(void **state)
{
    (void)state;
    json_t *schema = load_schema();
    json_t *probes =
        json_loads("[-1, 0, 1, 2.5, \"x\", \"\", \"one\", \"ground\", null, true, [], {}, [1, 2], [1, 2, 3],"
                   " [1, 2, -3], [1, 0, 0, 0], [[1, 2], [3, 4]], [\"x\", \"ry\"], \"planar-xy\", \"point\","
                   " \"ball\", \"distance\", \"angular\", \"table\", \"world\", [{}],"
                   " {\"axis\": [0, 0, 1], \"angle\": 1}, {\"type\": \"point\"}, 1e301]",
                   0, NULL);
    json_t *tree = json_loads(every_key, 0, NULL);
    assert_non_null(probes);
    assert_non_null(tree);
    assert_true(valid(schema, schema, tree));
    int n = visit(schema, tree, tree, "", probes);
    assert_true(n > 5000); /* it went everywhere */
    json_decref(tree);
    tree = json_loads("{ \"materials\": [{\"name\": \"x\"}],"
                      " \"robots\": [{ \"file\": \"tests/data/robots/hinge.urdf\", \"name\": \"a\","
                      " \"position\": [1, 2, 3], \"orientation\": [1, 0, 0, 0], \"fixed\": true, \"material\": \"x\","
                      " \"positions\": {\"hinge\": 1}, \"meshes\": \"hull\", \"self_collision\": false,"
                      " \"merge\": false, \"ignore\": [\"x\"],"
                      " \"motor\": {\"type\": \"speed\", \"target\": 1} }] }",
                      0, NULL);
    assert_non_null(tree);
    assert_true(valid(schema, schema, tree));
    json_decref(probes);
    probes =
        json_loads("[-1, \"x\", \"\", null, true, [], {}, [1, 2, 3], {\"axis\": [0, 0, 1], \"angle\": 1}]", 0, NULL);
    assert_true(visit(schema, tree, tree, "", probes) > 200);
    json_decref(tree);
    json_decref(probes);
    json_decref(schema);
}

static void test_examples_fit_the_schema(void **state)
{
    (void)state;
    json_t *schema = load_schema();
    for (int i = 0; i < N_EXAMPLES; i++) {
        json_t *tree = json_load_file(example_scenes[i], 0, NULL);
        assert_non_null(tree);
        if (!valid(schema, schema, tree)) fail_msg("%s does not fit the schema", example_scenes[i]);
        /* named like its file, with a "look for" in its description */
        const char *slash = strrchr(example_scenes[i], '/') + 1,
                   *name = json_string_value(json_object_get(tree, "name"));
        assert_non_null(name);
        assert_memory_equal(slash, name, strlen(name));
        assert_string_equal(slash + strlen(name), ".json");
        assert_true(json_string_length(json_object_get(tree, "description")) > 80);
        json_decref(tree);
    }
    json_decref(schema);
}

/* ---- the documents ---- */

static bool updating(void)
{
    const char *wish = getenv("ST_UPDATE_DOCS");
    return wish != NULL && wish[0] == '1';
}

static void write_text(const char *path, const char *a, size_t n_a, const char *b, const char *c)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(a, 1, n_a, file), n_a);
    assert_true(fputs(b, file) >= 0 && fputs(c, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void test_schema_file_is_current(void **state)
{
    (void)state;
    char *generated = st_scene_schema();
    size_t length;
    assert_non_null(generated);
    if (updating()) write_text(SCHEMA_FILE, generated, strlen(generated), "", "");
    char *stored = file_text(SCHEMA_FILE, &length);
    if (strcmp(stored, generated) != 0)
        fail_msg(SCHEMA_FILE " is not what the library generates: run ST_UPDATE_DOCS=1 build/tests/test_schema");
    free(stored);
    free(generated);
}

static void test_reference_is_current(void **state)
{
    (void)state;
    char *generated = st_scene_reference();
    size_t length;
    if (generated == NULL) {
        fail();
        return;
    }
    char *stored = file_text(GUIDE_FILE, &length);
    char *begin = strstr(stored, BEGIN_MARK), *end = strstr(stored, END_MARK);
    if (begin == NULL || end == NULL || end < begin) {
        fail_msg(GUIDE_FILE " has lost the marks of its generated part");
        return;
    }
    begin += strlen(BEGIN_MARK);
    if (updating())
        write_text(GUIDE_FILE, stored, (size_t)(begin - stored), generated, end);
    else if ((size_t)(end - begin) != strlen(generated) || memcmp(begin, generated, strlen(generated)) != 0)
        fail_msg(GUIDE_FILE " is not what the library generates: run ST_UPDATE_DOCS=1 build/tests/test_schema");
    free(stored);
    free(generated);
}

/* The scenes shown in the guide are scenes: every fenced block of JSON that opens with an object of bodies. */
static void test_scenes_of_the_guide_are_read(void **state)
{
    (void)state;
    size_t length;
    char *guide = file_text(GUIDE_FILE, &length);
    int n = 0;
    for (char *at = strstr(guide, "```json\n"); at != NULL; at = strstr(at, "```json\n")) {
        at += strlen("```json\n");
        char *end = strstr(at, "```");
        assert_non_null(end);
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        check_ok(st_scene_parse(at, (size_t)(end - at), GUIDE_FILE, NULL, 0, &scene, &def, &err), err);
        st_scene_destroy(scene);
        at = end + 3;
        n++;
    }
    assert_true(n >= 1);
    free(guide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_and_reader_agree),      cmocka_unit_test(test_examples_fit_the_schema),
        cmocka_unit_test(test_schema_file_is_current),       cmocka_unit_test(test_reference_is_current),
        cmocka_unit_test(test_scenes_of_the_guide_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
