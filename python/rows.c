/* rows.c -- which members of which structs Python sees, and what they are: the one list of them.
 *
 * Names are those of the headers. Bodies, joints and shapes are numbers as in C: 1, 2, ... in the order of the scene, 0
 * is the ground or none; Scene.bodies and its kin know their names.
 */
#include "table.h"

#define S(member, help)          FIELD(StepRow, member, help)
#define LAST(member, help)       FIELD_AS(StepRow, last.member, #member, help)
#define LAST_SOLVE(member, help) FIELD_AS(StepRow, last.solve.member, #member, help)

static const Field step_info[] = {
    LAST(time, "reached [s]"),
    LAST(h, "taken in the last step: shorter than asked when a collision ended it [s]"),
    S(steps, "how many were taken"),
    LAST_SOLVE(converged, "the residual of the last step is within the tolerance, as recomputed"),
    FIELD_AS(StepRow, last.solve.residual.natural, "residual",
             "natural residual of the last step problem, recomputed by no solver"),
    S(worst_residual, "largest over all the steps"),
    S(unconverged, "how many of the steps did not converge"),
    LAST_SOLVE(iterations, "pivots or sweeps"),
    LAST_SOLVE(solver, "the one that answered; None: there was nothing to solve"),
    LAST_SOLVE(fallback, "the one that gave up before it, or None"),
    LAST(contacts, "in the step problem"),
    LAST(joints, "joint rows, soft rows not counted"),
    LAST(asleep, "bodies that sleep"),
    LAST(islands, "parts of the step problem with contacts, independent of each other"),
    LAST(collisions, "located in the last step"),
    LAST(transitions, "take-offs, sticks, slips and facet changes located"),
    LAST(problems, "step problems solved, impacts included"),
    LAST(accumulated, "more than max_events: went on with the active set alone"),
    LAST(overlapping, "contacts in overlap that got a compliance, drift gap"),
    LAST(undetermined, "forces least_norm: contacts whose forces rigid bodies leave open; -1: too many to tell"),
    LAST(penetration, "deepest, over all contacts, after the step [m]"),
    LAST(joint_error, "largest joint value after the step [m or rad]"),
    LAST(impact_gain, "kinetic energy that impact laws added [J]"),
    LAST(recovery, "drift gap: the share of the wanted correction that was used, so that nothing moves faster than "
                   "correction_speed"),
    LAST(attempts, "at this step; more than 1: those before gained energy that nothing gave (energy limit)"),
    LAST(drift_fallbacks, "drift mean: stages that did not converge, with joints closed as by drift gap"),
    LAST(rebounds_limited, "impacts whose restitution was scaled down: it would have added energy"),
    LAST(kinetic, "[J]"),
    LAST(potential, "gravity, springs, and what compliant and regularized contacts store [J]"),
    LAST(friction, "work of friction since the start, <= 0 [J]"),
    LAST(work, "given by applied forces, motors, moved joints and belts since the start [J]"),
    LAST(damping, "work of dampers since the start [J]"),
    LAST(impacts, "work along normals of contacts that close and rebound, since the start [J]"),
    LAST(correction, "work of drift correction since the start [J]"),
    LAST(scheme, "work of the integrator itself since the start: implicit and euler [J]"),
    LAST(unexplained, "change of energy since the start beside friction and all of these [J]"),
    LAST(struck, "contacts that closed in a fixed step: their impulses hold an impact"),
    LAST(force_time, "forces are means over the step, those of its middle [s]"),
    LAST(force_h, "time that they act for [s]"),
    LAST(law_change,
         "friction that depends on speed, liquid bridges: their change in the last repetition if these did not "
         "converge, else 0"),
    LAST_SOLVE(redundant_rows, "joint rows that depend on others and were left out"),
    FIELD_AS(StepRow, last.solve.residual.cone_violation, "cone_violation",
             "how far the worst impulse is outside its cone [N s]"),
    FIELD_AS(StepRow, last.solve.residual.complementarity, "complementarity", "sum over contacts of |r . u| [J]"),
};

#define C(member, help) FIELD(st_ContactReport, member, help)
static const Field contact[] = {
    C(id, "the same from step to step"),
    FIELD_AS(st_ContactReport, a.index1, "a", "body; 0: the ground"),
    FIELD_AS(st_ContactReport, b.index1, "b", "body; 0: the ground"),
    FIELD_AS(st_ContactReport, shape_a.index1, "shape_a", "shape of a"),
    FIELD_AS(st_ContactReport, shape_b.index1, "shape_b", "shape of b"),
    FIELD_AS(st_ContactReport, joint.index1, "joint", "whose limit it is; 0: shapes touch"),
    C(point, "in the world [m]"),
    C(normal, "unit, from a to b"),
    C(tangent, "of velocity[1] and impulse[1]; [2] is along normal x tangent"),
    C(gap, "at the start of the step [m]"),
    C(asleep, "its bodies sleep: force as it was"),
    C(dim, "how many of the numbers of velocity and impulse it has"),
    C(velocity, "normal, tangents [m/s]; rolling, spinning [rad/s]"),
    C(impulse, "normal, tangents [N s]; rolling, spinning [N m s]"),
    C(impact, "of the impulse, that of impacts"),
    C(force, "on b, at the point, mean over the step without impacts, world axes [N]"),
    C(torque, "on b, likewise [N m]"),
    C(struck, "a contact closed here or at a joined body in a fixed step: all of the impulse is an impact"),
};

#define J(member, help) FIELD_AS(JointRow, report.member, #member, help)
static const Field joint[] = {
    FIELD(JointRow, id, "of the joint; Scene.joints has the names"),
    J(point, "of b, in the world [m]"),
    J(impulse, "of a on b over the last step [N s]"),
    J(angular_impulse, "likewise, about the point [N m s]"),
    J(impact, "of the impulse, that of impacts [N s]"),
    J(angular_impact, "likewise, about the point [N m s]"),
    J(force, "of a on b, mean over the step without impacts [N]"),
    J(torque, "of a on b, about the point [N m]"),
    J(error, "largest joint value [m or rad]"),
    J(coordinate, "what the joint measures [m or rad]"),
    J(speed, "of the coordinate [m/s or rad/s]"),
    J(motor, "force or torque of the motor on the coordinate [N or N m]"),
    J(friction, "of dry friction, likewise"),
    J(limit, "of a limit, likewise"),
    J(spring, "of spring and damper, likewise"),
    J(other, "the other coordinate, where it is limited"),
    J(other_speed, "its speed"),
    J(other_limit, "force or torque of its limit"),
    J(gear, "of a gear, on the coordinate of its joint_a [N or N m]"),
    J(struck, "a contact closed at a joined body in a fixed step: all of the impulse is an impact"),
};

#define SP(member, help) FIELD_AS(SpringRow, report.member, #member, help)
static const Field spring[] = {
    FIELD(SpringRow, id, "of the spring; Scene.springs has the names"),
    SP(point_a, "its end at a, in the world [m]"),
    SP(point_b, "its end at b [m]"),
    SP(length, "between them; of an angular one its angle [m or rad]"),
    SP(rate, "of the length [m/s or rad/s]"),
    SP(force, "mean over the last step; > 0: it pulls its ends together [N or N m]"),
    SP(force_on_b, "at its end, world axes [N]"),
    SP(torque_on_b, "likewise [N m]"),
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
    I(bodies, "in it"),
    I(contacts, "contacts, motors and joint friction"),
    I(rows, "joint and soft rows"),
    FIELD_AS(st_IslandReport, solve.converged, "converged", "the residual is within the tolerance"),
    FIELD_AS(st_IslandReport, solve.residual.natural, "residual", "natural residual"),
    FIELD_AS(st_IslandReport, solve.iterations, "iterations", "pivots or sweeps"),
    FIELD_AS(st_IslandReport, solve.solver, "solver", "the one that answered"),
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
    FIELD_AS(LinkRow, link.joint.index1, "joint", "between them; 0: the body moves freely"),
    FIELD(LinkRow, type, "\"revolute\", \"ball\", ... or \"free\""),
    L(reversed, "the body is a of its joint"),
    L(first_q, "of its coordinates"),
    L(n_q, "how many coordinates it has"),
    L(first_v, "of its velocities"),
    L(n_v, "how many velocities it has"),
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
    RI(reached, "all targets are met and all loops closed, within the tolerance"),
    RI(iterations, "taken"),
    RI(error, "largest of positions, angles and loops [m, rad]"),
    RI(at_limits, "coordinates at a limit"),
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
    FIELD(EnergyRow, potential, "gravity, springs, and what compliant and regularized contacts store [J]"),
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
    OBJECT(SettingRow, words, "of a choice; else None"),
    OBJECT(SettingRow, range, "(least, most) of a number or integer; else None"),
};

#define R(member, help) FIELD_AS(RecordingRow, info.member, #member, help)
static const Field recording_info[] = {
    R(format, "of the layout of the file"),
    R(version, "of the library that wrote it"),
    R(created, "when, UTC"),
    R(name, "of the scene"),
    R(description, "of the scene"),
    R(label, "where the scene came from"),
    R(outcome, "\"finished\", \"diverged\", \"interrupted\", \"failed\"; \"running\": killed, or not yet done"),
    R(message, "why, where it did not finish"),
    R(wall, "time it took [s]"),
    R(closed, "False: cut off, or still being written"),
    R(n_bodies, "the ground not counted"),
    R(n_joints, ""),
    R(n_frames, ""),
    R(n_steps, ""),
    R(n_contacts, "of all frames"),
    R(n_events, ""),
    R(n_checkpoints, ""),
    R(rate, "frames a simulated second; 0: every step"),
    R(first, "time of the first frame [s]"),
    R(last, "time of the last frame [s]"),
    R(bytes, "of the file"),
    R(stage_seconds, "of the parts of the steps, in the order of System.profile() [s]"),
    R(text, "of the scene, as it was read"),
    OBJECT(RecordingRow, sets, "overrides of the scene, a tuple of str"),
};

#define RS(member, help) FIELD(st_RecordedStep, member, help)
static const Field recorded_step[] = {
    RS(time, "reached [s]"),
    RS(h, "taken; 0: the start [s]"),
    RS(contacts, "in the step problem"),
    RS(collisions, "located"),
    RS(iterations, "pivots or sweeps"),
    RS(overlapping, "contacts in overlap that got a compliance"),
    RS(asleep, "bodies that sleep"),
    RS(converged, "0 or 1"),
    RS(solver, "the one that answered"),
    RS(residual, "natural residual"),
    RS(penetration, "deepest [m]"),
    RS(joint_error, "largest joint value [m or rad]"),
    RS(kinetic, "[J]"),
    RS(potential, "[J]"),
    RS(wall, "since the start of the run [s]"),
    RS(joint_residual, "velocity that the solver left in joints [m/s or rad/s]"),
    RS(friction, "work of friction since the start [J]"),
    RS(force_time, "forces are means at this time [s]"),
    RS(force_h, "over this time [s]"),
    RS(struck, "contacts that closed in a fixed step"),
    RS(work, "given by applied forces, motors, moved joints and belts since the start [J]"),
    RS(damping, "work of dampers since the start [J]"),
    RS(impacts, "work along normals of contacts that close and rebound, since the start [J]"),
    RS(correction, "work of drift correction since the start [J]"),
    RS(scheme, "work of the integrator itself since the start: implicit and euler [J]"),
    RS(unexplained, "change of energy since the start beside friction and all of these [J]"),
};

#define RF(member, help) FIELD(st_RecordedFrame, member, help)
static const Field recorded_frame[] = {
    RF(time, "[s]"),
    RF(step, "its row among the steps"),
    RF(first_contact, "of its contacts, among all"),
    RF(n_contacts, "how many it has"),
};

#define RC(member, help) FIELD(st_RecordedContact, member, help)
static const Field recorded_contact[] = {
    RC(id, "the same from step to step"),
    RC(a, "body; 0: the ground"),
    RC(b, "body; 0: the ground"),
    RC(point, "in the world [m]"),
    RC(normal, "unit, from a to b"),
    RC(impulse, "on b, without impacts, world axes [N s]"),
    RC(impact, "on b, of impacts [N s]"),
    RC(velocity, "of b against a, world axes [m/s]"),
    RC(gap, "[m]"),
};

#define RJ(member, help) FIELD(st_RecordedJoint, member, help)
static const Field recorded_joint[] = {
    RJ(force, "of a on b at the joint's point, world axes [N]"),
    RJ(torque, "likewise [N m]"),
    RJ(coordinate, "[m or rad]"),
    RJ(speed, "[m/s or rad/s]"),
    RJ(other, "the other coordinate, where it is limited"),
    RJ(other_speed, "its speed"),
    RJ(motor, "on the coordinate [N or N m]"),
    RJ(error, "largest joint value [m or rad]"),
    RJ(friction, "on the coordinate [N or N m]"),
    RJ(limit, "likewise"),
    RJ(spring, "likewise"),
    RJ(gear, "of a gear"),
};

#define RE(member, help) FIELD(st_RecordedEvent, member, help)
static const Field recorded_event[] = {
    RE(time, "[s]"),
    RE(step, "its row among the steps"),
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
    RP(step, "steps taken before it"),
    RP(hash, "System.hash() of it"),
    RP(offset, "in the file's dataset of states"),
    RP(bytes, "of the state"),
};

/* The part of st_FrictionError that solutions show, too. */
#define MEASURES_OF_ERROR(MEMBER)                                                                                      \
    MEMBER(certified, "upper bound of the three in exact arithmetic: solved means at most the tolerance"),             \
        MEMBER(cone_violation, "how far the worst impulse is outside its cone [N s]"),                                 \
        MEMBER(penetration, "the most negative normal velocity, as a number >= 0 [m/s]"),                              \
        MEMBER(complementarity, "sum over contacts of |r . u| [J]"),                                                   \
        MEMBER(worst_contact, "the one with the largest share of the error, from 0; -1: none")

#define SOLVED(member, help) FIELD_AS(SolutionRow, info.member, #member, help)
#define JUDGED(member, help) FIELD_AS(SolutionRow, judged.member, #member, help)
static const Field solution[] = {
    OBJECT(SolutionRow, r, "contact impulses, normal first, an Array"),
    OBJECT(SolutionRow, u, "relative velocities at the contacts, an Array"),
    OBJECT(SolutionRow, v, "velocities of a global problem, an Array; else None"),
    OBJECT(SolutionRow, l, "impulses of the equality rows, an Array; None: there are none"),
    SOLVED(converged, "the residual is within the tolerance, as recomputed"),
    FIELD_AS(SolutionRow, info.residual.natural, "residual", "natural residual, recomputed by no solver"),
    SOLVED(iterations, "pivots or sweeps"),
    SOLVED(solver, "the one that answered"),
    SOLVED(fallback, "the one that gave up before it, or None"),
    JUDGED(error, "|r - P(r - u)| / |q|, recomputed from the data by code that no solver shares"),
    JUDGED(error_rho, "|r - P(r - rho u)| / (rho |q|), rho = 1/mean(diag W), likewise"),
    JUDGED(equality, "|G'v + b| against its terms; 0 without equality rows"),
    MEASURES_OF_ERROR(JUDGED),
    OBJECT(SolutionRow, history, "with history=True: a list of Progress, one for each iteration; else None"),
};

#define P(member, help) FIELD(st_Progress, member, help)
static const Field progress[] = {
    P(solver, "the one at work: of auto the one whose turn it is"),
    P(iteration, "counted over the whole solve"),
    P(residual, "what the tolerance is compared with"),
    P(work, "visits of each contact so far, factor operations included"),
};

#define F(member, help) FIELD(st_FrictionError, member, help)
static const Field friction_error[] = {
    F(error, "|r - P(r - u)| / |q|"),
    F(error_rho, "|r - P(r - rho u)| / (rho |q|), rho = 1/mean(diag W)"),
    F(equality, "|G'v + b| against its terms; 0 without equality rows"),
    F(rounding, "how far error and error_rho may be from their values in exact arithmetic"),
    MEASURES_OF_ERROR(F),
};

static const Field determined[] = {
    OBJECT(DeterminedRow, determined, "one bool a component of r: is it the same in all solutions near r?"),
    OBJECT(DeterminedRow, least, "the solution of least weighted norm, an Array"),
    FIELD_AS(DeterminedRow, count.active_rows, "active_rows", "active directions"),
    FIELD_AS(DeterminedRow, count.rank, "rank", "of W on them; less than active_rows: hyperstatic"),
    FIELD_AS(DeterminedRow, count.undetermined_contacts, "undetermined_contacts", "how many"),
};

static const Field lcp_solution[] = {
    OBJECT(LcpRow, z, "an Array"),
    OBJECT(LcpRow, w, "M z + q, an Array"),
    FIELD(LcpRow, outcome, "\"solved\", \"no solution\" (which is proved) or \"failed\" (there may be one)"),
    FIELD_AS(LcpRow, info.pivots, "pivots", "taken"),
    FIELD_AS(LcpRow, judged.error, "error", "|min(z, w)| / |q|, of free rows |w|; absolute where q = 0"),
    FIELD_AS(LcpRow, judged.error_rho, "error_rho", "likewise with rho w over rho |q|, rho = 1/mean(|diag M|)"),
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
                           "What a call of step or run did: its last step, and how all of them went."),
    [ROW_CONTACT] =
        KIND("Contact", st_ContactReport, contact, "A contact of the last step problem, or a joint's limit."),
    [ROW_JOINT] = KIND("Joint", JointRow, joint,
                       "What a does to b through a joint in the last step, and how the joint stands now."),
    [ROW_SPRING] = KIND("Spring", SpringRow, spring, "What a spring did in the last step, and how it stands now."),
    [ROW_EVENT] = KIND("Event", st_EventReport, event, "Something that happened within the last step."),
    [ROW_ISLAND] =
        KIND("Island", st_IslandReport, island, "A part of the last step problem that was solved on its own."),
    [ROW_RAY_HIT] = KIND("RayHit", st_RayHit, ray_hit, "The first surface that a ray enters."),
    [ROW_CLOSEST] = KIND("Closest", st_Closest, closest, "The signed distance of two shapes, and where it is."),
    [ROW_LINK] = KIND("Link", LinkRow, link_fields, "A body of an articulation and the joint that carries it."),
    [ROW_POINT_MOTION] = KIND("PointMotion", st_PointMotion, point_motion, "How a point of a body moves."),
    [ROW_CENTRE_OF_MASS] = KIND("CentreOfMass", st_CentreOfMass, centre_of_mass, "Of a tree, or of all of them."),
    [ROW_REACH] = KIND("Reach", st_ReachInfo, reach, "How inverse kinematics went."),
    [ROW_POSE] = KIND("Pose", st_Pose, pose, "Where a body is."),
    [ROW_VELOCITY] = KIND("Velocity", VelocityRow, velocity, "How a body moves."),
    [ROW_ENERGY] = KIND("Energy", EnergyRow, energy, "Of a system as it stands."),
    [ROW_FORCE] = KIND("Force", ForceRow, force, "What acts on a body."),
    [ROW_MOMENTUM] = KIND("Momentum", MomentumRow, momentum, "Of all bodies."),
    [ROW_SETTING] = KIND("Setting", SettingRow, setting, "A setting of a simulation."),
    [ROW_RECORDING_INFO] = KIND("RecordingInfo", RecordingRow, recording_info, "What is in a recording."),
    [ROW_RECORDED_STEP] = KIND("RecordedStep", st_RecordedStep, recorded_step, "A step of a recording."),
    [ROW_RECORDED_FRAME] = KIND("RecordedFrame", st_RecordedFrame, recorded_frame, "A frame of a recording."),
    [ROW_RECORDED_CONTACT] =
        KIND("RecordedContact", st_RecordedContact, recorded_contact,
             "A contact of the step that ended in a frame; force is impulse/force_h of that step."),
    [ROW_RECORDED_JOINT] =
        KIND("RecordedJoint", st_RecordedJoint, recorded_joint, "A joint in a frame, in the order of the scene."),
    [ROW_RECORDED_EVENT] = KIND("RecordedEvent", st_RecordedEvent, recorded_event, "An event of a recording."),
    [ROW_CHECKPOINT] =
        KIND("Checkpoint", st_RecordedCheckpoint, checkpoint, "A state of a recording to go on from, bit for bit."),
    [ROW_SOLUTION] = KIND("Solution", SolutionRow, solution, "The answer to a friction problem, and how good it is."),
    [ROW_FRICTION_ERROR] =
        KIND("FrictionError", st_FrictionError, friction_error, "How good an answer is, from r alone."),
    [ROW_DETERMINED] = KIND("Determined", DeterminedRow, determined, "Which impulses rigid bodies determine."),
    [ROW_LCP_SOLUTION] = KIND("LcpSolution", LcpRow, lcp_solution, "The answer to a linear complementarity problem."),
    [ROW_PROGRESS] = KIND("Progress", st_Progress, progress, "One line of the history of a solve."),
};

const RowKind *row_kind(Row row)
{
    return &kinds[row];
}
