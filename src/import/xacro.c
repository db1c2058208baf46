/* import/xacro.c -- expands files with ROS macros by the program `xacro`, if it is installed. It is started without
 * a shell; its output is read to the end, its error output is not captured. */
#define _XOPEN_SOURCE 700
#include "import/xacro.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST ((size_t)1 << 26)

extern char **environ;

static bool read_all(int from, char **text, size_t *length)
{
    size_t room = 0;
    *text = NULL;
    for (*length = 0; *length < MOST;) {
        if (*length + 1 >= room) {
            room = room == 0 ? 65536 : 2 * room;
            char *grown = realloc(*text, room);
            if (grown == NULL) return false;
            *text = grown;
        }
        const ssize_t got = read(from, *text + *length, room - *length - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) return true;
        *length += (size_t)got;
    }
    return false;
}

st_Status sti_xacro_expand(const char *path, char **text, size_t *length, st_Error *err)
{
    char name[] = "xacro";
    char *const arguments[] = {name, (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2], status = 0;
    pid_t child;
    *text = NULL;
    if (path[0] == '-') return sti_fail(err, ST_ERR_FILE, "%s: a path for xacro must not begin with -", path);
    if (pipe(ends) != 0) return sti_fail(err, ST_ERR_FILE, "%s: xacro cannot be started", path);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    const int failed = posix_spawnp(&child, name, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    const bool fine = failed == 0 && read_all(ends[0], text, length);
    close(ends[0]);
    while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (fine && WIFEXITED(status) && WEXITSTATUS(status) == 0) return ST_OK;
    free(*text);
    *text = NULL;
    if (failed != 0)
        return sti_fail(
            err, ST_ERR_FORMAT,
            "is xacro, and the program xacro is not installed: expand it elsewhere, xacro FILE.xacro > FILE.urdf");
    return sti_fail(err, ST_ERR_FORMAT, "is xacro, and the program xacro does not expand it");
}
