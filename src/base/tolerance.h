/* base/tolerance.h -- internal tolerances of the library, each with its reason. Tolerances that users may set are in
 * the defs. */
#ifndef STI_TOLERANCE_H
#define STI_TOLERANCE_H

/* Two halves of a symmetric block may differ by this much relative to sqrt(a_ii a_jj). Inertias
 * rotated in floating point differ by a few 1e-16; a block that is meant to be nonsymmetric (a
 * gyroscopic term of one step) differs by 1e-6 and more.                                          */
#define STI_SYMMETRY_TOLERANCE 1e-10

/* A pivot of S below this fraction of its own diagonal entry marks a row that depends on others. With rows scaled to
 * a unit diagonal, rounding leaves about 1e-16/d there, d the smallest independent pivot before it: 1e-13 seen for d
 * > 1e-3. If it were larger, thin mechanisms would lose a joint (a light body between two that are r times heavier
 * has pivots of 1/r: ratios up to 1e11 pass). If it were smaller, redundant rows would be taken for pivots. A
 * redundant row that is missed (d < 1e-4) gives arbitrary impulses along the dependent rows, which have no effect:
 * velocities and residuals stay correct. */
#define STI_REDUNDANT_PIVOT 1e-12

/* A contact row is held by joints if its diagonal entry of W is below this fraction of its value without joints. In
 * 20000 random mechanisms with mass ratios of 1e8 and stiff rows the entries that should be 0 came out below 1e-24,
 * the others above 1e-10. */
#define STI_HELD 1e-18

/* Friction is held by joints along a direction in which the mobility is below this part of the trace of W_cc. Rounding
 * leaves 1e-16 to 1e-13 there. Answers without this friction are judged again, and kept only if they are as good. */
#define STI_HELD_FRICTION 1e-12
/* Held friction below this part of the friction of its contact is left as it is. */
#define STI_IDLE_FRICTION 1e-10

/* A pivot of A below this fraction of its own diagonal entry: A is not positive definite, or so ill-conditioned that
 * no digit of the solution would be correct. A block of size n has rounding of about n 1e-16 there. */
#define STI_DEFINITE_PIVOT 1e-14

/* A sum smaller than this fraction of its terms is rounding: a row of H has 12 entries, 1e-16 each, and
 * v_free comes out of a solve that loses a digit.                                                  */
#define STI_NOISE 1e-14

/* Error that the equations of joints may leave in a simulation, relative to the velocities in them and to those that
 * forces would cause without joints. Refinement reaches 1e-10 if masses differ by many powers of ten. Redundant
 * joints that have drifted apart by 1e-5 (Bricard's linkage at order one) contradict each other by 1e-7. */
#define STI_JOINT_NOISE 1e-6

/* Overlap [m] beyond which a contact under gap drift counts as overlapping. Resting contacts stay around 0 within
 * the solver's tolerance times h, far below this. If it were larger, a pinched body would have no solution. */
#define STI_OVERLAP 1e-10

/* Adhesion acts up to this part of the smaller shape's size, unless the scene has a range. Gaps of contacts that are
 * held closed are far smaller (1e-9 to 1e-5 of a grain); if it were larger, grains that pass by would be caught. */
#define STI_ADHESION_RANGE 1e-3

/* Margin of a pair relative to the width of its smaller shape. If it were larger, impacts would be deeper
 * (speculative contacts of corners that pass each other); if smaller, steps would be attempted twice. */
#define STI_RELATIVE_MARGIN 1e-2

/* Dead band for overlaps, relative to the same width. Correcting overlaps with velocities that are not solved for
 * exactly makes piles gain energy: 2,000 spheres with 10 sweeps never came to rest without it. */
#define STI_RELATIVE_BAND 1e-3

/* Residual at which an island counts as solved exactly, and the part of the band that is then removed in each step. */
#define STI_EXACT       1e-8
#define STI_BAND_SHRINK 0.0625

/* Islands of a few dozen bodies: a start with this residual is nearly at rest, and Newton's method polishes it to
 * STI_POLISHED. Solved to 1e-4 only, such an island creeps, and its next start is above 1e-4 again. Larger values of
 * STI_QUIET polish what still moves, in vain. */
#define STI_QUIET    2e-4
#define STI_POLISHED 1e-6

/* Normal compliance of an overlapping contact, relative to its mobility: it leaves 1e-8 of the velocity that the
 * impulse causes, which is invisible, and makes a pinched body solvable. Below 1e-12 no digit of the solution would
 * be correct. */
#define STI_OVERLAP_COMPLIANCE 1e-8

/* Error of a solved contact's normal velocity, relative to the speed of the fastest body. Solves to a residual of
 * 1e-4 leave a thousandth of this among bodies of similar mass. If it were smaller, mass ratios of 1000 would be
 * solved twice without need. */
#define STI_VELOCITY_ERROR 0.1

/* Contact velocities below this fraction of the system's fastest count as idle: residuals are relative to at least
 * this. At a tolerance of 1e-9 that requires 1e-15 of the fastest, which is rounding. If it were smaller, steps in
 * which contacts have no effect (a take-off, an impact at rest) would never converge. */
#define STI_IDLE_SPEED 1e-6

/* A contact leaves the active set at separation speeds above this, relative to 1 m/s plus the largest
 * velocity: rounding leaves 1e-16 of it, gravity at h = 1e-6 gives 1e-5 m/s.                        */
#define STI_SEPARATION_SPEED 1e-10

/* eps_b of PAGT eq. 7.1 [m/s^3]: a contact stays active up to a gap of this times h^3 if no drift
 * correction closes gaps. A third derivative of 1 m/s^3 opens a twelfth of that in a step of the trapezoid. With 0
 * the feet of the leaning bars (h = 0.01) leave and land again 70 times. */
#define STI_ACTIVE_GAP_GROWTH 100.0

/* A collision is located until the gap is below this [m], a hundredth of the smallest active_gap in use. */
#define STI_COLLISION_GAP 1e-14

/* Number of consecutive collisions that advance time by less than 1e-9 of the step before the run counts as stuck.
 * Simultaneous contacts of one body cause a handful of such events. */
#define STI_MAX_STALLED 100

/* A projection ends when joints and gaps are closed to this [m, rad]: rounding of coordinates of size 1 to 10. 3
 * rounds are usual. Errors above CLOSED after the rounds of a pass are projected directly; errors above FAILED after
 * that mean contradictory constraints. */
#define STI_PROJECTION_ERROR  2e-15
#define STI_PROJECTION_NEAR   1e-6 /* relative to the first error: below it, project directly (projection.c) */
#define STI_PROJECTION_ROUNDS 20
#define STI_PROJECTION_CLOSED 1e-13
#define STI_PROJECTION_FAILED 1e-10

/* Rounds of the drift `mean` (discrete_gradient.c): 2 are usual, 4 to 6 in a cracking whip. The next step closes the
 * rest. FAR [m, rad]: a round that moves further changes the rows by as much, so that old factors are not reused.
 * LOST: if the rest is so many times the tolerance, rows at one position are used instead. TURN: a relative error of
 * Simpson's rule over a rotation that is too small for another pass over all rows. */
#define STI_MEAN_ROUNDS 12
#define STI_MEAN_FAR    0.03
#define STI_MEAN_LOST   1e4
#define STI_TURN        1e-13

/* Most elements along the side of a compliant patch: 9 x 9 elements make dense blocks of 243 rows, which take a
 * second each to compute. */
#define STI_MAX_PATCH_SIDE 9

/* Continuation to the rigid limit ends with compliances at this fraction of the mobility. The forces differ from
 * the limit by about as much; below it, rounding of 1e-16 over the compliance is larger than that.  */
#define STI_RIGID_LIMIT 1e-8

/* A problem of few contacts that is left with this residual has no solution: solvers reach 1e-9 where there is one, and
 * miss by a few per cent at worst. */
#define STI_NO_SOLUTION 0.1

/* An initial state is consistent if joints and gaps are closed to this [m, rad, m/s, rad/s]: people write seven
 * digits. */
#define STI_CONSISTENT 1e-6

/* Allowed deviation of a quaternion's length from 1: people write rounded digits. */
#define STI_UNIT 1e-3

#endif
