/* Rolling and spinning friction of bodies on a plane, against closed forms:
 *
 *     spinning   w' = - mu_s N/I             a ball on its point, a top that cannot slide
 *     disc       w' = - (mu R + mu_s) N/I    flat on points of its rim, I = m R^2/2
 *     sliding    v' = - mu g, then 5/7 v0    whether it spins or not: sliding and spinning have discs of their own
 *     rolling    v' = - (5/7) (mu_r/R) g     stops after v0^2/(2 |v'|)
 */
#include "math/quat.h"
#include "step/scene_run.h"

#define G 9.81

static const double mass = 2, inertia = 0.008, radius = 0.1; /* a ball: 2/5 m R^2 */

static void parse(Run *b, const char *preset, const char *more, const char *body, const char *shape)
{
    char text[2048];
    memset(b, 0, sizeof *b);
    snprintf(text, sizeof text,
             "{ \"simulation\": { \"preset\": \"%s\", \"h\": 0.001, \"end\": 1, \"tolerance\": 1e-12 %s },"
             "  \"ground\": [ { \"name\": \"floor\", \"type\": \"plane\", \"friction\": 0.3 } ],"
             "  \"bodies\": [ { \"name\": \"body\", \"mass\": 2, %s,"
             "    \"shapes\": [ { \"name\": \"skin\", \"friction\": 0.3, %s } ] } ] }",
             preset, more, body, shape);
    check_ok(st_scene_parse(text, strlen(text), "turning", NULL, 0, &b->scene, &b->def, &b->err), b->err);
}

static void start(Run *b, const char *preset, const char *more, const char *body, const char *shape)
{
    parse(b, preset, more, body, shape);
    check_ok(st_system_create(b->scene, &b->def, &b->sys, &b->err), b->err);
}

static void run(Run *b, int steps)
{
    for (int k = 0; k < steps; k++) {
        b->info = st_step_info();
        check_ok(st_system_step(b->sys, b->def.h, &b->info, &b->err), b->err);
        assert_true(b->info.solve.converged);
    }
}

typedef struct Motion {
    st_Pose pose;
    st_Vec3 v, w;
    double turned; /* about z, from -pi to pi */
} Motion;

static Motion motion(const Run *b)
{
    Motion m;
    st_BodyId id = st_scene_find_body(b->scene, "body");
    assert_int_equal(st_system_pose(b->sys, id, &m.pose), ST_OK);
    assert_int_equal(st_system_velocity(b->sys, id, &m.v, &m.w), ST_OK);
    m.w = rotate(m.pose.q, m.w); /* to world axes */
    m.turned = 2 * atan2(m.pose.q.z, m.pose.q.w);
    return m;
}

static const char ball_at_rest[] = "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"angular_velocity\": [0, 0, 5]";
static const char spinning_skin[] = "\"type\": \"sphere\", \"radius\": 0.1, \"spinning_friction\": 0.002";

/* Constant deceleration: the velocity is exact but for the solver, 1e-12 of velocities of 5; the angle is that of a
 * first-order scheme, h w0/2 off. It stops, and then stays. Every solver that takes the law.   */
static void spin_stops(void **state)
{
    (void)state;
    const char *solvers[] = {"auto", "nsgs", "newton", "ipm", "admm"};
    const double a = 0.002 * mass * G / inertia, stop = 5 / a;
    for (int k = 0; k < 5; k++) {
        Run b;
        char set[64];
        snprintf(set, sizeof set, ", \"solver\": \"%s\"", solvers[k]);
        start(&b, "default", set, ball_at_rest, spinning_skin);
        run(&b, 500);
        Motion m = motion(&b);
        check_close(m.w.z, 5 - 0.5 * a, 1e-9);
        check_close(m.turned, 5 * 0.5 - a * 0.125, 0.5e-3 * a * 0.5 + 1e-9); /* h (w0 - w)/2, all of it */
        run(&b, (int)(stop / 1e-3) + 2 - 500);
        double stands = motion(&b).turned;
        check_close(motion(&b).w.z, 0, 1e-10);
        run(&b, 1000);
        check_close(motion(&b).turned, stands, 1e-10);
        assert_true(b.info.friction < 0);
        run_close(&b);
    }
}

/* Work: each step the torque mu_s N turns by h w+, so that the sum is -mu_s m g times the angle turned; with sliding
 * beside it, -mu m g times the way of the contact point. Kinetic energy falls by more, the scheme's own O(h).   */
static void work_is_torque_times_angle(void **state)
{
    (void)state;
    Run b;
    start(&b, "default", "",
          "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0], "
          "\"angular_velocity\": [0, 0, 5]",
          spinning_skin);
    double angle = 0, way = 0;
    for (int k = 0; k < 90; k++) { /* slides all the time: rolls from 2/7 v0/(mu g) = 0.097 s on */
        run(&b, 1);
        angle += b.def.h * motion(&b).w.z;
        way += b.def.h * (motion(&b).v.x - radius * motion(&b).w.y);
    }
    check_close(b.info.friction, -mass * G * (0.002 * angle + 0.3 * way), 1e-9);
    double lost = 0.5 * mass + 0.5 * inertia * 25 - b.info.kinetic;
    assert_true(lost > -b.info.friction && lost < -b.info.friction * 1.05);
    run_close(&b);
}

/* Each is independent of the other. The spin axis is the normal, so that rolling still starts at 5/7 v0. */
static void slides_and_spins(void **state)
{
    (void)state;
    Run b;
    start(&b, "default", "",
          "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0], "
          "\"angular_velocity\": [0, 0, 5]",
          spinning_skin);
    const double a = 0.002 * mass * G / inertia;
    run(&b, 80);
    check_close(motion(&b).v.x, 1 - 0.3 * G * 0.08, 1e-9);
    check_close(motion(&b).v.y, 0, 1e-9);
    run(&b, 120);
    check_close(motion(&b).v.x, 5.0 / 7, 1e-9);
    check_close(motion(&b).w.z, 5 - 0.2 * a, 1e-8);
    run_close(&b);
}

/* Six rows: rolls and spins, each with its own resistance. A second ball without resistance shows the difference. */
static void rolls_and_spins(void **state)
{
    (void)state;
    Run b;
    start(&b, "default", "",
          "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0], "
          "\"angular_velocity\": [0, 10, 5]",
          "\"type\": \"sphere\", \"radius\": 0.1, \"rolling_friction\": 0.002, \"spinning_friction\": 0.0005");
    const double a = 5.0 / 7 * 0.002 / 0.1 * G, spin = 0.0005 * mass * G / inertia;
    run(&b, 1000);
    check_close(motion(&b).v.x, 1 - a, 1e-9);
    check_close(motion(&b).w.z, 5 - spin, 1e-8);
    st_ContactReport report;
    st_Vec3 force, torque;
    assert_int_equal(st_system_contact(b.sys, 0, &report), ST_OK);
    assert_int_equal(report.dim, 6);
    st_system_contact_force(b.sys, st_scene_find_body(b.scene, "body"), &force, &torque);
    check_close(force.x, -mass * a, 1e-8);
    check_close(torque.z, -0.0005 * mass * G, 1e-8);
    check_close(torque.y, -inertia * a / radius, 1e-8); /* of rolling and of the friction force together */
    check_close(report.torque.z * (report.b.index1 == 1 ? 1 : -1), -0.0005 * mass * G, 1e-8);
    run(&b, (int)(1e3 / a) - 1000 + 3);
    Motion m = motion(&b);
    check_close(m.v.x, 0, 1e-9);
    check_close(m.pose.p.x, 1 / (2 * a), 1e-3); /* h v0/2 */
    run(&b, 1000);
    check_close(motion(&b).pose.p.x, m.pose.p.x, 1e-9);
    run_close(&b);
}

/* A cylinder on its end: its points of contact are on the rim, and slide there. */
static void disc_spins_down(void **state)
{
    (void)state;
    Run b;
    start(&b, "default", "",
          "\"inertia\": [0.006, 0.006, 0.01], \"position\": [0, 0, 0.05], "
          "\"angular_velocity\": [0, 0, 20]",
          "\"type\": \"cylinder\", \"radius\": 0.1, \"length\": 0.1, \"spinning_friction\": 0.004");
    const double a = (0.3 * radius + 0.004) * mass * G / 0.01;
    run(&b, 200);
    check_close(motion(&b).w.z, 20 - 0.2 * a,
                1e-6); /* points of contact move with the body: the rim's are found to 1e-9 */
    check_close(motion(&b).v.x, 0, 1e-6);
    run(&b, (int)(20 / a / 1e-3) + 2 - 200);
    double stands = motion(&b).turned;
    run(&b, 1000);
    check_close(motion(&b).turned, stands, 1e-9);
    run_close(&b);
}

/* A top with a fixed point: it cannot slide in any direction, and it still spins down. */
static void held_top_spins_down(void **state)
{
    (void)state;
    Run b;
    start(&b, "default", "",
          "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"angular_velocity\": [0, 0, 5], "
          "\"locks\": [\"x\", \"y\", \"rx\", \"ry\"]",
          spinning_skin);
    run(&b, 500);
    check_close(motion(&b).w.z, 5 - 0.5 * 0.002 * mass * G / inertia, 1e-9);
    run_close(&b);
}

/* The cone law has the artefact of sliding in spinning, too: the body rides at mu_s h w. */
static void cone_law_rides(void **state)
{
    (void)state;
    Run b;
    start(&b, "negrut-2017", "", ball_at_rest, spinning_skin);
    double worst = 0;
    run(&b, 200);
    for (int k = 0; k < 300; k++) {
        run(&b, 1);
        Motion m = motion(&b);
        worst = fmax(worst, fabs(m.pose.p.z - radius - 0.002 * b.def.h * m.w.z));
    }
    check_below(worst, 1e-9 * 1e-5 * 100); /* 1e-9 of the ride height, 1e-5 m, and the solver's 1e-12 m/s h */
    run_close(&b);
}

/* The value of a pair of materials, else the larger of the two. */
static void pairs_of_materials(void **state)
{
    (void)state;
    const char *pair[] = {"",
                          ", \"material_pairs\": [ { \"a\": \"ivory\", \"b\": \"felt\", \"spinning_friction\": %g } ]"};
    for (int k = 0; k < 2; k++) {
        char text[2048], pairs[256];
        Run b = {0};
        double mu = k == 0 ? 0.002 : 0.0005;
        snprintf(pairs, sizeof pairs, pair[k], mu);
        snprintf(text, sizeof text,
                 "{ \"simulation\": { \"h\": 0.001, \"end\": 1, \"tolerance\": 1e-12 },"
                 "  \"materials\": [ { \"name\": \"ivory\", \"friction\": 0.3, \"spinning_friction\": 0.001 },"
                 "    { \"name\": \"felt\", \"friction\": 0.3, \"spinning_friction\": 0.002 } ] %s,"
                 "  \"ground\": [ { \"type\": \"plane\", \"material\": \"felt\" } ],"
                 "  \"bodies\": [ { \"name\": \"body\", \"mass\": 2, %s,"
                 "    \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1, \"material\": \"ivory\" } ] } ] }",
                 pairs, ball_at_rest);
        check_ok(st_scene_parse(text, strlen(text), "pairs", NULL, 0, &b.scene, &b.def, &b.err), b.err);
        check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
        run(&b, 100);
        check_close(motion(&b).w.z, 5 - 0.1 * mu * mass * G / inertia, 1e-9);
        run_close(&b);
    }
}

/* Saved and taken up again in the middle of it: bit for bit. */
static void restart_is_exact(void **state)
{
    (void)state;
    Run b, c;
    static char memory[1 << 16];
    const char *body = "\"inertia\": 0.008, \"position\": [0, 0, 0.1], \"velocity\": [1, 0, 0], "
                       "\"angular_velocity\": [1, 10, 5]";
    const char *shape =
        "\"type\": \"sphere\", \"radius\": 0.1, \"rolling_friction\": 0.002, \"spinning_friction\": 0.001";
    start(&b, "default", "", body, shape);
    start(&c, "default", "", body, shape);
    run(&b, 100);
    size_t size = st_system_save(b.sys, memory, sizeof memory);
    assert_true(size <= sizeof memory);
    check_ok(st_system_restore(c.sys, memory, size, &c.err), c.err);
    run(&b, 100);
    run(&c, 100);
    assert_int_equal(st_system_hash(b.sys), st_system_hash(c.sys));
    run_close(&b);
    run_close(&c);
}

/* The effect of a contact on b beside its force: spinning friction alone is a torque about the normal. */
static void torque_is_reported(void **state)
{
    (void)state;
    Run b;
    st_ContactReport contact;
    start(&b, "default", "", ball_at_rest, spinning_skin);
    run(&b, 10);
    assert_int_equal(st_system_contact_count(b.sys), 1);
    assert_int_equal(st_system_contact(b.sys, 0, &contact), ST_OK);
    assert_int_equal(contact.dim, 4);
    check_close(contact.torque.z, -0.002 * 2 * 9.81, 1e-9); /* against the spin */
    run_close(&b);
}

/* Two shapes have the larger of their rolling frictions, whichever has it: w falls at r g m / (J + m R^2). */
static void the_larger_rolling_friction(void **state)
{
    (void)state;
    static const double pair[3][2] = {{0.01, 0}, {0.002, 0.01}, {0.01, 0.01}};
    for (int k = 0; k < 3; k++) {
        Run b = {0};
        char text[1024];
        snprintf(
            text, sizeof text,
            "{ \"simulation\": { \"h\": 0.001, \"end\": 1, \"tolerance\": 1e-12 }, \"ground\": [ { \"type\": "
            "\"plane\", \"friction\": 0.3, \"rolling_friction\": %g } ], \"bodies\": [ { \"name\": \"body\", "
            "\"mass\": 2, \"inertia\": 0.008, \"position\": [0, 0, 0.1], \"velocity\": [0.5, 0, 0], "
            "\"angular_velocity\": [0, 5, 0], \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.1, \"friction\": "
            "0.3, \"rolling_friction\": %g } ] } ] }",
            pair[k][0], pair[k][1]);
        check_ok(st_scene_parse(text, strlen(text), "rolling", NULL, 0, &b.scene, &b.def, &b.err), b.err);
        check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
        run(&b, 100);
        check_close(motion(&b).w.y, 5 - 0.1 * 0.01 * 2 * 9.81 / (0.008 + 2 * 0.1 * 0.1), 1e-6);
        run_close(&b);
    }
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *preset, *more, *says[2];
    } cases[] = {
        {"anitescu-potra-1997", "", {"skin", "pyramid"}},
        {"default", ", \"law\": \"pyramid\", \"solver\": \"lemke\"", {"spinning", "pyramid"}},
        {"song-2004", ", \"law\": \"coulomb\"", {"spinning", "compliant"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Run b;
        parse(&b, cases[k].preset, cases[k].more, ball_at_rest, spinning_skin);
        assert_int_equal(st_system_create(b.scene, &b.def, &b.sys, &b.err), ST_ERR_UNSUPPORTED);
        for (int n = 0; n < 2; n++)
            if (strstr(b.err.message, cases[k].says[n]) == NULL)
                fail_msg("\"%s\" does not say %s", b.err.message, cases[k].says[n]);
        run_close(&b);
    }
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_SystemDef def;
    const char text[] = "{ \"bodies\": [ { \"name\": \"b\", \"mass\": 1 } ], \"ground\": [ { \"type\": \"plane\", "
                        "\"spinning_friction\": -0.1 } ] }";
    assert_int_not_equal(st_scene_parse(text, strlen(text), "bad", NULL, 0, &scene, &def, &err), ST_OK);
    if (strstr(err.message, "spinning_friction") == NULL) fail_msg("%s", err.message);
    const char both[] = "{ \"bodies\": [ { \"name\": \"b\", \"mass\": 1 } ], \"materials\": [ { \"name\": \"m\" } ], "
                        "\"ground\": [ { \"type\": \"plane\", \"material\": \"m\", "
                        "\"spinning_friction\": 0.1 } ] }";
    assert_int_not_equal(st_scene_parse(both, strlen(both), "bad", NULL, 0, &scene, &def, &err), ST_OK);
    assert_non_null(strstr(err.message, "material"));
}

/* Rows of rolling and spinning have the unit and size of those of sliding: boxes of 8 mm that fall on a heap are solved
 * by sweeps as others are. With rows in rad/s, 12 of the 200 steps end at the limit of 1000 sweeps.    */
static void small_boxes_that_roll(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"simulation\": { \"h\": 0.0005, \"end\": 1, \"solver\": \"nsgs\", \"tolerance\": 1e-4 },"
        "  \"ground\": [ { \"type\": \"plane\", \"friction\": 0.5, \"rolling_friction\": 0.0005 } ],"
        "  \"fills\": [ { \"name\": \"g\", \"number\": 60, \"seed\": 2,"
        "    \"region\": { \"type\": \"box\", \"position\": [0, 0, 0.06], \"size\": [0.06, 0.06, 0.12] },"
        "    \"shapes\": [ { \"type\": \"box\", \"size\": [0.009, 0.008, 0.007], \"density\": 2500, \"friction\": 0.5,"
        "                  \"rolling_friction\": 0.0005 } ] } ] }";
    Run b;
    memset(&b, 0, sizeof b);
    check_ok(st_scene_parse(text, strlen(text), "boxes", NULL, 0, &b.scene, &b.def, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    run(&b, 200);
    run_close(&b);
}

/* Grains that roll and spin, enough for the sweeps over piles, settle from a small height: in every step without
 * impacts the contacts of each grain change its momentum and its angular momentum, and energy is explained. */
static void rolling_heap_balances(void **state)
{
    (void)state;
    static const char text[] =
        "{ \"simulation\": { \"h\": 0.0005, \"end\": 1 },"
        "  \"ground\": [ { \"type\": \"plane\", \"friction\": 0.5, \"rolling_friction\": 2e-4, "
        "                \"spinning_friction\": 1e-4 } ],"
        "  \"fills\": [ { \"name\": \"g\", \"number\": 150, \"seed\": 3, \"arrangement\": \"dropped\","
        "    \"region\": { \"type\": \"box\", \"position\": [0, 0, 0.012], \"size\": [0.03, 0.03, 0.024] },"
        "    \"shapes\": [ { \"type\": \"sphere\", \"radius\": 0.002, \"density\": 2500, \"friction\": 0.5,"
        "                  \"rolling_friction\": 2e-4, \"spinning_friction\": 1e-4 } ] } ] }";
    enum { GRAINS = 150, STEPS = 400 };
    const double r = 0.002, m = 2500 * 4.0 / 3 * 3.14159265358979323846 * r * r * r, own = 0.4 * m * r * r;
    st_Vec3 v[GRAINS + 1], w[GRAINS + 1], force[GRAINS + 1], torque[GRAINS + 1];
    int checked = 0;
    Run b;
    memset(&b, 0, sizeof b);
    check_ok(st_scene_parse(text, strlen(text), "heap", NULL, 0, &b.scene, &b.def, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0) {
            b.info = st_step_info();
            check_ok(st_system_step(b.sys, b.def.h, &b.info, &b.err), b.err);
            assert_int_equal(st_system_contact_forces(b.sys, force, torque, GRAINS + 1), ST_OK);
        }
        for (int k = 1; k <= GRAINS; k++) {
            const st_Vec3 before = v[k], turning = w[k];
            st_Pose pose;
            assert_int_equal(st_system_pose(b.sys, (st_BodyId){k}, &pose), ST_OK);
            assert_int_equal(st_system_velocity(b.sys, (st_BodyId){k}, &v[k], &w[k]), ST_OK);
            w[k] = rotate(pose.q, w[k]);
            if (step == 0 || b.info.struck > 0) continue; /* the impulse of a closing contact is no force */
            const st_Vec3 f = force[k], t = torque[k];
            check_close(m * (v[k].x - before.x) / b.def.h, f.x, 1e-9);
            check_close(m * (v[k].y - before.y) / b.def.h, f.y, 1e-9);
            check_close(m * (v[k].z - before.z) / b.def.h, f.z - m * G, 1e-9);
            check_close(own * (w[k].x - turning.x) / b.def.h, t.x, 1e-9 * r);
            check_close(own * (w[k].y - turning.y) / b.def.h, t.y, 1e-9 * r);
            check_close(own * (w[k].z - turning.z) / b.def.h, t.z, 1e-9 * r);
            checked++;
        }
    }
    assert_true(checked > 20 * GRAINS);
    check_close(b.info.unexplained, 0, 1e-3 * GRAINS * m * G * 0.024);
    run_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spin_stops),
        cmocka_unit_test(work_is_torque_times_angle),
        cmocka_unit_test(slides_and_spins),
        cmocka_unit_test(rolls_and_spins),
        cmocka_unit_test(disc_spins_down),
        cmocka_unit_test(held_top_spins_down),
        cmocka_unit_test(cone_law_rides),
        cmocka_unit_test(pairs_of_materials),
        cmocka_unit_test(torque_is_reported),
        cmocka_unit_test(the_larger_rolling_friction),
        cmocka_unit_test(restart_is_exact),
        cmocka_unit_test(refusals),
        cmocka_unit_test(small_boxes_that_roll),
        cmocka_unit_test(rolling_heap_balances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
