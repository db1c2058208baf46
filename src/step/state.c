/* step/state.c -- the state of a simulation, set and asked for: time, coordinates, velocities, energy, poses. */
#include "base/tolerance.h"
#include "step/sleep.h"
#include "step/step.h"

/* ---- another state ------------------------------------------------------------------------------ */

static st_Status check_numbers(const char *what, const double *x, int n, st_Error *err)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return sti_fail(err, ST_ERR_ARGUMENT, "%s number %d is %g, must be finite", what, k, x[k]);
    return ST_OK;
}

/* What is found at a new state, and what touches there. */
static st_Status look_around(const sti_Model *model, sti_State *state, sti_StepWork *work, double t, const double *q,
                             double margin, st_Error *err)
{
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
    sti_forget_strikes(work);
    work->device_has_state = false;
}

st_Status st_system_set_state(st_System *s, double t, const double *q, const double *v, st_Error *err)
{
    STI_NEED(s, err);
    STI_NEED(q, err);
    STI_NEED(v, err);
    double margin = fmax(s->model.def.margin, s->model.def.active_gap);
    sti_start_lap(&s->work);
    STI_TRY(check_numbers("time", &t, 1, err));
    STI_TRY(check_numbers("coordinate", q, s->model.n_q, err));
    STI_TRY(check_numbers("velocity", v, s->model.n_v, err));
    /* Orientations are unit quaternions; rounded digits pass, as they do in a scene. */
    for (int b = 1; b < s->model.world->n_bodies; b++) {
        const double length = quat_norm(sti_pose(q, b).q);
        if (!(fabs(length - 1.0) <= STI_UNIT))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": its orientation has length %g, must be a unit quaternion",
                            s->model.world->scene->names[STI_BODY].name[b], length);
    }
    sti_sleep_rouse(&s->model, &s->work); /* anybody may be somewhere else */
    st_Status status = look_around(&s->model, &s->state, &s->work, t, q, margin, err);
    if (status != ST_OK) sti_sleep_resume(&s->model, &s->state, &s->work);
    STI_TRY(status);
    memmove(s->state.q, q, (size_t)s->model.n_q * sizeof *q);
    memmove(s->state.v, v, (size_t)s->model.n_v * sizeof *v);
    STI_TRY(sti_rotors_follow(s->model.world, s->state.q, s->state.v, err)); /* rows were evaluated there */
    STI_EXCHANGE(st_Sink, s->work.here, s->work.trial);
    sti_motors_restart(s, t);
    sti_time_set(&s->state, t);
    s->state.fresh = true;
    sti_sleep_forget(&s->model, &s->state, &s->work);
    s->state.stalled = s->state.forces.n = s->state.modes.n = s->work.events.n = s->state.loaded.n = 0;
    s->state.patches.n = 0, s->state.patches.n_delta = 0;
    s->state.history.known = false;
    s->work.ahead.foreseen = 0;
    s->state.works = (sti_Works){0};
    sti_forget_step(&s->model, &s->state, &s->work);
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
    if (q != NULL) memcpy(q, system->state.q, (size_t)system->model.n_q * sizeof *q);
    if (v != NULL) memcpy(v, system->state.v, (size_t)system->model.n_v * sizeof *v);
}

uint64_t st_system_hash(const st_System *system)
{
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
    double k = sti_energy_kinetic(&system->model, &system->work, system->state.q, system->state.v);
    double p = sti_energy_potential(&system->model, &system->state, &system->work, &system->work.here, system->state.t,
                                    system->state.q);
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
    *out = sti_pose(system->state.q, body.index1);
    return ST_OK;
}

st_Status st_system_velocity(const st_System *system, st_BodyId body, st_Vec3 *velocity, st_Vec3 *spin)
{
    if (system == NULL) return ST_ERR_ARGUMENT;
    const sti_Body *b = body_of_id(&system->model, sti_body_now(system->model.world->scene, body));
    if (b == NULL) return ST_ERR_ARGUMENT;
    double full[6] = {0};
    for (int k = 0; k < b->n_dofs; k++)
        full[b->dof[k]] = system->state.v[b->v_first + k];
    if (velocity != NULL) *velocity = vec3_load(full);
    if (spin != NULL) *spin = vec3_load(full + 3);
    return ST_OK;
}
