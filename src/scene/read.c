/* scene/read.c -- the public functions of the reader: a file or text in, a scene and a system def out. */
#include "base/input_file.h"
#include "scene/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)1 << 30) /* bytes: a million bodies take about a fifth of it */

/* ---- JSON ------------------------------------------------------------------------------------- */

/* A hint for common mistakes in JSON. */
static const char *hint_for(const json_error_t *error, const char *text, size_t length)
{
    const char *near = strstr(error->text, "near '");
    size_t at = error->position > 0 ? (size_t)error->position - 1 : 0;
    char bad = at < length ? text[at] : '\0';

    /* A byte that no text contains: a recording, a picture or a program. */
    for (size_t k = 0; k < length && k < 512; k++) {
        const unsigned char c = (unsigned char)text[k];
        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') return "; the file is not a text";
    }

    if (json_error_code(error) == json_error_invalid_utf8) return "; the text must be UTF-8";
    near = near != NULL ? near + 6 : "";
    if (*near == '-' || *near == '+') near++;
    if (strncmp(near, "NaN", 3) == 0 || strncmp(near, "nan", 3) == 0 || strncmp(near, "Inf", 3) == 0 ||
        strncmp(near, "inf", 3) == 0)
        return "; expected a finite number: JSON has no NaN and no Infinity";
    if (strncmp(near, "True", 4) == 0 || strncmp(near, "False", 5) == 0)
        return "; JSON has true and false, in lower case";
    if (strncmp(near, "None", 4) == 0) return "; leave the key out";
    if (*near == '/' || *near == '#') return "; JSON has no comments";
    if (*near == '\'') return "; strings take double quotes";
    if (strstr(error->text, "end of file") != NULL) return ""; /* `bad` is the last byte */
    if (bad == '}' || bad == ']') return "; is there a comma too many before it?";
    return "";
}

/* ---- text to tree ----------------------------------------------------------------------------- */

static bool ends_in(const char *text, const char *ending)
{
    size_t n = strlen(text), e = strlen(ending);
    return n >= e && strcmp(text + n - e, ending) == 0;
}

/* XML begins with '<', after an optional byte order mark and blanks. A robot file that does not is broken, unless it
 * contains a scene: a recording has the robot's name and the scene made from it. */
static bool is_xml(const sti_Reader *reader)
{
    const unsigned char *text = (const unsigned char *)reader->text;
    size_t length = reader->length, at = 0;
    bool wide = length >= 2 && ((text[0] == 0xff && text[1] == 0xfe) || (text[0] == 0xfe && text[1] == 0xff));
    if (wide) at = 2;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) at = 3;
    while (at < length && (text[at] == '\0' ? wide : strchr(" \t\r\n", text[at]) != NULL))
        at++;
    if (at < length && (text[at] == '<' || text[at] == '{')) return text[at] == '<';
    return ends_in(reader->label, ".urdf") || ends_in(reader->label, ".xml") || ends_in(reader->label, ".mjcf") ||
           ends_in(reader->label, ".sdf") || ends_in(reader->label, ".world") || ends_in(reader->label, ".xacro");
}

/* Overrides of `robots` are applied before robots are read; all others after, so that they can change what robots
 * added. */
static bool concerns_robots(const char *set)
{
    return set != NULL && strncmp(set, "robots", 6) == 0 && (set[6] == '/' || set[6] == '=');
}

st_Status sti_tree_read(sti_Reader *reader, const char *const *sets, int n_sets)
{
    reader->xml = is_xml(reader);
    if (reader->xml) {
        reader->root = sti_robot_scene(reader->label);
        if (reader->root == NULL) return sti_report_line(reader, 1, ST_ERR_MEMORY, "out of memory");
    } else {
        json_error_t error;
        if (reader->length >= 2 &&
            (memcmp(reader->text, "\xff\xfe", 2) == 0 || memcmp(reader->text, "\xfe\xff", 2) == 0))
            return sti_report_line(reader, 1, ST_ERR_FORMAT, "the text is UTF-16, must be UTF-8");
        if (reader->length >= 3 && memcmp(reader->text, "\xef\xbb\xbf", 3) == 0) {
            reader->text += 3; /* the byte order mark of UTF-8 */
            reader->length -= 3;
        }
        size_t length = reader->length;
        while (length > 0 && (reader->text[length - 1] == ' ' ||
                              (reader->text[length - 1] >= '\t' && reader->text[length - 1] <= '\r')))
            length--;
        if (length == 0) return sti_report_line(reader, 1, ST_ERR_FORMAT, "the scene is empty, must be a JSON object");
        /* Reads every number as a double: 100000000000000000000 is a valid stiffness. */
        reader->root =
            json_loadb(reader->text, reader->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
        if (reader->root == NULL) {
            char path[160], where[200] = "";
            size_t position = error.position > 0 ? (size_t)error.position - 1 : 0;
            int line = error.line > 0 ? error.line : 1;
            if (json_error_code(&error) == json_error_out_of_memory)
                return sti_report_line(reader, line, ST_ERR_MEMORY, "out of memory");
            sti_path_at(reader->text, reader->length, position, path, sizeof path);
            if (path[0] != '\0') snprintf(where, sizeof where, " at %s", path);
            if (json_error_code(&error) == json_error_duplicate_key)
                return sti_report_line(reader, line, ST_ERR_FORMAT, "key given twice%s, must be once", where);
            return sti_report_line(reader, line, ST_ERR_FORMAT, "not JSON%s: %s%s", where, error.text,
                                   hint_for(&error, reader->text, reader->length));
        }
    }
    for (int k = 0; k < n_sets; k++)
        if (concerns_robots(sets[k])) STI_TRY(sti_set_apply(reader, sets[k]));
    STI_TRY(sti_robots_read(reader));
    for (int k = 0; k < n_sets; k++)
        if (!concerns_robots(sets[k])) STI_TRY(sti_set_apply(reader, sets[k]));
    return ST_OK;
}

void sti_reader_free(sti_Reader *reader)
{
    for (int k = 0; k < reader->n_sets; k++)
        free(reader->sets[k].path);
    free(reader->sets);
    free(reader->origins);
    free(reader->remarks);
    free(reader->robot_bodies);
    free(reader->regions);
    sti_geoms_free(reader->geoms);
    json_decref(reader->root);
    sti_xml_free(&reader->files);
}

/* ---- public functions ------------------------------------------------------------------------- */

int st_scene_errors(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                    st_Error *errors, int room)
{
    st_Error err = {0};
    sti_ErrorList list = {.item = errors, .room = errors != NULL && room > 0 ? room : 0};
    sti_Reader reader = {
        .label = label != NULL ? label : "scene", .text = text, .length = length, .err = &err, .errors = &list};
    reader.def = st_system_def();
    st_Status status = ST_OK;
    if (text == NULL || n_sets < 0 || (n_sets > 0 && sets == NULL))
        status = sti_report_line(&reader, 0, ST_ERR_ARGUMENT, "st_scene_errors: text or sets is NULL");
    if (status == ST_OK) status = sti_tree_read(&reader, sets, n_sets);
    if (status == ST_OK) status = st_scene_create(&reader.scene, &err);
    if (status == ST_OK) status = sti_build(&reader);
    if (status != ST_OK && list.count == 0 && list.count++ < list.room) list.item[0] = err; /* out of memory */
    st_scene_destroy(reader.scene);
    sti_reader_free(&reader);
    return list.count;
}

st_Status st_scene_parse(const char *text, size_t length, const char *label, const char *const *sets, int n_sets,
                         st_Scene **scene, st_SystemDef *def, st_Error *err)
{
    sti_Reader reader = {.label = label != NULL ? label : "scene", .text = text, .length = length, .err = err};
    if (text == NULL || scene == NULL || def == NULL || n_sets < 0 || (n_sets > 0 && sets == NULL))
        return sti_report_line(&reader, 0, ST_ERR_ARGUMENT, "st_scene_parse: text, scene, def or sets is NULL");
    *scene = NULL;
    reader.def = st_system_def();
    st_Status status = sti_tree_read(&reader, sets, n_sets);
    if (status == ST_OK) status = st_scene_create(&reader.scene, err);
    if (status == ST_OK) status = sti_build(&reader);
    if (status == ST_OK) {
        *scene = reader.scene;
        *def = reader.def;
    } else {
        st_scene_destroy(reader.scene);
    }
    sti_reader_free(&reader);
    return status;
}

/* Read until the end, not by size: a pipe has none. */
static st_Status read_stream(const sti_Reader *reader, FILE *file, char **text, size_t *length)
{
    size_t capacity = 0;
    for (*length = 0;;) {
        if (*length == capacity) {
            capacity = capacity == 0 ? (size_t)1 << 16 : 2 * capacity;
            char *larger = realloc(*text, capacity);
            if (larger == NULL)
                return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory for %zu bytes of it", capacity);
            *text = larger;
        }
        size_t got = fread(*text + *length, 1, capacity - *length, file);
        *length += got;
        if (ferror(file)) return sti_report_line(reader, 0, ST_ERR_FILE, "cannot be read: %s", strerror(errno));
        if (got == 0) return ST_OK;
        if (*length > FILE_MAX)
            return sti_report_line(reader, 0, ST_ERR_FILE, "is larger than 1 GiB, the limit for scenes");
    }
}

st_Status sti_text_read(const char *path, bool pipes, char **text, size_t *length, st_Error *err)
{
    const sti_Reader reader = {.label = path, .err = err};
    const char *why;
    *text = NULL;
    FILE *file = sti_input_open(path, pipes, &why);
    if (file == NULL) return sti_report_line(&reader, 0, ST_ERR_FILE, "cannot be opened: %s", why);
    const st_Status status = read_stream(&reader, file, text, length);
    fclose(file);
    if (status == ST_OK) return ST_OK;
    free(*text);
    *text = NULL;
    return status;
}

st_Status st_scene_read(const char *path, const char *const *sets, int n_sets, st_Scene **scene, st_SystemDef *def,
                        st_Error *err)
{
    const sti_Reader reader = {.label = "(no path)", .err = err};
    char *text = NULL;
    size_t length = 0;
    if (path == NULL) return sti_report_line(&reader, 0, ST_ERR_ARGUMENT, "st_scene_read: path is NULL");
    if (scene != NULL) *scene = NULL;
    STI_TRY(sti_text_read(path, true, &text, &length, err));
    st_Status status = st_scene_parse(text, length, path, sets, n_sets, scene, def, err);
    free(text);
    return status;
}
