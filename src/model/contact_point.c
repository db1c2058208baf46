/* model/contact_point.c -- from a point where two shapes are near to a contact in the sink.
 *
 * The contact frame is (n, t1, t2), normal from body a to body b. Where both bodies move across one
 * world axis e only (a planar scene), the contact has one tangent, e x n, and a block of size 2.
 *
 * A pile makes millions of contacts a second: they are written where they will stand.
 */
#include "model/contact.h"

/* ---- does it matter? ----------------------------------------------------------------------------- */

/* How fast a contact along n may close: bodies go on as foreseen, or one of them does and the other is stopped, or
 * one is thrown aside: in a collapsing pile at half its speed, hardly ever faster.                */
static double closing_speed(const sti_ContactTask *task, st_Vec3 n)
{
    const sti_World *world = task->world;
    const sti_Foresight *ahead = &world->collider.ahead;
    double fastest = 0;
    for (int k = 0; ahead->h > 0 && k < 2 && ahead->v[k] != NULL; k++) {
        st_Vec3 v_a, v_b, w_a, w_b;
        sti_body_velocity(&world->body[task->a], ahead->v[k], &v_a, &w_a);
        sti_body_velocity(&world->body[task->b], ahead->v[k], &v_b, &w_b);
        double a = dot(v_a, n), b = dot(v_b, n), aside = 0.5 * sqrt(sti_larger(dot(v_a, v_a), dot(v_b, v_b)));
        double turning = sti_turning_speed(world, task->a, w_a) + sti_turning_speed(world, task->b, w_b);
        fastest = sti_larger(fastest, turning + sti_larger(sti_larger(a, -b), sti_larger(a - b, aside)));
    }
    return fastest;
}

static bool same_vector(st_Vec3 a, st_Vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Points of a patch have one normal: what is known of it is found once. */
static void take_normal(sti_ContactTask *task, st_Vec3 n)
{
    if ((task->foreseen || task->framed) && same_vector(n, task->normal)) return;
    task->normal = n;
    task->foreseen = task->framed = false;
}

/* Is a point within the margin, or foreseen to be? */
static bool matters(sti_ContactTask *task, const sti_ContactPoint *point, double *closing)
{
    *closing = 0;
    if (point->gap < task->margin) return true;
    if (!task->foreseen) task->closing = closing_speed(task, task->normal);
    task->foreseen = true;
    *closing = task->closing;
    return point->gap < task->margin + task->world->collider.ahead.h * *closing;
}

/* Levers overflow only for bodies that are lost in space. */
static bool is_found(const sti_ContactTask *task, const sti_ContactPoint *point)
{
    const st_Pose *pose = task->world->collider.body_pose;
    const st_Vec3 a = sub(point->point, pose[task->a].p), b = sub(point->point, pose[task->b].p);
    return isfinite(point->gap + dot(a, a) + dot(b, b));
}

static st_Status fail_lost(const sti_ContactTask *task, const sti_ContactPoint *point)
{
    const st_Scene *scene = task->world->scene;
    return sti_fail(task->err, ST_ERR_NUMERIC, "shapes %s and %s touch at (%g, %g, %g) with a gap of %g",
                    sti_shape_label(scene, task->pair.i).text, sti_shape_label(scene, task->pair.j).text,
                    point->point.x, point->point.y, point->point.z, point->gap);
}

/* ---- what the points of a pair have in common ---------------------------------------------------- */

/* The world axis across which both bodies move, orthogonal to the normal; -1: a contact in space. */
static int planar_axis(const sti_Body *a, const sti_Body *b, st_Vec3 n)
{
    const double components[3] = {n.x, n.y, n.z};
    unsigned common = a->planar & b->planar;
    for (int e = 0; e < 3; e++)
        if ((common >> e & 1u) != 0 && fabs(components[e]) < 1e-9) return e;
    return -1;
}

static void make_frame(sti_ContactTask *task)
{
    const st_Vec3 n = task->normal;
    int e = task->how.planar >= 0 ? planar_axis(&task->world->body[task->a], &task->world->body[task->b], n) : -1;
    task->dim = task->surface->mu == 0 ? 1 : (e >= 0 ? 2 : 3);
    task->tangent = e >= 0 ? cross(vec3_axis(e), n) : orthogonal(n);
    task->framed = true;
}

/* What the points of the pair have in common, where there are any. */
static void begin_points(sti_ContactTask *task)
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

/* ---- the contact --------------------------------------------------------------------------------- */

/* Can nothing move along the tangents, up to rounding (a one-dimensional scene)? Then there is no friction to speak of.
 */
static bool nothing_slides(const sti_ContactTask *task, const sti_ContactEntry *entry)
{
    const int dim = entry->dim;
    double x[3 * 12], along = 0, across = 0;
    if (dim == 1) return false;
    sti_contact_put_rows(task->world, entry, task->count, dim, false, x);
    for (int k = 0; k < task->count; k++)
        along = fmax(along, fabs(x[k]));
    for (int k = task->count; k < dim * task->count; k++)
        across = fmax(across, fabs(x[k]));
    return across <= 1e-12 * along;
}

/* Number by number: a copy of a record would wait for those that were just written into it. */
static void write_contact(const sti_ContactTask *task, const sti_ContactPoint *point, double closing,
                          sti_ContactEntry *to)
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
    to->turns = to->own_surface = false;
    to->point = point->point;
    to->normal = task->normal;
    to->tangent = task->tangent;
}

/* Written where it will stand: there are many. */
st_Status sti_contact_push_point(sti_ContactTask *task, const sti_ContactPoint *point)
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
        STI_TRY(sti_row_buffer_room(sink, later ? 0 : 6, task->count, &entry, &gradient, task->err));
    write_contact(task, point, closing, entry);
    if (surface == &task->own) STI_TRY(sti_row_buffer_keep_surface(sink, entry, surface, task->err));
    if (!task->slides && nothing_slides(task, entry)) entry->dim = 1;
    if (later) {
        sink->n_contacts++;
        return ST_OK;
    }
    sti_contact_put_rows(task->world, entry, task->count, entry->dim, surface->turns, gradient);
    int index[12];
    sti_rows_index(task->world, task->a, task->b, index);
    sti_row_buffer_add_contact(sink, entry->dim + (surface->turns ? 3 : 0), task->count, index);
    return ST_OK;
}
