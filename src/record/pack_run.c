/* record/pack_run.c -- selects and rounds the part of a recording that goes into the viewer page.
 *
 * Positions are rounded to 2^-20 of the extent of the motion, orientations to 2^-15, contact points and normals to
 * 2^-16 of the extent, and forces to 2^-16 of the largest force in their frame. This is finer than a screen can
 * show. A recording with more poses or contacts than the limit is thinned: every n-th frame is kept, with contacts
 * for every n-th of those. For steps that are left out the worst residual, gap and count are kept.
 */
#include "record/pack.h"

#include <stdlib.h>
#include <stiction/io.h>

#define DEFAULT_LIMIT 2000000 /* body poses                       */
#define MOST_FRAMES   20000
#define MOST_STEPS    20000
#define MOST_EVENTS   2000
#define BATCH         4096 /* steps read at once */
#define POSITION_BITS 20
#define TURN          32767.0 /* integer for a quaternion component of 1 */

typedef struct Packer {
    st_Recording *recording;
    const st_RecordingInfo *info;
    sti_Pack pack;
    st_Allocator allocator;
    int64_t stride, n_kept;    /* every stride-th frame, number of frames kept */
    int64_t contact_stride;    /* every contact_stride-th of these has contacts */
    int64_t n_steps, contacts; /* numbers kept */
    double h;                  /* step length of the settings */
    st_RecordedFrame *frame;   /* n_kept                               */
    double *frame_h;           /* n_kept: length of the step that ended there */
    st_Vec3 lo, hi;            /* bounds of positions */
    double size;
    st_Vec3 *position; /* n_bodies */
    st_Quat *orientation;
    json_t *header;
} Packer;

/* The index of kept frame number k; the last kept frame is the last of the recording. */
static int64_t frame_at(const Packer *p, int64_t k)
{
    int64_t frame = k * p->stride;
    return k == p->n_kept - 1 || frame > p->info->n_frames - 1 ? p->info->n_frames - 1 : frame;
}

/* ---- poses -------------------------------------------------------------------------------------- */

static st_Status pack_poses(Packer *p, st_Error *err)
{
    int n = p->info->n_bodies;
    int64_t row = 7 * (int64_t)n, count = row * p->n_kept;
    double quantum = ldexp(p->size, -POSITION_BITS);
    int32_t *values = sti_alloc(&p->allocator, count + 1, sizeof *values);
    if (values == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %lld poses", (long long)(count / 7));
    st_Status status = ST_OK;
    for (int64_t k = 0; k < p->n_kept && status == ST_OK; k++) {
        status = st_recording_bodies(p->recording, frame_at(p, k), p->position, p->orientation, NULL, NULL, err);
        for (int b = 0; b < n && status == ST_OK; b++) {
            int32_t *out = values + k * row + 7 * b;
            st_Vec3 x = p->position[b];
            const double q[4] = {p->orientation[b].w, p->orientation[b].x, p->orientation[b].y, p->orientation[b].z};
            double same = 0; /* q and -q are the same rotation: take the one near the last frame */
            for (int i = 0; i < 4 && k > 0; i++)
                same += q[i] * (double)(out - row)[3 + i];
            if (isnan(x.x)) { /* an absent body has no orientation */
                memset(out, 0, 7 * sizeof *out);
                continue;
            }
            out[0] = (int32_t)lround((x.x - p->lo.x) / quantum);
            out[1] = (int32_t)lround((x.y - p->lo.y) / quantum);
            out[2] = (int32_t)lround((x.z - p->lo.z) / quantum);
            for (int i = 0; i < 4; i++)
                out[3 + i] = (int32_t)lround((same < 0 ? -TURN : TURN) * q[i]);
        }
    }
    if (status == ST_OK) status = sti_pack_ints(&p->pack, "poses", values, count, 2, row > 0 ? row : 1, err);
    sti_free(&p->allocator, values, count + 1, sizeof *values);
    json_object_set_new(p->header, "quantum", json_real(quantum));
    return status;
}

/* The force in every joint, as 16 bits relative to the largest in its frame, if there are not too many. */
static st_Status pack_joints(Packer *p, int64_t limit, st_Error *err)
{
    int n = p->info->n_joints;
    int64_t count = (int64_t)3 * n * p->n_kept;
    if (n == 0 || count / 3 > limit) return ST_OK;
    int16_t *force = sti_alloc(&p->allocator, count + 1, sizeof *force);
    double *scale = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *scale);
    st_RecordedJoint *row = sti_alloc(&p->allocator, n, sizeof *row);
    bool ok = force != NULL && scale != NULL && row != NULL;
    st_Status status = ok ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory for joints");
    for (int64_t k = 0; k < p->n_kept && status == ST_OK; k++) {
        double largest = 0;
        status = st_recording_joints(p->recording, frame_at(p, k), row, err);
        for (int i = 0; i < 3 * n && status == ST_OK; i++)
            largest = fmax(largest, fabs(row[i / 3].force[i % 3]));
        scale[k] = largest / 32767;
        for (int i = 0; i < 3 * n && status == ST_OK; i++)
            force[3 * n * k + i] = (int16_t)(largest > 0 ? lround(row[i / 3].force[i % 3] / largest * 32767) : 0);
    }
    if (status == ST_OK) status = sti_pack_doubles(&p->pack, "joint_scale", scale, p->n_kept, err);
    if (status == ST_OK) status = sti_pack_shorts(&p->pack, "joint_force", "i16", force, count, err);
    sti_free(&p->allocator, row, n, sizeof *row);
    sti_free(&p->allocator, scale, p->n_kept + 1, sizeof *scale);
    sti_free(&p->allocator, force, count + 1, sizeof *force);
    return status;
}

/* ---- contacts ----------------------------------------------------------------------------------- */

typedef struct Contacts {
    int32_t *first, *pair;
    double *scale;
    uint16_t *point;
    int16_t *force, *normal;
    st_RecordedContact *row;
    int64_t pair_capacity, point_capacity, force_capacity, normal_capacity, row_capacity, n;
    double lo[3], size; /* corner and size of the box of all points */
} Contacts;

/* Reads the contacts of kept frame k, if they are kept. */
static st_Status read_contacts(Packer *p, int64_t k, Contacts *c, int *n, st_Error *err)
{
    *n = k % p->contact_stride == 0 ? p->frame[k].n_contacts : 0;
    STI_TRY(STI_GROW(&p->allocator, c->row, c->row_capacity, *n, err));
    return st_recording_contacts(p->recording, p->frame[k].first_contact, *n, c->row, err);
}

static st_Status find_contact_box(Packer *p, Contacts *c, st_Error *err)
{
    double lo[3] = {INFINITY, INFINITY, INFINITY}, hi[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; k < p->n_kept; k++) {
        int n;
        STI_TRY(read_contacts(p, k, c, &n, err));
        for (int i = 0; i < n; i++)
            for (int x = 0; x < 3; x++) {
                lo[x] = fmin(lo[x], c->row[i].point[x]);
                hi[x] = fmax(hi[x], c->row[i].point[x]);
            }
    }
    c->size = 1e-9;
    for (int x = 0; x < 3; x++) {
        c->lo[x] = lo[x] <= hi[x] ? lo[x] : 0;
        if (lo[x] <= hi[x]) c->size = fmax(c->size, hi[x] - lo[x]);
    }
    json_object_set_new(p->header, "contact_origin", json_pack("[fff]", c->lo[0], c->lo[1], c->lo[2]));
    json_object_set_new(p->header, "contact_size", json_real(c->size));
    return ST_OK;
}

static st_Status round_contacts(Packer *p, int64_t k, Contacts *c, st_Error *err)
{
    int n;
    double largest = 0, h = p->frame_h[k];
    c->first[k] = (int32_t)c->n;
    STI_TRY(read_contacts(p, k, c, &n, err));
    STI_TRY(STI_GROW(&p->allocator, c->pair, c->pair_capacity, 2 * (c->n + n), err));
    STI_TRY(STI_GROW(&p->allocator, c->point, c->point_capacity, 3 * (c->n + n), err));
    STI_TRY(STI_GROW(&p->allocator, c->force, c->force_capacity, 3 * (c->n + n), err));
    STI_TRY(STI_GROW(&p->allocator, c->normal, c->normal_capacity, 3 * (c->n + n), err));
    for (int i = 0; i < n; i++)
        for (int x = 0; x < 3; x++)
            largest = fmax(largest, fabs(c->row[i].impulse[x]));
    c->scale[k] = largest / h / 32767;
    for (int i = 0; i < n; i++) {
        const st_RecordedContact *row = &c->row[i];
        if (row->impulse[0] == 0 && row->impulse[1] == 0 && row->impulse[2] == 0) continue; /* near, but not touching */
        c->pair[2 * c->n] = row->a;
        c->pair[2 * c->n + 1] = row->b;
        for (int x = 0; x < 3; x++) {
            c->point[3 * c->n + x] = (uint16_t)lround(65535 * fmin(1, fmax(0, (row->point[x] - c->lo[x]) / c->size)));
            c->force[3 * c->n + x] = (int16_t)lround(row->impulse[x] / largest * 32767);
            c->normal[3 * c->n + x] = (int16_t)lround(fmin(1, fmax(-1, row->normal[x])) * 32767);
        }
        c->n++;
    }
    return ST_OK;
}

static st_Status pack_contacts(Packer *p, st_Error *err)
{
    Contacts c = {0};
    st_Status status = ST_OK;
    c.first = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *c.first);
    c.scale = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *c.scale);
    if (c.first == NULL || c.scale == NULL) status = sti_fail(err, ST_ERR_MEMORY, "out of memory");
    if (status == ST_OK) status = find_contact_box(p, &c, err);
    for (int64_t k = 0; k < p->n_kept && status == ST_OK; k++)
        status = round_contacts(p, k, &c, err);
    if (status == ST_OK) {
        c.first[p->n_kept] = (int32_t)c.n;
        p->contacts = c.n;
        status = sti_pack_ints(&p->pack, "contact_first", c.first, p->n_kept + 1, 1, 1, err);
    }
    if (status == ST_OK) status = sti_pack_ints(&p->pack, "contact_pair", c.pair, 2 * c.n, 1, 2, err);
    if (status == ST_OK) status = sti_pack_doubles(&p->pack, "contact_scale", c.scale, p->n_kept, err);
    if (status == ST_OK) status = sti_pack_shorts(&p->pack, "contact_point", "u16", c.point, 3 * c.n, err);
    if (status == ST_OK) status = sti_pack_shorts(&p->pack, "contact_force", "i16", c.force, 3 * c.n, err);
    if (status == ST_OK) status = sti_pack_shorts(&p->pack, "contact_normal", "i16", c.normal, 3 * c.n, err);
    sti_free(&p->allocator, c.first, p->n_kept + 1, sizeof *c.first);
    sti_free(&p->allocator, c.scale, p->n_kept + 1, sizeof *c.scale);
    STI_RELEASE(&p->allocator, c.pair, c.pair_capacity);
    STI_RELEASE(&p->allocator, c.point, c.point_capacity);
    STI_RELEASE(&p->allocator, c.force, c.force_capacity);
    STI_RELEASE(&p->allocator, c.normal, c.normal_capacity);
    STI_RELEASE(&p->allocator, c.row, c.row_capacity);
    return status;
}

/* ---- steps -------------------------------------------------------------------------------------- */

enum {
    TIME,
    H,
    KINETIC,
    POTENTIAL,
    WORK,
    FRICTION,
    DAMPING,
    IMPACTS,
    CORRECTION,
    SCHEME,
    RESIDUAL,
    PENETRATION,
    JOINT_ERROR,
    ITERATIONS,
    CONTACTS,
    N_SERIES
};
static const char *const series_name[N_SERIES] = {"time",     "h",           "kinetic",     "potential",  "work",
                                                  "friction", "damping",     "impacts",     "correction", "scheme",
                                                  "residual", "penetration", "joint_error", "iterations", "contacts"};

static st_Status pack_steps(Packer *p, st_Error *err)
{
    int64_t n = p->info->n_steps, group = n > MOST_STEPS ? (n + MOST_STEPS - 1) / MOST_STEPS : 1;
    double *series[N_SERIES] = {NULL};
    st_RecordedStep *batch = sti_alloc(&p->allocator, BATCH, sizeof *batch);
    st_Status status = batch != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
    p->n_steps = n > 0 ? (n - 1 + group - 1) / group + 1 : 0; /* the start is a group by itself */
    for (int s = 0; s < N_SERIES && status == ST_OK; s++) {
        series[s] = sti_alloc(&p->allocator, p->n_steps + 1, sizeof **series);
        if (series[s] == NULL) status = sti_fail(err, ST_ERR_MEMORY, "out of memory");
    }
    for (int64_t first = 0; first < n && status == ST_OK; first += BATCH) {
        int64_t count = n - first < BATCH ? n - first : BATCH;
        status = st_recording_steps(p->recording, first, count, batch, err);
        for (int64_t k = 0; k < count && status == ST_OK; k++) {
            const int64_t step = first + k, at = step == 0 ? 0 : (step - 1) / group + 1;
            const bool starts = step <= 1 || (step - 1) % group == 0;
            /* A group has the state of its last step, and the worst of each other number. */
            const st_RecordedStep *b = &batch[k];
            const double value[N_SERIES] = {b->time,     b->h,           b->kinetic,     b->potential,  b->work,
                                            b->friction, b->damping,     b->impacts,     b->correction, b->scheme,
                                            b->residual, b->penetration, b->joint_error, b->iterations, b->contacts};
            for (int s = 0; s < N_SERIES; s++)
                series[s][at] = starts || s < RESIDUAL ? value[s] : fmax(series[s][at], value[s]);
        }
    }
    for (int s = 0; s < N_SERIES; s++) {
        if (status == ST_OK) status = sti_pack_doubles(&p->pack, series_name[s], series[s], p->n_steps, err);
        sti_free(&p->allocator, series[s], p->n_steps + 1, sizeof **series);
    }
    sti_free(&p->allocator, batch, BATCH, sizeof *batch);
    return status;
}

/* ---- the header --------------------------------------------------------------------------------- */

static st_Status put_events(Packer *p, st_Error *err)
{
    int64_t n = p->info->n_events < MOST_EVENTS ? p->info->n_events : MOST_EVENTS;
    json_t *list = json_array();
    for (int64_t k = 0; k < n; k++) {
        st_RecordedEvent event;
        st_Status status = st_recording_events(p->recording, k, 1, &event, err);
        if (status != ST_OK) {
            json_decref(list);
            return status;
        }
        json_array_append_new(list, json_pack("{sf ss si si sf}", "time", event.time, "kind", event.kind, "a", event.a,
                                              "b", event.b, "impulse", isfinite(event.impulse) ? event.impulse : 0.0));
    }
    json_object_set_new(p->header, "events", list);
    return ST_OK;
}

static st_Status pack_all(Packer *p, int64_t limit, st_Error *err)
{
    const st_RecordingInfo *info = p->info;
    json_t *sets = json_array(), *model = json_loads(info->model, 0, NULL),
           *choices = json_loads(info->choices, 0, NULL);
    for (int k = 0; k < info->n_sets; k++)
        json_array_append_new(sets, json_string(info->sets[k]));
    json_object_set_new(p->header, "sets", sets);
    p->h = json_number_value(json_object_get(choices, "h"));
    if (!(p->h > 0)) p->h = 1;
    bool ok = model != NULL && choices != NULL;
    json_object_set_new(p->header, "model", model);
    json_object_set_new(p->header, "choices", choices);
    /* json_string refuses text that is not UTF-8; then the page has no scene text. */
    json_object_set_new(p->header, "scene", json_string(info->text));
    json_object_set_new(p->header, "name", json_string(info->name));
    json_object_set_new(p->header, "description", json_string(info->description));
    json_object_set_new(p->header, "label", json_string(info->label));
    json_object_set_new(p->header, "version", json_string(info->version));
    json_object_set_new(p->header, "created", json_string(info->created));
    if (!ok) return sti_fail(err, ST_ERR_FORMAT, "the recording's description of its scene is damaged");

    int64_t n = info->n_frames, bodies = info->n_bodies > 0 ? info->n_bodies : 1;
    int64_t most = limit / bodies;
    if (most > MOST_FRAMES) most = MOST_FRAMES;
    if (most < 2) most = 2;
    p->stride = n > most ? (n + most - 2) / (most - 1) : 1;
    p->n_kept = n > 0 ? (n - 1 + p->stride - 1) / p->stride + 1 : 0;
    p->frame = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *p->frame);
    p->frame_h = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *p->frame_h);
    p->position = sti_alloc(&p->allocator, bodies, sizeof *p->position);
    p->orientation = sti_alloc(&p->allocator, bodies, sizeof *p->orientation);
    if (p->frame == NULL || p->frame_h == NULL || p->position == NULL || p->orientation == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for %lld frames", (long long)p->n_kept);
    int64_t contacts = 0;
    for (int64_t k = 0; k < p->n_kept; k++) {
        st_RecordedStep step;
        STI_TRY(st_recording_frames(p->recording, frame_at(p, k), 1, &p->frame[k], err));
        STI_TRY(st_recording_steps(p->recording, p->frame[k].step, 1, &step, err));
        /* An impact has no duration: its impulse is shown as a force over one step of the settings. */
        p->frame_h[k] = step.collisions > 0 || !(step.h > 0) ? p->h : step.h;
        contacts += p->frame[k].n_contacts;
    }
    int64_t most_contacts = limit > 4 ? limit / 4 : 1;
    p->contact_stride = contacts > most_contacts ? (contacts + most_contacts - 1) / most_contacts : 1;

    p->lo = (st_Vec3){INFINITY, INFINITY, INFINITY};
    p->hi = (st_Vec3){-INFINITY, -INFINITY, -INFINITY};
    for (int64_t k = 0; k < p->n_kept; k++) {
        STI_TRY(st_recording_bodies(p->recording, frame_at(p, k), p->position, NULL, NULL, NULL, err));
        for (int b = 0; b < info->n_bodies; b++) {
            st_Vec3 x = p->position[b];
            p->lo = (st_Vec3){fmin(p->lo.x, x.x), fmin(p->lo.y, x.y), fmin(p->lo.z, x.z)};
            p->hi = (st_Vec3){fmax(p->hi.x, x.x), fmax(p->hi.y, x.y), fmax(p->hi.z, x.z)};
        }
    }
    if (!(p->lo.x <= p->hi.x)) p->lo = p->hi = (st_Vec3){0, 0, 0};
    p->size = fmax(fmax(p->hi.x - p->lo.x, p->hi.y - p->lo.y), fmax(p->hi.z - p->lo.z, 1e-3));
    if (!(isfinite(p->size))) return sti_fail(err, ST_ERR_FORMAT, "the recording has positions that are not finite");

    double *time = sti_alloc(&p->allocator, p->n_kept + 1, sizeof *time);
    if (time == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory");
    for (int64_t k = 0; k < p->n_kept; k++)
        time[k] = p->frame[k].time;
    st_Status status = sti_pack_doubles(&p->pack, "frame_time", time, p->n_kept, err);
    sti_free(&p->allocator, time, p->n_kept + 1, sizeof *time);
    STI_TRY(status);

    STI_TRY(pack_poses(p, err));
    STI_TRY(pack_contacts(p, err));
    STI_TRY(pack_joints(p, limit, err));
    STI_TRY(pack_steps(p, err));
    STI_TRY(put_events(p, err));
    json_t *stages = json_object();
    for (int s = 0; s < ST_N_PARTS; s++)
        json_object_set_new(stages, st_part_name((st_StepPart)s), json_real(info->stage_seconds[s]));
    json_object_set_new(p->header, "summary",
                        json_pack("{ss ss sf so sb sI sI sI sI sI}", "outcome", info->outcome, "message", info->message,
                                  "wall", info->wall, "stages", stages, "closed", (int)info->closed, "bytes",
                                  (json_int_t)info->bytes, "frames", (json_int_t)info->n_frames, "steps",
                                  (json_int_t)info->n_steps, "contacts", (json_int_t)info->n_contacts, "events",
                                  (json_int_t)info->n_events));
    json_object_set_new(p->header, "kept",
                        json_pack("{sI sI sI sI}", "frames", (json_int_t)p->n_kept, "steps", (json_int_t)p->n_steps,
                                  "contact_stride", (json_int_t)p->contact_stride, "frame_stride",
                                  (json_int_t)p->stride));

    json_object_set_new(p->header, "origin", json_pack("[fff]", p->lo.x, p->lo.y, p->lo.z));
    json_object_set_new(p->header, "size", json_real(p->size));
    return ST_OK;
}

st_Status st_recording_pack(st_Recording *recording, int64_t limit, unsigned char **out, size_t *size, st_Error *err)
{
    if (recording == NULL || out == NULL || size == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_pack: recording, out and size must be given");
    Packer p = {.recording = recording,
                .info = st_recording_info(recording),
                .allocator = st_default_allocator(),
                .header = json_object()};
    st_Status status = sti_pack_start(&p.pack, err);
    if (status == ST_OK) status = pack_all(&p, limit > 0 ? limit : DEFAULT_LIMIT, err);
    if (status == ST_OK) status = sti_pack_finish(&p.pack, p.header, out, size, err);
    int64_t bodies = p.info->n_bodies > 0 ? p.info->n_bodies : 1;
    sti_free(&p.allocator, p.frame, p.n_kept + 1, sizeof *p.frame);
    sti_free(&p.allocator, p.frame_h, p.n_kept + 1, sizeof *p.frame_h);
    sti_free(&p.allocator, p.position, bodies, sizeof *p.position);
    sti_free(&p.allocator, p.orientation, bodies, sizeof *p.orientation);
    sti_pack_free(&p.pack);
    json_decref(p.header);
    return status;
}
