#define _DEFAULT_SOURCE /* TIOCGWINSZ */
#include "terminal.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NARROWEST 20 /* columns: narrower terminals are not supported */

int terminal_columns(FILE *out)
{
    struct winsize size = {0};
    if (isatty(fileno(out)) != 1) return 0;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col > NARROWEST ? size.ws_col : NARROWEST;
}

int line_width(FILE *out)
{
    struct stat info;
    int columns = terminal_columns(out);
    /* `stiction settings | less`: the terminal is at the other end of the pipe */
    if (columns == 0 && fstat(fileno(out), &info) == 0 && S_ISFIFO(info.st_mode)) columns = terminal_columns(stderr);
    return columns > 0 && columns < LINE_WIDTH ? columns : LINE_WIDTH;
}

const char *tone(FILE *out, const char *code)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (none != NULL && none[0] != '\0') return "";
    if (terminal == NULL || strcmp(terminal, "dumb") == 0 || isatty(fileno(out)) != 1) return "";
    return code;
}

/* Characters of a word that are visible: escape sequences take no room, and neither do later bytes of a character. */
static int visible_length(const char *word, int bytes)
{
    int length = 0;
    for (int k = 0; k < bytes; k++) {
        if (word[k] == '\033')
            while (k < bytes && word[k] != 'm')
                k++;
        else if (((unsigned char)word[k] & 0xc0) != 0x80)
            length++;
    }
    return length;
}

void print_wrapped_at(FILE *out, const char *text, int at, int indent)
{
    const int width = line_width(out);
    int column = at;
    bool first = true; /* word of its line */
    for (const char *word = text; *word != '\0';) {
        if (*word == '\n') {
            fputc('\n', out);
            column = 0;
            first = true;
            word++;
            continue;
        }
        const int bytes = (int)strcspn(word, " \n"), length = visible_length(word, bytes);
        if (!first && column + 1 + length > width) {
            fputc('\n', out);
            column = 0;
            first = true;
        }
        if (bytes > 0) {
            const int blanks = !first ? 1 : column > 0 ? 0 : indent;
            fprintf(out, "%*s%.*s", blanks, "", bytes, word);
            column += blanks + length;
            first = false;
        }
        word += bytes;
        while (*word == ' ')
            word++;
    }
    fputc('\n', out);
}

void print_wrapped(FILE *out, const char *text, int indent)
{
    print_wrapped_at(out, text, 0, indent);
}

void print_lines(FILE *out, const char *text, int at, int indent)
{
    const int width = terminal_columns(out);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n') {
        int left = (int)strcspn(line, "\n"), room = width - at;
        const char *rest = line;
        while (width > 0 && left > room) {
            int end = room; /* the last blank that fits; the terminal itself cuts a longer word */
            while (end > 0 && rest[end] != ' ')
                end--;
            if (end == 0 || (int)strspn(rest, " ") >= end) end = room + (int)strcspn(rest + room, " \n");
            if (end >= left) break;
            fprintf(out, "%.*s\n%*s", end, rest, indent, "");
            end += (int)strspn(rest + end, " ");
            rest += end, left -= end;
            room = width - indent;
        }
        fprintf(out, "%.*s\n", left, rest);
        at = 0;
    }
}

/* ---- tables ------------------------------------------------------------------------------------- */

#define FOLD_INDENT 4

void fold_titles(Fold *fold, FILE *out, const char *titles)
{
    const int width = terminal_columns(out), length = (int)strlen(titles);
    *fold = (Fold){.out = out};
    int start = 0, end = 0; /* start of the line; end of the last title that fits */
    for (int k = 1; width > 0 && k <= length && fold->n < MOST_FOLDS; k++) {
        /* titles are separated by two blanks or are single words: a title ends before a blank */
        if (titles[k - 1] == ' ' || (titles[k] != ' ' && titles[k] != '\0')) continue;
        if (k < length && titles[k + 1] == '[') continue; /* "energy [J]" is one title */
        const int room = width - (start > 0 ? FOLD_INDENT : 0);
        if (k - start > room && end > start) {
            fold->at[fold->n++] = end;
            start = end;
        }
        end = k;
    }
    fprintf(out, "%s", tone(out, BOLD));
    fold_row(fold, titles);
    fprintf(out, "%s", tone(out, PLAIN));
}

void fold_row(const Fold *fold, const char *row)
{
    const int length = (int)strlen(row);
    int start = 0;
    for (int k = 0; k < fold->n && fold->at[k] < length; k++) {
        int end = fold->at[k] > start ? fold->at[k] : start;
        end += (int)strcspn(row + end, " "); /* a number wider than its column stays whole */
        if (end == length) break;
        fprintf(fold->out, "%*s%.*s\n", start > 0 ? FOLD_INDENT : 0, "", end - start, row + start);
        start = end;
    }
    fprintf(fold->out, "%*s%s\n", start > 0 ? FOLD_INDENT : 0, "", row + start);
}

/* ---- words -------------------------------------------------------------------------------------- */

void add_text(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

void time_text(double seconds, char *out, size_t size)
{
    const double s = fabs(seconds);
    if (s >= 60)
        snprintf(out, size, "%lld min %02d s", (long long)(s / 60), (int)fmod(s, 60));
    else if (s >= 1)
        snprintf(out, size, "%.3g s", s);
    else if (s >= 1e-3)
        snprintf(out, size, "%.3g ms", 1e3 * s);
    else if (s >= 1e-6 || s == 0)
        snprintf(out, size, "%.3g us", 1e6 * s);
    else
        snprintf(out, size, "%.3g ns", 1e9 * s);
}

const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}
