#include "record/text.h"

#include "base/utf8.h"

#include <string.h>

/* Bytes of the character at s if XML 1.0 allows it, else 0. */
static int xml_length(const char *s)
{
    const unsigned char c = (unsigned char)s[0];
    if (c < 0x80) return c >= 0x20 || c == '\t' || c == '\n' ? 1 : 0;
    if (strncmp(s, "\xef\xbf\xbe", 3) == 0 || strncmp(s, "\xef\xbf\xbf", 3) == 0) return 0; /* U+FFFE, U+FFFF */
    return sti_utf8_length(s);
}

void sti_write_xml(FILE *file, const char *text)
{
    for (const char *s = text; *s != '\0';) {
        int length = xml_length(s);
        if (*s == '<')
            fputs("&lt;", file);
        else if (*s == '>')
            fputs("&gt;", file);
        else if (*s == '&')
            fputs("&amp;", file);
        else if (*s == '"')
            fputs("&quot;", file);
        else if (length == 0)
            fputs("\xef\xbf\xbd", file);
        else
            fwrite(s, 1, (size_t)length, file);
        s += length > 0 ? length : 1;
    }
}

void sti_write_base64(FILE *file, const unsigned char *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[4096] = "";
    size_t n = 0;
    for (size_t k = 0; k < size; k += 3) {
        unsigned a = bytes[k], b = k + 1 < size ? bytes[k + 1] : 0, c = k + 2 < size ? bytes[k + 2] : 0;
        out[n++] = digit[a >> 2];
        out[n++] = digit[(a & 3) << 4 | b >> 4];
        out[n++] = k + 1 < size ? digit[(b & 15) << 2 | c >> 6] : '=';
        out[n++] = k + 2 < size ? digit[c & 63] : '=';
        if (n == sizeof out) {
            fwrite(out, 1, n, file);
            n = 0;
        }
    }
    fwrite(out, 1, n, file);
}

/* Writes `text`, then "." and `more` if `more` is given, in quotes. */
static void write_quoted(FILE *file, const char *text, const char *more)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted) fputc('"', file);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"') fputc('"', file);
        fputc(*c, file);
    }
    if (more != NULL) fprintf(file, ".%s", more);
    if (quoted) fputc('"', file);
}

void sti_write_field(FILE *file, const char *text)
{
    write_quoted(file, text, NULL);
}

void sti_write_title(FILE *file, const char *name, const char *column)
{
    fputc(',', file);
    write_quoted(file, name, column);
}

void sti_write_numbers(FILE *file, const double *values, int64_t count)
{
    char text[STI_NUMBER_SIZE];
    for (int64_t k = 0; k < count; k++) {
        fputc(',', file);
        fputs(sti_number(text, values[k], 17), file);
    }
}
