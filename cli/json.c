#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void put_document(Json *json, FILE *out)
{
    memset(json, 0, sizeof *json);
    json->out = out;
    json->empty[0] = true;
}

/* Length of the UTF-8 sequence at s, 0 when it is not one (overlong, surrogate, cut off, stray). */
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

/* Quoted and escaped. File names are bytes: what is not UTF-8 becomes U+FFFD, the document stays JSON. */
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

/* Comma, line break, indent and key: all that stands before a value. */
static void lead(Json *json, const char *key)
{
    int depth = json->depth;
    if (!json->empty[depth]) fputc(',', json->out);
    if (depth > 0) {
        if (!json->flat[depth])
            fprintf(json->out, "\n%*s", 2 * depth, "");
        else if (!json->empty[depth])
            fputc(' ', json->out);
    }
    json->empty[depth] = false;
    if (key != NULL) {
        write_text(json->out, key);
        fputs(": ", json->out);
    }
}

static void open_level(Json *json, const char *key, char bracket, bool flat)
{
    lead(json, key);
    fputc(bracket, json->out);
    if (json->depth < JSON_DEEPEST - 1) json->depth++;
    json->empty[json->depth] = true;
    json->flat[json->depth] = flat;
}

static void close_level(Json *json, char bracket)
{
    bool line_break = !json->empty[json->depth] && !json->flat[json->depth];
    if (json->depth > 0) json->depth--;
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
    fputc('\n', json->out);
}

void put_text(Json *json, const char *key, const char *text)
{
    lead(json, key);
    if (text != NULL)
        write_text(json->out, text);
    else
        fputs("null", json->out);
}

void put_number(Json *json, const char *key, double value)
{
    char text[40] = "null";
    lead(json, key);
    /* 17 digits always give the same bits back; most numbers people type need fewer. */
    for (int digits = 15; digits <= 17 && isfinite(value); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    fputs(text, json->out);
}

void put_integer(Json *json, const char *key, long long value)
{
    lead(json, key);
    fprintf(json->out, "%lld", value);
}

void put_boolean(Json *json, const char *key, bool value)
{
    lead(json, key);
    fputs(value ? "true" : "false", json->out);
}

void put_numbers(Json *json, const char *key, const double *values, int count)
{
    open_level(json, key, '[', true);
    for (int i = 0; i < count; i++)
        put_number(json, NULL, values[i]);
    put_close_array(json);
}
