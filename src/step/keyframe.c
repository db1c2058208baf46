/* step/keyframe.c -- a system put into a state that its scene has a name for. */
#include "step/step.h"

st_Status st_system_set_keyframe(st_System *s, int number, st_Error *err)
{
    STI_NEED(s, err);
    const sti_World *world = s->model.world;
    const int n_q = s->model.n_q, n_v = s->model.n_v, count = world != NULL ? world->scene->n_keyframes : 0;
    if (number < 1 || number > count)
        return sti_fail(err, ST_ERR_ARGUMENT, "keyframe %d, the scene has %d: must be 1 to %d", number, count, count);
    const sti_KeyframeEntry *to = &world->scene->keyframe[number - 1];
    double *q = sti_alloc(&s->model.allocator, (int64_t)n_q + n_v, sizeof *q), *v = q + n_q;
    if (q == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for a keyframe");
    memcpy(q, s->state.q, (size_t)n_q * sizeof *q);
    memset(v, 0, (size_t)n_v * sizeof *v);
    for (int k = 0; k < to->n_bodies; k++) {
        const st_KeyframeBody *b = &to->bodies[k];
        const sti_Body *body = &world->body[b->body.index1];
        const st_Pose pose = b->pose;
        double *p = q + (int64_t)STI_BODY_Q * (b->body.index1 - 1), full[6];
        vec3_store(p, pose.p);
        p[3] = pose.q.w, p[4] = pose.q.x, p[5] = pose.q.y, p[6] = pose.q.z;
        vec3_store(full, b->velocity);
        vec3_store(full + 3, b->spin);
        for (int d = 0; d < body->n_dofs; d++)
            v[body->v_first + d] = full[body->dof[d]];
    }
    for (int k = 0; k < world->n_angles; k++) /* less than half a turn from the start */
        q[world->angle[k].q] = 0;
    sti_angles_update(world, q);
    sti_angles_settle(world, q);
    st_Status status = st_system_set_state(s, to->t, q, v, err);
    for (int k = 0; k < to->n_motors && status == ST_OK; k++) {
        status = st_system_set_motor(s, to->motors[k].joint, to->motors[k].wanted, err);
        if (status == ST_OK) sti_motor_settle(s, to->motors[k].joint.index1 - 1, to->motors[k].wanted);
    }
    sti_free(&s->model.allocator, q, (int64_t)n_q + n_v, sizeof *q);
    return status;
}
