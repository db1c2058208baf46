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

/* Curves on logarithmic axes as SVG, with the slopes of orders one and two beside the first: errors over
 * step sizes. Values that are not positive are left out.                                        */
typedef struct st_PlotCurve {
    const char *name;
    int n;
    const double *x, *y;
} st_PlotCurve;
ST_API st_Status st_plot_loglog(const char *path, const char *title, const char *x_label, const char *y_label,
                                const st_PlotCurve *curves, int n_curves, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
