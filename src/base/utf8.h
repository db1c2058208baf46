/* base/utf8.h -- checks of UTF-8 text. */
#ifndef STI_UTF8_H
#define STI_UTF8_H

#include <stddef.h>
#include <string.h>

/* Bytes of the UTF-8 character at s, which ends in 0; 0: not a character (overlong, surrogate, cut off, stray). */
static inline int sti_utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] < 0xf5) n = 4;
    for (int k = 1; k < n; k++)
        if ((s[k] & 0xc0) != 0x80) return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0)) return 0; /* overlong, surrogate */
    if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)) return 0; /* overlong, too large */
    return n;
}

/* Copies as many whole characters of `text` as fit into `size` bytes; an invalid byte becomes "?". */
static inline void sti_utf8_copy(char *out, size_t size, const char *text)
{
    size_t used = 0;
    while (*text != '\0') {
        const size_t length = (size_t)sti_utf8_length(text), n = length > 0 ? length : 1;
        if (used + n >= size) break;
        if (length > 0)
            memcpy(out + used, text, n);
        else
            out[used] = '?';
        used += n, text += n;
    }
    if (size > 0) out[used] = '\0';
}

/* Removes an incomplete character at the end of a text that was cut. */
static inline void sti_utf8_trim(char *text)
{
    const size_t length = strlen(text);
    for (size_t k = 1; k <= 3 && k <= length; k++) {
        const unsigned char c = (unsigned char)text[length - k];
        if (c >= 0xc0 && sti_utf8_length(text + length - k) != (int)k) text[length - k] = '\0';
        if (c >= 0xc0 || c < 0x80) return;
    }
}

#endif
