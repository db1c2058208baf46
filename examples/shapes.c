/* shapes.c -- one body of each solid shape, masses from density; dropped on a height field, heights where they rest. */
#include <stdio.h>
#include <stiction/stiction.h>

enum { N_SHAPES = 8, SAMPLES = 12 };

static const st_Vec3 corners[4] = {{0.3, 0.3, 0.3}, {-0.3, -0.3, 0.3}, {-0.3, 0.3, -0.3}, {0.3, -0.3, -0.3}};
static const int faces[12] = {0, 1, 3, 0, 2, 1, 0, 3, 2, 1, 2, 3};

static st_Status add_ground(st_Scene *scene, st_Error *err)
{
    double heights[SAMPLES * SAMPLES];
    for (int k = 0; k < SAMPLES * SAMPLES; k++) /* flat, with a wall of one cell's slope around it */
        heights[k] = k % SAMPLES == 0 || k % SAMPLES == SAMPLES - 1 || k < SAMPLES || k >= SAMPLES * (SAMPLES - 1);
    st_ShapeDef ground = st_height_field_def(heights, SAMPLES, SAMPLES, 1);
    ground.mu = 0.6;
    return st_scene_add_shape(scene, ST_GROUND, &ground, NULL, err); /* the heights are copied */
}

/* A pair of spheres on a rod: a compound, its centre of mass found by the library. */
static st_Status add_dumbbell(st_Scene *scene, st_BodyId body, st_Error *err)
{
    st_ShapeDef rod = st_capsule_def(0.05, 0.8), left = st_sphere_def(0.2), right = st_sphere_def(0.15);
    rod.pose.q = (st_Quat){0.70710678118654752, 0, 0.70710678118654752, 0}; /* along x */
    left.pose.p.x = -0.4;
    right.pose.p.x = 0.4;
    rod.density = left.density = right.density = 1000;
    rod.mu = left.mu = right.mu = 0.6;
    st_Status status = st_scene_add_shape(scene, body, &rod, NULL, err);
    if (status == ST_OK) status = st_scene_add_shape(scene, body, &left, NULL, err);
    if (status == ST_OK) status = st_scene_add_shape(scene, body, &right, NULL, err);
    return status == ST_OK ? st_scene_centre_body(scene, body, NULL, err) : status;
}

static st_Status build(st_Scene **scene, st_BodyId *body, st_Error *err)
{
    const st_ShapeDef solid[N_SHAPES - 1] = {
        st_sphere_def(0.25),
        st_box_def(0.3, 0.2, 0.25),
        st_cylinder_def(0.25, 0.4),
        st_cone_def(0.3, 0.5),
        st_ellipsoid_def(0.3, 0.2, 0.25),
        st_hull_def(corners, 4),
        st_mesh_def(corners, 4, faces, 4),
    };
    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = add_ground(*scene, err);
    for (int k = 0; k < N_SHAPES && status == ST_OK; k++) {
        st_BodyDef def = st_body_def(); /* mass 0: from the shapes */
        const int column = k % 4, row = k / 4;
        def.pose.p = (st_Vec3){-3 + 2.0 * column, -2 + 3.0 * row, 0.6};
        status = st_scene_add_body(*scene, &def, &body[k], err);
        if (status != ST_OK) break;
        if (k == N_SHAPES - 1) return add_dumbbell(*scene, body[k], err);
        st_ShapeDef shape = solid[k];
        shape.density = 1000;
        shape.mu = 0.6;
        status = st_scene_add_shape(*scene, body[k], &shape, NULL, err);
    }
    return status;
}

int main(void)
{
    static const char *const names[N_SHAPES] = {"sphere",    "box",  "cylinder", "cone",
                                                "ellipsoid", "hull", "mesh",     "dumbbell"};
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId body[N_SHAPES];
    st_SystemDef def = st_system_def();
    def.h = 5e-3;
    if (build(&scene, body, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK) {
        for (int k = 0; k < 400 && err.status == ST_OK; k++)
            (void)st_system_step(system, def.h, NULL, &err);
        for (int k = 0; k < N_SHAPES && err.status == ST_OK; k++) {
            st_Pose pose;
            st_Vec3 force, torque;
            (void)st_system_pose(system, body[k], &pose);
            (void)st_system_contact_force(system, body[k], &force, &torque);
            printf("%-10s rests at a height of %.4f m, the ground carries %.3f N\n", names[k], pose.p.z, force.z);
        }
    }
    if (err.status != ST_OK) fprintf(stderr, "shapes: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
