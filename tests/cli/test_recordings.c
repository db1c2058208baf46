/* The program and recordings: killed runs, restarts, files made from recordings, and the security of the server. */
#define _DEFAULT_SOURCE /* usleep */
#include "program.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <hdf5.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Nine balls in a row on a table: enough to compute for a while. */
static void write_balls(Program *p, const char *path)
{
    FILE *file = fopen(path, "w");
    (void)p;
    assert_non_null(file);
    fprintf(file, "{ \"name\": \"balls\", \"simulation\": { \"h\": 0.002, \"end\": 2 },\n"
                  "\"ground\": [ { \"type\": \"plane\", \"normal\": [0, 0, 1] } ], \"bodies\": [\n");
    for (int k = 0; k < 9; k++)
        fprintf(
            file,
            "%s{ \"name\": \"b%d\", \"position\": [%g, 0, %g], \"velocity\": [%d, 0.1, 0], \"shapes\": [ { \"type\": "
            "\"sphere\", \"radius\": 0.1 } ] }",
            k > 0 ? ",\n" : "", k + 1, 0.25 * k, 0.1 + 0.03 * k, 4 - k);
    fprintf(file, " ] }\n");
    fclose(file);
}

static json_t *info_of(Program *p, const char *path)
{
    RUN(p, "info", path, "--json");
    check_status(p, 0);
    return printed_json(p);
}

/* CPU time of the child processes that have ended [s]. */
static double children_seconds(void)
{
    struct rusage use;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &use), 0);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Killed at any time, the file opens and has all but the last flush interval. */
static void killed_runs_leave_their_file(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *csv = in_folder(p, "run.csv");
    check_Random random = {7};
    int opened = 0, kills = getenv("ST_TEST_FULL") != NULL ? 50 : 5;
    double worst = 0;
    write_balls(p, scene);
    for (int k = 0; k < kills; k++) {
        unlink(out);
        const char *const arguments[] = {"run", scene, "-o", out, "--set", "simulation/end=1e6", NULL};
        double before = children_seconds();
        pid_t child = start(p, arguments, out_file(p));
        /* the file must be there first; then any time, in every third case beyond a flush or two */
        for (int wait = 0; wait < PATIENCE_MS && access(out, R_OK) != 0; wait++)
            usleep(1000);
        usleep((useconds_t)(1e6 * check_random(&random, 0.05, k % 3 == 0 ? 2.4 : 0.9)));
        kill(child, SIGKILL);
        finish(p, child);
        double computed = children_seconds() - before;
        assert_int_equal(p->status, -1);
        json_t *info = info_of(p, out);
        assert_false(json_is_true(json_object_get(info, "closed")));
        assert_true(number_of(info, "frames") >= 1);
        /* A flush every second, so at most that much work is lost; and half a second for the time before the run's
         * clock starts. In seconds of work: time that a busy machine keeps the program waiting is not lost. */
        check_below(computed - number_of(info, "wall_seconds"), 1.5);
        worst = fmax(worst, computed - number_of(info, "wall_seconds"));
        opened += number_of(info, "frames") > 1;
        double frames = number_of(info, "frames");
        json_decref(info);
        if (k % 5 != 0) continue;
        RUN(p, "export", out, "--csv", csv); /* every row can be read */
        check_status(p, 0);
        FILE *file = fopen(csv, "r");
        int lines = 0;
        assert_non_null(file);
        for (int c; (c = fgetc(file)) != EOF;)
            lines += c == '\n';
        fclose(file);
        check_close(lines, frames + 1, 0);
    }
    if (kills > 5) print_message("%d kills, %d with more than the start, at most %.2f s lost\n", kills, opened, worst);
    assert_true(opened > 0);
}

static void a_killed_run_goes_on(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *whole = in_folder(p, "whole.h5"), *rest = in_folder(p, "rest.h5");
    char hash[32];
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", whole, "--json");
    check_status(p, 0);
    json_t *result = printed_json(p);
    snprintf(hash, sizeof hash, "%s", text_of(result, "state_hash"));
    assert_string_equal(text_of(result, "recording"), whole);
    json_decref(result);
    static const char *const times[] = {"0.01", "0.6", "1.3", "5"};
    for (int k = 0; k < 4; k++) {
        RUN(p, "run", "--restart", whole, "--at", times[k], "-o", rest, "--json");
        check_status(p, 0);
        result = printed_json(p);
        assert_string_equal(text_of(result, "state_hash"), hash);
        json_decref(result);
    }
    /* a continued run can be continued again, beyond its first end time */
    RUN(p, "run", "--restart", rest, "--set", "simulation/end=2.5", "--json");
    check_status(p, 0);
    result = printed_json(p);
    check_close(number_of(result, "time"), 2.5, 1e-9);
    json_decref(result);
    /* from before the last step, which was fitted to the end, also bit for bit */
    RUN(p, "run", "--restart", whole, "--at", "1.3", "--set", "simulation/end=2.5", "--json");
    result = printed_json(p);
    snprintf(hash, sizeof hash, "%s", text_of(result, "state_hash"));
    json_decref(result);
    RUN(p, "run", scene, "--set", "simulation/end=2.5", "--json");
    result = printed_json(p);
    assert_string_equal(text_of(result, "state_hash"), hash);
    json_decref(result);
}

static void bad_restarts_are_refused(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *none = in_folder(p, "none.h5");
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q");
    check_status(p, 0);
    RUN(p, "run", "--restart", none);
    check_status(p, 2);
    check_contains(p->err, "none.h5");
    RUN(p, "run", scene, "--restart", out);
    check_status(p, 2);
    check_contains(p->err, "one word too many");
    RUN(p, "run", "--restart", out, "-o", out);
    check_status(p, 2);
    check_contains(p->err, "the recording to restart from");
    RUN(p, "run", scene, "--at", "1");
    check_status(p, 2);
    RUN(p, "run", "--restart", scene);
    check_status(p, 2);
    check_contains(p->err, "is a scene, must be a recording");
    RUN(p, "run");
    check_status(p, 2);
    check_contains(p->err, "SCENE is missing");
    RUN(p, "run", scene, "-o", out, "-o", in_folder(p, "b.h5"));
    check_status(p, 2);
    check_contains(p->err, "two recordings");
    RUN(p, "run", "--restart", out, "--set", "simulation/end=0.01");
    check_status(p, 2);
    check_contains(p->err, "after the end of the run");
    RUN(p, "run", "--restart", out, "--set", "bodies/b1/locks=rx");
    check_status(p, 2);
    check_contains(p->err, "not the same scene");
}

/* Every command that reads a recording refuses other files, and names the file and the reason. */
static void check_refused(Program *p, const char *path, const char *words)
{
    const char *made = in_folder(p, "made.html");
    const char *const commands[][6] = {{"info", path},
                                       {"report", path, "-o", made},
                                       {"view", path, "--no-browser"},
                                       {"plot", path, "-y", "kinetic", "-o", "made.svg"},
                                       {"export", path, "--csv", made},
                                       {"export", path, "--vtk", made},
                                       {"render", path, "-o", "made.png"},
                                       {"run", "--restart", path}};
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        const char *arguments[7] = {0};
        memcpy(arguments, commands[k], sizeof commands[k]);
        finish(p, start(p, arguments, out_file(p)));
        if (p->status != 2 || strstr(p->err, path) == NULL || strstr(p->err, words) == NULL)
            fail_msg("%s %s: status %d, said: %s", arguments[0], path, p->status, p->err);
        assert_int_not_equal(access(made, F_OK), 0);
    }
}

static void what_is_no_recording_is_refused(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *other = in_folder(p, "other.h5");
    int32_t version = 99;
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--set", "simulation/end=0.2");
    check_status(p, 0);
    write_file(in_folder(p, "notes.txt"), "nothing that is a recording\n");
    check_refused(p, in_folder(p, "notes.txt"), "not an HDF5 file");
    check_refused(p, in_folder(p, "none.h5"), "No such file");
    RUN(p, "info", scene);
    check_status(p, 2);
    check_contains(p->err, "balls.json: is a scene, must be a recording: stiction run");
    RUN(p, "info", "card-house"); /* an example */
    check_status(p, 2);
    check_contains(p->err, "card-house: is a scene");
    hid_t file = H5Fcreate(other, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    H5Fclose(file);
    check_refused(p, other, "not a recording of stiction");
    file = H5Fopen(out, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, "format_version", H5P_DEFAULT);
    assert_true(H5Awrite(attribute, H5T_NATIVE_INT32, &version) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
    check_refused(p, out, "written by a newer stiction");
    struct stat whole;
    assert_int_equal(stat(out, &whole), 0);
    assert_int_equal(truncate(out, whole.st_size / 2), 0);
    check_refused(p, out, "cut short");
}

/* A limit on the size of files acts like a full disk: the run reports it and stops, and its file opens. */
static void a_full_disk_ends_the_run(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5");
    struct rlimit before, small;
    write_balls(p, scene);
    signal(SIGXFSZ, SIG_IGN); /* so that writing fails instead; the program inherits it */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 300000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    setenv("GCOV_PREFIX", p->folder, 1); /* the limit would cut off the counters of a build that measures coverage */
    RUN(p, "run", scene, "-o", out, "--rate", "500", "--set", "simulation/end=60");
    unsetenv("GCOV_PREFIX");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    check_status(p, 1);
    check_contains(p->err, out);
    check_contains(p->err, "too large");
    json_t *info = info_of(p, out);
    assert_false(json_is_true(json_object_get(info, "closed")));
    assert_true(number_of(info, "frames") >= 1);
    json_decref(info);
}

static void files_are_made_of_it(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *text = in_folder(p, "text.svg");
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--rate", "10");
    check_status(p, 0);
    RUN(p, "info", out);
    check_contains(p->out, "balls");
    check_contains(p->out, "finished");
    check_contains(p->out, "21, 10 per simulated second");
    RUN(p, "info", out, "--scene");
    read_file(scene, p->err);
    assert_string_equal(p->out, p->err);

    const char *page = in_folder(p, "page.html");
    RUN(p, "report", out, "-o", page);
    check_status(p, 0);
    struct stat info;
    assert_int_equal(stat(page, &info), 0);
    assert_true(info.st_size > 400000 && info.st_size < 1200000); /* the page, and little beside it */

    RUN(p, "plot", out, "-y", "kinetic,potential", "-y", "b1.x", "-o", text);
    check_status(p, 0);
    read_file(text, p->out);
    check_contains(p->out, "<svg");
    check_contains(p->out, "b1.x");
    check_contains(p->out, "<title>");
    char *by_options = strdup(p->out);
    RUN(p, "plot", out, "kinetic,potential", "b1.x", "-o", text); /* the same by words */
    check_status(p, 0);
    read_file(text, p->out);
    assert_non_null(by_options);
    assert_string_equal(p->out, by_options);
    free(by_options);
    RUN(p, "plot", out, "-y", "residual", "-o", text); /* an error: over powers of ten */
    read_file(text, p->out);
    check_contains(p->out, ">1e-");
    RUN(p, "plot", out, "-y", "nonsense", "-o", text);
    check_status(p, 2);
    check_contains(p->err, "nonsense");
    check_contains(p->err, "iterations"); /* the message has the names */
    RUN(p, "plot", out, "-y", "kinetic");
    check_status(p, 2);
    check_contains(p->err, "-o FILE.svg is missing");
    RUN(p, "plot", out, "-y", "nonsense"); /* two mistakes: the name is the more important one */
    check_status(p, 2);
    check_contains(p->err, "nonsense");
    RUN(p, "plot", out, "-y", "kinetic", "-o", out);
    check_contains(p->err, "is the recording itself");
    RUN(p, "plot", out, "-o", text);
    check_status(p, 2);
    RUN(p, "plot", out);
    check_status(p, 0);
    check_contains(p->out, "b1");

    RUN(p, "export", out, "--vtk", in_folder(p, "vtk"));
    check_status(p, 0);
    DIR *dir = opendir(in_folder(p, "vtk"));
    int files = 0;
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        files++;
    closedir(dir);
    assert_int_equal(files, 2 + 5 + 1 + 4 * 21); /* . and .., five lists, the walls, four files a frame */
    RUN(p, "export", out);
    check_status(p, 2);
}

/* Clumps are glyphs: a point each, whatever they are made of, with their size over that of their form; at most 150
 * bytes a grain and frame. */
static void clumps_are_points(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "clumps.json"), *out = in_folder(p, "run.h5");
    static const char fill[] =
        "{\"name\": \"%s\", \"number\": 300, \"size\": %s, \"arrangement\": \"lattice\","
        "\"region\": {\"type\": \"box\", \"position\": [%s, 0, 0], \"size\": [0.4, 0.4, 0.4]},"
        "\"shapes\": [{\"type\": \"sphere\", \"radius\": 0.004, \"density\": 1000},"
        "{\"type\": \"sphere\", \"radius\": 0.004, \"density\": 1000, \"position\": [0.004, 0, 0]},"
        "{\"type\": \"box\", \"size\": [0.004, 0.003, 0.008], \"density\": 1000}]}";
    char first[1000], second[1000], text[2500];
    snprintf(first, sizeof first, fill, "small", "0.01", "-0.5");
    snprintf(second, sizeof second, fill, "large", "0.02", "0.5");
    snprintf(text, sizeof text,
             "{\"simulation\": {\"h\": 0.001, \"end\": 0.001}, \"fills\": [%s, %s],"
             "\"bodies\": [{\"position\": [0, 0, 1], \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.1}]}]}",
             first, second);
    write_file(scene, text);
    RUN(p, "run", scene, "-o", out, "-q");
    check_status(p, 0);
    RUN(p, "export", out, "--vtk", in_folder(p, "vtk"));
    check_status(p, 0);
    FILE *file = fopen(in_folder(p, "vtk/clumps_000001.vtp"), "r");
    assert_non_null(file);
    char *whole = calloc(1, 1 << 18);
    assert_non_null(whole);
    const size_t bytes = fread(whole, 1, (1 << 18) - 1, file);
    fclose(file);
    assert_true(bytes < 150 * 600);
    assert_non_null(strstr(whole, "NumberOfPoints=\"600\""));
    /* the array of scales: base64 of a count of bytes, 8 of them, and floats */
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strstr(whole, "Name=\"scale\"");
    assert_non_null(at);
    at = strchr(at, '>') + 1;
    unsigned char raw[8 + 4 * 600 + 3];
    for (size_t k = 0; k < 8 + 4 * 600; k += 3, at += 4) {
        unsigned bits = 0;
        for (int i = 0; i < 4; i++)
            bits = bits << 6 | (at[i] == '=' ? 0 : (unsigned)(strchr(digits, at[i]) - digits));
        raw[k] = (unsigned char)(bits >> 16), raw[k + 1] = (unsigned char)(bits >> 8), raw[k + 2] = (unsigned char)bits;
    }
    for (int k = 0; k < 600; k++) {
        float scale;
        memcpy(&scale, raw + 8 + 4 * k, sizeof scale);
        check_close((double)scale, k < 300 ? 1 : 2, 1e-6);
    }
    free(whole);
    read_file(in_folder(p, "vtk/grains_000001.vtp"), p->out);
    check_contains(p->out, "NumberOfPoints=\"1\"");
    read_file(in_folder(p, "vtk/bodies_000001.vtp"), p->out);
    check_contains(p->out, "NumberOfPoints=\"0\"");
    file = fopen(in_folder(p, "vtk/clump_1.vtp"), "r");
    assert_non_null(file);
    fclose(file);
}

/* The disk becomes full at every position in turn: the command fails and names the file, and the files it leaves are
 * complete. */
static void half_a_file_is_never_left(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *text = in_folder(p, "made.svg"),
               *page = in_folder(p, "made.html");
    const char *const commands[][10] = {
        {"report", out, "-o", page},
        {"plot", out, "-y", "kinetic", "-o", text},
        {"export", out, "--csv", text},
        {"converge", scene, "--csv", text, "--halvings", "1..10", "--reference", "11"},
        {"run", scene, "--picture", text, "--set", "simulation/end=0.1"},
    };
    struct rlimit before, small;
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--rate", "10");
    check_status(p, 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++) {
        write_file(text, "old");
        write_file(page, "old");
        small = before;
        small.rlim_cur = 1024; /* clang's OpenMP needs that much shared memory at its start */
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        run_arguments(p, commands[k]);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        check_status(p, 1);
        read_file(text, p->out);
        assert_string_equal(p->out, "old");
        read_file(page, p->out);
        assert_string_equal(p->out, "old");
    }
    const char *folder = in_folder(p, "vtk");
    small.rlim_cur = 1250; /* some files fit, others do not */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    RUN(p, "export", out, "--vtk", folder);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    check_status(p, 1);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[600];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        read_file(path, p->out);
        check_contains(p->out, "</VTKFile>");
    }
    closedir(dir);
}

/* Without a browser or ffmpeg: the message names the package to install. */
static void missing_tools_are_named(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5");
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--rate", "10");
    setenv("STICTION_BROWSER", "/no/such/browser", 1);
    RUN(p, "render", out, "-o", in_folder(p, "x.png"));
    check_status(p, 1);
    check_contains(p->err, "needs Chromium");
    unsetenv("STICTION_BROWSER");
    RUN(p, "render", out, "-o", in_folder(p, "x.png"), "--size", "12");
    check_status(p, 2);
    check_contains(p->err, "1280x720");
}

/* Is the process there, and not only waiting to be forgotten? */
static bool is_running(int process)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    fclose(file);
    return state != 'Z';
}

/* A signal ends the browser, too: none is left running, and by those that can be waited for no folder in /tmp. */
static void an_interrupt_ends_the_browser(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGKILL}, expected[] = {130, 143, -1};
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5"), *browser = in_folder(p, "browser");
    const char *told = in_folder(p, "told");
    const char *const arguments[] = {"render", out, "-o", in_folder(p, "x.png"), NULL};
    const struct timespec moment = {0, 20000000};
    char script[300], *profile;
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--rate", "10");
    snprintf(script, sizeof script, "#!/bin/sh\necho \"$$ $*\" > %s.new && mv %s.new %s\nexec sleep 1000\n", told, told,
             told);
    write_file(browser, script);
    assert_int_equal(chmod(browser, 0700), 0);
    setenv("STICTION_BROWSER", browser, 1);
    for (int k = 0; k < 3; k++) {
        int process = 0;
        pid_t child = start(p, arguments, out_file(p));
        for (int wait = 0; wait < PATIENCE_MS / 20 && access(told, F_OK) != 0; wait++)
            nanosleep(&moment, NULL);
        read_file(told, p->out);
        assert_int_equal(unlink(told), 0);
        assert_int_equal(sscanf(p->out, "%d", &process), 1);
        assert_non_null(profile = strstr(p->out, "--user-data-dir="));
        profile += strlen("--user-data-dir=");
        profile[strcspn(profile, " \n")] = '\0';
        *strrchr(profile, '/') = '\0'; /* the folder */
        profile = strdup(profile);
        assert_int_equal(kill(child, signals[k]), 0);
        finish(p, child);
        assert_int_equal(p->status, expected[k]);
        for (int wait = 0; wait < PATIENCE_MS / 20 && is_running(process); wait++)
            nanosleep(&moment, NULL);
        assert_false(is_running(process));
        if (signals[k] != SIGKILL) assert_int_equal(access(profile, F_OK), -1);
        rmdir(profile);
        free(profile);
    }
    unsetenv("STICTION_BROWSER");
}

/* ---- the server --------------------------------------------------------------------------------- */

/* Sends one request unchanged; returns the answer, cut at TEXT_SIZE. */
static void ask(Program *p, int port, const char *request)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct timeval patience = {PATIENCE_MS / 1000, 0};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
    shutdown(fd, SHUT_WR);
    for (ssize_t got; n < 2000 && (got = recv(fd, p->out + n, TEXT_SIZE - 1 - n, 0)) > 0;)
        n += (size_t)got;
    p->out[n] = '\0';
    close(fd);
}

/* The port, and the key, of the address that was printed. */
static int served_port(Program *p, char key[64])
{
    char *at = NULL;
    for (int wait = 0; wait < PATIENCE_MS && at == NULL; wait += 2) {
        usleep(2000);
        read_file(in_folder(p, ".out"), p->out);
        p->n_paths--; /* in_folder keeps every path: not thousands of this one */
        at = strstr(p->out, "http://127.0.0.1:");
    }
    assert_non_null(at);
    for (int wait = 0; wait < PATIENCE_MS && strchr(at, '\n') == NULL; wait += 2) {
        usleep(2000);
        read_file(in_folder(p, ".out"), p->out);
        p->n_paths--;
    }
    assert_int_equal(sscanf(strstr(at, "?key="), "?key=%32[0-9a-f]", key), 1);
    return atoi(at + strlen("http://127.0.0.1:"));
}

static void the_server_is_for_one_page(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json"), *out = in_folder(p, "run.h5");
    char request[512], port_text[16], key[64] = "", cookie[128];
    write_balls(p, scene);
    RUN(p, "run", scene, "-o", out, "-q", "--rate", "10");
    const char *const arguments[] = {"view", out, "--no-browser", NULL};
    pid_t child = start(p, arguments, out_file(p));
    int port = served_port(p, key);

    const struct {
        const char *path, *host, *more, *expected;
    } cases[] = {
        {"GET /", "127.0.0.1", cookie, "HTTP/1.1 200"},
        {"GET /", "localhost", cookie, "HTTP/1.1 200"},
        {"GET /run", "127.0.0.1", cookie, "STRUN001"},
        {"GET /", "127.0.0.1", "", "HTTP/1.1 403"}, /* another user of the machine */
        {"GET /run", "127.0.0.1", "", "HTTP/1.1 403"},
        {"GET /?key=00000000000000000000000000000000", "127.0.0.1", "", "HTTP/1.1 403"},
        {"GET /", "example.com", "", "HTTP/1.1 403"}, /* a name that was turned to this address */
        {"GET /run", "127.0.0.1", "Origin: http://example.com\r\n", "HTTP/1.1 403"},
        {"GET /run", "127.0.0.1", "Origin: null\r\n", "HTTP/1.1 403"},
        {"GET /etc/passwd", "127.0.0.1", cookie, "HTTP/1.1 404"},
        {"GET /../../etc/passwd", "127.0.0.1", cookie, "HTTP/1.1 404"},
        {"GET /events", "127.0.0.1", cookie, "HTTP/1.1 404"}, /* nothing is live here */
        {"POST /control", "127.0.0.1", "Content-Length: 0\r\n", "HTTP/1.1 403"},
        {"DELETE /run", "127.0.0.1", "", "HTTP/1.1 400"},
        {"GET /", "127.0.0.1", "Content-Length: 99999999999999999999\r\n", "HTTP/1.1 400"},
        {"GET /", "127.0.0.1", "Transfer-Encoding: chunked\r\n", "HTTP/1.1 400"},
    };
    snprintf(cookie, sizeof cookie, "Cookie: stiction%d=%s\r\n", port, key);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: %s:%d\r\n%sConnection: close\r\n\r\n", cases[k].path,
                 cases[k].host, port, cases[k].more);
        ask(p, port, request);
        bool found = strstr(p->out, cases[k].expected) != NULL;
        for (size_t i = 0; !found && i + 8 < 2000; i++) /* a header may hold zeros */
            found = memcmp(p->out + i, cases[k].expected, strlen(cases[k].expected)) == 0;
        if (!found)
            fail_msg("%s, %s, %s: expected %s, got %.60s", cases[k].path, cases[k].host, cases[k].more,
                     cases[k].expected, p->out);
    }
    ask(p, port, "GET / HTTP/1.1\r\n\r\n"); /* no Host at all */
    check_contains(p->out, "HTTP/1.1 403");
    ask(p, port, "\x16\x03\x01 nonsense\r\n\r\n");
    check_contains(p->out, "HTTP/1.1 400");

    snprintf(port_text, sizeof port_text, "%d", port);
    int null = open("/dev/null", O_WRONLY);
    const char *const again[] = {"view", out, "--no-browser", "--port", port_text, NULL};
    finish(p, start(p, again, null));
    check_status(p, 1);
    check_contains(p->err, "in use");
    kill(child, SIGTERM);
    finish(p, child);
    check_status(p, 0);
}

static void live_runs_take_wishes(void **state)
{
    Program *p = *state;
    const char *scene = in_folder(p, "balls.json");
    char request[512], key[64] = "";
    write_balls(p, scene);
    const char *const arguments[] = {"view", "--live", scene, "--no-browser", NULL};
    pid_t child = start(p, arguments, out_file(p));
    int port = served_port(p, key);
    snprintf(request, sizeof request, "GET /run?key=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", key, port);
    ask(p, port, request);
    check_contains(p->out, "\"live\":true");
    check_contains(p->out, key);
    snprintf(request, sizeof request, "GET /events?key=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", key, port);
    ask(p, port, request);
    check_contains(p->out, "text/event-stream");
    static const char *const wishes[] = {"do=pause",
                                         "do=step",
                                         "gravity=3",
                                         "friction=0",
                                         "log_h=-3",
                                         "log_h=nan",
                                         "drag=1&ax=0&ay=0&az=0&x=0&y=0&z=1",
                                         "drag=77",
                                         "drag=1&x=1",
                                         "do=reset",
                                         ""};
    for (size_t k = 0; k < sizeof wishes / sizeof wishes[0]; k++) {
        snprintf(request, sizeof request,
                 "POST /control HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-Stiction: %s\r\nContent-Length: %zu\r\n\r\n%s",
                 port, key, strlen(wishes[k]), wishes[k]);
        ask(p, port, request);
        check_contains(p->out, "HTTP/1.1 200");
    }
    kill(child, SIGTERM);
    finish(p, child);
    check_status(p, 0);
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) /* freed memory is kept there */
/* Memory [KB] of the process that serves: the child that reads files, of the program `parent`. */
static long served_memory(Program *p, pid_t parent)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    read_file(path, p->out);
    assert_int_equal(sscanf(p->out, "%d", &child), 1);
    snprintf(path, sizeof path, "/proc/%d/status", child);
    read_file(path, p->out);
    const char *at = strstr(p->out, "VmRSS:");
    assert_non_null(at);
    return atol(at + strlen("VmRSS:"));
}

/* The page requests the text of the scene, here 4 MB, more than a socket buffers. Thirty connections that request it
 * and do not read it cost less memory than two copies. */
static void pages_that_do_not_read_cost_little(void **state)
{
    enum { N = 30 };
    Program *p = *state;
    const char *scene = in_folder(p, "long.json");
    char request[512], key[64] = "";
    int fd[N];
    FILE *file = fopen(scene, "w");
    assert_non_null(file);
    fprintf(file, "{\"bodies\": [{\"mass\": 1, \"inertia\": [1, 1, 1]}], \"description\": \"%04000000d\"}", 0);
    assert_int_equal(fclose(file), 0);
    setenv("MALLOC_MMAP_THRESHOLD_", "65536", 1); /* large blocks go back to the system when they are freed */
    pid_t child = start(p, (const char *const[]){"view", scene, "--no-browser", NULL}, out_file(p));
    unsetenv("MALLOC_MMAP_THRESHOLD_");
    const int port = served_port(p, key);
    snprintf(request, sizeof request, "GET /run?key=%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n\r\n", key, port);
    ask(p, port, request);
    const size_t size = (size_t)atol(strstr(p->out, "Content-Length: ") + strlen("Content-Length: "));
    assert_true(size > 4000000);
    const long before = served_memory(p, child);
    for (int k = 0; k < N; k++) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
        struct timeval patience = {PATIENCE_MS / 1000, 0};
        int small = 2048;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        fd[k] = socket(AF_INET, SOCK_STREAM, 0);
        setsockopt(fd[k], SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        setsockopt(fd[k], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        assert_int_equal(connect(fd[k], (struct sockaddr *)&address, sizeof address), 0);
        assert_int_equal(send(fd[k], request, strlen(request), MSG_NOSIGNAL), strlen(request));
    }
    for (int k = 0; k < N; k++) { /* each has the start of its answer */
        assert_int_equal(recv(fd[k], p->out, 15, 0), 15);
        assert_memory_equal(p->out, "HTTP/1.1 200 OK", 15);
    }
    const long grown = served_memory(p, child) - before;
    if (grown > 10000) fail_msg("%d answers of %zu bytes take %ld KB", N, size, grown);
    for (int k = 0; k < N; k++)
        close(fd[k]);
    kill(child, SIGTERM);
    finish(p, child);
    check_status(p, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_runs_leave_their_file, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_run_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_restarts_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_recording_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_ends_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(files_are_made_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(clumps_are_points, setup, teardown),
        cmocka_unit_test_setup_teardown(half_a_file_is_never_left, setup, teardown),
        cmocka_unit_test_setup_teardown(missing_tools_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_ends_the_browser, setup, teardown),
        cmocka_unit_test_setup_teardown(the_server_is_for_one_page, setup, teardown),
        cmocka_unit_test_setup_teardown(live_runs_take_wishes, setup, teardown),
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test_setup_teardown(pages_that_do_not_read_cost_little, setup, teardown),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
