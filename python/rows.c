/* rows.c -- the list of the members of structs that Python sees, with their types.
 *
 * Names are those of the headers. Bodies, joints and shapes are numbers as in C: 1, 2, ... in the order of the scene, 0
 * is the ground or none; Scene.bodies and its kin know their names.
 */
#include "table.h"

#define S(member, help)          FIELD(StepRow, member, help)
#define LAST(member, help)       FIELD_AS(StepRow, last.member, #member, help)
#define LAST_SOLVE(member, help) FIELD_AS(StepRow, last.solve.member, #member, help)

static const Field step_info[] = {
    LAST(time, "after the step [s]"),
    LAST(h, "length of the last step; shorter than requested if a collision ended it [s]"),
    S(steps, "number of steps"),
    LAST_SOLVE(converged, "the recomputed residual of the last step is within the tolerance"),
    FIELD_AS(StepRow, last.solve.residual.natural, "residual",
             "natural residual of the last step problem, computed independently of the solver"),
    S(worst_residual, "largest residual of all these steps"),
    S(unconverged, "number of these steps that did not converge"),
    LAST_SOLVE(iterations, "pivots or sweeps"),
    LAST_SOLVE(solver, "the solver that found the solution; None: there was nothing to solve"),
    LAST_SOLVE(fallback, "the solver that failed before it, or None"),
    LAST(contacts, "contacts in the step problem"),
    LAST(joints, "joint rows, soft rows not counted"),
    LAST(asleep, "number of sleeping bodies"),
    LAST(islands, "independent parts of the step problem that have contacts"),
    LAST(collisions, "collisions located in the last step"),
    LAST(transitions, "take-offs, sticks, slips and facet changes located"),
    LAST(problems, "step problems solved, impacts included"),
    LAST(accumulated, "more than max_events: no restitution and no transitions until the end of the step"),
    LAST(overlapping, "drift gap: overlapping contacts that were made compliant"),
    LAST(undetermined, "forces least_norm: contacts with forces that are not unique; -1: not computed"),
    LAST(penetration, "deepest overlap of all contacts after the step [m]"),
    LAST(joint_error, "largest error of a joint row after the step [m or rad]"),
    FIELD_AS(StepRow, last.solve.residual.joint, "joint_residual",
             "largest velocity error that the solver left in joints [m/s or rad/s]"),
    LAST(impact_gain, "kinetic energy that impact laws added [J]"),
    LAST(recovery,
         "drift gap: smallest factor on the drift correction of an island; below 1 if the full correction would move "
         "a body faster than correction_speed"),
    LAST(attempts,
         "attempts at this step; energy limit: an attempt that gains energy without a source, or opens a joint "
         "by half of its size, is repeated"),
    LAST(joint_opening, "how far the worst joint is open: lengths relative to the size of the joint, angles in rad"),
    LAST(drift_fallbacks, "drift mean: stages that did not converge and used drift gap for joints"),
    LAST(rebounds_limited, "impacts in which restitution was reduced because it would have added energy"),
    LAST(kinetic, "[J]"),
    LAST(potential, "of gravity, springs, and compliant and regularized contacts [J]"),
    LAST(friction, "work of friction since the start, <= 0 [J]"),
    LAST(work, "work of applied forces, motors, moved joints and belts since the start [J]"),
    LAST(damping, "work of dampers since the start [J]"),
    LAST(impacts, "work along the normals of contacts that close and rebound, since the start [J]"),
    LAST(correction, "work of drift correction since the start [J]"),
    LAST(scheme, "energy change by the integrator itself (implicit and euler) since the start [J]"),
    LAST(unexplained, "change of energy since the start, less friction and the works above [J]"),
    LAST(struck, "contacts that closed in a fixed step, or pinch a body: their impulses are no forces"),
    LAST(force_time, "middle of the step; forces are means over the step, for this time [s]"),
    LAST(force_h, "time that forces act for [s]"),
    LAST(law_change, "friction that depends on speed, liquid bridges: change in the last iteration, relative to all "
                     "impulses, if these "
                     "iterations did not converge; else 0"),
    LAST_SOLVE(redundant_rows, "linearly dependent joint rows that were left out"),
    FIELD_AS(StepRow, last.solve.residual.cone_violation, "cone_violation",
             "largest distance of an impulse from its cone [N s]"),
    FIELD_AS(StepRow, last.solve.residual.complementarity, "complementarity", "sum over contacts of |r . u| [J]"),
};

#define C(member, help) FIELD(st_ContactReport, member, help)
static const Field contact[] = {
    C(id, "the same in every step"),
    FIELD_AS(st_ContactReport, a.index1, "a", "body; 0: the ground"),
    FIELD_AS(st_ContactReport, b.index1, "b", "body; 0: the ground"),
    FIELD_AS(st_ContactReport, shape_a.index1, "shape_a", "shape of a"),
    FIELD_AS(st_ContactReport, shape_b.index1, "shape_b", "shape of b"),
    FIELD_AS(st_ContactReport, joint.index1, "joint", "the joint at its limit; 0: a contact of shapes"),
    C(point, "in the world [m]"),
    C(normal, "unit, from a to b"),
    C(tangent, "direction of velocity[1] and impulse[1]; [2] is along normal x tangent"),
    C(gap, "at the start of the step [m]"),
    C(asleep, "its bodies sleep, and its force is the last one"),
    C(dim, "number of entries of velocity and impulse that are used"),
    C(velocity, "normal, tangents [m/s]; rolling, spinning [rad/s]"),
    C(impulse, "normal, tangents [N s]; rolling, spinning [N m s]"),
    C(impact, "part of the impulse that comes from impacts"),
    C(force, "on b, at the point, mean over the step without impacts, world axes [N]"),
    C(torque, "on b, at the point, mean over the step without impacts, world axes [N m]"),
    C(struck,
      "a contact closed here, or at a body connected by joints, in a fixed step: the whole impulse counts as impact"),
};

#define J(member, help) FIELD_AS(JointRow, report.member, #member, help)
static const Field joint[] = {
    FIELD(JointRow, id, "of the joint; Scene.joints has the names"),
    J(point, "of b, in the world [m]"),
    J(impulse, "of a on b over the last step [N s]"),
    J(angular_impulse, "about the point [N m s]"),
    J(impact, "part of the impulse that comes from impacts [N s]"),
    J(angular_impact, "about the point [N m s]"),
    J(force, "of a on b, mean over the step without impacts [N]"),
    J(torque, "of a on b, about the point [N m]"),
    J(error, "largest error of its rows [m or rad]"),
    J(coordinate, "coordinate of the joint [m or rad]"),
    J(speed, "of the coordinate [m/s or rad/s]"),
    J(motor, "force or torque of the motor on the coordinate [N or N m]"),
    J(friction, "force or torque of dry friction on the coordinate [N or N m]"),
    J(limit, "force or torque of a limit on the coordinate [N or N m]"),
    J(spring, "force or torque of spring and damper on the coordinate [N or N m]"),
    J(other, "the other coordinate, if it has limits"),
    J(other_speed, "speed of the other coordinate"),
    J(other_limit, "force or torque of the limit of the other coordinate"),
    J(gear, "of a gear, on the coordinate of its joint_a [N or N m]"),
    J(struck, "a contact closed at a body connected by joints in a fixed step: the whole impulse counts as impact"),
};

#define SP(member, help) FIELD_AS(SpringRow, report.member, #member, help)
static const Field spring[] = {
    FIELD(SpringRow, id, "of the spring; Scene.springs has the names"),
    SP(point_a, "its end at a, in the world [m]"),
    SP(point_b, "its end at b [m]"),
    SP(length, "distance of the ends; angular: its angle [m or rad]"),
    SP(rate, "of the length [m/s or rad/s]"),
    SP(force, "mean over the last step; > 0: it pulls the ends together [N or N m]"),
    SP(force_on_b, "at its end, world axes [N]"),
    SP(torque_on_b, "at its end, world axes [N m]"),
};

#define E(member, help) FIELD(st_EventReport, member, help)
static const Field event[] = {
    E(kind, "\"collision\", \"takeoff\", \"stick\", \"slip\" or \"facet\""),
    E(time, "[s]"),
    E(contact, "its id"),
    FIELD_AS(st_EventReport, a.index1, "a", "body; 0: the ground"),
    FIELD_AS(st_EventReport, b.index1, "b", "body; 0: the ground"),
    E(point, "in the world [m]"),
    E(normal, "unit, from a to b"),
    E(before, "normal velocity before [m/s]"),
    E(after, "normal velocity after [m/s]"),
    E(impulse, "normal, of a collision [N s]"),
};

#define I(member, help) FIELD(st_IslandReport, member, help)
static const Field island[] = {
    I(bodies, "number of bodies"),
    I(contacts, "number of contacts, motors and joint frictions"),
    I(rows, "number of joint and soft rows"),
    FIELD_AS(st_IslandReport, solve.converged, "converged", "the residual is within the tolerance"),
    FIELD_AS(st_IslandReport, solve.residual.natural, "residual", "natural residual"),
    FIELD_AS(st_IslandReport, solve.iterations, "iterations", "pivots or sweeps"),
    FIELD_AS(st_IslandReport, solve.solver, "solver", "the solver that found the solution"),
};

#define H(member, help) FIELD(st_RayHit, member, help)
static const Field ray_hit[] = {
    FIELD_AS(st_RayHit, shape.index1, "shape", "0: nothing was hit"),
    FIELD_AS(st_RayHit, body.index1, "body", "0: the ground"),
    H(distance, "from the start; infinite: nothing was hit [m]"),
    H(point, "in the world [m]"),
    H(normal, "unit, out of the shape"),
};

#define N(member, help) FIELD(st_Closest, member, help)
static const Field closest[] = {
    FIELD_AS(st_Closest, shape.index1, "shape", "the second one"),
    FIELD_AS(st_Closest, body.index1, "body", "its body; 0: the ground"),
    N(gap, "signed: negative in overlap [m]"),
    N(point, "on the first shape [m]"),
    N(other, "on the second shape [m]"),
    N(normal, "unit, from the first to the second"),
};

#define L(member, help) FIELD_AS(LinkRow, link.member, #member, help)
static const Field link_fields[] = {
    FIELD_AS(LinkRow, link.body.index1, "body", "its id"),
    FIELD_AS(LinkRow, link.parent.index1, "parent", "body; 0: the ground, or a fixed body"),
    FIELD_AS(LinkRow, link.joint.index1, "joint", "between body and parent; 0: the body moves freely"),
    FIELD(LinkRow, type, "\"revolute\", \"ball\", ... or \"free\""),
    L(reversed, "the body is a of its joint"),
    L(first_q, "index of its first coordinate"),
    L(n_q, "number of coordinates"),
    L(first_v, "index of its first velocity"),
    L(n_v, "number of velocities"),
};

#define PM(member, help) FIELD(st_PointMotion, member, help)
static const Field point_motion[] = {
    PM(position, "in the world [m]"),
    PM(velocity, "world axes [m/s]"),
    PM(acceleration, "world axes [m/s^2]"),
    PM(orientation, "of the body: unit quaternion w x y z, body to world"),
    PM(spin, "angular velocity, world axes [rad/s]"),
    PM(spin_rate, "angular acceleration, world axes [rad/s^2]"),
};

#define CM(member, help) FIELD(st_CentreOfMass, member, help)
static const Field centre_of_mass[] = {
    CM(mass, "[kg]"),
    CM(position, "in the world [m]"),
    CM(velocity, "world axes [m/s]"),
    CM(angular_momentum, "about the centre of mass, world axes [N m s]"),
};

#define RI(member, help) FIELD(st_ReachInfo, member, help)
static const Field reach[] = {
    RI(reached, "all targets are reached and all loops are closed within the tolerance"),
    RI(iterations, "number of iterations"),
    RI(error, "largest error of positions, angles and loops [m, rad]"),
    RI(at_limits, "number of coordinates at a limit"),
};

static const Field pose[] = {
    FIELD_AS(st_Pose, p, "position", "of the centre of mass, in the world [m]"),
    FIELD_AS(st_Pose, q, "orientation", "unit quaternion w x y z, body to world"),
};

static const Field velocity[] = {
    FIELD(VelocityRow, linear, "of the centre of mass, world axes [m/s]"),
    FIELD(VelocityRow, spin, "angular velocity, body axes [rad/s]"),
};

static const Field energy[] = {
    FIELD(EnergyRow, kinetic, "[J]"),
    FIELD(EnergyRow, potential, "of gravity, springs, and compliant and regularized contacts [J]"),
};

static const Field force[] = {
    FIELD(ForceRow, force, "world axes [N]"),
    FIELD(ForceRow, torque, "about the centre of mass, world axes [N m]"),
};

static const Field momentum[] = {
    FIELD(MomentumRow, linear, "world axes [N s]"),
    FIELD(MomentumRow, angular, "about the world's origin, world axes [N m s]"),
};

static const Field setting[] = {
    FIELD(SettingRow, key, "its name, as in scene files and System(scene, name=value)"),
    FIELD(SettingRow, kind, "\"choice\", \"number\", \"integer\", \"boolean\" or \"vector\""),
    FIELD(SettingRow, unit, "or an empty text"),
    FIELD(SettingRow, help, "what it does"),
    OBJECT(SettingRow, words, "words of a choice; else None"),
    OBJECT(SettingRow, range, "(smallest, largest) value of a number or integer; else None"),
};

#define R(member, help) FIELD_AS(RecordingRow, info.member, #member, help)
static const Field recording_info[] = {
    R(format, "version of the layout of the file"),
    R(version, "of the library that wrote it"),
    R(created, "when, UTC"),
    R(name, "of the scene"),
    R(description, "of the scene"),
    R(label, "where the scene came from"),
    R(outcome, "\"finished\", \"diverged\", \"interrupted\", \"failed\"; \"running\": killed, or not ended yet"),
    R(message, "the reason, if it did not finish"),
    R(wall, "wall time of the run [s]"),
    R(closed, "False: truncated, or still being written"),
    R(n_bodies, "without the ground"),
    R(n_joints, ""),
    R(n_frames, ""),
    R(n_steps, ""),
    R(n_contacts, "of all frames"),
    R(n_events, ""),
    R(n_checkpoints, ""),
    R(rate, "frames per simulated second; 0: every step"),
    R(first, "time of the first frame [s]"),
    R(last, "time of the last frame [s]"),
    R(bytes, "of the file"),
    R(stage_seconds, "wall time of the parts of all steps, in the order of System.profile() [s]"),
    R(text, "of the scene, as it was read"),
    OBJECT(RecordingRow, sets, "overrides of the scene, a tuple of str"),
};

#define RS(member, help) FIELD(st_RecordedStep, member, help)
static const Field recorded_step[] = {
    RS(time, "after the step [s]"),
    RS(h, "length of the step; 0: the start [s]"),
    RS(contacts, "contacts in the step problem"),
    RS(collisions, "collisions located in the step"),
    RS(iterations, "pivots or sweeps"),
    RS(overlapping, "overlapping contacts that were made compliant"),
    RS(asleep, "number of sleeping bodies"),
    RS(converged, "0 or 1"),
    RS(solver, "the solver that found the solution"),
    RS(residual, "natural residual"),
    RS(penetration, "deepest overlap [m]"),
    RS(joint_error, "largest error of its rows [m or rad]"),
    RS(kinetic, "[J]"),
    RS(potential, "[J]"),
    RS(wall, "since the start of the run [s]"),
    RS(joint_residual, "largest velocity error that the solver left in joints [m/s or rad/s]"),
    RS(friction, "work of friction since the start [J]"),
    RS(force_time, "forces are means over the step, for this time [s]"),
    RS(force_h, "time that forces act for [s]"),
    RS(struck, "contacts that closed in a fixed step"),
    RS(work, "work of applied forces, motors, moved joints and belts since the start [J]"),
    RS(damping, "work of dampers since the start [J]"),
    RS(impacts, "work along the normals of contacts that close and rebound, since the start [J]"),
    RS(correction, "work of drift correction since the start [J]"),
    RS(scheme, "energy change by the integrator itself (implicit and euler) since the start [J]"),
    RS(unexplained, "change of energy since the start, less friction and the works above [J]"),
};

#define RF(member, help) FIELD(st_RecordedFrame, member, help)
static const Field recorded_frame[] = {
    RF(time, "[s]"),
    RF(step, "index of its step"),
    RF(first_contact, "index of its first contact among all contacts"),
    RF(n_contacts, "number of its contacts"),
};

#define RC(member, help) FIELD(st_RecordedContact, member, help)
static const Field recorded_contact[] = {
    RC(id, "the same in every step"),
    RC(a, "body; 0: the ground"),
    RC(b, "body; 0: the ground"),
    RC(point, "in the world [m]"),
    RC(normal, "unit, from a to b"),
    RC(impulse, "on b, without impacts, world axes [N s]"),
    RC(impact, "on b, of impacts [N s]"),
    RC(velocity, "of b relative to a, world axes [m/s]"),
    RC(gap, "[m]"),
};

#define RJ(member, help) FIELD(st_RecordedJoint, member, help)
static const Field recorded_joint[] = {
    RJ(force, "of a on b at the joint's point, world axes [N]"),
    RJ(torque, "of a on b, about the joint's point, world axes [N m]"),
    RJ(coordinate, "[m or rad]"),
    RJ(speed, "[m/s or rad/s]"),
    RJ(other, "the other coordinate, if it has limits"),
    RJ(other_speed, "speed of the other coordinate"),
    RJ(motor, "on the coordinate [N or N m]"),
    RJ(error, "largest error of its rows [m or rad]"),
    RJ(friction, "on the coordinate [N or N m]"),
    RJ(limit, "on the coordinate [N or N m]"),
    RJ(spring, "on the coordinate [N or N m]"),
    RJ(gear, "of a gear, on the coordinate of its joint_a [N or N m]"),
};

#define RSP(member, help) FIELD(st_RecordedSpring, member, help)
static const Field recorded_spring[] = {
    RSP(length, "[m]; a rotational spring: its angle [rad]"),   RSP(rate, "[m/s or rad/s]"),
    RSP(force, "pull of the spring and its damper [N or N m]"), RSP(force_on_b, "world axes [N]"),
    RSP(torque_on_b, "at its end, world axes [N m]"),
};

#define RE(member, help) FIELD(st_RecordedEvent, member, help)
static const Field recorded_event[] = {
    RE(time, "[s]"),
    RE(step, "index of its step"),
    RE(kind, "\"collision\", \"takeoff\", \"stick\", \"slip\" or \"facet\""),
    RE(a, "body; 0: the ground"),
    RE(b, "body; 0: the ground"),
    RE(point, "in the world [m]"),
    RE(normal, "unit, from a to b"),
    RE(before, "normal velocity before [m/s]"),
    RE(after, "normal velocity after [m/s]"),
    RE(impulse, "normal [N s]"),
};

#define RP(member, help) FIELD(st_RecordedCheckpoint, member, help)
static const Field checkpoint[] = {
    RP(time, "[s]"),
    RP(step, "number of steps before it"),
    RP(hash, "System.hash() of the state"),
    RP(offset, "place in the dataset of states in the file"),
    RP(bytes, "of the state"),
};

/* The part of st_FrictionError that solutions show, too. */
#define MEASURES_OF_ERROR(MEMBER)                                                                                      \
    MEMBER(certified, "upper bound of the three in exact arithmetic; solved if it is at most the tolerance"),          \
        MEMBER(cone_violation, "largest distance of an impulse from its cone [N s]"),                                  \
        MEMBER(penetration, "the most negative normal velocity, as a number >= 0 [m/s]"),                              \
        MEMBER(complementarity, "sum over contacts of |r . u| [J]"),                                                   \
        MEMBER(worst_contact, "index of the contact with the largest part of the error, from 0; -1: none")

#define SOLVED(member, help) FIELD_AS(SolutionRow, info.member, #member, help)
#define JUDGED(member, help) FIELD_AS(SolutionRow, judged.member, #member, help)
static const Field solution[] = {
    OBJECT(SolutionRow, r, "contact impulses, normal first, an Array"),
    OBJECT(SolutionRow, u, "relative velocities at the contacts, an Array"),
    OBJECT(SolutionRow, v, "velocities of a global problem, an Array; else None"),
    OBJECT(SolutionRow, l, "impulses of the equality rows, an Array; None: there are none"),
    SOLVED(converged, "the recomputed residual is within the tolerance"),
    FIELD_AS(SolutionRow, info.residual.natural, "residual", "natural residual, computed independently of the solver"),
    SOLVED(iterations, "pivots or sweeps"),
    SOLVED(solver, "the solver that found the solution"),
    SOLVED(fallback, "the solver that failed before it, or None"),
    JUDGED(error, "|r - P(r - u)| / |q|, computed from the data by code that no solver uses"),
    JUDGED(error_rho, "|r - P(r - rho u)| / (rho |q|), rho = 1/mean(diag W), by the same code"),
    JUDGED(equality, "|G'v + b| relative to its terms; 0 without equality rows"),
    MEASURES_OF_ERROR(JUDGED),
    OBJECT(SolutionRow, history, "with history=True: a list of Progress, one per iteration; else None"),
};

#define P(member, help) FIELD(st_Progress, member, help)
static const Field progress[] = {
    P(solver, "the solver that is running; with auto, the one it has chosen"),
    P(iteration, "counted over the whole solve"),
    P(residual, "residual of the current r; it is compared with the tolerance"),
    P(work, "visits per contact so far, factor operations included"),
};

#define F(member, help) FIELD(st_FrictionError, member, help)
static const Field friction_error[] = {
    F(error, "|r - P(r - u)| / |q|"),
    F(error_rho, "|r - P(r - rho u)| / (rho |q|), rho = 1/mean(diag W)"),
    F(equality, "|G'v + b| relative to its terms; 0 without equality rows"),
    F(rounding, "bound on the difference of error and error_rho from exact arithmetic"),
    MEASURES_OF_ERROR(F),
};

static const Field determined[] = {
    OBJECT(DeterminedRow, determined, "one bool per component of r; True: it is the same in all solutions near r"),
    OBJECT(DeterminedRow, least, "the solution of least weighted norm, an Array"),
    FIELD_AS(DeterminedRow, count.active_rows, "active_rows", "active directions"),
    FIELD_AS(DeterminedRow, count.rank, "rank", "of W on these directions; less than active_rows: hyperstatic"),
    FIELD_AS(DeterminedRow, count.undetermined_contacts, "undetermined_contacts",
             "number of contacts that are not determined"),
};

static const Field lcp_solution[] = {
    OBJECT(LcpRow, z, "an Array"),
    OBJECT(LcpRow, w, "M z + q, an Array"),
    FIELD(LcpRow, outcome, "\"solved\", \"no solution\" (proved) or \"failed\" (there may be a solution)"),
    FIELD_AS(LcpRow, info.pivots, "pivots", "number of pivots"),
    FIELD_AS(LcpRow, judged.error, "error", "|min(z, w)| / |q|; free rows: |w|; not divided if q = 0"),
    FIELD_AS(LcpRow, judged.error_rho, "error_rho", "|min(z, rho w)| / (rho |q|), rho = 1/mean(|diag M|)"),
    FIELD_AS(LcpRow, judged.certified, "certified", "upper bound of both in exact arithmetic"),
    FIELD_AS(LcpRow, judged.violation, "violation", "the most negative z, as a number >= 0"),
    FIELD_AS(LcpRow, judged.complementarity, "complementarity", "sum of |z w|"),
};

#define KIND(name, type, fields, help)                                                                                 \
    {                                                                                                                  \
        name, help, sizeof(type), (fields), (int)(sizeof(fields) / sizeof(fields)[0])                                  \
    }
static const RowKind kinds[N_ROWS] = {
    [ROW_STEP_INFO] = KIND("StepInfo", StepRow, step_info,
                           "Report of a call of step or run: its last step, and a summary of all its steps."),
    [ROW_CONTACT] =
        KIND("Contact", st_ContactReport, contact, "A contact of the last step problem, or a limit of a joint."),
    [ROW_JOINT] = KIND("Joint", JointRow, joint,
                       "The action of a on b through a joint in the last step, and the current state of the joint."),
    [ROW_SPRING] = KIND("Spring", SpringRow, spring, "The force of a spring in the last step, and its current state."),
    [ROW_EVENT] = KIND("Event", st_EventReport, event, "An event in the last step."),
    [ROW_ISLAND] =
        KIND("Island", st_IslandReport, island, "A part of the last step problem that was solved separately."),
    [ROW_RAY_HIT] = KIND("RayHit", st_RayHit, ray_hit, "The first surface that a ray enters."),
    [ROW_CLOSEST] = KIND("Closest", st_Closest, closest, "The signed distance of two shapes, and the closest points."),
    [ROW_LINK] = KIND("Link", LinkRow, link_fields, "A body of an articulation and the joint to its parent."),
    [ROW_POINT_MOTION] = KIND("PointMotion", st_PointMotion, point_motion, "Motion of a point of a body."),
    [ROW_CENTRE_OF_MASS] = KIND("CentreOfMass", st_CentreOfMass, centre_of_mass,
                                "Centre of mass and momentum of a tree, or of all trees."),
    [ROW_REACH] = KIND("Reach", st_ReachInfo, reach, "Result of inverse kinematics."),
    [ROW_POSE] = KIND("Pose", st_Pose, pose, "Pose of a body."),
    [ROW_VELOCITY] = KIND("Velocity", VelocityRow, velocity, "Velocity of a body."),
    [ROW_ENERGY] = KIND("Energy", EnergyRow, energy, "Energy of a system in its current state."),
    [ROW_FORCE] = KIND("Force", ForceRow, force, "Force and torque on a body."),
    [ROW_MOMENTUM] = KIND("Momentum", MomentumRow, momentum, "Momentum of all bodies."),
    [ROW_SETTING] = KIND("Setting", SettingRow, setting, "A setting of a simulation."),
    [ROW_RECORDING_INFO] = KIND("RecordingInfo", RecordingRow, recording_info, "Contents of a recording."),
    [ROW_RECORDED_STEP] = KIND("RecordedStep", st_RecordedStep, recorded_step, "A step of a recording."),
    [ROW_RECORDED_FRAME] = KIND("RecordedFrame", st_RecordedFrame, recorded_frame, "A frame of a recording."),
    [ROW_RECORDED_CONTACT] =
        KIND("RecordedContact", st_RecordedContact, recorded_contact,
             "A contact of the step that ended in a frame; force is impulse/force_h of that step."),
    [ROW_RECORDED_JOINT] =
        KIND("RecordedJoint", st_RecordedJoint, recorded_joint, "A joint in a frame, in the order of the scene."),
    [ROW_RECORDED_SPRING] =
        KIND("RecordedSpring", st_RecordedSpring, recorded_spring, "A spring in a frame, in the order of the scene."),
    [ROW_RECORDED_EVENT] = KIND("RecordedEvent", st_RecordedEvent, recorded_event, "An event of a recording."),
    [ROW_CHECKPOINT] = KIND("Checkpoint", st_RecordedCheckpoint, checkpoint,
                            "A state of a recording from which a run can continue, bit for bit."),
    [ROW_SOLUTION] = KIND("Solution", SolutionRow, solution, "The solution of a friction problem, and its error."),
    [ROW_FRICTION_ERROR] =
        KIND("FrictionError", st_FrictionError, friction_error, "The error of a solution, computed from r only."),
    [ROW_DETERMINED] = KIND("Determined", DeterminedRow, determined, "Which impulses rigid bodies determine."),
    [ROW_LCP_SOLUTION] = KIND("LcpSolution", LcpRow, lcp_solution, "The solution of a linear complementarity problem."),
    [ROW_PROGRESS] = KIND("Progress", st_Progress, progress, "One line of the history of a solve."),
};

const RowKind *row_kind(Row row)
{
    return &kinds[row];
}
