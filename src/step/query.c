/* step/query.c -- rays, overlaps and distances in a system as it stands. */
#include "collide/ray.h"
#include "step/system.h"

#include <stiction/query.h>

/* The world with its shapes where the state says. */
static st_Status placed_world(st_System *system, sti_World **world, st_Error *err)
{
    *world = system->world;
    if (system->world == NULL)
        return sti_fail(err, ST_ERR_UNSUPPORTED, "a model of one's own has no shapes to ask about");
    return sti_collider_place(system->world, system->q, err);
}

static st_BodyId body_of(const sti_World *world, int shape)
{
    return (st_BodyId){world->scene->shape_body[shape]};
}

static bool is_seen(const sti_World *world, int shape, uint32_t groups)
{
    return (world->scene->shape[shape].groups & groups) != 0;
}

/* ---- rays ---------------------------------------------------------------------------------------- */

st_Status st_system_ray(st_System *system, st_Vec3 from, st_Vec3 direction, double length, uint32_t groups,
                        st_RayHit *out, st_Error *err)
{
    sti_World *world;
    *out = (st_RayHit){.distance = INFINITY};
    double size = norm(direction);
    if (!vec3_finite(from) || !isfinite(size) || !(size > 0) || !(length >= 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "a ray from (%g, %g, %g) along (%g, %g, %g) for %g m: must be finite, with a direction and a "
                        "length >= 0",
                        from.x, from.y, from.z, direction.x, direction.y, direction.z, length);
    STI_TRY(placed_world(system, &world, err));
    st_Vec3 way = scale(1 / size, direction);
    double limit = length;
    for (int k = 0; k < world->collider.n_shapes; k++) {
        double s;
        st_Vec3 normal;
        if (!is_seen(world, k, groups) ||
            !sti_ray_shape(&world->collider.shape[k], world->collider.pose[k], from, way, limit, &s, &normal))
            continue;
        if (out->shape.index1 != 0 && !(s < out->distance)) continue; /* equally far: the lower id */
        limit = s;
        *out = (st_RayHit){{k + 1}, body_of(world, k), s, add(from, scale(s, way)), normal};
    }
    return ST_OK;
}

/* ---- pairs --------------------------------------------------------------------------------------- */

/* The least gap of two placed shapes, if below `within`; normal and points from a to b. */
static st_Status least_gap(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, double within,
                           sti_Points *points, st_Closest *out, bool *found, st_Error *err)
{
    sti_Collide how = {.margin = within, .planar = -1};
    bool turned = !sti_collide_supports(a->type, b->type);
    points->n = 0;
    *found = false;
    STI_TRY(turned ? sti_collide(b, pose_b, a, pose_a, &how, points, err)
                   : sti_collide(a, pose_a, b, pose_b, &how, points, err));
    for (int k = 0; k < points->n; k++) {
        const sti_ContactPoint *p = &points->point[k];
        if (*found && !(p->gap < out->gap)) continue;
        *found = true;
        st_Vec3 first = sub(p->point, scale(p->gap, p->normal));
        *out = (st_Closest){.gap = p->gap, .point = first, .other = p->point, .normal = p->normal};
        if (turned) out->point = p->point, out->other = first, out->normal = scale(-1, p->normal);
    }
    return ST_OK;
}

static st_Status no_distance(const sti_Shape *a, const sti_Shape *b, st_Error *err)
{
    return sti_fail(err, ST_ERR_UNSUPPORTED, "a %s and a %s do not touch, so have no distance here",
                    st_shape_type_name(a->type), st_shape_type_name(b->type));
}

st_Status st_system_distance(st_System *system, st_ShapeId a, st_ShapeId b, st_Closest *out, st_Error *err)
{
    sti_World *world;
    STI_TRY(placed_world(system, &world, err));
    sti_Collider *c = &world->collider;
    int i = a.index1 - 1, j = b.index1 - 1;
    *out = (st_Closest){.gap = INFINITY};
    if (i < 0 || j < 0 || i >= c->n_shapes || j >= c->n_shapes || i == j)
        return sti_fail(err, ST_ERR_ARGUMENT, "distance of shapes %d and %d, must be two of 1 to %d", a.index1,
                        b.index1, c->n_shapes);
    if (!sti_collide_supports(c->shape[i].type, c->shape[j].type) &&
        !sti_collide_supports(c->shape[j].type, c->shape[i].type))
        return no_distance(&c->shape[i], &c->shape[j], err);
    bool found;
    STI_TRY(least_gap(&c->shape[i], c->pose[i], &c->shape[j], c->pose[j], INFINITY, &c->points, out, &found, err));
    out->shape = b;
    out->body = body_of(world, j);
    return found ? ST_OK : sti_fail(err, ST_ERR_NUMERIC, "shapes %d and %d have no distance", a.index1, b.index1);
}

/* ---- probes -------------------------------------------------------------------------------------- */

typedef st_Status Visit(void *ctx, const sti_World *world, int shape, const st_Closest *closest);

/* Every shape nearer to the probe than `within`, which visits may lower. */
static st_Status probe_all(st_System *system, const st_ShapeDef *def, st_Pose pose, double *within, uint32_t groups,
                           Visit *visit, void *ctx, st_Error *err)
{
    sti_World *world;
    sti_Shape probe;
    STI_CHECK_DEF(def, "st_sphere_def, st_box_def or another of the shapes", err);
    double length = quat_norm(pose.q);
    if (!vec3_finite(pose.p) || !(fabs(length - 1) <= 1e-3))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the probe's pose has position (%g, %g, %g) and a quaternion of length %g", pose.p.x, pose.p.y,
                        pose.p.z, length);
    pose.q = quat_unit(pose.q);
    STI_TRY(placed_world(system, &world, err));
    sti_Collider *c = &world->collider;
    st_Status status = sti_shape_compile(def, &world->allocator, &probe, err);
    sti_Bounds bounds = status == ST_OK ? sti_shape_bounds(&probe, pose) : (sti_Bounds){{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < c->n_shapes && status == ST_OK; k++) {
        sti_Bounds grown = bounds_grown(bounds, fmax(*within, 0));
        bool bounded = isfinite(c->shape[k].reach) && isfinite(probe.reach), found = false;
        st_Closest closest;
        if (!is_seen(world, k, groups) || (bounded && !bounds_overlap(&grown, &c->bounds[k]))) continue;
        status = least_gap(&probe, pose, &c->shape[k], c->pose[k], *within, &c->points, &closest, &found, err);
        if (status == ST_OK && found) status = visit(ctx, world, k, &closest);
    }
    sti_shape_free(&world->allocator, &probe);
    return status;
}

typedef struct List {
    st_ShapeId *out;
    int room, count;
} List;

static st_Status note_shape(void *ctx, const sti_World *world, int shape, const st_Closest *closest)
{
    (void)world, (void)closest;
    List *list = ctx;
    if (list->count < list->room && list->out != NULL) list->out[list->count] = (st_ShapeId){shape + 1};
    list->count++;
    return ST_OK;
}

st_Status st_system_overlaps(st_System *system, const st_ShapeDef *probe, st_Pose pose, uint32_t groups,
                             st_ShapeId *out, int room, int *count, st_Error *err)
{
    List list = {out, room, 0};
    double within = 0;
    STI_TRY(probe_all(system, probe, pose, &within, groups, note_shape, &list, err));
    *count = list.count;
    return ST_OK;
}

typedef struct Best {
    st_Closest *out;
    double *within;
} Best;

static st_Status note_closest(void *ctx, const sti_World *world, int shape, const st_Closest *closest)
{
    Best *best = ctx;
    *best->out = *closest;
    best->out->shape = (st_ShapeId){shape + 1};
    best->out->body = body_of(world, shape);
    *best->within = closest->gap; /* only nearer ones from now on */
    return ST_OK;
}

st_Status st_system_closest(st_System *system, const st_ShapeDef *probe, st_Pose pose, double within, uint32_t groups,
                            st_Closest *out, st_Error *err)
{
    *out = (st_Closest){.gap = INFINITY};
    Best best = {out, &within};
    return probe_all(system, probe, pose, &within, groups, note_closest, &best, err);
}
