/* model/scene_copy.c -- scenes copied, whole or without some of their objects.
 *
 * Objects that refer to a removed object are removed, too. The others are added again in their old order, so that
 * every check and every derived number is that of a scene that never had the removed objects.
 */
#include "model/world.h"

/* The index of the objects of each kind in the copy; -1: removed. */
typedef struct Map {
    int *to[STI_N_KINDS];
    int count[STI_N_KINDS];
} Map;

static int mapped(const Map *map, sti_ObjectKind kind, int index)
{
    return map == NULL || index < 0 ? index : map->to[kind][index];
}

static st_BodyId mapped_body(const Map *map, st_BodyId id)
{
    return (st_BodyId){mapped(map, STI_BODY, id.index1)};
}

static st_JointId mapped_joint(const Map *map, st_JointId id)
{
    return (st_JointId){mapped(map, STI_JOINT, id.index1 - 1) + 1};
}

/* ---- copying ---------------------------------------------------------------------------------- */

static st_Status copy_bodies(const st_Scene *scene, const Map *map, st_Scene *copy, st_Error *err)
{
    for (int k = 1; k < scene->n_bodies; k++)
        if (mapped(map, STI_BODY, k) >= 0) STI_TRY(st_scene_add_body(copy, &scene->body[k], NULL, err));
    for (int k = 0; k < scene->n_materials; k++)
        STI_TRY(st_scene_add_material(copy, &scene->material[k], NULL, err));
    for (int k = 0; k < scene->n_material_pairs; k++)
        STI_TRY(st_scene_add_material_pair(copy, &scene->material_pair[k], err));
    for (int k = 0; k < scene->n_shapes; k++) {
        st_ShapeDef shape;
        st_BodyId owner;
        if (mapped(map, STI_SHAPE, k) < 0) continue;
        st_scene_shape(scene, (st_ShapeId){k + 1}, &shape, &owner);
        STI_TRY(st_scene_add_shape(copy, mapped_body(map, owner), &shape, NULL, err));
    }
    for (int k = 0; k < scene->n_excluded; k++) {
        const int a = mapped(map, STI_BODY, scene->excluded[k].a), b = mapped(map, STI_BODY, scene->excluded[k].b);
        if (a >= 0 && b >= 0) STI_TRY(st_scene_exclude(copy, (st_BodyId){a}, (st_BodyId){b}, err));
    }
    return ST_OK;
}

static st_Status copy_connections(const st_Scene *scene, const Map *map, st_Scene *copy, st_Error *err)
{
    for (int k = 0; k < scene->n_joints; k++) {
        st_JointDef joint = scene->joint[k];
        if (mapped(map, STI_JOINT, k) < 0) continue;
        joint.a = mapped_body(map, joint.a), joint.b = mapped_body(map, joint.b);
        joint.joint_a = mapped_joint(map, joint.joint_a), joint.joint_b = mapped_joint(map, joint.joint_b);
        st_TendonPoint path[STI_TENDON_PARTS];
        for (int i = 0; i < joint.n_path; i++) {
            path[i] = joint.path[i];
            path[i].body = mapped_body(map, path[i].body), path[i].joint = mapped_joint(map, path[i].joint);
        }
        joint.path = path;
        STI_TRY(st_scene_add_joint(copy, &joint, NULL, err));
    }
    for (int k = 0; k < scene->n_springs; k++) {
        st_SpringDef spring = scene->spring[k];
        if (mapped(map, STI_SPRING, k) < 0) continue;
        spring.a = mapped_body(map, spring.a), spring.b = mapped_body(map, spring.b);
        STI_TRY(st_scene_add_spring(copy, &spring, NULL, err));
    }
    for (int k = 0; k < scene->n_forces; k++) {
        st_ForceDef force = scene->force[k];
        if (mapped(map, STI_FORCE, k) < 0) continue;
        force.body = mapped_body(map, force.body);
        STI_TRY(st_scene_add_force(copy, &force, NULL, err));
    }
    for (int k = 0; k < scene->n_inlets; k++) /* they refer to their bodies by name */
        STI_TRY(sti_scene_keep_inlet(copy, &scene->inlet[k], err));
    for (int k = 0; k < scene->n_outlets; k++)
        STI_TRY(sti_scene_keep_outlet(copy, &scene->outlet[k], err));
    for (int k = 0; k < scene->n_measures; k++)
        STI_TRY(sti_scene_keep_measure(copy, &scene->measure[k], err));
    copy->cell = scene->cell;
    for (int k = 0; k < scene->n_keyframes; k++) {
        /* Removed objects are left out. */
        const sti_KeyframeEntry *from = &scene->keyframe[k];
        const st_Allocator *a = &copy->allocator;
        st_KeyframeBody *bodies = sti_alloc(a, from->n_bodies, sizeof *bodies);
        st_KeyframeMotor *motors = sti_alloc(a, from->n_motors, sizeof *motors);
        st_KeyframeForce *forces = sti_alloc(a, from->n_forces, sizeof *forces);
        st_KeyframeDef def = st_keyframe_def();
        st_Status status = ST_OK;
        if ((bodies == NULL && from->n_bodies > 0) || (motors == NULL && from->n_motors > 0) ||
            (forces == NULL && from->n_forces > 0))
            status = sti_fail(err, ST_ERR_MEMORY, "out of memory for keyframe \"%s\"", from->name);
        def.name = from->name, def.t = from->t, def.bodies = bodies, def.motors = motors, def.forces = forces;
        for (int j = 0; j < from->n_bodies && status == ST_OK; j++) {
            const st_BodyId id = mapped_body(map, from->bodies[j].body);
            if (id.index1 < 0) continue;
            bodies[def.n_bodies] = from->bodies[j];
            bodies[def.n_bodies++].body = id;
        }
        for (int j = 0; j < from->n_motors && status == ST_OK; j++) {
            const st_JointId id = mapped_joint(map, from->motors[j].joint);
            if (id.index1 <= 0) continue;
            motors[def.n_motors] = from->motors[j];
            motors[def.n_motors++].joint = id;
        }
        for (int j = 0; j < from->n_forces && status == ST_OK; j++) {
            const int to = mapped(map, STI_FORCE, from->forces[j].force.index1 - 1);
            if (to < 0) continue;
            forces[def.n_forces] = from->forces[j];
            forces[def.n_forces++].force = (st_ForceId){to + 1};
        }
        if (status == ST_OK) status = st_scene_add_keyframe(copy, &def, err);
        sti_free(a, bodies, from->n_bodies, sizeof *bodies);
        sti_free(a, motors, from->n_motors, sizeof *motors);
        sti_free(a, forces, from->n_forces, sizeof *forces);
        STI_TRY(status);
    }
    return ST_OK;
}

static st_Status copy_mapped(const st_Scene *scene, const Map *map, const st_Allocator *allocator, st_Scene **out,
                             st_Error *err)
{
    STI_TRY(st_scene_create_with(allocator, out, err));
    st_Status status = copy_bodies(scene, map, *out, err);
    if (status == ST_OK) status = copy_connections(scene, map, *out, err);
    for (int kind = 0; status == ST_OK && kind < STI_N_KINDS; kind++) { /* ids of the scene are valid in the copy */
        const sti_Names *from = &scene->names[kind];
        sti_Names *to = &(*out)->names[kind];
        for (int k = 0; k < from->n; k++) {
            const int at = kind == STI_MATERIAL ? k : mapped(map, (sti_ObjectKind)kind, k);
            if (at >= 0 && at < to->n) to->generation[at] = from->generation[k];
        }
        to->last_generation = from->last_generation;
    }
    if (status != ST_OK) {
        st_scene_destroy(*out);
        *out = NULL;
    }
    return status;
}

st_Status sti_scene_copy(const st_Scene *scene, const st_Allocator *allocator, st_Scene **out, st_Error *err)
{
    return copy_mapped(scene, NULL, allocator, out, err);
}

st_Status st_scene_copy(const st_Scene *scene, st_Scene **out, st_Error *err)
{
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_copy: scene and out must be given");
    *out = NULL;
    const st_Allocator below = sti_allocator_below(&scene->allocator); /* the copy has its own arena */
    return sti_scene_copy(scene, &below, out, err);
}

/* ---- removing --------------------------------------------------------------------------------- */

static void free_map(const st_Allocator *a, Map *map)
{
    for (int kind = 0; kind < STI_N_KINDS; kind++)
        sti_free(a, map->to[kind], map->count[kind], sizeof *map->to[kind]);
}

/* Rebuilds the scene without the objects that the map removes. */
static st_Status rebuild(st_Scene *scene, Map *map, st_Error *err)
{
    st_Scene *copy;
    /* With a body everything fixed to it is removed, with a joint its gears and tendons, which were added after it. */
    const int *body = map->to[STI_BODY];
    int *joint = map->to[STI_JOINT];
    for (int k = 0; k < scene->n_shapes; k++)
        if (body[scene->shape_body[k]] < 0) map->to[STI_SHAPE][k] = -1;
    for (int k = 0; k < scene->n_joints; k++) {
        const st_JointDef *def = &scene->joint[k];
        const bool gear = def->type == ST_JOINT_GEAR;
        if (body[def->a.index1] < 0 || body[def->b.index1] < 0) joint[k] = -1;
        if (gear && (joint[def->joint_a.index1 - 1] < 0 || joint[def->joint_b.index1 - 1] < 0)) joint[k] = -1;
        for (int i = 0; i < def->n_path; i++) {
            const st_TendonPoint *part = &def->path[i];
            if (body[part->body.index1] < 0) joint[k] = -1;
            if (part->kind == ST_TENDON_JOINT && joint[part->joint.index1 - 1] < 0) joint[k] = -1;
        }
    }
    for (int k = 0; k < scene->n_springs; k++)
        if (body[scene->spring[k].a.index1] < 0 || body[scene->spring[k].b.index1] < 0) map->to[STI_SPRING][k] = -1;
    for (int k = 0; k < scene->n_forces; k++)
        if (body[scene->force[k].body.index1] < 0) map->to[STI_FORCE][k] = -1;
    for (int kind = 0; kind < STI_N_KINDS; kind++)
        for (int k = 0, next = 0; k < map->count[kind]; k++)
            if (map->to[kind][k] >= 0) map->to[kind][k] = next++;
    const st_Allocator below = sti_allocator_below(&scene->allocator);
    STI_TRY(copy_mapped(scene, map, &below, &copy, err));
    st_Scene old = *scene;
    *scene = *copy;
    *copy = old;
    st_scene_destroy(copy);
    return ST_OK;
}

/* An id of any kind. */
typedef struct ObjectId {
    int32_t index1;
    uint32_t generation;
} ObjectId;
#define ASSERT_ALIKE(Id) _Static_assert(sizeof(Id) == sizeof(ObjectId), "ids of all kinds are alike")
ASSERT_ALIKE(st_BodyId);
ASSERT_ALIKE(st_ShapeId);
ASSERT_ALIKE(st_JointId);
ASSERT_ALIKE(st_SpringId);
ASSERT_ALIKE(st_ForceId);

static st_Status remove_objects(st_Scene *scene, sti_ObjectKind kind, const ObjectId *ids, int n, st_Error *err)
{
    Map map;
    st_Status status = ST_OK;
    const int first = kind == STI_BODY ? 1 : 0; /* the ground stays */
    if (scene == NULL || n < 0 || (n > 0 && ids == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "scene and ids must not be NULL");
    const st_Allocator a = sti_allocator_below(&scene->allocator); /* its arena goes when it is rebuilt */
    /* All of them stay. */
    map = (Map){.count = {[STI_BODY] = scene->n_bodies,
                          [STI_SHAPE] = scene->n_shapes,
                          [STI_JOINT] = scene->n_joints,
                          [STI_SPRING] = scene->n_springs,
                          [STI_FORCE] = scene->n_forces}};
    for (int j = 0; j < STI_N_KINDS; j++) {
        if (map.count[j] == 0) continue;
        map.to[j] = sti_alloc(&a, map.count[j], sizeof *map.to[j]);
        if (map.to[j] != NULL) continue;
        free_map(&a, &map);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a scene of %d bodies", scene->n_bodies - 1);
    }
    for (int k = 0; k < n && status == ST_OK; k++) {
        const int at = sti_names_place(&scene->names[kind], ids[k].index1 - 1 + first, ids[k].generation);
        if (at < 0 && ids[k].generation != 0)
            status = sti_fail(err, ST_ERR_ARGUMENT, "a %s that was number %d was removed before", sti_kind_name(kind),
                              ids[k].index1);
        else if (at < first || at >= map.count[kind])
            status = sti_fail(err, ST_ERR_ARGUMENT, "%s number %d cannot be removed, there are %d", sti_kind_name(kind),
                              ids[k].index1, map.count[kind] - first);
        else
            map.to[kind][at] = -1;
    }
    if (status == ST_OK && n > 0) status = rebuild(scene, &map, err);
    free_map(&a, &map);
    return status;
}

st_Status st_scene_remove_bodies(st_Scene *scene, const st_BodyId *ids, int n, st_Error *err)
{
    return remove_objects(scene, STI_BODY, (const ObjectId *)ids, n, err);
}

st_Status st_scene_remove_shapes(st_Scene *scene, const st_ShapeId *ids, int n, st_Error *err)
{
    return remove_objects(scene, STI_SHAPE, (const ObjectId *)ids, n, err);
}

st_Status st_scene_remove_joints(st_Scene *scene, const st_JointId *ids, int n, st_Error *err)
{
    return remove_objects(scene, STI_JOINT, (const ObjectId *)ids, n, err);
}

st_Status st_scene_remove_springs(st_Scene *scene, const st_SpringId *ids, int n, st_Error *err)
{
    return remove_objects(scene, STI_SPRING, (const ObjectId *)ids, n, err);
}

st_Status st_scene_remove_forces(st_Scene *scene, const st_ForceId *ids, int n, st_Error *err)
{
    return remove_objects(scene, STI_FORCE, (const ObjectId *)ids, n, err);
}
