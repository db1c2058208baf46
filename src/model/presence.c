/* model/presence.c -- bodies that enter and leave: inlets, outlets and measures of a scene, and the bodies present in a
 * world.
 *
 * An absent body is in every array of the world. It has no weight, touches nothing (collider.c), and is parked far
 * away from all others, so that searches do not find it.
 */
#include "model/world.h"

#include <stdio.h>

#define PARKED 1e6 /* [m] along each axis */

/* ---- in the scene ----------------------------------------------------------------------------- */

st_Status sti_scene_keep_name(st_Scene *scene, int scope, const char *kind, const char **name, st_Error *err)
{
    STI_TRY(sti_names_add(&scene->allocator, &scene->grain_names, kind, scope, *name, err));
    *name = scene->grain_names.name[scene->grain_names.n - 1];
    return ST_OK;
}

st_Status sti_scene_keep_inlet(st_Scene *scene, const sti_Inlet *inlet, st_Error *err)
{
    sti_Inlet kept = *inlet;
    STI_TRY(STI_GROW(&scene->allocator, scene->inlet, scene->inlet_capacity, scene->n_inlets + 1, err));
    STI_TRY(sti_scene_keep_name(scene, STI_INLET_SCOPE, "inlet", &kept.name, err));
    scene->inlet[scene->n_inlets++] = kept;
    return ST_OK;
}

/* Patterns and names of other objects; each has its own scope. */
static st_Status presence_keep_pattern(st_Scene *scene, const char **pattern, st_Error *err)
{
    if (*pattern == NULL) return ST_OK;
    return sti_scene_keep_name(scene, STI_PATTERN_SCOPE + scene->grain_names.n, "pattern", pattern, err);
}

st_Status sti_scene_keep_outlet(st_Scene *scene, const sti_Outlet *outlet, st_Error *err)
{
    sti_Outlet kept = *outlet;
    STI_TRY(STI_GROW(&scene->allocator, scene->outlet, scene->outlet_capacity, scene->n_outlets + 1, err));
    STI_TRY(presence_keep_pattern(scene, &kept.bodies, err));               /* an unused text is harmless */
    scene->grain_names.uncounted = scene->grain_names.n - scene->n_outlets; /* outlet1 is the first outlet */
    STI_TRY(sti_scene_keep_name(scene, STI_OUTLET_SCOPE, "outlet", &kept.name, err));
    scene->outlet[scene->n_outlets++] = kept;
    return ST_OK;
}

st_Status sti_scene_keep_measure(st_Scene *scene, const sti_MeasureEntry *measure, st_Error *err)
{
    sti_MeasureEntry kept = *measure;
    STI_TRY(STI_GROW(&scene->allocator, scene->measure, scene->measure_capacity, scene->n_measures + 1, err));
    STI_TRY(presence_keep_pattern(scene, &kept.bodies, err));
    STI_TRY(presence_keep_pattern(scene, &kept.wall, err));
    STI_TRY(presence_keep_pattern(scene, &kept.shape, err));
    STI_TRY(presence_keep_pattern(scene, &kept.body, err));
    STI_TRY(presence_keep_pattern(scene, &kept.reference, err));
    STI_TRY(presence_keep_pattern(scene, &kept.joint, err));
    scene->grain_names.uncounted = scene->grain_names.n - scene->n_measures;
    STI_TRY(sti_scene_keep_name(scene, STI_MEASURE_SCOPE, "measure", &kept.name, err));
    scene->measure[scene->n_measures++] = kept;
    return ST_OK;
}

int st_scene_measure_count(const st_Scene *scene)
{
    return scene->n_measures;
}

int st_scene_inlet_count(const st_Scene *scene)
{
    return scene->n_inlets;
}

int st_scene_outlet_count(const st_Scene *scene)
{
    return scene->n_outlets;
}

void sti_grain_name(const char *name, int n, int k, char *out, size_t size)
{
    int digits = 4;
    for (int most = n; most > 9999; most /= 10)
        digits++;
    if (snprintf(out, size, "%s_%0*d", name, digits, k) >= (int)size)
        out[0] = '\0'; /* cannot be too long: names are checked */
}

/* ---- in a world ------------------------------------------------------------------------------- */

int sti_inlet_body(const sti_World *world, const sti_Inlet *inlet, int k)
{
    char name[STI_NAME_MAX + 1];
    sti_grain_name(inlet->name, inlet->number, k, name, sizeof name);
    return sti_names_find(&world->scene->names[STI_BODY], 0, name);
}

void sti_presence_mark(sti_World *world)
{
    for (int i = 0; i < world->scene->n_inlets; i++)
        for (int k = 1; k <= world->scene->inlet[i].number; k++) {
            const int body = sti_inlet_body(world, &world->scene->inlet[i], k);
            if (body > 0) world->presence[body] = STI_WAITS;
        }
}

void sti_presence_carry(sti_World *world, const sti_World *before)
{
    for (int b = 1; b < world->n_bodies; b++) {
        const int was = sti_names_find(&before->scene->names[STI_BODY], 0, world->scene->names[STI_BODY].name[b]);
        if (was > 0) world->presence[b] = before->presence[was];
    }
}

int sti_relocated_count(const sti_World *world)
{
    int n = 0;
    for (int b = 1; b < world->n_bodies; b++)
        n += (world->presence[b] & STI_RELOCATED) != 0;
    return n;
}

st_Pose sti_parked(const sti_World *world, int body)
{
    return (st_Pose){{PARKED, PARKED, PARKED + 4 * body * world->collider.largest}, {1, 0, 0, 0}};
}

void sti_presence_park(sti_World *world, const sti_World *before)
{
    for (int i = 0; i < world->scene->n_inlets; i++)
        for (int k = 1; k <= world->scene->inlet[i].number; k++) {
            const int b = sti_inlet_body(world, &world->scene->inlet[i], k);
            const char *name = b > 0 ? world->scene->names[STI_BODY].name[b] : NULL;
            if (b < 1 || (before != NULL && sti_names_find(&before->scene->names[STI_BODY], 0, name) > 0)) continue;
            const sti_Body *body = &world->body[b];
            double *q = world->q0 + (int64_t)STI_BODY_Q * (b - 1);
            vec3_store(q, sti_parked(world, b).p);
            q[3] = 1, q[4] = q[5] = q[6] = 0;
            for (int d = 0; d < body->n_dofs; d++)
                world->v0[body->v_first + d] = 0;
        }
}
