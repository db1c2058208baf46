/* batch/parameters.c -- values of a scene by the path that they have in a scene file, for worlds that differ in them.
 */
#include "batch/batch.h"
#include "model/check.h"
#include "model/joint.h"
#include "model/tendon.h"

#include <stdio.h>

/* The range that a value must be in. */
typedef enum Range { POSITIVE, NOT_NEGATIVE, UNIT, LIMIT /* > 0, or infinite */ } Range;

typedef struct Key {
    const char *name;
    size_t offset; /* of a double in the def */
    Range range;
} Key;

static const Key body_keys[] = {{"mass", offsetof(st_BodyDef, mass), POSITIVE}, {NULL, 0, POSITIVE}};
static const Key shape_keys[] = {{"friction", offsetof(st_ShapeDef, mu), NOT_NEGATIVE},
                                 {"restitution", offsetof(st_ShapeDef, restitution), UNIT},
                                 {"rolling", offsetof(st_ShapeDef, rolling), NOT_NEGATIVE},
                                 {"spinning", offsetof(st_ShapeDef, spinning), NOT_NEGATIVE},
                                 {NULL, 0, POSITIVE}};
static const Key material_keys[] = {{"friction", offsetof(st_MaterialDef, mu), NOT_NEGATIVE},
                                    {"restitution", offsetof(st_MaterialDef, restitution), UNIT},
                                    {"rolling", offsetof(st_MaterialDef, rolling), NOT_NEGATIVE},
                                    {"spinning", offsetof(st_MaterialDef, spinning), NOT_NEGATIVE},
                                    {NULL, 0, POSITIVE}};
static const Key joint_keys[] = {{"friction", offsetof(st_JointDef, friction), NOT_NEGATIVE},
                                 {"stiffness", offsetof(st_JointDef, stiffness), NOT_NEGATIVE},
                                 {"damping", offsetof(st_JointDef, damping), NOT_NEGATIVE},
                                 {"armature", offsetof(st_JointDef, armature), NOT_NEGATIVE},
                                 {"motor/stiffness", offsetof(st_JointDef, motor.stiffness), POSITIVE},
                                 {"motor/damping", offsetof(st_JointDef, motor.damping), NOT_NEGATIVE},
                                 {"motor/max_force", offsetof(st_JointDef, motor.max_force), LIMIT},
                                 {NULL, 0, POSITIVE}};
static const Key spring_keys[] = {{"stiffness", offsetof(st_SpringDef, stiffness), NOT_NEGATIVE},
                                  {"damping", offsetof(st_SpringDef, damping), NOT_NEGATIVE},
                                  {NULL, 0, POSITIVE}};

/* Does the name match the pattern of `length` characters, with stars for any characters? */
static bool matches(const char *pattern, size_t length, const char *name)
{
    if (length == 0) return *name == '\0';
    if (*pattern == '*')
        return matches(pattern + 1, length - 1, name) || (*name != '\0' && matches(pattern, length, name + 1));
    return *name == *pattern && matches(pattern + 1, length - 1, name + 1);
}

/* After "PART/", the next part; NULL: the path does not begin so. */
static const char *after(const char *path, const char *part)
{
    const size_t n = strlen(part);
    return strncmp(path, part, n) == 0 && path[n] == '/' ? path + n + 1 : NULL;
}

static st_Status find_key(const char *path, const char *name, const Key *keys, const Key **out, st_Error *err)
{
    char list[200] = "";
    for (const Key *key = keys; key->name != NULL; key++) {
        if (strcmp(name, key->name) == 0) {
            *out = key;
            return ST_OK;
        }
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n > 0 ? ", " : "", key->name);
    }
    return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\": \"%s\" must be one of %s", path, name, list);
}

static st_Status check_value(const char *path, const Key *key, double value, st_Error *err)
{
    bool ok = false;
    switch (key->range) {
    case POSITIVE:
        ok = sti_between(value, STI_SMALLEST, STI_LARGEST);
        break;
    case NOT_NEGATIVE:
        ok = sti_zero_or_between(value, STI_SMALLEST, STI_LARGEST);
        break;
    case UNIT:
        ok = value >= 0 && value <= 1;
        break;
    case LIMIT:
        ok = value >= STI_SMALLEST;
        break;
    }
    if (ok) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\" is %g, must be %s", path, value,
                    key->range == UNIT           ? "from 0 to 1"
                    : key->range == NOT_NEGATIVE ? "0 or more, and finite"
                                                 : "> 0");
}

/* Read the first place (to != NULL), or set all: the value at an offset of a def. */
typedef struct Access {
    const char *path;
    double *to; /* NULL: set `value` */
    double value;
    int reached;
} Access;

static void access_number(Access *a, const Key *key, void *def)
{
    double *at = (double *)(void *)((char *)def + key->offset);
    if (a->to == NULL)
        *at = a->value;
    else if (a->reached == 0)
        *a->to = *at;
    a->reached++;
}

/* bodies/NAME/mass, bodies/NAME/shapes/NAME/KEY; ground/NAME/KEY: body 0. */
static st_Status access_bodies(Access *a, st_Scene *scene, const char *rest, bool ground, st_Error *err)
{
    const Key *key = NULL;
    const char *slash = ground ? rest - 1 : strchr(rest, '/'), *shapes = NULL;
    const size_t length = ground ? 0 : (size_t)(slash != NULL ? slash - rest : 0);
    if (slash != NULL) shapes = ground ? rest : after(slash + 1, "shapes");
    const char *end = shapes != NULL ? strchr(shapes, '/') : NULL;
    if (slash == NULL || (shapes != NULL && end == NULL) || (shapes == NULL && length == 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "parameter \"%s\": must be bodies/NAME/mass, bodies/NAME/shapes/NAME/KEY or "
                        "ground/NAME/KEY",
                        a->path);
    STI_TRY(
        find_key(a->path, shapes != NULL ? end + 1 : slash + 1, shapes != NULL ? shape_keys : body_keys, &key, err));
    if (a->to == NULL) STI_TRY(check_value(a->path, key, a->value, err));
    for (int b = ground ? 0 : 1; b < (ground ? 1 : scene->n_bodies); b++) {
        if (!ground && !matches(rest, length, scene->names[STI_BODY].name[b])) continue;
        if (shapes == NULL && !scene->body[b].fixed) {
            /* The inertia changes in proportion to the mass. */
            double mass = 0;
            st_Mat3 inertia;
            st_BodyDef *def = &scene->body[b];
            STI_TRY(st_scene_body_mass(scene, (st_BodyId){b}, &mass, &inertia, err));
            if (a->to == NULL && a->value != mass) {
                for (int k = 0; k < 9; k++)
                    def->inertia.m[k] = inertia.m[k] * (a->value / mass);
                def->mass = a->value;
            } else if (a->to != NULL && a->reached == 0) {
                *a->to = mass;
            }
            a->reached++;
        }
        for (int k = shapes != NULL ? scene->first_shape[b] : -1; k >= 0; k = scene->next_shape[k])
            if (matches(shapes, (size_t)(end - shapes), sti_shape_name(scene, k))) {
                /* Defs of shapes are shared: one with another value is another def. */
                st_ShapeDef def = *sti_shape_def(scene, k);
                if (def.material.index1 != 0)
                    return sti_fail(err, ST_ERR_ARGUMENT,
                                    "parameter \"%s\": shape %s has a material, \"%s\": vary materials/%s/%s", a->path,
                                    sti_shape_label(scene, k).text,
                                    scene->names[STI_MATERIAL].name[def.material.index1 - 1],
                                    scene->names[STI_MATERIAL].name[def.material.index1 - 1], key->name);
                access_number(a, key, &def);
                if (a->to == NULL) {
                    int kind = sti_shape_cache_find(&scene->shape_cache, &def);
                    const sti_CachedMass mass = scene->shape_cache.mass[scene->cached_shape[k]];
                    if (kind < 0)
                        STI_TRY(sti_shape_cache_take(&scene->allocator, &scene->shape_cache, &def, &mass, &kind, err));
                    scene->cached_shape[k] = kind;
                }
            }
    }
    return ST_OK;
}

/* Has the joint something that the key acts on? */
static bool joint_takes(const st_JointDef *def, const Key *key)
{
    const st_MotorType motor = def->motor.type;
    if (sti_joint_coordinates(def->type) == 0) return false;
    if (strncmp(key->name, "motor/", 6) != 0) return true;
    return strcmp(key->name, "motor/stiffness") == 0 ? motor == ST_MOTOR_POSITION
                                                     : motor != ST_MOTOR_NONE && motor != ST_MOTOR_MOTION;
}

static st_Status access_joint(Access *a, const Key *key, st_Scene *scene, int k, st_Error *err)
{
    st_TendonPoint path[STI_TENDON_PARTS];
    st_JointDef *def = &scene->joint[k];
    if (!joint_takes(def, key)) return ST_OK;
    access_number(a, key, def);
    st_JointDef checked = *def; /* with the new value the def must pass as a whole */
    return sti_check_joint(scene, subject_of(STI_JOINT, scene->names[STI_JOINT].name[k], err), &checked, path);
}

static st_Status access_spring(Access *a, const Key *key, st_Scene *scene, int k, st_Error *err)
{
    st_SpringDef *def = &scene->spring[k];
    if (def->type == ST_SPRING_BUSHING) return ST_OK;
    access_number(a, key, def);
    st_SpringDef checked = *def;
    return sti_check_spring(scene, subject_of(STI_SPRING, scene->names[STI_SPRING].name[k], err), &checked);
}

static st_Status access_material(Access *a, const Key *key, st_Scene *scene, int k, st_Error *err)
{
    (void)err;
    access_number(a, key, &scene->material[k]);
    return ST_OK;
}

/* KIND/NAME/KEY. */
static st_Status access_list(Access *a, st_Scene *scene, sti_ObjectKind kind, int n, const char *rest, const Key *keys,
                             st_Status (*one)(Access *, const Key *, st_Scene *, int, st_Error *), st_Error *err)
{
    const Key *key = NULL;
    const char *slash = strchr(rest, '/');
    if (slash == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\": must be KIND/NAME/KEY", a->path);
    STI_TRY(find_key(a->path, slash + 1, keys, &key, err));
    if (a->to == NULL) STI_TRY(check_value(a->path, key, a->value, err));
    for (int k = 0; k < n; k++)
        if (matches(rest, (size_t)(slash - rest), scene->names[kind].name[k])) STI_TRY(one(a, key, scene, k, err));
    return ST_OK;
}

static st_Status access_path(Access *a, st_Scene *s, st_Error *err)
{
    const char *path = a->path, *rest;
    st_Status status = ST_ERR_ARGUMENT;
    if ((rest = after(path, "bodies")) != NULL)
        status = access_bodies(a, s, rest, false, err);
    else if ((rest = after(path, "ground")) != NULL)
        status = access_bodies(a, s, rest, true, err);
    else if ((rest = after(path, "materials")) != NULL)
        status = access_list(a, s, STI_MATERIAL, s->n_materials, rest, material_keys, access_material, err);
    else if ((rest = after(path, "joints")) != NULL)
        status = access_list(a, s, STI_JOINT, s->n_joints, rest, joint_keys, access_joint, err);
    else if ((rest = after(path, "springs")) != NULL)
        status = access_list(a, s, STI_SPRING, s->n_springs, rest, spring_keys, access_spring, err);
    else
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "parameter \"%s\": must begin with bodies/, ground/, materials/, joints/ or "
                        "springs/",
                        path);
    if (status == ST_OK && a->reached == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\": the scene has nothing of this name that can vary",
                        path);
    return status;
}

st_Status sti_parameter_value(const st_Scene *scene, const char *path, double *out, st_Error *err)
{
    return access_path(&(Access){.path = path, .to = out}, (st_Scene *)scene, err); /* reads only */
}

st_Status sti_parameter_set(st_Scene *scene, const char *path, double value, st_Error *err)
{
    return access_path(&(Access){.path = path, .value = value}, scene, err);
}
