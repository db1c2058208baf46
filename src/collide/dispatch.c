/* collide/dispatch.c -- which function serves which pair of shapes: the whole matrix at a glance.
 *
 * A pair is looked up in one order only: above the diagonal of the table as it is written here. Thin things
 * (points, bars) do not meet each other, nor do planes, nor height fields.
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

enum { PLANE, MESH, HEIGHT, POINT, SPHERE, BAR, CAPSULE, BOX, CYLINDER, CONE, ELLIPSOID, HULL };

static const int place[ST_N_SHAPE_TYPES] = {
    [ST_SHAPE_POINT] = POINT,       [ST_SHAPE_BAR] = BAR,     [ST_SHAPE_SPHERE] = SPHERE,
    [ST_SHAPE_BOX] = BOX,           [ST_SHAPE_PLANE] = PLANE, [ST_SHAPE_CAPSULE] = CAPSULE,
    [ST_SHAPE_CYLINDER] = CYLINDER, [ST_SHAPE_CONE] = CONE,   [ST_SHAPE_ELLIPSOID] = ELLIPSOID,
    [ST_SHAPE_HULL] = HULL,         [ST_SHAPE_MESH] = MESH,   [ST_SHAPE_HEIGHT_FIELD] = HEIGHT,
};

/* clang-format off */
static sti_PairFunction *const matrix[ST_N_SHAPE_TYPES][ST_N_SHAPE_TYPES] = {
    /*               plane mesh height | point sphere bar capsule box cylinder cone ellipsoid hull */
    [PLANE]     = {  _,    P,   P,       P,    P,     P,  P,      P,  P,       P,   P,        P },
    [MESH]      = {  _,    M,   M,       m,    m,     m,  m,      m,  m,       m,   m,        m },
    [HEIGHT]    = {  _,    _,   _,       m,    m,     m,  m,      m,  m,       m,   m,        m },
    [POINT]     = {  _,    _,   _,       _,    s,     _,  k,      x,  c,       c,   c,        c },
    [SPHERE]    = {  _,    _,   _,       _,    s,     k,  k,      x,  c,       c,   c,        c },
    [BAR]       = {  _,    _,   _,       _,    _,     _,  c,      c,  c,       c,   c,        c },
    [CAPSULE]   = {  _,    _,   _,       _,    _,     _,  c,      c,  c,       c,   c,        c },
    [BOX]       = {  _,    _,   _,       _,    _,     _,  _,      b,  c,       c,   c,        c },
    [CYLINDER]  = {  _,    _,   _,       _,    _,     _,  _,      _,  c,       c,   c,        c },
    [CONE]      = {  _,    _,   _,       _,    _,     _,  _,      _,  _,       c,   c,        c },
    [ELLIPSOID] = {  _,    _,   _,       _,    _,     _,  _,      _,  _,       _,   c,        c },
    [HULL]      = {  _,    _,   _,       _,    _,     _,  _,      _,  _,       _,   _,        c },
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
    return matrix[place[first]][place[second]] != NULL;
}

st_Status sti_collide(const sti_Shape *first, st_Pose pose_first, const sti_Shape *second, st_Pose pose_second,
                      const sti_Collide *how, sti_Points *out, st_Error *err)
{
    sti_PairFunction *pair = matrix[place[first->type]][place[second->type]];
    const int n = out->n;
    (void)n;
    STI_TRY(pair != NULL ? pair(first, pose_first, second, pose_second, how, out, err) : ST_OK);
    ST_ASSERT(sti_points_are_valid(out, n));
    return ST_OK;
}
