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
    ST_INTEGRATOR_BDF2       /* two steps, order two, L-stable, one problem per step    */
} st_Integrator;
#define ST_N_INTEGRATORS 5

/* Trapezoid: the velocity that enters the laws of joints and contacts. */
typedef enum st_Form {
    ST_FORM_I = 0, /* the new velocity: sticks quietly, first order with nonlinear joints */
    ST_FORM_II     /* the mean of old and new: second order, flips while sticking       */
} st_Form;

typedef enum st_ContactModel {
    ST_CONTACT_RIGID = 0,  /* no compliance: gaps close and stay closed                 */
    ST_CONTACT_COMPLIANT,  /* a patch of viscoelastic elements, Song, Pang & Kumar 2004 */
    ST_CONTACT_REGULARIZED /* springs and dampers, Preclik, Popa & Ruede 2011           */
} st_ContactModel;

typedef enum st_Impact {
    ST_IMPACT_INELASTIC = 0,   /* no rebound: the step problem with h = 0                   */
    ST_IMPACT_POISSON,         /* compression, then a share e of its normal impulses again, without friction */
    ST_IMPACT_NEWTON,          /* normal velocity after = -e times before, at least         */
    ST_IMPACT_POISSON_FRICTION /* Poisson's, and the share carries friction as well       */
} st_Impact;

typedef enum st_Drift {
    ST_DRIFT_VELOCITY = 0, /* constraints on velocities only; positions drift           */
    ST_DRIFT_GAP,          /* gap/h in the velocity constraints, correcting speed capped */
    ST_DRIFT_PROJECTION,   /* positions projected on joints and active gaps after the step */
    ST_DRIFT_MEAN          /* joints and springs as means over the step: closed, and no energy lost; gaps as in GAP */
} st_Drift;

typedef enum st_Events {
    ST_EVENTS_OFF = 0,    /* fixed step                                                  */
    ST_EVENTS_COLLISIONS, /* located, with their impact                                  */
    ST_EVENTS_ALL         /* collisions, take-off, stick and slip, change of facet       */
} st_Events;

/* Treatment of an initial state that violates joints or contains overlaps. */
typedef enum st_Initial {
    ST_INITIAL_KEEP = 0, /* taken as it is: drift correction deals with it              */
    ST_INITIAL_PROJECT,  /* the nearest consistent one instead                          */
    ST_INITIAL_REFUSE    /* no system is made of it                                     */
} st_Initial;

typedef enum st_Forces {
    ST_FORCES_ANY = 0,   /* any solution, as the solver finds it                        */
    ST_FORCES_LEAST_NORM /* the least in the weights 1/(k h^2), 1/(gamma h) of contact_stiffness (or a shape's),
                          * contact_damping and joint_stiffness: how stiff bodies share */
} st_Forces;

/* Velocities that the step problem is solved in. States, reports and recordings are those of bodies in either. */
typedef enum st_Coordinates {
    ST_COORDINATES_AUTO = 0, /* joint; body with effort thorough (the presets named after papers), contact
                              * regularized, forces least_norm and drift mean             */
    ST_COORDINATES_JOINT,    /* those that joints leave, tree by tree; loops by rows      */
    ST_COORDINATES_BODY      /* those of bodies, joints by rows                           */
} st_Coordinates;

/* An impact law that adds energy. */
typedef enum st_Energy {
    ST_ENERGY_REPORT = 0, /* kept and reported, as the papers' schemes are              */
    ST_ENERGY_LIMIT       /* less restitution, until none is added                          */
} st_Energy;

/* Where the step of a pile is computed. */
typedef enum st_Device {
    ST_DEVICE_NONE = 0, /* the ordinary step                                            */
    ST_DEVICE_FLAT,     /* free bodies of convex shapes, on flat arrays of the host     */
    ST_DEVICE_CUDA      /* the same kernels on a CUDA device, with the same bits         */
} st_Device;

/* Every choice of a simulation. Start from st_system_def(), then a preset, then single values. Lengths and speeds below
 * 0 are derived from the sizes in the scene, gravity and h.                                       */
typedef struct st_SystemDef {
    const char *preset; /* the last one applied                                         */
    st_Integrator integrator;
    st_Form form; /* of the trapezoid                                                   */
    st_ContactModel contact;
    st_Law law; /* coulomb, cone, pyramid, box; frictionless is called "none"           */
    int facets; /* pyramid, in space                                                    */
    st_Drift drift;
    st_Impact impact;
    st_Events events;
    st_Energy energy;
    st_Initial initial;
    double h;   /* step [s]                                                             */
    double end; /* end time [s]                                                         */
    st_Vec3 gravity;
    st_Medium medium;                    /* what bodies move through; density and viscosity 0: nothing       */
    const char *solver;                  /* a name of st_solver_name()                              */
    const st_OwnSolver *own_solver;      /* a solver of one's own instead; it must outlive the system. NULL: none */
    const st_SolverValue *solver_values; /* parameters of the solver, as in st_SolverDef; they must outlive it, too */
    int n_solver_values;
    double tolerance;         /* of the solver, on the residual                          */
    double residual_limit;    /* a step with a residual above this counts as failed    */
    int max_iterations;       /* of iterative solvers                                    */
    double step_work_limit;   /* visits of each contact in a step, factor operations included: the solver then
                               * ends with the best so far                               */
    double step_seconds;      /* a step that takes longer fails with ST_ERR_CANCELLED [s]; 0: never */
    st_Effort effort;         /* of the solver "auto"                                    */
    int threads;              /* at most so many, with the same bits; 1 without OpenMP. The allocator is then
                               * called from several threads                             */
    st_Device device;         /* flat, cuda: what these cannot do is refused by name      */
    bool islands;             /* independent parts of the step problem are solved apart  */
    double margin;            /* contacts closer than this enter the step, drift gap [m] */
    bool all_points;          /* every point of a contact patch, not only the few that span it */
    bool drop_redundant;      /* every point but those that others imply; goes before all_points */
    double slop;              /* gaps and overlaps up to this count as closed, drift gap [m] */
    double correction_speed;  /* cap on the speed that removes overlap, drift gap [m/s]  */
    double active_gap;        /* a contact is active at gaps below this; drift velocity, projection [m] */
    bool sleep;               /* islands at rest are left out until something touches them */
    double sleep_speed;       /* an island is at rest if all its points are slower than this [m/s] */
    double sleep_time;        /* an island must be at rest for this long to sleep [s]    */
    bool keep_springs;        /* projection keeps spring lengths, eq. 46 of Anitescu & Potra 2002 */
    double restitution_speed; /* impacts slower than this have no rebound [m/s]; with fixed steps also those slower
                               * than what forces reach within a step: there the presets have 0 */
    double event_step;        /* smallest part of a step between two events             */
    int max_events;           /* in one step; more: restitution and transitions rest    */
    int patch_elements;       /* compliant: elements along the side of a patch           */
    double patch_spacing;     /* compliant: between them [m]                             */
    double patch_mass;        /* compliant: damping is critical for this mass [kg]       */
    double contact_stiffness; /* regularized: normal spring, where shapes say none [N/m] */
    double contact_damping;   /* regularized: tangential damper, likewise [N s/m]        */
    double joint_stiffness;   /* regularized: springs in place of joints [N/m, N m/rad]  */
    bool rigid_limit;         /* regularized: stiffness taken to infinity, step by step  */
    st_Forces forces;         /* where rigid bodies leave them open                      */
    st_Coordinates coordinates;
    double speed_limit; /* a step with a faster velocity is refused as diverged [m/s, rad/s] */
    int keyframe;       /* of the scene, that the system starts in; 0: as the scene stands          */
    st_Allocator allocator;
    const struct st_Ranks *ranks; /* piles are shared with other processes (stiction/ranks.h); NULL: there is one */
    uint32_t cookie;              /* set by st_system_def(); leave alone                             */
} st_SystemDef;

/* The preset "default" with h = 1/1000 s, end = 1 s and g = 9.81 m/s^2 along -z. */
ST_API st_SystemDef st_system_def(void);

/* Presets: st_preset_name(0 .. count - 1); applying one sets every choice, the solver's effort, and the
 * lengths and speeds margin, slop, correction_speed, active_gap, sleep_speed and restitution_speed.      */
ST_API int st_preset_count(void);
/* Name of a preset, a static string; NULL outside 0 .. count - 1. */
ST_API const char *st_preset_name(int index);
/* One line about a preset, a static string; NULL outside 0 .. count - 1. */
ST_API const char *st_preset_help(int index);
/* Set every choice of `def` except h, end, gravity and, but for restitution_speed, the members after `tolerance`.
 * ST_ERR_ARGUMENT if there is no preset of this name. */
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

/* A value of any kind: word for choices, number for numbers, integers and booleans (0, 1), vector. */
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

/* Create a system from a scene. The scene is copied and may be changed or destroyed afterwards. Choices that do not
 * work together, or not with this scene, are refused here by name, never in a later step. Free the system with
 * st_system_destroy. Different systems may step in different threads at once.                      */
ST_API st_Status st_system_create(const st_Scene *scene, const st_SystemDef *def, st_System **out, st_Error *err);
/* Create a system from a compiled scene (st_scene_compile), which it shares: batches and ensembles compile a scene
 * once. Everything else is as with st_system_create.                                                       */
ST_API st_Status st_system_create_from(st_CompiledScene *compiled, const st_SystemDef *def, st_System **out,
                                       st_Error *err);
/* Create a system from your own equations of motion (model.h). The table is copied, its ctx is not: ctx must outlive
 * the system. q0 has n_q numbers, v0 n_v.                                                              */
ST_API st_Status st_system_create_model(const st_Model *model, const double *q0, const double *v0,
                                        const st_SystemDef *def, st_System **out, st_Error *err);
/* Free a system. NULL is allowed. */
ST_API void st_system_destroy(st_System *system);
/* End the step under way, or the next one, within 0.1 s: it fails with ST_ERR_CANCELLED, and the state is as before the
 * step. May be called from any thread and from a signal handler. NULL is allowed.                */
ST_API void st_system_cancel(st_System *system);
/* A function that steps ask often, from one of their threads at a time: true cancels the step. NULL: none. It is not
 * copied to clones.                                                                              */
ST_API void st_system_cancel_when(st_System *system, bool (*ask)(void *ctx), void *ctx);
/* Largest change of a coordinate and of a velocity made to the initial state to make it consistent; 0 if it was used as
 * given. Both may be NULL.                                                                       */
ST_API void st_system_initial_change(const st_System *system, double *position, double *velocity);

/* An overlap or a contradiction of joints in the state that was set last: the deepest overlap of two bodies, the
 * largest error of a joint, its largest speed of opening (of a motor or motion: the jump its speed starts with), and
 * how far a coordinate is outside its limits, to which steps bring it back at correction_speed.            */
typedef enum st_FlawKind { ST_FLAW_OVERLAP = 0, ST_FLAW_JOINT, ST_FLAW_SPEED, ST_FLAW_LIMIT } st_FlawKind;
typedef struct st_Flaw {
    st_FlawKind kind;
    st_BodyId a, b;   /* of an overlap                                                     */
    st_JointId joint; /* of the others                                                     */
    double size;      /* [m], [m or rad], [m/s or rad/s], [m or rad]                        */
} st_Flaw;
/* List those above 1e-6, overlaps of each two bodies first: the first `room` of them go to `out`. Returns how many
 * there are. For systems made from a scene, before the first step.                                      */
ST_API int st_system_flaws(const st_System *system, st_Flaw *out, int room);

/* Report of one step. A large residual is not an error status: the caller decides. */
typedef struct st_StepInfo {
    uint32_t size;        /* set by st_step_info(): lets the struct grow                 */
    double time;          /* reached [s]                                                 */
    double h;             /* taken: shorter than asked when a collision ended the step, or when the whole step would
                           * have gained energy that nothing gives (attempts)            */
    int contacts;         /* in the step problem                                         */
    int joints;           /* joint rows, soft rows not counted                           */
    int asleep;           /* bodies that sleep                                           */
    int islands;          /* parts of the step problem with contacts, independent of each other */
    int collisions;       /* located in this step                                        */
    int transitions;      /* take-offs, sticks, slips and facet changes located          */
    int problems;         /* step problems solved, impacts included                      */
    bool accumulated;     /* more than max_events: went on with the active set alone     */
    int overlapping;      /* contacts in overlap that got a compliance, drift gap        */
    int undetermined;     /* forces least_norm: contacts with forces that rigid bodies leave open; -1: not found */
    double penetration;   /* deepest, over all contacts, after the step [m]              */
    double joint_error;   /* largest joint value after the step [m or rad]               */
    double impact_gain;   /* kinetic energy that impact laws added, and no belt did [J], 0: none did */
    double kinetic;       /* [J]                                                         */
    double potential;     /* gravity, springs, and what compliant and regularized contacts store [J] */
    double friction;      /* work of friction since the start, contacts and joints, along what slides on what, the
                           * surface of a belt included: what becomes heat, <= 0 [J]     */
    st_SolveInfo solve;   /* of the step problem; with a collision, the worse of the two */
    double recovery;      /* drift gap: the least share of the wanted correction that a step used, since all of it would
                           * have moved something faster than correction_speed; 1: all */
    int rebounds_limited; /* islands or impacts with restitution that was scaled down: it would have added energy */
    double work;       /* since the start, as are the next five: given by applied forces, adhesion, motors, moved joints
                        * and belts; the energy that inlets bring, less what outlets take [J] */
    double damping;    /* by dampers, <= 0 [J]                                        */
    double impacts;    /* along normals, of contacts that close and rebound [J]       */
    double correction; /* by what closes joints and removes overlap (drift) [J]       */
    double scheme;     /* by the integrator itself, implicit and euler: -1/2 (v+ - v)'M(v+ - v), -1/2 k (h a'v+)^2 of
                        * a spring [J]                                                */
    double unexplained;  /* change of kinetic and potential energy less friction and all of these [J] */
    int drift_fallbacks; /* drift mean: stages that did not converge, with joints closed as by drift gap */
    int struck;          /* contacts that closed in a fixed step: their impulses hold an impact */
    double force_time;   /* forces of this step are means over it, those of its middle [s] */
    double force_h;      /* time that they act for: h, but if a scheme of order one met a collision [s] */
    double law_change;   /* friction that depends on speed, liquid bridges: their change in the last repetition,
                          * relative to all impulses, where the repetitions did not converge; else 0 */
    int attempts;        /* at this step; more than 1: those before gained energy that nothing gave (energy limit) */
} st_StepInfo;

/* An empty report with `size` set. */
ST_API st_StepInfo st_step_info(void);

/* Advance by h. If events are located, integrators of order two stop at each event and then complete the step;
 * integrators of order one end the step at the first collision, so that info.h < h. info and err may be NULL. On an
 * error the state is unchanged. After a few steps of an unchanged scene a step allocates no memory.      */
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
/* Save the whole state with its history (warm starts, active contacts). A system made from the same scene and choices
 * continues from it bit for bit. Returns the number of bytes; they are written if `size` is large enough. The bytes can
 * be read on machines of the same byte order only.                                               */
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
/* Is the body there? Grains that an inlet has yet to bring, and bodies that an outlet has taken, are not: their pose
 * means nothing. True for a body that there is none of.                                               */
ST_API bool st_system_present(const st_System *system, st_BodyId body);
/* The values of measure `index` of the scene after the last step, for which st_measure_value_name has names; *count
 * (may be NULL) is their number. There must be room for ST_MEASURE_VALUES. Forces are means over the step, with
 * impacts. */
ST_API st_Status st_system_measure(const st_System *system, int index, double *values, int *count, st_Error *err);

/* True if the body sleeps (setting `sleep`). */
ST_API bool st_system_asleep(const st_System *system, st_BodyId body);
/* Wake a body; its island wakes with it before the next step. */
ST_API st_Status st_system_wake(st_System *system, st_BodyId body, st_Error *err);

/* Control between two steps: set the wanted speed, position or force of the motor of a joint from now on, in place of
 * offset + target profile(t). NaN: return to the value in the scene. A motor of type motion cannot be set. Its lag,
 * integrate, lowest and highest say how it follows; the value that it wants is part of the state. */
ST_API st_Status st_system_set_motor(st_System *system, st_JointId joint, double wanted, st_Error *err);
/* Set an applied force from now on, in place of force and torque times the profile, in the axes of its def. One of them
 * NULL: 0; both NULL: return to the values in the scene. st_system_save stores the values.         */
ST_API st_Status st_system_set_force(st_System *system, st_ForceId id, const st_Vec3 *force, const st_Vec3 *torque,
                                     st_Error *err);

/* The control input as one vector: first the motors that can be set, one entry each, then six for every applied force.
 * Number of entries.                                                                              */
ST_API int st_system_control_count(const st_System *system);
/* Name of an entry: "JOINT.motor" or "FORCE.fx", .fy, .fz, .tx, .ty, .tz. `out` has room for `size` bytes, longer names
 * are cut.                                                                                        */
ST_API st_Status st_system_control_name(const st_System *system, int index, char *out, int size);
/* Copy the values that were set; NaN: the value in the scene counts. n: the number of entries.       */
ST_API st_Status st_system_controls(const st_System *system, double *values, int n, st_Error *err);
/* Set all entries, as st_system_set_motor and st_system_set_force do. NaN: return to the value in the scene; of a force
 * with other entries set: 0. A value out of range changes nothing.                                  */
ST_API st_Status st_system_set_controls(st_System *system, const double *values, int n, st_Error *err);

/* Push a body in addition to all other forces: a force at its centre of mass and a torque, world axes, from now on
 * until the next call. Both NULL or 0: no push. st_system_save stores the values.                        */
ST_API st_Status st_system_push(st_System *system, st_BodyId body, const st_Vec3 *force, const st_Vec3 *torque,
                                st_Error *err);
/* Move one body between two steps. Its island wakes, the warm start of its contacts is dropped, and integrators of
 * order two restart as after an event. Joints, springs and gaps are not checked. Drift correction closes a joint that
 * the new pose has opened in the following steps, at most at correction_speed (drift `projection`: at once; `velocity`:
 * never). A fixed body, too, can be moved: it stays at rest, and all bodies wake.                       */
ST_API st_Status st_system_set_pose(st_System *system, st_BodyId body, const st_Pose *pose, st_Error *err);
/* Set the velocity (world axes) and spin (body axes; NULL: unchanged) of one body between two steps. Joint velocities
 * that do not fit are corrected by the next step. A fixed body is refused.                        */
ST_API st_Status st_system_set_velocity(st_System *system, st_BodyId body, const st_Vec3 *velocity, const st_Vec3 *spin,
                                        st_Error *err);
/* Take a free body out of a running system: from now on it touches nothing and weighs nothing (st_system_present is
 * false). The call takes constant time: nothing is compiled again, and all ids stay valid. Its contacts end before the
 * next step; bodies that slept beside it wake. st_system_save and st_system_clone keep who is there. A body that is
 * fixed, or that has joints, springs or applied forces, is refused, and so is one that is not there.        */
ST_API st_Status st_system_remove_body(st_System *system, st_BodyId body, st_Error *err);
/* Put a body that is not there (st_system_remove_body, an outlet, an inlet that has yet to bring it) at a pose, with a
 * velocity (world axes) and a spin (body axes); NULL: 0. It takes constant time, too: a pool of spare bodies of a scene
 * serves for bodies that are not known in advance. The place is not checked: drift correction opens an overlap.  */
ST_API st_Status st_system_insert_body(st_System *system, st_BodyId body, const st_Pose *pose, const st_Vec3 *velocity,
                                       const st_Vec3 *spin, st_Error *err);

/* Change a number of a running system between two steps, by the path that it has in a scene file. A star stands for any
 * characters, and the value is set wherever the path leads:
 *     bodies/NAME/mass                 its inertia changes in proportion
 *     bodies/NAME/shapes/NAME/KEY      KEY: friction, restitution, rolling, spinning
 *     ground/NAME/KEY                  shapes of the ground
 *     materials/NAME/KEY               all shapes of a material
 *     joints/NAME/KEY                  KEY: friction, stiffness, damping, rest, lower, upper, other_lower, other_upper,
 *                                      restitution, armature, motor/stiffness, motor/damping, motor/max_force,
 *                                      motor/target, motor/offset
 *     springs/NAME/KEY                 KEY: stiffness, damping
 * The next step is that of a scene with this value. The values are part of the state: st_system_save writes them, and a
 * clone has them; the compiled scene stays shared. A value that adds or removes a friction, a spring, a limit or a
 * rotor is refused, because it needs another scene (st_system_change). Bodies that sleep wake, integrators of order two
 * restart as after an event, reports of the last step are dropped, and the change of energy is part of the work of
 * forces. Articulations of the system must be made again. On an error the system is unchanged, but for sleep.  */
ST_API st_Status st_system_set_parameter(st_System *system, const char *path, double value, st_Error *err);
/* The number that a path leads to; with stars the first one. */
ST_API st_Status st_system_parameter(const st_System *system, const char *path, double *value, st_Error *err);

/* Put a system into a keyframe of its scene, by number from 1: time, poses, velocities and motors. Bodies that the
 * keyframe does not name stay where they are, at rest. On an error the system is unchanged, but for motors.    */
ST_API st_Status st_system_set_keyframe(st_System *system, int number, st_Error *err);

/* Continue with another scene between two steps: bodies, shapes, joints, springs and forces may be new, removed or
 * different. Objects are matched by name. A body that existed before continues from its current state, whatever the
 * pose in its def. A joint or spring that existed before, between the same bodies and at the same points, stays
 * attached and keeps its turn count. Limits, motors, stiffness, masses and friction are those of the new scene, also
 * where st_system_set_parameter had set them. New objects are placed
 * relative to the current poses. Contacts keep their warm start; motors and forces keep the values that were set. All
 * bodies wake, and reports of the last step are dropped. Ids are those of the new scene. States saved before cannot be
 * restored. On an error the system is unchanged. */
ST_API st_Status st_system_change(st_System *system, const st_Scene *scene, st_Error *err);
/* Number of successful calls of st_system_change. */
ST_API int st_system_changes(const st_System *system);
/* Create a second system that continues from the same state, bit for bit, and shares the compiled scene. Not for
 * systems of a user's model. */
ST_API st_Status st_system_clone(const st_System *system, st_System **out, st_Error *err);

/* Total linear momentum, and angular momentum about the origin of the world, world axes. */
ST_API st_Status st_system_momentum(const st_System *system, st_Vec3 *linear, st_Vec3 *angular);

/* A contact of the last step, or a joint's limit (dim 1, no force here: see the joint). Forces are means over the step,
 * at its middle st_StepInfo.force_time: impulse less impact, over force_h. `struck`: with fixed steps a contact closed
 * in this step, here or at a mechanism of one of its bodies, and finite forces cannot be told from the impact: all of
 * the impulse counts as an impact, and the force is 0.                                            */
typedef struct st_ContactReport {
    uint64_t id;
    st_BodyId a, b;
    st_ShapeId shape_a, shape_b;
    st_JointId joint;      /* the joint at its limit; {0}: shapes touch                 */
    st_Vec3 point, normal; /* world; normal from a to b                                 */
    st_Vec3 tangent;       /* of velocity[1], impulse[1]; [2] is along normal x tangent */
    double gap;            /* at the start of the step [m]                              */
    bool asleep;           /* its bodies sleep: not in the step problem, force as it was */
    int dim;
    double velocity[ST_MAX_DIM]; /* H'v: normal, tangents [m/s]; rolling, spinning [rad/s]; against a belt's surface */
    double impulse[ST_MAX_DIM];  /* of the step: normal, tangents [N s]; rolling, spinning [N m s] */
    double impact[ST_MAX_DIM];   /* of it, that of impacts                              */
    st_Vec3 force, torque;       /* mean over the step without impacts, on b, at the point, world axes [N, N m] */
    bool struck;
} st_ContactReport;

/* The step problem that was solved last (of the last stage, for schemes with stages); its sizes are 0 before the first
 * step. *r receives its impulses (n_r), not those of the whole step; r may be NULL. Valid until the next step. Rows of
 * rolling and spinning are multiplied by a length of the scene, and mu_roll and mu_spin divided by it, so that all rows
 * of a contact have one unit; adhesion is part of f and r, and friction by direction a factor of tangential rows. The
 * rows H of a large pile are computed by this call; it returns NULL if there is no memory for them. */
ST_API const st_Problem *st_system_problem(st_System *system, const double **r);

/* An island of the last step problem: bodies connected by contacts, joints and springs, solved on their own. Islands
 * are ordered by their first body. A body without contacts is in no island.                         */
typedef struct st_IslandReport {
    int bodies;         /* of a model of the user's: blocks of the mass matrix           */
    int contacts, rows; /* contacts, motors and joint friction; joint and soft rows      */
    st_SolveInfo solve; /* residual.worst_contact counts the island's own                */
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
/* The same of all bodies at once, in one pass over the contacts: by id.index1, the ground first, `count` of each (the
 * number of bodies and 1, or fewer). Allocates nothing.                                             */
ST_API st_Status st_system_contact_forces(const st_System *system, st_Vec3 *force, st_Vec3 *torque, int count);

typedef enum st_Frame {
    ST_FRAME_WORLD = 0,
    ST_FRAME_A /* axes of body a */
} st_Frame;

/* A joint: what a does to b at the joint's point in the last step, through the joint and all that acts in it, as an
 * impulse over the step, of it that of impacts, and as the mean force without them, at st_StepInfo.force_time; and how
 * it stands now. `struck` as in st_ContactReport. A gear has no point: it transmits `gear`, on the coordinate of its
 * joint_a.                                                                                         */
typedef struct st_JointReport {
    st_Vec3 point;                         /* of b, in the world [m]                         */
    st_Vec3 impulse, angular_impulse;      /* [N s, N m s]                                   */
    st_Vec3 impact, angular_impact;        /* of them, those of impacts                      */
    st_Vec3 force, torque;                 /* [N, N m]                                       */
    double error;                          /* largest joint value [m or rad]                 */
    double coordinate, speed;              /* [m or rad] and per second; 0: it has none      */
    double motor, friction, limit, spring; /* on the coordinate [N or N m]               */
    double other, other_speed;             /* the other coordinate; 0: it has none           */
    double other_limit;                    /* on it [N or N m]                               */
    double gear;                           /* [N or N m]                                     */
    bool struck;
} st_JointReport;

/* Report of a joint. `frame` selects the axes of point, impulses, forces and torques. */
ST_API st_Status st_system_joint(const st_System *system, st_JointId joint, st_Frame frame, st_JointReport *out);

/* The deepest overlap of the current state: its bodies and depth [m]; 0 and no bodies: there is none. */
ST_API double st_system_deepest(const st_System *system, st_BodyId *a, st_BodyId *b);

/* A spring or damper: its mean force in the last step, at st_StepInfo.force_time, and how it stands now. */
typedef struct st_SpringReport {
    st_Vec3 point_a, point_b;        /* its ends, in the world [m]                         */
    double length, rate;             /* between them; of an angular one its angle [m, m/s; rad, rad/s] */
    double force;                    /* > 0: it pulls its ends together; of an angular one its torque [N, N m] */
    st_Vec3 force_on_b, torque_on_b; /* at point_b, world axes [N, N m]                    */
} st_SpringReport;

/* Report of a spring. */
ST_API st_Status st_system_spring(const st_System *system, st_SpringId spring, st_SpringReport *out);

/* All that acted on a body in the last step: mean forces at st_StepInfo.force_time, world axes, with torques about its
 * centre of mass, body axes; and the impulse of impacts. With the mass m, the inertia J and the velocities of the body
 * before and after the step (spin w in body axes),
 *     m (v+ - v) = force_h (sum of forces) + impulse,   J (w+ - w) = force_h (sum of torques) + angular_impulse,
 * converged or not. Along locked degrees of freedom, and of bodies that sleep, all is 0.          */
typedef enum st_Load {
    ST_LOAD_WEIGHT = 0,
    ST_LOAD_APPLIED,    /* forces of the scene and pushes                               */
    ST_LOAD_GYROSCOPIC, /* torque alone                                                 */
    ST_LOAD_SPRING,
    ST_LOAD_JOINT, /* with motors, limits, friction and springs in joints               */
    ST_LOAD_CONTACT
} st_Load;
#define ST_N_LOADS 6

typedef struct st_BodyLoad {
    st_Vec3 force[ST_N_LOADS], torque[ST_N_LOADS]; /* [N, N m]                           */
    st_Vec3 impulse, angular_impulse;              /* [N s, N m s]                       */
    bool struck;                                   /* as in st_ContactReport: joints and contacts are in `impulse` */
} st_BodyLoad;

/* Loads of bodies 1 to `count`, into out[0] to out[count - 1]. */
ST_API st_Status st_system_loads(const st_System *system, st_BodyLoad *out, int count, st_Error *err);

/* Events located within a step. */
typedef enum st_EventKind {
    ST_EVENT_COLLISION = 0, /* a contact closed, with an impact                         */
    ST_EVENT_TAKEOFF,       /* a closed contact lost its load                           */
    ST_EVENT_STICK,         /* sliding came to rest                                     */
    ST_EVENT_SLIP,          /* resting gave way to sliding                              */
    ST_EVENT_FACET          /* sliding turned to another facet of the pyramid, or back  */
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
    double before, after;  /* normal velocity; a transition: the same twice [m/s]       */
    double impulse;        /* normal, of a collision [N s]                              */
} st_EventReport;

/* Number of events in the last step. */
ST_API int st_system_event_count(const st_System *system);
/* Report of event `index`, 0 .. count - 1, in order of time. */
ST_API st_Status st_system_event(const st_System *system, int index, st_EventReport *out);

/* Parts of a step, for timing. */
typedef enum st_Stage {
    ST_STAGE_CONTACTS = 0, /* gaps and contact rows                                     */
    ST_STAGE_ASSEMBLE,     /* mass, forces, joints, soft rows: the step problem         */
    ST_STAGE_SOLVE,
    ST_STAGE_MOVE,
    ST_STAGE_EVENTS, /* finding collisions                                              */
    ST_STAGE_PROJECT,
    ST_STAGE_REPORT
} st_Stage;
#define ST_N_STAGES 7
/* "contacts", "assemble", ...: a static string; NULL outside the range. */
ST_API const char *st_stage_name(st_Stage stage);
/* Wall time spent in each part, summed over all steps [s]. */
ST_API void st_system_profile(const st_System *system, double seconds[ST_N_STAGES]);

#ifdef __cplusplus
}
#endif
#endif
