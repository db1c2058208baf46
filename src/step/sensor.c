/* step/sensor.c -- measures of robots: the values of sensors in bodies and joints.
 *
 * A frame F is fixed in a body, a reference G in another one, or G is the world. With positions p, rotations R, and
 * velocities v, w in the world,
 *
 *     position           R_G' (p_F - p_G)                     velocity   v_F - v_G - w_G x (p_F - p_G)
 *     orientation        R_G' R_F                             spin       w_F - w_G
 *     acceleration       (v_F+ - v_F)/h - g over the last step, of the point, as an accelerometer shows it
 *
 * in the axes of G, or in those of F. Forces are those of the last step, as reports have them.
 */
#include "step/flow.h"
#include "step/step.h"

#include <stiction/query.h>

#define RAYS 16 /* of one range: surfaces of its own body that are passed over */

static st_Pose frame_pose(const sti_State *state, int body, const st_Pose *in_body)
{
    return pose_product(sti_pose(state->q, body), *in_body);
}

/* Velocity of the origin and angular velocity of a frame, world axes. */
static void frame_velocity(const sti_Model *model, const sti_State *state, int body, st_Vec3 point, st_Vec3 *v,
                           st_Vec3 *w)
{
    const sti_World *world = model->world;
    const st_Quat q = sti_pose(state->q, body).q;
    sti_body_velocity(&world->body[body], state->v, v, w);
    *w = rotate(q, *w);
    *v = add(*v, cross(*w, rotate(q, point)));
}

/* ---- made with the system -------------------------------------------------------------------------- */

static st_Status find_sensor_body(const st_Scene *scene, const sti_MeasureEntry *sensor, const char *key,
                                  const char *name, int *out, st_Error *err)
{
    *out = name != NULL ? sti_names_find(&scene->names[STI_BODY], 0, name) : 0;
    if (*out >= 0) return ST_OK;
    return sti_fail(err, ST_ERR_ARGUMENT, "measure \"%s\": %s is \"%s\", there is no body of that name", sensor->name,
                    key, name);
}

st_Status sti_sensor_create(const sti_Model *model, const sti_MeasureEntry *sensor, sti_Measured *out, st_Error *err)
{
    const sti_World *world = model->world;
    const st_Scene *scene = world->scene;
    STI_TRY(find_sensor_body(scene, sensor, "body", sensor->body, &out->body, err));
    STI_TRY(find_sensor_body(scene, sensor, "reference", sensor->reference, &out->reference, err));
    if (sensor->joint != NULL) {
        out->joint = sti_names_find(&scene->names[STI_JOINT], 0, sensor->joint) + 1;
        if (out->joint <= 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "measure \"%s\": joint is \"%s\", there is no joint of that name",
                            sensor->name, sensor->joint);
    }
    const bool below = sensor->type >= ST_MEASURE_CENTRE && sensor->type <= ST_MEASURE_ANGULAR_MOMENTUM;
    if (!below && sensor->type != ST_MEASURE_FORCE && sensor->type != ST_MEASURE_TORQUE) return ST_OK;
    out->member = sti_alloc(&model->allocator, world->n_bodies, sizeof *out->member);
    if (out->member == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for measure \"%s\"", sensor->name);
    if (out->body > 0) {
        /* The body itself and all that joints lead to from it, from a to b. Loops may be closed by any of them. */
        unsigned char *member = out->member;
        member[out->body] = 1;
        for (bool changed = true; changed;) {
            changed = false;
            for (int k = 0; k < scene->n_joints; k++) {
                const st_JointDef *joint = &scene->joint[k];
                const bool holds = joint->type != ST_JOINT_GEAR && joint->type != ST_JOINT_TENDON &&
                                   joint->type != ST_JOINT_FREE && joint->type != ST_JOINT_DISTANCE;
                if (!holds || joint->a.index1 == 0 || !member[joint->a.index1] || member[joint->b.index1]) continue;
                member[joint->b.index1] = 1;
                changed = true;
            }
        }
    } else /* of the ground: everything */
        memset(out->member + 1, 1, (size_t)world->n_bodies - 1);
    return ST_OK;
}

void sti_sensor_before_step(const sti_Model *model, const sti_State *state, const sti_MeasureEntry *sensor,
                            sti_Measured *of)
{
    if (sensor->type != ST_MEASURE_ACCELERATION && sensor->type != ST_MEASURE_ANGULAR_ACCELERATION) return;
    of->before = state->t;
    frame_velocity(model, state, of->body, sensor->frame.p, &of->velocity, &of->spin);
}

/* ---- read ------------------------------------------------------------------------------------------ */

static double sense_touch(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                          const sti_MeasureEntry *sensor, const sti_Measured *of)
{
    const st_Pose pose = sti_pose(state->q, of->body);
    double sum = 0;
    for (int k = 0; k < sti_contact_count(work); k++) {
        st_ContactReport c;
        if (sti_contact_report(model, state, work, k, &c) != ST_OK || c.joint.index1 > 0) continue;
        if (c.a.index1 != of->body && c.b.index1 != of->body) continue;
        if (st_region_holds(&sensor->region, rotate_back(pose.q, sti_lever(model->world, c.point, pose.p))))
            sum += dot(c.force, c.normal);
    }
    return sum;
}

/* Mass, centre, velocity and angular momentum about the centre, of the members. */
static void sense_below(const sti_Model *model, const sti_State *state, const sti_Measured *of, st_Vec3 *centre,
                        st_Vec3 *velocity, st_Vec3 *momentum)
{
    const sti_World *world = model->world;
    double mass = 0;
    *centre = *velocity = *momentum = vec3(0, 0, 0);
    for (int pass = 0; pass < 2; pass++) {
        for (int b = 1; b < sti_first_rotor(world); b++) {
            const sti_BodyMass *own = &world->values.body[b];
            const st_Pose pose = sti_pose(state->q, b);
            st_Vec3 v, w;
            if (!of->member[b] || !(own->mass > 0)) continue;
            sti_body_velocity(&world->body[b], state->v, &v, &w);
            if (pass == 0) {
                mass += own->mass;
                *centre = add(*centre, scale(own->mass, pose.p));
                *velocity = add(*velocity, scale(own->mass, v));
            } else {
                const st_Vec3 spin = rotate(pose.q, sti_spin_momentum(own, w));
                const st_Vec3 orbit = cross(sub(pose.p, *centre), scale(own->mass, sub(v, *velocity)));
                *momentum = add(*momentum, add(spin, orbit));
            }
        }
        if (pass == 0 && mass > 0) *centre = scale(1 / mass, *centre), *velocity = scale(1 / mass, *velocity);
    }
}

/* Force and torque that act on the body, and on all bodies that it carries, from outside through joints, motors,
 * tendons and springs; inner forces cancel. Torque about a point; world axes. */
static st_Status sense_wrench(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                              const sti_Measured *of, st_Vec3 about, st_Vec3 *force, st_Vec3 *torque, st_Error *err)
{
    const int n = sti_first_rotor(model->world) - 1; /* rotors of armatures are no bodies of the user */
    const st_Allocator *a = &model->allocator;
    st_BodyLoad *load = sti_alloc(a, n, sizeof *load);
    *force = *torque = vec3(0, 0, 0);
    if (load == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for the loads of %d bodies", n);
    const st_Status status = sti_body_loads(model, state, work, load, n, err);
    for (int b = 1; b <= n && status == ST_OK; b++) {
        static const st_Load kinds[] = {ST_LOAD_JOINT, ST_LOAD_SPRING};
        const st_Pose pose = sti_pose(state->q, b);
        for (int k = 0; k < 2 && of->member[b]; k++) {
            const st_Vec3 f = load[b - 1].force[kinds[k]];
            *force = add(*force, f);
            *torque = add(*torque, add(rotate(pose.q, load[b - 1].torque[kinds[k]]), cross(sub(pose.p, about), f)));
        }
    }
    sti_free(a, load, n, sizeof *load);
    return status;
}

/* Of a frame: in world axes, before they are turned. */
static st_Status sense_frame(const sti_Model *model, const sti_State *state, const sti_StepWork *work,
                             const sti_MeasureEntry *sensor, const sti_Measured *of, const st_Pose *frame,
                             const st_Pose *reference, st_Vec3 *out, st_Error *err)
{
    const bool relative = sensor->reference != NULL;
    const double h = state->t - of->before;
    st_Vec3 v, w, v_g = {0, 0, 0}, w_g = {0, 0, 0};
    frame_velocity(model, state, of->body, sensor->frame.p, &v, &w);
    if (relative) frame_velocity(model, state, of->reference, sensor->reference_frame.p, &v_g, &w_g);
    switch (sensor->type) {
    case ST_MEASURE_POSITION:
        *out = sub(frame->p, reference->p);
        break;
    case ST_MEASURE_AXIS:
        *out = rotate(frame->q, vec3(0, 0, 1));
        break;
    case ST_MEASURE_VELOCITY:
        *out = sub(v, add(v_g, cross(w_g, sub(frame->p, reference->p))));
        break;
    case ST_MEASURE_ANGULAR_VELOCITY:
        *out = sub(w, w_g);
        break;
    case ST_MEASURE_ACCELERATION:
        *out = sub(h > 0 ? scale(1 / h, sub(v, of->velocity)) : vec3(0, 0, 0), model->world->gravity);
        break;
    case ST_MEASURE_ANGULAR_ACCELERATION:
        *out = h > 0 ? scale(1 / h, sub(w, of->spin)) : vec3(0, 0, 0);
        break;
    default: /* force, torque */
        STI_TRY(sense_wrench(model, state, work, of, frame->p, &v, &w, err));
        *out = sensor->type == ST_MEASURE_FORCE ? v : w;
        break;
    }
    return ST_OK;
}

st_Status sti_sensor_read(const sti_Model *model, const sti_State *state, sti_StepWork *work,
                          const sti_MeasureEntry *sensor, const sti_Measured *of, double *out, st_Error *err)
{
    const bool relative = sensor->reference != NULL;
    const st_Pose frame = frame_pose(state, of->body, &sensor->frame);
    const st_Pose reference = relative ? frame_pose(state, of->reference, &sensor->reference_frame) : pose_identity();
    st_Vec3 centre, velocity, momentum, value;
    switch (sensor->type) {
    case ST_MEASURE_ORIENTATION: {
        const st_Quat q = quat_unit(quat_product(quat_conjugate(reference.q), frame.q));
        const double sign = q.w < 0 ? -1 : 1;
        out[0] = sign * q.w, out[1] = sign * q.x, out[2] = sign * q.y, out[3] = sign * q.z;
        return ST_OK;
    }
    case ST_MEASURE_TOUCH:
        out[0] = sense_touch(model, state, work, sensor, of);
        return ST_OK;
    case ST_MEASURE_RANGE: {
        const st_Pose pose = frame_pose(state, of->body, &sensor->frame);
        const st_Vec3 along = rotate(pose.q, vec3(0, 0, 1));
        st_Vec3 from = pose.p;
        *out = -1;
        for (int k = 0; k < RAYS; k++) {
            st_RayHit hit;
            const st_Ray ray = {from, along, INFINITY};
            STI_TRY(sti_rays(model, state, &ray, 1, UINT32_MAX, &hit, err));
            if (hit.shape.index1 == 0) return ST_OK;
            if (hit.body.index1 != of->body || of->body == 0) {
                *out = dot(along, sub(hit.point, pose.p));
                return ST_OK;
            }
            from = add(hit.point, scale(1e-9 + 1e-9 * norm(hit.point), along));
        }
        return ST_OK;
    }
    case ST_MEASURE_CENTRE:
    case ST_MEASURE_CENTRE_VELOCITY:
    case ST_MEASURE_ANGULAR_MOMENTUM:
        sense_below(model, state, of, &centre, &velocity, &momentum);
        vec3_store(out, sensor->type == ST_MEASURE_CENTRE            ? centre
                        : sensor->type == ST_MEASURE_CENTRE_VELOCITY ? velocity
                                                                     : momentum);
        return ST_OK;
    case ST_MEASURE_COORDINATE:
    case ST_MEASURE_SPEED:
    case ST_MEASURE_MOTOR:
    case ST_MEASURE_LIMIT: {
        st_JointReport r;
        STI_TRY(sti_joint_report(model, state, work, of->joint - 1, ST_FRAME_WORLD, &r));
        double motor, limit;
        STI_TRY(sti_joint_means(model, state, work, of->joint - 1, &motor, &limit));
        const double measured = sensor->type == ST_MEASURE_COORDINATE ? r.coordinate
                                : sensor->type == ST_MEASURE_SPEED    ? r.speed
                                : sensor->type == ST_MEASURE_MOTOR    ? motor
                                                                      : limit;
        *out = sensor->factor * measured + (sensor->type == ST_MEASURE_COORDINATE ? sensor->offset : 0);
        return ST_OK;
    }
    case ST_MEASURE_TIME:
        out[0] = state->t;
        return ST_OK;
    case ST_MEASURE_ENERGY:
        return sti_energies(model, state, work, &out[0], &out[1], err);
    default:
        break;
    }
    STI_TRY(sense_frame(model, state, work, sensor, of, &frame, &reference, &value, err));
    const st_Quat axes = sensor->own_axes ? frame.q : reference.q;
    vec3_store(out, rotate_back(axes, value));
    return ST_OK;
}
