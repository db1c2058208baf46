/* Writes a table of results as CSV or HDF5. */
#include "record/hdf.h"
#include "record/problem_hdf.h"
#include "record/text.h"
#include "record/whole_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

st_Status st_table_write(const char *path, const st_TableColumn *columns, int n_columns, int64_t n_rows, st_Error *err)
{
    if (path == NULL || columns == NULL || n_columns < 1 || n_rows < 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_table_write: a path and at least one column must be given");
    for (int c = 0; c < n_columns; c++)
        if (columns[c].name == NULL || columns[c].name[0] == '\0' ||
            (n_rows > 0 && columns[c].numbers == NULL && columns[c].texts == NULL))
            return sti_fail(err, ST_ERR_ARGUMENT, "st_table_write: column %d must have a name, and numbers or texts",
                            c);
    const char *dot = strrchr(path, '.');
    const bool hdf = dot != NULL && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".hdf5") == 0);
    if (hdf) {
        const sti_Quiet quiet = sti_quiet_begin();
        const hid_t file = sti_hdf_in_memory(NULL, 0);
        const char **names = calloc((size_t)n_columns + 1, sizeof *names);
        bool ok = file >= 0 && names != NULL;
        for (int c = 0; ok && c < n_columns; c++) {
            const st_TableColumn *column = &columns[c];
            names[c] = column->name;
            ok = column->numbers != NULL ? sti_hdf_put_doubles(file, column->name, column->numbers, n_rows)
                                         : sti_hdf_put_texts(file, column->name, column->texts, n_rows);
        }
        ok = ok && sti_hdf_put_texts(file, "columns", names, n_columns);
        const st_Status status = sti_hdf_settle(file, ok, path, err);
        free((void *)names);
        sti_quiet_end(quiet);
        return status;
    }
    char text[STI_NUMBER_SIZE];
    FILE *file = NULL;
    STI_TRY(sti_file_open(path, &file, err));
    for (int64_t row = -1; row < n_rows; row++) /* -1: titles */
        for (int c = 0; c < n_columns; c++) {
            const st_TableColumn *column = &columns[c];
            if (c > 0) fputc(',', file);
            if (row < 0)
                sti_write_field(file, column->name);
            else if (column->numbers != NULL) {
                /* The shortest text with at least 15 digits that reads back to the same bits: 100, not 1e+02. */
                const char *end;
                for (int digits = 15; digits <= 17; digits++)
                    if (sti_number_read(sti_number(text, column->numbers[row], digits), &end) == column->numbers[row])
                        break;
                fputs(text, file);
            } else
                sti_write_field(file, column->texts[row]);
            if (c == n_columns - 1) fputc('\n', file);
        }
    return sti_file_close(file, path, err);
}
