/* scene/keys_joint.c -- the keys of joints, motors, springs, dampers and forces. */
#include "scene/keys.h"

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
#define TENDON      BIT(ST_JOINT_TENDON)
/* Joint types between two bodies, with a point that matters, with an axis, with a coordinate. */
#define BETWEEN (STI_ANY & ~(GEAR | TENDON))
#define AT      (BALL | REVOLUTE | CYLINDRICAL | UNIVERSAL | LINE | SCREW)
#define AXIS    (REVOLUTE | PRISMATIC | CYLINDRICAL | UNIVERSAL | PLANAR | LINE | SCREW)
#define DRIVEN  (REVOLUTE | PRISMATIC | CYLINDRICAL | PLANAR | LINE | SCREW | FREE | UNIVERSAL | BALL | TENDON)
#define TWO     (CYLINDRICAL | SCREW | UNIVERSAL | BALL) /* joints with two or more coordinates */

static const char *coordinate_word(int variant)
{
    return st_coordinate_name((st_Coordinate)variant);
}

static const sti_Kind coordinate_words = {.variant_name = coordinate_word};

static const sti_Key joint_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Joint, type), "",
     "type of the joint. A gear couples two other joints. `free` and `tendon` constrain nothing: `free` is for ropes "
     "and "
     "actuators, and the coordinate of a tendon is the length of a path",
     NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Joint, name), "", "unique among joints",
     "joint1, joint2, ...", NULL},
    {"a", STI_VALUE_BODY, BETWEEN, 0, STI_FINITE, FIELD(Joint, a), "", "the first body", "the ground", NULL},
    {"b", STI_VALUE_BODY, BETWEEN, 0, STI_FINITE, FIELD(Joint, b), "", "the second body", "the ground", NULL},
    {"point", STI_VALUE_VECTOR, AT, AT, STI_FINITE, FIELD(Joint, point), "m",
     "common to both bodies, in the world at the start", NULL, NULL},
    {"point", STI_VALUE_VECTOR, FIXED | PRISMATIC | PLANAR, 0, STI_FINITE, FIELD(Joint, point), "m",
     "in the world at the start; reaction torques are about it", "the position of a, or of b if a is the ground", NULL},
    {"point", STI_VALUE_VECTOR, DISTANCE | FREE, 0, STI_FINITE, FIELD(Joint, point), "m",
     "of a, in the world at the start", "the position of a; required if a is the ground", NULL},
    {"point_b", STI_VALUE_VECTOR, DISTANCE | FREE, 0, STI_FINITE, FIELD(Joint, point_b), "m",
     "of b, in the world at the start", "the position of b; required if b is the ground", NULL},
    {"axis", STI_VALUE_DIRECTION, AXIS, AXIS, STI_FINITE, FIELD(Joint, axis), "",
     "in the world at the start, any length; fixed in a", NULL, NULL},
    {"axis", STI_VALUE_DIRECTION, FREE, 0, STI_FINITE, FIELD(Joint, axis), "",
     "axis of its angle or displacement, in the world at the start, any length; fixed in a", "[0, 0, 1]", NULL},
    {"axis", STI_VALUE_DIRECTION, BALL, 0, STI_FINITE, FIELD(Joint, axis), "",
     "axis of the cone that limits its swing, in the world at the start, any length; fixed in a", "[0, 0, 1]", NULL},
    {"axis_b", STI_VALUE_DIRECTION, BALL, 0, STI_FINITE, FIELD(Joint, axis_b), "",
     "axis fixed in b that stays in the cone; the twist is about it", "axis", NULL},
    {"axis_b", STI_VALUE_DIRECTION, UNIVERSAL, UNIVERSAL, STI_FINITE, FIELD(Joint, axis_b), "",
     "the other axis of the cross, fixed in b: orthogonal to axis, any length", NULL, NULL},
    {"length", STI_VALUE_NUMBER, DISTANCE, 0, STI_POSITIVE, FIELD(Joint, length), "m", "the distance to keep",
     "the distance at the start", NULL},
    {"pitch", STI_VALUE_NUMBER, SCREW, SCREW, STI_FINITE, FIELD(Joint, pitch), "m",
     "displacement of b per turn; negative: a left-hand thread", NULL, NULL},
    {"joint_a", STI_VALUE_JOINT, GEAR, GEAR, STI_FINITE, FIELD(Joint, joint_a), "",
     "a joint with a coordinate, listed before", NULL, NULL},
    {"joint_b", STI_VALUE_JOINT, GEAR, GEAR, STI_FINITE, FIELD(Joint, joint_b), "", "another one", NULL, NULL},
    {"ratio", STI_VALUE_NUMBER, GEAR, GEAR, STI_FINITE, FIELD(Joint, ratio), "rad or m, per rad or m",
     "coordinate of joint_a = ratio times coordinate of joint_b, both relative to the start", NULL, NULL},
    {"curve", STI_VALUE_VECTOR, GEAR, 0, STI_FINITE, FIELD(Joint, curve), "rad or m, per powers of rad or m",
     "coefficients of the square, the cube and the fourth power of the coordinate of joint_b, added to it", NULL, NULL},
    {"path", STI_VALUE_LIST, TENDON, TENDON, STI_FINITE, 0, "", "parts of the path in order, at most 64; see Tendons",
     NULL, &sti_tendon_kind},
    {"coordinate", STI_VALUE_CHOICE, DRIVEN & ~TENDON, 0, STI_FINITE, FIELD(Joint, coordinate), "",
     "the coordinate on which limits, friction, spring, motor and gears act: the angle of b relative to a about the "
     "axis "
     "(counting whole turns), the displacement of b's point along it, or the whole distance between the points "
     "(`free`). "
     "`universal`: the angle about axis, or angle_b about axis_b. `ball`: the swing of axis_b from axis, which can "
     "only "
     "have limits, or the twist about axis_b",
     "the distance (`free`), the swing (`ball`), else the angle if there is one, else the displacement",
     &coordinate_words},
    {"lower", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, lower), "rad or m",
     "lower limit; angles and displacements are 0 at the start", "none", NULL},
    {"upper", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, upper), "rad or m",
     "upper limit; for a swing: the half angle of its cone, at most pi", "none", NULL},
    {"other_lower", STI_VALUE_NUMBER, TWO, 0, STI_FINITE, FIELD(Joint, other_lower), "rad or m",
     "lower limit of the other coordinate, the one that `coordinate` does not select: angle_b, twist, displacement, "
     "...",
     "none", NULL},
    {"other_upper", STI_VALUE_NUMBER, TWO, 0, STI_FINITE, FIELD(Joint, other_upper), "rad or m",
     "upper limit of the other coordinate", "none", NULL},
    {"restitution", STI_VALUE_NUMBER, DRIVEN, 0, STI_FRACTION, FIELD(Joint, restitution), "",
     "of impacts at its limits, 0 to 1", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, friction), "N m or N",
     "largest torque or force of dry friction", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, stiffness), "N m/rad or N/m",
     "of a spring in the joint", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, damping), "N m s/rad or N s/m",
     "of a damper in the joint", NULL, NULL},
    {"rest", STI_VALUE_NUMBER, DRIVEN, 0, STI_FINITE, FIELD(Joint, rest), "rad or m",
     "coordinate at which the spring has no force", "the value at the start", NULL},
    {"slack", STI_VALUE_NUMBER, TENDON, 0, STI_NOT_NEGATIVE, FIELD(Joint, slack), "m",
     "the spring has no force from rest to rest + slack", NULL, NULL},
    {"armature", STI_VALUE_NUMBER, DRIVEN, 0, STI_NOT_NEGATIVE, FIELD(Joint, armature), "kg m^2 or kg",
     "inertia that moves only with this coordinate: of the rotor of a motor, times the square of the gear ratio", NULL,
     NULL},
    {"joint_stiffness", STI_VALUE_NUMBER, STI_ANY & ~TENDON, 0, STI_NOT_NEGATIVE, FIELD(Joint, joint_stiffness),
     "N/m or N m/rad",
     "contact regularized: stiffness of the springs that replace this joint; forces least_norm: joints share loads "
     "according to it",
     "the setting joint_stiffness", NULL},
    {"motor", STI_VALUE_MOTOR, DRIVEN, 0, STI_FINITE, FIELD(Joint, motor), "", "motor that drives the coordinate",
     "none", &sti_motor_kind},
    {"collide", STI_VALUE_BOOLEAN, STI_ANY & ~TENDON, 0, STI_FINITE, FIELD(Joint, collide), "",
     "shapes of the two bodies collide with each other; with shapes of the ground they always do", NULL, NULL},
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
    "Joints between two bodies, or between a body and the ground. Points and axes are those of the start.",
    joint_keys,
    COUNT(joint_keys),
    joint_word,
    joint_defaults,
};

/* ---- tendons ---------------------------------------------------------------------------------- */

#define PART(of) offsetof(st_TendonPoint, of)
#define POINT    BIT(ST_TENDON_POINT)
#define SPHERE   BIT(ST_TENDON_SPHERE)
#define CYLINDER BIT(ST_TENDON_CYLINDER)
#define PULLEY   BIT(ST_TENDON_PULLEY)
#define JOINT    BIT(ST_TENDON_JOINT)
#define SLIDER   BIT(ST_TENDON_SLIDER)

static const sti_Key tendon_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, PART(kind), "",
     "point: the tendon passes through it; sphere, cylinder: between two points, the tendon wraps around it; pulley: "
     "starts "
     "another branch; joint: its coordinate is added (all parts are joints, or none is); slider: a rod connects it to "
     "the "
     "next point, and its position on its axis is the length",
     NULL, NULL},
    {"body", STI_VALUE_BODY, POINT | SPHERE | CYLINDER | SLIDER, 0, STI_FINITE, PART(body), "",
     "the body that it is fixed to", "the ground", NULL},
    {"point", STI_VALUE_VECTOR, POINT | SPHERE | CYLINDER | SLIDER, 0, STI_FINITE, PART(point), "m",
     "in the body; sphere, cylinder: its centre; slider: the zero of its position", NULL, NULL},
    {"axis", STI_VALUE_DIRECTION, CYLINDER | SLIDER, CYLINDER | SLIDER, STI_FINITE, PART(axis), "",
     "in the body, any length", NULL, NULL},
    {"radius", STI_VALUE_NUMBER, SPHERE | CYLINDER, SPHERE | CYLINDER, STI_POSITIVE, PART(radius), "m", "", NULL, NULL},
    {"side", STI_VALUE_SIDE, SPHERE | CYLINDER, 0, STI_FINITE, PART(side), "m",
     "a point in the body: the tendon passes on that side of the shape; if the point is inside the shape, the tendon "
     "passes "
     "through the shape",
     "the shorter way, only if the shape is in the way", NULL},
    {"joint", STI_VALUE_JOINT, JOINT, JOINT, STI_FINITE, PART(joint), "", "a joint with a coordinate, listed before",
     NULL, NULL},
    {"coefficient", STI_VALUE_NUMBER, JOINT, 0, STI_FINITE, PART(coefficient), "m/rad or 1",
     "factor on the coordinate of the joint", NULL, NULL},
    {"divisor", STI_VALUE_NUMBER, PULLEY, 0, STI_FINITE, PART(coefficient), "",
     "lengths after the pulley are divided by it; not 0; if negative, the length before the pulley follows that after "
     "it",
     NULL, NULL},
    {"rod", STI_VALUE_NUMBER, SLIDER, SLIDER, STI_POSITIVE, PART(coefficient), "m", "length of the rod", NULL, NULL},
};

static const char *tendon_word(int variant)
{
    return st_tendon_kind_name((st_TendonKind)variant);
}

static void tendon_defaults(int variant, sti_Def *def)
{
    def->tendon = (st_TendonPoint){.kind = (st_TendonKind)variant, .coefficient = 1};
}

const sti_Kind sti_tendon_kind = {
    "part", "Tendons", "Members of a tendon's `path`.", tendon_keys, COUNT(tendon_keys), tendon_word, tendon_defaults,
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
     "speed: holds a speed; position: holds a position by a spring and damper; motion: prescribes the position "
     "exactly; "
     "force: applies a force",
     NULL, NULL},
    {"target", STI_VALUE_NUMBER, MOVES, MOVES, STI_FINITE, MOTOR(target), "rad/s, m/s, rad, m, N m or N",
     "the wanted value is offset + target times the profile", NULL, NULL},
    {"offset", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(offset), "rad/s, m/s, rad, m, N m or N", "", NULL, NULL},
    {"max_force", STI_VALUE_NUMBER, LIMITED, 0, STI_POSITIVE, MOTOR(max_force), "N m or N",
     "largest torque or force, in both directions", "no limit", NULL},
    {"mid_force", STI_VALUE_NUMBER, LIMITED, 0, STI_FINITE, MOTOR(mid_force), "N m or N",
     "forces are from mid_force - max_force to mid_force + max_force", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, POSITION, POSITION, STI_POSITIVE, MOTOR(stiffness), "N m/rad or N/m", "", NULL,
     NULL},
    {"damping", STI_VALUE_NUMBER, POSITION, 0, STI_NOT_NEGATIVE, MOTOR(damping), "N m s/rad or N s/m", "", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, BIT(ST_MOTOR_SPEED), 0, STI_NOT_NEGATIVE, MOTOR(damping), "N m s/rad or N s/m",
     "the force is damping times the error of the speed", "any force that the speed needs", NULL},
    {"lag", STI_VALUE_NUMBER, LIMITED, 0, STI_NOT_NEGATIVE, MOTOR(lag), "s",
     "the wanted value approaches the value that a controller sets with this time constant", NULL, NULL},
    {"integrate", STI_VALUE_BOOLEAN, LIMITED, 0, STI_FINITE, MOTOR(integrate), "",
     "a controller sets the rate of the wanted value", NULL, NULL},
    {"lowest", STI_VALUE_NUMBER, LIMITED, 0, STI_FINITE, MOTOR(lowest), "rad/s, m/s, rad, m, N m or N",
     "values of a controller are limited to the range from lowest to highest", "none", NULL},
    {"highest", STI_VALUE_NUMBER, LIMITED, 0, STI_FINITE, MOTOR(highest), "rad/s, m/s, rad, m, N m or N", "", "none",
     NULL},
    {"profile", STI_VALUE_CHOICE, MOVES, 0, STI_FINITE, MOTOR(profile.type), "",
     "factor that depends on time: 1 (constant), cos(frequency t + phase) (harmonic), a table, or t (ramp)", NULL,
     &profile_words},
    {"frequency", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(profile.frequency), "rad/s",
     "of a harmonic profile, which needs it", NULL, NULL},
    {"phase", STI_VALUE_NUMBER, MOVES, 0, STI_FINITE, MOTOR(profile.phase), "rad", "of a harmonic profile", NULL, NULL},
    {"table", STI_VALUE_TABLE, MOVES, 0, STI_FINITE, MOTOR(profile), "s, 1",
     "of a table profile, which needs it: [[time, value], ...], times increasing; linear between, constant before and "
     "after",
     "none", NULL},
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
    "motor",
    "Motors",
    "The `motor` of a joint drives its coordinate. A servo wall of a shear or triaxial test is a body on a prismatic "
    "joint "
    "with a motor of type `speed`. Its target is the largest speed of the wall, and its `max_force` is the area of the "
    "wall times the pressure: example shear-cell.",
    motor_keys,
    COUNT(motor_keys),
    motor_word,
    motor_defaults,
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
    {"a", STI_VALUE_BODY, STI_ANY, 0, STI_FINITE, FIELD(Spring, a), "", "the first body", "the ground", NULL},
    {"b", STI_VALUE_BODY, STI_ANY, 0, STI_FINITE, FIELD(Spring, b), "", "the second body", "the ground", NULL},
    {"point_a", STI_VALUE_VECTOR, LINEAR, 0, STI_FINITE, FIELD(Spring, point_a), "m", "of a, in the world at the start",
     "the position of a; required if a is the ground", NULL},
    {"point_b", STI_VALUE_VECTOR, LINEAR, 0, STI_FINITE, FIELD(Spring, point_b), "m", "of b, in the world at the start",
     "the position of b; required if b is the ground", NULL},
    {"axis", STI_VALUE_DIRECTION, ANGULAR, ANGULAR, STI_FINITE, FIELD(Spring, axis), "",
     "b turns about it relative to a; in the world at the start, any length", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness), "N/m",
     "stiffness and damping may not both be 0", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, ANGULAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, stiffness), "N m/rad",
     "stiffness and damping may not both be 0", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping), "N s/m", "", NULL, NULL},
    {"damping", STI_VALUE_NUMBER, ANGULAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, damping), "N m s/rad", "", NULL, NULL},
    {"rest", STI_VALUE_NUMBER, LINEAR, 0, STI_NOT_NEGATIVE, FIELD(Spring, rest), "m",
     "length without force; a spring with rest 0 acts and damps in all three directions", "the length at the start",
     NULL},
    {"rest", STI_VALUE_NUMBER, ANGULAR, 0, STI_FINITE, FIELD(Spring, rest), "rad",
     "angle without torque, relative to the start", "0", NULL},
    {"point", STI_VALUE_VECTOR, BUSHING, 0, STI_FINITE, FIELD(Spring, point_a), "m",
     "common to both bodies, in the world at the start, where the bushing is at rest",
     "the position of a, or of b if a is the ground", NULL},
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
    {"stiffness_matrix", STI_VALUE_MATRIX6, BUSHING, 0, STI_FINITE, FIELD(Spring, stiffness_matrix), "N/m, N, N m/rad",
     "a full matrix that is added to these: displacements along, then rotations about x, y, z; symmetric, positive "
     "semi-definite",
     "0", NULL},
    {"damping_matrix", STI_VALUE_MATRIX6, BUSHING, 0, STI_FINITE, FIELD(Spring, damping_matrix),
     "N s/m, N s, N m s/rad", "a full damping matrix, as stiffness_matrix", "0", NULL},
    {"table", STI_VALUE_TABLE, LINEAR | ANGULAR, 0, STI_FINITE, FIELD(Spring, table), "m or rad, N or N m",
     "[[elongation, force], ...] in place of a stiffness, elongations increasing; linear between, constant before and "
     "after",
     "none", NULL},
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
     "axes of force and torque: those of the world, or those of the body, which turn with it", NULL, NULL},
    {"adhesion", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FIELD(Force, adhesion), "",
     "the length of `force` is an adhesive pull between the body and the bodies that it touches, shared by its "
     "contacts; it "
     "has no other effect",
     "false", NULL},
    {"drag", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Force, drag), "N s^2/m^2",
     "drag at the point, against its velocity u relative to `wind`: drag |u| u. drag is density times area times drag "
     "coefficient, divided by 2. Not multiplied by the profile",
     NULL, NULL},
    {"charge", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Force, charge), "C",
     "electric charge at the point: the force is charge velocity x `field`; not multiplied by the profile", NULL, NULL},
    {"moment", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, moment), "A m^2",
     "magnetic moment, in the body: the torque is moment x `field`; not multiplied by the profile", NULL, NULL},
    {"field", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, field), "T", "magnetic field, in the world", NULL,
     NULL},
    {"ellipsoid", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Force, ellipsoid), "m",
     "semi-axes of an ellipsoid about the point. The fluid (medium_density, medium_viscosity) acts on it with drag, "
     "lift and "
     "added mass; not multiplied by the profile",
     "none", NULL},
    {"orientation", STI_VALUE_ROTATION, STI_ANY, 0, STI_FINITE, FIELD(Force, orientation), "",
     "of the ellipsoid in the body", NULL, NULL},
    {"blunt_drag", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Force, blunt_drag), "",
     "drag coefficient for the projected area of the ellipsoid", NULL, NULL},
    {"slender_drag", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Force, slender_drag), "",
     "drag coefficient for the largest projected area less the present one", NULL, NULL},
    {"angular_drag", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Force, angular_drag), "",
     "drag coefficient for its rotation", NULL, NULL},
    {"kutta_lift", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Force, kutta_lift), "",
     "lift coefficient, across its velocity", NULL, NULL},
    {"magnus_lift", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Force, magnus_lift), "",
     "lift coefficient, across velocity and rotation axis", NULL, NULL},
    {"profile", STI_VALUE_VARIANT, STI_ANY, 0, STI_FINITE, FIELD(Force, profile.type), "",
     "factor that depends on time: 1 (constant), cos(frequency t + phase) (harmonic), a table, or t (ramp)", NULL,
     NULL},
    {"frequency", STI_VALUE_NUMBER, HARMONIC, HARMONIC, STI_FINITE, FIELD(Force, profile.frequency), "rad/s", "", NULL,
     NULL},
    {"phase", STI_VALUE_NUMBER, HARMONIC, 0, STI_FINITE, FIELD(Force, profile.phase), "rad", "", NULL, NULL},
    {"table", STI_VALUE_TABLE, TABLE, TABLE, STI_FINITE, FIELD(Force, profile), "s, 1",
     "[[time, value], ...], times increasing; linear between, constant before and after", NULL, NULL},
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
