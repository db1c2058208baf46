/* Two boxes, one on the other, 1 kg and 1e12 kg. A residual in parts of the island's largest impulse does not see the
 * light one: it fell through the heavy box at a residual of 5e-10. Above, the heavy box pressed the light one through
 * the floor, since the compliance of overlaps is relative to the lighter body (src/step/integrate/stage_solve.c). */
#include "step/scene_run.h"

static void boxes(Run *run, double lower, double upper, double h)
{
    char text[900];
    snprintf(text, sizeof text,
             "{\"simulation\": {\"h\": %g, \"end\": 0.3}, \"ground\": [{\"name\": \"floor\", \"type\": \"plane\"}], "
             "\"bodies\": [{\"name\": \"lower\", \"mass\": %g, \"position\": [0, 0, 0.12], \"shapes\": [{\"type\": "
             "\"box\", \"size\": [0.2, 0.2, 0.2]}]}, {\"name\": \"upper\", \"mass\": %g, \"position\": [0, 0, 0.37], "
             "\"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}]}",
             h, lower, upper);
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run->scene, &run->def, &run->err), run->err);
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

/* The light box lands on the heavy one, and stays there. */
static void light_on_heavy(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        Run run;
        boxes(&run, 1e12, 1, k == 0 ? 1e-3 : 1e-2);
        while (!run_finished(&run))
            run_step(&run);
        check_close(run_position(&run, "lower").z, 0.1, 1e-6);
        check_close(run_position(&run, "upper").z, 0.3, 1e-4);
        run_close(&run);
    }
}

/* Solved or not: the heavy box, which lands at 1.1 m/s, does not press the light one into the floor (it went through).
 */
static void heavy_on_light(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        Run run;
        boxes(&run, 1, 1e12, k == 0 ? 1e-3 : 1e-2);
        while (!run_finished(&run)) {
            run_step(&run);
            check_below(run.info.penetration, 0.01);
        }
        check_close(run_position(&run, "upper").z, 0.3, 4e-3);
        run_close(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(light_on_heavy), cmocka_unit_test(heavy_on_light)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
