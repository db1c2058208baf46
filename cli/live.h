/* cli/live.h -- a scene that steps while someone looks, and can be pushed about. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "load.h"
#include "serve.h"

typedef struct Live Live;

/* Takes nothing over: `loaded` must outlive it. NULL: err says why. */
Live *live_create(Loaded *loaded, const char *key, st_Error *err);
void live_destroy(Live *live);

/* The description for the page is one JSON object in two parts. The first has the choices as they are now, malloc'd.
 * The second has the scene, which does not change: it is made once and stays as long as `live`, since it can have many
 * megabytes and many connections. NULL: no memory. */
char *live_choices(const Live *live);
const char *live_scene(Live *live);
/* A wish of the page: "do=pause", "gravity=3.7", "drag=2&ax=..&ay=..&az=..&x=..&y=..&z=..". */
void live_control(Live *live, const char *form, size_t length);
/* Step for at most so long as real time asks for; then tell those who look. */
void live_advance(Live *live, Server *server);
/* Text as a string of JSON. */
void live_put_string(FILE *out, const char *text);

#endif
