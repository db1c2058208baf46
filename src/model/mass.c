/* model/mass.c -- mass and inertia of a body: given, or computed exactly from its shapes and their densities. */
#include "base/range.h"
#include "model/world.h"

#include <stdio.h>

bool sti_inertia_from_shapes(const st_BodyDef *def)
{
    for (int k = 0; k < 9; k++)
        if (def->inertia.m[k] != 0) return def->mass == 0;
    return true;
}

/* The sum over the shapes of a body: inertia about its origin, centre of mass; messages name the shape. */
static st_Status shapes_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Vec3 *centre,
                             st_Error *err)
{
    double size = 0;
    *mass = 0;
    *inertia = (st_Mat3){{0}};
    *centre = vec3(0, 0, 0);
    for (int k = scene->first_shape[body]; k >= 0; k = scene->next_shape[k]) {
        const sti_CachedMass *known = &scene->shape_cache.mass[scene->cached_shape[k]];
        const st_Pose pose = *sti_shape_pose(scene, k);
        if (!known->known) {
            /* The mass of this kind is not known: find the reason. */
            const st_ShapeDef *def = sti_shape_def(scene, k);
            sti_Shape compiled;
            sti_MassProperties unused;
            st_Error why = {0};
            st_Status status = sti_shape_compile(def, &scene->allocator, &compiled, &why);
            if (status == ST_OK) status = sti_shape_mass(def, &compiled, &unused, &why);
            sti_shape_free(&scene->allocator, &compiled);
            return sti_fail(err, status, "shape \"%s\": %s", sti_shape_name(scene, k), why.message);
        }
        const sti_MassProperties shape = known->of;
        /* Adds the shape at its pose in the body: with d = centre of the shape in the body, c in the shape, J about
         * the shape's origin,  J_c = J - m (|c|^2 1 - c c'),  then Steiner with d. */
        st_Mat3 R = quat_matrix(pose.q);
        st_Vec3 moved = pose_point(pose, shape.centre);
        double c[3], d[3], m = shape.mass, about[9];
        vec3_store(c, shape.centre);
        vec3_store(d, moved);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                about[3 * i + j] =
                    shape.inertia.m[3 * i + j] - m * ((i == j ? dot(shape.centre, shape.centre) : 0) - c[i] * c[j]);
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double sum = m * ((i == j ? dot(moved, moved) : 0) - d[i] * d[j]);
                for (int e = 0; e < 3; e++)
                    for (int l = 0; l < 3; l++)
                        sum += R.m[3 * i + e] * about[3 * e + l] * R.m[3 * j + l];
                inertia->m[3 * i + j] += sum;
            }
        st_Vec3 at = pose_point(pose, shape.centre);
        *centre = add(*centre, scale(shape.mass, at));
        *mass += shape.mass;
        size = fmax(size, norm(at));
    }
    if (*mass > 0) *centre = scale(1 / *mass, *centre);
    /* deviation beyond rounding, relative to the largest offset and the size of the body */
    if (*mass > 0) size = fmax(size, sqrt((inertia->m[0] + inertia->m[4] + inertia->m[8]) / *mass));
    if (norm(*centre) <= 1e-9 * size) *centre = vec3(0, 0, 0);
    return ST_OK;
}

st_Status sti_body_mass(const st_Scene *scene, int body, double *mass, st_Mat3 *inertia, st_Error *err)
{
    const st_BodyDef *def = &scene->body[body];
    *mass = def->mass;
    *inertia = def->inertia;
    if (sti_inertia_from_shapes(def)) {
        st_Vec3 centre;
        double from_shapes;
        STI_TRY(shapes_mass(scene, body, &from_shapes, inertia, &centre, err));
        if (*mass == 0) *mass = from_shapes;
        if (from_shapes > 0 && norm(centre) > 0)
            return sti_fail(
                err, ST_ERR_ARGUMENT,
                "body \"%s\": its shapes have their centre of mass at (%g, %g, %g), must be at the body's "
                "origin (\"recentre\": true or st_scene_centre_body() moves the body's frame there; or give mass and "
                "inertia)",
                def->name, centre.x, centre.y, centre.z);
        if (from_shapes > 0)
            for (int k = 0; k < 9; k++)
                inertia->m[k] *= *mass / from_shapes;
    }
    /* Every free direction needs mass. Refuses a zero, naming the direction and the joint that moves it. */
    char joint[STI_NAME_MAX + 16] = "";
    for (int k = 0; k < scene->n_joints && joint[0] == '\0'; k++)
        if (scene->joint[k].b.index1 == body || scene->joint[k].a.index1 == body)
            snprintf(joint, sizeof joint, " (by joint \"%s\")", scene->joint[k].name);
    bool translates = (def->locks & (ST_LOCK_X | ST_LOCK_Y | ST_LOCK_Z)) != (ST_LOCK_X | ST_LOCK_Y | ST_LOCK_Z);
    if (translates && !(*mass > 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "body \"%s\": mass is %g and it is free to move%s, must be > 0 (give \"mass\", or shapes with "
                        "a volume and a density, or lock x, y and z)",
                        def->name, *mass, joint);
    if (!sti_zero_or_between(*mass, STI_SMALLEST, STI_LARGEST))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "body \"%s\": mass is %g by size and density of its shapes, must be from %g to %g", def->name,
                        *mass, STI_SMALLEST, STI_LARGEST);
    for (int k = 0; k < 3; k++) {
        bool locked = (def->locks & (uint32_t)(ST_LOCK_RX << k)) != 0;
        if (!sti_zero_or_between(inertia->m[4 * k], STI_LEAST_INERTIA, STI_MOST_INERTIA))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": inertia about its %c axis is %g by size and density of its shapes, must be "
                            "from %g to %g",
                            def->name, 'x' + k, inertia->m[4 * k], STI_LEAST_INERTIA, STI_MOST_INERTIA);
        if (!locked && !(inertia->m[4 * k] > 0))
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "body \"%s\": inertia about its %c axis is %g and it is free to turn about it%s, must be > "
                            "0 (give \"inertia\" or lock r%c)",
                            def->name, 'x' + k, inertia->m[4 * k], joint, 'x' + k);
    }
    return ST_OK;
}

st_Status sti_inertia_with(const sti_World *world, int body, double mass, double inertia[6], st_Error *err)
{
    const sti_BodyMass *compiled = &world->compiled->world.values.body[body];
    double base = compiled->mass;
    memcpy(inertia, compiled->inertia, sizeof compiled->inertia);
    if (!world->body[body].inertia_given) { /* rounded once, as in a scene with this mass */
        st_Mat3 of_shapes;
        st_Vec3 centre;
        STI_TRY(shapes_mass(world->scene, body, &base, &of_shapes, &centre, err));
        const double *J = of_shapes.m, own[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
        memcpy(inertia, own, sizeof own);
    }
    for (int k = 0; k < 6; k++)
        inertia[k] *= base > 0 ? mass / base : 1;
    return ST_OK;
}

st_Status st_scene_body_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Mat3 *inertia, st_Error *err)
{
    STI_NEED(scene, err);
    id = sti_body_now(scene, id);
    if (id.index1 < 1 || id.index1 >= scene->n_bodies)
        return sti_fail(err, ST_ERR_ARGUMENT, "body number %d, there are %d", id.index1, scene->n_bodies - 1);
    *mass = scene->body[id.index1].mass;
    *inertia = scene->body[id.index1].inertia;
    if (scene->body[id.index1].fixed) return ST_OK;
    return sti_body_mass(scene, id.index1, mass, inertia, err);
}

st_Status st_scene_shapes_mass(const st_Scene *scene, st_BodyId id, double *mass, st_Error *err)
{
    STI_NEED(scene, err);
    STI_NEED(mass, err);
    st_Mat3 inertia;
    st_Vec3 centre;
    id = sti_body_now(scene, id);
    if (id.index1 < 0 || id.index1 >= scene->n_bodies)
        return sti_fail(err, ST_ERR_ARGUMENT, "body number %d, there are %d", id.index1, scene->n_bodies - 1);
    return shapes_mass(scene, id.index1, mass, &inertia, &centre, err);
}

/* Moves the frame of the body to its centre of mass; shapes and joints stay in place: x = p + R s = (p + R c) + R (s
 * - c). */
st_Status st_scene_centre_body(st_Scene *scene, st_BodyId id, st_Vec3 *shift, st_Error *err)
{
    STI_NEED(scene, err);
    id = sti_body_now(scene, id);
    if (id.index1 < 1 || id.index1 >= scene->n_bodies)
        return sti_fail(err, ST_ERR_ARGUMENT, "there is no body number %d to centre, there are %d", id.index1,
                        scene->n_bodies - 1);
    st_BodyDef *body = &scene->body[id.index1];
    st_Mat3 inertia;
    st_Vec3 c;
    double mass;
    STI_TRY(shapes_mass(scene, id.index1, &mass, &inertia, &c, err));
    if (!(mass > 0))
        return sti_fail(err, ST_ERR_ARGUMENT, "body \"%s\": its shapes have no mass, so no centre of mass", body->name);
    int n_shapes = 0;
    for (int k = scene->first_shape[id.index1]; k >= 0; k = scene->next_shape[k])
        n_shapes++;
    STI_TRY(sti_scene_reserve_pose(scene, n_shapes, err));
    body->pose.p = pose_point(body->pose, c);
    for (int k = scene->first_shape[id.index1]; k >= 0; k = scene->next_shape[k]) {
        const st_Pose *pose = sti_shape_pose(scene, k);
        sti_scene_set_shape_pose(scene, k, &(st_Pose){sub(pose->p, c), pose->q});
    }
    for (int k = 0; k < scene->n_forces; k++)
        if (scene->force[k].body.index1 == id.index1) scene->force[k].point = sub(scene->force[k].point, c);
    if (shift != NULL) *shift = c;
    return ST_OK;
}
