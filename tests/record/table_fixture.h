/* tests/record/table_fixture.h -- a scene with its system, and an empty file: for the tests of tables. */
#ifndef TABLE_FIXTURE_H
#define TABLE_FIXTURE_H

#include "check.h"
#include "record/scratch.h"

#include <stiction/io.h>
#include <string.h>

typedef struct Fixture {
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    st_StepInfo info;
    char path[64];
} Fixture;

/* A fixture with an empty file and no scene yet; NULL: it could not be made. */
static inline Fixture *table_fixture(void **state)
{
    Fixture *f = calloc(1, sizeof *f);
    if (f == NULL) return NULL;
    *state = f;
    f->def = st_system_def();
    f->info = st_step_info();
    strcpy(f->path, "/tmp/stiction-table-XXXXXX");
    return scratch_file(f->path) == 0 ? f : NULL;
}

static inline int table_teardown(void **state)
{
    Fixture *f = *state;
    st_system_destroy(f->system);
    st_scene_destroy(f->scene);
    unlink(f->path);
    free(f);
    return 0;
}

#endif
