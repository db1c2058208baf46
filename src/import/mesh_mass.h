/* import/mesh_mass.h -- volume, centre and inertia of triangles, as MJCF's compiler has them. */
#ifndef STI_MESH_MASS_H
#define STI_MESH_MASS_H

#include "import/mesh_file.h"

typedef enum sti_MeshMass {
    STI_MESH_LEGACY, /* tetrahedra to the middle of the surface, each counted as positive: meshes need not be closed */
    STI_MESH_EXACT,  /* the volume that it closes                                                    */
    STI_MESH_CONVEX, /* its convex hull                                                              */
    STI_MESH_SHELL   /* its surface, as a sheet of density per area                                  */
} sti_MeshMass;

typedef struct sti_Solid {
    double volume; /* [m^3], of a shell [m^2]                                                        */
    st_Vec3 centre;
    st_Mat3 inertia; /* about the centre, at a density of 1                                          */
} sti_Solid;

/* ST_ERR_ARGUMENT: it has no volume. */
st_Status sti_mesh_mass(const sti_Model *model, sti_MeshMass how, sti_Solid *out, st_Error *err);

#endif
