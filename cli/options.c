/* Reads a command line by the tables of command.h, and prints help from them. */
#include "command.h"
#include "terminal.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define HELP_COLUMN 26

int complain(int status, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* Names may contain line breaks; a message is always one line. */
    for (char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    fprintf(stderr, "%sstiction:%s ", tone(stderr, RED), tone(stderr, PLAIN));
    print_lines(stderr, text, (int)strlen("stiction: "), 2);
    return status;
}

/* Help of several lines is wrapped as one text: its own breaks are for 100 columns. */
static void print_option(FILE *out, const Option *option)
{
    char left[64] = "", help[1024];
    snprintf(left, sizeof left, option->letter != 0 ? "-%c, --%s%s%s" : "%c   --%s%s%s",
             option->letter != 0 ? option->letter : ' ', option->name, option->value ? " " : "",
             option->value ? option->value : "");
    snprintf(help, sizeof help, "%s", option->help);
    for (char *c = help; *c != '\0'; c++)
        if (*c == '\n') *c = ' ';
    fprintf(out, "  %-*s", HELP_COLUMN - 2, left);
    if (strlen(left) >= HELP_COLUMN - 2) fprintf(out, "\n%*s", HELP_COLUMN, "");
    print_wrapped_at(out, help, HELP_COLUMN, HELP_COLUMN);
}

void command_help(const Command *command, FILE *out)
{
    static const Option help = {"help", 'h', OPTION_FLAG, NULL, "this text", 0};
    fprintf(out, "%susage:%s stiction %s%s%s [options]\n\n", tone(out, BOLD), tone(out, PLAIN), command->name,
            command->words[0] != '\0' ? " " : "", command->words);
    print_wrapped(out, command->summary, 0);
    if (command->details != NULL) {
        fputc('\n', out);
        print_wrapped(out, command->details, 0);
    }
    fprintf(out, "\n%soptions:%s\n", tone(out, BOLD), tone(out, PLAIN));
    for (int i = 0; i < command->n_options; i++)
        print_option(out, &command->options[i]);
    print_option(out, &help);
    if (command->more_help != NULL) {
        fputc('\n', out);
        command->more_help(out);
    }
}

static int unknown_option(const Command *command, const char *text)
{
    enum { MOST = 32 };
    const char *names[MOST];
    char name[64];
    int n = 0;
    for (int i = 0; i < command->n_options && n < MOST - 1; i++)
        names[n++] = command->options[i].name;
    names[n++] = "help";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text + strspn(text, "-"));
    name[strcspn(name, "=")] = '\0';
    const char *near = suggest(name, names, n);
    if (near != NULL)
        return complain(STATUS_INPUT, "%s: unknown option \"%s\", did you mean --%s?", command->name, text, near);
    return complain(STATUS_INPUT, "%s: unknown option \"%s\", see stiction %s --help", command->name, text,
                    command->name);
}

int append_text(TextList *list, const char *text)
{
    const char **grown = realloc((void *)list->item, ((size_t)list->count + 1) * sizeof *grown);
    if (grown == NULL) return complain(STATUS_FAILED, "out of memory");
    list->item = grown;
    list->item[list->count++] = text;
    return -1;
}

int set_threads(TextList *sets, long threads, char room[48])
{
    if (threads == 0) return -1;
    snprintf(room, 48, "simulation/threads=%ld", threads);
    return append_text(sets, room);
}

/* Stores a value in the option's field. -1: fine. */
static int store(const Command *command, const Option *option, const char *text, void *options)
{
    void *field = (char *)options + option->offset;
    char *end = NULL;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return -1;
    case OPTION_TEXT:
        if (text[0] == '\0')
            return complain(STATUS_INPUT, "%s: --%s needs %s, found an empty text", command->name, option->name,
                            option->value);
        *(const char **)field = text;
        return -1;
    case OPTION_LIST:
        return append_text(field, text);
    case OPTION_COUNT:
        errno = 0;
        *(long *)field = strtol(text, &end, 10);
        if (end == text || *end != '\0' || errno != 0 || *(long *)field <= 0)
            return complain(STATUS_INPUT, "%s: --%s is \"%s\", must be a whole number > 0", command->name, option->name,
                            text);
        return -1;
    case OPTION_NUMBER:
        *(double *)field = strtod(text, &end);
        if (end == text || *end != '\0' || !isfinite(*(double *)field) || *(double *)field <= 0)
            return complain(STATUS_INPUT, "%s: --%s is \"%s\", must be a number > 0", command->name, option->name,
                            text);
        return -1;
    }
    return -1;
}

/* The option that argv[k] names ("--name", "--name=value", "-x", "-xvalue"); *value is the rest of the same word, or
 * NULL. */
static const Option *find_option(const Command *command, const char *word, const char **value)
{
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    size_t length = is_long ? strcspn(name, "=") : 1;
    *value = name[length] == '\0' ? NULL : name + length + (is_long ? 1 : 0);
    for (int i = 0; i < command->n_options; i++) {
        const Option *option = &command->options[i];
        if (is_long ? strlen(option->name) == length && strncmp(option->name, name, length) == 0
                    : option->letter == *name)
            return option;
    }
    return NULL;
}

/* `seen`: options already read, one bit each. */
static int read_option(const Command *command, int argc, char *const *argv, int *k, void *options, uint64_t *seen)
{
    const char *word = argv[*k], *value = NULL;
    const Option *option = find_option(command, word, &value);
    if (option == NULL) return unknown_option(command, word);
    if (option->kind == OPTION_FLAG && value != NULL)
        return complain(STATUS_INPUT, "%s: --%s takes no value, found \"%s\"", command->name, option->name, value);
    if (option->kind != OPTION_FLAG && value == NULL) {
        if (*k + 1 >= argc)
            return complain(STATUS_INPUT, "%s: --%s needs a value, %s", command->name, option->name, option->value);
        value = argv[++*k];
    }
    const uint64_t bit = (uint64_t)1 << (option - command->options);
    if ((*seen & bit) != 0 && option->kind != OPTION_FLAG && option->kind != OPTION_LIST)
        return complain(STATUS_INPUT, "%s: --%s is given twice, the second time as \"%s\"", command->name, option->name,
                        value);
    *seen |= bit;
    return store(command, option, value, options);
}

static int check_words(const Command *command, int n_words, const char *extra)
{
    if (extra != NULL)
        return complain(STATUS_INPUT, "%s: one word too many, \"%s\"; usage: stiction %s %s%s[options]", command->name,
                        extra, command->name, command->words, command->words[0] != '\0' ? " " : "");
    if (n_words < command->min_words)
        return complain(STATUS_INPUT, "%s: %s is missing; usage: stiction %s %s [options]", command->name,
                        command->words, command->name, command->words);
    return -1;
}

int command_read(const Command *command, int argc, char *const *argv, void *options, const char **words)
{
    int n_words = 0, status = -1;
    uint64_t seen = 0;
    bool only_words = false;
    const char *extra = NULL;
    for (int i = 0; i < MAX_WORDS; i++)
        words[i] = NULL;
    for (int k = 1; k < argc && status < 0; k++) {
        if (!only_words && strcmp(argv[k], "--") == 0) {
            only_words = true;
        } else if (!only_words && (strcmp(argv[k], "--help") == 0 || strcmp(argv[k], "-h") == 0)) {
            command_help(command, stdout);
            return STATUS_OK;
        } else if (!only_words && argv[k][0] == '-' && argv[k][1] != '\0') {
            status = read_option(command, argc, argv, &k, options, &seen);
        } else if (n_words < command->max_words && n_words < MAX_WORDS) {
            words[n_words++] = argv[k];
        } else if (extra == NULL) {
            extra = argv[k];
        }
    }
    return status >= 0 ? status : check_words(command, n_words, extra);
}
