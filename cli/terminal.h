/* cli/terminal.h -- how wide a line may be, colour where a terminal has it, tables that fold. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "command.h"

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal behind `out`; 0: a file or a pipe. */
int terminal_columns(FILE *out);

/* The width of text: that of the terminal, at most LINE_WIDTH; LINE_WIDTH where there is none. */
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

/* Whole lines as they are in a file or a pipe; on a terminal wrapped, with every further line indented by `indent`. The
 * first line starts at column `at`.                                                                  */
void print_lines(FILE *out, const char *text, int at, int indent);

/* A table of right-aligned columns, row by row. On a terminal that is too narrow each row folds at the end of a column,
 * where its title ends; elsewhere rows are printed as they are. Lines are without newline.                     */
#define MOST_FOLDS 16
typedef struct Fold {
    FILE *out;
    int at[MOST_FOLDS]; /* where lines end, by the titles */
    int n;
} Fold;
void fold_titles(Fold *fold, FILE *out, const char *titles);
void fold_row(const Fold *fold, const char *row);

/* Append to a text of `size` bytes; what does not fit is cut. */
void add_text(char *text, size_t size, const char *format, ...) PRINTF_LIKE(3, 4);
/* "23.5 ms", "1.2 us", "3 min 20 s": a time as a person says it. */
void time_text(double seconds, char *out, size_t size);
/* "s" unless there is one of them. */
const char *plural(long long count);

#endif
