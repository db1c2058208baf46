/* stiction convert: writes a robot, or a scene with robots, as one plain scene file. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "load.h"
#include "outputs.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_SIZE 4096

typedef struct ConvertOptions {
    const char *output;
    TextList sets;
    bool force;
} ConvertOptions;

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE", "the file to write (default: standard output)",
     offsetof(ConvertOptions, output)},
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value before the conversion: robots/0/fixed=true",
     offsetof(ConvertOptions, sets)},
    {"force", 'f', OPTION_FLAG, NULL, "overwrite an existing file", offsetof(ConvertOptions, force)},
};

static int convert_main(int argc, char *const *argv);

const Command convert_command = {
    .name = "convert",
    .words = "FILE",
    .min_words = 1,
    .max_words = 1,
    .summary = "write a robot (URDF, MJCF, SDF) as a scene to edit, or a scene as MJCF",
    .details =
        "FILE is a robot file, or a scene with the key `robots`; its robots become part of the new scene. Parts that "
        "were "
        "approximated or omitted are listed on the standard error. An output that ends in .xml is MJCF, for MuJoCo.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = convert_main,
};

/* The path from the folder of the output to that of the file: "", or a path with its slash. Absolute if the two have
 * nothing in common, false if one of them does not exist. */
static bool find_prefix(const char *input, const char *output, char *out, size_t size)
{
    char from[PATH_SIZE], *there, *here;
    const char *slash = strrchr(input, '/');
    snprintf(from, sizeof from, "%.*s.", slash != NULL ? (int)(slash - input) + 1 : 0, input);
    there = realpath(from, NULL);
    slash = output != NULL ? strrchr(output, '/') : NULL;
    snprintf(from, sizeof from, "%.*s.", slash != NULL ? (int)(slash - output) + 1 : 0, slash != NULL ? output : "");
    here = realpath(from, NULL);
    bool ok = here != NULL && there != NULL;
    if (ok) {
        size_t n = 0, used = 0, same = 0; /* length of the common folders */
        for (; here[n] == there[n] && here[n] != '\0'; n++)
            if (here[n] == '/') same = n;
        if ((here[n] == '\0' || here[n] == '/') && (there[n] == '\0' || there[n] == '/')) same = n;
        out[0] = '\0';
        for (const char *up = strchr(here + same, '/'); up != NULL && up[1] != '\0'; up = strchr(up + 1, '/'))
            if (used + 4 < size) used += (size_t)snprintf(out + used, size - used, "../");
        const char *down = there[same] == '/' ? there + same + 1 : there + same;
        if (down[0] != '\0') ok = snprintf(out + used, size - used, "%s/", down) < (int)(size - used);
    }
    free(here);
    free(there);
    return ok;
}

static int write_to(const char *path, const char *text)
{
    st_Error err = {0};
    if (st_file_write(path, text, strlen(text), &err) != ST_OK) return complain(STATUS_FAILED, "%s", err.message);
    printf("%s\n", path);
    return STATUS_OK;
}

/* Writes MJCF; lists unsupported features on the standard error. */
static int convert_to_mjcf(const Loaded *loaded, const ConvertOptions *o)
{
    char *text = NULL, *remarks = NULL;
    st_Error err = {0};
    if (st_scene_write_mjcf(loaded->scene, &loaded->def, loaded->name, &text, &remarks, &err) != ST_OK)
        return complain(STATUS_FAILED, "%s", err.message);
    int status = write_to(o->output, text);
    for (const char *line = remarks; *line != '\0'; line += strcspn(line, "\n") + 1)
        fprintf(stderr, "not written: %.*s\n", (int)strcspn(line, "\n"), line);
    free(text);
    free(remarks);
    return status;
}

static int convert(const char *input, const Loaded *loaded, const ConvertOptions *o)
{
    char prefix[PATH_SIZE], *text = NULL, *remarks = NULL;
    struct stat info;
    st_Error err = {0};
    if (o->output != NULL && !o->force && stat(o->output, &info) == 0)
        return complain(STATUS_INPUT, "convert: %s exists already, --force overwrites it", o->output);
    if (o->output != NULL && same_file(o->output, input))
        return complain(STATUS_INPUT, "convert: %s is the file itself", o->output);
    if (o->output != NULL && !output_possible(o->output)) return STATUS_INPUT;
    static const char *const endings[] = {".json", ".xml", ".mjcf", NULL};
    if (o->output != NULL && !output_named(o->output, endings, NULL)) return STATUS_INPUT;
    const char *ending = o->output != NULL ? strrchr(o->output, '.') : NULL;
    if (ending != NULL && (strcmp(ending, ".xml") == 0 || strcmp(ending, ".mjcf") == 0))
        return convert_to_mjcf(loaded, o);
    if (!find_prefix(input, o->output, prefix, sizeof prefix))
        return complain(STATUS_INPUT, "%s: cannot be opened: %s", input, strerror(errno));
    if (st_scene_convert(input, o->sets.item, o->sets.count, prefix, &text, &remarks, &err) != ST_OK)
        return complain(STATUS_INPUT, "%s", err.message);
    int status = STATUS_OK;
    if (o->output != NULL)
        status = write_to(o->output, text);
    else
        fputs(text, stdout);
    if (remarks != NULL) print_lines(stderr, remarks, 0, 2);
    free(text);
    free(remarks);
    return status;
}

static int convert_main(int argc, char *const *argv)
{
    ConvertOptions o = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&convert_command, argc, argv, &o, words);
    Loaded loaded = {0};
    st_Error err = {0};
    if (status < 0 && !load(words[0], &o.sets, &loaded, &err)) status = refuse_scene(&loaded, &err);
    if (status < 0) status = convert(loaded.path, &loaded, &o);
    unload(&loaded);
    free((void *)o.sets.item);
    return status;
}
