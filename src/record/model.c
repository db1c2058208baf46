/* record/model.c -- describes a scene as JSON for the viewer page: bodies with names and masses, shapes and anchors of
 * joints and springs in the frames of their bodies.
 *
 * The page draws known shapes by their type. It draws any other shape from the triangles in the same object, so that
 * a new shape type is visible before the page supports it.
 */
#include "base/json.h"
#include "math/quat.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/grains.h>
#include <stiction/io.h>

static json_t *vector(st_Vec3 v)
{
    return json_pack("[fff]", v.x, v.y, v.z);
}

/* A world point in the frame of the body at its initial pose. */
static json_t *anchor(const st_Scene *scene, st_BodyId id, st_Vec3 point)
{
    st_BodyDef body = st_body_def();
    if (id.index1 > 0) st_scene_body(scene, id, &body);
    return vector(rotate_back(body.pose.q, sub(point, body.pose.p)));
}

static json_t *axis_in(const st_Scene *scene, st_BodyId id, st_Vec3 axis)
{
    st_BodyDef body = st_body_def();
    if (id.index1 > 0) st_scene_body(scene, id, &body);
    return vector(rotate_back(body.pose.q, axis));
}

#define MOST_INERTIAS 2000 /* bodies; for more, the inertias would make every page larger for little use */

static json_t *bodies(const st_Scene *scene)
{
    json_t *list = json_array();
    const bool few = st_scene_body_count(scene) <= MOST_INERTIAS;
    for (int i = 1; i <= st_scene_body_count(scene); i++) {
        st_BodyDef body;
        double mass = 0;
        st_Mat3 inertia = {0};
        if (st_scene_body(scene, (st_BodyId){i}, &body) != ST_OK) continue;
        if (st_scene_body_mass(scene, (st_BodyId){i}, &mass, &inertia, NULL) != ST_OK) mass = body.mass;
        json_t *out = json_pack("{ss sf sb si}", "name", body.name, "mass", isfinite(mass) ? mass : 0.0, "fixed",
                                (int)body.fixed, "locks", (int)body.locks);
        if (few && !body.fixed)
            out = sti_with(out, "inertia",
                           json_pack("[ffffff]", inertia.m[0], inertia.m[4], inertia.m[8], inertia.m[1], inertia.m[2],
                                     inertia.m[5])); /* xx yy zz xy xz yz */
        list = sti_append_to(list, out);
    }
    return list;
}

/* Is it a type that the page draws itself? All others are written as triangles. */
static bool drawn_by_page(st_ShapeType type)
{
    static const st_ShapeType known[] = {ST_SHAPE_POINT,    ST_SHAPE_BAR,   ST_SHAPE_SPHERE,
                                         ST_SHAPE_BOX,      ST_SHAPE_PLANE, ST_SHAPE_CAPSULE,
                                         ST_SHAPE_CYLINDER, ST_SHAPE_CONE,  ST_SHAPE_ELLIPSOID};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
        if (type == known[k]) return true;
    return false;
}

static json_t *shapes(const st_Scene *scene)
{
    json_t *list = json_array();
    for (int i = 1; i <= st_scene_shape_count(scene); i++) {
        st_ShapeDef shape;
        st_BodyId body;
        if (st_scene_shape(scene, (st_ShapeId){i}, &shape, &body) != ST_OK) continue;
        st_Quat q = shape.pose.q;
        json_t *out = json_pack("{si ss so so sf}", "body", body.index1, "type", st_shape_type_name(shape.type), "p",
                                vector(shape.pose.p), "q", json_pack("[ffff]", q.w, q.x, q.y, q.z), "mu", shape.mu);
        if (shape.material.index1 > 0) out = sti_with(out, "material", json_integer(shape.material.index1));
        if (shape.color != 0) {
            char color[16];
            snprintf(color, sizeof color, "#%08x", shape.color);
            out = sti_with(out, "color", json_string(color));
        }
        if (shape.radius > 0) out = sti_with(out, "radius", json_real(shape.radius));
        if (shape.length > 0) out = sti_with(out, "length", json_real(shape.length));
        if (shape.half.x > 0) out = sti_with(out, "half", vector(shape.half));
        if (!drawn_by_page(shape.type)) {
            st_Surface t = {0};
            json_t *points = json_array(), *corners = json_array();
            if (st_shape_surface(&shape, 1, &t, NULL) == ST_OK) {
                for (int k = 0; k < t.n_points; k++) {
                    points = sti_append_to(points, json_real(t.points[k].x));
                    points = sti_append_to(points, json_real(t.points[k].y));
                    points = sti_append_to(points, json_real(t.points[k].z));
                }
                for (int k = 0; k < 3 * t.n_triangles; k++)
                    corners = sti_append_to(corners, json_integer(t.triangles[k]));
            }
            st_surface_free(&t);
            out = sti_with(out, "mesh", json_pack("{so so}", "points", points, "triangles", corners));
        }
        list = sti_append_to(list, out);
    }
    return list;
}

static json_t *joints(const st_Scene *scene)
{
    json_t *list = json_array();
    for (int i = 1; i <= st_scene_joint_count(scene); i++) {
        st_JointDef joint;
        if (st_scene_joint(scene, (st_JointId){i}, &joint) != ST_OK) continue;
        st_Vec3 second = joint.type == ST_JOINT_DISTANCE || joint.type == ST_JOINT_FREE ? joint.point_b : joint.point;
        list = sti_append_to(
            list, json_pack("{ss ss si si so so so}", "name", joint.name, "type", st_joint_type_name(joint.type), "a",
                            joint.a.index1, "b", joint.b.index1, "pa", anchor(scene, joint.a, joint.point), "pb",
                            anchor(scene, joint.b, second), "axis", axis_in(scene, joint.a, joint.axis)));
    }
    return list;
}

static json_t *springs(const st_Scene *scene)
{
    json_t *list = json_array();
    for (int i = 1; i <= st_scene_spring_count(scene); i++) {
        st_SpringDef spring;
        if (st_scene_spring(scene, (st_SpringId){i}, &spring) != ST_OK) continue;
        /* a bushing has one point for both bodies */
        st_Vec3 second = spring.type == ST_SPRING_BUSHING ? spring.point_a : spring.point_b;
        list = sti_append_to(list, json_pack("{ss ss si si so so}", "name", spring.name, "type",
                                             st_spring_type_name(spring.type), "a", spring.a.index1, "b",
                                             spring.b.index1, "pa", anchor(scene, spring.a, spring.point_a), "pb",
                                             anchor(scene, spring.b, second)));
    }
    return list;
}

static json_t *measures(const st_Scene *scene)
{
    json_t *list = json_array();
    for (int i = 0; i < st_scene_measure_count(scene); i++) {
        st_MeasureDef measure;
        if (st_scene_measure(scene, i, &measure) != ST_OK) continue;
        list =
            sti_append_to(list, json_pack("{ss ss}", "name", measure.name, "type", st_measure_type_name(measure.type)));
    }
    return list;
}

/* [material, material, friction] of the pairs with their own friction. */
static json_t *pairs(const st_Scene *scene)
{
    json_t *list = json_array();
    for (int i = 0; i < st_scene_material_pair_count(scene); i++) {
        st_MaterialPairDef pair;
        if (st_scene_material_pair(scene, i, &pair) == ST_OK && !isnan(pair.mu))
            list = sti_append_to(list, json_pack("[iif]", pair.a.index1, pair.b.index1, pair.mu));
    }
    return list;
}

char *st_scene_model(const st_Scene *scene, const st_SystemDef *def)
{
    json_t *root = json_pack("{so so so so so so so}", "gravity", vector(def->gravity), "bodies", bodies(scene),
                             "shapes", shapes(scene), "joints", joints(scene), "springs", springs(scene), "friction",
                             pairs(scene), "measures", measures(scene));
    st_Cell cell;
    if (st_scene_cell(scene, &cell))
        root =
            sti_with(root, "periodic",
                     json_pack("{so so}", "lower", vector(cell.lower), "length", vector(sub(cell.upper, cell.lower))));
    char *text = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(root);
    return text;
}

char *st_choices_json(const st_SystemDef *def)
{
    json_t *root = json_object();
    for (int k = 0; k < st_setting_count(); k++) {
        const st_Setting *setting = st_setting(k);
        st_SettingValue value = {0};
        if (st_setting_get(def, setting->key, &value, NULL) != ST_OK) continue;
        json_t *out = json_real(value.number);
        if (setting->kind != ST_SETTING_NUMBER) json_decref(out);
        if (setting->kind == ST_SETTING_CHOICE) out = json_string(value.word != NULL ? value.word : "");
        if (setting->kind == ST_SETTING_VECTOR) out = vector(value.vector);
        if (setting->kind == ST_SETTING_BOOLEAN) out = json_boolean(value.number != 0);
        if (setting->kind == ST_SETTING_INTEGER) out = json_integer((json_int_t)value.number);
        root = sti_with(root, setting->key, out);
    }
    char *text = root == NULL ? NULL : json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(root);
    return text;
}
