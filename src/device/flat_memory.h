/* device/flat_memory.h -- what a flat pile holds, on every kind of device: flat_step.h. */
#ifndef STI_FLAT_MEMORY_H
#define STI_FLAT_MEMORY_H

#include "device/flat_pile.h"

enum { STI_FLAT_MOST_BLOCKS = 80, STI_FLAT_JUDGE_EVERY = 5, STI_FLAT_BALANCE_EVERY = 10, STI_FLAT_RINGS = 8 };
#define STI_FLAT_IMBALANCE 1.1 /* contacts of a rank, over their mean: more, and bodies are shared out anew */

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

/* The bodies of messages, by groups (colours) and within these by peers. */
typedef struct sti_FlatRoute {
    int n_groups;
    int *body, *start; /* start: n_groups * n_peers + 1 places in `body`                                  */
    int64_t room, start_room;
    int *on_device; /* `body`, there                                                                      */
    int64_t device_room;
} sti_FlatRoute;

/* What a rank knows of the others: flat_ranks.h. All on the host but where it is said. */
typedef struct sti_FlatShare {
    int *owner, *owned;   /* by body; all bodies, by their owners                                        */
    int64_t *owned_first; /* rank k: owned[owned_first[k] ..], size + 1 of them                          */
    int *sphere_body;     /* as in the model                                                             */
    int *owner_device, *owned_device;
    int64_t *offset;      /* size + 1, of a gather                                                       */
    double *mine, *all;   /* numbers of one rank and of all                                              */
    int *peer, n_peers;   /* ranks at whose bodies ours touch                                            */
    st_RankMessage *post; /* size                                                                        */
    sti_FlatRoute out, in, out_colour, in_colour;
    int *pair;        /* the bodies of contacts                                                      */
    uint64_t *border; /* peer and body of each end at a border                                       */
    unsigned long long *used;
    double *bytes_out, *bytes_in, *bytes_device;
    int64_t pair_room, border_room, bytes_out_room, bytes_in_room, bytes_device_room;
    int n_colours;
    int since; /* steps since bodies were shared out                                                      */
} sti_FlatShare;

#define STI_FLAT_COMMON                                                                                                \
    sti_Flat f;                                                                                                        \
    st_Allocator allocator;                                                                                            \
    sti_FlatBlocks model_blocks, pair_blocks, contact_blocks[2];                                                       \
    int64_t pair_room;                                                                                                 \
    int which; /* of the contact blocks */                                                                             \
    double *sum_next, *bounds_other;                                                                                   \
    double tolerance;                                                                                                  \
    int max_sweeps, cell_bits;                                                                                         \
    int n_driven, *driven;            /* on the host */                                                                \
    int n_coupled, *coupled;          /* bodies that something beside the pile pushes, on the device */                \
    double *coupled_u, *coupled_host; /* 6 numbers of each: on the device, and on the host */                          \
    int64_t coupled_room;                                                                                              \
    sti_FlatBlocks coupled_blocks;                                                                                     \
    st_Status (*beside)(void *ctx, double factor, double *u, st_Error *err);                                           \
    void *beside_ctx;                                                                                                  \
    bool (*stopped)(void *ctx);                                                                                        \
    void *stop;                                                                                                        \
    const st_Ranks *ranks; /* NULL: there is one */                                                                    \
    sti_FlatShare share

#endif
