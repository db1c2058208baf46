/* collide/validate.h -- whole structures of the collision code, walked and checked: for ST_VALIDATE and for tests. */
#ifndef STI_COLLIDE_VALIDATE_H
#define STI_COLLIDE_VALIDATE_H

#include "base/assert.h"
#include "collide/broad/near_pairs.h"

/* Every item is in one leaf, and every box holds those below it. */
bool sti_tree_is_valid(const sti_Tree *tree);
/* Normals are units, all corners are behind all faces, every edge is in the loops of its two faces, once in either
 * direction, and Euler's formula holds.                                                            */
bool sti_facets_are_valid(const sti_Facets *facets);
/* Neighbours are neighbours of each other, over the same edge. */
bool sti_mesh_is_valid(const sti_Mesh *mesh);
/* Of the points from `first` on features increase and normals are units. */
bool sti_points_are_valid(const sti_Points *points, int first);
/* Pairs stand by increasing (i, j), each once. */
bool sti_pairs_are_valid(const sti_Pairs *pairs);

#endif
