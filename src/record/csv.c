/* A table of a run: one line for the start (step length 0), then one line per step.
 *
 * Comma separated, with 17 significant digits, so that reading a number gives the same bits. Lines are written about
 * twice per second and when the buffer is full. A killed run leaves the lines written so far; a full disk leaves
 * whole lines.
 */
#include "base/clock.h"
#include "record/columns.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <errno.h>
#include <stiction/io.h>
#include <string.h>

#define BUFFER_SIZE    65536
#define FLUSH_INTERVAL 0.5 /* [s] */

struct st_Csv {
    st_Allocator allocator;
    FILE *file;
    char *path;
    int64_t path_size;
    char *buffer;
    st_Columns *columns;
    double *values; /* one for each column */
    int64_t n_columns;
    double flushed; /* time of the last flush by the monotonic clock [s]; no result depends on it */
};

static void release_csv(st_Csv *csv)
{
    st_Allocator allocator = csv->allocator;
    sti_free(&allocator, csv->path, csv->path_size, 1);
    sti_free(&allocator, csv->buffer, BUFFER_SIZE, 1);
    st_columns_destroy(csv->columns);
    sti_free(&allocator, csv->values, csv->n_columns, sizeof *csv->values);
    sti_free(&allocator, csv, 1, sizeof *csv);
}

st_Status st_csv_open(const char *path, const st_System *system, const st_Scene *scene, st_Csv **out, st_Error *err)
{
    st_Allocator allocator = st_default_allocator();
    if (path == NULL || system == NULL || scene == NULL || out == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_csv_open: path, system, scene and out must not be NULL");
    *out = NULL;
    st_Csv *csv = sti_alloc(&allocator, 1, sizeof *csv);
    if (csv == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    csv->allocator = allocator;
    if (st_columns_create(scene, &csv->columns, NULL) == ST_OK) csv->n_columns = st_columns_count(csv->columns);
    csv->values = sti_alloc(&allocator, csv->n_columns, sizeof *csv->values);
    csv->path_size = (int64_t)strlen(path) + 1;
    csv->path = sti_alloc(&allocator, csv->path_size, 1);
    csv->buffer = sti_alloc(&allocator, BUFFER_SIZE, 1);
    st_Status status = csv->path != NULL && csv->buffer != NULL && csv->columns != NULL && csv->values != NULL
                           ? sti_file_grow(path, "t,h,", &csv->file, err)
                           : sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (status == ST_OK) {
        memcpy(csv->path, path, (size_t)csv->path_size);
        setvbuf(csv->file, csv->buffer, _IOFBF, BUFFER_SIZE);
        for (int64_t k = 0; k < csv->n_columns; k++) {
            const char *owner = NULL, *name = sti_column_title(csv->columns, k, &owner);
            if (owner != NULL)
                sti_write_title(csv->file, owner, name);
            else
                fprintf(csv->file, k > 0 ? ",%s" : "%s", name);
        }
        fputc('\n', csv->file);
    }
    if (status != ST_OK) {
        release_csv(csv);
        return status;
    }
    csv->flushed = -FLUSH_INTERVAL; /* the first line is written at once, so that a full disk is found before the run */
    *out = csv;
    return ST_OK;
}

st_Status st_csv_write(st_Csv *csv, const st_System *system, const st_StepInfo *info, st_Error *err)
{
    char text[STI_NUMBER_SIZE];
    if (csv == NULL || system == NULL || info == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_csv_write: csv, system and info must not be NULL");
    STI_TRY(st_columns_values(csv->columns, system, info, csv->values, err));
    errno = 0;
    fputs(sti_number(text, csv->values[0], 17), csv->file);
    sti_write_numbers(csv->file, csv->values + 1, csv->n_columns - 1);
    fputc('\n', csv->file);
    double now = sti_seconds_now();
    if (now - csv->flushed > FLUSH_INTERVAL) {
        fflush(csv->file);
        csv->flushed = now;
    }
    return ferror(csv->file) ? sti_file_failed(csv->path, err) : ST_OK;
}

st_Status st_csv_close(st_Csv *csv, st_Error *err)
{
    if (csv == NULL) return ST_OK;
    st_Status status = sti_file_close_lines(csv->file, csv->path, err);
    release_csv(csv);
    return status;
}
