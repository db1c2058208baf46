/* cli/outputs.h -- checks whether a file can be written, before anything is touched; reads and copies whole files. */
#ifndef CLI_OUTPUTS_H
#define CLI_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

/* False: the reason was printed on stderr. */
bool output_possible(const char *path);
/* Has its name one of these endings (NULL-terminated)? Files that are not plain, like /dev/stdout, may have any
 * name. `hint` is added to the message; NULL: nothing. */
bool output_named(const char *path, const char *const *endings, const char *hint);
/* Both checks for a file that stiction solve can read. */
bool problem_output(const char *path);
bool has_ending(const char *path, const char *ending); /* .h5, .H5 */
bool same_file(const char *a, const char *b);
/* Reads a file or pipe up to so many bytes, malloc'd and ended by a zero byte; NULL: errno is the reason. */
char *read_whole(const char *path, size_t most, size_t *size);
/* Copies to `to`, all or nothing. False: the reason was printed. */
bool copy_output(const char *from, const char *to);

#endif
