/* The engine of the playground, compiled for this machine from the files that playground/sources.cmake lists: it links,
 * runs a scene, and answers with the errors of a wrong one. `make playground` needs emscripten; this keeps it building.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

const char *engine_open(const char *text, const char *label, const char *sets);
const char *engine_advance(void);
void engine_control(const char *form);
const char *engine_run(void);
const char *engine_schema(void);

static const char scene[] = "{\"simulation\": {\"h\": 0.01, \"end\": 0.5}, \"ground\": [{\"type\": \"plane\"}],"
                            " \"bodies\": [{\"name\": \"box\", \"position\": [0, 0, 0.2],"
                            " \"shapes\": [{\"type\": \"box\", \"size\": [0.2, 0.2, 0.2]}]}]}";

static void a_scene_runs(void **state)
{
    (void)state;
    assert_non_null(strstr(engine_open(scene, "scene.json", ""), "\"live\":true"));
    assert_int_equal(atoi(engine_run()), 50);
    assert_non_null(strstr(engine_open(scene, "scene.json", "simulation/end=0.1"), "\"model\""));
    assert_int_equal(atoi(engine_run()), 10);
    engine_control("do=ready");
    engine_control("do=step");
    const char *shown = engine_advance();
    assert_non_null(strstr(shown, "\"poses\""));
    assert_non_null(strstr(shown, "\"work\""));
    assert_non_null(strstr(engine_schema(), "\"simulation\""));
}

static void errors_come_with_lines(void **state)
{
    (void)state;
    const char *answer = engine_open("{\n\"bodies\": [{\"mass\": -1}]}", "wrong.json", "");
    assert_non_null(strstr(answer, "{\"errors\":[{\"line\":2,"));
    assert_non_null(strstr(answer, "mass is -1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_scene_runs), cmocka_unit_test(errors_come_with_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
