/* collide/narrow/redundant.c -- which points of a contact patch the others imply.
 *
 * Take points of two bodies with one normal n: x_i across n, with the gaps g_i. For a motion v, w of one body against
 * the other the rate of a gap is u_i = n . (v + w x x_i), which is affine in x_i. So with weights l_i >= 0 of sum 1
 *
 *     x_k = sum l_i x_i  and  g_k >= sum l_i g_i    =>    g_k + h u_k >= sum l_i (g_i + h u_i) >= 0
 *
 * for every motion: point k can be left out. Its force is not needed either: f at x_k is the same load as l_i f at x_i,
 * each within its friction cone. The points (x, g) that must be kept are the corners of the lower side of their convex
 * hull. Potra et al. 2006, section 10.4, reports such a filter without its details.
 *
 *        g |   x    x      x is above the hull of the others: redundant
 *          |  o  x    o
 *          |_____o________ across n
 *
 * Corners are found one after another (Clarkson 1994): a point in the hull of the corners found so far is left out.
 * For any other there is a direction in which it is farther than they are, and the farthest of all points in that
 * direction is the next corner. So each point is tried against few others: m points with k corners cost m k. Points
 * are taken as implied up to TOLERANCE, since triangulated faces are flat up to rounding.
 */
#include "collide/narrow/manifold.h"
#include "collide/narrow/narrow.h"

#define SAME_NORMAL 1e-3 /* [rad] */
#define TOLERANCE   1e-6 /* of the size of the patch */
#define ROUNDING    1e-12
#define MAX_CORNERS 64 /* of one patch; further points that are not implied are all kept */

/* A point as (x, g): perpendicular to the normal, and along it. */
typedef struct Lift {
    st_Vec3 origin, across[2];
    double size;
} Lift;

static st_Vec3 lifted(const Lift *lift, const sti_ContactPoint *p)
{
    const st_Vec3 d = sub(p->point, lift->origin);
    return vec3(dot(lift->across[0], d), dot(lift->across[1], d), p->gap);
}

/* Is a point in the hull of the corners, or above it? If not, the direction in which it is beyond all of them.
 * Decided by the distance of the hull from the half line below the point. */
static bool is_implied(const st_Vec3 *corner, int n, st_Vec3 p, double size, st_Vec3 *direction)
{
    const sti_Facets facets = {.n_vertices = n, .vertex = corner};
    const sti_Core hull = {.kind = STI_CORE_HULL,
                           .axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                           .half = {1, 1, 1},
                           .size = 2 * size,
                           .facets = &facets};
    const sti_Core below = sti_core_segment(p, sub(p, vec3(0, 0, 3 * size)));
    sti_Simplex simplex;
    sti_Distance distance;
    if (!sti_gjk(&hull, &below, TOLERANCE * size, INFINITY, &simplex, &distance)) return true;
    *direction = distance.normal;
    return false;
}

/* Moves the corners among points of one normal to the front. */
static int keep_corners(sti_ContactPoint *p, int n)
{
    Lift lift = {p[0].point, {orthogonal(p[0].normal)}, 0};
    st_Vec3 corner[MAX_CORNERS], direction = {0, 0, -1};
    int kept = 0;
    lift.across[1] = cross(p[0].normal, lift.across[0]);
    for (int k = 0; k < n; k++)
        lift.size = fmax(lift.size, norm(sub(lifted(&lift, &p[k]), lifted(&lift, &p[0]))));
    if (!(lift.size > 0)) return 1; /* all coincide */
    while (kept < n && kept < MAX_CORNERS) {
        if (kept > 0 && is_implied(corner, kept, lifted(&lift, &p[kept]), lift.size, &direction)) {
            p[kept] = p[--n];
            continue;
        }
        int next = kept;
        for (int k = kept + 1; k < n; k++)
            if (dot(direction, lifted(&lift, &p[k])) > dot(direction, lifted(&lift, &p[next]))) next = k;
        const sti_ContactPoint found = p[next];
        p[next] = p[kept];
        p[kept] = found;
        corner[kept++] = lifted(&lift, &found);
    }
    if (kept < n) return n;
    /* Of equally far points, one between others may have come first. The nearest of all, which is the first, is
     * dropped only if another is as near: the smallest gap is the distance of the shapes. */
    double nearest = INFINITY;
    for (int k = 1; k < kept; k++)
        nearest = fmin(nearest, corner[k].z);
    for (int k = kept - 1; k >= (nearest > corner[0].z + ROUNDING * lift.size); k--) {
        const st_Vec3 tried = corner[k];
        corner[k] = corner[kept - 1];
        if (kept > 1 && is_implied(corner, kept - 1, tried, lift.size, &direction))
            p[k] = p[--kept];
        else
            corner[k] = tried;
    }
    return kept;
}

int sti_drop_redundant(sti_ContactPoint *p, int n)
{
    int kept = 0;
    for (int from = 0; from < n;) {
        const int group = sti_group_by_normal(p + from, n - from, SAME_NORMAL);
        const int few = group > 2 ? keep_corners(p + from, group) : group;
        for (int k = 0; k < few; k++)
            p[kept + k] = p[from + k];
        kept += few;
        from += group;
    }
    return kept;
}
