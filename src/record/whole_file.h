/* record/whole_file.h -- files that are there whole or not at all. */
#ifndef STI_RECORD_WHOLE_FILE_H
#define STI_RECORD_WHOLE_FILE_H

#include "base/base.h"

#include <stdio.h>
#include <stiction/io.h>

/* What is written appears at `path` when the stream is closed with sti_file_close(), and not before. Failures name the
 * file and the system's reason; after one, what was there before is there still.                    */
st_Status sti_file_open(const char *path, FILE **out, st_Error *err);
/* The same for a file of lines that people watch while it grows: it is at `path` from the start. Closed, it holds whole
 * lines, whatever failed. Refused while another run writes it, and where a file stands there that is neither empty nor
 * begins with `begin`: that is not one of ours.                                                       */
st_Status sti_file_grow(const char *path, const char *begin, FILE **out, st_Error *err);
st_Status sti_file_close_lines(FILE *file, const char *path, st_Error *err);
st_Status sti_file_failed(const char *path, st_Error *err); /* after a write failed: errno says why */
st_Status sti_file_close(FILE *file, const char *path, st_Error *err);
/* Close it and leave nothing of it; NULL is fine. */
void sti_file_give_up(FILE *file, const char *path);

/* For what is not written through a stream and takes the place of `path` by rename(): the file it leads to, malloc'd.
 * Links are followed, so that they stay; refused where something stands there that is no plain file (rename() would put
 * a file in the place of a device) or that must not be written.                                            */
st_Status sti_file_place(const char *path, char **out, st_Error *err);
/* The names in the folder of `path` are on the disk; where that cannot be asked for they are when the system likes. */
void sti_sync_folder(const char *path);
/* From now on what is written to the descriptor is lost, and no write to it fails. */
void sti_send_nowhere(int fd);

#endif
