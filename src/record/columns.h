/* record/columns.h -- the two parts of a column's name, for titles that are quoted. */
#ifndef STI_RECORD_COLUMNS_H
#define STI_RECORD_COLUMNS_H

#include <stiction/io.h>

/* Name of the body, joint or spring that column `index` belongs to, NULL for columns of the step; and its own name. */
const char *sti_column_title(const st_Columns *columns, int64_t index, const char **owner);

#endif
