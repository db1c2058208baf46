/* collide/dispatch.c -- which function serves which pair of shapes: the whole matrix at a glance.
 *
 *            point  bar  sphere  box  plane
 *   point      .     .     .      .     x        x: here     .: never touch (yet)
 *   bar              .     .      .     x
 *   sphere                 x      .     x
 *   box                           .     x
 *   plane                               .
 */
#include "collide/collide.h"
#include "math/quat.h"

typedef int PairFunction(const st_ShapeDef *a, st_Pose pose_a, const st_ShapeDef *b, st_Pose pose_b, double margin,
                         sti_ContactPoint *out);

static st_Vec3 plane_normal(st_Pose plane)
{
    return rotate(plane.q, vec3(0, 0, 1));
}

/* Append the point of a shape against a plane when it is closer than the margin. */
static int add_plane_point(int count, st_Pose plane, st_Vec3 point, int feature, double margin, sti_ContactPoint *out)
{
    st_Vec3 n = plane_normal(plane);
    double gap = dot(n, sub(point, plane.p));
    if (!(gap < margin)) return count;
    out[count] = (sti_ContactPoint){.gap = gap, .point = point, .normal = n, .feature = feature};
    return count + 1;
}

static int plane_point(const st_ShapeDef *a, st_Pose plane, const st_ShapeDef *b, st_Pose pose, double margin,
                       sti_ContactPoint *out)
{
    (void)a, (void)b;
    return add_plane_point(0, plane, pose.p, 0, margin, out);
}

/* The distance of a segment to a plane is not smooth; that of its two ends is. */
static int plane_bar(const st_ShapeDef *a, st_Pose plane, const st_ShapeDef *b, st_Pose pose, double margin,
                     sti_ContactPoint *out)
{
    (void)a;
    int count = 0;
    for (int end = 0; end < 2; end++) {
        double x = (end == 0 ? -0.5 : 0.5) * b->length;
        count = add_plane_point(count, plane, pose_point(pose, vec3(x, 0, 0)), end, margin, out);
    }
    return count;
}

static int plane_sphere(const st_ShapeDef *a, st_Pose plane, const st_ShapeDef *b, st_Pose pose, double margin,
                        sti_ContactPoint *out)
{
    (void)a;
    st_Vec3 lowest = sub(pose.p, scale(b->radius, plane_normal(plane)));
    return add_plane_point(0, plane, lowest, 0, margin, out);
}

static int plane_box(const st_ShapeDef *a, st_Pose plane, const st_ShapeDef *b, st_Pose pose, double margin,
                     sti_ContactPoint *out)
{
    (void)a;
    int count = 0;
    for (int corner = 0; corner < 8; corner++) {
        st_Vec3 p = vec3((corner & 1 ? 1 : -1) * b->half.x, (corner & 2 ? 1 : -1) * b->half.y,
                         (corner & 4 ? 1 : -1) * b->half.z);
        count = add_plane_point(count, plane, pose_point(pose, p), corner, margin, out);
    }
    return count;
}

/* Concentric spheres have no direction: any normal separates them. */
static int sphere_sphere(const st_ShapeDef *a, st_Pose pose_a, const st_ShapeDef *b, st_Pose pose_b, double margin,
                         sti_ContactPoint *out)
{
    st_Vec3 d = sub(pose_b.p, pose_a.p);
    double distance = norm(d), gap = distance - a->radius - b->radius;
    if (!(gap < margin)) return 0;
    st_Vec3 n = distance > 0 ? scale(1.0 / distance, d) : vec3(0, 0, 1);
    out[0] = (sti_ContactPoint){.gap = gap, .point = sub(pose_b.p, scale(b->radius, n)), .normal = n};
    return 1;
}

static PairFunction *const matrix[ST_N_SHAPE_TYPES][ST_N_SHAPE_TYPES] = {
    [ST_SHAPE_PLANE][ST_SHAPE_POINT] = plane_point,     [ST_SHAPE_PLANE][ST_SHAPE_BAR] = plane_bar,
    [ST_SHAPE_PLANE][ST_SHAPE_SPHERE] = plane_sphere,   [ST_SHAPE_PLANE][ST_SHAPE_BOX] = plane_box,
    [ST_SHAPE_SPHERE][ST_SHAPE_SPHERE] = sphere_sphere,
};

bool sti_collide_supports(st_ShapeType a, st_ShapeType b)
{
    return matrix[a][b] != NULL;
}

int sti_collide(const st_ShapeDef *a, st_Pose pose_a, const st_ShapeDef *b, st_Pose pose_b, double margin,
                sti_ContactPoint out[STI_MAX_POINTS])
{
    PairFunction *pair = matrix[a->type][b->type];
    return pair != NULL ? pair(a, pose_a, b, pose_b, margin, out) : 0;
}
