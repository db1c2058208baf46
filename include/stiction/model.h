/* stiction/model.h -- the system interface: the functions of a mechanical system that a scheme calls.
 *
 * The rigid-body world of scene.h implements this interface. Your own C code can implement it too, with generalised
 * coordinates q, velocities v and a mass matrix M(q). It can then use all schemes and solvers:
 *
 *     M(q) dv/dt = k(t, q, v) + springs, dampers + joints + contacts,     dq/dt = v (or `move`)
 *
 * Rows of Jacobians are passed one by one to a sink. A row has `count` entries: gradient[k] for velocity index[k]. The
 * sink copies the row; its arrays may change after the call. See examples/cart_pendulum.c.
 */
#ifndef STICTION_MODEL_H
#define STICTION_MODEL_H

#include <stiction/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A joint: theta(t, q) = 0. d theta/dt = gradient . v + rate. */
typedef struct st_JointRow {
    double value; /* theta [m or rad]                                                  */
    double rate;  /* partial d theta/dt [m/s]: 0 unless motion is prescribed in time   */
    int count;
    const int *index;
    const double *gradient;
    bool velocity;    /* the row is only gradient' v + rate = 0: it has no theta, and its drift is not corrected */
    double stiffness; /* for contact regularized and forces least_norm [N/m or N m/rad]; 0: the setting's */
} st_JointRow;

/* A spring and damper in parallel: force -(stiffness phi + damping dphi/dt) along the gradient. */
typedef struct st_SoftRow {
    double value;     /* phi(t, q): elongation [m or rad]                              */
    double stiffness; /* [N/m], >= 0                                                   */
    double damping;   /* [N s/m], >= 0; not both may be 0                              */
    int count;
    const int *index;
    const double *gradient;
    double energy; /* nonlinear springs: stored energy in addition to stiffness value^2/2 [J] */
} st_SoftRow;

/* Elastic constants of one body in a compliant contact. */
typedef struct st_Elastic {
    double young;   /* Young's modulus [Pa]; 0: rigid                                  */
    double poisson; /* Poisson's ratio, between -1 and 1/2                             */
} st_Elastic;

/* A force between bounds: motors with a force limit, dry friction in a joint. With s = gradient . v,
 *
 *     rigid (stiffness = damping = 0)   s = target while the force is within lo .. hi, else the force is lo or hi
 *     soft                              force -(stiffness value + damping (s - target)), limited to lo .. hi;
 *                                       value = x - wanted, d wanted/dt = target, so that d value/dt = s - target
 *
 * Every integrator treats it implicitly. It has no effect in an impact, because its force is finite. */
typedef struct st_BoundedRow {
    uint64_t id;      /* larger than the id of every contact; the same in every step   */
    double lo, hi;    /* [N or N m], lo <= hi, may be infinite                         */
    double target;    /* [m/s or rad/s]                                                */
    double value;     /* soft: phi(t, q) [m or rad]                                    */
    double stiffness; /* [N/m], >= 0                                                   */
    double damping;   /* [N s/m], >= 0                                                 */
    int count;
    const int *index;
    const double *gradient;
} st_BoundedRow;

/* A contact with a signed gap that is continuous through touching. Rows: normal (the gradient of the gap), then dim - 1
 * tangents, each with `count` numbers. A limit of a joint is a contact of dim 1.                   */
typedef struct st_ContactRow {
    uint64_t id;        /* of the pair of features; the same in every step                    */
    double gap;         /* [m], negative in overlap                                           */
    double mu;          /* Coulomb friction, >= 0                                             */
    double restitution; /* e of impacts, from 0 to 1                                   */
    int dim;            /* 1 frictionless, 2 in the plane, 3 in space                         */
    int count;
    const int *index;
    const double *gradient; /* dim x count, row-major                                  */
    /* Relative rotation rates of b against a about the normal, the tangent and normal x tangent: 3 x count. Required
     * for rolling and spinning friction and for compliant patches; else NULL.                                  */
    const double *turning;
    double rolling;        /* rolling friction [m], >= 0                             */
    double spinning;       /* spinning friction [m], >= 0; dim 3                     */
    double stiffness;      /* regularized: normal spring [N/m]; 0: the setting's     */
    double damping;        /* regularized: tangential damper [N s/m]; 0: the setting's */
    st_Elastic elastic[2]; /* compliant: of a and of b; not both rigid               */
    double slide[2];       /* belts: velocity of b's surface relative to a's along the tangents [m/s] */
    int a, b;              /* bodies, by your own numbering; -1: the ground           */
    int shape_a, shape_b;  /* by your own numbering                                    */
    st_Vec3 point, normal; /* in the world; normal from a to b                        */
    st_Vec3 tangent;       /* direction of the second row; the third is along normal x tangent */
} st_ContactRow;

/* A block of the derivatives of the forces: the derivatives of k in rows `row` by the velocities and coordinates `col`.
 * Derivatives by q are taken along velocities: column j of dq is the derivative by h of k at move(q, e_j, h). */
typedef struct st_ForceDerivative {
    int n_rows, n_cols;
    const int *row, *col;
    const double *dq; /* n_rows x n_cols, row-major; NULL: 0                                */
    const double *dv; /* n_rows x n_cols, row-major; NULL: 0                                */
} st_ForceDerivative;

typedef struct st_Sink st_Sink;
/* Pass one row to the sink. Call it only in the model function that received the sink. ST_ERR_ARGUMENT if an index or a
 * number is not valid. */
ST_API st_Status st_push_joint(st_Sink *sink, const st_JointRow *row, st_Error *err);
/* Pass one spring and damper to the sink, as st_push_joint. */
ST_API st_Status st_push_soft(st_Sink *sink, const st_SoftRow *row, st_Error *err);
/* Pass one row with a bounded force to the sink, as st_push_joint. */
ST_API st_Status st_push_bounded(st_Sink *sink, const st_BoundedRow *row, st_Error *err);
/* Pass one contact to the sink, as st_push_joint. */
ST_API st_Status st_push_contact(st_Sink *sink, const st_ContactRow *row, st_Error *err);

/* Pass one block of derivatives to the sink, as st_push_joint. Blocks that overlap are added. */
ST_API st_Status st_push_force_derivative(st_Sink *sink, const st_ForceDerivative *block, st_Error *err);

/* The table of functions. Start from st_model_def(). NULL is allowed if the comment says so. Each function receives
 * `ctx` first, writes to its output arguments only, and may be called at any (t, q, v) near the motion. */
typedef struct st_Model {
    int n_q, n_v;     /* coordinates, velocities                                       */
    int n_blocks;     /* diagonal blocks of M; 0: one block of n_v                     */
    const int *first; /* n_blocks + 1 offsets; NULL: one block of n_v                  */
    void *ctx;

    /* M(q): the diagonal blocks one after another, each row-major, symmetric positive definite. */
    st_Status (*mass)(void *ctx, const double *q, double *M, st_Error *err);
    bool constant_mass; /* M does not depend on q: it is evaluated once                    */
    /* k(t, q, v): all forces but springs, dampers, joints and contacts; Coriolis terms included. */
    st_Status (*force)(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err);
    /* dk/dq and dk/dv; they need be neither symmetric nor complete. Implicit integrators evaluate the part of k with
     * these derivatives at the new state and the rest explicitly (docs/methods.md 5). NULL: none. */
    st_Status (*force_derivative)(void *ctx, double t, const double *q, const double *v, st_Sink *sink, st_Error *err);
    /* Springs and dampers, always the same ones in the same order. NULL: none. */
    st_Status (*soft)(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err);
    /* Joint rows, always the same ones in the same order. NULL: none. */
    st_Status (*joints)(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err);
    /* Rows with bounded forces, always the same ones in the same order, by increasing id. NULL: none. */
    st_Status (*bounded)(void *ctx, double t, const double *q, st_Sink *sink, st_Error *err);
    /* Every contact with a gap below `margin`, by increasing id. NULL: none. */
    st_Status (*contacts)(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err);
    /* Apply gyroscopic forces over a step h without gain of energy: replace v by v* (docs/methods.md). NULL: none. */
    void (*gyroscopic)(void *ctx, double h, const double *q, double *v);
    /* Add the gyroscopic forces at v to k. The integrators of order two use this one. NULL: none. */
    void (*gyroscopic_force)(void *ctx, const double *q, const double *v, double *k);
    /* Upper bound of the change of any gap while q moves for a time h at velocity v [m]. NULL: no bound; a
     * fast step then considers every contact. */
    double (*reach)(void *ctx, const double *q, const double *v, double h);
    /* q_out = q moved for a time h at velocity v. NULL: q + h v (n_q = n_v). q_out may be q. */
    void (*move)(void *ctx, const double *q, const double *v, double h, double *q_out);
    /* d with move(q0, d, 1) = q1. NULL: q1 - q0. */
    void (*difference)(void *ctx, const double *q0, const double *q1, double *d);
    /* Potential energy of those forces in `force` that have one [J]. NULL: 0. */
    double (*potential)(void *ctx, double t, const double *q);
    /* Name of velocity i for messages, such as `body "left"`. NULL: "velocity i". */
    void (*name)(void *ctx, int i, char *out, size_t size);
    uint32_t cookie; /* set by st_model_def(); leave alone                             */
} st_Model;

/* A table with all functions NULL; fill in at least n_q, n_v, mass and force. */
ST_API st_Model st_model_def(void);
/* Compare force_derivative with central differences of force. If they differ by more than 1e-5 of the largest entry,
 * the result is ST_ERR_ARGUMENT and the message names the entry. *error (may be NULL) is the largest difference,
 * relative to the largest entry. */
ST_API st_Status st_model_check_derivatives(const st_Model *model, double t, const double *q, const double *v,
                                            double *error, st_Error *err);

#ifdef __cplusplus
}
#endif
#endif
