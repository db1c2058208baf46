/* no_contacts.c -- see no_contacts.h. */
#include "linalg/no_contacts.h"

#include "linalg/saddle.h"

struct sti_Linear {
    st_Allocator allocator;
    sti_Saddle *saddle;
    STI_ARRAY(double, c); /* n_l: -g                                                               */
    STI_ARRAY(double, l); /* n_l                                                                   */
};

st_Status sti_linear_create(const st_Allocator *allocator, sti_Linear **out, st_Error *err)
{
    sti_Linear *linear = sti_alloc(allocator, 1, sizeof *linear);
    if (linear == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a linear step problem");
    linear->allocator = *allocator;
    const st_Status status = sti_saddle_create(allocator, &linear->saddle, err);
    if (status != ST_OK) {
        sti_linear_destroy(linear);
        return status;
    }
    *out = linear;
    return ST_OK;
}

void sti_linear_destroy(sti_Linear *linear)
{
    if (linear == NULL) return;
    const st_Allocator allocator = linear->allocator;
    sti_saddle_destroy(linear->saddle);
    STI_RELEASE(&allocator, linear->c, linear->c_size);
    STI_RELEASE(&allocator, linear->l, linear->l_size);
    sti_free(&allocator, linear, 1, sizeof *linear);
}

void sti_linear_be_rough(sti_Linear *linear)
{
    linear->saddle->rough = true;
}

static st_Status begin(sti_Linear *linear, const st_Problem *problem, st_Error *err)
{
    STI_TRY(STI_GROW(&linear->allocator, linear->c, linear->c_size, problem->n_l, err));
    STI_TRY(STI_GROW(&linear->allocator, linear->l, linear->l_size, problem->n_l, err));
    for (int row = 0; row < problem->n_l; row++)
        linear->c[row] = -problem->g[row];
    return ST_OK;
}

static st_Status finish(const sti_Linear *linear, const st_Problem *problem, const double *v, const double *l,
                        st_SolveInfo *info, st_Error *err)
{
    for (int row = 0; row < problem->n_v; row++)
        if (!isfinite(v[row])) return sti_fail(err, ST_ERR_NUMERIC, "velocity %d without contacts is %g", row, v[row]);
    *info = (st_SolveInfo){
        .redundant_rows = linear->saddle->redundant_rows,
        .residual = {.joint = linear->saddle->rough ? 0.0 : sti_saddle_joint_residual(linear->saddle, v, l),
                     .worst_contact = -1}};
    return ST_OK;
}

st_Status sti_linear_solve(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                           st_Error *err)
{
    STI_TRY(sti_saddle_factor(linear->saddle, problem, err));
    STI_TRY(begin(linear, problem, err));
    double *l = solution->l != NULL ? solution->l : linear->l;
    sti_saddle_solve(linear->saddle, STI_WHOLE, problem->f, linear->c, solution->v, l);
    return finish(linear, problem, solution->v, l, info, err);
}

st_Status sti_linear_correct(sti_Linear *linear, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                             st_Error *err)
{
    sti_saddle_renew(linear->saddle, problem);
    STI_TRY(begin(linear, problem, err));
    /* The impulses of a correction act along the rows that the factors are of, which have moved since. So it is
     * repeated until all of them act along the present rows: else momentum has a remainder that no joint reports. */
    for (int k = 0; k < 6; k++)
        if (sti_saddle_correct(linear->saddle, problem->f, linear->c, solution->v, solution->l) <= 1e-12) break;
    return finish(linear, problem, solution->v, solution->l, info, err);
}
