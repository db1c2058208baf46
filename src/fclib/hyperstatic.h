/* fclib/hyperstatic.h -- impulses that a problem leaves open, and the least of them; see hyperstatic.c. */
#ifndef STI_HYPERSTATIC_H
#define STI_HYPERSTATIC_H

#include "base/base.h"

#include <stiction/friction.h>

/* A solution (r, u), and the masses and rows of its bodies. Laws: frictionless, coulomb, cone; of bounded rows those
 * without bounds (joints) take part, the others keep their impulse.                                       */
typedef struct sti_Open {
    int n_r, n_contacts;
    const st_ContactLaw *contact; /* rows first .. first + dim - 1 of r, u, weight                  */
    const double *r, *u;
    const double *weight; /* n_r numbers > 0: the least is that of sum weight r^2; NULL: all 1      */
    double still;         /* velocities below this are zero: a contact touches, or sticks           */
    double tolerance;     /* of the rank, relative                                                  */
    int n_moved;
    void (*moves)(void *ctx, const double *r, double *out); /* n_moved numbers, linear in r; 0 where r moves nothing */
    void *ctx;
} sti_Open;

typedef struct sti_Hyperstatic sti_Hyperstatic; /* the workspace: grows to the largest problem seen */

st_Status sti_hyperstatic_create(const st_Allocator *allocator, sti_Hyperstatic **out, st_Error *err);
void sti_hyperstatic_destroy(sti_Hyperstatic *h); /* NULL is fine */

/* How many directions are active, at most: the work grows with their cube. */
enum { STI_MOST_DIRECTIONS = 6000 };

/* determined and least (n_r each) may be NULL; least may be open->r. More than STI_MOST_DIRECTIONS is an error. */
st_Status sti_hyperstatic_find(sti_Hyperstatic *h, const sti_Open *open, bool *determined, double *least,
                               st_Determined *out, st_Error *err);

#endif
