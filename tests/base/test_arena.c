/* Blocks of an arena: they do not overlap, are aligned, are used again, and all chunks go back. A box on a plane lives
 * in a dozen blocks of the user's allocator.
 */
#include "base/base.h"
#include "check.h"
#include "counter.h"

#include <string.h>

static Counter counter;

static st_Allocator counting(void)
{
    counter = (Counter){.base = st_default_allocator()};
    return (st_Allocator){counting_alloc, counting_free, &counter};
}

/* Each block is filled with its number and checked before it is freed, in a random order. */
static void blocks_keep_what_is_in_them(void **state)
{
    (void)state;
    enum { N = 300 };
    st_Allocator arena;
    const st_Allocator below = counting();
    st_Error err = {0};
    check_Random random = {91};
    unsigned char *block[N] = {0};
    int64_t size[N] = {0};
    check_ok(sti_arena_open(&below, &arena, &err), err);
    for (int round = 0; round < 20000; round++) {
        const int k = check_random_int(&random, 0, N - 1);
        for (int64_t i = 0; i < size[k]; i++)
            assert_int_equal(block[k][i], k % 251);
        sti_free(&arena, block[k], size[k], 1);
        size[k] = (int64_t)exp(check_random(&random, 0, log(60000.0))); /* some larger than an arena serves */
        block[k] = sti_alloc(&arena, size[k], 1);
        assert_non_null(block[k]);
        assert_int_equal((uintptr_t)block[k] % STI_ALIGN, 0);
        for (int64_t i = 0; i < size[k]; i++)
            assert_int_equal(block[k][i], 0);
        memset(block[k], k % 251, (size_t)size[k]);
    }
    for (int k = 0; k < N; k++)
        sti_free(&arena, block[k], size[k], 1);
    if (CHECK_ARENAS) { /* freed blocks are used again: no new chunk */
        long long calls = 0;
        for (int round = 0; round < 2; round++) {
            for (int k = 0; k < N; k++)
                block[k] = sti_alloc(&arena, 64 + k, 1);
            for (int k = 0; k < N; k++)
                sti_free(&arena, block[k], 64 + k, 1);
            if (round == 0) calls = atomic_load(&counter.calls);
        }
        assert_int_equal(atomic_load(&counter.calls), calls);
    }
    sti_arena_close(&arena);
    assert_int_equal(atomic_load(&counter.held), 0);
}

static void a_refusal_is_passed_on(void **state)
{
    (void)state;
    st_Allocator arena;
    const st_Allocator below = counting();
    st_Error err = {0};
    counter.refuse_at = 1;
    assert_int_equal(sti_arena_open(&below, &arena, &err), ST_ERR_MEMORY);
    counter.refuse_at = 4;
    check_ok(sti_arena_open(&below, &arena, &err), err);
    void *first = sti_alloc(&arena, 30000, 1), *second = sti_alloc(&arena, 30000, 1);
    assert_non_null(first);
    assert_null(second);
    sti_free(&arena, first, 30000, 1);
    sti_arena_close(&arena);
    assert_int_equal(atomic_load(&counter.held), 0);
}

static void a_box_on_a_plane_is_a_dozen_blocks(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    const st_Allocator below = counting();
    check_ok(st_scene_create_with(&below, &scene, &err), err);
    st_BodyDef floor_def = st_body_def(), box_def = st_body_def();
    st_BodyId floor_id, box_id;
    st_ShapeDef plane = st_plane_def(), box = st_box_def(0.1, 0.1, 0.1);
    floor_def.fixed = true;
    box_def.pose.p.z = 0.1;
    check_ok(st_scene_add_body(scene, &floor_def, &floor_id, &err), err);
    check_ok(st_scene_add_shape(scene, floor_id, &plane, NULL, &err), err);
    check_ok(st_scene_add_body(scene, &box_def, &box_id, &err), err);
    check_ok(st_scene_add_shape(scene, box_id, &box, NULL, &err), err);
    st_SystemDef def = st_system_def();
    def.allocator = below;
    check_ok(st_system_create(scene, &def, &system, &err), err);
    st_scene_destroy(scene);
    for (int k = 0; k < 50; k++)
        check_ok(st_system_step(system, 1e-3, NULL, &err), err);
    if (CHECK_ARENAS) assert_in_range(atomic_load(&counter.held), 1, 12);
    st_system_destroy(system);
    assert_int_equal(atomic_load(&counter.held), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_keep_what_is_in_them),
        cmocka_unit_test(a_refusal_is_passed_on),
        cmocka_unit_test(a_box_on_a_plane_is_a_dozen_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
