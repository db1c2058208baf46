/* The checks of ST_VALIDATE: they accept structures that the library builds, and find errors that are introduced by
 * hand. */
#include "collide/validate.h"
#include "shapes.h"

static void hulls_are_checked(void **state)
{
    (void)state;
    check_Random random = {97};
    for (int round = 0; round < 50; round++) {
        TestShape hull;
        random_shape(&random, ST_SHAPE_HULL, 1, &hull);
        sti_Facets facets = hull.shape.hull->facets;
        assert_true(sti_facets_are_valid(&facets));
        int *edge = (int *)facets.edge; /* the hull's own memory, ours for the moment */
        const int first = edge[0];
        edge[0] = edge[1]; /* an edge from a corner to itself */
        assert_false(sti_facets_are_valid(&facets));
        edge[0] = first;
        st_Vec3 *vertex = (st_Vec3 *)facets.vertex, was = vertex[0];
        vertex[0] = scale(2, was); /* a corner outside */
        assert_false(sti_facets_are_valid(&facets));
        vertex[0] = was;
        facets.n_edges--;
        assert_false(sti_facets_are_valid(&facets));
        free_shape(&hull);
    }
}

static void meshes_and_trees_are_checked(void **state)
{
    (void)state;
    check_Random random = {98};
    double heights[64];
    for (int k = 0; k < 64; k++)
        heights[k] = check_random(&random, 0, 1);
    TestShape field = {.def = st_height_field_def(heights, 8, 8, 0.5)};
    compile_shape(&field);
    sti_Mesh *mesh = field.shape.mesh;
    assert_true(sti_mesh_is_valid(mesh));
    int t = 0;
    while (mesh->triangle[t].neighbour[0] < 0)
        t++;
    const int neighbour = mesh->triangle[t].neighbour[0];
    mesh->triangle[t].neighbour[0] = t;
    assert_false(sti_mesh_is_valid(mesh));
    mesh->triangle[t].neighbour[0] = neighbour;
    mesh->tree.bounds[3].hi.z += 100; /* moved without updating the tree */
    assert_false(sti_tree_is_valid(&mesh->tree));
    sti_tree_move(&mesh->tree, 3);
    assert_true(sti_tree_is_valid(&mesh->tree));
    const int leaf = mesh->tree.leaf[0];
    mesh->tree.leaf[0] = -1;
    assert_false(sti_tree_is_valid(&mesh->tree));
    mesh->tree.leaf[0] = leaf;
    free_shape(&field);
}

static void pairs_and_points_are_checked(void **state)
{
    (void)state;
    sti_Pair pair[3] = {{.i = 0, .j = 1}, {.i = 0, .j = 2}, {.i = 1, .j = 2}};
    const sti_Pairs pairs = {.n_shapes = 3, .n_pairs = 3, .pair = pair};
    assert_true(sti_pairs_are_valid(&pairs));
    pair[1] = pair[0]; /* twice */
    assert_false(sti_pairs_are_valid(&pairs));
    pair[1] = (sti_Pair){.i = 0, .j = 3}; /* there is no shape 3 */
    assert_false(sti_pairs_are_valid(&pairs));
    sti_ContactPoint point[2] = {{.normal = {0, 0, 1}, .feature = 1}, {.normal = {0, 0, 1}, .feature = 2}};
    const sti_Points points = {.n = 2, .point = point};
    assert_true(sti_points_are_valid(&points, 0));
    point[1].feature = 1;
    assert_false(sti_points_are_valid(&points, 0));
    assert_true(sti_points_are_valid(&points, 1));
    point[1].normal.z = 1.001;
    assert_false(sti_points_are_valid(&points, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_are_checked),
        cmocka_unit_test(meshes_and_trees_are_checked),
        cmocka_unit_test(pairs_and_points_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
