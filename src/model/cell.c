/* model/cell.c -- shapes in a periodic cell: which extend through the whole cell, and which are too large for it.
 *
 * Two bodies touch at their nearest images (math/cell.h). These are all their contacts if no other images can touch,
 * so a moving body may be at most half as wide as the cell is long. Planes, and walls and floors that extend through
 * the whole cell, have no images along that axis: they touch the image of a body that is in the cell.
 */
#include "model/world.h"

static bool can_move(const sti_Body *body, int dof)
{
    for (int k = 0; k < body->n_dofs; k++)
        if (body->dof[k] == dof) return true;
    return false;
}

static bool can_turn(const sti_Body *body)
{
    return can_move(body, 3) || can_move(body, 4) || can_move(body, 5);
}

/* Checks shape k along axis e. The widest grain reaches `grain` from its centre. */
static st_Status compile_along(sti_World *world, int k, int e, double grain, st_Error *err)
{
    sti_Collider *c = &world->collider;
    const st_Scene *scene = world->scene;
    const sti_Body *body = &world->body[scene->shape_body[k]];
    const sti_Shape *shape = sti_shape_of(c, k);
    const st_Pose pose = pose_product(scene->body[scene->shape_body[k]].pose, *sti_shape_pose(scene, k));
    const double lower = scene->cell.lower[e], length = scene->cell.length[e], upper = lower + length;
    const unsigned char through = (unsigned char)(1u << e), stays = (unsigned char)(8u << e);
    const char axis = (char)('x' + e);
    if (!isfinite(shape->reach)) {
        const double slope = dot(rotate(pose.q, vec3(0, 0, 1)), vec3_axis(e));
        if (fabs(slope) > 1e-9)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "shape %s is a plane across %c (its normal is %g along it), and the cell is periodic along "
                            "%c from %g to %g m: a wall cannot be across a periodic axis",
                            sti_shape_label(scene, k).text, axis, slope, axis, lower, upper);
        if (can_turn(body))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "shape %s is a plane on a body that can turn, and the cell is periodic along %c: lock its "
                            "rotation",
                            sti_shape_label(scene, k).text, axis);
        c->spans[k] |= through | stays;
        return ST_OK;
    }
    /* the lever of a body that cannot turn is never needed, so each of its shapes may have its own image */
    const double reach = can_turn(body) ? c->body_reach[scene->shape_body[k]] : shape->reach;
    if (4 * reach <= length) return ST_OK;
    const sti_Bounds box = sti_shape_bounds(shape, pose);
    const double lo = dot(box.lo, vec3_axis(e)), hi = dot(box.hi, vec3_axis(e));
    const bool along = can_move(body, e);
    if (!can_turn(body) && (along ? hi - lo >= 2 * (length + grain) : lo <= lower - grain && hi >= upper + grain)) {
        c->spans[k] |= along ? through : through | stays;
        return ST_OK;
    }
    if (body->n_dofs > 0 && (can_turn(body) || hi - lo < length))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "body \"%s\" is %g m wide, and the periodic cell is %g m long along %c: the cell must be at "
                        "least as long as two of them, %g m",
                        scene->names[STI_BODY].name[scene->shape_body[k]], 2 * reach, length, axis, 4 * reach);
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "shape %s is from %g to %g m along %c, and the periodic cell from %g to %g m: it must be at most "
                    "half as long as the cell, or span all of it, at least from %g to %g m",
                    sti_shape_label(scene, k).text, lo, hi, axis, lower, upper,
                    along ? 0.5 * (lo + hi) - length - grain : lower - grain,
                    along ? 0.5 * (lo + hi) + length + grain : upper + grain);
}

st_Status sti_cell_compile(sti_World *world, st_Error *err)
{
    const sti_Collider *c = &world->collider;
    const st_Scene *scene = world->scene;
    if (!scene->cell.repeats) return ST_OK;
    double grain = 0; /* only bodies that turn: others may be driven walls */
    for (int b = 1; b < world->n_bodies; b++)
        if (can_turn(&world->body[b]) && isfinite(c->body_reach[b])) grain = fmax(grain, c->body_reach[b]);
    for (int k = 0; k < c->n_shapes; k++)
        for (int e = 0; e < 3; e++)
            if (scene->cell.length[e] > 0) STI_TRY(compile_along(world, k, e, grain, err));
    return ST_OK;
}

/* A shape has no images along axes that it extends through, and a fixed wall is not moved. */
st_Vec3 sti_cell_shift_of(const sti_World *world, int shape, st_Vec3 centre)
{
    if (sti_is_absent(world, world->scene->shape_body[shape])) return vec3(0, 0, 0);
    const st_Vec3 shift = cell_shift(&world->scene->cell, centre);
    const unsigned stays = world->collider.spans[shape] >> 3;
    return vec3((stays & 1u) != 0 ? 0 : shift.x, (stays & 2u) != 0 ? 0 : shift.y, (stays & 4u) != 0 ? 0 : shift.z);
}

st_Vec3 sti_cell_image_of(const sti_World *world, int i, int j)
{
    const sti_Collider *c = &world->collider;
    const st_Vec3 d = sub(c->ball[j].centre, c->ball[i].centre), shift = sub(cell_nearest(&world->scene->cell, d), d);
    const unsigned through = c->spans[i] | c->spans[j];
    return vec3((through & 1u) != 0 ? 0 : shift.x, (through & 2u) != 0 ? 0 : shift.y,
                (through & 4u) != 0 ? 0 : shift.z);
}
