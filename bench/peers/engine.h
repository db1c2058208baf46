/* bench/peers/engine.h -- the interface of an engine. Each engine is linked into its own program. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SETTING_SIZE = 40 };

/* The key=value words of the command line. The table prints the settings that an engine reads, with their values. */
typedef struct Settings {
    int n;
    char *const *words; /* "key=value" */
    unsigned used;      /* bit k: words[k] was read */
    bool tuned;         /* use the settings that users choose for the scene; else the engine's defaults */
    const char *choice; /* "key=value key=value": the settings that users of the engine would choose for the scene */
    char stated[400];   /* "iterations=20 erp=0.2" */
} Settings;

/* Settings that users of an engine choose for a kind of scene (--tuned): the first entry that is a prefix of the
 * scene's name is used, "" matches all. A word of the command line overrides the choice, and the choice overrides
 * the usual value. */
typedef struct Choice {
    const char *scene, *settings;
} Choice;

void setting_choose(Settings *settings, const Scene *scene, const Choice *choices);
double setting_number(Settings *settings, const char *key, double usual);
/* Returns false if the usual value is NULL and no other is given. */
bool setting_word(Settings *settings, const char *key, const char *usual, char value[SETTING_SIZE]);

typedef struct BodyState {
    st_Pose pose;
    st_Vec3 velocity; /* of the centre of mass, world axes */
    st_Vec3 spin;     /* body axes */
} BodyState;

/* create returns NULL and step returns false after a failure, with the reason in message. */
typedef struct Engine {
    const char *name;
    const char *(*version)(void);
    void *(*create)(const Scene *scene, Settings *settings, char message[200]);
    bool (*step)(void *world, char message[200]); /* by scene->h */
    void (*state)(void *world, int body, BodyState *out);
    int (*contacts)(void *world); /* contact points in the last step, as counted by the engine */
    void (*destroy)(void *world);
    void (*stages)(void *world, char text[200]); /* shares of the stages of a step so far; NULL: not available */
} Engine;

extern const Engine engine;

#ifdef __cplusplus
}
#endif
#endif
