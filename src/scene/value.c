/* scene/value.c -- converts JSON values to fields of defs, one function per kind of value. */
#include "base/range.h"
#include "scene/geometry.h"
#include "scene/grains.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static st_Status value_wrong(const sti_Value *v)
{
    return sti_wrong(v->object, v->place, v->key->key, v->json, sti_expected(v->key));
}

/* Reads exactly `count` numbers. For messages, `what` names the list and `expected` describes a valid one. */
static st_Status read_some_numbers(const sti_Object *object, const char *what, const json_t *list,
                                   const sti_Place *place, size_t count, const char *expected, double *out)
{
    if (!json_is_array(list) || json_array_size(list) != count) return sti_wrong(object, place, what, list, expected);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(list, i);
        sti_Place at = {place, NULL, i};
        char name[96];
        snprintf(name, sizeof name, "%.60s[%zu]", what, i);
        if (!json_is_number(number)) return sti_wrong(object, &at, name, number, "a number");
        out[i] = json_number_value(number);
    }
    return ST_OK;
}

st_Status sti_vector_read(const sti_Object *object, const char *what, const json_t *value, const sti_Place *place,
                          st_Vec3 *out)
{
    double x[3];
    STI_TRY(read_some_numbers(object, what, value, place, 3, "three numbers [x, y, z]", x));
    *out = (st_Vec3){x[0], x[1], x[2]};
    return ST_OK;
}

static st_Status read_vector(const sti_Value *v, void *field)
{
    st_Vec3 *out = field;
    double x[3];
    STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 3, sti_expected(v->key), x));
    *out = (st_Vec3){x[0], x[1], x[2]};
    return ST_OK;
}

static st_Status read_direction(const sti_Value *v, void *field)
{
    st_Vec3 *out = field;
    STI_TRY(read_vector(v, out));
    double length = hypot(hypot(out->x, out->y), out->z);
    if (length == 0)
        return sti_report(v->object->reader, v->place, ST_ERR_FORMAT, "%s: %s is [0, 0, 0], must be %s",
                          v->object->subject, v->key->key, sti_expected(v->key));
    if (sti_between(length, STI_SMALLEST, STI_LARGEST)) return ST_OK;
    return sti_report(v->object->reader, v->place, ST_ERR_FORMAT,
                      "%s: %s is [%g, %g, %g], must have a length from %g to %g", v->object->subject, v->key->key,
                      out->x, out->y, out->z, STI_SMALLEST, STI_LARGEST);
}

static st_Status read_name(const sti_Value *v, void *field)
{
    const char **out = field;
    const char *name = json_string_value(v->json);
    if (name == NULL) return value_wrong(v);
    bool control = false;
    for (const char *c = name; *c != '\0'; c++)
        control = control || iscntrl((unsigned char)*c);
    if (name[0] == '\0' || control)
        return sti_wrong(v->object, v->place, v->key->key, v->json, "a word without control characters, not empty");
    *out = name;
    return ST_OK;
}

static st_Status read_number(const sti_Value *v, void *field)
{
    double *out = field;
    if (!json_is_number(v->json)) return value_wrong(v);
    double x = json_number_value(v->json);
    if ((v->key->range == STI_POSITIVE && !(x > 0)) || (v->key->range == STI_NOT_NEGATIVE && !(x >= 0)) ||
        (v->key->range == STI_FRACTION && !(x >= 0 && x <= 1)))
        return value_wrong(v);
    *out = x;
    return ST_OK;
}

/* Red, green, blue, alpha. Black that is fully transparent would mean no colour, so its alpha becomes 1/255. */
static st_Status read_color(const sti_Value *v, void *field)
{
    const char *text = json_string_value(v->json);
    const size_t n = text != NULL ? strlen(text) : 0;
    if ((n != 7 && n != 9) || text[0] != '#' || strspn(text + 1, "0123456789abcdefABCDEF") != n - 1)
        return value_wrong(v);
    const uint32_t digits = (uint32_t)strtoul(text + 1, NULL, 16), rgba = n == 9 ? digits : digits << 8 | 0xff;
    *(uint32_t *)field = rgba != 0 ? rgba : 1;
    return ST_OK;
}

static st_Status read_boolean(const sti_Value *v, void *field)
{
    bool *out = field;
    if (!json_is_boolean(v->json)) return value_wrong(v);
    *out = json_is_true(v->json);
    return ST_OK;
}

static st_Status out_of_range(const sti_Value *v, const sti_Place *place, const char *what, double x, double smallest,
                              double largest)
{
    return sti_report(v->object->reader, place, ST_ERR_FORMAT, "%s: %s is %g, must be from %g to %g",
                      v->object->subject, what, x, smallest, largest);
}

/* Scale factors, which only the reader uses: one number > 0, or three that are not 0. A negative one mirrors. */
static st_Status read_scale(const sti_Value *v, void *field)
{
    (void)field;
    double x[3] = {json_number_value(v->json)};
    x[1] = x[2] = x[0];
    if (json_is_array(v->json))
        STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 3, sti_expected(v->key), x));
    else if (!(x[0] > 0))
        return value_wrong(v);
    v->object->scale = (st_Vec3){x[0], x[1], x[2]};
    for (int k = 0; k < 3; k++) {
        if (x[k] == 0) return value_wrong(v);
        if (!sti_between(fabs(x[k]), STI_SMALLEST, STI_LARGEST))
            return out_of_range(v, v->place, v->key->key, x[k], STI_SMALLEST, STI_LARGEST);
    }
    return ST_OK;
}

static st_Status read_extents(const sti_Value *v, void *field)
{
    st_Vec3 *half = field;
    double x[3];
    STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 3, sti_expected(v->key), x));
    for (size_t i = 0; i < 3; i++) {
        sti_Place at = {v->place, NULL, i};
        char name[96];
        snprintf(name, sizeof name, "%s[%zu]", v->key->key, i);
        if (sti_between(x[i], STI_SHORTEST, STI_LONGEST)) continue;
        if (!(x[i] > 0)) return sti_wrong(v->object, &at, name, json_array_get(v->json, i), "a number > 0");
        return out_of_range(v, &at, name, x[i], STI_SHORTEST, STI_LONGEST);
    }
    *half = (st_Vec3){x[0] / 2, x[1] / 2, x[2] / 2};
    return ST_OK;
}

static st_Status read_rotation(const sti_Value *v, void *field)
{
    st_Quat *out = field;
    double x[4];
    if (json_is_object(v->json)) {
        /* {"axis": [x, y, z], "angle": rad}: q = (cos(angle/2), sin(angle/2) axis/|axis|). */
        const json_t *angle = json_object_get(v->json, "angle");
        sti_Place axis_place = {v->place, "axis", 0}, angle_place = {v->place, "angle", 0};
        st_Vec3 axis;
        if (json_object_get(v->json, "axis") == NULL || angle == NULL || json_object_size(v->json) != 2)
            return sti_report(v->object->reader, v->place, ST_ERR_FORMAT,
                              "%s: %s as an object must have the keys \"axis\" and \"angle\" and no other",
                              v->object->subject, v->key->key);
        STI_TRY(sti_vector_read(v->object, "axis of its orientation", json_object_get(v->json, "axis"), &axis_place,
                                &axis));
        if (!json_is_number(angle))
            return sti_wrong(v->object, &angle_place, "angle of its orientation", angle, "a number");
        double length = hypot(hypot(axis.x, axis.y), axis.z), half = json_number_value(angle) / 2;
        if (!sti_between(length, STI_SMALLEST, STI_LARGEST))
            return sti_report(v->object->reader, &axis_place, ST_ERR_FORMAT,
                              "%s: axis of its orientation is [%g, %g, %g], must have a length from %g to %g",
                              v->object->subject, axis.x, axis.y, axis.z, STI_SMALLEST, STI_LARGEST);
        if (!sti_within(2 * half, STI_LARGEST))
            return out_of_range(v, &angle_place, "angle of its orientation", 2 * half, -STI_LARGEST, STI_LARGEST);
        double s = sin(half) / length;
        *out = (st_Quat){cos(half), s * axis.x, s * axis.y, s * axis.z};
        return ST_OK;
    }
    STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 4, sti_expected(v->key), x));
    *out = (st_Quat){x[0], x[1], x[2], x[3]};
    return ST_OK;
}

static st_Status read_inertia(const sti_Value *v, void *field)
{
    st_Mat3 *out = field;
    double x[3];
    *out = (st_Mat3){{0}};
    if (json_is_number(v->json)) {
        double about = json_number_value(v->json);
        if (!(about > 0)) return value_wrong(v);
        out->m[0] = out->m[4] = out->m[8] = about;
        return ST_OK;
    }
    if (!json_is_array(v->json) || json_array_size(v->json) != 3) return value_wrong(v);
    if (!json_is_array(json_array_get(v->json, 0))) {
        STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 3, sti_expected(v->key), x));
        out->m[0] = x[0], out->m[4] = x[1], out->m[8] = x[2];
        return ST_OK;
    }
    for (size_t row = 0; row < 3; row++) {
        sti_Place at = {v->place, NULL, row};
        char name[96];
        snprintf(name, sizeof name, "%s[%zu]", v->key->key, row);
        STI_TRY(read_some_numbers(v->object, name, json_array_get(v->json, row), &at, 3, "a row of three numbers",
                                  out->m + 3 * row));
    }
    return ST_OK;
}

static st_Status read_matrix6(const sti_Value *v, void *field)
{
    double *out = field;
    if (!json_is_array(v->json) || json_array_size(v->json) != 6) return value_wrong(v);
    for (size_t row = 0; row < 6; row++) {
        sti_Place at = {v->place, NULL, row};
        char name[96];
        snprintf(name, sizeof name, "%s[%zu]", v->key->key, row);
        STI_TRY(read_some_numbers(v->object, name, json_array_get(v->json, row), &at, 6, "a row of six numbers",
                                  out + 6 * row));
    }
    return ST_OK;
}

static st_Status read_lock(const sti_Value *v, const json_t *word, const sti_Place *place, uint32_t *out)
{
    sti_Nearest nearest = {.word = json_is_string(word) ? json_string_value(word) : ""};
    const char *name;
    uint32_t locks;
    for (int i = 0; (name = sti_lock_word(i, &locks)) != NULL; i++) {
        if (json_is_string(word) && strcmp(nearest.word, name) == 0) {
            *out |= locks;
            return ST_OK;
        }
        sti_nearest_try(&nearest, name);
    }
    char text[400], found[80];
    sti_found_text(word, found, sizeof found);
    sti_nearest_text(&nearest, "must be one of", text, sizeof text);
    return sti_report(v->object->reader, place, ST_ERR_FORMAT, "%s: %s has %s%s", v->object->subject, v->key->key,
                      found, text);
}

static st_Status read_locks(const sti_Value *v, void *field)
{
    uint32_t *out = field;
    *out = 0;
    if (json_is_string(v->json)) return read_lock(v, v->json, v->place, out);
    if (!json_is_array(v->json)) return value_wrong(v);
    for (size_t i = 0; i < json_array_size(v->json); i++) {
        sti_Place at = {v->place, NULL, i};
        STI_TRY(read_lock(v, json_array_get(v->json, i), &at, out));
    }
    return ST_OK;
}

static st_Status read_axes(const sti_Value *v, void *field)
{
    bool *body_axes = field;
    const char *word = json_string_value(v->json);
    if (word == NULL || (strcmp(word, "world") != 0 && strcmp(word, "body") != 0)) return value_wrong(v);
    *body_axes = strcmp(word, "body") == 0;
    return ST_OK;
}

/* Objects that are referred to by name. */
typedef struct Named {
    const char *list; /* list of the scene */
    const char *plural, *singular;
    int (*find)(const st_Scene *scene, const char *name);   /* index1, 0: none                     */
    const char *(*name)(const st_Scene *scene, int index1); /* NULL after the last */
} Named;

static int value_find_body(const st_Scene *scene, const char *name)
{
    return st_scene_find_body(scene, name).index1;
}

static const char *value_body_name(const st_Scene *scene, int index1)
{
    st_BodyDef def;
    return index1 <= st_scene_body_count(scene) && st_scene_body(scene, (st_BodyId){index1}, &def) == ST_OK ? def.name
                                                                                                            : NULL;
}

static int value_find_joint(const st_Scene *scene, const char *name)
{
    return st_scene_find_joint(scene, name).index1;
}

static const char *name_of_joint(const st_Scene *scene, int index1)
{
    st_JointDef def;
    return st_scene_joint(scene, (st_JointId){index1}, &def) == ST_OK ? def.name : NULL;
}

static int value_find_force(const st_Scene *scene, const char *name)
{
    return st_scene_find_force(scene, name).index1;
}

static const char *name_of_force(const st_Scene *scene, int index1)
{
    st_ForceDef def;
    return st_scene_force(scene, (st_ForceId){index1}, &def) == ST_OK ? def.name : NULL;
}

static int find_material(const st_Scene *scene, const char *name)
{
    return st_scene_find_material(scene, name).index1;
}

static const char *material_name(const st_Scene *scene, int index1)
{
    st_MaterialDef def;
    return st_scene_material(scene, (st_MaterialId){index1}, &def) == ST_OK ? def.name : NULL;
}

static const Named bodies = {"bodies", "bodies", "body", value_find_body, value_body_name};
static const Named joints = {"joints", "joints before it", "joint", value_find_joint, name_of_joint};
static const Named forces = {"forces", "forces", "force", value_find_force, name_of_force};
static const Named materials = {"materials", "materials", "material", find_material, material_name};

/* Is it in the text of the scene? Then its own error has been reported, which is enough. */
static bool is_written(const sti_Reader *reader, const char *list, const char *name)
{
    const json_t *members = json_object_get(reader->root, list);
    for (size_t i = 0; i < json_array_size(members); i++) {
        const char *other = json_string_value(json_object_get(json_array_get(members, i), "name"));
        if (other != NULL && strcmp(other, name) == 0) return true;
    }
    return false;
}

static st_Status read_reference(const sti_Value *v, const Named *named, int32_t *index1)
{
    const st_Scene *scene = v->object->reader->scene;
    const char *name = json_string_value(v->json), *other;
    if (name == NULL) return value_wrong(v);
    *index1 = named->find(scene, name);
    if (*index1 > 0 || (named == &bodies && strcmp(name, "ground") == 0)) return ST_OK;
    const sti_ErrorList *errors = v->object->reader->errors;
    if (errors != NULL && errors->count > 0 && is_written(v->object->reader, named->list, name)) return ST_ERR_FORMAT;

    sti_Nearest nearest = {.word = name};
    for (int i = 1; (other = named->name(scene, i)) != NULL; i++)
        sti_nearest_try(&nearest, other);
    char text[400];
    sti_nearest_text(&nearest, named->plural, text, sizeof text);
    return sti_report(v->object->reader, v->place, ST_ERR_FORMAT, "%s: %s is \"%.60s\", there is no %s of that name%s",
                      v->object->subject, v->key->key, name, named->singular, text);
}

static st_Status read_body(const sti_Value *v, void *field)
{
    return read_reference(v, &bodies, &((st_BodyId *)field)->index1);
}

static st_Status read_joint(const sti_Value *v, void *field)
{
    return read_reference(v, &joints, &((st_JointId *)field)->index1);
}

static st_Status read_force(const sti_Value *v, void *field)
{
    return read_reference(v, &forces, &((st_ForceId *)field)->index1);
}

static st_Status read_material(const sti_Value *v, void *field)
{
    return read_reference(v, &materials, &((st_MaterialId *)field)->index1);
}

static st_Status read_choice(const sti_Value *v, void *field)
{
    int *out = field;
    const char *word = json_string_value(v->json), *candidate;
    sti_Nearest nearest = {.word = word != NULL ? word : ""};
    for (int i = 0; (candidate = v->key->member->variant_name(i)) != NULL; i++) {
        if (word != NULL && strcmp(word, candidate) == 0) {
            *out = i;
            return ST_OK;
        }
        sti_nearest_try(&nearest, candidate);
    }
    char text[400], found[80];
    sti_found_text(v->json, found, sizeof found);
    sti_nearest_text(&nearest, "must be one of", text, sizeof text);
    return sti_report(v->object->reader, v->place, ST_ERR_FORMAT, "%s: %s is %s%s", v->object->subject, v->key->key,
                      found, text);
}

/* Checks that a profile has the keys that it needs and no others: a frequency of a constant would have no effect. */
static st_Status value_check_profile(const sti_Object *motor)
{
    static const struct {
        const char *key;
        st_ProfileType of;
        bool needed;
    } parts[] = {{"frequency", ST_PROFILE_HARMONIC, true},
                 {"phase", ST_PROFILE_HARMONIC, false},
                 {"table", ST_PROFILE_TABLE, true}};
    const st_ProfileType type = motor->def.motor.profile.type;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        const bool has = sti_object_has(motor, parts[k].key), of = type == parts[k].of;
        sti_Place at = {motor->place, parts[k].key, 0};
        if (has && !of)
            return sti_report(motor->reader, &at, ST_ERR_FORMAT,
                              "%s: has \"%s\", which is for profile \"%s\", not \"%s\"", motor->subject, parts[k].key,
                              st_profile_type_name(parts[k].of), st_profile_type_name(type));
        if (!has && of && parts[k].needed)
            return sti_report(motor->reader, motor->place, ST_ERR_FORMAT,
                              "%s: \"%s\" is missing, profile \"%s\" needs it", motor->subject, parts[k].key,
                              st_profile_type_name(type));
    }
    return ST_OK;
}

/* A vector, and a flag that it was given. */
static st_Status read_side(const sti_Value *v, void *field)
{
    v->object->def.tendon.has_side = true;
    return read_vector(v, field);
}

/* The table of the motor, if it has one, becomes that of the outer object. */
static st_Status read_motor(const sti_Value *v, void *field)
{
    sti_Object *object = v->object, inner;
    st_Status status = sti_inner_read(v, &inner);
    if (status == ST_OK) status = value_check_profile(&inner);
    *(st_MotorDef *)field = inner.def.motor;
    free(object->table);
    object->table = inner.table;
    return status;
}

/* One array has both columns. The object owns it until the core has copied it. */
st_Status sti_pairs_read(const sti_Value *v, const char *first, const char *expected)
{
    sti_Object *object = v->object;
    const char *key = v->key->key;
    size_t n = json_array_size(v->json); /* 0 if it is no list */
    if (n == 0 || n > INT_MAX / 2) return value_wrong(v);
    object->table = malloc(2 * n * sizeof *object->table);
    if (object->table == NULL)
        return sti_report(object->reader, v->place, ST_ERR_MEMORY, "out of memory for a %s of %zu rows", key, n);
    double *firsts = object->table, *seconds = firsts + n;
    for (size_t i = 0; i < n; i++) {
        sti_Place at = {v->place, NULL, i};
        char name[40];
        double row[2];
        snprintf(name, sizeof name, "%s[%zu]", key, i);
        STI_TRY(read_some_numbers(object, name, json_array_get(v->json, i), &at, 2, expected, row));
        if (i > 0 && !(row[0] > firsts[i - 1]))
            return sti_report(object->reader, &at, ST_ERR_FORMAT,
                              "%s: %s of %s[%zu] is %g, must be > %g, the %s before it", object->subject, first, key, i,
                              row[0], firsts[i - 1], first);
        firsts[i] = row[0];
        seconds[i] = row[1];
    }
    return ST_OK;
}

static st_Status read_table(const sti_Value *v, void *field)
{
    st_Profile *out = field;
    const bool in_time = v->key->unit[0] == 's';
    STI_TRY(in_time ? sti_pairs_read(v, "time", "a pair [time, value]")
                    : sti_pairs_read(v, "elongation", "a pair [elongation, force]"));
    out->n_table = (int)json_array_size(v->json);
    out->times = v->object->table;
    out->values = out->times + out->n_table;
    return ST_OK;
}

static st_Status read_count(const sti_Value *v, void *field)
{
    const double x = json_number_value(v->json);
    if (!json_is_number(v->json) || !(x >= 1 && x <= 1e9) || floor(x) != x) return value_wrong(v);
    *(int *)field = (int)x;
    return ST_OK;
}

static st_Status read_positions(const sti_Value *v, void *field)
{
    (void)field;
    const char *joint;
    json_t *number;
    if (!json_is_object(v->json)) return value_wrong(v);
    json_object_foreach((json_t *)v->json, joint, number)
    {
        sti_Place at = {v->place, joint, 0};
        char name[96];
        snprintf(name, sizeof name, "%s/%.60s", v->key->key, joint);
        if (!json_is_number(number)) return sti_wrong(v->object, &at, name, number, "a number");
    }
    return ST_OK;
}

static st_Status read_words(const sti_Value *v, void *field)
{
    (void)field;
    bool all = json_is_array(v->json);
    for (size_t i = 0; all && i < json_array_size(v->json); i++)
        all = json_is_string(json_array_get(v->json, i));
    return all ? ST_OK : value_wrong(v);
}

static st_Status read_turned(const sti_Value *v, st_Quat (*turn)(st_Vec3), st_Quat *out)
{
    st_Vec3 direction;
    STI_TRY(read_direction(v, &direction));
    *out = turn(direction);
    return ST_OK;
}

static st_Status read_normal(const sti_Value *v, void *field)
{
    return read_turned(v, st_quat_from_z, field);
}

static st_Status read_along(const sti_Value *v, void *field)
{
    return read_turned(v, st_quat_from_x, field);
}

/* ---- only checked ------------------------------------------------------------------------------- */

static st_Status read_text(const sti_Value *v, void *field)
{
    (void)field;
    return json_is_string(v->json) ? ST_OK : value_wrong(v);
}

static st_Status read_flag(const sti_Value *v, void *field)
{
    (void)field;
    return json_is_boolean(v->json) ? ST_OK : value_wrong(v);
}

static st_Status read_list(const sti_Value *v, void *field)
{
    (void)field;
    return json_is_array(v->json) && (v->key->needed == 0 || json_array_size(v->json) > 0) ? ST_OK : value_wrong(v);
}

static st_Status read_object(const sti_Value *v, void *field)
{
    (void)field;
    return json_is_object(v->json) ? ST_OK : value_wrong(v);
}

/* One axis of a periodic cell. The fields of the two ends are in its two corners. */
static st_Status read_interval(const sti_Value *v, void *field)
{
    double x[2], *lower = field, *upper = (double *)((char *)field + offsetof(st_Cell, upper));
    STI_TRY(read_some_numbers(v->object, v->key->key, v->json, v->place, 2, sti_expected(v->key), x));
    if (!sti_within(x[0], STI_LONGEST)) return out_of_range(v, v->place, v->key->key, x[0], -STI_LONGEST, STI_LONGEST);
    if (!sti_within(x[1], STI_LONGEST)) return out_of_range(v, v->place, v->key->key, x[1], -STI_LONGEST, STI_LONGEST);
    if (!(x[1] - x[0] >= STI_SHORTEST))
        return sti_report(v->object->reader, v->place, ST_ERR_FORMAT, "%s: %s is [%g, %g], must be %s",
                          v->object->subject, v->key->key, x[0], x[1], sti_expected(v->key));
    *lower = x[0], *upper = x[1];
    return ST_OK;
}

static st_Status read_cell(const sti_Value *v, void *field)
{
    sti_Object inner;
    STI_TRY(sti_inner_read(v, &inner));
    *(st_Cell *)field = inner.def.cell;
    return ST_OK;
}

static st_Status read_nothing(const sti_Value *v, void *field)
{
    (void)v, (void)field;
    return ST_OK;
}

st_Status sti_value_read(sti_Object *object, const sti_Key *key, const json_t *value, const sti_Place *place)
{
#define READ(kind, read, schema, expected) [STI_VALUE_##kind] = (read),
    static sti_ReadValue *const read[] = {STI_VALUES(READ)};
#undef READ
    sti_Value v = {object, key, value, place};
    return read[key->value](&v, (char *)&object->def + key->offset);
}
