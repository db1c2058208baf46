/* step/parameters.c -- masses, friction, gains and limits of a system that runs, changed between two steps.
 *
 * They are part of the state (sti_Values in model/world.h, written by save.c). The compiled scene is unchanged and
 * stays shared. The rest of the state is kept: positions, velocities, forces for the next warm start. Integrators of
 * order two restart, sleeping bodies wake, and rows and contacts at the state are computed again.
 */
#include "step/contact/contact.h"
#include "step/contact/contact_model.h"
#include "step/energy_guard.h"
#include "step/sleep.h"

void sti_enter_values(const sti_Model *model, sti_StepWork *work, sti_Values *other)
{
    sti_values_exchange(model->world, other);
    work->step.mass_known = work->projection.problem.mass_known = false;
}

st_Status sti_check_values(const sti_Model *model, const sti_Values *values, st_Error *err)
{
    STI_TRY(sti_values_check(model->world, values, err));
    return sti_check_surface_values(&model->def, model->world, values, err);
}

/* `next` becomes the values of the system, which the caller frees: those of before, or these if it fails. */
static st_Status use_values(const sti_Model *model, sti_State *state, sti_StepWork *work, sti_Values *next,
                            st_Error *err)
{
    for (int b = 1; b < model->world->n_bodies; b++)
        STI_TRY(sti_wake_now(model, state, work, b, err));
    const double energy_before = sti_energy(model, state, work);
    sti_enter_values(model, work, next);
    const st_Status status = sti_evaluate(model, state, work, &work->trial, state->t, state->q, sti_margin(model), err);
    if (status != ST_OK) {
        sti_enter_values(model, work, next);
        return status;
    }
    STI_EXCHANGE(st_Sink, work->here, work->trial);
    work->rows_stale = false;
    work->ahead.foreseen = 0;
    state->history.known = false;
    state->modes.n = 0;
    sti_forget_step(model, state, work); /* its contacts name surfaces that are gone */
    state->works.given += sti_energy(model, state, work) - energy_before;
    return ST_OK;
}

st_Status sti_set_parameters(const sti_Model *model, sti_State *state, sti_StepWork *work, const char *const *path,
                             const double *value, int n, st_Error *err)
{
    sti_World *world = model->world;
    unsigned own = world->values.own, array;
    if (!model->rigid) return sti_fail(err, ST_ERR_UNSUPPORTED, "a system of your own model has no parameters");
    if (work->on_device != NULL)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "parameters of a system that runs on a device cannot change");
    for (int k = 0; k < n; k++) {
        STI_TRY(sti_parameter_array(path[k], &array, err));
        own |= array;
    }
    sti_Values next;
    STI_TRY(sti_values_copy(world, own, &next, err));
    st_Status status = ST_OK;
    for (int k = 0; k < n && status == ST_OK; k++)
        status = sti_parameter_set(world, &next, path[k], value[k], err);
    if (status == ST_OK) status = sti_check_values(model, &next, err);
    if (status == ST_OK && (own & STI_SURFACE_VALUES) != 0)
        status = sti_surfaces_compile(world->scene, &world->allocator, &next, err);
    if (status == ST_OK && !sti_values_equal(world, &world->values, &next))
        status = use_values(model, state, work, &next, err);
    sti_values_free(world, &next);
    return status;
}

st_Status st_system_set_parameter(st_System *system, const char *path, double value, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(path, err);
    return sti_set_parameters(&system->model, &system->state, &system->work, &path, &value, 1, err);
}

st_Status st_system_parameter(const st_System *system, const char *path, double *value, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(path, err);
    STI_NEED(value, err);
    return sti_parameter_value(system->model.world, &system->model.world->values, path, value, err);
}
