/* stiction/io.h -- scene files, recordings, tables and pictures. They are in a separate library (libstiction-io), so
 * that programs that embed the engine do not depend on JSON, XML and HDF5.
 *
 * A file is written completely or not at all: if writing fails or the program is stopped, an earlier file at `path` is
 * unchanged. Exceptions are the table st_Csv and recordings, which grow during a run. Messages about files start with
 * "FILE:LINE: ". Texts and arrays described as malloc'd belong to the caller; free them with free().
 *
 * Different objects may be used in different threads. For recordings, problem files and tables in HDF5 this needs a
 * libhdf5 that was built thread-safe, as that of Debian is. These functions allocate with malloc().
 */
#ifndef STICTION_IO_H
#define STICTION_IO_H

#include <stiction/stiction.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Read a scene file. `sets` are overrides "PATH=VALUE", which are applied before any check. PATH selects members of
 * lists by name or number ("bodies/left/mass=2", "simulation/h=1e-3"), or by a pattern in which a star matches any
 * characters ("bodies/brick*=...").  On success both outputs are filled; the caller destroys the scene; strings in
 * `def` are static. On failure the message in err is "FILE:LINE: ", the problem, the value found and the value
 * expected. */
ST_API st_Status st_scene_read(const char *path, const char *const *sets, int n_sets, st_Scene **scene,
                               st_SystemDef *def, st_Error *err);
/* Read a scene from memory; messages name `label` in place of the file. */
ST_API st_Status st_scene_parse(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                                st_Scene **scene, st_SystemDef *def, st_Error *err);
/* List all errors of a scene in the order of reading. Writes at most `room` of them to `errors` and returns the total
 * number; 0: the scene is valid. */
ST_API int st_scene_errors(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                           st_Error *errors, int room);
/* Convert a scene or a robot file to the text of a plain scene, in which robots of the key `robots` are expanded and
 * overrides are applied. A URDF or MJCF file is recognised by its content and read as a scene that contains only this
 * robot; "robots/0/fixed=true" refers to it. `prefix` (may be NULL) is put before relative paths of meshes. `remarks`
 * receives one line for each part of a robot file that was approximated or omitted. Both outputs are malloc'd; either
 * may be NULL. */
ST_API st_Status st_scene_convert(const char *path, const char *const *sets, int n_sets, const char *prefix,
                                  char **text, char **remarks, st_Error *err);
/* Convert from memory. Messages name `label` in place of the file. Files that the text names are searched for in the
 * folder of `label`. */
ST_API st_Status st_scene_convert_text(const char *from, size_t length, const char *label, const char *const *sets,
                                       int n_sets, const char *prefix, char **text, char **remarks, st_Error *err);
/* Write a scene as the text of an MJCF file, for MuJoCo. `remarks` (may be NULL) receives one line for each part that
 * MJCF cannot express. Both are malloc'd. */
ST_API st_Status st_scene_write_mjcf(const st_Scene *scene, const st_SystemDef *def, const char *name, char **text,
                                     char **remarks, st_Error *err);
/* The JSON Schema of scene files, generated from the tables of the reader. malloc'd; NULL if there is no memory. */
ST_API char *st_scene_schema(void);
/* All keys of scene files as Markdown tables, from the tables of the reader. malloc'd; NULL if there is no memory. */
ST_API char *st_scene_reference(void);

/* The columns of the table of a run. They have names: "t", "kinetic", "ball.z", "hinge.motor", ... */
typedef struct st_Columns st_Columns;
/* List the columns of a scene. The scene must outlive them. Free them with st_columns_destroy. */
ST_API st_Status st_columns_create(const st_Scene *scene, st_Columns **out, st_Error *err);
/* Free columns. NULL is allowed. */
ST_API void st_columns_destroy(st_Columns *columns);
/* Number of columns. */
ST_API int64_t st_columns_count(const st_Columns *columns);
/* Write the name of a column as snprintf does. Returns its length, 0 outside 0 .. count - 1. `out` may be NULL. */
ST_API size_t st_columns_name(const st_Columns *columns, int64_t index, char *out, size_t size);
/* Index of the column with this name; -1 if there is none. */
ST_API int64_t st_columns_find(const st_Columns *columns, const char *name);
/* Values of all columns after a step of a system made from the scene. Forces of a step that includes an impact are NaN.
 */
ST_API st_Status st_columns_values(st_Columns *columns, const st_System *system, const st_StepInfo *info,
                                   double *values, st_Error *err);

/* A table of a run with one line per step: time, step, energies, residual, the state of every body, and the coordinate
 * and reaction of every joint (st_JointReport, world axes).                                       */
typedef struct st_Csv st_Csv;
/* Open a table and write its header. The scene must outlive it. Close it with st_csv_close. */
ST_API st_Status st_csv_open(const char *path, const st_System *system, const st_Scene *scene, st_Csv **out,
                             st_Error *err);
/* Write the line of one step. */
ST_API st_Status st_csv_write(st_Csv *csv, const st_System *system, const st_StepInfo *info, st_Error *err);
/* Write the buffered lines, close the file and free the table, also on an error. NULL is allowed. */
ST_API st_Status st_csv_close(st_Csv *csv, st_Error *err);

/* A column of a table of results: numbers or texts, one per row. */
typedef struct st_TableColumn {
    const char *name;
    const double *numbers;    /* NULL: texts                                            */
    const char *const *texts; /* not used if there are numbers                          */
} st_TableColumn;
/* Write a table. If `path` ends in .h5 or .hdf5, the format is HDF5, else CSV. The HDF5 file has one dataset per
 * column, with the name of the column ("a/b" is the dataset b of the group a). Its dataset "columns" lists the names in
 * order. */
ST_API st_Status st_table_write(const char *path, const st_TableColumn *columns, int n_columns, int64_t n_rows,
                                st_Error *err);

/* A picture of a run as SVG: successive positions, coordinates and energies over time. Its memory does not grow with
 * the number of steps.                                                                                */
typedef struct st_Picture st_Picture;
/* Start a picture. The scene must outlive it. Free it with st_picture_destroy. */
ST_API st_Status st_picture_create(const st_Scene *scene, const st_SystemDef *def, st_Picture **out, st_Error *err);
/* Set the heading, at most 120 bytes of UTF-8, which is copied; NULL: none. */
ST_API void st_picture_set_title(st_Picture *picture, const char *title);
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
    bool points; /* st_plot_lines: draw dots without a line */
} st_PlotCurve;
/* Draw curves on logarithmic axes as SVG, for example errors over step sizes. The slopes of orders one and two are
 * drawn beside the first curve. Values that are not positive are left out. */
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

/* A camera. If eye and target are both 0, all bodies that can move are in view. */
typedef struct st_Camera {
    st_Vec3 eye, target; /* in the world [m]                                                */
    st_Vec3 up;          /* the direction that is up in the picture, any length             */
    double angle;        /* of view, from the lower to the upper edge [rad]                 */
} st_Camera;
/* A camera with all bodies that can move in view, z up and an angle of 0.6 rad. */
ST_API st_Camera st_camera(void);
/* Draw the current state of a system of the scene. width and height are from 16 to 8192 pixels. `rgb` receives three
 * bytes per pixel (red, green, blue), row by row from the upper left. Needs no screen. If camera is NULL, st_camera()
 * is used. */
ST_API st_Status st_render(const st_Scene *scene, const st_System *system, const st_Camera *camera, int width,
                           int height, unsigned char *rgb, st_Error *err);

/* ---- recordings: one HDF5 file per run; docs/recording.md describes the layout ------------------ */

/* Start from st_recorder_def(). Texts are copied. */
typedef struct st_RecorderDef {
    const char *name, *description; /* of the scene; NULL: none                         */
    const char *text;               /* content of the scene file; NULL: none, a restart is then not possible */
    size_t length;                  /* of the text                                      */
    const char *label;              /* where the text came from                         */
    const char *const *sets;        /* overrides that were applied to it                */
    int n_sets;
    double rate;       /* frames (poses, contacts) per simulated second; 0: every step  */
    double checkpoint; /* simulated time between checkpoints [s]; 0: first and last only */
    /* Wall time between flushes [s]. In long runs it is 1 % of the time since the start, but at most ten times this
     * value. A killed run loses the steps since the last flush. 0: flush after every step. */
    double flush;
    uint32_t cookie; /* set by st_recorder_def(); leave alone                         */
} st_RecorderDef;

typedef struct st_Recorder st_Recorder;
/* Defaults: 60 frames per simulated second, a flush every second. */
ST_API st_RecorderDef st_recorder_def(void);
/* Open a recording and write its head. The arguments need not outlive the call. Close it with st_recorder_close. */
ST_API st_Status st_recorder_open(const char *path, const st_RecorderDef *def, const st_Scene *scene,
                                  const st_SystemDef *choices, const st_System *system, st_Recorder **out,
                                  st_Error *err);
/* Add the state after a step. The first call, with an info of h = 0, records the start. After a failure the file
 * contains everything that was flushed before; close the recorder. */
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
    int format;          /* version of the layout                                   */
    const char *version; /* of the library that wrote it                            */
    const char *created; /* when, UTC                                               */
    const char *name, *description, *label;
    const char *text;    /* the scene; "": none                                     */
    const char *model;   /* bodies, shapes, joints, springs: JSON                   */
    const char *choices; /* every setting: JSON                                     */
    const char *const *sets;
    int n_sets;
    const char *outcome, *message; /* "running": the run was killed, or has not ended yet */
    double wall;                   /* wall time of the run, up to the last known step [s] */
    double stage_seconds[ST_N_PARTS];
    bool closed;  /* false: truncated, or still being written                     */
    int n_bodies; /* without the ground                                           */
    int n_joints, n_springs;
    int n_values; /* of all measures together                                     */
    int64_t n_frames, n_steps, n_contacts, n_events, n_checkpoints;
    double rate;        /* frames per simulated second; 0: every step                   */
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
    double joint_residual;      /* largest velocity error that the solver left in joints [m/s or rad/s] */
    double friction;            /* work of friction since the start [J]                      */
    double force_time, force_h; /* [s] as in st_StepInfo; 0: a file of an older version */
    int32_t struck;             /* contacts that closed in a fixed step                      */
    double work, damping, impacts, correction, scheme, unexplained; /* as in st_StepInfo [J]  */
} st_RecordedStep;

typedef struct st_RecordedFrame {
    double time;
    int64_t step;          /* index of its step                                         */
    int64_t first_contact; /* index of its first contact                                */
    int32_t n_contacts;
} st_RecordedFrame;

/* A contact of the step that ended in a frame. Its mean force is impulse/force_h of that step. */
typedef struct st_RecordedContact {
    uint64_t id;
    int32_t a, b; /* bodies, 1-based; 0: the ground                                     */
    double point[3], normal[3];
    double impulse[3];  /* on b, without impacts, world axes [N s]                      */
    double impact[3];   /* on b, of impacts [N s]; if impulse is 0, they cannot be separated */
    double velocity[3]; /* of b relative to a, world axes [m/s]                         */
    double gap;
} st_RecordedContact;

/* The action of a on b through a joint, in the step that ended in a frame. */
typedef struct st_RecordedJoint {
    double force[3], torque[3]; /* at the joint's point, world axes [N, N m]; NaN: the step includes an impact */
    double coordinate, speed;   /* [m or rad] and per second; 0: it has none            */
    double other, other_speed;  /* the other coordinate: angle_b, twist, ...; 0: it has none */
    double motor;               /* on the coordinate [N or N m]                         */
    double error;               /* largest error of its rows [m or rad]                 */
    double friction, limit, spring, gear; /* as in st_JointReport                       */
} st_RecordedJoint;

/* A spring in a frame: as in st_SpringReport. */
typedef struct st_RecordedSpring {
    double length, rate, force;
    double force_on_b[3], torque_on_b[3]; /* at its end, world axes [N, N m]; of a bushing nothing else is recorded */
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
    int64_t step;          /* number of steps before it                                 */
    uint64_t hash;         /* st_system_hash of the state                               */
    int64_t offset, bytes; /* place in the dataset of all states                        */
} st_RecordedCheckpoint;

typedef struct st_Recording st_Recording;
/* Open a recording for reading. A truncated recording can be read, too. Close it with st_recording_close. */
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
/* Read the bodies of one frame. Each array has n_bodies entries; any may be NULL. Position and velocity are in world
 * axes, spin in body axes.                                                                              */
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

/* Write a file completely or not at all. */
ST_API st_Status st_file_write(const char *path, const void *bytes, size_t size, st_Error *err);

/* Write a recording as a table with one line per frame: the columns of st_columns_create, without the impulses of
 * impacts on bodies. */
ST_API st_Status st_recording_write_csv(st_Recording *recording, const char *path, st_Error *err);
/* Write a recording for ParaView: FOLDER/walls.pvd, bodies.pvd, grains.pvd, contacts.pvd and network.pvd, which list
 * the .vtp files of the frames (docs/recording.md).                                                   */
ST_API st_Status st_recording_write_vtk(st_Recording *recording, const char *folder, st_Error *err);
/* The names of all curves of a recording, as a text for people. malloc'd; NULL if there is no memory. */
ST_API char *st_recording_curve_names(const st_Recording *recording);
/* Draw curves of a recording as SVG, by name: "kinetic", "left.x", "left/ground.force", "hinge.torque", ... There is
 * one chart per unit. The horizontal axis is the curve `over`; NULL: time. path NULL: only the names are checked. */
ST_API st_Status st_recording_write_plot(st_Recording *recording, const char *over, const char *const *curves,
                                         int n_curves, const char *path, st_Error *err);

/* Pack a recording for the viewer's page: a JSON header and compressed arrays, malloc'd. `limit` is the largest number
 * of body poses (and of contacts); 0: a default that browsers can handle. If a run has more, frames are left out, and
 * the header states it. */
ST_API st_Status st_recording_pack(st_Recording *recording, int64_t limit, unsigned char **out, size_t *size,
                                   st_Error *err);
/* Write the viewer's page with the run in it, as one file that needs no network. `page` is the HTML of the viewer. */
ST_API st_Status st_recording_write_report(st_Recording *recording, int64_t limit, const char *page, size_t page_size,
                                           const char *path, st_Error *err);
/* Bodies, shapes, joints and springs as JSON for the viewer. malloc'd; NULL if there is no memory. */
ST_API char *st_scene_model(const st_Scene *scene, const st_SystemDef *def);
/* All settings as JSON. malloc'd; NULL if there is no memory. */
ST_API char *st_choices_json(const st_SystemDef *def);

/* ---- problem files: FCLIB and complementarity problems, docs/problems.md ------------------------ */

/* A problem file: HDF5 in the FCLIB layout (docs/problems.md) with a friction problem or a linear complementarity
 * problem. st_problem_file_read returns one that owns its arrays. To write one, fill the struct with your own arrays.
 */
typedef struct st_ProblemFile {
    const char *kind; /* fc2d, fc3d, rfc3d, gfc2d, gfc3d, grfc3d, lcp, mlcp; not used when writing */
    bool is_lcp;
    st_FrictionProblem friction;     /* if is_lcp is false                                  */
    st_LcpProblem lcp;               /* if is_lcp is true; mlcp has free rows               */
    int n;                           /* rows of r, or of z                                  */
    const char *title, *description; /* or NULL                                         */
    const double *r, *u, *v;         /* a stored solution (r or z, u or w, v); each may be NULL */
} st_ProblemFile;

/* Read a problem file. Free it with st_problem_file_destroy. */
ST_API st_Status st_problem_file_read(const char *path, st_ProblemFile **out, st_Error *err);
/* Free a problem that was read. NULL is allowed. */
ST_API void st_problem_file_destroy(st_ProblemFile *file);

/* Write a problem file. */
ST_API st_Status st_problem_file_write(const char *path, const st_ProblemFile *file, st_Error *err);
/* Copy the file `from` to `path` with r, u, v (for an LCP: z, w) as its /solution. Everything else is copied unchanged.
 * u and v may be NULL; `path` may be equal to `from`. */
ST_API st_Status st_problem_file_write_solution(const char *from, const char *path, int n_r, const double *r,
                                                const double *u, int n_v, const double *v, st_Error *err);

/* Draw a performance profile (Dolan & More 2002): for each solver, the fraction of problems that it solves within a
 * factor of the best time. seconds[s n_problems + k] is the time of solver s on problem k; negative: not solved. */
ST_API st_Status st_profile_write(const char *path, const char *title, int n_solvers, const char *const *names,
                                  int n_problems, const double *seconds, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
