/* batch.c -- 64 worlds of one scene in one call: boxes slide on floors of different friction, each as far as
 * Coulomb's law gives. */
#include <math.h>
#include <stdio.h>
#include <stiction/stiction.h>

enum { WORLDS = 64 };

int main(void)
{
    st_Error err = {.status = ST_OK};
    st_Scene *scene = NULL;
    st_Batch *batch = NULL;
    double worst = 0;

    st_ShapeDef floor = st_plane_def(), cube = st_box_def(0.1, 0.1, 0.1);
    floor.name = "floor", cube.name = "cube";
    st_BodyDef box = st_body_def();
    st_BodyId id;
    box.name = "box", box.pose.p.z = 0.1, box.velocity.x = 2;
    st_SystemDef system_def = st_system_def();

    /* Values of the scene that differ between worlds, by their path in a scene file. */
    const char *parameters[] = {"ground/floor/friction", "bodies/box/shapes/cube/friction"};
    st_BatchDef def = st_batch_def();
    def.worlds = WORLDS, def.threads = 2;
    def.parameters = parameters, def.n_parameters = 2;

    if (st_scene_create(&scene, &err) != ST_OK ||
        st_scene_add_shape(scene, (st_BodyId){0}, &floor, NULL, &err) != ST_OK ||
        st_scene_add_body(scene, &box, &id, &err) != ST_OK ||
        st_scene_add_shape(scene, id, &cube, NULL, &err) != ST_OK ||
        st_batch_create(scene, &system_def, &def, &batch, &err) != ST_OK)
        goto done;

    double *friction = st_batch_array(batch, ST_BATCH_PARAMETERS), *q = st_batch_array(batch, ST_BATCH_Q);
    for (int k = 0; k < WORLDS; k++)
        friction[2 * k] = friction[2 * k + 1] = 0.3 + 0.01 * k; /* a pair has the geometric mean of its two */
    if (st_batch_apply_parameters(batch, NULL, &err) != ST_OK || st_batch_step(batch, 1000, NULL, &err) != ST_OK)
        goto done;

    for (int k = 0; k < WORLDS; k++) {
        const double mu = 0.3 + 0.01 * k, x = q[k * st_batch_width(batch, ST_BATCH_Q)],
                     exact = 2.0 * 2.0 / (2 * mu * 9.81);
        worst = fmax(worst, fabs(x - exact));
        if (k % 16 == 0) printf("friction %.2f: stopped at %.4f m, Coulomb says %.4f m\n", mu, x, exact);
    }
    printf("%d worlds failed, largest difference %.4f m\n", st_batch_failures(batch), worst);
    if (worst > 2.0 * 1e-3 / 2 + 1e-6) err.status = ST_ERR_NUMERIC; /* first order: h v0/2 */

done:
    if (err.status != ST_OK) fprintf(stderr, "batch: %s\n", err.message);
    st_batch_destroy(batch);
    st_scene_destroy(scene);
    return err.status == ST_OK ? 0 : 1;
}
