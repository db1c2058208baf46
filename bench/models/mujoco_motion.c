/* mujoco_motion.c -- where MuJoCo puts the bodies of a model: run it without contacts, print time and centres of mass.
 *
 *     cc -o mujoco_motion mujoco_motion.c -lmujoco && ./mujoco_motion MODEL SECONDS STEP [contacts]
 *
 * models.py builds it where libmujoco-dev is installed and its Python module is not. Runge-Kutta of order four. With
 * `contacts` they stay, and so does the integrator of the file.
 */
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    char error[1000] = "";
    if (argc < 4) {
        fprintf(stderr, "usage: mujoco_motion MODEL SECONDS STEP [contacts]\n");
        return 2;
    }
    mjModel *model = mj_loadXML(argv[1], NULL, error, sizeof error);
    if (model == NULL) {
        fprintf(stderr, "%s\n", error);
        return 1;
    }
    mjData *data = mj_makeData(model);
    const double end = atof(argv[2]), step = atof(argv[3]);
    if (step > 0) model->opt.timestep = step;
    if (argc < 5 || strcmp(argv[4], "contacts") != 0) {
        model->opt.integrator = mjINT_RK4;
        model->opt.disableflags |= mjDSBL_CONTACT;
    }
    while (data->time < end - 1e-9)
        mj_step(model, data);
    mj_forward(model, data);
    printf("time %.17g\n", data->time);
    for (int k = 1; k < model->nbody; k++) {
        const char *name = mj_id2name(model, mjOBJ_BODY, k);
        const double *p = data->xipos + 3 * k, *q = data->xquat + 4 * k;
        if (name != NULL && name[0] != '\0')
            printf("body %s %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", name, p[0], p[1], p[2], q[0], q[1], q[2],
                   q[3]);
    }
    for (int k = 0; k < model->nsensor; k++) {
        const char *name = mj_id2name(model, mjOBJ_SENSOR, k);
        if (name == NULL || name[0] == '\0') continue;
        printf("sensor %s", name);
        for (int i = 0; i < model->sensor_dim[k]; i++)
            printf(" %.17g", data->sensordata[model->sensor_adr[k] + i]);
        printf("\n");
    }
    mj_deleteData(data);
    mj_deleteModel(model);
    return 0;
}
