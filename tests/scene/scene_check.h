/* tests/scene/scene_check.h -- scenes from strings: read them, or see them refused with the right words. */
#ifndef STI_SCENE_CHECK_H
#define STI_SCENE_CHECK_H

#include "check.h"

#include <stiction/io.h>
#include <string.h>

#define MAX_SETS 8

/* Read a text that must be fine, with overrides up to a NULL. Destroy the scene. */
static inline st_Scene *scene_of(const char *text, st_SystemDef *def, const char *const *sets)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    int n = 0;
    while (sets != NULL && sets[n] != NULL)
        n++;
    if (st_scene_parse(text, strlen(text), "test.json", sets, n, &scene, def, &err) != ST_OK)
        fail_msg("%s", err.message);
    assert_non_null(scene);
    return scene;
}

/* A system of such a text. Destroy both. */
static inline st_System *system_of(const char *text, const char *const *sets, st_Scene **scene)
{
    st_Error err = {0};
    st_SystemDef def;
    st_System *system = NULL;
    *scene = scene_of(text, &def, sets);
    check_ok(st_system_create(*scene, &def, &system, &err), err);
    return system;
}

/* A text that can be read, and of which no system can be made, for a reason with this in it. */
static inline void check_no_system(const char *text, const char *part)
{
    st_Error err = {0};
    st_SystemDef def;
    st_System *system = NULL;
    st_Scene *scene = scene_of(text, &def, NULL);
    assert_int_equal(st_system_create(scene, &def, &system, &err), ST_ERR_ARGUMENT);
    assert_null(system);
    if (strstr(err.message, part) == NULL) fail_msg("%s: without %s", err.message, part);
    st_scene_destroy(scene);
}

/* One that must be refused: status, line, and every part (up to a NULL) in the message. */
static inline void check_refused_(const char *text, const char *const *sets, st_Status status, int line,
                                  const char *const *parts, const char *file, int at)
{
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    int n = 0;
    while (sets != NULL && sets[n] != NULL)
        n++;
    st_Status got = st_scene_parse(text, strlen(text), "test.json", sets, n, &scene, &def, &err);
    char start[40];
    if (line > 0)
        snprintf(start, sizeof start, "test.json:%d: ", line);
    else
        snprintf(start, sizeof start, "test.json: ");
    bool ok = got == status && err.status == status && err.line == line && scene == NULL &&
              strncmp(err.message, start, strlen(start)) == 0 && strchr(err.message, '\n') == NULL;
    for (int i = 0; parts[i] != NULL; i++)
        ok = ok && strstr(err.message, parts[i]) != NULL;
    if (ok) return;
    print_error("status %s, expected %s; line %d, expected %d; message: %s\n", st_status_name(got),
                st_status_name(status), err.line, line, err.message);
    for (int i = 0; parts[i] != NULL; i++)
        if (strstr(err.message, parts[i]) == NULL) print_error("  without: %s\n", parts[i]);
    st_scene_destroy(scene);
    _fail(file, at);
}
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define check_refused(text, line, ...)                                                                                 \
    check_refused_((text), NULL, ST_ERR_FORMAT, (line), WORDS(__VA_ARGS__), __FILE__, __LINE__)

/* The text of a file, malloc'd; fails the test where there is none. */
static inline char *file_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be opened (tests run from the root of the tree)", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 20) - 1, file);
    fclose(file);
    return text;
}

static const char *const example_scenes[] = {
    "examples/anitescu-potra-2002/b_g20_explicit.json",       "examples/anitescu-potra-2002/b_g20_implicit.json",
    "examples/anitescu-potra-2002/b_g100_explicit.json",      "examples/anitescu-potra-2002/b_g100_implicit.json",
    "examples/anitescu-potra-2002/b_g1e6_implicit.json",      "examples/anitescu-potra-2002/b_m1e8_g20_implicit.json",
    "examples/anitescu-potra-2002/b_m1e8_g1e8_implicit.json", "examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json",
    "examples/anitescu-potra-2002/bars_A0_mu0.15_g1000.json", "examples/anitescu-potra-2002/bars_A0_mu0.15_g1e+08.json",
    "examples/anitescu-potra-2002/bars_A0_mu0.05_g20.json",   "examples/anitescu-potra-2002/bars_A0_mu0.2_g20.json",
    "examples/anitescu-potra-2002/bars_A0_mu0.5_g20.json",
};
#define N_EXAMPLES ((int)(sizeof example_scenes / sizeof example_scenes[0]))

/* A scene with every key of every kind, for round trips, the schema and mutations. */
#pragma GCC diagnostic ignored "-Woverlength-strings" /* longer than every C99 compiler must take */
static const char every_key[] =
    "{\n"
    "  \"$schema\": \"scene.schema.json\", \"name\": \"every key\", \"description\": \"all there is\",\n"
    "  \"simulation\": { \"integrator\": \"euler\", \"preset\": \"anitescu-potra-2002\", \"contact\": \"rigid\",\n"
    "    \"law\": \"cone\", \"facets\": 6, \"drift\": \"gap\", \"impact\": \"inelastic\", \"events\": \"off\",\n"
    "    \"h\": 0.002, \"end\": 3, \"gravity\": [0, -1, 2], \"medium_density\": 2, \"medium_viscosity\": 0.5,"
    " \"wind\": [1, 0, 0], \"solver\": \"nsgs\", \"tolerance\": 1e-6,\n"
    "    \"max_iterations\": 77, \"step_work_limit\": 1e6, \"step_seconds\": 1e3, \"effort\": \"exact\", \"device\": "
    "\"none\", \"keyframe\": 0, \"threads\": "
    "3, \"islands\": false, "
    "\"sleep\": true, \"sleep_speed\": 0.02,\n"
    "    \"sleep_time\": 1.5, \"margin\": 0.25, \"all_points\": true, \"drop_redundant\": true, \"slop\": 1e-7, "
    "\"correction_speed\": 0.5, "
    "\"active_gap\": 1e-4,\n"
    "    \"keep_springs\": true, \"speed_limit\": 1000, \"coordinates\": \"body\", \"form\": \"I\", "
    "\"restitution_speed\": 0.01, \"energy\": "
    "\"report\", \"residual_limit\": 0.25,\n"
    "    \"event_step\": 1e-5, \"max_events\": 12, \"patch_elements\": 5, \"patch_spacing\": 1e-5,\n"
    "    \"patch_mass\": 2, \"contact_stiffness\": 1e4, \"contact_damping\": 100, \"joint_stiffness\": 1e5,\n"
    "    \"rigid_limit\": true, \"initial\": \"project\" },\n"
    "  \"materials\": [ { \"name\": \"steel\", \"friction\": 0.2 }, { \"name\": \"rubber\", \"friction\": 0.8, "
    "\"restitution\": 0.7 } ],\n"
    "  \"material_pairs\": [ { \"a\": \"steel\", \"b\": \"rubber\", \"friction\": 0.6, \"restitution\": 0.1 } ],\n"
    "  \"ground\": [\n"
    "    { \"name\": \"floor\", \"type\": \"plane\", \"normal\": [0, 2, 0], \"position\": [0, -1, 0], \"friction\": "
    "0.7 },\n"
    "    { \"name\": \"wall\", \"type\": \"plane\", \"orientation\": [0.5, 0.5, 0.5, 0.5], \"material\": "
    "\"steel\" } ],\n"
    "  \"bodies\": [\n"
    "    { \"name\": \"one\", \"position\": [1, 2, 3], \"orientation\": { \"axis\": [0, 0, 2], \"angle\": 1 },\n"
    "      \"velocity\": [4, 5, 0], \"angular_velocity\": [0, 0, 6], \"mass\": 7, \"inertia\": [2, 3, 4],\n"
    "      \"locks\": [\"z\", \"rx\", \"ry\"], \"fixed\": false, \"shapes\": [\n"
    "        { \"name\": \"tip\", \"type\": \"point\", \"position\": [0.1, 0.2, 0.3], \"friction\": 0 },\n"
    "        { \"name\": \"rod\", \"type\": \"bar\", \"length\": 2, \"direction\": [0, 3, 0], \"density\": 8 },\n"
    "        { \"name\": \"ball\", \"type\": \"sphere\", \"radius\": 0.4, \"density\": 9 },\n"
    "        { \"name\": \"crate\", \"type\": \"box\", \"size\": [1, 2, 3], \"orientation\": [0, 0, 1, 0], "
    "\"density\": 10 } ] },\n"
    "    { \"name\": \"two\", \"position\": [9, 0, 0], \"mass\": 1, \"inertia\": [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]] "
    "},\n"
    "    { \"name\": \"three\", \"mass\": 1, \"inertia\": 5, \"locks\": \"planar-xz\" },\n"
    "    { \"name\": \"four\", \"shapes\": [ { \"type\": \"sphere\", \"radius\": 1 } ] },\n"
    "    { \"name\": \"post\", \"fixed\": true },\n"
    "    { \"mass\": 2, \"locks\": [\"rotation\"] } ],\n"
    "  \"joints\": [\n"
    "    { \"name\": \"weld\", \"type\": \"fixed\", \"a\": \"one\", \"b\": \"two\" },\n"
    "    { \"name\": \"ball\", \"type\": \"ball\", \"a\": \"two\", \"point\": [1, 1, 1] },\n"
    "    { \"name\": \"hinge\", \"type\": \"revolute\", \"a\": \"one\", \"b\": \"ground\", \"point\": [3, 2, 1], "
    "\"axis\": [0, 2, 0] },\n"
    "    { \"name\": \"slide\", \"type\": \"prismatic\", \"b\": \"two\", \"axis\": [1, 0, 0] },\n"
    "    { \"name\": \"rod\", \"type\": \"distance\", \"a\": \"one\", \"b\": \"two\", \"length\": 8.775 },\n"
    "    { \"name\": \"rope\", \"type\": \"distance\", \"a\": \"one\", \"point\": [1, 1, 1], \"point_b\": [2, 2, 2] "
    "},\n"
    "    { \"name\": \"tube\", \"type\": \"cylindrical\", \"b\": \"two\", \"point\": [9, 0, 0], \"axis\": [0, 0, 1],\n"
    "      \"coordinate\": \"displacement\", \"lower\": -1.5, \"upper\": 2.5, \"restitution\": 0.5, \"friction\": 3, "
    "\"stiffness\": 4,\n"
    "      \"damping\": 5, \"rest\": 0.25, \"motor\": { \"type\": \"position\", \"target\": 0.5, \"offset\": 0.1,\n"
    "        \"max_force\": 7, \"stiffness\": 8, \"damping\": 9, \"profile\": \"harmonic\", \"frequency\": 2, "
    "\"phase\": 1 } },\n"
    "    { \"name\": \"cross\", \"type\": \"universal\", \"a\": \"one\", \"b\": \"two\", \"point\": [1, 0, 0],\n"
    "      \"axis\": [0, 2, 0], \"axis_b\": [0, 0, 3] },\n"
    "    { \"name\": \"table\", \"type\": \"planar\", \"b\": \"two\", \"axis\": [0, 0, 1], \"motor\": {\n"
    "        \"type\": \"speed\", \"target\": 2, \"profile\": \"table\", \"table\": [[0, 0], [1, 3]] } },\n"
    "    { \"name\": \"wire\", \"type\": \"point-on-line\", \"b\": \"two\", \"point\": [9, 0, 0], \"axis\": [1, 0, 0] "
    "},\n"
    "    { \"name\": \"screw\", \"type\": \"screw\", \"b\": \"two\", \"point\": [9, 0, 0], \"axis\": [1, 0, 0], "
    "\"pitch\": -0.5,\n"
    "      \"motor\": { \"type\": \"motion\", \"target\": 6, \"profile\": \"ramp\" } },\n"
    "    { \"name\": \"gear\", \"type\": \"gear\", \"joint_a\": \"hinge\", \"joint_b\": \"screw\", \"ratio\": -3 },\n"
    "    { \"name\": \"winch\", \"type\": \"free\", \"a\": \"one\", \"b\": \"two\", \"axis\": [0, 1, 0], \"upper\": 9 "
    "} "
    "],\n"
    "  \"springs\": [\n"
    "    { \"name\": \"s1\", \"a\": \"one\", \"b\": \"two\", \"stiffness\": 11, \"damping\": 12, \"rest\": 1.5 },\n"
    "    { \"name\": \"s2\", \"type\": \"linear\", \"a\": \"one\", \"point_a\": [1, 0, 0], \"point_b\": [0, 1, 0], "
    "\"stiffness\": 1 },\n"
    "    { \"name\": \"s3\", \"type\": \"angular\", \"a\": \"one\", \"b\": \"two\", \"axis\": [0, 0, 1], \"damping\": "
    "2, \"rest\": -7 },\n"
    "    { \"name\": \"s4\", \"type\": \"bushing\", \"a\": \"one\", \"b\": \"two\", \"point\": [1, 1, 1],\n"
    "      \"frame\": [0.5, 0.5, 0.5, 0.5], \"stiffness\": [1, 2, 3], \"damping\": [4, 5, 6],\n"
    "      \"angular_stiffness\": [7, 8, 9], \"angular_damping\": [0, 1, 2] } ],\n"
    "  \"forces\": [\n"
    "    { \"name\": \"f1\", \"body\": \"one\", \"point\": [1, 2, 3], \"force\": [4, 5, 6], \"torque\": [7, 8, 9], "
    "\"axes\": \"body\" },\n"
    "    { \"name\": \"f2\", \"body\": \"two\", \"profile\": \"harmonic\", \"frequency\": 3, \"phase\": 0.5, \"axes\": "
    "\"world\" },\n"
    "    { \"name\": \"f3\", \"body\": \"two\", \"profile\": \"table\", \"table\": [[0, 1], [1, 3], [2.5, -1]] },\n"
    "    { \"name\": \"f4\", \"body\": \"two\", \"profile\": \"ramp\", \"force\": [1, 0, 0] } ]\n"
    "}\n";

#endif
