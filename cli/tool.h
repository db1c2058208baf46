/* cli/tool.h -- other programs: is one there, and run it. */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

#include <stdbool.h>
#include <sys/types.h>

/* The first of the names (NULL-terminated) that is in the PATH, or NULL. */
const char *find_tool(const char *const *names);
/* Chromium or a browser like it; $STICTION_BROWSER first. NULL: none. */
const char *find_browser(void);

/* Start, without its output; the process, or -1. */
pid_t start_tool(const char *const *argv);
/* Start and wait; true: it ended well. A signal that ends the program ends the tool first. */
bool run_tool(const char *const *argv);

/* From now on SIGINT and SIGTERM are waited for by those who ask, a second one ends the program at once: so that tools
 * are ended and files taken away. ending_signal: the one that came, 0: none.                          */
void await_signals(void);
int ending_signal(void);

/* A folder of its own for what tools leave behind, named after `what`; false: said on stderr. And away with it. */
#define SCRATCH_SIZE 40
bool make_scratch(char folder[SCRATCH_SIZE], const char *what);
void remove_scratch(char folder[SCRATCH_SIZE]); /* "": there is none */

/* Options that every headless browser here gets, into argv; returns how many. */
int browser_options(const char **argv, const char *profile);

#endif
