/* model/spanning_forest.c -- the bodies of a world as trees (docs/methods.md 14).
 *
 * Joints are added to a forest one by one unless they would close a loop. Joints with an armature come first, because
 * its inertia needs a coordinate. Then come those with the most constraints, so that few rows close the loops; then by
 * number. Fixed bodies and the ground are one body.
 *
 * A body with locked degrees of freedom must be the root of its tree, where the velocities of a free joint can be
 * locked. Planar mechanisms are the exception: if a joint keeps two bodies in the same plane, only the root needs
 * locks.
 */
#include "model/spanning_forest.h"

#include "model/joint.h"

/* ---- which joints -------------------------------------------------------------------------------- */

/* Union-find: following `above` leads to the first of the connected bodies. */
typedef struct Union {
    int *above;
    bool *tied; /* by first body: one body of the set must be the root */
} Union;

static int forest_first_of(Union *sets, int body)
{
    while (sets->above[body] != body)
        body = sets->above[body] = sets->above[sets->above[body]];
    return body;
}

static bool is_fixed(const sti_World *world, int body)
{
    return world->body[body].n_dofs == 0;
}

/* Do both bodies move only across world axis e and turn freely about it, and does the joint keep them there? */
static bool keeps_plane(const sti_World *world, const sti_Joint *joint, const double *q, int e)
{
    const int bodies[2] = {joint->a, joint->b};
    for (int k = 0; k < 2; k++) {
        const sti_Body *body = &world->body[bodies[k]];
        if (body->n_dofs != 0 && (body->n_dofs != 3 || (body->planar >> e & 1) == 0)) return false;
    }
    const double along = fabs(dot(rotate(sti_pose(q, joint->a).q, joint->frame_a[2]), vec3_axis(e)));
    switch (joint->type) {
    case ST_JOINT_FIXED:
        return true;
    case ST_JOINT_REVOLUTE:
    case ST_JOINT_PLANAR:
        return along > 1 - 1e-12;
    case ST_JOINT_PRISMATIC:
        return along < 1e-12;
    default:
        return false;
    }
}

static bool is_edge(const sti_World *world, int index, const double *q, Union *sets)
{
    const sti_Joint *joint = &world->joint[index];
    if (joint->type == ST_JOINT_FREE || sti_joint_n_v(joint->type) < 0) return false;
    const int a = forest_first_of(sets, joint->a), b = forest_first_of(sets, joint->b);
    if (a == b) return false;
    if (sets->tied[a] && sets->tied[b] && !keeps_plane(world, joint, q, 0) && !keeps_plane(world, joint, q, 1) &&
        !keeps_plane(world, joint, q, 2))
        return false;
    sets->above[a > b ? a : b] = a < b ? a : b;
    sets->tied[a < b ? a : b] = sets->tied[a] || sets->tied[b];
    return true;
}

/* ---- the frames of a joint ------------------------------------------------------------------------ */

int sti_joint_dof(const sti_Joint *joint, st_Coordinate coordinate, double *factor)
{
    *factor = 1;
    switch (joint->type) {
    case ST_JOINT_REVOLUTE:
        return coordinate == ST_COORDINATE_ANGLE ? 0 : -1;
    case ST_JOINT_PRISMATIC:
        return coordinate == ST_COORDINATE_DISPLACEMENT ? 0 : -1;
    case ST_JOINT_SCREW:
        if (coordinate == ST_COORDINATE_DISPLACEMENT) *factor = joint->lead;
        return coordinate == ST_COORDINATE_ANGLE || coordinate == ST_COORDINATE_DISPLACEMENT ? 0 : -1;
    case ST_JOINT_CYLINDRICAL:
        return coordinate == ST_COORDINATE_ANGLE ? 0 : coordinate == ST_COORDINATE_DISPLACEMENT ? 1 : -1;
    case ST_JOINT_UNIVERSAL:
        return coordinate == ST_COORDINATE_ANGLE ? 0 : coordinate == ST_COORDINATE_ANGLE_B ? 1 : -1;
    case ST_JOINT_PLANAR:
        return coordinate == ST_COORDINATE_ANGLE ? 2 : -1;
    default:
        return -1;
    }
}

/* ---- nodes ---------------------------------------------------------------------------------------- */

/* Adds a body to its tree, connected by a joint of `from` or free (joint -1). */
static st_Status forest_add_node(const sti_World *world, const double *q, sti_SpanningForest *of, sti_Node *nodes,
                                 int *n, int body, int joint_index, st_Error *err)
{
    const sti_Body *self = &world->body[body];
    sti_Node *node = &nodes[*n];
    *node = (sti_Node){.type = ST_JOINT_FREE,
                       .frame_a = pose_identity(),
                       .frame_b = pose_identity(),
                       .mass = world->values.body[body].mass,
                       .inertia = sti_inertia(&world->values.body[body])};
    of->body[*n] = body;
    of->joint[*n] = joint_index;
    of->node[body] = (*n)++;
    if (joint_index < 0) {
        unsigned locks = ST_LOCK_ALL;
        for (int k = 0; k < self->n_dofs; k++)
            locks &= ~(1u << self->dof[k]);
        node->locks = locks;
        return ST_OK;
    }
    const sti_Joint *joint = &world->joint[joint_index];
    const st_JointDef *def = &world->scene->joint[joint_index];
    node->type = joint->type;
    node->lead = joint->lead;
    node->reversed = joint->a == body;
    /* The frames in bodies a and b, which coincide if all coordinates are 0. */
    st_Quat in_a = quat_from_axes(joint->frame_a[0], joint->frame_a[1], joint->frame_a[2]);
    st_Quat in_b = quat_from_axes(joint->frame_b[0], joint->frame_b[1], joint->frame_b[2]);
    if (joint->type == ST_JOINT_BALL) { /* no swing and no twist; velocities in the axes of b */
        const int twist = joint->angle[ST_COORDINATE_TWIST];
        in_a = twist >= 0 ? world->angle[twist].relative : quat_product(in_a, quat_conjugate(in_b));
        in_b = (st_Quat){1, 0, 0, 0};
    } else if (joint->type == ST_JOINT_UNIVERSAL) { /* z is a's axis, x is b's */
        const sti_Angle *angle = &world->angle[joint->angle[ST_COORDINATE_ANGLE]],
                        *angle_b = &world->angle[joint->angle[ST_COORDINATE_ANGLE_B]];
        const st_Vec3 z = angle_b->pointer_a, x = angle->pointer_b; /* in b */
        in_a = quat_from_axes(angle->pointer_a, cross(angle->axis_a, angle->pointer_a), angle->axis_a);
        in_b = quat_from_axes(x, cross(z, x), z);
    }
    node->frame_a = (st_Pose){joint->anchor_a, in_a};
    node->frame_b = (st_Pose){joint->anchor_b, in_b};
    const int from = node->reversed ? joint->b : joint->a;
    node->parent = of->node[from];
    if (is_fixed(world, from)) { /* the parent is fixed in the world */
        st_Pose *frame = node->reversed ? &node->frame_b : &node->frame_a;
        *frame = pose_product(sti_pose(q, from), *frame);
    }
    if (def->armature > 0 && of->armatures) {
        double factor;
        const int dof = sti_joint_dof(joint, joint->coordinate[0], &factor);
        if (dof < 0)
            return sti_fail(
                err, ST_ERR_UNSUPPORTED,
                "joint \"%s\": its armature acts on the coordinate \"%s\", which is no coordinate of a tree", def->name,
                st_coordinate_name(joint->coordinate[0]));
        node->armature[dof] = def->armature * factor * factor;
    }
    return ST_OK;
}

/* The edges of each body, by number: entry 2 k + side is joint k at its a (side 0) or b. */
typedef struct Incidence {
    int *head; /* by body; -1: none                                                                 */
    int *next; /* by entry                                                                         */
} Incidence;

/* Adds all bodies that have an edge to this one. */
static st_Status add_neighbours(const sti_World *world, const double *q, const Incidence *list, sti_SpanningForest *of,
                                sti_Node *nodes, int *n, int body, st_Error *err)
{
    for (int entry = list->head[body]; entry >= 0; entry = list->next[entry]) {
        const sti_Joint *joint = &world->joint[entry / 2];
        const int other = entry % 2 == 0 ? joint->b : joint->a;
        if (is_fixed(world, other) || of->node[other] != 0) continue;
        STI_TRY(forest_add_node(world, q, of, nodes, n, other, entry / 2, err));
    }
    return ST_OK;
}

/* Is the body the b of a tree joint? Then another one is a better root. */
static bool has_parent(const Incidence *list, int body)
{
    for (int entry = list->head[body]; entry >= 0; entry = list->next[entry])
        if (entry % 2 == 1) return true;
    return false;
}

/* Grows the trees from their roots, breadth first: from the ground, then from bodies with locks, from bodies that
 * are b of no joint, and from any. */
static st_Status forest_grow(const sti_World *world, const double *q, const Incidence *list, Union *sets,
                             sti_SpanningForest *of, sti_Node *nodes, int *n, st_Error *err)
{
    const int last = sti_first_rotor(world);
    int done = 1;
    *n = 1;
    for (int pass = 0; pass < 4; pass++)
        for (int b = 0; b < last; b++) {
            if (of->node[b] != 0 || (pass == 0) != is_fixed(world, b)) continue;
            if (pass == 0) {
                STI_TRY(add_neighbours(world, q, list, of, nodes, n, b, err));
            } else {
                const bool tied = sets->tied[forest_first_of(sets, b)];
                if (tied && world->body[b].n_dofs == 6) continue; /* another one must be the root */
                if ((pass == 1 && !tied) || (pass == 2 && has_parent(list, b))) continue;
                STI_TRY(forest_add_node(world, q, of, nodes, n, b, -1, err));
            }
            for (; done < *n; done++)
                STI_TRY(add_neighbours(world, q, list, of, nodes, n, of->body[done], err));
        }
    return ST_OK;
}

/* Lists joints with constraints that are not edges. */
static st_Status note_loops(const sti_World *world, const bool *edge, sti_SpanningForest *of, st_Error *err)
{
    for (int k = 0; k < world->n_joints; k++) {
        const sti_Joint *joint = &world->joint[k];
        const bool gear = joint->type == ST_JOINT_GEAR, holds = gear || joint->n_rows > (joint->held ? 1 : 0);
        if (edge[k] || !holds || (!gear && is_fixed(world, joint->a) && is_fixed(world, joint->b))) continue;
        if (world->scene->joint[k].armature > 0 && of->armatures)
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "joint \"%s\" closes a loop and has an armature: it has no coordinate that could carry it",
                            world->scene->joint[k].name);
        of->loop[of->n_loops++] = k;
    }
    return ST_OK;
}

/* ---- making --------------------------------------------------------------------------------------- */

st_Status sti_spanning_forest_create(const sti_World *world, const st_Allocator *a, const double *q, bool armatures,
                                     sti_SpanningForest *out, st_Error *err)
{
    const int n_bodies = world->n_bodies, n_joints = world->n_joints;
    *out = (sti_SpanningForest){.n_bodies = n_bodies, .n_joints = n_joints, .armatures = armatures};
    out->body = sti_alloc(a, n_bodies, sizeof *out->body);
    out->joint = sti_alloc(a, n_bodies, sizeof *out->joint);
    out->node = sti_alloc(a, n_bodies, sizeof *out->node);
    out->loop = sti_alloc(a, n_joints + 1, sizeof *out->loop);
    sti_Node *nodes = sti_alloc(a, n_bodies, sizeof *nodes);
    Union sets = {sti_alloc(a, n_bodies, sizeof *sets.above), sti_alloc(a, n_bodies, sizeof *sets.tied)};
    bool *edge = sti_alloc(a, n_joints + 1, sizeof *edge);
    Incidence list = {sti_alloc(a, n_bodies, sizeof *list.head),
                      sti_alloc(a, 2 * (int64_t)n_joints + 1, sizeof *list.next)};
    st_Status status = ST_OK;
    int n = 0;
    if (out->body == NULL || out->joint == NULL || out->node == NULL || out->loop == NULL || nodes == NULL ||
        sets.above == NULL || sets.tied == NULL || edge == NULL || list.head == NULL || list.next == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for trees of %d bodies", n_bodies - 1);
    if (status == ST_OK) {
        /* edge[k]: joint k is part of a tree. */
        for (int b = 0; b < world->n_bodies; b++) {
            sets.above[b] = is_fixed(world, b) ? 0 : b;
            sets.tied[b] = world->body[b].n_dofs < 6;
        }
        for (int armature = 1; armature >= 0; armature--)
            for (int held = 6; held >= 0; held--) /* a joint holds 6 minus its velocities */
                for (int k = 0; k < world->n_joints; k++)
                    if ((world->scene->joint[k].armature > 0) == (armature == 1) &&
                        6 - sti_joint_n_v(world->joint[k].type) == held)
                        edge[k] = is_edge(world, k, q, &sets);
        for (int b = 0; b < world->n_bodies; b++)
            list.head[b] = -1;
        for (int k = world->n_joints - 1; k >= 0; k--) {
            const int bodies[2] = {world->joint[k].a, world->joint[k].b};
            for (int side = 1; edge[k] && side >= 0; side--) {
                list.next[2 * k + side] = list.head[bodies[side]];
                list.head[bodies[side]] = 2 * k + side;
            }
        }
        status = forest_grow(world, q, &list, &sets, out, nodes, &n, err);
    }
    if (status == ST_OK) status = note_loops(world, edge, out, err);
    if (status == ST_OK) status = sti_forest_create(a, nodes, n, &out->forest, err);
    sti_free(a, list.next, 2 * (int64_t)n_joints + 1, sizeof *list.next);
    sti_free(a, list.head, n_bodies, sizeof *list.head);
    sti_free(a, edge, n_joints + 1, sizeof *edge);
    sti_free(a, sets.above, n_bodies, sizeof *sets.above);
    sti_free(a, sets.tied, n_bodies, sizeof *sets.tied);
    sti_free(a, nodes, n_bodies, sizeof *nodes);
    if (status != ST_OK) sti_spanning_forest_free(a, out);
    return status;
}

void sti_spanning_forest_free(const st_Allocator *a, sti_SpanningForest *of)
{
    sti_forest_free(&of->forest);
    sti_free(a, of->body, of->n_bodies, sizeof *of->body);
    sti_free(a, of->joint, of->n_bodies, sizeof *of->joint);
    sti_free(a, of->node, of->n_bodies, sizeof *of->node);
    sti_free(a, of->loop, of->n_joints + 1, sizeof *of->loop);
    *of = (sti_SpanningForest){0};
}

/* ---- states --------------------------------------------------------------------------------------- */

/* An angle that counts whole turns, in the coordinates of its joint. */
typedef struct Turn {
    int q;         /* coordinate of the node */
    int world_q;   /* coordinate of the world */
    double factor; /* coordinate of the node over that of the world */
} Turn;

static int turns_of(const sti_World *world, const sti_SpanningForest *of, int node, Turn out[2])
{
    if (of->joint[node] < 0) return 0;
    const sti_Joint *joint = &world->joint[of->joint[node]];
    const int first = of->forest.node[node].first_q, about = joint->angle[ST_COORDINATE_ANGLE],
              about_b = joint->angle[ST_COORDINATE_ANGLE_B];
    int n = 0;
    if (about >= 0) out[n++] = (Turn){first + (joint->type == ST_JOINT_PLANAR ? 2 : 0), world->angle[about].q, 1};
    if (about_b >= 0) out[n++] = (Turn){first + 1, world->angle[about_b].q, -1}; /* seen from b */
    return n;
}

void sti_spanning_forest_read(const sti_World *world, const sti_SpanningForest *of, const double *world_q,
                              const double *world_v, sti_ForestState *state, double *q, double *v)
{
    const sti_Forest *forest = &of->forest;
    for (int node = 1; node < forest->n_nodes; node++) {
        Turn turn[2];
        const int n = turns_of(world, of, node, turn);
        state->pose[node] = sti_pose(world_q, of->body[node]);
        for (int k = 0; k < n; k++)
            q[turn[k].q] = turn[k].factor * world_q[turn[k].world_q];
    }
    sti_forest_coordinates(forest, state->pose, q);
    for (int node = 1; node < forest->n_nodes; node++)
        state->axes[node] = quat_matrix(state->pose[node].q);
    for (int node = 1; node < forest->n_nodes; node++) {
        st_Vec3 linear, spin;
        sti_body_velocity(&world->body[of->body[node]], world_v, &linear, &spin);
        state->velocity[node] = sti_forest_spatial(forest, state, node, linear, mat3_mul(&state->axes[node], spin));
    }
    state->velocity[0] = (sti_Spatial){.linear = vec3(0, 0, 0)};
    sti_forest_rates(forest, state, v);
}

void sti_spanning_forest_write(const sti_World *world, const sti_SpanningForest *of, const sti_ForestState *state,
                               const double *q, double *world_q, double *world_v)
{
    const sti_Forest *forest = &of->forest;
    for (int node = 1; node < forest->n_nodes; node++) {
        const sti_Body *body = &world->body[of->body[node]];
        const st_Pose pose = state->pose[node];
        double *p = world_q + (int64_t)STI_BODY_Q * (of->body[node] - 1), full[6];
        Turn turn[2];
        const int n = turns_of(world, of, node, turn);
        vec3_store(p, pose.p);
        p[3] = pose.q.w, p[4] = pose.q.x, p[5] = pose.q.y, p[6] = pose.q.z;
        for (int k = 0; k < n; k++)
            world_q[turn[k].world_q] = turn[k].factor * q[turn[k].q];
        if (world_v == NULL) continue;
        const st_Vec3 arm = sub(pose.p, sti_forest_origin(forest, state, node));
        vec3_store(full, spatial_at(state->velocity[node], arm));
        vec3_store(full + 3, mat3_mul_back(&state->axes[node], state->velocity[node].angular));
        for (int k = 0; k < body->n_dofs; k++)
            world_v[body->v_first + k] = full[body->dof[k]];
    }
    sti_angles_update(world, world_q); /* angles of loops and springs: the nearest turns */
    sti_angles_settle(world, world_q);
}
