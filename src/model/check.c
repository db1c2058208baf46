/* model/check.c -- checks joints, motors, springs and forces before a scene accepts them. */
#include "model/check.h"

#include "collide/shape.h"
#include "math/principal.h"
#include "model/joint.h"
#include "model/tendon.h"
#include "model/time_factor.h"

/* Likewise for the start of a prescribed motion [m or rad], and for the right angle of a universal joint. */
#define MOTION_MISMATCH 1e-6
#define RIGHT_ANGLE     1e-6

/* Joints and springs must act between two bodies that can move relative to each other. */
static st_Status check_ends(const st_Scene *scene, Subject s, st_BodyId a, st_BodyId b)
{
    char *const *name = scene->names[STI_BODY].name;
    STI_TRY(check_body_id(scene, s, "a", a));
    STI_TRY(check_body_id(scene, s, "b", b));
    if (a.index1 == b.index1) return BAD(s, "both ends are at \"%s\", must be two bodies", name[a.index1]);
    if (scene->body[a.index1].fixed && scene->body[b.index1].fixed)
        return BAD(s, "neither of \"%s\" and \"%s\" can move", name[a.index1], name[b.index1]);
    return ST_OK;
}

static st_Status check_own_profile(Subject s, const st_Profile *profile)
{
    switch (profile->type) {
    case ST_PROFILE_CONSTANT:
    case ST_PROFILE_RAMP:
        return ST_OK;
    case ST_PROFILE_HARMONIC:
        STI_TRY(check_number(s, "frequency", profile->frequency));
        return check_number(s, "phase", profile->phase);
    case ST_PROFILE_TABLE:
        if (profile->n_table < 1 || profile->times == NULL || profile->values == NULL)
            return BAD(s, "its table has %d entries, must have at least 1", profile->n_table);
        for (int k = 0; k < profile->n_table; k++) {
            if (!sti_within(profile->times[k], STI_LARGEST) || !sti_within(profile->values[k], STI_LARGEST))
                return BAD(s, "table entry %d is (%g, %g), each must be from %g to %g", k + 1, profile->times[k],
                           profile->values[k], -STI_LARGEST, STI_LARGEST);
            if (k > 0 && profile->times[k] <= profile->times[k - 1])
                return BAD(s, "table time %d is %g after %g, must increase", k + 1, profile->times[k],
                           profile->times[k - 1]);
        }
        return ST_OK;
    }
    return BAD(s, "profile is %d, not a profile", (int)profile->type);
}

/* ---- joints ----------------------------------------------------------------------------------- */

static bool is_limit(double lower, double upper)
{
    return lower != -INFINITY || upper != INFINITY; /* NaN counts as a limit, and is refused */
}

static bool is_limited(const st_JointDef *def)
{
    return is_limit(def->lower, def->upper) || is_limit(def->other_lower, def->other_upper);
}

static bool is_driven(const st_JointDef *def)
{
    return is_limited(def) || def->friction != 0 || def->stiffness != 0 || def->damping != 0 || def->armature != 0 ||
           def->motor.type != ST_MOTOR_NONE;
}

/* The coordinate on which all drives act; it stays "default" if the joint has none. */
static st_Status check_coordinate(Subject s, st_JointDef *def)
{
    unsigned free = sti_joint_coordinates(def->type);
    if (st_coordinate_name(def->coordinate) == NULL)
        return BAD(s, "coordinate is %d, not a coordinate", (int)def->coordinate);
    if (def->coordinate == ST_COORDINATE_DEFAULT) { /* the axis of most ball joints has no meaning */
        if (def->type != ST_JOINT_BALL || is_driven(def)) def->coordinate = sti_joint_coordinate(def->type);
        return ST_OK;
    }
    if ((free >> def->coordinate & 1u) == 0)
        return BAD(s, "coordinate is \"%s\", which a %s joint does not have", st_coordinate_name(def->coordinate),
                   st_joint_type_name(def->type));
    return ST_OK;
}

st_Status sti_check_limits(Subject s, const char *which, st_Coordinate coordinate, double lower, double upper)
{
    const char *of = st_coordinate_name(coordinate);
    if ((!sti_within(lower, STI_LARGEST) && lower != -INFINITY) ||
        (!sti_within(upper, STI_LARGEST) && upper != INFINITY))
        return BAD(s, "%slower is %g and %supper %g (%s), each must be from %g to %g, or infinite: none", which, lower,
                   which, upper, of, -STI_LARGEST, STI_LARGEST);
    if (lower >= upper)
        return BAD(s, "%slower is %g and %supper %g (%s), lower must be below upper", which, lower, which, upper, of);
    if (coordinate != ST_COORDINATE_SWING || !is_limit(lower, upper)) return ST_OK;
    if (isfinite(lower))
        return BAD(s, "%slower is %g, but a swing has an upper limit only: the cone's half angle", which, lower);
    if (!(upper > 0 && upper <= STI_PI))
        return BAD(s, "%supper: the cone of its swing has a half angle of %g rad, must be > 0 and at most pi", which,
                   upper);
    return ST_OK;
}

/* Limits, friction, spring and motor need a coordinate to act on. */
static st_Status check_drives(Subject s, st_JointDef *def, double start)
{
    STI_TRY(check_restitution(s, def->restitution));
    if (!isnan(def->rest)) STI_TRY(check_number(s, "rest", def->rest));
    if (!is_driven(def)) return ST_OK;
    if (def->coordinate == ST_COORDINATE_DEFAULT)
        return BAD(s, "a %s joint has no angle or displacement for a %s", st_joint_type_name(def->type),
                   is_limited(def)                    ? "limit"
                   : def->motor.type != ST_MOTOR_NONE ? "motor"
                   : def->friction != 0               ? "friction"
                   : def->armature != 0               ? "armature"
                                                      : "spring");
    if (def->coordinate == ST_COORDINATE_DISTANCE) start = norm(sub(def->point_b, def->point));
    if (def->type == ST_JOINT_FREE && def->coordinate == ST_COORDINATE_DISPLACEMENT)
        start = dot(def->axis, sub(def->point_b, def->point));
    st_Coordinate other = sti_joint_other(def->type, def->coordinate);
    if (is_limit(def->other_lower, def->other_upper) && other == ST_COORDINATE_DEFAULT)
        return BAD(s, "a %s joint has no other coordinate to limit, besides its %s", st_joint_type_name(def->type),
                   st_coordinate_name(def->coordinate));
    STI_TRY(sti_check_limits(s, "", def->coordinate, def->lower, def->upper));
    STI_TRY(sti_check_limits(s, "other_", other, def->other_lower, def->other_upper));
    /* The swing has no direction if the axes agree, where a force along it matters most. */
    const char *what = def->motor.type != ST_MOTOR_NONE           ? "motor"
                       : def->friction != 0                       ? "friction"
                       : def->armature != 0                       ? "armature"
                       : def->stiffness != 0 || def->damping != 0 ? "spring"
                                                                  : NULL;
    if (def->coordinate == ST_COORDINATE_SWING && what != NULL)
        return BAD(s,
                   "a ball joint's swing has no direction for a %s: choose the coordinate \"twist\", or add a bushing "
                   "about its point",
                   what);
    STI_TRY(check_not_negative(s, "friction", def->friction));
    STI_TRY(check_not_negative(s, "stiffness", def->stiffness));
    STI_TRY(check_not_negative(s, "damping", def->damping));
    STI_TRY(check_not_negative(s, "slack", def->slack));
    if (def->armature != 0 && !sti_between(def->armature, STI_LEAST_INERTIA, STI_MOST_INERTIA))
        return BAD(s, "armature is %g, must be 0, or from %g to %g", def->armature, STI_LEAST_INERTIA,
                   STI_MOST_INERTIA);
    if (isnan(def->rest)) def->rest = start;
    if (st_motor_type_name(def->motor.type) == NULL) return BAD(s, "motor is %d, not a motor", (int)def->motor.type);
    if (def->motor.type == ST_MOTOR_NONE) return ST_OK;
    STI_TRY(check_number(s, "motor: target", def->motor.target));
    STI_TRY(check_number(s, "motor: offset", def->motor.offset));
    STI_TRY(check_own_profile(s, &def->motor.profile));
    if (def->motor.max_force != INFINITY) STI_TRY(check_positive(s, "motor: max_force", def->motor.max_force));
    STI_TRY(check_number(s, "motor: mid_force", def->motor.mid_force));
    if (def->motor.type == ST_MOTOR_POSITION) STI_TRY(check_positive(s, "motor: stiffness", def->motor.stiffness));
    STI_TRY(check_not_negative(s, "motor: damping", def->motor.damping));
    STI_TRY(check_not_negative(s, "motor: lag", def->motor.lag));
    if (def->motor.integrate && def->motor.lag > 0)
        return BAD(s, "motor: lag is %g, must be 0 if integrate is true", def->motor.lag);
    if (!(def->motor.lowest <= def->motor.highest))
        return BAD(s, "motor: lowest is %g and highest %g, lowest must not be above highest", def->motor.lowest,
                   def->motor.highest);
    if (def->motor.type != ST_MOTOR_MOTION) return ST_OK;
    if (isfinite(def->motor.max_force))
        return BAD(s, "motor: max_force is %g, but a motor of type motion has no force limit: use a position motor",
                   def->motor.max_force);
    double wanted = def->motor.offset + def->motor.target * sti_profile_value(&def->motor.profile, 0);
    if (fabs(wanted - start) > MOTION_MISMATCH)
        return BAD(s,
                   "motor: its motion starts at %g, but the coordinate of the joint is %g at the start: see offset, "
                   "target and profile",
                   wanted, start);
    return ST_OK;
}

st_Status sti_check_joint(const st_Scene *scene, Subject s, st_JointDef *def, st_TendonPoint *path)
{
    double start = 0;
    if (st_joint_type_name(def->type) == NULL) return BAD(s, "type is %d, not a joint", (int)def->type);
    STI_TRY(check_not_negative(s, "joint_stiffness", def->joint_stiffness));
    if (def->type == ST_JOINT_GEAR) {
        const st_JointId id[2] = {def->joint_a, def->joint_b};
        for (int k = 0; k < 2; k++) {
            if (id[k].index1 < 1 || id[k].index1 > scene->n_joints)
                return BAD(s, "joint_%c is joint number %d, there are %d before it", 'a' + k, id[k].index1,
                           scene->n_joints);
            const st_JointDef *joint = &scene->joint[id[k].index1 - 1];
            if (joint->coordinate == ST_COORDINATE_DEFAULT)
                return BAD(s, "joint_%c is \"%s\", a %s joint, which has no angle or displacement to couple", 'a' + k,
                           joint->name, st_joint_type_name(joint->type));
            if (joint->coordinate == ST_COORDINATE_SWING)
                return BAD(s, "joint_%c is \"%s\", but its coordinate is a swing, which has no direction to couple",
                           'a' + k, joint->name);
        }
        if (id[0].index1 == id[1].index1)
            return BAD(s, "couples \"%s\" to itself, must couple two joints", scene->joint[id[0].index1 - 1].name);
        STI_TRY(check_not_zero(s, "ratio", def->ratio, STI_SMALLEST, STI_LARGEST));
        STI_TRY(check_number(s, "curve: x", def->curve.x));
        STI_TRY(check_number(s, "curve: y", def->curve.y));
        STI_TRY(check_number(s, "curve: z", def->curve.z));
        def->a = def->b = ST_GROUND; /* it acts on the bodies of its two joints */
    } else if (def->type == ST_JOINT_TENDON) {
        STI_TRY(sti_tendon_check(scene, s, def, path, &start));
        def->collide = true; /* it joins nothing */
    } else {
        STI_TRY(check_ends(scene, s, def->a, def->b));
        STI_TRY(check_place(s, "point", def->point));
        STI_TRY(check_place(s, "point_b", def->point_b));
    }
    STI_TRY(check_coordinate(s, def));
    if (sti_joint_has_axis(def->type)) STI_TRY(check_direction(s, "axis", &def->axis));
    if (def->type == ST_JOINT_UNIVERSAL) {
        STI_TRY(check_direction(s, "axis_b", &def->axis_b));
        double cosine = dot(def->axis, def->axis_b);
        if (fabs(cosine) > RIGHT_ANGLE)
            return BAD(s, "the angle between axis and axis_b is %g degrees, must be 90",
                       acos(fmin(fmax(cosine, -1.0), 1.0)) * 180 / STI_PI);
        def->axis_b = sub(def->axis_b, scale(cosine, def->axis));
        STI_TRY(check_direction(s, "axis_b", &def->axis_b));
    }
    if (def->type == ST_JOINT_BALL) {
        /* The axes of a ball joint matter if something acts on its swing or twist. */
        if (def->axis_b.x == 0 && def->axis_b.y == 0 && def->axis_b.z == 0) def->axis_b = def->axis;
        STI_TRY(check_direction(s, "axis_b", &def->axis_b));
    }
    if (def->type == ST_JOINT_DISTANCE) {
        double apart = norm(sub(def->point_b, def->point));
        STI_TRY(check_length(s, "length", def->length));
        if (apart == 0)
            return BAD(s,
                       "point and point_b coincide at (%g, %g, %g): a distance of 0 has no direction, use a ball joint",
                       def->point.x, def->point.y, def->point.z);
    }
    if (def->type == ST_JOINT_SCREW) STI_TRY(check_not_zero(s, "pitch", def->pitch, STI_SHORTEST, STI_LONGEST));
    if (def->coordinate == ST_COORDINATE_DISTANCE && norm(sub(def->point_b, def->point)) == 0)
        return BAD(s, "point and point_b coincide at (%g, %g, %g): a distance of 0 has no direction", def->point.x,
                   def->point.y, def->point.z);
    return check_drives(s, def, start);
}

/* ---- springs and forces ----------------------------------------------------------------------- */

st_Status sti_check_spring(const st_Scene *scene, Subject s, st_SpringDef *def)
{
    STI_TRY(check_ends(scene, s, def->a, def->b));
    if (def->type == ST_SPRING_BUSHING) {
        const struct {
            const char *what;
            st_Vec3 value;
        } parts[] = {{"stiffness", def->stiffness_along},
                     {"damping", def->damping_along},
                     {"angular_stiffness", def->stiffness_about},
                     {"angular_damping", def->damping_about}};
        bool any = false;
        STI_TRY(check_place(s, "point", def->point_a));
        STI_TRY(check_orientation(s, "frame", &def->frame));
        for (int k = 0; k < 4; k++) {
            STI_TRY(check_not_negative(s, parts[k].what, parts[k].value.x));
            STI_TRY(check_not_negative(s, parts[k].what, parts[k].value.y));
            STI_TRY(check_not_negative(s, parts[k].what, parts[k].value.z));
            any = any || parts[k].value.x > 0 || parts[k].value.y > 0 || parts[k].value.z > 0;
        }
        const struct {
            const char *what;
            const double *value;
        } matrices[] = {{"stiffness_matrix", def->stiffness_matrix}, {"damping_matrix", def->damping_matrix}};
        for (int k = 0; k < 2; k++) {
            const double *A = matrices[k].value;
            double d[6], mode[6][6], largest = 0;
            for (int e = 0; e < 36; e++) {
                STI_TRY(check_number(s, matrices[k].what, A[e]));
                largest = fmax(largest, fabs(A[e]));
            }
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < i; j++)
                    if (fabs(A[6 * i + j] - A[6 * j + i]) > 1e-9 * largest)
                        return BAD(s, "%s is not symmetric: entry (%d, %d) is %g, entry (%d, %d) is %g",
                                   matrices[k].what, i + 1, j + 1, A[6 * i + j], j + 1, i + 1, A[6 * j + i]);
            if (!sti_matrix_modes(A, d, mode)) return BAD(s, "%s is not positive semi-definite", matrices[k].what);
            any = any || largest > 0;
        }
        return any ? ST_OK : BAD(s, "all its stiffnesses and dampings are %g, one must be > 0", 0.0);
    }
    STI_TRY(check_not_negative(s, "stiffness", def->stiffness));
    STI_TRY(check_not_negative(s, "damping", def->damping));
    if (def->table.n_table != 0) {
        /* A table of force over elongation. */
        const st_Profile *table = &def->table;
        if (table->n_table < 2 || table->times == NULL || table->values == NULL)
            return BAD(s, "its table has %d entries, must have at least 2", table->n_table);
        if (def->stiffness != 0)
            return BAD(s, "it has a table and a stiffness of %g, must have only one of the two", def->stiffness);
        for (int k = 0; k < table->n_table; k++) {
            if (!sti_within(table->times[k], STI_LARGEST) || !sti_within(table->values[k], STI_LARGEST))
                return BAD(s, "table entry %d is (%g, %g), each must be from %g to %g", k + 1, table->times[k],
                           table->values[k], -STI_LARGEST, STI_LARGEST);
            if (k > 0 && table->times[k] <= table->times[k - 1])
                return BAD(s, "table elongation %d is %g after %g, must increase", k + 1, table->times[k],
                           table->times[k - 1]);
        }
    } else if (def->stiffness == 0 && def->damping == 0)
        return BAD(s, "stiffness and damping are both %g, one must be > 0", 0.0);
    if (!isnan(def->rest)) STI_TRY(check_number(s, "rest", def->rest));
    if (def->type == ST_SPRING_ANGULAR) return check_direction(s, "axis", &def->axis);
    if (def->type != ST_SPRING_LINEAR) return BAD(s, "type is %d, not a spring", (int)def->type);
    STI_TRY(check_place(s, "point_a", def->point_a));
    STI_TRY(check_place(s, "point_b", def->point_b));
    double length = norm(sub(def->point_b, def->point_a));
    if (isnan(def->rest)) def->rest = length;
    STI_TRY(check_length(s, "rest length", def->rest));
    if (def->table.n_table != 0 && def->rest == 0)
        return BAD(s, "a spring by table needs a rest length > 0, it is %g", def->rest);
    if (length == 0 && def->rest > 0)
        return BAD(s, "its two ends coincide and its rest length is %g: it has no direction", def->rest);
    return ST_OK;
}

st_Status sti_check_force(const st_Scene *scene, Subject s, const st_ForceDef *def)
{
    STI_TRY(check_body_id(scene, s, "body", def->body));
    STI_TRY(check_place(s, "point", def->point));
    STI_TRY(check_vector(s, "force", def->force));
    STI_TRY(check_vector(s, "torque", def->torque));
    STI_TRY(check_not_negative(s, "drag", def->drag));
    STI_TRY(check_number(s, "charge", def->charge));
    STI_TRY(check_vector(s, "moment", def->moment));
    STI_TRY(check_vector(s, "field", def->field));
    const st_Vec3 r = def->ellipsoid;
    const bool none = r.x == 0 && r.y == 0 && r.z == 0;
    STI_TRY(check_vector(s, "ellipsoid", r));
    if (!none && !(r.x > 0 && r.y > 0 && r.z > 0))
        return BAD(s, "ellipsoid is (%g, %g, %g), must be three lengths > 0", r.x, r.y, r.z);
    const double quat = quat_norm(def->orientation);
    if (!(fabs(quat - 1) <= STI_UNIT)) return BAD(s, "orientation has length %g, must be a unit quaternion", quat);
    STI_TRY(check_not_negative(s, "blunt_drag", def->blunt_drag));
    STI_TRY(check_not_negative(s, "slender_drag", def->slender_drag));
    STI_TRY(check_not_negative(s, "angular_drag", def->angular_drag));
    STI_TRY(check_number(s, "kutta_lift", def->kutta_lift));
    STI_TRY(check_number(s, "magnus_lift", def->magnus_lift));
    if (scene->body[def->body.index1].fixed && !def->adhesion) /* adhesion pulls at other bodies, too */
        return BAD(s, "acts on \"%s\", which does not move", scene->names[STI_BODY].name[def->body.index1]);
    return check_own_profile(s, &def->profile);
}

/* ---- bodies and shapes -------------------------------------------------------------------------- */

/* Checks bodies and shapes before a scene accepts them. */

static st_Status check_pose(Subject s, st_Pose *pose)
{
    STI_TRY(check_place(s, "position", pose->p));
    return check_orientation(s, "orientation", &pose->q);
}

/* Has the symmetric matrix with this diagonal and d = m01, e = m02, f = m12 no negative eigenvalue? Checks all its
 * principal minors. */
static bool is_not_negative(double a, double b, double c, double d, double e, double f)
{
    return a >= 0 && b >= 0 && c >= 0 && a * b - d * d >= 0 && b * c - f * f >= 0 && a * c - e * e >= 0 &&
           a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e) >= 0;
}

st_Status sti_check_body(Subject s, st_BodyDef *def)
{
    STI_TRY(check_pose(s, &def->pose));
    STI_TRY(check_vector(s, "velocity", def->velocity));
    STI_TRY(check_vector(s, "angular_velocity", def->spin));
    STI_TRY(check_not_negative(s, "mass", def->mass));
    STI_TRY(check_number(s, "gravity", def->gravity));
    STI_TRY(check_not_negative(s, "medium", def->medium));
    if ((def->locks & ~(uint32_t)ST_LOCK_ALL) != 0) return BAD(s, "locks are 0x%x, an unknown bit", def->locks);
    bool given = false;
    for (int k = 0; k < 9; k++)
        given = given || def->inertia.m[k] != 0;
    if (!given) return ST_OK;
    if (def->mass == 0 && !def->fixed)
        return BAD(s, "inertia is given (%g ...) but mass is not: give both", def->inertia.m[0]);
    /* Principal moments obey I1 + I2 >= I3: equivalently tr(I)/2 1 - I has no negative eigenvalue. Where one is not
     * given, because nothing turns about its axis, I itself has none. Up to rounding, relative to the trace.  */
    const double *m = def->inertia.m;
    double trace = m[0] + m[4] + m[8];
    bool complete = true;
    for (int k = 0; k < 9; k++)
        if (!sti_within(m[k], STI_MOST_INERTIA) || (m[k] != 0 && fabs(m[k]) < STI_LEAST_INERTIA && k % 4 == 0))
            return BAD(s, "inertia has an entry %g, must be from %g to %g", m[k], STI_LEAST_INERTIA, STI_MOST_INERTIA);
    for (int k = 0; k < 3; k++) {
        bool locked = (def->locks & (uint32_t)(ST_LOCK_RX << k)) != 0;
        if (m[4 * k] < 0) return BAD(s, "inertia about axis %c is %g, must be >= 0", 'x' + k, m[4 * k]);
        if (m[4 * k] == 0 && locked) complete = false; /* not given, and not needed */
    }
    double tiny = 1e-9 * trace;
    if (fabs(m[1] - m[3]) > tiny || fabs(m[2] - m[6]) > tiny || fabs(m[5] - m[7]) > tiny)
        return BAD(s, "inertia is not symmetric (trace %g)", trace);
    if (!complete && !is_not_negative(m[0] + tiny, m[4] + tiny, m[8] + tiny, m[1], m[2], m[5]))
        return BAD(s, "inertia with diagonal (%g, %g, %g) has negative moments about some axes", m[0], m[4], m[8]);
    const double half = trace / 2 + tiny;
    if (complete && !is_not_negative(half - m[0], half - m[4], half - m[8], -m[1], -m[2], -m[5])) {
        double moment[3];
        st_Vec3 axes[3];
        mat3_principal(&def->inertia, moment, axes);
        return BAD(s,
                   "inertia with principal moments %g, %g, %g violates the triangle inequality: no moment may exceed "
                   "the sum of the other two",
                   moment[0], moment[1], moment[2]);
    }
    return ST_OK;
}

st_Status sti_check_shape(const st_Scene *scene, Subject s, st_ShapeDef *def, sti_CachedMass *mass)
{
    STI_TRY(check_pose(s, &def->pose));
    STI_TRY(check_not_negative(s, "friction", def->mu));
    STI_TRY(check_restitution(s, def->restitution));
    STI_TRY(check_length(s, "rolling_friction", def->rolling));
    STI_TRY(check_length(s, "spinning_friction", def->spinning));
    STI_TRY(check_not_negative(s, "friction_across", def->friction_across));
    STI_TRY(check_vector(s, "friction_direction", def->friction_direction));
    const bool directed = dot(def->friction_direction, def->friction_direction) > 0;
    if ((def->friction_across > 0) != (directed && def->mu > 0))
        return BAD(s,
                   "friction is %g and friction_across is %g%s; friction_across needs a friction_direction, and both "
                   "coefficients must be positive",
                   def->mu, def->friction_across, directed ? "" : ", without friction_direction");
    STI_TRY(check_not_negative(s, "stiffness", def->stiffness));
    STI_TRY(check_not_negative(s, "damping", def->damping));
    STI_TRY(check_not_negative(s, "young", def->young));
    if (!(def->poisson > -1 && def->poisson < 0.5))
        return BAD(s, "poisson is %g, must be between -1 and 0.5", def->poisson);
    STI_TRY(check_vector(s, "surface_velocity", def->surface_velocity));
    STI_TRY(check_vector(s, "surface_angular_velocity", def->surface_spin));
    STI_TRY(check_not_negative(s, "density", def->density));
    if (st_shape_type_name(def->type) == NULL) return BAD(s, "type is %d, not a shape", (int)def->type);
    /* Arrays that the type does not use. */
    const uint32_t members = st_shape_type_members(def->type);
    if ((members & ST_MEMBER_POINTS) == 0) def->n_points = 0;
    if ((members & ST_MEMBER_TRIANGLES) == 0) def->n_triangles = 0;
    if ((members & ST_MEMBER_HEIGHTS) == 0) def->n_x = def->n_y = 0;
    if (sti_shape_cache_find(&scene->shape_cache, def) >= 0) return ST_OK;
    /* Compiled here to find errors when the shape is added. A shape without volume is an error only if its mass is
     * needed (mass.c). */
    sti_Shape compiled;
    st_Error why = {0};
    st_Status status = sti_shape_compile(def, &scene->allocator, &compiled, &why);
    mass->known = status == ST_OK && sti_shape_mass(def, &compiled, &mass->of, NULL) == ST_OK;
    sti_shape_free(&scene->allocator, &compiled);
    return status == ST_OK ? ST_OK : sti_fail(s.err, status, "%s \"%s\": %s", s.kind, s.name, why.message);
}
