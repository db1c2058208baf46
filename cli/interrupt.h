/* cli/interrupt.h -- signals that end a run: Ctrl-C, SIGTERM, and the terminal that goes away (SIGHUP).
 *
 * The first one ends the step under way and lets the command close its files; a second one ends the program at once.
 */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stiction/stiction.h>

/* From now on signals are caught. Before that they end the program, which has nothing to lose. */
void interrupt_begin(void);
/* The signal that was caught, 0: none. */
int interrupt_caught(void);
/* "interrupted", "terminated", "hung up". */
const char *interrupt_word(void);

/* st_system_step; a signal cancels it, ST_ERR_CANCELLED. */
st_Status interrupt_step(st_System *system, double h, st_StepInfo *info, st_Error *err);

#endif
