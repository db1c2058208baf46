/* scene/keys_shape.c -- the keys of shapes and of materials. */
#include "scene/keys.h"

/* ---- shapes ----------------------------------------------------------------------------------- */

/* `in` and `needed` of these keys are bits of st_shape_type_members(): a shape type has the keys of its members. */
#define RADIUS  ST_MEMBER_RADIUS
#define LENGTH  ST_MEMBER_LENGTH
#define INNER   ST_MEMBER_INNER_LENGTH
#define HALF    ST_MEMBER_HALF
#define POINTS  ST_MEMBER_POINTS
#define HEIGHTS ST_MEMBER_HEIGHTS

static const sti_Key shape_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Shape, type), "", "the shape", NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Shape, name), "", "unique among the shapes of its body",
     "shape1, shape2, ...", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, pose.p), "m", "of its centre, in the body",
     NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, ST_MEMBER_ORIENTATION, 0, STI_FINITE, FIELD(Shape, pose.q), "", "in the body",
     NULL, NULL},
    {"direction", STI_VALUE_ALONG, ST_MEMBER_AXIS_X, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "direction of the bar, in the body, any length; in place of orientation", "the body's x axis", NULL},
    {"normal", STI_VALUE_NORMAL, ST_MEMBER_NORMAL, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "out of the solid, in the body, any length; in place of orientation", "the body's z axis", NULL},
    {"axis", STI_VALUE_NORMAL, ST_MEMBER_AXIS_Z, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "axis of the shape, in the body, any length; for a cone, towards its apex; in place of orientation",
     "the body's z axis", NULL},
    {"radius", STI_VALUE_NUMBER, RADIUS, RADIUS, STI_POSITIVE, FIELD(Shape, radius), "m", "", NULL, NULL},
    {"length", STI_VALUE_NUMBER, INNER, INNER, STI_POSITIVE, FIELD(Shape, length), "m",
     "between the centres of its two half spheres", NULL, NULL},
    {"length", STI_VALUE_NUMBER, LENGTH, LENGTH, STI_POSITIVE, FIELD(Shape, length), "m",
     "from end to end; the base of a cone is at -1/4 of it, so that the origin is its centre of mass", NULL, NULL},
    {"points", STI_VALUE_POINTS, POINTS, 0, STI_FINITE, 0, "m", "in the shape's axes; or give a file", "none", NULL},
    {"triangles", STI_VALUE_TRIANGLES, ST_MEMBER_TRIANGLES, 0, STI_FINITE, 0, "",
     "indices of points from 0, counter-clockwise from outside. A closed mesh is solid, any other mesh is a sheet with "
     "contact on both sides",
     "none", NULL},
    {"outline", STI_VALUE_OUTLINE, ST_MEMBER_TRIANGLES, 0, STI_FINITE, 0, "m",
     "a surface of revolution about the shape's z axis, in place of points and triangles: corners of its outline, in "
     "order. Solid if the outline ends where it begins, or begins and ends with radius 0; any other is a sheet",
     "none", NULL},
    {"sides", STI_VALUE_SIDES, ST_MEMBER_TRIANGLES, 0, STI_FINITE, 0, "",
     "number of flat sides of a surface of revolution; their edges are at the given radii", "32", NULL},
    {"file", STI_VALUE_FILE, POINTS, 0, STI_FINITE, 0, "",
     "an OBJ, STL, COLLADA or MSH file, relative to the scene, in place of points and triangles", "none", NULL},
    {"scale", STI_VALUE_SCALE, POINTS, 0, STI_POSITIVE, 0, "",
     "factor on the points: one number > 0, or three for x, y, z; a negative one mirrors", "1", NULL},
    {"heights", STI_VALUE_HEIGHTS, HEIGHTS, HEIGHTS, STI_FINITE, 0, "m",
     "rows along x, one after another along y; the centre of the grid is the origin of the shape. Solid from the "
     "surface "
     "down to L below the lowest sample, where L is the longer side of the grid",
     NULL, NULL},
    {"spacing", STI_VALUE_NUMBER, HEIGHTS, HEIGHTS, STI_POSITIVE, FIELD(Shape, spacing), "m", "between samples", NULL,
     NULL},
    {"size", STI_VALUE_EXTENTS, HALF, HALF, STI_POSITIVE, FIELD(Shape, half), "m",
     "full extents along the shape's x, y, z", NULL, NULL},
    {"density", STI_VALUE_NUMBER, ST_MEMBER_DENSITY, 0, STI_NOT_NEGATIVE, FIELD(Shape, density), "kg/m^3",
     "used if the body has no `mass`; if both are given, they must agree", NULL, NULL},
    {"density", STI_VALUE_NUMBER, ST_MEMBER_LINE_DENSITY, 0, STI_NOT_NEGATIVE, FIELD(Shape, density), "kg/m",
     "used if the body has no `mass`", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, mu), "",
     "Coulomb friction coefficient mu; a contact has the geometric mean of its two shapes", NULL, NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(Shape, restitution), "",
     "of impacts, 0 to 1; a contact has the larger value of its two shapes", NULL, NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, rolling), "m",
     "rolling torque over normal force (laws coulomb, cone); a contact has the larger value of its two shapes", NULL,
     NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Shape, spinning), "m",
     "torque about the normal over normal force (laws coulomb, cone); a contact has the larger value of its two shapes",
     NULL, NULL},
    {"friction_across", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, friction_across), "",
     "friction that depends on direction: mu across friction_direction; `friction` is mu along it. An ellipse bounds "
     "the "
     "friction force",
     "equal to `friction`", NULL},
    {"friction_direction", STI_VALUE_DIRECTION, STI_ANY, 0, STI_FINITE, FIELD(Shape, friction_direction), "",
     "direction fixed in the shape's axes, any length; only its tangential part is used", "none", NULL},
    {"surface_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, surface_velocity), "m/s",
     "a belt: velocity of the surface in the shape's axes, while the shape stays in place; only its tangential part is "
     "used",
     NULL, NULL},
    {"surface_angular_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, surface_spin), "rad/s",
     "a turntable: angular velocity of the surface about the shape's origin, in its axes", NULL, NULL},
    {"stiffness", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, stiffness), "N/m",
     "contact regularized: stiffness of the normal spring, in series with that of the other shape; default: the "
     "setting "
     "contact_stiffness",
     NULL, NULL},
    {"damping", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, damping), "N s/m",
     "contact regularized: tangential damper, in series with that of the other shape; default: the setting "
     "contact_damping",
     NULL, NULL},
    {"young", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, young), "Pa",
     "contact compliant: Young's modulus; default: rigid", NULL, NULL},
    {"poisson", STI_VALUE_NUMBER, STI_ANY, 0, STI_FINITE, FIELD(Shape, poisson), "",
     "contact compliant: Poisson's ratio, between -1 and 0.5; default: 0.3", NULL, NULL},
    {"material", STI_VALUE_MATERIAL, STI_ANY, 0, STI_FINITE, FIELD(Shape, material), "",
     "one of `materials`, in place of friction, restitution, rolling and spinning friction. Only materials have "
     "adhesion, "
     "liquid and friction that depends on speed",
     "none", NULL},
    {"groups", STI_VALUE_BITS, STI_ANY, 0, STI_FINITE, FIELD(Shape, groups), "",
     "groups that it belongs to; two shapes collide if `touches` of each contains a group of the other", "[0]", NULL},
    {"touches", STI_VALUE_BITS, STI_ANY, 0, STI_FINITE, FIELD(Shape, mask), "", "groups that it collides with", "all",
     NULL},
    {"color", STI_VALUE_COLOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, color), "",
     "in pictures: red, green, blue and, if given, opacity", "by body", NULL},
};

static const char *shape_word(int variant)
{
    return st_shape_type_name((st_ShapeType)variant);
}

static void shape_defaults(int variant, sti_Def *def)
{
    def->shape = st_shape_def((st_ShapeType)variant);
}

const sti_Kind sti_shape_kind = {
    "shape",        "Shapes",          "Shapes for contact: members of `shapes` of a body, and of `ground`.",
    shape_keys,     COUNT(shape_keys), shape_word,
    shape_defaults,
};

/* ---- materials -------------------------------------------------------------------------------- */

static const sti_Key material_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, STI_ANY, STI_FINITE, FIELD(Material, name), "", "unique among materials", NULL,
     NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, mu), "",
     "Coulomb friction coefficient mu", NULL, NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(Material, restitution), "", "of impacts, 0 to 1",
     NULL, NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, rolling), "m",
     "rolling torque over normal force", NULL, NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, spinning), "m",
     "torque about the normal over normal force", NULL, NULL},
    {"adhesion", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion), "N",
     "largest force with which a contact can pull", NULL, NULL},
    {"adhesion_pressure", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion_pressure), "Pa",
     "adhesion per area of the contact patch; none at a single point and in planar scenes", NULL, NULL},
    {"adhesion_range", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion_range), "m",
     "largest gap at which adhesion acts", "1e-3 of the smaller shape's size", NULL},
    {"kinetic_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.kinetic), "",
     "friction coefficient at high sliding speed s: mu(s) = kinetic + (friction - kinetic) exp(-(s/stribeck_speed)^2)",
     "equal to `friction`", NULL},
    {"stribeck_speed", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.stribeck_speed), "m/s",
     "sliding speed over which friction falls from `friction` to `kinetic_friction`", NULL, NULL},
    {"liquid_volume", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.liquid_volume), "m^3",
     "volume of the liquid bridge that forms when a sphere touches another shape", NULL, NULL},
    {"surface_tension", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.surface_tension), "N/m",
     "surface tension of the liquid", NULL, NULL},
    {"wetting_angle", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.wetting_angle), "rad",
     "between the liquid and the surface, below pi/2", NULL, NULL},
};

static void material_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->material = st_material_def();
}

const sti_Kind sti_material_kind = {
    "material",
    "Materials",
    "Surface materials of shapes. `material_pairs` can set the values of a contact of two materials. Else friction, "
    "kinetic "
    "friction, adhesion and liquid volume are the geometric mean of both, and all other values are the larger of both.",
    material_keys,
    COUNT(material_keys),
    NULL,
    material_defaults,
};

static const sti_Key material_pair_keys[] = {
    {"a", STI_VALUE_MATERIAL, STI_ANY, STI_ANY, STI_FINITE, FIELD(MaterialPair, a), "", "the first material", NULL,
     NULL},
    {"b", STI_VALUE_MATERIAL, STI_ANY, STI_ANY, STI_FINITE, FIELD(MaterialPair, b), "",
     "the second material; may be the same", NULL, NULL},
    {"friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, mu), "",
     "Coulomb friction coefficient mu; at least one of the numbers must be given", "the geometric mean of both", NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(MaterialPair, restitution), "",
     "of impacts, 0 to 1", "the larger of both", NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, rolling), "m",
     "rolling torque over normal force", "the larger of both", NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, spinning), "m",
     "torque about the normal over normal force", "the larger of both", NULL},
    {"adhesion", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion), "N",
     "largest force with which a contact can pull", "the geometric mean of both", NULL},
    {"adhesion_pressure", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion_pressure),
     "Pa", "adhesion per area of the contact patch; none at a single point and in planar scenes",
     "the geometric mean of both", NULL},
    {"adhesion_range", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion_range), "m",
     "largest gap at which adhesion acts", "the larger of both", NULL},
    {"kinetic_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.kinetic), "",
     "friction coefficient at high sliding speed s: mu(s) = kinetic + (friction - kinetic) exp(-(s/stribeck_speed)^2)",
     "equal to `friction` if that is given, else the geometric mean of both", NULL},
    {"stribeck_speed", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.stribeck_speed), "m/s",
     "sliding speed over which friction falls from `friction` to `kinetic_friction`", "the larger of both", NULL},
    {"liquid_volume", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.liquid_volume), "m^3",
     "volume of the liquid bridge that forms when a sphere touches another shape", "the geometric mean of both", NULL},
    {"surface_tension", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.surface_tension),
     "N/m", "surface tension of the liquid", "the larger of both", NULL},
    {"wetting_angle", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.wetting_angle), "rad",
     "between the liquid and the surface, below pi/2", "the larger of both", NULL},
};

static void material_pair_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->material_pair = st_material_pair_def();
}

const sti_Kind sti_material_pair_kind = {
    "material_pair",
    "Pairs of materials",
    "Values for a contact of two materials, in place of the means and maxima.",
    material_pair_keys,
    COUNT(material_pair_keys),
    NULL,
    material_pair_defaults,
};
