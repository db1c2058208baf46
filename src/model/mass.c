/* model/mass.c -- mass and inertia of a body: given, or exactly from its shapes and their densities. */
#include "model/world.h"

#define PI 3.14159265358979323846

/* Mass and principal moments of a shape about its own centre, shape axes. */
static double shape_mass(const st_ShapeDef *shape, double moments[3])
{
    double m = 0, x = 2 * shape->half.x, y = 2 * shape->half.y, z = 2 * shape->half.z;
    moments[0] = moments[1] = moments[2] = 0;
    switch (shape->type) {
    case ST_SHAPE_POINT:
    case ST_SHAPE_PLANE:
        break;
    case ST_SHAPE_BAR:
        m = shape->density * shape->length;
        moments[1] = moments[2] = m * shape->length * shape->length / 12;
        break;
    case ST_SHAPE_SPHERE:
        m = shape->density * 4.0 / 3.0 * PI * shape->radius * shape->radius * shape->radius;
        moments[0] = moments[1] = moments[2] = 0.4 * m * shape->radius * shape->radius;
        break;
    case ST_SHAPE_BOX:
        m = shape->density * x * y * z;
        moments[0] = m * (y * y + z * z) / 12;
        moments[1] = m * (x * x + z * z) / 12;
        moments[2] = m * (x * x + y * y) / 12;
        break;
    }
    return m;
}

/* Add R diag(moments) R' + m (|c|^2 1 - c c'): Steiner's theorem to the body's origin. */
static void add_inertia(st_Mat3 *inertia, st_Pose pose, double m, const double moments[3])
{
    st_Mat3 R = quat_matrix(pose.q);
    double c[3], square = dot(pose.p, pose.p);
    vec3_store(c, pose.p);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double sum = m * ((i == j ? square : 0) - c[i] * c[j]);
            for (int k = 0; k < 3; k++)
                sum += R.m[3 * i + k] * moments[k] * R.m[3 * j + k];
            inertia->m[3 * i + j] += sum;
        }
}

static bool is_zero(const st_Mat3 *A)
{
    for (int k = 0; k < 9; k++)
        if (A->m[k] != 0) return false;
    return true;
}

/* Sum over the shapes of a body; the centre of mass comes out in `centre`. */
static double shapes_mass(const st_Scene *scene, int body, st_Mat3 *inertia, st_Vec3 *centre)
{
    double mass = 0, size = 0;
    *inertia = (st_Mat3){{0}};
    *centre = vec3(0, 0, 0);
    for (int k = 0; k < scene->n_shapes; k++) {
        if (scene->shape_body[k] != body) continue;
        double moments[3], m = shape_mass(&scene->shape[k], moments);
        st_Pose pose = scene->shape[k].pose;
        add_inertia(inertia, pose, m, moments);
        *centre = add(*centre, scale(m, pose.p));
        mass += m;
        size = fmax(size, norm(pose.p));
    }
    if (mass > 0) *centre = scale(1 / mass, *centre);
    if (norm(*centre) <= 1e-9 * size) *centre = vec3(0, 0, 0);
    return mass;
}

/* Every free direction needs something to move: refuse a zero there, by name. */
static st_Status check_free_directions(const st_BodyDef *def, double mass, const st_Mat3 *inertia, st_Error *err)
{
    bool translates = (def->locks & (ST_LOCK_X | ST_LOCK_Y | ST_LOCK_Z)) != (ST_LOCK_X | ST_LOCK_Y | ST_LOCK_Z);
    if (translates && !(mass > 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "body \"%s\": mass is %g and it is free to move, must be > 0 (give \"mass\", or shapes with a "
                        "volume and a density, or lock x, y and z)",
                        def->name, mass);
    for (int k = 0; k < 3; k++) {
        bool locked = (def->locks & (uint32_t)(ST_LOCK_RX << k)) != 0;
        if (!locked && !(inertia->m[4 * k] > 0))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": inertia about its %c axis is %g and it is free to turn about it, must be > 0 "
                            "(give \"inertia\" or lock r%c)",
                            def->name, 'x' + k, inertia->m[4 * k], 'x' + k);
    }
    return ST_OK;
}

st_Status sti_body_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Error *err)
{
    const st_BodyDef *def = &scene->body[body];
    *mass = def->mass;
    *inertia = def->inertia;
    if (is_zero(inertia) || *mass == 0) {
        st_Vec3 centre;
        double from_shapes = shapes_mass(scene, body, inertia, &centre);
        if (*mass == 0) *mass = from_shapes;
        if (from_shapes > 0 && norm(centre) > 0)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": its shapes have their centre of mass at (%g, %g, %g), must be at the body's "
                            "origin (move the shapes, or give mass and inertia)",
                            def->name, centre.x, centre.y, centre.z);
        if (from_shapes > 0)
            for (int k = 0; k < 9; k++)
                inertia->m[k] *= *mass / from_shapes;
    }
    return check_free_directions(def, *mass, inertia, err);
}

st_Status st_scene_body_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Mat3 *inertia, st_Error *err)
{
    if (id.index1 < 1 || id.index1 >= scene->n_bodies)
        return sti_fail(err, ST_ERR_ARGUMENT, "body number %d, there are %d", id.index1, scene->n_bodies - 1);
    *mass = scene->body[id.index1].mass;
    *inertia = scene->body[id.index1].inertia;
    if (scene->body[id.index1].fixed) return ST_OK;
    return sti_body_mass(scene, id.index1, mass, inertia, err);
}
