/* scene/schema.c -- the JSON Schema of scene files, written from the reader's own tables.
 *
 * An object with variants (a shape, a joint) becomes a list of alternatives, told apart by the constant
 * in their `type`: exactly one can match, and each has its own keys.
 */
#include "base/range.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

/* Sizes beyond base/range.h are refused; by its unit it is seen what is a length. */
static json_t *number_schema(sti_Range range, const char *unit)
{
    const bool length = strcmp(unit, "m") == 0;
    const double largest = length ? STI_LONGEST : STI_LARGEST, smallest = length ? STI_SHORTEST : STI_SMALLEST;
    json_t *schema = json_pack("{s:s}", "type", "number");
    schema = sti_with(schema, "minimum",
                      sti_json_number(range == STI_FINITE     ? -largest
                                      : range == STI_POSITIVE ? smallest
                                                              : 0));
    return sti_with(schema, "maximum", sti_json_number(range == STI_FRACTION ? 1 : largest));
}

static json_t *list_schema(json_t *items, int min, int max)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (min > 0) schema = sti_with(schema, "minItems", json_integer(min));
    if (max > 0) schema = sti_with(schema, "maxItems", json_integer(max));
    return schema;
}

static json_t *numbers_schema(int n, sti_Range range, const char *unit)
{
    return list_schema(number_schema(range, unit), n, n);
}

static json_t *words_schema(const char *(*word)(const void *from, int index), const void *from)
{
    json_t *words = json_array();
    const char *text;
    for (int i = 0; (text = word(from, i)) != NULL; i++)
        words = sti_append_to(words, json_string(text));
    return json_pack("{s:o}", "enum", words);
}

static const char *lock_word(const void *unused, int index)
{
    (void)unused;
    return sti_lock_word(index, NULL);
}

static const char *setting_word(const void *words, int index)
{
    return ((const char *const *)words)[index];
}

static const char *variant_word(const void *kind, int index)
{
    return ((const sti_Kind *)kind)->variant_name(index);
}

static json_t *rotation_schema(void)
{
    json_t *turn = json_pack("{s:s, s:{s:o, s:o}, s:[s, s], s:b}", "type", "object", "properties", "axis",
                             numbers_schema(3, STI_FINITE, ""), "angle", number_schema(STI_FINITE, "rad"), "required",
                             "axis", "angle", "additionalProperties", 0);
    return json_pack("{s:[o, o]}", "anyOf", numbers_schema(4, STI_FINITE, ""), turn);
}

static json_t *inertia_schema(void)
{
    json_t *moment = json_pack("{s:s, s:o, s:o}", "type", "number", "minimum", sti_json_number(-STI_MOST_INERTIA),
                               "maximum", sti_json_number(STI_MOST_INERTIA));
    json_t *alone = sti_with(json_deep_copy(moment), "minimum", sti_json_number(STI_LEAST_INERTIA));
    json_t *row = list_schema(moment, 3, 3);
    return json_pack("{s:[o, o, o]}", "anyOf", alone, json_deep_copy(row), list_schema(row, 3, 3));
}

static json_t *locks_schema(void)
{
    json_t *word = words_schema(lock_word, NULL);
    return json_pack("{s:[o, o]}", "anyOf", word, list_schema(json_deep_copy(word), 0, 0));
}

static json_t *reference_to(const char *word)
{
    char path[80];
    snprintf(path, sizeof path, "#/$defs/%s", word);
    return json_pack("{s:s}", "$ref", path);
}

static json_t *value_schema(const sti_Kind *kind, const sti_Key *key, int variant)
{
    switch (key->value) {
    case STI_VALUE_TEXT:
        return json_pack("{s:s}", "type", "string");
    case STI_VALUE_NAME:
    case STI_VALUE_BODY:
    case STI_VALUE_JOINT:
    case STI_VALUE_MATERIAL:
        return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
    case STI_VALUE_NUMBER:
        return number_schema(key->range, key->unit);
    case STI_VALUE_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case STI_VALUE_VECTOR:
    case STI_VALUE_DIRECTION:
    case STI_VALUE_NORMAL:
    case STI_VALUE_ALONG:
        return numbers_schema(3, key->range, key->unit);
    case STI_VALUE_EXTENTS:
        return numbers_schema(3, STI_POSITIVE, key->unit);
    case STI_VALUE_ROTATION:
        return rotation_schema();
    case STI_VALUE_INERTIA:
        return inertia_schema();
    case STI_VALUE_LOCKS:
        return locks_schema();
    case STI_VALUE_AXES:
        return json_pack("{s:[s, s]}", "enum", "world", "body");
    case STI_VALUE_VARIANT:
        return json_pack("{s:s}", "const", kind->variant_name(variant));
    case STI_VALUE_TABLE:
        return list_schema(numbers_schema(2, STI_FINITE, key->unit), 1, 0);
    case STI_VALUE_POINTS:
        return list_schema(numbers_schema(3, STI_FINITE, key->unit), 1, 0);
    case STI_VALUE_TRIANGLES:
        return list_schema(numbers_schema(3, STI_NOT_NEGATIVE, key->unit), 1, 0);
    case STI_VALUE_FILE:
        return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
    case STI_VALUE_SCALE:
        return json_pack("{s:[o, o]}", "anyOf", number_schema(STI_POSITIVE, ""), numbers_schema(3, STI_FINITE, ""));
    case STI_VALUE_POSITIONS:
        return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", number_schema(STI_FINITE, "rad"));
    case STI_VALUE_WORDS:
        return list_schema(json_pack("{s:s}", "type", "string"), 0, 0);
    case STI_VALUE_HEIGHTS:
        return list_schema(list_schema(number_schema(STI_FINITE, key->unit), 2, 0), 2, 0);
    case STI_VALUE_BITS:
        return list_schema(json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 0, "maximum", 31), 0, 0);
    case STI_VALUE_FLAG:
        return json_pack("{s:s}", "type", "boolean");
    case STI_VALUE_PAIRS:
        return list_schema(list_schema(json_pack("{s:s}", "type", "string"), 2, 2), 0, 0);
    case STI_VALUE_LIST:
        return list_schema(reference_to(key->member->word), key->needed != 0 ? 1 : 0, 0);
    case STI_VALUE_CHOICE:
        return words_schema(variant_word, key->member);
    case STI_VALUE_MOTOR:
        return reference_to(key->member->word);
    case STI_VALUE_SIMULATION:
        return reference_to("simulation");
    }
    return json_object();
}

/* Description and default of a property: "[kg] ...; left out: from the shapes". */
static json_t *described(json_t *schema, const char *unit, const char *help, const char *fallback, json_t *value)
{
    char text[600] = "";
    if (unit[0] != '\0') sti_append(text, sizeof text, "[%s]", unit);
    if (help[0] != '\0') sti_append(text, sizeof text, "%s%s", text[0] != '\0' ? " " : "", help);
    if (fallback != NULL) sti_append(text, sizeof text, "%sleft out: %s", text[0] != '\0' ? "; " : "", fallback);
    if (text[0] != '\0') schema = sti_with(schema, "description", json_string(text));
    return json_is_null(value) ? schema : sti_with(schema, "default", value);
}

static json_t *object_schema(const sti_Kind *kind, int variant)
{
    json_t *properties = json_object(), *required = json_array();
    for (int k = 0; k < kind->n_keys; k++) {
        const sti_Key *key = &kind->keys[k];
        if (!sti_key_in(key, variant)) continue;
        json_t *schema = described(value_schema(kind, key, variant), key->unit, key->help, key->fallback,
                                   sti_default_value(kind, key, variant));
        properties = sti_with(properties, key->key, schema);
        /* the first variant is what an object without the word is, where the word is not needed */
        bool tells_apart = key->value == STI_VALUE_VARIANT && variant > 0;
        if ((key->needed & (1u << variant)) != 0 || tells_apart)
            required = sti_append_to(required, json_string(key->key));
    }
    /* an empty list would be allowed, and say nothing */
    json_t *schema = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                               "additionalProperties", 0);
    if (json_array_size(json_object_get(schema, "required")) == 0) json_object_del(schema, "required");
    return schema;
}

static json_t *kind_schema(const sti_Kind *kind)
{
    if (sti_variant_key(kind) == NULL) return object_schema(kind, 0);
    json_t *alternatives = json_array();
    for (int v = 0; v < sti_variant_count(kind); v++) {
        json_t *title = json_sprintf("%s %s", kind->variant_name(v), kind->word);
        alternatives = sti_append_to(alternatives, sti_with(object_schema(kind, v), "title", title));
    }
    return json_pack("{s:o}", "oneOf", alternatives);
}

/* ---- settings --------------------------------------------------------------------------------- */

static json_t *limited(json_t *schema, const st_Setting *setting)
{
    schema = sti_with(schema, "minimum", sti_json_number(setting->min));
    return sti_with(schema, "maximum", sti_json_number(setting->max));
}

static json_t *setting_schema(const st_Setting *setting)
{
    json_t *schema = NULL;
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        return words_schema(setting_word, setting->words);
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
        schema = json_pack("{s:s}", "type", setting->kind == ST_SETTING_NUMBER ? "number" : "integer");
        return limited(schema, setting);
    case ST_SETTING_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case ST_SETTING_VECTOR:
        return list_schema(limited(json_pack("{s:s}", "type", "number"), setting), 3, 3);
    }
    return json_object();
}

static json_t *simulation_schema(void)
{
    json_t *properties = json_object();
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        json_t *schema =
            described(setting_schema(setting), setting->unit, setting->help, NULL, sti_default_setting(setting));
        properties = sti_with(properties, setting->key, schema);
    }
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

/* ---- the whole -------------------------------------------------------------------------------- */

static json_t *whole_schema(void)
{
    static const sti_Kind *const kinds[] = {&sti_material_kind, &sti_material_pair_kind, &sti_shape_kind,
                                            &sti_body_kind,     &sti_joint_kind,         &sti_motor_kind,
                                            &sti_spring_kind,   &sti_force_kind,         &sti_robot_kind};
    json_t *defs = sti_with(json_object(), "simulation", simulation_schema());
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        defs = sti_with(defs, kinds[k]->word, kind_schema(kinds[k]));

    json_t *document = json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                                 "stiction scene", "description", "A scene of stiction; SI units and radians");
    json_t *scene = object_schema(&sti_scene_kind, 0);
    json_object_del(scene, "required"); /* the reader asks for bodies once robots have brought theirs */
    json_t *some = json_pack("{s:[s], s:{s:{s:i}}}", "required", "robots", "properties", "robots", "minItems", 1);
    scene = sti_with(scene, "anyOf", json_pack("[{s:[s]}, o]", "required", "bodies", some));
    bool failed = scene == NULL || json_object_update(document, scene) != 0;
    json_decref(scene);
    document = sti_with(document, "$defs", defs);
    if (!failed) return document;
    json_decref(document);
    return NULL;
}

char *st_scene_schema(void)
{
    char *text = NULL;
    size_t size = 0;
    json_t *document = whole_schema();
    /* Through a stream of our own, so that free() is the right end whatever allocator jansson was given. */
    FILE *stream = document != NULL ? open_memstream(&text, &size) : NULL;
    if (stream != NULL) {
        bool failed = json_dumpf(document, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0;
        failed = fputc('\n', stream) == EOF || failed;
        if (fclose(stream) != 0 || failed) {
            free(text);
            text = NULL;
        }
    }
    json_decref(document);
    return text;
}
