/* cli/page.h -- the viewer page, viewer/stiction.html, embedded by the build. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include <stddef.h>

extern const unsigned char viewer_page[];
extern const size_t viewer_page_size;

#endif
