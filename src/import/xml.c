#include "import/xml.h"

#include "base/number.h"
#include "base/range.h"
#include "scene/reader.h"

#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- memory -------------------------------------------------------------------------------------- */

typedef struct sti_XmlBlock {
    struct sti_XmlBlock *next;
    max_align_t memory[];
} sti_XmlBlock;

void *sti_xml_keep(sti_Xml *xml, size_t size)
{
    sti_XmlBlock *block = calloc(1, sizeof *block + size);
    if (block == NULL) return NULL;
    block->next = xml->blocks;
    xml->blocks = block;
    return block->memory;
}

char *sti_xml_keep_text(sti_Xml *xml, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = sti_xml_keep(xml, size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

void sti_xml_free(sti_Xml *xml)
{
    while (xml->blocks != NULL) {
        sti_XmlBlock *next = xml->blocks->next;
        free(xml->blocks);
        xml->blocks = next;
    }
}

/* ---- reading ------------------------------------------------------------------------------------- */

typedef struct Parse {
    XML_Parser parser;
    sti_Xml *xml;
    const char *file; /* memory of the tree */
    sti_Element *root, *open;
    char *text; /* text of the open element so far; malloc'd */
    size_t n_text, text_room;
    int depth;
    st_Status status; /* of our handlers: a failure stops the parser */
    const char *why;
} Parse;

static void stop(Parse *p, st_Status status, const char *why)
{
    if (p->status != ST_OK) return;
    p->status = status;
    p->why = why;
    XML_StopParser(p->parser, XML_FALSE);
}

/* Stores name and attributes in one block: pointers first, then the strings. */
static sti_Element *keep_element(Parse *p, const char *name, const char **attributes)
{
    size_t n = 0, size = sizeof(sti_Element) + strlen(name) + 1;
    for (; attributes[n] != NULL; n++)
        size += sizeof(char *) + strlen(attributes[n]) + 1;
    sti_Element *element = sti_xml_keep(p->xml, size);
    if (element == NULL) return NULL;
    element->attributes = (const char **)(element + 1);
    element->n_attributes = (int)(n / 2);
    char *text = (char *)(element->attributes + n);
    for (size_t k = 0; k <= n; k++) {
        const char *from = k < n ? attributes[k] : name;
        if (k < n)
            element->attributes[k] = text;
        else
            element->name = text;
        size_t length = strlen(from) + 1;
        memcpy(text, from, length);
        text += length;
    }
    return element;
}

static void on_start(void *ctx, const char *name, const char **attributes)
{
    Parse *p = ctx;
    if (p->status != ST_OK) return;
    if (++p->depth > STI_XML_DEPTH) {
        stop(p, ST_ERR_FORMAT, "elements are nested too deeply, must be at most 200 levels");
        return;
    }
    sti_Element *element = keep_element(p, name, attributes);
    if (element == NULL) {
        stop(p, ST_ERR_MEMORY, "out of memory");
        return;
    }
    element->file = p->file;
    element->line = (int)XML_GetCurrentLineNumber(p->parser);
    element->up = p->open;
    if (p->open == NULL)
        p->root = element;
    else if (p->open->last == NULL)
        p->open->first = element;
    else
        p->open->last->next = element;
    if (p->open != NULL) p->open->last = element;
    p->open = element;
    p->n_text = 0;
}

static void on_text(void *ctx, const char *text, int n)
{
    Parse *p = ctx;
    const size_t length = (size_t)n;
    if (p->status != ST_OK || p->open == NULL || p->open->first != NULL) return;
    if (p->n_text + length + 1 > p->text_room) {
        const size_t room = 2 * (p->n_text + length) + 256;
        char *grown = realloc(p->text, room);
        if (grown == NULL) {
            stop(p, ST_ERR_MEMORY, "out of memory");
            return;
        }
        p->text = grown;
        p->text_room = room;
    }
    memcpy(p->text + p->n_text, text, length);
    p->n_text += length;
}

/* Stores the text between the tags, without surrounding spaces. */
static bool keep_text(Parse *p)
{
    size_t first = 0, n = p->n_text;
    while (first < n && strchr(" \t\r\n", p->text[first]) != NULL)
        first++;
    while (n > first && strchr(" \t\r\n", p->text[n - 1]) != NULL)
        n--;
    if (n == first || p->open->first != NULL) return true;
    p->text[n] = '\0';
    p->open->text = sti_xml_keep_text(p->xml, p->text + first);
    return p->open->text != NULL;
}

static void on_end(void *ctx, const char *name)
{
    Parse *p = ctx;
    (void)name;
    if (p->status != ST_OK || p->open == NULL) return;
    if (!keep_text(p)) stop(p, ST_ERR_MEMORY, "out of memory");
    p->n_text = 0;
    p->depth--;
    p->open = p->open->up;
}

static void on_doctype(void *ctx, const char *name, const char *system, const char *public, int internal)
{
    (void)name, (void)system, (void)public, (void)internal;
    stop(ctx, ST_ERR_FORMAT, "has a DOCTYPE, must have none: entities are not read");
}

static st_Status parse(Parse *p, const char *text, size_t length, st_Error *err)
{
    const size_t most = (size_t)1 << 24; /* bytes per call: expat counts in int */
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, on_start, on_end);
    XML_SetCharacterDataHandler(p->parser, on_text);
    XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
    for (size_t at = 0;;) {
        size_t piece = length - at < most ? length - at : most;
        bool last = at + piece == length;
        if (XML_Parse(p->parser, text + at, (int)piece, last) != XML_STATUS_OK || p->status != ST_OK) {
            const sti_Reader reader = {.label = p->file, .err = err};
            enum XML_Error code = XML_GetErrorCode(p->parser);
            int line = (int)XML_GetCurrentLineNumber(p->parser);
            char inside[200] = "";
            if (p->status != ST_OK) return sti_report_line(&reader, line, p->status, "%s", p->why);
            if (code == XML_ERROR_NO_MEMORY) return sti_report_line(&reader, line, ST_ERR_MEMORY, "out of memory");
            if (p->open != NULL) {
                char subject[120];
                sti_element_text(p->open, subject, sizeof subject);
                snprintf(inside, sizeof inside, " inside %s of line %d", subject, p->open->line);
            }
            return sti_report_line(&reader, line, ST_ERR_FORMAT, "not XML%s: %s", inside, XML_ErrorString(code));
        }
        at += piece;
        if (last) return ST_OK;
    }
}

/* Robot files are written for parsers that accept more than XML: a declaration after blanks or comments, "--" inside
 * a comment, bytes of another encoding in comments. Comments, and a declaration that is not at the beginning, are
 * overwritten by blanks, so that line numbers stay correct. */
static void blank_comments(char *text, size_t length)
{
    const char *const end = text + length;
    bool begun = false; /* an element was seen: a declaration after it is an error */
    for (char *at = text; at < end; at++) {
        const size_t left = (size_t)(end - at);
        const char *closing = NULL, *from = at;
        size_t n = 0;
        if (*at != '<') continue;
        if (left >= 7 && memcmp(at, "<!--", 4) == 0)
            closing = "-->", n = 3, from = at + 4;
        else if (left >= 9 && memcmp(at, "<![CDATA[", 9) == 0)
            closing = "]]>", n = 3;
        else if (left >= 6 && !begun && at > text && memcmp(at, "<?xml", 5) == 0 && strchr(" \t\r\n", at[5]) != NULL)
            closing = "?>", n = 2;
        else
            begun = begun || (left > 1 && at[1] != '?' && at[1] != '!');
        const char *after = NULL;
        for (const char *to = from; closing != NULL && after == NULL && (size_t)(end - to) >= n; to++)
            if (memcmp(to, closing, n) == 0) after = to + n;
        if (closing == NULL) continue;
        if (after == NULL) return; /* expat reports comments that are not closed */
        for (char *to = at; to < after && closing[0] != ']'; to++)
            if (*to != '\n') *to = ' ';
        at += after - at - 1;
    }
}

st_Status sti_xml_parse(sti_Xml *xml, const char *text, size_t length, const char *file, sti_Element **root,
                        st_Error *err)
{
    Parse p = {.xml = xml, .file = sti_xml_keep_text(xml, file)};
    const sti_Reader reader = {.label = file, .err = err};
    *root = NULL;
    if (length > STI_XML_BYTES)
        return sti_report_line(&reader, 1, ST_ERR_FORMAT, "has %zu bytes, must be at most 64 MiB", length);
    char *copy = p.file != NULL ? malloc(length + 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
        blank_comments(copy, length);
        p.parser = XML_ParserCreate(NULL);
    }
    st_Status status =
        p.parser != NULL ? parse(&p, copy, length, err) : sti_report_line(&reader, 1, ST_ERR_MEMORY, "out of memory");
    free(copy);
    free(p.text);
    if (p.parser != NULL) XML_ParserFree(p.parser);
    *root = p.root;
    return status;
}

/* ---- queries ------------------------------------------------------------------------------------- */

bool sti_element_is(const sti_Element *element, const char *name)
{
    return strcmp(element->name, name) == 0;
}

const char *sti_attribute(const sti_Element *element, const char *name)
{
    for (int k = 0; k < element->n_attributes; k++)
        if (strcmp(element->attributes[2 * k], name) == 0) return element->attributes[2 * k + 1];
    return NULL;
}

const sti_Element *sti_child(const sti_Element *element, const char *name)
{
    for (const sti_Element *child = element->first; child != NULL; child = child->next)
        if (sti_element_is(child, name)) return child;
    return NULL;
}

/* An element without a name is described by the nearest element around it that has one. */
void sti_element_text(const sti_Element *element, char *out, size_t size)
{
    const char *name = sti_attribute(element, "name");
    out[0] = '\0';
    sti_append(out, size, name != NULL ? "<%.40s \"%.60s\">" : "<%.40s>", element->name, name);
    if (name != NULL) return;
    for (const sti_Element *around = element->up; around != NULL; around = around->up) {
        name = sti_attribute(around, "name");
        if (name == NULL) continue;
        sti_append(out, size, " of <%.40s \"%.60s\">", around->name, name);
        return;
    }
}

st_Status(sti_element_fail)(st_Error *err, const sti_Element *element, const char *format, ...)
{
    char subject[200], what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    sti_element_text(element, subject, sizeof subject);
    const sti_Reader reader = {.label = element->file, .err = err};
    return sti_report_line(&reader, element->line, ST_ERR_FORMAT, "%s: %s", subject, what);
}

/* Reads a number at *text and moves *text past it; *out is unchanged if there is none. nan and inf do not count as
 * numbers, nor do values that base/range.h excludes. */
bool sti_next_number(const char **text, double *out)
{
    const char *end;
    *text += strspn(*text, " \t\r\n");
    const double x = sti_number_read(*text, &end);
    if (end == *text || !sti_within(x, STI_LARGEST)) return false;
    if (*end != '\0' && strchr(" \t\r\n", *end) == NULL) return false;
    *out = x;
    *text = end;
    return true;
}

st_Status sti_some_numbers(st_Error *err, const sti_Element *element, const char *name, int least, int most, int *n,
                           double *out)
{
    const char *value = sti_attribute(element, name), *at = value;
    *n = 0;
    if (value != NULL) {
        while (*n < most && sti_next_number(&at, &out[*n]))
            ++*n;
        at += strspn(at, " \t\r\n");
        if (*n >= least && *at == '\0') return ST_OK;
    }
    char expected[60];
    if (least == most && most == 1)
        snprintf(expected, sizeof expected, "a number within +-1e30");
    else if (least == most)
        snprintf(expected, sizeof expected, "%d numbers within +-1e30", most);
    else
        snprintf(expected, sizeof expected, "%d to %d numbers within +-1e30", least, most);
    if (value == NULL) return sti_element_fail(err, element, "%s is missing, must be %s", name, expected);
    return sti_element_fail(err, element, "%s is \"%.60s\", must be %s", name, value, expected);
}

st_Status sti_numbers(st_Error *err, const sti_Element *element, const char *name, int count, bool needed, double *out)
{
    double read[16];
    int n = 0;
    if (!needed && sti_attribute(element, name) == NULL) return ST_OK;
    STI_TRY(sti_some_numbers(err, element, name, count, count < 16 ? count : 16, &n, read));
    memcpy(out, read, (size_t)n * sizeof *out);
    return ST_OK;
}
