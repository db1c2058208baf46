/* record/hdf_check.c -- see hdf_check.h. The superblock: HDF5 File Format Specification 3.0, section II.A. */
#include "record/hdf_check.h"

#include "base/input_file.h"

#include <stdio.h>
#include <sys/stat.h>

enum { SUPERBLOCK = 48, NAME_ROOM = 256 };
/* A chunk may always take this much memory, however little of it is stored [bytes]: writers choose up to a megabyte. */
#define SMALL_CHUNK (1 << 20)

/* NULL if the superblock is valid; else the reason why not. */
static const char *check_superblock(const unsigned char head[SUPERBLOCK], int64_t bytes, bool *cut_off)
{
    const int version = head[8], sizes_at = version < 2 ? 13 : 9;
    *cut_off = false;
    if (version > 3) return "its superblock has an unknown version";
    if (head[sizes_at] != 8 || head[sizes_at + 1] != 8) return "its addresses do not have 8 bytes";
    *cut_off = version >= 2 && head[11] != 0;
    /* in version 1 it is after the bytes that were read */
    const int end_at = version == 0 ? 40 : version == 1 ? 0 : 28;
    if (end_at == 0 || *cut_off) return NULL;
    uint64_t x = 0;
    for (int k = 7; k >= 0; k--)
        x = x << 8 | head[end_at + k];
    return x > (uint64_t)bytes ? "it is shorter than it says" : NULL;
}

st_Status sti_hdf_check_file(const char *path, const char *what, int64_t *bytes, bool *cut_off, st_Error *err)
{
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    unsigned char head[SUPERBLOCK] = {0};
    struct stat about = {0};
    bool open = false;
    const char *why;
    FILE *file = sti_input_open(path, false, &why);
    if (file == NULL) return sti_fail(err, ST_ERR_FILE, "%s: cannot be read: %s", path, why);
    const bool known = fstat(fileno(file), &about) == 0;
    const size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    *bytes = known ? (int64_t)about.st_size : 0;
    if (cut_off == NULL) cut_off = &open;
    *cut_off = false;
    if (*bytes == 0)
        return sti_fail(err, ST_ERR_FORMAT, "%s: is not an HDF5 file, must be %s: the file is empty", path, what);
    if (n < sizeof head || memcmp(head, signature, sizeof signature) != 0)
        return sti_fail(err, ST_ERR_FORMAT, "%s: is not an HDF5 file, must be %s", path, what);
    why = check_superblock(head, *bytes, cut_off);
    if (why != NULL)
        return sti_fail(err, ST_ERR_FORMAT, "%s: is a damaged HDF5 file, perhaps cut short: %s (it has %lld bytes)",
                        path, why, (long long)*bytes);
    H5PLset_loading_state(0); /* load no filters from the disk */
    return ST_OK;
}

bool sti_hdf_stays_inside(hid_t file, const char *name)
{
    char part[NAME_ROOM];
    const size_t length = strlen(name);
    if (length >= sizeof part) return false;
    for (size_t k = 1; k <= length; k++) {
        H5L_info_t info;
        if (name[k] != '/' && name[k] != '\0') continue;
        memcpy(part, name, k);
        part[k] = '\0';
        const htri_t there = H5Lexists(file, part, H5P_DEFAULT);
        if (there <= 0) return there == 0;
        if (H5Lget_info(file, part, &info, H5P_DEFAULT) < 0 || info.type == H5L_TYPE_EXTERNAL) return false;
    }
    return true;
}

/* Bytes of a chunk; infinite if unknown; 0: there are no chunks. */
static double chunk_bytes(hid_t set, hid_t how)
{
    hsize_t dims[H5S_MAX_RANK];
    if (H5Pget_layout(how) != H5D_CHUNKED) return 0;
    const int rank = H5Pget_chunk(how, H5S_MAX_RANK, dims);
    const hid_t type = H5Dget_type(set);
    double bytes = rank > 0 && rank <= H5S_MAX_RANK && type >= 0 ? (double)H5Tget_size(type) : INFINITY;
    for (int k = 0; k < rank && k < H5S_MAX_RANK; k++)
        bytes *= (double)dims[k];
    if (type >= 0) H5Tclose(type);
    return bytes;
}

/* Every HDF5 has deflate, shuffle and a checksum; other filters may be anything. */
static bool is_packed_plainly(hid_t how)
{
    const int n = H5Pget_nfilters(how);
    if (n < 0 || n > 8) return false;
    for (int k = 0; k < n; k++) {
        unsigned flags, config;
        size_t values = 0;
        const H5Z_filter_t filter = H5Pget_filter2(how, (unsigned)k, &flags, &values, NULL, 0, NULL, &config);
        if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
            return false;
    }
    return true;
}

const char *sti_hdf_doubts(hid_t set)
{
    const hid_t how = H5Dget_create_plist(set);
    const char *why = NULL;
    if (how < 0) return "cannot be read: damaged";
    const double stored = (double)H5Dget_storage_size(set), chunk = chunk_bytes(set, how);
    if (H5Pget_layout(how) == H5D_VIRTUAL || H5Pget_external_count(how) > 0)
        why = "has its data in another file";
    else if (chunk > SMALL_CHUNK && !(chunk <= stored * STI_MOST_COMPRESSED))
        why = "has chunks that are larger than its stored data can be";
    else if (!is_packed_plainly(how))
        why = "is packed in an unknown way";
    H5Pclose(how);
    return why;
}
