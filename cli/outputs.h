/* cli/outputs.h -- may this file be written? Asked before anything is touched. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

/* False: it was said on stderr why not. */
bool output_possible(const char *path);
bool same_file(const char *a, const char *b);

#endif
