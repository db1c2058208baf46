/* Runs that end unexpectedly: signals within a step, kills, two runs to one file, full disks and closed pipes,
 * devices and links in place of files. */
#include "program.h"

#include <signal.h>
#include <sys/resource.h>

/* Boxes at one position: a step that takes long, because its contacts contradict one another. */
static const char *coincident(Program *p, int n)
{
    const char *path = in_folder(p, "coincident.json");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\"ground\": [{\"type\": \"plane\"}], \"simulation\": {\"end\": 1000}, \"bodies\": [", file);
    for (int k = 0; k < n; k++)
        fprintf(file, "%s{\"position\": [0, 0, %.10g], \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}",
                k > 0 ? ", " : "", 0.5 + 1e-9 * k);
    fputs("]}", file);
    assert_int_equal(fclose(file), 0);
    return path;
}

static const char *ball(Program *p)
{
    const char *path = in_folder(p, "ball.json");
    write_file(path, "{\"ground\": [{\"type\": \"plane\"}], \"simulation\": {\"end\": 1e7, \"h\": 0.001},\n"
                     "\"bodies\": [{\"position\": [0, 0, 1], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]}]}");
    return path;
}

static void wait_for(const char *path, off_t size)
{
    struct timespec moment = {0, 10000000};
    struct stat info = {0};
    for (int k = 0; k < PATIENCE_MS / 10 && (stat(path, &info) != 0 || info.st_size < size); k++)
        nanosleep(&moment, NULL);
    assert_true(info.st_size >= size);
}

/* The recording opens and has the expected outcome. */
static void check_recording(Program *p, const char *path, const char *outcome)
{
    RUN(p, "info", path);
    check_status(p, 0);
    check_contains(p->out, outcome);
}

static void signals_end_a_step(void **state)
{
    Program *p = *state;
    const char *scene = coincident(p, 100);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static const char *const words[] = {"interrupted", "terminated", "hung up"};
    for (int k = 0; k < 3; k++) {
        const char *path = in_folder(p, "run.h5");
        unlink(path);
        pid_t child = start(p, (const char *const[]){"run", scene, "-o", path, NULL}, out_file(p));
        wait_for(path, 1000); /* the start is in it: the first step is under way */
        struct timespec moment = {0, 200000000};
        nanosleep(&moment, NULL);
        assert_int_equal(kill(child, signals[k]), 0);
        finish(p, child);
        check_status(p, 128 + signals[k]);
        check_contains(p->err, words[k]);
        check_recording(p, path, "interrupted");
    }
}

/* A process that ignores SIGHUP, as with nohup, is not ended by it. */
static void nohup_is_respected(void **state)
{
    Program *p = *state;
    const char *path = in_folder(p, "run.h5"), *scene = ball(p);
    signal(SIGHUP, SIG_IGN);
    pid_t child = start(p, (const char *const[]){"run", scene, "-q", "-o", path, NULL}, out_file(p));
    signal(SIGHUP, SIG_DFL);
    wait_for(path, 1000);
    struct timespec moment = {0, 100000000};
    kill(child, SIGHUP);
    nanosleep(&moment, NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    kill(child, SIGTERM);
    finish(p, child);
    check_status(p, 143);
}

/* At any moment: the file is not there, or opens. */
static void killed_runs_leave_files_that_open(void **state)
{
    Program *p = *state;
    const char *scene = ball(p), *full = getenv("ST_TEST_FULL");
    const int n = full != NULL && strcmp(full, "1") == 0 ? 200 : 8;
    for (int k = 0; k < n; k++) {
        const char *path = in_folder(p, "killed.h5");
        struct timespec moment = {0, 5000000L + 40000000L * (k % 20)};
        p->n_paths = 8;
        pid_t child = start(p, (const char *const[]){"run", scene, "-q", "-o", path, NULL}, out_file(p));
        if (k == 0) wait_for(path, 1000);
        nanosleep(&moment, NULL);
        kill(child, SIGKILL);
        finish(p, child);
        assert_int_equal(p->status, -1);
        check_recording(p, path, "truncated");
    }
}

static void a_second_writer_is_refused(void **state)
{
    Program *p = *state;
    const char *scene = ball(p);
    static const char *const names[] = {"two.h5", "two.csv"};
    for (int k = 0; k < 2; k++) {
        const char *path = in_folder(p, names[k]);
        pid_t first = start(p, (const char *const[]){"run", scene, "-q", "-o", path, NULL}, out_file(p));
        wait_for(path, 500);
        for (int j = 0; j < 3; j++) {
            RUN(p, "run", scene, "-q", "-o", path, "--set", "simulation/end=0.01");
            check_status(p, 2);
            check_contains(p->err, path);
            check_contains(p->err, "another run is writing it");
        }
        kill(first, SIGINT);
        finish(p, first);
        check_status(p, 130);
        if (k == 0) check_recording(p, path, "interrupted");
        RUN(p, "run", scene, "-q", "-o", path, "--set", "simulation/end=0.01"); /* now it is free */
        check_status(p, 0);
    }
}

/* Many runs at once: one of them gets the file, and all others report that. */
static void of_many_writers_one_wins(void **state)
{
    enum { N = 6 };
    Program *p = *state;
    const char *scene = ball(p), *path = in_folder(p, "many.h5");
    pid_t child[N];
    int running = 0;
    for (int k = 0; k < N; k++)
        child[k] = start(p, (const char *const[]){"run", scene, "-q", "-o", path, NULL}, out_file(p));
    for (int k = 0; k < PATIENCE_MS / 10; k++) {
        struct timespec moment = {0, 10000000};
        running = 0;
        for (int j = 0; j < N; j++) {
            siginfo_t info = {0};
            assert_int_equal(waitid(P_PID, (id_t)child[j], &info, WEXITED | WNOHANG | WNOWAIT), 0);
            running += info.si_pid == 0;
        }
        if (running <= 1) break;
        nanosleep(&moment, NULL);
    }
    assert_int_equal(running, 1);
    wait_for(path, 1000);
    for (int k = 0; k < N; k++) {
        int status = 0;
        if (waitpid(child[k], &status, WNOHANG) == child[k]) {
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
            continue;
        }
        kill(child[k], SIGINT);
        finish(p, child[k]);
        check_status(p, 130);
    }
    check_recording(p, path, "interrupted");
}

static void files_of_others_are_not_replaced(void **state)
{
    Program *p = *state;
    const char *scene = ball(p);
    static const char *const names[] = {"mine.h5", "mine.csv"};
    for (int k = 0; k < 2; k++) {
        const char *path = in_folder(p, names[k]);
        write_file(path, "my own data\n");
        RUN(p, "run", scene, "-q", "-o", path, "--set", "simulation/end=0.01");
        check_status(p, 2);
        check_contains(p->err, path);
        check_contains(p->err, "not a");
        read_file(path, p->out);
        assert_string_equal(p->out, "my own data\n");
    }
}

/* A link that leads nowhere yet stays a link, and its file is made. */
static void links_stay(void **state)
{
    Program *p = *state;
    const char *scene = ball(p);
    static const char *const names[] = {"run.h5", "run.csv", "picture.svg"};
    for (int k = 0; k < 3; k++) {
        char target[32];
        struct stat info;
        const char *link = in_folder(p, names[k]);
        snprintf(target, sizeof target, "real-%s", names[k]);
        assert_int_equal(symlink(target, link), 0);
        RUN(p, "run", scene, "-q", k == 2 ? "--picture" : "-o", link, "--set", "simulation/end=0.01");
        check_status(p, 0);
        assert_true(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
        assert_true(stat(in_folder(p, target), &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0);
    }
}

/* A reader that goes away is no failure, and ends nothing. */
static void closed_pipes_end_nothing(void **state)
{
    Program *p = *state;
    int ends[2];
    const char *path = in_folder(p, "run.h5"), *scene = ball(p);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    pid_t child =
        start(p, (const char *const[]){"run", scene, "-o", path, "--set", "simulation/end=0.1", NULL}, ends[1]);
    finish(p, child);
    check_status(p, 0);
    check_recording(p, path, "finished");
}

/* ---- a disk and a clock that misbehave (bad_system.c) ---------------------------------------------- */

/* The program with bad_system.c before the C library and NAME=value in its environment; false: there is none. */
static bool run_badly(Program *p, const char *name, const char *value, const char *const *argv)
{
    const char *library = getenv("ST_BAD_SYSTEM");
    if (library == NULL) return false;
    setenv("LD_PRELOAD", library, 1);
    setenv(name, value, 1);
    pid_t child = start(p, argv, out_file(p));
    unsetenv("LD_PRELOAD");
    unsetenv(name);
    finish(p, child);
    return true;
}

/* Any call may fail at any time: the program ends by itself, names the file, and the existing file opens; if it does
 * not have the whole run, its outcome shows that. If no call fails, the run ends well; this is how the number of
 * calls is found. */
static void disks_that_fail_at_any_moment(void **state)
{
    Program *p = *state;
    const char *scene = ball(p), *full = getenv("ST_TEST_FULL");
    const bool all = full != NULL && strcmp(full, "1") == 0;
    const int first_path = p->n_paths;
    static const char *const names[] = {"BAD_DISK", "BAD_DISK_ONCE"};
    for (int k = 0; k < 2; k++) {
        int failed = 0;
        bool went_well = false;
        for (int at = 1; at < 1000 && !went_well; at += all || k == 0 ? 1 : 1 + at / 3) {
            char number[16];
            struct stat info;
            p->n_paths = first_path;
            const char *path = in_folder(p, "full.h5");
            snprintf(number, sizeof number, "%d", at);
            unlink(path);
            if (!run_badly(p, names[k], number,
                           (const char *const[]){"run", scene, "-q", "-o", path, "--set", "simulation/end=0.3", NULL}))
                return;
            went_well = p->status == 0;
            failed += !went_well;
            if (!went_well) {
                /* a device that fails within H5Fstart_swmr_write: HDF5 1.10 crashes at exit, after our message */
                const bool in_hdf5 = k == 1 && p->status == -1 && strstr(p->err, "starting failed") != NULL;
                assert_true(p->status == 1 || p->status == 2 || in_hdf5);
                check_contains(p->err, path);
                check_contains(p->err, k == 0 ? "No space left on device" : "Input/output error");
            }
            if (stat(path, &info) == 0 && info.st_size > 0) {
                RUN(p, "info", path);
                check_status(p, 0);
            } else {
                assert_false(went_well);
            }
        }
        assert_true(failed > 1);
    }
}

/* The time of day serves for a date in the recording, and for nothing else. */
static void clocks_that_are_set_change_nothing(void **state)
{
    Program *p = *state;
    const char *scene = ball(p), *path = in_folder(p, "clock.h5");
    if (!run_badly(p, "BAD_CLOCK", "1",
                   (const char *const[]){"run", scene, "-o", path, "--set", "simulation/end=0.3", "--set",
                                         "simulation/step_seconds=30", NULL}))
        return;
    check_status(p, 0);
    check_recording(p, path, "finished");
}

/* A folder in which nothing can be made: the reason is the system's. root may write anywhere but into /proc. */
static void folders_that_take_no_files(void **state)
{
    Program *p = *state;
    const char *scene = ball(p);
    static const char *const paths[] = {"/proc/run.h5", "/proc/run.csv"};
    for (int k = 0; k < 2; k++) {
        RUN(p, "run", scene, "-q", "-o", paths[k], "--set", "simulation/end=0.01");
        check_status(p, 2);
        check_contains(p->err, paths[k]);
        assert_null(strstr(p->err, "no reason"));
    }
    const char *folder = in_folder(p, "locked"), *path = in_folder(p, "locked/run.h5");
    assert_int_equal(mkdir(folder, 0500), 0);
    RUN(p, "run", scene, "-q", "-o", path, "--set", "simulation/end=0.01");
    if (geteuid() != 0) {
        check_status(p, 2);
        check_contains(p->err, "Permission denied");
    }
    assert_int_equal(chmod(folder, 0700), 0);
}

/* /dev/full takes nothing: tables and JSON that cannot be written are an error, not an end in silence. */
static void outputs_that_are_full(void **state)
{
    Program *p = *state;
    const char *scene = ball(p);
    const int full = open("/dev/full", O_WRONLY);
    if (full < 0) return;
    pid_t child = start(p, (const char *const[]){"run", scene, "--json", "--set", "simulation/end=0.1", NULL}, full);
    finish(p, child);
    assert_true(p->status == 1 || p->status == 2);
    check_contains(p->err, "No space left on device");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(signals_end_a_step, setup, teardown),
        cmocka_unit_test_setup_teardown(nohup_is_respected, setup, teardown),
        cmocka_unit_test_setup_teardown(killed_runs_leave_files_that_open, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_writer_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(of_many_writers_one_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(files_of_others_are_not_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(links_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(closed_pipes_end_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(disks_that_fail_at_any_moment, setup, teardown),
        cmocka_unit_test_setup_teardown(clocks_that_are_set_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(folders_that_take_no_files, setup, teardown),
        cmocka_unit_test_setup_teardown(outputs_that_are_full, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
