/* Inlets, outlets and measures on flat arrays (setting `device`), against free fall, hand calculations, the bits of
 * other thread counts and ranks, and saved states. */
#include "device_world.h"
#include "thread_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static st_RegionDef box_region(st_Vec3 at, st_Vec3 half)
{
    st_RegionDef region = st_region_def();
    region.type = ST_REGION_BOX;
    region.pose.p = at;
    region.half = half;
    return region;
}

/* z < height */
static st_RegionDef below(double height)
{
    st_RegionDef region = st_region_def();
    region.type = ST_REGION_HALF_SPACE;
    region.pose.p.z = height;
    return region;
}

static st_BodyId add_inlet(World *w, const st_ShapeDef *shape, st_RegionDef region, int number, double rate)
{
    st_InletDef inlet = st_inlet_def();
    st_BodyId first;
    inlet.grains.region = region;
    inlet.grains.shapes = shape;
    inlet.grains.n_shapes = 1;
    inlet.grains.number = number;
    inlet.rate = rate;
    check_ok(st_scene_add_inlet(w->scene, &inlet, &first, &w->err), w->err);
    return first;
}

static void add_outlet(World *w, st_RegionDef region)
{
    st_OutletDef outlet = st_outlet_def();
    outlet.region = region;
    check_ok(st_scene_add_outlet(w->scene, &outlet, &w->err), w->err);
}

static void add_measure(World *w, st_MeasureType type, st_RegionDef region)
{
    st_MeasureDef measure = st_measure_def(type);
    measure.region = region;
    check_ok(st_scene_add_measure(w->scene, &measure, &w->err), w->err);
}

static double measured(const World *w, int index, const char *name)
{
    double values[ST_MEASURE_VALUES];
    st_MeasureDef def;
    st_Error err;
    const char *value;
    assert_int_equal(st_scene_measure(w->scene, index, &def), ST_OK);
    check_ok(st_system_measure(w->system, index, values, NULL, &err), err);
    for (int k = 0; (value = st_measure_value_name(def.type, k, NULL)) != NULL; k++)
        if (strcmp(value, name) == 0) return values[k];
    fail_msg("no value %s", name);
    return 0;
}

static int n_present(const World *w)
{
    int n = 0;
    for (int b = 1; b <= st_scene_body_count(w->scene); b++)
        n += st_system_present(w->system, (st_BodyId){b, 0});
    return n;
}

/* Grains enter at the height 1 m, 100 per second, fall, cross the plane z = 0 and are removed below -1 m. After n steps
 * a grain has the speed n g h and has fallen by n (n + 1)/2 g h^2, so all counts and energies are known. A grain that
 * is due at the time t enters before the first step from t on, and leaves before the step after it was found too low.
 */
static void grains_fall_through(void **state)
{
    (void)state;
    enum { NUMBER = 40, STEPS = 300 };
    World w;
    begin(&w);
    const st_ShapeDef ball = st_sphere_def(0.01);
    const double h = w.def.h, g = 9.81, rate = 100, m = 1000 * 4.0 / 3 * 3.14159265358979 * 1e-6;
    add_inlet(&w, &ball, box_region((st_Vec3){0, 0, 1}, (st_Vec3){50, 50, 1e-9}), NUMBER, rate);
    add_outlet(&w, below(-1));
    add_measure(&w, ST_MEASURE_FLOW, below(0));
    start(&w);
    int crossing = 0, leaving = 0; /* steps of fall */
    while (1 - 0.5 * crossing * (crossing + 1) * g * h * h >= 0)
        crossing++;
    while (1 - 0.5 * leaving * (leaving + 1) * g * h * h >= -1)
        leaving++;
    const double v = leaving * g * h, z = 1 - 0.5 * leaving * (leaving + 1) * g * h * h;
    for (int step = 1; step <= STEPS; step++) {
        int inside = 0, crossed = 0, out = 0;
        steps(&w, 1);
        for (int k = 0; k < NUMBER; k++) {
            const int entered = (int)ceil(k / rate / h - 1e-9), fallen = step - entered;
            inside += fallen > 0 && fallen <= leaving; /* the step that begins with it outside removes it */
            crossed += fallen >= crossing;
            out += fallen > leaving;
        }
        assert_int_equal(n_present(&w), inside);
        assert_int_equal((int)measured(&w, 0, "number"), crossed);
        check_close(measured(&w, 0, "mass"), crossed * m, 1e-12);
        const double given = (inside + out) * m * g - out * m * (0.5 * v * v + g * z);
        check_close(w.info.work, given, 1e-9);
    }
    assert_int_equal(n_present(&w), 0);
    check_close(w.info.kinetic, 0, 1e-12);
    check_close(w.info.potential, 0, 1e-12);
    end(&w);
}

/* Three balls on one another: the ground carries 3 m g, and with the branches 2 r, 2 r and r the stress in a region of
 * volume V is (m g 2 r + 2 m g 2 r + 3 m g r)/V. Two balls have two contacts, the top one has one. On one rank and on
 * three. */
static void a_column_is_measured(void **state)
{
    (void)state;
    const double r = 0.05, m = 0.5, g = 9.81;
    for (int size = 1; size <= 3; size += 2) {
        Table table;
        Seat seat[3];
        World w;
        begin(&w);
        w.def.tolerance = 1e-10;
        w.def.max_iterations = 5000;
        if (size > 1) {
            sit_down(&table, seat, size, NULL);
            w.def.ranks = &seat[0].ranks;
        }
        add_to_ground(&w, st_plane_def());
        for (int k = 0; k < 3; k++)
            add_body(&w, st_sphere_def(r), (st_Vec3){0, 0, (2 * k + 1) * r}, (st_Vec3){0, 0, 0}, m);
        add_measure(&w, ST_MEASURE_WALL, st_region_def());
        add_measure(&w, ST_MEASURE_BULK, box_region((st_Vec3){0, 0, 0.5}, (st_Vec3){0.5, 0.5, 0.5 + 1e-6}));
        start(&w);
        steps(&w, 5);
        check_close(measured(&w, 0, "fz"), -3 * m * g, 1e-6);
        check_close(measured(&w, 0, "contacts"), 1, 0);
        check_close(measured(&w, 1, "number"), 3, 0);
        check_close(measured(&w, 1, "coordination"), 5.0 / 3, 1e-12);
        check_close(measured(&w, 1, "stress_zz"), 9 * m * g * r, 2e-5);
        check_close(measured(&w, 1, "force_max"), 3 * m * g, 1e-6);
        end(&w);
        if (size > 1) stand_up(&table, seat);
    }
}

/* A motor holds a tray (M) on a rail or, by a lever, on an axle, and a ball (m) falls on it. The ball is at rest at the
 * start and at the end, so the mean of the motor's force is (M + m) g, and that of its torque g times the levers; the
 * impact of the landing is a part of it. */
static void motors_feel_impacts(void **state)
{
    (void)state;
    const double M = 3, m = 0.5, g = 9.81, arm = 0.4;
    for (int turns = 0; turns < 2; turns++) {
        World w;
        begin(&w);
        w.def.tolerance = 1e-9;
        w.def.max_iterations = 2000;
        st_JointDef joint = st_joint_def(turns == 1 ? ST_JOINT_REVOLUTE : ST_JOINT_PRISMATIC);
        joint.b = add_body(&w, st_box_def(0.2, 0.2, 0.05), (st_Vec3){arm, 0, 0}, (st_Vec3){0, 0, 0}, M);
        joint.point = (st_Vec3){0, 0, 0};
        joint.axis = turns == 1 ? (st_Vec3){0, -1, 0} : (st_Vec3){0, 0, 1}; /* lifts the tray */
        joint.motor.type = ST_MOTOR_SPEED;
        joint.name = "holder";
        check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
        add_body(&w, st_sphere_def(0.1), (st_Vec3){arm, 0, 0.4}, (st_Vec3){0, 0, 0}, m);
        st_MeasureDef measure = st_measure_def(ST_MEASURE_MOTOR);
        measure.joint = "holder";
        check_ok(st_scene_add_measure(w.scene, &measure, &w.err), w.err);
        start(&w);
        double sum = 0, most = 0;
        const int n = 240;
        for (int k = 0; k < n; k++) {
            steps(&w, 1);
            sum += measured(&w, 0, "value");
            most = fmax(most, measured(&w, 0, "value"));
        }
        const double lever = turns == 1 ? arm : 1;
        check_close(sum / n, (M + m) * g * lever, 1e-6 * (M + m) * g * lever);
        assert_true(most > 2 * (M + m) * g * lever); /* the landing */
        end(&w);
    }
}

/* Balls are poured on a plate, roll off and are removed below it. */
static void pour(World *w, int threads)
{
    begin(w);
    w->def.threads = threads;
    st_ShapeDef plate = st_box_def(0.2, 0.2, 0.05);
    const st_ShapeDef ball = st_sphere_def(0.03);
    plate.pose.p.z = -0.05;
    add_to_ground(w, plate);
    add_inlet(w, &ball, box_region((st_Vec3){0, 0, 0.6}, (st_Vec3){0.1, 0.1, 0.1}), 200, 200);
    add_outlet(w, below(-0.3));
    add_measure(w, ST_MEASURE_FLOW, below(-0.2));
    start(w);
}

/* Any number of threads, and a state that is restored or cloned on the way, give the same bits; every ball that came is
 * there, or has left through the plane. */
static void the_bits_are_the_same(void **state)
{
    (void)state;
    uint64_t hash = 0;
    for (int run = 0; run < 4; run++) {
        World w;
        pour(&w, run == 1 ? 3 : 1);
        steps(&w, 150);
        if (run == 2) { /* into a new system */
            const size_t size = st_system_save(w.system, NULL, 0);
            void *saved = malloc(size);
            assert_non_null(saved);
            assert_int_equal(st_system_save(w.system, saved, size), size);
            st_system_destroy(w.system);
            start(&w);
            check_ok(st_system_restore(w.system, saved, size, &w.err), w.err);
            free(saved);
        } else if (run == 3) {
            st_System *copy;
            check_ok(st_system_clone(w.system, &copy, &w.err), w.err);
            st_system_destroy(w.system);
            w.system = copy;
        }
        steps(&w, 150);
        if (run == 0) hash = st_system_hash(w.system);
        assert_int_equal(st_system_hash(w.system), hash);
        int waits = 0;
        for (int b = 1; b <= st_scene_body_count(w.scene); b++)
            waits += !st_system_present(w.system, (st_BodyId){b, 0});
        assert_true(n_present(&w) > 20 && n_present(&w) + waits == 200);
        if (run < 2) assert_true(measured(&w, 0, "number") > 10 && measured(&w, 0, "number") <= 200);
        end(&w);
    }
}

static void what_is_not_supported(void **state)
{
    (void)state;
    const st_ShapeDef ball = st_sphere_def(0.01);
    for (int k = 0; k < 4; k++) {
        World w;
        Table table;
        Seat seat[2];
        begin(&w);
        if (k % 2 == 0)
            add_outlet(&w, below(-1));
        else
            add_inlet(&w, &ball, box_region((st_Vec3){0, 0, 1}, (st_Vec3){1, 1, 0.1}), 3, 1);
        add_body(&w, ball, (st_Vec3){0, 0, 0}, (st_Vec3){0, 0, 0}, 1);
        if (k < 2) {
            sit_down(&table, seat, 2, NULL);
            w.def.ranks = &seat[0].ranks;
        } else {
            st_JointDef joint = st_joint_def(ST_JOINT_BALL);
            joint.b = add_body(&w, ball, (st_Vec3){1, 0, 0}, (st_Vec3){0, 0, 0}, 1);
            joint.point = (st_Vec3){1, 0, 1};
            check_ok(st_scene_add_joint(w.scene, &joint, NULL, &w.err), w.err);
        }
        assert_int_equal(st_system_create(w.scene, &w.def, &w.system, &w.err), ST_ERR_UNSUPPORTED);
        assert_non_null(strstr(w.err.message, k % 2 == 0 ? "outlet \"outlet1\"" : "inlet \"grain\""));
        assert_non_null(strstr(w.err.message, k < 2 ? "several ranks" : "mechanisms"));
        st_scene_destroy(w.scene);
        if (k < 2) stand_up(&table, seat);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grains_fall_through),   cmocka_unit_test(a_column_is_measured),
        cmocka_unit_test(motors_feel_impacts),   cmocka_unit_test(the_bits_are_the_same),
        cmocka_unit_test(what_is_not_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
