/* bench/grains/ode.c -- the Open Dynamics Engine: quick step, with the settings of bench/peers/engines/ode.c. */
#include "grains.h"
#include "math/quat.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct World {
    const Case *c;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
} World;

static void near(void *opaque, dGeomID a, dGeomID b)
{
    World *world = opaque;
    dContact contact[4];
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if ((body_a == NULL || dBodyIsKinematic(body_a)) && (body_b == NULL || dBodyIsKinematic(body_b))) return;
    if (body_a == body_b) return;
    const int n = dCollide(a, b, 4, &contact[0].geom, sizeof(dContact));
    for (int k = 0; k < n; k++) {
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = world->c->mu};
        dJointAttach(dJointCreateContact(world->world, world->group, &contact[k]), body_a, body_b);
    }
}

static void place_geom(dGeomID geom, st_Pose pose, dBodyID body)
{
    const dQuaternion q = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    if (body != NULL) {
        dGeomSetBody(geom, body);
        dGeomSetOffsetPosition(geom, pose.p.x, pose.p.y, pose.p.z);
        dGeomSetOffsetQuaternion(geom, q);
    } else {
        dGeomSetPosition(geom, pose.p.x, pose.p.y, pose.p.z);
        dGeomSetQuaternion(geom, q);
    }
}

static bool run(const Case *c, Judge *judge, char version[40], char settings[160], char message[200])
{
    World world = {.c = c};
    dBodyID *body = calloc((size_t)c->n_grains, sizeof(dBodyID)), drum = NULL;
    double *xyz = calloc(3 * (size_t)c->n_spheres, sizeof *xyz), cpu = 0;
    bool ok = body != NULL && xyz != NULL;
    dInitODE2(0);
    world.world = dWorldCreate();
    world.space = dHashSpaceCreate(NULL);
    world.group = dJointGroupCreate(0);
    dWorldSetGravity(world.world, 0, 0, -c->g);
    dWorldSetCFM(world.world, 1e-10);
    snprintf(version, 40, "%s", PEER_VERSION);
    snprintf(settings, 160, "h %g s, quick step, 20 iterations, erp 0.2", c->h);
    for (int k = 0; k < c->n_slabs; k++) {
        const Slab *slab = &c->slabs[k];
        dGeomID geom = dCreateBox(world.space, 2 * slab->half.x, 2 * slab->half.y, 2 * slab->half.z);
        if (slab->turns && drum == NULL) {
            drum = dBodyCreate(world.world);
            dBodySetKinematic(drum);
            dBodySetAngularVel(drum, 0, c->turn, 0);
        }
        place_geom(geom, slab->pose, slab->turns ? drum : NULL);
    }
    for (int k = 0; ok && k < c->n_grains; k++) {
        const Grain *grain = &c->grains[k];
        const dQuaternion q = {grain->pose.q.w, grain->pose.q.x, grain->pose.q.y, grain->pose.q.z};
        dMass mass;
        dMassSetParameters(&mass, grain->mass, 0, 0, 0, grain->inertia.x, grain->inertia.y, grain->inertia.z, 0, 0, 0);
        body[k] = dBodyCreate(world.world);
        dBodySetMass(body[k], &mass);
        dBodySetPosition(body[k], grain->pose.p.x, grain->pose.p.y, grain->pose.p.z);
        dBodySetQuaternion(body[k], q);
        for (int s = grain->first; s < grain->first + grain->n; s++)
            place_geom(dCreateSphere(world.space, c->spheres[s].r), (st_Pose){c->spheres[s].at, {1, 0, 0, 0}}, body[k]);
    }
    const int per_frame = (int)(FRAME / c->h + 0.5), steps = (int)(c->end / c->h + 0.5);
    for (int k = 1; ok && k <= steps; k++) {
        const clock_t start = clock();
        dSpaceCollide(world.space, &world, near);
        ok = dWorldQuickStep(world.world, c->h) != 0;
        dJointGroupEmpty(world.group);
        cpu += (double)(clock() - start) / CLOCKS_PER_SEC;
        if (!ok || k % per_frame != 0) continue;
        for (int g = 0; g < c->n_grains; g++) {
            const dReal *p = dBodyGetPosition(body[g]), *q = dBodyGetQuaternion(body[g]);
            for (int s = c->grains[g].first; s < c->grains[g].first + c->grains[g].n; s++) {
                const st_Vec3 at = rotate((st_Quat){q[0], q[1], q[2], q[3]}, c->spheres[s].at);
                xyz[3 * s] = p[0] + at.x, xyz[3 * s + 1] = p[1] + at.y, xyz[3 * s + 2] = p[2] + at.z;
            }
        }
        judge_frame(judge, xyz, cpu);
    }
    if (!ok) snprintf(message, 200, "out of memory");
    dJointGroupDestroy(world.group);
    dSpaceDestroy(world.space);
    dWorldDestroy(world.world);
    dCloseODE();
    free(body);
    free(xyz);
    return ok;
}

const GrainEngine grain_engine = {"ode", run};
