/* record/head.c -- writes the head of a recording before the first step: its origin, the scene, every setting. */
#include "record/head.h"

#include <stdlib.h>
#include <time.h>

/* The type of a text of this length; the caller closes it. Negative: HDF5 is out of memory. */
static hid_t text_type_of(const char *text)
{
    const size_t length = strlen(text);
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0 || (H5Tset_size(type, length > 0 ? length : 1) >= 0 && H5Tset_strpad(type, H5T_STR_NULLPAD) >= 0 &&
                     H5Tset_cset(type, H5T_CSET_UTF8) >= 0))
        return type;
    H5Tclose(type);
    return -1;
}

static herr_t put_text(hid_t object, const char *name, const char *text)
{
    hid_t type = text_type_of(text), space = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute >= 0 ? H5Awrite(attribute, type, text) : -1;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static herr_t put_numbers(hid_t object, const char *name, hid_t type, int count, const void *numbers)
{
    hsize_t n = (hsize_t)count;
    hid_t space = count > 0 ? H5Screate_simple(1, &n, NULL) : H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = attribute >= 0 ? H5Awrite(attribute, type, numbers) : -1;
    if (attribute >= 0) H5Aclose(attribute);
    if (space >= 0) H5Sclose(space);
    return status;
}

/* A long text is a dataset of its own, because attributes are limited to 64 KiB. */
static herr_t put_long_text(hid_t file, const char *path, const char *text)
{
    hid_t type = text_type_of(text), space = H5Screate(H5S_SCALAR);
    hid_t set = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    herr_t status = set >= 0 ? H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) : -1;
    if (set >= 0 && H5Dclose(set) < 0) status = -1; /* short texts are written by this close */
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return status;
}

static herr_t put_choices(hid_t file, const st_SystemDef *choices)
{
    herr_t status = 0;
    hid_t group = H5Gcreate2(file, "/choices", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0) return -1;
    for (int k = 0; k < st_setting_count() && status >= 0; k++) {
        const st_Setting *setting = st_setting(k);
        st_SettingValue value = {0};
        if (st_setting_get(choices, setting->key, &value, NULL) != ST_OK) continue;
        if (setting->kind == ST_SETTING_CHOICE)
            status = put_text(group, setting->key, value.word != NULL ? value.word : "");
        else if (setting->kind == ST_SETTING_VECTOR)
            status = put_numbers(group, setting->key, H5T_NATIVE_DOUBLE, 3, &value.vector);
        else
            status = put_numbers(group, setting->key, H5T_NATIVE_DOUBLE, 0, &value.number);
    }
    H5Gclose(group);
    return status;
}

static herr_t put_sets(hid_t file, const st_RecorderDef *def)
{
    herr_t status = 0;
    hid_t group = H5Gcreate2(file, "/overrides", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; group >= 0 && k < def->n_sets && status >= 0; k++) {
        char name[32];
        snprintf(name, sizeof name, "%d", k);
        status = put_long_text(group, name, def->sets[k]);
    }
    if (group >= 0) H5Gclose(group);
    return group >= 0 ? status : -1;
}

static herr_t put_identity(hid_t file, const st_RecorderDef *def)
{
    char created[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    int32_t version = STI_FORMAT_VERSION;
    if (gmtime_r(&now, &utc) != NULL) strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    if (put_text(file, "format", STI_FORMAT_NAME) < 0) return -1;
    if (put_numbers(file, "format_version", H5T_NATIVE_INT32, 0, &version) < 0) return -1;
    if (put_text(file, "stiction_version", st_version()) < 0 || put_text(file, "created", created) < 0) return -1;
    if (put_text(file, "name", def->name != NULL ? def->name : "") < 0) return -1;
    if (put_text(file, "label", def->label != NULL ? def->label : "") < 0) return -1;
    if (put_long_text(file, "/description", def->description != NULL ? def->description : "") < 0) return -1;
    return put_numbers(file, "rate", H5T_NATIVE_DOUBLE, 0, &def->rate);
}

st_Status sti_put_head(hid_t file, sti_Tables *tables, const st_RecorderDef *def, const st_Scene *scene,
                       const st_SystemDef *choices, st_Error *err)
{
    const st_Allocator allocator = st_default_allocator();
    char *text = sti_alloc(&allocator, (int64_t)def->length + 1, 1); /* def->text need not end in 0 */
    char *model = st_scene_model(scene, choices), *json = st_choices_json(choices);
    st_Status status = ST_OK;
    if (text == NULL || model == NULL || json == NULL) {
        status = sti_fail(err, ST_ERR_MEMORY, "%s: out of memory", tables->path);
    } else {
        if (def->text != NULL) memcpy(text, def->text, def->length);
        if (put_identity(file, def) < 0 || put_long_text(file, "/scene", text) < 0 ||
            put_long_text(file, "/model", model) < 0 || put_long_text(file, "/choices_json", json) < 0 ||
            put_choices(file, choices) < 0 || put_sets(file, def) < 0)
            status = sti_tables_fail(tables, "writing", err);
    }
    free(json);
    free(model);
    sti_free(&allocator, text, (int64_t)def->length + 1, 1);
    return status;
}
