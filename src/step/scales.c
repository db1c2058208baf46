/* step/scales.c -- lengths and speeds that a scene leaves open, from its own sizes, gravity and step.
 *
 * With d the mean width of the shapes that can move and g gravity, sqrt(g d) is the speed of a fall by half a width:
 *
 *     margin             RELATIVE_MARGIN of the smaller shape of a pair, and what gravity closes in a few steps
 *     slop               a dead band for overlaps alone, pair by pair: warm_start.c
 *     correction_speed   sqrt(g d)               restitution_speed   1e-3 sqrt(g d)
 *     sleep_speed        1e-4 sqrt(g d)          active_gap          1e-7 d
 *     overlap            1e-9 d, below which contacts only touch
 *
 * A tolerance that is left open is 1e-9, and the solver may say where 1e-4 is good enough; one that is given is met.
 *
 * The same scene in other units has the same numbers in those units. Without gravity d/100 in a step takes the place of
 * sqrt(g d); a model without shapes has d = 0.1 m.
 */
#include "base/tolerance.h"
#include "math/vec3.h"
#include "step/step.h"

/* Mean width of the shapes that can move; 0: there is none. */
static double mean_size(const sti_World *world)
{
    const sti_Collider *c = &world->collider;
    double sum = 0;
    int n = 0;
    for (int k = 0; k < c->n_shapes; k++)
        if (world->body[world->scene->shape_body[k]].n_dofs > 0 && c->size[k] > 0) {
            sum += c->size[k];
            n++;
        }
    return n > 0 ? sum / n : 0;
}

static void fill_in(double *setting, double value)
{
    if (*setting < 0) *setting = value;
}

void sti_scale_settings(sti_Model *model)
{
    st_SystemDef *def = &model->def;
    const double found = mean_size(model->world), d = found > 0 ? found : 0.1;
    const double g = norm(def->gravity), speed = g > 0 ? sqrt(g * d) : 0.01 * d / def->h;
    const double largest = model->world->collider.largest;
    model->world->collider.relative = def->margin < 0 ? STI_RELATIVE_MARGIN : 0;
    fill_in(&def->margin, STI_RELATIVE_MARGIN * (largest > 0 ? largest : d) + 4 * g * def->h * def->h);
    model->arm = model->rigid && found > 0 ? ldexp(1, ilogb(0.5 * found)) : 1;
    model->banded = def->slop < 0 && model->rigid;
    fill_in(&def->slop, 0);
    fill_in(&def->correction_speed, speed);
    if (def->tolerance > 0 && def->effort == ST_EFFORT_BALANCED) def->effort = ST_EFFORT_EXACT; /* it was asked for */
    fill_in(&def->tolerance, 1e-9);
    fill_in(&def->restitution_speed, 1e-3 * speed);
    fill_in(&def->sleep_speed, 1e-4 * speed);
    model->overlap = def->active_gap < 0 ? 1e-9 * d : STI_OVERLAP;
    fill_in(&def->active_gap, 1e-7 * d);
}
