/* tests/scene/mutate.h -- seeded mutations of a good text: whatever comes out is read, or refused in one line that
 * names file and line. The sanitizer build watches that nothing is read beyond the text and nothing leaks.
 */
#ifndef STI_MUTATE_H
#define STI_MUTATE_H

#include "scene_check.h"

typedef struct Mutator {
    const char *file; /* as messages name it                                   */
    const char *const *tokens;
    int n_tokens, longest; /* piece                                            */
    int cuts;              /* one of so many truncations is made               */
    int n;                 /* mutations                                        */
} Mutator;

/* Bytes flipped, pieces cut, doubled or replaced by tokens. `text` has room for 400 bytes more. */
static inline size_t mutate(const Mutator *mutator, char *text, size_t length, check_Random *random)
{
    int changes = check_random_int(random, 1, 4);
    for (int k = 0; k < changes && length > 1; k++) {
        size_t at = (size_t)check_random_int(random, 0, (int)length - 1);
        size_t piece = (size_t)check_random_int(random, 1, mutator->longest);
        if (piece > length - at) piece = length - at;
        const char *token = mutator->tokens[check_random_int(random, 0, mutator->n_tokens - 1)];
        switch (check_random_int(random, 0, 5)) {
        case 0:
            text[at] = (char)(text[at] ^ (1 << check_random_int(random, 0, 7)));
            break;
        case 1:
            if (check_random_int(random, 1, mutator->cuts) == 1) length = at; /* truncated */
            break;
        case 2:
            memmove(text + at, text + at + piece, length - at - piece);
            length -= piece;
            break;
        case 3:
            memmove(text + at + piece, text + at, length - at);
            length += piece;
            break;
        case 4: /* of a number another digit */
            text[at] = (char)(text[at] >= '0' && text[at] <= '9' ? check_random_int(random, '0', '9')
                                                                 : check_random_int(random, ' ', '~'));
            break;
        default:
            memmove(text + at + strlen(token), text + at, length - at);
            for (size_t i = 0; token[i] != '\0'; i++)
                text[at + i] = token[i];
            length += strlen(token);
            break;
        }
    }
    return length;
}

/* Counts accepted and refused texts. */
static inline void fuzz(const Mutator *mutator, const char *text, size_t length, uint64_t seed, int *read, int *refused)
{
    check_Random random = {seed};
    for (int i = 0; i < mutator->n; i++) {
        char *copy = malloc(length + 400);
        assert_non_null(copy);
        memcpy(copy, text, length);
        size_t n = mutate(mutator, copy, length, &random);
        char *exact = malloc(n + 1); /* of its size, so that one byte too far is seen */
        assert_non_null(exact);
        memcpy(exact, copy, n);
        free(copy);

        st_Error err = {0};
        st_Scene *scene = NULL;
        st_SystemDef def;
        const st_Status status = st_scene_parse(exact, n, mutator->file, NULL, 0, &scene, &def, &err);
        if (i % 16 == 0) { /* the list of all errors begins with the first */
            st_Error errors[4] = {{0}};
            const int count = st_scene_errors(exact, n, mutator->file, NULL, 0, errors, 4);
            assert_true((count == 0) == (status == ST_OK));
            if (count > 0) assert_string_equal(errors[0].message, err.message);
        }
        if (status == ST_OK) {
            assert_non_null(scene);
            ++*read;
        } else {
            const size_t named = strlen(mutator->file);
            assert_null(scene);
            if (strncmp(err.message, mutator->file, named) != 0 || err.message[named] != ':' || err.line < 1)
                fail_msg("no line: %s", err.message);
            assert_null(strchr(err.message, '\n'));
            ++*refused;
        }
        st_scene_destroy(scene);
        free(exact);
    }
}

#endif
