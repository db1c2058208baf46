/* step/one_body.c -- changes the pose or the velocity of one body between two steps. st_system_set_state does this for
 * all bodies, flow.c for some. Contacts are evaluated again at the new pose. The history of other bodies is kept:
 * their forces, their sleep, the work of friction. The history of the moved body is dropped: the forces of its
 * contacts, the set of held contacts and their deformations belong to the old pose. */
#include "base/range.h"
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/on_device.h"
#include "step/sleep.h"

st_Status sti_check_movable(const sti_Model *model, const char *call, st_BodyId body, st_Error *err)
{
    const sti_World *world = model->world;
    if (body.index1 < 0) return sti_fail(err, ST_ERR_ARGUMENT, "%s: the body of this id was removed", call);
    if (body.index1 < 1 || body.index1 >= world->n_bodies)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: there is no body %d", call, body.index1);
    if (world->body[body.index1].n_dofs == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: body \"%s\" is fixed or all its freedoms are locked", call,
                        world->scene->names[STI_BODY].name[body.index1]);
    return ST_OK;
}

static const char *body_name(const sti_Model *model, st_BodyId body)
{
    return model->world->scene->names[STI_BODY].name[body.index1];
}

static st_Status check_body_vector(const sti_Model *model, st_BodyId body, const char *what, st_Vec3 x, st_Error *err)
{
    const double all[3] = {x.x, x.y, x.z};
    for (int k = 0; k < 3; k++)
        if (!sti_within(all[k], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": %s[%d] is %g, must be from %g to %g",
                            body_name(model, body), what, k, all[k], -STI_LARGEST, STI_LARGEST);
    return ST_OK;
}

/* ---- dropping history ------------------------------------------------------------------------- */

/* Does a contact, or the limit of a joint, belong to one of these bodies? */
static bool is_of(const sti_World *world, uint64_t id, const unsigned char *marked)
{
    const int joint = sti_limit_joint(id), *owner = world->scene->shape_body;
    if (id >= STI_BOUNDED_ID) return false;
    if (joint >= 0) return marked[world->joint[joint].a] || marked[world->joint[joint].b];
    return marked[owner[sti_contact_shape(id, 0)]] || marked[owner[sti_contact_shape(id, 1)]];
}

static void forget_ids(const sti_World *world, sti_IdSet *set, const unsigned char *marked)
{
    int n = 0;
    for (int k = 0; k < set->n; k++)
        if (!is_of(world, set->id[k], marked)) set->id[n++] = set->id[k];
    set->n = n;
}

/* Schemes of more than one step start anew, and contacts are foreseen anew. */
static void forget_past(sti_State *state, sti_StepWork *work)
{
    state->history.known = false;
    work->ahead.foreseen = 0;
    state->fresh = true;
    state->stalled = state->modes.n = 0;
}

/* ---- a pose ----------------------------------------------------------------------------------- */

st_Status sti_bodies_moved(const sti_Model *model, sti_State *state, sti_StepWork *work, const double *q,
                           const unsigned char *moved, st_Error *err)
{
    STI_TRY(sti_evaluate(model, state, work, &work->trial, state->t, q, sti_margin(model), err));
    STI_TRY(STI_GROW(&model->allocator, state->active.id, state->active.capacity,
                     (int64_t)state->active.n + work->trial.n_contacts, err));
    STI_TRY(sti_rotors_follow(model->world, q, state->v, err));
    memcpy(state->q, q, (size_t)model->n_q * sizeof *state->q);
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    const sti_World *world = model->world;
    int n = 0, n_patches = 0;
    for (int k = 0; k < state->forces.n; k++)
        if (!is_of(world, state->forces.at[k].id, moved)) state->forces.at[n++] = state->forces.at[k];
    state->forces.n = n;
    for (int k = 0; k < state->patches.n; k++)
        if (!is_of(world, state->patches.patch[k].id, moved))
            state->patches.patch[n_patches++] = state->patches.patch[k];
    state->patches.n = n_patches;
    forget_ids(world, &state->loaded, moved);
    forget_ids(world, &state->active, moved);
    work->ahead.foreseen = 0; /* contacts are foreseen anew */
    work->events.n = 0;
    sti_forget_strikes(work);
    sti_forget_step(model, state, work);
    /* Touching contacts of the moved bodies are held. There is room for them, so this does not fail. */
    const st_Sink *here = &work->here;
    for (int c = 0; c < here->n_contacts; c++)
        if (here->contact[c].gap <= model->def.active_gap && is_of(model->world, here->contact[c].id, moved))
            STI_TRY(sti_ids_add(&model->allocator, &state->active, here->contact[c].id, err));
    return ST_OK;
}

st_Status st_system_set_pose(st_System *system, st_BodyId body, const st_Pose *pose, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(pose, err);
    body = sti_body_now(system->model.world->scene, body);
    sti_World *world = system->model.world;
    const bool led = body.index1 > 0 && body.index1 < world->n_bodies && world->body[body.index1].n_dofs == 0;
    /* fixed or locked: moved by this call alone */
    if (!led) STI_TRY(sti_check_movable(&system->model, "st_system_set_pose", body, err));
    STI_TRY(check_body_vector(&system->model, body, "position", pose->p, err));
    const double length = quat_norm(pose->q);
    if (!(fabs(length - 1.0) <= STI_UNIT))
        return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": its orientation has length %g, must be a unit quaternion",
                        body_name(&system->model, body), length);
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    sti_start_lap(&system->work);
    for (int b = 1; b < world->n_bodies && led; b++) /* any of them may rest on it */
        STI_TRY(sti_wake_now(&system->model, &system->state, &system->work, b, err));
    if (led)
        world->collider.placed = false; /* it is placed again, with all that does not move */
    else
        STI_TRY(sti_wake_now(&system->model, &system->state, &system->work, body.index1, err));
    double *q = system->work.q_new, *p = q + (ptrdiff_t)STI_BODY_Q * (body.index1 - 1);
    const st_Quat turned = quat_unit(pose->q);
    memcpy(q, system->state.q, (size_t)system->model.n_q * sizeof *q);
    vec3_store(p, pose->p);
    p[3] = turned.w, p[4] = turned.x, p[5] = turned.y, p[6] = turned.z;
    sti_angles_update(system->model.world, q);
    sti_angles_settle(system->model.world, q);
    unsigned char *moved = sti_alloc(&system->model.allocator, system->model.world->n_bodies, sizeof *moved);
    if (moved == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a pose");
    moved[body.index1] = 1;
    const st_Status status = sti_bodies_moved(&system->model, &system->state, &system->work, q, moved, err);
    sti_free(&system->model.allocator, moved, system->model.world->n_bodies, sizeof *moved);
    if (status == ST_OK) forget_past(&system->state, &system->work);
    return status;
}

/* ---- a velocity ------------------------------------------------------------------------------- */

st_Status st_system_set_velocity(st_System *system, st_BodyId body, const st_Vec3 *velocity, const st_Vec3 *spin,
                                 st_Error *err)
{
    STI_NEED(system, err);
    static const char *const direction[6] = {"x", "y", "z", "rx", "ry", "rz"};
    double full[6];
    st_Vec3 v, w;
    body = sti_body_now(system->model.world->scene, body);
    STI_TRY(sti_check_movable(&system->model, "st_system_set_velocity", body, err));
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    const sti_Body *it = &system->model.world->body[body.index1];
    sti_body_velocity(it, system->state.v, &v, &w);
    if (velocity != NULL) v = *velocity;
    if (spin != NULL) w = *spin;
    STI_TRY(check_body_vector(&system->model, body, "velocity", v, err));
    STI_TRY(check_body_vector(&system->model, body, "spin", w, err));
    vec3_store(full, v);
    vec3_store(full + 3, w);
    for (int i = 0, d = 0; i < 6; i++) {
        const bool is_free = d < it->n_dofs && it->dof[d] == i;
        d += is_free;
        if (!is_free && full[i] != 0)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": its velocity along %s is %g, but that is locked, must be 0",
                            body_name(&system->model, body), direction[i], full[i]);
    }
    STI_TRY(sti_wake_now(&system->model, &system->state, &system->work, body.index1, err));
    for (int d = 0; d < it->n_dofs; d++)
        system->state.v[it->v_first + d] = full[it->dof[d]];
    forget_past(&system->state, &system->work);
    return sti_rotors_follow(system->model.world, system->state.q, system->state.v, err);
}
