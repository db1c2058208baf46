/* bench/grains/main.c -- runs one case with one engine: build/bench/grains-ENGINE CASE prints a row of a table. */
#include "judge.h"

#include <stdio.h>
#include <string.h>

static const char header[] =
    "| case | engine | settings | CPU s | CPU s per simulated s | overlap, worst [% of d] | mean "
    "at the end [% of d] | figure |\n|---|---|---|---|---|---|---|---|\n";
static const char *const units[] = {"grains/s", "degrees", "d high"};

int main(int argc, char **argv)
{
    char version[40] = "", settings[160] = "", message[200] = "";
    Judge judge;
    if (argc == 2 && strcmp(argv[1], "--header") == 0) return fputs(header, stdout) < 0;
    if (argc != 2 || strcmp(argv[1], "--help") == 0) {
        printf("usage: %s CASE | --header\n\n", argv[0]);
        case_list();
        return argc != 2;
    }
    Case *c = case_create(argv[1]);
    if (c == NULL) return 2;
    const bool ready = judge_begin(&judge, c);
    const bool ok = ready && grain_engine.run(c, &judge, version, settings, message);
    if (!ok) {
        printf("| %s | %s %s | %s | | | | | %s |\n", c->name, grain_engine.name, version, settings, message);
    } else {
        printf("| %s | %s %s | %s | %.2f | %.2f | %.2f | %.3f | %.4g %s%s |\n", c->name, grain_engine.name, version,
               settings, judge.cpu, judge.cpu / c->end, 100 * judge.overlap, 100 * judge.mean, judge_figure(&judge),
               units[c->figure], judge.lost > 0 ? ", grains lost" : "");
    }
    judge_end(&judge);
    case_destroy(c);
    return ok ? 0 : 1;
}
