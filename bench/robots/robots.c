/* bench/robots/robots.c -- robots of model files (MJCF) with stiction and, if installed, MuJoCo: the same file, the
 * same steps, in one run on one core.
 *
 *     build/bench/robots [case ...] [key=value ...]       all cases, or those named; settings of stiction
 *     build/bench/robots model.xml                        any other model: 2 s from its start
 *
 * Columns: processor time per step in microseconds (mean, median, slowest); deepest overlap; largest joint error;
 * number of steps that missed their tolerance; most contacts; height of the first body at the end; ratio: steps per
 * second against MuJoCo; worst: the slowest step over the median step of MuJoCo; apart: mean distance between the
 * heights of the first body in both engines. Each step's time is its least over the repeats, so that a pause of the
 * machine does not count.
 *
 * The limp humanoid starts in exact balance. A robot in rigid contact stays there until rounding errors have grown,
 * for 3 s; MuJoCo's soft feet tip it over after 1 s. A little gravity along x makes both fall at once.
 */
#include <stiction/io.h>
#include <stiction/stiction.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef BENCH_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { REPEATS = 5, MOST_STEPS = 3000, MOST_SETS = 20 };

static const struct Case {
    const char *name, *file;
    double from, to; /* measured between these times [s] */
    double swing;    /* targets of all servos: swing sin(9 t + k) for servo k */
    bool limp;       /* without servos */
    double lean;     /* gravity along x [m/s^2] */
} cases[] = {
    {"quadruped-stands", "quadruped.xml", 1, 3, 0, false, 0},
    {"quadruped-driven", "quadruped.xml", 0, 2, 0.3, false, 0},
    {"humanoid-stands", "humanoid.xml", 0, 2, 0, false, 0},
    {"humanoid-falls", "humanoid.xml", 0, 2, 0, true, 0.5},
    {"humanoid-fallen", "humanoid.xml", 4, 6, 0, true, 0.5},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

typedef struct Result {
    int steps, missed, contacts;
    double time[MOST_STEPS];      /* [s] */
    double height[MOST_STEPS];    /* of body 1 after each step [m] */
    double mean, median, slowest; /* [us] */
    double deepest, joint_error;  /* overlap and errors of all steps */
} Result;

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sum_up(Result *result)
{
    double sorted[MOST_STEPS], sum = 0;
    memcpy(sorted, result->time, sizeof sorted);
    qsort(sorted, (size_t)result->steps, sizeof *sorted, by_size);
    for (int k = 0; k < result->steps; k++)
        sum += sorted[k];
    result->mean = 1e6 * sum / result->steps;
    result->median = 1e6 * sorted[result->steps / 2];
    result->slowest = 1e6 * sorted[result->steps - 1];
}

static void note_time(Result *result, int step, int repeat, double time)
{
    if (step >= 0 && step < MOST_STEPS) result->time[step] = repeat == 0 ? time : fmin(result->time[step], time);
}

static double wanted(const struct Case *of, double t, int servo)
{
    return of->swing * sin(9 * t + servo);
}

/* ---- stiction ------------------------------------------------------------------------------------ */

static st_Status run_stiction(const struct Case *of, const char *path, const char *const *sets, int n_sets,
                              Result *result, st_Error *err)
{
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        st_Scene *scene = NULL;
        st_System *system = NULL;
        st_SystemDef def;
        st_Status status = st_scene_read(path, sets, n_sets, &scene, &def, err);
        if (status == ST_OK) status = st_system_create(scene, &def, &system, err);
        const double h = def.h;
        const int first = (int)(of->from / h + 0.5), end = (int)(of->to / h + 0.5);
        result->steps = end - first < MOST_STEPS ? end - first : MOST_STEPS;
        for (int k = 0; status == ST_OK && k < first + result->steps; k++) {
            st_StepInfo info = st_step_info();
            for (int j = 1, servo = 0; of->swing != 0 && j <= st_scene_joint_count(scene); j++) {
                st_JointDef joint;
                if (st_scene_joint(scene, (st_JointId){j}, &joint) != ST_OK || joint.motor.type != ST_MOTOR_POSITION)
                    continue;
                if (status == ST_OK)
                    status = st_system_set_motor(system, (st_JointId){j}, wanted(of, k * h, servo++), err);
            }
            const double start = seconds();
            if (status == ST_OK) status = st_system_step(system, h, &info, err);
            note_time(result, k - first, repeat, seconds() - start);
            if (k < first || repeat > 0) continue;
            result->missed += !info.solve.converged;
            result->deepest = fmax(result->deepest, info.penetration);
            result->joint_error = fmax(result->joint_error, info.joint_error);
            result->contacts = info.contacts > result->contacts ? info.contacts : result->contacts;
            st_Pose pose = {0};
            if (status == ST_OK) status = st_system_pose(system, (st_BodyId){1}, &pose);
            result->height[k - first] = pose.p.z;
        }
        st_system_destroy(system);
        st_scene_destroy(scene);
        if (status != ST_OK) return status;
    }
    sum_up(result);
    return ST_OK;
}

/* ---- MuJoCo -------------------------------------------------------------------------------------- */

#ifdef BENCH_MUJOCO
static bool run_mujoco(const struct Case *of, const char *path, Result *result)
{
    char error[300];
    mjModel *model = mj_loadXML(path, NULL, error, sizeof error);
    if (model == NULL) return fprintf(stderr, "robots: MuJoCo: %s\n", error), false;
    if (of->limp) model->opt.disableflags |= mjDSBL_ACTUATION;
    model->opt.gravity[0] += of->lean;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        mjData *data = mj_makeData(model);
        const double h = model->opt.timestep;
        const int first = (int)(of->from / h + 0.5), end = (int)(of->to / h + 0.5);
        result->steps = end - first < MOST_STEPS ? end - first : MOST_STEPS;
        for (int k = 0; k < first + result->steps; k++) {
            for (int servo = 0; of->swing != 0 && servo < model->nu; servo++)
                data->ctrl[servo] = wanted(of, k * h, servo);
            const double start = seconds();
            mj_step(model, data);
            note_time(result, k - first, repeat, seconds() - start);
            if (k < first || repeat > 0) continue;
            for (int c = 0; c < data->ncon; c++)
                result->deepest = fmax(result->deepest, -data->contact[c].dist);
            if (data->ncon > result->contacts) result->contacts = data->ncon;
            mj_kinematics(model, data);
            mj_comPos(model, data);
            result->height[k - first] = data->xipos[3 * 1 + 2];
        }
        mj_deleteData(data);
    }
    mj_deleteModel(model);
    sum_up(result);
    return true;
}
#endif

/* ---- output -------------------------------------------------------------------------------------- */

static void row(const char *name, const char *engine, const Result *result, const Result *peer)
{
    printf("%-18s %-9s %8.1f %8.1f %9.1f %9.3g %9.3g %6d %4d %7.3f", name, engine, result->mean, result->median,
           result->slowest, result->deepest, result->joint_error, result->missed, result->contacts,
           result->height[result->steps - 1]);
    if (peer != NULL) {
        double apart = 0;
        for (int k = 0; k < result->steps; k++)
            apart += fabs(result->height[k] - peer->height[k]) / result->steps;
        printf(" %7.2f %7.1f %8.1e", peer->mean / result->mean, result->slowest / peer->median, apart);
    }
    printf("\n");
}

static bool run_case(const struct Case *of, const char *path, const char *const *sets, int n_sets)
{
    static Result ours, peer;
    st_Error err = {0};
    const char *all[MOST_SETS + 2];
    char gravity[100];
    bool compared = false;
    memcpy(all, sets, (size_t)n_sets * sizeof *sets);
    if (of->limp) all[n_sets++] = "robots/0/motor={\"type\": \"none\"}";
    snprintf(gravity, sizeof gravity, "simulation/gravity=[%g, 0, -9.81]", of->lean);
    if (of->lean != 0) all[n_sets++] = gravity;
    memset(&ours, 0, sizeof ours);
    memset(&peer, 0, sizeof peer);
#ifdef BENCH_MUJOCO
    compared = run_mujoco(of, path, &peer);
    if (compared) row(of->name, "MuJoCo", &peer, NULL);
#endif
    const st_Status status = run_stiction(of, path, all, n_sets, &ours, &err);
    if (status != ST_OK) return fprintf(stderr, "robots: %s: %s\n", path, err.message), false;
    row(of->name, "stiction", &ours, compared ? &peer : NULL);
    fflush(stdout);
    return true;
}

int main(int argc, char **argv)
{
    static char words[MOST_SETS][200];
    const char *sets[MOST_SETS];
    int n_sets = 0, named = 0;
    bool ok = true;
    for (int k = 1; k < argc; k++)
        if (strchr(argv[k], '=') == NULL) {
            named++;
        } else if (n_sets < MOST_SETS) {
            snprintf(words[n_sets], sizeof words[n_sets], "simulation/%s", argv[k]);
            sets[n_sets] = words[n_sets];
            n_sets++;
        }
    printf("%-18s %-9s %8s %8s %9s %9s %9s %6s %4s %7s %7s %7s %8s\n", "case", "engine", "mean us", "median", "slowest",
           "overlap", "joints", "missed", "con.", "height", "ratio", "worst", "apart");
    for (int c = 0; c < N_CASES; c++) {
        char path[400];
        bool chosen = named == 0;
        for (int k = 1; k < argc; k++)
            chosen = chosen || strcmp(argv[k], cases[c].name) == 0;
        snprintf(path, sizeof path, "%s/%s", BENCH_ROBOTS, cases[c].file);
        if (chosen) ok = run_case(&cases[c], path, sets, n_sets) && ok;
    }
    for (int k = 1; k < argc; k++)
        if (strchr(argv[k], '=') == NULL && strchr(argv[k], '.') != NULL) {
            const struct Case other = {.name = argv[k], .to = 2};
            ok = run_case(&other, argv[k], sets, n_sets) && ok;
        }
    return ok ? 0 : 1;
}
