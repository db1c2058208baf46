/* step/impulses.c -- the impulses of a whole step: sums over the stages of an integrator and over the pieces between
 * events.
 *
 * A force that is reported is the impulse of the finite forces over the whole step, divided by the time they act for.
 * Impulses of impacts are summed apart and are never divided by a time. So no force depends on where in a step an event
 * was located, and with M (v+ - v) of a step as the sum of its stages,
 *
 *     scheme        velocity at the end                               mean velocity d/h - v (moves q)
 *     euler         v+ - v = s1                                       s1
 *     trapezoid     v+ - v = 2 s1 (form II), s1 (form I)              s1, s1/2
 *     sdirk2        v+ - v = (1-gamma)/gamma s1 + s2                  2 (1-gamma) s1 + gamma s2
 *     bdf2          v+ - v = s1 + b (v - v_prev),  b = rho^2/(1+2 rho)   half of that
 *
 * where M si = eta k + G l + H r are the impulses of stage i, the reported ones fulfil
 *
 *     M (v+ - v) = time (weight + applied + gyroscopic + springs + joints + contacts) + impacts
 *
 * exactly, converged or not. In bdf2 the impulses of the step before belong to those of this one: M (v - v_prev) is
 * their sum. Where a collision cuts a piece at its fraction s, the velocity there is that of the cubic through both
 * ends (collision_event.c), v(s) - v = a (v+ - v) + b (d/h - v) with a = 3 s^2 - 2 s, b = 6 s (1 - s), and the impulses
 * up to there are the same combination: hence both columns are kept.
 *
 * A step of one stage without events needs none of this: report.c reads its step problem.
 */
#include "step/impulses.h"

#include "math/block_diag.h"
#include "step/contact/contact.h"
#include "step/step.h"

/* ---- memory ------------------------------------------------------------------------------------- */

static st_Status make_sums(const sti_Model *model, sti_StepWork *work, sti_StepImpulses *sum, st_Error *err)
{
    const int64_t n = (int64_t)STI_N_LOADS * model->n_v, n_joints = work->impulses.n_joints + 1,
                  n_springs = work->impulses.n_springs + 1;
    bool ok = true;
    for (int k = 0; k < 2; k++) {
        sum->load[k] = sti_alloc(&model->allocator, n, sizeof *sum->load[k]);
        sum->joint[k] = sti_alloc(&model->allocator, n_joints, sizeof *sum->joint[k]);
        ok = ok && sum->load[k] != NULL && sum->joint[k] != NULL;
    }
    sum->spring = sti_alloc(&model->allocator, n_springs, sizeof *sum->spring);
    if (ok && sum->spring != NULL) return ST_OK;
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", model->n_v);
}

static void release_sums(const sti_Model *model, sti_StepWork *work, sti_StepImpulses *sum)
{
    for (int k = 0; k < 2; k++) {
        sti_free(&model->allocator, sum->load[k], (int64_t)STI_N_LOADS * model->n_v, sizeof *sum->load[k]);
        sti_free(&model->allocator, sum->joint[k], work->impulses.n_joints + 1, sizeof *sum->joint[k]);
    }
    sti_free(&model->allocator, sum->spring, work->impulses.n_springs + 1, sizeof *sum->spring);
    STI_RELEASE(&model->allocator, sum->contact, sum->capacity);
    *sum = (sti_StepImpulses){0};
}

static bool remembers(const sti_Model *model)
{
    return model->def.integrator == ST_INTEGRATOR_BDF2;
}

st_Status sti_impulses_create(const sti_Model *model, sti_State *state, sti_StepWork *work, st_Error *err)
{
    sti_ImpulseSums *sums = &work->impulses;
    if (!sti_has_stages(model)) return ST_OK;
    sums->n_joints = model->world->n_joints;
    sums->n_springs = model->world->n_springs;
    STI_TRY(make_sums(model, work, &sums->stage, err));
    STI_TRY(make_sums(model, work, &sums->piece, err));
    STI_TRY(make_sums(model, work, &sums->way, err));
    STI_TRY(make_sums(model, work, &sums->total, err));
    if (!remembers(model)) return ST_OK;
    STI_TRY(make_sums(model, work, &state->past_impulses, err));
    return make_sums(model, work, &work->saved.state.past_impulses, err);
}

void sti_impulses_free(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    sti_ImpulseSums *sums = &work->impulses;
    release_sums(model, work, &sums->stage);
    release_sums(model, work, &sums->piece);
    release_sums(model, work, &sums->way);
    release_sums(model, work, &sums->total);
    release_sums(model, work, &state->past_impulses);
    release_sums(model, work, &work->saved.state.past_impulses);
}

/* ---- sums ----------------------------------------------------------------------------------------- */

static void clear(const sti_Model *model, const sti_StepWork *work, sti_StepImpulses *sum)
{
    if (sum->spring == NULL) return;
    for (int k = 0; k < 2; k++) {
        if (!sum->some[k]) continue;
        memset(sum->load[k], 0, (size_t)STI_N_LOADS * (size_t)model->n_v * sizeof *sum->load[k]);
        memset(sum->joint[k], 0, (size_t)(work->impulses.n_joints + 1) * sizeof *sum->joint[k]);
    }
    if (sum->some[STI_FINITE]) memset(sum->spring, 0, (size_t)(work->impulses.n_springs + 1) * sizeof *sum->spring);
    sum->some[STI_FINITE] = sum->some[STI_IMPACT] = false;
    sum->n = 0;
    sum->time = 0;
}

/* to = scale to + factor from. */
static void combine_sums(double *to, double scale_to, const double *from, double factor, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = scale_to * to[i] + factor * from[i];
}

static void combine_contact(sti_ContactImpulse *to, double scale_to, const sti_ContactImpulse *from, double factor)
{
    for (int k = 0; k < 2; k++) {
        combine_sums(to->r[k], scale_to, from->r[k], factor, ST_MAX_DIM);
        to->linear[k] = add(scale(scale_to, to->linear[k]), scale(factor, from->linear[k]));
        to->angular[k] = add(scale(scale_to, to->angular[k]), scale(factor, from->angular[k]));
    }
}

/* to = scale to + factor from; newer: contacts are where `from` has them. */
static st_Status add_sum(const sti_Model *model, const sti_StepWork *work, sti_StepImpulses *to, double scale_to,
                         const sti_StepImpulses *from, double factor, bool newer, st_Error *err)
{
    const int64_t n_joint = (int64_t)(sizeof(sti_JointImpulse) / sizeof(double)) * work->impulses.n_joints;
    const int64_t n_spring = (int64_t)(sizeof(sti_SpringImpulse) / sizeof(double)) * work->impulses.n_springs;
    for (int k = 0; k < 2; k++) { /* most steps have no impacts */
        if (!from->some[k] && (scale_to == 1 || !to->some[k])) continue;
        combine_sums(to->load[k], scale_to, from->load[k], factor, (int64_t)STI_N_LOADS * model->n_v);
        combine_sums((double *)to->joint[k], scale_to, (const double *)from->joint[k], factor, n_joint);
        if (k == STI_FINITE)
            combine_sums((double *)to->spring, scale_to, (const double *)from->spring, factor, n_spring);
        to->some[k] = true;
    }
    to->time = scale_to * to->time + factor * from->time;
    for (int c = 0; c < to->n && scale_to != 1; c++)
        combine_contact(&to->contact[c], scale_to, &to->contact[c], 0);
    for (int c = 0, at = 0; c < from->n; c++) {
        sti_ContactImpulse *contact;
        const int n = to->n;
        /* The place of a contact in a list, made where there is none; *at: where to look from on. */
        const uint64_t id = from->contact[c].id;
        const int element = from->contact[c].element;
        int k = at;
        while (k < to->n && (to->contact[k].id < id || (to->contact[k].id == id && to->contact[k].element < element)))
            k++;
        at = k;
        if (k == to->n || to->contact[k].id != id || to->contact[k].element != element) {
            STI_TRY(STI_GROW(&model->allocator, to->contact, to->capacity, to->n + 1, err));
            memmove(to->contact + k + 1, to->contact + k, (size_t)(to->n++ - k) * sizeof *to->contact);
            memset(to->contact + k, 0, sizeof *to->contact);
            to->contact[k].id = id;
            to->contact[k].element = element;
        }
        contact = to->contact + k;
        if (newer || to->n > n) {
            /* The identity of a contact, without its impulses. */
            sti_ContactImpulse was = *contact;
            *contact = from->contact[c];
            memcpy(contact->r, was.r, sizeof contact->r);
            memcpy(contact->linear, was.linear, sizeof contact->linear);
            memcpy(contact->angular, was.angular, sizeof contact->angular);
        }
        combine_contact(contact, 1, &from->contact[c], factor);
    }
    return ST_OK;
}

/* ---- the step problem at hand ---------------------------------------------------------------------- */

static void add_row_load(const st_Sparse *rows, int k, double r, double *out)
{
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
        out[rows->i[e]] += r * rows->x[e];
}

/* Force and torque of impulses r along (normal, tangent, normal x tangent), and about them. */
st_Vec3 sti_contact_along(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent)
{
    st_Vec3 sum = scale(r[0], normal);
    if (dim > 1) sum = add(sum, scale(r[1], tangent));
    if (dim > 2) sum = add(sum, scale(r[2], cross(normal, tangent)));
    return sum;
}

/* Rolling about the tangents, spinning about the normal. */
st_Vec3 sti_contact_about(int dim, const double *r, st_Vec3 normal, st_Vec3 tangent)
{
    st_Vec3 sum = {0, 0, 0};
    if (dim >= 5) sum = add(scale(r[3], tangent), scale(r[4], cross(normal, tangent)));
    if (dim == 4 || dim == 6) sum = add(sum, scale(r[dim - 1], normal));
    return sum;
}

/* Its mean over the stage where the stage takes the mean of two times. */
static double motor_force(const sti_Model *model, const sti_StepWork *work, int joint)
{
    const sti_Assembly *step = &work->step;
    const double first = sti_motor_force(model->world, joint, step->t);
    return step->ahead > 0 ? 0.5 * (first + sti_motor_force(model->world, joint, step->t + step->ahead)) : first;
}

/* Of bounded row k: 0 where there is none, or where the problem was an impact's. */
static double bounded_impulse(const sti_Assembly *step, int k)
{
    return k >= 0 && k < step->n_bounded ? step->r[step->law[step->n_gaps + k].first] : 0.0;
}

/* Of both limits of a joint, along its coordinate or the other one. Limits come after the contacts, by id. */
static double limit_impulse(const sti_StepWork *work, int joint, int which)
{
    const sti_Assembly *step = &work->step;
    const sti_Sleep *sleep = &work->sleep;
    double sum = 0;
    for (int c = sleep->n_contacts - 1; c >= 0 && sleep->contact[c].impulse.id >= STI_LIMIT_ID; c--) {
        const sti_Impulse *i = &sleep->contact[c].impulse;
        if (sti_limit_joint(i->id) == joint && sti_limit_which(i->id) == which)
            sum += ((i->id & 1u) != 0 ? -step->eta : step->eta) * i->r[0];
    }
    for (int c = step->n_gaps - 1; c >= 0 && step->chosen[c].entry->id >= STI_LIMIT_ID; c--) {
        const uint64_t id = step->chosen[c].entry->id;
        const double r = step->r[step->law[c].first];
        if (sti_limit_joint(id) == joint && sti_limit_which(id) == which) sum += (id & 1u) != 0 ? -r : r;
    }
    return sum;
}

/* Soft row k: its impulse, or with the explicit integrator that of its force at the velocity before. */
static double soft_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int k)
{
    const sti_Assembly *step = &work->step;
    const int row = work->here.joint_rows.n_rows + k;
    if (step->eta == 0) return 0;
    if (model->def.integrator != ST_INTEGRATOR_EULER) return step->l[row];
    const sti_SoftEntry *soft = &ends->rows->soft[k];
    return -step->eta *
           (soft->stiffness * soft->value + soft->damping * sti_row_dot(&ends->rows->soft_rows, k, ends->v));
}

static void add_measure(sti_JointImpulse *sum, st_Vec3 lever, double l, const sti_Measure *row)
{
    sum->linear = add(sum->linear, scale(l, row->on_b.linear));
    sum->angular = add(sum->angular, scale(l, sub(row->on_b.angular, cross(lever, row->on_b.linear))));
}

double sti_motor_impulse(const sti_Model *model, const sti_StepWork *work, int index)
{
    const sti_Joint *joint = &model->world->joint[index];
    if (joint->type == ST_JOINT_GEAR) return 0;
    if (joint->held) return work->step.l[joint->first_row + joint->n_rows - 1];
    return bounded_impulse(&work->step, joint->motor_row) + work->step.eta * motor_force(model, work, index);
}

st_Status sti_joint_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                            sti_JointImpulse *out)
{
    const sti_World *world = model->world;
    const sti_Joint *joint = &world->joint[index];
    const sti_Assembly *step = &work->step;
    const double *l = step->l + joint->first_row;
    const st_Vec3 lever = sub(sti_joint_point(world, index, step->q), sti_pose(step->q, joint->b).p);
    sti_Measure row[STI_JOINT_ROWS], x;
    *out = (sti_JointImpulse){.gear = 0};
    if (joint->type == ST_JOINT_GEAR) {
        out->gear = l[0];
        return ST_OK;
    }
    STI_TRY(sti_joint_measures(world, index, step->t, step->q, row, NULL));
    const bool tendon = joint->type == ST_JOINT_TENDON; /* acts at no single point: its shares alone */
    for (int k = 0; !tendon && k < joint->n_rows; k++)
        add_measure(out, lever, l[k], &row[k]);
    const double motor = bounded_impulse(step, joint->motor_row) + step->eta * motor_force(model, work, index);
    out->friction = bounded_impulse(step, joint->friction_row);
    out->limit = limit_impulse(work, index, 0);
    out->spring = joint->spring_row >= 0 ? soft_impulse(model, work, ends, joint->spring_row) : 0.0;
    const double rotor = joint->rotor > 0 ? step->l[joint->rotor_row] : 0.0;
    const double along = motor + out->friction + out->limit + out->spring + rotor;
    if (along != 0) {
        STI_TRY(sti_joint_gauge(world, index, 0, step->q, &x, NULL));
        add_measure(out, lever, along, &x);
    }
    out->motor = joint->held ? l[joint->n_rows - 1] : motor;
    if (joint->coordinate[1] == ST_COORDINATE_DEFAULT) return ST_OK;
    STI_TRY(sti_joint_gauge(world, index, 1, step->q, &x, NULL));
    out->other_limit = limit_impulse(work, index, 1);
    add_measure(out, lever, out->other_limit, &x);
    return ST_OK;
}

st_Status sti_joint_impulses_of_step(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends,
                                     int index, sti_JointImpulse out[2])
{
    const double weight = work->impulses.stage_weight;
    for (int k = 0; k < 2; k++)
        out[k] = work->impulses.total.joint[k][index];
    if (weight == 0) return ST_OK;
    STI_TRY(sti_joint_impulse(model, work, ends, index, &out[STI_FINITE]));
    const double none[sizeof(sti_JointImpulse) / sizeof(double)] = {0};
    combine_sums((double *)&out[STI_FINITE], weight, none, 0, sizeof none / sizeof none[0]);
    return ST_OK;
}

void sti_spring_impulse(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                        sti_SpringImpulse *out)
{
    const sti_World *world = model->world;
    const double *q = work->step.q;
    const sti_Spring *spring = &world->spring[index];
    sti_Measure row[STI_SPRING_ROWS];
    const int n = sti_spring_measures(world, index, q, row, NULL);
    const st_Vec3 lever = rotate(sti_pose(q, spring->b).q, spring->anchor_b);
    *out = (sti_SpringImpulse){{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < n; k++) {
        const double l = soft_impulse(model, work, ends, spring->soft_row + k);
        out->linear = add(out->linear, scale(l, row[k].on_b.linear));
        out->angular = add(out->angular, scale(l, sub(row[k].on_b.angular, cross(lever, row[k].on_b.linear))));
    }
}

void sti_spring_impulse_of_step(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, int index,
                                sti_SpringImpulse *out)
{
    const double weight = work->impulses.stage_weight;
    *out = work->impulses.total.spring[index];
    if (weight == 0) return;
    sti_spring_impulse(model, work, ends, index, out);
    out->linear = scale(weight, out->linear);
    out->angular = scale(weight, out->angular);
}

void sti_mass_times(const sti_Model *model, const sti_StepWork *work, const double *x, double *out)
{
    const st_BlockDiag M = {.n_blocks = model->n_blocks, .first = model->first, .diagonal = model->mass.marked};
    const double *block = work->step.M;
    for (int b = 0; b < M.n_blocks; block += sti_block_numbers(&M, b), b++) {
        const int first = M.first[b], n = M.first[b + 1] - first;
        const bool diagonal = M.diagonal != NULL && M.diagonal[b];
        for (int i = 0; i < n; i++) {
            double sum = diagonal ? block[i] * x[first + i] : 0.0;
            for (int j = 0; j < n && !diagonal; j++)
                sum += block[i * n + j] * x[first + j];
            out[first + i] = sum;
        }
    }
}

/* The action of the current step problem on velocities, by kinds of load: out has STI_N_LOADS x n_v numbers, room n_v.
 */
st_Status sti_stage_loads(const sti_Model *model, const sti_StepWork *work, const sti_StageEnds *ends, double weight,
                          double *out, double *room, st_Error *err)
{
    const sti_Assembly *step = &work->step;
    const st_Model *table = &model->table;
    const sti_World *world = model->world;
    const int n_v = table->n_v, n_joint_rows = work->here.joint_rows.n_rows,
              n_springs = model->rigid ? world->n_spring_rows : INT32_MAX;
    double *of[STI_N_LOADS];
    for (int k = 0; k < STI_N_LOADS; k++)
        of[k] = out + (ptrdiff_t)k * n_v;
    const st_Problem *problem = &step->problem;
    for (int k = 0; k < problem->n_l; k++) {
        const bool spring = k >= n_joint_rows && k - n_joint_rows < n_springs;
        add_row_load(&problem->G, k, weight * step->l[k], of[spring ? STI_LOAD_SPRING : STI_LOAD_JOINT]);
    }
    for (int c = 0; c < problem->n_contacts; c++) {
        const bool contact = c < step->n_gaps && (!model->rigid || step->chosen[c].entry->id < STI_LIMIT_ID);
        double *load = of[contact ? STI_LOAD_CONTACT : STI_LOAD_JOINT];
        for (int k = 0; k < step->law[c].dim; k++) {
            const double impulse = weight * (step->r[step->law[c].first + k] - (k == 0 ? step->chosen[c].pull : 0));
            sti_RowView row;
            sti_view_row(model, work, c, k, &row);
            for (int e = 0; e < row.n; e++)
                load[row.i[e]] += impulse * row.x[e];
        }
    }
    if (step->eta == 0) return ST_OK;
    if (model->def.integrator == ST_INTEGRATOR_EULER) {
        const sti_RowList *rows = &ends->rows->soft_rows;
        const st_Sparse soft = {.n_rows = n_v, .n_cols = rows->n_rows, .p = rows->p, .i = rows->i, .x = rows->x};
        for (int k = 0; k < rows->n_rows; k++)
            add_row_load(&soft, k, weight * soft_impulse(model, work, ends, k),
                         of[k < n_springs ? STI_LOAD_SPRING : STI_LOAD_JOINT]);
    }
    for (int i = 0; i < n_v; i++) {
        of[STI_LOAD_APPLIED][i] += weight * step->eta * ends->applied[i];
        if (work->linearised.on) of[STI_LOAD_APPLIED][i] += weight * work->linearised.impulse[i];
        of[STI_LOAD_GYROSCOPIC][i] += weight * ends->turning[i];
        if (ends->lag != NULL) of[STI_LOAD_JOINT][i] += weight * ends->lag[i];
    }
    if (world->n_force_motors == 0) return ST_OK;
    const double times[2] = {step->t, step->t + step->ahead}; /* motors of type force are part of k */
    for (int k = 0; k < (step->ahead > 0 ? 2 : 1); k++) {
        memset(room, 0, (size_t)n_v * sizeof *room);
        STI_TRY(sti_motor_forces_add(world, times[k], step->q, room, err));
        for (int i = 0; i < n_v; i++) {
            const double impulse = weight * step->eta * (step->ahead > 0 ? 0.5 : 1.0) * room[i];
            of[STI_LOAD_APPLIED][i] -= impulse;
            of[STI_LOAD_JOINT][i] += impulse;
        }
    }
    return ST_OK;
}

/* ---- stages, pieces, steps -------------------------------------------------------------------------- */

static bool is_on(const sti_StepWork *work)
{
    return work->impulses.stage.spring != NULL;
}

void sti_force_of(const sti_Assembly *step, int c, const double *r, double *out)
{
    const int dim = step->law[c].dim;
    const sti_Surface *surface = step->chosen[c].entry->surface;
    for (int k = 0; k < dim; k++)
        out[k] = r[k];
    out[0] -= step->chosen[c].pull;
    for (int k = 3; k < dim; k++)
        out[k] *= step->arm;
    if (dim < 3 || surface == NULL || !sti_is_slender(surface)) return;
    out[1] *= surface->slender;
    out[2] /= surface->slender;
}

void sti_unknowns_of(const sti_Assembly *step, int c, double *r)
{
    const sti_Surface *surface = step->chosen[c].entry->surface;
    r[0] += step->chosen[c].pull;
    for (int k = 3; k < step->law[c].dim; k++)
        r[k] /= step->arm;
    if (step->law[c].dim < 3 || surface == NULL || !sti_is_slender(surface)) return;
    r[1] /= surface->slender;
    r[2] *= surface->slender;
}

void sti_contact_impulse(const sti_StepWork *work, int c, int kind, sti_ContactImpulse *out)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = step->chosen[c].entry;
    const int dim = step->law[c].dim;
    double r[ST_MAX_DIM] = {0};
    sti_force_of(step, c, step->r + step->law[c].first, r);
    *out = (sti_ContactImpulse){.id = entry->id,
                                .element = step->chosen[c].element,
                                .dim = dim,
                                .a = entry->a,
                                .b = entry->b,
                                .shape_a = entry->shape_a,
                                .shape_b = entry->shape_b,
                                .point = entry->point,
                                .normal = entry->normal,
                                .tangent = entry->tangent,
                                .gap = entry->gap};
    memcpy(out->r[kind], r, (size_t)dim * sizeof *r);
    out->linear[kind] = sti_contact_along(dim, r, entry->normal, entry->tangent);
    out->angular[kind] = sti_contact_about(dim, r, entry->normal, entry->tangent);
}

void sti_begin_piece_impulses(const sti_Model *model, sti_StepWork *work)
{
    work->stages.carried = (sti_Works){0};
    work->stages.carried_gains = (sti_Gains){0};
    clear(model, work, &work->impulses.piece);
    clear(model, work, &work->impulses.way);
    work->impulses.stage_weight = 0;
}

sti_StageEnds sti_ends_of_stage(const sti_StepWork *work, const st_Sink *rows, const double *v)
{
    return (sti_StageEnds){.rows = rows,
                           .v = v,
                           .applied = work->stages.applied,
                           .turning = work->stages.turning,
                           .lag = work->step.means   ? work->mean.lag
                                  : work->tension.on ? work->tension.E
                                                     : NULL};
}

/* Loads, joints and springs of the step problem at hand, as it was solved. */
static st_Status sum_stage(const sti_Model *model, const sti_State *state, sti_StepWork *work, int kind, st_Error *err)
{
    sti_StepImpulses *sum = &work->impulses.stage;
    const sti_StageEnds ends = sti_ends_of_stage(work, &work->here, state->v);
    sum->some[kind] = true;
    STI_TRY(sti_stage_loads(model, work, &ends, 1.0, sum->load[kind], work->stages.load_room, err));
    for (int k = 0; k < work->impulses.n_joints; k++)
        STI_TRY(sti_joint_impulse(model, work, &ends, k, &sum->joint[kind][k]));
    for (int k = 0; k < work->impulses.n_springs && kind == STI_FINITE; k++)
        sti_spring_impulse(model, work, &ends, k, &sum->spring[k]);
    return ST_OK;
}

/* alone: contacts only. */
static st_Status carry_stage(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, bool alone, st_Error *err)
{
    sti_works_add(&work->stages.carried, weight, &work->step.done);
    sti_gains_add(&work->stages.carried_gains, weight, &work->step.gains);
    if (!is_on(work)) return ST_OK;
    sti_StepImpulses *sum = &work->impulses.stage;
    const int kind = work->step.eta > 0 ? STI_FINITE : STI_IMPACT;
    clear(model, work, sum);
    sum->time = work->step.eta;
    if (!alone) STI_TRY(sum_stage(model, state, work, kind, err));
    const sti_Assembly *step = &work->step;
    STI_TRY(STI_GROW(&model->allocator, sum->contact, sum->capacity, step->n_gaps, err));
    sum->n = step->n_gaps;
    for (int c = 0; c < step->n_gaps; c++)
        sti_contact_impulse(work, c, kind, &sum->contact[c]);
    STI_TRY(add_sum(model, work, &work->impulses.piece, 1, &work->impulses.stage, weight, true, err));
    if (sti_speculative(model)) return ST_OK; /* no event cuts the step */
    return add_sum(model, work, &work->impulses.way, 1, &work->impulses.stage, way, true, err);
}

st_Status sti_carry_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err)
{
    return carry_stage(model, state, work, weight, way, false, err);
}

/* If this stage is all of the step, all but its contacts is computed when it is read. Motors of type force have their
 * impulses from a control that may be another one by then. */
st_Status sti_total_impulses(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                             double way, st_Error *err)
{
    sti_ImpulseSums *sums = &work->impulses;
    const bool alone = is_on(work) && sti_speculative(model) && !remembers(model) &&
                       model->world->n_force_motors == 0 && work->step.eta > 0 && !sums->piece.some[STI_FINITE] &&
                       !sums->piece.some[STI_IMPACT] && !sums->total.some[STI_FINITE] && !sums->total.some[STI_IMPACT];
    STI_TRY(carry_stage(model, state, work, weight, way, alone, err));
    sums->stage_weight = alone ? weight : 0;
    work->step.done = work->stages.carried;
    work->step.gains = work->stages.carried_gains;
    work->stages.carried = (sti_Works){0};
    work->stages.carried_gains = (sti_Gains){0};
    return ST_OK;
}

st_Status sti_carry_last(const sti_Model *model, const sti_State *state, sti_StepWork *work, double weight,
                         st_Error *err)
{
    STI_TRY(add_sum(model, work, &work->impulses.piece, 1, &state->past_impulses, weight, false, err));
    if (sti_speculative(model)) return ST_OK;
    return add_sum(model, work, &work->impulses.way, 1, &state->past_impulses, 0.5 * weight, false, err);
}

/* Contact c of the step problem at hand, in the sums of the piece. */
static sti_ContactImpulse *of_piece(const sti_StepWork *work, int c)
{
    const uint64_t id = work->step.chosen[c].entry->id;
    const int element = work->step.chosen[c].element;
    const sti_StepImpulses *piece = &work->impulses.piece;
    int lo = 0, hi = piece->n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        const sti_ContactImpulse *contact = &piece->contact[middle];
        if (contact->id < id || (contact->id == id && contact->element < element))
            lo = middle + 1;
        else
            hi = middle;
    }
    const bool found = lo < piece->n && piece->contact[lo].id == id && piece->contact[lo].element == element;
    return found ? &piece->contact[lo] : NULL;
}

st_Status sti_carry_normal(const sti_Model *model, sti_StepWork *work, int c, double impulse, st_Error *err)
{
    sti_ContactImpulse *contact = of_piece(work, c);
    const bool limit = model->rigid && sti_limit_joint(work->step.chosen[c].entry->id) >= 0;
    const st_Sparse H = work->step.problem.H;
    double *load =
        work->impulses.piece.load[STI_IMPACT] + (ptrdiff_t)(limit ? STI_LOAD_JOINT : STI_LOAD_CONTACT) * model->n_v;
    if (contact == NULL) return ST_OK;
    work->impulses.piece.some[STI_IMPACT] = true;
    contact->r[STI_IMPACT][0] += impulse;
    contact->linear[STI_IMPACT] = add(contact->linear[STI_IMPACT], scale(impulse, contact->normal));
    add_row_load(&H, work->step.law[c].first, impulse, load);
    /* To the impact of a joint's limit. */
    if (!limit) return ST_OK;
    const int joint = sti_limit_joint(contact->id), which = sti_limit_which(contact->id);
    const double l = (contact->id & 1u) != 0 ? -impulse : impulse, *q = work->step.q;
    sti_JointImpulse *sum = &work->impulses.piece.joint[STI_IMPACT][joint];
    sti_Measure x;
    STI_TRY(sti_joint_gauge(model->world, joint, which, q, &x, err));
    add_measure(sum, sub(sti_joint_point(model->world, joint, q), sti_pose(q, model->world->joint[joint].b).p), l, &x);
    *(which == 0 ? &sum->limit : &sum->other_limit) += l;
    return ST_OK;
}

const double *sti_impact_impulse(const sti_StepWork *work, int c)
{
    static const double none[ST_MAX_DIM];
    const sti_ContactImpulse *contact = of_piece(work, c);
    return contact != NULL ? contact->r[STI_IMPACT] : none;
}

st_Status sti_cut_piece(const sti_Model *model, sti_StepWork *work, double at, st_Error *err)
{
    if (sti_integrator(model)->order == 1) return ST_OK; /* its velocity is that of the end all the way */
    return add_sum(model, work, &work->impulses.piece, at * (3 * at - 2), &work->impulses.way, 6 * at * (1 - at), false,
                   err);
}

void sti_impulses_begin(const sti_Model *model, sti_StepWork *work)
{
    clear(model, work, &work->impulses.total);
    sti_begin_piece_impulses(model, work);
}

/* v_new is the velocity at the end of the piece. last: of the step; else its step problem is overwritten by the next.
 */
st_Status sti_sum_piece(const sti_Model *model, sti_State *state, sti_StepWork *work, bool last, st_Error *err)
{
    sti_ImpulseSums *sums = &work->impulses;
    if (!is_on(work)) return ST_OK;
    if (sums->stage_weight != 0 && !last) {
        clear(model, work, &sums->stage);
        STI_TRY(sum_stage(model, state, work, STI_FINITE, err));
        STI_TRY(add_sum(model, work, &sums->piece, 1, &sums->stage, sums->stage_weight, true, err));
        sums->stage_weight = 0;
    }
    for (int c = 0; c < work->step.n_gaps; c++) {
        sti_ContactImpulse *contact = of_piece(work, c);
        if (contact != NULL)
            sti_relative_velocity(model, work, work->v_new, &work->step.law[c], work->step.chosen[c].entry,
                                  contact->velocity);
    }
    STI_TRY(add_sum(model, work, &sums->total, 1, &sums->piece, 1, true, err));
    if (remembers(model)) STI_EXCHANGE(sti_StepImpulses, state->past_impulses, sums->piece);
    return ST_OK;
}

/* Before a step, and after one that failed. */
st_Status sti_impulses_save(const sti_Model *model, const sti_State *state, sti_StepWork *work, st_Error *err)
{
    if (!remembers(model)) return ST_OK;
    clear(model, work, &work->saved.state.past_impulses);
    return add_sum(model, work, &work->saved.state.past_impulses, 1, &state->past_impulses, 1, true, err);
}

void sti_impulses_restore(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    if (remembers(model)) STI_EXCHANGE(sti_StepImpulses, state->past_impulses, work->saved.state.past_impulses);
}
