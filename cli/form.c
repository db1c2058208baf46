/* Reads fields of "a=1&b=2": queries, posts of the page. */
#include "serve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool form_value(const char *form, size_t length, const char *key, char *out, size_t size)
{
    size_t n = strlen(key);
    for (size_t at = 0; at < length;) {
        const char *next = memchr(form + at, '&', length - at);
        size_t end = next != NULL ? (size_t)(next - form) : length;
        if (end - at > n && memcmp(form + at, key, n) == 0 && form[at + n] == '=') {
            snprintf(out, size, "%.*s", (int)(end - at - n - 1), form + at + n + 1);
            return true;
        }
        at = end + 1;
    }
    return false;
}

bool form_number(const char *form, size_t length, const char *key, double *out)
{
    char text[64], *end = NULL;
    if (!form_value(form, length, key, text, sizeof text)) return false;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(value)) return false;
    *out = value;
    return true;
}
