/* import/mesh_mass.h -- volume, centre and inertia of triangle meshes by the rules of MJCF's compiler. */
#ifndef STI_MESH_MASS_H
#define STI_MESH_MASS_H

#include "import/mesh_file.h"

typedef enum sti_MeshMass {
    STI_MESH_LEGACY, /* tetrahedra with their tip at the centre of the surface, all counted as positive: meshes need not
                        be closed */
    STI_MESH_EXACT,  /* the enclosed volume */
    STI_MESH_CONVEX, /* the convex hull */
    STI_MESH_SHELL   /* the surface, with a density per area */
} sti_MeshMass;

typedef struct sti_Solid {
    double volume; /* [m^3]; for a shell [m^2] */
    st_Vec3 centre;
    st_Mat3 inertia; /* about the centre, at a density of 1                                          */
} sti_Solid;

/* Returns ST_ERR_ARGUMENT if the mesh has no volume. */
st_Status sti_mesh_mass(const sti_Model *model, sti_MeshMass how, sti_Solid *out, st_Error *err);

#endif
