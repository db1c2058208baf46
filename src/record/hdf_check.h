/* record/hdf_check.h -- HDF5 files from strangers, looked at before HDF5 does more than it must.
 *
 * HDF5 believes what a file says: it asks for as much memory as a chunk claims to have, reads other files that a
 * dataset names, and loads filters from disk. None of that is needed for our files, and all of it is refused here.
 */
#ifndef STI_RECORD_HDF_CHECK_H
#define STI_RECORD_HDF_CHECK_H

#include "base/base.h"

#include <hdf5.h>

/* Deflate makes data at most so many times smaller: what claims to be larger is not there. */
#define STI_MOST_COMPRESSED 1032

/* Is there a plain file that begins as an HDF5 file of ours does, and is not cut short? *bytes is its size; *cut_off,
 * or NULL, whether its writer has not closed it.                                                     */
st_Status sti_hdf_check_file(const char *path, const char *what, int64_t *bytes, bool *cut_off, st_Error *err);

/* Is every link on the way to this name one within the file? One that is not there is. */
bool sti_hdf_stays_inside(hid_t file, const char *name);

/* May the dataset be read? Its chunks are not larger than what is stored of them can be, it is packed in a way that is
 * known, and its data is in this file. NULL: yes; else why not.                                    */
const char *sti_hdf_doubts(hid_t set);

#endif
