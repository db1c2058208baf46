/* tests/fuzz/fuzz.h -- shared by the fuzz targets.
 *
 * A target is a file fuzz_NAME.c with one function, LLVMFuzzerTestOneInput. With clang's libFuzzer it is fed with
 * mutated bytes (`make fuzz TIME=600`); with replay.c it is a plain test over the kept corpus
 * (tests/fuzz/corpus/NAME). Accepted inputs are stepped or solved, and must have the properties of properties.h. A
 * violation aborts.
 */
#ifndef STI_FUZZ_H
#define STI_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: violated: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* A refusal must have a message. */
static inline void must_explain(st_Status status, const st_Error *err)
{
    MUST(status != ST_OK && err->message[0] != '\0' && memchr(err->message, '\0', sizeof err->message) != NULL);
}

/* The bytes as a file with this ending; the same name each time. */
static inline const char *as_file(const uint8_t *data, size_t size, const char *ending)
{
    static char path[96];
    snprintf(path, sizeof path, "/tmp/stiction-fuzz-%ld%s", (long)getpid(), ending);
    FILE *file = fopen(path, "wb");
    MUST(file != NULL);
    MUST(size == 0 || fwrite(data, 1, size, file) == size);
    MUST(fclose(file) == 0);
    return path;
}

#endif
