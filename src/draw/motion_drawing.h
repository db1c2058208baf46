/* draw/motion_drawing.h -- draws the scene at several times over one another, from light to dark. */
#ifndef STI_RECORD_STROBE_H
#define STI_RECORD_STROBE_H

#include "draw/svg.h"
#include "draw/view.h"

typedef struct sti_MotionDrawing {
    const st_Scene *scene;
    const sti_View *view;
    const sti_Track *poses; /* not empty */
    int n_bodies;
    const bool *bare; /* for each body: it has no shape except points, and is drawn as sticks */
    double end;       /* frames are spread over the times until this one [s] */
} sti_MotionDrawing;

/* The time after which nothing moves by more than a hundredth of its motion before; the end of the run if there is
 * none. Frames are spread until then. */
double sti_motion_end(const sti_MotionDrawing *drawing);

/* Number of times that are drawn: fewer if there is much to draw. */
int sti_motion_frames(const sti_MotionDrawing *drawing);
/* Opacity of frame k of n, 0 to 1. */
double sti_motion_opacity(int frame, int n);
/* A window `width` pixels wide and at most `most` high that shows everything with equal scales. */
sti_Window sti_motion_window(const sti_MotionDrawing *drawing, double x, double y, double width, double most);
void sti_motion_draw(FILE *file, const sti_MotionDrawing *drawing, const sti_Window *window);

#endif
