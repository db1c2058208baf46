/* import/mesh_mass.c -- integrals of 1, x and x x' over the tetrahedra between triangles and a point, or over the
 * triangles themselves:
 *
 *     tetrahedron (0, a, b, c):   V = a . (b x c)/6,   int x = V s/4,       int x x' = V/20 (s s' + a a' + b b' + c c')
 *     triangle (a, b, c):         A = |..|/2,          int x = A s/3,       int x x' = A/12 (s s' + a a' + b b' + c c')
 *
 * with s = a + b + c.
 */
#include "import/mesh_mass.h"

#include "math/quat.h"

#include <stiction/scene.h>

#include <stdlib.h>

typedef struct Sums {
    double volume;
    st_Vec3 first;
    double second[9]; /* int x x' */
} Sums;

static void add_square(double *out, double factor, st_Vec3 v)
{
    const double x[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 9; k++)
        out[k] += factor * x[k / 3] * x[k % 3];
}

static void add_part(Sums *sums, double volume, double n, st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    const st_Vec3 s = add(a, add(b, c));
    const double factor = volume / (n * (n + 1)); /* n: corners */
    sums->volume += volume;
    sums->first = add(sums->first, scale(volume / n, s));
    add_square(sums->second, factor, s);
    add_square(sums->second, factor, a);
    add_square(sums->second, factor, b);
    add_square(sums->second, factor, c);
}

static double area_of(st_Vec3 a, st_Vec3 b, st_Vec3 c)
{
    return 0.5 * norm(cross(sub(b, a), sub(c, a)));
}

static st_Status integrate(const sti_Model *model, sti_MeshMass how, sti_Solid *out, st_Error *err)
{
    Sums sums = {0};
    st_Vec3 middle = {0, 0, 0}; /* centre of the surface: the common tip of the tetrahedra */
    double area = 0, size = 0;
    for (int k = 0; k < model->n_triangles; k++) {
        const int *t = model->triangles + 3 * (size_t)k;
        const st_Vec3 a = model->points[t[0]], b = model->points[t[1]], c = model->points[t[2]];
        const double part = area_of(a, b, c);
        area += part;
        middle = add(middle, scale(part / 3, add(a, add(b, c))));
    }
    if (area > 0) middle = scale(1 / area, middle);
    for (int k = 0; k < model->n_triangles; k++) {
        const int *t = model->triangles + 3 * (size_t)k;
        const st_Vec3 a = sub(model->points[t[0]], middle), b = sub(model->points[t[1]], middle),
                      c = sub(model->points[t[2]], middle);
        const double volume = dot(a, cross(b, c)) / 6;
        size = fmax(size, fmax(norm(a), fmax(norm(b), norm(c))));
        if (how == STI_MESH_SHELL)
            add_part(&sums, area_of(a, b, c), 3, a, b, c);
        else
            add_part(&sums, how == STI_MESH_LEGACY ? fabs(volume) : volume, 4, a, b, c);
    }
    const double least = how == STI_MESH_SHELL ? 0 : 1e-9 * size * size * size;
    if (!(sums.volume > least))
        return sti_fail(err, ST_ERR_ARGUMENT, "its triangles close a volume of %g m^3, must be > 0", sums.volume);
    const st_Vec3 d = scale(1 / sums.volume, sums.first);
    double trace = 0;
    add_square(sums.second, -sums.volume, d);
    trace = sums.second[0] + sums.second[4] + sums.second[8];
    for (int k = 0; k < 9; k++)
        out->inertia.m[k] = (k % 4 == 0 ? trace : 0) - sums.second[k];
    out->volume = sums.volume;
    out->centre = add(middle, d);
    return ST_OK;
}

st_Status sti_mesh_mass(const sti_Model *model, sti_MeshMass how, sti_Solid *out, st_Error *err)
{
    sti_Model hull = {0};
    if (how != STI_MESH_CONVEX && model->n_triangles > 0) return integrate(model, how, out, err);
    STI_TRY(st_hull_faces(model->points, model->n_points, &hull.points, &hull.n_points, &hull.triangles,
                          &hull.n_triangles, err));
    st_Status status = integrate(&hull, how == STI_MESH_SHELL ? STI_MESH_SHELL : STI_MESH_EXACT, out, err);
    sti_model_free(&hull);
    return status;
}
