/* record/text.h -- files made of text: numbers that do not depend on the locale, and what formats can hold. */
#ifndef STI_RECORD_TEXT_H
#define STI_RECORD_TEXT_H

#include "base/base.h"

#include <stdio.h>

#define STI_NUMBER_SIZE 40 /* any double with 17 digits, and its end */

/* `value` with so many significant digits and a point, whatever the locale; returns `out`. */
const char *sti_number(char out[STI_NUMBER_SIZE], double value, int digits);

/* Text for XML: markup escaped; what XML cannot hold (control characters, broken UTF-8) as U+FFFD. */
void sti_write_xml(FILE *file, const char *text);
void sti_write_base64(FILE *file, const unsigned char *bytes, size_t size);

/* Tables of csv.c and export_csv.c. ",NAME.column", quoted as RFC 4180 says where the name holds a comma, a quote or a
 * line break; and ",number" for each of them.                                                        */
void sti_write_title(FILE *file, const char *name, const char *column);
void sti_write_numbers(FILE *file, const double *values, int count);

#endif
