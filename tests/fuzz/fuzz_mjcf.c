/* Robots: MJCF files. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_path(as_file(data, size, ".xml"), data, size);
    return 0;
}
