/* base/number.h -- numbers in files, with a decimal point in every locale. */
#ifndef STI_NUMBER_H
#define STI_NUMBER_H

#define STI_NUMBER_SIZE 40 /* any double with 17 digits and a terminating 0 */

/* Writes `value` with so many significant digits; and with as few as read back to the same bits. Both return `out`. */
const char *sti_number(char out[STI_NUMBER_SIZE], double value, int digits);
const char *sti_number_text(char out[STI_NUMBER_SIZE], double value);
/* Replaces the decimal sign of the locale by a point. The text may have several numbers. */
void sti_number_point(char *text);

/* Reads a decimal number as strtod() does in the "C" locale: blanks, then [+-] digits [. digits] [e [+-] digits], or
 * inf, infinity, nan. *end is after it, or `text` if there is none. Hexadecimal numbers are not read. */
double sti_number_read(const char *text, const char **end);

#endif
