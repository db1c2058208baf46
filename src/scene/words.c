/* scene/words.c -- texts of messages: values as people write them, and "did you mean". */
#include "base/number.h"
#include "scene/reader.h"

#include <stdarg.h>
#include <stdio.h>

void sti_append(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    if (used + 1 >= size) return;
    va_list args;
    va_start(args, format);
    vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

/* At most 40 bytes of a string, without cutting a UTF-8 character. */
static void quoted(const char *text, char *out, size_t size)
{
    size_t length = strlen(text), cut = 40;
    if (length <= cut) {
        sti_append(out, size, "\"%s\"", text);
        return;
    }
    while (cut > 0 && ((unsigned char)text[cut] & 0xc0) == 0x80)
        cut--;
    sti_append(out, size, "\"%.*s...\"", (int)cut, text);
}

void sti_found_text(const json_t *value, char *out, size_t size)
{
    char number[STI_NUMBER_SIZE];
    if (size > 0) out[0] = '\0';
    switch (json_typeof(value)) {
    case JSON_STRING:
        quoted(json_string_value(value), out, size);
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        sti_append(out, size, "%s", sti_number_text(number, json_number_value(value)));
        break;
    case JSON_ARRAY:
        if (json_array_size(value) == 0)
            sti_append(out, size, "an empty list");
        else
            sti_append(out, size, "a list of %zu", json_array_size(value));
        break;
    case JSON_OBJECT:
        sti_append(out, size, "an object");
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        sti_append(out, size, json_is_true(value) ? "true" : "false");
        break;
    case JSON_NULL:
        sti_append(out, size, "null");
        break;
    }
}

#define LONGEST 63

static int words_least(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment: an insertion, a deletion, a substitution or a swap of neighbours costs 1. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][LONGEST + 1]; /* the last three rows of the table, by i modulo 3 */
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *now = row[i % 3];
        const int *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int cost = a[i - 1] == b[j - 1] ? 0 : 1;
            now[j] = words_least(words_least(last[j] + 1, now[j - 1] + 1), last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = words_least(now[j], before[j - 2] + 1);
        }
    }
    return row[n % 3][m];
}

/* A word of other programs, and the word of scene files for the same thing. */
static const char *const synonyms[][2] = {
    {"ball", "sphere"},
    {"c", "damping"},
    {"cube", "box"},
    {"cuboid", "box"},
    {"disc", "cylinder"},
    {"disk", "cylinder"},
    {"dt", "h"},
    {"duration", "end"},
    {"euler", "orientation"},
    {"g", "gravity"},
    {"heightfield", "height-field"},
    {"hfield", "height-field"},
    {"hinge", "revolute"},
    {"k", "stiffness"},
    {"mu", "friction"},
    {"omega", "angular_velocity"},
    {"pos", "position"},
    {"quat", "orientation"},
    {"quaternion", "orientation"},
    {"rotation", "orientation"},
    {"slide", "prismatic"},
    {"slider", "prismatic"},
    {"spherical", "ball"},
    {"spin", "angular_velocity"},
    {"step", "h"},
    {"t_end", "end"},
    {"time_step", "h"},
    {"timestep", "h"},
    {"torsional_friction", "spinning_friction"},
    {"vel", "velocity"},
    {"weld", "fixed"},
    {"world", "ground"},
};

static bool is_synonym(const char *word, const char *candidate)
{
    for (size_t k = 0; k < sizeof synonyms / sizeof synonyms[0]; k++)
        if (strcmp(word, synonyms[k][0]) == 0 && strcmp(candidate, synonyms[k][1]) == 0) return true;
    return false;
}

void sti_nearest_try(sti_Nearest *nearest, const char *candidate)
{
    /* A third of the letters may differ: "masss" finds "mass", "foo" finds nothing. */
    int limit = (int)words_least((int)strlen(nearest->word) / 3 + 1, 8);
    int distance = is_synonym(nearest->word, candidate) ? 0 : edit_distance(nearest->word, candidate);
    if (distance <= limit && (nearest->best == NULL || distance < nearest->distance)) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
    const size_t so_far = strlen(nearest->listed);
    const bool full = so_far > 3 && strcmp(nearest->listed + so_far - 3, "...") == 0;
    if (!full && so_far + strlen(candidate) + 8 < sizeof nearest->listed)
        sti_append(nearest->listed, sizeof nearest->listed, "%s%s", nearest->n > 0 ? ", " : "", candidate);
    else if (!full)
        sti_append(nearest->listed, sizeof nearest->listed, ", ...");
    nearest->n++;
}

void sti_nearest_text(const sti_Nearest *nearest, const char *known, char *out, size_t size)
{
    if (size > 0) out[0] = '\0';
    if (nearest->best != NULL) sti_append(out, size, "; did you mean \"%s\"?", nearest->best);
    if (nearest->n > 0) sti_append(out, size, "%s %s: %s", nearest->best != NULL ? "" : ";", known, nearest->listed);
}
