/* model/collider.c -- the compiled shapes of the world, their poses, and the pairs that are near. */
#include "math/parallel.h"
#include "model/world.h"

#include <stdlib.h>

/* Ids of contacts: 21 bits per shape, 20 per feature; larger ids are limits and drives. */
#define MAX_SHAPES (1 << 21)

/* ---- which pairs may touch ----------------------------------------------------------------------- */

static int by_key(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

static uint64_t body_pair(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint64_t)b : (uint64_t)b << 32 | (uint64_t)a;
}

/* Does the scene allow contact between the two shapes? */
static bool are_to_touch(const sti_World *world, int i, int j)
{
    const int *owner = world->scene->shape_body;
    const st_ShapeDef *a = sti_shape_def(world->scene, i), *b = sti_shape_def(world->scene, j);
    if (owner[i] == owner[j]) return false;
    if (world->body[owner[i]].n_dofs == 0 && world->body[owner[j]].n_dofs == 0) return false;
    if ((a->groups & b->mask) == 0 || (b->groups & a->mask) == 0) return false;
    const sti_Collider *c = &world->collider;
    const uint64_t key = body_pair(owner[i], owner[j]);
    return c->n_excluded == 0 || bsearch(&key, c->excluded, (size_t)c->n_excluded, sizeof key, by_key) == NULL;
}

static bool collider_may_touch(const void *ctx, int i, int j, sti_Pair *out)
{
    const sti_World *world = ctx;
    const st_ShapeType a = sti_shape_def(world->scene, i)->type, b = sti_shape_def(world->scene, j)->type;
    const int *owner = world->scene->shape_body;
    if (!are_to_touch(world, i, j) || sti_is_absent(world, owner[i]) || sti_is_absent(world, owner[j])) return false;
    bool forth = sti_collide_supports(a, b), back = sti_collide_supports(b, a);
    if (!forth && !back) return false;
    bool keep = forth && (!back || i < j);
    *out = keep ? (sti_Pair){i, j} : (sti_Pair){j, i};
    return true;
}

/* Two half spaces have no distance, nor have two height fields. A body that consists only of such shapes, without
 * joint or spring, would fall through another one without any message. */
static bool is_endless(const st_ShapeDef *shape)
{
    return shape->type == ST_SHAPE_PLANE || shape->type == ST_SHAPE_HEIGHT_FIELD;
}

static bool is_loose(const sti_World *world, int body)
{
    const st_Scene *scene = world->scene;
    bool loose = world->body[body].n_dofs > 0;
    for (int k = scene->first_shape[body]; k >= 0; k = scene->next_shape[k])
        loose = loose && is_endless(sti_shape_def(scene, k));
    for (int k = 0; loose && k < scene->n_joints; k++)
        loose = scene->joint[k].a.index1 != body && scene->joint[k].b.index1 != body;
    for (int k = 0; loose && k < scene->n_springs; k++)
        loose = scene->spring[k].a.index1 != body && scene->spring[k].b.index1 != body;
    return loose;
}

static const st_Pose origin = {{0, 0, 0}, {1, 0, 0, 0}};

static bool same_pose(const st_Pose *a, const st_Pose *b)
{
    return a->p.x == b->p.x && a->p.y == b->p.y && a->p.z == b->p.z && a->q.w == b->q.w && a->q.x == b->q.x &&
           a->q.y == b->q.y && a->q.z == b->q.z;
}

/* ---- life ---------------------------------------------------------------------------------------- */

/* The arrays that are compiled, and those of each world. */
enum { N_COMPILED = 10, N_PLACING = 9 };

static sti_Span *collider_list_compiled(sti_World *world, sti_Span span[N_COMPILED])
{
    sti_Collider *c = &world->collider;
    const int64_t n = c->n_shapes, n_bodies = world->n_bodies;
    const sti_Span all[N_COMPILED] = {
        STI_SPAN(c->made, c->n_kinds),
        STI_SPAN(c->class, n),
        STI_SPAN(c->plain, n),
        STI_SPAN(c->cacheable, n),
        STI_SPAN(c->spans, n),
        STI_SPAN(c->size, n),
        STI_SPAN(c->core_of, n),
        STI_SPAN(c->rolls, n_bodies),
        STI_SPAN(c->body_reach, n_bodies),
        STI_SPAN(c->excluded, (int64_t)world->scene->n_joints + world->scene->n_excluded)};
    return memcpy(span, all, sizeof all);
}

static sti_Span *list_placing(sti_World *world, sti_Span span[N_PLACING])
{
    sti_Collider *c = &world->collider;
    const int64_t n = c->n_shapes, n_bodies = world->n_bodies;
    const sti_Span all[N_PLACING] = {STI_SPAN(c->pose, n),
                                     STI_SPAN(c->ball, n),
                                     STI_SPAN(c->bounds, n),
                                     STI_SPAN(c->swept, n),
                                     STI_SPAN(c->core, c->n_cores),
                                     STI_SPAN(c->axes, n_bodies),
                                     STI_SPAN(c->body_pose, n_bodies),
                                     STI_SPAN(c->path, n_bodies),
                                     STI_SPAN(c->travel, n_bodies)};
    return memcpy(span, all, sizeof all);
}

/* The length to which margins and dead bands of a shape are relative [m]: its least width; for a mesh that of its
 * bounding box; for a bar its length. In a plane, widths across it do not count. */
static double collider_size_of(const sti_Shape *shape, const st_Pose *pose, unsigned planar)
{
    if (planar != 0 && shape->type != ST_SHAPE_PLANE && shape->type != ST_SHAPE_SPHERE) {
        const sti_Bounds box = sti_shape_bounds(shape, *pose);
        const double side[3] = {box.hi.x - box.lo.x, box.hi.y - box.lo.y, box.hi.z - box.lo.z};
        double least = INFINITY;
        for (int e = 0; e < 3; e++)
            if ((planar >> e & 1u) == 0) least = fmin(least, side[e]);
        return isfinite(least) ? least : 0;
    }
    switch (shape->type) {
    case ST_SHAPE_PLANE:
    case ST_SHAPE_HEIGHT_FIELD:
        return 0;
    case ST_SHAPE_MESH:
        return 2 * fmin(shape->half.x, fmin(shape->half.y, shape->half.z));
    default:
        return shape->thick > 0 ? shape->thick : 2 * shape->reach;
    }
}

st_Status sti_collider_compile(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    sti_Span span[N_COMPILED];
    c->n_shapes = world->scene->n_shapes;
    if (c->n_shapes > MAX_SHAPES)
        return sti_fail(err, ST_ERR_ARGUMENT, "the scene has %d shapes, at most %d", c->n_shapes, MAX_SHAPES);
    c->n_kinds = world->scene->shape_cache.n;
    c->kind = world->scene->cached_shape;
    c->compiled = sti_alloc_spans(&world->allocator, collider_list_compiled(world, span), N_COMPILED);
    if (c->compiled == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", c->n_shapes);
    for (int b = 0; b < world->n_bodies; b++)
        c->rolls[b] = true;
    for (int k = 0; k < c->n_kinds; k++)
        STI_TRY(sti_shape_compile(&world->scene->shape_cache.def[k], &world->allocator, &c->made[k], err));
    for (int k = 0; k < c->n_shapes; k++) {
        const st_ShapeDef *def = sti_shape_def(world->scene, k);
        const st_Pose *pose = sti_shape_pose(world->scene, k);
        const sti_Shape *shape = sti_shape_of(c, k);
        int body = world->scene->shape_body[k];
        c->class[k] = def->type == ST_SHAPE_PLANE    ? STI_CLASS_PLANE
                      : def->type == ST_SHAPE_SPHERE ? STI_CLASS_BALL
                                                     : STI_CLASS_OTHER;
        c->size[k] = collider_size_of(shape, pose, world->body[body].planar);
        if (world->body[body].n_dofs > 0) c->largest = fmax(c->largest, c->size[k]);
        c->plain[k] = same_pose(pose, &origin);
        c->rolls[body] = c->rolls[body] && c->class[k] == STI_CLASS_BALL && norm(pose->p) == 0;
        c->core_of[k] =
            shape->of->family >= STI_FAMILY_POINTS && shape->of->family != STI_FAMILY_SPHERES ? c->n_cores++ : -1;
        c->body_reach[body] = fmax(c->body_reach[body], norm(pose_point(*pose, shape->middle)) + shape->reach);
    }
    for (int k = 0; k < c->n_shapes; k++)
        c->cacheable[k] = sti_shape_is_cacheable(world, k);
    STI_TRY(sti_cell_compile(world, err));
    /* Excludes bodies connected by a joint, unless the joint allows contact, and pairs that the scene excludes. The
     * ground touches all. */
    const st_Scene *scene = world->scene;
    for (int k = 0; k < scene->n_joints; k++) {
        const st_JointDef *joint = &scene->joint[k];
        if (!joint->collide && joint->a.index1 != 0 && joint->b.index1 != 0)
            c->excluded[c->n_excluded++] = body_pair(joint->a.index1, joint->b.index1);
    }
    for (int k = 0; k < scene->n_excluded; k++)
        c->excluded[c->n_excluded++] = body_pair(scene->excluded[k].a, scene->excluded[k].b);
    if (c->n_excluded > 1) qsort(c->excluded, (size_t)c->n_excluded, sizeof *c->excluded, by_key);
    for (int i = 0; i < scene->n_shapes; i++) {
        const st_ShapeType type = sti_shape_def(scene, i)->type;
        if (!is_endless(sti_shape_def(scene, i)) || !is_loose(world, scene->shape_body[i])) continue;
        for (int j = 0; j < scene->n_shapes; j++)
            if (sti_shape_def(scene, j)->type == type && are_to_touch(world, i, j))
                return sti_fail(
                    err, ST_ERR_ARGUMENT,
                    "body \"%s\" is only a %s and cannot rest on the %s \"%s\" of \"%s\": two such shapes do not "
                    "touch. Give it a box, or put them in groups that do not touch",
                    scene->names[STI_BODY].name[scene->shape_body[i]], st_shape_type_name(type),
                    st_shape_type_name(type), sti_shape_name(scene, j),
                    scene->names[STI_BODY].name[scene->shape_body[j]]);
    }
    return ST_OK;
}

void sti_collider_free(sti_World *world)
{
    sti_Collider *c = &world->collider;
    const st_Allocator *a = &world->allocator;
    sti_Span span[N_COMPILED];
    if (c->compiled == NULL) return;
    for (int k = 0; k < c->n_kinds; k++)
        sti_shape_free(a, &c->made[k]);
    sti_free_spans(a, c->compiled, collider_list_compiled(world, span), N_COMPILED);
}

st_Status sti_collider_open(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const st_Allocator *a = &world->allocator;
    const int n = c->n_shapes;
    sti_Span span[N_PLACING];
    c->points.allocator = *a;
    c->placing = sti_alloc_spans(a, list_placing(world, span), N_PLACING);
    unsigned char *extent = sti_alloc(a, n + 1, sizeof *extent);
    bool all_formulas = true;
    st_Status status = ST_OK;
    if (c->placing == NULL || extent == NULL) status = sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", n);
    for (int k = 0; status == ST_OK && k < n; k++) {
        const sti_Body *body = &world->body[world->scene->shape_body[k]];
        const sti_Shape *shape = sti_shape_of(c, k);
        /* across the plane, beyond its bounding ball */
        const bool drawn = c->class[k] != STI_CLASS_BALL && body->planar != 0;
        c->ball[k].radius = drawn ? INFINITY : shape->reach;
        all_formulas = all_formulas && c->class[k] != STI_CLASS_OTHER;
        extent[k] = !isfinite(shape->reach) ? STI_EXTENT_PLANE
                    : body->n_dofs == 0     ? STI_EXTENT_FIXED
                                            : STI_EXTENT_BOUNDED;
    }
    if (status == ST_OK) status = sti_pairs_create(&c->pairs, n, extent, collider_may_touch, world, a, err);
    sti_free(a, extent, n + 1, sizeof *extent);
    c->pairs.forgetful = all_formulas;
    if (world->scene->cell.repeats) c->pairs.cell = &world->scene->cell;
    return status;
}

void sti_collider_close(sti_World *world)
{
    sti_Collider *c = &world->collider;
    const st_Allocator *a = &world->allocator;
    sti_Span span[N_PLACING];
    sti_free_spans(a, c->placing, list_placing(world, span), N_PLACING);
    sti_pairs_free(&c->pairs);
    STI_RELEASE(a, c->live, c->live_capacity);
    STI_RELEASE(a, c->cache, c->cache_capacity);
    STI_RELEASE(a, c->cache_used, c->cache_used_size);
    if (c->points.allocator.free != NULL) sti_points_free(&c->points);
    sti_helpers_free(world);
}

/* ---- placing ------------------------------------------------------------------------------------- */

/* A sum of steps that are smaller than its rounding still grows. */
#define PATH_ROUNDING 4e-16

/* Places a body that has moved, and its shapes. Others keep their boxes. */
static st_Status place_body(sti_World *world, const double *q, int b, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const st_Scene *scene = world->scene;
    st_Pose pose = sti_pose(q, b);
    if (c->placed && same_pose(&pose, &c->body_pose[b])) return ST_OK;
    if (scene->first_shape[b] >= 0 && (!vec3_finite(pose.p) || !isfinite(quat_norm(pose.q))))
        return sti_fail(err, ST_ERR_NUMERIC, "body \"%s\" is at (%g, %g, %g)", scene->names[STI_BODY].name[b], pose.p.x,
                        pose.p.y, pose.p.z);
    /* The first placement of a body is not counted as motion. */
    const bool first =
        c->body_pose[b].q.w == 0 && c->body_pose[b].q.x == 0 && c->body_pose[b].q.y == 0 && c->body_pose[b].q.z == 0;
    c->path[b] += (first ? 0 : sti_way_between(&c->body_pose[b], &pose, c->body_reach[b])) + PATH_ROUNDING * c->path[b];
    c->body_pose[b] = pose;
    c->axes[b] = quat_matrix(pose.q);
    for (int k = scene->first_shape[b]; k >= 0; k = scene->next_shape[k]) {
        const sti_Shape *shape = sti_shape_of(c, k);
        st_Pose placed = c->body_pose[world->scene->shape_body[k]];
        if (!c->plain[k]) placed = pose_product(placed, *sti_shape_pose(world->scene, k));
        if (world->scene->cell.repeats)
            placed.p = add(placed.p, sti_cell_shift_of(world, k, pose_point(placed, shape->middle)));
        c->pose[k] = placed;
        c->bounds[k] = sti_shape_bounds(shape, placed);
        if (c->core_of[k] >= 0) c->core[c->core_of[k]] = sti_core(shape, (st_Pose){{0, 0, 0}, placed.q});
        c->ball[k].centre = c->class[k] == STI_CLASS_BALL ? placed.p : pose_point(placed, shape->middle);
    }
    return ST_OK;
}

/* Places bodies by a team. For each part, the first body that could not be placed, or -1. */
typedef struct Placing {
    sti_World *world;
    const double *q;
    int failed[STI_PARTS];
} Placing;

/* The first time, and after a failure, sleeping bodies and the ground are placed, too. */
static void place_part(void *ctx, int part, int64_t first, int64_t end)
{
    Placing *placing = ctx;
    sti_World *world = placing->world;
    placing->failed[part] = -1;
    for (int e = (int)first; e < (int)end && placing->failed[part] < 0; e++) {
        const int b = world->collider.placed ? sti_awake_body(world, e) : e;
        if (place_body(world, placing->q, b, NULL) != ST_OK) placing->failed[part] = b;
    }
}

st_Status sti_collider_place(sti_World *world, const double *q, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const int n = c->placed ? sti_awake_solids(world) : world->n_bodies;
    Placing placing;
    placing.world = world, placing.q = q;
    c->asked = false;
    const int parts = sti_team_parts(world->threads, n, place_part, &placing);
    for (int k = 0; k < parts; k++) {
        if (placing.failed[k] < 0) continue;
        c->placed = false;
        return place_body(world, q, placing.failed[k], err); /* call again for the message */
    }
    c->placed = true;
    return ST_OK;
}

/* ---- expected motion ----------------------------------------------------------------------------- */

/* The box of a shape and the boxes at the ends of its expected motions, with room for rotation and for a body that
 * is thrown aside at half its speed. This covers every contact that closing_speed (contact.c) expects: a motion of
 * length d passes a point at the distance x along a direction in which it goes farther than x by at most x
 * sin(angle) <= d/2. So the pairs do not depend on the size of the fat boxes, and a clone finds the contacts of the
 * original. */
static sti_Bounds collider_swept_bounds(const sti_World *world, const sti_Foresight *ahead, int shape)
{
    const sti_Collider *c = &world->collider;
    int owner = world->scene->shape_body[shape];
    sti_Bounds box = c->bounds[shape];
    if (!(c->travel[owner] > 0) || c->class[shape] == STI_CLASS_PLANE) return box;
    double room = 0;
    for (int k = 0; k < 2 && ahead->v[k] != NULL; k++) {
        st_Vec3 linear, w;
        sti_body_velocity(&world->body[owner], ahead->v[k], &linear, &w);
        const st_Vec3 way = scale(ahead->h, linear);
        box = bounds_union(box, (sti_Bounds){add(c->bounds[shape].lo, way), add(c->bounds[shape].hi, way)});
        room = fmax(room, ahead->h * (sti_turning_speed(world, owner, w) + 0.5 * norm(linear)));
    }
    return bounds_grown(box, room);
}

static void foresee_body(sti_World *world, const sti_Foresight *ahead, int b)
{
    sti_Collider *c = &world->collider;
    double travel = 0;
    for (int k = 0; ahead->h > 0 && k < 2 && ahead->v[k] != NULL && world->body[b].n_dofs > 0; k++) {
        st_Vec3 linear, w;
        sti_body_velocity(&world->body[b], ahead->v[k], &linear, &w);
        travel = fmax(travel, ahead->h * (norm(linear) + sti_turning_speed(world, b, w)));
    }
    c->travel[b] = travel;
    for (int k = world->scene->first_shape[b]; k >= 0; k = world->scene->next_shape[k])
        c->swept[k] = collider_swept_bounds(world, ahead, k);
}

typedef struct Foreseeing {
    sti_World *world;
    const sti_Foresight *ahead;
} Foreseeing;

static void foresee_range(void *ctx, int64_t first, int64_t end)
{
    const Foreseeing *of = ctx;
    for (int e = (int)first; e < (int)end; e++)
        foresee_body(of->world, of->ahead, sti_awake_body(of->world, e));
}

double sti_collider_foresee(sti_World *world, const sti_Foresight *ahead)
{
    const sti_Collider *c = &world->collider;
    double planes = 0;
    Foreseeing of = {world, ahead};
    if (world->awake == NULL) foresee_body(world, ahead, 0);
    sti_team_for(world->threads, sti_awake_solids(world), STI_LEAST_BODIES, foresee_range, &of);
    for (int k = 0; k < c->pairs.n_planes; k++)
        planes = fmax(planes, c->travel[world->scene->shape_body[c->pairs.plane[k].shape]]);
    return planes;
}

void sti_collider_settle(sti_World *world, const double *q, int body)
{
    sti_Collider *c = &world->collider;
    if (!c->placed) return; /* all will be placed later */
    (void)place_body(world, q, body, NULL);
    c->travel[body] = 0;
    for (int k = world->scene->first_shape[body]; k >= 0; k = world->scene->next_shape[k])
        c->swept[k] = c->bounds[k];
}
