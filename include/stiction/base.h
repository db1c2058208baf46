/* stiction/base.h -- status, messages, memory and the small vectors every other header uses.
 *
 * Everything that can fail returns an st_Status; what a person must read goes to the optional
 * st_Error. Whatever returns a status takes any argument and says what is wrong with it; whatever does not (counts,
 * times, names) wants an object that is there. The library never exits, aborts or prints. SI units and radians
 * throughout.
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

/* "0.1.0": the version of the library that is linked, not of the header. */
ST_API const char *st_version(void);

typedef enum st_Status {
    ST_OK = 0,
    ST_ERR_ARGUMENT,    /* a value is outside its documented range                     */
    ST_ERR_MEMORY,      /* the allocator refused; the object is as it was before       */
    ST_ERR_FORMAT,      /* a file could not be understood, see message and line        */
    ST_ERR_FILE,        /* a file could not be read or written                         */
    ST_ERR_UNSUPPORTED, /* choices that cannot work together                           */
    ST_ERR_NUMERIC,     /* NaN, Inf or a diverged state; the step was not applied      */
    ST_ERR_EVENTS       /* events accumulate faster than the scheme can resolve them   */
} st_Status;

/* "argument", "memory", ...: for messages and JSON. */
ST_API const char *st_status_name(st_Status status);

typedef struct st_Error {
    st_Status status;
    int line;          /* of the file being read, 1-based; 0: no line             */
    char message[512]; /* one line, no newline: what, which, found, expected      */
} st_Error;

/* Memory comes from here: one per object, never global. Size and alignment go to both calls. */
typedef struct st_Allocator {
    void *(*alloc)(void *ctx, size_t size, size_t align); /* NULL when refused        */
    void (*free)(void *ctx, void *memory, size_t size, size_t align);
    void *ctx;
} st_Allocator;

/* malloc and free; what every def starts with. */
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
