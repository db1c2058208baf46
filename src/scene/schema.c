/* scene/schema.c -- writes the JSON Schema of scene files from the tables of the reader.
 *
 * An object with variants (a shape, a joint) becomes a list of alternatives with different constants in their
 * `type`: exactly one can match, and each has its own keys.
 */
#include "base/range.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

/* A key of an object in one of its variants. */
typedef struct Described {
    const sti_Kind *kind;
    const sti_Key *key;
    int variant;
} Described;

/* A number within the limits of base/range.h. Its unit shows whether it is a length. */
static json_t *a_number(sti_Range range, const char *unit)
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

static json_t *a_list(json_t *items, int min, int max)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "array", "items", items);
    if (min > 0) schema = sti_with(schema, "minItems", json_integer(min));
    if (max > 0) schema = sti_with(schema, "maxItems", json_integer(max));
    return schema;
}

static json_t *some_numbers(int n, sti_Range range, const char *unit)
{
    return a_list(a_number(range, unit), n, n);
}

static json_t *one_word_of(const char *(*word)(const void *from, int index), const void *from)
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

static json_t *rotation_schema(const Described *d)
{
    (void)d;
    json_t *turn = json_pack("{s:s, s:{s:o, s:o}, s:[s, s], s:b}", "type", "object", "properties", "axis",
                             some_numbers(3, STI_FINITE, ""), "angle", a_number(STI_FINITE, "rad"), "required", "axis",
                             "angle", "additionalProperties", 0);
    return json_pack("{s:[o, o]}", "anyOf", some_numbers(4, STI_FINITE, ""), turn);
}

static json_t *inertia_schema(const Described *d)
{
    (void)d;
    json_t *moment = json_pack("{s:s, s:o, s:o}", "type", "number", "minimum", sti_json_number(-STI_MOST_INERTIA),
                               "maximum", sti_json_number(STI_MOST_INERTIA));
    json_t *alone = sti_with(json_deep_copy(moment), "minimum", sti_json_number(STI_LEAST_INERTIA));
    json_t *row = a_list(moment, 3, 3);
    return json_pack("{s:[o, o, o]}", "anyOf", alone, json_deep_copy(row), a_list(row, 3, 3));
}

static json_t *matrix6_schema(const Described *d)
{
    return a_list(some_numbers(6, STI_FINITE, d->key->unit), 6, 6);
}

static json_t *locks_schema(const Described *d)
{
    (void)d;
    json_t *word = one_word_of(lock_word, NULL);
    return json_pack("{s:[o, o]}", "anyOf", word, a_list(json_deep_copy(word), 0, 0));
}

static json_t *reference_to(const char *word)
{
    char path[80];
    snprintf(path, sizeof path, "#/$defs/%s", word);
    return json_pack("{s:s}", "$ref", path);
}

static json_t *text_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s}", "type", "string");
}

static json_t *color_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s, s:s}", "type", "string", "pattern", "^#([0-9a-fA-F]{6}|[0-9a-fA-F]{8})$");
}

static json_t *name_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s, s:i}", "type", "string", "minLength", 1);
}

static json_t *number_schema(const Described *d)
{
    return a_number(d->key->range, d->key->unit);
}

static json_t *boolean_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s}", "type", "boolean");
}

static json_t *vector_schema(const Described *d)
{
    return some_numbers(3, d->key->range, d->key->unit);
}

static json_t *extents_schema(const Described *d)
{
    return some_numbers(3, STI_POSITIVE, d->key->unit);
}

static json_t *axes_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:[s, s]}", "enum", "world", "body");
}

static json_t *variant_schema(const Described *d)
{
    return json_pack("{s:s}", "const", d->kind->variant_name(d->variant));
}

static json_t *table_schema(const Described *d)
{
    return a_list(some_numbers(2, STI_FINITE, d->key->unit), 1, 0);
}

static json_t *points_schema(const Described *d)
{
    return a_list(some_numbers(3, STI_FINITE, d->key->unit), 1, 0);
}

static json_t *triangles_schema(const Described *d)
{
    return a_list(some_numbers(3, STI_NOT_NEGATIVE, d->key->unit), 1, 0);
}

static json_t *outline_schema(const Described *d)
{
    return a_list(some_numbers(2, STI_FINITE, d->key->unit), 2, 0);
}

static json_t *sides_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", STI_SIDES_LEAST, "maximum", STI_SIDES_MOST);
}

static json_t *scale_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:[o, o]}", "anyOf", a_number(STI_POSITIVE, ""), some_numbers(3, STI_FINITE, ""));
}

static json_t *positions_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", a_number(STI_FINITE, "rad"));
}

static json_t *words_schema(const Described *d)
{
    (void)d;
    return a_list(json_pack("{s:s}", "type", "string"), 0, 0);
}

static json_t *heights_schema(const Described *d)
{
    return a_list(a_list(a_number(STI_FINITE, d->key->unit), 2, 0), 2, 0);
}

static json_t *bits_schema(const Described *d)
{
    (void)d;
    return a_list(json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 0, "maximum", 31), 0, 0);
}

static json_t *pairs_schema(const Described *d)
{
    (void)d;
    return a_list(a_list(json_pack("{s:s}", "type", "string"), 2, 2), 0, 0);
}

static json_t *count_schema(const Described *d)
{
    (void)d;
    return json_pack("{s:s, s:i, s:i}", "type", "integer", "minimum", 1, "maximum", 1000000000);
}

static json_t *region_schema(const Described *d)
{
    return json_pack("{s:[{s:s}, o]}", "anyOf", "type", "string", reference_to(d->key->member->word));
}

static json_t *interval_schema(const Described *d)
{
    return some_numbers(2, STI_FINITE, d->key->unit);
}

static json_t *sizes_schema(const Described *d)
{
    return json_pack("{s:[o, o]}", "anyOf", a_number(STI_POSITIVE, "m"), reference_to(d->key->member->word));
}

static json_t *sieves_schema(const Described *d)
{
    return a_list(some_numbers(2, STI_NOT_NEGATIVE, d->key->unit), 2, 0);
}

static json_t *list_schema(const Described *d)
{
    return a_list(reference_to(d->key->member->word), d->key->needed != 0 ? 1 : 0, 0);
}

static json_t *choice_schema(const Described *d)
{
    return one_word_of(variant_word, d->key->member);
}

static json_t *member_schema(const Described *d)
{
    return reference_to(d->key->member->word);
}

static json_t *simulation_schema(const Described *d)
{
    (void)d;
    return reference_to("simulation");
}

static json_t *value_schema(const sti_Kind *kind, const sti_Key *key, int variant)
{
#define SCHEMA(kind, read, schema, expected) [STI_VALUE_##kind] = (schema),
    static json_t *(*const schema[])(const Described *) = {STI_VALUES(SCHEMA)};
#undef SCHEMA
    return schema[key->value](&(Described){kind, key, variant});
}

/* Description and default of a property: "[kg] ...; default: from the shapes". */
static json_t *described(json_t *schema, const char *unit, const char *help, const char *fallback, json_t *value)
{
    char text[600] = "";
    if (unit[0] != '\0') sti_append(text, sizeof text, "[%s]", unit);
    if (help[0] != '\0') sti_append(text, sizeof text, "%s%s", text[0] != '\0' ? " " : "", help);
    if (fallback != NULL) sti_append(text, sizeof text, "%sdefault: %s", text[0] != '\0' ? "; " : "", fallback);
    if (text[0] != '\0') schema = sti_with(schema, "description", json_string(text));
    return json_is_null(value) ? schema : sti_with(schema, "default", value);
}

static json_t *object_schema(const sti_Kind *kind, int variant)
{
    json_t *properties = json_object(), *required = json_array();
    for (int k = 0; k < kind->n_keys; k++) {
        const sti_Key *key = &kind->keys[k];
        if (!sti_key_in(kind, key, variant)) continue;
        json_t *schema = described(value_schema(kind, key, variant), key->unit, key->help, key->fallback,
                                   sti_default_value(kind, key, variant));
        properties = sti_with(properties, key->key, schema);
        /* a word that may be left out means the first variant */
        bool distinguishes = key->value == STI_VALUE_VARIANT && variant > 0;
        if (sti_key_needed(kind, key, variant) || distinguishes)
            required = sti_append_to(required, json_string(key->key));
    }
    /* an empty list is valid, but useless */
    json_t *schema = json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties, "required", required,
                               "additionalProperties", 0);
    if (json_array_size(json_object_get(schema, "required")) == 0) json_object_del(schema, "required");
    return schema;
}

/* The keys beside `profile` of a motor, as checked by value.c. A key that must be absent is declared as null, which
 * its own schema refuses. */
static json_t *profile_schema(void)
{
    json_t *none = json_pack("{s:n}", "const");
    json_t *steady = json_pack("{s:{s:{s:[s, s]}, s:O, s:O, s:O}}", "properties", "profile", "enum", "constant", "ramp",
                               "frequency", none, "phase", none, "table", none);
    json_t *harmonic = json_pack("{s:{s:{s:s}, s:O}, s:[s, s]}", "properties", "profile", "const", "harmonic", "table",
                                 none, "required", "profile", "frequency");
    json_t *table = json_pack("{s:{s:{s:s}, s:O, s:O}, s:[s, s]}", "properties", "profile", "const", "table",
                              "frequency", none, "phase", none, "required", "profile", "table");
    json_decref(none);
    return json_pack("[o, o, o]", steady, harmonic, table);
}

static json_t *kind_schema(const sti_Kind *kind)
{
    if (sti_variant_key(kind) == NULL) return object_schema(kind, 0);
    json_t *alternatives = json_array();
    for (int v = 0; v < sti_variant_count(kind); v++) {
        json_t *title = json_sprintf("%s %s", kind->variant_name(v), kind->word);
        alternatives = sti_append_to(alternatives, sti_with(object_schema(kind, v), "title", title));
    }
    json_t *schema = json_pack("{s:o}", "oneOf", alternatives);
    return kind == &sti_motor_kind ? sti_with(schema, "anyOf", profile_schema()) : schema;
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
        return one_word_of(setting_word, setting->words);
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
        schema = json_pack("{s:s}", "type", setting->kind == ST_SETTING_NUMBER ? "number" : "integer");
        return limited(schema, setting);
    case ST_SETTING_BOOLEAN:
        return json_pack("{s:s}", "type", "boolean");
    case ST_SETTING_VECTOR:
        return a_list(limited(json_pack("{s:s}", "type", "number"), setting), 3, 3);
    }
    return json_object();
}

/* ---- the whole -------------------------------------------------------------------------------- */

/* A list with at least one member. */
static json_t *some(const char *list)
{
    return json_pack("{s:[s], s:{s:{s:i}}}", "required", list, "properties", list, "minItems", 1);
}

static json_t *whole_schema(void)
{
    json_t *properties = json_object();
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        json_t *schema =
            described(setting_schema(setting), setting->unit, setting->help, NULL, sti_default_setting(setting));
        properties = sti_with(properties, setting->key, schema);
    }
    json_t *defs =
        sti_with(json_object(), "simulation",
                 json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0));

    for (int k = 0; sti_kinds[k] != NULL; k++)
        defs = sti_with(defs, sti_kinds[k]->word, kind_schema(sti_kinds[k]));

    json_t *document = json_pack("{s:s, s:s, s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                                 "stiction scene", "description", "A scene of stiction; SI units and radians");
    json_t *scene = object_schema(&sti_scene_kind, 0);
    scene = sti_with(scene, "anyOf",
                     json_pack("[o, o, o, o]", some("bodies"), some("robots"), some("fills"), some("inlets")));
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
    /* Written through our own stream, so that free() is correct whatever allocator jansson uses. */
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
