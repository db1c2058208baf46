/* stiction/system.h -- the simulation: choices, stepping, state and reports. */
#ifndef STICTION_SYSTEM_H
#define STICTION_SYSTEM_H

#include <stiction/model.h>
#include <stiction/problem.h>
#include <stiction/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum st_Integrator {
    ST_INTEGRATOR_EULER = 0, /* springs and dampers explicit                            */
    ST_INTEGRATOR_IMPLICIT,  /* linearly implicit Euler: springs and dampers as soft rows */
    ST_INTEGRATOR_TRAPEZOID, /* linearly implicit trapezoid, order two, in two forms    */
    ST_INTEGRATOR_SDIRK2,    /* two stages, order two, L-stable: for accuracy           */
    ST_INTEGRATOR_BDF2       /* two-step method, order two, L-stable, one problem per step */
} st_Integrator;
#define ST_N_INTEGRATORS 5

/* Form of the trapezoid: which velocity the laws of joints and contacts use. */
typedef enum st_Form {
    ST_FORM_I = 0, /* the new velocity: sticking is smooth; first order with nonlinear joints */
    ST_FORM_II     /* the mean of old and new: second order; the velocity alternates in sign while sticking */
} st_Form;

typedef enum st_ContactModel {
    ST_CONTACT_RIGID = 0,  /* no compliance: gaps close and stay closed                 */
    ST_CONTACT_COMPLIANT,  /* a patch of viscoelastic elements, Song, Pang & Kumar 2004 */
    ST_CONTACT_REGULARIZED /* springs and dampers, Preclik, Popa & Ruede 2011           */
} st_ContactModel;

typedef enum st_Impact {
    ST_IMPACT_INELASTIC = 0,   /* no rebound: the step problem with h = 0                   */
    ST_IMPACT_POISSON,         /* after compression, e times its normal impulses are added, without friction */
    ST_IMPACT_NEWTON,          /* normal velocity after >= -e times the one before        */
    ST_IMPACT_POISSON_FRICTION /* as poisson; the added impulses have friction, too         */
} st_Impact;

typedef enum st_Drift {
    ST_DRIFT_VELOCITY = 0, /* constraints on velocities only; positions drift           */
    ST_DRIFT_GAP,          /* gap/h in the velocity constraints, limited by correction_speed */
    ST_DRIFT_PROJECTION,   /* positions are projected on joints and active gaps after the step */
    ST_DRIFT_MEAN /* joints and springs by discrete gradients: joints stay closed and no energy is lost; gaps as in GAP
                   */
} st_Drift;

typedef enum st_Events {
    ST_EVENTS_OFF = 0,    /* fixed step                                                  */
    ST_EVENTS_COLLISIONS, /* collisions are located in time                              */
    ST_EVENTS_ALL         /* also take-off, stick, slip and change of facet              */
} st_Events;

/* Treatment of an initial state that violates joints or contains overlaps. */
typedef enum st_Initial {
    ST_INITIAL_KEEP = 0, /* it is used; drift correction removes the violation          */
    ST_INITIAL_PROJECT,  /* it is replaced by the nearest consistent state              */
    ST_INITIAL_REFUSE    /* st_system_create fails                                      */
} st_Initial;

/* Which contact and joint forces are computed if rigid bodies do not determine them uniquely, as under four legs. */
typedef enum st_Forces {
    ST_FORCES_ANY = 0,   /* the solution that the solver finds                          */
    ST_FORCES_LEAST_NORM /* the solution of least norm, with the weights 1/(k h^2) and 1/(gamma h). k is
                          * contact_stiffness, the stiffness of a shape or joint_stiffness; gamma is contact_damping.
                          * Stiff elastic bodies share loads in this way */
} st_Forces;

/* The unknown velocities of the step problem. States, reports and recordings are those of bodies in all cases. */
typedef enum st_Coordinates {
    ST_COORDINATES_AUTO = 0, /* body with effort thorough (the presets named after papers), contact regularized, forces
                              * least_norm, or drift mean with contacts or loops; else joint */
    ST_COORDINATES_JOINT,    /* velocities of joints, tree by tree; joints that close loops are rows */
    ST_COORDINATES_BODY      /* velocities of bodies; all joints are rows                 */
} st_Coordinates;

/* The response to a step or an impact law that would add energy. */
typedef enum st_Energy {
    ST_ENERGY_REPORT = 0, /* the result is kept and reported, as in the papers          */
    ST_ENERGY_LIMIT       /* restitution is reduced until it adds none; a step that gains energy is repeated or fails */
} st_Energy;

/* Where the step of a pile is computed. With flat and cuda, state and contacts are copied to the host when a function
 * reads them. So only one thread at a time may read such a system, even if it is `const`. */
typedef enum st_Device {
    ST_DEVICE_NONE = 0, /* the ordinary step                                            */
    ST_DEVICE_FLAT,     /* on flat arrays of the host; only free bodies made of convex shapes */
    ST_DEVICE_CUDA      /* the same kernels on a CUDA device, with the same bits         */
} st_Device;

/* All settings of a simulation. Start from st_system_def(), then apply a preset, then change single values. A length or
 * speed below 0 means: computed from the sizes in the scene, gravity and h. */
typedef struct st_SystemDef {
    const char *preset; /* the last one applied                                         */
    st_Integrator integrator;
    st_Form form; /* of the trapezoid                                                   */
    st_ContactModel contact;
    st_Law law; /* coulomb, cone, pyramid, box or frictionless ("none" in scene files)   */
    int facets; /* of the pyramid, in space                                             */
    st_Drift drift;
    st_Impact impact;
    st_Events events;
    st_Energy energy;
    st_Initial initial;
    double h;   /* step [s]                                                             */
    double end; /* end time [s]                                                         */
    st_Vec3 gravity;
    st_Medium medium;               /* fluid around the bodies; density and viscosity 0: none          */
    const char *solver;             /* a name of st_solver_name()                              */
    const st_OwnSolver *own_solver; /* your own solver in place of `solver`; it must outlive the system. NULL: none */
    const st_SolverValue *solver_values; /* parameters of the solver, as in st_SolverDef; must outlive the system */
    int n_solver_values;
    double tolerance;        /* of the solver, on the residual                          */
    double residual_limit;   /* a step with a residual above this counts as failed    */
    int max_iterations;      /* of iterative solvers                                    */
    double step_work_limit;  /* work of a step: visits per contact, factor operations included. At this limit the solver
                              * stops and returns the best solution so far              */
    double step_seconds;     /* a step that takes longer fails with ST_ERR_CANCELLED [s]; 0: never */
    st_Effort effort;        /* of the solver "auto"                                    */
    int threads;             /* largest number of threads; the bits of the result do not depend on it. 1 without
                              * OpenMP. With more than 1, several threads call the allocator */
    st_Device device;        /* with flat and cuda, st_system_create names any part that they do not support */
    bool islands;            /* independent parts of the step problem are solved separately */
    double margin;           /* drift gap: contacts closer than this enter the step [m] */
    bool all_points;         /* use every point of a contact patch, not only the few that span it */
    bool drop_redundant;     /* use every point except those that others imply; overrides all_points */
    double slop;             /* drift gap: gaps and overlaps up to this count as closed [m] */
    double correction_speed; /* drift gap: largest speed that removes overlap [m/s]     */
    double active_gap;       /* drift velocity, projection: a contact is active below this gap [m] */
    bool sleep;              /* islands at rest leave the step until something touches them */
    double sleep_speed;      /* an island is at rest if all its points are slower than this [m/s] */
    double sleep_time;       /* an island must be at rest for this long to sleep [s]    */
    bool keep_springs;       /* projection keeps spring lengths, AP eq. 46 (docs/methods.md 13)  */
    double restitution_speed; /* impacts slower than this do not rebound [m/s]. With fixed steps, impacts slower than
                               * the speed that forces produce in one step do not rebound, either */
    double event_step;        /* smallest fraction of a step between two events         */
    int max_events;           /* in one step; after more, the rest of the step has no restitution and no transitions */
    int patch_elements;       /* compliant: elements along the side of a patch           */
    double patch_spacing;     /* compliant: distance of neighbouring elements [m]        */
    double patch_mass;        /* compliant: damping is critical for this mass [kg]       */
    double contact_stiffness; /* regularized: normal spring of shapes without a stiffness [N/m] */
    double contact_damping;   /* regularized: tangential damper of shapes without a damping [N s/m] */
    double joint_stiffness;   /* regularized: springs in place of joints [N/m, N m/rad]  */
    bool rigid_limit;         /* regularized: in each step, stiffness goes to infinity by continuation */
    st_Forces forces;         /* which ones, if rigid bodies do not determine them       */
    st_Coordinates coordinates;
    double speed_limit; /* a step with a faster velocity fails as diverged [m/s, rad/s] */
    int keyframe;       /* number of the keyframe that the system starts in; 0: the poses of the defs          */
    st_Allocator allocator;
    const struct st_Ranks *ranks; /* shares piles with other processes (stiction/ranks.h); NULL: one process */
    uint32_t cookie;              /* set by st_system_def(); leave alone                             */
} st_SystemDef;

/* The preset "default" with h = 1/1000 s, end = 1 s and g = 9.81 m/s^2 along -z. */
ST_API st_SystemDef st_system_def(void);

/* Number of presets. Their names are st_preset_name(0 .. count - 1). */
ST_API int st_preset_count(void);
/* Name of a preset, a static string; NULL outside 0 .. count - 1. */
ST_API const char *st_preset_name(int index);
/* Description of a preset in one line, a static string; NULL outside 0 .. count - 1. */
ST_API const char *st_preset_help(int index);
/* Apply a preset. It sets integrator, form, contact, law, facets, drift, impact, events, energy, solver, effort,
 * tolerance, residual_limit, margin, slop, correction_speed, active_gap, sleep_speed and restitution_speed. All other
 * members stay. ST_ERR_ARGUMENT if there is no preset of this name. */
ST_API st_Status st_preset_apply(st_SystemDef *def, const char *preset, st_Error *err);

/* The settings of a simulation as a table: scene files, --set, help and documentation all use it. */
typedef enum st_SettingKind {
    ST_SETTING_CHOICE, /* one word of `words`                                           */
    ST_SETTING_NUMBER,
    ST_SETTING_INTEGER,
    ST_SETTING_BOOLEAN,
    ST_SETTING_VECTOR /* three numbers                                                  */
} st_SettingKind;

typedef struct st_Setting {
    const char *key; /* "integrator", "h", ...                                          */
    st_SettingKind kind;
    const char *unit;         /* "m/s", or ""                                           */
    const char *help;         /* one line                                               */
    const char *const *words; /* choices, NULL-terminated; else NULL                    */
    double min, max;          /* numbers and integers: the inclusive range              */
} st_Setting;

/* A value of any kind. `word` is for choices; `number` is for numbers, integers and booleans (0, 1). */
typedef struct st_SettingValue {
    const char *word;
    double number;
    st_Vec3 vector;
} st_SettingValue;

/* Number of settings. */
ST_API int st_setting_count(void);
/* A setting by its number; static; NULL outside 0 .. count - 1. */
ST_API const st_Setting *st_setting(int index);
/* A setting by its key; static; NULL if there is no such key. */
ST_API const st_Setting *st_setting_find(const char *key);
/* Read the value of a setting from `def`. */
ST_API st_Status st_setting_get(const st_SystemDef *def, const char *key, st_SettingValue *out, st_Error *err);
/* Set a value in `def`. The message of an error names the key, the value and the allowed range. */
ST_API st_Status st_setting_set(st_SystemDef *def, const char *key, const st_SettingValue *value, st_Error *err);

typedef struct st_System st_System; /* owns its state and memory */

/* Create a system from a scene. The scene is copied and may be changed or destroyed afterwards. Settings that do not
 * work together, or do not work with this scene, are refused here and never in a later step; the message names them.
 * Free the system with st_system_destroy. Different systems may step in different threads at the same time. */
ST_API st_Status st_system_create(const st_Scene *scene, const st_SystemDef *def, st_System **out, st_Error *err);
/* Create a system that shares a compiled scene (st_scene_compile). The scene is compiled only once for many systems.
 * Everything else is as with st_system_create. */
ST_API st_Status st_system_create_from(st_CompiledScene *compiled, const st_SystemDef *def, st_System **out,
                                       st_Error *err);
/* Create a system from your own equations of motion (model.h). The table is copied. Its ctx is not copied and must
 * outlive the system. q0 has n_q numbers, v0 has n_v. */
ST_API st_Status st_system_create_model(const st_Model *model, const double *q0, const double *v0,
                                        const st_SystemDef *def, st_System **out, st_Error *err);
/* Free a system. NULL is allowed. */
ST_API void st_system_destroy(st_System *system);
/* Cancel the current step, or the next one if none is running. The step ends within 0.1 s with ST_ERR_CANCELLED and
 * leaves the state unchanged. May be called from any thread and from a signal handler. NULL is allowed. */
ST_API void st_system_cancel(st_System *system);
/* Set a function that steps call often, from one of their threads at a time. If it returns true, the step is cancelled.
 * NULL: no function. Clones do not inherit it. */
ST_API void st_system_cancel_when(st_System *system, bool (*ask)(void *ctx), void *ctx);
/* Largest change of a coordinate and of a velocity that made the initial state consistent; 0 if it was used as given.
 * Both may be NULL. */
ST_API void st_system_initial_change(const st_System *system, double *position, double *velocity);

/* A flaw is an overlap or a violated joint in the state that was set last:
 *
 *     OVERLAP   deepest overlap of two bodies
 *     JOINT     largest error of a joint
 *     SPEED     largest speed at which a joint opens; for a motor or motion, the jump of its speed at the start
 *     LIMIT     distance of a coordinate from its limits, outside them; steps bring it back at correction_speed */
typedef enum st_FlawKind { ST_FLAW_OVERLAP = 0, ST_FLAW_JOINT, ST_FLAW_SPEED, ST_FLAW_LIMIT } st_FlawKind;
typedef struct st_Flaw {
    st_FlawKind kind;
    st_BodyId a, b;   /* the bodies of an overlap                                          */
    st_JointId joint; /* the joint of all other kinds                                      */
    double size;      /* overlap [m], joint, limit [m or rad], speed [m/s or rad/s]        */
} st_Flaw;
/* List the flaws above 1e-6. Overlaps come first, one per pair of bodies. Writes at most `room` of them to `out` and
 * returns the total number. For systems made from a scene, before the first step. */
ST_API int st_system_flaws(const st_System *system, st_Flaw *out, int room);

/* Report of one step. A large residual is not an error: the caller decides whether it is acceptable. */
typedef struct st_StepInfo {
    uint32_t size;      /* set by st_step_info(), for later versions of the struct     */
    double time;        /* after the step [s]                                          */
    double h;           /* length of the step [s]. Shorter than requested if a collision ended it, or if a full step
                         * would have gained energy without a source (attempts)        */
    int contacts;       /* in the step problem                                         */
    int joints;         /* joint rows, soft rows not counted                           */
    int asleep;         /* number of sleeping bodies                                   */
    int islands;        /* independent parts of the step problem that have contacts    */
    int collisions;     /* collisions located in this step                             */
    int transitions;    /* take-offs, sticks, slips and facet changes located          */
    int problems;       /* step problems solved, impacts included                      */
    bool accumulated;   /* more than max_events: no restitution and no transitions until the end of the step */
    int overlapping;    /* drift gap: overlapping contacts that were made compliant    */
    int undetermined;   /* forces least_norm: contacts with forces that are not unique; -1: not computed */
    double penetration; /* deepest overlap of all contacts after the step [m]          */
    double joint_error; /* largest error of a joint row after the step [m or rad]      */
    double impact_gain; /* kinetic energy that impact laws added, work of belts excluded [J] */
    double kinetic;     /* [J]                                                         */
    double potential;   /* of gravity, springs, and compliant and regularized contacts [J] */
    double friction;    /* work of friction in contacts and joints since the start, <= 0: the energy that becomes
                         * heat. Sliding is relative to the moving surface of a belt [J] */
    st_SolveInfo solve; /* result for the step problem; with a collision, the worse of the two results */
    double recovery; /* drift gap: smallest factor on the drift correction of an island; 1: full correction. It is less
                      * if the full correction would move a body faster than correction_speed */
    int rebounds_limited; /* islands or impacts in which restitution was reduced because it would have added energy */
    double work;       /* this and the next five are sums since the start [J]. Work of applied forces, adhesion, motors,
                        * moved joints and belts, and the energy of bodies from inlets less that of bodies to outlets */
    double damping;    /* work of dampers, <= 0                                       */
    double impacts;    /* work along the normals of contacts that close and rebound   */
    double correction; /* work of drift correction, which closes joints and removes overlap */
    double scheme;     /* energy change by the integrator itself, implicit and euler: -1/2 (v+ - v)'M(v+ - v), and
                        * -1/2 k (h a'v+)^2 per spring                                */
    double unexplained;  /* change of kinetic and potential energy, less friction and these five works [J] */
    int drift_fallbacks; /* drift mean: stages that did not converge and used drift gap for joints */
    int struck;          /* contacts that closed in a fixed step, or pinch a body: their impulses are no forces */
    double force_time;   /* middle of the step. Forces of this step are means over it, for this time [s] */
    double force_h;    /* time that forces act for [s]: h, except if a collision ended a step of an order-one scheme */
    double law_change; /* friction that depends on speed, liquid bridges: change in the last iteration relative to all
                        * impulses if these iterations did not converge; else 0 */
    int attempts;      /* attempts at this step; energy limit: an attempt that gains energy without a source, or opens a
                        * joint by half of its size, is repeated */
    double joint_opening; /* how far the worst joint is open after the step: lengths as a share of the distance from the
                           * joint to the centres of mass of its bodies (or of their radii of gyration, if larger),
                           * angles in rad. Gears are not counted */
} st_StepInfo;

/* An empty report with `size` set. */
ST_API st_StepInfo st_step_info(void);

/* Advance by h. If events are located, integrators of order two stop at each event and then complete the step.
 * Integrators of order one end the step at the first collision; then info.h < h. info and err may be NULL. On an error
 * the state is unchanged, except that bodies may have fallen asleep or have been woken, and inlets and outlets have
 * done their work. After a few steps of an unchanged scene, a step allocates no memory. */
ST_API st_Status st_system_step(st_System *system, double h, st_StepInfo *info, st_Error *err);

/* Current time [s]. */
ST_API double st_system_time(const st_System *system);
/* Number of coordinates. */
ST_API int st_system_n_q(const st_System *system);
/* Number of velocities. */
ST_API int st_system_n_v(const st_System *system);
/* Copy the coordinates and velocities. Either may be NULL. */
ST_API void st_system_state(const st_System *system, double *q, double *v);
/* Set time, coordinates and velocities. Warm starts and the history of multi-step integrators are reset. */
ST_API st_Status st_system_set_state(st_System *system, double t, const double *q, const double *v, st_Error *err);
/* Hash of time, coordinates and velocities, bit for bit. */
ST_API uint64_t st_system_hash(const st_System *system);
/* Save the whole state with its history (warm starts, active contacts). A system made from the same scene and settings
 * continues from it bit for bit. Returns the number of bytes, and writes them if `size` is large enough. Only
 * machines with the same byte order can read them. */
ST_API size_t st_system_save(const st_System *system, void *buffer, size_t size);
/* Restore a saved state. On an error the system is unchanged. */
ST_API st_Status st_system_restore(st_System *system, const void *buffer, size_t size, st_Error *err);
/* Energies of the current state [J]; potential as in st_StepInfo. Either may be NULL. */
ST_API st_Status st_system_energy(st_System *system, double *kinetic, double *potential, st_Error *err);

/* Pose of a body, for systems made from a scene. Here and in the reports below ST_ERR_ARGUMENT, without a message,
 * means that there is no such body, joint, contact, island or event.                                    */
ST_API st_Status st_system_pose(const st_System *system, st_BodyId body, st_Pose *out);
/* Velocity of the centre of mass (world axes) and spin (body axes) of a body. */
ST_API st_Status st_system_velocity(const st_System *system, st_BodyId body, st_Vec3 *velocity, st_Vec3 *spin);
/* True if the body is present. Grains that an inlet has not inserted yet and bodies that an outlet has removed are
 * absent; their pose has no meaning. An id without a body gives true. */
ST_API bool st_system_present(const st_System *system, st_BodyId body);
/* The values of measure `index` of the scene after the last step. st_measure_value_name gives their names, and *count
 * (may be NULL) their number. `values` must have room for ST_MEASURE_VALUES numbers. Forces are means over the step,
 * including impacts. */
ST_API st_Status st_system_measure(const st_System *system, int index, double *values, int *count, st_Error *err);

/* True if the body sleeps (setting `sleep`). */
ST_API bool st_system_asleep(const st_System *system, st_BodyId body);
/* Wake a body; its island wakes with it before the next step. */
ST_API st_Status st_system_wake(st_System *system, st_BodyId body, st_Error *err);

/* Set the wanted speed, position or force of the motor of a joint from now on, in place of offset + target profile(t).
 * NaN: return to the value in the scene. A motor of type motion cannot be set. The members lag, integrate, lowest and
 * highest of st_MotorDef define how the motor follows. Its wanted value is part of the state. */
ST_API st_Status st_system_set_motor(st_System *system, st_JointId joint, double wanted, st_Error *err);
/* Set an applied force and torque from now on, in place of those in the scene times the profile. They are in the axes
 * of the def. If one of them is NULL, it is 0. If both are NULL, the values in the scene apply again. st_system_save
 * stores the values. */
ST_API st_Status st_system_set_force(st_System *system, st_ForceId id, const st_Vec3 *force, const st_Vec3 *torque,
                                     st_Error *err);

/* Number of entries of the control vector. It has one entry for each motor that can be set, then six for each applied
 * force. */
ST_API int st_system_control_count(const st_System *system);
/* Name of an entry: "JOINT.motor" or "FORCE.fx", .fy, .fz, .tx, .ty, .tz. `out` has room for `size` bytes; longer names
 * are truncated. */
ST_API st_Status st_system_control_name(const st_System *system, int index, char *out, int size);
/* Copy the values that were set. NaN: the value in the scene applies. n is the number of entries. */
ST_API st_Status st_system_controls(const st_System *system, double *values, int n, st_Error *err);
/* Set all entries, as st_system_set_motor and st_system_set_force do. NaN: return to the value in the scene; 0 if other
 * entries of the same force are set. If a value is out of range, nothing changes. */
ST_API st_Status st_system_set_controls(st_System *system, const double *values, int n, st_Error *err);

/* Apply a force at the centre of mass of a body and a torque, world axes, in addition to all other forces. They act
 * until the next call for this body. Both NULL or 0: no push. st_system_save stores the values. */
ST_API st_Status st_system_push(st_System *system, st_BodyId body, const st_Vec3 *force, const st_Vec3 *torque,
                                st_Error *err);
/* Move one body between two steps. Its island wakes, the warm start of its contacts is dropped, and integrators of
 * order two restart as after an event. Joints, springs and gaps are not checked. If the new pose opens a joint, drift
 * correction closes it in the following steps, at most at correction_speed (drift `projection`: at once; `velocity`:
 * never). A fixed body can be moved, too: it stays at rest, and all bodies wake. */
ST_API st_Status st_system_set_pose(st_System *system, st_BodyId body, const st_Pose *pose, st_Error *err);
/* Set the velocity (world axes) and spin (body axes; NULL: unchanged) of one body between two steps. The next
 * step corrects a velocity that violates a joint. A fixed body is refused. */
ST_API st_Status st_system_set_velocity(st_System *system, st_BodyId body, const st_Vec3 *velocity, const st_Vec3 *spin,
                                        st_Error *err);
/* Remove a free body from a running system. From now on it has no contacts and no weight (st_system_present is false).
 * The call takes constant time: nothing is compiled again, and all ids stay valid. Its contacts end before the next
 * step, and sleeping bodies in contact with it wake. st_system_save and st_system_clone keep which bodies are present.
 * A body is refused if it is fixed, has joints, springs or applied forces, or is absent. */
ST_API st_Status st_system_remove_body(st_System *system, st_BodyId body, st_Error *err);
/* Insert an absent body (removed by st_system_remove_body or an outlet, or not yet inserted by an inlet) at a pose,
 * with a velocity (world axes) and a spin (body axes); NULL: 0. This takes constant time, too. A scene can have spare
 * bodies for bodies that are not known in advance. The call does not check for overlap; drift correction removes it. */
ST_API st_Status st_system_insert_body(st_System *system, st_BodyId body, const st_Pose *pose, const st_Vec3 *velocity,
                                       const st_Vec3 *spin, st_Error *err);

/* Change a number of a running system between two steps. `path` is its path in a scene file. A star matches any
 * characters; then the value is set for every path that matches:
 *     bodies/NAME/mass                 its inertia changes in proportion
 *     bodies/NAME/shapes/NAME/KEY      KEY: friction, restitution, rolling, spinning
 *     ground/NAME/KEY                  shapes of the ground
 *     materials/NAME/KEY               all shapes of a material
 *     joints/NAME/KEY                  KEY: friction, stiffness, damping, rest, lower, upper, other_lower, other_upper,
 *                                      restitution, armature, motor/stiffness, motor/damping, motor/max_force,
 *                                      motor/target, motor/offset
 *     springs/NAME/KEY                 KEY: stiffness, damping
 * The next step is the same as in a scene with this value. The values are part of the state: st_system_save writes
 * them, and clones have them. The compiled scene stays shared. A value that would add or remove friction, a spring, a
 * limit or a rotor is refused, because it needs another scene (st_system_change). Sleeping bodies wake, integrators of
 * order two restart as after an event, and reports of the last step are dropped. The change of energy counts as
 * st_StepInfo.work. Articulations of the system must be made again. On an error the system is unchanged, except that
 * bodies may wake. */
ST_API st_Status st_system_set_parameter(st_System *system, const char *path, double value, st_Error *err);
/* Read the number at a path; with stars, the first one that matches. */
ST_API st_Status st_system_parameter(const st_System *system, const char *path, double *value, st_Error *err);

/* Set the state of a system to a keyframe of its scene, by number from 1: time, poses, velocities and motors. Bodies
 * that the keyframe does not list stay where they are, at rest. On an error the system is unchanged, except for motors.
 */
ST_API st_Status st_system_set_keyframe(st_System *system, int number, st_Error *err);

/* Continue with another scene between two steps: bodies, shapes, joints, springs and forces may be new, removed or
 * different. Objects are matched by name. A body that existed before continues from its current state; the pose in its
 * def is not used. A joint or spring that existed before, between the same bodies and at the same points, stays
 * attached and keeps its turn count. Limits, motors, stiffness, masses and friction are those of the new scene, even
 * if st_system_set_parameter had set them before. New objects are placed relative to the current poses. Contacts keep
 * their warm start; motors and forces keep the values that were set. All bodies wake, and reports of the last step are
 * dropped. Ids are those of the new scene. States that were saved before cannot be restored. On an error the system is
 * unchanged. */
ST_API st_Status st_system_change(st_System *system, const st_Scene *scene, st_Error *err);
/* Number of successful calls of st_system_change. */
ST_API int st_system_changes(const st_System *system);
/* Create a second system that continues from the same state, bit for bit, and shares the compiled scene. Not for
 * systems from st_system_create_model. */
ST_API st_Status st_system_clone(const st_System *system, st_System **out, st_Error *err);

/* Total linear momentum, and angular momentum about the origin of the world, world axes. */
ST_API st_Status st_system_momentum(const st_System *system, st_Vec3 *linear, st_Vec3 *angular);

/* A contact of the last step, or a limit of a joint (dim 1; its force is in st_JointReport). A force is a mean over the
 * step, for its middle st_StepInfo.force_time: (impulse - impact)/force_h.
 *
 * `struck` is for fixed steps: a contact closed in this step, this one or another one at the same mechanism. Then the
 * impact cannot be separated from finite forces. The whole impulse counts as impact, and the force is 0. The same holds
 * for a mechanism in which drift correction of a joint starts in this step. */
typedef struct st_ContactReport {
    uint64_t id;
    st_BodyId a, b;
    st_ShapeId shape_a, shape_b;
    st_JointId joint;      /* the joint at its limit; {0}: a contact of shapes          */
    st_Vec3 point, normal; /* world; normal from a to b                                 */
    st_Vec3 tangent;       /* direction of velocity[1] and impulse[1]; [2] is along normal x tangent */
    double gap;            /* at the start of the step [m]                              */
    bool asleep;           /* its bodies sleep: it is not in the step problem, and its force is the last one */
    int dim;
    double velocity[ST_MAX_DIM]; /* H'v: normal, tangents [m/s]; rolling, spinning [rad/s]; relative to the surface of a
                                    belt */
    double impulse[ST_MAX_DIM];  /* of the step: normal, tangents [N s]; rolling, spinning [N m s] */
    double impact[ST_MAX_DIM];   /* part of `impulse` that comes from impacts           */
    st_Vec3 force, torque;       /* on b at the point, mean over the step without impacts, world axes [N, N m] */
    bool struck;
} st_ContactReport;

/* The step problem that was solved last (for schemes with stages, that of the last stage). Its sizes are 0 before the
 * first step. *r receives its impulses (n_r), not those of the whole step; r may be NULL. Valid until the next step.
 *
 * Rolling and spinning rows are multiplied by a length of the scene, and mu_roll and mu_spin are divided by it, so that
 * all rows of a contact have the same unit. Adhesion is included in f and r. Friction that depends on direction is a
 * factor on tangential rows. For a large pile, this call computes the rows of H; it returns NULL if there is no memory
 * for them. */
ST_API const st_Problem *st_system_problem(st_System *system, const double **r);

/* An island of the last step problem: a group of bodies that contacts, joints and springs connect. Each island is
 * solved separately. Islands are ordered by their first body. A body without contacts is in no island. */
typedef struct st_IslandReport {
    int bodies;         /* for your own model: blocks of the mass matrix                 */
    int contacts, rows; /* contacts include motors and joint friction; rows: joint and soft rows */
    st_SolveInfo solve; /* residual.worst_contact is an index within the island          */
} st_IslandReport;

/* Number of islands of the last step problem. */
ST_API int st_system_island_count(const st_System *system);
/* Report of island `index`, 0 .. count - 1. */
ST_API st_Status st_system_island(const st_System *system, int index, st_IslandReport *out);

/* Number of contacts in the last step problem. */
ST_API int st_system_contact_count(const st_System *system);
/* Report of contact `index`, 0 .. count - 1. */
ST_API st_Status st_system_contact(const st_System *system, int index, st_ContactReport *out);
/* Sum of all contact forces on a body: force, and torque about its centre of mass, world axes. */
ST_API st_Status st_system_contact_force(const st_System *system, st_BodyId body, st_Vec3 *force, st_Vec3 *torque);
/* As st_system_contact_force for all bodies in one pass over the contacts. The arrays are indexed by id.index1, with
 * the ground first, and have `count` entries: the number of bodies + 1, or fewer. Allocates nothing. */
ST_API st_Status st_system_contact_forces(const st_System *system, st_Vec3 *force, st_Vec3 *torque, int count);

typedef enum st_Frame {
    ST_FRAME_WORLD = 0,
    ST_FRAME_A /* axes of body a */
} st_Frame;

/* Report of a joint: the action of a on b at the point of the joint in the last step, and its current state. The action
 * includes motors, limits, friction and springs of the joint. `impulse` is the total over the step, `impact` the part
 * of it that comes from impacts, and `force` the mean without impacts, for st_StepInfo.force_time. `struck` is as in
 * st_ContactReport. A gear has no point; its action is `gear`, on the coordinate of its joint_a. */
typedef struct st_JointReport {
    st_Vec3 point;                         /* point of b, in the world [m]                   */
    st_Vec3 impulse, angular_impulse;      /* [N s, N m s]                                   */
    st_Vec3 impact, angular_impact;        /* parts that come from impacts                   */
    st_Vec3 force, torque;                 /* [N, N m]                                       */
    double error;                          /* largest error of its rows [m or rad]           */
    double coordinate, speed;              /* [m or rad, and per second]; 0: it has none     */
    double motor, friction, limit, spring; /* on the coordinate [N or N m]               */
    double other, other_speed;             /* the other coordinate; 0: it has none           */
    double other_limit;                    /* on the other coordinate [N or N m]             */
    double gear;                           /* [N or N m]                                     */
    bool struck;
} st_JointReport;

/* Report of a joint. `frame` selects the axes of point, impulses, forces and torques. */
ST_API st_Status st_system_joint(const st_System *system, st_JointId joint, st_Frame frame, st_JointReport *out);

/* The deepest overlap of the current state. Returns its depth [m] and writes its bodies; 0 and {0} if there is none. */
ST_API double st_system_deepest(const st_System *system, st_BodyId *a, st_BodyId *b);

/* Report of a spring or damper: its mean force in the last step, for st_StepInfo.force_time, and its current length. */
typedef struct st_SpringReport {
    st_Vec3 point_a, point_b;        /* its ends, in the world [m]                         */
    double length, rate;             /* distance of the ends; angular: its angle [m, m/s; rad, rad/s] */
    double force;                    /* > 0: it pulls the ends together; angular: its torque [N, N m] */
    st_Vec3 force_on_b, torque_on_b; /* at point_b, world axes [N, N m]                    */
} st_SpringReport;

/* Report of a spring. */
ST_API st_Status st_system_spring(const st_System *system, st_SpringId spring, st_SpringReport *out);

/* Loads on a body in the last step: mean forces (world axes) and torques about its centre of mass (body axes), for
 * st_StepInfo.force_time, and the impulse of impacts. With the mass m, the inertia J and the velocities of the body
 * before and after the step (spin w in body axes),
 *     m (v+ - v) = force_h (sum of forces) + impulse,   J (w+ - w) = force_h (sum of torques) + angular_impulse,
 * whether or not the solver converged. Loads along locked degrees of freedom and on sleeping bodies are 0. */
typedef enum st_Load {
    ST_LOAD_WEIGHT = 0,
    ST_LOAD_APPLIED,    /* forces of the scene and pushes                               */
    ST_LOAD_GYROSCOPIC, /* only a torque                                                */
    ST_LOAD_SPRING,
    ST_LOAD_JOINT, /* includes motors, limits, friction and springs in joints           */
    ST_LOAD_CONTACT
} st_Load;
#define ST_N_LOADS 6

typedef struct st_BodyLoad {
    st_Vec3 force[ST_N_LOADS], torque[ST_N_LOADS]; /* [N, N m]                           */
    st_Vec3 impulse, angular_impulse;              /* [N s, N m s]                       */
    bool struck;                                   /* as in st_ContactReport: `impulse` includes joints and contacts */
} st_BodyLoad;

/* Loads of bodies 1 to `count`, into out[0] to out[count - 1]. */
ST_API st_Status st_system_loads(const st_System *system, st_BodyLoad *out, int count, st_Error *err);

/* Events located within a step. */
typedef enum st_EventKind {
    ST_EVENT_COLLISION = 0, /* a contact closed, with an impact                         */
    ST_EVENT_TAKEOFF,       /* the force of a closed contact became 0                   */
    ST_EVENT_STICK,         /* sliding ended, sticking began                            */
    ST_EVENT_SLIP,          /* sticking ended, sliding began                            */
    ST_EVENT_FACET          /* the sliding direction changed to another facet of the pyramid, or reversed */
} st_EventKind;
#define ST_N_EVENT_KINDS 5
/* "collision", "takeoff", ...: a static string; NULL outside the range. */
ST_API const char *st_event_kind_name(st_EventKind kind);

typedef struct st_EventReport {
    st_EventKind kind;
    double time; /* [s]                                                                 */
    uint64_t contact;
    st_BodyId a, b;
    st_Vec3 point, normal; /* in the world                                              */
    double before, after;  /* normal velocity [m/s]; equal if it is not a collision     */
    double impulse;        /* normal impulse of a collision [N s]                       */
} st_EventReport;

/* Number of events in the last step. */
ST_API int st_system_event_count(const st_System *system);
/* Report of event `index`, 0 .. count - 1, in order of time. */
ST_API st_Status st_system_event(const st_System *system, int index, st_EventReport *out);

/* Parts of a step, for timing. */
typedef enum st_StepPart {
    ST_PART_CONTACTS = 0, /* gaps and contact rows                                     */
    ST_PART_ASSEMBLE,     /* mass, forces, joints, soft rows: the step problem         */
    ST_PART_SOLVE,
    ST_PART_MOVE,
    ST_PART_EVENTS, /* finding collisions                                              */
    ST_PART_PROJECT,
    ST_PART_REPORT
} st_StepPart;
#define ST_N_PARTS 7
/* "contacts", "assemble", ...: a static string; NULL outside the range. */
ST_API const char *st_part_name(st_StepPart part);
/* Wall time spent in each part, summed over all steps [s]. */
ST_API void st_system_part_seconds(const st_System *system, double seconds[ST_N_PARTS]);

#ifdef __cplusplus
}
#endif
#endif
