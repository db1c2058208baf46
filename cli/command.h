/* cli/command.h -- a command of the program is a table: name, arguments, options, help.
 *
 * Usage, --help and the parser all read the same tables, so that they cannot disagree.
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit statuses. An interrupted run adds 128 + the number of the signal. */
enum {
    STATUS_OK = 0,
    STATUS_FAILED = 1,  /* a run that could not be finished, an output that could not be written */
    STATUS_INPUT = 2,   /* usage, a scene, a file: nothing was run and nothing was touched       */
    STATUS_UNSOLVED = 3 /* more than 1 % of the steps were above residual_limit, or left a joint open */
};

#if defined(__GNUC__)
#define PRINTF_LIKE(text, args) __attribute__((format(printf, text, args)))
#else
#define PRINTF_LIKE(text, args)
#endif

typedef enum OptionKind {
    OPTION_FLAG,   /* bool                      */
    OPTION_TEXT,   /* const char *              */
    OPTION_COUNT,  /* long, > 0                 */
    OPTION_NUMBER, /* double, > 0 and finite    */
    OPTION_LIST    /* TextList: may come often  */
} OptionKind;

typedef struct TextList {
    const char **item; /* malloc'd array of borrowed texts */
    int count;
} TextList;

/* -1: fine. */
int append_text(TextList *list, const char *text);
/* --threads N (0: not given) becomes the last override, so that a recording includes it. `room` must live as long as
 * `sets`. */
#define THREADS_HELP                                                                                                   \
    "threads for large piles and many islands, at most 256; the result\nis the same to the last bit (--set "           \
    "simulation/threads=N)"
int set_threads(TextList *sets, long threads, char room[48]);

typedef struct Option {
    const char *name; /* --name                                             */
    char letter;      /* -x, or 0                                           */
    OptionKind kind;
    const char *value; /* placeholder of its value in the help; NULL: none */
    const char *help;  /* may have several lines                            */
    size_t offset;     /* offset of its field in the command's struct */
} Option;

typedef struct Command {
    const char *name;
    const char *words; /* "SCENE", "[NAME]": arguments other than options */
    int min_words, max_words;
    const char *summary; /* one line                                        */
    const char *details; /* paragraphs for --help, or NULL                  */
    const Option *options;
    int n_options;
    bool reads_files;                         /* reads HDF5 files of unknown origin: reader_process.h */
    void (*more_help)(FILE *out);             /* printed last by --help, or NULL    */
    int (*main)(int argc, char *const *argv); /* argv[0] is the command; exit status */
} Command;

extern const Command compare_command, sweep_command, validate_command, bench_command;
extern const Command run_command, check_command, converge_command, examples_command, settings_command, schema_command,
    manual_command;
extern const Command info_command, export_command, report_command, view_command, plot_command, render_command;
extern const Command solve_command, extract_command, convert_command;

/* The table in main.c, NULL-terminated. */
extern const Command *const commands[];

#define MAX_WORDS 16

/* Reads argv[1..] into the struct `options` (by offsets) and `words` (MAX_WORDS, NULL if absent). Returns -1 to
 * continue, else the exit status: help was printed, or the usage was wrong. */
int command_read(const Command *command, int argc, char *const *argv, void *options, const char **words);
void command_help(const Command *command, FILE *out);

/* One message on stderr, "stiction: ..."; returns `status`. */
int complain(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/* The candidate nearest to `word` by edit distance, or NULL if none is close: "did you mean". */
const char *suggest(const char *word, const char *const *candidates, int count);

#endif
