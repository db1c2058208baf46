/* The result of a run, for programs: one JSON document. */
#include "choices.h"
#include "report.h"

static void energy(Json *json, const char *key, double kinetic, double potential)
{
    json_open_flat_object(json, key);
    json_number(json, "kinetic", kinetic);
    json_number(json, "potential", potential);
    json_number(json, "total", kinetic + potential);
    json_close_object(json);
}

static void collisions(Json *json, const st_Scene *scene, const Tally *tally)
{
    json_integer(json, "events", tally->collisions);
    json_open_array(json, "collisions");
    for (int i = 0; i < tally->n_list; i++) {
        const Collision *c = &tally->list[i];
        double point[] = {c->point.x, c->point.y, c->point.z};
        json_open_flat_object(json, NULL);
        json_number(json, "time", c->time);
        json_text(json, "a", body_name(scene, c->a));
        json_text(json, "b", body_name(scene, c->b));
        json_numbers(json, "point", point, 3);
        json_number(json, "impulse", c->impulse);
        json_close_object(json);
    }
    json_close_array(json);
}

static void times(Json *json, const st_System *system, const Tally *tally)
{
    double stage[ST_N_STAGES] = {0};
    st_system_profile(system, stage);
    json_number(json, "wall_seconds", tally->wall);
    json_number(json, "cpu_seconds", tally->cpu);
    json_open_object(json, "stage_seconds");
    for (int i = 0; i < ST_N_STAGES; i++)
        json_number(json, st_stage_name((st_Stage)i), stage[i]);
    json_close_object(json);
}

static void bodies(Json *json, const Loaded *loaded)
{
    json_open_object(json, "bodies");
    for (int i = 1; i <= st_scene_body_count(loaded->scene); i++) {
        st_BodyId id = {i};
        st_Pose pose = {0};
        st_Vec3 v = {0}, w = {0};
        if (st_system_pose(loaded->system, id, &pose) != ST_OK) continue;
        if (st_system_velocity(loaded->system, id, &v, &w) != ST_OK) continue;
        double position[] = {pose.p.x, pose.p.y, pose.p.z}, velocity[] = {v.x, v.y, v.z}, spin[] = {w.x, w.y, w.z};
        double orientation[] = {pose.q.w, pose.q.x, pose.q.y, pose.q.z};
        json_open_object(json, body_name(loaded->scene, id));
        json_numbers(json, "position", position, 3);
        json_numbers(json, "orientation", orientation, 4);
        json_numbers(json, "velocity", velocity, 3);
        json_numbers(json, "angular_velocity", spin, 3);
        json_close_object(json);
    }
    json_close_object(json);
}

static void quality(Json *json, const Tally *tally)
{
    json_integer(json, "max_contacts", tally->max_contacts);
    json_number(json, "worst_gap", tally->worst_gap);
    json_number(json, "worst_joint_error", tally->worst_joint_error);
    json_number(json, "worst_residual", tally->worst_residual);
    json_integer(json, "solver_failures", tally->failures);
    json_integer(json, "solver_fallbacks", tally->fallbacks);
    json_open_object(json, "energy");
    energy(json, "start", tally->kinetic_start, tally->potential_start);
    energy(json, "end", tally->kinetic, tally->potential);
    json_number(json, "largest_increase", tally->largest_increase);
    json_close_object(json);
}

void print_json(FILE *out, const Loaded *loaded, const Tally *tally, const Outputs *outputs)
{
    Json json;
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)st_system_hash(loaded->system));
    json_begin(&json, out);
    json_open_object(&json, NULL);
    json_text(&json, "version", st_version());
    json_text(&json, "scene", loaded->name);
    json_text(&json, "file", loaded->path);
    json_text(&json, "description", loaded->description);
    json_text(&json, "status", outcome_name(tally->outcome));
    json_text(&json, "message", tally->message);
    json_text(&json, "preset", loaded->def.preset);
    json_choices(&json, "choices", &loaded->def);
    json_number(&json, "h", loaded->def.h);
    json_number(&json, "end", loaded->def.end);
    json_number(&json, "time", st_system_time(loaded->system));
    json_integer(&json, "steps", tally->steps);
    collisions(&json, loaded->scene, tally);
    times(&json, loaded->system, tally);
    quality(&json, tally);
    json_text(&json, "state_hash", hash);
    json_text(&json, "table", outputs->table);
    json_text(&json, "picture", outputs->picture);
    bodies(&json, loaded);
    json_close_object(&json);
    json_end(&json);
}
