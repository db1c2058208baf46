/* cli/choices.h -- prints all settings of a simulation, from the library's table. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "json.h"

#include <stiction/stiction.h>

/* A value as text: "euler", "true", "(0, 0, -9.81)", "0.001". */
void setting_text(const st_Setting *setting, const st_SettingValue *value, char *out, size_t size);
/* Prints all of them; if `all` is false, the scheme, its step, and the settings that differ from the preset. */
void print_choices(FILE *out, const st_SystemDef *def, bool all, int indent);
void put_choices(Json *json, const char *key, const st_SystemDef *def);

/* Is a restitution of the scene's shapes or joints ignored, because the impact law is inelastic? Then `out` has a
 * message. */
bool restitution_ignored(const st_Scene *scene, const st_SystemDef *def, char *out, size_t size);

#endif
