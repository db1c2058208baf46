/* Scene files: the effect of every key, and the messages for bad ones. */
#include "scene_check.h"

#include <sys/stat.h>
#include <unistd.h>

#define EXACT 0.0   /* a number is copied, not computed */
#define ROUND 1e-15 /* a few operations on numbers of size 1 */

static void check_vec3(st_Vec3 got, double x, double y, double z, double tolerance)
{
    check_close(got.x, x, tolerance);
    check_close(got.y, y, tolerance);
    check_close(got.z, z, tolerance);
}

static void check_quat(st_Quat got, double w, double x, double y, double z)
{
    check_close(got.w, w, ROUND);
    check_vec3((st_Vec3){got.x, got.y, got.z}, x, y, z, ROUND);
}

/* Where the rotation takes a vector: v + 2 w (u x v) + 2 u x (u x v). */
static st_Vec3 turned(st_Quat q, st_Vec3 v)
{
    st_Vec3 c = {q.y * v.z - q.z * v.y, q.z * v.x - q.x * v.z, q.x * v.y - q.y * v.x};
    st_Vec3 cc = {q.y * c.z - q.z * c.y, q.z * c.x - q.x * c.z, q.x * c.y - q.y * c.x};
    return (st_Vec3){v.x + 2 * (q.w * c.x + cc.x), v.y + 2 * (q.w * c.y + cc.y), v.z + 2 * (q.w * c.z + cc.z)};
}

/* ---- the effect of every key ---- */

static void test_settings(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    assert_string_equal(def.preset, "anitescu-potra-2002"); /* applied first, although it comes second */
    assert_int_equal(def.integrator, ST_INTEGRATOR_EULER);
    assert_int_equal(def.contact, ST_CONTACT_RIGID);
    assert_int_equal(def.law, ST_LAW_CONE);
    assert_int_equal(def.facets, 6);
    assert_int_equal(def.drift, ST_DRIFT_GAP);
    assert_int_equal(def.impact, ST_IMPACT_INELASTIC);
    assert_int_equal(def.events, ST_EVENTS_OFF);
    check_close(def.h, 0.002, EXACT);
    check_close(def.end, 3, EXACT);
    check_vec3(def.gravity, 0, -1, 2, EXACT);
    assert_string_equal(def.solver, "nsgs");
    check_close(def.tolerance, 1e-6, EXACT);
    assert_int_equal(def.max_iterations, 77);
    assert_int_equal(def.threads, 3);
    assert_false(def.islands);
    assert_true(def.sleep);
    check_close(def.sleep_speed, 0.02, EXACT);
    check_close(def.sleep_time, 1.5, EXACT);
    check_close(def.margin, 0.25, EXACT);
    assert_true(def.all_points && def.drop_redundant);
    check_close(def.slop, 1e-7, EXACT);
    check_close(def.correction_speed, 0.5, EXACT);
    check_close(def.active_gap, 1e-4, EXACT);
    assert_true(def.keep_springs);
    check_close(def.speed_limit, 1000, EXACT);
    assert_int_equal(def.coordinates, ST_COORDINATES_BODY);
    assert_int_equal(def.form, ST_FORM_I);
    check_close(def.restitution_speed, 0.01, EXACT);
    check_close(def.event_step, 1e-5, EXACT);
    assert_int_equal(def.max_events, 12);
    assert_int_equal(def.patch_elements, 5);
    check_close(def.patch_spacing, 1e-5, EXACT);
    check_close(def.patch_mass, 2, EXACT);
    check_close(def.contact_stiffness, 1e4, EXACT);
    check_close(def.contact_damping, 100, EXACT);
    check_close(def.joint_stiffness, 1e5, EXACT);
    assert_true(def.rigid_limit);
    assert_int_equal(def.initial, ST_INITIAL_PROJECT);
    assert_int_equal(def.energy, ST_ENERGY_REPORT);
    check_close(def.residual_limit, 0.25, EXACT);
    st_scene_destroy(scene);
    assert_string_equal(def.solver, "nsgs"); /* lives as long as the library, not the file */
}

/* The scene above must have every setting of the table. */
static void test_every_setting_is_tried(void **state)
{
    (void)state;
    for (int i = 0; i < st_setting_count(); i++) {
        char key[64];
        snprintf(key, sizeof key, "\"%s\": ", st_setting(i)->key);
        if (strstr(every_key, key) == NULL) fail_msg("every_key lacks simulation/%s", st_setting(i)->key);
    }
}

static void test_bodies(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_BodyDef body;
    assert_int_equal(st_scene_body_count(scene), 6);

    assert_int_equal(st_scene_body(scene, st_scene_find_body(scene, "one"), &body), ST_OK);
    assert_string_equal(body.name, "one");
    check_vec3(body.pose.p, 1, 2, 3, EXACT);
    check_quat(body.pose.q, cos(0.5), 0, 0, sin(0.5));
    check_vec3(body.velocity, 4, 5, 0, EXACT);
    check_vec3(body.spin, 0, 0, 6, EXACT);
    check_close(body.mass, 7, EXACT);
    const double diagonal[9] = {2, 0, 0, 0, 3, 0, 0, 0, 4};
    for (int i = 0; i < 9; i++)
        check_close(body.inertia.m[i], diagonal[i], EXACT);
    assert_int_equal(body.locks, ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY);
    assert_false(body.fixed);

    st_scene_body(scene, st_scene_find_body(scene, "two"), &body);
    const double rows[9] = {2, 0.1, 0, 0.1, 2, 0, 0, 0, 2};
    for (int i = 0; i < 9; i++)
        check_close(body.inertia.m[i], rows[i], EXACT);
    assert_int_equal(body.locks, 0);

    st_scene_body(scene, st_scene_find_body(scene, "three"), &body);
    for (int i = 0; i < 9; i++)
        check_close(body.inertia.m[i], i % 4 == 0 ? 5 : 0, EXACT);
    assert_int_equal(body.locks, ST_LOCK_Y | ST_LOCK_RX | ST_LOCK_RZ);

    st_scene_body(scene, st_scene_find_body(scene, "four"), &body);
    check_close(body.mass, 0, EXACT); /* from its shape */
    st_scene_body(scene, st_scene_find_body(scene, "post"), &body);
    assert_true(body.fixed);
    st_scene_body(scene, (st_BodyId){6}, &body);
    assert_true(strlen(body.name) > 0); /* got one */
    assert_int_equal(body.locks, ST_LOCK_ROTATION);
    st_scene_destroy(scene);
}

static void test_shapes(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_ShapeDef s;
    st_BodyId body;
    assert_int_equal(st_scene_shape_count(scene), 7);

    st_scene_shape(scene, (st_ShapeId){1}, &s, &body);
    assert_int_equal(s.type, ST_SHAPE_PLANE);
    assert_int_equal(body.index1, 0);
    check_vec3(s.pose.p, 0, -1, 0, EXACT);
    check_vec3(turned(s.pose.q, (st_Vec3){0, 0, 1}), 0, 1, 0, ROUND); /* z is the normal */
    check_close(s.mu, 0.7, EXACT);
    st_scene_shape(scene, (st_ShapeId){2}, &s, &body);
    check_quat(s.pose.q, 0.5, 0.5, 0.5, 0.5);

    st_scene_shape(scene, (st_ShapeId){3}, &s, &body);
    assert_int_equal(s.type, ST_SHAPE_POINT);
    assert_string_equal(s.name, "tip");
    assert_int_equal(body.index1, 1);
    check_vec3(s.pose.p, 0.1, 0.2, 0.3, EXACT);
    check_close(s.mu, 0, EXACT);
    st_scene_shape(scene, (st_ShapeId){4}, &s, &body);
    assert_int_equal(s.type, ST_SHAPE_BAR);
    check_close(s.length, 2, EXACT);
    check_close(s.density, 8, EXACT);
    check_vec3(turned(s.pose.q, (st_Vec3){1, 0, 0}), 0, 1, 0, ROUND); /* x is the direction */
    st_scene_shape(scene, (st_ShapeId){5}, &s, &body);
    assert_int_equal(s.type, ST_SHAPE_SPHERE);
    check_close(s.radius, 0.4, EXACT);
    check_close(s.density, 9, EXACT);
    st_scene_shape(scene, (st_ShapeId){6}, &s, &body);
    assert_int_equal(s.type, ST_SHAPE_BOX);
    check_vec3(s.half, 0.5, 1, 1.5, EXACT); /* the file has full extents */
    check_quat(s.pose.q, 0, 0, 1, 0);
    check_close(s.density, 10, EXACT);
    st_scene_shape(scene, (st_ShapeId){7}, &s, &body);
    assert_int_equal(body.index1, 4);
    st_ShapeDef plain = st_sphere_def(1);
    check_close(s.mu, plain.mu, EXACT); /* values that were left out are those of the def */
    check_close(s.density, plain.density, EXACT);
    st_scene_destroy(scene);
}

static void test_joints(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_JointDef j;
    assert_int_equal(st_scene_joint_count(scene), 13);
    st_scene_joint(scene, (st_JointId){1}, &j);
    assert_int_equal(j.type, ST_JOINT_FIXED);
    assert_string_equal(j.name, "weld");
    assert_int_equal(j.a.index1, 1);
    assert_int_equal(j.b.index1, 2);
    check_vec3(j.point, 1, 2, 3, EXACT); /* where a is */
    st_scene_joint(scene, (st_JointId){2}, &j);
    assert_int_equal(j.type, ST_JOINT_BALL);
    assert_int_equal(j.b.index1, 0); /* left out: the ground */
    check_vec3(j.point, 1, 1, 1, EXACT);
    st_scene_joint(scene, (st_JointId){3}, &j);
    assert_int_equal(j.type, ST_JOINT_REVOLUTE);
    assert_int_equal(j.b.index1, 0); /* by its name */
    check_vec3(j.axis, 0, 1, 0, ROUND);
    st_scene_joint(scene, (st_JointId){4}, &j);
    assert_int_equal(j.type, ST_JOINT_PRISMATIC);
    assert_int_equal(j.a.index1, 0);
    check_vec3(j.point, 9, 0, 0, EXACT); /* where b is, a being the ground */
    st_scene_joint(scene, (st_JointId){5}, &j);
    assert_int_equal(j.type, ST_JOINT_DISTANCE);
    check_vec3(j.point, 1, 2, 3, EXACT);
    check_vec3(j.point_b, 9, 0, 0, EXACT);
    check_close(j.length, 8.775, EXACT);
    st_scene_joint(scene, (st_JointId){6}, &j);
    check_vec3(j.point, 1, 1, 1, EXACT);
    check_vec3(j.point_b, 2, 2, 2, EXACT);
    st_scene_destroy(scene);
}

static void test_drives(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_JointDef j;
    st_scene_joint(scene, st_scene_find_joint(scene, "tube"), &j);
    assert_int_equal(j.type, ST_JOINT_CYLINDRICAL);
    assert_int_equal(j.coordinate, ST_COORDINATE_DISPLACEMENT);
    const double got[] = {j.lower,
                          j.upper,
                          j.friction,
                          j.stiffness,
                          j.damping,
                          j.rest,
                          j.motor.target,
                          j.motor.offset,
                          j.motor.max_force,
                          j.motor.stiffness,
                          j.motor.damping,
                          j.motor.profile.frequency,
                          j.motor.profile.phase,
                          j.restitution};
    const double expected[] = {-1.5, 2.5, 3, 4, 5, 0.25, 0.5, 0.1, 7, 8, 9, 2, 1, 0.5};
    for (size_t k = 0; k < sizeof got / sizeof got[0]; k++)
        check_close(got[k], expected[k], EXACT);
    assert_int_equal(j.motor.type, ST_MOTOR_POSITION);
    assert_int_equal(j.motor.profile.type, ST_PROFILE_HARMONIC);
    st_scene_joint(scene, st_scene_find_joint(scene, "cross"), &j);
    assert_int_equal(j.type, ST_JOINT_UNIVERSAL);
    check_vec3(j.axis_b, 0, 0, 1, ROUND);
    assert_int_equal(j.motor.type, ST_MOTOR_NONE);
    st_scene_joint(scene, st_scene_find_joint(scene, "table"), &j);
    assert_int_equal(j.type, ST_JOINT_PLANAR);
    check_vec3(j.point, 9, 0, 0, EXACT); /* where b is, a being the ground */
    assert_int_equal(j.motor.type, ST_MOTOR_SPEED);
    assert_true(isinf(j.motor.max_force));
    assert_int_equal(j.motor.profile.n_table, 2);
    check_close(j.motor.profile.values[1], 3, EXACT);
    st_scene_joint(scene, st_scene_find_joint(scene, "screw"), &j);
    check_close(j.pitch, -0.5, EXACT);
    assert_int_equal(j.motor.profile.type, ST_PROFILE_RAMP);
    assert_int_equal(j.coordinate, ST_COORDINATE_ANGLE); /* left out */
    st_JointId screw = st_scene_find_joint(scene, "screw"), hinge = st_scene_find_joint(scene, "hinge");
    st_scene_joint(scene, st_scene_find_joint(scene, "gear"), &j);
    assert_int_equal(j.joint_a.index1, hinge.index1);
    assert_int_equal(j.joint_b.index1, screw.index1);
    check_close(j.ratio, -3, EXACT);
    st_scene_joint(scene, st_scene_find_joint(scene, "winch"), &j);
    assert_int_equal(j.coordinate, ST_COORDINATE_DISTANCE);
    check_vec3(j.point_b, 9, 0, 0, EXACT);
    check_close(j.upper, 9, EXACT);
    assert_true(isinf(j.lower));
    st_scene_destroy(scene);
}

static void test_materials(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_ShapeDef s;
    assert_int_equal(st_scene_material_count(scene), 2);
    st_scene_shape(scene, (st_ShapeId){2}, &s, NULL);
    assert_int_equal(s.material.index1, st_scene_find_material(scene, "steel").index1);
    check_close(s.mu, 0.2, EXACT); /* the material's */
    st_MaterialDef rubber;
    st_scene_material(scene, st_scene_find_material(scene, "rubber"), &rubber);
    check_close(rubber.restitution, 0.7, EXACT);
    st_scene_destroy(scene);
    check_refused("{\"bodies\": [{\"mass\": 1}], \"materials\": [{\"name\": \"ice\"}], \"ground\": [{\"type\": "
                  "\"plane\",\n\"material\": \"icy\"}]}",
                  2, "material is \"icy\", there is no material of that name", "ice");
    check_refused("{\"bodies\": [{\"mass\": 1}], \"materials\": [{\"name\": \"ice\"}], \"ground\": [{\"type\": "
                  "\"plane\", \"material\": \"ice\",\n"
                  "\"friction\": 1}]}",
                  2, "has both \"friction\" and \"material\"");
    check_refused(
        "{\"bodies\": [{\"mass\": 1}], \"materials\": [{\"name\": \"ice\"}], \"material_pairs\": [\n"
        "{\"a\": \"ice\", \"b\": \"ice\", \"friction\": 0},\n{\"a\": \"ice\", \"b\": \"ice\", \"friction\": 0}]}",
        3, "\"ice\" and \"ice\" is given twice");
}

static void test_springs(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_SpringDef s;
    assert_int_equal(st_scene_spring_count(scene), 4);
    st_scene_spring(scene, (st_SpringId){1}, &s);
    assert_int_equal(s.type, ST_SPRING_LINEAR);
    check_vec3(s.point_a, 1, 2, 3, EXACT);
    check_vec3(s.point_b, 9, 0, 0, EXACT);
    check_close(s.stiffness, 11, EXACT);
    check_close(s.damping, 12, EXACT);
    check_close(s.rest, 1.5, EXACT);
    st_scene_spring(scene, (st_SpringId){2}, &s);
    assert_int_equal(s.b.index1, 0);
    check_vec3(s.point_a, 1, 0, 0, EXACT);
    check_vec3(s.point_b, 0, 1, 0, EXACT);
    check_close(s.rest, sqrt(2), ROUND); /* left out: its length at the start */
    st_scene_spring(scene, (st_SpringId){3}, &s);
    assert_int_equal(s.type, ST_SPRING_ANGULAR);
    check_vec3(s.axis, 0, 0, 1, EXACT);
    check_close(s.rest, -7, EXACT);
    st_scene_spring(scene, (st_SpringId){4}, &s);
    assert_int_equal(s.type, ST_SPRING_BUSHING);
    check_vec3(s.point_a, 1, 1, 1, EXACT);
    check_quat(s.frame, 0.5, 0.5, 0.5, 0.5);
    check_vec3(s.stiffness_along, 1, 2, 3, EXACT);
    check_vec3(s.damping_along, 4, 5, 6, EXACT);
    check_vec3(s.stiffness_about, 7, 8, 9, EXACT);
    check_vec3(s.damping_about, 0, 1, 2, EXACT);
    st_scene_destroy(scene);
}

static void test_forces(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of(every_key, &def, NULL);
    st_ForceDef f;
    assert_int_equal(st_scene_force_count(scene), 4);
    st_scene_force(scene, (st_ForceId){1}, &f);
    assert_int_equal(f.profile.type, ST_PROFILE_CONSTANT);
    assert_int_equal(f.body.index1, 1);
    check_vec3(f.point, 1, 2, 3, EXACT);
    check_vec3(f.force, 4, 5, 6, EXACT);
    check_vec3(f.torque, 7, 8, 9, EXACT);
    assert_true(f.body_axes);
    st_scene_force(scene, (st_ForceId){2}, &f);
    assert_int_equal(f.profile.type, ST_PROFILE_HARMONIC);
    check_close(f.profile.frequency, 3, EXACT);
    check_close(f.profile.phase, 0.5, EXACT);
    assert_false(f.body_axes);
    st_scene_force(scene, (st_ForceId){3}, &f);
    const double times[3] = {0, 1, 2.5}, values[3] = {1, 3, -1};
    assert_int_equal(f.profile.n_table, 3);
    for (int i = 0; i < 3; i++) {
        check_close(f.profile.times[i], times[i], EXACT);
        check_close(f.profile.values[i], values[i], EXACT);
    }
    st_scene_destroy(scene);
}

static void test_every_lock_word(void **state)
{
    (void)state;
    static const struct {
        const char *word;
        uint32_t free; /* the directions left to move: the definition of "planar" */
    } words[] = {
        {"x", 62},
        {"y", 61},
        {"z", 59},
        {"rx", 55},
        {"ry", 47},
        {"rz", 31},
        {"rotation", 7},
        {"planar-xy", ST_LOCK_X | ST_LOCK_Y | ST_LOCK_RZ},
        {"planar-xz", ST_LOCK_X | ST_LOCK_Z | ST_LOCK_RY},
        {"planar-yz", ST_LOCK_Y | ST_LOCK_Z | ST_LOCK_RX},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"bodies\": [{\"mass\": 1, \"inertia\": 1, \"locks\": [\"%s\"]}]}",
                 words[i].word);
        st_SystemDef def;
        st_BodyDef body;
        st_Scene *scene = scene_of(text, &def, NULL);
        st_scene_body(scene, (st_BodyId){1}, &body);
        assert_int_equal(body.locks, ST_LOCK_ALL & ~words[i].free);
        st_scene_destroy(scene);
    }
}

/* The examples: the numbers of the paper, and the geometry of section 3.3, which must close. */
static void test_examples(void **state)
{
    (void)state;
    for (int i = 0; i < N_EXAMPLES; i++) {
        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        check_ok(st_scene_read(example_scenes[i], NULL, 0, &scene, &def, &err), err);
        assert_int_equal(st_scene_body_count(scene), 2);
        check_vec3(def.gravity, 0, -9.81, 0, EXACT);
        check_close(def.end, 10, EXACT);
        st_SpringDef spring;
        assert_int_equal(st_scene_spring(scene, (st_SpringId){1}, &spring), ST_OK);
        const char *damping = strstr(example_scenes[i], "_g") + 2; /* b_m1e8_g20, bars_A0_mu0.15_g1e+08 */
        check_close(spring.damping, strtod(damping, NULL), EXACT);
        double mu = strstr(example_scenes[i], "_mu") != NULL ? strtod(strstr(example_scenes[i], "_mu") + 3, NULL) : 0.4;
        for (int k = 1; k <= st_scene_shape_count(scene); k++) {
            st_ShapeDef shape;
            st_scene_shape(scene, (st_ShapeId){k}, &shape, NULL);
            check_close(shape.mu, mu, EXACT);
        }
        if (strstr(example_scenes[i], "bars") != NULL) {
            st_BodyDef bar[2];
            st_scene_body(scene, st_scene_find_body(scene, "bar1"), &bar[0]);
            st_scene_body(scene, st_scene_find_body(scene, "bar2"), &bar[1]);
            for (int k = 0; k < 2; k++) { /* the joint is at (0, 2): each bar's end, 1 m before its centre */
                st_Vec3 along = turned(bar[k].pose.q, (st_Vec3){1, 0, 0});
                check_vec3((st_Vec3){bar[k].pose.p.x - along.x, bar[k].pose.p.y - along.y, 0}, 0, 2, 0, 4 * ROUND);
            }
            check_close(hypot(bar[1].pose.p.x - bar[0].pose.p.x, bar[1].pose.p.y - bar[0].pose.p.y), spring.rest,
                        4 * ROUND);
        }
        st_scene_destroy(scene);
    }
}

static void test_harmless_things(void **state)
{
    (void)state;
    st_SystemDef def;
    st_Scene *scene = scene_of("\xef\xbb\xbf{\"bodies\": [{\"mass\": 100000000000000000000000, \"inertia\": 1}]}\r\n",
                               &def, NULL); /* the mark of some editors, a whole number beyond 64 bits */
    st_BodyDef body;
    st_scene_body(scene, (st_BodyId){1}, &body);
    check_close(body.mass, 1e23, EXACT);
    st_scene_destroy(scene);
    st_Scene *none = NULL;
    assert_int_equal(st_scene_parse("{", 1, NULL, NULL, 0, &none, &def, NULL), ST_ERR_FORMAT); /* err may be NULL */
    assert_null(none);
}

/* ---- messages for bad ones ---- */

#define BODIES "\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1}]"

static void test_not_json(void **state)
{
    (void)state;
    check_refused("", 1, "empty", "must be a JSON object");
    check_refused(" \n\t ", 1, "empty");
    check_refused("hello", 1, "not JSON");
    check_refused("[]", 1, "scene is an empty list, must be an object");
    check_refused("{\n\"bodies\": [\n{\"name\": \"left\",\n\"mass\": NaN}]}", 4, "bodies/left/mass", "NaN",
                  "finite number");
    check_refused("{\n\"bodies\": [\n{\"mass\": -Infinity}]}", 3, "bodies/0/mass", "not JSON");
    check_refused("{\n\"bodies\": [\n{\"mass\": 1e999}]}", 3, "bodies/0/mass", "real number overflow");
    check_refused("{\n// hi\n" BODIES "}", 2, "not JSON", "no comments");
    check_refused("{\n'bodies': []}", 2, "not JSON", "double quotes");
    check_refused("{\n" BODIES ",\n}", 3, "not JSON", "comma too many");
    check_refused("{" BODIES "\n", 2, "not JSON", "end of file");
    check_refused("{" BODIES "}\n\n}", 3, "not JSON", "end of file expected");
    check_refused("{\n" BODIES ",\n\"name\": \"x\",\n\"name\": \"y\"}", 4, "name", "twice");
    check_refused("\xff\xfe{", 1, "UTF-16", "must be UTF-8");
    check_refused("{\"name\": \"\xc3\x28\"}", 1, "not JSON", "UTF-8");

    char deep[10000];
    memset(deep, '[', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    check_refused(deep, 1, "not JSON", "depth");
}

static void test_files(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    assert_int_equal(st_scene_read("no/such.json", NULL, 0, &scene, &def, &err), ST_ERR_FILE);
    assert_string_equal(err.message, "no/such.json: cannot be opened: No such file or directory");
    assert_int_equal(st_scene_read("tests", NULL, 0, &scene, &def, &err), ST_ERR_FILE);
    assert_non_null(strstr(err.message, "tests: cannot be opened: is a folder"));
    assert_int_equal(st_scene_read(NULL, NULL, 0, &scene, &def, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_scene_parse(NULL, 0, "x", NULL, 0, &scene, &def, &err), ST_ERR_ARGUMENT);
    assert_null(scene);
    char path[] = "/tmp/stiction-scene-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    if (chmod(path, 0) == 0 && access(path, R_OK) != 0) { /* root reads everything */
        assert_int_equal(st_scene_read(path, NULL, 0, &scene, &def, &err), ST_ERR_FILE);
        assert_non_null(strstr(err.message, "Permission denied"));
    }
    remove(path);
}

/* Words of other programs, and keys that belong to another object. */
static void test_foreign_words(void **state)
{
    (void)state;
    check_refused("{\"simulation\": {\"timestep\": 1}, " BODIES "}", 1, "did you mean \"h\"?");
    check_refused("{\"bodies\": [{\"shapes\": [{\"type\": \"cube\"}]}]}", 1, "did you mean \"box\"?");
    check_refused("{\"bodies\": [{\"quaternion\": [1, 0, 0, 0]}]}", 1, "did you mean \"orientation\"?");
    check_refused("{\"bodies\": [{\"friction\": 0.3}]}", 1, "a body has no key \"friction\"", "it belongs to shape;");
    check_refused("{\"bodies\": [{\"shapes\": [{\"type\": \"point\", \"mass\": 1}]}]}", 1, "it belongs to body;");
    check_refused("{\"preset\": \"accurate\", " BODIES "}", 1, "it belongs to simulation;");
    check_refused("{\"simulation\": {\"ground\": []}, " BODIES "}", 1, "it belongs to the scene");
    check_refused("{\"bodies\": [{\"fixed\": True}]}", 1, "true and false, in lower case");
}

static void test_unknown_keys(void **state)
{
    (void)state;
    check_refused("{\"simulaton\": {},\n" BODIES "}", 1, "scene", "\"simulaton\"", "did you mean \"simulation\"?");
    check_refused("{\n\"bodies\": [\n{\"name\": \"left\",\n\"masss\": 1}]}", 4, "body \"left\"", "no key \"masss\"",
                  "did you mean \"mass\"?", "known keys: name, position");
    check_refused("{\"simulation\": {\n\"solvr\": \"lemke\"}, " BODIES "}", 2, "simulation", "\"solvr\"",
                  "did you mean \"solver\"?");
    check_refused("{\"ground\": [{\"type\": \"plane\",\n\"radius\": 1}], " BODIES "}", 2, "shape 0 of the ground",
                  "a plane shape has no key \"radius\"", "normal");
    check_refused(
        "{\"bodies\": [{\"name\": \"left\", \"mass\": 1, \"shapes\": [{\"type\": \"bar\",\n\"lenght\": 2}]}]}", 2,
        "shape 0 of body \"left\"", "\"lenght\"", "\"length\"");
    check_refused("{" BODIES ", \"forces\": [{\"body\": \"a\",\n\"frequency\": 2}]}", 2, "forces/0",
                  "a force of profile constant has no key \"frequency\"");
    check_refused("{ \"bodies\": [ { \"shapes\": [\n{ \"type\": \"sphere\", \"radius\": 1, \"adhesion\": 5 } ] } ] }",
                  2, "a sphere shape has no key \"adhesion\"; a material has it");
    check_refused("{" BODIES ", \"forces\": [{\"body\": \"a\",\n\"a\\nb\": 2}]}", 2, "\"a?b\""); /* one line */
}

static void test_wrong_types(void **state)
{
    (void)state;
    check_refused("{\n\"bodies\": [\n{\"name\": \"left\", \"mass\": \"heavy\"}]}", 3, "body \"left\"",
                  "mass is \"heavy\", must be a number > 0");
    check_refused("{\"bodies\": {}}", 1, "bodies is an object, must be a list");
    check_refused("{\"bodies\": []}", 1, "bodies is an empty list", "at least one");
    check_refused("{\"name\": 3,\n" BODIES "}", 1, "name is 3, must be a string");
    check_refused("{\"bodies\": [\n7]}", 2, "bodies/0 is 7, must be an object");
    check_refused("{\"bodies\": [{\"name\": \"\"}]}", 1, "name is \"\"", "not empty");
    check_refused("{\"bodies\": [{\"name\": \"a\\nb\"}]}", 1, "control");
    check_refused("{\"bodies\": [{\"position\": [0, 0]}]}", 1, "bodies/0", "position is a list of 2",
                  "three numbers [x, y, z]");
    check_refused("{\"bodies\": [{\"position\": [0,\n\"up\", 0]}]}", 2, "position[1] is \"up\", must be a number");
    check_refused("{\"bodies\": [{\"fixed\": 1}]}", 1, "fixed is 1, must be true or false");
    check_refused("{\"bodies\": [{\"orientation\": [1, 0, 0]}]}", 1, "orientation is a list of 3", "quaternion");
    check_refused("{\"bodies\": [{\"orientation\": {\"axis\": [1, 0, 0]}}]}", 1, "\"axis\" and \"angle\"");
    check_refused("{\"bodies\": [{\"orientation\": {\"axis\": [0, 0, 0], \"angle\": 1}}]}", 1, "axis",
                  "must have a length from 1e-30");
    check_refused("{\"bodies\": [{\"orientation\": {\"axis\": [0, 0, 1], \"angle\": \"1\"}}]}", 1, "angle", "\"1\"");
    check_refused("{\"bodies\": [{\"inertia\": [[1,0,0],[0,1,0],\n[0,0]]}]}", 2, "inertia[2] is a list of 2");
    check_refused("{\"bodies\": [{\"locks\": [\"x\",\n\"rq\"]}]}", 2, "locks has \"rq\"", "planar-xy");
    check_refused("{\"bodies\": [{\"locks\": 3}]}", 1, "locks is 3");
    check_refused("{\"simulation\": 3, " BODIES "}", 1, "simulation is 3, must be an object");
    check_refused("{\"simulation\": {\"h\": \"small\"}, " BODIES "}", 1,
                  "simulation: h is \"small\", must be a number");
    check_refused("{\"simulation\": {\"max_iterations\": 2.5}, " BODIES "}", 1, "2.5", "whole number");
    check_refused("{\"simulation\": {\"keep_springs\": 1}, " BODIES "}", 1, "keep_springs is 1, must be true or false");
    check_refused("{\"simulation\": {\"gravity\": 9.81}, " BODIES "}", 1, "gravity is 9.81", "three numbers");
    check_refused("{" BODIES ", \"forces\": [{\"body\": \"a\", \"axes\": \"moon\"}]}", 1, "axes is \"moon\"",
                  "\"world\" or \"body\"");
    check_refused("{" BODIES ", \"forces\": [{\"body\": \"a\", \"profile\": \"table\", \"table\": []}]}", 1,
                  "table is an empty list");
    check_refused("{\"bodies\": [{\"mass\": 1, \"shapes\": [{\"type\": \"sphre\", \"radius\": 1}]}]}", 1, "\"sphre\"",
                  "did you mean \"sphere\"?", "point, bar, sphere, box, plane");
    check_refused("{\"bodies\": [{\"mass\": 1, \"shapes\": [{\"radius\": 1}]}]}", 1, "\"type\" is missing", "sphere");
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    check_refused("{\n\"bodies\": [\n{\"name\": \"left\",\n\"mass\": -1}]}", 4,
                  "body \"left\": mass is -1, must be a number > 0");
    check_refused("{\"bodies\": [{\"name\": \"left\",\n\"locks\": [\"x\", \"rotation\"],\n\"mass\": 0}]}", 3,
                  "body \"left\"", "mass is 0");
    /* the same, left out: nothing gives it a mass, and y and z are free */
    check_refused("{\"bodies\": [\n{\"name\": \"left\", \"locks\": [\"x\", \"rotation\"]}]}", 2, "body \"left\"",
                  "mass is 0");
    check_refused("{\"bodies\": [\n{\"name\": \"left\", \"mass\": 1}]}", 2, "body \"left\"", "inertia");
    check_refused("{\"bodies\": [{\"name\": \"left\", \"mass\": 1,\n\"inertia\": [1, 1, 3]}]}", 2, "body \"left\"",
                  "triangle inequality", "3, 1, 1");
    check_refused("{\"bodies\": [{\"name\": \"left\", \"mass\": 1,\n\"inertia\": -2}]}", 2, "inertia is -2");
    check_refused("{\"bodies\": [{\"name\": \"left\", \"mass\": 1, \"inertia\": 1,\n\"orientation\": [1, 1, 0, 0]}]}",
                  2, "orientation", "unit");
    check_refused("{\"bodies\": [{\"name\": \"left\", \"mass\": 1, \"inertia\": 1, \"locks\": [\"y\"],\n\"velocity\": "
                  "[1,\n2, 0]}]}",
                  3, "velocity[1] is 2, must be 0", "locked");
    check_refused("{\"bodies\": [{\"fixed\": true,\n\"angular_velocity\": [1, 0, 0]}]}", 2, "angular_velocity[0] is 1",
                  "fixed");
    check_refused("{\"simulation\": {\n\"h\": 0}, " BODIES "}", 2, "simulation: h is 0, must be from 1e-30 to 1e+30");
    check_refused("{\"simulation\": {\n\"end\": -1}, " BODIES "}", 2,
                  "simulation: end is -1, must be from 1e-30 to 1e+30");
    check_refused("{\"simulation\": {\n\"preset\": \"anitescu-potra\"}, " BODIES "}", 2, "preset is \"anitescu-potra\"",
                  "anitescu-potra-2002", "default");
    check_refused("{\"simulation\": {\n\"preset\": 2002}, " BODIES "}", 2, "preset is 2002", "default");
    check_refused("{\"bodies\": [{\"mass\": 1, \"shapes\": [{\"type\": \"box\", \"size\": [1,\n0, 1]}]}]}", 2,
                  "shape 0 of bodies/0", "size[1] is 0, must be a number > 0");
    check_refused("{\"bodies\": [{\"mass\": 1, \"shapes\": [{\"type\": \"point\",\n\"friction\": -0.1}]}]}", 2,
                  "friction is -0.1, must be a number >= 0");
    check_refused("{\"ground\": [{\"type\": \"plane\", \"normal\": [0, 0, 0]}], " BODIES "}", 1, "normal is [0, 0, 0]");
    check_refused("{\"ground\": [{\"type\": \"plane\", \"normal\": [0, 0, 1],\n\"orientation\": [1, 0, 0, 0]}], " BODIES
                  "}",
                  1, "both \"orientation\" and \"normal\"");
}

static void test_names_and_references(void **state)
{
    (void)state;
    check_refused("{\"bodies\": [\n{\"name\": \"left\", \"mass\": 1, \"inertia\": 1},\n{\"mass\": 1, \"inertia\": 1},\n"
                  "{\"mass\": 1, \"inertia\": 1, \"name\": \"left\"}]}",
                  4, "body \"left\"", "twice", "line 2");
    check_refused("{\"bodies\": [\n{\"name\": \"ground\", \"mass\": 1}]}", 2, "\"ground\" is reserved");
    check_refused("{" BODIES
                  ", \"springs\": [\n{\"name\": \"s\", \"a\": \"a\", \"point_b\": [1, 1, 1], \"damping\": 1},\n"
                  "{\"name\": \"s\", \"a\": \"a\", \"point_b\": [1, 1, 1], \"damping\": 1}]}",
                  3, "spring \"s\"", "twice", "line 2");
    /* shapes: in one body, two of a name are refused; in two bodies they are not */
    check_refused("{\"bodies\": [{\"name\": \"left\", \"mass\": 1, \"inertia\": 1, \"shapes\": [\n"
                  "{\"name\": \"foot\", \"type\": \"point\"},\n{\"name\": \"foot\", \"type\": \"point\"}]}]}",
                  3, "shape \"foot\"", "two of this name");
    st_SystemDef def;
    const char *text = "{\"ground\": [{\"name\": \"foot\", \"type\": \"plane\"}], \"bodies\": ["
                       "{\"mass\": 1, \"inertia\": 1, \"shapes\": [{\"name\": \"foot\", \"type\": \"point\"}]},"
                       "{\"mass\": 1, \"inertia\": 1, \"shapes\": [{\"name\": \"foot\", \"type\": \"point\"}]}]}";
    st_scene_destroy(scene_of(text, &def, NULL));
    check_refused("{\"bodies\": [{\"name\": \"bar1\", \"mass\": 1, \"inertia\": 1}], \"joints\": [\n"
                  "{\"name\": \"hinge\", \"type\": \"ball\", \"point\": [0, 0, 0],\n\"a\": \"bar2\"}]}",
                  3, "joint \"hinge\"", "a is \"bar2\"", "no body of that name", "did you mean \"bar1\"?");
    check_refused("{" BODIES ", \"forces\": [{\"name\": \"push\"}]}", 1, "force \"push\": \"body\" is missing");
    check_refused("{" BODIES ", \"forces\": [{\"name\": \"push\", \"body\": \"ground\"}]}", 1, "force \"push\"",
                  "does not move");
    check_refused("{" BODIES
                  ", \"joints\": [\n{\"type\": \"ball\", \"a\": \"a\", \"b\": \"a\", \"point\": [0, 0, 0]}]}",
                  2, "joints/0", "both ends", "\"a\"");
    /* a ball of radius 0.5 m and water's density has 523.6 kg */
    check_refused("{\"bodies\": [{\"name\": \"a\",\n\"mass\": 3, \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.5, "
                  "\"density\": 1000}]}]}",
                  2, "body \"a\"", "mass is 3 kg, but its shapes have 523.599 kg by their densities");
    check_refused("{" BODIES ", \"joints\": [\n{\"type\": \"fixed\", \"a\": \"a\", \"point\": [0, 0, 0],\n\"motor\": "
                  "{\"type\": \"speed\", \"target\": 1}}]}",
                  3, "a fixed joint has no key \"motor\"");
    check_refused("{" BODIES
                  ", \"joints\": [\n{\"type\": \"ball\", \"a\": \"a\", \"point\": [0, 0, 0], \"upper\": 3.2}]}",
                  2, "joints/0", "half angle of 3.2 rad");
    check_refused("{" BODIES ", \"joints\": [\n{\"type\": \"universal\", \"a\": \"a\", \"point\": [0, 0, 0], "
                  "\"axis\": [0, 0, 1], \"axis_b\": [1, 0, 0], \"other_lower\": 1, \"other_upper\": 0}]}",
                  2, "joints/0", "other_lower is 1 and other_upper 0 (angle_b)");
    check_refused("{" BODIES
                  ", \"joints\": [\n{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"a\", \"point\": [0, 0, 0], "
                  "\"axis\": [0, 0, 1],\n\"lower\": 1, \"upper\": 0}]}",
                  3, "joint \"j\": lower is 1 and upper 0 (angle), lower must be below upper");
    check_refused("{" BODIES /* of two keys in a message the line is that of the key that it names first */
                  ", \"joints\": [\n{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"a\", \"point\": [0, 0, 0], "
                  "\"axis\": [0, 0, 1],\n\"upper\": 0,\n\"lower\": 1}]}",
                  4, "lower is 1 and upper 0");
    check_refused("{" BODIES ", \"joints\": [{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"a\", "
                  "\"point\": [0, 0, 0], \"axis\": [0, 0, 1]},\n{\"type\": \"gear\", \"joint_a\": \"j\", "
                  "\"joint_b\": \"j\", \"ratio\": 2}]}",
                  2, "couples \"j\" to itself, must couple two joints");
    check_refused("{" BODIES
                  ", \"joints\": [\n{\"name\": \"j\", \"type\": \"revolute\", \"a\": \"a\", \"point\": [0, 0, 0], "
                  "\"axis\": [0, 0, 1],\n\"motor\": {\n\"type\": \"speed\", \"gain\": 0}}]}",
                  4, "motor of joint \"j\"", "no key \"gain\"");
    check_refused("{" BODIES
                  ", \"joints\": [\n{\"type\": \"gear\", \"joint_a\": \"x\", \"joint_b\": \"y\", \"ratio\": 1}]}",
                  2, "joint_a is \"x\", there is no joint of that name");
    check_refused("{" BODIES ", \"joints\": [\n{\"type\": \"fixed\"}]}", 2, "joints/0", "both ends", "\"ground\"");
    check_refused("{" BODIES ", \"joints\": [\n{\"type\": \"revolute\", \"a\": \"a\", \"point\": [0, 0, 0]}]}", 2,
                  "joints/0: \"axis\" is missing", "a revolute joint needs it");
    check_refused("{" BODIES ", \"joints\": [\n{\"type\": \"distance\", \"a\": \"a\"}]}", 2, "\"point_b\" is missing",
                  "ground");
    check_refused("{" BODIES ", \"springs\": [\n{\"b\": \"a\", \"stiffness\": 1}]}", 2, "\"point_a\" is missing",
                  "ground");
    check_refused("{" BODIES ", \"springs\": [\n{\"a\": \"a\", \"point_b\": [1, 0, 0]}]}", 2, "stiffness and damping");
    check_refused("{" BODIES
                  ", \"forces\": [{\"name\": \"push\", \"body\": \"a\", \"profile\": \"table\", \"table\": [[0, 1],\n"
                  "[1, 1],\n[1, 2]]}]}",
                  3, "force \"push\"", "table[2] is 1, must be > 1");
    check_refused("{" BODIES ", \"forces\": [{\"body\": \"a\", \"profile\": \"table\", \"table\": [[0, 1],\n[1]]}]}", 2,
                  "table[1] is a list of 1", "[time, value]");
}

/* A message has 512 bytes, names and paths may be longer: it is cut, and still one ended line. */
static void test_long_names_and_labels(void **state)
{
    (void)state;
    char text[4000], label[2000], name[1200];
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    memset(label, 'p', sizeof label - 1);
    label[sizeof label - 1] = '\0';
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    snprintf(text, sizeof text, "{\"bodies\": [{\"name\": \"%s\", \"%s\": 1}]}", name, name);
    assert_int_equal(st_scene_parse(text, strlen(text), label, NULL, 0, &scene, &def, &err), ST_ERR_FORMAT);
    assert_true(strlen(err.message) < sizeof err.message);
    assert_non_null(strstr(err.message, "has no key"));
    snprintf(text, sizeof text, "{\"bodies\": [{\"name\": \"%s\", \"mass\": 1, \"inertia\": 1}]}", name);
    assert_int_equal(st_scene_parse(text, strlen(text), "x", NULL, 0, &scene, &def, &err), ST_ERR_FORMAT);
    assert_non_null(strstr(err.message, "255"));
}

/* A motor's profile and its parameters belong together, as those of a force do. */
static void profiles_of_motors(void **state)
{
    (void)state;
    static const struct {
        const char *motor, *word; /* NULL: fine */
    } cases[] = {
        {"\"profile\": \"harmonic\", \"frequency\": 2, \"phase\": 1", NULL},
        {"\"profile\": \"table\", \"table\": [[0, 1]]", NULL},
        {"\"profile\": \"ramp\"", NULL},
        {"\"profile\": \"constant\"", NULL},
        {"\"offset\": 1", NULL},
        {"\"profile\": \"harmonic\"", "frequency"},
        {"\"profile\": \"harmonic\", \"phase\": 1", "frequency"},
        {"\"profile\": \"table\"", "table"},
        {"\"frequency\": 2", "frequency"},
        {"\"phase\": 2", "phase"},
        {"\"table\": [[0, 1]]", "table"},
        {"\"profile\": \"ramp\", \"table\": [[0, 1]]", "table"},
        {"\"profile\": \"harmonic\", \"frequency\": 1, \"table\": [[0, 1]]", "table"},
        {"\"profile\": \"table\", \"table\": [[0, 1]], \"frequency\": 1", "frequency"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[600];
        st_SystemDef def;
        snprintf(text, sizeof text,
                 "{\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": 1}], \"joints\": [{\"type\": \"revolute\", "
                 "\"b\": \"b\", \"point\": [0, 0, 0], \"axis\": [0, 0, 1],\n\"motor\": {\"type\": \"position\", "
                 "\"stiffness\": 1, \"target\": 1, %s}}]}",
                 cases[k].motor);
        if (cases[k].word == NULL)
            st_scene_destroy(scene_of(text, &def, NULL));
        else
            check_refused(text, 2, cases[k].word, "profile");
    }
}

/* The status is that of the file, with or without an st_Error. */
static void statuses_without_a_message(void **state)
{
    (void)state;
    const char *text = "{\"bodies\": [{\"mass\": 1e300, \"inertia\": 1}]}";
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Error err = {0};
    assert_int_equal(st_scene_parse(text, strlen(text), "x", NULL, 0, &scene, &def, &err), ST_ERR_FORMAT);
    assert_int_equal(st_scene_parse(text, strlen(text), "x", NULL, 0, &scene, &def, NULL), ST_ERR_FORMAT);
}

/* A name that is not UTF-8 could not be written to a recording or to the model of the page. */
static void names_are_text(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xff", "a\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "b\x80"};
    st_Scene *scene = NULL;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        st_BodyDef def = st_body_def();
        def.mass = 1, def.name = bad[k];
        assert_int_equal(st_scene_add_body(scene, &def, NULL, &err), ST_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "UTF-8"));
    }
    st_BodyDef def = st_body_def();
    def.mass = 1, def.name = "\xc3\xa4\xe2\x82\xac\xf0\x9f\x9a\x80";
    check_ok(st_scene_add_body(scene, &def, NULL, &err), err);
    st_scene_destroy(scene);
}

/* All errors of a scene at once, and no others: an object that refers to one with an error is not a further error. */
/* Errors without room are counted in time that is linear in their number: the lines of all would take minutes. */
static void test_many_errors_are_counted(void **state)
{
    (void)state;
    enum { N = 100000, ROOM = 3 };
    st_Error errors[ROOM];
    char *text = malloc(N * 16);
    assert_non_null(text);
    size_t length = 0;
    for (int k = 0; k < N; k++)
        length += (size_t)sprintf(text + length, "%s\"k%d\":1", k == 0 ? "{" : ",\n", k);
    length += (size_t)sprintf(text + length, "}");
    assert_int_equal(st_scene_errors(text, length, "many", NULL, 0, errors, ROOM), N);
    for (int k = 0; k < ROOM; k++)
        assert_int_equal(errors[k].line, k + 1);
    free(text);
}

static void test_every_error_is_listed(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"simulaton\": 3,\n"
        "  \"simulation\": {\"h\": -1, \"solver\": \"newtn\"},\n"
        "  \"materials\": [{\"name\": \"ice\", \"friction\": -2}],\n"
        "  \"bodies\": [\n"
        "    {\"name\": \"a\", \"mass\": \"x\", \"shapes\": [{\"type\": \"box\", \"size\": [1, 1]}]},\n"
        "    {\"name\": \"b\", \"mass\": 1, \"inertia\": 1, \"shapes\": [{\"type\": \"sphere\", "
        "\"radius\": 1, \"material\": \"ice\"}]}],\n"
        "  \"springs\": [{\"a\": \"a\", \"b\": \"b\", \"stiffness\": 1},\n"
        "    {\"a\": \"b\", \"b\": \"c\", \"stiffness\": 1}]\n}\n";
    static const struct {
        int line;
        const char *part;
    } expected[] = {{1, "no key \"simulaton\""},
                    {2, "h is -1"},
                    {2, "solver is \"newtn\""},
                    {3, "friction is -2"},
                    {5, "mass is \"x\""},
                    {5, "size is a list of 2"},
                    {8, "b is \"c\", there is no body"}};
    const int n = (int)(sizeof expected / sizeof expected[0]);
    st_Error errors[16];
    assert_int_equal(st_scene_errors(text, strlen(text), "test.json", NULL, 0, errors, 16), n);
    for (int k = 0; k < n; k++) {
        assert_int_equal(errors[k].line, expected[k].line);
        assert_non_null(strstr(errors[k].message, expected[k].part));
    }
    assert_int_equal(st_scene_errors(text, strlen(text), "test.json", NULL, 0, errors, 2), n); /* room for two */
    static const char fine[] = "{\"bodies\": [{\"mass\": 1, \"inertia\": 1}]}";
    assert_int_equal(st_scene_errors(fine, strlen(fine), "test.json", NULL, 0, NULL, 0), 0);
    assert_int_equal(st_scene_errors(NULL, 0, NULL, NULL, 0, errors, 16), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles_of_motors),
        cmocka_unit_test(statuses_without_a_message),
        cmocka_unit_test(names_are_text),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_every_setting_is_tried),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_joints),
        cmocka_unit_test(test_drives),
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_springs),
        cmocka_unit_test(test_forces),
        cmocka_unit_test(test_every_lock_word),
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_harmless_things),
        cmocka_unit_test(test_not_json),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_foreign_words),
        cmocka_unit_test(test_many_errors_are_counted),
        cmocka_unit_test(test_every_error_is_listed),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_names_and_references),
        cmocka_unit_test(test_long_names_and_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
