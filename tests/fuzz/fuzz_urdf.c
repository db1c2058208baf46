/* Robots: URDF files. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_path(as_file(data, size, ".urdf"), data, size);
    return 0;
}
