/* record/pack.h -- packs a run for the viewer page: a JSON header and compressed arrays.
 *
 *     "STRUN001"   uint32 length of the header   header (JSON)   arrays, one after another
 *
 * "blocks" in the header has for each array its name, kind (f64, i32, u16, i16), count, offset, bytes, order of
 * differences between rows, and row length. An array is stored as
 *
 *     values -> differences of rows (i32 only), sign in the lowest bit -> bytes by significance -> zlib
 *
 * Motion changes little from frame to frame, so second differences of rounded numbers are small: one or two bytes
 * instead of eight. viewer/src/run.js unpacks them.
 */
#ifndef STI_RECORD_PACK_H
#define STI_RECORD_PACK_H

#include "base/base.h"

#include <jansson.h>

typedef struct sti_Pack {
    st_Allocator allocator;
    json_t *blocks; /* list in the header */
    unsigned char *data;
    int64_t size, capacity;
} sti_Pack;

st_Status sti_pack_start(sti_Pack *pack, st_Error *err);
void sti_pack_free(sti_Pack *pack);

st_Status sti_pack_doubles(sti_Pack *pack, const char *name, const double *values, int64_t count, st_Error *err);
/* Packs the 0th, 1st or 2nd differences (`order`) between rows of `row` numbers. The values are overwritten. */
st_Status sti_pack_ints(sti_Pack *pack, const char *name, int32_t *values, int64_t count, int order, int64_t row,
                        st_Error *err);
/* kind: "u16" or "i16". */
st_Status sti_pack_shorts(sti_Pack *pack, const char *name, const char *kind, const void *values, int64_t count,
                          st_Error *err);
/* Returns header and arrays as one malloc'd block. The blocks are added to `header`. */
st_Status sti_pack_finish(sti_Pack *pack, json_t *header, unsigned char **out, size_t *size, st_Error *err);

#endif
