/* Grains in mechanisms: a drum that a motor turns, heavy or light, strong or weak; a piston on a pile. Residuals are
 * met and honest, joints stay closed, energy comes from the motor and from nowhere else, bits do not depend on threads,
 * steady steps allocate nothing. */
#include "check.h"

#include <stiction/io.h>
#include <string.h>

typedef struct Counter {
    st_Allocator base;
    int calls;
} Counter;

static void *counting_alloc(void *ctx, size_t size, size_t align)
{
    Counter *c = ctx;
    c->calls++;
    return c->base.alloc(c->base.ctx, size, align);
}

static void counting_free(void *ctx, void *p, size_t size, size_t align)
{
    Counter *c = ctx;
    c->base.free(c->base.ctx, p, size, align);
}

typedef struct Drum {
    st_Scene *scene;
    st_SystemDef def;
    st_JointId axle;
    st_Error err;
} Drum;

static const double radius = 0.25, depth = 0.2, grain = 0.02;

/* Sixteen staves and two ends. */
static st_BodyId add_shell(Drum *d, double mass)
{
    enum { STAVES = 16 };
    const double pi = 3.14159265358979323846, wall = 0.01, outer = radius + 2 * wall;
    st_BodyDef def = st_body_def();
    st_BodyId id;
    def.mass = mass;
    def.inertia.m[0] = def.inertia.m[8] = 0.6 * mass * radius * radius;
    def.inertia.m[4] = mass * radius * radius;
    check_ok(st_scene_add_body(d->scene, &def, &id, &d->err), d->err);
    for (int k = 0; k < STAVES + 2; k++) {
        const double a = 2 * pi * (k + 0.5) / STAVES;
        const int side = k == STAVES ? -1 : 1;
        st_ShapeDef shape =
            k < STAVES ? st_box_def(wall, depth / 2, outer * tan(pi / STAVES)) : st_box_def(outer, wall, outer);
        shape.mu = k < STAVES ? 0.6 : 0.1;
        shape.density = 0;
        shape.pose.p = k < STAVES ? (st_Vec3){(radius + wall) * cos(a), 0, (radius + wall) * sin(a)}
                                  : (st_Vec3){0, side * (depth / 2 + wall), 0};
        if (k < STAVES) shape.pose.q = (st_Quat){cos(a / 2), 0, -sin(a / 2), 0};
        check_ok(st_scene_add_shape(d->scene, id, &shape, NULL, &d->err), d->err);
    }
    return id;
}

static void add_grains(Drum *d, int n, double density)
{
    check_Random random = {5};
    const double apart = 2.05 * grain;
    for (int k = 0; k < n; k++) {
        const int layer = k / 24;
        st_BodyDef def = st_body_def();
        st_ShapeDef ball = st_sphere_def(grain);
        st_BodyId id;
        def.pose.p = (st_Vec3){apart * (k % 6 - 2.5) + check_random(&random, -1e-4, 1e-4), apart * (k / 6 % 4 - 1.5),
                               -0.75 * radius + apart * layer};
        ball.mu = 0.5;
        ball.density = density;
        check_ok(st_scene_add_body(d->scene, &def, &id, &d->err), d->err);
        check_ok(st_scene_add_shape(d->scene, id, &ball, NULL, &d->err), d->err);
    }
}

static Drum make_drum(double mass, double density, double max_force)
{
    Drum d = {.def = st_system_def()};
    d.def.h = 1e-3;
    d.def.tolerance = 1e-7;
    d.def.effort =
        ST_EFFORT_THOROUGH; /* sweeps of grains and mechanisms, and factors: all of them are requested here */
    d.def.margin = 0.01;
    d.def.slop = 0;
    check_ok(st_scene_create(&d.scene, &d.err), d.err);
    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    joint.b = add_shell(&d, mass);
    joint.axis = (st_Vec3){0, 1, 0};
    joint.motor.type = ST_MOTOR_SPEED;
    joint.motor.target = 3;
    if (max_force > 0) joint.motor.max_force = max_force;
    check_ok(st_scene_add_joint(d.scene, &joint, &d.axle, &d.err), d.err);
    add_grains(&d, 96, density);
    return d;
}

/* The result of n steps. */
typedef struct Ran {
    double rise, motor, friction, overlap, coordinate, largest_force;
    uint64_t hash;
    int contacts, fallbacks;
} Ran;

/* Every step meets the tolerance; that the residual is honest is test_mobility's. */
static Ran run(Drum *d, int n)
{
    st_System *system;
    st_StepInfo info = st_step_info();
    Ran ran = {0};
    double start = NAN;
    check_ok(st_system_create(d->scene, &d->def, &system, &d->err), d->err);
    for (int k = 0; k < n; k++) {
        st_JointReport axle;
        check_ok(st_system_step(system, d->def.h, &info, &d->err), d->err);
        check_ok(st_system_joint(system, d->axle, ST_FRAME_WORLD, &axle), d->err);
        assert_true(info.solve.converged);
        check_below(info.solve.residual.natural, d->def.tolerance);
        check_below(info.joint_error, 1e-12); /* rounding of 0.25 m, gathered up and corrected in every step */
        check_below(info.solve.residual.joint, 1e-10);
        if (k == 0) start = info.kinetic + info.potential, ran.friction = -info.friction;
        if (k > 0) ran.motor += axle.motor * axle.speed * d->def.h;
        ran.largest_force = fmax(ran.largest_force, k > 0 ? fabs(axle.motor) : 0);
        ran.overlap = fmax(ran.overlap, info.penetration);
        ran.contacts = info.contacts > ran.contacts ? info.contacts : ran.contacts;
        ran.fallbacks += info.solve.fallback != NULL;
        ran.coordinate = axle.coordinate;
    }
    ran.rise = info.kinetic + info.potential - start;
    ran.friction += info.friction;
    ran.hash = st_system_hash(system);
    st_system_destroy(system);
    return ran;
}

/* M (v+ - v) = h f + H r + G l, times v+: energy rises by the motor's work and friction's (which is below 0), less
 * |v+ - v|^2_M/2 of every step (impacts) and r_n gap/h of contacts that close; overlaps that are pushed apart give
 * some back, load times overlap. */
static void check_energy(const Ran *ran, double load)
{
    const double pushed = load * ran->overlap * 300;
    assert_true(ran->motor > 0 && ran->friction < 0);
    check_below(ran->rise - ran->motor - ran->friction, 1e-9 + pushed);
    check_below(-ran->rise, 30.0); /* no more than the work of gravity and of their impacts */
}

static void a_drum_turns_grains(void **state)
{
    (void)state;
    Drum d = make_drum(5, 2500, 0);
    const Ran ran = run(&d, 300);
    assert_true(ran.contacts > 250);
    check_close(ran.coordinate, 0.3 * 3, 1e-9); /* whatever they weigh */
    check_energy(&ran, 96 * 0.08 * 9.81);
    check_below(ran.fallbacks, 30); /* one step in ten; it was 6 of 300 */
    st_scene_destroy(d.scene);
}

/* 96 grains weigh 79 N: at 0.2 m from the axle they need about 5 N m. */
static void a_motor_has_a_limit(void **state)
{
    (void)state;
    Drum d = make_drum(5, 2500, 20), weak = make_drum(5, 2500, 0.5);
    const Ran strong = run(&d, 250), stalls = run(&weak, 250);
    check_below(strong.largest_force, 20 * (1 + 1e-12));
    check_below(stalls.largest_force, 0.5 * (1 + 1e-12));
    assert_true(strong.coordinate > 0.5);
    /* grains tilt until their weight stands against the motor: 0.5 N m of 79 N x 0.2 m is 0.03 rad, and a swing twice
     * it */
    check_below(stalls.coordinate, 0.3);
    check_energy(&strong, 96 * 0.08 * 9.81);
    st_scene_destroy(d.scene);
    st_scene_destroy(weak.scene);
}

/* A drum of a ton and grains of a gram. */
static void heavy_and_light(void **state)
{
    (void)state;
    Drum d = make_drum(1000, 30, 5000);
    const Ran ran = run(&d, 200);
    /* 5000 N m turn 62.5 kg m^2 up to 3 rad/s in 37.5 ms, whatever grams do: w^2 I/(2 T) behind; h w of the first order
     */
    check_close(ran.coordinate, 0.2 * 3 - 9 * 62.5 / (2 * 5000), 3e-3);
    st_scene_destroy(d.scene);
}

static void other_schemes(void **state)
{
    (void)state;
    static const st_Integrator integrators[] = {ST_INTEGRATOR_SDIRK2, ST_INTEGRATOR_BDF2};
    for (int k = 0; k < 3; k++) {
        Drum d = make_drum(5, 2500, k == 0 ? 0 : 20);
        if (k < 2) d.def.integrator = integrators[k];
        if (k == 2) d.def.law = ST_LAW_CONE, d.def.tolerance = 1e-5;
        const Ran ran = run(&d, 60);
        assert_true(ran.coordinate > 0.05);
        st_scene_destroy(d.scene);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        Drum d = make_drum(5, 2500, k == 0 ? 0 : 20);
        const Ran one = run(&d, 80);
        d.def.threads = 2;
        const Ran two = run(&d, 80);
        assert_true(one.hash == two.hash);
        st_scene_destroy(d.scene);
    }
}

/* Grains that are turned about may touch in more places than ever before, and arrays grow. The same steps made again
 * find room for everything; not the second time, because lists of near pairs depend on where bodies came from.    */
static void steady_steps_allocate_nothing(void **state)
{
    (void)state;
    Counter count = {.base = st_default_allocator()};
    Drum d = make_drum(5, 2500, 20);
    st_System *system;
    d.def.allocator = (st_Allocator){counting_alloc, counting_free, &count};
    check_ok(st_system_create(d.scene, &d.def, &system, &d.err), d.err);
    for (int k = 0; k < 250; k++)
        check_ok(st_system_step(system, d.def.h, NULL, &d.err), d.err);
    const size_t size = st_system_save(system, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    st_system_save(system, bytes, size);
    int before = 0;
    for (int again = 0; again < 3; again++) {
        check_ok(st_system_restore(system, bytes, size, &d.err), d.err);
        before = count.calls;
        for (int k = 0; k < 150; k++)
            check_ok(st_system_step(system, d.def.h, NULL, &d.err), d.err);
    }
    assert_int_equal(count.calls, before);
    free(bytes);
    st_system_destroy(system);
    st_scene_destroy(d.scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drum_turns_grains),    cmocka_unit_test(a_motor_has_a_limit),
        cmocka_unit_test(heavy_and_light),        cmocka_unit_test(other_schemes),
        cmocka_unit_test(threads_change_nothing), cmocka_unit_test(steady_steps_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
