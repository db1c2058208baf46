/* step/integrate/discrete_gradient.c -- drift `mean`: rows of joints and springs are means over the step.
 *
 * A stage finds one velocity v that moves q for the whole step, q(s) = q + s v (on rotations: the exponential map), 0
 * <= s <= h: v+ for Euler, (v + v+)/2 for form II of the trapezoid. Along that path joint values change by
 *
 *     d theta/ds = G(q(s))' v + d theta/dt,     so     theta+ - theta = h (Gm' v + rate),    Gm = mean of G(q(s)),
 *
 * exactly, for any joint: Gm is a discrete gradient (Gonzalez 1996; as a mean over the path: McLachlan, Quispel &
 * Robidoux 1999; for joints: Gonzalez 1999). The step problem with the rows Gm and the drift theta/h,
 *
 *     M (v+ - v)/2 = (h/2) k + Gm l,     Gm' vm + rate + theta/h = 0,      vm = (v + v+)/2     (form II)
 *
 * therefore closes the joints at the end of the step without a correction of positions, and
 *
 *     T+ - T = vm' M (v+ - v) = h vm' k + 2 l' Gm' vm = work of k, and of joints only the work of correction and of
 * drives.
 *
 * The work of gravity is exact, because its potential is linear. The gyroscopic torque J w x w at vm does no work. The
 * row phi of a spring is treated the same way: with Gm its force k (phi + phi+)/2 does the work k (phi+^2 - phi^2)/2.
 * So energy is conserved, too, to the accuracy of the solution. The scheme is symmetric, of order two, and no more
 * dissipative than the trapezoid. Contacts, limits and motors with bounds have the rows of the integrator and the drift
 * gap/h.
 *
 * The mean is Simpson's over q, q(h/2), q(h): exact to (|x|/2)^4/180, x = h w. Vectors fixed in one rotating body have
 * an exact mean, and columns of rotations are scaled so that the points of a joint have it (sti_world_turns). The error
 * that remains in joints that compare axes of two bodies is part of theta in the next step and is corrected there.
 *
 * Gm depends on v. Rounds of Newton's method solve the two equations, with rows along the path of the last v:
 *
 *     (M + D) v' = M v0 + eta k(v) + D v + Gm l',      Gm' v' + rate + theta/h = 0
 *
 * D = -d(Gm l)/dv is the stiffness of bars under tension against rotation: (h/2) l times the lever (sti_joints_tension;
 * only its positive diagonal entries). In a hanging chain of 100 links at h = 1/240 the factor of convergence is 0.4
 * without D and 1e-4 with it. The other term of Newton's method, d(Gm)/dv' v in the second equation, would make the
 * system nonsymmetric; without it the factor is |x|/2. Without contacts, rounds after the first reuse the
 * factorisation; it is made again if they converge badly.
 *
 * If rounds differ by a displacement d that is small against that of the step, x, only the rows at q(h) are evaluated.
 * The rows at q(h/2) have changed by half as much, and the mean by (4/2 + 1)/6 = 1/2, up to x d/6 + d^2/12.
 */
#include "base/tolerance.h"
#include "math/block_diag.h"
#include "math/largest.h"
#include "math/simd4.h"
#include "step/integrate/integrate.h"
#include "step/step.h"

/* The stage being solved. */
typedef struct Rounds {
    const sti_Model *model;
    sti_State *state;
    sti_StepWork *work;
    const sti_Stage *stage; /* with these means */
    sti_MeanRows means;
    double *v; /* the velocity of the last round */
    double h;
    st_Error *err;
} Rounds;

st_Status sti_check_mean(const st_SystemDef *def, st_Error *err)
{
    const bool one_way = def->integrator == ST_INTEGRATOR_EULER || def->integrator == ST_INTEGRATOR_IMPLICIT ||
                         (def->integrator == ST_INTEGRATOR_TRAPEZOID && def->form == ST_FORM_II);
    if (def->drift != ST_DRIFT_MEAN || one_way) return ST_OK;
    return sti_fail(
        err, ST_ERR_UNSUPPORTED,
        "drift \"mean\" needs an integrator that goes through the step with one velocity: \"trapezoid\" with "
        "form \"II\", \"implicit\" or \"euler\"");
}

int64_t sti_mean_past(const sti_Model *model)
{
    return model->def.drift == ST_DRIFT_MEAN ? 2 + (STI_MEAN_PAST + 1) * (int64_t)model->n_v : 0;
}

st_Status sti_mean_create(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    sti_Mean *mean = &work->mean;
    const int n = model->n_v;
    if (model->def.drift != ST_DRIFT_MEAN) return ST_OK;
    mean->past = sti_alloc(&model->allocator, sti_mean_past(model), sizeof *mean->past);
    mean->D = sti_alloc(&model->allocator, n, sizeof *mean->D);
    mean->A = sti_alloc(&model->allocator, model->mass.n, sizeof *mean->A);
    mean->v_near = sti_alloc(&model->allocator, n, sizeof *mean->v_near);
    mean->turns = sti_alloc(&model->allocator, n, sizeof *mean->turns);
    mean->simpson = sti_alloc(&model->allocator, n, sizeof *mean->simpson);
    mean->lag = sti_alloc(&model->allocator, n, sizeof *mean->lag);
    mean->before = sti_alloc(&model->allocator, sti_mean_past(model), sizeof *mean->before);
    if (mean->past == NULL || mean->D == NULL || mean->A == NULL || mean->v_near == NULL || mean->turns == NULL ||
        mean->simpson == NULL || mean->lag == NULL || mean->before == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a system of %d velocities", n);
    mean->tension = mean->past + 2;
    for (int k = 0; k < STI_MEAN_PAST; k++)
        mean->a[k] = mean->tension + (ptrdiff_t)(k + 1) * n;
    sti_islands_be_rough(work->islands); /* rounds correct the error of one solve */
    return ST_OK;
}

void sti_mean_free(const sti_Model *model, sti_StepWork *work)
{
    sti_Mean *mean = &work->mean;
    const int n = model->n_v;
    sti_free(&model->allocator, mean->past, sti_mean_past(model), sizeof *mean->past);
    sti_free(&model->allocator, mean->D, n, sizeof *mean->D);
    sti_free(&model->allocator, mean->A, model->mass.n, sizeof *mean->A);
    sti_free(&model->allocator, mean->v_near, n, sizeof *mean->v_near);
    sti_free(&model->allocator, mean->turns, n, sizeof *mean->turns);
    sti_free(&model->allocator, mean->simpson, n, sizeof *mean->simpson);
    sti_free(&model->allocator, mean->lag, n, sizeof *mean->lag);
    sti_free(&model->allocator, mean->before, sti_mean_past(model), sizeof *mean->before);
    *mean = (sti_Mean){0};
}

/* ---- prediction ------------------------------------------------------------------------------- */

/* Is the last step known, and did it have the length h? */
static bool same_length(const sti_State *state, double h)
{
    return state->history.known && fabs(h - state->history.h) < 1e-6 * h;
}

/* The next acceleration by the polynomial through the last ones (newest first, steps of the same length). The highest
 * order is half way between parabola and cubic, which amplifies noise less than the cubic. */
STI_CLONES static void extrapolate(int order, const double *const a[STI_MEAN_PAST + 1], int n, double *out)
{
    const double *x = a[0], *y = a[1], *z = a[2], *w = a[3];
    switch (order) {
    case 0:
        memcpy(out, x, (size_t)n * sizeof *out);
        break;
    case 1:
        for (int i = 0; i < n; i++)
            out[i] = 2 * x[i] - y[i];
        break;
    case 2:
        for (int i = 0; i < n; i++)
            out[i] = 3 * (x[i] - y[i]) + z[i];
        break;
    default:
        for (int i = 0; i < n; i++)
            out[i] = 3.5 * x[i] - 4.5 * y[i] + 2.5 * z[i] - 0.5 * w[i];
    }
}

/* The better the prediction, the fewer the rounds. */
void sti_predict_mean(const sti_Model *model, const sti_State *state, const sti_StepWork *work, double h, double *v)
{
    const double *const a[] = {state->history.a, work->mean.a[0], work->mean.a[1], work->mean.a[2]};
    const size_t size = (size_t)model->n_v * sizeof *v;
    memcpy(v, state->v, size);
    if (!state->history.known) return;
    extrapolate(same_length(state, h) ? (int)work->mean.past[1] : 0, a, model->n_v, v);
    for (int i = 0; i < model->n_v; i++)
        v[i] = state->v[i] + 0.5 * h * v[i];
}

/* The highest order that was not worse than the others in the last step is used in the next one: the highest in a
 * swing, the lowest in the crack of a whip. */
static int best_order(const sti_Model *model, const sti_State *state, const sti_StepWork *work, int highest)
{
    const double *const a[] = {state->history.a, work->mean.a[0], work->mean.a[1], work->mean.a[2]};
    double error[STI_MEAN_PAST + 1] = {0}, *guess = work->stages.v_star; /* free after the step */
    for (int order = 0; order <= highest; order++) {
        extrapolate(order, a, model->n_v, guess);
        error[order] = sti_largest_difference(guess, work->a_new, model->n_v);
    }
    int best = highest;
    for (int order = highest - 1; order >= 0; order--)
        if (2 * error[order] < error[best]) best = order;
    return best;
}

void sti_mean_remember(const sti_Model *model, const sti_State *state, sti_StepWork *work, double h)
{
    sti_Mean *mean = &work->mean;
    const size_t size = (size_t)model->n_v * sizeof *mean->past;
    const bool same = same_length(state, h);
    mean->past[1] = same ? best_order(model, state, work, (int)mean->past[0]) : 0;
    mean->past[0] = same ? fmin(mean->past[0] + 1, STI_MEAN_PAST) : 0;
    for (int k = STI_MEAN_PAST - 1; k > 0; k--)
        memcpy(mean->a[k], mean->a[k - 1], size);
    memcpy(mean->a[0], state->history.a, size);
}

/* ---- the mean --------------------------------------------------------------------------------- */

STI_INLINE int64_t n_entries(const sti_RowList *rows)
{
    return rows->n_rows > 0 ? rows->p[rows->n_rows] : 0;
}

/* In a user's model a row may have other entries at each position. */
static bool same_entries(const sti_Model *model, const sti_RowList *a, const sti_RowList *b)
{
    const int64_t n = n_entries(a);
    if (a->n_rows != b->n_rows || n != n_entries(b)) return false;
    if (model->rigid || n == 0) return true;
    return memcmp(a->p, b->p, ((size_t)a->n_rows + 1) * sizeof *a->p) == 0 &&
           memcmp(a->i, b->i, (size_t)n * sizeof *a->i) == 0;
}

/* Simpson's rule, with columns times `factor` (NULL: 1), less half of the last rows. */
static void simpson(const sti_RowList *first, sti_RowList *middle, const sti_RowList *last, const double *factor)
{
    const int64_t n = n_entries(middle);
    const double *x = first->x, *y = last->x;
    double *mean = middle->x;
    for (int64_t e = 0; factor == NULL && e < n; e++)
        mean[e] = (1.0 / 6) * x[e] + (4.0 / 6) * mean[e] - (2.0 / 6) * y[e];
    for (int64_t e = 0; factor != NULL && e < n; e++)
        mean[e] = factor[middle->i[e]] * ((1.0 / 6) * (x[e] + y[e]) + (4.0 / 6) * mean[e]) - 0.5 * y[e];
}

/* Factors of the columns of rotations; NULL: all are 1. */
static const double *turns(const Rounds *rounds)
{
    const sti_Model *model = rounds->model;
    const sti_StepWork *work = rounds->work;
    double least = 1;
    if (!model->rigid) return NULL;
    sti_world_turns(model->world, rounds->v, rounds->h, true, work->mean.simpson);
    for (int i = 0; i < model->n_v; i++)
        least = work->mean.simpson[i] < least ? work->mean.simpson[i] : least;
    return 1 - least < STI_TURN ? NULL : work->mean.simpson;
}

/* `middle` becomes the mean of the rows at both ends and in the middle, less half of the rows at the end, which the
 * stage adds. Its values become those at the start. */
static void average(Rounds *rounds)
{
    const sti_Model *model = rounds->model;
    sti_StepWork *work = rounds->work;
    const st_Sink *first = &work->here, *last = &work->trial;
    st_Sink *mean = &work->stages.middle;
    const bool alike = same_entries(model, &first->joint_rows, &mean->joint_rows) &&
                       same_entries(model, &last->joint_rows, &mean->joint_rows) &&
                       same_entries(model, &first->soft_rows, &mean->soft_rows) &&
                       same_entries(model, &last->soft_rows, &mean->soft_rows);
    rounds->means.end = alike ? last : NULL;
    if (!alike) return;
    const double *factor = turns(rounds);
    simpson(&first->joint_rows, &mean->joint_rows, &last->joint_rows, factor);
    simpson(&first->soft_rows, &mean->soft_rows, &last->soft_rows, factor);
    for (int k = 0; k < mean->joint_rows.n_rows; k++)
        mean->joint[k].rate = (first->joint[k].rate + 4 * mean->joint[k].rate + last->joint[k].rate) / 6;
}

/* Drift and springs start from the values at the start. */
static void take_values(sti_StepWork *work)
{
    const st_Sink *first = &work->here;
    st_Sink *mean = &work->stages.middle;
    for (int k = 0; k < mean->joint_rows.n_rows && k < first->joint_rows.n_rows; k++)
        mean->joint[k].value = first->joint[k].value;
    for (int k = 0; k < mean->soft_rows.n_rows && k < first->soft_rows.n_rows; k++)
        mean->soft[k].value = first->soft[k].value;
}

static st_Status evaluate_middle(Rounds *rounds)
{
    const sti_Model *model = rounds->model;
    sti_State *state = rounds->state;
    sti_StepWork *work = rounds->work;
    sti_move(model, state->q, rounds->v, 0.5 * rounds->h, work->stages.q_base);
    STI_TRY(sti_evaluate_constraints(model, work, &work->stages.middle, state->t + 0.5 * rounds->h, work->stages.q_base,
                                     rounds->err));
    take_values(work);
    return ST_OK;
}

static st_Status evaluate_end(Rounds *rounds)
{
    const sti_Model *model = rounds->model;
    sti_State *state = rounds->state;
    sti_StepWork *work = rounds->work;
    sti_move(model, state->q, rounds->v, rounds->h, work->q_new);
    sti_lap(work, ST_PART_MOVE);
    return sti_evaluate_constraints(model, work, &work->trial, state->t + rounds->h, work->q_new, rounds->err);
}

/* Means along the path of v. `whole`: its length; `moved`: the largest difference from the path of the round before. */
static st_Status follow_means(Rounds *rounds, double moved, double whole)
{
    const sti_Model *model = rounds->model;
    if (moved * (whole + moved) <= 5 * model->def.tolerance && model->rigid) return evaluate_end(rounds);
    STI_TRY(evaluate_middle(rounds));
    STI_TRY(evaluate_end(rounds));
    average(rounds);
    return ST_OK;
}

/* ---- the rows of the stage --------------------------------------------------------------------- */

/* Writes row k with scaled columns to x, which has all rows of the list. */
STI_INLINE void scale_row(const sti_RowList *from, int k, const double *columns, double *x)
{
    const int64_t first = from->p[k], n = from->p[k + 1] - first;
    const int *i = from->i + first;
    const double *row = from->x + first;
    x += first;
    if (n == 12 && i[5] == i[0] + 5 && i[11] == i[6] + 5) { /* two bodies in space: mostly; fours that overlap */
        const double *a = columns + i[0], *b = columns + i[6];
        for (int e = 0; e < 4; e += 2) {
            *(sti_Wide *)(x + e) = *(const sti_Wide *)(row + e) * *(const sti_Wide *)(a + e);
            *(sti_Wide *)(x + 6 + e) = *(const sti_Wide *)(row + 6 + e) * *(const sti_Wide *)(b + e);
        }
        return;
    }
    for (int64_t e = 0; e < n; e++)
        x[e] = row[e] * columns[i[e]];
}

STI_CLONES static void scale_rows(const double *columns, const sti_RowList *rows, const sti_JointEntry *joint,
                                  double *x)
{
    for (int k = 0; k < rows->n_rows; k++)
        if (joint != NULL && joint[k].velocity) /* no point moves in it */
            memcpy(x + rows->p[k], rows->x + rows->p[k], (size_t)(rows->p[k + 1] - rows->p[k]) * sizeof *x);
        else
            scale_row(rows, k, columns, x);
}

void sti_mean_put_rows(const sti_MeanRows *means, const sti_RowList *rows, const sti_RowList *half,
                       const sti_JointEntry *joint, double *x)
{
    const int64_t n = n_entries(rows);
    for (int64_t e = 0; half != NULL && e < n; e++)
        x[e] = rows->x[e] + 0.5 * half->x[e];
    if (half != NULL) return;
    if (means->columns != NULL)
        scale_rows(means->columns, rows, joint, x);
    else if (n > 0)
        memcpy(x, rows->x, (size_t)n * sizeof *x);
}

/* ---- rounds ----------------------------------------------------------------------------------- */

static void note_tension(Rounds *rounds)
{
    const sti_Model *model = rounds->model;
    sti_State *state = rounds->state;
    sti_StepWork *work = rounds->work;
    if (!model->rigid) return;
    sti_joints_tension(model->world, state->q, work->step.l, work->mean.tension);
    for (int i = 0; i < model->n_v; i++)
        work->mean.tension[i] /= rounds->stage->eta;
}

/* Six velocities of one body. Most rows have two such groups. */
static double six(const double *mean, const double *end, const double *v)
{
    double sum[2] = {0, 0};
    for (int k = 0; k < 6; k += 2) {
        sum[0] += (mean[k] + 0.5 * end[k]) * v[k];
        sum[1] += (mean[k + 1] + 0.5 * end[k + 1]) * v[k + 1];
    }
    return sum[0] + sum[1];
}

static double mean_row_speed(const sti_RowList *mean, const sti_RowList *end, int k, const double *v)
{
    const int64_t first = mean->p[k], n = mean->p[k + 1] - first;
    const int *i = mean->i + first;
    const double *x = mean->x + first;
    double sum = 0;
    if (end == NULL) return sti_row_dot(mean, k, v);
    const double *y = end->x + first;
    if (n == 12 && i[5] == i[0] + 5 && i[11] == i[6] + 5) return six(x, y, v + i[0]) + six(x + 6, y + 6, v + i[6]);
    for (int64_t e = 0; e < n; e++)
        sum += (x[e] + 0.5 * y[e]) * v[i[e]];
    return sum;
}

/* The same for rows in the middle, by the values at the end: their change less the change that the rows predict. */
static double mismatch(const Rounds *rounds)
{
    const sti_StepWork *work = rounds->work;
    const st_Sink *first = &work->here, *mean = &work->stages.middle, *last = &work->trial;
    const sti_Assembly *out = &work->step;
    const int n = mean->joint_rows.n_rows, n_soft = out->G.n_rows - n;
    double worst = 0;
    if (first->joint_rows.n_rows != n || last->joint_rows.n_rows != n) return INFINITY;
    if (n_soft > first->soft_rows.n_rows || n_soft > last->soft_rows.n_rows) return INFINITY;
    for (int k = 0; k < n; k++) {
        double speed = mean->joint[k].rate - out->g[k];
        worst = sti_larger(fabs(last->joint[k].value - first->joint[k].value - rounds->h * speed), worst);
    }
    for (int k = 0, row = n; k < n_soft; k++, row++) {
        double speed = -out->g[row] - out->Cb[row] * out->l[row];
        worst = sti_larger(fabs(last->soft[k].value - first->soft[k].value - rounds->h * speed), worst);
    }
    return worst;
}

/* The largest displacement from one velocity to another; from NULL: from rest. */
static double displacement(const Rounds *rounds, const double *from)
{
    return rounds->h * sti_largest_difference(rounds->v, from, rounds->model->n_v);
}

/* The error of the joints at the end of the path of v. With the rows of a first round from the values there; if it is
 * too large, and in later rounds, from the mean. */
static st_Status look(Rounds *rounds, int round, double moved, double whole, double tolerance, double *left)
{
    if (round > 0) {
        STI_TRY(follow_means(rounds, moved, whole));
        /* The error of joints after the step, by the means along the path of v; for springs, the difference from the
         * value that their force assumes. */
        const sti_StepWork *work = rounds->work;
        const st_Sink *mean = &work->stages.middle, *end = rounds->means.end;
        const sti_Assembly *out = &work->step;
        const int n = mean->joint_rows.n_rows, n_soft = out->G.n_rows - n;
        double worst = 0;
        for (int k = 0; k < n; k++) {
            double speed = mean_row_speed(&mean->joint_rows, end != NULL ? &end->joint_rows : NULL, k, rounds->v);
            worst = sti_larger(fabs(speed + out->g[k]), worst);
        }
        for (int k = 0, row = n; k < n_soft; k++, row++) {
            double speed = mean_row_speed(&mean->soft_rows, end != NULL ? &end->soft_rows : NULL, k, rounds->v);
            worst = sti_larger(fabs(speed + out->g[row] + out->Cb[row] * out->l[row]), worst);
        }
        *left = rounds->h * worst;
        return ST_OK;
    }
    STI_TRY(evaluate_end(rounds));
    *left = mismatch(rounds);
    if (*left <= tolerance) return ST_OK;
    STI_TRY(evaluate_middle(rounds));
    rounds->means.columns = NULL;
    average(rounds);
    return ST_OK;
}

st_Status sti_solve_mean_stage(const sti_Model *model, sti_State *state, sti_StepWork *work, const sti_Stage *stage,
                               double *v, st_StepInfo *info, st_Error *err)
{
    sti_Stage with_means = *stage;
    Rounds rounds = {.model = model,
                     .state = state,
                     .work = work,
                     .stage = &with_means,
                     .means = {.constraints = &work->stages.middle,
                               .A = work->mean.A,
                               .D = work->mean.D,
                               .v_near = work->mean.v_near},
                     .v = v,
                     .h = stage->reach,
                     .err = err};
    with_means.means = &rounds.means;
    double before = 0, moved, left,
           least = INFINITY; /* error relative to the tolerance: large in rounds that diverge */
    bool closed = false, lost = false;
    const st_SolveInfo solved = info->solve;
    if (!state->history.known) memset(work->mean.tension, 0, (size_t)model->n_v * sizeof *work->mean.tension);
    if (stage->rows != &work->stages.middle) STI_TRY(evaluate_middle(&rounds));
    take_values(work);
    /* Rows in the middle, scaled, for a first round. */
    rounds.means.end = NULL;
    if (model->rigid) {
        sti_world_turns(model->world, rounds.v, rounds.h, false, work->mean.turns);
        rounds.means.columns = work->mean.turns;
    }
    for (int round = 0; round < STI_MEAN_ROUNDS; round++) {
        /* Each round starts from the impulses of the step before. Friction at the points of a face has many solutions,
         * and rounds that start from each other may alternate between two of them. */
        if (round > 0) work->warm.pending = 0;
        if (!rounds.means.again) {
            /* D and A for the next factorisation. */
            sti_Mean *mean = &work->mean;
            const st_BlockDiag A = {.n_blocks = model->n_blocks, .first = model->first, .diagonal = model->mass.marked};
            const double factor = 0.5 * rounds.h * rounds.stage->eta;
            double *block = mean->A;
            STI_TRY(sti_mass(model, &work->step, state->q, rounds.err));
            memcpy(mean->A, work->step.M, (size_t)model->mass.n * sizeof *mean->A);
            for (int b = 0; b < A.n_blocks; block += sti_block_numbers(&A, b), b++)
                for (int i = A.first[b]; i < A.first[b + 1]; i++) {
                    mean->D[i] = mean->tension[i] > 0 ? factor * mean->tension[i] : 0.0;
                    block[(i - A.first[b]) * sti_block_stride(&A, b)] += mean->D[i];
                }
        }
        /* Solves the stage with the present rows. *moved: distance of the new path from that of the rows. */
        const size_t size = (size_t)model->n_v * sizeof *rounds.v;
        memcpy(work->mean.v_near, rounds.v, size);
        if (rounds.stage->second_order) memcpy(work->stages.v_star, rounds.v, size);
        STI_TRY(sti_solve_stage(model, state, work, rounds.stage, rounds.v, info, rounds.err));
        moved = displacement(&rounds, work->mean.v_near);

        const double whole = displacement(&rounds, NULL);
        const double tolerance = fmax(model->def.tolerance * whole, STI_PROJECTION_ERROR);
        least = fmin(least, tolerance);
        STI_TRY(look(&rounds, round, moved, whole, tolerance, &left));
        info->solve.residual.joint = left / rounds.h;
        closed = left <= tolerance;
        lost = !(left <= STI_MEAN_LOST * least);
        if (closed) break;
        rounds.means.again = work->step.problem.n_contacts == 0 && work->sleep.n_asleep == 0 && moved < STI_MEAN_FAR &&
                             (round == 0 || left < 0.1 * before);
        if (!rounds.means.again) note_tension(&rounds);
        before = left;
    }
    if (lost) {
        info->drift_fallbacks += !work->stages.rough;
        info->solve = solved; /* discard the information of the rounds */
        work->stages.rough = true;
        if (stage->second_order) return ST_OK;
        /* If rounds do not converge: the stage with rows at one place, and joints closed as with drift `gap`. This
         * happens if a mechanism can continue in several ways and its rows lose their rank, as four-bars in their flat
         * position. The trapezoid becomes a step of Euler's method first, because there form II keeps velocities that
         * joints do not allow, v+ = -v. */
        memset(work->mean.tension, 0, (size_t)model->n_v * sizeof *work->mean.tension);
        memset(work->mean.lag, 0, (size_t)model->n_v * sizeof *work->mean.lag);
        STI_TRY(sti_solve_stage(model, state, work, stage, rounds.v, info, rounds.err));
        return evaluate_end(&rounds);
    }
    note_tension(&rounds);
    for (int i = 0; i < model->n_v; i++)
        work->mean.lag[i] = work->mean.D[i] * (work->mean.v_near[i] - v[i]);
    if (!closed) info->solve.converged = false; /* the rows are not those of the final path */
    return sti_check_velocity(model, state, work, v, state->t + rounds.h, err);
}
