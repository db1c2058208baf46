/* base/tolerance.h -- the library's own small numbers, each with its reason. What a user may want to
 * set is not here but in the defs.
 */
#ifndef STI_TOLERANCE_H
#define STI_TOLERANCE_H

/* Two halves of a symmetric block may differ by this much relative to sqrt(a_ii a_jj). Inertias
 * rotated in floating point differ by a few 1e-16; a block that is meant to be nonsymmetric (a
 * gyroscopic term of one step) differs by 1e-6 and more.                                          */
#define STI_SYMMETRY_TOLERANCE 1e-10

/* A pivot of S below this fraction of its own diagonal entry marks a row that depends on others. With
 * rows scaled to a unit diagonal, rounding leaves about 1e-16/d there, d the smallest independent pivot
 * before it: 1e-13 seen for d > 1e-3. Larger, and thin mechanisms lose a joint (a light body between two
 * that are r times heavier has pivots of 1/r: ratios up to 1e11 pass); smaller, and redundant rows are
 * taken for pivots. One that slips through (d < 1e-4) brings arbitrary impulses along the dependent
 * rows, which push nothing: velocities and residuals stay right.                                  */
#define STI_REDUNDANT_PIVOT 1e-12

/* A contact row whose entry of W is below this fraction of what it would be without joints is held by them. In
 * 20000 random mechanisms with mass ratios of 1e8 and stiff rows the entries that should be 0 came out
 * below 1e-24, the others above 1e-10.                                                             */
#define STI_HELD 1e-18

/* A pivot of A below this fraction of its own diagonal entry: A is not positive definite, or so nearly
 * that no digit of the answer would be right. A block of size n has rounding of about n 1e-16 there. */
#define STI_DEFINITE_PIVOT 1e-14

/* A sum smaller than this fraction of its terms is rounding: a row of H has 12 entries, 1e-16 each, and
 * v_free comes out of a solve that loses a digit.                                                  */
#define STI_NOISE 1e-14

/* What the equations of joints may leave in a simulation, against the velocities in them and those that forces would
 * bring without joints. Refinement gets them to 1e-10 where masses differ by many powers of ten; redundant joints that
 * have drifted apart by 1e-5 (Bricard's linkage at order one) contradict each other by 1e-7. */
#define STI_JOINT_NOISE 1e-6

/* Overlap [m] beyond which a contact under gap drift counts as overlapping. Resting contacts hover around
 * 0 within the solver's tolerance times h, far below this; larger, and a pinched body has no solution. */
#define STI_OVERLAP 1e-10

/* Adhesion acts up to this part of the smaller shape's size, unless the scene has a range. Gaps of contacts that are
 * held closed are far smaller (1e-9 to 1e-5 of a grain); if it were larger, grains that pass by would be caught. */
#define STI_ADHESION_RANGE 1e-3

/* Margin of a pair in parts of the width of its smaller shape. Larger, and impacts are deeper (speculative contacts of
 * corners that pass each other); smaller, and steps are attempted twice.                            */
#define STI_RELATIVE_MARGIN 1e-2

/* Dead band for overlaps, in parts of the same width. Correcting overlaps with velocities that are not solved for
 * exactly is what makes piles gain energy: 2,000 spheres with 10 sweeps never came to rest without it.        */
#define STI_RELATIVE_BAND 1e-3

/* Residual of an island that counts as solved exactly, and the part of the band that goes in each step from then on. */
#define STI_EXACT       1e-8
#define STI_BAND_SHRINK 0.0625

/* Normal compliance of an overlapping contact, relative to its mobility: leaves 1e-8 of the impulse's own
 * velocity, invisible, and makes a pinched body solvable. Below 1e-12 the pinch is solved to no digits. */
#define STI_OVERLAP_COMPLIANCE 1e-8

/* Error of a solved contact's normal velocity, in parts of the fastest body's speed. Solves to a residual of 1e-4
 * leave a thousandth of this among bodies of like mass; smaller, and ratios of 1000 are solved twice without need. */
#define STI_VELOCITY_ERROR 0.1

/* Contact velocities below this fraction of the system's fastest count as idle: residuals are relative to
 * this at least. At a tolerance of 1e-9 that asks for 1e-15 of the fastest, which is rounding; smaller,
 * and steps in which contacts have nothing to do (a take-off, an impact at rest) never converge.    */
#define STI_IDLE_SPEED 1e-6

/* A contact leaves the active set at separation speeds above this, relative to 1 m/s plus the largest
 * velocity: rounding leaves 1e-16 of it, gravity at h = 1e-6 gives 1e-5 m/s.                        */
#define STI_SEPARATION_SPEED 1e-10

/* eps_b of Potra et al. 2006, eq. 7.1 [m/s^3]: a contact stays active up to a gap of this times h^3 where nothing
 * closes gaps. A third derivative of 1 m/s^3 opens a twelfth of that in a step of the trapezoid. With 0 the feet of the
 * leaning bars (h = 0.01) leave and land again 70 times.                                                   */
#define STI_ACTIVE_GAP_GROWTH 100.0

/* A collision is located until the gap is below this [m], a hundredth of the smallest active_gap in use. */
#define STI_COLLISION_GAP 1e-14

/* Collisions in a row that advance time by less than 1e-9 of the step, before the run is called stuck.
 * Simultaneous contacts of one body arrive as a handful of such events.                             */
#define STI_MAX_STALLED 100

/* A projection ends when joints and gaps are closed to this [m, rad]: rounding of coordinates of size 1 to
 * 10. 3 rounds are usual. What is not CLOSED after the rounds of a pass is tried straight; what is worse
 * than FAILED after that has constraints that contradict.                                           */
#define STI_PROJECTION_ERROR  2e-15
#define STI_PROJECTION_NEAR   1e-6 /* of the first error: from there straight to the constraints (projection.c) */
#define STI_PROJECTION_ROUNDS 20
#define STI_PROJECTION_CLOSED 1e-13
#define STI_PROJECTION_FAILED 1e-10

/* Rounds of the drift `mean` (discrete_gradient.c): 2 are usual, 4 to 6 in a cracking whip. What is left after the last
 * is closed by the next step. FAR [m, rad]: a round that moves further changes rows by as much, and old factors no
 * longer serve. LOST: where so many times the tolerance is left, rows at one place take their place. TURN: the relative
 * error of Simpson's rule over a rotation that is not worth a pass over all rows.  */
#define STI_MEAN_ROUNDS 12
#define STI_MEAN_FAR    0.03
#define STI_MEAN_LOST   1e4
#define STI_TURN        1e-13

/* Elements along the side of a compliant patch, at most: 9 x 9 elements make dense blocks of 243 rows, a
 * second's work each when they are made.                                                            */
#define STI_MAX_PATCH_SIDE 9

/* Continuation to the rigid limit ends with compliances at this fraction of the mobility. The forces differ from
 * the limit by about as much; below it, rounding of 1e-16 over the compliance is larger than that.  */
#define STI_RIGID_LIMIT 1e-8

/* An initial state counts as consistent when joints and gaps are closed to this [m, rad, m/s, rad/s]: people
 * write seven digits.                                                                               */
#define STI_CONSISTENT 1e-6

/* How far a quaternion's length may be from 1, and still be taken for an orientation: people write rounded digits. */
#define STI_UNIT 1e-3

#endif
