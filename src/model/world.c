/* model/world.c -- compiles a scene into the system interface of model.h. */
#include "model/world.h"
#include "math/parallel.h"

#include <stdio.h>

/* ---- compiling -------------------------------------------------------------------------------- */

/* Entry (i, j) of a body's 6 x 6 mass matrix. */
static double world_mass_entry(const sti_BodyMass *of, int i, int j)
{
    if (i < 3 || j < 3) return i == j ? of->mass : 0.0;
    return sti_inertia(of).m[3 * (i - 3) + (j - 3)];
}

static st_Status compile_body(sti_World *world, int index, st_Error *err)
{
    const st_BodyDef *def = &world->scene->body[index];
    sti_Body *body = &world->body[index];
    body->v_first = world->n_v;
    /* Bit e: the body moves only across world axis e. Its rotations are all locked, or all except the one about e,
     * with the body's e axis along the world's (rotation locks are about body axes). */
    unsigned axes = 0;
    for (int e = 0; e < 3; e++) {
        uint32_t needed = (uint32_t)(ST_LOCK_X << e) | (ST_LOCK_ROTATION & ~(uint32_t)(ST_LOCK_RX << e));
        bool turns = (def->locks & (uint32_t)(ST_LOCK_RX << e)) == 0;
        double along = fabs(dot(rotate(def->pose.q, vec3_axis(e)), vec3_axis(e)));
        if (def->fixed || ((def->locks & needed) == needed && (!turns || along > 1.0 - 1e-12))) axes |= 1u << e;
    }
    body->planar = (unsigned char)axes;
    if (def->fixed || def->locks == ST_LOCK_ALL) {
        body->planar = 7;
        return ST_OK;
    }
    st_Mat3 inertia;
    sti_BodyMass *of = &world->values.body[index];
    STI_TRY(sti_body_mass(world->scene, index, &of->mass, &inertia, err));
    body->inertia_given = !sti_inertia_from_shapes(def);
    body->gravity = def->gravity;
    body->medium = def->medium;
    const double *J = inertia.m;
    const double own[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
    memcpy(of->inertia, own, sizeof own);
    for (int d = 0; d < 6; d++)
        if ((def->locks >> d & 1u) == 0) body->dof[body->n_dofs++] = (unsigned char)d;
    world->n_v += body->n_dofs;
    bool principal = true; /* nothing couples the free rotations */
    for (int i = 0; i < body->n_dofs; i++)
        for (int j = 0; j < body->n_dofs; j++)
            principal = principal && (i == j || world_mass_entry(of, body->dof[i], body->dof[j]) == 0);
    world->principal[world->n_blocks] = principal;
    world->block_first[++world->n_blocks] = world->n_v;
    return ST_OK;
}

/* The arrays of a compiled scene, and of a world opened from it. */
enum { COMPILED_SPANS = 9 };
static sti_Span *world_list_compiled(sti_World *world, sti_Span span[COMPILED_SPANS])
{
    const int64_t n = world->n_bodies, angles = 2 * (int64_t)world->n_joints + world->n_springs;
    const sti_Span all[COMPILED_SPANS] = {STI_SPAN(world->body, n),
                                          STI_SPAN(world->values.body, n),
                                          STI_SPAN(world->block_first, n + 1),
                                          STI_SPAN(world->principal, n),
                                          STI_SPAN(world->joint, world->n_joints + 1),
                                          STI_SPAN(world->values.joint, world->n_joints + 1),
                                          STI_SPAN(world->spring, world->n_springs + 1),
                                          STI_SPAN(world->values.spring, world->n_springs + 1),
                                          STI_SPAN(world->angle, angles + 1)};
    return memcpy(span, all, sizeof all);
}

/* before: the world that this one continues, or NULL. */
static st_Status compile(sti_World *world, sti_Before *before, st_Error *err)
{
    const st_Allocator *a = &world->allocator;
    const int n = world->n_bodies, angles = 2 * world->n_joints + world->n_springs;
    sti_Span span[COMPILED_SPANS];
    world->block = sti_alloc_spans(a, world_list_compiled(world, span), COMPILED_SPANS);
    world->v0 = sti_alloc(a, 6 * (int64_t)n, sizeof *world->v0);
    world->q0 = sti_alloc(a, STI_BODY_Q * (int64_t)n + angles, sizeof *world->q0);
    if (world->block == NULL || world->v0 == NULL || world->q0 == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a world of %d bodies", n);
    if (before != NULL) sti_carry_bodies(world, before);
    for (int b = 0; b < n; b++)
        STI_TRY(compile_body(world, b, err));
    const st_Scene *scene = world->scene;
    for (int k = 0; k < scene->n_shapes; k++)
        world->slender = world->slender || sti_shape_def(scene, k)->friction_across > 0;
    double volume = 0, angle = 0, tension = 0;
    for (int k = 0; k < scene->n_materials + scene->n_material_pairs; k++) {
        const st_SurfaceLaw *more =
            k < scene->n_materials ? &scene->material[k].more : &scene->material_pair[k - scene->n_materials].more;
        if (more->adhesion > 0 || more->adhesion_pressure > 0)
            world->collider.least_margin =
                fmax(world->collider.least_margin, more->adhesion_range); /* NaN: not given */
        if (more->liquid_volume > 0) world->liquid = true;
        volume = fmax(volume, more->liquid_volume); /* NaN: not given */
        angle = fmax(angle, more->wetting_angle);
        tension = fmax(tension, more->surface_tension);
        world->adheres = world->adheres || more->adhesion > 0 || more->adhesion_pressure > 0 || world->liquid;
        world->stribeck = world->stribeck || more->stribeck_speed > 0;
    }
    for (int k = 0; world->liquid && !(tension > 0) && k < scene->n_materials; k++)
        if (scene->material[k].more.liquid_volume > 0)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "material \"%s\": liquid_volume is %g, and no material has a surface_tension",
                            scene->material[k].name, scene->material[k].more.liquid_volume);
    for (int k = 0; k < scene->n_forces; k++)
        world->adheres = world->adheres || scene->force[k].adhesion;
    world->collider.least_margin = fmax(world->collider.least_margin, sti_rupture_gap(volume, angle));
    world->all_free = world->n_v == 6 * world->n_blocks;
    for (int b = 0; b < n; b++)
        world->all_free = world->all_free && world->body[b].n_dofs % 6 == 0;
    world->n_q = STI_BODY_Q * (n - 1); /* angles come after the bodies */
    for (int k = 0; k < world->n_joints; k++)
        sti_joint_compile(world, k);
    sti_rotors_compile(world);
    for (int k = 0; k < world->n_springs; k++)
        sti_spring_compile(world, k);
    sti_drives_compile(world);
    STI_TRY(sti_collider_compile(world, err));
    STI_TRY(sti_surfaces_compile(scene, a, &world->values, err));
    /* A velocity along a locked degree of freedom would be lost: refuse it. */
    static const char *const dof_name[6] = {"x", "y", "z", "rx", "ry", "rz"};
    for (int b = 1; b < world->n_bodies; b++) {
        const st_BodyDef *def = &world->scene->body[b];
        const sti_Body *body = &world->body[b];
        double *q = world->q0 + (int64_t)STI_BODY_Q * (b - 1), full[6];
        vec3_store(q, def->pose.p);
        q[3] = def->pose.q.w, q[4] = def->pose.q.x, q[5] = def->pose.q.y, q[6] = def->pose.q.z;
        vec3_store(full, def->velocity);
        vec3_store(full + 3, def->spin);
        for (int k = 0; k < body->n_dofs; k++) {
            world->v0[body->v_first + k] = full[body->dof[k]];
            full[body->dof[k]] = 0;
        }
        for (int d = 0; d < 6; d++)
            if (full[d] != 0)
                return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": its velocity along %s is %g, but %s", def->name,
                                dof_name[d], full[d], def->fixed ? "it is fixed" : "that is locked, must be 0");
    }
    sti_presence_park(world, before != NULL ? before->world : NULL);
    if (before != NULL) sti_carry_attachments(world, before);
    sti_gears_compile(world);
    if (before != NULL) sti_carry_gears(world, before);
    world->angles_idle = sti_angles_idle(world);
    STI_TRY(sti_rotors_follow(world, world->q0, world->v0, err));
    return sti_drives_check(world, err);
}

static void forget_start(sti_World *world)
{
    const st_Allocator *a = &world->allocator;
    const int64_t n = world->n_bodies, angles = 2 * (int64_t)world->n_joints + world->n_springs;
    sti_free(a, world->q0, STI_BODY_Q * n + angles, sizeof *world->q0);
    sti_free(a, world->v0, 6 * n, sizeof *world->v0);
    world->q0 = world->v0 = NULL;
}

static st_Status compile_scene(const st_Scene *scene, const st_Allocator *allocator, sti_Before *before,
                               st_CompiledScene **out, st_Error *err)
{
    st_Allocator arena;
    STI_TRY(sti_arena_open(allocator, &arena, err));
    st_CompiledScene *compiled = sti_alloc(&arena, 1, sizeof *compiled);
    if (compiled == NULL) {
        sti_arena_close(&arena);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a compiled scene");
    }
    atomic_init(&compiled->references, 1);
    sti_World *world = &compiled->world;
    world->allocator = arena;
    world->compiled = compiled;
    world->n_joints = scene->n_joints;
    world->n_springs = scene->n_springs;
    st_Status status = sti_scene_copy(scene, &arena, &world->scene, err);
    if (status == ST_OK) status = sti_rotors_add(world->scene, err);
    if (world->scene != NULL) world->n_bodies = world->scene->n_bodies;
    if (status == ST_OK) status = compile(world, before, err);
    if (status != ST_OK) {
        st_compiled_release(compiled);
        return status;
    }
    world->fingerprint = sti_scene_fingerprint(world->scene);
    sti_scene_drop_bodies(world->scene);
    *out = compiled;
    return ST_OK;
}

st_Status st_scene_compile(const st_Scene *scene, st_CompiledScene **out, st_Error *err)
{
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_compile: scene and out must be given");
    *out = NULL;
    return compile_scene(scene, &scene->allocator, NULL, out, err);
}

st_CompiledScene *st_compiled_retain(st_CompiledScene *compiled)
{
    if (compiled != NULL) atomic_fetch_add_explicit(&compiled->references, 1, memory_order_relaxed);
    return compiled;
}

void st_compiled_release(st_CompiledScene *compiled)
{
    if (compiled == NULL || atomic_fetch_sub_explicit(&compiled->references, 1, memory_order_acq_rel) > 1) return;
    sti_World *world = &compiled->world;
    const st_Allocator a = world->allocator;
    sti_Span span[COMPILED_SPANS];
    sti_collider_free(world);
    forget_start(world);
    sti_surfaces_free(world->scene, &a, &world->values.surfaces);
    sti_free_spans(&a, world->block, world_list_compiled(world, span), COMPILED_SPANS);
    st_scene_destroy(world->scene);
    sti_free(&a, compiled, 1, sizeof *compiled);
    sti_arena_close(&a);
}

st_Status sti_world_open(st_CompiledScene *compiled, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                         st_Error *err)
{
    *out = NULL;
    st_Allocator arena;
    STI_TRY(sti_arena_open(allocator, &arena, err));
    sti_World *world = sti_alloc(&arena, 1, sizeof *world);
    if (world == NULL) {
        sti_arena_close(&arena);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a world");
    }
    *world = compiled->world;
    world->compiled = st_compiled_retain(compiled);
    world->allocator = arena;
    world->gravity = gravity;
    world->threads = 1;
    world->asleep = sti_alloc(&arena, world->n_bodies, sizeof *world->asleep);
    world->presence = sti_alloc(&arena, world->n_bodies, sizeof *world->presence);
    world->control = sti_alloc(&arena, sti_control_count(world) + 1, sizeof *world->control);
    world->coordinate = sti_alloc(&arena, 2 * (int64_t)world->n_joints + 1, sizeof *world->coordinate);
    world->angle_cache = sti_alloc(&arena, world->n_angles + 1, sizeof *world->angle_cache);
    st_Status status = ST_OK;
    if (world->asleep == NULL || world->presence == NULL || world->control == NULL || world->coordinate == NULL ||
        world->angle_cache == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for a world of %d bodies", world->n_bodies);
    if (status == ST_OK) sti_presence_mark(world);
    if (status == ST_OK) status = sti_collider_open(world, err);
    if (status == ST_OK)
        *out = world;
    else
        sti_world_destroy(world);
    return status;
}

static st_Status world_create(const st_Scene *scene, st_Vec3 gravity, const st_Allocator *allocator, sti_Before *before,
                              sti_World **out, st_Error *err)
{
    st_CompiledScene *compiled;
    *out = NULL;
    STI_TRY(compile_scene(scene, allocator, before, &compiled, err));
    st_Status status = sti_world_open(compiled, gravity, allocator, out, err);
    st_compiled_release(compiled);
    return status;
}

st_Status sti_world_create(const st_Scene *scene, st_Vec3 gravity, const st_Allocator *allocator, sti_World **out,
                           st_Error *err)
{
    return world_create(scene, gravity, allocator, NULL, out, err);
}

st_Status sti_world_create_after(const st_Scene *scene, sti_Before *before, sti_World **out, st_Error *err)
{
    STI_TRY(world_create(scene, before->world->gravity, &before->world->allocator, before, out, err));
    sti_presence_carry(*out, before->world);
    return ST_OK;
}

void sti_world_started(sti_World *world)
{
    if (atomic_load_explicit(&world->compiled->references, memory_order_acquire) == 1)
        forget_start(&world->compiled->world);
    world->q0 = world->v0 = NULL;
}

void sti_world_destroy(sti_World *world)
{
    if (world == NULL) return;
    const st_Allocator a = world->allocator;
    sti_collider_close(world);
    sti_values_free(world, &world->values);
    sti_free(&a, world->asleep, world->n_bodies, sizeof *world->asleep);
    sti_free(&a, world->presence, world->n_bodies, sizeof *world->presence);
    sti_free(&a, world->control, sti_control_count(world) + 1, sizeof *world->control);
    sti_free(&a, world->coordinate, 2 * (int64_t)world->n_joints + 1, sizeof *world->coordinate);
    sti_free(&a, world->angle_cache, world->n_angles + 1, sizeof *world->angle_cache);
    STI_RELEASE(&a, world->push, world->push_capacity);
    st_compiled_release(world->compiled);
    sti_free(&a, world, 1, sizeof *world);
    sti_arena_close(&a);
}

/* ---- the system interface --------------------------------------------------------------------- */

static st_Status world_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)q, (void)err;
    const sti_World *world = ctx;
    for (int b = 1; b < world->n_bodies; b++) {
        const sti_Body *body = &world->body[b];
        for (int i = 0; i < body->n_dofs; i++)
            for (int j = 0; j < body->n_dofs; j++)
                *M++ = world_mass_entry(&world->values.body[b], body->dof[i], body->dof[j]);
    }
    return ST_OK;
}

void sti_world_masses(const sti_World *world, double *M)
{
    for (int b = 1, block = 0; b < world->n_bodies; b++) {
        const sti_Body *body = &world->body[b];
        if (body->n_dofs == 0) continue;
        const bool principal = world->principal[block++];
        for (int i = 0; i < body->n_dofs; i++)
            for (int j = principal ? i : 0; j < (principal ? i + 1 : body->n_dofs); j++)
                *M++ = world_mass_entry(&world->values.body[b], body->dof[i], body->dof[j]);
    }
}

static st_Status world_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    const sti_World *world = ctx;
    sti_forces(world, t, q, k);
    if (world->has_medium) sti_fluid_add(world, q, v, k);
    if (world->has_fields) sti_fields_add(world, q, v, k);
    return world->n_force_motors > 0 ? sti_motor_forces_add(world, t, q, k, err) : ST_OK;
}

static st_Status world_force_derivative(void *ctx, double t, const double *q, const double *v, st_Sink *sink,
                                        st_Error *err)
{
    (void)t;
    const sti_World *world = ctx;
    if (world->has_medium) STI_TRY(sti_fluid_derivative(world, q, v, sink, err));
    return world->has_fields ? sti_fields_derivative(world, q, v, sink, err) : ST_OK;
}

static st_Status world_soft(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err)
{
    (void)t;
    STI_TRY(sti_springs_push(ctx, q, sink, err));
    return sti_joint_springs_push(ctx, q, sink, err);
}

static st_Status world_joints(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err)
{
    return sti_joints_push(ctx, t, q, sink, err);
}

static st_Status world_bounded(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err)
{
    return sti_bounded_push(ctx, t, q, sink, err);
}

st_Status sti_world_contacts(sti_World *world, const double *q, double margin, const sti_Foresight *ahead,
                             st_Sink *sink, st_Error *err)
{
    STI_TRY(sti_contacts_push(world, q, margin, ahead, sink, err));
    return world->n_limits > 0 ? sti_limits_push(world, q, margin, ahead, sink, err) : ST_OK;
}

static st_Status world_contacts(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    (void)t;
    return sti_world_contacts(ctx, q, margin, &(sti_Foresight){.h = 0}, sink, err);
}

/* Gyroscopic forces (AP eq. 48) do no work (AP eq. 27, AP eq. 28, AP eq. 29). (J - [a]x) w* = J w with a = h J w:
 * |w*|_J <= |w|_J for any h (docs/methods.md 2). In three dimensions w* = w + x
 * with (J - [a]x) x = a x w, and J being symmetric
 *
 *     inv(J - [a]x) = (adj J + a a' + [J a]x) / (det J + a . J a),          a . (a x w) = 0. */
static st_Vec3 gyroscopic_spin(const st_Mat3 *J, double h, st_Vec3 w)
{
    const st_Vec3 x = vec3_load(J->m), y = vec3_load(J->m + 3), z = vec3_load(J->m + 6); /* rows, and columns */
    const st_Vec3 a = scale(h, mat3_mul(J, w)), Ja = mat3_mul(J, a), t = cross(a, w);
    const st_Vec3 yz = cross(y, z), adjoint = vec3(dot(yz, t), dot(cross(z, x), t), dot(cross(x, y), t));
    return add(w, scale(1 / (dot(x, yz) + dot(a, Ja)), add(adjoint, cross(Ja, t))));
}

/* Likewise on the free rotations. */
static void gyroscopic_body(const sti_Body *body, const sti_BodyMass *of, double h, double *v)
{
    const double *I = of->inertia;
    if (body->n_dofs < 2) return;
    const bool round = I[0] == I[1] && I[1] == I[2] && I[3] == 0 && I[4] == 0 && I[5] == 0;
    const bool is_free = body->n_dofs == 6;
    int axis[3] = {0, 1, 2}, n = is_free ? 3 : 0, start = is_free ? 3 : 0;
    for (int k = 0; k < body->n_dofs && !is_free; k++) {
        if (body->dof[k] < 3) start = k + 1;
        if (body->dof[k] >= 3) axis[n++] = body->dof[k] - 3;
    }
    if (n < 2 || round) return; /* about one axis, or with J = c I, the torque is 0 */
    st_Vec3 linear, w;
    sti_body_velocity(body, v, &linear, &w);
    const st_Mat3 J = sti_inertia(of);
    if (n == 3) {
        vec3_store(v + body->v_first + start, gyroscopic_spin(&J, h, w));
        return;
    }
    st_Vec3 momentum = mat3_mul(&J, w);
    double L[3], A[3][3], y[3];
    vec3_store(L, momentum);
    const double skew[3][3] = {{0, -L[2], L[1]}, {L[2], 0, -L[0]}, {-L[1], L[0], 0}};
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            A[i][j] = J.m[3 * axis[i] + axis[j]] - h * skew[axis[i]][axis[j]];
        y[i] = L[axis[i]];
    }
    /* Solves A x = y for 1 to 3 unknowns by elimination. The pivots are positive, because the symmetric part of A is
     * an inertia. */
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++) {
            double factor = A[i][k] / A[k][k];
            for (int j = k; j < n; j++)
                A[i][j] -= factor * A[k][j];
            y[i] -= factor * y[k];
        }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++)
            y[k] -= A[k][j] * y[j];
        y[k] /= A[k][k];
    }
    for (int i = 0; i < n; i++)
        v[body->v_first + start + i] = y[i];
}

typedef struct Turning {
    const sti_World *world;
    double h, *v;
} Turning;

static void turn_range(void *ctx, int64_t first, int64_t end)
{
    const Turning *turning = ctx;
    const sti_World *world = turning->world;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        gyroscopic_body(&world->body[b], &world->values.body[b], turning->h, turning->v);
    }
}

static void world_gyroscopic(void *ctx, double h, const double *q, double *v)
{
    (void)q;
    Turning turning = {ctx, h, v};
    sti_team_for(turning.world->threads, sti_awake_count(turning.world), STI_LEAST_BODIES, turn_range, &turning);
}

/* The torque -w x J w = J w x w on the free rotations. */
static void world_gyroscopic_force(void *ctx, const double *q, const double *v, double *k)
{
    (void)q;
    const sti_World *world = ctx;
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        const sti_Body *body = &world->body[b];
        st_Vec3 linear, w;
        sti_body_velocity(body, v, &linear, &w);
        double torque[3];
        vec3_store(torque, cross(sti_spin_momentum(&world->values.body[b], w), w));
        for (int d = 0; d < body->n_dofs; d++)
            if (body->dof[d] >= 3) k[body->v_first + d] += torque[body->dof[d] - 3];
    }
}

/* ---- bodies by a team -------------------------------------------------------------------------- */

/* Work that is done body by body. */
typedef struct Bodies {
    const sti_World *world;
    const double *q, *v;
    double h;
    double *q_out;
} Bodies;

static void move_range(void *ctx, int64_t first, int64_t end)
{
    const Bodies *bodies = ctx;
    const sti_World *world = bodies->world;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        if (world->body[b].n_dofs == 0) continue;
        double *p = bodies->q_out + (int64_t)STI_BODY_Q * (b - 1);
        st_Pose pose = sti_pose(bodies->q, b);
        st_Vec3 linear, w;
        sti_body_velocity(&world->body[b], bodies->v, &linear, &w);
        vec3_store(p, add(pose.p, scale(bodies->h, linear)));
        st_Quat turned = quat_unit(quat_product(pose.q, quat_exp(scale(bodies->h, w))));
        p[3] = turned.w, p[4] = turned.x, p[5] = turned.y, p[6] = turned.z;
    }
}

static void world_move(void *ctx, const double *q, const double *v, double h, double *q_out)
{
    const sti_World *world = ctx;
    Bodies bodies = {.world = world, .q = q, .v = v, .h = h, .q_out = q_out};
    const int angles = world->awake != NULL ? STI_BODY_Q * (world->n_bodies - 1) : 0;
    if (q_out != q) memcpy(q_out + angles, q + angles, (size_t)(world->n_q - angles) * sizeof *q);
    if (world->n_angles > 0) sti_angles_predict(world, q, v, h, q_out);
    sti_team_for(world->threads, sti_awake_count(world), STI_LEAST_BODIES, move_range, &bodies);
    if (world->n_angles > 0) sti_angles_update(world, q_out);
}

static void world_difference(void *ctx, const double *q0, const double *q1, double *d)
{
    const sti_World *world = ctx;
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        const sti_Body *body = &world->body[b];
        st_Pose from = sti_pose(q0, b), to = sti_pose(q1, b);
        double full[6];
        vec3_store(full, sub(to.p, from.p));
        vec3_store(full + 3, quat_log(quat_product(quat_conjugate(from.q), to.q)));
        for (int k = 0; k < body->n_dofs; k++)
            d[body->v_first + k] = full[body->dof[k]];
    }
}

static double sinc(double x)
{
    const double y = x * x;
    return x < 0.1 ? 1 - y / 6 * (1 - y / 20 * (1 - y / 42)) : sin(x) / x;
}

/* The mean of a vector fixed in a body that turns by x = h w is sinc(|x|/2) times its value in the middle, across
 * the axis; Simpson's rule gives (2 + cos(|x|/2))/3. */
void sti_world_turns(const sti_World *world, const double *v, double h, bool simpson, double *factor)
{
    for (int b = 1; b < world->n_bodies; b++) {
        const sti_Body *body = &world->body[b];
        st_Vec3 linear, w;
        sti_body_velocity(body, v, &linear, &w);
        double half = 0.5 * h * norm(w), ratio = sinc(half);
        if (simpson) ratio = half < 1e-3 ? 1.0 : 3 * ratio / (2 + cos(half)); /* equal up to rounding */
        if (b >= sti_first_rotor(world)) ratio = 1;                           /* no vector is fixed in a rotor */
        for (int k = 0; k < body->n_dofs; k++)
            factor[body->v_first + k] = body->dof[k] < 3 ? 1.0 : ratio;
    }
}

/* No point of a body is faster than |v| + |w| times its distance from the centre; two bodies approach each other. */
static double fastest_of_range(void *ctx, int64_t first, int64_t end)
{
    const Bodies *bodies = ctx;
    const sti_World *world = bodies->world;
    double fastest = 0;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(world, e);
        st_Vec3 linear, w;
        sti_body_velocity(&world->body[b], bodies->v, &linear, &w);
        double turning = norm(w) > 0 ? norm(w) * world->collider.body_reach[b] : 0;
        fastest = sti_larger(norm(linear) + turning, fastest);
    }
    return fastest;
}

static double world_reach(void *ctx, const double *q, const double *v, double h)
{
    (void)q;
    const sti_World *world = ctx;
    Bodies bodies = {.world = world, .v = v};
    return 2 * h * sti_team_largest(world->threads, sti_awake_solids(world), fastest_of_range, &bodies);
}

static double kinetic_of_range(void *ctx, int64_t first, int64_t end)
{
    const Bodies *bodies = ctx;
    const int rotors = sti_first_rotor(bodies->world);
    double sum = 0;
    for (int e = (int)first; e < (int)end; e++) {
        const int b = sti_awake_body(bodies->world, e);
        const sti_BodyMass *of = &bodies->world->values.body[b];
        st_Vec3 linear, w;
        if (b >= rotors) { /* turns about x alone */
            const double turns = bodies->v[bodies->world->body[b].v_first];
            sum += 0.5 * (turns * (of->inertia[0] * turns));
            continue;
        }
        sti_body_velocity(&bodies->world->body[b], bodies->v, &linear, &w);
        sum += 0.5 * (of->mass * dot(linear, linear) + dot(w, sti_spin_momentum(of, w)));
    }
    return sum;
}

double sti_world_kinetic(const sti_World *world, const double *v)
{
    Bodies bodies = {.world = world, .v = v};
    return sti_team_sum(world->threads, sti_awake_count(world), kinetic_of_range, &bodies);
}

double sti_weight_power(const sti_World *world, const double *v)
{
    double sum = 0;
    for (int e = 0; e < sti_awake_solids(world); e++) {
        const int b = sti_awake_body(world, e);
        st_Vec3 linear, w;
        if (sti_is_absent(world, b)) continue;
        sti_body_velocity(&world->body[b], v, &linear, &w);
        sum += sti_weight(world, b) * dot(world->gravity, linear);
    }
    return sum;
}

double sti_body_potential(const sti_World *world, const double *q, int body)
{
    if (sti_is_absent(world, body)) return 0;
    return -sti_weight(world, body) * dot(world->gravity, sti_pose(q, body).p);
}

static double potential_of_range(void *ctx, int64_t first, int64_t end)
{
    const Bodies *bodies = ctx;
    double sum = 0;
    for (int e = (int)first; e < (int)end; e++)
        sum += sti_body_potential(bodies->world, bodies->q, sti_awake_body(bodies->world, e));
    return sum;
}

static double world_potential(void *ctx, double t, const double *q)
{
    (void)t;
    const sti_World *world = ctx;
    Bodies bodies = {.world = world, .q = q};
    const double others = world->awake != NULL ? world->asleep_potential : 0;
    return others + sti_team_sum(world->threads, sti_awake_solids(world), potential_of_range, &bodies);
}

static void world_name(void *ctx, int i, char *out, size_t size)
{
    const sti_World *world = ctx;
    int b = 0;
    while (b + 1 < world->n_bodies && world->body[b + 1].v_first <= i)
        b++; /* the last body that begins there moves: those before it have no velocities */
    snprintf(out, size, "body \"%s\"", world->scene->names[STI_BODY].name[b]);
}

st_Model sti_world_model(sti_World *world)
{
    st_Model model = st_model_def();
    model.n_q = world->n_q;
    model.n_v = world->n_v;
    model.n_blocks = world->n_blocks;
    model.first = world->block_first;
    model.ctx = world;
    model.mass = world_mass;
    model.constant_mass = true; /* in body axes */
    model.force = world_force;
    world->has_fields = sti_has_fields(world->scene);
    model.force_derivative = world->has_fields || world->has_medium ? world_force_derivative : NULL;
    model.soft = world->n_springs + world->n_joint_springs > 0 ? world_soft : NULL;
    model.joints = world->n_joints > 0 ? world_joints : NULL;
    model.bounded = world->n_bounded > 0 ? world_bounded : NULL;
    model.contacts = world->scene->n_shapes > 1 || world->n_limits > 0 ? world_contacts : NULL;
    model.gyroscopic = world_gyroscopic;
    model.gyroscopic_force = world_gyroscopic_force;
    model.reach = world_reach;
    model.move = world_move;
    model.difference = world_difference;
    model.potential = world_potential;
    model.name = world_name;
    return model;
}
