/* scene/keys_shape.c -- the keys of shapes, and of the materials they are made of. */
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
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, pose.p), "m", "of its middle, in the body",
     NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, ST_MEMBER_ORIENTATION, 0, STI_FINITE, FIELD(Shape, pose.q), "", "in the body",
     NULL, NULL},
    {"direction", STI_VALUE_ALONG, ST_MEMBER_AXIS_X, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "the bar's, in the body, any length; in place of orientation", "the body's x axis", NULL},
    {"normal", STI_VALUE_NORMAL, ST_MEMBER_NORMAL, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "out of the solid, in the body, any length; in place of orientation", "the body's z axis", NULL},
    {"axis", STI_VALUE_NORMAL, ST_MEMBER_AXIS_Z, 0, STI_FINITE, FIELD(Shape, pose.q), "",
     "of the shape, in the body, any length; a cone's towards its apex; in place of orientation", "the body's z axis",
     NULL},
    {"radius", STI_VALUE_NUMBER, RADIUS, RADIUS, STI_POSITIVE, FIELD(Shape, radius), "m", "", NULL, NULL},
    {"length", STI_VALUE_NUMBER, INNER, INNER, STI_POSITIVE, FIELD(Shape, length), "m",
     "between the centres of its two half balls", NULL, NULL},
    {"length", STI_VALUE_NUMBER, LENGTH, LENGTH, STI_POSITIVE, FIELD(Shape, length), "m",
     "from end to end; a cone's base is at -1/4 of it, so that its middle is its centre of mass", NULL, NULL},
    {"points", STI_VALUE_POINTS, POINTS, 0, STI_FINITE, 0, "m", "in the shape's axes; or give a file", "none", NULL},
    {"triangles", STI_VALUE_TRIANGLES, ST_MEMBER_TRIANGLES, 0, STI_FINITE, 0, "",
     "numbers of points from 0, counter-clockwise from outside; closed: solid, else a sheet touched on both sides",
     "none", NULL},
    {"file", STI_VALUE_FILE, POINTS, 0, STI_FINITE, 0, "",
     "an OBJ, STL, COLLADA or MSH file, relative to the scene, in place of points and triangles", "none", NULL},
    {"scale", STI_VALUE_SCALE, POINTS, 0, STI_POSITIVE, 0, "",
     "points are multiplied by it: one number > 0, or three for x, y, z, where a negative one mirrors", "1", NULL},
    {"heights", STI_VALUE_HEIGHTS, HEIGHTS, HEIGHTS, STI_FINITE, 0, "m",
     "rows along x, one after another along y; the grid's middle is the shape's. Solid below, down to the longer side "
     "of "
     "the grid under its lowest sample",
     NULL, NULL},
    {"spacing", STI_VALUE_NUMBER, HEIGHTS, HEIGHTS, STI_POSITIVE, FIELD(Shape, spacing), "m", "between samples", NULL,
     NULL},
    {"size", STI_VALUE_EXTENTS, HALF, HALF, STI_POSITIVE, FIELD(Shape, half), "m",
     "full extents along the shape's x, y, z", NULL, NULL},
    {"density", STI_VALUE_NUMBER, ST_MEMBER_DENSITY, 0, STI_NOT_NEGATIVE, FIELD(Shape, density), "kg/m^3",
     "used where the body's mass is left out; must agree with it where both are given", NULL, NULL},
    {"density", STI_VALUE_NUMBER, ST_MEMBER_LINE_DENSITY, 0, STI_NOT_NEGATIVE, FIELD(Shape, density), "kg/m",
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
    {"friction_across", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FIELD(Shape, friction_across), "",
     "friction by direction: mu across friction_direction, where `friction` is mu along it; the bound is an ellipse",
     "as `friction`", NULL},
    {"friction_direction", STI_VALUE_DIRECTION, STI_ANY, 0, STI_FINITE, FIELD(Shape, friction_direction), "",
     "fixed in the shape's axes, any length; its part along the contact counts", "none", NULL},
    {"surface_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, surface_velocity), "m/s",
     "a belt: the surface moves in itself, in the shape's axes, while the shape stays; what is along the contact "
     "counts",
     NULL, NULL},
    {"surface_angular_velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Shape, surface_spin), "rad/s",
     "a turntable: likewise, about the shape's middle, in its axes", NULL, NULL},
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
     "one of `materials`; in place of friction, restitution, rolling and spinning friction; adhesion and friction that "
     "depends on speed are a material's alone",
     "none", NULL},
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
    def->shape = st_shape_def((st_ShapeType)variant);
}

const sti_Kind sti_shape_kind = {
    "shape",        "Shapes",          "What touches: members of a body's `shapes`, and of `ground`.",
    shape_keys,     COUNT(shape_keys), shape_word,
    shape_defaults,
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
    {"adhesion", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion), "N",
     "force that a contact can pull with", NULL, NULL},
    {"adhesion_pressure", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion_pressure), "Pa",
     "the same per area of the patch in which two shapes touch; none at a single point and in planar scenes", NULL,
     NULL},
    {"adhesion_range", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.adhesion_range), "m",
     "gap up to which adhesion acts", "1e-3 of the smaller shape's size", NULL},
    {"kinetic_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.kinetic), "",
     "Coulomb's mu at speeds s above stribeck_speed: mu(s) = kinetic + (friction - kinetic) exp(-(s/stribeck_speed)^2)",
     "as `friction`", NULL},
    {"stribeck_speed", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.stribeck_speed), "m/s",
     "sliding speed over which friction falls from `friction` to `kinetic_friction`", NULL, NULL},
    {"liquid_volume", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.liquid_volume), "m^3",
     "of the liquid bridge between two spheres, or a sphere and another shape, that touch", NULL, NULL},
    {"surface_tension", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.surface_tension), "N/m",
     "of that liquid", NULL, NULL},
    {"wetting_angle", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(Material, more.wetting_angle), "rad",
     "between that liquid and the surface, below pi/2", NULL, NULL},
};

static void material_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->material = st_material_def();
}

const sti_Kind sti_material_kind = {
    "material",
    "Materials",
    "What shapes are made of. Two in contact have the geometric mean of their frictions and adhesions and the larger "
    "of "
    "their restitutions, rolling and spinning frictions, ranges and Stribeck speeds, unless `material_pairs` says "
    "otherwise.",
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
     "Coulomb's mu between them; one of the numbers must be given", "the geometric mean of theirs", NULL},
    {"restitution", STI_VALUE_NUMBER, STI_ANY, 0, STI_FRACTION, FIELD(MaterialPair, restitution), "",
     "of impacts between them, 0 to 1", "the larger of theirs", NULL},
    {"rolling_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, rolling), "m",
     "rolling torque over normal force between them", "the larger of theirs", NULL},
    {"spinning_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, spinning), "m",
     "torque about the normal over normal force between them", "the larger of theirs", NULL},
    {"adhesion", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion), "N",
     "force that a contact can pull with", "the geometric mean of theirs", NULL},
    {"adhesion_pressure", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion_pressure),
     "Pa", "the same per area of the patch in which two shapes touch; none at a single point and in planar scenes",
     "the geometric mean of theirs", NULL},
    {"adhesion_range", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.adhesion_range), "m",
     "gap up to which adhesion acts", "the larger of theirs", NULL},
    {"kinetic_friction", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.kinetic), "",
     "Coulomb's mu at speeds s above stribeck_speed: mu(s) = kinetic + (friction - kinetic) exp(-(s/stribeck_speed)^2)",
     "as `friction` where that is given, else the geometric mean of theirs", NULL},
    {"stribeck_speed", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.stribeck_speed), "m/s",
     "sliding speed over which friction falls from `friction` to `kinetic_friction`", "the larger of theirs", NULL},
    {"liquid_volume", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.liquid_volume), "m^3",
     "of the liquid bridge between two spheres, or a sphere and another shape, that touch",
     "the geometric mean of theirs", NULL},
    {"surface_tension", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.surface_tension),
     "N/m", "of that liquid", "the larger of theirs", NULL},
    {"wetting_angle", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, FIELD(MaterialPair, more.wetting_angle), "rad",
     "between that liquid and the surface, below pi/2", "the larger of theirs", NULL},
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
