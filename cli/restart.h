/* cli/restart.h -- a system that continues a recorded run, and the scene that a recording stores for that. */
#ifndef CLI_RESTART_H
#define CLI_RESTART_H

#include "load.h"

/* Loads the last checkpoint not after `at` (infinite: the last one). False: err has the reason. */
bool load_restart(const char *file, double at, const TextList *sets, Loaded *loaded, st_Error *err);

/* A scene that can be read wherever the recording is: robots are included, the path is absolute, and the overrides
 * are those still to be applied (memory of `loaded`, which must outlive them). */
typedef struct KeptScene {
    char *text, *label;
    const char **sets;
    int n_sets;
} KeptScene;

/* `again`: it is from a recording, and its text is used unchanged. False: err has the reason. */
bool keep_scene(const Loaded *loaded, bool again, KeptScene *kept, st_Error *err);
void kept_scene_free(KeptScene *kept);

#endif
