/* Data for viewers: the surface of a hull, and the point of a bushing. */
#include "check.h"

#include <jansson.h>
#include <stiction/io.h>
#include <string.h>

/* A sixth of the sum of det(a, b, c) over the triangles of a closed surface. */
static double volume(const st_Surface *t)
{
    double sum = 0;
    for (int k = 0; k < t->n_triangles; k++) {
        st_Vec3 a = t->points[t->triangles[3 * k]], b = t->points[t->triangles[3 * k + 1]],
                c = t->points[t->triangles[3 * k + 2]];
        sum += a.x * (b.y * c.z - b.z * c.y) + a.y * (b.z * c.x - b.x * c.z) + a.z * (b.x * c.y - b.y * c.x);
    }
    return sum / 6;
}

/* n points on a ball of radius 1 that is not about the origin, on a spiral from pole to pole: no four in a plane, so by
 * Euler's formula the hull has 2 n - 4 triangles. */
static void hulls_of_many_points(void **state)
{
    (void)state;
    static const int sizes[] = {12, 64, 65, 300};
    for (int s = 0; s < 4; s++) {
        const int n = sizes[s];
        st_Vec3 point[300];
        for (int k = 0; k < n; k++) {
            double z = 1 - (2 * k + 1.0) / n, angle = 2.399963229728653 * k, r = sqrt(1 - z * z);
            point[k] = (st_Vec3){5 + r * cos(angle), r * sin(angle), z};
        }
        st_ShapeDef shape = st_hull_def(point, n);
        st_Surface t = {0};
        st_Error err = {0};
        check_ok(st_shape_surface(&shape, 1, &t, &err), err);
        assert_int_equal(t.n_triangles, 2 * n - 4);
        /* the core's own volume, by its own sums: the mass at a density of 1 */
        st_Scene *scene = NULL;
        st_BodyDef body = st_body_def();
        st_BodyId id;
        st_Vec3 centre;
        st_Mat3 inertia;
        double mass = 0;
        shape.density = 1;
        check_ok(st_scene_create(&scene, &err), err);
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &shape, NULL, &err), err);
        check_ok(st_scene_centre_body(scene, id, &centre, &err), err);
        check_ok(st_scene_body_mass(scene, id, &mass, &inertia, &err), err);
        check_close(volume(&t), mass, 1e-11); /* sums of 600 terms of size 5, rounded at 1e-16 each */
        st_scene_destroy(scene);
        st_surface_free(&t);
    }
}

static st_Vec3 vector_in(const json_t *json)
{
    return (st_Vec3){json_number_value(json_array_get(json, 0)), json_number_value(json_array_get(json, 1)),
                     json_number_value(json_array_get(json, 2))};
}

/* A bushing has one point: in a, which is moved, and in b, which is elsewhere. */
static void a_bushing_holds_at_its_point(void **state)
{
    (void)state;
    const char *text =
        "{\"bodies\": [{\"name\": \"a\", \"position\": [1, 2, 3], \"mass\": 1, \"inertia\": 1}, {\"name\": \"b\", "
        "\"position\": [4, 0, 0], \"mass\": 1, \"inertia\": 1}], \"springs\": [{\"type\": \"bushing\", \"a\": \"a\", "
        "\"b\": \"b\", \"point\": [2, 2, 2], \"stiffness\": [1, 1, 1]}]}";
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Error err = {0};
    check_ok(st_scene_parse(text, strlen(text), "x", NULL, 0, &scene, &def, &err), err);
    char *model = st_scene_model(scene, &def);
    json_t *root = json_loads(model, 0, NULL), *spring = json_array_get(json_object_get(root, "springs"), 0);
    assert_non_null(spring);
    st_Vec3 a = vector_in(json_object_get(spring, "pa")), b = vector_in(json_object_get(spring, "pb"));
    check_close(fabs(a.x - 1) + fabs(a.y - 0) + fabs(a.z + 1), 0, 1e-12);
    check_close(fabs(b.x + 2) + fabs(b.y - 2) + fabs(b.z - 2), 0, 1e-12);
    json_decref(root);
    free(model);
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_of_many_points),
        cmocka_unit_test(a_bushing_holds_at_its_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
