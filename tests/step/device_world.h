/* A scene and its system on flat arrays (setting `device`), for the tests of that step. */
#ifndef DEVICE_WORLD_H
#define DEVICE_WORLD_H

#include "check.h"

#include <stiction/stiction.h>

typedef struct World {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    st_StepInfo info; /* of the last step */
    st_Error err;
} World;

/* An empty scene; steps of 1/240 s. */
static inline void begin(World *w)
{
    *w = (World){.def = st_system_def(), .info = st_step_info()};
    w->def.device = ST_DEVICE_FLAT;
    w->def.h = 1.0 / 240;
    check_ok(st_scene_create(&w->scene, &w->err), w->err);
}

/* A body of one shape; mass 0: that of the shape. */
static inline st_BodyId add_body(World *w, st_ShapeDef shape, st_Vec3 p, st_Vec3 v, double mass)
{
    st_BodyDef body = st_body_def();
    st_BodyId id;
    body.pose.p = p;
    body.velocity = v;
    body.mass = mass;
    check_ok(st_scene_add_body(w->scene, &body, &id, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
    return id;
}

static inline void add_to_ground(World *w, st_ShapeDef shape)
{
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &shape, NULL, &w->err), w->err);
}

static inline void start(World *w)
{
    check_ok(st_system_create(w->scene, &w->def, &w->system, &w->err), w->err);
}

static inline void steps(World *w, int n)
{
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(w->system, w->def.h, &w->info, &w->err), w->err);
}

static inline void end(World *w)
{
    st_system_destroy(w->system);
    st_scene_destroy(w->scene);
}

static inline st_Vec3 velocity_of(const World *w, st_BodyId id, st_Vec3 *spin)
{
    st_Vec3 velocity;
    assert_int_equal(st_system_velocity(w->system, id, &velocity, spin), ST_OK);
    return velocity;
}

static inline st_Vec3 place_of(const World *w, st_BodyId id)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(w->system, id, &pose), ST_OK);
    return pose.p;
}

#endif
