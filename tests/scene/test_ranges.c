/* Numbers of absurd size, in each numeric key of a scene in turn and in each number of the C API's defs: taken, and
 * then the scene steps to finite numbers; or refused in words that name the key and show no number of our own making.
 */
#include "scene_check.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* Every type of shape, joint, motor, spring and force, in one scene that runs. */
static const char machine[] =
    "{ \"simulation\": { \"h\": 0.001, \"end\": 1, \"gravity\": [0, 0, -9.81], \"tolerance\": 1e-6, \"margin\": 0.01,"
    "    \"slop\": 1e-6, \"correction_speed\": 1, \"active_gap\": 1e-8, \"sleep_speed\": 1e-4, \"sleep_time\": 0.5,"
    "    \"restitution_speed\": 0.01, \"event_step\": 0.01, \"max_events\": 10, \"max_iterations\": 200, \"facets\": 8,"
    "    \"speed_limit\": 1000, \"patch_spacing\": 1e-3, \"patch_mass\": 1, \"contact_stiffness\": 1e6,"
    "    \"contact_damping\": 1e4, \"joint_stiffness\": 1e8, \"threads\": 1, \"patch_elements\": 3 },"
    "  \"materials\": [ { \"name\": \"steel\", \"friction\": 0.2, \"restitution\": 0.1, \"rolling_friction\": 0.01,"
    "    \"spinning_friction\": 0.01 }, { \"name\": \"ice\", \"friction\": 0.02 } ],"
    "  \"material_pairs\": [ { \"a\": \"steel\", \"b\": \"ice\", \"friction\": 0.03, \"restitution\": 0.2,"
    "    \"rolling_friction\": 0.001, \"spinning_friction\": 0.001 } ],"
    "  \"ground\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1], \"position\": [0, 0, 0], \"friction\": 0.5 },"
    "    { \"type\": \"height-field\", \"heights\": [[0.1, 0.1], [0.1, 0.2]], \"spacing\": 1, \"position\": [9, 0, 0] "
    "} ],"
    "  \"bodies\": ["
    "    { \"name\": \"ball\", \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0], \"angular_velocity\": [0, 1, 0],"
    "      \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1, \"density\": 500, \"material\": \"steel\" } ] },"
    "    { \"name\": \"crate\", \"position\": [1, 0, 0.1], \"mass\": 1, \"inertia\": [0.01, 0.02, 0.015],"
    "      \"orientation\": { \"axis\": [0, 0, 1], \"angle\": 0.3 }, \"shapes\": [ { \"type\": \"box\","
    "      \"size\": [0.2, 0.3, 0.2], \"friction\": 0.4, \"restitution\": 0.1, \"rolling_friction\": 0.01,"
    "      \"spinning_friction\": 0.01, \"stiffness\": 1e6, \"damping\": 1e4, \"young\": 1e9, \"poisson\": 0.3 } ] },"
    "    { \"name\": \"pill\", \"position\": [2, 0, 0.2], \"shapes\": [ { \"type\": \"capsule\", \"radius\": 0.1,"
    "      \"length\": 0.2, \"axis\": [0, 0, 1], \"material\": \"ice\", \"groups\": [1], \"touches\": [0, 1] } ] },"
    "    { \"name\": \"drum\", \"position\": [3, 0, 0.1], \"shapes\": [ { \"type\": \"cylinder\", \"radius\": 0.1,"
    "      \"length\": 0.2, \"density\": 100 } ] },"
    "    { \"name\": \"cone\", \"position\": [4, 0, 0.05], \"shapes\": [ { \"type\": \"cone\", \"radius\": 0.1,"
    "      \"length\": 0.2, \"density\": 100 } ] },"
    "    { \"name\": \"egg\", \"position\": [5, 0, 0.15], \"shapes\": [ { \"type\": \"ellipsoid\","
    "      \"size\": [0.2, 0.2, 0.3] } ] },"
    "    { \"name\": \"rock\", \"position\": [6, 0, 0.2], \"recentre\": true, \"shapes\": [ { \"type\": \"hull\","
    "      \"points\": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], \"scale\": 2 } ] },"
    "    { \"name\": \"gem\", \"position\": [7, 0, 0.2], \"mass\": 1, \"inertia\": 0.01, \"shapes\": [ {"
    "      \"type\": \"mesh\", \"points\": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],"
    "      \"triangles\": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] } ] },"
    "    { \"name\": \"rod\", \"position\": [8, 0, 1], \"mass\": 1, \"locks\": \"planar-xz\","
    "      \"inertia\": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], \"shapes\": [ { \"type\": \"bar\", \"length\": 1,"
    "      \"direction\": [1, 0, 0] }, { \"type\": \"point\", \"position\": [0.5, 0, 0] } ] },"
    "    { \"name\": \"wheel\", \"position\": [8, 2, 2], \"mass\": 1, \"inertia\": 0.1 },"
    "    { \"name\": \"crank\", \"position\": [8, 4, 2], \"mass\": 1, \"inertia\": 0.1 },"
    "    { \"name\": \"sled\", \"position\": [8, 8, 2], \"mass\": 1, \"inertia\": 0.1 },"
    "    { \"name\": \"bob\", \"position\": [8, 6, 2], \"mass\": 1, \"inertia\": 0.1 } ],"
    "  \"joints\": ["
    "    { \"name\": \"hinge\", \"type\": \"revolute\", \"b\": \"wheel\", \"point\": [8, 2, 2], \"axis\": [0, 1, 0],"
    "      \"lower\": -2, \"upper\": 2, \"restitution\": 0.5, \"friction\": 0.1, \"stiffness\": 4, \"damping\": 5,"
    "      \"rest\": 0.25, \"motor\": { \"type\": \"position\", \"target\": 0.5, \"offset\": 0.1, \"max_force\": 7,"
    "        \"stiffness\": 8, \"damping\": 9, \"profile\": \"harmonic\", \"frequency\": 2, \"phase\": 1 } },"
    "    { \"name\": \"screw\", \"type\": \"screw\", \"b\": \"crank\", \"point\": [8, 4, 2], \"axis\": [1, 0, 0],"
    "      \"pitch\": -0.5, \"other_lower\": -1, \"other_upper\": 1 },"
    "    { \"name\": \"slide\", \"type\": \"prismatic\", \"b\": \"sled\", \"axis\": [1, 0, 0],"
    "      \"motor\": { \"type\": \"motion\", \"target\": 6, \"offset\": 0, \"profile\": \"ramp\" } },"
    "    { \"name\": \"gear\", \"type\": \"gear\", \"joint_a\": \"hinge\", \"joint_b\": \"screw\", \"ratio\": -3 },"
    "    { \"name\": \"socket\", \"type\": \"ball\", \"b\": \"bob\", \"point\": [8, 6, 3], \"axis\": [0, 0, 1],"
    "      \"axis_b\": [0, 0, 1], \"upper\": 1, \"other_lower\": -1, \"other_upper\": 1 },"
    "    { \"name\": \"strut\", \"type\": \"distance\", \"a\": \"ball\", \"b\": \"crate\", \"length\": 1,"
    "      \"point\": [0, 0, 0.1], \"point_b\": [1, 0, 0.1] },"
    "    { \"name\": \"rope\", \"type\": \"free\", \"a\": \"pill\", \"b\": \"drum\", \"axis\": [0, 1, 0], \"upper\": 9,"
    "      \"motor\": { \"type\": \"speed\", \"target\": 2, \"profile\": \"table\", \"max_force\": 3,"
    "        \"table\": [[0, 0], [1, 3]] } } ],"
    "  \"springs\": ["
    "    { \"name\": \"s1\", \"a\": \"cone\", \"b\": \"egg\", \"stiffness\": 11, \"damping\": 12, \"rest\": 1.5,"
    "      \"point_a\": [4, 0, 0.05], \"point_b\": [5, 0, 0.15] },"
    "    { \"name\": \"s2\", \"type\": \"angular\", \"a\": \"egg\", \"b\": \"rock\", \"axis\": [0, 0, 1],"
    "      \"stiffness\": 1, \"damping\": 2, \"rest\": -7 },"
    "    { \"name\": \"s3\", \"type\": \"bushing\", \"a\": \"rock\", \"b\": \"gem\", \"point\": [6.5, 0, 0.1],"
    "      \"frame\": [0.5, 0.5, 0.5, 0.5], \"stiffness\": [1, 2, 3], \"damping\": [4, 5, 6],"
    "      \"angular_stiffness\": [7, 8, 9], \"angular_damping\": [0, 1, 2] } ],"
    "  \"forces\": ["
    "    { \"name\": \"f1\", \"body\": \"bob\", \"point\": [0.1, 0.2, 0.3], \"force\": [4, 5, 6], \"torque\": [7, 8, "
    "9] },"
    "    { \"name\": \"f2\", \"body\": \"rod\", \"profile\": \"harmonic\", \"frequency\": 3, \"phase\": 0.5,"
    "      \"force\": [1, 0, 0] },"
    "    { \"name\": \"f3\", \"body\": \"pill\", \"profile\": \"table\", \"table\": [[0, 1], [1, 3], [2.5, -1]],"
    "      \"torque\": [0, 0, 1] } ] }";

typedef struct Sweep {
    json_t *root;
    double value;
    const char *key; /* the key of the number */
    int taken, refused, bad;
} Sweep;

/* A run must stay finite. A step may fail with the status for numbers that are not finite. */
static bool runs(const st_Scene *scene, const st_SystemDef *def, st_Error *err)
{
    st_System *system = NULL;
    st_Status status = st_system_create(scene, def, &system, err);
    for (int k = 0; k < 2 && status == ST_OK; k++)
        status = st_system_step(system, def->h, NULL, err);
    int n_q = status == ST_OK ? st_system_n_q(system) : 0;
    double *q = calloc((size_t)n_q + 1, sizeof *q);
    assert_non_null(q);
    if (status == ST_OK) st_system_state(system, q, NULL);
    for (int k = 0; k < n_q; k++)
        if (!isfinite(q[k])) fail_msg("coordinate %d is %g", k, q[k]);
    free(q);
    st_system_destroy(system);
    return status == ST_OK;
}

static void try_it(Sweep *sweep)
{
    char *text = json_dumps(sweep->root, 0);
    assert_non_null(text);
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    bool ok = st_scene_parse(text, strlen(text), "sweep.json", NULL, 0, &scene, &def, &err) == ST_OK &&
              runs(scene, &def, &err);
    if (ok)
        sweep->taken++;
    else
        sweep->refused++;
    const char *word = strcmp(sweep->key, "triangles") == 0 ? "triangle" : sweep->key; /* "triangle 2 has no area" */
    bool good =
        strstr(err.message, word) != NULL && strstr(err.message, "nan") == NULL && strstr(err.message, "inf,") == NULL;
    if (!ok && !good) {
        print_error("%s = %g: %s\n", sweep->key, sweep->value, err.message);
        sweep->bad++;
    }
    st_scene_destroy(scene);
    free(text);
}

/* Every number below `node`, replaced and put back. */
static void sweep_below(Sweep *sweep, json_t *node)
{
    const char *key, *outer = sweep->key;
    json_t *child;
    size_t i;
    json_t *list = json_is_array(node) ? node : NULL;
    if (list != NULL) {
        for (i = 0; i < json_array_size(list); i++) {
            child = json_incref(json_array_get(list, i));
            if (json_is_number(child)) {
                json_array_set_new(list, i, json_real(sweep->value));
                try_it(sweep);
                json_array_set(list, i, child);
            } else {
                sweep_below(sweep, child);
            }
            json_decref(child);
        }
        return;
    }
    void *next;
    json_object_foreach_safe(node, next, key, child)
    {
        json_incref(child);
        sweep->key = key;
        if (json_is_number(child)) {
            json_object_set_new(node, key, json_real(sweep->value));
            try_it(sweep);
            json_object_set(node, key, child);
        } else {
            sweep_below(sweep, child);
        }
        json_decref(child);
    }
    sweep->key = outer;
}

static void test_scene_numbers(void **state)
{
    (void)state;
    static const double values[] = {0, -1, 1e-320, 1e-200, 1e200, 1.7e308};
    for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
        Sweep sweep = {.root = json_loads(machine, 0, NULL), .value = values[k], .key = ""};
        assert_non_null(sweep.root);
        sweep_below(&sweep, sweep.root);
        json_decref(sweep.root);
        print_message("%g: %d taken, %d refused\n", values[k], sweep.taken, sweep.refused);
        if (values[k] > 1)
            assert_int_equal(sweep.taken, 0); /* nothing may be that large */
        else
            assert_true(sweep.taken > 50);
        assert_true(sweep.refused > 20);
        assert_int_equal(sweep.bad, 0);
    }
}

/* ---- the C API: a ball, a crate and a wheel with all that may act on them, one number of one def exchanged ---- */

typedef struct Defs {
    st_BodyDef body;
    st_ShapeDef sphere, box, capsule, field;
    st_MaterialDef material;
    st_MaterialPairDef pair;
    st_JointDef hinge, rod, screw, gear;
    st_SpringDef spring, bushing;
    st_ForceDef force, beat;
    st_SystemDef system;
    double heights[4], times[2], values[2];
    double step, told; /* of st_system_step(), st_system_set_motor() */
    st_Vec3 pushed;    /* of st_system_set_force()                   */
} Defs;

static Defs usual_defs(void)
{
    Defs d = {.body = st_body_def(),
              .sphere = st_sphere_def(0.1),
              .box = st_box_def(0.1, 0.2, 0.3),
              .capsule = st_capsule_def(0.1, 0.2),
              .material = st_material_def(),
              .pair = st_material_pair_def(),
              .hinge = st_joint_def(ST_JOINT_REVOLUTE),
              .rod = st_joint_def(ST_JOINT_DISTANCE),
              .screw = st_joint_def(ST_JOINT_SCREW),
              .gear = st_joint_def(ST_JOINT_GEAR),
              .spring = st_spring_def(ST_SPRING_LINEAR),
              .bushing = st_spring_def(ST_SPRING_BUSHING),
              .force = st_force_def(),
              .beat = st_force_def(),
              .system = st_system_def(),
              .times = {0, 1},
              .values = {1, 2},
              .step = 1e-3};
    d.field = st_height_field_def(NULL, 2, 2, 1.0);
    d.body.mass = 1;
    d.body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
    d.sphere.density = 0; /* the body's mass is given */
    d.pair.mu = 0.3;
    d.hinge.axis = (st_Vec3){0, 1, 0};
    d.hinge.lower = -1, d.hinge.upper = 1;
    d.hinge.friction = d.hinge.stiffness = d.hinge.damping = 1;
    d.hinge.motor.type = ST_MOTOR_POSITION;
    d.hinge.motor.stiffness = d.hinge.motor.damping = d.hinge.motor.max_force = 1;
    d.rod.point_b = (st_Vec3){2, 0, 2};
    d.screw.pitch = 0.1;
    d.screw.axis = (st_Vec3){1, 0, 0};
    d.gear.ratio = 2;
    d.spring.stiffness = d.spring.damping = 1;
    d.spring.point_b = (st_Vec3){0, 0, 3};
    d.bushing.stiffness_along = d.bushing.damping_along = (st_Vec3){1, 1, 1};
    d.bushing.stiffness_about = d.bushing.damping_about = (st_Vec3){1, 1, 1};
    d.force.force = d.force.torque = (st_Vec3){1, 1, 1};
    d.force.profile.type = ST_PROFILE_HARMONIC;
    d.force.profile.frequency = 1;
    d.beat.profile.type = ST_PROFILE_TABLE;
    return d;
}

/* Everything in one scene; five bodies in a row, so that each joint has its own. */
static st_Status make_scene(Defs *d, st_Scene *scene, st_Error *err)
{
    st_MaterialId material = {0};
    st_BodyId id[5];
    st_Status status = st_scene_add_material(scene, &d->material, &material, err);
    d->pair.a = d->pair.b = material;
    if (status == ST_OK) status = st_scene_add_material_pair(scene, &d->pair, err);
    d->field.heights = d->heights;
    if (status == ST_OK) status = st_scene_add_shape(scene, ST_GROUND, &d->field, NULL, err);
    for (int k = 0; k < 5 && status == ST_OK; k++) {
        st_BodyDef body = d->body;
        if (k > 0) body = usual_defs().body, body.pose.p = (st_Vec3){k, 0, 2};
        status = st_scene_add_body(scene, &body, &id[k], err);
    }
    if (status == ST_OK) status = st_scene_add_shape(scene, id[0], &d->sphere, NULL, err);
    if (status == ST_OK) status = st_scene_add_shape(scene, id[1], &d->box, NULL, err);
    if (status == ST_OK) status = st_scene_add_shape(scene, id[2], &d->capsule, NULL, err);
    d->hinge.b = id[1], d->rod.b = id[2], d->screw.b = id[3];
    if (status == ST_OK) status = st_scene_add_joint(scene, &d->hinge, &d->gear.joint_a, err);
    if (status == ST_OK) status = st_scene_add_joint(scene, &d->rod, NULL, err);
    if (status == ST_OK) status = st_scene_add_joint(scene, &d->screw, &d->gear.joint_b, err);
    if (status == ST_OK) status = st_scene_add_joint(scene, &d->gear, NULL, err);
    d->spring.b = id[4], d->bushing.b = id[4], d->force.body = d->beat.body = id[4];
    if (status == ST_OK) status = st_scene_add_spring(scene, &d->spring, NULL, err);
    if (status == ST_OK) status = st_scene_add_spring(scene, &d->bushing, NULL, err);
    d->beat.profile.n_table = 2, d->beat.profile.times = d->times, d->beat.profile.values = d->values;
    if (status == ST_OK) status = st_scene_add_force(scene, &d->force, NULL, err);
    return status == ST_OK ? st_scene_add_force(scene, &d->beat, NULL, err) : status;
}

static st_Status make_and_step(Defs *d, st_Error *err)
{
    st_Scene *scene = NULL;
    st_System *system = NULL;
    assert_int_equal(st_scene_create(&scene, err), ST_OK);
    st_Status status = make_scene(d, scene, err);
    if (status == ST_OK) status = st_system_create(scene, &d->system, &system, err);
    if (status == ST_OK) status = st_system_set_motor(system, (st_JointId){1}, d->told, err);
    if (status == ST_OK) status = st_system_set_force(system, (st_ForceId){1}, &d->pushed, NULL, err);
    for (int k = 0; k < 2 && status == ST_OK; k++)
        status = st_system_step(system, d->step, NULL, err);
    double q[64] = {0};
    if (status == ST_OK) {
        assert_true(st_system_n_q(system) <= 64);
        st_system_state(system, q, NULL);
    }
    for (int k = 0; k < 64; k++)
        assert_true(isfinite(q[k]));
    st_system_destroy(system);
    st_scene_destroy(scene);
    return status;
}

static void test_api_numbers(void **state)
{
    (void)state;
#define AT(of, word)                                                                                                   \
    {                                                                                                                  \
        offsetof(Defs, of), word                                                                                       \
    }
    static const struct {
        size_t at;
        const char *word;
    } number[] = {
        AT(body.pose.p.x, "position"),
        AT(body.pose.q.w, "orientation"),
        AT(body.velocity.y, "velocity"),
        AT(body.spin.z, "angular_velocity"),
        AT(body.mass, "mass"),
        AT(body.inertia.m[0], "inertia"),
        AT(body.inertia.m[1], "inertia"),
        AT(sphere.radius, "radius"),
        AT(sphere.pose.p.z, "position"),
        AT(sphere.mu, "friction"),
        AT(sphere.restitution, "restitution"),
        AT(sphere.rolling, "rolling_friction"),
        AT(sphere.spinning, "spinning_friction"),
        AT(sphere.stiffness, "stiffness"),
        AT(sphere.damping, "damping"),
        AT(sphere.young, "young"),
        AT(sphere.poisson, "poisson"),
        AT(sphere.density, "density"),
        AT(box.half.x, "size"),
        AT(box.half.y, "size"),
        AT(box.half.z, "size"),
        AT(capsule.length, "length"),
        AT(field.spacing, "spacing"),
        AT(heights[1], "heights"),
        AT(material.mu, "friction"),
        AT(material.restitution, "restitution"),
        AT(material.rolling, "rolling_friction"),
        AT(material.spinning, "spinning_friction"),
        AT(pair.mu, "friction"),
        AT(pair.restitution, "restitution"),
        AT(pair.rolling, "rolling_friction"),
        AT(pair.spinning, "spinning_friction"),
        AT(hinge.point.x, "point"),
        AT(hinge.axis.y, "axis"),
        AT(hinge.lower, "lower"),
        AT(hinge.upper, "upper"),
        AT(hinge.friction, "friction"),
        AT(hinge.restitution, "restitution"),
        AT(hinge.stiffness, "stiffness"),
        AT(hinge.damping, "damping"),
        AT(hinge.rest, "rest"),
        AT(hinge.motor.target, "target"),
        AT(hinge.motor.offset, "offset"),
        AT(hinge.motor.max_force, "max_force"),
        AT(hinge.motor.stiffness, "stiffness"),
        AT(hinge.motor.damping, "damping"),
        AT(rod.length, "length"),
        AT(rod.point_b.z, "point_b"),
        AT(screw.pitch, "pitch"),
        AT(screw.other_lower, "other_lower"),
        AT(screw.other_upper, "other_upper"),
        AT(gear.ratio, "ratio"),
        AT(spring.stiffness, "stiffness"),
        AT(spring.damping, "damping"),
        AT(spring.rest, "rest"),
        AT(spring.point_a.x, "point_a"),
        AT(bushing.frame.x, "frame"),
        AT(bushing.stiffness_along.y, "stiffness"),
        AT(bushing.damping_about.z, "angular_damping"),
        AT(force.point.x, "point"),
        AT(force.force.y, "force"),
        AT(force.torque.z, "torque"),
        AT(force.profile.frequency, "frequency"),
        AT(force.profile.phase, "phase"),
        AT(times[1], "table"),
        AT(values[0], "table"),
        AT(step, "h is"),
        AT(told, "motor"),
        AT(pushed.x, "force"),
        AT(system.h, "h"),
        AT(system.end, "end"),
        AT(system.gravity.z, "gravity"),
        AT(system.tolerance, "tolerance"),
        AT(system.margin, "margin"),
        AT(system.slop, "slop"),
        AT(system.correction_speed, "correction_speed"),
        AT(system.active_gap, "active_gap"),
        AT(system.sleep_speed, "sleep_speed"),
        AT(system.sleep_time, "sleep_time"),
        AT(system.restitution_speed, "restitution_speed"),
        AT(system.event_step, "event_step"),
        AT(system.patch_spacing, "patch_spacing"),
        AT(system.patch_mass, "patch_mass"),
        AT(system.contact_stiffness, "contact_stiffness"),
        AT(system.contact_damping, "contact_damping"),
        AT(system.joint_stiffness, "joint_stiffness"),
        AT(system.speed_limit, "speed_limit"),
    };
    static const double values[] = {0, -1, 1e-320, 1e-200, 1e200, 1.7e308, NAN, INFINITY, -INFINITY};
    Defs usual = usual_defs();
    st_Error none = {0};
    if (make_and_step(&usual, &none) != ST_OK) fail_msg("%s", none.message);
    int bad = 0, taken = 0;
    for (size_t n = 0; n < sizeof number / sizeof number[0]; n++)
        for (size_t k = 0; k < sizeof values / sizeof values[0]; k++) {
            Defs d = usual_defs();
            st_Error err = {0};
            memcpy((char *)&d + number[n].at, &values[k], sizeof values[k]);
            if (make_and_step(&d, &err) == ST_OK) {
                taken++;
                continue;
            }
            bool shown = !isfinite(values[k]); /* a NaN in a message only where one was given */
            if (strstr(err.message, number[n].word) != NULL && (shown || strstr(err.message, "nan") == NULL)) continue;
            print_error("%s = %g: %s\n", number[n].word, values[k], err.message);
            bad++;
        }
    assert_true(taken > 100);
    assert_int_equal(bad, 0);
}

/* A step that does not move the clock before the end: no command may wait for it. */
static void test_time_stands_still(void **state)
{
    (void)state;
    Defs d = usual_defs();
    st_Error err = {0};
    d.system.h = 1e-17, d.system.end = 1;
    assert_int_equal(make_and_step(&d, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "h is 1e-17 s, below the resolution of time at end = 1 s"));
    d.system.end = 0.01; /* its last bit is 1.7e-18 */
    assert_int_equal(make_and_step(&d, &err), ST_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scene_numbers),
        cmocka_unit_test(test_api_numbers),
        cmocka_unit_test(test_time_stands_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
