/* Theorems of Anitescu & Potra 2002 as tests.
 *
 * 2.4 (AP eq. 47), energy: with w = v + h M^-1 k1, at every step with velocity constraints (its ">=" are "<="),
 *     v+'M v+ + sum k (phi + h a'v+)^2  <=  w'M w + sum k phi^2.
 * 2.6, stiff limit: springs and dampers at equilibrium, stiffness to infinity: the step's velocity tends
 *     to that of the system with joints in their place, with error O(1/Gamma).
 */
#include "check.h"
#include "step/system.h"

#include <dirent.h>
#include <stiction/io.h>

/* x' M y over the blocks of the model's mass matrix. */
static double mass_product(const st_System *s, const double *M, const double *x, const double *y)
{
    double sum = 0;
    for (int b = 0; b < s->model.n_blocks; b++)
        for (int i = s->model.first[b]; i < s->model.first[b + 1]; i++)
            for (int j = s->model.first[b]; j < s->model.first[b + 1]; j++)
                sum += *M++ * x[i] * y[j];
    return sum;
}

/* The inequality's two sides for the step of length h that `shadow` is about to make: k1 enters through
 * w = v + h M^-1 k1, solved here for 1 x 1 to 3 x 3 diagonal blocks (planar bodies: M is diagonal). */
static void check_energy_step(st_System *shadow, double t, double h, const double *q, const double *v)
{
    st_Error err = {0};
    int n = shadow->model.n_v;
    double M[64], k[16], w[16];
    assert_true(n <= 16);
    check_ok(st_system_set_state(shadow, t, q, v, &err), err);
    check_ok(shadow->model.table.mass(shadow->model.table.ctx, q, M, &err), err);
    check_ok(shadow->model.table.force(shadow->model.table.ctx, t, q, v, k, &err), err);
    const double *block = M;
    for (int b = 0; b < shadow->model.n_blocks; b++) {
        const int first = shadow->model.first[b], size = shadow->model.first[b + 1] - first;
        for (int i = 0; i < size; i++)
            w[first + i] = v[first + i] + h * k[first + i] / block[i * size + i];
        block += size * size;
    }
    double right = mass_product(shadow, M, w, w), left = 0;
    double value[8], stiffness[8];
    int springs = shadow->work.here.soft_rows.n_rows;
    assert_true(springs <= 8);
    for (int j = 0; j < springs; j++) {
        value[j] = shadow->work.here.soft[j].value;
        stiffness[j] = shadow->work.here.soft[j].stiffness;
        right += stiffness[j] * value[j] * value[j];
    }
    check_ok(st_system_step(shadow, h, NULL, &err), err); /* rows at q are now in `trial` */
    for (int j = 0; j < springs; j++) {
        double phi = value[j] + h * sti_row_dot(&shadow->work.trial.soft_rows, j, shadow->state.v);
        left += stiffness[j] * phi * phi;
    }
    left += mass_product(shadow, M, shadow->state.v, shadow->state.v);
    check_below(left - right, 1e-13 * fmax(1, right)); /* rounding of sums of this size */
}

/* Runs a scene; before each of its steps a shadow makes the plain velocity step from the same state. At a
 * collision the kinetic energy must not grow either: the impact is the same problem with h = 0. */
static void energy_inequality_along(const char *path)
{
    st_Error err = {0};
    st_Scene *scene;
    st_SystemDef def, plain;
    st_System *run, *shadow;
    check_ok(st_scene_read(path, NULL, 0, &scene, &def, &err), err);
    if (def.integrator == ST_INTEGRATOR_EULER) { /* the theorem is about the implicit scheme */
        st_scene_destroy(scene);
        return;
    }
    plain = def;
    plain.drift = ST_DRIFT_VELOCITY;
    plain.events = ST_EVENTS_OFF;
    check_ok(st_system_create(scene, &def, &run, &err), err);
    check_ok(st_system_create(scene, &plain, &shadow, &err), err);
    double q[32], v[16];
    int collisions = 0;
    while (def.end - run->state.t > 1e-12) {
        st_StepInfo info = st_step_info();
        double h = fmin(def.h, def.end - run->state.t), before, after, M[64];
        st_system_state(run, q, v);
        check_energy_step(shadow, run->state.t, h, q, v);
        check_ok(st_system_step(run, h, &info, &err), err);
        if (info.collisions == 0) continue;
        collisions++;
        run->model.table.mass(run->model.table.ctx, q, M, NULL);
        before =
            mass_product(run, M, shadow->state.v, shadow->state.v); /* v- is the velocity of the step that collides */
        after = mass_product(run, M, run->state.v, run->state.v);
        check_below(after, before * (1 + 1e-12));
    }
    if (strstr(path, "bars") != NULL) assert_true(collisions >= 2);
    st_system_destroy(run);
    st_system_destroy(shadow);
    st_scene_destroy(scene);
}

static void energy_inequality(void **state)
{
    (void)state;
    const char *folder = "examples/anitescu-potra-2002";
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int scenes = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        char path[400];
        if (strstr(entry->d_name, ".json") == NULL) continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        energy_inequality_along(path);
        scenes++;
    }
    closedir(dir);
    assert_int_equal(scenes, 13);
}

/* The section 3.2 scene with v = (1, -0.5), a damper Gamma or a joint between the bodies; one step. */
static void one_step(double gamma, double v[4])
{
    st_Error err = {0};
    st_Scene *scene;
    st_System *sys;
    st_BodyId ids[2];
    st_SystemDef def = st_system_def();
    check_ok(st_preset_apply(&def, "anitescu-potra-2002", &err), err);
    def.gravity = (st_Vec3){0, -9.81, 0};
    check_ok(st_scene_create(&scene, &err), err);
    st_ShapeDef table = st_plane_def(), point = st_point_def();
    table.pose.q = st_quat_from_z((st_Vec3){0, 1, 0});
    table.mu = point.mu = 0.4;
    check_ok(st_scene_add_shape(scene, ST_GROUND, &table, NULL, &err), err);
    for (int b = 0; b < 2; b++) {
        st_BodyDef body = st_body_def();
        body.mass = 1, body.locks = ST_LOCK_Z | ST_LOCK_ROTATION;
        body.pose.p.x = 3 * b, body.velocity.x = b == 0 ? 1 : -0.5;
        check_ok(st_scene_add_body(scene, &body, &ids[b], &err), err);
        check_ok(st_scene_add_shape(scene, ids[b], &point, NULL, &err), err);
    }
    st_ForceDef push = st_force_def();
    push.body = ids[0], push.force.x = 20;
    check_ok(st_scene_add_force(scene, &push, NULL, &err), err);
    if (isinf(gamma)) {
        st_JointDef joint = st_joint_def(ST_JOINT_DISTANCE);
        joint.a = ids[0], joint.b = ids[1], joint.point_b.x = 3;
        check_ok(st_scene_add_joint(scene, &joint, NULL, &err), err);
    } else {
        st_SpringDef damper = st_spring_def(ST_SPRING_LINEAR);
        damper.a = ids[0], damper.b = ids[1], damper.point_b.x = 3, damper.damping = gamma;
        check_ok(st_scene_add_spring(scene, &damper, NULL, &err), err);
    }
    check_ok(st_system_create(scene, &def, &sys, &err), err);
    check_ok(st_system_step(sys, 0.05, NULL, &err), err);
    st_system_state(sys, NULL, v);
    st_system_destroy(sys);
    st_scene_destroy(scene);
}

static void stiff_limit_of_the_damper(void **state)
{
    (void)state;
    /* reference/README.md, Gamma = 1e2 ... 1e6; 1e12 */
    const double listed[] = {1.607061e-1, 1.750264e-2, 1.766001e-3, 1.767590e-4, 1.767749e-5};
    double limit[4], v[4];
    one_step(INFINITY, limit);
    check_close(limit[0], 0.5538, 1e-12); /* (0.5 + 0.05 (20 - 2 mu g))/2 */
    check_close(limit[2], 0.5538, 1e-12);
    for (int k = 2; k <= 12; k++) {
        one_step(pow(10, k), v);
        double distance = hypot(v[0] - limit[0], v[2] - limit[2]);
        /* (v1 - v2)/2 at the limit impulse is 0.125 sqrt(2)/Gamma ...: 17.67767/Gamma up to O(1/Gamma^2) */
        if (k <= 6) check_close(distance, listed[k - 2], 1e-6 * listed[k - 2]);
        check_close(distance * pow(10, k), 17.67767, k <= 6 ? 20 * pow(10, 2 - k) * 17.7 : 1e-4 * 17.7);
    }
}

/* One step of the bars from some velocity, spring and damper of strength gamma between the centres; or, for
 * gamma = infinity, a distance joint in their place. */
static void bars_step(double gamma, double v[6])
{
    st_Error err = {0};
    st_Scene *scene;
    st_SystemDef def;
    st_System *sys;
    char stiffness[60], damping[60];
    const char *sets[] = {stiffness, damping};
    snprintf(stiffness, sizeof stiffness, "springs/spring/stiffness=%g", isinf(gamma) ? 1e-30 : gamma);
    snprintf(damping, sizeof damping, "springs/spring/damping=%g", isinf(gamma) ? 0.0 : gamma);
    check_ok(st_scene_read("examples/anitescu-potra-2002/bars_A0_mu0.15_g10.json", sets, 2, &scene, &def, &err), err);
    if (isinf(gamma)) {
        st_JointDef joint = st_joint_def(ST_JOINT_DISTANCE);
        joint.a = st_scene_find_body(scene, "bar1"), joint.b = st_scene_find_body(scene, "bar2");
        joint.point = (st_Vec3){0, 1, 0}, joint.point_b = (st_Vec3){sqrt(0.75), 1.5, 0};
        check_ok(st_scene_add_joint(scene, &joint, NULL, &err), err);
    }
    check_ok(st_system_create(scene, &def, &sys, &err), err);
    double q[15], start[6] = {0.3, -0.2, 0.1, -0.4, 0.5, 0.6};
    st_system_state(sys, q, NULL);
    check_ok(st_system_set_state(sys, 0, q, start, &err), err);
    check_ok(st_system_step(sys, 0.01, NULL, &err), err);
    st_system_state(sys, NULL, v);
    st_system_destroy(sys);
    st_scene_destroy(scene);
}

/* The distance from the jointed bars falls like 1/Gamma, until rounding. */
static void stiff_limit_of_the_bars(void **state)
{
    (void)state;
    double limit[6], v[6], previous = NAN;
    bars_step(INFINITY, limit);
    for (int k = 4; k <= 12; k++) {
        double gamma = pow(10, k), distance = 0;
        bars_step(gamma, v);
        for (int i = 0; i < 6; i++)
            distance = fmax(distance, fabs(v[i] - limit[i]));
        /* the next term of the series is 1/(h Gamma); rounding of v is 1e-16 */
        if (k > 4) check_close(distance / previous, 0.1, 0.1 * (20 / (0.01 * gamma) + 4e-16 / distance));
        previous = distance;
    }
    check_below(previous, 1e-9); /* 1/(h Gamma) times a speed of 1 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_inequality),
        cmocka_unit_test(stiff_limit_of_the_damper),
        cmocka_unit_test(stiff_limit_of_the_bars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
