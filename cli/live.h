/* cli/live.h -- a scene that runs while it is shown in a browser, with interaction. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "load.h"
#include "serve.h"

typedef struct Live Live;

/* Takes no ownership: `loaded` must outlive it. NULL: err has the reason. */
Live *live_create(Loaded *loaded, const char *key, st_Error *err);
void live_destroy(Live *live);

/* The description for the page is one JSON object in two parts. The first has the present settings, malloc'd. The
 * second has the scene, which does not change: it is made once and lives as long as `live`, because it can have many
 * megabytes and be sent to many connections. NULL: out of memory. */
char *live_choices(const Live *live);
const char *live_scene(Live *live);
/* A control message of the page: "do=pause", "gravity=3.7", "drag=2&ax=..&ay=..&az=..&x=..&y=..&z=..". */
void live_control(Live *live, const char *form, size_t length);
/* Steps as long as real time requires, at most for the budget; then sends the state to all clients. */
void live_advance(Live *live, Server *server);
/* Writes text as a JSON string. */
void live_put_string(FILE *out, const char *text);

#endif
