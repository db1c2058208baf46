#include "record/pack.h"

#include <stdlib.h>
#include <zlib.h>

#define LEVEL 6 /* level of zlib */

st_Status sti_pack_start(sti_Pack *pack, st_Error *err)
{
    *pack = (sti_Pack){.allocator = st_default_allocator(), .blocks = json_array()};
    return pack->blocks != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory");
}

void sti_pack_free(sti_Pack *pack)
{
    json_decref(pack->blocks);
    STI_RELEASE(&pack->allocator, pack->data, pack->capacity);
    *pack = (sti_Pack){.allocator = pack->allocator};
}

static st_Status pack_block(sti_Pack *pack, const char *name, const char *kind, const void *values, int64_t count,
                            int width, int order, int64_t row, st_Error *err)
{
    int64_t bytes = count * width;
    uLongf packed = compressBound((uLong)bytes);
    unsigned char *shuffled = sti_alloc(&pack->allocator, bytes + 1, 1);
    st_Status status = shuffled != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "out of memory for \"%s\"", name);
    if (status == ST_OK)
        status = STI_GROW(&pack->allocator, pack->data, pack->capacity, pack->size + (int64_t)packed, err);
    if (status == ST_OK) {
        /* bytes of equal significance together: high bytes are mostly equal and compress well */
        const unsigned char *from = values;
        for (int b = 0; b < width; b++)
            for (int64_t k = 0; k < count; k++)
                shuffled[b * count + k] = from[k * width + b];
        if (compress2(pack->data + pack->size, &packed, shuffled, (uLong)bytes, LEVEL) != Z_OK)
            status = sti_fail(err, ST_ERR_MEMORY, "\"%s\" cannot be compressed", name);
    }
    sti_free(&pack->allocator, shuffled, bytes + 1, 1);
    if (status != ST_OK) return status;
    json_array_append_new(pack->blocks, json_pack("{ss ss sI sI sI si sI}", "name", name, "kind", kind, "count",
                                                  (json_int_t)count, "offset", (json_int_t)pack->size, "bytes",
                                                  (json_int_t)packed, "order", order, "row", (json_int_t)row));
    pack->size += (int64_t)packed;
    return ST_OK;
}

st_Status sti_pack_doubles(sti_Pack *pack, const char *name, const double *values, int64_t count, st_Error *err)
{
    return pack_block(pack, name, "f64", values, count, 8, 0, 1, err);
}

st_Status sti_pack_ints(sti_Pack *pack, const char *name, int32_t *values, int64_t count, int order, int64_t row,
                        st_Error *err)
{
    /* differences between rows, in place from the end; wrap-around cancels when they are summed again */
    for (int n = 0; n < order; n++)
        for (int64_t k = count - 1; k >= row; k--)
            values[k] = (int32_t)((uint32_t)values[k] - (uint32_t)values[k - row]);
    /* sign in the lowest bit, so that small numbers have leading zeros */
    for (int64_t k = 0; k < count && order > 0; k++)
        values[k] = (int32_t)(((uint32_t)values[k] << 1) ^ (values[k] < 0 ? 0xffffffffu : 0u));
    return pack_block(pack, name, "i32", values, count, 4, order, row, err);
}

st_Status sti_pack_shorts(sti_Pack *pack, const char *name, const char *kind, const void *values, int64_t count,
                          st_Error *err)
{
    return pack_block(pack, name, kind, values, count, 2, 0, 1, err);
}

st_Status sti_pack_finish(sti_Pack *pack, json_t *header, unsigned char **out, size_t *size, st_Error *err)
{
    json_object_set(header, "blocks", pack->blocks);
    char *text = json_dumps(header, JSON_COMPACT | JSON_REAL_PRECISION(12));
    size_t length = text != NULL ? strlen(text) : 0, head = 12;
    unsigned char *bytes = text != NULL ? malloc(head + length + (size_t)pack->size) : NULL;
    if (bytes == NULL) {
        free(text);
        return sti_fail(err, ST_ERR_MEMORY, "out of memory");
    }
    static const unsigned char magic[8] = {'S', 'T', 'R', 'U', 'N', '0', '0', '1'};
    for (int k = 0; k < 8; k++)
        bytes[k] = magic[k];
    for (int k = 0; k < 4; k++)
        bytes[8 + k] = (unsigned char)(length >> (8 * k));
    memcpy(bytes + head, text, length); /* NOLINT(bugprone-not-null-terminated-result): its length precedes it */
    if (pack->size > 0) memcpy(bytes + head + length, pack->data, (size_t)pack->size);
    free(text);
    *out = bytes;
    *size = head + length + (size_t)pack->size;
    return ST_OK;
}
