/* step/settings.c -- presets, and every setting of a simulation with its words, range, unit and help. Scene files,
 * --set, help texts and documentation all read this table.
 */
#include "base/base.h"
#include "base/range.h"
#include "base/tolerance.h"
#include "math/vec3.h"
#include "solve/solver.h"
#include "step/step.h"

#include <stiction/system.h>

#include <stdio.h>

#define NO_WORK_LIMIT  1e12        /* visits of each contact: more than any step takes */
#define SPEED_OF_LIGHT 299792458.0 /* [m/s]: nothing here means to be faster */

/* ---- presets ---------------------------------------------------------------------------------- */

/* Below 0: from the sizes in the scene, gravity and h (sti_scale_settings). */
typedef struct Lengths {
    double margin, slop, correction_speed, active_gap, sleep_speed, restitution_speed;
} Lengths;

static const Lengths relative = {-1, -1, -1, -1, -1, -1}, closed = {-1, 0, -1, -1, -1, -1};
/* Those of the presets that are named after papers: for scenes of about a metre. */
static const Lengths metric = {0.01, 0, 1, 1e-8, 1e-4, 1e-3};

typedef struct Preset {
    const char *help;
    st_Integrator integrator;
    st_ContactModel contact;
    st_Law law;
    st_Drift drift;
    st_Impact impact;
    st_Events events;
    st_Energy energy;
    double residual_limit;
    st_Effort effort;
    double tolerance;
    const Lengths *lengths;
} Preset;

static const char *const preset_words[] = {"default",
                                           "anitescu-potra-1997",
                                           "anitescu-potra-2002",
                                           "potra-2006",
                                           "song-2004",
                                           "negrut-2017",
                                           "preclik-2011",
                                           "accurate",
                                           "exact",
                                           "real-time",
                                           NULL};
#define N_PRESETS ((int)(sizeof preset_words / sizeof preset_words[0]) - 1)

static const Preset presets[N_PRESETS] = {
    {"a good first choice: implicit stiff forces, exact Coulomb cone, gaps kept closed, fixed step",
     ST_INTEGRATOR_IMPLICIT, ST_CONTACT_RIGID, ST_LAW_COULOMB, ST_DRIFT_GAP, ST_IMPACT_NEWTON, ST_EVENTS_OFF,
     ST_ENERGY_LIMIT, 0.1, ST_EFFORT_BALANCED, -1, &relative},
    {"the explicit complementarity scheme: Anitescu & Potra 1997", ST_INTEGRATOR_EULER, ST_CONTACT_RIGID,
     ST_LAW_PYRAMID, ST_DRIFT_VELOCITY, ST_IMPACT_INELASTIC, ST_EVENTS_OFF, ST_ENERGY_REPORT, 0.1, ST_EFFORT_THOROUGH,
     1e-9, &metric},
    {"stiff springs and dampers, located collisions, projection: Anitescu & Potra 2002", ST_INTEGRATOR_IMPLICIT,
     ST_CONTACT_RIGID, ST_LAW_PYRAMID, ST_DRIFT_PROJECTION, ST_IMPACT_INELASTIC, ST_EVENTS_COLLISIONS, ST_ENERGY_REPORT,
     0.1, ST_EFFORT_THOROUGH, 1e-9, &metric},
    {"second order with located events and restitution: Potra, Anitescu, Gavrea & Trinkle 2006",
     ST_INTEGRATOR_TRAPEZOID, ST_CONTACT_RIGID, ST_LAW_PYRAMID, ST_DRIFT_VELOCITY, ST_IMPACT_POISSON, ST_EVENTS_ALL,
     ST_ENERGY_REPORT, 0.1, ST_EFFORT_THOROUGH, 1e-9, &metric},
    {"distributed compliant contact, stress and microslip in patches: Song, Pang & Kumar 2004", ST_INTEGRATOR_EULER,
     ST_CONTACT_COMPLIANT, ST_LAW_BOX, ST_DRIFT_VELOCITY, ST_IMPACT_INELASTIC, ST_EVENTS_OFF, ST_ENERGY_REPORT, 0.1,
     ST_EFFORT_THOROUGH, 1e-9, &metric},
    {"cone complementarity, one convex problem per step: Negrut, Serban & Tasora 2017", ST_INTEGRATOR_EULER,
     ST_CONTACT_RIGID, ST_LAW_CONE, ST_DRIFT_GAP, ST_IMPACT_INELASTIC, ST_EVENTS_OFF, ST_ENERGY_REPORT, 0.1,
     ST_EFFORT_THOROUGH, 1e-9, &metric},
    {"regularised contact and joints: Preclik, Popa & Ruede 2011", ST_INTEGRATOR_EULER, ST_CONTACT_REGULARIZED,
     ST_LAW_CONE, ST_DRIFT_GAP, ST_IMPACT_INELASTIC, ST_EVENTS_OFF, ST_ENERGY_REPORT, 0.1, ST_EFFORT_THOROUGH, 1e-9,
     &metric},
    {"for accuracy: second order, L-stable, exact Coulomb cone, gaps kept closed, events located", ST_INTEGRATOR_SDIRK2,
     ST_CONTACT_RIGID, ST_LAW_COULOMB, ST_DRIFT_GAP, ST_IMPACT_POISSON_FRICTION, ST_EVENTS_ALL, ST_ENERGY_LIMIT, 1e-6,
     ST_EFFORT_THOROUGH, 1e-9, &metric},
    {"as default, but every step problem is solved to 1e-9, without a limit on work", ST_INTEGRATOR_IMPLICIT,
     ST_CONTACT_RIGID, ST_LAW_COULOMB, ST_DRIFT_GAP, ST_IMPACT_NEWTON, ST_EVENTS_OFF, ST_ENERGY_LIMIT, 1e-6,
     ST_EFFORT_EXACT, 1e-9, &closed},
    {"as default, but with a small fixed amount of work per contact", ST_INTEGRATOR_IMPLICIT, ST_CONTACT_RIGID,
     ST_LAW_COULOMB, ST_DRIFT_GAP, ST_IMPACT_NEWTON, ST_EVENTS_OFF, ST_ENERGY_LIMIT, 0.1, ST_EFFORT_REAL_TIME, -1,
     &relative},
};

int st_preset_count(void)
{
    return N_PRESETS;
}

const char *st_preset_name(int index)
{
    return index >= 0 && index < N_PRESETS ? preset_words[index] : NULL;
}

const char *st_preset_help(int index)
{
    return index >= 0 && index < N_PRESETS ? presets[index].help : NULL;
}

static st_Status bad_word(const char *key, const char *found, const char *const *words, st_Error *err)
{
    char list[300];
    /* "a", "b" or "c": a list of words for messages. */
    size_t used = 0;
    list[0] = '\0';
    for (int k = 0; words[k] != NULL && used < sizeof list; k++) {
        const char *separator = k == 0 ? "" : (words[k + 1] == NULL ? " or " : ", ");
        int n = snprintf(list + used, sizeof list - used, "%s\"%s\"", separator, words[k]);
        used += n > 0 ? (size_t)n : 0;
    }
    return sti_fail(err, ST_ERR_ARGUMENT, "%s is \"%s\", must be %s", key, found != NULL ? found : "", list);
}

static void apply_preset(st_SystemDef *def, int index)
{
    const Preset *preset = &presets[index];
    def->preset = preset_words[index];
    def->integrator = preset->integrator;
    def->form = ST_FORM_II;
    def->contact = preset->contact;
    def->law = preset->law;
    def->facets = 8;
    def->drift = preset->drift;
    def->impact = preset->impact;
    def->events = preset->events;
    def->energy = preset->energy;
    def->residual_limit = preset->residual_limit;
    def->solver = "auto";
    def->effort = preset->effort;
    def->tolerance = preset->tolerance;
    def->margin = preset->lengths->margin;
    def->slop = preset->lengths->slop;
    def->correction_speed = preset->lengths->correction_speed;
    def->active_gap = preset->lengths->active_gap;
    def->sleep_speed = preset->lengths->sleep_speed;
    def->restitution_speed = preset->lengths->restitution_speed;
}

st_Status st_preset_apply(st_SystemDef *def, const char *preset, st_Error *err)
{
    STI_CHECK_DEF(def, "st_system_def", err);
    for (int k = 0; k < N_PRESETS; k++)
        if (preset != NULL && strcmp(preset, preset_words[k]) == 0) {
            apply_preset(def, k);
            return ST_OK;
        }
    return bad_word("preset", preset, preset_words, err);
}

st_SystemDef st_system_def(void)
{
    st_SystemDef def = {.h = 1e-3,
                        .end = 1.0,
                        .gravity = {0, 0, -9.81},
                        .max_iterations = 10000,
                        .step_work_limit = NO_WORK_LIMIT,
                        .threads = 1,
                        .islands = true,
                        .all_points = false,
                        .drop_redundant = false,
                        .sleep = false,
                        .sleep_time = 0.5,
                        .keep_springs = false,
                        .event_step = 0.01,
                        .max_events = 100,
                        .patch_elements = 3,
                        .patch_spacing = 1e-3,
                        .patch_mass = 1.0,
                        .contact_stiffness = 1e6,
                        .contact_damping = 1e4,
                        .joint_stiffness = 1e8,
                        .rigid_limit = false,
                        .forces = ST_FORCES_ANY,
                        .coordinates = ST_COORDINATES_AUTO,
                        .speed_limit = SPEED_OF_LIGHT,
                        .allocator = st_default_allocator(),
                        .cookie = STI_COOKIE};
    apply_preset(&def, 0);
    return def;
}

/* ---- settings --------------------------------------------------------------------------------- */

/* Words of the choices. The value of a word in the def is its index, or is given by `values`. */
static const char *const integrator_words[] = {"euler", "implicit", "trapezoid", "sdirk2", "bdf2", NULL};
static const char *const form_words[] = {"I", "II", NULL};
static const char *const contact_words[] = {"rigid", "compliant", "regularized", NULL};
static const char *const law_words[] = {"none", "coulomb", "cone", "pyramid", "box", NULL};
static const int law_values[] = {ST_LAW_FRICTIONLESS, ST_LAW_COULOMB, ST_LAW_CONE, ST_LAW_PYRAMID, ST_LAW_BOX};
static const char *const drift_words[] = {"velocity", "gap", "projection", "mean", NULL};
static const char *const impact_words[] = {"inelastic", "poisson", "newton", "poisson_friction", NULL};
static const char *const events_words[] = {"off", "collisions", "all", NULL};
static const char *const energy_words[] = {"report", "limit", NULL};
static const char *const initial_words[] = {"keep", "project", "refuse", NULL};
static const char *const forces_words[] = {"any", "least_norm", NULL};
static const char *const coordinates_words[] = {"auto", "joint", "body", NULL};
static const char *const effort_words[] = {"thorough", "exact", "balanced", "real-time", NULL};
static const char *const device_words[] = {"none", "flat", "cuda", NULL};
#define NAME_OF_SOLVER(name) #name,
static const char *const solver_words[] = {STI_SOLVERS(NAME_OF_SOLVER) NULL};

typedef struct Entry {
    st_Setting setting;
    size_t offset;     /* in st_SystemDef                                                          */
    const int *values; /* of a choice; NULL: the word's index                                      */
    int multiple;      /* an integer must be a multiple of this; 0: any                            */
} Entry;

#define AT(field) offsetof(st_SystemDef, field)
#define CHOICE(key, words, help)                                                                                       \
    {                                                                                                                  \
#key, ST_SETTING_CHOICE, "", help, words, 0, 0                                                                 \
    }
#define NUMBER(key, unit, min, max, help)                                                                              \
    {                                                                                                                  \
        {#key, ST_SETTING_NUMBER, unit, help, NULL, min, max}, AT(key), NULL, 0                                        \
    }
static const Entry entries[] = {
    {CHOICE(preset, preset_words,
            "a named set of values for the settings below, some of them from papers; other keys override it"),
     AT(preset), NULL, 0},
    {CHOICE(integrator, integrator_words,
            "euler: springs and dampers are explicit; implicit: linearly implicit Euler; trapezoid, sdirk2, bdf2: "
            "order two"),
     AT(integrator), NULL, 0},
    {CHOICE(form, form_words, "trapezoid: laws use the new velocity (I) or the mean of old and new (II)"), AT(form),
     NULL, 0},
    {CHOICE(contact, contact_words,
            "contact model: rigid, patches of viscoelastic elements (compliant), or springs and dampers (regularized)"),
     AT(contact), NULL, 0},
    {CHOICE(law, law_words,
            "friction law: none, exact Coulomb cone, its convex relaxation (cone), a pyramid of facets, a box"),
     AT(law), law_values, 0},
    {{"facets", ST_SETTING_INTEGER, "", "number of facets of the pyramid in space, even; in the plane it is 2", NULL, 2,
      256},
     AT(facets),
     NULL,
     2},
    {CHOICE(drift, drift_words,
            "drift correction of joints and gaps. velocity: none; gap: gap/h in the velocity constraints; projection: "
            "positions are projected after the step; mean: discrete gradients for joints (with trapezoid II joints are "
            "exact and no energy is lost; also euler, implicit), gap/h for gaps"),
     AT(drift), NULL, 0},
    {CHOICE(
         impact, impact_words,
         "impact law. inelastic: no rebound; poisson: restitution of impulses, without friction on the added impulses "
         "(Potra et al. 2006); newton: restitution of velocities; poisson_friction: as poisson, with friction on "
         "all impulses"),
     AT(impact), NULL, 0},
    {CHOICE(events, events_words,
            "off: fixed step; collisions: the time at which a contact closes is located; all: also take-off, stick and "
            "slip"),
     AT(events), NULL, 0},
    {CHOICE(
         energy, energy_words,
         "limit: restitution is reduced if it would add energy; a step that gains energy without a source is repeated "
         "in another way or ends the run. report: both are accepted and reported, up to a gain of 1e6 times the "
         "present energy"),
     AT(energy), NULL, 0},
    {CHOICE(initial, initial_words,
            "an initial state that violates joints or has overlaps: use it (keep), move it to the nearest consistent "
            "state "
            "(project), or report an error (refuse)"),
     AT(initial), NULL, 0},
    NUMBER(h, "s", STI_SMALLEST, STI_LARGEST, "time step"),
    NUMBER(end, "s", STI_SMALLEST, STI_LARGEST, "end time"),
    {{"gravity", ST_SETTING_VECTOR, "m/s^2", "acceleration of gravity", NULL, -STI_LARGEST, STI_LARGEST},
     AT(gravity),
     NULL,
     0},
    {{"medium_density", ST_SETTING_NUMBER, "kg/m^3",
      "density of the fluid around the bodies, for drag that grows with the square of the speed; a body counts as the "
      "box "
      "with its mass and inertia",
      NULL, 0, STI_LARGEST},
     AT(medium.density),
     NULL,
     0},
    {{"medium_viscosity", ST_SETTING_NUMBER, "Pa s",
      "viscosity of the fluid around the bodies, for drag that is proportional to the speed", NULL, 0, STI_LARGEST},
     AT(medium.viscosity),
     NULL,
     0},
    {{"wind", ST_SETTING_VECTOR, "m/s", "velocity of the fluid around the bodies", NULL, -STI_LARGEST, STI_LARGEST},
     AT(medium.wind),
     NULL,
     0},
    {CHOICE(solver, solver_words, "solver of the step problem"), AT(solver), NULL, 0},
    NUMBER(
        tolerance, "", -1.0, 1.0,
        "a step problem is solved if its residual is at most this; the work is not limited then. -1: 1e-9 if that is "
        "cheap, else 1e-4, within the limits of effort"),
    NUMBER(residual_limit, "", 1e-16, STI_LARGEST,
           "a step with a residual above this counts as failed; if the value comes from the preset, the residual must "
           "also "
           "be above the tolerance. A run with more than 1 per cent of failed steps has failed"),
    {{"max_iterations", ST_SETTING_INTEGER, "", "largest number of sweeps of an iterative solver", NULL, 1, 1e9},
     AT(max_iterations),
     NULL,
     0},
    NUMBER(step_work_limit, "", 1.0, NO_WORK_LIMIT,
           "largest work of a step, in visits per contact; factor operations count as visits. At the limit the solver "
           "returns "
           "the best solution so far, and its residual is reported"),
    NUMBER(step_seconds, "s", 0.0, STI_LARGEST,
           "a step that takes longer ends the run; the result then depends on the speed of the machine. 0: no limit"),
    {CHOICE(effort, effort_words,
            "work of the solver auto. thorough: until the tolerance is met; exact: the same, starting from a linear "
            "solution; balanced: exact if that is cheap, else a bounded number of operations per contact; real-time: a "
            "small fixed number"),
     AT(effort), NULL, 0},
    {{"keyframe", ST_SETTING_INTEGER, "",
      "number of the keyframe in which the run starts, from 1; 0: the state that bodies have in the scene", NULL, 0,
      1000000},
     AT(keyframe),
     NULL,
     0},
    {{"threads", ST_SETTING_INTEGER, "",
      "largest number of threads, for large piles and many islands; the result is the same to the last bit", NULL, 1,
      256},
     AT(threads),
     NULL,
     0},
    {CHOICE(
         device, device_words,
         "none: the ordinary step. flat: the step on flat arrays, by threads of the host; only for free bodies made of "
         "convex shapes. cuda: the same on a CUDA device, with the same bits. The residual of flat and cuda is the "
         "rms velocity error of contacts over the velocity that gravity adds in one step"),
     AT(device), NULL, 0},
    {{"islands", ST_SETTING_BOOLEAN, "",
      "parts of the scene that do not touch are solved separately, each to the tolerance on its own scale", NULL, 0, 1},
     AT(islands),
     NULL,
     0},
    NUMBER(margin, "m", -1.0, STI_LONGEST,
           "drift gap: contacts closer than this enter the step problem; -1: 1/100 of the width of the smaller shape, "
           "plus "
           "4 g h^2"),
    {{"all_points", ST_SETTING_BOOLEAN, "", "use every point of a contact patch, not only the few that span it", NULL,
      0, 1},
     AT(all_points),
     NULL,
     0},
    {{"drop_redundant", ST_SETTING_BOOLEAN, "",
      "use every point of a contact patch except redundant ones: points between others, with the same normal and no "
      "smaller gap",
      NULL, 0, 1},
     AT(drop_redundant),
     NULL,
     0},
    NUMBER(slop, "m", -1.0, STI_LONGEST,
           "drift gap: gaps and overlaps up to this count as closed, larger ones are corrected; -1: only for overlaps, "
           "up to "
           "1/1000 of the width of the smaller shape, if the step problem is not solved exactly"),
    NUMBER(correction_speed, "m/s", -1.0, STI_LARGEST,
           "drift gap: largest speed that removes overlap; -1: sqrt(g d), where d is the mean width of moving shapes"),
    NUMBER(active_gap, "m", -1.0, STI_LONGEST,
           "drift velocity and projection: a contact is active below this gap; -1: 1e-7 d"),
    {{"sleep", ST_SETTING_BOOLEAN, "",
      "islands at rest are not stepped until something touches them or a force on them changes", NULL, 0, 1},
     AT(sleep),
     NULL,
     0},
    NUMBER(sleep_speed, "m/s", -1.0, STI_LARGEST,
           "sleep: a body is at rest if all its points are slower than this; -1: 1e-4 sqrt(g d)"),
    NUMBER(sleep_time, "s", 0.0, STI_LARGEST, "sleep: an island sleeps after it was at rest for this time"),
    {{"keep_springs", ST_SETTING_BOOLEAN, "", "projection keeps spring lengths (eq. 46 of Anitescu & Potra 2002)", NULL,
      0, 1},
     AT(keep_springs),
     NULL,
     0},
    NUMBER(restitution_speed, "m/s", -1.0, STI_LARGEST,
           "an impact slower than this does not rebound; -1: 1e-3 sqrt(g d). With events off, an impact slower than "
           "the speed "
           "that forces produce in one step does not rebound, either"),
    NUMBER(event_step, "", 1e-12, 0.1,
           "events all: smallest time between two events, as a fraction of the step; closer events count as one"),
    {{"max_events", ST_SETTING_INTEGER, "",
      "largest number of events in one step; after more, the rest of the step has no rebounds and no transitions", NULL,
      1, 1e6},
     AT(max_events),
     NULL,
     0},
    {{"patch_elements", ST_SETTING_INTEGER, "",
      "contact compliant: number of elements along a side of the patch; 1 is the lumped model", NULL, 1,
      STI_MAX_PATCH_SIDE},
     AT(patch_elements),
     NULL,
     0},
    NUMBER(patch_spacing, "m", STI_SHORTEST, STI_LONGEST, "contact compliant: distance of neighbouring elements"),
    NUMBER(patch_mass, "kg", STI_SMALLEST, STI_LARGEST, "contact compliant: the mass for which damping is critical"),
    NUMBER(contact_stiffness, "N/m", STI_SMALLEST, STI_LARGEST,
           "contact regularized: stiffness of the normal spring for shapes without a stiffness of their own"),
    NUMBER(contact_damping, "N s/m", STI_SMALLEST, STI_LARGEST,
           "contact regularized: damping of the tangential damper for shapes without a damping of their own"),
    NUMBER(joint_stiffness, "N/m", STI_SMALLEST, STI_LARGEST,
           "contact regularized: stiffness of the springs that replace joints (N m/rad for rotations)"),
    {{"rigid_limit", ST_SETTING_BOOLEAN, "",
      "contact regularized: in every step, stiffness goes to infinity by continuation", NULL, 0, 1},
     AT(rigid_limit),
     NULL,
     0},
    {CHOICE(forces, forces_words,
            "which forces to compute if rigid bodies do not determine them, as under four legs. any: the solution that "
            "the "
            "solver finds; least_norm: the solution of least norm, weighted by the stiffness and damping of contacts "
            "and joints, as stiff elastic bodies share loads"),
     AT(forces), NULL, 0},
    {CHOICE(coordinates, coordinates_words,
            "unknowns of the step problem. joint: velocities of joints, tree by tree; body: velocities of bodies, with "
            "joints as rows. The solution is the same. auto: body with effort thorough, contact regularized, forces "
            "least_norm, or drift mean with contacts or loops, else joint"),
     AT(coordinates), NULL, 0},
    NUMBER(speed_limit, "m/s", STI_SMALLEST, STI_LARGEST,
           "a step in which a velocity exceeds this (also in rad/s) has diverged: it is an error"),
};
#define N_ENTRIES ((int)(sizeof entries / sizeof entries[0]))

int st_setting_count(void)
{
    return N_ENTRIES;
}

const st_Setting *st_setting(int index)
{
    return index >= 0 && index < N_ENTRIES ? &entries[index].setting : NULL;
}

static const Entry *find_setting(const char *key)
{
    for (int k = 0; k < N_ENTRIES; k++)
        if (key != NULL && strcmp(key, entries[k].setting.key) == 0) return &entries[k];
    return NULL;
}

const st_Setting *st_setting_find(const char *key)
{
    const Entry *entry = find_setting(key);
    return entry != NULL ? &entry->setting : NULL;
}

/* Two choices are names in the def (preset, solver), the others enums. */
static bool is_name(const Entry *entry)
{
    return entry->offset == AT(preset) || entry->offset == AT(solver);
}

static const char *choice_word(const Entry *entry, const void *field)
{
    if (is_name(entry)) return *(const char *const *)field;
    int value = *(const int *)field;
    for (int k = 0; entry->setting.words[k] != NULL; k++)
        if ((entry->values != NULL ? entry->values[k] : k) == value) return entry->setting.words[k];
    return NULL;
}

st_Status st_setting_get(const st_SystemDef *def, const char *key, st_SettingValue *out, st_Error *err)
{
    STI_NEED(def, err);
    STI_NEED(out, err);
    const Entry *entry = find_setting(key);
    if (entry == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "there is no setting \"%s\"", key != NULL ? key : "");
    const void *field = (const char *)def + entry->offset;
    *out = (st_SettingValue){0};
    switch (entry->setting.kind) {
    case ST_SETTING_CHOICE:
        out->word = choice_word(entry, field);
        break;
    case ST_SETTING_NUMBER:
        out->number = *(const double *)field;
        break;
    case ST_SETTING_INTEGER:
        out->number = *(const int *)field;
        break;
    case ST_SETTING_BOOLEAN:
        out->number = *(const bool *)field;
        break;
    case ST_SETTING_VECTOR:
        out->vector = *(const st_Vec3 *)field;
        break;
    }
    return ST_OK;
}

static st_Status check_range(const st_Setting *setting, double x, st_Error *err)
{
    if (sti_between(x, setting->min, setting->max)) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "%s is %g, must be from %g to %g", setting->key, x, setting->min,
                    setting->max);
}

st_Status st_setting_set(st_SystemDef *def, const char *key, const st_SettingValue *value, st_Error *err)
{
    STI_NEED(value, err);
    STI_CHECK_DEF(def, "st_system_def", err);
    const Entry *entry = find_setting(key);
    if (entry == NULL) return sti_fail(err, ST_ERR_ARGUMENT, "there is no setting \"%s\"", key != NULL ? key : "");
    const st_Setting *setting = &entry->setting;
    void *field = (char *)def + entry->offset;
    double x = value->number;
    switch (setting->kind) {
    case ST_SETTING_CHOICE: {
        const char *word = value->word;
        if (entry->offset == AT(preset)) return st_preset_apply(def, word, err);
        void *choice = (char *)def + entry->offset;
        for (int k = 0; entry->setting.words[k] != NULL; k++) {
            if (word == NULL || strcmp(word, entry->setting.words[k]) != 0) continue;
            if (is_name(entry))
                *(const char **)choice = entry->setting.words[k];
            else
                *(int *)choice = entry->values != NULL ? entry->values[k] : k;
            return ST_OK;
        }
        return bad_word(entry->setting.key, word, entry->setting.words, err);
    }
    case ST_SETTING_NUMBER:
        STI_TRY(check_range(setting, x, err));
        *(double *)field = x;
        return ST_OK;
    case ST_SETTING_INTEGER:
        STI_TRY(check_range(setting, x, err));
        if (x != floor(x)) return sti_fail(err, ST_ERR_ARGUMENT, "%s is %g, must be a whole number", key, x);
        if (entry->multiple > 0 && (int)x % entry->multiple != 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s is %g, must be a multiple of %d", key, x, entry->multiple);
        *(int *)field = (int)x;
        return ST_OK;
    case ST_SETTING_BOOLEAN:
        STI_TRY(check_range(setting, x, err));
        *(bool *)field = x != 0;
        return ST_OK;
    case ST_SETTING_VECTOR:
        STI_TRY(check_range(setting, value->vector.x, err));
        STI_TRY(check_range(setting, value->vector.y, err));
        STI_TRY(check_range(setting, value->vector.z, err));
        *(st_Vec3 *)field = value->vector;
        return ST_OK;
    }
    return ST_ERR_ARGUMENT;
}

/* ---- settings that a scene leaves open ---------------------------------------------------------- */

/* Lengths and speeds that a scene leaves open, from its own sizes, gravity and step.
 *
 * With d the mean width of the shapes that can move and g gravity, sqrt(g d) is the speed of a fall by half a width:
 *
 *     margin             RELATIVE_MARGIN of the smaller shape of a pair, and the gap that gravity closes in a few steps
 *     slop               a dead band for overlaps alone, pair by pair: warm_start.c
 *     correction_speed   sqrt(g d)               restitution_speed   1e-3 sqrt(g d)
 *     sleep_speed        1e-4 sqrt(g d)          active_gap          1e-7 d
 *     overlap            1e-9 d, below which contacts only touch
 *
 * A tolerance that is left open is 1e-9, and `auto` may stop at 1e-4 (auto.c); a tolerance that is given is met.
 *
 * The same scene in other units has the same numbers in those units. Without gravity d/100 in a step takes the place of
 * sqrt(g d). Without shapes d is a mean over joints or bodies (mean_reach), and 0.1 m if there is none.
 */

/* Mean width of the shapes that can move; 0: there is none. */
static double mean_size(const sti_World *world)
{
    const sti_Collider *c = &world->collider;
    double sum = 0;
    int n = 0;
    for (int k = 0; k < c->n_shapes; k++)
        if (world->body[world->scene->shape_body[k]].n_dofs > 0 && c->size[k] > 0) {
            sum += c->size[k];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

/* In place of the width of shapes: the mean of twice the size of the joints (sti_joint_size), or without joints of
 * twice the radius of gyration of bodies that turn; 0: there is neither. */
static double mean_reach(const sti_World *world)
{
    const int n_bodies = sti_first_rotor(world);
    double sum = 0;
    int n = 0;
    for (int k = 0; k < world->n_joints; k++) {
        const double size = sti_joint_size(world, k);
        if (world->joint[k].a >= n_bodies || world->joint[k].b >= n_bodies || !(size > 0 && size < INFINITY)) continue;
        sum += 2 * size;
        n++;
    }
    for (int b = 1; b < n_bodies && world->n_joints == 0; b++) {
        const sti_BodyMass *of = &world->values.body[b];
        const double J = fmax(fmax(of->inertia[0], of->inertia[1]), of->inertia[2]);
        if (world->body[b].n_dofs == 0 || !(of->mass > 0 && J > 0)) continue;
        sum += 2 * sqrt(J / of->mass);
        n++;
    }
    return n > 0 ? sum / n : 0;
}

static void fill_in(double *setting, double value)
{
    if (*setting < 0) *setting = value;
}

void sti_scale_settings(sti_Model *model)
{
    st_SystemDef *def = &model->def;
    const double found = mean_size(model->world), reach = found > 0 ? 0 : mean_reach(model->world);
    const double d = found > 0 ? found : reach > 0 ? reach : 0.1;
    const double g = norm(def->gravity), speed = g > 0 ? sqrt(g * d) : 0.01 * d / def->h;
    const double largest = model->world->collider.largest;
    model->world->collider.relative = def->margin < 0 ? STI_RELATIVE_MARGIN : 0;
    fill_in(&def->margin, STI_RELATIVE_MARGIN * (largest > 0 ? largest : d) + 4 * g * def->h * def->h);
    model->arm = model->rigid && found > 0 ? ldexp(1, ilogb(0.5 * found)) : 1;
    model->banded = def->slop < 0 && model->rigid;
    fill_in(&def->slop, 0);
    fill_in(&def->correction_speed, speed);
    model->closing_speed = fmin(def->correction_speed, speed);
    if (def->tolerance > 0 && def->effort == ST_EFFORT_BALANCED) def->effort = ST_EFFORT_EXACT; /* it was given */
    fill_in(&def->tolerance, 1e-9);
    fill_in(&def->restitution_speed, 1e-3 * speed);
    fill_in(&def->sleep_speed, 1e-4 * speed);
    model->overlap = def->active_gap < 0 ? 1e-9 * d : STI_OVERLAP;
    fill_in(&def->active_gap, 1e-7 * d);
}
