/* stiction/io.h -- scene files, tables and pictures: a library of its own (libstiction-io), so
 * that someone who embeds the engine does not carry JSON.
 */
#ifndef STICTION_IO_H
#define STICTION_IO_H

#include <stiction/stiction.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Read a scene file. `sets` are overrides "PATH=VALUE", list members by name or number
 * ("bodies/left/mass=2", "simulation/h=1e-3"), applied before anything is checked. On success both
 * outputs are filled; strings in `def` live as long as the library. On failure err says
 * "FILE:LINE: what is wrong, what was found, what was expected".                               */
ST_API st_Status st_scene_read(const char *path, const char *const *sets, int n_sets, st_Scene **scene,
                               st_SystemDef *def, st_Error *err);
/* The same from memory; `label` stands for the file in messages. */
ST_API st_Status st_scene_parse(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                                st_Scene **scene, st_SystemDef *def, st_Error *err);
/* A file may also be a robot, URDF or MJCF, known by its text: it is then read as a scene of nothing else, and
 * "robots/0/fixed=true" speaks of it. A scene takes robots in by its key `robots`. This is the scene with that done and
 * the overrides applied, as the text of a plain scene; `prefix` (may be NULL) goes before relative paths of its meshes.
 * `remarks`: what was decided and not carried over in reading robots, a line each. Both malloc'd, either may be NULL.
 */
ST_API st_Status st_scene_convert(const char *path, const char *const *sets, int n_sets, const char *prefix,
                                  char **text, char **remarks, st_Error *err);
/* The same from memory; `label` stands for the file in messages, and files that it names are looked for beside it. */
ST_API st_Status st_scene_convert_text(const char *from, size_t length, const char *label, const char *const *sets,
                                       int n_sets, const char *prefix, char **text, char **remarks, st_Error *err);
/* The JSON Schema of scene files, from the reader's own tables: malloc'd, free() it. NULL: no memory. */
ST_API char *st_scene_schema(void);
/* The tables of every key as Markdown, from the same tables; as above. */
ST_API char *st_scene_reference(void);

/* A table of a run, one line a step: time, step, energies, residual, every body's state, and of every joint
 * its coordinate and what it transmits (st_JointReport, world axes).                              */
typedef struct st_Csv st_Csv;
ST_API st_Status st_csv_open(const char *path, const st_System *system, const st_Scene *scene, st_Csv **out,
                             st_Error *err);
ST_API st_Status st_csv_write(st_Csv *csv, const st_System *system, const st_StepInfo *info, st_Error *err);
ST_API st_Status st_csv_close(st_Csv *csv, st_Error *err); /* NULL is fine */

/* A picture of a run as SVG: successive positions, coordinates and energies over time. The scene must
 * outlive it. Memory does not grow with the number of steps added.                               */
typedef struct st_Picture st_Picture;
ST_API st_Status st_picture_create(const st_Scene *scene, const st_SystemDef *def, st_Picture **out, st_Error *err);
ST_API st_Status st_picture_add(st_Picture *picture, const st_System *system, const st_StepInfo *info, st_Error *err);
ST_API st_Status st_picture_write(const st_Picture *picture, const char *path, st_Error *err);
ST_API void st_picture_destroy(st_Picture *picture);

/* Curves on logarithmic axes as SVG, with the slopes of orders one and two beside the first: errors over
 * step sizes. Values that are not positive are left out.                                        */
typedef struct st_PlotCurve {
    const char *name;
    int n;
    const double *x, *y;
} st_PlotCurve;
ST_API st_Status st_plot_loglog(const char *path, const char *title, const char *x_label, const char *y_label,
                                const st_PlotCurve *curves, int n_curves, st_Error *err);

/* Curves on linear axes as SVG, panel under panel; the legend is the first panel's. */
typedef struct st_PlotPanel {
    const char *label; /* of its y axis */
    int n_curves;
    const st_PlotCurve *curves;
} st_PlotPanel;
ST_API st_Status st_plot_lines(const char *path, const char *title, const char *x_label, const st_PlotPanel *panels,
                               int n_panels, st_Error *err);

/* ---- recordings: one HDF5 file a run, laid out as docs/recording.md says ---------------------- */

/* Start from st_recorder_def(). Texts are copied. */
typedef struct st_RecorderDef {
    const char *name, *description; /* of the scene; NULL: none                         */
    const char *text;               /* the scene file itself; NULL: none, and no restart */
    size_t length;                  /* of the text                                      */
    const char *label;              /* where the text came from                         */
    const char *const *sets;        /* overrides it was read with                       */
    int n_sets;
    double rate;       /* frames (poses, contacts) a simulated second; 0: every step    */
    double checkpoint; /* simulated time between checkpoints [s]; 0: first and last only */
    double flush;    /* what a killed run may lose [s of wall time; or 1 % of it, at most ten times this]; 0: nothing */
    uint32_t cookie; /* set by st_recorder_def(); leave alone                         */
} st_RecorderDef;

typedef struct st_Recorder st_Recorder;
ST_API st_RecorderDef st_recorder_def(void); /* 60 frames a second, flushed every second */
ST_API st_Status st_recorder_open(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                                  const st_SystemDef *choices, const st_System *system, st_Recorder **out,
                                  st_Error *err);
/* After every step; the first call, with an info of h = 0, is the start. After a failure the file keeps
 * what was flushed before; close it.                                                              */
ST_API st_Status st_recorder_add(st_Recorder *recorder, const st_System *system, const st_StepInfo *info,
                                 st_Error *err);
/* Bytes in the file so far. */
ST_API int64_t st_recorder_size(const st_Recorder *recorder);
/* The last state, a checkpoint of it, how the run ended ("finished", ...) and why. NULL is fine. */
ST_API st_Status st_recorder_close(st_Recorder *recorder, const st_System *system, const char *outcome,
                                   const char *message, st_Error *err);

/* What is in a recording. Texts live as long as it is open. */
typedef struct st_RecordingInfo {
    int format;          /* of the layout                                           */
    const char *version; /* of the library that wrote it                            */
    const char *created; /* when, UTC                                               */
    const char *name, *description, *label;
    const char *text;    /* the scene; "": none                                     */
    const char *model;   /* bodies, shapes, joints, springs: JSON                   */
    const char *choices; /* every setting: JSON                                     */
    const char *const *sets;
    int n_sets;
    const char *outcome, *message; /* "running": it was killed, or is not yet done      */
    double wall;                   /* seconds it took, as far as it is known            */
    double stage_seconds[ST_N_STAGES];
    bool closed;  /* false: cut off, or still being written                       */
    int n_bodies; /* the ground not counted                                       */
    int n_joints;
    int64_t n_frames, n_steps, n_contacts, n_events, n_checkpoints;
    double rate;        /* frames a simulated second; 0: every step                     */
    double first, last; /* time of the first and the last frame [s]                     */
    int64_t bytes;      /* of the file                                                  */
} st_RecordingInfo;

typedef struct st_RecordedStep {
    double time, h;
    int32_t contacts, collisions, iterations, overlapping, asleep;
    int32_t converged; /* 0 or 1                                                        */
    char solver[16];
    double residual, penetration, joint_error, kinetic, potential;
    double wall; /* since the start of the run [s]                                      */
} st_RecordedStep;

typedef struct st_RecordedFrame {
    double time;
    int64_t step;          /* its row among the steps                                   */
    int64_t first_contact; /* its contacts stand from here                              */
    int32_t n_contacts;
} st_RecordedFrame;

/* A contact of the step that ended in a frame. Force is impulse/h of that step. */
typedef struct st_RecordedContact {
    uint64_t id;
    int32_t a, b; /* bodies, 1-based; 0: the ground                                     */
    double point[3], normal[3];
    double impulse[3];  /* on b, world axes [N s]                                       */
    double velocity[3]; /* of b against a, world axes [m/s]                             */
    double gap;
} st_RecordedContact;

/* What a does to b through a joint, in the step that ended in a frame. */
typedef struct st_RecordedJoint {
    double force[3], torque[3]; /* at the joint's point, world axes [N, N m]            */
    double coordinate, speed;   /* [m or rad] and per second; 0: it has none            */
    double other, other_speed;  /* the other coordinate: angle_b, twist, ...; likewise  */
    double motor;               /* on the coordinate [N or N m]                         */
    double error;               /* largest joint value [m or rad]                       */
} st_RecordedJoint;

typedef struct st_RecordedEvent {
    double time;
    int64_t step;
    char kind[16]; /* "collision", "takeoff", ...                                       */
    int32_t a, b;
    double point[3], normal[3];
    double before, after; /* normal velocity [m/s]                                      */
    double impulse;       /* normal [N s]                                                     */
} st_RecordedEvent;

typedef struct st_RecordedCheckpoint {
    double time;
    int64_t step;          /* steps taken before it                                     */
    uint64_t hash;         /* st_system_hash of it                                      */
    int64_t offset, bytes; /* in the dataset of all states                              */
} st_RecordedCheckpoint;

typedef struct st_Recording st_Recording;
ST_API st_Status st_recording_open(const char *path, st_Recording **out, st_Error *err);
ST_API void st_recording_close(st_Recording *recording); /* NULL is fine */
ST_API const st_RecordingInfo *st_recording_info(const st_Recording *recording);
/* Rows first .. first + count - 1, into memory of the caller's. */
ST_API st_Status st_recording_steps(st_Recording *recording, int64_t first, int64_t count, st_RecordedStep *out,
                                    st_Error *err);
ST_API st_Status st_recording_frames(st_Recording *recording, int64_t first, int64_t count, st_RecordedFrame *out,
                                     st_Error *err);
ST_API st_Status st_recording_contacts(st_Recording *recording, int64_t first, int64_t count, st_RecordedContact *out,
                                       st_Error *err);
ST_API st_Status st_recording_events(st_Recording *recording, int64_t first, int64_t count, st_RecordedEvent *out,
                                     st_Error *err);
ST_API st_Status st_recording_checkpoints(st_Recording *recording, int64_t first, int64_t count,
                                          st_RecordedCheckpoint *out, st_Error *err);
/* The bodies in one frame, n_bodies each, any NULL: position and velocity in the world, spin in the body. */
ST_API st_Status st_recording_bodies(st_Recording *recording, int64_t frame, st_Vec3 *position, st_Quat *orientation,
                                     st_Vec3 *velocity, st_Vec3 *spin, st_Error *err);
/* The joints in one frame, n_joints. */
ST_API st_Status st_recording_joints(st_Recording *recording, int64_t frame, st_RecordedJoint *out, st_Error *err);
/* The scene as it was run, read again from its text. */
ST_API st_Status st_recording_scene(const st_Recording *recording, const char *const *more_sets, int n_more,
                                    st_Scene **scene, st_SystemDef *def, st_Error *err);
/* Put a system made from that scene into the state of a checkpoint. */
ST_API st_Status st_recording_restore(st_Recording *recording, const st_RecordedCheckpoint *checkpoint,
                                      st_System *system, st_Error *err);

/* Every file below, and this one, is there whole or not at all: where writing fails or the program is stopped half-way,
 * what was at `path` before is there still. Not so a table of a run (st_Csv), which grows as the run goes on.  */
ST_API st_Status st_file_write(const char *path, const void *bytes, size_t size, st_Error *err);

/* Tables and pictures from recordings. */
ST_API st_Status st_recording_write_csv(st_Recording *recording, const char *path, st_Error *err);
/* DIR/bodies.pvd, DIR/contacts.pvd and a .vtp a frame, for ParaView. */
ST_API st_Status st_recording_write_vtk(st_Recording *recording, const char *folder, st_Error *err);
/* Curves over time: "kinetic", "left.x", "left/ground.force", "hinge.torque" ...; every name is one curve, one chart a
 * unit. over: one more, to draw them over in place of time; NULL: time. Which there are: st_recording_curve_names, a
 * text to read, malloc'd; NULL: no memory.     */
ST_API char *st_recording_curve_names(const st_Recording *recording);
ST_API st_Status st_recording_write_plot(st_Recording *recording, const char *over, const char *const *curves,
                                         int n_curves, const char *path, st_Error *err);

/* The run as the page of viewer/ wants it: a JSON header and compressed arrays, malloc'd. `limit` is the most
 * body poses (and contacts) to hold; 0: a default that browsers bear. More are thinned, and the header
 * says so.                                                                                        */
ST_API st_Status st_recording_pack(st_Recording *recording, int64_t limit, unsigned char **out, size_t *size,
                                   st_Error *err);
/* The page with the run inside: one file that needs no network. `page` is the viewer's HTML. */
ST_API st_Status st_recording_write_report(st_Recording *recording, int64_t limit, const char *page, size_t page_size,
                                           const char *path, st_Error *err);
/* Bodies, shapes, joints and springs as JSON for the page: malloc'd, free() it; NULL: no memory. */
ST_API char *st_scene_model(const st_Scene *scene, const st_SystemDef *def);
/* Every setting as JSON, likewise. */
ST_API char *st_choices_json(const st_SystemDef *def);

/* ---- problem files: FCLIB and complementarity problems, docs/problems.md ------------------------ */

/* A problem file: HDF5 in the FCLIB layout (docs/problems.md), a friction problem or a linear complementarity
 * problem. From st_problem_file_read: owns its arrays. To be written: fill one with arrays of your own.      */
typedef struct st_ProblemFile {
    const char *kind; /* fc2d, fc3d, rfc3d, gfc2d, gfc3d, grfc3d, lcp, mlcp; not looked at when writing */
    bool is_lcp;
    st_FrictionProblem friction;     /* where is_lcp is false                               */
    st_LcpProblem lcp;               /* where it is true; mlcp: with free rows              */
    int n;                           /* rows of r, or of z                                  */
    const char *title, *description; /* or NULL                                         */
    const double *r, *u, *v;         /* a stored answer (r or z, u or w, v), each may be NULL */
} st_ProblemFile;

ST_API st_Status st_problem_file_read(const char *path, st_ProblemFile **out, st_Error *err);
ST_API void st_problem_file_destroy(st_ProblemFile *file); /* what st_problem_file_read gave; NULL is fine */

/* Written beside and renamed: where anything fails, `path` is as it was. */
ST_API st_Status st_problem_file_write(const char *path, const st_ProblemFile *file, st_Error *err);
/* A copy of the file `from` with r, u, v as its /solution (z, w of an LCP); all else in it stays. Any of u, v
 * may be NULL; `path` may be `from`.                                                             */
ST_API st_Status st_problem_file_write_solution(const char *from, const char *path, int n_r, const double *r,
                                                const double *u, int n_v, const double *v, st_Error *err);

/* A performance profile (Dolan & More 2002) as a picture: of n_problems solved by n_solvers, seconds[s n_problems + k]
 * (a negative number: not solved), the share solved within a factor of the best time.             */
ST_API st_Status st_profile_write(const char *path, const char *title, int n_solvers, const char *const *names,
                                  int n_problems, const double *seconds, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
