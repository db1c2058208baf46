/* collide/narrow/cached_features.c -- the distance of two polytopes from the features of the last step, with a proof
 * that it is correct.
 *
 * At rest, the face and the corner (or the two edges) that are nearest to each other stay the same for thousands of
 * steps. Their distance has a closed form; the costly part is to show that no other features matter.
 *
 * Let n be the face's normal, or the common normal of the edges, and let all other corners of each polytope be below
 * its feature along n. Then the features form a face F of A - B: the face of A moved by the corner of B, or the
 * parallelogram of the two edges. The foot of the origin on the plane of F is given by the nearest points of the
 * features; let it be inside F, by rho (for edges: how far from their ends, times the sine of their angle).
 *
 * Apart. The distance is at most that of the points and at least the separation along n; both are equal.
 *
 * Overlapping by d along n. A - B holds the disc of radius rho around the foot, at the height d over the origin, and
 * any difference x of two corners, at the depth W under it and ell aside:
 *
 *        ----- rho -----          the distance of the origin from the sides of this cone is at least
 *         \      | d   /
 *          \     0    /               ( rho W - ell d ) / sqrt( (rho + ell)^2 + (W + d)^2 ).
 *           \    | W /
 *            \   |  /             Where that is more than d, the ball of radius d about the origin is in A - B
 *                 x              and touches its surface at the foot only: no other axis separates as much as n.
 *
 * All this must hold with a margin (CLEAR, LIFT, ROOM), so that a search without a guess ends with the same features
 * and formulas: GJK's direction is then off by less than its error (1e-11) over CLEAR, which LIFT is above, and the
 * axes of sat.c that are turned from n by more than LIFT are worse by more than CLEAR LIFT; nearer ones have no corners
 * there. The result does not depend on the guess.
 *
 * How far may the cores move until this must be checked again? Let D be the sum of the motions of their points. Then
 * neither turns by more than D / (the smaller size), a point that is r from the middle of a core of size s moves
 * over it by no more than (1 + r/s) D, and the normal of two edges turns 1 / (sine of their angle) as fast. This
 * gives a bound for each of the conditions above; that of the cone is found by trial. Only whether they touch is
 * checked every time, because gaps at rest are small.
 */
#include "collide/narrow/manifold.h"

/* Relative to the sizes: how far inside its feature a nearest point must be, and how far below it the other corners. */
#define CLEAR 1e-4
#define LIFT  1e-6
/* Relative to the sizes: distances with an uncertain sign. */
#define TOUCHING 1e-8
/* Required ratio of the distance of the cone's sides to the depth. */
#define ROOM 1.5
/* Least sine of the angle of two edges that cross. */
#define CROSSING 1e-2

enum { FACE_CORNER = 1, CORNER_FACE, EDGE_EDGE };
#define INDEX_BITS 15
#define MOST_INDEX (1 << INDEX_BITS)

static uint32_t features_pack(int kind, int i, int j)
{
    if (i < 0 || j < 0 || i >= MOST_INDEX || j >= MOST_INDEX) return 0;
    return (uint32_t)kind << 2 * INDEX_BITS | (uint32_t)i << INDEX_BITS | (uint32_t)j;
}

static int features_kind_of(uint32_t features)
{
    return (int)(features >> 2 * INDEX_BITS);
}
static int features_first_of(uint32_t features)
{
    return (int)(features >> INDEX_BITS & (MOST_INDEX - 1u));
}
static int second_of(uint32_t features)
{
    return (int)(features & (MOST_INDEX - 1u));
}

static st_Vec3 scaled(st_Vec3 a, st_Vec3 half)
{
    return vec3(a.x * half.x, a.y * half.y, a.z * half.z);
}

/* ---- which features ------------------------------------------------------------------------------ */

/* The corners that are farthest along n up to `within`: their number, and the first two. */
static int top_corners(const sti_Core *core, st_Vec3 n, double within, int first[2])
{
    const sti_Facets *f = core->facets;
    const st_Vec3 along = scaled(core_to_local(core, n), core->half);
    double top = -INFINITY;
    int count = 0;
    for (int k = 0; k < f->n_vertices; k++)
        top = fmax(top, dot(f->vertex[k], along));
    for (int k = 0; k < f->n_vertices; k++) {
        if (dot(f->vertex[k], along) < top - within) continue;
        if (count < 2) first[count] = k;
        count++;
    }
    return count;
}

static int facing(const sti_Core *core, st_Vec3 n)
{
    const st_Vec3 local = core_to_local(core, n);
    int best = -1;
    double most = -INFINITY;
    for (int k = 0; k < core->facets->n_faces; k++) {
        const double along = dot(core->facets->normal[k], local);
        if (along > most) most = along, best = k;
    }
    return best;
}

int sti_edge_between(const sti_Facets *f, const int end[2])
{
    for (int k = 0; k < f->n_edges; k++) {
        const int *edge = f->edge + (ptrdiff_t)4 * k;
        if ((edge[0] == end[0] && edge[1] == end[1]) || (edge[0] == end[1] && edge[1] == end[0])) return k;
    }
    return -1;
}

uint32_t sti_features_along(const sti_Core *a, const sti_Core *b, st_Vec3 n)
{
    int of_a[2], of_b[2];
    if (a->facets == NULL || b->facets == NULL) return sti_parts_along(a, b, n);
    const double within = 0.5 * LIFT * (a->size + b->size);
    const int n_a = top_corners(a, n, within, of_a), n_b = top_corners(b, scale(-1, n), within, of_b);
    if (n_a == 2 && n_b == 2)
        return features_pack(EDGE_EDGE, sti_edge_between(a->facets, of_a), sti_edge_between(b->facets, of_b));
    if (n_a > 2 && n_b == 1) return features_pack(FACE_CORNER, facing(a, n), of_b[0]);
    if (n_a == 1 && n_b > 2) return features_pack(CORNER_FACE, of_a[0], facing(b, scale(-1, n)));
    return 0;
}

/* ---- proof --------------------------------------------------------------------------------------- */

/* How far along n are all other corners below one corner, or below the two of an edge? Not positive if they are not
 * clearly below. Also returns the lowest corner. All corners are read, because an early exit would be mispredicted. */
static double standing_out(const sti_Core *core, st_Vec3 n, const int feature[2], double size, int *lowest)
{
    const sti_Facets *f = core->facets;
    const int i = feature[0], j = feature[1];
    const st_Vec3 along = scaled(core_to_local(core, n), core->half);
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < f->n_vertices; k++) {
        const double height = dot(f->vertex[k], along);
        const bool other = (k != i) & (k != j);
        const double as_most = other ? height : -INFINITY, as_least = other ? height : INFINITY;
        most = as_most > most ? as_most : most;
        *lowest = as_least < least ? k : *lowest;
        least = as_least < least ? as_least : least;
    }
    return dot(f->vertex[i], along) - LIFT * size - most;
}

/* Does the cone from the disc to x, a point of A - B, leave room for the ball? x has the error `off`. */
static bool holds_ball(double rho, double depth, st_Vec3 x, st_Vec3 n, double off)
{
    const double height = -dot(n, x), W = height - off, ell = norm(add(x, scale(height, n))) + off;
    const double wide = rho + ell, high = W + depth;
    return W > 0 && rho * W - ell * depth > ROOM * depth * sqrt(wide * wide + high * high);
}

/* The largest part of `room` after which the ball still fits; x is the difference of two corners at most `size`
 * apart. */
static double room_for_ball(double room, double rho, double gap, st_Vec3 x, st_Vec3 n, double turns, double speed)
{
    for (int k = 0; k < 4; k++, room *= 0.25) {
        const double depth = fmax(-gap, 0) + speed * room;
        if (holds_ball(rho - speed * room, depth, x, n, (1 + turns * norm(x)) * speed * room)) return room;
    }
    return 0;
}

/* How far is p, a point of its plane, inside the face? Negative: outside. */
double sti_face_clearance(const sti_Core *core, int face, st_Vec3 p)
{
    const sti_Facets *f = core->facets;
    const int *corner = f->face_vertex + f->face_first[face], n = f->face_first[face + 1] - f->face_first[face];
    const st_Vec3 local = core_to_local(core, sub(p, core->p));
    double least = INFINITY;
    st_Vec3 from = scaled(f->vertex[corner[n - 1]], core->half);
    for (int k = 0; k < n; k++) {
        const st_Vec3 to = scaled(f->vertex[corner[k]], core->half), outward = cross(sub(to, from), f->normal[face]);
        const double inside = dot(outward, sub(from, local));
        if (inside < 0) return -1;
        least = fmin(least, inside * inside / dot(outward, outward));
        from = to;
    }
    return sqrt(least);
}

static bool face_is_certain(const sti_Core *core, int face, const sti_Core *other, int corner, st_Vec3 n, st_Vec3 on,
                            st_Vec3 q, sti_Distance *out)
{
    const double size = core->size + other->size, smaller = fmin(core->size, other->size);
    const int alone[2] = {corner, corner};
    int lowest = corner;
    const double over = standing_out(other, scale(-1, n), alone, size, &lowest);
    if (!(over > 0)) return false;
    const double rho = sti_face_clearance(core, face, sub(q, scale(out->gap, n)));
    if (!(rho > CLEAR * size)) return false;
    const st_Vec3 x = sub(on, sti_core_vertex(other, lowest));
    if (out->gap < 0 && !holds_ball(rho, -out->gap, x, n, 0)) return false;
    const double speed = 1 + norm(sub(q, core->p)) / core->size;
    out->room = fmin(over * smaller / (2 * other->size), (rho - CLEAR * size) / speed);
    out->room = room_for_ball(out->room, rho, out->gap, x, n, 1 / smaller, speed);
    return true;
}

/* A face of one and a corner of the other; sign -1: the face is b's. `proved`: it was proved before, and the motion
 * is within its room. */
static bool face_and_corner(const sti_Core *core, int face, const sti_Core *other, int corner, double sign, bool proved,
                            sti_Distance *out)
{
    const double size = core->size + other->size;
    st_Vec3 n, on;
    sti_core_face(core, face, &n, &on);
    const st_Vec3 q = sti_core_vertex(other, corner);
    const double gap = dot(n, sub(q, on));
    if (!(fabs(gap) > TOUCHING * size)) return false;
    *out = (sti_Distance){.gap = gap, .normal = scale(sign, n), .a = q, .b = q, .swing = 1};
    if (sign > 0)
        out->a = sub(q, scale(gap, out->normal));
    else
        out->b = add(q, scale(gap, out->normal));
    return proved || face_is_certain(core, face, other, corner, n, on, q, out);
}

/* The distance of p, a point on an edge, from its ends. Negative: it is beyond one. */
static double from_ends(const st_Vec3 end[2], st_Vec3 p)
{
    const st_Vec3 way = sub(end[1], end[0]);
    const double length = norm(way), at = dot(sub(p, end[0]), way) / length;
    return fmin(at, length - at);
}

/* The common normal of two edges, out of a, and their ends; returns the sine of their angle. */
static double axis_of_edges(const sti_Core *a, int i, const sti_Core *b, int j, st_Vec3 end_a[2], st_Vec3 end_b[2],
                            st_Vec3 *n)
{
    const int *edge_a = a->facets->edge + (ptrdiff_t)4 * i, *edge_b = b->facets->edge + (ptrdiff_t)4 * j;
    for (int s = 0; s < 2; s++)
        end_a[s] = sti_core_vertex(a, edge_a[s]), end_b[s] = sti_core_vertex(b, edge_b[s]);
    const st_Vec3 way_a = sub(end_a[1], end_a[0]), way_b = sub(end_b[1], end_b[0]);
    const double sine = sti_edges_axis(way_a, norm(way_a), way_b, norm(way_b), n);
    const st_Vec3 beside = add(a->facets->normal[edge_a[2]], a->facets->normal[edge_a[3]]);
    if (dot(core_to_local(a, *n), beside) < 0) *n = scale(-1, *n);
    return sine;
}

/* The end of an edge that sti_support() returns if no other corner is as far. */
static st_Vec3 farther_end(const sti_Core *core, const int edge[2], const st_Vec3 end[2], st_Vec3 d)
{
    if (core->kind == STI_CORE_BOX) return sti_support(core, d);
    const st_Vec3 local = core_to_local(core, d), *vertex = core->facets->vertex;
    const double first = dot(vertex[edge[0]], local), second = dot(vertex[edge[1]], local);
    return end[second > first || (second == first && edge[1] < edge[0])];
}

static bool edges_are_certain(const sti_Core *a, int i, const sti_Core *b, int j, const st_Vec3 end_a[2],
                              const st_Vec3 end_b[2], double sine, sti_Distance *out)
{
    const int *edge_a = a->facets->edge + (ptrdiff_t)4 * i, *edge_b = b->facets->edge + (ptrdiff_t)4 * j;
    const double size = a->size + b->size, smaller = fmin(a->size, b->size);
    const st_Vec3 n = out->normal;
    int lowest_a = edge_a[0], lowest_b = edge_b[0];
    const double over_a = standing_out(a, n, edge_a, size, &lowest_a);
    if (!(over_a > 0)) return false;
    const double over_b = standing_out(b, scale(-1, n), edge_b, size, &lowest_b);
    if (!(over_b > 0)) return false;
    const double rho = sine * fmin(from_ends(end_a, out->a), from_ends(end_b, out->b));
    if (!(rho > CLEAR * size)) return false;
    const st_Vec3 x = sub(sti_core_vertex(a, lowest_a), sti_core_vertex(b, lowest_b));
    if (out->gap < 0 && !holds_ball(rho, -out->gap, x, n, 0)) return false;
    /* the nearest points move along their edges by the motion of the cores over the sine; and the sine changes */
    const double speed = 4 + 4 * size / smaller;
    const double over = fmin(over_a / a->size, over_b / b->size);
    out->room =
        fmin(fmin(0.5 * over * smaller * sine, (rho - CLEAR * size) / speed), 0.5 * (sine - CROSSING) * smaller);
    out->room = room_for_ball(out->room, rho, out->gap, x, n, 2 / (sine * smaller), speed);
    out->swing = 2 / sine;
    return true;
}

static bool edge_and_edge(const sti_Core *a, int i, const sti_Core *b, int j, bool proved, sti_Distance *out)
{
    const int *edge_a = a->facets->edge + (ptrdiff_t)4 * i, *edge_b = b->facets->edge + (ptrdiff_t)4 * j;
    st_Vec3 end_a[2], end_b[2], n;
    const double sine = axis_of_edges(a, i, b, j, end_a, end_b, &n);
    if (!(sine > CROSSING)) return false;
    const st_Vec3 on_a = farther_end(a, edge_a, end_a, n), on_b = farther_end(b, edge_b, end_b, scale(-1, n));
    const double gap = dot(n, sub(on_b, on_a));
    if (!(fabs(gap) > TOUCHING * (a->size + b->size))) return false;
    *out = (sti_Distance){.gap = gap, .normal = n};
    sti_nearest_on_lines(end_a, end_b, &out->a, &out->b);
    return proved || edges_are_certain(a, i, b, j, end_a, end_b, sine, out);
}

bool sti_features_axis(const sti_Core *a, const sti_Core *b, uint32_t features, st_Vec3 *n)
{
    if (features == 0 || a->facets == NULL || b->facets == NULL) return false;
    const int kind = features_kind_of(features), i = features_first_of(features), j = second_of(features);
    st_Vec3 end_a[2], end_b[2];
    if (kind == EDGE_EDGE) return axis_of_edges(a, i, b, j, end_a, end_b, n) > CROSSING;
    sti_core_face(kind == FACE_CORNER ? a : b, kind == FACE_CORNER ? i : j, n, &end_a[0]);
    if (kind == CORNER_FACE) *n = scale(-1, *n);
    return true;
}

bool sti_features_distance(const sti_Core *a, const sti_Core *b, uint32_t features, double beyond, bool proved,
                           sti_Distance *out)
{
    if (features == 0) return false;
    if (a->facets == NULL || b->facets == NULL) return sti_parts_distance(a, b, features, beyond, out);
    const int kind = features_kind_of(features), i = features_first_of(features), j = second_of(features);
    const bool certain = kind == FACE_CORNER   ? face_and_corner(a, i, b, j, 1, proved, out)
                         : kind == CORNER_FACE ? face_and_corner(b, j, a, i, -1, proved, out)
                                               : edge_and_edge(a, i, b, j, proved, out);
    if (!certain) return false;
    out->features = features;
    out->beyond = core_is_beyond(out->gap, beyond, a->size + b->size);
    return true;
}

void sti_features_split(uint32_t features, sti_Farthest *of_a, sti_Farthest *of_b)
{
    static const sti_FarthestKind kinds[4][2] = {{STI_FARTHEST_UNKNOWN, STI_FARTHEST_UNKNOWN},
                                                 [FACE_CORNER] = {STI_FARTHEST_FACE, STI_FARTHEST_CORNER},
                                                 [CORNER_FACE] = {STI_FARTHEST_CORNER, STI_FARTHEST_FACE},
                                                 [EDGE_EDGE] = {STI_FARTHEST_EDGE, STI_FARTHEST_EDGE}};
    const int kind = features_kind_of(features);
    *of_a = (sti_Farthest){kinds[kind][0], features_first_of(features)};
    *of_b = (sti_Farthest){kinds[kind][1], second_of(features)};
}
