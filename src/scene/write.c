/* scene/write.c -- writes a scene with its robots as text that people can read and edit. A value that fits on a line
 * is written on one. */
#include "base/number.h"
#include "scene/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <stiction/io.h>

#define WIDTH 118

/* Whole numbers without an exponent: 150, not 1.5e+02. */
static void number_text(double x, char out[STI_NUMBER_SIZE])
{
    if (x == floor(x) && fabs(x) < 1e15)
        snprintf(out, STI_NUMBER_SIZE, "%.0f", x == 0 ? 0 : x);
    else
        sti_number_text(out, x);
}

/* Number of characters of a value on one line; any result above WIDTH means too many. */
static size_t length_of_array(const json_t *value)
{
    size_t n = 4, i;
    const char *key;
    json_t *member;
    char text[STI_NUMBER_SIZE];
    if (json_is_string(value)) return json_string_length(value) + 2;
    if (json_is_number(value)) {
        number_text(json_number_value(value), text);
        return strlen(text);
    }
    if (!json_is_object(value) && !json_is_array(value)) return 5;
    json_object_foreach((json_t *)value, key, member)
    {
        n += strlen(key) + 6 + (n <= WIDTH ? length_of_array(member) : 0);
    }
    json_array_foreach(value, i, member)
    {
        n += 2 + (n <= WIDTH ? length_of_array(member) : 0);
    }
    return n;
}

/* The text written so far; `column` is the length of its last line. */
typedef struct Text {
    FILE *out;
    size_t column;
} Text;

static void put_value(Text *text, const json_t *value, size_t indent);

static void put_word(Text *text, const char *word)
{
    fputs(word, text->out);
    text->column += strlen(word);
}

static void new_line(Text *text, size_t indent)
{
    fprintf(text->out, "\n%*s", (int)indent, "");
    text->column = indent;
}

/* Writes a member of a value of several lines, on the same line as the previous member if both fit. */
static void put_member(Text *text, const char *key, const json_t *member, size_t indent, bool first, bool fill)
{
    size_t length = length_of_array(member) + (key != NULL ? strlen(key) + 4 : 0);
    if (!first) put_word(text, ",");
    if (first || !fill || text->column + length + 2 > WIDTH)
        new_line(text, indent);
    else
        put_word(text, " ");
    if (key != NULL) {
        json_t *word = json_string(key);
        json_dumpf(word, text->out, JSON_ENCODE_ANY);
        json_decref(word);
        text->column += strlen(key) + 2;
        put_word(text, ": ");
    }
    put_value(text, member, indent);
}

static void put_on_line(Text *text, const json_t *value)
{
    bool list = json_is_array(value), first = true;
    const char *key;
    size_t i;
    json_t *member;
    char number[STI_NUMBER_SIZE];
    if (json_is_number(value)) {
        number_text(json_number_value(value), number);
        put_word(text, number);
        return;
    }
    if (!list && !json_is_object(value)) {
        json_dumpf(value, text->out, JSON_ENCODE_ANY);
        text->column += length_of_array(value);
        return;
    }
    put_word(text, list ? "[" : "{ ");
    json_object_foreach((json_t *)value, key, member)
    {
        fprintf(text->out, "%s\"%s\": ", first ? "" : ", ", key);
        text->column += strlen(key) + (first ? 4 : 6);
        put_on_line(text, member);
        first = false;
    }
    json_array_foreach(value, i, member)
    {
        if (i > 0) put_word(text, ", ");
        put_on_line(text, member);
    }
    put_word(text, list ? "]" : " }");
}

static void put_value(Text *text, const json_t *value, size_t indent)
{
    bool fits = text->column + length_of_array(value) <= WIDTH && indent > 0;
    if (fits || !(json_is_object(value) || json_is_array(value)) ||
        json_object_size(value) + json_array_size(value) == 0)
        put_on_line(text, value);
    else {
        bool list = json_is_array(value), first = true;
        const char *key;
        size_t i;
        json_t *member;
        put_word(text, list ? "[" : "{");
        json_object_foreach((json_t *)value, key, member)
        {
            put_member(text, key, member, indent + 2, first, indent > 0);
            first = false;
        }
        json_array_foreach(value, i, member)
        {
            put_member(text, NULL, member, indent + 2, first, !json_is_object(member));
            first = false;
        }
        new_line(text, indent);
        put_word(text, list ? "]" : "}");
    }
}

/* Adapts relative paths of hull and mesh files, because the scene is written to another folder. */
static st_Status move_files(const sti_Reader *reader, json_t *shapes, const char *prefix)
{
    for (size_t k = 0; k < json_array_size(shapes); k++) {
        json_t *shape = json_array_get(shapes, k);
        const char *file = json_string_value(json_object_get(shape, "file"));
        if (file == NULL || file[0] == '/') continue;
        if (json_object_set_new(shape, "file", json_sprintf("%s%s", prefix, file)) != 0)
            return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    }
    return ST_OK;
}

static st_Status write_text(const sti_Reader *reader, const char *prefix, char **out)
{
    const json_t *bodies = json_object_get(reader->root, "bodies");
    size_t size = 0;
    json_object_del(reader->root, "robots");
    STI_TRY(move_files(reader, json_object_get(reader->root, "ground"), prefix));
    for (size_t k = 0; k < json_array_size(bodies); k++)
        STI_TRY(move_files(reader, json_object_get(json_array_get(bodies, k), "shapes"), prefix));

    FILE *stream = open_memstream(out, &size);
    if (stream == NULL) return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    put_value(&(Text){stream, 0}, reader->root, 0);
    bool failed = fputc('\n', stream) == EOF || ferror(stream);
    if (fclose(stream) == 0 && !failed) return ST_OK;
    free(*out);
    *out = NULL;
    return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
}

st_Status st_scene_convert_text(const char *from, size_t length, const char *label, const char *const *sets, int n_sets,
                                const char *prefix, char **text, char **remarks, st_Error *err)
{
    sti_Reader reader = {.label = label != NULL ? label : "scene", .text = from, .length = length, .err = err};
    if (text != NULL) *text = NULL;
    if (remarks != NULL) *remarks = NULL;
    if (from == NULL || n_sets < 0 || (n_sets > 0 && sets == NULL))
        return sti_report_line(&reader, 0, ST_ERR_ARGUMENT, "st_scene_convert_text: from or sets is NULL");
    reader.def = st_system_def();
    st_Status status = sti_tree_read(&reader, sets, n_sets);
    if (status == ST_OK) status = st_scene_create(&reader.scene, err);
    if (status == ST_OK) status = sti_build(&reader); /* check that the written scene can be read */
    if (status == ST_OK && text != NULL) status = write_text(&reader, prefix != NULL ? prefix : "", text);
    if (status == ST_OK && remarks != NULL) {
        *remarks = reader.remarks != NULL ? reader.remarks : calloc(1, 1);
        reader.remarks = NULL;
    }
    st_scene_destroy(reader.scene);
    sti_reader_free(&reader);
    return status;
}

st_Status st_scene_convert(const char *path, const char *const *sets, int n_sets, const char *prefix, char **text,
                           char **remarks, st_Error *err)
{
    const sti_Reader reader = {.label = "(no path)", .err = err};
    char *from = NULL;
    size_t length = 0;
    if (text != NULL) *text = NULL;
    if (remarks != NULL) *remarks = NULL;
    if (path == NULL) return sti_report_line(&reader, 0, ST_ERR_ARGUMENT, "st_scene_convert: path is NULL");
    STI_TRY(sti_text_read(path, true, &from, &length, err));
    st_Status status = st_scene_convert_text(from, length, path, sets, n_sets, prefix, text, remarks, err);
    free(from);
    return status;
}
