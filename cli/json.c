#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void put_document(Json *json, FILE *out)
{
    memset(json, 0, sizeof *json);
    json->out = out;
}

void visit_document(Json *json, JsonVisit visit, void *ctx)
{
    put_document(json, NULL);
    json->visit = visit, json->ctx = ctx;
}

/* Length of the UTF-8 sequence at s; 0 if it is none (overlong, surrogate, cut off, stray). */
static int utf8_length(const unsigned char *s)
{
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] < 0xf5) n = 4;
    for (int k = 1; k < n; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0;
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0;
    return n;
}

/* Quoted and escaped. File names are bytes: invalid UTF-8 becomes U+FFFD, so that the document stays JSON. */
static void write_text(FILE *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    fputc('"', out);
    while (*s != '\0') {
        static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
        const char *special = strchr(plain, *s);
        int length = utf8_length(s);
        if (special != NULL)
            fprintf(out, "\\%c", letter[special - plain]);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)*s);
        else if (length == 0)
            fputs("\xef\xbf\xbd", out);
        else
            fwrite(s, 1, (size_t)length, out);
        s += length > 0 ? length : 1;
    }
    fputc('"', out);
}

/* Sets the path of the next member. */
static void note_path(Json *json, const char *key)
{
    const int depth = json->depth;
    size_t at = depth > 0 ? json->length[depth - 1] : 0;
    if (at >= JSON_PATH) at = JSON_PATH - 1;
    const char *slash = at > 0 ? "/" : "";
    if (depth == 0)
        json->path[0] = '\0'; /* the document itself */
    else if (key != NULL)
        snprintf(json->path + at, JSON_PATH - at, "%s%s", slash, key);
    else
        snprintf(json->path + at, JSON_PATH - at, "%s%d", slash, json->count[depth]);
    json->length[depth] = strlen(json->path);
}

/* Writes everything before a value: comma, line break, indent and key. */
static void lead(Json *json, const char *key)
{
    const int depth = json->depth;
    const bool first = json->count[depth] == 0;
    if (json->visit != NULL) note_path(json, key);
    json->count[depth]++;
    if (json->out == NULL) return;
    if (!first) fputc(',', json->out);
    if (depth > 0) {
        if (!json->flat[depth])
            fprintf(json->out, "\n%*s", 2 * depth, "");
        else if (!first)
            fputc(' ', json->out);
    }
    if (key != NULL) {
        write_text(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_level(Json *json, const char *key, char bracket, bool flat)
{
    lead(json, key);
    if (json->out != NULL) fputc(bracket, json->out);
    if (json->depth < JSON_DEEPEST - 1) json->depth++;
    json->count[json->depth] = 0;
    json->flat[json->depth] = flat;
}

static void close_level(Json *json, char bracket)
{
    bool line_break = json->count[json->depth] > 0 && !json->flat[json->depth];
    if (json->depth > 0) json->depth--;
    if (json->out == NULL) return;
    if (line_break) fprintf(json->out, "\n%*s", 2 * json->depth, "");
    fputc(bracket, json->out);
}

void put_open_object(Json *json, const char *key)
{
    open_level(json, key, '{', json->flat[json->depth]);
}

void put_open_flat_object(Json *json, const char *key)
{
    open_level(json, key, '{', true);
}

void put_open_array(Json *json, const char *key)
{
    open_level(json, key, '[', json->flat[json->depth]);
}

void put_close_object(Json *json)
{
    close_level(json, '}');
}

void put_close_array(Json *json)
{
    close_level(json, ']');
}

void put_document_end(Json *json)
{
    if (json->out != NULL) fputc('\n', json->out);
}

void put_text(Json *json, const char *key, const char *text)
{
    lead(json, key);
    if (json->out == NULL) return;
    if (text != NULL)
        write_text(json->out, text);
    else
        fputs("null", json->out);
}

const char *number_text(double value, char out[NUMBER_TEXT])
{
    snprintf(out, NUMBER_TEXT, "null");
    /* 17 digits always give the same bits; most numbers that people type need fewer. */
    for (int digits = 15; digits <= 17 && isfinite(value); digits++) {
        snprintf(out, NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break;
    }
    return out;
}

/* `text` is its form in the document. */
static void put_value(Json *json, const char *key, double value, const char *text)
{
    lead(json, key);
    if (json->visit != NULL) json->visit(json->ctx, json->path, value);
    if (json->out != NULL) fputs(text, json->out);
}

void put_number(Json *json, const char *key, double value)
{
    char text[NUMBER_TEXT];
    put_value(json, key, value, number_text(value, text));
}

void put_integer(Json *json, const char *key, long long value)
{
    char text[NUMBER_TEXT];
    snprintf(text, sizeof text, "%lld", value);
    put_value(json, key, (double)value, text);
}

void put_boolean(Json *json, const char *key, bool value)
{
    put_value(json, key, value, value ? "true" : "false");
}

void put_numbers(Json *json, const char *key, const double *values, int count)
{
    open_level(json, key, '[', true);
    for (int i = 0; i < count; i++)
        put_number(json, NULL, values[i]);
    put_close_array(json);
}
