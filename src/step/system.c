/* step/system.c -- a simulation's life, state and reports; stepping is in step.c. */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "step/contact_model.h"
#include "step/sleep.h"

#include <stdio.h>

/* ---- life ------------------------------------------------------------------------------------- */

st_Model st_model_def(void)
{
    return (st_Model){.cookie = STI_COOKIE};
}

st_StepInfo st_step_info(void)
{
    return (st_StepInfo){.size = sizeof(st_StepInfo)};
}

/* A def may have been filled by hand: every number goes through its own check once more. */
static st_Status check_def(const st_SystemDef *def, st_Error *err)
{
    STI_CHECK_DEF(def, "st_system_def", err);
    st_SystemDef copy = *def;
    for (int k = 1; k < st_setting_count(); k++) { /* 0 is the preset, which would set the others */
        st_SettingValue value;
        STI_TRY(st_setting_get(def, st_setting(k)->key, &value, err));
        STI_TRY(st_setting_set(&copy, st_setting(k)->key, &value, err));
    }
    if (def->end + def->h <= def->end) /* time would stand still before the end */
        return sti_fail(err, ST_ERR_ARGUMENT, "h is %g s, below the resolution of time at end = %g s", def->h,
                        def->end);
    const int dims[] = {1, 2, 3};
    for (int k = 0; k < 3; k++) {
        st_Law law = dims[k] == 1 ? ST_LAW_FRICTIONLESS : def->law;
        if (law == ST_LAW_FRICTIONLESS && k > 0) continue;
        if (!st_solver_accepts(def->solver, law, dims[k], true))
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "solver \"%s\" does not take the law \"%s\": choose another solver (%s)", def->solver,
                            st_law_name(law), "\"auto\" picks one");
    }
    return ST_OK;
}

static st_Status check_model(const st_Model *model, st_Error *err)
{
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
    return ST_OK;
}

static st_Status check_bounded(const st_Model *model, const st_SystemDef *def, st_Error *err)
{
    if (model->bounded == NULL || st_solver_accepts(def->solver, ST_LAW_BOUNDED, 1, true)) return ST_OK;
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
    solver.warm_start = true;
    solver.threads = def->threads;
    solver.allocator = def->allocator;
    return solver;
}

/* Every vector that lives as long as the system: allocated and freed in one place each. A step of Euler's without
 * events is one stage, from the state to the next; the others need more of them, and so do projection and drift mean.
 */
typedef enum Need { ALWAYS, STAGES, PROJECTION, N_NEEDS } Need;

typedef enum Of { COORDINATES, VELOCITIES, MASSES } Of;

typedef struct Vectors {
    int n;
    double **at[20];
    Of of[20];
    int64_t size[20];
} Vectors;

static void add_vectors(Vectors *all, double **const *at, size_t n, Of of, int64_t size)
{
    for (size_t k = 0; k < n; k++) {
        all->at[all->n] = at[k];
        all->of[all->n] = of;
        all->size[all->n++] = size;
    }
}

#define ADD(by, of, size) add_vectors(&all, (by), sizeof(by) / sizeof(by)[0], of, size)

static Vectors vectors_of(st_System *s, Need need)
{
    Vectors all = {0};
    if (need == ALWAYS) {
        double **by_q[] = {&s->q, &s->q_new}, **by_v[] = {&s->v, &s->v_new, &s->work_v, &s->step.f},
               **M[] = {&s->step.M};
        ADD(by_q, COORDINATES, s->model.n_q);
        ADD(by_v, VELOCITIES, s->model.n_v);
        ADD(M, MASSES, s->n_M);
    } else if (need == STAGES) {
        double **by_q[] = {&s->step.place, &s->q_star, &s->q_base, &s->history.q, &s->saved.q, &s->saved.history.q};
        double **by_v[] = {
            &s->a_new,   &s->v_star,          &s->v_base,          &s->path,    &s->push, &s->history.v, &s->history.a,
            &s->saved.v, &s->saved.history.v, &s->saved.history.a, &s->v_target};
        ADD(by_q, COORDINATES, s->model.n_q);
        ADD(by_v, VELOCITIES, s->model.n_v);
    } else {
        double **by_q[] = {&s->q_target, &s->q_best}, **by_v[] = {&s->work_k, &s->projection.f},
               **M[] = {&s->projection.M};
        ADD(by_q, COORDINATES, s->model.n_q);
        ADD(by_v, VELOCITIES, s->model.n_v);
        ADD(M, MASSES, s->n_M);
    }
    return all;
}

static st_Status allocate(st_System *s, Need need, st_Error *err)
{
    Vectors all = vectors_of(s, need);
    for (int k = 0; k < all.n; k++) {
        if (*all.at[k] == NULL) *all.at[k] = sti_alloc(&s->allocator, all.size[k], sizeof(double));
        if (*all.at[k] == NULL)
            return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", s->model.n_v);
    }
    return ST_OK;
}

void sti_still_body(st_System *s, int b)
{
    const sti_Body *body = &s->world->body[b];
    const int64_t at = (int64_t)STI_BODY_Q * (b - 1);
    for (int need = 0; need < N_NEEDS; need++) {
        Vectors all = vectors_of(s, (Need)need);
        for (int k = 0; k < all.n; k++) {
            double *x = *all.at[k];
            if (x == NULL || x == s->q) continue;
            if (all.of[k] == COORDINATES) memcpy(x + at, s->q + at, STI_BODY_Q * sizeof *x);
            for (int d = 0; d < body->n_dofs && all.of[k] == VELOCITIES; d++)
                x[body->v_first + d] = 0;
        }
    }
}

bool sti_has_stages(const st_System *system)
{
    return sti_integrator(system)->order > 1 || system->def.events != ST_EVENTS_OFF ||
           system->def.contact == ST_CONTACT_COMPLIANT || system->def.drift == ST_DRIFT_MEAN;
}

st_Status sti_prepare_projection(st_System *system, st_Error *err)
{
    return allocate(system, PROJECTION, err);
}

/* The mass matrix's layout: one block where the model names none. */
static void lay_out_mass(st_System *s)
{
    st_Model *model = &s->model;
    if (model->n_blocks == 0) {
        s->whole[1] = model->n_v;
        model->n_blocks = 1;
        model->first = s->whole;
    }
    s->marked = s->world != NULL ? s->world->principal : NULL;
    const st_BlockDiag M = {.n_blocks = model->n_blocks, .first = model->first, .diagonal = s->marked};
    for (int b = 0; b < model->n_blocks; b++)
        s->n_M += sti_block_numbers(&M, b);
}

static st_Status find_diagonal(st_System *s, st_Error *err)
{
    const st_BlockDiag M = {.n_blocks = s->model.n_blocks, .first = s->model.first, .diagonal = s->marked};
    int64_t start = 0;
    if (s->n_M == s->model.n_v) return ST_OK;
    s->diagonal = sti_alloc(&s->allocator, s->model.n_v, sizeof *s->diagonal);
    if (s->diagonal == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", s->model.n_v);
    for (int b = 0; b < s->model.n_blocks; b++) {
        int first = s->model.first[b], n = s->model.first[b + 1] - first;
        for (int k = 0; k < n; k++)
            s->diagonal[first + k] = start + k * sti_block_stride(&M, b);
        start += sti_block_numbers(&M, b);
    }
    return ST_OK;
}

static st_Status start(st_System *s, double t, const double *q0, const double *v0, st_Error *err)
{
    lay_out_mass(s);
    STI_TRY(allocate(s, ALWAYS, err));
    if (sti_has_stages(s)) STI_TRY(allocate(s, STAGES, err));
    if (sti_has_stages(s) || s->def.drift == ST_DRIFT_PROJECTION || s->world == NULL) /* for its energy M(q), too */
        STI_TRY(sti_prepare_projection(s, err));
    STI_TRY(STI_GROW(&s->allocator, s->event, s->event_capacity, 32, err)); /* the first one must not find us without */
    STI_TRY(find_diagonal(s, err));
    s->here.allocator = s->trial.allocator = s->middle.allocator = s->allocator;
    s->here.n_v = s->trial.n_v = s->middle.n_v = s->model.n_v;
    const st_SolverDef solver = solver_def(&s->def, s->def.solver), projector = solver_def(&s->def, "auto");
    STI_TRY(sti_islands_create(&solver, s->def.islands, &s->islands, err));
    STI_TRY(sti_mean_create(s, err));
    STI_TRY(st_solver_create(&projector, &s->projector, err));
    sti_solver_be_rough(s->projector);
    if (s->def.forces == ST_FORCES_LEAST_NORM) STI_TRY(sti_least_norm_create(&s->allocator, &s->least_norm, err));
    return st_system_set_state(s, t, q0, v0, err);
}

static st_Status create(const st_SystemDef *def, const st_Model *model, sti_World *world, double t, const double *q0,
                        const double *v0, st_System **out, st_Error *err)
{
    st_System *s = sti_alloc(&def->allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system");
    s->def = *def;
    s->allocator = def->allocator;
    s->model = *model;
    s->world = world;
    st_Status status = sti_sleep_create(s, err);
    if (status == ST_OK) status = start(s, t, q0, v0, err);
    if (status != ST_OK) {
        s->world = NULL; /* still the caller's */
        st_system_destroy(s);
        return status;
    }
    *out = s;
    return ST_OK;
}

st_Status sti_system_of_world(const st_SystemDef *def, sti_World *world, double t, st_System **out, st_Error *err)
{
    world->collider.keep_all = def->all_points;
    world->threads = def->threads;
    if (world->n_v == 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "the scene has %d bodies and none of them can move", world->n_bodies - 1);
    const st_Model model = sti_world_model(world);
    STI_TRY(sti_check_contact_model(def, world, err));
    STI_TRY(sti_check_mean(def, err));
    STI_TRY(check_bounded(&model, def, err));
    STI_TRY(sti_check_sleep(def, err));
    STI_TRY(create(def, &model, world, t, world->q0, world->v0, out, err));
    sti_world_started(world);
    return ST_OK;
}

/* A system whose first state is not to be had is none. */
static st_Status check_initial(st_System **system, st_Error *err)
{
    st_Status status = sti_check_initial(*system, err);
    if (status != ST_OK) {
        st_system_destroy(*system);
        *system = NULL;
    }
    return status;
}

st_Status st_system_create(const st_Scene *scene, const st_SystemDef *def, st_System **out, st_Error *err)
{
    sti_World *world;
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_create: scene and out must be given");
    *out = NULL;
    STI_TRY(check_def(def, err));
    STI_TRY(sti_world_create(scene, def->gravity, &def->allocator, &world, err));
    st_Status status = sti_system_of_world(def, world, 0.0, out, err);
    if (status != ST_OK) sti_world_destroy(world);
    return status == ST_OK ? check_initial(out, err) : status;
}

st_Status st_system_create_model(const st_Model *model, const double *q0, const double *v0, const st_SystemDef *def,
                                 st_System **out, st_Error *err)
{
    if (out == NULL || q0 == NULL || v0 == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_create_model: q0, v0 and out must be given");
    *out = NULL;
    STI_TRY(check_def(def, err));
    STI_TRY(check_model(model, err));
    STI_TRY(sti_check_contact_model(def, NULL, err));
    STI_TRY(sti_check_mean(def, err));
    STI_TRY(check_bounded(model, def, err));
    STI_TRY(create(def, model, NULL, 0.0, q0, v0, out, err));
    return check_initial(out, err);
}

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
    STI_RELEASE(a, x->leg, x->leg_capacity);
    STI_RELEASE(a, x->chosen, x->chosen_capacity);
    STI_RELEASE(a, x->r, x->r_capacity);
    STI_RELEASE(a, x->start, x->start_capacity);
    STI_RELEASE(a, x->u, x->u_capacity);
    STI_RELEASE(a, x->l, x->l_capacity);
    STI_RELEASE(a, x->impulse, x->impulse_capacity);
}

void st_system_destroy(st_System *s)
{
    if (s == NULL) return;
    st_Allocator a = s->allocator;
    for (int need = 0; need < N_NEEDS; need++) {
        Vectors all = vectors_of(s, (Need)need);
        for (int k = 0; k < all.n; k++)
            sti_free(&a, *all.at[k], all.size[k], sizeof(double));
    }
    sti_free(&a, s->diagonal, s->model.n_v, sizeof *s->diagonal);
    sti_sink_free(&s->here);
    sti_sink_free(&s->trial);
    sti_sink_free(&s->middle);
    free_assembly(&a, &s->step);
    free_assembly(&a, &s->projection);
    sti_IdSet *sets[] = {&s->active,     &s->active_new,   &s->missed,       &s->wanted, &s->loaded,
                         &s->loaded_new, &s->saved.active, &s->saved.loaded, &s->under};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++)
        STI_RELEASE(&a, sets[k]->id, sets[k]->capacity);
    STI_RELEASE(&a, s->found, s->found_capacity);
    STI_RELEASE(&a, s->mode, s->mode_capacity);
    STI_RELEASE(&a, s->mode_new, s->mode_new_capacity);
    STI_RELEASE(&a, s->event, s->event_capacity);
    STI_RELEASE(&a, s->opening, s->opening_capacity);
    STI_RELEASE(&a, s->carried, s->carried_capacity);
    STI_RELEASE(&a, s->previous, s->previous_capacity);
    STI_RELEASE(&a, s->lasting, s->lasting_capacity);
    STI_RELEASE(&a, s->saved.previous, s->saved.previous_capacity);
    STI_RELEASE(&a, s->saved.mode, s->saved.mode_capacity);
    sti_patches_free(s);
    sti_sleep_free(s);
    sti_mean_free(s);
    sti_islands_destroy(s->islands);
    st_solver_destroy(s->projector);
    sti_least_norm_destroy(&a, s->least_norm);
    sti_world_destroy(s->world);
    sti_free(&a, s, 1, sizeof *s);
}

void st_system_initial_change(const st_System *system, double *position, double *velocity)
{
    if (position != NULL) *position = system->initial_position;
    if (velocity != NULL) *velocity = system->initial_velocity;
}

/* ---- state ------------------------------------------------------------------------------------ */

double st_system_time(const st_System *system)
{
    return system->t;
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
    if (q != NULL) memcpy(q, system->q, (size_t)system->model.n_q * sizeof *q);
    if (v != NULL) memcpy(v, system->v, (size_t)system->model.n_v * sizeof *v);
}

static st_Status check_numbers(const char *what, const double *x, int n, st_Error *err)
{
    for (int k = 0; k < n; k++)
        if (!isfinite(x[k])) return sti_fail(err, ST_ERR_ARGUMENT, "%s number %d is %g, must be finite", what, k, x[k]);
    return ST_OK;
}

/* Orientations are unit quaternions; rounded digits pass, as they do in a scene. */
static st_Status check_orientations(const st_System *s, const double *q, st_Error *err)
{
    for (int b = 1; s->world != NULL && b < s->world->n_bodies; b++) {
        const double length = quat_norm(sti_pose(q, b).q);
        if (!(fabs(length - 1.0) <= STI_UNIT))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": its orientation has length %g, must be a unit quaternion",
                            s->world->scene->names[STI_BODY].name[b], length);
    }
    return ST_OK;
}

/* What is found at a new state, and what touches there. */
static st_Status look_around(st_System *s, double t, const double *q, double margin, st_Error *err)
{
    STI_TRY(sti_evaluate(s, &s->trial, t, q, margin, err));
    s->active_new.n = 0;
    for (int c = 0; c < s->trial.n_contacts; c++)
        if (s->trial.contact[c].gap <= s->def.active_gap)
            STI_TRY(sti_ids_add(&s->allocator, &s->active_new, s->trial.contact[c].id, err));
    return sti_ids_copy(&s->allocator, &s->active, &s->active_new, err);
}

void sti_forget_step(st_System *s)
{
    s->step.problem = (st_Problem){0};
    s->step.n_gaps = s->step.n_bounded = 0;
    s->step.q = s->q;
}

st_Status st_system_set_state(st_System *s, double t, const double *q, const double *v, st_Error *err)
{
    double margin = fmax(s->def.margin, s->def.active_gap);
    sti_start_lap(s);
    STI_TRY(check_numbers("time", &t, 1, err));
    STI_TRY(check_numbers("coordinate", q, s->model.n_q, err));
    STI_TRY(check_numbers("velocity", v, s->model.n_v, err));
    STI_TRY(check_orientations(s, q, err));
    sti_sleep_rouse(s); /* anybody may be somewhere else */
    st_Status status = look_around(s, t, q, margin, err);
    if (status != ST_OK) sti_sleep_resume(s);
    STI_TRY(status);
    memmove(s->q, q, (size_t)s->model.n_q * sizeof *q);
    memmove(s->v, v, (size_t)s->model.n_v * sizeof *v);
    st_Sink sink = s->here;
    s->here = s->trial;
    s->trial = sink;
    s->t = t;
    s->fresh = true;
    sti_sleep_forget(s);
    s->stalled = s->n_previous = s->n_modes = s->n_events = s->loaded.n = 0;
    s->patches.n = 0, s->patches.n_delta = 0;
    s->history.known = false;
    s->foreseen = 0;
    s->friction_work = 0;
    sti_forget_step(s);
    return ST_OK;
}

/* Copy one state over another; the sets have room where sti_save made it. */
static void copy_history(const st_System *s, sti_History *to, const sti_History *from)
{
    to->known = from->known;
    to->h = from->h;
    memcpy(to->q, from->q, (size_t)s->model.n_q * sizeof *to->q);
    memcpy(to->v, from->v, (size_t)s->model.n_v * sizeof *to->v);
    memcpy(to->a, from->a, (size_t)s->model.n_v * sizeof *to->a);
}

static st_Status copy_modes(st_System *s, st_Error *err)
{
    sti_Snapshot *saved = &s->saved;
    STI_TRY(STI_GROW(&s->allocator, saved->mode, saved->mode_capacity, s->n_modes, err));
    if (s->n_modes > 0) memcpy(saved->mode, s->mode, (size_t)s->n_modes * sizeof *s->mode);
    saved->n_modes = s->n_modes;
    return ST_OK;
}

st_Status sti_save(st_System *s, st_Error *err)
{
    sti_Snapshot *saved = &s->saved;
    saved->t = s->t;
    saved->friction_work = s->friction_work;
    saved->speed = s->speed, saved->pull = s->pull;
    saved->stalled = s->stalled;
    saved->kept = saved->lost = false;
    if (!sti_speculative(s)) STI_TRY(sti_ids_copy(&s->allocator, &saved->active, &s->active, err));
    if (s->mean.past != NULL) memcpy(s->mean.before, s->mean.past, (size_t)sti_mean_past(s) * sizeof(double));
    if (!sti_has_stages(s)) return ST_OK;
    STI_TRY(sti_ids_copy(&s->allocator, &saved->loaded, &s->loaded, err));
    STI_TRY(copy_modes(s, err));
    memcpy(saved->q, s->q, (size_t)s->model.n_q * sizeof *s->q);
    memcpy(saved->v, s->v, (size_t)s->model.n_v * sizeof *s->v);
    copy_history(s, &saved->history, &s->history);
    return ST_OK;
}

static void exchange_ids(sti_IdSet *a, sti_IdSet *b)
{
    sti_IdSet set = *a;
    *a = *b;
    *b = set;
}

static void exchange_impulses(st_System *s)
{
    sti_Snapshot *saved = &s->saved;
    sti_Impulse *previous = s->previous;
    const int64_t capacity = s->previous_capacity;
    const int n = s->n_previous;
    s->previous = saved->previous, s->previous_capacity = saved->previous_capacity, s->n_previous = saved->n_previous;
    saved->previous = previous, saved->previous_capacity = capacity, saved->n_previous = n;
}

void sti_save_impulses(st_System *s)
{
    if (s->saved.kept) return;
    exchange_impulses(s);
    s->saved.kept = true;
}

static void exchange_modes(st_System *s)
{
    sti_Mode *mode = s->mode;
    const int64_t capacity = s->mode_capacity;
    s->mode = s->saved.mode, s->mode_capacity = s->saved.mode_capacity;
    s->saved.mode = mode, s->saved.mode_capacity = capacity;
    s->n_modes = s->saved.n_modes;
}

/* Nothing here can fail but the rows at the old position, which were there before. */
void sti_restore(st_System *s)
{
    const sti_Snapshot *saved = &s->saved;
    s->t = saved->t;
    s->friction_work = saved->friction_work;
    s->speed = saved->speed, s->pull = saved->pull;
    s->stalled = saved->stalled;
    if (saved->kept) exchange_impulses(s);
    s->to_keep = 0;
    if (saved->lost) s->n_previous = 0;
    if (!sti_speculative(s)) exchange_ids(&s->active, &s->saved.active);
    if (s->mean.past != NULL) memcpy(s->mean.past, s->mean.before, (size_t)sti_mean_past(s) * sizeof(double));
    if (!sti_has_stages(s)) return;
    exchange_ids(&s->loaded, &s->saved.loaded);
    exchange_modes(s);
    memcpy(s->q, saved->q, (size_t)s->model.n_q * sizeof *s->q);
    memcpy(s->v, saved->v, (size_t)s->model.n_v * sizeof *s->v);
    copy_history(s, &s->history, &saved->history);
    if (sti_goes_on(s)) (void)sti_evaluate(s, &s->here, s->t, s->q, sti_margin(s), NULL);
}

uint64_t st_system_hash(const st_System *system)
{
    const struct {
        const void *data;
        size_t size;
    } parts[] = {{&system->t, sizeof system->t},
                 {system->q, (size_t)system->model.n_q * sizeof(double)},
                 {system->v, (size_t)system->model.n_v * sizeof(double)},
                 {system->patches.delta, (size_t)system->patches.n_delta * sizeof(double)}};
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; p++)
        for (size_t k = 0; k < parts[p].size; k++)
            hash = (hash ^ ((const unsigned char *)parts[p].data)[k]) * 0x100000001b3u;
    return hash;
}

st_Status st_system_energy(st_System *system, double *kinetic, double *potential, st_Error *err)
{
    double k = sti_energy_kinetic(system, system->q, system->v);
    double p = sti_energy_potential(system, &system->here, system->t, system->q);
    if (kinetic != NULL) *kinetic = k;
    if (potential != NULL) *potential = p;
    if (!isfinite(k) || !isfinite(p)) return sti_fail(err, ST_ERR_NUMERIC, "the energy is %g + %g, not finite", k, p);
    return ST_OK;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static const sti_Body *find_body(const st_System *system, st_BodyId body)
{
    const sti_World *world = system->world;
    return world != NULL && body.index1 >= 0 && body.index1 < world->n_bodies ? &world->body[body.index1] : NULL;
}

st_Status st_system_pose(const st_System *system, st_BodyId body, st_Pose *out)
{
    if (find_body(system, body) == NULL) return ST_ERR_ARGUMENT;
    *out = sti_pose(system->q, body.index1);
    return ST_OK;
}

st_Status st_system_velocity(const st_System *system, st_BodyId body, st_Vec3 *velocity, st_Vec3 *spin)
{
    const sti_Body *b = find_body(system, body);
    if (b == NULL) return ST_ERR_ARGUMENT;
    double full[6] = {0};
    for (int k = 0; k < b->n_dofs; k++)
        full[b->dof[k]] = system->v[b->v_first + k];
    if (velocity != NULL) *velocity = vec3_load(full);
    if (spin != NULL) *spin = vec3_load(full + 3);
    return ST_OK;
}

/* ---- words and time --------------------------------------------------------------------------- */

void sti_describe_contact(const st_System *system, const sti_ContactEntry *contact, char *out, size_t size)
{
    int joint = sti_limit_joint(contact->id);
    if (system->world != NULL && joint >= 0) {
        snprintf(out, size, "the limit of joint \"%s\"", system->world->scene->joint[joint].name);
    } else if (system->world != NULL) {
        char *const *name = system->world->scene->names[STI_BODY].name;
        snprintf(out, size, "bodies \"%s\" and \"%s\"", name[contact->a], name[contact->b]);
    } else {
        snprintf(out, size, "contact %llu", (unsigned long long)contact->id);
    }
}

const char *st_event_kind_name(st_EventKind kind)
{
    static const char *const names[ST_N_EVENT_KINDS] = {"collision", "take-off", "stick", "slip", "facet"};
    return (int)kind >= 0 && (int)kind < ST_N_EVENT_KINDS ? names[kind] : NULL;
}

int st_system_event_count(const st_System *system)
{
    return system->n_events;
}

st_Status st_system_event(const st_System *system, int index, st_EventReport *out)
{
    if (index < 0 || index >= system->n_events) return ST_ERR_ARGUMENT;
    *out = system->event[index];
    return ST_OK;
}

const char *st_stage_name(st_Stage stage)
{
    static const char *const names[ST_N_STAGES] = {"contacts", "assemble", "solve", "move",
                                                   "events",   "project",  "report"};
    return (int)stage >= 0 && (int)stage < ST_N_STAGES ? names[stage] : NULL;
}

void st_system_profile(const st_System *system, double seconds[ST_N_STAGES])
{
    memcpy(seconds, system->seconds, sizeof system->seconds);
}
