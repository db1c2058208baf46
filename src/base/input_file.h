/* base/input_file.h -- opens files for reading: plain files, and pipes if allowed. */
#ifndef STI_INPUT_FILE_H
#define STI_INPUT_FILE_H

#include "base/base.h"

#include <stdio.h>

/* Opens a file for reading; NULL: *why is the reason in a few words. Devices are refused, because they may have no
 * end. Pipes are refused unless `pipes`, because opening one waits for a writer. */
FILE *sti_input_open(const char *path, bool pipes, const char **why);

#endif
