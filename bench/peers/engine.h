/* bench/peers/engine.h -- what an engine must do to be measured. One engine, one program: each links its own. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SETTING_SIZE = 40 };

/* key=value words of the command line. What an engine asks for, and what it got, is what the table states. */
typedef struct Settings {
    int n;
    char *const *words; /* "key=value" */
    unsigned used;      /* bit k: words[k] was asked for */
    bool tuned;         /* what users choose for the scene counts; else the engine's own defaults */
    const char *choice; /* "key=value key=value": what the engine's users would choose for the scene */
    char stated[400];   /* "iterations=20 erp=0.2" */
} Settings;

/* What users of an engine choose for a kind of scene (--tuned): the first entry that the scene's name begins with
 * counts, "" fits all. A word of the command line goes before the choice, and the choice before the usual value. */
typedef struct Choice {
    const char *scene, *settings;
} Choice;

void setting_choose(Settings *settings, const Scene *scene, const Choice *choices);
double setting_number(Settings *settings, const char *key, double usual);
/* False where the usual value is NULL and nobody said another. */
bool setting_word(Settings *settings, const char *key, const char *usual, char value[SETTING_SIZE]);

typedef struct BodyState {
    st_Pose pose;
    st_Vec3 velocity; /* of the centre of mass, world axes */
    st_Vec3 spin;     /* body axes */
} BodyState;

/* NULL from create and false from step: it failed, with the reason in message. */
typedef struct Engine {
    const char *name;
    const char *(*version)(void);
    void *(*create)(const Scene *scene, Settings *settings, char message[200]);
    bool (*step)(void *world, char message[200]); /* by scene->h */
    void (*state)(void *world, int body, BodyState *out);
    int (*contacts)(void *world); /* points in the last step, as the engine counts them */
    void (*destroy)(void *world);
    void (*stages)(void *world, char text[200]); /* shares of the stages of a step so far; NULL: not told */
} Engine;

extern const Engine engine;

#ifdef __cplusplus
}
#endif
#endif
