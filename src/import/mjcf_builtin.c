/* import/mjcf_builtin.c -- meshes that MuJoCo's compiler makes from parameters: <mesh builtin="..." params="..."/>.
 *
 *     sphere (s)                 an icosahedron; s times, each triangle is divided into four
 *     hemisphere (r)             z >= 0; each quarter is a triangle divided into r + 1 parts
 *     cone (n, radius)           polygons of n sides: radius 1 at z = -1, `radius` at z = 1
 *     supersphere (n, east, north)   |x|^(2/e) ... = 1, n steps around and from pole to pole
 *     supertorus (n, radius, s, t)   a ring of radius 1, with powers of cosine and sine
 *
 * All but the last are convex: their points are enough. `wedge` and `plate` are grids of touch sensors without
 * volume. */
#include "import/mjcf.h"
#include "math/quat.h"
#include "scene/document.h"

#define MOST_STEPS 200

static json_t *with_point(json_t *points, double x, double y, double z)
{
    return sti_append_to(points, json_pack("[f, f, f]", x, y, z));
}

static json_t *with_direction(json_t *points, st_Vec3 a)
{
    a = scale(1 / norm(a), a);
    return with_point(points, a.x, a.y, a.z);
}

/* The corners of a triangle on the unit sphere that is divided s times; those of its neighbours occur again. */
static json_t *with_divided(json_t *points, st_Vec3 a, st_Vec3 b, st_Vec3 c, int s)
{
    if (s == 0) return with_direction(with_direction(with_direction(points, a), b), c);
    st_Vec3 ab = add(a, b), bc = add(b, c), ca = add(c, a);
    ab = scale(1 / norm(ab), ab), bc = scale(1 / norm(bc), bc), ca = scale(1 / norm(ca), ca);
    points = with_divided(points, a, ab, ca, s - 1);
    points = with_divided(points, ab, b, bc, s - 1);
    points = with_divided(points, ca, bc, c, s - 1);
    return with_divided(points, ab, bc, ca, s - 1);
}

static json_t *icosphere(int s)
{
    /* for each corner of the icosahedron, its triangles with the next two corners around it, each found three times */
    const double g = (1 + sqrt(5)) / 2;
    json_t *points = json_array();
    st_Vec3 corner[12];
    for (int k = 0; k < 12; k++) {
        const double a = (k & 1) != 0 ? 1 : -1, b = (k & 2) != 0 ? g : -g;
        const st_Vec3 p = k / 4 == 0 ? vec3(0, a, b) : k / 4 == 1 ? vec3(a, b, 0) : vec3(b, 0, a);
        corner[k] = scale(1 / norm(p), p);
    }
    const double edge = 4 / (1 + g * g) * (1 + 1e-9); /* squared */
    for (int i = 0; i < 12; i++)
        for (int j = i + 1; j < 12; j++)
            for (int k = j + 1; k < 12; k++) {
                const st_Vec3 a = sub(corner[i], corner[j]), b = sub(corner[j], corner[k]),
                              c = sub(corner[k], corner[i]);
                if (dot(a, a) <= edge && dot(b, b) <= edge && dot(c, c) <= edge)
                    points = with_divided(points, corner[i], corner[j], corner[k], s);
            }
    return points;
}

static json_t *hemisphere(int parts)
{
    json_t *points = with_point(json_array(), 0, 0, 0);
    for (int k = 0; k <= parts; k++) /* rings of 4 k points from the pole */
        for (int i = 0; i < (k > 0 ? 4 * k : 1); i++) {
            const int quarter = k > 0 ? i / k : 0;
            const double along = k > 0 ? (double)(i % k) / k : 0, out = (double)k / parts;
            const double x = (1 - along) * out, y = along * out;
            const st_Vec3 p = quarter == 0   ? vec3(x, y, 1 - out)
                              : quarter == 1 ? vec3(-y, x, 1 - out)
                              : quarter == 2 ? vec3(-x, -y, 1 - out)
                                             : vec3(y, -x, 1 - out);
            points = with_direction(points, p);
        }
    return points;
}

static json_t *cone(int n, double radius)
{
    json_t *points = json_array();
    for (int k = 0; k < n; k++) {
        const double x = cos(2 * STI_PI * k / n), y = sin(2 * STI_PI * k / n);
        points = with_point(points, x, y, -1);
        if (radius > 0) points = with_point(points, radius * x, radius * y, 1);
    }
    return radius > 0 ? points : with_point(points, 0, 0, 1);
}

static double power(double x, double e)
{
    return fabs(x) < 1e-12 ? 0 : copysign(pow(fabs(x), e), x);
}

static json_t *supersphere(int n, double east, double north)
{
    json_t *points = json_array();
    for (int j = 0; j <= n; j++)
        for (int k = 0; k < (j == 0 || j == n ? 1 : n); k++) {
            const double v = STI_PI * (j - 0.5 * n) / n, u = 2 * STI_PI * k / n, c = power(cos(v), north);
            points = with_point(points, c * power(cos(u), east), c * power(sin(u), east), power(sin(v), north));
        }
    return points;
}

static json_t *supertorus(int n, double radius, double s, double t, json_t **triangles)
{
    json_t *points = json_array();
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++) {
            const double u = 2 * STI_PI * j / n, v = 2 * STI_PI * k / n, out = 1 + radius * power(cos(v), s);
            const int a = j * n + k, b = (j + 1) % n * n + k, c = (j + 1) % n * n + (k + 1) % n,
                      d = j * n + (k + 1) % n;
            points = with_point(points, out * power(cos(u), t), out * power(sin(u), t), radius * power(sin(v), s));
            *triangles = sti_append_to(*triangles, json_pack("[i, i, i]", a, b, c));
            *triangles = sti_append_to(*triangles, json_pack("[i, i, i]", a, c, d));
        }
    return points;
}

st_Status sti_mjcf_builtin(const sti_Mjcf *m, const sti_Element *at, json_t **points, json_t **triangles)
{
    static const struct {
        const char *name;
        int n;
        double low[4], high[4];
    } kinds[] = {{"sphere", 1, {0}, {4}},
                 {"hemisphere", 1, {0}, {10}},
                 {"cone", 2, {3, 0}, {MOST_STEPS, 1}},
                 {"supersphere", 3, {3, 0, 0}, {MOST_STEPS, 100, 100}},
                 {"supertorus", 4, {3, 1e-9, 1e-9, 1e-9}, {MOST_STEPS, 1, 100, 100}}};
    const char *name = sti_attribute(at, "builtin");
    double p[4];
    size_t k = 0;
    while (k < sizeof kinds / sizeof kinds[0] && strcmp(kinds[k].name, name) != 0)
        k++;
    if (k == sizeof kinds / sizeof kinds[0])
        return sti_element_fail(m->robot->err, at,
                                "builtin is \"%.20s\", must be sphere, hemisphere, cone, supersphere or supertorus",
                                name);
    STI_TRY(sti_numbers(m->robot->err, at, "params", kinds[k].n, true, p));
    for (int i = 0; i < kinds[k].n; i++)
        if (!(p[i] >= kinds[k].low[i] && p[i] <= kinds[k].high[i]) || (i == 0 && p[0] != floor(p[0])))
            return sti_element_fail(m->robot->err, at, "number %d of params is %g, must be %s from %g to %g", i + 1,
                                    p[i], i == 0 ? "an integer" : "a number", kinds[k].low[i], kinds[k].high[i]);
    const int n = (int)p[0];
    *triangles = json_array();
    *points = k == 0   ? icosphere(n)
              : k == 1 ? hemisphere(n + 1)
              : k == 2 ? cone(n, p[1])
              : k == 3 ? supersphere(n, p[1], p[2])
                       : supertorus(n, p[1], p[2], p[3], triangles);
    if (*points != NULL && *triangles != NULL) return ST_OK;
    json_decref(*points);
    json_decref(*triangles);
    return sti_robot_memory(m->robot);
}
