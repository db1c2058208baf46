/* record/output_lock.h -- one writer to a file at a time.
 *
 * A run writes to its output for minutes. It holds a lock on the file of that name meanwhile: on the old one, or where
 * there is none on an empty FILE.lock, and then on its own from before this takes the name. A second run finds the name
 * locked, whichever file has it, and is refused. The lock belongs to the open file and ends with the process, however
 * that ends; it keeps no reader out. Where the file system has no locks there are none.
 */
#ifndef STI_RECORD_OUTPUT_LOCK_H
#define STI_RECORD_OUTPUT_LOCK_H

#include "base/base.h"

typedef struct sti_OutputLock {
    int fd;       /* -1: none                                                                        */
    bool of_name; /* of FILE.lock, which goes with the lock                                          */
} sti_OutputLock;

/* Lock the file at `path`; where there is none make one, or (make false) lock its name. Refused where another run has
 * it.                                                                                             */
st_Status sti_output_lock(const char *path, bool make, sti_OutputLock *lock, st_Error *err);
/* Lock an open file of one's own. False: another has it. */
bool sti_output_lock_open(int fd);
/* Is there no file of that name, or an empty one? */
bool sti_output_is_empty(const sti_OutputLock *lock);
void sti_output_unlock(sti_OutputLock *lock, const char *path);

#endif
