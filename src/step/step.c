/* step/step.c -- one step, as a table of contents.
 *
 *     rows and contacts at q  ->  step problem  ->  velocity  ->  position  ->  collision?  ->  projection  ->  state
 *
 * Three ways to choose the contacts of a step problem:
 *     drift gap           all closer than `margin`, and those that a first attempt ran into;
 *     events off          those with a gap below `active_gap`;
 *     events collisions   the active set: entered at a collision, left when they separate.
 */
#include "base/tolerance.h"
#include "step/system.h"

#include <stdio.h>
#include <time.h>

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void sti_start_lap(st_System *system)
{
    system->lap = clock_seconds();
}

void sti_lap(st_System *system, st_Stage stage)
{
    double now = clock_seconds();
    system->seconds[stage] += now - system->lap;
    system->lap = now;
}

/* ---- choosing contacts ------------------------------------------------------------------------ */

/* Contacts enter before they touch, with their gap. */
static bool speculative(const st_System *system)
{
    return system->def.drift == ST_DRIFT_GAP && system->def.events == ST_EVENTS_OFF;
}

static bool is_chosen(const st_System *system, const sti_ContactEntry *contact)
{
    if (speculative(system)) return contact->gap < system->def.margin || sti_ids_contain(&system->missed, contact->id);
    return sti_ids_contain(&system->active, contact->id);
}

/* With events off the active set has no memory: it is what touches now. */
static st_Status refresh_active(st_System *system, st_Error *err)
{
    if (system->def.events != ST_EVENTS_OFF) return ST_OK;
    system->active.n = 0;
    for (int c = 0; c < system->here.n_contacts; c++)
        if (system->here.contact[c].gap <= system->def.active_gap)
            STI_TRY(sti_ids_add(&system->allocator, &system->active, system->here.contact[c].id, err));
    return ST_OK;
}

static st_Status choose_contacts(st_System *system, int *n, st_Error *err)
{
    int capacity = system->here.n_contacts;
    STI_TRY(STI_GROW(&system->allocator, system->chosen, system->chosen_capacity, capacity, err));
    *n = 0;
    for (int c = 0; c < system->here.n_contacts; c++)
        if (is_chosen(system, &system->here.contact[c])) system->chosen[(*n)++] = c;
    return ST_OK;
}

/* Contacts beyond the margin that the attempt ran into: to be chosen in the next attempt. */
static st_Status note_missed(st_System *system, int *n_new, st_Error *err)
{
    *n_new = 0;
    for (int c = 0; c < system->trial.n_contacts; c++) {
        const sti_ContactEntry *contact = &system->trial.contact[c];
        if (contact->gap >= -STI_OVERLAP || sti_ids_contain(&system->missed, contact->id)) continue;
        int before = sti_sink_find(&system->here, contact->id);
        if (before >= 0 && system->here.contact[before].gap < system->def.margin) continue;
        STI_TRY(sti_ids_add(&system->allocator, &system->missed, contact->id, err));
        ++*n_new;
    }
    return ST_OK;
}

/* ---- stages ----------------------------------------------------------------------------------- */

/* The rows in `here`, a velocity in v_new. */
static st_Status solve_velocity(st_System *system, const sti_Stage *stage, st_StepInfo *info, st_Error *err)
{
    int n;
    STI_TRY(choose_contacts(system, &n, err));
    STI_TRY(sti_stage_assemble(system, stage, system->chosen, n, err));
    st_SolveInfo solve;
    STI_TRY(sti_stage_solve(system, stage, system->v_new, &solve, err));
    if (info->solve.solver == NULL || !(solve.residual.natural <= info->solve.residual.natural)) info->solve = solve;
    info->contacts = n > info->contacts ? n : info->contacts;
    info->overlapping = system->step.overlapping;
    return ST_OK;
}

/* A velocity that no one can have meant ends the run, with the name of whose it is. */
static st_Status check_velocity(const st_System *system, double t, st_Error *err)
{
    for (int i = 0; i < system->model.n_v; i++) {
        double speed = fabs(system->v_new[i]);
        if (speed <= system->def.speed_limit) continue; /* false for NaN */
        char who[320];
        if (system->model.name != NULL)
            system->model.name(system->model.ctx, i, who, sizeof who);
        else
            snprintf(who, sizeof who, "velocity %d", i);
        return sti_fail(
            err, ST_ERR_NUMERIC,
            "diverged at step %lld, t = %g: %s reached a velocity of %g, the limit is %g; try a smaller h or "
            "an implicit integrator",
            (long long)system->n_steps + 1, t, who, system->v_new[i], system->def.speed_limit);
    }
    return ST_OK;
}

static double margin_of(const st_System *system)
{
    return fmax(system->def.margin, system->def.active_gap);
}

/* One Euler step from (q, v) to (q_new, v_new). */
static st_Status euler_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    sti_Stage stage = {.t = system->t,
                       .eta = h,
                       .rows = &system->here,
                       .q_star = system->q,
                       .v_star = system->v,
                       .v_base = system->v,
                       .q_base = system->q};
    STI_TRY(solve_velocity(system, &stage, info, err));
    STI_TRY(check_velocity(system, system->t + h, err));
    sti_move(system, system->q, system->v_new, h, system->q_new);
    sti_lap(system, ST_STAGE_MOVE);
    return ST_OK;
}

/* The margin that holds every contact the step to q_new can have run into. */
static double reach_of(const st_System *system, double h)
{
    const st_Model *model = &system->model;
    if (model->reach == NULL) return INFINITY;
    return margin_of(system) + model->reach(model->ctx, system->q, system->v_new, h);
}

/* The step, and again with the contacts beyond the margin that it ran into, if any: nothing tunnels. */
static st_Status speculative_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    system->missed.n = 0;
    for (int round = 0, again = 1; again > 0 && round < 4; round++) {
        if (round > 0) STI_TRY(sti_evaluate(system, &system->here, system->t, system->q, reach_of(system, h), err));
        STI_TRY(euler_step(system, h, info, err));
        STI_TRY(sti_evaluate(system, &system->trial, system->t + h, system->q_new, margin_of(system), err));
        STI_TRY(note_missed(system, &again, err));
    }
    return ST_OK;
}

/* Contacts that separate leave the active set: after steps with h > 0 only, see METHODS section 2. */
static st_Status drop_separated(st_System *system, st_Error *err)
{
    const sti_Assembly *step = &system->step;
    double fastest = 0;
    for (int i = 0; i < system->model.n_v; i++)
        fastest = fmax(fastest, fabs(system->v_new[i]));
    system->active_new.n = 0;
    for (int c = 0; c < step->n_gaps; c++)
        if (step->u[step->law[c].first] <= STI_SEPARATION_SPEED * (1 + fastest))
            STI_TRY(sti_ids_add(&system->allocator, &system->active_new, step->chosen[c].entry.id, err));
    return ST_OK;
}

static st_Status activate_touching(st_System *system, double gap, st_Error *err)
{
    for (int c = 0; c < system->trial.n_contacts; c++)
        if (system->trial.contact[c].gap <= gap)
            STI_TRY(sti_ids_add(&system->allocator, &system->active_new, system->trial.contact[c].id, err));
    return ST_OK;
}

static st_Status stuck(const st_System *system, double t, st_Error *err)
{
    char pair[600] = "contacts";
    for (int c = 0; c < system->trial.n_contacts; c++)
        if (system->trial.contact[c].gap <= system->def.active_gap &&
            !sti_ids_contain(&system->active, system->trial.contact[c].id))
            sti_describe_contact(system, &system->trial.contact[c], pair, sizeof pair);
    return sti_fail(err, ST_ERR_EVENTS,
                    "stuck at t = %g: %d collisions in a row without progress, the last of %s; try events off", t,
                    STI_MAX_STALLED, pair);
}

/* Exchange the rows at q with those at q_new: the impact is solved there. */
static void exchange_sinks(st_System *system)
{
    st_Sink sink = system->here;
    system->here = system->trial;
    system->trial = sink;
}

/* Does a contact that is not held overlap at q_new? */
static bool ran_into_something(const st_System *system)
{
    for (int c = 0; c < system->trial.n_contacts; c++)
        if (system->trial.contact[c].gap < -system->def.active_gap &&
            !sti_ids_contain(&system->active_new, system->trial.contact[c].id))
            return true;
    return false;
}

/* Hold what touches at q_new. A projection may push yet another contact into overlap: hold that, too. */
static st_Status close_contacts(st_System *system, double t, double h, st_Error *err)
{
    for (int round = 0; round < 4; round++) {
        STI_TRY(activate_touching(system, system->def.active_gap, err));
        if (system->def.drift != ST_DRIFT_PROJECTION) break;
        STI_TRY(sti_project(system, t, h, err));
        if (!ran_into_something(system)) break;
    }
    return ST_OK;
}

/* The impact at q_new: the contacts that touch are closed, and the same problem with h = 0 gives the
 * velocity after it.                                                                              */
static st_Status land(st_System *system, double t, double h, st_StepInfo *info, st_Error *err)
{
    system->work_before = h / system->step.eta * system->step.friction_work;
    STI_TRY(close_contacts(system, t, h, err));
    sti_IdSet active = system->active;
    exchange_sinks(system);
    system->active = system->active_new;
    sti_Stage impact = {.t = t,
                        .eta = 0,
                        .rows = &system->here,
                        .q_star = system->q_new,
                        .v_star = system->v_new,
                        .v_base = system->v_new,
                        .q_base = system->q_new};
    st_Status status = solve_velocity(system, &impact, info, err);
    system->active_new = system->active;
    system->active = active;
    exchange_sinks(system);
    info->collisions = 1;
    return status;
}

/* Go to the collision at fraction s of the step, and land there. */
static st_Status collide(st_System *system, double h, double s, st_StepInfo *info, st_Error *err)
{
    double t = system->t + s * h;
    system->stalled = s < 1e-9 ? system->stalled + 1 : 0;
    sti_move(system, system->q, system->v_new, s * h, system->q_new);
    STI_TRY(sti_evaluate(system, &system->trial, t, system->q_new, margin_of(system), err));
    if (system->stalled > STI_MAX_STALLED) return stuck(system, t, err);
    STI_TRY(sti_ids_copy(&system->allocator, &system->active_new, &system->active, err));
    sti_lap(system, ST_STAGE_EVENTS);
    return land(system, t, s * h, info, err);
}

/* ---- the step --------------------------------------------------------------------------------- */

/* What was computed becomes the state. */
static void accept(st_System *system, double t)
{
    double *q = system->q, *v = system->v;
    sti_IdSet active = system->active;
    system->q = system->q_new, system->q_new = q;
    system->v = system->v_new, system->v_new = v;
    system->active = system->active_new, system->active_new = active;
    exchange_sinks(system);
    system->t = t;
    system->friction_work += system->work_before + system->step.friction_work;
    system->n_steps++;
}

static void report(st_System *system, double h, st_StepInfo *info)
{
    info->time = system->t;
    info->h = h;
    info->joints = system->here.joint_rows.n_rows;
    info->penetration = sti_sink_penetration(&system->here);
    info->joint_error = sti_sink_joint_error(&system->here);
    info->kinetic = sti_energy_kinetic(system, system->q, system->v);
    info->potential = sti_energy_potential(system, &system->here, system->t, system->q);
    info->friction = system->friction_work;
    sti_lap(system, ST_STAGE_REPORT);
}

static st_Status advance(st_System *system, double h, double *taken, st_StepInfo *info, st_Error *err)
{
    double s = 1, end = system->t + h;
    *taken = h;
    system->work_before = 0;
    if (speculative(system)) return speculative_step(system, h, info, err);

    STI_TRY(refresh_active(system, err));
    STI_TRY(euler_step(system, h, info, err));
    if (system->def.events == ST_EVENTS_COLLISIONS) STI_TRY(sti_find_collision(system, h, &s, err));
    sti_lap(system, ST_STAGE_EVENTS);
    if (s < 1) {
        *taken = s * h;
        return collide(system, h, s, info, err);
    }
    system->stalled = 0;
    STI_TRY(drop_separated(system, err));
    STI_TRY(sti_evaluate(system, &system->trial, end, system->q_new, margin_of(system), err));
    if (system->def.drift != ST_DRIFT_PROJECTION) return ST_OK;
    if (system->def.events == ST_EVENTS_OFF) STI_TRY(activate_touching(system, 0.0, err));
    STI_TRY(sti_project(system, end, h, err));
    bool landed = system->def.events == ST_EVENTS_COLLISIONS && ran_into_something(system);
    return landed ? land(system, end, h, info, err) : ST_OK;
}

st_Status st_system_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    st_StepInfo local = st_step_info();
    double taken;
    if (!isfinite(h) || h <= 0) return sti_fail(err, ST_ERR_ARGUMENT, "h is %g, must be a finite number > 0", h);
    sti_start_lap(system);
    STI_TRY(advance(system, h, &taken, &local, err));
    accept(system, system->t + taken);
    report(system, taken, &local);
    if (info != NULL) {
        uint32_t size = info->size < sizeof local ? info->size : (uint32_t)sizeof local;
        local.size = info->size;
        memcpy(info, &local, size);
    }
    return ST_OK;
}
