/* record/export_csv.c -- writes a recording as a table: one line per frame, with the columns of record/csv.c, except
 * the impulses of impacts on bodies, which are not recorded. */
#include "record/columns.h"
#include "record/curves.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <stiction/io.h>

typedef struct Table {
    FILE *file;
    int n_bodies, n_joints, n_springs;
    st_Vec3 *position, *velocity, *spin;
    st_Quat *orientation;
    int n_values; /* values of measures */
    double *measured;
    st_RecordedJoint *joint;
    st_RecordedSpring *spring;
    st_RecordedContact *contact;
    int64_t contact_capacity;
    double (*force)[3]; /* of contacts, on each body */
} Table;

/* Titles of the columns of all bodies, joints or springs. most: columns of each; 0: all. */
static void write_titles(const Table *t, const json_t *list, int n, const char *const *columns, int most)
{
    for (int k = 0; k < n; k++) {
        const char *name = json_string_value(json_object_get(json_array_get(list, (size_t)k), "name"));
        for (int i = 0; columns[i] != NULL && (most == 0 || i < most); i++)
            sti_write_title(t->file, name != NULL ? name : "?", columns[i]);
    }
}

/* The mean forces of contacts in the step of a frame; NaN: they cannot be separated from an impact. */
static st_Status read_contact_forces(Table *t, st_Recording *recording, const st_RecordedFrame *frame, double h,
                                     st_Error *err)
{
    const st_Allocator a = st_default_allocator();
    STI_TRY(STI_GROW(&a, t->contact, t->contact_capacity, frame->n_contacts, err));
    STI_TRY(st_recording_contacts(recording, frame->first_contact, frame->n_contacts, t->contact, err));
    memset(t->force, 0, ((size_t)t->n_bodies + 1) * sizeof *t->force);
    for (int c = 0; c < frame->n_contacts; c++) {
        const st_RecordedContact *contact = &t->contact[c];
        double impulse = 0, impact = 0;
        for (int i = 0; i < 3; i++)
            impulse += fabs(contact->impulse[i]), impact += fabs(contact->impact[i]);
        const bool known = h > 0 && !(impact > 0 && impulse == 0);
        for (int i = 0; i < 3; i++) {
            const double force = known ? contact->impulse[i] / h : NAN;
            t->force[contact->b][i] += force;
            t->force[contact->a][i] -= force;
        }
    }
    return ST_OK;
}

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
    STI_TRY(st_recording_joints(recording, index, t->joint, err));
    for (int k = 0; k < t->n_joints; k++) {
        const st_RecordedJoint *j = &t->joint[k];
        const double values[] = {j->coordinate, j->speed,     j->force[0],    j->force[1], j->force[2], j->torque[0],
                                 j->torque[1],  j->torque[2], j->motor,       j->friction, j->limit,    j->spring,
                                 j->error,      j->other,     j->other_speed, j->gear};
        sti_write_numbers(t->file, values, 16);
    }
    STI_TRY(st_recording_springs(recording, index, t->spring, err));
    for (int k = 0; k < t->n_springs; k++) {
        const st_RecordedSpring *x = &t->spring[k];
        const double values[] = {x->length, x->rate, x->force};
        sti_write_numbers(t->file, values, 3);
        sti_write_numbers(t->file, x->force_on_b, 3);
        sti_write_numbers(t->file, x->torque_on_b, 3);
    }
    STI_TRY(read_contact_forces(t, recording, &frame, s.force_h > 0 ? s.force_h : s.h, err));
    for (int b = 1; b <= t->n_bodies; b++)
        sti_write_numbers(t->file, t->force[b], STI_CONTACT_FORCE_COLUMNS);
    const double last[] = {s.joint_residual, s.friction, s.h > 0 ? s.force_time : s.time,
                           s.work,           s.damping,  s.impacts,
                           s.correction,     s.scheme,   s.unexplained};
    sti_write_numbers(t->file, last, 9);
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
    Table t = {.n_bodies = info->n_bodies,
               .n_joints = info->n_joints,
               .n_springs = info->n_springs,
               .n_values = info->n_values};
    t.joint = sti_alloc(&a, t.n_joints + 1, sizeof *t.joint);
    t.spring = sti_alloc(&a, t.n_springs + 1, sizeof *t.spring);
    t.force = sti_alloc(&a, n, sizeof *t.force);
    t.measured = sti_alloc(&a, t.n_values + 1, sizeof *t.measured);
    t.position = sti_alloc(&a, n, sizeof *t.position);
    t.velocity = sti_alloc(&a, n, sizeof *t.velocity);
    t.spin = sti_alloc(&a, n, sizeof *t.spin);
    t.orientation = sti_alloc(&a, n, sizeof *t.orientation);
    st_Status status = ST_OK;
    if (t.position == NULL || t.velocity == NULL || t.spin == NULL || t.orientation == NULL || t.measured == NULL ||
        t.joint == NULL || t.spring == NULL || t.force == NULL)
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) status = sti_file_open(path, &t.file, err);
    if (t.file != NULL) {
        json_t *model = json_loads(info->model, 0, NULL), *bodies = json_object_get(model, "bodies");
        fputs("t,h,contacts,collisions,iterations,residual,penetration,joint_error,kinetic,potential,total", t.file);
        write_titles(&t, bodies, t.n_bodies, sti_body_columns, 0);
        write_titles(&t, json_object_get(model, "joints"), t.n_joints, sti_joint_columns, 0);
        write_titles(&t, json_object_get(model, "springs"), t.n_springs, sti_spring_columns, 0);
        write_titles(&t, bodies, t.n_bodies, sti_load_columns, STI_CONTACT_FORCE_COLUMNS);
        for (int k = 0; sti_last_columns[k] != NULL; k++)
            fprintf(t.file, ",%s", sti_last_columns[k]);
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
    sti_free(&a, t.joint, t.n_joints + 1, sizeof *t.joint);
    sti_free(&a, t.spring, t.n_springs + 1, sizeof *t.spring);
    sti_free(&a, t.contact, t.contact_capacity, sizeof *t.contact);
    sti_free(&a, t.force, n, sizeof *t.force);
    return status;
}
