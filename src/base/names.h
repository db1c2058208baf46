/* base/names.h -- names of objects of one kind, found in constant time: unique within a scope (shapes: their body). */
#ifndef STI_NAMES_H
#define STI_NAMES_H

#include "base/base.h"

#define STI_NAME_MAX 255 /* characters: names stand in messages and column titles */

/* Texts stand one behind the other in blocks that never move: pointers to them live as long as the names. */
typedef struct sti_NameBlock {
    char *text;
    int used, size;
} sti_NameBlock;

typedef struct sti_Names {
    char **name;          /* n of them, in the blocks                                       */
    int *scope;           /* n of them                                                      */
    uint32_t *generation; /* n of them, ascending: no two objects that were ever added share one */
    uint32_t last_generation;
    int64_t capacity, scope_capacity, generation_capacity;
    int n;
    int uncounted; /* the first so many do not count where a name is made from a number */
    int *slot;     /* open addressing: 1 + index, 0 empty; n_slots a power of two > 2 n */
    int64_t n_slots;
    sti_NameBlock *block; /* the last one has room                                 */
    int n_blocks;
    int64_t block_capacity;
} sti_Names;

/* Add a copy of `name`; NULL or "": "<kind><number>". `kind` also serves messages. */
st_Status sti_names_add(const st_Allocator *allocator, sti_Names *names, const char *kind, int scope, const char *name,
                        st_Error *err);
/* Take the last one back: what was added is undone when a later part of the same call fails. */
void sti_names_remove_last(sti_Names *names);
int sti_names_find(const sti_Names *names, int scope, const char *name); /* -1: not there */
/* Where the object of this generation is, which was at `index`: there, elsewhere, or -1: removed. 0: at `index`. */
int sti_names_place(const sti_Names *names, int index, uint32_t generation);
/* Does the name match a pattern in which * is any number of characters? */
bool sti_name_matches(const char *pattern, const char *name);
void sti_names_free(const st_Allocator *allocator, sti_Names *names);

#endif
