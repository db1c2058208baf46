/* collide/shapes/list.h -- all shape types. A new type needs a line here, a value of st_ShapeType and a file in this
 * folder. */
#ifndef STI_SHAPES_LIST_H
#define STI_SHAPES_LIST_H

/* type, its descriptor */
#define STI_SHAPES(ROW)                                                                                                \
    ROW(ST_SHAPE_POINT, sti_point)                                                                                     \
    ROW(ST_SHAPE_BAR, sti_bar)                                                                                         \
    ROW(ST_SHAPE_SPHERE, sti_sphere)                                                                                   \
    ROW(ST_SHAPE_BOX, sti_box)                                                                                         \
    ROW(ST_SHAPE_PLANE, sti_plane)                                                                                     \
    ROW(ST_SHAPE_CAPSULE, sti_capsule)                                                                                 \
    ROW(ST_SHAPE_CYLINDER, sti_cylinder)                                                                               \
    ROW(ST_SHAPE_CONE, sti_cone)                                                                                       \
    ROW(ST_SHAPE_ELLIPSOID, sti_ellipsoid)                                                                             \
    ROW(ST_SHAPE_HULL, sti_hull)                                                                                       \
    ROW(ST_SHAPE_MESH, sti_mesh)                                                                                       \
    ROW(ST_SHAPE_HEIGHT_FIELD, sti_height_field)

#endif
