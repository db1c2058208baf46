/* scene/document.c -- default values as JSON, and JSON values that record failed allocations. */
#include "scene/document.h"

json_t *sti_json_number(double x)
{
    return floor(x) == x && fabs(x) < 1e15 ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *document_vector(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        list = sti_append_to(list, sti_json_number(x[i]));
    return list;
}

json_t *sti_default_value(const sti_Kind *kind, const sti_Key *key, int variant)
{
    sti_Def def;
    if (kind->defaults == NULL || key->fallback != NULL || sti_key_needed(kind, key, variant)) return json_null();
    kind->defaults(variant, &def);
    const void *field = (const char *)&def + key->offset;
    switch (key->value) {
    case STI_VALUE_NUMBER:
        return sti_json_number(*(const double *)field);
    case STI_VALUE_BOOLEAN:
        return json_boolean(*(const bool *)field);
    case STI_VALUE_VECTOR:
        return document_vector(&((const st_Vec3 *)field)->x, 3);
    case STI_VALUE_ROTATION:
        return document_vector(&((const st_Quat *)field)->w, 4);
    case STI_VALUE_LOCKS:
        return *(const uint32_t *)field == 0 ? json_array() : json_null();
    case STI_VALUE_AXES:
        return json_string(*(const bool *)field ? "body" : "world");
    case STI_VALUE_VARIANT:
        return json_string(kind->variant_name(0));
    case STI_VALUE_CHOICE:
        return json_string(key->member->variant_name(*(const int *)field));
    default:
        return json_null();
    }
}

json_t *sti_default_setting(const st_Setting *setting)
{
    st_SystemDef def = st_system_def();
    st_SettingValue value = {0};
    if (st_setting_get(&def, setting->key, &value, NULL) != ST_OK) return json_null();
    switch (setting->kind) {
    case ST_SETTING_CHOICE:
        return value.word != NULL ? json_string(value.word) : json_null();
    case ST_SETTING_NUMBER:
    case ST_SETTING_INTEGER:
        return isfinite(value.number) ? sti_json_number(value.number) : json_null();
    case ST_SETTING_BOOLEAN:
        return json_boolean(value.number != 0);
    case ST_SETTING_VECTOR:
        return document_vector(&value.vector.x, 3);
    }
    return json_null();
}
