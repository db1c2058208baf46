/* step/joint_coordinates.c -- step problems solved in the coordinates of joints (docs/methods.md 14).
 *
 * The state and its rows are those of bodies, whatever the coordinates: integrators, drift, sleep, recordings and
 * reports see no difference. The step problem is solved in the velocities that joints leave, tree by tree
 * (linalg/tree_coordinates.h), and has the same solution.
 */
#include "step/joint_coordinates.h"

#include "linalg/tree_coordinates.h"
#include "model/spanning_forest.h"

#include <limits.h>

/* A tree is one dense block of T'AT. Beyond so many velocities the sparse factors of body coordinates cost less, unless
 * there are no contacts: then no such block is needed (`open`). */
enum { MOST_VELOCITIES = 64 };

struct sti_JointCoordinates {
    sti_TreeCoordinates *trees;
    sti_TreeCoordinates *open;       /* of all trees, if some are too large for `trees`                       */
    const sti_TreeCoordinates *last; /* which of the two had the last problem                       */
    int *block;                      /* reduced blocks that are awake ...                                           */
    unsigned char *awake;            /* ... and a mark for each of them                                      */
    bool used;                       /* in the last solve                                                            */
    int n_blocks;                    /* room for them                                                               */
};

/* Why joint coordinates cannot be used with these choices; NULL: they can. */
static const char *obstacle(const st_SystemDef *def)
{
    if (def->contact == ST_CONTACT_REGULARIZED) return "contact \"regularized\", whose joints have a stiffness";
    if (def->forces == ST_FORCES_LEAST_NORM) return "forces \"least_norm\"";
    if (def->drift == ST_DRIFT_MEAN) return "drift \"mean\"";
    return NULL;
}

st_Status sti_check_coordinates(const st_SystemDef *def, st_Error *err)
{
    const char *other = obstacle(def);
    if (def->coordinates != ST_COORDINATES_JOINT || other == NULL) return ST_OK;
    return sti_fail(err, ST_ERR_UNSUPPORTED,
                    "coordinates \"joint\" cannot be used with %s: choose \"auto\" or \"body\"", other);
}

/* `auto` means joint coordinates. The presets named after papers use body coordinates, so that their bits stay the
 * same. Drift `mean` corrects solutions with factors of body coordinates. Only open trees do not need them
 * (`open_alone`). */
static bool uses_joints(const st_SystemDef *def, bool *open_alone)
{
    const bool automatic = def->coordinates == ST_COORDINATES_AUTO;
    *open_alone = automatic && def->drift == ST_DRIFT_MEAN && def->contact != ST_CONTACT_REGULARIZED &&
                  def->forces != ST_FORCES_LEAST_NORM;
    if (automatic && def->effort == ST_EFFORT_THOROUGH) return false;
    return def->coordinates != ST_COORDINATES_BODY && (*open_alone || obstacle(def) == NULL);
}

/* ---- the plan ------------------------------------------------------------------------------------- */

typedef struct Planning {
    const sti_World *world;
    const sti_SpanningForest *of;
    int *block; /* by body: -1: it does not move                                                    */
    int *next;  /* by node: the next of its tree                                                    */
    int *last;  /* by node: the last of its descendants, so far                                        */
    int *link;  /* by node; -1: none                                                                */
    sti_TreePlan plan;
} Planning;

static sti_TreeLink link_of(const Planning *p, int node)
{
    const sti_Node *of = &p->of->forest.node[node];
    const int body = p->of->body[node], joint = p->of->joint[node];
    sti_TreeLink link = {.block = p->block[body], .parent = of->parent > 0 ? p->link[of->parent] : -1};
    if (joint < 0) return link;
    link.first_row = p->world->joint[joint].first_row;
    link.n_rows = p->world->joint[joint].n_rows - (p->world->joint[joint].held ? 1 : 0); /* a motor's is the last */
    link.rank = p->world->body[body].n_dofs - of->n_v;
    return link;
}

st_Status sti_joint_coordinates_create(const sti_Model *model, sti_StepWork *work, const double *q, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Allocator *a = &model->allocator;
    bool open_alone;
    if (world->n_joints == 0 || !uses_joints(&model->def, &open_alone)) return ST_OK;
    sti_SpanningForest of = {0};
    const int n = world->n_bodies, n_joints = world->n_joints;
    Planning p = {.world = world, .of = &of};
    p.block = sti_alloc(a, n, sizeof *p.block);
    p.next = sti_alloc(a, n, sizeof *p.next);
    p.last = sti_alloc(a, n, sizeof *p.last);
    p.link = sti_alloc(a, n, sizeof *p.link);
    p.plan.link = sti_alloc(a, n, sizeof *p.plan.link);
    p.plan.follower = sti_alloc(a, n_joints, sizeof *p.plan.follower);
    sti_JointCoordinates *own = work->joint_coordinates = sti_alloc(a, 1, sizeof *own);
    st_Status status = ST_OK;
    if (p.block == NULL || p.next == NULL || p.last == NULL || p.link == NULL || p.plan.link == NULL ||
        p.plan.follower == NULL || own == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for trees of %d bodies", n - 1);
    if (status == ST_OK) status = sti_spanning_forest_create(world, a, q, false, &of, err);
    if (status == ST_OK) {
        for (int b = 0, block = 0; b < n; b++)
            p.block[b] = world->body[b].n_dofs > 0 ? block++ : -1;
        own->n_blocks = model->n_blocks;
        own->block = sti_alloc(a, own->n_blocks, sizeof *own->block);
        own->awake = sti_alloc(a, own->n_blocks, sizeof *own->awake);
        if (own->block == NULL || own->awake == NULL)
            status = sti_fail(err, ST_ERR_MEMORY, "out of memory for trees of %d bodies", n - 1);
    }
    const int most[] = {MOST_VELOCITIES, INT_MAX};
    for (int k = open_alone ? 1 : 0, larger = true; k < 2 && status == ST_OK && larger; k++) {
        /* Trees with joints, of at most so many velocities. Are there others? */
        const sti_Forest *forest = &p.of->forest;
        bool grown = false;
        p.plan.n_links = 0;
        for (int node = 0; node < forest->n_nodes; node++)
            p.next[node] = p.link[node] = -1, p.last[node] = node;
        for (int node = forest->n_nodes - 1; node > 0; node--) { /* lists from the roots, limb by limb */
            const int parent = forest->node[node].parent;
            if (forest->node[node].root == node) continue;
            p.next[p.last[node]] = p.next[parent];
            p.next[parent] = node;
            if (p.last[parent] == parent) p.last[parent] = p.last[node];
        }
        for (int root = 1; root < forest->n_nodes; root++) {
            int n_v = 0;
            if (forest->node[root].root != root || (p.next[root] < 0 && p.of->joint[root] < 0)) continue;
            for (int node = root; node >= 0; node = p.next[node])
                n_v += forest->node[node].n_v;
            grown = grown || n_v > most[k];
            for (int node = root; node >= 0 && n_v > 0 && n_v <= most[k]; node = p.next[node]) {
                p.plan.link[p.plan.n_links] = link_of(&p, node);
                p.link[node] = p.plan.n_links++;
            }
        }
        larger = grown;
        /* A rotor follows if the joint that it belongs to is within one tree. */
        p.plan.n_followers = 0;
        for (int j = 0; j < p.world->n_joints; j++) {
            const sti_Joint *joint = &p.world->joint[j];
            if (joint->rotor == 0 || joint->type == ST_JOINT_TENDON) continue;
            const int node_a = p.of->node[joint->a], node_b = p.of->node[joint->b];
            if (node_a == 0 && node_b == 0) continue;
            const int root_a = node_a > 0 ? p.of->forest.node[node_a].root : 0,
                      root_b = node_b > 0 ? p.of->forest.node[node_b].root : 0;
            const bool planned = (node_a == 0 || p.link[node_a] >= 0) && (node_b == 0 || p.link[node_b] >= 0);
            if (!planned || (root_a > 0 && root_b > 0 && root_a != root_b)) continue;
            p.plan.follower[p.plan.n_followers++] = (sti_TreeFollower){p.block[joint->rotor], joint->rotor_row};
        }
        if (p.plan.n_links > 0)
            status = sti_tree_coordinates_create(a, &p.plan, model->n_blocks, model->first, k == 1,
                                                 k == 1 ? &own->open : &own->trees, err);
    }
    sti_spanning_forest_free(a, &of);
    sti_free(a, p.block, n, sizeof *p.block);
    sti_free(a, p.next, n, sizeof *p.next);
    sti_free(a, p.last, n, sizeof *p.last);
    sti_free(a, p.link, n, sizeof *p.link);
    sti_free(a, p.plan.link, n, sizeof *p.plan.link);
    sti_free(a, p.plan.follower, n_joints, sizeof *p.plan.follower);
    return status;
}

void sti_joint_coordinates_free(const sti_Model *model, sti_StepWork *work)
{
    sti_JointCoordinates *own = work->joint_coordinates;
    if (own == NULL) return;
    sti_tree_coordinates_destroy(own->trees);
    sti_tree_coordinates_destroy(own->open);
    sti_free(&model->allocator, own->block, own->n_blocks, sizeof *own->block);
    sti_free(&model->allocator, own->awake, own->n_blocks, sizeof *own->awake);
    sti_free(&model->allocator, own, 1, sizeof *own);
    work->joint_coordinates = NULL;
}

/* ---- solving -------------------------------------------------------------------------------------- */

/* The error of a solver, in the words of the scene if a joint moves no mass. */
static st_Status name_massless(const sti_World *world, const sti_TreeCoordinates *trees, st_Status status,
                               st_Error *err)
{
    const int row = status == ST_ERR_MEMORY ? -1 : sti_tree_coordinates_massless(trees);
    for (int j = 0; row >= 0 && j < world->n_joints; j++)
        if (world->joint[j].n_rows > 0 && world->joint[j].first_row == row)
            return sti_fail(
                err, ST_ERR_NUMERIC,
                "joint \"%s\": it moves no mass; give the bodies beyond it a mass and an inertia, or the joint "
                "an armature",
                world->scene->joint[j].name);
    return status;
}

st_Status sti_joint_coordinates_solve(const sti_Model *model, sti_StepWork *work, const sti_IslandsCall *call,
                                      st_Solution *solution, st_SolveInfo *info, bool *done, st_Error *err)
{
    sti_JointCoordinates *own = work->joint_coordinates;
    const st_Problem *problem = &work->step.problem, *reduced;
    st_Solution inner = *solution;
    *done = false;
    if (own->trees == NULL && own->open == NULL) return ST_OK;
    own->used = false;
    if (work->step.piled) return ST_OK;
    if (problem->n_r == 0 && work->sleep.n_asleep == 0) {
        own->last = own->open != NULL ? own->open : own->trees;
        STI_TRY(sti_tree_coordinates_solve(own->open != NULL ? own->open : own->trees, problem, solution->v,
                                           solution->l, done, err));
        if (*done) sti_islands_without_contacts(work->islands, problem, info);
        own->used = *done;
        if (*done) return ST_OK;
    }
    if (own->trees == NULL) return ST_OK;
    own->last = own->trees;
    STI_TRY(sti_tree_coordinates_reduce(own->trees, problem, &reduced, err));
    if (reduced == NULL) return ST_OK;
    const bool sleeping = work->sleep.n_asleep > 0;
    sti_Awake awake = {.block = own->block};
    if (sleeping) {
        memset(own->awake, 0, (size_t)own->n_blocks);
        for (int k = 0; k < work->sleep.awake.n; k++) {
            const int block = sti_tree_coordinates_block(own->trees, work->sleep.awake.block[k]);
            if (block >= 0) own->awake[block] = 1;
        }
        for (int k = 0; k < own->n_blocks; k++)
            if (own->awake[k]) own->block[awake.n++] = k;
    }

    sti_tree_coordinates_solution(own->trees, &inner.v, &inner.l);
    sti_IslandsCall of_trees = *call;
    of_trees.pile = NULL;
    of_trees.awake = sleeping ? &awake : NULL;
    of_trees.dense = true;
    const st_Status status = sti_islands_solve(work->islands, reduced, &of_trees, &inner, info, err);
    if (status != ST_OK) return name_massless(model->world, own->trees, status, err);
    info->redundant_rows += sti_tree_coordinates_held(own->trees);
    sti_tree_coordinates_expand(own->trees, sleeping ? own->awake : NULL, solution->r, solution->v, solution->l);
    *done = own->used = true;
    return ST_OK;
}

bool sti_joint_coordinates_used(const sti_StepWork *work)
{
    return work->joint_coordinates != NULL && work->joint_coordinates->used;
}

bool sti_joint_coordinates_are_open(const sti_StepWork *work)
{
    const sti_JointCoordinates *own = work->joint_coordinates;
    return own->used && sti_tree_coordinates_are_open(own->last);
}

void sti_joint_coordinates_count(const sti_StepWork *work, int island, st_IslandReport *out)
{
    const sti_JointCoordinates *own = work->joint_coordinates;
    const st_Problem *problem = &work->step.problem;
    if (own == NULL || !own->used || own->last != own->trees) return;
    out->bodies = out->rows = 0;
    for (int b = 0; b < problem->A.n_blocks; b++)
        out->bodies += sti_islands_of_block(work->islands, sti_tree_coordinates_block(own->trees, b)) == island;
    for (int row = 0; row < problem->n_l; row++) {
        if (problem->G.p[row] == problem->G.p[row + 1]) continue;
        const int block = sti_tree_coordinates_block_of(own->trees, problem->G.i[problem->G.p[row]]);
        out->rows += sti_islands_of_block(work->islands, block) == island;
    }
}
