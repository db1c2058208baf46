/* record/output_lock.h -- one writer to a file at a time.
 *
 * A run writes to its output for minutes. It holds a lock on the file of that name meanwhile: on the old one, or an
 * empty one that it makes, and then on its own from before this takes the name. A second run finds the name locked,
 * whichever file has it, and is refused. The lock belongs to the open file and ends with the process, however that
 * ends; it keeps no reader out. Where the file system has no locks there are none.
 */
#ifndef STI_RECORD_OUTPUT_LOCK_H
#define STI_RECORD_OUTPUT_LOCK_H

#include "base/base.h"

typedef struct sti_OutputLock {
    int fd;    /* -1: none                                                                           */
    bool made; /* the file was not there before                                                      */
} sti_OutputLock;

/* Lock the file at `path`, which is made where there is none. Refused where another run has it. */
st_Status sti_output_lock(const char *path, sti_OutputLock *lock, st_Error *err);
/* Lock an open file of one's own. False: another has it. */
bool sti_output_lock_open(int fd);
/* Is the file at `path`, which `lock` holds, empty? */
bool sti_output_is_empty(const sti_OutputLock *lock);
/* Ends the lock. A file that was made for it and is empty still goes, unless it is `kept`. */
void sti_output_unlock(sti_OutputLock *lock, const char *path, bool kept);

#endif
