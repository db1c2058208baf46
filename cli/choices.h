/* cli/choices.h -- every setting of a simulation, from the library's table. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "json.h"

#include <stiction/stiction.h>

/* A value as a person reads it: "euler", "true", "(0, 0, -9.81)", "0.001". */
void setting_text(const st_Setting *setting, const st_SettingValue *value, char *out, size_t size);
/* All of them; or, where `all` is false, the scheme, its step, and what is not as the preset alone has it. */
void print_choices(FILE *out, const st_SystemDef *def, bool all, int indent);
void put_choices(Json *json, const char *key, const st_SystemDef *def);

/* Is a restitution of the scene's shapes or joints ignored, since the impact law is inelastic? Then says so in `out`.
 */
bool restitution_ignored(const st_Scene *scene, const st_SystemDef *def, char *out, size_t size);

#endif
