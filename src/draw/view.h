/* draw/view.h -- the plane in which a motion is drawn. */
#ifndef STI_RECORD_VIEW_H
#define STI_RECORD_VIEW_H

#include "draw/track.h"
#include "math/quat.h"

#include <stiction/system.h>

/* A row of the pose track: the time, then these for every body. */
enum { STI_POSE_P = 0, STI_POSE_Q = 3, STI_POSE_ANGLE = 7, STI_POSE_SIZE = 8 };

typedef struct sti_View {
    st_Vec3 right, up;              /* unit vectors of the picture, in the world               */
    char right_name[8], up_name[8]; /* "x", or "s" for a direction that is no axis           */
    bool moves_right, moves_up;     /* coordinates that can change                             */
} sti_View;

/* Axes of the world, bits 0 to 2, along which some body may move; bits 3 to 5, about which some may turn. */
uint32_t sti_view_freedoms(const st_Scene *scene);

/* Chooses the plane. Planes and lines of motion follow from the locks. Motion in space is seen from the side: upward
 * is against gravity, rightward the horizontal direction of largest motion. */
sti_View sti_view_choose(const st_Scene *scene, st_Vec3 gravity, const sti_Track *poses, int n_bodies);

st_Pose sti_pose_read(const double *row, int body); /* 0-based; -1: the ground */
double sti_view_right(const sti_View *view, st_Vec3 p);
double sti_view_up(const sti_View *view, st_Vec3 p);

#endif
