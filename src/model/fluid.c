/* model/fluid.c -- forces of a medium on bodies that move through it. A medium has a density rho and a viscosity eta,
 * and moves with the wind.
 *
 * Box. Each body is replaced by the box of the same mass and inertia, with edges b_x, b_y, b_z along its principal axes
 * (MuJoCo's inertia model). With v and w against the medium, in these axes, d = (b_x + b_y + b_z)/3 and per axis
 *
 *     force    -3 pi eta d v_x   - rho/2 b_y b_z |v_x| v_x
 *     torque   -pi eta d^3 w_x   - rho/64 b_x (b_y^4 + b_z^4) |w_x| w_x
 *
 * Ellipsoid. An ellipsoid with semi-axes r that is fixed to a body (MuJoCo's ellipsoid model): in its own axes, with v
 * at its centre, V its volume, n the gradient of its surface where v meets it, c = cos of the angle between v and n, P
 * the area that it shows along v, P_max the largest,
 *
 *     added mass   force  p x w,  torque  p x v + L x w,      p_x = rho m_x v_x,  L_x = rho j_x w_x
 *     Magnus       magnus rho V w x v
 *     Kutta        kutta rho P c ((n/|n|) x v) x v
 *     drag         -(3 pi eta D + rho |v| (blunt P + slender (P_max - P))) v,      D = 2/3 (r_x + r_y + r_z)
 *     turning      -(pi eta D^3 + rho |w o (angular I + slender (I_max - I))|) w
 *
 * m and j are the added masses of potential flow (Lamb 1932, art. 114-115), without their accelerations. I_x is 8/15 pi
 * r_x times the fourth power of the larger of the other two, I_max that of the slowest way to turn.
 *
 * Implicit integrators linearise drag in the velocity, so that light bodies in a dense medium do not gain energy.
 * Orientation, lift and added masses keep their values from the start of the step or stage.
 */
#include "math/principal.h"
#include "model/world.h"

void sti_fluid_compile(sti_World *world, const st_Medium *medium)
{
    world->medium = *medium;
    world->has_medium = medium->density > 0 || medium->viscosity > 0;
}

/* ---- boxes -------------------------------------------------------------------------------------- */

/* Force and torque on a body in its principal axes, and their slopes: -d force_x/d v_x, -d torque_x/d w_x. */
typedef struct BoxDrag {
    st_Vec3 axis[3]; /* in the body */
    double force[3], torque[3], force_slope[3], torque_slope[3];
} BoxDrag;

static bool feels_medium(const sti_World *world, int b)
{
    const sti_Body *body = &world->body[b];
    return body->n_dofs > 0 && body->medium != 0 && !sti_is_absent(world, b) && b < sti_first_rotor(world);
}

static BoxDrag box_drag(const sti_World *world, int b, const double *q, const double *v)
{
    const sti_Body *body = &world->body[b];
    const sti_BodyMass *of = &world->values.body[b];
    const double rho = world->medium.density, eta = world->medium.viscosity;
    const st_Mat3 J = sti_inertia(of);
    BoxDrag out;
    double moment[3], edge[3];
    st_Vec3 linear, w;
    mat3_principal(&J, moment, out.axis);
    for (int j = 0; j < 3; j++) /* J_x = m (b_y^2 + b_z^2)/12 */
        edge[j] = sqrt(fmax(0, 6 * (moment[(j + 1) % 3] + moment[(j + 2) % 3] - moment[j]) / of->mass));
    const double d = (edge[0] + edge[1] + edge[2]) / 3;
    sti_body_velocity(body, v, &linear, &w);
    const st_Vec3 through = rotate_back(sti_pose(q, b).q, sub(linear, world->medium.wind));
    for (int j = 0; j < 3; j++) {
        const double x = dot(out.axis[j], through), y = dot(out.axis[j], w), b1 = edge[(j + 1) % 3],
                     b2 = edge[(j + 2) % 3];
        const double area = 0.5 * rho * b1 * b2, turn = rho / 64 * edge[j] * (b1 * b1 * b1 * b1 + b2 * b2 * b2 * b2);
        out.force[j] = body->medium * (-3 * STI_PI * eta * d * x - area * fabs(x) * x);
        out.torque[j] = body->medium * (-STI_PI * eta * d * d * d * y - turn * fabs(y) * y);
        out.force_slope[j] = body->medium * (3 * STI_PI * eta * d + 2 * area * fabs(x));
        out.torque_slope[j] = body->medium * (STI_PI * eta * d * d * d + 2 * turn * fabs(y));
    }
    return out;
}

static st_Vec3 in_axes(const st_Vec3 axis[3], const double x[3])
{
    return add(scale(x[0], axis[0]), add(scale(x[1], axis[1]), scale(x[2], axis[2])));
}

void sti_fluid_add(const sti_World *world, const double *q, const double *v, double *k)
{
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        if (!feels_medium(world, b)) continue;
        const BoxDrag drag = box_drag(world, b, q, v);
        const st_Vec3 force = rotate(sti_pose(q, b).q, in_axes(drag.axis, drag.force));
        sti_wrench_add(&world->body[b], force, in_axes(drag.axis, drag.torque), k);
    }
}

/* A derivative with respect to the velocities of one body: 6 x 6 over force (world), torque (body). It is made
 * symmetric to the last bit, because joint coordinates need that. */
static st_Status push_velocity_derivative(const sti_Body *body, double full[6][6], st_Sink *sink, st_Error *err)
{
    double dq[36] = {0}, dv[36];
    int index[6];
    for (int i = 0; i < body->n_dofs; i++) {
        index[i] = body->v_first + i;
        for (int j = 0; j < body->n_dofs; j++)
            dv[i * body->n_dofs + j] = 0.5 * (full[body->dof[i]][body->dof[j]] + full[body->dof[j]][body->dof[i]]);
    }
    const st_ForceDerivative block = {body->n_dofs, body->n_dofs, index, index, dq, dv};
    return st_push_force_derivative(sink, &block, err);
}

st_Status sti_fluid_derivative(const sti_World *world, const double *q, const double *v, st_Sink *sink, st_Error *err)
{
    for (int e = 0; e < sti_awake_count(world); e++) {
        const int b = sti_awake_body(world, e);
        double full[6][6] = {{0}};
        if (!feels_medium(world, b)) continue;
        const BoxDrag drag = box_drag(world, b, q, v);
        for (int n = 0; n < 3; n++) {
            double x[3], y[3];
            vec3_store(x, rotate(sti_pose(q, b).q, drag.axis[n]));
            vec3_store(y, drag.axis[n]);
            for (int i = 0; i < 9; i++) {
                full[i / 3][i % 3] -= drag.force_slope[n] * x[i / 3] * x[i % 3];
                full[3 + i / 3][3 + i % 3] -= drag.torque_slope[n] * y[i / 3] * y[i % 3];
            }
        }
        STI_TRY(push_velocity_derivative(&world->body[b], full, sink, err));
    }
    return ST_OK;
}

/* ---- ellipsoids --------------------------------------------------------------------------------- */

/* R_D(x, y, z) = 3/2 integral over t > 0 of (t + x)^-1/2 (t + y)^-1/2 (t + z)^-3/2, by duplication (Carlson 1979). */
static double carlson_rd(double x, double y, double z)
{
    double sum = 0, part = 1;
    for (int k = 0; k < 40; k++) {
        const double mean = (x + y + 3 * z) / 5;
        if (fabs(x - mean) + fabs(y - mean) + fabs(z - mean) < 1e-8 * mean) break;
        const double lambda = sqrt(x * y) + sqrt(x * z) + sqrt(y * z);
        sum += part / (sqrt(z) * (z + lambda));
        part /= 4;
        x = (x + lambda) / 4, y = (y + lambda) / 4, z = (z + lambda) / 4;
    }
    const double mean = (x + y + 3 * z) / 5;
    return 3 * sum + part / (mean * sqrt(mean));
}

/* The wrench in the axes of the ellipsoid, at its centre, and the coefficients c and d of the two drags -c v, -d w. */
static void ellipsoid_wrench(const st_ForceDef *def, const st_Medium *medium, st_Vec3 v, st_Vec3 w, st_Vec3 *force,
                             st_Vec3 *torque, double *c, double *d)
{
    const double rho = medium->density, eta = medium->viscosity, speed = norm(v);
    const double r[3] = {def->ellipsoid.x, def->ellipsoid.y, def->ellipsoid.z}, x[3] = {v.x, v.y, v.z},
                 turn[3] = {w.x, w.y, w.z};
    const double volume = 4 * STI_PI / 3 * r[0] * r[1] * r[2];
    const double most = fmax(r[0], fmax(r[1], r[2])), least = fmin(r[0], fmin(r[1], r[2])),
                 middle = r[0] + r[1] + r[2] - most - least;
    double kappa[3], p[3], L[3], normal[3], shown = 0, along = 0, swept[3];
    for (int k = 0; k < 3; k++) {
        const double a = r[k], b = r[(k + 1) % 3], e = r[(k + 2) % 3];
        kappa[k] = 2.0 / 3 * a * b * e * carlson_rd(b * b, e * e, a * a);
        p[k] = rho * volume * kappa[k] / (2 - kappa[k]) * x[k];
        normal[k] = b * e * b * e * x[k];
        shown += normal[k] * normal[k];
        along += normal[k] * x[k];
    }
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double dif = r[i] * r[i] - r[j] * r[j], sum = r[i] * r[i] + r[j] * r[j];
        const double below = 2 * dif + sum * (kappa[i] - kappa[j]);
        const double factor = fabs(dif) > 1e-9 * sum ? dif * dif * (kappa[j] - kappa[i]) / below : 0;
        L[k] = rho * volume * factor / 5 * turn[k];
        const double wide = fmax(r[i], r[j]), I = 8 * STI_PI / 15 * r[k] * wide * wide * wide * wide;
        const double slowest = 8 * STI_PI / 15 * middle * most * most * most * most;
        swept[k] = turn[k] * (def->angular_drag * I + def->slender_drag * (slowest - I));
    }
    const st_Vec3 momentum = vec3_load(p), spin = vec3_load(L), n = vec3_load(normal);
    const double area = along > 0 ? STI_PI * sqrt(shown / along) : 0, D = 2.0 / 3 * (r[0] + r[1] + r[2]);
    *force = add(cross(momentum, w), scale(def->magnus_lift * rho * volume, cross(w, v)));
    if (shown > 0 && speed > 0) /* n is not of unit length: cos/|n| = n.v/(|v| |n|^2) */
        *force = add(*force, scale(def->kutta_lift * rho * area * along / (speed * shown), cross(cross(n, v), v)));
    *c = 3 * STI_PI * eta * D +
         rho * speed * (def->blunt_drag * area + def->slender_drag * (STI_PI * most * middle - area));
    *d = STI_PI * eta * D * D * D + rho * norm(vec3_load(swept));
    *force = sub(*force, scale(*c, v));
    *torque = sub(add(cross(momentum, v), cross(spin, w)), scale(*d, w));
}

/* Velocity of the centre and angular velocity in the axes of the ellipsoid. */
static void ellipsoid_velocity(const sti_World *world, const st_ForceDef *def, const double *q, const double *v,
                               st_Vec3 *u, st_Vec3 *w)
{
    const st_Quat R = sti_pose(q, def->body.index1).q;
    st_Vec3 linear;
    sti_body_velocity(&world->body[def->body.index1], v, &linear, w);
    const st_Vec3 own = add(rotate_back(R, sub(linear, world->medium.wind)), cross(*w, def->point));
    *u = rotate_back(def->orientation, own);
    *w = rotate_back(def->orientation, *w);
}

void sti_ellipsoid_add(const sti_World *world, int f, const double *q, const double *v, double *k)
{
    const st_ForceDef *def = &world->scene->force[f];
    st_Vec3 u, w, force, torque;
    double c, d;
    ellipsoid_velocity(world, def, q, v, &u, &w);
    ellipsoid_wrench(def, &world->medium, u, w, &force, &torque, &c, &d);
    force = rotate(def->orientation, force); /* body axes */
    torque = add(rotate(def->orientation, torque), cross(def->point, force));
    sti_wrench_add(&world->body[def->body.index1], rotate(sti_pose(q, def->body.index1).q, force), torque, k);
}

/* The derivative of the two drags with constant coefficients, -J' diag(c, d) J, which is never indefinite. */
st_Status sti_ellipsoid_derivative(const sti_World *world, int f, const double *q, const double *v, st_Sink *sink,
                                   st_Error *err)
{
    const st_ForceDef *def = &world->scene->force[f];
    const st_Quat R = sti_pose(q, def->body.index1).q;
    st_Vec3 u, w, force, torque;
    double c, d, full[6][6] = {{0}};
    ellipsoid_velocity(world, def, q, v, &u, &w);
    ellipsoid_wrench(def, &world->medium, u, w, &force, &torque, &c, &d);
    for (int j = 0; j < 6; j++) { /* a unit velocity: of the point in world axes, of the body in its own */
        const st_Vec3 e = vec3_axis(j % 3), moved = j < 3 ? e : rotate(R, cross(e, def->point));
        double x[3], y[3];
        vec3_store(x, moved);
        vec3_store(y, add(cross(def->point, rotate_back(R, scale(c, moved))), scale(j < 3 ? 0 : d, e)));
        for (int i = 0; i < 3; i++)
            full[i][j] = -c * x[i], full[3 + i][j] = -y[i];
    }
    return push_velocity_derivative(&world->body[def->body.index1], full, sink, err);
}
