/* materials.c -- three blocks of different materials on one slope of steel: which ones slide, and how far. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

enum { N_BLOCKS = 3 };

static const char *const names[N_BLOCKS] = {"rubber", "wood", "ice"};
static const double against_steel[N_BLOCKS] = {0.8, 0.4, 0.05};

static st_Status add_material(st_Scene *scene, const char *name, double mu, st_MaterialId *out, st_Error *err)
{
    st_MaterialDef def = st_material_def();
    def.name = name;
    def.mu = mu;
    return st_scene_add_material(scene, &def, out, err);
}

/* A pair of materials has its own coefficient; without one it is the geometric mean of the two. */
static st_Status add_block(st_Scene *scene, int k, st_MaterialId steel, st_Quat tilt, st_BodyId *body, st_Error *err)
{
    st_MaterialPairDef pair = st_material_pair_def();
    st_ShapeDef box = st_box_def(0.2, 0.2, 0.1);
    st_BodyDef def = st_body_def();
    st_Status status = add_material(scene, names[k], 1, &box.material, err);
    pair.a = steel, pair.b = box.material, pair.mu = against_steel[k];
    if (status == ST_OK) status = st_scene_add_material_pair(scene, &pair, err);
    def.name = names[k];
    def.mass = 2;
    def.pose.q = tilt;
    def.pose.p = (st_Vec3){0.1 * 0.5, k - 1.0, 0.1 * sqrt(0.75)}; /* 0.1 above the slope, along its normal */
    if (status == ST_OK) status = st_scene_add_body(scene, &def, body, err);
    return status == ST_OK ? st_scene_add_shape(scene, *body, &box, NULL, err) : status;
}

static st_Status build(st_Scene **scene, st_BodyId *body, st_Error *err)
{
    const st_Quat tilt = {cos(0.26179938779914944), 0, sin(0.26179938779914944), 0}; /* 30 degrees down along x */
    st_ShapeDef slope = st_plane_def();
    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = add_material(*scene, "steel", 0.5, &slope.material, err);
    slope.pose.q = tilt;
    if (status == ST_OK) status = st_scene_add_shape(*scene, ST_GROUND, &slope, NULL, err);
    for (int k = 0; k < N_BLOCKS && status == ST_OK; k++)
        status = add_block(*scene, k, slope.material, tilt, &body[k], err);
    return status;
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId body[N_BLOCKS];
    st_SystemDef def = st_system_def();
    def.integrator = ST_INTEGRATOR_SDIRK2; /* order two: the parabola comes out to rounding */
    if (build(&scene, body, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK) {
        for (int k = 0; k < 1000 && err.status == ST_OK; k++)
            (void)st_system_step(system, def.h, NULL, &err);
        for (int k = 0; k < N_BLOCKS && err.status == ST_OK; k++) {
            st_Pose pose;
            (void)st_system_pose(system, body[k], &pose);
            double way = (pose.p.x - 0.05) / sqrt(0.75), pull = 9.81 * (0.5 - against_steel[k] * sqrt(0.75));
            printf("%-6s friction %.2f: slid %.4f m in 1 s, Coulomb says %.4f\n", names[k], against_steel[k], way,
                   pull > 0 ? pull / 2 : 0.0);
        }
    }
    if (err.status != ST_OK) fprintf(stderr, "materials: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
