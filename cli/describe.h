/* cli/describe.h -- "name" and "description" of a scene file, without reading the whole scene. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

/* malloc'd; "" if the file has none or is no scene; NULL if out of memory. */
char *scene_member(const char *path, const char *key);
/* Likewise from its text, which ends in a zero byte. */
char *scene_text_member(const char *text, const char *key);
/* Likewise the index-th file that the scene names, for a robot or a shape. */
char *scene_file(const char *path, int index);

#endif
