/* Planes are drawn as ground lines with hatching, bars as lines, points as dots, spheres as circles with a mark that
 * shows their rotation, boxes as outlines (the hull of the eight projected corners). A body without any of these is
 * drawn as sticks from its centre to its joints and points. Springs and joints are drawn at the last time only.
 */
#include "draw/motion_drawing.h"

#include "draw/outline.h"

#include <math.h>

#define FRAMES        12
#define LEAST_HEIGHT  120.0 /* least height of the window [px] */
#define HATCH_SPACING 9.0   /* [px] */
#define HATCH_LENGTH  8.0

typedef struct Point {
    double x, y;
} Point;

/* ---- positions -------------------------------------------------------------------------------- */

int sti_motion_frames(const sti_MotionDrawing *drawing)
{
    int shapes = st_scene_shape_count(drawing->scene), rows = sti_track_count(drawing->poses);
    int n = shapes <= 60 ? FRAMES : shapes <= 300 ? 4 : 2;
    return rows < n ? rows : n;
}

double sti_motion_opacity(int frame, int n)
{
    double s = n > 1 ? (double)frame / (n - 1) : 1;
    return 0.16 + 0.84 * s * s * s; /* the last frame must be visible above the earlier ones */
}

static const double *frame_row(const sti_MotionDrawing *drawing, int frame, int n)
{
    int last = sti_track_count(drawing->poses) - 1;
    double t0 = sti_track_row(drawing->poses, 0)[0];
    double t = n > 1 ? t0 + (drawing->end - t0) * frame / (n - 1) : drawing->end;
    return sti_track_row(drawing->poses, frame == n - 1 ? last : sti_track_nearest(drawing->poses, t));
}

/* The largest distance of a body from its last pose: that of its centre, plus its rotation (2 sin of half the angle)
 * times `reach`. */
static double distance_to_end(const sti_MotionDrawing *drawing, const double *row, const double *end, double reach)
{
    double distance = 0;
    for (int i = 0; i < drawing->n_bodies; i++) {
        st_Pose a = sti_pose_read(row, i), b = sti_pose_read(end, i);
        double c = a.q.w * b.q.w + a.q.x * b.q.x + a.q.y * b.q.y + a.q.z * b.q.z;
        distance = fmax(distance, norm(sub(a.p, b.p)) + 2 * reach * sqrt(fmax(0, 1 - c * c)));
    }
    return distance;
}

double sti_motion_end(const sti_MotionDrawing *drawing)
{
    int last = sti_track_count(drawing->poses) - 1;
    const double *end = sti_track_row(drawing->poses, last);
    double t0 = sti_track_row(drawing->poses, 0)[0];
    /* Half the size of the largest shape; it converts a rotation to a length. */
    double reach = 0;
    for (int e = 1; e <= st_scene_shape_count(drawing->scene); e++) {
        st_ShapeDef shape;
        if (st_scene_shape(drawing->scene, (st_ShapeId){e}, &shape, NULL) != ST_OK) continue;
        if (shape.type == ST_SHAPE_PLANE) continue;
        st_Vec3 corner[STI_OUTLINE_POINTS];
        int n_points = sti_outline(&shape, (st_Pose){{0, 0, 0}, {1, 0, 0, 0}}, corner);
        double size = shape.type == ST_SHAPE_SPHERE ? shape.radius : 0;
        for (int s = 0; s < n_points; s++)
            size = fmax(size, norm(corner[s]));
        reach = fmax(reach, norm(shape.pose.p) + size);
    }

    double most = 0;
    for (int k = 0; k < last; k++)
        most = fmax(most, distance_to_end(drawing, sti_track_row(drawing->poses, k), end, reach));
    int k = last;
    while (k > 0 && distance_to_end(drawing, sti_track_row(drawing->poses, k - 1), end, reach) <= 0.01 * most)
        k--;
    double rest = sti_track_row(drawing->poses, k)[0];
    return most > 0 && rest - t0 < 0.6 * (end[0] - t0) ? rest : end[0];
}

static const double *last_row(const sti_MotionDrawing *drawing)
{
    return sti_track_row(drawing->poses, sti_track_count(drawing->poses) - 1);
}

/* A world point at the initial pose of the body, moved with the body. */
static st_Vec3 motion_carried(const sti_MotionDrawing *drawing, const double *row, st_BodyId body, st_Vec3 p)
{
    st_BodyDef def;
    if (body.index1 <= 0 || st_scene_body(drawing->scene, body, &def) != ST_OK) return p;
    double length = quat_norm(def.pose.q);
    st_Quat q = length > 0 ? quat_unit(def.pose.q) : (st_Quat){1, 0, 0, 0};
    return pose_point(sti_pose_read(row, body.index1 - 1), rotate_back(q, sub(p, def.pose.p)));
}

static Point seen(const sti_View *view, st_Vec3 p)
{
    return (Point){sti_view_right(view, p), sti_view_up(view, p)};
}

static Point pixel(const sti_Window *window, Point p)
{
    return (Point){sti_window_x(window, p.x), sti_window_y(window, p.y)};
}

static bool shape_moves(const sti_MotionDrawing *drawing, st_BodyId body)
{
    st_BodyDef def;
    return body.index1 > 0 && st_scene_body(drawing->scene, body, &def) == ST_OK && !def.fixed &&
           (def.locks & ST_LOCK_ALL) != ST_LOCK_ALL;
}

/* The position of a joint at the last time: its point moves with either body; a distance joint has one point on
 * each. */
static int joint_ends(const sti_MotionDrawing *drawing, const st_JointDef *joint, Point end[2])
{
    const bool rod = joint->type == ST_JOINT_DISTANCE;
    const st_BodyId first = rod || joint->a.index1 > 0 ? joint->a : joint->b;
    if (joint->type == ST_JOINT_GEAR || joint->type == ST_JOINT_TENDON) return 0; /* it has no position */
    end[0] = seen(drawing->view, motion_carried(drawing, last_row(drawing), first, joint->point));
    if (rod) end[1] = seen(drawing->view, motion_carried(drawing, last_row(drawing), joint->b, joint->point_b));
    return rod ? 2 : 1;
}

/* Stick number i, 0 to stick_count() - 1, of a body without other drawing; false: there is none. */
static int stick_count(const sti_MotionDrawing *drawing)
{
    return 2 * st_scene_joint_count(drawing->scene) + st_scene_shape_count(drawing->scene);
}

static bool find_stick(const sti_MotionDrawing *drawing, const double *row, int i, int *body, Point end[2])
{
    const int n = 2 * st_scene_joint_count(drawing->scene);
    st_BodyId of = {0};
    st_Vec3 to = {0, 0, 0};
    if (i < n) {
        st_JointDef joint;
        if (st_scene_joint(drawing->scene, (st_JointId){i / 2 + 1}, &joint) != ST_OK) return false;
        if (joint.type == ST_JOINT_GEAR || joint.type == ST_JOINT_TENDON) return false;
        const bool two = joint.type == ST_JOINT_DISTANCE || joint.type == ST_JOINT_FREE;
        of = i % 2 == 0 ? joint.a : joint.b;
        to = i % 2 == 1 && two ? joint.point_b : joint.point;
    } else {
        st_ShapeDef shape;
        if (st_scene_shape(drawing->scene, (st_ShapeId){i - n + 1}, &shape, &of) != ST_OK) return false;
        if (shape.type != ST_SHAPE_POINT) return false;
        to = shape.pose.p;
    }
    *body = of.index1 - 1;
    if (*body < 0 || !drawing->bare[*body] || !shape_moves(drawing, of)) return false;
    const st_Pose pose = sti_pose_read(row, *body);
    end[0] = seen(drawing->view, pose.p);
    end[1] = seen(drawing->view, i < n ? motion_carried(drawing, row, of, to) : pose_point(pose, to));
    return isfinite(end[0].x + end[0].y + end[1].x + end[1].y) && (end[0].x != end[1].x || end[0].y != end[1].y);
}

/* ---- the window ------------------------------------------------------------------------------- */

typedef struct Bounds {
    double x0, x1, y0, y1;
} Bounds;

static void motion_include(Bounds *bounds, Point p, double radius)
{
    if (!isfinite(p.x) || !isfinite(p.y)) return;
    bounds->x0 = fmin(bounds->x0, p.x - radius);
    bounds->x1 = fmax(bounds->x1, p.x + radius);
    bounds->y0 = fmin(bounds->y0, p.y - radius);
    bounds->y1 = fmax(bounds->y1, p.y + radius);
}

sti_Window sti_motion_window(const sti_MotionDrawing *drawing, double x, double y, double width, double most)
{
    Bounds b = {INFINITY, -INFINITY, INFINITY, -INFINITY};
    int frames = sti_motion_frames(drawing);
    for (int k = 0; k < sti_track_count(drawing->poses); k++)
        for (int i = 0; i < drawing->n_bodies; i++)
            motion_include(&b, seen(drawing->view, sti_pose_read(sti_track_row(drawing->poses, k), i).p), 0);
    for (int k = 0; k < frames; k++) {
        const double *row = frame_row(drawing, k, frames);
        for (int i = 1; i <= st_scene_shape_count(drawing->scene); i++) {
            st_ShapeDef shape;
            st_BodyId body;
            st_Vec3 corner[STI_OUTLINE_POINTS];
            if (st_scene_shape(drawing->scene, (st_ShapeId){i}, &shape, &body) != ST_OK) continue;
            if (shape.type == ST_SHAPE_PLANE) continue;
            int n = sti_outline(&shape, pose_product(sti_pose_read(row, body.index1 - 1), shape.pose), corner);
            for (int j = 0; j < n; j++)
                motion_include(&b, seen(drawing->view, corner[j]), shape.type == ST_SHAPE_SPHERE ? shape.radius : 0);
        }
        Point end[2];
        for (int i = 0, body = 0; i < stick_count(drawing); i++)
            if (find_stick(drawing, row, i, &body, end)) motion_include(&b, end[1], 0);
    }
    for (int i = 1; i <= st_scene_spring_count(drawing->scene); i++) {
        st_SpringDef spring;
        if (st_scene_spring(drawing->scene, (st_SpringId){i}, &spring) != ST_OK) continue;
        if (spring.type != ST_SPRING_LINEAR) continue;
        motion_include(&b, seen(drawing->view, motion_carried(drawing, last_row(drawing), spring.a, spring.point_a)),
                       0);
        motion_include(&b, seen(drawing->view, motion_carried(drawing, last_row(drawing), spring.b, spring.point_b)),
                       0);
    }
    for (int i = 1; i <= st_scene_joint_count(drawing->scene); i++) {
        st_JointDef joint;
        Point end[2];
        if (st_scene_joint(drawing->scene, (st_JointId){i}, &joint) != ST_OK) continue;
        for (int k = 0, n = joint_ends(drawing, &joint, end); k < n; k++)
            motion_include(&b, end[k], 0);
    }
    if (!(b.x0 <= b.x1)) b = (Bounds){-1, 1, -1, 1};

    /* A ground line close to the bodies is part of the picture; one far below a flying body is not. */
    Point c = {0.5 * (b.x0 + b.x1), 0.5 * (b.y0 + b.y1)};
    double reach = hypot(b.x1 - b.x0, b.y1 - b.y0);
    for (int i = 1; i <= st_scene_shape_count(drawing->scene); i++) {
        st_ShapeDef shape;
        st_BodyId body;
        if (st_scene_shape(drawing->scene, (st_ShapeId){i}, &shape, &body) != ST_OK) continue;
        if (shape.type != ST_SHAPE_PLANE) continue;
        st_Pose pose = pose_product(sti_pose_read(last_row(drawing), body.index1 - 1), shape.pose);
        Point n = seen(drawing->view, rotate(pose.q, vec3(0, 0, 1))), p = seen(drawing->view, pose.p);
        double size = hypot(n.x, n.y);
        if (size < 0.1) continue; /* seen from above */
        double distance = (n.x * (c.x - p.x) + n.y * (c.y - p.y)) / size;
        if (fabs(distance) <= reach)
            motion_include(&b, (Point){c.x - distance * n.x / size, c.y - distance * n.y / size}, 0);
    }
    double size = fmax(b.x1 - b.x0, b.y1 - b.y0), middle_x = 0.5 * (b.x0 + b.x1), middle_y = 0.5 * (b.y0 + b.y1);
    /* Without motion there is no size: use a metre, or more for a body far away, because of rounding. */
    if (!(size > 1e-9 * (fabs(middle_x) + fabs(middle_y)))) size = 1 + 0.1 * (fabs(middle_x) + fabs(middle_y));
    double w = b.x1 - b.x0 + 0.16 * size, h = b.y1 - b.y0 + 0.16 * size;
    double scale_px = fmin(width / w, most / h); /* [px/m] */
    double height = fmax(LEAST_HEIGHT, h * scale_px);
    w = width / scale_px;
    h = height / scale_px;
    return (sti_Window){{x, y, width, height}, middle_x - 0.5 * w, middle_x + 0.5 * w,
                        middle_y - 0.5 * h,    middle_y + 0.5 * h, false};
}

/* ---- shapes ----------------------------------------------------------------------------------- */

static bool turns_left(Point a, Point b, Point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;
}

/* Adds q to the chain that begins at hull[first], and removes points that are no longer corners. */
static int extend_hull(Point *hull, int first, int size, Point q)
{
    while (size >= first + 2 && !turns_left(hull[size - 2], hull[size - 1], q))
        size--;
    hull[size] = q;
    return size + 1;
}

/* The part of the line p + s d inside the window's box, as s0 <= s <= s1; false: none. */
static bool clip_line(const sti_Rect *box, Point p, Point d, double *s0, double *s1)
{
    const double lo[2] = {box->x, box->y}, hi[2] = {box->x + box->w, box->y + box->h};
    const double at[2] = {p.x, p.y}, along[2] = {d.x, d.y};
    *s0 = -INFINITY;
    *s1 = INFINITY;
    for (int k = 0; k < 2; k++) {
        if (fabs(along[k]) < 1e-12) {
            if (at[k] < lo[k] || at[k] > hi[k]) return false;
            continue;
        }
        double a = (lo[k] - at[k]) / along[k], b = (hi[k] - at[k]) / along[k];
        *s0 = fmax(*s0, fmin(a, b));
        *s1 = fmin(*s1, fmax(a, b));
    }
    return *s0 < *s1 && isfinite(*s1 - *s0);
}

static void motion_draw_plane(FILE *file, const sti_MotionDrawing *drawing, const sti_Window *window, st_Pose pose)
{
    Point n = seen(drawing->view, rotate(pose.q, vec3(0, 0, 1))), p = pixel(window, seen(drawing->view, pose.p));
    double size = hypot(n.x, n.y), s0 = 0, s1 = 0;
    if (size < 0.1) return;
    Point solid = {-n.x / size, n.y / size}; /* into the ground; y is downward in pixels */
    Point along = {-solid.y, solid.x};
    if (!clip_line(&window->box, p, along, &s0, &s1)) return;
    fputs("<g class=\"plane\">\n", file);
    sti_svg(file, "<path stroke=\"%s\" stroke-width=\"0.8\" opacity=\"0.75\" d=\"", STI_SOFT);
    double first = ceil(s0 / HATCH_SPACING) * HATCH_SPACING;
    for (int k = 0; k < 1000 && first + k * HATCH_SPACING <= s1; k++) {
        double s = first + k * HATCH_SPACING;
        Point a = {p.x + s * along.x, p.y + s * along.y};
        sti_svg(file, "M%.1f %.1fl%.1f %.1f", a.x, a.y, HATCH_LENGTH * (solid.x - 0.7 * along.x),
                HATCH_LENGTH * (solid.y - 0.7 * along.y));
    }
    fputs("\"/>\n", file);
    sti_svg_line(file, p.x + s0 * along.x, p.y + s0 * along.y, p.x + s1 * along.x, p.y + s1 * along.y, STI_INK, 1.2);
    fputs("</g>\n", file);
}

/* Draws all shapes that move (or all others) at the poses in `row`. */
static void motion_draw_shapes(FILE *file, const sti_MotionDrawing *drawing, const sti_Window *window,
                               const double *row, bool moving)
{
    for (int i = 1; i <= st_scene_shape_count(drawing->scene); i++) {
        st_ShapeDef shape;
        st_BodyId body;
        if (st_scene_shape(drawing->scene, (st_ShapeId){i}, &shape, &body) != ST_OK) continue;
        if (shape_moves(drawing, body) != moving) continue;
        st_Pose pose = pose_product(sti_pose_read(row, body.index1 - 1), shape.pose);
        if (!vec3_finite(pose.p)) continue;
        if (shape.type == ST_SHAPE_PLANE)
            motion_draw_plane(file, drawing, window, pose);
        else {
            const char *colour = moving ? sti_colour(body.index1 - 1) : STI_SOFT;
            st_Vec3 corner[STI_OUTLINE_POINTS];
            Point p[STI_OUTLINE_POINTS];
            int n = sti_outline(&shape, pose, corner);
            for (int k = 0; k < n; k++)
                p[k] = seen(drawing->view, corner[k]);
            if (shape.type == ST_SHAPE_SPHERE) {
                Point c = pixel(window, seen(drawing->view, pose.p));
                Point rim =
                    pixel(window, seen(drawing->view, pose_point(pose, scale(shape.radius, drawing->view->right))));
                double r = shape.radius * window->box.w / (window->x1 - window->x0);
                sti_svg(file,
                        "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" stroke=\"%s\" stroke-width=\"1.4\" fill=\"%s\" "
                        "fill-opacity=\"0.10\"/>\n",
                        c.x, c.y, fmax(r, 0.5), colour, colour);
                sti_svg_line(file, c.x, c.y, rim.x, rim.y, colour, 1);
            } else if (shape.type == ST_SHAPE_BAR) {
                Point a = pixel(window, p[0]), b = pixel(window, p[1]);
                sti_svg(file,
                        "<line class=\"bar\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
                        "stroke-width=\"2.4\" "
                        "stroke-linecap=\"round\"/>\n",
                        a.x, a.y, b.x, b.y, colour);
            } else if (shape.type == ST_SHAPE_POINT) {
                Point a = pixel(window, p[0]);
                sti_svg(file, "<circle class=\"point\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.6\" fill=\"%s\"/>\n", a.x, a.y,
                        colour);
            } else if (n > 2) {
                Point hull[2 * STI_OUTLINE_POINTS + 2] = {{0, 0}};
                for (int c = 0; c < n; c++)
                    p[c] = pixel(window, p[c]);

                /* Andrew's monotone chain: rightward below, leftward above. `hull` has room for 2 n; returns the number
                 * of corners. */
                int size = 0;
                for (int e = 1; e < n; e++) /* by x, then y: a few hundred points at most */
                    for (int j = e; j > 0 && (p[j].x < p[j - 1].x || (p[j].x == p[j - 1].x && p[j].y < p[j - 1].y));
                         j--) {
                        Point swap = p[j];
                        p[j] = p[j - 1];
                        p[j - 1] = swap;
                    }

                for (int e = 0; e < n; e++)
                    size = extend_hull(hull, 0, size, p[e]);
                int first = size - 1;
                for (int e = n - 2; e >= 0; e--)
                    size = extend_hull(hull, first, size, p[e]);
                int n_corners = size > 1 ? size - 1 : size;

                sti_svg(file, "<polygon stroke=\"%s\" stroke-width=\"1.4\" fill=\"%s\" fill-opacity=\"0.10\" points=\"",
                        colour, colour);
                for (int c = 0; c < n_corners; c++)
                    sti_svg(file, "%.2f %.2f ", hull[c].x, hull[c].y);
                fputs("\"/>\n", file);
            }
        }
    }
}

/* ---- paths, springs, joints ------------------------------------------------------------------- */

/* A knot of a drawn line: position along (as a share of the symbol's length) and across [px]; pen up: start a new
 * line. */
typedef struct Knot {
    bool up;
    double along, across;
} Knot;

void sti_motion_draw(FILE *file, const sti_MotionDrawing *drawing, const sti_Window *window)
{
    const sti_Rect *box = &window->box;
    int frames = sti_motion_frames(drawing);
    sti_svg(file,
            "<clipPath id=\"scene\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/></clipPath>\n"
            "<g clip-path=\"url(#scene)\">\n",
            box->x, box->y, box->w, box->h);
    motion_draw_shapes(file, drawing, window, last_row(drawing), false);
    for (int i = 0; i < drawing->n_bodies && drawing->n_bodies <= 60; i++)
        if (shape_moves(drawing, (st_BodyId){i + 1})) {
            Point last = {-INFINITY, -INFINITY};
            sti_svg(
                file,
                "<polyline class=\"path\" fill=\"none\" stroke=\"%s\" stroke-width=\"0.8\" opacity=\"0.45\" points=\"",
                sti_colour(i));
            for (int k = 0; k < sti_track_count(drawing->poses); k++) {
                Point p = pixel(window, seen(drawing->view, sti_pose_read(sti_track_row(drawing->poses, k), i).p));
                if (hypot(p.x - last.x, p.y - last.y) < 0.5) continue;
                sti_svg(file, "%.1f %.1f ", p.x, p.y);
                last = p;
            }
            fputs("\"/>\n", file);
        }
    for (int k = 0; k < frames; k++) {
        sti_svg(file, "<g class=\"frame\" opacity=\"%.3f\">\n", sti_motion_opacity(k, frames));
        Point end[2];
        for (int i = 0, body = 0; i < stick_count(drawing); i++) {
            if (!find_stick(drawing, frame_row(drawing, k, frames), i, &body, end)) continue;
            const Point a = pixel(window, end[0]), b = pixel(window, end[1]);
            sti_svg(file,
                    "<line class=\"stick\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
                    "stroke-width=\"1.6\" stroke-linecap=\"round\"/>\n",
                    a.x, a.y, b.x, b.y, sti_colour(body));
        }

        motion_draw_shapes(file, drawing, window, frame_row(drawing, k, frames), true);
        fputs("</g>\n", file);
    }
    for (int i = 1; i <= st_scene_spring_count(drawing->scene); i++) {
        st_SpringDef spring;
        if (st_scene_spring(drawing->scene, (st_SpringId){i}, &spring) != ST_OK) continue;
        if (spring.type != ST_SPRING_LINEAR) continue;

        /* A zigzag, or for a damper without stiffness its piston and cup. */
        Point a = seen(drawing->view, motion_carried(drawing, last_row(drawing), spring.a, spring.point_a));
        Point b = seen(drawing->view, motion_carried(drawing, last_row(drawing), spring.b, spring.point_b));
        bool stiff = spring.stiffness > 0;
        static const Knot zigzag[] = {{false, 0, 0},     {false, 0.06, 5}, {false, 0.19, -5}, {false, 0.31, 5},
                                      {false, 0.44, -5}, {false, 0.56, 5}, {false, 0.69, -5}, {false, 0.81, 5},
                                      {false, 0.94, -5}, {false, 1, 0}};
        static const Knot damper[] = {{false, 0, 0}, {true, 1, -6},    {false, 0, -6},   {false, 0, 6},
                                      {false, 1, 6}, {true, 0.65, -4}, {false, 0.65, 4}, {true, 0.65, 0}};
        const Knot *knot = stiff ? zigzag : damper;
        int n = stiff ? (int)(sizeof zigzag / sizeof zigzag[0]) : (int)(sizeof damper / sizeof damper[0]);
        a = pixel(window, a);
        b = pixel(window, b);
        double length = hypot(b.x - a.x, b.y - a.y), size = stiff ? 0.8 * length : fmin(0.6 * length, 22);
        if (!(length > 2)) continue;
        Point along = {(b.x - a.x) / length, (b.y - a.y) / length};
        fprintf(file,
                "<path class=\"spring\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.1\" stroke-linejoin=\"round\" ",
                STI_INK);
        sti_svg(file, "d=\"M%.2f %.2f", a.x, a.y);
        for (int k = 0; k < n; k++) {
            double s = 0.5 * (length - size) + knot[k].along * size, y = knot[k].across;
            sti_svg(file, "%c%.2f %.2f", knot[k].up ? 'M' : 'L', a.x + s * along.x - y * along.y,
                    a.y + s * along.y + y * along.x);
        }
        sti_svg(file, "L%.2f %.2f\"/>\n", b.x, b.y);
    }

    for (int i = 1; i <= st_scene_joint_count(drawing->scene); i++) {
        st_JointDef joint;
        if (st_scene_joint(drawing->scene, (st_JointId){i}, &joint) != ST_OK) continue;
        Point p[2];
        const int n = joint_ends(drawing, &joint, p);
        for (int k = 0; k < n; k++)
            p[k] = pixel(window, p[k]);
        if (n == 2) sti_svg_line(file, p[0].x, p[0].y, p[1].x, p[1].y, STI_INK, 1.1); /* the rod between */
        for (int k = 0; k < n; k++)
            sti_svg(file,
                    "<circle class=\"joint\" cx=\"%.2f\" cy=\"%.2f\" r=\"3.4\" fill=\"#ffffff\" stroke=\"%s\" "
                    "stroke-width=\"1.3\"/>\n",
                    p[k].x, p[k].y, STI_INK);
    }

    fputs("</g>\n", file);
}
