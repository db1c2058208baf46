/* cli/simulate.h -- runs a scene from its present state to its end, for several commands. */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

#include "tally.h"

/* Called at the start (info->h is 0) and after each step. False ends the run; err has the reason. */
typedef bool (*EachStep)(void *ctx, const st_StepInfo *info, st_Error *err);

/* Steps to the end, or until a signal (interrupt.h). Counts in `tally`, and sets its outcome and message. */
void simulate_to_end(const Loaded *loaded, Tally *tally, EachStep each, void *ctx);
/* A finished run becomes unsolved if more than 1 per cent of its steps are above residual_limit, or left a joint open.
 */
void judge_steps(Tally *tally, const Loaded *loaded);
void end_run(Tally *tally, Outcome outcome, const char *message);

#endif
