/* record/hdf.h -- the layout of a recording, stated once for the writer and the reader: see
 * docs/recording.md. And the little of HDF5 that both use.
 */
#ifndef STI_RECORD_HDF_H
#define STI_RECORD_HDF_H

#include "base/base.h"

#include <hdf5.h>
#include <stiction/io.h>

#define STI_FORMAT_NAME    "stiction recording"
#define STI_FORMAT_VERSION 1

/* The tables: datasets that grow by rows. The order is that of the counts in /committed. */
typedef enum sti_Table {
    STI_FRAMES = 0,
    STI_STEPS,
    STI_CONTACTS,
    STI_EVENTS,
    STI_CHECKPOINTS,
    STI_STATES, /* bytes of all checkpoints                                      */
    STI_POSITION,
    STI_ORIENTATION,
    STI_VELOCITY,
    STI_SPIN,
    STI_JOINTS,   /* only where there are joints                                  */
    STI_SPRINGS,  /* only where there are springs                                 */
    STI_MEASURES, /* only where there are measures: all their values, one after the other */
    STI_N_TABLES
} sti_Table;
#define STI_N_COUNTS 6 /* the tables of bodies and joints have as many rows as there are frames */

const char *sti_table_path(sti_Table table);
int sti_table_width(sti_Table table); /* body tables: numbers a body; else 0 */
int sti_table_rank(sti_Table table);  /* 1; 2: frames x joints or springs; 3: frames x bodies x width */

/* How the run ended; written over in place. */
typedef struct sti_Summary {
    char outcome[16], message[512];
    double wall;
    double stage_seconds[ST_N_STAGES];
} sti_Summary;

/* A contact as it stands in the file: seven digits, where the solver's tolerance leaves fewer. */
typedef struct sti_StoredContact {
    uint64_t id;
    int32_t a, b;
    float point[3], normal[3], impulse[3], impact[3], velocity[3], gap;
} sti_StoredContact;
#define STI_STORED_CONTACT (offsetof(sti_StoredContact, gap) + sizeof(float)) /* bytes, without the padding */

/* The type of a row in memory, and in the file where HDF5 converts between the two; close it. Body tables: a double.
 * Negative: HDF5 has no memory for it. */
hid_t sti_table_type(sti_Table table);
hid_t sti_table_file_type(sti_Table table);
hid_t sti_summary_type(void);

/* HDF5 prints its errors on stderr unless told not to: off between these two. */
typedef struct sti_Quiet {
    H5E_auto2_t function;
    void *data;
} sti_Quiet;
sti_Quiet sti_quiet_begin(void);
void sti_quiet_end(sti_Quiet quiet);

/* recording.c: is there a recording, whole or cut off? */
bool sti_is_recording(const char *path);

/* The innermost reason HDF5 has for its last failure, in one line. */
const char *sti_hdf_reason(char *out, size_t size);

#endif
