/* import/xml.h -- an XML text as a tree of elements with their attributes and lines, for the importers.
 *
 * expat reads; what it may be given is bounded here: no document type (and so no entities but XML's own five),
 * at most STI_XML_DEPTH open elements and STI_XML_BYTES bytes. Text is kept of elements that hold nothing else.
 */
#ifndef STI_SCENE_XML_H
#define STI_SCENE_XML_H

#include "base/base.h"

#include <stdbool.h>

#define STI_XML_DEPTH 200
#define STI_XML_BYTES ((size_t)1 << 26)

typedef struct sti_Element {
    const char *name;
    const char *file;        /* whose text it stands in, as messages call it                     */
    int line;                /* from 1                                                           */
    int n_attributes;        /* names and values in turn: 2 n_attributes texts                   */
    const char **attributes; /* UTF-8, whatever the text was in                                  */
    const char *text;        /* inside it, without spaces around; NULL: none, or it holds elements */
    struct sti_Element *up, *first, *last, *next;
} sti_Element;

/* Everything that was read; start from {0}, free with sti_xml_free(). Several texts may be read into one. */
typedef struct sti_Xml {
    struct sti_XmlBlock *blocks;
} sti_Xml;

/* The root element of a text. On failure err says "FILE:LINE: what". */
st_Status sti_xml_parse(sti_Xml *xml, const char *text, size_t length, const char *file, sti_Element **root,
                        st_Error *err);
void sti_xml_free(sti_Xml *xml);
/* Zeroed memory that lives as long as the tree; NULL: none. */
void *sti_xml_keep(sti_Xml *xml, size_t size);
char *sti_xml_keep_text(sti_Xml *xml, const char *text);

bool sti_element_is(const sti_Element *element, const char *name);
/* The value of an attribute, the first child of a name; NULL: none. */
const char *sti_attribute(const sti_Element *element, const char *name);
const sti_Element *sti_child(const sti_Element *element, const char *name);
/* `<limit> of <joint "elbow">`: an element as messages call it. */
void sti_element_text(const sti_Element *element, char *out, size_t size);
/* Fail with "FILE:LINE: <limit> of <joint "elbow">: message". */
st_Status sti_element_fail(st_Error *err, const sti_Element *element, const char *format, ...) STI_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* as base.h has it for sti_fail */
#define sti_element_fail(err, element, ...)                                                                            \
    (__extension__({ (sti_element_fail)((err), (element), __VA_ARGS__), ST_ERR_FORMAT; }))
#endif

/* The next number of a text, which moves past it; false: there is none, *text is at what is there. */
bool sti_next_number(const char **text, double *out);
/* `count` numbers of an attribute, which must be there unless `needed` is false: then out stays as it is. */
st_Status sti_numbers(st_Error *err, const sti_Element *element, const char *name, int count, bool needed, double *out);
/* The same, between `least` and `most` numbers; n gets how many. */
st_Status sti_some_numbers(st_Error *err, const sti_Element *element, const char *name, int least, int most, int *n,
                           double *out);

#endif
