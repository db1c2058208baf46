/* record/hdf_check.h -- checks HDF5 files of unknown origin before HDF5 reads more than necessary.
 *
 * HDF5 trusts the file: it allocates as much memory as a chunk claims to need, reads other files that a dataset
 * names, and loads filters from disk. Our files need none of this, so it is refused here.
 */
#ifndef STI_RECORD_HDF_CHECK_H
#define STI_RECORD_HDF_CHECK_H

#include "base/base.h"

#include <hdf5.h>

/* The largest compression factor of deflate: a dataset that claims more is false. */
#define STI_MOST_COMPRESSED 1032

/* Checks that there is a plain file that begins like an HDF5 file of ours and is not truncated. *bytes is its size;
 * *cut_off (unless NULL) is true if its writer did not close it. */
st_Status sti_hdf_check_file(const char *path, const char *what, int64_t *bytes, bool *cut_off, st_Error *err);

/* Is every link on the path to this name inside the file? A missing link counts as inside. */
bool sti_hdf_stays_inside(hid_t file, const char *name);

/* NULL if the dataset may be read: its chunks are no larger than their stored bytes allow, its filters are known,
 * and its data is in this file. Else the reason why not. */
const char *sti_hdf_doubts(hid_t set);

#endif
