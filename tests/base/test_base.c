/* Status, messages and memory: src/base. */
#include "base/base.h"
#include "base/number.h"
#include "base/utf8.h"
#include "check.h"
#include "comma.h"

static void version_is_that_of_the_header(void **state)
{
    (void)state;
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", ST_VERSION_MAJOR, ST_VERSION_MINOR, ST_VERSION_PATCH);
    assert_string_equal(st_version(), expected);
}

static void every_status_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = ST_OK; i <= ST_ERR_CANCELLED; i++) {
        assert_string_not_equal(st_status_name((st_Status)i), "unknown");
        for (int j = ST_OK; j < i; j++)
            assert_string_not_equal(st_status_name((st_Status)i), st_status_name((st_Status)j));
    }
    assert_string_equal(st_status_name((st_Status)(ST_ERR_CANCELLED + 1)), "unknown");
}

static void a_failure_returns_its_status_and_fills_the_error(void **state)
{
    (void)state;
    st_Error err = {.status = ST_OK, .line = 7};
    assert_int_equal(sti_fail(&err, ST_ERR_ARGUMENT, "mass is %g, must be > 0", -1.0), ST_ERR_ARGUMENT);
    assert_int_equal(err.status, ST_ERR_ARGUMENT);
    assert_int_equal(err.line, 0);
    assert_string_equal(err.message, "mass is -1, must be > 0");
    assert_int_equal(sti_fail(NULL, ST_ERR_FILE, "nobody reads this"), ST_ERR_FILE);
}

static void a_message_too_long_is_cut_and_ended(void **state)
{
    (void)state;
    st_Error err;
    char text[2 * sizeof err.message];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sti_fail(&err, ST_ERR_FORMAT, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

/* Two bytes a character, an odd room: the last one does not fit, and no half of it stays. */
static void a_message_is_cut_between_characters(void **state)
{
    (void)state;
    st_Error err;
    char text[2 * sizeof err.message] = "";
    for (size_t k = 0; k + 2 < sizeof text; k += 2)
        memcpy(text + k, "\xc3\xa9", 3);
    sti_fail(&err, ST_ERR_FORMAT, "%s", text);
    assert_int_equal(strlen(err.message), sizeof err.message - 2);
    assert_int_equal(err.message[0] & 0xff, 0xc3);
    sti_utf8_copy(text, 4, "a\xe2\x82\xac"); /* the euro has three bytes: one too many */
    assert_string_equal(text, "a");
    sti_utf8_copy(text, 5, "a\xe2\x82\xac");
    assert_string_equal(text, "a\xe2\x82\xac");
}

static void check_number(const char *text, double expected, int length)
{
    const char *end = NULL;
    const double x = sti_number_read(text, &end);
    assert_int_equal(end - text, length);
    if (length > 0) assert_true(isnan(expected) ? isnan(x) : x == expected); /* strtod is exact */
}

static void check_numbers(void)
{
    char text[STI_NUMBER_SIZE], many[400];
    check_number("1.5", 1.5, 3);
    check_number(" \t-2.5e-3,7", -2.5e-3, 9);
    check_number("1,5", 1, 1); /* whatever the locale */
    check_number(".25 x", 0.25, 3);
    check_number("3.", 3, 2);
    check_number("+7e", 7, 2);
    check_number("7e+", 7, 1);
    check_number("0x10", 0, 1);
    check_number(".", 0, 0);
    check_number("-e5", 0, 0);
    check_number("", 0, 0);
    check_number("nan", NAN, 3);
    check_number("-inf", -INFINITY, 4);
    memset(many, '3', sizeof many - 1); /* longer than any room for a copy */
    memcpy(many, "0.", 2), many[sizeof many - 1] = '\0';
    check_number(many, 1.0 / 3, (int)sizeof many - 1);
    assert_string_equal(sti_number(text, -1234.5, 17), "-1234.5");
    assert_string_equal(sti_number_text(text, 0.1), "0.1");
    assert_string_equal(sti_number_text(text, 1e22), "1e+22");
    sti_number_text(text, 1.0 / 3);
    check_number(text, 1.0 / 3, (int)strlen(text));
}

static void numbers_have_a_point_in_every_locale(void **state)
{
    (void)state;
    char folder[64], text[32];
    check_numbers();
    const bool comma = set_comma(folder);
    snprintf(text, sizeof text, "%.1f", 0.5);
    if (comma) check_numbers();
    end_comma(folder);
    if (!comma) skip(); /* no locale here has a comma: only the "C" locale was tested */
    assert_string_equal(text, "0,5");
}

static void memory_is_zeroed_and_aligned(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    for (int64_t count = 1; count < 300; count += 37) {
        unsigned char *bytes = sti_alloc(&allocator, count, 1);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % STI_ALIGN, 0);
        for (int64_t i = 0; i < count; i++)
            assert_int_equal(bytes[i], 0);
        sti_free(&allocator, bytes, count, 1);
    }
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    assert_null(sti_alloc(&allocator, 0, 8));
    assert_null(sti_alloc(&allocator, -1, 8));
    assert_null(sti_alloc(&allocator, INT64_MAX, 8));                      /* the product overflows */
    assert_null(sti_alloc(&allocator, INT64_MAX, 2));                      /* it fits, with no room for alignment */
    assert_null(sti_alloc(&allocator, (int64_t)(SIZE_MAX / 32) - 100, 8)); /* no machine has it     */
}

static void growing_keeps_what_was_there(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    st_Error err = {.status = ST_OK};
    int *list = NULL;
    int64_t capacity = 0;
    enum { MOST = 300000 }; /* 1.2 MB: large arrays grow by their pages */
    for (int n = 1; n <= MOST; n++) {
        check_ok(STI_GROW(&allocator, list, capacity, n, &err), err);
        assert_int_equal(list[n - 1], 0);
        list[n - 1] = n;
    }
    for (int i = 0; i < MOST; i++)
        assert_int_equal(list[i], i + 1);
    assert_true(capacity < 2 * MOST); /* it doubles, no more */
    STI_RELEASE(&allocator, list, capacity);
    assert_null(list);
    assert_int_equal(capacity, 0);
}

static void a_refused_growth_changes_nothing(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    st_Error err = {.status = ST_OK};
    for (int n = 3; n < 100000; n += 50000) { /* a small array, and a large one */
        double *list = NULL;
        int64_t capacity = 0;
        check_ok(STI_GROW(&allocator, list, capacity, n, &err), err);
        list[2] = 0.5;
        const double *before = list;
        assert_int_equal(STI_GROW(&allocator, list, capacity, INT64_MAX, &err), ST_ERR_MEMORY);
        assert_int_equal(STI_GROW(&allocator, list, capacity, INT64_MAX / 16, &err), ST_ERR_MEMORY);
        assert_int_equal(err.status, ST_ERR_MEMORY);
        assert_ptr_equal(list, before);
        assert_int_equal(capacity, n);
        assert_true(list[2] == 0.5);
        STI_RELEASE(&allocator, list, capacity);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_is_that_of_the_header),
        cmocka_unit_test(every_status_has_a_name_of_its_own),
        cmocka_unit_test(a_failure_returns_its_status_and_fills_the_error),
        cmocka_unit_test(a_message_too_long_is_cut_and_ended),
        cmocka_unit_test(a_message_is_cut_between_characters),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(memory_is_zeroed_and_aligned),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(growing_keeps_what_was_there),
        cmocka_unit_test(a_refused_growth_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
