/* step/inverse_contacts.c -- inverse dynamics with contacts of unknown force.
 *
 *     M dv/dt + bias = tau + J'f,     tau_i = 0 for every i that is not driven,     f in the friction cones
 *
 * The rows U that are not driven leave J_U'f = (M dv/dt + bias)_U =: c. The forces are those of
 *
 *     min 1/2 |J_U'f - c|^2 (weighted by 1/diag M) + 1/2 (f - f_0)' C (f - f_0),     f in the cones,
 *
 * which is a friction problem with law cone (docs/methods.md 1). Its v is the missing force over the mass. C is small
 * and selects the smallest forces; f_0 is the last solution, so that C has no effect on the final one. */
#include "step/articulation.h"

#include <stiction/problem.h>

enum { ROUNDS = 4 };
/* C relative to the effect of a force: the error of the first solution. That of the last one is its fourth power. */
static const double softness = 1e-6;

typedef struct Contacts {
    int n, n_free; /* touches; velocities that are not driven                                         */
    int *free;     /* which they are                                                                  */
    double *J;     /* 3 n x n_v: normal and tangents, on b less a                                     */
    double *tau;   /* n_v: without contacts                                                           */
    int *first;    /* n_free + 3 n + 2: 0, 1, 2 ...: blocks of one                                   */
    int64_t *p;    /* 3 n + 1                                                                         */
    int *i;        /* 3 n x n_free                                                                    */
    double *x;     /* likewise                                                                        */
    double *mass, *f, *C, *w, *r, *v;
    st_ContactLaw *law;
} Contacts;

static st_Status check_touch(const st_Articulation *a, const st_Touch *touch, int index, int node[2], st_Error *err)
{
    const char *call = "st_articulation_inverse_contacts";
    STI_TRY(sti_articulation_node(a, touch->a, call, &node[0], err));
    STI_TRY(sti_articulation_node(a, touch->b, call, &node[1], err));
    if (!vec3_finite(touch->point) || !(fabs(norm(touch->normal) - 1) < 1e-6))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: touch %d: its point must be finite and its normal a unit vector",
                        call, index);
    if (!(touch->mu >= 0) || !isfinite(touch->mu))
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: touch %d: friction is %g, must be >= 0", call, index, touch->mu);
    return ST_OK;
}

/* Normal and two tangents. */
static void touch_frame(const st_Touch *touch, st_Vec3 axis[3])
{
    const st_Vec3 n = touch->normal, other = fabs(n.x) < 0.6 ? vec3(1, 0, 0) : vec3(0, 1, 0);
    axis[0] = n;
    axis[1] = cross(n, other);
    axis[1] = scale(1 / norm(axis[1]), axis[1]);
    axis[2] = cross(n, axis[1]);
}

static st_Status fill_jacobian(st_Articulation *a, const st_Touch *touches, Contacts *c, st_Error *err)
{
    const int n_v = a->of.forest.n_v;
    double *rows = sti_alloc(&a->allocator, 6 * (int64_t)n_v + 1, sizeof *rows);
    st_Status status = rows != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory for %d contacts", c->n);
    for (int k = 0; k < c->n && status == ST_OK; k++) {
        int node[2];
        st_Vec3 axis[3];
        status = check_touch(a, &touches[k], k, node, err);
        if (status != ST_OK) break;
        touch_frame(&touches[k], axis);
        memset(c->J + 3 * (int64_t)k * n_v, 0, 3 * (size_t)n_v * sizeof *c->J);
        for (int side = 0; side < 2; side++) {
            if (node[side] == 0) continue;
            const double sign = side == 1 ? 1 : -1;
            sti_articulation_rows(a, node[side], a->state.S,
                                  sub(touches[k].point, sti_forest_origin(&a->of.forest, &a->state, node[side])), rows);
            for (int d = 0; d < 3; d++)
                for (int i = 0; i < n_v; i++)
                    c->J[(3 * (int64_t)k + d) * n_v + i] +=
                        sign * (axis[d].x * rows[i] + axis[d].y * rows[n_v + i] + axis[d].z * rows[2 * n_v + i]);
        }
        c->law[k] = (st_ContactLaw){.law = ST_LAW_CONE, .dim = 3, .first = 3 * k, .mu = touches[k].mu};
    }
    sti_free(&a->allocator, rows, 6 * (int64_t)n_v + 1, sizeof *rows);
    return status;
}

/* Computes the forces c->r; v contains the missing force times the mass. */
static st_Status find_forces(const st_Articulation *a, Contacts *c, st_Error *err)
{
    const int n_v = a->of.forest.n_v, n_r = 3 * c->n;
    int64_t at = 0;
    for (int k = 0; k < c->n_free; k++)
        c->f[k] = -c->tau[c->free[k]];
    for (int j = 0; j < n_r; j++) {
        double mobility = 0;
        c->p[j] = at;
        for (int k = 0; k < c->n_free; k++) {
            const double x = c->J[(int64_t)j * n_v + c->free[k]];
            if (x == 0) continue;
            c->i[at] = k;
            c->x[at++] = x;
            mobility += x * x / c->mass[k];
        }
        c->C[j] = softness * mobility;
        c->r[j] = 0;
    }
    c->p[n_r] = at;
    for (int j = 0; j < n_r; j++) /* a force that moves nothing that is free is none */
        if (!(c->C[j] > 0)) c->C[j] = 1;
    for (int k = 0; k <= c->n_free + n_r; k++)
        c->first[k] = k;
    const st_Problem problem = {.n_v = c->n_free,
                                .n_r = n_r,
                                .n_contacts = c->n,
                                .symmetric = true,
                                .A = {.n_blocks = c->n_free, .first = c->first, .x = c->mass},
                                .H = {c->n_free, n_r, c->p, c->i, c->x},
                                .C = {.n_blocks = n_r, .first = c->first, .x = c->C},
                                .f = c->f,
                                .w = c->w,
                                .contact = c->law};
    st_SolverDef def = st_solver_def();
    st_Solver *solver = NULL;
    def.allocator = a->allocator;
    def.tolerance = 1e-10;
    def.warm_start = true;
    STI_TRY(st_solver_create(&def, &solver, err));
    st_Solution solution = {.v = c->v, .r = c->r};
    st_Status status = ST_OK;
    for (int round = 0; round < ROUNDS && status == ST_OK; round++) {
        for (int j = 0; j < n_r; j++)
            c->w[j] = round == 0 ? 0 : -c->C[j] * c->r[j];
        status = st_solver_solve(solver, &problem, &solution, NULL, err);
    }
    st_solver_destroy(solver);
    return status;
}

st_Status st_articulation_inverse_contacts(st_Articulation *a, const double *acceleration, const st_Touch *touches,
                                           int n_touches, const unsigned char *driven, double *tau, int n_v,
                                           st_Vec3 *force, double *missing, st_Error *err)
{
    STI_TRY(st_articulation_inverse_dynamics(a, acceleration, NULL, 0, tau, n_v, err));
    if (n_touches < 0 || (n_touches > 0 && (touches == NULL || force == NULL)))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "st_articulation_inverse_contacts: %d touches, must be given with their "
                        "number, and room for as many forces",
                        n_touches);
    const int64_t n_r = 3 * (int64_t)n_touches, n_i = n_r * n_v + 1;
    const st_Allocator *alloc = &a->allocator;
    Contacts c = {.n = n_touches, .tau = tau};
    int *numbers = sti_alloc(alloc, n_v + n_r + 2 + n_v + n_i, sizeof *numbers);
    double *values = sti_alloc(alloc, 2 * n_i + 4 * (int64_t)n_v + 4 * n_r + 4, sizeof *values);
    double *M = sti_alloc(alloc, (int64_t)n_v * n_v + 1, sizeof *M);
    c.p = sti_alloc(alloc, n_r + 1, sizeof *c.p);
    c.law = sti_alloc(alloc, n_touches + 1, sizeof *c.law);
    st_Status status = ST_OK;
    if (numbers == NULL || values == NULL || M == NULL || c.p == NULL || c.law == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for %d contacts", n_touches);
    if (status == ST_OK) {
        c.first = numbers, c.free = c.first + n_v + n_r + 2, c.i = c.free + n_v;
        c.J = values, c.x = c.J + n_i, c.mass = c.x + n_i, c.f = c.mass + n_v, c.v = c.f + n_v;
        c.C = c.v + n_v, c.w = c.C + n_r, c.r = c.w + n_r;
        status = st_articulation_mass_matrix(a, M, n_v, err);
    }
    for (int node = 1; node < a->of.forest.n_nodes && status == ST_OK; node++) {
        const sti_Node *of = &a->of.forest.node[node];
        for (int i = of->first_v; i < of->first_v + of->n_v; i++) {
            if (driven != NULL ? driven[i] != 0 : a->of.joint[node] >= 0) continue;
            c.mass[c.n_free] = M[(int64_t)i * (n_v + 1)];
            c.v[c.n_free] = 0;
            c.free[c.n_free++] = i;
        }
    }
    if (status == ST_OK) status = fill_jacobian(a, touches, &c, err);
    if (status == ST_OK && n_touches > 0 && c.n_free > 0) status = find_forces(a, &c, err);
    double most = 0;
    for (int k = 0; k < n_touches && status == ST_OK; k++) {
        st_Vec3 axis[3];
        touch_frame(&touches[k], axis);
        force[k] = vec3(0, 0, 0);
        for (int d = 0; d < 3 && c.n_free > 0; d++) {
            const double r = c.r[3 * k + d], *row = c.J + (3 * (int64_t)k + d) * n_v;
            force[k] = add(force[k], scale(r, axis[d]));
            for (int i = 0; i < n_v; i++)
                tau[i] -= row[i] * r;
        }
    }
    for (int k = 0; k < c.n_free && status == ST_OK; k++) {
        most = fmax(most, fabs(tau[c.free[k]]));
        tau[c.free[k]] = 0;
    }
    if (status == ST_OK && missing != NULL) *missing = most;
    sti_free(alloc, numbers, n_v + n_r + 2 + n_v + n_i, sizeof *numbers);
    sti_free(alloc, values, 2 * n_i + 4 * (int64_t)n_v + 4 * n_r + 4, sizeof *values);
    sti_free(alloc, M, (int64_t)n_v * n_v + 1, sizeof *M);
    sti_free(alloc, c.p, n_r + 1, sizeof *c.p);
    sti_free(alloc, c.law, n_touches + 1, sizeof *c.law);
    return status;
}
