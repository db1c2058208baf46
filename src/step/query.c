/* step/query.c -- rays, overlaps and distances at the current state of a system. */
#include "collide/ray.h"
#include "step/on_device.h"
#include "step/step.h"

#include <stdlib.h>
#include <stiction/query.h>

/* The world with its shapes at the poses of the state, and the tree of the broad phase around them. A second query of
 * the same state finds them in place: every change of the state evaluates contacts and so places the shapes again.
 * (Without possible contacts it does not.) */
static st_Status placed_world(const sti_Model *model, const sti_State *state, sti_World **world, st_Error *err)
{
    *world = model->world;
    if (!model->rigid) return sti_fail(err, ST_ERR_UNSUPPORTED, "a system of your own model has no shapes");
    sti_Collider *c = &model->world->collider;
    if (c->asked && model->table.contacts != NULL) return ST_OK;
    STI_TRY(sti_collider_place(model->world, state->q, err));
    /* with the present margin: the boxes stay valid for the next step */
    STI_TRY(sti_pairs_update(&c->pairs, c->bounds, c->pose, c->pairs.started ? c->pairs.margin : 0,
                             model->world->awake_shape, model->world->n_awake_shapes, err));
    c->asked = true;
    return ST_OK;
}

static st_BodyId owner_of(const sti_World *world, int shape)
{
    return (st_BodyId){world->scene->shape_body[shape]};
}

static bool is_seen(const sti_World *world, int shape, uint32_t groups)
{
    return (sti_shape_def(world->scene, shape)->groups & groups) != 0 &&
           !sti_is_absent(world, world->scene->shape_body[shape]);
}

/* ---- rays ---------------------------------------------------------------------------------------- */

typedef struct Cast {
    const sti_World *world;
    st_Vec3 from, way;
    double gone; /* length of the ray before `from` */
    uint32_t groups;
    double limit; /* from `from` on */
    st_RayHit *hit;
} Cast;

/* Equally far: the lower id, in whatever order they are met. */
static bool cast_at(void *ctx, int shape)
{
    Cast *cast = ctx;
    const sti_World *world = cast->world;
    double s;
    st_Vec3 normal;
    if (!is_seen(world, shape, cast->groups) ||
        !sti_ray_shape(sti_shape_of(&world->collider, shape), world->collider.pose[shape], cast->from, cast->way,
                       cast->limit, &s, &normal))
        return true;
    st_RayHit *hit = cast->hit;
    const double distance = cast->gone + s;
    if (hit->shape.index1 != 0 &&
        (distance > hit->distance || (distance == hit->distance && shape + 1 > hit->shape.index1)))
        return true;
    cast->limit = s;
    *hit = (st_RayHit){{shape + 1}, owner_of(world, shape), distance, vec3(0, 0, 0), normal};
    return true;
}

/* Pieces of a ray in a periodic cell, each no longer than the cell along any of its axes. An infinite ray that hits
 * nothing stops after this many. */
enum { MOST_PIECES = 1000 };

st_Status sti_rays(const sti_Model *model, const sti_State *state, const st_Ray *rays, int n, uint32_t groups,
                   st_RayHit *out, st_Error *err)
{
    sti_World *world;
    STI_TRY(placed_world(model, state, &world, err));
    for (int k = 0; k < n; k++) {
        const st_Ray *ray = &rays[k];
        st_RayHit *hit = &out[k];
        st_Vec3 from = ray->from, direction = ray->direction;
        double size = norm(direction);
        *hit = (st_RayHit){.distance = INFINITY};
        if (!vec3_finite(from) || !isfinite(size) || !(size > 0) || !(ray->length >= 0))
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "a ray from (%g, %g, %g) along (%g, %g, %g) for %g m: must be finite, with a direction and a "
                "length >= 0",
                from.x, from.y, from.z, direction.x, direction.y, direction.z, ray->length);
        Cast cast = {world, from, scale(1 / size, direction), 0, groups, ray->length, hit};
        const sti_Pairs *pairs = &world->collider.pairs;
        for (int i = 0; i < pairs->n_planes; i++)
            (void)cast_at(&cast, pairs->plane[i].shape);
        if (!world->scene->cell.repeats) {
            sti_tree_ray(&pairs->tree, from, cast.way, &cast.limit, cast_at, &cast);
        } else {
            const sti_Cell *cell = &world->scene->cell;
            const st_Vec3 way = cast.way;
            const double along[3] = {way.x, way.y, way.z};
            double piece = INFINITY;
            int reach[3];
            for (int e = 0; e < 3; e++) {
                reach[e] = cell->length[e] > 0 ? 2 : 0;
                if (cell->length[e] > 0 && along[e] != 0) piece = fmin(piece, cell->length[e] / fabs(along[e]));
            }
            for (int turn = 0; turn < MOST_PIECES && (turn == 0 || turn * piece < fmin(ray->length, hit->distance));
                 turn++) {
                cast.gone = turn == 0 ? 0 : turn * piece;
                const st_Vec3 start = cell_image(cell, add(from, scale(cast.gone, way)));
                /* A little longer than the piece: a surface at its very end is not lost to rounding. */
                cast.limit = fmin(fmin(piece * (1 + 1e-9), ray->length - cast.gone), hit->distance - cast.gone);
                for (int x = -reach[0]; x <= reach[0]; x++)
                    for (int y = -reach[1]; y <= reach[1]; y++)
                        for (int z = -reach[2]; z <= reach[2]; z++) {
                            cast.from = add(start, vec3(x * cell->length[0], y * cell->length[1], z * cell->length[2]));
                            sti_tree_ray(&pairs->tree, cast.from, way, &cast.limit, cast_at, &cast);
                        }
            }
        }
        if (hit->shape.index1 != 0) hit->point = add(from, scale(hit->distance, cast.way));
    }
    return ST_OK;
}

st_Status st_system_rays(st_System *system, const st_Ray *rays, int n, uint32_t groups, st_RayHit *out, st_Error *err)
{
    STI_NEED(system, err);
    if (n < 0 || (n > 0 && (rays == NULL || out == NULL)))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_rays: %d rays, must be given with room for as many answers",
                        n);
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    return sti_rays(&system->model, &system->state, rays, n, groups, out, err);
}

st_Status st_system_ray(st_System *system, st_Vec3 from, st_Vec3 direction, double length, uint32_t groups,
                        st_RayHit *out, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(out, err);
    st_Ray ray = {from, direction, length};
    *out = (st_RayHit){.distance = INFINITY};
    return st_system_rays(system, &ray, 1, groups, out, err);
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

st_Status st_system_distance(st_System *system, st_ShapeId a, st_ShapeId b, st_Closest *out, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(out, err);
    sti_World *world;
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    STI_TRY(placed_world(&system->model, &system->state, &world, err));
    sti_Collider *c = &world->collider;
    const int i = sti_shape_now(world->scene, a).index1 - 1, j = sti_shape_now(world->scene, b).index1 - 1;
    *out = (st_Closest){.gap = INFINITY};
    if (i < 0 || j < 0 || i >= c->n_shapes || j >= c->n_shapes || i == j)
        return sti_fail(err, ST_ERR_ARGUMENT, "distance of shapes %d and %d, must be two of 1 to %d", a.index1,
                        b.index1, c->n_shapes);
    if (!sti_collide_supports(sti_shape_of(c, i)->type, sti_shape_of(c, j)->type) &&
        !sti_collide_supports(sti_shape_of(c, j)->type, sti_shape_of(c, i)->type))
        return sti_fail(err, ST_ERR_UNSUPPORTED, "a %s and a %s do not touch, so have no distance here",
                        st_shape_type_name(sti_shape_of(c, i)->type), st_shape_type_name(sti_shape_of(c, j)->type));
    bool found;
    st_Pose pose = c->pose[j];
    if (world->scene->cell.repeats) pose.p = add(pose.p, sti_cell_image_of(world, i, j));
    STI_TRY(
        least_gap(sti_shape_of(c, i), c->pose[i], sti_shape_of(c, j), pose, INFINITY, &c->points, out, &found, err));
    out->shape = b;
    out->body = owner_of(world, j);
    return found ? ST_OK : sti_fail(err, ST_ERR_NUMERIC, "shapes %d and %d have no distance", a.index1, b.index1);
}

/* ---- probes -------------------------------------------------------------------------------------- */

/* A shape that is not part of the scene, its pose, and the shapes near it. */
typedef struct Probe {
    sti_World *world;
    sti_Shape shape;
    st_Pose pose;
    st_Vec3 image; /* from there to the image of it that is looked at, in a periodic cell          */
    uint32_t groups;
    double within; /* overlaps: 0; closest: the gap of the nearest so far                          */
    bool in_tree;  /* where planes have places, too: they have been seen before                    */
    st_Closest *closest;
    int *list; /* overlaps                                                                         */
    int n_list;
    int64_t list_capacity;
    st_Status status;
    st_Error *err;
} Probe;

static st_Status place_probe(const sti_Model *model, const sti_State *state, const st_ShapeDef *def, st_Pose pose,
                             uint32_t groups, double within, Probe *probe, st_Error *err)
{
    *probe = (Probe){.groups = groups, .within = within, .err = err};
    STI_CHECK_DEF(def, "st_sphere_def, st_box_def or another of the shapes", err);
    double length = quat_norm(pose.q);
    if (!vec3_finite(pose.p) || !(fabs(length - 1) <= 1e-3))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the probe's pose has position (%g, %g, %g) and a quaternion of length %g", pose.p.x, pose.p.y,
                        pose.p.z, length);
    probe->pose = (st_Pose){pose.p, quat_unit(pose.q)};
    STI_TRY(placed_world(model, state, &probe->world, err));
    return sti_shape_compile(def, &probe->world->allocator, &probe->shape, err);
}

static bool gap_to(Probe *probe, int shape, double within, st_Closest *closest)
{
    sti_Collider *c = &probe->world->collider;
    bool found = false;
    if (probe->in_tree && c->pairs.extent[shape] == STI_EXTENT_PLANE) return false;
    if (!is_seen(probe->world, shape, probe->groups)) return false;
    const st_Pose pose = {add(probe->pose.p, probe->image), probe->pose.q};
    probe->status = least_gap(&probe->shape, pose, sti_shape_of(c, shape), c->pose[shape], within, &c->points, closest,
                              &found, probe->err);
    closest->point = sub(closest->point, probe->image);
    closest->other = sub(closest->other, probe->image);
    return found && probe->status == ST_OK;
}

static bool note_overlap(void *ctx, int shape)
{
    Probe *probe = ctx;
    st_Closest closest;
    if (!gap_to(probe, shape, 0, &closest)) return probe->status == ST_OK;
    probe->status =
        STI_GROW(&probe->world->allocator, probe->list, probe->list_capacity, probe->n_list + 1, probe->err);
    if (probe->status == ST_OK) probe->list[probe->n_list++] = shape;
    return probe->status == ST_OK;
}

/* Equally near: the lower id, so shapes as near as the best are looked at, too. */
static bool note_closest(void *ctx, int shape)
{
    Probe *probe = ctx;
    st_Closest closest, *best = probe->closest;
    bool any = best->shape.index1 != 0;
    if (!gap_to(probe, shape, any ? nextafter(probe->within, INFINITY) : probe->within, &closest))
        return probe->status == ST_OK;
    if (any && closest.gap == best->gap && shape + 1 > best->shape.index1) return true;
    closest.shape = (st_ShapeId){shape + 1};
    closest.body = owner_of(probe->world, shape);
    *best = closest;
    probe->within = closest.gap; /* only nearer ones from now on */
    return true;
}

/* Everything near the probe; a plane is near everything. */
static st_Status visit_near(Probe *probe, sti_TreeVisit *visit)
{
    const sti_Collider *c = &probe->world->collider;
    const sti_Pairs *pairs = &c->pairs;
    for (int k = 0; k < pairs->n_planes && probe->status == ST_OK; k++)
        (void)visit(probe, pairs->plane[k].shape);
    if (probe->status != ST_OK) return probe->status;
    const sti_Cell *cell = &probe->world->scene->cell;
    const st_Vec3 home = cell_shift(cell, probe->pose.p);
    probe->in_tree = true;
    for (int image = 0; image < (cell->repeats ? 27 : 1) && probe->status == ST_OK; image++) {
        const int step[3] = {(image + 1) % 3 - 1, (image / 3 + 1) % 3 - 1, (image / 9 + 1) % 3 - 1};
        if ((step[0] != 0 && !(cell->length[0] > 0)) || (step[1] != 0 && !(cell->length[1] > 0)) ||
            (step[2] != 0 && !(cell->length[2] > 0)))
            continue;
        probe->image = add(home, vec3(step[0] * cell->length[0], step[1] * cell->length[1], step[2] * cell->length[2]));
        const st_Pose pose = {add(probe->pose.p, probe->image), probe->pose.q};
        sti_Bounds bounds = sti_shape_bounds(&probe->shape, pose);
        if (!isfinite(probe->shape.reach)) bounds = bounds_grown((sti_Bounds){{0, 0, 0}, {0, 0, 0}}, INFINITY);
        sti_tree_near(&pairs->tree, &bounds, &probe->within, visit, probe);
    }
    return probe->status;
}

static int by_shape(const void *x, const void *y)
{
    int a = *(const int *)x, b = *(const int *)y;
    return a < b ? -1 : a > b;
}

st_Status sti_find_overlaps(const sti_Model *model, const sti_State *state, const st_ShapeDef *def, st_Pose pose,
                            uint32_t groups, st_ShapeId *out, int room, int *count, st_Error *err)
{
    Probe probe;
    STI_TRY(place_probe(model, state, def, pose, groups, 0, &probe, err));
    st_Status status = visit_near(&probe, note_overlap);
    if (probe.n_list > 1) qsort(probe.list, (size_t)probe.n_list, sizeof *probe.list, by_shape);
    int n = 0;
    for (int k = 0; k < probe.n_list; k++) /* a wall through a periodic cell is met by several images */
        if (n == 0 || probe.list[k] != probe.list[n - 1]) probe.list[n++] = probe.list[k];
    probe.n_list = n;
    for (int k = 0; status == ST_OK && out != NULL && k < probe.n_list && k < room; k++)
        out[k] = (st_ShapeId){probe.list[k] + 1};
    if (status == ST_OK) *count = probe.n_list;
    STI_RELEASE(&probe.world->allocator, probe.list, probe.list_capacity);
    sti_shape_free(&probe.world->allocator, &probe.shape);
    return status;
}

st_Status st_system_overlaps(st_System *system, const st_ShapeDef *def, st_Pose pose, uint32_t groups, st_ShapeId *out,
                             int room, int *count, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(count, err);
    if (room < 0 || (room > 0 && out == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_overlaps: room for %d ids%s", room,
                        room < 0 ? ", must be >= 0" : ", but none is given");
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    return sti_find_overlaps(&system->model, &system->state, def, pose, groups, out, room, count, err);
}

st_Status st_system_closest(st_System *system, const st_ShapeDef *def, st_Pose pose, double within, uint32_t groups,
                            st_Closest *out, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(out, err);
    Probe probe;
    *out = (st_Closest){.gap = INFINITY};
    if (isnan(within))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_closest: within is %g, must be a number", within);
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    STI_TRY(place_probe(&system->model, &system->state, def, pose, groups, within, &probe, err));
    probe.closest = out;
    st_Status status = visit_near(&probe, note_closest);
    sti_shape_free(&probe.world->allocator, &probe.shape);
    return status;
}
