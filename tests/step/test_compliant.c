/* Distributed compliant contact against the ellipse of Song, Pang & Kumar 2004, section 6, and a sphere pressed on a
 * plane. The ellipse is a model of the user's own, so that nothing but the contact model is between us and the
 * reference (tests/reference/song-2004, and the first steps of cone/vectors.json). */
#include "check.h"
#include "math/quat.h"
#include "step/reference.h"

#include <stiction/io.h>

/* ---- the ellipse ------------------------------------------------------------------------------- */

#define MASS    0.05
#define INERTIA 1.5e-4
#define MU      0.2
#define H       1e-4

/* The surface of the ellipse in the model. */
typedef struct Surface {
    double young, rolling, spinning;
} Surface;

static const double start_q[3] = {0, 0.0974556066329, 1.3089969389957472};

static st_Status ellipse_mass(void *ctx, const double *q, double *M, st_Error *err)
{
    (void)ctx, (void)q, (void)err;
    for (int k = 0; k < 9; k++)
        M[k] = 0;
    M[0] = M[4] = MASS, M[8] = INERTIA;
    return ST_OK;
}

static st_Status ellipse_force(void *ctx, double t, const double *q, const double *v, double *k, st_Error *err)
{
    (void)ctx, (void)t, (void)q, (void)v, (void)err;
    k[0] = k[2] = 0, k[1] = -9.81 * MASS;
    return ST_OK;
}

/* The lowest point p of the ellipse: p = -R D^2 R'n / |D R'n|. */
static st_Status ellipse_contacts(void *ctx, double t, const double *q, double margin, st_Sink *sink, st_Error *err)
{
    (void)t;
    const Surface *surface = ctx;
    double c = cos(q[2]), s = sin(q[2]), x = 0.01 * s, y = 0.0025 * c, depth = sqrt(0.01 * s * s + 0.0025 * c * c);
    double px = -(c * x - s * y) / depth, py = -(s * x + c * y) / depth;
    if (q[1] + py > margin) return ST_OK;
    const int index[3] = {0, 1, 2};
    const double gradient[6] = {0, 1, px, 1, 0, -py}, turning[9] = {0, 0, 0, 0, 0, 0, 0, 0, -1};
    st_ContactRow row = {.id = 1,
                         .gap = q[1] + py,
                         .mu = MU,
                         .rolling = surface->rolling,
                         .spinning = surface->spinning,
                         .dim = 2,
                         .count = 3,
                         .index = index,
                         .gradient = gradient,
                         .turning = turning, /* normal x tangent = y cross x = -z */
                         .elastic = {{0, 0}, {surface->young, 0.3}},
                         .a = -1,
                         .point = {q[0] + px, q[1] + py, 0},
                         .normal = {0, 1, 0},
                         .tangent = {1, 0, 0}};
    return st_push_contact(sink, &row, err);
}

static st_System *ellipse_by(Surface *surface, st_ContactModel contact, st_Law law)
{
    st_Error err;
    st_Model model = st_model_def();
    st_SystemDef def = st_system_def();
    st_System *system;
    const double v0[3] = {0};
    model.n_q = model.n_v = 3;
    model.ctx = surface, model.mass = ellipse_mass, model.force = ellipse_force, model.contacts = ellipse_contacts;
    check_ok(st_preset_apply(&def, "song-2004", &err), err);
    def.contact = contact, def.law = law, def.h = H, def.tolerance = 1e-10;
    def.patch_elements = 3, def.patch_spacing = 1e-6;
    def.active_gap = def.margin = 0.01; /* the printed model never looks at the gap */
    check_ok(st_system_create_model(&model, start_q, v0, &def, &system, &err), err);
    return system;
}

/* By the paper's law. */
static st_System *ellipse(Surface *surface, st_ContactModel contact)
{
    return ellipse_by(surface, contact, ST_LAW_BOX);
}

static void step(st_System *system)
{
    st_Error err;
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(system, H, &info, &err), err);
    check_below(info.solve.residual.natural, 1e-10);
}

/* Forces of the elements, those with the smaller x first. */
static int element_forces(const st_System *system, double *normal, double *tangent)
{
    int n = st_system_contact_count(system);
    for (int c = 0; c < n; c++) {
        st_ContactReport report;
        assert_int_equal(st_system_contact(system, c, &report), ST_OK);
        normal[c] = report.impulse[0] / H, tangent[c] = report.impulse[1] / H;
    }
    return n;
}

/* Twenty steps digit by digit, the first ones and some of the later, on elements and rigid: matrices, signs, drift
 * and update. */
static void steps_of_the_ellipse(void **state)
{
    (void)state;
    const char *const columns[2][9] = {{"x", "y", "theta", "ln1", "ln2", "ln3", "lt1", "lt2", "lt3"},
                                       {"rigid_x", "rigid_y", "rigid_theta", "rigid_ln", "rigid_lt"}};
    Reference ref = reference_read("tests/reference/song-2004/ellipse_steps.csv");
    for (int rigid = 0; rigid < 2; rigid++) {
        Surface surface = {.young = 1e10};
        st_System *system = ellipse(&surface, rigid ? ST_CONTACT_RIGID : ST_CONTACT_COMPLIANT);
        for (int k = 0, steps = 0; k < 20; k++) {
            double q[3], n[3], t[3];
            for (; steps < (int)reference_at(&ref, k, "step"); steps++)
                step(system);
            st_system_state(system, q, NULL);
            int count = element_forces(system, n, t);
            assert_int_equal(count, rigid ? 1 : 3);
            for (int i = 0; i < 3; i++) /* the start is printed to 13 digits */
                check_close(q[i], reference_at(&ref, k, columns[rigid][i]), 1e-12);
            for (int e = 0; e < count; e++) {
                check_close(n[e], reference_at(&ref, k, columns[rigid][3 + e]), 1e-9);
                check_close(t[e], reference_at(&ref, k, columns[rigid][3 + count + e]), 1e-9);
            }
        }
        st_system_destroy(system);
    }
    reference_free(&ref);
}

/* A row of the file compared with the computed state and forces: the largest differences. */
typedef struct Apart {
    double pose, velocity, force;
} Apart;

static Apart compare_row(const st_System *system, const Reference *ref, int row, Apart most)
{
    static const char *const names[] = {"x", "y", "theta", "vx", "vy", "omega"};
    double q[3], v[3], n[3], t[3];
    st_system_state(system, q, v);
    int count = element_forces(system, n, t);
    for (int i = 0; i < 3; i++) {
        most.pose = fmax(most.pose, fabs(q[i] - reference_at(ref, row, names[i])));
        most.velocity = fmax(most.velocity, fabs(v[i] - reference_at(ref, row, names[3 + i])));
    }
    for (int e = 0; e < count; e++) {
        const char normal[] = {'l', 'n', (char)('1' + e), '\0'}, tangent[] = {'l', 't', (char)('1' + e), '\0'};
        most.force = fmax(most.force, fabs(n[e] - reference_at(ref, row, normal)));
        most.force = fmax(most.force, fabs(t[e] - reference_at(ref, row, tangent)));
    }
    return most;
}

/* All 2 s: poses, velocities and the force of every element in every row of the file, each hundredth step. Elements
 * begin to slide in the order 3, 2, 1. */
static void ellipse_follows_the_reference(void **state)
{
    (void)state;
    const char *files[] = {"tests/reference/song-2004/ellipse_eps1e-10.csv",
                           "tests/reference/song-2004/ellipse_rigid.csv"};
    const double first_slide[3] = {0.1099, 0.0411, 0.0004};
    for (int f = 0; f < 2; f++) {
        Reference ref = reference_read(files[f]);
        Surface surface = {.young = 1e10};
        double slid[3] = {0};
        Apart most = {0};
        st_System *system = ellipse(&surface, f == 0 ? ST_CONTACT_COMPLIANT : ST_CONTACT_RIGID);
        for (int k = 1; k <= 20000; k++) {
            double n[3], t[3];
            step(system);
            int count = element_forces(system, n, t);
            for (int e = 0; f == 0 && e < count; e++)
                if (slid[e] == 0 && fabs(t[e]) >= MU * n[e] * (1 - 1e-9)) slid[e] = k * H;
            if (k % 100 == 0) most = compare_row(system, &ref, k / 100, most);
        }
        print_message("%s: poses %.1e, velocities %.1e, forces of elements %.1e apart\n", files[f], most.pose,
                      most.velocity, most.force);
        check_below(most.pose, 1e-9); /* 5e-13, 5e-12 and 8e-13 seen: rounding, and a file of 13 digits */
        check_below(most.velocity, 1e-9);
        check_below(most.force, 1e-9);
        for (int e = 0; f == 0 && e < 3; e++)
            check_close(slid[e], first_slide[e], 1.5 * H);
        st_system_destroy(system);
        reference_free(&ref);
    }
}

/* As eps falls tenfold the compliant run comes about tenfold nearer to the rigid one. */
static void ellipse_tends_to_the_rigid_one(void **state)
{
    (void)state;
    const double moduli[] = {1e9, 1e10, 1e11};
    double dy[3] = {0}, dN[3] = {0}, dT[3] = {0};
    for (int m = 0; m < 3; m++) {
        Surface surface = {.young = moduli[m]};
        st_System *soft = ellipse(&surface, ST_CONTACT_COMPLIANT), *rigid = ellipse(&surface, ST_CONTACT_RIGID);
        for (int k = 1; k <= 20000; k++) {
            double q[3], q_rigid[3], n[3], t[3], n_rigid[3], t_rigid[3];
            step(soft), step(rigid);
            st_system_state(soft, q, NULL), st_system_state(rigid, q_rigid, NULL);
            element_forces(soft, n, t), element_forces(rigid, n_rigid, t_rigid);
            dy[m] = fmax(dy[m], fabs(q[1] - q_rigid[1]));
            dN[m] += pow(n[0] + n[1] + n[2] - n_rigid[0], 2) / 20000;
            dT[m] += pow(t[0] + t[1] + t[2] - t_rigid[0], 2) / 20000;
        }
        st_system_destroy(soft), st_system_destroy(rigid);
    }
    print_message("max dy %.3e %.3e %.3e, rms dN %.3e %.3e %.3e, rms dT %.3e %.3e %.3e\n", dy[0], dy[1], dy[2],
                  sqrt(dN[0]), sqrt(dN[1]), sqrt(dN[2]), sqrt(dT[0]), sqrt(dT[1]), sqrt(dT[2]));
    check_close(dy[1], 2.094e-4, 5e-8);      /* printed digits */
    check_close(sqrt(dN[1]), 3.94e-3, 5e-6); /* printed digits; over all steps */
    check_close(sqrt(dT[1]), 5.60e-3, 5e-6);
    for (int m = 1; m < 3; m++) {
        check_close(log10(dy[m - 1] / dy[m]), 1, 0.35);
        check_close(0.5 * log10(dN[m - 1] / dN[m]), 1, 0.6);
    }
}

/* ---- a sphere on a plane ----------------------------------------------------------------------- */

typedef struct Ball {
    st_Scene *scene;
    st_SystemDef def;
    st_System *sys;
    st_Error err;
} Ball;

static void load_ball(Ball *b, const char *const *sets, int n_sets)
{
    memset(b, 0, sizeof *b);
    check_ok(st_scene_read("examples/song-2004/sphere.json", sets, n_sets, &b->scene, &b->def, &b->err), b->err);
    check_ok(st_system_create(b->scene, &b->def, &b->sys, &b->err), b->err);
}

static void step_ball(Ball *b)
{
    st_StepInfo info = st_step_info();
    check_ok(st_system_step(b->sys, b->def.h, &info, &b->err), b->err);
    check_below(info.solve.residual.natural, 1e-10);
}

static void end_ball(Ball *b)
{
    st_system_destroy(b->sys);
    st_scene_destroy(b->scene);
}

/* 1' inv(X) 1 of the 25 elements' normal influences, by elimination: the patch's stiffness. */
static double patch_stiffness(double young, double nu, double rho)
{
    double A[25][26], sum = 0;
    for (int i = 0; i < 25; i++)
        for (int j = 0; j < 26; j++) {
            int rows = i / 5 - j / 5, columns = i % 5 - j % 5;
            double d = rho * hypot(rows, columns), c = (1 - nu * nu) / young;
            A[i][j] = j == 25 ? 1 : (i == j ? 0.95 * c / rho : c / (acos(-1) * d));
        }
    for (int k = 0; k < 25; k++) /* positive definite: no pivoting */
        for (int i = 0; i < 25; i++)
            for (int j = 25; i != k && j >= k; j--)
                A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    for (int i = 0; i < 25; i++)
        sum += A[i][25] / A[i][i];
    return sum;
}

/* Without friction the depth is the load over the patch's stiffness, for any load. */
static void depth_of_a_sphere(void **state)
{
    (void)state;
    double stiffness = patch_stiffness(1e6, 0.45, 0.002);
    for (double mass = 0.5; mass < 3; mass *= 2) {
        Ball b;
        char set[64];
        snprintf(set, sizeof set, "bodies/ball/mass=%g", mass);
        const char *sets[] = {set, "simulation/law=none", "simulation/h=0.01"};
        load_ball(&b, sets, 3);
        for (int k = 0; k < 1000; k++)
            step_ball(&b);
        st_Pose pose;
        st_system_pose(b.sys, st_scene_find_body(b.scene, "ball"), &pose);
        check_close((0.05 - pose.p.z) * stiffness, mass * 9.81, 1e-8 * mass); /* the fast modes have died out */
        double kinetic, potential, weight = mass * 9.81;
        check_ok(st_system_energy(b.sys, &kinetic, &potential, &b.err), b.err);
        check_close(potential, weight * pose.p.z + 0.5 * weight * weight / stiffness, 1e-8 * weight);
        end_ball(&b);
    }
}

/* The returned problem of a step is the solved one: its impulses solve it to the requested tolerance, and the
 * reports of the step agree. Under every law that a patch can have, at rest and in microslip. */
static void problems_are_as_they_were_solved(void **state)
{
    (void)state;
    const char *laws[] = {"simulation/law=box", "simulation/law=coulomb", "simulation/law=cone",
                          "simulation/law=pyramid", "simulation/law=none"};
    for (int k = 0; k < 5; k++) {
        Ball b;
        load_ball(&b, &laws[k], 1);
        for (int n = 1; n <= 41; n++) {
            st_StepInfo info = st_step_info();
            check_ok(st_system_step(b.sys, b.def.h, &info, &b.err), b.err);
            if (n % 20 != 1) continue;
            const double *r;
            st_Residual residual;
            const st_Problem *problem = st_system_problem(b.sys, &r);
            check_ok(st_problem_residual(problem, r, &residual, &b.err), b.err);
            check_below(residual.natural, b.def.tolerance);
            check_close(residual.natural, info.solve.residual.natural, 0.01 * b.def.tolerance); /* rounding */
        }
        end_ball(&b);
    }
}

/* Elements that slide along x, and whether one of them is not on an edge of the patch. */
static int sliding(const Ball *b, double *total_n, double *total_t, bool *inside)
{
    int n = 0;
    *total_n = *total_t = 0, *inside = false;
    assert_int_equal(st_system_contact_count(b->sys), 25);
    for (int c = 0; c < 25; c++) {
        st_ContactReport r;
        st_system_contact(b->sys, c, &r);
        st_Vec3 t1 = orthogonal(r.normal), t2 = cross(r.normal, t1);
        double along = r.impulse[1] * t1.x + r.impulse[2] * t2.x;
        *total_n += r.impulse[0] / b->def.h, *total_t += along / b->def.h;
        if (fabs(along) < 0.3 * r.impulse[0] * (1 - 1e-9)) continue;
        n++;
        if (c / 5 % 4 != 0 && c % 5 % 4 != 0) *inside = true;
    }
    return n;
}

/* Microslip: elements begin to slide at the edges, ever more of them, all of them when the pull is mu N, and not
 * before; then the ball goes. */
static void sphere_slips_element_by_element(void **state)
{
    (void)state;
    Ball b;
    double n, t, x_before = 0, mu_N = 0.3 * 9.81, gross = -1;
    int before = 0;
    bool inside;
    load_ball(&b, NULL, 0);
    for (int k = 1; k <= 2600; k++) {
        step_ball(&b);
        double time = k * b.def.h;
        int count = sliding(&b, &n, &t, &inside);
        if (k < 1000) continue; /* the weight is still settling: 4e-8 of it left at t = 0.5 */
        assert_true(count >= before);
        if (before == 0 && count > 0) assert_false(inside);
        if (gross < 0 && count == 25) gross = time;
        if (count < 25) check_below(-t, mu_N);
        st_Pose pose;
        st_system_pose(b.sys, st_scene_find_body(b.scene, "ball"), &pose);
        assert_true(pose.p.x > x_before);
        x_before = pose.p.x, before = count;
    }
    assert_int_equal(before, 25);
    check_close(gross, mu_N / 2.5, 0.02); /* the ball must move a little faster than the pull grows */
    check_close(-t, 0.3 * n, 1e-8);
    end_ball(&b);
}

/* A ball thrown on a table: patches appear and disappear; with drift gap it comes to rest at the depth of its load. */
static void patches_come_and_go(void **state)
{
    (void)state;
    const char *sets[] = {
        "bodies/ball/position=[0,0,0.06]", "bodies/ball/velocity=[0.2,0,0]", "simulation/drift=gap",
        "simulation/patch_elements=3",     "simulation/patch_spacing=0.002", "simulation/patch_mass=0.01",
        "forces/pull/force=[0,0,0]"};
    Ball b;
    int opened = 0, closed = 0;
    double last = 0;
    load_ball(&b, sets, 7);
    for (int k = 0; k < 2000; k++) {
        double force = 0;
        step_ball(&b);
        for (int c = 0; c < st_system_contact_count(b.sys); c++) {
            st_ContactReport r;
            st_system_contact(b.sys, c, &r);
            force += r.impulse[0] / b.def.h;
        }
        if (last == 0 && force > 0) closed++;
        if (last > 0 && force == 0) opened++;
        last = force;
    }
    assert_true(closed > 1 && opened > 0); /* it bounces: damping is far below critical */
    check_close(last, 9.81, 1e-9);         /* m g; measured 3e-11, the tolerance of the solver */
    end_ball(&b);
}

/* A ball slides over a fixed one, and the tangents that its normal alone would have jump by a right angle where the
 * normal crosses x = y. Those of its patch, along which it is deformed, turn with the normal: by no more than it does.
 */
static void tangents_of_a_patch_do_not_jump(void **state)
{
    (void)state;
    Ball b = {.def = st_system_def()};
    st_ShapeDef hill = st_sphere_def(0.5), rubber = st_sphere_def(0.05);
    st_BodyDef ball = st_body_def();
    st_BodyId id;
    check_ok(st_preset_apply(&b.def, "song-2004", &b.err), b.err);
    b.def.h = 5e-4, b.def.tolerance = 1e-10, b.def.patch_elements = 3, b.def.patch_spacing = 0.002;
    b.def.active_gap = 1e-3;
    hill.mu = rubber.mu = 0.05, rubber.young = 1e6, rubber.poisson = 0.45;
    ball.mass = 1, ball.locks = ST_LOCK_ROTATION, ball.velocity = vec3(0.2, 0, 0);
    ball.pose.p = scale(0.55, vec3(0.02, 0.05, sqrt(1 - 0.0004 - 0.0025)));
    check_ok(st_scene_create(&b.scene, &b.err), b.err);
    check_ok(st_scene_add_shape(b.scene, ST_GROUND, &hill, NULL, &b.err), b.err);
    check_ok(st_scene_add_body(b.scene, &ball, &id, &b.err), b.err);
    check_ok(st_scene_add_shape(b.scene, id, &rubber, NULL, &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    st_ContactReport last = {.dim = 0}, now;
    for (int k = 0; k < 400; k++, last = now) {
        step_ball(&b);
        assert_int_equal(st_system_contact(b.sys, 0, &now), ST_OK);
        if (k > 0) check_below(norm(sub(now.tangent, last.tangent)), 2 * norm(sub(now.normal, last.normal)) + 1e-12);
    }
    assert_true(fabs(now.normal.x) > fabs(now.normal.y)); /* it began the other way round */
    end_ball(&b);
}

/* The same bits every time, deformations included, and nothing allocated in steady steps is seen by the hash. */
static void deformations_are_state(void **state)
{
    (void)state;
    Ball a, b;
    load_ball(&a, NULL, 0), load_ball(&b, NULL, 0);
    for (int k = 0; k < 50; k++)
        step_ball(&a), step_ball(&b);
    assert_true(st_system_hash(a.sys) == st_system_hash(b.sys));
    /* the same q and v without the deformations is another state */
    double q[16], v[16], t = st_system_time(a.sys);
    assert_true(st_system_n_q(a.sys) <= 16);
    st_system_state(a.sys, q, v);
    check_ok(st_system_set_state(b.sys, t, q, v, &b.err), b.err);
    assert_true(st_system_hash(a.sys) != st_system_hash(b.sys));
    /* saved and restored it is the same, and goes on with the same bits */
    size_t size = st_system_save(a.sys, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(st_system_save(a.sys, bytes, size), size);
    check_ok(st_system_restore(b.sys, bytes, size, &b.err), b.err);
    assert_true(st_system_hash(a.sys) == st_system_hash(b.sys));
    for (int k = 0; k < 50; k++)
        step_ball(&a), step_ball(&b);
    assert_true(st_system_hash(a.sys) == st_system_hash(b.sys));
    assert_int_not_equal(st_system_restore(b.sys, bytes, size - 8, &b.err), ST_OK);
    free(bytes);
    end_ball(&a), end_ball(&b);
}

/* Two balls of other rubber, of which the later one in the scene lands first. Their deformation energy is the same
 * in a clone, in a restored system and in one with a changed scene, before a further step; and each continues in the
 * same way, although they process the balls in another order. */
static void deformations_have_their_own_stiffness(void **state)
{
    (void)state;
    Ball b = {.def = st_system_def()};
    st_ShapeDef floor = st_plane_def();
    double energy, potential;
    check_ok(st_preset_apply(&b.def, "song-2004", &b.err), b.err);
    b.def.h = 5e-4, b.def.tolerance = 1e-10, b.def.patch_elements = 3, b.def.patch_spacing = 0.002;
    b.def.active_gap = 1e-4;
    check_ok(st_scene_create(&b.scene, &b.err), b.err);
    floor.mu = 0.3;
    check_ok(st_scene_add_shape(b.scene, ST_GROUND, &floor, NULL, &b.err), b.err);
    for (int k = 0; k < 2; k++) {
        st_ShapeDef rubber = st_sphere_def(0.05);
        st_BodyDef ball = st_body_def();
        st_BodyId id;
        rubber.mu = 0.3, rubber.young = k == 0 ? 1e6 : 3e5, rubber.poisson = 0.45;
        ball.mass = 1, ball.pose.p = vec3(k, 0, k == 0 ? 0.055 : 0.05), ball.velocity = vec3(0.1, 0, 0);
        check_ok(st_scene_add_body(b.scene, &ball, &id, &b.err), b.err);
        check_ok(st_scene_add_shape(b.scene, id, &rubber, NULL, &b.err), b.err);
    }
    check_ok(st_system_create(b.scene, &b.def, &b.sys, &b.err), b.err);
    for (int k = 0; k < 80; k++) /* 5 mm of free fall take 0.032 s, 64 steps */
        step_ball(&b);
    assert_int_equal(st_system_contact_count(b.sys), 18);
    st_System *other[3];
    size_t size = st_system_save(b.sys, NULL, 0);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    assert_int_equal(st_system_save(b.sys, bytes, size), size);
    check_ok(st_system_clone(b.sys, &other[0], &b.err), b.err);
    check_ok(st_system_create(b.scene, &b.def, &other[1], &b.err), b.err);
    check_ok(st_system_restore(other[1], bytes, size, &b.err), b.err);
    check_ok(st_system_clone(b.sys, &other[2], &b.err), b.err);
    check_ok(st_system_change(other[2], b.scene, &b.err), b.err);
    check_ok(st_system_energy(b.sys, NULL, &energy, &b.err), b.err);
    for (int k = 0; k < 3; k++) {
        check_ok(st_system_energy(other[k], NULL, &potential, &b.err), b.err);
        assert_true(potential == energy);
    }
    for (int k = 0; k < 5; k++) {
        step_ball(&b);
        check_ok(st_system_energy(b.sys, NULL, &energy, &b.err), b.err);
        for (int i = 0; i < 3; i++) {
            check_ok(st_system_step(other[i], b.def.h, NULL, &b.err), b.err);
            check_ok(st_system_energy(other[i], NULL, &potential, &b.err), b.err);
            assert_true(st_system_hash(other[i]) == st_system_hash(b.sys));
            assert_true(potential == energy);
        }
    }
    for (int k = 0; k < 3; k++)
        st_system_destroy(other[k]);
    free(bytes);
    end_ball(&b);
}

/* A patch makes its own moments: of a model of the user's, too, no other friction of turning is taken, nor is any by a
 * law that does not know it.                                                                      */
static void turning_is_refused(void **state)
{
    (void)state;
    Surface surfaces[] = {{1e10, 0.01, 0}, {1e10, 0, 0.01}, {0, 0.01, 0}};
    for (size_t k = 0; k < 2 * sizeof surfaces / sizeof surfaces[0]; k++) {
        st_Error err = {0};
        Surface *surface = &surfaces[k / 2];
        const st_Law law = k % 2 == 0 ? ST_LAW_COULOMB : ST_LAW_BOX;
        st_System *system = ellipse_by(surface, ST_CONTACT_COMPLIANT, law);
        assert_int_equal(st_system_step(system, H, NULL, &err), ST_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, surface->rolling > 0 ? "rolling" : "spinning"));
        assert_non_null(strstr(err.message, "contact 1 "));
        assert_non_null(strstr(err.message, law == ST_LAW_COULOMB ? "compliant" : "box"));
        st_system_destroy(system);
    }
}

static void bad_patches_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *set, *names[2];
    } cases[] = {
        {"simulation/patch_spacing=0.03", {"rubber", "larger than the body"}},
        {"simulation/patch_spacing=0", {"patch_spacing", "0"}},
        {"simulation/patch_elements=10", {"patch_elements", "10"}},
        {"simulation/drift=projection", {"compliant", "drift"}},
        {"simulation/integrator=sdirk2", {"compliant", "integrator"}},
        {"bodies/ball/shapes/rubber/young=0", {"young", "0"}},
        {"bodies/ball/shapes/rubber/young=-1", {"young", "-1"}},
        {"bodies/ball/shapes/rubber/poisson=0.5", {"poisson", "0.5"}},
        {"bodies/ball/shapes/rubber/type=point", {"radius", "point"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        Ball b = {0};
        st_Status status = st_scene_read("examples/song-2004/sphere.json", &cases[k].set, 1, &b.scene, &b.def, &b.err);
        if (status == ST_OK) status = st_system_create(b.scene, &b.def, &b.sys, &b.err);
        assert_int_not_equal(status, ST_OK);
        for (int n = 0; n < 2; n++)
            if (strstr(b.err.message, cases[k].names[n]) == NULL)
                fail_msg("%s: \"%s\" does not say %s", cases[k].set, b.err.message, cases[k].names[n]);
        end_ball(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_of_the_ellipse),
        cmocka_unit_test(ellipse_follows_the_reference),
        cmocka_unit_test(ellipse_tends_to_the_rigid_one),
        cmocka_unit_test(depth_of_a_sphere),
        cmocka_unit_test(problems_are_as_they_were_solved),
        cmocka_unit_test(sphere_slips_element_by_element),
        cmocka_unit_test(patches_come_and_go),
        cmocka_unit_test(tangents_of_a_patch_do_not_jump),
        cmocka_unit_test(deformations_are_state),
        cmocka_unit_test(deformations_have_their_own_stiffness),
        cmocka_unit_test(turning_is_refused),
        cmocka_unit_test(bad_patches_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
