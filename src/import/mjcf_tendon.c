/* import/mjcf_tendon.c -- the tendons of an MJCF file: sums of joint coordinates, and paths over sites and geoms. */
#include "import/mjcf.h"
#include "math/quat.h"

static st_Status read_path(sti_Mjcf *m, const sti_Element *at, sti_RobotTendon *tendon)
{
    int n = 0;
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        sti_RobotPart *part = &tendon->parts[n++];
        const sti_MjcfPlace *site;
        STI_TRY(sti_mjcf_check(m, child, "site geom sidesite divisor", ""));
        if (sti_element_is(child, "pulley")) {
            *part = (sti_RobotPart){.kind = ST_TENDON_PULLEY, .coefficient = 1};
            STI_TRY(sti_numbers(m->robot->err, child, "divisor", 1, false, &part->coefficient));
            if (!(part->coefficient > 0))
                return sti_element_fail(m->robot->err, child, "divisor is %g, must be > 0", part->coefficient);
        } else if (sti_element_is(child, "geom")) {
            const sti_MjcfPlace *geom, *side;
            STI_TRY(sti_mjcf_find_place(m, child, "geom", "geom", &geom));
            const char *type = sti_mjcf_text(m, geom->at, "type");
            const bool cylinder = type != NULL && strcmp(type, "cylinder") == 0;
            if (type != NULL && !cylinder && strcmp(type, "sphere") != 0)
                return sti_element_fail(m->robot->err, child,
                                        "geom is \"%.60s\", a %.20s, must be a sphere or a cylinder", geom->name, type);
            *part = (sti_RobotPart){.kind = cylinder ? ST_TENDON_CYLINDER : ST_TENDON_SPHERE,
                                    .link = geom->link,
                                    .point = geom->pose.p,
                                    .axis = rotate(geom->pose.q, vec3(0, 0, 1)),
                                    .radius = geom->radius};
            if (sti_attribute(child, "sidesite") != NULL) {
                STI_TRY(sti_mjcf_find_place(m, child, "sidesite", "site", &side));
                if (side->link != geom->link)
                    return sti_element_fail(m->robot->err, child,
                                            "sidesite is \"%.60s\", must be of the same body as the geom", side->name);
                part->has_side = true;
                part->side = side->pose.p;
            }
        } else if (sti_element_is(child, "site")) {
            STI_TRY(sti_mjcf_find_place(m, child, "site", "site", &site));
            *part = (sti_RobotPart){.kind = ST_TENDON_POINT, .link = site->link, .point = site->pose.p};
        } else {
            STI_TRY(sti_mjcf_unknown(m, child, NULL));
            n--;
        }
    }
    tendon->n_parts = n;
    for (int k = 0; k < m->robot->n_links && tendon->stiffness > 0 && isnan(tendon->rest); k++) {
        const sti_RobotJoint *joint = &m->robot->links[k].joint;
        if ((joint->type == ST_JOINT_REVOLUTE || joint->type == ST_JOINT_PRISMATIC) && joint->rest != joint->zero)
            return sti_remark(m->robot,
                              "tendon \"%.60s\" has no springlength: it is at rest as drawn, in MuJoCo where "
                              "all joints are at their springref",
                              tendon->name);
    }
    return ST_OK;
}

st_Status sti_mjcf_tendon(sti_Mjcf *m, const sti_Element *at)
{
    int n = 0;
    sti_RobotTendon *tendon;
    if (!sti_mjcf_word("fixed spatial", at->name)) return sti_mjcf_unknown(m, at, NULL);
    STI_TRY(sti_mjcf_check(m, at,
                           "name class range limited stiffness damping frictionloss armature springlength "
                           "actuatorfrcrange actuatorfrclimited",
                           "group width material rgba user margin solreflimit solimplimit solreffriction "
                           "solimpfriction"));
    for (const sti_Element *child = at->first; child != NULL; child = child->next)
        n++;
    if (n == 0) return sti_element_fail(m->robot->err, at, "has nothing in it, must have joints or sites");
    STI_TRY(sti_robot_tendon(m->robot, sti_attribute(at, "name"), at, n, &tendon));
    static const char *const names[] = {"stiffness", "damping", "frictionloss", "armature"};
    double value[4] = {0}, range[2] = {0, 0}, rest[2] = {-1, -1}, effort[2] = {0, 0};
    bool limited, bounded;
    int n_lengths = 0;
    for (int k = 0; k < 4; k++)
        STI_TRY(sti_mjcf_not_negative(m, at, names[k], &value[k]));
    STI_TRY(sti_mjcf_numbers(m, at, "range", 2, range));
    STI_TRY(sti_mjcf_numbers(m, at, "actuatorfrcrange", 2, effort));
    STI_TRY(sti_mjcf_limited(m, at, "limited", range, &limited));
    STI_TRY(sti_mjcf_limited(m, at, "actuatorfrclimited", effort, &bounded));
    const sti_Element *lengths = sti_mjcf_holder(m, at, "springlength");
    if (lengths != NULL) STI_TRY(sti_some_numbers(m->robot->err, lengths, "springlength", 1, 2, &n_lengths, rest));
    if (n_lengths == 1) rest[1] = rest[0];
    tendon->stiffness = m->no_springs ? 0 : value[0];
    tendon->damping = m->no_dampers ? 0 : value[1];
    tendon->friction = m->no_friction ? 0 : value[2];
    tendon->armature = value[3];
    if (rest[0] >= 0 || rest[1] >= 0) {
        if (!(rest[0] <= rest[1]))
            return sti_element_fail(m->robot->err, lengths,
                                    "springlength is %g %g, the first must be at most the second", rest[0], rest[1]);
        tendon->rest = rest[0];
        tendon->slack = rest[1] - rest[0];
    }
    if (bounded && effort[0] < effort[1])
        tendon->effort = (effort[1] - effort[0]) / 2, tendon->effort_mid = (effort[0] + effort[1]) / 2;
    if (limited && !m->no_limits) {
        if (!(range[0] < range[1]))
            return sti_element_fail(m->robot->err, at, "range is %g %g, the first must be below the second", range[0],
                                    range[1]);
        tendon->lower = range[0];
        tendon->upper = range[1];
    }
    if (!sti_element_is(at, "fixed")) return read_path(m, at, tendon);
    int n_parts = 0;
    double relaxed = 0; /* its value where all joints are at their springref: the rest length without springlength */
    for (const sti_Element *child = at->first; child != NULL; child = child->next) {
        sti_RobotJoint *joint = NULL;
        double coefficient = 1;
        STI_TRY(sti_mjcf_check(m, child, "joint coef", ""));
        STI_TRY(sti_mjcf_find_joint(m, child, "joint", &joint));
        STI_TRY(sti_numbers(m->robot->err, child, "coef", 1, false, &coefficient));
        if (coefficient == 0) continue;
        tendon->parts[n_parts++] =
            (sti_RobotPart){.kind = ST_TENDON_JOINT, .joint = joint->name, .coefficient = coefficient};
        relaxed += coefficient * joint->rest;
    }
    tendon->n_parts = n_parts;
    if (isnan(tendon->rest)) tendon->rest = relaxed;
    return ST_OK;
}
