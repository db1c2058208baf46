/* step/measure.c -- the measures of a scene, as used in simulations of grains.
 *
 * bulk: grains whose centre is in the region, of volume V, and contacts whose point is in it. With F the force on b of
 * a contact from a to b, l the branch from the centre of a to that of b (from the contact, if one of them does not
 * move), u = v - mean velocity:
 *
 *     stress         s = (1/V) ( sum over contacts F l' + sum over grains m u u' ), made symmetric: compression is
 *                    positive; Love 1927, Weber 1966, and the kinetic part of coarse graining (Goldhirsch 2010)
 *     temperature    mean of |u|^2 / 3, weighted by mass
 *     coordination   loaded contacts of the grains in the region, per grain
 *     strong, chain  share of the contacts whose force is above the mean; grains in the largest cluster that these
 *                    connect, over all: near 1 if force chains percolate (Radjai et al. 1998)
 *
 * Forces are the impulses of the last step, including impacts, over its length: a mean over the step. After a step that
 * was cancelled or failed they are not known (NaN). */
#include "step/flow.h"

#include "grains/grains.h"
#include "step/on_device.h"
#include "step/step.h"

#include <stdlib.h>

#define REPOSE_RINGS 16 /* around the axis of a heap */
#define BULK_FORCES  7  /* bulk: this value and those after it follow from forces */

typedef struct Value {
    const char *name, *unit;
} Value;

static const Value flow_values[] = {{"mass", "kg"}, {"number", ""}, {NULL, NULL}};
static const Value bulk_values[] = {{"number", ""},
                                    {"mass", "kg"},
                                    {"packing_fraction", ""},
                                    {"vx", "m/s"},
                                    {"vy", "m/s"},
                                    {"vz", "m/s"},
                                    {"temperature", "m^2/s^2"},
                                    {"coordination", ""},
                                    {"stress_xx", "Pa"},
                                    {"stress_yy", "Pa"},
                                    {"stress_zz", "Pa"},
                                    {"stress_xy", "Pa"},
                                    {"stress_xz", "Pa"},
                                    {"stress_yz", "Pa"},
                                    {"pressure", "Pa"},
                                    {"force_mean", "N"},
                                    {"force_max", "N"},
                                    {"strong", ""},
                                    {"chain", ""},
                                    {NULL, NULL}};
static const Value wall_values[] = {{"fx", "N"},   {"fy", "N"},   {"fz", "N"},      {"force", "N"}, {"tx", "N m"},
                                    {"ty", "N m"}, {"tz", "N m"}, {"contacts", ""}, {NULL, NULL}};
static const Value repose_values[] = {{"angle", "rad"}, {"height", "m"}, {"radius", "m"}, {NULL, NULL}};
static const Value position_values[] = {{"x", "m"}, {"y", "m"}, {"z", "m"}, {NULL, NULL}};
static const Value orientation_values[] = {{"qw", ""}, {"qx", ""}, {"qy", ""}, {"qz", ""}, {NULL, NULL}};
static const Value axis_values[] = {{"x", ""}, {"y", ""}, {"z", ""}, {NULL, NULL}};
static const Value velocity_values[] = {{"vx", "m/s"}, {"vy", "m/s"}, {"vz", "m/s"}, {NULL, NULL}};
static const Value spin_values[] = {{"wx", "rad/s"}, {"wy", "rad/s"}, {"wz", "rad/s"}, {NULL, NULL}};
static const Value acceleration_values[] = {{"ax", "m/s^2"}, {"ay", "m/s^2"}, {"az", "m/s^2"}, {NULL, NULL}};
static const Value turning_values[] = {
    {"alpha_x", "rad/s^2"}, {"alpha_y", "rad/s^2"}, {"alpha_z", "rad/s^2"}, {NULL, NULL}};
static const Value force_values[] = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {NULL, NULL}};
static const Value torque_values[] = {{"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}, {NULL, NULL}};
static const Value touch_values[] = {{"force", "N"}, {NULL, NULL}};
static const Value range_values[] = {{"distance", "m"}, {NULL, NULL}};
static const Value momentum_values[] = {{"Lx", "kg m^2/s"}, {"Ly", "kg m^2/s"}, {"Lz", "kg m^2/s"}, {NULL, NULL}};
static const Value coordinate_values[] = {{"value", "m or rad"}, {NULL, NULL}};
static const Value speed_values[] = {{"value", "m/s or rad/s"}, {NULL, NULL}};
static const Value effort_values[] = {{"value", "N or N m"}, {NULL, NULL}};
static const Value time_values[] = {{"value", "s"}, {NULL, NULL}};
static const Value energy_values[] = {{"kinetic", "J"}, {"potential", "J"}, {NULL, NULL}};
static const struct {
    const char *name;
    const Value *values;
} types[ST_N_MEASURE_TYPES] = {
    [ST_MEASURE_FLOW] = {"flow", flow_values},
    [ST_MEASURE_BULK] = {"bulk", bulk_values},
    [ST_MEASURE_WALL] = {"wall", wall_values},
    [ST_MEASURE_REPOSE] = {"repose", repose_values},
    [ST_MEASURE_POSITION] = {"position", position_values},
    [ST_MEASURE_ORIENTATION] = {"orientation", orientation_values},
    [ST_MEASURE_AXIS] = {"axis", axis_values},
    [ST_MEASURE_VELOCITY] = {"velocity", velocity_values},
    [ST_MEASURE_ANGULAR_VELOCITY] = {"angular_velocity", spin_values},
    [ST_MEASURE_ACCELERATION] = {"acceleration", acceleration_values},
    [ST_MEASURE_ANGULAR_ACCELERATION] = {"angular_acceleration", turning_values},
    [ST_MEASURE_FORCE] = {"force", force_values},
    [ST_MEASURE_TORQUE] = {"torque", torque_values},
    [ST_MEASURE_TOUCH] = {"touch", touch_values},
    [ST_MEASURE_RANGE] = {"range", range_values},
    [ST_MEASURE_CENTRE] = {"centre", position_values},
    [ST_MEASURE_CENTRE_VELOCITY] = {"centre_velocity", velocity_values},
    [ST_MEASURE_ANGULAR_MOMENTUM] = {"angular_momentum", momentum_values},
    [ST_MEASURE_COORDINATE] = {"coordinate", coordinate_values},
    [ST_MEASURE_SPEED] = {"speed", speed_values},
    [ST_MEASURE_MOTOR] = {"motor", effort_values},
    [ST_MEASURE_LIMIT] = {"limit", effort_values},
    [ST_MEASURE_TIME] = {"time", time_values},
    [ST_MEASURE_ENERGY] = {"energy", energy_values},
};

const char *st_measure_type_name(st_MeasureType type)
{
    return (unsigned)type < ST_N_MEASURE_TYPES ? types[type].name : NULL;
}

const char *st_measure_value_name(st_MeasureType type, int k, const char **unit)
{
    const Value *of = (unsigned)type < ST_N_MEASURE_TYPES ? types[type].values : NULL;
    int n = 0;
    while (of != NULL && of[n].name != NULL)
        n++;
    if (k < 0 || k >= n) return NULL;
    if (unit != NULL) *unit = of[k].unit;
    return of[k].name;
}

/* ---- made with the system ------------------------------------------------------------------------- */

/* Volume of the shapes of a body: mass over density, or that of its spheres. */
static double region_volume(const sti_World *world, int body)
{
    const st_Scene *scene = world->scene;
    double volume = 0;
    for (int k = scene->first_shape[body]; k >= 0; k = scene->next_shape[k]) {
        const st_ShapeDef *def = sti_shape_def(scene, k);
        const sti_CachedMass *mass = &scene->shape_cache.mass[scene->cached_shape[k]];
        if (def->type == ST_SHAPE_SPHERE)
            volume += 4 * STI_PI / 3 * def->radius * def->radius * def->radius;
        else if (mass->known && def->density > 0)
            volume += mass->of.mass / def->density;
    }
    return volume;
}

static st_Status find_wall(const sti_World *world, const sti_MeasureEntry *measure, sti_Measured *out, st_Error *err)
{
    const st_Scene *scene = world->scene;
    out->wall = sti_names_find(&scene->names[STI_BODY], 0, measure->wall);
    out->shape = -1;
    if (out->wall < 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "measure \"%s\": wall is \"%s\", there is no body of that name",
                        measure->name, measure->wall);
    if (measure->shape == NULL) return ST_OK;
    out->shape = sti_names_find(&scene->names[STI_SHAPE], out->wall, measure->shape);
    if (out->shape >= 0) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "measure \"%s\": shape is \"%s\", body \"%s\" has none of that name",
                    measure->name, measure->shape, measure->wall);
}

st_Status sti_measures_create(const sti_Model *model, sti_StepWork *work, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    const st_Allocator *a = &model->allocator;
    sti_Flow *flow = work->flow;
    flow->measured = sti_alloc(a, scene->n_measures + 1, sizeof *flow->measured);
    flow->totals = sti_alloc(a, 2 * scene->n_measures + 1, sizeof *flow->totals);
    if (flow->measured == NULL || flow->totals == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d measures", scene->n_measures);
    for (int k = 0; k < scene->n_measures; k++) {
        const sti_MeasureEntry *measure = &scene->measure[k];
        sti_Measured *of = &flow->measured[k];
        if (measure->type >= ST_FIRST_SENSOR) {
            STI_TRY(sti_sensor_create(model, measure, of, err));
            continue;
        }
        of->member = sti_alloc(a, world->n_bodies, sizeof *of->member);
        of->inside = sti_alloc(a, world->n_bodies, sizeof *of->inside);
        if (of->member == NULL || of->inside == NULL)
            return sti_fail(err, ST_ERR_MEMORY, "out of memory for measure \"%s\"", measure->name);
        int n = 0;
        for (int b = 1; b < sti_first_rotor(world); b++) {
            const char *name = world->scene->names[STI_BODY].name[b];
            of->member[b] =
                world->body[b].n_dofs > 0 && (measure->bodies == NULL || sti_name_matches(measure->bodies, name));
            n += of->member[b];
        }
        if (measure->type == ST_MEASURE_WALL) STI_TRY(find_wall(world, measure, of, err));
        if (n == 0 && measure->bodies != NULL)
            return sti_fail(err, ST_ERR_ARGUMENT, "measure \"%s\": bodies is \"%s\", no moving body has such a name",
                            measure->name, measure->bodies);
    }
    return ST_OK;
}

void sti_measures_destroy(const sti_Model *model, sti_StepWork *work)
{
    const st_Allocator *a = &model->allocator;
    sti_Flow *flow = work->flow;
    const int n = model->world->scene->n_measures, n_bodies = model->world->n_bodies;
    for (int k = 0; k < n && flow->measured != NULL; k++) {
        sti_free(a, flow->measured[k].member, n_bodies, sizeof *flow->measured[k].member);
        sti_free(a, flow->measured[k].inside, n_bodies, sizeof *flow->measured[k].inside);
    }
    sti_free(a, flow->measured, n + 1, sizeof *flow->measured);
    sti_free(a, flow->totals, 2 * n + 1, sizeof *flow->totals);
}

/* ---- flow: bodies that cross the boundary of a region in a step ---------------------------------------- */

static bool is_inside(const sti_Model *model, const sti_State *state, const st_RegionDef *region,
                      const sti_Measured *of, int body)
{
    return of->member[body] && !sti_is_absent(model->world, body) &&
           st_region_holds(region, cell_image(&model->world->scene->cell, sti_pose(state->q, body).p));
}

/* Is the body in the region? Along a periodic axis a plane has images a cell apart: how many of them it is below. */
static int flow_inside(const sti_Model *model, const sti_State *state, const st_RegionDef *region,
                       const sti_Measured *of, int body)
{
    const sti_Cell *cell = &model->world->scene->cell;
    const st_Vec3 n = rotate(region->pose.q, vec3(0, 0, 1));
    for (int e = 0; cell->repeats && region->type == ST_REGION_HALF_SPACE && e < 3; e++) {
        if (!(cell->length[e] > 0) || fabs(dot(n, vec3_axis(e))) < 1 - 1e-12) continue;
        if (!of->member[body] || sti_is_absent(model->world, body)) return 0;
        return -(int)floor(dot(n, sub(sti_pose(state->q, body).p, region->pose.p)) / cell->length[e]);
    }
    return is_inside(model, state, region, of, body);
}

void sti_measures_before_step(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    const sti_World *world = model->world;
    for (int k = 0; k < world->scene->n_measures; k++) {
        const sti_MeasureEntry *measure = &world->scene->measure[k];
        sti_Measured *of = &work->flow->measured[k];
        sti_sensor_before_step(model, state, measure, of);
        for (int b = 1; b < world->n_bodies && measure->type == ST_MEASURE_FLOW; b++)
            of->inside[b] = flow_inside(model, state, &measure->region, of, b);
    }
}

void sti_measures_after_step(const sti_Model *model, sti_State *state, sti_StepWork *work)
{
    const sti_World *world = model->world;
    for (int k = 0; k < world->scene->n_measures; k++) {
        const sti_MeasureEntry *measure = &world->scene->measure[k];
        const sti_Measured *of = &work->flow->measured[k];
        double *total = &work->flow->totals[2 * k];
        for (int b = 1; b < world->n_bodies && measure->type == ST_MEASURE_FLOW; b++) {
            const int change = flow_inside(model, state, &measure->region, of, b) - of->inside[b];
            total[0] += change * world->values.body[b].mass;
            total[1] += change;
        }
    }
}

/* ---- bulk --------------------------------------------------------------------------------------------- */

/* The time over which the impulses of the last step act; 0: there are none. */
static double impulse_time(const sti_StepWork *work)
{
    return work->on_device != NULL ? sti_device_force_time(work) : sti_force_time(work);
}

/* True if the system has moved and the impulses of its last step are not known. */
static bool has_forgotten(const sti_State *state, const sti_StepWork *work)
{
    return !state->fresh && (work->on_device != NULL ? !work->device_has_state : work->step.problem.n_v == 0);
}

/* On b, in the mean over the step, with impacts. */
static st_Vec3 mean_force(const st_ContactReport *c, double h)
{
    st_Vec3 r = scale(c->impulse[0], c->normal);
    if (c->dim > 1) r = add(r, scale(c->impulse[1], c->tangent));
    if (c->dim > 2) r = add(r, scale(c->impulse[2], cross(c->normal, c->tangent)));
    return scale(1 / h, r);
}

/* A loaded contact, in compression or, with adhesion, in tension; with the force on b. */
typedef struct Carrier {
    int a, b;
    st_Vec3 point, force;
} Carrier;

/* The loaded contacts of the last step whose point is in the region (NULL: anywhere). */
static st_Status list_carriers(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                               const st_RegionDef *region, Carrier **out, int *n, int64_t *capacity, st_Error *err)
{
    const double h = impulse_time(work);
    *n = 0;
    for (int k = 0; k < sti_contact_count(work) && h > 0; k++) {
        st_ContactReport c;
        if (sti_contact_report(model, state, work, k, &c) != ST_OK || c.joint.index1 > 0 || c.impulse[0] == 0) continue;
        if (region != NULL && !st_region_holds(region, cell_image(&model->world->scene->cell, c.point))) continue;
        STI_TRY(STI_GROW(&model->allocator, *out, *capacity, *n + 1, err));
        (*out)[(*n)++] = (Carrier){c.a.index1, c.b.index1, c.point, mean_force(&c, h)};
    }
    return ST_OK;
}

/* Root of a body in a forest of clusters. */
static int root_of(int *above, int body)
{
    while (above[body] != body)
        body = above[body] = above[above[body]];
    return body;
}

static st_Status measure_bulk(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                              const sti_MeasureEntry *measure, const sti_Measured *of, double *out, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Allocator *a = &model->allocator;
    const double space = st_region_volume(&measure->region);
    double number = 0, mass = 0, volume = 0, stress[3][3] = {{0}};
    st_Vec3 momentum = {0, 0, 0}, linear, w;
    for (int b = 1; b < world->n_bodies; b++) {
        if (!is_inside(model, state, &measure->region, of, b)) continue;
        sti_body_velocity(&world->body[b], state->v, &linear, &w);
        number++;
        mass += world->values.body[b].mass;
        volume += region_volume(world, b);
        momentum = add(momentum, scale(world->values.body[b].mass, linear));
    }
    const st_Vec3 mean = mass > 0 ? scale(1 / mass, momentum) : momentum;
    double heat = 0;
    for (int b = 1; b < world->n_bodies; b++) {
        if (!is_inside(model, state, &measure->region, of, b)) continue;
        sti_body_velocity(&world->body[b], state->v, &linear, &w);
        const st_Vec3 u = sub(linear, mean);
        const double x[3] = {u.x, u.y, u.z};
        heat += world->values.body[b].mass * dot(u, u);
        for (int i = 0; i < 9; i++)
            stress[i / 3][i % 3] += world->values.body[b].mass * x[i / 3] * x[i % 3];
    }
    Carrier *carrier = NULL;
    int64_t capacity = 0;
    int n = 0, strong = 0, cluster = 0;
    double ends = 0, sum = 0, largest = 0;
    st_Status status = list_carriers(model, state, work, &measure->region, &carrier, &n, &capacity, err);
    for (int k = 0; k < n && status == ST_OK; k++) {
        const Carrier *c = &carrier[k];
        const st_Vec3 from = of->member[c->a] ? sti_pose(state->q, c->a).p : c->point;
        const st_Vec3 to = of->member[c->b] ? sti_pose(state->q, c->b).p : c->point, l = sti_lever(world, to, from);
        const double f[3] = {c->force.x, c->force.y, c->force.z}, x[3] = {l.x, l.y, l.z};
        for (int i = 0; i < 9; i++)
            stress[i / 3][i % 3] += f[i / 3] * x[i % 3];
        ends +=
            is_inside(model, state, &measure->region, of, c->a) + is_inside(model, state, &measure->region, of, c->b);
        sum += norm(c->force);
        largest = fmax(largest, norm(c->force));
    }
    int *room = sti_alloc(a, 2 * (int64_t)world->n_bodies, sizeof *room);
    if (status == ST_OK && room == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "out of memory for measure \"%s\"", measure->name);
    if (status == ST_OK) {
        for (int k = 0; k < n; k++)
            strong += norm(carrier[k].force) > sum / n;
        /* Bodies in the largest cluster that strong contacts connect. */
        int *size = room + world->n_bodies;
        for (int b = 0; b < world->n_bodies; b++)
            room[b] = b, size[b] = 1;
        for (int k = 0; k < n; k++) {
            const int one = carrier[k].a, b = carrier[k].b;
            if (norm(carrier[k].force) <= (n > 0 ? sum / n : 0) || world->body[one].n_dofs == 0 ||
                world->body[b].n_dofs == 0)
                continue;
            const int x = root_of(room, one), y = root_of(room, b);
            if (x == y) continue;
            room[y] = x;
            size[x] += size[y];
            cluster = size[x] > cluster ? size[x] : cluster;
        }
        const double s[6] = {stress[0][0],
                             stress[1][1],
                             stress[2][2],
                             (stress[0][1] + stress[1][0]) / 2,
                             (stress[0][2] + stress[2][0]) / 2,
                             (stress[1][2] + stress[2][1]) / 2};
        const double values[] = {number,
                                 mass,
                                 volume / space,
                                 mean.x,
                                 mean.y,
                                 mean.z,
                                 mass > 0 ? heat / mass / 3 : 0,
                                 number > 0 ? ends / number : 0,
                                 s[0] / space,
                                 s[1] / space,
                                 s[2] / space,
                                 s[3] / space,
                                 s[4] / space,
                                 s[5] / space,
                                 (s[0] + s[1] + s[2]) / 3 / space,
                                 n > 0 ? sum / n : 0,
                                 largest,
                                 n > 0 ? (double)strong / n : 0,
                                 number > 0 ? cluster / number : 0};
        memcpy(out, values, sizeof values);
        for (size_t k = BULK_FORCES; has_forgotten(state, work) && k < sizeof values / sizeof *values; k++)
            out[k] = NAN;
    }
    sti_free(a, room, 2 * (int64_t)world->n_bodies, sizeof *room);
    STI_RELEASE(a, carrier, capacity);
    return status;
}

/* ---- wall --------------------------------------------------------------------------------------------- */

/* ---- repose ------------------------------------------------------------------------------------------- */

st_Status st_system_measure(const st_System *system, int index, double *values, int *count, st_Error *err)
{
    STI_NEED(system, err);
    STI_NEED(values, err);
    const sti_World *world = system->model.world;
    if (system->work.flow == NULL || index < 0 || index >= world->scene->n_measures)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_system_measure: there is no measure number %d", index);
    STI_TRY(sti_device_fetch(&system->model, &system->state, &system->work, err));
    const sti_MeasureEntry *measure = &world->scene->measure[index];
    const sti_Measured *of = &system->work.flow->measured[index];
    for (int n = 0; count != NULL && (n == 0 || st_measure_value_name(measure->type, n - 1, NULL) != NULL); n++)
        *count = n;
    switch (measure->type) {
    case ST_MEASURE_FLOW:
        memcpy(values, &system->work.flow->totals[2 * index], 2 * sizeof *values);
        break;
    case ST_MEASURE_BULK:
        return measure_bulk(&system->model, &system->state, &system->work, measure, of, values, err);
    case ST_MEASURE_WALL: {
        const double h = impulse_time(&system->work);
        const st_Vec3 about = sti_pose(system->state.q, of->wall).p;
        st_Vec3 force = {0, 0, 0}, torque = {0, 0, 0};
        double contacts = 0;
        for (int k = 0; k < sti_contact_count(&system->work) && h > 0; k++) {
            st_ContactReport c;
            if (sti_contact_report(&system->model, &system->state, &system->work, k, &c) != ST_OK || c.joint.index1 > 0)
                continue;
            const bool is_b = c.b.index1 == of->wall;
            const int other = is_b ? c.a.index1 : c.b.index1, shape = (is_b ? c.shape_b.index1 : c.shape_a.index1) - 1;
            if ((!is_b && c.a.index1 != of->wall) || !of->member[other]) continue;
            if (of->shape >= 0 && shape != of->shape) continue;
            const st_Vec3 f = scale(is_b ? 1 : -1, mean_force(&c, h));
            force = add(force, f);
            torque = add(torque, cross(sti_lever(system->model.world, c.point, about), f));
            contacts += c.impulse[0] != 0;
        }
        const double sums[] = {force.x, force.y, force.z, norm(force), torque.x, torque.y, torque.z, contacts};
        memcpy(values, sums, sizeof sums);
        for (size_t k = 0; has_forgotten(&system->state, &system->work) && k < sizeof sums / sizeof *sums; k++)
            values[k] = NAN;
    } break;
    case ST_MEASURE_REPOSE: {
        /* The tops of grains in rings about the region's z axis: the angle of the line through those between a fifth
         * and four fifths of the height of the heap, above the lowest point of the region. */
        const double floor = -sti_region_half(&measure->region).z;
        double height = 0, radius = 0, top[REPOSE_RINGS] = {0};
        for (int pass = 0; pass < 2; pass++)
            for (int b = 1; b < world->n_bodies; b++) {
                if (!is_inside(&system->model, &system->state, &measure->region, of, b)) continue;
                const st_Vec3 p =
                    rotate_back(measure->region.pose.q, sub(sti_pose(system->state.q, b).p, measure->region.pose.p));
                const double r = hypot(p.x, p.y), z = p.z - floor + world->collider.body_reach[b];
                const int ring = radius > 0 ? (int)fmin(r / radius * REPOSE_RINGS, REPOSE_RINGS - 1) : 0;
                if (pass == 0) {
                    height = fmax(height, z);
                    radius = fmax(radius, r);
                } else {
                    top[ring] = fmax(top[ring], z);
                }
            }
        double n = 0, x = 0, y = 0, xx = 0, xy = 0;
        for (int k = 0; k < REPOSE_RINGS; k++) {
            const double r = (k + 0.5) / REPOSE_RINGS * radius;
            if (top[k] < 0.2 * height || top[k] > 0.8 * height) continue;
            n++, x += r, y += top[k], xx += r * r, xy += r * top[k];
        }
        const double across = n * xx - x * x;
        values[0] = n >= 2 && across > 0 ? atan(-(n * xy - x * y) / across) : 0;
        values[1] = height;
        values[2] = radius;
    } break;
    default:
        return sti_sensor_read(&system->model, &system->state,
                               (sti_StepWork *)&system->work, /* energies are kept in it */
                               measure, of, values, err);
    }
    return ST_OK;
}
