/* import/mesh_file.h -- points and triangles from OBJ, STL, COLLADA and MuJoCo's MSH files. */
#ifndef STI_MODEL_FILE_H
#define STI_MODEL_FILE_H

#include "base/base.h"

/* Arrays are malloc'd. Start from {0}, free with sti_model_free(). */
typedef struct sti_Model {
    int n_points, n_triangles;
    st_Vec3 *points;
    int *triangles; /* 3 n_triangles point numbers */
    size_t points_room, triangles_room;
} sti_Model;

/* Reads a file; the ending of its name gives the format: .obj, .stl (text or binary), .dae or .msh. Messages start
 * with "FILE[:LINE]: ". */
st_Status sti_model_read(const char *path, sti_Model *out, st_Error *err);
/* Reads from memory; `ending` is ".obj" etc. */
st_Status sti_model_parse(const char *text, size_t length, const char *ending, const char *label, sti_Model *out,
                          st_Error *err);
/* mesh_dae.c */
st_Status sti_dae_parse(const char *text, size_t length, const char *label, sti_Model *out, st_Error *err);
/* Used by the readers to add a point or a triangle. The corners of a triangle must already exist. */
st_Status sti_model_point(sti_Model *m, const char *label, int line, st_Vec3 p, st_Error *err);
st_Status sti_model_triangle(sti_Model *m, const char *label, int a, int b, int c, st_Error *err);
bool sti_is_model_file(const char *path); /* has it one of the endings above? */
void sti_model_free(sti_Model *model);

#endif
