/* islands.c -- see islands.h: memory, the parts of a problem, the whole as one, and the report of all parts. */
#include "linalg/joint_graph.h"
#include "math/block_diag.h"
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
    for (int k = 0; k < s->n_workers; k++)
        sti_worker_destroy(s->worker[k]);
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
    /* the first worker also solves problems as a whole */
    st_Status status = sti_workers_make(s, 1, err);
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
    if (s->whole) return s->n_islands > 0 ? 0 : -1; /* none: no contact had a row */
    return s->c_part[contact] > REST ? s->c_part[contact] - 1 : -1;
}

int sti_islands_of_block(const sti_Islands *s, int block)
{
    if (s->whole) return 0;
    return s->part_of[block] > REST ? s->part_of[block] - 1 : -1;
}

/* ------------------------------------------------------------------ which parts there are */

static int count_blocks(const st_Problem *p, const sti_Awake *awake)
{
    return awake != NULL ? awake->n : p->A.n_blocks;
}

static int block_at(const sti_Awake *awake, int e)
{
    return awake != NULL ? awake->block[e] : e;
}

static st_Status locate_blocks(sti_Islands *s, const st_BlockDiag *matrix, Blocks *out, st_Error *err)
{
    int64_t start = 0;
    if (matrix->n_blocks == 0) return ST_OK;
    STI_TRY(STI_GROW(&s->allocator, out->at, out->at_size, matrix->n_blocks, err));
    STI_TRY(STI_GROW(&s->allocator, out->of, out->of_size, matrix->first[matrix->n_blocks], err));
    for (int k = 0; k < matrix->n_blocks; k++) {
        out->at[k] = start;
        start += sti_block_numbers(matrix, k);
        for (int i = matrix->first[k]; i < matrix->first[k + 1]; i++)
            out->of[i] = k;
    }
    return ST_OK;
}

/* Unites the blocks of one column with `node` and returns it, or, if `node` is NONE, the first block of the column. If
 * a column is left out, all its blocks sleep, and only the first is tested. */
static int connect_column(sti_Islands *s, const st_Sparse *columns, int j, int node)
{
    int last = NONE;
    const int first = columns->p[j] < columns->p[j + 1] ? s->A.of[columns->i[columns->p[j]]] : NONE;
    if (first != NONE && s->part_of[first] == NONE) return first;
    for (int64_t e = columns->p[j]; e < columns->p[j + 1]; e++) {
        const int block = s->A.of[columns->i[e]];
        if (block == last) continue;
        if (node != NONE) sti_join(s->above, node, block);
        if (node == NONE) node = block;
        last = block;
    }
    return node;
}

/* The first block of each column is in no part. A column of sleeping bodies touches no block that is awake. */
static void leave_out(sti_Islands *s, const st_Sparse *columns, int n)
{
    for (int j = 0; j < n; j++) {
        if (columns->p[j] == columns->p[j + 1]) continue;
        const int k = s->A.of[columns->i[columns->p[j]]];
        s->above[k] = k;
        s->part_of[k] = NONE;
    }
}

/* The parts of s->problem, by number: union-find over the blocks of A. */
static st_Status find_parts(sti_Islands *s, const sti_Awake *awake, st_Error *err)
{
    const st_Problem *p = s->problem;
    const st_BlockDiag *A = &p->A;
    const int n = A->n_blocks;

    /* The place of each block of A and the block of each velocity: kept while A keeps its shape. */
    bool same = s->n_velocities == p->n_v && s->shape_size > n && s->marks_size >= n &&
                memcmp(s->shape, A->first, ((size_t)n + 1) * sizeof *s->shape) == 0;
    for (int k = 0; k < n && same; k++)
        same = (s->marks[k] != 0) == sti_block_marked(A, k);
    if (!same) {
        GROW(shape, n + 1);
        GROW(marks, n);
        memcpy(s->shape, A->first, ((size_t)n + 1) * sizeof *s->shape);
        for (int k = 0; k < n; k++)
            s->marks[k] = sti_block_marked(A, k);
        STI_TRY(locate_blocks(s, A, &s->A, err));
        s->n_velocities = p->n_v;
    }

    /* Each block alone: those that are left out in no part, the others without contacts. */
    GROW(above, n);
    GROW(part_of, n);
    GROW(l_part, p->n_l);
    GROW(c_part, p->n_contacts);
    if (awake != NULL && p->n_l > 0) leave_out(s, &p->G, p->n_l);
    if (awake != NULL && p->n_r > 0 && s->pile == NULL) leave_out(s, &p->H, p->n_r);
    for (int e = 0; awake != NULL && s->pile != NULL && e < 2 * p->n_contacts; e++)
        if (s->pile->body[e] >= 0) {
            s->above[s->pile->body[e]] = s->pile->body[e];
            s->part_of[s->pile->body[e]] = NONE;
        }
    for (int e = 0; e < count_blocks(p, awake); e++) {
        const int k = block_at(awake, e);
        s->above[k] = k;
        s->part_of[k] = REST;
    }

    /* Joint rows and contacts connect blocks; l_part and c_part are a block of each. Columns of a contact usually
     * touch the same velocities; such columns connect nothing more. */
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = connect_column(s, &p->G, j, NONE);
    for (int c = 0; c < p->n_contacts; c++) {
        if (s->pile != NULL) {
            const int32_t *body = s->pile->body + 2 * (ptrdiff_t)c;
            if (body[0] >= 0 && body[1] >= 0) sti_join(s->above, body[0], body[1]);
            s->c_part[c] = body[0] >= 0 ? body[0] : body[1] >= 0 ? body[1] : NONE;
            continue;
        }
        const st_Sparse *H = &p->H;
        s->c_part[c] = NONE;
        for (int j = p->contact[c].first; j < p->contact[c].first + p->contact[c].dim; j++) {
            const int64_t count = H->p[j + 1] - H->p[j];
            if (j == p->contact[c].first || H->p[j] - H->p[j - 1] != count ||
                memcmp(H->i + H->p[j - 1], H->i + H->p[j], (size_t)count * sizeof *H->i) != 0)
                s->c_part[c] = connect_column(s, H, j, s->c_part[c]);
        }
    }

    /* A block of compliance connects the blocks of its rows. */
    for (int k = 0; k < p->Cb.n_blocks; k++)
        for (int i = p->Cb.first[k] + 1; i < p->Cb.first[k + 1]; i++)
            if (s->l_part[i] != NONE && s->l_part[i - 1] != NONE) sti_join(s->above, s->l_part[i], s->l_part[i - 1]);
    s->soft_rows = p->C.n_blocks > 0 && p->C.n_blocks == p->n_r && p->C.first[p->C.n_blocks] == p->n_r;
    for (int k = 0, c = 0; k < p->C.n_blocks && !s->soft_rows; k++) {
        while (p->contact[c].first + p->contact[c].dim <= p->C.first[k])
            c++;
        for (; p->contact[c].first + p->contact[c].dim < p->C.first[k + 1]; c++)
            if (s->c_part[c] != NONE && s->c_part[c + 1] != NONE) sti_join(s->above, s->c_part[c], s->c_part[c + 1]);
    }

    /* Number the parts: islands in the order of their first blocks. A row that touches nothing is in the first. */
    s->n_islands = 0;
    for (int c = 0; c < p->n_contacts; c++)
        if (s->c_part[c] != NONE && s->part_of[s->c_part[c]] != NONE)
            s->part_of[sti_leader(s->above, s->c_part[c])] = 1;
    for (int e = 0; e < count_blocks(p, awake); e++) {
        const int k = block_at(awake, e);
        const int leader = sti_leader(s->above, k); /* the smallest of its island: numbered before k */
        if (leader != k)
            s->part_of[k] = s->part_of[leader];
        else if (s->part_of[k] != REST)
            s->part_of[k] = ++s->n_islands;
    }
    if (awake == NULL && s->n_islands < 2) return ST_OK; /* the parts of rows are not read */
    const int first = s->n_islands > 0 ? 1 : REST;
    for (int j = 0; j < p->n_l; j++)
        s->l_part[j] = s->l_part[j] == NONE ? first : s->part_of[s->l_part[j]];
    for (int c = 0; c < p->n_contacts; c++)
        s->c_part[c] = s->c_part[c] == NONE ? first : s->part_of[s->c_part[c]];
    return ST_OK;
}

/* By counting: ascending within each part. Of n things, or of those that are awake. */
static st_Status list_members(sti_Islands *s, Members *m, const int *part, int n, const sti_Awake *awake, st_Error *err)
{
    const int n_parts = s->n_islands + 1;
    STI_TRY(STI_GROW(&s->allocator, m->first, m->first_size, n_parts + 2, err));
    STI_TRY(STI_GROW(&s->allocator, m->member, m->member_size, n, err));
    memset(m->first, 0, ((size_t)n_parts + 2) * sizeof *m->first);
    int *next = m->first + 1; /* ends as the first of the following part */
    if (awake != NULL) n = awake->n;
    for (int e = 0; e < n; e++)
        if (part[block_at(awake, e)] != NONE) next[part[block_at(awake, e)] + 1]++;
    for (int k = 1; k <= n_parts; k++)
        next[k] += next[k - 1];
    for (int e = 0; e < n; e++) {
        const int i = block_at(awake, e);
        if (part[i] != NONE) m->member[next[part[i]]++] = i;
    }
    return ST_OK;
}

/* ------------------------------------------------------------------ solve */

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

void sti_islands_without_contacts(sti_Islands *s, const st_Problem *problem, st_SolveInfo *info)
{
    s->problem = problem;
    s->pile = NULL;
    s->whole = true;
    s->confirms = false;
    s->n_islands = 0;
    *info = (st_SolveInfo){.solver = s->def.name, .converged = true, .residual = {.worst_contact = -1}};
}

st_Status sti_islands_correct(sti_Islands *s, const st_Problem *problem, st_Solution *solution, st_SolveInfo *info,
                              st_Error *err)
{
    st_SolveInfo found;
    s->problem = problem;
    const st_Status status = sti_linear_correct(s->linear, problem, solution, &found, err);
    return linear_info(s, status, solution->v, &found, info);
}

void sti_islands_be_rough(sti_Islands *s)
{
    sti_linear_be_rough(s->linear);
}

st_Status sti_islands_solve(sti_Islands *s, const st_Problem *problem, const sti_IslandsCall *call,
                            st_Solution *solution, st_SolveInfo *info, st_Error *err)
{
    s->call = call != NULL ? *call : (sti_IslandsCall){0};
    if (!(s->call.max_work > 0)) s->call.max_work = s->def.max_work;
    const sti_PileContacts *pile = s->call.pile;
    const sti_Awake *awake = s->call.awake;
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
        STI_TRY(find_parts(s, awake, err));
        s->confirms = pile != NULL && pile->period == NULL && problem->symmetric && problem->n_l == 0 &&
                      problem->A.diagonal != NULL &&
                      (problem->C.n_blocks == 0 || problem->C.n_blocks == problem->n_r) &&
                      sti_solver_keeps_starts(s->worker[0]->solver);
        if (s->confirms) GROW(v_first, problem->A.n_blocks);
    }
    if (awake == NULL && s->n_islands < 2) { /* the problem as a whole */
        bool confirmed = false;
        double left = s->call.left != NULL ? 0.0 : INFINITY;
        for (int c = 0; c < problem->n_contacts && s->call.left != NULL; c++)
            left = sti_larger(s->call.left(s->call.left_ctx, c), left);
        if (s->confirms) STI_TRY(sti_part_confirm(s->worker[0], NONE, left, solution, &confirmed, err));
        if (!confirmed) {
            st_Solver *solver = s->worker[0]->solver;
            st_SolveInfo found;
            sti_solver_equip(solver,
                             (sti_Equipment){s->def.threads, NULL, s->call.dense, s->call.max_work, s->stop, left});
            STI_TRY(sti_solver_solve(solver, problem, pile, solution, &found, err));
            s->island[1] = (sti_Island){problem->A.n_blocks, problem->n_contacts, problem->n_l, found, false};
        }
        if (info != NULL) *info = s->island[1].info;
        return ST_OK;
    }
    s->whole = false;
    STI_TRY(list_members(s, &s->blocks, s->part_of, problem->A.n_blocks, awake, err));
    STI_TRY(list_members(s, &s->rows, s->l_part, problem->n_l, NULL, err));
    STI_TRY(list_members(s, &s->contacts, s->c_part, problem->n_contacts, NULL, err));
    STI_TRY(locate_blocks(s, &problem->Cb, &s->Cb, err));
    if (!s->soft_rows) STI_TRY(locate_blocks(s, &problem->C, &s->C, err));
    GROW(v_first, problem->A.n_blocks);
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
