/* cli/load.h -- from a word of the command line to a system that can step. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "command.h"

#include <stiction/io.h>

typedef struct Loaded {
    char *path; /* of the scene file                        */
    char *name; /* its own, or that of the file             */
    char *description;
    char *text; /* the scene itself                         */
    size_t length;
    char **sets; /* overrides it was read with, NULL-terminated               */
    int n_sets;
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
} Loaded;

/* `word` is a file, or the name of an example where there is no such file. False: err says why. */
bool load(const char *word, const TextList *sets, Loaded *loaded, st_Error *err);
/* The same scene with other overrides, from the text that was read. */
bool load_again(const Loaded *from, const TextList *sets, Loaded *loaded, st_Error *err);
/* After load() failed: the errors of the scene; returns how many there are, 0 where it is something else. */
#define MOST_ERRORS 20
int scene_errors(const Loaded *loaded, st_Error errors[MOST_ERRORS]);
/* Every error of the scene on stderr. Returns STATUS_INPUT. */
int refuse_scene(const Loaded *loaded, const st_Error *err);
void unload(Loaded *loaded);

/* Does the word mean a scene: by its ending, or as the name of an example where there is no such file? */
bool means_scene(const char *word);
/* A recording; where the word is a scene, err says how to make one of it. */
bool open_recording(const char *word, st_Recording **out, st_Error *err);

#endif
