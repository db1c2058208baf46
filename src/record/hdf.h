/* record/hdf.h -- the layout of a recording, shared by writer and reader (see docs/recording.md), and the HDF5
 * helpers that both use. */
#ifndef STI_RECORD_HDF_H
#define STI_RECORD_HDF_H

#include "base/base.h"

#include <hdf5.h>
#include <stiction/io.h>

#define STI_FORMAT_NAME    "stiction recording"
#define STI_FORMAT_VERSION 1

/* The tables: datasets that grow by rows, in the order of the counts in /committed. */
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
    STI_JOINTS,   /* only if there are joints */
    STI_SPRINGS,  /* only if there are springs */
    STI_MEASURES, /* only if there are measures: all their values in order */
    STI_N_TABLES
} sti_Table;
#define STI_N_COUNTS 6 /* tables of bodies and joints have one row per frame */

const char *sti_table_path(sti_Table table);
int sti_table_width(sti_Table table); /* body tables: numbers per body; else 0 */
int sti_table_rank(sti_Table table);  /* 1; 2: frames x joints or springs; 3: frames x bodies x width */

/* How the run ended; overwritten in place. */
typedef struct sti_Summary {
    char outcome[16], message[512];
    double wall;
    double stage_seconds[ST_N_PARTS];
} sti_Summary;

/* A contact as stored in the file: seven digits, more than the solver's tolerance leaves. */
typedef struct sti_StoredContact {
    uint64_t id;
    int32_t a, b;
    float point[3], normal[3], impulse[3], impact[3], velocity[3], gap;
} sti_StoredContact;
#define STI_STORED_CONTACT (offsetof(sti_StoredContact, gap) + sizeof(float)) /* bytes without padding */

/* The type of a row in memory and in the file; HDF5 converts between the two. Body tables: a double. The caller
 * closes it. Negative: HDF5 is out of memory. */
hid_t sti_table_type(sti_Table table);
hid_t sti_table_file_type(sti_Table table);
hid_t sti_summary_type(void);

/* Between these two calls HDF5 prints no errors on stderr. */
typedef struct sti_Quiet {
    H5E_auto2_t function;
    void *data;
} sti_Quiet;
sti_Quiet sti_quiet_begin(void);
void sti_quiet_end(sti_Quiet quiet);

/* recording.c: is the file a recording, complete or cut off? */
bool sti_is_recording(const char *path);

/* HDF5's innermost reason for its last failure, in one line. */
const char *sti_hdf_reason(char *out, size_t size);

#endif
