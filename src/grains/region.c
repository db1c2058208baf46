/* grains/region.c -- regions of space: checks, volumes, and whether a point or a ball is inside. */
#include "base/range.h"
#include "base/tolerance.h"
#include "grains/grains.h"

st_RegionDef st_region_def(void)
{
    return (st_RegionDef){
        .pose = pose_identity(), .radius = 0.5, .length = 1, .half = {0.5, 0.5, 0.5}, .cookie = STI_COOKIE};
}

const char *st_region_type_name(st_RegionType type)
{
    static const char *const name[ST_N_REGION_TYPES] = {"box", "cylinder", "sphere", "half-space"};
    return (unsigned)type < ST_N_REGION_TYPES ? name[type] : NULL;
}

static st_Status check_size(const char *owner, const char *what, double x, st_Error *err)
{
    if (sti_between(x, STI_SHORTEST, STI_LONGEST)) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s: %s of its region is %g, must be from %g to %g", owner, what, x,
                    STI_SHORTEST, STI_LONGEST);
}

st_Status sti_region_check(const char *owner, st_RegionDef *region, st_Error *err)
{
    STI_CHECK_DEF(region, "st_region_def", err);
    const st_Vec3 p = region->pose.p;
    const double length = quat_norm(region->pose.q);
    if (!sti_within(p.x, STI_LONGEST) || !sti_within(p.y, STI_LONGEST) || !sti_within(p.z, STI_LONGEST))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: position of its region is (%g, %g, %g), each must be from %g to %g",
                        owner, p.x, p.y, p.z, -STI_LONGEST, STI_LONGEST);
    if (!(fabs(length - 1) <= STI_UNIT))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: orientation of its region has length %g, must be a unit quaternion",
                        owner, length);
    region->pose.q = quat_unit(region->pose.q);
    switch (region->type) {
    case ST_REGION_BOX:
        STI_TRY(check_size(owner, "half size", region->half.x, err));
        STI_TRY(check_size(owner, "half size", region->half.y, err));
        return check_size(owner, "half size", region->half.z, err);
    case ST_REGION_CYLINDER:
        STI_TRY(check_size(owner, "length", region->length, err));
        return check_size(owner, "radius", region->radius, err);
    case ST_REGION_SPHERE:
        return check_size(owner, "radius", region->radius, err);
    case ST_REGION_HALF_SPACE:
        return ST_OK;
    }
    return sti_fail(err, ST_ERR_ARGUMENT, "%s: type of its region is %d, must be 0 to %d", owner, (int)region->type,
                    ST_N_REGION_TYPES - 1);
}

st_Vec3 sti_region_half(const st_RegionDef *region)
{
    const double r = region->radius;
    switch (region->type) {
    case ST_REGION_BOX:
        return region->half;
    case ST_REGION_CYLINDER:
        return (st_Vec3){r, r, region->length / 2};
    case ST_REGION_SPHERE:
        return (st_Vec3){r, r, r};
    case ST_REGION_HALF_SPACE:
        break;
    }
    return (st_Vec3){INFINITY, INFINITY, INFINITY};
}

bool sti_region_holds_ball(const st_RegionDef *region, const bool free[3], st_Vec3 middle, double radius)
{
    const double x = free[0] ? fabs(middle.x) + radius : 0, y = free[1] ? fabs(middle.y) + radius : 0,
                 z = free[2] ? fabs(middle.z) + radius : 0;
    switch (region->type) {
    case ST_REGION_BOX:
        return x <= region->half.x && y <= region->half.y && z <= region->half.z;
    case ST_REGION_CYLINDER:
        return hypot(middle.x, middle.y) + radius <= region->radius && z <= region->length / 2;
    case ST_REGION_SPHERE:
        return norm(middle) + radius <= region->radius;
    case ST_REGION_HALF_SPACE:
        return middle.z + radius < 0;
    }
    return false;
}

bool st_region_holds(const st_RegionDef *region, st_Vec3 point)
{
    static const bool all[3] = {true, true, true};
    return sti_region_holds_ball(region, all, rotate_back(region->pose.q, sub(point, region->pose.p)), 0);
}

double st_region_volume(const st_RegionDef *region)
{
    switch (region->type) {
    case ST_REGION_BOX:
        return 8 * region->half.x * region->half.y * region->half.z;
    case ST_REGION_CYLINDER:
        return STI_PI * region->radius * region->radius * region->length;
    case ST_REGION_SPHERE:
        return 4 * STI_PI / 3 * region->radius * region->radius * region->radius;
    case ST_REGION_HALF_SPACE:
        break;
    }
    return INFINITY;
}
