#include "scene/locate.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A cursor over the text. `at` never passes `end`, for any text. */
typedef struct Cursor {
    const char *at, *end;
} Cursor;

static void skip_space(Cursor *c)
{
    while (c->at < c->end && strchr(" \t\r\n", *c->at) != NULL && *c->at != '\0')
        c->at++;
}

static bool locate_take(Cursor *c, char wanted)
{
    skip_space(c);
    if (c->at >= c->end || *c->at != wanted) return false;
    c->at++;
    return true;
}

/* Skips a string; the cursor is at its opening quote. An escaped quote does not close it. */
static void skip_string(Cursor *c)
{
    for (c->at++; c->at < c->end && *c->at != '"'; c->at++)
        if (*c->at == '\\' && c->at + 1 < c->end) c->at++;
    if (c->at < c->end) c->at++;
}

/* Skips a value of any kind. Brackets are counted, so nesting needs no stack. */
static void skip_value(Cursor *c)
{
    int depth = 0;
    skip_space(c);
    while (c->at < c->end) {
        char ch = *c->at;
        if (ch == '"') {
            skip_string(c);
        } else if (ch == '{' || ch == '[') {
            depth++, c->at++;
        } else if (ch == '}' || ch == ']') {
            if (depth == 0) return; /* this bracket closes the parent */
            depth--, c->at++;
        } else if (ch == ',' && depth == 0) {
            return;
        } else {
            c->at++;
            continue; /* inside a number or a word, or between tokens */
        }
        if (depth == 0) return;
    }
}

/* Is the JSON string token [at, after) the key? If it has escapes, jansson decodes it. */
static bool same_key(const char *at, const char *after, const char *key)
{
    size_t length = (size_t)(after - at);
    if (length < 2) return false;
    if (memchr(at, '\\', length) == NULL) return strlen(key) == length - 2 && memcmp(at + 1, key, length - 2) == 0;
    json_t *decoded = json_loadb(at, length, JSON_DECODE_ANY, NULL);
    bool same = json_is_string(decoded) && strcmp(json_string_value(decoded), key) == 0;
    json_decref(decoded);
    return same;
}

/* Enters the object or list at the cursor and stops at the value of the part; *start is the beginning of the part
 * itself. Returns false if there is no such part. */
static bool locate_enter(Cursor *c, const sti_Place *part, const char **start)
{
    if (!locate_take(c, part->key != NULL ? '{' : '[')) return false;
    for (size_t i = 0; c->at < c->end; i++) {
        skip_space(c);
        if (c->at >= c->end || *c->at == '}' || *c->at == ']') return false;
        const char *begin = c->at;
        if (part->key != NULL) {
            if (*begin != '"') return false;
            skip_string(c);
            bool found = same_key(begin, c->at, part->key);
            if (!locate_take(c, ':')) return false;
            if (found) {
                *start = begin;
                return true;
            }
        } else if (i == part->index) {
            *start = begin;
            return true;
        }
        skip_value(c);
        if (!locate_take(c, ',')) return false;
    }
    return false;
}

static int locate_line_of(const char *text, const char *at)
{
    int line = 1;
    for (const char *newline; (newline = memchr(text, '\n', (size_t)(at - text))) != NULL; text = newline + 1)
        line++;
    return line;
}

int sti_locate(const char *text, size_t length, const sti_Place *place)
{
    const sti_Place *chain[STI_MAX_DEPTH];
    int depth = 0;
    for (const sti_Place *p = place; p != NULL && depth < STI_MAX_DEPTH; p = p->up)
        chain[depth++] = p;

    Cursor cursor = {text, text + length};
    skip_space(&cursor);
    const char *start = cursor.at < cursor.end ? cursor.at : text;
    while (depth > 0 && locate_enter(&cursor, chain[depth - 1], &start))
        depth--;
    return locate_line_of(text, start);
}

/* ---- the inverse: position to path ---- */

typedef struct Token {
    const char *at;
    size_t length; /* 0: none */
} Token;

typedef struct Frame {
    bool list;
    bool at_key;     /* object: the next string is a key */
    size_t index;    /* list: number of the current member */
    Token key, name; /* object: last key; value of "name" */
} Frame;

/* Skips a string. The text may end before its closing quote. */
static void read_string(Cursor *c, Frame *frame)
{
    const char *begin = c->at + 1;
    skip_string(c);
    size_t length = (size_t)(c->at - begin);
    if (length > 0 && begin[length - 1] == '"') length--;
    Token token = {begin, length};
    if (frame == NULL || frame->list) return;
    if (frame->at_key) {
        frame->key = token;
        frame->at_key = false;
    } else if (frame->key.length == 4 && memcmp(frame->key.at, "name", 4) == 0) {
        frame->name = token;
    }
}

static void locate_add_part(char *out, size_t size, const char *text, size_t length)
{
    size_t used = strlen(out);
    int width = length < 200 ? (int)length : 200; /* a broken file may have a "key" of megabytes */
    if (used < size) snprintf(out + used, size - used, "%s%.*s", used > 0 ? "/" : "", width, text);
}

void sti_path_at(const char *text, size_t length, size_t position, char *out, size_t size)
{
    Frame frames[STI_MAX_DEPTH];
    int depth = 0, hidden = 0; /* hidden: open brackets beyond the last frame */
    Cursor c = {text, text + (position < length ? position : length)};

    while (c.at < c.end) {
        Frame *top = depth > 0 && hidden == 0 ? &frames[depth - 1] : NULL;
        char ch = *c.at;
        if (ch == '"') {
            read_string(&c, top);
            continue;
        }
        c.at++;
        if (ch == '{' || ch == '[') {
            if (depth < STI_MAX_DEPTH && hidden == 0)
                frames[depth++] = (Frame){.list = ch == '[', .at_key = ch == '{'};
            else
                hidden++;
        } else if (ch == '}' || ch == ']') {
            if (hidden > 0)
                hidden--;
            else if (depth > 0)
                depth--;
        } else if (ch == ',' && top != NULL) {
            top->index++;
            top->at_key = !top->list;
        }
    }

    if (size == 0) return;
    out[0] = '\0';
    for (int i = 0; i < depth; i++) {
        const Frame *f = &frames[i];
        if (f->list) {
            const Frame *inside = i + 1 < depth ? &frames[i + 1] : NULL;
            char number[24];
            snprintf(number, sizeof number, "%zu", f->index);
            if (inside != NULL && inside->name.length > 0)
                locate_add_part(out, size, inside->name.at, inside->name.length);
            else
                locate_add_part(out, size, number, strlen(number));
        } else if (f->key.length > 0) {
            locate_add_part(out, size, f->key.at, f->key.length);
        }
    }
}

void sti_place_text(const sti_Place *place, char *out, size_t size)
{
    const sti_Place *chain[STI_MAX_DEPTH];
    int depth = 0;
    size_t used = 0;
    for (const sti_Place *p = place; p != NULL && depth < STI_MAX_DEPTH; p = p->up)
        chain[depth++] = p;
    if (size > 0) out[0] = '\0';
    for (; depth > 0 && used < size; depth--) {
        const sti_Place *p = chain[depth - 1];
        const char *slash = used > 0 ? "/" : "";
        int n = p->key != NULL ? snprintf(out + used, size - used, "%s%s", slash, p->key)
                               : snprintf(out + used, size - used, "%s%zu", slash, p->index);
        used += n > 0 ? (size_t)n : 0;
    }
}
