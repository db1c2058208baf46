/* collide/narrow/gjk.c -- distance of two convex cores (Gilbert, Johnson & Keerthi 1988).
 *
 * The distance of A and B is that of the origin to A - B = { a - b }. A simplex of at most four of its points moves
 * towards the origin: with v the simplex's point nearest to the origin, add the support point w of A - B along -v and
 * keep the smallest face that still contains the nearest point. Then
 *
 *     v.w / |v|  <=  distance  <=  |v|,
 *
 * so the error is known and ends the loop. Differences to the paper: the nearest point of a simplex is the best of
 * all its faces, each by a closed form, instead of Johnson's recursion. This is slightly slower, but thin simplices,
 * which are usual near the end, cannot select a wrong region. And the normal is the direction of the best lower
 * bound, not of the last v: near touching v is a small difference of long vectors, which rounding may shorten and
 * turn anywhere.
 */
#include "collide/narrow/support.h"

#define MAX_ROUNDS 128
#define ROUNDING   4e-16

typedef struct Nearest {
    st_Vec3 v;
    double square;
    double weight[4];
} Nearest;

static void take_better(Nearest *best, const Nearest *other)
{
    if (other->square < best->square) *best = *other;
}

static void gjk_try_edge(const sti_Simplex *s, int i, int j, Nearest *best)
{
    Nearest here = {.weight = {0}};
    st_Vec3 d = sub(s->w[j], s->w[i]);
    double square = dot(d, d), t = square > 0 ? -dot(s->w[i], d) / square : 0;
    t = fmin(fmax(t, 0), 1);
    here.weight[i] = 1 - t, here.weight[j] = t;
    /* from the nearer end, so that no digits are lost if one is far */
    st_Vec3 v = t <= 0.5 ? add(s->w[i], scale(t, d)) : sub(s->w[j], scale(1 - t, d));
    /* a short v is perpendicular to a long d only to half the digits, and the next support point would be that of
     * another direction */
    here.v = t > 0 && t < 1 ? sub(v, scale(dot(v, d) / square, d)) : v;
    here.square = dot(here.v, here.v);
    take_better(best, &here);
}

/* Only inside the triangle; its edges are tried separately. */
static void gjk_try_triangle(const sti_Simplex *s, int i, int j, int k, Nearest *best)
{
    st_Vec3 a = s->w[i], b = s->w[j], c = s->w[k];
    st_Vec3 u = sub(b, a), v = sub(c, a), n = cross(u, v);
    double square = dot(n, n);
    if (!(square > 1e-24 * dot(u, u) * dot(v, v))) return; /* degenerate to a line: its edges are as near */
    double x = dot(n, cross(b, c)), y = dot(n, cross(c, a)), z = dot(n, cross(a, b));
    if (x < 0 || y < 0 || z < 0) return;
    double sum = x + y + z;
    if (!(sum > 0)) return;
    Nearest here = {.weight = {0}};
    here.weight[i] = x / sum, here.weight[j] = y / sum, here.weight[k] = z / sum;
    here.v = scale(dot(n, a) / square, n);
    /* the plane of a thin triangle is inaccurate, and may seem nearer than any point of the triangle */
    const st_Vec3 point = add(scale(x / sum, a), add(scale(y / sum, b), scale(z / sum, c))), off = sub(point, here.v);
    if (dot(off, off) > 0.01 * dot(here.v, here.v)) here.v = point;
    here.square = dot(here.v, here.v);
    take_better(best, &here);
}

static double volume(st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    return dot(a, cross(b, c));
}

/* Inside the tetrahedron the nearest point is the origin itself. */
static void try_inside(const sti_Simplex *s, Nearest *best)
{
    const st_Vec3 *w = s->w;
    double all = volume(sub(w[1], w[0]), sub(w[2], w[0]), sub(w[3], w[0]));
    double part[4] = {volume(w[1], w[2], w[3]), -volume(w[0], w[2], w[3]), volume(w[0], w[1], w[3]),
                      -volume(w[0], w[1], w[2])};
    double sign = all > 0 ? 1 : -1;
    double size = norm(sub(w[1], w[0])) * norm(sub(w[2], w[0])) * norm(sub(w[3], w[0]));
    if (!(fabs(all) > 1e-12 * size)) return; /* flat: inside and outside are rounding; its faces are as near */
    for (int k = 0; k < 4; k++)
        if (!(sign * part[k] > 0)) return;
    *best = (Nearest){.v = {0, 0, 0}, .square = 0};
    for (int k = 0; k < 4; k++)
        best->weight[k] = part[k] / (part[0] + part[1] + part[2] + part[3]);
}

static void gjk_append(sti_Simplex *s, const sti_Core *a, const sti_Core *b, st_Vec3 d)
{
    s->a[s->n] = sti_support(a, d);
    s->b[s->n] = sti_support(b, scale(-1, d));
    s->w[s->n] = sub(s->a[s->n], s->b[s->n]);
    s->n++;
}

bool sti_gjk(const sti_Core *a, const sti_Core *b, double touching, double beyond, sti_Simplex *s, sti_Distance *out)
{
    st_Vec3 d = sub(b->p, a->p);
    if (!(dot(d, d) > 0)) d = vec3(1, 0, 0);
    s->n = 0;
    gjk_append(s, a, b, d);
    s->weight[0] = 1;
    Nearest nearest = {.v = s->w[0], .square = dot(s->w[0], s->w[0])};
    double lower = -INFINITY, size = a->size + b->size;
    st_Vec3 normal = d;
    for (out->rounds = 0; out->rounds < MAX_ROUNDS; out->rounds++) {
        if (nearest.square <= touching * touching) return false;
        gjk_append(s, a, b, scale(-1, nearest.v));
        double distance = sqrt(nearest.square), along = dot(nearest.v, s->w[s->n - 1]) / distance;
        if (along >= lower) lower = along, normal = scale(-1 / distance, nearest.v);
        if (core_is_beyond(along, beyond, size)) {
            *out = (sti_Distance){.gap = along, .normal = scale(-1 / distance, nearest.v), .beyond = true};
            return true;
        }
        bool done = distance - lower <= ROUNDING * (size + distance);
        const st_Vec3 newest = s->w[s->n - 1];
        for (int k = 0; k < s->n - 1 && !done; k++) /* a point that it has already */
            done = s->w[k].x == newest.x && s->w[k].y == newest.y && s->w[k].z == newest.z;
        /* the nearest point of the simplex: the best of its corners, edges, triangles and, around the origin, itself */
        Nearest next = {.v = s->w[0], .square = dot(s->w[0], s->w[0]), .weight = {1, 0, 0, 0}};
        for (int i = 0; i < s->n; i++)
            for (int j = i + 1; j < s->n; j++) {
                gjk_try_edge(s, i, j, &next);
                for (int k = j + 1; k < s->n; k++)
                    gjk_try_triangle(s, i, j, k, &next);
            }
        if (s->n == 4) try_inside(s, &next);
        if (done || !(next.square < nearest.square)) { /* no closer: limited by rounding */
            s->n--;
            break;
        }
        nearest = next;
        int n = 0; /* drop the points that do not contribute to the nearest one */
        for (int k = 0; k < s->n; k++) {
            if (!(nearest.weight[k] > 0)) continue;
            s->a[n] = s->a[k], s->b[n] = s->b[k], s->w[n] = s->w[k];
            s->weight[n++] = nearest.weight[k];
        }
        s->n = n;
        if (s->n == 4) return false; /* the origin is inside */
    }
    if (nearest.square <= touching * touching) return false;
    const double gap = fmax(sqrt(nearest.square), lower); /* in case rounding has made v too short */
    *out = (sti_Distance){.gap = gap, .normal = normal, .error = gap - lower, .rounds = out->rounds};
    for (int k = 0; k < s->n; k++) {
        out->a = add(out->a, scale(s->weight[k], s->a[k]));
        out->b = add(out->b, scale(s->weight[k], s->b[k]));
    }
    return true;
}
