/* tests/scene/robot_check.h -- robots from a text in the test, and access to their parts. */
#ifndef STI_ROBOT_CHECK_H
#define STI_ROBOT_CHECK_H

#include "math/quat.h"
#include "scene_check.h"

#define ROUNDING 1e-14 /* a few roundings of numbers of order one */

typedef struct Robot {
    st_Scene *scene;
    st_SystemDef def;
} Robot;

/* A robot's text that must be fine, with overrides up to a NULL. */
static inline Robot robot_of(const char *text, const char *const *sets)
{
    Robot robot = {0};
    robot.scene = scene_of(text, &robot.def, sets);
    return robot;
}

static inline st_BodyDef body(const Robot *robot, const char *name)
{
    st_BodyDef def = {0};
    st_BodyId id = st_scene_find_body(robot->scene, name);
    if (id.index1 == 0) fail_msg("no body \"%s\"", name);
    assert_int_equal(st_scene_body(robot->scene, id, &def), ST_OK);
    return def;
}

static inline st_JointDef joint(const Robot *robot, const char *name)
{
    st_JointDef def = {0};
    st_JointId id = st_scene_find_joint(robot->scene, name);
    if (id.index1 == 0) fail_msg("no joint \"%s\"", name);
    assert_int_equal(st_scene_joint(robot->scene, id, &def), ST_OK);
    return def;
}

static inline void check_vector(st_Vec3 got, st_Vec3 expected, double tolerance)
{
    check_close(got.x, expected.x, tolerance);
    check_close(got.y, expected.y, tolerance);
    check_close(got.z, expected.z, tolerance);
}

#endif
