/* collide/box_box.c -- two boxes: fifteen axes in closed form (Gottschalk, Lin & Manocha 1996).
 *
 * With R = A'B, t the vector between the centres in A's axes, separation along
 *
 *     A's axis i:    |t_i| - (a_i + sum_j b_j |R_ij|)
 *     B's axis j:    |t . R_j| - (b_j + sum_i a_i |R_ij|)
 *     A_i x B_j:     ( |t_{i+2} R_{i+1,j} - t_{i+1} R_{i+2,j}| - radii ) / sqrt(1 - R_ij^2)
 *
 * The largest is the signed distance where they overlap, and where it is met by a pair of points apart;
 * else GJK has the distance (a corner near a corner), or the points (edges whose axis loses digits to their angle; a
 * face that ties with two edges that cross beside it).
 */
#include "collide/manifold.h"
#include "collide/pair.h"

#define NEARLY_PARALLEL 1e-4 /* edges: closer than this the axis is computed with more care */

typedef struct Boxes {
    const sti_Core *a, *b;
    double R[3][3], Q[3][3]; /* Q = |R|                                                            */
    double ha[3], hb[3], t[3];
    st_Vec3 centre; /* of b from a, in the world                                                   */
} Boxes;

typedef struct Axis {
    double gap;
    st_Vec3 normal;
    int edge_a, edge_b; /* edges along these axes; edge_a may be FACE_A or FACE_B instead           */
} Axis;
enum { FACE_A = -1, FACE_B = -2 };

static void prepare(Boxes *x)
{
    x->centre = sub(x->b->p, x->a->p);
    vec3_store(x->ha, x->a->half);
    vec3_store(x->hb, x->b->half);
    for (int i = 0; i < 3; i++) {
        x->t[i] = dot(x->a->axis[i], x->centre);
        for (int j = 0; j < 3; j++) {
            x->R[i][j] = dot(x->a->axis[i], x->b->axis[j]);
            x->Q[i][j] = fabs(x->R[i][j]);
        }
    }
}

static void take(Axis *best, double gap, double along, st_Vec3 axis, int edge_a, int edge_b)
{
    if (!(gap > best->gap)) return;
    *best = (Axis){gap, scale(along < 0 ? -1 : 1, axis), edge_a, edge_b};
}

static void try_faces(const Boxes *x, Axis *best)
{
    for (int i = 0; i < 3; i++) {
        double reach = x->ha[i] + x->hb[0] * x->Q[i][0] + x->hb[1] * x->Q[i][1] + x->hb[2] * x->Q[i][2];
        take(best, fabs(x->t[i]) - reach, x->t[i], x->a->axis[i], FACE_A, 0);
    }
    for (int j = 0; j < 3; j++) {
        double along = dot(x->b->axis[j], x->centre);
        double reach = x->hb[j] + x->ha[0] * x->Q[0][j] + x->ha[1] * x->Q[1][j] + x->ha[2] * x->Q[2][j];
        take(best, fabs(along) - reach, along, x->b->axis[j], FACE_B, 0);
    }
}

/* The closed form divides by the sine of the edges' angle: rounding / sine. Here the separation along the axis. */
static void try_nearly_parallel(const Boxes *x, int i, int j, Axis *best)
{
    st_Vec3 n = cross(x->a->axis[i], x->b->axis[j]);
    n = sti_across(scale(1 / norm(n), n), x->a->axis[i]);
    double along = dot(n, x->centre), reach = 0;
    for (int k = 0; k < 3; k++)
        reach += x->ha[k] * fabs(dot(n, x->a->axis[k])) + x->hb[k] * fabs(dot(n, x->b->axis[k]));
    take(best, fabs(along) - reach, along, n, i, j);
}

static void try_edges(const Boxes *x, Axis *best)
{
    double size = x->a->size + x->b->size, rounding = 1e-14 * size;
    double tie = 1e-12 * size; /* a face that is as good is the better answer */
    best->gap += tie;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double square = x->R[i1][j] * x->R[i1][j] + x->R[i2][j] * x->R[i2][j]; /* |A_i x B_j|^2 */
            if (square < 1e-20) continue;                                          /* parallel: the faces have it */
            double along = x->t[i2] * x->R[i1][j] - x->t[i1] * x->R[i2][j], length = sqrt(square);
            double reach =
                x->ha[i1] * x->Q[i2][j] + x->ha[i2] * x->Q[i1][j] + x->hb[j1] * x->Q[i][j2] + x->hb[j2] * x->Q[i][j1];
            /* clearly less than the best, whatever the rounding: most of them */
            if (fabs(along) - reach + rounding < best->gap * length) continue;
            if (square < NEARLY_PARALLEL * NEARLY_PARALLEL) {
                try_nearly_parallel(x, i, j, best);
                continue;
            }
            if (!((fabs(along) - reach) / length > best->gap)) continue;
            take(best, (fabs(along) - reach) / length, along, scale(1 / length, cross(x->a->axis[i], x->b->axis[j])), i,
                 j);
        }
    if (best->edge_a < 0) best->gap -= tie;
}

/* The edge of a box along its axis e that is farthest along n, as middle, direction and half length. */
static st_Vec3 edge_middle(const sti_Core *box, int e, st_Vec3 n)
{
    const double half[3] = {box->half.x, box->half.y, box->half.z};
    st_Vec3 m = box->p;
    for (int k = 0; k < 3; k++)
        if (k != e) m = add(m, scale(dot(n, box->axis[k]) > 0 ? half[k] : -half[k], box->axis[k]));
    return m;
}

/* Nearest points of the two edges; false where they lie beyond an end. */
static bool edge_points(const Boxes *x, const Axis *axis, sti_Distance *d)
{
    st_Vec3 p = edge_middle(x->a, axis->edge_a, axis->normal);
    st_Vec3 q = edge_middle(x->b, axis->edge_b, scale(-1, axis->normal));
    st_Vec3 u = x->a->axis[axis->edge_a], v = x->b->axis[axis->edge_b];
    const st_Vec3 line_a[2] = {p, add(p, u)}, line_b[2] = {q, add(q, v)};
    sti_nearest_on_lines(line_a, line_b, &d->a, &d->b);
    return fabs(dot(u, sub(d->a, p))) <= x->ha[axis->edge_a] && fabs(dot(v, sub(d->b, q))) <= x->hb[axis->edge_b];
}

st_Status sti_box_box(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                      sti_Points *out, st_Error *err)
{
    sti_Placed placed;
    if (!sti_place_pair(a, pose_a, b, pose_b, how, &placed)) return ST_OK;
    Boxes x = {.a = placed.a, .b = placed.b};
    prepare(&x);
    Axis axis = {.gap = -INFINITY, .edge_a = FACE_A};
    try_faces(&x, &axis);
    if (axis.gap < how->margin) try_edges(&x, &axis);
    if (!(axis.gap < how->margin)) {
        if (how->apart != NULL) *how->apart = axis.gap;
        return ST_OK;
    }
    if (axis.edge_a < 0) {
        bool met;
        STI_TRY(sti_manifold_along(x.a, x.b, axis.gap, axis.normal, placed.origin, how, out, &met, err));
        if (met) return ST_OK;
    }
    sti_Distance d = {.gap = axis.gap, .normal = axis.normal};
    if (axis.edge_a < 0 || !edge_points(&x, &axis, &d)) sti_core_distance(x.a, x.b, how->margin, NULL, &d);
    if (d.beyond) return ST_OK;
    return sti_manifold(x.a, x.b, &d, placed.origin, how, out, err);
}
