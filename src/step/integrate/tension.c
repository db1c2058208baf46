/* step/integrate/tension.c -- joints under tension that a step of Euler's method does not resolve.
 *
 * A force f at the lever s of a body resists its rotation with the stiffness K = (s'f) I - f s'. With rows at q this
 * force is explicit. A link of inertia J then follows
 *
 *     J w+ = J w - h K x,     x+ = x + h w+
 *
 * which diverges for h^2 K > 4 J: the upper links of a heavy chain turn further and further from step to step, and
 * joints open. A link with more than 3 J therefore gets so much inertia that the step resolves its tension,
 *
 *     (J + E) w+ = (J + E) w - h K x,     E = max(0, h^2 K - 3 J),     h^2 K/(J + E) <= 3
 *
 * E changes a motion that the step resolves by the order of the scheme: for a bob with J = 0 on a bar, E/(m s^2) is (h
 * omega)^2. It has no effect on a constant spin, so it damps nothing. (All of h^2 K at the end of the step, f without E
 * w, would never add energy. But it takes as much as implicit Euler from a pendulum: two bobs lost 13 J of 30 J in 10 s
 * at h = 1/240, with E w they lose 0.15 J.)
 *
 * K is that of all forces on the body: those of two joints at one point cancel, as for the light bodies between hinges
 * of one joint of an MJCF file.
 *
 * The force is unknown before the step is solved. If the solution shows tension beyond 3 J/h^2, the step is solved
 * again with E of this solution. Impulses of collisions are no tension: mechanisms that land in this step have E = 0.
 */
#include "math/block_diag.h"
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

static const double RESOLVED = 3; /* h^2 K/J up to which rows at q are stable in a step; the limit is 4 */

/* May the impulses l pull so hard that E > 0? K <= 2 |s| |f| for one force; most bodies have at most four. */
static bool may_be_stiff(const sti_Model *model, const double *M, const double *l, double eta)
{
    const sti_World *world = model->world;
    const double least = RESOLVED / (4 * 2 * eta);
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        if (joint->n_rows < 3) continue;
        const double *f = l + joint->first_row, square = f[0] * f[0] + f[1] * f[1] + f[2] * f[2];
        for (int side = 0; side < 2; side++) {
            const sti_Body *body = &world->body[side == 0 ? joint->a : joint->b];
            const st_Vec3 s = side == 0 ? joint->anchor_a : joint->anchor_b;
            const double stiff = square * dot(s, s);
            for (int d = body->n_dofs - 1; d >= 0 && body->dof[d] >= 3; d--) {
                const double J = least * sti_mass_of(model, M, body->v_first + d);
                if (!(stiff <= J * J)) return true;
            }
        }
    }
    return false;
}

static const double SELF_STRESS = 100; /* force of a joint relative to the total momentum: more is no tension */

/* Do joints that determine the same motion pull against each other? Drift leaves their rows slightly different, and the
 * difference times any force then appears as the velocity that corrects it. Such forces cancel; they are no tension. */
static bool is_self_stressed(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double eta)
{
    const sti_World *world = model->world;
    const sti_Assembly *out = &work->step;
    double mass = 0, driven = 0, largest = 0;
    for (int b = 1; b < world->n_bodies; b++)
        if (world->body[b].n_dofs > 0) mass += world->values.body[b].mass;
    for (int k = 0; k < out->n_bounded; k++)
        driven += fabs(out->r[out->law[out->n_gaps + k].first]);
    for (int k = work->here.joint_rows.n_rows; k < out->problem.n_l; k++) /* springs */
        driven += fabs(out->l[k]);
    for (int k = 0; k < world->n_joints; k++) {
        const double *f = out->l + world->joint[k].first_row;
        if (world->joint[k].n_rows >= 3) largest = fmax(largest, f[0] * f[0] + f[1] * f[1] + f[2] * f[2]);
    }
    const double momentum =
        driven + mass * (state->fastest.speed + eta * state->fastest.pull + model->def.correction_speed);
    return largest > SELF_STRESS * SELF_STRESS * momentum * momentum;
}

void sti_leave_tension(sti_StepWork *work)
{
    sti_Assembly *out = &work->step;
    const sti_Tension *tension = &work->tension;
    if (out->problem.A.x != tension->A) return;
    out->problem.A.x = tension->plain;
    memcpy(out->f, tension->f, (size_t)out->problem.n_v * sizeof *out->f);
}

st_Status sti_resolve_tension(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                              const sti_Stage *stage, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    sti_Assembly *out = &work->step;
    sti_Tension *tension = &work->tension;
    const int n_v = model->n_v;
    if (model->def.integrator != ST_INTEGRATOR_IMPLICIT || model->def.effort == ST_EFFORT_THOROUGH ||
        model->def.contact != ST_CONTACT_RIGID || stage->means != NULL || stage->eta == 0 ||
        !may_be_stiff(model, out->M, out->l, stage->eta) || is_self_stressed(model, state, work, stage->eta))
        return ST_OK;
    STI_TRY(STI_GROW(&model->allocator, tension->E, tension->E_capacity, n_v, err));
    double *E = tension->E;
    const sti_World *world = model->world;
    bool any = false;
    STI_TRY(STI_GROW(&model->allocator, tension->K, tension->K_capacity, 6 * (int64_t)world->n_bodies, err));
    sti_joints_stiffness(world, stage->q_star, out->l, tension->K);
    memset(E, 0, (size_t)n_v * sizeof *E);
    for (int b = 1; b < sti_first_rotor(world); b++) {
        const double *K = tension->K + 6 * (ptrdiff_t)b;
        const double side[3] = {fabs(K[3]) + fabs(K[5]), fabs(K[3]) + fabs(K[4]), fabs(K[4]) + fabs(K[5])};
        for (int d = world->body[b].n_dofs - 1; d >= 0 && world->body[b].dof[d] >= 3; d--) {
            const int i = world->body[b].v_first + d, axis = world->body[b].dof[d] - 3;
            E[i] = sti_larger(stage->eta * (K[axis] + side[axis]) - RESOLVED * sti_mass_of(model, out->M, i), 0);
            any = any || E[i] > 0;
        }
    }
    if (!any) return ST_OK;
    /* Contacts that close in this step, or rebound: E = 0 for the mechanisms that they push. */
    for (int c = 0; c < out->n_gaps; c++) {
        const int row = out->law[c].first;
        bool lands = out->r[row] > 0 && out->w[row] > 0;
        for (int k = 0; k < work->rebounds.n && !lands; k++)
            lands = work->rebounds.at[k].contact == c;
        if (!lands) continue;
        STI_TRY(sti_find_joined(model, work, err));
        for (int64_t e = out->H.p[row]; e < out->H.p[row + 1]; e++)
            for (int i = 0; i < model->n_v; i++)
                if (work->joined.of[i] == work->joined.of[out->H.i[e]]) E[i] = 0;
    }

    any = false;
    for (int i = 0; i < n_v; i++)
        any = any || E[i] > 0;
    if (!any) return ST_OK;
    const st_BlockDiag A = out->problem.A;
    int64_t n = 0;
    for (int b = 0; b < A.n_blocks; b++)
        n += sti_block_numbers(&A, b);
    STI_TRY(STI_GROW(&model->allocator, tension->A, tension->A_capacity, n, err));
    memcpy(tension->A, A.x, (size_t)n * sizeof *A.x);
    double *block = tension->A;
    for (int b = 0; b < A.n_blocks; block += sti_block_numbers(&A, b), b++)
        for (int i = A.first[b]; i < A.first[b + 1]; i++)
            block[(i - A.first[b]) * sti_block_stride(&A, b)] += E[i];
    STI_TRY(STI_GROW(&model->allocator, tension->f, tension->f_capacity, n_v, err));
    memcpy(tension->f, out->f, (size_t)n_v * sizeof *out->f);
    tension->plain = A.x;
    out->problem.A.x = tension->A;
    tension->on = true;
    for (int i = 0; i < n_v; i++)
        out->f[i] += E[i] * stage->v_base[i];
    return sti_solve_islands(model, state, work, solution, info, err);
}
