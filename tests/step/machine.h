/* tests/step/machine.h -- a small machine: bodies, joints and forces are assembled, run and queried. */
#ifndef STI_TEST_MACHINE_H
#define STI_TEST_MACHINE_H

#include "check.h"
#include "math/quat.h"

#include <stiction/stiction.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct Machine {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    st_StepInfo info;
    st_Error err;
} Machine;

static inline void begin(Machine *m)
{
    memset(m, 0, sizeof *m);
    check_ok(st_scene_create(&m->scene, &m->err), m->err);
    m->def = st_system_def();
    check_ok(st_preset_apply(&m->def, "anitescu-potra-2002", &m->err), m->err);
    m->def.gravity = vec3(0, 0, 0);
    m->def.h = 1e-3;
}

static inline st_BodyId add_body(Machine *m, double mass, double inertia, st_Vec3 at)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.mass = mass, def.pose.p = at;
    def.inertia = (st_Mat3){{inertia, 0, 0, 0, inertia, 0, 0, 0, inertia}};
    check_ok(st_scene_add_body(m->scene, &def, &id, &m->err), m->err);
    return id;
}

static inline st_JointId add_joint(Machine *m, const st_JointDef *def)
{
    st_JointId id;
    check_ok(st_scene_add_joint(m->scene, def, &id, &m->err), m->err);
    return id;
}

static inline void add_force(Machine *m, st_BodyId body, st_Vec3 force, st_Vec3 torque)
{
    st_ForceDef def = st_force_def();
    def.body = body, def.force = force, def.torque = torque;
    check_ok(st_scene_add_force(m->scene, &def, NULL, &m->err), m->err);
}

static inline void start(Machine *m)
{
    check_ok(st_system_create(m->scene, &m->def, &m->system, &m->err), m->err);
}

static inline void run(Machine *m, double until)
{
    if (m->system == NULL) start(m);
    while (st_system_time(m->system) < until - 1e-9) {
        double left = until - st_system_time(m->system);
        m->info = st_step_info();
        check_ok(st_system_step(m->system, left < 1.5 * m->def.h ? left : m->def.h, &m->info, &m->err), m->err);
        assert_true(m->info.solve.converged);
    }
}

static inline st_JointReport report(Machine *m, st_JointId id)
{
    st_JointReport out;
    assert_int_equal(st_system_joint(m->system, id, ST_FRAME_WORLD, &out), ST_OK);
    return out;
}

static inline void end(Machine *m)
{
    st_system_destroy(m->system);
    st_scene_destroy(m->scene);
}

static inline void refuse(st_Status status, const st_Error *err, const char *part)
{
    if (status == ST_OK) fail_msg("accepted, expected a refusal with \"%s\"", part);
    if (strstr(err->message, part) == NULL) fail_msg("message \"%s\" lacks \"%s\"", err->message, part);
}

/* Every way to treat drift and events; all of them must do the same with limits and motors. */
static const struct {
    st_Integrator integrator;
    st_Drift drift;
    st_Events events;
} ways[] = {{ST_INTEGRATOR_IMPLICIT, ST_DRIFT_VELOCITY, ST_EVENTS_OFF},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_GAP, ST_EVENTS_OFF},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_PROJECTION, ST_EVENTS_OFF},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_VELOCITY, ST_EVENTS_COLLISIONS},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_PROJECTION, ST_EVENTS_COLLISIONS},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_GAP, ST_EVENTS_COLLISIONS},
            {ST_INTEGRATOR_EULER, ST_DRIFT_GAP, ST_EVENTS_OFF},
            {ST_INTEGRATOR_SDIRK2, ST_DRIFT_PROJECTION, ST_EVENTS_ALL},
            {ST_INTEGRATOR_BDF2, ST_DRIFT_PROJECTION, ST_EVENTS_ALL},
            {ST_INTEGRATOR_BDF2, ST_DRIFT_GAP, ST_EVENTS_OFF},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_MEAN, ST_EVENTS_OFF},
            {ST_INTEGRATOR_IMPLICIT, ST_DRIFT_MEAN, ST_EVENTS_COLLISIONS}};
#define N_WAYS ((int)(sizeof ways / sizeof ways[0]))

static inline void choose(Machine *m, int way)
{
    m->def.integrator = ways[way].integrator;
    m->def.drift = ways[way].drift;
    m->def.events = ways[way].events;
}

#endif
