#define _XOPEN_SOURCE 700 /* realpath */
#include "gallery.h"

#include "command.h"
#include "describe.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE 4096
#define DEEPEST   4    /* depth of folders below the gallery: a link that points up must not loop */
#define MOST      4096 /* most scenes */

/* Joins into a new text; NULL: out of memory. */
static char *join(const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + strlen(c) + 1;
    char *out = malloc(size);
    if (out != NULL) snprintf(out, size, "%s%s%s", a, b, c);
    return out;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static char *find_folder(void)
{
    /* bin/stiction is next to share/ when installed, and in build/ in the source tree. */
    static const char *const beside[] = {"/../share/stiction/examples", "/../../examples"};
    const char *wanted = getenv("STICTION_EXAMPLES");
    char program[PATH_SIZE];
    if (wanted != NULL && wanted[0] != '\0') return is_folder(wanted) ? join(wanted, "", "") : NULL;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return NULL;
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) return NULL;
    *slash = '\0';
    for (size_t k = 0; k < sizeof beside / sizeof beside[0]; k++) {
        char *path = join(program, beside[k], "");
        if (path == NULL) return NULL;
        if (is_folder(path)) {
            char *plain = realpath(path, NULL); /* without the ".." */
            if (plain == NULL) return path;
            free(path);
            return plain;
        }
        free(path);
    }
    return NULL;
}

static bool ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), e = strlen(ending);
    return n > e && strcmp(text + n - e, ending) == 0;
}

size_t scene_stem(const char *path)
{
    return strlen(path) - (ends_in(path, ".json") ? strlen(".json") : 0);
}

static int add_example(Gallery *gallery, const char *path)
{
    Example *grown = realloc(gallery->example, ((size_t)gallery->count + 1) * sizeof *grown);
    if (grown == NULL) return -1;
    gallery->example = grown;
    Example *example = &grown[gallery->count];
    const char *base = strrchr(path, '/') + 1;
    example->path = join(path, "", "");
    example->name = join(base, "", "");
    example->description = scene_member(path, "description");
    gallery->count++;
    if (example->path == NULL || example->name == NULL || example->description == NULL) return -1;
    example->name[scene_stem(base)] = '\0';
    return 0;
}

static int scan(Gallery *gallery, const char *folder, int depth)
{
    struct dirent *entry = NULL;
    int status = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) return 0;
    while (status == 0 && gallery->count < MOST && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        if (name[0] == '.') continue;
        char *path = join(folder, "/", entry->d_name);
        if (path == NULL) {
            status = -1;
        } else if (is_folder(path)) {
            if (depth < DEEPEST) status = scan(gallery, path, depth + 1);
        } else if (ends_in(name, ".json") || ends_in(name, ".urdf") || ends_in(name, ".xml")) {
            status = add_example(gallery, path);
        }
        free(path);
    }
    closedir(dir);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const Example *)a)->path, ((const Example *)b)->path);
}

int gallery_open(Gallery *gallery)
{
    *gallery = (Gallery){0};
    gallery->folder = find_folder();
    if (gallery->folder == NULL) return 0;
    int status = scan(gallery, gallery->folder, 0);
    if (status == 0 && gallery->count > 1)
        qsort(gallery->example, (size_t)gallery->count, sizeof *gallery->example, by_path);
    return status;
}

void gallery_close(Gallery *gallery)
{
    for (int i = 0; i < gallery->count; i++) {
        free(gallery->example[i].name);
        free(gallery->example[i].path);
        free(gallery->example[i].description);
    }
    free(gallery->example);
    free(gallery->folder);
    *gallery = (Gallery){0};
}

/* By name, or by the path below the folder, with or without ".json". */
const Example *gallery_find(const Gallery *gallery, const char *name)
{
    size_t length = scene_stem(name);
    for (int i = 0; i < gallery->count; i++) {
        const Example *example = &gallery->example[i];
        const char *below = example->path + strlen(gallery->folder) + 1;
        if (strlen(example->name) == length && strncmp(example->name, name, length) == 0) return example;
        if (scene_stem(below) == length && strncmp(below, name, length) == 0) return example;
    }
    return NULL;
}

const char *gallery_suggest(const Gallery *gallery, const char *name)
{
    const char *best = NULL;
    for (int i = 0; i < gallery->count; i++) {
        /* Compare the nearest so far with the next. */
        const char *pair[2] = {best, gallery->example[i].name};
        const char *near = best != NULL ? suggest(name, pair, 2) : suggest(name, pair + 1, 1);
        if (near != NULL) best = near;
    }
    return best;
}
