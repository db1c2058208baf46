/* A body falls for one step, v = -g h; the version is the one named on the command line. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>
#include <string.h>

int main(int argc, char **argv)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_Vec3 v = {0, 0, 0};
    st_BodyId id;
    st_BodyDef body = st_body_def();
    st_SystemDef def = st_system_def();
    body.mass = 1;
    body.locks = ST_LOCK_ROTATION;
    if (st_scene_create(&scene, &err) != ST_OK || st_scene_add_body(scene, &body, &id, &err) != ST_OK ||
        st_system_create(scene, &def, &system, &err) != ST_OK || st_system_step(system, 0.5, NULL, &err) != ST_OK ||
        st_system_velocity(system, id, &v, NULL) != ST_OK)
        printf("%s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return argc == 2 && strcmp(argv[1], st_version()) == 0 && fabs(v.z + 9.81 * 0.5) < 1e-12 ? 0 : 1;
}
