/* factored.c -- see factored.h. */
#include "solve/factored.h"

#include "solve/law.h"
#include "solve/residual.h"

/* Blocks of W beyond which it is not formed: 9 numbers each, and the factors are many times larger. */
static const int64_t max_blocks = 1000000;

st_Status sti_factored_create(const st_Allocator *allocator, size_t bytes, const char *name, void **workspace,
                              st_Error *err)
{
    sti_Factored *f = sti_alloc(allocator, 1, bytes);
    if (f == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: solver %s", name);
    f->allocator = f->W.allocator = *allocator;
    f->bytes = bytes;
    const st_Status status = sti_sparse_lu_create(allocator, &f->lu, err);
    if (status != ST_OK) {
        sti_factored_destroy(f);
        return status;
    }
    *workspace = f;
    return ST_OK;
}

void sti_factored_destroy(void *workspace)
{
    sti_Factored *f = workspace;
    if (f == NULL) return;
    const st_Allocator allocator = f->allocator;
    sti_sparse_lu_destroy(f->lu);
    sti_delassus_release(&f->W);
    STI_RELEASE(&allocator, f->memory, f->memory_size);
    sti_free(&allocator, f, 1, f->bytes);
}

st_Status sti_factored_begin(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err)
{
    f->least = INFINITY;
    return sti_delassus_build(&f->W, task->reduction, max_blocks, formed, err);
}

st_Status sti_factored_room(sti_Factored *f, const sti_Task *task, const sti_Room *rooms, int n_rooms, st_Error *err)
{
    const int64_t n = task->problem->n_r;
    int64_t total = 2 * n;
    for (int k = 0; k < n_rooms; k++)
        total += rooms[k].size;
    STI_TRY(STI_GROW(&f->allocator, f->memory, f->memory_size, total, err));
    f->u = f->memory;
    f->best = f->memory + n;
    double *next = f->memory + 2 * n;
    for (int k = 0; k < n_rooms; k++) {
        *rooms[k].at = next;
        next += rooms[k].size;
    }
    memcpy(f->best, task->r, (size_t)n * sizeof *next);
    return ST_OK;
}

double sti_factored_judge(sti_Factored *f, const sti_Task *task, const double *r)
{
    st_Residual residual;
    sti_delassus_apply(&f->W, r, f->u);
    sti_residual_at(task->reduction, r, f->u, &residual);
    const double measure = sti_residual_measure(task->reduction, &residual);
    if (measure < f->least) {
        f->least = measure;
        memcpy(f->best, r, sizeof *r * (size_t)task->problem->n_r);
    }
    return measure;
}

double sti_factored_judge_projected(sti_Factored *f, const sti_Task *task, const double *r, double *at)
{
    const st_Problem *p = task->problem;
    memcpy(at, r, sizeof *r * (size_t)p->n_r);
    for (int c = 0; c < p->n_contacts; c++)
        sti_law_project(&p->contact[c], at + p->contact[c].first);
    return sti_factored_judge(f, task, at);
}
