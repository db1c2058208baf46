#include "tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATING 1e-9 /* [m/s]: faster than this, a contact opens */

const char *outcome_name(Outcome outcome)
{
    static const char *const names[] = {"finished", "diverged", "interrupted", "failed"};
    return names[outcome];
}

bool tally_start(Tally *tally, const Loaded *loaded, st_StepInfo *info, st_Error *err)
{
    *tally = (Tally){.locating = loaded->def.events != ST_EVENTS_OFF};
    *info = st_step_info();
    info->time = st_system_time(loaded->system);
    info->h = 0;
    if (st_system_energy(loaded->system, &info->kinetic, &info->potential, err) != ST_OK) return false;
    tally->kinetic_start = tally->kinetic = info->kinetic;
    tally->potential_start = tally->potential = info->potential;
    return true;
}

static double larger(double a, double b)
{
    return b > a || isnan(b) ? b : a; /* a NaN must show */
}

static bool was_touching(const Tally *tally, uint64_t id)
{
    for (int i = 0; i < tally->n_touching; i++)
        if (tally->touching[i] == id) return true;
    return false;
}

static void add_collision(Tally *tally, double time, const st_ContactReport *contact)
{
    if (tally->n_list == MOST_COLLISIONS) return;
    if (tally->n_list == tally->capacity) {
        int capacity = tally->capacity > 0 ? 2 * tally->capacity : 16;
        Collision *grown = realloc(tally->list, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return; /* the count stays right, the list is short */
        tally->list = grown;
        tally->capacity = capacity;
    }
    tally->list[tally->n_list++] =
        (Collision){time, contact->a, contact->b, contact->point, contact->dim > 0 ? contact->impulse[0] : 0};
}

/* The contacts that closed: those of the impact that were not closed before. */
static void find_collisions(Tally *tally, const st_System *system, double time)
{
    int n = st_system_contact_count(system);
    for (int i = 0; i < n; i++) {
        st_ContactReport contact;
        if (st_system_contact(system, i, &contact) == ST_OK && !was_touching(tally, contact.id))
            add_collision(tally, time, &contact);
    }
}

/* Contacts that stay closed: all of an impact, and of a step those that do not separate. */
static void keep_touching(Tally *tally, const st_System *system, bool impact)
{
    int n = st_system_contact_count(system);
    if (n > tally->touching_capacity) {
        uint64_t *grown = realloc(tally->touching, (size_t)n * sizeof *grown);
        if (grown == NULL) return;
        tally->touching = grown;
        tally->touching_capacity = n;
    }
    tally->n_touching = 0;
    for (int i = 0; i < n; i++) {
        st_ContactReport contact;
        if (st_system_contact(system, i, &contact) != ST_OK) continue;
        if (impact || contact.velocity[0] <= SEPARATING) tally->touching[tally->n_touching++] = contact.id;
    }
}

void tally_step(Tally *tally, const st_System *system, const st_StepInfo *info)
{
    double before = tally->kinetic + tally->potential, now = info->kinetic + info->potential;
    tally->steps++;
    tally->collisions += info->collisions;
    tally->failures += !info->solve.converged;
    tally->fallbacks += info->solve.fallback != NULL;
    tally->overlapping += info->overlapping;
    if (info->contacts > tally->max_contacts) tally->max_contacts = info->contacts;
    tally->worst_gap = larger(tally->worst_gap, info->penetration);
    tally->worst_joint_error = larger(tally->worst_joint_error, info->joint_error);
    tally->worst_residual = larger(tally->worst_residual, info->solve.residual.natural);
    if (now - before > tally->largest_increase) {
        tally->largest_increase = now - before;
        tally->largest_increase_time = info->time;
    }
    tally->kinetic = info->kinetic;
    tally->potential = info->potential;
    tally->friction = info->friction;
    if (info->collisions > 0) find_collisions(tally, system, info->time);
    if (tally->locating) keep_touching(tally, system, info->collisions > 0);
}

void tally_free(Tally *tally)
{
    free(tally->list);
    free(tally->touching);
    *tally = (Tally){0};
}
