/* stiction schema: the JSON Schema of scene files. */
#include "command.h"

#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>

static int schema_main(int argc, char *const *argv);

const Command schema_command = {
    .name = "schema",
    .words = "",
    .summary = "print the JSON Schema of scene files, for editors",
    .main = schema_main,
};

static int schema_main(int argc, char *const *argv)
{
    const char *words[MAX_WORDS];
    int status = command_read(&schema_command, argc, argv, NULL, words);
    if (status >= 0) return status;
    char *text = st_scene_schema();
    if (text == NULL) return complain(STATUS_FAILED, "out of memory");
    size_t length = strlen(text);
    fputs(text, stdout);
    if (length == 0 || text[length - 1] != '\n') putchar('\n');
    free(text);
    return STATUS_OK;
}
