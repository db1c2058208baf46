/* cli/gallery.h -- the example scenes: their paths, names and descriptions. */
#ifndef CLI_GALLERY_H
#define CLI_GALLERY_H

#include <stddef.h>

typedef struct Example {
    char *name;        /* of the file, without folder and ".json"; robots keep their ending */
    char *path;        /* to open                                                       */
    char *description; /* of the scene; "" if it has none */
} Example;

typedef struct Gallery {
    char *folder; /* NULL: not found */
    Example *example;
    int count; /* sorted by path */
} Gallery;

/* Searches $STICTION_EXAMPLES, the installed folder, or the source tree. 0, or -1: out of memory. */
int gallery_open(Gallery *gallery);
void gallery_close(Gallery *gallery);
const Example *gallery_find(const Gallery *gallery, const char *name); /* NULL: none */
/* The length of a path without ".json", the ending of scenes; robots keep their ending. */
size_t scene_stem(const char *path);
const char *gallery_suggest(const Gallery *gallery, const char *name); /* NULL: none is close */

#endif
