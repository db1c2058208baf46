/* base/assert.h -- checks of the library's own logic. Arguments of public functions are not checked here but always,
 * with a status and a message.
 *
 *     ST_ASSERT(x)     an invariant, which is false only if the library has a bug. On in debug builds, and so in the
 *                      sanitized one (`make test`); elsewhere it is not evaluated.
 *     ST_VALIDATE(x)   likewise, for a whole structure (a tree, a hull with its neighbours, a cache): x walks all of
 *                      it, which takes more time than the code that it checks. On with the CMake option ST_VALIDATE
 *                      (`make test-full`).
 *
 * A failure prints the file, line and condition, and ends the program: it is for developers with a debugger.
 */
#ifndef STI_ASSERT_H
#define STI_ASSERT_H

#include <stdbool.h>

_Noreturn void sti_assert_failed(const char *condition, const char *file, int line);

#define STI_CHECK_INVARIANT(condition)                                                                                 \
    do {                                                                                                               \
        if (!(condition)) sti_assert_failed(#condition, __FILE__, __LINE__);                                           \
    } while (0)

#ifdef NDEBUG
#define ST_ASSERT(condition) ((void)sizeof(condition))
#else
#define ST_ASSERT(condition) STI_CHECK_INVARIANT(condition)
#endif

#ifdef STI_VALIDATE_STRUCTURES
#define ST_VALIDATE(condition) STI_CHECK_INVARIANT(condition)
#else
#define ST_VALIDATE(condition) ((void)sizeof(condition))
#endif

#endif
