/* collide/collide.h -- contact points between two shapes: a signed gap, a point, a normal.
 *
 * Sees shapes and poses, never bodies, forces or solvers. The gap is continuous through touching:
 * event schemes find its roots.
 */
#ifndef STI_COLLIDE_H
#define STI_COLLIDE_H

#include "base/base.h"

#include <stiction/scene.h>

/* Normal from the first shape to the second. The point is on the second shape's surface, so that with
 * the normal fixed in the first shape the gap's rate is normal . (velocity of b there - of a there). */
typedef struct sti_ContactPoint {
    double gap; /* [m] */
    st_Vec3 point, normal;
    int feature; /* which corner, end ...: the same from step to step */
} sti_ContactPoint;

#define STI_MAX_POINTS 8 /* of one pair of shapes */

/* Can this pair of shape types touch at all here? */
bool sti_collide_supports(st_ShapeType a, st_ShapeType b);

/* All contact points with gap < margin, features increasing; returns how many. Poses are the shapes' in
 * the world.                                                                                      */
int sti_collide(const st_ShapeDef *a, st_Pose pose_a, const st_ShapeDef *b, st_Pose pose_b, double margin,
                sti_ContactPoint out[STI_MAX_POINTS]);

#endif
