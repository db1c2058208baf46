/* model/fluid.c -- what a medium does to bodies that move through it. A medium has a density rho and a viscosity eta,
 * and moves at the velocity of the wind.
 *
 * Each body is taken as the box of the same mass and inertia, with edges b_x, b_y, b_z along its principal axes
 * (MuJoCo's inertia model). With v and w against the medium, in these axes, d = (b_x + b_y + b_z)/3 and per axis
 *
 *     force    -3 pi eta d v_x   - rho/2 b_y b_z |v_x| v_x
 *     torque   -pi eta d^3 w_x   - rho/64 b_x (b_y^4 + b_z^4) |w_x| w_x
 *
 * They depend on velocities and are taken as the other applied forces are: at the start of a step, or of a stage.
 */
#include "math/principal.h"
#include "model/world.h"

void sti_fluid_compile(sti_World *world, const st_Medium *medium)
{
    world->medium = *medium;
    world->has_medium = medium->density > 0 || medium->viscosity > 0;
}

void sti_fluid_add(const sti_World *world, const double *q, const double *v, double *k)
{
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        const sti_Body *body = &world->body[b];
        st_Vec3 force, torque;
        if (body->n_dofs == 0 || body->medium == 0 || sti_is_absent(world, b) || b >= sti_first_rotor(world)) continue;
        const st_Pose pose = sti_pose(q, b);
        const sti_BodyMass *of = &world->values.body[b];
        const double rho = world->medium.density, eta = world->medium.viscosity;
        const st_Mat3 J = sti_inertia(of);
        double moment[3], edge[3], f[3], t[3];
        st_Vec3 axis[3], linear, w;
        mat3_principal(&J, moment, axis);
        for (int j = 0; j < 3; j++) /* J_x = m (b_y^2 + b_z^2)/12 */
            edge[j] = sqrt(fmax(0, 6 * (moment[(j + 1) % 3] + moment[(j + 2) % 3] - moment[j]) / of->mass));
        const double d = (edge[0] + edge[1] + edge[2]) / 3;
        sti_body_velocity(body, v, &linear, &w);
        const st_Vec3 through = rotate_back(pose.q, sub(linear, world->medium.wind));
        for (int j = 0; j < 3; j++) {
            const double x = dot(axis[j], through), y = dot(axis[j], w), b1 = edge[(j + 1) % 3], b2 = edge[(j + 2) % 3];
            f[j] = -3 * STI_PI * eta * d * x - 0.5 * rho * b1 * b2 * fabs(x) * x;
            t[j] = -STI_PI * eta * d * d * d * y -
                   rho / 64 * edge[j] * (b1 * b1 * b1 * b1 + b2 * b2 * b2 * b2) * fabs(y) * y;
        }
        const st_Vec3 own = add(scale(f[0], axis[0]), add(scale(f[1], axis[1]), scale(f[2], axis[2])));
        force = scale(body->medium, rotate(pose.q, own));
        torque = scale(body->medium, add(scale(t[0], axis[0]), add(scale(t[1], axis[1]), scale(t[2], axis[2]))));
        sti_wrench_add(body, force, torque, k);
    }
}
