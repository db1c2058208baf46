/* bench/grains/stiction.c -- stiction with its defaults. */
#include "grains.h"
#include "math/quat.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/stiction.h>
#include <time.h>

static bool add_slabs(const Case *c, st_Scene *scene, st_Error *err)
{
    st_BodyId drum = ST_GROUND;
    for (int k = 0; k < c->n_slabs; k++) {
        const Slab *slab = &c->slabs[k];
        st_ShapeDef def = st_box_def(slab->half.x, slab->half.y, slab->half.z);
        def.pose = slab->pose;
        def.mu = c->mu;
        if (slab->turns && drum.index1 == 0) {
            st_BodyDef body = st_body_def();
            body.name = "drum";
            body.mass = 1;
            body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
            if (st_scene_add_body(scene, &body, &drum, err) != ST_OK) return false;
            st_JointDef axle = st_joint_def(ST_JOINT_REVOLUTE);
            axle.a = ST_GROUND;
            axle.b = drum;
            axle.axis = (st_Vec3){0, 1, 0};
            axle.motor.type = ST_MOTOR_SPEED;
            axle.motor.target = c->turn;
            if (st_scene_add_joint(scene, &axle, NULL, err) != ST_OK) return false;
        }
        if (st_scene_add_shape(scene, slab->turns ? drum : ST_GROUND, &def, NULL, err) != ST_OK) return false;
    }
    return true;
}

static bool add_grains(const Case *c, st_Scene *scene, st_BodyId *ids, st_Error *err)
{
    for (int k = 0; k < c->n_grains; k++) {
        const Grain *grain = &c->grains[k];
        st_BodyDef def = st_body_def();
        def.pose = grain->pose;
        def.mass = grain->mass;
        def.inertia = (st_Mat3){{grain->inertia.x, 0, 0, 0, grain->inertia.y, 0, 0, 0, grain->inertia.z}};
        if (st_scene_add_body(scene, &def, &ids[k], err) != ST_OK) return false;
        for (int s = grain->first; s < grain->first + grain->n; s++) {
            st_ShapeDef sphere = st_sphere_def(c->spheres[s].r);
            sphere.pose.p = c->spheres[s].at;
            sphere.mu = c->mu;
            if (st_scene_add_shape(scene, ids[k], &sphere, NULL, err) != ST_OK) return false;
        }
    }
    return true;
}

static bool run(const Case *c, Judge *judge, char version[40], char settings[160], char message[200])
{
    st_Error err = {.status = ST_OK};
    st_SystemDef def = st_system_def();
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId *ids = calloc((size_t)c->n_grains, sizeof *ids);
    double *xyz = calloc(3 * (size_t)c->n_spheres, sizeof *xyz), cpu = 0, residual = 0;
    def.h = c->h;
    snprintf(version, 40, "%s", st_version());
    snprintf(settings, 160, "h %g s, default", c->h);
    bool ok = ids != NULL && xyz != NULL && st_scene_create(&scene, &err) == ST_OK && add_slabs(c, scene, &err) &&
              add_grains(c, scene, ids, &err) && st_system_create(scene, &def, &system, &err) == ST_OK;
    const int per_frame = (int)(FRAME / c->h + 0.5), steps = (int)(c->end / c->h + 0.5);
    for (int k = 1; ok && k <= steps; k++) {
        const clock_t start = clock();
        st_StepInfo info = st_step_info();
        ok = st_system_step(system, c->h, &info, &err) == ST_OK;
        cpu += (double)(clock() - start) / CLOCKS_PER_SEC;
        if (info.solve.residual.natural > residual) residual = info.solve.residual.natural;
        if (!ok || k % per_frame != 0) continue;
        for (int g = 0; g < c->n_grains; g++) {
            st_Pose pose;
            st_system_pose(system, ids[g], &pose);
            for (int s = c->grains[g].first; s < c->grains[g].first + c->grains[g].n; s++) {
                const st_Vec3 p = add(pose.p, rotate(pose.q, c->spheres[s].at));
                xyz[3 * s] = p.x, xyz[3 * s + 1] = p.y, xyz[3 * s + 2] = p.z;
            }
        }
        judge_frame(judge, xyz, cpu);
    }
    snprintf(settings, 160, "h %g s, default; residual at most %.2g", c->h, residual);
    if (!ok) snprintf(message, 200, "%.199s", err.status != ST_OK ? err.message : "out of memory");
    st_system_destroy(system);
    st_scene_destroy(scene);
    free(ids);
    free(xyz);
    return ok;
}

const GrainEngine grain_engine = {"stiction", run};
