/* Rays against sphere tracing by distances; overlaps and closest shapes against brute force over all pairs. */
#include "check.h"
#include "math/quat.h"

#include <stiction/stiction.h>

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
static double march(Zoo *zoo, st_Vec3 from, st_Vec3 way, double length)
{
    st_ShapeDef point = st_point_def();
    double s = 0;
    for (int k = 0; k < 400 && s < length; k++) {
        st_Closest closest;
        st_Pose pose = {add(from, scale(s, way)), {1, 0, 0, 0}};
        check_ok(st_system_closest(zoo->system, &point, pose, 10, UINT32_MAX, &closest, &zoo->err), zoo->err);
        if (closest.shape.index1 == 0) return INFINITY;
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
        double expected = march(&zoo, from, way, 5);
        if (!isfinite(expected) || expected > 4.999) continue;
        if (hit.shape.index1 == 0) { /* marching stops short of surfaces it only grazes */
            continue;
        }
        /* gaps below 1e-10 end the march; at a grazing angle a that is 1e-10 / sin a off */
        double grazing = fabs(dot(hit.normal, way));
        if (grazing < 0.02) continue;
        check_close(hit.distance, expected, 1e-9 / grazing);
        check_below(dot(hit.normal, way), 0);
        check_close(norm(hit.normal), 1, 1e-12);
        hits++;
    }
    assert_true(hits > 100);
    end_zoo(&zoo);
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
        cmocka_unit_test(overlaps_and_closest_agree_with_distances),
        cmocka_unit_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
