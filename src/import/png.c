/* import/png.c -- PNG (ISO/IEC 15948): chunks, one zlib stream of rows, each with one of five filters. Images of 8 and
 * 16 bits per sample that are not interlaced; a palette and 1, 2 or 4 bits are read, too.
 */
#include "import/png.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define MOST_PIXELS (1 << 24)

typedef struct Png {
    const char *path;
    st_Error *err;
    unsigned width, height, depth, colour, samples; /* samples per pixel */
    unsigned char palette[256][3];
    unsigned char *packed; /* the zlib stream */
    size_t n_packed;
} Png;

static st_Status bad(const Png *png, const char *what)
{
    return sti_fail(png->err, ST_ERR_FORMAT, "%s: %s", png->path, what);
}

static unsigned big_word(const unsigned char *p)
{
    return (unsigned)p[0] << 24 | (unsigned)p[1] << 16 | (unsigned)p[2] << 8 | p[3];
}

static st_Status read_chunks(Png *png, const unsigned char *bytes, size_t size)
{
    static const unsigned char mark[8] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    if (size < 8 || memcmp(bytes, mark, 8) != 0) return bad(png, "is not a PNG image");
    for (size_t at = 8; at + 12 <= size;) {
        const unsigned n = big_word(bytes + at);
        const unsigned char *type = bytes + at + 4, *data = bytes + at + 8;
        if (n > size - at - 12) break;
        if (memcmp(type, "IHDR", 4) == 0) {
            static const unsigned samples[] = {1, 0, 3, 1, 2, 0, 4};
            if (n != 13) return bad(png, "the header of the image is not 13 bytes");
            png->width = big_word(data);
            png->height = big_word(data + 4);
            png->depth = data[8];
            png->colour = data[9];
            png->samples = png->colour <= 6 ? samples[png->colour] : 0;
            const bool depths = png->depth == 8 || png->depth == 16 ||
                                ((png->depth == 1 || png->depth == 2 || png->depth == 4) && png->samples == 1);
            if (png->samples == 0 || !depths) return bad(png, "has an unknown colour type or bit depth");
            if (data[12] != 0) return bad(png, "is interlaced, which is not supported");
            if (png->width < 2 || png->height < 2 || (uint64_t)png->width * png->height > MOST_PIXELS)
                return bad(png, "must have from 2 x 2 to 16777216 pixels");
        }
        for (unsigned k = 0; memcmp(type, "PLTE", 4) == 0 && k + 2 < n && k < 768; k++)
            png->palette[k / 3][k % 3] = data[k];
        if (memcmp(type, "IDAT", 4) == 0) {
            memcpy(png->packed + png->n_packed, data, n);
            png->n_packed += n;
        }
        if (memcmp(type, "IEND", 4) == 0) return png->width > 0 ? ST_OK : bad(png, "has no header");
        at += (size_t)n + 12;
    }
    return bad(png, "is cut short");
}

static int paeth(int a, int b, int c)
{
    const int p = a + b - c, x = abs(p - a), y = abs(p - b), z = abs(p - c);
    return x <= y && x <= z ? a : y <= z ? b : c;
}

/* Undoes the filter of each row in place. The byte before a row gives its filter. */
static bool unfilter(unsigned char *rows, size_t height, size_t stride, size_t pixel)
{
    for (size_t y = 0; y < height; y++) {
        unsigned char *row = rows + y * (stride + 1), filter = *row++;
        const unsigned char *above = y > 0 ? row - stride - 1 : NULL;
        if (filter > 4) return false;
        for (size_t x = 0; x < stride; x++) {
            const int a = x >= pixel ? row[x - pixel] : 0, b = above != NULL ? above[x] : 0;
            const int c = above != NULL && x >= pixel ? above[x - pixel] : 0;
            const int guess = filter == 1   ? a
                              : filter == 2 ? b
                              : filter == 3 ? (a + b) / 2
                              : filter == 4 ? paeth(a, b, c)
                                            : 0;
            row[x] = (unsigned char)(row[x] + guess);
        }
    }
    return true;
}

static double sample(const Png *png, const unsigned char *row, size_t index)
{
    if (png->depth == 16) return (256.0 * row[2 * index] + row[2 * index + 1]) / 65535;
    if (png->depth == 8) return row[index] / 255.0;
    const unsigned bit = (unsigned)index * png->depth, top = (1u << png->depth) - 1;
    return (row[bit / 8] >> (8 - png->depth - bit % 8) & top) / (double)top;
}

static double grey(const Png *png, const unsigned char *row, size_t x)
{
    if (png->colour == 3) {
        const double top = png->depth == 8 ? 255 : (1u << png->depth) - 1;
        const unsigned char *c = png->palette[(int)lround(top * sample(png, row, x)) & 255];
        return (c[0] + c[1] + c[2]) / 765.0;
    }
    if (png->samples < 3) return sample(png, row, x * png->samples);
    const size_t first = x * png->samples;
    return (sample(png, row, first) + sample(png, row, first + 1) + sample(png, row, first + 2)) / 3;
}

static st_Status unpack(Png *png, double **out)
{
    const size_t bits = (size_t)png->samples * png->depth, stride = (png->width * bits + 7) / 8;
    const size_t pixel = bits >= 8 ? bits / 8 : 1, n = (size_t)png->width * png->height;
    uLongf size = (uLongf)((stride + 1) * png->height);
    unsigned char *rows = malloc(size);
    *out = malloc(n * sizeof **out);
    st_Status status = ST_OK;
    if (rows == NULL || *out == NULL) {
        status = sti_fail(png->err, ST_ERR_MEMORY, "%s: out of memory for %zu pixels", png->path, n);
    } else {
        const uLongf wanted = size;
        const int result = uncompress(rows, &size, png->packed, (uLong)png->n_packed);
        if (result != Z_OK || size != wanted || !unfilter(rows, png->height, stride, pixel))
            status = bad(png, "its pixels cannot be read");
    }
    for (size_t k = 0; k < n && status == ST_OK; k++)
        (*out)[k] = grey(png, rows + (k / png->width) * (stride + 1) + 1, k % png->width);
    free(rows);
    if (status == ST_OK) return ST_OK;
    free(*out);
    *out = NULL;
    return status;
}

st_Status sti_png_read(const char *path, int *width, int *height, double **out, st_Error *err)
{
    Png png = {.path = path, .err = err};
    FILE *file = fopen(path, "rb");
    *out = NULL;
    if (file == NULL) return sti_fail(err, ST_ERR_FILE, "%s: could not be opened", path);
    size_t size = 0, room = 1 << 16;
    unsigned char *bytes = malloc(room);
    while (bytes != NULL && !feof(file) && !ferror(file) && room < (size_t)1 << 28) {
        if (size == room) {
            unsigned char *grown = realloc(bytes, room *= 2);
            if (grown == NULL) free(bytes);
            bytes = grown;
            continue;
        }
        size += fread(bytes + size, 1, room - size, file);
    }
    fclose(file);
    png.packed = malloc(size + 1);
    st_Status status = bytes != NULL && png.packed != NULL ? read_chunks(&png, bytes, size)
                                                           : sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) status = unpack(&png, out);
    free(bytes);
    free(png.packed);
    *width = (int)png.width;
    *height = (int)png.height;
    return status;
}
