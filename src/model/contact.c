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
#include "model/world.h"
#include "step/sink.h"

/* What is the same for all pairs, and what was looked up for the pair at hand. */
typedef struct Task {
    sti_World *world;
    st_Sink *sink;
    st_Error *err;
    sti_Collide how;
    sti_Pair pair;
    int a, b; /* its bodies                                                                        */
    sti_Surface own;
    const sti_Surface *surface; /* in the table, or `own`                                          */
    int index[12], count;       /* velocities of the bodies                                        */
    /* the frame of the last point, which the next may share, in the world and in the axes of both bodies */
    bool framed;
    int planar_axis;
    st_Vec3 direction[3], turned[2][3];
    int plane; /* the last plane that was met, -1: none; its normal                                */
    st_Vec3 plane_normal;
} Task;

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

/* Contact ids: shape i, shape j, feature. */
static uint64_t contact_id(sti_Pair pair, uint32_t feature)
{
    return (uint64_t)pair.i << (21 + STI_FEATURE_BITS) | (uint64_t)pair.j << STI_FEATURE_BITS | (uint64_t)feature;
}

/* Are the tangent rows nothing but rounding of the normal one? */
static bool nothing_slides(const double *gradient, int count, int dim)
{
    double along = 0, across = 0;
    for (int k = 0; k < count; k++)
        along = fmax(along, fabs(gradient[k]));
    for (int k = count; k < dim * count; k++)
        across = fmax(across, fabs(gradient[k]));
    return across <= 1e-12 * along;
}

static void make_frame(Task *task, st_Vec3 n)
{
    const int body[2] = {task->a, task->b};
    int e = task->how.planar >= 0 ? planar_axis(&task->world->body[task->a], &task->world->body[task->b], n) : -1;
    st_Vec3 t = e >= 0 ? cross(vec3_axis(e), n) : orthogonal(n);
    task->planar_axis = e;
    task->direction[0] = n, task->direction[1] = t, task->direction[2] = cross(n, t);
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++)
            task->turned[s][k] = mat3_mul_back(&task->world->collider.axes[body[s]], task->direction[k]);
    task->framed = true;
}

/* The rows of both bodies: `dim` rates along the directions, and if it `turns`, three about them. */
static void put_rows(const Task *task, const st_Vec3 lever[2], int dim, bool turns, double *x)
{
    const int body[2] = {task->a, task->b};
    for (int s = 0; s < 2; s++) {
        const sti_Body *of = &task->world->body[body[s]];
        const st_Vec3 *turned = task->turned[s];
        if (of->n_dofs == 0) continue;
        double sign = s == 0 ? -1 : 1, *row = x;
        st_Vec3 arm = scale(sign, mat3_mul_back(&task->world->collider.axes[body[s]], lever[s]));
        for (int k = 0; k < dim; k++, row += task->count)
            sti_put_half(of, scale(sign, task->direction[k]), cross(arm, turned[k]), row);
        for (int k = 0; turns && k < 3; k++, row += task->count)
            sti_put_half(of, vec3(0, 0, 0), scale(sign, turned[k]), row);
        x += of->n_dofs;
    }
}

/* Levers overflow only for bodies that are lost in space. */
static st_Status check_point(const Task *task, const sti_ContactPoint *point, const st_Vec3 lever[2])
{
    const st_Scene *scene = task->world->scene;
    if (isfinite(point->gap + dot(lever[0], lever[0]) + dot(lever[1], lever[1]))) return ST_OK;
    return sti_fail(task->err, ST_ERR_NUMERIC, "shapes %s and %s touch at (%g, %g, %g) with a gap of %g",
                    sti_shape_label(scene, task->pair.i).text, sti_shape_label(scene, task->pair.j).text,
                    point->point.x, point->point.y, point->point.z, point->gap);
}

static bool same_vector(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static st_Status push_point(Task *task, const sti_ContactPoint *point)
{
    const sti_Collider *c = &task->world->collider;
    const sti_Surface *surface = task->surface;
    const st_Vec3 lever[2] = {sub(point->point, c->body_pose[task->a].p), sub(point->point, c->body_pose[task->b].p)};
    STI_TRY(check_point(task, point, lever));
    if (!task->framed || !same_vector(point->normal, task->direction[0])) make_frame(task, point->normal);
    double *gradient;
    STI_TRY(sti_sink_room(task->sink, 6, task->count, &gradient, task->err));
    int dim = surface->mu == 0 ? 1 : (task->planar_axis >= 0 ? 2 : 3);
    put_rows(task, lever, dim, surface->turns, gradient);
    /* Nothing can move along the tangents (a one-dimensional scene), nor is turning opposed: no friction to speak of.
     */
    bool free = task->world->body[task->a].n_dofs == 6 || task->world->body[task->b].n_dofs == 6;
    bool opposed = surface->rolling > 0 || surface->spinning > 0;
    if (!free && !opposed && dim > 1 && nothing_slides(gradient, task->count, dim)) {
        dim = 1;
        put_rows(task, lever, dim, surface->turns, gradient);
    }
    int n_rows = dim + (surface->turns ? 3 : 0);
    sti_ContactEntry *entry = sti_sink_add_contact(task->sink, n_rows, task->count, task->index);
    *entry = (sti_ContactEntry){.id = contact_id(task->pair, point->feature),
                                .gap = point->gap,
                                .mu = surface->mu,
                                .restitution = surface->restitution,
                                .rolling = surface->rolling,
                                .spinning = surface->spinning,
                                .stiffness = surface->stiffness,
                                .damping = surface->damping,
                                .elastic = {surface->elastic[0], surface->elastic[1]},
                                .dim = dim,
                                .first_row = entry->first_row,
                                .turning_row = surface->turns ? entry->first_row + dim : -1,
                                .a = task->a,
                                .b = task->b,
                                .shape_a = task->pair.i + 1,
                                .shape_b = task->pair.j + 1,
                                .point = point->point,
                                .normal = task->direction[0],
                                .tangent = task->direction[1]};
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
    st_Vec3 lowest = vec3(n.x > 0 ? b->lo.x : b->hi.x, n.y > 0 ? b->lo.y : b->hi.y, n.z > 0 ? b->lo.z : b->hi.z);
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

static int list_velocities(const sti_Body *body, int count, int *index)
{
    for (int k = 0; k < body->n_dofs; k++)
        index[count++] = body->v_first + k;
    return count;
}

/* What the points of the pair have in common. */
static void begin_points(Task *task)
{
    const sti_World *world = task->world;
    task->surface = sti_surface_of(world->scene, &world->collider.surfaces, task->pair.i, task->pair.j, &task->own);
    task->framed = false;
    task->count = list_velocities(&world->body[task->a], 0, task->index);
    task->count = list_velocities(&world->body[task->b], task->count, task->index);
}

static st_Status push_points(Task *task, uint32_t *hint)
{
    sti_Collider *c = &task->world->collider;
    int i = task->pair.i, j = task->pair.j;
    const st_Scene *scene = task->world->scene;
    c->points.n = 0;
    task->how.hint = hint;
    task->how.core_a = c->core_of[i] >= 0 ? &c->core[c->core_of[i]] : NULL;
    task->how.core_b = c->core_of[j] >= 0 ? &c->core[c->core_of[j]] : NULL;
    st_Status status =
        sti_collide(&c->shape[i], c->pose[i], &c->shape[j], c->pose[j], &task->how, &c->points, task->err);
    if (status != ST_OK) {
        st_Error why = task->err != NULL ? *task->err : (st_Error){0};
        return sti_fail(task->err, status, "shapes %s and %s: %.300s", sti_shape_label(scene, i).text,
                        sti_shape_label(scene, j).text, why.message);
    }
    if (task->how.planar >= 0) {
        merge_across(&c->points, task->how.planar);
        centre_across(task, &c->points);
    }
    if (c->points.n > 0) begin_points(task);
    for (int p = 0; p < c->points.n; p++)
        STI_TRY(push_point(task, &c->points.point[p]));
    return ST_OK;
}

/* Asleep, or fixed. */
static bool stays(const sti_World *world, int body)
{
    return world->asleep[body] || world->body[body].n_dofs == 0;
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
    task->how.planar = common_plane(&world->body[task->a], &world->body[task->b]);
    if (c->class[pair.i] == STI_CLASS_PLANE && task->plane != pair.i) {
        task->plane = pair.i;
        task->plane_normal = rotate(c->pose[pair.i].q, vec3(0, 0, 1));
    }
    if (c->class[pair.i] == STI_CLASS_OTHER || c->class[pair.j] != STI_CLASS_BALL)
        return is_near(task, pair) ? push_points(task, &at->hint) : ST_OK;
    sti_ContactPoint point;
    if (!meet_ball(task, &point)) return ST_OK;
    begin_points(task);
    return push_point(task, &point);
}

/* ---- all pairs ----------------------------------------------------------------------------------- */

#define CHUNK 256

/* Of n pairs, those whose balls are nearer than the margin, up to rounding on the safe side. By the poses alone:
 * pairs are kept with more room than this. About every second one is, in no order: so no branches. */
static int list_near(const sti_Ball *ball, const sti_Pair *pair, int n, double margin, int *near)
{
    int count = 0;
    for (int k = 0; k < n; k++) {
        const sti_Ball *a = &ball[pair[k].i], *b = &ball[pair[k].j];
        st_Vec3 d = sub(b->centre, a->centre);
        double reach = a->radius + b->radius + margin;
        near[count] = k;
        count += dot(d, d) <= reach * reach * (1 + 1e-14);
    }
    return count;
}

st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    sti_Collider *c = &world->collider;
    STI_TRY(sti_collider_place(world, q, err));
    STI_TRY(sti_pairs_update(&c->pairs, c->bounds, c->pose, margin, err));
    Task task = {.world = world,
                 .sink = sink,
                 .err = err,
                 .how = {.margin = margin, .planar = -1, .keep_all = c->keep_all},
                 .plane = -1};
    int near[CHUNK];
    for (int64_t k = 0; k < c->pairs.n_pairs; k += CHUNK) {
        int n = c->pairs.n_pairs - k < CHUNK ? (int)(c->pairs.n_pairs - k) : CHUNK;
        n = list_near(c->ball, c->pairs.pair + k, n, fmax(margin, 0), near);
        for (int e = 0; e < n; e++)
            STI_TRY(push_pair(&task, &c->pairs.pair[k + near[e]]));
    }
    return ST_OK;
}
