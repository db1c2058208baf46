/* step/report.c -- forces of a step: contacts, sums over a body, joints, springs, momentum.
 *
 * A joint row with gradient (on_a, on_b) and impulse l acts with
 *
 *     force l on_b.linear,   torque about the joint's point p   l (on_b.angular - (p - x_b) x on_b.linear)
 *
 * on body b, and with the opposite on a at the same point.
 *
 * Forces are means over the step: the impulse of all its stages and pieces without impacts, over the time in which they
 * act (impulses.c; a step of one stage is read from its step problem). With the integrators of order two they are of
 * order two in the middle of the step. Impulses of impacts are reported separately. A fixed step cannot separate both:
 * if a contact closes in it, the whole impulse of this contact, and of all contacts and joints of the mechanisms that
 * it strikes, counts as an impact (`struck`), and the force is 0 (strike.c). */
#include "step/contact/contact.h"
#include "step/impulses.h"
#include "step/joint_coordinates.h"
#include "step/on_device.h"

#include <stdio.h>

/* ---- contacts --------------------------------------------------------------------------------- */

const st_Problem *st_system_problem(st_System *system, const double **r)
{
    if (r != NULL) *r = system->work.step.r;
    return sti_step_rows(&system->model, &system->work, NULL) == ST_OK ? &system->work.step.problem : NULL;
}

int st_system_island_count(const st_System *system)
{
    return system->work.step.problem.n_v > 0 ? sti_islands_count(system->work.islands) : 0;
}

st_Status st_system_island(const st_System *system, int index, st_IslandReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const sti_Island *island =
        index < st_system_island_count(system) ? sti_islands_get(system->work.islands, index) : NULL;
    if (island == NULL) return ST_ERR_ARGUMENT;
    *out = (st_IslandReport){island->n_blocks, island->n_contacts, island->n_l, island->info};
    sti_joint_coordinates_count(&system->work, index, out);
    return ST_OK;
}

/* 0 where no force acts. */
static double per_second(const sti_StepWork *work)
{
    const double time = sti_force_time(work);
    return time > 0 ? 1 / time : 0.0;
}

/* Contacts of the step, beside those of sleepers. */
static int n_solved(const sti_StepWork *work)
{
    return sti_in_sums(work) ? work->impulses.total.n : work->step.n_gaps;
}

int sti_contact_count(const sti_StepWork *work)
{
    if (work->on_device != NULL) return sti_device_contact_count(work);
    return n_solved(work) + work->sleep.n_contacts;
}

int st_system_contact_count(const st_System *system)
{
    return sti_contact_count(&system->work);
}

/* H'v of a contact, and its belt: u without the terms of drift, impact law and compliance. In a pile (order one,
 * rigid) these are a closing gap and a diagonal compliance, so rows are not needed. */
void sti_relative_velocity(const sti_Model *model, const sti_StepWork *work, const double *v, const st_ContactLaw *law,
                           const sti_ContactEntry *entry, double *velocity)
{
    const sti_Assembly *step = &work->step;
    sti_belt_speeds(model, step->q, law, entry, velocity);
    for (int k = 0, row = law->first; k < law->dim; k++, row++) {
        if (step->piled)
            velocity[k] =
                step->u[row] - (k == 0 ? step->w[row] : 0.0) - (step->compliant ? step->C[row] * step->r[row] : 0.0);
        else
            velocity[k] += sti_row_dot(&step->H, row, v);
        if (entry->dim == 3) velocity[k] /= sti_row_factor(entry->surface, k);
        if (k >= 3) velocity[k] /= model->arm;
    }
}

/* A contact of the step problem of a step with one stage, in the form of the sums over stages. */
static sti_ContactImpulse contact_of_stage(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                                           int c)
{
    sti_ContactImpulse out;
    sti_contact_impulse(work, c, STI_FINITE, &out);
    sti_relative_velocity(model, work, state->v, &work->step.law[c], work->step.chosen[c].entry, out.velocity);
    return out;
}

st_Status sti_contact_report(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                             st_ContactReport *out)
{
    const int n = n_solved(work);
    if (index < 0 || index >= sti_contact_count(work)) return ST_ERR_ARGUMENT;
    if (work->on_device != NULL) return sti_device_contact(model, state, work, index, out);
    if (index < n) {
        const sti_ContactImpulse i =
            sti_in_sums(work) ? work->impulses.total.contact[index] : contact_of_stage(model, state, work, index);
        const int joint = model->rigid ? sti_limit_joint(i.id) : -1;
        const double rate = per_second(work);
        *out = (st_ContactReport){.id = i.id,
                                  .a = {i.a},
                                  .b = {i.b},
                                  .shape_a = {i.shape_a},
                                  .shape_b = {i.shape_b},
                                  .joint = {joint + 1},
                                  .point = i.point,
                                  .normal = i.normal,
                                  .tangent = i.tangent,
                                  .gap = i.gap,
                                  .dim = i.dim,
                                  .struck = sti_is_struck(model, state, work, i.id, i.a, i.b)};
        memcpy(out->velocity, i.velocity, sizeof out->velocity);
        for (int k = 0; k < i.dim; k++) {
            out->impulse[k] = i.r[STI_FINITE][k] + i.r[STI_IMPACT][k];
            out->impact[k] = out->struck ? out->impulse[k] : i.r[STI_IMPACT][k];
        }
        if (joint < 0 && !out->struck) {
            out->force = scale(rate, i.linear[STI_FINITE]);
            out->torque = scale(rate, i.angular[STI_FINITE]);
        }
    } else {
        /* One among bodies that sleep: no velocity, and the force it fell asleep with. */
        const sti_Sleeper *sleeper = &work->sleep.contact[index - n];
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
            out->impulse[k] = state->history.h * i->r[k];
        if (joint < 0) {
            out->force = sti_contact_along(i->dim, i->r, i->normal, i->tangent);
            out->torque = sti_contact_about(i->dim, i->r, i->normal, i->tangent);
        }
    }
    return ST_OK;
}

st_Status st_system_contact(const st_System *system, int index, st_ContactReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    return sti_contact_report(&system->model, &system->state, &system->work, index, out);
}

bool sti_contact_push(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index, int body[2],
                      st_Vec3 *force)
{
    st_ContactReport report;
    if (work->on_device == NULL && index < n_solved(work)) { /* without its velocity, which takes most of the time */
        sti_ContactImpulse own;
        const sti_ContactImpulse *i = sti_in_sums(work) ? &work->impulses.total.contact[index] : &own;
        if (i == &own) sti_contact_impulse(work, index, STI_FINITE, &own);
        body[0] = i->a, body[1] = i->b;
        *force = scale(per_second(work), i->linear[STI_FINITE]);
        return sti_limit_joint(i->id) < 0 && !sti_is_struck(model, state, work, i->id, i->a, i->b);
    }
    if (sti_contact_report(model, state, work, index, &report) != ST_OK) return false;
    body[0] = report.a.index1, body[1] = report.b.index1;
    *force = report.force;
    return report.joint.index1 <= 0;
}

/* The contacts of bodies first .. first + count - 1. */
static st_Status sum_contacts(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int first,
                              int count, st_Vec3 *force, st_Vec3 *torque)
{
    for (int k = 0; k < count; k++)
        force[k] = torque[k] = vec3(0, 0, 0);
    for (int c = 0; c < sti_contact_count(work); c++) {
        st_ContactReport contact;
        STI_TRY(sti_contact_report(model, state, work, c, &contact));
        if (contact.joint.index1 > 0) continue;
        const int body[2] = {contact.a.index1, contact.b.index1};
        for (int e = 0; e < 2; e++) {
            const int k = body[e] - first;
            if (k < 0 || k >= count || (e == 0 && body[0] == body[1])) continue;
            const double sign = e == 1 ? 1 : -1;
            const st_Vec3 one = scale(sign, contact.force), centre = sti_pose(work->step.q, body[e]).p;
            force[k] = add(force[k], one);
            torque[k] = add(torque[k], add(cross(sti_lever(model->world, contact.point, centre), one),
                                           scale(sign, contact.torque)));
        }
    }
    return ST_OK;
}

st_Status st_system_contact_force(const st_System *system, st_BodyId body, st_Vec3 *force, st_Vec3 *torque)
{
    st_Vec3 sum, moment;
    if (system == NULL || !system->model.rigid) return ST_ERR_ARGUMENT;
    body = sti_body_now(system->model.world->scene, body);
    if (body.index1 < 0 || body.index1 >= system->model.world->n_bodies) return ST_ERR_ARGUMENT;
    STI_TRY(sum_contacts(&system->model, &system->state, &system->work, body.index1, 1, &sum, &moment));
    if (force != NULL) *force = sum;
    if (torque != NULL) *torque = moment;
    return ST_OK;
}

st_Status st_system_contact_forces(const st_System *system, st_Vec3 *force, st_Vec3 *torque, int count)
{
    if (system == NULL || force == NULL || torque == NULL || !system->model.rigid) return ST_ERR_ARGUMENT;
    if (count < 0 || count > system->model.world->n_bodies) return ST_ERR_ARGUMENT;
    return sum_contacts(&system->model, &system->state, &system->work, 0, count, force, torque);
}

/* ---- joints ----------------------------------------------------------------------------------- */

/* How fast a measure of bodies a and b changes, by their velocities now. */
static double measure_speed(const sti_Model *model, const sti_State *state, int a, int b, const sti_Measure *x)
{
    sti_Rows rows;
    double sum = 0;
    sti_rows_measure(model->world, state->q, a, b, x, &rows);
    for (int k = 0; k < rows.count; k++)
        sum += rows.gradient[k] * state->v[rows.index[k]];
    return sum;
}

/* The data of a step with one stage: the rows and the velocity at the state before are in `trial`. */
static sti_StageEnds ends_of_step(const sti_StepWork *work)
{
    return (sti_StageEnds){.rows = &work->trial, .v = work->v_new, .lag = work->tension.on ? work->tension.E : NULL};
}

st_Status sti_joint_report(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                           st_Frame frame, st_JointReport *out)
{
    const sti_World *world = model->world;
    const sti_Joint *joint = &world->joint[index];
    sti_Measure x;
    sti_Rows rows;
    double worst = 0;
    for (int k = joint->first_row; k < joint->first_row + joint->n_rows; k++)
        worst = fmax(worst, fabs(work->here.joint[k].value));
    *out = (st_JointReport){.error = worst};
    STI_TRY(sti_coordinate_row(world, index, 0, state->q, &x, &rows, NULL));
    out->coordinate = x.value;
    for (int k = 0; k < rows.count; k++)
        out->speed += rows.gradient[k] * state->v[rows.index[k]];
    STI_TRY(sti_joint_gauge(world, index, 1, state->q, &x, NULL));
    out->other = x.value;
    out->other_speed = measure_speed(model, state, joint->a, joint->b, &x);
    out->point = sti_joint_point(world, index, state->q);
    if (work->on_device != NULL) return sti_device_joint(model, state, work, index, frame, out);
    if (work->step.problem.n_v == 0) return ST_OK; /* no step was taken yet */
    const sti_Joint *of = &model->world->joint[index];
    const st_Quat a = sti_pose(work->step.q, of->a).q;
    sti_JointImpulse i[2] = {[STI_IMPACT] = {.motor = 0}};
    const sti_StageEnds ends = ends_of_step(work);
    STI_TRY(sti_in_sums(work) ? sti_joint_impulses_of_step(model, work, &ends, index, i)
                              : sti_joint_impulse(model, work, &ends, index, &i[STI_FINITE]));
    for (int k = 0; frame == ST_FRAME_A && k < 2; k++) {
        i[k].linear = rotate_back(a, i[k].linear);
        i[k].angular = rotate_back(a, i[k].angular);
    }
    out->impulse = add(i[STI_FINITE].linear, i[STI_IMPACT].linear);
    out->angular_impulse = add(i[STI_FINITE].angular, i[STI_IMPACT].angular);
    out->struck = sti_is_struck(model, state, work, 0, of->a, of->b);
    out->impact = out->struck ? out->impulse : i[STI_IMPACT].linear;
    out->angular_impact = out->struck ? out->angular_impulse : i[STI_IMPACT].angular;
    const double time = per_second(work), rate = out->struck ? 0.0 : time;
    out->force = scale(rate, i[STI_FINITE].linear);
    out->torque = scale(rate, i[STI_FINITE].angular);
    out->motor = (of->held ? rate : time) * i[STI_FINITE].motor;
    out->friction = time * i[STI_FINITE].friction; /* it and springs are finite in any step */
    out->limit = rate * i[STI_FINITE].limit;
    out->spring = time * i[STI_FINITE].spring;
    out->other_limit = rate * i[STI_FINITE].other_limit;
    out->gear = rate * i[STI_FINITE].gear;
    return ST_OK;
}

/* Mean force of the motor and of the limit over the step, with impacts; st_JointReport leaves them out. */
st_Status sti_joint_means(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index,
                          double *motor, double *limit)
{
    st_JointReport r;
    if (work->on_device != NULL) return sti_device_joint_means(model, state, work, index, motor, limit);
    STI_TRY(sti_joint_report(model, state, work, index, ST_FRAME_WORLD, &r));
    *motor = r.motor;
    *limit = r.limit;
    if (work->step.problem.n_v == 0) return ST_OK;
    sti_JointImpulse i[2] = {[STI_IMPACT] = {.motor = 0}};
    const sti_StageEnds ends = ends_of_step(work);
    STI_TRY(sti_in_sums(work) ? sti_joint_impulses_of_step(model, work, &ends, index, i)
                              : sti_joint_impulse(model, work, &ends, index, &i[STI_FINITE]));
    *motor = per_second(work) * (i[STI_FINITE].motor + i[STI_IMPACT].motor);
    *limit = per_second(work) * (i[STI_FINITE].limit + i[STI_IMPACT].limit);
    return ST_OK;
}

st_Status st_system_joint(const st_System *system, st_JointId id, st_Frame frame, st_JointReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const sti_World *world = system->model.world;
    const int index = sti_joint_now(world->scene, id).index1 - 1;
    if (index < 0 || index >= world->n_joints || (frame != ST_FRAME_WORLD && frame != ST_FRAME_A))
        return ST_ERR_ARGUMENT;
    return sti_joint_report(&system->model, &system->state, &system->work, index, frame, out);
}

void sti_joint_drive(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int index, double out[3])
{
    const sti_Joint *joint = &model->world->joint[index];
    sti_Measure x;
    sti_Rows rows;
    out[0] = out[1] = out[2] = 0;
    if (sti_coordinate_row(model->world, index, 0, state->q, &x, &rows, NULL) != ST_OK) return;
    out[0] = x.value;
    for (int k = 0; k < rows.count; k++)
        out[1] += rows.gradient[k] * state->v[rows.index[k]];
    if (work->step.problem.n_v == 0) return; /* no step was taken yet */
    if (joint->held && sti_is_struck(model, state, work, 0, joint->a, joint->b)) return;
    const double weight = sti_in_sums(work) ? work->impulses.stage_weight : 1;
    out[2] = per_second(work) * (weight == 0 ? work->impulses.total.joint[STI_FINITE][index].motor
                                             : weight * sti_motor_impulse(model, work, index));
}

/* ---- springs ---------------------------------------------------------------------------------- */

st_Status st_system_spring(const st_System *system, st_SpringId id, st_SpringReport *out)
{
    if (system == NULL || out == NULL) return ST_ERR_ARGUMENT;
    const sti_World *world = system->model.world;
    const int index = sti_spring_now(world->scene, id).index1 - 1;
    if (index < 0 || index >= world->n_springs) return ST_ERR_ARGUMENT;
    const sti_Spring *spring = &world->spring[index];
    const st_Pose a = sti_pose(system->state.q, spring->a), b = sti_pose(system->state.q, spring->b);
    const st_Vec3 p_a = pose_point(a, spring->anchor_a), p_b = pose_point(b, spring->anchor_b), d = sub(p_b, p_a);
    const double apart = norm(d);
    const st_Vec3 along = apart > 0 ? scale(1 / apart, d) : vec3(0, 0, 0);
    const bool turns = spring->type == ST_SPRING_ANGULAR;
    const sti_Measure x = turns ? sti_measure_angle(world, spring->angle, system->state.q)
                                : sti_measure_along(a, b, p_b, along, p_a, apart);
    sti_SpringImpulse i = {{0, 0, 0}, {0, 0, 0}};
    *out = (st_SpringReport){.point_a = p_a, .point_b = p_b, .length = x.value};
    out->rate = measure_speed(&system->model, &system->state, spring->a, spring->b, &x);
    if (system->work.on_device != NULL) return sti_device_spring(&system->work, index, out);
    if (system->work.step.problem.n_v == 0) return ST_OK; /* no step was taken yet */
    const sti_StageEnds ends = ends_of_step(&system->work);
    if (sti_in_sums(&system->work))
        sti_spring_impulse_of_step(&system->model, &system->work, &ends, index, &i);
    else
        sti_spring_impulse(&system->model, &system->work, &ends, index, &i);
    out->force_on_b = scale(per_second(&system->work), i.linear);
    out->torque_on_b = scale(per_second(&system->work), i.angular);
    out->force = turns ? -dot(out->torque_on_b, x.on_b.angular) : -dot(out->force_on_b, along);
    return ST_OK;
}

/* ---- all loads of all bodies ------------------------------------------------------------------- */

/* Impulses by loads, finite and of impacts: those in the sums, or of the one step problem into `room`, which has
 * (STI_N_LOADS + 3) n_v numbers.                                                                   */
static st_Status loads_of_step(const sti_Model *model, const sti_StepWork *work, double *room, const double *out[2],
                               st_Error *err)
{
    const st_Model *table = &model->table;
    const sti_Assembly *step = &work->step;
    const int n_v = table->n_v;
    double *applied = room + (ptrdiff_t)STI_N_LOADS * n_v, *turning = applied + n_v, *turned = turning + n_v;
    sti_StageEnds ends = ends_of_step(work);
    for (int k = 0; k < 2 && sti_in_sums(work); k++)
        out[k] = work->impulses.total.load[k];
    if (sti_in_sums(work)) {
        if (work->impulses.stage_weight == 0) return ST_OK;
        memset(room, 0, (size_t)(STI_N_LOADS + 3) * (size_t)n_v * sizeof *room);
        out[STI_FINITE] = room;
        ends = sti_ends_of_stage(work, ends.rows, ends.v);
        return sti_stage_loads(model, work, &ends, work->impulses.stage_weight, room, turned, err);
    }
    out[STI_FINITE] = room;
    out[STI_IMPACT] = NULL;
    memset(room, 0, (size_t)(STI_N_LOADS + 3) * (size_t)n_v * sizeof *room);
    ends.applied = applied;
    ends.turning = turning;
    STI_TRY(table->force(table->ctx, step->t, step->q, ends.v, applied, err));
    memcpy(turned, ends.v, (size_t)n_v * sizeof *turned);
    if (table->gyroscopic != NULL) table->gyroscopic(table->ctx, step->eta, step->q, turned);
    for (int i = 0; i < n_v; i++)
        turned[i] -= ends.v[i];
    sti_mass_times(model, work, turned, turning);
    return sti_stage_loads(model, work, &ends, 1.0, room, turned, err);
}

static const sti_Load internal_load[ST_N_LOADS] = {
    [ST_LOAD_WEIGHT] = STI_LOAD_APPLIED,        [ST_LOAD_APPLIED] = STI_LOAD_APPLIED,
    [ST_LOAD_GYROSCOPIC] = STI_LOAD_GYROSCOPIC, [ST_LOAD_SPRING] = STI_LOAD_SPRING,
    [ST_LOAD_JOINT] = STI_LOAD_JOINT,           [ST_LOAD_CONTACT] = STI_LOAD_CONTACT};

st_Status sti_body_loads(const sti_Model *model, const sti_State *state, const sti_StepWork *work, st_BodyLoad *out,
                         int count, st_Error *err)
{
    const int64_t n = (STI_N_LOADS + 3) * (int64_t)model->n_v;
    const double *load[2] = {NULL, NULL};
    if (!model->rigid || count < 0 || count >= sti_first_rotor(model->world))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_loads: %d bodies, the scene has %d", count,
                        sti_first_rotor(model->world) - 1);
    memset(out, 0, (size_t)count * sizeof *out);
    if (work->on_device != NULL) return sti_device_loads(model, state, work, out, count);
    if (work->step.problem.n_v == 0) return ST_OK; /* no step was taken yet */
    double *room = sti_alloc(&model->allocator, n, sizeof *room);
    st_Status status = room != NULL ? loads_of_step(model, work, room, load, err)
                                    : sti_fail(err, ST_ERR_MEMORY, "out of memory for the loads of %d bodies", count);
    for (int b = 1; b <= count && status == ST_OK; b++) {
        st_BodyLoad *to = &out[b - 1];
        const sti_World *world = model->world;
        const sti_Body *body = &world->body[b];
        const ptrdiff_t n_v = model->n_v;
        const double rate = per_second(work);
        st_Vec3 linear, angular;
        *to = (st_BodyLoad){.struck = body->n_dofs > 0 && sti_is_struck(model, state, work, 0, b, b)};
        if (body->n_dofs == 0 || sti_sleeps(world, b)) continue;
        for (int k = 0; k < ST_N_LOADS; k++) {
            const ptrdiff_t at = internal_load[k] * n_v;
            const bool impulse = to->struck && (k == ST_LOAD_JOINT || k == ST_LOAD_CONTACT);
            if (k == ST_LOAD_WEIGHT) continue;
            sti_body_velocity(body, load[STI_FINITE] + at, &linear, &angular);
            to->force[k] = scale(impulse ? 0 : rate, linear);
            to->torque[k] = scale(impulse ? 0 : rate, angular);
            if (impulse)
                to->impulse = add(to->impulse, linear), to->angular_impulse = add(to->angular_impulse, angular);
            if (load[STI_IMPACT] == NULL) continue;
            sti_body_velocity(body, load[STI_IMPACT] + at, &linear, &angular);
            to->impulse = add(to->impulse, linear);
            to->angular_impulse = add(to->angular_impulse, angular);
        }
        st_Vec3 weight = scale(rate > 0 ? sti_weight(world, b) : 0, world->gravity);
        for (int d = 0; d < 3; d++) {
            bool free = false;
            for (int k = 0; k < body->n_dofs; k++)
                free = free || body->dof[k] == d;
            if (!free)
                weight = d == 0   ? vec3(0, weight.y, weight.z)
                         : d == 1 ? vec3(weight.x, 0, weight.z)
                                  : vec3(weight.x, weight.y, 0);
        }
        to->force[ST_LOAD_WEIGHT] = weight;
        to->force[ST_LOAD_APPLIED] = sub(to->force[ST_LOAD_APPLIED], weight);
    }
    sti_free(&model->allocator, room, n, sizeof *room);
    return status;
}

st_Status st_system_loads(const st_System *system, st_BodyLoad *out, int count, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(out, err);
    return sti_body_loads(&system->model, &system->state, &system->work, out, count, err);
}

/* ---- momentum --------------------------------------------------------------------------------- */

st_Status st_system_momentum(const st_System *system, st_Vec3 *linear, st_Vec3 *angular)
{
    if (system == NULL) return ST_ERR_ARGUMENT;
    const sti_World *world = system->model.world;
    st_Vec3 P = {0, 0, 0}, L = {0, 0, 0};
    if (!system->model.rigid) return ST_ERR_ARGUMENT;
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, NULL));
    for (int b = 1; b < sti_first_rotor(world);
         b++) { /* a torque on a rotor acts on both bodies in opposite directions */
        const sti_BodyMass *of = &world->values.body[b];
        st_Pose pose = sti_pose(system->state.q, b);
        st_Vec3 v, w;
        STI_TRY(st_system_velocity(system, (st_BodyId){b}, &v, &w));
        st_Vec3 p = scale(of->mass, v);
        P = add(P, p);
        L = add(L, add(cross(pose.p, p), rotate(pose.q, sti_spin_momentum(of, w))));
    }
    if (linear != NULL) *linear = P;
    if (angular != NULL) *angular = L;
    return ST_OK;
}

double st_system_deepest(const st_System *system, st_BodyId *a, st_BodyId *b)
{
    double depth = 0;
    st_BodyId first = {0}, second = {0};
    if (system != NULL && system->work.on_device != NULL)
        depth = sti_device_deepest(&system->model, &system->state, &system->work, &first.index1, &second.index1);
    if (a != NULL) *a = first;
    if (b != NULL) *b = second;
    if (system == NULL || system->work.on_device != NULL) return depth;
    for (int c = 0; c < system->work.here.n_contacts; c++) {
        const sti_ContactEntry *entry = &system->work.here.contact[c];
        if (!(-entry->gap > depth)) continue;
        depth = -entry->gap;
        if (a != NULL) *a = (st_BodyId){entry->a};
        if (b != NULL) *b = (st_BodyId){entry->b};
    }
    return depth;
}

/* ---- words -------------------------------------------------------------------------------------- */

void sti_describe_contact(const sti_Model *model, const sti_ContactEntry *contact, char *out, size_t size)
{
    int joint = sti_limit_joint(contact->id);
    if (model->rigid && joint >= 0) {
        snprintf(out, size, "the limit of joint \"%s\"", model->world->scene->joint[joint].name);
    } else if (model->rigid) {
        char *const *name = model->world->scene->names[STI_BODY].name;
        snprintf(out, size, "bodies \"%s\" and \"%s\"", name[contact->a], name[contact->b]);
    } else {
        snprintf(out, size, "contact %llu", (unsigned long long)contact->id);
    }
}
