/* record/columns.h -- the two parts of a column's name, for quoting. */
#ifndef STI_RECORD_COLUMNS_H
#define STI_RECORD_COLUMNS_H

#include <stiction/io.h>

/* Sets *owner to the name of the body, joint or spring of column `index` (NULL for columns of the step), and returns
 * the column's own name. */
const char *sti_column_title(const st_Columns *columns, int64_t index, const char **owner);

#endif
