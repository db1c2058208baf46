/* Shapes in scene files: every kind of geometry, OBJ and STL, and refused files. */
#include "import/mesh_file.h"
#include "scene_check.h"

#include <stdlib.h>
#include <unistd.h>

#include <stiction/io.h>
#include <string.h>

#define BODY(shape) "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 1, \"shapes\": [" shape "]}]}"

static st_Scene *parse(const char *text)
{
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Error err = {0};
    check_ok(st_scene_parse(text, strlen(text), "test.json", NULL, 0, &scene, &def, &err), err);
    return scene;
}

static void refused(const char *text, const char *part)
{
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Error err = {0};
    st_Status status = st_scene_parse(text, strlen(text), "test.json", NULL, 0, &scene, &def, &err);
    if (status == ST_OK || strstr(err.message, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", err.message, part);
}

static void every_shape_is_read(void **state)
{
    (void)state;
    st_Scene *scene =
        parse(BODY("{\"type\": \"capsule\", \"radius\": 0.1, \"length\": 0.5, \"axis\": [1, 0, 0], \"groups\": [0, 4], "
                   "\"touches\": [3]},"
                   "{\"type\": \"cylinder\", \"radius\": 0.2, \"length\": 0.6},"
                   "{\"type\": \"cone\", \"radius\": 0.3, \"length\": 0.7},"
                   "{\"type\": \"ellipsoid\", \"size\": [2, 4, 6]},"
                   "{\"type\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], \"scale\": 2},"
                   "{\"type\": \"mesh\", \"points\": [[0,0,0],[1,0,0],[0,1,0]], \"triangles\": [[0,1,2]]},"
                   "{\"type\": \"height-field\", \"heights\": [[0,1,2],[3,4,5]], \"spacing\": 0.5}"));
    st_ShapeDef s;
    assert_int_equal(st_scene_shape_count(scene), 7);
    st_scene_shape(scene, (st_ShapeId){1}, &s, NULL);
    assert_int_equal(s.type, ST_SHAPE_CAPSULE);
    assert_int_equal(s.groups, 0x11);
    assert_int_equal(s.mask, 0x8);
    check_close(s.pose.q.w, sqrt(0.5), 1e-15); /* z turned to x */
    st_scene_shape(scene, (st_ShapeId){4}, &s, NULL);
    check_close(s.half.y, 2, 0);
    st_scene_shape(scene, (st_ShapeId){5}, &s, NULL);
    assert_int_equal(s.n_points, 4);
    check_close(s.points[1].x, 2, 0);
    st_scene_shape(scene, (st_ShapeId){6}, &s, NULL);
    assert_int_equal(s.triangles[2], 2);
    st_scene_shape(scene, (st_ShapeId){7}, &s, NULL);
    assert_int_equal(s.n_x, 3);
    assert_int_equal(s.n_y, 2);
    check_close(s.heights[4], 4, 0);
    st_scene_destroy(scene);
}

/* A surface of revolution with n sides is that of a polygon whose area is n/(2 pi) sin(2 pi/n) of the circle's. The
 * outline may be given in either direction. */
static void outlines_are_revolved(void **state)
{
    (void)state;
    static const struct {
        const char *outline;
        double volume; /* with a round outline, over pi */
    } cases[] = {
        {"[[1, -0.5], [2, -0.5], [2, 0.5], [1, 0.5], [1, -0.5]]", 3.0}, /* a ring */
        {"[[1, -0.5], [1, 0.5], [2, 0.5], [2, -0.5], [1, -0.5]]", 3.0},
        {"[[0, -0.5], [2, -0.5], [2, 0.5], [0, 0.5]]", 4.0}, /* a cylinder */
        {"[[0, 0.5], [2, 0.5], [2, -0.5], [0, -0.5]]", 4.0},
        {"[[0, -1], [2, 0], [0, 1]]", 8.0 / 3.0}, /* two cones */
    };
    static const int sides[] = {3, 32, 100};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
            char text[512];
            double mass;
            snprintf(text, sizeof text,
                     "{\"bodies\": [{\"name\": \"a\", \"shapes\": [{\"type\": \"mesh\", \"sides\": %d, "
                     "\"density\": 10, \"outline\": %s}]}]}",
                     sides[k], cases[c].outline);
            st_Scene *scene = parse(text);
            st_Error err = {0};
            assert_int_equal(st_scene_shapes_mass(scene, (st_BodyId){1}, &mass, &err), ST_OK);
            check_close(mass, 10.0 * cases[c].volume * 0.5 * sides[k] * sin(2.0 * acos(-1.0) / sides[k]), 1e-12);
            st_scene_destroy(scene);
        }
    /* A funnel is a sheet; a ring shares its last corners with its first ones. */
    st_Scene *scene = parse("{\"ground\": [{\"type\": \"mesh\", \"outline\": [[0.1, 0], [0.4, 0.5], [0.4, 1]]},"
                            "{\"type\": \"mesh\", \"outline\": [[1, 0], [2, 0], [2, 1], [1, 0]], \"sides\": 8}],"
                            "\"bodies\": [{\"mass\": 1, \"inertia\": 1}]}");
    st_ShapeDef shape;
    st_scene_shape(scene, (st_ShapeId){1}, &shape, NULL);
    assert_int_equal(shape.n_points, 3 * 32);
    assert_int_equal(shape.n_triangles, 4 * 32);
    check_close(hypot(shape.points[33].x, shape.points[33].y), 0.4, 1e-15);
    st_scene_shape(scene, (st_ShapeId){2}, &shape, NULL);
    assert_int_equal(shape.n_points, 3 * 8);
    assert_int_equal(shape.n_triangles, 6 * 8);
    st_scene_destroy(scene);
}

static void bad_geometry_is_refused(void **state)
{
    (void)state;
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0]]}"), "at least two pairs");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0], [-1, 2]]}"), "outline[1]");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0], [1, 0]]}"), "must differ");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[0, 0], [0, 1], [1, 1]]}"), "radius 0");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0], [1, 1]], \"sides\": 2}"), "from 3 to 1000");
    refused(BODY("{\"type\": \"mesh\", \"sides\": 5, \"points\": [[0,0,0],[1,0,0],[0,1,0]]}"), "which is missing");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0], [1, 1]], \"points\": [[0,0,0],[1,0,0],[0,1,0]]}"),
            "\"points\" and \"outline\"");
    refused(BODY("{\"type\": \"mesh\", \"outline\": [[1, 0], [1, 1]], \"file\": \"a.obj\"}"),
            "\"file\" and \"outline\"");
    refused(BODY("{\"type\": \"hull\", \"outline\": [[1, 0], [1, 1]]}"), "outline");
    refused(BODY("{\"type\": \"hull\"}"), "\"points\" or \"file\" is missing");
    refused(BODY("{\"type\": \"hull\", \"points\": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}"), "lie in a plane");
    refused(BODY("{\"type\": \"hull\", \"points\": [[0,0],[1,0,0]]}"), "points[0]");
    refused(BODY("{\"type\": \"mesh\", \"points\": [[0,0,0],[1,0,0],[0,1,0]]}"), "\"triangles\" is missing");
    refused(BODY("{\"type\": \"mesh\", \"points\": [[0,0,0],[1,0,0],[0,1,0]], \"triangles\": [[0,1,3]]}"),
            "names point 3");
    refused(BODY("{\"type\": \"mesh\", \"points\": [[0,0,0],[1,0,0],[0,1,0]], \"triangles\": [[0,1,0.5]]}"),
            "triangles[0]");
    refused(BODY("{\"type\": \"mesh\", \"file\": \"nowhere.obj\"}"), "could not be opened");
    refused(BODY("{\"type\": \"mesh\", \"file\": \"shape.step\"}"), ".obj, .stl, .dae or .msh");
    refused(BODY("{\"type\": \"height-field\", \"heights\": [[0,1],[2]], \"spacing\": 1}"), "heights[1]");
    refused(BODY("{\"type\": \"sphere\", \"radius\": 1, \"groups\": [32]}"), "0 to 31");
    refused("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1}], \"exclude\": [[\"a\", \"c\"]]}", "exclude");
}

static void recentre_and_exclude(void **state)
{
    (void)state;
    st_Scene *scene =
        parse("{\"bodies\": [{\"name\": \"a\", \"position\": [1, 0, 0], \"recentre\": true, \"shapes\": [{\"type\": "
              "\"box\", \"size\": [1, 1, 1], \"position\": [0, 2, 0]}]}, {\"name\": \"b\", \"mass\": 1, "
              "\"inertia\": 1}], \"exclude\": [[\"a\", \"b\"]]}");
    st_BodyDef body;
    st_scene_body(scene, (st_BodyId){1}, &body);
    check_close(body.pose.p.y, 2, 1e-15);
    check_close(body.pose.p.x, 1, 1e-15);
    st_scene_destroy(scene);
}

static void model_text(const char *text, size_t length, bool obj, int points, int triangles)
{
    sti_Model m = {0};
    st_Error err = {0};
    check_ok(sti_model_parse(text, length, obj ? ".obj" : ".stl", "file", &m, &err), err);
    assert_int_equal(m.n_points, points);
    assert_int_equal(m.n_triangles, triangles);
    sti_model_free(&m);
}

static void models_are_read(void **state)
{
    (void)state;
    const char *obj =
        "# a square and a triangle\nv 0 0 0\nv 1 0 0\r\nv 1 1 0\nv 0 1 0\nvn 0 0 1\ng x\nf 1/1/1 2//1 3 -1\n"
        "v 2 0 0\nf 2 5 3\n";
    model_text(obj, strlen(obj), true, 5, 3);
    const char *stl =
        "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
        "facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
    model_text(stl, strlen(stl), false, 4, 2); /* the shared corners are one point each */
    unsigned char binary[84 + 50] = {0};
    const float corner[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    binary[80] = 1;
    memcpy(binary + 84 + 12, corner, sizeof corner);
    model_text((const char *)binary, sizeof binary, false, 3, 1);
    static const struct {
        const char *text, *part;
    } bad[] = {{"v 0 0\n", "file:1"},
               {"v 0 0 0\nf 1 2 3\n", "names point 2"},
               {"v 0 0 nan\n", "(0, 0, nan), each must be from -1e+30 to 1e+30"},
               {"v 0 0 0\nf 1 1\n", "2 corners"},
               {"", "no points"},
               {"v 0 0 0\nf a b c\n", "is not a corner"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        sti_Model m = {0};
        st_Error err = {0};
        assert_true(sti_model_parse(bad[k].text, strlen(bad[k].text), ".obj", "file", &m, &err) != ST_OK);
        if (strstr(err.message, bad[k].part) == NULL) fail_msg("\"%s\" does not say \"%s\"", err.message, bad[k].part);
        sti_model_free(&m);
    }
}

/* An absolute path is used unchanged, a relative one starts at the scene's folder. */
static void paths_of_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-model-XXXXXX", model[64], label[64], text[400];
    assert_non_null(mkdtemp(folder));
    snprintf(model, sizeof model, "%s/solid.obj", folder);
    FILE *file = fopen(model, "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", file);
    fclose(file);
    for (int k = 0; k < 2; k++) {
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        snprintf(label, sizeof label, "%s/scene.json", k == 0 ? "/tmp" : folder);
        snprintf(text, sizeof text,
                 "{\"bodies\": [{\"mass\": 1, \"inertia\": 1, \"shapes\": [{\"type\": \"mesh\", \"file\": \"%s\"}]}]}",
                 k == 0 ? model : "solid.obj");
        check_ok(st_scene_parse(text, strlen(text), label, NULL, 0, &scene, &def, &err), err);
        st_scene_destroy(scene);
    }
    unlink(model);
    rmdir(folder);
}

static char *big_face(const char *folder, int corners, char path[128])
{
    snprintf(path, 128, "%s/face.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int k = 0; k < corners; k++)
        fprintf(file, "v %.17g %.17g 0\n", cos(6.283185307179586 * k / corners), sin(6.283185307179586 * k / corners));
    fputs("f", file);
    for (int k = 0; k < corners; k++)
        fprintf(file, " %d/%d/%d", k + 1, k + 1, k + 1);
    fputs("\n", file);
    assert_int_equal(fclose(file), 0);
    return path;
}

/* A face of 1000 corners is 998 triangles, however long its line. */
static void long_faces(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-obj-XXXXXX", path[128], text[400];
    assert_non_null(mkdtemp(folder));
    big_face(folder, 1000, path);
    snprintf(text, sizeof text,
             "{\"ground\": [{\"type\": \"mesh\", \"file\": \"%s\"}], \"bodies\": [{\"mass\": 1, \"inertia\": 1}]}",
             path);
    st_SystemDef def;
    st_Scene *scene = scene_of(text, &def, NULL);
    st_ShapeDef shape;
    assert_int_equal(st_scene_shape(scene, (st_ShapeId){1}, &shape, NULL), ST_OK);
    assert_int_equal(shape.n_points, 1000);
    assert_int_equal(shape.n_triangles, 998);
    st_scene_destroy(scene);
    unlink(path);
    rmdir(folder);
}

/* Triangles of the scene beside those of a file: which are meant? */
static void triangles_beside_a_file(void **state)
{
    (void)state;
    char folder[] = "/tmp/stiction-obj-XXXXXX", path[128], text[400];
    assert_non_null(mkdtemp(folder));
    big_face(folder, 4, path);
    snprintf(
        text, sizeof text,
        "{\"ground\": [{\"type\": \"mesh\", \"triangles\": [[0, 1, 2]], \"file\": \"%s\"}], \"bodies\": [{\"mass\": "
        "1, \"inertia\": 1}]}",
        path);
    check_refused(text, 1, "\"triangles\" and \"file\"");
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_faces),
        cmocka_unit_test(triangles_beside_a_file),
        cmocka_unit_test(outlines_are_revolved),
        cmocka_unit_test(every_shape_is_read),
        cmocka_unit_test(bad_geometry_is_refused),
        cmocka_unit_test(recentre_and_exclude),
        cmocka_unit_test(paths_of_files),
        cmocka_unit_test(models_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
