#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void sti_assert_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "stiction: %s:%d: this must hold, and does not: %s\n", file, line, condition);
    abort();
}
