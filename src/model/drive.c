/* model/drive.c -- forces on the coordinate x of a joint, and limits on its other coordinate:
 *
 *     limits    x - lower >= 0, upper - x >= 0: contacts of dim 1, held and located as such
 *     friction  |force| <= friction, opposing dx/dt: a bounded row with target 0
 *     motor     wanted(t) = offset + target profile(t), |force - mid_force| <= max_force:
 *                   speed      a bounded row with that target
 *                   position   a bounded row -(k (x - wanted) + d (dx/dt - d wanted/dt))
 *                   speed with damping   likewise, without a spring
 *                   motion     a joint row, in joint.c, as is a speed without a force limit
 *                   force      no row: a generalised force
 *               A controller that sets u at time s, when the target was w, changes the target from then on to
 *                   wanted(t) = u;  with a lag  u + (w - u) exp(-(t - s)/lag);  integrated  w + u (t - s)
 *     spring    -(k (x - rest) + d dx/dt): a soft row
 */
#include "model/time_factor.h"
#include "model/world.h"

static bool has_limit(const sti_World *world, int joint, int which)
{
    const sti_JointValues *values = &world->values.joint[joint];
    return isfinite(values->lower[which]) || isfinite(values->upper[which]);
}

static bool has_spring(const st_JointDef *def)
{
    return def->stiffness > 0 || def->damping > 0;
}

void sti_drives_compile(sti_World *world)
{
    int soft = 0, bounded = 0;
    for (int k = 0; k < world->n_springs; k++) {
        world->spring[k].soft_row = soft;
        /* Soft rows of joints come after those of the springs. */
        int n = 0, most = world->spring[k].type == ST_SPRING_BUSHING ? STI_SPRING_ROWS : 1;
        for (int i = 0; i < most; i++)
            if (world->values.spring[k].stiffness[i] > 0 || world->values.spring[k].damping[i] > 0) n++;
        soft += world->spring[k].type == ST_SPRING_LINEAR && world->spring[k].rest == 0 ? 3 : n;
    }
    world->n_spring_rows = soft;
    for (int k = 0; k < world->n_joints; k++) {
        const st_JointDef *def = &world->scene->joint[k];
        sti_Joint *joint = &world->joint[k];
        bool pushed = def->motor.type == ST_MOTOR_FORCE;
        bool moved = def->motor.type != ST_MOTOR_NONE && !joint->held && !pushed;
        if (pushed) world->n_force_motors++;
        joint->spring_row = has_spring(def) ? soft++ : -1;
        joint->friction_row = def->friction > 0 ? bounded++ : -1;
        joint->motor_row = moved ? bounded++ : -1;
        if (has_limit(world, k, 0) || has_limit(world, k, 1)) world->n_limits++;
        if (has_spring(def)) world->n_joint_springs++;
    }
    world->n_bounded = bounded;
}

/* A drive on a coordinate that no body can change is an error, for example a motor about a locked axis. A swing
 * starts in any free direction. */
static st_Status check_drive(const sti_World *world, int index, int which, st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    sti_Measure x;
    sti_Rows rows;
    double largest = 0;
    if (joint->coordinate[which] == ST_COORDINATE_SWING) return ST_OK;
    STI_TRY(sti_coordinate_row(world, index, which, world->q0, &x, &rows, err));
    for (int i = 0; i < rows.count; i++)
        largest = fmax(largest, fabs(rows.gradient[i]));
    if (largest >= 1e-9) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "joint \"%s\": its %s cannot change, because the degrees of freedom of its bodies are locked: it "
                    "cannot be driven or limited",
                    world->scene->joint[index].name, st_coordinate_name(joint->coordinate[which]));
}

st_Status sti_drives_check(const sti_World *world, st_Error *err)
{
    for (int k = 0; k < world->n_joints; k++) {
        const st_JointDef *def = &world->scene->joint[k];
        bool driven = has_spring(def) || def->friction > 0 || def->armature > 0 || def->motor.type != ST_MOTOR_NONE;
        if (driven || has_limit(world, k, 0)) STI_TRY(check_drive(world, k, 0, err));
        if (has_limit(world, k, 1)) STI_TRY(check_drive(world, k, 1, err));
    }
    return ST_OK;
}

st_Status sti_joint_springs_push(const sti_World *world, const double *q, st_Sink *sink, st_Error *err)
{
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        const sti_JointValues *values = &world->values.joint[k];
        const double free_way = world->scene->joint[k].slack;
        sti_Measure x;
        sti_Rows rows;
        sti_CoordinateView of;
        if (joint->spring_row < 0) continue;
        STI_TRY(sti_coordinate_view(world, k, 0, q, &x, &rows, &of, err));
        const double beyond = of.x->value - values->rest;
        const bool slack = beyond > 0 && beyond < free_way;
        st_SoftRow row = {.value = slack        ? 0
                                   : beyond > 0 ? beyond - free_way
                                                : beyond,
                          .stiffness = slack ? 0 : values->stiffness,
                          .damping = values->damping,
                          .count = of.count,
                          .index = of.index,
                          .gradient = of.gradient};
        /* a row must have stiffness or damping */
        if (slack && row.damping == 0) row.damping = 1e-12 * values->stiffness;
        STI_TRY(sti_push_soft(sink, &row, err));
    }
    return ST_OK;
}

/* ---- limits ----------------------------------------------------------------------------------- */

/* of: the coordinate; closing: the largest expected closing speed of the gap. */
static st_Status push_limit(const sti_World *world, int index, int which, const double *q, bool upper, double gap,
                            double closing, const sti_CoordinateView *of, st_Sink *sink, st_Error *err)
{
    const sti_Joint *joint = &world->joint[index];
    const sti_Half *on_b = &of->x->on_b;
    const bool shifts = dot(on_b->linear, on_b->linear) > 0; /* a displacement or distance, not an angle */
    sti_Rows turned;                                         /* the row of an upper limit has the opposite sign */
    for (int i = 0; upper && i < of->count; i++)
        turned.gradient[i] = -of->gradient[i];
    st_ContactRow row = {.id = STI_LIMIT_ID + 4 * (uint64_t)index + 2 * (uint64_t)which + (upper ? 1 : 0),
                         .gap = gap,
                         .restitution = world->values.joint[index].restitution,
                         .dim = 1,
                         .count = of->count,
                         .index = of->index,
                         .gradient = upper ? turned.gradient : of->gradient,
                         .a = joint->a,
                         .b = joint->b,
                         .point = sti_joint_point(world, index, q),
                         .normal = scale(upper ? -1 : 1, shifts ? on_b->linear : on_b->angular)};
    STI_TRY(st_push_contact(sink, &row, err));
    sink->contact[sink->n_contacts - 1].closing = closing;
    return ST_OK;
}

st_Status sti_limits_push(const sti_World *world, const double *q, double margin, const sti_Foresight *ahead,
                          st_Sink *sink, st_Error *err)
{
    for (int k = 0; k < 2 * world->n_joints; k++) {
        int index = k / 2, which = k % 2;
        const sti_Joint *joint = &world->joint[index];
        sti_Measure x;
        sti_Rows rows;
        sti_CoordinateView of;
        if (!has_limit(world, index, which) || sti_sleeps(world, joint->a) || sti_sleeps(world, joint->b)) continue;
        STI_TRY(sti_coordinate_view(world, index, which, q, &x, &rows, &of, err));
        double down = 0, up = 0; /* largest expected speed of x, down and up */
        for (int side = 0; ahead->h > 0 && side < 2 && ahead->v[side] != NULL; side++) {
            double speed = 0;
            for (int i = 0; i < of.count; i++)
                speed -= of.gradient[i] * ahead->v[side][of.index[i]];
            down = sti_larger(speed, down);
            up = sti_larger(-speed, up);
        }
        const sti_JointValues *values = &world->values.joint[index];
        const double above = of.x->value - values->lower[which], below = values->upper[which] - of.x->value;
        if (above < margin + ahead->h * down)
            STI_TRY(push_limit(world, index, which, q, false, above, down, &of, sink, err));
        if (below < margin + ahead->h * up)
            STI_TRY(push_limit(world, index, which, q, true, below, up, &of, sink, err));
    }
    return ST_OK;
}

/* ---- friction and motors ---------------------------------------------------------------------- */

double sti_motor_wanted(const sti_World *world, int joint, double t, double *rate)
{
    const st_MotorDef *motor = &world->scene->joint[joint].motor;
    const sti_JointValues *values = &world->values.joint[joint];
    const sti_Control *control = &world->control[joint];
    const bool said = control->is_set && motor->type != ST_MOTOR_MOTION; /* a prescribed motion cannot jump */
    const double t_rate = world->rates_end != 0 ? fmin(t, world->rates_end) : t;
    if (rate != NULL && world->rates_over > 0)
        *rate = values->target *
                (sti_profile_value(&motor->profile, t + world->rates_over) - sti_profile_value(&motor->profile, t)) /
                world->rates_over;
    else if (rate != NULL)
        *rate = values->target * sti_profile_rate(&motor->profile, t_rate);
    if (rate != NULL && said) *rate = 0;
    if (!said) return values->offset + values->target * sti_profile_value(&motor->profile, t);
    const double set = control->value[0], from = control->value[1], passed = fmax(0, t - control->value[2]);
    double wanted = set;
    if (motor->lag > 0) wanted = set + (from - set) * exp(-passed / motor->lag);
    if (motor->integrate) wanted = from + set * passed;
    if (motor->lowest < motor->highest) wanted = fmin(fmax(wanted, motor->lowest), motor->highest);
    return wanted;
}

double sti_motion_corner(const sti_World *world, int joint, double t)
{
    double corner = INFINITY;
    for (int k = joint < 0 ? 0 : joint; k < (joint < 0 ? world->n_joints : joint + 1); k++) {
        const st_MotorDef *motor = &world->scene->joint[k].motor;
        if (motor->type == ST_MOTOR_MOTION && world->values.joint[k].target != 0)
            corner = fmin(corner, sti_profile_corner(&motor->profile, t));
    }
    return corner;
}

bool sti_motor_takes_time(const sti_World *world, int joint)
{
    const st_MotorDef *motor = &world->scene->joint[joint].motor;
    return world->control[joint].is_set && (motor->lag > 0 || motor->integrate);
}

double sti_motor_force(const sti_World *world, int joint, double t)
{
    const st_MotorDef *motor = &world->scene->joint[joint].motor;
    const double most = world->values.joint[joint].max_force;
    if (motor->type != ST_MOTOR_FORCE) return 0.0;
    return fmax(motor->mid_force - most, fmin(motor->mid_force + most, sti_motor_wanted(world, joint, t, NULL)));
}

st_Status sti_motor_forces_add(const sti_World *world, double t, const double *q, double *k, st_Error *err)
{
    for (int j = 0; j < world->n_joints; j++) {
        const sti_Joint *joint = &world->joint[j];
        const double force = sti_motor_force(world, j, t);
        sti_Measure x;
        sti_Rows rows;
        if (force == 0 || sti_sleeps(world, joint->a) || sti_sleeps(world, joint->b)) continue;
        STI_TRY(sti_coordinate_row(world, j, 0, q, &x, &rows, err));
        for (int i = 0; i < rows.count; i++)
            k[rows.index[i]] += force * rows.gradient[i];
    }
    return ST_OK;
}

static st_BoundedRow motor_row(const sti_World *world, int joint, double x, double t)
{
    const st_MotorDef *motor = &world->scene->joint[joint].motor;
    double rate, value = sti_motor_wanted(world, joint, t, &rate);
    const sti_JointValues *values = &world->values.joint[joint];
    st_BoundedRow row = {.lo = motor->mid_force - values->max_force,
                         .hi = motor->mid_force + values->max_force,
                         .target = value,
                         .damping = values->motor_damping};
    if (motor->type == ST_MOTOR_POSITION) {
        row.value = x - value;
        row.target = rate;
        row.stiffness = values->motor_stiffness;
    }
    return row;
}

static st_Status push_bounded(st_BoundedRow row, int number, const sti_CoordinateView *of, st_Sink *sink, st_Error *err)
{
    row.id = STI_BOUNDED_ID + (uint64_t)number;
    row.count = of->count;
    row.index = of->index;
    row.gradient = of->gradient;
    return sti_push_bounded(sink, &row, err);
}

/* Friction in a sleeping joint does not change; the target of a motor may change and wake the joint. */
st_Status sti_bounded_push(const sti_World *world, double t, const double *q, st_Sink *sink, st_Error *err)
{
    const bool known = world->still > 0 && sink->still_bounded == world->still;
    sink->still_bounded = 0;
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        const double friction = world->values.joint[k].friction;
        sti_Measure x;
        sti_Rows rows;
        sti_CoordinateView of;
        if (joint->friction_row < 0 && joint->motor_row < 0) continue;
        if (known && joint->motor_row < 0 && sti_both_stay(world, joint->a, joint->b)) {
            sink->bounded_rows.n_rows++;
            continue;
        }
        STI_TRY(sti_coordinate_view(world, k, 0, q, &x, &rows, &of, err));
        if (joint->friction_row >= 0)
            STI_TRY(
                push_bounded((st_BoundedRow){.lo = -friction, .hi = friction}, joint->friction_row, &of, sink, err));
        if (joint->motor_row >= 0)
            STI_TRY(push_bounded(motor_row(world, k, of.x->value, t), joint->motor_row, &of, sink, err));
    }
    sink->still_bounded = world->still;
    return ST_OK;
}
