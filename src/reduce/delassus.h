/* reduce/delassus.h -- the Delassus matrix W by blocks. W_ij exists if the impulse of contact j moves contact i.
 * Solvers that factorise W need it; the others apply W through the reduction and never form it.
 */
#ifndef STI_DELASSUS_H
#define STI_DELASSUS_H

#include "linalg/joint_graph.h"
#include "math/sparse_lu.h"
#include "reduce/reduce.h"

typedef struct sti_Delassus {
    st_Allocator allocator;
    sti_BlockRows rows;    /* its pattern: blocks are contacts                                  */
    const double *b;       /* n_r                                                               */
    int64_t n_entries;     /* blocks                                                            */
    STI_ARRAY(int, first); /* n_contacts + 1                                                    */
    STI_ARRAY(int64_t, p); /* n_contacts + 1                                                    */
    STI_ARRAY(int, j);     /* ascending in a row                                                */
    STI_ARRAY(int64_t, start);
    STI_ARRAY(double, x);
    STI_ARRAY(int64_t, diagonal);   /* n_contacts: the entry (c, c)                                */
    STI_ARRAY(int64_t, user_first); /* n_v + 1: the contacts whose H touches a velocity ...        */
    STI_ARRAY(int, user);           /* ...                                                         */
    STI_ARRAY(int, mark);           /* by contact                                                  */
    STI_ARRAY(int, list);           /* the rows of the column at hand                              */
    STI_ARRAY(double, column);      /* n_v x ST_MAX_DIM: a column block of Y spread out, 0 between uses */
    STI_ARRAY(int, patch);          /* by contact: first and end of the contacts that C ties it to */
} sti_Delassus;

/* Start with {.allocator = ...}. If W has more than max_blocks blocks, *formed is false and W is not built. */
st_Status sti_delassus_build(sti_Delassus *w, const sti_Reduction *reduction, int64_t max_blocks, bool *formed,
                             st_Error *err);
void sti_delassus_release(sti_Delassus *w);

/* u = W r + b. */
void sti_delassus_apply(const sti_Delassus *w, const double *r, double *u);

#endif
