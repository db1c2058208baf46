/* cli/terminal.h -- line width, colours if the terminal has them, tables that fold. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "command.h"

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal of `out`; 0: a file or a pipe. */
int terminal_columns(FILE *out);

/* The width of text: that of the terminal, at most LINE_WIDTH; LINE_WIDTH if there is none. */
#define LINE_WIDTH 100
int line_width(FILE *out);

/* Colours. tone() returns the code on a terminal that has colours and "" elsewhere, or where NO_COLOR is set:
 * printf("%sname%s", tone(stdout, BOLD), tone(stdout, PLAIN)).                                       */
#define PLAIN  "\033[0m"
#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define RED    "\033[1;31m"
#define GREEN  "\033[32m"
#define YELLOW "\033[33m"
const char *tone(FILE *out, const char *code);

/* Text wrapped to line_width(), every line indented by `indent`; the first one starts at column `at`. */
void print_wrapped(FILE *out, const char *text, int indent);
void print_wrapped_at(FILE *out, const char *text, int at, int indent);

/* Writes whole lines unchanged to a file or a pipe; on a terminal wrapped, with every further line indented by
 * `indent`. The first line starts at column `at`. */
void print_lines(FILE *out, const char *text, int at, int indent);

/* Prints a table of right-aligned columns, row by row. On a narrow terminal each row folds at the end of a column;
 * elsewhere rows are printed unchanged. Lines have no newline. */
#define MOST_FOLDS 16
typedef struct Fold {
    FILE *out;
    int at[MOST_FOLDS]; /* positions where lines end, by the titles */
    int n;
} Fold;
void fold_titles(Fold *fold, FILE *out, const char *titles);
void fold_row(const Fold *fold, const char *row);

/* Appends to a text of `size` bytes; the rest is cut. */
void add_text(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
/* A time as text: "23.5 ms", "1.2 us", "3 min 20 s". */
void time_text(double seconds, char *out, size_t size);
/* "s" unless the count is 1. */
const char *plural(long long count);

#endif
