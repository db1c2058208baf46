/* step/replace_scene.c -- continues a system with another scene, and clones a system.
 *
 * The new system is built completely beside the old one, and replaces it when nothing can fail any more. Data that
 * follow from (t, q, v) are computed again. The rest is carried over: contacts that are held closed or loaded, the
 * forces from which solvers start, deformations of compliant contacts, controls, and sums. Integrators of order two
 * start again, as after an event. */
#include "step/contact/contact_model.h"
#include "step/on_device.h"

#include <stdlib.h>

/* The numbers of objects of the old world in the new one. -1: removed or, in the other direction, new. */
typedef struct Moved {
    const sti_World *was, *now;
    int *room; /* holds the lists                                                                  */
    int64_t n_room;
    int *shape, *joint, *bounded; /* was's shapes, joints, bounded rows                            */
    int *shape_from, *joint_from; /* now's                                                         */
} Moved;

/* ---- matching names ------------------------------------------------------------------------------- */

/* The id of a contact in the new world. false: it is gone, or its shapes have changed their order. */
static bool move_id(const Moved *moved, uint64_t *id)
{
    const int joint = sti_limit_joint(*id);
    if (*id >= STI_BOUNDED_ID) {
        const int row = moved->bounded[*id - STI_BOUNDED_ID];
        *id = STI_BOUNDED_ID + (uint64_t)row;
        return row >= 0;
    }
    if (joint >= 0) {
        *id = STI_LIMIT_ID + 4 * (uint64_t)moved->joint[joint] + (*id & 3u);
        return moved->joint[joint] >= 0;
    }
    const int i = moved->shape[sti_contact_shape(*id, 0)], j = moved->shape[sti_contact_shape(*id, 1)];
    *id = sti_contact_id(i, j, sti_contact_feature(*id));
    return i >= 0 && i < j;
}

/* Does the contact have a part that was not there before? */
static bool is_new(const Moved *moved, uint64_t id)
{
    const int joint = sti_limit_joint(id);
    if (joint >= 0) return moved->joint_from[joint] < 0;
    return moved->shape_from[sti_contact_shape(id, 0)] < 0 || moved->shape_from[sti_contact_shape(id, 1)] < 0;
}

/* ---- carrying over ------------------------------------------------------------------------------- */

static st_Status carry_ids(const sti_Model *model, const Moved *moved, const sti_IdSet *from, sti_IdSet *to,
                           st_Error *err)
{
    for (int k = 0; k < from->n; k++) {
        uint64_t id = from->id[k];
        if (move_id(moved, &id)) STI_TRY(sti_ids_add(&model->allocator, to, id, err));
    }
    return ST_OK;
}

static int by_id_and_element(const void *a, const void *b)
{
    const sti_Impulse *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static void carry_force(const Moved *moved, sti_Impulse impulse, sti_State *state)
{
    if (!move_id(moved, &impulse.id)) return;
    if (impulse.shape_a > 0) impulse.shape_a = moved->shape[impulse.shape_a - 1] + 1;
    if (impulse.shape_b > 0) impulse.shape_b = moved->shape[impulse.shape_b - 1] + 1;
    state->forces.at[state->forces.n++] = impulse;
}

static int by_id(const void *a, const void *b)
{
    const sti_Patch *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Copies the lasting parts of the state and work of the system to those of the next one. */
static st_Status carry(const sti_State *state, const sti_StepWork *work, const sti_Model *model, sti_State *next,
                       sti_StepWork *next_work, Moved *moved, st_Error *err)
{
    moved->now = model->world;
    {
        /* Shapes bear names that are unique in their body. */
        const st_Scene *was = moved->was->scene, *now = moved->now->scene;
        for (int k = 0; k < was->n_shapes; k++) {
            const char *owner = was->names[STI_BODY].name[was->shape_body[k]];
            const int body = sti_names_find(&now->names[STI_BODY], 0, owner);
            const int to = body < 0 ? -1 : sti_names_find(&now->names[STI_SHAPE], body, sti_shape_name(was, k));
            moved->shape[k] = to;
            if (to >= 0) moved->shape_from[to] = k;
        }
    }
    {
        for (int k = 0; k < moved->now->n_joints; k++) {
            const int from = moved->joint_from[k];
            if (from < 0) continue;
            const sti_Joint *was = &moved->was->joint[from], *now = &moved->now->joint[k];
            moved->joint[from] = k;
            if (was->friction_row >= 0) moved->bounded[was->friction_row] = now->friction_row;
            if (was->motor_row >= 0) moved->bounded[was->motor_row] = now->motor_row;
        }
    }
    /* Contacts held closed: those that were held, and new contacts that touch. */
    int n = 0;
    for (int k = 0; k < next->active.n; k++)
        if (is_new(moved, next->active.id[k])) next->active.id[n++] = next->active.id[k];
    next->active.n = n;
    STI_TRY(carry_ids(model, moved, &state->active, &next->active, err));
    /* Contacts that were loaded at the end of the last step, including those of sleeping bodies. Otherwise integrators
     * of order two would treat resting contacts as new ones, and make their next step a rough one. */
    STI_TRY(carry_ids(model, moved, &state->loaded, &next->loaded, err));
    for (int k = 0; k < work->sleep.n_contacts; k++) {
        uint64_t id = work->sleep.contact[k].impulse.id;
        if (work->sleep.contact[k].impulse.r[0] > 0 && move_id(moved, &id))
            STI_TRY(sti_ids_add(&model->allocator, &next->loaded, id, err));
    }
    /* Also those under sleeping bodies, which wake. */
    const int64_t count = (int64_t)state->forces.n + work->sleep.n_contacts;
    STI_TRY(STI_GROW(&model->allocator, next->forces.at, next->forces.capacity, count, err));
    next->forces.n = 0;
    for (int k = 0; k < state->forces.n; k++)
        carry_force(moved, state->forces.at[k], next);
    for (int k = 0; k < work->sleep.n_contacts; k++)
        carry_force(moved, work->sleep.contact[k].impulse, next);
    if (next->forces.n > 1) qsort(next->forces.at, (size_t)next->forces.n, sizeof *next->forces.at, by_id_and_element);
    /* Patches contain the place of their deformations. All deformations are copied, including those of removed
     * contacts. */
    const sti_Patches *from = &state->patches;
    sti_Patches *to = &next->patches;
    if (from->n != 0) {
        STI_TRY(STI_GROW(&model->allocator, to->patch, to->patch_capacity, from->n, err));
        STI_TRY(STI_GROW(&model->allocator, to->delta, to->delta_capacity, from->n_delta, err));
        memcpy(to->delta, from->delta, (size_t)from->n_delta * sizeof *to->delta);
        to->n_delta = from->n_delta;
        for (int k = 0; k < from->n; k++) {
            sti_Patch patch = from->patch[k];
            if (move_id(moved, &patch.id)) to->patch[to->n++] = patch;
        }
        if (to->n > 1) qsort(to->patch, (size_t)to->n, sizeof *to->patch, by_id);
        STI_TRY(sti_patches_know(model, next_work, to, err));
    }
    /* A motor of another type gets no control: its value would have another meaning. */
    const sti_World *was = moved->was;
    sti_World *now = model->world;
    for (int k = 0; k < now->n_joints; k++) {
        const int old = moved->joint_from[k];
        if (old >= 0 && was->scene->joint[old].motor.type == now->scene->joint[k].motor.type)
            now->control[k] = was->control[old];
    }
    for (int f = 0; f < now->scene->n_forces; f++) {
        const int old = sti_names_find(&was->scene->names[STI_FORCE], 0, now->scene->force[f].name);
        if (old >= 0) now->control[now->n_joints + f] = was->control[was->n_joints + old];
    }
    for (int k = 0; k < sti_control_count(now); k++)
        now->n_controls += now->control[k].is_set;
    /* Bodies that are gone, or fixed now, are pushed no more. */
    STI_TRY(STI_GROW(&now->allocator, now->push, now->push_capacity, was->n_pushes, err));
    for (int b = 1; b < now->n_bodies && was->n_pushes > 0; b++) {
        const int old = sti_names_find(&was->scene->names[STI_BODY], 0, now->scene->names[STI_BODY].name[b]);
        for (int p = 0; p < was->n_pushes && now->body[b].n_dofs > 0; p++) {
            if (was->push[p].body != old) continue;
            now->push[now->n_pushes] = was->push[p];
            now->push[now->n_pushes++].body = b;
        }
    }
    next_work->rows_stale = model->world->n_controls > 0;
    next->n_steps = state->n_steps;
    next->stalled = state->stalled;
    next->works = state->works;
    next->grid = state->grid;
    next->fastest.speed = state->fastest.speed;
    next->fastest.pull = state->fastest.pull;
    next_work->initial_position = work->initial_position;
    next_work->initial_velocity = work->initial_velocity;
    next->n_changes = state->n_changes;
    next_work->n_relocated = sti_relocated_count(model->world);
    memcpy(next_work->clock.seconds, work->clock.seconds, sizeof next_work->clock.seconds);
    return ST_OK;
}

/* ---- the next system -------------------------------------------------------------------------- */

st_Status st_system_change(st_System *system, const st_Scene *scene, st_Error *err)
{
    st_System *next;
    if (system == NULL || scene == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_change: system and scene must be given");
    if (!system->model.rigid)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "a system of your own model has no scene to change");
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    Moved moved;
    sti_World *world;
    const sti_World *was = system->model.world;
    const int n_shapes = was->scene->n_shapes;
    moved = (Moved){.was = was};
    moved.n_room = (int64_t)n_shapes + was->n_joints + was->n_bounded + scene->n_shapes + scene->n_joints + 1;
    moved.room = sti_alloc(&was->allocator, moved.n_room, sizeof *moved.room);
    if (moved.room == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a scene of %d bodies", scene->n_bodies - 1);
    for (int64_t k = 0; k < moved.n_room; k++)
        moved.room[k] = -1;
    moved.shape = moved.room;
    moved.joint = moved.shape + n_shapes;
    moved.bounded = moved.joint + was->n_joints;
    moved.shape_from = moved.bounded + was->n_bounded;
    moved.joint_from = moved.shape_from + scene->n_shapes;
    sti_Before before = {system->model.world, system->state.q, system->state.v, moved.joint_from};
    st_Status status = sti_world_create_after(scene, &before, &world, err);
    if (status == ST_OK) {
        status = sti_system_of_world(&system->model.given, world, system->state.t, world->q0, world->v0, &next, err);
        if (status != ST_OK) sti_world_destroy(world);
    }
    if (status == ST_OK) {
        status = carry(&system->state, &system->work, &next->model, &next->state, &next->work, &moved, err);
        if (status != ST_OK) {
            st_system_destroy(next);
            next = NULL;
        }
    }
    sti_free(&system->model.allocator, moved.room, moved.n_room, sizeof *moved.room);
    STI_TRY(status);
    next->state.n_changes++;
    st_System old = *system;
    *system = *next;
    *next = old;
    sti_cancel_carry(&next->work, &system->work);
    st_system_destroy(next);
    return ST_OK;
}

int st_system_changes(const st_System *system)
{
    return system->state.n_changes;
}

st_Status st_system_clone(const st_System *system, st_System **out, st_Error *err)
{
    if (system == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_clone: system and out must be given");
    *out = NULL;
    if (!system->model.rigid)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "a system of your own model cannot be cloned: create another system and use st_system_restore");
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    const sti_World *from = system->model.world;
    const sti_State *state = &system->state;
    sti_World *world;
    STI_TRY(sti_world_open(from->compiled, from->gravity, &from->allocator, &world, err));
    memcpy(world->presence, from->presence, (size_t)world->n_bodies * sizeof *world->presence);
    st_Status status = sti_system_of_world(&system->model.given, world, state->t, state->q, state->v, out, err);
    if (status != ST_OK) {
        sti_world_destroy(world);
        return status;
    }
    (*out)->state.n_changes = state->n_changes;
    (*out)->work.initial_position = system->work.initial_position;
    (*out)->work.initial_velocity = system->work.initial_velocity;
    memcpy((*out)->work.clock.seconds, system->work.clock.seconds, sizeof system->work.clock.seconds);
    const size_t size = st_system_save(system, NULL, 0);
    void *bytes = sti_alloc(&system->model.allocator, (int64_t)size, 1);
    if (bytes != NULL) {
        st_system_save(system, bytes, size);
        status = st_system_restore(*out, bytes, size, err);
        sti_free(&system->model.allocator, bytes, (int64_t)size, 1);
    } else {
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a state of %zu bytes", size);
    }
    if (status != ST_OK) {
        st_system_destroy(*out);
        *out = NULL;
    }
    return status;
}
