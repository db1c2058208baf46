/* record/whole_file.h -- files that are written completely or not at all. */
#ifndef STI_RECORD_WHOLE_FILE_H
#define STI_RECORD_WHOLE_FILE_H

#include "base/base.h"

#include <stdio.h>
#include <stiction/io.h>

/* Opens a stream. The file appears at `path` only when it is closed with sti_file_close(). Messages name the file
 * and the system's reason; after a failure the old file is unchanged. */
st_Status sti_file_open(const char *path, FILE **out, st_Error *err);
/* Opens a file of lines that people watch while it grows: it is at `path` from the start. After closing it has whole
 * lines, even after a failure. Fails if another run writes it, or if there is a file that is neither empty nor
 * starts with `begin`, so that it is not one of ours. */
st_Status sti_file_grow(const char *path, const char *begin, FILE **out, st_Error *err);
st_Status sti_file_close_lines(FILE *file, const char *path, st_Error *err);
st_Status sti_file_failed(const char *path, st_Error *err); /* after a write failed: errno is the reason */
st_Status sti_file_close(FILE *file, const char *path, st_Error *err);
/* Closes it and removes it; NULL is fine. */
void sti_file_give_up(FILE *file, const char *path);

/* For files that replace `path` by rename(): the file that it leads to, malloc'd. Links are followed and stay. Fails
 * if there is something that is no plain file (rename() would replace a device) or that may not be written. */
st_Status sti_file_place(const char *path, char **out, st_Error *err);
/* Makes sure that the names in the folder of `path` are on the disk, if the system supports it. */
void sti_sync_folder(const char *path);
/* Discards all later writes to the descriptor; none of them fails. */
void sti_send_nowhere(int fd);

#endif
