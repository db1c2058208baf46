/* bench/peers/engines/stiction.c -- stiction through its public headers. Any key of `simulation` in docs/scene.md is
 * a setting, and `substeps` (steps per step of the scene). Without settings the default preset is used, except for
 * `choices` of the scene.
 */
#include "../engine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/stiction.h>
#include <string.h>

typedef struct World {
    const Scene *bench;
    st_Scene *scene;
    st_System *system;
    st_BodyId *ids;
    double h;
    int contacts, substeps;
} World;

static const char *version(void)
{
    return st_version();
}

/* ---- settings --------------------------------------------------------------------------------- */

static const Choice choices[] = {
    /* deeper piles need more sweeps; from 16 on (24 for many bodies) they are accelerated, and take more memory */
    {"spheres-666", "solver=nsgs tolerance=1e-2 max_iterations=7 islands=false margin=0.001 slop=1e-6"},
    {"spheres-2000", "solver=nsgs tolerance=1e-2 max_iterations=10 islands=false margin=0.001 slop=1e-6"},
    {"spheres", "solver=nsgs tolerance=1e-2 max_iterations=20 islands=false margin=0.001 slop=1e-6"},
    {"hulls", "solver=nsgs tolerance=1e-2 max_iterations=6 islands=false margin=0.001 slop=1e-5"},
    {"wall", "solver=newton slop=1e-7 islands=false"},
    {"column", "slop=1e-7"},
    {"tower", "solver=newton slop=1e-7"},
    {"dominoes", "solver=nsgs tolerance=1e-3 max_iterations=60 slop=1e-5"},
    {"bounce", "preset=accurate"},
    {"gripper", "solver=newton"}, /* it finds one of the many distributions of the grip over eight points that hold */
    {"chain", "integrator=trapezoid drift=mean tolerance=7e-8"},
    {"whip", "integrator=trapezoid drift=mean tolerance=1e-5 substeps=2"},
    {"ring", "integrator=sdirk2"},
    {"slider", "margin=1e-4"}, /* a tenth of the clearance: otherwise both guides are in every step problem */
    {"", ""},
};

static bool set(st_SystemDef *def, const char *key, const char *text, st_Error *err)
{
    const st_Setting *setting = st_setting_find(key);
    st_SettingValue value = {.word = text, .number = strtod(text, NULL)};
    if (setting->kind == ST_SETTING_BOOLEAN) value.number = strcmp(text, "true") == 0;
    return st_setting_set(def, key, &value, err) == ST_OK;
}

static bool choose(st_SystemDef *def, const Scene *bench, Settings *settings, st_Error *err)
{
    char value[SETTING_SIZE];
    setting_choose(settings, bench, choices);
    if (setting_word(settings, "preset", NULL, value) && st_preset_apply(def, value, err) != ST_OK) return false;
    if (bench->e > 0) def->impact = ST_IMPACT_POISSON;
    for (int k = 0; k < st_setting_count(); k++) {
        const char *key = st_setting(k)->key;
        if (setting_word(settings, key, NULL, value) && !set(def, key, value, err)) return false;
    }
    def->h = bench->h;
    def->end = bench->end;
    def->gravity = bench->gravity;
    return true;
}

/* ---- the scene -------------------------------------------------------------------------------- */

static st_ShapeDef shape_def(const Scene *bench, const Shape *shape)
{
    st_ShapeDef def = st_point_def();
    switch (shape->type) {
    case SHAPE_SPHERE:
        def = st_sphere_def(shape->radius);
        break;
    case SHAPE_BOX:
        def = st_box_def(shape->half.x, shape->half.y, shape->half.z);
        break;
    case SHAPE_HULL:
        def = st_hull_def(bench->hulls[shape->hull].points, bench->hulls[shape->hull].n_points);
        break;
    case SHAPE_CAPSULE:
        def = st_capsule_def(shape->half.x, 2 * shape->half.z);
        break;
    case SHAPE_CYLINDER:
        def = st_cylinder_def(shape->half.x, 2 * shape->half.z);
        break;
    case SHAPE_NONE:
        break;
    }
    def.pose.p = shape->offset;
    def.mu = bench->mu;
    def.restitution = bench->e;
    return def;
}

static bool add_planes(World *world, st_Error *err)
{
    const Scene *bench = world->bench;
    for (int k = 0; k < bench->n_planes; k++) {
        st_Vec3 n = bench->planes[k].normal;
        double d = bench->planes[k].distance;
        st_ShapeDef def = st_plane_def();
        def.pose = (st_Pose){{d * n.x, d * n.y, d * n.z}, st_quat_from_z(n)};
        def.mu = bench->mu;
        def.restitution = bench->e;
        if (st_scene_add_shape(world->scene, ST_GROUND, &def, NULL, err) != ST_OK) return false;
    }
    return true;
}

static bool add_bodies(World *world, st_Error *err)
{
    const Scene *bench = world->bench;
    for (int k = 0; k < bench->n_bodies; k++) {
        const Body *body = &bench->bodies[k];
        st_BodyDef def = st_body_def();
        st_ForceDef force = st_force_def();
        def.pose = body->pose;
        def.velocity = body->velocity;
        def.spin = body->spin;
        def.mass = body->mass;
        def.fixed = body->mass == 0;
        def.inertia = (st_Mat3){{body->inertia.x, 0, 0, 0, body->inertia.y, 0, 0, 0, body->inertia.z}};
        if (st_scene_add_body(world->scene, &def, &world->ids[k], err) != ST_OK) return false;
        if (body->shape.type != SHAPE_NONE) {
            st_ShapeDef shape = shape_def(bench, &body->shape);
            if (st_scene_add_shape(world->scene, world->ids[k], &shape, NULL, err) != ST_OK) return false;
        }
        force.body = world->ids[k];
        force.force = body->force;
        if (force.force.x == 0 && force.force.y == 0 && force.force.z == 0) continue;
        if (st_scene_add_force(world->scene, &force, NULL, err) != ST_OK) return false;
    }
    return true;
}

static bool add_joints(World *world, st_Error *err)
{
    static const st_JointType types[] = {ST_JOINT_BALL, ST_JOINT_REVOLUTE, ST_JOINT_PRISMATIC};
    for (int k = 0; k < world->bench->n_joints; k++) {
        const Joint *joint = &world->bench->joints[k];
        st_JointDef def = st_joint_def(types[joint->type]);
        def.a = joint->a >= 0 ? world->ids[joint->a] : ST_GROUND;
        def.b = world->ids[joint->b];
        def.point = joint->point;
        if (joint->type != JOINT_BALL) def.axis = joint->axis;
        def.stiffness = joint->stiffness;
        def.damping = joint->damping;
        if (st_scene_add_joint(world->scene, &def, NULL, err) != ST_OK) return false;
    }
    return true;
}

/* ---- the interface ---------------------------------------------------------------------------- */

static void destroy(void *opaque)
{
    World *world = opaque;
    if (world == NULL) return;
    st_system_destroy(world->system);
    st_scene_destroy(world->scene);
    free(world->ids);
    free(world);
}

static void *create(const Scene *bench, Settings *settings, char message[200])
{
    st_Error err = {.status = ST_OK};
    st_SystemDef def = st_system_def();
    char substeps[SETTING_SIZE];
    World *world = calloc(1, sizeof *world);
    if (world == NULL || (world->ids = calloc((size_t)bench->n_bodies, sizeof *world->ids)) == NULL) goto failed;
    world->bench = bench;
    world->h = bench->h;
    if (!choose(&def, bench, settings, &err)) goto failed;
    world->substeps = setting_word(settings, "substeps", NULL, substeps) ? atoi(substeps) : 1;
    if (world->substeps < 1) world->substeps = 1;
    if (st_scene_create(&world->scene, &err) != ST_OK || !add_planes(world, &err) || !add_bodies(world, &err) ||
        !add_joints(world, &err) || st_system_create(world->scene, &def, &world->system, &err) != ST_OK)
        goto failed;
    st_scene_destroy(world->scene); /* the system has its own copy */
    world->scene = NULL;
    return world;
failed:
    snprintf(message, 200, "%.199s", err.status != ST_OK ? err.message : "out of memory");
    destroy(world);
    return NULL;
}

/* In substeps; a substep that a collision ended is continued to its end. */
static bool step(void *opaque, char message[200])
{
    World *world = opaque;
    double left = world->h, most = world->h / world->substeps;
    for (int k = 0; k < 1000 && left > 1e-9 * world->h; k++) {
        st_StepInfo info = st_step_info();
        st_Error err = {.status = ST_OK};
        if (st_system_step(world->system, left < 1.001 * most ? left : most, &info, &err) != ST_OK) {
            snprintf(message, 200, "%.199s", err.message);
            return false;
        }
        left -= info.h;
        world->contacts = info.contacts;
    }
    return true;
}

static void state(void *opaque, int body, BodyState *out)
{
    World *world = opaque;
    st_system_pose(world->system, world->ids[body], &out->pose);
    st_system_velocity(world->system, world->ids[body], &out->velocity, &out->spin);
}

/* "contacts 12 %, solve 80 %": stages with at least one per cent. */
static void stages(void *opaque, char text[200])
{
    double seconds[ST_N_PARTS], sum = 0;
    size_t used = 0;
    st_system_part_seconds(((World *)opaque)->system, seconds);
    for (int k = 0; k < ST_N_PARTS; k++)
        sum += seconds[k];
    text[0] = '\0';
    for (int k = 0; k < ST_N_PARTS && sum > 0 && used < 180; k++)
        if (100 * seconds[k] >= sum)
            used += (size_t)snprintf(text + used, 200 - used, "%s%s %.0f %%", used > 0 ? "; " : "",
                                     st_part_name((st_StepPart)k), 100 * seconds[k] / sum);
}

static int contacts(void *opaque)
{
    return ((World *)opaque)->contacts;
}

const Engine engine = {"stiction", version, create, step, state, contacts, destroy, stages};
