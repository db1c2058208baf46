/* import/mjcf_inertia.c -- mass bounds, and gains that MJCF derives from the mass matrix as drawn.
 *
 * springdamper (T, z) of a joint makes it a mass-spring-damper with time constant T and damping ratio z:
 *
 *     stiffness = m / (T z)^2,   damping = 2 m / T,    m = 1 / (inverse of M)_jj
 *
 * dampratio z of a position servo of gain kp gives  kv = 2 z sqrt(kp m)  with  m = M_jj, divided by the square of the
 * gear. M is the mass matrix in the joints' coordinates, armature included, at the pose that the file draws. */
#include "import/mjcf.h"
#include "math/principal.h"

#include <stdlib.h>

st_Status sti_mjcf_bound_masses(sti_Mjcf *m)
{
    for (int k = 1; k < m->robot->n_links; k++) {
        sti_RobotLink *link = &m->robot->links[k];
        double value[3];
        st_Vec3 axis[3];
        if (link->carries >= 0 || !link->moves) continue;
        link->mass = fmax(link->mass, m->least_mass);
        if (!(m->least_inertia > 0) && !m->balance) continue;
        mat3_principal(&link->inertia, value, axis);
        bool changed = false;
        for (int i = 0; i < 3; i++) {
            changed = changed || value[i] < m->least_inertia;
            value[i] = fmax(value[i], m->least_inertia);
        }
        if (m->balance && value[0] > value[1] + value[2]) { /* as in MuJoCo: the mean of all three */
            value[0] = value[1] = value[2] = (value[0] + value[1] + value[2]) / 3;
            changed = true;
        }
        for (int i = 0; changed && i < 9; i++) {
            const double row[3][3] = {{axis[0].x, axis[1].x, axis[2].x},
                                      {axis[0].y, axis[1].y, axis[2].y},
                                      {axis[0].z, axis[1].z, axis[2].z}};
            double sum = 0;
            for (int e = 0; e < 3; e++)
                sum += row[i / 3][e] * value[e] * row[i % 3][e];
            link->inertia.m[i] = sum;
        }
    }
    return ST_OK;
}

/* The armature A of a free joint adds A |v|^2/2 + A |w|^2/2, with v at the origin of its body: the energy of a ball
 * there, of mass A and inertia A. The weight does not change, but acts at the common centre. */
st_Status sti_mjcf_armatures(sti_Mjcf *m)
{
    for (int k = 1; k < m->robot->n_links; k++) {
        sti_RobotLink *link = &m->robot->links[k];
        const double A = link->joint.armature;
        if (A == 0 || (!link->joint.floating && link->joint.type != ST_JOINT_BALL)) continue;
        sti_RobotLink rotor = {.pose = pose_identity(), .mass = A}, whole = *link;
        link->joint.armature = 0;
        for (int i = 0; i < 3; i++)
            rotor.inertia.m[4 * i] = A;
        if (!link->joint.floating) {
            for (int i = 0; i < 3; i++)
                link->inertia.m[4 * i] += A;
            continue;
        }
        if (!(link->mass > 0)) continue;
        whole.pose = pose_identity();
        sti_join_masses(&whole, &rotor);
        link->gravity *= link->mass / whole.mass;
        if (norm(link->centre) > 1e-9)
            STI_TRY(sti_remark(m->robot, "body \"%.60s\": armature of its free joint moves its centre of mass by %g m",
                               link->name, norm(sub(link->centre, whole.centre))));
        link->mass = whole.mass, link->centre = whole.centre, link->inertia = whole.inertia;
    }
    return ST_OK;
}

/* ---- the mass matrix as drawn ------------------------------------------------------------------------ */

/* A velocity of the mechanism: a rotation or translation of all bodies that the joint carries. */
typedef struct Freedom {
    int link;
    bool turns;
    st_Vec3 at, axis; /* in the world */
} Freedom;

static int freedoms_of(const sti_RobotLink *link, int k, st_Pose pose, Freedom *out)
{
    const sti_RobotJoint *j = &link->joint;
    const st_Vec3 at = pose_point(pose, j->point), axis = rotate(pose.q, scale(1 / norm(j->axis), j->axis));
    int n = 0;
    if (j->floating || j->type == ST_JOINT_BALL) {
        for (int e = 0; e < 3 && j->floating; e++)
            out[n++] = (Freedom){k, false, pose.p, vec3_axis(e)};
        for (int e = 0; e < 3; e++)
            out[n++] = (Freedom){k, true, j->floating ? pose.p : at, vec3_axis(e)};
        return n;
    }
    if (j->type == ST_JOINT_PRISMATIC || j->type == ST_JOINT_CYLINDRICAL) out[n++] = (Freedom){k, false, at, axis};
    if (j->type == ST_JOINT_PLANAR) {
        const st_Vec3 x = orthogonal(axis);
        out[n++] = (Freedom){k, false, at, x};
        out[n++] = (Freedom){k, false, at, cross(axis, x)};
    }
    if (j->type != ST_JOINT_PRISMATIC && j->type != ST_JOINT_FIXED) out[n++] = (Freedom){k, true, at, axis};
    if (j->type == ST_JOINT_UNIVERSAL)
        out[n++] = (Freedom){k, true, at, rotate(pose.q, scale(1 / norm(j->axis_b), j->axis_b))};
    return n;
}

static bool carries(const sti_Robot *robot, int above, int link)
{
    while (link > above)
        link = robot->links[link].parent;
    return link == above;
}

typedef struct Drawn {
    int n;            /* number of freedoms */
    Freedom *freedom; /* of all links in order; malloc'd */
    double *M;        /* n x n; malloc'd                           */
    st_Pose *pose;    /* of each link; malloc'd                    */
} Drawn;

static void drawn_free(Drawn *drawn)
{
    free(drawn->freedom);
    free(drawn->M);
    free(drawn->pose);
    *drawn = (Drawn){.n = 0};
}

/* M_ij = sum over the bodies that both carry of  v_i . v_j mass + w_i . I w_j. */
static st_Status drawn_masses(const sti_Mjcf *m, Drawn *out)
{
    const sti_Robot *robot = m->robot;
    const int n_links = robot->n_links;
    st_Pose *pose = malloc((size_t)n_links * sizeof *pose);
    *out = (Drawn){.freedom = malloc(6 * (size_t)n_links * sizeof *out->freedom), .pose = pose};
    if (pose == NULL || out->freedom == NULL) {
        drawn_free(out);
        return sti_robot_memory(robot);
    }
    for (int k = 0; k < n_links; k++) {
        const sti_RobotLink *link = &robot->links[k];
        pose[k] = link->parent >= 0 ? pose_product(pose[link->parent], link->pose) : link->pose;
        out->n += freedoms_of(link, k, pose[k], out->freedom + out->n);
    }
    const int n = out->n;
    out->M = calloc((size_t)n * (size_t)n + 1, sizeof *out->M);
    for (int k = 0; k < n_links && out->M != NULL; k++) {
        const sti_RobotLink *link = &robot->links[k];
        if (!(link->mass > 0)) continue;
        const st_Vec3 centre = pose_point(pose[k], link->centre);
        const st_Mat3 I = sti_inertia_turned(pose[k].q, &link->inertia);
        for (int i = 0; i < n; i++) {
            const Freedom *a = &out->freedom[i];
            if (!carries(robot, a->link, k)) continue;
            const st_Vec3 v = a->turns ? cross(a->axis, sub(centre, a->at)) : a->axis;
            const st_Vec3 L = a->turns ? mat3_mul(&I, a->axis) : vec3(0, 0, 0);
            for (int j = 0; j <= i; j++) {
                const Freedom *b = &out->freedom[j];
                if (!carries(robot, b->link, k)) continue;
                const st_Vec3 u = b->turns ? cross(b->axis, sub(centre, b->at)) : b->axis;
                const double both = link->mass * dot(v, u) + (b->turns ? dot(L, b->axis) : 0);
                out->M[(size_t)i * (size_t)n + (size_t)j] += both;
            }
        }
    }
    for (int i = 0; i < n && out->M != NULL; i++) {
        out->M[(size_t)i * (size_t)n + (size_t)i] += robot->links[out->freedom[i].link].joint.armature;
        for (int j = 0; j < i; j++)
            out->M[(size_t)j * (size_t)n + (size_t)i] = out->M[(size_t)i * (size_t)n + (size_t)j];
    }
    if (out->M != NULL) return ST_OK;
    drawn_free(out);
    return sti_robot_memory(robot);
}

st_Status sti_mjcf_joint_inertia(const sti_Mjcf *m, int link, double *out)
{
    Drawn drawn;
    STI_TRY(drawn_masses(m, &drawn));
    *out = 0;
    for (int i = drawn.n - 1; i >= 0; i--) /* the first freedom of the link */
        if (drawn.freedom[i].link == link) *out = drawn.M[(size_t)i * (size_t)drawn.n + (size_t)i];
    drawn_free(&drawn);
    return ST_OK;
}

/* Velocity of a point of a link in the world, due to a unit velocity of a freedom. */
static st_Vec3 point_velocity(const sti_Robot *robot, const Freedom *f, int link, st_Vec3 at)
{
    if (!carries(robot, f->link, link)) return vec3(0, 0, 0);
    return f->turns ? cross(f->axis, sub(at, f->at)) : f->axis;
}

st_Status sti_mjcf_tendon_inertia(const sti_Mjcf *m, const sti_RobotTendon *tendon, double *out)
{
    const sti_Robot *robot = m->robot;
    Drawn drawn;
    STI_TRY(drawn_masses(m, &drawn));
    *out = 0;
    for (int i = 0; i < drawn.n; i++) {
        const Freedom *f = &drawn.freedom[i];
        const sti_RobotPart *last = NULL; /* the previous site */
        double change = 0, divisor = 1;
        for (int k = 0; k < tendon->n_parts; k++) {
            const sti_RobotPart *part = &tendon->parts[k];
            if (part->kind == ST_TENDON_JOINT && sti_robot_find_joint(robot, part->joint) == f->link)
                change += part->coefficient;
            if (part->kind == ST_TENDON_PULLEY) divisor = part->coefficient, last = NULL;
            if (part->kind != ST_TENDON_POINT) continue;
            if (last != NULL) {
                const st_Vec3 a = pose_point(drawn.pose[last->link], last->point);
                const st_Vec3 b = pose_point(drawn.pose[part->link], part->point), d = sub(b, a);
                const st_Vec3 v = sub(point_velocity(robot, f, part->link, b), point_velocity(robot, f, last->link, a));
                if (norm(d) > 0) change += dot(v, d) / norm(d) / divisor;
            }
            last = part;
        }
        if (fabs(change) > 1e-6) *out += drawn.M[(size_t)i * (size_t)drawn.n + (size_t)i] / (change * change);
    }
    drawn_free(&drawn);
    return ST_OK;
}

/* (inverse of M)_ii by Cholesky: |y|^2 with L y = e_i. M is overwritten by L. Returns false if M is not positive
 * definite. */
static bool inverse_diagonal(double *M, int n, double *out)
{
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            double sum = M[(size_t)i * (size_t)n + (size_t)j];
            for (int k = 0; k < j; k++)
                sum -= M[(size_t)i * (size_t)n + (size_t)k] * M[(size_t)j * (size_t)n + (size_t)k];
            if (i == j && !(sum > 0)) return false;
            const double pivot = i == j ? sqrt(sum) : M[(size_t)j * (size_t)n + (size_t)j];
            M[(size_t)i * (size_t)n + (size_t)j] = i == j ? pivot : sum / pivot;
        }
    }
    double *y = malloc((size_t)n * sizeof *y + 1);
    if (y == NULL) return false;
    for (int e = 0; e < n; e++) {
        out[e] = 0;
        for (int i = e; i < n; i++) {
            double sum = i == e ? 1 : 0;
            for (int k = e; k < i; k++)
                sum -= M[(size_t)i * (size_t)n + (size_t)k] * y[k];
            y[i] = sum / M[(size_t)i * (size_t)n + (size_t)i];
            out[e] += y[i] * y[i];
        }
    }
    free(y);
    return true;
}

st_Status sti_mjcf_springdampers(sti_Mjcf *m)
{
    bool any = false;
    for (int k = 0; k < m->robot->n_links; k++)
        any = any || m->robot->links[k].joint.time_constant > 0;
    if (!any) return ST_OK;
    Drawn drawn;
    STI_TRY(drawn_masses(m, &drawn));
    double *inverse = malloc((size_t)drawn.n * sizeof *inverse + 1);
    const bool ok = inverse != NULL && inverse_diagonal(drawn.M, drawn.n, inverse);
    st_Status status = ST_OK;
    for (int i = 0; i < drawn.n && status == ST_OK; i++) {
        sti_RobotJoint *joint = &m->robot->links[drawn.freedom[i].link].joint;
        if (!(joint->time_constant > 0)) continue;
        if (!ok) {
            status = sti_element_fail(m->robot->err, joint->at,
                                      "springdamper needs the masses of all bodies that it carries");
            break;
        }
        const double T = joint->time_constant, z = joint->damping_ratio, mass = 1 / inverse[i];
        if (!m->no_springs) joint->stiffness = mass / (T * T * z * z);
        if (!m->no_dampers) joint->damping = 2 * mass / T;
        joint->time_constant = 0;
    }
    free(inverse);
    drawn_free(&drawn);
    return status;
}
