/* Parameters of a system that runs: masses, friction, gains and limits. */
#include "step/scene_run.h"

/* A box that is pushed along the floor, a slab on a spring, a driven pendulum between limits, and a wheel with an
 * armature. Every number that the paths below lead to. */
static const char rig[] =
    "{\"materials\": [{\"name\": \"rubber\", \"friction\": 0.6}],"
    " \"ground\": [{\"type\": \"plane\", \"name\": \"floor\", \"friction\": 0.5}],"
    " \"bodies\": [{\"name\": \"box\", \"position\": [0, 0, 0.15], \"velocity\": [2, 0, 0], \"mass\": 2,"
    "   \"shapes\": [{\"type\": \"box\", \"name\": \"cube\", \"size\": [0.2, 0.2, 0.2], \"friction\": 0.4}]},"
    "  {\"name\": \"brick\", \"position\": [0, 2, 0.3], \"velocity\": [0.5, 0, 0],"
    "   \"shapes\": [{\"type\": \"box\", \"name\": \"b\", \"size\": [0.4, 0.2, 0.2], \"material\": \"rubber\","
    "    \"density\": 500}]},"
    "  {\"name\": \"arm\", \"position\": [5, 0.5, 1], \"mass\": 1, \"inertia\": [0.1, 0.2, 0.25]},"
    "  {\"name\": \"wheel\", \"position\": [9, 0, 1], \"mass\": 3, \"inertia\": [0.1, 0.1, 0.2]},"
    "  {\"name\": \"slab\", \"position\": [0, 9, 2], \"shapes\": [{\"type\": \"box\", \"size\": [0.4, 0.2, 0.2],"
    "   \"density\": 500}]}],"
    " \"joints\": [{\"type\": \"revolute\", \"name\": \"hinge\", \"b\": \"arm\", \"point\": [5, 0, 1],"
    "   \"axis\": [1, 0, 0], \"lower\": -0.5, \"upper\": 0.2, \"friction\": 0.2, \"damping\": 0.1,"
    "   \"motor\": {\"type\": \"position\", \"stiffness\": 50, \"damping\": 2, \"max_force\": 30, \"target\": 0.3}},"
    "  {\"type\": \"revolute\", \"name\": \"axle\", \"b\": \"wheel\", \"point\": [9, 0, 1], \"axis\": [0, 0, 1],"
    "   \"armature\": 0.3, \"motor\": {\"type\": \"force\", \"target\": 2}}],"
    " \"springs\": [{\"type\": \"linear\", \"name\": \"coil\", \"b\": \"slab\", \"point_a\": [0, 9, 4],"
    "   \"point_b\": [0, 9, 2], \"stiffness\": 100, \"damping\": 3}],"
    " \"simulation\": {\"h\": 0.002}}";

/* A number, its path in a running system, and the text in a scene file. */
typedef struct Change {
    const char *path;
    double value;
    const char *set; /* and a second one, or NULL */
    const char *also;
} Change;

static const Change changes[] = {
    {"bodies/box/mass", 3, "bodies/0/mass=3", NULL},
    {"bodies/slab/mass", 16, "bodies/4/shapes/0/density=1000", NULL},
    {"bodies/arm/mass", 2, "bodies/2/mass=2", "bodies/2/inertia=[0.2, 0.4, 0.5]"},
    {"ground/floor/friction", 0.1, "ground/0/friction=0.1", NULL},
    {"bodies/box/shapes/cube/friction", 0.9, "bodies/0/shapes/0/friction=0.9", NULL},
    {"bodies/box/shapes/*/restitution", 0.5, "bodies/0/shapes/0/restitution=0.5", NULL},
    {"bodies/box/shapes/cube/rolling", 0.05, "bodies/0/shapes/0/rolling_friction=0.05", NULL},
    {"materials/rubber/friction", 0.05, "materials/0/friction=0.05", NULL},
    {"joints/hinge/friction", 0.7, "joints/0/friction=0.7", NULL},
    {"joints/hinge/damping", 0.9, "joints/0/damping=0.9", NULL},
    {"joints/hinge/upper", 0.1, "joints/0/upper=0.1", NULL},
    {"joints/hinge/restitution", 0.4, "joints/0/restitution=0.4", NULL},
    {"joints/hinge/motor/stiffness", 200, "joints/0/motor/stiffness=200", NULL},
    {"joints/h*/motor/damping", 0.5, "joints/0/motor/damping=0.5", NULL},
    {"joints/hinge/motor/max_force", 4, "joints/0/motor/max_force=4", NULL},
    {"joints/hinge/motor/target", -0.4, "joints/0/motor/target=-0.4", NULL},
    {"joints/axle/motor/offset", 0.25, "joints/1/motor/offset=0.25", NULL},
    {"joints/axle/armature", 0.7, "joints/1/armature=0.7", NULL},
    {"springs/coil/stiffness", 300, "springs/0/stiffness=300", NULL},
    {"springs/coil/damping", 0, "springs/0/damping=0", NULL},
};
enum { N_CHANGES = sizeof changes / sizeof changes[0] };

static void open_rig(Run *run, const char *preset, const char *set, const char *also)
{
    const char *sets[3] = {preset, set, also};
    memset(run, 0, sizeof *run);
    check_ok(st_scene_parse(rig, strlen(rig), "rig.json", sets,
                            set == NULL    ? 1
                            : also == NULL ? 2
                                           : 3,
                            &run->scene, &run->def, &run->err),
             run->err);
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

static void steps(st_System *system, int n)
{
    st_Error err = {0};
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(system, 0.002, NULL, &err), err);
}

static void check_energy_adds_up(st_System *system)
{
    st_Error err = {0};
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(system, 0.002, &info, &err), err);
    assert_true(fabs(info.unexplained) < 1e-6 * (fabs(info.kinetic) + fabs(info.potential)));
}

/* For each of them: a system with the number set continues like one whose scene has it, to the last bit. */
static void as_in_a_scene_with_this_value(void **state)
{
    (void)state;
    static const char *const presets[] = {"simulation/preset=default", "simulation/preset=accurate",
                                          "simulation/integrator=bdf2"};
    for (size_t p = 0; p < sizeof presets / sizeof presets[0]; p++)
        for (int k = 0; k < N_CHANGES; k += p == 0 ? 1 : 3) {
            const int n = p == 0 ? 200 : 120;
            const Change *c = &changes[k];
            Run told, said, plain;
            double value = 0;
            open_rig(&told, presets[p], NULL, NULL);
            open_rig(&said, presets[p], c->set, c->also);
            open_rig(&plain, presets[p], NULL, NULL);
            check_ok(st_system_set_parameter(told.sys, c->path, c->value, &told.err), told.err);
            check_ok(st_system_parameter(told.sys, c->path, &value, &told.err), told.err);
            assert_true(value == c->value);
            check_ok(st_system_parameter(said.sys, c->path, &value, &said.err), said.err);
            assert_true(value == c->value);
            steps(told.sys, n), steps(said.sys, n), steps(plain.sys, n);
            if (st_system_hash(told.sys) != st_system_hash(said.sys)) fail_msg("%s, %s", c->path, presets[p]);
            if (st_system_hash(told.sys) == st_system_hash(plain.sys)) fail_msg("%s has no effect", c->path);
            run_close(&told), run_close(&said), run_close(&plain);
        }
}

/* In the middle of a run: saved, restored into another system and cloned it continues in the same way; the compiled
 * scene and the other system keep their numbers; back at the old value it is as before. */
static void part_of_the_state(void **state)
{
    (void)state;
    Run run;
    st_System *clone, *other;
    size_t size;
    double value;
    open_rig(&run, "simulation/preset=default", NULL, NULL);
    steps(run.sys, 20);
    check_ok(st_system_clone(run.sys, &other, &run.err), run.err);
    for (int k = 0; k < N_CHANGES; k++)
        check_ok(st_system_set_parameter(run.sys, changes[k].path, changes[k].value, &run.err), run.err);
    check_energy_adds_up(run.sys);
    size = st_system_save(run.sys, NULL, 0);
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    st_system_save(run.sys, bytes, size);
    check_ok(st_system_clone(run.sys, &clone, &run.err), run.err);
    check_ok(st_system_parameter(other, "bodies/box/mass", &value, &run.err), run.err);
    assert_true(value == 2);
    check_ok(st_system_restore(other, bytes, size, &run.err), run.err);
    check_ok(st_system_parameter(other, "bodies/box/mass", &value, &run.err), run.err);
    assert_true(value == 3);
    steps(run.sys, 50), steps(clone, 50), steps(other, 50);
    assert_true(st_system_hash(run.sys) == st_system_hash(clone));
    assert_true(st_system_hash(run.sys) == st_system_hash(other));
    /* A state of before brings the numbers of before. */
    Run start;
    open_rig(&start, "simulation/preset=default", NULL, NULL);
    const size_t plain = st_system_save(start.sys, NULL, 0);
    assert_true(plain < size);
    st_system_save(start.sys, bytes, size);
    check_ok(st_system_restore(run.sys, bytes, plain, &run.err), run.err);
    steps(start.sys, 50), steps(run.sys, 50);
    assert_true(st_system_hash(run.sys) == st_system_hash(start.sys));
    check_ok(st_system_parameter(run.sys, "materials/rubber/friction", &value, &run.err), run.err);
    assert_true(value == 0.6);
    /* Damaged bytes: refused, and nothing changes. */
    st_system_save(clone, bytes, size);
    const uint64_t hash = st_system_hash(other);
    for (size_t k = 0; k + 8 < size; k++)
        if (memcmp(bytes + k, "masses", 7) == 0) memset(bytes + k + 24 + sizeof(double) * 7, 0xff, 8);
    assert_int_equal(st_system_restore(other, bytes, size, &run.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(run.err.message, "mass is"));
    assert_true(st_system_hash(other) == hash);
    check_ok(st_system_parameter(other, "bodies/box/mass", &value, &run.err), run.err);
    assert_true(value == 3);
    free(bytes);
    st_system_destroy(clone), st_system_destroy(other);
    run_close(&start), run_close(&run);
}

/* Paths that are no parameters, invalid numbers, and values that need another scene. */
static void refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        double value;
        const char *why;
    } wrong[] = {{"mass", 1, "must begin with bodies/"},
                 {"bodies/box", 1, "must be KIND/NAME/KEY"},
                 {"bodies//mass", 1, "must be KIND/NAME/KEY"},
                 {"bodies/box/size", 1, "\"size\" must be one of mass"},
                 {"bodies/bix/mass", 1, "nothing in the scene has this path"},
                 {"bodies/brick/shapes/b/friction", 1, "has a material, \"rubber\": vary materials/rubber/friction"},
                 {"bodies/box/mass", 0, "body \"box\": mass is 0"},
                 {"bodies/box/mass", NAN, "body \"box\": mass is nan"},
                 {"bodies/*/mass", -1, "mass is -1"},
                 {"ground/floor/friction", -0.1, "shape \"floor\": friction is -0.1"},
                 {"ground/floor/restitution", 2, "restitution is 2, must be from 0 to 1"},
                 {"joints/axle/friction", 1, "joint \"axle\": friction is 1, but it has none in the scene"},
                 {"joints/hinge/damping", 0, "its spring cannot be added or removed"},
                 {"joints/axle/stiffness", 5, "its spring cannot be added or removed"},
                 {"joints/hinge/upper", INFINITY, "a limit cannot be added or removed"},
                 {"joints/hinge/upper", -0.6, "lower must be below upper"},
                 {"joints/axle/lower", -1, "a limit cannot be added or removed"},
                 {"joints/hinge/armature", 0.1, "nothing in the scene has this path"},
                 {"joints/axle/armature", 0, "inertia about x is 0"},
                 {"joints/hinge/motor/stiffness", 0, "motor: stiffness is 0"},
                 {"joints/hinge/motor/max_force", 0, "motor: max_force is 0"},
                 {"joints/axle/motor/stiffness", 1, "nothing in the scene has this path"},
                 {"ground/floor/rolling", 0.1, "rolling friction, which the law \"pyramid\" does not know"},
                 {"springs/coil/stiffness", INFINITY, "spring \"coil\": stiffness is inf"}};
    Run run, same;
    st_Error none = {0};
    double value;
    open_rig(&run, "simulation/law=pyramid", NULL, NULL);
    open_rig(&same, "simulation/law=pyramid", NULL, NULL);
    steps(run.sys, 10), steps(same.sys, 10);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        if (st_system_set_parameter(run.sys, wrong[k].path, wrong[k].value, &run.err) == ST_OK)
            fail_msg("%s = %g is taken", wrong[k].path, wrong[k].value);
        if (strstr(run.err.message, wrong[k].why) == NULL)
            fail_msg("%s: \"%s\" is not in: %s", wrong[k].path, wrong[k].why, run.err.message);
    }
    assert_int_equal(st_system_set_parameter(NULL, "bodies/box/mass", 1, &none), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_set_parameter(run.sys, NULL, 1, &none), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_parameter(run.sys, "bodies/box/mass", NULL, &none), ST_ERR_ARGUMENT);
    assert_int_equal(st_system_parameter(run.sys, "bodies/bix/mass", &value, &none), ST_ERR_ARGUMENT);
    steps(run.sys, 50), steps(same.sys, 50);
    assert_true(st_system_hash(run.sys) == st_system_hash(same.sys));
    run_close(&run), run_close(&same);
}

/* A box that sleeps on a floor that becomes slippery wakes and slides; its weight changes the force of its contacts. */
static void sleepers_wake(void **state)
{
    (void)state;
    static const char slope[] =
        "{\"ground\": [{\"type\": \"plane\", \"name\": \"floor\", \"friction\": 1}],"
        " \"bodies\": [{\"name\": \"box\", \"position\": [0, 0, 0.1], \"mass\": 2,"
        "   \"shapes\": [{\"type\": \"box\", \"name\": \"cube\", \"size\": [0.2, 0.2, 0.2], \"friction\": 1}]}],"
        " \"simulation\": {\"h\": 0.002, \"sleep\": true, \"gravity\": [3, 0, -9]}}";
    Run run;
    st_Vec3 velocity;
    run_parse(&run, slope);
    const st_BodyId box = st_scene_find_body(run.scene, "box");
    for (int k = 0; k < 2000 && !st_system_asleep(run.sys, box); k++)
        steps(run.sys, 1);
    assert_true(st_system_asleep(run.sys, box));
    check_ok(st_system_set_parameter(run.sys, "bodies/box/shapes/cube/friction", 0.01, &run.err), run.err);
    steps(run.sys, 100);
    check_ok(st_system_velocity(run.sys, box, &velocity, NULL), run.err);
    check_close(velocity.x, 0.2 * (3 - 0.1 * 9), 1e-9); /* mu = sqrt(1 * 0.01) */
    check_ok(st_system_set_parameter(run.sys, "bodies/*/mass", 5, &run.err), run.err);
    steps(run.sys, 1);
    double force = 0;
    for (int c = 0; c < st_system_contact_count(run.sys); c++) {
        st_ContactReport contact;
        check_ok(st_system_contact(run.sys, c, &contact), run.err);
        force += fabs(contact.force.z);
    }
    check_close(force, 5 * 9.0, 1e-6);
    run_close(&run);
}

/* The kinetic energy that a step caches is invalid after a mass has changed. */
static void energy_has_the_new_mass(void **unused)
{
    (void)unused;
    Run run;
    double before, after, of_box;
    open_rig(&run, "simulation/preset=default", NULL, NULL);
    steps(run.sys, 3);
    st_Vec3 velocity, spin;
    const st_BodyId box = {1};
    check_ok(st_system_energy(run.sys, &before, NULL, &run.err), run.err);
    check_ok(st_system_velocity(run.sys, box, &velocity, &spin), run.err);
    check_ok(st_system_set_parameter(run.sys, "bodies/box/mass", 4, &run.err), run.err); /* twice the old one */
    check_ok(st_system_energy(run.sys, &after, NULL, &run.err), run.err);
    of_box = 0.5 * 2 * (velocity.x * velocity.x + velocity.y * velocity.y + velocity.z * velocity.z);
    assert_true(of_box > 1);
    check_below(of_box * (1 - 1e-12), after - before); /* it may turn, too */
    check_below(after - before, 1.1 * of_box);
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_in_a_scene_with_this_value),
        cmocka_unit_test(part_of_the_state),
        cmocka_unit_test(refused_by_name),
        cmocka_unit_test(sleepers_wake),
        cmocka_unit_test(energy_has_the_new_mass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
