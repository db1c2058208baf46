/* An allocator that counts, and refuses one call: for tests that run out of memory, on any thread, and for benchmarks.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdatomic.h>
#include <stiction/stiction.h>

/* refuse_at is counted from 1; 0: none. */
typedef struct Counter {
    st_Allocator base;
    atomic_llong calls, held, bytes; /* calls so far; blocks and bytes held now */
    long long refuse_at;
} Counter;

static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    Counter *c = ctx;
    void *memory = atomic_fetch_add(&c->calls, 1) + 1 == c->refuse_at ? NULL : c->base.alloc(c->base.ctx, size, align);
    if (memory != NULL) atomic_fetch_add(&c->held, 1), atomic_fetch_add(&c->bytes, (long long)size);
    return memory;
}

static void counting_free(void *ctx, void *memory, size_t size, size_t align)
{
    Counter *c = ctx;
    if (memory != NULL) atomic_fetch_sub(&c->held, 1), atomic_fetch_sub(&c->bytes, (long long)size);
    c->base.free(c->base.ctx, memory, size, align);
}

#endif
