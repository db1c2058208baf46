/* step/parameters.c -- masses, friction, gains and limits of a system that runs, changed between two steps.
 *
 * They are part of the state (sti_Values in model/world.h, written by save.c); the compiled scene stays as it is and is
 * shared. What the state remembers stays: positions, velocities, forces for the next warm start. Integrators of order
 * two start anew, bodies that sleep wake, and rows and contacts at the state are made again.
 */
#include "step/contact/contact_model.h"
#include "step/energy_guard.h"
#include "step/sleep.h"

void sti_enter_values(st_System *system, sti_Values *other)
{
    sti_values_exchange(system->model.world, other);
    system->work.step.mass_known = system->work.projection.problem.mass_known = false;
}

st_Status sti_check_values(const sti_Model *model, const sti_Values *values, st_Error *err)
{
    STI_TRY(sti_values_check(model->world, values, err));
    return sti_check_surface_values(&model->def, model->world, values, err);
}

/* `next` becomes the values of the system, which the caller frees: those of before, or these if it fails. */
static st_Status take_values(st_System *s, sti_Values *next, st_Error *err)
{
    for (int b = 1; b < s->model.world->n_bodies; b++)
        STI_TRY(sti_wake_now(s, b, err));
    const double energy_before = sti_energy(s);
    sti_enter_values(s, next);
    const st_Status status = sti_evaluate(&s->model, &s->state, &s->work, &s->work.trial, s->state.t, s->state.q,
                                          sti_margin(&s->model), err);
    if (status != ST_OK) {
        sti_enter_values(s, next);
        return status;
    }
    STI_EXCHANGE(st_Sink, s->work.here, s->work.trial);
    s->work.rows_stale = false;
    s->work.ahead.foreseen = 0;
    s->state.history.known = false;
    s->state.modes.n = 0;
    sti_forget_step(&s->model, &s->state, &s->work); /* its contacts name surfaces that are gone */
    s->state.works.given += sti_energy(s) - energy_before;
    return ST_OK;
}

st_Status sti_set_parameters(st_System *s, const char *const *path, const double *value, int n, st_Error *err)
{
    sti_World *world = s->model.world;
    unsigned own = world->values.own, array;
    if (!s->model.rigid)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "a model of the user's has no parameters: its numbers are its own");
    if (s->work.on_device != NULL)
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
    if (status == ST_OK) status = sti_check_values(&s->model, &next, err);
    if (status == ST_OK && (own & STI_SURFACE_VALUES) != 0)
        status = sti_surfaces_compile(world->scene, &world->allocator, &next, err);
    if (status == ST_OK && !sti_values_equal(world, &world->values, &next)) status = take_values(s, &next, err);
    sti_values_free(world, &next);
    return status;
}

st_Status st_system_set_parameter(st_System *system, const char *path, double value, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(path, err);
    return sti_set_parameters(system, &path, &value, 1, err);
}

st_Status st_system_parameter(const st_System *system, const char *path, double *value, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(path, err);
    STI_NEED(value, err);
    return sti_parameter_value(system->model.world, &system->model.world->values, path, value, err);
}
