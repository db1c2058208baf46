/* step/save.c -- the state of a system with its history, as bytes.
 *
 *     head:      magic, version, n_q, n_v, changes, fingerprint of the scene
 *     sections:  tag[8], bytes of an element, elements, the elements themselves; to the end
 *
 * All data that the next step depends on, and that cannot be computed from (t, q, v), must be listed here, as one line
 * of `sections` each. Rows and contacts at q are not saved: they are evaluated again from the same bits. */
#include "device/flat_pile.h"
#include "step/contact/contact.h"
#include "step/contact/contact_model.h"
#include "step/flow.h"
#include "step/on_device.h"
#include "step/sleep.h"

#define MAGIC 0x5354534156453031u /* "STSAVE01", and the byte order */
/* 1 had no controls, 2 one residual for all islands, no fresh states, numbered kinds of patches, 3 no pushes, 4 no grid
 * of times, 5 no balance of energy, 6 no bodies that come and go, and no measures, 7 no fingerprint, 8 no
 * parameters, 9 no gains of energy over several steps */
#define VERSION 10

typedef struct Head {
    uint64_t magic;
    int32_t version, n_q, n_v;
    int32_t changes;      /* of its scene, while it ran (replace_scene.c): joints are where they were made then */
    uint64_t fingerprint; /* of its scene (model/scene.h)                                                   */
} Head;

typedef struct Section {
    char tag[8];
    int64_t size, count; /* bytes of an element, elements */
} Section;

/* History for integrators of order two and located events. */
typedef struct Past {
    double h, speed, pull;
    sti_Works works;
    int64_t known, fresh;
} Past;

enum {
    TIME,
    TIME_GRID,
    COORDINATES,
    VELOCITIES,
    STEPS,
    STALLED,
    ACTIVE,
    IMPULSES,
    PAST,
    PAST_COORDINATES,
    PAST_VELOCITIES,
    PAST_ACCELERATIONS,
    PAST_LOADS,
    PAST_JOINTS,
    PAST_SPRINGS,
    PAST_CONTACTS,
    LOADED,
    MODES,
    PATCHES,
    DEFORMATIONS,
    ASLEEP,
    DUE,
    RINGS,
    RESTS,
    SLEEPERS,
    JOINT_FORCES,
    MEAN,
    CONTROLS,
    PUSHES,
    PRESENCE,
    MEASURED,
    MASSES,
    JOINT_VALUES,
    SPRING_VALUES,
    SURFACE_VALUES,
    FLAT_IMPULSES,
    FLAT_STEP,
    STRUCK,
    CORRECTIONS,
    N_SECTIONS
};

static const struct {
    char tag[8]; /* with zeros up to the end */
    size_t size;
} sections[N_SECTIONS] = {[TIME] = {"t", sizeof(double)},
                          [TIME_GRID] = {"grid", sizeof(sti_TimeGrid)},
                          [COORDINATES] = {"q", sizeof(double)},
                          [VELOCITIES] = {"v", sizeof(double)},
                          [STEPS] = {"steps", sizeof(int64_t)},
                          [STALLED] = {"stalled", sizeof(int)},
                          [ACTIVE] = {"active", sizeof(uint64_t)},
                          [IMPULSES] = {"impulse", sizeof(sti_Impulse)},
                          [PAST] = {"past", sizeof(Past)},
                          [PAST_COORDINATES] = {"past q", sizeof(double)},
                          [PAST_VELOCITIES] = {"past v", sizeof(double)},
                          [PAST_ACCELERATIONS] = {"past a", sizeof(double)},
                          [PAST_LOADS] = {"past l", sizeof(double)},
                          [PAST_JOINTS] = {"past j", sizeof(sti_JointImpulse)},
                          [PAST_SPRINGS] = {"past s", sizeof(sti_SpringImpulse)},
                          [PAST_CONTACTS] = {"past c", sizeof(sti_ContactImpulse)},
                          [LOADED] = {"loaded", sizeof(uint64_t)},
                          [MODES] = {"modes", sizeof(sti_Mode)},
                          [PATCHES] = {"patch", sizeof(sti_Patch)},
                          [DEFORMATIONS] = {"delta", sizeof(double)},
                          [ASLEEP] = {"asleep", sizeof(unsigned char)},
                          [DUE] = {"due", sizeof(unsigned char)},
                          [RINGS] = {"rings", sizeof(int)},
                          [RESTS] = {"rests", sizeof(double)},
                          [SLEEPERS] = {"sleeper", sizeof(sti_Sleeper)},
                          [JOINT_FORCES] = {"joint f", sizeof(double)},
                          [MEAN] = {"mean", sizeof(double)},
                          [CONTROLS] = {"control", sizeof(sti_Control)},
                          [PUSHES] = {"push", sizeof(sti_Push)},
                          [PRESENCE] = {"present", sizeof(unsigned char)},
                          [MEASURED] = {"measure", sizeof(double)},
                          [MASSES] = {"masses", sizeof(sti_BodyMass)},
                          [JOINT_VALUES] = {"joints", sizeof(sti_JointValues)},
                          [SPRING_VALUES] = {"springs", sizeof(sti_SpringValues)},
                          [SURFACE_VALUES] = {"surface", sizeof(sti_SurfaceValues)},
                          [FLAT_IMPULSES] = {"flat r", sizeof(sti_FlatImpulse)},
                          [FLAT_STEP] = {"flat h", sizeof(double)},
                          [STRUCK] = {"struck", sizeof(unsigned char)},
                          [CORRECTIONS] = {"correct", sizeof(double)}};

/* Parameters: the bit of their array in sti_Values.own, and how many there are; none are written of a system that has
 * those of its scene. */
static const unsigned value_bit[N_SECTIONS] = {[MASSES] = STI_BODY_VALUES,
                                               [JOINT_VALUES] = STI_JOINT_VALUES,
                                               [SPRING_VALUES] = STI_SPRING_VALUES,
                                               [SURFACE_VALUES] = STI_SURFACE_VALUES};

static int64_t value_count(const sti_World *world, int section)
{
    return section == MASSES          ? world->n_bodies
           : section == JOINT_VALUES  ? world->n_joints
           : section == SPRING_VALUES ? world->n_springs
                                      : world->scene->n_shapes;
}

/* A part of the state: its address and the number of elements. */
typedef struct Part {
    const void *data;
    int64_t count;
} Part;

size_t st_system_save(const st_System *system, void *buffer, size_t size)
{
    Part part[N_SECTIONS];
    Past past;
    if (buffer != NULL)
        (void)sti_device_fetch(&system->model, &system->state, &system->work,
                               NULL); /* NaN if it fails, and no restore accepts that */
    past = (Past){system->state.history.h, system->state.fastest.speed, system->state.fastest.pull,
                  system->state.works,     system->state.history.known, system->state.fresh};
    part[TIME] = (Part){&system->state.t, 1};
    part[TIME_GRID] = (Part){&system->state.grid, 1};
    part[COORDINATES] = (Part){system->state.q, system->model.n_q};
    part[VELOCITIES] = (Part){system->state.v, system->model.n_v};
    part[STEPS] = (Part){&system->state.n_steps, 1};
    part[STALLED] = (Part){&system->state.stalled, 1};
    part[ACTIVE] = (Part){system->state.active.id, system->state.active.n};
    part[IMPULSES] = (Part){system->state.forces.at, system->state.forces.n};
    part[PAST] = (Part){&past, 1};
    const bool past_kept = sti_has_stages(&system->model);
    part[PAST_COORDINATES] = (Part){system->state.history.q, past_kept ? system->model.n_q : 0};
    part[PAST_VELOCITIES] = (Part){system->state.history.v, past_kept ? system->model.n_v : 0};
    part[PAST_ACCELERATIONS] = (Part){system->state.history.a, past_kept ? system->model.n_v : 0};
    const sti_StepImpulses *last = &system->state.past_impulses; /* bdf2: its reports depend on the step before */
    part[PAST_LOADS] =
        (Part){last->load[STI_FINITE],
               (system->state.past_impulses.spring != NULL ? (int64_t)STI_N_LOADS * system->model.n_v : 0)};
    part[PAST_JOINTS] = (Part){last->joint[STI_FINITE], last->spring != NULL ? system->work.impulses.n_joints : 0};
    part[PAST_SPRINGS] = (Part){last->spring, last->spring != NULL ? system->work.impulses.n_springs : 0};
    part[PAST_CONTACTS] = (Part){last->contact, last->n};
    part[LOADED] = (Part){system->state.loaded.id, system->state.loaded.n};
    part[MODES] = (Part){system->state.modes.at, system->state.modes.n};
    part[PATCHES] = (Part){system->state.patches.patch, system->state.patches.n};
    part[DEFORMATIONS] = (Part){system->state.patches.delta, system->state.patches.n_delta};
    part[ASLEEP] = (Part){system->work.sleep.on ? system->model.world->asleep : NULL, system->work.sleep.n_bodies};
    part[DUE] = (Part){system->work.sleep.due, system->work.sleep.n_bodies};
    part[RINGS] = (Part){system->work.sleep.ring, system->work.sleep.n_bodies};
    part[RESTS] = (Part){system->work.sleep.rest, system->work.sleep.n_bodies};
    part[SLEEPERS] = (Part){system->work.sleep.contact, system->work.sleep.n_contacts};
    part[JOINT_FORCES] = (Part){system->work.sleep.joint_force, system->work.sleep.n_joint_forces};
    part[MEAN] = (Part){system->work.mean.past, sti_mean_past(&system->model)};
    const bool controlled = system->model.world->n_controls > 0;
    part[CONTROLS] = (Part){controlled ? system->model.world->control : NULL,
                            controlled ? sti_control_count(system->model.world) : 0};
    bool some_absent = system->work.flow != NULL || system->work.n_relocated > 0;
    for (int b = 1; b < system->model.world->n_bodies && !some_absent; b++)
        some_absent = sti_is_absent(system->model.world, b);
    part[PRESENCE] = some_absent ? (Part){system->model.world->presence, system->model.world->n_bodies} : (Part){"", 0};
    part[MEASURED] = system->work.flow != NULL
                         ? (Part){system->work.flow->totals, 2 * system->model.world->scene->n_measures}
                         : (Part){"", 0};
    part[PUSHES] = (Part){system->model.world->push, system->model.world->n_pushes};
    const sti_Values *values = &system->model.world->values;
    part[MASSES].data = values->body, part[JOINT_VALUES].data = values->joint;
    part[SPRING_VALUES].data = values->spring, part[SURFACE_VALUES].data = values->surface;
    for (int k = MASSES; k <= SURFACE_VALUES; k++)
        part[k].count = (values->own & value_bit[k]) != 0 ? value_count(system->model.world, k) : 0;
    const sti_FlatImpulse *flat = NULL;
    double flat_h = 0;
    part[FLAT_IMPULSES] =
        (Part){"", sti_device_impulses(&system->model, &system->state, &system->work, &flat, &flat_h)};
    if (part[FLAT_IMPULSES].count > 0) part[FLAT_IMPULSES].data = flat;
    part[FLAT_STEP] = (Part){&flat_h, 1};
    const sti_Strikes *strikes = &system->work.strikes; /* where nothing was struck: no bytes */
    part[STRUCK] = (Part){strikes->hit, strikes->any ? strikes->n_bodies : 0};
    bool corrected = false;
    for (int k = 0; k < strikes->n_joints && !corrected; k++)
        corrected = strikes->correction[k] != 0;
    part[CORRECTIONS] = (Part){strikes->correction, corrected ? strikes->n_joints : 0};
    size_t needed = sizeof(Head);
    for (int k = 0; k < N_SECTIONS; k++)
        needed += sizeof(Section) + (size_t)part[k].count * sections[k].size;
    if (buffer == NULL || size < needed) return needed;

    const Head head = {MAGIC,
                       VERSION,
                       system->model.n_q,
                       system->model.n_v,
                       system->state.n_changes,
                       system->model.world->fingerprint};
    char *out = buffer;
    memcpy(out, &head, sizeof head);
    out += sizeof head;
    for (int k = 0; k < N_SECTIONS; k++) {
        Section section = {{0}, (int64_t)sections[k].size, part[k].count};
        size_t bytes = (size_t)part[k].count * sections[k].size;
        memcpy(section.tag, sections[k].tag, sizeof section.tag);
        memcpy(out, &section, sizeof section);
        out += sizeof section;
        if (bytes > 0) memcpy(out, part[k].data, bytes);
        out += bytes;
    }
    return needed;
}

static st_Status state_damaged(st_Error *err)
{
    return sti_fail(err, ST_ERR_FORMAT, "the saved state is damaged or cut short");
}

/* Element k of a part; the bytes need not be aligned. */
#define READ(part, k, to) memcpy((to), (const char *)(part)->data + (size_t)(k) * sizeof *(to), sizeof *(to))

/* Is this the id of a shape, joint or row of the world? */
static bool is_of_world(const sti_Model *model, uint64_t id)
{
    const sti_World *world = model->world;
    if (!model->rigid) return true; /* its ids are the user's */
    if (id >= STI_BOUNDED_ID) return id - STI_BOUNDED_ID < (uint64_t)world->n_bounded;
    if (id >= STI_LIMIT_ID) return (id - STI_LIMIT_ID) >> 2 < (uint64_t)world->n_joints;
    return sti_contact_shape(id, 0) < world->scene->n_shapes && sti_contact_shape(id, 1) < world->scene->n_shapes;
}

static st_Status check_ids(const sti_Model *model, const Part *part, st_Error *err)
{
    for (int64_t k = 0; k < part->count; k++) {
        uint64_t id;
        READ(part, k, &id);
        if (!is_of_world(model, id)) return state_damaged(err);
    }
    return ST_OK;
}

/* Shapes are numbered from 1; contacts of two shapes name them. */
static bool is_impulse(const sti_Model *model, const sti_Impulse *impulse)
{
    const int least = model->rigid && impulse->id < STI_LIMIT_ID ? 1 : 0;
    const int most = model->rigid ? model->world->scene->n_shapes : INT32_MAX;
    return is_of_world(model, impulse->id) && impulse->dim >= 1 && impulse->dim <= ST_MAX_DIM &&
           impulse->shape_a >= least && impulse->shape_a <= most && impulse->shape_b >= least &&
           impulse->shape_b <= most;
}

/* Of bdf2; those of a system without it are empty. */
static st_Status check_past_impulses(const sti_Model *model, const Part part[N_SECTIONS], st_Error *err)
{
    const sti_World *world = model->world;
    if (part[PAST_LOADS].count == 0)
        return part[PAST_JOINTS].count + part[PAST_SPRINGS].count + part[PAST_CONTACTS].count == 0 ? ST_OK
                                                                                                   : state_damaged(err);
    if (part[PAST_LOADS].count != (int64_t)STI_N_LOADS * model->n_v || part[PAST_JOINTS].count != world->n_joints ||
        part[PAST_SPRINGS].count != world->n_springs)
        return state_damaged(err);
    for (int64_t k = 0; k < part[PAST_CONTACTS].count; k++) {
        sti_ContactImpulse c;
        READ(&part[PAST_CONTACTS], k, &c);
        const int bodies = model->rigid ? world->n_bodies : INT32_MAX,
                  shapes = model->rigid ? world->scene->n_shapes : INT32_MAX;
        if (!is_of_world(model, c.id) || c.dim < 1 || c.dim > ST_MAX_DIM || c.a < 0 || c.a >= bodies || c.b < 0 ||
            c.b >= bodies || c.shape_a < 0 || c.shape_a > shapes || c.shape_b < 0 || c.shape_b > shapes)
            return state_damaged(err);
    }
    return ST_OK;
}

/* The first two numbers are the number of known steps and the order of the prediction. */
static st_Status check_mean(const Part *part, int n_v, st_Error *err)
{
    double counts[2] = {0};
    if (part->count == 0) return ST_OK;
    if (part->count != 2 + (STI_MEAN_PAST + 1) * (int64_t)n_v) return state_damaged(err);
    memcpy(counts, part->data, sizeof counts);
    for (int k = 0; k < 2; k++)
        if (!(counts[k] >= 0) || counts[k] > STI_MEAN_PAST) return state_damaged(err);
    return counts[1] <= counts[0] ? ST_OK : state_damaged(err);
}

/* No value set: no bytes. */
static st_Status check_saved_controls(const sti_Model *model, const Part *part, st_Error *err)
{
    if (part->count == 0) return ST_OK;
    if (part->count != sti_control_count(model->world))
        return sti_fail(err, ST_ERR_ARGUMENT, "the saved state has other joints and forces: not the same scene");
    for (int64_t k = 0; k < part->count; k++) {
        sti_Control control;
        READ(part, k, &control);
        if (control.is_set != 0 && control.is_set != 1) return state_damaged(err);
        for (int i = 0; i < 6; i++)
            if (!isfinite(control.value[i])) return state_damaged(err);
    }
    return ST_OK;
}

static st_Status check_measured(const sti_Model *model, const sti_StepWork *work, const Part *part, st_Error *err)
{
    if (part->count != (work->flow != NULL ? 2 * model->world->scene->n_measures : 0))
        return sti_fail(err, ST_ERR_ARGUMENT, "the saved state has other measures: not the same scene");
    for (int64_t k = 0; k < part->count; k++) {
        double total;
        READ(part, k, &total);
        if (!isfinite(total)) return state_damaged(err);
    }
    return ST_OK;
}

static st_Status check_parts(const sti_Model *model, const sti_StepWork *work, const Part part[N_SECTIONS],
                             st_Error *err)
{
    const int n_q = model->n_q, n_v = model->n_v;
    const int64_t n_past = part[PAST_COORDINATES].count; /* of a system that keeps none: 0 */
    for (int k = 0; k < N_SECTIONS; k++)
        if (part[k].data == NULL || part[k].count > INT32_MAX) return state_damaged(err);
    if (part[TIME].count != 1 || part[COORDINATES].count != n_q || part[VELOCITIES].count != n_v ||
        part[STEPS].count != 1 || part[STALLED].count != 1 || part[PAST].count != 1 || part[TIME_GRID].count != 1)
        return state_damaged(err);
    sti_TimeGrid grid;
    READ(&part[TIME_GRID], 0, &grid);
    if (!isfinite(grid.start) || !(grid.h >= 0) || !isfinite(grid.h)) return state_damaged(err);
    /* the counter goes on from this value, and times are computed from it: it must be exact as a double */
    const int64_t most = (int64_t)1 << 53;
    int64_t steps;
    READ(&part[STEPS], 0, &steps);
    if (grid.steps < 0 || grid.steps >= most || steps < 0 || steps >= most) return state_damaged(err);
    Past past;
    READ(&part[PAST], 0, &past);
    if (!(past.h >= 0) || !isfinite(past.h)) return state_damaged(err);
    if ((n_past != 0 && n_past != n_q) || part[PAST_VELOCITIES].count != (n_past > 0 ? n_v : 0) ||
        part[PAST_ACCELERATIONS].count != part[PAST_VELOCITIES].count)
        return state_damaged(err);
    sti_Patch patch;
    uint64_t last = 0;
    for (int64_t k = 0; k < part[PATCHES].count; k++, last = patch.id) {
        READ(&part[PATCHES], k, &patch);
        if (patch.first < 0 || patch.size < 0 || patch.first > part[DEFORMATIONS].count - patch.size ||
            !is_of_world(model, patch.id) || (k > 0 && patch.id <= last))
            return state_damaged(err);
        if (!sti_patch_fits(model, &patch))
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "the saved state has a patch of %d elements, but the contacts of this system have another number",
                patch.key.n_elements);
    }
    for (int64_t k = 0; k < part[IMPULSES].count; k++) {
        sti_Impulse impulse;
        READ(&part[IMPULSES], k, &impulse);
        if (!is_impulse(model, &impulse)) return state_damaged(err);
    }
    STI_TRY(check_ids(model, &part[ACTIVE], err));
    STI_TRY(check_ids(model, &part[LOADED], err));
    STI_TRY(check_mean(&part[MEAN], n_v, err));
    STI_TRY(check_past_impulses(model, part, err));
    STI_TRY(check_saved_controls(model, &part[CONTROLS], err));
    /* By body, each once. */
    int64_t before = 0;
    for (int64_t e = 0; e < part[PUSHES].count; e++) {
        sti_Push push;
        memcpy(&push, (const char *)part[PUSHES].data + (size_t)e * sizeof push, sizeof push);
        if (push.body <= before || push.body >= model->world->n_bodies) return state_damaged(err);
        for (int i = 0; i < 6; i++)
            if (!isfinite(push.wrench[i])) return state_damaged(err);
        before = push.body;
    }
    /* Where all bodies are there: no bytes. */
    const int64_t bodies = part[PRESENCE].count;
    if (bodies != model->world->n_bodies && (bodies != 0 || work->flow != NULL))
        return sti_fail(err, ST_ERR_ARGUMENT, "the saved state has other inlets and outlets: not the same scene");
    for (int64_t j = 0; j < bodies; j++)
        if ((((const unsigned char *)part[PRESENCE].data)[j] & ~STI_RELOCATED) > STI_GONE) return state_damaged(err);
    STI_TRY(check_measured(model, work, &part[MEASURED], err));
    for (int k = MASSES; k <= SURFACE_VALUES; k++)
        if (part[k].count != 0 && part[k].count != value_count(model->world, k)) return state_damaged(err);
    sti_FlatImpulse flat = {0};
    double flat_h;
    if (part[FLAT_STEP].count != 1) return state_damaged(err);
    READ(&part[FLAT_STEP], 0, &flat_h);
    if (!(flat_h >= 0) || !isfinite(flat_h)) return state_damaged(err);
    for (int64_t k = 0, least = 0; k < part[FLAT_IMPULSES].count; k++, least = flat.sphere) {
        READ(&part[FLAT_IMPULSES], k, &flat);
        if (!sti_device_impulse_fits(work, &flat, (int)least)) return state_damaged(err);
    }
    if ((part[STRUCK].count != 0 && part[STRUCK].count != work->strikes.n_bodies) ||
        (part[CORRECTIONS].count != 0 && part[CORRECTIONS].count != work->strikes.n_joints))
        return state_damaged(err);
    for (int64_t b = 0; b < part[STRUCK].count; b++) {
        const unsigned char how = ((const unsigned char *)part[STRUCK].data)[b];
        if ((how & STI_HIT_MASK) > STI_HIT_NOW || how >> 4 > STI_HIT_NOW) return state_damaged(err);
    }
    for (int64_t k = 0; k < part[CORRECTIONS].count; k++) {
        double speed;
        READ(&part[CORRECTIONS], k, &speed);
        if (!(speed >= 0) || !isfinite(speed)) return state_damaged(err);
    }
    /* Those of a system without sleep are empty: there all are awake. */
    const int64_t n = part[ASLEEP].count;
    if (n > 0 && !work->sleep.on)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the saved state is of a system with the setting `sleep` on; this system has it off");
    if ((n > 0 && n != work->sleep.n_bodies) || part[DUE].count != n || part[RINGS].count != n ||
        part[RESTS].count != n || (n == 0 && part[SLEEPERS].count > 0))
        return state_damaged(err);
    for (int64_t b = 0; b < n; b++) {
        int next;
        READ(&part[RINGS], b, &next);
        if (next < 0 || next >= n) return state_damaged(err);
    }
    for (int64_t k = 0; k < part[SLEEPERS].count; k++) {
        sti_Sleeper sleeper;
        READ(&part[SLEEPERS], k, &sleeper);
        if (sleeper.a < 0 || sleeper.a >= n || sleeper.b < 0 || sleeper.b >= n || !is_impulse(model, &sleeper.impulse))
            return state_damaged(err);
    }
    return ST_OK;
}

static void copy_part(void *to, const Part *part, size_t size)
{
    if (part->count > 0) memcpy(to, part->data, (size_t)part->count * size);
}

/* The parameters of a saved state, and whether they are other ones than those of the world. */
static st_Status read_values(const sti_Model *model, const Part part[N_SECTIONS], sti_Values *out, bool *other,
                             st_Error *err)
{
    const sti_World *world = model->world;
    unsigned own = 0;
    for (int k = MASSES; k <= SURFACE_VALUES; k++)
        if (part[k].count > 0) own |= value_bit[k];
    STI_TRY(sti_values_copy(world, own, out, err));
    copy_part(out->body, &part[MASSES], sizeof *out->body);
    copy_part(out->joint, &part[JOINT_VALUES], sizeof *out->joint);
    copy_part(out->spring, &part[SPRING_VALUES], sizeof *out->spring);
    if (out->surface != NULL) copy_part(out->surface, &part[SURFACE_VALUES], sizeof *out->surface);
    *other = !sti_values_equal(world, &world->values, out);
    st_Status status = *other ? sti_check_values(model, out, err) : ST_OK;
    if (status == ST_OK && *other && (own & STI_SURFACE_VALUES) != 0)
        status = sti_surfaces_compile(world->scene, &world->allocator, out, err);
    if (status != ST_OK) sti_values_free(world, out);
    return status;
}

static st_Status restore(const sti_Model *model, sti_State *state, sti_StepWork *work, const Part part[N_SECTIONS],
                         bool keep_values, st_Sink *rows, double *numbers, st_Error *err)
{
    double t;
    double *q = numbers, *v = numbers + model->n_q; /* aligned, as the bytes need not be */
    copy_part(&t, &part[TIME], sizeof t);
    copy_part(q, &part[COORDINATES], sizeof *q);
    copy_part(v, &part[VELOCITIES], sizeof *v);
    sti_World *world = model->world;
    STI_TRY(STI_GROW(&world->allocator, world->push, world->push_capacity, part[PUSHES].count, err));
    sti_StepImpulses *last = &state->past_impulses;
    if (last->spring != NULL)
        STI_TRY(STI_GROW(&model->allocator, last->contact, last->capacity, part[PAST_CONTACTS].count, err));
    STI_TRY(STI_GROW(&model->allocator, state->active.id, state->active.capacity, part[ACTIVE].count, err));
    STI_TRY(STI_GROW(&model->allocator, state->forces.at, state->forces.capacity, part[IMPULSES].count, err));
    STI_TRY(STI_GROW(&model->allocator, state->loaded.id, state->loaded.capacity, part[LOADED].count, err));
    STI_TRY(STI_GROW(&model->allocator, work->sleep.contact, work->sleep.contact_capacity, part[SLEEPERS].count, err));
    STI_TRY(STI_GROW(&model->allocator, work->sleep.joint_force, work->sleep.joint_force_capacity,
                     part[JOINT_FORCES].count, err));
    STI_TRY(STI_GROW(&model->allocator, state->modes.at, state->modes.capacity, part[MODES].count, err));
    STI_TRY(sti_device_start_room(model, work, part[FLAT_IMPULSES].count, err));
    /* Deformations of compliant contacts, into the set that is not the state yet. */
    sti_Patches *to = &work->compliant.next;
    int64_t n = part[PATCHES].count, n_delta = part[DEFORMATIONS].count;
    STI_TRY(STI_GROW(&model->allocator, to->patch, to->patch_capacity, n, err));
    STI_TRY(STI_GROW(&model->allocator, to->delta, to->delta_capacity, n_delta, err));
    copy_part(to->patch, &part[PATCHES], sizeof *to->patch);
    copy_part(to->delta, &part[DEFORMATIONS], sizeof *to->delta);
    to->n = (int)n;
    to->n_delta = n_delta;
    STI_TRY(sti_patches_know(model, work, to, err));
    if (world->presence != NULL) {
        memset(world->presence, STI_PRESENT, (size_t)world->n_bodies * sizeof *world->presence);
        copy_part(world->presence, &part[PRESENCE], sizeof *world->presence);
    }
    work->n_relocated = sti_relocated_count(world);
    Past past;
    copy_part(&past, &part[PAST], sizeof past);
    const bool foresees = model->rigid && sti_speculative(model) && !work->sleep.on; /* as its last step did */
    sti_Values values = {0};
    bool other = false;
    if (!keep_values) STI_TRY(read_values(model, part, &values, &other, err));
    if (other) sti_enter_values(model, work, &values);
    const st_Status put = sti_put_state(model, state, work, t, q, v, foresees ? past.h : 0, foresees ? rows : NULL,
                                        err); /* the last thing that may fail; it keeps the room */
    if (other && put != ST_OK) sti_enter_values(model, work, &values);
    sti_values_free(world, &values);
    STI_TRY(put);
    copy_part(state->v, &part[VELOCITIES],
              sizeof *state->v); /* including those of rotors, which follow from the settings */
    copy_part(state->active.id, &part[ACTIVE], sizeof *state->active.id);
    copy_part(state->forces.at, &part[IMPULSES], sizeof *state->forces.at);
    copy_part(state->loaded.id, &part[LOADED], sizeof *state->loaded.id);
    copy_part(state->modes.at, &part[MODES], sizeof *state->modes.at);
    STI_EXCHANGE(sti_Patches, state->patches, work->compliant.next);
    state->active.n = (int)part[ACTIVE].count;
    state->forces.n = (int)part[IMPULSES].count;
    state->loaded.n = (int)part[LOADED].count;
    state->modes.n = (int)part[MODES].count;
    /* The next step makes the rows of motors again. */
    if (part[CONTROLS].count != 0 || world->n_controls != 0) {
        world->n_controls = 0;
        memset(world->control, 0, (size_t)sti_control_count(world) * sizeof *world->control);
        copy_part(world->control, &part[CONTROLS], sizeof *world->control);
        for (int k = 0; k < sti_control_count(world); k++)
            world->n_controls += world->control[k].is_set;
        work->rows_stale = true;
    }
    if (work->flow != NULL) copy_part(work->flow->totals, &part[MEASURED], sizeof *work->flow->totals);
    copy_part(model->world->push, &part[PUSHES], sizeof *model->world->push);
    model->world->n_pushes = (int)part[PUSHES].count;
    copy_part(&state->n_steps, &part[STEPS], sizeof state->n_steps);
    copy_part(&state->grid, &part[TIME_GRID], sizeof state->grid);
    copy_part(&state->stalled, &part[STALLED], sizeof state->stalled);
    state->history.h = past.h;
    state->history.known = past.known != 0 && (part[PAST_COORDINATES].count > 0 || !sti_has_stages(model));
    state->fresh = past.fresh != 0;
    double flat_h;
    READ(&part[FLAT_STEP], 0, &flat_h);
    work->device_has_state = false;
    sti_device_start_from(work, part[FLAT_IMPULSES].data, part[FLAT_IMPULSES].count, flat_h);
    sti_Strikes *strikes = &work->strikes;
    copy_part(strikes->hit, &part[STRUCK], sizeof *strikes->hit);
    strikes->any = part[STRUCK].count > 0;
    copy_part(strikes->correction, &part[CORRECTIONS], sizeof *strikes->correction);
    state->works = past.works;
    state->fastest.speed = past.speed;
    state->fastest.pull = past.pull;
    if (sti_has_stages(model)) {
        copy_part(state->history.q, &part[PAST_COORDINATES], sizeof(double));
        copy_part(state->history.v, &part[PAST_VELOCITIES], sizeof(double));
        copy_part(state->history.a, &part[PAST_ACCELERATIONS], sizeof(double));
        if (work->mean.past != NULL) copy_part(work->mean.past, &part[MEAN], sizeof(double));
        if (last->spring != NULL && part[PAST_LOADS].count != 0) {
            copy_part(last->load[STI_FINITE], &part[PAST_LOADS], sizeof(double));
            copy_part(last->joint[STI_FINITE], &part[PAST_JOINTS], sizeof(sti_JointImpulse));
            copy_part(last->spring, &part[PAST_SPRINGS], sizeof(sti_SpringImpulse));
            copy_part(last->contact, &part[PAST_CONTACTS], sizeof(sti_ContactImpulse));
            last->some[STI_FINITE] = last->some[STI_IMPACT] = true;
            last->n = (int)part[PAST_CONTACTS].count;
            last->time = past.h;
        }
    }
    sti_Sleep *sleep = &work->sleep;
    if (sleep->on && part[ASLEEP].count != 0) {
        copy_part(model->world->asleep, &part[ASLEEP], sizeof *model->world->asleep);
        copy_part(sleep->due, &part[DUE], sizeof *sleep->due);
        copy_part(sleep->ring, &part[RINGS], sizeof *sleep->ring);
        copy_part(sleep->rest, &part[RESTS], sizeof *sleep->rest);
        copy_part(sleep->contact, &part[SLEEPERS], sizeof *sleep->contact);
        copy_part(sleep->joint_force, &part[JOINT_FORCES], sizeof *sleep->joint_force);
        sleep->n_contacts = (int)part[SLEEPERS].count;
        sleep->n_joint_forces = (int)part[JOINT_FORCES].count;
        sti_sleep_restored(model, state, work);
    }
    return ST_OK;
}

st_Status st_system_restore(st_System *system, const void *buffer, size_t size, st_Error *err)
{
    if (system == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "st_system_restore: system must be given");
    return sti_restore_saved(&system->model, &system->state, &system->work, buffer, size, false, NULL, err);
}

bool sti_rows_can_be_kept(const sti_Model *model, const sti_State *state, const sti_StepWork *work)
{
    return model->rigid && sti_speculative(model) && !work->sleep.on && work->flow == NULL && work->n_relocated == 0 &&
           !work->rows_stale && work->ahead.foreseen == state->history.h && state->history.h > 0 &&
           (model->world->values.own & STI_SURFACE_VALUES) == 0; /* contacts name surfaces, which then go */
}

st_Status sti_restore_saved(const sti_Model *model, sti_State *state, sti_StepWork *work, const void *buffer,
                            size_t size, bool keep_values, st_Sink *rows, st_Error *err)
{
    Part part[N_SECTIONS] = {{0}};
    STI_TRY(sti_device_fetch(model, state, work, err));
    Head head;
    if (buffer == NULL || size < sizeof head) return state_damaged(err);
    memcpy(&head, buffer, sizeof head);
    if (head.magic != MAGIC)
        return sti_fail(err, ST_ERR_FORMAT,
                        "these bytes are not a saved state, or come from a machine with another byte order");
    if (head.version != VERSION)
        return sti_fail(err, ST_ERR_FORMAT, "the saved state has version %d, this library reads %d", head.version,
                        VERSION);
    if (head.n_q != model->n_q || head.n_v != model->n_v)
        return sti_fail(
            err, ST_ERR_ARGUMENT,
            "the saved state has %d coordinates and %d velocities, the system %d and %d: not the same scene", head.n_q,
            head.n_v, model->n_q, model->n_v);
    if (head.fingerprint != model->world->fingerprint)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the saved state is of a scene with other names, shapes, joints, springs or forces: not the "
                        "same scene");
    if (head.changes != state->n_changes)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "the scene of the saved system was changed %d times during the run, that of this system %d "
                        "times: not the same scene",
                        head.changes, state->n_changes);
    /* Find every section; unknown ones are a newer library's. */
    const char *bytes = buffer;
    int next = 0; /* this library writes the sections in this order */
    for (size_t at = sizeof(Head); at < size;) {
        Section section;
        int k = next < N_SECTIONS ? next : 0;
        if (size - at < sizeof section) return state_damaged(err);
        memcpy(&section, bytes + at, sizeof section);
        at += sizeof section;
        section.tag[sizeof section.tag - 1] = '\0';
        if (memcmp(section.tag, sections[k].tag, sizeof section.tag) != 0)
            for (k = 0; k < N_SECTIONS && memcmp(section.tag, sections[k].tag, sizeof section.tag) != 0;)
                k++;
        next = k + 1;
        if (k == N_SECTIONS || section.size != (int64_t)sections[k].size)
            return sti_fail(err, ST_ERR_FORMAT, "the saved state is of another version of the library: \"%s\"",
                            section.tag);
        if (section.count < 0 || (uint64_t)section.count > (size - at) / sections[k].size || part[k].data != NULL)
            return state_damaged(err); /* too long, or there twice */
        part[k] = (Part){bytes + at, section.count};
        at += (size_t)section.count * sections[k].size;
    }
    if (rows == NULL) STI_TRY(check_parts(model, work, part, err)); /* else a batch's own bytes */
    int64_t n = (int64_t)model->n_q + model->n_v;
    double *numbers = sti_alloc(&model->allocator, n, sizeof *numbers);
    if (numbers == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a saved state");
    st_Status status = restore(model, state, work, part, keep_values, rows, numbers, err);
    sti_free(&model->allocator, numbers, n, sizeof *numbers);
    return status;
}
