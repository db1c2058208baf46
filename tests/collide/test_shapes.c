/* Hulls, masses, and refused shapes. */
#include "check.h"
#include "collide/collide.h"
#include "model/world.h"
#include "shapes.h"

#include <string.h>

static const st_Vec3 cube[9] = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1},
                                {1, -1, 1},   {-1, 1, 1},  {1, 1, 1},   {0, 0, 0.5}};
static const int cube_triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

static void cube_has_six_faces(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Hull *hull;
    check_ok(sti_hull_create(cube, 9, &allocator, &hull, &err), err);
    assert_int_equal(hull->facets.n_vertices, 8); /* the point inside is dropped */
    assert_int_equal(hull->facets.n_faces, 6);
    assert_int_equal(hull->facets.n_edges, 12);
    sti_hull_free(&allocator, hull);
}

/* Every point is below every face, every corner of a face is in its plane; Euler's formula holds; loops turn left. */
static void hulls_hold_their_points(void **state)
{
    (void)state;
    check_Random random = {41};
    st_Allocator allocator = st_default_allocator();
    for (int trial = 0; trial < 300; trial++) {
        st_Vec3 p[60];
        int n = check_random_int(&random, 4, 60);
        for (int k = 0; k < n; k++)
            p[k] = random_vec(&random, 1);
        st_Error err = {0};
        sti_Hull *hull;
        check_ok(sti_hull_create(p, n, &allocator, &hull, &err), err);
        const sti_Facets *f = &hull->facets;
        assert_int_equal(f->n_vertices - f->n_edges + f->n_faces, 2);
        for (int k = 0; k < f->n_faces; k++) {
            for (int i = 0; i < n; i++)
                check_below(dot(f->normal[k], p[i]) - f->offset[k], 1e-13);
            const int *loop = f->face_vertex + f->face_first[k];
            st_Vec3 u = sub(f->vertex[loop[1]], f->vertex[loop[0]]), v = sub(f->vertex[loop[2]], f->vertex[loop[0]]);
            assert_true(dot(cross(u, v), f->normal[k]) > 0);
            for (int i = 0; i < f->face_first[k + 1] - f->face_first[k]; i++)
                check_close(dot(f->normal[k], f->vertex[loop[i]]), f->offset[k], 1e-12);
        }
        sti_hull_free(&allocator, hull);
    }
}

static sti_MassProperties mass_of(st_ShapeDef def)
{
    TestShape s = {.def = def};
    st_Error err = {0};
    sti_MassProperties out;
    s.def.density = 1;
    compile_shape(&s);
    check_ok(sti_shape_mass(&s.def, &s.shape, &out, &err), err);
    free_shape(&s);
    return out;
}

/* Bodies of revolution: m = int pi r^2 dz, Iz = int pi r^4/2, Ix = int (pi r^4/4 + pi r^2 z^2), by Simpson; r^2 is
 * a polynomial of degree 2 in each part, so the integrands are of degree 4: error (dz)^4, 1e-13.  */
static double radius_squared(const st_ShapeDef *def, double z)
{
    double r = def->radius, h = def->length, beyond = fabs(z) - h / 2;
    if (def->type == ST_SHAPE_CYLINDER) return r * r;
    if (def->type == ST_SHAPE_CONE) return r * r * (0.75 * h - z) * (0.75 * h - z) / (h * h);
    return beyond > 0 ? r * r - beyond * beyond : r * r;
}

static void integrate(const st_ShapeDef *def, double lo, double hi, double sum[4])
{
    const double pi = 3.14159265358979323846;
    int n = 2000;
    for (int k = 0; k <= n; k++) {
        double z = lo + (hi - lo) * k / n, weight = (k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2) * (hi - lo) / (3 * n);
        double r2 = fmax(0, radius_squared(def, z));
        sum[0] += weight * pi * r2;
        sum[1] += weight * pi * r2 * z;
        sum[2] += weight * pi * (r2 * r2 / 4 + r2 * z * z);
        sum[3] += weight * pi * r2 * r2 / 2;
    }
}

static void round_masses_match_quadrature(void **state)
{
    (void)state;
    const st_ShapeDef shapes[3] = {st_cylinder_def(0.3, 0.7), st_cone_def(0.4, 0.9), st_capsule_def(0.2, 0.5)};
    for (int k = 0; k < 3; k++) {
        const st_ShapeDef *d = &shapes[k];
        double h = d->length, sum[4] = {0};
        if (d->type == ST_SHAPE_CONE) integrate(d, -h / 4, 3 * h / 4, sum);
        if (d->type != ST_SHAPE_CONE) integrate(d, -h / 2, h / 2, sum);
        if (d->type == ST_SHAPE_CAPSULE) integrate(d, -h / 2 - d->radius, -h / 2, sum);
        if (d->type == ST_SHAPE_CAPSULE) integrate(d, h / 2, h / 2 + d->radius, sum);
        sti_MassProperties m = mass_of(*d);
        check_close(m.mass, sum[0], 1e-12);
        check_close(m.mass * m.centre.z, sum[1], 1e-12);
        check_close(m.inertia.m[0], sum[2], 1e-12);
        check_close(m.inertia.m[4], sum[2], 1e-12);
        check_close(m.inertia.m[8], sum[3], 1e-12);
    }
}

/* A box as a hull and as a mesh, off its origin, is the same box. */
static void polyhedra_have_the_mass_of_a_box(void **state)
{
    (void)state;
    st_Vec3 p[8], shift = vec3(0.3, -0.2, 0.5), half = vec3(0.2, 0.3, 0.5);
    for (int k = 0; k < 8; k++)
        p[k] = add(shift, vec3(cube[k].x * half.x, cube[k].y * half.y, cube[k].z * half.z));
    sti_MassProperties box = mass_of(st_box_def(half.x, half.y, half.z));
    const st_ShapeDef same[2] = {st_hull_def(p, 8), st_mesh_def(p, 8, cube_triangles, 12)};
    for (int s = 0; s < 2; s++) {
        sti_MassProperties m = mass_of(same[s]);
        check_close(m.mass, box.mass, 1e-15);
        check_close(norm(sub(m.centre, shift)), 0, 1e-14);
        double c[3];
        vec3_store(c, shift);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) { /* Steiner */
                double about = box.inertia.m[3 * i + j] + m.mass * ((i == j ? dot(shift, shift) : 0) - c[i] * c[j]);
                check_close(m.inertia.m[3 * i + j], about, 1e-14);
            }
    }
    sti_MassProperties ball = mass_of(st_sphere_def(0.7)), same_ball = mass_of(st_ellipsoid_def(0.7, 0.7, 0.7));
    check_close(ball.mass, same_ball.mass, 1e-14);
    check_close(ball.inertia.m[0], same_ball.inertia.m[0], 1e-14);
}

/* Two boxes of unequal weight: the frame goes to the centre of mass, the boxes stay where they are. */
static void recentring_moves_the_frame_only(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    st_BodyId id;
    check_ok(st_scene_create(&scene, &err), err);
    st_BodyDef body = st_body_def();
    body.pose.p = vec3(1, 2, 3);
    body.pose.q = quat_exp(vec3(0.3, -0.4, 0.5));
    check_ok(st_scene_add_body(scene, &body, &id, &err), err);
    st_ShapeDef box = st_box_def(0.1, 0.2, 0.3);
    check_ok(st_scene_add_shape(scene, id, &box, NULL, &err), err);
    box.pose.p = vec3(0.8, 0, 0), box.density = 3000;
    check_ok(st_scene_add_shape(scene, id, &box, NULL, &err), err);
    st_Vec3 shift;
    check_ok(st_scene_centre_body(scene, id, &shift, &err), err);
    check_close(norm(sub(shift, vec3(0.6, 0, 0))), 0, 1e-14);
    st_BodyDef now;
    st_scene_body(scene, id, &now);
    for (int k = 0; k < 2; k++) {
        st_ShapeDef shape;
        st_scene_shape(scene, (st_ShapeId){k + 1}, &shape, NULL);
        st_Vec3 before = pose_point(body.pose, vec3(0.8 * k, 0, 0)), after = pose_point(now.pose, shape.pose.p);
        check_close(norm(sub(before, after)), 0, 1e-14);
    }
    st_Allocator allocator = st_default_allocator();
    sti_World *world;
    check_ok(sti_world_create(scene, vec3(0, 0, 0), &allocator, &world, &err), err); /* no complaint any more */
    sti_world_destroy(world);
    st_scene_destroy(scene);
}

/* ---- faces of many corners ---- */

enum { AROUND = 300 };

/* A round link of a robot as it comes from its file: a prism over a polygon of 300 corners, 1 across and 0.4 high. */
static void make_prism(TestShape *s, st_Vec3 p[2 * AROUND])
{
    for (int k = 0; k < 2 * AROUND; k++) {
        const int corner = k / 2;
        const double angle = 2 * 3.14159265358979323846 * corner / AROUND;
        p[k] = vec3(0.5 * cos(angle), 0.5 * sin(angle), k % 2 == 0 ? -0.2 : 0.2);
    }
    s->def = st_hull_def(p, 2 * AROUND);
    compile_shape(s);
}

static void faces_may_have_many_corners(void **state)
{
    (void)state;
    st_Vec3 p[2 * AROUND];
    TestShape prism;
    make_prism(&prism, p);
    const sti_Facets *f = &prism.shape.hull->facets;
    assert_int_equal(f->n_vertices, 2 * AROUND);
    assert_int_equal(f->n_faces, AROUND + 2);
    assert_int_equal(f->n_edges, 3 * AROUND);
    for (int v = 0; v < f->n_vertices; v++) {
        assert_int_equal(f->spoke_first[v + 1] - f->spoke_first[v], 3);
        for (int s = f->spoke_first[v]; s < f->spoke_first[v + 1]; s++)
            assert_true(f->edge[4 * f->spoke[s]] == v || f->edge[4 * f->spoke[s] + 1] == v);
    }
    sti_MassProperties m = mass_of(prism.def); /* n/2 r^2 sin(2 pi/n) h */
    check_close(m.mass, AROUND / 2.0 * 0.25 * sin(2 * 3.14159265358979323846 / AROUND) * 0.4, 1e-12);
    free_shape(&prism);
}

/* On its cap against a sphere, a box and another of its kind: apart by 1 cm, and 1 cm in each other. */
static void faces_of_many_corners_touch(void **state)
{
    (void)state;
    st_Vec3 p[2 * AROUND];
    TestShape other[3];
    TestShape prism;
    make_prism(&prism, p);
    other[0].def = st_sphere_def(0.1), other[1].def = st_box_def(0.2, 0.2, 0.1), other[2].def = prism.def;
    for (int k = 0; k < 9; k++) {
        TestShape *s = &other[k % 3];
        sti_Points points = {.allocator = st_default_allocator()};
        const sti_Collide how = {.margin = 0.1, .planar = -1, .keep = k % 3 == 2 ? STI_KEEP_ALL : STI_KEEP_SPAN};
        const double gap = k < 3 ? 0.01 : -0.01, half = k % 3 == 2 ? 0.2 : 0.1;
        const st_Pose pose = {{k < 6 ? 0.1 : 0.45, 0.05, 0.2 + half + gap}, quat_exp(vec3(0, 0, 0.3))};
        double least = INFINITY, lo = INFINITY, hi = -INFINITY;
        st_Error err = {0};
        compile_shape(s);
        check_ok(sti_collide(&s->shape, pose, &prism.shape, pose_identity(), &how, &points, &err), err);
        for (int i = 0; i < points.n; i++) {
            const sti_ContactPoint *at = &points.point[i];
            least = fmin(least, at->gap), lo = fmin(lo, at->point.x), hi = fmax(hi, at->point.x);
            check_close(fabs(at->normal.z), 1, 1e-12);
        }
        check_close(least, gap, 1e-12);
        if (k % 3 < 2) assert_int_equal(points.n, k % 3 == 0 ? 1 : 4);
        /* a patch of 64 of the corners spans the lens, but for 1 - cos(pi/60) */
        if (k % 3 == 2) check_close(hi - lo, 1 - pose.p.x, 2e-3);
        sti_points_free(&points);
        free_shape(s);
    }
    free_shape(&prism);
}

/* ---- boxes around shapes ---- */

/* They hold the shape, and are no larger than need be: those of ellipsoids and capsules at all, of the others than
 * the turned box about them in their own axes, or of hulls than their ball. */
static void boxes_hold_shapes_and_no_more(void **state)
{
    (void)state;
    check_Random random = {43};
    const st_ShapeType types[] = {ST_SHAPE_SPHERE, ST_SHAPE_CAPSULE,   ST_SHAPE_BOX, ST_SHAPE_CYLINDER,
                                  ST_SHAPE_CONE,   ST_SHAPE_ELLIPSOID, ST_SHAPE_HULL};
    for (int k = 0; k < 1400; k++) {
        TestShape shape;
        random_shape(&random, types[k % 7], 1, &shape);
        const st_Pose pose = {random_vec(&random, 1), random_quat(&random)}, still = pose_identity();
        const sti_Bounds b = sti_shape_bounds(&shape.shape, pose);
        double own[3], box[6] = {b.hi.x, b.hi.y, b.hi.z, -b.lo.x, -b.lo.y, -b.lo.z};
        for (int e = 0; e < 3; e++) /* sizes in its own axes */
            own[e] = dot(vec3_axis(e),
                         sub(farthest(&shape, still, vec3_axis(e)), farthest(&shape, still, scale(-1, vec3_axis(e)))));
        for (int e = 0; e < 6; e++) {
            const st_Vec3 way = scale(e < 3 ? 1 : -1, vec3_axis(e % 3)), local = rotate_back(pose.q, way);
            const double needed = dot(way, farthest(&shape, pose, way));
            const double size = fabs(local.x) * own[0] + fabs(local.y) * own[1] + fabs(local.z) * own[2];
            assert_true(box[e] >= needed - 1e-14);
            if (types[k % 7] == ST_SHAPE_ELLIPSOID || types[k % 7] == ST_SHAPE_CAPSULE)
                check_close(box[e], needed, 1e-13);
            const double ball = types[k % 7] == ST_SHAPE_HULL ? 2 * shape.shape.reach : 0;
            check_below(box[e] + box[(e + 3) % 6], fmax(size, ball) + 1e-13);
        }
        free_shape(&shape);
    }
}

/* A rod 10 m long as a hull and as a mesh: its box is just as slim. */
static void boxes_of_slim_shapes_are_slim(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    st_Vec3 rod[8];
    for (int k = 0; k < 8; k++)
        rod[k] = vec3(5 * cube[k].x + 1, 0.05 * cube[k].y, 0.05 * cube[k].z);
    const st_ShapeDef defs[2] = {st_hull_def(rod, 8), st_mesh_def(rod, 8, cube_triangles, 12)};
    for (int k = 0; k < 2; k++) {
        sti_Shape shape;
        st_Error err = {0};
        check_ok(sti_shape_compile(&defs[k], &allocator, &shape, &err), err);
        const sti_Bounds b = sti_shape_bounds(&shape, (st_Pose){{1, 2, 3}, {1, 0, 0, 0}});
        check_close(b.lo.x, -3, 1e-14), check_close(b.hi.x, 7, 1e-14);
        check_close(b.lo.y, 1.95, 1e-14), check_close(b.hi.y, 2.05, 1e-14);
        check_close(b.lo.z, 2.95, 1e-14), check_close(b.hi.z, 3.05, 1e-14);
        sti_shape_free(&allocator, &shape);
    }
}

static void refuse(st_ShapeDef def, const char *part)
{
    st_Scene *scene;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    def.name = "thing";
    st_Status status = st_scene_add_shape(scene, ST_GROUND, &def, NULL, &err);
    if (status == ST_OK || strstr(err.message, part) == NULL || strstr(err.message, "\"thing\"") == NULL)
        fail_msg("\"%s\" does not say \"%s\" of \"thing\"", err.message, part);
    st_scene_destroy(scene);
}

static void bad_shapes_are_refused_by_name(void **state)
{
    (void)state;
    st_Vec3 flat[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}, {0.5, 0.5, 0}}, line[4], same[4] = {{0}};
    st_Vec3 broken[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, NAN}};
    for (int k = 0; k < 4; k++)
        line[k] = vec3(k, 2 * k, 3 * k);
    const int beyond[3] = {0, 1, 9}, thin[3] = {0, 1, 1};
    const double heights[4] = {0, 0, INFINITY, 0};
    refuse(st_capsule_def(0, 1), "radius is 0");
    refuse(st_capsule_def(1, -1), "length is -1");
    refuse(st_cylinder_def(1, NAN), "length is nan");
    refuse(st_cone_def(INFINITY, 1), "radius is inf");
    refuse(st_ellipsoid_def(1, 0, 1), "size along y is 0");
    refuse(st_box_def(1, 1, 0), "size along z is 0");
    refuse(st_hull_def(flat, 5), "in a plane");
    refuse(st_hull_def(line, 4), "on a line");
    refuse(st_hull_def(same, 4), "coincide");
    refuse(st_hull_def(flat, 3), "at least 4 points, has 3");
    refuse(st_hull_def(NULL, 0), "at least 4 points");
    refuse(st_hull_def(broken, 4), "points: number 3");
    refuse(st_mesh_def(flat, 5, beyond, 1), "names point 9");
    refuse(st_mesh_def(flat, 5, thin, 1), "no area");
    refuse(st_mesh_def(flat, 5, NULL, 0), "at least");
    refuse(st_height_field_def(heights, 2, 2, 1), "heights: number 2 is inf");
    refuse(st_height_field_def(heights, 1, 2, 1), "at least 2 by 2");
    refuse(st_height_field_def(heights, 2, 2, 0), "spacing is 0");
}

/* A mass needs a volume: open and inside-out meshes are refused with that reason. */
static void meshes_without_a_volume_have_no_mass(void **state)
{
    (void)state;
    int inside_out[36];
    for (int k = 0; k < 36; k += 3)
        inside_out[k] = cube_triangles[k], inside_out[k + 1] = cube_triangles[k + 2],
        inside_out[k + 2] = cube_triangles[k + 1];
    st_Error err = {0};
    sti_MassProperties m;
    TestShape open = {.def = st_mesh_def(cube, 8, cube_triangles, 11)};
    TestShape turned = {.def = st_mesh_def(cube, 8, inside_out, 12)};
    compile_shape(&open), compile_shape(&turned);
    assert_int_equal(sti_shape_mass(&open.def, &open.shape, &m, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "do not close a volume"));
    assert_int_equal(sti_shape_mass(&turned.def, &turned.shape, &m, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "counter-clockwise"));
    free_shape(&open), free_shape(&turned);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_has_six_faces),
        cmocka_unit_test(hulls_hold_their_points),
        cmocka_unit_test(round_masses_match_quadrature),
        cmocka_unit_test(polyhedra_have_the_mass_of_a_box),
        cmocka_unit_test(recentring_moves_the_frame_only),
        cmocka_unit_test(faces_may_have_many_corners),
        cmocka_unit_test(faces_of_many_corners_touch),
        cmocka_unit_test(boxes_hold_shapes_and_no_more),
        cmocka_unit_test(boxes_of_slim_shapes_are_slim),
        cmocka_unit_test(bad_shapes_are_refused_by_name),
        cmocka_unit_test(meshes_without_a_volume_have_no_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
