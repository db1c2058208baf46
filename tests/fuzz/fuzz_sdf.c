/* Worlds and models: SDF files. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_path(as_file(data, size, ".sdf"), data, size);
    return 0;
}
