/* record/columns.h -- the two parts of a column's name, for quoting, and the names that all tables share. */
#ifndef STI_RECORD_COLUMNS_H
#define STI_RECORD_COLUMNS_H

#include <stiction/io.h>

/* Sets *owner to the name of the body, joint or spring of column `index` (NULL for columns of the step), and returns
 * the column's own name. */
const char *sti_column_title(const st_Columns *columns, int64_t index, const char **owner);

/* The columns of each body, joint and spring, and of the contact force on each body; NULL after the last. */
extern const char *const sti_body_columns[],
    *const sti_joint_columns[], *const sti_spring_columns[], *const sti_load_columns[], *const sti_last_columns[];
enum { STI_CONTACT_FORCE_COLUMNS = 3 }; /* the first of sti_load_columns */

#endif
