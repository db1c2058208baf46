/* model/defs.c -- the default values of every def, and the words for types in scenes. */
#include "collide/shape.h"
#include "math/quat.h"
#include "model/scene.h"

/* ---- defaults --------------------------------------------------------------------------------- */

st_BodyDef st_body_def(void)
{
    return (st_BodyDef){.pose = pose_identity(), .gravity = 1, .medium = 1, .cookie = STI_COOKIE};
}

st_ShapeDef st_shape_def(st_ShapeType type)
{
    const sti_ShapeDescriptor *of = sti_shape_descriptor(type);
    return (st_ShapeDef){.type = type,
                         .pose = pose_identity(),
                         .density = of != NULL ? of->density : 0,
                         .mu = 0.5,
                         .poisson = 0.3,
                         .groups = 1,
                         .mask = UINT32_MAX,
                         .cookie = STI_COOKIE};
}

st_ShapeDef st_point_def(void)
{
    return st_shape_def(ST_SHAPE_POINT);
}

st_ShapeDef st_bar_def(double length)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_BAR);
    def.length = length;
    return def;
}

st_ShapeDef st_sphere_def(double radius)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_SPHERE);
    def.radius = radius;
    return def;
}

st_ShapeDef st_box_def(double half_x, double half_y, double half_z)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_BOX);
    def.half = vec3(half_x, half_y, half_z);
    return def;
}

st_ShapeDef st_plane_def(void)
{
    return st_shape_def(ST_SHAPE_PLANE);
}

static st_ShapeDef round_def(st_ShapeType type, double radius, double length)
{
    st_ShapeDef def = st_shape_def(type);
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
    st_ShapeDef def = st_shape_def(ST_SHAPE_ELLIPSOID);
    def.half = vec3(a, b, c);
    return def;
}

st_ShapeDef st_hull_def(const st_Vec3 *points, int n_points)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_HULL);
    def.points = points;
    def.n_points = n_points;
    return def;
}

st_ShapeDef st_mesh_def(const st_Vec3 *points, int n_points, const int *triangles, int n_triangles)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_MESH);
    def.points = points;
    def.n_points = n_points;
    def.triangles = triangles;
    def.n_triangles = n_triangles;
    return def;
}

st_ShapeDef st_height_field_def(const double *heights, int n_x, int n_y, double spacing)
{
    st_ShapeDef def = st_shape_def(ST_SHAPE_HEIGHT_FIELD);
    def.heights = heights;
    def.n_x = n_x;
    def.n_y = n_y;
    def.spacing = spacing;
    return def;
}

st_JointDef st_joint_def(st_JointType type)
{
    return (st_JointDef){
        .type = type,
        .axis = {0, 0, 1},
        .axis_b = {type == ST_JOINT_BALL ? 0 : 1, 0, 0},
        .ratio = 1.0,
        .lower = -INFINITY,
        .upper = INFINITY,
        .other_lower = -INFINITY,
        .other_upper = INFINITY,
        .rest = NAN,
        .motor = {.max_force = INFINITY, .lowest = -INFINITY, .highest = INFINITY, .profile = {.frequency = 1.0}},
        .cookie = STI_COOKIE};
}

st_SpringDef st_spring_def(st_SpringType type)
{
    return (st_SpringDef){.type = type, .axis = {0, 0, 1}, .rest = NAN, .frame = {1, 0, 0, 0}, .cookie = STI_COOKIE};
}

st_ForceDef st_force_def(void)
{
    return (st_ForceDef){.orientation = {1, 0, 0, 0},
                         .blunt_drag = 0.5,
                         .slender_drag = 0.25,
                         .angular_drag = 1.5,
                         .kutta_lift = 1,
                         .magnus_lift = 1,
                         .profile = {.frequency = 1.0},
                         .cookie = STI_COOKIE};
}

static st_Quat quat_from_axis(st_Vec3 axis, st_Vec3 direction)
{
    double length = norm(direction);
    return length > 0 && isfinite(length) ? quat_between(axis, scale(1.0 / length, direction)) : pose_identity().q;
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

const char *st_joint_type_name(st_JointType type)
{
    static const char *const words[] = {"fixed",       "ball",      "revolute", "prismatic",     "distance",
                                        "cylindrical", "universal", "planar",   "point-on-line", "screw",
                                        "gear",        "free",      "tendon"};
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
    static const char *const words[] = {"default", "angle", "displacement", "distance",
                                        "angle_b", "swing", "twist",        "length"};
    return word(words, ST_N_COORDINATES, (int)coordinate);
}

const char *st_tendon_kind_name(st_TendonKind kind)
{
    static const char *const words[] = {"point", "sphere", "cylinder", "pulley", "joint", "slider"};
    return word(words, ST_N_TENDON_KINDS, (int)kind);
}

const char *st_motor_type_name(st_MotorType type)
{
    static const char *const words[] = {"none", "speed", "position", "motion", "force"};
    return word(words, ST_N_MOTOR_TYPES, (int)type);
}

const char *sti_kind_name(sti_ObjectKind kind)
{
    static const char *const words[STI_N_KINDS] = {"body", "shape", "joint", "spring", "force", "material"};
    return words[kind];
}
