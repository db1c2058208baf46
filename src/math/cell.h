/* math/cell.h -- a periodic cell: space repeats along some of the world's axes.
 *
 * Positions of bodies are not wrapped when a body leaves the cell. All its images, which are whole cells apart, are
 * the same body. A body is drawn at its image in the cell; two bodies touch at the images that are nearest to each
 * other.
 */
#ifndef STI_CELL_H
#define STI_CELL_H

#include "math/vec3.h"

typedef struct sti_Cell {
    bool repeats;     /* along at least one axis */
    double lower[3];  /* its corner [m]                                                              */
    double length[3]; /* [m]; 0: space is open along this axis                                       */
} sti_Cell;

/* d reduced by whole cells to the shortest distance. */
static inline double cell_nearest_along(double length, double d)
{
    return length > 0 ? d - length * rint(d / length) : d;
}
static inline st_Vec3 cell_nearest(const sti_Cell *cell, st_Vec3 d)
{
    if (!cell->repeats) return d;
    return vec3(cell_nearest_along(cell->length[0], d.x), cell_nearest_along(cell->length[1], d.y),
                cell_nearest_along(cell->length[2], d.z));
}

/* The shift by whole cells from a point to its image in the cell. */
static inline double cell_shift_along(const sti_Cell *cell, int axis, double x)
{
    const double length = cell->length[axis];
    return length > 0 ? -length * floor((x - cell->lower[axis]) / length) : 0;
}
static inline st_Vec3 cell_shift(const sti_Cell *cell, st_Vec3 p)
{
    if (!cell->repeats) return vec3(0, 0, 0);
    return vec3(cell_shift_along(cell, 0, p.x), cell_shift_along(cell, 1, p.y), cell_shift_along(cell, 2, p.z));
}
/* The image of a point in the cell. */
static inline st_Vec3 cell_image(const sti_Cell *cell, st_Vec3 p)
{
    return cell->repeats ? add(p, cell_shift(cell, p)) : p;
}

#endif
