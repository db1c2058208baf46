/* scene/keys_grains.c -- the keys of regions, sizes of grains, and fills. */
#include "scene/keys.h"

/* ---- regions ---------------------------------------------------------------------------------- */

#define BOX        BIT(ST_REGION_BOX)
#define CYLINDER   BIT(ST_REGION_CYLINDER)
#define SPHERE     BIT(ST_REGION_SPHERE)
#define HALF_SPACE BIT(ST_REGION_HALF_SPACE)

static const sti_Key region_keys[] = {
    {"type", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Region, type), "", "the region", NULL, NULL},
    {"name", STI_VALUE_TEXT, STI_ANY, 0, STI_FINITE, 0, "", "unique among regions; needed in the list `regions`",
     "none", NULL},
    {"position", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FIELD(Region, pose.p), "m",
     "of its middle, in the world; of a half space: a point of its boundary", NULL, NULL},
    {"orientation", STI_VALUE_ROTATION, BOX | CYLINDER | HALF_SPACE, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "region to world", NULL, NULL},
    {"axis", STI_VALUE_NORMAL, CYLINDER, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "in the world, any length; in place of orientation", "the z axis", NULL},
    {"normal", STI_VALUE_NORMAL, HALF_SPACE, 0, STI_FINITE, FIELD(Region, pose.q), "",
     "out of the half space, which is on the other side; any length; in place of orientation", "the z axis", NULL},
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
    "Parts of space, fixed in the world. They hold nothing and touch nothing: fills refer to them by name.",
    region_keys,
    COUNT(region_keys),
    region_word,
    region_defaults,
};

/* ---- sizes ------------------------------------------------------------------------------------ */

/* In the order of st_SizeType, the first two left out: the shapes' own, and a number alone. */
enum { UNIFORM, NORMAL, LOG_NORMAL, SIEVE };

static const sti_Key size_keys[] = {
    {"distribution", STI_VALUE_VARIANT, STI_ANY, STI_ANY, STI_FINITE, FIELD(Size, type), "",
     "of diameters; sieve: by mass, the others: by number of grains", NULL, NULL},
    {"min", STI_VALUE_NUMBER, BIT(UNIFORM), BIT(UNIFORM), STI_POSITIVE, FIELD(Size, min), "m", "the smallest", NULL,
     NULL},
    {"max", STI_VALUE_NUMBER, BIT(UNIFORM), BIT(UNIFORM), STI_POSITIVE, FIELD(Size, max), "m", "the largest", NULL,
     NULL},
    {"mean", STI_VALUE_NUMBER, BIT(NORMAL), BIT(NORMAL), STI_POSITIVE, FIELD(Size, mean), "m", "", NULL, NULL},
    {"median", STI_VALUE_NUMBER, BIT(LOG_NORMAL), BIT(LOG_NORMAL), STI_POSITIVE, FIELD(Size, mean), "m", "", NULL,
     NULL},
    {"deviation", STI_VALUE_NUMBER, BIT(NORMAL), BIT(NORMAL), STI_NOT_NEGATIVE, FIELD(Size, deviation), "m", "standard",
     NULL, NULL},
    {"deviation", STI_VALUE_NUMBER, BIT(LOG_NORMAL), BIT(LOG_NORMAL), STI_NOT_NEGATIVE, FIELD(Size, deviation), "",
     "standard, of the natural logarithm of the size", NULL, NULL},
    {"min", STI_VALUE_NUMBER, BIT(NORMAL) | BIT(LOG_NORMAL), 0, STI_POSITIVE, FIELD(Size, min), "m",
     "sizes below are drawn again", "three deviations below the middle", NULL},
    {"max", STI_VALUE_NUMBER, BIT(NORMAL) | BIT(LOG_NORMAL), 0, STI_POSITIVE, FIELD(Size, max), "m",
     "sizes above are drawn again", "three deviations above the middle", NULL},
    {"curve", STI_VALUE_SIEVES, BIT(SIEVE), BIT(SIEVE), STI_FINITE, 0, "m, 1",
     "[[opening, share of the mass that passes], ...]: openings increasing, shares from 0 to 1; mass is spread evenly "
     "over the sizes between two openings",
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
    "The diameters of grains. That of a grain which is not one sphere is the diameter of the smallest ball about its "
    "centre of mass that holds it; all its shapes are scaled alike.",
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
     "its grains are the bodies grain_0001, grain_0002, ...: this name, and a number of four digits or more", "grain",
     NULL},
    {"region", STI_VALUE_REGION, STI_ANY, STI_ANY, STI_FINITE, FILL(fill.region), "",
     "what is filled; every grain is inside. Not a half space", NULL, &sti_region_kind},
    {"shapes", STI_VALUE_LIST, STI_ANY, STI_ANY, STI_FINITE, 0, "",
     "of one grain: one shape, or several (a clump). Mass and inertia follow from their densities", NULL,
     &sti_shape_kind},
    {"size", STI_VALUE_SIZES, STI_ANY, 0, STI_FINITE, FILL(fill.size), "m", "diameters of the grains",
     "the size of the shapes", &sti_size_kind},
    {"number", STI_VALUE_COUNT, STI_ANY, 0, STI_FINITE, FILL(fill.number), "",
     "of grains; it or packing_fraction must be given", "by packing_fraction", NULL},
    {"packing_fraction", STI_VALUE_NUMBER, STI_ANY, 0, STI_POSITIVE, FILL(fill.packing_fraction), "",
     "volume of the grains over that of the region, below 1", "by number", NULL},
    {"arrangement", STI_VALUE_CHOICE, STI_ANY, 0, STI_FINITE, FILL(fill.arrangement), "",
     "random: each at a random free place, up to a packing fraction of about 0.36; lattice: close packing of the "
     "largest size, up to 0.74, from below; dropped: each let down along the region's -z to where it rests, up to "
     "about 0.55, from below. Grains avoid spheres, and bodies no larger than they are; walls are not looked at",
     NULL, &arrangement_words},
    {"turned", STI_VALUE_BOOLEAN, STI_ANY, 0, STI_FINITE, FILL(fill.turned), "",
     "random orientations; else as the shapes are", NULL, NULL},
    {"seed", STI_VALUE_COUNT, STI_ANY, 0, STI_FINITE, FILL(seed), "", "of the random numbers", "1", NULL},
    {"velocity", STI_VALUE_VECTOR, STI_ANY, 0, STI_FINITE, FILL(fill.velocity), "m/s", "of all grains, world axes",
     NULL, NULL},
    {"locks", STI_VALUE_LOCKS, STI_ANY, 0, STI_FINITE, FILL(fill.locks), "",
     "as of bodies; along a locked axis grains are in the middle of the region, a box", NULL, NULL},
};

static void fill_defaults(int variant, sti_Def *def)
{
    (void)variant;
    def->fill = (sti_FillEntry){.fill = st_fill_def(), .seed = 1};
}

const sti_Kind sti_fill_kind = {
    "fill",
    "Fills",
    "Many bodies of one kind in a region: the members of `fills`, in their order. They join `bodies`, after those "
    "that are listed there.",
    fill_keys,
    COUNT(fill_keys),
    NULL,
    fill_defaults,
};
