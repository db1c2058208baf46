/* base/arena.c -- an allocator that puts the small blocks of one object into few large ones.
 *
 *     chunks, each twice the one before:   [arena | used ......... | free] [used .. | free      ]
 *     lists of blocks that were freed, by size class
 *
 * A block is taken from the list of its class, else from the end of the last chunk. Freed blocks are added to their
 * list. Chunks are freed when the arena is closed. Threads of a step may allocate at the same time, so a flag guards
 * the arena. In sanitized builds every block comes from the underlying allocator, so that overruns are found;
 * where coverage is measured, too, so that each block can be refused.
 */
#include "base/base.h"

#include <stdatomic.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(ST_COVERAGE)
#define PASS_THROUGH 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define PASS_THROUGH 1
#endif
#endif
#ifndef PASS_THROUGH
#define PASS_THROUGH 0
#endif

enum { FIRST_CHUNK = 8 << 10, LARGEST_CHUNK = 256 << 10, N_CLASSES = 32 };

typedef struct Chunk {
    struct Chunk *before;
    size_t size;
} Chunk;

typedef struct Free {
    struct Free *next;
} Free;

typedef struct Arena {
    st_Allocator below;
    atomic_flag busy;
    Chunk *last;
    size_t used; /* bytes used of the last chunk */
    size_t next; /* size of the next chunk                                                         */
    Free *freed[N_CLASSES];
} Arena;

static size_t up_to(size_t size, size_t multiple)
{
    return (size + multiple - 1) / multiple * multiple;
}

/* The class of a size, and the size of all blocks of that class: 1 to 4 times STI_ALIGN, then four classes per
 * doubling, so that at most a quarter is wasted. */
static int arena_class_of(size_t *size)
{
    const size_t units = *size > 0 ? (*size + STI_ALIGN - 1) / STI_ALIGN : 1;
    int doublings = 0;
    if (units <= 4) {
        *size = units * STI_ALIGN;
        return (int)units - 1;
    }
    while (units > (size_t)8 << doublings)
        doublings++;
    const size_t n = (units + ((size_t)1 << doublings) - 1) >> doublings; /* 5 to 8 */
    *size = (n << doublings) * STI_ALIGN;
    return 4 + 4 * doublings + (int)n - 5;
}

/* Takes a chunk with room for a block of this size; false if the allocator refuses. */
static bool take_chunk(Arena *arena, size_t size)
{
    const size_t head = up_to(sizeof(Chunk), STI_ALIGN), whole = size + head > arena->next ? size + head : arena->next;
    Chunk *chunk = arena->below.alloc(arena->below.ctx, whole, STI_ALIGN);
    if (chunk == NULL) return false;
    *chunk = (Chunk){arena->last, whole};
    arena->last = chunk;
    arena->used = head;
    if (arena->next < LARGEST_CHUNK) arena->next *= 2;
    return true;
}

void *sti_arena_alloc(void *ctx, size_t size, size_t align)
{
    Arena *arena = ctx;
    if (PASS_THROUGH || size > STI_ARENA_LARGEST || align > STI_ALIGN)
        return arena->below.alloc(arena->below.ctx, size, align);
    const int class = arena_class_of(&size);
    while (atomic_flag_test_and_set_explicit(&arena->busy, memory_order_acquire)) {
    }
    void *block = arena->freed[class];
    if (block != NULL) {
        arena->freed[class] = arena->freed[class]->next;
    } else if (size <= arena->last->size - arena->used || take_chunk(arena, size)) {
        block = (char *)arena->last + arena->used;
        arena->used += size;
    }
    atomic_flag_clear_explicit(&arena->busy, memory_order_release);
    return block;
}

static void arena_free(void *ctx, void *memory, size_t size, size_t align)
{
    Arena *arena = ctx;
    if (memory == NULL) return;
    if (PASS_THROUGH || size > STI_ARENA_LARGEST || align > STI_ALIGN) {
        arena->below.free(arena->below.ctx, memory, size, align);
        return;
    }
    const int class = arena_class_of(&size);
    Free *block = memory;
    while (atomic_flag_test_and_set_explicit(&arena->busy, memory_order_acquire)) {
    }
    block->next = arena->freed[class];
    arena->freed[class] = block;
    atomic_flag_clear_explicit(&arena->busy, memory_order_release);
}

st_Status sti_arena_open(const st_Allocator *below, st_Allocator *out, st_Error *err)
{
    const st_Allocator base = sti_allocator_below(below);
    Arena start = {.below = base, .next = FIRST_CHUNK};
    const size_t head = up_to(sizeof(Chunk), STI_ALIGN);
    if (!take_chunk(&start, up_to(sizeof start, STI_ALIGN)))
        return sti_fail(err, ST_ERR_MEMORY, "out of memory: %d bytes were refused", FIRST_CHUNK);
    Arena *arena = (Arena *)(void *)((char *)start.last + head);
    *arena = start;
    arena->used = head + up_to(sizeof start, STI_ALIGN);
    atomic_flag_clear(&arena->busy);
    *out = (st_Allocator){.alloc = sti_arena_alloc, .free = arena_free, .ctx = arena};
    return ST_OK;
}

void sti_arena_close(const st_Allocator *arena)
{
    const Arena copy = *(const Arena *)arena->ctx; /* the arena itself is in the first chunk */
    for (Chunk *chunk = copy.last; chunk != NULL;) {
        Chunk *before = chunk->before;
        copy.below.free(copy.below.ctx, chunk, chunk->size, STI_ALIGN);
        chunk = before;
    }
}

st_Allocator sti_allocator_below(const st_Allocator *allocator)
{
    return allocator->alloc == sti_arena_alloc ? ((const Arena *)allocator->ctx)->below : *allocator;
}
