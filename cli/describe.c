/* Finds a text member of the outermost object of a JSON file. This is a scanner, not a reader: it handles only
 * strings and nesting. A broken file has no such member; the scene reader reports the error when the scene is run.
 * The description of a robot, an XML file, is its first comment.
 */
#include "describe.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 2048  /* most bytes of a member */
#define LARGEST 65536 /* bytes read: name and description are near the top */

/* Four hexadecimal digits, or -1. */
static long hex4(const char *text)
{
    char digits[5] = "";
    if (strspn(text, "0123456789abcdefABCDEF") < 4) return -1;
    memcpy(digits, text, 4);
    return strtol(digits, NULL, 16);
}

/* The character of the escape with its `u` at *text, in UTF-8; *text moves to its last character. Single surrogates
 * become U+FFFD, control characters become spaces. */
static int read_escape(const char **text, char out[4])
{
    long c = hex4(*text + 1), low;
    if (c < 0) {
        out[0] = '?'; /* the scene reader reports the error */
        return 1;
    }
    *text += 4;
    if (c >= 0xd800 && c < 0xdc00 && (*text)[1] == '\\' && (*text)[2] == 'u' && (low = hex4(*text + 3)) >= 0xdc00 &&
        low < 0xe000) {
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        *text += 6;
    }
    if (c < 0x20) c = ' ';
    if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
    const int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | (c >> 6 * more));
    for (int k = 1; k <= more; k++)
        out[k] = (char)(0x80 | (c >> 6 * (more - k) & 0x3f));
    return more + 1;
}

/* Copies the string with its opening quote at `text` to `out`; returns the position after its closing quote, or NULL
 * if there is none. Escapes of control characters become spaces. */
static const char *read_string(const char *text, char *out, size_t size)
{
    size_t n = 0;
    for (text++; *text != '"'; text++) {
        char c[4] = {*text};
        size_t length = 1;
        if (c[0] == '\0') return NULL;
        if (c[0] == '\\') {
            c[0] = *++text;
            if (c[0] == '\0') return NULL;
            if (strchr("bfnrt", c[0]) != NULL)
                c[0] = ' ';
            else if (c[0] == 'u')
                length = (size_t)read_escape(&text, c);
        }
        if (n + length >= size) { /* full: do not cut a character */
            while (n > 0 && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
                n--;
            if (n > 0 && (unsigned char)out[n - 1] >= 0xc0) n--;
            size = 0;
        }
        if (n + length < size) {
            memcpy(out + n, c, length);
            n += length;
        }
    }
    out[n] = '\0';
    return text + 1;
}

static const char *skip_space(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* Finds the text of member `key` of the outermost object, or of any object if `anywhere`, after skipping `skip`
 * others; in out (size bytes), "" if there is none. */
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

/* The first comment, with single spaces; "" if there is none. */
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

static char *look_into(const char *text, const char *key, bool anywhere, int skip)
{
    char *out = calloc(1, LONGEST);
    if (out == NULL) return NULL;
    if (*skip_space(text) != '<')
        find_member(text, key, anywhere, skip, out, LONGEST);
    else if (strcmp(key, "description") == 0)
        find_comment(text, out, LONGEST);
    return out;
}

static char *look_into_file(const char *path, const char *key, bool anywhere, int skip)
{
    char *text = calloc(1, LARGEST);
    if (text == NULL) return NULL;
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        text[fread(text, 1, LARGEST - 1, file)] = '\0';
        fclose(file);
    }
    char *out = look_into(text, key, anywhere, skip);
    free(text);
    return out;
}

char *scene_member(const char *path, const char *key)
{
    return look_into_file(path, key, false, 0);
}

char *scene_text_member(const char *text, const char *key)
{
    return look_into(text, key, false, 0);
}

char *scene_file(const char *path, int index)
{
    return look_into_file(path, "file", true, index);
}
