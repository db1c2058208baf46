/* stiction/io.h -- scene files, recordings, tables and pictures. A separate library (libstiction-io), so that programs
 * that embed the engine do not depend on JSON, XML and HDF5.
 *
 * Files are written whole or not at all: if writing fails or the program is stopped, an earlier file at `path` is
 * unchanged. The exceptions grow during a run: the table st_Csv and recordings. Errors of files read "FILE:LINE: ...".
 * Texts and arrays described as malloc'd belong to the caller, who frees them with free().
 */
#ifndef STICTION_IO_H
#define STICTION_IO_H

#include <stiction/stiction.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Read a scene file. `sets` are overrides "PATH=VALUE" with list members by name or number ("bodies/left/mass=2",
 * "simulation/h=1e-3"), or by a pattern with stars for any characters ("bodies/brick*=..."), applied before anything is
 * checked. On success both outputs are filled; the caller destroys the scene; strings in `def` are static. On failure
 * err says "FILE:LINE: what is wrong, what was found, what was expected". */
ST_API st_Status st_scene_read(const char *path, const char *const *sets, int n_sets, st_Scene **scene,
                               st_SystemDef *def, st_Error *err);
/* Read a scene from memory; messages name `label` in place of the file. */
ST_API st_Status st_scene_parse(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                                st_Scene **scene, st_SystemDef *def, st_Error *err);
/* List every error of a scene, in the order of reading: the first `room` of them go to `errors`. Returns how many there
 * are; 0: the scene can be read.                                                                    */
ST_API int st_scene_errors(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                           st_Error *errors, int room);
/* Convert a scene or a robot file to the text of a plain scene: robots of its key `robots` are expanded and overrides
 * applied. A URDF or MJCF file is recognised by its text and read as a scene that contains this robot only;
 * "robots/0/fixed=true" refers to it. `prefix` (may be NULL) is put before relative paths of meshes. `remarks` receives
 * one line for each part of a robot file that was interpreted or not carried over. Both outputs are malloc'd, either
 * may be NULL.                                                                                         */
ST_API st_Status st_scene_convert(const char *path, const char *const *sets, int n_sets, const char *prefix,
                                  char **text, char **remarks, st_Error *err);
/* Convert from memory; messages name `label` in place of the file, and files that the text names are searched for in
 * the folder of `label`.                                                                               */
ST_API st_Status st_scene_convert_text(const char *from, size_t length, const char *label, const char *const *sets,
                                       int n_sets, const char *prefix, char **text, char **remarks, st_Error *err);
/* A scene as the text of an MJCF file, for MuJoCo: malloc'd. `remarks` (may be NULL) receives one line for each part
 * that MJCF does not have; malloc'd.                                                                        */
ST_API st_Status st_scene_write_mjcf(const st_Scene *scene, const st_SystemDef *def, const char *name, char **text,
                                     char **remarks, st_Error *err);
/* The JSON Schema of scene files, generated from the reader's tables: malloc'd; NULL if there is no memory. */
ST_API char *st_scene_schema(void);
/* All keys of scene files as Markdown tables, from the reader's tables: malloc'd; NULL if there is no memory. */
ST_API char *st_scene_reference(void);

/* The columns of a table of a run by name: "t", "kinetic", "ball.z", "hinge.motor", ... */
typedef struct st_Columns st_Columns;
/* List the columns of a scene. The scene must outlive them. Free them with st_columns_destroy. */
ST_API st_Status st_columns_create(const st_Scene *scene, st_Columns **out, st_Error *err);
/* Free columns. NULL is allowed. */
ST_API void st_columns_destroy(st_Columns *columns);
/* Number of columns. */
ST_API int64_t st_columns_count(const st_Columns *columns);
/* Name of a column, as snprintf: returns its length, 0 outside 0 .. count - 1; `out` may be NULL. */
ST_API size_t st_columns_name(const st_Columns *columns, int64_t index, char *out, size_t size);
/* Number of the column of this name; -1: there is none. */
ST_API int64_t st_columns_find(const st_Columns *columns, const char *name);
/* Values of all columns after a step of a system made from the scene. Forces of a step that holds an impact are NaN. */
ST_API st_Status st_columns_values(st_Columns *columns, const st_System *system, const st_StepInfo *info,
                                   double *values, st_Error *err);

/* A table of a run with one line per step: time, step, energies, residual, the state of every body, and the coordinate
 * and reaction of every joint (st_JointReport, world axes).                                       */
typedef struct st_Csv st_Csv;
/* Open a table and write its header. The scene must outlive it. */
ST_API st_Status st_csv_open(const char *path, const st_System *system, const st_Scene *scene, st_Csv **out,
                             st_Error *err);
/* Write the line of one step. */
ST_API st_Status st_csv_write(st_Csv *csv, const st_System *system, const st_StepInfo *info, st_Error *err);
/* Write what is buffered and close the file. NULL is allowed. */
ST_API st_Status st_csv_close(st_Csv *csv, st_Error *err);

/* A column of a table of results: numbers or texts, one per row. */
typedef struct st_TableColumn {
    const char *name;
    const double *numbers;    /* NULL: texts                                            */
    const char *const *texts; /* not looked at if there are numbers                     */
} st_TableColumn;
/* Write a table. A name that ends in .h5 or .hdf5: HDF5 with one dataset per column, at the name of the column ("a/b"
 * is the dataset b of the group a), and the names in order in the dataset "columns". Any other name: CSV.     */
ST_API st_Status st_table_write(const char *path, const st_TableColumn *columns, int n_columns, int64_t n_rows,
                                st_Error *err);

/* A picture of a run as SVG: successive positions, coordinates and energies over time. Its memory does not grow with
 * the number of steps.                                                                                */
typedef struct st_Picture st_Picture;
/* Start a picture. The scene must outlive it. Free it with st_picture_destroy. */
ST_API st_Status st_picture_create(const st_Scene *scene, const st_SystemDef *def, st_Picture **out, st_Error *err);
/* Add the current state after a step. */
ST_API st_Status st_picture_add(st_Picture *picture, const st_System *system, const st_StepInfo *info, st_Error *err);
/* Write the picture to an SVG file. */
ST_API st_Status st_picture_write(const st_Picture *picture, const char *path, st_Error *err);
/* Free a picture. NULL is allowed. */
ST_API void st_picture_destroy(st_Picture *picture);

/* One curve of a plot. */
typedef struct st_PlotCurve {
    const char *name;
    int n;
    const double *x, *y;
    bool points; /* st_plot_lines: dots that no line connects */
} st_PlotCurve;
/* Draw curves on logarithmic axes as SVG, with the slopes of orders one and two beside the first curve: errors over
 * step sizes. Values that are not positive are left out.                                              */
ST_API st_Status st_plot_loglog(const char *path, const char *title, const char *x_label, const char *y_label,
                                const st_PlotCurve *curves, int n_curves, st_Error *err);

/* One panel of st_plot_lines. */
typedef struct st_PlotPanel {
    const char *label; /* of its y axis */
    int n_curves;
    const st_PlotCurve *curves;
} st_PlotPanel;
/* Draw curves on linear axes as SVG, one panel below the other, with the legend of the first panel. */
ST_API st_Status st_plot_lines(const char *path, const char *title, const char *x_label, const st_PlotPanel *panels,
                               int n_panels, st_Error *err);

/* A camera. If eye and target are both 0, it looks at all that can move. */
typedef struct st_Camera {
    st_Vec3 eye, target; /* in the world [m]                                                */
    st_Vec3 up;          /* the direction that is up in the picture, any length             */
    double angle;        /* of view, from the lower to the upper edge [rad]                 */
} st_Camera;
/* A camera that looks at all that can move, with z up and an angle of 0.6 rad. */
ST_API st_Camera st_camera(void);
/* Draw a system of the scene as it is now: width x height pixels from 16 to 8192 each, from the upper left row by row,
 * three bytes each (red, green, blue). Needs no screen. camera may be NULL: st_camera().               */
ST_API st_Status st_render(const st_Scene *scene, const st_System *system, const st_Camera *camera, int width,
                           int height, unsigned char *rgb, st_Error *err);

/* ---- recordings: one HDF5 file per run; docs/recording.md describes the layout ------------------ */

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
    double flush;    /* wall time between flushes [s; or 1 % of the run, at most ten times this]: a killed run loses at
                      * most this; 0: flush every step                                   */
    uint32_t cookie; /* set by st_recorder_def(); leave alone                         */
} st_RecorderDef;

typedef struct st_Recorder st_Recorder;
/* Defaults: 60 frames per simulated second, a flush every second. */
ST_API st_RecorderDef st_recorder_def(void);
/* Open a recording and write its head. Close it with st_recorder_close. */
ST_API st_Status st_recorder_open(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                                  const st_SystemDef *choices, const st_System *system, st_Recorder **out,
                                  st_Error *err);
/* Add the state after a step. The first call, with an info of h = 0, records the start. After a failure the file keeps
 * everything that was flushed before; close it.                                                   */
ST_API st_Status st_recorder_add(st_Recorder *recorder, const st_System *system, const st_StepInfo *info,
                                 st_Error *err);
/* Bytes in the file so far. */
ST_API int64_t st_recorder_size(const st_Recorder *recorder);
/* Record the last state, a checkpoint, and the outcome of the run ("finished", ...) with its reason; close the file and
 * free the recorder. NULL is allowed.                                                             */
ST_API st_Status st_recorder_close(st_Recorder *recorder, const st_System *system, const char *outcome,
                                   const char *message, st_Error *err);

/* Contents of a recording. Its texts stay valid until the recording is closed. */
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
    int n_joints, n_springs;
    int n_values; /* of all measures together                                     */
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
    double wall;                /* since the start of the run [s]                                      */
    double joint_residual;      /* velocity that the solver left in joints [m/s or rad/s]    */
    double friction;            /* work of friction since the start [J]                      */
    double force_time, force_h; /* forces are means at this time over this time [s]; 0: a file of an older version */
    int32_t struck;             /* contacts that closed in a fixed step                      */
    double work, damping, impacts, correction, scheme, unexplained; /* as in st_StepInfo [J]  */
} st_RecordedStep;

typedef struct st_RecordedFrame {
    double time;
    int64_t step;          /* its row among the steps                                   */
    int64_t first_contact; /* its contacts stand from here                              */
    int32_t n_contacts;
} st_RecordedFrame;

/* A contact of the step that ended in a frame. Its mean force is impulse/force_h of that step. */
typedef struct st_RecordedContact {
    uint64_t id;
    int32_t a, b; /* bodies, 1-based; 0: the ground                                     */
    double point[3], normal[3];
    double impulse[3];  /* on b, without impacts, world axes [N s]                      */
    double impact[3];   /* on b, of impacts [N s]; with impulse 0: they cannot be told apart */
    double velocity[3]; /* of b against a, world axes [m/s]                             */
    double gap;
} st_RecordedContact;

/* The action of a on b through a joint, in the step that ended in a frame. */
typedef struct st_RecordedJoint {
    double force[3], torque[3];           /* at the joint's point, world axes [N, N m]; NaN: the step holds an impact */
    double coordinate, speed;             /* [m or rad] and per second; 0: it has none            */
    double other, other_speed;            /* the other coordinate: angle_b, twist, ...; likewise  */
    double motor;                         /* on the coordinate [N or N m]                         */
    double error;                         /* largest joint value [m or rad]                       */
    double friction, limit, spring, gear; /* as in st_JointReport                       */
} st_RecordedJoint;

/* A spring in a frame: as in st_SpringReport. */
typedef struct st_RecordedSpring {
    double length, rate, force;
} st_RecordedSpring;

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
/* Open a recording for reading, also one that was cut off. Close it with st_recording_close. */
ST_API st_Status st_recording_open(const char *path, st_Recording **out, st_Error *err);
/* Close a recording and free it. NULL is allowed. */
ST_API void st_recording_close(st_Recording *recording);
/* Contents of the recording; valid until it is closed. */
ST_API const st_RecordingInfo *st_recording_info(const st_Recording *recording);
/* Read steps first .. first + count - 1 into `out`. */
ST_API st_Status st_recording_steps(st_Recording *recording, int64_t first, int64_t count, st_RecordedStep *out,
                                    st_Error *err);
/* Read frames first .. first + count - 1 into `out`. */
ST_API st_Status st_recording_frames(st_Recording *recording, int64_t first, int64_t count, st_RecordedFrame *out,
                                     st_Error *err);
/* Read contacts first .. first + count - 1 into `out`. */
ST_API st_Status st_recording_contacts(st_Recording *recording, int64_t first, int64_t count, st_RecordedContact *out,
                                       st_Error *err);
/* Read events first .. first + count - 1 into `out`. */
ST_API st_Status st_recording_events(st_Recording *recording, int64_t first, int64_t count, st_RecordedEvent *out,
                                     st_Error *err);
/* Read checkpoints first .. first + count - 1 into `out`. */
ST_API st_Status st_recording_checkpoints(st_Recording *recording, int64_t first, int64_t count,
                                          st_RecordedCheckpoint *out, st_Error *err);
/* Read the bodies of one frame, n_bodies numbers each; any array may be NULL. Position and velocity are in world axes,
 * spin in body axes.                                                                              */
ST_API st_Status st_recording_bodies(st_Recording *recording, int64_t frame, st_Vec3 *position, st_Quat *orientation,
                                     st_Vec3 *velocity, st_Vec3 *spin, st_Error *err);
/* Read the n_joints joints of one frame. */
ST_API st_Status st_recording_joints(st_Recording *recording, int64_t frame, st_RecordedJoint *out, st_Error *err);
/* Read the n_springs springs of one frame. */
ST_API st_Status st_recording_springs(st_Recording *recording, int64_t frame, st_RecordedSpring *out, st_Error *err);
/* Read the n_values values of all measures of one frame, in the order of the scene (st_measure_value_name). */
ST_API st_Status st_recording_measures(st_Recording *recording, int64_t frame, double *out, st_Error *err);
/* Read the scene of the run again from its recorded text, with further overrides. The caller destroys it. */
ST_API st_Status st_recording_scene(const st_Recording *recording, const char *const *more_sets, int n_more,
                                    st_Scene **scene, st_SystemDef *def, st_Error *err);
/* Restore the state of a checkpoint in a system made from that scene. */
ST_API st_Status st_recording_restore(st_Recording *recording, const st_RecordedCheckpoint *checkpoint,
                                      st_System *system, st_Error *err);

/* Write a file, whole or not at all. */
ST_API st_Status st_file_write(const char *path, const void *bytes, size_t size, st_Error *err);

/* Write a recording as a table with one line per frame. */
ST_API st_Status st_recording_write_csv(st_Recording *recording, const char *path, st_Error *err);
/* Write a recording for ParaView: FOLDER/walls.pvd, bodies.pvd, grains.pvd, contacts.pvd and network.pvd, which list
 * the .vtp files of the frames (docs/recording.md).                                                   */
ST_API st_Status st_recording_write_vtk(st_Recording *recording, const char *folder, st_Error *err);
/* The names of all curves of a recording as a text to read: malloc'd; NULL if there is no memory. */
ST_API char *st_recording_curve_names(const st_Recording *recording);
/* Draw curves of a recording as SVG, by name: "kinetic", "left.x", "left/ground.force", "hinge.torque", ... One chart
 * per unit. They are drawn over the curve `over`; NULL: over time.                                    */
ST_API st_Status st_recording_write_plot(st_Recording *recording, const char *over, const char *const *curves,
                                         int n_curves, const char *path, st_Error *err);

/* Pack a recording for the viewer's page: a JSON header and compressed arrays, malloc'd. `limit` is the largest number
 * of body poses (and of contacts); 0: a default that browsers can handle. A longer run is thinned, and the header says
 * so. */
ST_API st_Status st_recording_pack(st_Recording *recording, int64_t limit, unsigned char **out, size_t *size,
                                   st_Error *err);
/* Write the viewer's page with the run inside: one file that needs no network. `page` is the HTML of the viewer. */
ST_API st_Status st_recording_write_report(st_Recording *recording, int64_t limit, const char *page, size_t page_size,
                                           const char *path, st_Error *err);
/* Bodies, shapes, joints and springs as JSON for the viewer: malloc'd; NULL if there is no memory. */
ST_API char *st_scene_model(const st_Scene *scene, const st_SystemDef *def);
/* All settings as JSON: malloc'd; NULL if there is no memory. */
ST_API char *st_choices_json(const st_SystemDef *def);

/* ---- problem files: FCLIB and complementarity problems, docs/problems.md ------------------------ */

/* A problem file: HDF5 in the FCLIB layout (docs/problems.md) with a friction problem or a linear complementarity
 * problem. One that was read owns its arrays. To write one, fill the struct with your own arrays.           */
typedef struct st_ProblemFile {
    const char *kind; /* fc2d, fc3d, rfc3d, gfc2d, gfc3d, grfc3d, lcp, mlcp; not looked at when writing */
    bool is_lcp;
    st_FrictionProblem friction;     /* where is_lcp is false                               */
    st_LcpProblem lcp;               /* where it is true; mlcp: with free rows              */
    int n;                           /* rows of r, or of z                                  */
    const char *title, *description; /* or NULL                                         */
    const double *r, *u, *v;         /* a stored answer (r or z, u or w, v), each may be NULL */
} st_ProblemFile;

/* Read a problem file. Free it with st_problem_file_destroy. */
ST_API st_Status st_problem_file_read(const char *path, st_ProblemFile **out, st_Error *err);
/* Free a problem that was read. NULL is allowed. */
ST_API void st_problem_file_destroy(st_ProblemFile *file);

/* Write a problem file. */
ST_API st_Status st_problem_file_write(const char *path, const st_ProblemFile *file, st_Error *err);
/* Copy the file `from` to `path` with r, u, v (z, w of an LCP) as its /solution; everything else is kept. u and v may
 * be NULL; `path` may be equal to `from`.                                                           */
ST_API st_Status st_problem_file_write_solution(const char *from, const char *path, int n_r, const double *r,
                                                const double *u, int n_v, const double *v, st_Error *err);

/* Draw a performance profile (Dolan & More 2002): for each solver, the share of problems solved within a factor of the
 * best time. seconds[s n_problems + k] is the time of solver s on problem k; negative: not solved. */
ST_API st_Status st_profile_write(const char *path, const char *title, int n_solvers, const char *const *names,
                                  int n_problems, const double *seconds, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
