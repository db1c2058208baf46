/* collide/volume.c -- mass, centre and inertia of a shape of constant density, exactly.
 *
 * Polyhedra (hulls, closed meshes) by the divergence theorem, as a sum over the tetrahedra of the origin and
 * each triangle a, b, c with signed volume V = a.(b x c)/6 (Blow & Binstock 2004; Tonon 2004):
 *
 *     int x = V (a + b + c)/4,   int x x' = V/20 ( s s' + a a' + b b' + c c' ),  s = a + b + c.
 */
#include "collide/shape.h"

#define PI 3.14159265358979323846

/* Inertia from second moments: tr(S) 1 - S. */
static st_Mat3 inertia_of(double S[3][3])
{
    st_Mat3 J;
    double trace = S[0][0] + S[1][1] + S[2][2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            J.m[3 * i + j] = (i == j ? trace : 0) - S[i][j];
    return J;
}

static void set_diagonal(sti_MassProperties *out, double m, double Sx, double Sy, double Sz)
{
    out->mass = m;
    out->inertia = (st_Mat3){{Sy + Sz, 0, 0, 0, Sx + Sz, 0, 0, 0, Sx + Sy}};
}

typedef struct Sum {
    double volume, S[3][3];
    st_Vec3 first;
} Sum;

static void add_tetrahedron(Sum *sum, st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    double V = dot(a, cross(b, c)) / 6, p[4][3];
    st_Vec3 s = add(a, add(b, c));
    vec3_store(p[0], a), vec3_store(p[1], b), vec3_store(p[2], c), vec3_store(p[3], s);
    sum->volume += V;
    sum->first = add(sum->first, scale(V / 4, s));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                sum->S[i][j] += V / 20 * p[k][i] * p[k][j];
}

static void finish(const Sum *sum, double density, sti_MassProperties *out)
{
    double S[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            S[i][j] = density * sum->S[i][j];
    out->mass = density * sum->volume;
    out->centre = scale(1 / sum->volume, sum->first);
    out->inertia = inertia_of(S);
}

static void hull_mass(const st_ShapeDef *def, const sti_Facets *f, sti_MassProperties *out)
{
    Sum sum = {0};
    for (int k = 0; k < f->n_faces; k++) {
        const int *loop = f->face_vertex + f->face_first[k];
        for (int i = 1; i + 1 < f->face_first[k + 1] - f->face_first[k]; i++)
            add_tetrahedron(&sum, f->vertex[loop[0]], f->vertex[loop[i]], f->vertex[loop[i + 1]]);
    }
    finish(&sum, def->density, out);
}

static st_Status mesh_mass(const st_ShapeDef *def, const sti_Mesh *mesh, sti_MassProperties *out, st_Error *err)
{
    if (!mesh->solid)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "its %d triangles do not close a volume (each edge must have two triangles that run against "
                        "each other): give the body's mass and inertia, or a density of 0",
                        def->n_triangles);
    Sum sum = {0};
    for (int t = 0; t < def->n_triangles; t++) {
        const int *v = def->triangles + 3 * (ptrdiff_t)t;
        add_tetrahedron(&sum, def->points[v[0]], def->points[v[1]], def->points[v[2]]);
    }
    if (!(sum.volume > 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "its triangles enclose a volume of %g, must be > 0: they must run counter-clockwise seen from "
                        "outside",
                        sum.volume);
    finish(&sum, def->density, out);
    return ST_OK;
}

/* Second moments int x^2 of cylinder and cone about the origin; the cone's origin is its centre. */
static void round_mass(const st_ShapeDef *def, sti_MassProperties *out)
{
    double r = def->radius, l = def->length, disc = PI * r * r * def->density, m, S;
    if (def->type == ST_SHAPE_CYLINDER) {
        m = disc * l;
        set_diagonal(out, m, m * r * r / 4, m * r * r / 4, m * l * l / 12);
    } else if (def->type == ST_SHAPE_CONE) {
        m = disc * l / 3;
        set_diagonal(out, m, m * r * r * 3 / 20, m * r * r * 3 / 20, m * l * l * 3 / 80);
    } else { /* capsule: a cylinder, and two half balls whose flat sides are at +-l/2 */
        double tube = disc * l, ball = disc * r * 4 / 3;
        S = tube * r * r / 4 + ball * r * r / 5;
        set_diagonal(out, tube + ball, S, S,
                     tube * l * l / 12 + ball * (r * r / 5 + l * l / 4 + 2 * (l / 2) * (3 * r / 8)));
    }
}

st_Status sti_shape_mass(const st_ShapeDef *def, const sti_Shape *compiled, sti_MassProperties *out, st_Error *err)
{
    double x = def->half.x, y = def->half.y, z = def->half.z, r = def->radius, m;
    *out = (sti_MassProperties){0};
    if (def->density == 0) return ST_OK;
    switch (def->type) {
    case ST_SHAPE_POINT:
    case ST_SHAPE_PLANE:
    case ST_SHAPE_HEIGHT_FIELD:
        break; /* no volume of their own */
    case ST_SHAPE_BAR:
        m = def->density * def->length;
        set_diagonal(out, m, m * def->length * def->length / 12, 0, 0);
        break;
    case ST_SHAPE_SPHERE:
        m = def->density * 4.0 / 3.0 * PI * r * r * r;
        set_diagonal(out, m, m * r * r / 5, m * r * r / 5, m * r * r / 5);
        break;
    case ST_SHAPE_ELLIPSOID:
        m = def->density * 4.0 / 3.0 * PI * x * y * z;
        set_diagonal(out, m, m * x * x / 5, m * y * y / 5, m * z * z / 5);
        break;
    case ST_SHAPE_BOX:
        m = def->density * 8 * x * y * z;
        set_diagonal(out, m, m * x * x / 3, m * y * y / 3, m * z * z / 3);
        break;
    case ST_SHAPE_CAPSULE:
    case ST_SHAPE_CYLINDER:
    case ST_SHAPE_CONE:
        round_mass(def, out);
        break;
    case ST_SHAPE_HULL:
        hull_mass(def, &compiled->hull->facets, out);
        break;
    case ST_SHAPE_MESH:
        return mesh_mass(def, compiled->mesh, out, err);
    }
    return ST_OK;
}
