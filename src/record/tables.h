/* record/tables.h -- the tables of a recording while they grow.
 *
 * Rows go into the last chunk of their table, which is kept in memory until it is full. Chunks are made into bytes here
 * (chunk.c) and go to the file as they are. One that is flushed before it is full is written again, larger, when more
 * rows come, and in HDF5's single-writer mode its old place is not used again. So a chunk is a few frames, and what is
 * wasted stays small against what is kept.
 */
#ifndef STI_RECORD_TABLES_H
#define STI_RECORD_TABLES_H

#include "record/chunk.h"
#include "record/hdf.h"

typedef struct sti_Stream {
    hid_t set;
    size_t row_bytes, element; /* an element is what the shuffle filter takes apart */
    int rank;
    hsize_t tail[2]; /* extents after the first, body tables */
    hsize_t rows, written, chunk_rows;
    hsize_t filled; /* rows in the buffer, less than chunk_rows */
    unsigned char *buffer;
    int64_t buffer_bytes;
} sti_Stream;

/* Starts as {.allocator, .chunker.allocator, .path, .fd}; `file` is set once it is open. */
typedef struct sti_Tables {
    st_Allocator allocator;
    hid_t file;
    int fd;           /* of the same file: there space is reserved                    */
    int64_t reserved; /* bytes of the file that the disk has space for                */
    const char *path; /* what messages call the file */
    sti_Stream stream[STI_N_TABLES];
    sti_Chunker chunker;
    bool failed; /* a write did */
} sti_Tables;

st_Status sti_tables_open(sti_Tables *tables, hid_t file, int n_bodies, int n_joints, int n_springs, int n_values,
                          st_Error *err);
bool sti_tables_close(sti_Tables *tables); /* true when HDF5 had nothing against it */

/* Where the next row belongs; to be followed by sti_table_take once it is there. */
static inline void *sti_table_next(const sti_Tables *tables, sti_Table table)
{
    const sti_Stream *s = &tables->stream[table];
    return s->buffer + (size_t)s->filled * s->row_bytes;
}

st_Status sti_table_take(sti_Tables *tables, sti_Table table, size_t rows, st_Error *err);
st_Status sti_table_push(sti_Tables *tables, sti_Table table, const void *rows, size_t count, st_Error *err);

/* Rows so far. */
static inline int64_t sti_table_rows(const sti_Tables *tables, sti_Table table)
{
    return (int64_t)tables->stream[table].rows;
}

/* Space on the disk for so many bytes more, and for what HDF5 writes beside them. After a write that failed HDF5 1.10
 * can neither flush nor close a file, and crashes when the program ends: a disk that is full is found here, before. */
st_Status sti_tables_reserve(sti_Tables *tables, int64_t bytes, st_Error *err);

/* The last chunks into the file, as far as there are rows of them. */
st_Status sti_tables_write(sti_Tables *tables, st_Error *err);

/* Says what HDF5 could not do, and why. */
st_Status sti_tables_fail(sti_Tables *tables, const char *what, st_Error *err);

#endif
