/* grains/template.c -- the shapes of a grain: they are moved to their centre of mass, measured, and added at a
 * scale. */
#include "collide/shape.h"
#include "grains/grains.h"

#include <stdio.h>

/* Raises *reach to the radius of the ball about the origin that contains the shape. */
static st_Status reach_of(const sti_Template *grain, const st_ShapeDef *shape, double *reach, st_Error *err)
{
    sti_Shape compiled;
    STI_TRY(sti_shape_compile(shape, &grain->allocator, &compiled, err));
    const st_Vec3 middle = pose_point(shape->pose, compiled.middle);
    *reach = fmax(*reach, norm(middle) + compiled.reach);
    if (shape->type == ST_SHAPE_HULL && compiled.hull != NULL) { /* the ball of its corners is smaller */
        double farthest = 0;
        for (int k = 0; k < shape->n_points; k++)
            farthest = fmax(farthest, norm(pose_point(shape->pose, shape->points[k])));
        *reach = farthest;
    }
    sti_shape_free(&grain->allocator, &compiled);
    return ST_OK;
}

/* Measures the centre of mass of the shapes, and their volume by setting all densities to 1, in a scene of one body. */
static st_Status measure(sti_Template *grain, const st_Scene *scene, st_Vec3 *centre, st_Error *err)
{
    for (int pass = 0; pass < 2; pass++) {
        st_Scene *alone = NULL;
        st_BodyDef body = st_body_def();
        st_BodyId id = {0};
        STI_TRY(st_scene_create_with(&grain->allocator, &alone, err));
        st_Status status = ST_OK;
        for (int k = 1; k <= st_scene_material_count(scene) && status == ST_OK; k++) {
            st_MaterialDef material;
            status = st_scene_material(scene, (st_MaterialId){k}, &material);
            if (status == ST_OK) status = st_scene_add_material(alone, &material, NULL, err);
        }
        if (status == ST_OK) status = st_scene_add_body(alone, &body, &id, err);
        for (int k = 0; k < grain->n && status == ST_OK; k++) {
            st_ShapeDef shape = grain->shape[k];
            if (pass == 1) shape.density = 1;
            status = st_scene_add_shape(alone, id, &shape, NULL, err);
        }
        if (status == ST_OK && pass == 0) status = st_scene_centre_body(alone, id, centre, err);
        if (status == ST_OK && pass == 1) status = st_scene_shapes_mass(alone, id, &grain->volume, err);
        st_scene_destroy(alone);
        STI_TRY(status);
    }
    return ST_OK;
}

st_Status sti_template_make(const char *owner, const st_Scene *scene, const st_ShapeDef *shapes, int n,
                            sti_Template *out, st_Error *err)
{
    *out = (sti_Template){.allocator = st_default_allocator()};
    if (n < 1 || shapes == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s: its grains have no shapes, must have at least one", owner);
    for (int k = 0; k < n; k++) {
        STI_CHECK_DEF(&shapes[k], "st_sphere_def, st_box_def or another of the shapes", err);
        const uint32_t members = st_shape_type_members(shapes[k].type);
        if ((members & ST_MEMBER_DENSITY) == 0 || (members & ST_MEMBER_TRIANGLES) != 0)
            return sti_fail(err, ST_ERR_ARGUMENT,
                            "%s: shape %d of its grains is a %s, must be a sphere, box, capsule, cylinder, cone, "
                            "ellipsoid or hull",
                            owner, k, st_shape_type_name(shapes[k].type));
    }

    out->shape = sti_alloc(&out->allocator, n, sizeof *out->shape);
    if (out->shape == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory for %d shapes", owner, n);
    out->n = n;
    out->round = n == 1 && shapes[0].type == ST_SHAPE_SPHERE;
    st_Vec3 centre = {0, 0, 0};
    memcpy(out->shape, shapes, (size_t)n * sizeof *shapes);
    st_Error why = {0};
    st_Status status = measure(out, scene, &centre, &why);
    double reach = 0;
    for (int k = 0; k < n && status == ST_OK; k++) {
        out->shape[k].pose.p = sub(out->shape[k].pose.p, centre);
        status = reach_of(out, &out->shape[k], &reach, &why);
    }
    out->size = 2 * reach;
    if (status == ST_OK) return ST_OK;
    sti_template_free(out);
    return sti_fail(err, status, "%s: its grains: %s", owner, why.message);
}

void sti_template_free(sti_Template *grain)
{
    sti_free(&grain->allocator, grain->shape, grain->n, sizeof *grain->shape);
    *grain = (sti_Template){.allocator = grain->allocator};
}

static st_Status add_scaled(const sti_Template *grain, const st_ShapeDef *from, double s, st_Scene *scene, st_BodyId id,
                            st_Error *err)
{
    st_ShapeDef shape = *from;
    st_Vec3 *points = NULL;
    shape.pose.p = scale(s, shape.pose.p);
    shape.radius *= s;
    shape.length *= s;
    shape.half = scale(s, shape.half);
    if (shape.type == ST_SHAPE_HULL) {
        points = sti_alloc(&grain->allocator, shape.n_points, sizeof *points);
        if (points == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d points", shape.n_points);
        for (int k = 0; k < shape.n_points; k++)
            points[k] = scale(s, from->points[k]);
        shape.points = points;
    }
    const st_Status status = st_scene_add_shape(scene, id, &shape, NULL, err);
    sti_free(&grain->allocator, points, shape.n_points, sizeof *points);
    return status;
}

st_Status sti_template_add(const sti_Template *grain, double scale, const st_BodyDef *body, st_Scene *scene,
                           st_BodyId *id, st_Error *err)
{
    STI_TRY(st_scene_add_body(scene, body, id, err));
    for (int k = 0; k < grain->n; k++)
        STI_TRY(add_scaled(grain, &grain->shape[k], scale, scene, *id, err));
    return ST_OK;
}
