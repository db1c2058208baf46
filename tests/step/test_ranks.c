/* A pile shared out among ranks (stiction/ranks.h), here threads: the state of 1, 2, 3 and 7 ranks is the same to the
 * bit, while bodies change owners and after restarts; contacts and sums are those of all ranks; failures and refusals
 * reach rank 0 and leave the others serving.
 */
#include "check.h"
#include "thread_ranks.h"

#include <math.h>
#include <stiction/stiction.h>

typedef struct Pile {
    Table table;
    Seat seat[MOST_THREAD_RANKS];
    st_Scene *scene;
    st_System *system;
    st_SystemDef def;
    st_StepInfo info;
    st_Error err;
} Pile;

static void begin(Pile *p, int ranks)
{
    st_ShapeDef floor = st_plane_def();
    memset(p, 0, sizeof *p);
    sit_down(&p->table, p->seat, ranks);
    p->def = st_system_def();
    p->def.device = ST_DEVICE_FLAT;
    p->def.ranks = &p->seat[0].ranks;
    p->def.h = 1.0 / 240;
    check_ok(st_scene_create(&p->scene, &p->err), p->err);
    floor.mu = 0.5;
    check_ok(st_scene_add_shape(p->scene, ST_GROUND, &floor, NULL, &p->err), p->err);
    /* a hump under the grains: a height field, so that triangles are shared, too */
    const double heights[9] = {-0.1, -0.1, -0.1, -0.1, 0.12, -0.1, -0.1, -0.1, -0.1};
    st_ShapeDef hump = st_height_field_def(heights, 3, 3, 0.25);
    hump.pose.p = (st_Vec3){0.2, 0.2, 0};
    check_ok(st_scene_add_shape(p->scene, ST_GROUND, &hump, NULL, &p->err), p->err);
}

static void end(Pile *p)
{
    st_system_destroy(p->system);
    st_scene_destroy(p->scene);
    stand_up(&p->table, p->seat);
    for (int k = 1; k < p->table.size; k++)
        check_ok(p->seat[k].status, p->seat[k].err);
}

/* Spheres and, with `clumps`, pairs of them and boxes, in layers that fall and push each other about. */
static void add_grains(Pile *p, int nx, int ny, int nz, bool clumps, double rolling)
{
    for (int i = 0; i < nx * ny * nz; i++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        const int x = i % nx, y = i / nx % ny, z = i / nx / ny;
        const double radius = 0.05 * (1 + 0.1 * (i % 3));
        body.pose.p = (st_Vec3){0.13 * x + 0.02 * (z % 3), 0.13 * y + 0.015 * ((z + x) % 2), 0.08 + 0.14 * z};
        body.velocity = (st_Vec3){0.3 * (y % 2), -0.2 * (x % 2), -0.5};
        body.mass = 0.5;
        body.inertia = (st_Mat3){{1e-3, 0, 0, 0, 2e-3, 0, 0, 0, 1.5e-3}};
        check_ok(st_scene_add_body(p->scene, &body, &id, &p->err), p->err);
        for (int k = 0; k < (clumps && i % 2 == 0 ? 2 : 1); k++) {
            st_ShapeDef shape = clumps && k == 0 && i % 3 == 0 ? st_box_def(radius, 0.7 * radius, 0.8 * radius)
                                                               : st_sphere_def(k == 0 ? radius : 0.03);
            shape.mu = 0.5;
            shape.rolling = rolling;
            if (k == 1) shape.pose.p = (st_Vec3){0.03, 0.02, 0.02};
            check_ok(st_scene_add_shape(p->scene, id, &shape, NULL, &p->err), p->err);
        }
    }
}

static void start(Pile *p)
{
    check_ok(st_system_create(p->scene, &p->def, &p->system, &p->err), p->err);
}

static void steps(Pile *p, int n)
{
    for (int k = 0; k < n; k++)
        check_ok(st_system_step(p->system, p->def.h, &p->info, &p->err), p->err);
}

static void check_same_bits(bool clumps, double rolling)
{
    uint64_t hash[4];
    int contacts[4];
    const int sizes[4] = {1, 2, 3, 7};
    for (int k = 0; k < 4; k++) {
        Pile p;
        begin(&p, sizes[k]);
        add_grains(&p, 4, 4, 5, clumps, rolling);
        start(&p);
        steps(&p, 60);
        hash[k] = st_system_hash(p.system);
        contacts[k] = p.info.contacts;
        if (k > 0) assert_true(p.table.sent > 0); /* there are contacts between ranks */
        end(&p);
    }
    for (int k = 1; k < 4; k++) {
        assert_true(hash[k] == hash[0]);
        assert_int_equal(contacts[k], contacts[0]);
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    check_same_bits(false, 0);
    check_same_bits(false, 1e-3);
    check_same_bits(true, 0);
}

/* A heap at one side slides over to the other: bodies must change owners on the way, and impulses with them. */
static void test_moving_on(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        Pile p;
        begin(&p, k == 0 ? 1 : 4);
        p.def.gravity = (st_Vec3){8, 0, -9.81};
        add_grains(&p, 4, 3, 6, false, 0);
        st_BodyDef wall = st_body_def();
        st_ShapeDef box = st_box_def(0.2, 5, 5);
        wall.fixed = true;
        wall.pose.p = (st_Vec3){3, 0, 0};
        st_BodyId id;
        check_ok(st_scene_add_body(p.scene, &wall, &id, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, id, &box, NULL, &p.err), p.err);
        start(&p);
        steps(&p, 150);
        hash[k] = st_system_hash(p.system);
        end(&p);
    }
    assert_true(hash[0] == hash[1]);
}

/* Contacts of all ranks, each once: their forces carry the weight. */
static void test_contacts(void **state)
{
    (void)state;
    double lift[2] = {0, 0};
    int count[2];
    for (int k = 0; k < 2; k++) {
        Pile p;
        begin(&p, k == 0 ? 1 : 3);
        p.def.tolerance = 1e-8;
        p.def.effort = ST_EFFORT_EXACT;
        p.def.max_iterations = 20000;
        add_grains(&p, 5, 4, 1, false, 0);
        start(&p);
        steps(&p, 240);
        count[k] = st_system_contact_count(p.system);
        for (int c = 0; c < count[k]; c++) {
            st_ContactReport contact;
            check_ok(st_system_contact(p.system, c, &contact), p.err);
            if (contact.a.index1 == 0 || contact.b.index1 == 0) lift[k] += fabs(contact.force.z);
        }
        end(&p);
    }
    assert_int_equal(count[0], count[1]);
    assert_true(lift[0] > 0 && fabs(lift[0] - lift[1]) < 1e-9 * lift[0]);
}

static st_Status step_after_failures(Pile *p)
{
    st_System *second = NULL;
    st_Status status = st_system_create(p->scene, &p->def, &second, &p->err); /* two piles at once */
    if (status == ST_OK) status = st_system_step(second, p->def.h, NULL, &p->err);
    st_system_destroy(second);
    return status;
}

static void test_refusals(void **state)
{
    (void)state;
    Pile p;
    begin(&p, 3);
    add_grains(&p, 3, 3, 2, false, 0);
    p.def.device = ST_DEVICE_NONE;
    assert_int_equal(st_system_create(p.scene, &p.def, &p.system, &p.err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(p.err.message, "3 ranks"));
    p.def.device = ST_DEVICE_FLAT;
    p.def.ranks = &p.seat[1].ranks;
    assert_int_equal(st_system_create(p.scene, &p.def, &p.system, &p.err), ST_ERR_ARGUMENT);
    assert_non_null(strstr(p.err.message, "rank 1 of 3"));
    p.def.ranks = &p.seat[0].ranks;
    start(&p);
    steps(&p, 5);
    check_ok(step_after_failures(&p), p.err);
    st_system_cancel(p.system);
    assert_int_equal(st_system_step(p.system, p.def.h, NULL, &p.err), ST_ERR_CANCELLED);
    steps(&p, 5);
    end(&p);
    assert_int_equal(st_ranks_serve(NULL, NULL, &p.err), ST_ERR_ARGUMENT);
}

/* A ball with more contacts than there are colours is refused on all ranks, by its number. */
static void test_too_many_contacts(void **state)
{
    (void)state;
    Pile p;
    begin(&p, 2);
    for (int i = 0; i <= 120; i++) {
        st_BodyDef body = st_body_def();
        st_ShapeDef shape = st_sphere_def(i == 0 ? 1.0 : 0.08);
        st_BodyId id;
        const double up = 1 - 2 * (i - 0.5) / 120, around = 2.399963229728653 * i; /* evenly over a sphere */
        const double across = i == 0 ? 0 : sqrt(1 - up * up), r = i == 0 ? 0 : 1.08;
        body.pose.p = (st_Vec3){r * across * cos(around), r * across * sin(around), 5 + (i == 0 ? 0 : r * up)};
        check_ok(st_scene_add_body(p.scene, &body, &id, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, id, &shape, NULL, &p.err), p.err);
    }
    start(&p);
    assert_int_equal(st_system_step(p.system, p.def.h, NULL, &p.err), ST_ERR_UNSUPPORTED);
    end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_bits), cmocka_unit_test(test_moving_on),         cmocka_unit_test(test_contacts),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_too_many_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
