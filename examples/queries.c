/* queries.c -- a ring of pillars seen from its middle by a scan of rays; the largest body that fits through a door
 * frame. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

enum { PILLARS = 12, RAYS = 36 };

static st_Status build(st_Scene **scene, st_Error *err)
{
    st_Status status = st_scene_create(scene, err);
    for (int k = 0; k < PILLARS && status == ST_OK; k++) {
        st_ShapeDef pillar = st_cylinder_def(0.25, 2);
        double angle = 2 * 3.14159265358979 * k / PILLARS;
        pillar.pose.p = (st_Vec3){4 * cos(angle), 4 * sin(angle), 1};
        status = st_scene_add_shape(*scene, ST_GROUND, &pillar, NULL, err);
    }
    st_BodyDef ball = st_body_def(); /* something that moves: a system without it has nothing to do */
    st_ShapeDef sphere = st_sphere_def(0.5);
    st_BodyId id;
    ball.pose.p = (st_Vec3){0, 2, 1};
    ball.mass = 1;
    if (status == ST_OK) status = st_scene_add_body(*scene, &ball, &id, err);
    return status == ST_OK ? st_scene_add_shape(*scene, id, &sphere, NULL, err) : status;
}

/* Every ray that meets something, and how far away. */
static st_Status scan(st_System *system, st_Error *err)
{
    st_Ray rays[RAYS];
    st_RayHit hits[RAYS];
    for (int k = 0; k < RAYS; k++) {
        double angle = 2 * 3.14159265358979 * k / RAYS;
        rays[k] = (st_Ray){{0, 0, 1}, {cos(angle), sin(angle), 0}, 10};
    }
    if (st_system_rays(system, rays, RAYS, UINT32_MAX, hits, err) != ST_OK) return err->status;
    for (int k = 0; k < RAYS; k++)
        if (hits[k].shape.index1 != 0)
            printf("%3d degrees: %s %d at %.4f m\n", k * 360 / RAYS,
                   hits[k].body.index1 == 0 ? "pillar" : "ball, shape", hits[k].shape.index1, hits[k].distance);
    return ST_OK;
}

/* Does a box of this width fit between two pillars? 2 * 4 sin(15 degrees) - 0.5 = 1.5706 m is free. */
static st_Status fits(st_System *system, double width, st_Error *err)
{
    st_ShapeDef box = st_box_def(0.1, width / 2, 0.5);
    const double quarter = 3.14159265358979 / PILLARS, middle = 4 * cos(quarter);
    st_Pose pose = {{middle * cos(quarter), middle * sin(quarter), 1}, {cos(quarter / 2), 0, 0, sin(quarter / 2)}};
    st_ShapeId hit[4];
    st_Closest closest;
    int count;
    if (st_system_overlaps(system, &box, pose, UINT32_MAX, hit, 4, &count, err) != ST_OK) return err->status;
    if (st_system_closest(system, &box, pose, 10, UINT32_MAX, &closest, err) != ST_OK) return err->status;
    printf("a box %.2f m wide between two pillars: touches %d, nearest %+.4f m\n", width, count, closest.gap);
    return ST_OK;
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_SystemDef def = st_system_def();
    st_Closest apart;
    if (build(&scene, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK &&
        scan(system, &err) == ST_OK && fits(system, 1.5, &err) == ST_OK && fits(system, 1.6, &err) == ST_OK &&
        st_system_distance(system, (st_ShapeId){1}, (st_ShapeId){PILLARS + 1}, &apart, &err) == ST_OK)
        printf("first pillar to ball: %.4f m, expected %.4f\n", apart.gap, hypot(4, 2) - 0.25 - 0.5);
    if (err.status != ST_OK) fprintf(stderr, "queries: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
