/* problem/pile_contacts.h -- the contacts of a pile as plain arrays: the second kind of input of a solve.
 *
 * Where every contact touches one or two free bodies, of six velocities each, H follows from where contacts and bodies
 * are. With directions d = n, t, n x t at a point p, and levers l = p - x from the centres of the bodies,
 *
 *     d . (v_b + w_b x l_b) - d . (v_a + w_a x l_a)         is the velocity along d,     w = R w_body,
 *     d . (w_b - w_a) arm                                   that of rolling and spinning about it.
 *
 * A contact is nine numbers and two bodies this way; three rows of H are 36 numbers and as many indices. The kernels of
 * the pile (pile/pile.h) work on these arrays, and most steps need no H at all. Solvers that do need rows compute them
 * from the same arrays (sti_pile_matrix).
 *
 * A problem that comes with these arrays has H.p = NULL. All else in it (A, f, w, C, laws) is as in any problem.
 */
#ifndef STI_PILE_CONTACTS_H
#define STI_PILE_CONTACTS_H

#include "base/base.h"

#include <math.h>
#include <stiction/problem.h>

enum {
    STI_NODE = 8,      /* doubles that a body's six velocities take in lanes                           */
    STI_FEW_ROWS = 64, /* fewer contacts are swept one by one, each solved exactly: lanes would stay empty, and
                        * their rows are needed at once                                              */
    STI_PILE_ROW = 12  /* numbers in a row, at most: six on each side                                  */
};

/* The directions of a contact: normal, tangents and, where contacts turn, rolling about t and n x t, spinning about n.
 * A contact of dim 4 spins and does not roll: its fourth row has the sixth direction.                 */
enum { STI_SLIDING = 3, STI_TURNING = 6 };
static inline int sti_direction_of(int dim, int row)
{
    return dim == 4 && row == 3 ? 5 : row;
}

typedef struct sti_PileContacts {
    const int32_t *body;  /* two per contact: the blocks of A of its bodies a and b; -1: one that does not move */
    const double *frame;  /* nine per contact: point, normal, tangent, in the world                    */
    int stride;           /* numbers from one frame to the next                                        */
    const double *centre; /* three per block of A: the centre of mass in the world                     */
    const double *axes;   /* nine per block of A: R, row-major, takes the body's axes to the world's   */
    const int *frame_of;  /* by contact: which frame; NULL: as they come                                */
    const int *place_of;  /* likewise, by block: which centre and axes                                  */
    const double *period; /* three lengths of a periodic cell, 0: open along this axis: levers are to the nearest image
                           * of a centre; NULL: space is open                                             */
    double arm;           /* rows of rolling and spinning are multiplied by it                         */
} sti_PileContacts;

static inline const double *sti_pile_frame(const sti_PileContacts *pile, int c)
{
    return pile->frame + pile->stride * (ptrdiff_t)(pile->frame_of != NULL ? pile->frame_of[c] : c);
}
static inline const double *sti_pile_centre(const sti_PileContacts *pile, int block)
{
    return pile->centre + 3 * (ptrdiff_t)(pile->place_of != NULL ? pile->place_of[block] : block);
}
static inline const double *sti_pile_axes(const sti_PileContacts *pile, int block)
{
    return pile->axes + 9 * (ptrdiff_t)(pile->place_of != NULL ? pile->place_of[block] : block);
}

/* From a centre to a point, along axis k. */
static inline double sti_pile_lever(const sti_PileContacts *pile, int k, double point, double centre)
{
    const double lever = point - centre, period = pile->period != NULL ? pile->period[k] : 0;
    return period > 0 ? lever - period * rint(lever / period) : lever;
}

/* The rows of contact c, of which it has dim, by direction and side. A direction without a row and a side that does not
 * move are left as they are.                                                                      */
void sti_pile_rows(const sti_PileContacts *pile, int c, int dim, double row[STI_TURNING][2][STI_NODE]);

/* H of all contacts of a problem, in arrays of the caller: p has room for n_r + 1 numbers, i and x for STI_PILE_ROW
 * n_r.                                                                                            */
st_Sparse sti_pile_matrix(const sti_PileContacts *pile, const st_Problem *problem, int64_t *p, int *i, double *x);

#endif
