/* model/contact.c -- from pairs of shapes to contact rows on the free velocities.
 *
 * The contact frame is (n, t1, t2), normal from body a to body b. Where both bodies move across one
 * world axis e only (a planar scene), the contact has one tangent, e x n, and a block of size 2. With levers
 * l_a, l_b from the centres to the point, the rate along a direction d of the frame is
 *
 *     u = d . (v_b - v_a) + (l_b x d) . w_b - (l_a x d) . w_a,     w = R w_body,    R'(l x d) = R'l x R'd.
 *
 * A pile makes millions of these a second: they are written where they will stand.
 */
#include "collide/ball.h"
#include "math/parallel.h"
#include "model/sink.h"
#include "model/world.h"

/* What is the same for all pairs, and what was looked up for the pair at hand. */
typedef struct Task {
    sti_World *world;
    st_Sink *sink;
    st_Error *err;
    sti_Points *points; /* of the pair at hand                                                     */
    sti_Collide how;
    sti_Pair pair;
    int a, b; /* its bodies                                                                        */
    sti_Surface own;
    const sti_Surface *surface; /* in the table, or `own`; NULL: not looked up yet                 */
    int count;                  /* velocities of both bodies                                       */
    uint64_t id;                /* of the pair's contacts, but for the feature                     */
    bool slides;                /* there is friction, whatever the point                           */
    st_Vec3 normal;             /* of the last point, which the next of a patch shares. What is known of it:  */
    bool foreseen, framed;
    double closing; /* how fast the pair closes along it                                               */
    int dim;        /* the frame                                                                       */
    st_Vec3 tangent;
    int plane; /* the last plane that was met, -1: none; its normal                                */
    st_Vec3 plane_normal;
    double margin; /* how.margin is this and the ways that the bodies of the pair are expected to go */
} Task;

/* Of numbers: no call, as fmax would be. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* How fast a contact along n may close: bodies go on as foreseen, or one of them does and the other is stopped, or
 * one is thrown aside: in a collapsing pile at half its speed, hardly ever faster.                */
static double closing_speed(const Task *task, st_Vec3 n)
{
    const sti_World *world = task->world;
    const sti_Foresight *ahead = &world->collider.ahead;
    double fastest = 0;
    for (int k = 0; ahead->h > 0 && k < 2 && ahead->v[k] != NULL; k++) {
        st_Vec3 v_a, v_b, w_a, w_b;
        sti_body_velocity(&world->body[task->a], ahead->v[k], &v_a, &w_a);
        sti_body_velocity(&world->body[task->b], ahead->v[k], &v_b, &w_b);
        double a = dot(v_a, n), b = dot(v_b, n), aside = 0.5 * sqrt(larger(dot(v_a, v_a), dot(v_b, v_b)));
        double turning = sti_turning_speed(world, task->a, w_a) + sti_turning_speed(world, task->b, w_b);
        fastest = larger(fastest, turning + larger(larger(a, -b), larger(a - b, aside)));
    }
    return fastest;
}

static bool same_vector(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Points of a patch have one normal: what is known of it is found once. */
static void take_normal(Task *task, st_Vec3 n)
{
    if ((task->foreseen || task->framed) && same_vector(n, task->normal)) return;
    task->normal = n;
    task->foreseen = task->framed = false;
}

/* Is a point within the margin, or foreseen to be? */
static bool matters(Task *task, const sti_ContactPoint *point, double *closing)
{
    *closing = 0;
    if (point->gap < task->margin) return true;
    if (!task->foreseen) task->closing = closing_speed(task, task->normal);
    task->foreseen = true;
    *closing = task->closing;
    return point->gap < task->margin + task->world->collider.ahead.h * *closing;
}

/* ---- one point ----------------------------------------------------------------------------------- */

/* The world axis across which both bodies move, orthogonal to the normal; -1: a contact in space. */
static int planar_axis(const sti_Body *a, const sti_Body *b, st_Vec3 n)
{
    const double components[3] = {n.x, n.y, n.z};
    unsigned common = a->planar & b->planar;
    for (int e = 0; e < 3; e++)
        if ((common >> e & 1u) != 0 && fabs(components[e]) < 1e-9) return e;
    return -1;
}

static void make_frame(Task *task)
{
    const st_Vec3 n = task->normal;
    int e = task->how.planar >= 0 ? planar_axis(&task->world->body[task->a], &task->world->body[task->b], n) : -1;
    task->dim = task->surface->mu == 0 ? 1 : (e >= 0 ? 2 : 3);
    task->tangent = e >= 0 ? cross(vec3_axis(e), n) : orthogonal(n);
    task->framed = true;
}

/* The rows of a contact on body a (side 0) or b, one every `stride` numbers: `dim` rates along the normal and the
 * tangents, and if it `turns`, three about them.                                                  */
static void put_side(const sti_World *world, const sti_ContactEntry *entry, int side, int dim, bool turns, int stride,
                     double *row)
{
    const sti_Collider *c = &world->collider;
    const int body = side == 0 ? entry->a : entry->b;
    const sti_Body *of = &world->body[body];
    const st_Mat3 *axes = &c->axes[body];
    const st_Vec3 direction[3] = {entry->normal, entry->tangent, cross(entry->normal, entry->tangent)};
    if (of->n_dofs == 0) return;
    double sign = side == 0 ? -1 : 1;
    st_Vec3 arm = scale(sign, mat3_mul_back(axes, sub(entry->point, c->body_pose[body].p)));
    for (int k = 0; k < dim; k++, row += stride)
        sti_put_half(of, scale(sign, direction[k]), cross(arm, mat3_mul_back(axes, direction[k])), row);
    for (int k = 0; turns && k < 3; k++, row += stride)
        sti_put_half(of, vec3(0, 0, 0), scale(sign, mat3_mul_back(axes, direction[k])), row);
}

/* Of both, one row behind the other, each with `count` numbers. */
static void put_rows(const sti_World *world, const sti_ContactEntry *entry, int count, int dim, bool turns, double *x)
{
    put_side(world, entry, 0, dim, turns, count, x);
    put_side(world, entry, 1, dim, turns, count, x + world->body[entry->a].n_dofs);
}

/* Can nothing move along the tangents, up to rounding (a one-dimensional scene)? Then there is no friction to speak of.
 */
static bool nothing_slides(const Task *task, const sti_ContactEntry *entry)
{
    const int dim = entry->dim;
    double x[3 * 12], along = 0, across = 0;
    if (dim == 1) return false;
    put_rows(task->world, entry, task->count, dim, false, x);
    for (int k = 0; k < task->count; k++)
        along = fmax(along, fabs(x[k]));
    for (int k = task->count; k < dim * task->count; k++)
        across = fmax(across, fabs(x[k]));
    return across <= 1e-12 * along;
}

/* Levers overflow only for bodies that are lost in space. */
static bool is_found(const Task *task, const sti_ContactPoint *point)
{
    const st_Pose *pose = task->world->collider.body_pose;
    const st_Vec3 a = sub(point->point, pose[task->a].p), b = sub(point->point, pose[task->b].p);
    return isfinite(point->gap + dot(a, a) + dot(b, b));
}

static st_Status fail_lost(const Task *task, const sti_ContactPoint *point)
{
    const st_Scene *scene = task->world->scene;
    return sti_fail(task->err, ST_ERR_NUMERIC, "shapes %s and %s touch at (%g, %g, %g) with a gap of %g",
                    sti_shape_label(scene, task->pair.i).text, sti_shape_label(scene, task->pair.j).text,
                    point->point.x, point->point.y, point->point.z, point->gap);
}

static int list_velocities(const sti_Body *body, int count, int *index)
{
    for (int k = 0; k < body->n_dofs; k++)
        index[count++] = body->v_first + k;
    return count;
}

/* Of another pair nothing is known yet. */
static void begin_pair(Task *task)
{
    task->surface = NULL;
    task->foreseen = task->framed = false;
}

/* What the points of the pair have in common, where there are any. */
static void begin_points(Task *task)
{
    const sti_World *world = task->world;
    const sti_Body *a = &world->body[task->a], *b = &world->body[task->b];
    const sti_Surface *surface =
        sti_surface_of(world->scene, &world->collider.surfaces, task->pair.i, task->pair.j, &task->own);
    task->surface = surface;
    task->count = a->n_dofs + b->n_dofs;
    task->id = sti_contact_id(task->pair.i, task->pair.j, 0);
    /* who moves freely can slide; and where turning is opposed there is friction in any case */
    task->slides = a->n_dofs == 6 || b->n_dofs == 6 || surface->rolling > 0 || surface->spinning > 0;
}

/* Number by number: a copy of a record would wait for those that were just written into it. */
static void write_contact(const Task *task, const sti_ContactPoint *point, double closing, sti_ContactEntry *to)
{
    to->id = task->id | point->feature;
    to->gap = point->gap;
    to->closing = closing;
    to->surface = task->surface;
    to->first_row = -1;
    to->a = task->a;
    to->b = task->b;
    to->shape_a = task->pair.i + 1;
    to->shape_b = task->pair.j + 1;
    to->dim = (uint8_t)task->dim;
    to->turns = to->kept = false;
    to->point = point->point;
    to->normal = task->normal;
    to->tangent = task->tangent;
}

/* Written where it will stand: there are many. */
static st_Status push_point(Task *task, const sti_ContactPoint *point)
{
    double closing, *gradient = NULL;
    st_Sink *sink = task->sink;
    take_normal(task, point->normal);
    if (!matters(task, point, &closing)) return ST_OK;
    if (task->surface == NULL) begin_points(task);
    const sti_Surface *surface = task->surface;
    if (!is_found(task, point)) return fail_lost(task, point);
    if (!task->framed) make_frame(task);
    const bool later = sink->rows_later && !surface->turns;
    sti_ContactEntry *entry = &sink->contact[sink->n_contacts];
    if (!later || sink->n_contacts == sink->contact_capacity)
        STI_TRY(sti_sink_room(sink, later ? 0 : 6, task->count, &entry, &gradient, task->err));
    write_contact(task, point, closing, entry);
    if (surface == &task->own) STI_TRY(sti_sink_keep_surface(sink, entry, surface, task->err));
    if (!task->slides && nothing_slides(task, entry)) entry->dim = 1;
    if (later) {
        sink->n_contacts++;
        return ST_OK;
    }
    put_rows(task->world, entry, task->count, entry->dim, surface->turns, gradient);
    int index[12];
    list_velocities(&task->world->body[task->b], list_velocities(&task->world->body[task->a], 0, index), index);
    sti_sink_add_contact(sink, entry->dim + (surface->turns ? 3 : 0), task->count, index);
    return ST_OK;
}

/* ---- one pair ------------------------------------------------------------------------------------ */

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
static void centre_across(const Task *task, sti_Points *points)
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

/* Can a plane and a box be nearer than the margin? */
static bool plane_is_near(const Task *task, int plane, int other, double margin)
{
    const sti_Collider *c = &task->world->collider;
    const sti_Bounds *b = &c->bounds[other];
    st_Vec3 n = task->plane_normal;
    st_Vec3 lowest = bounds_lowest(b, n);
    return dot(n, sub(lowest, c->pose[plane].p)) < margin;
}

/* Are two shapes, whose balls are near, near enough to be looked at? */
static bool is_near(const Task *task, sti_Pair pair)
{
    const sti_Collider *c = &task->world->collider;
    double margin = fmax(task->how.margin, 0);
    if (c->class[pair.i] == STI_CLASS_PLANE) return plane_is_near(task, pair.i, pair.j, margin);
    sti_Bounds grown = bounds_grown(c->bounds[pair.i], margin);
    return bounds_overlap(&grown, &c->bounds[pair.j]);
}

/* Shapes with formulas: their one point, if it is near. */
static bool meet_ball(const Task *task, sti_ContactPoint *point)
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
static bool is_clear(const Task *task, const sti_Pair *pair)
{
    const double *path = task->world->collider.path;
    return (path[task->a] + path[task->b]) * (1 + PATH_ROUNDING) + larger(task->how.margin, 0) < pair->clear;
}

static void keep_clear(const Task *task, double apart, sti_Pair *pair)
{
    const double *path = task->world->collider.path;
    pair->clear = apart > 0 ? (path[task->a] + path[task->b] + apart) * (1 - PATH_ROUNDING) : 0;
}

/* A shape turns by 1.5 of its body's way over its size at most (kept.c); the rest is for rounding. */
#define ROOM_OF_WAY 0.6

/* The patch was made for a room, of which something has been used: how far the bodies may go from here? */
static void keep_until(const Task *task, double used, sti_KeptPatch *patch)
{
    const double *path = task->world->collider.path, gone = path[task->a] + path[task->b];
    patch->until = gone + ROOM_OF_WAY * patch->kept.room - used - 1e-15 * gone;
}

/* The pair's place for a patch, empty where its bodies have gone beyond what it has room for. Ways are longer than what
 * comes of them: bodies at rest tremble.                                                           */
static sti_KeptPatch *kept_patch(const Task *task, const sti_Pair *pair)
{
    const sti_Collider *c = &task->world->collider;
    const int a = task->a, b = task->b;
    if (pair->kept == 0 || task->how.planar >= 0) return NULL;
    sti_KeptPatch *patch = &c->kept[pair->kept - 1];
    if (!(patch->kept.room > 0) || c->path[a] + c->path[b] < patch->until) return patch;
    keep_until(task,
               sti_way_between(&patch->pose[0], &c->body_pose[a], c->body_reach[a]) +
                   sti_way_between(&patch->pose[1], &c->body_pose[b], c->body_reach[b]),
               patch);
    if (!(c->path[a] + c->path[b] < patch->until)) patch->kept.room = 0;
    return patch;
}

static void keep_patch(const Task *task, sti_KeptPatch *patch)
{
    const st_Pose *pose = task->world->collider.body_pose;
    patch->pose[0] = pose[task->a], patch->pose[1] = pose[task->b];
    keep_until(task, 0, patch);
}

static st_Status push_points(Task *task, sti_Pair *at)
{
    const sti_Collider *c = &task->world->collider;
    int i = task->pair.i, j = task->pair.j;
    const st_Scene *scene = task->world->scene;
    double apart = 0;
    task->points->n = 0;
    task->how.hint = &at->hint;
    task->how.apart = &apart;
    sti_KeptPatch *patch = kept_patch(task, at);
    const double room = patch != NULL ? patch->kept.room : 0;
    task->how.kept = patch != NULL ? &patch->kept : NULL;
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
    if (patch != NULL && patch->kept.room > 0 && patch->kept.room != room) keep_patch(task, patch);
    if (task->how.planar >= 0) {
        merge_across(task->points, task->how.planar);
        centre_across(task, task->points);
    }
    begin_pair(task);
    for (int p = 0; p < task->points->n; p++)
        STI_TRY(push_point(task, &task->points->point[p]));
    return ST_OK;
}

/* Asleep, or fixed. */
static bool stays(const sti_World *world, int body)
{
    return sti_sleeps(world, body) || world->body[body].n_dofs == 0;
}

static st_Status push_pair(Task *task, sti_Pair *at)
{
    sti_Pair pair = *at;
    const sti_World *world = task->world;
    const sti_Collider *c = &world->collider;
    const int *owner = world->scene->shape_body;
    task->pair = pair;
    task->a = owner[pair.i], task->b = owner[pair.j];
    if (stays(world, task->a) && stays(world, task->b)) return ST_OK;
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
    return push_point(task, &point);
}

/* ---- all pairs ----------------------------------------------------------------------------------- */

#define CHUNK 256

/* Of n pairs, those whose balls are nearer than the margin, up to rounding on the safe side. By the poses alone:
 * pairs are kept with more room than this. About every second one is, in no order: so no branches. */
static int list_near(const sti_World *world, const sti_Pair *pair, int n, double margin, int *near)
{
    const sti_Ball *ball = world->collider.ball;
    const double *travel = world->collider.travel;
    const int *owner = world->scene->shape_body;
    int count = 0;
    for (int k = 0; k < n; k++) {
        const sti_Ball *a = &ball[pair[k].i], *b = &ball[pair[k].j];
        st_Vec3 d = sub(b->centre, a->centre);
        double reach = a->radius + b->radius + margin + travel[owner[pair[k].i]] + travel[owner[pair[k].j]];
        near[count] = k;
        count += dot(d, d) <= reach * reach * (1 + 1e-14);
    }
    return count;
}

/* Pairs first .. end - 1. */
static st_Status push_pairs(Task *task, int64_t first, int64_t end)
{
    const sti_Pairs *pairs = &task->world->collider.pairs;
    int near[CHUNK];
    for (int64_t k = first; k < end; k += CHUNK) {
        int n = end - k < CHUNK ? (int)(end - k) : CHUNK;
        n = list_near(task->world, pairs->pair + k, n, fmax(task->margin, 0), near);
        for (int e = 0; e < n; e++)
            STI_TRY(push_pair(task, &pairs->pair[k + near[e]]));
    }
    return ST_OK;
}

/* The same of the pairs with somebody who is awake. */
static st_Status push_live(Task *task, int64_t first, int64_t end)
{
    const sti_Collider *c = &task->world->collider;
    int near;
    for (int64_t k = first; k < end; k++) {
        sti_Pair *pair = &c->pairs.pair[c->live[k]];
        if (list_near(task->world, pair, 1, fmax(task->margin, 0), &near) > 0) STI_TRY(push_pair(task, pair));
    }
    return ST_OK;
}

/* Which these are: made anew when the pairs have changed, or who sleeps. */
static st_Status list_live(sti_World *world, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const int *owner = world->scene->shape_body;
    if (c->live_serial == c->pairs.serial) return ST_OK;
    STI_TRY(STI_GROW(&world->allocator, c->live, c->live_capacity, c->pairs.n_pairs, err));
    c->n_live = 0;
    for (int64_t k = 0; k < c->pairs.n_pairs; k++) {
        const sti_Pair *pair = &c->pairs.pair[k];
        if (!stays(world, owner[pair->i]) || !stays(world, owner[pair->j])) c->live[c->n_live++] = k;
    }
    c->live_serial = c->pairs.serial;
    return ST_OK;
}

/* How many pairs there are to look at, and a range of them. */
static int64_t count_pairs(const sti_World *world)
{
    return world->awake != NULL ? world->collider.n_live : world->collider.pairs.n_pairs;
}

static st_Status push_range(Task *task, int64_t first, int64_t end)
{
    return (task->world->awake != NULL ? push_live : push_pairs)(task, first, end);
}

/* ---- by a team ----------------------------------------------------------------------------------- */

/* What a thread beside the first needs of its own. Each takes a range of the pairs; put behind one another, what they
 * find is what one would have found.                                                              */
struct sti_Helper {
    sti_Points points;
    st_Sink sink;
    st_Status status;
    st_Error err;
};

/* Pairs that are worth a thread. */
enum { LEAST_PAIRS = 512 };

void sti_helpers_free(sti_World *world)
{
    sti_Collider *c = &world->collider;
    for (int k = 0; k < c->n_helpers; k++) {
        sti_points_free(&c->helper[k].points);
        sti_sink_free(&c->helper[k].sink);
    }
    sti_free(&world->allocator, c->helper, c->n_helpers, sizeof *c->helper);
    c->helper = NULL;
    c->n_helpers = 0;
}

static st_Status make_helpers(sti_World *world, int n, st_Error *err)
{
    sti_Collider *c = &world->collider;
    if (n <= c->n_helpers) return ST_OK;
    sti_helpers_free(world);
    c->helper = sti_alloc(&world->allocator, n, sizeof *c->helper);
    if (c->helper == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d threads", n + 1);
    c->n_helpers = n;
    for (int k = 0; k < n; k++)
        c->helper[k].points.allocator = c->helper[k].sink.allocator = world->allocator;
    return ST_OK;
}

typedef struct Team {
    Task task;        /* of the first                                                              */
    int n;            /* how many came                                                             */
    st_Status status; /* of the first                                                              */
    bool together;    /* all found are records alone, and there is room for them: each puts its own */
} Team;

/* Behind the wait, by the first: will copies of records do? */
static bool goes_together(const Team *team)
{
    st_Sink *sink = team->task.sink;
    const struct sti_Helper *helper = team->task.world->collider.helper;
    int64_t n = sink->n_contacts;
    bool plain = team->status == ST_OK && sink->contact_rows.n_rows == 0;
    for (int k = 0; k < team->n - 1; k++) {
        n += helper[k].sink.n_contacts;
        plain = plain && helper[k].status == ST_OK && helper[k].sink.contact_rows.n_rows == 0 &&
                helper[k].sink.n_surfaces == 0;
    }
    return plain && STI_GROW(&sink->allocator, sink->contact, sink->contact_capacity, n, NULL) == ST_OK;
}

/* What a helper found, where it belongs. */
static void put_together(const Team *team, int thread)
{
    const struct sti_Helper *helper = team->task.world->collider.helper;
    int64_t n = team->task.sink->n_contacts;
    for (int k = 0; k < thread - 1; k++)
        n += helper[k].sink.n_contacts;
    const st_Sink *own = &helper[thread - 1].sink;
    if (own->n_contacts > 0)
        memcpy(team->task.sink->contact + n, own->contact, (size_t)own->n_contacts * sizeof *own->contact);
}

static void push_own(Team *team, int thread, int n_threads)
{
    Task task = team->task;
    const int64_t n = count_pairs(task.world);
    const int64_t first = sti_share(n, thread, n_threads), end = sti_share(n, thread + 1, n_threads);
    if (thread == 0) {
        team->n = n_threads;
        team->status = push_range(&task, first, end);
        return;
    }
    struct sti_Helper *helper = &task.world->collider.helper[thread - 1];
    sti_sink_clear_contacts(&helper->sink);
    helper->sink.n_v = task.sink->n_v;
    helper->sink.rows_later = task.sink->rows_later;
    task.sink = &helper->sink;
    task.points = &helper->points;
    task.err = &helper->err;
    helper->status = push_range(&task, first, end);
}

static void push_share(void *ctx, int thread, int n_threads)
{
    Team *team = ctx;
    push_own(team, thread, n_threads);
    sti_team_wait(n_threads);
    if (thread == 0) team->together = goes_together(team);
    sti_team_wait(n_threads);
    if (thread > 0 && team->together) put_together(team, thread);
}

/* The first error in the order of pairs is the one that a single thread would have met. */
static st_Status push_by_team(const Task *task, int threads, st_Error *err)
{
    Team team = {.task = *task};
    sti_team_run(threads, push_share, &team);
    STI_TRY(team.status);
    for (int k = 0; k < team.n - 1; k++) {
        const struct sti_Helper *helper = &task->world->collider.helper[k];
        if (helper->status != ST_OK && err != NULL) *err = helper->err;
        STI_TRY(helper->status);
        if (team.together)
            task->sink->n_contacts += helper->sink.n_contacts;
        else
            STI_TRY(sti_sink_append(task->sink, &helper->sink, err));
    }
    return ST_OK;
}

st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    sti_Collider *c = &world->collider;
    STI_TRY(sti_collider_place(world, q, err));
    double planes = sti_collider_foresee(world);
    c->pairs.threads = world->threads;
    STI_TRY(sti_pairs_update(&c->pairs, c->swept, c->pose, margin + 2 * planes, world->awake_shape,
                             world->n_awake_shapes, err));
    STI_TRY(sti_kept_update(world, err));
    if (world->awake != NULL) STI_TRY(list_live(world, err));
    Task task = {.world = world,
                 .sink = sink,
                 .err = err,
                 .points = &c->points,
                 .margin = margin,
                 .how = {.planar = -1, .keep_all = c->keep_all},
                 .plane = -1};
    int64_t threads = count_pairs(world) / LEAST_PAIRS;
    if (threads > world->threads) threads = world->threads;
    if (threads <= 1) return push_range(&task, 0, count_pairs(world));
    STI_TRY(make_helpers(world, (int)threads - 1, err));
    return push_by_team(&task, (int)threads, err);
}

/* ---- rows that were left for later --------------------------------------------------------------- */

int sti_contact_rows(const sti_World *world, const sti_ContactEntry *entry, int dim, int *index, double *gradient)
{
    int count = list_velocities(&world->body[entry->a], 0, index);
    count = list_velocities(&world->body[entry->b], count, index);
    put_rows(world, entry, count, dim, false, gradient);
    return count;
}

void sti_contact_halves(const sti_World *world, const sti_ContactEntry *entry, int dim, double row[3][2][8])
{
    put_side(world, entry, 0, dim, false, 16, row[0][0]);
    put_side(world, entry, 1, dim, false, 16, row[0][1]);
}

/* ---- contacts that were met only later ----------------------------------------------------------- */

/* A point that moves with a body, from one position to another. */
static st_Vec3 carried(const double *from, const double *to, int body, st_Vec3 point)
{
    const st_Pose a = sti_pose(from, body);
    return pose_point(sti_pose(to, body), rotate_back(a.q, sub(point, a.p)));
}

double sti_contact_gap_after(const sti_ContactEntry *entry, const double *q, const double *to)
{
    const st_Vec3 on_a = carried(q, to, entry->a, entry->point), on_b = carried(q, to, entry->b, entry->point);
    return entry->gap + dot(entry->normal, sub(on_b, on_a));
}

void sti_contact_bring_back(const double *from, const double *q, sti_ContactEntry *entry)
{
    entry->point = carried(from, q, entry->b, entry->point);
    entry->gap = 2 * entry->gap - sti_contact_gap_after(entry, q, from);
}
