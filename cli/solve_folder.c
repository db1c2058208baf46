/* Solves all problem files of a folder, and compares the solvers: how many each solves, and how fast. */
#include "drawing.h"
#include "json.h"
#include "solve.h"
#include "terminal.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DEEPEST   8
#define PATH_MOST 4096

typedef struct Paths {
    char **item;
    int count, capacity;
} Paths;

static const double factors[] = {1, 2, 5, 10, 100, 1000};
enum { N_FACTORS = sizeof factors / sizeof factors[0] };

/* ------------------------------------------------------------------ finding the files */

static bool is_problem_name(const char *name)
{
    static const char *const ends[] = {".hdf5", ".h5", ".hdf"};
    const size_t length = strlen(name);
    for (int k = 0; k < 3; k++) {
        const size_t n = strlen(ends[k]);
        if (length > n && strcmp(name + length - n, ends[k]) == 0) return true;
    }
    return false;
}

static bool add_path(Paths *paths, const char *path)
{
    if (paths->count == paths->capacity) {
        const int capacity = paths->capacity > 0 ? 2 * paths->capacity : 64;
        char **grown = realloc(paths->item, (size_t)capacity * sizeof *grown);
        if (grown == NULL) return false;
        paths->item = grown;
        paths->capacity = capacity;
    }
    paths->item[paths->count] = strdup(path);
    return paths->item[paths->count++] != NULL;
}

static bool collect(const char *folder, int depth, Paths *paths)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry = NULL;
    bool ok = true;
    if (directory == NULL) return true; /* not readable: skip it */
    while (ok && (entry = readdir(directory)) != NULL) {
        char path[PATH_MOST];
        struct stat info;
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path || stat(path, &info) != 0)
            continue;
        if (S_ISDIR(info.st_mode) && depth < DEEPEST)
            ok = collect(path, depth + 1, paths);
        else if (S_ISREG(info.st_mode) && is_problem_name(entry->d_name))
            ok = add_path(paths, path);
    }
    closedir(directory);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* ------------------------------------------------------------------ profiles */

/* The result for one file: its kind, and for each solver the seconds, or -1 if it did not solve it. */
typedef struct Record {
    const char *kind; /* static */
    double *seconds;  /* st_solver_count(); NAN: not tried */
    bool impossible;  /* proved to have no solution */
} Record;

static const char *const kinds[] = {"fc3d",   "gfc3d", "fc2d",   "gfc2d", "rfc3d",
                                    "grfc3d", "sfc3d", "gsfc3d", "lcp",   "mlcp"};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static bool record_of(const SolvedFile *solved, Record *record)
{
    record->seconds = malloc((size_t)st_solver_count() * sizeof *record->seconds);
    if (record->seconds == NULL) return false;
    for (int k = 0; k < N_KINDS; k++)
        if (strcmp(solved->file->kind, kinds[k]) == 0) record->kind = kinds[k];
    for (int s = 0; s < st_solver_count(); s++) {
        record->seconds[s] = NAN;
        for (int k = 0; k < solved->n_results; k++) {
            const SolveResult *r = &solved->results[k];
            if (strcmp(r->solver, st_solver_name(s)) != 0) continue;
            record->seconds[s] = r->status == SOLVED ? r->seconds : -1;
            if (r->status == NO_SOLUTION) record->impossible = true;
        }
    }
    return true;
}

static double best_of(const Record *record)
{
    double best = HUGE_VAL;
    for (int s = 0; s < st_solver_count(); s++)
        if (record->seconds[s] >= 0 && record->seconds[s] < best) best = record->seconds[s];
    return best;
}

/* The number of problems of the kind (NULL: all) that solver s solved within the factor; *n_problems is their total.
 * Problems proved to have no solution do not count. */
static int count_within(const Record *records, int n, const char *kind, int s, double factor, int *n_problems)
{
    int count = 0;
    *n_problems = 0;
    for (int k = 0; k < n; k++) {
        if ((kind != NULL && records[k].kind != kind) || records[k].impossible) continue;
        (*n_problems)++;
        const double best = best_of(&records[k]), t = records[k].seconds[s];
        if (t >= 0 && (t <= factor * best || best <= 0)) count++;
    }
    return count;
}

static bool was_tried(const Record *records, int n, const char *kind, int s)
{
    for (int k = 0; k < n; k++)
        if ((kind == NULL || records[k].kind == kind) && !isnan(records[k].seconds[s])) return true;
    return false;
}

static void print_profile(const Record *records, int n, const char *kind)
{
    int n_problems = 0;
    count_within(records, n, kind, 0, 1, &n_problems);
    if (n_problems == 0) return;
    char title[160];
    snprintf(title, sizeof title, "%s, %d problem%s: share solved within a factor of the best time",
             kind != NULL ? kind : "all kinds", n_problems, plural(n_problems));
    putchar('\n');
    print_wrapped(stdout, title, 0);
    Fold fold;
    snprintf(title, sizeof title, "%-8s %7s", "solver", "solved");
    for (int f = 0; f < N_FACTORS; f++)
        add_text(title, sizeof title, " %6gx", factors[f]);
    fold_titles(&fold, stdout, title);
    for (int s = 0; s < st_solver_count(); s++) {
        if (!was_tried(records, n, kind, s)) continue;
        const int solved = count_within(records, n, kind, s, HUGE_VAL, &n_problems);
        char row[160], count[32];
        snprintf(count, sizeof count, "%d/%d", solved, n_problems);
        snprintf(row, sizeof row, "%-8s %7s", st_solver_name(s), count);
        for (int f = 0; f < N_FACTORS; f++)
            add_text(row, sizeof row, " %6.0f%%",
                     100.0 * count_within(records, n, kind, s, factors[f], &n_problems) / n_problems);
        fold_row(&fold, row);
    }
}

static void put_profiles(Json *json, const Record *records, int n)
{
    put_open_array(json, "profiles");
    for (int k = -1; k < N_KINDS; k++) {
        const char *kind = k >= 0 ? kinds[k] : NULL;
        for (int s = 0; s < st_solver_count(); s++) {
            int n_problems = 0;
            const int solved = count_within(records, n, kind, s, HUGE_VAL, &n_problems);
            if (n_problems == 0 || !was_tried(records, n, kind, s)) continue;
            double shares[N_FACTORS];
            for (int f = 0; f < N_FACTORS; f++)
                shares[f] = (double)count_within(records, n, kind, s, factors[f], &n_problems) / n_problems;
            put_open_flat_object(json, NULL);
            put_text(json, "kind", kind != NULL ? kind : "all");
            put_text(json, "solver", st_solver_name(s));
            put_integer(json, "problems", n_problems);
            put_integer(json, "solved", solved);
            put_numbers(json, "factors", factors, N_FACTORS);
            put_numbers(json, "shares", shares, N_FACTORS);
            put_close_object(json);
        }
    }
    put_close_array(json);
}

static bool draw(const char *path, const Record *records, int n, double tolerance)
{
    st_Error err = {0};
    const int n_all = st_solver_count();
    double *seconds = malloc(((size_t)n * (size_t)n_all + 1) * sizeof *seconds);
    const char **names = malloc(((size_t)n_all + 1) * sizeof *names);
    char title[96];
    int n_solvers = 0, n_problems = 0;
    bool ok = seconds != NULL && names != NULL;
    for (int k = 0; k < n && ok; k++)
        n_problems += !records[k].impossible;
    for (int s = 0; s < n_all && ok; s++) {
        if (!was_tried(records, n, NULL, s)) continue;
        int at = 0;
        for (int k = 0; k < n; k++)
            if (!records[k].impossible)
                seconds[n_solvers * n_problems + at++] = isnan(records[k].seconds[s]) ? -1 : records[k].seconds[s];
        names[n_solvers++] = st_solver_name(s);
    }
    snprintf(title, sizeof title, "%d problems, tolerance %g: share solved", n_problems, tolerance);
    ok = ok && n_problems > 0 && n_solvers > 0;
    Drawing drawing;
    const char *svg = ok ? drawing_begin(&drawing, path) : NULL;
    if (svg != NULL) {
        ok = st_profile_write(svg, title, n_solvers, names, n_problems, seconds, &err) == ST_OK;
        ok = drawing_end(&drawing, ok, err.message);
    } else if (!ok) {
        complain(STATUS_FAILED, "nothing to draw");
    }
    free((void *)names);
    free(seconds);
    return ok && svg != NULL;
}

/* ------------------------------------------------------------------ the folder */

static const char *short_name(const char *path, const char *folder)
{
    const size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0) return path;
    return path + length + strspn(path + length, "/");
}

/* The column of names is as wide as the longest name, and on a terminal leaves room for solver and status. */
#define WIDEST_NAME 52
static int name_width(const Paths *paths, const char *folder)
{
    const int columns = terminal_columns(stdout);
    int width = (int)strlen("problem");
    for (int k = 0; k < paths->count; k++) {
        const int length = (int)strlen(short_name(paths->item[k], folder));
        if (length > width) width = length;
    }
    if (width > WIDEST_NAME) width = WIDEST_NAME;
    return columns > 0 && width > columns / 3 ? columns / 3 : width;
}

static void print_rows(const Fold *fold, const SolvedFile *solved, const char *name, int width)
{
    if ((int)strlen(name) > width) fprintf(fold->out, "%s\n", name);
    for (int k = 0; k < solved->n_results; k++) {
        const SolveResult *r = &solved->results[k];
        char text[4500], time[32];
        time_text(r->seconds, time, sizeof time);
        snprintf(text, sizeof text, "%-*.4000s %-8s %-14s", width, k == 0 && (int)strlen(name) <= width ? name : "",
                 r->solver, solve_status_name(r->status));
        if (!isnan(r->error))
            add_text(text, sizeof text, " %9.2e %9.2e %10ld %10s", r->error, r->error_rho, r->iterations, time);
        if (r->answered != NULL) add_text(text, sizeof text, " %9s", r->answered);
        fold_row(fold, text);
    }
    fflush(stdout);
}

typedef struct Tour {
    const char *folder;
    const SolveOptions *options;
    Paths paths;
    Record *records;
    int n_records, unread;
    Json json;
    Fold fold;
    int width; /* of the column of names */
} Tour;

static bool visit(Tour *tour, const char *path)
{
    SolvedFile solved = {0};
    bool ok = true;
    const bool read = solve_file(path, tour->options, &solved);
    if (tour->options->json)
        put_solved(&tour->json, NULL, &solved, tour->options);
    else if (read)
        print_rows(&tour->fold, &solved, short_name(path, tour->folder), tour->width);
    if (!read) {
        complain(STATUS_INPUT, "%s", solved.message);
        tour->unread++;
    } else {
        ok = record_of(&solved, &tour->records[tour->n_records++]);
    }
    solved_file_free(&solved);
    return ok;
}

static void print_profiles(const Tour *tour)
{
    for (int k = 0; k < N_KINDS; k++)
        print_profile(tour->records, tour->n_records, kinds[k]);
    print_profile(tour->records, tour->n_records, NULL);
}

int solve_folder(const char *folder, const SolveOptions *o)
{
    Tour tour = {.folder = folder, .options = o};
    int status = STATUS_OK;
    bool ok = true;
    if (o->plot != NULL && !drawing_possible(o->plot)) return STATUS_INPUT;
    ok = collect(folder, 0, &tour.paths);
    tour.records = calloc((size_t)tour.paths.count + 1, sizeof *tour.records);
    ok = ok && tour.records != NULL;
    if (ok && tour.paths.count == 0) {
        status = complain(STATUS_INPUT, "%s: no problem files (*.hdf5, *.h5, *.hdf) in this folder", folder);
        goto done;
    }
    if (ok) qsort(tour.paths.item, (size_t)tour.paths.count, sizeof *tour.paths.item, by_name);
    if (o->json) {
        put_document(&tour.json, stdout);
        put_open_object(&tour.json, NULL);
        put_text(&tour.json, "folder", folder);
        put_number(&tour.json, "tolerance", o->tolerance);
        put_open_array(&tour.json, "problems");
    } else {
        char titles[160];
        tour.width = name_width(&tour.paths, folder);
        snprintf(titles, sizeof titles, "%-*s %-8s %-14s %9s %9s %10s %10s %9s", tour.width, "problem", "solver",
                 "status", "error", "error_rho", "iterations", "time", "by");
        fold_titles(&tour.fold, stdout, titles);
    }
    for (int k = 0; k < tour.paths.count && ok; k++)
        ok = visit(&tour, tour.paths.item[k]);
    if (o->json) {
        put_close_array(&tour.json);
        put_profiles(&tour.json, tour.records, tour.n_records);
        put_close_object(&tour.json);
        put_document_end(&tour.json);
    } else {
        print_profiles(&tour);
    }
    if (tour.unread > 0) status = STATUS_INPUT;
    if (ok && o->plot != NULL && !draw(o->plot, tour.records, tour.n_records, o->tolerance)) status = STATUS_FAILED;
    if (!ok) status = complain(STATUS_FAILED, "out of memory");
done:
    for (int k = 0; k < tour.n_records; k++)
        free(tour.records[k].seconds);
    for (int k = 0; k < tour.paths.count; k++)
        free(tour.paths.item[k]);
    free(tour.paths.item);
    free(tour.records);
    return status;
}
