/* tests/step/reference.h -- a reference trajectory: a CSV file of named columns. */
#ifndef CHECK_REFERENCE_H
#define CHECK_REFERENCE_H

#include "check.h"

#include <string.h>

typedef struct Reference {
    char *header;
    char *column[64];
    int n_columns, n_rows;
    double *value; /* n_rows x n_columns; words ("slip") are NaN */
} Reference;

static inline Reference reference_read(const char *path)
{
    Reference ref = {0};
    char line[4096];
    FILE *file = fopen(path, "r");
    if (file == NULL) fail_msg("cannot read %s", path);
    if (fgets(line, sizeof line, file) == NULL) fail_msg("%s is empty", path);
    ref.header = strdup(line);
    for (char *word = strtok(ref.header, ",\n"); word != NULL; word = strtok(NULL, ",\n"))
        ref.column[ref.n_columns++] = word;
    assert_true(ref.n_columns > 0);
    while (fgets(line, sizeof line, file) != NULL) {
        if (ref.n_columns == 0) break; /* for the analyser, which does not interpret assert_true */
        ref.value = realloc(ref.value, (size_t)((ref.n_rows + 1) * ref.n_columns) * sizeof *ref.value);
        char *word = strtok(line, ",\n");
        for (int c = 0; c < ref.n_columns; c++, word = strtok(NULL, ",\n")) {
            char *end;
            double x = word != NULL ? strtod(word, &end) : NAN;
            ref.value[ref.n_rows * ref.n_columns + c] = word != NULL && end != word ? x : NAN;
        }
        ref.n_rows++;
    }
    fclose(file);
    return ref;
}

static inline double reference_at(const Reference *ref, int row, const char *column)
{
    for (int c = 0; c < ref->n_columns; c++)
        if (strcmp(ref->column[c], column) == 0) return ref->value[row * ref->n_columns + c];
    fail_msg("the reference has no column %s", column);
    return NAN;
}

static inline void reference_free(Reference *ref)
{
    free(ref->header);
    free(ref->value);
}

#endif
