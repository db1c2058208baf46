#include "base/assert.h"
#include "base/base.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_(x) #x
#define TEXT(x)  TEXT_(x)

const char *st_version(void)
{
    return TEXT(ST_VERSION_MAJOR) "." TEXT(ST_VERSION_MINOR) "." TEXT(ST_VERSION_PATCH);
}

const char *st_status_name(st_Status status)
{
    static const char *const names[] = {"ok",          "argument", "memory", "format",   "file",
                                        "unsupported", "numeric",  "events", "cancelled"};
    int n = (int)(sizeof names / sizeof names[0]);
    return (int)status >= 0 && (int)status < n ? names[status] : "unknown";
}

st_Status(sti_fail)(st_Error *err, st_Status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        err->status = status;
        err->line = 0;
        va_start(args, format);
        int length = vsnprintf(err->message, sizeof err->message, format, args);
        if (length >= (int)sizeof err->message) sti_utf8_trim(err->message);
        va_end(args);
    }
    return status;
}

/* ---- asserts ------------------------------------------------------------------------------------ */

void sti_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "stiction: %s:%d: this must hold, and does not: %s\n", file, line, condition);
    abort();
}
