/* joint_forces.c -- a motor lifts an arm to its stop; the load of the hinge on the way and at the stop. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

static st_Status build(st_Scene **scene, st_JointId *hinge, st_Error *err)
{
    st_BodyDef arm = st_body_def();
    arm.name = "arm";
    arm.pose.p = (st_Vec3){0.5, 0, 0}; /* 1 m long, its hinge at the origin */
    arm.mass = 2;
    arm.inertia = (st_Mat3){{0.01, 0, 0, 0, 1.0 / 6, 0, 0, 0, 1.0 / 6}};
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.name = "hinge";
    joint.axis = (st_Vec3){0, -1, 0}; /* positive angles lift: gravity is along -z */
    joint.upper = 1.0;
    joint.friction = 0.5;
    joint.motor.type = ST_MOTOR_SPEED;
    joint.motor.target = 0.8;
    joint.motor.max_force = 15; /* the arm's weight needs 9.81 N m at most */

    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = st_scene_add_body(*scene, &arm, &joint.b, err);
    if (status == ST_OK) status = st_scene_add_joint(*scene, &joint, hinge, err);
    return status;
}

static void show(const st_System *system, st_JointId hinge)
{
    st_JointReport r;
    if (st_system_joint(system, hinge, ST_FRAME_WORLD, &r) != ST_OK) return;
    printf("%6.3f %8.4f %8.4f %9.3f %9.3f %9.3f %9.3f\n", st_system_time(system), r.coordinate, r.speed, r.force.z,
           r.motor, r.friction, r.limit);
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_JointId hinge;
    st_SystemDef def = st_system_def(); /* g = 9.81 along -z, steps of 1/1000 s */

    if (build(&scene, &hinge, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK) {
        printf("  time    angle    speed   force z     motor  friction      stop\n");
        for (int k = 1; k <= 2000; k++) {
            if (st_system_step(system, def.h, NULL, &err) != ST_OK) break;
            if (k % 250 == 0) show(system, hinge);
        }
        printf("at the stop: motor 15 - friction 0.5 - weight %.3f = stop\n", 2 * 9.81 * 0.5 * cos(1.0));
    }
    if (err.status != ST_OK) fprintf(stderr, "joint_forces: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
