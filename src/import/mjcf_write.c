/* import/mjcf_write.c -- writes a scene as an MJCF file, for use in MuJoCo.
 *
 * Joints arrange the bodies in trees: the parent of a body is the first body that a joint connects it to; a body
 * without one is free. A joint between two bodies that are already in a tree closes a loop and becomes an
 * <equality>. Motors become <general> actuators. Their bias is the force of the scene's motor, so that a control of
 * 0 gives the motion of the scene. Frames of bodies are at the centres of mass. Features that MJCF does not have are
 * listed in a comment. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "base/number.h"
#include "math/quat.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/grains.h>
#include <stiction/io.h>

#include "base/base.h"

typedef struct Writer {
    FILE *out;
    const st_Scene *scene;
    int *parent, *joint; /* parent body and joint (from 1) of each body; -1: not placed, 0: the world */
    bool *used;          /* for each joint: it is in a tree */
    char *left;          /* features that were not written, one per line; malloc'd */
} Writer;

static void note(Writer *w, const char *format, ...) STI_PRINTF(2, 3);
static void note(Writer *w, const char *format, ...)
{
    char line[400];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const size_t used = w->left != NULL ? strlen(w->left) : 0;
    char *grown = realloc(w->left, used + strlen(line) + 2);
    if (grown == NULL) return;
    w->left = grown;
    snprintf(grown + used, strlen(line) + 2, "%s\n", line);
}

static void indent(const Writer *w, int depth)
{
    fprintf(w->out, "%*s", 2 * depth, "");
}

/* Writes a name as an attribute; quotes and brackets are escaped. */
static void put_name(const Writer *w, const char *key, const char *name, const char *suffix)
{
    fprintf(w->out, " %s=\"", key);
    for (const char *c = name; *c != '\0'; c++)
        switch (*c) {
        case '"':
            fputs("&quot;", w->out);
            break;
        case '&':
            fputs("&amp;", w->out);
            break;
        case '<':
            fputs("&lt;", w->out);
            break;
        default:
            fputc(*c, w->out);
        }
    fprintf(w->out, "%s\"", suffix);
}

/* Writes numbers and fixed text, with a decimal point in every locale. */
STI_PRINTF(2, 3) static void put(const Writer *w, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sti_number_point(text);
    fputs(text, w->out);
}

static void put_number(const Writer *w, const char *key, double x)
{
    put(w, " %s=\"%.17g\"", key, x);
}

static void put_vector(const Writer *w, const char *key, st_Vec3 v)
{
    put(w, " %s=\"%.17g %.17g %.17g\"", key, v.x, v.y, v.z);
}

static void put_pose(const Writer *w, st_Pose pose)
{
    if (norm(pose.p) > 0) put_vector(w, "pos", pose.p);
    if (pose.q.x != 0 || pose.q.y != 0 || pose.q.z != 0)
        put(w, " quat=\"%.17g %.17g %.17g %.17g\"", pose.q.w, pose.q.x, pose.q.y, pose.q.z);
}

static st_BodyDef body_of(const Writer *w, int b)
{
    st_BodyDef def = st_body_def();
    st_scene_body(w->scene, (st_BodyId){b}, &def);
    if (b == 0) def.pose = pose_identity();
    return def;
}

/* ---- shapes ------------------------------------------------------------------------------------------ */

static void put_shape(Writer *w, int k, int depth)
{
    st_ShapeDef s;
    if (st_scene_shape(w->scene, (st_ShapeId){k}, &s, NULL) != ST_OK) return;
    const bool points = s.type == ST_SHAPE_HULL || s.type == ST_SHAPE_MESH;
    static const char *const types[ST_N_SHAPE_TYPES] = {
        [ST_SHAPE_SPHERE] = "sphere",   [ST_SHAPE_BOX] = "box",           [ST_SHAPE_PLANE] = "plane",
        [ST_SHAPE_CAPSULE] = "capsule", [ST_SHAPE_CYLINDER] = "cylinder", [ST_SHAPE_ELLIPSOID] = "ellipsoid",
        [ST_SHAPE_HULL] = "mesh",       [ST_SHAPE_MESH] = "mesh"};
    if (types[s.type] == NULL) {
        note(w, "shape \"%.80s\": a %s has no geom", s.name, st_shape_type_name(s.type));
        return;
    }
    indent(w, depth);
    fprintf(w->out, "<geom type=\"%s\"", types[s.type]);
    put_pose(w, s.pose);
    if (points) fprintf(w->out, " mesh=\"mesh%d\"", k);
    if (s.type == ST_SHAPE_SPHERE) put_number(w, "size", s.radius);
    if (s.type == ST_SHAPE_PLANE) fputs(" size=\"0 0 1\"", w->out);
    if (s.type == ST_SHAPE_BOX || s.type == ST_SHAPE_ELLIPSOID) put_vector(w, "size", s.half);
    if (s.type == ST_SHAPE_CAPSULE || s.type == ST_SHAPE_CYLINDER)
        put(w, " size=\"%.17g %.17g\"", s.radius, s.length / 2);
    put(w, " mass=\"0\" friction=\"%.17g %.17g %.17g\"", s.mu, s.spinning, s.rolling);
    if (norm(s.surface_velocity) > 0) put_vector(w, "surfacevel", s.surface_velocity);
    if (s.rolling > 0 || s.spinning > 0) fprintf(w->out, " condim=\"%d\"", s.rolling > 0 ? 6 : 4);
    if (s.groups != 1 || s.mask != UINT32_MAX)
        fprintf(w->out, " contype=\"%u\" conaffinity=\"%u\"", s.groups & 0x7fffffffu, s.mask & 0x7fffffffu);
    if (s.color != 0)
        put(w, " rgba=\"%.3g %.3g %.3g %.3g\"", (s.color >> 24) / 255.0, (s.color >> 16 & 255) / 255.0,
            (s.color >> 8 & 255) / 255.0, (s.color & 255) / 255.0);
    fputs("/>\n", w->out);
}

static void put_shapes(Writer *w, int body, int depth)
{
    for (int k = 1; k <= st_scene_shape_count(w->scene); k++) {
        st_ShapeDef s;
        st_BodyId owner;
        if (st_scene_shape(w->scene, (st_ShapeId){k}, &s, &owner) == ST_OK && owner.index1 == body)
            put_shape(w, k, depth);
    }
}

/* ---- bodies and joints ------------------------------------------------------------------------------- */

/* Finds the parents: fixed bodies are part of the world; each other body has the first joint that reaches it. */
static void find_tree(const Writer *w)
{
    const int n = st_scene_body_count(w->scene) + 1;
    w->parent[0] = 0;
    for (int b = 1; b < n; b++)
        if (body_of(w, b).fixed) w->parent[b] = 0;
    for (;;) {
        bool grown = false;
        for (int j = 1; j <= st_scene_joint_count(w->scene); j++) {
            st_JointDef joint;
            if (st_scene_joint(w->scene, (st_JointId){j}, &joint) != ST_OK || w->used[j] ||
                !(joint.type == ST_JOINT_FIXED || joint.type == ST_JOINT_BALL || joint.type == ST_JOINT_REVOLUTE ||
                  joint.type == ST_JOINT_PRISMATIC || joint.type == ST_JOINT_CYLINDRICAL ||
                  joint.type == ST_JOINT_UNIVERSAL || joint.type == ST_JOINT_PLANAR))
                continue;
            const int a = joint.a.index1, b = joint.b.index1;
            if ((w->parent[a] >= 0) == (w->parent[b] >= 0)) continue;
            const int child = w->parent[a] >= 0 ? b : a;
            w->parent[child] = child == b ? a : b;
            w->joint[child] = j;
            w->used[j] = grown = true;
        }
        if (grown) continue;
        int root = 1; /* no joint leads further: the next body is free */
        while (root < n && w->parent[root] >= 0)
            root++;
        if (root == n) return;
        w->parent[root] = 0;
    }
}

/* Writes the joint of a body in the frame of the body. sign: -1 if the body is the joint's a. */
static void put_joint(Writer *w, int body, int depth)
{
    st_JointDef j;
    if (w->joint[body] == 0) {
        indent(w, depth);
        fputs("<freejoint/>\n", w->out);
        return;
    }
    if (st_scene_joint(w->scene, (st_JointId){w->joint[body]}, &j) != ST_OK || j.type == ST_JOINT_FIXED) return;
    const st_Pose pose = body_of(w, body).pose;
    const double sign = j.b.index1 == body ? 1 : -1;
    const st_Vec3 point = rotate_back(pose.q, sub(j.point, pose.p));
    const st_Vec3 axis = scale(sign, rotate_back(pose.q, j.axis)), axis_b = scale(sign, rotate_back(pose.q, j.axis_b));
    const bool two = j.type == ST_JOINT_CYLINDRICAL || j.type == ST_JOINT_UNIVERSAL;
    const bool slides = j.type == ST_JOINT_PRISMATIC || (two && j.coordinate == ST_COORDINATE_DISPLACEMENT);
    for (int k = 0; k < 2 && j.type == ST_JOINT_PLANAR; k++) { /* two slides across the axis of the hinge */
        indent(w, depth);
        fputs("<joint", w->out);
        put_name(w, "name", j.name, k == 0 ? ".first" : ".second");
        fputs(" type=\"slide\"", w->out);
        put_vector(w, "axis", rotate(st_quat_from_z(axis), k == 0 ? vec3(1, 0, 0) : vec3(0, 1, 0)));
        fputs("/>\n", w->out);
    }
    for (int k = 0; k < (two ? 2 : 1); k++) {
        const bool slide = j.type == ST_JOINT_CYLINDRICAL ? (k == 0) == slides : slides;
        const double lower = k == 0 ? j.lower : j.other_lower, upper = k == 0 ? j.upper : j.other_upper;
        indent(w, depth);
        fputs("<joint", w->out);
        put_name(w, "name", j.name, k == 0 ? "" : ".other");
        fprintf(w->out, " type=\"%s\"", j.type == ST_JOINT_BALL ? "ball" : slide ? "slide" : "hinge");
        put_vector(w, "pos", point);
        if (j.type != ST_JOINT_BALL) put_vector(w, "axis", j.type == ST_JOINT_UNIVERSAL && k == 1 ? axis_b : axis);
        if (j.type == ST_JOINT_BALL && j.coordinate == ST_COORDINATE_SWING && isfinite(upper))
            put(w, " range=\"0 %.17g\"", upper);
        if (j.type != ST_JOINT_BALL && (isfinite(lower) || isfinite(upper)))
            put(w, " range=\"%.17g %.17g\"", isfinite(lower) ? lower : -1e6, isfinite(upper) ? upper : 1e6);
        if (k == 0 && j.type != ST_JOINT_BALL) {
            if (j.damping > 0) put_number(w, "damping", j.damping);
            if (j.stiffness > 0) put_number(w, "stiffness", j.stiffness);
            if (j.stiffness > 0 && isfinite(j.rest) && j.rest != 0) put_number(w, "springref", j.rest);
            if (j.armature > 0) put_number(w, "armature", j.armature);
            if (j.friction > 0) put_number(w, "frictionloss", j.friction);
        }
        fputs("/>\n", w->out);
    }
}

/* Writes points of paths, springs and forces on a body as sites, and the shapes that paths wrap around as geoms. */
static void put_sites(Writer *w, int body, int depth)
{
    const st_Pose pose = body_of(w, body).pose;
    for (int k = 1; k <= st_scene_joint_count(w->scene); k++) {
        st_JointDef j;
        if (st_scene_joint(w->scene, (st_JointId){k}, &j) != ST_OK || j.type != ST_JOINT_TENDON) continue;
        for (int i = 0; i < j.n_path; i++) {
            const st_TendonPoint *part = &j.path[i];
            if (part->kind == ST_TENDON_JOINT || part->kind == ST_TENDON_PULLEY || part->body.index1 != body) continue;
            indent(w, depth);
            if (part->kind == ST_TENDON_POINT || part->kind == ST_TENDON_SLIDER) {
                fprintf(w->out, "<site name=\"path%d.%d\"", k, i);
                put_vector(w, "pos", part->point);
                if (part->kind == ST_TENDON_SLIDER) put_vector(w, "zaxis", part->axis);
            } else {
                const bool ball = part->kind == ST_TENDON_SPHERE;
                fprintf(
                    w->out,
                    "<geom name=\"path%d.%d\" type=\"%s\" size=\"%.17g%s\" mass=\"0\" contype=\"0\" conaffinity=\"0\"",
                    k, i, ball ? "sphere" : "cylinder", part->radius, ball ? "" : " 1");
                put_pose(w, (st_Pose){part->point, ball ? pose_identity().q : st_quat_from_z(part->axis)});
            }
            fputs("/>\n", w->out);
            if (part->kind == ST_TENDON_POINT || part->kind == ST_TENDON_SLIDER || !part->has_side) continue;
            indent(w, depth);
            fprintf(w->out, "<site name=\"side%d.%d\"", k, i);
            put_vector(w, "pos", part->side);
            fputs("/>\n", w->out);
        }
    }
    for (int k = 1; k <= st_scene_spring_count(w->scene); k++) {
        st_SpringDef s;
        if (st_scene_spring(w->scene, (st_SpringId){k}, &s) != ST_OK || s.type != ST_SPRING_LINEAR) continue;
        for (int end = 0; end < 2; end++) {
            if ((end == 0 ? s.a : s.b).index1 != body) continue;
            indent(w, depth);
            fprintf(w->out, "<site name=\"spring%d.%d\"", k, end);
            put_vector(w, "pos", rotate_back(pose.q, sub(end == 0 ? s.point_a : s.point_b, pose.p)));
            fputs("/>\n", w->out);
        }
    }
    for (int k = 1; k <= st_scene_force_count(w->scene); k++) {
        st_ForceDef f;
        if (st_scene_force(w->scene, (st_ForceId){k}, &f) != ST_OK || f.body.index1 != body || !f.body_axes) continue;
        indent(w, depth);
        fprintf(w->out, "<site name=\"force%d\"", k);
        put_vector(w, "pos", f.point);
        fputs("/>\n", w->out);
        if (!(norm(f.ellipsoid) > 0)) continue;
        indent(w, depth);
        put(w,
            "<geom name=\"fluid%d\" type=\"ellipsoid\" size=\"%.17g %.17g %.17g\" mass=\"0\" contype=\"0\" "
            "conaffinity=\"0\" fluidshape=\"ellipsoid\" fluidcoef=\"%.17g %.17g %.17g %.17g %.17g\"",
            k, f.ellipsoid.x, f.ellipsoid.y, f.ellipsoid.z, f.blunt_drag, f.slender_drag, f.angular_drag, f.kutta_lift,
            f.magnus_lift);
        put_pose(w, (st_Pose){f.point, f.orientation});
        fputs("/>\n", w->out);
    }
}

static void put_body(Writer *w, int b, int depth)
{
    const st_BodyDef def = body_of(w, b);
    const st_Pose above = body_of(w, w->parent[b]).pose;
    const st_Pose pose = {rotate_back(above.q, sub(def.pose.p, above.p)),
                          quat_product(quat_conjugate(above.q), def.pose.q)};
    double mass;
    st_Mat3 I;
    indent(w, depth);
    fputs("<body", w->out);
    put_name(w, "name", def.name, "");
    put_pose(w, pose);
    if (def.gravity != 1) put_number(w, "gravcomp", 1 - def.gravity);
    fputs(">\n", w->out);
    if (!def.fixed) {
        if (def.locks != 0) note(w, "body \"%.80s\": locked degrees of freedom", def.name);
        if (norm(def.velocity) > 0 || norm(def.spin) > 0)
            note(w, "body \"%.80s\": its velocity at the start", def.name);
        if (st_scene_body_mass(w->scene, (st_BodyId){b}, &mass, &I, NULL) == ST_OK) {
            indent(w, depth + 1);
            put(w, "<inertial pos=\"0 0 0\" mass=\"%.17g\" fullinertia=\"%.17g %.17g %.17g %.17g %.17g %.17g\"/>\n",
                mass, I.m[0], I.m[4], I.m[8], I.m[1], I.m[2], I.m[5]);
        }
        put_joint(w, b, depth + 1);
    }
    put_shapes(w, b, depth + 1);
    put_sites(w, b, depth + 1);
    for (int c = 1; c <= st_scene_body_count(w->scene); c++)
        if (w->parent[c] == b && c != b) put_body(w, c, depth + 1);
    indent(w, depth);
    fputs("</body>\n", w->out);
}

/* ---- the rest ---------------------------------------------------------------------------------------- */

static void put_actuators(Writer *w)
{
    fputs("  <actuator>\n", w->out);
    for (int k = 1; k <= st_scene_joint_count(w->scene); k++) {
        st_JointDef j;
        if (st_scene_joint(w->scene, (st_JointId){k}, &j) != ST_OK || j.motor.type == ST_MOTOR_NONE) continue;
        const st_MotorDef *m = &j.motor;
        const bool tendon = j.type == ST_JOINT_TENDON;
        const double wanted = m->offset + m->target;
        if (tendon && m->type == ST_MOTOR_MOTION) continue; /* written as an <equality> */
        if (m->profile.type != ST_PROFILE_CONSTANT || m->type == ST_MOTOR_MOTION ||
            (m->type == ST_MOTOR_SPEED && !(m->damping > 0)) || (!w->used[k] && !tendon)) {
            note(w, "joint \"%.80s\": its %s motor", j.name, st_motor_type_name(m->type));
            continue;
        }
        const double gain = m->type == ST_MOTOR_POSITION ? m->stiffness : m->type == ST_MOTOR_SPEED ? m->damping : 1;
        fputs("    <general", w->out);
        put_name(w, "name", j.name, ".motor");
        if (tendon && j.path[0].kind == ST_TENDON_SLIDER)
            put(w, " cranksite=\"path%d.1\" slidersite=\"path%d.0\" cranklength=\"%.17g\"", k, k,
                j.path[0].coefficient);
        else
            put_name(w, tendon ? "tendon" : "joint", j.name, "");
        put(w, " gainprm=\"%.17g\" biastype=\"affine\" biasprm=\"%.17g %.17g %.17g\"", gain, gain * wanted,
            m->type == ST_MOTOR_POSITION ? -m->stiffness : 0.0, m->type == ST_MOTOR_FORCE ? 0.0 : -m->damping);
        if (isfinite(m->max_force))
            put(w, " forcerange=\"%.17g %.17g\"", m->mid_force - m->max_force, m->mid_force + m->max_force);
        if (m->lag > 0) put(w, " dyntype=\"filterexact\" dynprm=\"%.17g\"", m->lag);
        if (m->integrate) fputs(" dyntype=\"integrator\"", w->out);
        if (m->lowest < m->highest && isfinite(m->lowest) && isfinite(m->highest))
            put(w,
                m->integrate ? " actlimited=\"true\" actrange=\"%.17g %.17g\""
                             : " ctrllimited=\"true\" ctrlrange=\"%.17g %.17g\"",
                m->lowest - wanted, m->highest - wanted);
        fputs("/>\n", w->out);
    }

    /* A force in the axes of its body becomes an actuator at a site, with the force as its bias. */
    for (int k = 1; k <= st_scene_force_count(w->scene); k++) {
        st_ForceDef f;
        if (st_scene_force(w->scene, (st_ForceId){k}, &f) != ST_OK) continue;
        if (norm(f.ellipsoid) > 0 && norm(f.force) == 0 && norm(f.torque) == 0) continue; /* written as a geom */
        if (!f.body_axes || f.profile.type != ST_PROFILE_CONSTANT) {
            note(w, "force \"%.80s\"", f.name);
            continue;
        }
        if (f.adhesion) { /* MuJoCo's initial control is 0, moved inside its range */
            st_BodyDef body;
            if (st_scene_body(w->scene, f.body, &body) != ST_OK) continue;
            fputs("    <adhesion", w->out);
            put_name(w, "name", f.name, "");
            put_name(w, "body", body.name, "");
            put(w, " ctrlrange=\"%.17g 1e10\"/>\n", norm(f.force));
            continue;
        }
        fputs("    <general", w->out);
        put_name(w, "name", f.name, "");
        fprintf(
            w->out,
            " site=\"force%d\" biastype=\"affine\" biasprm=\"1 0 0\" gear=\"%.17g %.17g %.17g %.17g %.17g %.17g\"/>\n",
            k, f.force.x, f.force.y, f.force.z, f.torque.x, f.torque.y, f.torque.z);
    }
    fputs("  </actuator>\n", w->out);
}

static void put_all(Writer *w, const st_SystemDef *def, const char *name)
{
    const st_Scene *scene = w->scene;
    fputs("<mujoco", w->out);
    put_name(w, "model", name != NULL ? name : "scene", "");
    fputs(">\n  <compiler angle=\"radian\" autolimits=\"true\"/>\n  <option", w->out);
    put_number(w, "timestep", def->h);
    put_vector(w, "gravity", def->gravity);
    if (def->medium.density > 0) put_number(w, "density", def->medium.density);
    if (def->medium.viscosity > 0) put_number(w, "viscosity", def->medium.viscosity);
    if (norm(def->medium.wind) > 0) put_vector(w, "wind", def->medium.wind);
    fputs("/>\n", w->out);
    bool any = false;
    for (int k = 1; k <= st_scene_shape_count(w->scene); k++) {
        st_ShapeDef s;
        if (st_scene_shape(w->scene, (st_ShapeId){k}, &s, NULL) != ST_OK) continue;
        if (s.type != ST_SHAPE_HULL && s.type != ST_SHAPE_MESH) continue;
        if (!any) fputs("  <asset>\n", w->out);
        any = true;
        fprintf(w->out, "    <mesh name=\"mesh%d\" inertia=\"convex\" vertex=\"", k);
        for (int i = 0; i < s.n_points; i++)
            put(w, "%s%.9g %.9g %.9g", i > 0 ? " " : "", s.points[i].x, s.points[i].y, s.points[i].z);
        fputs("\"/>\n", w->out);
    }
    if (any) fputs("  </asset>\n", w->out);
    fputs("  <worldbody>\n", w->out);
    put_shapes(w, 0, 2);
    put_sites(w, 0, 2);
    for (int b = 1; b <= st_scene_body_count(scene); b++)
        if (w->parent[b] == 0) put_body(w, b, 2);
    fputs("  </worldbody>\n", w->out);
    /* Springs between two points also become tendons. */
    fputs("  <tendon>\n", w->out);
    for (int k = 1; k <= st_scene_joint_count(w->scene); k++) {
        st_JointDef j;
        if (st_scene_joint(w->scene, (st_JointId){k}, &j) == ST_OK && j.type == ST_JOINT_TENDON) {
            const bool sum = j.path[0].kind == ST_TENDON_JOINT;
            double divisor = 1; /* of the pulley after which a second tendon is written */
            st_JointDef part;
            if (j.path[0].kind == ST_TENDON_SLIDER) continue; /* written with its actuator */
            fprintf(w->out, "    <%s", sum ? "fixed" : "spatial");
            put_name(w, "name", j.name, "");
            if (isfinite(j.lower) || isfinite(j.upper))
                put(w, " range=\"%.17g %.17g\"", isfinite(j.lower) ? j.lower : -1e6, isfinite(j.upper) ? j.upper : 1e6);
            if (j.stiffness > 0) put_number(w, "stiffness", j.stiffness);
            if (j.stiffness > 0 && isfinite(j.rest)) put(w, " springlength=\"%.17g %.17g\"", j.rest, j.rest + j.slack);
            if (j.damping > 0) put_number(w, "damping", j.damping);
            if (j.friction > 0) put_number(w, "frictionloss", j.friction);
            if (j.armature > 0) put_number(w, "armature", j.armature);
            fputs(">", w->out);
            for (int i = 0; i < j.n_path; i++) {
                const st_TendonPoint *at = &j.path[i];
                if (at->kind == ST_TENDON_JOINT && st_scene_joint(w->scene, at->joint, &part) == ST_OK) {
                    fputs("<joint", w->out);
                    put_name(w, "joint", part.name, "");
                    put(w, " coef=\"%.17g\"/>", at->coefficient);
                } else if (at->kind == ST_TENDON_PULLEY && at->coefficient < 0 && divisor > 0) {
                    divisor = at->coefficient; /* MuJoCo has no negative divisors */
                    fputs("</spatial>\n    <spatial", w->out);
                    put_name(w, "name", j.name, ".follows");
                    fputs(">", w->out);
                    if (j.motor.type != ST_MOTOR_MOTION)
                        note(w, "tendon \"%.80s\": lengths after a pulley with a negative divisor", j.name);
                } else if (at->kind == ST_TENDON_PULLEY) {
                    put(w, "<pulley divisor=\"%.17g\"/>", at->coefficient / divisor);
                } else if (at->kind == ST_TENDON_POINT) {
                    fprintf(w->out, "<site site=\"path%d.%d\"/>", k, i);
                } else if (at->kind != ST_TENDON_JOINT) {
                    fprintf(w->out, "<geom geom=\"path%d.%d\"", k, i);
                    if (at->has_side) fprintf(w->out, " sidesite=\"side%d.%d\"", k, i);
                    fputs("/>", w->out);
                }
            }
            fprintf(w->out, "</%s>\n", sum ? "fixed" : "spatial");
        }
    }
    for (int k = 1; k <= st_scene_spring_count(w->scene); k++) {
        st_SpringDef s;
        if (st_scene_spring(w->scene, (st_SpringId){k}, &s) != ST_OK) continue;
        if (s.type != ST_SPRING_LINEAR) {
            note(w, "spring \"%.80s\": a %s spring", s.name, st_spring_type_name(s.type));
            continue;
        }
        fputs("    <spatial", w->out);
        put_name(w, "name", s.name, ".spring");
        put_number(w, "stiffness", s.stiffness);
        put_number(w, "damping", s.damping);
        put_number(w, "springlength", isfinite(s.rest) ? s.rest : norm(sub(s.point_b, s.point_a)));
        fprintf(w->out, "><site site=\"spring%d.0\"/><site site=\"spring%d.1\"/></spatial>\n", k, k);
    }
    fputs("  </tendon>\n", w->out);

    fputs("  <equality>\n", w->out);
    for (int k = 1; k <= st_scene_joint_count(w->scene); k++) {
        st_JointDef j, a, b;
        if (w->used[k] || st_scene_joint(w->scene, (st_JointId){k}, &j) != ST_OK) continue;
        if (j.type == ST_JOINT_GEAR && st_scene_joint(w->scene, j.joint_a, &a) == ST_OK &&
            st_scene_joint(w->scene, j.joint_b, &b) == ST_OK) {
            fputs("    <joint", w->out);
            put_name(w, "joint1", a.name, "");
            put_name(w, "joint2", b.name, "");
            put(w, " polycoef=\"0 %.17g %.17g %.17g %.17g\"/>\n", j.ratio, j.curve.x, j.curve.y, j.curve.z);
        } else if (j.type == ST_JOINT_BALL || j.type == ST_JOINT_FIXED || j.type == ST_JOINT_REVOLUTE) {
            const st_BodyDef one = body_of(w, j.a.index1), two = body_of(w, j.b.index1);
            /* a hinge that closes a loop: connect two points of its axis */
            for (int end = 0; end < (j.type == ST_JOINT_REVOLUTE ? 2 : 1); end++) {
                const st_Vec3 at = add(j.point, scale(0.1 * end, j.axis));
                fprintf(w->out, "    <%s", j.type == ST_JOINT_FIXED ? "weld" : "connect");
                put_name(w, "body1", j.a.index1 == 0 ? "world" : one.name, "");
                put_name(w, "body2", j.b.index1 == 0 ? "world" : two.name, "");
                if (j.type != ST_JOINT_FIXED) put_vector(w, "anchor", rotate_back(one.pose.q, sub(at, one.pose.p)));
                fputs("/>\n", w->out);
            }
        } else if (j.type == ST_JOINT_TENDON && j.motor.type == ST_MOTOR_MOTION) { /* a tendon of constant length */
            int split = 0;
            while (split < j.n_path && !(j.path[split].kind == ST_TENDON_PULLEY && j.path[split].coefficient < 0))
                split++;
            fputs("    <tendon", w->out);
            put_name(w, "tendon1", j.name, "");
            if (split < j.n_path) {
                put_name(w, "tendon2", j.name, ".follows");
                put(w, " polycoef=\"0 %.17g 0 0 0\"", -1 / j.path[split].coefficient);
            }
            fputs("/>\n", w->out);
        } else if (j.type != ST_JOINT_TENDON) {
            note(w, "joint \"%.80s\": a %s joint that is not part of the tree", j.name, st_joint_type_name(j.type));
        }
    }
    fputs("  </equality>\n", w->out);
    put_actuators(w);
    /* Pairs of bodies that do not touch. A body and its parent do not touch in MuJoCo either. */
    const int n = st_scene_excluded_count(w->scene);
    if (n != 0) {
        fputs("  <contact>\n", w->out);
        for (int k = 0; k < n; k++) {
            st_BodyId a, b;
            if (st_scene_excluded(w->scene, k, &a, &b) != ST_OK || a.index1 == b.index1) continue;
            const st_BodyDef one = body_of(w, a.index1), two = body_of(w, b.index1);
            fputs("    <exclude", w->out);
            put_name(w, "body1", a.index1 == 0 ? "world" : one.name, "");
            put_name(w, "body2", b.index1 == 0 ? "world" : two.name, "");
            fputs("/>\n", w->out);
        }
        fputs("  </contact>\n", w->out);
    }
    if (st_scene_material_pair_count(scene) > 0) note(w, "%d material pairs", st_scene_material_pair_count(scene));
    if (st_scene_measure_count(scene) > 0) note(w, "%d measures", st_scene_measure_count(scene));
    if (st_scene_keyframe_count(scene) > 0) note(w, "%d keyframes", st_scene_keyframe_count(scene));
    fputs("</mujoco>\n", w->out);
}

st_Status st_scene_write_mjcf(const st_Scene *scene, const st_SystemDef *def, const char *name, char **text,
                              char **remarks, st_Error *err)
{
    if (scene == NULL || def == NULL || text == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_scene_write_mjcf: scene, def and text must be given");
    const size_t bodies = (size_t)st_scene_body_count(scene) + 1, joints = (size_t)st_scene_joint_count(scene) + 1;
    Writer w = {.scene = scene};
    size_t size = 0;
    *text = NULL;
    if (remarks != NULL) *remarks = NULL;
    w.parent = malloc(bodies * sizeof *w.parent);
    w.joint = calloc(bodies, sizeof *w.joint);
    w.used = calloc(joints, sizeof *w.used);
    w.out = open_memstream(text, &size);
    bool fine = w.parent != NULL && w.joint != NULL && w.used != NULL && w.out != NULL;
    for (size_t b = 0; b < bodies && fine; b++)
        w.parent[b] = -1;
    if (fine) {
        find_tree(&w);
        put_all(&w, def, name);
        fine = ferror(w.out) == 0;
    }
    if (w.out != NULL && fclose(w.out) != 0) fine = false;
    free(w.parent);
    free(w.joint);
    free(w.used);
    if (remarks != NULL && fine) {
        *remarks = w.left != NULL ? w.left : calloc(1, 1);
        w.left = NULL;
    }
    free(w.left);
    if (fine) return ST_OK;
    free(*text);
    *text = NULL;
    return sti_fail(err, ST_ERR_MEMORY, "out of memory for a file of %zu bodies", bodies - 1);
}
