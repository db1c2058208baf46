/* The table of shape types: the functions of each descriptor must be consistent, and a type that the library does
 * not have needs only a descriptor to collide, to have mass, to be hit by rays and to be drawn. */
#include "check.h"
#include "collide/collide.h"
#include "collide/narrow/support.h"
#include "collide/ray.h"
#include "collide/surface.h"
#include "shapes.h"

#include <string.h>

static const st_Vec3 corner[5] = {{-0.4, -0.3, -0.2}, {0.6, 0, 0}, {0, 0.5, 0}, {0, 0, 0.7}, {0.5, 0.4, 0.6}};
static const int side[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
static const double heights[6] = {0, 0.1, 0.2, 0.1, 0, 0.3};

/* A def of the type with every member that any type reads. */
static st_ShapeDef some_shape(st_ShapeType type)
{
    st_ShapeDef def = st_shape_def(type);
    def.radius = 0.3;
    def.length = 0.8;
    def.half = vec3(0.5, 0.3, 0.2);
    def.points = corner;
    def.n_points = type == ST_SHAPE_MESH ? 4 : 5;
    def.triangles = side;
    def.n_triangles = 4;
    def.heights = heights;
    def.n_x = 3, def.n_y = 2;
    def.spacing = 0.4;
    return def;
}

static double volume_of(const st_Surface *t)
{
    double sum = 0;
    for (int k = 0; k < t->n_triangles; k++) {
        const int *v = t->triangles + 3 * (ptrdiff_t)k;
        sum += dot(t->points[v[0]], cross(t->points[v[1]], t->points[v[2]]));
    }
    return sum / 6;
}

/* For one type: bounds hold the drawn surface and the support points; the drawn volume is that of the mass, up to
 * the error of a ball with 24 corners around and 12 rings (3.7 %, computed: the solid of revolution of a 24-gon's
 * profile); a ray from the ball around it to a point inside enters between the two, with a normal against it. */
static void check_type(const sti_ShapeDescriptor *of, const st_ShapeDef *def)
{
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Shape shape = {.of = of, .type = def->type};
    sti_MassProperties mass;
    check_Random random = {7};
    sti_SurfaceBuilder surface = {.err = &err};
    check_ok(of->compile(def, &allocator, &shape, &err), err);
    check_ok(sti_shape_mass(def, &shape, &mass, &err), err);
    of->surface(def, 1e-9, &surface);
    check_ok(surface.status, err);
    assert_true(surface.made.n_points > 0 && surface.made.n_triangles > 0);
    if ((of->members & ST_MEMBER_DENSITY) != 0) {
        const double drawn = volume_of(&surface.made), exact = mass.mass / def->density;
        assert_true(drawn <= exact * (1 + 1e-9));
        assert_true(drawn >= exact * (1 - 0.037));
    }
    for (int turn = 0; turn < 20; turn++) {
        const st_Pose pose = {random_vec(&random, 2), random_quat(&random)};
        const sti_Bounds grown = bounds_grown(sti_shape_bounds(&shape, pose), 1e-8);
        for (int k = 0; k < surface.made.n_points; k++) {
            const st_Vec3 p = pose_point(pose, surface.made.points[k]);
            assert_true(bounds_hold(&grown, &(sti_Bounds){p, p}));
        }
        if (of->family < STI_FAMILY_POINTS) continue;
        const sti_Core core = sti_core(&shape, pose);
        const st_Vec3 d = random_unit(&random);
        const st_Vec3 p = add(sti_support(&core, d), scale(core.radius, d));
        assert_true(bounds_hold(&grown, &(sti_Bounds){p, p}));
        double farthest = -INFINITY; /* no drawn point is beyond the support */
        for (int k = 0; k < surface.made.n_points; k++)
            farthest = fmax(farthest, dot(d, pose_point(pose, surface.made.points[k])));
        assert_true(farthest <= dot(d, p) + 1e-8);
        if (of->ray == NULL) continue;
        const st_Vec3 inside = pose_point(pose, mass.centre), from = add(inside, scale(3 * shape.reach, d));
        double s = 0;
        st_Vec3 normal;
        assert_true(sti_ray_shape(&shape, pose, from, scale(-1, d), 10 * shape.reach, &s, &normal));
        assert_true(s > 0 && s < 3 * shape.reach && dot(normal, d) > 0);
        check_close(norm(normal), 1, 1e-12);
    }
    st_surface_free(&surface.made);
    sti_shape_free(&allocator, &shape);
}

static void every_type_fits_together(void **state)
{
    (void)state;
    for (int k = 0; k < ST_N_SHAPE_TYPES; k++) {
        const sti_ShapeDescriptor *of = sti_shape_descriptor((st_ShapeType)k);
        assert_non_null(of);
        assert_string_equal(of->word, st_shape_type_name((st_ShapeType)k));
        for (int j = 0; j < k; j++)
            assert_string_not_equal(of->word, st_shape_type_name((st_ShapeType)j));
        const st_ShapeDef def = some_shape((st_ShapeType)k);
        check_type(of, &def);
    }
    assert_null(sti_shape_descriptor((st_ShapeType)ST_N_SHAPE_TYPES));
    assert_null(st_shape_type_name((st_ShapeType)-1));
    assert_int_equal(st_shape_type_members((st_ShapeType)ST_N_SHAPE_TYPES), 0);
}

/* ---- a type of our own: x^4 + y^4 + z^4 <= r^4 ---------------------------------------------------- */

static st_Status quartic_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    (void)allocator;
    STI_TRY(sti_check_size("radius", def->radius, err));
    out->radius = def->radius;
    out->reach = def->radius * pow(3, 0.25); /* along the diagonal */
    out->thick = 2 * def->radius;
    return ST_OK;
}

/* The volume is 8 r^3 Gamma(5/4)^3 / Gamma(7/4), and int x^2 is 8 r^5 Gamma(5/4)^2 Gamma(3/4) / (4 Gamma(9/4))
 * (Dirichlet's integral). */
static st_Status quartic_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    (void)shape, (void)err;
    const double r = def->radius, g = tgamma(1.25);
    const double S = def->density * 8 * pow(r, 5) * g * g * tgamma(0.75) / (4 * tgamma(2.25));
    sti_mass_diagonal(out, def->density * 8 * r * r * r * g * g * g / tgamma(1.75), S, S, S);
    return ST_OK;
}

static void quartic_core(const sti_Shape *shape, sti_Core *core)
{
    core->kind = STI_CORE_SMOOTH;
    core->size = shape->reach;
}

/* Lagrange: x is along d^(1/3), on the surface. */
static st_Vec3 quartic_support(const sti_Shape *shape, st_Vec3 d)
{
    const st_Vec3 x = vec3(cbrt(d.x), cbrt(d.y), cbrt(d.z));
    const double size = pow(x.x * x.x * x.x * x.x + x.y * x.y * x.y * x.y + x.z * x.z * x.z * x.z, 0.25);
    return scale(shape->radius / size, x);
}

static double quartic_value(const sti_Ray *ray, double s, double r)
{
    const st_Vec3 x = add(ray->p, scale(s, ray->d));
    return pow(x.x, 4) + pow(x.y, 4) + pow(x.z, 4) - pow(r, 4);
}

/* Convex along the ray: its least value by thirds, then a zero before it by halves. */
static void quartic_ray(const sti_Shape *shape, sti_Ray *ray)
{
    double a = 0, b = norm(ray->p) + 2 * shape->reach, low = 0;
    for (double lo = a, hi = b; hi - lo > 1e-14 * b; low = 0.5 * (lo + hi)) {
        const double x = lo + (hi - lo) / 3, y = hi - (hi - lo) / 3;
        if (quartic_value(ray, x, shape->radius) < quartic_value(ray, y, shape->radius))
            hi = y;
        else
            lo = x;
    }
    ray->missed = quartic_value(ray, low, shape->radius) > 0 || quartic_value(ray, 0, shape->radius) < 0;
    for (b = low; b - a > 1e-15 * low;) {
        const double x = 0.5 * (a + b);
        if (x <= a || x >= b) break;
        if (quartic_value(ray, x, shape->radius) > 0)
            a = x;
        else
            b = x;
    }
    const st_Vec3 x = add(ray->p, scale(b, ray->d)), n = vec3(pow(x.x, 3), pow(x.y, 3), pow(x.z, 3));
    ray->enter = b;
    ray->normal = scale(1 / norm(n), n);
}

/* Points of a fine cube, moved to the surface. */
static void quartic_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    enum { N = 16 };
    for (int face = 0; face < 6; face++) {
        const int first = out->made.n_points, e = face / 2;
        const double way = face % 2 == 0 ? -1 : 1;
        for (int k = 0; k < (N + 1) * (N + 1); k++) {
            double x[3], sum = 0;
            x[e] = way;
            x[(e + 1) % 3] = way * tan(0.25 * STI_PI * (2.0 * (k % (N + 1)) / N - 1));
            x[(e + 2) % 3] = tan(0.25 * STI_PI * (2.0 * (k / (N + 1)) / N - 1));
            for (int i = 0; i < 3; i++)
                sum += pow(x[i], 4);
            sti_surface_point(out, scale(def->radius / pow(sum, 0.25), vec3_load(x)));
        }
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                const int k = first + j * (N + 1) + i;
                sti_surface_triangle(out, k, k + 1, k + N + 2);
                sti_surface_triangle(out, k, k + N + 2, k + N + 1);
            }
    }
}

static const sti_ShapeDescriptor quartic = {
    .word = "quartic",
    .members = ST_MEMBER_RADIUS | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_CONVEX,
    .smooth = true,
    .compile = quartic_compile,
    .bounds = sti_ball_bounds,
    .mass = quartic_mass,
    .core = quartic_core,
    .support = quartic_support,
    .ray = quartic_ray,
    .surface = quartic_surface,
};

static double least_gap(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, st_Vec3 *normal)
{
    const sti_Collide how = {.margin = 10, .planar = -1};
    sti_Points points = {.allocator = st_default_allocator()};
    st_Error err = {0};
    double least = INFINITY;
    check_ok(sti_collide(a, pose_a, b, pose_b, &how, &points, &err), err);
    for (int k = 0; k < points.n; k++)
        if (points.point[k].gap < least) least = points.point[k].gap, *normal = points.point[k].normal;
    sti_points_free(&points);
    return least;
}

/* Along an axis it reaches r, along a diagonal 3^(1/4) r, both with the normal along the way: gaps there are known. */
static void a_new_type_is_one_descriptor(void **state)
{
    (void)state;
    const st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    st_ShapeDef def = st_shape_def(ST_SHAPE_SPHERE),
                other[4] = {st_sphere_def(0.2), st_capsule_def(0.1, 0.4), st_plane_def(), st_box_def(0.3, 0.4, 0.5)};
    def.radius = 0.5;
    check_type(&quartic, &def);
    sti_Shape shape = {.of = &quartic, .type = def.type}, with[4];
    check_ok(quartic.compile(&def, &allocator, &shape, &err), err);
    for (int k = 0; k < 4; k++)
        check_ok(sti_shape_compile(&other[k], &allocator, &with[k], &err), err);
    const st_Vec3 diagonal = scale(1 / sqrt(3), vec3(1, 1, 1));
    const double far = 0.5 * pow(3, 0.25);
    const double away[3] = {1, 0.02, -0.05}; /* apart, nearly touching, overlapping */
    for (int k = 0; k < 3; k++) {
        st_Vec3 n = {0};
        st_Pose at = pose_identity(), to = pose_identity();
        to.p = scale(2 * far + away[k], diagonal); /* two of them along the diagonal */
        check_close(least_gap(&shape, at, &shape, to, &n), away[k], 1e-7);
        check_close(dot(n, diagonal), 1, 1e-6);
        at.p = scale(far + 0.2 + away[k], diagonal); /* a ball */
        check_close(least_gap(&with[0], at, &shape, pose_identity(), &n), away[k], 1e-7);
        at.p = vec3(0, 0, 0.5 + 0.2 + 0.1 + away[k]); /* a capsule above it */
        check_close(least_gap(&with[1], at, &shape, pose_identity(), &n), away[k], 1e-7);
        at = (st_Pose){scale(-(far + away[k]), diagonal), quat_between(vec3(0, 0, 1), diagonal)}; /* a plane below */
        check_close(least_gap(&with[2], at, &shape, pose_identity(), &n), away[k], 1e-9);
        to.p = vec3(0.5 + 0.3 + away[k], 0, 0); /* a box beside it */
        check_close(least_gap(&with[3], pose_identity(), &shape, to, &n), away[k], 1e-7);
    }
    for (int k = 0; k < 4; k++)
        sti_shape_free(&allocator, &with[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_fits_together),
        cmocka_unit_test(a_new_type_is_one_descriptor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
