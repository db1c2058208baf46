/* model/check_body.c -- what bodies and shapes must be, before a scene takes them. */
#include "collide/shape.h"
#include "math/principal.h"
#include "model/check.h"

static st_Status check_pose(Subject s, st_Pose *pose)
{
    STI_TRY(check_place(s, "position", pose->p));
    return check_orientation(s, "orientation", &pose->q);
}

/* Has the symmetric matrix with this diagonal and d = m01, e = m02, f = m12 no negative eigenvalue? By all its
 * principal minors.                                                                                */
static bool is_not_negative(double a, double b, double c, double d, double e, double f)
{
    return a >= 0 && b >= 0 && c >= 0 && a * b - d * d >= 0 && b * c - f * f >= 0 && a * c - e * e >= 0 &&
           a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e) >= 0;
}

static bool mat3_is_zero(const st_Mat3 *A)
{
    for (int k = 0; k < 9; k++)
        if (A->m[k] != 0) return false;
    return true;
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
    if (mat3_is_zero(&def->inertia)) return ST_OK;
    if (def->mass == 0 && !def->fixed) return BAD(s, "inertia is given (%g ...) and mass is not", def->inertia.m[0]);
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
                   "the ellipse of friction has axes %g and %g%s; both must be positive, and along and across "
                   "friction_direction",
                   def->mu, def->friction_across, directed ? "" : " and no direction");
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
    /* Compiled here to see that it can be: what is wrong is said where it is given. That it has no volume is wrong only
     * where its mass is needed (mass.c).                                                           */
    sti_Shape compiled;
    st_Error why = {0};
    st_Status status = sti_shape_compile(def, &scene->allocator, &compiled, &why);
    mass->known = status == ST_OK && sti_shape_mass(def, &compiled, &mass->of, NULL) == ST_OK;
    sti_shape_free(&scene->allocator, &compiled);
    return status == ST_OK ? ST_OK : sti_fail(s.err, status, "%s \"%s\": %s", s.kind, s.name, why.message);
}
