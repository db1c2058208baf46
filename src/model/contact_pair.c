/* model/contact_pair.c -- one pair of shapes: is it near, where does it touch, and what is kept of that. */
#include "model/contact.h"

#include "collide/narrow/ball.h"

/* ---- in the plane -------------------------------------------------------------------------------- */

/* The world axis across which both bodies move; -1: they move in space. */
static int common_plane(const sti_Body *a, const sti_Body *b)
{
    unsigned common = a->planar & b->planar;
    return (common & 1u) != 0 ? 0 : (common & 2u) != 0 ? 1 : (common & 4u) != 0 ? 2 : -1;
}

/* In the plane the points of a face stand one behind the other: keep the first of each. */
static void merge_across(sti_Points *points, int axis)
{
    double size = 0;
    int n = 0;
    st_Vec3 e = vec3_axis(axis);
    for (int k = 0; k < points->n; k++)
        size = fmax(size, norm(sub(points->point[k].point, points->point[0].point)));
    for (int k = 0; k < points->n; k++) {
        bool seen = false;
        for (int j = 0; j < n && !seen; j++) {
            st_Vec3 d = sub(points->point[k].point, points->point[j].point);
            d = sub(d, scale(dot(d, e), e));
            seen = norm(d) <= 1e-9 * size && norm(sub(points->point[k].normal, points->point[j].normal)) <= 1e-9;
        }
        if (!seen) points->point[n++] = points->point[k];
    }
    points->n = n;
}

/* Where a point stands across the plane is all one to the motion: halfway where both shapes are, for the eye. */
static void centre_across(const sti_ContactTask *task, sti_Points *points)
{
    const sti_Collider *c = &task->world->collider;
    const sti_Bounds *a = &c->bounds[task->pair.i], *b = &c->bounds[task->pair.j];
    st_Vec3 e = vec3_axis(task->how.planar);
    double lo = dot(e, b->lo), hi = dot(e, b->hi);
    if (c->class[task->pair.i] != STI_CLASS_PLANE) {
        lo = fmax(lo, dot(e, a->lo));
        hi = fmin(hi, dot(e, a->hi));
    }
    double middle = 0.5 * (lo + hi);
    for (int k = 0; k < points->n && isfinite(middle); k++)
        points->point[k].point = add(points->point[k].point, scale(middle - dot(e, points->point[k].point), e));
}

/* ---- is it near? --------------------------------------------------------------------------------- */

/* Can a plane and a box be nearer than the margin? */
static bool plane_is_near(const sti_ContactTask *task, int plane, int other, double margin)
{
    const sti_Collider *c = &task->world->collider;
    const sti_Bounds *b = &c->bounds[other];
    st_Vec3 n = task->plane_normal;
    st_Vec3 lowest = bounds_lowest(b, n);
    return dot(n, sub(lowest, c->pose[plane].p)) < margin;
}

/* Are two shapes, whose balls are near, near enough to be looked at? */
static bool is_near(const sti_ContactTask *task, sti_Pair pair)
{
    const sti_Collider *c = &task->world->collider;
    double margin = fmax(task->how.margin, 0);
    if (c->class[pair.i] == STI_CLASS_PLANE) return plane_is_near(task, pair.i, pair.j, margin);
    sti_Bounds grown = bounds_grown(c->bounds[pair.i], margin);
    return bounds_overlap(&grown, &c->bounds[pair.j]);
}

/* Shapes with formulas: their one point, if it is near. */
static bool meet_ball(const sti_ContactTask *task, sti_ContactPoint *point)
{
    const sti_Collider *c = &task->world->collider;
    int i = task->pair.i, j = task->pair.j;
    if (c->class[i] == STI_CLASS_PLANE)
        return plane_ball(task->plane_normal, c->pose[i].p, c->ball[j].centre, c->ball[j].radius, &task->how, point);
    return ball_ball(c->ball[i].centre, c->ball[i].radius, c->ball[j].centre, c->ball[j].radius, &task->how, point);
}

/* What two bodies have moved together, with room for its rounding on either side. */
#define PATH_ROUNDING 1e-9

/* Were they so far apart that, whatever way they have gone since, they are still beyond the margin? */
static bool is_clear(const sti_ContactTask *task, const sti_Pair *pair)
{
    const double *path = task->world->collider.path;
    return (path[task->a] + path[task->b]) * (1 + PATH_ROUNDING) + sti_larger(task->how.margin, 0) < pair->clear;
}

static void keep_clear(const sti_ContactTask *task, double apart, sti_Pair *pair)
{
    const double *path = task->world->collider.path;
    pair->clear = apart > 0 ? (path[task->a] + path[task->b] + apart) * (1 - PATH_ROUNDING) : 0;
}

/* ---- its points ---------------------------------------------------------------------------------- */

/* Of another pair nothing is known yet. */
static void begin_pair(sti_ContactTask *task)
{
    task->surface = NULL;
    task->foreseen = task->framed = false;
}

static st_Status push_points(sti_ContactTask *task, sti_Pair *at)
{
    const sti_Collider *c = &task->world->collider;
    int i = task->pair.i, j = task->pair.j;
    const st_Scene *scene = task->world->scene;
    double apart = 0;
    task->points->n = 0;
    task->how.hint = &at->hint;
    task->how.apart = &apart;
    sti_ContactCacheEntry *entry =
        at->cache_slot == 0 || task->how.planar >= 0 ? NULL : sti_contact_cache_find(c, at, task->a, task->b);
    const double room = entry != NULL ? entry->patch.room : 0;
    task->how.cached = entry != NULL ? &entry->patch : NULL;
    task->how.core_a = c->core_of[i] >= 0 ? &c->core[c->core_of[i]] : NULL;
    task->how.core_b = c->core_of[j] >= 0 ? &c->core[c->core_of[j]] : NULL;
    st_Status status = sti_collide(sti_shape_of(c, i), c->pose[i], sti_shape_of(c, j), c->pose[j], &task->how,
                                   task->points, task->err);
    task->how.apart = NULL;
    if (status != ST_OK) {
        st_Error why = task->err != NULL ? *task->err : (st_Error){0};
        return sti_fail(task->err, status, "shapes %s and %s: %.300s", sti_shape_label(scene, i).text,
                        sti_shape_label(scene, j).text, why.message);
    }
    keep_clear(task, apart, at);
    if (entry != NULL && entry->patch.room > 0 && entry->patch.room != room)
        sti_contact_cache_store(c, entry, task->a, task->b);
    if (task->how.planar >= 0) {
        merge_across(task->points, task->how.planar);
        centre_across(task, task->points);
    }
    begin_pair(task);
    for (int p = 0; p < task->points->n; p++)
        STI_TRY(sti_contact_push_point(task, &task->points->point[p]));
    return ST_OK;
}

st_Status sti_contact_push_pair(sti_ContactTask *task, sti_Pair *at)
{
    sti_Pair pair = *at;
    const sti_World *world = task->world;
    const sti_Collider *c = &world->collider;
    const int *owner = world->scene->shape_body;
    task->pair = pair;
    task->a = owner[pair.i], task->b = owner[pair.j];
    if (sti_stays(world, task->a) && sti_stays(world, task->b)) return ST_OK;
    task->how.margin = task->margin + c->travel[task->a] + c->travel[task->b];
    task->how.planar = common_plane(&world->body[task->a], &world->body[task->b]);
    if (c->class[pair.i] == STI_CLASS_PLANE && task->plane != pair.i) {
        task->plane = pair.i;
        task->plane_normal = rotate(c->pose[pair.i].q, vec3(0, 0, 1));
    }
    if (c->class[pair.i] == STI_CLASS_OTHER || c->class[pair.j] != STI_CLASS_BALL)
        return is_clear(task, at) || !is_near(task, pair) ? ST_OK : push_points(task, at);
    sti_ContactPoint point;
    if (!meet_ball(task, &point)) return ST_OK;
    begin_pair(task);
    return sti_contact_push_point(task, &point);
}
