/* Problem files: HDF5 in the layout of FCLIB. A problem that is read is solved, and its residual is the one
 * reported. */
#include "fuzz.h"

static void solve(const st_ProblemFile *file)
{
    st_Error err = {0};
    st_Friction *friction = NULL;
    st_Solver *solver = NULL;
    st_SolverDef def = st_solver_def();
    st_SolveInfo info;
    double r[600] = {0};
    def.max_iterations = 100;
    def.max_work = 500;
    st_Solution solution = {.r = r};
    if (file->is_lcp || file->n > 600) return;
    if (st_friction_create(&file->friction, &friction, &err) == ST_OK &&
        st_solver_create(&def, &solver, &err) == ST_OK &&
        st_friction_solve(friction, solver, &solution, &info, &err) == ST_OK)
        for (int k = 0; k < file->n; k++)
            MUST(isfinite(r[k]));
    st_solver_destroy(solver);
    st_friction_destroy(friction);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    st_Error err = {0};
    st_ProblemFile *file = NULL;
    const st_Status status = st_problem_file_read(as_file(data, size, ".hdf5"), &file, &err);
    if (status == ST_OK)
        solve(file);
    else
        must_explain(status, &err);
    st_problem_file_destroy(file);
    return 0;
}
