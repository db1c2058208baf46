/* factored.c -- see factored.h. */
#include "solve/factored.h"

#include "problem/law.h"
#include "reduce/residual.h"

/* Blocks of W beyond which it is not formed: 9 numbers each, and the factors are many times larger. */
static const int64_t max_blocks = 1000000;

st_Status sti_factored_create(const st_Allocator *allocator, sti_Work *work, sti_Factored **out, st_Error *err)
{
    sti_Factored *f = sti_alloc(allocator, 1, sizeof *f);
    if (f == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: a solver's factors");
    f->allocator = f->W.allocator = f->bodies.allocator = *allocator;
    f->work = f->bodies.work = work;
    f->least = INFINITY;
    const st_Status status = sti_sparse_lu_create(allocator, work, &f->lu, err);
    if (status != ST_OK) {
        sti_factored_destroy(f);
        return status;
    }
    *out = f;
    return ST_OK;
}

void sti_factored_destroy(sti_Factored *f)
{
    if (f == NULL) return;
    const st_Allocator allocator = f->allocator;
    sti_sparse_lu_destroy(f->lu);
    sti_delassus_release(&f->W);
    sti_by_bodies_release(&f->bodies);
    STI_RELEASE(&allocator, f->memory, f->memory_size);
    sti_free(&allocator, f, 1, sizeof *f);
}

st_Status sti_factored_begin(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err)
{
    STI_TRY(sti_reduction_columns(task->reduction, err));
    f->least = INFINITY;
    f->by_bodies = false;
    if (f->serial != task->reduction->serial) {
        f->serial = 0; /* until it is done */
        STI_TRY(sti_delassus_build(&f->W, task->reduction, max_blocks, &f->formed, err));
        f->serial = task->reduction->serial;
    }
    *formed = f->formed;
    if (!f->formed || f->W.n_entries <= f->reserved) return ST_OK;
    STI_TRY(sti_sparse_lu_reserve(f->lu, &f->W.rows, err));
    f->reserved = f->W.n_entries;
    return ST_OK;
}

st_Status sti_factored_begin_bodies(sti_Factored *f, const sti_Task *task, bool *formed, st_Error *err)
{
    const sti_Reduction *reduction = task->reduction;
    if (reduction->graph == NULL) return sti_factored_begin(f, task, formed, err);
    f->least = INFINITY;
    f->by_bodies = *formed = true;
    return sti_by_bodies_begin(&f->bodies, reduction->graph, reduction->serial, err);
}

/* Bytes of an array, up to where the next one may begin. */
static int64_t bytes_of(const sti_Room *room)
{
    const int64_t bytes = room->count * (int64_t)room->size;
    return (bytes + STI_ALIGN - 1) / STI_ALIGN * STI_ALIGN;
}

st_Status sti_factored_room(sti_Factored *f, const sti_Task *task, const sti_Room *rooms, int n_rooms, st_Error *err)
{
    const int64_t n = task->problem->n_r;
    const sti_Room own[] = {STI_ROOM(f->u, n), STI_ROOM(f->best, n)};
    int64_t total = bytes_of(&own[0]) + bytes_of(&own[1]);
    for (int k = 0; k < n_rooms; k++)
        total += bytes_of(&rooms[k]);
    STI_TRY(STI_GROW(&f->allocator, f->memory, f->memory_size, total, err));
    unsigned char *next = f->memory;
    for (int k = -2; k < n_rooms; k++) {
        const sti_Room *room = k < 0 ? &own[k + 2] : &rooms[k];
        memcpy(room->pointer, &next, sizeof next); /* all pointers to objects look alike */
        next += bytes_of(room);
    }
    memcpy(f->best, task->r, (size_t)n * sizeof *f->best);
    return ST_OK;
}

double sti_factored_judge(sti_Factored *f, const sti_Task *task, const double *r)
{
    st_Residual residual;
    sti_work_visits(f->work, task->problem->n_contacts);
    if (f->by_bodies) {
        sti_residual(task->reduction, r, NULL, NULL, f->u, &residual);
    } else {
        sti_delassus_apply(&f->W, r, f->u);
        sti_work_products(f->work, 9.0 * (double)f->W.n_entries);
        sti_residual_at(task->reduction, r, f->u, &residual);
    }
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
