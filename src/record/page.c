/* record/page.c -- writes the viewer page with a run inside.
 *
 * The page has the line <script id="run" type="text/plain"></script>; the run goes into it as base64, so that
 * nothing in it can end the script or be read as markup.
 */
#include "record/text.h"
#include "record/whole_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

static const char place[] = "<script id=\"run\" type=\"text/plain\">";

/* The position of the run in the page: after the first `place`. */
static const char *find_place(const char *page, size_t size)
{
    size_t length = sizeof place - 1;
    for (size_t k = 0; k + length <= size; k++)
        if (page[k] == '<' && memcmp(page + k, place, length) == 0) return page + k + length;
    return NULL;
}

st_Status st_recording_write_report(st_Recording *recording, int64_t limit, const char *page, size_t page_size,
                                    const char *path, st_Error *err)
{
    unsigned char *run = NULL;
    size_t size = 0;
    FILE *file = NULL;
    if (recording == NULL || page == NULL || path == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "st_recording_write_report: recording, page and path must be given");
    const char *at = find_place(page, page_size);
    if (at == NULL)
        return sti_fail(err, ST_ERR_ARGUMENT, "the page has no mark where a run can be inserted: %s", place);
    STI_TRY(st_recording_pack(recording, limit, &run, &size, err));
    st_Status status = sti_file_open(path, &file, err);
    if (status == ST_OK) {
        fwrite(page, 1, (size_t)(at - page), file);
        sti_write_base64(file, run, size);
        fwrite(at, 1, page_size - (size_t)(at - page), file);
        status = sti_file_close(file, path, err);
    }
    free(run);
    return status;
}
