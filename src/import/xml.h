/* import/xml.h -- an XML text as a tree of elements with their attributes and lines, for the importers.
 *
 * expat parses. Its input is limited here: no document type (and so only the five entities of XML), at most
 * STI_XML_DEPTH open elements and STI_XML_BYTES bytes. Text is stored for elements that contain no other elements. */
#ifndef STI_SCENE_XML_H
#define STI_SCENE_XML_H

#include "base/base.h"

#include <stdbool.h>

#define STI_XML_DEPTH 200
#define STI_XML_BYTES ((size_t)1 << 26)

typedef struct sti_Element {
    const char *name;
    const char *file;        /* name of the file that contains it, for messages */
    int line;                /* from 1                                                           */
    int n_attributes;        /* names and values alternate: 2 n_attributes strings */
    const char **attributes; /* UTF-8, whatever the encoding of the file */
    const char *text;        /* its text without surrounding spaces; NULL: none, or it has child elements */
    struct sti_Element *up, *first, *last, *next;
} sti_Element;

/* All elements read; start from {0}, free with sti_xml_free(). Several files may be read into one. */
typedef struct sti_Xml {
    struct sti_XmlBlock *blocks;
} sti_Xml;

/* Parses a text and returns its root element. Messages start with "FILE:LINE: ". */
st_Status sti_xml_parse(sti_Xml *xml, const char *text, size_t length, const char *file, sti_Element **root,
                        st_Error *err);
void sti_xml_free(sti_Xml *xml);
/* Zeroed memory that lives as long as the tree; NULL: out of memory. */
void *sti_xml_keep(sti_Xml *xml, size_t size);
char *sti_xml_keep_text(sti_Xml *xml, const char *text);

bool sti_element_is(const sti_Element *element, const char *name);
/* The value of an attribute, or the first child with a name; NULL: none. */
const char *sti_attribute(const sti_Element *element, const char *name);
const sti_Element *sti_child(const sti_Element *element, const char *name);
/* Describes an element for messages: `<limit> of <joint "elbow">`. */
void sti_element_text(const sti_Element *element, char *out, size_t size);
/* Fail with "FILE:LINE: <limit> of <joint "elbow">: message". */
st_Status sti_element_fail(st_Error *err, const sti_Element *element, const char *format, ...) STI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* as for sti_fail in base.h */
#define sti_element_fail(err, element, ...)                                                                            \
    (__extension__({ (sti_element_fail)((err), (element), __VA_ARGS__), ST_ERR_FORMAT; }))
#endif

/* Reads the next number and moves *text past it. Returns false if there is none; *text is then at the first other
 * character. */
bool sti_next_number(const char **text, double *out);
/* Reads `count` numbers of an attribute. If `needed` is false and it is missing, out stays as it is. */
st_Status sti_numbers(st_Error *err, const sti_Element *element, const char *name, int count, bool needed, double *out);
/* Likewise, with `least` to `most` numbers; *n is the count. */
st_Status sti_some_numbers(st_Error *err, const sti_Element *element, const char *name, int least, int most, int *n,
                           double *out);

#endif
