/* scene/keys_grains.c -- the keys of regions, sizes of grains, fills, inlets, outlets and measures. */
#include "scene/keys.h"

/* ---- regions ---------------------------------------------------------------------------------- */

#define BOX        BIT(ST_REGION_BOX)
#define CYLINDER   BIT(ST_REGION_CYLINDER)
#define SPHERE     BIT(ST_REGION_SPHERE)
#define HALF_SPACE BIT(ST_REGION_HALF_SPACE)

static const sti_Key region_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Region, type), "", "the region", NULL, NULL},
    {"name", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "unique among regions; required in the list `regions`",
     "none", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Region, pose.p), "m",
     "of its centre, in the world; half space: a point on its boundary", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, BOX | CYLINDER | HALF_SPACE, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "region to world", NULL, NULL},
    {"axis", STI_VALUE_NORMAL, CYLINDER, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "in the world, any length; in place of orientation", "the z axis", NULL},
    {"normal", STI_VALUE_NORMAL, HALF_SPACE, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "normal that points out of the half space, any length; in place of orientation", "the z axis", NULL},
    {"size", STI_VALUE_EXTENTS, BOX, BOX, STI_POSITIVE, FIELD(Region, half), "m",
     "full extents along the region's x, y, z", NULL, NULL},
    {"radius", STI_VALUE_NUMBER, CYLINDER | SPHERE, CYLINDER | SPHERE, STI_POSITIVE, FIELD(Region, radius), "m", "",
     NULL, NULL},
    {"length", STI_VALUE_NUMBER, CYLINDER, CYLINDER, STI_POSITIVE, FIELD(Region, length), "m", "along its axis", NULL,
     NULL},
};

static const char *region_word(int variant)
{
    return st_region_type_name((st_RegionType)variant);
}

static void region_defaults(int variant, sti_Def *def)
{
    def->region = st_region_def();
    def->region.type = (st_RegionType)variant;
}

const sti_Kind sti_region_kind = {
    "region",
    "Regions",
    "Parts of space, fixed in the world. They have no contact with bodies. Fills, inlets, outlets and measures refer "
    "to them "
    "by name.",
    region_keys,
    COUNT(region_keys),
    region_word,
    region_defaults,
};

/* ---- periodic cells --------------------------------------------------------------------------- */

static const sti_Key cell_keys[] = {
    {"x", STI_VALUE_INTERVAL, STI_ANY, 0, STI_FINITE, offsetof(st_Cell, lower.x), "m",
     "lower and upper end of the cell along x", "open: space does not repeat along this axis", NULL},
    {"y", STI_VALUE_INTERVAL, STI_ANY, 0, STI_FINITE, offsetof(st_Cell, lower.y), "m", "lower and upper end along y",
     "open", NULL},
    {"z", STI_VALUE_INTERVAL, STI_ANY, 0, STI_FINITE, offsetof(st_Cell, lower.z), "m", "lower and upper end along z",
     "open", NULL},
};

static void cell_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->cell = (st_Cell){.lower = {0, 0, 0}};
}

const sti_Kind sti_cell_kind = {
    "periodic",
    "Periodic cells",
    "Space repeats along the axes that are given: a body that leaves the cell on one side enters it on the other, and "
    "bodies touch across its borders. Positions in recordings and tables continue beyond the cell, without a jump. "
    "Regions and pictures use the position within the cell. A body must not be wider than half the length of the cell. "
    "Planes must be parallel to the periodic axes. Other walls are at most half as long as the cell, or span all of "
    "it. "
    "Joints and springs connect the bodies themselves, not their images.",
    cell_keys,
    COUNT(cell_keys),
    NULL,
    cell_defaults,
};

/* ---- sizes ------------------------------------------------------------------------------------ */

/* In the order of st_SizeType, without the first two: the size of the shapes, and a plain number. */
enum { UNIFORM, NORMAL, LOG_NORMAL, SIEVE };

static const sti_Key size_keys[] = {
    {"distribution", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Size, type), "",
     "distribution of diameters; sieve: by mass, all others: by number of grains", NULL, NULL},
    {"min", STI_VALUE_NUMBER, BIT(UNIFORM), BIT(UNIFORM), STI_POSITIVE, FIELD(Size, min), "m", "smallest size", NULL,
     NULL},
    {"max", STI_VALUE_NUMBER, BIT(UNIFORM), BIT(UNIFORM), STI_POSITIVE, FIELD(Size, max), "m", "largest size", NULL,
     NULL},
    {"mean", STI_VALUE_NUMBER, BIT(NORMAL), BIT(NORMAL), STI_POSITIVE, FIELD(Size, mean), "m", "", NULL, NULL},
    {"median", STI_VALUE_NUMBER, BIT(LOG_NORMAL), BIT(LOG_NORMAL), STI_POSITIVE, FIELD(Size, mean), "m", "", NULL,
     NULL},
    {"deviation", STI_VALUE_NUMBER, BIT(NORMAL), BIT(NORMAL), STI_NOT_NEGATIVE, FIELD(Size, deviation), "m",
     "standard deviation", NULL, NULL},
    {"deviation", STI_VALUE_NUMBER, BIT(LOG_NORMAL), BIT(LOG_NORMAL), STI_NOT_NEGATIVE, FIELD(Size, deviation), "",
     "standard deviation of the natural logarithm of the size", NULL, NULL},
    {"min", STI_VALUE_NUMBER, BIT(NORMAL) | BIT(LOG_NORMAL), 0, STI_POSITIVE, FIELD(Size, min), "m",
     "smaller sizes are drawn again", "three deviations below the middle", NULL},
    {"max", STI_VALUE_NUMBER, BIT(NORMAL) | BIT(LOG_NORMAL), 0, STI_POSITIVE, FIELD(Size, max), "m",
     "larger sizes are drawn again", "three deviations above the middle", NULL},
    {"curve", STI_VALUE_SIEVES, BIT(SIEVE), BIT(SIEVE), STI_FINITE, 0, "m, 1",
     "[[opening, fraction of the mass that passes], ...]: openings increasing, fractions from 0 to 1; between two "
     "openings "
     "the mass is uniform over the sizes",
     NULL, NULL},
};

static const char *size_word(int variant)
{
    static const char *const word[] = {"uniform", "normal", "log-normal", "sieve"};
    return variant >= 0 && variant < COUNT(word) ? word[variant] : NULL;
}

static void size_defaults(int variant, sti_Def *def)
{
    def->size = (st_SizeDef){.type = (st_SizeType)(ST_SIZE_UNIFORM + variant)};
}

const sti_Kind sti_size_kind = {
    "size",
    "Sizes",
    "The diameters of grains. The diameter of a grain that is not a sphere is that of the smallest ball about its "
    "centre of "
    "mass that contains it. All its shapes are scaled by the same factor.",
    size_keys,
    COUNT(size_keys),
    size_word,
    size_defaults,
};

/* ---- fills ------------------------------------------------------------------------------------ */

static const char *arrangement_word(int variant)
{
    return st_arrangement_name((st_Arrangement)variant);
}

static const sti_Kind arrangement_words = {.variant_name = arrangement_word};

#define FILL(of) offsetof(sti_FillEntry, of)

static const sti_Key fill_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FILL(fill.name), "",
     "the grains are the bodies grain_0001, grain_0002, ...: this name and a number of at least four digits", "grain",
     NULL},
    {"region", STI_VALUE_REGION, STI_ANY, STI_ANY, STI_FINITE, FILL(fill.region), "",
     "the region to fill; every grain is inside it. Not a half space", NULL, &sti_region_kind},
    {"shapes", STI_VALUE_LIST, STI_ANY, STI_ANY, STI_FINITE, 0, "",
     "of one grain: one shape, or several (a clump). Mass and inertia follow from their densities", NULL,
     &sti_shape_kind},
    {"size", STI_VALUE_SIZES, STI_ANY, 0, STI_FINITE, FILL(fill.size), "m", "diameters of the grains",
     "the size of the shapes", &sti_size_kind},
    {"number", STI_VALUE_COUNT, STI_ANY, 0, STI_FINITE, FILL(fill.number), "", "number of grains",
     "from packing_fraction; without it, as many as fit (lattice, dropped)", NULL},
    {"packing_fraction", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FILL(fill.packing_fraction), "",
     "volume of the grains over that of the region, below 1; not together with number", "from number", NULL},
    {"arrangement", STI_VALUE_CHOICE, STI_ANY, 0, STI_FINITE, FILL(fill.arrangement), "",
     "random: each grain at a random free place, up to a packing fraction of about 0.36; lattice: close packing of the "
     "largest size, from below, up to 0.74; dropped: each grain is lowered along the region's -z until it rests, from "
     "below, up to about 0.55. Grains avoid spheres, and bodies that are no larger than a grain; walls are not "
     "considered",
     NULL, &arrangement_words},
    {"turned", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FILL(fill.turned), "",
     "random orientations; else those of the shapes", NULL, NULL},
    {"seed", STI_VALUE_COUNT, STI_ANY, 0, STI_FINITE, FILL(seed), "", "seed of the random numbers", "1", NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FILL(fill.velocity), "m/s", "of all grains, world axes",
     NULL, NULL},
    {"locks", STI_VALUE_LOCKS, STI_ANY, 0, STI_FINITE, FILL(fill.locks), "",
     "as for bodies; along a locked axis, grains are at the centre of the region, which must be a box", NULL, NULL},
};

static void fill_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->fill = (sti_FillEntry){.fill = st_fill_def(), .seed = 1};
}

const sti_Kind sti_fill_kind = {
    "fill",
    "Fills",
    "Many bodies of one kind in a region: the members of `fills`, in their order. They are added to `bodies`, after "
    "those "
    "that are listed there.",
    fill_keys,
    COUNT(fill_keys),
    NULL,
    fill_defaults,
};

/* ---- inlets and outlets ------------------------------------------------------------------------- */

#define INLET(of) offsetof(sti_InletEntry, of)

static const sti_Key inlet_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, INLET(inlet.grains.name), "",
     "the grains are the bodies grain_0001, grain_0002, ...: this name and a number of at least four digits", "grain",
     NULL},
    {"region", STI_VALUE_REGION, STI_ANY, STI_ANY, STI_FINITE, INLET(inlet.grains.region), "",
     "centres of grains are inserted at a random free place in it; its extents may be tiny, 1e-6 m for a plane", NULL,
     &sti_region_kind},
    {"shapes", STI_VALUE_LIST, STI_ANY, STI_ANY, STI_FINITE, 0, "", "of one grain, as for fills", NULL,
     &sti_shape_kind},
    {"size", STI_VALUE_SIZES, STI_ANY, 0, STI_FINITE, INLET(inlet.grains.size), "m", "diameters of the grains",
     "the size of the shapes", &sti_size_kind},
    {"number", STI_VALUE_COUNT, STI_ANY, STI_ANY, STI_FINITE, INLET(inlet.grains.number), "", "total number of grains",
     NULL, NULL},
    {"rate", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, INLET(inlet.rate), "1/s",
     "grains per second; rate or mass_rate is required. If there is no free place for a grain, it waits, and the "
     "grains after "
     "it wait, too",
     "from mass_rate", NULL},
    {"mass_rate", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, INLET(inlet.mass_rate), "kg/s", "mass per second",
     "from rate", NULL},
    {"start", STI_VALUE_NUMBER, STI_ANY, 0, STI_NOT_NEGATIVE, INLET(inlet.start), "s", "time of the first grain", NULL,
     NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, INLET(inlet.grains.velocity), "m/s",
     "of inserted grains, world axes", NULL, NULL},
    {"turned", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, INLET(inlet.grains.turned), "",
     "random orientations; else those of the shapes", NULL, NULL},
    {"seed", STI_VALUE_COUNT, STI_ANY, 0, STI_FINITE, INLET(seed), "", "seed of the random numbers", "1", NULL},
    {"locks", STI_VALUE_LOCKS, STI_ANY, 0, STI_FINITE, INLET(inlet.grains.locks), "",
     "as for bodies; along a locked axis, grains are inserted at the centre of the region, which must be a box", NULL,
     NULL},
};

static void inlet_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->inlet = (sti_InletEntry){.inlet = st_inlet_def(), .seed = 1};
}

const sti_Kind sti_inlet_kind = {
    "inlet",
    "Inlets",
    "Grains that are inserted during the run. All of them are bodies of the scene from the start, and absent until "
    "they are "
    "inserted. An absent body has no contacts, and recordings have no position of it.",
    inlet_keys,
    COUNT(inlet_keys),
    NULL,
    inlet_defaults,
};

static const sti_Key outlet_keys[] = {
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Outlet, name), "", "unique among outlets",
     "outlet1, outlet2, ...", NULL},
    {"region", STI_VALUE_REGION, STI_ANY, STI_ANY, STI_FINITE, FIELD(Outlet, region), "",
     "bodies with their centre in it are removed before the next step; it may be a half space", NULL, &sti_region_kind},
    {"bodies", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Outlet, bodies), "",
     "only bodies with this name; a star matches any characters: `grain_*`", "all without joints, springs and forces",
     NULL},
};

static void outlet_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->outlet = st_outlet_def();
}

const sti_Kind sti_outlet_kind = {
    "outlet",        "Outlets",          "Regions that remove bodies during the run; they do not return.",
    outlet_keys,     COUNT(outlet_keys), NULL,
    outlet_defaults,
};

/* ---- measures ----------------------------------------------------------------------------------- */

#define FLOW   BIT(ST_MEASURE_FLOW)
#define BULK   BIT(ST_MEASURE_BULK)
#define WALL   BIT(ST_MEASURE_WALL)
#define REPOSE BIT(ST_MEASURE_REPOSE)
#define GRAINS (FLOW | BULK | WALL | REPOSE)
#define TOUCH  BIT(ST_MEASURE_TOUCH)
#define FRAMED                                                                                                         \
    (BIT(ST_MEASURE_POSITION) | BIT(ST_MEASURE_ORIENTATION) | BIT(ST_MEASURE_AXIS) | BIT(ST_MEASURE_VELOCITY) |        \
     BIT(ST_MEASURE_ANGULAR_VELOCITY))
#define INERTIAL (BIT(ST_MEASURE_ACCELERATION) | BIT(ST_MEASURE_ANGULAR_ACCELERATION))
#define WRENCH   (BIT(ST_MEASURE_FORCE) | BIT(ST_MEASURE_TORQUE))
#define RANGE    BIT(ST_MEASURE_RANGE)
#define SUBTREE  (BIT(ST_MEASURE_CENTRE) | BIT(ST_MEASURE_CENTRE_VELOCITY) | BIT(ST_MEASURE_ANGULAR_MOMENTUM))
#define JOINTED  (BIT(ST_MEASURE_COORDINATE) | BIT(ST_MEASURE_SPEED) | BIT(ST_MEASURE_MOTOR) | BIT(ST_MEASURE_LIMIT))

static const sti_Key measure_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Measure, type), "",
     "flow: `mass` and `number` of bodies that entered the region, less those that left it; bulk: of the bodies in it "
     "`number`, `mass`, "
     "`packing_fraction`, `vx` `vy` `vz`, `temperature`, `coordination`, `stress_xx` to `stress_yz`, `pressure`, "
     "`force_mean`, `force_max`, `strong`, `chain`; wall: `fx` `fy` `fz` `force` `tx` `ty` `tz` `contacts`; repose: "
     "`angle`, `height`, `radius` of a heap. The others are sensors of robots. Of a frame in a body: position, "
     "orientation, "
     "(z) axis, velocity, angular_velocity, and acceleration as an accelerometer measures it. Of a body: the force and "
     "torque that hold it, touch, range, and the centre of mass and momentum of it and of all bodies that it carries. "
     "Of a "
     "joint: coordinate, speed, motor and limit force. Of the scene: time, energy",
     NULL, NULL},
    {"name", STI_VALUE_NAME, STI_ANY, 0, STI_FINITE, FIELD(Measure, name), "",
     "unique among measures; its curves are NAME.mass and so on", "measure1, measure2, ...", NULL},
    {"region", STI_VALUE_REGION, FLOW | BULK | REPOSE | TOUCH, FLOW | BULK | REPOSE | TOUCH, STI_FINITE,
     FIELD(Measure, region), "",
     "flow: for a half space, bodies that cross its plane are counted; repose: its z axis is that of the heap, its "
     "bottom is "
     "the floor; touch: in the axes of the body, from its centre of mass",
     NULL, &sti_region_kind},
    {"wall", STI_VALUE_NAME, WALL, 0, STI_FINITE, FIELD(Measure, wall), "", "the name of a body", "the ground", NULL},
    {"shape", STI_VALUE_NAME, WALL, 0, STI_FINITE, FIELD(Measure, shape), "", "the name of a shape of the wall",
     "all of them", NULL},
    {"bodies", STI_VALUE_NAME, GRAINS, 0, STI_FINITE, FIELD(Measure, bodies), "",
     "only bodies with this name; a star matches any characters: `grain_*`", "all that move", NULL},
    {"body", STI_VALUE_NAME, FRAMED | INERTIAL | WRENCH | RANGE | SUBTREE | TOUCH, 0, STI_FINITE, FIELD(Measure, body),
     "", "the name of a body", "the ground", NULL},
    {"point", STI_VALUE_VECTOR, FRAMED | INERTIAL | WRENCH | RANGE, 0, STI_FINITE, FIELD(Measure, frame.p), "m",
     "position of the sensor, in the axes of the body, from its centre of mass", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, FRAMED | INERTIAL | WRENCH | RANGE, 0, STI_FINITE, FIELD(Measure, frame.q), "",
     "of the sensor in the body", NULL, NULL},
    {"reference", STI_VALUE_NAME, FRAMED, 0, STI_FINITE, FIELD(Measure, reference), "",
     "a body; values are relative to it, in its axes", "the world", NULL},
    {"reference_point", STI_VALUE_VECTOR, FRAMED, 0, STI_FINITE, FIELD(Measure, reference_frame.p), "m",
     "origin of the reference frame, in the axes of the reference body, from its centre of mass", NULL, NULL},
    {"reference_orientation", STI_VALUE_ROTATION, FRAMED, 0, STI_FINITE, FIELD(Measure, reference_frame.q), "",
     "of the reference frame in its body", NULL, NULL},
    {"axes", STI_VALUE_AXES, FRAMED | INERTIAL | WRENCH, 0, STI_FINITE, FIELD(Measure, own_axes), "",
     "axes of the values; `body`: those of the sensor", "world, or those of the reference", NULL},
    {"joint", STI_VALUE_NAME, JOINTED, JOINTED, STI_FINITE, FIELD(Measure, joint), "", "the name of a joint", NULL,
     NULL},
    {"factor", STI_VALUE_NUMBER, JOINTED, 0, STI_FINITE, FIELD(Measure, factor), "", "factor on the value", NULL, NULL},
    {"offset", STI_VALUE_NUMBER, BIT(ST_MEASURE_COORDINATE), 0, STI_FINITE, FIELD(Measure, offset), "m or rad",
     "added to the value: angles and displacements are 0 at the start", NULL, NULL},
};

static const char *measure_word(int variant)
{
    return st_measure_type_name((st_MeasureType)variant);
}

static void measure_defaults(int variant, sti_Def *def)
{
    def->measure = st_measure_def((st_MeasureType)variant);
}

const sti_Kind sti_measure_kind = {
    "measure",
    "Measures",
    "Measurements of grains, and sensors of robots. Recordings, tables and plots contain their values as curves. "
    "Stress is "
    "positive in compression. Forces are means over a step and include impacts; only force and torque of a body leave "
    "them out.",
    measure_keys,
    COUNT(measure_keys),
    measure_word,
    measure_defaults,
};
