/* Meshes: COLLADA files, as a hull and as a mesh. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_mesh(data, size, ".dae");
    return 0;
}
