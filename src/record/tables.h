/* record/tables.h -- the growing tables of a recording.
 *
 * Rows are added to the last chunk of their table, which stays in memory until it is full. Chunks are compressed by
 * chunk.c and written directly. A chunk that is flushed before it is full is written again when more rows arrive,
 * and in HDF5's single-writer mode its old space is not reused. So a chunk has only a few frames, and the wasted
 * space stays small.
 */
#ifndef STI_RECORD_TABLES_H
#define STI_RECORD_TABLES_H

#include "record/chunk.h"
#include "record/hdf.h"

typedef struct sti_Stream {
    hid_t set;
    size_t row_bytes, element; /* the shuffle filter splits elements */
    int rank;
    hsize_t tail[2]; /* extents after the first, of body tables */
    hsize_t rows, written, chunk_rows;
    hsize_t filled; /* rows in the buffer, fewer than chunk_rows */
    unsigned char *buffer;
    int64_t buffer_bytes;
} sti_Stream;

/* Start from {.allocator, .chunker.allocator, .path, .fd}; `file` is set when it is open. */
typedef struct sti_Tables {
    st_Allocator allocator;
    hid_t file;
    int fd;           /* descriptor of the same file, for reserving space */
    int64_t reserved; /* bytes of the file that are reserved on the disk */
    const char *path; /* name of the file in messages */
    sti_Stream stream[STI_N_TABLES];
    sti_Chunker chunker;
    bool failed; /* a write has failed */
} sti_Tables;

st_Status sti_tables_open(sti_Tables *tables, hid_t file, int n_bodies, int n_joints, int n_springs, int n_values,
                          st_Error *err);
bool sti_tables_close(sti_Tables *tables); /* true if HDF5 reported no error */

/* The memory of the next row; call sti_table_take after it is filled. */
static inline void *sti_table_next(const sti_Tables *tables, sti_Table table)
{
    const sti_Stream *s = &tables->stream[table];
    return s->buffer + (size_t)s->filled * s->row_bytes;
}

st_Status sti_table_take(sti_Tables *tables, sti_Table table, size_t rows, st_Error *err);
st_Status sti_table_push(sti_Tables *tables, sti_Table table, const void *rows, size_t count, st_Error *err);

/* Number of rows so far. */
static inline int64_t sti_table_rows(const sti_Tables *tables, sti_Table table)
{
    return (int64_t)tables->stream[table].rows;
}

/* Reserves space on the disk for so many more bytes and for the data of HDF5 itself. After a failed write HDF5 1.10
 * can neither flush nor close a file, and crashes when the program ends. So a full disk is found here, before. */
st_Status sti_tables_reserve(sti_Tables *tables, int64_t bytes, st_Error *err);

/* Writes the last chunks to the file, with the rows that they have. */
st_Status sti_tables_write(sti_Tables *tables, st_Error *err);

/* Fails with the action and HDF5's reason. */
st_Status sti_tables_fail(sti_Tables *tables, const char *what, st_Error *err);

#endif
