/* step/integrate/stage_work.c -- the work of the impulses of a step problem, by kinds.
 *
 * The work of an impulse is its product with the displacement that follows, per second of the stage. The velocity of
 * this displacement is v; in the trapezoid's form I and in an impact the mean of v and v_base; in bdf2 that of the
 * whole step, because its stage begins after the state. For joints it is always v, because their rows are those at the
 * end of the step. The kinds are
 *
 *     friction     r_T . u_T, and bounded rows that drive nothing
 *     given        forces k less their potential, motors, -l d theta/dt of moved joints, -r_T . w_T of belts, adhesion
 *     damping      -eta d (a'v)^2
 *     impact       -r_n w_n of contacts that close a gap or rebound; all of r_n in an impact
 *     correction   -r_n w_n of overlaps, -l theta/h of joints; the potential that a projection adds
 *     scheme       Euler's methods: the remaining change of their kinetic energy and springs.
 *
 * With M v = f + G l + H r and f = M v* + eta k, v* the velocity after the gyroscopic term,
 *
 *     T(v) - T(v_base) = v'(M v - M v*) + [ v'M v* - T(v) - T(v_base) ],
 *
 * and the bracket, -|v - v*|^2/2 + T(v*) - T(v_base) <= 0, is the work of the scheme. An implicit spring stores less
 * than it takes by k (h a'v)^2/2; an explicit one more by the same. So the sum over all kinds is the change of energy,
 * except for the residual of the solution and for springs that turn.
 *
 * Sums of the positive terms alone are kept, too (sti_Gains): no part of the system gained more than these. */
#include "math/parallel.h"
#include "step/contact/contact.h"
#include "step/step.h"

typedef struct ContactWork {
    const sti_Model *model;
    const sti_StepWork *work;
    const sti_Stage *stage;
    const double *way; /* the velocity of the displacement                                         */
    sti_Works part[STI_PARTS];
    sti_Gains gain[STI_PARTS];
} ContactWork;

static double gain_of(double work)
{
    return work > 0 ? work : 0;
}

/* A velocity of the relative motion along a row, of the displacement that follows. */
static double speed_along(const sti_Assembly *out, const sti_Stage *stage, int row, double u, double belt)
{
    if (stage->way != NULL) {
        const double slid = sti_row_dot(&out->H, row, stage->way);
        return (stage->eta * u + slid + (stage->length - stage->eta) * belt) / stage->length;
    }
    if (stage->eta == 0 || stage->mean) return 0.5 * (u + sti_row_dot(&out->H, row, stage->v_base) + belt);
    return u;
}

/* Of rigid contacts: H'v = u - w - C r, where u r_n is 0 in a solution; in one of the convex cone law u is mu |u_T|. */
static void normal_work(const ContactWork *contacts, int c, sti_Works *sum, sti_Gains *gains)
{
    const sti_Assembly *out = &contacts->work->step;
    const sti_Stage *stage = contacts->stage;
    const int row = out->law[c].first;
    const double r = out->r[row], w = out->w[row], slope = out->law[c].law == ST_LAW_CONE ? out->u[row] : 0;
    if (!(r > 0)) return;
    if (stage->eta == 0) {
        sum->impact += r * speed_along(out, stage, row, out->u[row] - w, 0);
        return;
    }
    if (contacts->model->def.contact != ST_CONTACT_RIGID || stage->mean || stage->way != NULL) return;
    const double soft = out->overlapping > 0 && out->compliant ? out->C[row] * r : 0;
    const sti_Rebounds *rebounds = &contacts->work->rebounds;
    if (out->chosen[c].pinched) { /* u is the error of the solver, and r is large: the work is that of the motion */
        sum->correction += r * (out->u[row] - (w + soft));
        gains->correction += gain_of(r * (out->u[row] - (w + soft)));
        return;
    }
    bool lands = w > slope;
    for (int k = 0; w < 0 && k < rebounds->n && !lands; k++)
        lands = rebounds->at[k].contact == c;
    if (lands) {
        sum->impact += r * (slope - w);
        gains->rebound += gain_of(r * (slope - w));
    } else {
        sum->correction += r * (slope - (w + soft));
        gains->correction += gain_of(r * (slope - (w + soft)));
    }
}

/* Friction opposes the velocity at the end, and its impulse is one vector for the whole stage. If sliding reverses
 * within the stage, the product of velocity and impulse is positive at first: p changes linearly to its `last` value,
 * with its mean. Friction never gives energy, so its work is the negative part of that line. The rest is an error of
 * using one impulse for the true ones, and is counted as work of the impact or of the scheme. */
static double taken_by_friction(double mean, double last)
{
    const double first = 2 * mean - last;
    if (first <= 0 && last <= 0) return mean;
    if (first >= 0 && last >= 0) return 0;
    const double negative = fmin(first, last);
    return 0.5 * negative * negative / (negative - fmax(first, last));
}

/* Is the friction of a contact below its bound? Then its velocity is the error of the solver. */
static bool sticks(const sti_Assembly *step, const st_ContactLaw *law)
{
    const double *r = step->r + law->first;
    return law->dim > 1 && hypot(r[1], law->dim > 2 ? r[2] : 0) < 0.999 * law->mu * r[0];
}

static void contacts_of_part(void *ctx, int part, int64_t first, int64_t end)
{
    ContactWork *contacts = ctx;
    const sti_Assembly *out = &contacts->work->step;
    const sti_Stage *stage = contacts->stage;
    sti_Works sum = {0};
    sti_Gains gains = {0};
    for (int c = (int)first; c < (int)end; c++) {
        const st_ContactLaw *law = &out->law[c];
        if (c >= out->n_gaps) {
            const sti_BoundedEntry *entry = &stage->rows->bounded[c - out->n_gaps];
            const bool drives = entry->target != 0 || entry->stiffness + entry->damping > 0;
            const double r = out->r[law->first], u = out->u[law->first];
            if (drives) {
                const double given = r * sti_row_dot(&out->H, law->first, contacts->way);
                sum.given += given;
                gains.given += gain_of(given);
                continue;
            }
            const double mean = r * speed_along(out, stage, law->first, u, 0), taken = taken_by_friction(mean, r * u);
            sum.friction += taken;
            sum.scheme += mean - taken;
            continue;
        }
        normal_work(contacts, c, &sum, &gains);
        double mean = 0, last = 0;
        for (int k = 1; k < law->dim; k++) {
            const int row = law->first + k;
            mean += out->r[row] * speed_along(out, stage, row, out->u[row], out->w[row]);
            last += out->r[row] * out->u[row];
            sum.given -= out->r[row] * out->w[row];
            gains.given += gain_of(-out->r[row] * out->w[row]);
        }
        if (out->chosen[c].pinched && sticks(out, law)) continue;
        const double taken = taken_by_friction(mean, last);
        sum.friction += taken;
        *(stage->eta == 0 ? &sum.impact : &sum.scheme) += mean - taken;
    }
    contacts->part[part] = sum;
    contacts->gain[part] = gains;
}

/* Is there any force but weight? */
static bool has_forces(const sti_Model *model)
{
    const sti_World *world = model->world;
    return !model->rigid || world->scene->n_forces + world->n_force_motors + world->n_pushes > 0 || world->has_medium;
}

/* Work of forces, except weight, on single bodies in a stage. */
static double given_to_bodies(const sti_Model *model, const sti_StepWork *work, double eta, const double *k,
                              const double *way)
{
    const sti_World *world = model->world;
    const sti_Linearised *linear = &work->linearised;
    double sum = 0;
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e), first = world->body[b].v_first;
        st_Vec3 v, w;
        if (world->body[b].n_dofs == 0) continue;
        sti_body_velocity(&world->body[b], way, &v, &w);
        double given = -eta * sti_weight(world, b) * dot(world->gravity, v);
        for (int i = first; i < first + world->body[b].n_dofs; i++)
            given += eta * k[i] * way[i] + (linear->on ? linear->impulse[i] * way[i] : 0);
        sum += gain_of(given);
    }
    return sum;
}

st_Status sti_stage_work(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage, const double *v,
                         st_Error *err)
{
    sti_Assembly *out = &work->step;
    ContactWork contacts;
    const double *way = v; /* the velocity of the displacement that follows */
    const bool half = stage->eta == 0 || stage->mean;
    if (half || stage->way != NULL) {
        double *mean = work->v_work;
        for (int i = 0; i < model->n_v; i++)
            mean[i] = half ? 0.5 * (v[i] + stage->v_base[i]) : (stage->eta * v[i] + stage->way[i]) / stage->length;
        way = mean;
    }
    contacts.model = model, contacts.work = work, contacts.stage = stage, contacts.way = way;
    const int n = out->n_gaps + out->n_bounded;
    sti_Works *sum = &out->done;
    sti_Gains *gains = &out->gains;
    *sum = (sti_Works){0};
    *gains = (sti_Gains){0};
    const int parts = sti_team_parts(model->def.threads, n, contacts_of_part, &contacts);
    for (int k = 0; k < parts; k++) {
        sti_works_add(sum, 1, &contacts.part[k]);
        sti_gains_add(gains, 1, &contacts.gain[k]);
    }
    double forces, springs;
    const st_Sink *rows = stage->means != NULL ? stage->means->constraints : stage->rows;
    const bool plain = stage->eta > 0 && !stage->mean;
    sti_Works joints = {0};
    sti_Gains gained = {0};
    for (int k = 0; k < rows->joint_rows.n_rows && model->def.contact != ST_CONTACT_REGULARIZED; k++) {
        const double l = out->l[k], rate = rows->joint[k].rate;
        const double corrected = l * ((plain ? out->g[k] : -sti_row_dot(&out->G, k, way)) - rate);
        joints.correction -= corrected;
        gained.correction += gain_of(-corrected);
        if (rate == 0) continue;
        joints.given -= l * rate;
        gained.given += gain_of(-l * rate);
    }
    gained.joints = joints.correction;
    if (stage->eta == 0) STI_EXCHANGE(double, joints.impact, joints.correction);
    sti_works_add(sum, 1, &joints);
    sti_gains_add(gains, 1, &gained);
    /* Dampers; and the error that the scheme makes with springs. */
    const bool is_explicit = model->def.integrator == ST_INTEGRATOR_EULER, first = !stage->second_order;
    const double eta = stage->eta;
    double taken = 0, scheme = 0;
    springs = 0;
    for (int row = 0; eta > 0 && row < rows->soft_rows.n_rows; row++) {
        const sti_SoftEntry *soft = &rows->soft[row];
        const double speed = sti_row_dot(&rows->soft_rows, row, way), moved = eta * speed;
        const double before = is_explicit ? sti_row_dot(&rows->soft_rows, row, stage->v_star) : speed;
        const double power = soft->damping * speed * before, some = gain_of(power); /* explicit ones may overshoot */
        taken += some;
        scheme -= eta * (power - some);
        if (is_explicit) springs -= moved * (soft->stiffness * soft->value + soft->damping * before);
        if (first) scheme += (is_explicit ? 0.5 : -0.5) * soft->stiffness * moved * moved;
    }
    sum->damping -= eta * taken;
    sum->scheme += scheme;
    /* eta k'v. With one stage k is not kept, and made once more. */
    const st_Model *table = &model->table;
    const double *k = work->stages.applied;
    forces = 0;
    if (stage->eta != 0 && has_forces(model)) {
        if (k == NULL) {
            memset(work->v_work, 0, (size_t)model->n_v * sizeof *work->v_work);
            STI_TRY(table->force(table->ctx, stage->t, stage->q_star, stage->v_star, work->v_work, err));
            k = work->v_work;
        }
        for (int i = 0; i < model->n_v; i++)
            forces += stage->eta * k[i] * way[i];
        gains->given += model->rigid ? given_to_bodies(model, work, stage->eta, k, way) : INFINITY;
    }
    const sti_Linearised *linear = &work->linearised;
    double of_f = 0; /* without forces they are weight: their work is that of the potential */
    for (int i = 0; linear->on && stage->eta > 0 && i < model->n_v; i++) {
        forces += linear->impulse[i] * way[i];
        of_f += (linear->impulse[i] - linear->in_f[i]) * v[i];
    }
    const double adhesion = model->world->adheres && work->step.eta > 0 ? sti_adhesion_work(model, work, way) : 0;
    sum->given += forces + adhesion;
    if (adhesion != 0) gains->given = INFINITY;
    springs += adhesion; /* it is part of f, too */
    if (stage->second_order || stage->eta == 0 || stage->means != NULL) return ST_OK;
    for (int i = 0; work->tension.on && i < model->n_v; i++) { /* f contains E v_base */
        sum->scheme -= work->tension.E[i] * v[i] * v[i];
        work->tension.E[i] *= stage->v_base[i] - v[i];
    }
    double part[4] = {0};
    int i = 0;
    for (; i + 4 <= model->n_v; i += 4)
        for (int lane = 0; lane < 4; lane++)
            part[lane] += out->f[i + lane] * v[i + lane];
    for (; i < model->n_v; i++)
        part[0] += out->f[i] * v[i];
    of_f += (part[0] + part[1]) + (part[2] + part[3]);
    if (!has_forces(model)) forces += stage->eta * sti_weight_power(model->world, v);
    const double before = sti_energy_kinetic(model, work, stage->q_star, stage->v_base);
    sum->scheme += of_f - forces - springs - sti_energy_kinetic(model, work, stage->q_star, v) - before;
    return ST_OK;
}

/* Forces with a potential do no work from outside: subtracts their part from q to q_new. What projections of q_new add
 * to the potential is a correction. */
void sti_work_less_potential(const sti_Model *model, const sti_State *state, sti_StepWork *work)
{
    const st_Model *table = &model->table;
    const double lifted = work->events.lifted;
    work->step.done.correction += lifted;
    if (!has_forces(model) || table->potential == NULL) return;
    work->step.done.given +=
        table->potential(table->ctx, state->t, work->q_new) - table->potential(table->ctx, state->t, state->q) - lifted;
}
