/* cli/reader_process.h -- commands that read files of unknown origin run in a separate process.
 *
 * HDF5 was not made for hostile files, and some of them crash it. A command that reads one runs in a child process
 * with a memory limit. If it crashes, the program reports it and ends as for any damaged file.
 */
#ifndef CLI_READER_PROCESS_H
#define CLI_READER_PROCESS_H

#include "command.h"

/* The command's exit status. */
int run_in_reader_process(const Command *command, int argc, char *const *argv, int (*finish)(int status));

#endif
