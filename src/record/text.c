#include "record/text.h"

#include <string.h>

const char *sti_number(char out[STI_NUMBER_SIZE], double value, int digits)
{
    snprintf(out, STI_NUMBER_SIZE, "%.*g", digits, value);
    /* The program that embeds us may have set a locale with a decimal comma. */
    char *comma = strchr(out, ',');
    if (comma != NULL) *comma = '.';
    return out;
}

/* Bytes of the character at s that XML 1.0 may hold, 0 when it may not. */
static int xml_length(const unsigned char *s)
{
    int n = 0;
    if (s[0] < 0x80) return s[0] >= 0x20 || s[0] == '\t' || s[0] == '\n' ? 1 : 0;
    if (s[0] >= 0xc2 && s[0] < 0xe0) n = 2;
    if (s[0] >= 0xe0 && s[0] < 0xf0) n = 3;
    if (s[0] >= 0xf0 && s[0] < 0xf5) n = 4;
    for (int k = 1; k < n; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0; /* overlong, surrogate */
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0; /* overlong, too large */
    if (s[0] == 0xef && s[1] == 0xbf && s[2] >= 0xbe) return 0;                    /* U+FFFE, U+FFFF      */
    return n;
}

void sti_write_xml(FILE *file, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    while (*s != '\0') {
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
