/* scene/reference.c -- the tables of keys as Markdown: the generated part of docs/scene.md. */
#include "base/range.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

/* Escapes text so that it stays in one cell. */
static void put_cell(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

/* Writes a default as JSON in code marks; "-" if there is none. Returns false if out of memory. */
static bool put_default(FILE *out, json_t *value)
{
    bool ok = value != NULL;
    if (json_is_null(value))
        fputs("-", out);
    else if (ok) {
        fputc('`', out);
        ok = json_dumpf(value, out, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) == 0;
        fputc('`', out);
    }
    json_decref(value);
    return ok;
}

static bool put_setting(FILE *out, const st_Setting *setting)
{
    static const char *const kinds[] = {"word", "number", "whole number", "true or false", "three numbers [x, y, z]"};
    fprintf(out, "| `%s` | ", setting->key);
    if (setting->kind == ST_SETTING_CHOICE) {
        for (int i = 0; setting->words[i] != NULL; i++)
            fprintf(out, "%s`%s`", i > 0 ? ", " : "", setting->words[i]);
    } else {
        fputs(kinds[setting->kind], out);
    }
    bool ranged = setting->kind == ST_SETTING_NUMBER || setting->kind == ST_SETTING_INTEGER;
    if (ranged) fprintf(out, " from %g to %g", setting->min, setting->max);
    fprintf(out, " | %s | ", setting->unit);
    bool ok = put_default(out, sti_default_setting(setting));
    fputs(" | ", out);
    put_cell(out, setting->help);
    fputs(" |\n", out);
    return ok;
}

/* "`bar`, `box`": the variants that have the key; nothing if all have it. */
static void put_variants(FILE *out, const sti_Kind *kind, const sti_Key *key)
{
    const char *comma = "";
    for (int v = 0; v < sti_variant_count(kind); v++) {
        if (key != NULL && !sti_key_in(kind, key, v)) continue;
        fprintf(out, "%s`%s`", comma, kind->variant_name(v));
        comma = ", ";
    }
}

static bool put_key(FILE *out, const sti_Kind *kind, const sti_Key *key)
{
    bool needed = key->needed != 0, ok = true;
    fprintf(out, "| `%s` | ", key->key);
    if (sti_variant_key(kind) != NULL) {
        if (key->in != STI_ANY) put_variants(out, kind, key);
        fputs(" | ", out);
    }
    if (key->value == STI_VALUE_VARIANT)
        put_variants(out, kind, NULL);
    else if (key->value == STI_VALUE_CHOICE)
        put_variants(out, key->member, NULL);
    else
        put_cell(out, sti_expected(key));
    fprintf(out, " | %s | ", key->unit);
    if (needed)
        fputs("**needed**", out);
    else if (key->fallback != NULL)
        put_cell(out, key->fallback);
    else {
        int v = 0;
        while (v < 31 && !sti_key_in(kind, key, v))
            v++;
        ok = put_default(out, sti_default_value(kind, key, v));
    }
    fputs(" | ", out);
    put_cell(out, key->help);
    fputs(" |\n", out);
    return ok;
}

static bool put_kind(FILE *out, const sti_Kind *kind)
{
    bool ok = true;
    const sti_Key *variant = sti_variant_key(kind);
    fprintf(out, "\n### %s\n\n%s\n\n", kind->title, kind->help);
    if (variant != NULL)
        fprintf(out, "| key | for %s | value | unit | default | meaning |\n|---|---|---|---|---|---|\n", variant->key);
    else
        fputs("| key | value | unit | default | meaning |\n|---|---|---|---|---|\n", out);
    for (int k = 0; k < kind->n_keys; k++)
        ok = put_key(out, kind, &kind->keys[k]) && ok;
    return ok;
}

char *st_scene_reference(void)
{
    static const sti_Kind *const kinds[] = {
        &sti_scene_kind,          &sti_body_kind,          &sti_shape_kind,         &sti_joint_kind,
        &sti_tendon_kind,         &sti_motor_kind,         &sti_spring_kind,        &sti_force_kind,
        &sti_material_kind,       &sti_material_pair_kind, &sti_robot_kind,         &sti_region_kind,
        &sti_fill_kind,           &sti_inlet_kind,         &sti_outlet_kind,        &sti_measure_kind,
        &sti_size_kind,           &sti_keyframe_kind,      &sti_keyframe_body_kind, &sti_keyframe_motor_kind,
        &sti_keyframe_force_kind, &sti_cell_kind};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    bool ok = true;
    fprintf(out,
            "### Numbers\n\nSI units, radians. A length that must be > 0 is from %g to %g m. A coordinate is at most "
            "%g m, with either sign. Any other number that must be > 0 is from %g to %g; all others are at most %g, "
            "with either sign. Moments of inertia are from %g to %g kg m^2. A number outside its range is an error, "
            "and the message names it.\n\n",
            STI_SHORTEST, STI_LONGEST, STI_LONGEST, STI_SMALLEST, STI_LARGEST, STI_LARGEST, STI_LEAST_INERTIA,
            STI_MOST_INERTIA);
    fputs("### Simulation\n\nThe object `simulation` has the settings of a run. The preset is applied first, whatever "
          "the order of the keys.\n\n| key | value | unit | default | meaning |\n|---|---|---|---|---|\n",
          out);
    for (int i = 0; i < st_setting_count(); i++)
        ok = put_setting(out, st_setting(i)) && ok;
    fputs("\n| preset | is |\n|---|---|\n", out);
    for (int i = 0; i < st_preset_count(); i++) {
        fprintf(out, "| `%s` | ", st_preset_name(i));
        put_cell(out, st_preset_help(i));
        fputs(" |\n", out);
    }

    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        ok = put_kind(out, kinds[k]) && ok;
    ok = ferror(out) == 0 && ok;
    if (fclose(out) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
