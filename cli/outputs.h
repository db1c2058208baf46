/* cli/outputs.h -- may this file be written? Asked before anything is touched. And files made elsewhere. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>

/* False: it was said on stderr why not. */
bool output_possible(const char *path);
bool same_file(const char *a, const char *b);
/* The same bytes at `to`, all of them or none. False: said likewise. */
bool copy_output(const char *from, const char *to);

#endif
