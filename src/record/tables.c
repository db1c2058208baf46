/* record/tables.c -- see tables.h. */
#include "record/tables.h"

#include "record/whole_file.h"

#include <errno.h>
#include <fcntl.h>

#define CHUNK_BYTES  65536  /* approximate size of a chunk */
#define CHUNK_ROWS   4096   /* largest number */
#define CHUNK_FRAMES 8      /* least number, within MOST_BYTES, so that bodies at rest compress */
#define MOST_BYTES   262144 /* of a chunk of more than one row: readers cache a megabyte of chunks */

st_Status sti_tables_fail(sti_Tables *tables, const char *what, st_Error *err)
{
    char reason[200];
    tables->failed = true;
    return sti_fail(err, ST_ERR_FILE, "%s: %s failed: %s", tables->path, what, sti_hdf_reason(reason, sizeof reason));
}

/* Bytes reserved ahead, so that most steps reserve nothing. HDF5 itself writes at least so much
 * in a flush: headers and indices of all tables. Every flush truncates the file to its true length. */
#define RESERVE_AHEAD (1 << 20)
#define RESERVE_HEADS (1 << 15)

st_Status sti_tables_reserve(sti_Tables *tables, int64_t bytes, st_Error *err)
{
    hsize_t size = 0;
    if (tables->failed || H5Fget_filesize(tables->file, &size) < 0) return ST_OK; /* given up: writes are discarded */
    int64_t end = (int64_t)size + bytes + RESERVE_HEADS;
    if (end <= tables->reserved) return ST_OK;
    errno = posix_fallocate(tables->fd, 0, end + RESERVE_AHEAD);
    if (errno == 0)
        end += RESERVE_AHEAD;
    else
        errno = posix_fallocate(tables->fd, 0, end);            /* the disk is nearly full */
    if (errno != 0 && errno != EINVAL && errno != EOPNOTSUPP) { /* returned by some file systems */
        tables->failed = true;
        return sti_file_failed(tables->path, err);
    }
    tables->reserved = end;
    return ST_OK;
}

static hsize_t rows_of_chunk(const sti_Stream *s, sti_Table table)
{
    if (s->row_bytes == 0) return 1; /* no bodies: HDF5 refuses such a table */
    hsize_t rows = CHUNK_BYTES / s->row_bytes, most = MOST_BYTES / s->row_bytes;
    if (table == STI_STATES) return CHUNK_BYTES;
    if (table == STI_CONTACTS || rows > CHUNK_ROWS) rows = CHUNK_ROWS;
    if (rows < CHUNK_FRAMES) rows = most < CHUNK_FRAMES ? most : CHUNK_FRAMES;
    return rows > 0 ? rows : 1;
}

/* Writes the last chunk to the file, with the rows that it has. */
static st_Status write_chunk(sti_Tables *tables, sti_Stream *s, st_Error *err)
{
    if (s->written == s->rows) return ST_OK;
    hsize_t extent[3] = {s->rows, s->tail[0], s->tail[1]};
    hsize_t start[3] = {(s->rows - 1) / s->chunk_rows * s->chunk_rows, 0, 0};
    size_t filled = (size_t)(s->rows - start[0]) * s->row_bytes, row = s->row_bytes / s->element;
    size_t period[2] = {s->rank > 2 ? (size_t)s->tail[1] : row, row};
    memset(s->buffer + filled, 0, (size_t)s->buffer_bytes - filled);
    sti_Chunker *chunker = &tables->chunker;
    STI_TRY(sti_chunk_pack(chunker, s->buffer, (size_t)s->buffer_bytes / s->element, s->element, period, err));
    STI_TRY(sti_tables_reserve(tables, (int64_t)chunker->size, err));
    sti_Quiet quiet = sti_quiet_begin(); /* only here: most steps write nothing, and this query of HDF5 is slow */
    bool ok = H5Dset_extent(s->set, extent) >= 0 &&
              H5Dwrite_chunk(s->set, H5P_DEFAULT, chunker->skipped, start, chunker->size, chunker->bytes) >= 0;
    st_Status status = ok ? ST_OK : sti_tables_fail(tables, "writing", err);
    sti_quiet_end(quiet);
    if (ok) s->written = s->rows;
    return status;
}

st_Status sti_table_take(sti_Tables *tables, sti_Table table, size_t rows, st_Error *err)
{
    sti_Stream *s = &tables->stream[table];
    s->rows += rows;
    s->filled += rows;
    if (s->filled < s->chunk_rows) return ST_OK;
    s->filled = 0;
    return write_chunk(tables, s, err);
}

st_Status sti_table_push(sti_Tables *tables, sti_Table table, const void *rows, size_t count, st_Error *err)
{
    const sti_Stream *s = &tables->stream[table];
    const unsigned char *from = rows;
    while (count > 0) {
        size_t fit = (size_t)(s->chunk_rows - s->filled), n = count < fit ? count : fit;
        memcpy(sti_table_next(tables, table), from, n * s->row_bytes);
        STI_TRY(sti_table_take(tables, table, n, err));
        from += n * s->row_bytes;
        count -= n;
    }
    return ST_OK;
}

st_Status sti_tables_open(sti_Tables *tables, hid_t file, int n_bodies, int n_joints, int n_springs, int n_values,
                          st_Error *err)
{
    for (int k = 0; k < STI_N_TABLES; k++) {
        const sti_Table table = (sti_Table)k;
        const int across = table == STI_JOINTS     ? n_joints
                           : table == STI_SPRINGS  ? n_springs
                           : table == STI_MEASURES ? n_values
                                                   : n_bodies;
        sti_Stream *s = &tables->stream[table];
        int width = sti_table_width(table);
        if (sti_table_rank(table) == 2 && across == 0) continue; /* not needed */
        hid_t type = sti_table_file_type(table);
        if (type < 0) return sti_tables_fail(tables, "making a table", err);
        s->rank = sti_table_rank(table);
        s->tail[0] = (hsize_t)across;
        s->tail[1] = (hsize_t)width;
        s->element = H5Tget_size(type);
        s->row_bytes = s->element * (s->rank > 1 ? (size_t)s->tail[0] : 1) * (s->rank > 2 ? (size_t)width : 1);
        s->chunk_rows = rows_of_chunk(s, table);
        s->buffer_bytes = (int64_t)(s->chunk_rows * s->row_bytes);
        s->buffer = sti_alloc(&tables->allocator, s->buffer_bytes, 1);

        hsize_t dims[3] = {0, s->tail[0], s->tail[1]}, most[3] = {H5S_UNLIMITED, s->tail[0], s->tail[1]};
        hsize_t chunk[3] = {s->chunk_rows, s->tail[0], s->tail[1]};
        hid_t space = H5Screate_simple(s->rank, dims, most), how = H5Pcreate(H5P_DATASET_CREATE);
        /* chunks are packed by chunk.c; without these filters they would be read as noise */
        const bool ok = space >= 0 && how >= 0 && H5Pset_chunk(how, s->rank, chunk) >= 0 && H5Pset_shuffle(how) >= 0 &&
                        H5Pset_deflate(how, 1) >= 0;
        s->set = ok ? H5Dcreate2(file, sti_table_path(table), type, space, H5P_DEFAULT, how, H5P_DEFAULT) : -1;
        st_Status status = s->set >= 0 ? ST_OK : sti_tables_fail(tables, "making a table", err);
        if (how >= 0) H5Pclose(how);
        if (space >= 0) H5Sclose(space);
        H5Tclose(type);
        if (s->buffer == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", tables->path);
        STI_TRY(status);
    }
    return ST_OK;
}

/* Tries all tables even if one fails: to give up a file, HDF5 needs every chunk that it expects. */
st_Status sti_tables_write(sti_Tables *tables, st_Error *err)
{
    st_Status status = ST_OK;
    for (int k = 0; k < STI_N_TABLES; k++) {
        const st_Status one = write_chunk(tables, &tables->stream[k], status == ST_OK ? err : NULL);
        if (status == ST_OK) status = one;
    }
    return status;
}

bool sti_tables_close(sti_Tables *tables)
{
    bool ok = true;
    for (int k = 0; k < STI_N_TABLES; k++) {
        sti_Stream *s = &tables->stream[k];
        if (s->set > 0 && H5Dclose(s->set) < 0) ok = false;
        sti_free(&tables->allocator, s->buffer, s->buffer_bytes, 1);
    }
    sti_chunker_free(&tables->chunker);
    return ok;
}
