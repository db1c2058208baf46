/* import/mesh_file.c -- Wavefront OBJ, STL and MSH, as far as geometry needs them. COLLADA is in mesh_dae.c.
 *
 * OBJ: lines `v x y z` and `f a b c ...`, where a corner is `point`, `point/texture` or `point/texture/normal`.
 * Points are counted from 1; negative numbers count from the end. A face of more than three corners becomes a fan.
 * Other lines (materials, groups, normals) are skipped. STL: corners of triangles; corners that coincide become one
 * point. */
#include "import/mesh_file.h"
#include "base/input_file.h"

#include "base/number.h"
#include "base/range.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define MOST       (1 << 26) /* most points or triangles: about a gigabyte */
#define STL_HEADER 84
#define STL_RECORD 50

void sti_model_free(sti_Model *model)
{
    free(model->points);
    free(model->triangles);
    *model = (sti_Model){0};
}

/* ---- growing ------------------------------------------------------------------------------------- */

static bool make_room(void **memory, size_t *room, size_t count, size_t size)
{
    if (count <= *room) return true;
    size_t more = *room < 64 ? 64 : 2 * *room;
    if (more < count) more = count;
    void *grown = realloc(*memory, more * size);
    if (grown == NULL) return false;
    *memory = grown;
    *room = more;
    return true;
}

st_Status sti_model_point(sti_Model *m, const char *label, int line, st_Vec3 p, st_Error *err)
{
    if (!sti_within(p.x, STI_LARGEST) || !sti_within(p.y, STI_LARGEST) || !sti_within(p.z, STI_LARGEST))
        return sti_fail(err, ST_ERR_FORMAT, "%s:%d: point (%g, %g, %g), each must be from %g to %g", label, line, p.x,
                        p.y, p.z, -STI_LARGEST, STI_LARGEST);
    if (m->n_points >= MOST || !make_room((void **)&m->points, &m->points_room, (size_t)m->n_points + 1, sizeof p))
        return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory after %d points", label, m->n_points);
    m->points[m->n_points++] = p;
    return ST_OK;
}

st_Status sti_model_triangle(sti_Model *m, const char *label, int a, int b, int c, st_Error *err)
{
    size_t n = 3 * ((size_t)m->n_triangles + 1);
    if (m->n_triangles >= MOST || !make_room((void **)&m->triangles, &m->triangles_room, n, sizeof(int)))
        return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory after %d triangles", label, m->n_triangles);
    int *t = m->triangles + n - 3;
    t[0] = a, t[1] = b, t[2] = c;
    m->n_triangles++;
    return ST_OK;
}

/* ---- lines --------------------------------------------------------------------------------------- */

/* Reads a text line by line. Each line is copied and ends in 0, for number parsing; a face may have any number of
 * corners. */
typedef struct Lines {
    const char *text, *end, *label;
    char *line; /* the last line read, without its end; malloc'd */
    size_t room;
    int number; /* its line number, from 1 */
} Lines;

/* Returns false at the end of the text and if memory runs out; *status shows which. */
static bool next_line(Lines *lines, st_Status *status, st_Error *err)
{
    *status = ST_OK;
    if (lines->text >= lines->end) return false;
    const char *stop = memchr(lines->text, '\n', (size_t)(lines->end - lines->text));
    size_t n = (size_t)((stop != NULL ? stop : lines->end) - lines->text), used = 0;
    if (!make_room((void **)&lines->line, &lines->room, n + 1, 1) || lines->line == NULL) {
        *status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory for a line of %zu bytes", lines->label, n);
        return false;
    }
    for (size_t k = 0; k < n; k++)
        if (lines->text[k] != '\r') lines->line[used++] = lines->text[k] == '\0' ? ' ' : lines->text[k];
    lines->line[used] = '\0';
    lines->text += n + (stop != NULL);
    lines->number++;
    return true;
}

static bool three_numbers(const char *from, st_Vec3 *out)
{
    double x[3];
    for (int k = 0; k < 3; k++) {
        const char *after;
        x[k] = sti_number_read(from, &after);
        if (after == from) return false;
        from = after;
    }
    *out = (st_Vec3){x[0], x[1], x[2]};
    return true;
}

/* ---- OBJ ----------------------------------------------------------------------------------------- */

static st_Status obj_face(sti_Model *m, const char *label, int line, const char *from, st_Error *err)
{
    int first = -1, last = -1, corners = 0;
    for (;;) {
        while (*from == ' ' || *from == '\t')
            from++;
        if (*from == '\0') break;
        char *after;
        long number = strtol(from, &after, 10);
        if (after == from)
            return sti_fail(err, ST_ERR_FORMAT, "%s:%d: \"%.20s\" is not a corner of a face", label, line, from);
        long index = number < 0 ? m->n_points + number : number - 1;
        if (index < 0 || index >= m->n_points)
            return sti_fail(err, ST_ERR_FORMAT, "%s:%d: a face names point %ld, there are %d so far", label, line,
                            number, m->n_points);
        from = after;
        while (*from != '\0' && *from != ' ' && *from != '\t') /* skip texture and normal */
            from++;
        corners++;
        if (corners >= 3) STI_TRY(sti_model_triangle(m, label, first, last, (int)index, err));
        if (corners == 1) first = (int)index;
        last = (int)index;
    }
    if (corners >= 3) return ST_OK;
    return sti_fail(err, ST_ERR_FORMAT, "%s:%d: a face of %d corners, must have at least 3", label, line, corners);
}

static st_Status obj_line(sti_Model *m, const char *label, int number, const char *line, st_Error *err)
{
    const char *at = line + strspn(line, " \t");
    if (at[0] == '\0' || (at[1] != ' ' && at[1] != '\t')) return ST_OK;
    if (at[0] == 'f') return obj_face(m, label, number, at + 1, err);
    if (at[0] != 'v') return ST_OK;
    st_Vec3 p;
    if (!three_numbers(at + 1, &p))
        return sti_fail(err, ST_ERR_FORMAT, "%s:%d: \"%.40s\" must be three numbers after v", label, number, at);
    return sti_model_point(m, label, number, p, err);
}

static st_Status stl_line(sti_Model *m, const char *label, int number, const char *line, st_Error *err)
{
    const char *at = line + strspn(line, " \t");
    st_Vec3 p;
    if (strncasecmp(at, "vertex", 6) != 0) return ST_OK;
    if (!three_numbers(at + 6, &p))
        return sti_fail(err, ST_ERR_FORMAT, "%s:%d: \"%.40s\" must be three numbers after vertex", label, number, at);
    return sti_model_point(m, label, number, p, err);
}

typedef st_Status ReadLine(sti_Model *m, const char *label, int number, const char *line, st_Error *err);

static st_Status read_lines(const char *text, size_t length, const char *label, ReadLine *read, sti_Model *m,
                            st_Error *err)
{
    Lines lines = {.text = text, .end = text + length, .label = label};
    st_Status status;
    while (next_line(&lines, &status, err)) {
        status = read(m, label, lines.number, lines.line, err);
        if (status != ST_OK) break;
    }
    free(lines.line);
    return status;
}

/* ---- STL ----------------------------------------------------------------------------------------- */

static uint32_t little_word(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double little_float(const unsigned char *p)
{
    uint32_t bits = little_word(p);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct Corner {
    st_Vec3 p;
    int index;
} Corner;

static int by_place(const void *x, const void *y)
{
    const Corner *a = x, *b = y;
    if (a->p.x != b->p.x) return a->p.x < b->p.x ? -1 : 1;
    if (a->p.y != b->p.y) return a->p.y < b->p.y ? -1 : 1;
    if (a->p.z != b->p.z) return a->p.z < b->p.z ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* ---- MSH ------------------------------------------------------------------------------------------ */

/* ---- public functions ---------------------------------------------------------------------------- */

st_Status sti_model_parse(const char *text, size_t length, const char *ending, const char *label, sti_Model *out,
                          st_Error *err)
{
    if (strcasecmp(ending, ".obj") == 0)
        STI_TRY(read_lines(text, length, label, obj_line, out, err));
    else if (strcasecmp(ending, ".dae") == 0)
        STI_TRY(sti_dae_parse(text, length, label, out, err));
    else if (strcasecmp(ending, ".msh") == 0) {
        /* MuJoCo's format: four counts (points, normals, texture coordinates, triangles), then floats and indices. */
        const unsigned char *p = (const unsigned char *)text;
        uint32_t n[4] = {0};
        for (size_t k = 0; k < 4 && length >= 16; k++)
            n[k] = little_word(p + 4 * k);
        const size_t whole = 16 + 12 * (size_t)n[0] + 12 * (size_t)n[1] + 8 * (size_t)n[2] + 12 * (size_t)n[3];
        if (length < 16 || length != whole)
            return sti_fail(err, ST_ERR_FORMAT, "%s: has %zu bytes, its counts say %zu", label, length, whole);
        const unsigned char *at = p + 16;
        for (uint32_t k = 0; k < n[0]; k++, at += 12)
            STI_TRY(sti_model_point(out, label, 0,
                                    (st_Vec3){little_float(at), little_float(at + 4), little_float(at + 8)}, err));
        at += 12 * (size_t)n[1] + 8 * (size_t)n[2];
        for (uint32_t k = 0; k < n[3]; k++, at += 12) {
            const uint32_t t[3] = {little_word(at), little_word(at + 4), little_word(at + 8)};
            if (t[0] >= n[0] || t[1] >= n[0] || t[2] >= n[0])
                return sti_fail(err, ST_ERR_FORMAT, "%s: a triangle names a point beyond %u", label, n[0]);
            STI_TRY(sti_model_triangle(out, label, (int)t[0], (int)t[1], (int)t[2], err));
        }
    } else {
        const unsigned char *bytes = (const unsigned char *)text;
        uint32_t n = length >= STL_HEADER ? little_word(bytes + 80) : 0;
        /* The length shows that a file is binary: some binary files begin with the word `solid` like text files, and
         * some have extra bytes at the end. */
        const size_t whole = STL_HEADER + (size_t)n * STL_RECORD;
        const bool worded = length >= 5 && strncasecmp(text, "solid", 5) == 0;
        bool binary = length >= STL_HEADER && (length == whole || (length > whole && !worded));
        if (binary)
            for (uint32_t t = 0; t < n; t++) {
                const unsigned char *corner = bytes + STL_HEADER + (size_t)t * STL_RECORD + 12; /* skip the normal */
                for (int k = 0; k < 3; k++, corner += 12)
                    STI_TRY(sti_model_point(
                        out, label, 0,
                        (st_Vec3){little_float(corner), little_float(corner + 4), little_float(corner + 8)}, err));
            }
        else {
            STI_TRY(read_lines(text, length, label, stl_line, out, err));
            if (out->n_points % 3 != 0)
                return sti_fail(err, ST_ERR_FORMAT, "%s: %d vertices, must be three for each triangle", label,
                                out->n_points);
        }
        /* Merges corners that coincide, and removes triangles that then have two equal corners. */
        int n_corners = out->n_points, points = 0;
        Corner *corner = malloc((size_t)(n_corners > 0 ? n_corners : 1) * sizeof *corner);
        int *number = malloc((size_t)(n_corners > 0 ? n_corners : 1) * sizeof *number);
        st_Status status = ST_OK;
        if (corner == NULL || number == NULL)
            status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory for %d corners", label, n_corners);
        for (int k = 0; k < n_corners && status == ST_OK; k++)
            corner[k] = (Corner){out->points[k], k};
        if (status == ST_OK && n_corners > 0) qsort(corner, (size_t)n_corners, sizeof *corner, by_place);
        for (int k = 0; k < n_corners && status == ST_OK; k++) {
            bool same = k > 0 && corner[k].p.x == corner[k - 1].p.x && corner[k].p.y == corner[k - 1].p.y &&
                        corner[k].p.z == corner[k - 1].p.z;
            if (!same) out->points[points++] = corner[k].p;
            number[corner[k].index] = points - 1;
        }
        for (int k = 0; k + 2 < n_corners && status == ST_OK; k += 3)
            if (number[k] != number[k + 1] && number[k + 1] != number[k + 2] && number[k + 2] != number[k])
                status = sti_model_triangle(out, label, number[k], number[k + 1], number[k + 2], err);
        out->n_points = points;
        free(corner);
        free(number);
        STI_TRY(status);
    }
    if (out->n_points > 0) return ST_OK;
    return sti_fail(err, ST_ERR_FORMAT, "%s: has no points", label);
}

bool sti_is_model_file(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && (strcasecmp(ending, ".obj") == 0 || strcasecmp(ending, ".stl") == 0 ||
                              strcasecmp(ending, ".dae") == 0 || strcasecmp(ending, ".msh") == 0);
}

static st_Status read_bytes(FILE *file, const char *path, char **text, size_t *length, st_Error *err)
{
    size_t room = 0, n = 0;
    *text = NULL;
    do {
        if (!make_room((void **)text, &room, n + 65536, 1) || n > ((size_t)1 << 31))
            return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory after %zu bytes", path, n);
        size_t got = fread(*text + n, 1, 65536, file);
        n += got;
    } while (!feof(file) && !ferror(file));
    *length = n;
    return ferror(file) ? sti_fail(err, ST_ERR_FILE, "%s: could not be read", path) : ST_OK;
}

st_Status sti_model_read(const char *path, sti_Model *out, st_Error *err)
{
    *out = (sti_Model){0};
    if (!sti_is_model_file(path))
        return sti_fail(err, ST_ERR_FORMAT, "%s: must be a file .obj, .stl, .dae or .msh", path);
    const char *why;
    FILE *file = sti_input_open(path, false, &why);
    if (file == NULL) return sti_fail(err, ST_ERR_FILE, "%s: could not be opened: %s", path, why);
    char *text;
    size_t length = 0;
    st_Status status = read_bytes(file, path, &text, &length, err);
    fclose(file);
    if (status == ST_OK) status = sti_model_parse(text, length, strrchr(path, '.'), path, out, err);
    free(text);
    if (status != ST_OK) sti_model_free(out);
    return status;
}
