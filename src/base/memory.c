#include "base/base.h"

#include <stdlib.h>

static void *default_alloc(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    size_t rounded = (size + align - 1) / align * align; /* aligned_alloc wants a multiple */
    return rounded < size ? NULL : aligned_alloc(align, rounded);
}

static void default_free(void *ctx, void *memory, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
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
    if (memory != NULL) memset(memory, 0, bytes);
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
