/* step/state.c -- set and get the state of a simulation: time, coordinates, velocities, energy, poses. */
#include "base/tolerance.h"
#include "step/contact/contact.h"
#include "step/impulses.h"
#include "step/on_device.h"
#include "step/sleep.h"
#include "step/step.h"

/* ---- another state ------------------------------------------------------------------------------ */

static st_Status check_numbers(const char *what, const double *x, int n, st_Error *err)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return sti_fail(err, ST_ERR_ARGUMENT, "%s number %d is %g, must be finite", what, k, x[k]);
    return ST_OK;
}

/* Evaluates rows and contacts at a new state. ahead: contacts are found for a step of this length; 0: for none. If the
 * next step finds contacts again, their rows are not computed here: those of a pile need more memory than its state.
 * A device finds the contacts itself; they are needed here only to correct or refuse the initial state. */
static st_Status look_around(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, const double *q,
                             const double *v, double ahead, st_Error *err)
{
    const double margin = ahead > 0 ? sti_margin(model) : fmax(model->def.margin, model->def.active_gap);
    if (model->def.device != ST_DEVICE_NONE && model->rigid && model->def.initial == ST_INITIAL_KEEP) {
        sti_row_buffer_clear_contacts(&work->trial);
        model->world->collider.asked = false; /* shapes are elsewhere now */
        return sti_evaluate_constraints(model, work, &work->trial, t, q, err);
    }
    if (sti_speculative(model))
        STI_TRY(sti_evaluate_ahead(model, state, work, &work->trial, t, q, margin, ahead, v, NULL, err));
    else
        STI_TRY(sti_evaluate(model, state, work, &work->trial, t, q, margin, err));
    work->active_new.n = 0;
    for (int c = 0; c < work->trial.n_contacts; c++)
        if (work->trial.contact[c].gap <= model->def.active_gap)
            STI_TRY(sti_ids_add(&model->allocator, &work->active_new, work->trial.contact[c].id, err));
    return sti_ids_copy(&model->allocator, &state->active, &work->active_new, err);
}

void sti_forget_step(const sti_Model *model, const sti_State *state, sti_StepWork *work)
{
    work->step.problem = (st_Problem){0};
    work->step.piled = false;
    work->step.n_gaps = work->step.n_bounded = 0;
    work->step.q = state->q;
    sti_impulses_begin(model, work);
    work->device_has_state = false;
    sti_device_start_from(work, NULL, 0, 0);
}

st_Status st_system_set_state(st_System *s, double t, const double *q, const double *v, st_Error *err)
{
    STI_NEED(s, err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    STI_TRY(sti_device_fetch(&s->model, &s->state, &s->work, err)); /* remains if the new state is refused */
    return sti_put_state(&s->model, &s->state, &s->work, t, q, v, 0, NULL, err);
}

st_Status sti_put_state(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, const double *q,
                        const double *v, double ahead, st_Sink *rows, st_Error *err)
{
    sti_start_lap(work);
    if (rows == NULL) { /* else the rows are of this state, which was accepted before */
        STI_TRY(check_numbers("time", &t, 1, err));
        STI_TRY(check_numbers("coordinate", q, model->n_q, err));
        STI_TRY(check_numbers("velocity", v, model->n_v, err));
    }
    /* Orientations are unit quaternions; rounded digits pass, as they do in a scene. */
    for (int b = 1; b < model->world->n_bodies && rows == NULL; b++) {
        const double length = quat_norm(sti_pose(q, b).q);
        if (!(fabs(length - 1.0) <= STI_UNIT))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": its orientation has length %g, must be a unit quaternion",
                            model->world->scene->names[STI_BODY].name[b], length);
    }
    sti_sleep_rouse(model, work); /* any body may have moved */
    st_Status status = rows == NULL ? look_around(model, state, work, t, q, v, ahead, err) : ST_OK;
    if (rows != NULL) sti_row_buffer_exchange(&work->trial, rows);
    if (status != ST_OK) sti_sleep_resume(model, state, work);
    STI_TRY(status);
    memmove(state->q, q, (size_t)model->n_q * sizeof *q);
    memmove(state->v, v, (size_t)model->n_v * sizeof *v);
    STI_TRY(sti_rotors_follow(model->world, state->q, state->v, err)); /* rows were evaluated there */
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    sti_motors_restart(model, state, work, t);
    sti_time_set(state, t);
    state->fresh = true;
    sti_sleep_forget(model, state, work);
    state->stalled = state->forces.n = state->modes.n = work->events.n = state->loaded.n = 0;
    state->patches.n = 0, state->patches.n_delta = 0;
    state->history.known = false;
    work->ahead.foreseen = ahead;
    state->works = (sti_Works){0};
    sti_forget_strikes(work);
    sti_forget_step(model, state, work);
    return ST_OK;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

double st_system_time(const st_System *system)
{
    return system->state.t;
}

int st_system_n_q(const st_System *system)
{
    return system->model.n_q;
}

int st_system_n_v(const st_System *system)
{
    return system->model.n_v;
}

void st_system_state(const st_System *system, double *q, double *v)
{
    (void)sti_device_fetch(&system->model, &system->state, &system->work, NULL); /* NaN if it fails */
    if (q != NULL) memcpy(q, system->state.q, (size_t)system->model.n_q * sizeof *q);
    if (v != NULL) memcpy(v, system->state.v, (size_t)system->model.n_v * sizeof *v);
}

uint64_t st_system_hash(const st_System *system)
{
    (void)sti_device_fetch(&system->model, &system->state, &system->work, NULL);
    const struct {
        const void *data;
        size_t size;
    } parts[] = {{&system->state.t, sizeof system->state.t},
                 {system->state.q, (size_t)system->model.n_q * sizeof(double)},
                 {system->state.v, (size_t)system->model.n_v * sizeof(double)},
                 {system->state.patches.delta, (size_t)system->state.patches.n_delta * sizeof(double)}};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t k = 0; k < parts[p].size; k++)
            hash = (hash ^ ((const unsigned char *)parts[p].data)[k]) * 0x100000001b3u;
    return hash;
}

st_Status st_system_energy(st_System *system, double *kinetic, double *potential, st_Error *err)
{
    STI_NEED(system, err);
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    return sti_energies(&system->model, &system->state, &system->work, kinetic, potential, err);
}

st_Status sti_energies(const sti_Model *model, const sti_State *state, sti_StepWork *work, double *kinetic,
                       double *potential, st_Error *err)
{
    work->kinetic.known = false; /* masses may have changed */
    double k = sti_energy_kinetic(model, work, state->q, state->v);
    double p = sti_energy_potential(model, state, work, &work->here, state->t, state->q);
    if (kinetic != NULL) *kinetic = k;
    if (potential != NULL) *potential = p;
    if (!isfinite(k) || !isfinite(p)) return sti_fail(err, ST_ERR_NUMERIC, "the energy is %g + %g, not finite", k, p);
    return ST_OK;
}

/* ---- a body ------------------------------------------------------------------------------------- */

static const sti_Body *body_of_id(const sti_Model *model, st_BodyId body)
{
    const sti_World *world = model->world;
    return model->rigid && body.index1 >= 0 && body.index1 < world->n_bodies ? &world->body[body.index1] : NULL;
}

st_Status st_system_pose(const st_System *system, st_BodyId body, st_Pose *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    body = sti_body_now(system->model.world->scene, body);
    if (body_of_id(&system->model, body) == NULL) return ST_ERR_ARGUMENT;
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, NULL));
    *out = sti_pose(system->state.q, body.index1);
    return ST_OK;
}

st_Status st_system_velocity(const st_System *system, st_BodyId body, st_Vec3 *velocity, st_Vec3 *spin)
{
    if (system == NULL) return ST_ERR_ARGUMENT;
    const sti_Body *b = body_of_id(&system->model, sti_body_now(system->model.world->scene, body));
    if (b == NULL) return ST_ERR_ARGUMENT;
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, NULL));
    double full[6] = {0};
    for (int k = 0; k < b->n_dofs; k++)
        full[b->dof[k]] = system->state.v[b->v_first + k];
    if (velocity != NULL) *velocity = vec3_load(full);
    if (spin != NULL) *spin = vec3_load(full + 3);
    return ST_OK;
}

/* ---- keyframes ---------------------------------------------------------------------------------- */

/* A system put into a state that its scene has a name for. */

st_Status st_system_set_keyframe(st_System *s, int number, st_Error *err)
{
    STI_NEED(s, err);
    sti_World *world = s->model.world;
    const int n_q = s->model.n_q, n_v = s->model.n_v, count = world != NULL ? world->scene->n_keyframes : 0;
    if (number < 1 || number > count)
        return sti_fail(err, ST_ERR_ARGUMENT, "keyframe %d, the scene has %d: must be 1 to %d", number, count, count);
    STI_TRY(sti_device_fetch(&s->model, &s->state, &s->work, err));
    const sti_KeyframeEntry *to = &world->scene->keyframe[number - 1];
    double *q = sti_alloc(&s->model.allocator, (int64_t)n_q + n_v, sizeof *q), *v = q + n_q;
    if (q == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a keyframe");
    memcpy(q, s->state.q, (size_t)n_q * sizeof *q);
    memset(v, 0, (size_t)n_v * sizeof *v);
    for (int k = 0; k < to->n_bodies; k++) {
        const st_KeyframeBody *b = &to->bodies[k];
        const sti_Body *body = &world->body[b->body.index1];
        const st_Pose pose = b->pose;
        if (body->n_dofs == 0) world->collider.placed = false; /* it is placed again, with all that does not move */
        double *p = q + (int64_t)STI_BODY_Q * (b->body.index1 - 1), full[6];
        vec3_store(p, pose.p);
        p[3] = pose.q.w, p[4] = pose.q.x, p[5] = pose.q.y, p[6] = pose.q.z;
        vec3_store(full, b->velocity);
        vec3_store(full + 3, b->spin);
        for (int d = 0; d < body->n_dofs; d++)
            v[body->v_first + d] = full[body->dof[d]];
    }
    for (int k = 0; k < world->n_angles; k++) /* less than half a turn from the start */
        q[world->angle[k].q] = 0;
    sti_angles_update(world, q);
    sti_angles_settle(world, q);
    st_Status status = st_system_set_state(s, to->t, q, v, err);
    for (int k = 0; k < to->n_motors && status == ST_OK; k++) {
        status = st_system_set_motor(s, to->motors[k].joint, to->motors[k].wanted, err);
        if (status == ST_OK)
            sti_motor_settle(&s->model, &s->state, &s->work, to->motors[k].joint.index1 - 1, to->motors[k].wanted);
    }
    for (int k = 0; k < to->n_forces && status == ST_OK; k++)
        status = st_system_set_force(s, to->forces[k].force, &to->forces[k].value, &to->forces[k].torque, err);
    sti_free(&s->model.allocator, q, (int64_t)n_q + n_v, sizeof *q);
    return status;
}

/* ---- backup -------------------------------------------------------------------------------------- */

/* The state before a step, which is restored if the step fails. A step that fails leaves no trace (system.h). Most
 * results of a step are stored beside the state until the step is accepted. Only the parts of the state that the step
 * changes earlier are copied here. The forces of the last step are exchanged instead of copied, and only if they are
 * overwritten before the step is accepted (warm_start.c). */

/* Copy one state over another; the sets have room where sti_save made it. */
static void copy_history(const sti_Model *model, sti_History *to, const sti_History *from)
{
    to->known = from->known;
    to->h = from->h;
    memcpy(to->q, from->q, (size_t)model->n_q * sizeof *to->q);
    memcpy(to->v, from->v, (size_t)model->n_v * sizeof *to->v);
    memcpy(to->a, from->a, (size_t)model->n_v * sizeof *to->a);
}

st_Status sti_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    sti_Snapshot *saved = &work->saved;
    saved->state.t = state->t;
    saved->state.grid = state->grid;
    saved->state.works = state->works;
    saved->state.fastest = state->fastest;
    saved->state.stalled = state->stalled;
    saved->kept = saved->lost = false;
    if (!sti_speculative(model)) STI_TRY(sti_ids_copy(&model->allocator, &saved->state.active, &state->active, err));
    if (work->mean.past != NULL)
        memcpy(work->mean.before, work->mean.past, (size_t)sti_mean_past(model) * sizeof(double));
    if (!sti_has_stages(model)) return ST_OK;
    STI_TRY(sti_ids_copy(&model->allocator, &saved->state.loaded, &state->loaded, err));
    sti_Modes *to = &saved->state.modes;
    STI_TRY(STI_GROW(&model->allocator, to->at, to->capacity, state->modes.n, err));
    if (state->modes.n > 0) memcpy(to->at, state->modes.at, (size_t)state->modes.n * sizeof *to->at);
    to->n = state->modes.n;
    memcpy(saved->state.q, state->q, (size_t)model->n_q * sizeof *state->q);
    memcpy(saved->state.v, state->v, (size_t)model->n_v * sizeof *state->v);
    copy_history(model, &saved->state.history, &state->history);
    return sti_impulses_save(model, state, work, err);
}

void sti_save_impulses(sti_State *state, sti_StepWork *work)
{
    if (work->saved.kept) return;
    STI_EXCHANGE(sti_Impulses, state->forces, work->saved.state.forces);
    work->saved.kept = true;
}

/* Nothing here can fail but the rows at the old position, which were there before. */
void sti_restore(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    const sti_Snapshot *saved = &work->saved;
    work->step.lent = NULL; /* the step problem is made again, or forgotten */
    state->t = saved->state.t;
    state->grid = saved->state.grid;
    state->works = saved->state.works;
    state->fastest = saved->state.fastest;
    state->stalled = saved->state.stalled;
    if (saved->kept) STI_EXCHANGE(sti_Impulses, state->forces, work->saved.state.forces);
    work->warm.pending = 0;
    if (saved->lost) state->forces.n = 0;
    work->ahead.foreseen = 0; /* `here` may contain contacts that only the failed attempt met: find them again */
    if (!sti_speculative(model)) STI_EXCHANGE(sti_IdSet, state->active, work->saved.state.active);
    if (work->mean.past != NULL)
        memcpy(work->mean.past, work->mean.before, (size_t)sti_mean_past(model) * sizeof(double));
    if (!sti_has_stages(model)) return;
    STI_EXCHANGE(sti_IdSet, state->loaded, work->saved.state.loaded);
    STI_EXCHANGE(sti_Modes, state->modes, work->saved.state.modes);
    memcpy(state->q, saved->state.q, (size_t)model->n_q * sizeof *state->q);
    memcpy(state->v, saved->state.v, (size_t)model->n_v * sizeof *state->v);
    copy_history(model, &state->history, &saved->state.history);
    sti_impulses_restore(model, state, work);
    if (sti_continues_after_event(model))
        (void)sti_evaluate(model, state, work, &work->here, state->t, state->q, sti_margin(model), NULL);
}
