/* hello.c -- a box pushed along a rough floor; prints where it stops. */
#include <stdio.h>
#include <stiction/stiction.h>

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId id;
    st_Pose pose;

    st_ShapeDef plane = st_plane_def(), box = st_box_def(0.1, 0.1, 0.1); /* SI units; half extents */
    plane.mu = box.mu = 0.5;
    st_BodyDef body = st_body_def();
    body.pose.p.z = 0.1;
    body.velocity.x = 2.0;
    st_SystemDef def = st_system_def(); /* g = 9.81 along -z, steps of 1/1000 s */

    if (st_scene_create(&scene, &err) != ST_OK || st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err) != ST_OK ||
        st_scene_add_body(scene, &body, &id, &err) != ST_OK ||
        st_scene_add_shape(scene, id, &box, NULL, &err) != ST_OK ||
        st_system_create(scene, &def, &system, &err) != ST_OK)
        goto done;
    for (int k = 0; k < 1000; k++)
        if (st_system_step(system, def.h, NULL, &err) != ST_OK) goto done;
    st_system_pose(system, id, &pose);
    printf("stopped at %.4f m, Coulomb says %.4f m\n", pose.p.x, 2.0 * 2.0 / (2 * 0.5 * 9.81));

done:
    if (err.status != ST_OK) fprintf(stderr, "hello: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
