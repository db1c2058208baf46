/* The broad phase: with it and without it the same contacts, bit for bit, whatever came before; filters. */
#include "check.h"
#include "model/row_buffer.h"
#include "model/world.h"

#include <stiction/stiction.h>
#include <string.h>

#define BODIES 60

static st_Vec3 random_vec(check_Random *random, double size)
{
    double x = check_random(random, -size, size), y = check_random(random, -size, size);
    return vec3(x, y, check_random(random, -size, size));
}

/* Bodies of sizes over two decades, some of two shapes, on a plane and a large fixed box. */
static st_Scene *random_scene(check_Random *random)
{
    st_Scene *scene;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    st_ShapeDef plane = st_plane_def(), slab = st_box_def(1, 3, 0.5);
    check_ok(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err), err);
    check_ok(st_scene_add_shape(scene, ST_GROUND, &slab, NULL, &err), err);
    for (int k = 0; k < BODIES; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        double size = pow(10, check_random(random, -2, 0));
        body.pose.p = add(vec3(0, 0, 1), random_vec(random, 1));
        body.pose.q = quat_exp(random_vec(random, 2));
        body.mass = 1;
        body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        st_Vec3 corner[12];
        for (int c = 0; c < 12; c++)
            corner[c] = random_vec(random, size);
        st_ShapeDef shape = k % 4 == 0   ? st_sphere_def(size)
                            : k % 4 == 1 ? st_box_def(size, size / 2, size / 3)
                            : k % 4 == 2 ? st_hull_def(corner, 12)
                                         : st_capsule_def(size / 2, size);
        check_ok(st_scene_add_shape(scene, id, &shape, NULL, &err), err);
        shape.pose.p = vec3(size, 0, 0);
        if (k % 5 == 0) check_ok(st_scene_add_shape(scene, id, &shape, NULL, &err), err);
    }
    return scene;
}

static sti_World *make_world(const st_Scene *scene)
{
    st_Allocator allocator = st_default_allocator();
    st_Error err = {0};
    sti_World *world;
    check_ok(sti_world_create(scene, vec3(0, 0, 0), &allocator, &world, &err), err);
    return world;
}

static void contacts(sti_World *world, const double *q, double margin, st_Sink *sink)
{
    st_Error err = {0};
    sink->allocator = st_default_allocator();
    sink->n_v = world->n_v;
    sti_row_buffer_clear_contacts(sink);
    check_ok(sti_contacts_push(world, q, margin, &(sti_Foresight){0}, sink, &err), err);
}

/* A world with a past, one without, and one that looks at all pairs agree on every bit. */
static void pairs_do_not_depend_on_the_past(void **state)
{
    (void)state;
    check_Random random = {51};
    st_Scene *scene = random_scene(&random);
    sti_World *old = make_world(scene), *all = make_world(scene);
    st_Sink with_past = {0}, fresh = {0}, every = {0};
    double *q = malloc((size_t)old->n_q * sizeof *q);
    memcpy(q, old->q0, (size_t)old->n_q * sizeof *q);
    long total = 0, apart = 0;
    for (int step = 0; step < 60; step++) {
        double margin = step % 7 == 3 ? 0.2 : 0.02;
        for (int k = 0; k < BODIES; k++) { /* most rest, some creep, a few leap */
            double size = check_random(&random, 0, 1) < 0.7 ? 0 : check_random(&random, 0, 1) < 0.9 ? 1e-2 : 0.5;
            st_Vec3 d = random_vec(&random, size), turn = random_vec(&random, size);
            double *at = q + (ptrdiff_t)7 * k;
            st_Quat turned = quat_product((st_Quat){at[3], at[4], at[5], at[6]}, quat_exp(turn));
            at[0] += d.x, at[1] += d.y, at[2] += d.z;
            at[3] = turned.w, at[4] = turned.x, at[5] = turned.y, at[6] = turned.z;
        }
        sti_World *new = make_world(scene);
        contacts(old, q, margin, &with_past);
        contacts(new, q, margin, &fresh);
        contacts(all, q, INFINITY, &every);
        assert_int_equal(with_past.n_contacts, fresh.n_contacts);
        int n = 0; /* the far manifold may hold more; every near least gap is there */
        for (int c = 0; c < fresh.n_contacts; c++) {
            assert_true(with_past.contact[c].id == fresh.contact[c].id);
            assert_true(with_past.contact[c].gap == fresh.contact[c].gap);
            assert_true(c == 0 || fresh.contact[c].id > fresh.contact[c - 1].id);
        }
        for (int c = 0; c < every.n_contacts; c++)
            n += every.contact[c].gap < margin;
        assert_true(fresh.n_contacts >= 1 && n >= 1);
        for (int c = 0; c < every.n_contacts; c++) { /* least gap of each pair of shapes */
            uint64_t pair = every.contact[c].id >> STI_FEATURE_BITS;
            double least = INFINITY, near = INFINITY;
            for (int i = 0; i < every.n_contacts; i++)
                if (every.contact[i].id >> STI_FEATURE_BITS == pair) least = fmin(least, every.contact[i].gap);
            for (int i = 0; i < fresh.n_contacts; i++)
                if (fresh.contact[i].id >> STI_FEATURE_BITS == pair) near = fmin(near, fresh.contact[i].gap);
            if (c > 0 && every.contact[c - 1].id >> STI_FEATURE_BITS == pair) continue;
            if (least < margin) assert_true(least == near);
            if (least >= margin) assert_true(near == INFINITY);
        }
        total += fresh.n_contacts;
        for (int64_t k = 0; k < old->collider.pairs.n_pairs; k++)
            apart += old->collider.pairs.memo[k].clear > 0;
        sti_world_destroy(new);
    }
    assert_true(apart > 1000); /* pairs that are known to be clear of each other for a while */
    assert_true(total > 1000);
    free(q);
    sti_row_buffer_free(&with_past), sti_row_buffer_free(&fresh), sti_row_buffer_free(&every);
    sti_world_destroy(old), sti_world_destroy(all);
    st_scene_destroy(scene);
}

/* ---- the same, of spheres, planes that move, sizes of 1e6 to 1, teleports ---------------------------- */

#define GRAINS 400

/* Grains over six decades of size, a fixed block and a tilted plane on a body, which moves with it. */
static st_Scene *grains(check_Random *random)
{
    st_Scene *scene;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    st_ShapeDef plane = st_plane_def(), block = st_box_def(2, 2, 0.1);
    plane.groups = 2, plane.mask = 1; /* not with each other, which they could not */
    check_ok(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err), err);
    for (int k = 0; k < GRAINS; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        double size = pow(10, check_random(random, -6, 0));
        body.fixed = k == 1;
        body.pose.p = k % 2 == 0 ? random_vec(random, 1) : random_vec(random, 1e-4);
        body.mass = 1;
        body.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        st_ShapeDef ball = st_sphere_def(size);
        ball.mu = 0.1 * (k % 3); /* three kinds of surfaces, one without friction */
        if (k == 0) plane.pose.q = quat_exp(random_vec(random, 0.5)), plane.pose.p.z = -1;
        const st_ShapeDef *shape = k == 0 ? &plane : k == 1 ? &block : &ball;
        check_ok(st_scene_add_shape(scene, id, shape, NULL, &err), err);
    }
    return scene;
}

static void same_bits(const st_Sink *a, const st_Sink *b)
{
    assert_int_equal(a->n_contacts, b->n_contacts);
    assert_int_equal(a->contact_rows.n_rows, b->contact_rows.n_rows);
    for (int c = 0; c < a->n_contacts; c++) {
        const sti_ContactEntry *x = &a->contact[c], *y = &b->contact[c];
        assert_true(x->id == y->id && x->gap == y->gap && x->surface->mu == y->surface->mu && x->dim == y->dim);
        assert_memory_equal(&x->point, &y->point, sizeof x->point);
        assert_memory_equal(&x->normal, &y->normal, sizeof x->normal);
        assert_true(c == 0 || x->id > a->contact[c - 1].id);
    }
    int64_t n = a->contact_rows.p[a->contact_rows.n_rows];
    assert_memory_equal(a->contact_rows.i, b->contact_rows.i, (size_t)n * sizeof *a->contact_rows.i);
    assert_memory_equal(a->contact_rows.x, b->contact_rows.x, (size_t)n * sizeof *a->contact_rows.x);
}

/* Including rows: data cached from step to step changes no bit. */
static void a_long_past_changes_no_bit(void **state)
{
    (void)state;
    check_Random random = {52};
    st_Scene *scene = grains(&random);
    sti_World *old = make_world(scene);
    st_Sink with_past = {0}, fresh = {0};
    double *q = malloc((size_t)old->n_q * sizeof *q), velocity[3 * GRAINS];
    memcpy(q, old->q0, (size_t)old->n_q * sizeof *q);
    for (int k = 0; k < 3 * GRAINS; k++)
        velocity[k] = k % 9 == 0 ? check_random(&random, -0.05, 0.05) : check_random(&random, -1e-5, 1e-5);
    long total = 0;
    for (int step = 0; step < 80; step++) {
        double margin = step % 20 == 7 ? 1e-2 : 1e-4;
        for (int k = 0; k < GRAINS; k++) {
            bool leaps = check_random(&random, 0, 1) < 0.01;
            for (int e = 0; e < 3 && k != 1; e++)
                q[7 * k + e] += leaps ? check_random(&random, -2, 2) : velocity[3 * k + e];
            if (k != 0 || step % 5 != 0) continue; /* the plane tilts now and then */
            st_Quat turned = quat_product((st_Quat){q[3], q[4], q[5], q[6]}, quat_exp(vec3(0.01, 0, 0.02)));
            q[3] = turned.w, q[4] = turned.x, q[5] = turned.y, q[6] = turned.z;
        }
        sti_World *new = make_world(scene);
        contacts(old, q, margin, &with_past);
        contacts(new, q, margin, &fresh);
        same_bits(&with_past, &fresh);
        total += fresh.n_contacts;
        sti_world_destroy(new);
        /* every pair by brute force: as many balls overlap as there are contacts of balls */
        const sti_Collider *c = &old->collider;
        int expected = 0, found = 0;
        for (int i = 3; i < c->n_shapes; i++) /* 0: ground, 1: plane, 2: block */
            for (int j = i + 1; j < c->n_shapes; j++)
                expected +=
                    norm(sub(c->pose[j].p, c->pose[i].p)) - sti_shape_of(c, i)->radius - sti_shape_of(c, j)->radius <
                    margin;
        for (int k = 0; k < fresh.n_contacts; k++)
            found += fresh.contact[k].shape_a > 3 && fresh.contact[k].shape_b > 3;
        assert_int_equal(found, expected);
    }
    assert_true(total > 20000);
    free(q);
    sti_row_buffer_free(&with_past), sti_row_buffer_free(&fresh);
    sti_world_destroy(old);
    st_scene_destroy(scene);
}

/* ---- no memory for a while --------------------------------------------------------------------------- */

typedef struct Purse {
    bool empty;
} Purse;

static void *spend(void *ctx, size_t size, size_t alignment)
{
    const st_Allocator rich = st_default_allocator();
    return ((const Purse *)ctx)->empty ? NULL : rich.alloc(rich.ctx, size, alignment);
}

static void give_back(void *ctx, void *p, size_t size, size_t alignment)
{
    const st_Allocator rich = st_default_allocator();
    (void)ctx;
    rich.free(rich.ctx, p, size, alignment);
}

static bool any_pair(const void *ctx, int i, int j, sti_Pair *out)
{
    (void)ctx;
    *out = i < j ? (sti_Pair){i, j} : (sti_Pair){j, i};
    return true;
}

/* A margin that grows makes pairs that there is no memory for; when there is, all of them are found. */
static void pairs_come_back_with_the_memory(void **state)
{
    (void)state;
    enum { N = 40 };
    Purse purse = {false};
    const st_Allocator allocator = {spend, give_back, &purse};
    const unsigned char extent[N] = {0};
    st_Error err = {0};
    sti_Pairs pairs;
    sti_Bounds box[N];
    st_Pose pose[N];
    for (int k = 0; k < N; k++) {
        pose[k] = pose_identity();
        box[k] = (sti_Bounds){vec3(2 * k, 0, 0), vec3(2 * k + 1, 1, 1)}; /* in a row, 1 apart */
    }
    check_ok(sti_pairs_create(&pairs, N, extent, any_pair, NULL, &allocator, &err), err);
    check_ok(sti_pairs_update(&pairs, box, pose, 0.01, NULL, N, &err), err);
    assert_int_equal(pairs.n_pairs, 0);
    purse.empty = true;
    assert_int_equal(sti_pairs_update(&pairs, box, pose, 1e3, NULL, N, &err), ST_ERR_MEMORY);
    purse.empty = false;
    for (int again = 0; again < 2; again++) {
        check_ok(sti_pairs_update(&pairs, box, pose, 1e3, NULL, N, &err), err);
        assert_int_equal(pairs.n_pairs, N * (N - 1) / 2);
    }
    sti_pairs_free(&pairs);
}

/* Two overlapping balls touch, unless groups, a joint, or an exclusion prevent it. */
static int touching(uint32_t groups, uint32_t mask, bool joint, bool collide, bool exclude)
{
    st_Scene *scene;
    st_Error err = {0};
    st_BodyId id[2];
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 0; k < 2; k++) {
        st_BodyDef body = st_body_def();
        body.pose.p.x = k;
        check_ok(st_scene_add_body(scene, &body, &id[k], &err), err);
        st_ShapeDef ball = st_sphere_def(0.6);
        if (k == 0) ball.groups = groups, ball.mask = mask;
        check_ok(st_scene_add_shape(scene, id[k], &ball, NULL, &err), err);
    }
    st_JointDef ball_joint = st_joint_def(ST_JOINT_BALL);
    ball_joint.a = id[0], ball_joint.b = id[1], ball_joint.collide = collide;
    if (joint) check_ok(st_scene_add_joint(scene, &ball_joint, NULL, &err), err);
    if (exclude) check_ok(st_scene_exclude(scene, id[1], id[0], &err), err);
    sti_World *world = make_world(scene);
    st_Sink sink = {0};
    contacts(world, world->q0, 0.01, &sink);
    int n = sink.n_contacts;
    sti_row_buffer_free(&sink);
    sti_world_destroy(world);
    st_scene_destroy(scene);
    return n;
}

static void filters(void **state)
{
    (void)state;
    assert_int_equal(touching(1, UINT32_MAX, false, false, false), 1);
    assert_int_equal(touching(2, UINT32_MAX, false, false, false), 1); /* the other touches all groups */
    assert_int_equal(touching(2, ~1u, false, false, false), 0);
    assert_int_equal(touching(0, UINT32_MAX, false, false, false), 0);
    assert_int_equal(touching(1, UINT32_MAX, true, false, false), 0);
    assert_int_equal(touching(1, UINT32_MAX, true, true, false), 1);
    assert_int_equal(touching(1, UINT32_MAX, false, false, true), 0);
}

/* Planar boxes on each other: two points a face; an ellipse on a box: one; all with one tangent. */
static void planar_faces_have_two_points(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    check_ok(st_scene_create(&scene, &err), err);
    st_ShapeDef plane = st_plane_def();
    plane.pose.q = st_quat_from_z(vec3(0, 1, 0));
    check_ok(st_scene_add_shape(scene, ST_GROUND, &plane, NULL, &err), err);
    for (int k = 0; k < 3; k++) {
        st_BodyDef body = st_body_def();
        st_BodyId id;
        body.pose.p = vec3(0.1 * k, 0.1 + 0.2 * k - 1e-6 * k, 0);
        body.locks = ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY;
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        /* thin across the plane: the way out must not be across it */
        st_ShapeDef shape = k < 2 ? st_box_def(0.3, 0.1, 1e-3) : st_ellipsoid_def(0.3, 0.1, 1e-3);
        check_ok(st_scene_add_shape(scene, id, &shape, NULL, &err), err);
    }
    sti_World *world = make_world(scene);
    st_Sink sink = {0};
    contacts(world, world->q0, 1e-3, &sink);
    assert_int_equal(sink.n_contacts, 5);
    for (int c = 0; c < 5; c++) {
        assert_int_equal(sink.contact[c].dim, 2);
        check_close(sink.contact[c].normal.y, 1, 1e-9);
        check_close(sink.contact[c].gap, c < 2 ? 0 : -1e-6, 1e-9);
    }
    sti_row_buffer_free(&sink);
    sti_world_destroy(world);
    st_scene_destroy(scene);
}

/* A ball with its middle on the axis of a capsule leaves in the plane, whatever the axis. */
static void balls_leave_axes_in_the_plane(void **state)
{
    (void)state;
    const st_Vec3 axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.6, 0, 0.8}, {0.6, 0.8, 0}};
    for (int k = 0; k < 15; k++) {
        const st_Vec3 axis = axes[k / 3];
        const int across = k % 3;
        st_Scene *scene;
        st_System *system;
        st_Error err = {0};
        st_Pose pose;
        st_BodyId id;
        st_ShapeDef capsule = st_capsule_def(0.1, 1), ball = st_sphere_def(0.1);
        st_BodyDef body = st_body_def();
        capsule.pose.q = st_quat_from_z(axis);
        if (dot(axis, vec3_axis(across)) == 0) body.pose.p = scale(0.1, axis);
        body.locks = (uint32_t)(ST_LOCK_X << across) | (ST_LOCK_ROTATION & ~(uint32_t)(ST_LOCK_RX << across));
        check_ok(st_scene_create(&scene, &err), err);
        check_ok(st_scene_add_shape(scene, ST_GROUND, &capsule, NULL, &err), err);
        check_ok(st_scene_add_body(scene, &body, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &ball, NULL, &err), err);
        st_SystemDef def = st_system_def();
        def.gravity = vec3(0, 0, 0);
        check_ok(st_system_create(scene, &def, &system, &err), err);
        for (int step = 0; step < 100; step++)
            check_ok(st_system_step(system, 1e-2, NULL, &err), err);
        st_system_pose(system, id, &pose);
        const double along = fmax(fmin(dot(axis, pose.p), 0.5), -0.5);
        assert_true(norm(sub(pose.p, scale(along, axis))) > 0.2 - 1e-3); /* both radii, up to the tolerance of gaps */
        st_system_destroy(system);
        st_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_do_not_depend_on_the_past), cmocka_unit_test(a_long_past_changes_no_bit),
        cmocka_unit_test(pairs_come_back_with_the_memory), cmocka_unit_test(filters),
        cmocka_unit_test(balls_leave_axes_in_the_plane),   cmocka_unit_test(planar_faces_have_two_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
