/* hand.c -- a box on a rough floor, taken in hand between two steps: thrown, pushed back, and put where it began. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

#define TRY(call)                                                                                                      \
    if ((call) != ST_OK) goto failed

int main(void)
{
    const double mu = 0.5, g = 9.81, h = 1e-3, mass = 2;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId box;
    st_BodyDef body = st_body_def();
    st_ShapeDef plane = st_plane_def(), cube = st_box_def(0.1, 0.1, 0.1);
    st_SystemDef def = st_system_def();
    st_Pose start, pose;
    st_Vec3 velocity;
    plane.mu = cube.mu = mu;
    body.mass = mass, body.pose.p.z = 0.1;
    TRY(st_scene_create(&scene, &err));
    TRY(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err));
    TRY(st_scene_add_body(scene, &body, &box, &err));
    TRY(st_scene_add_shape(scene, box, &cube, NULL, &err));
    TRY(st_system_create(scene, &def, &system, &err));
    TRY(st_system_pose(system, box, &start));

    TRY(st_system_set_velocity(system, box, &(st_Vec3){2, 0, 0}, NULL, &err));
    for (int k = 0; k < 500; k++)
        TRY(st_system_step(system, h, NULL, &err));
    TRY(st_system_pose(system, box, &pose));
    printf("thrown at 2 m/s it slid %.3f m, Coulomb says %.3f m\n", pose.p.x, 2 * 2 / (2 * mu * g));

    TRY(st_system_push(system, box, &(st_Vec3){-1.5 * mu * mass * g, 0, 0}, NULL, &err));
    for (int k = 0; k < 400; k++)
        TRY(st_system_step(system, h, NULL, &err));
    TRY(st_system_velocity(system, box, &velocity, NULL));
    printf("pushed for 0.4 s it has %.3f m/s, Coulomb says %.3f m/s\n", velocity.x, -0.5 * mu * g * 0.4);

    TRY(st_system_push(system, box, NULL, NULL, &err));
    TRY(st_system_set_pose(system, box, &start, &err));
    TRY(st_system_set_velocity(system, box, &(st_Vec3){0, 0, 0}, &(st_Vec3){0, 0, 0}, &err));
    for (int k = 0; k < 100; k++)
        TRY(st_system_step(system, h, NULL, &err));
    TRY(st_system_pose(system, box, &pose));
    printf("put back it stays within %.0e m\n", ceil(1e9 * fabs(pose.p.x - start.p.x)) * 1e-9);
failed:
    if (err.status != ST_OK) fprintf(stderr, "hand: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
