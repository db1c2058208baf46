/* The runs of a parameter study.
 *
 *   grid     every combination of the values; the last parameter varies fastest
 *   random   each value drawn independently, uniform in its range or in its logarithm
 *   latin    Latin hypercube (McKay, Beckman & Conover 1979): the range of each parameter is divided into as many parts
 * as there are runs, and each part has one run a file   one run for each line of a CSV file with paths as titles
 */
#include "design.h"

#include "json.h"
#include "outputs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)1 << 28) /* bytes of a CSV file */

typedef enum Sample { SAMPLE_GRID, SAMPLE_RANDOM, SAMPLE_LATIN } Sample;
static const char *const sample_names[] = {"grid", "random", "latin"};

/* The values of one parameter: a list of texts, or a range. */
typedef struct Values {
    char *text; /* a copy of PATH=VALUES into which path and items point */
    char *path;
    char **item; /* NULL: a range */
    int n;       /* items, or points of the range; 0: none given */
    double lo, hi;
    bool log; /* equal steps of the logarithm */
} Values;

static int no_memory(void)
{
    return complain(STATUS_FAILED, "out of memory");
}

/* splitmix64 (Steele, Lea & Flood 2014): the same numbers on every machine. */
static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

char **split_at_commas(char *text, int *count)
{
    int n = 1, depth = 0;
    bool quoted = false;
    char **item = malloc((strlen(text) + 1) * sizeof *item);
    if (item == NULL) return NULL;
    item[0] = text;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '"') quoted = !quoted;
        if (quoted) continue;
        depth += (*c == '[' || *c == '{') - (*c == ']' || *c == '}');
        if (*c == ',' && depth <= 0) {
            *c = '\0';
            item[n++] = c + 1;
        }
    }
    *count = n;
    return item;
}

/* LO:HI, LO:HI:N, and either with :log. False: not a range. */
static bool read_range(const char *text, Values *v, const char **wrong)
{
    char *end = NULL;
    *wrong = NULL;
    v->lo = strtod(text, &end);
    if (end == text || *end != ':') return false;
    const char *second = end + 1;
    v->hi = strtod(second, &end);
    if (end == second) return false;
    if (*end == ':' && end[1] >= '0' && end[1] <= '9') {
        const long n = strtol(end + 1, &end, 10);
        if (n < 1 || n > MOST_SWEPT_RUNS) *wrong = "its number of values must be 1 to 1000000";
        v->n = n < 1 || n > MOST_SWEPT_RUNS ? 1 : (int)n;
    }
    if (strcmp(end, ":log") == 0)
        v->log = true;
    else if (*end != '\0')
        return false;
    if (!isfinite(v->lo) || !isfinite(v->hi))
        *wrong = "its ends must be finite";
    else if (v->log && !(v->lo > 0 && v->hi > 0))
        *wrong = "both ends of a logarithmic range must be > 0";
    return true;
}

/* -1: continue. */
static int read_values(const char *word, Sample sample, Values *v)
{
    const char *equals = strchr(word, '='), *wrong = NULL;
    if (equals == NULL || equals == word || equals[1] == '\0')
        return complain(STATUS_INPUT, "sweep: --vary %s: must be PATH=VALUE,VALUE,... or PATH=LOW:HIGH:COUNT", word);
    v->text = strdup(word);
    if (v->text == NULL) return no_memory();
    v->path = v->text;
    v->text[equals - word] = '\0';
    char *values = v->text + (equals - word) + 1;
    if (read_range(values, v, &wrong)) {
        if (wrong != NULL) return complain(STATUS_INPUT, "sweep: --vary %s: %s", word, wrong);
        if (sample == SAMPLE_GRID && v->n == 0)
            return complain(STATUS_INPUT, "sweep: --vary %s: a grid needs the number of values, %s=%s:COUNT", word,
                            v->path, values);
        if (sample != SAMPLE_GRID && v->n != 0)
            return complain(STATUS_INPUT, "sweep: --vary %s: --runs gives the number of runs; write LOW:HIGH here",
                            word);
        return -1;
    }
    v->item = split_at_commas(values, &v->n);
    if (v->item == NULL) return no_memory();
    for (int k = 0; k < v->n; k++)
        if (v->item[k][0] == '\0') return complain(STATUS_INPUT, "sweep: --vary %s: value %d is empty", word, k + 1);
    return -1;
}

/* The value at u in [0, 1] of its range; malloc'd. */
static char *value_at(const Values *v, double u)
{
    char text[NUMBER_TEXT];
    if (v->item != NULL) return strdup(v->item[(int)fmin(u * v->n, v->n - 1)]);
    double x = v->log ? v->lo * pow(v->hi / v->lo, u) : v->lo + u * (v->hi - v->lo);
    if (u >= 1) x = v->hi;                   /* not rounded past its end */
    snprintf(text, sizeof text, "%.12g", x); /* 0.0055, not 0.0055000000000000005 */
    return strdup(text);
}

static bool make_room(Design *d, int n_parameters, int n_runs)
{
    d->n_parameters = n_parameters, d->n_runs = n_runs;
    d->path = calloc((size_t)n_parameters + 1, sizeof *d->path);
    d->value = calloc((size_t)n_runs * (size_t)n_parameters + 1, sizeof *d->value);
    return d->path != NULL && d->value != NULL;
}

static bool fill_grid(const Values *v, Design *d)
{
    for (int run = 0; run < d->n_runs; run++) {
        int rest = run;
        for (int p = d->n_parameters - 1; p >= 0; p--) {
            const int n = v[p].n > 0 ? v[p].n : 1, k = rest % n;
            rest /= n;
            char **to = &d->value[(size_t)run * (size_t)d->n_parameters + (size_t)p];
            *to = v[p].item != NULL ? strdup(v[p].item[k]) : value_at(&v[p], n > 1 ? (double)k / (n - 1) : 0);
            if (*to == NULL) return false;
        }
    }
    return true;
}

/* Random values, or one run in each of n_runs equal parts of every range. */
static bool fill_drawn(const Values *v, bool latin, uint64_t seed, Design *d)
{
    int *part = malloc((size_t)d->n_runs * sizeof *part);
    for (int p = 0; part != NULL && p < d->n_parameters; p++) {
        for (int run = 0; run < d->n_runs; run++)
            part[run] = run;
        for (int run = d->n_runs - 1; latin && run > 0; run--) { /* shuffle */
            const int other = (int)(uniform(&seed) * (run + 1)), kept = part[run];
            part[run] = part[other], part[other] = kept;
        }
        for (int run = 0; run < d->n_runs; run++) {
            const double u = uniform(&seed);
            char **to = &d->value[(size_t)run * (size_t)d->n_parameters + (size_t)p];
            *to = value_at(&v[p], latin ? (part[run] + u) / d->n_runs : u);
            if (*to == NULL) {
                free(part);
                return false;
            }
        }
    }
    free(part);
    return part != NULL;
}

/* ---- CSV, RFC 4180 ----------------------------------------------------------------------------- */

/* The next field, unquoted in place; *at moves past it and its comma. *last: it ends its line. False: a quote is not
 * closed. */
static bool next_field(char **at, char **field, bool *last, int *line)
{
    char *from = *at, *to = from;
    *field = from;
    if (*from == '"') {
        for (from++; !(from[0] == '"' && from[1] != '"'); from++) {
            if (*from == '\0') return false;
            if (*from == '\n') ++*line;
            if (*from == '"') from++; /* two quotes mean one */
            *to++ = *from;
        }
        from++;
    }
    while (*from != ',' && *from != '\n' && *from != '\0')
        *to++ = *from++;
    if (to > *field && to[-1] == '\r' && *from != ',') to--;
    *last = *from != ',';
    *line += *from == '\n';
    *at = *from != '\0' ? from + 1 : from;
    *to = '\0';
    return true;
}

static int read_table(const char *file, char *text, size_t size, Design *d)
{
    int n = 0, line = 1, lines = 0;
    bool last = false;
    char *at = text, *field = NULL;
    if (strlen(text) != size) return complain(STATUS_INPUT, "%s: is not a text file: it contains a zero byte", file);
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0) at += 3; /* the mark some programs put before UTF-8 */
    for (size_t k = 0; k < size; k++)
        lines += text[k] == '\n';
    int columns = 1;
    for (const char *c = at; *c != '\0' && *c != '\n'; c++)
        columns += *c == ',';
    if (lines > MOST_SWEPT_RUNS) return complain(STATUS_INPUT, "%s: has more than %d lines", file, MOST_SWEPT_RUNS);
    if (!make_room(d, columns, lines + 1)) return no_memory();
    for (d->n_parameters = 0; !last; d->n_parameters++) {
        if (!next_field(&at, &field, &last, &line)) return complain(STATUS_INPUT, "%s:1: a quote is not closed", file);
        if (field[0] == '\0')
            return complain(STATUS_INPUT, "%s:1: title %d is empty, must be a path of the scene", file,
                            d->n_parameters + 1);
        d->path[d->n_parameters] = strdup(field);
        if (d->path[d->n_parameters] == NULL) return no_memory();
    }
    d->n_runs = 0;
    while (*at != '\0') {
        const int start = line;
        if (*at == '\n' || (at[0] == '\r' && at[1] == '\n')) { /* an empty line */
            at += *at == '\r' ? 2 : 1, line++;
            continue;
        }
        d->n_runs++;
        for (last = false, n = 0; !last; n++) {
            if (!next_field(&at, &field, &last, &line))
                return complain(STATUS_INPUT, "%s:%d: a quote is not closed", file, start);
            if (n >= d->n_parameters) continue;
            if (field[0] == '\0')
                return complain(STATUS_INPUT, "%s:%d: the value of %s is empty", file, start, d->path[n]);
            char **to = &d->value[(size_t)(d->n_runs - 1) * (size_t)d->n_parameters + (size_t)n];
            *to = strdup(field);
            if (*to == NULL) return no_memory();
        }
        if (n != d->n_parameters)
            return complain(STATUS_INPUT, "%s:%d: has %d values, must have %d, one for each title", file, start, n,
                            d->n_parameters);
    }
    return d->n_runs > 0 ? -1 : complain(STATUS_INPUT, "%s: has no line of values below its titles", file);
}

/* ---- the whole --------------------------------------------------------------------------------- */

static int from_file(const DesignOptions *o, Design *d)
{
    size_t size = 0;
    if (o->vary.count > 0 || o->sample != NULL || o->runs > 0 || o->seed > 0)
        return complain(STATUS_INPUT,
                        "sweep: --values defines all runs; --vary, --sample, --runs and --seed cannot be used with it");
    char *text = read_whole(o->values, LARGEST_FILE, &size);
    if (text == NULL) return complain(STATUS_INPUT, "%s: cannot be read: %s", o->values, strerror(errno));
    const int status = read_table(o->values, text, size, d);
    free(text);
    return status;
}

static int from_values(const DesignOptions *o, Sample sample, Values *v, Design *d)
{
    double runs = 1;
    for (int p = 0; p < o->vary.count; p++) {
        const int status = read_values(o->vary.item[p], sample, &v[p]);
        if (status >= 0) return status;
        for (int q = 0; q < p; q++)
            if (v[p].path != NULL && v[q].path != NULL && strcmp(v[p].path, v[q].path) == 0)
                return complain(STATUS_INPUT, "sweep: --vary %s is given twice", v[p].path);
        runs *= v[p].n;
    }
    if (sample != SAMPLE_GRID) runs = (double)o->runs;
    if (runs > MOST_SWEPT_RUNS)
        return complain(STATUS_INPUT, "sweep: %.0f runs, must be at most %d", runs, MOST_SWEPT_RUNS);
    if (!make_room(d, o->vary.count, (int)runs)) return no_memory();
    for (int p = 0; p < o->vary.count; p++) {
        d->path[p] = v[p].path != NULL ? strdup(v[p].path) : NULL;
        if (d->path[p] == NULL) return no_memory();
    }
    const uint64_t seed = o->seed > 0 ? (uint64_t)o->seed : 1;
    const bool ok = sample == SAMPLE_GRID ? fill_grid(v, d) : fill_drawn(v, sample == SAMPLE_LATIN, seed, d);
    return ok ? -1 : no_memory();
}

int make_design(const DesignOptions *o, Design *d)
{
    *d = (Design){0};
    int sample = SAMPLE_GRID;
    if (o->values != NULL) return from_file(o, d);
    if (o->vary.count == 0)
        return complain(STATUS_INPUT, "sweep: nothing varies: --vary PATH=VALUES or --values FILE.csv is missing");
    if (o->sample != NULL) {
        while (sample <= SAMPLE_LATIN && strcmp(o->sample, sample_names[sample]) != 0)
            sample++;
        if (sample > SAMPLE_LATIN)
            return complain(STATUS_INPUT, "sweep: --sample is \"%s\", must be grid, random or latin", o->sample);
    }
    if (sample == SAMPLE_GRID && (o->runs > 0 || o->seed > 0))
        return complain(STATUS_INPUT, "sweep: --runs and --seed are for --sample random or latin; a grid has as many "
                                      "runs as there are combinations");
    if (sample != SAMPLE_GRID && o->runs == 0)
        return complain(STATUS_INPUT, "sweep: --sample %s needs --runs N", o->sample);
    Values *v = calloc((size_t)o->vary.count, sizeof *v);
    const int status = v != NULL ? from_values(o, (Sample)sample, v, d) : no_memory();
    for (int p = 0; v != NULL && p < o->vary.count; p++) {
        free(v[p].text);
        free((void *)v[p].item);
    }
    free(v);
    return status;
}

void free_design(Design *d)
{
    for (int p = 0; d->path != NULL && p < d->n_parameters; p++)
        free(d->path[p]);
    for (size_t k = 0; d->value != NULL && k < (size_t)d->n_runs * (size_t)d->n_parameters; k++)
        free(d->value[k]);
    free((void *)d->path);
    free((void *)d->value);
    *d = (Design){0};
}
