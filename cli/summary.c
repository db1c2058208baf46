/* The summary of a run, for people. */
#include "choices.h"
#include "report.h"

#include <math.h>
#include <string.h>

#define MOST_BODIES     20 /* in the table of final states */
#define FIRST_BODIES    8  /* shown when there are more    */
#define SHOWN_COLLISONS 8

const char *body_name(const st_Scene *scene, st_BodyId id)
{
    st_BodyDef body;
    if (id.index1 <= 0 || st_scene_body(scene, id, &body) != ST_OK) return "ground";
    return body.name;
}

static void print_counts(FILE *out, const Tally *tally, double end, double time)
{
    fprintf(out, "  %-22s %s at t = %.10g s of %.10g s, %lld steps\n", "run", outcome_name(tally->outcome), time, end,
            tally->steps);
    fprintf(out, "  %-22s %d\n", "contacts at most", tally->max_contacts);
    fprintf(out, "  %-22s %.3g m deep\n", "worst gap", tally->worst_gap);
    fprintf(out, "  %-22s %.3g\n", "worst joint error", tally->worst_joint_error);
    fprintf(out, "  %-22s %.3g\n", "worst residual", tally->worst_residual);
    if (tally->worst_joint_residual > 0)
        fprintf(out, "  %-22s %.3g m/s or rad/s\n", "worst joint residual", tally->worst_joint_residual);
    fprintf(out, "  %-22s %lld not converged, %lld fallbacks", "solver", tally->failures, tally->fallbacks);
    if (tally->overlapping > 0) fprintf(out, ", %lld overlaps softened", tally->overlapping);
    fputc('\n', out);
}

static void print_initial(FILE *out, const st_System *system)
{
    double position, velocity;
    st_system_initial_change(system, &position, &velocity);
    if (position > 0 || velocity > 0)
        fprintf(out, "  %-22s made consistent: moved by at most %.3g, velocities changed by at most %.3g\n",
                "initial state", position, velocity);
}

static void print_collisions(FILE *out, const st_Scene *scene, const Tally *tally)
{
    fprintf(out, "  %-22s %lld", "collisions", tally->collisions);
    for (int i = 0; i < tally->n_list && i < SHOWN_COLLISONS; i++) {
        const Collision *c = &tally->list[i];
        fprintf(out, "%s%.6g s %s-%s", i == 0 ? ": " : ", ", c->time, body_name(scene, c->a), body_name(scene, c->b));
    }
    fputs(tally->n_list > SHOWN_COLLISONS ? ", ...\n" : "\n", out);
    if (tally->transitions > 0)
        fprintf(out, "  %-22s %lld (take-off, stick, slip)\n", "transitions", tally->transitions);
    if (tally->accumulations > 0)
        fprintf(out, "  %-22s in %lld steps, first at %.6g s: no rebounds to the end of those steps\n",
                "events accumulated", tally->accumulations, tally->accumulated_time);
    if (tally->impact_gain > 0) fprintf(out, "  %-22s %.3g J added\n", "impacts", tally->impact_gain);
}

static void print_energy(FILE *out, const Tally *tally)
{
    double start = tally->kinetic_start + tally->potential_start, end = tally->kinetic + tally->potential;
    fprintf(out, "  %-22s %13s %13s %13s\n", "energy [J]", "kinetic", "potential", "total");
    fprintf(out, "  %-22s %13.7g %13.7g %13.7g\n", "  start", tally->kinetic_start, tally->potential_start, start);
    fprintf(out, "  %-22s %13.7g %13.7g %13.7g\n", "  end", tally->kinetic, tally->potential, end);
    fprintf(out, "  %-22s ", "  largest rise, a step");
    if (tally->largest_increase > 0)
        fprintf(out, "%13.3g at t = %.6g s\n", tally->largest_increase, tally->largest_increase_time);
    else
        fprintf(out, "%13s\n", "none");
    if (tally->friction != 0) fprintf(out, "  %-22s %13.7g\n", "  work of friction", tally->friction);
}

static void print_time(FILE *out, const st_System *system, const Tally *tally)
{
    double stage[ST_N_STAGES] = {0}, sum = 0;
    st_system_profile(system, stage);
    for (int i = 0; i < ST_N_STAGES; i++)
        sum += stage[i];
    fprintf(out, "  %-22s %.3g s wall, %.3g s CPU", "time", tally->wall, tally->cpu);
    if (tally->steps > 0) fprintf(out, ", %.3g us a step", 1e6 * tally->wall / (double)tally->steps);
    fputc('\n', out);
    for (int i = 0; i < ST_N_STAGES; i++)
        if (stage[i] > 0)
            fprintf(out, "    %-20s %9.3g s %5.1f %%\n", st_stage_name((st_Stage)i), stage[i], 100 * stage[i] / sum);
}

/* Columns that no body can change are left out: a planar run shows x, y, an angle and their rates; a run in
 * space shows quaternions and the sizes of the velocities (the table and --json have all of it).       */
static uint32_t free_axes(const st_Scene *scene)
{
    uint32_t axes = 0;
    for (int i = 1; i <= st_scene_body_count(scene); i++) {
        st_BodyDef body;
        if (st_scene_body(scene, (st_BodyId){i}, &body) == ST_OK && !body.fixed) axes |= ~body.locks & ST_LOCK_ALL;
    }
    return axes;
}

/* The one axis, 0 1 2, about which bodies turn; -1: none, or more than one. */
static int only_turn(uint32_t axes)
{
    uint32_t turns = axes & ST_LOCK_ROTATION;
    return turns == ST_LOCK_RX ? 0 : turns == ST_LOCK_RY ? 1 : turns == ST_LOCK_RZ ? 2 : -1;
}

static void print_titles(FILE *out, uint32_t axes, int name_width)
{
    static const char *const p[] = {"x", "y", "z"}, *const v[] = {"vx", "vy", "vz"}, *const w[] = {"wx", "wy", "wz"};
    int turn = only_turn(axes);
    bool in_space = turn < 0 && (axes & ST_LOCK_ROTATION) != 0;
    fprintf(out, "  %-*s", name_width, "final state");
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) fprintf(out, " %13s", p[k]);
    if (turn >= 0) fprintf(out, " %13s", "angle");
    if (in_space) {
        fprintf(out, " %9s %9s %9s %9s %11s %11s\n", "qw", "qx", "qy", "qz", "speed", "spin");
        return;
    }
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) fprintf(out, " %11s", v[k]);
    if (turn >= 0) fprintf(out, " %11s", w[turn]);
    fputc('\n', out);
}

static double length_of(st_Vec3 a)
{
    return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

static void print_body(FILE *out, const st_System *system, st_BodyId id, const char *name, uint32_t axes,
                       int name_width)
{
    st_Pose pose = {0};
    st_Vec3 v = {0}, w = {0};
    if (st_system_pose(system, id, &pose) != ST_OK || st_system_velocity(system, id, &v, &w) != ST_OK) return;
    double position[] = {pose.p.x, pose.p.y, pose.p.z}, velocity[] = {v.x, v.y, v.z}, spin[] = {w.x, w.y, w.z};
    double q[] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
    int turn = only_turn(axes);
    fprintf(out, "  %-*s", name_width, name);
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) fprintf(out, " %13.9g", position[k]);
    if (turn < 0 && (axes & ST_LOCK_ROTATION) != 0) {
        fprintf(out, " %9.6f %9.6f %9.6f %9.6f %11.4g %11.4g\n", q[0], q[1], q[2], q[3], length_of(v), length_of(w));
        return;
    }
    if (turn >= 0) fprintf(out, " %13.9g", 2 * atan2(q[0] < 0 ? -q[turn + 1] : q[turn + 1], fabs(q[0])));
    for (int k = 0; k < 3; k++)
        if (axes & (1u << k)) fprintf(out, " %11.4g", velocity[k]);
    if (turn >= 0) fprintf(out, " %11.4g", spin[turn]);
    fputc('\n', out);
}

static void print_bodies(FILE *out, const Loaded *loaded)
{
    int n = st_scene_body_count(loaded->scene), shown = n <= MOST_BODIES ? n : FIRST_BODIES;
    int width = (int)strlen("final state");
    uint32_t axes = free_axes(loaded->scene);
    for (int i = 1; i <= shown; i++) {
        int length = (int)strlen(body_name(loaded->scene, (st_BodyId){i}));
        if (length > width) width = length;
    }
    if (width > 40) width = 40;
    print_titles(out, axes, width);
    for (int i = 1; i <= shown; i++)
        print_body(out, loaded->system, (st_BodyId){i}, body_name(loaded->scene, (st_BodyId){i}), axes, width);
    if (shown < n) fprintf(out, "  ... and %d more bodies (-o FILE.csv or --json has them all)\n", n - shown);
}

void print_summary(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs)
{
    fprintf(out, "%s (%s)\n", loaded->name, loaded->path);
    if (loaded->description[0] != '\0') print_wrapped(out, loaded->description, 2);
    fprintf(out, "  preset %s\n", loaded->def.preset);
    print_choices(out, &loaded->def, false, 4);
    fputc('\n', out);
    print_initial(out, loaded->system);
    print_counts(out, tally, loaded->def.end, st_system_time(loaded->system));
    if (loaded->def.events != ST_EVENTS_OFF || tally->collisions > 0) print_collisions(out, loaded->scene, tally);
    if (tally->message[0] != '\0') fprintf(out, "  %-22s %s\n", "why", tally->message);
    print_energy(out, tally);
    print_time(out, loaded->system, tally);
    fputc('\n', out);
    print_bodies(out, loaded);
    if (outputs->table != NULL) fprintf(out, "  table: %s\n", outputs->table);
    if (outputs->picture != NULL) fprintf(out, "  picture: %s\n", outputs->picture);
    if (outputs->recording != NULL)
        fprintf(out, "  recording: %s (look at it: stiction view %s)\n", outputs->recording, outputs->recording);
}
