#include "record/hdf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *path;
    int width;
} tables[STI_N_TABLES] = {
    [STI_FRAMES] = {"/frames/index", 0},
    [STI_STEPS] = {"/steps", 0},
    [STI_CONTACTS] = {"/contacts", 0},
    [STI_EVENTS] = {"/events", 0},
    [STI_CHECKPOINTS] = {"/checkpoints/index", 0},
    [STI_STATES] = {"/checkpoints/states", 0},
    [STI_POSITION] = {"/frames/position", 3},
    [STI_ORIENTATION] = {"/frames/orientation", 4},
    [STI_VELOCITY] = {"/frames/velocity", 3},
    [STI_SPIN] = {"/frames/spin", 3},
    [STI_JOINTS] = {"/frames/joints", 0},
    [STI_SPRINGS] = {"/frames/springs", 0},
    [STI_MEASURES] = {"/frames/measures", 0},
};

const char *sti_table_path(sti_Table table)
{
    return tables[table].path;
}

int sti_table_width(sti_Table table)
{
    return tables[table].width;
}

int sti_table_rank(sti_Table table)
{
    return table == STI_JOINTS || table == STI_SPRINGS || table == STI_MEASURES ? 2 : tables[table].width > 0 ? 3 : 1;
}

/* A field of a row: name, offset, type (D double, F float, I int32, L int64, U uint64, S16 ... text), and count; 0:
 * one. */
typedef struct Field {
    const char *name;
    size_t offset;
    char kind;
    int count;
} Field;

#define FIELD(type, name, kind, count)                                                                                 \
    {                                                                                                                  \
#name, offsetof(type, name), kind, count                                                                       \
    }

static const Field frame_fields[] = {
    FIELD(st_RecordedFrame, time, 'D', 0),
    FIELD(st_RecordedFrame, step, 'L', 0),
    FIELD(st_RecordedFrame, first_contact, 'L', 0),
    FIELD(st_RecordedFrame, n_contacts, 'I', 0),
    {0},
};
static const Field step_fields[] = {
    FIELD(st_RecordedStep, time, 'D', 0),
    FIELD(st_RecordedStep, h, 'D', 0),
    FIELD(st_RecordedStep, contacts, 'I', 0),
    FIELD(st_RecordedStep, collisions, 'I', 0),
    FIELD(st_RecordedStep, iterations, 'I', 0),
    FIELD(st_RecordedStep, overlapping, 'I', 0),
    FIELD(st_RecordedStep, asleep, 'I', 0),
    FIELD(st_RecordedStep, converged, 'I', 0),
    FIELD(st_RecordedStep, solver, 'S', 16),
    FIELD(st_RecordedStep, residual, 'D', 0),
    FIELD(st_RecordedStep, penetration, 'D', 0),
    FIELD(st_RecordedStep, joint_error, 'D', 0),
    FIELD(st_RecordedStep, kinetic, 'D', 0),
    FIELD(st_RecordedStep, potential, 'D', 0),
    FIELD(st_RecordedStep, wall, 'D', 0),
    FIELD(st_RecordedStep, joint_residual, 'D', 0),
    FIELD(st_RecordedStep, friction, 'D', 0),
    FIELD(st_RecordedStep, force_time, 'D', 0),
    FIELD(st_RecordedStep, force_h, 'D', 0),
    FIELD(st_RecordedStep, struck, 'I', 0),
    FIELD(st_RecordedStep, work, 'D', 0),
    FIELD(st_RecordedStep, damping, 'D', 0),
    FIELD(st_RecordedStep, impacts, 'D', 0),
    FIELD(st_RecordedStep, correction, 'D', 0),
    FIELD(st_RecordedStep, scheme, 'D', 0),
    FIELD(st_RecordedStep, unexplained, 'D', 0),
    {0},
};
static const Field contact_fields[] = {
    FIELD(st_RecordedContact, id, 'U', 0),     FIELD(st_RecordedContact, a, 'I', 0),
    FIELD(st_RecordedContact, b, 'I', 0),      FIELD(st_RecordedContact, point, 'D', 3),
    FIELD(st_RecordedContact, normal, 'D', 3), FIELD(st_RecordedContact, impulse, 'D', 3),
    FIELD(st_RecordedContact, impact, 'D', 3), FIELD(st_RecordedContact, velocity, 'D', 3),
    FIELD(st_RecordedContact, gap, 'D', 0),    {0},
};
static const Field stored_contact_fields[] = {
    FIELD(sti_StoredContact, id, 'U', 0),     FIELD(sti_StoredContact, a, 'I', 0),
    FIELD(sti_StoredContact, b, 'I', 0),      FIELD(sti_StoredContact, point, 'F', 3),
    FIELD(sti_StoredContact, normal, 'F', 3), FIELD(sti_StoredContact, impulse, 'F', 3),
    FIELD(sti_StoredContact, impact, 'F', 3), FIELD(sti_StoredContact, velocity, 'F', 3),
    FIELD(sti_StoredContact, gap, 'F', 0),    {0},
};
static const Field event_fields[] = {
    FIELD(st_RecordedEvent, time, 'D', 0),
    FIELD(st_RecordedEvent, step, 'L', 0),
    FIELD(st_RecordedEvent, kind, 'S', 16),
    FIELD(st_RecordedEvent, a, 'I', 0),
    FIELD(st_RecordedEvent, b, 'I', 0),
    FIELD(st_RecordedEvent, point, 'D', 3),
    FIELD(st_RecordedEvent, normal, 'D', 3),
    FIELD(st_RecordedEvent, before, 'D', 0),
    FIELD(st_RecordedEvent, after, 'D', 0),
    FIELD(st_RecordedEvent, impulse, 'D', 0),
    {0},
};
static const Field checkpoint_fields[] = {
    FIELD(st_RecordedCheckpoint, time, 'D', 0),  FIELD(st_RecordedCheckpoint, step, 'L', 0),
    FIELD(st_RecordedCheckpoint, hash, 'U', 0),  FIELD(st_RecordedCheckpoint, offset, 'L', 0),
    FIELD(st_RecordedCheckpoint, bytes, 'L', 0), {0},
};
static const Field joint_fields[] = {
    FIELD(st_RecordedJoint, force, 'D', 3),
    FIELD(st_RecordedJoint, torque, 'D', 3),
    FIELD(st_RecordedJoint, coordinate, 'D', 0),
    FIELD(st_RecordedJoint, speed, 'D', 0),
    FIELD(st_RecordedJoint, other, 'D', 0),
    FIELD(st_RecordedJoint, other_speed, 'D', 0),
    FIELD(st_RecordedJoint, motor, 'D', 0),
    FIELD(st_RecordedJoint, error, 'D', 0),
    FIELD(st_RecordedJoint, friction, 'D', 0),
    FIELD(st_RecordedJoint, limit, 'D', 0),
    FIELD(st_RecordedJoint, spring, 'D', 0),
    FIELD(st_RecordedJoint, gear, 'D', 0),
    {0},
};
static const Field spring_fields[] = {
    FIELD(st_RecordedSpring, length, 'D', 0),      FIELD(st_RecordedSpring, rate, 'D', 0),
    FIELD(st_RecordedSpring, force, 'D', 0),       FIELD(st_RecordedSpring, force_on_b, 'D', 3),
    FIELD(st_RecordedSpring, torque_on_b, 'D', 3), {0},
};
static const Field summary_fields[] = {
    FIELD(sti_Summary, outcome, 'S', 16),
    FIELD(sti_Summary, message, 'S', 512),
    FIELD(sti_Summary, wall, 'D', 0),
    FIELD(sti_Summary, stage_seconds, 'D', ST_N_PARTS),
    {0},
};

/* The type of one field; the caller closes it. Negative: HDF5 is out of memory. */
static hid_t field_type(const Field *field)
{
    hid_t base = H5T_NATIVE_DOUBLE;
    hsize_t count = (hsize_t)field->count;
    if (field->kind == 'S') {
        hid_t text = H5Tcopy(H5T_C_S1);
        if (text < 0 || H5Tset_size(text, (size_t)field->count) >= 0) return text;
        H5Tclose(text);
        return -1;
    }
    if (field->kind == 'F') base = H5T_NATIVE_FLOAT;
    if (field->kind == 'I') base = H5T_NATIVE_INT32;
    if (field->kind == 'L') base = H5T_NATIVE_INT64;
    if (field->kind == 'U') base = H5T_NATIVE_UINT64;
    return count > 0 ? H5Tarray_create2(base, 1, &count) : H5Tcopy(base);
}

/* All or nothing: a type that lacks a field would read and write the others and silently drop that one. */
static hid_t compound_type(size_t size, const Field *fields)
{
    hid_t type = H5Tcreate(H5T_COMPOUND, size);
    bool ok = type >= 0;
    for (const Field *field = fields; ok && field->name != NULL; field++) {
        hid_t member = field_type(field);
        ok = member >= 0 && H5Tinsert(type, field->name, field->offset, member) >= 0;
        if (member >= 0) H5Tclose(member);
    }
    if (ok || type < 0) return type;
    H5Tclose(type);
    return -1;
}

hid_t sti_table_type(sti_Table table)
{
    switch (table) {
    case STI_FRAMES:
        return compound_type(sizeof(st_RecordedFrame), frame_fields);
    case STI_STEPS:
        return compound_type(sizeof(st_RecordedStep), step_fields);
    case STI_CONTACTS:
        return compound_type(sizeof(st_RecordedContact), contact_fields);
    case STI_EVENTS:
        return compound_type(sizeof(st_RecordedEvent), event_fields);
    case STI_CHECKPOINTS:
        return compound_type(sizeof(st_RecordedCheckpoint), checkpoint_fields);
    case STI_STATES:
        return H5Tcopy(H5T_NATIVE_UINT8);
    case STI_JOINTS:
        return compound_type(sizeof(st_RecordedJoint), joint_fields);
    case STI_SPRINGS:
        return compound_type(sizeof(st_RecordedSpring), spring_fields);
    case STI_POSITION:
    case STI_ORIENTATION:
    case STI_VELOCITY:
    case STI_SPIN:
    case STI_MEASURES:
    case STI_N_TABLES:
        break;
    }
    return H5Tcopy(H5T_NATIVE_DOUBLE);
}

hid_t sti_table_file_type(sti_Table table)
{
    return table == STI_CONTACTS ? compound_type(STI_STORED_CONTACT, stored_contact_fields) : sti_table_type(table);
}

hid_t sti_summary_type(void)
{
    return compound_type(sizeof(sti_Summary), summary_fields);
}

sti_Quiet sti_quiet_begin(void)
{
    sti_Quiet quiet = {NULL, NULL};
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void sti_quiet_end(sti_Quiet quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

#define REASON_SIZE 1024

static herr_t keep_reason(unsigned depth, const H5E_error2_t *error, void *out)
{
    if (depth == 0 && error->desc != NULL) snprintf(out, REASON_SIZE, "%s", error->desc);
    return 0;
}

const char *sti_hdf_reason(char *out, size_t size)
{
    char reason[REASON_SIZE] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_reason, reason);
    /* "file write failed: time = ..., error message = 'No space left on device', ..." */
    const char *message = strstr(reason, "error message = '"), *end;
    if (message != NULL && (end = strchr(message + 17, '\'')) != NULL)
        snprintf(out, size, "%.*s", (int)(end - message - 17), message + 17);
    else if (reason[0] != '\0')
        snprintf(out, size, "%.*s", (int)strcspn(reason, "\n"), reason);
    else
        /* calls that only free something have cleared HDF5's error; errno may still be set */
        snprintf(out, size, "%s",
                 errno == EIO || errno == ENOSPC || errno == EFBIG || errno == EDQUOT || errno == EROFS ||
                         errno == ENOMEM
                     ? strerror(errno)
                     : "HDF5 gives no reason");
    return out;
}
