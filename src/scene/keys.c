/* scene/keys.c -- what scene files may say: one table a kind of object. */
#include "scene/reader.h"

#define BIT(variant)   (1u << (variant))
#define FIELD(def, of) offsetof(st_##def##Def, of)
#define COUNT(table)   ((int)(sizeof(table) / sizeof(table)[0]))

/* Rows: key, value, variants, needed in, range, field, unit, help [, when left out [, kind of members]]. */

/* ---- shapes ----------------------------------------------------------------------------------- */

#define POINT     BIT(ST_SHAPE_POINT)
#define BAR       BIT(ST_SHAPE_BAR)
#define SPHERE    BIT(ST_SHAPE_SPHERE)
#define BOX       BIT(ST_SHAPE_BOX)
#define PLANE     BIT(ST_SHAPE_PLANE)
#define CAPSULE   BIT(ST_SHAPE_CAPSULE)
#define CYLINDER  BIT(ST_SHAPE_CYLINDER)
#define CONE      BIT(ST_SHAPE_CONE)
#define ELLIPSOID BIT(ST_SHAPE_ELLIPSOID)
#define HULL      BIT(ST_SHAPE_HULL)
#define MESH      BIT(ST_SHAPE_MESH)
#define HEIGHTS   BIT(ST_SHAPE_HEIGHT_FIELD)
#define ROUND     (CAPSULE | CYLINDER | CONE)

static const sti_Key shape_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Shape, type), "", "the shape", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Shape, name), "", "unique among the shapes of its body",
     "shape1, shape2, ...", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, pose.p), "m", "of its middle, in the body",
     NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, ~(POINT | SPHERE), 0, STI_FINITE, FIELD(Shape, pose.q), "", "in the body", NULL,
     NULL},
    {"direction", STI_VALUE_ALONG, BAR, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "the bar's, in the body, any length; in place of orientation", "the body's x axis", NULL},
    {"normal", STI_VALUE_NORMAL, PLANE, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "out of the solid, in the body, any length; in place of orientation", "the body's z axis", NULL},
    {"axis", STI_VALUE_NORMAL, ROUND, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "of the shape, in the body, any length; a cone's towards its apex; in place of orientation", "the body's z axis",
     NULL},
    {"radius", STI_VALUE_NUMBER, SPHERE | ROUND, SPHERE | ROUND, STI_POSITIVE, FIELD(Shape, radius), "m", "", NULL,
     NULL},
    {"length", STI_VALUE_NUMBER, BAR, BAR, STI_POSITIVE, FIELD(Shape, length), "m", "from end to end", NULL, NULL},
    {"length", STI_VALUE_NUMBER, CAPSULE, CAPSULE, STI_POSITIVE, FIELD(Shape, length), "m",
     "between the centres of its two half balls", NULL, NULL},
    {"length", STI_VALUE_NUMBER, CYLINDER | CONE, CYLINDER | CONE, STI_POSITIVE, FIELD(Shape, length), "m",
     "along the axis; a cone's base is at -1/4 of it, so that its middle is its centre of mass", NULL, NULL},
    {"points", STI_VALUE_POINTS, HULL | MESH, 0, STI_FINITE, 0, "m", "in the shape's axes; or give a file", "none",
     NULL},
    {"triangles", STI_VALUE_TRIANGLES, MESH, 0, STI_FINITE, 0, "",
     "numbers of points from 0, counter-clockwise from outside; closed: solid, else a sheet touched on both sides",
     "none", NULL},
    {"file", STI_VALUE_FILE, HULL | MESH, 0, STI_FINITE, 0, "",
     "an OBJ or STL file, relative to the scene, in place of points and triangles", "none", NULL},
    {"scale", STI_VALUE_SCALE, HULL | MESH, 0, STI_POSITIVE, 0, "",
     "points are multiplied by it: one number > 0, or three for x, y, z, where a negative one mirrors", "1", NULL},
    {"heights", STI_VALUE_HEIGHTS, HEIGHTS, HEIGHTS, STI_FINITE, 0, "m",
     "rows along x, one after another along y; the grid's middle is the shape's. Solid below, down to the longer side "
     "of "
     "the grid under its lowest sample",
     NULL, NULL},
    {"spacing", STI_VALUE_NUMBER, HEIGHTS, HEIGHTS, STI_POSITIVE, FIELD(Shape, spacing), "m", "between samples", NULL,
     NULL},
    {"size", STI_VALUE_EXTENTS, BOX | ELLIPSOID, BOX | ELLIPSOID, STI_POSITIVE, FIELD(Shape, half), "m",
     "full extents along the shape's x, y, z", NULL, NULL},
    {"density", STI_VALUE_NUMBER, SPHERE | BOX | ROUND | ELLIPSOID | HULL | MESH, 0, STI_NOT_NEGATIVE,
     FIELD(Shape, density), "kg/m^3", "used where the body's mass is left out; must agree with it where both are given",
     NULL, NULL},
    {"density", STI_VALUE_NUMBER, BAR, 0, STI_NOT_NEGATIVE, FIELD(Shape, density), "kg/m",
     "used where the body's mass is left out", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, mu), "",
     "Coulomb's mu; two shapes in contact have the geometric mean of theirs", NULL, NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(Shape, restitution), "",
     "of impacts, 0 to 1; two shapes in contact have the larger of theirs", NULL, NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, rolling), "m",
     "rolling torque over normal force (laws coulomb, cone); two shapes in contact have the larger of theirs", NULL,
     NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, spinning), "m",
     "torque about the normal over normal force (laws coulomb, cone); two shapes in contact have the larger of theirs",
     NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, stiffness), "N/m",
     "contact regularized: of the normal spring, in series with the other shape's; left out: the simulation's", NULL,
     NULL},
    {"damping", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, damping), "N s/m",
     "contact regularized: of the tangential damper, likewise", NULL, NULL},
    {"young", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, young), "Pa",
     "contact compliant: Young's modulus; left out: rigid", NULL, NULL},
    {"poisson", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Shape, poisson), "",
     "contact compliant: Poisson's ratio, between -1 and 0.5; left out: 0.3", NULL, NULL},
    {"material", STI_VALUE_MATERIAL, STI_ANY, 0, STI_FINITE, FIELD(Shape, material), "",
     "one of `materials`; in place of friction, restitution, rolling and spinning friction", "none", NULL},
    {"groups", STI_VALUE_BITS, STI_ANY, 0, STI_FINITE, FIELD(Shape, groups), "",
     "what it is; two shapes touch where each one's `touches` has a group of the other", "[0]", NULL},
    {"touches", STI_VALUE_BITS, STI_ANY, 0, STI_FINITE, FIELD(Shape, mask), "", "groups that it touches", "all", NULL},
};

static const char *shape_word(int variant)
{
    return st_shape_type_name((st_ShapeType)variant);
}

static void shape_defaults(int variant, sti_Def *def)
{
    switch ((st_ShapeType)variant) {
    case ST_SHAPE_POINT:
        def->shape = st_point_def();
        break;
    case ST_SHAPE_BAR:
        def->shape = st_bar_def(1.0);
        break;
    case ST_SHAPE_SPHERE:
        def->shape = st_sphere_def(1.0);
        break;
    case ST_SHAPE_BOX:
        def->shape = st_box_def(0.5, 0.5, 0.5);
        break;
    case ST_SHAPE_PLANE:
        def->shape = st_plane_def();
        break;
    case ST_SHAPE_CAPSULE:
        def->shape = st_capsule_def(0.5, 1.0);
        break;
    case ST_SHAPE_CYLINDER:
        def->shape = st_cylinder_def(0.5, 1.0);
        break;
    case ST_SHAPE_CONE:
        def->shape = st_cone_def(0.5, 1.0);
        break;
    case ST_SHAPE_ELLIPSOID:
        def->shape = st_ellipsoid_def(0.5, 0.5, 0.5);
        break;
    case ST_SHAPE_HULL:
        def->shape = st_hull_def(NULL, 0);
        break;
    case ST_SHAPE_MESH:
        def->shape = st_mesh_def(NULL, 0, NULL, 0);
        break;
    case ST_SHAPE_HEIGHT_FIELD:
        def->shape = st_height_field_def(NULL, 0, 0, 1.0);
        break;
    }
}

const sti_Kind sti_shape_kind = {
    "shape",        "Shapes",          "What touches: members of a body's `shapes`, and of `ground`.",
    shape_keys,     COUNT(shape_keys), shape_word,
    shape_defaults,
};

/* ---- bodies ----------------------------------------------------------------------------------- */

static const sti_Key body_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Body, name), "", "unique among bodies; `ground` is taken",
     "body1, body2, ...", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, pose.p), "m",
     "of the centre of mass, in the world", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, FIELD(Body, pose.q), "", "body to world", NULL, NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, velocity), "m/s",
     "of the centre of mass, world axes", NULL, NULL},
    {"angular_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Body, spin), "rad/s", "body axes", NULL, NULL},
    {"mass", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Body, mass), "kg", "",
     "from the shapes and their densities", NULL},
    {"inertia", STI_VALUE_INERTIA, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Body, inertia), "kg m^2",
     "about the centre of mass, body axes: one number for all three axes, [Ixx, Iyy, Izz], or three rows",
     "from the shapes", NULL},
    {"locks", STI_VALUE_LOCKS, STI_ANY, 0, STI_FINITE, FIELD(Body, locks), "",
     "degrees of freedom taken out: translations along world axes (x, y, z), rotations about body axes (rx, ry, rz), "
     "or several at once (rotation, planar-xy, ...)",
     NULL, NULL},
    {"fixed", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FIELD(Body, fixed), "",
     "does not move, as if it were part of the ground", NULL, NULL},
    {"recentre", STI_VALUE_FLAG, STI_ANY, 0, STI_FINITE, 0, "",
     "shapes are given in a frame of their own at `position`; the body's frame is moved from there to their common "
     "centre of mass, which is then what `position` means in results",
     "false", NULL},
    {"shapes", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "what touches; a body may have none", "none",
     &sti_shape_kind},
};

static void body_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->body = st_body_def();
}

const sti_Kind sti_body_kind = {
    "body", "Bodies", "The rigid bodies.", body_keys, COUNT(body_keys), NULL, body_defaults,
};

static const struct {
    const char *word;
    uint32_t locks;
} lock_words[] = {
    {"x", ST_LOCK_X},
    {"y", ST_LOCK_Y},
    {"z", ST_LOCK_Z},
    {"rx", ST_LOCK_RX},
    {"ry", ST_LOCK_RY},
    {"rz", ST_LOCK_RZ},
    {"rotation", ST_LOCK_ROTATION},
    {"planar-xy", ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY}, /* moves in the plane, turns about its normal */
    {"planar-xz", ST_LOCK_Y | ST_LOCK_RX | ST_LOCK_RZ},
    {"planar-yz", ST_LOCK_X | ST_LOCK_RY | ST_LOCK_RZ},
};

const char *sti_lock_word(int index, uint32_t *locks)
{
    if (index < 0 || index >= COUNT(lock_words)) return NULL;
    if (locks != NULL) *locks = lock_words[index].locks;
    return lock_words[index].word;
}

/* ---- joints ----------------------------------------------------------------------------------- */

#define FIXED       BIT(ST_JOINT_FIXED)
#define BALL        BIT(ST_JOINT_BALL)
#define REVOLUTE    BIT(ST_JOINT_REVOLUTE)
#define PRISMATIC   BIT(ST_JOINT_PRISMATIC)
#define DISTANCE    BIT(ST_JOINT_DISTANCE)
#define CYLINDRICAL BIT(ST_JOINT_CYLINDRICAL)
#define UNIVERSAL   BIT(ST_JOINT_UNIVERSAL)
#define PLANAR      BIT(ST_JOINT_PLANAR)
#define LINE        BIT(ST_JOINT_POINT_ON_LINE)
#define SCREW       BIT(ST_JOINT_SCREW)
#define GEAR        BIT(ST_JOINT_GEAR)
#define FREE        BIT(ST_JOINT_FREE)
/* What has a place, a common point that matters, an axis, a coordinate. */
#define BETWEEN (STI_ANY & ~GEAR)
#define AT      (BALL | REVOLUTE | CYLINDRICAL | UNIVERSAL | LINE | SCREW)
#define AXIS    (REVOLUTE | PRISMATIC | CYLINDRICAL | UNIVERSAL | PLANAR | LINE | SCREW)
#define DRIVEN  (REVOLUTE | PRISMATIC | CYLINDRICAL | PLANAR | LINE | SCREW | FREE | UNIVERSAL | BALL)
#define TWO     (CYLINDRICAL | SCREW | UNIVERSAL | BALL) /* coordinates */

static const char *coordinate_word(int variant)
{
    return st_coordinate_name((st_Coordinate)variant);
}

static const sti_Kind coordinate_words = {.variant_name = coordinate_word};

static const sti_Key joint_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Joint, type), "",
     "what it allows; a gear couples two other joints, `free` holds nothing (a rope, an actuator)", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Joint, name), "", "unique among joints",
     "joint1, joint2, ...", NULL},
    {"a", STI_VALUE_BODY, BETWEEN, 0, STI_FINITE, FIELD(Joint, a), "", "the one body", "the ground", NULL},
    {"b", STI_VALUE_BODY, BETWEEN, 0, STI_FINITE, FIELD(Joint, b), "", "the other body", "the ground", NULL},
    {"point", STI_VALUE_VECTOR, AT, AT, STI_FINITE, FIELD(Joint, point), "m",
     "common to both bodies, in the world at the start", NULL, NULL},
    {"point", STI_VALUE_VECTOR, FIXED | PRISMATIC | PLANAR, 0, STI_FINITE, FIELD(Joint, point), "m",
     "in the world at the start; where the reaction is taken", "the position of a, or of b where a is the ground",
     NULL},
    {"point", STI_VALUE_VECTOR, DISTANCE | FREE, 0, STI_FINITE, FIELD(Joint, point), "m",
     "of a, in the world at the start", "the position of a; needed where a is the ground", NULL},
    {"point_b", STI_VALUE_VECTOR, DISTANCE | FREE, 0, STI_FINITE, FIELD(Joint, point_b), "m",
     "of b, in the world at the start", "the position of b; needed where b is the ground", NULL},
    {"axis", STI_VALUE_DIRECTION, AXIS, AXIS, STI_FINITE, FIELD(Joint, axis), "",
     "in the world at the start, any length; fixed in a", NULL, NULL},
    {"axis", STI_VALUE_DIRECTION, FREE, 0, STI_FINITE, FIELD(Joint, axis), "",
     "of its angle or displacement, in the world at the start, any length; fixed in a", "[0, 0, 1]", NULL},
    {"axis", STI_VALUE_DIRECTION, BALL, 0, STI_FINITE, FIELD(Joint, axis), "",
     "of the cone of its swing, in the world at the start, any length; fixed in a", "[0, 0, 1]", NULL},
    {"axis_b", STI_VALUE_DIRECTION, BALL, 0, STI_FINITE, FIELD(Joint, axis_b), "",
     "the axis fixed in b that stays in the cone, and about which it twists", "axis", NULL},
    {"axis_b", STI_VALUE_DIRECTION, UNIVERSAL, UNIVERSAL, STI_FINITE, FIELD(Joint, axis_b), "",
     "the other axis of the cross, fixed in b: orthogonal to axis, any length", NULL, NULL},
    {"length", STI_VALUE_NUMBER, DISTANCE, 0, STI_POSITIVE, FIELD(Joint, length), "m", "the distance kept",
     "as it is at the start", NULL},
    {"pitch", STI_VALUE_NUMBER, SCREW, SCREW, STI_FINITE, FIELD(Joint, pitch), "m",
     "displacement of b a turn; negative: a left-hand thread", NULL, NULL},
    {"joint_a", STI_VALUE_JOINT, GEAR, GEAR, STI_FINITE, FIELD(Joint, joint_a), "",
     "a joint with a coordinate, listed before", NULL, NULL},
    {"joint_b", STI_VALUE_JOINT, GEAR, GEAR, STI_FINITE, FIELD(Joint, joint_b), "", "another one", NULL, NULL},
    {"ratio", STI_VALUE_NUMBER, GEAR, GEAR, STI_FINITE, FIELD(Joint, ratio), "rad or m, per rad or m",
     "coordinate of joint_a = ratio times that of joint_b, both from the start", NULL, NULL},
    {"coordinate", STI_VALUE_CHOICE, DRIVEN, 0, STI_FINITE, FIELD(Joint, coordinate), "",
     "what limits, friction, spring, motor and gears act on: the angle of b against a about the axis (with whole "
     "turns), the displacement of b's point along it, the distance between the points (`free`); `universal`: the angle "
     "about axis, or angle_b about axis_b; `ball`: the swing of axis_b from axis, limits only, or the twist about it",
     "the distance (`free`), the swing (`ball`), else the angle where there is one, else the displacement",
     &coordinate_words},
    {"lower", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, lower), "rad or m",
     "lower limit; angles and displacements are 0 at the start", "none", NULL},
    {"upper", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, upper), "rad or m",
     "upper limit; of a swing: the half angle of its cone, at most pi", "none", NULL},
    {"other_lower", STI_VALUE_NUMBER, TWO, 0, STI_FINITE, FIELD(Joint, other_lower), "rad or m",
     "lower limit of the other coordinate: angle_b, twist or displacement, or the one that `coordinate` left", "none",
     NULL},
    {"other_upper", STI_VALUE_NUMBER, TWO, 0, STI_FINITE, FIELD(Joint, other_upper), "rad or m", "upper limit of it",
     "none", NULL},
    {"restitution", STI_VALUE_NUMBER, DRIVEN, 0, STI_FRACTION, FIELD(Joint, restitution), "",
     "of impacts on its limits, 0 to 1", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, friction), "N m or N",
     "largest torque or force of dry friction", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, stiffness), "N m/rad or N/m",
     "of a spring in the joint", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, damping), "N m s/rad or N s/m",
     "of a damper in the joint", NULL, NULL},
    {"rest", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, rest), "rad or m", "where the spring has no force",
     "as it is at the start", NULL},
    {"motor", STI_VALUE_MOTOR, DRIVEN, 0, STI_FINITE, FIELD(Joint, motor), "", "what drives it", "none",
     &sti_motor_kind},
    {"collide", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FIELD(Joint, collide), "",
     "do shapes of the two bodies touch? Those of the ground always do", NULL, NULL},
};

static const char *joint_word(int variant)
{
    return st_joint_type_name((st_JointType)variant);
}

static void joint_defaults(int variant, sti_Def *def)
{
    def->joint = st_joint_def((st_JointType)variant);
}

const sti_Kind sti_joint_kind = {
    "joint",
    "Joints",
    "Between two bodies, or a body and the ground, described as the bodies stand at the start.",
    joint_keys,
    COUNT(joint_keys),
    joint_word,
    joint_defaults,
};

/* ---- motors ----------------------------------------------------------------------------------- */

#define MOTOR(of) offsetof(st_MotorDef, of)
#define MOVES     (LIMITED | BIT(ST_MOTOR_MOTION))
#define LIMITED   (BIT(ST_MOTOR_SPEED) | BIT(ST_MOTOR_POSITION) | BIT(ST_MOTOR_FORCE))
#define POSITION  BIT(ST_MOTOR_POSITION)

static const char *profile_word(int variant)
{
    return st_profile_type_name((st_ProfileType)variant);
}

static const sti_Kind profile_words = {.variant_name = profile_word};

static const sti_Key motor_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, MOTOR(type), "",
     "holds a speed, holds a position by a spring and damper, prescribes the position exactly, or is a force itself",
     NULL, NULL},
    {"target", STI_VALUE_NUMBER, MOVES, MOVES, STI_FINITE, MOTOR(target), "rad/s, m/s, rad, m, N m or N",
     "what is wanted is offset + target times the profile", NULL, NULL},
    {"offset", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(offset), "rad/s, m/s, rad, m, N m or N", "", NULL, NULL},
    {"max_force", STI_VALUE_NUMBER, LIMITED, 0, STI_POSITIVE, MOTOR(max_force), "N m or N",
     "largest torque or force, either way", "no limit", NULL},
    {"stiffness", STI_VALUE_NUMBER, POSITION, POSITION, STI_POSITIVE, MOTOR(stiffness), "N m/rad or N/m", "", NULL,
     NULL},
    {"damping", STI_VALUE_NUMBER, POSITION, 0, STI_NOT_NEGATIVE, MOTOR(damping), "N m s/rad or N s/m", "", NULL, NULL},
    {"profile", STI_VALUE_CHOICE, MOVES, 0, STI_FINITE, MOTOR(profile.type), "",
     "in time: 1, cos(frequency t + phase), a table, or t itself", NULL, &profile_words},
    {"frequency", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(profile.frequency), "rad/s", "of a harmonic profile",
     NULL, NULL},
    {"phase", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(profile.phase), "rad", "of a harmonic profile", NULL, NULL},
    {"table", STI_VALUE_TABLE, MOVES, 0, STI_FINITE, MOTOR(profile), "s, 1",
     "of a table profile: [[time, value], ...], times increasing; linear between, held before and after", "none", NULL},
};

static const char *motor_word(int variant)
{
    return st_motor_type_name((st_MotorType)variant);
}

static void motor_defaults(int variant, sti_Def *def)
{
    def->motor = st_joint_def(ST_JOINT_REVOLUTE).motor;
    def->motor.type = (st_MotorType)variant;
}

const sti_Kind sti_motor_kind = {
    "motor",    "Motors",       "A joint's `motor`: what drives its coordinate.", motor_keys, COUNT(motor_keys),
    motor_word, motor_defaults,
};

/* ---- springs ---------------------------------------------------------------------------------- */

#define LINEAR  BIT(ST_SPRING_LINEAR)
#define ANGULAR BIT(ST_SPRING_ANGULAR)
#define BUSHING BIT(ST_SPRING_BUSHING)

static const sti_Key spring_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, 0, STI_FINITE, FIELD(Spring, type), "",
     "between two points, about an axis, or in all six directions", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Spring, name), "", "unique among springs",
     "spring1, spring2, ...", NULL},
    {"a", STI_VALUE_BODY, STI_ANY, 0, STI_FINITE, FIELD(Spring, a), "", "the one body", "the ground", NULL},
    {"b", STI_VALUE_BODY, STI_ANY, 0, STI_FINITE, FIELD(Spring, b), "", "the other body", "the ground", NULL},
    {"point_a", STI_VALUE_VECTOR, LINEAR, 0, STI_FINITE, FIELD(Spring, point_a), "m", "of a, in the world at the start",
     "the position of a; needed where a is the ground", NULL},
    {"point_b", STI_VALUE_VECTOR, LINEAR, 0, STI_FINITE, FIELD(Spring, point_b), "m", "of b, in the world at the start",
     "the position of b; needed where b is the ground", NULL},
    {"axis", STI_VALUE_DIRECTION, ANGULAR, ANGULAR, STI_FINITE, FIELD(Spring, axis), "",
     "the sense in which b turns against a, in the world at the start, any length", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness), "N/m",
     "stiffness and damping may not both be 0", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, ANGULAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness), "N m/rad",
     "stiffness and damping may not both be 0", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping), "N s/m", "", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, ANGULAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping), "N m s/rad", "", NULL, NULL},
    {"rest", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, rest), "m",
     "length without force; with 0 it acts and damps in all three directions", "the length at the start", NULL},
    {"rest", STI_VALUE_NUMBER, ANGULAR, 0, STI_FINITE, FIELD(Spring, rest), "rad",
     "angle without torque, counted from the start", "0", NULL},
    {"point", STI_VALUE_VECTOR, BUSHING, 0, STI_FINITE, FIELD(Spring, point_a), "m",
     "common to both bodies, in the world at the start, where the bushing is at rest",
     "the position of a, or of b where a is the ground", NULL},
    {"frame", STI_VALUE_ROTATION, BUSHING, 0, STI_FINITE, FIELD(Spring, frame), "",
     "the bushing's x, y, z, in the world at the start; fixed in a", NULL, NULL},
    {"stiffness", STI_VALUE_VECTOR, BUSHING, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness_along), "N/m",
     "along the bushing's x, y, z", NULL, NULL},
    {"damping", STI_VALUE_VECTOR, BUSHING, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping_along), "N s/m",
     "along the bushing's x, y, z", NULL, NULL},
    {"angular_stiffness", STI_VALUE_VECTOR, BUSHING, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness_about), "N m/rad",
     "about the bushing's x, y, z", NULL, NULL},
    {"angular_damping", STI_VALUE_VECTOR, BUSHING, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping_about), "N m s/rad",
     "about the bushing's x, y, z", NULL, NULL},
};

static const char *spring_word(int variant)
{
    return st_spring_type_name((st_SpringType)variant);
}

static void spring_defaults(int variant, sti_Def *def)
{
    def->spring = st_spring_def((st_SpringType)variant);
}

const sti_Kind sti_spring_kind = {
    "spring",
    "Springs and dampers",
    "A spring and a damper in parallel between two bodies, or a body and the ground; a stiffness of 0 makes it a "
    "damper, a damping of 0 a spring.",
    spring_keys,
    COUNT(spring_keys),
    spring_word,
    spring_defaults,
};

/* ---- forces ----------------------------------------------------------------------------------- */

#define HARMONIC BIT(ST_PROFILE_HARMONIC)
#define TABLE    BIT(ST_PROFILE_TABLE)

static const sti_Key force_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Force, name), "", "unique among forces",
     "force1, force2, ...", NULL},
    {"body", STI_VALUE_BODY, STI_ANY, STI_ANY, STI_FINITE, FIELD(Force, body), "", "the body it acts on", NULL, NULL},
    {"point", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, point), "m", "where it acts, in the body", NULL,
     NULL},
    {"force", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, force), "N", "times the profile", NULL, NULL},
    {"torque", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, torque), "N m", "times the profile", NULL, NULL},
    {"axes", STI_VALUE_AXES, STI_ANY, 0, STI_FINITE, FIELD(Force, body_axes), "",
     "of force and torque: those of the world, or of the body, turning with it", NULL, NULL},
    {"profile", STI_VALUE_VARIANT, STI_ANY, 0, STI_FINITE, FIELD(Force, profile.type), "",
     "in time: 1, cos(frequency t + phase), a table, or t itself", NULL, NULL},
    {"frequency", STI_VALUE_NUMBER, HARMONIC, HARMONIC, STI_FINITE, FIELD(Force, profile.frequency), "rad/s", "", NULL,
     NULL},
    {"phase", STI_VALUE_NUMBER, HARMONIC, 0, STI_FINITE, FIELD(Force, profile.phase), "rad", "", NULL, NULL},
    {"table", STI_VALUE_TABLE, TABLE, TABLE, STI_FINITE, FIELD(Force, profile), "s, 1",
     "[[time, value], ...], times increasing; linear between, held before and after", NULL, NULL},
};

static void force_defaults(int variant, sti_Def *def)
{
    def->force = st_force_def();
    def->force.profile.type = (st_ProfileType)variant;
}

const sti_Kind sti_force_kind = {
    "force",        "Forces",          "A force at a point of a body and a torque on it, both times a profile in time.",
    force_keys,     COUNT(force_keys), profile_word,
    force_defaults,
};

/* ---- materials -------------------------------------------------------------------------------- */

static const sti_Key material_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, STI_ANY, STI_FINITE, FIELD(Material, name), "", "unique among materials", NULL,
     NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, mu), "", "Coulomb's mu", NULL, NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(Material, restitution), "", "of impacts, 0 to 1",
     NULL, NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, rolling), "m",
     "rolling torque over normal force", NULL, NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, spinning), "m",
     "torque about the normal over normal force", NULL, NULL},
};

static void material_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->material = st_material_def();
}

const sti_Kind sti_material_kind = {
    "material",
    "Materials",
    "What shapes are made of. Two in contact have the geometric mean of their frictions and the larger of their "
    "restitutions, rolling and spinning frictions, unless `material_pairs` says otherwise.",
    material_keys,
    COUNT(material_keys),
    NULL,
    material_defaults,
};

static const sti_Key material_pair_keys[] = {
    {"a", STI_VALUE_MATERIAL, STI_ANY, STI_ANY, STI_FINITE, FIELD(MaterialPair, a), "", "the one material", NULL, NULL},
    {"b", STI_VALUE_MATERIAL, STI_ANY, STI_ANY, STI_FINITE, FIELD(MaterialPair, b), "",
     "the other, or the same one again", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, mu), "",
     "Coulomb's mu between them; one of the four must be said", "the geometric mean of theirs", NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(MaterialPair, restitution), "",
     "of impacts between them, 0 to 1", "the larger of theirs", NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, rolling), "m",
     "rolling torque over normal force between them", "the larger of theirs", NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, spinning), "m",
     "torque about the normal over normal force between them", "the larger of theirs", NULL},
};

static void material_pair_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->material_pair = st_material_pair_def();
}

const sti_Kind sti_material_pair_kind = {
    "material_pair",        "Pairs of materials",      "What two materials do together, in place of the combine rule.",
    material_pair_keys,     COUNT(material_pair_keys), NULL,
    material_pair_defaults,
};

/* ---- robots ----------------------------------------------------------------------------------- */

static const char *mesh_word(int variant)
{
    return variant == STI_MESH_HULL ? "hull" : variant == STI_MESH_MESH ? "mesh" : NULL;
}

static const sti_Kind mesh_words = {.variant_name = mesh_word};

#define ROBOT(of) offsetof(sti_RobotDef, of)

static const sti_Key robot_keys[] = {
    {"file", STI_VALUE_NAME, STI_ANY, STI_ANY, STI_FINITE, ROBOT(file), "",
     "a URDF or MJCF file, relative to the scene; see robots.md", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, ROBOT(name), "",
     "stands, with a dot, before the names of its bodies, joints and forces: `a.hand`", "names as they are in the file",
     NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, ROBOT(position), "m", "of its root frame, in the world",
     NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, ROBOT(orientation), "", "likewise", NULL, NULL},
    {"fixed", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(fixed), "", "URDF: does its root link stand still?",
     "true where it is called world or has no mass, else false", NULL},
    {"positions", STI_VALUE_POSITIONS, STI_ANY, 0, STI_FINITE, 0, "rad or m",
     "where joints stand at the start, by their names in the file: {\"knee\": 0.5}",
     "0 (MJCF: ref), or the nearest limit where that is outside", NULL},
    {"motor", STI_VALUE_MOTOR, STI_ANY, 0, STI_FINITE, ROBOT(motor), "",
     "for every joint with limits of effort or actuators, in place of what the file says; targets count from the start",
     "none that pushes", &sti_motor_kind},
    {"material", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, ROBOT(material), "", "one of `materials`, for all its shapes",
     "the file's friction, or that of shapes", NULL},
    {"meshes", STI_VALUE_CHOICE, STI_ANY, 0, STI_FINITE, ROBOT(meshes), "",
     "mesh files touch as their convex hull, or as the mesh itself", NULL, &mesh_words},
    {"self_collision", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(self_collision), "",
     "do its own bodies touch one another? Those that a joint connects never do", NULL, NULL},
    {"merge", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, ROBOT(merge), "",
     "links held by fixed joints become one body; false: those with mass stay, with a joint that tells its force", NULL,
     NULL},
    {"ignore", STI_VALUE_WORDS, STI_ANY, 0, STI_FINITE, 0, "",
     "MJCF attributes and elements to do without that change the motion, by name: [\"armature\"]", "none: an error",
     NULL},
};

static void robot_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->robot = (sti_RobotDef){.orientation = {1, 0, 0, 0}, .self_collision = true, .merge = true};
}

const sti_Kind sti_robot_kind = {
    "robot",
    "Robots",
    "Taken in from files of their own, URDF or MJCF: what they hold joins `bodies`, `joints` and the rest. "
    "`stiction convert` writes the scene with that done.",
    robot_keys,
    COUNT(robot_keys),
    NULL,
    robot_defaults,
};

/* ---- the scene -------------------------------------------------------------------------------- */

static const sti_Key scene_keys[] = {
    {"$schema", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "for editors; not read", "none", NULL},
    {"name", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "a short title", "none", NULL},
    {"description", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "what it shows, what to look for", "none", NULL},
    {"simulation", STI_VALUE_SIMULATION, STI_ANY, 0, STI_FINITE, 0, "", "a preset and single settings", "the defaults",
     NULL},
    {"ground", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "shapes that do not move, in the world", "none",
     &sti_shape_kind},
    {"bodies", STI_VALUE_LIST, STI_ANY, STI_ANY, STI_FINITE, 0, "",
     "the rigid bodies, at least one; robots bring theirs", NULL, &sti_body_kind},
    {"robots", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "mechanisms from files of their own", "none",
     &sti_robot_kind},
    {"materials", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "what shapes are made of", "none", &sti_material_kind},
    {"material_pairs", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "what two materials do together", "none",
     &sti_material_pair_kind},
    {"joints", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "", "none", &sti_joint_kind},
    {"springs", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "springs and dampers", "none", &sti_spring_kind},
    {"forces", STI_VALUE_LIST, STI_ANY, 0, STI_FINITE, 0, "", "", "none", &sti_force_kind},
    {"exclude", STI_VALUE_PAIRS, STI_ANY, 0, STI_FINITE, 0, "",
     "pairs of bodies whose shapes do not touch; joined bodies are excluded already", "none", NULL},
};

const sti_Kind sti_scene_kind = {
    "scene", "The scene", "The file is one object.", scene_keys, COUNT(scene_keys), NULL, NULL,
};

/* ---- asking the tables ------------------------------------------------------------------------ */

int sti_variant_count(const sti_Kind *kind)
{
    int n = 0;
    while (kind->variant_name != NULL && n < 32 && kind->variant_name(n) != NULL)
        n++;
    return n > 0 ? n : 1;
}

const sti_Key *sti_variant_key(const sti_Kind *kind)
{
    for (int k = 0; k < kind->n_keys; k++)
        if (kind->keys[k].value == STI_VALUE_VARIANT) return &kind->keys[k];
    return NULL;
}

bool sti_key_in(const sti_Key *key, int variant)
{
    return (key->in & BIT(variant)) != 0;
}

const char *sti_expected(const sti_Key *key)
{
    static const char *const number[] = {"a number", "a number >= 0", "a number > 0", "a number from 0 to 1"};
    switch (key->value) {
    case STI_VALUE_TEXT:
    case STI_VALUE_NAME:
        return "a string";
    case STI_VALUE_NUMBER:
        return number[key->range];
    case STI_VALUE_BOOLEAN:
        return "true or false";
    case STI_VALUE_VECTOR:
        return "three numbers [x, y, z]";
    case STI_VALUE_DIRECTION:
    case STI_VALUE_NORMAL:
    case STI_VALUE_ALONG:
        return "three numbers [x, y, z], not all 0";
    case STI_VALUE_EXTENTS:
        return "three numbers > 0 [x, y, z]";
    case STI_VALUE_ROTATION:
        return "a unit quaternion [w, x, y, z] or {\"axis\": [x, y, z], \"angle\": rad}";
    case STI_VALUE_INERTIA:
        return "a number > 0, [Ixx, Iyy, Izz] or three rows of three numbers";
    case STI_VALUE_LOCKS:
        return "a list of x, y, z, rx, ry, rz, rotation, planar-xy, planar-xz, planar-yz";
    case STI_VALUE_AXES:
        return "\"world\" or \"body\"";
    case STI_VALUE_BODY:
        return key->needed != 0 ? "the name of a body" : "the name of a body, or \"ground\"";
    case STI_VALUE_JOINT:
        return "the name of a joint before it";
    case STI_VALUE_MATERIAL:
        return "the name of a material";
    case STI_VALUE_VARIANT:
    case STI_VALUE_CHOICE:
        return "a word";
    case STI_VALUE_MOTOR:
        return "an object, see Motors";
    case STI_VALUE_TABLE:
        return "a list of [time, value] pairs";
    case STI_VALUE_POINTS:
        return "a list of points [x, y, z]";
    case STI_VALUE_TRIANGLES:
        return "a list of [i, j, k], numbers of points from 0";
    case STI_VALUE_FILE:
        return "the path of a file .obj or .stl";
    case STI_VALUE_SCALE:
        return "a number > 0, or three that are not 0";
    case STI_VALUE_POSITIONS:
        return "an object of numbers {\"joint\": number, ...}";
    case STI_VALUE_WORDS:
        return "a list of words";
    case STI_VALUE_HEIGHTS:
        return "at least two rows of at least two numbers";
    case STI_VALUE_BITS:
        return "a list of whole numbers from 0 to 31";
    case STI_VALUE_FLAG:
        return "true or false";
    case STI_VALUE_PAIRS:
        return "a list of pairs of bodies [\"a\", \"b\"]";
    case STI_VALUE_LIST:
        return key->needed != 0 ? "a list of at least one object" : "a list of objects";
    case STI_VALUE_SIMULATION:
        return "an object";
    }
    return "something else";
}
