/* record/export_csv.c -- writes a recording as a table: one line per frame, with the columns of record/csv.c. */
#include "record/curves.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <stiction/io.h>

typedef struct Table {
    FILE *file;
    int n_bodies;
    st_Vec3 *position, *velocity, *spin;
    st_Quat *orientation;
    int n_values; /* values of measures */
    double *measured;
} Table;

static st_Status write_frame(Table *t, st_Recording *recording, int64_t index, st_Error *err)
{
    st_RecordedFrame frame;
    st_RecordedStep s;
    char text[STI_NUMBER_SIZE];
    STI_TRY(st_recording_frames(recording, index, 1, &frame, err));
    STI_TRY(st_recording_steps(recording, frame.step, 1, &s, err));
    STI_TRY(st_recording_bodies(recording, index, t->position, t->orientation, t->velocity, t->spin, err));
    fputs(sti_number(text, frame.time, 17), t->file);
    sti_write_numbers(t->file, &s.h, 1);
    fprintf(t->file, ",%d,%d,%d", s.contacts, s.collisions, s.iterations);
    double numbers[] = {s.residual, s.penetration, s.joint_error, s.kinetic, s.potential, s.kinetic + s.potential};
    sti_write_numbers(t->file, numbers, 6);
    for (int b = 0; b < t->n_bodies; b++) {
        st_Vec3 p = t->position[b], v = t->velocity[b], w = t->spin[b];
        st_Quat q = t->orientation[b];
        double values[] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z};
        sti_write_numbers(t->file, values, 13);
    }
    STI_TRY(st_recording_measures(recording, index, t->measured, err));
    if (t->n_values > 0) sti_write_numbers(t->file, t->measured, (int64_t)t->n_values);
    fputc('\n', t->file);
    return ST_OK;
}

st_Status st_recording_write_csv(st_Recording *recording, const char *path, st_Error *err)
{
    st_Allocator a = st_default_allocator();
    if (recording == NULL || path == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_write_csv: recording and path must be given");
    const st_RecordingInfo *info = st_recording_info(recording);
    int64_t n = info->n_bodies + 1;
    Table t = {.n_bodies = info->n_bodies, .n_values = info->n_values};
    t.measured = sti_alloc(&a, t.n_values + 1, sizeof *t.measured);
    t.position = sti_alloc(&a, n, sizeof *t.position);
    t.velocity = sti_alloc(&a, n, sizeof *t.velocity);
    t.spin = sti_alloc(&a, n, sizeof *t.spin);
    t.orientation = sti_alloc(&a, n, sizeof *t.orientation);
    st_Status status = ST_OK;
    if (t.position == NULL || t.velocity == NULL || t.spin == NULL || t.orientation == NULL || t.measured == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) status = sti_file_open(path, &t.file, err);
    if (t.file != NULL) {
        static const char *const columns[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                              "vx", "vy", "vz", "wx", "wy", "wz"};
        json_t *model = json_loads(info->model, 0, NULL), *bodies = json_object_get(model, "bodies");
        fputs("t,h,contacts,collisions,iterations,residual,penetration,joint_error,kinetic,potential,total", t.file);
        for (int b = 0; b < t.n_bodies; b++) {
            const char *name = json_string_value(json_object_get(json_array_get(bodies, (size_t)b), "name"));
            for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
                sti_write_title(t.file, name != NULL ? name : "?", columns[k]);
        }
        sti_MeasuredName at;
        for (int k = 0; k < t.n_values && sti_measured_name(model, k, &at); k++)
            sti_write_title(t.file, at.measure, at.value);
        fputc('\n', t.file);
        json_decref(model);

        for (int64_t k = 0; k < info->n_frames && status == ST_OK && !ferror(t.file); k++)
            status = write_frame(&t, recording, k, err);
        if (status == ST_OK)
            status = sti_file_close(t.file, path, err);
        else
            sti_file_give_up(t.file, path);
    }
    sti_free(&a, t.position, n, sizeof *t.position);
    sti_free(&a, t.velocity, n, sizeof *t.velocity);
    sti_free(&a, t.spin, n, sizeof *t.spin);
    sti_free(&a, t.orientation, n, sizeof *t.orientation);
    sti_free(&a, t.measured, t.n_values + 1, sizeof *t.measured);
    return status;
}
