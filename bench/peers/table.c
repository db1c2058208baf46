/* bench/peers/table.c -- converts rows of run-ENGINE --csv to one Markdown table, and to curves of accuracy over time.
 *
 *     table ROWS.csv > results.md             the first row of each scene and engine, and the first tuned one
 *     table ROWS.csv --curve SCENE > x.svg    all rows of the scene, one line per engine
 */
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The columns of run-ENGINE --header. */
enum {
    SCENE,
    ENGINE,
    VERSION,
    TUNED,
    SETTINGS,
    FINISHED,
    STEPS,
    TOTAL,
    MEAN_MS,
    END_MS,
    FIRST_MS,
    WORST_MS,
    SPREAD,
    SETTLED,
    IMPACT,
    MEAN_DEPTH,
    DRIFT,
    JOINT,
    ENERGY,
    KINETIC,
    GAIN,
    FIGURE,
    CONTACTS,
    TOUCHING,
    MEMORY,
    STAGES,
    MESSAGE,
    N_COLUMNS
};

enum { MOST_ROWS = 1000, LINE = 1200 };

typedef struct Row {
    char text[LINE];
    char *column[N_COLUMNS];
} Row;

/* ---- in --------------------------------------------------------------------------------------- */

/* Fields end at commas; a quoted one holds no quotes. */
static bool split(Row *row)
{
    char *at = row->text;
    for (int k = 0; k < N_COLUMNS; k++) {
        char stop = *at == '"' ? '"' : ',';
        if (stop == '"') at++;
        row->column[k] = at;
        at += strcspn(at, stop == '"' ? "\"" : ",\n");
        if (*at == '\0') return k == N_COLUMNS - 1;
        *at++ = '\0';
        if (stop == '"' && *at == ',') at++;
    }
    return true;
}

static Row *read_rows(const char *path, int *n)
{
    FILE *file = fopen(path, "r");
    Row *rows = calloc(MOST_ROWS, sizeof *rows);
    *n = 0;
    while (file != NULL && rows != NULL && *n < MOST_ROWS && fgets(rows[*n].text, LINE, file) != NULL)
        if (split(&rows[*n]) && strcmp(rows[*n].column[SCENE], "scene") != 0) ++*n;
    if (file == NULL)
        perror(path);
    else
        fclose(file);
    return rows;
}

static double number(const Row *row, int column)
{
    return strtod(row->column[column], NULL);
}

static bool same(const Row *a, const Row *b, int column)
{
    return strcmp(a->column[column], b->column[column]) == 0;
}

static bool finished(const Row *row)
{
    return number(row, FINISHED) == 1;
}

/* ---- Markdown --------------------------------------------------------------------------------- */

static const char *measure_of(const Row *row, bool *exists)
{
    static const char *const names[] = {"",   "drift, m",        "creep, m",        "error of speed",
                                        "mu", "error of energy", "error of stretch"};
    Scene *scene = scene_create(row->column[SCENE]);
    Measure measure = scene != NULL ? scene->measure : MEASURE_NONE;
    scene_destroy(scene);
    *exists = measure != MEASURE_NONE;
    return names[measure];
}

/* Numbers from 1e-3 to 1e4 in plain notation, others with an exponent; nothing for missing ones. */
static void print_number(double x, const char *unit)
{
    if (x == 0)
        printf(" - |");
    else if (fabs(x) >= 1e-3 && fabs(x) < 1e4)
        printf(" %.3g%s |", x, unit);
    else
        printf(" %.1e%s |", x, unit);
}

static void print_row(const Row *row, bool first, double yardstick)
{
    bool exists;
    const char *measure = measure_of(row, &exists);
    printf("| %s | %s%s |", first ? row->column[SCENE] : "", row->column[ENGINE],
           number(row, TUNED) == 1 ? ", tuned" : "");
    if (!finished(row) && number(row, STEPS) > 0 && number(row, MEAN_MS) > 0) {
        printf(" %s | %.3g ||||||||||||||| %s |\n", row->column[MESSAGE], number(row, MEAN_MS), row->column[SETTINGS]);
        return;
    }
    if (!finished(row)) {
        printf(" %s |||||||||||||||| %s |\n", row->column[MESSAGE], row->column[SETTINGS]);
        return;
    }
    printf(" %.3g (+%.0f %%) |", number(row, TOTAL), 100 * number(row, SPREAD));
    print_number(number(row, MEAN_MS), "");
    print_number(number(row, END_MS), "");
    print_number(number(row, FIRST_MS), "");
    print_number(number(row, WORST_MS), "");
    print_number(yardstick > 0 ? number(row, MEAN_MS) / yardstick : 0, "");
    for (int column = SETTLED; column <= MEAN_DEPTH; column++)
        print_number(100 * number(row, column), "");
    if (exists && number(row, FIGURE) == 0)
        printf(" 0 (%s) |", measure);
    else if (exists && strcmp(measure, "mu") == 0)
        printf(" %s (mu) |", row->column[FIGURE]);
    else if (exists)
        printf(" %.2g (%s) |", number(row, FIGURE), measure);
    else
        printf(" |");
    print_number(number(row, JOINT), "");
    print_number(number(row, ENERGY), "");
    print_number(number(row, KINETIC), "");
    print_number(number(row, GAIN), "");
    printf(" %s | %.0f | %s |\n", row->column[CONTACTS], number(row, MEMORY), row->column[SETTINGS]);
}

static void print_table(const Row *rows, int n)
{
    printf("| scene | engine | total s | ms per step | at the end | first | slowest | x ODE | settled %% | impact %% | "
           "mean %% | "
           "exact is | "
           "joints | energy | kinetic, M g d | gain, M g d | contacts | MB | settings |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < n; k++) {
        bool first = true, repeated = false;
        double yardstick = 0;
        for (int i = 0; i < n; i++) {
            if (!same(&rows[i], &rows[k], SCENE)) continue;
            if (i < k) first = false;
            if (i < k && same(&rows[i], &rows[k], ENGINE) && same(&rows[i], &rows[k], TUNED)) repeated = true;
            if (yardstick == 0 && finished(&rows[i]) && strcmp(rows[i].column[ENGINE], "ode") == 0)
                yardstick = number(&rows[i], MEAN_MS);
        }
        if (!repeated) print_row(&rows[k], first, yardstick);
    }
}

/* The shares of the stages of a step, from the first row of a scene that has them. */
static void print_stages(const Row *rows, int n)
{
    printf("\n| scene | engine | shares of a step |\n|---|---|---|\n");
    for (int k = 0; k < n; k++) {
        bool said = rows[k].column[STAGES][0] == '\0';
        for (int i = 0; i < k && !said; i++)
            said = same(&rows[i], &rows[k], SCENE) && same(&rows[i], &rows[k], ENGINE);
        if (!said) printf("| %s | %s | %s |\n", rows[k].column[SCENE], rows[k].column[ENGINE], rows[k].column[STAGES]);
    }
}

static void print_versions(const Row *rows, int n)
{
    const char *separator = "Versions: ";
    for (int k = 0; k < n; k++) {
        bool said = false;
        for (int i = 0; i < k && !said; i++)
            said = same(&rows[i], &rows[k], ENGINE);
        if (!said) printf("%s%s %s", separator, rows[k].column[ENGINE], rows[k].column[VERSION]), separator = ", ";
    }
    printf(".\n\n");
}

/* ---- curves ----------------------------------------------------------------------------------- */

typedef struct Axis {
    double low, high; /* powers of ten */
    double from, to;  /* pixels */
} Axis;

static double place(const Axis *axis, double x)
{
    return axis->from + (axis->to - axis->from) * (log10(x) - axis->low) / (axis->high - axis->low);
}

static void widen(Axis *axis, double x)
{
    if (!(x > 0)) return;
    axis->low = fmin(axis->low, floor(log10(x)));
    axis->high = fmax(axis->high, ceil(log10(x)));
}

static const char *colour(const char *engine)
{
    static const char *const colours[][2] = {{"stiction", "#c0392b"}, {"ode", "#2c3e50"},     {"bullet", "#2980b9"},
                                             {"mujoco", "#27ae60"},   {"siconos", "#8e44ad"}, {"simbody", "#d68910"},
                                             {"dart", "#7f8c8d"}};
    for (size_t k = 0; k < sizeof colours / sizeof colours[0]; k++)
        if (strcmp(engine, colours[k][0]) == 0) return colours[k][1];
    return "#000000";
}

static void draw_axes(const Axis *x, const Axis *y, const char *title)
{
    printf("<text x='%.0f' y='%.0f' text-anchor='middle'>%s</text>\n", (x->from + x->to) / 2, y->to - 12, title);
    printf("<text x='%.0f' y='%.0f' text-anchor='middle'>ms per step</text>\n", (x->from + x->to) / 2, y->from + 34);
    for (double k = x->low; k <= x->high; k++) {
        double at = place(x, pow(10, k));
        printf("<path d='M%.1f %.1fV%.1f' stroke='#ddd'/>", at, y->from, y->to);
        printf("<text x='%.1f' y='%.1f' text-anchor='middle'>%g</text>\n", at, y->from + 16, pow(10, k));
    }
    for (double k = y->low; k <= y->high; k++) {
        double at = place(y, pow(10, k));
        printf("<path d='M%.1f %.1fH%.1f' stroke='#ddd'/>", x->from, at, x->to);
        printf("<text x='%.1f' y='%.1f' text-anchor='end'>%g</text>\n", x->from - 6, at + 4, pow(10, k));
    }
}

static int by_time(const void *a, const void *b)
{
    double x = number(*(Row *const *)a, MEAN_MS), y = number(*(Row *const *)b, MEAN_MS);
    return (x > y) - (x < y);
}

/* One line per engine through its rows in order of time; one dot per row, with its settings as a tooltip. */
static void draw_lines(Row **rows, int n, int column, double factor, const Axis *x, const Axis *y)
{
    for (int k = 0; k < n; k++) {
        const char *engine = rows[k]->column[ENGINE];
        bool done = false, begun = false;
        for (int i = 0; i < k && !done; i++)
            done = same(rows[i], rows[k], ENGINE);
        if (done) continue;
        printf("<path fill='none' stroke='%s' stroke-width='2' d='", colour(engine));
        for (int i = k; i < n; i++) {
            double value = factor * number(rows[i], column);
            if (strcmp(rows[i]->column[ENGINE], engine) != 0 || !(value > 0)) continue;
            printf("%c%.1f %.1f", begun ? 'L' : 'M', place(x, number(rows[i], MEAN_MS)), place(y, value));
            begun = true;
        }
        printf("'/>\n");
        for (int i = k; i < n; i++) {
            double value = factor * number(rows[i], column);
            if (strcmp(rows[i]->column[ENGINE], engine) != 0 || !(value > 0)) continue;
            printf("<circle cx='%.1f' cy='%.1f' r='3.5' fill='%s'><title>%s %s: %.3g</title></circle>\n",
                   place(x, number(rows[i], MEAN_MS)), place(y, value), colour(engine), engine,
                   rows[i]->column[SETTINGS], value);
        }
    }
}

static void draw_legend(Row **rows, int n, double left, double y)
{
    for (int k = 0; k < n; k++) {
        bool done = false;
        for (int i = 0; i < k && !done; i++)
            done = same(rows[i], rows[k], ENGINE);
        if (done) continue;
        printf("<path d='M%.0f %.0fh20' stroke='%s' stroke-width='3'/>", left, y, colour(rows[k]->column[ENGINE]));
        printf("<text x='%.0f' y='%.0f'>%s</text>\n", left + 26, y + 4, rows[k]->column[ENGINE]);
        left += 110;
    }
}

static void draw_curve(Row *rows, int n, const char *scene)
{
    static const struct {
        int column;
        double factor;
        const char *title;
    } panels[] = {{SETTLED, 100, "penetration, settled [%]"},
                  {IMPACT, 100, "penetration, worst [%]"},
                  {DRIFT, 1000, "drift [mm]"}};
    Row *chosen[MOST_ROWS] = {0};
    int m = 0;
    bool drifts = false;
    Axis x = {INFINITY, -INFINITY, 0, 0};
    for (int k = 0; k < n; k++) {
        if (strcmp(rows[k].column[SCENE], scene) != 0 || !finished(&rows[k])) continue;
        chosen[m++] = &rows[k];
        drifts = drifts || number(&rows[k], DRIFT) > 0;
        widen(&x, number(&rows[k], MEAN_MS));
    }
    qsort(chosen, (size_t)m, sizeof(Row *), by_time);
    int first = drifts ? 2 : 0, last = drifts ? 2 : 1;
    printf("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='400' font-family='sans-serif' font-size='13'>\n"
           "<rect width='100%%' height='100%%' fill='white'/>\n<text x='70' y='24' font-size='16'>%s</text>\n",
           drifts ? 700 : 900, scene);
    for (int p = first; p <= last; p++) {
        Axis y = {INFINITY, -INFINITY, 310, 80};
        x.from = 80 + (p - first) * 440.0;
        x.to = x.from + (drifts ? 580 : 360);
        for (int k = 0; k < m; k++)
            widen(&y, panels[p].factor * number(chosen[k], panels[p].column));
        if (!(y.low < y.high)) y.high = y.low + 1;
        draw_axes(&x, &y, panels[p].title);
        draw_lines(chosen, m, panels[p].column, panels[p].factor, &x, &y);
    }
    draw_legend(chosen, m, 80, 375);
    printf("</svg>\n");
}

int main(int argc, char **argv)
{
    int n = 0;
    if (argc != 2 && !(argc == 4 && strcmp(argv[2], "--curve") == 0)) {
        fprintf(stderr, "table ROWS.csv [--curve SCENE]\n");
        return 1;
    }
    Row *rows = read_rows(argv[1], &n);
    if (argc == 4) {
        draw_curve(rows, n, argv[3]);
    } else {
        print_versions(rows, n);
        print_table(rows, n);
        print_stages(rows, n);
    }
    free(rows);
    return n == 0;
}
