/* record/problem_hdf.h -- HDF5 functions for problem files: they read, check and write datasets of numbers.
 *
 * Messages read "FILE: /fclib_local/vectors/mu: what is wrong". The caller silences HDF5's own messages (hdf.h).
 */
#ifndef STI_PROBLEM_HDF_H
#define STI_PROBLEM_HDF_H

#include "base/base.h"

#include <hdf5.h>
#include <stiction/problem.h>

/* Memory that is freed with the file. */
typedef struct sti_FileMemory {
    struct sti_FileMemory *next;
    int64_t size;
} sti_FileMemory;

typedef struct sti_HdfReader {
    const char *path;
    hid_t file;
    sti_FileMemory *kept; /* passed to the problem at the end */
    st_Error *err;
    const char *why;    /* why a name could not be looked up; NULL: no such failure */
    char doubtful[128]; /* that name */
} sti_HdfReader;

/* count * size zeroed bytes that live until sti_file_memory_free; NULL: out of memory. */
void *sti_keep(sti_FileMemory **kept, int64_t count, size_t size);
void sti_file_memory_free(sti_FileMemory *kept);

/* Opens a file for reading; it must be HDF5. */
st_Status sti_hdf_open(sti_HdfReader *reader, const char *path, st_Error *err);
void sti_hdf_close(sti_HdfReader *reader);

/* Returns false also if the lookup failed. Then the reader has doubts: the data read may lack a part. */
bool sti_hdf_has(sti_HdfReader *reader, const char *name);
/* Fails if a lookup has failed. */
st_Status sti_hdf_settle_doubts(const sti_HdfReader *reader);
/* Reads one whole number. */
st_Status sti_hdf_int(sti_HdfReader *reader, const char *name, int *out);
st_Status sti_hdf_ints(sti_HdfReader *reader, const char *name, const int **out, int64_t *count);
/* Reads finite numbers. expected >= 0: exactly so many, else any number. */
st_Status sti_hdf_doubles(sti_HdfReader *reader, const char *name, int64_t expected, const double **out,
                          int64_t *count);
/* Reads a text; NULL if there is none. Other types are ignored. */
const char *sti_hdf_text(sti_HdfReader *reader, const char *name);
/* Reads an m x n matrix group in any of the three storages. out: by columns, rows ascending, repeated entries added.
 * The size is checked before memory is allocated. */
st_Status sti_hdf_matrix(sti_HdfReader *reader, const char *name, int64_t m, int64_t n, st_Sparse *out);

/* Fails with "FILE: NAME: ...". */
st_Status sti_hdf_bad(const sti_HdfReader *reader, const char *name, const char *format, ...) STI_PRINTF(3, 4);

/* Writing: these continue after a failure and return false. Missing groups are created. */
bool sti_hdf_put_int(hid_t file, const char *name, int value);
bool sti_hdf_put_ints(hid_t file, const char *name, const int *x, int64_t n);
bool sti_hdf_put_doubles(hid_t file, const char *name, const double *x, int64_t n);
bool sti_hdf_put_text(hid_t file, const char *name, const char *text);
bool sti_hdf_put_texts(hid_t file, const char *name, const char *const *texts, int64_t n); /* of equal length, padded */
bool sti_hdf_put_matrix(hid_t file, const char *name, const st_Sparse *A);

/* An HDF5 file in memory, with these bytes or (NULL) empty. After a failed write HDF5 can neither close its file nor
 * let the program end. So it never writes to the disk; st_file_write() handles disk errors. */
hid_t sti_hdf_in_memory(void *bytes, size_t size);
/* Closes it; if all went well (ok), writes its bytes to `path`. */
st_Status sti_hdf_settle(hid_t file, bool ok, const char *path, st_Error *err);

#endif
