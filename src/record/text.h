/* record/text.h -- text files, and the characters that formats allow. */
#ifndef STI_RECORD_TEXT_H
#define STI_RECORD_TEXT_H

#include "base/base.h"
#include "base/number.h"

#include <stdio.h>

/* Writes text for XML: markup is escaped; characters that XML cannot contain (control characters, broken UTF-8)
 * become U+FFFD. */
void sti_write_xml(FILE *file, const char *text);
void sti_write_base64(FILE *file, const unsigned char *bytes, size_t size);

/* Writes a field of a table, quoted by RFC 4180 if it has a comma, a quote or a line break. */
void sti_write_field(FILE *file, const char *text);
/* For csv.c and export_csv.c: writes ",NAME.column", quoted by RFC 4180 if needed; and ",number" for each number. */
void sti_write_title(FILE *file, const char *name, const char *column);
void sti_write_numbers(FILE *file, const double *values, int64_t count);

#endif
