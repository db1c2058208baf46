/* stiction check: reads a scene, makes its system, and prints its contents. */
#include "choices.h"
#include "load.h"
#include "report.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct CheckOptions {
    TextList sets;
    bool json;
} CheckOptions;

static const Option options[] = {
    {"set", 0, OPTION_LIST, "PATH=VALUE", "override a value of the scene; may be repeated",
     offsetof(CheckOptions, sets)},
    {"json", 0, OPTION_FLAG, NULL, "print one JSON document", offsetof(CheckOptions, json)},
};

static int check_main(int argc, char *const *argv);

const Command check_command = {
    .name = "check",
    .words = "SCENE",
    .min_words = 1,
    .max_words = 1,
    .summary = "read a scene and list its contents or its errors",
    .details = "The scene is not run. Exit status: 0 the scene can be run; 2 it has errors, which are listed. "
               "stiction settings lists the simulation settings.",
    .options = options,
    .n_options = (int)(sizeof options / sizeof options[0]),
    .main = check_main,
};

#define N_KINDS 6

typedef struct Contents {
    const char *kind[N_KINDS];
    int count[N_KINDS];
    int shapes[ST_N_SHAPE_TYPES], joints[ST_N_JOINT_TYPES];
} Contents;

static void take_stock(const Loaded *loaded, Contents *contents)
{
    const st_Scene *scene = loaded->scene;
    *contents =
        (Contents){.kind = {"bodies", "dofs", "shapes", "joints", "springs", "forces"},
                   .count = {st_scene_body_count(scene), st_system_n_v(loaded->system), st_scene_shape_count(scene),
                             st_scene_joint_count(scene), st_scene_spring_count(scene), st_scene_force_count(scene)}};
    for (int i = 1; i <= st_scene_shape_count(scene); i++) {
        st_ShapeDef shape;
        if (st_scene_shape(scene, (st_ShapeId){i}, &shape, NULL) == ST_OK) contents->shapes[shape.type]++;
    }
    for (int i = 1; i <= st_scene_joint_count(scene); i++) {
        st_JointDef joint;
        if (st_scene_joint(scene, (st_JointId){i}, &joint) != ST_OK) continue;
        contents->joints[joint.type]++;
        if (joint.armature > 0) contents->count[1]--; /* its rotor moves with the joint */
    }
}

/* " (2 bar, 1 plane)" after the count of shapes and joints. */
static void print_kinds(const int *count, int n, const char *(*name)(int))
{
    const char *separator = " (";
    for (int k = 0; k < n; k++)
        if (count[k] > 0) {
            printf("%s%d %s", separator, count[k], name(k));
            separator = ", ";
        }
    if (separator[0] == ',') putchar(')');
}

static const char *shape_name(int type)
{
    return st_shape_type_name((st_ShapeType)type);
}

static const char *joint_name(int type)
{
    return st_joint_type_name((st_JointType)type);
}

/* Prints features of robots that were not imported, one per line. */
static void print_remarks(const char *remarks)
{
    while (remarks != NULL && *remarks != '\0') {
        char line[1024];
        size_t n = strcspn(remarks, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, remarks);
        print_wrapped(stdout, line, 2);
        remarks += n + (remarks[n] == '\n');
    }
}

static void put_remarks(Json *json, const char *remarks)
{
    put_open_array(json, "remarks");
    while (remarks != NULL && *remarks != '\0') {
        char line[1024];
        size_t n = strcspn(remarks, "\n");
        snprintf(line, sizeof line, "%.*s", (int)n, remarks);
        put_text(json, NULL, line);
        remarks += n + (remarks[n] == '\n');
    }
    put_close_array(json);
}

/* Prints overlaps, open joints, jumps in speed and coordinates outside their limits in the initial state; the first
 * ones by name. */
#define SHOWN_FLAWS 20

static void flaw_text(const Loaded *loaded, const st_Flaw *flaw, char *out, size_t size)
{
    st_JointDef joint = {.name = "?"};
    if (flaw->kind != ST_FLAW_OVERLAP) st_scene_joint(loaded->scene, flaw->joint, &joint);
    if (flaw->kind == ST_FLAW_OVERLAP)
        snprintf(out, size, "bodies \"%s\" and \"%s\" overlap by %.3g m at the start",
                 body_name(loaded->scene, flaw->a), body_name(loaded->scene, flaw->b), flaw->size);
    else if (flaw->kind == ST_FLAW_JOINT)
        snprintf(out, size, "joint \"%s\" is open by %.3g m or rad at the start", joint.name, flaw->size);
    else if (flaw->kind == ST_FLAW_LIMIT)
        snprintf(out, size,
                 "joint \"%s\" is outside its limits by %.3g %s at the start: steps bring it back at correction_speed",
                 joint.name, flaw->size, joint_unit(&joint, false));
    else
        snprintf(out, size,
                 "joint \"%s\" starts with a jump of %.3g %s%s: the first step includes an impact, and its forces are "
                 "not reported",
                 joint.name, flaw->size, joint_unit(&joint, true),
                 joint.motor.type == ST_MOTOR_MOTION ? " in the speed of its motion" : "");
}

/* Prescribed positions from a table are linear in between, so their speed jumps at its entries. */
static void print_corners(const Loaded *loaded)
{
    for (int k = 1; k <= st_scene_joint_count(loaded->scene); k++) {
        st_JointDef joint;
        double largest = 0, last = 0;
        if (st_scene_joint(loaded->scene, (st_JointId){k}, &joint) != ST_OK) continue;
        const st_Profile *profile = &joint.motor.profile;
        if (joint.motor.type != ST_MOTOR_MOTION || profile->type != ST_PROFILE_TABLE) continue;
        for (int i = 0; i < profile->n_table; i++) {
            double rate = 0;
            if (i < profile->n_table - 1)
                rate = joint.motor.target * (profile->values[i + 1] - profile->values[i]) /
                       (profile->times[i + 1] - profile->times[i]);
            if (profile->times[i] > 0) largest = fmax(largest, fabs(rate - last));
            last = rate;
        }
        char text[400];
        snprintf(text, sizeof text,
                 "joint \"%s\": the speed of its motion jumps at entries of its table, by up to %.3g %s: these are "
                 "impacts, and their forces are not reported",
                 joint.name, largest, joint_unit(&joint, true));
        if (largest > 0) print_wrapped(stdout, text, 2);
    }
}

static void print_flaws(const Loaded *loaded)
{
    st_Flaw flaw[SHOWN_FLAWS];
    char ignored[200];
    if (restitution_ignored(loaded->scene, &loaded->def, ignored, sizeof ignored)) print_wrapped(stdout, ignored, 2);
    const int n = st_system_flaws(loaded->system, flaw, SHOWN_FLAWS);
    for (int k = 0; k < n && k < SHOWN_FLAWS; k++) {
        char text[400];
        flaw_text(loaded, &flaw[k], text, sizeof text);
        print_wrapped(stdout, text, 2);
    }
    if (n > SHOWN_FLAWS) printf("  and %d more\n", n - SHOWN_FLAWS);
    print_corners(loaded);
}

static void put_flaws(Json *json, const Loaded *loaded)
{
    st_Flaw flaw[SHOWN_FLAWS];
    const int n = st_system_flaws(loaded->system, flaw, SHOWN_FLAWS);
    char ignored[200];
    put_open_array(json, "flaws");
    if (restitution_ignored(loaded->scene, &loaded->def, ignored, sizeof ignored)) put_text(json, NULL, ignored);
    for (int k = 0; k < n && k < SHOWN_FLAWS; k++) {
        char text[400];
        flaw_text(loaded, &flaw[k], text, sizeof text);
        put_text(json, NULL, text);
    }
    put_close_array(json);
}

static void print_text(const Loaded *loaded, const Contents *contents, const char *remarks)
{
    printf("%s\n", loaded->path);
    if (loaded->description[0] != '\0') print_wrapped(stdout, loaded->description, 2);
    for (int k = 0; k < N_KINDS; k++) {
        printf("  %-10s %d", contents->kind[k], contents->count[k]);
        if (contents->kind[k][0] == 's' && contents->kind[k][1] == 'h')
            print_kinds(contents->shapes, ST_N_SHAPE_TYPES, shape_name);
        if (contents->kind[k][0] == 'j') print_kinds(contents->joints, ST_N_JOINT_TYPES, joint_name);
        putchar('\n');
    }
    printf("  %-10s %s\n", "preset", loaded->def.preset);
    print_choices(stdout, &loaded->def, true, 4);
    print_remarks(remarks);
    print_flaws(loaded);
    printf("ok\n");
}

static void print_document(const Loaded *loaded, const Contents *contents, const char *remarks)
{
    Json json;
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "scene", loaded->name);
    put_text(&json, "file", loaded->path);
    put_text(&json, "description", loaded->description);
    put_text(&json, "status", "ok");
    for (int k = 0; k < N_KINDS; k++)
        put_integer(&json, contents->kind[k], contents->count[k]);
    put_text(&json, "preset", loaded->def.preset);
    put_choices(&json, "choices", &loaded->def);
    if (remarks != NULL && remarks[0] != '\0') put_remarks(&json, remarks);
    put_flaws(&json, loaded);
    put_close_object(&json);
    put_document_end(&json);
}

static void print_failure(const char *word, const Loaded *loaded, const st_Error *err)
{
    Json json;
    st_Error errors[MOST_ERRORS];
    const int n = scene_errors(loaded, errors);
    put_document(&json, stdout);
    put_open_object(&json, NULL);
    put_text(&json, "file", word);
    put_text(&json, "status", st_status_name(err->status));
    put_integer(&json, "line", err->line);
    put_text(&json, "message", err->message);
    put_open_array(&json, "errors"); /* all errors of the scene */
    for (int k = 0; k < n && k < MOST_ERRORS; k++)
        put_text(&json, NULL, errors[k].message);
    put_close_array(&json);
    put_close_object(&json);
    put_document_end(&json);
}

static int check_main(int argc, char *const *argv)
{
    CheckOptions o = {0};
    Loaded loaded = {0};
    Contents contents;
    st_Error err = {0};
    const char *words[MAX_WORDS];
    int status = command_read(&check_command, argc, argv, &o, words);
    if (status < 0 && !load(words[0], &o.sets, &loaded, &err)) {
        if (o.json) print_failure(words[0], &loaded, &err);
        status = refuse_scene(&loaded, &err);
    }
    if (status < 0) {
        char *remarks = NULL;
        take_stock(&loaded, &contents);
        st_scene_convert(loaded.path, o.sets.item, o.sets.count, NULL, NULL, &remarks, NULL);
        if (o.json)
            print_document(&loaded, &contents, remarks);
        else
            print_text(&loaded, &contents, remarks);
        free(remarks);
        status = STATUS_OK;
    }
    unload(&loaded);
    free((void *)o.sets.item);
    return status;
}
