/* scene/object.c -- reads an object by its table: known keys, required keys, then each value. */
#include "scene/reader.h"

#include <stdio.h>
#include <stdlib.h>

bool sti_object_has(const sti_Object *object, const char *key)
{
    return json_object_get(object->json, key) != NULL;
}

void sti_object_free(sti_Object *object)
{
    free(object->table);
    object->table = NULL;
    sti_model_free(&object->model);
}

/* Reads the variant first, because the other keys depend on it. */
static st_Status read_variant(sti_Object *object)
{
    const sti_Key *key = sti_variant_key(object->kind);
    object->variant = 0;
    if (key == NULL) return ST_OK;

    const json_t *value = json_object_get(object->json, key->key);
    const char *word = json_string_value(value);
    sti_Place place = {object->place, key->key, 0};
    sti_Nearest nearest = {.word = word != NULL ? word : ""};
    for (int v = 0; v < sti_variant_count(object->kind); v++) {
        const char *name = object->kind->variant_name(v);
        if (word != NULL && strcmp(word, name) == 0) {
            object->variant = v;
            return ST_OK;
        }
        sti_nearest_try(&nearest, name);
    }
    if (value == NULL && key->needed == 0) return ST_OK;

    char text[400], found[80];
    sti_nearest_text(&nearest, "must be one of", text, sizeof text);
    if (value == NULL)
        return sti_report(object->reader, object->place, ST_ERR_FORMAT, "%s: \"%s\" is missing%s", object->subject,
                          key->key, text);
    sti_found_text(value, found, sizeof found);
    return sti_report(object->reader, &place, ST_ERR_FORMAT, "%s: %s is %s%s", object->subject, key->key, found, text);
}

/* `a revolute joint`, or `a body` if the kind has no variants. */
static void describe_object(const sti_Object *object, char *out, size_t size)
{
    const sti_Key *key = sti_variant_key(object->kind);
    const char *variant = key != NULL ? object->kind->variant_name(object->variant) : "";
    if (key == NULL)
        snprintf(out, size, "a %s", object->kind->word);
    else if (strcmp(key->key, "type") == 0)
        snprintf(out, size, "%s %s %s", strchr("aeiou", variant[0]) != NULL ? "an" : "a", variant, object->kind->word);
    else
        snprintf(out, size, "a %s of %s %s", object->kind->word, key->key, variant);
}

static const sti_Key *object_find_key(const sti_Object *object, const char *name, bool *elsewhere)
{
    *elsewhere = false;
    for (int k = 0; k < object->kind->n_keys; k++) {
        const sti_Key *key = &object->kind->keys[k];
        if (strcmp(key->key, name) != 0) continue;
        if (sti_key_in(object->kind, key, object->variant)) return key;
        *elsewhere = true;
    }
    return NULL;
}

/* `; it belongs to shape`: the kinds of objects that have the key. Those inside this object come first; without any, at
 * most four others. */
static void describe_homes(const sti_Kind *kind, const char *name, char *out, size_t size)
{
    int n = 0;
    for (int k = 0; k < kind->n_keys; k++) {
        const sti_Kind *member = kind->keys[k].member;
        if (member != NULL && sti_kind_has(member, name) && n++ == 0)
            sti_append(out, size, "; it belongs to %s", member->word);
    }
    if (n > 0) return;
    if (st_setting_find(name) != NULL) sti_append(out, size, "; it belongs to simulation"), n++;
    for (int k = 0; sti_kinds[k] != NULL && n < 4; k++)
        if (sti_kinds[k] != kind && sti_kind_has(sti_kinds[k], name))
            sti_append(out, size, "%s%s", n++ == 0 ? "; it belongs to " : ", ", sti_kinds[k]->word);
}

/* Checks that every key is in the table for this variant. */
static st_Status check_known(const sti_Object *object)
{
    const char *name;
    json_t *value;
    st_Status status = ST_OK;
    json_object_foreach((json_t *)object->json, name, value)
    {
        bool elsewhere;
        if (object_find_key(object, name, &elsewhere) != NULL) continue;
        sti_Nearest nearest = {.word = name};
        for (int k = 0; k < object->kind->n_keys; k++)
            if (sti_key_in(object->kind, &object->kind->keys[k], object->variant))
                sti_nearest_try(&nearest, object->kind->keys[k].key);
        if (elsewhere) nearest.best = NULL; /* a correct key of another variant */
        char text[400], what[80], homes[160] = "";
        describe_object(object, what, sizeof what);
        const bool in_material = object->kind == &sti_shape_kind && sti_kind_has(&sti_material_kind, name);
        if (nearest.best == NULL && !elsewhere && !in_material) describe_homes(object->kind, name, homes, sizeof homes);
        if (in_material)
            snprintf(text, sizeof text,
                     "; a material has it: write it there, and the name of the material in the shape");
        else
            sti_nearest_text(&nearest, "known keys", text, sizeof text);
        sti_Place place = {object->place, name, 0};
        status = sti_report(object->reader, &place, ST_ERR_FORMAT, "%s: %s has no key \"%.60s\"%s%s", object->subject,
                            what, name, homes, text);
        if (!STI_GO_ON(object->reader, status)) break;
    }
    return status;
}

/* Fails if two keys with the same meaning are given, such as an orientation and a direction. */
static st_Status check_not_twice(const sti_Object *object, int k)
{
    const sti_Key *key = &object->kind->keys[k];
    if (key->value != STI_VALUE_NORMAL && key->value != STI_VALUE_ALONG) return ST_OK;
    for (int i = 0; i < k; i++) {
        const sti_Key *other = &object->kind->keys[i];
        if (other->offset != key->offset || other->value != STI_VALUE_ROTATION || !sti_object_has(object, other->key))
            continue;
        sti_Place place = {object->place, key->key, 0};
        return sti_report(object->reader, &place, ST_ERR_FORMAT,
                          "%s: has both \"%s\" and \"%s\", must have one of them", object->subject, other->key,
                          key->key);
    }
    return ST_OK;
}

st_Status sti_object_read(sti_Object *object, const char *family)
{
    /* `body "left"`, `shape "foot" of body "left"`; unnamed objects by their number. */
    const char *name = json_string_value(json_object_get(object->json, "name"));
    char *subject = object->subject;
    subject[0] = '\0';
    if (object->place == NULL)
        sti_append(subject, sizeof object->subject, "scene");
    else if (name != NULL && name[0] != '\0')
        sti_append(subject, sizeof object->subject, "%s \"%.60s\"", object->kind->word, name);
    else if (family[0] != '\0' && object->place->key != NULL)
        sti_append(subject, sizeof object->subject, "%s", object->kind->word);
    else if (family[0] != '\0')
        sti_append(subject, sizeof object->subject, "%s %zu", object->kind->word, object->place->index);
    else
        sti_place_text(object->place, subject, sizeof object->subject);
    if (family[0] != '\0') sti_append(subject, sizeof object->subject, " %s", family);

    if (!json_is_object(object->json)) {
        char found[80];
        sti_found_text(object->json, found, sizeof found);
        return sti_report(object->reader, object->place, ST_ERR_FORMAT, "%s is %s, must be an object", object->subject,
                          found);
    }
    STI_TRY(read_variant(object));
    if (object->kind->defaults != NULL) object->kind->defaults(object->variant, &object->def);
    st_Status status = check_known(object), bad;
    if (status != ST_OK && !STI_GO_ON(object->reader, status)) return status;

    for (int k = 0; k < object->kind->n_keys; k++) {
        const sti_Key *key = &object->kind->keys[k];
        if (!sti_key_in(object->kind, key, object->variant)) continue;
        const json_t *value = json_object_get(object->json, key->key);
        bad = ST_OK;
        if (value != NULL) {
            sti_Place place = {object->place, key->key, 0};
            bad = check_not_twice(object, k);
            if (bad == ST_OK) bad = sti_value_read(object, key, value, &place);
        } else if (sti_key_needed(object->kind, key, object->variant)) {
            char what[80];
            describe_object(object, what, sizeof what);
            bad = sti_report(object->reader, object->place, ST_ERR_FORMAT, "%s: \"%s\" is missing, %s needs it: %s",
                             object->subject, key->key, what, sti_expected(key));
        }
        if (bad != ST_OK) status = bad;
        if (bad != ST_OK && !STI_GO_ON(object->reader, bad)) break;
    }
    return status;
}

st_Status sti_inner_read(const sti_Value *v, sti_Object *inner)
{
    *inner = (sti_Object){.reader = v->object->reader, .kind = v->key->member, .place = v->place, .json = v->json};
    char family[sizeof v->object->subject + 4];
    snprintf(family, sizeof family, "of %s", v->object->subject);
    return sti_object_read(inner, family);
}
