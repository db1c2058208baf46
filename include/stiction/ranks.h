/* stiction/ranks.h -- a pile that several processes share: the ranks of an MPI run, or of another transport.
 *
 * Rank 0 runs the program: scenes, systems, reports and recordings. The other ranks call st_ranks_serve(). They compute
 * a part of every pile of a system that rank 0 creates with def.ranks set, until rank 0 calls st_ranks_dismiss(). A
 * table of three functions transports the bytes. The program uses MPI (cli/mpi_ranks.c), the tests use threads.
 */
#ifndef STICTION_RANKS_H
#define STICTION_RANKS_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes to send to one other rank and bytes to receive from it. Either count may be 0. */
typedef struct st_RankMessage {
    int peer;
    const void *send;
    int64_t n_send; /* bytes */
    void *receive;
    int64_t n_receive; /* bytes; equal to n_send of the peer */
} st_RankMessage;

/* All ranks call these functions in the same order. A transport that fails must not return. */
typedef struct st_Ranks {
    int rank, size;
    void *ctx;
    /* Send n bytes of rank 0 to all ranks. */
    void (*broadcast)(void *ctx, void *bytes, int64_t n);
    /* Send to and receive from n other ranks. Each of them has this rank in its own list. */
    void (*exchange)(void *ctx, const st_RankMessage *messages, int n);
    /* Send the bytes of all ranks to all ranks. Rank k has first[k + 1] - first[k] bytes; they go to all + first[k]. */
    void (*gather)(void *ctx, const void *mine, void *all, const int64_t *first);
} st_Ranks;

/* For all ranks except 0: work until rank 0 dismisses the ranks. An error that all ranks share, such as too little
 * memory, is reported to rank 0: its call fails, and this function continues. */
ST_API st_Status st_ranks_serve(const st_Ranks *ranks, const st_Allocator *allocator, st_Error *err);
/* For rank 0, after its last system was destroyed: end st_ranks_serve() in all other ranks. */
ST_API void st_ranks_dismiss(const st_Ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
