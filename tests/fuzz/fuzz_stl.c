/* Meshes: .stl files, as a hull and as a mesh. */
#include "properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[512];
    const char *file = as_file(data, size, ".stl");
    for (int mesh = 0; mesh < 2; mesh++) {
        snprintf(
            text, sizeof text,
            "{\"ground\": [{\"type\": \"plane\"}], \"bodies\": [{\"position\": [0, 0, 0.5], \"mass\": 1, \"inertia\": "
            "[1, 1, 1], \"shapes\": [{\"type\": \"%s\", \"file\": \"%s\"}]}]}",
            mesh ? "mesh" : "hull", file);
        check_text((const uint8_t *)text, strlen(text), "/tmp/fuzz.json", NULL, 0);
    }
    return 0;
}
