/* step/contact/adhesion.c -- contacts that pull.
 *
 * A contact with an adhesion F [N] obeys the law of a dry one, shifted: its impulse is in K - eta F e_n, and
 *
 *     r + eta F e_n ∈ K,   u^ ∈ K*,   (r + eta F e_n) . u^ = 0,
 *
 * so that it pulls with up to F, and friction is bounded by mu (r_n + eta F). With r' = r + eta F e_n this is the law
 * of a dry contact for r', and the step problem is
 *
 *     A v = (f - eta H_n F) + H r' + G l,      u = H'v + C r' + w.
 *
 * The translation is exact, and every solver accepts the translated problem. r of the step problem is r'. Warm start
 * and reports use r (sti_force_of). The compliance C of overlapping rigid contacts acts on r'.
 *
 * F = adhesion + adhesion_pressure A, where A is the area of the polygon in which two shapes touch. The contact points
 * of the two shapes share F. A force of the scene with type adhesion pulls its body towards everything that it touches:
 * the contacts of the body share its length equally. The corners share the resultant and the moments of the pressure
 * exactly: each triangle between an edge and the mean m of the corners adds a third of its area to each end of the
 * edge, and a third to m. All corners share the part of m.
 */
#include "base/tolerance.h"
#include "model/time_factor.h"
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

/* The largest number of corners of a contact polygon. */
enum { MOST_CORNERS = 32 };

/* Does adhesion act across this gap? */
static bool is_within_range(const sti_Model *model, const sti_ContactEntry *entry)
{
    const double said = entry->surface->more.adhesion_range;
    const double size = sti_pair_size(&model->world->collider, entry->shape_a - 1, entry->shape_b - 1);
    return entry->gap <= (said > 0 ? said : STI_ADHESION_RANGE * size);
}

void sti_stage_adhesion(sti_StageBuild *build)
{
    const sti_Model *model = build->model;
    const sti_State *state = build->state;
    const sti_StepWork *work = build->work;
    sti_Assembly *out = build->out;
    for (int c = 0, n; c < out->n_gaps; c += n) {
        const sti_ContactEntry *one = out->chosen[c].entry;
        const st_SurfaceLaw *law = &one->surface->more;
        double share[MOST_CORNERS];
        for (n = 1; c + n < out->n_gaps && n < MOST_CORNERS; n++)
            if (out->chosen[c + n].entry->shape_a != one->shape_a || out->chosen[c + n].entry->shape_b != one->shape_b)
                break;
        if (one->shape_a == 0 || !(law->adhesion > 0 || law->adhesion_pressure > 0 || law->liquid_volume > 0)) continue;
        if (law->adhesion_pressure > 0) {
            /* Shares of contacts first .. first + n - 1 in the area of their polygon. They belong to one pair of
             * shapes. */
            const sti_ContactEntry *entry = out->chosen[c].entry;
            const st_Vec3 t = entry->tangent, o = cross(entry->normal, t);
            double x[MOST_CORNERS], y[MOST_CORNERS], middle[2] = {0, 0}, angle[MOST_CORNERS], whole = 0;
            int order[MOST_CORNERS];
            for (int k = 0; k < n; k++)
                share[k] = 0;
            if (n >= 3 && n <= MOST_CORNERS) {
                for (int k = 0; k < n; k++) {
                    const st_Vec3 arm = sub(out->chosen[c + k].entry->point, entry->point);
                    x[k] = dot(arm, t), y[k] = dot(arm, o);
                    middle[0] += x[k] / n, middle[1] += y[k] / n;
                }
                for (int k = 0; k < n; k++) { /* sort by the angle about the mean; equal angles keep their order */
                    int at = k;
                    angle[k] = atan2(y[k] - middle[1], x[k] - middle[0]);
                    for (; at > 0 && angle[order[at - 1]] > angle[k]; at--)
                        order[at] = order[at - 1];
                    order[at] = k;
                }
                for (int e = 0; e < n; e++) {
                    const int i = order[e], j = order[(e + 1) % n];
                    const double area =
                        0.5 * fabs((x[i] - middle[0]) * (y[j] - middle[1]) - (x[j] - middle[0]) * (y[i] - middle[1]));
                    share[i] += area / 3;
                    share[j] += area / 3;
                    whole += area / (3 * n);
                }
                for (int k = 0; k < n; k++)
                    share[k] += whole;
            }
        }
        int near = 0;
        for (int k = 0; k < n; k++)
            near += is_within_range(model, out->chosen[c + k].entry);
        for (int k = 0; k < n; k++) {
            sti_Chosen *chosen = &out->chosen[c + k];
            const bool within = is_within_range(model, chosen->entry);
            if (n == 1) chosen->bridge = sti_bridge_impulse(model, state, chosen->entry, build->stage->eta);
            if (!within && !(chosen->bridge > 0)) continue;
            const double pressure = law->adhesion_pressure > 0 ? law->adhesion_pressure * share[k] : 0;
            sti_RowView row;
            chosen->pull = chosen->bridge + (within ? build->stage->eta * (law->adhesion / near + pressure) : 0);
            sti_view_row(model, work, c + k, 0, &row);
            for (int e = 0; e < row.n; e++)
                out->f[row.i[e]] -= chosen->pull * row.x[e];
        }
    }
    const st_Scene *scene = model->world->scene;
    for (int f = 0; f < scene->n_forces; f++) {
        const st_ForceDef *def = &scene->force[f];
        const sti_Control *control = &model->world->control[model->world->n_joints + f];
        int near = 0;
        if (!def->adhesion) continue;
        const st_Vec3 said = control->is_set ? vec3_load(control->value)
                                             : scale(sti_profile_value(&def->profile, build->stage->t), def->force);
        if (!(norm(said) > 0)) continue;
        for (int pass = 0; pass < 2; pass++) /* the first pass counts the contacts, the second one divides the force */
            for (int c = 0; c < out->n_gaps; c++) {
                const sti_ContactEntry *entry = out->chosen[c].entry;
                const bool of_body = entry->a == def->body.index1 || entry->b == def->body.index1;
                if (entry->shape_a == 0 || !of_body || !is_within_range(model, entry)) continue;
                near += pass == 0;
                if (pass == 0) continue;
                const double pull = build->stage->eta * norm(said) / near;
                sti_RowView row;
                out->chosen[c].pull += pull;
                sti_view_row(model, work, c, 0, &row);
                for (int e = 0; e < row.n; e++)
                    out->f[row.i[e]] -= pull * row.x[e];
            }
    }
}

double sti_adhesion_work(const sti_Model *model, const sti_StepWork *work, const double *way)
{
    const sti_Assembly *out = &work->step;
    double sum = 0;
    for (int c = 0; c < out->n_gaps; c++) {
        sti_RowView row;
        if (!(out->chosen[c].pull > 0)) continue;
        sti_view_row(model, work, c, 0, &row);
        for (int e = 0; e < row.n; e++)
            sum -= out->chosen[c].pull * row.x[e] * way[row.i[e]];
    }
    return sum;
}
