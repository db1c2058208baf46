#include "base/names.h"

#include "base/utf8.h"

#include <stdio.h>

/* FNV-1a, starting with the scope. */
static uint64_t names_hash(int scope, const char *text)
{
    uint64_t h = (0xcbf29ce484222325u ^ (uint64_t)scope) * 0x100000001b3u;
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001b3u;
    return h;
}

/* The slot of `name`, or the empty slot where it would be. */
static int64_t names_probe(const sti_Names *names, int scope, const char *name)
{
    int64_t s = (int64_t)(names_hash(scope, name) & (uint64_t)(names->n_slots - 1));
    for (int k; (k = names->slot[s] - 1) >= 0; s = (s + 1) & (names->n_slots - 1))
        if (names->scope[k] == scope && strcmp(names->name[k], name) == 0) break;
    return s;
}

int sti_names_find(const sti_Names *names, int scope, const char *name)
{
    if (names->n_slots == 0 || name == NULL) return -1;
    return names->slot[names_probe(names, scope, name)] - 1;
}

/* Makes room for one more text after the last one. Blocks double in size, so that few names take little memory. */
enum { FIRST_BLOCK = 256, LARGEST_BLOCK = 1 << 16 };

st_Status sti_names_add(const st_Allocator *allocator, sti_Names *names, const char *kind, int scope, const char *name,
                        st_Error *err)
{
    char invented[64];
    if (name == NULL || name[0] == '\0') {
        /* "<kind><number>" with the first free number from `start` on. */
        int start = names->n + 1 - names->uncounted;
        do
            snprintf(invented, sizeof invented, "%s%d", kind, start++);
        while (sti_names_find(names, scope, invented) >= 0);
        name = invented;
    }
    size_t length = strlen(name);
    if (length > STI_NAME_MAX)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s \"%.40s...\": its name has %zu characters, at most %d are allowed",
                        kind, name, length, STI_NAME_MAX);
    for (size_t k = 0, n; k < length; k += n) /* names must be UTF-8, for recordings and pages */
        if ((n = (size_t)sti_utf8_length(name + k)) == 0)
            return sti_fail(err, ST_ERR_ARGUMENT, "%s number %d: its name is not UTF-8 text from byte %zu on", kind,
                            names->n + 1 - names->uncounted, k);
    if (sti_names_find(names, scope, name) >= 0)
        return sti_fail(err, ST_ERR_ARGUMENT, "%s \"%s\": there are two of this name", kind, name);
    if (2 * (int64_t)(names->n + 1) >= names->n_slots) {
        sti_Names larger = *names;
        larger.n_slots = names->n_slots == 0 ? 16 : 2 * names->n_slots;
        larger.slot = sti_alloc(allocator, larger.n_slots, sizeof *larger.slot);
        if (larger.slot == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d names", names->n + 1);
        for (int k = 0; k < names->n; k++)
            larger.slot[names_probe(&larger, names->scope[k], names->name[k])] = k + 1;
        sti_free(allocator, names->slot, names->n_slots, sizeof *names->slot);
        *names = larger;
    }
    STI_TRY(STI_GROW(allocator, names->name, names->capacity, names->n + 1, err));
    STI_TRY(STI_GROW(allocator, names->scope, names->scope_capacity, names->n + 1, err));
    STI_TRY(STI_GROW(allocator, names->generation, names->generation_capacity, names->n + 1, err));
    const int wanted = (int)length;
    const sti_NameBlock *last = names->n_blocks > 0 ? &names->block[names->n_blocks - 1] : NULL;
    if (last == NULL || wanted >= last->size - last->used) {
        int size = last == NULL ? FIRST_BLOCK : last->size < LARGEST_BLOCK ? 2 * last->size : LARGEST_BLOCK;
        STI_TRY(STI_GROW(allocator, names->block, names->block_capacity, names->n_blocks + 1, err));
        while (size <= wanted)
            size *= 2;
        char *text = sti_alloc(allocator, size, 1);
        if (text == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory for %d names", names->n + 1);
        names->block[names->n_blocks++] = (sti_NameBlock){text, 0, size};
    }
    sti_NameBlock *block = &names->block[names->n_blocks - 1];
    char *copy = memcpy(block->text + block->used, name, length + 1);
    block->used += (int)length + 1;
    names->name[names->n] = copy;
    names->scope[names->n] = scope;
    names->generation[names->n] = ++names->last_generation;
    names->slot[names_probe(names, scope, copy)] = names->n + 1;
    names->n++;
    return ST_OK;
}

void sti_names_remove_last(sti_Names *names)
{
    char *name = names->name[--names->n];
    names->slot[names_probe(names, names->scope[names->n], name)] =
        0; /* it was added last, so no later probe passes its slot */
    names->block[names->n_blocks - 1].used -= (int)strlen(name) + 1;
}

void sti_names_free(const st_Allocator *allocator, sti_Names *names)
{
    for (int k = 0; k < names->n_blocks; k++)
        sti_free(allocator, names->block[k].text, names->block[k].size, 1);
    sti_free(allocator, names->block, names->block_capacity, sizeof *names->block);
    sti_free(allocator, names->name, names->capacity, sizeof *names->name);
    sti_free(allocator, names->scope, names->scope_capacity, sizeof *names->scope);
    sti_free(allocator, names->generation, names->generation_capacity, sizeof *names->generation);
    sti_free(allocator, names->slot, names->n_slots, sizeof *names->slot);
    *names = (sti_Names){0};
}

int sti_names_place(const sti_Names *names, int index, uint32_t generation)
{
    if (generation == 0 || (index >= 0 && index < names->n && names->generation[index] == generation)) return index;
    int low = 0, high = names->n; /* the first that is not smaller */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (names->generation[middle] < generation)
            low = middle + 1;
        else
            high = middle;
    }
    return low < names->n && names->generation[low] == generation ? low : -1;
}

bool sti_name_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == *name) {
            if (*name == '\0') return true;
            pattern++, name++;
        } else if (star != NULL && *resume != '\0') {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
}
