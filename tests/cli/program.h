/* tests/cli/program.h -- runs the program like a user, and checks its output.
 *
 * ST_PROGRAM has its path. Every test gets an empty folder of its own.
 */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_ARGUMENTS 24
#define MOST_PATHS     1024
#define PATH_SIZE      128
#define TEXT_SIZE      (1 << 20)
#define PATIENCE_MS    60000 /* until a busy machine has started a program or answers; on an idle one it is a few */

typedef struct Program {
    char folder[64];
    int status;      /* exit status; -1: ended by a signal */
    char *out, *err; /* TEXT_SIZE each */
    char *paths;     /* MOST_PATHS texts of PATH_SIZE */
    int n_paths;
} Program;

/* FOLDER/NAME; every path stays until the test ends. */
static inline const char *in_folder(Program *p, const char *name)
{
    assert_true(p->n_paths < MOST_PATHS);
    char *out = p->paths + (size_t)p->n_paths++ * PATH_SIZE;
    snprintf(out, PATH_SIZE, "%s/%s", p->folder, name);
    return out;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The whole file, cut at TEXT_SIZE; "" where there is none. */
static inline void read_file(const char *path, char *out)
{
    FILE *file = fopen(path, "r");
    size_t n = file != NULL ? fread(out, 1, TEXT_SIZE - 1, file) : 0;
    out[n] = '\0';
    if (file != NULL) fclose(file);
}

static inline int setup(void **state)
{
    Program *p = calloc(1, sizeof *p);
    if (p == NULL) return -1;
    *state = p;
    strcpy(p->folder, "/tmp/stiction-test-XXXXXX");
    p->out = calloc(2, TEXT_SIZE);
    p->paths = calloc(MOST_PATHS, PATH_SIZE);
    if (p->out == NULL || p->paths == NULL || mkdtemp(p->folder) == NULL || getenv("ST_PROGRAM") == NULL) return -1;
    p->err = p->out + TEXT_SIZE;
    return 0;
}

static inline int teardown(void **state)
{
    Program *p = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", p->folder);
    int status = system(command);
    free(p->paths);
    free(p->out);
    free(p);
    return status;
}

/* Start the program with stdout on `out_fd` (closed here); returns its process. */
static inline pid_t start(Program *p, const char *const *arguments, int out_fd)
{
    const char *argv[MOST_ARGUMENTS + 2] = {getenv("ST_PROGRAM")};
    for (int k = 0; k < MOST_ARGUMENTS && arguments[k] != NULL; k++)
        argv[k + 1] = arguments[k];
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int err_fd = open(in_folder(p, ".err"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(out_fd, STDOUT_FILENO);
        dup2(err_fd, STDERR_FILENO);
        if (argv[0] != NULL) execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    close(out_fd);
    return child;
}

static inline void finish(Program *p, pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_file(in_folder(p, ".out"), p->out);
    read_file(in_folder(p, ".err"), p->err);
}

static inline int out_file(Program *p)
{
    int fd = open(in_folder(p, ".out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static inline void run_arguments(Program *p, const char *const *arguments)
{
    finish(p, start(p, arguments, out_file(p)));
}
#define RUN(p, ...) run_arguments((p), (const char *const[]){__VA_ARGS__, NULL})

static inline int count_lines(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

#define check_contains(text, part)                                                                                     \
    do {                                                                                                               \
        if (strstr((text), (part)) == NULL) fail_msg("\"%s\" is not in: %s", (part), (text));                          \
    } while (0)

#define check_status(p, expected)                                                                                      \
    do {                                                                                                               \
        if ((p)->status != (expected))                                                                                 \
            fail_msg("exit status %d, expected %d; stderr: %s", (p)->status, (expected), (p)->err);                    \
    } while (0)

/* The output must be one JSON document and nothing else. */
static inline json_t *printed_json(const Program *p)
{
    json_error_t error;
    json_t *root = json_loads(p->out, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL) fail_msg("not JSON, line %d: %s\n%s", error.line, error.text, p->out);
    return root;
}

static inline double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value)) fail_msg("\"%s\" is not a number", key);
    return json_number_value(value);
}

static inline const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text == NULL) fail_msg("\"%s\" is not a text", key);
    return text != NULL ? text : "";
}

/* A ball of 2 kg, its lowest point 1 m above the table. */
#define BALL_BODY                                                                                                      \
    "{ \"name\": \"ball\", \"mass\": 2, \"position\": [0, 1.5, 0], \"locks\": \"planar-xy\",\n"                        \
    "  \"inertia\": 0.2, \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.5, \"friction\": 0.3 } ] }"
#define BALL_SIMULATION                                                                                                \
    "\"simulation\": { \"preset\": \"anitescu-potra-2002\", \"h\": 0.01, \"end\": 1, \"gravity\": [0, -9.81, 0] },\n"
#define BALL_TABLE                                                                                                     \
    "\"ground\": [ { \"name\": \"table\", \"type\": \"plane\", \"normal\": [0, 1, 0], \"friction\": 0.3 } ],\n"
#define BALL_SCENE                                                                                                     \
    "{ \"name\": \"drop\", \"description\": \"A ball falls.\",\n" BALL_SIMULATION BALL_TABLE                           \
    "\"bodies\": [\n" BALL_BODY " ]\n}\n"

#endif
