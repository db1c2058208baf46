/* Joints that share a load by their stiffness (Preclik, Popa & Ruede 2011, eq. 9): two ball joints at one point carry
 * in the ratio of their stiffnesses, since the forces minimise the sum of r^2/k at a given sum. */
#include "step/scene_run.h"

static void shares(void **state)
{
    (void)state;
    const char *const ways[] = {"\"preset\": \"preclik-2011\"", "\"preset\": \"preclik-2011\", \"rigid_limit\": true",
                                "\"preset\": \"exact\", \"forces\": \"least_norm\""};
    for (int k = 0; k < 3; k++)
        for (int own = 0; own < 2; own++) {
            Run run = {0};
            char text[1200], stiff[2][64] = {"", ""};
            if (own) {
                snprintf(stiff[0], sizeof stiff[0], ", \"joint_stiffness\": 3e6");
                snprintf(stiff[1], sizeof stiff[1], ", \"joint_stiffness\": 1e6");
            }
            snprintf(text, sizeof text,
                     "{\"simulation\": {%s, \"h\": 0.01, \"end\": 1}, \"bodies\": [{\"name\": \"b\", \"mass\": 4, "
                     "\"inertia\": "
                     "[1, 1, 1], \"locks\": [\"rotation\"]}], \"joints\": [{\"name\": \"first\", \"type\": \"ball\", "
                     "\"b\": \"b\", "
                     "\"point\": [0, 0, 0]%s}, {\"name\": \"second\", \"type\": \"ball\", \"b\": \"b\", \"point\": [0, "
                     "0, 0]%s}]}",
                     ways[k], stiff[0], stiff[1]);
            check_ok(st_scene_parse(text, strlen(text), "test", NULL, 0, &run.scene, &run.def, &run.err), run.err);
            check_ok(st_system_create(run.scene, &run.def, &run.sys, &run.err), run.err);
            while (!run_finished(&run))
                run_step(&run);
            st_JointReport first, second;
            assert_int_equal(st_system_joint(run.sys, (st_JointId){1}, ST_FRAME_WORLD, &first), ST_OK);
            assert_int_equal(st_system_joint(run.sys, (st_JointId){2}, ST_FRAME_WORLD, &second), ST_OK);
            const double weight = 4 * 9.81;
            print_message("%s, %d: %.6g %.6g\n", ways[k], own, first.force.z, second.force.z);
            check_close(first.force.z, own ? 0.75 * weight : 0.5 * weight, 1e-5 * weight);
            check_close(second.force.z, own ? 0.25 * weight : 0.5 * weight, 1e-5 * weight);
            run_close(&run);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
