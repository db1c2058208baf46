/* scene/schema.c -- the JSON Schema of scene files, written from the reader's own tables.
 *
 * An object with variants (a shape, a joint) becomes a list of alternatives, told apart by the constant
 * in their `type`: exactly one can match, and each has its own keys.
 */
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

json_t *sti_json_number(double x)
{
    return floor(x) == x && fabs(x) < 1e15 ? json_integer((json_int_t)x) : json_real(x);
}

json_t *sti_json_vector(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, sti_json_number(x[i]));
    return list;
}

static json_t *number_schema(sti_Range range)
{
    json_t *schema = json_pack("{s:s}", "type", "number");
    if (range == STI_POSITIVE) json_object_set_new(schema, "exclusiveMinimum", json_integer(0));
    if (range == STI_NOT_NEGATIVE) json_object_set_new(schema, "minimum", json_integer(0));
    return schema;
}

static json_t *list_schema(json_t *items, int min, int max)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (min > 0) json_object_set_new(schema, "minItems", json_integer(min));
    if (max > 0) json_object_set_new(schema, "maxItems", json_integer(max));
    return schema;
}

static json_t *numbers_schema(int n, sti_Range range)
{
    return list_schema(number_schema(range), n, n);
}

static json_t *words_schema(const char *(*word)(const void *from, int index), const void *from)
{
    json_t *words = json_array();
    const char *text;
    for (int i = 0; (text = word(from, i)) != NULL; i++)
        json_array_append_new(words, json_string(text));
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
                             numbers_schema(3, STI_FINITE), "angle", number_schema(STI_FINITE), "required", "axis",
                             "angle", "additionalProperties", 0);
    return json_pack("{s:[o, o]}", "anyOf", numbers_schema(4, STI_FINITE), turn);
}

static json_t *inertia_schema(void)
{
    return json_pack("{s:[o, o, o]}", "anyOf", number_schema(STI_POSITIVE), numbers_schema(3, STI_FINITE),
                     list_schema(numbers_schema(3, STI_FINITE), 3, 3));
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
        return number_schema(key->range);
    case STI_VALUE_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case STI_VALUE_VECTOR:
    case STI_VALUE_DIRECTION:
    case STI_VALUE_NORMAL:
    case STI_VALUE_ALONG:
        return numbers_schema(3, key->range);
    case STI_VALUE_EXTENTS:
        return numbers_schema(3, STI_POSITIVE);
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
        return list_schema(numbers_schema(2, STI_FINITE), 1, 0);
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

json_t *sti_default_value(const sti_Kind *kind, const sti_Key *key, int variant)
{
    sti_Def def;
    if (kind->defaults == NULL || key->fallback != NULL || (key->needed & (1u << variant)) != 0) return NULL;
    kind->defaults(variant, &def);
    const void *field = (const char *)&def + key->offset;
    switch (key->value) {
    case STI_VALUE_NUMBER:
        return sti_json_number(*(const double *)field);
    case STI_VALUE_BOOLEAN:
        return json_boolean(*(const bool *)field);
    case STI_VALUE_VECTOR:
        return sti_json_vector(&((const st_Vec3 *)field)->x, 3);
    case STI_VALUE_ROTATION:
        return sti_json_vector(&((const st_Quat *)field)->w, 4);
    case STI_VALUE_LOCKS:
        return *(const uint32_t *)field == 0 ? json_array() : NULL;
    case STI_VALUE_AXES:
        return json_string(*(const bool *)field ? "body" : "world");
    case STI_VALUE_VARIANT:
        return json_string(kind->variant_name(0));
    case STI_VALUE_CHOICE:
        return json_string(key->member->variant_name(*(const int *)field));
    default:
        return NULL;
    }
}

/* "mass [kg]: ...; left out: from the shapes". */
static void describe(json_t *schema, const char *unit, const char *help, const char *fallback)
{
    char text[600] = "";
    if (unit[0] != '\0') sti_append(text, sizeof text, "[%s]", unit);
    if (help[0] != '\0') sti_append(text, sizeof text, "%s%s", text[0] != '\0' ? " " : "", help);
    if (fallback != NULL) sti_append(text, sizeof text, "%sleft out: %s", text[0] != '\0' ? "; " : "", fallback);
    if (text[0] != '\0') json_object_set_new(schema, "description", json_string(text));
}

static json_t *object_schema(const sti_Kind *kind, int variant)
{
    json_t *properties = json_object(), *required = json_array();
    for (int k = 0; k < kind->n_keys; k++) {
        const sti_Key *key = &kind->keys[k];
        if (!sti_key_in(key, variant)) continue;
        json_t *schema = value_schema(kind, key, variant), *fallback = sti_default_value(kind, key, variant);
        describe(schema, key->unit, key->help, key->fallback);
        if (fallback != NULL) json_object_set_new(schema, "default", fallback);
        json_object_set_new(properties, key->key, schema);
        /* the first variant is what an object without the word is, where the word is not needed */
        bool tells_apart = key->value == STI_VALUE_VARIANT && variant > 0;
        if ((key->needed & (1u << variant)) != 0 || tells_apart) json_array_append_new(required, json_string(key->key));
    }
    json_t *schema =
        json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
    if (json_array_size(required) > 0)
        json_object_set_new(schema, "required", required);
    else
        json_decref(required);
    return schema;
}

static json_t *kind_schema(const sti_Kind *kind)
{
    if (sti_variant_key(kind) == NULL) return object_schema(kind, 0);
    json_t *alternatives = json_array();
    for (int v = 0; v < sti_variant_count(kind); v++) {
        json_t *schema = object_schema(kind, v);
        json_object_set_new(schema, "title", json_sprintf("%s %s", kind->variant_name(v), kind->word));
        json_array_append_new(alternatives, schema);
    }
    return json_pack("{s:o}", "oneOf", alternatives);
}

/* ---- settings --------------------------------------------------------------------------------- */

static json_t *limited(json_t *schema, const st_Setting *setting)
{
    json_object_set_new(schema, "minimum", sti_json_number(setting->min));
    json_object_set_new(schema, "maximum", sti_json_number(setting->max));
    return schema;
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

json_t *sti_default_setting(const st_Setting *setting)
{
    st_SystemDef def = st_system_def();
    st_SettingValue value = {0};
    if (st_setting_get(&def, setting->key, &value, NULL) != ST_OK) return NULL;
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        return value.word != NULL ? json_string(value.word) : NULL;
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
        return isfinite(value.number) ? sti_json_number(value.number) : NULL;
    case ST_SETTING_BOOLEAN:
        return json_boolean(value.number != 0);
    case ST_SETTING_VECTOR:
        return sti_json_vector(&value.vector.x, 3);
    }
    return NULL;
}

static json_t *simulation_schema(void)
{
    json_t *properties = json_object();
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        json_t *schema = setting_schema(setting), *fallback = sti_default_setting(setting);
        describe(schema, setting->unit, setting->help, NULL);
        if (fallback != NULL) json_object_set_new(schema, "default", fallback);
        json_object_set_new(properties, setting->key, schema);
    }
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

/* ---- the whole -------------------------------------------------------------------------------- */

char *st_scene_schema(void)
{
    static const sti_Kind *const kinds[] = {&sti_material_kind, &sti_material_pair_kind, &sti_shape_kind,
                                            &sti_body_kind,     &sti_joint_kind,         &sti_motor_kind,
                                            &sti_spring_kind,   &sti_force_kind};
    json_t *schema = object_schema(&sti_scene_kind, 0), *defs = json_object();
    json_object_set_new(defs, "simulation", simulation_schema());
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        json_object_set_new(defs, kinds[k]->word, kind_schema(kinds[k]));

    json_t *document = json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                                 "stiction scene", "description", "A scene of stiction; SI units and radians");
    int failed = json_object_update(document, schema) + json_object_set_new(document, "$defs", defs);
    json_decref(schema);

    /* Through a stream of our own, so that free() is the right end whatever allocator jansson was given. */
    char *text = NULL;
    size_t size = 0;
    FILE *stream = failed == 0 ? open_memstream(&text, &size) : NULL;
    if (stream != NULL) {
        failed = json_dumpf(document, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
        failed |= fputc('\n', stream) == EOF;
        failed |= fclose(stream);
        if (failed != 0) {
            free(text);
            text = NULL;
        }
    }
    json_decref(document);
    return text;
}
