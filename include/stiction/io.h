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
/* The JSON Schema of scene files, from the reader's own tables: malloc'd, free() it. NULL: no memory. */
ST_API char *st_scene_schema(void);
/* The tables of every key as Markdown, from the same tables; as above. */
ST_API char *st_scene_reference(void);

/* A table of a run, one line a step: time, step, energies, residual, every body's state. */
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
