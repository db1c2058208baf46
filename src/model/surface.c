/* model/surface.c -- what the surfaces of two shapes do together, combined once.
 *
 * A scene has few kinds of surfaces, however many shapes: the shapes are numbered by kind, and a table holds what
 * every two kinds make of each other. Where nearly every shape is of its own kind there is no table.
 */
#include "model/world.h"

#define MAX_KINDS 64 /* a table of 64 x 64 is 1 MB */

/* Two springs one behind the other; 0 stands for a rigid one. */
static double in_series(double a, double b)
{
    return a > 0 && b > 0 ? a * b / (a + b) : fmax(a, b);
}

static bool surface_is_zero(st_Vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static bool is_belt(const st_ShapeDef *shape)
{
    return !surface_is_zero(shape->surface_velocity) || !surface_is_zero(shape->surface_spin);
}

/* mu along over mu across; 1: friction is the same in all directions. */
static double slenderness(const st_ShapeDef *shape)
{
    return shape->friction_across > 0 ? shape->mu / shape->friction_across : 1.0;
}

/* With sqrt(mu_1 mu_2) in place of a shape's mu, the geometric means with the other shape's are (mu s, mu/s) where
 * s^4 = mu_1/mu_2 of the one with the more slender ellipse.                                        */
static sti_Surface combined(const st_Scene *scene, const st_ShapeDef *a, const st_ShapeDef *b)
{
    st_ShapeDef mean[2] = {*a, *b};
    const double s[2] = {slenderness(a), slenderness(b)};
    const int more = fabs(log(s[0])) >= fabs(log(s[1])) ? 0 : 1;
    for (int side = 0; side < 2; side++)
        if (s[side] != 1) mean[side].mu = sqrt(mean[side].mu * mean[side].friction_across);
    const st_MaterialPairDef pair = sti_pair_of(scene, &mean[0], &mean[1]);
    return (sti_Surface){.more = pair.more,
                         .slender = s[more] == 1 || pair.mu == 0 ? 1.0 : sqrt(sqrt(s[more])),
                         .along_of = s[more] == 1 ? -1 : more,
                         .along = more == 0 ? a->friction_direction : b->friction_direction,
                         .mu = pair.mu,
                         .restitution = pair.restitution,
                         .rolling = pair.rolling,
                         .spinning = pair.spinning,
                         .stiffness = in_series(a->stiffness, b->stiffness),
                         .damping = in_series(a->damping, b->damping),
                         .elastic = {{a->young, a->poisson}, {b->young, b->poisson}},
                         .moves = pair.mu > 0 && (is_belt(a) || is_belt(b)),
                         .turns = pair.rolling > 0 || pair.spinning > 0 || a->young > 0 || b->young > 0};
}

static bool surface_same_surface(const st_ShapeDef *a, const st_ShapeDef *b)
{
    return a->material.index1 == b->material.index1 && a->mu == b->mu && a->restitution == b->restitution &&
           a->rolling == b->rolling && a->spinning == b->spinning && a->stiffness == b->stiffness &&
           a->damping == b->damping && a->young == b->young && a->poisson == b->poisson && is_belt(a) == is_belt(b) &&
           a->friction_across == b->friction_across && a->friction_direction.x == b->friction_direction.x &&
           a->friction_direction.y == b->friction_direction.y && a->friction_direction.z == b->friction_direction.z;
}

/* The kind of each shape, and a shape of each kind; false: there are too many. */
static bool find_kinds(const st_Scene *scene, sti_Surfaces *out, int first[MAX_KINDS])
{
    out->n_kinds = 0;
    for (int k = 0; k < scene->n_shapes; k++) {
        int kind = 0;
        while (kind < out->n_kinds && !surface_same_surface(sti_shape_def(scene, first[kind]), sti_shape_def(scene, k)))
            kind++;
        if (kind == MAX_KINDS) return false;
        if (kind == out->n_kinds) first[out->n_kinds++] = k;
        out->kind[k] = kind;
    }
    return true;
}

st_Status sti_surfaces_compile(const st_Scene *scene, const st_Allocator *allocator, sti_Surfaces *out, st_Error *err)
{
    int n = scene->n_shapes, first[MAX_KINDS];
    if (n == 0) return ST_OK;
    out->kind = sti_alloc(allocator, n, sizeof *out->kind);
    if (out->kind == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d shapes", n);
    if (!find_kinds(scene, out, first)) {
        sti_surfaces_free(scene, allocator, out);
        return ST_OK;
    }
    int kinds = out->n_kinds;
    out->table = sti_alloc(allocator, (int64_t)kinds * kinds, sizeof *out->table);
    if (out->table == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d kinds of surfaces", kinds);
    for (int i = 0; i < kinds; i++)
        for (int j = 0; j < kinds; j++)
            out->table[i * kinds + j] = combined(scene, sti_shape_def(scene, first[i]), sti_shape_def(scene, first[j]));
    return ST_OK;
}

void sti_surfaces_free(const st_Scene *scene, const st_Allocator *allocator, sti_Surfaces *surfaces)
{
    sti_free(allocator, surfaces->kind, scene->n_shapes, sizeof *surfaces->kind);
    sti_free(allocator, surfaces->table, (int64_t)surfaces->n_kinds * surfaces->n_kinds, sizeof *surfaces->table);
    *surfaces = (sti_Surfaces){.n_kinds = 0};
}

const sti_Surface *sti_surface_of(const st_Scene *scene, const sti_Surfaces *surfaces, int i, int j, sti_Surface *room)
{
    if (surfaces->kind != NULL) return &surfaces->table[surfaces->kind[i] * surfaces->n_kinds + surfaces->kind[j]];
    *room = combined(scene, sti_shape_def(scene, i), sti_shape_def(scene, j));
    return room;
}
