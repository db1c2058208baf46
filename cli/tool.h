/* cli/tool.h -- finds and runs other programs. */
#ifndef CLI_TOOL_H
#define CLI_TOOL_H

#include <stdbool.h>
#include <sys/types.h>

/* The first of the names (NULL-terminated) that is in the PATH, or NULL. */
const char *find_tool(const char *const *names);
/* Chromium or a similar browser; $STICTION_BROWSER first. NULL: none. */
const char *find_browser(void);

/* Starts a program without its output; returns the process, or -1. */
pid_t start_tool(const char *const *argv);
/* Starts and waits; true: it succeeded. A signal that ends the program ends the tool first. */
bool run_tool(const char *const *argv);

/* From now on the first SIGINT or SIGTERM is only recorded, and a second one ends the program at once: so tools can
 * be ended and files removed. ending_signal: the recorded one, 0: none. */
void await_signals(void);
int ending_signal(void);

/* Makes a scratch folder for tools, named after `what`; false: the reason was printed. And removes it. */
#define SCRATCH_SIZE 40
bool make_scratch(char folder[SCRATCH_SIZE], const char *what);
void remove_scratch(char folder[SCRATCH_SIZE]); /* "": there is none */

/* Writes the options of every headless browser to argv; returns their number. */
int browser_options(const char **argv, const char *profile);

#endif
