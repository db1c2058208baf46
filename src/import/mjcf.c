/* import/mjcf.c -- reads MJCF, MuJoCo's format, as far as everyday models use it (mujoco.readthedocs.io, XML
 * reference).
 *
 * Bodies are nested; the pose of a child is given in its parent. An element or attribute that would change the
 * motion and is not supported is an error, unless the scene lists it in `ignore`. The message names file, line,
 * element and attribute. Those that only concern appearance, sensors and MuJoCo's numerics are listed in the
 * remarks. */
#include "import/mjcf.h"

#include "math/quat.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- <compiler>, <option> ------------------------------------------------------------------------ */

/* Settings of <compiler> that apply to the elements of its own model, but not to attached models. */
static st_Status read_units(const sti_Mjcf *m, const sti_Element *at, sti_MjcfContext *context)
{
    const char *angle = sti_attribute(at, "angle");
    if (angle != NULL && !sti_mjcf_word("degree radian", angle))
        return sti_element_fail(m->robot->err, at, "angle is \"%.20s\", must be degree or radian", angle);
    if (angle != NULL) context->angle = angle[0] == 'r' ? 1 : STI_PI / 180;
    STI_TRY(sti_mjcf_flag(m, at, "autolimits", &context->autolimits));
    STI_TRY(sti_mjcf_flag(m, at, "strippath", &context->strip));

    const char *axes = sti_attribute(at, "eulerseq");
    if (axes != NULL && (strlen(axes) != 3 || strspn(axes, "xyzXYZ") != 3))
        return sti_element_fail(m->robot->err, at, "eulerseq is \"%.20s\", must be three of x, y, z, X, Y, Z", axes);
    if (axes != NULL) memcpy(context->eulerseq, axes, 4);

    const char *folder = sti_attribute(at, "meshdir");
    if (folder == NULL) folder = sti_attribute(at, "assetdir");
    if (folder == NULL || folder[0] == '\0') return ST_OK;
    char path[1024];
    bool slash = folder[strlen(folder) - 1] == '/';
    if (snprintf(path, sizeof path, "%s%s", folder, slash ? "" : "/") >= (int)sizeof path)
        return sti_element_fail(m->robot->err, at, "meshdir is too long");
    context->meshdir = sti_xml_keep_text(m->robot->files, path);
    return context->meshdir != NULL ? ST_OK : sti_robot_memory(m->robot);
}

static sti_MjcfContext *find_context(const sti_Mjcf *m, const char *file)
{
    for (sti_MjcfContext *context = m->contexts; context != NULL; context = context->next)
        if (strcmp(context->file, file) == 0) return context;
    return NULL;
}

const sti_MjcfContext *sti_mjcf_context(const sti_Mjcf *m, const sti_Element *element)
{
    const sti_MjcfContext *context = find_context(m, element->file);
    return context != NULL ? context->same != NULL ? context->same : context : m->contexts;
}

static st_Status new_context(sti_Mjcf *m, const char *file, sti_MjcfContext **out)
{
    *out = find_context(m, file);
    if (*out != NULL) return ST_OK;
    *out = sti_xml_keep(m->robot->files, sizeof **out);
    if (*out == NULL) return sti_robot_memory(m->robot);
    **out =
        (sti_MjcfContext){.file = file, .angle = STI_PI / 180, .eulerseq = "xyz", .autolimits = true, .meshdir = ""};
    sti_MjcfContext **tail = &m->contexts; /* the first context is that of the file itself */
    while (*tail != NULL)
        tail = &(*tail)->next;
    *tail = *out;
    return ST_OK;
}

st_Status sti_mjcf_add_context(sti_Mjcf *m, const sti_Element *root)
{
    sti_MjcfContext *context;
    STI_TRY(new_context(m, root->file, &context));
    for (const sti_Element *at = root->first; at != NULL; at = at->next)
        if (sti_element_is(at, "compiler")) STI_TRY(read_units(m, at, context));
    return ST_OK;
}

st_Status sti_mjcf_same_context(sti_Mjcf *m, const char *file, const char *as)
{
    sti_MjcfContext *context;
    const sti_MjcfContext *other = find_context(m, as);
    STI_TRY(new_context(m, file, &context));
    if (other != NULL && other->same != NULL) other = other->same;
    if (other != context) context->same = other;
    return ST_OK;
}

static st_Status read_compiler(sti_Mjcf *m, const sti_Element *at)
{
    static const char read[] = "angle eulerseq autolimits inertiafromgeom meshdir assetdir coordinate boundmass "
                               "boundinertia settotalmass inertiagrouprange balanceinertia fitaabb exactmeshinertia "
                               "strippath";
    static const char passed[] = "texturedir discardvisual fusestatic usethread convexhull alignfree "
                                 "saveinertial conflict";
    const char *from = sti_attribute(at, "inertiafromgeom");
    const char *coordinate = sti_attribute(at, "coordinate");
    double mass = 0, inertia = 0, total = -1, groups[2] = {0, 5};
    STI_TRY(sti_mjcf_check(m, at, read, passed));
    if (from != NULL && !sti_mjcf_word("true false auto", from))
        return sti_element_fail(m->robot->err, at, "inertiafromgeom is \"%.20s\", must be true, false or auto", from);
    if (from != NULL) m->from_geoms = from[0] == 't', m->not_from_geoms = from[0] == 'f';
    if (coordinate != NULL && !sti_mjcf_word("local global", coordinate))
        return sti_element_fail(m->robot->err, at, "coordinate is \"%.20s\", must be local or global", coordinate);
    if (coordinate != NULL) m->global = coordinate[0] == 'g';
    STI_TRY(sti_numbers(m->robot->err, at, "boundmass", 1, false, &mass));
    STI_TRY(sti_numbers(m->robot->err, at, "boundinertia", 1, false, &inertia));
    STI_TRY(sti_numbers(m->robot->err, at, "settotalmass", 1, false, &total));
    STI_TRY(sti_numbers(m->robot->err, at, "inertiagrouprange", 2, false, groups));
    STI_TRY(sti_mjcf_flag(m, at, "balanceinertia", &m->balance));
    STI_TRY(sti_mjcf_flag(m, at, "fitaabb", &m->fit_box));
    STI_TRY(sti_mjcf_flag(m, at, "exactmeshinertia", &m->exact_meshes));
    m->least_mass = fmax(m->least_mass, mass);
    m->least_inertia = fmax(m->least_inertia, inertia);
    if (total > 0) m->total_mass = total;
    if (sti_attribute(at, "inertiagrouprange") != NULL)
        m->first_group = (int)fmax(groups[0], -1e9), m->last_group = (int)fmin(groups[1], 1e9);
    return read_units(m, at, m->contexts); /* the <compiler> of an included file also applies to the whole model */
}

static st_Status read_option(sti_Mjcf *m, const sti_Element *at, double *h, double gravity[3])
{
    static const char read[] = "timestep gravity density viscosity wind collision actuatorgroupdisable";
    static const char passed[] =
        "integrator cone jacobian solver iterations tolerance noslip_iterations noslip_tolerance mpr_iterations "
        "mpr_tolerance impratio apirate realtime sleep_tolerance ls_iterations "
        "ls_tolerance ccd_iterations ccd_tolerance "
        "sdf_iterations "
        "sdf_initpoints o_margin o_solref o_solimp o_friction magnetic";
    static const char flags[] =
        "constraint equality frictionloss limit contact passive spring damper gravity clampctrl warmstart filterparent "
        "actuation refsafe sensor midphase eulerdamp autoreset nativeccd island multiccd override energy fwdinv "
        "invdiscrete sensornoise sleep diagexact ipc";
    STI_TRY(sti_mjcf_check(m, at, read, passed));
    STI_TRY(sti_numbers(m->robot->err, at, "timestep", 1, false, h));
    STI_TRY(sti_numbers(m->robot->err, at, "gravity", 3, false, gravity));
    STI_TRY(sti_numbers(m->robot->err, at, "density", 1, false, &m->density));
    STI_TRY(sti_numbers(m->robot->err, at, "viscosity", 1, false, &m->viscosity));
    STI_TRY(sti_numbers(m->robot->err, at, "wind", 3, false, m->wind));
    if (!(*h > 0)) return sti_element_fail(m->robot->err, at, "timestep is %g, must be > 0", *h);
    const char *collision = sti_attribute(at, "collision");
    if (collision != NULL && !sti_mjcf_word("all predefined dynamic", collision))
        return sti_element_fail(m->robot->err, at, "collision is \"%.20s\", must be all, predefined or dynamic",
                                collision);
    if (collision != NULL) m->only_pairs = collision[0] == 'p', m->no_pairs = collision[0] == 'd';
    if (sti_attribute(at, "actuatorgroupdisable") != NULL) {
        double groups[32];
        int n = 0;
        STI_TRY(sti_some_numbers(m->robot->err, at, "actuatorgroupdisable", 1, 32, &n, groups));
        for (int k = 0; k < n; k++)
            if (groups[k] >= 0 && groups[k] < 31) m->actuator_groups_off |= 1u << (int)groups[k];
    }
    if (m->density < 0 || m->viscosity < 0)
        return sti_element_fail(m->robot->err, at, "density and viscosity must be >= 0");
    if (m->density > 0 || m->viscosity > 0)
        m->robot->def.merge = false; /* MuJoCo computes drag for each of its bodies */
    /* flags that switch forces or contacts off; the other flags concern MuJoCo's numerics */
    const sti_Element *flag = sti_child(at, "flag");
    if (flag != NULL) STI_TRY(sti_mjcf_check(m, flag, flags, ""));
    for (int k = 0; flag != NULL && k < flag->n_attributes; k++) {
        const char *name = flag->attributes[2 * k], *value = flag->attributes[2 * k + 1];
        if (!sti_mjcf_word("enable disable", value))
            return sti_element_fail(m->robot->err, flag, "%s is \"%.20s\", must be enable or disable", name, value);
        if (strcmp(value, "disable") != 0) continue;
        const bool all = strcmp(name, "constraint") == 0, passive = strcmp(name, "passive") == 0;
        if (strcmp(name, "gravity") == 0) gravity[0] = gravity[1] = gravity[2] = 0;
        m->no_contact = m->no_contact || all || strcmp(name, "contact") == 0;
        m->no_limits = m->no_limits || all || strcmp(name, "limit") == 0;
        m->no_equality = m->no_equality || all || strcmp(name, "equality") == 0;
        m->no_friction = m->no_friction || all || strcmp(name, "frictionloss") == 0;
        m->no_springs = m->no_springs || passive || strcmp(name, "spring") == 0;
        m->no_dampers = m->no_dampers || passive || strcmp(name, "damper") == 0;
        m->no_actuation = m->no_actuation || strcmp(name, "actuation") == 0;
        m->controls_unlimited = m->controls_unlimited || strcmp(name, "clampctrl") == 0;
        m->parents_touch = m->parents_touch || strcmp(name, "filterparent") == 0;
    }
    return ST_OK;
}

/* A file that is read alone sets step and gravity. A robot inside a scene uses those of the scene. */
static st_Status write_option(sti_Mjcf *m, double h, const double gravity[3])
{
    sti_Reader *reader = m->robot->reader;
    if (!reader->xml) {
        if (sti_child(m->root, "option") != NULL) sti_skip(m->robot, "<option>, the scene has its own");
        return ST_OK;
    }
    json_t *made = json_pack("{s:f, s:[f, f, f]}", "h", h, "gravity", gravity[0], gravity[1], gravity[2]);
    if (m->density > 0) made = sti_with(made, "medium_density", json_real(m->density));
    if (m->viscosity > 0) made = sti_with(made, "medium_viscosity", json_real(m->viscosity));
    if ((m->density > 0 || m->viscosity > 0) && (m->wind[0] != 0 || m->wind[1] != 0 || m->wind[2] != 0))
        made = sti_with(made, "wind", json_pack("[f, f, f]", m->wind[0], m->wind[1], m->wind[2]));
    if (json_object_set_new(reader->root, "simulation", made) != 0) return sti_robot_memory(m->robot);
    return sti_origin(reader, made, sti_child(m->root, "option") != NULL ? sti_child(m->root, "option") : m->root);
}

/* ---- bodies -------------------------------------------------------------------------------------- */

static st_Status read_inertial(sti_Mjcf *m, sti_RobotLink *link, const sti_Element *at)
{
    double mass = 0, diagonal[3], full[6];
    st_Pose pose;
    char read[200];
    snprintf(read, sizeof read, "%smass diaginertia fullinertia", sti_mjcf_pose_words);
    STI_TRY(sti_mjcf_check(m, at, read, ""));
    STI_TRY(sti_mjcf_pose(m, at, &pose));
    STI_TRY(sti_numbers(m->robot->err, at, "mass", 1, true, &mass));
    if (!(mass >= 0)) return sti_element_fail(m->robot->err, at, "mass is %g, must be >= 0", mass);
    bool is_full = sti_attribute(at, "fullinertia") != NULL;
    if (is_full && sti_attribute(at, "diaginertia") != NULL)
        return sti_element_fail(m->robot->err, at, "has both diaginertia and fullinertia, must have one of them");
    st_Mat3 I;
    if (is_full) { /* xx yy zz xy xz yz */
        STI_TRY(sti_numbers(m->robot->err, at, "fullinertia", 6, true, full));
        I = (st_Mat3){{full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2]}};
    } else {
        STI_TRY(sti_numbers(m->robot->err, at, "diaginertia", 3, true, diagonal));
        I = (st_Mat3){{diagonal[0], 0, 0, 0, diagonal[1], 0, 0, 0, diagonal[2]}};
    }
    link->mass = mass;
    link->centre = pose.p;
    link->inertia = sti_inertia_turned(pose.q, &I);
    return ST_OK;
}

/* Stores a site or geom that other elements may name. */
st_Status sti_mjcf_place(sti_Mjcf *m, const sti_Element *at, int link, st_Pose pose, double radius)
{
    const char *name = sti_attribute(at, "name");
    if (name == NULL) return ST_OK;
    sti_MjcfPlace *place = sti_xml_keep(m->robot->files, sizeof *place);
    if (place == NULL) return sti_robot_memory(m->robot);
    *place = (sti_MjcfPlace){name, at, link, pose, radius, {-1, -1}, m->places};
    m->places = place;
    return ST_OK;
}

st_Status sti_mjcf_find_place(const sti_Mjcf *m, const sti_Element *at, const char *attribute, const char *kind,
                              const sti_MjcfPlace **out)
{
    const char *name = sti_attribute(at, attribute);
    if (name == NULL)
        return sti_element_fail(m->robot->err, at, "%s is missing, must be the name of a %s", attribute, kind);
    for (*out = m->places; *out != NULL; *out = (*out)->next)
        if (sti_element_is((*out)->at, kind) && strcmp((*out)->name, name) == 0) return ST_OK;
    return sti_element_fail(m->robot->err, at, "%s is \"%.60s\", there is no %s of that name", attribute, name, kind);
}

static st_Status read_site(sti_Mjcf *m, int link, const sti_Element *at)
{
    const sti_Element *ends = sti_mjcf_holder(m, at, "fromto");
    double v[6];
    st_Pose pose;
    STI_TRY(sti_mjcf_pose(m, at, &pose));
    if (ends != NULL) {
        STI_TRY(sti_numbers(m->robot->err, ends, "fromto", 6, true, v));
        const st_Vec3 a = vec3_load(v), b = vec3_load(v + 3), d = sub(a, b);
        const st_Quat turn = norm(d) > 0 ? quat_between(vec3(0, 0, 1), scale(1 / norm(d), d)) : pose_identity().q;
        st_Pose frame;
        STI_TRY(sti_mjcf_frame(m, at, &frame));
        pose = pose_product(frame, (st_Pose){scale(0.5, add(a, b)), turn});
    }
    return sti_mjcf_place(m, at, link, pose, 0);
}

/* A camera that does not turn by itself, for sensors. */
static st_Status read_camera(sti_Mjcf *m, int link, const sti_Element *at)
{
    const char *mode = sti_mjcf_text(m, at, "mode");
    st_Pose pose;
    if (mode != NULL && strcmp(mode, "fixed") != 0) return ST_OK;
    STI_TRY(sti_mjcf_pose(m, at, &pose));
    return sti_mjcf_place(m, at, link, pose, 0);
}

/* Reads geoms, sites and mass of a body; joints and children are read elsewhere. A body that never moves needs no
 * mass. */
static st_Status read_content(sti_Mjcf *m, int k, const sti_Element *body)
{
    const sti_Element *inertial = sti_child(body, "inertial");
    bool from_geoms = m->from_geoms || (!m->not_from_geoms && inertial == NULL);
    for (const sti_Element *at = sti_mjcf_member(body, NULL); at != NULL; at = sti_mjcf_member(body, at)) {
        if (sti_element_is(at, "geom"))
            STI_TRY(sti_note_problem(m->robot, sti_mjcf_geom(m, k, at, from_geoms && m->robot->links[k].moves)));
        else if (sti_element_is(at, "site"))
            STI_TRY(sti_note_problem(m->robot, read_site(m, k, at)));
        else if (sti_mjcf_word("camera light", at->name)) {
            sti_skip(m->robot, at->name[0] == 'c' ? "<camera>" : "<light>");
            if (at->name[0] == 'c') STI_TRY(sti_note_problem(m->robot, read_camera(m, k, at)));
        } else if (!sti_mjcf_word(k > 0 ? "body joint freejoint inertial" : "body", at->name))
            STI_TRY(sti_note_problem(m->robot, sti_mjcf_unknown(m, at, NULL)));
    }
    if (inertial != NULL && !from_geoms)
        STI_TRY(sti_note_problem(m->robot, read_inertial(m, &m->robot->links[k], inertial)));
    return ST_OK;
}

/* Adds a link and its joint; unnamed ones get a name. *k is the number of the link. */
static st_Status add_link(sti_Mjcf *m, const sti_Element *at, const char *name, int parent, const sti_RobotJoint *joint,
                          int *k)
{
    sti_Robot *robot = m->robot;
    char text[200];
    if (robot->n_links == STI_MOST_LINKS)
        return sti_element_fail(robot->err, at, "is one too many, must be at most %d bodies", STI_MOST_LINKS);
    sti_RobotLink *link = sti_robot_link(robot, name, at, parent);
    if (link == NULL) return sti_robot_memory(robot);
    *k = robot->n_links - 1;
    link->moves = joint != NULL || (parent >= 0 && robot->links[parent].moves);
    if (joint == NULL) return ST_OK;
    link->joint = *joint;
    link->joint.collide = m->parents_touch;
    if (joint->name == NULL && !joint->floating) {
        snprintf(text, sizeof text, "%.150s.joint", name);
        link->joint.name = sti_xml_keep_text(robot->files, text);
        if (link->joint.name == NULL) return sti_robot_memory(robot);
    }
    if (link->joint.name != NULL && sti_robot_find_joint(robot, link->joint.name) != *k)
        return sti_element_fail(robot->err, link->joint.at, "its name is used twice");
    return ST_OK;
}

/* Adds the links between the joints of a body, then the body's own link. pose: as drawn in the parent. */
static st_Status add_chain(sti_Mjcf *m, const sti_Element *at, const char *name, int parent, const st_Pose *pose,
                           int *out)
{
    sti_Robot *robot = m->robot;
    sti_RobotJoint joints[STI_MJCF_JOINTS];
    char text[200];
    int n, above = parent, first = robot->n_links;
    STI_TRY(sti_mjcf_joints(m, at, parent == 0, joints, &n));
    for (int k = 0; k + 1 < n; k++) {
        snprintf(text, sizeof text, "%.150s.%d", name, k + 1);
        const char *kept = sti_xml_keep_text(robot->files, text);
        if (kept == NULL) return sti_robot_memory(robot);
        if (sti_robot_find(robot, kept) >= 0)
            return sti_element_fail(robot->err, at, "needs the name \"%.60s\" for its joint %d, which is used", kept,
                                    k + 1);
        STI_TRY(add_link(m, at, kept, above, &joints[k], &above));
    }
    STI_TRY(add_link(m, at, name, above, n > 0 ? &joints[n - 1] : NULL, out));
    robot->links[first].pose = *pose; /* the other links have the same pose as the first */
    for (int k = first; k < *out; k++)
        robot->links[k].carries = *out;
    if (n < 2 || parent == 0 || m->parents_touch) return ST_OK;
    STI_TRY(STI_GROW(&robot->allocator, robot->apart, robot->apart_size, robot->n_apart + 1, robot->err));
    robot->apart[robot->n_apart++] = (sti_RobotPair){at, parent, *out};
    return ST_OK;
}

static st_Status add_body(sti_Mjcf *m, const sti_Element *at, int parent, int *out)
{
    sti_Robot *robot = m->robot;
    const char *name = sti_attribute(at, "name"), *mocap = sti_attribute(at, "mocap");
    char read[200], made[40];
    double lifted = 0;
    st_Pose pose;
    snprintf(read, sizeof read, "%sname childclass mocap gravcomp", sti_mjcf_pose_words);
    STI_TRY(sti_mjcf_check(m, at, read, "user sleep simple fuse"));
    STI_TRY(sti_numbers(robot->err, at, "gravcomp", 1, false, &lifted));
    if (name != NULL && (name[0] == '\0' || sti_robot_find(robot, name) >= 0))
        return sti_element_fail(robot->err, at, "its name is empty, or used twice");
    snprintf(made, sizeof made, "body%d", robot->n_links);
    if (name == NULL) name = sti_xml_keep_text(robot->files, made);
    if (name == NULL) return sti_robot_memory(robot);
    STI_TRY(sti_mjcf_pose(m, at, &pose));
    if (m->global) pose = pose_identity();
    const int first = robot->n_links;
    STI_TRY(add_chain(m, at, name, parent, &pose, out));
    robot->links[*out].led = mocap != NULL && strcmp(mocap, "true") == 0;
    if (robot->links[*out].led && (*out != first || parent != 0 || robot->links[*out].moves))
        return sti_element_fail(robot->err, at, "is mocap, must be in the worldbody and have no joint");
    for (int k = *out; k >= 0 && (k == *out || robot->links[k].carries == *out); k--)
        robot->links[k].gravity = m->no_springs && m->no_dampers ? 1 : 1 - lifted;
    return read_content(m, *out, at);
}

/* Reads the bodies below `at`, the element of link `parent`. XML_DEPTH bounds the recursion. */
static st_Status read_bodies(sti_Mjcf *m, const sti_Element *at, int parent)
{
    for (const sti_Element *body = sti_mjcf_member(at, NULL); body != NULL; body = sti_mjcf_member(at, body)) {
        int k;
        if (!sti_element_is(body, "body")) continue;
        const int before = m->robot->n_problems;
        STI_TRY(sti_note_problem(m->robot, add_body(m, body, parent, &k)));
        if (m->robot->n_problems > before) { /* elements below it may be valid, but have no parent */
            k = m->robot->n_links - 1;
            if (k < 1 || m->robot->links[k].at != body) continue;
        }
        STI_TRY(read_bodies(m, body, k));
    }
    return ST_OK;
}

/* ---- <contact>, <equality>, <actuator> ----------------------------------------------------------- */

/* Finds the body that an attribute names; the world if it is left out or named. */
static st_Status find_body(const sti_Mjcf *m, const sti_Element *at, const char *attribute, int *out)
{
    const char *name = sti_attribute(at, attribute);
    *out = name != NULL ? sti_robot_find(m->robot, name) : 0;
    if (*out >= 0) return ST_OK;
    return sti_element_fail(m->robot->err, at, "%s is \"%.60s\", there is no body of that name", attribute, name);
}

static st_Status read_polynomial(const sti_Mjcf *m, const sti_Element *at, double c[5])
{
    int n = 0;
    const double start[5] = {0, 1, 0, 0, 0};
    memcpy(c, start, sizeof start);
    if (sti_attribute(at, "polycoef") == NULL) return ST_OK;
    return sti_some_numbers(m->robot->err, at, "polycoef", 1, 5, &n, c);
}

static st_Status read_member(sti_Mjcf *m, const sti_Element *section, const sti_Element *at)
{
    const char *active = sti_mjcf_text(m, at, "active");
    if (sti_element_is(section, "tendon")) return sti_mjcf_tendon(m, at);
    if (sti_element_is(section, "contact") && sti_element_is(at, "exclude")) {
        sti_Robot *robot = m->robot;
        sti_RobotPair pair = {.at = at};
        STI_TRY(sti_mjcf_check(m, at, "name body1 body2", ""));
        STI_TRY(find_body(m, at, "body1", &pair.a));
        STI_TRY(find_body(m, at, "body2", &pair.b));
        STI_TRY(STI_GROW(&robot->allocator, robot->apart, robot->apart_size, robot->n_apart + 1, robot->err));
        robot->apart[robot->n_apart++] = pair;
        return ST_OK;
    }
    if (sti_element_is(section, "contact") && sti_element_is(at, "pair")) return sti_mjcf_pair(m, at);
    if (sti_element_is(section, "actuator")) return sti_mjcf_actuator(m, at);
    if (sti_element_is(section, "sensor")) return sti_mjcf_sensor(m, at);
    if (sti_element_is(section, "keyframe")) return sti_mjcf_keyframe(m, at);
    if (!sti_element_is(section, "equality")) return sti_mjcf_unknown(m, at, NULL);
    if ((active != NULL && strcmp(active, "false") == 0) || m->no_equality) return ST_OK;
    if (sti_element_is(at, "connect") || sti_element_is(at, "weld")) {
        sti_Robot *robot = m->robot;
        bool weld = sti_element_is(at, "weld");
        sti_RobotTie tie = {.links = {.at = at}, .type = weld ? ST_JOINT_FIXED : ST_JOINT_BALL};
        double anchor[3] = {0};
        char name[40];
        STI_TRY(sti_mjcf_check(m, at, "name class active body1 body2 anchor site1 site2 relpose",
                               "solref solimp torquescale"));
        if (sti_attribute(at, "site1") != NULL) {
            const sti_MjcfPlace *one, *two;
            STI_TRY(sti_mjcf_find_place(m, at, "site1", "site", &one));
            STI_TRY(sti_mjcf_find_place(m, at, "site2", "site", &two));
            tie.links.a = one->link, tie.links.b = two->link;
            tie.point = one->pose.p, tie.point_b = two->pose.p;
            tie.turn = one->pose.q, tie.turn_b = two->pose.q;
            tie.two_points = true;
            tie.two_frames = weld;
        } else {
            STI_TRY(find_body(m, at, "body1", &tie.links.a));
            STI_TRY(find_body(m, at, "body2", &tie.links.b));
            STI_TRY(sti_numbers(robot->err, at, "anchor", 3, !weld, anchor));
            tie.point = vec3_load(anchor);
            double relative[7] = {0}; /* pose of body2 in body1; with a quaternion of 0 they are held as drawn */
            STI_TRY(sti_numbers(robot->err, at, "relpose", 7, false, relative));
            const st_Quat turn = {relative[3], relative[4], relative[5], relative[6]};
            if (weld && quat_norm(turn) > 0) {
                tie.turn = quat_unit(turn), tie.turn_b = pose_identity().q;
                tie.point_b = vec3_load(anchor); /* of a weld it is in body2 */
                tie.point = add(vec3_load(relative), rotate(tie.turn, tie.point_b));
                tie.two_points = tie.two_frames = true;
            }
        }
        tie.name = sti_attribute(at, "name");
        int number = robot->n_ties;
        bool used = true; /* ends, because the robot has finitely many joints */
        while (used) {
            snprintf(name, sizeof name, "equality%d", ++number);
            used = sti_robot_find_joint(robot, name) >= 0;
            for (int k = 0; k < robot->n_ties; k++)
                used = used || strcmp(robot->ties[k].name, name) == 0;
        }
        if (tie.name == NULL) tie.name = sti_xml_keep_text(robot->files, name);
        if (tie.name == NULL) return sti_robot_memory(robot);
        STI_TRY(STI_GROW(&robot->allocator, robot->ties, robot->ties_size, robot->n_ties + 1, robot->err));
        robot->ties[robot->n_ties++] = tie;
        return ST_OK;
    }
    if (sti_element_is(at, "joint")) {
        /* joint1 - ref1 = c0 + c1 (joint2 - ref2): a mimic. */
        sti_RobotJoint *one = NULL, *two = NULL;
        double c[5];
        STI_TRY(sti_mjcf_check(m, at, "name class active joint1 joint2 polycoef", "solref solimp"));
        STI_TRY(sti_mjcf_find_joint(m, at, "joint1", &one));
        STI_TRY(read_polynomial(m, at, c));
        if (sti_attribute(at, "joint2") != NULL) STI_TRY(sti_mjcf_find_joint(m, at, "joint2", &two));
        const bool curved = c[2] != 0 || c[3] != 0 || c[4] != 0;
        if (two == NULL || (c[1] == 0 && !curved)) { /* the joint is held where it is */
            sti_RobotTendon *hold;
            one->start = one->zero + c[0];
            STI_TRY(sti_robot_tendon(m->robot, sti_attribute(at, "name"), at, 1, &hold));
            hold->parts[0] = (sti_RobotPart){.kind = ST_TENDON_JOINT, .joint = one->name, .coefficient = 1};
            hold->driven = hold->held = true;
            hold->hold = one->start;
            return ST_OK;
        }
        if (one->mimics != NULL && curved)
            return sti_element_fail(m->robot->err, at,
                                    "joint1 follows another joint already, and this polycoef is curved");
        if (one->mimics != NULL) { /* it already follows another joint: hold the sum joint1 - c1 joint2 */
            sti_RobotTendon *hold;
            STI_TRY(sti_robot_tendon(m->robot, sti_attribute(at, "name"), at, 2, &hold));
            hold->parts[0] = (sti_RobotPart){.kind = ST_TENDON_JOINT, .joint = one->name, .coefficient = 1};
            hold->parts[1] = (sti_RobotPart){.kind = ST_TENDON_JOINT, .joint = two->name, .coefficient = -c[1]};
            hold->driven = hold->held = true;
            hold->hold = c[0] + one->zero - c[1] * two->zero;
            return ST_OK;
        }
        one->mimics = two->name;
        one->ratio = c[1];
        one->offset = one->zero + c[0] - c[1] * two->zero;
        one->middle = two->zero;
        memcpy(one->curve, c + 2, sizeof one->curve);
        return ST_OK;
    }
    if (sti_element_is(at, "tendon")) {
        /* length1 = c0 + c1 length2, both measured from the lengths as drawn; or length1 = c0. */
        sti_Robot *robot = m->robot;
        const char *names[2] = {sti_attribute(at, "tendon1"), sti_attribute(at, "tendon2")};
        sti_RobotTendon of[2] = {0}, *hold;
        double c[5];
        int n = 0;
        STI_TRY(sti_mjcf_check(m, at, "name class active tendon1 tendon2 polycoef", "solref solimp"));
        STI_TRY(read_polynomial(m, at, c));
        if (c[2] != 0 || c[3] != 0 || c[4] != 0)
            STI_TRY(sti_remark(robot,
                               "tendon \"%.60s\" follows another one by polycoef: only its first two numbers are used",
                               names[0] != NULL ? names[0] : ""));
        for (int k = 0; k < 2 && (k == 0 || names[1] != NULL); k++) {
            const int found = names[k] != NULL ? sti_robot_find_tendon(robot, names[k]) : -1;
            if (found < 0)
                return sti_element_fail(robot->err, at, "tendon%d is \"%.60s\", there is no tendon of that name", k + 1,
                                        names[k] != NULL ? names[k] : "");
            of[k] = robot->tendons[found];
            if (k == 1 && c[1] == 0) of[1].n_parts = 0;
            n += of[k].n_parts;
        }
        const bool sum = n > 0 && of[0].parts[0].kind == ST_TENDON_JOINT;
        for (int k = 0; k < n; k++) {
            const int of_two = k >= of[0].n_parts;
            const sti_RobotPart *part = of_two ? &of[1].parts[k - of[0].n_parts] : &of[0].parts[k];
            if (sum != (part->kind == ST_TENDON_JOINT)) return sti_mjcf_unknown(m, at, "tendon2");
            if (!sum && part->kind != ST_TENDON_POINT && part->kind != ST_TENDON_PULLEY)
                return sti_mjcf_unknown(m, at, of_two ? "tendon2" : "tendon1");
        }
        /* the path of the second tendon follows that of the first after a pulley that divides it by -1 / c1 */
        const bool two_paths = !sum && of[1].n_parts > 0;
        STI_TRY(sti_robot_tendon(robot, sti_attribute(at, "name"), at, n + two_paths, &hold));
        hold->driven = hold->held = true;
        hold->hold = c[0];
        for (int k = 0; k < n; k++) {
            const bool of_two = k >= of[0].n_parts;
            sti_RobotPart *part = &hold->parts[of_two ? k + two_paths : k];
            *part = of_two ? of[1].parts[k - of[0].n_parts] : of[0].parts[k];
            if (of_two && sum) part->coefficient *= -c[1];
            if (of_two && part->kind == ST_TENDON_PULLEY) part->coefficient /= -c[1];
            if (sum)
                hold->hold += part->coefficient * robot->links[sti_robot_find_joint(robot, part->joint)].joint.zero;
        }
        if (two_paths) hold->parts[of[0].n_parts] = (sti_RobotPart){.kind = ST_TENDON_PULLEY, .coefficient = -1 / c[1]};
        return ST_OK;
    }
    return sti_mjcf_unknown(m, at, NULL);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

st_Status sti_mjcf_read(sti_Robot *robot, sti_Element *root)
{
    sti_Mjcf m = {.robot = robot, .root = root, .first_group = -1000000000, .last_group = 1000000000};
    sti_Place list = {NULL, "robots", 0}, place = {&list, NULL, robot->index}, fixed = {&place, "fixed", 0};
    if (json_object_get(robot->entry, "fixed") != NULL)
        return sti_report(
            robot->reader, &fixed, ST_ERR_FORMAT,
            "robot \"%.80s\": fixed is for URDF and must be left out: in MJCF, a body with a free joint moves freely",
            robot->file);
    STI_TRY(sti_mjcf_expand(&m, root));

    for (const sti_Element *at = m.root->first; at != NULL; at = at->next) {
        if (sti_mjcf_word("compiler option default asset worldbody contact equality actuator tendon sensor keyframe",
                          at->name))
            continue;
        if (sti_element_is(at, "deformable")) { /* skins only concern appearance */
            for (const sti_Element *child = at->first; child != NULL; child = child->next)
                if (!sti_element_is(child, "skin"))
                    STI_TRY(sti_note_problem(m.robot, sti_mjcf_unknown(&m, child, NULL)));
            sti_skip(m.robot, "<skin>");
            continue;
        }
        /* <extension> declares plugins; elements that use one are refused, except sensors */
        if (sti_mjcf_word("size visual statistic custom extension", at->name)) {
            char what[40];
            snprintf(what, sizeof what, "<%.30s>", at->name);
            const char *kept = sti_xml_keep_text(m.robot->files, what);
            if (kept == NULL) return sti_robot_memory(m.robot);
            if (!sti_element_is(at, "size") && !sti_element_is(at, "visual")) sti_skip(m.robot, kept);
            continue;
        }
        STI_TRY(sti_note_problem(m.robot, sti_mjcf_unknown(&m, at, NULL)));
    }
    STI_TRY(sti_mjcf_check_classes(&m, root));
    double h = 0.002, gravity[3] = {0, 0, -9.81};
    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        if (sti_element_is(at, "compiler")) STI_TRY(sti_note_problem(robot, read_compiler(&m, at)));
        if (sti_element_is(at, "option")) STI_TRY(sti_note_problem(robot, read_option(&m, at, &h, gravity)));
        if (sti_element_is(at, "default")) STI_TRY(sti_mjcf_check_defaults(&m, at));
    }
    STI_TRY(write_option(&m, h, gravity));
    sti_RobotLink *world = sti_robot_link(robot, "world", root, -1);
    if (world == NULL) return sti_robot_memory(robot);
    world->world = true;
    for (const sti_Element *at = root->first; at != NULL; at = at->next) {
        if (!sti_element_is(at, "worldbody")) continue;
        STI_TRY(read_content(&m, 0, at));
        STI_TRY(read_bodies(&m, at, 0));
    }
    STI_TRY(sti_mjcf_bound_masses(&m));
    double sum = 0; /* settotalmass scales all masses and inertias by one factor */
    for (int k = 1; k < robot->n_links; k++)
        sum += robot->links[k].mass;
    for (int k = 1; k < robot->n_links && m.total_mass > 0 && sum > 0; k++) {
        robot->links[k].mass *= m.total_mass / sum;
        for (int i = 0; i < 9; i++)
            robot->links[k].inertia.m[i] *= m.total_mass / sum;
    }
    STI_TRY(sti_mjcf_springdampers(&m));
    STI_TRY(sti_mjcf_armatures(&m));
    static const char *const order[] = {"contact", "tendon", "equality", "actuator", "sensor", "keyframe"};
    for (int k = 0; k < 6; k++) /* in this order: elements that others name are read first */
        for (const sti_Element *section = root->first; section != NULL; section = section->next)
            for (const sti_Element *at = section->first; at != NULL; at = at->next)
                if (sti_element_is(section, order[k])) STI_TRY(sti_note_problem(robot, read_member(&m, section, at)));
    return ST_OK;
}
