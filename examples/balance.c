/* balance.c -- a controller of one's own: in every step it reads two joints and sets a motor. A cart on a rail
 * keeps a pole upright by state feedback, though a gust hits it after two seconds.
 */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

/* A cart of 1 kg on a rail along x, driven by a force of at most 20 N; a pole of 0.2 kg, 1 m long, hinged on it. */
static st_Status build(st_Scene **scene, st_JointId *rail, st_JointId *hinge, st_ForceId *push, st_Error *err)
{
    st_BodyDef cart = st_body_def(), pole = st_body_def();
    cart.mass = 1, cart.inertia = (st_Mat3){{0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01}};
    pole.mass = 0.2, pole.inertia = (st_Mat3){{1.0 / 60, 0, 0, 0, 1.0 / 60, 0, 0, 0, 1e-4}};
    pole.pose.p.z = 0.5;
    st_JointDef slide = st_joint_def(ST_JOINT_PRISMATIC), turn = st_joint_def(ST_JOINT_REVOLUTE);
    slide.axis = (st_Vec3){1, 0, 0};
    slide.motor.type = ST_MOTOR_FORCE;
    slide.motor.max_force = 20;
    turn.axis = (st_Vec3){0, 1, 0}; /* positive angles lean along x */
    st_ForceDef gust = st_force_def();

    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = st_scene_add_body(*scene, &cart, &slide.b, err);
    if (status == ST_OK) status = st_scene_add_body(*scene, &pole, &turn.b, err);
    turn.a = slide.b, gust.body = turn.b;
    if (status == ST_OK) status = st_scene_add_joint(*scene, &slide, rail, err);
    if (status == ST_OK) status = st_scene_add_joint(*scene, &turn, hinge, err);
    if (status == ST_OK) status = st_scene_add_force(*scene, &gust, push, err);
    return status;
}

/* The gains that give the upright equilibrium of these masses the rates -1.5, -2, -3 and -4 1/s. */
static double regulate(const st_JointReport *cart, const st_JointReport *pole)
{
    return 2.569 * cart->coordinate + 4.495 * cart->speed + 41.13 * pole->coordinate + 10.35 * pole->speed;
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_JointId rail, hinge;
    st_ForceId push;
    st_JointReport cart = {0}, pole = {0};
    const st_Vec3 gust = {3, 0, 0}, calm = {0, 0, 0};
    st_SystemDef def = st_system_def();

    if (build(&scene, &rail, &hinge, &push, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK)
        printf("  time    cart [m]  pole [rad]  force [N]\n");
    for (int k = 0; k < 8000 && err.status == ST_OK; k++) {
        const bool blows = k >= 2000 && k < 2100;
        st_system_joint(system, rail, ST_FRAME_WORLD, &cart);
        st_system_joint(system, hinge, ST_FRAME_WORLD, &pole);
        if (k % 1000 == 0)
            printf("%6.2f %11.5f %11.5f %10.4f\n", st_system_time(system), cart.coordinate, pole.coordinate,
                   cart.motor);
        if (st_system_set_force(system, push, blows ? &gust : &calm, NULL, &err) == ST_OK &&
            st_system_set_motor(system, rail, regulate(&cart, &pole), &err) == ST_OK)
            st_system_step(system, def.h, NULL, &err);
    }
    const bool stands = err.status == ST_OK && fabs(pole.coordinate) < 1e-3 && fabs(cart.coordinate) < 1e-2;
    printf("%s\n", err.status != ST_OK ? err.message : stands ? "it stands" : "it fell");
    st_system_destroy(system);
    st_scene_destroy(scene);
    return stands ? 0 : 1;
}
