/* The table of a run: titles, one line per step, numbers that are read back bit for bit. */
#include "record/table_fixture.h"

#include <signal.h>
#include <sys/resource.h>

#define N_LAST    9
#define N_COLUMNS (11 + 2 * 13 + 16 + 2 * 6 + N_LAST)

/* Two bodies in flight, one with an awkward name, and a hinge between them. */
static int setup(void **state)
{
    Fixture *f = table_fixture(state);
    st_Error err = {0};
    st_BodyDef body = st_body_def();
    if (f == NULL) return -1;
    body.mass = 1;
    body.inertia = (st_Mat3){{1, 0, 0, 0, 2, 0, 0, 0, 2.5}};
    body.velocity = (st_Vec3){1.0 / 3, 0.1, 2};
    body.spin = (st_Vec3){1, 2, 3};
    body.name = "plain";
    check_ok(st_scene_create(&f->scene, &err), err);
    check_ok(st_scene_add_body(f->scene, &body, NULL, &err), err);
    body.name = "a \"b\", c";
    body.pose.p.x = 10, body.spin.z = -1, body.velocity.z = 3;
    st_JointDef hinge = st_joint_def(ST_JOINT_CYLINDRICAL);
    check_ok(st_scene_add_body(f->scene, &body, &hinge.b, &err), err);
    hinge.a.index1 = 1, hinge.name = "hinge", hinge.point.x = 5;
    hinge.stiffness = 3, hinge.friction = 0.1;
    check_ok(st_scene_add_joint(f->scene, &hinge, NULL, &err), err);
    check_ok(st_system_create(f->scene, &f->def, &f->system, &err), err);
    return 0;
}

/* The fields of one line of RFC 4180, quotes taken off; returns their number. */
static int split(char *line, char *field[], int most)
{
    int n = 0;
    char *to = line;
    for (char *c = line; n < most; c++) {
        field[n++] = to;
        if (*c == '"') {
            for (c++; *c != '"' || c[1] == '"'; c++) {
                assert_int_not_equal(*c, '\0');
                c += *c == '"';
                *to++ = *c;
            }
            c++;
        } else {
            while (*c != ',' && *c != '\n' && *c != '\0')
                *to++ = *c++;
        }
        bool more = *c == ',';
        *to++ = '\0';
        if (!more) break;
    }
    return n;
}

static void numbers_come_back(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_Csv *csv = NULL;
    double expected[4][N_COLUMNS] = {{0}};
    const double h = 1.0 / 1024;
    check_ok(st_csv_open(f->path, f->system, f->scene, &csv, &err), err);
    for (int k = 0; k < 4; k++) {
        st_StepInfo info = st_step_info();
        if (k == 0)
            check_ok(st_system_energy(f->system, &info.kinetic, &info.potential, &err), err);
        else
            check_ok(st_system_step(f->system, h, &info, &err), err);
        check_ok(st_csv_write(csv, f->system, &info, &err), err);
        expected[k][0] = info.time;
        expected[k][1] = k == 0 ? 0 : h;
        expected[k][8] = info.kinetic;
        expected[k][9] = info.potential;
        expected[k][10] = info.kinetic + info.potential;
        for (int b = 0; b < 2; b++) {
            st_Pose pose;
            st_Vec3 v, w;
            assert_int_equal(st_system_pose(f->system, (st_BodyId){b + 1}, &pose), ST_OK);
            assert_int_equal(st_system_velocity(f->system, (st_BodyId){b + 1}, &v, &w), ST_OK);
            double numbers[] = {pose.p.x, pose.p.y, pose.p.z, pose.q.w, pose.q.x, pose.q.y, pose.q.z,
                                v.x,      v.y,      v.z,      w.x,      w.y,      w.z};
            memcpy(&expected[k][11 + 13 * b], numbers, sizeof numbers);
        }
        st_JointReport r;
        assert_int_equal(st_system_joint(f->system, (st_JointId){1}, ST_FRAME_WORLD, &r), ST_OK);
        double numbers[] = {r.coordinate, r.speed,    r.force.x,     r.force.y,  r.force.z, r.torque.x,
                            r.torque.y,   r.torque.z, r.motor,       r.friction, r.limit,   r.spring,
                            r.error,      r.other,    r.other_speed, r.gear};
        /* The first velocities contradict the joint: the step that ends that holds an impact and has no force. In the
         * second step drift correction starts, with an impulse that is no force either. */
        assert_int_equal(r.struck, k == 1 || k == 2);
        for (int c = 2; c < 8 && r.struck; c++)
            numbers[c] = NAN;
        if (r.struck) numbers[10] = numbers[15] = NAN; /* the limit's, and no gear's */
        memcpy(&expected[k][11 + 26], numbers, sizeof numbers);
        st_BodyLoad load[2];
        check_ok(st_system_loads(f->system, load, 2, &err), err);
        for (int b = 0; b < 2; b++) { /* nothing touches anything; both bodies are joined */
            double *of_body = &expected[k][11 + 26 + 16 + 6 * b];
            assert_true(r.struck == (load[b].impulse.x != 0 || load[b].impulse.y != 0 || load[b].impulse.z != 0));
            for (int c = 0; c < 3; c++)
                of_body[c] = r.struck ? NAN : 0;
            of_body[3] = load[b].impulse.x, of_body[4] = load[b].impulse.y, of_body[5] = load[b].impulse.z;
        }
        const double last[N_LAST] = {info.solve.residual.joint,
                                     info.friction,
                                     k == 0 ? 0 : info.time - 0.5 * h,
                                     info.work,
                                     info.damping,
                                     info.impacts,
                                     info.correction,
                                     info.scheme,
                                     info.unexplained};
        memcpy(&expected[k][N_COLUMNS - N_LAST], last, sizeof last);
        if (k > 2) assert_true(r.force.y != 0 && r.spring != 0 && r.coordinate != 0);
        if (k > 0) assert_true(r.other > 0 && r.other_speed > 0); /* b slides along the axis */
    }
    check_ok(st_csv_close(csv, &err), err);

    FILE *file = fopen(f->path, "r");
    char line[8192], *field[N_COLUMNS + 1];
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(split(line, field, N_COLUMNS + 1), N_COLUMNS);
    assert_string_equal(field[0], "t");
    assert_string_equal(field[10], "total");
    assert_string_equal(field[11], "plain.x");
    assert_string_equal(field[23], "plain.wz");
    assert_string_equal(field[24], "a \"b\", c.x");
    assert_string_equal(field[37], "hinge.coordinate");
    assert_string_equal(field[39], "hinge.fx");
    assert_string_equal(field[50], "hinge.other");
    for (int k = 0; k < 4; k++) {
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(split(line, field, N_COLUMNS + 1), N_COLUMNS);
        for (int c = 0; c < N_COLUMNS; c++)
            if (isnan(expected[k][c]))
                assert_true(isnan(strtod(field[c], NULL)));
            else if (c < 2 || c >= 8)
                check_close(strtod(field[c], NULL), expected[k][c], 0); /* 17 digits are exact */
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
}

static void failures_are_named(void **state)
{
    Fixture *f = *state;
    st_Error err = {0};
    st_Csv *csv = NULL;
    st_StepInfo info = st_step_info();
    assert_int_equal(st_csv_open("/no/such/folder/x.csv", f->system, f->scene, &csv, &err), ST_ERR_FILE);
    assert_non_null(strstr(err.message, "/no/such/folder/x.csv"));
    assert_null(csv);
    assert_int_equal(st_csv_open(NULL, f->system, f->scene, &csv, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_csv_write(NULL, f->system, &info, &err), ST_ERR_ARGUMENT);
    assert_int_equal(st_csv_close(NULL, &err), ST_OK);
    if (access("/dev/full", W_OK) != 0) return;
    check_ok(st_csv_open("/dev/full", f->system, f->scene, &csv, &err), err);
    assert_int_equal(st_csv_write(csv, f->system, &info, &err), ST_ERR_FILE); /* at once, not at the end */
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_int_equal(st_csv_close(csv, &err), ST_ERR_FILE);
}

/* A limit on the size of files is a disk that fills, between two flushes: whole lines are left, and all that fit. */
static void full_disks_leave_whole_lines(void **state)
{
    Fixture *f = *state;
    enum { LIMIT = 300000 };
    st_Error err = {0};
    st_Csv *csv = NULL;
    st_StepInfo info = st_step_info();
    struct rlimit before, small;
    signal(SIGXFSZ, SIG_IGN);
    check_ok(st_csv_open(f->path, f->system, f->scene, &csv, &err), err);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = LIMIT;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    st_Status status = ST_OK;
    for (int k = 0; k < 10000 && status == ST_OK; k++) {
        check_ok(st_system_step(f->system, 1e-3, &info, &err), err);
        status = st_csv_write(csv, f->system, &info, &err);
    }
    st_Status closed = st_csv_close(csv, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, ST_ERR_FILE);
    assert_int_equal(closed, ST_ERR_FILE);
    assert_non_null(strstr(err.message, "too large"));

    FILE *file = fopen(f->path, "r");
    char *line = calloc(1, LIMIT + 1), *field[N_COLUMNS + 1];
    int64_t size = 0, longest = 0;
    assert_non_null(file);
    assert_non_null(line);
    while (fgets(line, LIMIT + 1, file) != NULL) {
        const int64_t length = (int64_t)strlen(line); /* a hole would end it early */
        assert_true(length > 0 && line[length - 1] == '\n');
        assert_int_equal(split(line, field, N_COLUMNS + 1), N_COLUMNS);
        size += length;
        if (length > longest) longest = length;
    }
    fclose(file);
    free(line);
    assert_true(size <= LIMIT && size + longest > LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_come_back, setup, table_teardown),
        cmocka_unit_test_setup_teardown(failures_are_named, setup, table_teardown),
        cmocka_unit_test_setup_teardown(full_disks_leave_whole_lines, setup, table_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
