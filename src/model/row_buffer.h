/* model/row_buffer.h -- collects the rows of a model: joints, soft and bounded rows, contacts at one (t, q). */
#ifndef STI_SINK_H
#define STI_SINK_H

#include "base/base.h"

#include <stiction/model.h>
#include <stiction/scene.h>

/* Sparse rows: row k has entries p[k] .. p[k+1]-1. The rows of a Jacobian are the columns of G or H, so this is the
 * compressed form of the step problem. */
typedef struct sti_RowList {
    int n_rows;
    int64_t *p;
    int *i;
    double *x;
    int64_t p_capacity, i_capacity, x_capacity;
} sti_RowList;

typedef struct sti_JointEntry {
    double value, rate;
    int64_t velocity; /* 1: a row on velocities alone, which has no drift */
    double stiffness; /* regularized; 0: use the setting */
} sti_JointEntry;

typedef struct sti_SoftEntry {
    double value, stiffness, damping;
    double energy; /* added to stiffness value^2/2 */
} sti_SoftEntry;

/* One entry of dk/dq and of dk/dv: k_i by velocity j. */
typedef struct sti_DerivativeEntry {
    int i, j;
    double dq, dv;
} sti_DerivativeEntry;

typedef struct sti_BoundedEntry {
    uint64_t id;
    double lo, hi, target, value, stiffness, damping;
} sti_BoundedEntry;

/* The velocity of a surface of b relative to one of a, in addition to their bodies, in the contact frame
 * (contact_rows.c). */
typedef struct sti_Belt {
    double slide[2]; /* along the tangents [m/s]                                                   */
    double turn[3];  /* about normal and tangents [rad/s]                                          */
} sti_Belt;

/* The combined properties of two surfaces. */
typedef struct sti_Surface {
    double mu, restitution, rolling, spinning, stiffness, damping;
    st_Elastic elastic[2];
    bool moves;    /* one of them is a belt                                                        */
    sti_Belt belt; /* for a user's model; in a world it depends on the point */
    bool turns;    /* relative rotation of the bodies is needed */
    st_SurfaceLaw more;
    /* Friction by direction: bounds mu r_n slender and mu r_n/slender along and across `along`. The tangential rows are
     * multiplied by these two factors, and Coulomb's law then holds with mu: stage_contacts.c.       */
    double slender;
    int along_of; /* the shape in whose axes `along` is given: 0 or 1; -1: friction is isotropic */
    st_Vec3 along;
} sti_Surface;

/* Do the tangential rows have factors? */
static inline bool sti_is_slender(const sti_Surface *surface)
{
    return surface->slender > 0 && surface->slender != 1;
}

/* The factor of row k of a contact in space: 0 along the normal, 1 and 2 along the tangents. */
static inline double sti_row_factor(const sti_Surface *surface, int k)
{
    if (!sti_is_slender(surface) || k < 1 || k > 2) return 1;
    return k == 1 ? surface->slender : 1 / surface->slender;
}

typedef struct sti_ContactEntry {
    uint64_t id;
    double gap;
    double closing; /* largest expected closing speed when the contact was found; 0: none, or within the margin [m/s] */
    const sti_Surface *surface; /* the world's, or one stored in the sink */
    int first_row;              /* first row in contact_rows; -1: not computed yet, sti_contact_rows computes them */
    int a, b, shape_a, shape_b;
    uint8_t dim;
    bool turns;       /* three more rows after those of dim */
    bool own_surface; /* the surface is stored in the sink */
    st_Vec3 point, normal, tangent;
} sti_ContactEntry;

/* The first of the rotational rows; -1: none. */
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
    sti_Surface **surface; /* surfaces of contacts with their own, in chunks that never move */
    int n_surfaces;
    bool constraints_known; /* everything except contacts is valid for the next position (sti_evaluate_ahead) */
    bool opening_known;     /* `opening` and `open_joint` are computed: how far the worst joint is open */
    double opening;
    int open_joint;
    bool laid_out; /* joint_rows has the pattern of a world's joints, which stays: only numbers change */
    int64_t still; /* world: rows of sleeping joints were evaluated at this value of the counter `still`; 0: not */
    int64_t still_bounded;           /* likewise for friction in joints */
    bool rows_later;                 /* the world may leave contact rows to be computed on demand */
    sti_DerivativeEntry *derivative; /* derivatives of the forces, if the sink is for them: force_derivatives.c */
    int n_derivatives;
    int64_t derivative_capacity;
    int64_t joint_capacity, soft_capacity, bounded_capacity, contact_capacity, surface_capacity;
};

/* Empties the part that will be filled next. */
void sti_row_buffer_clear_constraints(st_Sink *sink);
void sti_row_buffer_clear_contacts(st_Sink *sink);
void sti_row_buffer_free(st_Sink *sink);
/* Makes exactly as much room as `like` has used, without the pattern of joints: see sti_row_buffer_exchange(). */
st_Status sti_row_buffer_reserve(st_Sink *sink, const st_Sink *like, st_Error *err);

/* Swaps two sinks of one world, of which the first is in use and the second keeps rows. The pattern of joint rows is
 * the same in both, so the first keeps it, and the second needs no memory for it. */
void sti_row_buffer_exchange(st_Sink *used, st_Sink *kept);

st_Status sti_rows_append(const st_Allocator *allocator, sti_RowList *rows, int count, const int *index,
                          const double *gradient, st_Error *err);
/* Appends rows first .. first + n - 1 of another list. */
st_Status sti_rows_append_rows(const st_Allocator *allocator, sti_RowList *to, const sti_RowList *from, int first,
                               int n, st_Error *err);
/* Likewise in two steps: makes room for n rows of at most `most` numbers, which the caller writes consecutively;
 * then adds them with the velocities that all of them touch. */
st_Status sti_rows_room(const st_Allocator *allocator, sti_RowList *rows, int n, int most, double **gradient,
                        st_Error *err);
void sti_rows_close(sti_RowList *rows, int n, int count, const int *index);
void sti_rows_free(const st_Allocator *allocator, sti_RowList *rows);

/* Adds a contact in two steps. The first returns its record, to be filled except for first_row and turns, and room
 * for n_rows of `count` numbers, to be written consecutively. The second adds it, with rows that all touch the
 * velocities `index`. Nothing is checked: st_push_contact() does that for users' models. */
st_Status sti_row_buffer_room(st_Sink *sink, int n_rows, int count, sti_ContactEntry **contact, double **gradient,
                              st_Error *err);
/* A copy of a surface for the current contact, valid until the sink is cleared. */
st_Status sti_row_buffer_keep_surface(st_Sink *sink, sti_ContactEntry *contact, const sti_Surface *surface,
                                      st_Error *err);
/* Appends the contacts of another sink. */
st_Status sti_row_buffer_append(st_Sink *sink, const st_Sink *from, st_Error *err);
void sti_row_buffer_add_contact(st_Sink *sink, int n_rows, int count, const int *index);

/* Adds the n_rows rows of a joint, which all touch the same velocities: returns the first entry and the memory for
 * their gradients. If the sink is laid out, `index` is not read. */
st_Status sti_row_buffer_add_joint(st_Sink *sink, int n_rows, int count, const int *index, sti_JointEntry **entry,
                                   double **gradient, st_Error *err);

/* Adds rows of the world. Velocities and gradients are not checked, unlike in st_push_joint() etc. for users'
 * models. */
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

/* The first contact with this id or a larger one, and the one with this id, or -1. Contacts are sorted by id. */
int sti_row_buffer_lower(const st_Sink *sink, uint64_t id);
int sti_row_buffer_find(const st_Sink *sink, uint64_t id);

#endif
