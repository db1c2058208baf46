/* forest/dynamics.c -- mass matrix by composite bodies, its factor, and inverse dynamics (Featherstone 2008, ch. 5, 6).
 *
 *     M_ij = s_i . I_c s_j        I_c: inertia of all bodies beyond the outer one of the two joints
 *     tau_i = s_i . f             f: sum over all bodies beyond joint i of  I A + V x* (I V) - applied
 */
#include "forest/forest.h"

/* ---- inertia ------------------------------------------------------------------------------------- */

void sti_forest_inertias(const sti_Forest *forest, sti_ForestState *state)
{
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        const st_Mat3 *R = &state->axes[index], back = mat3_transpose(R), RJ = mat3_product(R, &node->inertia),
                      J = mat3_product(&RJ, &back);
        const st_Vec3 d = sub(state->pose[index].p, sti_forest_origin(forest, state, index));
        const double m = node->mass;
        state->inertia[index] =
            (sti_Inertia){m,
                          scale(m, d),
                          {J.m[0] + m * (d.y * d.y + d.z * d.z), J.m[4] + m * (d.x * d.x + d.z * d.z),
                           J.m[8] + m * (d.x * d.x + d.y * d.y), J.m[1] - m * d.x * d.y, J.m[2] - m * d.x * d.z,
                           J.m[5] - m * d.y * d.z}};
    }
}

sti_Spatial sti_inertia_times(const sti_Inertia *inertia, sti_Spatial v)
{
    const st_Vec3 w = v.angular;
    const double *I = inertia->I;
    const st_Vec3 turned = vec3(I[0] * w.x + I[3] * w.y + I[4] * w.z, I[3] * w.x + I[1] * w.y + I[5] * w.z,
                                I[4] * w.x + I[5] * w.y + I[2] * w.z);
    return (sti_Spatial){add(turned, cross(inertia->moment, v.linear)),
                         add(scale(inertia->mass, v.linear), cross(w, inertia->moment))};
}

void sti_inertia_add(sti_Inertia *to, const sti_Inertia *from)
{
    to->mass += from->mass;
    to->moment = add(to->moment, from->moment);
    for (int k = 0; k < 6; k++)
        to->I[k] += from->I[k];
}

/* ---- mass matrix --------------------------------------------------------------------------------- */

void sti_forest_mass(const sti_Forest *forest, sti_ForestState *state)
{
    sti_forest_inertias(forest, state);
    for (int index = forest->n_nodes - 1; index > 0; index--) {
        const sti_Node *node = &forest->node[index];
        for (int k = 0; k < node->n_v; k++) {
            const int i = node->first_v + k;
            const sti_Spatial momentum = sti_inertia_times(&state->inertia[index], state->S[i]);
            double *entry = state->M + forest->row[i];
            for (int j = i; j >= 0; j = forest->above[j])
                *entry++ = spatial_dot(state->S[j], momentum);
            state->M[forest->row[i]] += node->armature[node->dof[k]];
        }
        if (node->parent > 0) sti_inertia_add(&state->inertia[node->parent], &state->inertia[index]);
    }
}

/* Row i without its first p entries is about the same velocities as the row of the p-th velocity above i. */
int sti_forest_factor(const sti_Forest *forest, const double *M, double *L)
{
    memcpy(L, M, (size_t)forest->n_entries * sizeof *L);
    for (int k = forest->n_v - 1; k >= 0; k--) {
        double *row = L + forest->row[k];
        const int64_t n = forest->row[k + 1] - forest->row[k];
        if (!(row[0] > 0)) return k;
        for (int64_t p = 1, i = forest->above[k]; p < n; p++, i = forest->above[i]) {
            const double a = row[p] / row[0];
            double *to = L + forest->row[i];
            for (int64_t e = p; e < n; e++)
                to[e - p] -= a * row[e];
            row[p] = a;
        }
    }
    return -1;
}

void sti_forest_solve(const sti_Forest *forest, const double *L, double *x)
{
    for (int i = forest->n_v - 1; i >= 0; i--) {
        const double *row = L + forest->row[i] + 1;
        for (int j = forest->above[i]; j >= 0; j = forest->above[j])
            x[j] -= *row++ * x[i];
    }
    for (int i = 0; i < forest->n_v; i++) {
        const double *row = L + forest->row[i];
        x[i] /= *row++;
        for (int j = forest->above[i]; j >= 0; j = forest->above[j])
            x[i] -= *row++ * x[j];
    }
}

void sti_forest_multiply(const sti_Forest *forest, const double *M, const double *x, double *y)
{
    for (int i = 0; i < forest->n_v; i++) {
        const double *row = M + forest->row[i];
        y[i] = *row++ * x[i];
        for (int j = forest->above[i]; j >= 0; j = forest->above[j]) {
            y[i] += *row * x[j];
            y[j] += *row++ * x[i];
        }
    }
}

/* ---- inverse dynamics ----------------------------------------------------------------------------- */

void sti_forest_inverse_dynamics(const sti_Forest *forest, const double *a, const sti_Spatial *applied, bool still,
                                 sti_ForestState *state, double *tau)
{
    sti_forest_inertias(forest, state);
    for (int index = 0; index < forest->n_nodes; index++) {
        sti_Spatial force = {.linear = vec3(0, 0, 0)};
        if (!still && index > 0) {
            const sti_Inertia *inertia = &state->inertia[index];
            const sti_Spatial v = state->velocity[index];
            force = spatial_add(sti_inertia_times(inertia, state->rate[index]),
                                spatial_cross_force(v, sti_inertia_times(inertia, v)));
        }
        if (applied != NULL && index > 0) {
            const st_Vec3 arm = sub(state->pose[index].p, sti_forest_origin(forest, state, index));
            force.linear = sub(force.linear, applied[index].linear);
            force.angular = sub(force.angular, add(applied[index].angular, cross(arm, applied[index].linear)));
        }
        state->force[index] = force;
    }
    for (int index = forest->n_nodes - 1; index > 0; index--) {
        const sti_Node *node = &forest->node[index];
        for (int k = 0; k < node->n_v; k++) {
            const int i = node->first_v + k;
            tau[i] = spatial_dot(state->S[i], state->force[index]);
            if (!still && a != NULL) tau[i] += node->armature[node->dof[k]] * a[i];
        }
        if (node->parent > 0) state->force[node->parent] = spatial_add(state->force[node->parent], state->force[index]);
    }
}
