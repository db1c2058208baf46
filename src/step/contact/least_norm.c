/* step/contact/least_norm.c -- the smallest forces among all that solve a statically indeterminate problem (setting
 * `forces`: least_norm).
 *
 * A table with four legs, a beam in two bearings, a box on a box: the motion is unique, the forces are not. Elastic
 * bodies share loads by their stiffness. For compliances s C and s Cb with s -> 0 the forces tend to the solution of
 *
 *     min  r'C r + l'Cb l      A v = f + H r + G l,   laws on r,      C  = diag( 1/(k h^2), 1/(gamma h), 1/(gamma h) )
 *                                                                     Cb = 1/(k_j h^2)
 *
 * (Preclik, Popa & Ruede 2011, PPR eq. 9). `rigid_limit` approaches this limit by continuation; rounding errors end it
 * at 1e-6 of the forces. This file solves the rigid problem once and then minimises over its solutions
 * (fclib/hyperstatic.c): v and u stay, r and l change by z with [H G] z = 0. There joints are contacts without bounds.
 * Impulses of springs, motors and joint friction do not change.
 *
 * The paper has no stiffness for rolling and spinning torques. Here a torque at its limit is treated like friction at
 * its limit.
 */
#include "fclib/hyperstatic.h"
#include "step/contact/contact_model.h"

/* A speed below this part of the largest speed of the step counts as 0: the contact is closed, or sticks. The limit is
 * at least the speed that the solver's tolerance leaves at a closed contact. */
static const double still = 1e-6;
static const double tolerances_of_still = 2;
/* The change of momentum that the smallest forces may cause: this many solver tolerances, and at least
 * `least_change`. */
static const double tolerances_of_change = 10, least_change = 1e-6;
/* A direction that changes the momentum by less than this part of the largest change depends on the other
 * directions. */
static const double rank_tolerance = 1e-9;

struct sti_LeastNorm {
    sti_Hyperstatic *hyperstatic;
    st_ContactLaw *law;     /* n: laws of contacts, then bounded rows, then joints */
    double *r, *u, *weight; /* by row of these laws                                */
    double *moved;          /* n_v                                                 */
    int64_t law_capacity, r_capacity, u_capacity, weight_capacity, moved_capacity;
};

st_Status sti_least_norm_create(const st_Allocator *allocator, sti_LeastNorm **out, st_Error *err)
{
    sti_LeastNorm *least = sti_alloc(allocator, 1, sizeof *least);
    if (least == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: forces of least norm");
    st_Status status = sti_hyperstatic_create(allocator, &least->hyperstatic, err);
    if (status == ST_OK)
        *out = least;
    else
        sti_free(allocator, least, 1, sizeof *least);
    return status;
}

void sti_least_norm_destroy(const st_Allocator *allocator, sti_LeastNorm *least)
{
    if (least == NULL) return;
    sti_hyperstatic_destroy(least->hyperstatic);
    STI_RELEASE(allocator, least->law, least->law_capacity);
    STI_RELEASE(allocator, least->r, least->r_capacity);
    STI_RELEASE(allocator, least->u, least->u_capacity);
    STI_RELEASE(allocator, least->weight, least->weight_capacity);
    STI_RELEASE(allocator, least->moved, least->moved_capacity);
    sti_free(allocator, least, 1, sizeof *least);
}

static void add_norm_row(const sti_RowList *rows, int k, double r, double *out)
{
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
        out[rows->i[e]] += rows->x[e] * r;
}

/* The data of the product [H G] r. */
typedef struct Movers {
    const sti_Model *model;
    const sti_StepWork *work;
} Movers;

/* [H G] r, with the entry of each velocity divided by the square root of its mass, so that entries are comparable. */
static void momentum_change(void *ctx, const double *r, double *out)
{
    const Movers *of = ctx;
    const sti_Assembly *step = &of->work->step;
    int n_v = of->model->n_v;
    memset(out, 0, (size_t)n_v * sizeof *out);
    for (int k = 0; k < step->H.n_rows; k++)
        if (r[k] != 0) add_norm_row(&step->H, k, r[k], out);
    for (int k = 0; k < of->work->here.joint_rows.n_rows; k++)
        if (r[step->H.n_rows + k] != 0) add_norm_row(&step->G, k, r[step->H.n_rows + k], out);
    for (int i = 0; i < n_v; i++)
        out[i] /= sqrt(sti_mass_of(of->model, step->M, i));
}

/* The length of the change of momentum by a unit impulse in row k, scaled as in `momentum_change`. */
static double row_moves(const sti_Model *model, const sti_StepWork *work, const sti_RowList *rows, int k)
{
    double sum = 0;
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
        sum += rows->x[e] * rows->x[e] / sti_mass_of(model, work->step.M, rows->i[e]);
    return sqrt(sum);
}

/* v and u stay, so the momentum by all forces must stay. This fails if a loaded contact was treated as open. `u` is no
 * longer needed and stores the change. */
static bool momenta_stay(const sti_Model *model, const sti_StepWork *work)
{
    const sti_LeastNorm *least = work->least_norm;
    const sti_Assembly *step = &work->step;
    const int n_r = step->H.n_rows, n_joints = work->here.joint_rows.n_rows;
    double size = 0, change = 0;
    for (int k = 0; k < n_r + n_joints; k++) {
        const double before = k < n_r ? step->r[k] : step->l[k - n_r];
        least->u[k] = least->r[k] - before;
        size +=
            fabs(before) * (k < n_r ? row_moves(model, work, &step->H, k) : row_moves(model, work, &step->G, k - n_r));
    }
    momentum_change(&(Movers){model, work}, least->u, least->moved);
    for (int i = 0; i < model->n_v; i++)
        change += least->moved[i] * least->moved[i];
    return sqrt(change) <= fmax(tolerances_of_change * model->def.tolerance, least_change) * size;
}

st_Status sti_least_norm(const sti_Model *model, const sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                         st_Error *err)
{
    sti_LeastNorm *least = work->least_norm;
    sti_Assembly *step = &work->step;
    int n_joints = work->here.joint_rows.n_rows, n_r = step->H.n_rows + n_joints, n_contacts;
    st_Determined found = {0};
    step->undetermined = 0;
    if (step->n_gaps == 0 && n_joints == 0) return ST_OK;
    if (n_r > STI_MOST_DIRECTIONS) { /* the forces stay unchanged, and the report has undetermined = -1; also below */
        step->undetermined = -1;
        return ST_OK;
    }
    /* Contacts and bounded rows come first; impulses of bounded rows are kept. Joints follow, without bounds. */
    const st_Allocator *allocator = &model->allocator;
    int rows = step->H.n_rows, n = step->problem.n_contacts, joints = work->here.joint_rows.n_rows;
    STI_TRY(STI_GROW(allocator, least->law, least->law_capacity, (int64_t)n + joints, err));
    STI_TRY(STI_GROW(allocator, least->r, least->r_capacity, (int64_t)rows + joints, err));
    STI_TRY(STI_GROW(allocator, least->u, least->u_capacity, (int64_t)rows + joints, err));
    STI_TRY(STI_GROW(allocator, least->weight, least->weight_capacity, (int64_t)rows + joints, err));
    STI_TRY(STI_GROW(allocator, least->moved, least->moved_capacity, model->n_v, err));
    for (int c = 0; c < n; c++)
        least->law[c] = step->law[c];
    for (int k = 0; k < rows; k++)
        least->r[k] = step->r[k], least->u[k] = step->u[k];
    for (int c = 0; c < step->n_gaps; c++) {
        double *weight = least->weight + step->law[c].first;
        const st_ContactLaw *law = &work->step.law[c];
        const sti_Compliance of = sti_contact_compliance(&model->def, work->step.chosen[c].entry, stage->eta);
        for (int j = 0; j < law->dim; j++)
            weight[j] = j == 0 ? of.normal : of.tangent;
        for (int j = 3; j < law->dim; j++) {
            double limit = law->dim >= 5 && j < 5 ? law->mu_roll : law->mu_spin;
            weight[j] *= law->mu * law->mu / (limit * limit);
        }
    }
    for (int c = step->n_gaps; c < n; c++) {
        least->law[c].lo = least->law[c].hi = 0;
        least->weight[step->law[c].first] = 1;
    }
    for (int k = 0; k < joints; k++) {
        least->law[n + k] =
            (st_ContactLaw){.law = ST_LAW_BOUNDED, .dim = 1, .first = rows + k, .lo = -INFINITY, .hi = INFINITY};
        least->r[rows + k] = step->l[k];
        least->u[rows + k] = 0;
        least->weight[rows + k] = sti_joint_compliance(&model->def, &work->here.joint[k], stage->eta);
    }
    n_contacts = n + joints;
    sti_Open open = {.n_r = n_r,
                     .n_contacts = n_contacts,
                     .contact = least->law,
                     .r = least->r,
                     .u = least->u,
                     .weight = least->weight,
                     .still = fmax(still, tolerances_of_still * model->def.tolerance) * state->fastest.speed,
                     .tolerance = rank_tolerance,
                     .n_moved = model->n_v,
                     .moves = momentum_change,
                     .ctx = &(Movers){model, work}};
    STI_TRY(sti_hyperstatic_find(least->hyperstatic, &open, NULL, least->r, &found, err));
    if (!momenta_stay(model, work)) {
        step->undetermined = -1;
        return ST_OK;
    }
    for (int k = 0; k < step->H.n_rows; k++)
        step->r[k] = least->r[k];
    for (int k = 0; k < n_joints; k++)
        step->l[k] = least->r[step->H.n_rows + k];
    step->undetermined = found.undetermined_contacts;
    return ST_OK;
}
