/* cli/json.h -- writing one JSON document: objects and arrays nest, commas and indents follow. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

#define JSON_DEEPEST 16

typedef struct Json {
    FILE *out;
    int depth;
    bool flat[JSON_DEEPEST];  /* members on one line                   */
    bool empty[JSON_DEEPEST]; /* nothing written at this depth so far  */
} Json;

void json_begin(Json *json, FILE *out);
void json_end(Json *json); /* ends the line */

/* `key` is NULL inside arrays. */
void json_open_object(Json *json, const char *key);
void json_open_array(Json *json, const char *key);
void json_open_flat_object(Json *json, const char *key); /* on one line */
void json_close_object(Json *json);
void json_close_array(Json *json);

void json_text(Json *json, const char *key, const char *text); /* NULL: null */
void json_number(Json *json, const char *key, double value);   /* exact, up to 17 digits; not finite: null */
void json_integer(Json *json, const char *key, long long value);
void json_boolean(Json *json, const char *key, bool value);
void json_numbers(Json *json, const char *key, const double *values, int count);

#endif
