/* scene/report.c -- fails with file and line, or with the --set that caused the error. */
#include "scene/reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

/* A path can be longer than a message: only its end is shown. */
#define LABEL_MAX 160

/* The last override that set the value at `place`: its path is that of the place or leads to it. */
static const sti_Set *set_of_place(const sti_Reader *reader, const sti_Place *place)
{
    char path[1024];
    sti_place_text(place, path, sizeof path);
    for (int k = reader->n_sets - 1; k >= 0; k--) {
        size_t n = strlen(reader->sets[k].path);
        if (strncmp(path, reader->sets[k].path, n) == 0 && (path[n] == '\0' || path[n] == '/')) return &reader->sets[k];
    }
    return NULL;
}

int sti_place_line(const sti_Reader *reader, const sti_Place *place, const char **label)
{
    /* The XML element of the part at `place`, or of the nearest part around it; NULL: none. */
    const sti_Place *chain[STI_MAX_DEPTH];
    const json_t *part = reader->root;
    const sti_Element *found = NULL;
    int depth = 0;
    for (const sti_Place *p = place; p != NULL && depth < STI_MAX_DEPTH; p = p->up)
        chain[depth++] = p;
    while (part != NULL) {
        for (size_t k = 0; k < reader->n_origins; k++)
            if (reader->origins[k].made == part) found = reader->origins[k].from;
        if (depth == 0) break;
        const sti_Place *p = chain[--depth];
        part = p->key != NULL ? json_object_get(part, p->key) : json_array_get(part, p->index);
    }
    const sti_Element *from = found;

    *label = from != NULL ? from->file : reader->label;
    if (from != NULL) return from->line;
    return reader->xml ? 1 : sti_locate(reader->text, reader->length, place);
}

/* Makes the message a single line, whatever keys and names contain; appends "..." if it was cut. */
static void tidy(char *message, size_t size, bool cut)
{
    for (char *c = message; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c)) *c = '?';
    if (!cut || size < 8) return;
    size_t n = size - 4;
    while (n > 0 && ((unsigned char)message[n] & 0xc0) == 0x80) /* do not cut inside a UTF-8 character */
        n--;
    memcpy(message + n, "...", 4);
}

/* "LABEL: --set SET: message", or "LABEL:LINE: message", or "LABEL: message" if line is 0. */
static st_Status report(const sti_Reader *reader, const char *label, const char *set, int line, st_Status status,
                        const char *format, va_list args)
{
    st_Error *err = reader->err;
    size_t length = strlen(label), size = sizeof err->message;
    const char *dots = length > LABEL_MAX ? "..." : "";
    if (length > LABEL_MAX) label += length - LABEL_MAX;

    char *message = err->message;
    message[0] = '\0';
    sti_append(message, size, "%s%s:", dots, label);
    if (set != NULL)
        sti_append(message, size, " --set %.120s:", set);
    else if (line > 0)
        sti_append(message, size, "%d:", line);
    sti_append(message, size, " ");
    size_t used = strlen(message);
    int more = vsnprintf(message + used, size - used, format, args);
    tidy(message, size, more >= 0 && used + (size_t)more >= size);
    err->status = status;
    err->line = set == NULL ? line : 0;
    /* An override that is wrong at many places is listed once. */
    sti_ErrorList *list = reader->errors;
    const bool again = set != NULL && list != NULL && list->set == set;
    if (list != NULL && !again && list->count++ < list->room) list->item[list->count - 1] = *err;
    if (list != NULL) list->set = set;
    return status;
}

st_Status sti_report(const sti_Reader *reader, const sti_Place *place, st_Status status, const char *format, ...)
{
    if (reader->err == NULL) return status;
    const sti_Set *set = set_of_place(reader, place);
    sti_ErrorList *list = reader->errors;
    if (set == NULL && list != NULL && list->count > 0 && list->count >= list->room) {
        list->count++; /* finding the line reads the text from its start: too slow for 100,000 errors */
        list->set = NULL;
        return status;
    }
    const char *label = reader->label;
    int line = set != NULL ? 0 : sti_place_line(reader, place, &label);
    va_list args;
    va_start(args, format);
    report(reader, label, set != NULL ? set->text : NULL, line, status, format, args);
    va_end(args);
    return status;
}

st_Status sti_report_line(const sti_Reader *reader, int line, st_Status status, const char *format, ...)
{
    if (reader->err == NULL) return status;
    va_list args;
    va_start(args, format);
    report(reader, reader->label, NULL, line, status, format, args);
    va_end(args);
    return status;
}

st_Status sti_report_set(const sti_Reader *reader, const char *set, const char *format, ...)
{
    if (reader->err == NULL) return ST_ERR_ARGUMENT;
    va_list args;
    va_start(args, format);
    report(reader, reader->label, set, 0, ST_ERR_ARGUMENT, format, args);
    va_end(args);
    return ST_ERR_ARGUMENT;
}

st_Status sti_wrong(const sti_Object *object, const sti_Place *place, const char *what, const json_t *found,
                    const char *expected)
{
    char text[80];
    sti_found_text(found, text, sizeof text);
    return sti_report(object->reader, place, ST_ERR_FORMAT, "%s: %s is %s, must be %s", object->subject, what, text,
                      expected);
}

/* The position of `word` in `text` as a whole word; NULL: none. */
static const char *find_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = !(isalnum((unsigned char)at[n]) || at[n] == '_');
        if (starts && ends) return at;
    }
    return NULL;
}

/* The key of the object that a message of the core is about; NULL: none. A key that an override set is preferred,
 * else the first one in the message. */
static const char *blamed_key(const sti_Object *object, const char *message)
{
    const char *first = NULL, *blamed = NULL;
    for (int k = 0; k < object->kind->n_keys; k++) {
        const char *key = object->kind->keys[k].key;
        const char *at = sti_object_has(object, key) ? find_word(message, key) : NULL;
        if (at == NULL) continue;
        if (set_of_place(object->reader, &(sti_Place){object->place, key, 0}) != NULL) return key;
        if (first == NULL || at < first) {
            first = at;
            blamed = key;
        }
    }
    return blamed;
}

/* The line of an earlier member of the same top-level list with the same name, in file `label`; 0: there is none. */
static int line_of_namesake(const sti_Object *object, const char **label)
{
    const sti_Place *place = object->place;
    const char *name = json_string_value(json_object_get(object->json, "name"));
    if (name == NULL || place == NULL || place->up == NULL || place->up->up != NULL) return 0;
    const json_t *list = json_object_get(object->reader->root, place->up->key);
    for (size_t i = 0; i < place->index; i++) {
        const char *other = json_string_value(json_object_get(json_array_get(list, i), "name"));
        if (other != NULL && strcmp(other, name) == 0)
            return sti_place_line(object->reader, &(sti_Place){place->up, NULL, i}, label);
    }
    return 0;
}

st_Status sti_complete(const sti_Object *object, st_Status status)
{
    const st_Error *err = object->reader->err;
    if (status == ST_OK || status == ST_ERR_MEMORY) return status;
    if (err == NULL) return ST_ERR_FORMAT; /* the same status as with a message */

    sti_Place name_place = {object->place, "name", 0};
    const char *here = NULL, *first = NULL;
    int line = line_of_namesake(object, &first);
    if (line > 0) {
        sti_place_line(object->reader, &name_place, &here);
        bool elsewhere = strcmp(here, first) != 0;
        return sti_report(object->reader, &name_place, ST_ERR_FORMAT,
                          "%s: its name is used twice, first at line %d%s%s; names of one kind must differ",
                          object->subject, line, elsewhere ? " of " : "", elsewhere ? first : "");
    }

    /* The core's message also starts with the object's name. It is replaced by ours, which covers unnamed objects,
     * too. */
    char message[sizeof err->message];
    memcpy(message, err->message, sizeof message);
    const char *rest = message, *after = strstr(message, "\": ");
    size_t word = strlen(object->kind->word);
    if (strncmp(message, object->kind->word, word) == 0 && message[word] == ' ' && after != NULL) rest = after + 3;
    const char *key = blamed_key(object, rest);
    sti_Place key_place = {object->place, key, 0};
    return sti_report(object->reader, key != NULL ? &key_place : object->place, ST_ERR_FORMAT, "%s: %s",
                      object->subject, rest);
}
