/* record/whole_file.c -- writes a file completely or not at all.
 *
 * It is written without a name (O_TMPFILE). If the program ends early, by a full disk or a signal, nothing is left to
 * clean up, and an older file of that name is unchanged. When all is written, the file gets a temporary name in the
 * same folder, and rename() puts it in its place. If the file system has no nameless files, it has the temporary name,
 * PATH.<process>.part, from the start, and a killed program leaves it.
 *
 * A target that is no regular file (a pipe, /dev/stdout) is written directly, and so is one in a folder without
 * write permission.
 */
#define _GNU_SOURCE 1 /* O_TMPFILE, memfd_create */

#include "record/whole_file.h"

#include "record/output_lock.h"
#include "record/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* A name next to `path` that no other process uses, malloc'd. */
static char *name_beside(const char *path)
{
    const size_t length = strlen(path) + 32;
    char *name = malloc(length);
    if (name != NULL) snprintf(name, length, "%s.%ld.part", path, (long)getpid());
    return name;
}

static int open_nameless(const char *path, mode_t mode)
{
#ifdef O_TMPFILE
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    int fd = folder != NULL ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode) : -1;
    free(folder);
    return fd;
#else
    (void)path, (void)mode;
    return -1;
#endif
}

/* Links with a missing target are followed one by one, which realpath() does not do. */
enum { MOST_LINKS = 40, PATH_ROOM = 4096 };

/* The file that `path` leads to, even if it does not exist yet: links are followed and stay. malloc'd. */
static char *end_of_links(const char *path)
{
    char *real = realpath(path, NULL), at[PATH_ROOM];
    if (real != NULL || strlen(path) >= sizeof at) return real != NULL ? real : strdup(path);
    snprintf(at, sizeof at, "%s", path);
    for (int k = 0; k < MOST_LINKS; k++) { /* `at` becomes the target of its link, relative to the folder of the link */
        char to[PATH_ROOM], next[2 * PATH_ROOM];
        const ssize_t n = readlink(at, to, sizeof to - 1);
        if (n <= 0) break; /* not a link */
        to[n] = '\0';
        const char *slash = strrchr(at, '/');
        const int folder = to[0] == '/' || slash == NULL ? 0 : (int)(slash - at) + 1;
        if (snprintf(next, sizeof next, "%.*s%s", folder, at, to) >= PATH_ROOM) break; /* too long */
        memcpy(at, next, PATH_ROOM);
    }
    return strdup(at);
}

st_Status sti_file_place(const char *path, char **out, st_Error *err)
{
    struct stat old;
    *out = NULL;
    if (stat(path, &old) == 0) {
        if (!S_ISREG(old.st_mode))
            return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path,
                            S_ISDIR(old.st_mode) ? strerror(EISDIR) : "not a plain file, which HDF5 needs");
        if (access(path, W_OK) != 0)
            return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    const bool is_link = lstat(path, &old) == 0 && S_ISLNK(old.st_mode);
    *out = is_link ? end_of_links(path) : strdup(path); /* the path as given, for messages */
    return *out != NULL ? ST_OK : sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
}

st_Status sti_file_open(const char *path, FILE **out, st_Error *err)
{
    struct stat old;
    const bool exists = stat(path, &old) == 0;
    char *target = end_of_links(path);
    *out = NULL;
    if (target == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    if (exists && !S_ISREG(old.st_mode))
        *out = fopen(path, "w");
    else if (!exists || access(path, W_OK) == 0) /* a file without write permission is not replaced */
    {
        /* Opens a stream for the file that will be at `path`, which has no links. */
        const mode_t mode = exists ? old.st_mode & 0777 : 0666;
        int fd = open_nameless(target, mode);
        if (fd < 0) {
            char *part = name_beside(target);
            fd = part != NULL ? open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode) : -1;
            free(part);
        }
        FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
        if (file == NULL && fd >= 0) close(fd);
        *out = file;
    }
    if (*out == NULL && exists && (errno == EACCES || errno == EPERM || errno == EROFS)) *out = fopen(path, "w");
    free(target);
    if (*out == NULL) return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    return ST_OK;
}

st_Status sti_file_grow(const char *path, const char *begin, FILE **out, st_Error *err)
{
    struct stat old;
    sti_OutputLock lock = {.fd = -1};
    char text[16] = "";
    const size_t n = strlen(begin);
    *out = NULL;
    if (stat(path, &old) == 0 && !S_ISREG(old.st_mode)) {
        *out = fopen(path, "w");
    } else {
        char *target = end_of_links(path);
        if (target == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
        const st_Status status = sti_output_lock(target, true, &lock, err);
        free(target);
        STI_TRY(status);
        if (!sti_output_is_empty(&lock) && (pread(lock.fd, text, n, 0) != (ssize_t)n || memcmp(text, begin, n) != 0)) {
            close(lock.fd);
            return sti_fail(err, ST_ERR_FILE,
                            "%s: exists and is not a table of stiction: choose another name, or remove it", path);
        }
        *out = ftruncate(lock.fd, 0) == 0 ? fdopen(lock.fd, "w") : NULL; /* the stream owns the lock */
    }
    if (*out != NULL) return ST_OK;
    const int reason = errno;
    if (lock.fd >= 0) close(lock.fd);
    return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path, strerror(reason));
}

st_Status sti_file_failed(const char *path, st_Error *err)
{
    return sti_fail(err, ST_ERR_FILE, "%s: writing failed: %s", path, strerror(errno != 0 ? errno : EIO));
}

void sti_sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) (void)!fsync(fd);
    if (fd >= 0) close(fd);
    free(folder);
}

/* All bytes are written: the open file gets the name `part`, unless it has one, and then its own. A file that was
 * written directly has no part. */
static bool move_into_place(int fd, const char *path, const char *part)
{
    struct stat info;
    char open_file[40];
    if (fstat(fd, &info) != 0) return false;
    snprintf(open_file, sizeof open_file, "/proc/self/fd/%d", fd);
    if (info.st_nlink == 0 && linkat(AT_FDCWD, open_file, AT_FDCWD, part, AT_SYMLINK_FOLLOW) != 0) return false;
    return rename(part, path) == 0 || errno == ENOENT;
}

/* Redirects to a file in memory, which HDF5 can make longer unless file sizes are limited; or to /dev/null. */
void sti_send_nowhere(int fd)
{
    int nowhere = -1;
#ifdef MFD_CLOEXEC
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY)
        nowhere = memfd_create("given up", MFD_CLOEXEC);
#endif
    if (nowhere < 0) nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0) return;
    (void)dup2(nowhere, fd);
    close(nowhere);
}

/* Closes the stream in any case; errno is the first reason, also that of an earlier write. */
static bool finish_file(FILE *file, const char *path, bool good)
{
    int reason = errno;
    char *target = end_of_links(path), *part = target != NULL ? name_beside(target) : NULL;
    /* The data is on the disk before the file has its name: a power cut leaves the old file or the new one. Pipes
     * have no disk. */
    bool ok = good && part != NULL && fflush(file) == 0 &&
              (fsync(fileno(file)) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) &&
              move_into_place(fileno(file), target, part);
    if (ok) sti_sync_folder(target);
    if (good && !ok) reason = errno;
    if (!ok && part != NULL) (void)unlink(part);
    free(part);
    free(target);
    if (!ok) sti_send_nowhere(fileno(file)); /* fclose() writes the rest of its buffer */
    if (fclose(file) != 0 && ok) {
        reason = errno;
        ok = false;
    }
    errno = reason;
    return ok;
}

st_Status sti_file_close(FILE *file, const char *path, st_Error *err)
{
    return finish_file(file, path, !ferror(file)) ? ST_OK : sti_file_failed(path, err);
}

st_Status sti_file_close_lines(FILE *file, const char *path, st_Error *err)
{
    bool ok = !ferror(file);
    int reason = errno;
    if (ok && fflush(file) != 0) {
        reason = errno;
        ok = false;
    }
    if (!ok) {
        /* After a write failed in the middle of a line: truncates the file after its last whole line. The stream cannot
         * be read, hence a second descriptor. */
        struct stat ours, there;
        int again = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (again >= 0) {
            if (fstat(fileno(file), &ours) == 0 && fstat(again, &there) == 0 && S_ISREG(there.st_mode) &&
                ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) {
                char block[4096];
                off_t size = there.st_size;
                while (size > 0) {
                    const size_t room = size < (off_t)sizeof block ? (size_t)size : sizeof block;
                    ssize_t n = pread(again, block, room, size - (off_t)room);
                    if (n != (ssize_t)room) break;
                    while (n > 0 && block[n - 1] != '\n')
                        n--;
                    size -= (off_t)room - n;
                    if (n > 0) break;
                }
                (void)!ftruncate(again, size);
            }
            close(again);
        }
    }
    errno = reason;
    return finish_file(file, path, ok) ? ST_OK : sti_file_failed(path, err);
}

void sti_file_give_up(FILE *file, const char *path)
{
    if (file != NULL) (void)finish_file(file, path, false);
}

st_Status st_file_write(const char *path, const void *bytes, size_t size, st_Error *err)
{
    FILE *file = NULL;
    if (path == NULL || (bytes == NULL && size > 0))
        return sti_fail(err, ST_ERR_ARGUMENT, "st_file_write: path and bytes must be given");
    STI_TRY(sti_file_open(path, &file, err));
    errno = 0;
    fwrite(bytes, 1, size, file);
    return sti_file_close(file, path, err);
}
