/* collide/narrow/epa.c -- the depth of two overlapping cores (expanding polytope, van den Bergen 2001).
 *
 * The depth is the distance of the origin to the boundary of A - B. A polytope inside A - B that contains the origin
 * grows: its face nearest to the origin is replaced by faces to the support point beyond it. The face's distance is
 * a lower bound of the depth, the support's an upper one. Since the depth is min over n of h(n), h the support
 * function, and h is flat at its minimum where A - B is smooth, h of the best normal found is accurate to second
 * order in the error of the normal. It is returned.
 */
#include "collide/narrow/support.h"

#define MAX_VERTICES 192
#define MAX_FACES    512 /* a hull of 192 points has at most 380 */
#define ACCURACY     1e-11
#define CERTAIN      1e-10
#define APART        0.98 /* cosine of the angle between directions that count as different */

typedef struct Face {
    int v[3];
    st_Vec3 normal; /* outward unit */
    double distance;
    bool dead;
} Face;

typedef struct Polytope {
    int n_vertices, n_faces;
    st_Vec3 a[MAX_VERTICES], b[MAX_VERTICES], w[MAX_VERTICES];
    st_Vec3 inside; /* a point well inside: it defines inside and outside when the origin is on a face */
    Face face[MAX_FACES];
} Polytope;

static bool epa_add_face(Polytope *p, int i, int j, int k)
{
    if (p->n_faces == MAX_FACES) return false;
    Face f = {.v = {i, j, k}};
    st_Vec3 n = cross(sub(p->w[j], p->w[i]), sub(p->w[k], p->w[i]));
    double length = norm(n);
    if (!(length > 0)) return false;
    f.normal = scale(1 / length, n);
    f.distance = dot(f.normal, p->w[i]);
    p->face[p->n_faces++] = f;
    return true;
}

static int add_support(Polytope *p, const sti_Core *a, const sti_Core *b, st_Vec3 n)
{
    int k = p->n_vertices++;
    p->a[k] = sti_support(a, n);
    p->b[k] = sti_support(b, scale(-1, n));
    p->w[k] = sub(p->a[k], p->b[k]);
    return k;
}

/* Starts a tetrahedron from GJK's simplex: points are added along directions that the simplex does not span. */
static bool epa_begin(Polytope *p, const sti_Core *a, const sti_Core *b, const sti_Simplex *s)
{
    double size = a->size + b->size;
    p->n_vertices = p->n_faces = 0;
    for (int k = 0; k < s->n && k < 4; k++) {
        p->a[k] = s->a[k], p->b[k] = s->b[k], p->w[k] = s->w[k];
        p->n_vertices++;
    }
    while (p->n_vertices < 4) {
        st_Vec3 try[6];
        int n_try = 0;
        if (p->n_vertices == 1) {
            for (int e = 0; e < 3; e++)
                try[n_try++] = vec3_axis(e), try[n_try++] = scale(-1, vec3_axis(e));
        } else if (p->n_vertices == 2) {
            st_Vec3 d = sub(p->w[1], p->w[0]), u = orthogonal(scale(1 / norm(d), d)),
                    w = cross(scale(1 / norm(d), d), u);
            try[n_try++] = u, try[n_try++] = scale(-1, u), try[n_try++] = w, try[n_try++] = scale(-1, w);
        } else {
            st_Vec3 n = cross(sub(p->w[1], p->w[0]), sub(p->w[2], p->w[0]));
            n = scale(1 / norm(n), n);
            try[n_try++] = n, try[n_try++] = scale(-1, n);
        }
        int kept = -1;
        double most = 0;
        for (int t = 0; t < n_try; t++) {
            int k = add_support(p, a, b, try[t]);
            p->n_vertices--;
            st_Vec3 d = sub(p->w[k], p->w[0]);
            double spans = 0;
            if (k == 1) spans = norm(d);
            if (k == 2) spans = norm(cross(d, sub(p->w[1], p->w[0]))) / norm(sub(p->w[1], p->w[0]));
            if (k == 3) spans = fabs(dot(d, try[0]));
            if (spans > most) most = spans, kept = t;
        }
        if (kept < 0 || most <= 1e-14 * size) return false; /* A - B is flat */
        add_support(p, a, b, try[kept]);
    }
    st_Vec3 e1 = sub(p->w[1], p->w[0]), e2 = sub(p->w[2], p->w[0]), e3 = sub(p->w[3], p->w[0]);
    bool right = dot(e3, cross(e1, e2)) < 0; /* 0 1 2 seen counter-clockwise from outside, 3 inside */
    p->inside = scale(0.25, add(add(p->w[0], p->w[1]), add(p->w[2], p->w[3])));
    static const int loops[2][4][3] = {{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}},
                                       {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {0, 2, 3}}};
    for (int k = 0; k < 4; k++)
        if (!epa_add_face(p, loops[right][k][0], loops[right][k][1], loops[right][k][2])) return false;
    return true;
}

static int nearest_face(const Polytope *p)
{
    int best = -1;
    for (int k = 0; k < p->n_faces; k++)
        if (!p->face[k].dead && (best < 0 || p->face[k].distance < p->face[best].distance)) best = k;
    return best;
}

/* Replaces all faces that see vertex k by faces from their rim to it. */
static bool epa_expand(Polytope *p, int k, double size)
{
    int rim[2 * MAX_VERTICES][2], n_rim = 0;
    for (int f = 0; f < p->n_faces; f++) {
        Face *face = &p->face[f];
        if (face->dead || !(dot(face->normal, sub(p->w[k], p->w[face->v[0]])) > 1e-13 * size)) continue;
        face->dead = true;
        for (int e = 0; e < 3; e++) {
            int i = face->v[e], j = face->v[(e + 1) % 3], twin = -1;
            for (int r = 0; r < n_rim; r++)
                if (rim[r][0] == j && rim[r][1] == i) twin = r;
            if (twin >= 0) {
                rim[twin][0] = rim[n_rim - 1][0], rim[twin][1] = rim[n_rim - 1][1];
                n_rim--;
            } else {
                if (n_rim == 2 * MAX_VERTICES) return false;
                rim[n_rim][0] = i, rim[n_rim][1] = j;
                n_rim++;
            }
        }
    }
    if (n_rim < 3) return false;
    int alive = 0; /* remove dead faces */
    for (int f = 0; f < p->n_faces; f++)
        if (!p->face[f].dead) p->face[alive++] = p->face[f];
    p->n_faces = alive;
    for (int r = 0; r < n_rim; r++)
        if (!epa_add_face(p, rim[r][0], rim[r][1], k)) return false;
    return true;
}

/* Weights of a face's corners at the foot of the origin on its plane; returns the least of them. */
static double weights_of(const Polytope *p, const Face *face, double weight[3])
{
    st_Vec3 a = p->w[face->v[0]], b = p->w[face->v[1]], c = p->w[face->v[2]], at = scale(face->distance, face->normal);
    double x = dot(face->normal, cross(sub(b, at), sub(c, at))), y = dot(face->normal, cross(sub(c, at), sub(a, at)));
    double z = dot(face->normal, cross(sub(a, at), sub(b, at))), sum = x + y + z;
    weight[0] = x / sum, weight[1] = y / sum, weight[2] = z / sum;
    return fmin(weight[0], fmin(weight[1], weight[2]));
}

/* A flat part of A - B consists of many faces in one plane, all equally near: the foot is in one of them. */
static void points_from(const Polytope *p, const Face *nearest, double size, sti_Distance *out)
{
    double weight[3], best_weight[3], most = weights_of(p, nearest, best_weight);
    const Face *best = nearest;
    for (int f = 0; f < p->n_faces && most < 0; f++) {
        const Face *face = &p->face[f];
        if (face->dead || face->distance > nearest->distance + ACCURACY * size) continue;
        double least = weights_of(p, face, weight);
        if (least > most) most = least, best = face, memcpy(best_weight, weight, sizeof weight);
    }
    out->a = out->b = vec3(0, 0, 0);
    for (int k = 0; k < 3; k++) {
        out->a = add(out->a, scale(best_weight[k], p->a[best->v[k]]));
        out->b = add(out->b, scale(best_weight[k], p->b[best->v[k]]));
    }
}

void sti_epa(const sti_Core *a, const sti_Core *b, sti_Simplex *simplex, sti_Distance *out, sti_Directions *others)
{
    Polytope p;
    double size = a->size + b->size, upper = INFINITY, lower = 0;
    *out = (sti_Distance){
        .normal = vec3(0, 0, 1), .error = INFINITY, .a = simplex->a[0], .b = simplex->b[0], .rounds = out->rounds};
    others->n = 0;
    if (!epa_begin(&p, a, b, simplex)) return;
    while (p.n_vertices < MAX_VERTICES) {
        int f = nearest_face(&p);
        if (f < 0) break;
        out->rounds++;
        Face face = p.face[f];
        lower = fmax(lower, face.distance);
        int k = add_support(&p, a, b, face.normal);
        double h = dot(face.normal, p.w[k]);
        if (h <= upper + 1e-14 * size) { /* of equal ones the last, because its face is closer */
            upper = fmin(upper, h);
            out->gap = -h;
            out->normal = face.normal;
            points_from(&p, &face, size, out);
            out->error = h - lower;
        }
        if (h - face.distance <= ACCURACY * size || !epa_expand(&p, k, size)) break;
    }
    out->error = fmax(0, upper - lower);
    if (!(out->error > CERTAIN * size)) return;

    /* The nearest faces with directions different from the best one and the earlier ones. */
    for (int f = 0; f < p.n_faces; f++)
        p.face[f].dead = p.face[f].distance >= upper || dot(p.face[f].normal, out->normal) > APART;
    while (others->n < STI_MAX_DIRECTIONS) {
        const int next = nearest_face(&p);
        if (next < 0) return;
        const st_Vec3 n = others->direction[others->n++] = p.face[next].normal;
        for (int f = 0; f < p.n_faces; f++)
            if (dot(p.face[f].normal, n) > APART) p.face[f].dead = true;
    }
}
