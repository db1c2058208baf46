/* A pile shared out among ranks (stiction/ranks.h), here threads: the state of 1, 2, 3 and 8 ranks is the same to the
 * bit, while bodies change owners and after restarts; contacts and sums are those of all ranks; a rank holds its share
 * of the bodies; failures and refusals reach rank 0 and leave the others serving.
 */
#include "check.h"
#include "counter.h"
#include "device/partition.h"
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

static void begin_with(Pile *p, int ranks, const st_Allocator *allocator)
{
    st_ShapeDef floor = st_plane_def();
    memset(p, 0, sizeof *p);
    sit_down(&p->table, p->seat, ranks, allocator);
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

static void begin(Pile *p, int ranks)
{
    begin_with(p, ranks, NULL);
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
    const int sizes[4] = {1, 2, 3, 8};
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

/* A stirrer that a motor turns, with a ball on its arm, in a box with balls that stand fixed: bodies without mass are
 * on all ranks. Their contacts, energies and joints are those of one rank. The state is read and set in between. */
static void test_driven(void **state)
{
    (void)state;
    uint64_t hash[3];
    st_StepInfo info[3];
    st_JointReport report[3];
    double depth[3];
    st_BodyId deepest[3][2];
    for (int k = 0; k < 3; k++) {
        Pile p;
        begin(&p, k == 0 ? 1 : k == 1 ? 2 : 5);
        add_grains(&p, 5, 4, 3, false, 0);
        st_ShapeDef arm = st_box_def(0.35, 0.04, 0.1), ball = st_sphere_def(0.06);
        arm.mu = ball.mu = 0.5;
        ball.pose.p = (st_Vec3){0.4, 0, 0};
        st_BodyDef body = st_body_def();
        body.pose.p = (st_Vec3){0.3, 0.2, 0.15};
        body.mass = 2;
        body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
        st_BodyId stirrer, post;
        check_ok(st_scene_add_body(p.scene, &body, &stirrer, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, stirrer, &arm, NULL, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, stirrer, &ball, NULL, &p.err), p.err);
        st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
        joint.a = ST_GROUND, joint.b = stirrer;
        joint.point = body.pose.p, joint.axis = (st_Vec3){0, 0, 1};
        joint.motor.type = ST_MOTOR_SPEED;
        joint.motor.target = 3;
        st_JointId id;
        check_ok(st_scene_add_joint(p.scene, &joint, &id, &p.err), p.err);
        for (int i = 0; i < 4; i++) {
            body.fixed = true;
            body.pose.p = (st_Vec3){-0.1 + 0.8 * (i % 2), -0.1 + 0.6 * (i / 2), 0.1};
            ball.pose.p = (st_Vec3){0, 0, 0};
            check_ok(st_scene_add_body(p.scene, &body, &post, &p.err), p.err);
            check_ok(st_scene_add_shape(p.scene, post, &ball, NULL, &p.err), p.err);
        }
        start(&p);
        steps(&p, 40);
        st_Pose pose;
        check_ok(st_system_pose(p.system, (st_BodyId){3}, &pose), p.err);
        pose.p.z += 0.5;
        check_ok(st_system_set_pose(p.system, (st_BodyId){3}, &pose, &p.err), p.err);
        steps(&p, 40);
        info[k] = p.info;
        hash[k] = st_system_hash(p.system);
        depth[k] = st_system_deepest(p.system, &deepest[k][0], &deepest[k][1]);
        check_ok(st_system_joint(p.system, id, ST_FRAME_WORLD, &report[k]), p.err);
        end(&p);
    }
    assert_true(depth[0] > 0 && fabs(report[0].torque.z) > 0);
    for (int k = 1; k < 3; k++) {
        assert_true(hash[k] == hash[0]);
        assert_int_equal(info[k].contacts, info[0].contacts);
        check_close(info[k].kinetic, info[0].kinetic, 1e-12 * info[0].kinetic); /* sums in another order */
        check_close(info[k].potential, info[0].potential, 1e-12 * fabs(info[0].potential));
        check_close(info[k].friction, info[0].friction, 1e-10 * fabs(info[0].friction));
        check_close(info[k].work, info[0].work, 1e-10 * fabs(info[0].work));
        assert_true(depth[k] == depth[0]);
        assert_int_equal(deepest[k][0].index1, deepest[0][0].index1);
        assert_int_equal(deepest[k][1].index1, deepest[0][1].index1);
        check_close(report[k].torque.z, report[0].torque.z, 1e-9 * fabs(report[0].torque.z));
    }
}

/* A heavy box on a slide and a pendulum on a spring above a pile: mechanisms are at rank 0, and the grains that they
 * touch at all ranks. The bits are those of one rank. */
static void test_mechanisms(void **state)
{
    (void)state;
    uint64_t hash[3];
    double force[3], height[3];
    for (int k = 0; k < 3; k++) {
        Pile p;
        begin(&p, k == 0 ? 1 : k == 1 ? 2 : 5);
        p.def.tolerance = 1e-6;
        add_grains(&p, 5, 4, 2, false, 0);
        st_BodyDef body = st_body_def();
        st_BodyId press, bob;
        st_ShapeDef box = st_box_def(0.3, 0.25, 0.05), ball = st_sphere_def(0.08);
        box.mu = ball.mu = 0.5;
        body.pose.p = (st_Vec3){0.3, 0.2, 0.55};
        body.mass = 3;
        body.inertia = (st_Mat3){{0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
        check_ok(st_scene_add_body(p.scene, &body, &press, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, press, &box, NULL, &p.err), p.err);
        st_JointDef joint = st_joint_def(ST_JOINT_PRISMATIC);
        joint.a = ST_GROUND, joint.b = press;
        joint.point = body.pose.p, joint.axis = (st_Vec3){0, 0, 1};
        st_JointId id;
        check_ok(st_scene_add_joint(p.scene, &joint, &id, &p.err), p.err);
        body.pose.p = (st_Vec3){-0.15, 0.2, 0.3};
        body.velocity.x = 1;
        body.mass = 0;
        body.inertia = (st_Mat3){{0}};
        check_ok(st_scene_add_body(p.scene, &body, &bob, &p.err), p.err);
        check_ok(st_scene_add_shape(p.scene, bob, &ball, NULL, &p.err), p.err);
        st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
        spring.a = ST_GROUND, spring.b = bob;
        spring.point_a = (st_Vec3){-0.15, 0.2, 1}, spring.stiffness = 2000, spring.damping = 20;
        check_ok(st_scene_add_spring(p.scene, &spring, NULL, &p.err), p.err);
        start(&p);
        steps(&p, 80);
        st_JointReport report;
        st_Pose pose;
        check_ok(st_system_joint(p.system, id, ST_FRAME_WORLD, &report), p.err);
        check_ok(st_system_pose(p.system, press, &pose), p.err);
        hash[k] = st_system_hash(p.system);
        force[k] = report.force.x, height[k] = pose.p.z;
        if (k > 0) assert_true(p.table.sent > 0);
        end(&p);
    }
    assert_true(height[0] < 0.5 && height[0] > 0.05); /* it came down, onto grains */
    for (int k = 1; k < 3; k++) {
        assert_true(hash[k] == hash[0]);
        check_close(force[k], force[0], 0);
        check_close(height[k], height[0], 0);
    }
}

/* The bytes that rank 1 holds after some steps. */
static double held_by_rank(int ranks)
{
    Counter counter = {.base = st_default_allocator()};
    const st_Allocator allocator = {.alloc = counting_alloc, .free = counting_free, .ctx = &counter};
    Pile p;
    begin_with(&p, ranks, &allocator);
    add_grains(&p, 30, 6, 6, false, 0);
    start(&p);
    steps(&p, 12);
    const double held = (double)atomic_load(&counter.bytes);
    end(&p);
    assert_int_equal(atomic_load(&counter.held), 0);
    return held;
}

/* A pile that is long in one direction: copies of neighbours are few. */
static void test_memory(void **state)
{
    (void)state;
    const double two = held_by_rank(2), eight = held_by_rank(8);
    assert_true(eight < 0.5 * two);
}

/* Each call of the allocator of rank 1 is refused in turn: rank 0 gets an error, and the next pile works. */
static void test_no_memory(void **state)
{
    (void)state;
    for (long long refuse = 1, calls = 2; refuse < calls; refuse++) {
        Counter counter = {.base = st_default_allocator(), .refuse_at = refuse};
        const st_Allocator allocator = {.alloc = counting_alloc, .free = counting_free, .ctx = &counter};
        Pile p;
        begin_with(&p, 2, &allocator);
        p.def.max_iterations = 5;
        add_grains(&p, 3, 2, 2, true, 1e-3);
        st_Status status = st_system_create(p.scene, &p.def, &p.system, &p.err);
        for (int k = 0; k < 14 && status == ST_OK; k++)
            status = st_system_step(p.system, p.def.h, NULL, &p.err);
        if (status == ST_OK) st_system_contact_count(p.system);
        st_Pose pose;
        if (status == ST_OK) status = st_system_pose(p.system, (st_BodyId){1}, &pose);
        calls = atomic_load(&counter.calls);
        if (refuse < calls) assert_int_equal(status, ST_ERR_MEMORY);
        st_system_destroy(p.system);
        check_ok(st_system_create(p.scene, &p.def, &p.system, &p.err), p.err);
        steps(&p, 2);
        end(&p);
        assert_int_equal(atomic_load(&counter.held), 0);
    }
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

/* ---- cuts --------------------------------------------------------------------------------------- */

enum { SIDE = 20, POINTS = SIDE * SIDE * SIDE };

typedef struct Cutter {
    Seat *seat;
    sti_Cut cut[MOST_THREAD_RANKS];
} Cutter;

/* A lattice; points on one side weigh more. */
static void lattice_point(int i, double x[3], double *weight)
{
    x[0] = i % SIDE, x[1] = i / SIDE % SIDE, x[2] = i / SIDE / SIDE;
    *weight = x[0] < 5 ? 7 : 1;
}

/* Every rank has some of the points, in no order of places. */
static void *cut_lattice(void *ctx)
{
    Cutter *cutter = ctx;
    const st_Ranks *ranks = &cutter->seat->ranks;
    double *x = calloc(3 * POINTS, sizeof *x), *weight = calloc(POINTS, sizeof *weight);
    double *room = calloc((size_t)sti_partition_room(ranks->size, POINTS), sizeof *room);
    int n = 0;
    for (int i = 0; i < POINTS; i++) {
        if (i * 7 % 13 % ranks->size != ranks->rank) continue;
        lattice_point(i, x + 3 * n, weight + n);
        n++;
    }
    sti_partition(x, weight, n, 1, ranks, cutter->cut, room);
    free(x);
    free(weight);
    free(room);
    return NULL;
}

/* All ranks get the same cuts, and each part has its share of the weight to 1 per cent, though planes of the lattice
 * have 5 per cent. */
static void test_cuts(void **state)
{
    (void)state;
    for (int size = 2; size <= 9; size++) {
        Table table = {.size = size};
        Seat seat[MOST_THREAD_RANKS];
        static Cutter cutter[MOST_THREAD_RANKS];
        pthread_t thread[MOST_THREAD_RANKS];
        double part[MOST_THREAD_RANKS] = {0}, total = 0;
        pthread_barrier_init(&table.barrier, NULL, (unsigned)size);
        for (int k = 0; k < size; k++) {
            seat[k] = (Seat){.table = &table, .ranks = {.rank = k, .size = size, .gather = seat_gather}};
            seat[k].ranks.ctx = &seat[k];
            cutter[k] = (Cutter){.seat = &seat[k]};
            assert_int_equal(pthread_create(&thread[k], NULL, cut_lattice, &cutter[k]), 0);
        }
        for (int k = 0; k < size; k++)
            assert_int_equal(pthread_join(thread[k], NULL), 0);
        pthread_barrier_destroy(&table.barrier);
        for (int i = 0; i < POINTS; i++) {
            double x[3], weight;
            lattice_point(i, x, &weight);
            const int rank = sti_rank_at(cutter[0].cut, size, x);
            assert_true(rank >= 0 && rank < size);
            part[rank] += weight;
            total += weight;
        }
        for (int k = 0; k < size; k++) {
            assert_memory_equal(cutter[k].cut + 1, cutter[0].cut + 1, (size_t)(size - 1) * sizeof(sti_Cut));
            check_close(part[k], total / size, 0.01 * total / size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts),      cmocka_unit_test(test_same_bits),  cmocka_unit_test(test_moving_on),
        cmocka_unit_test(test_contacts),  cmocka_unit_test(test_refusals),   cmocka_unit_test(test_too_many_contacts),
        cmocka_unit_test(test_driven),    cmocka_unit_test(test_mechanisms), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
