/* bench/sleep.c -- cost of sleeping bodies: CPU time per step with all awake at rest, and with all asleep.
 *
 *     build/bench/sleep [bodies]           10,000 in stacks of five, and one ball that rolls past them;
 *                                          then half as many in pairs, a motor at the hinge between them
 */
#include <stiction/stiction.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static st_Status add(st_Scene *scene, st_ShapeDef shape, st_Vec3 at, st_Vec3 velocity, st_BodyId *out, st_Error *err)
{
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.pose.p = at;
    def.velocity = velocity;
    shape.mu = 0.5;
    st_Status status = st_scene_add_body(scene, &def, &id, err);
    if (out != NULL) *out = id;
    return status == ST_OK ? st_scene_add_shape(scene, id, &shape, NULL, err) : status;
}

static st_Status begin(st_Scene **scene, st_Error *err)
{
    st_ShapeDef floor = st_plane_def();
    floor.mu = 0.5;
    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = st_scene_add_shape(*scene, ST_GROUND, &floor, NULL, err);
    if (status == ST_OK) status = add(*scene, st_sphere_def(0.1), (st_Vec3){0, -1, 0.1}, (st_Vec3){1, 0, 0}, NULL, err);
    return status;
}

static st_Status build_stacks(int n, st_Scene **scene, st_Error *err)
{
    const int side = 45;
    st_Status status = begin(scene, err);
    for (int k = 0; k < n && status == ST_OK; k++) {
        const int stack = k / 5, row = stack / side;
        const st_Vec3 at = {0.3 * (stack % side), 0.3 * row, 0.05 + 0.1 * (k % 5)};
        status = add(*scene, st_box_def(0.05, 0.05, 0.05), at, (st_Vec3){0, 0, 0}, NULL, err);
    }
    return status;
}

/* Two hinged boxes side by side on the floor, with a motor that holds them. */
static st_Status build_pairs(int n, st_Scene **scene, st_Error *err)
{
    const int side = 45;
    st_Status status = begin(scene, err);
    for (int k = 0; k < n / 2 && status == ST_OK; k++) {
        const int row = k / side;
        const double x = 0.4 * (k % side), y = 0.3 * row;
        st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE);
        hinge.point = (st_Vec3){x + 0.06, y, 0.05};
        hinge.axis = (st_Vec3){0, 1, 0};
        hinge.motor.type = ST_MOTOR_POSITION;
        hinge.motor.stiffness = 100;
        hinge.motor.damping = 10;
        hinge.motor.max_force = 5;
        status = add(*scene, st_box_def(0.05, 0.05, 0.05), (st_Vec3){x, y, 0.05}, (st_Vec3){0, 0, 0}, &hinge.a, err);
        if (status == ST_OK)
            status = add(*scene, st_box_def(0.05, 0.05, 0.05), (st_Vec3){x + 0.12, y, 0.05}, (st_Vec3){0, 0, 0},
                         &hinge.b, err);
        if (status == ST_OK) status = st_scene_add_joint(*scene, &hinge, NULL, err);
    }
    return status;
}

static st_Status run(const st_Scene *scene, bool sleep, st_Error *err)
{
    st_SystemDef def = st_system_def();
    st_System *system;
    st_StepInfo info = st_step_info();
    def.h = 1.0 / 240;
    def.sleep = sleep;
    st_Status status = st_system_create(scene, &def, &system, err);
    for (int k = 0; k < 130 && status == ST_OK; k++)
        status = st_system_step(system, def.h, &info, err);
    double start = cpu_seconds(), before[ST_N_PARTS], after[ST_N_PARTS];
    const int n = sleep ? 400 : 20;
    if (status == ST_OK) st_system_part_seconds(system, before);
    for (int k = 0; k < n && status == ST_OK; k++)
        status = st_system_step(system, def.h, &info, err);
    if (status != ST_OK) return status;
    printf("%6d asleep, %6d contacts awake: %10.1f us a step |", info.asleep, info.contacts,
           1e6 * (cpu_seconds() - start) / n);
    st_system_part_seconds(system, after);
    for (int k = 0; k < ST_N_PARTS; k++)
        printf(" %s %.1f", st_part_name((st_StepPart)k), 1e6 * (after[k] - before[k]) / n);
    printf("\n");
    st_system_destroy(system);
    return ST_OK;
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 10000;
    st_Error err = {0};
    st_Status status = ST_OK;
    for (int joints = 0; joints < 2 && status == ST_OK; joints++) {
        st_Scene *scene = NULL;
        status = joints ? build_pairs(n / 2, &scene, &err) : build_stacks(n, &scene, &err);
        if (status == ST_OK) status = run(scene, false, &err);
        if (status == ST_OK) status = run(scene, true, &err);
        st_scene_destroy(scene);
    }
    if (status != ST_OK) printf("%s\n", err.message);
    return status == ST_OK ? 0 : 1;
}
