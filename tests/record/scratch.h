/* tests/record/scratch.h -- a folder and a file in /tmp for the tests of this folder. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* `name` in the folder. The path is valid until the eighth call after this one. */
static inline const char *scratch_path(const char *folder, const char *name)
{
    static char path[8][128];
    static int next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof path[0], "%s/%s", folder, name);
    return out;
}

/* Makes an empty file. `path` ends in XXXXXX, which is replaced. */
static inline int scratch_file(char *path)
{
    const int fd = mkstemp(path);
    return fd >= 0 && close(fd) == 0 ? 0 : -1;
}

#endif
