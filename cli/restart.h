/* cli/restart.h -- a system that goes on where a recorded run was. */
#ifndef CLI_RESTART_H
#define CLI_RESTART_H

#include "load.h"

/* The last checkpoint not after `at` (infinite: the last one). False: err says why. */
bool load_restart(const char *file, double at, const TextList *sets, Loaded *loaded, st_Error *err);

/* The text of the scene, for its recording: from the file, or what restart found. False: err says why. */
bool load_text(Loaded *loaded, st_Error *err);

#endif
