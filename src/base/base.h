/* base/base.h -- what every file of the library may use: failing with a message, and memory. */
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

/* Fill err (when there is one) and return status: `return sti_fail(err, ST_ERR_ARGUMENT, "...")`. */
st_Status sti_fail(st_Error *err, st_Status status, const char *format, ...) STI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* it does not look into status.c: say here that a failure is never ST_OK */
#define sti_fail(err, status, ...) (__extension__({ (sti_fail)((err), (status), __VA_ARGS__), (status); }))
#endif

/* Pass a failure on: the caller's caller gets the status, the message is already in err. */
#define STI_TRY(call)                                                                                                  \
    do {                                                                                                               \
        st_Status sti_status_ = (call);                                                                                \
        if (sti_status_ != ST_OK) return sti_status_;                                                                  \
    } while (0)

/* The larger of two without a call: fmax() is one, for the sake of NaN and signed zeros. A NaN x leaves m. */
static inline double sti_larger(double x, double m)
{
    return x > m ? x : m;
}

/* Each becomes what the other was. */
#define STI_EXCHANGE(type, a, b)                                                                                       \
    do {                                                                                                               \
        type sti_was_ = (a);                                                                                           \
        (a) = (b);                                                                                                     \
        (b) = sti_was_;                                                                                                \
    } while (0)

/* All memory is aligned for vector code and cache lines. */
#define STI_ALIGN 64

/* count * size zeroed bytes, or NULL when the allocator refuses or the product overflows. */
void *sti_alloc(const st_Allocator *allocator, int64_t count, size_t size);
void sti_free(const st_Allocator *allocator, void *memory, int64_t count, size_t size);

/* Make *memory hold at least `count` elements; old contents stay, new elements are zero, capacity grows
 * by half at least, by an eighth of half a megabyte or more. On refusal nothing changes. Use through STI_GROW. */
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
/* The same bytes? For numbers that must agree to the bit, -0 and NaN too. */
static inline bool sti_same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* Arrays of one life in one block, each aligned and zeroed. The list is the same for making and freeing; NULL: refused.
 * A span of no elements becomes NULL.                                                               */
typedef struct sti_Span {
    void **at;
    int64_t count;
    size_t size; /* of an element */
} sti_Span;
#define STI_SPAN(pointer, count)                                                                                       \
    {                                                                                                                  \
        (void **)&(pointer), (count), sizeof *(pointer)                                                                \
    }
void *sti_alloc_spans(const st_Allocator *allocator, const sti_Span *span, size_t n);
void sti_free_spans(const st_Allocator *allocator, void *block, const sti_Span *span, size_t n);

/* arena.c: small blocks of one object, taken from few large ones of the allocator below. Larger ones than this come
 * from the allocator below one by one.                                                            */
#define STI_ARENA_LARGEST (32 << 10)
st_Status sti_arena_open(const st_Allocator *below, st_Allocator *out, st_Error *err);
/* All its blocks are gone with it, freed or not. */
void sti_arena_close(const st_Allocator *arena);
void *sti_arena_alloc(void *ctx, size_t size, size_t align);
/* Of an arena; other allocators: themselves. */
st_Allocator sti_allocator_below(const st_Allocator *allocator);

#define STI_PI 3.14159265358979323846 /* M_PI is not C17 */

/* A growing array as a member: its capacity beside it. */
#define STI_ARRAY(type, name)                                                                                          \
    type *name;                                                                                                        \
    int64_t name##_size

/* An argument of a public function that there is no doing without. */
#define STI_NEED(argument, err)                                                                                        \
    do {                                                                                                               \
        if ((argument) == NULL)                                                                                        \
            return sti_fail((err), ST_ERR_ARGUMENT, "%s: " #argument " is NULL, must be given", __func__);             \
    } while (0)

/* A cookie in a def: set by its def function, checked when the def is used. */
#define STI_COOKIE 0x57104104u
#define STI_CHECK_DEF(def, maker, err)                                                                                 \
    do {                                                                                                               \
        if ((def) == NULL || (def)->cookie != STI_COOKIE)                                                              \
            return sti_fail((err), ST_ERR_ARGUMENT, "the def was not made by " maker "()");                            \
    } while (0)

#endif
