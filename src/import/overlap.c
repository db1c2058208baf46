/* import/overlap.c -- excludes contacts between links of one robot that overlap at the start.
 *
 * Many robots are drawn with neighbouring links inside each other. Two links of the same tree that overlap in the
 * initial pose are added to `exclude`, so that `convert` writes them, and are listed in the remarks. Pairs with the
 * ground and with other bodies always touch. "overlaps": true in the robot switches this off. */
#include "import/robot.h"

#include "scene/document.h"

#include <stdlib.h>
#include <stiction/query.h>

#define DEEP 1e-6 /* [m]; faces that touch overlap by less, due to rounding of their positions */

static bool may_touch(const st_Scene *scene, st_BodyId a, st_BodyId b)
{
    for (int k = 1; k <= st_scene_joint_count(scene); k++) {
        st_JointDef joint;
        if (st_scene_joint(scene, (st_JointId){k}, &joint) != ST_OK || joint.collide) continue;
        const bool same = joint.a.index1 == a.index1 && joint.b.index1 == b.index1;
        if (same || (joint.a.index1 == b.index1 && joint.b.index1 == a.index1)) return false;
    }
    return true;
}

/* The shapes of each body, body by body. */
typedef struct Owned {
    int *first, *shape; /* body b has shape[first[b]] .. shape[first[b + 1] - 1]; ids from 1 */
} Owned;

static bool list_shapes(const st_Scene *scene, Owned *out)
{
    const int n = st_scene_shape_count(scene), n_bodies = st_scene_body_count(scene) + 1;
    out->first = calloc((size_t)n_bodies + 2, sizeof *out->first);
    out->shape = malloc(((size_t)n + 1) * sizeof *out->shape);
    if (out->first == NULL || out->shape == NULL) return false;
    st_ShapeDef shape;
    st_BodyId owner;
    for (int k = 1; k <= n; k++)
        if (st_scene_shape(scene, (st_ShapeId){k}, &shape, &owner) == ST_OK) out->first[owner.index1 + 2]++;
    for (int b = 0; b < n_bodies; b++)
        out->first[b + 2] += out->first[b + 1];
    for (int k = 1; k <= n; k++)
        if (st_scene_shape(scene, (st_ShapeId){k}, &shape, &owner) == ST_OK)
            out->shape[out->first[owner.index1 + 1]++] = k;
    return true;
}

static st_Status exclude(sti_Reader *reader, const char *a, const char *b)
{
    json_t *list = json_object_get(reader->root, "exclude");
    if (list == NULL) {
        json_object_set_new(reader->root, "exclude", json_array());
        list = json_object_get(reader->root, "exclude");
    }
    if (json_array_append_new(list, json_pack("[s, s]", a, b)) != 0)
        return sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    return ST_OK;
}

st_Status sti_overlaps_exclude(sti_Reader *reader)
{
    if (reader->n_robot_bodies < 2) return ST_OK;
    st_SystemDef def = reader->def;
    st_System *system = NULL;
    Owned owned = {0};
    def.initial = ST_INITIAL_KEEP;
    st_Status status = st_system_create(reader->scene, &def, &system, NULL);
    if (status != ST_OK) return ST_OK; /* the caller that creates a system gets this error */
    if (!list_shapes(reader->scene, &owned)) status = sti_report_line(reader, 0, ST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < reader->n_robot_bodies && status == ST_OK; i++)
        for (size_t j = 0; j < i && status == ST_OK; j++) {
            const sti_RobotBody *x = &reader->robot_bodies[i], *y = &reader->robot_bodies[j];
            if (x->tree != y->tree) continue;
            const st_BodyId a = st_scene_find_body(reader->scene, x->name),
                            b = st_scene_find_body(reader->scene, y->name);
            if (a.index1 == 0 || b.index1 == 0 || a.index1 == b.index1 || !may_touch(reader->scene, a, b)) continue;
            /* The deepest overlap of two bodies, over shapes that can touch; 0 if they are apart. */
            double depth = 0;
            for (int e = owned.first[a.index1]; e < owned.first[a.index1 + 1]; e++)
                for (int f = owned.first[b.index1]; f < owned.first[b.index1 + 1]; f++) {
                    st_ShapeDef first, second;
                    st_Closest closest;
                    if (st_scene_shape(reader->scene, (st_ShapeId){owned.shape[e]}, &first, NULL) != ST_OK ||
                        st_scene_shape(reader->scene, (st_ShapeId){owned.shape[f]}, &second, NULL) != ST_OK)
                        continue;
                    if ((first.mask & second.groups) == 0 || (second.mask & first.groups) == 0) continue;
                    const st_ShapeId one = {owned.shape[e]}, two = {owned.shape[f]};
                    if (st_system_distance(system, one, two, &closest, NULL) == ST_OK && closest.gap < -depth)
                        depth = -closest.gap;
                }
            if (!(depth > DEEP)) continue;
            status = st_scene_exclude(reader->scene, a, b, reader->err);
            if (status == ST_OK) status = exclude(reader, y->name, x->name);
            if (status == ST_OK)
                status = sti_reader_remark(reader,
                                           "%s: bodies \"%.60s\" and \"%.60s\" overlap by %.2g m at the start and do "
                                           "not touch; \"overlaps\": true of the robot lets them",
                                           x->file, y->name, x->name, depth);
        }
    free(owned.first);
    free(owned.shape);
    st_system_destroy(system);
    return status;
}
