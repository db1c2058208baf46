/* bench/peers/check.c -- evaluates every engine: penetration, joint errors, drift and energy from the poses and
 * velocities that an engine reports, and comparison with exact results. The engine's own contacts are not used.
 *
 * Pairs that may overlap come from a grid of cells as wide as the largest body; their depth from depth.c.
 */
#include "check.h"

#include "make.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CELLS = 100 }; /* along one axis */

typedef struct Grid {
    st_Vec3 low;
    double cell;
    int n[3];
    int *first; /* of cell c: order[first[c]] .. order[first[c + 1] - 1] */
    int *order, *cell_of;
    int capacity;
} Grid;

struct Checker {
    const Scene *scene;
    BodyState *start;           /* n_bodies */
    st_Pose *frame_a, *frame_b; /* n_joints: the joint's frame in its bodies at the start */
    bool *joined;               /* n_bodies^2 if there are joints; else NULL */
    double radius;              /* largest radius of all shapes */
    double energy_low;          /* lowest so far */
    double energy_start, energy_last, energy_scale;
    double weight;    /* M g d (check.h) */
    double depth_sum; /* sum of the last check */
    Grid grid;
    Accuracy result;
};

/* ---- joints ----------------------------------------------------------------------------------- */

static st_Pose frame_in(st_Pose body, st_Pose world)
{
    return (st_Pose){rotate_back(body.q, sub(world.p, body.p)), quat_product(quat_conjugate(body.q), world.q)};
}

static const st_Pose ground = {{0, 0, 0}, {1, 0, 0, 0}};

static st_Pose pose_of(const BodyState *states, int body)
{
    return body >= 0 ? states[body].pose : ground;
}

/* Vector from a's point of the joint to b's, and the rotation of b's frame against a's; both in a's frame, z the axis.
 */
static void joint_offset(const Checker *checker, const BodyState *states, int k, st_Vec3 *apart, st_Vec3 *turn)
{
    const Joint *joint = &checker->scene->joints[k];
    st_Pose a = pose_product(pose_of(states, joint->a), checker->frame_a[k]);
    st_Pose b = pose_product(pose_of(states, joint->b), checker->frame_b[k]);
    *apart = rotate_back(a.q, sub(b.p, a.p));
    *turn = quat_log(quat_product(quat_conjugate(a.q), b.q));
}

static double joint_error(const Checker *checker, const BodyState *states, int k)
{
    const Joint *joint = &checker->scene->joints[k];
    st_Pose a = pose_product(pose_of(states, joint->a), checker->frame_a[k]);
    st_Pose b = pose_product(pose_of(states, joint->b), checker->frame_b[k]);
    st_Vec3 apart, turn;
    joint_offset(checker, states, k, &apart, &turn);
    switch (joint->type) {
    case JOINT_REVOLUTE: {
        double bend = norm(sub(rotate(a.q, vec3(0, 0, 1)), rotate(b.q, vec3(0, 0, 1))));
        return fmax(norm(apart), bend);
    }
    case JOINT_PRISMATIC:
        return fmax(hypot(apart.x, apart.y), norm(turn));
    case JOINT_BALL:
        break;
    }
    return norm(apart);
}

/* Static lengths: each prismatic joint carries the weight of all bodies below it along its axis. Bodies of a chain
 * are in order, so joint k carries body b and all later bodies. */
static double stretch_error(const Checker *checker, const BodyState *states)
{
    const Scene *scene = checker->scene;
    double worst = 0;
    for (int k = 0; k < scene->n_joints; k++) {
        const Joint *joint = &scene->joints[k];
        double weight = 0;
        st_Vec3 apart, turn;
        for (int i = joint->b; i < scene->n_bodies; i++)
            weight += scene->bodies[i].mass * dot(scene->gravity, joint->axis);
        joint_offset(checker, states, k, &apart, &turn);
        worst = fmax(worst, fabs(apart.z * joint->stiffness / weight - 1));
    }
    return worst;
}

/* ---- energy ----------------------------------------------------------------------------------- */

static double kinetic_of(const Body *body, const BodyState *s)
{
    const st_Vec3 v = s->velocity, w = s->spin;
    return 0.5 * body->mass * dot(v, v) +
           0.5 * (body->inertia.x * w.x * w.x + body->inertia.y * w.y * w.y + body->inertia.z * w.z * w.z);
}

static double kinetic(const Scene *scene, const BodyState *states)
{
    double sum = 0;
    for (int i = 0; i < scene->n_bodies; i++)
        sum += kinetic_of(&scene->bodies[i], &states[i]);
    return sum;
}

static double energy(const Checker *checker, const BodyState *states)
{
    const Scene *scene = checker->scene;
    double sum = 0;
    for (int i = 0; i < scene->n_bodies; i++) {
        const Body *body = &scene->bodies[i];
        const st_Vec3 load = add(scale(body->mass, scene->gravity), body->force);
        sum += kinetic_of(body, &states[i]) - dot(load, states[i].pose.p);
    }
    for (int k = 0; k < scene->n_joints; k++) {
        const Joint *joint = &scene->joints[k];
        st_Vec3 apart, turn;
        if (joint->stiffness == 0) continue;
        joint_offset(checker, states, k, &apart, &turn);
        double x = joint->type == JOINT_PRISMATIC ? apart.z : turn.z;
        sum += 0.5 * joint->stiffness * x * x;
    }
    return sum;
}

/* ---- penetration ------------------------------------------------------------------------------ */

static void note_depth(Checker *checker, double depth, bool settled)
{
    Accuracy *result = &checker->result;
    double part = depth / checker->scene->length;
    if (depth <= 0) return;
    result->touching++;
    checker->depth_sum += part;
    result->impact = fmax(result->impact, part);
    if (settled) result->settled = fmax(result->settled, part);
}

static int cell_along(const Grid *grid, double x, double low, int axis)
{
    double k = floor((x - low) / grid->cell);
    return k < 0 ? 0 : (k >= grid->n[axis] ? grid->n[axis] - 1 : (int)k);
}

static int cell_index(const Grid *grid, int i, int j, int k)
{
    return (k * grid->n[1] + j) * grid->n[0] + i;
}

/* Sorts bodies into cells. A body far outside, or NaN, is put into a cell at the border, where everything is still
 * compared. */
static void grid_fill(Checker *checker, const BodyState *states)
{
    Grid *grid = &checker->grid;
    int n = checker->scene->n_bodies;
    double low[3] = {1e3, 1e3, 1e3}, high[3] = {-1e3, -1e3, -1e3};
    for (int i = 0; i < n; i++) {
        double p[3];
        vec3_store(p, states[i].pose.p);
        for (int k = 0; k < 3; k++)
            low[k] = fmin(low[k], fmax(p[k], -1e3)), high[k] = fmax(high[k], fmin(p[k], 1e3));
    }
    grid->low = vec3_load(low);
    grid->cell = fmax(2 * checker->radius, 1e-9);
    for (int k = 0; k < 3; k++) {
        double cells = floor((high[k] - low[k]) / grid->cell) + 1;
        grid->n[k] = cells > MOST_CELLS ? MOST_CELLS : (int)fmax(cells, 1);
    }
    int n_cells = grid->n[0] * grid->n[1] * grid->n[2];
    if (n_cells + 1 > grid->capacity) {
        grid->capacity = 2 * n_cells + 1;
        free(grid->first);
        grid->first = malloc((size_t)grid->capacity * sizeof *grid->first);
        if (grid->first == NULL) exit(1);
    }
    memset(grid->first, 0, ((size_t)n_cells + 1) * sizeof *grid->first);
    for (int i = 0; i < n; i++) {
        st_Vec3 p = states[i].pose.p;
        int c = cell_index(grid, cell_along(grid, p.x, low[0], 0), cell_along(grid, p.y, low[1], 1),
                           cell_along(grid, p.z, low[2], 2));
        grid->cell_of[i] = c;
        grid->first[c + 1]++;
    }
    for (int c = 0; c < n_cells; c++)
        grid->first[c + 1] += grid->first[c];
    for (int i = n - 1; i >= 0; i--)
        grid->order[--grid->first[grid->cell_of[i] + 1]] = i;
    /* first[c + 1] now is where cell c begins: shift back */
    memmove(grid->first, grid->first + 1, (size_t)n_cells * sizeof *grid->first);
    grid->first[n_cells] = n;
}

static void check_against_cell(Checker *checker, const BodyState *states, int body, int cell, bool settled)
{
    const Scene *scene = checker->scene;
    const Grid *grid = &checker->grid;
    for (int k = grid->first[cell]; k < grid->first[cell + 1]; k++) {
        int other = grid->order[k];
        if (other <= body || scene->bodies[other].shape.type == SHAPE_NONE) continue;
        if (scene->bodies[body].mass + scene->bodies[other].mass == 0) continue;
        if (checker->joined != NULL && checker->joined[body * scene->n_bodies + other]) continue;
        double reach = scene->bodies[body].shape.radius + scene->bodies[other].shape.radius;
        st_Vec3 a = pose_point(states[body].pose, scene->bodies[body].shape.offset);
        st_Vec3 b = pose_point(states[other].pose, scene->bodies[other].shape.offset), apart = sub(b, a);
        if (!(dot(apart, apart) < reach * reach)) continue;
        note_depth(checker, depth_pair(scene, body, states[body].pose, other, states[other].pose), settled);
    }
}

static void check_overlaps(Checker *checker, const BodyState *states, bool settled)
{
    const Scene *scene = checker->scene;
    const Grid *grid = &checker->grid;
    checker->depth_sum = 0;
    checker->result.touching = 0;
    grid_fill(checker, states);
    for (int body = 0; body < scene->n_bodies; body++) {
        int c = grid->cell_of[body], at[3] = {c % grid->n[0], c / grid->n[0] % grid->n[1], c / grid->n[0] / grid->n[1]};
        if (scene->bodies[body].shape.type == SHAPE_NONE) continue;
        for (int p = 0; p < scene->n_planes && scene->bodies[body].mass > 0; p++)
            note_depth(checker, depth_plane(scene, body, states[body].pose, &scene->planes[p]), settled);
        for (int near = 0; near < 27; near++) {
            int i = at[0] + near % 3 - 1, j = at[1] + near / 3 % 3 - 1, k = at[2] + near / 9 - 1;
            if (i < 0 || j < 0 || k < 0 || i >= grid->n[0] || j >= grid->n[1] || k >= grid->n[2]) continue;
            check_against_cell(checker, states, body, cell_index(grid, i, j, k), settled);
        }
    }
    checker->result.mean = checker->result.touching > 0 ? checker->depth_sum / checker->result.touching : 0;
}

/* ---- exact results ---------------------------------------------------------------------------- */

static double figure(const Checker *checker, double t, const BodyState *states)
{
    const Scene *scene = checker->scene;
    st_Vec3 lost = sub(checker->start[0].velocity, states[0].velocity);
    st_Vec3 moved = sub(states[0].pose.p, checker->start[0].pose.p);
    switch (scene->measure) {
    case MEASURE_REST:
        return checker->result.drift;
    case MEASURE_CREEP:
        return hypot(moved.x, moved.y);
    case MEASURE_SPEED:
        return fabs(norm(states[0].velocity) / scene->exact - 1);
    case MEASURE_MU:
        return norm(lost) / (norm(scene->gravity) * t);
    case MEASURE_ENERGY:
        return fabs(energy(checker, states) / scene->exact - 1);
    case MEASURE_STRETCH:
        return stretch_error(checker, states);
    case MEASURE_NONE:
        break;
    }
    return 0;
}

void checker_step(Checker *checker, double t, const BodyState *states, bool last)
{
    const Scene *scene = checker->scene;
    Accuracy *result = &checker->result;
    check_overlaps(checker, states, t > scene->settled);
    for (int k = 0; k < scene->n_joints; k++)
        result->joint_error = fmax(result->joint_error, joint_error(checker, states, k));
    if (scene->measure == MEASURE_REST)
        for (int i = 0; i < scene->n_bodies; i++)
            result->drift = fmax(result->drift, norm(sub(states[i].pose.p, checker->start[i].pose.p)));

    double now = energy(checker, states),
           since = scene->conserves ? fabs(now - checker->energy_start) : now - checker->energy_low;
    checker->energy_low = fmin(checker->energy_low, now);
    result->gain += fmax(now - checker->energy_last, 0) / checker->weight;
    checker->energy_last = now;
    if (t > scene->end - fmin(1, 0.25 * scene->end))
        result->kinetic = fmax(result->kinetic, kinetic(scene, states) / checker->weight);
    result->energy = fmax(result->energy, since / checker->energy_scale);
    if (last) result->figure = figure(checker, t, states);
}

/* ---- life ------------------------------------------------------------------------------------- */

/* The scale of energies, unless the scene has another: the kinetic energy, and the potential energy of all bodies
 * above height 0. */
static double energy_scale(const Scene *scene)
{
    double sum = 0;
    for (int i = 0; i < scene->n_bodies; i++) {
        const Body *body = &scene->bodies[i];
        sum += body->mass * (0.5 * dot(body->velocity, body->velocity) + norm(scene->gravity) * fabs(body->pose.p.z));
    }
    return sum > 0 ? sum : 1;
}

/* The smallest diameter of a body. */
static double diameter(const Scene *scene, const Shape *shape)
{
    switch (shape->type) {
    case SHAPE_SPHERE:
    case SHAPE_HULL:
        return 2 * shape->radius;
    case SHAPE_BOX:
        return 2 * fmin(shape->half.x, fmin(shape->half.y, shape->half.z));
    case SHAPE_CAPSULE:
        return 2 * shape->half.x;
    case SHAPE_CYLINDER:
        return 2 * fmin(shape->half.x, shape->half.z);
    case SHAPE_NONE:
        break;
    }
    return 2 * scene->length;
}

static double weight_times_diameter(const Scene *scene)
{
    double mass = 0, sum = 0;
    int n = 0;
    for (int i = 0; i < scene->n_bodies; i++) {
        if (scene->bodies[i].mass == 0) continue;
        mass += scene->bodies[i].mass;
        sum += diameter(scene, &scene->bodies[i].shape);
        n++;
    }
    return mass * norm(scene->gravity) * sum / n;
}

Checker *checker_create(const Scene *scene)
{
    Checker *checker = calloc(1, sizeof *checker);
    size_t n = (size_t)scene->n_bodies, joints = (size_t)scene->n_joints;
    if (checker == NULL) exit(1);
    checker->scene = scene;
    checker->start = calloc(n + 1, sizeof *checker->start);
    checker->grid.order = calloc(n + 1, sizeof *checker->grid.order);
    checker->grid.cell_of = calloc(n + 1, sizeof *checker->grid.cell_of);
    checker->frame_a = calloc(joints + 1, sizeof *checker->frame_a);
    checker->frame_b = calloc(joints + 1, sizeof *checker->frame_b);
    checker->joined = joints > 0 ? calloc(n * n, sizeof *checker->joined) : NULL;
    if (checker->start == NULL || checker->grid.order == NULL || checker->grid.cell_of == NULL ||
        checker->frame_a == NULL || checker->frame_b == NULL || (joints > 0 && checker->joined == NULL))
        exit(1);
    for (int i = 0; i < scene->n_bodies; i++) {
        const Body *body = &scene->bodies[i];
        checker->start[i] = (BodyState){body->pose, body->velocity, body->spin};
        checker->radius = fmax(checker->radius, body->shape.radius + norm(body->shape.offset));
    }
    for (int k = 0; k < scene->n_joints; k++) {
        const Joint *joint = &scene->joints[k];
        st_Pose frame = {joint->point, joint->type == JOINT_BALL ? ground.q : quat_from_z(joint->axis)};
        checker->frame_a[k] = frame_in(pose_of(checker->start, joint->a), frame);
        checker->frame_b[k] = frame_in(pose_of(checker->start, joint->b), frame);
        if (joint->a >= 0)
            checker->joined[joint->a * scene->n_bodies + joint->b] =
                checker->joined[joint->b * scene->n_bodies + joint->a] = true;
    }
    checker->energy_start = checker->energy_low = checker->energy_last = energy(checker, checker->start);
    checker->weight = weight_times_diameter(scene);
    checker->energy_scale = scene->energy > 0 ? scene->energy : energy_scale(scene);
    return checker;
}

Accuracy checker_result(const Checker *checker)
{
    return checker->result;
}

void checker_destroy(Checker *checker)
{
    if (checker == NULL) return;
    free(checker->grid.first);
    free(checker->grid.order);
    free(checker->grid.cell_of);
    free(checker->start);
    free(checker->frame_a);
    free(checker->frame_b);
    free(checker->joined);
    free(checker);
}
