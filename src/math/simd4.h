/* math/simd4.h -- four numbers side by side, so that four right-hand sides are solved in the time of one.
 *
 * Code written for `NUMBER` (block_diag_solve.h, block_ldl_solve.h, linalg/saddle_solve.h) is compiled for one
 * right-hand side and for four. Each of the four has the same bits as alone.
 */
#ifndef STI_WIDE_H
#define STI_WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { STI_WIDTH = 4 };

typedef double sti_Wide __attribute__((vector_size(STI_WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));

/* On x86-64 a function with this mark is also compiled for AVX2, and one version is selected when the program is
 * loaded. (Not under sanitizers, which are not initialised at that time.) Functions that should be compiled with it
 * must be inline. It must not call a static function without the mark: gcc then leaves the upper halves of the
 * vector registers in use, and everything after it runs a third slower on some processors. The function itself must be
 * static: gcc exports the names of others from the library. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define STI_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define STI_CLONES
#endif
#define STI_INLINE static inline __attribute__((always_inline))

typedef uint64_t sti_Bits __attribute__((vector_size(2 * sizeof(uint64_t)), aligned(sizeof(double)), may_alias));

/* Have n numbers the same bits? For so few that a call to memcmp() takes longer than the comparison. */
STI_INLINE bool sti_same_numbers(const double *a, const double *b, int n)
{
    sti_Bits differs = {0, 0};
    int i = 0;
    for (; i + 2 <= n; i += 2)
        /* cppcheck-suppress invalidPointerCast ; sti_Bits may alias */
        differs |= *(const sti_Bits *)(a + i) ^ *(const sti_Bits *)(b + i);
    if (i < n) {
        sti_Bits x = {0, 0}, y = {0, 0};
        memcpy(&x, a + i, sizeof *a);
        memcpy(&y, b + i, sizeof *b);
        differs |= x ^ y;
    }
    return (differs[0] | differs[1]) == 0;
}

#endif
