/* collide/convex.c -- the general pair: any two convex shapes, by distance and patch. */
#include "collide/manifold.h"
#include "collide/pair.h"

/* An answer that may be off by more than this part of the sizes is no answer. Deep inside round shapes many
 * directions are nearly equally good, and this much is not known of the others than the one returned. */
#define ACCEPTED 0.1

/* In the plane a box is a rectangle and an ellipsoid an ellipse: what they are across it does not matter,
 * so make it too large to be the way out. Only axes of the shape that lie across the plane can be drawn out. */
void sti_core_stretch(sti_Core *core, int axis, double size)
{
    const double e[3] = {axis == 0, axis == 1, axis == 2};
    st_Vec3 local = core_to_local(core, vec3(e[0], e[1], e[2]));
    const double c[3] = {fabs(local.x), fabs(local.y), fabs(local.z)};
    double *half[3] = {&core->half.x, &core->half.y, &core->half.z};
    for (int k = 0; k < 3; k++) {
        if (c[k] < 1 - 1e-9) continue;
        if (core->kind == STI_CORE_BOX || core->kind == STI_CORE_ELLIPSOID) *half[k] = fmax(*half[k], size);
        if (core->kind == STI_CORE_CYLINDER && k == 2) core->lo = -size, core->hi = size;
    }
}

bool sti_place_pair(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                    sti_Core *core_a, sti_Core *core_b, st_Vec3 *origin)
{
    *origin = pose_a.p;
    pose_b.p = sub(pose_b.p, pose_a.p);
    pose_a.p = vec3(0, 0, 0);
    *core_a = core_placed(how->core_a, a, pose_a);
    *core_b = core_placed(how->core_b, b, pose_b);
    if (how->planar < 0) return true;
    st_Vec3 e = vec3_axis(how->planar);
    double radii = core_a->radius + core_b->radius;
    if (core_separation(core_a, core_b, e) > radii || core_separation(core_a, core_b, scale(-1, e)) > radii)
        return false;
    /* one above the other by a little: as if side by side */
    core_b->p = sub(core_b->p, scale(dot(e, core_b->p), e));
    for (int k = 0; k < 3; k++)
        core_b->corner[k] = sub(core_b->corner[k], scale(dot(e, pose_b.p), e));
    double size = 4 * (core_a->size + core_b->size + radii);
    sti_core_stretch(core_a, how->planar, size);
    sti_core_stretch(core_b, how->planar, size);
    return true;
}

/* ---- hints --------------------------------------------------------------------------------------- */

/* A unit vector as a point of the octahedron |x| + |y| + |z| = 1, its lower half folded over the upper one: two
 * numbers of 16 bits, good to 1e-4 rad. 0 stands for no vector.                                    */
#define STEPS 32766.0

static uint32_t pack(st_Vec3 n)
{
    double sum = fabs(n.x) + fabs(n.y) + fabs(n.z), x = n.x / sum, y = n.y / sum;
    if (!isfinite(x) || !isfinite(y)) return 0;
    if (n.z < 0) {
        double keep = x;
        x = copysign(1 - fabs(y), x), y = copysign(1 - fabs(keep), y);
    }
    return (uint32_t)lround(32768 + STEPS * x) << 16 | (uint32_t)lround(32768 + STEPS * y);
}

static bool unpack(const sti_Hint *hint, sti_Guess *out)
{
    uint32_t bits = hint->normal;
    if (bits == 0) return false;
    double x = ((double)(bits >> 16) - 32768) / STEPS, y = ((double)(bits & 0xffff) - 32768) / STEPS;
    st_Vec3 n = vec3(x, y, 1 - fabs(x) - fabs(y));
    if (n.z < 0) n.x = copysign(1 - fabs(y), x), n.y = copysign(1 - fabs(x), y);
    *out = (sti_Guess){scale(1 / norm(n), n), hint->features};
    return true;
}

/* ---- the pair ------------------------------------------------------------------------------------ */

st_Status sti_convex_convex(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                            const sti_Collide *how, sti_Points *out, st_Error *err)
{
    sti_Core core_a, core_b;
    st_Vec3 origin;
    if (!sti_place_pair(a, pose_a, b, pose_b, how, &core_a, &core_b, &origin)) return ST_OK;
    sti_Distance distance;
    sti_Guess guess;
    bool guessed = how->hint != NULL && unpack(how->hint, &guess);
    sti_core_distance(&core_a, &core_b, how->margin + core_a.radius + core_b.radius, guessed ? &guess : NULL,
                      &distance);
    if (how->hint != NULL) *how->hint = (sti_Hint){pack(distance.normal), distance.features};
    if (distance.beyond) return ST_OK;
    double size = core_a.size + core_b.size;
    if (!(distance.error <= ACCEPTED * size) || !isfinite(distance.gap))
        return sti_fail(err, ST_ERR_NUMERIC, "the distance of a %s and a %s could not be found: %g, good to %g only",
                        st_shape_type_name(a->type), st_shape_type_name(b->type), distance.gap, distance.error);
    return sti_manifold(&core_a, &core_b, &distance, origin, how, out, err);
}
