/* step/contact/contact_model.c -- checks, before the first step, that contact model, settings and shapes fit together.
 * Errors name the setting. */
#include "step/contact/contact_model.h"

#include <stdio.h>

static const char *model_name(st_ContactModel contact)
{
    return contact == ST_CONTACT_COMPLIANT ? "compliant" : "regularized";
}

static sti_Label label(const sti_World *world, int shape)
{
    return sti_shape_label(world->scene, shape);
}

/* Rolling and spinning friction are part of two laws, and make contacts of other dimensions. */
static st_Status check_turning(const st_SystemDef *def, const char *who, double rolling, double spinning, st_Error *err)
{
    const char *kind = rolling > 0 ? "rolling" : "spinning";
    if (!(rolling > 0) && !(spinning > 0)) return ST_OK; /* NaN means that the pair has no coefficient */
    if (def->law == ST_LAW_FRICTIONLESS) return ST_OK;
    if (def->law != ST_LAW_COULOMB && def->law != ST_LAW_CONE)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "%s has %s friction, which the law \"%s\" does not know: choose \"coulomb\" or \"cone\"", who,
                        kind, st_law_name(def->law));
    if (def->contact == ST_CONTACT_COMPLIANT)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "%s has %s friction, but a compliant patch computes its own: leave it out", who, kind);
    if (!st_solver_accepts(def->solver, def->law, (rolling > 0 ? 5 : 3) + (spinning > 0 ? 1 : 0), true))
        return sti_fail(
            err, ST_ERR_UNSUPPORTED,
            "%s has %s friction, which the solver \"%s\" does not take: choose another (\"auto\" picks one)", who, kind,
            def->solver);
    return ST_OK;
}

/* Adhesion and friction by direction or speed are part of rigid contact. */
static st_Status check_more(const st_SystemDef *def, const char *who, const st_SurfaceLaw *law, st_Error *err)
{
    const char *what = law->adhesion > 0 || law->adhesion_pressure > 0 ? "adhesion"
                       : law->liquid_volume > 0                        ? "a liquid"
                       : law->stribeck_speed > 0                       ? "friction that depends on speed"
                                                                       : NULL;
    if (what == NULL || def->contact == ST_CONTACT_RIGID) return ST_OK;
    return sti_fail(err, ST_ERR_UNSUPPORTED, "%s has %s, which contact \"%s\" does not know: choose \"rigid\"", who,
                    what, model_name(def->contact));
}

static st_Status check_patch(const st_SystemDef *def, const sti_World *world, int shape, st_Error *err)
{
    const st_ShapeDef *s = sti_shape_def(world->scene, shape);
    const sti_Shape *compiled = sti_shape_of(&world->collider, shape);
    const double diameter = compiled->thick, side = def->patch_elements * def->patch_spacing;
    if (s->type == ST_SHAPE_PLANE) return ST_OK;
    if (!compiled->of->smooth)
        return sti_fail(err, ST_ERR_UNSUPPORTED,
                        "shape %s: contact \"compliant\" serves smooth shapes on planes and on each other, not a "
                        "%s",
                        label(world, shape).text, st_shape_type_name(s->type));
    if (side > diameter)
        return sti_fail(err, ST_ERR_ARGUMENT,
                        "shape %s: a patch of %d elements %g m apart is larger than the body, %g m",
                        label(world, shape).text, def->patch_elements, def->patch_spacing, diameter);
    return ST_OK;
}

st_Status sti_check_model_contacts(const st_SystemDef *def, const st_Sink *sink, st_Error *err)
{
    for (int c = 0; c < sink->n_contacts; c++) {
        const sti_Surface *surface = sink->contact[c].surface;
        char who[64];
        if (!(surface->rolling > 0) && !(surface->spinning > 0)) continue;
        snprintf(who, sizeof who, "the model's contact %llu", (unsigned long long)sink->contact[c].id);
        STI_TRY(check_turning(def, who, surface->rolling, surface->spinning, err));
    }
    return ST_OK;
}

st_Status sti_check_surface_values(const st_SystemDef *def, const sti_World *world, const sti_Values *values,
                                   st_Error *err)
{
    char who[2 * STI_NAME_MAX + 64];
    for (int k = 0; values->surface != NULL && k < world->scene->n_shapes; k++) {
        snprintf(who, sizeof who, "shape %s", label(world, k).text);
        STI_TRY(check_turning(def, who, values->surface[k].rolling, values->surface[k].spinning, err));
    }
    return ST_OK;
}

st_Status sti_check_contact_model(const st_SystemDef *def, const sti_World *world, st_Error *err)
{
    const char *name = model_name(def->contact);
    if (def->contact != ST_CONTACT_RIGID) {
        if (def->integrator != ST_INTEGRATOR_EULER && def->integrator != ST_INTEGRATOR_IMPLICIT)
            return sti_fail(err, ST_ERR_UNSUPPORTED, "contact \"%s\" needs the integrator \"euler\" or \"implicit\"",
                            name);
        if (def->events != ST_EVENTS_OFF)
            return sti_fail(err, ST_ERR_UNSUPPORTED, "contact \"%s\" has no impacts to locate: events must be \"off\"",
                            name);
        if (def->drift == ST_DRIFT_PROJECTION || def->drift == ST_DRIFT_MEAN ||
            (def->contact == ST_CONTACT_REGULARIZED && def->drift != ST_DRIFT_GAP))
            return sti_fail(err, ST_ERR_UNSUPPORTED, "contact \"%s\": drift must be %s", name,
                            def->contact == ST_CONTACT_COMPLIANT ? "\"velocity\" or \"gap\"" : "\"gap\"");
    }
    /* With law cone a sliding contact rises at mu |u_T|. Its gap stays at mu h |u_T| only if the contact is in the
     * problem with its gap. An active set would drop the contact in the first step and report a collision later that
     * never happened. */
    if (def->law == ST_LAW_CONE && def->events != ST_EVENTS_OFF)
        return sti_fail(
            err, ST_ERR_UNSUPPORTED,
            "law \"cone\" lets what slides rise, which is no event: events must be \"off\", or the law \"coulomb\"");
    if (def->forces != ST_FORCES_ANY) {
        if (def->contact == ST_CONTACT_COMPLIANT)
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "contact \"compliant\" leaves no forces open: forces must be \"any\"");
        if (def->law == ST_LAW_PYRAMID || def->law == ST_LAW_BOX)
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "forces \"least_norm\" needs the law \"coulomb\", \"cone\" or \"none\", not \"%s\"",
                            st_law_name(def->law));
        if (def->rigid_limit)
            return sti_fail(err, ST_ERR_UNSUPPORTED,
                            "rigid_limit approaches by iteration the forces that \"least_norm\" computes directly: use "
                            "only one of the two");
    }
    const st_Scene *scene = world->scene;
    char who[2 * STI_NAME_MAX + 64];
    for (int k = 0; k < scene->n_shapes; k++) {
        const st_ShapeDef *shape = sti_shape_def(scene, k);
        snprintf(who, sizeof who, "shape %s", sti_shape_label(scene, k).text);
        STI_TRY(check_turning(def, who, shape->rolling, shape->spinning, err));
        const char *shape_name = sti_shape_label(world->scene, k).text;
        if (sti_shape_def(world->scene, k)->friction_across > 0) {
            if (def->contact != ST_CONTACT_RIGID)
                return sti_fail(err, ST_ERR_UNSUPPORTED,
                                "shape %s has friction_across, which contact \"%s\" does not know: choose \"rigid\"",
                                shape_name, model_name(def->contact));
            for (int b = 1; b < world->n_bodies; b++)
                if (world->body[b].n_dofs > 0 && world->body[b].planar != 0)
                    return sti_fail(
                        err, ST_ERR_UNSUPPORTED,
                        "shape %s has friction_across, and body \"%s\" moves in a plane, where friction has one "
                        "direction: leave it out",
                        shape_name, world->scene->names[STI_BODY].name[b]);
        }
    }
    for (int k = 0; k < scene->n_materials; k++) {
        snprintf(who, sizeof who, "material \"%s\"", scene->material[k].name);
        STI_TRY(check_more(def, who, &scene->material[k].more, err));
    }
    for (int k = 0; k < scene->n_material_pairs; k++) {
        const st_MaterialPairDef *both = &scene->material_pair[k];
        snprintf(who, sizeof who, "the pair of materials \"%s\" and \"%s\"", scene->material[both->a.index1 - 1].name,
                 scene->material[both->b.index1 - 1].name);
        STI_TRY(check_turning(def, who, both->rolling, both->spinning, err));
        STI_TRY(check_more(def, who, &both->more, err));
    }
    if (def->contact != ST_CONTACT_COMPLIANT) return ST_OK;
    const sti_Pairs *pairs = &world->collider.pairs;
    for (int i = 0; i < world->scene->n_shapes; i++)
        for (int j = 0; j < i; j++) {
            sti_Pair pair;
            if (pairs->filter(pairs->ctx, j, i, &pair)) {
                STI_TRY(check_patch(def, world, pair.i, err));
                STI_TRY(check_patch(def, world, pair.j, err));
                if (!(sti_shape_def(world->scene, pair.i)->young > 0 || sti_shape_def(world->scene, pair.j)->young > 0))
                    return sti_fail(
                        err, ST_ERR_ARGUMENT,
                        "shapes %s and %s can touch and both are rigid: contact \"compliant\" needs Young's modulus "
                        "(young) of one of them",
                        label(world, pair.i).text, label(world, pair.j).text);
            }
        }
    return ST_OK;
}
