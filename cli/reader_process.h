/* cli/reader_process.h -- commands that read files of strangers run in a process of their own.
 *
 * HDF5 was not made for hostile files, and some of them crash it. A command that reads one runs in a child with a limit
 * on memory; when it crashes, the program says so and ends as it does with any file that is damaged.
 */
#ifndef CLI_READER_PROCESS_H
#define CLI_READER_PROCESS_H

#include "command.h"

/* The command's exit status. */
int run_in_reader_process(const Command *command, int argc, char *const *argv, int (*finish)(int status));

#endif
