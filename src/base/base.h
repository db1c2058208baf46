/* base/base.h -- for every file of the library: errors with messages, and memory. */
#ifndef STI_BASE_H
#define STI_BASE_H

#include <math.h>
#include <stiction/base.h>
#include <string.h>

#if defined(__GNUC__)
#define STI_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define STI_PRINTF(text, args)
#endif

/* Fills err (unless it is NULL) and returns status: `return sti_fail(err, ST_ERR_ARGUMENT, "...")`. */
st_Status sti_fail(st_Error *err, st_Status status, const char *format, ...) STI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* the analyzer does not read status.c: state here that a failure is never ST_OK */
#define sti_fail(err, status, ...) (__extension__({ (sti_fail)((err), (status), __VA_ARGS__), (status); }))
#endif

/* Returns from the calling function if `call` fails. The message is already in err. */
#define STI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        st_Status sti_status_ = (call);                                                                                \
        if (sti_status_ != ST_OK) return sti_status_;                                                                  \
    } while (0)

/* The larger of two numbers without a function call, which fmax() would need for NaN and signed zeros. If x is NaN
 * the result is m. */
static inline double sti_larger(double x, double m)
{
    return x > m ? x : m;
}

/* Swaps a and b. */
#define STI_EXCHANGE(type, a, b)                                                                                       \
    do {                                                                                                               \
        type sti_was_ = (a);                                                                                           \
        (a) = (b);                                                                                                     \
        (b) = sti_was_;                                                                                                \
    } while (0)

/* All memory is aligned for vector code and cache lines. */
#define STI_ALIGN 64

/* count * size zeroed bytes; NULL if the allocator refuses or the product overflows. */
void *sti_alloc(const st_Allocator *allocator, int64_t count, size_t size);
void sti_free(const st_Allocator *allocator, void *memory, int64_t count, size_t size);

/* Makes *memory hold at least `count` elements. Old elements are kept, new ones are zero. Capacity grows by at least
 * half, and by a 32nd from half a megabyte on. If memory is refused, nothing changes. Use through STI_GROW. */
st_Status sti_grow(const st_Allocator *allocator, void **memory, int64_t *capacity, int64_t count, size_t size,
                   st_Error *err);
#define STI_GROW(allocator, pointer, capacity, count, err)                                                             \
    sti_grow((allocator), (void **)&(pointer), &(capacity), (count), sizeof *(pointer), (err))
#define STI_RELEASE(allocator, pointer, capacity)                                                                      \
    do {                                                                                                               \
        sti_free((allocator), (pointer), (capacity), sizeof *(pointer));                                               \
        (pointer) = NULL;                                                                                              \
        (capacity) = 0;                                                                                                \
    } while (0)
/* Are the bytes the same? For numbers that must agree to the bit, including -0 and NaN. */
static inline bool sti_same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* Arrays of equal lifetime in one block, each aligned and zeroed. The same list is used for allocating and freeing;
 * NULL: refused. A span without elements becomes NULL. */
typedef struct sti_Span {
    void **at;
    int64_t count;
    size_t size; /* bytes per element */
} sti_Span;
#define STI_SPAN(pointer, count)                                                                                       \
    {                                                                                                                  \
        (void **)&(pointer), (count), sizeof *(pointer)                                                                \
    }
void *sti_alloc_spans(const st_Allocator *allocator, const sti_Span *span, size_t n);
void sti_free_spans(const st_Allocator *allocator, void *block, const sti_Span *span, size_t n);

/* arena.c: small blocks of one object from few large blocks of the underlying allocator. Larger blocks than this
 * come directly from the underlying allocator. */
#define STI_ARENA_LARGEST (32 << 10)
st_Status sti_arena_open(const st_Allocator *below, st_Allocator *out, st_Error *err);
/* Frees all its blocks, also those that were not freed. */
void sti_arena_close(const st_Allocator *arena);
void *sti_arena_alloc(void *ctx, size_t size, size_t align);
/* The underlying allocator of an arena; other allocators are returned unchanged. */
st_Allocator sti_allocator_below(const st_Allocator *allocator);

#define STI_PI 3.14159265358979323846 /* M_PI is not C17 */

/* A growing array as a member, with its capacity. */
#define STI_ARRAY(type, name)                                                                                          \
    type *name;                                                                                                        \
    int64_t name##_size

/* Checks a required argument of a public function. */
#define STI_NEED(argument, err)                                                                                        \
    do {                                                                                                               \
        if ((argument) == NULL)                                                                                        \
            return sti_fail((err), ST_ERR_ARGUMENT, "%s: " #argument " is NULL, must be given", __func__);             \
    } while (0)

/* A cookie in a def: its def function sets it, and it is checked when the def is used. */
#define STI_COOKIE 0x57104104u
#define STI_CHECK_DEF(def, maker, err)                                                                                 \
    do {                                                                                                               \
        if ((def) == NULL || (def)->cookie != STI_COOKIE)                                                              \
            return sti_fail((err), ST_ERR_ARGUMENT, "the def was not made by " maker "()");                            \
    } while (0)

#endif
