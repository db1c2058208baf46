/* model/contact.c -- from contact points to contact rows on the free velocities.
 *
 * The contact frame is (n, t1, t2), normal from body a to body b. Where both bodies move across one
 * world axis e only (a planar scene), the contact has one tangent, e x n, and a block of size 2.
 */
#include "model/world.h"

#include "collide/collide.h"

/* Contact ids: shape i, shape j, feature. */
static uint64_t contact_id(sti_Pair pair, int feature)
{
    return (uint64_t)pair.i << 34 | (uint64_t)pair.j << 4 | (uint64_t)feature;
}

/* Two springs one behind the other; 0 stands for a rigid one. */
static double in_series(double a, double b)
{
    return a > 0 && b > 0 ? a * b / (a + b) : fmax(a, b);
}

/* Does this surface ask how bodies turn against each other? */
static bool may_turn(const st_ShapeDef *shape)
{
    return shape->rolling > 0 || shape->young > 0;
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
    double mu = sti_pair_friction(world->scene, &shape[pair.i], &shape[pair.j]);
    int dim = mu == 0 ? 1 : (e >= 0 ? 2 : 3);

    sti_Rows rows; /* normal, tangents, then turning */
    sti_rows_begin(world, a, b, &rows);
    if (rows.count == 0) return ST_OK; /* neither moves */
    st_Vec3 lever_a = sub(point->point, sti_pose(q, a).p), lever_b = sub(point->point, sti_pose(q, b).p);
    for (int k = 0; k < dim; k++) {
        st_Vec3 d = direction[k];
        sti_rows_set(world, q, a, b, k, (sti_Half){scale(-1, d), scale(-1, cross(lever_a, d))},
                     (sti_Half){d, cross(lever_b, d)}, &rows);
    }
    bool turns = may_turn(&shape[pair.i]) || may_turn(&shape[pair.j]);
    for (int k = 0; turns && k < 3; k++)
        sti_rows_set(world, q, a, b, dim + k, (sti_Half){vec3(0, 0, 0), scale(-1, direction[k])},
                     (sti_Half){vec3(0, 0, 0), direction[k]}, &rows);
    const double *turning = turns ? rows.gradient + (ptrdiff_t)dim * rows.count : NULL;
    /* Nothing can move along the tangents (a one-dimensional scene): no friction to speak of. */
    if (nothing_slides(&rows, dim)) dim = 1;
    st_ContactRow row = {.id = contact_id(pair, point->feature),
                         .gap = point->gap,
                         .mu = mu,
                         .restitution = fmax(shape[pair.i].restitution, shape[pair.j].restitution),
                         .dim = dim,
                         .count = rows.count,
                         .index = rows.index,
                         .gradient = rows.gradient,
                         .turning = turning,
                         .rolling = fmax(shape[pair.i].rolling, shape[pair.j].rolling),
                         .stiffness = in_series(shape[pair.i].stiffness, shape[pair.j].stiffness),
                         .damping = in_series(shape[pair.i].damping, shape[pair.j].damping),
                         .elastic = {{shape[pair.i].young, shape[pair.i].poisson},
                                     {shape[pair.j].young, shape[pair.j].poisson}},
                         .a = a,
                         .b = b,
                         .shape_a = pair.i + 1,
                         .shape_b = pair.j + 1,
                         .point = point->point,
                         .normal = n,
                         .tangent = t1};
    return st_push_contact(sink, &row, err);
}

st_Status sti_contacts_push(const sti_World *world, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    const st_ShapeDef *shape = world->scene->shape;
    const int *shape_body = world->scene->shape_body;
    for (int k = 0; k < world->n_pairs; k++) {
        sti_Pair pair = world->pair[k];
        st_Pose pose_i = pose_product(sti_pose(q, shape_body[pair.i]), shape[pair.i].pose);
        st_Pose pose_j = pose_product(sti_pose(q, shape_body[pair.j]), shape[pair.j].pose);
        sti_ContactPoint points[STI_MAX_POINTS];
        int n = sti_collide(&shape[pair.i], pose_i, &shape[pair.j], pose_j, margin, points);
        for (int p = 0; p < n; p++)
            STI_TRY(push_point(world, q, pair, &points[p], sink, err));
    }
    return ST_OK;
}
