/* bench/peers/engine.h -- what an engine must do to be measured. One engine, one program: each links its own. */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include "scene.h"

#ifdef __cplusplus
extern "C" {
#endif

/* key=value words of the command line. What an engine asks for, and what it got, is what the table states. */
typedef struct Settings {
    int n;
    char *const *words; /* "key=value" */
    unsigned used;      /* bit k: words[k] was asked for */
    char stated[400];   /* "iterations=20 erp=0.2" */
} Settings;

double setting_number(Settings *settings, const char *key, double usual);
const char *setting_word(Settings *settings, const char *key, const char *usual);
void setting_state(Settings *settings, const char *key, const char *value); /* said, not asked for */

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
} Engine;

extern const Engine engine;

#ifdef __cplusplus
}
#endif
#endif
