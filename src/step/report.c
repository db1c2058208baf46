/* step/report.c -- what a step says of forces: contacts, sums over a body, joints, momentum.
 *
 * All of it belongs to the last step problem, whose rows were taken at system->step.q: impulses r of the
 * contacts, l of the joints, over a time eta. A joint row with gradient (on_a, on_b) and impulse l does
 *
 *     force l on_b.linear,   torque about the joint's point p   l (on_b.angular - (p - x_b) x on_b.linear)
 *
 * to body b, and the opposite to a at the same point.
 *
 * Forces are r/eta and l/eta. With one stage a step that is the impulse of the step over its length; the last of two
 * (sdirk2) is at the end of the step, where the state is. Impulses are of the whole step, all of its stages weighed
 * (sti_total_impulses).
 */
#include "step/step.h"

#include <stdio.h>

/* ---- contacts --------------------------------------------------------------------------------- */

const st_Problem *st_system_problem(const st_System *system, const double **r)
{
    if (r != NULL) *r = system->step.r;
    return sti_rows_make(&system->step.problem, NULL) == ST_OK ? &system->step.problem : NULL;
}

int st_system_island_count(const st_System *system)
{
    return system->step.problem.n_v > 0 ? sti_islands_count(system->islands) : 0;
}

st_Status st_system_island(const st_System *system, int index, st_IslandReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const sti_Island *island = index < st_system_island_count(system) ? sti_islands_get(system->islands, index) : NULL;
    if (island == NULL) return ST_ERR_ARGUMENT;
    *out = (st_IslandReport){island->n_blocks, island->n_contacts, island->n_l, island->info};
    return ST_OK;
}

int st_system_contact_count(const st_System *system)
{
    return system->step.n_gaps + system->sleep.n_contacts;
}

/* r of a contact on body b, world axes. */
static st_Vec3 along(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent)
{
    st_Vec3 sum = scale(r[0], normal);
    if (dim > 1) sum = add(sum, scale(r[1], tangent));
    if (dim > 2) sum = add(sum, scale(r[2], cross(normal, tangent)));
    return sum;
}

/* What of it turns body b about the contact's point, world axes: rolling about the tangents, spinning about the normal.
 */
static st_Vec3 about(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent)
{
    st_Vec3 sum = {0, 0, 0};
    if (dim >= 5) sum = add(scale(r[3], tangent), scale(r[4], cross(normal, tangent)));
    if (dim == 4 || dim == 6) sum = add(sum, scale(r[dim - 1], normal));
    return sum;
}

/* 1/eta, or 0 in an impact, which has no force. */
static double per_second(const sti_Assembly *step)
{
    return step->eta > 0 ? 1 / step->eta : 0.0;
}

/* H'v of a contact, and its belt: u without what drift, an impact law and compliance add to it. Rows that wait (order
 * one, rigid) have no more of that than a closing gap and a diagonal compliance, and their bodies may be elsewhere by
 * now. */
static void relative_velocity(const st_System *system, const st_ContactLaw *law, const sti_ContactEntry *entry,
                              double *velocity)
{
    const sti_Assembly *step = &system->step;
    const bool waits = step->problem.n_r > 0 && step->problem.H.p == NULL;
    sti_belt_speeds(system->world, step->q, law, entry, velocity);
    for (int k = 0, row = law->first; k < law->dim; k++, row++) {
        if (waits)
            velocity[k] =
                step->u[row] - (k == 0 ? step->w[row] : 0.0) - (step->compliant ? step->C[row] * step->r[row] : 0.0);
        else
            velocity[k] += sti_row_dot(&step->H, row, system->v);
    }
}

/* A contact of the step problem. */
static void solved_contact(const st_System *system, int c, st_ContactReport *out)
{
    const sti_Assembly *step = &system->step;
    const sti_ContactEntry *entry = &step->chosen[c].entry;
    const st_ContactLaw *law = &step->law[c];
    const double *r = step->r + law->first;
    int joint = system->world != NULL ? sti_limit_joint(entry->id) : -1;
    *out = (st_ContactReport){.id = entry->id,
                              .a = {entry->a},
                              .b = {entry->b},
                              .shape_a = {entry->shape_a},
                              .shape_b = {entry->shape_b},
                              .joint = {joint + 1},
                              .point = entry->point,
                              .normal = entry->normal,
                              .tangent = entry->tangent,
                              .gap = entry->gap,
                              .dim = law->dim};
    relative_velocity(system, law, entry, out->velocity);
    memcpy(out->impulse, step->whole + law->first, (size_t)law->dim * sizeof(double));
    if (joint >= 0) return;
    out->force = scale(per_second(step), along(law->dim, r, entry->normal, entry->tangent));
    out->torque = scale(per_second(step), about(law->dim, r, entry->normal, entry->tangent));
}

/* One among bodies that sleep: no velocity, and the force it fell asleep with. */
static void sleeping_contact(const st_System *system, const sti_Sleeper *sleeper, st_ContactReport *out)
{
    const sti_Impulse *i = &sleeper->impulse;
    int joint = sti_limit_joint(i->id);
    *out = (st_ContactReport){.id = i->id,
                              .a = {sleeper->a},
                              .b = {sleeper->b},
                              .shape_a = {i->shape_a},
                              .shape_b = {i->shape_b},
                              .joint = {joint + 1},
                              .point = i->point,
                              .normal = i->normal,
                              .tangent = i->tangent,
                              .gap = sleeper->gap,
                              .dim = i->dim,
                              .asleep = true};
    for (int k = 0; k < i->dim; k++)
        out->impulse[k] = system->history.h * i->r[k];
    if (joint >= 0) return;
    out->force = along(i->dim, i->r, i->normal, i->tangent);
    out->torque = about(i->dim, i->r, i->normal, i->tangent);
}

st_Status st_system_contact(const st_System *system, int index, st_ContactReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const int n_solved = system->step.n_gaps;
    if (index < 0 || index >= st_system_contact_count(system)) return ST_ERR_ARGUMENT;
    if (index < n_solved)
        solved_contact(system, index, out);
    else
        sleeping_contact(system, &system->sleep.contact[index - n_solved], out);
    return ST_OK;
}

st_Status st_system_contact_force(const st_System *system, st_BodyId body, st_Vec3 *force, st_Vec3 *torque)
{
    if (system == NULL) return ST_ERR_ARGUMENT;
    st_Vec3 sum = {0, 0, 0}, moment = {0, 0, 0};
    if (system->world == NULL || body.index1 < 0 || body.index1 >= system->world->n_bodies) return ST_ERR_ARGUMENT;
    st_Vec3 centre = sti_pose(system->step.q, body.index1).p;
    for (int c = 0; c < st_system_contact_count(system); c++) {
        st_ContactReport contact;
        STI_TRY(st_system_contact(system, c, &contact));
        if (contact.joint.index1 > 0 || (contact.a.index1 != body.index1 && contact.b.index1 != body.index1)) continue;
        double sign = contact.b.index1 == body.index1 ? 1 : -1;
        st_Vec3 one = scale(sign, contact.force);
        sum = add(sum, one);
        moment = add(moment, add(cross(sub(contact.point, centre), one), scale(sign, contact.torque)));
    }
    if (force != NULL) *force = sum;
    if (torque != NULL) *torque = moment;
    return ST_OK;
}

/* ---- joints ----------------------------------------------------------------------------------- */

/* A joint's transmitted impulse, summed up row by row. */
typedef struct Sum {
    st_Vec3 lever; /* from b's centre of mass to the joint's point                                 */
    st_Vec3 linear, angular;
} Sum;

static void add_impulse(Sum *sum, double l, const sti_Measure *row)
{
    st_Vec3 torque = sub(row->on_b.angular, cross(sum->lever, row->on_b.linear));
    sum->linear = add(sum->linear, scale(l, row->on_b.linear));
    sum->angular = add(sum->angular, scale(l, torque));
}

/* Whose impulses: those of the last stage, or of the whole step. */
typedef struct Impulses {
    const double *l, *r;
    double time; /* that they act for [s]; 0: an impact */
} Impulses;

static Impulses of_stage(const sti_Assembly *step)
{
    return (Impulses){step->l, step->r, step->eta};
}

static Impulses of_step(const sti_Assembly *step)
{
    return (Impulses){step->whole_l, step->whole, step->length};
}

/* Of bounded row k: 0 where there is none, or where the problem was an impact's. */
static double bounded_impulse(const sti_Assembly *step, const Impulses *from, int k)
{
    return k >= 0 && k < step->n_bounded ? from->r[step->law[step->n_gaps + k].first] : 0.0;
}

/* Of both limits of a joint, along its coordinate or the other one. Limits stand after the contacts, by id. */
static double limit_impulse(const st_System *system, const Impulses *from, int joint, int which)
{
    const sti_Assembly *step = &system->step;
    const sti_Sleep *sleep = &system->sleep;
    double sum = 0;
    for (int c = sleep->n_contacts - 1; c >= 0 && sleep->contact[c].impulse.id >= STI_LIMIT_ID; c--) {
        const sti_Impulse *i = &sleep->contact[c].impulse;
        if (sti_limit_joint(i->id) == joint && sti_limit_which(i->id) == which)
            sum += ((i->id & 1u) != 0 ? -from->time : from->time) * i->r[0];
    }
    for (int c = step->n_gaps - 1; c >= 0 && step->chosen[c].entry.id >= STI_LIMIT_ID; c--) {
        const uint64_t id = step->chosen[c].entry.id;
        const double r = from->r[step->law[c].first];
        if (sti_limit_joint(id) == joint && sti_limit_which(id) == which) sum += (id & 1u) != 0 ? -r : r;
    }
    return sum;
}

/* Of a joint's spring: its soft row's, or with the explicit integrator its force at the new velocity. */
static double spring_impulse(const st_System *system, const Impulses *from, int index, const sti_Measure *x,
                             double speed)
{
    const sti_Assembly *step = &system->step;
    const st_JointDef *def = &system->world->scene->joint[index];
    int row = system->world->joint[index].spring_row;
    if (row < 0 || step->eta == 0) return 0;
    row += system->here.joint_rows.n_rows;
    if (row < step->problem.n_l) return from->l[row];
    return -from->time * (def->stiffness * (x->value - def->rest) + def->damping * speed);
}

/* Speed of a joint's coordinate, by the bodies' velocities now. */
static double gauge_speed(const st_System *system, int index, const sti_Measure *x)
{
    const sti_Joint *joint = &system->world->joint[index];
    sti_Rows rows;
    double sum = 0;
    sti_rows_measure(system->world, system->q, joint->a, joint->b, x, &rows);
    for (int k = 0; k < rows.count; k++)
        sum += rows.gradient[k] * system->v[rows.index[k]];
    return sum;
}

/* What the rows of a joint transmitted, in all and share by share. */
typedef struct Shares {
    Sum sum;
    double motor, friction, limit, spring, other_limit;
} Shares;

static st_Status transmitted(const st_System *system, int index, const Impulses *from, double speed, Shares *out)
{
    const sti_World *world = system->world;
    const sti_Joint *joint = &world->joint[index];
    const sti_Assembly *step = &system->step;
    const double *l = from->l + joint->first_row;
    sti_Measure row[STI_JOINT_ROWS], x;
    *out = (Shares){.sum.lever = sub(sti_joint_point(world, index, step->q), sti_pose(step->q, joint->b).p)};
    if (joint->type == ST_JOINT_GEAR) {
        out->motor = l[0];
        return ST_OK;
    }
    STI_TRY(sti_joint_measures(world, index, step->t, step->q, row, NULL));
    STI_TRY(sti_joint_gauge(world, index, 0, step->q, &x, NULL));
    for (int k = 0; k < joint->n_rows; k++)
        add_impulse(&out->sum, l[k], &row[k]);
    const double motor =
        bounded_impulse(step, from, joint->motor_row) + from->time * sti_motor_force(world, index, step->t);
    out->friction = bounded_impulse(step, from, joint->friction_row);
    out->limit = limit_impulse(system, from, index, 0);
    out->spring = spring_impulse(system, from, index, &x, speed);
    add_impulse(&out->sum, motor + out->friction + out->limit + out->spring, &x);
    out->motor = joint->held ? l[joint->n_rows - 1] : motor;
    if (joint->coordinate[1] == ST_COORDINATE_DEFAULT) return ST_OK;
    STI_TRY(sti_joint_gauge(world, index, 1, step->q, &x, NULL));
    out->other_limit = limit_impulse(system, from, index, 1);
    add_impulse(&out->sum, out->other_limit, &x);
    return ST_OK;
}

/* Forces by the last stage, impulses by the whole step. */
static st_Status report_transmitted(const st_System *system, int index, st_Frame frame, st_JointReport *out)
{
    const sti_Assembly *step = &system->step;
    const Impulses stage = of_stage(step), whole = of_step(step);
    const double rate = per_second(step);
    const st_Quat a = sti_pose(step->q, system->world->joint[index].a).q;
    Shares force, impulse;
    STI_TRY(transmitted(system, index, &stage, out->speed, &force));
    STI_TRY(transmitted(system, index, &whole, out->speed, &impulse));
    out->motor = rate * force.motor;
    out->friction = rate * force.friction;
    out->limit = rate * force.limit;
    out->spring = rate * force.spring;
    out->other_limit = rate * force.other_limit;
    Sum *sums[2] = {&force.sum, &impulse.sum};
    for (int k = 0; frame == ST_FRAME_A && k < 2; k++) {
        sums[k]->linear = rotate_back(a, sums[k]->linear);
        sums[k]->angular = rotate_back(a, sums[k]->angular);
    }
    out->impulse = impulse.sum.linear;
    out->angular_impulse = impulse.sum.angular;
    out->force = scale(rate, force.sum.linear);
    out->torque = scale(rate, force.sum.angular);
    return ST_OK;
}

static double joint_error(const st_System *system, const sti_Joint *joint)
{
    double worst = 0;
    for (int k = joint->first_row; k < joint->first_row + joint->n_rows; k++)
        worst = fmax(worst, fabs(system->here.joint[k].value));
    return worst;
}

st_Status st_system_joint(const st_System *system, st_JointId id, st_Frame frame, st_JointReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const sti_World *world = system->world;
    int index = id.index1 - 1;
    if (world == NULL || index < 0 || index >= world->n_joints || (frame != ST_FRAME_WORLD && frame != ST_FRAME_A))
        return ST_ERR_ARGUMENT;
    const sti_Joint *joint = &world->joint[index];
    sti_Measure x;
    *out = (st_JointReport){.error = joint_error(system, joint)};
    STI_TRY(sti_joint_gauge(world, index, 0, system->q, &x, NULL));
    out->coordinate = x.value;
    out->speed = gauge_speed(system, index, &x);
    STI_TRY(sti_joint_gauge(world, index, 1, system->q, &x, NULL));
    out->other = x.value;
    out->other_speed = gauge_speed(system, index, &x);
    out->point = sti_joint_point(world, index, system->q);
    if (system->step.problem.n_v == 0) return ST_OK; /* no step was taken yet */
    return report_transmitted(system, index, frame, out);
}

/* ---- momentum --------------------------------------------------------------------------------- */

st_Status st_system_momentum(const st_System *system, st_Vec3 *linear, st_Vec3 *angular)
{
    if (system == NULL) return ST_ERR_ARGUMENT;
    const sti_World *world = system->world;
    st_Vec3 P = {0, 0, 0}, L = {0, 0, 0};
    if (world == NULL) return ST_ERR_ARGUMENT;
    for (int b = 1; b < world->n_bodies; b++) {
        const sti_Body *body = &world->body[b];
        st_Pose pose = sti_pose(system->q, b);
        st_Vec3 v, w;
        STI_TRY(st_system_velocity(system, (st_BodyId){b}, &v, &w));
        st_Vec3 p = scale(body->mass, v);
        P = add(P, p);
        L = add(L, add(cross(pose.p, p), rotate(pose.q, sti_spin_momentum(body, w))));
    }
    if (linear != NULL) *linear = P;
    if (angular != NULL) *angular = L;
    return ST_OK;
}

/* ---- words -------------------------------------------------------------------------------------- */

void sti_describe_contact(const st_System *system, const sti_ContactEntry *contact, char *out, size_t size)
{
    int joint = sti_limit_joint(contact->id);
    if (system->world != NULL && joint >= 0) {
        snprintf(out, size, "the limit of joint \"%s\"", system->world->scene->joint[joint].name);
    } else if (system->world != NULL) {
        char *const *name = system->world->scene->names[STI_BODY].name;
        snprintf(out, size, "bodies \"%s\" and \"%s\"", name[contact->a], name[contact->b]);
    } else {
        snprintf(out, size, "contact %llu", (unsigned long long)contact->id);
    }
}
