/* record/problem_hdf.h -- the few things problem files need of HDF5: datasets of numbers in, checked, and out.
 *
 * Messages read "FILE: /fclib_local/vectors/mu: what is wrong". Who calls keeps HDF5's own
 * messages quiet (hdf.h).
 */
#ifndef STI_PROBLEM_HDF_H
#define STI_PROBLEM_HDF_H

#include "base/base.h"

#include <hdf5.h>
#include <stiction/problem.h>

/* Memory that goes with the file read. */
typedef struct sti_FileMemory {
    struct sti_FileMemory *next;
    int64_t size;
} sti_FileMemory;

typedef struct sti_HdfReader {
    const char *path;
    hid_t file;
    sti_FileMemory *kept; /* handed over to the problem at the end */
    st_Error *err;
    const char *why;    /* something could not be looked up; NULL: nothing */
    char doubtful[128]; /* its name */
} sti_HdfReader;

/* count * size zeroed bytes that live until sti_file_memory_free; NULL: no memory. */
void *sti_keep(sti_FileMemory **kept, int64_t count, size_t size);
void sti_file_memory_free(sti_FileMemory *kept);

/* Open a file for reading; it must be HDF5. */
st_Status sti_hdf_open(sti_HdfReader *reader, const char *path, st_Error *err);
void sti_hdf_close(sti_HdfReader *reader);

/* False also where that cannot be found out; then the reader is in doubt, and what was read may lack a part. */
bool sti_hdf_has(sti_HdfReader *reader, const char *name);
/* An error where the reader is in doubt. */
st_Status sti_hdf_settle_doubts(const sti_HdfReader *reader);
/* One whole number. */
st_Status sti_hdf_int(sti_HdfReader *reader, const char *name, int *out);
st_Status sti_hdf_ints(sti_HdfReader *reader, const char *name, const int **out, int64_t *count);
/* All finite. expected >= 0: so many, else any number of them. */
st_Status sti_hdf_doubles(sti_HdfReader *reader, const char *name, int64_t expected, const double **out,
                          int64_t *count);
/* A text, or NULL where there is none; what is no text is passed over. */
const char *sti_hdf_text(sti_HdfReader *reader, const char *name);
/* A matrix group of m x n in any of the three storages; out: by columns, rows ascending, repeated entries added up.
 * The size is looked at before room is made for it: a wrong one may be anything.                    */
st_Status sti_hdf_matrix(sti_HdfReader *reader, const char *name, int64_t m, int64_t n, st_Sparse *out);

/* "FILE: NAME: ..." */
st_Status sti_hdf_bad(const sti_HdfReader *reader, const char *name, const char *format, ...) STI_PRINTF(3, 4);

/* Writing: these go on after a failure and return false for it. Groups on the way are made. */
bool sti_hdf_put_int(hid_t file, const char *name, int value);
bool sti_hdf_put_ints(hid_t file, const char *name, const int *x, int64_t n);
bool sti_hdf_put_doubles(hid_t file, const char *name, const double *x, int64_t n);
bool sti_hdf_put_text(hid_t file, const char *name, const char *text);
bool sti_hdf_put_texts(hid_t file, const char *name, const char *const *texts, int64_t n); /* of one length, padded */
bool sti_hdf_put_matrix(hid_t file, const char *name, const st_Sparse *A);

/* A file of HDF5 in memory, of these bytes or (NULL) empty. After a write failed HDF5 can neither close its file nor
 * let the program end: so it never writes to the disk, and st_file_write() meets what may go wrong there. */
hid_t sti_hdf_in_memory(void *bytes, size_t size);
/* Close it; if all went well (ok), its bytes go to `path`. */
st_Status sti_hdf_settle(hid_t file, bool ok, const char *path, st_Error *err);

#endif
