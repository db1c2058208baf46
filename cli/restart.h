/* cli/restart.h -- a system that goes on where a recorded run was, and what a recording holds of its scene for that. */
#ifndef CLI_RESTART_H
#define CLI_RESTART_H

#include "load.h"

/* The last checkpoint not after `at` (infinite: the last one). False: err says why. */
bool load_restart(const char *file, double at, const TextList *sets, Loaded *loaded, st_Error *err);

/* The scene so that it can be read again wherever the recording is: robots taken in, the path in full, the overrides
 * that are still to be applied (of `loaded`, which must outlive them).                                */
typedef struct KeptScene {
    char *text, *label;
    const char **sets;
    int n_sets;
} KeptScene;

/* `again`: it is from a recording, and its text as good as it gets. False: err says why. */
bool keep_scene(const Loaded *loaded, bool again, KeptScene *kept, st_Error *err);
void kept_scene_free(KeptScene *kept);

#endif
