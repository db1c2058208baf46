/* Finds a text member of the outermost object of a JSON file. This is a scanner, not a
 * reader: it knows strings and nesting, no more. A file it cannot make sense of has no such
 * member, and the scene reader says why when the scene is run. The description of a robot, an XML
 * file, is its first comment.
 */
#include "describe.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 2048  /* bytes of a member that are kept */
#define LARGEST 65536 /* bytes looked at: name and description stand near the top */

/* Copy the string whose opening quote is at `text` to `out`; returns what follows its closing quote,
 * or NULL where it does not close. Escapes of control characters become spaces.                    */
static const char *read_string(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (text++; *text != '"'; text++) {
        char c = *text;
        if (c == '\0') return NULL;
        if (c == '\\') {
            c = *++text;
            if (c == '\0') return NULL;
            if (c == 'u') c = '?';
            if (strchr("bfnrt", c) != NULL) c = ' ';
        }
        if (n + 1 < size) out[n++] = c;
    }
    out[n] = '\0';
    return text + 1;
}

static const char *skip_space(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* The text of member `key` of the outermost object, or of any object where `anywhere`, the first after `skip` others;
 * in out (size bytes), "" if there is none.                                                          */
static void find_member(const char *text, const char *key, bool anywhere, int skip, char *out, size_t size)
{
    int depth = 0;
    out[0] = '\0';
    while (*text != '\0') {
        if (*text == '"') {
            bool wanted = depth == 1 || anywhere;
            text = read_string(text, out, size);
            if (text == NULL) break;
            text = skip_space(text);
            wanted = wanted && *text == ':' && strcmp(out, key) == 0;
            if (!wanted) continue;
            text = skip_space(text + 1);
            if (*text == '"' && read_string(text, out, size) != NULL && skip-- == 0) return;
        } else {
            depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
            text++;
        }
    }
    out[0] = '\0';
}

/* The first comment, its white space made single spaces; "" if there is none. */
static void find_comment(const char *text, char *out, size_t size)
{
    const char *start = strstr(text, "<!--"), *end = start != NULL ? strstr(start, "-->") : NULL;
    size_t n = 0;
    for (const char *c = end != NULL ? start + 4 : ""; *c != '\0' && c < end && n + 1 < size; c++) {
        bool space = strchr(" \t\r\n", *c) != NULL;
        if (!space)
            out[n++] = *c;
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

static char *look_into(const char *path, const char *key, bool anywhere, int skip)
{
    char *text = malloc(LARGEST), *out = calloc(1, LONGEST);
    if (text == NULL || out == NULL) {
        free(text);
        free(out);
        return NULL;
    }
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        size_t length = fread(text, 1, LARGEST - 1, file);
        text[length] = '\0';
        if (*skip_space(text) != '<')
            find_member(text, key, anywhere, skip, out, LONGEST);
        else if (strcmp(key, "description") == 0)
            find_comment(text, out, LONGEST);
        fclose(file);
    }
    free(text);
    return out;
}

char *scene_member(const char *path, const char *key)
{
    return look_into(path, key, false, 0);
}

char *scene_file(const char *path, int index)
{
    return look_into(path, "file", true, index);
}
