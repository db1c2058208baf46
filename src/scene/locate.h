/* scene/locate.h -- finds the line of a part of a JSON text, and the part at a position.
 *
 * jansson gives lines for syntax errors only. All other errors of a scene are found in the tree. To report one, the
 * text is scanned a second time to find the line.
 */
#ifndef STI_SCENE_LOCATE_H
#define STI_SCENE_LOCATE_H

#include <stddef.h>

/* A part of a JSON document: a chain from the part up to the root, which is NULL. Lives on the stack. */
typedef struct sti_Place {
    const struct sti_Place *up;
    const char *key; /* member of an object; NULL: member of a list, number `index` */
    size_t index;
} sti_Place;

#define STI_MAX_DEPTH 16 /* parts of a place; scene files use 7 */

/* The line, from 1, on which a part starts: its key in an object, its first character in a list. If the text has no
 * such part, the line of the deepest part of the chain that exists. The text must be valid JSON. */
int sti_locate(const char *text, size_t length, const sti_Place *place);

/* "bodies/left/mass": the part that contains the byte at `position`; "" at the top. List members are given by name
 * if the name comes before that byte, else by number. The text may be broken at and after position. */
void sti_path_at(const char *text, size_t length, size_t position, char *out, size_t size);

/* "bodies/0/mass": the chain as text, in the form of --set; cut at size - 1. */
void sti_place_text(const sti_Place *place, char *out, size_t size);

#endif
