/* import/mesh_file.h -- points and triangles from OBJ and STL files. */
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

/* By the ending of the name: .obj or .stl (text or binary). On failure err says "FILE[:LINE]: what". */
st_Status sti_model_read(const char *path, sti_Model *out, st_Error *err);
/* The same from memory; `obj`: Wavefront OBJ, else STL. */
st_Status sti_model_parse(const char *text, size_t length, bool obj, const char *label, sti_Model *out, st_Error *err);
void sti_model_free(sti_Model *model);

#endif
