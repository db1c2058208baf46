/* stiction -- the program. Each command has its own file; this file has the table of commands. */
#include "command.h"
#include "ranks.h"
#include "reader_process.h"
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stiction/stiction.h>
#include <string.h>

const Command *const commands[] = {&run_command,     &check_command,    &converge_command,
                                   &compare_command, &sweep_command,    &validate_command,
                                   &bench_command,   &examples_command, &convert_command,
                                   &info_command,    &view_command,     &report_command,
                                   &plot_command,    &render_command,   &export_command,
                                   &solve_command,   &extract_command,  &settings_command,
                                   &schema_command,  &manual_command,   NULL};

static void print_entry(FILE *out, const char *left, const char *text)
{
    fprintf(out, "  %-25s ", left);
    print_wrapped_at(out, text, 28, 28);
}

static void print_help(FILE *out)
{
    const char *bold = tone(out, BOLD), *plain = tone(out, PLAIN);
    fprintf(out, "%susage:%s stiction COMMAND [options]\n\n", bold, plain);
    print_wrapped(out, "Rigid bodies with contact, friction, impacts, joints and stiff forces.", 0);
    fprintf(out, "\n%scommands:%s\n", bold, plain);
    for (int i = 0; commands[i] != NULL; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", commands[i]->name, commands[i]->words);
        print_entry(out, left, commands[i]->summary);
    }
    fputc('\n', out);
    print_entry(out, "stiction COMMAND --help", "describe a command and its options");
    print_entry(out, "stiction --version", "print the version of the program and its library");
    fprintf(out, "\nStart with: stiction examples\n");
}

static int unknown_command(const char *word)
{
    const char *names[sizeof commands / sizeof commands[0]];
    int n = 0;
    for (; commands[n] != NULL; n++)
        names[n] = commands[n]->name;
    const char *near = suggest(word, names, n);
    const char *kind = word[0] == '-' ? "option" : "command";
    if (near != NULL) return complain(STATUS_INPUT, "unknown %s \"%s\", did you mean %s?", kind, word, near);
    return complain(STATUS_INPUT, "unknown %s \"%s\", see stiction --help", kind, word);
}

/* Was all of the standard output written? A reader that closed its end is no failure. */
static int finish_output(int status)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (errno == 0) { /* an earlier write failed: write again for the reason */
        clearerr(stdout);
        fputc('\n', stdout);
        if (fflush(stdout) == 0) errno = EIO;
    }
    if (errno == EPIPE) return status;
    complain(STATUS_FAILED, "cannot write to the standard output: %s", strerror(errno));
    return status == STATUS_OK ? STATUS_FAILED : status;
}

static int dispatch(int argc, char *const *argv)
{
    if (argc < 2) {
        print_help(stderr);
        return STATUS_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("stiction %s\n", st_version());
        return STATUS_OK;
    }
    for (int i = 0; commands[i] != NULL; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->reads_files ? run_in_reader_process(commands[i], argc - 1, argv + 1, finish_output)
                                            : commands[i]->main(argc - 1, argv + 1);
    if (strcmp(argv[1], "help") == 0) {
        for (int i = 0; argc > 2 && commands[i] != NULL; i++)
            if (strcmp(argv[2], commands[i]->name) == 0) {
                command_help(commands[i], stdout);
                return STATUS_OK;
            }
        if (argc > 2) return unknown_command(argv[2]);
        print_help(stdout);
        return STATUS_OK;
    }
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    /* `stiction run ... | head -1` must not kill a run that still writes its table: with the signal ignored, writes
     * to the closed pipe fail with EPIPE instead. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that exceeds the size limit is a failed write, like a full disk */
    int status = STATUS_OK;
    if (argc > 1 && strcmp(argv[1], run_command.name) == 0 && !ranks_begin(&status)) return status;
    return finish_output(dispatch(argc, argv));
}
