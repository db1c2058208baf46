/* step/flow.c -- bodies that come and go while a system runs: the inlets and outlets of its scene.
 *
 * All grains that an inlet will ever insert are bodies of the scene from the start, so that ids, names and recordings
 * do not change. A grain that waits, or has left, is absent (model/presence.c). Before each step
 *
 *     bodies whose centre is inside an outlet leave;
 *     grains that are due at an inlet are put at a random free place in its region. If there is none, the grain and
 *     those after it wait.
 *
 * Users remove and insert free bodies in the same way, between two steps and in constant time: nothing is compiled.
 * Contacts are searched once after all changes of a step. Random numbers follow from the seed, the body and the
 * number of the step, so that only the presence of bodies has to be saved. */
#include "step/flow.h"

#include "base/range.h"
#include "base/tolerance.h"
#include "grains/grains.h"
#include "grains/random.h"
#include "step/on_device.h"
#include "step/sleep.h"

#include <stiction/query.h>

#define TRIES      30   /* places that are tried for a grain in a step */
#define WALL_TRIES 500  /* before an inlet counts as inside a wall                           */
#define CLEAR      1e-3 /* distance of a new grain from other bodies, relative to its size */

/* ---- places ----------------------------------------------------------------------------------- */

static st_Pose random_place(const sti_Inlet *inlet, uint64_t *random)
{
    const st_Vec3 half = sti_region_half(&inlet->region);
    st_Vec3 p = {0, 0, 0};
    for (int k = 0; k < 100; k++) { /* regions fill half of their bounds at least */
        p = (st_Vec3){inlet->free[0] ? sti_random_between(random, -half.x, half.x) : 0,
                      inlet->free[1] ? sti_random_between(random, -half.y, half.y) : 0,
                      inlet->free[2] ? sti_random_between(random, -half.z, half.z) : 0};
        if (sti_region_holds_ball(&inlet->region, inlet->free, p, 0)) break;
    }
    return (st_Pose){pose_point(inlet->region.pose, p), inlet->turned ? sti_random_turn(random) : pose_identity().q};
}

/* Is the ball around the body free? walls: only bodies that never move count. */
static st_Status is_place_free(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int body,
                               st_Vec3 at, bool walls, bool *is, st_Error *err)
{
    const sti_World *world = model->world;
    const sti_Flow *flow = work->flow;
    const double reach = (1 + CLEAR) * world->collider.body_reach[body];
    const st_ShapeDef ball = st_sphere_def(reach);
    st_ShapeId near[16];
    int n = 0;
    STI_TRY(sti_find_overlaps(model, state, &ball, (st_Pose){at, {1, 0, 0, 0}}, UINT32_MAX, near, 16, &n, err));
    *is = walls || n == 0;
    for (int k = 0; walls && k < n && k < 16; k++)
        *is = *is && world->body[world->scene->shape_body[near[k].index1 - 1]].n_dofs > 0;
    for (int k = 0; k < flow->n_changes && *is; k++) { /* those that come in now are not there yet */
        const sti_FlowChange *other = &flow->change[k];
        *is = other->to != STI_PRESENT ||
              norm(sti_lever(world, other->pose.p, at)) >= reach + world->collider.body_reach[other->body];
    }
    return ST_OK;
}

/* ---- made with the system --------------------------------------------------------------------- */

/* Bodies that are joined to others, or that cannot move. The list is made on first use. */
static st_Status list_bound(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    if (work->bound != NULL) return ST_OK;
    unsigned char *bound = work->bound = sti_alloc(&model->allocator, world->n_bodies, sizeof *bound);
    if (bound == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies", world->n_bodies - 1);
    for (int b = 0; b < world->n_bodies; b++)
        bound[b] = world->body[b].n_dofs == 0 || b >= sti_first_rotor(world);
    for (int k = 0; k < scene->n_joints; k++) {
        bound[scene->joint[k].a.index1] = bound[scene->joint[k].b.index1] = 1;
        for (int i = 0; i < scene->joint[k].n_path; i++)
            bound[scene->joint[k].path[i].body.index1] = 1;
    }
    for (int k = 0; k < scene->n_springs; k++)
        bound[scene->spring[k].a.index1] = bound[scene->spring[k].b.index1] = 1;
    for (int k = 0; k < scene->n_forces; k++)
        bound[scene->force[k].body.index1] = 1;
    return ST_OK;
}

static st_Status create_flow(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    const st_Allocator *a = &model->allocator;
    sti_Flow *flow = work->flow = sti_alloc(a, 1, sizeof *flow);
    if (flow == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for inlets");
    flow->inlet = sti_alloc(a, scene->n_inlets + 1, sizeof *flow->inlet);
    flow->marked = sti_alloc(a, world->n_bodies, sizeof *flow->marked);
    if (flow->inlet == NULL || flow->marked == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for inlets");
    STI_TRY(list_bound(model, work, err));
    for (int k = 0; k < scene->n_inlets; k++) {
        const sti_Inlet *inlet = &scene->inlet[k];
        sti_FlowInlet *out = &flow->inlet[k];
        out->body = sti_alloc(&model->allocator, inlet->number, sizeof *out->body);
        out->due = sti_alloc(&model->allocator, inlet->number, sizeof *out->due);
        if (out->body == NULL || out->due == NULL)
            return sti_fail(err, ST_ERR_MEMORY, "inlet \"%s\": out of memory for %d grains", inlet->name,
                            inlet->number);
        double mass = 0;
        for (int j = 1; j <= inlet->number; j++) {
            const int body = sti_inlet_body(world, inlet, j);
            if (body < 0) continue;
            out->due[out->n] = inlet->start + (inlet->rate > 0 ? out->n / inlet->rate : mass / inlet->mass_rate);
            out->body[out->n++] = body;
            mass += world->values.body[body].mass;
        }
        /* A place for the largest grain, whatever moves aside. */
        const sti_FlowInlet *grains = &flow->inlet[k];
        const double *reach = model->world->collider.body_reach;
        int largest = 0;
        for (int i = 1; i < grains->n; i++)
            if (reach[grains->body[i]] > reach[grains->body[largest]]) largest = i;
        uint64_t random = scene->inlet[k].seed;
        bool is = grains->n == 0;
        for (int i = 0; i < WALL_TRIES && !is; i++)
            STI_TRY(is_place_free(model, state, work, grains->body[largest], random_place(&scene->inlet[k], &random).p,
                                  true, &is, err));
        if (!is) {
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "inlet \"%s\": its region has no place for a grain of %g m: walls and fixed bodies are in the way",
                scene->inlet[k].name, 2 * reach[grains->body[largest]]);
        }
    }
    for (int k = 0; k < scene->n_outlets; k++) {
        /* A pattern other than a single star must match a body. */
        const sti_Outlet *outlet = &scene->outlet[k];
        if (outlet->bodies != NULL && strcmp(outlet->bodies, "*") != 0) {
            int n = 0;
            for (int b = 1; b < world->n_bodies; b++) {
                const char *name = world->scene->names[STI_BODY].name[b];
                if (!sti_name_matches(outlet->bodies, name)) continue;
                n++;
                if (work->bound[b])
                    return sti_fail(
                        err, ST_ERR_ARGUMENT,
                        "outlet \"%s\": bodies is \"%s\", but body \"%s\" is fixed, or has joints, springs or "
                        "forces, and cannot be removed",
                        outlet->name, outlet->bodies, name);
            }
            if (n <= 0)
                return sti_fail(err, ST_ERR_ARGUMENT, "outlet \"%s\": bodies is \"%s\", no body has such a name",
                                outlet->name, outlet->bodies);
        }
    }
    return sti_measures_create(model, work, err);
}

bool sti_flow_watches(const st_Scene *scene)
{
    bool any = scene->n_inlets + scene->n_outlets > 0;
    for (int k = 0; k < scene->n_measures; k++)
        any = any || scene->measure[k].type == ST_MEASURE_FLOW || scene->measure[k].type == ST_MEASURE_ACCELERATION ||
              scene->measure[k].type == ST_MEASURE_ANGULAR_ACCELERATION;
    return any;
}

st_Status sti_flow_create(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    const st_Scene *scene = model->world->scene;
    if (scene->n_inlets + scene->n_outlets + scene->n_measures == 0) return ST_OK;
    const st_Status status = create_flow(model, state, work, err);
    if (status != ST_OK) sti_flow_destroy(model, work);
    return status;
}

void sti_flow_destroy(const sti_Model *model, sti_StepWork *work)
{
    const st_Allocator *a = &model->allocator;
    sti_Flow *flow = work->flow;
    if (work->bound != NULL) sti_free(a, work->bound, model->world->n_bodies, sizeof *work->bound);
    work->bound = NULL;
    if (flow == NULL) return;
    const st_Scene *scene = model->world->scene;
    for (int k = 0; k < scene->n_inlets && flow->inlet != NULL; k++) {
        sti_free(a, flow->inlet[k].body, scene->inlet[k].number, sizeof *flow->inlet[k].body);
        sti_free(a, flow->inlet[k].due, scene->inlet[k].number, sizeof *flow->inlet[k].due);
    }
    sti_measures_destroy(model, work);
    sti_free(a, flow->inlet, scene->n_inlets + 1, sizeof *flow->inlet);
    sti_free(a, flow->marked, model->world->n_bodies, sizeof *flow->marked);
    STI_RELEASE(a, flow->change, flow->change_capacity);
    sti_free(a, flow, 1, sizeof *flow);
    work->flow = NULL;
}

/* ---- before a step ---------------------------------------------------------------------------- */

static st_Status add_change(const sti_Model *model, sti_StepWork *work, sti_FlowChange change, st_Error *err)
{
    sti_Flow *flow = work->flow;
    STI_TRY(STI_GROW(&model->allocator, flow->change, flow->change_capacity, flow->n_changes + 1, err));
    flow->change[flow->n_changes++] = change;
    return ST_OK;
}

static st_Status take_out(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Outlet *outlet,
                          st_Error *err)
{
    const sti_World *world = model->world;
    for (int b = 1; b < world->n_bodies; b++) {
        if (work->bound[b] || sti_is_absent(world, b) || work->flow->marked[b] ||
            !st_region_holds(&outlet->region, cell_image(&world->scene->cell, sti_pose(state->q, b).p)))
            continue;
        if (outlet->bodies != NULL && !sti_name_matches(outlet->bodies, world->scene->names[STI_BODY].name[b]))
            continue;
        work->flow->marked[b] = 1;
        STI_TRY(add_change(model, work, (sti_FlowChange){b, STI_GONE, sti_parked(world, b), {0, 0, 0}}, err));
    }
    return ST_OK;
}

static st_Status bring_in(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Inlet *inlet,
                          const sti_FlowInlet *grains, st_Error *err)
{
    const sti_World *world = model->world;
    for (int k = 0; k < grains->n && grains->due[k] <= state->t; k++) {
        const int body = grains->body[k];
        if (world->presence[body] != STI_WAITS) continue;
        /* Random numbers for a body in a step. */
        uint64_t bits = inlet->seed;
        bits = sti_random_bits(&bits) + (uint64_t)body;
        uint64_t random = sti_random_bits(&bits) + (uint64_t)state->n_steps;
        bool is = false;
        st_Pose pose = pose_identity();
        for (int tries = 0; tries < TRIES && !is; tries++) {
            pose = random_place(inlet, &random);
            STI_TRY(is_place_free(model, state, work, body, pose.p, false, &is, err));
        }
        if (!is) return ST_OK; /* the others wait, too */
        work->flow->marked[body] = 1;
        STI_TRY(add_change(model, work, (sti_FlowChange){body, STI_PRESENT, pose, inlet->velocity}, err));
    }
    return ST_OK;
}

static void set_presence(const sti_Model *model, sti_StepWork *work, bool back)
{
    sti_World *world = model->world;
    for (int k = 0; k < work->flow->n_changes; k++) {
        const sti_FlowChange *change = &work->flow->change[k];
        const sti_Presence was = change->to == STI_GONE ? STI_PRESENT : STI_WAITS;
        world->presence[change->body] = (unsigned char)(back ? was : change->to);
    }
}

static void put_body(const sti_FlowChange *change, double *q)
{
    double *p = q + (ptrdiff_t)STI_BODY_Q * (change->body - 1);
    vec3_store(p, change->pose.p);
    p[3] = change->pose.q.w, p[4] = change->pose.q.x, p[5] = change->pose.q.y, p[6] = change->pose.q.z;
}

static void put_velocity(const sti_World *world, const sti_FlowChange *change, double *v)
{
    const sti_Body *body = &world->body[change->body];
    const double full[6] = {change->velocity.x, change->velocity.y, change->velocity.z, 0, 0, 0};
    for (int d = 0; d < body->n_dofs; d++)
        v[body->v_first + d] = full[body->dof[d]];
}

/* The step finds their contacts. */
static st_Status apply_on_device(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const sti_Flow *flow = work->flow;
    set_presence(model, work, false);
    model->world->collider.asked = false;
    for (int k = 0; k < flow->n_changes; k++) {
        put_body(&flow->change[k], state->q);
        put_velocity(model->world, &flow->change[k], state->v);
        STI_TRY(sti_device_present(model, state, work, flow->change[k].body, err));
    }
    return ST_OK;
}

/* Bodies that sleep beside one that changes wake; then it is elsewhere. */
static st_Status apply_changes(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    const sti_Flow *flow = work->flow;
    double *q = work->q_new;
    if (work->on_device != NULL) return apply_on_device(model, state, work, err);
    for (int k = 0; k < flow->n_changes; k++)
        STI_TRY(sti_wake_now(model, state, work, flow->change[k].body, err));
    memcpy(q, state->q, (size_t)model->n_q * sizeof *q);
    for (int k = 0; k < flow->n_changes; k++)
        put_body(&flow->change[k], q);
    set_presence(model, work, false);
    const st_Status status = sti_bodies_moved(model, state, work, q, flow->marked, err);
    if (status != ST_OK) set_presence(model, work, true);
    STI_TRY(status);
    for (int k = 0; k < flow->n_changes; k++)
        put_velocity(model->world, &flow->change[k], state->v);
    state->history.known = false; /* schemes of more than one step start anew */
    return ST_OK;
}

st_Status sti_flow_step(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    sti_Flow *flow = work->flow;
    if (work->n_relocated > 0) {
        /* Contacts of bodies that the user removed or inserted: those at the old places are dropped, those at the new
         * places are searched once for all of them. Sleeping neighbours wake. */
        sti_World *world = model->world;
        unsigned char *moved = sti_alloc(&model->allocator, world->n_bodies, sizeof *moved);
        if (moved == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d bodies", world->n_bodies - 1);
        int last = 0;
        for (int b = 1; b < world->n_bodies; b++)
            if ((world->presence[b] & STI_RELOCATED) != 0) moved[b] = 1, last = b;
        st_Status status = sti_wake_now(model, state, work, last, err); /* all that are due wake with it */
        memcpy(work->q_new, state->q, (size_t)model->n_q * sizeof *state->q);
        if (status == ST_OK) status = sti_bodies_moved(model, state, work, work->q_new, moved, err);
        for (int b = 1; b < world->n_bodies && status == ST_OK; b++)
            if (moved[b]) world->presence[b] &= (unsigned char)~STI_RELOCATED;
        sti_free(&model->allocator, moved, world->n_bodies, sizeof *moved);
        STI_TRY(status);
        work->n_relocated = 0;
        state->history.known = false; /* schemes of more than one step start anew */
    }
    if (flow == NULL) return ST_OK;
    const st_Scene *scene = model->world->scene;
    st_Status status = ST_OK;
    flow->n_changes = 0;
    for (int k = 0; k < scene->n_outlets && status == ST_OK; k++)
        status = take_out(model, state, work, &scene->outlet[k], err);
    for (int k = 0; k < scene->n_inlets && status == ST_OK; k++)
        status = bring_in(model, state, work, &scene->inlet[k], &flow->inlet[k], err);
    if (status == ST_OK && flow->n_changes > 0) status = apply_changes(model, state, work, err);
    for (int k = 0; k < flow->n_changes; k++)
        flow->marked[flow->change[k].body] = 0;
    return status;
}

bool st_system_present(const st_System *system, st_BodyId body)
{
    const sti_World *world = system->model.world;
    if (body.generation != 0) {
        body = sti_body_now(world->scene, body);
        if (body.index1 < 0) return false; /* removed */
    }
    return body.index1 < 1 || body.index1 >= world->n_bodies || !sti_is_absent(world, body.index1);
}

/* ---- by the user -------------------------------------------------------------------------------- */

/* A free body of the scene, by its number now. */
static st_Status check_free_body(const sti_Model *model, sti_StepWork *work, const char *call, st_BodyId *body,
                                 st_Error *err)
{
    if (!model->rigid) return sti_fail(err, ST_ERR_UNSUPPORTED, "%s: a system of your own model has no bodies", call);
    if (work->on_device != NULL)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "%s: bodies cannot be inserted or removed on a device", call);
    *body = sti_body_now(model->world->scene, *body);
    STI_TRY(sti_check_movable(model, call, *body, err));
    STI_TRY(list_bound(model, work, err));
    if (work->bound[body->index1])
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "%s: body \"%s\" has joints, springs or forces; only free bodies can be inserted or removed "
                        "while a system runs: remove it from the scene, and call st_system_change",
                        call, model->world->scene->names[STI_BODY].name[body->index1]);
    return ST_OK;
}

/* The body is elsewhere from now on. Its contacts are looked for before the next step. */
static void relocate(const sti_Model *model, sti_State *state, sti_StepWork *work, int b, sti_Presence to,
                     const st_Pose *pose, const double velocity[6])
{
    sti_World *world = model->world;
    const sti_Body *body = &world->body[b];
    double *p = state->q + (ptrdiff_t)STI_BODY_Q * (b - 1);
    const st_Quat turned = quat_unit(pose->q);
    vec3_store(p, pose->p);
    p[3] = turned.w, p[4] = turned.x, p[5] = turned.y, p[6] = turned.z;
    for (int d = 0; d < body->n_dofs; d++)
        state->v[body->v_first + d] = velocity[body->dof[d]];
    if ((world->presence[b] & STI_RELOCATED) == 0) work->n_relocated++;
    world->presence[b] = (unsigned char)((unsigned)to | STI_RELOCATED);
}

st_Status st_system_remove_body(st_System *system, st_BodyId body, st_Error *err)
{
    STI_NEED(system, err);
    STI_TRY(check_free_body(&system->model, &system->work, "st_system_remove_body", &body, err));
    const sti_World *world = system->model.world;
    if (sti_is_absent(world, body.index1))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_remove_body: body \"%s\" is absent already",
                        world->scene->names[STI_BODY].name[body.index1]);
    const double rest[6] = {0};
    const st_Pose parked = sti_parked(world, body.index1);
    STI_TRY(st_system_push(system, body, NULL, NULL, err));
    STI_TRY(st_system_wake(system, body, err));
    relocate(&system->model, &system->state, &system->work, body.index1, STI_GONE, &parked, rest);
    return ST_OK;
}

st_Status st_system_insert_body(st_System *system, st_BodyId body, const st_Pose *pose, const st_Vec3 *velocity,
                                const st_Vec3 *spin, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(pose, err);
    STI_TRY(check_free_body(&system->model, &system->work, "st_system_insert_body", &body, err));
    const sti_World *world = system->model.world;
    const char *name = world->scene->names[STI_BODY].name[body.index1];
    if (!sti_is_absent(world, body.index1))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_insert_body: body \"%s\" is present already", name);
    double full[9] = {0}; /* velocity, spin, position */
    if (velocity != NULL) vec3_store(full, *velocity);
    if (spin != NULL) vec3_store(full + 3, *spin);
    vec3_store(full + 6, pose->p);
    for (int k = 0; k < 9; k++)
        if (!sti_within(full[k], STI_LARGEST))
            return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": %s[%d] is %g, must be from %g to %g", name,
                            k < 3 ? "velocity" : (k < 6 ? "spin" : "position"), k % 3, full[k], -STI_LARGEST,
                            STI_LARGEST);
    for (int i = 0, d = 0; i < 6; i++) {
        const bool is_free = d < world->body[body.index1].n_dofs && world->body[body.index1].dof[d] == i;
        d += is_free;
        if (!is_free && full[i] != 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": %s[%d] is %g, but that is locked, must be 0", name,
                            i < 3 ? "velocity" : "spin", i % 3, full[i]);
    }
    const double length = quat_norm(pose->q);
    if (!(fabs(length - 1.0) <= STI_UNIT))
        return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": its orientation has length %g, must be a unit quaternion",
                        name, length);
    STI_TRY(st_system_wake(system, body, err));
    relocate(&system->model, &system->state, &system->work, body.index1, STI_PRESENT, pose, full);
    return ST_OK;
}
