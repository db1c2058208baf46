/* step/sleep.c -- islands at rest fall asleep until something touches them.
 *
 * An island (bodies connected by contacts within the margin, joints and springs) in which no point of any body has been
 * faster than `sleep_speed` for `sleep_time` falls asleep: its velocities become 0, its poses stay, and it is left out
 * of narrow phase, step problem and solve. Its forces are those of its last step. When it wakes, it continues from
 * these forces and from the pose that it would have, up to sleep_speed times the time it took to fall asleep.
 *
 * The whole island wakes in the step in which one of these happens:
 *
 *     a contact with a body that is awake enters the step problem, also after a first attempt penetrated it; a force on
 *     one of its bodies changes within the step; a joint of it begins to move, or a motor of it gets another target;
 *     st_system_wake() or st_system_set_state() is called.
 *
 * Sleep is part of the state: flags, times at rest and forces are saved (save.c).
 */
#include "step/sleep.h"
#include "model/tendon.h"
#include "step/contact/contact.h"

#include "linalg/joint_graph.h"
#include "model/time_factor.h"

/* ---- life ------------------------------------------------------------------------------------- */

st_Status sti_check_sleep(const st_SystemDef *def, st_Error *err)
{
    if (!def->sleep) return ST_OK;
    if (def->events != ST_EVENTS_OFF)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "sleep needs a fixed step: events must be \"off\"");
    if (def->contact != ST_CONTACT_RIGID)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "sleep needs rigid contacts: contact must be \"rigid\"");
    if (def->drift == ST_DRIFT_PROJECTION)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "sleep does not go with projection: drift must be \"gap\", "
                        "\"velocity\" or \"mean\"");
    if (def->forces != ST_FORCES_ANY)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "sleep keeps the forces there are: forces must be \"any\"");
    return ST_OK;
}

/* The arrays of fixed length. */
enum { N_ARRAYS = 8 };

static sti_Span *list_sleep_arrays(sti_Sleep *s, sti_Span span[N_ARRAYS])
{
    const sti_Span all[N_ARRAYS] = {STI_SPAN(s->ring, s->n_bodies),   STI_SPAN(s->due, s->n_bodies),
                                    STI_SPAN(s->rest, s->n_bodies),   STI_SPAN(s->restless, s->n_bodies),
                                    STI_SPAN(s->above, s->n_bodies),  STI_SPAN(s->bodies, s->n_bodies),
                                    STI_SPAN(s->blocks, s->n_bodies), STI_SPAN(s->shapes, (int64_t)s->n_shapes + 1)};
    return memcpy(span, all, sizeof all);
}

st_Status sti_sleep_create(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_Sleep *s = &work->sleep;
    sti_Span span[N_ARRAYS];
    if (!model->def.sleep || !model->rigid) return ST_OK;
    s->n_bodies = model->world->n_bodies;
    s->n_shapes = model->world->collider.n_shapes;
    s->block = sti_alloc_spans(&model->allocator, list_sleep_arrays(s, span), N_ARRAYS);
    if (s->block == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies that may sleep", s->n_bodies);
    s->on = true;
    return ST_OK;
}

void sti_sleep_free(const sti_Model *model, sti_StepWork *work)
{
    sti_Sleep *s = &work->sleep;
    const st_Allocator *a = &model->allocator;
    sti_Span span[N_ARRAYS];
    sti_free_spans(a, s->block, list_sleep_arrays(s, span), N_ARRAYS);
    STI_RELEASE(a, s->contact, s->contact_capacity);
    STI_RELEASE(a, s->spare, s->spare_capacity);
    STI_RELEASE(a, s->merged, s->merged_capacity);
    STI_RELEASE(a, s->joint_force, s->joint_force_capacity);
}

/* ---- data that follow from the flags ---------------------------------------------------------- */

/* A body that cannot move in this step: asleep, or fixed. */
static bool stays(const sti_World *world, int body)
{
    return world->asleep[body] || world->body[body].n_dofs == 0;
}

static void flags_changed(const sti_Model *model, const sti_State *state, sti_StepWork *work)
{
    sti_Sleep *s = &work->sleep;
    sti_World *world = model->world;
    s->n_asleep = 0;
    world->asleep_potential = 0;
    for (int b = 0; b < world->n_bodies; b++) {
        if (!world->asleep[b]) continue;
        s->n_asleep++;
        world->asleep_potential += sti_body_potential(world, state->q, b);
    }
    /* Lists of awake bodies, blocks and shapes, for all loops over them. */
    int n = 0, n_shapes = 0, n_blocks = 0;
    for (int b = 0, block = 0; b < world->n_bodies; b++) {
        if (world->body[b].n_dofs == 0) continue;
        if (!world->asleep[b]) {
            s->bodies[n++] = b;
            s->blocks[n_blocks++] = block;
        }
        block++;
    }
    for (int k = 0; k < world->collider.n_shapes; k++)
        if (!stays(world, world->scene->shape_body[k])) s->shapes[n_shapes++] = k;
    s->awake = (sti_Awake){s->blocks, n_blocks};
    model->world->n_awake = n;
    model->world->n_awake_shapes = n_shapes;
    world->awake = s->n_asleep > 0 ? s->bodies : NULL;
    world->awake_shape = s->n_asleep > 0 ? s->shapes : NULL;
    world->still = model->def.drift == ST_DRIFT_MEAN ? 0 : ++s->serial; /* discrete_gradient.c overwrites rows */
    world->collider.live_serial = -1;
    s->penetration = 0;
    for (int k = 0; k < s->n_contacts; k++)
        s->penetration = fmax(s->penetration, -s->contact[k].gap);
}

/* Bodies that do not move keep their pose in every vector, and their boxes. */
static void lie_down(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    for (int b = 1; b < model->world->n_bodies; b++) {
        if (!stays(model->world, b)) continue;
        sti_still_body(model, state, work, b);
        sti_collider_settle(model->world, state->q, b);
    }
}

void sti_sleep_rouse(const sti_Model *model, sti_StepWork *work)
{
    if (!work->sleep.on) return;
    work->sleep.n_asleep = 0;
    model->world->awake = model->world->awake_shape = NULL;
    model->world->still = 0;
    model->world->collider.placed = false;
}

/* Shapes and boxes, also of sleepers, may be at the poses of a state that was refused. */
void sti_sleep_resume(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    if (!work->sleep.on) return;
    flags_changed(model, state, work);
    lie_down(model, state, work);
    model->world->collider.placed = model->world->collider.pairs.started = false;
}

/* Removes contacts between bodies that cannot move. */
static void drop_contacts(const sti_World *world, st_Sink *sink)
{
    int n = 0;
    for (int c = 0; c < sink->n_contacts; c++)
        if (!stays(world, sink->contact[c].a) || !stays(world, sink->contact[c].b))
            sink->contact[n++] = sink->contact[c];
    sink->n_contacts = n;
}

void sti_sleep_forget(const sti_Model *model, const sti_State *state, sti_StepWork *work)
{
    sti_Sleep *s = &work->sleep;
    if (!s->on) return;
    for (int b = 0; b < model->world->n_bodies; b++) {
        model->world->asleep[b] = s->due[b] = 0;
        s->rest[b] = 0;
        s->ring[b] = b;
    }
    s->n_contacts = s->n_ready = s->n_due = 0;
    s->n_joint_forces = 0;
    flags_changed(model, state, work);
}

/* Has a body been at rest for long enough? A body that moves has rested for 0 s, which never suffices. */
static bool is_ready(const sti_Model *model, const sti_StepWork *work, int body)
{
    const double rest = work->sleep.rest[body];
    return rest > 0 && rest >= model->def.sleep_time;
}

static void count_ready(const sti_Model *model, sti_StepWork *work)
{
    sti_Sleep *s = &work->sleep;
    const sti_World *world = model->world;
    s->n_ready = 0;
    for (int e = 0; e < world->n_awake; e++)
        s->n_ready += is_ready(model, work, s->bodies[e]);
}

void sti_sleep_restored(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    sti_Sleep *s = &work->sleep;
    if (!s->on) return;
    s->n_due = 0;
    for (int b = 0; b < model->world->n_bodies; b++)
        s->n_due += s->due[b] != 0;
    flags_changed(model, state, work);
    lie_down(model, state, work);
    count_ready(model, work);
    drop_contacts(model->world, &work->here);
}

/* ---- waking ----------------------------------------------------------------------------------- */

static bool comes_before(const sti_Impulse *a, const sti_Impulse *b)
{
    return a->id < b->id || (a->id == b->id && a->element < b->element);
}

/* Wake every body that is due, with its island. */
static st_Status wake_due(const sti_Model *model, sti_State *state, sti_StepWork *work, bool *woken, st_Error *err)
{
    sti_Sleep *s = &work->sleep;
    unsigned char *asleep = model->world->asleep;
    *woken = false;
    if (s->n_due == 0) return ST_OK;
    for (int b = 1; b < model->world->n_bodies; b++) {
        if (!s->due[b] || !asleep[b]) continue;
        for (int next = b; asleep[next];) {
            const int at = next;
            next = s->ring[at];
            asleep[at] = s->due[at] = 0;
            s->rest[at] = 0;
            s->ring[at] = at;
        }
        *woken = true;
    }
    s->n_due = 0;
    for (int b = 1; b < model->world->n_bodies; b++)
        s->n_due += s->due[b] != 0;
    if (!*woken) return ST_OK;
    flags_changed(model, state, work);
    /* Adds the forces of bodies that woke to those of the warm start. Both lists are sorted by id. */
    int n = 0, from = 0, kept = 0;
    STI_TRY(STI_GROW(&model->allocator, s->merged, s->merged_capacity, state->forces.n + s->n_contacts, err));
    for (int k = 0; k < s->n_contacts; k++) {
        const sti_Sleeper *sleeper = &s->contact[k];
        if (stays(model->world, sleeper->a) && stays(model->world, sleeper->b)) {
            s->contact[kept++] = *sleeper;
            continue;
        }
        while (from < state->forces.n && comes_before(&state->forces.at[from], &sleeper->impulse))
            s->merged[n++] = state->forces.at[from++];
        s->merged[n++] = sleeper->impulse;
        if (sleeper->impulse.r[0] > 0)
            STI_TRY(sti_ids_add(&model->allocator, &state->loaded, sleeper->impulse.id, err));
    }
    while (from < state->forces.n)
        s->merged[n++] = state->forces.at[from++];
    sti_Impulse *list = state->forces.at;
    int64_t capacity = state->forces.capacity;
    state->forces.at = s->merged, state->forces.capacity = s->merged_capacity;
    s->merged = list, s->merged_capacity = capacity;
    state->forces.n = n;
    s->n_contacts = kept;
    flags_changed(model, state, work);
    return ST_OK;
}

static void make_due(sti_StepWork *work, int body)
{
    work->sleep.n_due += work->sleep.due[body] == 0;
    work->sleep.due[body] = 1;
}

st_Status sti_wake_touched(const sti_Model *model, sti_State *state, sti_StepWork *work, bool *woken, st_Error *err)
{
    const st_Sink *here = &work->here;
    *woken = false;
    const unsigned char *asleep = model->world->asleep;
    for (int c = 0, k = 0; c < here->n_contacts; c++) { /* both are sorted by id */
        const sti_ContactEntry *contact = &here->contact[c];
        while (k < work->wanted.n && work->wanted.id[k] < contact->id)
            k++;
        if (k == work->wanted.n || work->wanted.id[k] != contact->id) continue;
        if (asleep[contact->a]) make_due(work, contact->a); /* a body that is awake stays so */
        if (asleep[contact->b]) make_due(work, contact->b);
    }
    return wake_due(model, state, work, woken, err);
}

static bool is_same_row(const sti_BoundedEntry *a, const sti_BoundedEntry *b)
{
    return a->id == b->id && a->lo == b->lo && a->hi == b->hi && a->target == b->target && a->value == b->value &&
           a->stiffness == b->stiffness && a->damping == b->damping;
}

/* Did the rows of a joint change at the same pose: does its motion begin, or has its motor another target? */
static bool joint_changes(const sti_StepWork *work, const sti_Joint *joint)
{
    const st_Sink *now = &work->here, *before = &work->trial;
    const int bounded[2] = {joint->friction_row, joint->motor_row};
    if (joint->n_rows > 0 && memcmp(now->joint + joint->first_row, before->joint + joint->first_row,
                                    (size_t)joint->n_rows * sizeof *now->joint) != 0)
        return true;
    for (int k = 0; k < 2; k++)
        if (bounded[k] >= 0 && !is_same_row(&now->bounded[bounded[k]], &before->bounded[bounded[k]])) return true;
    return false;
}

/* ---- falling asleep --------------------------------------------------------------------------- */

static void join_if_moving(const sti_Model *model, sti_StepWork *work, int a, int b)
{
    const sti_Body *body = model->world->body;
    if (body[a].n_dofs > 0 && body[b].n_dofs > 0) sti_join(work->sleep.above, a, b);
}

/* The bodies of a tendon, one after the other. */
typedef struct Tie {
    const sti_Model *model;
    sti_StepWork *work;
    int last; /* the last body that moves; the ground: none so far */
} Tie;

static void connect_to_last(void *ctx, int body)
{
    Tie *tie = ctx;
    if (tie->model->world->body[body].n_dofs == 0) return;
    join_if_moving(tie->model, tie->work, tie->last, body);
    tie->last = body;
}

static void reset_leader(void *ctx, int body)
{
    int *above = ctx;
    above[body] = body;
}

/* Islands at the state: bodies connected by contacts, joints and springs. */
static void connect_bodies(const sti_Model *model, sti_StepWork *work)
{
    const sti_World *world = model->world;
    const st_Sink *here = &work->here;
    int *above = work->sleep.above;
    for (int e = 0; e < world->n_awake; e++)
        above[work->sleep.bodies[e]] = work->sleep.bodies[e];
    for (int c = 0; c < here->n_contacts; c++) { /* and sleepers that they touch */
        above[here->contact[c].a] = here->contact[c].a;
        above[here->contact[c].b] = here->contact[c].b;
    }
    for (int k = 0; k < world->n_joints; k++) {
        above[world->joint[k].a] = world->joint[k].a;
        above[world->joint[k].b] = world->joint[k].b;
        above[world->joint[k].rotor] = world->joint[k].rotor;
        if (world->joint[k].type == ST_JOINT_TENDON) sti_tendon_bodies(world, k, reset_leader, above);
    }
    for (int k = 0; k < world->n_springs; k++) {
        above[world->spring[k].a] = world->spring[k].a;
        above[world->spring[k].b] = world->spring[k].b;
    }
    for (int c = 0; c < here->n_contacts; c++)
        if (here->contact[c].gap < sti_margin_of(model, &here->contact[c]))
            join_if_moving(model, work, here->contact[c].a, here->contact[c].b);
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        join_if_moving(model, work, joint->a, joint->b);
        join_if_moving(model, work, joint->a, joint->rotor); /* the ground if there is none */
        join_if_moving(model, work, joint->b, joint->rotor);
        for (int e = 0; e < 2 && joint->type == ST_JOINT_GEAR; e++) {
            join_if_moving(model, work, joint->a, world->joint[joint->geared[e]].a);
            join_if_moving(model, work, joint->b, world->joint[joint->geared[e]].b);
        }
        Tie tie = {model, work, 0};
        if (joint->type == ST_JOINT_TENDON) sti_tendon_bodies(world, k, connect_to_last, &tie);
    }
    for (int k = 0; k < world->n_springs; k++)
        join_if_moving(model, work, world->spring[k].a, world->spring[k].b);
}

/* The bodies of an impulse; false for bounded rows, which stay in the step problem. */
static bool bodies_of(const sti_World *world, const sti_Impulse *impulse, int *a, int *b)
{
    const int joint = sti_limit_joint(impulse->id);
    if (impulse->id >= STI_BOUNDED_ID) return false;
    *a = joint >= 0 ? world->joint[joint].a : world->scene->shape_body[impulse->shape_a - 1];
    *b = joint >= 0 ? world->joint[joint].b : world->scene->shape_body[impulse->shape_b - 1];
    return true;
}

/* ---- around a step ---------------------------------------------------------------------------- */

/* Wakes bodies that are due. If any woke, evaluates `here` again, as far ahead as the next step needs. */
static st_Status wake_and_look(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    bool woken;
    STI_TRY(wake_due(model, state, work, &woken, err));
    if (!woken) return ST_OK;
    work->ahead.foreseen = 0;
    return sti_evaluate(model, state, work, &work->here, state->t, state->q, sti_margin(model), err);
}

st_Status sti_sleep_begin(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, st_Error *err)
{
    /* A force that changes within the step. */
    sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    for (int f = 0; f < scene->n_forces; f++) {
        const st_Profile *profile = &scene->force[f].profile;
        const int body = scene->force[f].body.index1;
        const bool said = world->control[world->n_joints + f].is_set; /* setting another value wakes it */
        if (world->asleep[body] && !said &&
            sti_profile_value(profile, state->t) != sti_profile_value(profile, state->t + h))
            make_due(work, body);
    }
    for (int k = 0; k < world->n_joints && world->n_force_motors > 0; k++) {
        const sti_Joint *joint = &world->joint[k];
        const int body = world->asleep[joint->a] ? joint->a : joint->b;
        if (world->asleep[body] && sti_motor_force(world, k, state->t) != sti_motor_force(world, k, state->t + h))
            make_due(work, body);
    }
    STI_TRY(wake_and_look(model, state, work, err));
    /* Islands of bodies that have all rested long enough. */
    sti_Sleep *s = &work->sleep;
    bool any = false;
    if (s->n_ready == 0) return ST_OK;
    connect_bodies(model, work);
    /* Mark the leaders of islands that cannot sleep yet: a body moves, or touches a sleeper and will wake it, or
     * touches a moving belt. */
    int *above = work->sleep.above;
    bool *restless = work->sleep.restless;
    const int *bodies = work->sleep.bodies;
    for (int e = 0; e < world->n_awake; e++)
        restless[sti_leader(above, bodies[e])] = false;
    for (int e = 0; e < world->n_awake; e++)
        if (!is_ready(model, work, bodies[e])) restless[sti_leader(above, bodies[e])] = true;
    for (int c = 0; c < work->here.n_contacts; c++) {
        const sti_ContactEntry *contact = &work->here.contact[c];
        if (world->asleep[contact->a]) restless[sti_leader(above, contact->a)] = true;
        if (world->asleep[contact->b]) restless[sti_leader(above, contact->b)] = true;
        if (!contact->surface->moves || contact->gap >= sti_margin_of(model, contact)) continue;
        restless[sti_leader(above, contact->a)] = restless[sti_leader(above, contact->b)] = true;
    }
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *j = &world->joint[k];
        const int b = world->body[j->a].n_dofs > 0 ? j->a : j->b;
        for (int row = j->first_row; !stays(world, b) && row < j->first_row + j->n_rows; row++) /* also slow motions */
            if (work->here.joint[row].rate != 0) restless[sti_leader(above, b)] = true;
    }
    STI_TRY(STI_GROW(&model->allocator, s->spare, s->spare_capacity, s->n_contacts + state->forces.n, err));
    for (int e = 0; e < world->n_awake; e++) {
        const int b = s->bodies[e], leader = sti_leader(s->above, b); /* the smallest: it comes first */
        if (s->restless[leader]) continue;
        world->asleep[b] = 1;
        any = true;
        s->ring[b] = s->ring[leader]; /* insert b after the leader, which is a ring already */
        s->ring[leader] = b;
    }
    if (!any) return ST_OK;
    /* Moves forces between bodies that sleep now from the list of the last step to that of sleepers, which is large
     * enough. Both are sorted by id. */
    int n = 0, from = 0;
    for (int k = 0; k < state->forces.n; k++) {
        const sti_Impulse *impulse = &state->forces.at[k];
        int a, second, here = sti_row_buffer_find(&work->here, impulse->id);
        if (!bodies_of(model->world, impulse, &a, &second) || !stays(model->world, a) || !stays(model->world, second))
            continue;
        while (from < s->n_contacts && comes_before(&s->contact[from].impulse, impulse))
            s->spare[n++] = s->contact[from++];
        s->spare[n++] = (sti_Sleeper){*impulse, a, second, here >= 0 ? work->here.contact[here].gap : 0.0};
    }
    while (from < s->n_contacts)
        s->spare[n++] = s->contact[from++];
    sti_Sleeper *list = s->contact;
    int64_t capacity = s->contact_capacity;
    s->contact = s->spare, s->contact_capacity = s->spare_capacity;
    s->spare = list, s->spare_capacity = capacity;
    s->n_contacts = n;
    drop_contacts(world, &work->here);
    flags_changed(model, state, work);
    lie_down(model, state, work);
    count_ready(model, work);
    return ST_OK;
}

void sti_make_island_due(const sti_Model *model, sti_StepWork *work, int body)
{
    sti_Sleep *s = &work->sleep;
    if (!s->on) return;
    s->rest[body] = 0;
    for (int b = body; model->world->asleep[b] && !s->due[b]; b = s->ring[b])
        make_due(work, b);
}

st_Status sti_wake_now(const sti_Model *model, sti_State *state, sti_StepWork *work, int body, st_Error *err)
{
    if (!work->sleep.on) return ST_OK;
    sti_make_island_due(model, work, body);
    return wake_and_look(model, state, work, err);
}

void sti_sleep_end(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h)
{
    sti_Sleep *s = &work->sleep;
    const sti_World *world = model->world;
    for (int e = 0; e < world->n_awake; e++) {
        const int b = s->bodies[e];
        st_Vec3 v, w;
        sti_body_velocity(&world->body[b], state->v, &v, &w);
        double reach = world->collider.body_reach[b];
        double turning = isfinite(reach) && reach > 0 ? norm(w) * reach : norm(w);
        s->rest[b] = norm(v) + turning <= model->def.sleep_speed ? s->rest[b] + h : 0;
    }
    count_ready(model, work);
    if (s->n_asleep > 0) {
        for (int k = 0; k < world->n_joints; k++) {
            const sti_Joint *joint = &world->joint[k];
            const int body = world->asleep[joint->a] ? joint->a : joint->b;
            if (world->asleep[body] && joint_changes(work, joint)) make_due(work, body);
        }
    }
}

/* Impulses of joint rows, and of motors and friction in joints, which stay in the step problem. Rows that are left out
 * keep their value. */
void sti_sleep_impulses(sti_StepWork *work, double eta)
{
    const sti_Sleep *s = &work->sleep;
    sti_Assembly *step = &work->step;
    for (int j = 0; j < step->problem.n_l; j++)
        step->l[j] = j < s->n_joint_forces ? eta * s->joint_force[j] : 0.0;
    for (int c = step->n_gaps; c < step->problem.n_contacts; c++)
        step->u[step->law[c].first] = 0.0;
}

st_Status sti_sleep_keep_joints(const sti_Model *model, sti_StepWork *work, double eta, st_Error *err)
{
    sti_Sleep *s = &work->sleep;
    const int n = work->step.problem.n_l;
    STI_TRY(STI_GROW(&model->allocator, s->joint_force, s->joint_force_capacity, n, err));
    s->n_joint_forces = n;
    for (int j = 0; j < n; j++)
        s->joint_force[j] = work->step.l[j] / eta;
    return ST_OK;
}

/* ---- for users -------------------------------------------------------------------------------- */

static bool is_body_of(const sti_Model *model, st_BodyId body)
{
    return model->rigid && body.index1 >= 0 && body.index1 < model->world->n_bodies;
}

bool st_system_asleep(const st_System *system, st_BodyId body)
{
    body = sti_body_now(system->model.world->scene, body);
    return system->work.sleep.on && is_body_of(&system->model, body) && system->model.world->asleep[body.index1] &&
           !system->work.sleep.due[body.index1];
}

st_Status st_system_wake(st_System *system, st_BodyId body, st_Error *err)
{
    STI_NEED(system, err);
    body = sti_body_now(system->model.world->scene, body);
    if (!is_body_of(&system->model, body))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_wake: there is no body %d", body.index1);
    sti_make_island_due(&system->model, &system->work, body.index1);
    return ST_OK;
}
