#include "draw/view.h"

#include <stdio.h>

uint32_t sti_view_freedoms(const st_Scene *scene)
{
    uint32_t freedoms = 0;
    for (int i = 1; i <= st_scene_body_count(scene); i++) {
        st_BodyDef body;
        if (st_scene_body(scene, (st_BodyId){i}, &body) == ST_OK && !body.fixed) freedoms |= ~body.locks & ST_LOCK_ALL;
    }
    return freedoms;
}

st_Pose sti_pose_read(const double *row, int body)
{
    if (body < 0) return (st_Pose){{0, 0, 0}, {1, 0, 0, 0}};
    const double *p = row + 1 + (size_t)body * STI_POSE_SIZE;
    return (st_Pose){{p[0], p[1], p[2]}, {p[3], p[4], p[5], p[6]}};
}

double sti_view_right(const sti_View *view, st_Vec3 p)
{
    return dot(view->right, p);
}

double sti_view_up(const sti_View *view, st_Vec3 p)
{
    return dot(view->up, p);
}

static const char *axis_name(st_Vec3 direction, const char *otherwise)
{
    static const char *const names[] = {"x", "y", "z"};
    for (int k = 0; k < 3; k++)
        if (dot(direction, vec3_axis(k)) > 1 - 1e-9) return names[k];
    return otherwise;
}

static int largest_axis(st_Vec3 a)
{
    double x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    return z >= x && z >= y ? 2 : y >= x ? 1 : 0;
}

sti_View sti_view_choose(const st_Scene *scene, st_Vec3 gravity, const sti_Track *poses, int n_bodies)
{
    sti_View view = {.moves_right = true, .moves_up = true};
    uint32_t freedoms = sti_view_freedoms(scene) & 7u;
    switch (freedoms) {
    case 1:
    case 2:
    case 4: {
        /* A single axis of motion: horizontal, or upward if gravity acts along it. */
        const int axis = freedoms == 1 ? 0 : freedoms == 2 ? 1 : 2;
        int vertical = norm(gravity) > 0 ? largest_axis(gravity) : axis == 1 ? 2 : 1;
        bool rises = axis == vertical;
        view.up = vec3_axis(vertical);
        view.right = vec3_axis(rises ? (axis == 0 ? 1 : 0) : axis);
        view.moves_right = !rises;
        view.moves_up = rises;
    } break;
    case 3:
        view.right = vec3_axis(0);
        view.up = vec3_axis(1);
        break;
    case 5:
        view.right = vec3_axis(0);
        view.up = vec3_axis(2);
        break;
    case 6:
        view.right = vec3_axis(1);
        view.up = vec3_axis(2);
        break;
    default: /* motion in space, or none */
        view.up = norm(gravity) > 0 ? scale(-1 / norm(gravity), gravity) : vec3_axis(2);

        /* The horizontal direction in which positions are spread most: the larger principal axis of
         *     [ sum a a  sum a b ]
         *     [ sum a b  sum b b ]      with a, b the distances from the mean along two horizontal vectors. */
        st_Vec3 e1 = fabs(view.up.x) < 0.9 ? sub(vec3(1, 0, 0), scale(view.up.x, view.up)) : orthogonal(view.up);
        e1 = scale(1 / norm(e1), e1);
        st_Vec3 e2 = cross(view.up, e1);
        double aa = 0, ab = 0, bb = 0;
        const double *first = sti_track_row(poses, 0);
        for (int k = 0; k < sti_track_count(poses); k++)
            for (int i = 0; i < n_bodies; i++) {
                /* Measured from the initial position, so that a row of bodies at rest does not count as motion. */
                st_Vec3 d = sub(sti_pose_read(sti_track_row(poses, k), i).p, sti_pose_read(first, i).p);
                double a = dot(e1, d), b = dot(e2, d);
                aa += a * a;
                ab += a * b;
                bb += b * b;
            }
        double angle = aa + bb > 0 && isfinite(aa + bb) ? 0.5 * atan2(2 * ab, aa - bb) : 0;
        /* Within 20 degrees of a horizontal axis the axis itself is easier to read. */
        double quarter = acos(-1.0) / 2, nearest = quarter * round(angle / quarter);
        if (fabs(angle - nearest) < acos(-1.0) / 9) angle = nearest < 0 ? quarter : nearest;
        view.right = add(scale(cos(angle), e1), scale(sin(angle), e2));

        break;
    }
    snprintf(view.right_name, sizeof view.right_name, "%s", axis_name(view.right, "s"));
    snprintf(view.up_name, sizeof view.up_name, "%s", axis_name(view.up, "height"));
    return view;
}
