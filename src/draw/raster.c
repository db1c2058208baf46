/* draw/raster.c -- draws a picture of a system as pixels, without a screen, a browser or a graphics card.
 *
 * Shapes are tessellated and drawn with a depth buffer at twice the resolution in each direction. Planes reach to
 * the horizon: they are drawn by ray casting, one ray per pixel. Light comes from one direction; a depth map from
 * there gives the shadows.
 */
#include "base/base.h"
#include "math/quat.h"

#include <stiction/io.h>

#define FINER    2    /* pixels are means of FINER x FINER samples                                      */
#define MAP      1024 /* samples of the shadow map along each side                                      */
#define SMALLEST 16
#define LARGEST  8192

/* Colours for colour-blind readers (Okabe & Ito), by body. */
static const float palette[][3] = {{0.34f, 0.71f, 0.91f}, {0.90f, 0.62f, 0.00f}, {0.00f, 0.62f, 0.45f},
                                   {0.80f, 0.47f, 0.65f}, {0.00f, 0.45f, 0.70f}, {0.84f, 0.37f, 0.00f},
                                   {0.94f, 0.89f, 0.26f}};
static const float ground_colour[3] = {0.72f, 0.72f, 0.70f};

/* Projection of points: right, down and forward from the eye. `scale` is pixels per unit at depth 1; 0: parallel
 * rays, with `parallel` pixels per metre. */
typedef struct Projection {
    st_Vec3 eye, right, down, forward;
    double scale, parallel;
    int width, height;
} Projection;

typedef struct Canvas {
    Projection view;
    float *depth;       /* depth of each sample, as 1/distance along the view; parallel: the negative distance */
    float (*colour)[3]; /* NULL: only the depth */
} Canvas;

typedef struct Picture {
    st_Allocator allocator;
    const st_Scene *scene;
    const st_System *system;
    Canvas main, light;
    st_Vec3 to_light;
    double size; /* size of the scene [m] */
} Picture;

st_Camera st_camera(void)
{
    return (st_Camera){.up = {0, 0, 1}, .angle = 0.6};
}

static bool raster_is_zero(st_Vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

static void aim(Projection *p, st_Vec3 eye, st_Vec3 target, st_Vec3 up)
{
    p->eye = eye;
    p->forward = scale(1 / norm(sub(target, eye)), sub(target, eye));
    st_Vec3 right = cross(p->forward, up);
    if (!(norm(right) > 1e-9 * norm(up)))
        right = cross(p->forward, fabs(p->forward.x) < 0.9 ? (st_Vec3){1, 0, 0} : (st_Vec3){0, 1, 0});
    p->right = scale(1 / norm(right), right);
    p->down = cross(p->forward, p->right);
}

/* ---- triangles ----------------------------------------------------------------------------------- */

typedef struct Seen {
    double x, y, z; /* sample to the right and down; distance along the view */
} Seen;

static Seen see(const Projection *p, st_Vec3 at)
{
    const st_Vec3 d = sub(at, p->eye);
    const double z = dot(d, p->forward), s = p->parallel > 0 ? p->parallel : p->scale / z;
    return (Seen){0.5 * p->width + s * dot(d, p->right), 0.5 * p->height + s * dot(d, p->down), z};
}

/* Parts of a triangle that are nearer than `near` are cut off. */
static void draw_triangle(Canvas *c, const st_Vec3 corner[3], double near, const float colour[3])
{
    const Projection *p = &c->view;
    st_Vec3 cut[4];
    int n = 0;
    for (int k = 0; k < 3; k++) {
        const st_Vec3 a = corner[k], b = corner[(k + 1) % 3];
        const double za = dot(sub(a, p->eye), p->forward) - near, zb = dot(sub(b, p->eye), p->forward) - near;
        if (za >= 0 || p->parallel > 0) cut[n++] = a;
        if ((za >= 0) != (zb >= 0) && !(p->parallel > 0)) cut[n++] = add(a, scale(za / (za - zb), sub(b, a)));
    }
    for (int k = 2; k < n; k++) {
        const Seen v[3] = {see(p, cut[0]), see(p, cut[k - 1]), see(p, cut[k])};
        const double area = (v[1].x - v[0].x) * (v[2].y - v[0].y) - (v[2].x - v[0].x) * (v[1].y - v[0].y);
        if (!(fabs(area) > 1e-12)) continue;
        const double x0 = fmin(v[0].x, fmin(v[1].x, v[2].x)), x1 = fmax(v[0].x, fmax(v[1].x, v[2].x));
        const double y0 = fmin(v[0].y, fmin(v[1].y, v[2].y)), y1 = fmax(v[0].y, fmax(v[1].y, v[2].y));
        if (x1 < 0 || y1 < 0 || x0 > p->width || y0 > p->height) continue;
        const int from_x = (int)fmax(0, floor(x0)), to_x = (int)fmin(p->width - 1, x1);
        const int from_y = (int)fmax(0, floor(y0)), to_y = (int)fmin(p->height - 1, y1);
        double depth[3];
        for (int i = 0; i < 3; i++)
            depth[i] = p->parallel > 0 ? -v[i].z : 1 / v[i].z; /* linear in the picture */
        for (int y = from_y; y <= to_y; y++)
            for (int x = from_x; x <= to_x; x++) {
                double weight[3];
                bool inside = true;
                for (int i = 0; i < 3 && inside; i++) {
                    const Seen *a = &v[(i + 1) % 3], *b = &v[(i + 2) % 3];
                    weight[i] = ((b->x - a->x) * (y + 0.5 - a->y) - (x + 0.5 - a->x) * (b->y - a->y)) / area;
                    inside = weight[i] >= 0;
                }
                if (!inside) continue;
                const float d = (float)(weight[0] * depth[0] + weight[1] * depth[1] + weight[2] * depth[2]);
                const size_t at = (size_t)y * (size_t)p->width + (size_t)x;
                if (d <= c->depth[at]) continue;
                c->depth[at] = d;
                for (int i = 0; c->colour != NULL && i < 3; i++)
                    c->colour[at][i] = colour[i];
            }
    }
}

/* Brightness of a surface with this normal: one lamp and ambient light. */
static double lightness(const Picture *picture, st_Vec3 normal)
{
    return 0.42 + 0.58 * fmax(0, dot(normal, picture->to_light));
}

static bool shape_at(const Picture *picture, int k, st_ShapeDef *shape, st_BodyId *body, st_Pose *pose)
{
    st_Pose at = {{0, 0, 0}, {1, 0, 0, 0}};
    if (st_scene_shape(picture->scene, (st_ShapeId){k}, shape, body) != ST_OK) return false;
    if (body->index1 > 0 && st_system_pose(picture->system, *body, &at) != ST_OK) return false;
    *pose = (st_Pose){add(at.p, rotate(at.q, shape->pose.p)), quat_product(at.q, shape->pose.q)};
    return true;
}

/* ---- planes and shadows ---------------------------------------------------------------------------- */

/* Is something between the point and the light? */
static bool in_shadow(const Picture *picture, st_Vec3 at)
{
    const Canvas *c = &picture->light;
    const Seen s = see(&c->view, at);
    if (!(s.x >= 0 && s.y >= 0 && s.x < c->view.width && s.y < c->view.height)) return false;
    const float d = c->depth[(size_t)s.y * (size_t)c->view.width + (size_t)s.x];
    return d > -INFINITY && -d < s.z - 1e-2 * picture->size; /* a surface does not shade itself */
}

static st_Vec3 ray_of(const Projection *p, double x, double y)
{
    const double a = (x - 0.5 * p->width) / p->scale, b = (y - 0.5 * p->height) / p->scale;
    return add(p->forward, add(scale(a, p->right), scale(b, p->down))); /* length 1 along the view */
}

/* Draws a plane as squares that fade towards the horizon. */
static void raster_draw_plane(Picture *picture, st_Pose pose, const float base[3])
{
    Canvas *c = &picture->main;
    const Projection *p = &c->view;
    const st_Vec3 normal = rotate(pose.q, (st_Vec3){0, 0, 1}), e1 = rotate(pose.q, (st_Vec3){1, 0, 0}),
                  e2 = rotate(pose.q, (st_Vec3){0, 1, 0});
    const double height = dot(normal, sub(p->eye, pose.p)), square = pow(10, round(log10(picture->size / 3)));
    if (height <= 0) return; /* the eye is below the plane */
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            const st_Vec3 ray = ray_of(p, x + 0.5, y + 0.5);
            const double down = -dot(normal, ray), z = height / down;
            const size_t at = (size_t)y * (size_t)p->width + (size_t)x;
            if (!(down > 0) || (float)(1 / z) <= c->depth[at]) continue;
            const st_Vec3 hit = add(p->eye, scale(z, ray));
            const double u = floor(dot(e1, sub(hit, pose.p)) / square), v = floor(dot(e2, sub(hit, pose.p)) / square);
            const double far = fmin(1, z / (40 * picture->size)), odd = fabs(fmod(u + v, 2)) < 0.5 ? 0.06 : 0;
            double light = (lightness(picture, normal) - odd * (1 - far)) * (in_shadow(picture, hit) ? 0.62 : 1);
            c->depth[at] = (float)(1 / z);
            for (int k = 0; k < 3; k++) /* fade into the sky */
                c->colour[at][k] = (float)((1 - far) * light * (double)base[k] + far * (double)c->colour[at][k]);
        }
}

/* ---- the whole ------------------------------------------------------------------------------------- */

/* A ball around all bodies that can move, or around everything except planes if nothing can. */
static st_Vec3 bounds(Picture *picture, double *radius, st_Error *err)
{
    st_Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int pass = 0; pass < 2 && !(low.x <= high.x); pass++)
        for (int k = 1; k <= st_scene_shape_count(picture->scene); k++) {
            st_ShapeDef shape;
            st_BodyId body;
            st_BodyDef def = {.fixed = true};
            st_Pose pose;
            if (!shape_at(picture, k, &shape, &body, &pose) || shape.type == ST_SHAPE_PLANE) continue;
            if (body.index1 > 0) (void)st_scene_body(picture->scene, body, &def);
            if (pass == 0 && def.fixed) continue;
            st_Surface surface;
            if (st_shape_surface(&shape, 0.1, &surface, err) != ST_OK) continue;
            for (int i = 0; i < surface.n_points; i++) {
                const st_Vec3 at = add(pose.p, rotate(pose.q, surface.points[i]));
                low = (st_Vec3){fmin(low.x, at.x), fmin(low.y, at.y), fmin(low.z, at.z)};
                high = (st_Vec3){fmax(high.x, at.x), fmax(high.y, at.y), fmax(high.z, at.z)};
            }
            st_surface_free(&surface);
        }
    if (!(low.x <= high.x)) low = (st_Vec3){-1, -1, -1}, high = (st_Vec3){1, 1, 1};
    *radius = fmax(0.5 * norm(sub(high, low)), 1e-12);
    return scale(0.5, add(low, high));
}

static bool make_canvas(const Picture *picture, Canvas *c, bool coloured)
{
    const int64_t n = (int64_t)c->view.width * c->view.height;
    c->depth = sti_alloc(&picture->allocator, n, sizeof *c->depth);
    if (coloured) c->colour = sti_alloc(&picture->allocator, n, sizeof *c->colour);
    return c->depth != NULL && (!coloured || c->colour != NULL);
}

static void free_canvas(const Picture *picture, Canvas *c)
{
    const int64_t n = (int64_t)c->view.width * c->view.height;
    sti_free(&picture->allocator, c->depth, n, sizeof *c->depth);
    sti_free(&picture->allocator, c->colour, n, sizeof *c->colour);
}

static st_Status raster_draw(Picture *picture, const st_Camera *camera, st_Error *err)
{
    double radius;
    st_Vec3 middle = bounds(picture, &radius, err);
    st_Vec3 eye = camera->eye, target = camera->target;
    Projection *p = &picture->main.view;
    if (raster_is_zero(eye) && raster_is_zero(target)) {
        /* from the front right and above, seen along the axes of the world if up is z */
        const st_Vec3 up = scale(1 / norm(camera->up), camera->up),
                      x = fabs(up.x) < 0.9 ? vec3(1, 0, 0) : vec3(0, 1, 0);
        const st_Vec3 a = sub(x, scale(dot(x, up), up)), b = cross(up, a);
        const st_Vec3 look = add(scale(0.55, a), add(scale(-0.75, b), scale(0.36, up)));
        target = middle;
        eye = add(middle, scale(1.15 * radius / sin(0.5 * camera->angle) / norm(look), look));
    }
    if (!(norm(sub(target, eye)) > 0))
        return sti_fail(err, ST_ERR_ARGUMENT, "the eye and the target of the camera are the same point, must differ");
    aim(p, eye, target, camera->up);
    p->scale = 0.5 * p->height / tan(0.5 * camera->angle);
    picture->size = fmax(radius, 1e-3 * norm(sub(target, eye)));
    picture->to_light =
        add(scale(0.9 / norm(camera->up), camera->up), add(scale(-0.45, p->right), scale(-0.35, p->forward)));
    picture->to_light = scale(1 / norm(picture->to_light), picture->to_light);
    aim(&picture->light.view, add(middle, scale(4 * radius, picture->to_light)), middle, p->right);
    picture->light.view.width = picture->light.view.height = MAP;
    picture->light.view.parallel = 0.5 * MAP / (1.3 * radius);

    if (!make_canvas(picture, &picture->main, true) || !make_canvas(picture, &picture->light, false))
        return sti_fail(err, ST_ERR_MEMORY, "out of memory for a picture of %d x %d", picture->main.view.width / FINER,
                        picture->main.view.height / FINER);
    for (size_t k = 0; k < (size_t)MAP * MAP; k++)
        picture->light.depth[k] = -INFINITY;
    Canvas *c = &picture->main;
    for (int y = 0; y < c->view.height; y++)
        for (int x = 0; x < c->view.width; x++) {
            const float t = (float)y / (float)c->view.height;
            float *to = c->colour[(size_t)y * (size_t)c->view.width + (size_t)x];
            to[0] = 0.80f + 0.16f * t, to[1] = 0.87f + 0.10f * t, to[2] = 0.95f + 0.03f * t;
        }

    for (int k = 1; k <= st_scene_shape_count(picture->scene); k++) {
        st_ShapeDef shape;
        st_BodyId body;
        st_Pose pose;
        if (!shape_at(picture, k, &shape, &body, &pose) || shape.type == ST_SHAPE_PLANE) continue;
        st_Surface surface;
        STI_TRY(st_shape_surface(&shape, picture->size, &surface, err));
        const float own[3] = {(float)(shape.color >> 24) / 255, (float)(shape.color >> 16 & 255) / 255,
                              (float)(shape.color >> 8 & 255) / 255};
        const float *base = shape.color != 0 ? own : body.index1 > 0 ? palette[(body.index1 - 1) % 7] : ground_colour;
        for (int t = 0; t < surface.n_triangles; t++) {
            st_Vec3 corner[3];
            for (int i = 0; i < 3; i++)
                corner[i] = add(pose.p, rotate(pose.q, surface.points[surface.triangles[3 * t + i]]));
            st_Vec3 normal = cross(sub(corner[1], corner[0]), sub(corner[2], corner[0]));
            if (!(norm(normal) > 0)) continue;
            normal = scale(1 / norm(normal), normal);
            if (dot(normal, sub(corner[0], picture->main.view.eye)) > 0)
                normal = scale(-1, normal); /* the back of a sheet */
            const float light = (float)lightness(picture, normal);
            const float colour[3] = {base[0] * light, base[1] * light, base[2] * light};
            draw_triangle(&picture->main, corner, 1e-3 * picture->size, colour);
            draw_triangle(&picture->light, corner, 0, colour);
        }
        st_surface_free(&surface);
    }

    const Projection *view = &c->view;
    for (int y = 0; y < view->height; y++)
        for (int x = 0; x < view->width; x++) {
            const size_t at = (size_t)y * (size_t)view->width + (size_t)x;
            if (c->depth[at] <= 0) continue;
            const st_Vec3 hit = add(view->eye, scale(1 / (double)c->depth[at], ray_of(view, x + 0.5, y + 0.5)));
            const float dark = in_shadow(picture, hit) ? 0.7f : 1;
            for (int k = 0; k < 3; k++)
                c->colour[at][k] *= dark;
        }
    for (int k = 1; k <= st_scene_shape_count(picture->scene); k++) {
        st_ShapeDef shape;
        st_BodyId body;
        st_Pose pose;
        if (shape_at(picture, k, &shape, &body, &pose) && shape.type == ST_SHAPE_PLANE)
            raster_draw_plane(picture, pose, body.index1 > 0 ? palette[(body.index1 - 1) % 7] : ground_colour);
    }
    return ST_OK;
}

st_Status st_render(const st_Scene *scene, const st_System *system, const st_Camera *camera, int width, int height,
                    unsigned char *rgb, st_Error *err)
{
    const st_Camera usual = st_camera();
    if (camera == NULL) camera = &usual;
    STI_NEED(scene, err);
    STI_NEED(system, err);
    STI_NEED(rgb, err);
    if (width < SMALLEST || width > LARGEST || height < SMALLEST || height > LARGEST)
        return sti_fail(err, ST_ERR_ARGUMENT, "a picture of %d x %d, each must be %d to %d", width, height, SMALLEST,
                        LARGEST);
    const double numbers[] = {camera->eye.x,    camera->eye.y, camera->eye.z, camera->target.x, camera->target.y,
                              camera->target.z, camera->up.x,  camera->up.y,  camera->up.z};
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        if (!isfinite(numbers[k]))
            return sti_fail(err, ST_ERR_ARGUMENT, "a number of the camera is %g, must be finite", numbers[k]);
    if (!(camera->angle > 0.01 && camera->angle < 3))
        return sti_fail(err, ST_ERR_ARGUMENT, "a camera with an angle of %g rad, must be 0.01 to 3", camera->angle);
    if (raster_is_zero(camera->up))
        return sti_fail(err, ST_ERR_ARGUMENT, "up of the camera is 0, must have a direction");
    Picture picture = {.allocator = st_default_allocator(), .scene = scene, .system = system, .size = 1};
    picture.main.view.width = FINER * width, picture.main.view.height = FINER * height;
    const st_Status status = raster_draw(&picture, camera, err);
    if (status == ST_OK) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                for (int k = 0; k < 3; k++) {
                    float sum = 0;
                    for (int i = 0; i < FINER * FINER; i++) {
                        const size_t row = (size_t)(FINER * y + i / FINER), column = (size_t)(FINER * x + i % FINER);
                        sum += picture.main.colour[row * (size_t)picture.main.view.width + column][k];
                    }
                    const float mean = sum / (FINER * FINER);
                    rgb[3 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)k] =
                        (unsigned char)(255 * (mean < 0   ? 0
                                               : mean > 1 ? 1
                                                          : mean) +
                                        0.5f);
                }
    }
    free_canvas(&picture, &picture.main);
    free_canvas(&picture, &picture.light);
    return status;
}
