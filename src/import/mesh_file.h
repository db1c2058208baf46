/* import/mesh_file.h -- points and triangles from OBJ, STL, COLLADA and MuJoCo's MSH files. */
#ifndef STI_MODEL_FILE_H
#define STI_MODEL_FILE_H

#include "base/base.h"

/* malloc'd; start from {0}, free with sti_model_free(). */
typedef struct sti_Model {
    int n_points, n_triangles;
    st_Vec3 *points;
    int *triangles; /* 3 n_triangles */
    size_t points_room, triangles_room;
} sti_Model;

/* By the ending of the name: .obj, .stl (text or binary), .dae or .msh. On failure err says "FILE[:LINE]: what". */
st_Status sti_model_read(const char *path, sti_Model *out, st_Error *err);
/* The same from memory; `ending`: ".obj", ... */
st_Status sti_model_parse(const char *text, size_t length, const char *ending, const char *label, sti_Model *out,
                          st_Error *err);
/* mesh_dae.c */
st_Status sti_dae_parse(const char *text, size_t length, const char *label, sti_Model *out, st_Error *err);
/* As readers add them; a triangle's corners are points that are there. */
st_Status sti_model_point(sti_Model *m, const char *label, int line, st_Vec3 p, st_Error *err);
st_Status sti_model_triangle(sti_Model *m, const char *label, int a, int b, int c, st_Error *err);
bool sti_is_model_file(const char *path); /* one of the endings above */
void sti_model_free(sti_Model *model);

#endif
