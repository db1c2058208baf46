/* model/row_buffer.h -- where a model's rows are collected: joints, soft and bounded rows, contacts at one
 * (t, q). */
#ifndef STI_SINK_H
#define STI_SINK_H

#include "base/base.h"

#include <stiction/model.h>
#include <stiction/scene.h>

/* Sparse rows, one after another: row k has entries p[k] .. p[k+1]-1. A Jacobian's rows are the columns
 * of G or H, so that this is the compressed form the step problem wants.                          */
typedef struct sti_RowList {
    int n_rows;
    int64_t *p;
    int *i;
    double *x;
    int64_t p_capacity, i_capacity, x_capacity;
} sti_RowList;

typedef struct sti_JointEntry {
    double value, rate;
    int64_t velocity; /* 1: of velocities alone, there is no drift                                 */
    double stiffness; /* regularized; 0: the setting's                                             */
} sti_JointEntry;

typedef struct sti_SoftEntry {
    double value, stiffness, damping;
    double energy; /* beside stiffness value^2/2                                                   */
} sti_SoftEntry;

/* One number of each of dk/dq and dk/dv: of k_i by velocity j. */
typedef struct sti_DerivativeEntry {
    int i, j;
    double dq, dv;
} sti_DerivativeEntry;

typedef struct sti_BoundedEntry {
    uint64_t id;
    double lo, hi, target, value, stiffness, damping;
} sti_BoundedEntry;

/* How a surface of b moves against one of a beside their bodies, in the contact's frame (contact_rows.c). */
typedef struct sti_Belt {
    double slide[2]; /* along the tangents [m/s]                                                   */
    double turn[3];  /* about normal and tangents [rad/s]                                          */
} sti_Belt;

/* What two surfaces do together. */
typedef struct sti_Surface {
    double mu, restitution, rolling, spinning, stiffness, damping;
    st_Elastic elastic[2];
    bool moves;    /* one of them is a belt                                                        */
    sti_Belt belt; /* of a model of the user's; a world's depends on where the point is            */
    bool turns;    /* the rates at which the bodies turn against each other are asked for             */
    st_SurfaceLaw more;
    /* Friction by direction: bounds mu r_n slender and mu r_n/slender along and across `along`. The tangential rows are
     * multiplied by these two factors, and Coulomb's law then holds with mu: stage_contacts.c.       */
    double slender;
    int along_of; /* the shape whose axes `along` is in: 0 or 1; -1: friction is the same in all directions */
    st_Vec3 along;
} sti_Surface;

/* Do the tangential rows have factors? */
static inline bool sti_is_slender(const sti_Surface *surface)
{
    return surface->slender > 0 && surface->slender != 1;
}

/* That of row k of a contact in space: 0 along the normal, 1 and 2 along the tangents. */
static inline double sti_row_factor(const sti_Surface *surface, int k)
{
    if (!sti_is_slender(surface) || k < 1 || k > 2) return 1;
    return k == 1 ? surface->slender : 1 / surface->slender;
}

typedef struct sti_ContactEntry {
    uint64_t id;
    double gap;
    double closing; /* at most so fast, foreseen when the contact was looked for; 0: not, or within the margin [m/s] */
    const sti_Surface *surface; /* the world's, or one that the sink keeps                         */
    int first_row;              /* in contact_rows; -1: not made, sti_contact_rows makes them      */
    int a, b, shape_a, shape_b;
    uint8_t dim;
    bool turns;       /* three rows more behind those of dim                                             */
    bool own_surface; /* the surface is the sink's                                                       */
    st_Vec3 point, normal, tangent;
} sti_ContactEntry;

/* The first of the rows about which bodies turn; -1: none. */
static inline int sti_turning_row(const sti_ContactEntry *entry)
{
    return entry->turns ? entry->first_row + entry->dim : -1;
}

struct st_Sink {
    st_Allocator allocator;
    int n_v;
    sti_RowList joint_rows, soft_rows, bounded_rows, contact_rows;
    sti_JointEntry *joint;
    sti_SoftEntry *soft;
    sti_BoundedEntry *bounded;
    sti_ContactEntry *contact;
    int n_contacts;
    sti_Surface **surface; /* those of the contacts that have one of their own, by chunks that stay where they are */
    int n_surfaces;
    bool constraints_known; /* all but contacts is there, for the position asked for next (sti_evaluate_ahead)   */
    bool laid_out; /* joint_rows has the entries of a world's joints, which stay: only numbers change            */
    int64_t still; /* a world's: rows of joints that sleep are as they were evaluated when it had this number; 0: not */
    int64_t still_bounded;           /* likewise of friction in joints                                       */
    bool rows_later;                 /* the world may leave the rows of contacts to whoever wants them             */
    sti_DerivativeEntry *derivative; /* of the forces, where the sink is for them: force_derivatives.c   */
    int n_derivatives;
    int64_t derivative_capacity;
    int64_t joint_capacity, soft_capacity, bounded_capacity, contact_capacity, surface_capacity;
};

/* Empty the part that is about to be filled again. */
void sti_row_buffer_clear_constraints(st_Sink *sink);
void sti_row_buffer_clear_contacts(st_Sink *sink);
void sti_row_buffer_free(st_Sink *sink);
/* Room for as much as `like` has, and no more. */
st_Status sti_row_buffer_reserve(st_Sink *sink, const st_Sink *like, st_Error *err);

st_Status sti_rows_append(const st_Allocator *allocator, sti_RowList *rows, int count, const int *index,
                          const double *gradient, st_Error *err);
/* Rows first .. first + n - 1 of another list, behind those of this one. */
st_Status sti_rows_append_rows(const st_Allocator *allocator, sti_RowList *to, const sti_RowList *from, int first,
                               int n, st_Error *err);
/* The same in two steps: room for n rows of at most `most` numbers, to be written one behind the other; and when they
 * are known, the velocities that all of them touch.                                               */
st_Status sti_rows_room(const st_Allocator *allocator, sti_RowList *rows, int n, int most, double **gradient,
                        st_Error *err);
void sti_rows_close(sti_RowList *rows, int n, int count, const int *index);
void sti_rows_free(const st_Allocator *allocator, sti_RowList *rows);

/* One more contact, in two steps: the place for it, to be filled but for first_row and turns, and room for n_rows
 * of `count` numbers, to be written one behind the other; then it counts, with rows that all touch the velocities
 * `index`. Nothing is checked: st_push_contact() does that for models of anyone's.                 */
st_Status sti_row_buffer_room(st_Sink *sink, int n_rows, int count, sti_ContactEntry **contact, double **gradient,
                              st_Error *err);
/* A copy of a surface, for the contact at hand, that lives until the sink is cleared. */
st_Status sti_row_buffer_keep_surface(st_Sink *sink, sti_ContactEntry *contact, const sti_Surface *surface,
                                      st_Error *err);
/* The contacts of another sink behind those of this one. */
st_Status sti_row_buffer_append(st_Sink *sink, const st_Sink *from, st_Error *err);
void sti_row_buffer_add_contact(st_Sink *sink, int n_rows, int count, const int *index);

/* The rows of a joint, which all touch the same velocities, in one: the first of its n_rows entries, and where their
 * gradients are to be written. In a sink that is laid out `index` is not looked at. */
st_Status sti_row_buffer_add_joint(st_Sink *sink, int n_rows, int count, const int *index, sti_JointEntry **entry,
                                   double **gradient, st_Error *err);

/* Rows of the world's own: velocities and gradients are not checked, as st_push_joint() and its neighbours do for
 * models of anyone's.                                                                                       */
st_Status sti_push_joint(st_Sink *sink, const st_JointRow *row, st_Error *err);
st_Status sti_push_soft(st_Sink *sink, const st_SoftRow *row, st_Error *err);
st_Status sti_push_bounded(st_Sink *sink, const st_BoundedRow *row, st_Error *err);

/* gradient . v of row k. */
static inline double sti_row_dot(const sti_RowList *rows, int k, const double *v)
{
    double sum = 0;
    for (int64_t e = rows->p[k]; e < rows->p[k + 1]; e++)
        sum += rows->x[e] * v[rows->i[e]];
    return sum;
}

/* The first contact with this id or a larger one, and the one with this id, or -1: they stand by increasing id. */
int sti_row_buffer_lower(const st_Sink *sink, uint64_t id);
int sti_row_buffer_find(const st_Sink *sink, uint64_t id);

#endif
