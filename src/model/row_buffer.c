#include "model/row_buffer.h"

#include "math/vec3.h"

/* Makes room for more rows and entries once, instead of row by row. */
static st_Status rows_reserve(const st_Allocator *allocator, sti_RowList *rows, int n_rows, int64_t n_entries,
                              st_Error *err)
{
    if (rows->n_rows + n_rows < rows->p_capacity && n_entries <= rows->i_capacity && n_entries <= rows->x_capacity)
        return ST_OK;
    STI_TRY(STI_GROW(allocator, rows->p, rows->p_capacity, rows->n_rows + n_rows + 1, err));
    STI_TRY(STI_GROW(allocator, rows->i, rows->i_capacity, n_entries, err));
    return STI_GROW(allocator, rows->x, rows->x_capacity, n_entries, err);
}

st_Status sti_rows_append(const st_Allocator *allocator, sti_RowList *rows, int count, const int *index,
                          const double *gradient, st_Error *err)
{
    int64_t start = rows->n_rows > 0 ? rows->p[rows->n_rows] : 0;
    STI_TRY(rows_reserve(allocator, rows, 1, start + count, err));
    if (count == 12) { /* two free bodies: a call to copy costs more than the copy */
        memcpy(rows->i + start, index, 12 * sizeof *index);
        memcpy(rows->x + start, gradient, 12 * sizeof *gradient);
    } else if (count > 0) {
        memcpy(rows->i + start, index, (size_t)count * sizeof *index);
        memcpy(rows->x + start, gradient, (size_t)count * sizeof *gradient);
    }
    rows->p[rows->n_rows] = start;
    rows->p[++rows->n_rows] = start + count;
    return ST_OK;
}

st_Status sti_rows_room(const st_Allocator *allocator, sti_RowList *rows, int n, int most, double **gradient,
                        st_Error *err)
{
    int64_t start = rows->n_rows > 0 ? rows->p[rows->n_rows] : 0;
    STI_TRY(rows_reserve(allocator, rows, n, start + (int64_t)n * most, err));
    *gradient = rows->x + start;
    return ST_OK;
}

void sti_rows_close(sti_RowList *rows, int n_rows, int count, const int *index)
{
    int first_row = rows->n_rows;
    int64_t start = first_row > 0 ? rows->p[first_row] : 0;
    rows->p[first_row] = start;
    for (int k = 1; k <= n_rows; k++) {
        if (count == 12) /* two free bodies: a call to copy costs more than the copy */
            memcpy(rows->i + start, index, 12 * sizeof *index);
        else if (count > 0)
            memcpy(rows->i + start, index, (size_t)count * sizeof *index);
        start += count;
        rows->p[first_row + k] = start;
    }
    rows->n_rows = first_row + n_rows;
}

st_Status sti_rows_append_rows(const st_Allocator *allocator, sti_RowList *to, const sti_RowList *from, int first,
                               int n, st_Error *err)
{
    if (n == 0) return ST_OK;
    int64_t start = to->n_rows > 0 ? to->p[to->n_rows] : 0, begin = from->p[first], count = from->p[first + n] - begin;
    STI_TRY(rows_reserve(allocator, to, n, start + count, err));
    if (count > 0) {
        memcpy(to->i + start, from->i + begin, (size_t)count * sizeof *to->i);
        memcpy(to->x + start, from->x + begin, (size_t)count * sizeof *to->x);
    }
    for (int k = 0; k <= n; k++)
        to->p[to->n_rows + k] = start + from->p[first + k] - begin;
    to->n_rows += n;
    return ST_OK;
}

void sti_rows_free(const st_Allocator *allocator, sti_RowList *rows)
{
    STI_RELEASE(allocator, rows->p, rows->p_capacity);
    STI_RELEASE(allocator, rows->i, rows->i_capacity);
    STI_RELEASE(allocator, rows->x, rows->x_capacity);
    rows->n_rows = 0;
}

void sti_row_buffer_clear_constraints(st_Sink *sink)
{
    sink->joint_rows.n_rows = sink->soft_rows.n_rows = sink->bounded_rows.n_rows = 0;
    sink->opening_known = false;
}

void sti_row_buffer_clear_contacts(st_Sink *sink)
{
    sink->contact_rows.n_rows = sink->n_contacts = sink->n_surfaces = 0;
}

/* Surfaces per chunk. */
enum { SURFACES = 32 };

void sti_row_buffer_free(st_Sink *sink)
{
    const st_Allocator *a = &sink->allocator;
    sti_rows_free(a, &sink->joint_rows);
    sti_rows_free(a, &sink->soft_rows);
    sti_rows_free(a, &sink->bounded_rows);
    sti_rows_free(a, &sink->contact_rows);
    STI_RELEASE(a, sink->joint, sink->joint_capacity);
    STI_RELEASE(a, sink->soft, sink->soft_capacity);
    STI_RELEASE(a, sink->bounded, sink->bounded_capacity);
    STI_RELEASE(a, sink->contact, sink->contact_capacity);
    STI_RELEASE(a, sink->derivative, sink->derivative_capacity);
    for (int64_t k = 0; k < sink->surface_capacity; k++)
        sti_free(a, sink->surface[k], SURFACES, sizeof **sink->surface);
    STI_RELEASE(a, sink->surface, sink->surface_capacity); /* NOLINT(bugprone-sizeof-expression): of pointers */
}

st_Status sti_row_buffer_reserve(st_Sink *sink, const st_Sink *like, st_Error *err)
{
    sti_RowList *to[3] = {&sink->joint_rows, &sink->soft_rows, &sink->bounded_rows};
    const sti_RowList *from[3] = {&like->joint_rows, &like->soft_rows, &like->bounded_rows};
    for (int k = 0; k < 3; k++) {
        const int n = from[k]->n_rows;
        if (n == 0) continue;
        if (k > 0 || !like->laid_out) {
            STI_TRY(STI_GROW(&sink->allocator, to[k]->p, to[k]->p_capacity, n + 1, err));
            STI_TRY(STI_GROW(&sink->allocator, to[k]->i, to[k]->i_capacity, from[k]->p[n], err));
        }
        STI_TRY(STI_GROW(&sink->allocator, to[k]->x, to[k]->x_capacity, from[k]->p[n], err));
    }
    STI_TRY(STI_GROW(&sink->allocator, sink->joint, sink->joint_capacity, like->joint_rows.n_rows, err));
    STI_TRY(STI_GROW(&sink->allocator, sink->soft, sink->soft_capacity, like->soft_rows.n_rows, err));
    STI_TRY(STI_GROW(&sink->allocator, sink->bounded, sink->bounded_capacity, like->bounded_rows.n_rows, err));
    return STI_GROW(&sink->allocator, sink->contact, sink->contact_capacity, like->n_contacts, err);
}

void sti_row_buffer_exchange(st_Sink *used, st_Sink *kept)
{
    sti_RowList *ours = &used->joint_rows, *theirs = &kept->joint_rows;
    STI_EXCHANGE(st_Sink, *used, *kept);
    STI_EXCHANGE(bool, used->laid_out, kept->laid_out);
    STI_EXCHANGE(int64_t *, ours->p, theirs->p);
    STI_EXCHANGE(int *, ours->i, theirs->i);
    STI_EXCHANGE(int64_t, ours->p_capacity, theirs->p_capacity);
    STI_EXCHANGE(int64_t, ours->i_capacity, theirs->i_capacity);
}

/* A model may be a user's, so its rows are checked when they are added. */
static st_Status check_row(const st_Sink *sink, const char *what, int number, int n_rows, int count, const int *index,
                           const double *gradient, st_Error *err)
{
    if (count < 0 || count > sink->n_v || (count > 0 && (index == NULL || gradient == NULL)))
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's %s %d touches %d velocities, there are %d", what, number,
                        count, sink->n_v);
    unsigned highest = 0; /* largest index, as unsigned: a negative one is larger than all */
    double none = 0;      /* 0 times the numbers: NaN if one is not finite */
    for (int k = 0; k < count; k++)
        highest = (unsigned)index[k] > highest ? (unsigned)index[k] : highest;
    for (int k = 0; k < n_rows * count; k++)
        none += 0 * gradient[k];
    if ((count == 0 || highest < (unsigned)sink->n_v) && none == 0) return ST_OK;
    for (int k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= sink->n_v)
            return sti_fail(err, ST_ERR_ARGUMENT, "the model's %s %d names velocity %d, there are %d", what, number,
                            index[k], sink->n_v);
    for (int k = 0; k < n_rows * count; k++)
        if (!isfinite(gradient[k]))
            return sti_fail(err, ST_ERR_NUMERIC, "the model's %s %d has %g in its gradient", what, number, gradient[k]);
    return ST_OK;
}

st_Status st_push_joint(st_Sink *sink, const st_JointRow *row, st_Error *err)
{
    STI_NEED(sink, err);
    STI_NEED(row, err);
    STI_TRY(check_row(sink, "joint row", sink->joint_rows.n_rows, 1, row->count, row->index, row->gradient, err));
    return sti_push_joint(sink, row, err);
}

st_Status sti_push_joint(st_Sink *sink, const st_JointRow *row, st_Error *err)
{
    int n = sink->joint_rows.n_rows;
    if (!isfinite(row->value) || !isfinite(row->rate))
        return sti_fail(err, ST_ERR_NUMERIC, "the model's joint row %d has value %g and rate %g", n, row->value,
                        row->rate);
    if (!(row->stiffness >= 0) || !isfinite(row->stiffness))
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's joint row %d has a stiffness of %g, must be >= 0", n,
                        row->stiffness);
    STI_TRY(STI_GROW(&sink->allocator, sink->joint, sink->joint_capacity, n + 1, err));
    STI_TRY(sti_rows_append(&sink->allocator, &sink->joint_rows, row->count, row->index, row->gradient, err));
    sink->joint[n] = (sti_JointEntry){row->value, row->rate, row->velocity, row->stiffness};
    return ST_OK;
}

st_Status st_push_soft(st_Sink *sink, const st_SoftRow *row, st_Error *err)
{
    STI_NEED(sink, err);
    STI_NEED(row, err);
    STI_TRY(check_row(sink, "soft row", sink->soft_rows.n_rows, 1, row->count, row->index, row->gradient, err));
    return sti_push_soft(sink, row, err);
}

st_Status sti_push_soft(st_Sink *sink, const st_SoftRow *row, st_Error *err)
{
    int n = sink->soft_rows.n_rows;
    if (!isfinite(row->value) || !(row->stiffness >= 0) || !(row->damping >= 0) ||
        !isfinite(row->stiffness + row->damping) || row->stiffness + row->damping == 0)
        return sti_fail(
            err, ST_ERR_NUMERIC,
            "the model's soft row %d has value %g, stiffness %g and damping %g: the latter two must be >= 0 "
            "and not both 0",
            n, row->value, row->stiffness, row->damping);
    STI_TRY(STI_GROW(&sink->allocator, sink->soft, sink->soft_capacity, n + 1, err));
    STI_TRY(sti_rows_append(&sink->allocator, &sink->soft_rows, row->count, row->index, row->gradient, err));
    sink->soft[n] = (sti_SoftEntry){row->value, row->stiffness, row->damping, row->energy};
    return ST_OK;
}

st_Status st_push_bounded(st_Sink *sink, const st_BoundedRow *row, st_Error *err)
{
    STI_NEED(sink, err);
    STI_NEED(row, err);
    STI_TRY(check_row(sink, "bounded row", sink->bounded_rows.n_rows, 1, row->count, row->index, row->gradient, err));
    return sti_push_bounded(sink, row, err);
}

st_Status sti_push_bounded(st_Sink *sink, const st_BoundedRow *row, st_Error *err)
{
    int n = sink->bounded_rows.n_rows;
    if (!(row->lo <= row->hi) || row->lo == INFINITY || row->hi == -INFINITY)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's bounded row %d has bounds %g and %g", n, row->lo, row->hi);
    if (!isfinite(row->target) || !isfinite(row->value) || !(row->stiffness >= 0) || !(row->damping >= 0) ||
        !isfinite(row->stiffness + row->damping))
        return sti_fail(err, ST_ERR_NUMERIC,
                        "the model's bounded row %d has target %g, value %g, stiffness %g and damping %g: the latter "
                        "two must be >= 0",
                        n, row->target, row->value, row->stiffness, row->damping);
    if (n > 0 && row->id <= sink->bounded[n - 1].id)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's bounded row %d has id %llu after %llu, ids must increase", n,
                        (unsigned long long)row->id, (unsigned long long)sink->bounded[n - 1].id);
    STI_TRY(STI_GROW(&sink->allocator, sink->bounded, sink->bounded_capacity, n + 1, err));
    STI_TRY(sti_rows_append(&sink->allocator, &sink->bounded_rows, row->count, row->index, row->gradient, err));
    sink->bounded[n] =
        (sti_BoundedEntry){row->id, row->lo, row->hi, row->target, row->value, row->stiffness, row->damping};
    return ST_OK;
}

st_Status sti_row_buffer_add_joint(st_Sink *sink, int n_rows, int count, const int *index, sti_JointEntry **entry,
                                   double **gradient, st_Error *err)
{
    sti_RowList *rows = &sink->joint_rows;
    int first_row = rows->n_rows;
    int64_t start = first_row > 0 ? rows->p[first_row] : 0;
    if (sink->laid_out) {
        *entry = sink->joint + first_row;
        *gradient = rows->x + start;
        rows->n_rows += n_rows;
        return ST_OK;
    }
    STI_TRY(STI_GROW(&sink->allocator, sink->joint, sink->joint_capacity, first_row + n_rows, err));
    STI_TRY(rows_reserve(&sink->allocator, rows, n_rows, start + (int64_t)n_rows * count, err));
    *entry = sink->joint + first_row;
    *gradient = rows->x + start;
    sti_rows_close(rows, n_rows, count, index);
    return ST_OK;
}

st_Status sti_row_buffer_room(st_Sink *sink, int n_rows, int count, sti_ContactEntry **contact, double **gradient,
                              st_Error *err)
{
    if (sink->n_contacts == sink->contact_capacity)
        STI_TRY(STI_GROW(&sink->allocator, sink->contact, sink->contact_capacity, sink->n_contacts + 1, err));
    *contact = &sink->contact[sink->n_contacts];
    *gradient = NULL;
    return n_rows > 0 ? sti_rows_room(&sink->allocator, &sink->contact_rows, n_rows, count, gradient, err) : ST_OK;
}

static bool rows_same_surface(const sti_Surface *a, const sti_Surface *b)
{
    bool same = a->mu == b->mu && a->restitution == b->restitution && a->rolling == b->rolling &&
                a->spinning == b->spinning && a->stiffness == b->stiffness && a->damping == b->damping &&
                a->turns == b->turns && a->moves == b->moves && a->belt.slide[0] == b->belt.slide[0] &&
                a->belt.slide[1] == b->belt.slide[1];
    for (int side = 0; side < 2; side++)
        same = same && a->elastic[side].young == b->elastic[side].young &&
               a->elastic[side].poisson == b->elastic[side].poisson;
    return same;
}

/* Usually it is that of the last contact. */
st_Status sti_row_buffer_keep_surface(st_Sink *sink, sti_ContactEntry *contact, const sti_Surface *surface,
                                      st_Error *err)
{
    int n = sink->n_surfaces, last = n - 1;
    contact->own_surface = true;
    if (n > 0 && rows_same_surface(&sink->surface[last / SURFACES][last % SURFACES], surface)) {
        contact->surface = &sink->surface[last / SURFACES][last % SURFACES];
        return ST_OK;
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): of pointers */
    STI_TRY(STI_GROW(&sink->allocator, sink->surface, sink->surface_capacity, n / SURFACES + 1, err));
    sti_Surface **chunk = &sink->surface[n / SURFACES];
    if (*chunk == NULL) *chunk = sti_alloc(&sink->allocator, SURFACES, sizeof **chunk);
    if (*chunk == NULL) return sti_fail(err, ST_ERR_MEMORY, "out of memory: %d surfaces", n + 1);
    (*chunk)[n % SURFACES] = *surface;
    contact->surface = &(*chunk)[n % SURFACES];
    sink->n_surfaces = n + 1;
    return ST_OK;
}

void sti_row_buffer_add_contact(st_Sink *sink, int n_rows, int count, const int *index)
{
    sti_ContactEntry *contact = &sink->contact[sink->n_contacts++];
    contact->first_row = n_rows > 0 ? sink->contact_rows.n_rows : -1;
    contact->turns = n_rows > contact->dim;
    if (n_rows > 0) sti_rows_close(&sink->contact_rows, n_rows, count, index);
}

static st_Status rows_check_turning(const st_ContactRow *row, int n, const char *kind, double value, st_Error *err)
{
    if (value >= 0 && isfinite(value) && (value == 0 || row->turning != NULL)) return ST_OK;
    return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has a %s friction of %g%s", n, kind, value,
                    value > 0 ? " and no rows `turning`" : ", must be >= 0");
}

st_Status st_push_contact(st_Sink *sink, const st_ContactRow *row, st_Error *err)
{
    STI_NEED(sink, err);
    STI_NEED(row, err);
    int n = sink->n_contacts;
    if (row->dim < 1 || row->dim > 3)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's contact %d has dim %d, must be 1, 2 or 3", n, row->dim);
    STI_TRY(check_row(sink, "contact", n, row->dim, row->count, row->index, row->gradient, err));
    if (!isfinite(row->gap) || !isfinite(row->mu) || row->mu < 0)
        return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has gap %g and friction %g", n, row->gap, row->mu);
    if (!(row->restitution >= 0 && row->restitution <= 1))
        return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has a restitution of %g, must be from 0 to 1", n,
                        row->restitution);
    if (!isfinite(row->slide[0]) || !isfinite(row->slide[1]))
        return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d slides at (%g, %g), must be finite", n,
                        row->slide[0], row->slide[1]);
    /* The elastic properties and shapes of compliant and regularized contacts. */
    for (int side = 0; side < 2; side++) {
        const st_Elastic *e = &row->elastic[side];
        if (!(e->young >= 0 && isfinite(e->young)))
            return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has a Young's modulus of %g, must be >= 0", n,
                            e->young);
        if (!(e->poisson > -1 && e->poisson < 0.5))
            return sti_fail(err, ST_ERR_NUMERIC,
                            "the model's contact %d has a Poisson's ratio of %g, must be between "
                            "-1 and 0.5",
                            n, e->poisson);
    }
    if (!(row->stiffness >= 0 && isfinite(row->stiffness)) || !(row->damping >= 0 && isfinite(row->damping)))
        return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has stiffness %g and damping %g, must be >= 0", n,
                        row->stiffness, row->damping);
    if (!vec3_finite(row->point) || !vec3_finite(row->normal) || !vec3_finite(row->tangent))
        return sti_fail(err, ST_ERR_NUMERIC, "the model's contact %d has a point, normal or tangent that is not finite",
                        n);
    STI_TRY(rows_check_turning(row, n, "rolling", row->rolling, err));
    STI_TRY(rows_check_turning(row, n, "spinning", row->spinning, err));
    if (row->turning != NULL) STI_TRY(check_row(sink, "contact", n, 3, row->count, row->index, row->turning, err));
    if (n > 0 && row->id <= sink->contact[n - 1].id)
        return sti_fail(err, ST_ERR_ARGUMENT, "the model's contact %d has id %llu after %llu, ids must increase", n,
                        (unsigned long long)row->id, (unsigned long long)sink->contact[n - 1].id);
    double *gradient;
    sti_ContactEntry *entry;
    int n_rows = row->dim + (row->turning != NULL ? 3 : 0);
    STI_TRY(sti_row_buffer_room(sink, n_rows, row->count, &entry, &gradient, err));
    size_t numbers = (size_t)row->dim * (size_t)row->count;
    if (numbers > 0) memcpy(gradient, row->gradient, numbers * sizeof *gradient);
    if (numbers > 0 && row->turning != NULL)
        memcpy(gradient + numbers, row->turning, 3 * (size_t)row->count * sizeof *gradient);
    *entry = (sti_ContactEntry){.id = row->id,
                                .gap = row->gap,
                                .dim = (uint8_t)row->dim,
                                .a = row->a,
                                .b = row->b,
                                .shape_a = row->shape_a,
                                .shape_b = row->shape_b,
                                .point = row->point,
                                .normal = row->normal,
                                .tangent = row->tangent};
    const sti_Surface surface = {.mu = row->mu,
                                 .restitution = row->restitution,
                                 .rolling = row->rolling,
                                 .spinning = row->spinning,
                                 .stiffness = row->stiffness,
                                 .damping = row->damping,
                                 .elastic = {row->elastic[0], row->elastic[1]},
                                 .moves = row->slide[0] != 0 || row->slide[1] != 0,
                                 .belt = {.slide = {row->slide[0], row->slide[1]}},
                                 .turns = row->turning != NULL};
    STI_TRY(sti_row_buffer_keep_surface(sink, entry, &surface, err));
    sti_row_buffer_add_contact(sink, n_rows, row->count, row->index);
    return ST_OK;
}

int sti_row_buffer_lower(const st_Sink *sink, uint64_t id)
{
    int lo = 0, hi = sink->n_contacts;
    while (lo < hi) {
        const int middle = lo + (hi - lo) / 2;
        if (sink->contact[middle].id < id)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

int sti_row_buffer_find(const st_Sink *sink, uint64_t id)
{
    const int at = sti_row_buffer_lower(sink, id);
    return at < sink->n_contacts && sink->contact[at].id == id ? at : -1;
}

st_Status sti_row_buffer_append(st_Sink *sink, const st_Sink *from, st_Error *err)
{
    const int n = sink->n_contacts, first_row = sink->contact_rows.n_rows;
    STI_TRY(STI_GROW(&sink->allocator, sink->contact, sink->contact_capacity, n + from->n_contacts, err));
    STI_TRY(sti_rows_append_rows(&sink->allocator, &sink->contact_rows, &from->contact_rows, 0,
                                 from->contact_rows.n_rows, err));
    if (from->n_contacts > 0)
        memcpy(sink->contact + n, from->contact, (size_t)from->n_contacts * sizeof *from->contact);
    for (int c = n; c < n + from->n_contacts; c++) {
        sti_ContactEntry *entry = &sink->contact[c];
        if (entry->first_row >= 0) entry->first_row += first_row;
        if (entry->own_surface) STI_TRY(sti_row_buffer_keep_surface(sink, entry, entry->surface, err));
    }
    sink->n_contacts += from->n_contacts;
    return ST_OK;
}

st_Status st_push_force_derivative(st_Sink *sink, const st_ForceDerivative *block, st_Error *err)
{
    STI_NEED(sink, err);
    STI_NEED(block, err);
    const int64_t n = (int64_t)block->n_rows * block->n_cols;
    if (block->n_rows < 0 || block->n_cols < 0 || block->n_rows > sink->n_v || block->n_cols > sink->n_v ||
        (n > 0 && (block->row == NULL || block->col == NULL)))
        return sti_fail(err, ST_ERR_ARGUMENT, "a force derivative has %d x %d numbers, there are %d velocities",
                        block->n_rows, block->n_cols, sink->n_v);
    STI_TRY(STI_GROW(&sink->allocator, sink->derivative, sink->derivative_capacity, sink->n_derivatives + n, err));
    for (int64_t e = 0; e < n; e++) {
        const int i = block->row[e / block->n_cols], j = block->col[e % block->n_cols];
        const double dq = block->dq != NULL ? block->dq[e] : 0, dv = block->dv != NULL ? block->dv[e] : 0;
        if (i < 0 || i >= sink->n_v || j < 0 || j >= sink->n_v)
            return sti_fail(err, ST_ERR_ARGUMENT, "a force derivative names velocity %d, there are %d",
                            i < 0 || i >= sink->n_v ? i : j, sink->n_v);
        if (!isfinite(dq) || !isfinite(dv))
            return sti_fail(err, ST_ERR_ARGUMENT, "the derivative of force %d by velocity %d is %g and %g", i, j, dq,
                            dv);
        if (dq != 0 || dv != 0) sink->derivative[sink->n_derivatives++] = (sti_DerivativeEntry){i, j, dq, dv};
    }
    return ST_OK;
}
