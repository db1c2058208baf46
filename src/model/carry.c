/* model/carry.c -- carries the state of a world over to the world that replaces it when its scene is changed between
 * two steps.
 *
 * Objects are identified by their names. The frames of joints and springs were fixed in the bodies at the poses of
 * that time. For joints and springs that stay, these frames are copied, not computed again, and so are the zeros of
 * angles, the counted turns, and the constants of gears.
 */
#include "model/world.h"

static int find_before(const sti_World *world, const sti_Before *before, sti_ObjectKind kind, int index)
{
    return sti_names_find(&before->world->scene->names[kind], 0, world->scene->names[kind].name[index]);
}

/* ---- bodies ----------------------------------------------------------------------------------- */

void sti_carry_bodies(sti_World *world, const sti_Before *before)
{
    for (int b = 1; b < world->n_bodies; b++) {
        st_BodyDef *def = &world->scene->body[b];
        const int was = find_before(world, before, STI_BODY, b);
        double full[6];
        if (was < 1) continue;
        /* All six velocities of a body, without those that are now locked. */
        const sti_Body *body = &before->world->body[was];
        memset(full, 0, 6 * sizeof *full);
        for (int k = 0; k < body->n_dofs; k++)
            if (!def->fixed && (def->locks >> body->dof[k] & 1u) == 0)
                full[body->dof[k]] = before->v[body->v_first + k];
        def->pose = sti_pose(before->q, was);
        def->velocity = vec3_load(full);
        def->spin = vec3_load(full + 3);
    }
}

/* ---- joints and springs ----------------------------------------------------------------------- */

static bool same_vector(st_Vec3 a, st_Vec3 b)
{
    return norm(sub(a, b)) <= 1e-12 * fmax(norm(a), norm(b));
}

static bool same_body(const sti_World *world, int now, const sti_Before *before, int was)
{
    return (now == 0) == (was == 0) && (now == 0 || find_before(world, before, STI_BODY, now) == was);
}

static bool joint_stays(const sti_World *world, int now, const sti_Before *before, int was)
{
    const st_JointDef *a = &world->scene->joint[now], *b = &before->world->scene->joint[was];
    /* Every copy of a scene normalises directions again, so that the last digits may differ. */
    return a->type == b->type && same_body(world, a->a.index1, before, b->a.index1) &&
           same_body(world, a->b.index1, before, b->b.index1) && same_vector(a->point, b->point) &&
           same_vector(a->point_b, b->point_b) && same_vector(a->axis, b->axis) && same_vector(a->axis_b, b->axis_b) &&
           (a->length == b->length || fabs(a->length - b->length) <= 1e-12 * fmax(fabs(a->length), fabs(b->length)) ||
            (isnan(a->length) && isnan(b->length)));
}

static bool spring_stays(const sti_World *world, int now, const sti_Before *before, int was)
{
    const st_SpringDef *a = &world->scene->spring[now], *b = &before->world->scene->spring[was];
    const st_Quat p = a->frame, r = b->frame;
    return a->type == b->type && same_body(world, a->a.index1, before, b->a.index1) &&
           same_body(world, a->b.index1, before, b->b.index1) && same_vector(a->point_a, b->point_a) &&
           same_vector(a->point_b, b->point_b) && same_vector(a->axis, b->axis) &&
           fabs(p.w - r.w) + norm(sub(vec3(p.x, p.y, p.z), vec3(r.x, r.y, r.z))) <= 1e-12;
}

/* An angle of the new world continues one of the old; either may be -1. */
static void carry_angle(sti_World *world, int now, const sti_Before *before, int was)
{
    if (now < 0 || was < 0) return;
    sti_Angle *angle = &world->angle[now];
    const sti_Angle place = *angle;
    *angle = before->world->angle[was];
    angle->a = place.a, angle->b = place.b, angle->q = place.q;
    world->q0[angle->q] = before->q[before->world->angle[was].q];
}

void sti_carry_attachments(sti_World *world, sti_Before *before)
{
    for (int k = 0; k < world->n_joints; k++) {
        const int was = find_before(world, before, STI_JOINT, k);
        before->joint[k] = was >= 0 && joint_stays(world, k, before, was) ? was : -1;
        if (before->joint[k] >= 0) {
            sti_Joint *joint = &world->joint[k];
            const sti_Joint *old = &before->world->joint[was];
            joint->anchor_a = old->anchor_a;
            joint->anchor_b = old->anchor_b;
            joint->length = old->length;
            memcpy(joint->frame_a, old->frame_a, sizeof joint->frame_a);
            memcpy(joint->frame_b, old->frame_b, sizeof joint->frame_b);
            for (int j = 0; j < ST_N_COORDINATES; j++)
                carry_angle(world, joint->angle[j], before, old->angle[j]);
        }
    }
    for (int k = 0; k < world->n_springs; k++) {
        const int was = find_before(world, before, STI_SPRING, k);
        if (was >= 0 && spring_stays(world, k, before, was)) {
            sti_Spring *spring = &world->spring[k];
            const sti_Spring *was_spring = &before->world->spring[was];
            spring->anchor_a = was_spring->anchor_a;
            spring->anchor_b = was_spring->anchor_b;
            spring->relative = was_spring->relative;
            memcpy(spring->frame_a, was_spring->frame_a, sizeof spring->frame_a);
            carry_angle(world, spring->angle, before, was_spring->angle);
        }
    }
}

/* A gear keeps its constant if it is the same and on the same joints. */
void sti_carry_gears(sti_World *world, const sti_Before *before)
{
    for (int k = 0; k < world->n_joints; k++) {
        sti_Joint *gear = &world->joint[k];
        if (gear->type != ST_JOINT_GEAR || before->joint[k] < 0) continue;
        const sti_Joint *was = &before->world->joint[before->joint[k]];
        if (before->joint[gear->geared[0]] == was->geared[0] && before->joint[gear->geared[1]] == was->geared[1] &&
            gear->ratio == was->ratio && norm(sub(gear->curve, was->curve)) == 0)
            gear->offset = was->offset;
    }
}
