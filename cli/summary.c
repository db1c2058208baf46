/* Prints the summary of a run, for people. */
#include "choices.h"
#include "report.h"
#include "terminal.h"

#include <stiction/grains.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BODIES     12 /* in the table of final states; no table for more */
#define MOST_MEASURES   12
#define SHOWN_COLLISONS 8

const char *body_name(const st_Scene *scene, st_BodyId id)
{
    st_BodyDef body;
    if (id.index1 <= 0 || st_scene_body(scene, id, &body) != ST_OK) return "ground";
    return body.name;
}

const char *joint_unit(const st_JointDef *joint, bool speed)
{
    const st_Coordinate of = joint->coordinate;
    const bool moves =
        of == ST_COORDINATE_DISPLACEMENT || of == ST_COORDINATE_DISTANCE ||
        (of == ST_COORDINATE_DEFAULT && (joint->type == ST_JOINT_PRISMATIC || joint->type == ST_JOINT_DISTANCE ||
                                         joint->type == ST_JOINT_POINT_ON_LINE || joint->type == ST_JOINT_FREE));
    if (joint->type == ST_JOINT_TENDON || joint->type == ST_JOINT_GEAR) return speed ? "m/s or rad/s" : "m or rad";
    return moves ? (speed ? "m/s" : "m") : (speed ? "rad/s" : "rad");
}

/* In per cent of all steps. */
static double share_of(const Tally *tally, long long steps)
{
    return tally->steps > 0 ? 100 * (double)steps / (double)tally->steps : 0;
}

/* Numbers below the smallest normal single-precision number are shown as 0. */
static double shown(double x)
{
    return fabs(x) < 1e-37 ? 0 : x;
}

/* A label and a text that may have several lines. */
static void print_row(FILE *out, const char *label, const char *text)
{
    fprintf(out, "  %-22s ", label);
    print_wrapped_at(out, text, 25, 25);
}

PRINTF_LIKE(3, 4) static void print_fact(FILE *out, const char *label, const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_row(out, label, text);
}

/* `where`: at what time, and at which object; printed unless the number is 0. */
PRINTF_LIKE(5, 6)
static void print_worst(FILE *out, const char *label, double worst, const char *unit, const char *where, ...)
{
    char text[1000] = "";
    va_list arguments;
    va_start(arguments, where);
    if (shown(worst) > 0) vsnprintf(text, sizeof text, where, arguments);
    va_end(arguments);
    print_fact(out, label, "%.3g%s%s", shown(worst), unit, text);
}

static void print_counts(FILE *out, const Loaded *loaded, const Tally *tally)
{
    const st_Scene *scene = loaded->scene;
    const double end = loaded->def.end, time = st_system_time(loaded->system);
    const bool finished = tally->outcome == RUN_FINISHED;
    print_fact(out, "run", "%s%s%s at t = %.10g s of %.10g s, %lld step%s", tone(out, finished ? GREEN : RED),
               outcome_name(tally->outcome), tone(out, PLAIN), time, end, tally->steps, plural(tally->steps));
    print_fact(out, "contacts at most", "%d", tally->max_contacts);
    print_worst(out, "worst gap", tally->worst_gap, " m deep", " at t = %.6g s, %.50s-%.50s", tally->worst_gap_time,
                body_name(scene, tally->worst_gap_a), body_name(scene, tally->worst_gap_b));
    if (tally->n_joints > 0) {
        st_JointDef joint = {0};
        const bool known = st_scene_joint(scene, tally->worst_joint, &joint) == ST_OK;
        print_worst(out, "worst joint error", tally->worst_joint_error, " m or rad", " at t = %.6g s, %.80s",
                    tally->worst_joint_error_time, known ? joint.name : "");
    }
    print_worst(out, "worst residual", tally->worst_residual, "", " at t = %.6g s, %s", tally->worst_residual_time,
                tally->worst_island);
    if (shown(tally->worst_joint_residual) > 0)
        print_worst(out, "worst joint residual", tally->worst_joint_residual, " m/s or rad/s", " at t = %.6g s",
                    tally->worst_joint_residual_time);
    /* Piles are swept to a residual above the aim, which is no reason for a warning. */
    const bool sweeps = loaded->def.effort == ST_EFFORT_BALANCED && tally->above_limit == 0;
    if (tally->failures > 0)
        print_fact(out, "solver", "%s%lld step%s not converged%s (%.3g %% of all), %lld fallback%s",
                   tone(out, sweeps ? PLAIN : YELLOW), tally->failures, plural(tally->failures), tone(out, PLAIN),
                   share_of(tally, tally->failures), tally->fallbacks, plural(tally->fallbacks));
    else
        print_fact(out, "solver", "all steps converged, %lld fallback%s", tally->fallbacks, plural(tally->fallbacks));
    if (tally->failures > 0 && loaded->def.effort == ST_EFFORT_BALANCED)
        print_row(out, "",
                  "effort balanced limits the work per step and may leave a part of the residual to the next "
                  "step; set a tolerance to solve every step to it");
    if (tally->repeated > 0)
        print_fact(out, "energy guard", "%lld step%s repeated: the first attempt gained energy without a source",
                   tally->repeated, plural(tally->repeated));
    if (tally->drift_fallbacks > 0)
        print_fact(out, "drift mean", "%lld step%s did not converge and used drift gap for joints",
                   tally->drift_fallbacks, plural(tally->drift_fallbacks));
    if (tally->above_limit > 0)
        print_fact(out, "residual_limit", "%s%lld step%s%s above %.3g: %.3g %%", tone(out, RED), tally->above_limit,
                   plural(tally->above_limit), tone(out, PLAIN), tally->residual_limit,
                   share_of(tally, tally->above_limit));
}

/* The initial state contradicts the initial velocity of a motion or a joint. */
static void print_jump(FILE *out, const st_Scene *scene, const Tally *tally)
{
    st_JointDef joint;
    char text[400];
    if (tally->start_jump <= 0 || st_scene_joint(scene, tally->start_joint, &joint) != ST_OK) return;
    snprintf(text, sizeof text,
             "joint \"%s\" starts with a jump of %.3g %s: the first step includes an impact, and its forces are not "
             "reported",
             joint.name, tally->start_jump, joint_unit(&joint, true));
    print_row(out, "start", text);
}

static void print_initial(FILE *out, const st_System *system)
{
    double position, velocity;
    char text[160];
    st_system_initial_change(system, &position, &velocity);
    if (position <= 0 && velocity <= 0) return;
    snprintf(text, sizeof text, "made consistent: moved by at most %.3g, velocities changed by at most %.3g", position,
             velocity);
    print_row(out, "initial state", text);
}

static void print_collisions(FILE *out, const st_Scene *scene, const Tally *tally)
{
    char text[1200];
    snprintf(text, sizeof text, "%lld", tally->collisions);
    for (int i = 0; i < tally->n_list && i < SHOWN_COLLISONS; i++) {
        const Collision *c = &tally->list[i];
        add_text(text, sizeof text, "%s%.6g s %.50s-%.50s", i == 0 ? ": " : ", ", c->time, body_name(scene, c->a),
                 body_name(scene, c->b));
    }
    if (tally->n_list > SHOWN_COLLISONS) add_text(text, sizeof text, ", ...");
    print_row(out, "collisions", text);
    if (tally->transitions > 0) print_fact(out, "transitions", "%lld (take-off, stick, slip)", tally->transitions);
    if (tally->accumulations > 0) {
        snprintf(text, sizeof text, "in %lld step%s, first at %.6g s: the rest of these steps has no rebounds",
                 tally->accumulations, plural(tally->accumulations), tally->accumulated_time);
        print_row(out, "events accumulated", text);
    }
}

static void print_impacts(FILE *out, const Loaded *loaded, const Tally *tally)
{
    char ignored[200];
    if (restitution_ignored(loaded->scene, &loaded->def, ignored, sizeof ignored)) print_row(out, "impacts", ignored);
    if (tally->struck > 0) {
        char text[200];
        snprintf(text, sizeof text,
                 "%lld contact%s closed in fixed steps, or pinched a body; reported as impulses, not as forces",
                 tally->struck, plural(tally->struck));
        print_row(out, "impacts", text);
    }
    if (tally->impact_gain > 0) print_fact(out, "impacts", "%.3g J added", tally->impact_gain);
    if (tally->limited > 0) {
        char text[120];
        snprintf(text, sizeof text, "restitution was reduced in %lld impact%s that would have added energy",
                 tally->limited, plural(tally->limited));
        print_row(out, "impacts", text);
    }
}

/* A number this small beside the others of its kind is rounding, such as 2.86e-129; the summary prints 0 instead. */
static double without_rounding(double x, double scale)
{
    return fabs(x) < 1e-13 * scale ? 0 : x;
}

static void print_energy(FILE *out, const Tally *tally)
{
    double start = tally->kinetic_start + tally->potential_start, end = tally->kinetic + tally->potential;
    const double scale = fmax(fmax(fabs(tally->potential_start), fabs(tally->potential)),
                              fmax(fmax(tally->kinetic, tally->kinetic_start), fabs(tally->work)));
    char text[160];
    Fold fold;
    snprintf(text, sizeof text, "  %-22s %13s %13s %13s", "energy [J]", "kinetic", "potential", "total");
    fold_titles(&fold, out, text);
    snprintf(text, sizeof text, "  %-22s %13.7g %13.7g %13.7g", "  start",
             without_rounding(tally->kinetic_start, scale), without_rounding(tally->potential_start, scale),
             without_rounding(start, scale));
    fold_row(&fold, text);
    snprintf(text, sizeof text, "  %-22s %13.7g %13.7g %13.7g", "  end", without_rounding(tally->kinetic, scale),
             without_rounding(tally->potential, scale), without_rounding(end, scale));
    fold_row(&fold, text);
    fprintf(out, "  %-22s ", tally->work != 0 ? "  rise less work, 1 step" : "  largest rise, 1 step");
    if (without_rounding(tally->largest_increase, scale) > 0)
        fprintf(out, "%13.3g at t = %.6g s\n", tally->largest_increase, tally->largest_increase_time);
    else
        fprintf(out, "%13s\n", "none");
    const struct {
        const char *label;
        double work;
    } kinds[] = {{"  work of forces, motors", tally->work}, {"  work of friction", tally->friction},
                 {"  work of dampers", tally->damping},     {"  impacts", tally->impacts},
                 {"  drift correction", tally->correction}, {"  integrator", tally->scheme},
                 {"  unexplained", tally->unexplained}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) /* values that round to 0 get no line */
        if (fabs(kinds[k].work) > 1e-9 * scale) fprintf(out, "  %-22s %13.7g\n", kinds[k].label, kinds[k].work);
}

static void print_time(FILE *out, const st_System *system, const Tally *tally)
{
    double part[ST_N_PARTS] = {0}, sum = 0;
    st_system_part_seconds(system, part);
    for (int i = 0; i < ST_N_PARTS; i++)
        sum += part[i];
    char wall[32], cpu[32], step[32];
    time_text(tally->wall, wall, sizeof wall), time_text(tally->cpu, cpu, sizeof cpu);
    time_text(tally->wall / fmax(1, (double)tally->steps), step, sizeof step);
    if (tally->steps > 0)
        print_fact(out, "time", "%s wall, %s CPU, %s per step", wall, cpu, step);
    else
        print_fact(out, "time", "%s wall, %s CPU", wall, cpu);
    for (int i = 0; i < ST_N_PARTS; i++) {
        time_text(part[i], wall, sizeof wall);
        if (part[i] > 0)
            fprintf(out, "    %-20s %10s %5.1f %%\n", st_part_name((st_StepPart)i), wall, 100 * part[i] / sum);
    }
}

/* Columns that no body can change are left out: a planar run shows x, y, an angle and their rates; a run in space
 * shows quaternions and the magnitudes of the velocities (the table and --json have everything). */
static uint32_t free_axes(const st_Scene *scene)
{
    uint32_t axes = 0;
    for (int i = 1; i <= st_scene_body_count(scene); i++) {
        st_BodyDef body;
        if (st_scene_body(scene, (st_BodyId){i}, &body) == ST_OK && !body.fixed) axes |= ~body.locks & ST_LOCK_ALL;
    }
    return axes;
}

/* The single axis, 0 1 2, about which bodies turn; -1: none, or several. */
static int only_turn(uint32_t axes)
{
    uint32_t turns = axes & ST_LOCK_ROTATION;
    return turns == ST_LOCK_RX ? 0 : turns == ST_LOCK_RY ? 1 : turns == ST_LOCK_RZ ? 2 : -1;
}

static void print_titles(Fold *fold, FILE *out, uint32_t axes, int name_width)
{
    static const char *const p[] = {"x", "y", "z"}, *const v[] = {"vx", "vy", "vz"}, *const w[] = {"wx", "wy", "wz"};
    int turn = only_turn(axes);
    bool in_space = turn < 0 && (axes & ST_LOCK_ROTATION) != 0;
    char text[400] = "";
    add_text(text, sizeof text, "  %-*s", name_width, "final state");
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) add_text(text, sizeof text, " %13s", p[k]);
    if (turn >= 0) add_text(text, sizeof text, " %13s", "angle");
    if (in_space) add_text(text, sizeof text, " %9s %9s %9s %9s %11s %11s", "qw", "qx", "qy", "qz", "speed", "spin");
    for (int k = 0; k < 3 && !in_space; k++)
        if (axes & (1u << k)) add_text(text, sizeof text, " %11s", v[k]);
    if (turn >= 0) add_text(text, sizeof text, " %11s", w[turn]);
    fold_titles(fold, out, text);
}

static double length_of(st_Vec3 a)
{
    return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

/* scale: the largest coordinate, velocity and spin of all bodies. */
static void print_body(const Fold *fold, const st_System *system, st_BodyId id, const char *name, uint32_t axes,
                       const double scale[3], int name_width)
{
    st_Pose pose = {0};
    st_Vec3 v = {0}, w = {0};
    char text[400] = "";
    if (st_system_pose(system, id, &pose) != ST_OK || st_system_velocity(system, id, &v, &w) != ST_OK) return;
    double position[] = {pose.p.x, pose.p.y, pose.p.z}, velocity[] = {v.x, v.y, v.z}, spin[] = {w.x, w.y, w.z};
    double q[] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    int turn = only_turn(axes);
    bool in_space = turn < 0 && (axes & ST_LOCK_ROTATION) != 0;
    add_text(text, sizeof text, "  %-*.*s", name_width, name_width, name);
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) add_text(text, sizeof text, " %13.7g", without_rounding(position[k], scale[0]));
    if (in_space)
        add_text(text, sizeof text, " %9.6f %9.6f %9.6f %9.6f %11.4g %11.4g", q[0], q[1], q[2], q[3],
                 without_rounding(length_of(v), scale[1]), without_rounding(length_of(w), scale[2]));
    if (turn >= 0)
        add_text(text, sizeof text, " %13.7g",
                 without_rounding(2 * atan2(q[0] < 0 ? -q[turn + 1] : q[turn + 1], fabs(q[0])), 1));
    for (int k = 0; k < 3 && !in_space; k++)
        if (axes & (1u << k)) add_text(text, sizeof text, " %11.4g", without_rounding(velocity[k], scale[1]));
    if (turn >= 0) add_text(text, sizeof text, " %11.4g", without_rounding(spin[turn], scale[2]));
    fold_row(fold, text);
}

static void print_bodies(FILE *out, const Loaded *loaded)
{
    const int n = st_scene_body_count(loaded->scene);
    int width = (int)strlen("final state");
    uint32_t axes = free_axes(loaded->scene);
    Fold fold;
    if (n > MOST_BODIES) {
        print_fact(out, "final state", "%d bodies: see --json or -o FILE.csv", n);
        return;
    }
    for (int i = 1; i <= n; i++) {
        int length = (int)strlen(body_name(loaded->scene, (st_BodyId){i}));
        if (length > width) width = length;
    }
    if (width > 40) width = 40;
    fputc('\n', out);
    print_titles(&fold, out, axes, width);
    double scale[3] = {0};
    for (int i = 1; i <= n; i++) {
        st_Pose pose = {0};
        st_Vec3 v = {0}, w = {0};
        if (st_system_pose(loaded->system, (st_BodyId){i}, &pose) != ST_OK ||
            st_system_velocity(loaded->system, (st_BodyId){i}, &v, &w) != ST_OK)
            continue;
        scale[0] = fmax(scale[0], length_of(pose.p));
        scale[1] = fmax(scale[1], length_of(v));
        scale[2] = fmax(scale[2], length_of(w));
    }
    for (int i = 1; i <= n; i++)
        print_body(&fold, loaded->system, (st_BodyId){i}, body_name(loaded->scene, (st_BodyId){i}), axes, scale, width);
}

/* Prints the final values of the measures of the scene. */
static void print_measures(FILE *out, const Loaded *loaded)
{
    const int n = st_scene_measure_count(loaded->scene);
    if (n > MOST_MEASURES) print_row(out, "measures", "see --json or -o FILE.csv");
    for (int k = 0; k < n && n <= MOST_MEASURES; k++) {
        double values[ST_MEASURE_VALUES];
        char text[2000] = "";
        st_MeasureDef def;
        const char *name, *unit;
        if (st_scene_measure(loaded->scene, k, &def) != ST_OK) continue;
        if (st_system_measure(loaded->system, k, values, NULL, NULL) != ST_OK) continue;
        for (int i = 0; (name = st_measure_value_name(def.type, i, &unit)) != NULL; i++)
            add_text(text, sizeof text, "%s%s %.5g%s%s", i > 0 ? ", " : "", name, shown(values[i]),
                     unit[0] != '\0' ? " " : "", unit);
        print_row(out, def.name, text);
    }
}

/* Prints pairs of links that overlap at the start, and so do not touch. */
static void print_overlaps(FILE *out, const Loaded *loaded)
{
    char *remarks = NULL;
    const char *text = loaded->text;
    if (text == NULL || (strchr(text, '<') == NULL && strstr(text, "\"robots\"") == NULL)) return;
    st_scene_convert_text(text, strlen(text), loaded->path, (const char *const *)loaded->sets, loaded->n_sets, NULL,
                          NULL, &remarks, NULL);
    for (const char *line = remarks; line != NULL && *line != '\0';) {
        char whole[1024];
        const size_t n = strcspn(line, "\n");
        snprintf(whole, sizeof whole, "%.*s", (int)n, line);
        if (strstr(whole, " at the start and do not touch") != NULL) print_wrapped(out, whole, 2);
        line += n + (line[n] == '\n');
    }
    free(remarks);
}

void print_summary(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs)
{
    const int columns = terminal_columns(out);
    const bool fits = columns == 0 || strlen(loaded->name) + strlen(loaded->path) + 3 <= (size_t)columns;
    fprintf(out, "%s%s%s%s(%s)\n", tone(out, BOLD), loaded->name, tone(out, PLAIN), fits ? " " : "\n  ", loaded->path);
    if (loaded->description[0] != '\0') print_wrapped(out, loaded->description, 2);
    fprintf(out, "  preset %s\n", loaded->def.preset);
    print_choices(out, &loaded->def, false, 4);
    fputc('\n', out);
    print_initial(out, loaded->system);
    print_jump(out, loaded->scene, tally);
    print_counts(out, loaded, tally);
    if (loaded->def.events != ST_EVENTS_OFF || tally->collisions > 0) print_collisions(out, loaded->scene, tally);
    print_impacts(out, loaded, tally);
    if (tally->message[0] != '\0') print_row(out, "why", tally->message);
    print_energy(out, tally);
    print_time(out, loaded->system, tally);
    print_bodies(out, loaded);
    print_measures(out, loaded);
    print_overlaps(out, loaded);
    if (outputs->table != NULL) fprintf(out, "  table: %s\n", outputs->table);
    if (outputs->picture != NULL) fprintf(out, "  picture: %s\n", outputs->picture);
    if (outputs->recording != NULL)
        fprintf(out, "  recording: %s (to see it: stiction view %s)\n", outputs->recording, outputs->recording);
}
