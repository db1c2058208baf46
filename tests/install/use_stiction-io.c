/* A file that is no scene is refused with a message; the version is the one on the command line. */
#include <stdio.h>
#include <stiction/io.h>
#include <string.h>

int main(int argc, char **argv)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_SystemDef def;
    st_Status status = st_scene_parse("{", 1, "outside", NULL, 0, &scene, &def, &err);
    if (status != ST_ERR_FORMAT || scene != NULL) printf("status %s: %s\n", st_status_name(status), err.message);
    return argc == 2 && strcmp(argv[1], st_version()) == 0 && status == ST_ERR_FORMAT ? 0 : 1;
}
