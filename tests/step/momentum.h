/* tests/step/momentum.h -- M (v+ - v) of a step against all forces and impulses that it reports. */
#ifndef CHECK_MOMENTUM_H
#define CHECK_MOMENTUM_H

#include "model/world.h"
#include "scene_run.h"
#include "step/system.h"

#include <float.h>

/* The largest term, and the difference of their sum and the change, less the rounding of the momenta. */
typedef struct Sum {
    double largest, missing;
} Sum;

/* An index past the member x is undefined behaviour, and clang drops the stores to y and z. */
static inline double along(st_Vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static inline void add_terms(Sum *sum, double change, double rounding, const st_BodyLoad *load, int axis, bool turning,
                             double time)
{
    double missing = change, term[ST_N_LOADS + 1];
    for (int k = 0; k < ST_N_LOADS; k++)
        term[k] = time * along(turning ? load->torque[k] : load->force[k], axis);
    term[ST_N_LOADS] = along(turning ? load->angular_impulse : load->impulse, axis);
    for (int k = 0; k <= ST_N_LOADS; k++) {
        missing -= term[k];
        sum->largest = fmax(sum->largest, fabs(term[k]));
    }
    sum->largest = fmax(sum->largest, fabs(change));
    sum->missing = fmax(sum->missing, fabs(missing) - rounding);
}

static inline void velocities(const Run *run, int n, st_Vec3 *v)
{
    for (int b = 1; b <= n; b++)
        assert_int_equal(st_system_velocity(run->sys, (st_BodyId){b}, &v[2 * b - 2], &v[2 * b - 1]), ST_OK);
}

/* One step: M (v+ - v) against all that acted, of all bodies that are awake, as a share of the step's largest term. */
static inline double imbalance(Run *run, int n, st_Vec3 *before, st_Vec3 *after, st_BodyLoad *load)
{
    Sum linear = {0, 0}, angular = {0, 0};
    double lever = 0;
    velocities(run, n, before);
    for (int b = 1; b <= n; b++) /* bodies that enter in this step have no momentum before it */
        if (!st_system_present(run->sys, (st_BodyId){b})) before[2 * b - 2].x = NAN;
    run->info = st_step_info();
    if (st_system_step(run->sys, run->def.h, &run->info, &run->err) != ST_OK) return -1; /* diverged, as some must */
    velocities(run, n, after);
    check_ok(st_system_loads(run->sys, load, n, &run->err), run->err);
    /* Loads are carried along trees of joints: they have the rounding of the largest momentum in the system. Joints of
     * folded loops may pull against each other with far more: the sum of their forces has the rounding of each. */
    double largest[2] = {0, 0};
    for (int b = 1; b <= n; b++) {
        const sti_BodyMass *of = &run->sys->model.world->values.body[b];
        const st_Mat3 J = sti_inertia(of);
        if (run->sys->model.world->body[b].n_dofs == 0) continue;
        lever = fmax(lever, sqrt((J.m[0] + J.m[4] + J.m[8]) / of->mass));
        largest[0] = fmax(largest[0], of->mass * norm(after[2 * b - 2]));
        largest[1] = fmax(largest[1], (J.m[0] + J.m[4] + J.m[8]) * norm(after[2 * b - 1]));
    }
    for (int k = 1; k <= st_scene_joint_count(run->scene); k++) {
        st_JointReport joint;
        assert_int_equal(st_system_joint(run->sys, (st_JointId){k}, ST_FRAME_WORLD, &joint), ST_OK);
        largest[0] = fmax(largest[0], run->info.force_h * norm(joint.force));
        largest[1] = fmax(largest[1], run->info.force_h * norm(joint.torque));
    }
    /* Impulses of single contacts and limits are terms, too. In a jam they may cancel at each body. */
    for (int c = 0; c < st_system_contact_count(run->sys); c++) {
        st_ContactReport contact;
        st_JointDef joint;
        assert_int_equal(st_system_contact(run->sys, c, &contact), ST_OK);
        const double impulse = fmax(fabs(contact.impulse[0]), fabs(contact.impact[0]));
        const bool turns = st_scene_joint(run->scene, contact.joint, &joint) == ST_OK &&
                           joint.type != ST_JOINT_PRISMATIC && joint.type != ST_JOINT_CYLINDRICAL;
        double *of = turns ? &angular.largest : &linear.largest;
        *of = fmax(*of, impulse);
    }
    const double rounding[2] = {8 * DBL_EPSILON * fmax(largest[0], largest[1] / fmax(lever, 1e-300)),
                                8 * DBL_EPSILON * fmax(largest[1], largest[0] * lever)};
    for (int b = 1; b <= n; b++) {
        const sti_Body *body = &run->sys->model.world->body[b];
        const st_Vec3 v = sub(after[2 * b - 2], before[2 * b - 2]), w = sub(after[2 * b - 1], before[2 * b - 1]);
        if (body->n_dofs == 0 || st_system_asleep(run->sys, (st_BodyId){b}) || isnan(before[2 * b - 2].x) ||
            !st_system_present(run->sys, (st_BodyId){b}))
            continue;
        const sti_BodyMass *of = &run->sys->model.world->values.body[b];
        const st_Mat3 J = sti_inertia(of);
        const st_Vec3 momentum[2] = {scale(of->mass, v), mat3_mul(&J, w)};
        for (int d = 0; d < body->n_dofs; d++) {
            const bool turning = body->dof[d] >= 3;
            const int axis = body->dof[d] % 3;
            add_terms(turning ? &angular : &linear, along(momentum[turning], axis), rounding[turning], &load[b - 1],
                      axis, turning, run->info.force_h);
        }
    }
    /* torques of forces that cancel are terms, too, each the force times a lever; and forces of torques, over it */
    return fmax(linear.missing / fmax(fmax(linear.largest, angular.largest / fmax(lever, 1e-300)), 1e-300),
                angular.missing / fmax(fmax(angular.largest, lever * linear.largest), 1e-300));
}

#endif
