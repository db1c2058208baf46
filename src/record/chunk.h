/* record/chunk.h -- converts a chunk of a table to the bytes that HDF5's shuffle and deflate filters read. */
#ifndef STI_RECORD_CHUNK_H
#define STI_RECORD_CHUNK_H

#include "base/base.h"

#define ZLIB_CONST /* zlib does not write to its input */
#include <zlib.h>

typedef struct sti_Chunker {
    st_Allocator allocator;
    z_stream stream;
    bool ready;
    unsigned char *planes, *packed;
    int64_t planes_room, packed_room;
    /* the last chunk, for H5Dwrite_chunk */
    const unsigned char *bytes;
    size_t size;
    uint32_t skipped; /* mask of filters that were not applied: all or none */
} sti_Chunker;

/* Packs `count` elements of `width` bytes, which must stay in memory until the chunk is written. Bytes are worth
 * compressing if they repeat at one of three distances, in elements: 1 and the two of `period`. */
st_Status sti_chunk_pack(sti_Chunker *chunker, const unsigned char *elements, size_t count, size_t width,
                         const size_t period[2], st_Error *err);
void sti_chunker_free(sti_Chunker *chunker);

#endif
