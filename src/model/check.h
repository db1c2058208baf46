/* model/check.h -- checks of a scene's defs: every message names the object and the value. */
#ifndef STI_MODEL_CHECK_H
#define STI_MODEL_CHECK_H

#include "base/range.h"
#include "base/tolerance.h"
#include "math/quat.h"
#include "model/scene.h"

/* The object being added, for messages: kind "name". */
typedef struct Subject {
    const char *kind, *name;
    st_Error *err;
} Subject;

#define BAD(subject, format, ...)                                                                                      \
    sti_fail((subject).err, ST_ERR_ARGUMENT, "%s \"%s\": " format, (subject).kind, (subject).name, __VA_ARGS__)

static inline Subject subject_of(sti_ObjectKind kind, const char *name, st_Error *err)
{
    return (Subject){sti_kind_name(kind), name != NULL && name[0] != '\0' ? name : "(unnamed)", err};
}

static inline st_Status check_number(Subject s, const char *what, double x)
{
    if (sti_within(x, STI_LARGEST)) return ST_OK;
    return BAD(s, "%s is %g, must be from %g to %g", what, x, -STI_LARGEST, STI_LARGEST);
}

static inline st_Status check_vector_within(Subject s, const char *what, st_Vec3 v, double largest)
{
    if (sti_within(v.x, largest) && sti_within(v.y, largest) && sti_within(v.z, largest)) return ST_OK;
    return BAD(s, "%s is (%g, %g, %g), each must be from %g to %g", what, v.x, v.y, v.z, -largest, largest);
}

static inline st_Status check_vector(Subject s, const char *what, st_Vec3 v)
{
    return check_vector_within(s, what, v, STI_LARGEST);
}

static inline st_Status check_place(Subject s, const char *what, st_Vec3 v)
{
    return check_vector_within(s, what, v, STI_LONGEST);
}

static inline st_Status check_positive(Subject s, const char *what, double x)
{
    if (sti_between(x, STI_SMALLEST, STI_LARGEST)) return ST_OK;
    return BAD(s, "%s is %g, must be from %g to %g", what, x, STI_SMALLEST, STI_LARGEST);
}

/* Either sign, but not 0 or nearly 0. */
static inline st_Status check_not_zero(Subject s, const char *what, double x, double smallest, double largest)
{
    if (sti_between(fabs(x), smallest, largest)) return ST_OK;
    return BAD(s, "%s is %g, must be from %g to %g, of either sign", what, x, smallest, largest);
}

static inline st_Status check_not_negative(Subject s, const char *what, double x)
{
    if (sti_zero_or_between(x, STI_SMALLEST, STI_LARGEST)) return ST_OK;
    return BAD(s, "%s is %g, must be 0, or from %g to %g", what, x, STI_SMALLEST, STI_LARGEST);
}

/* A length that may be 0. */
static inline st_Status check_length(Subject s, const char *what, double x)
{
    if (sti_zero_or_between(x, STI_SHORTEST, STI_LONGEST)) return ST_OK;
    return BAD(s, "%s is %g, must be 0, or from %g to %g", what, x, STI_SHORTEST, STI_LONGEST);
}

static inline st_Status check_restitution(Subject s, double e)
{
    if (e >= 0 && e <= 1) return ST_OK;
    return BAD(s, "restitution is %g, must be from 0 to 1", e);
}

/* Normalises the vector. */
static inline st_Status check_direction(Subject s, const char *what, st_Vec3 *v)
{
    double length = norm(*v);
    if (!sti_between(length, STI_SMALLEST, STI_LARGEST))
        return BAD(s, "%s is (%g, %g, %g), must have a length from %g to %g", what, v->x, v->y, v->z, STI_SMALLEST,
                   STI_LARGEST);
    *v = scale(1.0 / length, *v);
    return ST_OK;
}

/* Accepts any quaternion of about unit length and normalises it, because people write rounded digits. */
static inline st_Status check_orientation(Subject s, const char *what, st_Quat *q)
{
    double length = quat_norm(*q);
    if (!(fabs(length - 1.0) <= STI_UNIT))
        return BAD(s, "%s is (%g, %g, %g, %g), must be a unit quaternion", what, q->w, q->x, q->y, q->z);
    *q = quat_unit(*q);
    return ST_OK;
}

static inline st_Status check_body_id(const st_Scene *scene, Subject s, const char *what, st_BodyId id)
{
    if (id.index1 >= 0 && id.index1 < scene->n_bodies) return ST_OK;
    if (id.index1 == -1) return BAD(s, "%s is a body that was removed", what);
    return BAD(s, "%s is body number %d, there are %d", what, id.index1, scene->n_bodies - 1);
}

/* check.c. Values that follow from others (a unit axis, a rest length) are set in the def. */
st_Status sti_check_body(Subject s, st_BodyDef *def);
/* Also computes the mass of a shape of a new kind. */
st_Status sti_check_shape(const st_Scene *scene, Subject s, st_ShapeDef *def, sti_CachedMass *mass);
/* path: room for STI_TENDON_PARTS, filled for a tendon. */
st_Status sti_check_joint(const st_Scene *scene, Subject s, st_JointDef *def, st_TendonPoint *path);
/* Limits of a coordinate of a joint; `which`: "", or "other_" for its other coordinate. */
st_Status sti_check_limits(Subject s, const char *which, st_Coordinate coordinate, double lower, double upper);
st_Status sti_check_spring(const st_Scene *scene, Subject s, st_SpringDef *def);
st_Status sti_check_force(const st_Scene *scene, Subject s, const st_ForceDef *def);

#endif
