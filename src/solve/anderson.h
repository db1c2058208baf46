/* solve/anderson.h -- Anderson's acceleration of a fixed-point iteration  x <- g(x).
 *
 * From the last few pairs (x_i, g_i), f_i = g_i - x_i, the combination with the smallest |f| in a weighted
 * norm is the next point:
 *
 *     x_next = g_k - sum_i theta_i (g_i+1 - g_i),     theta: least squares of  f_k - sum theta_i (f_i+1 - f_i)
 *
 * (Anderson 1965; Walker & Ni 2011, type II.) On a linear iteration this is GMRES; on ours, which is
 * linear as long as no contact changes between open, stick and slip, it is GMRES between such changes. Two
 * rules limit the harm that it can do. If |f| is ten times the smallest since the start, the iteration returns
 * to the image of the smallest one and clears its memory. If PATIENCE points have not halved the smallest |f|,
 * it returns in the same way, and acceleration is off for a while, twice as long each time until |f| has
 * halved. Acceleration can cause a cycle between contacts that open and close. By these rules such a cycle
 * takes at most a multiple of the time in which the plain iteration halves |f|.
 *
 * Vectors that depend linearly on x can be combined with the same theta, such as the velocities that belong to
 * impulses. They have no influence on theta.
 */
#ifndef STI_ANDERSON_H
#define STI_ANDERSON_H

#include "math/parallel.h"

enum { STI_ANDERSON_WINDOW = 8 };

typedef struct sti_Anderson {
    st_Allocator allocator;
    double *memory; /* f of the last pair, and two places for g                                   */
    int64_t memory_size;
    float *difference; /* 2 window vectors                                                        */
    int64_t difference_size;
    double *followed; /* two places for the followers                                              */
    int64_t followed_size;
    float *followed_difference; /* window vectors                                                 */
    int64_t followed_difference_size;
    double *part; /* sums by chunk                                                                */
    int64_t part_size;
    int threads;          /* of a team, set by its owner                                          */
    int n;                /* of unknowns                                                          */
    int n_followers;      /* numbers                                                              */
    int window;           /* differences at most                                                  */
    const double *weight; /* n: of the norm                                                       */
    int count, newest;    /* differences held, and the place of the last one                      */
    bool has_last;        /* f and g of the last pair are known                                   */
    int g_last, g_best;   /* which of two places has them, often the same                         */
    double smallest;      /* |f| over the pairs since memory was empty                            */
    double to_halve;      /* the smallest when patience began                                     */
    int points;           /* made since then                                                      */
    int rest, rest_next;  /* plain steps still to be left, and how many the next time             */
    double gram[STI_ANDERSON_WINDOW][STI_ANDERSON_WINDOW]; /* of the differences of f              */
} sti_Anderson;

/* Room for n unknowns, n_followers numbers that follow them, and `window` differences (at most STI_ANDERSON_WINDOW),
 * memory empty. weight (n, positive) is kept by address. The struct must be zero, but for its allocator, before the
 * first call. */
st_Status sti_anderson_begin(sti_Anderson *a, int n, int n_followers, int window, const double *weight, st_Error *err);
void sti_anderson_release(sti_Anderson *a);

/* g is the image of x, and the followers (NULL: none) belong to it; on return they are the point to go on from.
 * Differences are kept in single precision, so the followers then belong to g up to 1e-7 of its change. */
void sti_anderson_next(sti_Anderson *a, const double *x, double *g, double *followers);

#endif
