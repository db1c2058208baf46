/* hello.c -- a box pushed along a rough floor; prints where it stops. */
#include <stdio.h>
#include <stiction/stiction.h>

int main(void)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_System *sys = NULL;
    st_BodyId box_id;

    st_BodyDef box_def = st_body_def();
    box_def.pose.p.z = 0.1;
    box_def.velocity.x = 2.0;
    st_ShapeDef plane = st_plane_def(), box = st_box_def(0.1, 0.1, 0.1);
    plane.mu = box.mu = 0.5;
    st_SystemDef sys_def = st_system_def(); /* SI units, g = 9.81 along -z */

    if (st_scene_create(&scene, &err) != ST_OK || st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err) != ST_OK ||
        st_scene_add_body(scene, &box_def, &box_id, &err) != ST_OK ||
        st_scene_add_shape(scene, box_id, &box, NULL, &err) != ST_OK ||
        st_system_create(scene, &sys_def, &sys, &err) != ST_OK) {
        fprintf(stderr, "hello: %s\n", err.message);
    } else {
        st_Pose pose = {0};
        for (int k = 0; k < 1000; k++)
            if (st_system_step(sys, 1e-3, NULL, &err) != ST_OK) {
                fprintf(stderr, "hello: %s\n", err.message);
                break;
            }
        st_system_pose(sys, box_id, &pose);
        printf("stopped at %.4f m, Coulomb says %.4f m\n", pose.p.x, 2.0 * 2.0 / (2 * 0.5 * 9.81));
    } /* first order in h: 0.4067 against 0.4077, an error of h v0/2 */
    st_system_destroy(sys);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
