/* problem_hdf.c -- reads numbers, texts and matrices of a problem file; see problem_hdf.h. */
#include "record/problem_hdf.h"

#include "record/hdf_check.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_SIZE 128

/* ------------------------------------------------------------------ memory */

void *sti_keep(sti_FileMemory **kept, int64_t count, size_t size)
{
    const st_Allocator allocator = st_default_allocator();
    const int64_t head = STI_ALIGN; /* keeps the data after it aligned */
    if (count < 0 || (size > 0 && count > (INT64_MAX - head) / (int64_t)size)) return NULL;
    const int64_t total = head + (count > 0 ? count : 1) * (int64_t)size;
    sti_FileMemory *block = sti_alloc(&allocator, total, 1);
    if (block == NULL) return NULL;
    block->next = *kept;
    block->size = total;
    *kept = block;
    return (char *)block + head;
}

void sti_file_memory_free(sti_FileMemory *kept)
{
    const st_Allocator allocator = st_default_allocator();
    while (kept != NULL) {
        sti_FileMemory *next = kept->next;
        sti_free(&allocator, kept, kept->size, 1);
        kept = next;
    }
}

/* ------------------------------------------------------------------ failing */

st_Status sti_hdf_bad(const sti_HdfReader *reader, const char *name, const char *format, ...)
{
    char text[320];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sti_fail(reader->err, ST_ERR_FORMAT, "%s: %s: %s", reader->path, name, text);
}

static st_Status hdf_no_memory(const sti_HdfReader *reader, const char *name, int64_t count)
{
    return sti_fail(reader->err, ST_ERR_MEMORY, "%s: %s: out of memory for %lld numbers", reader->path, name,
                    (long long)count);
}

/* ------------------------------------------------------------------ file */

st_Status sti_hdf_open(sti_HdfReader *reader, const char *path, st_Error *err)
{
    *reader = (sti_HdfReader){.path = path, .file = H5I_INVALID_HID, .err = err};
    int64_t size = 0;
    STI_TRY(sti_hdf_check_file(path, "a problem (docs/problems.md)", &size, NULL, err));
    reader->file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (reader->file < 0)
        return sti_fail(err, ST_ERR_FORMAT, "%s: is a damaged HDF5 file, perhaps cut short (it has %lld bytes)", path,
                        (long long)size);
    return ST_OK;
}

void sti_hdf_close(sti_HdfReader *reader)
{
    if (reader->file >= 0) H5Fclose(reader->file);
    reader->file = H5I_INVALID_HID;
}

/* H5Lexists requires all parent groups to exist: check part by part. */
bool sti_hdf_has(sti_HdfReader *reader, const char *name)
{
    char part[NAME_SIZE];
    const size_t length = strlen(name);
    const char *why = sti_hdf_stays_inside(reader->file, name) ? NULL : "leads to another file, or is damaged";
    htri_t found = why == NULL && length < sizeof part;
    for (size_t k = 1; k <= length && found > 0; k++) {
        if (name[k] != '/' && name[k] != '\0') continue;
        memcpy(part, name, k);
        part[k] = '\0';
        found = H5Lexists(reader->file, part, H5P_DEFAULT);
        if (found > 0) found = H5Oexists_by_name(reader->file, part, H5P_DEFAULT);
    }
    if (found < 0) why = "cannot be looked up: damaged";
    if (why != NULL && reader->why == NULL) {
        reader->why = why;
        snprintf(reader->doubtful, sizeof reader->doubtful, "%s", name);
    }
    return found > 0;
}

st_Status sti_hdf_settle_doubts(const sti_HdfReader *reader)
{
    return reader->why == NULL ? ST_OK : sti_hdf_bad(reader, reader->doubtful, "%s", reader->why);
}

/* ------------------------------------------------------------------ datasets */

/* Opens a dataset and checks that it really has its `count` numbers, of a type that we read. */
static st_Status open_numbers(sti_HdfReader *reader, const char *name, bool whole, hid_t *out, int64_t *count)
{
    if (!sti_hdf_has(reader, name)) return sti_hdf_bad(reader, name, "is missing");
    const hid_t set = H5Dopen2(reader->file, name, H5P_DEFAULT);
    const hid_t type = set >= 0 ? H5Dget_type(set) : H5I_INVALID_HID;
    const hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    const H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    const hssize_t points = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    const hsize_t stored = set >= 0 ? H5Dget_storage_size(set) : 0;
    const char *doubts = set >= 0 ? sti_hdf_doubts(set) : NULL;
    if (type >= 0) H5Tclose(type);
    if (space >= 0) H5Sclose(space);
    st_Status status = ST_OK;
    if (set < 0 || points < 0)
        status = sti_hdf_bad(reader, name, "is not a dataset, or damaged");
    else if (doubts != NULL)
        status = sti_hdf_bad(reader, name, "%s", doubts);
    else if (class != H5T_INTEGER && (whole || class != H5T_FLOAT))
        status = sti_hdf_bad(reader, name, "does not hold %s", whole ? "whole numbers" : "numbers");
    else if (points > 0 && (uint64_t)points > (stored * STI_MOST_COMPRESSED) / (bytes > 0 ? bytes : 1))
        status = sti_hdf_bad(reader, name, "claims %lld numbers, but only %lld bytes of it are in the file",
                             (long long)points, (long long)stored);
    if (status != ST_OK && set >= 0) H5Dclose(set);
    *out = set;
    *count = points;
    return status;
}

static st_Status hdf_read_numbers(sti_HdfReader *reader, const char *name, bool whole, hid_t type, size_t size,
                                  void **out, int64_t *count)
{
    hid_t set = H5I_INVALID_HID;
    herr_t failed = -1;
    STI_TRY(open_numbers(reader, name, whole, &set, count));
    *out = sti_keep(&reader->kept, *count, size);
    if (*out != NULL) {
        failed = *count > 0 ? H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) : 0;
    }
    H5Dclose(set);
    if (*out == NULL) return hdf_no_memory(reader, name, *count);
    if (failed < 0) return sti_hdf_bad(reader, name, "cannot be read: damaged, cut short, or packed in an unknown way");
    return ST_OK;
}

st_Status sti_hdf_ints(sti_HdfReader *reader, const char *name, const int **out, int64_t *count)
{
    void *data = NULL;
    STI_TRY(hdf_read_numbers(reader, name, true, H5T_NATIVE_INT, sizeof(int), &data, count));
    *out = data;
    return ST_OK;
}

st_Status sti_hdf_int(sti_HdfReader *reader, const char *name, int *out)
{
    const int *x = NULL;
    int64_t count = 0;
    STI_TRY(sti_hdf_ints(reader, name, &x, &count));
    if (count != 1) return sti_hdf_bad(reader, name, "holds %lld numbers, must be one", (long long)count);
    *out = x[0];
    return ST_OK;
}

st_Status sti_hdf_doubles(sti_HdfReader *reader, const char *name, int64_t expected, const double **out, int64_t *count)
{
    void *data = NULL;
    int64_t n = 0;
    STI_TRY(hdf_read_numbers(reader, name, false, H5T_NATIVE_DOUBLE, sizeof(double), &data, &n));
    const double *x = data;
    if (expected >= 0 && n != expected)
        return sti_hdf_bad(reader, name, "holds %lld numbers, must be %lld", (long long)n, (long long)expected);
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(x[k])) return sti_hdf_bad(reader, name, "number %lld is %g, must be finite", (long long)k, x[k]);
    *out = x;
    if (count != NULL) *count = n;
    return ST_OK;
}

const char *sti_hdf_text(sti_HdfReader *reader, const char *name)
{
    char *text = NULL;
    if (!sti_hdf_has(reader, name)) return NULL;
    const hid_t set = H5Dopen2(reader->file, name, H5P_DEFAULT);
    const hid_t type = set >= 0 ? H5Dget_type(set) : H5I_INVALID_HID;
    const hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    const bool fixed = type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0;
    const size_t size = fixed ? H5Tget_size(type) : 0;
    if (fixed && space >= 0 && size < 65536 && sti_hdf_doubts(set) == NULL &&
        H5Sget_simple_extent_npoints(space) == 1) {
        text = sti_keep(&reader->kept, (int64_t)size + 1, 1);
        if (text != NULL && H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) < 0) text[0] = '\0';
    }
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    if (set >= 0) H5Dclose(set);
    return text;
}

/* ------------------------------------------------------------------ matrices */

/* The matrix as a list of entries: entry e is at (row(e), column(e)). In compressed storages one of the two is
 * expanded from the pointers. */
typedef struct Entries {
    int m, n, nz;
    int64_t count;
    const int *row, *column;
    const double *x;
} Entries;

static st_Status unroll(sti_HdfReader *reader, const char *name, const int *p, int64_t n_p, int n, int64_t held,
                        const int **out)
{
    if (n_p != (int64_t)n + 1)
        return sti_hdf_bad(reader, name, "holds %lld pointers, must be %d", (long long)n_p, n + 1);
    if (p[0] != 0) return sti_hdf_bad(reader, name, "begins with %d, must be 0", p[0]);
    for (int k = 0; k < n; k++)
        if (p[k + 1] < p[k])
            return sti_hdf_bad(reader, name, "pointer %d is %d, less than %d before it", k + 1, p[k + 1], p[k]);
    if (p[n] > held)
        return sti_hdf_bad(reader, name, "ends with %d, but only %lld entries are there", p[n], (long long)held);
    int *index = sti_keep(&reader->kept, p[n], sizeof *index);
    if (index == NULL) return hdf_no_memory(reader, name, p[n]);
    for (int k = 0; k < n; k++)
        for (int e = p[k]; e < p[k + 1]; e++)
            index[e] = k;
    *out = index;
    return ST_OK;
}

static st_Status read_entries(sti_HdfReader *reader, const char *group, int64_t m, int64_t n, Entries *out)
{
    char name[NAME_SIZE];
    const int *p = NULL, *i = NULL;
    int64_t n_p = 0, n_i = 0, n_x = 0;
#define MEMBER(member) (snprintf(name, sizeof name, "%s/%s", group, member), name)
    STI_TRY(sti_hdf_int(reader, MEMBER("m"), &out->m));
    if (out->m < 0) return sti_hdf_bad(reader, name, "is %d, must be >= 0", out->m);
    STI_TRY(sti_hdf_int(reader, MEMBER("n"), &out->n));
    if (out->n < 0) return sti_hdf_bad(reader, name, "is %d, must be >= 0", out->n);
    if (out->m != m || out->n != n)
        return sti_hdf_bad(reader, group, "is %d x %d, must be %lld x %lld", out->m, out->n, (long long)m,
                           (long long)n);
    STI_TRY(sti_hdf_ints(reader, MEMBER("p"), &p, &n_p));
    STI_TRY(sti_hdf_ints(reader, MEMBER("i"), &i, &n_i));
    STI_TRY(sti_hdf_doubles(reader, MEMBER("x"), -1, &out->x, &n_x));
    STI_TRY(sti_hdf_int(reader, MEMBER("nz"), &out->nz));
    if (out->nz < -2)
        return sti_hdf_bad(reader, name, "is %d, must be -1 (by columns), -2 (by rows) or a number of triplets",
                           out->nz);
    const int64_t held = n_i < n_x ? n_i : n_x;
    if (out->nz >= 0) { /* triplets as in CSparse: p columns, i rows; nzmax may exceed the number of entries */
        if (out->nz > held || out->nz > n_p)
            return sti_hdf_bad(reader, name, "is %d triplets, but p, i, x hold %lld, %lld, %lld", out->nz,
                               (long long)n_p, (long long)n_i, (long long)n_x);
        out->count = out->nz;
        out->row = i;
        out->column = p;
        return ST_OK;
    }
    const bool by_columns = out->nz == -1;
    STI_TRY(
        unroll(reader, MEMBER("p"), p, n_p, by_columns ? out->n : out->m, held, by_columns ? &out->column : &out->row));
    out->count = p[by_columns ? out->n : out->m];
    *(by_columns ? &out->row : &out->column) = i;
#undef MEMBER
    return ST_OK;
}

/* Sorts entries by key, stable, by counting. first: n_keys + 1 numbers, work. */
static void sort_by(const int *key, int n_keys, const int64_t *from, int64_t count, int64_t *first, int64_t *to)
{
    memset(first, 0, ((size_t)n_keys + 1) * sizeof *first);
    for (int64_t e = 0; e < count; e++)
        first[key[e] + 1]++;
    for (int k = 0; k < n_keys; k++)
        first[k + 1] += first[k];
    for (int64_t e = 0; e < count; e++)
        to[first[key[from[e]]]++] = from[e];
}

st_Status sti_hdf_matrix(sti_HdfReader *reader, const char *group, int64_t m, int64_t n, st_Sparse *out)
{
    static const int no_index = 0;
    Entries a = {.row = &no_index, .column = &no_index};
    if (!sti_hdf_has(reader, group)) return sti_hdf_bad(reader, group, "is missing");
    STI_TRY(read_entries(reader, group, m, n, &a));
    for (int64_t e = 0; e < a.count; e++)
        if (a.row[e] < 0 || a.row[e] >= a.m || a.column[e] < 0 || a.column[e] >= a.n)
            return sti_hdf_bad(reader, group, "entry %lld is at (%d, %d), outside %d x %d", (long long)e, a.row[e],
                               a.column[e], a.m, a.n);
    const int larger = a.m > a.n ? a.m : a.n;
    int64_t *p = sti_keep(&reader->kept, (int64_t)a.n + 1, sizeof *p),
            *first = sti_keep(&reader->kept, (int64_t)larger + 1, sizeof *first);
    int64_t *order = sti_keep(&reader->kept, a.count, sizeof *order),
            *by_row = sti_keep(&reader->kept, a.count, sizeof *by_row);
    int *i = sti_keep(&reader->kept, a.count, sizeof *i);
    double *x = sti_keep(&reader->kept, a.count, sizeof *x);
    if (p == NULL || first == NULL || order == NULL || by_row == NULL || i == NULL || x == NULL)
        return hdf_no_memory(reader, group, a.count);
    for (int64_t e = 0; e < a.count; e++)
        order[e] = e;
    sort_by(a.row, a.m, order, a.count, first, by_row);
    sort_by(a.column, a.n, by_row, a.count, first, order);
    int64_t end = 0;
    int column = 0;
    for (int64_t k = 0; k < a.count; k++) {
        const int64_t e = order[k];
        while (column < a.column[e])
            p[++column] = end;
        if (end > p[column] && i[end - 1] == a.row[e]) {
            x[end - 1] += a.x[e]; /* repeated entry */
            continue;
        }
        i[end] = a.row[e];
        x[end++] = a.x[e];
    }
    while (column < a.n)
        p[++column] = end;
    for (int64_t e = 0; e < end; e++)
        if (!isfinite(x[e]))
            return sti_hdf_bad(reader, group, "the sum of entries at row %d is %g, must be finite", i[e], x[e]);
    *out = (st_Sparse){a.m, a.n, p, i, x};
    return ST_OK;
}
