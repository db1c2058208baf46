/* stiction examples: lists the gallery, shows an example, or copies it. */
#include "command.h"
#include "describe.h"
#include "gallery.h"
#include "json.h"
#include "outputs.h"
#include "terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct ExamplesOptions {
    const char *copy;
    bool force, json, names;
} ExamplesOptions;

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "FILE|DIR", "copy the example, and the files that it uses, to FILE or DIR",
     offsetof(ExamplesOptions, copy)},
    {"force", 'f', OPTION_FLAG, NULL, "overwrite an existing file", offsetof(ExamplesOptions, force)},
    {"json", 0, OPTION_FLAG, NULL, "list as one JSON document", offsetof(ExamplesOptions, json)},
    {"names", 0, OPTION_FLAG, NULL, "list only names, one per line", offsetof(ExamplesOptions, names)},
};

static int examples_main(int argc, char *const *argv);

const Command examples_command = {
    .name = "examples",
    .words = "[NAME]",
    .max_words = 1,
    .summary = "list the example scenes, show one or copy one",
    .details = "To run an example: stiction run NAME. Examples are in the installed folder or in the source tree; the "
               "environment variable STICTION_EXAMPLES selects another folder.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = examples_main,
};

/* Folders of the gallery by theme, in the order of the list; other folders come last. */
static const struct Theme {
    const char *title, *folders[4];
} themes[] = {
    {"Toys", {"toys"}},
    {"Piles, walls, terrain", {"world"}},
    {"Grains", {"grains"}},
    {"Mechanisms", {"mechanisms"}},
    {"Robots", {"robots"}},
    {"Known answers, second order", {"accuracy", "potra-2006"}},
    {"Stiff springs and dampers", {"anitescu-potra-2002"}},
    {"Contact laws", {"negrut-2017", "song-2004", "preclik-2011"}},
    {"Others", {NULL}},
};
enum { N_THEMES = (int)(sizeof themes / sizeof themes[0]) };

static int theme_of(const Gallery *gallery, const Example *example)
{
    const char *folder = example->path + strlen(gallery->folder) + 1, *slash = strrchr(folder, '/');
    const size_t length = slash != NULL ? (size_t)(slash - folder) : 0;
    for (int t = 0; t < N_THEMES - 1; t++)
        for (int k = 0; k < 4 && themes[t].folders[k] != NULL; k++)
            if (strlen(themes[t].folders[k]) == length && strncmp(folder, themes[t].folders[k], length) == 0) return t;
    return N_THEMES - 1;
}

/* Name and the first sentence of the description. */
static void list_one(const Example *example, int width)
{
    const char *stop = strstr(example->description, ". ");
    char sentence[400];
    snprintf(sentence, sizeof sentence, "%.*s",
             stop != NULL ? (int)(stop - example->description) : (int)strlen(example->description),
             example->description);
    size_t n = strlen(sentence);
    if (n > 0 && sentence[n - 1] == '.') sentence[n - 1] = '\0';
    printf("  %-*s  ", width, example->name);
    print_wrapped_at(stdout, sentence, width + 4, width + 4);
}

static int list(const Gallery *gallery)
{
    int width = 0;
    for (int i = 0; i < gallery->count; i++)
        if ((int)strlen(gallery->example[i].name) > width) width = (int)strlen(gallery->example[i].name);
    for (int t = 0; t < N_THEMES; t++) {
        bool any = false;
        for (int i = 0; i < gallery->count; i++) {
            if (theme_of(gallery, &gallery->example[i]) != t) continue;
            if (!any) printf("%s%s%s\n", tone(stdout, BOLD), themes[t].title, tone(stdout, PLAIN));
            any = true;
            list_one(&gallery->example[i], width);
        }
        if (any) putchar('\n');
    }
    printf("%d scene%s in %s\n", gallery->count, plural(gallery->count), gallery->folder);
    printf("  stiction run NAME             run one\n"
           "  stiction view NAME            look at it while it runs\n"
           "  stiction examples NAME        what to look for\n"
           "  stiction examples NAME -o .   copy it here\n");
    return STATUS_OK;
}

static int list_names(const Gallery *gallery)
{
    for (int i = 0; i < gallery->count; i++)
        puts(gallery->example[i].name);
    return STATUS_OK;
}

static int list_json(const Gallery *gallery)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "folder", gallery->folder);
    put_open_array(&json, "examples");
    for (int i = 0; i < gallery->count; i++) {
        put_open_object(&json, NULL);
        put_text(&json, "name", gallery->example[i].name);
        put_text(&json, "theme", themes[theme_of(gallery, &gallery->example[i])].title);
        put_text(&json, "file", gallery->example[i].path);
        put_text(&json, "description", gallery->example[i].description);
        put_close_object(&json);
    }
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
    return STATUS_OK;
}

static int copy_file(const char *from, const char *path, bool force)
{
    struct stat info;
    if (!force && stat(path, &info) == 0)
        return complain(STATUS_INPUT, "examples: %s exists already, --force overwrites it", path);
    if (same_file(path, from)) return complain(STATUS_INPUT, "examples: %s is the example itself", path);
    if (!output_possible(path)) return STATUS_INPUT;
    if (!copy_output(from, path)) return STATUS_FAILED;
    printf("%s\n", path);
    return STATUS_OK;
}

static bool same_bytes(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    bool same = x != NULL && y != NULL;
    for (int c = 0; same && c != EOF;)
        same = (c = getc(x)) == getc(y);
    if (x != NULL) fclose(x);
    if (y != NULL) fclose(y);
    return same;
}

/* `name` in the folder of `path`; malloc'd, NULL: out of memory. */
static char *beside(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    int folder = slash != NULL ? (int)(slash - path) + 1 : 0;
    size_t size = (size_t)folder + strlen(name) + 1;
    char *out = malloc(size);
    if (out != NULL) snprintf(out, size, "%.*s%s", folder, path, name);
    return out;
}

/* Copies a file that the scene names to where the copy of the scene expects it. An identical file is accepted. */
static int copy_named(const Example *example, const char *name, const char *path, bool force)
{
    char *from = beside(example->path, name), *to = beside(path, name);
    int status = STATUS_OK;
    if (from == NULL || to == NULL)
        status = complain(STATUS_FAILED, "out of memory");
    else if (!same_bytes(from, to))
        status = copy_file(from, to, force);
    free(from);
    free(to);
    return status;
}

/* Copies files that it names first, so that an existing copy can be read. Names with a folder are not copied. */
static int copy_all(const Example *example, const char *path, bool force)
{
    struct stat info;
    int status = STATUS_OK;
    if (!force && stat(path, &info) == 0) return copy_file(example->path, path, force); /* reports the error */
    for (int k = 0; status == STATUS_OK; k++) {
        char *name = scene_file(example->path, k);
        bool last = name == NULL || name[0] == '\0';
        if (name == NULL) status = complain(STATUS_FAILED, "out of memory");
        if (!last && strchr(name, '/') == NULL) status = copy_named(example, name, path, force);
        free(name);
        if (last) break;
    }
    return status == STATUS_OK ? copy_file(example->path, path, force) : status;
}

/* Copies into a folder under its own name, or to the given file. */
static int copy_out(const Example *example, const char *target, bool force)
{
    struct stat info;
    if (stat(target, &info) != 0 || !S_ISDIR(info.st_mode)) return copy_all(example, target, force);
    const char *base = strrchr(example->path, '/') + 1;
    size_t size = strlen(target) + strlen(base) + 2;
    char *path = malloc(size);
    if (path == NULL) return complain(STATUS_FAILED, "out of memory");
    const char *slash = target[strlen(target) - 1] == '/' ? "" : "/";
    snprintf(path, size, "%s%s%s", target, slash, base);
    int status = copy_all(example, path, force);
    free(path);
    return status;
}

static int show(const Gallery *gallery, const char *name, const ExamplesOptions *o)
{
    const Example *example = gallery_find(gallery, name);
    if (example == NULL) {
        const char *near = gallery_suggest(gallery, name);
        return complain(STATUS_INPUT, "examples: no example \"%s\" in %s%s%s%s", name, gallery->folder,
                        near != NULL ? ", did you mean \"" : "", near != NULL ? near : "", near != NULL ? "\"?" : "");
    }
    if (o->copy != NULL) return copy_out(example, o->copy, o->force);
    printf("%s\n", example->path);
    if (example->description[0] != '\0') print_wrapped(stdout, example->description, 2);
    return STATUS_OK;
}

static int examples_main(int argc, char *const *argv)
{
    ExamplesOptions o = {0};
    Gallery gallery = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&examples_command, argc, argv, &o, words);
    if (status >= 0) return status;
    const char *wanted = getenv("STICTION_EXAMPLES");
    if (gallery_open(&gallery) != 0)
        status = complain(STATUS_FAILED, "out of memory");
    else if (gallery.folder == NULL && wanted != NULL && wanted[0] != '\0')
        status = complain(STATUS_INPUT, "examples: STICTION_EXAMPLES is \"%s\", which is not a folder", wanted);
    else if (gallery.folder == NULL)
        status = complain(STATUS_INPUT, "examples: the folder of examples was not found; set STICTION_EXAMPLES");
    else if (words[0] == NULL && o.copy != NULL)
        status = complain(STATUS_INPUT, "examples: -o needs the NAME of an example");
    else if (words[0] != NULL)
        status = show(&gallery, words[0], &o);
    else if (o.names)
        status = list_names(&gallery);
    else
        status = o.json ? list_json(&gallery) : list(&gallery);
    gallery_close(&gallery);
    return status;
}
