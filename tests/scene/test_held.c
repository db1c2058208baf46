/* The scenes of examples/toys that stand or are held by friction alone: they stand with slightly more friction than
 * theory requires, and give way with slightly less. */
#include "step/scene_run.h"

#define PI 3.14159265358979323846
#define G  9.81

static bool full(void)
{
    return getenv("ST_TEST_FULL") != NULL;
}

static void run_to(Run *run, double end)
{
    while (st_system_time(run->sys) < end - 1e-9 * run->def.h)
        run_step(run);
}

static double distance(st_Vec3 a, st_Vec3 b)
{
    return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

/* A scene of the test's own: make it, add to it, then open_own. */
static void make_own(Run *run)
{
    memset(run, 0, sizeof *run);
    run->def = st_system_def();
    check_ok(st_scene_create(&run->scene, &run->err), run->err);
}

static void add_own(Run *run, const char *name, st_Vec3 p, double turn_y, st_ShapeDef shape, bool fixed)
{
    st_BodyDef body = st_body_def();
    st_BodyId id;
    body.name = name;
    body.fixed = fixed;
    body.pose.p = p;
    body.pose.q = (st_Quat){cos(turn_y / 2), 0, sin(turn_y / 2), 0};
    check_ok(st_scene_add_body(run->scene, &body, &id, &run->err), run->err);
    check_ok(st_scene_add_shape(run->scene, id, &shape, NULL, &run->err), run->err);
    if (!fixed) check_ok(st_scene_centre_body(run->scene, id, NULL, &run->err), run->err);
}

static void open_own(Run *run)
{
    check_ok(st_system_create(run->scene, &run->def, &run->sys, &run->err), run->err);
}

/* ---- the gripper ---- */

/* How far the pen slips in half a second between fingers that press with `force`. The table is removed, and the
 * fingers touch the pen from the start. */
static double slipped(double force)
{
    char left[64], right[64];
    Run run;
    snprintf(left, sizeof left, "joints/left slide/motor/max_force=%.17g", force);
    snprintf(right, sizeof right, "joints/right slide/motor/max_force=%.17g", force);
    run_open(&run, "examples/toys/gripper.json", left, right, "ground/table/position=[0, 0, -9]",
             "bodies/left finger/position/0=-0.0195", "bodies/right finger/position/0=0.0195", NULL);
    double start = run_position(&run, "pen").z;
    run_to(&run, 0.5);
    double down = start - run_position(&run, "pen").z;
    run_close(&run);
    return down;
}

static void the_gripper_holds_the_pen(void **state)
{
    (void)state;
    const double weight = 0.12 * G, mu = 0.6, least = weight / (2 * mu);
    check_below(fabs(slipped(1.01 * least)), 1e-9);
    /* with 1 % less the rest of the weight pulls it down */
    check_close(slipped(0.99 * least), 0.5 * 0.01 * G * 0.25, 0.02 * 0.5 * 0.01 * G * 0.25);
    Run run;
    run_open(&run, "examples/toys/gripper.json", NULL);
    run_to(&run, 3);
    double held = run_position(&run, "pen").z;
    check_close(held, 0.171, 1e-3); /* lifted by 0.1 m, less the slip while it was lifted */
    run_to(&run, 6);
    check_close(run_position(&run, "pen").z, held, 1e-9); /* it does not creep: the solver's tolerance for 3 s */
    run_close(&run);
}

/* ---- the arch ---- */

#define STONES 15

static void wedge(st_Vec3 *point, double inner, double outer)
{
    double half = PI / (2 * STONES), middle = 0.5 * (inner + outer);
    for (int k = 0; k < 8; k++) {
        double r = k & 1 ? inner : outer, s = k & 2 ? 1 : -1, y = k & 4 ? 0.075 : -0.075;
        double z = r * cos(half) - middle;
        point[k] = (st_Vec3){r * sin(s * half), y, z};
    }
}

/* How far the crown of a half ring comes down in a quarter of a second, of mean radius 1/2. */
static double sunk(double thickness)
{
    Run run;
    char name[32];
    st_Vec3 point[8];
    make_own(&run);
    run.def.h = 0.005;
    run.def.margin = 1e-3;
    wedge(point, 0.5 - thickness / 2, 0.5 + thickness / 2);
    for (int k = 0; k < STONES; k++) {
        double a = PI * (k + 0.5) / STONES;
        st_ShapeDef stone = st_hull_def(point, 8);
        stone.mu = 1; /* none slides */
        snprintf(name, sizeof name, "stone %d", k + 1);
        add_own(&run, name, (st_Vec3){0.5 * cos(a), 0, 0.5 * sin(a)}, PI / 2 - a, stone, false);
    }
    st_ShapeDef floor = st_plane_def();
    floor.mu = 1;
    add_own(&run, "floor", (st_Vec3){0, 0, 0}, 0, floor, true);
    open_own(&run);
    double start = run_position(&run, "stone 8").z;
    run_to(&run, 0.25);
    double down = start - run_position(&run, "stone 8").z;
    run_close(&run);
    return down;
}

/* Milankovitch (1907): a half ring must be thicker than 0.1075 of its mean radius. With fifteen stones it can open in
 * fourteen places only, and may be a little thinner. */
static void the_arch_stands_on_its_own(void **state)
{
    (void)state;
    check_below(fabs(sunk(0.12 * 0.5)), 1e-6);
    assert_true(sunk(0.09 * 0.5) > 1e-3);
    Run run;
    const char *quick = "joints/jack/motor/table=[[0, 0], [0.05, 0.05], [0.4, 1]]"; /* the centring goes at once */
    run_open(&run, "examples/toys/stone-arch.json", full() ? "simulation/h=0.002" : quick,
             full() ? "simulation/end=3" : "simulation/h=0.005", NULL);
    st_Vec3 crown = run_position(&run, "stone 8"), haunch = run_position(&run, "stone 4");
    run_to(&run, full() ? 3 : 0.5);
    check_below(distance(run_position(&run, "stone 8"), crown), 1e-6);
    check_below(distance(run_position(&run, "stone 4"), haunch), 1e-6);
    run_close(&run);
}

/* ---- the house of cards ---- */

/* Two cards that lean on each other: how far they come down in 0.2 s. Where two edges meet the normal is anything
 * between those of the faces: the cards themselves are rough enough for any of them. */
static double fallen(double lean, double mu)
{
    const double length = 0.088, thick = 0.0005, c = cos(lean), s = sin(lean);
    Run run;
    make_own(&run);
    run.def.margin = 5e-4;
    st_ShapeDef card = st_box_def(thick / 2, 0.0315, length / 2), floor = st_plane_def();
    card.mu = 1;
    floor.mu = mu * mu; /* of the pair: the geometric mean */
    for (int side = -1; side <= 1; side += 2)
        add_own(&run, side < 0 ? "left" : "right",
                (st_Vec3){side * (thick / 2 * c + length / 2 * s), 0, (length * c + thick * s) / 2}, -side * lean, card,
                false);
    add_own(&run, "floor", (st_Vec3){0, 0, 0}, 0, floor, true);
    open_own(&run);
    double start = run_position(&run, "left").z;
    run_to(&run, 0.2);
    double down = start - run_position(&run, "left").z;
    run_close(&run);
    return down;
}

/* About the edge it stands on: weight times (length sin - thick cos)/2 = thrust times length cos. */
static void the_card_house_stands_by_friction(void **state)
{
    (void)state;
    const double lean = 0.38, needed = 0.5 * (tan(lean) - 0.0005 / 0.088);
    check_below(fabs(fallen(lean, 1.01 * needed)), 1e-8);
    assert_true(fallen(lean, 0.98 * needed) > 1e-4);
    static const char *const cards[] = {"west left", "east right", "floor", "top left", "top right"};
    st_Vec3 start[5];
    Run run;
    run_open(&run, "examples/toys/card-house.json", NULL);
    for (int k = 0; k < 5; k++)
        start[k] = run_position(&run, cards[k]);
    run_to(&run, full() ? 1.9 : 0.5);
    for (int k = 0; k < 5; k++)
        check_below(distance(run_position(&run, cards[k]), start[k]), 1e-6);
    if (full()) { /* and the marble ends it */
        run_to(&run, 3);
        assert_true(run_position(&run, "top left").z < 0.5 * start[3].z);
    }
    run_close(&run);
}

/* ---- the chain ---- */

/* The friction at which a chain over a round peg begins to slide: Euler's rope with its own weight and thickness. The
 * pull acts at the chain's radius, friction at the peg's, so that moments about the peg's axis are balanced by
 *
 *     dT/da = w R cos(a) + mu (peg/R) (T + w R sin(a)),
 *
 * from w times the length of the one side to w times that of the other. */
static double chain_friction(double R, double peg, double shorter, double longer)
{
    double lo = 0, hi = 2;
    for (int k = 0; k < 50; k++) {
        const int n = 2000;
        double mu = 0.5 * (lo + hi), f = mu * peg / R, T = shorter, da = PI / n;
        for (int i = 0; i < n; i++) {
            double a = (i + 0.5) * da, half = T + 0.5 * da * (R * cos(a) + f * (T + R * sin(a)));
            T += da * (R * cos(a) + f * (half + R * sin(a)));
        }
        if (T > longer)
            hi = mu;
        else
            lo = mu;
    }
    return lo;
}

/* How far the end of the shorter side comes up between 0.1 and 0.3 s; before, the links find their places on the peg.
 */
static double drawn_up(double mu)
{
    char peg[64];
    Run run;
    snprintf(peg, sizeof peg, "ground/peg/friction=%.17g", mu * mu / 0.2); /* of the pair: the geometric mean */
    run_open(&run, "examples/toys/chain-on-peg.json", peg, "simulation/h=0.002", NULL);
    run_to(&run, 0.1);
    double start = run_position(&run, "link 1").z;
    run_to(&run, 0.3);
    double up = run_position(&run, "link 1").z - start;
    run_close(&run);
    return up;
}

/* The seven links on the peg are a polygon: that holds 2 % better than an arc (2 tan(a/2) for a = pi/7). */
static void the_chain_holds_like_a_rope(void **state)
{
    (void)state;
    double ring = 0.015 / sin(PI / 14), peg = ring * cos(PI / 14) - 0.006;
    double mu = chain_friction(ring, peg, 10 * 0.03, 23 * 0.03);
    check_below(fabs(drawn_up(1.06 * mu)), 1e-6);
    assert_true(drawn_up(0.94 * mu) > 1e-3);
    assert_true(mu > 1.06 * 0.2 && mu < 0.94 * 0.3); /* the scene slides, and 0.3 holds it, as its description states */
}

/* ---- the hourglass ---- */

/* Grains below the neck; all of them must be in the glass. */
static int passed(const Run *run, int grains)
{
    int n = 0;
    for (int k = 1; k <= grains; k++) {
        char name[32];
        snprintf(name, sizeof name, "grain %d", k);
        st_Vec3 p = run_position(run, name);
        double wide = fabs(p.z) < 0.1 ? 0.016 + 0.039 * fmax(0, fabs(p.z) - 0.008) / 0.092 : 0.055;
        check_below(hypot(p.x, p.y), wide);
        n += p.z < 0;
    }
    return n;
}

/* Sand, unlike water, flows at one rate for any height above it (Beverloo's law does not contain the height). The
 * speed of water at the neck is proportional to the root of the height: with three quarters of it gone, it would
 * flow at half the rate. */
static void the_hourglass_keeps_its_rate(void **state)
{
    (void)state;
    Run run;
    run_open(&run, "examples/toys/hourglass.json", NULL);
    run_to(&run, full() ? 0.15 : 0.02);
    int early = passed(&run, 260);
    if (full()) {
        run_to(&run, 0.35);
        int half = passed(&run, 260);
        run_to(&run, 0.55);
        int late = passed(&run, 260);
        print_message("hourglass: %d grains in 0.2 s, then %d\n", half - early, late - half);
        check_close(late - half, half - early, 0.2 * (half - early));
        run_to(&run, 1);
        assert_int_equal(passed(&run, 260), 260);
    }
    run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gripper_holds_the_pen),         cmocka_unit_test(the_arch_stands_on_its_own),
        cmocka_unit_test(the_card_house_stands_by_friction), cmocka_unit_test(the_chain_holds_like_a_rope),
        cmocka_unit_test(the_hourglass_keeps_its_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
