/* pouring.c -- a scene that changes while it runs: balls are poured on a trapdoor, after two seconds its latch is
 * taken out, and balls that have fallen far enough are taken out, too.
 */
#include <stdio.h>
#include <stiction/stiction.h>

enum { STEPS = 1600, POURED_EVERY = 40, OPENS_AT = 800, LOOKED_EVERY = 40 };

/* A door of 1 m by 1 m on a hinge along y, held by a latch; friction 0.5 and some rolling friction everywhere. */
static st_Status build(st_Scene *scene, st_Error *err)
{
    st_BodyDef door = st_body_def();
    st_ShapeDef plate = st_box_def(0.5, 0.5, 0.02);
    st_JointDef hinge = st_joint_def(ST_JOINT_REVOLUTE), latch = st_joint_def(ST_JOINT_FIXED);
    st_BodyId id;
    door.name = "door";
    plate.density = 500, plate.rolling = 0.01;
    hinge.point = (st_Vec3){-0.5, 0, 0}, hinge.axis = (st_Vec3){0, 1, 0};
    latch.name = "latch", latch.point = (st_Vec3){0.5, 0, 0};

    st_Status status = st_scene_add_body(scene, &door, &id, err);
    hinge.b = latch.b = id;
    if (status == ST_OK) status = st_scene_add_shape(scene, id, &plate, NULL, err);
    if (status == ST_OK) status = st_scene_add_joint(scene, &hinge, NULL, err);
    if (status == ST_OK) status = st_scene_add_joint(scene, &latch, NULL, err);
    return status;
}

static st_Status pour(st_Scene *scene, int number, st_Error *err)
{
    st_BodyDef ball = st_body_def();
    st_ShapeDef shape = st_sphere_def(0.05);
    st_BodyId id;
    ball.pose.p = (st_Vec3){number % 5 * 0.1 - 0.2, number / 5 % 5 * 0.1 - 0.2, 0.5};
    ball.velocity.z = -2;
    shape.rolling = 0.01;
    st_Status status = st_scene_add_body(scene, &ball, &id, err); /* "body2", "body3", ... */
    if (status == ST_OK) status = st_scene_add_shape(scene, id, &shape, NULL, err);
    return status;
}

/* Ids of the scene and of the system are the same, as long as the system follows all changes of the scene. */
static st_Status remove_fallen(st_Scene *scene, const st_System *system, int *fallen, st_Error *err)
{
    st_BodyId gone[STEPS / POURED_EVERY];
    int n = 0;
    for (int k = 2; k <= st_scene_body_count(scene); k++) { /* 1 is the door */
        st_Pose pose;
        if (st_system_pose(system, (st_BodyId){k}, &pose) == ST_OK && pose.p.z < -2) gone[n++] = (st_BodyId){k};
    }
    *fallen += n;
    return st_scene_remove_bodies(scene, gone, n, err);
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def = st_system_def();
    def.h = 1.0 / 400;
    int poured = 0, fallen = 0;

    if (st_scene_create(&scene, &err) == ST_OK && build(scene, &err) == ST_OK &&
        st_system_create(scene, &def, &system, &err) == ST_OK)
        printf("  time  poured  fallen\n");
    for (int k = 0; k < STEPS && err.status == ST_OK; k++) {
        const bool pours = k % POURED_EVERY == 0 && k < OPENS_AT, looks = k % LOOKED_EVERY == 0, opens = k == OPENS_AT;
        if (looks) remove_fallen(scene, system, &fallen, &err);
        if (pours && err.status == ST_OK) pour(scene, poured++, &err);
        if (opens && err.status == ST_OK) {
            const st_JointId latch = st_scene_find_joint(scene, "latch");
            st_scene_remove_joints(scene, &latch, 1, &err);
        }
        if ((looks || pours || opens) && err.status == ST_OK) st_system_change(system, scene, &err);
        if (err.status == ST_OK) st_system_step(system, def.h, NULL, &err);
        if (k % 200 == 199) printf("%6.2f %7d %7d\n", st_system_time(system), poured, fallen);
    }
    const bool all = err.status == ST_OK && fallen == poured;
    printf("%s\n", err.status != ST_OK ? err.message : all ? "all of them have fallen" : "some are left");
    st_system_destroy(system);
    st_scene_destroy(scene);
    return all ? 0 : 1;
}
