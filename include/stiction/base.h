/* stiction/base.h -- status, messages, memory and small vectors, used by every other header.
 *
 * Errors. Every function that can fail returns an st_Status and writes a message for a person to the optional st_Error.
 * Such a function accepts any argument, NULL included, and reports an error if the argument is not valid. Functions
 * that return a value (counts, times, names) require a valid object. A call that fails leaves its object unchanged. The
 * library never exits, aborts or prints.
 *
 * Threads. There is no global mutable state. One object (scene, system, solver, problem) may be used by one thread at a
 * time. Functions that take a `const` object may run in several threads at once while no thread changes it. The comment
 * of a function states any exception.
 *
 * Memory. Objects made by a `create`, `copy` or `clone` function belong to the caller and are freed by the matching
 * `destroy`. Arguments are copied during the call, unless the comment says otherwise. Returned pointers into an object
 * stay valid until the object is changed or destroyed, unless the comment says otherwise. Functions that return an
 * st_Status may allocate, from the allocator of their object; other functions do not, unless the comment says so.
 *
 * SI units and radians throughout.
 */
#ifndef STICTION_BASE_H
#define STICTION_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(ST_STATIC)
#define ST_API __attribute__((visibility("default")))
#else
#define ST_API
#endif

#define ST_VERSION_MAJOR 0
#define ST_VERSION_MINOR 2
#define ST_VERSION_PATCH 0

/* Version of the linked library, for example "0.1.0". It can differ from the version of the header. */
ST_API const char *st_version(void);

typedef enum st_Status {
    ST_OK = 0,
    ST_ERR_ARGUMENT,    /* a value is outside its documented range                     */
    ST_ERR_MEMORY,      /* the allocator returned NULL; the object is unchanged       */
    ST_ERR_FORMAT,      /* the content of a file is not valid, see message and line   */
    ST_ERR_FILE,        /* a file could not be read or written                         */
    ST_ERR_UNSUPPORTED, /* a combination of choices that is not supported             */
    ST_ERR_NUMERIC,     /* NaN, Inf or a diverged state; the state is unchanged       */
    ST_ERR_EVENTS,      /* more events than the scheme can resolve                    */
    ST_ERR_CANCELLED    /* st_system_cancel, or step_seconds passed; state unchanged  */
} st_Status;

/* Name of a status for messages and JSON: "argument", "memory", ... A static string. */
ST_API const char *st_status_name(st_Status status);

typedef struct st_Error {
    st_Status status;
    int line;          /* line of the file, from 1; 0: no line                  */
    char message[512]; /* one line without newline: the object, the value found, the value expected */
} st_Error;

/* Memory functions of one object. There is no global allocator. `free` receives the same size and alignment as `alloc`.
 */
typedef struct st_Allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align); /* returns NULL if there is no memory */
    void (*free)(void *ctx, void *memory, size_t size, size_t align);
    void *ctx;
} st_Allocator;

/* The default allocator of every def: malloc and free. */
ST_API st_Allocator st_default_allocator(void);

typedef struct st_Vec3 {
    double x, y, z;
} st_Vec3;

/* Unit quaternion, body to world. */
typedef struct st_Quat {
    double w, x, y, z;
} st_Quat;

typedef struct st_Mat3 {
    double m[9]; /* row-major */
} st_Mat3;

typedef struct st_Pose {
    st_Vec3 p; /* position in the world [m] */
    st_Quat q; /* orientation, body to world */
} st_Pose;

#ifdef __cplusplus
}
#endif
#endif
