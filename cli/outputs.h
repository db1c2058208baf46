/* cli/outputs.h -- may this file be written? Asked before anything is touched. And whole files, read and copied. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

/* False: it was said on stderr why not. */
bool output_possible(const char *path);
/* Does its name end in one of these (NULL-terminated), so that it is what it says it is? What is no plain file, like
 * /dev/stdout, may be called anything. `hint` is added to what is said on stderr; NULL: nothing.   */
bool output_named(const char *path, const char *const *endings, const char *hint);
/* The same two questions for a file that stiction solve is to find again. */
bool problem_output(const char *path);
bool has_ending(const char *path, const char *ending); /* .h5, .H5 */
bool same_file(const char *a, const char *b);
/* All of a file or a pipe, up to so many bytes, malloc'd and ended by a zero byte; NULL: it cannot be, errno says why.
 */
char *read_whole(const char *path, size_t most, size_t *size);
/* The same bytes at `to`, all of them or none. False: said likewise. */
bool copy_output(const char *from, const char *to);

#endif
