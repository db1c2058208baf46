/* step/mechanisms.c -- mechanisms beside a pile on flat arrays: robots, trees of joints, bodies on springs.
 *
 * The device sweeps the pile. A system of its own has everything else: bodies on which joints, springs and forces act,
 * all fixed and driven bodies, and the grains near mechanisms.
 *
 *     on the device   grains and walls                        contacts of grains with grains and walls
 *     here            mechanisms, walls and near grains       contacts of mechanisms with anything
 *
 * A near grain is in both. Its velocity after the step is v = c + d, where
 *
 *     c = v_free + inv(M) H r        r: impulses of the pile, from the device
 *     d = inv(M) H' r'               r': impulses of mechanisms, from here
 *
 * After each sweep this system makes its step from the same state, with M (c - v_free) as pushes. It solves joints and
 * contacts of mechanisms together and exactly, and its grains end with v = c + d. The next sweep uses these velocities.
 * This is a block Gauss-Seidel method: contacts of the pile one by one, contacts of mechanisms as one block. An impulse
 * r' acts on mechanism and grain in one solve, and only d is copied to the device, so momentum balances even before the
 * sweeps have converged.
 *
 * The host finds the near grains in each step. If a near grain is not in the system, the system continues with another
 * scene (st_system_change).
 */
#include "step/mechanisms.h"
#include "step/drift/drift.h"
#include "step/integrate/integrate.h"

/* Groups of shapes in this system: near grains touch only mechanisms. */
#define GRAIN_GROUP     (1u << 31)
#define MECHANISM_GROUP (1u << 30)

struct sti_Mechanisms {
    const unsigned char *part; /* sti_PilePart, by body of the scene */
    int n_scene_bodies;
    st_Allocator allocator;
    st_System *system; /* NULL before the first step                                           */
    double tolerance;  /* [m/s] smaller changes of the grains' velocities are not solved again */
    int n_bodies;      /* of the system, without rotors                                        */
    int *body_of;      /* of each the body of the scene; room for all bodies                   */
    int *number;       /* by body of the scene: in the system, -1: it is not there             */
    int n_shapes;
    int *shape_of; /* of each the shape of the scene; room for all shapes */
    int64_t shape_room;
    int n_grains;
    int *grain; /* ascending; bodies of the scene less 1 */
    int *list;  /* the next grains                       */
    int64_t grain_capacity, list_capacity;
    double *q_start;                   /* 4 of each: its orientation as the step began */
    double *c_free, *c, *d, *d_before; /* 6 of each: linear and angular, world axes    */
    double *d_next;
    int64_t start_capacity, free_capacity, c_capacity, d_capacity, before_capacity, next_capacity;
    void *saved; /* the state as the step began */
    size_t saved_size;
    int64_t saved_capacity;
    double h;
    bool stepped; /* the system is at the end of the step */
    sti_Works works_before;
    double push_work; /* of the pushes in the last step [J] */
    st_StepInfo info;
};

void sti_mechanisms_destroy(sti_Mechanisms *m)
{
    if (m == NULL) return;
    const st_Allocator a = m->allocator;
    st_system_destroy(m->system);
    sti_free(&a, m->body_of, m->n_scene_bodies, sizeof *m->body_of);
    sti_free(&a, m->number, m->n_scene_bodies, sizeof *m->number);
    sti_free(&a, m->shape_of, m->shape_room, sizeof *m->shape_of);
    STI_RELEASE(&a, m->grain, m->grain_capacity);
    STI_RELEASE(&a, m->list, m->list_capacity);
    STI_RELEASE(&a, m->q_start, m->start_capacity);
    STI_RELEASE(&a, m->c_free, m->free_capacity);
    STI_RELEASE(&a, m->c, m->c_capacity);
    STI_RELEASE(&a, m->d, m->d_capacity);
    STI_RELEASE(&a, m->d_before, m->before_capacity);
    STI_RELEASE(&a, m->d_next, m->next_capacity);
    char *saved = m->saved;
    STI_RELEASE(&a, saved, m->saved_capacity);
    sti_free(&a, m, 1, sizeof *m);
}

st_Status sti_mechanisms_create(const sti_Model *model, const unsigned char *part, sti_Mechanisms **out, st_Error *err)
{
    const st_Allocator *a = &model->allocator;
    const sti_World *world = model->world;
    sti_Mechanisms *m = sti_alloc(a, 1, sizeof *m);
    *out = NULL;
    if (m == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for mechanisms beside a pile");
    m->allocator = *a;
    m->part = part;
    m->n_scene_bodies = world->n_bodies;
    m->shape_room = world->scene->n_shapes + 1;
    m->body_of = sti_alloc(a, m->n_scene_bodies, sizeof *m->body_of);
    m->number = sti_alloc(a, m->n_scene_bodies, sizeof *m->number);
    m->shape_of = sti_alloc(a, m->shape_room, sizeof *m->shape_of);
    if (m->body_of == NULL || m->number == NULL || m->shape_of == NULL) {
        sti_mechanisms_destroy(m);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for mechanisms beside a pile");
    }
    *out = m;
    return ST_OK;
}

/* ---- the scene of the system ------------------------------------------------------------------------ */

static st_Status copy_body(sti_Mechanisms *m, const sti_World *world, const sti_State *state, int b, st_Scene *scene,
                           st_Error *err)
{
    const sti_Body *body = &world->body[b];
    const sti_BodyMass *of = &world->values.body[b];
    st_BodyId id = ST_GROUND;
    if (b > 0) {
        st_BodyDef def = st_body_def();
        def.name = world->scene->names[STI_BODY].name[b];
        def.pose = sti_pose(state->q, b);
        def.fixed = body->n_dofs == 0;
        def.gravity = body->gravity;
        def.medium = body->medium;
        if (!def.fixed) {
            def.locks = ST_LOCK_ALL;
            for (int k = 0; k < body->n_dofs; k++)
                def.locks &= ~(1u << body->dof[k]);
            def.mass = of->mass;
            def.inertia = sti_inertia(of);
            sti_body_velocity(body, state->v, &def.velocity, &def.spin);
        }
        STI_TRY(st_scene_add_body(scene, &def, &id, err));
    }
    m->body_of[m->n_bodies] = b;
    m->number[b] = m->n_bodies++;
    for (int k = world->scene->first_shape[b]; k >= 0; k = world->scene->next_shape[k]) {
        st_ShapeDef def = *sti_shape_def(world->scene, k);
        def.name = sti_shape_name(world->scene, k);
        def.pose = *sti_shape_pose(world->scene, k);
        if (m->part[b] == STI_PART_GRAIN) {
            def.groups = GRAIN_GROUP;
            def.mask = MECHANISM_GROUP;
        } else if (m->part[b] == STI_PART_MECHANISM) { /* grains are of group 1 and touch all groups */
            const bool meets_grains = (def.mask & 1u) != 0 && def.groups != 0;
            def.groups |= def.groups != 0 ? MECHANISM_GROUP : 0;
            def.mask = (def.mask & ~(MECHANISM_GROUP | GRAIN_GROUP)) | (meets_grains ? GRAIN_GROUP : 0);
        }
        STI_TRY(st_scene_add_shape(scene, id, &def, NULL, err));
        m->shape_of[m->n_shapes++] = k;
    }
    return ST_OK;
}

static st_BodyId moved_body(const sti_Mechanisms *m, st_BodyId id)
{
    return (st_BodyId){m->number[id.index1]};
}

/* Fills the scene with everything but grains, and with the near grains m->list, in the poses of the state. */
static st_Status fill_scene(sti_Mechanisms *m, const sti_World *world, const sti_State *state, int n_near,
                            st_Scene *scene, st_Error *err)
{
    const st_Scene *from = world->scene;
    for (int k = 0; k < from->n_materials; k++)
        STI_TRY(st_scene_add_material(scene, &from->material[k], NULL, err));
    for (int k = 0; k < from->n_material_pairs; k++)
        STI_TRY(st_scene_add_material_pair(scene, &from->material_pair[k], err));
    m->n_bodies = m->n_shapes = 0;
    for (int b = 0; b < m->n_scene_bodies; b++)
        m->number[b] = -1;
    for (int b = 0; b < sti_first_rotor(world); b++)
        if (b == 0 || m->part[b] != STI_PART_GRAIN) STI_TRY(copy_body(m, world, state, b, scene, err));
    for (int k = 0; k < n_near; k++)
        STI_TRY(copy_body(m, world, state, m->list[k] + 1, scene, err));
    for (int k = 0; k < from->n_joints; k++) {
        st_JointDef def = world->scene->joint[k];
        st_TendonPoint path[64];
        def.name = world->scene->names[STI_JOINT].name[k];
        def.a = moved_body(m, def.a);
        def.b = moved_body(m, def.b);
        def.rest = world->values.joint[k].rest;
        for (int p = 0; p < def.n_path; p++) {
            path[p] = def.path[p];
            path[p].body = moved_body(m, path[p].body);
        }
        if (def.n_path > 0) def.path = path;
        STI_TRY(st_scene_add_joint(scene, &def, NULL, err));
    }
    for (int k = 0; k < from->n_springs; k++) {
        st_SpringDef def = from->spring[k];
        def.name = from->names[STI_SPRING].name[k];
        def.a = moved_body(m, def.a);
        def.b = moved_body(m, def.b);
        def.rest = world->spring[k].rest;
        STI_TRY(st_scene_add_spring(scene, &def, NULL, err));
    }
    for (int k = 0; k < from->n_forces; k++) {
        st_ForceDef def = from->force[k];
        def.name = from->names[STI_FORCE].name[k];
        def.body = moved_body(m, def.body);
        STI_TRY(st_scene_add_force(scene, &def, NULL, err));
    }
    for (int k = 0; k < from->n_excluded; k++)
        STI_TRY(st_scene_exclude(scene, (st_BodyId){m->number[from->excluded[k].a]},
                                 (st_BodyId){m->number[from->excluded[k].b]}, err));
    return ST_OK;
}

/* Creates the system in the state of the whole scene, without near grains. */
static st_Status start_here(sti_Mechanisms *m, const sti_Model *model, const sti_State *state, const st_Scene *scene,
                            st_Error *err)
{
    const sti_World *world = model->world;
    st_SystemDef def = model->given;
    sti_World *here = NULL;
    int *joint = sti_alloc(&m->allocator, (int64_t)scene->n_joints + 1, sizeof *joint);
    if (joint == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for mechanisms beside a pile");
    sti_Before before = {world, state->q, state->v, joint};
    st_Status status = sti_world_create_after(scene, &before, &here, err);
    sti_free(&m->allocator, joint, (int64_t)scene->n_joints + 1, sizeof *joint);
    STI_TRY(status);
    /* Speeds are those of the whole scene. The tolerance of a device has another unit. A step has one attempt: its
     * energy cannot be judged as long as the pile is not solved. */
    def.device = ST_DEVICE_NONE;
    def.ranks = NULL;
    def.tolerance = -1;
    def.energy = ST_ENERGY_REPORT;
    def.correction_speed = model->def.correction_speed;
    def.restitution_speed = model->def.restitution_speed;
    status = sti_system_of_world(&def, here, state->t, here->q0, here->v0, &m->system, err);
    if (status != ST_OK) {
        sti_world_destroy(here);
        return status;
    }
    m->system->state.fresh = state->fresh;
    m->system->state.grid = state->grid;
    return ST_OK;
}

/* ---- grains that are near --------------------------------------------------------------------------- */

static double square_to_box(const sti_Bounds *box, st_Vec3 x)
{
    const double d[3] = {fmax(fmax(box->lo.x - x.x, x.x - box->hi.x), 0),
                         fmax(fmax(box->lo.y - x.y, x.y - box->hi.y), 0),
                         fmax(fmax(box->lo.z - x.z, x.z - box->hi.z), 0)};
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

/* Lists grains in m->list that are within their own size of a mechanism, or can reach it in a few steps. `missing`: a
 * grain that can touch a mechanism in this step is not in the system. */
static st_Status find_near(sti_Mechanisms *m, const sti_World *world, const sti_State *state, double h, int *n,
                           bool *missing, st_Error *err)
{
    const sti_World *here = m->system->model.world;
    const double g = norm(world->gravity);
    sti_Bounds all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    double fastest = 0;
    for (int k = 0; k < m->n_shapes; k++) {
        const int b = here->scene->shape_body[k];
        const sti_Bounds *box = &here->collider.bounds[k];
        st_Vec3 v, w;
        if (m->part[m->body_of[b]] != STI_PART_MECHANISM) continue;
        all.lo = vec3(fmin(all.lo.x, box->lo.x), fmin(all.lo.y, box->lo.y), fmin(all.lo.z, box->lo.z));
        all.hi = vec3(fmax(all.hi.x, box->hi.x), fmax(all.hi.y, box->hi.y), fmax(all.hi.z, box->hi.z));
        sti_body_velocity(&here->body[b], m->system->state.v, &v, &w);
        fastest = fmax(fastest, norm(v) + norm(w) * here->collider.body_reach[b]);
    }
    *n = 0;
    *missing = false;
    for (int b = 1; b < sti_first_rotor(world); b++) {
        if (m->part[b] != STI_PART_GRAIN) continue;
        const st_Vec3 x = sti_pose(state->q, b).p, v = vec3_load(state->v + world->body[b].v_first);
        const double size = world->collider.body_reach[b], way = h * (norm(v) + fastest) + 4 * g * h * h;
        const double near = 1.1 * size + 2 * way, wide = 2 * size + 8 * way;
        if (!(square_to_box(&all, x) < wide * wide)) continue;
        double square = INFINITY;
        for (int k = 0; k < m->n_shapes; k++)
            if (m->part[m->body_of[here->scene->shape_body[k]]] == STI_PART_MECHANISM)
                square = fmin(square, square_to_box(&here->collider.bounds[k], x));
        if (!(square < wide * wide)) continue;
        STI_TRY(STI_GROW(&m->allocator, m->list, m->list_capacity, *n + 1, err));
        m->list[(*n)++] = b - 1;
        if (square < near * near && m->number[b] < 0) *missing = true;
    }
    return ST_OK;
}

/* Replaces the list of near grains. Keeps the impulses of those that stay, for the start of the next step. */
static st_Status take_list(sti_Mechanisms *m, int n, st_Error *err)
{
    const st_Allocator *a = &m->allocator;
    const int64_t room = 6 * (int64_t)n;
    STI_TRY(STI_GROW(a, m->grain, m->grain_capacity, n, err));
    STI_TRY(STI_GROW(a, m->q_start, m->start_capacity, 4 * (int64_t)n, err));
    STI_TRY(STI_GROW(a, m->c_free, m->free_capacity, room, err));
    STI_TRY(STI_GROW(a, m->c, m->c_capacity, room, err));
    STI_TRY(STI_GROW(a, m->d, m->d_capacity, room, err));
    STI_TRY(STI_GROW(a, m->d_before, m->before_capacity, room, err));
    STI_TRY(STI_GROW(a, m->d_next, m->next_capacity, room, err));
    for (int k = 0, old = 0; k < n; k++) {
        while (old < m->n_grains && m->grain[old] < m->list[k])
            old++;
        const bool stays = old < m->n_grains && m->grain[old] == m->list[k];
        for (int i = 0; i < 6; i++)
            m->d_next[6 * k + i] = stays ? m->d[6 * old + i] : 0;
    }
    if (n > 0) memcpy(m->d, m->d_next, (size_t)room * sizeof *m->d);
    if (n > 0) memcpy(m->grain, m->list, (size_t)n * sizeof *m->grain);
    m->n_grains = n;
    return ST_OK;
}

st_Status sti_mechanisms_begin(sti_Mechanisms *m, const sti_Model *model, const sti_State *state, double h, bool afresh,
                               st_Error *err)
{
    const sti_World *world = model->world;
    const double g = norm(world->gravity), given = model->given.tolerance;
    m->tolerance = 0.05 * (given > 0 ? given : 1e-3) * (g > 0 ? g * h : model->def.correction_speed);
    if (afresh) {
        st_system_destroy(m->system);
        m->system = NULL;
        m->n_grains = 0;
    }
    for (int round = 0; round < 2; round++) { /* the first round creates the system, the second one adds its grains */
        int n = 0;
        bool missing = true;
        if (m->system != NULL) STI_TRY(find_near(m, world, state, h, &n, &missing, err));
        if (m->system != NULL && !missing && m->n_grains <= 2 * n + 32) break;
        st_Scene *scene = NULL;
        STI_TRY(st_scene_create_with(&model->given.allocator, &scene, err));
        st_Status status = fill_scene(m, world, state, n, scene, err);
        if (status == ST_OK)
            status =
                m->system != NULL ? st_system_change(m->system, scene, err) : start_here(m, model, state, scene, err);
        st_scene_destroy(scene);
        if (status == ST_OK) status = take_list(m, n, err);
        if (status != ST_OK) { /* the numbers belong to another scene */
            st_system_destroy(m->system);
            m->system = NULL;
            return status;
        }
        m->system->state.fresh = state->fresh;
    }
    /* Grains have the state of the device here as well, up to rounding. */
    st_System *s = m->system;
    for (int k = 0; k < m->n_grains; k++) {
        const int b = m->grain[k] + 1, here = m->number[b];
        memcpy(s->state.q + (int64_t)STI_BODY_Q * (here - 1), state->q + (int64_t)STI_BODY_Q * (b - 1),
               STI_BODY_Q * sizeof *s->state.q);
        memcpy(s->state.v + s->model.world->body[here].v_first, state->v + world->body[b].v_first,
               6 * sizeof *s->state.v);
        memcpy(m->q_start + (int64_t)4 * k, state->q + (int64_t)STI_BODY_Q * (b - 1) + 3, 4 * sizeof *m->q_start);
    }
    /* Copies controls and pushes of the user to the mechanisms. */
    sti_World *to = s->model.world;
    bool held = false;
    for (int j = 0; j < sti_control_count(world); j++) {
        const sti_Control *from = &world->control[j];
        bool same = from->is_set == to->control[j].is_set;
        for (int i = 0; i < 6; i++)
            same = same && from->value[i] == to->control[j].value[i];
        if (same) continue;
        to->n_controls += from->is_set - to->control[j].is_set;
        to->control[j] = *from;
        s->work.rows_stale = true;
        held = held || (j < to->n_joints && to->joint[j].held);
    }
    if (held) { /* as in st_system_set_motor */
        STI_TRY(sti_refresh_rows(&s->model, &s->state, &s->work, err));
        if (sti_integrator(&s->model)->order > 1) STI_TRY(sti_impact_of_jump(&s->model, &s->state, &s->work, err));
    }
    STI_TRY(STI_GROW(&to->allocator, to->push, to->push_capacity, (int64_t)world->n_pushes + m->n_grains, err));
    to->n_pushes = 0;
    for (int p = 0; p < world->n_pushes; p++) { /* sorted by body; bodies that are not grains keep their order */
        to->push[to->n_pushes] = world->push[p];
        to->push[to->n_pushes++].body = m->number[world->push[p].body];
    }

    m->saved_size = st_system_save(s, NULL, 0);
    char *saved = m->saved;
    const st_Status status = STI_GROW(&m->allocator, saved, m->saved_capacity, (int64_t)m->saved_size, err);
    m->saved = saved;
    STI_TRY(status);
    st_system_save(s, m->saved, m->saved_size);
    m->works_before = s->state.works;
    for (int64_t i = 0; m->h > 0 && m->h != h && i < 6 * (int64_t)m->n_grains; i++)
        m->d[i] *= h / m->h; /* forces last */
    m->h = h;
    m->stepped = false;
    m->push_work = 0;
    return ST_OK;
}

const int *sti_mechanisms_grains(const sti_Mechanisms *m, int *n)
{
    *n = m->n_grains;
    return m->grain;
}

/* ---- a step, once per sweep -------------------------------------------------------------------------- */

static st_Quat orientation(const double *q)
{
    return (st_Quat){q[0], q[1], q[2], q[3]};
}

/* Makes the step with the impulses of the pile on grains as pushes. d: the change of grain velocities by mechanisms. */
static st_Status step_with_pushes(sti_Mechanisms *m, st_Error *err)
{
    st_System *s = m->system;
    sti_World *here = s->model.world;
    if (m->stepped)
        STI_TRY(sti_restore_saved(&s->model, &s->state, &s->work, m->saved, m->saved_size, true, NULL, err));
    m->stepped = true;
    int n = here->n_pushes; /* pushes of the user, which are in the saved state */
    for (int k = 0; k < m->n_grains; k++) {
        const sti_BodyMass *of = &here->values.body[m->number[m->grain[k] + 1]];
        const double *c = m->c + 6 * (int64_t)k, *start = m->c_free + 6 * (int64_t)k;
        const st_Quat p = orientation(m->q_start + (int64_t)4 * k);
        const st_Vec3 spin = rotate_back(p, sub(vec3_load(c + 3), vec3_load(start + 3)));
        sti_Push *push = &here->push[n++];
        push->body = m->number[m->grain[k] + 1];
        vec3_store(push->wrench, scale(of->mass / m->h, sub(vec3_load(c), vec3_load(start))));
        vec3_store(push->wrench + 3, scale(1 / m->h, rotate(p, sti_spin_momentum(of, spin))));
    }
    const int first = here->n_pushes;
    here->n_pushes = n;
    m->info = st_step_info();
    const st_Status status = st_system_step(s, m->h, &m->info, err);
    here->n_pushes = first;
    STI_TRY(status);
    m->push_work = 0;
    for (int k = 0; k < m->n_grains; k++)
        m->d_next[6 * (int64_t)k] = 0;
    for (int i = 0; i < st_system_contact_count(s); i++) { /* grains that were touched */
        int body[2];
        st_ContactReport report;
        STI_TRY(st_system_contact(s, i, &report));
        body[0] = report.a.index1, body[1] = report.b.index1;
        for (int e = 0; e < 2; e++) {
            const int k = body[e] - (m->n_bodies - m->n_grains);
            if (k >= 0 && k < m->n_grains) m->d_next[6 * (int64_t)k] = 1;
        }
    }
    for (int k = 0; k < m->n_grains; k++) {
        const double *v = s->state.v + here->body[m->number[m->grain[k] + 1]].v_first;
        const double *c = m->c + 6 * (int64_t)k;
        double *d = m->d + 6 * (int64_t)k;
        const bool touched = m->d_next[6 * (int64_t)k] > 0;
        const st_Vec3 spin = rotate(orientation(m->q_start + (int64_t)4 * k), vec3_load(v + 3));
        const sti_Push *push = &here->push[first + k];
        m->push_work += m->h * (dot(vec3_load(push->wrench), vec3_load(v)) + dot(vec3_load(push->wrench + 3), spin));
        vec3_store(d, touched ? sub(vec3_load(v), vec3_load(c)) : vec3(0, 0, 0));
        vec3_store(d + 3, touched ? sub(spin, vec3_load(c + 3)) : vec3(0, 0, 0));
    }
    return ST_OK;
}

st_Status sti_mechanisms_meet(void *ctx, double factor, double *u, st_Error *err)
{
    sti_Mechanisms *m = ctx;
    const int64_t n = 6 * (int64_t)m->n_grains;
    if (factor < 0) { /* the impulses of the last step are a good start */
        for (int64_t i = 0; i < n; i++) {
            m->c_free[i] = u[i];
            m->d_before[i] = m->d[i];
            u[i] += m->d[i];
        }
        return ST_OK;
    }
    double change = m->stepped ? 0 : INFINITY;
    for (int64_t i = 0; i < n; i++) { /* velocities, and so d, were extrapolated before the sweep */
        const double ahead = m->d[i] + factor * (m->d[i] - m->d_before[i]), c = u[i] - ahead;
        const double size = i % 6 < 3 ? 1 : m->system->model.world->collider.body_reach[m->number[m->grain[i / 6] + 1]];
        m->d_before[i] = m->d[i];
        change = fmax(change, size * fabs(c - m->c[i]));
        u[i] = c;
    }
    if (change > m->tolerance) {
        for (int64_t i = 0; i < n; i++)
            m->c[i] = u[i];
        STI_TRY(step_with_pushes(m, err));
    }
    for (int64_t i = 0; i < n; i++)
        u[i] += m->d[i];
    return ST_OK;
}

void sti_mechanisms_take(const sti_Mechanisms *m, const sti_Model *model, sti_State *state)
{
    const sti_World *world = model->world, *here = m->system->model.world;
    const sti_State *from = &m->system->state;
    for (int b = 1; b < here->n_bodies; b++) {
        const bool rotor = b >= m->n_bodies; /* the last bodies, in the order of joints */
        const int to = rotor ? sti_first_rotor(world) + b - m->n_bodies : m->body_of[b];
        if (!rotor && m->part[to] != STI_PART_MECHANISM) continue;
        memcpy(state->q + (int64_t)STI_BODY_Q * (to - 1), from->q + (int64_t)STI_BODY_Q * (b - 1),
               STI_BODY_Q * sizeof *state->q);
        memcpy(state->v + world->body[to].v_first, from->v + here->body[b].v_first,
               (size_t)world->body[to].n_dofs * sizeof *state->v);
    }
    const int64_t first = (int64_t)STI_BODY_Q * (world->n_bodies - 1);
    memcpy(state->q + first, from->q + (int64_t)STI_BODY_Q * (here->n_bodies - 1),
           (size_t)(model->n_q - first) * sizeof *state->q);
}

/* ---- reports ------------------------------------------------------------------------------------------ */

st_Status sti_mechanisms_energy(const sti_Mechanisms *m, double *kinetic, double *potential, sti_Works *done,
                                st_Error *err)
{
    st_System *s = m->system;
    const sti_World *here = s->model.world;
    STI_TRY(st_system_energy(s, kinetic, potential, err));
    for (int k = 0; k < m->n_grains; k++) {
        const int b = m->number[m->grain[k] + 1];
        const sti_BodyMass *of = &here->values.body[b];
        const double *v = s->state.v + here->body[b].v_first;
        const st_Vec3 u = vec3_load(v), w = vec3_load(v + 3);
        *kinetic -= 0.5 * (of->mass * dot(u, u) + dot(w, sti_spin_momentum(of, w)));
        *potential -= sti_body_potential(here, s->state.q, b);
    }
    *done = s->state.works;
    sti_works_add(done, -1, &m->works_before);
    done->given -= m->push_work;
    return ST_OK;
}

const st_StepInfo *sti_mechanisms_info(const sti_Mechanisms *m)
{
    return &m->info;
}

const st_System *sti_mechanisms_system(const sti_Mechanisms *m)
{
    return m->system;
}

int sti_mechanisms_body(const sti_Mechanisms *m, int b)
{
    return m->body_of[b];
}

st_Status sti_mechanisms_contact(const sti_Mechanisms *m, int index, st_ContactReport *out)
{
    STI_TRY(st_system_contact(m->system, index, out));
    out->a = (st_BodyId){m->body_of[out->a.index1]};
    out->b = (st_BodyId){m->body_of[out->b.index1]};
    if (out->shape_a.index1 > 0) out->shape_a = (st_ShapeId){m->shape_of[out->shape_a.index1 - 1] + 1};
    if (out->shape_b.index1 > 0) out->shape_b = (st_ShapeId){m->shape_of[out->shape_b.index1 - 1] + 1};
    return ST_OK;
}
