/* collide/shapes/mesh.c -- triangles, a solid or a sheet (collide/mesh/), and height fields, which are solid below
 * them. */
#include "collide/ray.h"
#include "collide/surface.h"

static st_Status mesh_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    STI_TRY(sti_mesh_create(def->points, def->n_points, def->triangles, def->n_triangles, allocator, &out->mesh, err));
    sti_shape_hold_points(out->mesh->vertex, out->mesh->n_vertices, out);
    return ST_OK;
}

static st_Status mesh_mass(const st_ShapeDef *def, const sti_Shape *shape, sti_MassProperties *out, st_Error *err)
{
    if (!shape->mesh->solid)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "its %d triangles do not close a volume (each edge must have two triangles that run against "
                        "each other): give the body's mass and inertia, or a density of 0",
                        def->n_triangles);
    sti_VolumeSum sum = {0};
    for (int t = 0; t < def->n_triangles; t++) {
        const int *v = def->triangles + 3 * (ptrdiff_t)t;
        sti_volume_add(&sum, def->points[v[0]], def->points[v[1]], def->points[v[2]]);
    }
    if (!(sum.volume > 0))
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "its triangles enclose a volume of %g, must be > 0: they must run counter-clockwise seen from "
                        "outside",
                        sum.volume);
    sti_volume_mass(&sum, def->density, out);
    return ST_OK;
}

/* ---- rays ---------------------------------------------------------------------------------------- */

typedef struct MeshRay {
    const sti_Mesh *mesh;
    st_Vec3 p, d, normal;
    double limit;
    bool both_sides;
    bool hit;
} MeshRay;

/* Moeller & Trumbore 1997; a ray enters a solid from the front only. */
static bool mesh_try_triangle(void *ctx, int item)
{
    MeshRay *ray = ctx;
    const sti_Triangle *t = &ray->mesh->triangle[item];
    st_Vec3 a = ray->mesh->vertex[t->vertex[0]], u = sub(ray->mesh->vertex[t->vertex[1]], a);
    st_Vec3 v = sub(ray->mesh->vertex[t->vertex[2]], a), h = cross(ray->d, v), w = sub(ray->p, a), q = cross(w, u);
    double det = dot(u, h), along = dot(t->normal, ray->d);
    if (det == 0 || (!ray->both_sides && along >= 0)) return true;
    double x = dot(w, h) / det, y = dot(ray->d, q) / det, s = dot(v, q) / det;
    const double slack = 1e-12; /* so that no ray passes between two triangles */
    if (x < -slack || y < -slack || x + y > 1 + slack || s < 0 || s > ray->limit) return true;
    ray->limit = s;
    ray->normal = along < 0 ? t->normal : scale(-1, t->normal);
    ray->hit = true;
    return true;
}

/* A height field has neither walls nor a floor that would hide its inside: it is a surface, like a sheet. */
static void mesh_ray(const sti_Shape *shape, sti_Ray *ray)
{
    const sti_Mesh *mesh = shape->mesh;
    MeshRay search = {
        .mesh = mesh, .p = ray->p, .d = ray->d, .limit = ray->limit, .both_sides = mesh->field || !mesh->solid};
    sti_tree_ray(&mesh->tree, ray->p, ray->d, &search.limit, mesh_try_triangle, &search);
    ray->missed = !search.hit;
    ray->enter = search.limit;
    ray->normal = search.normal;
}

/* ---- drawing ------------------------------------------------------------------------------------- */

static void mesh_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    for (int k = 0; k < def->n_points; k++)
        sti_surface_point(out, def->points[k]);
    for (int k = 0; k < def->n_triangles; k++)
        sti_surface_triangle(out, def->triangles[3 * k], def->triangles[3 * k + 1], def->triangles[3 * k + 2]);
}

const sti_ShapeDescriptor sti_mesh = {
    .word = "mesh",
    .members = ST_MEMBER_POINTS | ST_MEMBER_TRIANGLES | ST_MEMBER_DENSITY | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_MESHES,
    .compile = mesh_compile,
    .bounds = sti_box_and_ball_bounds,
    .mass = mesh_mass,
    .ray = mesh_ray,
    .surface = mesh_surface,
};

/* ---- height fields ------------------------------------------------------------------------------- */

static st_Status field_compile(const st_ShapeDef *def, const st_Allocator *allocator, sti_Shape *out, st_Error *err)
{
    STI_TRY(sti_mesh_from_heights(def, allocator, &out->mesh, err));
    sti_Bounds ground = out->mesh->tree.node[0].bounds;
    ground.lo.z = out->mesh->bottom;
    sti_shape_hold_box(&ground, out);
    return ST_OK;
}

static void field_surface(const st_ShapeDef *def, double size, sti_SurfaceBuilder *out)
{
    (void)size;
    const int nx = def->n_x, ny = def->n_y;
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++)
            sti_surface_point(out, vec3((i - 0.5 * (nx - 1)) * def->spacing, (j - 0.5 * (ny - 1)) * def->spacing,
                                        def->heights[j * nx + i]));
    for (int j = 0; j + 1 < ny; j++)
        for (int i = 0; i + 1 < nx; i++) {
            const int k = j * nx + i;
            sti_surface_triangle(out, k, k + 1, k + nx + 1);
            sti_surface_triangle(out, k, k + nx + 1, k + nx);
        }
}

const sti_ShapeDescriptor sti_height_field = {
    .word = "height-field",
    .members = ST_MEMBER_HEIGHTS | ST_MEMBER_ORIENTATION,
    .density = 1000,
    .family = STI_FAMILY_HEIGHT_FIELDS,
    .compile = field_compile,
    .bounds = sti_box_and_ball_bounds,
    .ray = mesh_ray,
    .surface = field_surface,
};
