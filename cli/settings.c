/* stiction settings: every choice of a simulation, from the tables of the library. */
#include "command.h"
#include "json.h"

#include <math.h>
#include <stiction/stiction.h>

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
               "preset sets them all; a key beside it overrides one.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = settings_main,
};

static const char *const kind_names[] = {"choice", "number", "integer", "boolean", "vector"};

static void print_range(const st_Setting *setting)
{
    if (setting->words != NULL) {
        for (int k = 0; setting->words[k] != NULL; k++)
            printf("%s%s", k > 0 ? " | " : "", setting->words[k]);
        return;
    }
    printf("%s", kind_names[setting->kind]);
    if (setting->unit[0] != '\0') printf(" [%s]", setting->unit);
    if (setting->kind != ST_SETTING_NUMBER && setting->kind != ST_SETTING_INTEGER) return;
    printf(", %g to %g", setting->min, setting->max);
}

static void print_text(void)
{
    printf("settings (simulation/KEY):\n");
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        printf("  %-18s %s\n%21s", setting->key, setting->help, "");
        print_range(setting);
        putchar('\n');
    }
    printf("\npresets:\n");
    for (int i = 0; i < st_preset_count(); i++)
        printf("  %-22s %s\n", st_preset_name(i), st_preset_help(i));
    printf("\nsolvers:\n");
    for (int i = 0; i < st_solver_count(); i++)
        printf("  %-22s %s\n", st_solver_name(i), st_solver_help(st_solver_name(i)));
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
