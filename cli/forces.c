/* Writes the forces of the last step for programs: momentum, contacts, joints. */
#include "report.h"

static void put_vector(Json *json, const char *key, st_Vec3 v)
{
    double x[] = {v.x, v.y, v.z};
    put_numbers(json, key, x, 3);
}

static void put_momentum(Json *json, const st_System *system)
{
    st_Vec3 linear, angular;
    if (st_system_momentum(system, &linear, &angular) != ST_OK) return;
    put_open_flat_object(json, "momentum");
    put_vector(json, "linear", linear);
    put_vector(json, "angular", angular);
    put_close_object(json);
}

static const char *shape_name(const st_Scene *scene, st_ShapeId id)
{
    st_ShapeDef shape;
    return st_scene_shape(scene, id, &shape, NULL) == ST_OK ? shape.name : NULL;
}

static void put_contacts(Json *json, const Loaded *loaded)
{
    put_open_array(json, "contacts");
    for (int k = 0; k < st_system_contact_count(loaded->system); k++) {
        st_ContactReport c;
        /* limits are listed with joints */
        if (st_system_contact(loaded->system, k, &c) != ST_OK || c.joint.index1 > 0) continue;
        put_open_flat_object(json, NULL);
        put_text(json, "a", body_name(loaded->scene, c.a));
        put_text(json, "b", body_name(loaded->scene, c.b));
        put_text(json, "shape_a", shape_name(loaded->scene, c.shape_a));
        put_text(json, "shape_b", shape_name(loaded->scene, c.shape_b));
        put_vector(json, "point", c.point);
        put_vector(json, "normal", c.normal);
        put_number(json, "gap", c.gap);
        put_numbers(json, "velocity", c.velocity, c.dim);
        put_numbers(json, "impulse", c.impulse, c.dim);
        put_numbers(json, "impact", c.impact, c.dim);
        put_vector(json, "force", c.force);
        put_close_object(json);
    }
    put_close_array(json);
}

static void put_joint(Json *json, const char *name, const st_JointReport *world, const st_JointReport *own)
{
    put_open_object(json, name);
    put_number(json, "error", world->error);
    put_vector(json, "impact", world->impact);
    put_vector(json, "point", world->point);
    put_vector(json, "force", world->force);
    put_vector(json, "torque", world->torque);
    put_vector(json, "force_in_a", own->force);
    put_vector(json, "torque_in_a", own->torque);
    put_number(json, "coordinate", world->coordinate);
    put_number(json, "speed", world->speed);
    put_number(json, "motor", world->motor);
    put_number(json, "friction", world->friction);
    put_number(json, "limit", world->limit);
    put_number(json, "spring", world->spring);
    put_number(json, "other", world->other);
    put_number(json, "other_speed", world->other_speed);
    put_number(json, "other_limit", world->other_limit);
    put_number(json, "gear", world->gear);
    put_close_object(json);
}

void put_forces(Json *json, const Loaded *loaded)
{
    put_momentum(json, loaded->system);
    put_contacts(json, loaded);
    put_open_object(json, "joints");
    for (int k = 1; k <= st_scene_joint_count(loaded->scene); k++) {
        st_JointDef def;
        st_JointReport world, own;
        st_JointId id = {k};
        if (st_scene_joint(loaded->scene, id, &def) == ST_OK &&
            st_system_joint(loaded->system, id, ST_FRAME_WORLD, &world) == ST_OK &&
            st_system_joint(loaded->system, id, ST_FRAME_A, &own) == ST_OK)
            put_joint(json, def.name, &world, &own);
    }
    put_close_object(json);
    put_open_object(json, "springs");
    for (int k = 1; k <= st_scene_spring_count(loaded->scene); k++) {
        st_SpringDef def;
        st_SpringReport r;
        if (st_scene_spring(loaded->scene, (st_SpringId){k}, &def) != ST_OK ||
            st_system_spring(loaded->system, (st_SpringId){k}, &r) != ST_OK)
            continue;
        put_open_flat_object(json, def.name);
        put_number(json, "length", r.length);
        put_number(json, "rate", r.rate);
        put_number(json, "force", r.force);
        put_vector(json, "force_on_b", r.force_on_b);
        put_vector(json, "torque_on_b", r.torque_on_b);
        put_close_object(json);
    }
    put_close_object(json);
}
