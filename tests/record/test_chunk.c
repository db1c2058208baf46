/* Chunks: the filters of HDF5 restore the input; noise is not compressed, repetitions shrink. */
#include "check.h"
#include "record/chunk.h"

#include <string.h>

#define MOST (64 * 5000)

typedef struct Fixture {
    sti_Chunker chunker;
    unsigned char in[MOST], planes[MOST], out[MOST];
    uint64_t seed;
} Fixture;

static int setup(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    if (f == NULL) return -1;
    f->chunker.allocator = st_default_allocator();
    f->seed = 1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    Fixture *f = *state;
    sti_chunker_free(&f->chunker);
    free(f);
    return 0;
}

static unsigned char noise(Fixture *f)
{
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(f->seed >> 56);
}

/* Pack, then undo it by the definition of the two filters. */
static size_t there_and_back(Fixture *f, size_t count, size_t width, size_t row)
{
    st_Error err = {0};
    const size_t period[2] = {row, row}, bytes = count * width;
    check_ok(sti_chunk_pack(&f->chunker, f->in, count, width, period, &err), err);
    if (f->chunker.skipped != 0) {
        assert_int_equal(f->chunker.skipped, 3);
        assert_int_equal(f->chunker.size, bytes);
        assert_memory_equal(f->chunker.bytes, f->in, bytes);
        return bytes;
    }
    uLongf size = MOST;
    assert_int_equal(uncompress(f->planes, &size, f->chunker.bytes, (uLong)f->chunker.size), Z_OK);
    assert_int_equal(size, bytes);
    for (size_t k = 0; k < count; k++)
        for (size_t b = 0; b < width; b++)
            f->out[k * width + b] = f->planes[b * count + k];
    assert_memory_equal(f->out, f->in, bytes);
    return f->chunker.size;
}

static void noise_stays_as_it_is(void **state)
{
    Fixture *f = *state;
    for (size_t k = 0; k < MOST; k++)
        f->in[k] = noise(f);
    assert_int_equal(there_and_back(f, 5000, 8, 3), 40000);
    assert_int_equal(f->chunker.skipped, 3);
}

static void rest_vanishes(void **state)
{
    Fixture *f = *state;
    /* eight frames of 500 constant numbers: one frame and some matches are left */
    for (size_t k = 0; k < MOST; k++)
        f->in[k] = k < 4000 ? noise(f) : f->in[k - 4000];
    assert_true(there_and_back(f, 4000, 8, 500) < 2 * 4000);
    /* nothing at all: deflate has at best 258 bytes in two bits, a thousandth */
    memset(f->in, 0, MOST);
    assert_true(there_and_back(f, 5000, 64, 1) < MOST / 100);
}

/* Any number of planes that repeat among others that do not, of any width and length. */
static void all_mixtures_come_back(void **state)
{
    Fixture *f = *state;
    for (int trial = 0; trial < 400; trial++) {
        size_t width = 1 + noise(f) % 64, count = 1 + (size_t)noise(f) * noise(f) % 5000, calm = noise(f) % (width + 1);
        for (size_t k = 0; k < count * width; k++)
            f->in[k] = k % width < calm ? (unsigned char)(k / width / 100) : noise(f);
        size_t size = there_and_back(f, count, width, 1 + noise(f));
        if (count > 1000 && calm == width) assert_true(size < count * width / 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(noise_stays_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(rest_vanishes, setup, teardown),
        cmocka_unit_test_setup_teardown(all_mixtures_come_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
