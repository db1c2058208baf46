/* cli/outputs.h -- may this file be written? Asked before anything is touched. And whole files, read and copied. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

/* False: it was said on stderr why not. */
bool output_possible(const char *path);
bool same_file(const char *a, const char *b);
/* All of a file or a pipe, up to so many bytes, malloc'd and ended by a zero byte; NULL: it cannot be, errno says why.
 */
char *read_whole(const char *path, size_t most, size_t *size);
/* The same bytes at `to`, all of them or none. False: said likewise. */
bool copy_output(const char *from, const char *to);

#endif
