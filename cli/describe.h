/* cli/describe.h -- "name" and "description" of a scene file, without reading the whole scene. */
#ifndef CLI_DESCRIBE_H
#define CLI_DESCRIBE_H

/* malloc'd; "" where the file has none or is no scene; NULL where memory ran out. */
char *scene_member(const char *path, const char *key);
/* The same of its text, which ends in a zero byte. */
char *scene_text_member(const char *text, const char *key);
/* The index-th file that the scene names, of a robot or a shape, likewise. */
char *scene_file(const char *path, int index);

#endif
