/* Output of the program on a terminal: lines fit its width, colours are used only if enabled, units and plurals are
 * correct English. */
#define _GNU_SOURCE
#include "program.h"

#include <pty.h>

/* The program on a terminal of so many columns; all it printed, and its exit status. */
static void run_on_terminal(Program *p, int columns, const char *const *arguments)
{
    const struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};
    const char *argv[MOST_ARGUMENTS + 2] = {getenv("ST_PROGRAM")};
    int terminal = -1, status = 0;
    size_t n = 0;
    for (int k = 0; k < MOST_ARGUMENTS && arguments[k] != NULL; k++)
        argv[k + 1] = arguments[k];
    fflush(NULL);
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    for (ssize_t got; n < TEXT_SIZE - 1 && (got = read(terminal, p->out + n, TEXT_SIZE - 1 - n)) > 0;)
        n += (size_t)got;
    p->out[n] = '\0';
    close(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    p->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#define ON_TERMINAL(p, columns, ...) run_on_terminal((p), (columns), (const char *const[]){__VA_ARGS__, NULL})

/* The longest run of visible characters between line ends and carriage returns: escape sequences take no room, and
 * bytes after the first of a UTF-8 character do not either.                                         */
static int widest_line(const char *text, char *line, size_t size)
{
    int widest = 0, column = 0;
    const char *start = text;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\r') {
            column = 0;
            start = c + 1;
        } else if (*c == '\033') {
            c += strcspn(c, "mK");
            if (*c == '\0') break;
        } else if (((unsigned char)*c & 0xc0) != 0x80 && ++column > widest) {
            widest = column;
            snprintf(line, size, "%.*s", (int)strcspn(start, "\r\n"), start);
        }
    }
    return widest;
}

static void check_width(Program *p, int columns)
{
    char line[300] = "";
    const int widest = widest_line(p->out, line, sizeof line);
    if (widest > columns) fail_msg("%d columns where there are %d: %s", widest, columns, line);
}

static void lines_fit(void **state)
{
    Program *p = *state;
    setenv("TERM", "xterm-256color", 1);
    setenv("STICTION_EXAMPLES", "examples", 1); /* short paths, wherever the tree is */
    unsetenv("NO_COLOR");
    const char *const run = in_folder(p, "run.h5");
    const char *const commands[][8] = {
        {"--help"},
        {"run", "--help"},
        {"converge", "--help"},
        {"view", "--help"},
        {"examples"},
        {"examples", "dominoes"},
        {"settings"},
        {"check", "dominoes"},
        {"run", "dominoes"},
        {"run", "zeno-ball"},
        {"run", "b_g100_explicit"},
        {"compare", "incline"},
        {"converge", "sliding-block", "--halvings", "3..5"},
        {"validate", "--only", "V1"},
        {"validate", "--only", "no such case"},
        {"settings", "friction"},
        {"bench", "incline", "--runs", "1"},
        {"solve", "--all", "examples/problems/bars.hdf5"},
        {"solve", "examples/problems", "-t", "1e-3"},
        {"run", "dominoes", "--set", "bodies/nobody/mass=3"},
        {"run", "dominoes", "--set", "bodies/*/shapes/*/friction=-1"},
        {"check", "examples/robots/dog.urdf"},
        {"run", "incline", "-q", "-o", run},
        {"info", run},
        {"plot", run},
        {"plot", run, "-y", "nonsense", "-o", "/tmp/x.svg"},
    };
    for (size_t k = 0; k < sizeof commands / sizeof commands[0]; k++)
        for (int columns = 60; columns <= 120; columns += 20) {
            run_on_terminal(p, columns, commands[k]);
            /* only the path of a recorded scene may be wider, because it is one word */
            check_width(p, strcmp(commands[k][0], "info") == 0 && columns < 80 ? 80 : columns);
        }
}

/* In a pipe a message stays one line, however long. */
static void messages_are_lines(void **state)
{
    Program *p = *state;
    RUN(p, "run", "dominoes", "--set", "bodies/nobody/mass=3");
    check_status(p, 2);
    assert_true(strlen(p->err) > 120);
    assert_ptr_equal(strchr(p->err, '\n'), p->err + strlen(p->err) - 1);
}

static void progress_fits(void **state)
{
    Program *p = *state;
    for (int columns = 40; columns <= 80; columns += 40) {
        ON_TERMINAL(p, columns, "run", "incline", "--set", "simulation/h=1e-5", "--set", "simulation/end=0.4");
        check_contains(p->out, " % ");
        check_contains(p->out, "\033[K");
        char line[300];
        const char *summary = strstr(p->out, "incline");
        assert_non_null(summary);
        p->out[summary - p->out] = '\0'; /* the rest is the summary */
        assert_in_range(widest_line(p->out, line, sizeof line), 20, columns - 1);
    }
}

static void colours_where_wanted(void **state)
{
    Program *p = *state;
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    ON_TERMINAL(p, 80, "run", "no-such-scene");
    check_status(p, 2);
    check_contains(p->out, "\033[1;31mstiction:\033[0m no-such-scene");
    RUN(p, "settings"); /* a file */
    assert_null(strchr(p->out, '\033'));
    setenv("NO_COLOR", "1", 1);
    ON_TERMINAL(p, 80, "settings");
    assert_null(strchr(p->out, '\033'));
    unsetenv("NO_COLOR");
    setenv("TERM", "dumb", 1);
    ON_TERMINAL(p, 80, "settings");
    assert_null(strchr(p->out, '\033'));
}

static void words_of_the_summary(void **state)
{
    Program *p = *state;
    RUN(p, "run", "incline", "--set", "simulation/end=0.01");
    check_contains(p->out, ", 1 step\n");
    check_contains(p->out, "s per step\n");
    check_contains(p->out, "final state");
    RUN(p, "run", "wall", "--set", "simulation/end=0.01"); /* many bodies: no table */
    check_contains(p->out, "bodies: see --json or -o FILE.csv");
    assert_null(strstr(p->out, "qw"));
    assert_null(strstr(p->out, "worst joint error")); /* it has no joints */
}

static void lists_are_grouped(void **state)
{
    Program *p = *state;
    RUN(p, "examples");
    const char *toys = strstr(p->out, "Toys\n"), *mechanisms = strstr(p->out, "Mechanisms\n"),
               *disk = strstr(p->out, "eulers-disk");
    assert_true(toys != NULL && disk > toys && mechanisms > disk);
    RUN(p, "examples", "--names");
    check_contains(p->out, "\neulers-disk\n");
    RUN(p, "settings");
    check_contains(p->out, "\nSolver\n");
    check_contains(p->out, "default implicit");
    assert_null(strstr(p->out, "\nMore\n")); /* every setting has its group */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_are_lines, setup, teardown),
        cmocka_unit_test_setup_teardown(progress_fits, setup, teardown),
        cmocka_unit_test_setup_teardown(colours_where_wanted, setup, teardown),
        cmocka_unit_test_setup_teardown(words_of_the_summary, setup, teardown),
        cmocka_unit_test_setup_teardown(lists_are_grouped, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
