/* reports.c -- a pushed crate: contacts with their forces, sums, energy, momentum and the work of friction. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

static st_Status build(st_Scene **scene, st_BodyId *crate, st_Error *err)
{
    st_ShapeDef ground = st_plane_def(), box = st_box_def(0.5, 0.3, 0.4);
    st_BodyDef def = st_body_def();
    st_ForceDef push = st_force_def();
    def.name = "crate";
    def.mass = 20;
    def.pose.p.z = 0.4;
    ground.mu = box.mu = 0.3;
    st_Status status = st_scene_create(scene, err);
    if (status == ST_OK) status = st_scene_add_shape(*scene, ST_GROUND, &ground, NULL, err);
    if (status == ST_OK) status = st_scene_add_body(*scene, &def, crate, err);
    if (status == ST_OK) status = st_scene_add_shape(*scene, *crate, &box, NULL, err);
    push.body = *crate;
    push.force = (st_Vec3){100, 0, 0};
    return status == ST_OK ? st_scene_add_force(*scene, &push, NULL, err) : status;
}

static void show_contacts(const st_System *system, st_BodyId crate)
{
    for (int k = 0; k < st_system_contact_count(system); k++) {
        st_ContactReport c;
        if (st_system_contact(system, k, &c) != ST_OK) continue;
        printf("  at (%+.3f, %+.3f): gap %+.1e m, sliding at %.3f m/s, force (%8.3f, %6.3f, %8.3f) N\n", c.point.x,
               c.point.y, c.gap, hypot(c.velocity[1], c.velocity[2]), c.force.x, c.force.y, c.force.z);
    }
    st_Vec3 force, torque;
    if (st_system_contact_force(system, crate, &force, &torque) == ST_OK)
        printf("  together (%.6f, %.6f, %.6f) N; weight %.6f, friction %.6f\n", force.x, force.y, force.z, 20 * 9.81,
               0.3 * 20 * 9.81);
}

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_System *system = NULL;
    st_BodyId crate = ST_GROUND;
    st_SystemDef def = st_system_def();
    st_StepInfo info = st_step_info();
    if (build(&scene, &crate, &err) == ST_OK && st_system_create(scene, &def, &system, &err) == ST_OK) {
        for (int k = 0; k < 1000 && err.status == ST_OK; k++)
            (void)st_system_step(system, def.h, &info, &err);
    }
    if (err.status == ST_OK) {
        st_Vec3 p, l;
        st_Pose pose;
        printf("after %.3f s, %d contacts, deepest %.1e m, solver %s, residual %.1e\n", info.time, info.contacts,
               info.penetration, info.solve.solver, info.solve.residual.natural);
        show_contacts(system, crate);
        (void)st_system_momentum(system, &p, &l);
        (void)st_system_pose(system, crate, &pose);
        /* the push does F s; friction takes its part of it, the rest is kinetic energy */
        printf("momentum %.4f N s, expected %.4f\n", p.x, 100 - 0.3 * 20 * 9.81);
        printf("energy: push %.4f J = kinetic %.4f + friction %.4f (off by %.1e, first order in h)\n", 100 * pose.p.x,
               info.kinetic, -info.friction, 100 * pose.p.x - info.kinetic + info.friction);
    }
    if (err.status != ST_OK) fprintf(stderr, "reports: %s\n", err.message);
    st_system_destroy(system);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
