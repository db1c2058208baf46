/* step/system.c -- a simulation is made, of a scene or of a model of the user's, and ends; it steps in step.c. */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "step/contact/contact_model.h"
#include "step/drift/drift.h"
#include "step/flow.h"
#include "step/impulses.h"
#include "step/integrate/integrate.h"
#include "step/joint_coordinates.h"
#include "step/on_device.h"
#include "step/sleep.h"

st_Model st_model_def(void)
{
    return (st_Model){.cookie = STI_COOKIE};
}

/* ---- checks -------------------------------------------------------------------------------------- */

/* A def may have been filled by hand: every number goes through its own check once more. */
static st_Status check_system_def(const st_SystemDef *def, st_Error *err)
{
    STI_CHECK_DEF(def, "st_system_def", err);
    if (def->allocator.alloc == NULL || def->allocator.free == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "the allocator has no alloc or no free, must have both");
    st_SystemDef copy = *def;
    for (int k = 1; k < st_setting_count(); k++) { /* 0 is the preset, which would set the others */
        st_SettingValue value;
        STI_TRY(st_setting_get(def, st_setting(k)->key, &value, err));
        STI_TRY(st_setting_set(&copy, st_setting(k)->key, &value, err));
    }
    if (def->end + def->h <= def->end) /* steps would not change the time before the end */
        return sti_fail(err, ST_ERR_ARGUMENT, "h is %g s, below the resolution of time at end = %g s", def->h,
                        def->end);
    const int dims[] = {1, 2, 3};
    for (int k = 0; k < 3; k++) {
        st_Law law = dims[k] == 1 ? ST_LAW_FRICTIONLESS : def->law;
        if (law == ST_LAW_FRICTIONLESS && k > 0) continue;
        const st_OwnSolver *own = def->own_solver;
        if (own != NULL ? own->accepts != NULL && !own->accepts(own->ctx, law, dims[k], true)
                        : !st_solver_accepts(def->solver, law, dims[k], true))
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "solver \"%s\" does not take the law \"%s\": choose another solver (%s)",
                            own != NULL ? own->name : def->solver, st_law_name(law), "\"auto\" picks one");
    }
    return ST_OK;
}

static st_Status check_bounded(const st_Model *model, const st_SystemDef *def, st_Error *err)
{
    if (model->bounded == NULL || def->own_solver != NULL || st_solver_accepts(def->solver, ST_LAW_BOUNDED, 1, true))
        return ST_OK;
    return sti_fail(err, ST_ERR_UNSUPPORTED,
                    "solver \"%s\" does not take forces with bounds, which motors and friction in joints need: choose "
                    "another solver (\"auto\" picks one)",
                    def->solver);
}

static st_SolverDef solver_def(const st_SystemDef *def, const char *name)
{
    st_SolverDef solver = st_solver_def();
    solver.name = name;
    solver.tolerance = def->tolerance;
    solver.max_iterations = def->max_iterations;
    solver.effort = def->effort;
    solver.warm_start = true;
    solver.threads = def->threads;
    solver.allocator = def->allocator;
    return solver;
}

/* ---- vectors ------------------------------------------------------------------------------------- */

/* Every vector that lives as long as the system, in one block for each need. A step of Euler's without events is one
 * stage, from the state to the next; the others need more of them, and so do projection and drift mean. */
typedef enum Need { ALWAYS, STAGES, PROJECTION, N_NEEDS } Need;

typedef struct Vectors {
    size_t n;
    sti_Span span[32];
    bool is_position[32], is_velocity[32];
} Vectors;

static Vectors vectors_of(const sti_Model *model, sti_State *state, sti_StepWork *work, Need need)
{
    const int n_q = model->n_q, n_v = model->n_v;
    sti_State *saved = &work->saved.state;
    double **q[N_NEEDS][8] = {{&state->q, &work->q_new},
                              {&work->step.place, &work->stages.q_star, &work->stages.q_base, &state->history.q,
                               &saved->q, &saved->history.q, &work->lookout.q, &work->events.q_shifted},
                              {&work->projection.q_from, &work->projection.q_best}};
    double **v[N_NEEDS][24] = {
        {&state->v, &work->v_new, &work->v_turned, &work->v_work, &work->step.f, &work->kinetic.v},
        {&work->a_new,
         &work->stages.v_star,
         &work->stages.v_base,
         &work->stages.restitution,
         &work->stages.f_before,
         &work->stages.way,
         &work->stages.mean,
         &work->stages.k_later,
         &work->stages.shift,
         &work->stages.row_sum,
         &work->stages.load_room,
         &work->stages.applied,
         &work->stages.turning,
         &state->history.v,
         &state->history.a,
         &saved->v,
         &saved->history.v,
         &saved->history.a,
         &work->lookout.path,
         &work->lookout.moved,
         &work->events.v_shifted,
         &work->events.moved},
        {&work->projection.problem.f, &work->projection.step, &work->projection.error}};
    double **M[N_NEEDS] = {&work->step.M, NULL, &work->projection.problem.M};
    Vectors all = {0};
    for (int k = 0; k < 8 && q[need][k] != NULL; k++, all.n++) {
        all.is_position[all.n] = true;
        all.span[all.n] = (sti_Span){(void **)q[need][k], n_q, sizeof(double)};
    }
    for (int k = 0; k < 24 && v[need][k] != NULL; k++, all.n++) {
        all.is_velocity[all.n] = true;
        all.span[all.n] = (sti_Span){(void **)v[need][k], n_v, sizeof(double)};
    }
    if (M[need] != NULL) all.span[all.n++] = (sti_Span){(void **)M[need], model->mass.n, sizeof(double)};
    return all;
}

static st_Status allocate_vectors(const sti_Model *model, sti_State *state, sti_StepWork *work, Need need,
                                  st_Error *err)
{
    if (work->vectors[need] != NULL) return ST_OK;
    const Vectors all = vectors_of(model, state, work, need);
    work->vectors[need] = sti_alloc_spans(&model->allocator, all.span, all.n);
    if (work->vectors[need] != NULL) return ST_OK;
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", model->n_v);
}

void sti_still_body(const sti_Model *model, sti_State *state, sti_StepWork *work, int b)
{
    const sti_Body *body = &model->world->body[b];
    const int64_t at = (int64_t)STI_BODY_Q * (b - 1);
    for (int need = 0; need < N_NEEDS; need++) {
        const Vectors all = vectors_of(model, state, work, (Need)need);
        for (size_t k = 0; k < all.n && work->vectors[need] != NULL; k++) {
            double *x = *all.span[k].at;
            if (all.is_position[k] && x != state->q) memcpy(x + at, state->q + at, STI_BODY_Q * sizeof *x);
            for (int d = 0; d < body->n_dofs && all.is_velocity[k]; d++)
                x[body->v_first + d] = 0;
        }
    }
}

st_Status sti_prepare_projection(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    return allocate_vectors(model, state, work, PROJECTION, err);
}

/* ---- birth --------------------------------------------------------------------------------------- */

static st_Status start_system(st_System *s, double t, const double *q0, const double *v0, st_Error *err)
{
    /* The layout of M: one block where the model names none. */
    if (s->model.n_blocks == 0) {
        s->model.mass.whole[1] = s->model.n_v;
        s->model.table.n_blocks = s->model.n_blocks = 1;
        s->model.table.first = s->model.first = s->model.mass.whole;
    }
    s->model.mass.marked = s->model.rigid ? s->model.world->principal : NULL;
    const st_BlockDiag M = {.n_blocks = s->model.n_blocks, .first = s->model.first, .diagonal = s->model.mass.marked};
    for (int b = 0; b < s->model.n_blocks; b++)
        s->model.mass.n += sti_block_numbers(&M, b);
    if (s->model.mass.n != s->model.n_v) {
        s->model.mass.diagonal = sti_alloc(&s->model.allocator, s->model.n_v, sizeof *s->model.mass.diagonal);
        if (s->model.mass.diagonal == NULL)
            return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", s->model.n_v);
        int64_t start = 0;
        for (int b = 0; b < s->model.n_blocks; b++) {
            int first = s->model.first[b], n = s->model.first[b + 1] - first;
            for (int k = 0; k < n; k++)
                s->model.mass.diagonal[first + k] = start + k * sti_block_stride(&M, b);
            start += sti_block_numbers(&M, b);
        }
    }
    STI_TRY(allocate_vectors(&s->model, &s->state, &s->work, ALWAYS, err));
    if (sti_has_stages(&s->model)) STI_TRY(allocate_vectors(&s->model, &s->state, &s->work, STAGES, err));
    if (sti_has_stages(&s->model) || s->model.def.drift == ST_DRIFT_PROJECTION ||
        !s->model.rigid) /* for its energy M(q), too */
        STI_TRY(sti_prepare_projection(&s->model, &s->state, &s->work, err));
    STI_TRY(STI_GROW(&s->model.allocator, s->work.events.report, s->work.events.capacity, 32,
                     err)); /* the first one must not find us without */
    s->work.here.allocator = s->work.trial.allocator = s->work.stages.middle.allocator = s->model.allocator;
    s->work.here.n_v = s->work.trial.n_v = s->work.stages.middle.n_v = s->model.n_v;
    st_SolverDef solver = solver_def(&s->model.def, s->model.def.solver);
    const st_SolverDef projector = solver_def(&s->model.def, "auto");
    solver.own = s->model.def.own_solver;
    solver.values = s->model.def.solver_values;
    solver.n_values = s->model.def.n_solver_values;
    STI_TRY(sti_islands_create(&solver, s->model.def.islands, s->work.stop, &s->work.islands, err));
    STI_TRY(sti_mean_create(&s->model, &s->work, err));
    STI_TRY(sti_impulses_create(&s->model, &s->state, &s->work, err));
    STI_TRY(sti_strikes_create(&s->model, &s->work, err));
    STI_TRY(st_solver_create(&projector, &s->work.projection.solver, err));
    sti_solver_be_rough(s->work.projection.solver);
    sti_solver_limit(s->work.projection.solver, INFINITY, s->work.stop);
    if (s->model.def.forces == ST_FORCES_LEAST_NORM)
        STI_TRY(sti_least_norm_create(&s->model.allocator, &s->work.least_norm, err));
    STI_TRY(sti_joint_coordinates_create(&s->model, &s->work, q0, err));
    return st_system_set_state(s, t, q0, v0, err);
}

static st_Status create_system(const st_SystemDef *def, const st_Model *model, sti_World *world, double t,
                               const double *q0, const double *v0, st_System **out, st_Error *err)
{
    st_System *s = sti_alloc(&def->allocator, 1, sizeof *s); /* its parts are in the arena of its world */
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system");
    s->model = (sti_Model){.def = *def,
                           .given = *def,
                           .allocator = world->allocator,
                           .table = *model,
                           .n_q = model->n_q,
                           .n_v = model->n_v,
                           .n_blocks = model->n_blocks,
                           .first = model->first,
                           .world = world,
                           .rigid = !sti_world_is_empty(world)};
    s->model.def.allocator = world->allocator;
    sti_scale_settings(&s->model);
    s->work.guard = (sti_EnergyGuard){.recovery = 1, .part = 1};
    s->work.stop = sti_alloc(&world->allocator, 1, sizeof *s->work.stop);
    st_Status status = s->work.stop != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory for a system");
    if (status == ST_OK) sti_stop_begin(s->work.stop, NULL, NULL);
    if (status == ST_OK) status = sti_sleep_create(&s->model, &s->work, err);
    if (status == ST_OK) status = start_system(s, t, q0, v0, err);
    if (status == ST_OK) status = sti_device_create(&s->model, &s->state, &s->work, err);
    if (status != ST_OK) {
        s->model.world = NULL; /* still the caller's */
        st_system_destroy(s);
        return status;
    }
    *out = s;
    return ST_OK;
}

st_Status sti_system_of_world(const st_SystemDef *def, sti_World *world, double t, const double *q, const double *v,
                              st_System **out, st_Error *err)
{
    world->collider.keep = def->drop_redundant ? STI_KEEP_NEEDED : def->all_points ? STI_KEEP_ALL : STI_KEEP_SPAN;
    world->threads = def->threads;
    sti_fluid_compile(world, &def->medium);
    if (world->n_v == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "the scene has %d bodies and none of them can move", world->n_bodies - 1);
    const st_Model model = sti_world_model(world);
    STI_TRY(sti_check_contact_model(def, world, err));
    STI_TRY(sti_check_mean(def, err));
    STI_TRY(check_bounded(&model, def, err));
    STI_TRY(sti_check_sleep(def, err));
    STI_TRY(sti_check_coordinates(def, err));
    STI_TRY(create_system(def, &model, world, t, q, v, out, err));
    sti_world_started(world);
    st_System *s = *out;
    const st_Status status = sti_flow_create(&s->model, &s->state, &s->work, err);
    if (status != ST_OK) {
        s->model.world = NULL; /* still the caller's */
        st_system_destroy(s);
        *out = NULL;
    }
    return status;
}

/* If the first state cannot be computed, no system is created. */
static st_Status check_initial(st_System **system, st_Error *err)
{
    st_System *s = *system;
    st_Status status = sti_check_initial(&s->model, &s->state, &s->work, err);
    if (status != ST_OK) {
        st_system_destroy(s);
        *system = NULL;
    }
    return status;
}

static st_Status create_in(sti_World *world, const st_SystemDef *def, st_System **out, st_Error *err)
{
    st_Status status = sti_system_of_world(def, world, 0.0, world->q0, world->v0, out, err);
    if (status != ST_OK) sti_world_destroy(world);
    if (status == ST_OK && def->keyframe > 0) {
        status = st_system_set_keyframe(*out, def->keyframe, err);
        if (status != ST_OK) {
            st_system_destroy(*out);
            *out = NULL;
        }
    }
    return status == ST_OK ? check_initial(out, err) : status;
}

st_Status st_system_create(const st_Scene *scene, const st_SystemDef *def, st_System **out, st_Error *err)
{
    sti_World *world;
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_create: scene and out must be given");
    *out = NULL;
    STI_TRY(check_system_def(def, err));
    STI_TRY(sti_world_create(scene, def->gravity, &def->allocator, &world, err));
    return create_in(world, def, out, err);
}

st_Status st_system_create_from(st_CompiledScene *compiled, const st_SystemDef *def, st_System **out, st_Error *err)
{
    sti_World *world;
    if (compiled == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_create_from: compiled and out must be given");
    *out = NULL;
    STI_TRY(check_system_def(def, err));
    STI_TRY(sti_world_open(compiled, def->gravity, &def->allocator, &world, err));
    return create_in(world, def, out, err);
}

st_Status st_system_create_model(const st_Model *model, const double *q0, const double *v0, const st_SystemDef *def,
                                 st_System **out, st_Error *err)
{
    if (out == NULL || q0 == NULL || v0 == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_create_model: q0, v0 and out must be given");
    *out = NULL;
    STI_TRY(check_system_def(def, err));
    STI_CHECK_DEF(model, "st_model_def", err);
    if (model->n_v < 1 || model->n_q < 1)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model has %d coordinates and %d velocities, must have at least 1",
                        model->n_q, model->n_v);
    if (model->mass == NULL || model->force == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model has no function for %s",
                        model->mass == NULL ? "mass" : "force");
    if (model->n_q != model->n_v && (model->move == NULL || model->difference == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the model has %d coordinates and %d velocities, so it needs `move` and `difference`",
                        model->n_q, model->n_v);
    if (model->n_blocks > 0 &&
        (model->first == NULL || model->first[0] != 0 || model->first[model->n_blocks] != model->n_v))
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's %d mass blocks do not cover its %d velocities",
                        model->n_blocks, model->n_v);
    for (int b = 0; b < model->n_blocks; b++)
        if (model->first[b + 1] <= model->first[b])
            return sti_fail(err, ST_ERR_ARGUMENT, "the model's mass block %d starts at %d and ends at %d", b,
                            model->first[b], model->first[b + 1]);
    STI_TRY(sti_check_mean(def, err));
    STI_TRY(check_bounded(model, def, err));
    st_Scene *scene; /* an empty one: for whatever belongs to scenes there is nothing to find */
    sti_World *world;
    STI_TRY(st_scene_create_with(&def->allocator, &scene, err));
    st_Status status = sti_world_create(scene, def->gravity, &def->allocator, &world, err);
    st_scene_destroy(scene);
    STI_TRY(status);
    status = sti_check_contact_model(def, world, err);
    if (status == ST_OK) status = create_system(def, model, world, 0.0, q0, v0, out, err);
    if (status != ST_OK) sti_world_destroy(world);
    return status == ST_OK ? check_initial(out, err) : status;
}

/* ---- end ----------------------------------------------------------------------------------------- */

static void free_assembly(const st_Allocator *a, sti_Assembly *x)
{
    sti_rows_free(a, &x->G);
    sti_rows_free(a, &x->H);
    STI_RELEASE(a, x->g, x->g_capacity);
    STI_RELEASE(a, x->w, x->w_capacity);
    STI_RELEASE(a, x->Cb, x->Cb_capacity);
    STI_RELEASE(a, x->C, x->C_capacity);
    STI_RELEASE(a, x->Cb_first, x->Cb_first_capacity);
    STI_RELEASE(a, x->C_first, x->C_first_capacity);
    STI_RELEASE(a, x->law, x->law_capacity);
    STI_RELEASE(a, x->pile_body, x->pile_body_capacity);
    STI_RELEASE(a, x->pile_centre, x->pile_centre_capacity);
    STI_RELEASE(a, x->pile_axes, x->pile_axes_capacity);
    STI_RELEASE(a, x->chosen, x->chosen_capacity);
    STI_RELEASE(a, x->entry, x->entry_capacity);
    STI_RELEASE(a, x->pile_frame_of, x->pile_frame_of_capacity);
    STI_RELEASE(a, x->r, x->r_capacity);
    STI_RELEASE(a, x->start, x->start_capacity);
    STI_RELEASE(a, x->u, x->u_capacity);
    STI_RELEASE(a, x->l, x->l_capacity);
}

void st_system_destroy(st_System *s)
{
    if (s == NULL) return;
    st_Allocator a = s->model.allocator;
    sti_device_destroy(&s->model, &s->work);
    sti_flow_destroy(&s->model, &s->work);
    for (int need = 0; need < N_NEEDS; need++) {
        const Vectors all = vectors_of(&s->model, &s->state, &s->work, (Need)need);
        sti_free_spans(&a, s->work.vectors[need], all.span, all.n);
    }
    sti_free(&a, s->model.mass.diagonal, s->model.n_v, sizeof *s->model.mass.diagonal);
    sti_row_buffer_free(&s->work.here);
    sti_row_buffer_free(&s->work.trial);
    sti_row_buffer_free(&s->work.stages.middle);
    free_assembly(&a, &s->work.step);
    free_assembly(&a, &s->work.projection.problem);
    sti_IdSet *sets[] = {
        &s->state.active,      &s->work.active_new, &s->work.ahead.missed,       &s->work.wanted,
        &s->state.loaded,      &s->work.loaded_new, &s->work.saved.state.active, &s->work.saved.state.loaded,
        &s->work.lookout.under};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++)
        STI_RELEASE(&a, sets[k]->id, sets[k]->capacity);
    STI_RELEASE(&a, s->work.ahead.found, s->work.ahead.found_capacity);
    STI_RELEASE(&a, s->state.modes.at, s->state.modes.capacity);
    STI_RELEASE(&a, s->work.modes_new.at, s->work.modes_new.capacity);
    STI_RELEASE(&a, s->work.events.report, s->work.events.capacity);
    STI_RELEASE(&a, s->work.lookout.opening, s->work.lookout.capacity);
    STI_RELEASE(&a, s->state.forces.at, s->state.forces.capacity);
    STI_RELEASE(&a, s->work.warm.lasting, s->work.warm.lasting_capacity);
    STI_RELEASE(&a, s->work.warm.fall, s->work.warm.fall_capacity);
    STI_RELEASE(&a, s->work.saved.state.forces.at, s->work.saved.state.forces.capacity);
    STI_RELEASE(&a, s->work.rebounds.at, s->work.rebounds.capacity);
    STI_RELEASE(&a, s->work.joined.of, s->work.joined.capacity);
    STI_RELEASE(&a, s->work.joined.place, s->work.joined.place_capacity);
    STI_RELEASE(&a, s->work.joined.weight, s->work.joined.weight_capacity);
    STI_RELEASE(&a, s->work.joined.basis, s->work.joined.basis_capacity);
    STI_RELEASE(&a, s->work.recovery.room, s->work.recovery.room_capacity);
    STI_RELEASE(&a, s->work.recovery.island, s->work.recovery.island_capacity);
    STI_RELEASE(&a, s->work.recovery.rows, s->work.recovery.rows_capacity);
    STI_RELEASE(&a, s->work.recovery.block, s->work.recovery.block_capacity);
    sti_islands_destroy(s->work.recovery.islands);
    STI_RELEASE(&a, s->work.guard.island, s->work.guard.island_capacity);
    STI_RELEASE(&a, s->work.guard.place, s->work.guard.place_capacity);
    STI_RELEASE(&a, s->work.guard.of, s->work.guard.of_capacity);
    STI_RELEASE(&a, s->work.guard.forces, s->work.guard.forces_capacity);
    STI_RELEASE(&a, s->work.rebounds.island, s->work.rebounds.island_capacity);
    STI_RELEASE(&a, s->work.rebounds.share, s->work.rebounds.share_capacity);
    STI_RELEASE(&a, s->work.saved.state.modes.at, s->work.saved.state.modes.capacity);
    sti_patches_free(&s->model, &s->state, &s->work);
    sti_sleep_free(&s->model, &s->work);
    sti_mean_free(&s->model, &s->work);
    sti_impulses_free(&s->model, &s->state, &s->work);
    sti_strikes_free(&s->model, &s->work);
    sti_linearised_free(&a, &s->work.linearised);
    STI_RELEASE(&a, s->work.tension.E, s->work.tension.E_capacity);
    STI_RELEASE(&a, s->work.tension.A, s->work.tension.A_capacity);
    STI_RELEASE(&a, s->work.tension.K, s->work.tension.K_capacity);
    STI_RELEASE(&a, s->work.tension.f, s->work.tension.f_capacity);
    sti_islands_destroy(s->work.islands);
    sti_islands_destroy(s->work.guard.other_islands);
    sti_free(&a, s->work.stop, 1, sizeof *s->work.stop);
    st_solver_destroy(s->work.projection.solver);
    sti_least_norm_destroy(&a, s->work.least_norm);
    sti_joint_coordinates_free(&s->model, &s->work);
    sti_world_destroy(s->model.world);
    a = s->model.given.allocator;
    sti_free(&a, s, 1, sizeof *s);
}

void st_system_initial_change(const st_System *system, double *position, double *velocity)
{
    if (position != NULL) *position = system->work.initial_position;
    if (velocity != NULL) *velocity = system->work.initial_velocity;
}
