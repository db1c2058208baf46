#include "tally.h"

#include <math.h>
#include <stdlib.h>

const char *outcome_name(Outcome outcome)
{
    static const char *const names[] = {"finished", "diverged", "interrupted", "failed", "failed"};
    return names[outcome];
}

/* A remainder within 1e-6 h of a full step is a full step, so that time stays on its grid, and one below 1e-6 h is
 * no step: rounding of the time must not cause a tiny step. */
double next_step(double time, double h, double end)
{
    double rest = end - time;
    if (rest <= 1e-6 * h) return 0;
    return rest < h * (1 - 1e-6) ? rest : h;
}

bool tally_start(Tally *tally, const Loaded *loaded, st_StepInfo *info, st_Error *err)
{
    st_Flaw flaw[64];
    *tally = (Tally){.n_joints = st_scene_joint_count(loaded->scene)};
    const int n = tally->n_joints > 0 ? st_system_flaws(loaded->system, flaw, 64) : 0; /* of joints are looked at */
    for (int k = 0; k < n && k < 64; k++)
        if (flaw[k].kind == ST_FLAW_SPEED && flaw[k].size > tally->start_jump)
            tally->start_jump = flaw[k].size, tally->start_joint = flaw[k].joint;
    for (int k = 0; k < n && k < 64; k++)
        tally->closing = tally->closing || flaw[k].kind == ST_FLAW_JOINT;
    tally->last_opening = INFINITY;
    *info = st_step_info();
    info->time = st_system_time(loaded->system);
    info->h = 0;
    if (st_system_energy(loaded->system, &info->kinetic, &info->potential, err) != ST_OK) return false;
    /* A step that meets the requested tolerance does not fail because of the preset's limit; a limit that the user
     * sets counts. */
    st_SystemDef preset = st_system_def();
    const bool own = st_preset_apply(&preset, loaded->def.preset, NULL) != ST_OK ||
                     preset.residual_limit != loaded->def.residual_limit;
    tally->residual_limit = own ? loaded->def.residual_limit : fmax(preset.residual_limit, loaded->def.tolerance);
    tally->kinetic_start = tally->kinetic = info->kinetic;
    tally->potential_start = tally->potential = info->potential;
    return true;
}

static double larger(double a, double b)
{
    return b > a || isnan(b) ? b : a; /* NaN must be shown */
}

/* The joint with the largest present error. */
static st_JointId worst_joint(const st_System *system, int n)
{
    st_JointId worst = {0};
    double most = -1;
    for (int k = 1; k <= n; k++) {
        st_JointReport r;
        if (st_system_joint(system, (st_JointId){k}, ST_FRAME_WORLD, &r) == ST_OK && r.error > most)
            most = r.error, worst = (st_JointId){k};
    }
    return worst;
}

static void add_collision(Tally *tally, const st_EventReport *event)
{
    if (tally->n_list == MOST_COLLISIONS) return;
    if (tally->n_list == tally->capacity) {
        int capacity = tally->capacity > 0 ? 2 * tally->capacity : 16;
        Collision *grown = realloc(tally->list, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return; /* the count stays correct, the list is incomplete */
        tally->list = grown;
        tally->capacity = capacity;
    }
    tally->list[tally->n_list++] =
        (Collision){event->time, event->a, event->b, event->point, event->impulse, event->before, event->after};
}

static void find_collisions(Tally *tally, const st_System *system)
{
    for (int i = 0; i < st_system_event_count(system); i++) {
        st_EventReport event;
        if (st_system_event(system, i, &event) == ST_OK && event.kind == ST_EVENT_COLLISION)
            add_collision(tally, &event);
    }
}

/* Stores the residual of this step, with its time and island, if it is the worst so far. */
static void note_worst(Tally *tally, const st_System *system, const st_StepInfo *info)
{
    const double residual = info->solve.residual.natural;
    if (residual <= tally->worst_residual) return; /* NaN must be shown */
    tally->worst_residual = residual;
    tally->worst_residual_time = info->time;
    snprintf(tally->worst_island, sizeof tally->worst_island, "the whole system (%d contact%s)", info->contacts,
             info->contacts == 1 ? "" : "s"); /* a flat pile has no islands */
    int worst = -1;
    st_IslandReport island, at = {0};
    for (int k = 0; k < st_system_island_count(system); k++)
        if (st_system_island(system, k, &island) == ST_OK &&
            (worst < 0 || island.solve.residual.natural > at.solve.residual.natural))
            worst = k, at = island;
    if (worst >= 0)
        snprintf(tally->worst_island, sizeof tally->worst_island, "island %d of %d (%d bod%s, %d contact%s%s)",
                 worst + 1, st_system_island_count(system), at.bodies, at.bodies == 1 ? "y" : "ies", at.contacts,
                 at.contacts == 1 ? "" : "s", tally->n_joints > 0 ? ", limits and motors" : "");
}

void tally_step(Tally *tally, const st_System *system, const st_StepInfo *info)
{
    double before = tally->kinetic + tally->potential, now = info->kinetic + info->potential;
    tally->steps++;
    tally->collisions += info->collisions;
    tally->transitions += info->transitions;
    tally->problems += info->problems;
    tally->impact_gain += info->impact_gain;
    tally->limited += info->rebounds_limited;
    tally->drift_fallbacks += info->drift_fallbacks;
    tally->repeated += info->attempts > 1;
    if (info->accumulated && tally->accumulations++ == 0) tally->accumulated_time = info->time;
    tally->failures += !info->solve.converged;
    tally->fallbacks += info->solve.fallback != NULL;
    tally->overlapping += info->overlapping;
    if (info->contacts > tally->max_contacts) tally->max_contacts = info->contacts;
    tally->struck += info->struck;
    if (!(info->penetration <= tally->worst_gap)) { /* NaN must be shown, here and below */
        tally->worst_gap_time = info->time;
        st_system_deepest(system, &tally->worst_gap_a, &tally->worst_gap_b);
    }
    if (!(info->joint_error <= 1.001 * tally->worst_joint_error)) { /* not every one of slowly growing errors */
        tally->worst_joint_error_time = info->time;
        tally->worst_joint = worst_joint(system, tally->n_joints);
    }
    if (!(info->solve.residual.joint <= tally->worst_joint_residual)) tally->worst_joint_residual_time = info->time;
    tally->worst_gap = larger(tally->worst_gap, info->penetration);
    tally->worst_joint_error = larger(tally->worst_joint_error, info->joint_error);
    tally->above_limit += !(info->solve.residual.natural <= tally->residual_limit);
    /* Drift correction closes joints that are open at the start at a limited speed. Such steps do not count. */
    tally->closing = tally->closing && info->joint_opening <= tally->last_opening;
    tally->last_opening = info->joint_opening;
    if (!tally->closing && !(info->joint_opening <= OPEN_LIMIT)) {
        tally->open_joints++;
        if (!(info->joint_opening <= tally->worst_opening)) {
            tally->worst_opening = info->joint_opening;
            tally->worst_opening_time = info->time;
            tally->worst_opening_joint = worst_joint(system, tally->n_joints);
        }
    }
    note_worst(tally, system, info);
    tally->worst_joint_residual = larger(tally->worst_joint_residual, info->solve.residual.joint);
    const double rise = now - before - (info->work - tally->work);
    if (rise > tally->largest_increase) {
        tally->largest_increase = rise;
        tally->largest_increase_time = info->time;
    }
    tally->kinetic = info->kinetic;
    tally->potential = info->potential;
    tally->friction = info->friction;
    tally->work = info->work;
    tally->damping = info->damping;
    tally->impacts = info->impacts;
    tally->correction = info->correction;
    tally->scheme = info->scheme;
    tally->unexplained = info->unexplained;
    if (info->collisions > 0) find_collisions(tally, system);
}

void tally_free(Tally *tally)
{
    free(tally->list);
    *tally = (Tally){0};
}
