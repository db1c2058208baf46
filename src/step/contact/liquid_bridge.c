/* step/contact/liquid_bridge.c -- liquid between two spheres, or a sphere and another surface.
 *
 *     F(s) = 2 pi R gamma cos(theta) / (1 + 1.05 x + 2.5 x^2),   x = s sqrt(R/V)        (Willett et al. 2000)
 *
 * with the gap s >= 0, the volume V of the bridge, the surface tension gamma, the wetting angle theta, and R the
 * harmonic mean of the two radii, twice the radius of a sphere at a wall (Derjaguin's approximation). The bridge forms
 * where the two touch and breaks at s = (1 + theta/2) V^(1/3) (Lian, Thornton & Adams 1993). So the existence of a
 * bridge depends on the past. The state needs no list of bridges: only a bridge pulls across an open gap, and the
 * impulses of the last step are part of the state. A step that is not solved exactly may leave a gap between two that
 * touch; their push is then large for that gap. Interior point methods also leave small pushes at open contacts.
 *
 * The force is taken at the end of the step, s = s_0 + h u_n, by a fixed-point iteration over solutions of the step
 * problem (stage_solve.c). A larger gap has a smaller force, which gives a larger gap, so the iterates are monotone.
 * Each iteration multiplies the error by h^2 |F'| W_nn.
 */
#include "step/contact/contact.h"
#include "step/integrate/stage.h"

/* Gaps up to this part of the smaller shape's size count as closed. */
#define TOUCHES 1e-5
/* Pulls of the last step up to this part of the bridge's own are rounding. */
#define NO_PULL 1e-4

static double rupture_gap(const st_SurfaceLaw *law)
{
    return sti_rupture_gap(law->liquid_volume, law->wetting_angle);
}

static double bridge_force(const sti_World *world, const sti_ContactEntry *entry, double gap)
{
    const st_SurfaceLaw *law = &entry->surface->more;
    double curvature = 0; /* 1/r_a + 1/r_b */
    const int shape[2] = {entry->shape_a - 1, entry->shape_b - 1};
    for (int side = 0; side < 2; side++) {
        const st_ShapeDef *def = sti_shape_def(world->scene, shape[side]);
        if (def->type == ST_SHAPE_SPHERE) curvature += 1 / def->radius;
    }
    if (curvature == 0 || gap > rupture_gap(law)) return 0;
    const double R = 2 / curvature, x = gap > 0 ? gap * sqrt(R / law->liquid_volume) : 0;
    return 2 * STI_PI * R * law->surface_tension * cos(law->wetting_angle) / (1 + 1.05 * x + 2.5 * x * x);
}

double sti_bridge_impulse(const sti_Model *model, const sti_State *state, const sti_ContactEntry *entry, double eta)
{
    const st_SurfaceLaw *law = &entry->surface->more;
    if (!(law->liquid_volume > 0) || !(law->surface_tension > 0)) return 0;
    const double impulse = eta * bridge_force(model->world, entry, entry->gap);
    const double size = sti_pair_size(&model->world->collider, entry->shape_a - 1, entry->shape_b - 1);
    if (impulse == 0 || entry->gap <= TOUCHES * size) return impulse;
    /* The normal impulse of a contact in the last step; 0: the contact did not exist. */
    int lo = 0, hi = state->forces.n;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (state->forces.at[middle].id < entry->id)
            lo = middle + 1;
        else
            hi = middle;
    }
    const double r = lo < state->forces.n && state->forces.at[lo].id == entry->id ? state->forces.at[lo].r[0] : 0;
    double free_speed = 0; /* that a push would give the two bodies alone */
    const int body[2] = {entry->a, entry->b};
    for (int side = 0; side < 2; side++)
        if (model->world->body[body[side]].n_dofs > 0) free_speed += r / model->world->values.body[body[side]].mass;
    return r < -NO_PULL * impulse || free_speed > entry->gap / eta ? impulse : 0;
}

double sti_follow_gaps(const sti_Model *model, sti_StepWork *work, const double *v, double part)
{
    sti_Assembly *out = &work->step;
    double changed = 0;
    for (int c = 0; c < out->n_gaps; c++) {
        sti_Chosen *chosen = &out->chosen[c];
        if (!(chosen->bridge > 0)) continue;
        sti_RowView row;
        double u = 0;
        sti_view_row(model, work, c, 0, &row);
        for (int e = 0; e < row.n; e++)
            u += row.x[e] * v[row.i[e]];
        const double force = bridge_force(model->world, chosen->entry, chosen->entry->gap + out->eta * u);
        const double change = out->eta * force - chosen->bridge;
        changed += change * change;
        if (part == 0) continue;
        /* a broken bridge does not form again within this step, so that the iteration cannot alternate */
        chosen->bridge = force > 0 ? chosen->bridge + part * change : 0;
        const double pull = chosen->pull + (force > 0 ? part : 1) * change;
        for (int e = 0; e < row.n; e++)
            out->f[row.i[e]] -= (pull - chosen->pull) * row.x[e];
        chosen->pull = pull;
    }
    return changed;
}
