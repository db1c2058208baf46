/* stiction settings: prints every setting of a simulation, from the tables of the library. */
#include "choices.h"
#include "command.h"
#include "json.h"
#include "terminal.h"

#include <math.h>
#include <stiction/stiction.h>
#include <string.h>

typedef struct SettingsOptions {
    bool json;
} SettingsOptions;

static const Option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document", offsetof(SettingsOptions, json)},
};

static int settings_main(int argc, char *const *argv);

const Command settings_command = {
    .name = "settings",
    .words = "",
    .summary = "list the settings of a simulation, presets and solvers",
    .details = "Settings are keys of \"simulation\" in a scene file; --set simulation/KEY=VALUE overrides one. A "
               "preset sets many of them at once; other keys of \"simulation\" override it.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = settings_main,
};

static const char *const kind_names[] = {"choice", "number", "integer", "boolean", "vector"};

/* Groups of the list; other settings come last. */
#define MOST_KEYS 13
static const struct Group {
    const char *title, *keys[MOST_KEYS];
} groups[] = {
    {"Scheme", {"preset", "integrator", "form", "contact", "law", "facets", "drift", "impact", "events", "initial"}},
    {"Step", {"h", "end", "keyframe", "gravity", "medium_density", "medium_viscosity", "wind", "speed_limit"}},
    {"Solver",
     {"solver", "tolerance", "effort", "residual_limit", "max_iterations", "step_work_limit", "step_seconds", "threads",
      "device", "islands", "forces", "coordinates"}},
    {"Contacts and drift",
     {"margin", "slop", "correction_speed", "active_gap", "all_points", "drop_redundant", "keep_springs"}},
    {"Impacts and events", {"energy", "restitution_speed", "event_step", "max_events"}},
    {"Sleep", {"sleep", "sleep_speed", "sleep_time"}},
    {"Contact compliant", {"patch_elements", "patch_spacing", "patch_mass"}},
    {"Contact regularized", {"contact_stiffness", "contact_damping", "joint_stiffness", "rigid_limit"}},
    {"More", {NULL}},
};
enum { N_GROUPS = (int)(sizeof groups / sizeof groups[0]), COLUMN = 21 };

static int group_of(const st_Setting *setting)
{
    for (int g = 0; g < N_GROUPS - 1; g++)
        for (int k = 0; k < MOST_KEYS && groups[g].keys[k] != NULL; k++)
            if (strcmp(groups[g].keys[k], setting->key) == 0) return g;
    return N_GROUPS - 1;
}

/* "euler | implicit (default)", "number [s], 1e-30 to 1e+30 (0.001)". */
static void print_range(const st_Setting *setting)
{
    const st_SystemDef def = st_system_def();
    st_SettingValue value = {0};
    char usual[128], text[600] = "";
    st_setting_get(&def, setting->key, &value, NULL);
    setting_text(setting, &value, usual, sizeof usual);
    for (int k = 0; setting->words != NULL && setting->words[k] != NULL; k++)
        add_text(text, sizeof text, "%s%s", k > 0 ? " | " : "", setting->words[k]);
    if (setting->words == NULL) {
        add_text(text, sizeof text, "%s", kind_names[setting->kind]);
        if (setting->unit[0] != '\0') add_text(text, sizeof text, " [%s]", setting->unit);
        if (setting->kind == ST_SETTING_NUMBER || setting->kind == ST_SETTING_INTEGER)
            add_text(text, sizeof text, ", %g to %g", setting->min, setting->max);
    }
    add_text(text, sizeof text, "; default %s", usual);
    fputs(tone(stdout, DIM), stdout);
    print_wrapped(stdout, text, COLUMN);
    fputs(tone(stdout, PLAIN), stdout);
}

static void print_title(const char *title)
{
    printf("%s%s%s\n", tone(stdout, BOLD), title, tone(stdout, PLAIN));
}

static void print_named(const char *name, const char *help, int column)
{
    printf("  %-*s ", column - 3, name);
    print_wrapped_at(stdout, help, column, column);
}

static void print_text(void)
{
    for (int g = 0; g < N_GROUPS; g++) {
        bool any = false;
        for (int i = 0; i < st_setting_count(); i++) {
            const st_Setting *setting = st_setting(i);
            if (group_of(setting) != g) continue;
            if (!any) print_title(groups[g].title);
            any = true;
            print_named(setting->key, setting->help, COLUMN);
            print_range(setting);
        }
        if (any) putchar('\n');
    }
    print_title("Presets");
    for (int i = 0; i < st_preset_count(); i++)
        print_named(st_preset_name(i), st_preset_help(i), 25);
    putchar('\n');
    print_title("Solvers");
    for (int i = 0; i < st_solver_count(); i++)
        print_named(st_solver_name(i), st_solver_help(st_solver_name(i)), 25);
    printf("\nIn a scene: \"simulation\": {\"h\": 0.01}; for one run: --set simulation/h=0.01\n");
}

static void setting_json(Json *json, const st_Setting *setting)
{
    put_open_object(json, setting->key);
    put_text(json, "kind", kind_names[setting->kind]);
    put_text(json, "unit", setting->unit);
    put_text(json, "help", setting->help);
    if (setting->kind == ST_SETTING_NUMBER || setting->kind == ST_SETTING_INTEGER) {
        put_number(json, "min", setting->min);
        put_number(json, "max", setting->max);
    }
    if (setting->words != NULL) {
        put_open_array(json, "words");
        for (int k = 0; setting->words[k] != NULL; k++)
            put_text(json, NULL, setting->words[k]);
        put_close_array(json);
    }
    put_close_object(json);
}

static void print_document(void)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_open_object(&json, "settings");
    for (int i = 0; i < st_setting_count(); i++)
        setting_json(&json, st_setting(i));
    put_close_object(&json);
    put_open_object(&json, "presets");
    for (int i = 0; i < st_preset_count(); i++)
        put_text(&json, st_preset_name(i), st_preset_help(i));
    put_close_object(&json);
    put_open_object(&json, "solvers");
    for (int i = 0; i < st_solver_count(); i++)
        put_text(&json, st_solver_name(i), st_solver_help(st_solver_name(i)));
    put_close_object(&json);
    put_close_object(&json);
    put_document_end(&json);
}

static int settings_main(int argc, char *const *argv)
{
    SettingsOptions o = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&settings_command, argc, argv, &o, words);
    if (status >= 0) return status;
    if (o.json)
        print_document();
    else
        print_text();
    return STATUS_OK;
}
