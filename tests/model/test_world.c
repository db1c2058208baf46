/* The rigid-body world: every row against finite differences of its own value, masses against exact quadrature, the
 * gyroscopic step against its energy estimate, and refused scenes. */
#include "check.h"
#include "model/joint.h"
#include "model/row_buffer.h"
#include "model/world.h"

#include <string.h>

static st_Vec3 random_vec(check_Random *random, double size)
{
    double x = check_random(random, -size, size), y = check_random(random, -size, size);
    return vec3(x, y, check_random(random, -size, size));
}

static st_Quat random_quat(check_Random *random)
{
    return quat_exp(random_vec(random, 2.0));
}

static st_BodyDef random_body(check_Random *random)
{
    st_BodyDef def = st_body_def();
    def.pose.p = random_vec(random, 1.0);
    def.pose.q = random_quat(random);
    def.mass = check_random(random, 0.5, 2.0);
    def.inertia = (st_Mat3){{1.0, 0.1, 0.05, 0.1, 1.2, -0.1, 0.05, -0.1, 0.9}};
    return def;
}

typedef struct Fixture {
    st_Scene *scene;
    sti_World *world;
    st_Model model;
    st_Sink sink;
    st_Error err;
} Fixture;

static void begin(Fixture *f)
{
    memset(f, 0, sizeof *f);
    check_ok(st_scene_create(&f->scene, &f->err), f->err);
}

static void compile(Fixture *f)
{
    st_Allocator allocator = st_default_allocator();
    check_ok(sti_world_create(f->scene, vec3(0, 0, -9.81), &allocator, &f->world, &f->err), f->err);
    f->model = sti_world_model(f->world);
    f->sink.allocator = allocator;
    f->sink.n_v = f->model.n_v;
}

static void end(Fixture *f)
{
    sti_row_buffer_free(&f->sink);
    sti_world_destroy(f->world);
    st_scene_destroy(f->scene);
}

static void fill(Fixture *f, const double *q)
{
    sti_row_buffer_clear_constraints(&f->sink);
    sti_row_buffer_clear_contacts(&f->sink);
    if (f->model.joints) check_ok(f->model.joints(f->world, 0, q, &f->sink, &f->err), f->err);
    if (f->model.soft) check_ok(f->model.soft(f->world, 0, q, &f->sink, &f->err), f->err);
    if (f->model.bounded) check_ok(f->model.bounded(f->world, 0, q, &f->sink, &f->err), f->err);
    if (f->model.contacts) check_ok(f->model.contacts(f->world, 0, q, INFINITY, &f->sink, &f->err), f->err);
}

/* All values in one list: joints, springs, gaps; and their rates by the rows. */
static int gather(Fixture *f, const double *v, double *value, double *rate)
{
    const st_Sink *s = &f->sink;
    int n = 0;
    for (int k = 0; k < s->joint_rows.n_rows; k++, n++)
        value[n] = s->joint[k].value, rate[n] = sti_row_dot(&s->joint_rows, k, v);
    for (int k = 0; k < s->soft_rows.n_rows; k++, n++)
        value[n] = s->soft[k].value, rate[n] = sti_row_dot(&s->soft_rows, k, v);
    for (int k = 0; k < s->bounded_rows.n_rows; k++) /* those that have a value */
        if (s->bounded[k].stiffness > 0)
            value[n] = s->bounded[k].value, rate[n++] = sti_row_dot(&s->bounded_rows, k, v);
    for (int k = 0; k < s->n_contacts; k++, n++)
        value[n] = s->contact[k].gap, rate[n] = sti_row_dot(&s->contact_rows, s->contact[k].first_row, v);
    return n;
}

/* Limits, friction, a motor and a spring: every row that acts on a joint's coordinate. */
static void drive(st_JointDef *joint, int type)
{
    joint->lower = -20, joint->upper = 20, joint->friction = 1, joint->stiffness = 2, joint->rest = 0.1;
    joint->motor.type = type % 2 == 0 ? ST_MOTOR_POSITION : ST_MOTOR_SPEED;
    joint->motor.target = 0.7, joint->motor.stiffness = 3, joint->motor.max_force = 5;
    if (sti_joint_other((st_JointType)type, sti_joint_coordinate((st_JointType)type)) != ST_COORDINATE_DEFAULT)
        joint->other_lower = -20, joint->other_upper = 20;
    if (joint->type == ST_JOINT_BALL) joint->coordinate = ST_COORDINATE_TWIST, joint->other_lower = -INFINITY;
    if (joint->type == ST_JOINT_BALL) joint->other_upper = 3;
}

/* Two bodies with every joint, spring and shape pair there is, at random poses off the assembled one:
 * central differences of the values along a random motion equal gradient . v. */
static void rows_are_gradients(void **state)
{
    (void)state;
    check_Random random = {1};
    for (int trial = 0; trial < 50; trial++) {
        Fixture f;
        begin(&f);
        st_BodyDef a = random_body(&random), b = random_body(&random);
        st_BodyId ids[2];
        check_ok(st_scene_add_body(f.scene, &a, &ids[0], &f.err), f.err);
        check_ok(st_scene_add_body(f.scene, &b, &ids[1], &f.err), f.err);
        for (int type = 0; type < ST_N_JOINT_TYPES; type++) {
            st_JointDef joint = st_joint_def((st_JointType)type);
            joint.a = ids[0], joint.b = type % 2 == 0 ? ids[1] : ST_GROUND;
            joint.point = random_vec(&random, 1), joint.point_b = random_vec(&random, 1);
            joint.axis = random_vec(&random, 1), joint.collide = true;
            joint.axis_b = cross(joint.axis, random_vec(&random, 1));
            joint.pitch = 0.3, joint.ratio = -1.7, joint.joint_a.index1 = 3, joint.joint_b.index1 = 4;
            const st_TendonPoint path[3] = {
                {.kind = ST_TENDON_POINT, .body = ids[0], .point = random_vec(&random, 1)},
                {.kind = ST_TENDON_CYLINDER, .axis = random_vec(&random, 1), .radius = 0.2, .body = ids[1]},
                {.kind = ST_TENDON_POINT, .point = random_vec(&random, 1)}};
            if (type == ST_JOINT_TENDON) joint.path = path, joint.n_path = 3;
            if (sti_joint_coordinates((st_JointType)type) != 0) drive(&joint, type);
            check_ok(st_scene_add_joint(f.scene, &joint, NULL, &f.err), f.err);
        }
        for (int k = 0; k < 3; k++) { /* linear, linear of rest length 0, to the ground */
            st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
            spring.a = ids[0], spring.b = k == 2 ? ST_GROUND : ids[1];
            spring.point_a = random_vec(&random, 1), spring.point_b = random_vec(&random, 1);
            spring.stiffness = 1, spring.rest = k == 1 ? 0 : 0.5;
            check_ok(st_scene_add_spring(f.scene, &spring, NULL, &f.err), f.err);
        }
        st_SpringDef bushing = st_spring_def(ST_SPRING_BUSHING);
        bushing.a = ids[0], bushing.b = ids[1], bushing.point_a = random_vec(&random, 1);
        bushing.frame = random_quat(&random), bushing.stiffness_along = vec3(1, 2, 3);
        bushing.stiffness_about = vec3(1, 0, 2); /* five rows: nothing about y */
        check_ok(st_scene_add_spring(f.scene, &bushing, NULL, &f.err), f.err);
        st_ShapeDef shapes[] = {st_point_def(), st_bar_def(0.7), st_sphere_def(0.3), st_box_def(0.1, 0.2, 0.3),
                                st_plane_def()};
        for (int k = 0; k < 5; k++) /* bars and boxes not with each other: cuts of edges are not material points */
            for (int body = 0; body < 2; body++) {
                if (k == 1 || k == 3) shapes[k].groups = 2, shapes[k].mask = ~2u;
                shapes[k].pose.p = random_vec(&random, 0.5);
                shapes[k].pose.q = random_quat(&random);
                check_ok(st_scene_add_shape(f.scene, ids[body], &shapes[k], NULL, &f.err), f.err);
            }
        st_ShapeDef ground = st_plane_def();
        check_ok(st_scene_add_shape(f.scene, ST_GROUND, &ground, NULL, &f.err), f.err);
        compile(&f);

        /* angles of revolute, cylindrical, planar and screw, the twist of ball, two of universal */
        assert_int_equal(f.model.n_q, 14 + 7);
        double q[21], v[12], forth[21], back[21], lo[200], hi[200], value[200], rate[200], ignored[200];
        for (int i = 0; i < 12; i++)
            v[i] = check_random(&random, -1, 1);
        f.model.move(f.world, f.world->q0, v, 0.3, q); /* away from the assembled configuration */
        for (int i = 0; i < 12; i++)
            v[i] = check_random(&random, -1, 1);
        fill(&f, q);
        int n = gather(&f, v, value, rate);
        assert_int_equal(f.sink.soft_rows.n_rows, 5 + 5 + 10);
        assert_int_equal(f.sink.bounded_rows.n_rows, 2 * 10);
        assert_true(n > 80);
        const double e = 2e-6; /* central: error e^2 (third derivative, up to 1e3) ~ 4e-9, rounding 2e-9 */
        f.model.move(f.world, q, v, e, forth);
        f.model.move(f.world, q, v, -e, back);
        fill(&f, forth);
        assert_int_equal(gather(&f, v, hi, ignored), n);
        fill(&f, back);
        assert_int_equal(gather(&f, v, lo, ignored), n);
        for (int k = 0; k < n; k++)
            check_close((hi[k] - lo[k]) / (2 * e), rate[k], 2e-8);
        end(&f);
    }
}

/* A hinge about a common axis: the angular spring's row is exact, and its angle counts whole turns. */
static void angular_spring_counts_turns(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    st_BodyDef def = st_body_def();
    def.mass = 1, def.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    def.pose.q = quat_exp(vec3(0.3, -0.2, 0.5));
    st_BodyId id;
    check_ok(st_scene_add_body(f.scene, &def, &id, &f.err), f.err);
    st_SpringDef spring = st_spring_def(ST_SPRING_ANGULAR);
    spring.b = id, spring.stiffness = 2, spring.axis = vec3(0, 0, 3), spring.rest = 0.25;
    check_ok(st_scene_add_spring(f.scene, &spring, NULL, &f.err), f.err);
    compile(&f);
    assert_int_equal(f.model.n_q, 8);
    double q[8], v[6] = {0};
    memcpy(q, f.world->q0, sizeof q);
    st_Vec3 spin = rotate_back(def.pose.q, vec3(0, 0, 1)); /* 1 rad/s about the world's z */
    vec3_store(v + 3, spin);
    for (int k = 0; k < 200; k++)
        f.model.move(f.world, q, v, 0.1, q);
    fill(&f, q);
    check_close(f.sink.soft[0].value, 20.0 - 0.25, 1e-12); /* 200 roundings */
    check_close(sti_row_dot(&f.sink.soft_rows, 0, v), 1.0, 1e-13);
    end(&f);
}

static void difference_inverts_move(void **state)
{
    (void)state;
    check_Random random = {2};
    Fixture f;
    begin(&f);
    st_BodyDef def = random_body(&random);
    def.locks = ST_LOCK_Y;
    check_ok(st_scene_add_body(f.scene, &def, NULL, &f.err), f.err);
    compile(&f);
    for (int trial = 0; trial < 100; trial++) {
        double v[5], q[7], d[5];
        for (int i = 0; i < 5; i++)
            v[i] = check_random(&random, -1.5, 1.5); /* below half a turn */
        f.model.move(f.world, f.world->q0, v, 1, q);
        f.model.difference(f.world, f.world->q0, q, d);
        for (int i = 0; i < 5; i++)
            check_close(d[i], v[i], 1e-14);
    }
    end(&f);
}

/* |w*|_J <= |w|_J for any step (docs/methods.md 2), and w* = w + h J^-1 (J w x w) + O(h^2). */
static void gyroscopic_step_loses_energy(void **state)
{
    (void)state;
    check_Random random = {3};
    Fixture f;
    begin(&f);
    st_BodyDef def = random_body(&random);
    check_ok(st_scene_add_body(f.scene, &def, NULL, &f.err), f.err);
    compile(&f);
    for (int trial = 0; trial < 1000; trial++) {
        double v[6] = {0}, before[6];
        st_Vec3 w = random_vec(&random, 10), L = mat3_mul(&def.inertia, w);
        double energy = dot(w, L), h = pow(10, check_random(&random, -4, 3));
        vec3_store(v + 3, w);
        memcpy(before, v, sizeof v);
        f.model.gyroscopic(f.world, h, f.world->q0, v);
        st_Vec3 new_w = vec3_load(v + 3);
        check_below(dot(new_w, mat3_mul(&def.inertia, new_w)), energy * (1 + 1e-13));
        memcpy(v, before, sizeof v);
        f.model.gyroscopic(f.world, 1e-7, f.world->q0, v);
        st_Vec3 change = sub(vec3_load(v + 3), w);
        /* J (w* - w)/h -> J w x w, error h |w|^3 ~ 1e-4 */
        st_Vec3 torque = scale(1e7, mat3_mul(&def.inertia, change)), expected = cross(L, w);
        check_close(norm(sub(torque, expected)), 0, 2e-3);
    }
    end(&f);
}

/* Forces at a point, constant, harmonic and by a table, in world and in body axes: power F . v_point equals
 * k . v for any velocity, which checks every lever and axis. */
static void forces_do_the_right_work(void **state)
{
    (void)state;
    check_Random random = {5};
    const double times[] = {0, 1, 3}, values[] = {2, 4, -2};
    const struct {
        double t, table, harmonic;
    } at[] = {{-1, 2, cos(-2 + 0.5)}, {0.5, 3, cos(1 + 0.5)}, {2, 1, cos(4 + 0.5)}, {9, -2, cos(18 + 0.5)}};
    for (int kind = 0; kind < 6; kind++) {
        Fixture f;
        begin(&f);
        st_BodyDef def = random_body(&random);
        st_ForceDef force = st_force_def();
        check_ok(st_scene_add_body(f.scene, &def, &force.body, &f.err), f.err);
        force.profile.type = (st_ProfileType)(kind / 2);
        force.body_axes = kind % 2 == 1;
        force.point = random_vec(&random, 1), force.force = random_vec(&random, 5),
        force.torque = random_vec(&random, 5);
        force.profile.frequency = 2, force.profile.phase = 0.5;
        force.profile.n_table = 3, force.profile.times = times, force.profile.values = values;
        check_ok(st_scene_add_force(f.scene, &force, NULL, &f.err), f.err);
        compile(&f);
        for (size_t j = 0; j < sizeof at / sizeof at[0]; j++) {
            double k[6], v[6], factor = kind < 2 ? 1 : (kind < 4 ? at[j].harmonic : at[j].table), power = 0;
            for (int i = 0; i < 6; i++)
                v[i] = check_random(&random, -1, 1);
            check_ok(f.model.force(f.world, at[j].t, f.world->q0, v, k, &f.err), f.err);
            for (int i = 0; i < 6; i++)
                power += k[i] * v[i];
            st_Quat R = def.pose.q;
            st_Vec3 w = rotate(R, vec3_load(v + 3)), velocity = add(vec3_load(v), cross(w, rotate(R, force.point)));
            st_Vec3 F = force.body_axes ? rotate(R, force.force) : force.force;
            st_Vec3 T = force.body_axes ? rotate(R, force.torque) : force.torque;
            double expected = factor * (dot(F, velocity) + dot(T, w)) - 9.81 * def.mass * v[2];
            check_close(power, expected, 1e-13 * (1 + fabs(expected)) * 10);
        }
        end(&f);
    }
}

/* Masses and inertias of shapes with offsets, against two-point Gauss quadrature, exact for a box. */
static void box_mass_is_exact(void **state)
{
    (void)state;
    check_Random random = {4};
    Fixture f;
    begin(&f);
    st_BodyDef def = st_body_def();
    st_BodyId id;
    check_ok(st_scene_add_body(f.scene, &def, &id, &f.err), f.err);
    st_ShapeDef box = st_box_def(0.1, 0.2, 0.4);
    box.density = 700;
    box.pose.p = random_vec(&random, 1);
    box.pose.q = random_quat(&random);
    check_ok(st_scene_add_shape(f.scene, id, &box, NULL, &f.err), f.err);
    st_ShapeDef mirror = box; /* a second one opposite, so that the centre of mass is the origin */
    mirror.pose.p = scale(-1, box.pose.p);
    check_ok(st_scene_add_shape(f.scene, id, &mirror, NULL, &f.err), f.err);
    compile(&f);
    double expected[9] = {0}, m = 0, g = 1 / sqrt(3.0), volume = 8 * 0.1 * 0.2 * 0.4;
    for (int k = 0; k < 16; k++) {
        st_Vec3 p = vec3((k & 1 ? g : -g) * 0.1, (k & 2 ? g : -g) * 0.2, (k & 4 ? g : -g) * 0.4);
        p = add(scale(k & 8 ? 1 : -1, box.pose.p), rotate(box.pose.q, p));
        double weight = 700 * volume / 8, c[3];
        vec3_store(c, p);
        m += weight;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                expected[3 * i + j] += weight * ((i == j ? dot(p, p) : 0) - c[i] * c[j]);
    }
    check_close(f.world->values.body[1].mass, m, 1e-13 * m);
    for (int k = 0; k < 9; k++)
        check_close(sti_inertia(&f.world->values.body[1]).m[k], expected[k], 1e-12 * m);
    end(&f);
}

static void sphere_and_bar_masses(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    st_BodyDef ball = st_body_def(), rod = st_body_def();
    st_BodyId ids[2];
    ball.mass = 3; /* given mass, shape's distribution: 2/5 m r^2 */
    rod.locks = ST_LOCK_RX;
    check_ok(st_scene_add_body(f.scene, &ball, &ids[0], &f.err), f.err);
    check_ok(st_scene_add_body(f.scene, &rod, &ids[1], &f.err), f.err);
    st_ShapeDef sphere = st_sphere_def(0.5), bar = st_bar_def(2);
    bar.density = 1.5;
    check_ok(st_scene_add_shape(f.scene, ids[0], &sphere, NULL, &f.err), f.err);
    check_ok(st_scene_add_shape(f.scene, ids[1], &bar, NULL, &f.err), f.err);
    compile(&f);
    check_close(sti_inertia(&f.world->values.body[1]).m[4], 0.4 * 3 * 0.25, 1e-15);
    check_close(f.world->values.body[2].mass, 3.0, 1e-15);
    check_close(sti_inertia(&f.world->values.body[2]).m[8], 3.0 * 4 / 12, 1e-15);
    end(&f);
}

/* In a planar scene contacts have one tangent, in space two; where nothing can slide, none. */
static void contact_dimension_follows_the_locks(void **state)
{
    (void)state;
    const struct {
        uint32_t locks;
        int dim;
    } cases[] = {{0, 3},
                 {ST_LOCK_Z | ST_LOCK_RX | ST_LOCK_RY, 2},
                 {ST_LOCK_Z | ST_LOCK_ROTATION, 2},
                 {ST_LOCK_X | ST_LOCK_Z | ST_LOCK_ROTATION, 1},
                 {ST_LOCK_X | ST_LOCK_RY | ST_LOCK_RZ, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Fixture f;
        begin(&f);
        st_BodyDef def = st_body_def();
        st_BodyId id;
        def.locks = cases[k].locks, def.pose.p.y = 0.2;
        check_ok(st_scene_add_body(f.scene, &def, &id, &f.err), f.err);
        st_ShapeDef sphere = st_sphere_def(0.2), plane = st_plane_def();
        plane.pose.q = st_quat_from_z(vec3(0, 1, 0));
        check_ok(st_scene_add_shape(f.scene, id, &sphere, NULL, &f.err), f.err);
        check_ok(st_scene_add_shape(f.scene, ST_GROUND, &plane, NULL, &f.err), f.err);
        compile(&f);
        fill(&f, f.world->q0);
        assert_int_equal(f.sink.n_contacts, 1);
        assert_int_equal(f.sink.contact[0].dim, cases[k].dim);
        check_close(f.sink.contact[0].gap, 0, 1e-16);
        end(&f);
    }
}

/* Each refusal names the thing and the value. */
static void refuse(st_Status status, const st_Error *err, const char *part)
{
    if (status == ST_OK) fail_msg("accepted, expected a refusal with \"%s\"", part);
    if (strstr(err->message, part) == NULL) fail_msg("message \"%s\" lacks \"%s\"", err->message, part);
}

static void bad_definitions_are_refused(void **state)
{
    (void)state;
    Fixture f;
    begin(&f);
    st_Error *err = &f.err;
    st_BodyDef def = st_body_def(), raw = {0};
    def.name = "crate7", def.mass = -1;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "body \"crate7\": mass is -1");
    def.mass = NAN;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "mass is");
    def.mass = 1, def.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 3}};
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "triangle inequality");
    def.inertia.m[8] = 1, def.inertia.m[1] = 0.5;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "not symmetric");
    /* a moment that is not needed may be left out; those given must still belong to an inertia */
    def.inertia = (st_Mat3){{0, 0, 0, 0, 1, 0.5, 0, -0.5, 1}}, def.locks = ST_LOCK_RX;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "not symmetric");
    def.inertia = (st_Mat3){{0, 0, 0, 0, 1, 3, 0, 3, 1}};
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "negative moments");
    def.inertia = (st_Mat3){{0, 2, 0, 2, 1, 0, 0, 0, 1}};
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "negative moments");
    def.inertia = (st_Mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}, def.locks = 0, def.pose.q.w = 2;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "unit quaternion");
    def.pose.q.w = 1, def.pose.p.x = INFINITY;
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "position");
    def.pose.p.x = 0;
    st_BodyId id;
    check_ok(st_scene_add_body(f.scene, &def, &id, err), *err);
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "two of this name");
    refuse(st_scene_add_body(f.scene, &raw, NULL, err), err, "st_body_def");
    def.name = "ground";
    refuse(st_scene_add_body(f.scene, &def, NULL, err), err, "ground");
    assert_int_equal(st_scene_body_count(f.scene), 1);
    def.inertia = (st_Mat3){{0, 0, 0, 0, 1, 1, 0, 1, 5}}, def.locks = ST_LOCK_RX, def.name = "turns about y and z";
    check_ok(st_scene_add_body(f.scene, &def, NULL, err), f.err);

    st_ShapeDef shape = st_sphere_def(0);
    refuse(st_scene_add_shape(f.scene, id, &shape, NULL, err), err, "radius is 0");
    shape = st_box_def(1, -1, 1);
    refuse(st_scene_add_shape(f.scene, id, &shape, NULL, err), err, "size along y is -2");
    shape = st_point_def();
    shape.mu = -0.1;
    refuse(st_scene_add_shape(f.scene, id, &shape, NULL, err), err, "friction is -0.1");
    refuse(st_scene_add_shape(f.scene, (st_BodyId){9}, &shape, NULL, err), err, "body number 9");

    st_JointDef joint = st_joint_def(ST_JOINT_REVOLUTE);
    refuse(st_scene_add_joint(f.scene, &joint, NULL, err), err, "both ends");
    joint.a = id, joint.axis = vec3(0, 0, 0), joint.name = "hinge";
    refuse(st_scene_add_joint(f.scene, &joint, NULL, err), err, "joint \"hinge\": axis is");
    joint.type = ST_JOINT_DISTANCE;
    refuse(st_scene_add_joint(f.scene, &joint, NULL, err), err, "coincide");

    st_SpringDef spring = st_spring_def(ST_SPRING_LINEAR);
    spring.a = id;
    refuse(st_scene_add_spring(f.scene, &spring, NULL, err), err, "both 0");
    spring.stiffness = -2;
    refuse(st_scene_add_spring(f.scene, &spring, NULL, err), err, "stiffness is -2");
    spring.stiffness = 1, spring.rest = 1;
    refuse(st_scene_add_spring(f.scene, &spring, NULL, err), err, "no direction");

    st_ForceDef force = st_force_def();
    refuse(st_scene_add_force(f.scene, &force, NULL, err), err, "does not move");
    force.body = id, force.profile.type = ST_PROFILE_TABLE;
    refuse(st_scene_add_force(f.scene, &force, NULL, err), err, "0 entries");
    force.profile.n_table = 2, force.profile.times = (const double[]){1, 1},
    force.profile.values = (const double[]){0, 0};
    refuse(st_scene_add_force(f.scene, &force, NULL, err), err, "must increase");
    end(&f);
}

/* Errors that appear only when bodies and shapes are combined. */
static void bad_worlds_are_refused(void **state)
{
    (void)state;
    st_Allocator allocator = st_default_allocator();
    const struct {
        double mass, inertia, velocity_x;
        uint32_t locks;
        const char *part;
    } cases[] = {
        {0, 0, 0, ST_LOCK_ROTATION, "mass is 0 and it is free to move"},
        {0, 0, 0, ST_LOCK_ROTATION | ST_LOCK_X | ST_LOCK_Y, "mass is 0 and it is free to move"},
        {1, 0, 0, ST_LOCK_RX | ST_LOCK_RY, "inertia about its z axis is 0"},
        {1, 1, 2, ST_LOCK_X, "velocity along x is 2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Fixture f;
        begin(&f);
        st_BodyDef def = st_body_def();
        def.mass = cases[k].mass, def.locks = cases[k].locks, def.velocity.x = cases[k].velocity_x;
        for (int i = 0; i < 9; i += 4)
            def.inertia.m[i] = cases[k].inertia;
        check_ok(st_scene_add_body(f.scene, &def, NULL, &f.err), f.err);
        refuse(sti_world_create(f.scene, vec3(0, 0, 0), &allocator, &f.world, &f.err), &f.err, cases[k].part);
        assert_null(f.world);
        end(&f);
    }
}

static void *refuse_memory(void *ctx, size_t size, size_t align)
{
    (void)ctx, (void)size, (void)align;
    return NULL;
}

/* The mass of a hull is computed when the first of its kind is added, not for each of them. */
static void masses_are_found_once_a_kind(void **state)
{
    (void)state;
    const st_Vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    st_Error err = {0};
    st_Scene *scene;
    st_BodyId id;
    double mass;
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 0; k < 2; k++) {
        const st_BodyDef def = st_body_def();
        st_ShapeDef hull = st_hull_def(corner, 4);
        hull.density = 12;
        check_ok(st_scene_add_body(scene, &def, &id, &err), err);
        check_ok(st_scene_add_shape(scene, id, &hull, NULL, &err), err);
    }
    const st_Allocator rich = scene->allocator;
    scene->allocator.alloc = refuse_memory;
    check_ok(st_scene_shapes_mass(scene, id, &mass, &err), err);
    check_close(mass, 2, 1e-14); /* 12 / 6 */
    scene->allocator = rich;
    st_scene_destroy(scene);
}

/* Equal shapes are stored once, with any names and poses, and are read back as given. */
static void equal_shapes_are_one_kind(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene, *copy;
    const st_Vec3 corner[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    st_Vec3 same[4];
    st_BodyId body[3];
    memcpy(same, corner, sizeof same);
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 0; k < 3; k++) {
        st_BodyDef def = st_body_def();
        st_ShapeDef hull = st_hull_def(k == 1 ? same : corner, 4), ball = st_sphere_def(0.5);
        check_ok(st_scene_add_body(scene, &def, &body[k], &err), err);
        hull.pose.p.x = k;
        ball.mu = k == 2 ? 0.25 : 0.5;
        ball.name = "ball";
        check_ok(st_scene_add_shape(scene, body[k], &hull, NULL, &err), err);
        check_ok(st_scene_add_shape(scene, body[k], &ball, NULL, &err), err);
    }
    assert_int_equal(scene->shape_cache.n, 3); /* the hull, and two frictions */
    st_ShapeDef before, after;
    st_BodyId owner;
    check_ok(st_scene_shape(scene, (st_ShapeId){5}, &before, &owner), err);
    assert_int_equal(owner.index1, body[2].index1);
    assert_true(before.pose.p.x == 2 && before.n_points == 4);
    assert_memory_equal(before.points, corner, sizeof corner);
    check_ok(st_scene_shape(scene, (st_ShapeId){4}, &after, NULL), err);
    assert_string_equal(after.name, "ball");
    assert_true(after.pose.p.x == 0 && after.mu == 0.5);
    /* changing one of a kind does not change the others */
    check_ok(st_scene_centre_body(scene, body[0], NULL, &err), err);
    check_ok(st_scene_shape(scene, (st_ShapeId){2}, &after, NULL), err);
    assert_true(after.pose.p.x != 0);
    check_ok(st_scene_shape(scene, (st_ShapeId){4}, &after, NULL), err);
    assert_true(after.pose.p.x == 0);
    check_ok(st_scene_scale_friction(scene, 2, &err), err);
    check_ok(st_scene_copy(scene, &copy, &err), err);
    check_ok(st_scene_shape(copy, (st_ShapeId){6}, &after, NULL), err);
    assert_true(after.mu == 0.5);
    assert_int_equal(copy->shape_cache.n, 3);
    st_scene_destroy(copy);
    st_scene_destroy(scene);
}

/* Objects without a name are named by their number from 1; the ground is not counted as a body. */
static void nameless_bodies_count_from_one(void **state)
{
    (void)state;
    st_Error err = {0};
    st_Scene *scene = NULL;
    st_BodyDef def = st_body_def();
    def.mass = 1, def.locks = ST_LOCK_ROTATION;
    check_ok(st_scene_create(&scene, &err), err);
    for (int k = 1; k <= 3; k++) {
        st_BodyId id;
        def.name = k == 2 ? "body3" : NULL; /* taken: the third is body4 */
        check_ok(st_scene_add_body(scene, &def, &id, &err), err);
    }
    assert_int_equal(st_scene_find_body(scene, "body1").index1, 1);
    assert_int_equal(st_scene_find_body(scene, "body3").index1, 2);
    assert_int_equal(st_scene_find_body(scene, "body4").index1, 3);
    st_scene_destroy(scene);
}

/* Friction is scaled everywhere: in a shape, in a material, in a pair of materials. */
static void friction_is_scaled_everywhere(void **state)
{
    (void)state;
    st_Scene *scene;
    st_Error err = {0};
    st_MaterialDef material = st_material_def();
    st_MaterialPairDef pair = st_material_pair_def();
    st_MaterialId steel, rubber;
    check_ok(st_scene_create(&scene, &err), err);
    material.name = "steel", material.mu = 0.2;
    check_ok(st_scene_add_material(scene, &material, &steel, &err), err);
    material.name = "rubber", material.mu = 0.8;
    check_ok(st_scene_add_material(scene, &material, &rubber, &err), err);
    pair.a = steel, pair.b = rubber, pair.mu = 0.6;
    check_ok(st_scene_add_material_pair(scene, &pair, &err), err);
    const st_MaterialId of[3] = {{0}, steel, rubber};
    for (int k = 0; k < 3; k++) {
        st_ShapeDef ball = st_sphere_def(1);
        ball.mu = 0.45, ball.material = of[k];
        check_ok(st_scene_add_shape(scene, ST_GROUND, &ball, NULL, &err), err);
    }
    for (int round = 0; round < 2; round++) {
        const double factor = round == 0 ? 1 : 1.5;
        if (round == 1) check_ok(st_scene_scale_friction(scene, factor, &err), err);
        const st_ShapeDef *plain = sti_shape_def(scene, 0), *a = sti_shape_def(scene, 1), *b = sti_shape_def(scene, 2);
        check_close(sti_pair_of(scene, plain, plain).mu, factor * 0.45, 1e-15); /* rounding */
        check_close(sti_pair_of(scene, plain, b).mu, factor * sqrt(0.45 * 0.8), 1e-15);
        check_close(sti_pair_of(scene, a, b).mu, factor * 0.6, 1e-15);
    }
    assert_int_equal(st_scene_material(scene, steel, &material), ST_OK);
    check_close(material.mu, 1.5 * 0.2, 1e-15);
    st_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_gradients),
        cmocka_unit_test(angular_spring_counts_turns),
        cmocka_unit_test(difference_inverts_move),
        cmocka_unit_test(gyroscopic_step_loses_energy),
        cmocka_unit_test(forces_do_the_right_work),
        cmocka_unit_test(box_mass_is_exact),
        cmocka_unit_test(sphere_and_bar_masses),
        cmocka_unit_test(contact_dimension_follows_the_locks),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(bad_worlds_are_refused),
        cmocka_unit_test(masses_are_found_once_a_kind),
        cmocka_unit_test(equal_shapes_are_one_kind),
        cmocka_unit_test(friction_is_scaled_everywhere),
        cmocka_unit_test(nameless_bodies_count_from_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
