/* playground/engine.c -- the live simulation of cli/live.c for a page without a server: the page's worker calls these
 * functions where the viewer would ask `stiction view`. Texts that are returned stay until the next call of the same
 * function. One simulation at a time.
 */
#include "describe.h"
#include "interrupt.h"
#include "live.h"
#include "progress.h"
#include "tally.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT const char *engine_open(const char *text, const char *label, const char *sets);
EXPORT void engine_control(const char *form);
EXPORT const char *engine_advance(void);
EXPORT const char *engine_run(void);
EXPORT const char *engine_schema(void);

static Loaded *loaded;
static Live *live;
static char *answer; /* of engine_open */
static char *event;  /* the newest that the page has not seen, or "" */

/* ---- in place of the server, the terminal and its signals --------------------------------------- */

void stream_event(Server *server, const char *data, size_t length)
{
    (void)server;
    free(event);
    event = malloc(length + 1);
    if (event != NULL) memcpy(event, data, length), event[length] = '\0';
}

double wall_seconds(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

st_Status interrupt_step(st_System *system, double h, st_StepInfo *info, st_Error *err)
{
    return st_system_step(system, h, info, err);
}

/* There are no other programs here: xacro files are refused with the reader's own message. */
int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    (void)pid, (void)file, (void)actions, (void)attributes, (void)argv, (void)envp;
    return ENOSYS;
}

/* ---- the page's calls --------------------------------------------------------------------------- */

/* {"errors": [{"line": 3, "message": "..."}, ...]} */
static void answer_errors(const st_Error *errors, int n)
{
    size_t size = 0;
    free(answer);
    answer = NULL;
    FILE *out = open_memstream(&answer, &size);
    if (out == NULL) return;
    fputs("{\"errors\":[", out);
    for (int k = 0; k < n; k++) {
        fprintf(out, "%s{\"line\":%d,\"message\":", k > 0 ? "," : "", errors[k].line);
        live_put_string(out, errors[k].message);
        fputc('}', out);
    }
    fputs("]}", out);
    fclose(out);
}

static void close_scene(Loaded *old)
{
    if (old == NULL) return;
    st_scene_destroy(old->scene);
    free(old->text);
    free(old->name);
    free(old->description);
    free(old);
}

/* Cuts `lines` at its line ends; at most `room` of them. */
static int split_lines(char *lines, const char *item[], int room)
{
    int n = 0;
    for (char *line = strtok(lines, "\n"); line != NULL && n < room; line = strtok(NULL, "\n"))
        item[n++] = line;
    return n;
}

/* Start a scene. `sets` are overrides PATH=VALUE, one a line. Returns its description (live.h), or all errors of the
 * scene: then the simulation before it goes on. */
const char *engine_open(const char *text, const char *label, const char *sets)
{
    enum { MOST_SETS = 64 };
    Loaded *fresh = calloc(1, sizeof *fresh);
    st_Error errors[MOST_ERRORS] = {{0}};
    const char *item[MOST_SETS];
    char *lines = strdup(sets);
    const int n_sets = lines != NULL ? split_lines(lines, item, MOST_SETS) : 0;
    const size_t length = strlen(text);
    int n = 0;
    if (fresh != NULL) {
        fresh->text = strdup(text);
        fresh->name = scene_text_member(text, "name");
        fresh->description = scene_text_member(text, "description");
    }
    if (lines == NULL || fresh == NULL || fresh->text == NULL || fresh->name == NULL || fresh->description == NULL) {
        snprintf(errors[0].message, sizeof errors[0].message, "out of memory");
        n = 1;
    } else if (st_scene_parse(text, length, label, item, n_sets, &fresh->scene, &fresh->def, &errors[0]) != ST_OK) {
        const int found = st_scene_errors(text, length, label, item, n_sets, errors, MOST_ERRORS);
        n = found < 1 ? 1 : found < MOST_ERRORS ? found : MOST_ERRORS;
    }
    Live *next = n == 0 ? live_create(fresh, "", &errors[0]) : NULL;
    free(lines);
    if (next == NULL) {
        answer_errors(errors, n > 0 ? n : 1);
        close_scene(fresh);
        return answer != NULL ? answer : "";
    }
    live_destroy(live);
    close_scene(loaded);
    loaded = fresh;
    live = next;
    char *choices = live_choices(live);
    const char *scene = live_scene(live);
    const size_t size = choices != NULL && scene != NULL ? strlen(choices) + strlen(scene) + 1 : 0;
    free(answer);
    answer = size > 0 ? malloc(size) : NULL;
    if (answer != NULL) snprintf(answer, size, "%s%s", choices, scene);
    free(choices);
    return answer != NULL ? answer : "";
}

void engine_control(const char *form)
{
    if (live != NULL) live_control(live, form, strlen(form));
}

/* Step as far as the clock asks for. Returns the newest state to show, "": there is no new one. */
const char *engine_advance(void)
{
    static char *shown;
    free(shown);
    shown = NULL;
    if (live != NULL) live_advance(live, NULL);
    shown = event;
    event = NULL;
    return shown != NULL ? shown : "";
}

/* For tests: the scene from its start to its end as `stiction run` steps it. Returns "STEPS HASH SECONDS". */
const char *engine_run(void)
{
    static char text[100];
    st_Error err = {0};
    st_System *system = NULL;
    int steps = 0;
    const double began = wall_seconds();
    if (loaded == NULL || st_system_create(loaded->scene, &loaded->def, &system, &err) != ST_OK) return "";
    double h;
    while ((h = next_step(st_system_time(system), loaded->def.h, loaded->def.end)) > 0 &&
           st_system_step(system, h, NULL, &err) == ST_OK)
        steps++;
    snprintf(text, sizeof text, "%d %016llx %.6f", steps, (unsigned long long)st_system_hash(system),
             wall_seconds() - began);
    st_system_destroy(system);
    return text;
}

const char *engine_schema(void)
{
    static char *schema;
    if (schema == NULL) schema = st_scene_schema();
    return schema != NULL ? schema : "";
}
