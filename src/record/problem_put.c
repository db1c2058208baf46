/* problem_put.c -- writes numbers, texts and matrices of a problem file; see problem_hdf.h. */
#include "record/hdf.h"
#include "record/problem_hdf.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer datasets are compressed: shuffle, then deflate. */
enum { PACK_ABOVE = 64, MOST_IN_CHUNK = 1 << 16, PACK_LEVEL = 6 };

static bool put_dataset(hid_t file, const char *name, hid_t stored, hid_t given, const void *x, int64_t n)
{
    const hsize_t size = (hsize_t)n, chunk = n > MOST_IN_CHUNK ? MOST_IN_CHUNK : (hsize_t)n;
    bool ok = false;
    const hid_t space = H5Screate_simple(1, &size, NULL);
    const hid_t links = H5Pcreate(H5P_LINK_CREATE), layout = H5Pcreate(H5P_DATASET_CREATE);
    ok = space >= 0 && links >= 0 && layout >= 0 && H5Pset_create_intermediate_group(links, 1) >= 0;
    if (n > PACK_ABOVE)
        ok = ok && H5Pset_chunk(layout, 1, &chunk) >= 0 && H5Pset_shuffle(layout) >= 0 &&
             H5Pset_deflate(layout, PACK_LEVEL) >= 0;
    const hid_t set = ok ? H5Dcreate2(file, name, stored, space, links, layout, H5P_DEFAULT) : H5I_INVALID_HID;
    ok = set >= 0 && (n == 0 || H5Dwrite(set, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    if (set >= 0 && H5Dclose(set) < 0) ok = false;
    H5Pclose(layout);
    H5Pclose(links);
    H5Sclose(space);
    return ok;
}

bool sti_hdf_put_ints(hid_t file, const char *name, const int *x, int64_t n)
{
    return put_dataset(file, name, H5T_STD_I32LE, H5T_NATIVE_INT, x, n);
}

bool sti_hdf_put_int(hid_t file, const char *name, int value)
{
    return sti_hdf_put_ints(file, name, &value, 1);
}

bool sti_hdf_put_doubles(hid_t file, const char *name, const double *x, int64_t n)
{
    return put_dataset(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, x, n);
}

bool sti_hdf_put_text(hid_t file, const char *name, const char *text)
{
    bool ok = false;
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR), links = H5Pcreate(H5P_LINK_CREATE);
    ok = H5Tset_size(type, strlen(text) > 0 ? strlen(text) : 1) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
         H5Pset_create_intermediate_group(links, 1) >= 0;
    const hid_t set = ok ? H5Dcreate2(file, name, type, space, links, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
    ok = set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0;
    if (set >= 0) H5Dclose(set);
    H5Pclose(links);
    H5Sclose(space);
    H5Tclose(type);
    return ok;
}

bool sti_hdf_put_texts(hid_t file, const char *name, const char *const *texts, int64_t n)
{
    size_t size = 1;
    for (int64_t k = 0; k < n; k++)
        if (strlen(texts[k]) > size) size = strlen(texts[k]);
    char *padded = calloc((size_t)n + 1, size);
    const hid_t type = H5Tcopy(H5T_C_S1);
    for (int64_t k = 0; padded != NULL && k < n; k++)
        memcpy(padded + (size_t)k * size, texts[k], strlen(texts[k]));
    const bool ok = padded != NULL && H5Tset_size(type, size) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                    H5Tset_cset(type, H5T_CSET_UTF8) >= 0 && put_dataset(file, name, type, type, padded, n);
    H5Tclose(type);
    free(padded);
    return ok;
}

bool sti_hdf_put_matrix(hid_t file, const char *name, const st_Sparse *A)
{
    char member[128];
    const int64_t count = A->p[A->n_cols];
    if (count > INT_MAX) return false;
    int *p = malloc(((size_t)A->n_cols + 1) * sizeof *p);
    if (p == NULL) return false;
    for (int j = 0; j <= A->n_cols; j++)
        p[j] = (int)A->p[j];
#define MEMBER(text) (snprintf(member, sizeof member, "%s/%s", name, text), member)
    const bool ok = sti_hdf_put_int(file, MEMBER("m"), A->n_rows) && sti_hdf_put_int(file, MEMBER("n"), A->n_cols) &&
                    sti_hdf_put_int(file, MEMBER("nzmax"), (int)count) && sti_hdf_put_int(file, MEMBER("nz"), -1) &&
                    sti_hdf_put_ints(file, MEMBER("p"), p, (int64_t)A->n_cols + 1) &&
                    sti_hdf_put_ints(file, MEMBER("i"), A->i, count) &&
                    sti_hdf_put_doubles(file, MEMBER("x"), A->x, count);
#undef MEMBER
    free(p);
    return ok;
}

hid_t sti_hdf_in_memory(void *bytes, size_t size)
{
    char name[40]; /* a name that no file has, unique in this process */
    hid_t how = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
    snprintf(name, sizeof name, "/dev/null/%p", (void *)&how);
    if (how < 0) return how;
    if (H5Pset_fapl_core(how, 1 << 20, false) >= 0 && (bytes == NULL || H5Pset_file_image(how, bytes, size) >= 0))
        file = bytes == NULL ? H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, how) : H5Fopen(name, H5F_ACC_RDWR, how);
    H5Pclose(how);
    return file;
}

st_Status sti_hdf_settle(hid_t file, bool ok, const char *path, st_Error *err)
{
    char reason[200];
    ssize_t size = ok && H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0 ? H5Fget_file_image(file, NULL, 0) : -1;
    void *bytes = size > 0 ? malloc((size_t)size) : NULL;
    ok = bytes != NULL && H5Fget_file_image(file, bytes, (size_t)size) == size;
    st_Status status = ok ? ST_OK
                          : sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path,
                                     size > 0 ? "out of memory" : sti_hdf_reason(reason, sizeof reason));
    if (file >= 0) H5Fclose(file);
    if (ok) status = st_file_write(path, bytes, (size_t)size, err);
    free(bytes);
    return status;
}
