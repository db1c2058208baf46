/* step/inverse_kinematics.c -- coordinates that bring points of bodies to their targets, by damped least squares.
 *
 * With the errors e of all targets and of the joints that close loops, J = de/dv, and damping lambda, a step is
 *
 *     d = J' inv(J J' + lambda I) e,
 *
 * the method of Levenberg and Marquardt for e = 0: lambda falls after a step that lowers |e| and grows after one that
 * does not, which is taken back. Coordinates stay within their limits: one that a step would take beyond is set to the
 * limit and left out of J, and the step is computed again without it; it returns once the step leads inwards.
 */
#include "step/articulation.h"

#include "base/range.h"

st_ReachDef st_reach_def(void)
{
    return (st_ReachDef){.max_iterations = 200, .tolerance = 1e-9, .damping = 1e-6, .cookie = STI_COOKIE};
}

/* Memory of one call. */
typedef struct Reach {
    st_Articulation *of;
    const st_Target *target;
    int *node; /* by target                                                                        */
    int n_targets, n_rows, n_v;
    const unsigned char *held; /* or NULL                                                          */
    unsigned char *stopped;    /* n_v: at a limit, for this step                                   */
    double *e, *y, *x;         /* n_rows                                                           */
    double *J, *W;             /* n_rows x n_v, n_rows x n_rows                                    */
    double *d;                 /* n_v                                                              */
    double *q, *q_best;        /* n_q                                                              */
} Reach;

/* Errors at the coordinates of the articulation, and their largest; J where wanted. */
static st_Status errors_of(Reach *r, bool rows, double *largest, st_Error *err)
{
    st_Articulation *a = r->of;
    int n = 0;
    *largest = 0;
    for (int k = 0; k < r->n_targets; k++) {
        const st_Target *target = &r->target[k];
        const st_Pose pose = a->state.pose[r->node[k]];
        const st_Vec3 at = pose_point(pose, target->point);
        const st_Vec3 arm = sub(at, sti_forest_origin(&a->of.forest, &a->state, r->node[k]));
        vec3_store(r->e + n, sub(target->position, at));
        if (target->turned)
            vec3_store(r->e + n + 3, quat_log(quat_product(quat_unit(target->orientation), quat_conjugate(pose.q))));
        /* the six rows go to the end of J, which has room for them, where the last three do not count */
        if (rows) sti_articulation_rows(a, r->node[k], a->state.S, arm, r->J + (int64_t)n * r->n_v);
        n += target->turned ? 6 : 3;
    }
    STI_TRY(sti_articulation_loops(a, &a->state, a->q, rows ? r->J + (int64_t)n * r->n_v : a->row, a->value, err));
    for (int k = 0; k < a->n_rows; k++)
        r->e[n++] = -a->value[k];
    for (int k = 0; k < n; k++)
        *largest = fmax(*largest, fabs(r->e[k]));
    return ST_OK;
}

static double squared(const double *x, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sum;
}

static bool is_free(const Reach *r, int i)
{
    return !r->stopped[i] && (r->held == NULL || r->held[i] == 0);
}

/* The coordinate of a velocity with limits. */
static double *coordinate_of(const st_Articulation *a, double *q, int i)
{
    const sti_Node *node = &a->of.forest.node[a->of.forest.owner[i]];
    return q + node->first_q + (i - node->first_v);
}

static st_Status iterate(Reach *r, const st_ReachDef *def, int *order, st_ReachInfo *info, st_Error *err)
{
    st_Articulation *a = r->of;
    double damping = fmax(def->damping, 1e-3), largest;
    STI_TRY(errors_of(r, true, &largest, err));
    double best = squared(r->e, r->n_rows);
    int stuck = 0;
    for (info->iterations = 0; info->iterations < def->max_iterations; info->iterations++) {
        if (largest <= def->tolerance || stuck >= 20) break;
        /* A step within the limits: coordinates that would leave are stopped and set to the limit. */
        memset(r->stopped, 0, (size_t)r->n_v);
        for (int round = 0; round <= r->n_v; round++) {
            bool again = false;
            /* d for the columns that are free. */
            double most = 0;
            for (int k = 0; k < r->n_rows; k++)
                for (int c = 0; c <= k; c++) {
                    double sum = 0;
                    for (int i = 0; i < r->n_v; i++)
                        if (is_free(r, i)) sum += r->J[(int64_t)k * r->n_v + i] * r->J[(int64_t)c * r->n_v + i];
                    r->W[(int64_t)k * r->n_rows + c] = r->W[(int64_t)c * r->n_rows + k] = sum;
                    most = fmax(most, fabs(sum));
                }
            for (int k = 0; k < r->n_rows; k++)
                r->W[(int64_t)k * r->n_rows + k] += damping * most;
            memcpy(r->y, r->e, (size_t)r->n_rows * sizeof *r->y);
            sti_solve_semidefinite(r->n_rows, r->W, r->y, order, r->x);
            for (int i = 0; i < r->n_v; i++) {
                r->d[i] = 0;
                for (int k = 0; is_free(r, i) && k < r->n_rows; k++)
                    r->d[i] += r->J[(int64_t)k * r->n_v + i] * r->x[k];
            }
            for (int i = 0; i < r->n_v; i++) {
                if (!is_free(r, i) || (!isfinite(a->lower[i]) && !isfinite(a->upper[i]))) continue;
                const double x = *coordinate_of(a, a->q, i), next = x + r->d[i];
                if (next >= a->lower[i] && next <= a->upper[i]) continue;
                if ((next < a->lower[i] && x > a->lower[i]) || (next > a->upper[i] && x < a->upper[i]))
                    continue; /* it goes as far as the limit */
                r->stopped[i] = 1;
                again = true;
            }
            if (!again) break;
        }
        for (int i = 0; i < r->n_v; i++) {
            if (r->held != NULL && r->held[i] != 0) continue;
            if (!isfinite(a->lower[i]) && !isfinite(a->upper[i])) continue;
            const double x = *coordinate_of(a, a->q, i);
            r->d[i] = fmin(fmax(x + r->d[i], a->lower[i]), a->upper[i]) - x;
        }
        double reach = 0; /* turns of more than about a radian do not show their direction */
        for (int i = 0; i < r->n_v; i++)
            reach = fmax(reach, fabs(r->d[i]));
        memcpy(r->q_best, a->q, (size_t)a->of.forest.n_q * sizeof *a->q);
        sti_forest_move(&a->of.forest, r->q_best, r->d, reach > 1 ? 1 / reach : 1, a->q);
        sti_articulation_update(a);
        STI_TRY(errors_of(r, false, &largest, err));
        const double now = squared(r->e, r->n_rows);
        if (now < best) {
            stuck = now > 0.9999 * best ? stuck + 1 : 0;
            best = now;
            damping = fmax(def->damping * fmin(1, now), 0.1 * damping);
        } else {
            memcpy(a->q, r->q_best, (size_t)a->of.forest.n_q * sizeof *a->q);
            sti_articulation_update(a);
            damping = fmax(4 * damping, 1e-8);
            stuck++;
        }
        STI_TRY(errors_of(r, true, &largest, err));
    }
    info->error = largest;
    info->reached = largest <= def->tolerance;
    for (int i = 0; i < r->n_v; i++) {
        if (!isfinite(a->lower[i]) && !isfinite(a->upper[i])) continue;
        const double now = *coordinate_of(a, a->q, i);
        info->at_limits += now <= a->lower[i] || now >= a->upper[i];
    }
    return ST_OK;
}

st_Status st_articulation_reach(st_Articulation *a, const st_Target *targets, int n_targets, const st_ReachDef *def,
                                st_ReachInfo *info, st_Error *err)
{
    st_ReachInfo own;
    const st_ReachDef usual = st_reach_def();
    STI_TRY(sti_articulation_check(a, "st_articulation_reach", err));
    if (def == NULL) def = &usual;
    if (info == NULL) info = &own;
    *info = (st_ReachInfo){0};
    STI_CHECK_DEF(def, "st_reach_def", err);
    if (n_targets < 0 || (n_targets > 0 && targets == NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_articulation_reach: %d targets, must be given with their number",
                        n_targets);
    if (def->max_iterations < 1 || !(def->tolerance > 0) || !(def->damping >= 0) || !isfinite(def->damping))
        return sti_fail(
            err, ST_ERR_ARGUMENT,
            "st_articulation_reach: max_iterations is %d, must be at least 1; tolerance is %g, must be > 0; "
            "damping is %g, must be >= 0",
            def->max_iterations, def->tolerance, def->damping);
    if (def->held != NULL && def->n_held != a->of.forest.n_v)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_articulation_reach: held has %d numbers, must have %d", def->n_held,
                        a->of.forest.n_v);
    for (int k = 0; k < n_targets; k++) {
        const double length = quat_norm(targets[k].orientation);
        int node;
        STI_TRY(sti_articulation_node(a, targets[k].body, "st_articulation_reach", &node, err));
        if (node == 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "st_articulation_reach: target %d is at a body that does not move",
                            k);
        if (!vec3_finite(targets[k].point) || !vec3_finite(targets[k].position))
            return sti_fail(err, ST_ERR_ARGUMENT, "st_articulation_reach: target %d has a number that is not finite",
                            k);
        if (targets[k].turned && !(fabs(length - 1) <= 1e-6))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "st_articulation_reach: target %d has a quaternion of length %g, must be 1", k, length);
    }

    const st_Allocator *m = &a->allocator;
    const int n_v = a->of.forest.n_v, n_q = a->of.forest.n_q;
    Reach r = {.of = a, .target = targets, .n_targets = n_targets, .n_rows = a->n_rows, .n_v = n_v, .held = def->held};
    for (int k = 0; k < n_targets; k++)
        r.n_rows += targets[k].turned ? 6 : 3;
    const int64_t n = r.n_rows;
    r.node = sti_alloc(m, n_targets + 1, sizeof *r.node);
    r.stopped = sti_alloc(m, n_v + 1, sizeof *r.stopped);
    r.e = sti_alloc(m, 3 * n + 4, sizeof *r.e);
    r.J = sti_alloc(m, (n + 3) * n_v + 1, sizeof *r.J);
    r.W = sti_alloc(m, n * n + 1, sizeof *r.W);
    r.d = sti_alloc(m, n_v + 1, sizeof *r.d);
    r.q = sti_alloc(m, n_q + 1, sizeof *r.q);
    r.q_best = sti_alloc(m, n_q + 1, sizeof *r.q_best);
    int *order = sti_alloc(m, n + 1, sizeof *order);
    st_Status status = ST_OK;
    if (r.node == NULL || r.stopped == NULL || r.e == NULL || r.J == NULL || r.W == NULL || r.d == NULL ||
        r.q == NULL || r.q_best == NULL || order == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for inverse kinematics of %d velocities", n_v);
    if (status == ST_OK) {
        r.y = r.e + n, r.x = r.y + n;
        for (int k = 0; k < n_targets; k++)
            r.node[k] = a->of.node[sti_body_now(a->system->model.world->scene, targets[k].body).index1];
        memcpy(r.q, a->q, (size_t)n_q * sizeof *r.q);
        status = iterate(&r, def, order, info, err);
        if (status == ST_OK) memset(a->v, 0, (size_t)n_v * sizeof *a->v);
        if (status != ST_OK) memcpy(a->q, r.q, (size_t)n_q * sizeof *r.q);
        sti_articulation_update(a);
    }
    sti_free(m, r.node, n_targets + 1, sizeof *r.node);
    sti_free(m, r.stopped, n_v + 1, sizeof *r.stopped);
    sti_free(m, r.e, 3 * n + 4, sizeof *r.e);
    sti_free(m, r.J, (n + 3) * n_v + 1, sizeof *r.J);
    sti_free(m, r.W, n * n + 1, sizeof *r.W);
    sti_free(m, r.d, n_v + 1, sizeof *r.d);
    sti_free(m, r.q, n_q + 1, sizeof *r.q);
    sti_free(m, r.q_best, n_q + 1, sizeof *r.q_best);
    sti_free(m, order, n + 1, sizeof *order);
    return status;
}
