/* Writes the result of a run as one JSON document. */
#include "choices.h"
#include "report.h"

#include <stiction/grains.h>

#include <stdlib.h>

static void energy(Json *json, const char *key, double kinetic, double potential)
{
    put_open_flat_object(json, key);
    put_number(json, "kinetic", kinetic);
    put_number(json, "potential", potential);
    put_number(json, "total", kinetic + potential);
    put_close_object(json);
}

static void initial_change(Json *json, const st_System *system)
{
    double position, velocity;
    st_system_initial_change(system, &position, &velocity);
    put_open_flat_object(json, "initial_change");
    put_number(json, "position", position);
    put_number(json, "velocity", velocity);
    put_close_object(json);
}

static void collisions(Json *json, const st_Scene *scene, const Tally *tally)
{
    put_integer(json, "events", tally->collisions);
    put_integer(json, "transitions", tally->transitions);
    put_integer(json, "accumulations", tally->accumulations);
    put_number(json, "impact_gain", tally->impact_gain);
    put_integer(json, "rebounds_limited", tally->limited);
    put_integer(json, "drift_fallbacks", tally->drift_fallbacks);
    put_integer(json, "steps_repeated", tally->repeated);
    put_integer(json, "problems", tally->problems);
    put_open_array(json, "collisions");
    for (int i = 0; i < tally->n_list; i++) {
        const Collision *c = &tally->list[i];
        double point[] = {c->point.x, c->point.y, c->point.z};
        put_open_flat_object(json, NULL);
        put_number(json, "time", c->time);
        put_text(json, "a", body_name(scene, c->a));
        put_text(json, "b", body_name(scene, c->b));
        put_numbers(json, "point", point, 3);
        put_number(json, "impulse", c->impulse);
        put_number(json, "before", c->before);
        put_number(json, "after", c->after);
        put_close_object(json);
    }
    put_close_array(json);
}

static void times(Json *json, const st_System *system, const Tally *tally)
{
    double part[ST_N_PARTS] = {0};
    st_system_part_seconds(system, part);
    put_number(json, "wall_seconds", tally->wall);
    put_number(json, "cpu_seconds", tally->cpu);
    put_open_object(json, "stage_seconds");
    for (int i = 0; i < ST_N_PARTS; i++)
        put_number(json, st_part_name((st_StepPart)i), part[i]);
    put_close_object(json);
}

static void bodies(Json *json, const Loaded *loaded)
{
    const int n = st_scene_body_count(loaded->scene) + 1;
    st_Vec3 *force = calloc((size_t)n, sizeof *force), *torque = calloc((size_t)n, sizeof *torque);
    const bool forces =
        force != NULL && torque != NULL && st_system_contact_forces(loaded->system, force, torque, n) == ST_OK;
    put_open_object(json, "bodies");
    for (int i = 1; i <= st_scene_body_count(loaded->scene); i++) {
        st_BodyId id = {i};
        st_Pose pose = {0};
        st_Vec3 v = {0}, w = {0};
        if (!st_system_present(loaded->system, id)) continue; /* not yet entered, or removed by an outlet */
        if (st_system_pose(loaded->system, id, &pose) != ST_OK) continue;
        if (st_system_velocity(loaded->system, id, &v, &w) != ST_OK) continue;
        double position[] = {pose.p.x, pose.p.y, pose.p.z}, velocity[] = {v.x, v.y, v.z}, spin[] = {w.x, w.y, w.z};
        double orientation[] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        put_open_object(json, body_name(loaded->scene, id));
        put_numbers(json, "position", position, 3);
        put_numbers(json, "orientation", orientation, 4);
        put_numbers(json, "velocity", velocity, 3);
        put_numbers(json, "angular_velocity", spin, 3);
        if (forces) {
            put_numbers(json, "contact_force", (double[]){force[i].x, force[i].y, force[i].z}, 3);
            put_numbers(json, "contact_torque", (double[]){torque[i].x, torque[i].y, torque[i].z}, 3);
        }
        put_close_object(json);
    }
    put_close_object(json);
    free(force);
    free(torque);
}

static void measures(Json *json, const Loaded *loaded)
{
    put_open_object(json, "measures");
    for (int k = 0; k < st_scene_measure_count(loaded->scene); k++) {
        double values[ST_MEASURE_VALUES];
        st_MeasureDef def;
        const char *name;
        if (st_scene_measure(loaded->scene, k, &def) != ST_OK) continue;
        if (st_system_measure(loaded->system, k, values, NULL, NULL) != ST_OK) continue;
        put_open_object(json, def.name);
        for (int i = 0; (name = st_measure_value_name(def.type, i, NULL)) != NULL; i++)
            put_number(json, name, values[i]);
        put_close_object(json);
    }
    put_close_object(json);
}

/* The names of two bodies that touch, or of none. */
static void put_pair(Json *json, const char *key, const Loaded *loaded, st_BodyId a, st_BodyId b)
{
    st_BodyDef def;
    const st_BodyId of[2] = {a, b};
    if (a.index1 == b.index1) return; /* nothing overlapped */
    put_open_array(json, key);
    for (int k = 0; k < 2; k++)
        put_text(json, NULL, st_scene_body(loaded->scene, of[k], &def) == ST_OK ? def.name : "ground");
    put_close_array(json);
}

static void put_joint(Json *json, const char *key, const Loaded *loaded, st_JointId id)
{
    st_JointDef def;
    if (st_scene_joint(loaded->scene, id, &def) == ST_OK) put_text(json, key, def.name);
}

static void quality(Json *json, const Loaded *loaded, const Tally *tally)
{
    put_integer(json, "max_contacts", tally->max_contacts);
    put_number(json, "worst_gap", tally->worst_gap);
    put_number(json, "worst_gap_time", tally->worst_gap_time);
    if (tally->worst_gap > 0) put_pair(json, "worst_gap_bodies", loaded, tally->worst_gap_a, tally->worst_gap_b);
    put_number(json, "worst_joint_error", tally->worst_joint_error);
    put_number(json, "worst_joint_error_time", tally->worst_joint_error_time);
    if (tally->worst_joint_error > 0) put_joint(json, "worst_joint_error_joint", loaded, tally->worst_joint);
    put_number(json, "worst_residual", tally->worst_residual);
    put_number(json, "worst_residual_time", tally->worst_residual_time);
    put_text(json, "worst_residual_island", tally->worst_island);
    put_number(json, "residual_limit", tally->residual_limit);
    put_integer(json, "steps_above_limit", tally->above_limit);
    put_integer(json, "steps_with_open_joints", tally->open_joints);
    put_integer(json, "struck_contacts", tally->struck);
    put_number(json, "start_jump", tally->start_jump);
    if (tally->start_jump > 0) put_joint(json, "start_jump_joint", loaded, tally->start_joint);
    put_number(json, "worst_joint_residual", tally->worst_joint_residual);
    put_number(json, "worst_joint_residual_time", tally->worst_joint_residual_time);
    put_integer(json, "solver_failures", tally->failures);
    put_integer(json, "solver_fallbacks", tally->fallbacks);
    put_open_object(json, "energy");
    energy(json, "start", tally->kinetic_start, tally->potential_start);
    energy(json, "end", tally->kinetic, tally->potential);
    put_number(json, "largest_increase", tally->largest_increase);
    put_number(json, "largest_increase_time", tally->largest_increase_time);
    put_number(json, "friction_work", tally->friction);
    put_number(json, "work", tally->work);
    put_number(json, "damping", tally->damping);
    put_number(json, "impacts", tally->impacts);
    put_number(json, "correction", tally->correction);
    put_number(json, "scheme", tally->scheme);
    put_number(json, "unexplained", tally->unexplained);
    put_close_object(json);
}

void put_result(Json *json, const Loaded *loaded, const Tally *tally, const Outputs *outputs)
{
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)st_system_hash(loaded->system));
    put_open_object(json, NULL);
    put_text(json, "version", st_version());
    put_text(json, "scene", loaded->name);
    put_text(json, "file", loaded->path);
    put_text(json, "description", loaded->description);
    put_text(json, "status", outcome_name(tally->outcome));
    put_text(json, "message", tally->message);
    put_text(json, "preset", loaded->def.preset);
    put_choices(json, "choices", &loaded->def);
    put_number(json, "h", loaded->def.h);
    put_number(json, "end", loaded->def.end);
    put_number(json, "time", st_system_time(loaded->system));
    put_integer(json, "steps", tally->steps);
    initial_change(json, loaded->system);
    collisions(json, loaded->scene, tally);
    times(json, loaded->system, tally);
    quality(json, loaded, tally);
    put_text(json, "state_hash", hash);
    put_text(json, "table", outputs->table);
    put_text(json, "picture", outputs->picture);
    put_text(json, "recording", outputs->recording);
    bodies(json, loaded);
    measures(json, loaded);
    put_forces(json, loaded);
    put_close_object(json);
}

void print_json(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs)
{
    Json json;
    put_document(&json, out);
    put_result(&json, loaded, tally, outputs);
    put_document_end(&json);
}
