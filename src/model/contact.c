/* model/contact.c -- from contact points to contact rows on the free velocities.
 *
 * The contact frame is (n, t1, t2), normal from body a to body b. Where both bodies move across one
 * world axis e only (a planar scene), the contact has one tangent, e x n, and a block of size 2.
 */
#include "model/world.h"

/* Contact ids: shape i, shape j, feature. */
static uint64_t contact_id(sti_Pair pair, uint32_t feature)
{
    return (uint64_t)pair.i << (21 + STI_FEATURE_BITS) | (uint64_t)pair.j << STI_FEATURE_BITS | (uint64_t)feature;
}

/* Two springs one behind the other; 0 stands for a rigid one. */
static double in_series(double a, double b)
{
    return a > 0 && b > 0 ? a * b / (a + b) : fmax(a, b);
}

/* The world axis across which both bodies move, orthogonal to the normal; -1: a contact in space. */
static int planar_axis(const sti_Body *a, const sti_Body *b, st_Vec3 n)
{
    const double components[3] = {n.x, n.y, n.z};
    unsigned common = a->planar & b->planar;
    for (int e = 0; e < 3; e++)
        if ((common >> e & 1u) != 0 && fabs(components[e]) < 1e-9) return e;
    return -1;
}

/* Are the tangent rows nothing but rounding of the normal one? */
static bool nothing_slides(const sti_Rows *rows, int dim)
{
    double along = 0, across = 0;
    for (int k = 0; k < rows->count; k++)
        along = fmax(along, fabs(rows->gradient[k]));
    for (int k = rows->count; k < dim * rows->count; k++)
        across = fmax(across, fabs(rows->gradient[k]));
    return across <= 1e-12 * along;
}

static st_Status push_point(const sti_World *world, const double *q, sti_Pair pair, const sti_ContactPoint *point,
                            st_Sink *sink, st_Error *err)
{
    const st_ShapeDef *shape = world->scene->shape;
    int a = world->scene->shape_body[pair.i], b = world->scene->shape_body[pair.j];
    st_Vec3 n = point->normal;
    int e = planar_axis(&world->body[a], &world->body[b], n);
    st_Vec3 t1 = e >= 0 ? cross(vec3_axis(e), n) : orthogonal(n);
    st_Vec3 direction[3] = {n, t1, cross(n, t1)};
    sti_Surface surface = sti_pair_surface(world->scene, &shape[pair.i], &shape[pair.j]);
    int dim = surface.mu == 0 ? 1 : (e >= 0 ? 2 : 3);

    sti_Rows rows; /* normal, tangents, then turning */
    sti_rows_begin(world, a, b, &rows);
    st_Vec3 lever_a = sub(point->point, sti_pose(q, a).p), lever_b = sub(point->point, sti_pose(q, b).p);
    for (int k = 0; k < dim; k++) {
        st_Vec3 d = direction[k];
        sti_rows_set(world, q, a, b, k, (sti_Half){scale(-1, d), scale(-1, cross(lever_a, d))},
                     (sti_Half){d, cross(lever_b, d)}, &rows);
    }
    bool resists = surface.rolling > 0 || surface.spinning > 0;
    bool turns = resists || shape[pair.i].young > 0 || shape[pair.j].young > 0;
    for (int k = 0; turns && k < 3; k++)
        sti_rows_set(world, q, a, b, dim + k, (sti_Half){vec3(0, 0, 0), scale(-1, direction[k])},
                     (sti_Half){vec3(0, 0, 0), direction[k]}, &rows);
    const double *turning = turns ? rows.gradient + (ptrdiff_t)dim * rows.count : NULL;
    /* Nothing can move along the tangents (a one-dimensional scene): no friction to speak of. */
    if (!resists && nothing_slides(&rows, dim)) dim = 1;
    st_ContactRow row = {
        .id = contact_id(pair, point->feature),
        .gap = point->gap,
        .mu = surface.mu,
        .restitution = surface.restitution,
        .dim = dim,
        .count = rows.count,
        .index = rows.index,
        .gradient = rows.gradient,
        .turning = turning,
        .rolling = surface.rolling,
        .spinning = surface.spinning,
        .stiffness = in_series(shape[pair.i].stiffness, shape[pair.j].stiffness),
        .damping = in_series(shape[pair.i].damping, shape[pair.j].damping),
        .elastic = {{shape[pair.i].young, shape[pair.i].poisson}, {shape[pair.j].young, shape[pair.j].poisson}},
        .a = a,
        .b = b,
        .shape_a = pair.i + 1,
        .shape_b = pair.j + 1,
        .point = point->point,
        .normal = n,
        .tangent = t1};
    return st_push_contact(sink, &row, err);
}

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

static st_Status push_pair(sti_World *world, const double *q, sti_Pair pair, double margin, st_Sink *sink,
                           st_Error *err)
{
    sti_Collider *c = &world->collider;
    const int *owner = world->scene->shape_body;
    sti_Collide how = {.margin = margin,
                       .planar = common_plane(&world->body[owner[pair.i]], &world->body[owner[pair.j]]),
                       .keep_all = c->keep_all};
    c->points.n = 0;
    st_Status status =
        sti_collide(&c->shape[pair.i], c->pose[pair.i], &c->shape[pair.j], c->pose[pair.j], &how, &c->points, err);
    if (status != ST_OK) {
        st_Error why = err != NULL ? *err : (st_Error){0};
        return sti_fail(err, status, "shapes \"%s\" and \"%s\": %.300s", world->scene->shape[pair.i].name,
                        world->scene->shape[pair.j].name, why.message);
    }
    if (how.planar >= 0) merge_across(&c->points, how.planar);
    for (int p = 0; p < c->points.n; p++)
        STI_TRY(push_point(world, q, pair, &c->points.point[p], sink, err));
    return ST_OK;
}

st_Status sti_contacts_push(sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    sti_Collider *c = &world->collider;
    STI_TRY(sti_collider_place(world, q, err));
    STI_TRY(sti_pairs_update(&c->pairs, c->bounds, margin, err));
    for (int64_t k = 0; k < c->pairs.n_pairs; k++)
        if (sti_collider_near(c, c->pairs.pair[k], margin))
            STI_TRY(push_pair(world, q, c->pairs.pair[k], margin, sink, err));
    return ST_OK;
}
