/* Tendons against closed forms: lengths around spheres and cylinders, ropes over pulleys, sums of joint coordinates. */
#include "machine.h"

#include "model/tendon.h"

static st_TendonPoint part(st_TendonKind kind, st_BodyId body, st_Vec3 point)
{
    return (st_TendonPoint){.kind = kind, .body = body, .point = point, .coefficient = 1};
}

/* Two points at distance 2 on either side of a unit circle: two tangents of sqrt(3) and an arc of 60 degrees. A rise
 * along a cylinder's axis makes a straight line of the unrolled path. */
static void lengths_around_shapes(void **state)
{
    (void)state;
    const double flat = 2 * sqrt(3) + STI_PI / 3;
    st_TendonPoint path[3] = {part(ST_TENDON_POINT, ST_GROUND, vec3(-2, 0, 0)),
                              part(ST_TENDON_SPHERE, ST_GROUND, vec3(0, 0, 0)),
                              part(ST_TENDON_POINT, ST_GROUND, vec3(2, 0, 0))};
    st_Pose pose[3] = {pose_identity(), pose_identity(), pose_identity()};
    sti_Pull pulls[6];
    int n;
    path[1].radius = 1;
    check_close(sti_tendon_path(path, 3, pose, pulls, &n), flat, 1e-14);
    path[1].kind = ST_TENDON_CYLINDER, path[1].axis = vec3(0, 0, 1);
    check_close(sti_tendon_path(path, 3, pose, pulls, &n), flat, 1e-14);
    path[2].point.z = 3;
    check_close(sti_tendon_path(path, 3, pose, pulls, &n), hypot(flat, 3), 1e-14);
    path[2].point.z = 0, path[0].point.y = path[2].point.y = 1.5; /* nothing in the way */
    check_close(sti_tendon_path(path, 3, pose, pulls, &n), 4, 1e-14);
    path[1].has_side = true, path[1].side = vec3(0, -2, 0);            /* but it must pass below */
    const double open = 2 * acos(1 / 2.5), across = 2 * atan2(2, 1.5); /* of both tangents; of the points, seen above */
    check_close(sti_tendon_path(path, 3, pose, pulls, &n), 2 * sqrt(6.25 - 1) + (2 * STI_PI - across - open), 1e-14);
}

/* The pulls are the derivative of the length by each body's motion. */
static void pulls_are_the_gradient(void **state)
{
    (void)state;
    for (int kind = ST_TENDON_SPHERE; kind <= ST_TENDON_CYLINDER; kind++) {
        st_TendonPoint path[5] = {part(ST_TENDON_POINT, ST_GROUND, vec3(-2, 0.3, 0.1)),
                                  part((st_TendonKind)kind, ST_GROUND, vec3(0.1, 0.2, 0)),
                                  part(ST_TENDON_POINT, ST_GROUND, vec3(2, -0.1, 0.4)),
                                  part(ST_TENDON_PULLEY, ST_GROUND, vec3(0, 0, 0)),
                                  part(ST_TENDON_POINT, ST_GROUND, vec3(3, 0, 0))};
        st_Pose pose[5];
        sti_Pull pulls[10], ignored[10];
        int n, m;
        path[1].radius = 0.8, path[1].axis = scale(1 / sqrt(1.04), vec3(0.2, 0, 1)), path[3].coefficient = 2;
        for (int k = 0; k < 5; k++)
            pose[k] = pose_identity();
        sti_tendon_path(path, 4, pose, pulls, &n);
        assert_int_equal(n, 4);
        for (int body = 0; body < 3; body++)
            for (int d = 0; d < 6; d++) {
                const double eps = 1e-5;
                double length[2], rate = 0;
                st_Vec3 axis = vec3_axis(d % 3);
                for (int k = 0; k < n; k++)
                    if (pulls[k].part == body) rate += dot(pulls[k].along, d < 3 ? axis : cross(axis, pulls[k].at));
                for (int sign = 0; sign < 2; sign++) {
                    const double step = sign == 0 ? -eps : eps;
                    pose[body] = pose_identity();
                    if (d < 3) pose[body].p = scale(step, axis);
                    if (d >= 3) pose[body].q = quat_exp(scale(step, axis));
                    length[sign] = sti_tendon_path(path, 4, pose, ignored, &m);
                }
                pose[body] = pose_identity();
                check_close(rate, (length[1] - length[0]) / (2 * eps), 1e-9);
            }
    }
}

/* Atwood's machine: a rope over a cylinder that cannot get longer. a = g (m - M)/(m + M). */
static void rope_over_a_pulley(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -10);
    st_BodyId light = add_body(&m, 1, 1, vec3(-1, 0, -2)), heavy = add_body(&m, 3, 1, vec3(1, 0, -2));
    st_TendonPoint path[3] = {part(ST_TENDON_POINT, light, vec3(0, 0, 0)),
                              part(ST_TENDON_CYLINDER, ST_GROUND, vec3(0, 0, 0)),
                              part(ST_TENDON_POINT, heavy, vec3(0, 0, 0))};
    path[1].radius = 1, path[1].axis = vec3(0, 1, 0), path[1].has_side = true, path[1].side = vec3(0, 0, 2);
    st_JointDef rope = st_joint_def(ST_JOINT_TENDON);
    rope.path = path, rope.n_path = 3, rope.upper = 4 + STI_PI;
    st_JointId id = add_joint(&m, &rope);
    run(&m, 0.4);
    st_Pose pose;
    assert_int_equal(st_system_pose(m.system, heavy, &pose), ST_OK);
    check_close(pose.p.z, -2 - 0.5 * 5 * 0.16, 3 * m.def.h * 5 * 0.4);
    check_close(report(&m, id).limit, -1 * (10 + 5), 1e-6); /* the light one's weight and its acceleration */
    check_close(report(&m, id).coordinate, 4 + STI_PI, 1e-6);
    end(&m);
}

/* A force F on the tendon a x + b y pushes the slides with a F and b F. */
static void sum_of_coordinates(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    st_JointId slide[2];
    for (int k = 0; k < 2; k++) {
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = add_body(&m, 1 + k, 1, vec3(k, 0, 0));
        slide[k] = add_joint(&m, &joint);
    }
    const st_TendonPoint path[2] = {{.kind = ST_TENDON_JOINT, .joint = slide[0], .coefficient = 0.5},
                                    {.kind = ST_TENDON_JOINT, .joint = slide[1], .coefficient = -3}};
    st_JointDef tendon = st_joint_def(ST_JOINT_TENDON);
    tendon.path = path, tendon.n_path = 2, tendon.motor.type = ST_MOTOR_FORCE, tendon.motor.target = 2;
    st_JointId id = add_joint(&m, &tendon);
    run(&m, 1);
    check_close(report(&m, slide[0]).speed, 2 * 0.5 / 1, 1e-12);
    check_close(report(&m, slide[1]).speed, 2 * -3.0 / 2, 1e-12);
    check_close(report(&m, id).speed, 0.5 * 1 + -3 * -3, 1e-12);
    check_close(report(&m, id).motor, 2, 1e-12);
    end(&m);
}

/* A spring with slack pulls where it is stretched beyond it, and only there; a range of forces that is not the same
 * either way; a speed by a damper; a body that feels half of gravity. */
static void drives_of_slides(void **state)
{
    (void)state;
    Machine m;
    begin(&m);
    m.def.gravity = vec3(0, 0, -10);
    st_JointId slide[3];
    for (int k = 0; k < 3; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        body.mass = 2, body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}, body.pose.p = vec3(k, 0, 0);
        body.gravity = k == 0 ? 1 : 0.5 * (k - 1); /* 1, 0, 1/2 */
        assert_int_equal(st_scene_add_body(m.scene, &body, &id, NULL), ST_OK);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.b = id;
        if (k == 0) joint.damping = 200; /* so that it comes to rest */
        if (k == 1)
            joint.motor = (st_MotorDef){.type = ST_MOTOR_SPEED, .target = 3, .damping = 4, .max_force = INFINITY};
        if (k == 2) joint.motor = (st_MotorDef){.type = ST_MOTOR_FORCE, .target = -100, .max_force = 2, .mid_force = 3};
        slide[k] = add_joint(&m, &joint);
    }
    const st_TendonPoint path[1] = {{.kind = ST_TENDON_JOINT, .joint = slide[0], .coefficient = 1}};
    st_JointDef tendon = st_joint_def(ST_JOINT_TENDON);
    tendon.path = path, tendon.n_path = 1, tendon.stiffness = 100, tendon.rest = -0.5, tendon.slack = 0.5;
    add_joint(&m, &tendon);
    run(&m, 0.5); /* from 0 to -0.5 there is slack: 2 kg against 200 N s/m fall at 0.1 m/s */
    check_close(report(&m, slide[0]).speed, -0.1, 1e-6);
    /* 2 v' = 4 (3 - v), v(0) = 0: 3 (1 - exp(-2 t)), first order */
    check_close(report(&m, slide[1]).speed, 3 * (1 - exp(-1)), 3 * m.def.h);
    check_close(report(&m, slide[2]).speed, 0.5 * (1 - 10) / 2,
                1e-9); /* least force 1 N, half its weight 10 N, on 2 kg */
    run(&m, 30);
    check_close(report(&m, slide[0]).coordinate, -0.5 - 20 / 100.0, 1e-5); /* 0.2 exp(-25/2) away */
    end(&m);
}

static void what_cannot_be(void **state)
{
    (void)state;
    Machine m;
    st_Error err = {0};
    begin(&m);
    st_BodyId body = add_body(&m, 1, 1, vec3(0, 0, 0));
    st_TendonPoint path[3] = {part(ST_TENDON_POINT, ST_GROUND, vec3(0, 0, 0)),
                              part(ST_TENDON_POINT, ST_GROUND, vec3(1, 0, 0))};
    st_JointDef tendon = st_joint_def(ST_JOINT_TENDON);
    tendon.name = "rope";
    assert_int_equal(st_scene_add_joint(m.scene, &tendon, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "path has 0 members"));
    tendon.path = path, tendon.n_path = 2;
    assert_int_equal(st_scene_add_joint(m.scene, &tendon, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no body that can move"));
    path[1] = part(ST_TENDON_SPHERE, body, vec3(0, 0, 0));
    path[1].radius = 1;
    assert_int_equal(st_scene_add_joint(m.scene, &tendon, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "a point must come before and after it"));
    path[1] = (st_TendonPoint){.kind = ST_TENDON_JOINT, .joint = {7}, .coefficient = 1};
    assert_int_equal(st_scene_add_joint(m.scene, &tendon, NULL, &err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "all members must be joints, or none"));
    assert_int_equal(st_scene_joint_count(m.scene), 0);
    end(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_around_shapes), cmocka_unit_test(pulls_are_the_gradient),
        cmocka_unit_test(rope_over_a_pulley),    cmocka_unit_test(sum_of_coordinates),
        cmocka_unit_test(drives_of_slides),      cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
