/* A library that test_faults preloads: a full disk, and a clock that jumps.
 *
 *     BAD_DISK=N        the disk is full from the N-th call on that needs space: calls that make a file longer, reserve
 *                       space or rename fail. Space that was reserved before can be written
 *     BAD_DISK_ONCE=N   only the N-th write, sync, reservation or renaming fails, with a device error
 *     BAD_CLOCK=1       the time of day jumps by ten years back and forth at every call
 *
 * Writes inside the C library (streams) are not intercepted: tests/record tests those with a limit on file sizes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static long calls;

/* Files in memory have no disk. */
static bool is_in_memory(int fd)
{
    char link[40], name[16] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, name, sizeof name - 1) <= 0) return false;
    return strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/dev/shm/", 9) == 0; /* clang's OpenMP uses /dev/shm */
}

/* Is a call to fail that makes the file as long as `end`? Descriptors that are no files never fail; -1: a name. */
static bool fails(int fd, off_t end)
{
    struct stat info;
    const char *from = getenv("BAD_DISK"), *once = getenv("BAD_DISK_ONCE");
    if ((from == NULL && once == NULL) || fd == 1 || fd == 2) return false;
    if (fd >= 0) {
        if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || is_in_memory(fd)) return false;
        if (once == NULL && end <= info.st_size) return false;
    }
    calls++;
    if (once != NULL ? calls != atol(once) : calls < atol(from)) return false;
    errno = once != NULL ? EIO : ENOSPC;
    return true;
}

/* The function of the C library. */
#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *bytes, size_t n)
{
    return fails(fd, lseek(fd, 0, SEEK_CUR) + (off_t)n) ? -1 : REAL(write)(fd, bytes, n);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return fails(fd, at + (off_t)n) ? -1 : REAL(pwrite)(fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return fails(fd, at + (off_t)n) ? -1 : REAL(pwrite64)(fd, bytes, n, at);
}

int fsync(int fd)
{
    return fails(fd, 0) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return fails(fd, 0) ? -1 : REAL(fdatasync)(fd);
}

int ftruncate(int fd, off_t size)
{
    return fails(fd, size) ? -1 : REAL(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return fails(fd, size) ? -1 : REAL(ftruncate64)(fd, size);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    return fails(fd, at + n) ? errno : REAL(posix_fallocate)(fd, at, n);
}

int posix_fallocate64(int fd, off64_t at, off64_t n)
{
    return fails(fd, at + n) ? errno : REAL(posix_fallocate64)(fd, at, n);
}

int rename(const char *from, const char *to)
{
    return fails(-1, 0) ? -1 : REAL(rename)(from, to);
}

static time_t jump(void)
{
    static int n;
    if (getenv("BAD_CLOCK") == NULL) return 0;
    return (n++ % 2 == 0 ? 1 : -1) * (time_t)315360000;
}

time_t time(time_t *out)
{
    const time_t now = REAL(time)(NULL) + jump();
    if (out != NULL) *out = now;
    return now;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    const int status = REAL(clock_gettime)(clock, out);
    if (status == 0 && clock == CLOCK_REALTIME) out->tv_sec += jump();
    return status;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    const int status = REAL(gettimeofday)(out, zone);
    if (status == 0) out->tv_sec += jump();
    return status;
}
