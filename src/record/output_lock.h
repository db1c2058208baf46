/* record/output_lock.h -- allows one writer per file.
 *
 * A run writes to its output for minutes. Meanwhile it holds a lock on the file of that name: on the old file, or if
 * there is none on an empty FILE.lock. Before its own file takes the name, it locks that, too. So a second run finds
 * the name locked in any case and is refused. The lock belongs to the open file and ends with the process, even if
 * it crashes. Readers are not locked out. If the file system has no locks, nothing is locked.
 */
#ifndef STI_RECORD_OUTPUT_LOCK_H
#define STI_RECORD_OUTPUT_LOCK_H

#include "base/base.h"

typedef struct sti_OutputLock {
    int fd;       /* -1: none                                                                        */
    bool of_name; /* lock of FILE.lock, which is removed with the lock */
} sti_OutputLock;

/* Locks the file at `path`. If there is none, creates it, or (make false) locks its name. Fails if another run has
 * the lock. */
st_Status sti_output_lock(const char *path, bool make, sti_OutputLock *lock, st_Error *err);
/* Locks an open file of our own. Returns false if another process has the lock. */
bool sti_output_lock_open(int fd);
/* Is there no file of that name, or an empty one? */
bool sti_output_is_empty(const sti_OutputLock *lock);
void sti_output_unlock(sti_OutputLock *lock, const char *path);

#endif
