/* base/number.h -- numbers in files: a point in them, whatever locale the program that embeds us has set. */
#ifndef STI_NUMBER_H
#define STI_NUMBER_H

#define STI_NUMBER_SIZE 40 /* any double with 17 digits, and its end */

/* `value` with so many significant digits; and with as few as give it back to the last bit. Return `out`. */
const char *sti_number(char out[STI_NUMBER_SIZE], double value, int digits);
const char *sti_number_text(char out[STI_NUMBER_SIZE], double value);
/* In what printf made of one number: the locale's point made a point. */
void sti_number_point(char *text);

/* As strtod() in the "C" locale reads decimal numbers: blanks, then [+-] digits [. digits] [e [+-] digits], or inf,
 * infinity, nan; *end is behind it, or `text` where there is none. No hexadecimal.                    */
double sti_number_read(const char *text, const char **end);

#endif
