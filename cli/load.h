/* cli/load.h -- loads a system from a word of the command line. */
#ifndef CLI_LOAD_H
#define CLI_LOAD_H

#include "command.h"

#include <stiction/io.h>

typedef struct Loaded {
    char *path; /* of the scene file                        */
    char *name; /* of the scene, or of the file */
    char *description;
    char *text; /* the scene itself                         */
    size_t length;
    char **sets; /* overrides applied, NULL-terminated */
    int n_sets;
    st_Scene *scene;
    st_SystemDef def;
    st_System *system;
} Loaded;

/* `word` is a file, or the name of an example if there is no such file. False: err has the reason. */
bool load(const char *word, const TextList *sets, Loaded *loaded, st_Error *err);
/* The same scene with other overrides, from the text already read. */
bool load_again(const Loaded *from, const TextList *sets, Loaded *loaded, st_Error *err);
/* After load() failed: lists the errors of the scene; returns their number, 0 if the failure has another cause. */
#define MOST_ERRORS 20
int scene_errors(const Loaded *loaded, st_Error errors[MOST_ERRORS]);
/* Prints every error of the scene on stderr. Returns STATUS_INPUT. */
int refuse_scene(const Loaded *loaded, const st_Error *err);
void unload(Loaded *loaded);

/* Is the word a scene: by its ending, or as the name of an example if there is no such file? */
bool means_scene(const char *word);
/* Opens a recording; if the word is a scene, err explains how to record it. */
bool open_recording(const char *word, st_Recording **out, st_Error *err);

#endif
