/* Prints the results of one problem file: a table for people, members for JSON. */
#include "json.h"
#include "solve.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>

static int contacts_of(const SolvedFile *solved)
{
    return solved->friction != NULL ? solved->file->friction.n_contacts : solved->file->n;
}

static void print_head(FILE *out, const SolvedFile *solved, const SolveOptions *o)
{
    const st_FrictionProblem *p = &solved->file->friction;
    char text[4600];
    snprintf(text, sizeof text, "%.4000s: %s, ", solved->path, solved->file->kind);
    if (solved->friction == NULL)
        add_text(text, sizeof text, "%d row%s", solved->file->n, plural(solved->file->n));
    else
        add_text(text, sizeof text, "%d contact%s", p->n_contacts, plural(p->n_contacts));
    if (solved->friction != NULL && p->form == ST_FORM_GLOBAL)
        add_text(text, sizeof text, ", %d velocit%s", p->n_v, p->n_v == 1 ? "y" : "ies");
    if (solved->friction != NULL && p->n_l > 0)
        add_text(text, sizeof text, ", %d equality row%s", p->n_l, plural(p->n_l));
    add_text(text, sizeof text, ", tolerance %g\n", o->tolerance);
    if (solved->lowest < LOWEST_ALLOWED)
        add_text(text, sizeof text,
                 "%s is not positive semi-definite (lowest eigenvalue %.2g of the largest): tried anyway\n",
                 p->form == ST_FORM_LOCAL ? "W" : "M", solved->lowest);
    print_lines(out, text, 0, 2);
}

static void print_result(const Fold *fold, const SolvedFile *solved, const SolveResult *r)
{
    char text[300], time[32];
    time_text(r->seconds, time, sizeof time);
    snprintf(text, sizeof text, "%-8s %-14s", r->solver, solve_status_name(r->status));
    if (!isnan(r->error))
        add_text(text, sizeof text, " %9.2e %9.2e %10ld %10s %9.2e %9.2e", r->error, r->error_rho, r->iterations, time,
                 r->violation, r->complementarity);
    if (r->answered != NULL) add_text(text, sizeof text, " %9s", r->answered);
    if (r->status != SOLVED && r->worst >= 0 && solved->friction != NULL)
        add_text(text, sizeof text, "  worst: contact %d", r->worst);
    fold_row(fold, text);
    if (r->message[0] != '\0') print_wrapped(fold->out, r->message, 9);
}

/* Which impulses does the problem determine? */
static void print_determined(FILE *out, const SolvedFile *solved)
{
    const SolveResult *best = best_result(solved);
    const int n = solved->file->n, dim = solved->file->friction.dim;
    st_Error err = {0};
    st_Determined found = {0};
    bool *determined = calloc((size_t)n + 1, sizeof *determined);
    if (best != NULL && determined != NULL &&
        st_friction_determined(solved->friction, best->r, NULL, 0.0, determined, NULL, &found, &err) == ST_OK) {
        fprintf(out, "active directions %d, rank %d: %s", found.active_rows, found.rank,
                found.rank == found.active_rows ? "every impulse is determined\n" : "hyperstatic\n");
        if (found.undetermined_contacts > 0)
            fprintf(out, "not determined at %d contact%s:", found.undetermined_contacts,
                    found.undetermined_contacts == 1 ? "" : "s");
        int told = 0;
        for (int c = 0; c < n / dim && found.undetermined_contacts > 0; c++)
            for (int k = 0; k < dim; k++)
                if (!determined[c * dim + k]) {
                    if (told++ < 20) fprintf(out, " %d", c);
                    break;
                }
        if (found.undetermined_contacts > 0) fprintf(out, "%s\n", told > 20 ? " ..." : "");
    } else if (err.status != ST_OK) {
        fprintf(out, "it is not known which impulses are determined: %s\n", err.message);
    }
    free(determined);
}

void print_solved(FILE *out, const SolvedFile *solved, const SolveOptions *o)
{
    char titles[160];
    Fold fold;
    print_head(out, solved, o);
    snprintf(titles, sizeof titles, "%-8s %-14s %9s %9s %10s %10s %9s %9s %9s", "solver", "status", "error",
             "error_rho", "iterations", "time", solved->friction != NULL ? "cone [Ns]" : "z<0",
             solved->friction != NULL ? "r.u^ [J]" : "z.w", "by");
    fold_titles(&fold, out, titles);
    for (int k = 0; k < solved->n_results; k++)
        print_result(&fold, solved, &solved->results[k]);
    if (o->determine && solved->friction != NULL) print_determined(out, solved);
}

static void put_result(Json *json, const SolveResult *r)
{
    put_open_flat_object(json, NULL);
    put_text(json, "solver", r->solver);
    put_text(json, "status", solve_status_name(r->status));
    put_number(json, "error", r->error);
    put_number(json, "error_rho", r->error_rho);
    put_number(json, "equality", r->equality);
    put_number(json, "certified", r->certified);
    put_integer(json, "iterations", r->iterations);
    put_number(json, "seconds", r->seconds);
    put_number(json, "cone_violation", r->violation);
    put_number(json, "complementarity", r->complementarity);
    put_text(json, "answered_by", r->answered != NULL ? r->answered : r->solver);
    if (r->worst >= 0) put_integer(json, "worst_contact", r->worst);
    if (r->message[0] != '\0') put_text(json, "message", r->message);
    put_close_object(json);
}

static void put_determined(Json *json, const SolvedFile *solved)
{
    const SolveResult *best = best_result(solved);
    const int n = solved->file->n;
    st_Determined found = {0};
    bool *determined = calloc((size_t)n + 1, sizeof *determined);
    double *least = calloc((size_t)n + 1, sizeof *least);
    if (best != NULL && determined != NULL && least != NULL &&
        st_friction_determined(solved->friction, best->r, NULL, 0.0, determined, least, &found, NULL) == ST_OK) {
        put_open_object(json, "determined");
        put_integer(json, "active_directions", found.active_rows);
        put_integer(json, "rank", found.rank);
        put_open_array(json, "components");
        for (int k = 0; k < n; k++)
            put_boolean(json, NULL, determined[k]);
        put_close_array(json);
        put_numbers(json, "least_norm", least, n);
        put_close_object(json);
    }
    free(least);
    free(determined);
}

void put_solved(struct Json *json, const char *key, const SolvedFile *solved, const SolveOptions *o)
{
    put_open_object(json, key);
    put_text(json, "problem", solved->path);
    if (solved->n_results == 0 && solved->message[0] != '\0') {
        put_text(json, "message", solved->message);
        put_open_array(json, "results");
        put_close_array(json);
        put_close_object(json);
        return;
    }
    put_text(json, "kind", solved->file->kind);
    put_integer(json, "contacts", contacts_of(solved));
    put_number(json, "tolerance", o->tolerance);
    put_number(json, "time_limit", o->time_limit);
    put_open_array(json, "results");
    for (int k = 0; k < solved->n_results; k++)
        put_result(json, &solved->results[k]);
    put_close_array(json);
    if (o->determine && solved->friction != NULL) put_determined(json, solved);
    put_close_object(json);
}
