/* import/robots.c -- opens the members of `robots`, finds their format by the root element, and adds them to the
 * scene's tree.
 *
 * A file that is a robot itself is read as the scene {"robots": [{"file": itself}]}, so that --set
 * robots/0/fixed=true applies to it. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "import/robot.h"

#include "math/quat.h"
#include "scene/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define PATH_SIZE    4096
#define LONGEST_NAME 60 /* longest name of a robot, which is the prefix of its parts */

/* ---- building the robot -------------------------------------------------------------------------- */

st_Status sti_robot_memory(const sti_Robot *robot)
{
    const sti_Reader reader = {.label = robot->file != NULL ? robot->file : robot->reader->label, .err = robot->err};
    return sti_report_line(&reader, 1, ST_ERR_MEMORY, "out of memory");
}

sti_RobotJoint sti_robot_joint(const sti_Element *at)
{
    return (sti_RobotJoint){.at = at,
                            .type = ST_JOINT_FIXED,
                            .axis = {1, 0, 0},
                            .start = NAN,
                            .lower = -INFINITY,
                            .upper = INFINITY,
                            .other_lower = -INFINITY,
                            .other_upper = INFINITY,
                            .effort = INFINITY};
}

sti_RobotLink *sti_robot_link(sti_Robot *robot, const char *name, const sti_Element *at, int parent)
{
    if (STI_GROW(&robot->allocator, robot->links, robot->links_size, robot->n_links + 1, robot->err) != ST_OK)
        return NULL;
    sti_RobotLink *link = &robot->links[robot->n_links++];
    *link =
        (sti_RobotLink){.name = name, .at = at, .parent = parent, .pose = pose_identity(), .gravity = 1, .carries = -1};
    link->joint = sti_robot_joint(at);
    return link;
}

st_Status sti_robot_tendon(sti_Robot *robot, const char *name, const sti_Element *at, int n, sti_RobotTendon **out)
{
    char text[200];
    sti_RobotPart *parts = sti_xml_keep(robot->files, (size_t)n * sizeof *parts);
    snprintf(text, sizeof text, "tendon%d", robot->n_tendons + 1);
    if (name != NULL && sti_robot_find_tendon(robot, name) >= 0)
        snprintf(text, sizeof text, "%.150s.%d", name, robot->n_tendons + 1);
    if (name == NULL || sti_robot_find_tendon(robot, name) >= 0) name = sti_xml_keep_text(robot->files, text);
    if (parts == NULL || name == NULL) return sti_robot_memory(robot);
    STI_TRY(STI_GROW(&robot->allocator, robot->tendons, robot->tendons_size, robot->n_tendons + 1, robot->err));
    *out = &robot->tendons[robot->n_tendons++];
    **out = (sti_RobotTendon){.name = name,
                              .at = at,
                              .parts = parts,
                              .n_parts = n,
                              .lower = -INFINITY,
                              .upper = INFINITY,
                              .rest = NAN,
                              .effort = INFINITY};
    return ST_OK;
}

int sti_robot_find_tendon(const sti_Robot *robot, const char *name)
{
    for (int k = 0; k < robot->n_tendons; k++)
        if (strcmp(robot->tendons[k].name, name) == 0) return k;
    return -1;
}

st_Status sti_robot_shape(sti_Robot *robot, sti_RobotLink *link, const sti_Element *at, st_Pose pose, json_t *json)
{
    if (json != NULL &&
        STI_GROW(&robot->allocator, link->shapes, link->shapes_size, link->n_shapes + 1, robot->err) == ST_OK) {
        link->shapes[link->n_shapes++] = (sti_RobotShape){.at = at, .pose = pose, .json = json, .contacting = {-1, -1}};
        return ST_OK;
    }
    json_decref(json);
    return sti_robot_memory(robot);
}

bool sti_robot_ignores(const sti_Robot *robot, const char *name)
{
    const json_t *list = json_object_get(robot->entry, "ignore");
    for (size_t k = 0; k < json_array_size(list); k++)
        if (strcmp(json_string_value(json_array_get(list, k)), name) == 0) return true;
    return false;
}

int sti_robot_find(const sti_Robot *robot, const char *name)
{
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].name != NULL && strcmp(robot->links[k].name, name) == 0) return k;
    return -1;
}

int sti_robot_find_joint(const sti_Robot *robot, const char *name)
{
    for (int k = 0; k < robot->n_links; k++)
        if (robot->links[k].joint.name != NULL && strcmp(robot->links[k].joint.name, name) == 0) return k;
    return -1;
}

void sti_robot_free(sti_Robot *robot)
{
    for (int k = 0; k < robot->n_links; k++) {
        sti_RobotLink *link = &robot->links[k];
        for (int i = 0; i < link->n_shapes; i++)
            json_decref(link->shapes[i].json);
        STI_RELEASE(&robot->allocator, link->shapes, link->shapes_size);
        json_decref(link->joint.motor);
    }
    for (int k = 0; k < robot->n_tendons; k++)
        json_decref(robot->tendons[k].motor);
    STI_RELEASE(&robot->allocator, robot->tendons, robot->tendons_size);
    STI_RELEASE(&robot->allocator, robot->wrenches, robot->wrenches_size);
    STI_RELEASE(&robot->allocator, robot->sensors, robot->sensors_size);
    STI_RELEASE(&robot->allocator, robot->keys, robot->keys_size);
    STI_RELEASE(&robot->allocator, robot->controls, robot->controls_size);
    STI_RELEASE(&robot->allocator, robot->links, robot->links_size);
    STI_RELEASE(&robot->allocator, robot->apart, robot->apart_size);
    STI_RELEASE(&robot->allocator, robot->ties, robot->ties_size);
}

st_Quat sti_quat_rpy(double roll, double pitch, double yaw)
{
    st_Quat x = quat_exp(vec3(roll, 0, 0)), y = quat_exp(vec3(0, pitch, 0)), z = quat_exp(vec3(0, 0, yaw));
    return quat_product(z, quat_product(y, x));
}

st_Mat3 sti_inertia_turned(st_Quat q, const st_Mat3 *inertia)
{
    st_Mat3 R = quat_matrix(q), Rt = mat3_transpose(&R), RI = mat3_product(&R, inertia), out = mat3_product(&RI, &Rt);
    for (int i = 0; i < 3; i++) /* make it symmetric to the last bit; without rotation nothing changes */
        for (int j = 0; j < i; j++)
            out.m[3 * i + j] = out.m[3 * j + i] = 0.5 * (out.m[3 * i + j] + out.m[3 * j + i]);
    return out;
}

/* ---- remarks and origins ------------------------------------------------------------------------- */

st_Status sti_origin(sti_Reader *reader, const json_t *made, const sti_Element *from)
{
    if (reader->n_origins == reader->origins_room) {
        size_t room = reader->origins_room == 0 ? 64 : 2 * reader->origins_room;
        sti_Origin *grown = realloc(reader->origins, room * sizeof *grown);
        if (grown == NULL) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
        reader->origins = grown;
        reader->origins_room = room;
    }
    reader->origins[reader->n_origins++] = (sti_Origin){made, from};
    return ST_OK;
}

void sti_skip(sti_Robot *robot, const char *what)
{
    for (int k = 0; k < robot->n_skipped; k++)
        if (strcmp(robot->skipped[k].what, what) == 0) {
            robot->skipped[k].count++;
            return;
        }
    if (robot->n_skipped < STI_MOST_SKIPPED) robot->skipped[robot->n_skipped++] = (sti_Skipped){what, 1};
}

st_Status sti_remark(sti_Robot *robot, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    int cut = vsnprintf(text, sizeof text, format, args) >= (int)sizeof text;
    va_end(args);
    return sti_reader_remark(robot->reader, "%.400s: %s%s", robot->file, text, cut ? "..." : "");
}

/* Appends a line. */
static bool add_line(char **all, const char *line)
{
    size_t used = *all != NULL ? strlen(*all) : 0;
    char *grown = realloc(*all, used + strlen(line) + 2);
    if (grown == NULL) return false;
    *all = grown;
    snprintf(grown + used, strlen(line) + 2, "%s\n", line);
    return true;
}

st_Status sti_reader_remark(sti_Reader *reader, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* the same file was read before */
    if (reader->remarks != NULL && strstr(reader->remarks, line) != NULL) return ST_OK;
    if (!add_line(&reader->remarks, line)) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    return ST_OK;
}

st_Status sti_note_problem(sti_Robot *robot, st_Status status)
{
    sti_ErrorList *list = robot->reader->errors;
    if (status != ST_ERR_FORMAT || list == NULL) return status;
    if (list->count++ < list->room) list->item[list->count - 1] = *robot->err;
    list->set = NULL;
    robot->n_problems++;
    return ST_OK;
}

/* ---- meshes -------------------------------------------------------------------------------------- */

/* Length of the folder of the scene file, including the slash. Relative paths start there. */
static int scene_folder(const sti_Reader *reader)
{
    const char *slash = strrchr(reader->label, '/');
    return slash != NULL ? (int)(slash - reader->label) + 1 : 0;
}

/* Is there a file of this path, as the scene would write it? */
static bool exists(const sti_Robot *robot, const char *path)
{
    char whole[PATH_SIZE];
    int folder = path[0] != '/' ? scene_folder(robot->reader) : 0;
    int n = snprintf(whole, sizeof whole, "%.*s%s", folder, robot->reader->label, path);
    return n < (int)sizeof whole && access(whole, F_OK) == 0;
}

/* Tries one folder, given with its slash: it ends in the package's name, or contains a folder of that name, itself or
 * in models/, where projects of Gazebo have it beside worlds/. */
static bool in_package(const sti_Robot *robot, const char *folder, const char *name, const char *rest, char *out)
{
    char whole[PATH_SIZE], *real = NULL;
    int start = folder[0] != '/' ? scene_folder(robot->reader) : 0;
    if (snprintf(out, PATH_SIZE, "%s%s/%s", folder, name, rest) < PATH_SIZE && exists(robot, out)) return true;
    if (snprintf(out, PATH_SIZE, "%smodels/%s/%s", folder, name, rest) < PATH_SIZE && exists(robot, out)) return true;
    /* the folder itself may be the package */
    if (snprintf(whole, sizeof whole, "%.*s%s.", start, robot->reader->label, folder) < (int)sizeof whole)
        real = realpath(whole, NULL);
    const char *last = real != NULL ? strrchr(real, '/') : NULL;
    bool own = last != NULL && strcmp(last + 1, name) == 0;
    free(real);
    return own && snprintf(out, PATH_SIZE, "%s%s", folder, rest) < PATH_SIZE && exists(robot, out);
}

/* Tries the folders of an environment variable, separated by colons. `share`: packages are in its share/. */
static bool in_folders(const sti_Robot *robot, const char *paths, const char *share, const char *name, const char *rest,
                       char *out)
{
    char folder[PATH_SIZE];
    while (paths != NULL && *paths != '\0') {
        size_t n = strcspn(paths, ":");
        if (n > 0 && n + 10 < sizeof folder) {
            snprintf(folder, sizeof folder, "%.*s/%s", (int)n, paths, share);
            if (in_package(robot, folder, name, rest, out)) return true;
        }
        paths += n + (paths[n] == ':');
    }
    return false;
}

/* Resolves package://NAME/REST and model://NAME/REST: in the folders around the robot's file, then in those that ROS
 * and Gazebo search. Last, REST alone around the file, because the folder of the package may have another name. */
static bool find_package(const sti_Robot *robot, const char *name, const char *rest, char *out)
{
    char folder[PATH_SIZE];
    if (snprintf(folder, sizeof folder, "%s", robot->folder) >= (int)sizeof folder) return false;
    for (int up = 0; up < 8; up++) {
        if (in_package(robot, folder, name, rest, out)) return true;
        if (strlen(folder) + 4 > sizeof folder) break;
        sti_append(folder, sizeof folder, "../");
    }
    static const char *const variables[] = {"ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH",
                                            "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH"};
    for (int k = 0; k < 5; k++)
        if (in_folders(robot, getenv(variables[k]), "", name, rest, out)) return true;
    if (in_folders(robot, getenv("AMENT_PREFIX_PATH"), "share/", name, rest, out)) return true;
    snprintf(folder, sizeof folder, "%s", robot->folder);
    for (int up = 0; up < 4; up++) {
        if (snprintf(out, PATH_SIZE, "%s%s", folder, rest) < PATH_SIZE && exists(robot, out)) return true;
        if (strlen(folder) + 4 > sizeof folder) break;
        sti_append(folder, sizeof folder, "../");
    }
    return false;
}

st_Status sti_robot_path(sti_Robot *robot, const sti_Element *at, const char *name, const char **out)
{
    char path[PATH_SIZE], package[256], slashes[PATH_SIZE];
    const bool shape = sti_element_is(at, "mesh") && !sti_element_is(at->up, "asset"); /* a shape of URDF or SDF */
    if (strchr(name, '\\') != NULL && strlen(name) < sizeof slashes) {                 /* backslashes, as on Windows */
        for (size_t k = 0; k <= strlen(name); k++)
            slashes[k] = (char)(name[k] == '\\' ? '/' : name[k]);
        name = slashes;
    }
    if (shape && robot->meshdir != NULL) { /* as MuJoCo reads URDF: in meshdir, or at the path as written */
        const char *last = strrchr(name, '/');
        const int n = snprintf(path, sizeof path, "%s%s%s%s", robot->meshdir[0] == '/' ? "" : robot->folder,
                               robot->meshdir, robot->meshdir[0] != '\0' ? "/" : "", last != NULL ? last + 1 : name);
        if (n < (int)sizeof path && exists(robot, path)) {
            *out = sti_xml_keep_text(robot->files, path);
            return *out != NULL ? ST_OK : sti_robot_memory(robot);
        }
    }
    const char *rest = name,
               *hint = shape ? "; to leave out missing meshes, add \"ignore\": [\"mesh\"] to the robot" : "";
    if (strncmp(name, "package://", 10) == 0 || strncmp(name, "model://", 8) == 0) {
        rest = strstr(name, "//") + 2;
        size_t n = strcspn(rest, "/");
        if (n == 0 || n >= sizeof package || rest[n] == '\0')
            return sti_element_fail(robot->err, at, "\"%.80s\" must be package://NAME/FILE", name);
        snprintf(package, sizeof package, "%.*s", (int)n, rest);
        if (!find_package(robot, package, rest + n + 1, path))
            return sti_element_fail(robot->err, at,
                                    "\"%.80s\" was not found: must be in a folder \"%.40s\" around the file, or in one "
                                    "of ROS_PACKAGE_PATH or GAZEBO_MODEL_PATH%s",
                                    name, package, hint);
    } else {
        if (strncmp(name, "file://", 7) == 0) rest = name + 7;
        int n = snprintf(path, sizeof path, "%s%s", rest[0] == '/' ? "" : robot->folder, rest);
        if (n >= (int)sizeof path) return sti_element_fail(robot->err, at, "the path of its file is too long");
        const int folder = scene_folder(robot->reader);
        const char *slash = strrchr(at->file, '/');
        if (rest[0] != '/' && !exists(robot, path) && slash != NULL &&
            strncmp(at->file, robot->reader->label, (size_t)folder) == 0) { /* relative to the file that names it */
            char beside[PATH_SIZE];
            n = snprintf(beside, sizeof beside, "%.*s%s", (int)(slash + 1 - at->file) - folder, at->file + folder,
                         rest);
            if (n < (int)sizeof beside && exists(robot, beside)) memcpy(path, beside, (size_t)n + 1);
        }
        if (!exists(robot, path)) return sti_element_fail(robot->err, at, "there is no file \"%.120s\"%s", path, hint);
    }
    *out = sti_xml_keep_text(robot->files, path);
    return *out != NULL ? ST_OK : sti_robot_memory(robot);
}

st_Status sti_robot_whole_path(sti_Robot *robot, const sti_Element *at, const char *name, char *out, size_t size)
{
    const char *path;
    STI_TRY(sti_robot_path(robot, at, name, &path));
    const int folder = path[0] != '/' ? scene_folder(robot->reader) : 0;
    if ((size_t)snprintf(out, size, "%.*s%s", folder, robot->reader->label, path) < size) return ST_OK;
    return sti_element_fail(robot->err, at, "the path of its file is too long");
}

st_Status sti_robot_include(sti_Robot *robot, const sti_Element *at, const char *name, sti_Element **root)
{
    char whole[PATH_SIZE], *text = NULL;
    size_t length = 0;
    st_Error why = {0};
    STI_TRY(sti_robot_whole_path(robot, at, name, whole, sizeof whole));
    if (sti_text_read(whole, false, &text, &length, &why) != ST_OK)
        return sti_element_fail(robot->err, at, "%.200s", why.message);
    st_Status status = sti_xml_parse(robot->files, text, length, whole, root, robot->err);
    free(text);
    return status;
}

st_Status sti_robot_mesh(sti_Robot *robot, const sti_Element *at, const char *name, const double s[3], json_t **out)
{
    const char *path = NULL;
    const char *form = robot->def.meshes == STI_MESH_MESH ? "mesh" : "hull";
    if (!sti_is_model_file(name))
        return sti_element_fail(robot->err, at, "\"%.80s\": a mesh must be a file .stl, .obj, .dae or .msh", name);
    STI_TRY(sti_robot_path(robot, at, name, &path));
    if (s[0] == 0 || s[1] == 0 || s[2] == 0)
        return sti_element_fail(robot->err, at, "scale is %g %g %g, must not be 0", s[0], s[1], s[2]);
    robot->n_meshes++;
    *out = json_pack("{s:s, s:s}", "type", form, "file", path);
    bool even = s[0] == s[1] && s[1] == s[2] && s[0] > 0;
    if (even && s[0] != 1) *out = sti_with(*out, "scale", json_real(s[0]));
    if (!even) *out = sti_with(*out, "scale", json_pack("[f, f, f]", s[0], s[1], s[2]));
    return *out != NULL ? ST_OK : sti_robot_memory(robot);
}

/* ---- reading robots ------------------------------------------------------------------------------ */

json_t *sti_robot_scene(const char *label)
{
    const char *slash = strrchr(label, '/');
    return json_pack("{s:[{s:s}]}", "robots", "file", slash != NULL ? slash + 1 : label);
}

static st_Status read_root(sti_Robot *robot, sti_Element *root)
{
    json_t *scene = robot->reader->root;
    const char *name = sti_attribute(root, sti_element_is(root, "mujoco") ? "model" : "name");
    if (robot->reader->xml && name != NULL && json_object_get(scene, "name") == NULL &&
        json_object_set_new(scene, "name", json_string(name)) != 0)
        return sti_robot_memory(robot);
    if (robot->reader->xml) STI_TRY(sti_origin(robot->reader, scene, root));
    if (sti_element_is(root, "robot")) return sti_urdf_read(robot, root);
    if (sti_element_is(root, "mujoco")) return sti_mjcf_read(robot, root);
    if (sti_element_is(root, "sdf")) return sti_sdf_read(robot, root);
    return sti_element_fail(robot->err, root,
                            "is not a robot file: the root must be <robot> (URDF), <mujoco> (MJCF) or <sdf> (SDF)");
}

static st_Status import(sti_Robot *robot, const char *text, size_t length)
{
    sti_Element *root = NULL;
    STI_TRY(sti_xml_parse(robot->files, text, length, robot->file, &root, robot->err));
    st_Status status = sti_note_problem(robot, read_root(robot, root));
    if (status == ST_OK && robot->n_problems > 0) status = ST_ERR_FORMAT; /* each problem is in the reader's list */
    STI_TRY(status);
    STI_TRY(sti_robot_assemble(robot));
    char words[560] = "";
    for (int k = 0; k < robot->n_skipped; k++) {
        const sti_Skipped *s = &robot->skipped[k];
        if (strlen(words) + 100 > sizeof words) {
            sti_append(words, sizeof words, " and %d more", robot->n_skipped - k);
            break;
        }
        sti_append(words, sizeof words, "%s%.60s", k > 0 ? ", " : "", s->what);
        if (s->count > 1) sti_append(words, sizeof words, " (%d times)", s->count);
    }
    if (robot->n_meshes > 0)
        STI_TRY(sti_remark(robot, "%d mesh%s touch%s as %s; \"meshes\": \"%s\" of the robot %s", robot->n_meshes,
                           robot->n_meshes > 1 ? "es" : "", robot->n_meshes > 1 ? "" : "es",
                           robot->def.meshes == STI_MESH_HULL ? "convex hulls" : "they are",
                           robot->def.meshes == STI_MESH_HULL ? "mesh" : "hull",
                           robot->def.meshes == STI_MESH_HULL ? "takes them as they are" : "takes their hulls"));
    return words[0] != '\0' ? sti_remark(robot, "not carried over: %s", words) : ST_OK;
}

/* Parses the text already read if the scene is only this robot, else reads its file. */
static st_Status open_robot(sti_Robot *robot, const sti_Object *object)
{
    sti_Reader *reader = robot->reader;
    const char *name = robot->def.file, *slash = strrchr(name, '/'), *own = strrchr(reader->label, '/');
    char path[PATH_SIZE];
    char *text = NULL;
    size_t length = 0;
    int folder = name[0] != '/' ? scene_folder(reader) : 0;
    sti_Place at = {object->place, "file", 0};
    if (snprintf(path, sizeof path, "%.*s%s", folder, reader->label, name) >= (int)sizeof path)
        return sti_report(reader, &at, ST_ERR_FORMAT, "%s: the path of its file is too long", object->subject);
    robot->file = sti_xml_keep_text(robot->files, path);
    snprintf(path, sizeof path, "%.*s", slash != NULL ? (int)(slash - name) + 1 : 0, name);
    robot->folder = sti_xml_keep_text(robot->files, path);
    if (robot->file == NULL || robot->folder == NULL) return sti_robot_memory(robot);
    if (reader->xml && strcmp(name, own != NULL ? own + 1 : reader->label) == 0)
        return import(robot, reader->text, reader->length);

    st_Error why = {0};
    st_Status status = sti_text_read(robot->file, false, &text, &length, &why);
    if (status != ST_OK) return sti_report(reader, &at, status, "%s: %s", object->subject, why.message);
    status = import(robot, text, length);
    free(text);
    return status;
}

/* Checks that the tables of keys cannot express. */
static st_Status check_robot(const sti_Object *object)
{
    const sti_RobotDef *def = &object->def.robot;
    double length = quat_norm(def->orientation);
    sti_Place turn = {object->place, "orientation", 0}, name = {object->place, "name", 0};
    if (!(fabs(length - 1) < 1e-3)) /* same rule as for bodies */
        return sti_report(object->reader, &turn, ST_ERR_FORMAT,
                          "%s: orientation has length %g, must be a unit quaternion", object->subject, length);
    if (def->name != NULL && strlen(def->name) > LONGEST_NAME)
        return sti_wrong(object, &name, "name", json_object_get(object->json, "name"), "at most 60 bytes");
    return ST_OK;
}

st_Status sti_robots_read(sti_Reader *reader)
{
    const json_t *list = json_object_get(reader->root, "robots");
    for (size_t k = 0; k < json_array_size(list); k++) /* if it is no list, the scene reader refuses it */
    {
        const json_t *entry = json_array_get(list, k);
        sti_Place robots = {NULL, "robots", 0}, place = {&robots, NULL, k};
        sti_Object object = {.reader = reader, .kind = &sti_robot_kind, .place = &place, .json = entry};
        st_Status status = sti_object_read(&object, "");
        if (status == ST_OK) status = check_robot(&object);
        if (status == ST_OK) {
            const sti_RobotDef *def = &object.def.robot;
            sti_Robot robot = {.reader = reader,
                               .files = &reader->files,
                               .err = reader->err,
                               .allocator = st_default_allocator(),
                               .entry = entry,
                               .index = k,
                               .def = *def,
                               .root = {def->position, quat_unit(def->orientation)}};
            if (def->name != NULL) snprintf(robot.prefix, sizeof robot.prefix, "%s.", def->name);
            status = open_robot(&robot, &object);
            sti_robot_free(&robot);
        }
        sti_object_free(&object);
        STI_TRY(status);
    }
    return sti_geoms_finish(reader);
}
