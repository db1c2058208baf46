/* collide/narrow/convex.c -- the general pair: any two convex shapes, by distance and patch. */
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

/* A result with a larger error than this, relative to the sizes, is refused. Deep inside round shapes many
 * directions are nearly equally good, and so much is unknown about the others than the one returned. */
#define ACCEPTED 0.1

/* In the plane a box is a rectangle and an ellipsoid an ellipse. Their extent across the plane does not matter, so
 * it is made too large to be the way out. Only axes of the shape across the plane can be stretched; stretching a
 * tilted axis would change the shape. */
void sti_core_stretch(sti_Core *core, int axis, double size)
{
    st_Vec3 local = core_to_local(core, vec3_axis(axis));
    const double c[3] = {local.x, local.y, local.z};
    double *half[3] = {&core->half.x, &core->half.y, &core->half.z};
    for (int k = 0; k < 3; k++) {
        if (hypot(c[(k + 1) % 3], c[(k + 2) % 3]) > 1e-10) continue;
        if (core->kind == STI_CORE_BOX || core->kind == STI_CORE_ELLIPSOID) *half[k] = fmax(*half[k], size);
        if (core->kind == STI_CORE_CYLINDER && k == 2) core->lo = -size, core->hi = size;
    }
}

bool sti_place_pair(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                    sti_Placed *out)
{
    out->origin = pose_a.p;
    out->a = how->core_a;
    out->b = &out->own[1];
    pose_b.p = sub(pose_b.p, pose_a.p);
    pose_a.p = vec3(0, 0, 0);
    core_place(how->core_b, b, pose_b, &out->own[1]);
    if (how->planar < 0 && how->core_a != NULL) return true;
    core_place(how->core_a, a, pose_a, &out->own[0]);
    out->a = &out->own[0];
    if (how->planar < 0) return true;

    /* In the plane: ignores a small offset across it, and treats the shapes as infinite across it. */
    sti_Core *core_a = &out->own[0], *core_b = &out->own[1];
    const st_Vec3 e = vec3_axis(how->planar), across = scale(dot(e, core_b->p), e);
    const double radii = core_a->radius + core_b->radius, size = 4 * (core_a->size + core_b->size + radii);
    if (core_separation(core_a, core_b, e) > radii || core_separation(core_a, core_b, scale(-1, e)) > radii)
        return false;
    core_b->p = sub(core_b->p, across);
    for (int k = 0; k < 3; k++)
        core_b->corner[k] = sub(core_b->corner[k], across);
    sti_core_stretch(core_a, how->planar, size);
    sti_core_stretch(core_b, how->planar, size);
    return true;
}

/* ---- hints --------------------------------------------------------------------------------------- */

/* A unit vector as a point of the octahedron |x| + |y| + |z| = 1, its lower half folded over the upper one: two
 * numbers of 16 bits, accurate to 1e-4 rad. 0 means no vector. */
#define STEPS 32766.0

static uint32_t convex_pack(st_Vec3 n)
{
    double sum = fabs(n.x) + fabs(n.y) + fabs(n.z), x = n.x / sum, y = n.y / sum;
    if (!isfinite(x) || !isfinite(y)) return 0;
    if (n.z < 0) {
        double keep = x;
        x = copysign(1 - fabs(y), x), y = copysign(1 - fabs(keep), y);
    }
    return (uint32_t)lround(32768 + STEPS * x) << 16 | (uint32_t)lround(32768 + STEPS * y);
}

static bool convex_unpack(const sti_Hint *hint, sti_Guess *out)
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
    sti_Placed placed;
    if (!sti_place_pair(a, pose_a, b, pose_b, how, &placed)) return ST_OK;
    const sti_Core *core_a = placed.a, *core_b = placed.b;
    sti_Distance distance;
    sti_Guess guess;
    const double size = core_a->size + core_b->size, radii = core_a->radius + core_b->radius;
    if (how->cached != NULL && how->cached->room > 0 &&
        sti_features_distance(core_a, core_b, how->cached->features, how->margin + radii, true, &distance)) {
        if (distance.beyond && how->apart != NULL) *how->apart = distance.gap - radii;
        return distance.beyond ? ST_OK : sti_manifold_again(core_a, core_b, &distance, placed.origin, how, out, err);
    }
    if (how->cached != NULL) how->cached->room = 0;
    bool guessed = how->hint != NULL && convex_unpack(how->hint, &guess);
    sti_core_distance(core_a, core_b, how->margin + radii, guessed ? &guess : NULL, &distance);
    if (how->hint != NULL) *how->hint = (sti_Hint){convex_pack(distance.normal), distance.features};
    if (how->planar >= 0) sti_distance_in_plane(core_a, core_b, how->planar, how->margin + radii, &distance);
    if (distance.beyond && how->apart != NULL) *how->apart = distance.gap - radii;
    if (distance.beyond) return ST_OK;
    if (!(distance.error <= ACCEPTED * size) || !isfinite(distance.gap))
        return sti_fail(err, ST_ERR_NUMERIC, "the distance of a %s and a %s could not be found: %g, good to %g only",
                        st_shape_type_name(a->type), st_shape_type_name(b->type), distance.gap, distance.error);
    return sti_manifold(core_a, core_b, &distance, placed.origin, how, out, err);
}
