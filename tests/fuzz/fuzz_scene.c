/* Scene files: JSON. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text(data, size, "fuzz.json", NULL, 0);
    return 0;
}
