# embed.cmake: cmake -DIN=file -DOUT=file.c -DNAME=symbol -P embed.cmake -- a file as a C array.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}") # lines a person can scroll
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE ${OUT} "/* Made from ${IN}. */
#include <stddef.h>
extern const unsigned char ${NAME}[];
extern const size_t ${NAME}_size;
const unsigned char ${NAME}[] = {
${hex}
};
const size_t ${NAME}_size = sizeof ${NAME};
")
