/* Recordings: HDF5. A recording that opens is read, packed for the viewer, and restarted. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_Error err = {0};
    st_Recording *recording = NULL;
    unsigned char *packed = NULL;
    size_t bytes = 0;
    st_Scene *scene = NULL;
    st_SystemDef def;
    const st_Status status = st_recording_open(as_file(data, size, ".h5"), &recording, &err);
    if (status != ST_OK) must_explain(status, &err);
    if (status == ST_OK) {
        (void)!st_recording_pack(recording, 1000, &packed, &bytes, &err);
        if (st_recording_scene(recording, NULL, 0, &scene, &def, &err) == ST_OK) {
            st_System *system = NULL;
            st_RecordedCheckpoint checkpoint;
            if (st_scene_body_count(scene) <= MOST_BODIES && st_system_create(scene, &def, &system, &err) == ST_OK &&
                st_recording_info(recording)->n_checkpoints > 0 &&
                st_recording_checkpoints(recording, 0, 1, &checkpoint, &err) == ST_OK &&
                st_recording_restore(recording, &checkpoint, system, &err) == ST_OK)
                step_checked(&(Checked){scene, &def, NAN, false}, system);
            st_system_destroy(system);
        }
        st_scene_destroy(scene);
    }
    free(packed);
    st_recording_close(recording);
    return 0;
}
