/* Every public function that returns a status, with every argument in turn invalid: NULL, NaN, infinite, negative,
 * an id or index that does not exist. Each call must return a status other than ST_OK and, if it has an st_Error, a
 * message; the object must be unchanged. Each call runs in its own process, so that one that crashes is named and
 * the others are still tried. */
#include "check.h"
#include "model/row_buffer.h"

#include <signal.h>
#include <stdbool.h>
#include <stiction/articulation.h>
#include <stiction/batch.h>
#include <stiction/friction.h>
#include <stiction/io.h>
#include <stiction/query.h>
#include <stiction/stiction.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int n_calls, n_accepted;

enum { REFUSED = 41, ACCEPTED, SILENT }; /* no sanitizer ends with one of these */

/* In the child: a crash is a crash, whatever cmocka has made of the signals. */
static void begin(void)
{
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (int k = 0; k < 5; k++)
        signal(signals[k], SIG_DFL);
}

#ifdef ST_COVERAGE
void __gcov_dump(void); /* _exit() does not write it */
#endif

/* In the child: the result of the call. */
static void leave(st_Status status, const st_Error *err, bool wants_message)
{
#ifdef ST_COVERAGE
    __gcov_dump();
#endif
    _exit(status == ST_OK ? ACCEPTED : wants_message && err->message[0] == '\0' ? SILENT : REFUSED);
}

static void judge(pid_t child, const char *call, int line)
{
    int how = 0;
    n_calls++;
    assert_true(child > 0 && waitpid(child, &how, 0) == child);
    if (WIFEXITED(how) && WEXITSTATUS(how) == REFUSED) return;
    n_accepted++;
    print_error("line %d: %s: %s\n", line, call,
                !WIFEXITED(how)                ? "crashed"
                : WEXITSTATUS(how) == ACCEPTED ? "came back with ST_OK"
                : WEXITSTATUS(how) == SILENT   ? "no message"
                                               : "ended the program");
}

#define TRY(call, wants_message)                                                                                       \
    do {                                                                                                               \
        st_Error err = {0};                                                                                            \
        fflush(NULL);                                                                                                  \
        const pid_t child = fork();                                                                                    \
        if (child == 0) begin();                                                                                       \
        if (child == 0) leave(call, &err, wants_message);                                                              \
        judge(child, #call, __LINE__);                                                                                 \
    } while (0)

#define REFUSES(call)          TRY(call, true)               /* with a message in err */
#define REFUSES_SILENTLY(call) TRY(((void)err, call), false) /* has no st_Error */

/* One field of a def at a time. */
#define FIELD(def, type, field, value, call)                                                                           \
    do {                                                                                                               \
        type def = good_##def;                                                                                         \
        def.field = (value); /* NOLINT(bugprone-macro-parentheses): a name */                                          \
        REFUSES(call);                                                                                                 \
    } while (0)

/* ---- objects --------------------------------------------------------------------------------------- */

static st_Scene *scene;
static st_System *the_system;
static st_BodyId box_id;
static st_JointId hinge_id;
static const st_BodyId no_body = {99}, negative_body = {-1};
static const st_ShapeId no_shape = {99};
static const st_JointId no_joint = {99};
static const st_Vec3 nan_vec = {NAN, 0, 0}, inf_vec = {0, INFINITY, 0}, zero_vec = {0, 0, 0}, x_vec = {1, 0, 0};

static void make_world(void)
{
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    st_BodyDef body = st_body_def();
    body.name = "box";
    body.mass = 1;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    check_ok(st_scene_add_body(scene, &body, &box_id, &err), err);
    const st_ShapeDef box = st_box_def(0.1, 0.1, 0.1);
    check_ok(st_scene_add_shape(scene, box_id, &box, NULL, &err), err);
    st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
    hinge.a = ST_GROUND, hinge.b = box_id;
    hinge.axis = (st_Vec3){0, 1, 0};
    hinge.motor.type = ST_MOTOR_SPEED;
    check_ok(st_scene_add_joint(scene, &hinge, &hinge_id, &err), err);
    st_ForceDef force = st_force_def();
    force.body = box_id;
    check_ok(st_scene_add_force(scene, &force, NULL, &err), err);
    const st_MaterialDef material = st_material_def();
    check_ok(st_scene_add_material(scene, &material, NULL, &err), err);
    const st_SystemDef def = st_system_def();
    check_ok(st_system_create(scene, &def, &the_system, &err), err);
    check_ok(st_system_step(the_system, 1e-3, NULL, &err), err);
}

/* ---- scenes -------------------------------------------------------------------------------------- */

static const double bad_numbers[] = {NAN, INFINITY, -INFINITY};
#define NOT_NEGATIVE(def, type, field, call)                                                                           \
    do {                                                                                                               \
        for (int bad = 0; bad < 3; bad++)                                                                              \
            FIELD(def, type, field, bad_numbers[bad], call);                                                           \
        FIELD(def, type, field, -1, call);                                                                             \
    } while (0)
#define A_VECTOR(def, type, field, call)                                                                               \
    do {                                                                                                               \
        FIELD(def, type, field, nan_vec, call);                                                                        \
        FIELD(def, type, field, inf_vec, call);                                                                        \
    } while (0)

static void bodies(void **state)
{
    (void)state;
    const st_BodyDef good_body = {.pose = {{0, 0, 0}, {1, 0, 0, 0}}, .mass = 1, .cookie = st_body_def().cookie};
    REFUSES(st_scene_add_body(NULL, &good_body, NULL, &err));
    REFUSES(st_scene_add_body(scene, NULL, NULL, &err));
    FIELD(body, st_BodyDef, cookie, 0, st_scene_add_body(scene, &body, NULL, &err));
    A_VECTOR(body, st_BodyDef, pose.p, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, pose.q.w, NAN, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, pose.q.w, 0, st_scene_add_body(scene, &body, NULL, &err));
    A_VECTOR(body, st_BodyDef, velocity, st_scene_add_body(scene, &body, NULL, &err));
    A_VECTOR(body, st_BodyDef, spin, st_scene_add_body(scene, &body, NULL, &err));
    NOT_NEGATIVE(body, st_BodyDef, mass, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, inertia.m[0], NAN, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, inertia.m[0], -1, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, locks, 64, st_scene_add_body(scene, &body, NULL, &err));
    FIELD(body, st_BodyDef, name, "box", st_scene_add_body(scene, &body, NULL, &err));
}

static void shapes(void **state)
{
    (void)state;
    const st_ShapeDef good_shape = st_capsule_def(0.1, 1);
    REFUSES(st_scene_add_shape(NULL, box_id, &good_shape, NULL, &err));
    REFUSES(st_scene_add_shape(scene, no_body, &good_shape, NULL, &err));
    REFUSES(st_scene_add_shape(scene, negative_body, &good_shape, NULL, &err));
    REFUSES(st_scene_add_shape(scene, box_id, NULL, NULL, &err));
#define SHAPE st_scene_add_shape(scene, box_id, &shape, NULL, &err)
    FIELD(shape, st_ShapeDef, cookie, 0, SHAPE);
    FIELD(shape, st_ShapeDef, type, (st_ShapeType)99, SHAPE);
    A_VECTOR(shape, st_ShapeDef, pose.p, SHAPE);
    FIELD(shape, st_ShapeDef, pose.q.w, NAN, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, radius, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, length, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, density, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, mu, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, restitution, SHAPE);
    FIELD(shape, st_ShapeDef, restitution, 1.5, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, rolling, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, spinning, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, stiffness, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, damping, SHAPE);
    NOT_NEGATIVE(shape, st_ShapeDef, young, SHAPE);
    for (int k = 0; k < 3; k++)
        FIELD(shape, st_ShapeDef, poisson, bad_numbers[k], SHAPE);
    FIELD(shape, st_ShapeDef, poisson, 0.5, SHAPE);
    FIELD(shape, st_ShapeDef, poisson, -1, SHAPE);
    A_VECTOR(shape, st_ShapeDef, surface_velocity, SHAPE);
    A_VECTOR(shape, st_ShapeDef, surface_spin, SHAPE);
    FIELD(shape, st_ShapeDef, material.index1, 99, SHAPE);
    FIELD(shape, st_ShapeDef, material.index1, -1, SHAPE);
    st_ShapeDef shape = st_box_def(0, 1, 1);
    REFUSES(SHAPE);
    shape = st_ellipsoid_def(1, NAN, 1);
    REFUSES(SHAPE);
    shape = st_hull_def(NULL, 4);
    REFUSES(SHAPE);
    const st_Vec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, flawed[4] = {{NAN, 0, 0}};
    shape = st_hull_def(points, -1);
    REFUSES(SHAPE);
    shape = st_hull_def(flawed, 4);
    REFUSES(SHAPE);
    const int triangle[3] = {0, 1, 2}, beyond[3] = {0, 1, 4}, below[3] = {0, 1, -1};
    shape = st_mesh_def(points, 4, NULL, 1);
    REFUSES(SHAPE);
    shape = st_mesh_def(NULL, 4, triangle, 1);
    REFUSES(SHAPE);
    shape = st_mesh_def(points, 4, beyond, 1);
    REFUSES(SHAPE);
    shape = st_mesh_def(points, 4, below, 1);
    REFUSES(SHAPE);
    shape = st_mesh_def(points, 4, triangle, -1);
    REFUSES(SHAPE);
    const double heights[4] = {0, 0, 0, NAN};
    shape = st_height_field_def(NULL, 2, 2, 1);
    REFUSES(SHAPE);
    shape = st_height_field_def(heights, 2, 2, 1);
    REFUSES(SHAPE);
    shape = st_height_field_def(heights, 1, 2, 1);
    REFUSES(SHAPE);
    shape = st_height_field_def(heights, 2, -2, 1);
    REFUSES(SHAPE);
    for (int k = 0; k < 3; k++) {
        const double flat[4] = {0, 0, 0, 0};
        shape = st_height_field_def(flat, 2, 2, bad_numbers[k]);
        REFUSES(SHAPE);
    }
    st_Vec3 *corners;
    int n_corners, *triangles, n_triangles;
    REFUSES(st_hull_faces(NULL, 4, &corners, &n_corners, &triangles, &n_triangles, &err));
    REFUSES(st_hull_faces(flawed, 4, &corners, &n_corners, &triangles, &n_triangles, &err));
    REFUSES(st_hull_faces(points, -4, &corners, &n_corners, &triangles, &n_triangles, &err));
    REFUSES(st_hull_faces(points, 4, NULL, &n_corners, &triangles, &n_triangles, &err));
    REFUSES(st_hull_faces(points, 4, &corners, NULL, &triangles, &n_triangles, &err));
    REFUSES(st_hull_faces(points, 4, &corners, &n_corners, NULL, &n_triangles, &err));
    REFUSES(st_hull_faces(points, 4, &corners, &n_corners, &triangles, NULL, &err));
}

static void materials_and_forces(void **state)
{
    (void)state;
    const st_MaterialDef good_material = st_material_def();
    REFUSES(st_scene_add_material(NULL, &good_material, NULL, &err));
    REFUSES(st_scene_add_material(scene, NULL, NULL, &err));
#define MATERIAL st_scene_add_material(scene, &material, NULL, &err)
    FIELD(material, st_MaterialDef, cookie, 0, MATERIAL);
    NOT_NEGATIVE(material, st_MaterialDef, mu, MATERIAL);
    NOT_NEGATIVE(material, st_MaterialDef, restitution, MATERIAL);
    NOT_NEGATIVE(material, st_MaterialDef, rolling, MATERIAL);
    NOT_NEGATIVE(material, st_MaterialDef, spinning, MATERIAL);
    st_MaterialPairDef good_pair = st_material_pair_def();
    good_pair.a.index1 = good_pair.b.index1 = 1;
    REFUSES(st_scene_add_material_pair(NULL, &good_pair, &err));
    REFUSES(st_scene_add_material_pair(scene, NULL, &err));
#define PAIR st_scene_add_material_pair(scene, &pair, &err)
    FIELD(pair, st_MaterialPairDef, cookie, 0, PAIR);
    FIELD(pair, st_MaterialPairDef, a.index1, 9, PAIR);
    FIELD(pair, st_MaterialPairDef, b.index1, -1, PAIR);
    FIELD(pair, st_MaterialPairDef, mu, -1, PAIR);
    FIELD(pair, st_MaterialPairDef, mu, INFINITY, PAIR);
    FIELD(pair, st_MaterialPairDef, restitution, 2, PAIR);
    FIELD(pair, st_MaterialPairDef, rolling, -1, PAIR);
    FIELD(pair, st_MaterialPairDef, spinning, INFINITY, PAIR);
    st_ForceDef good_force = st_force_def();
    good_force.body = box_id;
    REFUSES(st_scene_add_force(NULL, &good_force, NULL, &err));
    REFUSES(st_scene_add_force(scene, NULL, NULL, &err));
#define FORCE st_scene_add_force(scene, &force, NULL, &err)
    FIELD(force, st_ForceDef, cookie, 0, FORCE);
    FIELD(force, st_ForceDef, body, no_body, FORCE);
    FIELD(force, st_ForceDef, body, negative_body, FORCE);
    A_VECTOR(force, st_ForceDef, force, FORCE);
    A_VECTOR(force, st_ForceDef, torque, FORCE);
    A_VECTOR(force, st_ForceDef, point, FORCE);
    FIELD(force, st_ForceDef, profile.type, (st_ProfileType)9, FORCE);
    FIELD(force, st_ForceDef, profile, ((st_Profile){.type = ST_PROFILE_HARMONIC, .frequency = NAN}), FORCE);
    FIELD(force, st_ForceDef, profile, ((st_Profile){.type = ST_PROFILE_HARMONIC, .phase = INFINITY}), FORCE);
    FIELD(force, st_ForceDef, profile, ((st_Profile){.type = ST_PROFILE_TABLE, .n_table = 2}), FORCE);
    FIELD(force, st_ForceDef, profile, ((st_Profile){.type = ST_PROFILE_TABLE, .n_table = -2}), FORCE);
}

static void joints_and_springs(void **state)
{
    (void)state;
    st_JointDef good_joint = st_joint_def(ST_JOINT_REVOLUTE);
    good_joint.b = box_id, good_joint.axis = x_vec;
    REFUSES(st_scene_add_joint(NULL, &good_joint, NULL, &err));
    REFUSES(st_scene_add_joint(scene, NULL, NULL, &err));
#define JOINT st_scene_add_joint(scene, &joint, NULL, &err)
    FIELD(joint, st_JointDef, cookie, 0, JOINT);
    FIELD(joint, st_JointDef, type, (st_JointType)99, JOINT);
    FIELD(joint, st_JointDef, a, no_body, JOINT);
    FIELD(joint, st_JointDef, b, negative_body, JOINT);
    FIELD(joint, st_JointDef, a, box_id, JOINT); /* to itself */
    A_VECTOR(joint, st_JointDef, point, JOINT);
    A_VECTOR(joint, st_JointDef, axis, JOINT);
    FIELD(joint, st_JointDef, axis, zero_vec, JOINT);
    FIELD(joint, st_JointDef, coordinate, (st_Coordinate)99, JOINT);
    FIELD(joint, st_JointDef, lower, NAN, JOINT);
    FIELD(joint, st_JointDef, upper, NAN, JOINT);
    FIELD(joint, st_JointDef, lower, INFINITY, JOINT);
    FIELD(joint, st_JointDef, other_lower, NAN, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, restitution, JOINT);
    FIELD(joint, st_JointDef, friction, NAN, JOINT);
    FIELD(joint, st_JointDef, friction, -1, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, stiffness, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, damping, JOINT);
    FIELD(joint, st_JointDef, rest, INFINITY, JOINT);
    good_joint.motor.type = ST_MOTOR_POSITION, good_joint.motor.stiffness = 1;
    FIELD(joint, st_JointDef, motor.type, (st_MotorType)9, JOINT);
    FIELD(joint, st_JointDef, motor.target, NAN, JOINT);
    FIELD(joint, st_JointDef, motor.offset, INFINITY, JOINT);
    FIELD(joint, st_JointDef, motor.max_force, NAN, JOINT);
    FIELD(joint, st_JointDef, motor.max_force, -1, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, motor.stiffness, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, motor.damping, JOINT);
    good_joint = st_joint_def(ST_JOINT_DISTANCE);
    good_joint.b = box_id, good_joint.point_b = x_vec;
    A_VECTOR(joint, st_JointDef, point_b, JOINT);
    NOT_NEGATIVE(joint, st_JointDef, length, JOINT);
    good_joint = st_joint_def(ST_JOINT_SCREW);
    good_joint.b = box_id, good_joint.axis = x_vec, good_joint.pitch = 1;
    FIELD(joint, st_JointDef, pitch, 0, JOINT);
    for (int k = 0; k < 3; k++)
        FIELD(joint, st_JointDef, pitch, bad_numbers[k], JOINT);
    good_joint = st_joint_def(ST_JOINT_GEAR);
    good_joint.joint_a = good_joint.joint_b = hinge_id, good_joint.ratio = 2;
    FIELD(joint, st_JointDef, joint_a, no_joint, JOINT);
    FIELD(joint, st_JointDef, joint_b.index1, -1, JOINT);
    FIELD(joint, st_JointDef, ratio, 0, JOINT);
    for (int k = 0; k < 3; k++)
        FIELD(joint, st_JointDef, ratio, bad_numbers[k], JOINT);

    st_SpringDef good_spring = st_spring_def(ST_SPRING_LINEAR);
    good_spring.b = box_id, good_spring.point_b = x_vec, good_spring.stiffness = 1;
    REFUSES(st_scene_add_spring(NULL, &good_spring, NULL, &err));
    REFUSES(st_scene_add_spring(scene, NULL, NULL, &err));
#define SPRING st_scene_add_spring(scene, &spring, NULL, &err)
    FIELD(spring, st_SpringDef, cookie, 0, SPRING);
    FIELD(spring, st_SpringDef, type, (st_SpringType)99, SPRING);
    FIELD(spring, st_SpringDef, a, no_body, SPRING);
    FIELD(spring, st_SpringDef, b, negative_body, SPRING);
    A_VECTOR(spring, st_SpringDef, point_a, SPRING);
    A_VECTOR(spring, st_SpringDef, point_b, SPRING);
    NOT_NEGATIVE(spring, st_SpringDef, stiffness, SPRING);
    NOT_NEGATIVE(spring, st_SpringDef, damping, SPRING);
    good_spring = st_spring_def(ST_SPRING_ANGULAR);
    good_spring.b = box_id, good_spring.stiffness = 1, good_spring.axis = x_vec;
    A_VECTOR(spring, st_SpringDef, axis, SPRING);
    FIELD(spring, st_SpringDef, axis, zero_vec, SPRING);
}

static void scenes(void **state)
{
    (void)state;
    st_Scene *made;
    const st_Allocator allocator = st_default_allocator(), empty = {0};
    double mass;
    st_Mat3 inertia;
    REFUSES(st_scene_create(NULL, &err));
    REFUSES(st_scene_create_with(NULL, &made, &err));
    REFUSES(st_scene_create_with(&empty, &made, &err));
    REFUSES(st_scene_create_with(&allocator, NULL, &err));
    REFUSES(st_scene_exclude(NULL, box_id, ST_GROUND, &err));
    REFUSES(st_scene_exclude(scene, no_body, ST_GROUND, &err));
    REFUSES(st_scene_exclude(scene, box_id, negative_body, &err));
    REFUSES(st_scene_centre_body(NULL, box_id, NULL, &err));
    REFUSES(st_scene_centre_body(scene, no_body, NULL, &err));
    REFUSES(st_scene_centre_body(scene, ST_GROUND, NULL, &err));
    REFUSES(st_scene_copy(NULL, &made, &err));
    REFUSES(st_scene_copy(scene, NULL, &err));
    REFUSES(st_scene_scale_friction(NULL, 1, &err));
    for (int k = 0; k < 3; k++)
        REFUSES(st_scene_scale_friction(scene, bad_numbers[k], &err));
    REFUSES(st_scene_scale_friction(scene, -1, &err));
    const st_SpringId no_spring = {99};
    const st_ForceId no_force = {99};
    REFUSES(st_scene_remove_bodies(NULL, &box_id, 1, &err));
    REFUSES(st_scene_remove_bodies(scene, NULL, 1, &err));
    REFUSES(st_scene_remove_bodies(scene, &no_body, 1, &err));
    REFUSES(st_scene_remove_bodies(scene, &box_id, -1, &err));
    REFUSES(st_scene_remove_shapes(NULL, &no_shape, 1, &err));
    REFUSES(st_scene_remove_shapes(scene, NULL, 1, &err));
    REFUSES(st_scene_remove_shapes(scene, &no_shape, 1, &err));
    REFUSES(st_scene_remove_joints(NULL, &hinge_id, 1, &err));
    REFUSES(st_scene_remove_joints(scene, NULL, 1, &err));
    REFUSES(st_scene_remove_joints(scene, &no_joint, 1, &err));
    REFUSES(st_scene_remove_springs(NULL, &no_spring, 1, &err));
    REFUSES(st_scene_remove_springs(scene, NULL, 1, &err));
    REFUSES(st_scene_remove_springs(scene, &no_spring, 1, &err));
    REFUSES(st_scene_remove_forces(NULL, &no_force, 1, &err));
    REFUSES(st_scene_remove_forces(scene, NULL, 1, &err));
    REFUSES(st_scene_remove_forces(scene, &no_force, 1, &err));
    REFUSES(st_scene_body_mass(NULL, box_id, &mass, &inertia, &err));
    REFUSES(st_scene_body_mass(scene, no_body, &mass, &inertia, &err));
    REFUSES(st_scene_body_mass(scene, ST_GROUND, &mass, &inertia, &err));
    REFUSES(st_scene_shapes_mass(NULL, box_id, &mass, &err));
    REFUSES(st_scene_shapes_mass(scene, no_body, &mass, &err));
    REFUSES(st_scene_shapes_mass(scene, box_id, NULL, &err));
    st_BodyDef body;
    st_ShapeDef shape;
    st_JointDef joint;
    st_SpringDef spring;
    st_ForceDef force;
    st_MaterialDef material;
    REFUSES_SILENTLY(st_scene_body(NULL, box_id, &body));
    REFUSES_SILENTLY(st_scene_body(scene, no_body, &body));
    REFUSES_SILENTLY(st_scene_body(scene, negative_body, &body));
    REFUSES_SILENTLY(st_scene_body(scene, box_id, NULL));
    REFUSES_SILENTLY(st_scene_shape(NULL, (st_ShapeId){1}, &shape, NULL));
    REFUSES_SILENTLY(st_scene_shape(scene, no_shape, &shape, NULL));
    REFUSES_SILENTLY(st_scene_joint(NULL, hinge_id, &joint));
    REFUSES_SILENTLY(st_scene_joint(scene, no_joint, &joint));
    REFUSES_SILENTLY(st_scene_joint(scene, hinge_id, NULL));
    REFUSES_SILENTLY(st_scene_spring(NULL, (st_SpringId){1}, &spring));
    REFUSES_SILENTLY(st_scene_spring(scene, no_spring, &spring));
    REFUSES_SILENTLY(st_scene_force(NULL, (st_ForceId){1}, &force));
    REFUSES_SILENTLY(st_scene_force(scene, no_force, &force));
    REFUSES_SILENTLY(st_scene_force(scene, (st_ForceId){1}, NULL));
    REFUSES_SILENTLY(st_scene_material(NULL, (st_MaterialId){1}, &material));
    REFUSES_SILENTLY(st_scene_material(scene, (st_MaterialId){9}, &material));
    REFUSES_SILENTLY(st_scene_material(scene, (st_MaterialId){1}, NULL));
}

/* ---- systems ------------------------------------------------------------------------------------- */

static void settings(void **state)
{
    (void)state;
    st_SystemDef def = st_system_def();
    st_SettingValue value = {.number = 1};
    REFUSES(st_preset_apply(NULL, "default", &err));
    REFUSES(st_preset_apply(&def, NULL, &err));
    REFUSES(st_preset_apply(&def, "nobody", &err));
    REFUSES(st_setting_get(NULL, "h", &value, &err));
    REFUSES(st_setting_get(&def, NULL, &value, &err));
    REFUSES(st_setting_get(&def, "nothing", &value, &err));
    REFUSES(st_setting_get(&def, "h", NULL, &err));
    REFUSES(st_setting_set(NULL, "h", &value, &err));
    REFUSES(st_setting_set(&def, NULL, &value, &err));
    REFUSES(st_setting_set(&def, "nothing", &value, &err));
    REFUSES(st_setting_set(&def, "h", NULL, &err));
    for (int k = 0; k < st_setting_count(); k++) {
        const st_Setting *setting = st_setting(k);
        const st_SettingValue nonsense = {.word = "nonsense", .number = NAN, .vector = nan_vec};
        REFUSES(st_setting_set(&def, setting->key, &nonsense, &err));
    }
}

static void making_systems(void **state)
{
    (void)state;
    st_System *made;
    const st_SystemDef good_def = st_system_def();
    const st_Model model = st_model_def();
    const double q[1] = {0};
    REFUSES(st_system_create(NULL, &good_def, &made, &err));
    REFUSES(st_system_create(scene, NULL, &made, &err));
    REFUSES(st_system_create(scene, &good_def, NULL, &err));
#define SYSTEM st_system_create(scene, &def, &made, &err)
    FIELD(def, st_SystemDef, cookie, 0, SYSTEM);
    FIELD(def, st_SystemDef, integrator, (st_Integrator)99, SYSTEM);
    FIELD(def, st_SystemDef, form, (st_Form)99, SYSTEM);
    FIELD(def, st_SystemDef, contact, (st_ContactModel)99, SYSTEM);
    FIELD(def, st_SystemDef, law, (st_Law)99, SYSTEM);
    FIELD(def, st_SystemDef, drift, (st_Drift)99, SYSTEM);
    FIELD(def, st_SystemDef, impact, (st_Impact)99, SYSTEM);
    FIELD(def, st_SystemDef, events, (st_Events)99, SYSTEM);
    FIELD(def, st_SystemDef, initial, (st_Initial)99, SYSTEM);
    FIELD(def, st_SystemDef, h, NAN, SYSTEM);
    FIELD(def, st_SystemDef, h, -1, SYSTEM);
    A_VECTOR(def, st_SystemDef, gravity, SYSTEM);
    FIELD(def, st_SystemDef, threads, -1, SYSTEM);
    FIELD(def, st_SystemDef, margin, NAN, SYSTEM);
    FIELD(def, st_SystemDef, solver, "nobody", SYSTEM);
    FIELD(def, st_SystemDef, solver, NULL, SYSTEM);
    REFUSES(st_system_create_model(NULL, q, q, &good_def, &made, &err));
    REFUSES(st_system_create_model(&model, NULL, q, &good_def, &made, &err));
    REFUSES(st_system_create_model(&model, q, NULL, &good_def, &made, &err));
    REFUSES(st_system_create_model(&model, q, q, NULL, &made, &err));
    REFUSES(st_system_create_model(&model, q, q, &good_def, NULL, &err));
    REFUSES(st_system_create_model(&model, q, q, &good_def, &made, &err)); /* no table of functions yet */
}

static void running(void **state)
{
    (void)state;
    double q[64], v[64], flawed[64];
    st_system_state(the_system, q, v);
    memcpy(flawed, q, sizeof q);
    flawed[0] = NAN;
    for (int k = 0; k < 3; k++)
        REFUSES(st_system_step(the_system, bad_numbers[k], NULL, &err));
    REFUSES(st_system_step(NULL, 1e-3, NULL, &err));
    REFUSES(st_system_step(the_system, 0, NULL, &err));
    REFUSES(st_system_step(the_system, -1e-3, NULL, &err));
    REFUSES(st_system_set_state(NULL, 0, q, v, &err));
    for (int k = 0; k < 3; k++)
        REFUSES(st_system_set_state(the_system, bad_numbers[k], q, v, &err));
    REFUSES(st_system_set_state(the_system, 0, NULL, v, &err));
    REFUSES(st_system_set_state(the_system, 0, q, NULL, &err));
    REFUSES(st_system_set_state(the_system, 0, flawed, v, &err));
    REFUSES(st_system_set_state(the_system, 0, q, flawed, &err));
    REFUSES(st_system_restore(NULL, q, sizeof q, &err));
    REFUSES(st_system_restore(the_system, NULL, 100, &err));
    REFUSES(st_system_restore(the_system, q, sizeof q, &err));
    REFUSES(st_system_restore(the_system, q, 0, &err));
    REFUSES(st_system_energy(NULL, q, v, &err));
    REFUSES(st_system_wake(NULL, box_id, &err));
    REFUSES(st_system_wake(the_system, no_body, &err));
    REFUSES(st_system_wake(the_system, negative_body, &err));
    REFUSES(st_system_set_motor(NULL, hinge_id, 1, &err));
    REFUSES(st_system_set_motor(the_system, no_joint, 1, &err));
    REFUSES(st_system_set_motor(the_system, (st_JointId){0}, 1, &err));
    REFUSES(st_system_set_motor(the_system, hinge_id, INFINITY, &err));
    REFUSES(st_system_set_force(NULL, (st_ForceId){1}, &x_vec, NULL, &err));
    REFUSES(st_system_set_force(the_system, (st_ForceId){0}, &x_vec, NULL, &err));
    REFUSES(st_system_set_force(the_system, (st_ForceId){99}, &x_vec, NULL, &err));
    REFUSES(st_system_set_force(the_system, (st_ForceId){1}, &nan_vec, NULL, &err));
    REFUSES(st_system_set_force(the_system, (st_ForceId){1}, NULL, &inf_vec, &err));
    REFUSES(st_system_push(NULL, box_id, &x_vec, NULL, &err));
    REFUSES(st_system_push(the_system, no_body, &x_vec, NULL, &err));
    REFUSES(st_system_push(the_system, ST_GROUND, &x_vec, NULL, &err));
    REFUSES(st_system_push(the_system, box_id, &nan_vec, NULL, &err));
    REFUSES(st_system_push(the_system, box_id, NULL, &inf_vec, &err));
    const st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}}, flat = {{0, 0, 0}, {0, 0, 0, 0}}, far = {{NAN, 0, 0}, {1, 0, 0, 0}};
    REFUSES(st_system_set_pose(NULL, box_id, &pose, &err));
    REFUSES(st_system_set_pose(the_system, no_body, &pose, &err));
    REFUSES(st_system_set_pose(the_system, box_id, NULL, &err));
    REFUSES(st_system_set_pose(the_system, box_id, &flat, &err));
    REFUSES(st_system_set_pose(the_system, box_id, &far, &err));
    REFUSES(st_system_set_velocity(NULL, box_id, &x_vec, NULL, &err));
    REFUSES(st_system_set_velocity(the_system, no_body, &x_vec, NULL, &err));
    REFUSES(st_system_set_velocity(the_system, box_id, &nan_vec, NULL, &err));
    REFUSES(st_system_set_velocity(the_system, box_id, NULL, &inf_vec, &err));
    REFUSES(st_system_change(NULL, scene, &err));
    REFUSES(st_system_change(the_system, NULL, &err));
    st_System *clone;
    REFUSES(st_system_clone(NULL, &clone, &err));
    REFUSES(st_system_clone(the_system, NULL, &err));
    st_CompiledScene *compiled;
    REFUSES(st_scene_compile(NULL, &compiled, &err));
    REFUSES(st_scene_compile(scene, NULL, &err));
    const st_SystemDef def = st_system_def();
    REFUSES(st_system_create_from(NULL, &def, &clone, &err));
    assert_int_equal(st_scene_compile(scene, &compiled, NULL), ST_OK);
    REFUSES(st_system_create_from(compiled, &def, NULL, &err));
    REFUSES(st_system_create_from(compiled, NULL, &clone, &err));
    assert_ptr_equal(st_compiled_retain(compiled), compiled);
    st_compiled_release(compiled);
    st_compiled_release(compiled);
    st_compiled_release(NULL);
    assert_null(st_compiled_retain(NULL));
}

static void reports(void **state)
{
    (void)state;
    st_Pose pose;
    st_Vec3 vector, other;
    st_IslandReport island;
    st_ContactReport contact;
    st_JointReport joint;
    st_EventReport event;
    REFUSES_SILENTLY(st_system_pose(NULL, box_id, &pose));
    REFUSES_SILENTLY(st_system_pose(the_system, no_body, &pose));
    REFUSES_SILENTLY(st_system_pose(the_system, negative_body, &pose));
    REFUSES_SILENTLY(st_system_pose(the_system, box_id, NULL));
    REFUSES_SILENTLY(st_system_velocity(NULL, box_id, &vector, &other));
    REFUSES_SILENTLY(st_system_velocity(the_system, no_body, &vector, &other));
    REFUSES_SILENTLY(st_system_momentum(NULL, &vector, &other));
    REFUSES_SILENTLY(st_system_island(NULL, 0, &island));
    REFUSES_SILENTLY(st_system_island(the_system, -1, &island));
    REFUSES_SILENTLY(st_system_island(the_system, 99, &island));
    REFUSES_SILENTLY(st_system_contact(NULL, 0, &contact));
    REFUSES_SILENTLY(st_system_contact(the_system, -1, &contact));
    REFUSES_SILENTLY(st_system_contact(the_system, 99, &contact));
    REFUSES_SILENTLY(st_system_contact_force(NULL, box_id, &vector, &other));
    REFUSES_SILENTLY(st_system_contact_force(the_system, no_body, &vector, &other));
    REFUSES_SILENTLY(st_system_contact_forces(NULL, &vector, &other, 1));
    REFUSES_SILENTLY(st_system_contact_forces(the_system, &vector, &other, 1000000));
    REFUSES_SILENTLY(st_system_joint(NULL, hinge_id, ST_FRAME_WORLD, &joint));
    REFUSES_SILENTLY(st_system_joint(the_system, no_joint, ST_FRAME_WORLD, &joint));
    REFUSES_SILENTLY(st_system_joint(the_system, (st_JointId){0}, ST_FRAME_WORLD, &joint));
    REFUSES_SILENTLY(st_system_joint(the_system, hinge_id, (st_Frame)9, &joint));
    REFUSES_SILENTLY(st_system_joint(the_system, hinge_id, ST_FRAME_WORLD, NULL));
    REFUSES_SILENTLY(st_system_event(NULL, 0, &event));
    REFUSES_SILENTLY(st_system_event(the_system, -1, &event));
    REFUSES_SILENTLY(st_system_event(the_system, 99, &event));
}

static void queries(void **state)
{
    (void)state;
    st_RayHit hit;
    st_Closest closest;
    st_ShapeId found[4];
    int count;
    const st_Ray ray = {{0, 0, 1}, {0, 0, -1}, 10};
    const st_Pose pose = {{0, 0, 0}, {1, 0, 0, 0}}, flat = {{0, 0, 0}, {0, 0, 0, 0}}, far = {{NAN, 0, 0}, {1, 0, 0, 0}};
    const st_ShapeDef ball = st_sphere_def(1), bad = st_sphere_def(-1), raw = {.type = ST_SHAPE_SPHERE};
    REFUSES(st_system_ray(NULL, x_vec, x_vec, 1, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, nan_vec, x_vec, 1, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, x_vec, inf_vec, 1, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, x_vec, zero_vec, 1, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, x_vec, x_vec, NAN, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, x_vec, x_vec, -1, ~0u, &hit, &err));
    REFUSES(st_system_ray(the_system, x_vec, x_vec, 1, ~0u, NULL, &err));
    REFUSES(st_system_rays(NULL, &ray, 1, ~0u, &hit, &err));
    REFUSES(st_system_rays(the_system, NULL, 1, ~0u, &hit, &err));
    REFUSES(st_system_rays(the_system, &ray, -1, ~0u, &hit, &err));
    REFUSES(st_system_rays(the_system, &ray, 1, ~0u, NULL, &err));
    REFUSES(st_system_overlaps(NULL, &ball, pose, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, NULL, pose, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &bad, pose, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &raw, pose, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &ball, flat, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &ball, far, ~0u, found, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &ball, pose, ~0u, NULL, 4, &count, &err));
    REFUSES(st_system_overlaps(the_system, &ball, pose, ~0u, found, -1, &count, &err));
    REFUSES(st_system_overlaps(the_system, &ball, pose, ~0u, found, 4, NULL, &err));
    REFUSES(st_system_distance(NULL, (st_ShapeId){1}, (st_ShapeId){1}, &closest, &err));
    REFUSES(st_system_distance(the_system, (st_ShapeId){1}, no_shape, &closest, &err));
    REFUSES(st_system_distance(the_system, (st_ShapeId){0}, (st_ShapeId){1}, &closest, &err));
    REFUSES(st_system_distance(the_system, (st_ShapeId){1}, no_shape, NULL, &err));
    REFUSES(st_system_closest(NULL, &ball, pose, 1, ~0u, &closest, &err));
    REFUSES(st_system_closest(the_system, NULL, pose, 1, ~0u, &closest, &err));
    REFUSES(st_system_closest(the_system, &bad, pose, 1, ~0u, &closest, &err));
    REFUSES(st_system_closest(the_system, &ball, flat, 1, ~0u, &closest, &err));
    REFUSES(st_system_closest(the_system, &ball, pose, NAN, ~0u, &closest, &err));
    REFUSES(st_system_closest(the_system, &ball, pose, 1, ~0u, NULL, &err));
}

/* Numbers, bodies and controls that are changed between two steps. */
static void changes(void **state)
{
    (void)state;
    const st_Pose pose = {{0, 0, 2}, {1, 0, 0, 0}}, bad_pose = {{NAN, 0, 0}, {1, 0, 0, 0}};
    const st_Pose long_pose = {{0, 0, 2}, {2, 0, 0, 0}};
    const int n = st_system_control_count(the_system);
    double values[16] = {0}, value;
    int count;
    char name[64];
    assert_true(n > 0 && n <= 16);
    REFUSES(st_system_set_parameter(NULL, "bodies/box/mass", 1, &err));
    REFUSES(st_system_set_parameter(the_system, NULL, 1, &err));
    static const char *const no_paths[] = {"",
                                           "bodies",
                                           "bodies/box",
                                           "bodies/nobody/mass",
                                           "bodies/box/colour",
                                           "joints/*/friction/x",
                                           "springs/*/stiffness",
                                           "/",
                                           "bodies//mass"};
    for (size_t k = 0; k < sizeof no_paths / sizeof no_paths[0]; k++) {
        REFUSES(st_system_set_parameter(the_system, no_paths[k], 1, &err));
        REFUSES(st_system_parameter(the_system, no_paths[k], &value, &err));
    }
    const double no_masses[] = {NAN, INFINITY, -1, 0};
    for (int k = 0; k < 4; k++)
        REFUSES(st_system_set_parameter(the_system, "bodies/box/mass", no_masses[k], &err));
    REFUSES(st_system_set_parameter(the_system, "bodies/box/shapes/*/friction", -1, &err));
    REFUSES(st_system_parameter(NULL, "bodies/box/mass", &value, &err));
    REFUSES(st_system_parameter(the_system, NULL, &value, &err));
    REFUSES(st_system_parameter(the_system, "bodies/box/mass", NULL, &err));
    REFUSES(st_system_set_keyframe(NULL, 1, &err));
    REFUSES(st_system_set_keyframe(the_system, 1, &err)); /* it has none */
    REFUSES(st_system_set_keyframe(the_system, -1, &err));
    REFUSES(st_system_remove_body(NULL, box_id, &err));
    REFUSES(st_system_remove_body(the_system, no_body, &err));
    REFUSES(st_system_remove_body(the_system, negative_body, &err));
    REFUSES(st_system_remove_body(the_system, ST_GROUND, &err));
    REFUSES(st_system_remove_body(the_system, box_id, &err)); /* a joint holds it */
    REFUSES(st_system_insert_body(NULL, box_id, &pose, NULL, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, &pose, NULL, NULL, &err)); /* it is there */
    REFUSES(st_system_insert_body(the_system, no_body, &pose, NULL, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, NULL, NULL, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, &bad_pose, NULL, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, &long_pose, NULL, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, &pose, &nan_vec, NULL, &err));
    REFUSES(st_system_insert_body(the_system, box_id, &pose, NULL, &inf_vec, &err));
    REFUSES(st_system_set_pose(NULL, box_id, &pose, &err));
    REFUSES(st_system_set_pose(the_system, no_body, &pose, &err));
    REFUSES(st_system_set_pose(the_system, box_id, NULL, &err));
    REFUSES(st_system_set_pose(the_system, box_id, &bad_pose, &err));
    REFUSES(st_system_set_pose(the_system, box_id, &long_pose, &err));
    REFUSES(st_system_set_velocity(NULL, box_id, &x_vec, &x_vec, &err));
    REFUSES(st_system_set_velocity(the_system, no_body, &x_vec, &x_vec, &err));
    REFUSES(st_system_set_velocity(the_system, box_id, &nan_vec, &x_vec, &err));
    REFUSES(st_system_set_velocity(the_system, box_id, &x_vec, &inf_vec, &err));
    REFUSES(st_system_controls(NULL, values, n, &err));
    REFUSES(st_system_controls(the_system, NULL, n, &err));
    REFUSES(st_system_controls(the_system, values, n + 1, &err));
    REFUSES(st_system_set_controls(NULL, values, n, &err));
    REFUSES(st_system_set_controls(the_system, NULL, n, &err));
    REFUSES(st_system_set_controls(the_system, values, n - 1, &err));
    for (int k = 0; k < n; k++) {
        values[k] = INFINITY;
        REFUSES(st_system_set_controls(the_system, values, n, &err));
        values[k] = 0;
    }
    REFUSES_SILENTLY(st_system_control_name(NULL, 0, name, 64));
    REFUSES_SILENTLY(st_system_control_name(the_system, -1, name, 64));
    REFUSES_SILENTLY(st_system_control_name(the_system, n, name, 64));
    REFUSES_SILENTLY(st_system_control_name(the_system, 0, NULL, 64));
    REFUSES_SILENTLY(st_system_control_name(the_system, 0, name, 0));
    REFUSES(st_system_measure(NULL, 0, values, &count, &err));
    REFUSES(st_system_measure(the_system, 0, values, &count, &err)); /* it has none */
    REFUSES(st_system_measure(the_system, -1, values, &count, &err));
}

/* Trees of joints: a valid one, one whose system has changed since, and none. */
static void articulations(void **state)
{
    (void)state;
    enum { MOST = 16 };
    st_Error error = {0};
    st_System *changed = NULL;
    st_Articulation *tree = NULL, *stale = NULL;
    double x[MOST] = {0}, bad[MOST] = {0}, y[MOST], J[6 * MOST], M[MOST * MOST];
    st_PointMotion motion;
    st_CentreOfMass centre;
    st_JointId joint;
    st_Link link;
    check_ok(st_articulation_create(the_system, &tree, &error), error);
    check_ok(st_system_clone(the_system, &changed, &error), error);
    check_ok(st_articulation_create(changed, &stale, &error), error);
    check_ok(st_system_set_parameter(changed, "bodies/box/mass", 2, &error), error);
    const int n_q = st_articulation_n_q(tree), n_v = st_articulation_n_v(tree);
    assert_true(n_q > 0 && n_q <= MOST && n_v <= MOST);
    check_ok(st_articulation_state(tree, x, n_q, NULL, 0, &error), error);
    bad[0] = NAN;
    REFUSES(st_articulation_create(NULL, &tree, &err));
    REFUSES(st_articulation_create(the_system, NULL, &err));
    REFUSES_SILENTLY(st_articulation_link(NULL, 0, &link));
    REFUSES_SILENTLY(st_articulation_link(tree, -1, &link));
    REFUSES_SILENTLY(st_articulation_link(tree, st_articulation_link_count(tree), &link));
    REFUSES_SILENTLY(st_articulation_link(tree, 0, NULL));
    REFUSES_SILENTLY(st_articulation_loop(NULL, 0, &joint));
    REFUSES_SILENTLY(st_articulation_loop(tree, 0, &joint)); /* it has none */
    REFUSES_SILENTLY(st_articulation_loop(tree, -1, &joint));
    const st_BodyForce force = {.body = box_id, .force = x_vec}, no_force = {.body = no_body},
                       nan_force = {.body = box_id, .force = nan_vec}, nan_point = {.body = box_id, .point = nan_vec},
                       inf_torque = {.body = box_id, .torque = inf_vec};
    const st_BodyForce bad_forces[] = {no_force, nan_force, nan_point, inf_torque};
    const st_Target target = {.body = box_id, .position = x_vec}, no_target = {.body = no_body},
                    nan_target = {.body = box_id, .position = nan_vec},
                    long_target = {.body = box_id, .turned = true, .orientation = {2, 0, 0, 0}};
    const st_ReachDef reach = st_reach_def();
    st_ReachInfo info;
    for (int k = 0; k < 2; k++) { /* all of them need a tree of the present system */
        st_Articulation *of = k == 0 ? NULL : stale;
        REFUSES(st_articulation_write(of, &err));
        REFUSES(st_articulation_state(of, y, n_q, y, n_v, &err));
        REFUSES(st_articulation_set_state(of, x, n_q, x, n_v, &err));
        REFUSES(st_articulation_joint(of, hinge_id, y, 1, y, 1, &err));
        REFUSES(st_articulation_set_joint(of, hinge_id, x, 1, x, 1, &err));
        REFUSES(st_articulation_loop_error(of, y, NULL, &err));
        REFUSES(st_articulation_move(of, x, x, 1, y, n_q, n_v, &err));
        REFUSES(st_articulation_difference(of, x, x, y, n_q, n_v, &err));
        REFUSES(st_articulation_point(of, box_id, x_vec, NULL, n_v, &motion, &err));
        REFUSES(st_articulation_frame(of, "box", NULL, n_v, &motion, &err));
        REFUSES(st_articulation_jacobian(of, box_id, x_vec, J, NULL, n_v, &err));
        REFUSES(st_articulation_centre_of_mass(of, box_id, &centre, NULL, n_v, &err));
        REFUSES(st_articulation_mass_matrix(of, M, n_v, &err));
        REFUSES(st_articulation_mass_factor(of, M, y, n_v, &err));
        REFUSES(st_articulation_mass_product(of, x, y, n_v, &err));
        REFUSES(st_articulation_mass_solve(of, x, y, n_v, &err));
        REFUSES(st_articulation_bias(of, y, y, n_v, &err));
        REFUSES(st_articulation_inverse_dynamics(of, x, NULL, 0, y, n_v, &err));
        REFUSES(st_articulation_forward_dynamics(of, x, NULL, 0, y, n_v, &err));
        REFUSES(st_articulation_reach(of, &target, 1, &reach, &info, &err));
    }
    REFUSES(st_articulation_read(NULL, &err));
    REFUSES(st_articulation_state(tree, y, n_q + 1, y, n_v, &err));
    REFUSES(st_articulation_state(tree, y, n_q, y, n_v - 1, &err));
    REFUSES(st_articulation_set_state(tree, x, n_q - 1, x, n_v, &err));
    REFUSES(st_articulation_set_state(tree, x, n_q, x, n_v + 1, &err));
    REFUSES(st_articulation_set_state(tree, bad, n_q, x, n_v, &err));
    REFUSES(st_articulation_set_state(tree, x, n_q, bad, n_v, &err));
    REFUSES(st_articulation_joint(tree, no_joint, y, 1, y, 1, &err));
    REFUSES(st_articulation_joint(tree, hinge_id, y, 2, y, 1, &err));
    REFUSES(st_articulation_joint(tree, hinge_id, y, 1, y, 2, &err));
    REFUSES(st_articulation_set_joint(tree, no_joint, x, 1, x, 1, &err));
    REFUSES(st_articulation_set_joint(tree, hinge_id, bad, 1, x, 1, &err));
    REFUSES(st_articulation_set_joint(tree, hinge_id, x, 1, bad, 1, &err));
    REFUSES(st_articulation_set_joint(tree, hinge_id, x, 0, x, 1, &err));
    REFUSES(st_articulation_loop_error(tree, NULL, NULL, &err));
    REFUSES(st_articulation_move(tree, NULL, x, 1, y, n_q, n_v, &err));
    REFUSES(st_articulation_move(tree, x, NULL, 1, y, n_q, n_v, &err));
    REFUSES(st_articulation_move(tree, x, x, 1, NULL, n_q, n_v, &err));
    REFUSES(st_articulation_move(tree, x, x, 1, y, n_q + 1, n_v, &err));
    REFUSES(st_articulation_move(tree, x, x, 1, y, n_q, n_v + 1, &err));
    REFUSES(st_articulation_difference(tree, NULL, x, y, n_q, n_v, &err));
    REFUSES(st_articulation_difference(tree, x, NULL, y, n_q, n_v, &err));
    REFUSES(st_articulation_difference(tree, x, x, NULL, n_q, n_v, &err));
    REFUSES(st_articulation_difference(tree, x, x, y, n_q + 1, n_v, &err));
    REFUSES(st_articulation_difference(tree, x, x, y, n_q, n_v + 1, &err));
    REFUSES(st_articulation_point(tree, no_body, x_vec, NULL, n_v, &motion, &err));
    REFUSES(st_articulation_point(tree, box_id, x_vec, NULL, n_v, NULL, &err));
    REFUSES(st_articulation_point(tree, box_id, x_vec, x, n_v + 1, &motion, &err));
    REFUSES(st_articulation_frame(tree, "nobody", NULL, n_v, &motion, &err));
    REFUSES(st_articulation_frame(tree, NULL, NULL, n_v, &motion, &err));
    REFUSES(st_articulation_frame(tree, "box", NULL, n_v, NULL, &err));
    REFUSES(st_articulation_jacobian(tree, no_body, x_vec, J, NULL, n_v, &err));
    REFUSES(st_articulation_jacobian(tree, box_id, x_vec, J, NULL, n_v + 1, &err));
    REFUSES(st_articulation_jacobian(tree, box_id, x_vec, J, y, n_v - 1, &err));
    REFUSES(st_articulation_centre_of_mass(tree, no_body, &centre, NULL, n_v, &err));
    REFUSES(st_articulation_centre_of_mass(tree, box_id, NULL, NULL, n_v, &err));
    REFUSES(st_articulation_centre_of_mass(tree, box_id, &centre, M, n_v + 1, &err));
    REFUSES(st_articulation_mass_matrix(tree, NULL, n_v, &err));
    REFUSES(st_articulation_mass_matrix(tree, M, n_v + 1, &err));
    REFUSES(st_articulation_mass_factor(tree, NULL, y, n_v, &err));
    REFUSES(st_articulation_mass_factor(tree, M, NULL, n_v, &err));
    REFUSES(st_articulation_mass_factor(tree, M, y, n_v + 1, &err));
    REFUSES(st_articulation_mass_product(tree, NULL, y, n_v, &err));
    REFUSES(st_articulation_mass_product(tree, x, NULL, n_v, &err));
    REFUSES(st_articulation_mass_product(tree, x, y, n_v + 1, &err));
    REFUSES(st_articulation_mass_solve(tree, NULL, y, n_v, &err));
    REFUSES(st_articulation_mass_solve(tree, x, NULL, n_v, &err));
    REFUSES(st_articulation_mass_solve(tree, x, y, n_v + 1, &err));
    REFUSES(st_articulation_bias(tree, y, NULL, n_v + 1, &err));
    REFUSES(st_articulation_bias(tree, NULL, y, n_v + 1, &err));
    REFUSES(st_articulation_inverse_dynamics(tree, bad, NULL, 0, y, n_v, &err));
    REFUSES(st_articulation_inverse_dynamics(tree, x, NULL, 0, NULL, n_v, &err));
    REFUSES(st_articulation_inverse_dynamics(tree, x, NULL, 0, y, n_v + 1, &err));
    REFUSES(st_articulation_inverse_dynamics(tree, x, NULL, 1, y, n_v, &err));
    REFUSES(st_articulation_inverse_dynamics(tree, x, &force, -1, y, n_v, &err));
    REFUSES(st_articulation_forward_dynamics(tree, bad, NULL, 0, y, n_v, &err));
    REFUSES(st_articulation_forward_dynamics(tree, x, NULL, 0, NULL, n_v, &err));
    REFUSES(st_articulation_forward_dynamics(tree, x, NULL, 0, y, n_v + 1, &err));
    for (int k = 0; k < 4; k++) {
        REFUSES(st_articulation_inverse_dynamics(tree, x, &bad_forces[k], 1, y, n_v, &err));
        REFUSES(st_articulation_forward_dynamics(tree, x, &bad_forces[k], 1, y, n_v, &err));
    }
    REFUSES(st_articulation_reach(tree, NULL, 1, &reach, &info, &err));
    REFUSES(st_articulation_reach(tree, &target, -1, &reach, &info, &err));
    REFUSES(st_articulation_reach(tree, &no_target, 1, &reach, &info, &err));
    REFUSES(st_articulation_reach(tree, &nan_target, 1, &reach, &info, &err));
    REFUSES(st_articulation_reach(tree, &long_target, 1, &reach, &info, &err));
    const st_ReachDef raw = {0};
    REFUSES(st_articulation_reach(tree, &target, 1, &raw, &info, &err));
    st_articulation_destroy(stale);
    st_articulation_destroy(tree);
    st_articulation_destroy(NULL);
    st_system_destroy(changed);
}

static void batches(void **state)
{
    (void)state;
    st_Error error = {0};
    st_Batch *batch = NULL, *other = NULL;
    st_BatchDef good_def = st_batch_def();
    const st_SystemDef system_def = st_system_def();
    static const char *const nowhere[] = {"bodies/nobody/mass"};
    const int steps[2] = {1, -1}, keyframes[2] = {0, 7};
    double q[32] = {0}, bad[32];
    int index;
    st_StepInfo info = st_step_info();
    good_def.worlds = 2;
    for (int k = 0; k < 32; k++)
        bad[k] = NAN;
    check_ok(st_batch_create(scene, &system_def, &good_def, &batch, &error), error);
#define BATCH st_batch_create(scene, &system_def, &def, &other, &err)
    REFUSES(st_batch_create(NULL, &system_def, &good_def, &other, &err));
    REFUSES(st_batch_create(scene, NULL, &good_def, &other, &err));
    REFUSES(st_batch_create(scene, &system_def, NULL, &other, &err));
    REFUSES(st_batch_create(scene, &system_def, &good_def, NULL, &err));
    FIELD(def, st_BatchDef, cookie, 0, BATCH);
    FIELD(def, st_BatchDef, worlds, 0, BATCH);
    FIELD(def, st_BatchDef, worlds, -1, BATCH);
    FIELD(def, st_BatchDef, n_parameters, 1, BATCH);
    FIELD(def, st_BatchDef, n_parameters, -1, BATCH);
    st_BatchDef lost = good_def;
    lost.parameters = nowhere, lost.n_parameters = 1;
    REFUSES(st_batch_create(scene, &system_def, &lost, &other, &err));
#undef BATCH
    REFUSES(st_batch_step(NULL, 1, NULL, &err));
    REFUSES(st_batch_step(batch, -1, NULL, &err));
    REFUSES(st_batch_step_each(NULL, steps, &err));
    REFUSES(st_batch_step_each(batch, NULL, &err));
    REFUSES(st_batch_step_each(batch, steps, &err));
    REFUSES(st_batch_reset(NULL, NULL, NULL, &err));
    REFUSES(st_batch_reset(batch, NULL, keyframes, &err));
    REFUSES(st_batch_add_keyframe(NULL, 0, q, q, &index, &err));
    REFUSES(st_batch_add_keyframe(batch, 0, NULL, q, &index, &err));
    REFUSES(st_batch_add_keyframe(batch, 0, bad, q, &index, &err));
    REFUSES(st_batch_add_keyframe(batch, NAN, q, q, &index, &err));
    REFUSES(st_batch_set_states(NULL, NULL, NULL, q, q, &err));
    REFUSES(st_batch_set_states(batch, NULL, NULL, NULL, q, &err));
    REFUSES(st_batch_set_states(batch, NULL, NULL, bad, q, &err));
    REFUSES(st_batch_set_states(batch, NULL, bad, q, q, &err));
    REFUSES(st_batch_apply_parameters(NULL, NULL, &err));
    REFUSES_SILENTLY(st_batch_info(NULL, 0, &info));
    REFUSES_SILENTLY(st_batch_info(batch, 2, &info));
    REFUSES_SILENTLY(st_batch_info(batch, -1, &info));
    REFUSES_SILENTLY(st_batch_info(batch, 0, NULL));
    assert_null(st_batch_system(batch, 2));
    assert_null(st_batch_message(batch, -1));
    assert_null(st_batch_control_name(batch, 999));
    assert_null(st_batch_sensor_name(batch, -1));
    assert_null(st_batch_parameter_name(batch, 0));
    st_batch_destroy(batch);
    st_batch_destroy(NULL);
}

/* ---- models of the user's ------------------------------------------------------------------------ */

static void rows(void **state)
{
    (void)state;
    const int index[2] = {0, 1}, beyond[2] = {0, 7};
    const double gradient[6] = {1, 0, 0, 1, 0, 0}, flawed[6] = {NAN, 0, 0, 0, 0, 0};
    st_Sink the_sink = {.allocator = st_default_allocator(), .n_v = 2}, *sink = &the_sink;
    const st_JointRow good_joint = {.count = 2, .index = index, .gradient = gradient};
#define PUSH_JOINT st_push_joint(sink, &joint, &err)
    REFUSES(st_push_joint(NULL, &good_joint, &err));
    REFUSES(st_push_joint(sink, NULL, &err));
    for (int k = 0; k < 3; k++)
        FIELD(joint, st_JointRow, value, bad_numbers[k], PUSH_JOINT);
    for (int k = 0; k < 3; k++)
        FIELD(joint, st_JointRow, rate, bad_numbers[k], PUSH_JOINT);
    FIELD(joint, st_JointRow, count, -1, PUSH_JOINT);
    FIELD(joint, st_JointRow, index, NULL, PUSH_JOINT);
    FIELD(joint, st_JointRow, index, beyond, PUSH_JOINT);
    FIELD(joint, st_JointRow, gradient, NULL, PUSH_JOINT);
    FIELD(joint, st_JointRow, gradient, flawed, PUSH_JOINT);
    const st_SoftRow good_soft = {.stiffness = 1, .count = 2, .index = index, .gradient = gradient};
#define PUSH_SOFT st_push_soft(sink, &soft, &err)
    REFUSES(st_push_soft(NULL, &good_soft, &err));
    REFUSES(st_push_soft(sink, NULL, &err));
    for (int k = 0; k < 3; k++)
        FIELD(soft, st_SoftRow, value, bad_numbers[k], PUSH_SOFT);
    NOT_NEGATIVE(soft, st_SoftRow, stiffness, PUSH_SOFT);
    FIELD(soft, st_SoftRow, stiffness, 0, PUSH_SOFT);
    NOT_NEGATIVE(soft, st_SoftRow, damping, PUSH_SOFT);
    FIELD(soft, st_SoftRow, index, beyond, PUSH_SOFT);
    FIELD(soft, st_SoftRow, gradient, flawed, PUSH_SOFT);
    const st_BoundedRow good_bounded = {.lo = -1, .hi = 1, .count = 2, .index = index, .gradient = gradient};
#define PUSH_BOUNDED st_push_bounded(sink, &bounded, &err)
    REFUSES(st_push_bounded(NULL, &good_bounded, &err));
    REFUSES(st_push_bounded(sink, NULL, &err));
    FIELD(bounded, st_BoundedRow, lo, NAN, PUSH_BOUNDED);
    FIELD(bounded, st_BoundedRow, lo, 2, PUSH_BOUNDED);
    FIELD(bounded, st_BoundedRow, hi, NAN, PUSH_BOUNDED);
    for (int k = 0; k < 3; k++)
        FIELD(bounded, st_BoundedRow, target, bad_numbers[k], PUSH_BOUNDED);
    for (int k = 0; k < 3; k++)
        FIELD(bounded, st_BoundedRow, value, bad_numbers[k], PUSH_BOUNDED);
    NOT_NEGATIVE(bounded, st_BoundedRow, stiffness, PUSH_BOUNDED);
    NOT_NEGATIVE(bounded, st_BoundedRow, damping, PUSH_BOUNDED);
    FIELD(bounded, st_BoundedRow, index, beyond, PUSH_BOUNDED);
    FIELD(bounded, st_BoundedRow, gradient, flawed, PUSH_BOUNDED);
    const st_ContactRow good_contact = {
        .dim = 3, .count = 2, .index = index, .gradient = gradient, .elastic = {{1e9, 0.3}, {0, 0}}, .a = -1};
#define PUSH_CONTACT st_push_contact(sink, &contact, &err)
    REFUSES(st_push_contact(NULL, &good_contact, &err));
    REFUSES(st_push_contact(sink, NULL, &err));
    for (int k = 0; k < 3; k++)
        FIELD(contact, st_ContactRow, gap, bad_numbers[k], PUSH_CONTACT);
    NOT_NEGATIVE(contact, st_ContactRow, mu, PUSH_CONTACT);
    NOT_NEGATIVE(contact, st_ContactRow, restitution, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, restitution, 1.1, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, dim, 0, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, dim, 4, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, count, -1, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, index, NULL, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, index, beyond, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, gradient, NULL, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, gradient, flawed, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, turning, flawed, PUSH_CONTACT);
    FIELD(contact, st_ContactRow, rolling, 1, PUSH_CONTACT); /* and no rows `turning` */
    NOT_NEGATIVE(contact, st_ContactRow, rolling, PUSH_CONTACT);
    NOT_NEGATIVE(contact, st_ContactRow, spinning, PUSH_CONTACT);
    NOT_NEGATIVE(contact, st_ContactRow, stiffness, PUSH_CONTACT);
    NOT_NEGATIVE(contact, st_ContactRow, damping, PUSH_CONTACT);
    for (int side = 0; side < 2; side++) {
        NOT_NEGATIVE(contact, st_ContactRow, elastic[side].young, PUSH_CONTACT);
        for (int k = 0; k < 3; k++)
            FIELD(contact, st_ContactRow, elastic[side].poisson, bad_numbers[k], PUSH_CONTACT);
        FIELD(contact, st_ContactRow, elastic[side].poisson, -1, PUSH_CONTACT);
        FIELD(contact, st_ContactRow, elastic[side].poisson, 0.6, PUSH_CONTACT);
        for (int k = 0; k < 3; k++)
            FIELD(contact, st_ContactRow, slide[side], bad_numbers[k], PUSH_CONTACT);
    }
    A_VECTOR(contact, st_ContactRow, point, PUSH_CONTACT);
    A_VECTOR(contact, st_ContactRow, normal, PUSH_CONTACT);
    A_VECTOR(contact, st_ContactRow, tangent, PUSH_CONTACT);
}

/* ---- problems ------------------------------------------------------------------------------------ */

static void problems(void **state)
{
    (void)state;
    const int64_t p[2] = {0, 1}, backwards[2] = {1, 0};
    const int i[1] = {0}, first[2] = {0, 1}, beyond[1] = {5};
    const double one[1] = {1}, nan_one[1] = {NAN};
    const st_ContactLaw law = {.law = ST_LAW_FRICTIONLESS, .dim = 1}, no_law = {.law = (st_Law)99, .dim = 1};
    const st_Problem good_problem = {.n_v = 1,
                                     .n_r = 1,
                                     .n_contacts = 1,
                                     .A = {.n_blocks = 1, .first = first, .x = one},
                                     .symmetric = true,
                                     .H = {1, 1, p, i, one},
                                     .f = one,
                                     .w = one,
                                     .contact = &law};
    const st_LocalProblem good_local = {.n_r = 1, .n_contacts = 1, .W = {1, 1, p, i, one}, .b = one, .contact = &law};
    const st_LcpProblem good_lcp = {.n = 1, .M = {1, 1, p, i, one}, .q = one};
    st_Error trouble = {0};
    check_ok(st_problem_check(&good_problem, &trouble), trouble);
    check_ok(st_local_check(&good_local, &trouble), trouble);
    st_Solver *solver, *made;
    st_Residual residual;
    double r[1] = {0}, u[1], v[1], error;
    st_Solution solution = {.v = v, .u = u, .r = r}, no_r = {.v = v, .u = u};
    st_SolveInfo info;
    st_LcpInfo lcp_info;
    const st_SolverDef good_def = st_solver_def();
    check_ok(st_solver_create(&good_def, &solver, &trouble), trouble);
    REFUSES(st_problem_check(NULL, &err));
    REFUSES(st_local_check(NULL, &err));
#define CHECK st_problem_check(&problem, &err)
    FIELD(problem, st_Problem, n_v, -1, CHECK);
    FIELD(problem, st_Problem, n_r, 2, CHECK);
    FIELD(problem, st_Problem, n_contacts, -1, CHECK);
    FIELD(problem, st_Problem, n_l, -1, CHECK);
    FIELD(problem, st_Problem, A.first, NULL, CHECK);
    FIELD(problem, st_Problem, A.x, NULL, CHECK);
    FIELD(problem, st_Problem, A.x, nan_one, CHECK);
    FIELD(problem, st_Problem, H.p, NULL, CHECK);
    FIELD(problem, st_Problem, H.p, backwards, CHECK);
    FIELD(problem, st_Problem, H.i, NULL, CHECK);
    FIELD(problem, st_Problem, H.i, beyond, CHECK);
    FIELD(problem, st_Problem, H.x, NULL, CHECK);
    FIELD(problem, st_Problem, H.x, nan_one, CHECK);
    FIELD(problem, st_Problem, f, NULL, CHECK);
    FIELD(problem, st_Problem, f, nan_one, CHECK);
    FIELD(problem, st_Problem, w, NULL, CHECK);
    FIELD(problem, st_Problem, w, nan_one, CHECK);
    FIELD(problem, st_Problem, contact, NULL, CHECK);
    FIELD(problem, st_Problem, contact, &no_law, CHECK);
    FIELD(problem, st_Problem, u_scale, NAN, CHECK);
    FIELD(problem, st_Problem, u_scale, -1, CHECK);
#define CHECK_LOCAL st_local_check(&local, &err)
    FIELD(local, st_LocalProblem, n_r, -1, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, n_contacts, -1, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, W.p, NULL, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, W.i, beyond, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, W.x, nan_one, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, b, NULL, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, b, nan_one, CHECK_LOCAL);
    FIELD(local, st_LocalProblem, contact, NULL, CHECK_LOCAL);
    REFUSES(st_problem_residual(NULL, r, &residual, &err));
    REFUSES(st_problem_residual(&good_problem, NULL, &residual, &err));
    REFUSES(st_problem_residual(&good_problem, r, NULL, &err));
    FIELD(problem, st_Problem, w, NULL, st_problem_residual(&problem, r, &residual, &err));
    REFUSES(st_local_residual(NULL, r, &residual, &err));
    REFUSES(st_local_residual(&good_local, NULL, &residual, &err));
    REFUSES(st_local_residual(&good_local, r, NULL, &err));
    REFUSES(st_solver_create(NULL, &made, &err));
    REFUSES(st_solver_create(&good_def, NULL, &err));
#define SOLVER st_solver_create(&def, &made, &err)
    FIELD(def, st_SolverDef, cookie, 0, SOLVER);
    FIELD(def, st_SolverDef, name, NULL, SOLVER);
    FIELD(def, st_SolverDef, name, "nobody", SOLVER);
    FIELD(def, st_SolverDef, tolerance, NAN, SOLVER);
    FIELD(def, st_SolverDef, tolerance, -1, SOLVER);
    FIELD(def, st_SolverDef, max_iterations, -1, SOLVER);
    FIELD(def, st_SolverDef, threads, -1, SOLVER);
    FIELD(def, st_SolverDef, allocator.alloc, NULL, SOLVER);
    FIELD(def, st_SolverDef, allocator.free, NULL, SOLVER);
    REFUSES(st_solver_solve(NULL, &good_problem, &solution, &info, &err));
    REFUSES(st_solver_solve(solver, NULL, &solution, &info, &err));
    REFUSES(st_solver_solve(solver, &good_problem, NULL, &info, &err));
    REFUSES(st_solver_solve(solver, &good_problem, &no_r, &info, &err));
    FIELD(problem, st_Problem, f, nan_one, st_solver_solve(solver, &problem, &solution, &info, &err));
    REFUSES(st_solver_solve_local(NULL, &good_local, &solution, &info, &err));
    REFUSES(st_solver_solve_local(solver, NULL, &solution, &info, &err));
    REFUSES(st_solver_solve_local(solver, &good_local, NULL, &info, &err));
    REFUSES(st_solver_solve_local(solver, &good_local, &no_r, &info, &err));
    REFUSES(st_lcp_solve(NULL, 1e-8, r, &lcp_info, &err));
    REFUSES(st_lcp_solve(&good_lcp, NAN, r, &lcp_info, &err));
    REFUSES(st_lcp_solve(&good_lcp, -1, r, &lcp_info, &err));
    REFUSES(st_lcp_solve(&good_lcp, 1e-8, NULL, &lcp_info, &err));
    FIELD(lcp, st_LcpProblem, n, -1, st_lcp_solve(&lcp, 1e-8, r, &lcp_info, &err));
    FIELD(lcp, st_LcpProblem, q, NULL, st_lcp_solve(&lcp, 1e-8, r, &lcp_info, &err));
    FIELD(lcp, st_LcpProblem, q, nan_one, st_lcp_solve(&lcp, 1e-8, r, &lcp_info, &err));
    FIELD(lcp, st_LcpProblem, M.p, NULL, st_lcp_solve(&lcp, 1e-8, r, &lcp_info, &err));
    FIELD(lcp, st_LcpProblem, M.x, nan_one, st_lcp_solve(&lcp, 1e-8, r, &lcp_info, &err));
    REFUSES(st_lcp_residual(NULL, r, &error, &err));
    REFUSES(st_lcp_residual(&good_lcp, NULL, &error, &err));
    REFUSES(st_lcp_residual(&good_lcp, r, NULL, &err));
    st_LcpError lcp_error;
    REFUSES(st_lcp_error(NULL, r, NULL, &lcp_error, &err));
    REFUSES(st_lcp_error(&good_lcp, NULL, NULL, &lcp_error, &err));
    REFUSES(st_lcp_error(&good_lcp, r, NULL, NULL, &err));
    st_solver_destroy(solver);
}

static void friction_problems(void **state)
{
    (void)state;
    const int64_t p[3] = {0, 1, 2};
    const int i[2] = {0, 1}, beyond[2] = {0, 5};
    const double one[2] = {1, 1}, nan_one[2] = {NAN, 0}, mu[1] = {0.5}, negative[1] = {-1};
    const st_FrictionProblem good_problem = {
        .form = ST_FORM_LOCAL, .dim = 2, .n_contacts = 1, .W = {2, 2, p, i, one}, .q = one, .mu = mu};
    st_Friction *friction, *made;
    st_FrictionCopy *copy;
    st_Error trouble = {0};
    double r[2] = {0}, u[2], number;
    st_Solution solution = {.u = u, .r = r}, no_r = {.u = u};
    st_SolveInfo info;
    st_FrictionError error;
    st_Determined determined;
    const st_SolverDef def = st_solver_def();
    st_Solver *solver;
    check_ok(st_solver_create(&def, &solver, &trouble), trouble);
    check_ok(st_friction_create(&good_problem, &friction, &trouble), trouble);
#define CHECK_FRICTION st_friction_check(&problem, &err)
    REFUSES(st_friction_check(NULL, &err));
    FIELD(problem, st_FrictionProblem, form, (st_FrictionForm)9, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, dim, 1, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, dim, 7, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, n_contacts, -1, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, n_l, -1, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, W.p, NULL, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, W.i, beyond, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, W.x, nan_one, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, q, NULL, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, q, nan_one, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, mu, NULL, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, mu, nan_one, CHECK_FRICTION);
    FIELD(problem, st_FrictionProblem, mu, negative, CHECK_FRICTION);
    REFUSES(st_friction_create(NULL, &made, &err));
    REFUSES(st_friction_create(&good_problem, NULL, &err));
    REFUSES(st_friction_solve(NULL, solver, &solution, &info, &err));
    REFUSES(st_friction_solve(friction, NULL, &solution, &info, &err));
    REFUSES(st_friction_solve(friction, solver, NULL, &info, &err));
    REFUSES(st_friction_solve(friction, solver, &no_r, &info, &err));
    REFUSES(st_friction_error(NULL, r, NULL, NULL, &error, &err));
    REFUSES(st_friction_error(friction, NULL, NULL, NULL, &error, &err));
    REFUSES(st_friction_error(friction, r, NULL, NULL, NULL, &err));
    REFUSES(st_friction_lowest(NULL, &number, &err));
    REFUSES(st_friction_lowest(&good_problem, NULL, &err));
    REFUSES(st_friction_contradiction(NULL, &number, &err));
    REFUSES(st_friction_contradiction(&good_problem, NULL, &err));
    REFUSES(st_friction_from_step(NULL, false, &copy, &err));
    REFUSES(st_friction_from_step(st_system_problem(the_system, NULL), false, NULL, &err));
    REFUSES(st_friction_determined(NULL, r, NULL, 0, NULL, NULL, &determined, &err));
    REFUSES(st_friction_determined(friction, NULL, NULL, 0, NULL, NULL, &determined, &err));
    REFUSES(st_friction_determined(friction, r, negative, 0, NULL, NULL, &determined, &err));
    REFUSES(st_friction_determined(friction, r, NULL, NAN, NULL, NULL, &determined, &err));
    REFUSES(st_friction_determined(friction, r, NULL, -1, NULL, NULL, &determined, &err));
    st_friction_destroy(friction);
    st_solver_destroy(solver);
}

/* ---- files --------------------------------------------------------------------------------------- */

static void files(void **state)
{
    (void)state;
    const char *path = "/tmp/st_test_arguments", *nowhere = "/tmp/no/such/folder/x";
    const st_SystemDef choices = st_system_def();
    const st_RecorderDef good_def = st_recorder_def();
    const st_StepInfo info = st_step_info();
    st_Scene *read;
    st_SystemDef def;
    char *text;
    st_Csv *csv;
    st_Picture *picture;
    st_Recorder *recorder;
    st_Recording *recording;
    st_ProblemFile *file;
    const double x[2] = {1, 2};
    const st_PlotCurve curve = {"curve", 2, x, x, false}, no_points = {"curve", 2, NULL, x, false};
    const st_PlotPanel panel = {"panel", 1, &curve}, no_curves = {"panel", 1, NULL};
    const char *names[1] = {"name"};
    REFUSES(st_scene_read(NULL, NULL, 0, &read, &def, &err));
    REFUSES(st_scene_read(nowhere, NULL, 0, &read, &def, &err));
    REFUSES(st_scene_read("examples/world/conveyor.json", NULL, 1, &read, &def, &err));
    REFUSES(st_scene_read("examples/world/conveyor.json", NULL, -1, &read, &def, &err));
    REFUSES(st_scene_read("examples/world/conveyor.json", NULL, 0, NULL, &def, &err));
    REFUSES(st_scene_read("examples/world/conveyor.json", NULL, 0, &read, NULL, &err));
    REFUSES(st_scene_parse(NULL, 2, "label", NULL, 0, &read, &def, &err));
    REFUSES(st_scene_parse("{", 1, "label", NULL, 0, &read, &def, &err));
    REFUSES(st_scene_parse("{}", 2, "label", NULL, 0, NULL, &def, &err));
    REFUSES(st_scene_parse("{}", 2, "label", NULL, 0, &read, NULL, &err));
    REFUSES(st_scene_convert(NULL, NULL, 0, NULL, &text, NULL, &err));
    REFUSES(st_scene_convert(nowhere, NULL, 0, NULL, &text, NULL, &err));
    st_Columns *columns;
    const st_TableColumn column = {"name", x, NULL}, no_name = {NULL, x, NULL}, no_values = {"name", NULL, NULL};
    REFUSES(st_columns_create(NULL, &columns, &err));
    REFUSES(st_columns_create(scene, NULL, &err));
    REFUSES(st_columns_values(NULL, the_system, &info, (double[1]){0}, &err));
    assert_int_equal(st_columns_count(NULL), 0);
    assert_int_equal(st_columns_name(NULL, 0, NULL, 0), 0);
    assert_int_equal(st_columns_find(NULL, "t"), -1);
    REFUSES(st_table_write(NULL, &column, 1, 2, &err));
    REFUSES(st_table_write(nowhere, &column, 1, 2, &err));
    REFUSES(st_table_write(path, NULL, 1, 2, &err));
    REFUSES(st_table_write(path, &column, 0, 2, &err));
    REFUSES(st_table_write(path, &column, 1, -1, &err));
    REFUSES(st_table_write(path, &no_name, 1, 2, &err));
    REFUSES(st_table_write(path, &no_values, 1, 2, &err));
    unsigned char rgb[16 * 16 * 3];
    const st_Camera flat = {.angle = 1};
    REFUSES(st_render(NULL, the_system, NULL, 16, 16, rgb, &err));
    REFUSES(st_render(scene, NULL, NULL, 16, 16, rgb, &err));
    REFUSES(st_render(scene, the_system, &flat, 16, 16, rgb, &err));
    REFUSES(st_render(scene, the_system, NULL, 15, 16, rgb, &err));
    REFUSES(st_render(scene, the_system, NULL, 16, 8193, rgb, &err));
    REFUSES(st_render(scene, the_system, NULL, 16, 16, NULL, &err));
    REFUSES(st_csv_open(NULL, the_system, scene, &csv, &err));
    REFUSES(st_csv_open(nowhere, the_system, scene, &csv, &err));
    REFUSES(st_csv_open(path, NULL, scene, &csv, &err));
    REFUSES(st_csv_open(path, the_system, NULL, &csv, &err));
    REFUSES(st_csv_open(path, the_system, scene, NULL, &err));
    REFUSES(st_csv_write(NULL, the_system, &info, &err));
    REFUSES(st_picture_create(NULL, &choices, &picture, &err));
    REFUSES(st_picture_create(scene, NULL, &picture, &err));
    REFUSES(st_picture_create(scene, &choices, NULL, &err));
    REFUSES(st_picture_add(NULL, the_system, &info, &err));
    REFUSES(st_picture_write(NULL, path, &err));
    REFUSES(st_plot_loglog(NULL, "t", "x", "y", &curve, 1, &err));
    REFUSES(st_plot_loglog(nowhere, "t", "x", "y", &curve, 1, &err));
    REFUSES(st_plot_loglog(path, "t", "x", "y", NULL, 1, &err));
    REFUSES(st_plot_loglog(path, "t", "x", "y", &no_points, 1, &err));
    REFUSES(st_plot_loglog(path, "t", "x", "y", &curve, -1, &err));
    REFUSES(st_plot_lines(NULL, "t", "x", &panel, 1, &err));
    REFUSES(st_plot_lines(path, "t", "x", NULL, 1, &err));
    REFUSES(st_plot_lines(path, "t", "x", &no_curves, 1, &err));
    REFUSES(st_plot_lines(path, "t", "x", &panel, -1, &err));
    REFUSES(st_recorder_open(NULL, &good_def, scene, &choices, the_system, &recorder, &err));
    REFUSES(st_recorder_open(nowhere, &good_def, scene, &choices, the_system, &recorder, &err));
    REFUSES(st_recorder_open(path, NULL, scene, &choices, the_system, &recorder, &err));
    REFUSES(st_recorder_open(path, &good_def, NULL, &choices, the_system, &recorder, &err));
    REFUSES(st_recorder_open(path, &good_def, scene, NULL, the_system, &recorder, &err));
    REFUSES(st_recorder_open(path, &good_def, scene, &choices, NULL, &recorder, &err));
    REFUSES(st_recorder_open(path, &good_def, scene, &choices, the_system, NULL, &err));
#define RECORDER st_recorder_open(path, &recorder_def, scene, &choices, the_system, &recorder, &err)
    const st_RecorderDef good_recorder_def = good_def;
    FIELD(recorder_def, st_RecorderDef, cookie, 0, RECORDER);
    NOT_NEGATIVE(recorder_def, st_RecorderDef, rate, RECORDER);
    FIELD(recorder_def, st_RecorderDef, checkpoint, NAN, RECORDER);
    FIELD(recorder_def, st_RecorderDef, checkpoint, -1, RECORDER);
    FIELD(recorder_def, st_RecorderDef, flush, NAN, RECORDER);
    FIELD(recorder_def, st_RecorderDef, flush, -1, RECORDER);
    FIELD(recorder_def, st_RecorderDef, n_sets, 1, RECORDER);
    REFUSES(st_recorder_add(NULL, the_system, &info, &err));
    REFUSES(st_recording_open(NULL, &recording, &err));
    REFUSES(st_recording_open(nowhere, &recording, &err));
    REFUSES(st_recording_open(path, NULL, &err));
    REFUSES(st_recording_steps(NULL, 0, 1, NULL, &err));
    REFUSES(st_recording_frames(NULL, 0, 1, NULL, &err));
    REFUSES(st_recording_contacts(NULL, 0, 1, NULL, &err));
    REFUSES(st_recording_events(NULL, 0, 1, NULL, &err));
    REFUSES(st_recording_checkpoints(NULL, 0, 1, NULL, &err));
    REFUSES(st_recording_bodies(NULL, 0, NULL, NULL, NULL, NULL, &err));
    REFUSES(st_recording_joints(NULL, 0, NULL, &err));
    REFUSES(st_recording_scene(NULL, NULL, 0, &read, &def, &err));
    REFUSES(st_recording_restore(NULL, NULL, the_system, &err));
    REFUSES(st_file_write(NULL, "x", 1, &err));
    REFUSES(st_file_write(nowhere, "x", 1, &err));
    REFUSES(st_file_write(path, NULL, 1, &err));
    REFUSES(st_recording_write_csv(NULL, path, &err));
    REFUSES(st_recording_write_vtk(NULL, path, &err));
    REFUSES(st_recording_write_plot(NULL, NULL, names, 1, path, &err));
    REFUSES(st_recording_pack(NULL, 0, (unsigned char **)&text, &(size_t){0}, &err));
    REFUSES(st_recording_write_report(NULL, 0, "", 0, path, &err));
    REFUSES(st_problem_file_read(NULL, &file, &err));
    REFUSES(st_problem_file_read(nowhere, &file, &err));
    REFUSES(st_problem_file_read(path, NULL, &err));
    REFUSES(st_problem_file_write(path, NULL, &err));
    REFUSES(st_problem_file_write_solution(NULL, path, 1, x, NULL, 0, NULL, &err));
    REFUSES(st_problem_file_write_solution(nowhere, path, 1, x, NULL, 0, NULL, &err));
    REFUSES(st_problem_file_write_solution(nowhere, path, 1, NULL, NULL, 0, NULL, &err));
    REFUSES(st_profile_write(NULL, "t", 1, names, 1, x, &err));
    REFUSES(st_profile_write(path, "t", 1, NULL, 1, x, &err));
    REFUSES(st_profile_write(path, "t", 1, names, 1, NULL, &err));
    REFUSES(st_profile_write(path, "t", -1, names, 1, x, &err));
    REFUSES(st_profile_write(path, "t", 1, names, -1, x, &err));
}

/* Nothing that was refused has left a trace. */
static void nothing_has_changed(void **state)
{
    (void)state;
    assert_int_equal(st_scene_body_count(scene), 1);
    assert_int_equal(n_accepted, 0);
    print_message("%d calls refused\n", n_calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies),
        cmocka_unit_test(shapes),
        cmocka_unit_test(materials_and_forces),
        cmocka_unit_test(joints_and_springs),
        cmocka_unit_test(scenes),
        cmocka_unit_test(settings),
        cmocka_unit_test(making_systems),
        cmocka_unit_test(running),
        cmocka_unit_test(reports),
        cmocka_unit_test(queries),
        cmocka_unit_test(changes),
        cmocka_unit_test(articulations),
        cmocka_unit_test(batches),
        cmocka_unit_test(rows),
        cmocka_unit_test(problems),
        cmocka_unit_test(friction_problems),
        cmocka_unit_test(files),
        cmocka_unit_test(nothing_has_changed),
    };
    make_world();
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    st_system_destroy(the_system);
    st_scene_destroy(scene);
    return failed;
}
