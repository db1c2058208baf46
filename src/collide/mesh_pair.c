#include "collide/pair.h"
st_Status sti_mesh_convex(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b,
                          const sti_Collide *how, sti_Points *out, st_Error *err)
{
    (void)a, (void)pose_a, (void)b, (void)pose_b, (void)how, (void)out, (void)err;
    return ST_OK;
}
st_Status sti_mesh_mesh(const sti_Shape *a, st_Pose pose_a, const sti_Shape *b, st_Pose pose_b, const sti_Collide *how,
                        sti_Points *out, st_Error *err)
{
    (void)a, (void)pose_a, (void)b, (void)pose_b, (void)how, (void)out, (void)err;
    return ST_OK;
}
