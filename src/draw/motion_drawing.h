/* draw/motion_drawing.h -- the scene drawn at several times over one another, light to dark. */
#ifndef STI_RECORD_STROBE_H
#define STI_RECORD_STROBE_H

#include "draw/svg.h"
#include "draw/view.h"

typedef struct sti_MotionDrawing {
    const st_Scene *scene;
    const sti_View *view;
    const sti_Track *poses; /* not empty */
    int n_bodies;
    const bool *bare; /* body by body: it has no shape but points, and is drawn as sticks */
    double end;       /* frames are spread over the times up to this one [s] */
} sti_MotionDrawing;

/* When everything has come to rest: the time after which nothing moves by more than a hundredth of
 * what it moved before; the end of the run where it never rests for long. Frames are spread up to it. */
double sti_motion_end(const sti_MotionDrawing *drawing);

/* How many times are shown: fewer where there is much to draw. */
int sti_motion_frames(const sti_MotionDrawing *drawing);
/* How dark frame k of n is, 0 to 1. */
double sti_motion_opacity(int frame, int n);
/* A window `width` pixels wide, at most `most` high, that holds everything with equal scales. */
sti_Window sti_motion_window(const sti_MotionDrawing *drawing, double x, double y, double width, double most);
void sti_motion_draw(FILE *file, const sti_MotionDrawing *drawing, const sti_Window *window);

#endif
