/* record/chunk.c -- compresses the chunks for which it pays.
 *
 * A table is chunked, shuffled and deflated: the shuffle filter puts bytes of equal significance together, one plane
 * per byte of an element, and deflate finds repetitions in each plane. Nearly all planes repeat in small scenes, in
 * planar scenes and for bodies at rest. In a moving pile only signs and exponents repeat; the rest is noise, on which
 * deflate wastes 20 ns per byte. Recording 2,000 spheres took two thirds of the computing time and saved a fifth of the
 * storage. So planes are sampled first.
 *
 * If few repeat, the chunk is written uncompressed and marked so (HDF5 has a mask of skipped filters for each chunk).
 * Else it is shuffled and deflated, with level 0 for planes that do not repeat. A deflate stream may change its level.
 *
 * HDF5, h5py and h5dump read both with their standard filters.
 */
#include "record/chunk.h"

#include <string.h>

#define LEVEL  1    /* 1 .. 9; higher levels gain almost nothing */
#define PLACES 64   /* samples per plane */
#define BLOCK  8192 /* least bytes of a stored block */

void sti_chunker_free(sti_Chunker *chunker)
{
    if (chunker->ready) deflateEnd(&chunker->stream);
    STI_RELEASE(&chunker->allocator, chunker->planes, chunker->planes_room);
    STI_RELEASE(&chunker->allocator, chunker->packed, chunker->packed_room);
    chunker->ready = false;
}

/* Do seven of eight samples equal the element `distance` before them? With fewer there are no runs, and deflate is
 * fast only on runs. */
static bool repeats_at(const unsigned char *bytes, size_t count, size_t stride, size_t distance)
{
    size_t step = 1 + count / PLACES, asked = 0, equal = 0;
    for (size_t k = distance; k < count; k += step, asked++)
        equal += bytes[k * stride] == bytes[(k - distance) * stride];
    return 8 * equal > 7 * asked;
}

static bool repeats(const unsigned char *bytes, size_t count, size_t stride, const size_t period[2])
{
    return repeats_at(bytes, count, stride, 1) || repeats_at(bytes, count, stride, period[0]) ||
           repeats_at(bytes, count, stride, period[1]);
}

st_Status sti_chunk_pack(sti_Chunker *chunker, const unsigned char *elements, size_t count, size_t width,
                         const size_t period[2], st_Error *err)
{
    size_t repeating = 0;
    for (size_t b = 0; b < width; b++)
        repeating += repeats(elements + b, count, width, period);
    if (2 * repeating >= width) {
        z_stream *stream = &chunker->stream;
        size_t bytes = count * width, room = compressBound((uLong)bytes) + 16 * (width + bytes / BLOCK + 2);
        STI_TRY(STI_GROW(&chunker->allocator, chunker->planes, chunker->planes_room, (int64_t)bytes, err));
        STI_TRY(STI_GROW(&chunker->allocator, chunker->packed, chunker->packed_room, (int64_t)room, err));
        bool ok = chunker->ready ? deflateReset(stream) == Z_OK : deflateInit(stream, LEVEL) == Z_OK;
        if (!ok) return sti_fail(err, ST_ERR_MEMORY, "out of memory for compression");
        chunker->ready = true;
        /* Copies byte b of every element to plane b, four bytes at a time, because most elements have four or eight
         * bytes. */
        size_t byte = 0;
        for (; byte + 4 <= width; byte += 4) {
            unsigned char *plane = chunker->planes + byte * count;
            for (size_t k = 0; k < count; k++) {
                const unsigned char *element = elements + k * width + byte;
                plane[k] = element[0];
                plane[k + count] = element[1];
                plane[k + 2 * count] = element[2];
                plane[k + 3 * count] = element[3];
            }
        }
        for (; byte < width; byte++)
            for (size_t k = 0; k < count; k++)
                chunker->planes[byte * count + k] = elements[k * width + byte];
        stream->next_out = chunker->packed;
        stream->avail_out = (uInt)room;
        for (size_t b = 0; b < width && ok; b++) {
            const unsigned char *plane = chunker->planes + b * count;
            const bool last = b + 1 == width;
            stream->avail_in = 0;
            ok = deflateParams(stream, repeats(plane, count, 1, period) ? LEVEL : 0, Z_DEFAULT_STRATEGY) == Z_OK;
            if (!ok) break;
            stream->next_in = plane;
            stream->avail_in = (uInt)count;
            ok = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH) == (last ? Z_STREAM_END : Z_OK) && stream->avail_in == 0;
        }
        if (!ok) return sti_fail(err, ST_ERR_MEMORY, "a chunk of %zu bytes cannot be compressed", bytes);
        chunker->bytes = chunker->packed;
        chunker->size = (size_t)stream->total_out;
        chunker->skipped = 0;
        return ST_OK;
    }
    chunker->bytes = elements;
    chunker->size = count * width;
    chunker->skipped = 3; /* both filters are skipped */
    return ST_OK;
}
