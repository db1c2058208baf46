/* record/pack.h -- a run as bytes for the page: a JSON header and compressed arrays.
 *
 *     "STRUN001"   uint32 length of the header   header (JSON)   arrays, one after another
 *
 * The header's "blocks" say of each array its name, kind (f64, i32, u16, i16), count, offset and bytes, the order
 * of differences taken between rows and the length of a row. An array is stored as
 *
 *     values -> differences of rows (i32 only), sign in the lowest bit -> bytes by significance -> zlib
 *
 * Motion changes little from frame to frame, so second differences of rounded numbers are small: a byte or
 * two where a double has eight. viewer/src/run.js does the same backwards.
 */
#ifndef STI_RECORD_PACK_H
#define STI_RECORD_PACK_H

#include "base/base.h"

#include <jansson.h>

typedef struct sti_Pack {
    st_Allocator allocator;
    json_t *blocks; /* of the header */
    unsigned char *data;
    int64_t size, capacity;
} sti_Pack;

st_Status sti_pack_start(sti_Pack *pack, st_Error *err);
void sti_pack_free(sti_Pack *pack);

st_Status sti_pack_doubles(sti_Pack *pack, const char *name, const double *values, int64_t count, st_Error *err);
/* `order` 0, 1 or 2 differences between rows of `row` numbers. The values are overwritten. */
st_Status sti_pack_ints(sti_Pack *pack, const char *name, int32_t *values, int64_t count, int order, int64_t row,
                        st_Error *err);
/* "u16" or "i16". */
st_Status sti_pack_shorts(sti_Pack *pack, const char *name, const char *kind, const void *values, int64_t count,
                          st_Error *err);
/* Header and arrays in one, malloc'd. `header` gets the blocks. */
st_Status sti_pack_finish(sti_Pack *pack, json_t *header, unsigned char **out, size_t *size, st_Error *err);

#endif
