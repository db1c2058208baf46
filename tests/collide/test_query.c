/* Rays against sphere tracing by distances; overlaps and closest shapes against brute force over all pairs. */
#include "check.h"
#include "collide/ray.h"
#include "math/quat.h"
#include "step/system.h"

#include <stiction/stiction.h>
#include <string.h>

static const st_Vec3 cube_points[8] = {{-.3, -.3, -.3}, {.3, -.3, -.3}, {-.3, .3, -.3}, {.3, .3, -.3},
                                       {-.3, -.3, .3},  {.3, -.3, .3},  {-.3, .3, .3},  {.3, .3, .3}};
static const int cube_triangles[36] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                       2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};

typedef struct Zoo {
    st_Scene *scene;
    st_System *system;
    st_Error err;
    int n;
} Zoo;

static st_Vec3 random_vec(check_Random *random, double size)
{
    double x = check_random(random, -size, size), y = check_random(random, -size, size);
    return vec3(x, y, check_random(random, -size, size));
}

/* One of each shape, around the origin, apart from each other. */
static void make_zoo(Zoo *zoo, check_Random *random)
{
    const st_ShapeDef shapes[] = {st_sphere_def(0.4),          st_box_def(0.3, 0.2, 0.4),
                                  st_capsule_def(0.2, 0.5),    st_cylinder_def(0.3, 0.6),
                                  st_cone_def(0.3, 0.6),       st_ellipsoid_def(0.4, 0.2, 0.3),
                                  st_hull_def(cube_points, 8), st_mesh_def(cube_points, 8, cube_triangles, 12)};
    *zoo = (Zoo){.n = (int)(sizeof shapes / sizeof shapes[0])};
    check_ok(st_scene_create(&zoo->scene, &zoo->err), zoo->err);
    for (int k = 0; k < zoo->n; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        int x = k % 2, y = k / 2 % 2, z = k / 4;
        body.pose.p = vec3(1.5 * x, 1.5 * y, 1.5 * z);
        body.pose.q = quat_exp(random_vec(random, 2));
        check_ok(st_scene_add_body(zoo->scene, &body, &id, &zoo->err), zoo->err);
        check_ok(st_scene_add_shape(zoo->scene, id, &shapes[k], NULL, &zoo->err), zoo->err);
    }
    st_ShapeDef plane = st_plane_def();
    plane.pose.p.z = -1;
    plane.groups = 2;
    check_ok(st_scene_add_shape(zoo->scene, ST_GROUND, &plane, NULL, &zoo->err), zoo->err);
    st_SystemDef def = st_system_def();
    check_ok(st_system_create(zoo->scene, &def, &zoo->system, &zoo->err), zoo->err);
}

static void end_zoo(Zoo *zoo)
{
    st_system_destroy(zoo->system);
    st_scene_destroy(zoo->scene);
}

/* March along the ray by the distance to the nearest shape: never past a surface. */
static double march(Zoo *zoo, st_Vec3 from, st_Vec3 way, double length, double *grazing)
{
    st_ShapeDef point = st_point_def();
    double s = 0;
    for (int k = 0; k < 400 && s < length; k++) {
        st_Closest closest;
        st_Pose pose = {add(from, scale(s, way)), {1, 0, 0, 0}};
        check_ok(st_system_closest(zoo->system, &point, pose, 10, UINT32_MAX, &closest, &zoo->err), zoo->err);
        if (closest.shape.index1 == 0) return INFINITY;
        *grazing = fabs(dot(closest.normal, way)); /* the angle's sine */
        if (closest.gap < 1e-10) return s;
        s += closest.gap;
    }
    return s < length ? s : INFINITY;
}

static void rays_meet_what_marching_meets(void **state)
{
    (void)state;
    check_Random random = {31};
    Zoo zoo;
    make_zoo(&zoo, &random);
    int hits = 0;
    for (int k = 0; k < 300; k++) {
        st_Vec3 from = add(vec3(0.75, 0.75, 0.75), random_vec(&random, 2)), way = random_vec(&random, 1);
        way = scale(1 / norm(way), way);
        if (from.z < -0.9) continue;
        st_Closest start;
        st_ShapeDef point = st_point_def();
        st_Pose pose = {from, {1, 0, 0, 0}};
        check_ok(st_system_closest(zoo.system, &point, pose, 10, UINT32_MAX, &start, &zoo.err), zoo.err);
        if (start.gap < 1e-3) continue; /* starts inside */
        st_RayHit hit;
        check_ok(st_system_ray(zoo.system, from, way, 5, UINT32_MAX, &hit, &zoo.err), zoo.err);
        double grazing = 0, expected = march(&zoo, from, way, 5, &grazing);
        if (!isfinite(expected) || expected > 4.999) continue;
        if (grazing < 0.02) continue; /* marching stops short of surfaces it only grazes */
        assert_true(hit.shape.index1 != 0);
        /* gaps below 1e-10 end the march; at a grazing angle a that is 1e-10 / sin a off */
        check_close(hit.distance, expected, 1e-9 / grazing);
        check_below(dot(hit.normal, way), 0);
        check_close(norm(hit.normal), 1, 1e-12);
        hits++;
    }
    assert_true(hits > 100);
    end_zoo(&zoo);
}

/* ---- rays at special angles ---- */

static sti_Shape compiled(const st_ShapeDef *def)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_Shape shape;
    check_ok(sti_shape_compile(def, &allocator, &shape, &err), err);
    return shape;
}

/* The same marching for one shape at the origin; beyond 10: never. */
static double march_to_shape(const sti_Shape *shape, st_Vec3 from, st_Vec3 way, double *grazing)
{
    const st_ShapeDef def = st_point_def();
    const sti_Shape point = compiled(&def);
    const sti_Collide how = {.margin = INFINITY, .planar = -1};
    sti_Points points = {.allocator = st_default_allocator()};
    st_Error err = {0};
    double s = 0;
    for (int k = 0; k < 400 && s < 10; k++) {
        points.n = 0;
        const st_Pose pose = {add(from, scale(s, way)), {1, 0, 0, 0}};
        check_ok(sti_collide(&point, pose, shape, pose_identity(), &how, &points, &err), err);
        *grazing = fabs(dot(points.point[0].normal, way));
        if (points.point[0].gap < 1e-10) break;
        s += points.point[0].gap;
    }
    sti_points_free(&points);
    return s < 10 ? s : INFINITY;
}

/* Along the axes and the diagonals, from a lattice: where coefficients vanish. The cone's sides are at 45 degrees, so
 * that many of these rays are parallel to one of its generators, and some go down its axis.        */
static void rays_along_axes_and_diagonals(void **state)
{
    (void)state;
    const st_ShapeDef def[] = {st_sphere_def(0.43), st_capsule_def(0.43, 0.9), st_cylinder_def(0.43, 0.9),
                               st_cone_def(1, 1), st_ellipsoid_def(0.43, 0.71, 0.93)};
    int hits = 0;
    for (int i = 0; i < 5; i++) {
        const sti_Shape shape = compiled(&def[i]);
        for (int k = 0; k < 125; k++)
            for (int d = 0; d < 27; d++) {
                const int x = k % 5 - 2, y = k / 5 % 5 - 2, z = k / 25 - 2;
                const st_Vec3 from = {0.5 * x, 0.5 * y, 0.7 * z + 0.1};
                const int along[3] = {d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1};
                st_Vec3 way = {along[0], along[1], along[2]}, normal;
                double s, grazing = 0;
                if (d == 13) continue; /* no way at all */
                way = scale(1 / norm(way), way);
                double expected = march_to_shape(&shape, from, way, &grazing);
                bool hit = sti_ray_shape(&shape, pose_identity(), from, way, 10, &s, &normal);
                if (expected == 0 || grazing < 0.02) continue; /* starts inside; no more than grazed */
                assert_int_equal(hit, isfinite(expected));
                if (!hit) continue;
                check_close(s, expected, 1e-9 / grazing);
                check_below(dot(normal, way), 0);
                check_close(norm(normal), 1, 1e-12);
                hits++;
            }
    }
    assert_true(hits > 1000);
}

/* Slightly off the generator's direction the square's coefficient is near 0: the ray still hits the surface, up to
 * the rounding of distances of 4 by 100. */
static void rays_nearly_along_a_generator(void **state)
{
    (void)state;
    const st_ShapeDef def = st_cone_def(1, 1);
    const sti_Shape shape = compiled(&def);
    for (int k = 0; k < 36; k++) {
        const double off = (k % 2 == 0 ? 1 : -1) * pow(10, -0.5 * k);
        const st_Vec3 from = {-3, 0, 3.2}, way = scale(1 / hypot(1, 1 - off), vec3(1, 0, off - 1));
        double s;
        st_Vec3 normal;
        if (k < 2) continue; /* over its head, and far below */
        assert_true(sti_ray_shape(&shape, pose_identity(), from, way, 10, &s, &normal));
        const st_Vec3 at = add(from, scale(s, way));
        check_close(-at.x, 0.75 - at.z, 1e-13);
        check_close(normal.x, -sqrt(0.5), 1e-14);
        check_close(normal.z, sqrt(0.5), 1e-14);
    }
}

/* From far away: the error is the rounding of the distance, 1e6 * 2^-53, over the sine of the angle, 0.5 or more. */
static void rays_from_far_away(void **state)
{
    (void)state;
    const st_ShapeDef def[] = {st_sphere_def(0.1), st_capsule_def(0.1, 0.2), st_cylinder_def(0.1, 0.2),
                               st_cone_def(0.1, 0.2), st_ellipsoid_def(0.1, 0.1, 0.1)};
    for (int i = 0; i < 5; i++) {
        const sti_Shape shape = compiled(&def[i]);
        for (int k = -5; k <= 5; k++) {
            const st_Vec3 near = {-1, 0.015 * k, -0.04};
            double s, far;
            st_Vec3 normal;
            assert_true(sti_ray_shape(&shape, pose_identity(), near, vec3(1, 0, 0), 10, &s, &normal));
            st_Vec3 from = vec3(-1 - 1048576, near.y, near.z);
            assert_true(sti_ray_shape(&shape, pose_identity(), from, vec3(1, 0, 0), 1e7, &far, &normal));
            check_close(far - 1048576, s, 1e-9);
        }
    }
}

/* A saddle z = 0.1 x y of 4 m by 4 m with triangles along its diagonals, from above, from below, and past its
 * border: the normal points against the ray. */
static void rays_meet_height_fields_from_both_sides(void **state)
{
    (void)state;
    double height[25];
    for (int k = 0; k < 25; k++) {
        const int x = k % 5 - 2, y = k / 5 - 2;
        height[k] = 0.1 * x * y;
    }
    const st_ShapeDef def = st_height_field_def(height, 5, 5, 1);
    st_Scene *scene;
    st_System *system;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    check_ok(st_scene_add_shape(scene, ST_GROUND, &def, NULL, &err), err);
    st_BodyDef body = st_body_def(); /* a system has one that moves */
    body.mass = 1;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    check_ok(st_scene_add_body(scene, &body, NULL, &err), err);
    st_SystemDef how = st_system_def();
    check_ok(st_system_create(scene, &how, &system, &err), err);
    const double far[] = {1, 100}; /* within the solid below it, and far outside */
    for (int k = 0; k < 4; k++) {
        const double sign = k % 2 == 0 ? 1 : -1, from = far[k / 2];
        st_RayHit hit;
        check_ok(st_system_ray(system, vec3(1, 2, sign * from), vec3(0, 0, -sign), INFINITY, ~0u, &hit, &err), err);
        assert_int_equal(hit.shape.index1, 1);
        check_close(hit.point.z, 0.2, 1e-12); /* a sample */
        assert_true(sign * hit.normal.z > 0.9);
        check_close(norm(hit.normal), 1, 1e-14);
        check_ok(st_system_ray(system, vec3(2.5, 0, sign * from), vec3(0, 0, -sign), INFINITY, ~0u, &hit, &err), err);
        assert_int_equal(hit.shape.index1, 0);
    }
    st_system_destroy(system);
    st_scene_destroy(scene);
}

static void overlaps_and_closest_agree_with_distances(void **state)
{
    (void)state;
    check_Random random = {32};
    Zoo zoo;
    make_zoo(&zoo, &random);
    for (int k = 0; k < 200; k++) {
        st_ShapeDef probe = k % 2 == 0 ? st_sphere_def(0.5) : st_box_def(0.3, 0.4, 0.5);
        st_Pose pose = {add(vec3(0.75, 0.75, 0.75), random_vec(&random, 1.5)), quat_exp(random_vec(&random, 2))};
        st_ShapeId found[16];
        int count;
        check_ok(st_system_overlaps(zoo.system, &probe, pose, UINT32_MAX, found, 16, &count, &zoo.err), zoo.err);
        st_Closest closest;
        check_ok(st_system_closest(zoo.system, &probe, pose, 10, UINT32_MAX, &closest, &zoo.err), zoo.err);
        assert_true(closest.shape.index1 != 0);
        assert_true((count > 0) == (closest.gap < 0));
        for (int i = 1; i < count; i++)
            assert_true(found[i].index1 > found[i - 1].index1);
        check_close(norm(sub(closest.other, closest.point)), fabs(closest.gap), 1e-9);
        int others;
        check_ok(st_system_overlaps(zoo.system, &probe, pose, 2, NULL, 0, &others, &zoo.err), zoo.err);
        assert_true(others <= 1); /* the plane alone is in that group */
    }
    st_Closest closest;
    check_ok(st_system_distance(zoo.system, (st_ShapeId){9}, (st_ShapeId){1}, &closest, &zoo.err), zoo.err);
    check_close(closest.gap, 0.6, 1e-12); /* plane at -1, sphere of 0.4 at the origin */
    check_close(closest.normal.z, 1, 1e-12);
    assert_int_equal(closest.body.index1, 1);
    end_zoo(&zoo);
}

/* ---- a crowd -------------------------------------------------------------------------------------- */

#define CROWD 4000

/* Thousands of shapes of sizes over two decades, most apart, in two groups, on bodies of their own. */
static void make_crowd(Zoo *zoo, check_Random *random)
{
    *zoo = (Zoo){.n = CROWD};
    check_ok(st_scene_create(&zoo->scene, &zoo->err), zoo->err);
    for (int k = 0; k < CROWD; k++) {
        double size = pow(10, check_random(random, -1.5, 0));
        const st_ShapeDef shapes[] = {st_sphere_def(size), st_box_def(size, size / 2, size / 3),
                                      st_capsule_def(size / 3, size), st_cylinder_def(size / 2, size), st_point_def()};
        st_ShapeDef shape = shapes[k % 5];
        shape.groups = k % 3 == 0 ? 2 : 1;
        st_BodyDef body = st_body_def();
        body.pose.p = random_vec(random, 20);
        body.pose.q = quat_exp(random_vec(random, 2));
        body.fixed = k % 7 == 0;
        body.mass = 1;
        body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        st_Vec3 velocity = random_vec(random, 30);
        if (!body.fixed) body.velocity = velocity;
        st_BodyId id;
        check_ok(st_scene_add_body(zoo->scene, &body, &id, &zoo->err), zoo->err);
        check_ok(st_scene_add_shape(zoo->scene, id, &shape, NULL, &zoo->err), zoo->err);
    }
    st_ShapeDef plane = st_plane_def();
    plane.pose.p.z = -19;
    check_ok(st_scene_add_shape(zoo->scene, ST_GROUND, &plane, NULL, &zoo->err), zoo->err);
    st_SystemDef def = st_system_def();
    check_ok(st_system_create(zoo->scene, &def, &zoo->system, &zoo->err), zoo->err);
}

/* The same questions put to one shape after the other. */
static void answers_by_brute_force(const Zoo *zoo, const st_Ray *ray, const sti_Shape *probe, st_Pose pose,
                                   uint32_t groups, st_RayHit *hit, double *closest, int *overlaps)
{
    const sti_World *world = zoo->system->model.world;
    const sti_Collider *c = &world->collider;
    sti_Points points = {.allocator = st_default_allocator()};
    sti_Collide how = {.margin = INFINITY, .planar = -1};
    st_Vec3 way = scale(1 / norm(ray->direction), ray->direction);
    *hit = (st_RayHit){.distance = INFINITY};
    *closest = INFINITY, *overlaps = 0;
    for (int k = 0; k < c->n_shapes; k++) {
        double s, gap = INFINITY;
        st_Vec3 normal;
        st_Error err = {0};
        if ((sti_shape_def(world->scene, k)->groups & groups) == 0) continue;
        if (sti_ray_shape(sti_shape_of(c, k), c->pose[k], ray->from, way, ray->length, &s, &normal) &&
            s < hit->distance)
            *hit = (st_RayHit){.shape = {k + 1}, .distance = s, .normal = normal};
        bool turned = !sti_collide_supports(probe->type, sti_shape_of(c, k)->type);
        points.n = 0;
        check_ok(turned ? sti_collide(sti_shape_of(c, k), c->pose[k], probe, pose, &how, &points, &err)
                        : sti_collide(probe, pose, sti_shape_of(c, k), c->pose[k], &how, &points, &err),
                 err);
        for (int i = 0; i < points.n; i++)
            gap = fmin(gap, points.point[i].gap);
        *closest = fmin(*closest, gap);
        *overlaps += gap < 0;
    }
    sti_points_free(&points);
}

/* The tree gives the same results as all shapes one by one, before and between steps. */
static void crowds_are_asked_through_the_tree(void **state)
{
    (void)state;
    check_Random random = {34};
    st_Allocator allocator = st_default_allocator();
    Zoo zoo;
    make_crowd(&zoo, &random);
    int hits = 0, met = 0;
    for (int k = 0; k < 60; k++) {
        if (k % 10 == 9) check_ok(st_system_step(zoo.system, 0.01, NULL, &zoo.err), zoo.err);
        st_ShapeDef def = k % 2 == 0 ? st_sphere_def(1) : st_box_def(1, 0.4, 2);
        sti_Shape probe;
        check_ok(sti_shape_compile(&def, &allocator, &probe, &zoo.err), zoo.err);
        st_Vec3 from = random_vec(&random, 20), place = random_vec(&random, 20);
        st_Pose pose = {place, quat_exp(random_vec(&random, 2))};
        st_Ray ray = {from, random_vec(&random, 1), k % 2 == 0 ? INFINITY : 10};
        uint32_t groups = k % 3 == 0 ? 2 : UINT32_MAX;
        st_RayHit hit, expected;
        st_Closest closest;
        double nearest;
        int count, overlaps;
        check_ok(st_system_rays(zoo.system, &ray, 1, groups, &hit, &zoo.err), zoo.err);
        check_ok(st_system_overlaps(zoo.system, &def, pose, groups, NULL, 0, &count, &zoo.err), zoo.err);
        check_ok(st_system_closest(zoo.system, &def, pose, INFINITY, groups, &closest, &zoo.err), zoo.err);
        answers_by_brute_force(&zoo, &ray, &probe, pose, groups, &expected, &nearest, &overlaps);
        assert_int_equal(hit.shape.index1, expected.shape.index1);
        assert_true(hit.distance == expected.distance);
        check_close(closest.gap, nearest, 1e-13); /* the probe's quaternion is made a unit once more */
        assert_int_equal(count, overlaps);
        hits += hit.shape.index1 != 0, met += count > 0;
        sti_shape_free(&allocator, &probe);
    }
    print_message("of 60 rays %d hit, of 60 probes %d overlap\n", hits, met);
    assert_true(hits > 10 && met > 10); /* enough queries were made */
    end_zoo(&zoo);
}

/* Consecutive queries do not place the shapes again; those after a step, a new state or a restored one do. */
static void answers_follow_the_state(void **state)
{
    (void)state;
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_Error err = {0};
    st_ShapeDef ball = st_sphere_def(0.5);
    st_BodyDef body = st_body_def();
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 0; k < 2; k++) { /* two that fall side by side; and one alone, where nothing ever looks at contacts */
        st_BodyId id;
        body.pose.p.x = 3 * k, body.mass = 1;
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &ball, NULL, &err), err);
        st_SystemDef def = st_system_def();
        check_ok(st_system_create(scene, &def, &system, &err), err);
        double q[14], v[12];
        static unsigned char saved[1 << 16];
        st_system_state(system, q, v);
        size_t size = st_system_save(system, saved, sizeof saved);
        assert_true(size <= sizeof saved);
        for (int what = 0; what < 8; what++) {
            if (what % 4 == 1) check_ok(st_system_step(system, 0.1, NULL, &err), err);
            q[2] = -5 - what;
            if (what % 4 == 2) check_ok(st_system_set_state(system, 0, q, v, &err), err);
            if (what % 4 == 3) check_ok(st_system_restore(system, saved, size, &err), err);
            for (int again = 0; again < 2; again++) {
                st_RayHit hit;
                st_Pose pose;
                check_ok(st_system_ray(system, vec3(0, 0, 100), vec3(0, 0, -1), 200, ~0u, &hit, &err), err);
                assert_int_equal(st_system_pose(system, (st_BodyId){1}, &pose), ST_OK);
                check_close(hit.point.z, pose.p.z + 0.5, 1e-12);
            }
        }
        st_system_destroy(system);
    }
    st_scene_destroy(scene);
}

/* A half space on a half space, a height field on a height field: refused by name, unless they are not to touch or are
 * held. */
static void endless_on_endless_is_refused(void **state)
{
    (void)state;
    const double heights[4] = {0, 0, 0, 0};
    for (int k = 0; k < 4; k++) {
        st_Scene *scene = NULL;
        st_System *system = NULL;
        st_Error err = {0};
        st_ShapeDef own = k == 1 ? st_height_field_def(heights, 2, 2, 1) : st_plane_def(), ground = own;
        st_BodyDef body = st_body_def();
        body.name = "lid", body.mass = 1, body.pose.p.z = 1, ground.name = "floor";
        body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        if (k == 2) own.groups = 2, own.mask = 4;
        check_ok(st_scene_create(&scene, &err), err);
        check_ok(st_scene_add_shape(scene, ST_GROUND, &ground, NULL, &err), err);
        st_JointDef slide = st_joint_def(ST_JOINT_PRISMATIC);
        check_ok(st_scene_add_body(scene, &body, &slide.b, &err), err);
        check_ok(st_scene_add_shape(scene, slide.b, &own, NULL, &err), err);
        if (k == 3) check_ok(st_scene_add_joint(scene, &slide, NULL, &err), err);
        st_SystemDef def = st_system_def();
        st_Status status = st_system_create(scene, &def, &system, &err);
        assert_int_equal(status, k < 2 ? ST_ERR_ARGUMENT : ST_OK);
        if (k < 2) assert_non_null(strstr(err.message, "\"floor\" of \"ground\": two such shapes do not touch"));
        if (k < 2)
            assert_non_null(strstr(err.message, k == 0 ? "body \"lid\" is only a plane" : "only a height-field"));
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
}

static void bad_questions_are_refused(void **state)
{
    (void)state;
    check_Random random = {33};
    Zoo zoo;
    make_zoo(&zoo, &random);
    st_RayHit hit;
    st_Closest closest;
    int count;
    st_ShapeDef probe = st_sphere_def(-1);
    st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}}, nowhere = {{NAN, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(st_system_ray(zoo.system, vec3(0, 0, 0), vec3(0, 0, 0), 1, 1, &hit, &zoo.err), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_overlaps(zoo.system, &probe, pose, 1, NULL, 0, &count, &zoo.err), ST_ERR_ARGUMENT);
    probe = st_sphere_def(1);
    assert_int_equal(st_system_overlaps(zoo.system, &probe, nowhere, 1, NULL, 0, &count, &zoo.err), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_distance(zoo.system, (st_ShapeId){1}, (st_ShapeId){99}, &closest, &zoo.err),
                     ST_ERR_ARGUMENT);
    end_zoo(&zoo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_what_marching_meets),
        cmocka_unit_test(rays_along_axes_and_diagonals),
        cmocka_unit_test(rays_nearly_along_a_generator),
        cmocka_unit_test(rays_from_far_away),
        cmocka_unit_test(rays_meet_height_fields_from_both_sides),
        cmocka_unit_test(overlaps_and_closest_agree_with_distances),
        cmocka_unit_test(crowds_are_asked_through_the_tree),
        cmocka_unit_test(answers_follow_the_state),
        cmocka_unit_test(endless_on_endless_is_refused),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
