/* cli/json.h -- writes one JSON document: objects and arrays nest, commas and indents are added.
 *
 * Names are not json_..., which are those of jansson, a part of the library.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

#define JSON_DEEPEST 16

/* Called for each number and boolean of a document with its path, "energy/end/total" or "bodies/ball/position/2". */
typedef void (*JsonVisit)(void *ctx, const char *path, double value);
#define JSON_PATH 512 /* longer paths are cut */

typedef struct Json {
    FILE *out; /* NULL: the document is visited, not written */
    int depth;
    bool flat[JSON_DEEPEST]; /* members on one line               */
    int count[JSON_DEEPEST]; /* members at this depth so far      */
    JsonVisit visit;
    void *ctx;
    char path[JSON_PATH];        /* path of the last member, if there is a visit */
    size_t length[JSON_DEEPEST]; /* length of the path at each depth */
} Json;

void put_document(Json *json, FILE *out);
/* A document that is not written: its numbers are passed to `visit`. */
void visit_document(Json *json, JsonVisit visit, void *ctx);
void put_document_end(Json *json); /* ends the line */

/* `key` is NULL inside arrays. */
void put_open_object(Json *json, const char *key);
void put_open_array(Json *json, const char *key);
void put_open_flat_object(Json *json, const char *key); /* on one line */
void put_close_object(Json *json);
void put_close_array(Json *json);

void put_text(Json *json, const char *key, const char *text); /* NULL: null */
void put_number(Json *json, const char *key, double value);   /* exact, up to 17 digits; not finite: null */
void put_integer(Json *json, const char *key, long long value);
void put_boolean(Json *json, const char *key, bool value);
/* The shortest text that gives the same bits; "null" if it is not finite. */
#define NUMBER_TEXT 40
const char *number_text(double value, char out[NUMBER_TEXT]);
void put_numbers(Json *json, const char *key, const double *values, int count);

#endif
