/* collide/narrow/box_box.c -- two boxes: fifteen axes in closed form (Gottschalk, Lin & Manocha 1996).
 *
 * With R = A'B, t the vector between the centres in A's axes, separation along
 *
 *     A's axis i:    |t_i| - (a_i + sum_j b_j |R_ij|)
 *     B's axis j:    |t . R_j| - (b_j + sum_i a_i |R_ij|)
 *     A_i x B_j:     ( |t_{i+2} R_{i+1,j} - t_{i+1} R_{i+2,j}| - radii ) / sqrt(1 - R_ij^2)
 *
 * The largest is the signed distance if they overlap, or if a pair of points realises it. Else GJK finds the
 * distance (a corner near a corner), or the points (edges whose axis loses digits to their small angle; a face that
 * ties with two edges that cross next to it).
 */
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

#define NEARLY_PARALLEL 1e-4  /* edges: below this angle the axis is computed more precisely */
#define PARALLEL        1e-10 /* below this angle they have no axis */
#define SAME_FACE       5e-10 /* faces: below this angle their axes are one; half of the tolerance in manifold.c */

typedef struct Boxes {
    const sti_Core *a, *b;
    double R[3][3], Q[3][3]; /* Q = |R|                                                            */
    double ha[3], hb[3], t[3];
    st_Vec3 centre; /* of b relative to a, in the world */
} Boxes;

typedef struct Axis {
    double gap;
    st_Vec3 normal;
    int edge_a, edge_b; /* edges along these axes; or FACE_A or FACE_B, and the face's axis         */
} Axis;
enum { FACE_A = -1, FACE_B = -2 };

static void box_box_take(Axis *best, double gap, double along, st_Vec3 axis, int edge_a, int edge_b)
{
    if (!(gap > best->gap)) return;
    *best = (Axis){gap, scale(along < 0 ? -1 : 1, axis), edge_a, edge_b};
}

/* Separation along an axis of a box. The other box is `along` away, and its axes have these cosines with it. */
static double face_gap(double along, double half, const double half_other[3], double c0, double c1, double c2)
{
    return fabs(along) - (half + half_other[0] * c0 + half_other[1] * c1 + half_other[2] * c2);
}

/* The closed form divides by the sine of the angle of the edges, so that its rounding grows. Here the separation
 * along the axis is computed directly. */
static void try_nearly_parallel(const Boxes *x, int i, int j, Axis *best)
{
    st_Vec3 n = cross(x->a->axis[i], x->b->axis[j]);
    n = sti_across(scale(1 / norm(n), n), x->a->axis[i]);
    double along = dot(n, x->centre), reach = 0;
    for (int k = 0; k < 3; k++)
        reach += x->ha[k] * fabs(dot(n, x->a->axis[k])) + x->hb[k] * fabs(dot(n, x->b->axis[k]));
    box_box_take(best, fabs(along) - reach, along, n, i, j);
}

/* |A_i x B_j|^2 */
static double sine_square(const Boxes *x, int i, int j)
{
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    return x->R[i1][j] * x->R[i1][j] + x->R[i2][j] * x->R[i2][j];
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

/* Nearest points of the two edges; false if they are beyond an end. */
static bool edge_points(const Boxes *x, const Axis *axis, sti_Distance *d)
{
    st_Vec3 p = edge_middle(x->a, axis->edge_a, axis->normal);
    st_Vec3 q = edge_middle(x->b, axis->edge_b, scale(-1, axis->normal));
    st_Vec3 u = x->a->axis[axis->edge_a], v = x->b->axis[axis->edge_b];
    const st_Vec3 line_a[2] = {p, add(p, scale(x->ha[axis->edge_a], u))};
    const st_Vec3 line_b[2] = {q, add(q, scale(x->hb[axis->edge_b], v))};
    sti_nearest_on_lines(line_a, line_b, &d->a, &d->b);
    return fabs(dot(u, sub(d->a, p))) <= x->ha[axis->edge_a] && fabs(dot(v, sub(d->b, q))) <= x->hb[axis->edge_b];
}

/* ---- at rest ------------------------------------------------------------------------------------- */

/* How far the boxes may move while the axis of a face stays the best one. All separations are compared as in
 * try_faces and try_edges. If the motions of the boxes' points add up to D, they turn by f = D / (smaller size) at
 * most, and b's centre c moves in a's axes by D + |c| f. So separations change by D + |c| f + (size) f along an axis
 * of one box, and by (|c| + sizes) f more across one of each, not as a unit; one is compared with the other. Faces
 * that are parallel up to rounding are one axis, with the larger separation. */
static double box_box_room_of_face(const Boxes *x, const Axis *axis)
{
    const double size = x->a->size + x->b->size, smaller = fmin(x->a->size, x->b->size);
    const bool of_a = axis->edge_a == FACE_A;
    double least_turn = INFINITY, least = fabs(of_a ? x->t[axis->edge_b] : dot(x->b->axis[axis->edge_b], x->centre));
    for (int i = 0; i < 3; i++) {
        const double gap_a = face_gap(x->t[i], x->ha[i], x->hb, x->Q[i][0], x->Q[i][1], x->Q[i][2]);
        const double gap_b =
            face_gap(dot(x->b->axis[i], x->centre), x->hb[i], x->ha, x->Q[0][i], x->Q[1][i], x->Q[2][i]);
        const bool is_a = of_a ? i == axis->edge_b : sine_square(x, i, axis->edge_b) < SAME_FACE * SAME_FACE;
        const bool is_b = of_a ? sine_square(x, axis->edge_b, i) < SAME_FACE * SAME_FACE : i == axis->edge_b;
        if (!is_a) least = fmin(least, axis->gap - gap_a);
        if (!is_b) least = fmin(least, axis->gap - gap_b);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double along = x->t[i2] * x->R[i1][j] - x->t[i1] * x->R[i2][j];
            double reach =
                x->ha[i1] * x->Q[i2][j] + x->ha[i2] * x->Q[i1][j] + x->hb[j1] * x->Q[i][j2] + x->hb[j2] * x->Q[i][j1];
            double length = sqrt(sine_square(x, i, j));
            if (length < PARALLEL)
                least_turn = fmin(least_turn, PARALLEL - length);
            else
                least = fmin(least, (axis->gap + STI_TIE * size) * length - (fabs(along) - reach));
        }
    return fmin(least_turn * smaller, least / (2 + (3 * norm(x->centre) + 2 * size) / smaller));
}

/* Separation along axis i of a box; the other box is at `centre`. */
static double gap_along(const sti_Core *box, int i, const sti_Core *other, st_Vec3 centre)
{
    const double half[3] = {box->half.x, box->half.y, box->half.z},
                 half_other[3] = {other->half.x, other->half.y, other->half.z};
    const st_Vec3 n = box->axis[i];
    return face_gap(dot(n, centre), half[i], half_other, fabs(dot(n, other->axis[0])), fabs(dot(n, other->axis[1])),
                    fabs(dot(n, other->axis[2])));
}

st_Status sti_box_box(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                      sti_Points *out, st_Error *err)
{
    sti_Placed placed;
    bool met = false;
    if (!sti_place_pair(a, pose_a, b, pose_b, how, &placed)) return ST_OK;
    if (how->cached != NULL && how->cached->room > 0) {
        /* Uses the cached patch: the separation along the reference's axis, or along that of the parallel face. */
        const sti_CachedPatch *cached = how->cached;
        const bool of_a = cached->reference > 0;
        const sti_Core *box = of_a ? placed.a : placed.b, *other = of_a ? placed.b : placed.a;
        const st_Vec3 centre = sub(placed.b->p, placed.a->p);
        sti_Distance axis = {.gap = gap_along(box, cached->face / 2, other, centre)};
        if (cached->other >= 0) {
            const double gap = gap_along(other, cached->other / 2, box, centre);
            axis.gap = gap > axis.gap ? gap : axis.gap;
        }
        met = axis.gap < how->margin;
        if (met) {
            axis.normal = scale((cached->face % 2 == 1) == of_a ? 1 : -1, box->axis[cached->face / 2]);
            STI_TRY(sti_manifold_along_again(placed.a, placed.b, &axis, placed.origin, how, out, &met, err));
        }
    }
    if (met) return ST_OK;
    if (how->cached != NULL) how->cached->room = 0;
    Boxes x = {.a = placed.a, .b = placed.b};
    x.centre = sub(x.b->p, x.a->p);
    vec3_store(x.ha, x.a->half);
    vec3_store(x.hb, x.b->half);
    for (int i = 0; i < 3; i++) {
        x.t[i] = dot(x.a->axis[i], x.centre);
        for (int j = 0; j < 3; j++) {
            x.R[i][j] = dot(x.a->axis[i], x.b->axis[j]);
            x.Q[i][j] = fabs(x.R[i][j]);
        }
    }

    Axis axis = {.gap = -INFINITY, .edge_a = FACE_A};
    for (int i = 0; i < 3; i++) {
        const double gap = face_gap(x.t[i], x.ha[i], x.hb, x.Q[i][0], x.Q[i][1], x.Q[i][2]);
        box_box_take(&axis, gap, x.t[i], x.a->axis[i], FACE_A, i);
    }
    for (int j = 0; j < 3; j++) {
        const double along = dot(x.b->axis[j], x.centre);
        const double gap = face_gap(along, x.hb[j], x.ha, x.Q[0][j], x.Q[1][j], x.Q[2][j]);
        box_box_take(&axis, gap, along, x.b->axis[j], FACE_B, j);
    }

    if (axis.gap < how->margin) {
        double size = x.a->size + x.b->size, rounding = 1e-14 * size;
        double tie = STI_TIE * size; /* of equally good axes, a face is preferred */
        const double of_face = axis.gap;
        axis.gap += tie;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
                double square = sine_square(&x, i, j);
                if (square < PARALLEL * PARALLEL) continue; /* covered by the faces */
                double along = x.t[i2] * x.R[i1][j] - x.t[i1] * x.R[i2][j], length = sqrt(square);
                double reach =
                    x.ha[i1] * x.Q[i2][j] + x.ha[i2] * x.Q[i1][j] + x.hb[j1] * x.Q[i][j2] + x.hb[j2] * x.Q[i][j1];
                /* clearly less than the best despite rounding: most of them */
                if (fabs(along) - reach + rounding < axis.gap * length) continue;
                if (square < NEARLY_PARALLEL * NEARLY_PARALLEL) {
                    try_nearly_parallel(&x, i, j, &axis);
                    continue;
                }
                if (!((fabs(along) - reach) / length > axis.gap)) continue;
                box_box_take(&axis, (fabs(along) - reach) / length, along,
                             scale(1 / length, cross(x.a->axis[i], x.b->axis[j])), i, j);
            }
        if (axis.edge_a < 0) axis.gap = of_face;
    }
    if (how->planar >= 0 && !sti_is_in_plane(axis.normal, how->planar)) /* one of them is tilted out of the plane */
        return sti_convex_convex(a, pose_a, b, pose_b, how, out, err);
    if (!(axis.gap < how->margin)) {
        if (how->apart != NULL) *how->apart = axis.gap;
        return ST_OK;
    }
    sti_Distance d = {.gap = axis.gap, .normal = axis.normal, .swing = 1};
    if (axis.edge_a < 0) {
        if (how->cached != NULL) d.room = box_box_room_of_face(&x, &axis);
        STI_TRY(sti_manifold_along(x.a, x.b, &d, placed.origin, how, out, &met, err));
        if (met) return ST_OK;
    }
    sti_Collide uncached = *how; /* cached features belong to the general function in convex.c */
    uncached.cached = NULL;
    d.room = 0;
    if (axis.edge_a < 0 || !edge_points(&x, &axis, &d)) sti_core_distance(x.a, x.b, how->margin, NULL, &d);
    if (d.beyond) return ST_OK;
    return sti_manifold(x.a, x.b, &d, placed.origin, &uncached, out, err);
}
