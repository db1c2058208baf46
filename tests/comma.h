/* tests/comma.h -- a locale with a decimal comma, to test that files and results do not depend on LC_NUMERIC. */
#ifndef STI_TEST_COMMA_H
#define STI_TEST_COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes the locale in a new folder and sets it. false: localedef is missing. Call end_comma() in both cases. */
static inline bool set_comma(char folder[64])
{
    char path[80], command[300];
    snprintf(folder, 64, "/tmp/stiction-locale-XXXXXX");
    if (mkdtemp(folder) == NULL) return false;
    snprintf(path, sizeof path, "%s/source", folder);
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    fputs("LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping 3;3\nEND LC_NUMERIC\n", file);
    fclose(file);
    snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 %s/st_CO > /dev/null 2>&1", path, folder);
    (void)!system(command); /* it warns about the missing categories */
    setenv("LOCPATH", folder, 1);
    const bool set = setlocale(LC_NUMERIC, "st_CO") != NULL;
    unsetenv("LOCPATH");
    return set;
}

static inline void end_comma(const char *folder)
{
    char command[128];
    setlocale(LC_NUMERIC, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    (void)!system(command);
}

#endif
