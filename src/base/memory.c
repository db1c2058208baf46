#if defined(__linux__)
#define _GNU_SOURCE 1 /* MAP_ANONYMOUS, mremap */
#endif
#include "base/base.h"

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#if defined(__linux__) && !defined(SANITIZED)
#define STI_PAGES 1
#include <sys/mman.h>
#endif

/* Large arrays come from the system page by page: pages that are never written cost nothing, and memory that a
 * growing array leaves is returned at once. Neither holds for the heap, because calloc clears reused memory. Not
 * under a sanitizer: there the end of an array must be the end of its memory, and moved pages would keep their old
 * state. */
static bool memory_is_large(size_t size)
{
#if defined(STI_PAGES)
    return size >= 1 << 17;
#else
    (void)size;
    return false;
#endif
}

static void *take_pages(size_t size)
{
#if defined(STI_PAGES)
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages != MAP_FAILED ? pages : NULL;
#else
    (void)size;
    return NULL;
#endif
}

static void *default_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (memory_is_large(size) && align <= 4096) return take_pages(size);
    size_t rounded = (size + align - 1) / align * align; /* aligned_alloc requires a multiple */
    return rounded < size ? NULL : aligned_alloc(align, rounded);
}

static void default_free(void *ctx, void *memory, size_t size, size_t align)
{
    (void)ctx;
    if (memory != NULL && memory_is_large(size) && align <= 4096) {
#if defined(STI_PAGES)
        (void)munmap(memory, size);
#else
        (void)memory, (void)size;
#endif
    } else
        free(memory);
}

st_Allocator st_default_allocator(void)
{
    return (st_Allocator){.alloc = default_alloc, .free = default_free, .ctx = NULL};
}

/* The underlying allocator for arrays that are too large for the arena. */
static st_Allocator source_of(const st_Allocator *allocator, size_t bytes)
{
    return bytes > STI_ARENA_LARGEST ? sti_allocator_below(allocator) : *allocator;
}

void *sti_alloc(const st_Allocator *allocator, int64_t count, size_t size)
{
    if (count <= 0 || size == 0 || (uint64_t)count > (SIZE_MAX - STI_ALIGN) / size) return NULL;
    size_t bytes = (size_t)count * size;
    const st_Allocator from = source_of(allocator, bytes);
    void *memory = from.alloc(from.ctx, bytes, STI_ALIGN);
    const bool zero = from.alloc == default_alloc && memory_is_large(bytes);
    if (memory != NULL && !zero) memset(memory, 0, bytes);
    return memory;
}

void sti_free(const st_Allocator *allocator, void *memory, int64_t count, size_t size)
{
    if (memory == NULL) return;
    const st_Allocator from = source_of(allocator, (size_t)count * size);
    from.free(from.ctx, memory, (size_t)count * size, STI_ALIGN);
}

/* Bytes of a span in its block, with a gap after it that a sanitizer can guard; 0: too large. */
static size_t span_bytes(const sti_Span *span)
{
    if (span->count <= 0) return 0;
    const size_t most = (SIZE_MAX >> 8) / span->size;
    return (uint64_t)span->count > most ? 0 : ((size_t)span->count * span->size / STI_ALIGN + 1) * STI_ALIGN;
}

static size_t block_bytes(const sti_Span *span, size_t n)
{
    size_t sum = STI_ALIGN; /* at least one block, even for no spans */
    for (size_t k = 0; k < n; k++) {
        const size_t bytes = span_bytes(&span[k]);
        if ((span[k].count > 0 && bytes == 0) || sum + bytes < sum) return 0;
        sum += bytes;
    }
    return sum;
}

void *sti_alloc_spans(const st_Allocator *allocator, const sti_Span *span, size_t n)
{
    const size_t all = block_bytes(span, n);
    char *block = all > INT64_MAX ? NULL : sti_alloc(allocator, (int64_t)all, 1), *at = block;
    for (size_t k = 0; block != NULL && k < n; k++) {
        *span[k].at = span[k].count > 0 ? at : NULL;
        at += span_bytes(&span[k]);
#if defined(__SANITIZE_ADDRESS__)
        const size_t used = span[k].count > 0 ? (size_t)span[k].count * span[k].size : 0;
        ASAN_POISON_MEMORY_REGION((char *)at - span_bytes(&span[k]) + used, span_bytes(&span[k]) - used);
#endif
    }
    return block;
}

void sti_free_spans(const st_Allocator *allocator, void *block, const sti_Span *span, size_t n)
{
    if (block == NULL) return;
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(block, block_bytes(span, n));
#endif
    sti_free(allocator, block, (int64_t)block_bytes(span, n), 1);
}

/* [bytes] From here on capacity grows by a 32nd; half would waste too much in large piles. */
enum { LARGE_ARRAY = 512 << 10 };

st_Status sti_grow(const st_Allocator *allocator, void **memory, int64_t *capacity, int64_t count, size_t size,
                   st_Error *err)
{
    if (count <= *capacity) return ST_OK;
    const int64_t more = *capacity / ((size_t)*capacity * size >= LARGE_ARRAY ? 32 : 2);
    const int64_t wanted = count < *capacity + more ? *capacity + more : count;
    void *larger = NULL;
    if (source_of(allocator, (size_t)*capacity * size).alloc == default_alloc &&
        (uint64_t)wanted <= (SIZE_MAX - STI_ALIGN) / size && memory_is_large((size_t)*capacity * size)) {
        /* Moves the pages to a longer range. Pages that were never written are not copied and still cost nothing. */
#if defined(STI_PAGES)
        larger = mremap(*memory, (size_t)*capacity * size, (size_t)wanted * size, MREMAP_MAYMOVE);
        if (larger == MAP_FAILED) larger = NULL;
#endif
    } else {
        larger = sti_alloc(allocator, wanted, size);
        if (larger != NULL && *capacity > 0) memcpy(larger, *memory, (size_t)*capacity * size);
        if (larger != NULL) sti_free(allocator, *memory, *capacity, size);
    }
    if (larger == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld elements of %zu bytes were refused", (long long)wanted,
                        size);
    *memory = larger;
    *capacity = wanted;
    return ST_OK;
}
