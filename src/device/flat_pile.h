/* device/flat_pile.h -- a pile of bodies made of convex pieces, stepped on flat arrays: on the host or on a CUDA
 * device, with the same bits (kernels.h).
 *
 *     model and state --put--> [ step ]* --get--> state
 *
 * State, contacts and impulses stay on the device from step to step. A table of functions for each kind of device: the
 * same source, flat_step.h, compiled by host.c and by cuda.cu.
 */
#ifndef STI_FLAT_PILE_H
#define STI_FLAT_PILE_H

#include "device/kernels.h"

#include <stiction/base.h>
#include <stiction/ranks.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of the caller, copied. Bodies without mass (inverse_mass 0) keep their velocity; `drive` changes it. Absent
 * ones (negative) are far away from all others and touch nothing; `present` changes that. */
typedef struct sti_FlatDef {
    int n_bodies, n_spheres, n_walls, n_surfaces;
    const double *inverse_mass;  /* n_bodies [1/kg]                                             */
    const double *inertia;       /* 6 per body: xx yy zz xy xz yz [kg m^2]                      */
    const int *sphere_body;      /* n_spheres                                                   */
    const double *sphere_centre; /* 3 per sphere, in the body [m]                               */
    const double *sphere_radius; /* [m]                                                         */
    const int *sphere_surface;   /* 0 .. n_surfaces - 1                                         */
    const double *sphere_own;    /* n_surfaces 0: mu, rolling, spinning, restitution of each sphere */
    int n_hulls, n_vertices, n_faces, n_corners, n_edges; /* n_hulls 0: every piece is a sphere            */
    sti_FlatHulls hulls;                                  /* of these counts                              */
    const int *piece_hull;                  /* n_spheres; -1: a sphere. Else `sphere` is a ball that holds it */
    const double *piece_turn;               /* 4 per piece: unit quaternion, in the body                   */
    const double *piece_round, *piece_size; /* beyond its hull; half its least width [m]                   */
    const sti_FlatWall *wall;               /* n_walls                                                     */
    int n_driven;                           /* bodies without mass whose motion is prescribed                 */
    const int *driven;                      /* which they are                                                 */
    int n_triangles, n_nodes, n_mesh_vertices, n_spokes; /* of walls that are meshes                       */
    sti_FlatMeshes meshes;                               /* of these counts                                */
    const double *mu, *rolling, *spinning, *restitution; /* n_surfaces x n_surfaces                       */
    double rebound_speed;    /* [m/s] slower approaches do not rebound; infinite: none does                */
    double gravity[3];       /* [m/s^2]                                                     */
    double correction_speed; /* [m/s] at most, of bodies that overlap                       */
    double usual_h;          /* [s] shorter steps correct overlaps no faster than this one  */
    double tolerance;        /* of the rms residual, relative to the velocity by gravity in a step */
    int max_sweeps;
    int threads;                /* host                                                                */
    bool (*stopped)(void *ctx); /* called between sweeps: true ends the step with ST_ERR_CANCELLED     */
    void *stop;                 /* its ctx                                                             */
    const st_Ranks *ranks;      /* NULL or of size 1: there is one                                     */
    /* Something beside the pile pushes the coupled bodies, too (`couple`). It gets their velocities, 6 numbers of each
     * in world axes, and changes them by its own impulses.
     *     factor < 0     free velocities, before the first sweep
     *     else           after a sweep, which began with velocities extrapolated by this factor                     */
    st_Status (*beside)(void *ctx, double factor, double *u, st_Error *err);
    void *beside_ctx;
} sti_FlatDef;

typedef struct sti_FlatInfo {
    int contacts, colours, sweeps;
    int limited;               /* rebounds that would have given energy, and leave more slowly                  */
    int struck;                /* contacts that close in the step: their impulses hold an impact                */
    double residual;           /* rms over contacts, in the units of the tolerance                              */
    double kinetic, potential; /* after the step [J]                                                  */
    double friction;           /* its work in the step, <= 0 [J]                                      */
    double given;              /* work that walls and bodies without mass do [J]                       */
    double overlap;            /* as at the start of the step [m]                                     */
    double fastest;            /* the largest number of the new velocity                              */
} sti_FlatInfo;

/* A contact of the last step, as it was at its start. */
typedef struct sti_FlatContact {
    int sphere, other;      /* other: a sphere, or -1 - k: wall k, or triangle k - n_walls              */
    double x[3], n[3], gap; /* the point on the sphere; the normal, towards it                          */
    bool struck;
    double r[3], m[3]; /* impulse and torque impulse on the sphere's body [N s, N m s]             */
} sti_FlatContact;

/* A contact of the last step, by spheres: the warm start of the next one. */
typedef struct sti_FlatImpulse {
    int sphere, other, feature, colour;
    double r[3], m[3];
} sti_FlatImpulse;

typedef struct sti_FlatPile sti_FlatPile;

typedef struct sti_FlatDevice {
    const char *name;
    st_Status (*create)(const sti_FlatDef *def, const st_Allocator *allocator, sti_FlatPile **out, st_Error *err);
    void (*destroy)(sti_FlatPile *pile);
    /* 7 and 6 numbers per body. A state that is put forgets the impulses of the last step. */
    st_Status (*put)(sti_FlatPile *pile, const double *q, const double *v, st_Error *err);
    /* Of bodies first .. first + n - 1. */
    st_Status (*get)(sti_FlatPile *pile, int first, int n, double *q, double *v, st_Error *err);
    /* Bodies first .. first + n - 1 come or go: the sign of inverse_mass says which (sti_FlatDef). With their new
     * state. NULL: not of several ranks. */
    st_Status (*present)(sti_FlatPile *pile, int first, int n, const double *inverse_mass, const double *q,
                         const double *v, st_Error *err);
    /* The state as the last step began. */
    st_Status (*before)(sti_FlatPile *pile, double *q, double *v, st_Error *err);
    /* Velocities of the driven bodies in the next step, 6 of each, as in `put`. */
    st_Status (*drive)(sti_FlatPile *pile, const double *v, st_Error *err);
    /* A step that fails leaves the state as it was, but forgets impulses. */
    st_Status (*step)(sti_FlatPile *pile, double h, sti_FlatInfo *info, st_Error *err);
    /* All contacts of the last step: info.contacts of them. */
    st_Status (*contacts)(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err);
    /* As many, for a saved state; and back, after `put`, with the length of that step. NULL: not of several ranks. */
    st_Status (*impulses)(sti_FlatPile *pile, sti_FlatImpulse *out, st_Error *err);
    st_Status (*put_impulses)(sti_FlatPile *pile, const sti_FlatImpulse *in, int n, double h, st_Error *err);
    /* The bodies that something beside the pile pushes, from the next step on. */
    st_Status (*couple)(sti_FlatPile *pile, const int *body, int n, st_Error *err);
    /* The contact of the last step with the smallest gap: sphere, other and gap; without contacts its gap is infinite.
     */
    st_Status (*deepest)(sti_FlatPile *pile, sti_FlatContact *out, st_Error *err);
} sti_FlatDevice;

extern const sti_FlatDevice sti_flat_host, sti_flat_host_ranks; /* ranks: of rank 0, def.ranks has others */
#ifdef STI_HAVE_CUDA
extern const sti_FlatDevice sti_flat_cuda, sti_flat_cuda_ranks;
#endif

#ifdef __cplusplus
}
#endif

#endif
