/* The columns of a table of a run: their names, and their values after a step. Used by tables (csv.c), parameter
 * studies and others.
 *
 *     step columns | bodies x body columns | joints x ... | springs x ... | bodies x load columns | last columns
 *     | values of measures
 */
#include "record/columns.h"

#include "base/assert.h"
#include "base/base.h"

#include <stdio.h>
#include <stiction/grains.h>
#include <string.h>

typedef enum Owner { OF_STEP, OF_BODY, OF_JOINT, OF_SPRING } Owner;

static const char *const step_columns[] = {"t",          "h",         "contacts",    "collisions",
                                           "iterations", "residual",  "penetration", "joint_error",
                                           "kinetic",    "potential", "total",       NULL};
const char *const sti_body_columns[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                        "vx", "vy", "vz", "wx", "wy", "wz", NULL};
const char *const sti_joint_columns[] = {"coordinate", "speed", "fx",          "fy",       "fz",    "tx",
                                         "ty",         "tz",    "motor",       "friction", "limit", "spring",
                                         "error",      "other", "other_speed", "gear",     NULL};
const char *const sti_spring_columns[] = {"length", "rate", "force", "fx", "fy", "fz", "tx", "ty", "tz", NULL};
const char *const sti_load_columns[] = {"contact_fx", "contact_fy", "contact_fz", "impact_x",
                                        "impact_y",   "impact_z",   NULL};
const char *const sti_last_columns[] = {"joint_residual", "friction_work", "force_time", "work",        "damping",
                                        "impacts",        "correction",    "scheme",     "unexplained", NULL};

static const struct {
    Owner owner;
    const char *const *names;
} group[] = {{OF_STEP, step_columns},         {OF_BODY, sti_body_columns}, {OF_JOINT, sti_joint_columns},
             {OF_SPRING, sti_spring_columns}, {OF_BODY, sti_load_columns}, {OF_STEP, sti_last_columns}};
#define N_GROUPS (int)(sizeof group / sizeof group[0])

struct st_Columns {
    st_Allocator allocator;
    const st_Scene *scene;
    int n_owners[4];   /* number of owners of each kind; the step counts as one */
    st_BodyLoad *load; /* one for each body */
    int n_measures;
};

/* The name of value number `index` over all measures in order; NULL after the last. With index < 0, *count is the
 * number of values. */
static const char *measured_title(const st_Columns *columns, int64_t index, const char **owner, int64_t *count)
{
    int64_t at = 0;
    for (int k = 0; k < columns->n_measures; k++) {
        st_MeasureDef measure;
        const char *name;
        if (st_scene_measure(columns->scene, k, &measure) != ST_OK) break;
        for (int i = 0; (name = st_measure_value_name(measure.type, i, NULL)) != NULL; i++)
            if (at++ == index) {
                *owner = measure.name;
                return name;
            }
    }
    if (count != NULL) *count = at;
    return NULL;
}

static int width(int g)
{
    int n = 0;
    while (group[g].names[n] != NULL)
        n++;
    return n;
}

st_Status st_columns_create(const st_Scene *scene, st_Columns **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    if (scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_columns_create: scene and out must not be NULL");
    *out = NULL;
    st_Columns *columns = sti_alloc(&allocator, 1, sizeof *columns);
    if (columns == NULL) return sti_fail(err, ST_ERR_MEMORY, "st_columns_create: out of memory");
    *columns = (st_Columns){
        .allocator = allocator,
        .scene = scene,
        .n_measures = st_scene_measure_count(scene),
        .n_owners = {1, st_scene_body_count(scene), st_scene_joint_count(scene), st_scene_spring_count(scene)}};
    columns->load = sti_alloc(&allocator, columns->n_owners[OF_BODY] + 1, sizeof *columns->load);
    if (columns->load == NULL) {
        st_columns_destroy(columns);
        return sti_fail(err, ST_ERR_MEMORY, "st_columns_create: out of memory");
    }
    *out = columns;
    return ST_OK;
}

void st_columns_destroy(st_Columns *columns)
{
    if (columns == NULL) return;
    st_Allocator allocator = columns->allocator;
    sti_free(&allocator, columns->load, columns->n_owners[OF_BODY] + 1, sizeof *columns->load);
    sti_free(&allocator, columns, 1, sizeof *columns);
}

int64_t st_columns_count(const st_Columns *columns)
{
    int64_t n = 0;
    for (int g = 0; columns != NULL && g < N_GROUPS; g++)
        n += (int64_t)columns->n_owners[group[g].owner] * width(g);
    int64_t measured = 0;
    if (columns != NULL) (void)measured_title(columns, -1, NULL, &measured);
    return n + measured;
}

static const char *owner_name(const st_Columns *columns, Owner owner, int id)
{
    st_BodyDef body;
    st_JointDef joint;
    st_SpringDef spring;
    if (owner == OF_BODY && st_scene_body(columns->scene, (st_BodyId){id}, &body) == ST_OK) return body.name;
    if (owner == OF_JOINT && st_scene_joint(columns->scene, (st_JointId){id}, &joint) == ST_OK) return joint.name;
    if (owner == OF_SPRING && st_scene_spring(columns->scene, (st_SpringId){id}, &spring) == ST_OK) return spring.name;
    return "";
}

const char *sti_column_title(const st_Columns *columns, int64_t index, const char **owner)
{
    for (int g = 0; g < N_GROUPS && index >= 0; g++) {
        const int w = width(g);
        const int64_t n = (int64_t)columns->n_owners[group[g].owner] * w;
        if (index < n) {
            *owner = group[g].owner == OF_STEP ? NULL : owner_name(columns, group[g].owner, (int)(index / w) + 1);
            return group[g].names[index % w];
        }
        index -= n;
    }
    return measured_title(columns, index, owner, NULL);
}

size_t st_columns_name(const st_Columns *columns, int64_t index, char *out, size_t size)
{
    const char *owner = NULL, *name = columns != NULL ? sti_column_title(columns, index, &owner) : NULL;
    if (name == NULL) return 0;
    const int n =
        snprintf(out, out != NULL ? size : 0, "%s%s%s", owner != NULL ? owner : "", owner != NULL ? "." : "", name);
    return n > 0 ? (size_t)n : 0;
}

int64_t st_columns_find(const st_Columns *columns, const char *name)
{
    const int64_t n = name != NULL ? st_columns_count(columns) : 0;
    for (int64_t k = 0; k < n; k++) {
        const char *owner = NULL, *own = sti_column_title(columns, k, &owner);
        const size_t length = owner != NULL ? strlen(owner) : 0;
        if (owner == NULL
                ? strcmp(name, own) == 0
                : strncmp(name, owner, length) == 0 && name[length] == '.' && strcmp(name + length + 1, own) == 0)
            return k;
    }
    return -1;
}

static st_Status no_such(const char *what, int id, st_Error *err)
{
    return sti_fail(err, ST_ERR_ARGUMENT,
                    "the system has no %s number %d: it is not the system that the table was opened for", what, id);
}

static double *append_column(double *to, const double *values, int n)
{
    memcpy(to, values, (size_t)n * sizeof *to);
    return to + n;
}
#define APPEND(to, ...)                                                                                                \
    append_column((to), (const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

st_Status st_columns_values(st_Columns *columns, const st_System *system, const st_StepInfo *info, double *values,
                            st_Error *err)
{
    if (columns == NULL || system == NULL || info == NULL || values == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_columns_values: columns, system, info and values must not be NULL");
    double *to = values;
    to = APPEND(to, info->time, info->h, info->contacts, info->collisions, info->solve.iterations,
                info->solve.residual.natural, info->penetration, info->joint_error, info->kinetic, info->potential,
                info->kinetic + info->potential);
    for (int i = 1; i <= columns->n_owners[OF_BODY]; i++) {
        st_Pose pose = {0};
        st_Vec3 v = {0}, w = {0};
        if (st_system_pose(system, (st_BodyId){i}, &pose) != ST_OK ||
            st_system_velocity(system, (st_BodyId){i}, &v, &w) != ST_OK)
            return no_such("body", i, err);
        if (!st_system_present(system, (st_BodyId){i})) pose.p = (st_Vec3){NAN, NAN, NAN};
        to = APPEND(to, pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z, v.x, v.y, v.z, w.x, w.y,
                    w.z);
    }
    for (int i = 1; i <= columns->n_owners[OF_JOINT]; i++) {
        st_JointReport r;
        if (st_system_joint(system, (st_JointId){i}, ST_FRAME_WORLD, &r) != ST_OK) return no_such("joint", i, err);
        const double known = r.struck ? NAN : 1; /* in a step with an impact the force is not defined */
        to = APPEND(to, r.coordinate, r.speed, known * r.force.x, known * r.force.y, known * r.force.z,
                    known * r.torque.x, known * r.torque.y, known * r.torque.z, r.motor, r.friction, known * r.limit,
                    r.spring, r.error, r.other, r.other_speed, known * r.gear);
    }
    for (int i = 1; i <= columns->n_owners[OF_SPRING]; i++) {
        st_SpringReport r;
        if (st_system_spring(system, (st_SpringId){i}, &r) != ST_OK) return no_such("spring", i, err);
        const st_Vec3 f = r.force_on_b, t = r.torque_on_b;
        to = APPEND(to, r.length, r.rate, r.force, f.x, f.y, f.z, t.x, t.y, t.z);
    }
    STI_TRY(st_system_loads(system, columns->load, columns->n_owners[OF_BODY], err));
    for (int i = 0; i < columns->n_owners[OF_BODY]; i++) {
        const st_Vec3 f = columns->load[i].force[ST_LOAD_CONTACT], impact = columns->load[i].impulse;
        const double known = columns->load[i].struck ? NAN : 1;
        to = APPEND(to, known * f.x, known * f.y, known * f.z, impact.x, impact.y, impact.z);
    }
    to = APPEND(to, info->solve.residual.joint, info->friction, info->h > 0 ? info->force_time : info->time, info->work,
                info->damping, info->impacts, info->correction, info->scheme, info->unexplained);
    for (int k = 0; k < columns->n_measures; k++) {
        double measured[ST_MEASURE_VALUES];
        int n = 0;
        STI_TRY(st_system_measure(system, k, measured, &n, err));
        to = append_column(to, measured, n);
    }
    ST_ASSERT(to - values == st_columns_count(columns));
    return ST_OK;
}
