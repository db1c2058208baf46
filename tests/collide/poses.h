/* tests/collide/poses.h -- pairs of random shapes in random, nested, aligned, very unequal and touching poses, and a
 * tally of their failures, pair by pair: a sweep counts all failures and shows the first few.
 */
#ifndef STI_TEST_POSES_H
#define STI_TEST_POSES_H

#include "shapes.h"

static const st_ShapeType convex[] = {ST_SHAPE_POINT,   ST_SHAPE_SPHERE,    ST_SHAPE_BAR,
                                      ST_SHAPE_CAPSULE, ST_SHAPE_BOX,       ST_SHAPE_CYLINDER,
                                      ST_SHAPE_CONE,    ST_SHAPE_ELLIPSOID, ST_SHAPE_HULL};
#define N_CONVEX ((int)(sizeof convex / sizeof convex[0]))

static inline bool full_size(void)
{
    return getenv("ST_TEST_FULL") != NULL;
}

typedef struct Pair {
    TestShape a, b;
    st_Pose pose_a, pose_b;
    double size; /* of the larger */
    int sort;
    sti_Points points;
} Pair;

/* The sorts of poses that make_pair() makes. */
enum { SORT_ANY, SORT_NESTED, SORT_ALIGNED, SORT_UNEQUAL, SORT_TOUCHING, SORT_TILTED, N_SORTS };
static const char *const sort_name[N_SORTS] = {"any", "nested", "aligned", "unequal", "touching", "tilted"};

static inline double least_gap(const sti_Points *points)
{
    double gap = INFINITY;
    for (int k = 0; k < points->n; k++)
        gap = fmin(gap, points->point[k].gap);
    return gap;
}

static inline const sti_ContactPoint *nearest(const sti_Points *points)
{
    const sti_ContactPoint *best = &points->point[0];
    for (int k = 1; k < points->n; k++)
        if (points->point[k].gap < best->gap) best = &points->point[k];
    return best;
}

static inline double collide(Pair *pair)
{
    st_Error err = {0};
    sti_Collide how = {.margin = INFINITY, .planar = -1, .keep = STI_KEEP_SPAN};
    pair->points.n = 0;
    check_ok(sti_collide(&pair->a.shape, pair->pose_a, &pair->b.shape, pair->pose_b, &how, &pair->points, &err), err);
    if (pair->points.n == 0 || pair->points.point == NULL) {
        fail_msg("no contact point");
        return NAN; /* for the analyser, which does not interpret fail_msg */
    }
    for (int k = 1; k < pair->points.n; k++)
        assert_true(pair->points.point[k].feature > pair->points.point[k - 1].feature);
    assert_true(pair->points.point[pair->points.n - 1].feature < 1u << STI_FEATURE_BITS);
    return least_gap(&pair->points);
}

/* b somewhere about a, both turned somehow. */
static inline void place_pair(check_Random *random, Pair *pair)
{
    double reach = pair->a.shape.reach + pair->b.shape.reach;
    st_Vec3 place = random_vec(random, 1);
    st_Quat turn_a = random_quat(random), turn_b = random_quat(random);
    double away = check_random(random, 0, 1.4) * reach;
    st_Vec3 way = random_unit(random);
    pair->pose_a = (st_Pose){place, turn_a};
    pair->pose_b = (st_Pose){add(place, scale(away, way)), turn_b};
}

/* Parallel faces, edges, axes; half of them moved along one axis only, some concentric. */
static inline void align_pair(check_Random *random, Pair *pair)
{
    double reach = pair->a.shape.reach + pair->b.shape.reach, away = check_random(random, 0, 1.2) * reach;
    int axis = check_random_int(random, 0, 2);
    pair->pose_a.q = square_quat(random);
    pair->pose_b.q = square_quat(random);
    if (check_random_int(random, 0, 1) == 1) pair->pose_b.p = add(pair->pose_a.p, scale(away, vec3_axis(axis)));
    if (check_random_int(random, 0, 9) == 0) pair->pose_b.p = pair->pose_a.p;
}

static inline void make_pair(check_Random *random, st_ShapeType a, st_ShapeType b, int sort, Pair *pair)
{
    double size_a = 1, size_b = check_random(random, 0.3, 1);
    if (sort == SORT_UNEQUAL) size_b = pow(10, check_random(random, -6, 0));
    if (sort == SORT_UNEQUAL && check_random_int(random, 0, 1) == 1) size_a = size_b, size_b = 1;
    random_shape(random, a, size_a, &pair->a);
    random_shape(random, b, size_b, &pair->b);
    pair->size = fmax(pair->a.shape.reach, pair->b.shape.reach) + 1e-3;
    pair->sort = sort;
    place_pair(random, pair);
    double reach = pair->a.shape.reach + pair->b.shape.reach;
    if (sort == SORT_NESTED) pair->pose_b.p = add(pair->pose_a.p, scale(0.1 * reach, random_unit(random)));
    if (sort == SORT_ALIGNED) align_pair(random, pair);
    if (sort < SORT_TOUCHING) return;
    /* touching: closed up along the normal; the last sort with parallel faces, tilted by a little afterwards */
    if (sort == SORT_TILTED) {
        pair->pose_a.q = square_quat(random);
        pair->pose_b.q = square_quat(random);
    }
    double gap = collide(pair);
    pair->pose_b.p = sub(pair->pose_b.p, scale(gap, nearest(&pair->points)->normal));
    if (sort != SORT_TILTED) return;
    double tilt = pow(10, check_random(random, -16, -2));
    pair->pose_b.q = quat_unit(quat_product(pair->pose_b.q, quat_exp(scale(tilt, random_unit(random)))));
}

static inline void drop_pair(Pair *pair)
{
    free_shape(&pair->a);
    free_shape(&pair->b);
}

/* ---- failures ------------------------------------------------------------------------------------- */

#define SHOWN 3 /* failures of one pair that are printed */

typedef struct Tally {
    long poses, failures, all_failures;
} Tally;

/* Counts a failure; true where it is one of the first and so to be printed. */
static inline bool note_failure(Tally *tally, const Pair *pair, long round)
{
    tally->all_failures++;
    if (tally->failures++ >= SHOWN) return false;
    print_error("%s and %s, %s, round %ld: ", st_shape_type_name(pair->a.def.type),
                st_shape_type_name(pair->b.def.type), sort_name[pair->sort], round);
    return true;
}

#endif
