/* Files are complete or absent, if writing is stopped by any cause. */
#include "check.h"

#include "record/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/stiction-whole-XXXXXX";
static char path[64], other[64];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/stiction-whole-XXXXXX");
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path), unlink(other);
    return rmdir(folder); /* nothing else was left in it */
}

static int count_files(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n - 2;
}

static void check_text(const char *at, const char *expected)
{
    char text[200] = "";
    FILE *file = fopen(at, "r");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_string_equal(text, expected);
}

static void write_old(void)
{
    st_Error err = {0};
    check_ok(st_file_write(path, "old", 3, &err), err);
    check_text(path, "old");
}

/* Nothing of it is seen before it is closed, all of it after. */
static void appears_when_closed(void **state)
{
    (void)state;
    st_Error err = {0};
    FILE *file = NULL;
    check_ok(sti_file_open(path, &file, &err), err);
    fputs("new", file);
    fflush(file);
    assert_int_equal(access(path, F_OK), -1);
    check_ok(sti_file_close(file, path, &err), err);
    check_text(path, "new");
    check_ok(st_file_write(path, "newer", 5, &err), err);
    check_text(path, "newer");
    assert_int_equal(count_files(), 1);
    check_ok(sti_file_open(path, &file, &err), err);
    fputs("never", file);
    sti_file_give_up(file, path);
    check_text(path, "newer");
    assert_int_equal(count_files(), 1);
}

/* A signal in the middle of a file: the old one stays, and nothing beside it where files may be nameless. */
static void interrupted(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL};
    write_old();
    for (int k = 0; k < 3; k++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            FILE *file = NULL;
            signal(signals[k], SIG_DFL);
            if (sti_file_open(path, &file, NULL) != ST_OK) _exit(1);
            for (int i = 0; i < 100000; i++)
                fputs("half of what was to come\n", file);
            fflush(file);
            raise(signals[k]);
            _exit(2);
        }
        int status = 0;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signals[k]);
        check_text(path, "old");
        assert_int_equal(count_files(), 1);
    }
}

/* A limit on the size of files is a disk that fills. */
static void full_disk(void **state)
{
    (void)state;
    st_Error err = {0};
    struct rlimit before, small;
    FILE *file = NULL;
    write_old();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10000;
    check_ok(sti_file_open(path, &file, &err), err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 10000; i++)
        fputs("more than fits", file);
    st_Status status = sti_file_close(file, path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ST_ERR_FILE);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "too large"));
    check_text(path, "old");
    assert_int_equal(count_files(), 1);
}

/* Permissions and links stay unchanged; a file without write permission is not replaced. */
static void keeps_what_was_there(void **state)
{
    (void)state;
    st_Error err = {0};
    struct stat info;
    write_old();
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("file", other), 0);
    check_ok(st_file_write(other, "through a link", 14, &err), err);
    check_text(path, "through a link");
    assert_int_equal(lstat(other, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0400), 0);
    if (access(path, W_OK) != 0) { /* root may write everything */
        assert_int_equal(st_file_write(path, "no", 2, &err), ST_ERR_FILE);
        check_text(path, "through a link");
    }
    assert_int_equal(st_file_write("/no/such/folder/file", "no", 2, &err), ST_ERR_FILE);
    assert_int_equal(st_file_write(NULL, "no", 2, &err), ST_ERR_ARGUMENT);
}

/* A writable file in a folder where no file can be created: it is written in place. Root can create files anywhere,
 * hence another user. */
static void folders_that_are_closed(void **state)
{
    (void)state;
    enum { SOMEBODY = 65534 };
    write_old();
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(SOMEBODY) != 0 || setuid(SOMEBODY) != 0)) _exit(2);
        _exit(st_file_write(path, "new text", 8, NULL) == ST_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    check_text(path, "new text");
}

/* A pipe is written straight: there is nothing to put in its place. */
static void pipes(void **state)
{
    (void)state;
    st_Error err = {0};
    char text[16] = "", name[40];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    check_ok(st_file_write(name, "straight", 8, &err), err);
    assert_int_equal(read(ends[0], text, sizeof text), 8);
    assert_string_equal(text, "straight");
    close(ends[0]), close(ends[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(appears_when_closed),     TEST(interrupted), TEST(full_disk), TEST(keeps_what_was_there),
        TEST(folders_that_are_closed), TEST(pipes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
