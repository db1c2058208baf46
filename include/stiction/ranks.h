/* stiction/ranks.h -- a pile shared out among processes: the ranks of an MPI run, or of any other transport.
 *
 * Rank 0 runs the program: scenes, systems, reports and recordings. The others call st_ranks_serve() and hold their
 * share of every pile that rank 0 makes with def.ranks set, until it calls st_ranks_dismiss(). How bytes travel is a
 * table of three functions; the program's own is over MPI (cli/mpi_ranks.c), that of the tests over threads.
 */
#ifndef STICTION_RANKS_H
#define STICTION_RANKS_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What goes to one other rank, and what comes from it. Either count may be 0. */
typedef struct st_RankMessage {
    int peer;
    const void *send;
    int64_t n_send; /* bytes */
    void *receive;
    int64_t n_receive; /* bytes, the peer's n_send */
} st_RankMessage;

/* Every function is called by all ranks, in the same order. A transport that fails does not return. */
typedef struct st_Ranks {
    int rank, size;
    void *ctx;
    /* n bytes of rank 0, to all */
    void (*broadcast)(void *ctx, void *bytes, int64_t n);
    /* with some other ranks, each of which has this one in its own list */
    void (*exchange)(void *ctx, const st_RankMessage *messages, int n);
    /* the bytes of all ranks, to all: those of rank k go to all + first[k], first[k + 1] - first[k] of them */
    void (*gather)(void *ctx, const void *mine, void *all, const int64_t *first);
} st_Ranks;

/* Of every rank but 0: works until rank 0 dismisses it. An error that all ranks share, such as too little memory, is
 * reported to rank 0: its call fails, and serving goes on.                                              */
ST_API st_Status st_ranks_serve(const st_Ranks *ranks, const st_Allocator *allocator, st_Error *err);
/* Of rank 0, after its last system is gone: the others return. */
ST_API void st_ranks_dismiss(const st_Ranks *ranks);

#ifdef __cplusplus
}
#endif

#endif
