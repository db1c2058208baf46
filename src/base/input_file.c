#include "base/input_file.h"

#include <errno.h>
#include <sys/stat.h>

FILE *sti_input_open(const char *path, bool pipes, const char **why)
{
    struct stat about;
    *why = NULL;
    if (stat(path, &about) != 0)
        *why = strerror(errno);
    else if (S_ISDIR(about.st_mode))
        *why = "is a folder";
    else if (S_ISFIFO(about.st_mode) && !pipes)
        *why = "is a pipe, must be a plain file";
    else if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
        *why = "is a device, must be a plain file";
    if (*why != NULL) return NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL) *why = strerror(errno);
    return file;
}
