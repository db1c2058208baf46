/* device/flat_memory.h -- the data of a flat pile, on every kind of device: flat_step.h. */
#ifndef STI_FLAT_MEMORY_H
#define STI_FLAT_MEMORY_H

#include "device/flat_pile.h"
#include "device/partition.h"

enum {
    STI_FLAT_MOST_BLOCKS = 80,
    STI_FLAT_MOST_RANKS = 4096,
    STI_FLAT_JUDGE_EVERY = 5,
    STI_FLAT_BALANCE_EVERY = 10,
    STI_FLAT_RINGS = 8
};
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

/* The velocity of a coupled body on its way to rank 0. */
typedef struct sti_FlatCoupled {
    int64_t place; /* in the list of all coupled bodies */
    double u[6];
} sti_FlatCoupled;

/* Data of a rank about the others: flat_ranks.h, flat_share.h. All on the host unless stated. */
typedef struct sti_FlatShare {
    int n_all, n_pieces_all;    /* of the model                                                              */
    int n_everywhere;           /* bodies without mass: the first ones here, on all ranks                    */
    int *id, *owner;            /* by body: its number in the model, its rank (-1: on all)                   */
    int *piece_id, *piece_body; /* by piece: numbers in the model, of it and of its body                     */
    int *sphere_body;           /* by piece: its body here                                                   */
    int64_t id_room, owner_room, piece_id_room, piece_body_room, sphere_body_room;
    sti_Cut *cut;         /* size: the places of which ranks own the bodies                                       */
    bool stale, recut;    /* share out before the next step; with new cuts                                        */
    int64_t *offset;      /* size + 1, of a gather                                                                */
    double *mine, *all;   /* numbers of one rank and of all                                                       */
    int *peer, n_peers;   /* ranks that have copies of our bodies, or of which we have some                       */
    st_RankMessage *post; /* size                                                                                 */
    sti_FlatRoute out_near, in_near; /* all bodies that are at both ranks                                         */
    sti_FlatRoute out, in, out_colour, in_colour; /* those that touch bodies of the other rank                    */
    int *pair;        /* the bodies of contacts                                                                   */
    uint64_t *border; /* peer and body of each end at a border                                                    */
    unsigned long long *used;
    double *bytes_out, *bytes_in, *bytes_device;
    int64_t pair_room, border_room, used_room, bytes_out_room, bytes_in_room, bytes_device_room;
    int n_colours;
    bool beside;             /* something is beside the pile, at rank 0                                       */
    int *coupled, n_coupled; /* the bodies that it pushes, by their numbers in the model                      */
    int *coupled_place;      /* of those that are here (pile->n_coupled) the places in this list              */
    int n_coupled_own;       /* the first ones of these are owned here                                        */
    sti_FlatCoupled *coupled_row;
    double *coupled_u; /* a status, and 6 numbers of each                                                         */
    int64_t coupled_room, coupled_place_room, coupled_row_room, coupled_u_room;
    int since; /* steps since the load of ranks was compared                                                      */
} sti_FlatShare;

#define STI_FLAT_COMMON                                                                                                \
    sti_Flat f;                                                                                                        \
    st_Allocator allocator;                                                                                            \
    sti_FlatBlocks model_blocks, body_blocks, pair_blocks, contact_blocks[2];                                          \
    int64_t pair_room, body_room, piece_room;                                                                          \
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
