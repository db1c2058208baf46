/* collide/validate.h -- checks of whole structures of the collision code, for ST_VALIDATE and for tests. */
#ifndef STI_COLLIDE_VALIDATE_H
#define STI_COLLIDE_VALIDATE_H

#include "base/assert.h"
#include "collide/broad/near_pairs.h"

/* Is every item in one leaf, and does every box contain those below it? */
bool sti_tree_is_valid(const sti_Tree *tree);
/* Are normals unit vectors, all corners below all faces, and every edge in the loops of its two faces, once in each
 * direction? And does Euler's formula hold? */
bool sti_facets_are_valid(const sti_Facets *facets);
/* Are neighbours mutual, across the same edge? */
bool sti_mesh_is_valid(const sti_Mesh *mesh);
/* Do features of the points from `first` on increase, and are their normals unit vectors? */
bool sti_points_are_valid(const sti_Points *points, int first);
/* Are pairs sorted by (i, j), each once? */
bool sti_pairs_are_valid(const sti_Pairs *pairs);

#endif
