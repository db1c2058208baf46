#include "ranks.h"

#include "command.h"

#include <signal.h>
#include <stdlib.h>

/* Environment variables that mpirun, srun and similar programs set: the number of processes, and the number of this
 * one. */
static int rank_number(const char *const names[3], int otherwise)
{
    for (int k = 0; k < 3; k++) {
        const char *value = getenv(names[k]);
        if (value != NULL) return atoi(value);
    }
    return otherwise;
}

static int started_with(void)
{
    static const char *const names[3] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"};
    return rank_number(names, 1);
}

#ifdef HAVE_MPI
#include <limits.h>
#include <mpi.h>
#include <string.h>

/* The bytes of a message are counted in int: larger ones are sent in pieces. */
enum { PIECE = 1 << 30 };

static int piece_of(int64_t left)
{
    return left < PIECE ? (int)left : PIECE;
}

static void mpi_broadcast_from(int root, char *bytes, int64_t n)
{
    for (int64_t at = 0; at < n; at += PIECE)
        MPI_Bcast(bytes + at, piece_of(n - at), MPI_BYTE, root, MPI_COMM_WORLD);
}

static void mpi_broadcast(void *ctx, void *bytes, int64_t n)
{
    (void)ctx;
    mpi_broadcast_from(0, bytes, n);
}

static void mpi_exchange(void *ctx, const st_RankMessage *messages, int n)
{
    enum { AT_ONCE = 64 }; /* peers that exchange pieces at the same time */
    MPI_Request request[2 * AT_ONCE];
    (void)ctx;
    for (int first = 0; first < n; first += AT_ONCE) {
        const int end = first + AT_ONCE < n ? first + AT_ONCE : n;
        int64_t longest = 0;
        for (int k = first; k < end; k++) {
            if (messages[k].n_send > longest) longest = messages[k].n_send;
            if (messages[k].n_receive > longest) longest = messages[k].n_receive;
        }
        for (int64_t at = 0; at < longest; at += PIECE) {
            int under_way = 0;
            for (int k = first; k < end; k++) {
                const st_RankMessage *m = &messages[k];
                if (at < m->n_receive)
                    MPI_Irecv((char *)m->receive + at, piece_of(m->n_receive - at), MPI_BYTE, m->peer, 0,
                              MPI_COMM_WORLD, &request[under_way++]);
                if (at < m->n_send)
                    MPI_Isend((const char *)m->send + at, piece_of(m->n_send - at), MPI_BYTE, m->peer, 0,
                              MPI_COMM_WORLD, &request[under_way++]);
            }
            MPI_Waitall(under_way, request, MPI_STATUSES_IGNORE);
        }
    }
}

static st_Ranks ranks;
static int *counts, *places; /* of a gather, `size` numbers each */

static void mpi_gather(void *ctx, const void *mine, void *all, const int64_t *first)
{
    (void)ctx;
    const int64_t own = first[ranks.rank + 1] - first[ranks.rank];
    if (first[ranks.size] <= INT_MAX) {
        for (int k = 0; k < ranks.size; k++) {
            counts[k] = (int)(first[k + 1] - first[k]);
            places[k] = (int)first[k];
        }
        MPI_Allgatherv(mine, (int)own, MPI_BYTE, all, counts, places, MPI_BYTE, MPI_COMM_WORLD);
        return;
    }
    memcpy((char *)all + first[ranks.rank], mine, (size_t)own);
    for (int k = 0; k < ranks.size; k++)
        mpi_broadcast_from(k, (char *)all + first[k], first[k + 1] - first[k]);
}

/* Called however the program ends: the others must not wait for it. */
static void ranks_end(void)
{
    st_ranks_dismiss(&ranks);
    MPI_Finalize();
    free(counts);
    free(places);
}

const st_Ranks *program_ranks(void)
{
    return ranks.size > 1 ? &ranks : NULL;
}

bool ranks_begin(int *status)
{
    if (started_with() < 2) return true;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
    ranks.broadcast = mpi_broadcast;
    ranks.exchange = mpi_exchange;
    ranks.gather = mpi_gather;
    counts = calloc((size_t)ranks.size, sizeof *counts);
    places = calloc((size_t)ranks.size, sizeof *places);
    if (counts == NULL || places == NULL) MPI_Abort(MPI_COMM_WORLD, STATUS_FAILED);
    if (ranks.rank == 0) {
        atexit(ranks_end);
        return true;
    }
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP}; /* only rank 0 reacts to signals and ends the run */
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        signal(numbers[k], SIG_IGN);
    st_Error err;
    *status = st_ranks_serve(&ranks, NULL, &err) == ST_OK ? STATUS_OK : complain(STATUS_FAILED, "%s", err.message);
    MPI_Finalize();
    free(counts);
    free(places);
    return false;
}

#else

const st_Ranks *program_ranks(void)
{
    return NULL;
}

bool ranks_begin(int *status)
{
    static const char *const names[3] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    if (started_with() < 2) return true;
    *status = STATUS_INPUT;
    if (rank_number(names, 0) == 0)
        complain(STATUS_INPUT,
                 "started with %d ranks, but this program was built without MPI (cmake -DST_MPI=ON, Debian: "
                 "libopenmpi-dev)",
                 started_with());
    return false;
}

#endif
