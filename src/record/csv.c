/* A table of a run: one line for the start (step length 0), then one line a step.
 *
 * Comma separated, 17 significant digits, so that reading a number back gives the same bits. Lines
 * reach the file about twice a second and whenever the buffer is full: a run that is killed leaves
 * what it had, and a full disk whole lines.
 */
#include "base/clock.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <errno.h>
#include <stiction/io.h>
#include <string.h>

#define BUFFER_SIZE    65536
#define FLUSH_INTERVAL 0.5 /* [s] */

struct st_Csv {
    st_Allocator allocator;
    FILE *file;
    char *path;
    int64_t path_size;
    char *buffer;
    int n_bodies, n_joints, n_springs;
    st_BodyLoad *load; /* n_bodies */
    double flushed;    /* when, by the monotonic clock [s]; it never decides a number */
};

static const char *const step_columns[] = {"t",          "h",         "contacts",    "collisions",
                                           "iterations", "residual",  "penetration", "joint_error",
                                           "kinetic",    "potential", "total"};
static const char *const last_columns[] = {"joint_residual", "friction_work", "force_time"};
static const char *const body_columns[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const joint_columns[] = {"coordinate", "speed",  "fx",    "fy",    "fz",
                                            "tx",         "ty",     "tz",    "motor", "friction",
                                            "limit",      "spring", "error", "other", "other_speed"};
static const char *const spring_columns[] = {"length", "rate", "force"};
static const char *const contact_columns[] = {"contact_fx", "contact_fy", "contact_fz"};
#define N_STEP_COLUMNS  (int)(sizeof step_columns / sizeof step_columns[0])
#define N_BODY_COLUMNS  (int)(sizeof body_columns / sizeof body_columns[0])
#define N_JOINT_COLUMNS (int)(sizeof joint_columns / sizeof joint_columns[0])

static st_Status write_titles(st_Csv *csv, const st_Scene *scene)
{
    for (int k = 0; k < N_STEP_COLUMNS; k++)
        fprintf(csv->file, k > 0 ? ",%s" : "%s", step_columns[k]);
    for (int i = 1; i <= csv->n_bodies; i++) {
        st_BodyDef body;
        STI_TRY(st_scene_body(scene, (st_BodyId){i}, &body));
        for (int k = 0; k < N_BODY_COLUMNS; k++)
            sti_write_title(csv->file, body.name, body_columns[k]);
    }
    for (int i = 1; i <= csv->n_joints; i++) {
        st_JointDef joint;
        STI_TRY(st_scene_joint(scene, (st_JointId){i}, &joint));
        for (int k = 0; k < N_JOINT_COLUMNS; k++)
            sti_write_title(csv->file, joint.name, joint_columns[k]);
    }
    for (int i = 1; i <= csv->n_springs; i++) {
        st_SpringDef spring;
        STI_TRY(st_scene_spring(scene, (st_SpringId){i}, &spring));
        for (int k = 0; k < 3; k++)
            sti_write_title(csv->file, spring.name, spring_columns[k]);
    }
    for (int i = 1; i <= csv->n_bodies; i++) {
        st_BodyDef body;
        STI_TRY(st_scene_body(scene, (st_BodyId){i}, &body));
        for (int k = 0; k < 3; k++)
            sti_write_title(csv->file, body.name, contact_columns[k]);
    }
    for (int k = 0; k < 3; k++)
        fprintf(csv->file, ",%s", last_columns[k]);
    fputc('\n', csv->file);
    return ST_OK;
}

static void release(st_Csv *csv)
{
    st_Allocator allocator = csv->allocator;
    sti_free(&allocator, csv->path, csv->path_size, 1);
    sti_free(&allocator, csv->buffer, BUFFER_SIZE, 1);
    sti_free(&allocator, csv->load, csv->n_bodies + 1, sizeof *csv->load);
    sti_free(&allocator, csv, 1, sizeof *csv);
}

st_Status st_csv_open(const char *path, const st_System *system, const st_Scene *scene, st_Csv **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    if (path == NULL || system == NULL || scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_csv_open: path, system, scene and out must not be NULL");
    *out = NULL;
    st_Csv *csv = sti_alloc(&allocator, 1, sizeof *csv);
    if (csv == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    csv->allocator = allocator;
    csv->n_bodies = st_scene_body_count(scene);
    csv->n_joints = st_scene_joint_count(scene);
    csv->n_springs = st_scene_spring_count(scene);
    csv->load = sti_alloc(&allocator, csv->n_bodies + 1, sizeof *csv->load);
    csv->path_size = (int64_t)strlen(path) + 1;
    csv->path = sti_alloc(&allocator, csv->path_size, 1);
    csv->buffer = sti_alloc(&allocator, BUFFER_SIZE, 1);
    st_Status status = csv->path != NULL && csv->buffer != NULL && csv->load != NULL
                           ? sti_file_grow(path, "t,h,", &csv->file, err)
                           : sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) {
        memcpy(csv->path, path, (size_t)csv->path_size);
        setvbuf(csv->file, csv->buffer, _IOFBF, BUFFER_SIZE);
        status = write_titles(csv, scene);
        if (status != ST_OK) fclose(csv->file);
    }
    if (status != ST_OK) {
        release(csv);
        return status;
    }
    csv->flushed = -FLUSH_INTERVAL; /* the first line goes out at once: a full disk shows before the run */
    *out = csv;
    return ST_OK;
}

static st_Status write_body(FILE *file, const st_System *system, st_BodyId body, st_Error *err)
{
    st_Pose pose = {0};
    st_Vec3 v = {0}, w = {0};
    if (st_system_pose(system, body, &pose) != ST_OK || st_system_velocity(system, body, &v, &w) != ST_OK)
        return sti_fail(err, ST_ERR_ARGUMENT, "the system has no body number %d: not the one the table was opened for",
                        body.index1);
    double values[] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z,
                       v.x,      v.y,      v.z,      w.x,      w.y,      w.z};
    sti_write_numbers(file, values, N_BODY_COLUMNS);
    return ST_OK;
}

/* What the joint transmits to b, world axes, and how it stands. */
static st_Status write_joint(FILE *file, const st_System *system, st_JointId joint, st_Error *err)
{
    st_JointReport r;
    if (st_system_joint(system, joint, ST_FRAME_WORLD, &r) != ST_OK)
        return sti_fail(err, ST_ERR_ARGUMENT, "the system has no joint number %d: not the one the table was opened for",
                        joint.index1);
    const double known = r.struck ? NAN : 1; /* a step that holds an impact has no force */
    double values[] = {r.coordinate,
                       r.speed,
                       known * r.force.x,
                       known * r.force.y,
                       known * r.force.z,
                       known * r.torque.x,
                       known * r.torque.y,
                       known * r.torque.z,
                       r.motor,
                       r.friction,
                       known * r.limit,
                       r.spring,
                       r.error,
                       r.other,
                       r.other_speed};
    sti_write_numbers(file, values, N_JOINT_COLUMNS);
    return ST_OK;
}

static st_Status write_spring(FILE *file, const st_System *system, st_SpringId spring, st_Error *err)
{
    st_SpringReport r;
    if (st_system_spring(system, spring, &r) != ST_OK)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the system has no spring number %d: not the one the table was opened for", spring.index1);
    const double values[] = {r.length, r.rate, r.force};
    sti_write_numbers(file, values, 3);
    return ST_OK;
}

st_Status st_csv_write(st_Csv *csv, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    char text[STI_NUMBER_SIZE];
    if (csv == NULL || system == NULL || info == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_csv_write: csv, system and info must not be NULL");
    errno = 0;
    fputs(sti_number(text, info->time, 17), csv->file);
    sti_write_numbers(csv->file, &info->h, 1);
    fprintf(csv->file, ",%d,%d,%d", info->contacts, info->collisions, info->solve.iterations);
    double values[] = {
        info->solve.residual.natural,   info->penetration, info->joint_error, info->kinetic, info->potential,
        info->kinetic + info->potential};
    sti_write_numbers(csv->file, values, 6);
    for (int i = 1; i <= csv->n_bodies; i++)
        STI_TRY(write_body(csv->file, system, (st_BodyId){i}, err));
    for (int i = 1; i <= csv->n_joints; i++)
        STI_TRY(write_joint(csv->file, system, (st_JointId){i}, err));
    for (int i = 1; i <= csv->n_springs; i++)
        STI_TRY(write_spring(csv->file, system, (st_SpringId){i}, err));
    STI_TRY(st_system_loads(system, csv->load, csv->n_bodies, err));
    for (int i = 0; i < csv->n_bodies; i++) {
        const st_Vec3 f = csv->load[i].force[ST_LOAD_CONTACT];
        const double known = csv->load[i].struck ? NAN : 1, force[] = {known * f.x, known * f.y, known * f.z};
        sti_write_numbers(csv->file, force, 3);
    }
    const double last[] = {info->solve.residual.joint, info->friction, info->h > 0 ? info->force_time : info->time};
    sti_write_numbers(csv->file, last, 3);
    fputc('\n', csv->file);
    double now = sti_seconds_now();
    if (now - csv->flushed > FLUSH_INTERVAL) {
        fflush(csv->file);
        csv->flushed = now;
    }
    return ferror(csv->file) ? sti_file_failed(csv->path, err) : ST_OK;
}

st_Status st_csv_close(st_Csv *csv, st_Error *err)
{
    if (csv == NULL) return ST_OK;
    st_Status status = sti_file_close_lines(csv->file, csv->path, err);
    release(csv);
    return status;
}
