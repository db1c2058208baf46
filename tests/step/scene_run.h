/* tests/step/scene_run.h -- a scene file under test: open with changes, step, look at bodies. */
#ifndef CHECK_SCENE_RUN_H
#define CHECK_SCENE_RUN_H

#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct Run {
    st_Scene *scene;
    st_System *sys;
    st_SystemDef def;
    st_Error err;
    st_StepInfo info;
} Run;

/* Changes are "PATH=VALUE", ended by NULL. */
static inline void run_open_changed(Run *run, const char *path, const char *const *sets)
{
    int n = 0;
    while (sets[n] != NULL)
        n++;
    memset(run, 0, sizeof *run);
    check_ok(st_scene_read(path, sets, n, &run->scene, &run->def, &run->err), run->err);
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}
#define run_open(run, path, ...) run_open_changed((run), (path), (const char *const[]){__VA_ARGS__})

/* A scene from a text. */
static inline void run_parse(Run *run, const char *text)
{
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(text, strlen(text), "test.json", NULL, 0, &run->scene, &run->def, &run->err), run->err);
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

static inline void run_close(Run *run)
{
    st_system_destroy(run->sys);
    st_scene_destroy(run->scene);
}

static inline bool run_finished(const Run *run)
{
    return run->def.end - st_system_time(run->sys) < 1e-9 * run->def.h;
}

static inline void run_step(Run *run)
{
    double rest = run->def.end - st_system_time(run->sys);
    run->info = st_step_info();
    check_ok(st_system_step(run->sys, rest < run->def.h * (1 - 1e-9) ? rest : run->def.h, &run->info, &run->err),
             run->err);
}

static inline void run_to_end(Run *run)
{
    while (!run_finished(run))
        run_step(run);
}

/* A step length as an exact text: h=2^-k. */
static inline const char *run_halving(char *text, size_t size, int k)
{
    snprintf(text, size, "simulation/h=%.17g", ldexp(1, -k));
    return text;
}

static inline st_Vec3 run_position(const Run *run, const char *body)
{
    st_Pose pose;
    assert_int_equal(st_system_pose(run->sys, st_scene_find_body(run->scene, body), &pose), ST_OK);
    return pose.p;
}

static inline st_Vec3 run_velocity(const Run *run, const char *body)
{
    st_Vec3 v;
    assert_int_equal(st_system_velocity(run->sys, st_scene_find_body(run->scene, body), &v, NULL), ST_OK);
    return v;
}

#endif
