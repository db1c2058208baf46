/* model/scene.c -- the description of a world: adding, storing and reading objects. */
#include "model/check.h"
#include "model/tendon.h"
#include "model/time_factor.h"

#include <stdio.h>

/* ---- life ------------------------------------------------------------------------------------- */

st_Status st_scene_create(st_Scene **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    return st_scene_create_with(&allocator, out, err);
}

st_Status st_scene_create_with(const st_Allocator *allocator, st_Scene **out, st_Error *err)
{
    if (out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_create: out is NULL");
    *out = NULL;
    if (allocator == NULL || allocator->alloc == NULL || allocator->free == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_create_with: an allocator with alloc and free must be given");
    st_Allocator a = *allocator;
    st_Scene *scene = sti_alloc(&a, 1, sizeof *scene);
    if (scene == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a scene");
    if (a.alloc != sti_arena_alloc) { /* the copy in a compiled scene uses the arena of that */
        scene->owns_arena = sti_arena_open(allocator, &a, err) == ST_OK;
        if (!scene->owns_arena) {
            sti_free(allocator, scene, 1, sizeof *scene);
            return ST_ERR_MEMORY;
        }
    }
    scene->allocator = a;
    st_BodyDef ground = st_body_def();
    ground.fixed = true;
    ground.name = "ground";
    st_Status status = STI_GROW(&a, scene->pose, scene->pose_capacity, 1, err);
    if (status == ST_OK) scene->pose[scene->n_poses++] = pose_identity();
    if (status == ST_OK) status = st_scene_add_body(scene, &ground, NULL, err);
    if (status != ST_OK) {
        st_scene_destroy(scene);
        return status;
    }
    scene->names[STI_BODY].uncounted = 1;
    *out = scene;
    return ST_OK;
}

void st_scene_destroy(st_Scene *scene)
{
    if (scene == NULL) return;
    st_Allocator a = scene->allocator;
    for (int k = 0; k < scene->n_forces; k++)
        sti_profile_free(&a, &scene->force[k].profile);
    for (int k = 0; k < scene->n_springs; k++)
        sti_profile_free(&a, &scene->spring[k].table);
    for (int k = 0; k < scene->n_joints; k++) {
        sti_profile_free(&a, &scene->joint[k].motor.profile);
        if (scene->joint[k].n_path > 0)
            sti_free(&a, (void *)(uintptr_t)scene->joint[k].path, scene->joint[k].n_path, sizeof(st_TendonPoint));
    }
    sti_shape_cache_free(&a, &scene->shape_cache);
    for (int kind = 0; kind < STI_N_KINDS; kind++)
        sti_names_free(&a, &scene->names[kind]);
    STI_RELEASE(&a, scene->body, scene->body_capacity);
    STI_RELEASE(&a, scene->cached_shape, scene->shape_kind_capacity);
    STI_RELEASE(&a, scene->shape_pose, scene->shape_pose_capacity);
    STI_RELEASE(&a, scene->pose, scene->pose_capacity);
    STI_RELEASE(&a, scene->shape_body, scene->shape_body_capacity);
    STI_RELEASE(&a, scene->next_shape, scene->next_shape_capacity);
    STI_RELEASE(&a, scene->first_shape, scene->first_shape_capacity);
    STI_RELEASE(&a, scene->last_shape, scene->last_shape_capacity);
    STI_RELEASE(&a, scene->joint, scene->joint_capacity);
    STI_RELEASE(&a, scene->spring, scene->spring_capacity);
    STI_RELEASE(&a, scene->force, scene->force_capacity);
    STI_RELEASE(&a, scene->excluded, scene->excluded_capacity);
    STI_RELEASE(&a, scene->material, scene->material_capacity);
    STI_RELEASE(&a, scene->material_pair, scene->material_pair_capacity);
    sti_names_free(&a, &scene->grain_names);
    STI_RELEASE(&a, scene->inlet, scene->inlet_capacity);
    STI_RELEASE(&a, scene->outlet, scene->outlet_capacity);
    STI_RELEASE(&a, scene->measure, scene->measure_capacity);
    for (int k = 0; k < scene->n_keyframes; k++)
        sti_keyframe_free(&a, &scene->keyframe[k]);
    STI_RELEASE(&a, scene->keyframe, scene->keyframe_capacity);
    const st_Allocator below = sti_allocator_below(&a);
    if (scene->owns_arena) sti_arena_close(&a);
    sti_free(scene->owns_arena ? &below : &a, scene, 1, sizeof *scene);
}

/* ---- adding ----------------------------------------------------------------------------------- */

st_Status sti_scene_add_name(st_Scene *scene, sti_ObjectKind kind, int scope, const char *name, const char **stored,
                             st_Error *err)
{
    sti_Names *names = &scene->names[kind];
    STI_TRY(sti_names_add(&scene->allocator, names, sti_kind_name(kind), scope, name, err));
    *stored = names->name[names->n - 1];
    return ST_OK;
}

st_Status st_scene_add_body(st_Scene *scene, const st_BodyDef *def, st_BodyId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_body_def", err);
    st_BodyDef body = *def;
    STI_TRY(sti_check_body(subject_of(STI_BODY, def->name, err), &body));
    STI_TRY(STI_GROW(&scene->allocator, scene->body, scene->body_capacity, scene->n_bodies + 1, err));
    STI_TRY(STI_GROW(&scene->allocator, scene->first_shape, scene->first_shape_capacity, scene->n_bodies + 1, err));
    STI_TRY(STI_GROW(&scene->allocator, scene->last_shape, scene->last_shape_capacity, scene->n_bodies + 1, err));
    STI_TRY(sti_scene_add_name(scene, STI_BODY, 0, def->name, &body.name, err));
    scene->body[scene->n_bodies] = body;
    scene->first_shape[scene->n_bodies] = scene->last_shape[scene->n_bodies] = -1;
    if (out != NULL) *out = sti_body_id(scene, scene->n_bodies);
    scene->n_bodies++;
    return ST_OK;
}

st_Status sti_scene_reserve_pose(st_Scene *scene, int count, st_Error *err)
{
    return STI_GROW(&scene->allocator, scene->pose, scene->pose_capacity, scene->n_poses + count, err);
}

void sti_scene_set_shape_pose(st_Scene *scene, int k, const st_Pose *pose)
{
    const st_Pose identity = pose_identity();
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same bits are meant */
    if (scene->shape_pose[k] == 0 && memcmp(pose, &identity, sizeof identity) == 0) return;
    if (scene->shape_pose[k] == 0) scene->shape_pose[k] = scene->n_poses++;
    scene->pose[scene->shape_pose[k]] = *pose;
}

void sti_scene_drop_bodies(st_Scene *scene)
{
    STI_RELEASE(&scene->allocator, scene->body, scene->body_capacity);
}

st_Status st_scene_add_shape(st_Scene *scene, st_BodyId body, const st_ShapeDef *def, st_ShapeId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_sphere_def, st_box_def or another of the shapes", err);
    st_ShapeDef shape = *def;
    Subject s = subject_of(STI_SHAPE, def->name, err);
    body = sti_body_now(scene, body);
    STI_TRY(check_body_id(scene, s, "its body", body));
    if (def->material.index1 < 0 || def->material.index1 > scene->n_materials)
        return BAD(s, "material is number %d, there are %d", def->material.index1, scene->n_materials);
    if (def->material.index1 > 0) {
        const st_MaterialDef *material = &scene->material[def->material.index1 - 1];
        shape.mu = material->mu;
        shape.restitution = material->restitution;
        shape.rolling = material->rolling;
        shape.spinning = material->spinning;
    }
    sti_CachedMass mass = {0};
    STI_TRY(sti_check_shape(scene, s, &shape, &mass));
    int kind;
    /* Makes room for the data of one more shape. */
    const st_Allocator *a = &scene->allocator;
    const int n = scene->n_shapes + 1;
    STI_TRY(STI_GROW(a, scene->cached_shape, scene->shape_kind_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->shape_pose, scene->shape_pose_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->shape_body, scene->shape_body_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->next_shape, scene->next_shape_capacity, n, err));
    STI_TRY(sti_scene_reserve_pose(scene, 1, err));
    STI_TRY(sti_shape_cache_take(&scene->allocator, &scene->shape_cache, &shape, &mass, &kind,
                                 err)); /* one too many if the name is refused, which is harmless */
    STI_TRY(sti_scene_add_name(scene, STI_SHAPE, body.index1, def->name, &shape.name, err));
    scene->cached_shape[scene->n_shapes] = kind;
    scene->shape_pose[scene->n_shapes] = 0;
    sti_scene_set_shape_pose(scene, scene->n_shapes, &shape.pose);
    scene->shape_body[scene->n_shapes] = body.index1;
    scene->next_shape[scene->n_shapes] = -1;
    if (scene->first_shape[body.index1] < 0)
        scene->first_shape[body.index1] = scene->n_shapes;
    else
        scene->next_shape[scene->last_shape[body.index1]] = scene->n_shapes;
    scene->last_shape[body.index1] = scene->n_shapes;
    scene->n_shapes++;
    if (out != NULL) *out = sti_shape_id(scene, scene->n_shapes - 1);
    return ST_OK;
}

st_Status st_scene_exclude(st_Scene *scene, st_BodyId a, st_BodyId b, st_Error *err)
{
    STI_NEED(scene, err);
    Subject s = {"excluded pair", "(unnamed)", err};
    a = sti_body_now(scene, a), b = sti_body_now(scene, b);
    STI_TRY(check_body_id(scene, s, "a", a));
    STI_TRY(check_body_id(scene, s, "b", b));
    STI_TRY(STI_GROW(&scene->allocator, scene->excluded, scene->excluded_capacity, scene->n_excluded + 1, err));
    scene->excluded[scene->n_excluded++] = (sti_BodyPair){a.index1, b.index1};
    return ST_OK;
}

st_Status st_scene_set_cell(st_Scene *scene, const st_Cell *cell, st_Error *err)
{
    STI_NEED(scene, err);
    STI_NEED(cell, err);
    const double lower[3] = {cell->lower.x, cell->lower.y, cell->lower.z};
    const double upper[3] = {cell->upper.x, cell->upper.y, cell->upper.z};
    sti_Cell made = {.repeats = false};
    for (int e = 0; e < 3; e++) {
        if (!isfinite(upper[e] - lower[e]) || upper[e] < lower[e])
            return sti_fail(err, ST_ERR_ARGUMENT, "periodic cell: along %c it is from %g to %g m, must increase",
                            'x' + e, lower[e], upper[e]);
        made.lower[e] = lower[e];
        made.length[e] = upper[e] - lower[e];
        made.repeats = made.repeats || made.length[e] > 0;
    }
    scene->cell = made;
    return ST_OK;
}

bool st_scene_cell(const st_Scene *scene, st_Cell *out)
{
    if (scene == NULL) return false;
    const sti_Cell *cell = &scene->cell;
    if (out != NULL) {
        out->lower = vec3_load(cell->lower);
        out->upper = add(out->lower, vec3_load(cell->length));
    }
    return cell->repeats;
}

/* Stores an object's name and its own copy of a table: both or neither. */
static st_Status add_name_and_table(st_Scene *scene, sti_ObjectKind kind, const char *name, const char **stored,
                                    st_Profile *profile, st_Error *err)
{
    STI_TRY(sti_scene_add_name(scene, kind, 0, name, stored, err));
    st_Status status = sti_profile_copy(&scene->allocator, profile, err);
    if (status != ST_OK) sti_names_remove_last(&scene->names[kind]);
    return status;
}

st_Status st_scene_add_joint(st_Scene *scene, const st_JointDef *def, st_JointId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_joint_def", err);
    st_JointDef joint = *def;
    joint.a = sti_body_now(scene, def->a), joint.b = sti_body_now(scene, def->b);
    joint.joint_a = sti_joint_now(scene, def->joint_a), joint.joint_b = sti_joint_now(scene, def->joint_b);
    st_TendonPoint path[STI_TENDON_PARTS], *kept = NULL;
    if (def->type != ST_JOINT_TENDON) joint.n_path = 0, joint.path = NULL;
    STI_TRY(sti_check_joint(scene, subject_of(STI_JOINT, def->name, err), &joint, path));
    STI_TRY(STI_GROW(&scene->allocator, scene->joint, scene->joint_capacity, scene->n_joints + 1, err));
    if (joint.n_path > 0) {
        kept = sti_alloc(&scene->allocator, joint.n_path, sizeof *kept);
        if (kept == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a tendon of %d parts", joint.n_path);
        memcpy(kept, path, (size_t)joint.n_path * sizeof *kept);
    }
    joint.path = kept;
    st_Status status = add_name_and_table(scene, STI_JOINT, def->name, &joint.name, &joint.motor.profile, err);
    if (status != ST_OK) {
        if (kept != NULL) sti_free(&scene->allocator, kept, joint.n_path, sizeof *kept);
        return status;
    }
    scene->joint[scene->n_joints++] = joint;
    if (out != NULL) *out = sti_joint_id(scene, scene->n_joints - 1);
    return ST_OK;
}

st_Status st_scene_add_spring(st_Scene *scene, const st_SpringDef *def, st_SpringId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_spring_def", err);
    st_SpringDef spring = *def;
    spring.a = sti_body_now(scene, def->a), spring.b = sti_body_now(scene, def->b);
    STI_TRY(sti_check_spring(scene, subject_of(STI_SPRING, def->name, err), &spring));
    STI_TRY(STI_GROW(&scene->allocator, scene->spring, scene->spring_capacity, scene->n_springs + 1, err));
    spring.table.type = ST_PROFILE_TABLE;
    STI_TRY(add_name_and_table(scene, STI_SPRING, def->name, &spring.name, &spring.table, err));
    scene->spring[scene->n_springs++] = spring;
    if (out != NULL) *out = sti_spring_id(scene, scene->n_springs - 1);
    return ST_OK;
}

st_Status st_scene_add_force(st_Scene *scene, const st_ForceDef *def, st_ForceId *out, st_Error *err)
{
    STI_NEED(scene, err);
    STI_CHECK_DEF(def, "st_force_def", err);
    st_ForceDef force = *def;
    force.body = sti_body_now(scene, def->body);
    STI_TRY(sti_check_force(scene, subject_of(STI_FORCE, def->name, err), &force));
    STI_TRY(STI_GROW(&scene->allocator, scene->force, scene->force_capacity, scene->n_forces + 1, err));
    STI_TRY(add_name_and_table(scene, STI_FORCE, def->name, &force.name, &force.profile, err));
    scene->force[scene->n_forces++] = force;
    if (out != NULL) *out = sti_force_id(scene, scene->n_forces - 1);
    return ST_OK;
}

/* ---- reading ---------------------------------------------------------------------------------- */

int st_scene_body_count(const st_Scene *scene)
{
    return scene->n_bodies - 1;
}

int st_scene_shape_count(const st_Scene *scene)
{
    return scene->n_shapes;
}

int st_scene_joint_count(const st_Scene *scene)
{
    return scene->n_joints;
}

int st_scene_spring_count(const st_Scene *scene)
{
    return scene->n_springs;
}

int st_scene_force_count(const st_Scene *scene)
{
    return scene->n_forces;
}

st_Status st_scene_body(const st_Scene *scene, st_BodyId id, st_BodyDef *out)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    id = sti_body_now(scene, id);
    if (id.index1 < 0 || id.index1 >= scene->n_bodies) return ST_ERR_ARGUMENT;
    *out = scene->body[id.index1];
    return ST_OK;
}

st_Status st_scene_shape(const st_Scene *scene, st_ShapeId id, st_ShapeDef *out, st_BodyId *body)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    id = sti_shape_now(scene, id);
    if (id.index1 < 1 || id.index1 > scene->n_shapes) return ST_ERR_ARGUMENT;
    /* The def as it was given. */
    const int k = id.index1 - 1;
    st_ShapeDef def = *sti_shape_def(scene, k);
    def.pose = *sti_shape_pose(scene, k);
    def.name = sti_shape_name(scene, k);
    *out = def;
    if (body != NULL) *body = sti_body_id(scene, scene->shape_body[id.index1 - 1]);
    return ST_OK;
}

st_Status st_scene_joint(const st_Scene *scene, st_JointId id, st_JointDef *out)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    id = sti_joint_now(scene, id);
    if (id.index1 < 1 || id.index1 > scene->n_joints) return ST_ERR_ARGUMENT;
    *out = scene->joint[id.index1 - 1];
    return ST_OK;
}

st_Status st_scene_spring(const st_Scene *scene, st_SpringId id, st_SpringDef *out)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    id = sti_spring_now(scene, id);
    if (id.index1 < 1 || id.index1 > scene->n_springs) return ST_ERR_ARGUMENT;
    *out = scene->spring[id.index1 - 1];
    return ST_OK;
}

st_Status st_scene_force(const st_Scene *scene, st_ForceId id, st_ForceDef *out)
{
    if (scene == NULL || out == NULL) return ST_ERR_ARGUMENT;
    id = sti_force_now(scene, id);
    if (id.index1 < 1 || id.index1 > scene->n_forces) return ST_ERR_ARGUMENT;
    *out = scene->force[id.index1 - 1];
    return ST_OK;
}

sti_Label sti_shape_label(const st_Scene *scene, int shape)
{
    sti_Label label;
    int body = scene->shape_body[shape];
    if (body == 0)
        snprintf(label.text, sizeof label.text, "\"%s\" of the ground", sti_shape_name(scene, shape));
    else
        snprintf(label.text, sizeof label.text, "\"%s\" of body \"%s\"", sti_shape_name(scene, shape),
                 scene->names[STI_BODY].name[body]);
    return label;
}

st_BodyId st_scene_find_body(const st_Scene *scene, const char *name)
{
    return sti_body_id(scene, sti_names_find(&scene->names[STI_BODY], 0, name));
}

st_JointId st_scene_find_joint(const st_Scene *scene, const char *name)
{
    return sti_joint_id(scene, sti_names_find(&scene->names[STI_JOINT], 0, name));
}

st_ForceId st_scene_find_force(const st_Scene *scene, const char *name)
{
    return sti_force_id(scene, sti_names_find(&scene->names[STI_FORCE], 0, name));
}

st_SpringId st_scene_find_spring(const st_Scene *scene, const char *name)
{
    return sti_spring_id(scene, sti_names_find(&scene->names[STI_SPRING], 0, name));
}

st_ShapeId st_scene_find_shape(const st_Scene *scene, st_BodyId body, const char *name)
{
    return sti_shape_id(scene, sti_names_find(&scene->names[STI_SHAPE], sti_body_now(scene, body).index1, name));
}

/* FNV-1a. */
static uint64_t add_to_fingerprint(uint64_t h, const void *bytes, size_t n)
{
    for (size_t k = 0; k < n; k++)
        h = (h ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
    return h;
}

/* The fingerprint covers everything that a state consists of. Springs and forces are not part of it: the mouse
 * spring of a live view is added and removed. */
uint64_t sti_scene_fingerprint(const st_Scene *scene)
{
    static const int kinds[] = {STI_BODY, STI_SHAPE, STI_JOINT};
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        const sti_Names *names = &scene->names[kinds[kind]];
        h = add_to_fingerprint(h, &names->n, sizeof names->n);
        for (int k = 0; k < names->n; k++)
            h = add_to_fingerprint(h, names->name[k], strlen(names->name[k]) + 1);
    }
    for (int k = 0; k < scene->n_shapes; k++) {
        const int it[2] = {(int)sti_shape_def(scene, k)->type, scene->shape_body[k]};
        h = add_to_fingerprint(h, it, sizeof it);
    }
    for (int k = 0; k < scene->n_joints; k++) {
        const st_JointDef *joint = &scene->joint[k];
        const int it[4] = {(int)joint->type, joint->a.index1, joint->b.index1, (int)joint->motor.type};
        h = add_to_fingerprint(h, it, sizeof it);
    }
    return h;
}
