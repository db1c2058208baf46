/* stiction settings: prints every setting of a simulation, from the tables of the library. */
#include "choices.h"
#include "command.h"
#include "json.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <stiction/io.h>
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
    .words = "[WORD]",
    .max_words = 1,
    .summary = "list settings, presets and solvers, or those with WORD in the name",
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

/* Prints the title before the first line of its group, and counts the lines. */
static void print_title(const char *title, int *lines)
{
    if ((*lines)++ == 0) printf("%s%s%s\n", tone(stdout, BOLD), title, tone(stdout, PLAIN));
}

static void print_named(const char *name, const char *help, int column)
{
    printf("  %-*s ", column - 3, name);
    print_wrapped_at(stdout, help, column, column);
}

/* The settings, presets and solvers with `word` in their name; the number of them. */
static int print_text(const char *word)
{
    int sum = 0, lines = 0;
    for (int g = 0; g < N_GROUPS; g++, sum += lines) {
        lines = 0;
        for (int i = 0; i < st_setting_count(); i++) {
            const st_Setting *setting = st_setting(i);
            if (group_of(setting) != g || strstr(setting->key, word) == NULL) continue;
            print_title(groups[g].title, &lines);
            print_named(setting->key, setting->help, COLUMN);
            print_range(setting);
        }
        if (lines > 0) putchar('\n');
    }
    lines = 0;
    for (int i = 0; i < st_preset_count(); i++) {
        if (strstr(st_preset_name(i), word) == NULL) continue;
        print_title("Presets", &lines);
        print_named(st_preset_name(i), st_preset_help(i), 25);
    }
    if (lines > 0) putchar('\n');
    sum += lines;
    lines = 0;
    for (int i = 0; i < st_solver_count(); i++) {
        if (strstr(st_solver_name(i), word) == NULL) continue;
        print_title("Solvers", &lines);
        print_named(st_solver_name(i), st_solver_help(st_solver_name(i)), 25);
    }
    if (lines > 0) putchar('\n');
    if (sum + lines > 0)
        print_wrapped(stdout, "In a scene: \"simulation\": {\"h\": 0.01}; for one run: --set simulation/h=0.01", 0);
    return sum + lines;
}

/* Keys of scene files with `word` in them: bodies, shapes and joints have friction, mass, ... of their own. */
static void list_keys(const char *word, char *out, size_t size)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    char *schema = st_scene_schema();
    for (const char *at = schema; at != NULL && (at = strstr(at, word)) != NULL;) {
        const char *begin = at, *end = at + strlen(word);
        while (begin > schema && strchr(letters, begin[-1]) != NULL)
            begin--;
        end += strspn(end, letters);
        at = end;
        char key[64];
        if (begin == schema || begin[-1] != '"' || end[0] != '"' || end[1] != ':' || end - begin > 40) continue;
        snprintf(key, sizeof key, " \"%.*s\"", (int)(end - begin), begin);
        if (strstr(out, key) == NULL) add_text(out, size, "%s%s", out[0] != '\0' ? "," : "", key);
    }
    free(schema);
}

static int unknown_word(const char *word)
{
    char keys[600] = "";
    list_keys(word, keys, sizeof keys);
    if (keys[0] != '\0')
        return complain(STATUS_INPUT,
                        "settings: no setting, preset or solver has \"%s\" in its name; other parts of a scene have "
                        "the keys%s: see docs/scene.md, or stiction schema",
                        word, keys);
    enum { MOST = 128 };
    const char *names[MOST];
    int n = 0;
    for (int i = 0; i < st_setting_count() && n < MOST; i++)
        names[n++] = st_setting(i)->key;
    for (int i = 0; i < st_preset_count() && n < MOST; i++)
        names[n++] = st_preset_name(i);
    for (int i = 0; i < st_solver_count() && n < MOST; i++)
        names[n++] = st_solver_name(i);
    const char *near = suggest(word, names, n);
    return complain(STATUS_INPUT, "settings: no setting, preset or solver has \"%s\" in its name%s%s%s", word,
                    near != NULL ? ", did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
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
    else if (print_text(words[0] != NULL ? words[0] : "") == 0)
        return unknown_word(words[0]);
    return STATUS_OK;
}
