/* base/utf8.h -- what is text and what is not. */
#ifndef STI_UTF8_H
#define STI_UTF8_H

/* Bytes of the UTF-8 character at s, which ends in 0; 0: there is none (overlong, surrogate, cut off, stray). */
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

#endif
