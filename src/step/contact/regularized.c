/* step/contact/regularized.c -- contacts and joints as springs and dampers inside the step problem.
 *
 * The method of Preclik, Popa & Ruede 2011, in impulses (docs/methods.md 11.4); k is the normal spring, gamma the
 * tangential damper:
 *
 *     C  = diag( 1/(k h^2), 1/(gamma h), 1/(gamma h) ),    w_n = gap/h
 *     Cb = 1/(k_j h^2),                                    g   = theta/h + d theta/dt
 *
 * so a closed contact has r_n = -k h (gap + h u_n), the impulse of a spring at the end of the step. The problem is
 * strictly convex: forces of statically indeterminate bodies are unique. If all compliances are multiplied by s -> 0,
 * the forces tend, with an error of O(s), to the rigid solution with the smallest r'C r + l'Cb l. The setting
 * `rigid_limit` computes this limit: each solution is the start of the next one. It stops when the compliances are
 * STI_RIGID_LIMIT of the mobility, where the error by s and the rounding error are about equal. The impulse is then
 * that of rigid bodies, and the gap is closed. (least_norm.c computes the limit directly.)
 *
 * Limits of the method: a sticking contact creeps at load/gamma. The implicit spring takes energy from impacts
 * (restitution is about exp(-(pi/2) sqrt(k h^2/m)) with a soft spring, 0 with a stiff one). correction_speed does not
 * apply: gap/h belongs to the spring and is no drift correction. Rolling and spinning rows stay rigid.
 */
#include "base/tolerance.h"
#include "step/contact/contact_model.h"

static double contact_stiffness(const st_SystemDef *def, const sti_Surface *surface)
{
    return surface->stiffness > 0 ? surface->stiffness : def->contact_stiffness;
}

sti_Compliance sti_contact_compliance(const st_SystemDef *def, const sti_ContactEntry *entry, double h)
{
    const double k = contact_stiffness(def, entry->surface);
    const double gamma = entry->surface->damping > 0 ? entry->surface->damping : def->contact_damping;
    return (sti_Compliance){.normal = 1.0 / (k * h * h), .tangent = 1.0 / (gamma * h)};
}

static double joint_stiffness(const st_SystemDef *def, const sti_JointEntry *joint)
{
    return joint->stiffness > 0 ? joint->stiffness : def->joint_stiffness;
}

double sti_joint_compliance(const st_SystemDef *def, const sti_JointEntry *joint, double h)
{
    return 1.0 / (joint_stiffness(def, joint) * h * h);
}

void sti_regularize(const sti_Model *model, sti_StepWork *work, const sti_Stage *stage)
{
    for (int c = 0; c < work->step.n_gaps; c++) {
        sti_Assembly *problem = &work->step;
        const sti_ContactEntry *entry = problem->chosen[c].entry;
        int dim = problem->law[c].dim;
        const sti_Compliance of = sti_contact_compliance(&model->def, entry, stage->eta);
        double *C = sti_compliance_block(problem, problem->law[c].first, dim);
        C[0] = of.normal;
        for (int j = 1; j < dim && j < 3; j++)
            C[j * dim + j] = of.tangent;
        problem->w[problem->law[c].first] = entry->gap / stage->eta;
    }
    sti_Assembly *out = &work->step;
    const st_Sink *sink = stage->rows;
    double h = stage->eta;
    const int n_rotors = sti_rotor_count(model->world); /* rows of rotors are no joints */
    for (int k = 0; k < sink->joint_rows.n_rows - n_rotors; k++) {
        out->Cb[k] = sti_joint_compliance(&model->def, &sink->joint[k], h);
        out->g[k] = sink->joint[k].rate + sink->joint[k].value / h;
    }
    work->step.compliant = true;
}

double sti_regularized_energy(const sti_Model *model, const sti_StepWork *work, const st_Sink *sink)
{
    double sum = 0;
    if (model->def.rigid_limit || work->least_norm != NULL) return 0;
    for (int c = 0; c < sink->n_contacts; c++) {
        double k = contact_stiffness(&model->def, sink->contact[c].surface);
        double depth = fmin(0, sink->contact[c].gap);
        sum += 0.5 * k * depth * depth;
    }
    for (int j = 0; j < sink->joint_rows.n_rows; j++)
        sum += 0.5 * joint_stiffness(&model->def, &sink->joint[j]) * sink->joint[j].value * sink->joint[j].value;
    return sum;
}

/* The largest ratio of compliance to mobility. The continuation ends when it is small enough. */
static double softness(const sti_Model *model, const sti_StepWork *work, const sti_Stage *stage)
{
    const sti_Assembly *out = &work->step;
    const double *C = out->C;
    double most = 0;
    for (int c = 0; c < out->n_gaps; c++) {
        int dim = out->law[c].dim;
        for (int k = 0; k < dim; k++) {
            double mobility = sti_mobility(model, work, out->law[c].first + k);
            if (mobility > 0) most = fmax(most, C[k * dim + k] / mobility);
        }
        C += dim * dim;
    }
    for (int k = 0; k < stage->rows->joint_rows.n_rows; k++) {
        double mobility = sti_row_mobility(model, work, &out->G, k);
        if (mobility > 0) most = fmax(most, out->Cb[k] / mobility);
    }
    return most;
}

st_Status sti_rigid_limit(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                          st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    double left = softness(model, work, stage);
    for (int round = 0; round < 40 && left > STI_RIGID_LIMIT; round++) { /* enough rounds for any softness below 1e32 */
        double s = fmax(0.1, STI_RIGID_LIMIT / left);
        sti_Assembly *out = &work->step;
        double *C = out->C;
        for (int c = 0; c < out->n_gaps; c++) {
            int dim = out->law[c].dim;
            for (int k = 0; k < dim * dim; k++)
                C[k] *= s;
            C += dim * dim;
        }
        for (int k = 0; k < stage->rows->joint_rows.n_rows; k++)
            out->Cb[k] *= s;
        left *= s;
        int before = info->iterations;
        STI_TRY(sti_solve_islands(model, state, work, solution, info, err));
        info->iterations += before;
    }
    return ST_OK;
}
