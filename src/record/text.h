/* record/text.h -- files made of text, and what formats can hold. */
#ifndef STI_RECORD_TEXT_H
#define STI_RECORD_TEXT_H

#include "base/base.h"
#include "base/number.h"

#include <stdio.h>

/* Text for XML: markup escaped; what XML cannot hold (control characters, broken UTF-8) as U+FFFD. */
void sti_write_xml(FILE *file, const char *text);
void sti_write_base64(FILE *file, const unsigned char *bytes, size_t size);

/* A field of a table, quoted as RFC 4180 says where it holds a comma, a quote or a line break. */
void sti_write_field(FILE *file, const char *text);
/* Tables of csv.c and export_csv.c. ",NAME.column", quoted as RFC 4180 says where the name holds a comma, a quote or a
 * line break; and ",number" for each of them.                                                        */
void sti_write_title(FILE *file, const char *name, const char *column);
void sti_write_numbers(FILE *file, const double *values, int64_t count);

#endif
