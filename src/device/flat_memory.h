/* device/flat_memory.h -- what a flat pile holds, on every kind of device: flat_step.h. */
#ifndef STI_FLAT_MEMORY_H
#define STI_FLAT_MEMORY_H

#include "device/flat_pile.h"

enum { STI_FLAT_MOST_BLOCKS = 64, STI_FLAT_JUDGE_EVERY = 5 };

typedef struct sti_FlatBlock {
    void *at;
    int64_t count;
    size_t size;
} sti_FlatBlock;

typedef struct sti_FlatBlocks {
    sti_FlatBlock block[STI_FLAT_MOST_BLOCKS];
    int n;
    bool failed;
} sti_FlatBlocks;

#define STI_FLAT_COMMON                                                                                                \
    sti_Flat f;                                                                                                        \
    st_Allocator allocator;                                                                                            \
    sti_FlatBlocks model_blocks, contact_blocks[2];                                                                    \
    int which; /* of the contact blocks */                                                                             \
    double *sum_next, *bounds_other;                                                                                   \
    double tolerance;                                                                                                  \
    int max_sweeps, cell_bits;                                                                                         \
    bool (*stopped)(void *ctx);                                                                                        \
    void *stop

#endif
