/* model/parameters.c -- parameters of a scene that may change while a system runs, by their path in a scene file:
 * masses, friction, gains, limits (sti_Values in model/world.h).
 *
 * A parameter may not change the set of rows: a joint without friction in the scene has no row for it, and a running
 * system cannot get one. Such a value is refused; it needs another scene (st_system_change).
 */
#include "base/range.h"
#include "model/check.h"
#include "model/joint.h"
#include "model/world.h"

#include <stdio.h>

/* ---- values ------------------------------------------------------------------------------------- */

/* The arrays selected by `which`, as spans; returns their number. */
static size_t list_values(const sti_World *world, sti_Values *values, unsigned which, sti_Span span[4])
{
    size_t n = 0;
    if ((which & STI_BODY_VALUES) != 0) span[n++] = (sti_Span)STI_SPAN(values->body, world->n_bodies);
    if ((which & STI_JOINT_VALUES) != 0) span[n++] = (sti_Span)STI_SPAN(values->joint, world->n_joints + 1);
    if ((which & STI_SPRING_VALUES) != 0) span[n++] = (sti_Span)STI_SPAN(values->spring, world->n_springs + 1);
    if ((which & STI_SURFACE_VALUES) != 0) span[n++] = (sti_Span)STI_SPAN(values->surface, world->scene->n_shapes);
    return n;
}

st_Status sti_values_copy(const sti_World *world, unsigned own, sti_Values *out, st_Error *err)
{
    const sti_Values *now = &world->values;
    sti_Span span[4];
    *out = world->compiled->world.values;
    const size_t n = list_values(world, out, own, span);
    if (n > 0 && (out->block = sti_alloc_spans(&world->allocator, span, n)) == NULL) {
        *out = (sti_Values){0};
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for the parameters of %d bodies", world->n_bodies - 1);
    }
    out->own = own;
    if ((own & STI_BODY_VALUES) != 0) memcpy(out->body, now->body, (size_t)world->n_bodies * sizeof *out->body);
    if ((own & STI_JOINT_VALUES) != 0) memcpy(out->joint, now->joint, (size_t)world->n_joints * sizeof *out->joint);
    if ((own & STI_SPRING_VALUES) != 0)
        memcpy(out->spring, now->spring, (size_t)world->n_springs * sizeof *out->spring);
    for (int k = 0; (own & STI_SURFACE_VALUES) != 0 && k < world->scene->n_shapes; k++) {
        const st_ShapeDef *def = sti_shape_def(world->scene, k);
        out->surface[k] = now->surface != NULL
                              ? now->surface[k]
                              : (sti_SurfaceValues){def->mu, def->restitution, def->rolling, def->spinning};
    }
    if ((own & STI_SURFACE_VALUES) != 0) out->surfaces = (sti_Surfaces){0}; /* sti_surfaces_compile computes them */
    return ST_OK;
}

void sti_values_free(const sti_World *world, sti_Values *values)
{
    sti_Span span[4];
    if (values->own == 0) return;
    if ((values->own & STI_SURFACE_VALUES) != 0) sti_surfaces_free(world->scene, &world->allocator, &values->surfaces);
    const size_t n = list_values(world, values, values->own, span);
    sti_free_spans(&world->allocator, values->block, span, n);
    *values = (sti_Values){0};
}

void sti_values_exchange(sti_World *world, sti_Values *other)
{
    STI_EXCHANGE(sti_Values, world->values, *other);
    world->values_serial++;
}

bool sti_values_equal(const sti_World *world, const sti_Values *a, const sti_Values *b)
{
    sti_Span of_a[4], of_b[4];
    sti_Values x = *a, y = *b;
    if ((a->surface == NULL) != (b->surface == NULL)) return false;
    const unsigned all = STI_BODY_VALUES | STI_JOINT_VALUES | STI_SPRING_VALUES;
    const size_t n = list_values(world, &x, a->surface != NULL ? all | STI_SURFACE_VALUES : all, of_a);
    list_values(world, &y, b->surface != NULL ? all | STI_SURFACE_VALUES : all, of_b);
    bool equal = true;
    for (size_t k = 0; k < n; k++)
        equal = equal && (*of_a[k].at == *of_b[k].at ||
                          memcmp(*of_a[k].at, *of_b[k].at, (size_t)of_a[k].count * of_a[k].size) == 0);
    return equal;
}

static st_Status check_joint_values(Subject s, const sti_World *world, int index, const sti_JointValues *values)
{
    const st_JointDef *def = &world->scene->joint[index];
    const sti_JointValues *scene = &world->compiled->world.values.joint[index];
    const sti_Joint *joint = &world->joint[index];
    for (int which = 0; which < 2; which++) {
        const char *other = which == 1 ? "other_" : "";
        if (isfinite(values->lower[which]) != isfinite(scene->lower[which]) ||
            isfinite(values->upper[which]) != isfinite(scene->upper[which]))
            return BAD(s,
                       "%slower is %g and %supper %g, in the scene %g and %g: a limit cannot be added or removed while "
                       "a system runs",
                       other, values->lower[which], other, values->upper[which], scene->lower[which],
                       scene->upper[which]);
        STI_TRY(sti_check_limits(s, other, joint->coordinate[which], values->lower[which], values->upper[which]));
    }
    STI_TRY(check_restitution(s, values->restitution));
    STI_TRY(check_not_negative(s, "friction", values->friction));
    STI_TRY(check_not_negative(s, "stiffness", values->stiffness));
    STI_TRY(check_not_negative(s, "damping", values->damping));
    if (values->friction > 0 && joint->friction_row < 0)
        return BAD(s, "friction is %g, but it has none in the scene: friction cannot be added while a system runs",
                   values->friction);
    if ((values->stiffness > 0 || values->damping > 0) != (joint->spring_row >= 0))
        return BAD(s, "stiffness is %g and damping %g: its spring cannot be added or removed while a system runs",
                   values->stiffness, values->damping);
    if (joint->spring_row >= 0) STI_TRY(check_number(s, "rest", values->rest));
    if (def->motor.type == ST_MOTOR_NONE) return ST_OK;
    STI_TRY(check_number(s, "motor: target", values->target));
    STI_TRY(check_number(s, "motor: offset", values->offset));
    if (values->max_force != INFINITY) STI_TRY(check_positive(s, "motor: max_force", values->max_force));
    STI_TRY(check_not_negative(s, "motor: damping", values->motor_damping));
    if (def->motor.type == ST_MOTOR_POSITION) STI_TRY(check_positive(s, "motor: stiffness", values->motor_stiffness));
    if (sti_motor_holds(def->motor.type, values->max_force, values->motor_damping) != joint->held)
        return BAD(s,
                   "motor: max_force is %g and damping %g: a speed motor cannot gain or lose its force limit while a "
                   "system runs",
                   values->max_force, values->motor_damping);
    return ST_OK;
}

st_Status sti_values_check(const sti_World *world, const sti_Values *values, st_Error *err)
{
    const st_Scene *scene = world->scene;
    for (int b = 1; (values->own & STI_BODY_VALUES) != 0 && b < world->n_bodies; b++) {
        const Subject s = subject_of(STI_BODY, scene->names[STI_BODY].name[b], err);
        const sti_BodyMass *of = &values->body[b];
        bool translates = false;
        for (int k = 0; k < world->body[b].n_dofs; k++) {
            const int d = world->body[b].dof[k];
            translates = translates || d < 3;
            if (d >= 3 && !sti_between(of->inertia[d - 3], STI_LEAST_INERTIA, STI_MOST_INERTIA))
                return BAD(s, "its inertia about %c is %g, must be from %g to %g", 'x' + d - 3, of->inertia[d - 3],
                           STI_LEAST_INERTIA, STI_MOST_INERTIA);
        }
        if (translates) STI_TRY(check_positive(s, "mass", of->mass));
        for (int k = 3; k < 6; k++)
            STI_TRY(check_number(s, "inertia", of->inertia[k]));
    }
    for (int k = 0; (values->own & STI_JOINT_VALUES) != 0 && k < world->n_joints; k++)
        STI_TRY(check_joint_values(subject_of(STI_JOINT, scene->joint[k].name, err), world, k, &values->joint[k]));
    for (int k = 0; (values->own & STI_SPRING_VALUES) != 0 && k < world->n_springs; k++) {
        const Subject s = subject_of(STI_SPRING, scene->spring[k].name, err);
        const sti_SpringValues *scene_values = &world->compiled->world.values.spring[k];
        for (int i = 0; i < STI_SPRING_ROWS; i++) {
            const double stiffness = values->spring[k].stiffness[i], damping = values->spring[k].damping[i];
            STI_TRY(check_not_negative(s, "stiffness", stiffness));
            STI_TRY(check_not_negative(s, "damping", damping));
            if ((stiffness > 0 || damping > 0) != (scene_values->stiffness[i] > 0 || scene_values->damping[i] > 0))
                return BAD(
                    s, "stiffness and damping are %g and %g: a spring cannot be added or removed while a system runs",
                    stiffness, damping);
        }
    }
    for (int k = 0; (values->own & STI_SURFACE_VALUES) != 0 && k < scene->n_shapes; k++) {
        const Subject s = subject_of(STI_SHAPE, sti_shape_name(scene, k), err);
        const sti_SurfaceValues *of = &values->surface[k];
        STI_TRY(check_not_negative(s, "friction", of->friction));
        STI_TRY(check_restitution(s, of->restitution));
        STI_TRY(check_length(s, "rolling_friction", of->rolling));
        STI_TRY(check_length(s, "spinning_friction", of->spinning));
        if (sti_shape_def(scene, k)->friction_across > 0 && of->friction == 0)
            return BAD(s, "friction is %g, must be > 0, because the shape has friction_across", of->friction);
    }
    return ST_OK;
}

/* ---- paths -------------------------------------------------------------------------------------- */

typedef struct Key {
    const char *name;
    size_t offset; /* offset of a double in the values of an object */
} Key;

#define AT(type, member) offsetof(sti_##type, member)
static const Key surface_keys[] = {{"friction", AT(SurfaceValues, friction)},
                                   {"restitution", AT(SurfaceValues, restitution)},
                                   {"rolling", AT(SurfaceValues, rolling)},
                                   {"spinning", AT(SurfaceValues, spinning)},
                                   {NULL, 0}};
static const Key body_keys[] = {{"mass", AT(BodyMass, mass)}, {NULL, 0}};
static const Key joint_keys[] = {{"friction", AT(JointValues, friction)},
                                 {"stiffness", AT(JointValues, stiffness)},
                                 {"damping", AT(JointValues, damping)},
                                 {"rest", AT(JointValues, rest)},
                                 {"lower", AT(JointValues, lower[0])},
                                 {"upper", AT(JointValues, upper[0])},
                                 {"other_lower", AT(JointValues, lower[1])},
                                 {"other_upper", AT(JointValues, upper[1])},
                                 {"restitution", AT(JointValues, restitution)},
                                 {"armature", SIZE_MAX}, /* stored in its rotor */
                                 {"motor/stiffness", AT(JointValues, motor_stiffness)},
                                 {"motor/damping", AT(JointValues, motor_damping)},
                                 {"motor/max_force", AT(JointValues, max_force)},
                                 {"motor/target", AT(JointValues, target)},
                                 {"motor/offset", AT(JointValues, offset)},
                                 {NULL, 0}};
static const Key spring_keys[] = {
    {"stiffness", AT(SpringValues, stiffness[0])}, {"damping", AT(SpringValues, damping[0])}, {NULL, 0}};

/* Does the name match the pattern of `length` characters, with stars for any characters? */
static bool name_matches(const char *pattern, size_t length, const char *name)
{
    if (length == 0) return *name == '\0';
    if (*pattern == '*')
        return name_matches(pattern + 1, length - 1, name) ||
               (*name != '\0' && name_matches(pattern, length, name + 1));
    return *name == *pattern && name_matches(pattern + 1, length - 1, name + 1);
}

/* The parts of a path: KIND/NAME/KEY; for shapes bodies/NAME/shapes/NAME/KEY or ground/NAME/KEY. */
typedef struct Path {
    const char *text;
    sti_ObjectKind kind;
    const char *owner, *name; /* patterns; for a shape that of its body and its own */
    size_t owner_length, length;
    const Key *key;
} Path;

static st_Status parse_path(const char *text, Path *out, st_Error *err)
{
    static const struct {
        const char *word;
        sti_ObjectKind kind;
        const Key *keys;
    } kinds[] = {{"bodies/", STI_BODY, body_keys},
                 {"ground/", STI_SHAPE, surface_keys},
                 {"materials/", STI_MATERIAL, surface_keys},
                 {"joints/", STI_JOINT, joint_keys},
                 {"springs/", STI_SPRING, spring_keys}};
    if (text == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "the path of a parameter is NULL, must be given");
    *out = (Path){.text = text};
    int k = 0;
    while (k < 5 && strncmp(text, kinds[k].word, strlen(kinds[k].word)) != 0)
        k++;
    if (k == 5)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "parameter \"%s\": must begin with bodies/, ground/, materials/, joints/ or springs/", text);
    const Key *keys = kinds[k].keys;
    out->kind = kinds[k].kind;
    out->name = text + strlen(kinds[k].word);
    const char *end = strchr(out->name, '/');
    if (end != NULL && out->kind == STI_BODY && strncmp(end + 1, "shapes/", 7) == 0) {
        out->owner = out->name;
        out->owner_length = (size_t)(end - out->owner);
        out->kind = STI_SHAPE;
        out->name = end + 1 + 7;
        keys = surface_keys;
        end = strchr(out->name, '/');
    }
    if (end == NULL || end == out->name || (out->owner != NULL && out->owner_length == 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "parameter \"%s\": must be KIND/NAME/KEY, of a shape bodies/NAME/shapes/NAME/KEY or "
                        "ground/NAME/KEY",
                        text);
    out->length = (size_t)(end - out->name);
    char list[300] = "";
    for (out->key = keys; out->key->name != NULL; out->key++) {
        if (strcmp(end + 1, out->key->name) == 0) return ST_OK;
        const size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n > 0 ? ", " : "", out->key->name);
    }
    return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\": \"%s\" must be one of %s", text, end + 1, list);
}

st_Status sti_parameter_array(const char *text, unsigned *own, st_Error *err)
{
    Path path;
    STI_TRY(parse_path(text, &path, err));
    const bool rotor = path.kind == STI_JOINT && path.key->offset == SIZE_MAX;
    *own = path.kind == STI_BODY || rotor ? STI_BODY_VALUES
           : path.kind == STI_JOINT       ? STI_JOINT_VALUES
           : path.kind == STI_SPRING      ? STI_SPRING_VALUES
                                          : STI_SURFACE_VALUES;
    return ST_OK;
}

/* Has the joint a feature to which the key applies? */
static bool joint_takes(const sti_World *world, int joint, const Key *key)
{
    const st_JointDef *def = &world->scene->joint[joint];
    if (sti_joint_coordinates(def->type) == 0) return false;
    if (key->offset == SIZE_MAX) return world->joint[joint].rotor > 0;
    if (strncmp(key->name, "motor/", 6) != 0) return true;
    return strcmp(key->name, "motor/stiffness") == 0
               ? def->motor.type == ST_MOTOR_POSITION
               : def->motor.type != ST_MOTOR_NONE && def->motor.type != ST_MOTOR_MOTION;
}

/* Visits every number that the path reaches; with `set` == NULL reads the first one into *out. */
static st_Status visit_parameter(const sti_World *world, sti_Values *values, const Path *path, const double *set,
                                 double *out, st_Error *err)
{
    const st_Scene *scene = world->scene;
    const int count = path->kind == STI_BODY       ? sti_first_rotor(world)
                      : path->kind == STI_SHAPE    ? scene->n_shapes
                      : path->kind == STI_MATERIAL ? scene->n_shapes
                      : path->kind == STI_JOINT    ? world->n_joints
                                                   : world->n_springs;
    int reached = 0;
    for (int k = path->kind == STI_BODY ? 1 : 0; k < count; k++) {
        sti_ObjectKind kind = path->kind;
        int named = k;
        double unchanged, *at = NULL;
        if (kind == STI_MATERIAL) named = sti_shape_def(scene, k)->material.index1 - 1;
        if (named < 0 || !name_matches(path->name, path->length, scene->names[kind].name[named])) continue;
        if (kind == STI_SHAPE) {
            const int body = scene->shape_body[k], material = sti_shape_def(scene, k)->material.index1;
            if (path->owner == NULL
                    ? body != 0
                    : body == 0 || !name_matches(path->owner, path->owner_length, scene->names[STI_BODY].name[body]))
                continue;
            if (material > 0)
                return sti_fail(err, ST_ERR_ARGUMENT,
                                "parameter \"%s\": shape %s has a material, \"%s\": vary materials/%s/%s", path->text,
                                sti_shape_label(scene, k).text, scene->material[material - 1].name,
                                scene->material[material - 1].name, path->key->name);
        }
        if (kind == STI_BODY) {
            sti_BodyMass *of = &values->body[k];
            if (world->body[k].n_dofs == 0) continue; /* nothing depends on its mass */
            if (set != NULL && *set != of->mass) {
                STI_TRY(check_positive(subject_of(STI_BODY, scene->names[STI_BODY].name[k], err), "mass", *set));
                STI_TRY(sti_inertia_with(world, k, *set, of->inertia, err));
            }
            at = &of->mass;
        } else if (kind == STI_JOINT) {
            if (!joint_takes(world, k, path->key)) continue;
            if (path->key->offset == SIZE_MAX) {
                at = values->body[world->joint[k].rotor].inertia;
                if (set != NULL) at[1] = at[2] = *set;
            } else {
                at = (double *)(void *)((char *)&values->joint[k] + path->key->offset);
            }
        } else if (kind == STI_SPRING) {
            const bool by_table = scene->spring[k].table.n_table > 0;
            if (world->spring[k].type == ST_SPRING_BUSHING || (by_table && path->key == spring_keys)) continue;
            at = (double *)(void *)((char *)&values->spring[k] + path->key->offset);
        } else if (values->surface != NULL) {
            at = (double *)(void *)((char *)&values->surface[k] + path->key->offset);
        } else { /* read from the scene */
            const st_ShapeDef *def = sti_shape_def(scene, k);
            const sti_SurfaceValues of = {def->mu, def->restitution, def->rolling, def->spinning};
            unchanged = *(const double *)(const void *)((const char *)&of + path->key->offset);
            at = &unchanged;
        }
        if (set != NULL)
            *at = *set;
        else if (reached == 0)
            *out = *at;
        reached++;
    }
    if (reached > 0) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "parameter \"%s\": nothing in the scene has this path, or it cannot vary",
                    path->text);
}

st_Status sti_parameter_value(const sti_World *world, const sti_Values *values, const char *path, double *out,
                              st_Error *err)
{
    Path parsed;
    sti_Values read = *values; /* reads only */
    STI_TRY(parse_path(path, &parsed, err));
    return visit_parameter(world, &read, &parsed, NULL, out, err);
}

st_Status sti_parameter_set(const sti_World *world, sti_Values *values, const char *path, double value, st_Error *err)
{
    Path parsed;
    STI_TRY(parse_path(path, &parsed, err));
    return visit_parameter(world, values, &parsed, &value, NULL, err);
}
