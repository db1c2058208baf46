/* model/scene.c -- the description of a world: defaults, checks at the door, storage. */
#include "model/check.h"
#include "model/profile.h"

#include "collide/shape.h"

#include <stdio.h>

/* ---- defaults --------------------------------------------------------------------------------- */

static const st_Pose identity = {{0, 0, 0}, {1, 0, 0, 0}};

st_BodyDef st_body_def(void)
{
    return (st_BodyDef){.pose = identity, .cookie = STI_COOKIE};
}

static st_ShapeDef shape_def(st_ShapeType type)
{
    return (st_ShapeDef){.type = type,
                         .pose = identity,
                         .density = 1000.0,
                         .mu = 0.5,
                         .poisson = 0.3,
                         .groups = 1,
                         .mask = UINT32_MAX,
                         .cookie = STI_COOKIE};
}

st_ShapeDef st_point_def(void)
{
    return shape_def(ST_SHAPE_POINT);
}

st_ShapeDef st_bar_def(double length)
{
    st_ShapeDef def = shape_def(ST_SHAPE_BAR);
    def.length = length;
    def.density = 1.0; /* per metre */
    return def;
}

st_ShapeDef st_sphere_def(double radius)
{
    st_ShapeDef def = shape_def(ST_SHAPE_SPHERE);
    def.radius = radius;
    return def;
}

st_ShapeDef st_box_def(double half_x, double half_y, double half_z)
{
    st_ShapeDef def = shape_def(ST_SHAPE_BOX);
    def.half = vec3(half_x, half_y, half_z);
    return def;
}

st_ShapeDef st_plane_def(void)
{
    return shape_def(ST_SHAPE_PLANE);
}

static st_ShapeDef round_def(st_ShapeType type, double radius, double length)
{
    st_ShapeDef def = shape_def(type);
    def.radius = radius;
    def.length = length;
    return def;
}

st_ShapeDef st_capsule_def(double radius, double length)
{
    return round_def(ST_SHAPE_CAPSULE, radius, length);
}

st_ShapeDef st_cylinder_def(double radius, double length)
{
    return round_def(ST_SHAPE_CYLINDER, radius, length);
}

st_ShapeDef st_cone_def(double radius, double length)
{
    return round_def(ST_SHAPE_CONE, radius, length);
}

st_ShapeDef st_ellipsoid_def(double a, double b, double c)
{
    st_ShapeDef def = shape_def(ST_SHAPE_ELLIPSOID);
    def.half = vec3(a, b, c);
    return def;
}

st_ShapeDef st_hull_def(const st_Vec3 *points, int n_points)
{
    st_ShapeDef def = shape_def(ST_SHAPE_HULL);
    def.points = points;
    def.n_points = n_points;
    return def;
}

st_ShapeDef st_mesh_def(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles)
{
    st_ShapeDef def = shape_def(ST_SHAPE_MESH);
    def.points = points;
    def.n_points = n_points;
    def.triangles = triangles;
    def.n_triangles = n_triangles;
    return def;
}

st_ShapeDef st_height_field_def(const double *heights, int n_x, int n_y, double spacing)
{
    st_ShapeDef def = shape_def(ST_SHAPE_HEIGHT_FIELD);
    def.heights = heights;
    def.n_x = n_x;
    def.n_y = n_y;
    def.spacing = spacing;
    return def;
}

st_JointDef st_joint_def(st_JointType type)
{
    return (st_JointDef){.type = type,
                         .axis = {0, 0, 1},
                         .axis_b = {type == ST_JOINT_BALL ? 0 : 1, 0, 0},
                         .ratio = 1.0,
                         .lower = -INFINITY,
                         .upper = INFINITY,
                         .other_lower = -INFINITY,
                         .other_upper = INFINITY,
                         .rest = NAN,
                         .motor = {.max_force = INFINITY, .profile = {.frequency = 1.0}},
                         .cookie = STI_COOKIE};
}

st_SpringDef st_spring_def(st_SpringType type)
{
    return (st_SpringDef){.type = type, .axis = {0, 0, 1}, .rest = NAN, .frame = {1, 0, 0, 0}, .cookie = STI_COOKIE};
}

st_ForceDef st_force_def(void)
{
    return (st_ForceDef){.profile = {.frequency = 1.0}, .cookie = STI_COOKIE};
}

static st_Quat quat_from_axis(st_Vec3 axis, st_Vec3 direction)
{
    double length = norm(direction);
    return length > 0 && isfinite(length) ? quat_between(axis, scale(1.0 / length, direction)) : identity.q;
}

st_Quat st_quat_from_z(st_Vec3 direction)
{
    return quat_from_axis(vec3(0, 0, 1), direction);
}

st_Quat st_quat_from_x(st_Vec3 direction)
{
    return quat_from_axis(vec3(1, 0, 0), direction);
}

/* ---- words ------------------------------------------------------------------------------------ */

static const char *word(const char *const *words, int n, int index)
{
    return index >= 0 && index < n ? words[index] : NULL;
}

const char *st_shape_type_name(st_ShapeType type)
{
    static const char *const words[] = {"point",    "bar",  "sphere",    "box",  "plane", "capsule",
                                        "cylinder", "cone", "ellipsoid", "hull", "mesh",  "height-field"};
    return word(words, ST_N_SHAPE_TYPES, (int)type);
}

const char *st_joint_type_name(st_JointType type)
{
    static const char *const words[] = {"fixed",     "ball",   "revolute",      "prismatic", "distance", "cylindrical",
                                        "universal", "planar", "point-on-line", "screw",     "gear",     "free"};
    return word(words, ST_N_JOINT_TYPES, (int)type);
}

const char *st_spring_type_name(st_SpringType type)
{
    static const char *const words[] = {"linear", "angular", "bushing"};
    return word(words, ST_N_SPRING_TYPES, (int)type);
}

const char *st_profile_type_name(st_ProfileType type)
{
    static const char *const words[] = {"constant", "harmonic", "table", "ramp"};
    return word(words, ST_N_PROFILE_TYPES, (int)type);
}

const char *st_coordinate_name(st_Coordinate coordinate)
{
    static const char *const words[] = {"default", "angle", "displacement", "distance", "angle_b", "swing", "twist"};
    return word(words, ST_N_COORDINATES, (int)coordinate);
}

const char *st_motor_type_name(st_MotorType type)
{
    static const char *const words[] = {"none", "speed", "position", "motion"};
    return word(words, ST_N_MOTOR_TYPES, (int)type);
}

const char *sti_kind_name(sti_ObjectKind kind)
{
    static const char *const words[STI_N_KINDS] = {"body", "shape", "joint", "spring", "force", "material"};
    return words[kind];
}

/* ---- life ------------------------------------------------------------------------------------- */

st_Status st_scene_create(st_Scene **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    return st_scene_create_with(&allocator, out, err);
}

st_Status st_scene_create_with(const st_Allocator *allocator, st_Scene **out, st_Error *err)
{
    st_Allocator a = *allocator;
    if (out == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_create: nowhere to put the scene");
    *out = NULL;
    st_Scene *scene = sti_alloc(&a, 1, sizeof *scene);
    if (scene == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a scene");
    scene->allocator = a;
    st_BodyDef ground = st_body_def();
    ground.fixed = true;
    ground.name = "ground";
    st_Status status = STI_GROW(&a, scene->pose, scene->pose_capacity, 1, err);
    if (status == ST_OK) scene->pose[scene->n_poses++] = identity;
    if (status == ST_OK) status = st_scene_add_body(scene, &ground, NULL, err);
    if (status != ST_OK) {
        st_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return ST_OK;
}

/* Points, triangles and heights of a shape are the scene's own. */
static void free_arrays(const st_Allocator *a, st_ShapeDef *shape)
{
    sti_free(a, (void *)shape->points, shape->n_points, sizeof *shape->points);
    sti_free(a, (void *)shape->triangles, 3 * (int64_t)shape->n_triangles, sizeof *shape->triangles);
    sti_free(a, (void *)shape->heights, (int64_t)shape->n_x * shape->n_y, sizeof *shape->heights);
}

void st_scene_destroy(st_Scene *scene)
{
    if (scene == NULL) return;
    st_Allocator a = scene->allocator;
    for (int k = 0; k < scene->n_forces; k++)
        sti_profile_free(&a, &scene->force[k].profile);
    for (int k = 0; k < scene->n_joints; k++)
        sti_profile_free(&a, &scene->joint[k].motor.profile);
    for (int k = 0; k < scene->kinds.n; k++)
        free_arrays(&a, &scene->kinds.def[k]);
    sti_kinds_free(&a, &scene->kinds);
    for (int kind = 0; kind < STI_N_KINDS; kind++)
        sti_names_free(&a, &scene->names[kind]);
    STI_RELEASE(&a, scene->body, scene->body_capacity);
    STI_RELEASE(&a, scene->shape_kind, scene->shape_kind_capacity);
    STI_RELEASE(&a, scene->shape_pose, scene->shape_pose_capacity);
    STI_RELEASE(&a, scene->pose, scene->pose_capacity);
    STI_RELEASE(&a, scene->shape_body, scene->shape_body_capacity);
    STI_RELEASE(&a, scene->next_shape, scene->next_shape_capacity);
    STI_RELEASE(&a, scene->first_shape, scene->first_shape_capacity);
    STI_RELEASE(&a, scene->last_shape, scene->last_shape_capacity);
    STI_RELEASE(&a, scene->joint, scene->joint_capacity);
    STI_RELEASE(&a, scene->spring, scene->spring_capacity);
    STI_RELEASE(&a, scene->force, scene->force_capacity);
    STI_RELEASE(&a, scene->excluded, scene->excluded_capacity);
    STI_RELEASE(&a, scene->material, scene->material_capacity);
    STI_RELEASE(&a, scene->material_pair, scene->material_pair_capacity);
    sti_free(&a, scene, 1, sizeof *scene);
}

/* ---- checks ----------------------------------------------------------------------------------- */

static st_Status check_pose(Subject s, st_Pose *pose)
{
    STI_TRY(check_finite(s, "position", pose->p));
    return check_orientation(s, "orientation", &pose->q);
}

/* Principal moments obey I1 + I2 >= I3: equivalently tr(I)/2 1 - I has no negative eigenvalue. With
 * x = the smallest eigenvalue's sign tested by leading minors, relative to the trace.              */
static st_Status check_inertia(Subject s, const st_BodyDef *def)
{
    const double *m = def->inertia.m;
    double trace = m[0] + m[4] + m[8];
    for (int k = 0; k < 9; k++)
        if (!isfinite(m[k])) return BAD(s, "inertia has an entry %g, must be finite", m[k]);
    for (int k = 0; k < 3; k++) {
        bool locked = (def->locks & (uint32_t)(ST_LOCK_RX << k)) != 0;
        if (m[4 * k] < 0) return BAD(s, "inertia about axis %c is %g, must be >= 0", 'x' + k, m[4 * k]);
        if (m[4 * k] == 0 && locked) return ST_OK; /* not given, and not needed */
    }
    double tiny = 1e-9 * trace;
    if (fabs(m[1] - m[3]) > tiny || fabs(m[2] - m[6]) > tiny || fabs(m[5] - m[7]) > tiny)
        return BAD(s, "inertia is not symmetric (trace %g)", trace);
    double a = trace / 2 - m[0] + tiny, b = trace / 2 - m[4] + tiny, c = trace / 2 - m[8] + tiny;
    double d = -m[1], e = -m[2], f = -m[5];
    bool ok = a >= 0 && b >= 0 && c >= 0 && a * b - d * d >= 0 && b * c - f * f >= 0 && a * c - e * e >= 0 &&
              a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e) >= 0;
    if (!ok)
        return BAD(s,
                   "inertia with diagonal (%g, %g, %g) violates the triangle inequality: no moment may exceed the sum "
                   "of the other two",
                   m[0], m[4], m[8]);
    return ST_OK;
}

static bool mat3_is_zero(const st_Mat3 *A)
{
    for (int k = 0; k < 9; k++)
        if (A->m[k] != 0) return false;
    return true;
}

static st_Status check_body(Subject s, st_BodyDef *def)
{
    STI_TRY(check_pose(s, &def->pose));
    STI_TRY(check_finite(s, "velocity", def->velocity));
    STI_TRY(check_finite(s, "angular velocity", def->spin));
    STI_TRY(check_not_negative(s, "mass", def->mass));
    if ((def->locks & ~(uint32_t)ST_LOCK_ALL) != 0) return BAD(s, "locks are 0x%x, an unknown bit", def->locks);
    if (mat3_is_zero(&def->inertia)) return ST_OK;
    if (def->mass == 0 && !def->fixed) return BAD(s, "inertia is given (%g ...) and mass is not", def->inertia.m[0]);
    return check_inertia(s, def);
}

/* Arrays that the type does not use. */
static void drop_unused(st_ShapeDef *def)
{
    if (def->type != ST_SHAPE_HULL && def->type != ST_SHAPE_MESH) def->n_points = 0;
    if (def->type != ST_SHAPE_MESH) def->n_triangles = 0;
    if (def->type != ST_SHAPE_HEIGHT_FIELD) def->n_x = def->n_y = 0;
}

static st_Status check_shape(const st_Scene *scene, Subject s, st_ShapeDef *def)
{
    STI_TRY(check_pose(s, &def->pose));
    STI_TRY(check_not_negative(s, "friction", def->mu));
    STI_TRY(check_restitution(s, def->restitution));
    STI_TRY(check_not_negative(s, "rolling_friction", def->rolling));
    STI_TRY(check_not_negative(s, "spinning_friction", def->spinning));
    STI_TRY(check_not_negative(s, "stiffness", def->stiffness));
    STI_TRY(check_not_negative(s, "damping", def->damping));
    STI_TRY(check_not_negative(s, "young", def->young));
    if (!(def->poisson > -1 && def->poisson < 0.5))
        return BAD(s, "poisson is %g, must be between -1 and 0.5", def->poisson);
    STI_TRY(check_not_negative(s, "density", def->density));
    if (st_shape_type_name(def->type) == NULL) return BAD(s, "type is %d, not a shape", (int)def->type);
    drop_unused(def);
    if (sti_kinds_find(&scene->kinds, def) >= 0) return ST_OK;
    /* Compiled here only to see that it can be: what is wrong is said where it is given. */
    sti_Shape compiled;
    st_Error why = {0};
    st_Status status = sti_shape_compile(def, &scene->allocator, &compiled, &why);
    sti_shape_free(&scene->allocator, &compiled);
    return status == ST_OK ? ST_OK : sti_fail(s.err, status, "%s \"%s\": %s", s.kind, s.name, why.message);
}

/* ---- adding ----------------------------------------------------------------------------------- */

st_Status sti_scene_add_name(st_Scene *scene, sti_ObjectKind kind, int scope, const char *name, const char **stored,
                             st_Error *err)
{
    sti_Names *names = &scene->names[kind];
    STI_TRY(sti_names_add(&scene->allocator, names, sti_kind_name(kind), scope, name, err));
    *stored = names->name[names->n - 1];
    return ST_OK;
}

st_Status st_scene_add_body(st_Scene *scene, const st_BodyDef *def, st_BodyId *out, st_Error *err)
{
    STI_CHECK_DEF(def, "st_body_def", err);
    st_BodyDef body = *def;
    STI_TRY(check_body(subject_of(STI_BODY, def->name, err), &body));
    STI_TRY(STI_GROW(&scene->allocator, scene->body, scene->body_capacity, scene->n_bodies + 1, err));
    STI_TRY(STI_GROW(&scene->allocator, scene->first_shape, scene->first_shape_capacity, scene->n_bodies + 1, err));
    STI_TRY(STI_GROW(&scene->allocator, scene->last_shape, scene->last_shape_capacity, scene->n_bodies + 1, err));
    STI_TRY(sti_scene_add_name(scene, STI_BODY, 0, def->name, &body.name, err));
    scene->body[scene->n_bodies] = body;
    scene->first_shape[scene->n_bodies] = scene->last_shape[scene->n_bodies] = -1;
    if (out != NULL) out->index1 = scene->n_bodies;
    scene->n_bodies++;
    return ST_OK;
}

static bool copy_array(const st_Allocator *allocator, const void *from, int64_t count, size_t size, const void **to)
{
    void *copy = count > 0 ? sti_alloc(allocator, count, size) : NULL;
    if (copy != NULL) memcpy(copy, from, (size_t)count * size);
    *to = copy;
    return count == 0 || copy != NULL;
}

static st_Status own_arrays(const st_Allocator *allocator, st_ShapeDef *shape, st_Error *err)
{
    st_ShapeDef def = *shape;
    bool ok = copy_array(allocator, def.points, shape->n_points, sizeof *def.points, (const void **)&shape->points);
    ok = copy_array(allocator, def.triangles, 3 * (int64_t)shape->n_triangles, sizeof *def.triangles,
                    (const void **)&shape->triangles) &&
         ok;
    ok = copy_array(allocator, def.heights, (int64_t)shape->n_x * shape->n_y, sizeof *def.heights,
                    (const void **)&shape->heights) &&
         ok;
    if (ok) return ST_OK;
    free_arrays(allocator, shape);
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for a shape of %d points", def.n_points);
}

/* The number of the def's kind, new if need be. */
static st_Status kind_of(st_Scene *scene, const st_ShapeDef *def, int *kind, st_Error *err)
{
    st_ShapeDef own = *def;
    *kind = sti_kinds_find(&scene->kinds, def);
    if (*kind >= 0) return ST_OK;
    STI_TRY(sti_kinds_reserve(&scene->allocator, &scene->kinds, err));
    STI_TRY(own_arrays(&scene->allocator, &own, err));
    own.pose = identity;
    *kind = sti_kinds_add(&scene->kinds, &own);
    return ST_OK;
}

st_Status sti_scene_reserve_pose(st_Scene *scene, int count, st_Error *err)
{
    return STI_GROW(&scene->allocator, scene->pose, scene->pose_capacity, scene->n_poses + count, err);
}

void sti_scene_set_shape_pose(st_Scene *scene, int k, const st_Pose *pose)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the same bits are meant */
    if (scene->shape_pose[k] == 0 && memcmp(pose, &identity, sizeof identity) == 0) return;
    if (scene->shape_pose[k] == 0) scene->shape_pose[k] = scene->n_poses++;
    scene->pose[scene->shape_pose[k]] = *pose;
}

void sti_scene_drop_bodies(st_Scene *scene)
{
    STI_RELEASE(&scene->allocator, scene->body, scene->body_capacity);
}

/* Room for what is kept of one more shape. */
static st_Status grow_shapes(st_Scene *scene, st_Error *err)
{
    const st_Allocator *a = &scene->allocator;
    const int n = scene->n_shapes + 1;
    STI_TRY(STI_GROW(a, scene->shape_kind, scene->shape_kind_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->shape_pose, scene->shape_pose_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->shape_body, scene->shape_body_capacity, n, err));
    STI_TRY(STI_GROW(a, scene->next_shape, scene->next_shape_capacity, n, err));
    return sti_scene_reserve_pose(scene, 1, err);
}

st_Status st_scene_add_shape(st_Scene *scene, st_BodyId body, const st_ShapeDef *def, st_ShapeId *out, st_Error *err)
{
    STI_CHECK_DEF(def, "st_sphere_def, st_box_def or another of the shapes", err);
    st_ShapeDef shape = *def;
    Subject s = subject_of(STI_SHAPE, def->name, err);
    STI_TRY(check_body_id(scene, s, "its body", body));
    if (def->material.index1 < 0 || def->material.index1 > scene->n_materials)
        return BAD(s, "material is number %d, there are %d", def->material.index1, scene->n_materials);
    if (def->material.index1 > 0) {
        const st_MaterialDef *material = &scene->material[def->material.index1 - 1];
        shape.mu = material->mu;
        shape.restitution = material->restitution;
        shape.rolling = material->rolling;
        shape.spinning = material->spinning;
    }
    STI_TRY(check_shape(scene, s, &shape));
    int kind;
    STI_TRY(grow_shapes(scene, err));
    STI_TRY(kind_of(scene, &shape, &kind, err)); /* one too many, if the name is refused: no harm */
    STI_TRY(sti_scene_add_name(scene, STI_SHAPE, body.index1, def->name, &shape.name, err));
    scene->shape_kind[scene->n_shapes] = kind;
    scene->shape_pose[scene->n_shapes] = 0;
    sti_scene_set_shape_pose(scene, scene->n_shapes, &shape.pose);
    scene->shape_body[scene->n_shapes] = body.index1;
    scene->next_shape[scene->n_shapes] = -1;
    if (scene->first_shape[body.index1] < 0)
        scene->first_shape[body.index1] = scene->n_shapes;
    else
        scene->next_shape[scene->last_shape[body.index1]] = scene->n_shapes;
    scene->last_shape[body.index1] = scene->n_shapes;
    scene->n_shapes++;
    if (out != NULL) out->index1 = scene->n_shapes;
    return ST_OK;
}

st_Status st_scene_exclude(st_Scene *scene, st_BodyId a, st_BodyId b, st_Error *err)
{
    Subject s = {"excluded pair", "(unnamed)", err};
    STI_TRY(check_body_id(scene, s, "a", a));
    STI_TRY(check_body_id(scene, s, "b", b));
    STI_TRY(STI_GROW(&scene->allocator, scene->excluded, scene->excluded_capacity, scene->n_excluded + 1, err));
    scene->excluded[scene->n_excluded++] = (sti_BodyPair){a.index1, b.index1};
    return ST_OK;
}

/* An object's name, and its own copy of a table: both or neither. */
static st_Status add_name_and_table(st_Scene *scene, sti_ObjectKind kind, const char *name, const char **stored,
                                    st_Profile *profile, st_Error *err)
{
    STI_TRY(sti_scene_add_name(scene, kind, 0, name, stored, err));
    st_Status status = sti_profile_copy(&scene->allocator, profile, err);
    if (status != ST_OK) sti_names_remove_last(&scene->names[kind]);
    return status;
}

st_Status st_scene_add_joint(st_Scene *scene, const st_JointDef *def, st_JointId *out, st_Error *err)
{
    STI_CHECK_DEF(def, "st_joint_def", err);
    st_JointDef joint = *def;
    STI_TRY(sti_check_joint(scene, subject_of(STI_JOINT, def->name, err), &joint));
    STI_TRY(STI_GROW(&scene->allocator, scene->joint, scene->joint_capacity, scene->n_joints + 1, err));
    STI_TRY(add_name_and_table(scene, STI_JOINT, def->name, &joint.name, &joint.motor.profile, err));
    scene->joint[scene->n_joints++] = joint;
    if (out != NULL) out->index1 = scene->n_joints;
    return ST_OK;
}

st_Status st_scene_add_spring(st_Scene *scene, const st_SpringDef *def, st_SpringId *out, st_Error *err)
{
    STI_CHECK_DEF(def, "st_spring_def", err);
    st_SpringDef spring = *def;
    STI_TRY(sti_check_spring(scene, subject_of(STI_SPRING, def->name, err), &spring));
    STI_TRY(STI_GROW(&scene->allocator, scene->spring, scene->spring_capacity, scene->n_springs + 1, err));
    STI_TRY(sti_scene_add_name(scene, STI_SPRING, 0, def->name, &spring.name, err));
    scene->spring[scene->n_springs++] = spring;
    if (out != NULL) out->index1 = scene->n_springs;
    return ST_OK;
}

st_Status st_scene_add_force(st_Scene *scene, const st_ForceDef *def, st_ForceId *out, st_Error *err)
{
    STI_CHECK_DEF(def, "st_force_def", err);
    st_ForceDef force = *def;
    STI_TRY(sti_check_force(scene, subject_of(STI_FORCE, def->name, err), def));
    STI_TRY(STI_GROW(&scene->allocator, scene->force, scene->force_capacity, scene->n_forces + 1, err));
    STI_TRY(add_name_and_table(scene, STI_FORCE, def->name, &force.name, &force.profile, err));
    scene->force[scene->n_forces++] = force;
    if (out != NULL) out->index1 = scene->n_forces;
    return ST_OK;
}

/* As it was given. */
static st_ShapeDef whole_def(const st_Scene *scene, int k)
{
    st_ShapeDef def = *sti_shape_def(scene, k);
    def.pose = *sti_shape_pose(scene, k);
    def.name = sti_shape_name(scene, k);
    return def;
}

static st_Status copy_objects(const st_Scene *scene, st_Scene *copy, st_Error *err)
{
    for (int k = 1; k < scene->n_bodies; k++)
        STI_TRY(st_scene_add_body(copy, &scene->body[k], NULL, err));
    for (int k = 0; k < scene->n_materials; k++)
        STI_TRY(st_scene_add_material(copy, &scene->material[k], NULL, err));
    for (int k = 0; k < scene->n_material_pairs; k++)
        STI_TRY(st_scene_add_material_pair(copy, &scene->material_pair[k], err));
    for (int k = 0; k < scene->n_shapes; k++) {
        const st_ShapeDef shape = whole_def(scene, k);
        STI_TRY(st_scene_add_shape(copy, (st_BodyId){scene->shape_body[k]}, &shape, NULL, err));
    }
    for (int k = 0; k < scene->n_joints; k++)
        STI_TRY(st_scene_add_joint(copy, &scene->joint[k], NULL, err));
    for (int k = 0; k < scene->n_excluded; k++)
        STI_TRY(st_scene_exclude(copy, (st_BodyId){scene->excluded[k].a}, (st_BodyId){scene->excluded[k].b}, err));
    for (int k = 0; k < scene->n_springs; k++)
        STI_TRY(st_scene_add_spring(copy, &scene->spring[k], NULL, err));
    for (int k = 0; k < scene->n_forces; k++)
        STI_TRY(st_scene_add_force(copy, &scene->force[k], NULL, err));
    return ST_OK;
}

st_Status sti_scene_copy(const st_Scene *scene, const st_Allocator *allocator, st_Scene **out, st_Error *err)
{
    STI_TRY(st_scene_create_with(allocator, out, err));
    st_Status status = copy_objects(scene, *out, err);
    if (status != ST_OK) {
        st_scene_destroy(*out);
        *out = NULL;
    }
    return status;
}

st_Status st_scene_copy(const st_Scene *scene, st_Scene **out, st_Error *err)
{
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_copy: scene and out must be given");
    *out = NULL;
    return sti_scene_copy(scene, &scene->allocator, out, err);
}

/* ---- reading back ----------------------------------------------------------------------------- */

int st_scene_body_count(const st_Scene *scene)
{
    return scene->n_bodies - 1;
}

int st_scene_shape_count(const st_Scene *scene)
{
    return scene->n_shapes;
}

int st_scene_joint_count(const st_Scene *scene)
{
    return scene->n_joints;
}

int st_scene_spring_count(const st_Scene *scene)
{
    return scene->n_springs;
}

int st_scene_force_count(const st_Scene *scene)
{
    return scene->n_forces;
}

st_Status st_scene_body(const st_Scene *scene, st_BodyId id, st_BodyDef *out)
{
    if (id.index1 < 0 || id.index1 >= scene->n_bodies) return ST_ERR_ARGUMENT;
    *out = scene->body[id.index1];
    return ST_OK;
}

st_Status st_scene_shape(const st_Scene *scene, st_ShapeId id, st_ShapeDef *out, st_BodyId *body)
{
    if (id.index1 < 1 || id.index1 > scene->n_shapes) return ST_ERR_ARGUMENT;
    *out = whole_def(scene, id.index1 - 1);
    if (body != NULL) body->index1 = scene->shape_body[id.index1 - 1];
    return ST_OK;
}

st_Status st_scene_joint(const st_Scene *scene, st_JointId id, st_JointDef *out)
{
    if (id.index1 < 1 || id.index1 > scene->n_joints) return ST_ERR_ARGUMENT;
    *out = scene->joint[id.index1 - 1];
    return ST_OK;
}

st_Status st_scene_spring(const st_Scene *scene, st_SpringId id, st_SpringDef *out)
{
    if (id.index1 < 1 || id.index1 > scene->n_springs) return ST_ERR_ARGUMENT;
    *out = scene->spring[id.index1 - 1];
    return ST_OK;
}

st_Status st_scene_force(const st_Scene *scene, st_ForceId id, st_ForceDef *out)
{
    if (id.index1 < 1 || id.index1 > scene->n_forces) return ST_ERR_ARGUMENT;
    *out = scene->force[id.index1 - 1];
    return ST_OK;
}

sti_Label sti_shape_label(const st_Scene *scene, int shape)
{
    sti_Label label;
    int body = scene->shape_body[shape];
    if (body == 0)
        snprintf(label.text, sizeof label.text, "\"%s\" of the ground", sti_shape_name(scene, shape));
    else
        snprintf(label.text, sizeof label.text, "\"%s\" of body \"%s\"", sti_shape_name(scene, shape),
                 scene->names[STI_BODY].name[body]);
    return label;
}

st_BodyId st_scene_find_body(const st_Scene *scene, const char *name)
{
    int index = sti_names_find(&scene->names[STI_BODY], 0, name);
    return (st_BodyId){index > 0 ? index : 0};
}

st_JointId st_scene_find_joint(const st_Scene *scene, const char *name)
{
    return (st_JointId){sti_names_find(&scene->names[STI_JOINT], 0, name) + 1};
}
