/* forest/layout.c -- the layout of a forest: which coordinates and velocities belong to which node, and which entries M
 * has. */
#include "forest/forest.h"

static const struct {
    int n_q, n_v;
} sizes[ST_N_JOINT_TYPES] = {
    [ST_JOINT_FIXED] = {0, 0},     [ST_JOINT_BALL] = {4, 3},       [ST_JOINT_REVOLUTE] = {1, 1},
    [ST_JOINT_PRISMATIC] = {1, 1}, [ST_JOINT_DISTANCE] = {-1, -1}, [ST_JOINT_CYLINDRICAL] = {2, 2},
    [ST_JOINT_UNIVERSAL] = {2, 2}, [ST_JOINT_PLANAR] = {3, 3},     [ST_JOINT_POINT_ON_LINE] = {-1, -1},
    [ST_JOINT_SCREW] = {1, 1},     [ST_JOINT_GEAR] = {-1, -1},     [ST_JOINT_FREE] = {7, 6},
    [ST_JOINT_TENDON] = {-1, -1},
};

int sti_joint_n_q(st_JointType type)
{
    return sizes[type].n_q;
}

int sti_joint_n_v(st_JointType type)
{
    return sizes[type].n_v;
}

static void lay_out_node(sti_Forest *forest, int index)
{
    sti_Node *node = &forest->node[index];
    node->root = node->parent == 0 ? index : forest->node[node->parent].root;
    node->first_q = forest->n_q;
    node->first_v = forest->n_v;
    node->n_q = sti_joint_n_q(node->type);
    node->n_v = 0;
    for (int k = 0; k < sti_joint_n_v(node->type); k++)
        if (node->type != ST_JOINT_FREE || (node->locks >> k & 1u) == 0) node->dof[node->n_v++] = (unsigned char)k;
    forest->n_q += node->n_q;
    forest->n_v += node->n_v;
}

/* Row i has one entry more than the row of the velocity above it. */
static void lay_out_rows(sti_Forest *forest)
{
    forest->tip[0] = -1;
    for (int index = 1; index < forest->n_nodes; index++) {
        const sti_Node *node = &forest->node[index];
        int above = forest->tip[node->parent];
        for (int k = 0; k < node->n_v; k++) {
            const int i = node->first_v + k;
            forest->owner[i] = index;
            forest->above[i] = above;
            forest->row[i + 1] = forest->row[i] + 1 + (above >= 0 ? forest->row[above + 1] - forest->row[above] : 0);
            above = i;
        }
        forest->tip[index] = above;
    }
    forest->n_entries = forest->row[forest->n_v];
}

st_Status sti_forest_create(const st_Allocator *allocator, const sti_Node *node, int n_nodes, sti_Forest *out,
                            st_Error *err)
{
    *out = (sti_Forest){.allocator = *allocator, .n_nodes = n_nodes};
    out->node = sti_alloc(allocator, n_nodes, sizeof *out->node);
    out->tip = sti_alloc(allocator, n_nodes, sizeof *out->tip);
    st_Status status = out->node != NULL && out->tip != NULL ? ST_OK : ST_ERR_MEMORY;
    for (int k = 1; status == ST_OK && k < n_nodes; k++) {
        out->node[k] = node[k];
        lay_out_node(out, k);
    }
    if (status == ST_OK) {
        out->above = sti_alloc(allocator, out->n_v + 1, sizeof *out->above);
        out->owner = sti_alloc(allocator, out->n_v + 1, sizeof *out->owner);
        out->row = sti_alloc(allocator, out->n_v + 1, sizeof *out->row);
        if (out->above == NULL || out->owner == NULL || out->row == NULL) status = ST_ERR_MEMORY;
    }
    if (status != ST_OK) {
        sti_forest_free(out);
        return sti_fail(err, status, "out of memory for trees of %d bodies", n_nodes - 1);
    }
    lay_out_rows(out);
    return ST_OK;
}

void sti_forest_free(sti_Forest *forest)
{
    const st_Allocator *a = &forest->allocator;
    if (a->free == NULL) return; /* never created */
    sti_free(a, forest->node, forest->n_nodes, sizeof *forest->node);
    sti_free(a, forest->tip, forest->n_nodes, sizeof *forest->tip);
    sti_free(a, forest->above, forest->n_v + 1, sizeof *forest->above);
    sti_free(a, forest->owner, forest->n_v + 1, sizeof *forest->owner);
    sti_free(a, forest->row, forest->n_v + 1, sizeof *forest->row);
    *forest = (sti_Forest){.allocator = forest->allocator};
}

st_Status sti_forest_state_create(const sti_Forest *forest, sti_ForestState *out, st_Error *err)
{
    const st_Allocator *a = &forest->allocator;
    const int n = forest->n_nodes, n_v = forest->n_v + 1;
    *out = (sti_ForestState){
        .pose = sti_alloc(a, n, sizeof *out->pose),
        .axes = sti_alloc(a, n, sizeof *out->axes),
        .S = sti_alloc(a, n_v, sizeof *out->S),
        .S_rate = sti_alloc(a, n_v, sizeof *out->S_rate),
        .velocity = sti_alloc(a, n, sizeof *out->velocity),
        .rate = sti_alloc(a, n, sizeof *out->rate),
        .force = sti_alloc(a, n, sizeof *out->force),
        .inertia = sti_alloc(a, n, sizeof *out->inertia),
        .M = sti_alloc(a, forest->n_entries + 1, sizeof *out->M),
        .L = sti_alloc(a, forest->n_entries + 1, sizeof *out->L),
    };
    if (out->pose != NULL && out->axes != NULL && out->S != NULL && out->S_rate != NULL && out->velocity != NULL &&
        out->rate != NULL && out->force != NULL && out->inertia != NULL && out->M != NULL && out->L != NULL) {
        out->pose[0] = pose_identity();
        out->axes[0] = quat_matrix(out->pose[0].q);
        return ST_OK;
    }
    sti_forest_state_free(forest, out);
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for trees of %d velocities", forest->n_v);
}

void sti_forest_state_free(const sti_Forest *forest, sti_ForestState *state)
{
    const st_Allocator *a = &forest->allocator;
    const int n = forest->n_nodes, n_v = forest->n_v + 1;
    if (a->free == NULL) return;
    sti_free(a, state->pose, n, sizeof *state->pose);
    sti_free(a, state->axes, n, sizeof *state->axes);
    sti_free(a, state->S, n_v, sizeof *state->S);
    sti_free(a, state->S_rate, n_v, sizeof *state->S_rate);
    sti_free(a, state->velocity, n, sizeof *state->velocity);
    sti_free(a, state->rate, n, sizeof *state->rate);
    sti_free(a, state->force, n, sizeof *state->force);
    sti_free(a, state->inertia, n, sizeof *state->inertia);
    sti_free(a, state->M, forest->n_entries + 1, sizeof *state->M);
    sti_free(a, state->L, forest->n_entries + 1, sizeof *state->L);
    *state = (sti_ForestState){0};
}
