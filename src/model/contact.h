/* model/contact.h -- from pairs of shapes to contacts: what the files that find them share, and nobody else.
 *
 *     contact.c         all pairs, by one thread or a team
 *     contact_pair.c    one pair: is it near, and where does it touch
 *     contact_point.c   one point: does it matter, and the contact it becomes
 *     contact_entry.c   a contact that was found: its rows, and its gap elsewhere
 */
#ifndef STI_CONTACT_H
#define STI_CONTACT_H

#include "model/world.h"

/* What is the same for all pairs, then what was looked up for the pair at hand, so far as it was needed. */
typedef struct sti_ContactTask {
    sti_World *world;
    st_Sink *sink;
    st_Error *err;
    double margin;
    sti_Points *points;   /* room for those of a pair                                              */
    int plane;            /* the last plane that was met, -1: none                                    */
    st_Vec3 plane_normal; /* its normal                                                            */

    sti_Pair pair;
    int a, b;        /* its bodies                                                                 */
    sti_Collide how; /* how.margin is `margin` and the ways that its bodies are expected to go     */

    sti_Surface own;
    const sti_Surface *surface; /* in the table, or `own`; NULL: not looked up yet, nor what follows */
    int count;                  /* velocities of both bodies                                       */
    uint64_t id;                /* of the pair's contacts, but for the feature                     */
    bool slides;                /* there is friction, whatever the point                           */

    st_Vec3 normal; /* of the last point, which the next of a patch shares                        */
    bool foreseen;  /* `closing` is known: how fast the pair closes along it                      */
    double closing;
    bool framed; /* so are `dim` and `tangent`                                                 */
    int dim;
    st_Vec3 tangent;
} sti_ContactTask;

/* A pair whose balls are near: its contacts. */
st_Status sti_contact_push_pair(sti_ContactTask *task, sti_Pair *pair);

/* A point of the task's pair: a contact, if it is within the margin or foreseen to be. */
st_Status sti_contact_push_point(sti_ContactTask *task, const sti_ContactPoint *point);

/* The rows of a contact on the velocities of both bodies, one behind the other, each with `count` numbers: `dim` rates
 * along the normal and the tangents, and if it `turns`, three about them.           */
void sti_contact_put_rows(const sti_World *world, const sti_ContactEntry *entry, int count, int dim, bool turns,
                          double *x);

#endif
