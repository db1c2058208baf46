/* Known answers of grains: laws that people have measured, with the spread that they have found. */
#include "validate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G  9.81
#define PI 3.14159265358979323846

/* Many grains are solved as far as the effort goes: what is left over is in the reports, and no reason to stop. */
static bool run_grains(Sim *s, double until)
{
    st_Error err = {0};
    while (s->ok && st_system_time(s->system) < until - 0.5 * s->def.h) {
        s->info = st_step_info();
        s->ok = st_system_step(s->system, s->def.h, &s->info, &err) == ST_OK;
        if (!s->ok) expect(s->check, err.message, 0, 1, 0);
    }
    return s->ok;
}

/* A value of a measure, by name. */
static double measured(const Sim *s, const char *measure, const char *value)
{
    double values[ST_MEASURE_VALUES];
    for (int k = 0; s->ok && k < st_scene_measure_count(s->scene); k++) {
        st_MeasureDef def;
        const char *name;
        if (st_scene_measure(s->scene, k, &def) != ST_OK || strcmp(def.name, measure) != 0) continue;
        if (st_system_measure(s->system, k, values, NULL, NULL) != ST_OK) continue;
        for (int i = 0; (name = st_measure_value_name(def.type, i, NULL)) != NULL; i++)
            if (strcmp(name, value) == 0) return values[i];
    }
    return NAN;
}

static double grain_mass(const Sim *s)
{
    double sum = 0, mass;
    st_Mat3 inertia;
    for (int b = 1; s->scene != NULL && b <= st_scene_body_count(s->scene); b++)
        if (st_scene_body_mass(s->scene, (st_BodyId){b}, &mass, &inertia, NULL) == ST_OK) sum += mass;
    return sum;
}

/* ---- S8: Janssen's silo ----------------------------------------------------------------------- */

/* The floor of a silo of width D carries W(M) = W_max (1 - exp(-M g/W_max)) of a filling of mass M; W_max is the weight
 * of a length D/(4 mu K) of it, and K the ratio of horizontal to vertical stress, between 0.3 and 1 in experiments. Two
 * fillings, one twice the other, give x = M g/W_max by the ratio 1 + exp(-x) of their loads, and then each load is a
 * check of its own. Loads are means over 0.3 s in which the floor sinks by 3 mm: friction acts upwards everywhere. */
void janssen_silo(Check *check)
{
    static const char *const half = "regions/silo={\"name\": \"silo\", \"type\": \"box\", \"position\": [0, 0, 0.06], "
                                    "\"size\": [0.06, 0.06, 0.12]}";
    double load[2] = {0}, weight[2] = {0}, packing = 0;
    for (int k = 0; k < 2; k++) {
        Sim s = sim_example(check, "janssen-silo", k == 0 ? half : NULL);
        double both = 0;
        int n = 0;
        weight[k] = G * (grain_mass(&s) - 1); /* without the piston */
        for (run_grains(&s, 0.4); s.ok && n < 60; n++) {
            run_grains(&s, 0.4 + 0.005 * (n + 1));
            load[k] -= measured(&s, "floor", "fz") / 60;
            both -= (measured(&s, "floor", "fz") + measured(&s, "walls", "fz")) / 60;
        }
        packing = measured(&s, "bed", "packing_fraction");
        expect(check, k == 0 ? "floor and walls carry, of the weight, H = 2 D" : "floor and walls carry, H = 4 D", 1,
               both / weight[k], 0.02);
        sim_close(&s);
    }
    const double x = -log(load[1] / load[0] - 1), most = load[0] / (1 - exp(-x));
    expect(check, "floor, H = 4 D, of the weight", (1 - exp(-2 * x)) / (2 * x), load[1] / weight[1], 0.08);
    const double length = most / (G * 2500 * packing * 0.06 * 0.06);
    expect(check, "K, from 0.3 to 1", 0.65, 0.06 / (4 * 0.5 * length), 0.35);
}

/* ---- V41: Beverloo's law ------------------------------------------------------------------------ */

/* A flat floor with a square opening of width D: W = C rho sqrt(g) 4/pi (D - k d)^(5/2), so that W^(2/5) is linear in D
 * and 0 at k d. Beverloo et al. (1961): k about 1.4, between 1 and 2; C about 0.58 for round openings, with rho that of
 * the filling. Of the time from 0.15 s on until 45 per cent have left, 1 s at most. */
static double discharge(Check *check, double opening, double d, double side, double height)
{
    const double half = opening / 2, slab = side / 2 - half, at = half + slab / 2, wall = side / 2;
    Sim s = sim_open(
        check,
        "{\"simulation\": {\"h\": 0.001}, \"ground\": ["
        "{\"type\": \"plane\", \"position\": [%g, 0, 0], \"normal\": [-1, 0, 0]},"
        "{\"type\": \"plane\", \"position\": [%g, 0, 0], \"normal\": [1, 0, 0]},"
        "{\"type\": \"plane\", \"position\": [0, %g, 0], \"normal\": [0, -1, 0]},"
        "{\"type\": \"plane\", \"position\": [0, %g, 0], \"normal\": [0, 1, 0]},"
        "{\"type\": \"box\", \"position\": [%g, 0, -0.01], \"size\": [%g, %g, 0.02]},"
        "{\"type\": \"box\", \"position\": [%g, 0, -0.01], \"size\": [%g, %g, 0.02]},"
        "{\"type\": \"box\", \"position\": [0, %g, -0.01], \"size\": [%g, %g, 0.02]},"
        "{\"type\": \"box\", \"position\": [0, %g, -0.01], \"size\": [%g, %g, 0.02]}],"
        "\"fills\": [{\"region\": {\"type\": \"box\", \"position\": [0, 0, %g], \"size\": [%g, %g, %g]},"
        "\"packing_fraction\": 0.48, \"arrangement\": \"dropped\", \"size\": {\"distribution\": \"uniform\","
        "\"min\": %g, \"max\": %g}, \"shapes\": [{\"type\": \"sphere\", \"radius\": 0.005, \"density\": 2500}]}],"
        "\"measures\": [{\"name\": \"hole\", \"type\": \"flow\", \"region\": {\"type\": \"half-space\"}}],"
        "\"outlets\": [{\"region\": {\"type\": \"half-space\", \"position\": [0, 0, -0.05]}}]}",
        wall, -wall, wall, -wall, at, slab, side, -at, slab, side, at, opening, slab, -at, opening, slab, height / 2,
        side, side, height, 0.9 * d, 1.1 * d);
    const double all = grain_mass(&s), start = 0.15;
    run_grains(&s, start);
    const double before = measured(&s, "hole", "mass");
    double m = before, t = start;
    while (s.ok && m < 0.45 * all && t < 1) {
        t += 0.01;
        run_grains(&s, t);
        m = measured(&s, "hole", "mass");
    }
    sim_close(&s);
    return (m - before) / (t - start);
}

void beverloo_hopper(Check *check)
{
    static const double wide[] = {4, 6, 8, 10}; /* in grains */
    const double d = 0.008, rho = 2500 * 0.6;
    if (!check_full(check)) {
        const double law = 0.58 * rho * sqrt(G) * 4 / PI * pow((6 - 1.4) * d, 2.5);
        expect(check, "opening of 6 grains: flow over the law's", 1, discharge(check, 6 * d, d, 0.08, 0.08) / law,
               0.25);
        return;
    }
    double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0;
    for (int k = 0; k < 4; k++) {
        const double x = wide[k], y = pow(discharge(check, x * d, d, 0.128, 0.16), 0.4);
        sx += x, sy += y, sxx += x * x, sxy += x * y, syy += y * y;
    }
    const double slope = (4 * sxy - sx * sy) / (4 * sxx - sx * sx), start = (sy - slope * sx) / 4;
    const double fit = (4 * sxy - sx * sy) / sqrt((4 * sxx - sx * sx) * (4 * syy - sy * sy));
    expect(check, "openings of 4 to 10 grains: 1 - R^2 of W^(2/5)", 0, 1 - fit * fit, 0.01);
    expect(check, "it is 0 at k grains, k from 1 to 2", 1.5, -start / slope, 0.5);
    expect(check, "C", 0.58, pow(slope, 2.5) / (rho * sqrt(G) * 4 / PI * pow(d, 2.5)), 0.12);
}

/* ---- S9: a column of sticky grains ---------------------------------------------------------------- */

/* The mean height of grains after 0.5 s, over that at the start. */
static double height_kept(Check *check, double adhesion)
{
    char set[64];
    snprintf(set, sizeof set, "materials/wet/adhesion=%.17g", adhesion);
    Sim s = sim_example(check, "sand-castle", set);
    double height[2] = {0};
    for (int k = 0; k < 2 && s.ok; k++) {
        st_Pose pose;
        if (k == 1) run_grains(&s, 0.5);
        for (int b = 1; b <= st_scene_body_count(s.scene); b++)
            if (st_system_pose(s.system, (st_BodyId){b}, &pose) == ST_OK) height[k] += pose.p.z;
    }
    sim_close(&s);
    return height[1] / height[0];
}

/* Grains of diameter d that pull with F at each of Z contacts have a tensile strength of phi Z F/(pi d^2) (Rumpf 1962),
 * and with an angle of friction a = 20 degrees a cohesion c of tan a times that. A vertical face stands up to a height
 * of 4 c/(rho g) tan(45 degrees + a/2) (Coulomb). With phi = 0.57, Z = 4.7 and d = 10 mm a column of H = 50 mm stands
 * from F = 0.04 N on. The estimate is good to a factor of two or so: cases lie a factor of five on either side of it.
 */
void sand_castle(Check *check)
{
    const double a = 20 * PI / 180, strength = 0.57 * 4.7 / PI / (0.01 * 0.01) * tan(a);
    const double critical = 0.05 * 0.57 * 2500 * G / (4 * strength * tan(PI / 4 + a / 2));
    expect(check, "five times the critical adhesion: height kept", 1, height_kept(check, 5 * critical), 0.1);
    expect(check, "a fifth of it: it slumps to less than a half", 0.25, height_kept(check, critical / 5), 0.25);
}
