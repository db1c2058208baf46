/* record/head.h -- the part of a recording that is written before the first step. */
#ifndef STI_RECORD_HEAD_H
#define STI_RECORD_HEAD_H

#include "record/tables.h"

/* `tables` gives the file name for messages, and records a failed write. */
st_Status sti_put_head(hid_t file, sti_Tables *tables, const st_RecorderDef *def, const st_Scene *scene,
                       const st_SystemDef *choices, st_Error *err);

#endif
