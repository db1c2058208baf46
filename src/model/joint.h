/* model/joint.h -- what the types of joints are made of. */
#ifndef STI_MODEL_JOINT_H
#define STI_MODEL_JOINT_H

#include <stiction/scene.h>

/* The coordinates a joint leaves free: bit 1 << st_Coordinate; and the one it has when none is named. */
unsigned sti_joint_coordinates(st_JointType type);
st_Coordinate sti_joint_coordinate(st_JointType type);
/* The second of two that a joint leaves free, `coordinate` being the first; DEFAULT: there are not two. */
st_Coordinate sti_joint_other(st_JointType type, st_Coordinate coordinate);
bool sti_joint_has_axis(st_JointType type);

#endif
