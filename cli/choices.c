#include "choices.h"

#include "terminal.h"

#include <string.h>

void setting_text(const st_Setting *setting, const st_SettingValue *value, char *out, size_t size)
{
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        snprintf(out, size, "%s", value->word != NULL ? value->word : "");
        break;
    case ST_SETTING_BOOLEAN:
        snprintf(out, size, "%s", value->number != 0 ? "true" : "false");
        break;
    case ST_SETTING_VECTOR:
        snprintf(out, size, "(%g, %g, %g)", value->vector.x, value->vector.y, value->vector.z);
        break;
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
        snprintf(out, size, "%g", value->number);
        break;
    }
}

/* The settings of the preset of `def` alone. */
static st_SystemDef preset_alone(const st_SystemDef *def)
{
    st_SystemDef alone = st_system_def();
    st_SettingValue preset = {0};
    if (st_setting_get(def, "preset", &preset, NULL) == ST_OK) (void)st_setting_set(&alone, "preset", &preset, NULL);
    return alone;
}

static bool is_main(const st_Setting *setting)
{
    static const char *const keys[] = {"h", "end", "gravity", "tolerance"};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcmp(setting->key, keys[k]) == 0) return true;
    return setting->kind == ST_SETTING_CHOICE;
}

void print_choices(FILE *out, const st_SystemDef *def, bool all, int indent)
{
    const st_SystemDef alone = preset_alone(def);
    const int width = line_width(out);
    int column = 0;
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        st_SettingValue value = {0};
        char text[128], item[256];
        if (strcmp(setting->key, "preset") == 0) continue; /* printed first in the summary */
        if (st_setting_get(def, setting->key, &value, NULL) != ST_OK) continue;
        setting_text(setting, &value, text, sizeof text);
        st_SettingValue usual = {0};
        char usual_text[128] = "";
        if (st_setting_get(&alone, setting->key, &usual, NULL) == ST_OK)
            setting_text(setting, &usual, usual_text, sizeof usual_text);
        if (!all && !is_main(setting) && strcmp(text, usual_text) == 0) continue;
        /* -1 is the only negative value of a setting, and means that the program chooses. */
        const bool automatic = setting->kind == ST_SETTING_NUMBER && value.number == -1;
        const char *unit = automatic ? "(automatic)" : setting->unit;
        int length = snprintf(item, sizeof item, "%s %s%s%s", setting->key, text, unit[0] != '\0' ? " " : "", unit);
        if (column > 0 && column + 2 + length + 1 > width) { /* keep key and value together */
            fputs(",\n", out);
            column = 0;
        }
        if (column > 0)
            column += fprintf(out, ", %s", item);
        else
            column = fprintf(out, "%*s%s", indent, "", item);
    }
    fputc('\n', out);
}

void put_choices(Json *json, const char *key, const st_SystemDef *def)
{
    put_open_object(json, key);
    for (int i = 0; i < st_setting_count(); i++) {
        const st_Setting *setting = st_setting(i);
        st_SettingValue value = {0};
        if (st_setting_get(def, setting->key, &value, NULL) != ST_OK) continue;
        double vector[3] = {value.vector.x, value.vector.y, value.vector.z};
        switch (setting->kind) {
        case ST_SETTING_CHOICE:
            put_text(json, setting->key, value.word);
            break;
        case ST_SETTING_BOOLEAN:
            put_boolean(json, setting->key, value.number != 0);
            break;
        case ST_SETTING_VECTOR:
            put_numbers(json, setting->key, vector, 3);
            break;
        case ST_SETTING_NUMBER:
        case ST_SETTING_INTEGER:
            put_number(json, setting->key, value.number);
            break;
        }
    }
    put_close_object(json);
}

bool restitution_ignored(const st_Scene *scene, const st_SystemDef *def, char *out, size_t size)
{
    double most = 0;
    if (def->impact != ST_IMPACT_INELASTIC) return false;
    for (int i = 1; i <= st_scene_shape_count(scene); i++) {
        st_ShapeDef shape;
        if (st_scene_shape(scene, (st_ShapeId){i}, &shape, NULL) == ST_OK && shape.restitution > most)
            most = shape.restitution;
    }
    for (int i = 1; i <= st_scene_joint_count(scene); i++) {
        st_JointDef joint;
        if (st_scene_joint(scene, (st_JointId){i}, &joint) == ST_OK && joint.restitution > most)
            most = joint.restitution;
    }
    snprintf(out, size, "restitution (up to %g) is ignored: the impact law is \"inelastic\", as preset \"%s\" has it",
             most, def->preset);
    return most > 0;
}
