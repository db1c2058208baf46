/* draw/motion_drawing.h -- the scene drawn at several times over one another, light to dark. */
#ifndef STI_RECORD_STROBE_H
#define STI_RECORD_STROBE_H

#include "draw/svg.h"
#include "draw/view.h"

typedef struct sti_Strobe {
    const st_Scene *scene;
    const sti_View *view;
    const sti_Track *poses; /* not empty */
    int n_bodies;
    const bool *bare; /* body by body: it has no shape but points, and is drawn as sticks */
    double end;       /* frames are spread over the times up to this one [s] */
} sti_Strobe;

/* When everything has come to rest: the time after which nothing moves by more than a hundredth of
 * what it moved before; the end of the run where it never rests for long. Frames are spread up to it. */
double sti_strobe_end(const sti_Strobe *strobe);

/* How many times are shown: fewer where there is much to draw. */
int sti_strobe_frames(const sti_Strobe *strobe);
/* How dark frame k of n is, 0 to 1. */
double sti_strobe_opacity(int frame, int n);
/* A window `width` pixels wide, at most `most` high, that holds everything with equal scales. */
sti_Window sti_strobe_window(const sti_Strobe *strobe, double x, double y, double width, double most);
void sti_strobe_draw(FILE *file, const sti_Strobe *strobe, const sti_Window *window);

#endif
