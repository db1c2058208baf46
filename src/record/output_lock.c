/* record/output_lock.c -- see output_lock.h. */
#define _GNU_SOURCE 1 /* F_OFD_SETLK */

#include "record/output_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A byte beyond every file. HDF5 takes locks of another kind (flock), which do not meet these on a local disk. */
#define LOCKED_BYTE ((off_t)1 << 40)

/* Times that a file may lose its name between being opened and being locked: each time another run has just ended. */
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

/* Does the open file still have the name? */
static bool is_at(int fd, const char *path)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
           ours.st_ino == there.st_ino;
}

st_Status sti_output_lock(const char *path, sti_OutputLock *lock, st_Error *err)
{
    *lock = (sti_OutputLock){.fd = -1};
    for (int k = 0; k < TRIES; k++) {
        bool made = false;
        int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT) {
            fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
            if (fd < 0 && errno == EEXIST) continue;
            made = fd >= 0;
        }
        if (fd < 0) return sti_fail(err, ST_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
        const bool locked = sti_output_lock_open(fd);
        if (locked && is_at(fd, path)) {
            *lock = (sti_OutputLock){.fd = fd, .made = made};
            return ST_OK;
        }
        close(fd);
        if (!locked) break;
    }
    return sti_fail(err, ST_ERR_FILE, "%s: another run is writing it: choose another name, or wait for its end", path);
}

bool sti_output_is_empty(const sti_OutputLock *lock)
{
    struct stat info;
    return fstat(lock->fd, &info) == 0 && info.st_size == 0;
}

void sti_output_unlock(sti_OutputLock *lock, const char *path, bool kept)
{
    if (lock->fd < 0) return;
    if (lock->made && !kept && sti_output_is_empty(lock) && is_at(lock->fd, path)) (void)unlink(path);
    close(lock->fd);
    lock->fd = -1;
}
