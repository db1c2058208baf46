/* collide/dispatch.c -- the matrix of functions for pairs of shape families.
 *
 * A pair is looked up in one order only: above the diagonal of this table. Thin shapes (points, bars) do not touch
 * each other, nor do planes, nor height fields.
 */
#include "collide/narrow/narrow.h"
#include "collide/validate.h"

#define P sti_plane_shape
#define M sti_mesh_mesh
#define m sti_mesh_convex
#define s sti_sphere_sphere
#define k sti_sphere_capsule
#define x sti_sphere_box
#define b sti_box_box
#define c sti_convex_convex
#define _ NULL

/* clang-format off */
static sti_PairFunction *const matrix[STI_N_FAMILIES][STI_N_FAMILIES] = {
    /*                       plane mesh height | point sphere bar capsule box convex */
    [STI_FAMILY_PLANES]        = {  _,    P,   P,       P,    P,     P,  P,      P,  P },
    [STI_FAMILY_MESHES]        = {  _,    M,   M,       m,    m,     m,  m,      m,  m },
    [STI_FAMILY_HEIGHT_FIELDS] = {  _,    _,   _,       m,    m,     m,  m,      m,  m },
    [STI_FAMILY_POINTS]        = {  _,    _,   _,       _,    s,     _,  k,      x,  c },
    [STI_FAMILY_SPHERES]       = {  _,    _,   _,       _,    s,     k,  k,      x,  c },
    [STI_FAMILY_BARS]          = {  _,    _,   _,       _,    _,     _,  c,      c,  c },
    [STI_FAMILY_CAPSULES]      = {  _,    _,   _,       _,    _,     _,  c,      c,  c },
    [STI_FAMILY_BOXES]         = {  _,    _,   _,       _,    _,     _,  _,      b,  c },
    [STI_FAMILY_CONVEX]        = {  _,    _,   _,       _,    _,     _,  _,      _,  c },
};
/* clang-format on */

#undef P
#undef M
#undef m
#undef s
#undef k
#undef x
#undef b
#undef c
#undef _

bool sti_collide_supports(st_ShapeType first, st_ShapeType second)
{
    const sti_Family a = sti_shape_descriptor(first)->family, b = sti_shape_descriptor(second)->family;
    return matrix[a][b] != NULL && !(a == b && first > second); /* in one order only */
}

st_Status sti_collide(const sti_Shape *first, st_Pose pose_first, const sti_Shape *second, st_Pose pose_second,
                      const sti_Collide *how, sti_Points *out, st_Error *err)
{
    sti_PairFunction *pair = matrix[first->of->family][second->of->family];
    const int n = out->n;
    (void)n;
    STI_TRY(pair != NULL ? pair(first, pose_first, second, pose_second, how, out, err) : ST_OK);
    ST_ASSERT(sti_points_are_valid(out, n));
    return ST_OK;
}
