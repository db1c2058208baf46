/* bench/grains/judge.h -- accuracy and figure of a run, from the positions of the spheres alone. */
#ifndef BENCH_JUDGE_H
#define BENCH_JUDGE_H

#include "grains.h"

struct Judge {
    const Case *c;
    int frames;
    double cpu;        /* at the last frame [s] */
    double overlap;    /* largest of all frames, between spheres or with walls [d] */
    double mean;       /* mean overlap of the last frame [d] */
    double first, sum; /* of the figure */
    double count;
    int lost;         /* spheres of the last frame that are NaN, or a kilometre away */
    int *head, *next; /* spheres by cells */
};

bool judge_begin(Judge *judge, const Case *c);
double judge_figure(const Judge *judge);
void judge_end(Judge *judge);

#endif
