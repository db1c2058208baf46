/* islands.c -- see islands.h: memory, the whole as one, and what is said of all parts. */
#include "reduce/residual.h"
#include "solve/islands_memory.h"

#define RELEASE(name) STI_RELEASE(&s->allocator, s->name, s->name##_size)

static void release_members(const st_Allocator *allocator, Members *m)
{
    STI_RELEASE(allocator, m->first, m->first_size);
    STI_RELEASE(allocator, m->member, m->member_size);
}

static void release_blocks(const st_Allocator *allocator, Blocks *b)
{
    STI_RELEASE(allocator, b->at, b->at_size);
    STI_RELEASE(allocator, b->of, b->of_size);
}

void sti_islands_destroy(sti_Islands *s)
{
    if (s == NULL) return;
    const st_Allocator allocator = s->allocator;
    for (int k = 0; k < s->n_desks; k++)
        sti_desk_destroy(s->desk[k]);
    for (int64_t k = 0; k < s->joints_size; k++)
        sti_saddle_destroy(s->joints[k].saddle);
    sti_linear_destroy(s->linear);
    RELEASE(joints);
    RELEASE(island);
    RELEASE(marks);
    RELEASE(shape);
    RELEASE(above);
    RELEASE(part_of);
    RELEASE(l_part);
    RELEASE(c_part);
    RELEASE(v_first);
    release_members(&allocator, &s->blocks);
    release_members(&allocator, &s->rows);
    release_members(&allocator, &s->contacts);
    release_blocks(&allocator, &s->A);
    release_blocks(&allocator, &s->Cb);
    release_blocks(&allocator, &s->C);
    sti_free(&allocator, s, 1, sizeof *s);
}

st_Status sti_islands_create(const st_SolverDef *def, bool split, sti_Stop *stop, sti_Islands **out, st_Error *err)
{
    sti_Islands *s = sti_alloc(&def->allocator, 1, sizeof *s);
    if (s == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: islands");
    s->allocator = def->allocator;
    s->def = *def;
    s->split = split;
    s->stop = stop;
    for (int k = 0; k < st_solver_count(); k++) /* the caller's string may go */
        if (def->name != NULL && strcmp(st_solver_name(k), def->name) == 0) s->def.name = st_solver_name(k);
    /* the first desk, at which the whole is solved as well, and what else there is before any part */
    st_Status status = sti_desks_make(s, 1, err);
    if (status == ST_OK) status = sti_linear_create(&s->allocator, &s->linear, err);
    if (status == ST_OK) status = STI_GROW(&s->allocator, s->island, s->island_size, 2, err);
    if (status != ST_OK) {
        sti_islands_destroy(s);
        return status;
    }
    *out = s;
    return ST_OK;
}

st_Status sti_islands_create_alike(const sti_Islands *s, sti_Islands **out, st_Error *err)
{
    return sti_islands_create(&s->def, s->split, s->stop, out, err);
}

int sti_islands_count(const sti_Islands *s)
{
    return s->n_islands;
}

const sti_Island *sti_islands_get(const sti_Islands *s, int index)
{
    return index >= 0 && index < s->n_islands ? &s->island[index + 1] : NULL;
}

int sti_islands_of(const sti_Islands *s, int contact)
{
    if (s->whole) return 0;
    return s->c_part[contact] > REST ? s->c_part[contact] - 1 : -1;
}

int sti_islands_of_block(const sti_Islands *s, int block)
{
    if (s->whole) return 0;
    return s->part_of[block] > REST ? s->part_of[block] - 1 : -1;
}

/* NaN is the worst of all. */
static double worse(double x, double m)
{
    return x <= m ? m : x;
}

/* `status` is that of the linear solution, which has found `found`. */
static st_Status linear_info(const sti_Islands *s, st_Status status, const double *v, st_SolveInfo *found,
                             st_SolveInfo *info)
{
    if (status != ST_OK || info == NULL) return status;
    found->solver = s->def.name;
    found->converged = sti_joints_are_met(s->problem, v, found->residual.joint, s->def.tolerance, s->def.all_errors);
    *info = *found;
    return ST_OK;
}

st_Status sti_islands_correct(sti_Islands *s, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                              st_Error *err)
{
    st_SolveInfo found;
    s->problem = problem;
    const st_Status status = sti_linear_correct(s->linear, problem, solution, &found, err);
    return linear_info(s, status, solution->v, &found, info);
}

void sti_islands_recall(sti_Islands *s, sti_Left left, const void *ctx)
{
    s->left = left;
    s->left_ctx = ctx;
}

void sti_islands_try_dense(sti_Islands *s, bool tries)
{
    s->dense = tries;
}

void sti_islands_limit(sti_Islands *s, double max_work)
{
    s->def.max_work = max_work;
}

void sti_islands_be_rough(sti_Islands *s)
{
    sti_linear_be_rough(s->linear);
}

st_Status sti_islands_solve(sti_Islands *s, const st_Problem *problem, const sti_PileContacts *pile,
                            const sti_Awake *awake, st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    s->problem = problem;
    s->pile = pile;
    s->whole = true;
    s->confirms = false;
    if (awake == NULL && problem->n_contacts == 0) {
        st_SolveInfo found;
        s->n_islands = 0;
        const st_Status status = sti_linear_solve(s->linear, problem, solution, &found, err);
        return linear_info(s, status, solution->v, &found, info);
    }
    s->n_islands = 1;
    const bool several = problem->n_contacts >= 2 && (pile != NULL || problem->A.n_blocks >= 2); /* parts, perhaps */
    if (awake != NULL || (several && s->split)) {
        STI_TRY(sti_parts_find(s, awake, err));
        s->confirms = pile != NULL && pile->period == NULL && problem->symmetric && problem->n_l == 0 &&
                      problem->A.diagonal != NULL &&
                      (problem->C.n_blocks == 0 || problem->C.n_blocks == problem->n_r) &&
                      sti_solver_keeps_starts(s->desk[0]->solver);
        if (s->confirms) GROW(v_first, problem->A.n_blocks);
    }
    if (awake == NULL && s->n_islands < 2) { /* the problem as a whole */
        bool confirmed;
        double left = s->left != NULL ? 0.0 : INFINITY;
        for (int c = 0; c < problem->n_contacts && s->left != NULL; c++)
            left = fmax(left, s->left(s->left_ctx, c));
        STI_TRY(sti_part_confirm(s->desk[0], NONE, left, solution, &confirmed, err));
        if (!confirmed) {
            st_Solver *solver = s->desk[0]->solver;
            st_SolveInfo found;
            sti_solver_equip(solver, (sti_Equipment){s->def.threads, NULL, s->dense, s->def.max_work, s->stop, left});
            STI_TRY(sti_solver_solve(solver, problem, pile, solution, &found, err));
            s->island[1] = (sti_Island){problem->A.n_blocks, problem->n_contacts, problem->n_l, found, false};
        }
        if (info != NULL) *info = s->island[1].info;
        return ST_OK;
    }
    s->whole = false;
    STI_TRY(sti_parts_list(s, awake, err));
    GROW(island, s->n_islands + 1);
    STI_TRY(sti_parts_solve(s, solution, err));

    /* the worst of all parts: largest errors, most iterations, and the solver of the one with the largest residual */
    st_SolveInfo all = {.converged = true, .start = -1.0, .residual = {.worst_contact = -1}};
    st_Residual *to = &all.residual;
    for (int part = 0; part <= s->n_islands; part++) {
        const st_SolveInfo *one = &s->island[part].info;
        const st_Residual *from = &one->residual;
        if (sti_members(&s->blocks, part) == 0) continue;
        if (all.solver == NULL || !(from->natural <= to->natural)) {
            const int worst = from->worst_contact;
            all.solver = one->solver;
            all.fallback = one->fallback;
            to->worst_contact = worst >= 0 ? s->contacts.member[s->contacts.first[part] + worst] : -1;
        }
        all.converged = all.converged && one->converged;
        all.iterations = one->iterations > all.iterations ? one->iterations : all.iterations;
        all.redundant_rows += one->redundant_rows;
        all.start = worse(one->start, all.start);
        all.work = worse(one->work, all.work);
        to->natural = worse(from->natural, to->natural);
        to->error = worse(from->error, to->error);
        to->error_rho = worse(from->error_rho, to->error_rho);
        to->joint = worse(from->joint, to->joint);
        to->cone_violation = worse(from->cone_violation, to->cone_violation);
        to->complementarity += from->complementarity;
    }
    if (all.solver == NULL) all.solver = s->def.name; /* nothing moves */
    if (info != NULL) *info = all;
    return ST_OK;
}
