/* bench/peers/engines/ode.c -- the Open Dynamics Engine.
 *
 * Settings: stepper (quick: iterated; world: Lemke's method on the whole system), iterations and sor of the former,
 * erp and cfm of the world, `points`: most per pair. All else has ODE's defaults; contacts are dContactApprox1, so
 * that mu is a coefficient and friction a pyramid along two directions.
 */
#include "../engine.h"
#include "math/vec3.h"

#include <ode/ode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 16 };

/* A hull in the format of dCreateConvex. */
typedef struct HullData {
    dReal *planes, *points;
    unsigned *polygons;
} HullData;

typedef struct World {
    const Scene *scene;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dBodyID *bodies;
    HullData *hulls; /* n_hulls: ODE stores pointers to these */
    bool quick;
    int n_contacts, most_points;
} World;

static const char *version(void)
{
    return PEER_VERSION;
}

/* Mechanisms need the exact solver: they are small, and are not used for games. */
static const Choice choices[] = {{"chain", "stepper=world"},   {"whip", "stepper=world"},
                                 {"springs", "stepper=world"}, {"ring", "stepper=world"},
                                 {"slider", "stepper=world"},  {"quadruped", "stepper=world"},
                                 {"gripper", "stepper=world"}, {"", ""}};

/* ---- contacts --------------------------------------------------------------------------------- */

static void near(void *opaque, dGeomID a, dGeomID b)
{
    World *world = opaque;
    dContact contact[MOST_POINTS];
    dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (body_a == NULL && body_b == NULL) return;
    if (body_a != NULL && body_b != NULL && dAreConnectedExcluding(body_a, body_b, dJointTypeContact)) return;
    int n = dCollide(a, b, world->most_points, &contact[0].geom, sizeof(dContact));
    for (int k = 0; k < n; k++) {
        contact[k].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = world->scene->mu};
        if (world->scene->e > 0) {
            contact[k].surface.mode |= dContactBounce;
            contact[k].surface.bounce = world->scene->e;
            contact[k].surface.bounce_vel = 1e-3;
        }
        dJointAttach(dJointCreateContact(world->world, world->group, &contact[k]), body_a, body_b);
    }
    world->n_contacts += n;
}

/* ---- the scene -------------------------------------------------------------------------------- */

static dGeomID make_hull(World *world, int index)
{
    const Hull *hull = &world->scene->hulls[index];
    HullData *data = &world->hulls[index];
    data->planes = calloc(4 * (size_t)hull->n_triangles, sizeof(dReal));
    data->points = calloc(3 * (size_t)hull->n_points, sizeof(dReal));
    data->polygons = calloc(4 * (size_t)hull->n_triangles, sizeof(unsigned));
    if (data->planes == NULL || data->points == NULL || data->polygons == NULL) return NULL;
    for (int k = 0; k < hull->n_points; k++)
        vec3_store(&data->points[3 * k], hull->points[k]);
    for (int t = 0; t < hull->n_triangles; t++) {
        const int *c = &hull->triangles[3 * t];
        st_Vec3 a = hull->points[c[0]], n = cross(sub(hull->points[c[1]], a), sub(hull->points[c[2]], a));
        n = scale(1 / norm(n), n);
        vec3_store(&data->planes[4 * t], n);
        data->planes[4 * t + 3] = dot(n, a);
        data->polygons[4 * t] = 3;
        for (int k = 0; k < 3; k++)
            data->polygons[4 * t + 1 + k] = (unsigned)c[k];
    }
    return dCreateConvex(world->space, data->planes, (unsigned)hull->n_triangles, data->points,
                         (unsigned)hull->n_points, data->polygons);
}

static dGeomID make_geom(World *world, const Shape *shape)
{
    switch (shape->type) {
    case SHAPE_SPHERE:
        return dCreateSphere(world->space, shape->radius);
    case SHAPE_BOX:
        return dCreateBox(world->space, 2 * shape->half.x, 2 * shape->half.y, 2 * shape->half.z);
    case SHAPE_HULL:
        return make_hull(world, shape->hull);
    case SHAPE_CAPSULE:
        return dCreateCapsule(world->space, shape->half.x, 2 * shape->half.z);
    case SHAPE_CYLINDER:
        return dCreateCylinder(world->space, shape->half.x, 2 * shape->half.z);
    case SHAPE_NONE:
        break;
    }
    return NULL;
}

static void add_body(World *world, int k)
{
    const Body *body = &world->scene->bodies[k];
    dQuaternion q = {body->pose.q.w, body->pose.q.x, body->pose.q.y, body->pose.q.z};
    dVector3 spin;
    dMass mass;
    if (body->mass == 0) {
        dGeomID fixed = make_geom(world, &body->shape);
        dGeomSetPosition(fixed, body->pose.p.x, body->pose.p.y, body->pose.p.z);
        dGeomSetQuaternion(fixed, q);
        return;
    }
    dBodyID id = world->bodies[k] = dBodyCreate(world->world);
    dMassSetParameters(&mass, body->mass, 0, 0, 0, body->inertia.x, body->inertia.y, body->inertia.z, 0, 0, 0);
    dBodySetMass(id, &mass);
    dBodySetPosition(id, body->pose.p.x, body->pose.p.y, body->pose.p.z);
    dBodySetQuaternion(id, q);
    dBodySetLinearVel(id, body->velocity.x, body->velocity.y, body->velocity.z);
    dBodyVectorToWorld(id, body->spin.x, body->spin.y, body->spin.z, spin);
    dBodySetAngularVel(id, spin[0], spin[1], spin[2]);
    dGeomID geom = make_geom(world, &body->shape);
    if (geom == NULL) return;
    dGeomSetBody(geom, id);
    dGeomSetOffsetPosition(geom, body->shape.offset.x, body->shape.offset.y, body->shape.offset.z);
}

/* A spring is a pair of compliant stops at 0: ODE's manual, "how to use ERP and CFM", h k/(h k + d), 1/(h k + d). */
static void add_joint(World *world, const Joint *joint)
{
    dBodyID a = joint->a >= 0 ? world->bodies[joint->a] : NULL, b = world->bodies[joint->b];
    double k = joint->stiffness, d = joint->damping, h = world->scene->h;
    dReal erp = k > 0 ? h * k / (h * k + d) : 0, cfm = k > 0 ? 1 / (h * k + d) : 0;
    dJointID id;
    switch (joint->type) {
    case JOINT_BALL:
        dJointAttach(id = dJointCreateBall(world->world, NULL), b, a);
        dJointSetBallAnchor(id, joint->point.x, joint->point.y, joint->point.z);
        break;
    case JOINT_REVOLUTE:
        dJointAttach(id = dJointCreateHinge(world->world, NULL), b, a);
        dJointSetHingeAnchor(id, joint->point.x, joint->point.y, joint->point.z);
        dJointSetHingeAxis(id, joint->axis.x, joint->axis.y, joint->axis.z);
        if (k == 0) break;
        dJointSetHingeParam(id, dParamLoStop, 0);
        dJointSetHingeParam(id, dParamHiStop, 0);
        dJointSetHingeParam(id, dParamStopERP, erp);
        dJointSetHingeParam(id, dParamStopCFM, cfm);
        break;
    case JOINT_PRISMATIC:
        dJointAttach(id = dJointCreateSlider(world->world, NULL), b, a);
        dJointSetSliderAxis(id, joint->axis.x, joint->axis.y, joint->axis.z);
        if (k == 0) break;
        dJointSetSliderParam(id, dParamLoStop, 0);
        dJointSetSliderParam(id, dParamHiStop, 0);
        dJointSetSliderParam(id, dParamStopERP, erp);
        dJointSetSliderParam(id, dParamStopCFM, cfm);
        break;
    }
}

/* ---- the interface ---------------------------------------------------------------------------- */

static void destroy(void *opaque)
{
    World *world = opaque;
    if (world == NULL) return;
    dJointGroupDestroy(world->group);
    dSpaceDestroy(world->space);
    dWorldDestroy(world->world);
    dCloseODE();
    free(world->bodies);
    for (int k = 0; k < world->scene->n_hulls; k++) {
        free(world->hulls[k].planes);
        free(world->hulls[k].points);
        free(world->hulls[k].polygons);
    }
    free(world->hulls);
    free(world);
}

static void apply_settings(World *world, Settings *settings)
{
    char stepper[SETTING_SIZE];
    setting_choose(settings, world->scene, choices);
    setting_word(settings, "stepper", "quick", stepper);
    world->quick = strcmp(stepper, "quick") == 0;
    if (world->quick) {
        dWorldSetQuickStepNumIterations(world->world, (int)setting_number(settings, "iterations", 20));
        dWorldSetQuickStepW(world->world, setting_number(settings, "sor", 1.3));
    }
    dWorldSetERP(world->world, setting_number(settings, "erp", 0.2));
    dWorldSetCFM(world->world, setting_number(settings, "cfm", 1e-10));
    world->most_points = (int)setting_number(settings, "points", 8);
    if (world->most_points > MOST_POINTS) world->most_points = MOST_POINTS;
}

static void *create(const Scene *scene, Settings *settings, char message[200])
{
    World *world = calloc(1, sizeof *world);
    (void)message;
    if (world == NULL) return NULL;
    dInitODE2(0);
    world->scene = scene;
    world->world = dWorldCreate();
    world->space = dHashSpaceCreate(NULL);
    world->group = dJointGroupCreate(0);
    world->bodies = calloc((size_t)scene->n_bodies, sizeof(dBodyID));
    world->hulls = calloc((size_t)scene->n_hulls + 1, sizeof *world->hulls);
    apply_settings(world, settings);
    dWorldSetGravity(world->world, scene->gravity.x, scene->gravity.y, scene->gravity.z);
    dWorldSetAutoDisableFlag(world->world, 0);
    for (int k = 0; k < scene->n_planes; k++) {
        const Plane *plane = &scene->planes[k];
        dCreatePlane(world->space, plane->normal.x, plane->normal.y, plane->normal.z, plane->distance);
    }
    for (int k = 0; k < scene->n_bodies; k++)
        add_body(world, k);
    for (int k = 0; k < scene->n_joints; k++)
        add_joint(world, &scene->joints[k]);
    return world;
}

static bool step(void *opaque, char message[200])
{
    World *world = opaque;
    world->n_contacts = 0;
    for (int k = 0; k < world->scene->n_bodies; k++) {
        st_Vec3 force = world->scene->bodies[k].force;
        if (world->bodies[k] == NULL) continue;
        if (force.x != 0 || force.y != 0 || force.z != 0) dBodyAddForce(world->bodies[k], force.x, force.y, force.z);
    }
    dSpaceCollide(world->space, world, near);
    int good =
        world->quick ? dWorldQuickStep(world->world, world->scene->h) : dWorldStep(world->world, world->scene->h);
    dJointGroupEmpty(world->group);
    if (good == 0) snprintf(message, 200, "dWorldStep failed: out of memory");
    return good != 0;
}

static void state(void *opaque, int body, BodyState *out)
{
    dBodyID id = ((World *)opaque)->bodies[body];
    if (id == NULL) {
        *out = (BodyState){.pose = ((World *)opaque)->scene->bodies[body].pose};
        return;
    }
    const dReal *p = dBodyGetPosition(id), *q = dBodyGetQuaternion(id), *v = dBodyGetLinearVel(id);
    const dReal *w = dBodyGetAngularVel(id);
    dVector3 spin;
    dBodyVectorFromWorld(id, w[0], w[1], w[2], spin);
    out->pose = (st_Pose){{p[0], p[1], p[2]}, {q[0], q[1], q[2], q[3]}};
    out->velocity = (st_Vec3){v[0], v[1], v[2]};
    out->spin = (st_Vec3){spin[0], spin[1], spin[2]};
}

static int contacts(void *opaque)
{
    return ((World *)opaque)->n_contacts;
}

const Engine engine = {"ode", version, create, step, state, contacts, destroy, NULL};
