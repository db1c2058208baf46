/* cli/json.h -- writing one JSON document: objects and arrays nest, commas and indents follow.
 *
 * Not json_...: those names belong to jansson, which the program carries inside its library.
 */
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

void put_document(Json *json, FILE *out);
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
void put_numbers(Json *json, const char *key, const double *values, int count);

#endif
