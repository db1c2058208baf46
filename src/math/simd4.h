/* math/simd4.h -- four numbers side by side, so that four right-hand sides are solved in the time of one.
 *
 * Code written for `NUMBER` (block_diag_solve.h, block_ldl_solve.h, linalg/saddle_solve.h) is compiled for one
 * right-hand side and for four. Each of the four has the same bits as alone.
 */
#ifndef STI_WIDE_H
#define STI_WIDE_H

enum { STI_WIDTH = 4 };

typedef double sti_Wide __attribute__((vector_size(STI_WIDTH * sizeof(double)), aligned(sizeof(double)), may_alias));

/* On x86-64 a function with this mark is also compiled for AVX2, and one version is selected when the program is
 * loaded. (Not under sanitizers, which are not initialised at that time.) Functions that should be compiled with it
 * must be inline. It must not call a static function without the mark: gcc then leaves the upper halves of the
 * vector registers in use, and everything after it runs a third slower on some processors. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define STI_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define STI_CLONES
#endif
#define STI_INLINE static inline __attribute__((always_inline))

#endif
