/* thread_ranks.h -- ranks that are threads of this process: every call waits at a barrier, and copies from the
 * memory of the others. */
#ifndef THREAD_RANKS_H
#define THREAD_RANKS_H

#include <pthread.h>
#include <stdlib.h>
#include <stiction/ranks.h>
#include <string.h>

enum { MOST_THREAD_RANKS = 16 };

typedef struct Table {
    pthread_barrier_t barrier;
    int size;
    const void *bytes[MOST_THREAD_RANKS];
    const st_RankMessage *messages[MOST_THREAD_RANKS];
    int n_messages[MOST_THREAD_RANKS];
    int64_t sent; /* bytes of exchanges, by rank 0 */
    int exchanges;
} Table;

typedef struct Seat {
    Table *table;
    st_Ranks ranks;
    pthread_t thread;
    const st_Allocator *allocator; /* of the object it serves; NULL: the default                            */
    st_Status status;
    st_Error err;
} Seat;

static void seat_broadcast(void *ctx, void *bytes, int64_t n)
{
    const Seat *seat = ctx;
    Table *table = seat->table;
    if (seat->ranks.rank == 0) table->bytes[0] = bytes;
    pthread_barrier_wait(&table->barrier);
    if (seat->ranks.rank != 0 && n > 0) memcpy(bytes, table->bytes[0], (size_t)n);
    pthread_barrier_wait(&table->barrier);
}

/* Aborts if two ranks do not agree about their exchange. */
static void seat_exchange(void *ctx, const st_RankMessage *messages, int n)
{
    const Seat *seat = ctx;
    Table *table = seat->table;
    table->messages[seat->ranks.rank] = messages;
    table->n_messages[seat->ranks.rank] = n;
    pthread_barrier_wait(&table->barrier);
    for (int k = 0; k < n; k++) {
        const int peer = messages[k].peer;
        const st_RankMessage *from = NULL;
        for (int e = 0; e < table->n_messages[peer]; e++)
            if (table->messages[peer][e].peer == seat->ranks.rank) from = &table->messages[peer][e];
        if (from == NULL || from->n_send != messages[k].n_receive) abort();
        if (from->n_send > 0) memcpy(messages[k].receive, from->send, (size_t)from->n_send);
        if (seat->ranks.rank == 0) table->sent += messages[k].n_send;
    }
    if (seat->ranks.rank == 0) table->exchanges++;
    pthread_barrier_wait(&table->barrier);
}

static void seat_gather(void *ctx, const void *mine, void *all, const int64_t *first)
{
    const Seat *seat = ctx;
    Table *table = seat->table;
    table->bytes[seat->ranks.rank] = mine;
    pthread_barrier_wait(&table->barrier);
    for (int k = 0; k < table->size; k++)
        if (first[k + 1] > first[k]) memcpy((char *)all + first[k], table->bytes[k], (size_t)(first[k + 1] - first[k]));
    pthread_barrier_wait(&table->barrier);
}

static void *seat_serve(void *ctx)
{
    Seat *seat = ctx;
    seat->status = st_ranks_serve(&seat->ranks, seat->allocator, &seat->err);
    return NULL;
}

/* Ranks 1 .. size - 1 serve; rank 0 is the caller, with seat[0].ranks. `allocator`: that of rank 1, may be NULL. */
static void sit_down(Table *table, Seat *seat, int size, const st_Allocator *allocator)
{
    memset(table, 0, sizeof *table);
    table->size = size;
    pthread_barrier_init(&table->barrier, NULL, (unsigned)size);
    for (int k = 0; k < size; k++) {
        seat[k] = (Seat){.table = table,
                         .allocator = k == 1 ? allocator : NULL,
                         .ranks = {.rank = k,
                                   .size = size,
                                   .ctx = &seat[k],
                                   .broadcast = seat_broadcast,
                                   .exchange = seat_exchange,
                                   .gather = seat_gather}};
        if (k > 0) pthread_create(&seat[k].thread, NULL, seat_serve, &seat[k]);
    }
}

static void stand_up(Table *table, Seat *seat)
{
    st_ranks_dismiss(&seat[0].ranks);
    for (int k = 1; k < table->size; k++)
        pthread_join(seat[k].thread, NULL);
    pthread_barrier_destroy(&table->barrier);
}

#endif
