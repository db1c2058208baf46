/* step/strike.c -- finds impacts in steps without event location, and the contacts and joints that they affect.
 *
 * With a fixed step a contact that closes within it has one impulse: the sum of the impact and of the force after it.
 * Divided by h it would grow like 1/h. So would the forces in all joints of the mechanism that is hit, and at its other
 * contacts. A contact closes in a step if it carried no load before, carries one now, and approached (or is pushed out
 * of an overlap) faster than forces explain. A first step with open joints, or with velocities that joints do not
 * allow, contains a jump of the same kind; integrators of order two make the latter an impact (initial.c).
 *
 * An impact also affects contacts farther away in a pile: in a stack it reaches the ground. Each contact that carries
 * much more than in the step before transmits it. If that step contained a part of the impact, as when a landing takes
 * two steps, each contact that carries much transmits it. And a contact that slides may jam, which stops its bodies at
 * once although it was closed (Painleve's rod).
 *
 * Drift correction also changes velocities at once. A step of Euler's method along the tangent opens a joint by v^2
 * h^2/(2 R), and drift `gap` closes it at a constant speed. When the correction starts (in the first step, after an
 * impact, with another h), its impulse is m v^2 h/(2 R). Divided by h this is half the force of the joint: it is not
 * counted as force.
 *
 * Forces explain a speed of two steps with the largest acceleration, 2 h a: contacts of bodies at rest may open for a
 * step and close again. Two cases have no such allowance. A landing takes two steps, the first to the gap and the
 * second to rest: after a step with an impact, the rest of the approach belongs to that impact. And a mechanism without
 * a loaded contact in the step before was in the air: it lands, however slowly.
 */
#include "base/tolerance.h"
#include "step/integrate/integrate.h"
#include "step/step.h"

/* Bodies connected by joints are one mechanism, with the smallest number of its bodies; the ground connects nothing. */
st_Status sti_strikes_create(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_Strikes *strikes = &work->strikes;
    const sti_World *world = model->world;
    if (!model->rigid) return ST_OK;
    const int n = world->n_bodies;
    strikes->mechanism = sti_alloc(&model->allocator, n, sizeof *strikes->mechanism);
    strikes->hit = sti_alloc(&model->allocator, n, sizeof *strikes->hit);
    strikes->n_bodies = n;
    strikes->pace = sti_alloc(&model->allocator, n, sizeof *strikes->pace);
    strikes->carried = sti_alloc(&model->allocator, n, sizeof *strikes->carried);
    strikes->correction = sti_alloc(&model->allocator, (int64_t)world->n_joints + 1, sizeof *strikes->correction);
    strikes->n_joints = world->n_joints;
    if (strikes->mechanism == NULL || strikes->hit == NULL || strikes->pace == NULL || strikes->carried == NULL ||
        strikes->correction == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d bodies", n);
    int *of = strikes->mechanism;
    for (int b = 0; b < n; b++)
        of[b] = b;
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < world->n_joints; k++) {
            const int a = world->joint[k].a, b = world->joint[k].b;
            const bool both = world->body[a].n_dofs > 0 && world->body[b].n_dofs > 0;
            if (!both || of[a] == of[b]) continue;
            of[a] = of[b] = of[a] < of[b] ? of[a] : of[b];
            changed = true;
        }
    }
    return ST_OK;
}

void sti_strikes_free(const sti_Model *model, sti_StepWork *work)
{
    sti_Strikes *strikes = &work->strikes;
    sti_free(&model->allocator, strikes->mechanism, strikes->n_bodies, sizeof *strikes->mechanism);
    sti_free(&model->allocator, strikes->hit, strikes->n_bodies, sizeof *strikes->hit);
    sti_free(&model->allocator, strikes->pace, strikes->n_bodies, sizeof *strikes->pace);
    sti_free(&model->allocator, strikes->carried, strikes->n_bodies, sizeof *strikes->carried);
    sti_free(&model->allocator, strikes->correction, (int64_t)strikes->n_joints + 1, sizeof *strikes->correction);
    *strikes = (sti_Strikes){0};
}

void sti_forget_strikes(sti_StepWork *work)
{
    sti_Strikes *strikes = &work->strikes;
    if ((strikes->any || strikes->any_before) && strikes->hit != NULL)
        memset(strikes->hit, 0, (size_t)strikes->n_bodies * sizeof *strikes->hit);
    if (strikes->correction != NULL)
        memset(strikes->correction, 0, (size_t)strikes->n_joints * sizeof *strikes->correction);
    strikes->contacts = 0;
    strikes->any = strikes->any_before = false;
}

static sti_Hit hit_of(const sti_Strikes *strikes, int body)
{
    return (sti_Hit)(strikes->hit[strikes->mechanism[body]] & STI_HIT_MASK);
}

static void hit(const sti_Model *model, sti_StepWork *work, int body, sti_Hit how)
{
    if (!model->rigid || model->world->body[body].n_dofs == 0) return;
    unsigned char *of = &work->strikes.hit[work->strikes.mechanism[body]];
    if ((*of & STI_HIT_MASK) < (unsigned)how) *of = (unsigned char)((*of & 0xf0u) | (unsigned)how);
}

/* The velocity of body b relative to body a at the point of a contact. */
static st_Vec3 strike_velocity(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *entry,
                               const double *v)
{
    const int body[2] = {entry->a, entry->b};
    st_Vec3 at[2];
    for (int k = 0; k < 2; k++) {
        const st_Pose pose = sti_pose(work->step.q, body[k]);
        st_Vec3 linear, w;
        sti_body_velocity(&model->world->body[body[k]], v, &linear, &w);
        at[k] = add(linear, cross(rotate(pose.q, w), sti_lever(model->world, entry->point, pose.p)));
    }
    return sub(at[1], at[0]);
}

static double separation(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *entry,
                         const double *v)
{
    return dot(entry->normal, strike_velocity(model, work, entry, v));
}

/* Is the sum of the speeds of both bodies of a contact below `limit`, before the step or as a change in it? Sleepers
 * have the values of their last step awake, which are larger than now. */
static bool is_calm(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *entry, bool change,
                    double limit)
{
    const double *reach = model->world->collider.body_reach;
    const sti_Pace *a = &work->strikes.pace[entry->a], *b = &work->strikes.pace[entry->b];
    const double sum = change ? a->change + b->change : a->before + b->before;
    return sum <= 0.999 * limit && fabs(entry->gap) <= reach[entry->a] && fabs(entry->gap) <= reach[entry->b];
}

/* The normal impulse of contact c in the whole step, and the time for which it acted. The impulse of the last stage may
 * be 0 if the first stage has it. */
static double normal_impulse(const sti_StepWork *work, int c, double *time)
{
    const sti_Assembly *step = &work->step;
    const sti_StepImpulses *total = &work->impulses.total;
    if (total->spring == NULL || !(total->time > 0)) {
        *time = step->eta;
        return step->r[step->law[c].first];
    }
    int low = 0, high = total->n; /* sorted by id: bisection */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (total->contact[middle].id < step->chosen[c].entry->id)
            low = middle + 1;
        else
            high = middle;
    }
    *time = total->time;
    return low < total->n && total->contact[low].id == step->chosen[c].entry->id ? total->contact[low].r[STI_FINITE][0]
                                                                                 : 0;
}

/* The load of a contact: more than weight and forces of the lighter body explain (much), and far more than in the step
 * before (more). */
typedef struct Load {
    bool much, more;
} Load;

static Load load_of(const sti_Model *model, const sti_StepWork *work, int c)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = step->chosen[c].entry;
    const int row = step->law[c].first;
    if (!model->rigid || sti_limit_joint(entry->id) >= 0) return (Load){false, false};
    const sti_World *world = model->world;
    const double mass_a = world->values.body[entry->a].mass, mass_b = world->values.body[entry->b].mass;
    const double light = world->body[entry->a].n_dofs == 0   ? mass_b
                         : world->body[entry->b].n_dofs == 0 ? mass_a
                                                             : fmin(mass_a, mass_b);
    double time;
    const double r = normal_impulse(work, c, &time), beyond = r - 4 * time * work->guard.pull * light;
    const double before = step->eta > 0 ? step->start[row] * time / step->eta : 0;
    return (Load){beyond > 0, beyond > 2 * before};
}

/* A first step contains an impact if the correction of overlap changes the force of a contact by this share of the
 * weight: overlap at the start is not a load. Later overlaps are errors of the step and of its solution. */
#define FIRST_OVERLAP 0.05

/* Did contact c of the step problem carry a load at the start of the step? Euler's methods keep no ids of loaded
 * contacts; their warm start has the forces of the last step. */
static bool carried_load(const sti_Model *model, const sti_StepWork *work, int c)
{
    const sti_Assembly *step = &work->step;
    if (sti_integrator(model)->order > 1) return sti_ids_contain(&work->loaded_new, step->chosen[c].entry->id);
    return step->start[step->law[c].first] > 0;
}

/* Did contact c of the step problem close or jam in the step, from the velocity `before`? */
static bool closes(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int c,
                   const double *before)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = step->chosen[c].entry;
    const int row = step->law[c].first;
    double time;
    if (!(normal_impulse(work, c, &time) > 0)) return false;
    if (step->chosen[c].pinched) return true;
    for (int k = 0; k < work->rebounds.n; k++)
        if (work->rebounds.at[k].contact == c) return true; /* by restitution, within this step */
    const double pulled = time * work->guard.pull, fast = sti_larger(STI_SEPARATION_SPEED, 2 * pulled);
    if (model->rigid && !is_calm(model, work, entry, true, fast) && load_of(model, work, c).much) {
        const st_Vec3 jump =
            sub(strike_velocity(model, work, entry, state->v), strike_velocity(model, work, entry, before));
        if (norm(jump) > fast) return true;
    }
    if (carried_load(model, work, c)) return false;
    if (-step->w[row] > (work->strikes.first_step ? FIRST_OVERLAP * pulled : fast)) return true; /* out of an overlap */
    if (model->def.events != ST_EVENTS_OFF) return false; /* collisions were located */
    const bool limit = !model->rigid || sti_limit_joint(entry->id) >= 0;
    if (limit) return -sti_row_dot(&step->H, row, before) > fast;
    return !is_calm(model, work, entry, false, fast) && -separation(model, work, entry, before) > fast;
}

/* Did a contact close in the first stage that the problem of the last stage does not contain any more? */
static bool closed_and_left(const sti_Model *model, const sti_StepWork *work, const sti_ContactImpulse *contact,
                            const double *before)
{
    const double time = work->impulses.total.time, pulled = time * work->guard.pull,
                 fast = sti_larger(STI_SEPARATION_SPEED, 2 * pulled);
    const sti_ContactEntry entry = {
        .a = contact->a, .b = contact->b, .point = contact->point, .normal = contact->normal, .gap = contact->gap};
    if (!(contact->r[STI_FINITE][0] > 0) || sti_limit_joint(contact->id) >= 0) return false;
    if (sti_ids_contain(&work->loaded_new, contact->id)) return false;
    if (-contact->gap > time * (work->strikes.first_step ? FIRST_OVERLAP * pulled : fast)) return true;
    return model->def.events == ST_EVENTS_OFF && -separation(model, work, &entry, before) > fast;
}

/* Was body b in the air in the step before: did no contact carry its mechanism? The first call in a step computes this
 * for all mechanisms. */
static bool was_in_air(const sti_Model *model, sti_StepWork *work, int b)
{
    sti_Strikes *strikes = &work->strikes;
    if (!strikes->carried_known) {
        memset(strikes->carried, 0, (size_t)strikes->n_bodies * sizeof *strikes->carried);
        for (int c = 0; c < work->step.n_gaps; c++) {
            const sti_ContactEntry *entry = work->step.chosen[c].entry;
            if (!carried_load(model, work, c)) continue;
            strikes->carried[strikes->mechanism[entry->a]] = strikes->carried[strikes->mechanism[entry->b]] = true;
        }
        strikes->carried_known = true;
    }
    return model->world->body[b].n_dofs > 0 && !strikes->carried[strikes->mechanism[b]];
}

/* Does a mechanism land at contact c more slowly than `closes` requires: from the air, or with the rest of a landing in
 * the step before? */
static sti_Hit lands(const sti_Model *model, sti_StepWork *work, int c, const double *before)
{
    const sti_Assembly *step = &work->step;
    const sti_Strikes *strikes = &work->strikes;
    const sti_ContactEntry *entry = step->chosen[c].entry;
    const int row = step->law[c].first;
    double time;
    const bool again = strikes->hit[strikes->mechanism[entry->a]] >> 4 == STI_HIT_NOW ||
                       strikes->hit[strikes->mechanism[entry->b]] >> 4 == STI_HIT_NOW;
    if (!again && carried_load(model, work, c)) return STI_HIT_NOT;
    if (!(normal_impulse(work, c, &time) > 0)) return STI_HIT_NOT;
    const double least = sti_larger(STI_SEPARATION_SPEED, FIRST_OVERLAP * time * work->guard.pull);
    if (sti_limit_joint(entry->id) >= 0)
        return again && -sti_row_dot(&step->H, row, before) > least ? STI_HIT_ON : STI_HIT_NOT;
    if (is_calm(model, work, entry, false, least) || -separation(model, work, entry, before) <= least)
        return STI_HIT_NOT;
    if (again) return STI_HIT_ON;
    return was_in_air(model, work, entry->a) || was_in_air(model, work, entry->b) ? STI_HIT_NOW : STI_HIT_NOT;
}

/* A fixed step computes the work of a normal impulse at the velocity after it. The loss of the impact is then part of
 * the work of the scheme, |v+ - v|^2/2, and is moved to that of impacts. (If others push the bodies together, the part
 * of the contact may be positive; then it stays.) The impulse contains those of finite forces, so it is an upper bound.
 */
static double loss_of(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int c,
                      const double *before)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = step->chosen[c].entry;
    const bool limit = !model->rigid || sti_limit_joint(entry->id) >= 0;
    const int row = step->law[c].first;
    if (sti_integrator(model)->order > 1 && !work->stages.rough) return 0; /* a rough step is one of Euler's method */
    const double jump = limit ? sti_row_dot(&step->H, row, state->v) - sti_row_dot(&step->H, row, before)
                              : separation(model, work, entry, state->v) - separation(model, work, entry, before);
    return fmax(0.5 * step->r[row] * jump, 0);
}

static const double *velocity_before(const sti_Model *model, const sti_StepWork *work)
{
    return sti_has_stages(model) ? work->saved.state.v : work->v_new; /* v_new was exchanged with v */
}

/* Does a step of length h from t contain the impulse of a jump in the speed of a prescribed motion? Fixed steps of
 * order one follow the jump in the step that begins there. If it is inside a step, this step has the mean speed, and
 * the next one the rest of the jump. Steps of order two need one more step. */
static bool motion_turns(const sti_Model *model, int joint, double t, double h)
{
    const double near = 1e-9 * h, back = sti_integrator(model)->order > 1 ? 2 * h : h;
    for (double corner = t - back + near; corner < t + h - near;) {
        corner = sti_motion_corner(model->world, joint, corner);
        if (corner < t + h - near && fabs(corner - (t - h)) > near) return true;
    }
    return false;
}

void sti_note_strikes(const sti_Model *model, sti_State *state, sti_StepWork *work, double h, bool first_step,
                      bool jump)
{
    const sti_Assembly *step = &work->step;
    sti_Strikes *strikes = &work->strikes;
    strikes->first_step = first_step;
    for (int b = 0; (strikes->any || strikes->any_before) && strikes->hit != NULL && b < strikes->n_bodies; b++)
        strikes->hit[b] = (unsigned char)((strikes->hit[b] & STI_HIT_MASK) << 4);
    strikes->any_before = strikes->any;
    strikes->any = false;
    strikes->contacts = 0;
    for (int k = 0; jump && k < model->world->n_joints; k++) {
        hit(model, work, model->world->joint[k].a, STI_HIT_NOW);
        hit(model, work, model->world->joint[k].b, STI_HIT_NOW);
        strikes->any = true;
    }
    const bool met = sti_integrator(model)->order > 1 && model->def.events != ST_EVENTS_OFF; /* as an impact: step.c */
    for (int k = 0; !met && model->rigid && k < model->world->n_joints; k++) {
        if (!model->world->joint[k].held || !motion_turns(model, k, state->t - h, h)) continue;
        hit(model, work, model->world->joint[k].a, STI_HIT_NOW);
        hit(model, work, model->world->joint[k].b, STI_HIT_NOW);
        strikes->any = true;
    }
    /* Drift correction of a joint that starts or changes. `trial` now has the rows at the start of the step. */
    const bool corrects = model->rigid && model->def.drift == ST_DRIFT_GAP && sti_integrator(model)->order == 1;
    const double steady = sti_larger(STI_SEPARATION_SPEED, FIRST_OVERLAP * step->eta * work->guard.pull);
    for (int k = 0; corrects && step->eta > 0 && k < model->world->n_joints; k++) {
        const sti_Joint *joint = &model->world->joint[k];
        double square = 0;
        for (int row = joint->first_row; row < joint->first_row + joint->n_rows; row++)
            square += work->trial.joint[row].velocity ? 0 : work->trial.joint[row].value * work->trial.joint[row].value;
        const double before = strikes->correction[k];
        strikes->correction[k] = fmin(sqrt(square) / step->eta, model->def.correction_speed);
        if (fabs(strikes->correction[k] - before) <= sti_larger(steady, FIRST_OVERLAP * before)) continue;
        hit(model, work, joint->a, STI_HIT_ON);
        hit(model, work, joint->b, STI_HIT_ON);
        strikes->any = true;
    }
    const bool located = model->def.events != ST_EVENTS_OFF; /* collisions, but no jams of closed contacts */
    if (located && !(step->eta > 0)) return;
    const double *before = velocity_before(model, work);
    /* Speeds of bodies, once per step. They exclude most contacts of a pile without a computation at their points,
     * which are at most twice as far from the centre of a body as its shapes (is_calm). */
    for (int e = 0; model->rigid && e < sti_awake_solids(model->world); e++) {
        const int b = sti_awake_body(model->world, e);
        st_Vec3 then, w_then, now, w_now;
        sti_body_velocity(&model->world->body[b], before, &then, &w_then);
        sti_body_velocity(&model->world->body[b], state->v, &now, &w_now);
        const double turned = norm(w_then), turns = norm(sub(w_now, w_then)),
                     reach = 2 * model->world->collider.body_reach[b];
        strikes->pace[b] = (sti_Pace){norm(then) + (turned > 0 ? turned * reach : 0),
                                      norm(sub(now, then)) + (turns > 0 ? turns * reach : 0)};
    }
    strikes->carried_known = false;
    double lost = 0;
    for (int c = 0; c < step->n_gaps; c++) {
        const sti_Hit how = closes(model, state, work, c, before) ? STI_HIT_NOW
                            : model->rigid && !located            ? lands(model, work, c, before)
                                                                  : STI_HIT_NOT;
        if (how == STI_HIT_NOT) continue;
        if (!located) lost += loss_of(model, state, work, c, before);
        hit(model, work, step->chosen[c].entry->a, how);
        hit(model, work, step->chosen[c].entry->b, how);
        strikes->contacts++;
        strikes->any = true;
    }
    const sti_StepImpulses *total = &work->impulses.total;
    for (int k = 0, c = 0; model->rigid && total->time > 0 && k < total->n; k++) { /* both are sorted by id */
        const sti_ContactImpulse *contact = &total->contact[k];
        while (c < step->n_gaps && step->chosen[c].entry->id < contact->id)
            c++;
        if (c < step->n_gaps && step->chosen[c].entry->id == contact->id) continue;
        if (!closed_and_left(model, work, contact, before)) continue;
        hit(model, work, contact->a, STI_HIT_NOW);
        hit(model, work, contact->b, STI_HIT_NOW);
        strikes->contacts++;
        strikes->any = true;
    }
    lost = fmin(lost, fmax(-step->done.scheme, 0)); /* all that the scheme took in this step */
    state->works.impact -= lost;
    state->works.scheme += lost;
    /* Bodies that are hit transmit the impact. Passes over all contacts alternate in direction, so a stack needs few of
     * them. */
    bool changed = strikes->any && model->rigid;
    for (int round = 0; changed && round < 32; round++) {
        changed = false;
        for (int k = 0; k < step->n_gaps; k++) {
            const int c = round % 2 == 0 ? k : step->n_gaps - 1 - k;
            const int a = step->chosen[c].entry->a, b = step->chosen[c].entry->b, other = hit_of(strikes, a) ? b : a;
            if (!hit_of(strikes, a) == !hit_of(strikes, b) || model->world->body[other].n_dofs == 0) continue;
            const bool hit_before = strikes->hit[strikes->mechanism[other]] >> 4 == STI_HIT_NOW;
            const Load load = load_of(model, work, c);
            if (!load.more && !(load.much && hit_before)) continue;
            hit(model, work, other, load.more ? STI_HIT_NOW : STI_HIT_ON);
            changed = true;
        }
    }
}

bool sti_is_struck(const sti_Model *model, const sti_State *state, const sti_StepWork *work, uint64_t contact, int a,
                   int b)
{
    const sti_Strikes *strikes = &work->strikes;
    if (!strikes->any) return false;
    if (model->rigid) return hit_of(strikes, a) != STI_HIT_NOT || hit_of(strikes, b) != STI_HIT_NOT;
    for (int c = 0; c < work->step.n_gaps; c++)
        if (work->step.chosen[c].entry->id == contact)
            return closes(model, state, work, c, velocity_before(model, work));
    return false;
}
