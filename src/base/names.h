/* base/names.h -- names of objects of one kind, found in constant time. They are unique within a scope (for shapes,
 * their body). */
#ifndef STI_NAMES_H
#define STI_NAMES_H

#include "base/base.h"

#define STI_NAME_MAX 255 /* characters: names appear in messages and column titles */

/* Texts are stored in blocks that never move: pointers to them are valid as long as the names. */
typedef struct sti_NameBlock {
    char *text;
    int used, size;
} sti_NameBlock;

typedef struct sti_Names {
    char **name;          /* n names, stored in the blocks */
    int *scope;           /* n of them                                                      */
    uint32_t *generation; /* n generations, ascending: no two objects that were ever added have the same */
    uint32_t last_generation;
    int64_t capacity, scope_capacity, generation_capacity;
    int n;
    int uncounted; /* the first so many do not count when a name is made from a number */
    int *slot;     /* open addressing: 1 + index, 0 empty; n_slots a power of two > 2 n */
    int64_t n_slots;
    sti_NameBlock *block; /* the last block has room */
    int n_blocks;
    int64_t block_capacity;
} sti_Names;

/* Adds a copy of `name`; NULL or "": "<kind><number>". `kind` is also used in messages. */
st_Status sti_names_add(const st_Allocator *allocator, sti_Names *names, const char *kind, int scope, const char *name,
                        st_Error *err);
/* Removes the last name, to undo an addition when a later part of the same call fails. */
void sti_names_remove_last(sti_Names *names);
int sti_names_find(const sti_Names *names, int scope, const char *name); /* -1: none */
/* The present index of the object of this generation, which was at `index`; -1: removed. Generation 0 means the
 * object at `index`. */
int sti_names_place(const sti_Names *names, int index, uint32_t generation);
/* Does the name match a pattern in which * stands for any characters? */
bool sti_name_matches(const char *pattern, const char *name);
void sti_names_free(const st_Allocator *allocator, sti_Names *names);

#endif
