/* model/joint.h -- properties of joint types. */
#ifndef STI_MODEL_JOINT_H
#define STI_MODEL_JOINT_H

#include <stiction/scene.h>

/* The coordinates that a joint leaves free, as bits 1 << st_Coordinate; and the default one. */
unsigned sti_joint_coordinates(st_JointType type);
st_Coordinate sti_joint_coordinate(st_JointType type);
/* The other of two free coordinates, if `coordinate` is the first; DEFAULT: there are not two. */
st_Coordinate sti_joint_other(st_JointType type, st_Coordinate coordinate);
bool sti_joint_has_axis(st_JointType type);

#endif
