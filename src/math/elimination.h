/* math/elimination.h -- the elimination order of a sparse symmetric pattern of blocks, and its fill.
 *
 * Eliminating rank k connects all its later neighbours with each other. So column k of the factor has A's own
 * entries below the diagonal and those of the columns whose first entry below the diagonal is k: its children in the
 * elimination tree (Liu 1990; George & Liu 1981).
 */
#ifndef STI_ELIMINATION_H
#define STI_ELIMINATION_H

#include "base/base.h"

typedef struct sti_Elimination {
    st_Allocator allocator;        /* set by the owner, all else 0 */
    STI_ARRAY(int, order);         /* order[k]: the block eliminated k-th                             */
    STI_ARRAY(int, rank);          /* its inverse                                                     */
    STI_ARRAY(int, parent);        /* elimination tree, by rank; -1: a root                           */
    STI_ARRAY(int64_t, column);    /* n + 1: the structure of each rank's column ...                  */
    STI_ARRAY(int, row);           /* ... by rank, the diagonal first, the others in any order */
    STI_ARRAY(int64_t, own_first); /* n + 2: the later neighbours of each rank in A alone */
    STI_ARRAY(int, own);
    STI_ARRAY(int, mark);
    STI_ARRAY(int, child); /* lists of children: the first ...                                */
    STI_ARRAY(int, sibling);
} sti_Elimination;

void sti_elimination_release(sti_Elimination *of);

/* Patterns are n columns with entries p[j] .. p[j+1]-1 in rows i, on one or both sides of the diagonal. */

/* The given order, or that of AMD (Amestoy, Davis & Duff 2004), which uses malloc. */
st_Status sti_elimination_as_it_is(sti_Elimination *of, int n, st_Error *err);
st_Status sti_elimination_by_amd(sti_Elimination *of, int n, const int64_t *p, const int *i, st_Error *err);
/* Computes ranks again after the owner has changed the order. */
void sti_elimination_reordered(sti_Elimination *of, int n);
/* Computes tree and columns in the present order. */
st_Status sti_elimination_columns(sti_Elimination *of, int n, const int64_t *p, const int *i, st_Error *err);

#endif
