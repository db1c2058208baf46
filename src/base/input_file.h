/* base/input_file.h -- files that are read: plain ones, and pipes where that is meant. */
#ifndef STI_INPUT_FILE_H
#define STI_INPUT_FILE_H

#include "base/base.h"

#include <stdio.h>

/* Opens a file to be read; NULL: *why says in a few words why not. A device is refused, which may have no end, and so
 * is a pipe unless `pipes`: the opening of one waits until somebody writes to it.                  */
FILE *sti_input_open(const char *path, bool pipes, const char **why);

#endif
