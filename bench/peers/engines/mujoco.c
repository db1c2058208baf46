/* bench/peers/engines/mujoco.c -- MuJoCo. The scene is written as its XML; bodies are nested by the joints of the
 * scene.
 *
 * Settings: MuJoCo's solver, iterations, tolerance, cone, integrator, timeconst (solref). Restitution is set by the
 * damping ratio of a contact: z = -ln e/sqrt(pi^2 + ln^2 e).
 */
#include "../engine.h"
#include "math/quat.h"

#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    DEEPEST = 60,
    MOST_FILES = 20
}; /* its XML reader allows 100 levels: deeper parts are written to separate files */

typedef struct Files {
    int n;
    char path[MOST_FILES][40];
} Files;

typedef struct World {
    const Scene *scene;
    mjModel *model;
    mjData *data;
    bool stale; /* positions of bodies are those before the last step */
} World;

/* For sliding its manual recommends elliptic cones; stacks need contacts as stiff as 2 h allows. */
static const Choice choices[] = {
    {"spheres", "solver=CG cone=elliptic iterations=30"},
    {"hulls", "solver=CG cone=elliptic iterations=30"},
    {"wall", "solver=CG timeconst=0.01"},
    {"tower", "timeconst=0.01"},
    {"column", "timeconst=0.01"},
    {"slider", "timeconst=0.0005"},
    {"bowling", "cone=elliptic timeconst=0.01"},
    {"incline", "cone=elliptic"},
    {"push", "cone=elliptic"},
    {"gripper", "cone=elliptic timeconst=0.01"},
    {"", ""},
};

static const char *version(void)
{
    return mj_versionString();
}

/* ---- the scene as XML ------------------------------------------------------------------------- */

static void write_vector(FILE *file, const char *key, st_Vec3 a)
{
    fprintf(file, " %s='%.17g %.17g %.17g'", key, a.x, a.y, a.z);
}

static void write_pose(FILE *file, st_Pose pose)
{
    write_vector(file, "pos", pose.p);
    fprintf(file, " quat='%.17g %.17g %.17g %.17g'", pose.q.w, pose.q.x, pose.q.y, pose.q.z);
}

static void write_geom(FILE *file, const Shape *shape)
{
    static const char *const types[] = {"", "sphere", "box", "mesh"};
    if (shape->type == SHAPE_NONE) return;
    fprintf(file, "<geom type='%s'", types[shape->type]);
    write_vector(file, "pos", shape->offset);
    if (shape->type == SHAPE_SPHERE) fprintf(file, " size='%.17g'", shape->radius);
    if (shape->type == SHAPE_BOX) write_vector(file, "size", shape->half);
    if (shape->type == SHAPE_HULL) fprintf(file, " mesh='hull%d'", shape->hull);
    fprintf(file, "/>");
}

static void write_joint(FILE *file, const Joint *joint, st_Pose body)
{
    static const char *const types[] = {"ball", "hinge", "slide"};
    fprintf(file, "<joint type='%s' stiffness='%.17g' damping='%.17g'", types[joint->type], joint->stiffness,
            joint->damping);
    write_vector(file, "pos", rotate_back(body.q, sub(joint->point, body.p)));
    if (joint->type != JOINT_BALL) write_vector(file, "axis", rotate_back(body.q, joint->axis));
    fprintf(file, "/>");
}

static const Joint *joint_above(const Scene *scene, int body)
{
    for (int k = 0; k < scene->n_joints; k++)
        if (scene->joints[k].b == body) return &scene->joints[k];
    return NULL;
}

static FILE *open_file(Files *files)
{
    int file = -1;
    if (files->n < MOST_FILES) {
        strcpy(files->path[files->n], "/tmp/stiction-bench-XXXXXX");
        file = mkstemp(files->path[files->n++]);
    }
    return file >= 0 ? fdopen(file, "w") : NULL;
}

static void write_body(FILE *file, Files *files, const Scene *scene, int index, st_Pose parent, int depth);

static void write_children(FILE *file, Files *files, const Scene *scene, int index, int depth)
{
    FILE *out = file;
    if (depth % DEEPEST == DEEPEST - 1 && (out = open_file(files)) == NULL) return;
    if (out != file) {
        fprintf(file, "<include file='%s'/>\n", strrchr(files->path[files->n - 1], '/') + 1);
        fprintf(out, "<mujocoinclude>\n");
    }
    for (int k = 0; k < scene->n_joints; k++)
        if (scene->joints[k].a == index)
            write_body(out, files, scene, scene->joints[k].b, scene->bodies[index].pose, depth + 1);
    if (out == file) return;
    fprintf(out, "</mujocoinclude>\n");
    fclose(out);
}

/* Writes a body with its children. */
static void write_body(FILE *file, Files *files, const Scene *scene, int index, st_Pose parent, int depth)
{
    const Body *body = &scene->bodies[index];
    const Joint *joint = joint_above(scene, index);
    st_Quat back = quat_conjugate(parent.q);
    fprintf(file, "<body name='%d'", index);
    write_pose(file, (st_Pose){rotate(back, sub(body->pose.p, parent.p)), quat_product(back, body->pose.q)});
    fprintf(file, ">");
    if (joint == NULL)
        fprintf(file, "<freejoint/>");
    else
        write_joint(file, joint, body->pose);
    fprintf(file, "<inertial pos='0 0 0' mass='%.17g'", body->mass);
    write_vector(file, "diaginertia", body->inertia);
    fprintf(file, "/>");
    write_geom(file, &body->shape);
    write_children(file, files, scene, index, depth);
    fprintf(file, "</body>\n");
}

static void write_options(FILE *file, const Scene *scene, Settings *settings)
{
    char solver[SETTING_SIZE], cone[SETTING_SIZE], integrator[SETTING_SIZE];
    double log_e = log(fmax(scene->e, 1e-6)), damping = scene->e > 0 ? -log_e / hypot(M_PI, log_e) : 1;
    int shapes = 0;
    for (int k = 0; k < scene->n_bodies; k++)
        shapes += scene->bodies[k].shape.type != SHAPE_NONE;
    int contacts = (shapes > 300 ? 3 : 12) * shapes + 20; /* its matrices are dense: allow no more than needed */
    setting_choose(settings, scene, choices);
    setting_word(settings, "solver", "Newton", solver);
    setting_word(settings, "cone", "pyramidal", cone);
    setting_word(settings, "integrator", "Euler", integrator);
    fprintf(file, "<compiler angle='radian' inertiafromgeom='false' boundmass='0'/>\n<option timestep='%.17g'",
            scene->h);
    write_vector(file, "gravity", scene->gravity);
    fprintf(file, " solver='%s' cone='%s' integrator='%s' iterations='%d' tolerance='%g'/>\n", solver, cone, integrator,
            (int)setting_number(settings, "iterations", 100), setting_number(settings, "tolerance", 1e-8));
    fprintf(file, "<size nconmax='%d' njmax='%d'/>\n", contacts, (strcmp(cone, "elliptic") == 0 ? 3 : 4) * contacts);
    fprintf(file, "<default><geom friction='%.17g 0.005 0.0001' solref='%g %g'/></default>\n", scene->mu,
            setting_number(settings, "timeconst", 0.02), fmax(damping, 1e-6));
}

static void write_scene(FILE *file, Files *files, const Scene *scene, Settings *settings)
{
    fprintf(file, "<mujoco>\n");
    write_options(file, scene, settings);
    fprintf(file, "<asset>\n");
    for (int k = 0; k < scene->n_hulls; k++) {
        fprintf(file, "<mesh name='hull%d' vertex='", k);
        for (int i = 0; i < scene->hulls[k].n_points; i++) {
            st_Vec3 p = scene->hulls[k].points[i];
            fprintf(file, "%.17g %.17g %.17g ", p.x, p.y, p.z);
        }
        fprintf(file, "'/>\n");
    }
    fprintf(file, "</asset>\n<worldbody>\n");
    for (int k = 0; k < scene->n_planes; k++) {
        fprintf(file, "<geom type='plane' size='0 0 1'");
        write_vector(file, "pos", scale(scene->planes[k].distance, scene->planes[k].normal));
        write_vector(file, "zaxis", scene->planes[k].normal);
        fprintf(file, "/>\n");
    }
    for (int k = 0; k < scene->n_bodies; k++) {
        const Joint *joint = joint_above(scene, k);
        if (joint == NULL || joint->a < 0) write_body(file, files, scene, k, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}, 0);
    }
    fprintf(file, "</worldbody>\n</mujoco>\n");
}

/* ---- the interface ---------------------------------------------------------------------------- */

static int find_body(const World *world, int body)
{
    char name[16];
    snprintf(name, sizeof name, "%d", body);
    return mj_name2id(world->model, mjOBJ_BODY, name);
}

static st_Vec3 world_spin(const Scene *scene, int body)
{
    return body < 0 ? vec3(0, 0, 0) : rotate(scene->bodies[body].pose.q, scene->bodies[body].spin);
}

/* Free bodies have linear velocity in the world and spin in the body; joints the relative speed. */
static void set_velocities(World *world)
{
    for (int k = 0; k < world->scene->n_bodies; k++) {
        const Body *body = &world->scene->bodies[k];
        const Joint *joint = joint_above(world->scene, k);
        double *v = world->data->qvel + world->model->body_dofadr[find_body(world, k)];
        if (joint == NULL) {
            vec3_store(v, body->velocity);
            vec3_store(v + 3, body->spin);
        } else if (joint->type == JOINT_REVOLUTE)
            v[0] = dot(joint->axis, sub(world_spin(world->scene, k), world_spin(world->scene, joint->a)));
    }
}

static void destroy(void *opaque)
{
    World *world = opaque;
    if (world == NULL) return;
    mj_deleteData(world->data);
    mj_deleteModel(world->model);
    free(world);
}

static void *create(const Scene *scene, Settings *settings, char message[200])
{
    char error[200] = "";
    Files files = {.n = 0};
    FILE *out = open_file(&files);
    World *world = calloc(1, sizeof *world);
    if (out == NULL || world == NULL) return NULL;
    world->scene = scene;
    write_scene(out, &files, scene, settings);
    fclose(out);
    world->model = mj_loadXML(files.path[0], NULL, error, sizeof error);
    for (int k = 0; k < files.n; k++)
        unlink(files.path[k]);
    world->data = world->model != NULL ? mj_makeData(world->model) : NULL;
    if (world->data == NULL) {
        snprintf(message, 200, "%.199s", error);
        return free(world), NULL;
    }
    for (int k = 0; k < scene->n_bodies; k++)
        vec3_store(world->data->xfrc_applied + 6 * find_body(world, k), scene->bodies[k].force);
    set_velocities(world);
    return world;
}

/* MuJoCo resets a diverged state to the initial one, with a warning. */
static bool step(void *opaque, char message[200])
{
    World *world = opaque;
    mj_step(world->model, world->data);
    world->stale = true;
    static const int fatal[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC};
    for (int k = 0; k < 3; k++)
        if (world->data->warning[fatal[k]].number > 0) {
            snprintf(message, 200, "blew up at %.3g s", world->data->time);
            return false;
        }
    return true;
}

static void state(void *opaque, int body, BodyState *out)
{
    World *world = opaque;
    int id = find_body(world, body);
    double velocity[6], local[6];
    if (world->stale) {
        mj_kinematics(world->model, world->data);
        mj_comPos(world->model, world->data);
        mj_comVel(world->model, world->data);
        world->stale = false;
    }
    const double *q = world->data->xquat + 4 * id;
    mj_objectVelocity(world->model, world->data, mjOBJ_BODY, id, velocity, 0);
    mj_objectVelocity(world->model, world->data, mjOBJ_BODY, id, local, 1);
    out->pose = (st_Pose){vec3_load(world->data->xpos + 3 * id), {q[0], q[1], q[2], q[3]}};
    out->velocity = vec3_load(velocity + 3);
    out->spin = vec3_load(local);
}

static int contacts(void *opaque)
{
    return ((World *)opaque)->data->ncon;
}

const Engine engine = {"mujoco", version, create, step, state, contacts, destroy, NULL};
