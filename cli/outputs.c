#include "outputs.h"

#include "command.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a new file; malloc'd. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return strdup(".");
    if (slash == path) return strdup("/");
    return strndup(path, (size_t)(slash - path));
}

bool output_possible(const char *path)
{
    struct stat info;
    int reason = 0;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            reason = EISDIR;
        else if (access(path, W_OK) != 0)
            reason = errno;
    } else if (errno != ENOENT || path[0] == '\0' || path[strlen(path) - 1] == '/') {
        reason = errno;
    } else {
        char *folder = folder_of(path);
        if (folder == NULL)
            reason = ENOMEM;
        else if (access(folder, W_OK | X_OK) != 0)
            reason = errno;
        free(folder);
    }
    if (reason != 0) complain(STATUS_INPUT, "%s: cannot be written: %s", path, strerror(reason));
    return reason == 0;
}

bool has_ending(const char *path, const char *ending)
{
    const char *dot = strrchr(path, '.');
    return dot != NULL && strcasecmp(dot, ending) == 0;
}

bool output_named(const char *path, const char *const *endings, const char *hint)
{
    struct stat info;
    char list[128] = "";
    size_t n = 0;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) return true;
    for (int k = 0; endings[k] != NULL; k++) {
        if (has_ending(path, endings[k])) return true;
        const char *between = k == 0 ? "" : endings[k + 1] == NULL ? " or " : ", ";
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", between, endings[k]);
    }
    complain(STATUS_INPUT, "%s: its name must end in %s%s", path, list, hint != NULL ? hint : "");
    return false;
}

bool problem_output(const char *path)
{
    static const char *const endings[] = {".hdf5", ".h5", ".hdf", NULL};
    return output_named(path, endings, NULL) && output_possible(path);
}

char *read_whole(const char *path, size_t most, size_t *size)
{
    char *text = NULL, block[16384];
    struct stat info;
    if (stat(path, &info) == 0 && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))) { /* a device may have no end */
        errno = EINVAL;
        return NULL;
    }
    FILE *from = fopen(path, "rb"), *memory = from != NULL ? open_memstream(&text, size) : NULL;
    size_t n = 0, all = 0;
    while (memory != NULL && all <= most && (n = fread(block, 1, sizeof block, from)) > 0)
        all += fwrite(block, 1, n, memory);
    bool failed = memory == NULL || ferror(from) || ferror(memory) || all > most;
    const int reason = all > most ? EFBIG : errno;
    if (from != NULL) fclose(from);
    if (memory != NULL && fclose(memory) == 0 && !failed) return text;
    free(text);
    errno = reason;
    return NULL;
}

bool copy_output(const char *from, const char *to)
{
    st_Error err = {0};
    size_t size = 0;
    char *bytes = read_whole(from, SIZE_MAX - 1, &size);
    if (bytes == NULL) complain(STATUS_FAILED, "%s: cannot be read: %s", from, strerror(errno));
    bool ok = bytes != NULL && st_file_write(to, bytes, size, &err) == ST_OK;
    if (bytes != NULL && !ok) complain(STATUS_FAILED, "%s", err.message);
    free(bytes);
    return ok;
}

bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    if (stat(a, &x) != 0 || stat(b, &y) != 0) return false;
    return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}
