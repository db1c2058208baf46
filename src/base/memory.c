#include "base/base.h"

#include <stdlib.h>

/* Pages of a large array that nobody writes to cost nothing if the system hands them out as zeros; writing the zeros
 * ourselves would touch them all. calloc knows no alignment: its own address stands before the array. Under a
 * sanitizer the end of an array is the end of its memory.                                          */
static bool is_large(size_t size)
{
#if defined(__SANITIZE_ADDRESS__)
    (void)size;
    return false;
#else
    return size >= 1 << 16;
#endif
}

static void *zeros(size_t size, size_t align)
{
    const size_t more = align + sizeof(void *);
    char *whole = size > SIZE_MAX - more ? NULL : calloc(1, size + more);
    if (whole == NULL) return NULL;
    char *memory = whole + sizeof(void *);
    memory += (align - (uintptr_t)memory % align) % align;
    memcpy(memory - sizeof whole, &whole, sizeof whole);
    return memory;
}

static void *default_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (is_large(size)) return zeros(size, align);
    size_t rounded = (size + align - 1) / align * align; /* aligned_alloc wants a multiple */
    return rounded < size ? NULL : aligned_alloc(align, rounded);
}

static void default_free(void *ctx, void *memory, size_t size, size_t align)
{
    (void)ctx, (void)align;
    if (memory != NULL && is_large(size)) memcpy(&memory, (char *)memory - sizeof memory, sizeof memory);
    free(memory);
}

st_Allocator st_default_allocator(void)
{
    return (st_Allocator){.alloc = default_alloc, .free = default_free, .ctx = NULL};
}

void *sti_alloc(const st_Allocator *allocator, int64_t count, size_t size)
{
    if (count <= 0 || size == 0 || (uint64_t)count > (SIZE_MAX - STI_ALIGN) / size) return NULL;
    size_t bytes = (size_t)count * size;
    void *memory = allocator->alloc(allocator->ctx, bytes, STI_ALIGN);
    const bool zero = allocator->alloc == default_alloc && is_large(bytes);
    if (memory != NULL && !zero) memset(memory, 0, bytes);
    return memory;
}

void sti_free(const st_Allocator *allocator, void *memory, int64_t count, size_t size)
{
    if (memory != NULL) allocator->free(allocator->ctx, memory, (size_t)count * size, STI_ALIGN);
}

st_Status sti_grow(const st_Allocator *allocator, void **memory, int64_t *capacity, int64_t count, size_t size,
                   st_Error *err)
{
    if (count <= *capacity) return ST_OK;
    int64_t wanted = count < 2 * *capacity ? 2 * *capacity : count;
    void *larger = sti_alloc(allocator, wanted, size);
    if (larger == NULL)
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %lld elements of %zu bytes were refused", (long long)wanted,
                        size);
    if (*capacity > 0) memcpy(larger, *memory, (size_t)*capacity * size);
    sti_free(allocator, *memory, *capacity, size);
    *memory = larger;
    *capacity = wanted;
    return ST_OK;
}
