/* tests/fuzz/replay.c -- a fuzz target as a plain test: every file of the corpus folders, once. */
#include "fuzz.h"

#include <dirent.h>

static int replay(const char *folder)
{
    int n = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        fprintf(stderr, "%s: cannot be opened\n", folder);
        return -1;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        static uint8_t bytes[1 << 20];
        char path[512];
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        const size_t size = file != NULL ? fread(bytes, 1, sizeof bytes, file) : 0;
        if (file != NULL) fclose(file);
        uint8_t *exact = malloc(size > 0 ? size : 1); /* so that a sanitizer sees reads beyond its end */
        MUST(exact != NULL);
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
        n++;
    }
    closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    int n = 0;
    for (int k = 1; k < argc; k++) {
        const int found = replay(argv[k]);
        if (found < 0) return 1;
        n += found;
    }
    printf("%d inputs\n", n);
    return n > 0 ? 0 : 1;
}
