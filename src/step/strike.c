/* step/strike.c -- steps whose impulses hold an impact that nobody located, and what it reaches.
 *
 * With a fixed step a contact that closes within it has one impulse: that of the impact and that of the force after it.
 * Divided by h it would grow like 1/h, and so would the forces in all joints of the mechanism that is struck, and at
 * its other contacts. A contact closes in a step where it carried nothing before, carries now, and approached faster,
 * or is pushed out of an overlap faster, than forces explain. A first step whose joints are open or whose velocities
 * contradict them is a jump of the same kind; integrators of order two make an impact of the latter (initial.c).
 *
 * Contacts farther away in a pile feel the impact, too, and are not told: their forces are what the step makes of it.
 */
#include "base/tolerance.h"
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
    if (strikes->mechanism == NULL || strikes->hit == NULL)
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
    *strikes = (sti_Strikes){0};
}

void sti_forget_strikes(sti_StepWork *work)
{
    sti_Strikes *strikes = &work->strikes;
    if (strikes->any && strikes->hit != NULL) memset(strikes->hit, 0, (size_t)strikes->n_bodies * sizeof *strikes->hit);
    strikes->contacts = 0;
    strikes->any = false;
}

static void hit(const sti_Model *model, sti_StepWork *work, int body)
{
    if (!model->rigid || model->world->body[body].n_dofs == 0) return;
    work->strikes.hit[work->strikes.mechanism[body]] = 1;
}

/* Of a's material against b's at a contact's point, along its normal: how fast they separate. */
static double separation(const sti_Model *model, const sti_StepWork *work, const sti_ContactEntry *entry,
                         const double *v)
{
    const int body[2] = {entry->a, entry->b};
    double speed[2];
    for (int k = 0; k < 2; k++) {
        const st_Pose pose = sti_pose(work->step.q, body[k]);
        st_Vec3 linear, w;
        sti_body_velocity(&model->world->body[body[k]], v, &linear, &w);
        const st_Vec3 spin = rotate(pose.q, w);
        speed[k] = dot(entry->normal, add(linear, cross(spin, sub(entry->point, pose.p))));
    }
    return speed[1] - speed[0];
}

/* Did contact c of the step problem close in the step, from the velocity `before`? */
static bool closes(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int c,
                   const double *before)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = &step->chosen[c].entry;
    const int row = step->law[c].first;
    const double fast = sti_larger(STI_SEPARATION_SPEED, 2 * step->eta * state->fastest.pull);
    if (!(step->r[row] > 0) || sti_ids_contain(&work->loaded_new, entry->id)) return false; /* it carried before */
    const bool limit = !model->rigid || sti_limit_joint(entry->id) >= 0;
    const double approach = limit ? -sti_row_dot(&step->H, row, before) : -separation(model, work, entry, before);
    return sti_larger(approach, -step->w[row]) > fast;
}

/* A fixed step takes the work of a normal impulse at the velocity after it, and what the impact takes is in the
 * scheme's share, |v+ - v|^2/2: it is moved to where it belongs.                                           */
static void note_loss(const sti_Model *model, sti_State *state, sti_StepWork *work, int c, const double *before)
{
    const sti_Assembly *step = &work->step;
    const sti_ContactEntry *entry = &step->chosen[c].entry;
    const bool limit = !model->rigid || sti_limit_joint(entry->id) >= 0;
    const int row = step->law[c].first;
    if (sti_integrator(model)->order > 1) return;
    const double jump = limit ? sti_row_dot(&step->H, row, state->v) - sti_row_dot(&step->H, row, before)
                              : separation(model, work, entry, state->v) - separation(model, work, entry, before);
    state->works.impact -= 0.5 * step->r[row] * jump;
    state->works.scheme += 0.5 * step->r[row] * jump;
}

static const double *velocity_before(const sti_Model *model, const sti_StepWork *work)
{
    return sti_has_stages(model) ? work->saved.state.v : work->v_new; /* exchanged with v */
}

void sti_note_strikes(const sti_Model *model, sti_State *state, sti_StepWork *work, bool jump)
{
    const sti_Assembly *step = &work->step;
    sti_forget_strikes(work);
    for (int k = 0; jump && k < model->world->n_joints; k++) {
        hit(model, work, model->world->joint[k].a);
        hit(model, work, model->world->joint[k].b);
        work->strikes.any = true;
    }
    if (model->def.events != ST_EVENTS_OFF) return;
    for (int c = 0; c < step->n_gaps; c++) {
        if (!closes(model, state, work, c, velocity_before(model, work))) continue;
        note_loss(model, state, work, c, velocity_before(model, work));
        hit(model, work, step->chosen[c].entry.a);
        hit(model, work, step->chosen[c].entry.b);
        work->strikes.contacts++;
        work->strikes.any = true;
    }
}

bool sti_is_struck(const sti_Model *model, const sti_State *state, const sti_StepWork *work, uint64_t contact, int a,
                   int b)
{
    const sti_Strikes *strikes = &work->strikes;
    if (!strikes->any) return false;
    if (model->rigid) return strikes->hit[strikes->mechanism[a]] != 0 || strikes->hit[strikes->mechanism[b]] != 0;
    for (int c = 0; c < work->step.n_gaps; c++)
        if (work->step.chosen[c].entry.id == contact)
            return closes(model, state, work, c, velocity_before(model, work));
    return false;
}
