/* The step on flat arrays (setting `device`): the motion of one body, the balance of impulses, all near pairs found,
 * the same bits by any number of threads, agreement with the ordinary step, and refusals by name. The kernels are
 * those of a CUDA device; bench/device.c compares the bits there.
 */
#include "device_world.h"

#include <string.h>

static void begin_on_floor(World *w)
{
    st_ShapeDef floor = st_plane_def();
    begin(w);
    floor.mu = 0.5;
    add_to_ground(w, floor);
}

static st_BodyId add(World *w, double x, double y, double z, double radius, st_Vec3 velocity)
{
    st_ShapeDef shape = st_sphere_def(radius);
    shape.mu = 0.5;
    return add_body(w, shape, (st_Vec3){x, y, z}, velocity, 0);
}

/* ---- one body ----------------------------------------------------------------------------------- */

/* A ball that slides ends rolling at 5/7 of its speed, and stays there; it lands at gap 0. */
static void slides_into_rolling(void **state)
{
    (void)state;
    World w;
    begin_on_floor(&w);
    const st_BodyId id = add(&w, 0, 0, 0.1, 0.1, (st_Vec3){2.1, 0, 0});
    const st_BodyId falls = add(&w, 0, 3, 0.7, 0.1, (st_Vec3){0, 0, 0});
    start(&w);
    steps(&w, 240);
    check_close(velocity_of(&w, id, NULL).x, 1.5, 1e-3);
    check_close(velocity_of(&w, id, NULL).z, 0, 1e-9);
    steps(&w, 240);
    check_close(velocity_of(&w, id, NULL).x, 1.5, 1e-3);
    st_Pose pose;
    assert_int_equal(st_system_pose(w.system, falls, &pose), ST_OK);
    check_close(pose.p.z, 0.1, 1e-4);
    check_close(pose.p.x, 0, 1e-12);
    end(&w);
}

/* Rolling friction of arm c slows a rolling ball by 5/7 g c/r; a ball that spins about its normal by 5/2 g c/r^2. */
static void rolling_and_spinning(void **state)
{
    (void)state;
    World w;
    const double r = 0.1, arm = 0.004;
    begin_on_floor(&w);
    st_BodyDef body = st_body_def();
    st_ShapeDef shape = st_sphere_def(r);
    st_BodyId rolls, spins;
    shape.mu = 0.5, shape.rolling = arm, shape.spinning = arm;
    body.pose.p = (st_Vec3){0, 0, r};
    body.velocity = (st_Vec3){1, 0, 0};
    body.spin = (st_Vec3){0, 1 / r, 0};
    check_ok(st_scene_add_body(w.scene, &body, &rolls, &w.err), w.err);
    check_ok(st_scene_add_shape(w.scene, rolls, &shape, NULL, &w.err), w.err);
    body.pose.p.y = 2;
    body.velocity = (st_Vec3){0, 0, 0};
    body.spin = (st_Vec3){0, 0, 20};
    check_ok(st_scene_add_body(w.scene, &body, &spins, &w.err), w.err);
    check_ok(st_scene_add_shape(w.scene, spins, &shape, NULL, &w.err), w.err);
    w.def.tolerance = 1e-8;
    start(&w);
    steps(&w, 120);
    st_Vec3 spin;
    check_close(velocity_of(&w, rolls, NULL).x, 1 - 0.5 * 5.0 / 7 * 9.81 * arm / r, 1e-5);
    assert_int_equal(st_system_velocity(w.system, spins, NULL, &spin), ST_OK);
    check_close(spin.z, 20 - 0.5 * 2.5 * 9.81 * arm / (r * r), 1e-4);
    end(&w);
}

/* Two balls tied into one body, thrown spinning: without contact energy and both momenta stay. */
static void tumbles_freely(void **state)
{
    (void)state;
    World w;
    begin_on_floor(&w);
    st_BodyDef body = st_body_def();
    st_BodyId id;
    body.pose.p = (st_Vec3){0, 0, 50};
    body.spin = (st_Vec3){3, 0.5, 8};
    check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
    for (int k = 0; k < 3; k++) {
        st_ShapeDef shape = st_sphere_def(0.1);
        shape.pose.p = (st_Vec3){k == 0 ? 0.2 : -0.1, k == 1 ? 0.15 : k == 2 ? -0.15 : 0, 0};
        check_ok(st_scene_add_shape(w.scene, id, &shape, NULL, &w.err), w.err);
    }
    w.def.gravity = (st_Vec3){0, 0, 0};
    start(&w);
    double before, after;
    st_Vec3 L, L_after;
    check_ok(st_system_energy(w.system, &before, NULL, &w.err), w.err);
    assert_int_equal(st_system_momentum(w.system, NULL, &L), ST_OK);
    steps(&w, 240);
    check_ok(st_system_energy(w.system, &after, NULL, &w.err), w.err);
    assert_int_equal(st_system_momentum(w.system, NULL, &L_after), ST_OK);
    check_below(after, before * (1 + 1e-12)); /* the gyroscopic term is implicit: it may only lose */
    check_close(after, before, 0.1 * before);
    check_close(L_after.z, L.z, 0.1 * fabs(L.z));
    end(&w);
}

/* ---- many --------------------------------------------------------------------------------------- */

typedef enum Kind { BALLS, CLUMPS, SHAPES } Kind;

/* A ball, a box, a capsule or a hull of about this radius. */
static st_ShapeDef some_shape(int type, double r)
{
    static const st_Vec3 corner[4] = {{1, 0.1, 0}, {0.2, 0.95, 0.1}, {0.1, -0.2, 0.9}, {0.5, 0.5, -0.6}};
    static st_Vec3 points[8];
    if (type == 0) return st_sphere_def(r);
    if (type == 1) return st_box_def(r, 0.7 * r, 0.5 * r);
    if (type == 2) return st_capsule_def(0.5 * r, 1.2 * r);
    for (int k = 0; k < 8; k++) {
        const double side = k < 4 ? r : -r;
        points[k] = (st_Vec3){side * corner[k % 4].x, side * corner[k % 4].y, side * corner[k % 4].z};
    }
    return st_hull_def(points, 8);
}

/* A closed mesh: a bipyramid on an uneven ring of n corners, of about this radius. */
static st_ShapeDef bipyramid(int n, double r, st_Vec3 *points, int *triangles)
{
    for (int k = 0; k < n; k++) {
        const double angle = 6.283185307179586 * k / n, wide = r * (k % 2 == 0 ? 1 : 0.8);
        const int next = (k + 1) % n, pair[6] = {k, next, n, next, k, n + 1};
        points[k] = (st_Vec3){wide * cos(angle), wide * sin(angle), 0.1 * r * (k % 3)};
        memcpy(triangles + 6 * k, pair, sizeof pair);
    }
    points[n] = (st_Vec3){0.1 * r, 0, 0.7 * r};
    points[n + 1] = (st_Vec3){0, -0.1 * r, -0.6 * r};
    return st_mesh_def(points, n + 2, triangles, 2 * n);
}

/* An open sheet of n by n cells of width 2 half / n, whose heights are `bump` times a wave. */
static st_ShapeDef sheet(int n, double half, double bump, st_Vec3 *points, int *triangles)
{
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++)
            points[j * (n + 1) + i] =
                (st_Vec3){half * (2.0 * i / n - 1), half * (2.0 * j / n - 1), bump * sin(2.1 * i) * cos(1.3 * j)};
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int a = j * (n + 1) + i, b = a + 1, c = b + n + 1, d = a + n + 1;
            const int one[6] = {a, b, c, a, c, d}, two[6] = {a, b, d, b, c, d};
            memcpy(triangles + 6 * (j * n + i), (i + j) % 2 == 0 ? one : two, sizeof one);
        }
    return st_mesh_def(points, (n + 1) * (n + 1), triangles, 2 * n * n);
}

/* Balls of very different sizes, clumps of two, or other shapes, above a floor and beside a box, a ball and a mesh that
 * stand fixed.                                                                                                     */
static void heap(World *w, int n, Kind kind, double rolling)
{
    check_Random random = {5};
    begin_on_floor(w);
    st_ShapeDef box = st_box_def(0.3, 0.2, 0.15), knob = st_sphere_def(0.3);
    box.pose.p = (st_Vec3){0.4, 0.3, 0.1};
    box.pose.q = (st_Quat){cos(0.3), 0, sin(0.3), 0};
    knob.pose.p = (st_Vec3){-0.3, -0.3, 0};
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &box, NULL, &w->err), w->err);
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &knob, NULL, &w->err), w->err);
    st_Vec3 points[9];
    int triangles[42];
    st_ShapeDef rock = bipyramid(7, 0.3, points, triangles);
    rock.pose.p = (st_Vec3){-0.3, 0.3, 0.05};
    rock.pose.q = (st_Quat){cos(0.4), sin(0.4), 0, 0};
    check_ok(st_scene_add_shape(w->scene, ST_GROUND, &rock, NULL, &w->err), w->err);
    for (int k = 0; k < n; k++) {
        st_BodyDef body = st_body_def();
        const double radius = k % 17 == 0 ? 0.16 : check_random(&random, 0.02, 0.06);
        st_ShapeDef shape = kind == SHAPES ? some_shape(k % 4, 1.3 * radius) : st_sphere_def(radius);
        st_BodyId id;
        shape.mu = 0.4, shape.rolling = shape.spinning = rolling * radius;
        body.pose.p = (st_Vec3){check_random(&random, -0.5, 0.5), check_random(&random, -0.5, 0.5), 0.2 + 0.02 * k};
        body.velocity = (st_Vec3){0, 0, check_random(&random, -2, 0)};
        body.spin = (st_Vec3){check_random(&random, -5, 5), 0, 0};
        check_ok(st_scene_add_body(w->scene, &body, &id, &w->err), w->err);
        if (kind == CLUMPS && k % 3 == 0) {
            shape.pose.p.x = shape.radius * 0.7;
            check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
            shape.pose.p.x = -shape.radius * 0.7;
        }
        check_ok(st_scene_add_shape(w->scene, id, &shape, NULL, &w->err), w->err);
    }
}

/* m (v+ - v) = h (sum of forces) + impulse and J (w+ - w) = h (sum of torques) + angular impulse, body by body, with
 * impacts apart; |r_t| <= mu r_n; the floor, the box and the ball carry the weight in the end.                   */
static void impulses_balance(Kind kind, double rolling)
{
    World w;
    enum { N = 50 };
    heap(&w, N, kind, rolling);
    w.def.tolerance = kind == SHAPES ? 1e-4 : 1e-6, w.def.effort = ST_EFFORT_EXACT;
    start(&w);
    double mass[N + 1], weight = 0;
    st_Mat3 J[N + 1];
    int struck = 0;
    for (int b = 1; b <= N; b++) {
        check_ok(st_scene_body_mass(w.scene, (st_BodyId){b}, &mass[b], &J[b], &w.err), w.err);
        weight += 9.81 * mass[b];
    }
    for (int k = 0; k < 300; k++) {
        st_Vec3 v[N + 1], spin[N + 1];
        st_StepInfo info = st_step_info();
        for (int b = 1; b <= N; b++)
            assert_int_equal(st_system_velocity(w.system, (st_BodyId){b}, &v[b], &spin[b]), ST_OK);
        check_ok(st_system_step(w.system, w.def.h, &info, &w.err), w.err);
        struck += info.struck;
        st_BodyLoad load[N];
        check_ok(st_system_loads(w.system, load, N, &w.err), w.err);
        for (int b = 1; b <= N; b++) {
            st_Vec3 after, turned;
            assert_int_equal(st_system_velocity(w.system, (st_BodyId){b}, &after, &turned), ST_OK);
            double dv[3] = {after.x - v[b].x, after.y - v[b].y, after.z - v[b].z};
            double dw[3] = {turned.x - spin[b].x, turned.y - spin[b].y, turned.z - spin[b].z};
            const st_BodyLoad *l = &load[b - 1];
            double P[3] = {l->impulse.x, l->impulse.y, l->impulse.z};
            double L[3] = {l->angular_impulse.x, l->angular_impulse.y, l->angular_impulse.z};
            for (int from = 0; from < ST_N_LOADS; from++) {
                const st_Vec3 F = l->force[from], T = l->torque[from];
                P[0] += w.def.h * F.x, P[1] += w.def.h * F.y, P[2] += w.def.h * F.z;
                L[0] += w.def.h * T.x, L[1] += w.def.h * T.y, L[2] += w.def.h * T.z;
            }
            for (int e = 0; e < 3; e++) {
                check_close(mass[b] * dv[e], P[e], 1e-9 * weight * w.def.h);
                check_close(J[b].m[3 * e] * dw[0] + J[b].m[3 * e + 1] * dw[1] + J[b].m[3 * e + 2] * dw[2], L[e],
                            1e-9 * weight * w.def.h);
            }
        }
        for (int c = 0; c < st_system_contact_count(w.system); c++) {
            st_ContactReport contact;
            assert_int_equal(st_system_contact(w.system, c, &contact), ST_OK);
            check_below(hypot(contact.impulse[1], contact.impulse[2]), contact.impulse[0] * 0.71 + 1e-12);
            check_below(-contact.impulse[0], 0);
            if (!contact.struck) continue;
            assert_true(contact.force.x == 0 && contact.force.y == 0 && contact.force.z == 0);
        }
    }
    assert_true(struck > N / 2); /* each falls on something */
    st_Vec3 force[N + 1], torque[N + 1], alone, about;
    assert_int_equal(st_system_contact_forces(w.system, force, torque, N + 1), ST_OK);
    check_close(-force[0].z, weight, 0.02 * weight); /* a few still roll */
    for (int b = 1; b <= N; b++) {
        assert_int_equal(st_system_contact_force(w.system, (st_BodyId){b}, &alone, &about), ST_OK);
        check_close(force[b].z, alone.z, 1e-12 * weight);
        check_close(torque[b].x, about.x, 1e-12 * weight);
    }
    end(&w);
}

static void balance_of_balls(void **state)
{
    (void)state;
    impulses_balance(BALLS, 0);
}

static void balance_of_clumps_that_roll(void **state)
{
    (void)state;
    impulses_balance(CLUMPS, 0.05);
}

static void balance_of_shapes(void **state)
{
    (void)state;
    impulses_balance(SHAPES, 0.05);
}

static st_Quat random_turn(check_Random *random)
{
    double q[4], square = 0;
    for (int e = 0; e < 4; e++)
        q[e] = check_random(random, -1, 1), square += q[e] * q[e];
    return (st_Quat){q[0] / sqrt(square), q[1] / sqrt(square), q[2] / sqrt(square), q[3] / sqrt(square)};
}

/* Of the contacts of a shape; 1 if there are none. */
static double least_gap(const World *w, st_ShapeId shape)
{
    double least = 1;
    for (int c = 0; c < st_system_contact_count(w->system); c++) {
        st_ContactReport contact;
        assert_int_equal(st_system_contact(w->system, c, &contact), ST_OK);
        if (contact.shape_a.index1 == shape.index1 || contact.shape_b.index1 == shape.index1)
            least = fmin(least, contact.gap);
    }
    return least;
}

/* Two shapes turned at random, a little apart or a little into each other: the least gap of their contacts is the
 * distance that queries give (other code: collide/narrow). Overlapping, a face is preferred to two edges that are
 * nearer by a thousandth of the size; apart, a face may be nearer than the corner or edge that meets it. */
static void touches_as_queries_say(void **state)
{
    (void)state;
    check_Random random = {11};
    for (int trial = 0; trial < 320; trial++) {
        World w;
        st_BodyId id[2];
        st_ShapeId shape[2];
        st_Pose pose = {{0, 0, 5}, {1, 0, 0, 0}};
        const int type[2] = {trial % 4, trial / 4 % 4};
        const double want = check_random(&random, -8e-3, 4e-3);
        begin_on_floor(&w);
        for (int b = 0; b < 2; b++) {
            st_BodyDef body = st_body_def();
            const st_ShapeDef def = some_shape(type[b], 0.1);
            body.pose.q = random_turn(&random);
            body.pose.p = pose.p;
            check_ok(st_scene_add_body(w.scene, &body, &id[b], &w.err), w.err);
            check_ok(st_scene_add_shape(w.scene, id[b], &def, &shape[b], &w.err), w.err);
        }
        w.def.gravity = (st_Vec3){0, 0, -100}; /* contacts are searched up to 4 g h^2 */
        start(&w);
        st_Closest nearest;
        assert_int_equal(st_system_pose(w.system, id[1], &pose), ST_OK);
        for (pose.p.x = 0.25; pose.p.x > 0; pose.p.x -= fmax(nearest.gap - want, 1e-4)) {
            check_ok(st_system_set_pose(w.system, id[1], &pose, &w.err), w.err);
            check_ok(st_system_distance(w.system, shape[0], shape[1], &nearest, &w.err), w.err);
            if (nearest.gap < want + 2e-4) break;
        }
        steps(&w, 1);
        const double least = least_gap(&w, shape[1]);
        const double d = nearest.gap, lowest = d > 0 ? 0.5 * d : d - 1e-12, highest = d + 1.5e-4;
        if (least < lowest || least > highest)
            fail_msg("trial %d, shapes %d and %d: gap %g, distance %g", trial, type[0], type[1], least, d);
        end(&w);
    }
}

/* A shape turned at random near a closed mesh or an open sheet, from any side: its least gap is the distance that
 * queries give. Bounds as in touches_as_queries_say.                                                               */
static void touches_meshes_as_queries_say(void **state)
{
    (void)state;
    check_Random random = {23};
    for (int trial = 0; trial < 240; trial++) {
        World w;
        st_Vec3 points[36];
        int triangles[150];
        st_BodyId id;
        st_ShapeId shape, mesh;
        st_BodyDef body = st_body_def();
        const bool solid = trial % 2 == 0;
        const double want = check_random(&random, -6e-3, 4e-3);
        double way[3], length = 0;
        begin_on_floor(&w);
        st_ShapeDef wall = solid ? bipyramid(7, 0.4, points, triangles) : sheet(5, 0.5, 0.05, points, triangles);
        const st_ShapeDef def = some_shape(trial / 2 % 4, 0.1);
        wall.pose.p = (st_Vec3){0, 0, 3};
        wall.pose.q = (st_Quat){cos(0.3), 0, sin(0.3), 0};
        check_ok(st_scene_add_shape(w.scene, ST_GROUND, &wall, &mesh, &w.err), w.err);
        body.pose.q = random_turn(&random);
        for (int e = 0; e < 3; e++)
            way[e] = check_random(&random, -1, 1), length += way[e] * way[e];
        if (!solid) length -= way[2] * way[2], way[2] = trial % 4 == 1 ? 3 : -3, length += 9;
        body.pose.p = (st_Vec3){0, 0, 9};
        check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
        check_ok(st_scene_add_shape(w.scene, id, &def, &shape, &w.err), w.err);
        w.def.gravity = (st_Vec3){0, 0, -100}; /* contacts are searched up to 4 g h^2 */
        start(&w);
        st_Closest nearest = {0};
        st_Pose pose = body.pose;
        const st_Vec3 beside = {0, 0, 3};
        double away = 1.2;
        for (; away > 0; away -= fmax(nearest.gap - want, 1e-4)) {
            pose.p = (st_Vec3){beside.x + away * way[0] / sqrt(length), beside.y + away * way[1] / sqrt(length),
                               beside.z + away * way[2] / sqrt(length)};
            check_ok(st_system_set_pose(w.system, id, &pose, &w.err), w.err);
            check_ok(st_system_distance(w.system, shape, mesh, &nearest, &w.err), w.err);
            if (nearest.gap < want + 2e-4) break;
        }
        steps(&w, 1);
        const double least = least_gap(&w, mesh);
        /* at an edge each triangle measures the overlap along its own direction */
        const double d = nearest.gap, lowest = d > 0 ? 0.5 * d : 2 * d, highest = (d > 0 ? d : 0.7 * d) + 1.5e-4;
        if (least < lowest || least > highest)
            fail_msg("trial %d, shape %d, mesh %s: gap %g, distance %g", trial, trial / 2 % 4, solid ? "solid" : "open",
                     least, d);
        end(&w);
    }
}

/* Bodies slide and roll over a flat sheet of triangles as on a plane: no edge disturbs them. A box and a hull share
 * their load among more points, and agree to the tolerance of the solution. */
static void a_flat_mesh_is_a_plane(void **state)
{
    (void)state;
    static st_Vec3 points[961];
    static int triangles[5400];
    for (int type = 0; type < 4; type++) {
        st_Pose pose[2];
        st_Vec3 spin[2];
        for (int k = 0; k < 2; k++) {
            World w = {.def = st_system_def()};
            st_ShapeDef wall = k == 0 ? st_plane_def() : sheet(30, 2, 0, points, triangles);
            st_ShapeDef shape = some_shape(type, 0.1);
            st_BodyDef body = st_body_def();
            st_BodyId id;
            w.def.device = ST_DEVICE_FLAT, w.def.h = 1.0 / 240;
            w.def.tolerance = 1e-9, w.def.effort = ST_EFFORT_EXACT;
            wall.mu = shape.mu = 0.3;
            check_ok(st_scene_create(&w.scene, &w.err), w.err);
            check_ok(st_scene_add_shape(w.scene, ST_GROUND, &wall, NULL, &w.err), w.err);
            body.pose.p = (st_Vec3){-1.1, -0.9, 0.05};
            if (type == 0) body.pose.p.z = 0.1;
            if (type == 2) body.pose.q = (st_Quat){sqrt(0.5), sqrt(0.5), 0, 0}; /* lies */
            if (type == 3) body.pose.p.z = 0.12;                                /* falls on a face of its own choice */
            body.velocity = (st_Vec3){1.7, 1.3, 0};
            check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
            check_ok(st_scene_add_shape(w.scene, id, &shape, NULL, &w.err), w.err);
            start(&w);
            steps(&w, type == 3 ? 25 : 120);
            assert_int_equal(st_system_pose(w.system, id, &pose[k]), ST_OK);
            assert_int_equal(st_system_velocity(w.system, id, NULL, &spin[k]), ST_OK);
            end(&w);
        }
        const double bound = type == 0 ? 1e-12 : 1e-6;
        check_close(pose[0].p.x, pose[1].p.x, bound);
        check_close(pose[0].p.y, pose[1].p.y, bound);
        check_close(pose[0].p.z, pose[1].p.z, bound);
        check_close(spin[0].x, spin[1].x, 100 * bound);
        check_close(spin[0].z, spin[1].z, 100 * bound);
    }
}

/* Heaps of all shapes stay in a bowl made of triangles, and come to rest there. */
static void a_bowl_of_triangles_holds(void **state)
{
    (void)state;
    static double heights[441];
    World w;
    check_Random random = {3};
    for (int j = 0; j < 21; j++)
        for (int i = 0; i < 21; i++)
            heights[21 * j + i] = 0.02 * ((i - 10) * (i - 10) + (j - 10) * (j - 10)) * 0.25;
    w = (World){.def = st_system_def()};
    w.def.device = ST_DEVICE_FLAT, w.def.h = 1.0 / 240;
    check_ok(st_scene_create(&w.scene, &w.err), w.err);
    st_ShapeDef bowl = st_height_field_def(heights, 21, 21, 0.1);
    check_ok(st_scene_add_shape(w.scene, ST_GROUND, &bowl, NULL, &w.err), w.err);
    for (int k = 0; k < 80; k++) {
        st_BodyDef body = st_body_def();
        st_ShapeDef shape = some_shape(k % 4, 0.08);
        st_BodyId id;
        body.pose.p = (st_Vec3){check_random(&random, -0.4, 0.4), check_random(&random, -0.4, 0.4), 0.3 + 0.03 * k};
        check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
        check_ok(st_scene_add_shape(w.scene, id, &shape, NULL, &w.err), w.err);
    }
    start(&w);
    steps(&w, 720);
    double kinetic;
    check_ok(st_system_energy(w.system, &kinetic, NULL, &w.err), w.err);
    check_below(kinetic, 0.05); /* of about 80 bodies of 2 to 4 kg */
    for (int b = 1; b <= 80; b++) {
        st_Pose pose;
        assert_int_equal(st_system_pose(w.system, (st_BodyId){b}, &pose), ST_OK);
        check_below(hypot(pose.p.x, pose.p.y), 0.9);
        check_below(-pose.p.z, 0);
    }
    end(&w);
}

/* A column of five boxes stands where it was put; a box on a slope of 0.4 stays with mu = 0.5, and slides down one of
 * 0.7 by g (sin - mu cos) t^2 / 2; a capsule rolls down it at 2/3 of the speed of sliding without friction, as a
 * cylinder does (its ends are rounded: its own inertia). */
static void boxes_stand_and_slide(void **state)
{
    (void)state;
    World w;
    st_Pose pose;
    begin_on_floor(&w);
    for (int k = 0; k < 5; k++) {
        st_BodyDef body = st_body_def();
        st_ShapeDef shape = st_box_def(0.1, 0.1, 0.05);
        st_BodyId id;
        shape.mu = 0.5;
        body.pose.p = (st_Vec3){0, 0, 0.05 + 0.1 * k};
        check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
        check_ok(st_scene_add_shape(w.scene, id, &shape, NULL, &w.err), w.err);
    }
    w.def.tolerance = 1e-8;
    start(&w);
    steps(&w, 480);
    for (int k = 0; k < 5; k++) {
        assert_int_equal(st_system_pose(w.system, (st_BodyId){k + 1}, &pose), ST_OK);
        check_close(pose.p.z, 0.05 + 0.1 * k, 2e-3 * 0.05 * (k + 1)); /* overlaps of the dead band at most */
        check_close(pose.p.x, 0, 1e-6);
        check_close(pose.q.w, 1, 1e-9);
    }
    end(&w);

    for (int k = 0; k < 3; k++) {
        const double slope = k == 0 ? 0.4 : 0.7, along = sin(slope), away = cos(slope), t = 120.0 / 240;
        st_BodyDef body = st_body_def();
        st_ShapeDef shape = k < 2 ? st_box_def(0.1, 0.1, 0.05) : st_capsule_def(0.05, 0.4);
        st_BodyId id;
        begin_on_floor(&w);
        shape.mu = 0.5;
        if (k == 2) shape.pose.q = (st_Quat){sqrt(0.5), sqrt(0.5), 0, 0}; /* its axis along y */
        body.pose.p.z = 0.05;
        check_ok(st_scene_add_body(w.scene, &body, &id, &w.err), w.err);
        check_ok(st_scene_add_shape(w.scene, id, &shape, NULL, &w.err), w.err);
        w.def.gravity = (st_Vec3){9.81 * along, 0, -9.81 * away};
        w.def.tolerance = 1e-8;
        start(&w);
        steps(&w, 120);
        assert_int_equal(st_system_pose(w.system, id, &pose), ST_OK);
        double mass;
        st_Mat3 J;
        check_ok(st_scene_body_mass(w.scene, id, &mass, &J, &w.err), w.err);
        const double rolls = 9.81 * along / (1 + J.m[4] / (mass * 0.05 * 0.05));
        const double a = k == 0 ? 0 : k == 1 ? 9.81 * (along - 0.5 * away) : rolls;
        check_close(pose.p.x, 0.5 * a * t * (t + w.def.h), 1e-6 + 1e-5 * a); /* implicit Euler's sum */
        check_close(pose.p.z, 0.05, 1e-4);
        end(&w);
    }
}

/* Every pair that is near is a contact, once: against all pairs, for sizes of 1 to 50 in one cloud. */
static void finds_all_pairs(void **state)
{
    (void)state;
    World w;
    enum { N = 300 };
    check_Random random = {9};
    double x[N][3], r[N];
    begin_on_floor(&w);
    for (int k = 0; k < N; k++) {
        r[k] = k % 10 == 0 ? 0.5 : check_random(&random, 0.01, 0.05);
        for (int e = 0; e < 3; e++)
            x[k][e] = check_random(&random, -1, 1) + (e == 2 ? 3 : 0);
        add(&w, x[k][0], x[k][1], x[k][2], r[k], (st_Vec3){0, 0, 0});
    }
    start(&w);
    steps(&w, 1);
    static unsigned char found[N + 1][N + 1];
    memset(found, 0, sizeof found);
    for (int c = 0; c < st_system_contact_count(w.system); c++) {
        st_ContactReport contact;
        assert_int_equal(st_system_contact(w.system, c, &contact), ST_OK);
        const int a = contact.a.index1, b = contact.b.index1;
        assert_int_equal(found[a][b], 0);
        found[a][b] = found[b][a] = 1;
    }
    int touching = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) {
            const double d = sqrt(pow(x[i][0] - x[j][0], 2) + pow(x[i][1] - x[j][1], 2) + pow(x[i][2] - x[j][2], 2));
            const double gap = d - r[i] - r[j], margin = 0.02 * fmin(r[i], r[j]) + 4 * 9.81 * w.def.h * w.def.h;
            if (fabs(gap - margin) < 1e-12) continue;
            assert_int_equal(found[i + 1][j + 1], gap < margin);
            touching += gap < 0;
        }
    assert_true(touching > 100);
    end(&w);
}

/* One thread or three: the same bits; and again from the start. */
static void same_bits(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int kind = CLUMPS; kind <= SHAPES; kind++) {
        for (int k = 0; k < 3; k++) {
            World w;
            heap(&w, 200, (Kind)kind, 0.05);
            w.def.threads = k == 1 ? 3 : 1;
            start(&w);
            steps(&w, 30);
            hash[k] = st_system_hash(w.system);
            end(&w);
        }
        assert_true(hash[0] == hash[1]);
        assert_true(hash[0] == hash[2]);
    }
}

/* The ordinary step at a tight tolerance goes the same way, on a problem with one solution. */
static void agrees_with_the_ordinary_step(void **state)
{
    (void)state;
    st_Pose pose[2][3];
    for (int k = 0; k < 2; k++) {
        World w;
        begin_on_floor(&w);
        add(&w, 0, 0, 0.1, 0.1, (st_Vec3){0, 0, 0});
        add(&w, 0.21, 0, 0.1, 0.1, (st_Vec3){-1, 0.1, 0});
        add(&w, 0.1, 0.05, 0.5, 0.1, (st_Vec3){0, 0, 0});
        w.def.device = k == 0 ? ST_DEVICE_FLAT : ST_DEVICE_NONE;
        w.def.tolerance = 1e-11, w.def.slop = 0, w.def.max_iterations = 100000;
        w.def.margin = 0.01;
        start(&w);
        steps(&w, 120);
        for (int b = 0; b < 3; b++)
            assert_int_equal(st_system_pose(w.system, (st_BodyId){b + 1}, &pose[k][b]), ST_OK);
        end(&w);
    }
    for (int b = 0; b < 3; b++) { /* margins and overlaps are treated differently: to a part of a step's fall */
        check_close(pose[0][b].p.x, pose[1][b].p.x, 2e-3);
        check_close(pose[0][b].p.y, pose[1][b].p.y, 2e-3);
        check_close(pose[0][b].p.z, pose[1][b].p.z, 2e-3);
    }
}

/* A state that is set, or restored, goes to the device before the next step. */
static void follows_the_state(void **state)
{
    (void)state;
    World w;
    begin_on_floor(&w);
    const st_BodyId id = add(&w, 0, 0, 5, 0.1, (st_Vec3){0, 0, 0});
    start(&w);
    steps(&w, 10);
    const size_t size = st_system_save(w.system, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    st_system_save(w.system, bytes, size);
    steps(&w, 10);
    const uint64_t hash = st_system_hash(w.system);
    check_ok(st_system_restore(w.system, bytes, size, &w.err), w.err);
    steps(&w, 10);
    assert_true(st_system_hash(w.system) == hash);
    const st_Pose there = {{1, 2, 30}, {1, 0, 0, 0}};
    check_ok(st_system_set_pose(w.system, id, &there, &w.err), w.err);
    steps(&w, 1);
    st_Pose pose;
    assert_int_equal(st_system_pose(w.system, id, &pose), ST_OK);
    check_close(pose.p.x, 1, 1e-12);
    check_close(pose.p.z, 30, 0.1);
    free(bytes);
    end(&w);
}

/* A restored system and a clone continue with the bits of the original: impulses and colours are part of the state. */
static void restores_the_same_bits(void **state)
{
    (void)state;
    for (int kind = BALLS; kind <= SHAPES; kind++) {
        World w;
        st_System *twin = NULL;
        heap(&w, 60, (Kind)kind, kind == CLUMPS ? 0.05 : 0);
        start(&w);
        steps(&w, 70);
        const size_t size = st_system_save(w.system, NULL, 0);
        char *bytes = malloc(size);
        assert_non_null(bytes);
        assert_true(st_system_save(w.system, bytes, size) == size);
        check_ok(st_system_clone(w.system, &twin, &w.err), w.err);
        steps(&w, 20);
        const uint64_t hash = st_system_hash(w.system);
        for (int k = 0; k < 20; k++)
            check_ok(st_system_step(twin, w.def.h, NULL, &w.err), w.err);
        assert_true(st_system_hash(twin) == hash);
        st_system_destroy(twin);
        check_ok(st_system_restore(w.system, bytes, size, &w.err), w.err);
        assert_true(st_system_save(w.system, NULL, 0) == size); /* and again before a step */
        steps(&w, 20);
        assert_true(st_system_hash(w.system) == hash);
        /* without its impulses the run goes another way */
        check_ok(st_system_restore(w.system, bytes, size, &w.err), w.err);
        double q[7 * 60], v[6 * 60];
        st_system_state(w.system, q, v);
        check_ok(st_system_set_state(w.system, st_system_time(w.system), q, v, &w.err), w.err);
        steps(&w, 20);
        assert_true(st_system_hash(w.system) != hash);
        free(bytes);
        end(&w);
    }
}

static bool stop_now(void *ctx)
{
    return ++*(int *)ctx > 3;
}

/* A step that is cancelled, or too fast, leaves the state unchanged; rays use the state after a step; changes of
 * energy other than by friction are reported. */
static void steps_like_any_other(void **state)
{
    (void)state;
    World w;
    heap(&w, 60, BALLS, 0);
    w.def.tolerance = 1e-12, w.def.effort = ST_EFFORT_EXACT;
    start(&w);
    steps(&w, 60);
    int asked = 0;
    const uint64_t hash = st_system_hash(w.system);
    st_system_cancel_when(w.system, stop_now, &asked);
    assert_int_equal(st_system_step(w.system, w.def.h, NULL, &w.err), ST_ERR_CANCELLED);
    assert_true(st_system_hash(w.system) == hash);
    st_system_cancel_when(w.system, NULL, NULL);
    double kinetic, potential, kinetic_after, potential_after;
    st_StepInfo info = st_step_info();
    steps(&w, 1);
    check_ok(st_system_step(w.system, w.def.h, &info, &w.err), w.err);
    const double friction = info.friction, rest = info.unexplained;
    check_ok(st_system_energy(w.system, &kinetic, &potential, &w.err), w.err);
    check_ok(st_system_step(w.system, w.def.h, &info, &w.err), w.err);
    check_ok(st_system_energy(w.system, &kinetic_after, &potential_after, &w.err), w.err);
    check_close(info.friction - friction + info.unexplained - rest,
                kinetic_after + potential_after - kinetic - potential, 1e-10 * fabs(potential));
    end(&w);

    begin_on_floor(&w);
    w.def.speed_limit = 5;
    const st_BodyId id = add(&w, 0, 0, 20, 0.1, (st_Vec3){0, 0, 0});
    start(&w);
    st_RayHit hit;
    bool seen[2];
    for (int k = 0; k < 2; k++) {
        check_ok(st_system_ray(w.system, (st_Vec3){-1, 0, 20}, (st_Vec3){1, 0, 0}, 5, UINT32_MAX, &hit, &w.err), w.err);
        seen[k] = hit.body.index1 == id.index1;
        if (k == 0) steps(&w, 120); /* 1.2 m */
    }
    assert_true(seen[0] && !seen[1]);
    steps(&w, 2); /* 122 g h = 4.99 m/s */
    assert_int_equal(st_system_step(w.system, w.def.h, NULL, &w.err), ST_ERR_NUMERIC);
    check_close(velocity_of(&w, id, NULL).z, -122 * 9.81 / 240, 1e-9);
    end(&w);
}

/* The deepest contact is the deepest of all reports. */
static void check_deepest(const World *w)
{
    st_ContactReport report, deepest = {.gap = 0};
    st_BodyId a, b;
    for (int c = 0; c < st_system_contact_count(w->system); c++) {
        assert_int_equal(st_system_contact(w->system, c, &report), ST_OK);
        if (report.gap < deepest.gap) deepest = report;
    }
    assert_true(deepest.gap < 0);
    check_close(st_system_deepest(w->system, &a, &b), -deepest.gap, 0);
    assert_int_equal(a.index1, deepest.a.index1);
    assert_int_equal(b.index1, deepest.b.index1);
}

/* The state stays on the device until it is read: a system that is read after each step and one that is read only at
 * the end are the same. So is one that is read first after a step that was cancelled. (A debug build marks the state on
 * the host as NaN while it is away.) */
static void is_the_same_when_read_late(void **state)
{
    (void)state;
    for (int kind = BALLS; kind <= SHAPES; kind++) {
        World read, late;
        double q[2][7 * 60], v[2][6 * 60];
        heap(&read, 60, (Kind)kind, 0);
        heap(&late, 60, (Kind)kind, 0);
        start(&read);
        start(&late);
        for (int k = 0; k < 60; k++) {
            steps(&read, 1);
            st_system_state(read.system, q[0], v[0]);
        }
        steps(&late, 60);
        check_deepest(&late);
        assert_true(st_system_hash(late.system) == st_system_hash(read.system));
        steps(&read, 1);
        steps(&late, 1);
        int asked = 3;
        st_system_cancel_when(late.system, stop_now, &asked);
        assert_int_equal(st_system_step(late.system, late.def.h, NULL, &late.err), ST_ERR_CANCELLED);
        st_system_state(read.system, q[0], v[0]);
        st_system_state(late.system, q[1], v[1]);
        assert_memory_equal(q[0], q[1], sizeof q[0]);
        assert_memory_equal(v[0], v[1], sizeof v[0]);
        end(&read);
        end(&late);
    }
}

/* ---- refusals ----------------------------------------------------------------------------------- */

static void refused(World *w, const char *word)
{
    assert_int_equal(st_system_create(w->scene, &w->def, &w->system, &w->err), ST_ERR_UNSUPPORTED);
    if (strstr(w->err.message, word) == NULL) fail_msg("\"%s\" is not in: %s", word, w->err.message);
    assert_null(w->system);
    end(w);
}

static void refuses_by_name(void **state)
{
    (void)state;
    World w;
    st_ShapeDef cone = st_cone_def(0.1, 0.2), round;
    st_Vec3 circle[80];
    st_BodyId id;

    begin_on_floor(&w);
    id = add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    cone.name = "lid";
    check_ok(st_scene_add_shape(w.scene, id, &cone, NULL, &w.err), w.err);
    refused(&w, "lid");

    st_Vec3 corners[5];
    int faces[18];
    st_ShapeDef rock = bipyramid(3, 0.1, corners, faces);
    begin_on_floor(&w);
    id = add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    rock.name = "rock", rock.density = 0;
    check_ok(st_scene_add_shape(w.scene, id, &rock, NULL, &w.err), w.err);
    refused(&w, "rock");

    begin_on_floor(&w);
    id = add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    for (int k = 0; k < 80; k++)
        circle[k] = (st_Vec3){0.1 * cos(0.1570796327 * k), 0.1 * sin(0.1570796327 * k), k < 40 ? -0.05 : 0.05};
    round = st_hull_def(circle, 80);
    round.name = "coin";
    check_ok(st_scene_add_shape(w.scene, id, &round, NULL, &w.err), w.err);
    refused(&w, "32 corners");

    begin_on_floor(&w);
    id = add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    check_ok(st_scene_exclude(w.scene, id, add(&w, 0, 0, 2, 0.1, (st_Vec3){0, 0, 0}), &w.err), w.err);
    refused(&w, "a pair of bodies that do not touch");

    begin_on_floor(&w);
    add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    w.def.law = ST_LAW_PYRAMID;
    refused(&w, "pyramid");

    begin_on_floor(&w);
    add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    w.def.integrator = ST_INTEGRATOR_BDF2;
    refused(&w, "order two");

    begin_on_floor(&w);
    id = add(&w, 0, 0, 1, 0.1, (st_Vec3){0, 0, 0});
    start(&w);
    check_ok(st_system_push(w.system, id, &(st_Vec3){1, 0, 0}, NULL, &w.err), w.err);
    assert_int_equal(st_system_step(w.system, w.def.h, NULL, &w.err), ST_ERR_UNSUPPORTED);
    assert_non_null(strstr(w.err.message, "push"));
    end(&w);
}

/* A last step that is a millionth of the others: bodies at rest stay at rest, and nothing is thrown. */
static void a_tiny_step_gains_nothing(void **state)
{
    (void)state;
    World w;
    st_StepInfo info;
    begin_on_floor(&w);
    for (int i = 0; i < 64; i++)
        add(&w, 0.1 * (i % 4), 0.1 * (i / 4 % 4), 0.0499 + 0.0999 * (i / 16), 0.05, (st_Vec3){0, 0, 0});
    start(&w);
    steps(&w, 240);
    check_ok(st_system_step(w.system, w.def.h, &info, &w.err), w.err);
    const double before = info.kinetic + info.potential;
    check_ok(st_system_step(w.system, 1e-6 * w.def.h, &info, &w.err), w.err);
    const double weight = 64 * 4.0 / 3 * 3.14159265358979 * 1.25e-4 * 1000 * 9.81; /* of balls of water [N] */
    assert_true(info.kinetic + info.potential - before < 1e-9 * weight * 0.1);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slides_into_rolling),
        cmocka_unit_test(rolling_and_spinning),
        cmocka_unit_test(tumbles_freely),
        cmocka_unit_test(balance_of_balls),
        cmocka_unit_test(balance_of_clumps_that_roll),
        cmocka_unit_test(balance_of_shapes),
        cmocka_unit_test(touches_as_queries_say),
        cmocka_unit_test(touches_meshes_as_queries_say),
        cmocka_unit_test(a_flat_mesh_is_a_plane),
        cmocka_unit_test(a_bowl_of_triangles_holds),
        cmocka_unit_test(boxes_stand_and_slide),
        cmocka_unit_test(finds_all_pairs),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(agrees_with_the_ordinary_step),
        cmocka_unit_test(follows_the_state),
        cmocka_unit_test(restores_the_same_bits),
        cmocka_unit_test(steps_like_any_other),
        cmocka_unit_test(is_the_same_when_read_late),
        cmocka_unit_test(refuses_by_name),
        cmocka_unit_test(a_tiny_step_gains_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
