/* cli/interrupt.h -- signals that end a run: Ctrl-C, SIGTERM, and a closed terminal (SIGHUP).
 *
 * The first one ends the current step, and the command then closes its files; a second one ends the program at once.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stiction/stiction.h>

/* Signals are caught from now on. Before that they end the program, when there is nothing to save. */
void interrupt_begin(void);
/* The signal that was caught, 0: none. */
int interrupt_caught(void);
/* "interrupted", "terminated", "hung up". */
const char *interrupt_word(void);

/* st_system_step; a signal cancels it with ST_ERR_CANCELLED. */
st_Status interrupt_step(st_System *system, double h, st_StepInfo *info, st_Error *err);

#endif
