/* record/output_lock.c -- see output_lock.h. */
#define _GNU_SOURCE 1 /* F_OFD_SETLK */

#include "record/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A byte beyond the end of every file. HDF5 uses another kind of lock (flock), which does not interfere on a local
 * disk. */
#define LOCKED_BYTE ((off_t)1 << 40)

/* How often a file may lose its name between open and lock: each time another run has just ended. */
enum { TRIES = 100 };

bool sti_output_lock_open(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCKED_BYTE, .l_len = 1};
#ifdef F_OFD_SETLK
    const int how = F_OFD_SETLK;
#else
    const int how = F_SETLK;
#endif
    return fcntl(fd, how, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

/* Is this open file still the one at `path`? */
static bool is_at(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* PATH.lock, malloc'd. */
static char *lock_name(const char *path)
{
    const size_t size = strlen(path) + sizeof ".lock";
    char *name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s.lock", path);
    return name;
}

/* One try. fd -1: failed, errno is the reason, 0 for another run; -2: the file changed meanwhile, try again. */
static sti_OutputLock try_lock(const char *path, const char *name, bool make)
{
    sti_OutputLock lock = {.fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)};
    lock.of_name = lock.fd < 0 && errno == ENOENT && !make;
    if (lock.of_name) lock.fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (lock.fd < 0 && errno == ENOENT && make) lock.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (lock.fd < 0) {
        if (errno == EEXIST) lock.fd = -2;
        return lock;
    }
    const bool locked = sti_output_lock_open(lock.fd);
    if (locked && is_at(lock.fd, lock.of_name ? name : path) && !(lock.of_name && is_there(path))) return lock;
    close(lock.fd);
    errno = 0;
    return (sti_OutputLock){.fd = locked ? -2 : -1};
}

st_Status sti_output_lock(const char *path, bool make, sti_OutputLock *lock, st_Error *err)
{
    char *name = lock_name(path);
    *lock = (sti_OutputLock){.fd = -2};
    if (name == NULL) return sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", path);
    for (int k = 0; k < TRIES && lock->fd == -2; k++)
        *lock = try_lock(path, name, make);
    const int reason = lock->fd == -1 ? errno : 0;
    free(name);
    if (lock->fd >= 0) return ST_OK;
    lock->fd = -1;
    if (reason != 0) return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path, strerror(reason));
    return sti_fail(err, ST_ERR_FILE, "%s: another run is writing it: choose another name, or wait for its end", path);
}

static bool is_empty(int fd)
{
    struct stat info;
    return fstat(fd, &info) == 0 && info.st_size == 0;
}

bool sti_output_is_empty(const sti_OutputLock *lock)
{
    return lock->of_name || is_empty(lock->fd);
}

void sti_output_unlock(sti_OutputLock *lock, const char *path)
{
    if (lock->fd < 0) return;
    char *name = lock->of_name ? lock_name(path) : NULL;
    if (name != NULL && is_empty(lock->fd) && is_at(lock->fd, name)) (void)unlink(name);
    free(name);
    close(lock->fd);
    lock->fd = -1;
}
