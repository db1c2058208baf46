#include "base/number.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS "0123456789"

void sti_number_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    const size_t length = strlen(point);
    for (char *at = text; length > 0 && (at = strstr(at, point)) != NULL; at++) {
        *at = '.';
        memmove(at + 1, at + length, strlen(at + length) + 1);
    }
}

const char *sti_number(char out[STI_NUMBER_SIZE], double value, int digits)
{
    snprintf(out, STI_NUMBER_SIZE, "%.*g", digits, value);
    sti_number_point(out);
    return out;
}

const char *sti_number_text(char out[STI_NUMBER_SIZE], double value)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, STI_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(out, NULL) == value) break; /* both functions use the same locale */
    }
    sti_number_point(out);
    return out;
}

/* Bytes of the number at `text`; 0: there is none. *whole: how many of them come before its point. */
static size_t number_length(const char *text, size_t *whole)
{
    const size_t sign = *text == '+' || *text == '-' ? 1 : 0;
    size_t n = sign + strspn(text + sign, DIGITS), digits = n - sign;
    *whole = n;
    if (text[n] == '.') {
        const size_t fraction = strspn(text + n + 1, DIGITS);
        digits += fraction;
        n += 1 + fraction;
    }
    if (digits == 0) {
        static const char *const words[] = {"infinity", "inf", "nan"};
        for (int k = 0; k < 3; k++)
            if (strncasecmp(text + sign, words[k], strlen(words[k])) == 0) return sign + strlen(words[k]);
        return 0;
    }
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t mark = text[n + 1] == '+' || text[n + 1] == '-' ? 2 : 1, power = strspn(text + n + mark, DIGITS);
        if (power > 0) n += mark + power;
    }
    return n;
}

double sti_number_read(const char *text, const char **end)
{
    char small[64];
    size_t whole = 0;
    const char *at = text + strspn(text, " \t\n\v\f\r"), *point = localeconv()->decimal_point;
    const size_t n = number_length(at, &whole);
    const bool has_point = n > whole && at[whole] == '.';
    *end = n > 0 ? at + n : text;
    if (n == 0) return 0;
    /* strtod() also reads hexadecimal numbers and, in some locales, commas: it gets only these bytes. */
    const size_t room = n + strlen(point) + 1;
    char *copy = room <= sizeof small ? small : malloc(room);
    if (copy == NULL) { /* a number of megabytes without memory for it counts as none */
        *end = text;
        return 0;
    }
    const size_t rest = has_point ? whole + 1 : whole;
    snprintf(copy, room, "%.*s%s%.*s", (int)whole, at, has_point ? point : "", (int)(n - rest), at + rest);
    const double value = strtod(copy, NULL);
    if (copy != small) free(copy);
    return value;
}
